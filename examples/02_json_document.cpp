// What does a parsed JSON document hold, by place and type? Needs nlohmann-json.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/02_json_document.cpp -o json_document
//     ./json_document /usr/share/iso-codes/json/iso_639-3.json
//
// One window is open while the document is read. Its counts say what reading cost; its snapshot
// says what the document holds when reading is done. After the document is gone, nothing is left.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace {

using nlohmann::json;

void report(const allocscope::scope& window) {
    const allocscope::allocation_counts counts = window.counts();
    std::cout << "Reading allocated " << counts.allocations << " times, " << counts.bytes_allocated
              << " bytes in all, " << counts.peak_bytes << " bytes at the peak.\n"
              << "The document holds " << counts.live_objects() << " objects, "
              << counts.live_bytes() << " bytes:\n"
              << window.stats();
}

int read_and_report(std::istream& file) {
    allocscope::scope window{"document"};
    {
        const json document = json::parse(file);
        report(window);
    }
    std::cout << "Without the document: " << window.counts().live_objects() << " objects.\n";
    return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        std::cerr << "usage: " << arguments[0] << " FILE.json\n";
        return 2;
    }
    std::ifstream file(arguments[1]);
    if (!file) {
        std::cerr << arguments[1] << ": cannot be opened: " << std::strerror(errno) << '\n';
        return 1;
    }
    try {
        return read_and_report(file);
    } catch (const json::exception& error) {
        std::cerr << arguments[1] << ": cannot be read as JSON: " << error.what() << '\n';
        return 1;
    }
}
