// chain_memo.hpp - checks a remembered stack instead of walking it.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   on every allocation that wants its stack
// Threads:  one memo per thread
// Memory:   512 entries of some 220 + 40 * frames bytes, touched one by one (608 KiB for 24 frames)
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

ALLOCSCOPE_NAMESPACE_BEGIN

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
        // A frame needs a pair with its place (24 bytes) or two single words, rarely three, and a
        // rule. Chains that need more room are not kept.
        const std::size_t needed =
            sizeof(remembered_chain) + sizeof(std::uint64_t) + most_filler_bytes +
            (most_frames + 1U) * (2 * sizeof(stack_word) + sizeof(unwind_rule));
        stride_ = (needed + 63U) & ~std::size_t{63};
        entries_ = static_cast<char*>(reserve_pages(mapped_bytes()));
        return entries_ != nullptr;
    }

    ALLOCSCOPE_FAST_PATH void release() noexcept {
        if (entries_ != nullptr) return_reservation(entries_, mapped_bytes());
        entries_ = nullptr;
        touched_bytes_.set(0);
    }

    // The method by which the chains kept here were walked.
    unwinding method() const noexcept { return method_; }

    // The memory of the entries used so far. Any thread may call this.
    std::uint64_t touched_bytes() const noexcept { return touched_bytes_.read(); }

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
        const auto* pair = reinterpret_cast<const frame_pair*>(begin + sizeof(chain));
        const auto* single = reinterpret_cast<const stack_word*>(begin + chain.singles_at);
        const auto* place = reinterpret_cast<const std::uintptr_t*>(begin + chain.places_at);
        const void* const pairs_end = single;
        const void* const singles_end = place;
        two_words equal = ~two_words{};
        for (; pair != pairs_end; pair += 4, place += 4) {
            const two_words two = equals(place[0], pair[0]) & equals(place[1], pair[1]);
            const two_words more = equals(place[2], pair[2]) & equals(place[3], pair[3]);
            equal &= two & more;
        }
        std::uintptr_t different = 0;
        for (; single != singles_end; single += 4) {
            different |= (compare(single[0]) | compare(single[1])) |
                         (compare(single[2]) | compare(single[3]));
        }
        different |= byte_mask(equal) ^ 0xffffU;
        return different == 0;
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
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            if (!has_same_rule(rules, frames[i], chain, i)) return false;
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
        const std::uintptr_t* const places = chain.places();
        auto* const pairs = reinterpret_cast<aligned_words*>(chain.pairs());
        const std::uint32_t frame_count = chain.frame_count;
        const std::uint32_t pair_count = chain.pair_count;
        const std::uint32_t paired = pair_count < frame_count ? pair_count : frame_count;
        collected out{frames};
        two_words moved{};  // in the first word
        while (out.count + 1 < paired) {
            const std::uint32_t i = out.count;
            const two_words first = load_pair(places[i]);
            const two_words second = load_pair(places[i + 1]);
            moved |= first ^ pairs[i];
            moved |= second ^ pairs[i + 1];
            pairs[i] = first;
            pairs[i + 1] = second;
            out.add_two(higher_words(first, second));
        }
        if (out.count != paired) {
            frame_pair& pair = chain.pairs()[out.count];
            const std::uintptr_t place = places[out.count];
            moved |= compare(place, pair);
            pair.return_address = read_stack_word(place + sizeof(std::uintptr_t));
            out.add(pair.return_address);
        }
        // The word that ended the walk, if it had a saved frame pointer beside it.
        std::uintptr_t differs = moved[0];
        if (ALLOCSCOPE_UNLIKELY(paired != pair_count)) {
            const frame_pair& pair = chain.pairs()[paired];
            differs |= read_stack_word(places[paired]) ^ pair.saved_bp;
            differs |=
                read_stack_word(places[paired] + sizeof(std::uintptr_t)) ^ pair.return_address;
        }
        stack_word* const singles = chain.singles();
        const std::uint32_t returns = frame_count - paired;
        std::uint32_t i = 0;
        for (; i + 1 < returns; i += 2) {
            singles[i].value = read_stack_word(singles[i].address);
            singles[i + 1].value = read_stack_word(singles[i + 1].address);
            out.add_two(two_words{singles[i].value, singles[i + 1].value});
        }
        if (i != returns) {
            singles[i].value = read_stack_word(singles[i].address);
            out.add(singles[i].value);
        }
        chain.sum = out.total();
        return (differs | changed_others(chain, returns)) == 0;
    }

    ALLOCSCOPE_NOINLINE static bool collect_mixed(remembered_chain& chain,
                                                  std::uintptr_t* frames) noexcept {
        const std::uintptr_t* place = chain.places();
        frame_pair* pair = chain.pairs();
        stack_word* single = chain.singles();
        const unwind_rule* const rules_of = chain.rules();
        std::uintptr_t moved = 0;
        collected out{frames};
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            if (rules_of[i].is_pair) {
                pair->return_address = read_stack_word(*place + sizeof(std::uintptr_t));
                moved |= read_stack_word(*place++) ^ pair->saved_bp;
                out.add((pair++)->return_address);
            } else {
                single->value = read_stack_word(single->address);
                out.add((single++)->value);
            }
        }
        if (pair != chain.pairs() + chain.pair_count) {
            moved |= read_stack_word(*place) ^ pair->saved_bp;
            moved |= read_stack_word(*place + sizeof(std::uintptr_t)) ^ pair->return_address;
        }
        chain.sum = out.total();
        const auto seen = static_cast<std::uint32_t>(single - chain.singles());
        return (moved | changed_others(chain, seen)) == 0;
    }

    // Not 0 when one of the singles from `first` on has changed. Those are not frames.
    static std::uintptr_t changed_others(remembered_chain& chain, std::uint32_t first) noexcept {
        std::uintptr_t moved = 0;
        for (std::uint32_t i = first; i < chain.single_count; ++i) {
            moved |= compare(chain.singles()[i]);
        }
        return moved;
    }

    // Whether the rule for `pc` leads to the same caller as the rule at `index` of the chain.
    static bool has_same_rule(rule_cache& rules, std::uintptr_t pc, remembered_chain& chain,
                              std::uint32_t index) noexcept {
        const unwind_rule now = rules.rule_for(pc);
        return now.life == module_life::permanent &&
               rule_under(static_cast<unwinding>(chain.method), now)
                   .leads_like(chain.rules()[index]);
    }

    bool has_room(remembered_chain& chain, const walked_stack& stack) const noexcept {
        return stack.has_all_others &&
               chain.lay_out() + stack.return_count * sizeof(unwind_rule) <= stride_;
    }

    // Called when a module was unloaded: other rules may hold now for return addresses in a chain.
    ALLOCSCOPE_NOINLINE void forget_all(std::uint32_t generation) noexcept {
        for (std::size_t i = 0; touched_bytes_.read() != 0 && i < entry_count; ++i) {
            auto& chain = *reinterpret_cast<remembered_chain*>(entries_ + i * stride_);
            if (chain.frame != 0) begin_change(chain);
        }
        generation_ = generation;
    }

    void write_words(remembered_chain& chain, const walked_stack& stack) noexcept {
        std::uint32_t pairs = 0;
        std::uint32_t singles = 0;
        bool is_ordered = true;
        const std::uint32_t returns = stack.return_count;
        std::memcpy(static_cast<void*>(chain.rules()), stack.rules, returns * sizeof(unwind_rule));
        if (stack.pair_count == 0) {  // the usual stack of code without frame pointers
            std::memcpy(chain.singles(), stack.returns, returns * sizeof(stack_word));
            singles = returns;
        }
        for (std::uint32_t i = 0; singles + pairs < returns; ++i) {
            const stack_word& at = stack.returns[i];
            if (stack.has_saved_below[i]) {
                is_ordered = is_ordered && singles == 0;
                chain.places()[pairs] = at.address - sizeof(std::uintptr_t);
                chain.pairs()[pairs++] = {stack.saved_below[i], at.value};
                chain.rules()[i].is_pair = true;
            } else {
                chain.singles()[singles++] = at;
            }
        }
        for (std::uint32_t i = 0; i < stack.other_count; ++i) {
            chain.singles()[singles++] = stack.others[i];
        }
        // Fillers are compared with themselves, so they never differ.
        for (; pairs < remembered_chain::in_fours(chain.pair_count); ++pairs) {
            frame_pair& filler = chain.pairs()[pairs];
            filler = {};
            chain.places()[pairs] = reinterpret_cast<std::uintptr_t>(&filler);
        }
        for (; singles < remembered_chain::in_fours(chain.single_count); ++singles) {
            stack_word& filler = chain.singles()[singles];
            filler = {reinterpret_cast<std::uintptr_t>(&filler.value), 0};
        }
        chain.module_sum() = stack.module_sum;
        chain.shape = stack.is_permanent ? stack.shape | 1U : 0;
        chain.is_ordered = is_ordered ? 1 : 0;
    }

    ALLOCSCOPE_FAST_PATH static std::uintptr_t compare(const stack_word& known) noexcept {
        return read_stack_word(known.address) ^ known.value;
    }

    ALLOCSCOPE_FAST_PATH static two_words load_pair(std::uintptr_t place) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
        return two_words{read_stack_word(place), read_stack_word(place + sizeof(std::uintptr_t))};
#else
        return load_two(reinterpret_cast<const void*>(place));
#endif
    }

    // All bits are set if the words at `place` are those of the pair.
    ALLOCSCOPE_FAST_PATH static two_words equals(std::uintptr_t place,
                                                 const frame_pair& pair) noexcept {
        return equal_halves(load_pair(place), *reinterpret_cast<const aligned_words*>(&pair));
    }

    // The bits that differ.
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
    std::uint32_t generation_ = 0;
    owned_counter touched_bytes_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
