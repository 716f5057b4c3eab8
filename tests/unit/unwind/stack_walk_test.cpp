// Walks by each method through callers of every kind, written in assembler, against backtrace().

#include "../../support/update_chain.hpp"

#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <execinfo.h>

// Each calls `work(argument)` and returns.
using work_function = void (*)(void*);
using caller_function = void (*)(work_function work, void* argument);
extern "C" {
void allocscope_test_by_table(work_function work, void* argument);      // no frame pointer
void allocscope_test_data_in_bp(work_function work, void* argument);    // and rbp is data
void allocscope_test_no_table(work_function work, void* argument);      // a frame pointer only
void allocscope_test_neither(work_function work, void* argument);       // no table, rbp is data
void allocscope_test_realigned(work_function work, void* argument);     // CFA = *(bp - 8)
void allocscope_test_saved_sp(work_function work, void* argument);      // CFA = *(sp + 8) + 8
void allocscope_test_not_followed(work_function work, void* argument);  // CFA = *(sp + 8) + 16
}

#define ALLOCSCOPE_TEST_FUNCTION(name, body) \
    ".globl " name "\n.type " name ", @function\n" name ":\n" body ".size " name ", .-" name "\n"

__asm__(".text\n"  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_by_table",
                                 ".cfi_startproc\n"
                                 "sub $40, %rsp\n"
                                 ".cfi_def_cfa_offset 48\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "add $40, %rsp\n"
                                 ".cfi_def_cfa_offset 8\n"
                                 "ret\n"
                                 ".cfi_endproc\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_data_in_bp",
                                 ".cfi_startproc\n"
                                 "push %rbp\n"
                                 ".cfi_def_cfa_offset 16\n"
                                 ".cfi_offset %rbp, -16\n"
                                 "sub $32, %rsp\n"
                                 ".cfi_def_cfa_offset 48\n"
                                 "mov $12345, %ebp\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "add $32, %rsp\n"
                                 ".cfi_def_cfa_offset 16\n"
                                 "pop %rbp\n"
                                 ".cfi_def_cfa_offset 8\n"
                                 "ret\n"
                                 ".cfi_endproc\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_no_table",
                                 "push %rbp\n"
                                 "mov %rsp, %rbp\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "pop %rbp\n"
                                 "ret\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_neither",
                                 "push %rbp\n"
                                 "mov $12345, %ebp\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "pop %rbp\n"
                                 "ret\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_realigned",
                                 ".cfi_startproc\n"
                                 "lea 8(%rsp), %r10\n"
                                 ".cfi_def_cfa %r10, 0\n"
                                 "and $-64, %rsp\n"
                                 "push -8(%r10)\n"
                                 "push %rbp\n"
                                 "mov %rsp, %rbp\n"
                                 ".cfi_escape 0x10, 6, 2, 0x76, 0\n"
                                 "push %r10\n"
                                 ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
                                 "sub $40, %rsp\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "add $40, %rsp\n"
                                 "pop %r10\n"
                                 ".cfi_def_cfa %r10, 0\n"
                                 "pop %rbp\n"
                                 ".cfi_restore %rbp\n"
                                 "lea -8(%r10), %rsp\n"
                                 ".cfi_def_cfa %rsp, 8\n"
                                 "ret\n"
                                 ".cfi_endproc\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_saved_sp",
                                 ".cfi_startproc\n"
                                 "mov %rsp, %rax\n"
                                 ".cfi_def_cfa_register %rax\n"
                                 "push %rbp\n"
                                 ".cfi_offset %rbp, -16\n"
                                 "sub $64, %rsp\n"
                                 "and $-64, %rsp\n"
                                 "mov %rax, 8(%rsp)\n"
                                 ".cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8\n"
                                 "mov $12345, %ebp\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "mov 8(%rsp), %rax\n"
                                 ".cfi_def_cfa %rax, 8\n"
                                 "mov -8(%rax), %rbp\n"
                                 ".cfi_restore %rbp\n"
                                 "mov %rax, %rsp\n"
                                 ".cfi_def_cfa_register %rsp\n"
                                 "ret\n"
                                 ".cfi_endproc\n")  //
        ALLOCSCOPE_TEST_FUNCTION("allocscope_test_not_followed",
                                 ".cfi_startproc\n"
                                 "push %rbp\n"
                                 ".cfi_def_cfa_offset 16\n"
                                 ".cfi_offset %rbp, -16\n"
                                 "mov %rsp, %rbp\n"
                                 "push %rbp\n"
                                 "push $0\n"
                                 ".cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 16\n"
                                 "mov %rdi, %rax\n"
                                 "mov %rsi, %rdi\n"
                                 "call *%rax\n"
                                 "mov %rbp, %rsp\n"
                                 ".cfi_def_cfa %rsp, 16\n"
                                 "pop %rbp\n"
                                 ".cfi_def_cfa_offset 8\n"
                                 "ret\n"
                                 ".cfi_endproc\n"));

using namespace allocscope::detail;
using allocscope::unwinding;

namespace {

// The compiler does not know how often a loop up to here goes round, so it has one body.
volatile int twice = 2;

constexpr std::uint32_t most_frames = 40;

struct look {
    unwinding method;
    std::vector<std::uintptr_t> walked, expected;
    walked_stack stack;
    std::uintptr_t frame = 0;
    std::vector<caller_function> callers;  // outermost first
    rule_cache* rules = nullptr;
    chain_memo* memo = nullptr;
    bool was_known = false;
};

void call_next(void* argument);

// Where this stands, the function keeps a frame pointer, whatever the flags say.
void keep_frame_pointer(void* frame) {
    __asm__ volatile("" : : "r"(frame));
}

__attribute__((noinline)) void look_here(look& seen) {
    seen.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const stack_bounds bounds = current_stack_bounds(seen.frame);
    remembered_chain* chain = nullptr;
    if (seen.memo != nullptr) {
        chain = seen.memo->entry_for(seen.frame, 0);
        seen.was_known = chain_memo::is_unchanged(*chain, seen.frame);
    }
    stack_walk{bounds, *seen.rules, seen.stack, seen.method}.run(seen.frame, most_frames);
    if (seen.memo != nullptr) seen.memo->remember(*chain, seen.frame, seen.stack);
    seen.walked.clear();
    for (std::uint32_t i = 0; i < seen.stack.frame_count; ++i) {
        seen.walked.push_back(seen.stack.return_addresses[i]);
    }
    void* frames[most_frames + 1];
    void** const last = frames + ::backtrace(frames, most_frames + 1);
    seen.expected.clear();
    for (void** each = std::find(frames, last, __builtin_return_address(0)); each != last; ++each) {
        seen.expected.push_back(reinterpret_cast<std::uintptr_t>(*each));
    }
    seen.expected.resize(std::min<std::size_t>(seen.expected.size(), most_frames));
}

__attribute__((noinline)) void call_next(void* argument) {
    keep_frame_pointer(__builtin_frame_address(0));
    look& seen = *static_cast<look*>(argument);
    if (seen.callers.empty()) {
        look_here(seen);
    } else {
        const caller_function next = seen.callers.back();
        seen.callers.pop_back();
        next(&call_next, argument);
    }
    __asm__ volatile("");  // no jump instead of the call
}

// Innermost caller first.
__attribute__((noinline)) const look& walk(unwinding method, std::vector<caller_function> callers,
                                           chain_memo* memo = nullptr) {
    keep_frame_pointer(__builtin_frame_address(0));
    static rule_cache rules;
    static look seen;
    seen.method = method;
    seen.rules = &rules;
    seen.memo = memo;
    seen.callers = std::move(callers);
    call_next(&seen);
    return seen;
}

bool is_prefix(const std::vector<std::uintptr_t>& part, const std::vector<std::uintptr_t>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

constexpr caller_function by_table = &allocscope_test_by_table;
constexpr caller_function data_in_bp = &allocscope_test_data_in_bp;
constexpr caller_function no_table = &allocscope_test_no_table;
constexpr caller_function neither = &allocscope_test_neither;
constexpr caller_function realigned = &allocscope_test_realigned;
constexpr caller_function saved_sp = &allocscope_test_saved_sp;
constexpr caller_function not_followed = &allocscope_test_not_followed;

}  // namespace

TEST_CASE("stack_walk: by tables, whatever the frames are like") {
    for (const unwinding method : {unwinding::automatic, unwinding::cfi}) {
        for (const auto& callers : std::vector<std::vector<caller_function>>{
                 {by_table},
                 {data_in_bp},
                 {by_table, data_in_bp, data_in_bp, realigned, data_in_bp, by_table},
                 {realigned},
                 {realigned, realigned},
                 {saved_sp},
                 {saved_sp, realigned, saved_sp, by_table, saved_sp},
                 {by_table, realigned, by_table, realigned, realigned, by_table, by_table}}) {
            const look& seen = walk(method, callers);
            CHECK(seen.walked.size() > callers.size() + 3);
            CHECK(seen.walked == seen.expected);
        }
    }
}

TEST_CASE("stack_walk: code without a table is passed by its frame pointer, but not by cfi") {
    // backtrace() ends there: what it would find is known from the same callers in another order.
    const look& seen = walk(unwinding::automatic, {by_table, no_table, realigned});
    CHECK(is_prefix(seen.expected, seen.walked));
    CHECK(seen.walked.size() > seen.expected.size());
    std::vector<std::vector<std::uintptr_t>> walked;
    const caller_function seconds[] = {no_table, by_table};
    for (int i = 0; i < twice; ++i) {  // one call for both
        const caller_function second = seconds[i];
        walked.push_back(walk(unwinding::automatic, {by_table, second, realigned}).walked);
    }
    walked[1][3] = walked[0][3];  // in the one function and in the other
    CHECK(walked[0] == walked[1]);

    const look& by_cfi = walk(unwinding::cfi, {by_table, no_table, realigned});
    CHECK(by_cfi.walked == by_cfi.expected);
    CHECK(walk(unwinding::cfi, {neither}).walked == seen.expected);
    // With rbp full of data there is no way on.
    CHECK(walk(unwinding::automatic, {neither}).walked == seen.expected);
}

TEST_CASE("stack_walk: a table that is not followed here is the end for cfi only") {
    const look& seen = walk(unwinding::automatic, {not_followed, by_table});
    CHECK(seen.walked == seen.expected);
    const look& by_cfi = walk(unwinding::cfi, {not_followed, by_table});
    CHECK(by_cfi.walked.size() == 2);
    CHECK(is_prefix(by_cfi.walked, by_cfi.expected));
}

TEST_CASE("stack_walk: frame pointers miss the callers of code that has none") {
    // call_next -> by_table -> call_next -> walk, or this test: the call to by_table is not found.
    // What comes after that depends on how this is compiled.
    look seen = walk(unwinding::frame_pointers, {by_table});
    REQUIRE(seen.walked.size() >= 3);
    CHECK(seen.walked[0] == seen.expected[0]);
    CHECK(seen.walked[1] == seen.expected[1]);
    CHECK(seen.walked[2] == seen.expected[3]);
    // A realigned frame repeats its return address above the saved rbp.
    seen = walk(unwinding::frame_pointers, {realigned});
    REQUIRE(seen.walked.size() >= 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(seen.walked[i] == seen.expected[i]);
    // Where backtrace() finds no table.
    seen = walk(unwinding::frame_pointers, {no_table, realigned});
    REQUIRE(seen.walked.size() >= 6);
    CHECK(is_prefix(seen.expected, seen.walked));
    CHECK(seen.walked[2] == seen.walked[4]);  // call_next calls both
    CHECK(walk(unwinding::frame_pointers, {neither}).walked.size() == 2);
}

TEST_CASE("chain_memo: what one method found is not handed to another") {
    chain_memo memo;
    REQUIRE(memo.prepare(most_frames, unwinding::frame_pointers));
    const auto rounds = [&memo](unwinding method, std::vector<caller_function> callers) {
        bool was_known = false;
        for (int i = 0; i < twice; ++i) was_known = walk(method, callers, &memo).was_known;
        return was_known;
    };
    CHECK_FALSE(rounds(unwinding::automatic, {by_table}));
    CHECK_FALSE(rounds(unwinding::cfi, {by_table}));
    CHECK(rounds(unwinding::frame_pointers, {by_table}));
    REQUIRE(memo.prepare(most_frames, unwinding::cfi));
    CHECK_FALSE(rounds(unwinding::frame_pointers, {by_table}));
    CHECK(rounds(unwinding::cfi, {by_table}));
    REQUIRE(memo.prepare(most_frames));
    CHECK_FALSE(rounds(unwinding::cfi, {by_table}));
    CHECK(rounds(unwinding::automatic, {by_table, realigned}));
    memo.release();
}

TEST_CASE("chain_memo: depends on where a realigned frame says that its caller is") {
    chain_memo memo;
    REQUIRE(memo.prepare(most_frames));
    const look& seen = walk(unwinding::automatic, {by_table, realigned}, &memo);
    CHECK(seen.stack.other_count > 0);
    const auto frame = seen.frame;
    walked_stack copy = seen.stack;
    // The same in memory of its own: moving the word must be noticed.
    std::vector<std::uintptr_t> words((copy.return_places[copy.return_count - 1] - frame) / 8 + 1);
    const std::uintptr_t moved_by = reinterpret_cast<std::uintptr_t>(words.data()) - frame;
    for (std::uint32_t i = 0; i < copy.return_count; ++i) {
        std::uintptr_t& place = copy.return_places[i];
        place += moved_by;
        *reinterpret_cast<std::uintptr_t*>(place) = copy.return_addresses[i];
        if (copy.rules[i].is_pair) {
            *reinterpret_cast<std::uintptr_t*>(place - 8) = copy.saved_below[i];
        }
    }
    for (std::uint32_t i = 0; i < copy.other_count; ++i) {
        copy.others[i].address += moved_by;
        *reinterpret_cast<std::uintptr_t*>(copy.others[i].address) = copy.others[i].value;
    }
    remembered_chain& chain = *memo.entry_for(frame + moved_by, 1);
    memo.remember(chain, frame + moved_by, copy);
    REQUIRE(chain_memo::is_unchanged(chain, frame + moved_by));
    std::uintptr_t frames[walked_stack::most_words];
    for (std::uint32_t i = 0; i < copy.other_count; ++i) {
        auto& word = *reinterpret_cast<std::uintptr_t*>(copy.others[i].address);
        word += 16;
        CHECK_FALSE(chain_memo::is_unchanged(chain, frame + moved_by));
        static rule_cache rules;
        CHECK_FALSE(update_chain(chain, frame + moved_by, rules, frames));
        word -= 16;
        memo.remember(chain, frame + moved_by, copy);
    }
    memo.release();
}

TEST_CASE("chain_memo: a chain with more words than there is room for is not kept") {
    chain_memo memo;
    REQUIRE(memo.prepare(most_frames));
    const look* last = nullptr;
    for (int i = 0; i < twice; ++i) last = &walk(unwinding::automatic, {realigned}, &memo);
    const look& seen = *last;
    REQUIRE(seen.was_known);
    walked_stack many = seen.stack;
    for (; many.other_count < walked_stack::most_words; ++many.other_count) {
        many.others[many.other_count] = many.others[0];
    }
    remembered_chain& chain = *memo.entry_for(seen.frame, 0);
    memo.remember(chain, seen.frame, many);
    CHECK_FALSE(chain_memo::is_unchanged(chain, seen.frame));
    CHECK(chain.frame_count == many.frame_count);  // this much is told nevertheless
    CHECK(chain.sum == many.sum);
    many = seen.stack;
    many.has_all_others = false;
    memo.remember(chain, seen.frame, many);
    CHECK_FALSE(chain_memo::is_unchanged(chain, seen.frame));
    memo.release();
}
