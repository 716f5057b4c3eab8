// The walk by itself, with everything it calls: what never_locks.py looks at.

#include "../support/update_chain.hpp"

#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>

using namespace allocscope::detail;

extern "C" {
void allocscope_test_walk(const stack_bounds& bounds, rule_cache& rules, walked_stack& out,
                          allocscope::unwinding method, std::uintptr_t frame);
bool allocscope_test_remembered(chain_memo& memo, rule_cache& rules, const walked_stack& stack,
                                std::uintptr_t frame, std::uintptr_t* frames);
}

void allocscope_test_walk(const stack_bounds& bounds, rule_cache& rules, walked_stack& out,
                          allocscope::unwinding method, std::uintptr_t frame) {
    stack_walk{bounds, rules, out, method}.run(frame, allocscope::max_stack_frames);
}

bool allocscope_test_remembered(chain_memo& memo, rule_cache& rules, const walked_stack& stack,
                                std::uintptr_t frame, std::uintptr_t* frames) {
    remembered_chain& chain = *memo.entry_for(frame, read_stack_word(frame + sizeof(frame)));
    if (chain_memo::is_unchanged(chain, frame)) return true;
    if (update_chain(chain, frame, rules, frames)) return true;
    memo.remember(chain, frame, stack);
    return false;
}
