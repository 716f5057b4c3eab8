// liballocscope_preload.so: records an unmodified program. See docs/how_to/any_program.md.
//
// The program loads it because `allocscope run` names it in LD_PRELOAD. It replaces malloc and its
// family, and its first event opens a window in the command's file. It contains no code that finds
// names: the command does that.
#define ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT 1

#include "begin_recording.hpp"
#include "elementary_functions.hpp"
#include "followed_children.hpp"
#include "hand_over.hpp"
#include "last_look.hpp"
#include "led_operators.hpp"
#include "sized_frees.hpp"
// Older ones keep them in several libraries: there they are called where the loader finds them.
#if __GLIBC_PREREQ(2, 34)
    #include "library_functions.hpp"
#endif
// tests/programs/failing_calls.py comes between the calls and the kernel.
#ifndef ALLOCSCOPE_TESTS_CALLS_ARE_LOOKED_UP
    #include "system_calls.hpp"
#endif

#include <allocscope/define_once/malloc_definitions.hpp>

#include <cmath>

// std::log and the like call these; see elementary_functions.hpp. They are hidden, as is everything
// here that does not belong to malloc.
extern "C" {
double log(double value) noexcept {
    return allocscope_tools::elementary::logarithm(value);
}
double log1p(double value) noexcept {
    return allocscope_tools::elementary::logarithm_of_one_and(value);
}
double exp(double value) noexcept {
    return allocscope_tools::elementary::exponential(value);
}
double expm1(double value) noexcept {
    return allocscope_tools::elementary::exponential_less_one(value);
}
}

// A recorded program may start one with AddressSanitizer. That calls this function when it begins,
// and ends the program if another library comes before its own, unless it is told not to check. Our
// library passes each call on to it and records nothing. The program's own definition and
// ASAN_OPTIONS take precedence. The loader may not have relocated this library yet.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
    return "verify_asan_link_order=0";
}

// Runs when the loader has initialised this library. Usually the first event was long before.
__attribute__((constructor)) static void on_load() {
    allocscope::detail::hand_over_to_command();
    allocscope::detail::tell_if_sanitized();
    // If another malloc comes first, the first call shows whether it passes calls on.
    if (allocscope::detail::process.entry.is_untouched() &&
        allocscope::detail::is_our_malloc_first()) {
        allocscope::detail::begin_if_untouched();
        if (allocscope::detail::process.entry.is_untouched()) {
            // Or the program has a free of its own, and no malloc.
            allocscope::detail::is_replaced = !allocscope::detail::is_defined_earlier("free");
            allocscope::detail::begin_recording(nullptr, nullptr);
        }
    }
    allocscope::detail::note_main_stack();
    allocscope::detail::lead_operators_before_main();
    allocscope::detail::follow_children();
}

// Runs after the exit handlers of the program.
__attribute__((destructor)) static void on_unload() {
    allocscope::detail::note_exit();
    allocscope::detail::take_last_look();
}
