// chain_memo.hpp - checks a remembered stack instead of walking it.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   on every allocation that wants its stack
// Threads:  one memo per thread
// Memory:   512 entries of some 220 + 40 * frames bytes, touched one by one (608 KiB for 24 frames;
//           1.4 MiB for the 64 of a thread that meets deep stacks in code without optimisation)
//
// A walk is a chain of dependent loads: some 5 cycles for each frame at least. But a thread that
// allocates in a loop walks the same frames at the same addresses. So the memo keeps the last chain
// seen from a frame: the words that the walk depended on, and their addresses. The addresses are
// known from the memo, not from the stack, so all comparisons run at once:
//
//     memo      {saved bp, return}  {saved bp, return}  {return}
//                  |    xor            |    xor            |  xor      or'ed together: 0?
//     stack     [frame]             [frame]             [frame]
//
// If all words are equal, a walk would have read the same values, so the result is exact and not a
// guess. Only chains that lie entirely in the thread's own stack are kept, because another stack
// may be unmapped. A memo holds chains that were walked by one method (options::unwind); for
// another method `prepare` is called again.
//
// Often only return addresses differ: the same functions are called from elsewhere, by a loop or a
// dispatcher. The frames are still where the memo says if the new addresses have the same rules as
// the old ones. So `collect` first reads the addresses, without a dependent load or branch, and
// computes their sum. Each chain that was walked has a `shape`: a number made of its places and of
// the saved words in them (stack_walk.hpp). If the caller knows that this stack had this shape
// before, the collected stack is correct. Otherwise the rules are compared (`leads_as_before`).
//
//     collect -> sum -> known in this shape?   yes: end_change
//                                              no: leads_as_before?   yes: end_change
//                                                                     no: walk, remember
//
// Chains through a module that may be unloaded have no shape, and are walked when anything differs.
// When a walk finds that a module was unloaded, all chains are forgotten. An equal stack through
// such a module is the same only if the module is (`has_same_modules`), because another module may
// be there now.

#ifndef ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
#define ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/base/two_words.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/unwind/remembered_chain.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/stack_walk.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_TIGHT_BEGIN

namespace detail {

class chain_memo {
public:
    static constexpr std::size_t entry_count = 512;

    bool is_ready() const noexcept { return entries_ != nullptr; }

    // Makes room for chains of `most_frames` frames and forgets all chains. Returns false when
    // there is no memory.
    ALLOCSCOPE_FAST_PATH bool prepare(std::uint32_t most_frames,
                                      unwinding method = unwinding::automatic) noexcept {
        release();
        method_ = method;
        generation_ = 0;
        most_frames_ = most_frames;
        // A frame needs a pair with its place (24 bytes) or two single words, rarely three, and a
        // rule. Chains that need more room are not kept.
        const std::size_t needed =
            sizeof(remembered_chain) + sizeof(std::uint64_t) + most_filler_bytes +
            (most_frames + 1U) * (2 * sizeof(stack_word) + sizeof(unwind_rule));
        stride_ = (needed + 63U) & ~std::size_t{63};
        entries_ = static_cast<char*>(reserve_pages(mapped_bytes()));
        return entries_ != nullptr;
    }

    // The depth that it is prepared for.
    std::uint32_t most_frames() const noexcept { return most_frames_; }

    ALLOCSCOPE_FAST_PATH void release() noexcept {
        if (entries_ != nullptr) return_reservation(entries_, mapped_bytes());
        entries_ = nullptr;
        touched_bytes_.set(0);
    }

    // The memory of the entries used so far. Any thread may call this.
    ALLOCSCOPE_INLINE std::uint64_t touched_bytes() const noexcept { return touched_bytes_.read(); }

    // The entry for a chain that starts with this frame and return address, whatever it holds now.
    ALLOCSCOPE_FAST_PATH remembered_chain* entry_for(std::uintptr_t frame,
                                                     std::uintptr_t return_address) noexcept {
        // Return addresses often lie at regular distances; the product spreads them.
        const std::uint64_t index = ((frame + return_address) * golden_multiplier) >> index_shift;
        return reinterpret_cast<remembered_chain*>(entries_ + index * stride_);
    }

    // Whether a walk from `frame` would read what the remembered one read.
    ALLOCSCOPE_FAST_PATH static bool is_unchanged(const remembered_chain& chain,
                                                  std::uintptr_t frame) noexcept {
        if (ALLOCSCOPE_UNLIKELY(chain.frame != frame)) return false;
        const auto* const begin = reinterpret_cast<const char*>(&chain);
        const auto* pair = reinterpret_cast<const two_frame_pairs*>(begin + sizeof(chain));
        const auto* single = reinterpret_cast<const two_stack_words*>(begin + chain.singles_at);
        const void* const pairs_end = single;
        const void* const singles_end = begin + chain.singles_end;
        two_words equal = ~two_words{};
        for (; pair != pairs_end; pair += 2) equal &= equals(pair[0]) & equals(pair[1]);
        for (; single != singles_end; single += 2) equal &= equals(single[0]) & equals(single[1]);
        return byte_mask(equal) == 0xffffU;
    }

    // For a stack that starts at `frame` and differs from the remembered one only in return
    // addresses: reads them into the chain and into `frames`, and computes their sum. Returns false
    // when the stack has to be walked. In either case the chain is not found again until end_change
    // or remember.
    ALLOCSCOPE_FAST_PATH static bool collect(remembered_chain& chain, std::uintptr_t frame,
                                             std::uintptr_t* frames) noexcept {
        if (chain.frame != frame || chain.shape == 0) return false;
        begin_change(chain);
        return chain.is_ordered != 0 ? collect_ordered(chain, frames)
                                     : collect_mixed(chain, frames);
    }

    // Whether the rules of the collected addresses lead to the same places as those of the chain.
    ALLOCSCOPE_NOINLINE static bool leads_as_before(remembered_chain& chain, rule_cache& rules,
                                                    const std::uintptr_t* frames) noexcept {
        const unwind_rule* known = chain.rules();
        for (const std::uintptr_t* const end = frames + chain.frame_count; frames != end;
             ++frames, ++known) {
            const unwind_rule& now = rules.rule_for(*frames);
            // Rules of modules that may be unloaded are not in a chain that was collected.
            const rule_word followed = word_of(*known) & ~pair_bit;
            if (ALLOCSCOPE_LIKELY(word_of(now) == followed)) continue;
            if ((followed & kind_and_life) == step_by_sp) return false;  // no other rule is like it
            if (!leads_like(now, *known, static_cast<unwinding>(chain.method))) return false;
        }
        return true;
    }

    // Makes the chain stand for what was collected.
    ALLOCSCOPE_FAST_PATH static void end_change(remembered_chain& chain,
                                                std::uintptr_t frame) noexcept {
        compiler_barrier();
        chain.frame = frame;
    }

    // Puts the walked stack into the entry. Always stores its sum and number of frames. The entry
    // is not found again if the walk used another method, or depended on more words than there is
    // room for.
    ALLOCSCOPE_NOINLINE void remember(remembered_chain& chain, std::uintptr_t frame,
                                      const walked_stack& stack) noexcept {
        if (stack.generation != generation_) forget_all(stack.generation);
        if (chain.frame_count == 0) touched_bytes_.add(stride_);
        begin_change(chain);
        chain.pair_count = static_cast<std::uint16_t>(stack.pair_count);
        chain.single_count =
            static_cast<std::uint16_t>(stack.return_count - stack.pair_count + stack.other_count);
        chain.method = static_cast<std::uint8_t>(stack.method);
        chain.frame_count = static_cast<std::uint16_t>(stack.frame_count);
        chain.sum = stack.sum;
        if (stack.method != method_ || !has_room(chain, stack)) return;
        write_words(chain, stack);
        end_change(chain, frame);
    }

private:
    static constexpr std::uint32_t index_shift = 55;
    static_assert(entry_count == std::uint64_t{1} << (64 - index_shift), "entry_for shifts");

    static constexpr std::size_t most_filler_bytes =
        3 * (sizeof(frame_pair) + sizeof(std::uintptr_t) + sizeof(stack_word));

    // A signal handler that jumps away between begin_change and end_change leaves an empty entry.
    static void begin_change(remembered_chain& chain) noexcept {
        chain.frame = 0;
        chain.epoch = 0;
        chain.site = nullptr;
        compiler_barrier();
    }

    // The frames read so far, and their sum, computed two at a time.
    struct collected {
        std::uintptr_t* frames;
        std::uint32_t count = 0;
        std::uint64_t sum = 0;
        two_words sums{};

        ALLOCSCOPE_FAST_PATH void add(std::uintptr_t now) noexcept {
            frames[count] = now;
            sum += hash_part(now, count);
            ++count;
        }
        ALLOCSCOPE_FAST_PATH void add_two(two_words now) noexcept {
            *reinterpret_cast<words_anywhere*>(frames + count) = now;
            sums += low_products(now, load_two(positions.multipliers + count));
            count += 2;
        }
        ALLOCSCOPE_FAST_PATH std::uint64_t total() const noexcept {
            return sum + (sums[0] + sums[1]);
        }
    };

    // The usual chain: frames with frame pointers, and perhaps outermost frames without.
    ALLOCSCOPE_FAST_PATH static bool collect_ordered(remembered_chain& chain,
                                                     std::uintptr_t* frames) noexcept {
        two_frame_pairs* pairs = chain.pairs();
        const std::uint32_t frame_count = chain.frame_count;
        const std::uint32_t pair_count = chain.pair_count;
        const std::uint32_t paired = pair_count < frame_count ? pair_count : frame_count;
        collected out{frames};
        two_words moved{};  // in the first word
        for (; out.count + 1 < paired; ++pairs) {
            auto* const known = reinterpret_cast<aligned_words*>(pairs->pairs);
            const two_words first = load_pair(pairs->places[0]);
            const two_words second = load_pair(pairs->places[1]);
            moved |= first ^ known[0];
            moved |= second ^ known[1];
            known[0] = first;
            known[1] = second;
            out.add_two(higher_words(first, second));
        }
        if (out.count != paired) {
            frame_pair& pair = pairs->pairs[0];
            const std::uintptr_t place = pairs->places[0];
            moved |= compare(place, pair);
            pair.return_address = read_stack_word(place + sizeof(std::uintptr_t));
            out.add(pair.return_address);
        }
        // The word that ended the walk, if it had a saved frame pointer beside it.
        std::uintptr_t differs = moved[0];
        if (ALLOCSCOPE_UNLIKELY(paired != pair_count)) {
            differs |= compare(chain, paired);
        }
        two_stack_words* single = chain.singles();
        const std::uint32_t returns = frame_count - paired;
        for (std::uint32_t i = 0; i + 1 < returns; i += 2, ++single) {
            const two_words now = load_both(*single);
            *reinterpret_cast<aligned_words*>(single->values) = now;
            out.add_two(now);
        }
        if (returns % 2 != 0) {
            single->values[0] = read_stack_word(single->addresses[0]);
            out.add(single->values[0]);
        }
        chain.sum = out.total();
        return (differs | changed_others(chain, returns)) == 0;
    }

    ALLOCSCOPE_NOINLINE static bool collect_mixed(remembered_chain& chain,
                                                  std::uintptr_t* frames) noexcept {
        std::uint32_t pairs = 0;
        std::uint32_t singles = 0;
        const unwind_rule* const rules_of = chain.rules();
        std::uintptr_t moved = 0;
        collected out{frames};
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            if (rules_of[i].is_pair) {
                frame_pair& pair = chain.pair(pairs);
                const std::uintptr_t place = chain.place(pairs++);
                pair.return_address = read_stack_word(place + sizeof(std::uintptr_t));
                moved |= read_stack_word(place) ^ pair.saved_bp;
                out.add(pair.return_address);
            } else {
                std::uintptr_t& value = chain.single_value(singles);
                value = read_stack_word(chain.single_address(singles++));
                out.add(value);
            }
        }
        if (pairs != chain.pair_count) moved |= compare(chain, pairs);
        chain.sum = out.total();
        return (moved | changed_others(chain, singles)) == 0;
    }

    // Not 0 when one of the singles from `first` on has changed. Those are not frames.
    static std::uintptr_t changed_others(remembered_chain& chain, std::uint32_t first) noexcept {
        std::uintptr_t moved = 0;
        for (std::uint32_t i = first; i < chain.single_count; ++i) {
            moved |= read_stack_word(chain.single_address(i)) ^ chain.single_value(i);
        }
        return moved;
    }

    // Whether the method follows the rule to the same caller as `known`, which it has followed.
    ALLOCSCOPE_NOINLINE static bool leads_like(const unwind_rule& rule, const unwind_rule& known,
                                               unwinding method) noexcept {
        return rule.life == module_life::permanent && rule_under(method, rule).leads_like(known);
    }

    bool has_room(remembered_chain& chain, const walked_stack& stack) const noexcept {
        return stack.has_all_others &&
               chain.lay_out() + stack.return_count * sizeof(unwind_rule) <= stride_;
    }

    // Called when a module was unloaded: other rules may hold now for return addresses in a chain.
    ALLOCSCOPE_SLOW_PATH void forget_all(std::uint32_t generation) noexcept {
        for (std::size_t i = 0; touched_bytes_.read() != 0 && i < entry_count; ++i) {
            auto& chain = *reinterpret_cast<remembered_chain*>(entries_ + i * stride_);
            if (chain.frame != 0) begin_change(chain);
        }
        generation_ = generation;
    }

    // Writes the return addresses, but for the last of an odd number. Returns how many.
    static std::uint32_t write_without_pairs(remembered_chain& chain,
                                             const walked_stack& stack) noexcept {
        two_stack_words* single = chain.singles();
        const std::size_t count = stack.return_count & ~std::uint32_t{1};
        for (std::size_t i = 0; i != count; i += 2, ++single) {
            *reinterpret_cast<aligned_words*>(single->addresses) =
                load_two(stack.return_places + i);
            *reinterpret_cast<aligned_words*>(single->values) =
                load_two(stack.return_addresses + i);
        }
        return static_cast<std::uint32_t>(count);
    }

    void write_words(remembered_chain& chain, const walked_stack& stack) noexcept {
        bool is_ordered = true;
        const std::uint32_t returns = stack.return_count;
        std::memcpy(static_cast<void*>(chain.rules()), stack.rules, returns * sizeof(unwind_rule));
        std::uint32_t pairs = 0;
        std::uint32_t singles = stack.pair_count == 0 ? write_without_pairs(chain, stack) : 0;
        const auto add_single = [&chain, &singles](const stack_word& word) {
            chain.single_address(singles) = word.address;
            chain.single_value(singles++) = word.value;
        };
        for (std::uint32_t i = singles; i < returns; ++i) {
            const stack_word at{stack.return_places[i], stack.return_addresses[i]};
            if (stack.rules[i].is_pair) {
                is_ordered = is_ordered && singles == 0;
                chain.place(pairs) = at.address - sizeof(std::uintptr_t);
                chain.pair(pairs++) = {stack.saved_below[i], at.value};
            } else {
                add_single(at);
            }
        }
        for (std::uint32_t i = 0; i < stack.other_count; ++i) add_single(stack.others[i]);
        // Fillers are compared with themselves, so they never differ.
        for (; pairs < remembered_chain::in_fours(chain.pair_count); ++pairs) {
            frame_pair& filler = chain.pair(pairs);
            filler = {};
            chain.place(pairs) = reinterpret_cast<std::uintptr_t>(&filler);
        }
        while (singles < remembered_chain::in_fours(chain.single_count)) {
            add_single({reinterpret_cast<std::uintptr_t>(&chain.single_value(singles)), 0});
        }
        chain.module_sum() = stack.module_sum;
        chain.shape = stack.is_permanent ? stack.shape | 1U : 0;
        chain.is_ordered = is_ordered ? 1 : 0;
    }

    ALLOCSCOPE_FAST_PATH static two_words load_pair(std::uintptr_t place) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
        return two_words{read_stack_word(place), read_stack_word(place + sizeof(std::uintptr_t))};
#else
        return load_two(reinterpret_cast<const void*>(place));
#endif
    }

    // All bits are set if the words of both pairs are what they were.
    ALLOCSCOPE_FAST_PATH static two_words equals(const two_frame_pairs& known) noexcept {
        const auto* const words = reinterpret_cast<const aligned_words*>(known.pairs);
        return equal_halves(load_pair(known.places[0]), words[0]) &
               equal_halves(load_pair(known.places[1]), words[1]);
    }

    ALLOCSCOPE_FAST_PATH static two_words load_both(const two_stack_words& known) noexcept {
        return two_words{read_stack_word(known.addresses[0]), read_stack_word(known.addresses[1])};
    }
    ALLOCSCOPE_FAST_PATH static two_words equals(const two_stack_words& known) noexcept {
        return equal_halves(load_both(known),
                            *reinterpret_cast<const aligned_words*>(known.values));
    }

    // The bits that differ.
    static std::uintptr_t compare(remembered_chain& chain, std::uint32_t pair) noexcept {
        const std::uintptr_t place = chain.place(pair);
        return (read_stack_word(place) ^ chain.pair(pair).saved_bp) |
               (read_stack_word(place + sizeof(std::uintptr_t)) ^ chain.pair(pair).return_address);
    }
    ALLOCSCOPE_FAST_PATH static two_words compare(std::uintptr_t place,
                                                  const frame_pair& pair) noexcept {
        return load_pair(place) ^ *reinterpret_cast<const aligned_words*>(&pair);
    }

    std::size_t mapped_bytes() const noexcept {
        return (entry_count * stride_ + page_bytes - 1) & ~(page_bytes - 1);
    }

    char* entries_ = nullptr;
    std::size_t stride_ = 0;
    unwinding method_ = unwinding::automatic;
    std::uint32_t most_frames_ = 0;
    std::uint32_t generation_ = 0;
    owned_counter touched_bytes_;
};

}  // namespace detail

ALLOCSCOPE_TIGHT_END

#endif  // ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
