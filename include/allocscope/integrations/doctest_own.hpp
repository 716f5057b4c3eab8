// doctest_own.hpp - tells what doctest keeps for its own work from what a test leaves alive.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the engine for each stack that left something alive in a checked window
// Threads:  any
// Memory:   none
//
// Between the start and the end of a case doctest remembers subcases and contexts, and fills the
// buffers that it prints through. A hundred bytes may stay alive at each pass, and more with -s or
// another reporter. Two kinds of stacks are doctest's:
//
//     operator new, std::vector..., doctest::detail::Subcase::Subcase, the test
//     operator new, std::basic_stringbuf::overflow, the user's operator<<, doctest::..., the test
//
// In the first no code of the user stands before doctest; the second is a buffer of doctest that
// the user's code prints into. A leak in the user's operator== or operator<< is neither.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/measure/leak_check.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Context::run() is below every case and allocates nothing in it.
inline bool is_doctest_function(const snapshot::frame& frame) noexcept {
    return is_of_namespace(frame.function, "doctest::") &&
           !is_of_namespace(frame.function, "doctest::Context::");
}

// For leak_options::is_expected.
inline bool is_doctest_own(const leak_stack& stack, const void*) {
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame; ++i) {
        fills_buffer = fills_buffer || mentions(stack.frames[i], "basic_stringbuf<");
    }
    for (std::size_t i = stack.user_frame; i < stack.frame_count; ++i) {
        if (is_doctest_function(stack.frames[i])) {
            stack.decisive_frames = i + 1;
            return true;
        }
        if (!fills_buffer) return false;
    }
    return false;
}

// For leak_options::is_expected_by_symbols.
inline bool is_doctest_own_by_symbols(const leak_stack& stack, const void* context) {
    return is_doctest_own(stack, context) &&
           hides_nothing(stack, stack.decisive_frames - 1, "doctest::");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP
