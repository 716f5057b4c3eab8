// update_chain.hpp - a remembered chain taken for the present stack, as find_changed() of record/
// does for a stack whose site does not know the shape.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_UPDATE_CHAIN_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_UPDATE_CHAIN_HPP

#include <allocscope/unwind/chain_memo.hpp>

#include <cstdint>

// False: the stack has to be walked.
inline bool update_chain(allocscope::detail::remembered_chain& chain, std::uintptr_t frame,
                         allocscope::detail::rule_cache& rules, std::uintptr_t* frames) noexcept {
    using allocscope::detail::chain_memo;
    if (!chain_memo::collect(chain, frame, frames)) return false;
    if (!chain_memo::leads_as_before(chain, rules, frames)) return false;
    chain_memo::end_change(chain, frame);
    return true;
}

#endif  // ALLOCSCOPE_TESTS_SUPPORT_UPDATE_CHAIN_HPP
