// Danger: code compiled without frame pointers keeps anything in rbp; a walk that trusts it reads
// where nothing is mapped, or runs in circles. operator new is called with random and chosen values
// of rbp, and on a stack between two pages that nobody may touch.
// about: stacks

#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <pthread.h>
#include <sys/mman.h>
#include <initializer_list>

// They call operator new(size) with rbp = frame_pointer. The first one has an unwind table; nothing
// is known about the second one.
extern "C" {
void* allocscope_test_new_described(std::size_t size, std::uintptr_t frame_pointer);
void* allocscope_test_new_unknown(std::size_t size, std::uintptr_t frame_pointer);
}

__asm__(
    ".text\n"
    ".globl allocscope_test_new_described\n"
    ".type allocscope_test_new_described, @function\n"
    "allocscope_test_new_described:\n"
    "  .cfi_startproc\n"
    "  push %rbp\n"
    "  .cfi_def_cfa_offset 16\n"
    "  .cfi_offset %rbp, -16\n"
    "  mov %rsi, %rbp\n"
    "  call _Znwm@PLT\n"
    "  pop %rbp\n"
    "  .cfi_def_cfa_offset 8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size allocscope_test_new_described, .-allocscope_test_new_described\n"
    ".globl allocscope_test_new_unknown\n"
    ".type allocscope_test_new_unknown, @function\n"
    "allocscope_test_new_unknown:\n"
    "  push %rbp\n"
    "  mov %rsi, %rbp\n"
    "  call _Znwm@PLT\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size allocscope_test_new_unknown, .-allocscope_test_new_unknown\n");

using namespace allocscope_test;

namespace {

std::uint64_t births = 0;

void allocate_with(std::uintptr_t frame_pointer) {
    release(allocscope_test_new_described(24, frame_pointer));
    release(allocscope_test_new_unknown(24, frame_pointer));
    births += 2;
}

std::uintptr_t address_of(const volatile void* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

void chosen_values() {
    volatile std::uintptr_t frames[64] = {};
    const std::uintptr_t first = address_of(frames);
    const auto return_address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    frames[0] = first;  // a frame that is its own caller
    frames[1] = return_address;
    frames[2] = address_of(&frames[4]);  // two frames that call each other
    frames[3] = return_address;
    frames[4] = address_of(&frames[2]);
    frames[5] = return_address;
    frames[6] = first + 3;  // misaligned
    frames[7] = return_address;
    frames[8] = address_of(&frames[10]);  // then nothing: no caller, no return address
    frames[9] = return_address;
    frames[12] = ~std::uintptr_t{0} - 7;
    frames[13] = return_address;
    frames[14] = address_of(&frames[20]);  // a return address that is no code
    frames[15] = 0x1234;
    frames[20] = address_of(&frames[16]);  // backward
    frames[21] = return_address;
    for (std::size_t i = 0; i < 64; ++i) allocate_with(address_of(&frames[i]));
    for (std::uintptr_t i = 0; i < 4096; i += 7) {
        allocate_with(i);
        allocate_with(~i);
        allocate_with(first + i);  // into the callers' frames, aligned or not
        allocate_with(first - i);
        allocate_with(std::uintptr_t{1} << 47 | i);
        allocate_with((std::uintptr_t{1} << 47) - i);
    }
    for (int bit = 0; bit < 64; ++bit) allocate_with(std::uintptr_t{1} << bit);
}

void random_values() {
    dice roll{1};
    const std::uintptr_t here = address_of(&roll);
    for (long i = scaled(300000); i > 0; --i) {
        allocate_with(roll.next());
        allocate_with(roll.next() >> 17);                // a user's address
        allocate_with(here + roll.below(1U << 16) * 8);  // around this stack
        allocate_with(here - (1U << 16) + roll.below(1U << 17));
    }
}

constexpr std::size_t mebibyte = 1024 * 1024;

struct guarded_stack {
    char* lower_guard;
    std::size_t stack_bytes;
};

// Every place at and around both ends of the stack, seen from a thread that runs on it.
void* ends_of_the_stack(void* argument) {
    const auto& stack = *static_cast<guarded_stack*>(argument);
    const std::uintptr_t begin = address_of(stack.lower_guard);
    const std::uintptr_t low = begin + 4096;
    const std::uintptr_t high = low + stack.stack_bytes;
    for (std::uintptr_t at = begin; at < low + 4096; at += 8) allocate_with(at);
    for (std::uintptr_t at = high - 4096; at < high + 4096; at += 8) allocate_with(at);
    for (std::uintptr_t at = high - 64; at < high + 64; ++at) allocate_with(at);
    return nullptr;
}

void on_a_guarded_stack() {
    guarded_stack stack = {nullptr, is_sanitized ? 4 * mebibyte : 256 * 1024};
    void* memory =
        mmap(nullptr, stack.stack_bytes + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.lower_guard = static_cast<char*>(memory);
    mprotect(stack.lower_guard + 4096, stack.stack_bytes, PROT_READ | PROT_WRITE);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack.lower_guard + 4096, stack.stack_bytes);
    pthread_t thread;
    if (ALLOCSCOPE_EXPECT(pthread_create(&thread, &attributes, ends_of_the_stack, &stack) == 0)) {
        pthread_join(thread, nullptr);
    }
    pthread_attr_destroy(&attributes);
    munmap(memory, stack.stack_bytes + 2 * 4096);
}

}  // namespace

int main() {
    watchdog();
    for (const std::uint32_t frames : {24U, 128U}) {
        allocscope::options wanted;
        wanted.stack_frames = frames;
        allocscope::scope window{"hostile", wanted};
        births = 0;
        chosen_values();
        random_values();
        on_a_guarded_stack();
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, births);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
        void* kept = allocscope_test_new_unknown(24, 0x10);
        ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), 1);  // names come out of it, too
        release(kept);
        expect_accounted(window.stats(), {births + 1, births + 1});
    }
    return verdict();
}
