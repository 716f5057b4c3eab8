// Danger: a C library older than 2.35 has no _dl_find_object. Compiled so that the weak reference
// finds nobody: then modules that were loaded with the program are found in the loader's list, and
// everywhere else rules say that frame pointers are to be followed.

#include "../support/process_test.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include <dlfcn.h>

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
    const auto of_libc = reinterpret_cast<std::uintptr_t>(&std::qsort);
    // Nobody is linked with it, and it needs nothing that only some programs have.
    void* const plugin = ::dlopen("libBrokenLocale.so.1", RTLD_LAZY);
    ALLOCSCOPE_EXPECT(plugin != nullptr);
    const auto of_plugin =
        reinterpret_cast<std::uintptr_t>(::dlsym(plugin, "__ctype_get_mb_cur_max"));

    // Loaded with the program: the module is found, and its table is read.
    for (const std::uintptr_t pc : {code, of_libc}) {
        Dl_info expected{};
        ALLOCSCOPE_EXPECT(::dladdr(reinterpret_cast<void*>(pc), &expected) != 0);
        const module_identity found = identify_module(pc);
        ALLOCSCOPE_EXPECT(found.start == reinterpret_cast<std::uintptr_t>(expected.dli_fbase));
        ALLOCSCOPE_EXPECT(found.life == module_life::permanent);
        ALLOCSCOPE_EXPECT(rules.rule_for(pc + 1).kind != rule_kind::no_table);
        ALLOCSCOPE_EXPECT(rules.rule_for(pc + 1).kind != rule_kind::unknown);
    }
    // All others: a number that may be an address.
    for (const std::uintptr_t pc : {of_plugin + 1, std::uintptr_t{1} << 40}) {
        ALLOCSCOPE_EXPECT(rules.rule_for(pc).kind == rule_kind::no_table);
        ALLOCSCOPE_EXPECT(identify_module(pc).start == 0);
    }
    for (const std::uintptr_t pc : {std::uintptr_t{0}, std::uintptr_t{4095}, ~std::uintptr_t{0}}) {
        ALLOCSCOPE_EXPECT(rules.rule_for(pc).kind == rule_kind::unknown);
    }
    for (const unwinding method :
         {unwinding::automatic, unwinding::frame_pointers, unwinding::cfi}) {
        call_look(method, 3);
    }
    return verdict();
}
