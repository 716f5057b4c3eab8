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
    auto* first = new apple{};
    auto* second = new ALIAS{};
    kept[0] = first;
    kept[1] = second;
    for (const allocscope::snapshot::row& row : window.stats()) {
        std::printf("%d %s\n", row.line, row.type);
    }
    return 0;
}
