// pool_words.hpp - what a report of a pool says besides the address.
//
// Room:     link (floor 1), malloc-safe
// Called:   filled by measure/pool_reports.hpp in any module, read by the engine
// Threads:  any
// Memory:   none; the engine copies the texts

#ifndef ALLOCSCOPE_LINK_POOL_WORDS_HPP
#define ALLOCSCOPE_LINK_POOL_WORDS_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct pool_words {
    const char* pool;         // null: not named
    const char* type;         // as the compiler spells it; no zero byte at its end
    std::size_t type_length;  // 0: not known
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_POOL_WORDS_HPP
