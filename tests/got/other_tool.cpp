// Another tool changes a word that attach_hooks() changes, too. Both begin and end in every order.
//
// The library is linked so that it has one word for malloc, which can be written to.

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <cstdio>
#include <cstdlib>

extern "C" {
void** known_word_of_malloc(void);
}

namespace {

using malloc_function = void* (*)(std::size_t);

malloc_function found_by_tool = nullptr;
std::uint64_t seen_by_tool = 0;

void* malloc_of_tool(std::size_t bytes) {
    ++seen_by_tool;
    return found_by_tool(bytes);
}

void*& word() {
    return *known_word_of_malloc();
}

void begin_tool() {
    found_by_tool = reinterpret_cast<malloc_function>(word());
    word() = reinterpret_cast<void*>(malloc_of_tool);
}

// As a careful tool does, and as a careless one does.
void end_tool(bool is_careful) {
    if (is_careful && word() != reinterpret_cast<void*>(malloc_of_tool)) return;
    word() = reinterpret_cast<void*>(found_by_tool);
}

// One block by malloc: the program goes on, and the tool sees it while it is in the word.
void expect_block(const char* when, bool is_tool_there, std::uint64_t counted) {
    const std::uint64_t before = seen_by_tool;
    expect_counts(counted, counted * 10, when, [] { known_free(known_block(10)); });
    expect_equal(seen_by_tool - before, is_tool_there ? 1 : 0, when);
}

void expect_all_orders(bool is_careful) {
    void* const original = word();

    allocscope::attach_hooks();
    begin_tool();
    expect_block("we, then the tool", true, 1);
    end_tool(is_careful);
    expect_block("we, the tool, the tool ends", false, 1);
    allocscope::detach_hooks();
    expect_block("we, the tool, the tool ends, we end", false, 0);
    expect_equal(word() == original, 1, "the word after the tool, then we ended");

    allocscope::attach_hooks();
    begin_tool();
    allocscope::detach_hooks();
    expect_equal(word() == reinterpret_cast<void*>(malloc_of_tool), 1, "the word of the tool");
    known_free(known_block(10));
    // The tool puts our function back, which passes calls on; it is taken out next time.
    end_tool(is_careful);
    known_free(known_block(10));
    allocscope::attach_hooks();
    expect_block("we once more", false, 1);
    allocscope::detach_hooks();
    expect_block("we end once more", false, 0);
    expect_equal(word() == original, 1, "the word after we, then the tool ended");

    begin_tool();
    const allocscope::attached_hooks behind = allocscope::attach_hooks();
    expect_equal(behind.words_of_others, 1, "words of the tool");
    expect_block("the tool, then we", true, 0);
    allocscope::detach_hooks();
    expect_block("the tool, we, we end", true, 0);
    end_tool(is_careful);
    expect_equal(word() == original, 1, "the word after we, then the tool ended, the tool first");

    begin_tool();
    allocscope::attach_hooks();
    end_tool(is_careful);
    expect_block("the tool, we, the tool ends", false, 1);
    allocscope::detach_hooks();
    expect_block("the tool, we, the tool ends, we end", false, 0);
    expect_equal(word() == original, 1, "the word after the tool, then we ended, the tool first");
}

}  // namespace

int main() {
    expect_all_orders(true);
    expect_all_orders(false);
    return failures == 0 ? 0 : 1;
}
