// chain_memo.hpp - check a remembered stack instead of walking it.
//
// Room:     unwind (floor 4), malloc-safe
// Called:   on every allocation that wants its stack
// Threads:  one memo per thread
// Memory:   128 entries of 64 + 40 * frames bytes, touched one by one (136 KiB for 24 frames)
//
// A walk is a chain of dependent loads: some 5 cycles for each frame whatever one does. But a
// thread that allocates in a loop walks the same frames at the same addresses. So the last chain
// seen from a frame is kept: the words the walk depended on, and where they stood. As the places
// are known from the memo and not from the stack, all comparisons run at once:
//
//     memo      {saved bp, return}  {saved bp, return}  {return}
//                  |    xor            |    xor            |  xor      or'ed together: 0?
//     stack     [frame]             [frame]             [frame]
//
// If all are equal a walk would have read the same values, so the result is exact, not a guess.
// Only chains that lie wholly in the thread's own stack are kept: another stack may be unmapped.
// A memo holds chains walked by one method (options::unwind): another one needs another `prepare`.
//
// When only return addresses differ (the same functions called from elsewhere, as a loop or a
// dispatcher does) and the new ones have the rules of the old, the frames are still where the memo
// says, and the new addresses are collected without a dependent load (`update`). Not where a module
// stands in the chain that may be unloaded: such chains are walked. And when a walk finds that a
// module went, all chains are forgotten.
//
//     entry     | head | pairs: 16 bytes each | their places | single words with places | rules |

#ifndef ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
#define ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/stack_walk.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t

#include <emmintrin.h>  // SSE2

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A saved frame pointer and the return address above it.
struct alignas(16) frame_pair {
    std::uintptr_t saved_bp;
    std::uintptr_t return_address;
};

// One remembered chain. What it stands for is the business of record/.
struct alignas(64) remembered_chain {
    std::uintptr_t frame;  // where the walk began; 0: empty
    std::uint16_t pair_count;
    std::uint16_t single_count;
    std::uint16_t frame_count;
    std::uint8_t is_permanent;   // no return address into a module that may go
    std::uint8_t is_ordered;     // the frames with pairs are the innermost ones
    std::uint32_t epoch;         // for which the next two are right; 0: for none
    std::uint16_t return_count;  // may be one more than frames
    std::uint16_t method;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;  // hash_part of each frame's return address

    frame_pair* pairs() noexcept { return reinterpret_cast<frame_pair*>(this + 1); }
    const frame_pair* pairs() const noexcept {
        return reinterpret_cast<const frame_pair*>(this + 1);
    }
    std::uintptr_t* places() noexcept {
        return reinterpret_cast<std::uintptr_t*>(pairs() + pair_count);
    }
    stack_word* singles() noexcept { return reinterpret_cast<stack_word*>(places() + pair_count); }
    unwind_rule* rules() noexcept {
        return reinterpret_cast<unwind_rule*>(singles() + single_count);
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

class chain_memo {
public:
    static constexpr std::size_t entry_count = 128;

    bool is_ready() const noexcept { return entries_ != nullptr; }

    // Makes room for chains of so many frames; forgets all. False when there is no memory.
    bool prepare(std::uint32_t most_frames, unwinding method = unwinding::automatic) noexcept {
        release();
        method_ = method;
        generation_ = 0;
        // A frame leaves a pair with its place (24 bytes), or two single words, rarely three; and a
        // rule. Chains for which that is too little are not kept.
        const std::size_t needed =
            sizeof(remembered_chain) +
            (most_frames + 1U) * (2 * sizeof(stack_word) + sizeof(unwind_rule));
        stride_ = (needed + 63U) & ~std::size_t{63};
        entries_ = static_cast<char*>(reserve_pages(mapped_bytes()));
        return entries_ != nullptr;
    }

    void release() noexcept {
        if (entries_ != nullptr) return_reservation(entries_, mapped_bytes());
        entries_ = nullptr;
        touched_bytes_.set(0);
    }

    // By which the chains kept here are walked.
    unwinding method() const noexcept { return method_; }

    // What the entries used so far take; any thread.
    std::uint64_t touched_bytes() const noexcept { return touched_bytes_.read(); }

    // The entry in which a chain that starts so is kept, whatever is in it now.
    ALLOCSCOPE_FAST_PATH remembered_chain* entry_for(std::uintptr_t frame,
                                                     std::uintptr_t return_address) noexcept {
        const std::uint64_t mixed = (frame >> 4U) + return_address + (return_address >> 7U);
        return reinterpret_cast<remembered_chain*>(entries_ +
                                                   (mixed & (entry_count - 1U)) * stride_);
    }

    // Whether a walk from `frame` would read what the remembered one read.
    ALLOCSCOPE_FAST_PATH static bool is_unchanged(const remembered_chain& chain,
                                                  std::uintptr_t frame) noexcept {
        if (ALLOCSCOPE_UNLIKELY(chain.frame != frame)) return false;
        const frame_pair* pair = chain.pairs();
        const frame_pair* const pairs_end = pair + chain.pair_count;
        const auto* place = reinterpret_cast<const std::uintptr_t*>(pairs_end);
        __m128i changed = _mm_setzero_si128();
        __m128i changed_too = _mm_setzero_si128();
        for (; pairs_end - pair >= 4; pair += 4, place += 4) {
            changed = _mm_or_si128(changed, compare(place[0], pair[0]));
            changed_too = _mm_or_si128(changed_too, compare(place[1], pair[1]));
            changed = _mm_or_si128(changed, compare(place[2], pair[2]));
            changed_too = _mm_or_si128(changed_too, compare(place[3], pair[3]));
        }
        for (; pair != pairs_end; ++pair, ++place) {
            changed = _mm_or_si128(changed, compare(*place, *pair));
        }
        changed = _mm_or_si128(changed, changed_too);
        const stack_word* single = reinterpret_cast<const stack_word*>(place);
        const stack_word* const end = single + chain.single_count;
        std::uintptr_t different = 0;
        std::uintptr_t different_too = 0;
        for (; end - single >= 4; single += 4) {
            different |= compare(single[0]);
            different_too |= compare(single[1]);
            different |= compare(single[2]);
            different_too |= compare(single[3]);
        }
        for (; single != end; ++single) different |= compare(*single);
        const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(changed, _mm_setzero_si128()));
        return equal == 0xffff && (different | different_too) == 0;
    }

    // For a stack that starts at `frame` and differs from the remembered one in return addresses
    // only: remembers it instead and puts the addresses into `frames`. False: it has to be walked.
    static bool update(remembered_chain& chain, std::uintptr_t frame, rule_cache& rules,
                       std::uintptr_t* frames) noexcept {
        if (chain.frame != frame || chain.is_permanent == 0) return false;
        begin_change(chain);
        const bool is_same = chain.is_ordered != 0 ? update_ordered(chain, rules, frames)
                                                   : update_mixed(chain, rules, frames);
        if (is_same) end_change(chain, frame);
        return is_same;
    }

    // Puts the walked stack into the entry. Its sum and number of frames always; it is not found
    // again when the walk went by another method, or depended on more words than there is room for.
    void remember(remembered_chain& chain, std::uintptr_t frame,
                  const walked_stack& stack) noexcept {
        if (stack.generation != generation_) forget_all(stack.generation);
        if (chain.frame_count == 0) touched_bytes_.add(stride_);
        begin_change(chain);
        std::uint32_t pairs = 0;
        for (std::uint32_t i = 0; i < stack.return_count; ++i) {
            pairs += stack.has_saved_below[i] ? 1U : 0U;
        }
        chain.pair_count = static_cast<std::uint16_t>(pairs);
        chain.single_count =
            static_cast<std::uint16_t>(stack.return_count - pairs + stack.other_count);
        chain.return_count = static_cast<std::uint16_t>(stack.return_count);
        chain.method = static_cast<std::uint16_t>(stack.method);
        chain.frame_count = static_cast<std::uint16_t>(stack.frame_count);
        chain.sum = stack.sum;
        if (stack.method != method_ || !has_room(chain, stack)) return;
        write_words(chain, stack);
        end_change(chain, frame);
    }

private:
    static_assert((entry_count & (entry_count - 1)) == 0, "entry_for masks");

    // A signal handler that jumps out between the two leaves an empty entry.
    static void begin_change(remembered_chain& chain) noexcept {
        chain.frame = 0;
        chain.epoch = 0;
        chain.site = nullptr;
        compiler_barrier();
    }
    static void end_change(remembered_chain& chain, std::uintptr_t frame) noexcept {
        compiler_barrier();
        chain.frame = frame;
    }

    // The `index`-th return address is another one than was known, and is known from now on. False:
    // it leads elsewhere than the old one did.
    ALLOCSCOPE_NOINLINE static bool accept(remembered_chain& chain, rule_cache& rules,
                                           std::uint32_t index, std::uintptr_t now,
                                           std::uintptr_t& known) noexcept {
        if (!has_same_rule(rules, now, chain, index)) return false;
        if (index < chain.frame_count) {
            chain.sum += hash_part(now, index) - hash_part(known, index);
        }
        known = now;
        return true;
    }

    // The usual chain: frames with frame pointers, and perhaps the outermost ones without.
    static bool update_ordered(remembered_chain& chain, rule_cache& rules,
                               std::uintptr_t* frames) noexcept {
        const std::uintptr_t* const places = chain.places();
        frame_pair* const pairs = chain.pairs();
        const std::uint32_t pair_count = chain.pair_count;
        std::uintptr_t moved = 0;
        for (std::uint32_t i = 0; i < pair_count; ++i) {
            const std::uintptr_t now = read_stack_word(places[i] + sizeof(std::uintptr_t));
            moved |= read_stack_word(places[i]) ^ pairs[i].saved_bp;
            frames[i] = now;
            std::uintptr_t& known = pairs[i].return_address;
            if (now != known && !accept(chain, rules, i, now, known)) return false;
        }
        stack_word* const singles = chain.singles();
        const std::uint32_t return_count = chain.return_count;
        for (std::uint32_t i = pair_count; i < return_count; ++i) {
            stack_word& single = singles[i - pair_count];
            const std::uintptr_t now = read_stack_word(single.address);
            frames[i] = now;
            if (now != single.value && !accept(chain, rules, i, now, single.value)) return false;
        }
        return (moved | changed_others(chain, return_count - pair_count)) == 0;
    }

    static bool update_mixed(remembered_chain& chain, rule_cache& rules,
                             std::uintptr_t* frames) noexcept {
        const std::uintptr_t* place = chain.places();
        frame_pair* pair = chain.pairs();
        stack_word* single = chain.singles();
        const unwind_rule* const rules_of = chain.rules();
        std::uintptr_t moved = 0;
        for (std::uint32_t i = 0; i < chain.return_count; ++i) {
            std::uintptr_t* known;
            if (rules_of[i].is_pair) {
                frames[i] = read_stack_word(*place + sizeof(std::uintptr_t));
                moved |= read_stack_word(*place++) ^ pair->saved_bp;
                known = &(pair++)->return_address;
            } else {
                frames[i] = read_stack_word(single->address);
                known = &(single++)->value;
            }
            if (frames[i] != *known && !accept(chain, rules, i, frames[i], *known)) return false;
        }
        const auto seen = static_cast<std::uint32_t>(single - chain.singles());
        return (moved | changed_others(chain, seen)) == 0;
    }

    // Not 0 when one of the singles from `first` on, saved pointers, is not what it was.
    static std::uintptr_t changed_others(remembered_chain& chain, std::uint32_t first) noexcept {
        std::uintptr_t moved = 0;
        for (std::uint32_t i = first; i < chain.single_count; ++i) {
            moved |= compare(chain.singles()[i]);
        }
        return moved;
    }

    // Whether the frame that goes on at `pc` is left like the one at `index` of the chain.
    static bool has_same_rule(rule_cache& rules, std::uintptr_t pc, remembered_chain& chain,
                              std::uint32_t index) noexcept {
        const unwind_rule now = rules.rule_for(pc);
        return now.life == module_life::permanent &&
               rule_under(static_cast<unwinding>(chain.method), now)
                   .leads_like(chain.rules()[index]);
    }

    bool has_room(const remembered_chain& chain, const walked_stack& stack) const noexcept {
        return stack.has_all_others && sizeof(remembered_chain) +
                                               chain.pair_count * (sizeof(frame_pair) + 8U) +
                                               chain.single_count * sizeof(stack_word) +
                                               stack.return_count * sizeof(unwind_rule) <=
                                           stride_;
    }

    // A module went: a chain with return addresses into it may be left otherwise now.
    ALLOCSCOPE_NOINLINE void forget_all(std::uint32_t generation) noexcept {
        for (std::size_t i = 0; touched_bytes_.read() != 0 && i < entry_count; ++i) {
            auto& chain = *reinterpret_cast<remembered_chain*>(entries_ + i * stride_);
            if (chain.frame != 0) begin_change(chain);
        }
        generation_ = generation;
    }

    static void write_words(remembered_chain& chain, const walked_stack& stack) noexcept {
        std::uint32_t pairs = 0;
        std::uint32_t singles = 0;
        bool is_permanent = true;
        bool is_ordered = true;
        for (std::uint32_t i = 0; i < stack.return_count; ++i) {
            const stack_word& at = stack.returns[i];
            is_permanent = is_permanent && stack.rules[i].life == module_life::permanent;
            if (stack.has_saved_below[i]) {
                is_ordered = is_ordered && singles == 0;
                chain.places()[pairs] = at.address - sizeof(std::uintptr_t);
                chain.pairs()[pairs++] = {stack.saved_below[i], at.value};
            } else {
                chain.singles()[singles++] = at;
            }
            chain.rules()[i] = stack.rules[i];
            chain.rules()[i].is_pair = stack.has_saved_below[i];
        }
        for (std::uint32_t i = 0; i < stack.other_count; ++i) {
            chain.singles()[singles++] = stack.others[i];
        }
        chain.is_permanent = is_permanent ? 1 : 0;
        chain.is_ordered = is_ordered ? 1 : 0;
    }

    ALLOCSCOPE_FAST_PATH static std::uintptr_t compare(const stack_word& known) noexcept {
        return read_stack_word(known.address) ^ known.value;
    }

    ALLOCSCOPE_FAST_PATH static __m128i compare(std::uintptr_t place,
                                                const frame_pair& pair) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
        const __m128i stack =
            _mm_set_epi64x(static_cast<long long>(read_stack_word(place + sizeof(std::uintptr_t))),
                           static_cast<long long>(read_stack_word(place)));
#else
        const __m128i stack = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place));
#endif
        return _mm_xor_si128(stack, _mm_load_si128(reinterpret_cast<const __m128i*>(&pair)));
    }

    std::size_t mapped_bytes() const noexcept {
        return (entry_count * stride_ + page_bytes - 1) & ~(page_bytes - 1);
    }

    char* entries_ = nullptr;
    std::size_t stride_ = 0;
    unwinding method_ = unwinding::automatic;
    std::uint32_t generation_ = 0;
    owned_counter touched_bytes_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
