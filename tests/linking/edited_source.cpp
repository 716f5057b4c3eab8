// Compiled by edited_source.py, which edits its copy of this file afterwards.
#include <allocscope/allocscope.hpp>

#include <cstdio>

struct apple {
    long weight;
};
struct melon {
    long weight;
};
void* kept[4];

int main() {
    const allocscope::scope window{"edited source"};
    kept[0] = new apple{};
    kept[1] = new ALIAS{};
    auto* told_by_debug_information = new ALIAS{};
    kept[2] = told_by_debug_information;
    for (const allocscope::snapshot::row& row : window.stats()) {
        std::printf("%d %s\n", row.line, row.type);
    }
    return 0;
}
