// Danger: a signal handler jumps away between two stores of a hook that belong together. When a
// page of cohorts was full, a jump at one instruction made all later cohorts lie outside of their
// pages. So a handler jumps away at each of the instructions that follow when a page was taken.
//
// The trap flag of the processor makes a signal of each instruction.
// not with: asan, tsan (their own allocator must not be jumped out of)
// about: stacks

#include "../../support/process_test.hpp"
#include "../../support/signal_safe_malloc.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/state/process_state.hpp>

#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>

using namespace allocscope_test;

namespace {

constexpr unsigned stacks_of_page = allocscope::detail::cohort_table::page_cohorts;
constexpr unsigned stacks_after = 3 * stacks_of_page;
constexpr int depth = 8;
constexpr long instructions_after = 64;

sigjmp_buf back;
std::size_t bytes_before = 0;
volatile long instructions = 0;  // since the page was taken
volatile long jump_at = 0;

std::size_t bytes_of_cohorts() {
    return allocscope::detail::process.cohorts.used_bytes();
}

void count_instruction(int) {
    if (bytes_of_cohorts() == bytes_before) return;
    if (instructions == jump_at) siglongjmp(back, 1);
    instructions = instructions + 1;
}

__attribute__((always_inline)) inline void set_trap_flag(bool is_set) {
    constexpr std::uint64_t trap_flag = 0x100;
    const std::uint64_t flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64(is_set ? flags | trap_flag : flags & ~trap_flag);
}

// Allocates from a new stack; whether the handler jumped away at that instruction.
bool is_left_at(long instruction) {
    bytes_before = bytes_of_cohorts();
    instructions = 0;
    jump_at = instruction;
    if (sigsetjmp(back, 1) != 0) return true;
    set_trap_flag(true);
    void* const object = allocate_on_path(stacks_of_page, depth, 40);
    set_trap_flag(false);
    release(object);
    return false;
}

void expect_all_counted_after_jump(long instruction) {
    const allocscope::scope window{"jump"};
    for (unsigned path = 0; path < stacks_of_page; ++path) {
        release(allocate_on_path(path, depth, 40));
    }
    ALLOCSCOPE_EXPECT(is_left_at(instruction));
    const allocscope::allocation_counts before = window.counts();
    for (unsigned path = 0; path < stacks_after; ++path) {
        release(allocate_on_path(path, depth, 24));
    }
    const allocscope::allocation_counts after = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(after.allocations - before.allocations, stacks_after);
    ALLOCSCOPE_EXPECT_EQUAL(after.frees - before.frees, stacks_after);
    ALLOCSCOPE_EXPECT_EQUAL(after.bytes_allocated - before.bytes_allocated, 24 * stacks_after);
}

}  // namespace

int main() {
    watchdog();
    struct sigaction action = {};
    action.sa_handler = count_instruction;
    sigaction(SIGTRAP, &action, nullptr);
    for (long instruction = 0; instruction < instructions_after; ++instruction) {
        expect_all_counted_after_jump(instruction);
    }
    return verdict();
}
