// Danger: a function that ends with `return new item;` is not on the stack, because the compiler
// has made a jump of the call: its caller gets the row, without a type. Or a function gets a row
// that may have left by another jump.
// not with: asan, tsan (their operator new is called in another way)
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

#include "makers.hpp"

using namespace allocscope_test;

namespace {

// Whether the only row with this many bytes is at that line, in that file, and has that type.
bool has_row(const allocscope::snapshot& seen, std::uint64_t bytes, const char* file, int line,
             const char* type) {
    const allocscope::snapshot::row* found = nullptr;
    for (const allocscope::snapshot::row& row : seen) {
        if (row.bytes == bytes) found = &row;
    }
    if (found == nullptr) return false;
    std::printf("%s:%d:%s in %s\n", found->file, found->line, found->type, found->function);
    return std::strstr(found->file, file) != nullptr && found->line == line &&
           std::strcmp(found->type, type) == 0;
}

}  // namespace

__attribute__((noinline)) static void* make_long_array() {
    return new long[10];
}

__attribute__((noinline)) static void* make_numbered(int) {
    return new short[21];
}

int main() {
    watchdog();
    item* (*volatile by_pointer)() = make_item;
    std::vector<long> numbers;
    const allocscope::scope window{"jumps"};
    item* const one = make_item();
    ALLOCSCOPE_EXPECT(has_row(window.stats(), sizeof(item), "makers.cpp", line_of_item, "item"));
    delete one;
    // The debug information tells a jump from what only looks like one.
    item* const beside = make_beside();
    ALLOCSCOPE_EXPECT(has_row(window.stats(), sizeof(item), "makers.cpp", line_of_item, "item"));
    delete beside;
    item* const several = make_by_two_jumps();
    ALLOCSCOPE_EXPECT(
        has_row(window.stats(), 7 * sizeof(item), "makers.cpp", line_behind_two_jumps, "item"));
    delete[] several;
    grow(numbers);
    ALLOCSCOPE_EXPECT(
        has_row(window.stats(), 40 * sizeof(long), "makers.cpp", line_of_grow, "long"));
    numbers = {};
    // The jump leads into libstdc++.so, through a word that the loader has written.
    const std::string text(66, 'a');
    named person;
    set_name(person, text);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 67, "makers.cpp", line_of_set_name, "char"));
    person = {};
    // Two jumps lead to operator new, and nothing says which of them was taken.
    const int line_of_either = __LINE__ + 1;
    void* const either = make_either(true);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), sizeof(other_item), "main.cpp", line_of_either, "?"));
    ::operator delete(either);
    const int line_of_ask = __LINE__ + 1;
    void* const made = make_or_ask(false);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 41, "main.cpp", line_of_ask, "?"));
    ::operator delete(made);
    void* const checked = make_checked(1);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 24, "undescribed.cpp", line_of_checked, "short"));
    ::operator delete(checked);
    // A register says where the jump leads.
    const int line_of_pointer = __LINE__ + 1;
    void* const pointed = make_by_pointer(make_long_array, true);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 80, "main.cpp", line_of_pointer, "?"));
    ::operator delete(pointed);
    void* const switched = make_after_switch(4);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 30, "undescribed.cpp", line_behind_switch, "short"));
    ::operator delete(switched);
    void* const behind[] = {make_after_loop(), make_after_call(), make_after_mask(),
                            make_after_stub()};
    const allocscope::snapshot distances = window.stats();
    ALLOCSCOPE_EXPECT(has_row(distances, 32, "distances.cpp", line_after_loop, "short"));
    ALLOCSCOPE_EXPECT(has_row(distances, 34, "distances.cpp", line_after_call, "short"));
    ALLOCSCOPE_EXPECT(has_row(distances, 36, "distances.cpp", line_after_mask, "short"));
    ALLOCSCOPE_EXPECT(has_row(distances, 38, "distances.cpp", line_after_stub, "short"));
    for (void* const each : behind) ::operator delete(each);
    const int line_of_number = __LINE__ + 1;
    void* const numbered = make_by_pointer_with_number(make_numbered, true);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 42, "main.cpp", line_of_number, "?"));
    ::operator delete(numbered);
    const int line_of_last = __LINE__ + 1;
    void* const last = make_last(make_numbered, true);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 42, "main.cpp", line_of_last, "?"));
    ::operator delete(last);
    // There is a jump in each part of the function.
    const int line_of_rare = __LINE__ + 1;
    void* const rare = make_rarely(8);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), 26, "main.cpp", line_of_rare, "?"));
    ::operator delete(rare);
    // The machine code of this call does not say which function is called.
    const int line_by_pointer = __LINE__ + 1;
    item* const unknown = by_pointer();
    ALLOCSCOPE_EXPECT(has_row(window.stats(), sizeof(item), "main.cpp", line_by_pointer, "?"));
    delete unknown;
    // Nor does it say so of a virtual function. But nobody has a pointer to what that jumps to.
    job* const jobs[] = {make_job(true), make_job(false)};
    std::vector<short> shorts;
    jobs[0]->add_to(shorts);
    ALLOCSCOPE_EXPECT(has_row(window.stats(), sizeof(short), "makers.cpp", line_of_job, "short"));
#if !defined(__clang__)  // clang may have inlined all of it
    std::vector<signed char> letters;
    const int line_of_two = __LINE__ + 1;
    jobs[1]->add_to(letters);
    // Of two functions either may have jumped there; but in C++20 this one may call.
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT(has_row(seen, 1, "main.cpp", line_of_two, "signed char") ||
                      has_row(seen, 1, "makers.cpp", line_of_job + 6, "signed char"));
#endif
    for (job* const each : jobs) delete each;
    return verdict();
}
