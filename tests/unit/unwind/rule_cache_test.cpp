// Stacks of this process, walked by rules alone, against those that backtrace() finds.

#include <allocscope/unwind/rule_cache.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ostream>
#include <streambuf>
#include <thread>
#include <vector>

#include <execinfo.h>

namespace {

using allocscope::detail::find_holding_module;
using allocscope::detail::find_unwind_rule;
using allocscope::detail::rule_cache;
using allocscope::detail::rule_kind;
using allocscope::detail::unwind_rule;

struct registers {
    std::uintptr_t pc, sp, bp;
};

// In asm, so that AddressSanitizer does not mind: a rule leads into red zones too.
std::uintptr_t word_at(std::uintptr_t address) {
    std::uintptr_t word;
    __asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(address));
    return word;
}

// The caller's registers; false at the end of the stack.
bool step(rule_cache& rules, registers& now) {
    const unwind_rule rule = rules.rule_for(now.pc);
    std::uintptr_t from = now.bp;
    switch (rule.kind) {
        case rule_kind::from_sp:
            from = now.sp;
            break;
        case rule_kind::from_bp:
        case rule_kind::frame_pointer:
            break;
        case rule_kind::outermost:
        case rule_kind::realigned:
        case rule_kind::saved_sp:
        case rule_kind::no_table:
        case rule_kind::unknown:
        case rule_kind::unsupported:
            return false;
    }
    const auto plus = [](std::uintptr_t address, std::intptr_t offset) {
        return address + static_cast<std::uintptr_t>(offset);
    };
    const std::uintptr_t cfa = plus(from, rule.cfa_offset);
    if (cfa <= now.sp) return false;
    if (rule.restores_bp) now.bp = word_at(plus(cfa, rule.bp_offset));
    now.pc = word_at(plus(cfa, -8));
    now.sp = cfa;
    return true;
}

std::vector<std::uintptr_t> walked;
std::vector<std::uintptr_t> expected;
rule_kind end_of_walk;

// From the caller's frame on, both ways.
__attribute__((noinline)) void look_up_the_stack() {
    static rule_cache rules;
    registers now;
    __asm__ volatile(
        "leaq 0f(%%rip), %0\n0:\n\t"
        "movq %%rsp, %1\n\t"
        "movq %%rbp, %2"
        : "=r"(now.pc), "=r"(now.sp), "=r"(now.bp));
    ++now.pc;  // rules are about the instruction before
    void* frames[128];
    const int count = ::backtrace(frames, 128);
    expected.clear();
    walked.clear();
    // The first are in this function, and in a sanitizer's backtrace().
    void** const last = frames + count;
    for (void** each = std::find(frames, last, __builtin_return_address(0)); each != last; ++each) {
        expected.push_back(reinterpret_cast<std::uintptr_t>(*each));
    }
    while (walked.size() < 128 && step(rules, now)) walked.push_back(now.pc);
    end_of_walk = rules.rule_for(now.pc).kind;
}

void check_walk(std::size_t least_frames) {
    CHECK(expected.size() >= least_frames);
    CHECK(end_of_walk == rule_kind::outermost);
    CHECK(walked == expected);
    walked.clear();
}

struct looking_buffer : std::streambuf {
    int_type overflow(int_type character) override {
        look_up_the_stack();
        return character;
    }
};

}  // namespace

TEST_CASE("rule_cache: walks through sort and function as backtrace does") {
    std::vector<int> numbers{5, 3, 9, 1, 7, 2};
    std::function<bool(int, int)> is_less = [](int a, int b) {
        look_up_the_stack();
        return a < b;
    };
    std::sort(numbers.begin(), numbers.end(), is_less);
    check_walk(5);
    std::stable_sort(numbers.begin(), numbers.end(), is_less);
    check_walk(5);
}

TEST_CASE("rule_cache: walks through qsort of the C library") {
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof(int), [](const void* a, const void* b) {
        look_up_the_stack();
        return std::memcmp(a, b, sizeof(int));
    });
    check_walk(5);
}

TEST_CASE("rule_cache: walks through the streams of the C++ library") {
    looking_buffer buffer;
    std::ostream out{&buffer};
    out << 12;
    check_walk(6);
    out << "text" << 1.5;
    check_walk(6);
}

TEST_CASE("rule_cache: a thread's stack ends where the thread began") {
    std::thread{look_up_the_stack}.join();
    check_walk(3);
}

TEST_CASE("rule_cache: zeroed memory is an empty cache") {
    alignas(rule_cache) static unsigned char memory[sizeof(rule_cache)];
    auto& rules = *reinterpret_cast<rule_cache*>(memory);
    const unwind_rule nothing = rules.rule_for(0);
    CHECK(nothing.kind == rule_kind::unknown);
    CHECK_FALSE(nothing.restores_bp);
}

TEST_CASE("rule_cache: answers like find_unwind_rule, the second time too, and after forgetting") {
    static rule_cache rules;
    look_up_the_stack();
    std::vector<std::uintptr_t> addresses = walked;
    // Enough to fall on each other's places.
    for (std::uintptr_t i = 0; i < 2000; ++i) {
        addresses.push_back(reinterpret_cast<std::uintptr_t>(&std::qsort) + i);
    }
    for (int round = 0; round < 3; ++round) {
        for (const std::uintptr_t pc : addresses) {
            const unwind_rule rule = find_unwind_rule(pc, find_holding_module(pc - 1));
            REQUIRE(rules.rule_for(pc).leads_like(rule));
            REQUIRE(rules.rule_for(pc).leads_like(rule));
        }
        if (round == 1) rules.forget();
    }
}

TEST_CASE("rule_cache: any number may be asked about") {
    static rule_cache rules;
    int local = 0;
    const auto on_stack = reinterpret_cast<std::uintptr_t>(&local);
    for (const std::uintptr_t pc :
         {std::uintptr_t{1}, std::uintptr_t{4096}, on_stack, ~std::uintptr_t{0},
          std::uintptr_t{1} << 47U, (std::uintptr_t{1} << 47U) - 1, std::uintptr_t{1} << 63U}) {
        CHECK(rules.rule_for(pc).kind == rule_kind::unknown);
    }
}
