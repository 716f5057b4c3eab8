// nlohmann-json: header-only, everything inlined into the program.
#include "measured_part.hpp"

#include <nlohmann/json.hpp>

#include <string>

int main(int, char** arguments) {
    return testing::measure(arguments[1], [] {
        nlohmann::json document = nlohmann::json::parse(
            R"({"name": "a name that does not fit into the string object", "list": [1, 2.5]})");
        for (int i = 0; i < 500; ++i) {
            document["list"].push_back({{"index", i}, {"text", std::string(40, 'x')}});
        }
        const std::string text = document.dump(2);
        const nlohmann::json again = nlohmann::json::parse(text);
        const nlohmann::json patch = nlohmann::json::diff(document["list"], again["list"]);
        std::printf("%zu %zu\n", again.size(), patch.size());
        // One that outlives the measured part: alive at its end on both sides.
        static nlohmann::json* kept = nullptr;
        kept = new nlohmann::json(again["list"][7]);
        std::printf("%zu\n", kept->size());
    });
}
