// Danger: a C library older than 2.35 has no _dl_find_object, and nothing else finds a module
// without a lock. Compiled so that the weak reference finds nobody: rules then say that frame
// pointers are to be followed, for every number that may be an address; no module is read.

#include "../support/process_test.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>
#include <initializer_list>

using namespace allocscope_test;
using namespace allocscope::detail;
using allocscope::unwinding;

namespace {

rule_cache rules;
walked_stack walked;

__attribute__((noinline)) void look(void* caller, unwinding method, std::uint32_t least) {
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    stack_walk{current_stack_bounds(frame), rules, walked, method}.run(frame, 24);
    ALLOCSCOPE_EXPECT(walked.frame_count >= least);
    const auto own = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    ALLOCSCOPE_EXPECT(walked.return_addresses[0] == own);
    if (least > 1) {
        ALLOCSCOPE_EXPECT(walked.return_addresses[1] == reinterpret_cast<std::uintptr_t>(caller));
    }
}

__attribute__((noinline)) void call_look(unwinding method, std::uint32_t least) {
    look(__builtin_return_address(0), method, least);
    __asm__ volatile("");
}

}  // namespace

int main() {
    watchdog();
    ALLOCSCOPE_EXPECT(&_dl_find_object == nullptr);
    const auto code = reinterpret_cast<std::uintptr_t>(&call_look);
    for (const std::uintptr_t pc : {code, code + 5, std::uintptr_t{1} << 40}) {
        ALLOCSCOPE_EXPECT(rules.rule_for(pc).kind == rule_kind::no_table);
        ALLOCSCOPE_EXPECT(identify_module(pc).start == 0);
    }
    for (const std::uintptr_t pc : {std::uintptr_t{0}, std::uintptr_t{4095}, ~std::uintptr_t{0}}) {
        ALLOCSCOPE_EXPECT(rules.rule_for(pc).kind == rule_kind::unknown);
    }
    call_look(unwinding::automatic, 3);
    call_look(unwinding::frame_pointers, 3);
    call_look(unwinding::cfi, 1);  // no tables: the hook's caller, and no more
    ALLOCSCOPE_EXPECT_EQUAL(walked.frame_count, 1);
    return verdict();
}
