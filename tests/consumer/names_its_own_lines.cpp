// A consumer's program that is linked with -static: its stacks go through code of the standard
// library, which has no frame pointers, so they need the index of the unwind tables.
#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

int main() {
    allocscope::scope window{"consumer"};
    std::vector<std::string> kept;
    for (int i = 0; i < 100; ++i) kept.push_back("a text that does not fit inside a string");
    bool is_caught = false;
    try {
        kept.at(100).clear();
    } catch (const std::out_of_range&) {
        is_caught = true;
    }
    const allocscope::snapshot rows = window.stats();
    bool is_right = is_caught && !rows.empty();
    for (const allocscope::snapshot::row& each : rows) {
        std::printf("%s:%d %s\n", each.file, each.line, each.function);
        is_right = is_right && std::strstr(each.file, "names_its_own_lines.cpp") != nullptr;
    }
    return is_right ? 0 : 1;
}
