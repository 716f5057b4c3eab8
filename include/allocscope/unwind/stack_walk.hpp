// stack_walk.hpp - walks from frame to frame, by unwind rules and by frame pointers.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   when a stack is not the one remembered in chain_memo.hpp
// Threads:  walks the calling thread's own stack
// Memory:   none; the caller provides the place for the result
//
// Each return address has a rule (unwind_rule.hpp) that says where its function keeps its own
// return address: at a distance from the stack pointer, or from the frame pointer. So a walk passes
// through library code that was compiled without frame pointers and still finds the user's frames
// above it.
//
//       sp -> | locals, saved registers | saved bp? | return address | <- CFA, the caller's sp
//
// The words that a step reads decide where the next step reads. The walk notes every word that it
// depended on, and no other. As long as all of them are unchanged, a walk would go the same way
// again.
//
// The caller chooses the method (options::unwind):
//
//     rule                   automatic            cfi        frame_pointers
//     a table's              obeyed               obeyed     by frame pointer
//     outermost              the end              the end    the end
//     unsupported, no_table  by frame pointer     the end    by frame pointer
//     unknown                no frame: the end, but for the innermost, which the hook vouches for
//
// A walk never reads outside [frame, bounds.high): each CFA must lie above the one before and below
// the end of the stack. It makes no libc call and no system call, takes no lock, and ends after at
// most `most_frames` + 1 steps.

#ifndef ALLOCSCOPE_UNWIND_STACK_WALK_HPP
#define ALLOCSCOPE_UNWIND_STACK_WALK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Reads a word of the stack. Under AddressSanitizer it does so in asm, because garbage frame
// pointers may lead to the red zone of a local variable. Reading that is harmless.
ALLOCSCOPE_FAST_PATH std::uintptr_t read_stack_word(std::uintptr_t address) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
    std::uintptr_t word;
    __asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(address));
    return word;
#else
    return *reinterpret_cast<const std::uintptr_t*>(address);
#endif
}

struct stack_word {
    std::uintptr_t address;
    std::uintptr_t value;
};

// A walked stack: its return addresses, innermost first, and the words it depends on.
struct walked_stack {
    static constexpr std::uint32_t most_words = max_stack_frames + 1;

    std::uint32_t frame_count;
    std::uint32_t return_count;  // including the word that may have ended the walk
    std::uint32_t pair_count;    // how many of the rules have is_pair
    std::uint32_t other_count;
    std::uint32_t generation;  // of the rules; another one: remembered chains may be wrong
    unwinding method;
    module_identity checked;   // the last module met that may be unloaded
    bool has_all_others;       // false: there was no room for all words that it depends on
    bool is_permanent;         // no frame is in a module that may be unloaded
    std::uint64_t sum;         // hash_part of each frame's return address, and module_sum
    std::uint64_t module_sum;  // module_tag of each frame in a module that may be unloaded
    std::uint64_t shape;       // of all that it depends on but `sum`: see shape_of_start()
    std::uintptr_t return_addresses[most_words];
    std::uintptr_t return_places[most_words];  // where they were read
    // For the return addresses, as they were followed. `is_pair`: the walk also depended on the
    // frame pointer that is saved right below.
    unwind_rule rules[most_words];
    std::uintptr_t saved_below[most_words];
    stack_word others[most_words];  // saved frame and stack pointers that lie elsewhere
};

// Whether the method follows the rule unchanged.
ALLOCSCOPE_FAST_PATH bool is_obeyed_as_it_is(unwinding method, const unwind_rule& rule) noexcept {
    return rule.kind != rule_kind::unsupported && rule.kind != rule_kind::no_table &&
           method != unwinding::frame_pointers;
}

// The rule that the method follows instead: where to go, `outermost` for the end, or `unknown`.
inline unwind_rule rule_under(unwinding method, const unwind_rule& rule) noexcept {
    const bool is_end = rule.kind == rule_kind::unknown || rule.kind == rule_kind::outermost;
    if (is_end || is_obeyed_as_it_is(method, rule)) return rule;
    unwind_rule obeyed = frame_pointer_rule;
    if (method == unwinding::cfi) obeyed = rule_kind::outermost;
    obeyed.life = rule.life;
    return obeyed;
}

// Calls visit(module) for each module that may be unloaded and is still on the walked stack.
template <class Visitor>
void visit_modules_that_may_go(const walked_stack& stack, const Visitor& visit) noexcept {
    if (stack.module_sum == 0) return;
    module_identity here;
    for (std::uint32_t i = 0; i < stack.frame_count; ++i) {
        const std::uintptr_t pc = stack.return_addresses[i];
        if (stack.rules[i].life == module_life::permanent || here.holds(pc - 1)) continue;
        here = identify_module(pc - 1);
        if (here.start != 0) visit(here);
    }
}

class stack_walk {
public:
    stack_walk(const stack_bounds& bounds, rule_cache& rules, walked_stack& out,
               unwinding method = unwinding::automatic) noexcept
        : high_(bounds.high),
          method_(method),
          usual_(method == unwinding::frame_pointers ? rule_kind::frame_pointer
                                                     : rule_kind::from_sp),
          rules_(rules),
          out_(out) {}

    // `frame` is where the hook saved the frame pointer, below its own return address. That return
    // address always counts as a frame.
    void run(std::uintptr_t frame, std::uint32_t most_frames) noexcept {
        begin();
        // A copy, because the compiler would read the member again after each store.
        walked_stack& out = out_;
        caller_place at{frame + 2 * sizeof(std::uintptr_t), frame};
        std::uint64_t sum = 0;
        std::uint64_t shape = shape_of_start(most_frames);
        std::uint32_t frames = 0;
        std::uint32_t ended = 0;
        saved_pointer restored;
        for (;;) {
            // The words below a CFA belong to the frame that is left by going there.
            const std::uintptr_t place = at.cfa - sizeof(std::uintptr_t);
            const std::uintptr_t pc = read_stack_word(place);
            const unwind_rule* rule = &rules_.rule_for(pc);
            out.return_places[frames] = place;
            out.return_addresses[frames] = pc;
            std::memcpy(&out.rules[frames], rule, sizeof *rule);
            if (at.saved_bp != 0) restored = {at.saved_bp, frames};
            if (ALLOCSCOPE_UNLIKELY(rule->kind != usual_ || rule->life != module_life::permanent)) {
                rule = &rule_to_obey(pc, *rule, out.rules[frames]);
                // Only its rule can say whether it is a return address at all.
                if (ALLOCSCOPE_UNLIKELY(rule->kind == rule_kind::unknown) && frames != 0) {
                    ended = 1;
                    shape += shape_of_word({place, pc});
                    break;
                }
            }
            sum += hash_part(pc, frames);
            shape += hash_part(at.cfa, frames);
            if (++frames == most_frames) break;
            if (ALLOCSCOPE_LIKELY(rule->kind == rule_kind::from_sp)) {
                at = leave_by_sp(*rule, at.cfa);
            } else {
                restore_bp(restored);
                at = ALLOCSCOPE_LIKELY(rule->kind == rule_kind::frame_pointer)
                         ? checked_place(place_by_bp(), at.cfa)
                         : leave(*rule, at.cfa);
            }
            if (at.cfa == 0) break;
        }
        out.sum = sum + out.module_sum;
        out.shape = shape + shape_of_saved_;
        out.frame_count = frames;
        out.return_count = frames + ended;
        out.generation = rules_.generation();
    }

private:
    // Where the caller's frame is.
    struct caller_place {
        std::uintptr_t cfa = 0;       // 0: it cannot be found
        std::uintptr_t saved_bp = 0;  // where the caller's bp is kept; 0: still in the register
    };

    // Where the frame pointer of the frame with this number is saved.
    struct saved_pointer {
        std::uintptr_t at = 0;  // 0: restore_bp knows
        std::uint32_t frame = 0;
    };

    void begin() noexcept {
        out_.pair_count = 0;
        out_.other_count = 0;
        out_.is_permanent = true;
        out_.method = method_;
        out_.has_all_others = true;
        out_.checked = module_identity{};
        out_.module_sum = 0;
    }

    // Two walks of one thread with the same return addresses and the same shape have read the same
    // words at the same addresses. The shape is a sum of one part for the place of each return
    // address, one part for each other word with its value, and this start for everything else that
    // decides the way.
    std::uint64_t shape_of_start(std::uint32_t most_frames) const noexcept {
        return hash_step(high_, std::uint64_t{most_frames} << 8U | static_cast<unsigned>(method_));
    }
    static std::uint64_t shape_of_word(const stack_word& word) noexcept {
        const std::uint64_t turned = word.address << 32U | word.address >> 32U;
        return hash_finish((turned + word.value) * golden_multiplier);
    }

    // `copy` has a copy of `known` and gets the rule to obey. Returns a reference, because taking
    // the eight bytes apart and together again takes longer than all the rest.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_to_obey(std::uintptr_t pc,
                                                         const unwind_rule& known,
                                                         unwind_rule& copy) noexcept {
        const unwind_rule* rule = &known;
        if (ALLOCSCOPE_UNLIKELY(rule->life != module_life::permanent)) {
            rule = &rule_that_may_go(pc, *rule);
            copy = *rule;
        }
        if (ALLOCSCOPE_LIKELY(is_obeyed_as_it_is(method_, *rule))) return *rule;
        copy = rule_under(method_, *rule);
        return copy;
    }

    // The rule for `pc` in a module that may be unloaded. `known` is the rule that was found.
    ALLOCSCOPE_NOINLINE const unwind_rule& rule_that_may_go(std::uintptr_t pc,
                                                            const unwind_rule& known) noexcept {
        const unwind_rule* rule = &known;
        out_.is_permanent = false;
        if (known.life == module_life::may_go) rule = &rules_.confirm(pc, out_.checked);
        if (rule->life == module_life::permanent) return *rule;
        if (!out_.checked.holds(pc - 1)) out_.checked = identify_module(pc - 1);
        if (rule->kind != rule_kind::unknown) out_.module_sum += out_.checked.tag();
        return *rule;
    }

    // The frame pointer now has the value that is saved there. The value is read only when a rule
    // needs it, which is rare.
    ALLOCSCOPE_FAST_PATH void restore_bp(saved_pointer& restored) noexcept {
        if (restored.at == 0) return;
        bp_ = restored;
        restored.at = 0;
        is_bp_noted_ = false;
    }

    // The walk now depends on the frame pointer: notes the word that it was read from.
    ALLOCSCOPE_FAST_PATH std::uintptr_t use_bp() noexcept {
        const std::uintptr_t value = read_stack_word(bp_.at);
        if (is_bp_noted_) return value;
        is_bp_noted_ = true;
        shape_of_saved_ += shape_of_word({bp_.at, value});
        if (bp_.at + sizeof(std::uintptr_t) == out_.return_places[bp_.frame]) {
            out_.saved_below[bp_.frame] = value;
            out_.rules[bp_.frame].is_pair = true;
            ++out_.pair_count;
        } else {
            note_other({bp_.at, value});
        }
        return value;
    }

    void note_saved_sp(const stack_word& word) noexcept {
        shape_of_saved_ += shape_of_word(word);
        note_other(word);
    }

    void note_other(const stack_word& word) noexcept {
        if (out_.other_count < walked_stack::most_words) {
            out_.others[out_.other_count++] = word;
        } else {
            out_.has_all_others = false;
        }
    }

    static std::uintptr_t plus(std::uintptr_t address, std::int32_t offset) noexcept {
        return address + static_cast<std::uintptr_t>(std::intptr_t{offset});
    }

    // Handles nearly every frame. The rule promises that the CFA lies higher, by a multiple of 8,
    // and that the saved bp lies below the CFA, by a multiple of 8.
    ALLOCSCOPE_FAST_PATH caller_place leave_by_sp(const unwind_rule& rule,
                                                  std::uintptr_t sp) const noexcept {
        const std::uintptr_t cfa = plus(sp, rule.cfa_offset);
        if (ALLOCSCOPE_UNLIKELY(cfa > high_)) return {};
        if (!rule.restores_bp) return {cfa, 0};
        const std::uintptr_t saved_bp = plus(cfa, rule.bp_offset);
        if (ALLOCSCOPE_UNLIKELY(saved_bp < sp)) return {};
        return {cfa, saved_bp};
    }

    // Follows any other rule.
    ALLOCSCOPE_NOINLINE caller_place leave(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        caller_place to;
        switch (rule.kind) {
            case rule_kind::outermost:
            case rule_kind::from_sp:
                return {};
            case rule_kind::from_bp:
                to.cfa = plus(use_bp(), rule.cfa_offset);
                if (rule.restores_bp) to.saved_bp = plus(to.cfa, rule.bp_offset);
                break;
            case rule_kind::realigned:
                to = read_saved_sp(rule, sp);
                break;
            case rule_kind::saved_sp:
                to = read_word_at_sp(rule, sp);
                break;
            case rule_kind::unknown:
                if (method_ == unwinding::cfi) return {};
                [[fallthrough]];
            case rule_kind::frame_pointer:
            case rule_kind::unsupported:
            case rule_kind::no_table:
                to = place_by_bp();
                break;
        }
        return checked_place(to, sp);
    }

    ALLOCSCOPE_FAST_PATH caller_place place_by_bp() noexcept {
        const std::uintptr_t bp = use_bp();
        return {bp + 2 * sizeof(std::uintptr_t), bp};
    }

    // Returns the place if it can be that of the caller of a frame whose stack pointer is `sp`.
    ALLOCSCOPE_FAST_PATH caller_place checked_place(caller_place to,
                                                    std::uintptr_t sp) const noexcept {
        if (to.cfa <= sp || to.cfa > high_ || to.cfa % sizeof(std::uintptr_t) != 0) return {};
        if (to.saved_bp == 0) return to;
        const bool is_in_frame = to.saved_bp >= sp && to.saved_bp < to.cfa;
        return is_in_frame && to.saved_bp % sizeof(std::uintptr_t) == 0 ? to : caller_place{};
    }

    caller_place read_word_at_sp(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        const std::uintptr_t at = plus(sp, rule.cfa_offset);
        if (at >= high_) return {};
        const std::uintptr_t word = read_stack_word(at);
        note_saved_sp({at, word});
        const std::uintptr_t cfa = word + sizeof(std::uintptr_t);
        return {cfa, rule.restores_bp ? plus(cfa, rule.bp_offset) : 0};
    }

    // Reads the two words of a realigned frame. Finds no place when the first lies outside the
    // frame.
    caller_place read_saved_sp(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        const std::uintptr_t bp = use_bp();
        const std::uintptr_t at = plus(bp, rule.cfa_offset);
        if (at < sp || at >= high_ || at % sizeof(std::uintptr_t) != 0) return {};
        const std::uintptr_t cfa = read_stack_word(at);
        note_saved_sp({at, cfa});
        return {cfa, plus(bp, rule.bp_offset)};
    }

    std::uintptr_t high_;
    unwinding method_;
    rule_kind usual_;  // a rule of this kind is obeyed as it is
    rule_cache& rules_;
    walked_stack& out_;
    std::uint64_t shape_of_saved_ = 0;
    saved_pointer bp_;  // what restores the frame pointer now
    bool is_bp_noted_ = false;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_UNWIND_STACK_WALK_HPP
