// text_flow.hpp - lets parts of a long text be taken away while it is still being written.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   by report/json_report.hpp and by page/; formats/ takes the pieces
// Threads:  one
// Memory:   none

#ifndef ALLOCSCOPE_PLAIN_TEXT_FLOW_HPP
#define ALLOCSCOPE_PLAIN_TEXT_FLOW_HPP

#include <allocscope/base/compiler.hpp>

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct text_flow {
    // Called between two pieces of work. What was written so far may be taken out of the text.
    void (*may_go)(void* whom);
    void* whom;
};

// The text stays where it is until it is complete.
inline text_flow kept_text() noexcept {
    return {[](void*) {}, nullptr};
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_FLOW_HPP
