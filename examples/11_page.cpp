// What does a catalogue hold? A page to look at, in any browser. Needs nlohmann-json.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/11_page.cpp -o page
//     ./page catalogue.html /usr/share/iso-codes/json/iso_*.json
//
// The window is open while documents are read, their words are put into an index and the entries
// are kept in alphabetical order. The page says which of the three holds the memory.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/report.hpp>

#include <nlohmann/json.hpp>

#include <cctype>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace catalogue {

using nlohmann::json;

struct entry {
    std::string name;
    std::string code;
    const json* source;
};

class word_index {
public:
    void add(const std::string& text, const entry* of) {
        std::string word;
        for (const char c : text + ' ') {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
                word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            } else if (!word.empty()) {
                entries_[word].push_back(of);
                word.clear();
            }
        }
    }

private:
    std::unordered_map<std::string, std::vector<const entry*>> entries_;
};

class library {
public:
    void read(const std::string& path) {
        std::ifstream file(path);
        documents_.push_back(std::make_unique<json>(json::parse(file)));
        for (const auto& list : *documents_.back()) {
            for (const json& each : list) add(each);
        }
    }
    std::size_t size() const { return entries_.size(); }

private:
    void add(const json& each) {
        if (!each.is_object() || !each.contains("name")) return;
        auto made = std::make_unique<entry>();
        made->name = each["name"];
        made->code = each.begin()->is_string() ? each.begin()->get<std::string>() : "";
        made->source = &each;
        words_.add(made->name, made.get());
        by_name_.emplace(made->name, made.get());
        entries_.push_back(std::move(made));
    }

    std::vector<std::unique_ptr<json>> documents_;
    std::vector<std::unique_ptr<entry>> entries_;
    std::multimap<std::string, const entry*> by_name_;
    word_index words_;
};

}  // namespace catalogue

int main(int argument_count, char** arguments) {
    if (argument_count < 3) {
        std::cerr << "usage: " << arguments[0] << " PAGE.html FILE.json...\n";
        return 2;
    }
    try {
        allocscope::scope window{"catalogue"};
        catalogue::library library;
        for (int i = 2; i < argument_count; ++i) library.read(arguments[i]);
        allocscope::write_html(window.stats(), arguments[1]);
        std::cout << library.size() << " entries; see " << arguments[1] << '\n';
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
