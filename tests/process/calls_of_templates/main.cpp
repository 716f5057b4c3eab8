// Danger: without optimisation a template of the library calls through more functions than a window
// has frames, and the row does not find the user's line.
// about: stacks
// not with: noframe (functions without frame pointers are not recognised as unoptimised)

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <regex>
#include <string>
#include <variant>
#include <vector>

using namespace allocscope_test;
using allocscope::snapshot;

namespace {

using part = std::variant<int, std::vector<std::string>>;
using parts = std::map<std::string, part>;

bool is_here(const char* file) {
    const char* const name = std::strrchr(file, '/');
    return std::strcmp(name != nullptr ? name + 1 : file, "main.cpp") == 0;
}

std::uint32_t calls_in(const snapshot::row& row) {
    std::uint32_t calls = 0;
    for (std::size_t i = 0; i < row.frame_count; ++i) calls += row.frames[i].is_inlined ? 0U : 1U;
    return calls;
}

// A string of the map's variant is allocated more than 24 calls below this line.
parts copy_of(const parts& all) {
    return all;
}

void every_row_is_here(const parts& all) {
    const allocscope::scope window{"copies"};
    const parts copied = copy_of(all);
    bool is_any_deep = false;
    for (const snapshot::row& row : window.stats()) {
        ALLOCSCOPE_EXPECT(is_here(row.file));
        ALLOCSCOPE_EXPECT(row.user_frame < row.frame_count);
        const std::uint32_t calls = calls_in(row);
        if (calls <= allocscope::options{}.stack_frames) continue;
        is_any_deep = true;
        ALLOCSCOPE_EXPECT_EQUAL(row.frame_count, row.user_frame + std::size_t{1});
    }
    ALLOCSCOPE_EXPECT(is_any_deep);
    for (const snapshot::stack& stack : window.stats().stacks()) {
        ALLOCSCOPE_EXPECT(is_here(stack.file));
    }
}

void few_frames_are_few(const parts& all) {
    allocscope::options wanted;
    wanted.stack_frames = 8;
    const allocscope::scope window{"few frames", wanted};
    const parts copied = copy_of(all);
    bool is_any_cut = false;
    for (const snapshot::row& row : window.stats()) {
        ALLOCSCOPE_EXPECT(calls_in(row) <= 8);
        is_any_cut = is_any_cut || !is_here(row.file);
    }
    ALLOCSCOPE_EXPECT(is_any_cut);
}

char* below(int calls) {
    if (calls == 0) return opaque(new char[64]);
    char* const made = below(calls - 1);
    return opaque(made);
}

// Where the user's line is near, a row has no more frames than the window asks for.
void own_calls_are_cut() {
    const allocscope::scope window{"recursion"};
    char* const made = below(50);
    const snapshot rows = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(rows.size(), std::size_t{1});
    for (const snapshot::row& row : rows) {
        ALLOCSCOPE_EXPECT_EQUAL(calls_in(row), allocscope::options{}.stack_frames);
    }
    for (const snapshot::stack& stack : rows.stacks()) {
        ALLOCSCOPE_EXPECT_EQUAL(stack.frame_count, (*rows.begin()).frame_count);
    }
    delete[] made;
}

// A group in a regular expression is a recursion in the library.
void failures_are_here() {
    const allocscope::fault_sweep swept = allocscope::for_each_allocation_failing(
        [] { const std::regex pattern{"((((a|b)*[c-f]+)))"}; });
    ALLOCSCOPE_EXPECT(swept.size() > 20);
    for (std::size_t i = 0; i + 1 < swept.size(); ++i) {
        ALLOCSCOPE_EXPECT(std::strstr(swept[i].site, "main.cpp:") != nullptr);
    }
}

}  // namespace

int main() {
    watchdog();
    const parts all{{"a key that does not fit into the object",
                     std::vector<std::string>{"nor does this text, of which there are copies"}}};
    every_row_is_here(all);
    few_frames_are_few(all);
    own_calls_are_cut();
    failures_are_here();
    return verdict();
}
