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
// most `most_unoptimised` + 1 steps.

#ifndef ALLOCSCOPE_UNWIND_STACK_WALK_HPP
#define ALLOCSCOPE_UNWIND_STACK_WALK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/two_words.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

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
    obeyed.is_unoptimised = rule.is_unoptimised;
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
        : high_(bounds.high), method_(method), rules_(rules), out_(out) {}

    // `frame` is where the hook saved the frame pointer, below its own return address. That return
    // address always counts as a frame.
    void run(std::uintptr_t frame, std::uint32_t most_frames) noexcept {
        run(frame, most_frames, most_frames);
    }

    // Likewise, but a stack that would be cut after `asked` frames in code without optimisation
    // goes on to `most_unoptimised`, which may be more if `asked` is at least 4.
    void run(std::uintptr_t frame, std::uint32_t asked, std::uint32_t most_unoptimised) noexcept {
        begin(frame);
        std::uint32_t most_frames = asked;
        // Copies, because the compiler would read the members again after each store.
        walked_stack& out = out_;
        rule_cache& rules = rules_;
        const std::uintptr_t highest = high_ - word_bytes;
        const rule_word usual = method_ == unwinding::frame_pointers ? no_step : step_by_sp;
        std::uintptr_t place = frame + word_bytes;
        std::size_t frames = 0;
        std::uint32_t ended = 0;
        std::uint64_t shape = shape_of_start(asked);
        for (;;) {
            const std::uintptr_t pc = read_stack_word(place);
            const rule_word rule = word_of(rules.rule_for(pc));
            out.return_places[frames] = place;
            out.return_addresses[frames] = pc;
            set_rule(out.rules[frames], rule);
            if (ALLOCSCOPE_LIKELY((rule & kind_and_life) == usual)) {
                // Nearly every frame. The rule promises that the CFA lies higher, by a multiple of
                // 8.
                if (++frames == most_frames) break;
                place += offset_in(rule);
                if (ALLOCSCOPE_UNLIKELY(place > highest)) break;
                continue;
            }
            obey(pc, out.rules[frames]);
            // Only its rule can say whether it is a return address at all.
            if (out.rules[frames].kind == rule_kind::unknown && frames != 0) {
                ended = 1;
                shape += shape_of_word({place, pc});
                break;
            }
            if (++frames == most_frames) {
                most_frames = most_unoptimised;
                if (frames == most_frames || !is_unoptimised_behind(out.rules + frames)) break;
            }
            place = place_after(static_cast<std::uint32_t>(frames - 1), out.rules[frames - 1]);
            if (place == 0) break;
        }
        out.frame_count = static_cast<std::uint32_t>(frames);
        out.return_count = out.frame_count + ended;
        add_up(shape + shape_of_saved_);
        out.generation = rules.generation();
    }

private:
    static constexpr std::uintptr_t word_bytes = sizeof(std::uintptr_t);

    // Where the caller's frame is.
    struct caller_place {
        std::uintptr_t cfa = 0;       // 0: it cannot be found
        std::uintptr_t saved_bp = 0;  // where the caller's bp is kept; 0: still in the register
    };

    // Where the frame pointer of the frame with this number is saved.
    struct saved_pointer {
        std::uintptr_t at;
        std::uint32_t frame;
    };

    void begin(std::uintptr_t frame) noexcept {
        bp_ = {frame, 0};
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

    // Adds up what `sum` and `shape` are made of, two frames at a time.
    ALLOCSCOPE_FAST_PATH void add_up(std::uint64_t shape) noexcept {
        walked_stack& out = out_;
        two_words sums{};
        two_words shapes{};
        std::uint32_t i = 0;
        for (; i + 1 < out.frame_count; i += 2) {
            const two_words multipliers = load_two(positions.multipliers + i);
            sums += low_products(load_two(out.return_addresses + i), multipliers);
            shapes += low_products(load_two(out.return_places + i), multipliers);
        }
        out.sum = out.module_sum + (sums[0] + sums[1]);
        out.shape = shape + (shapes[0] + shapes[1]);
        if (i == out.frame_count) return;
        out.sum += hash_part(out.return_addresses[i], i);
        out.shape += hash_part(out.return_places[i], i);
    }

    // Makes `rule`, which was found for `pc`, the one that the method follows.
    ALLOCSCOPE_FAST_PATH void obey(std::uintptr_t pc, unwind_rule& rule) noexcept {
        if (ALLOCSCOPE_UNLIKELY(rule.life != module_life::permanent)) {
            rule = rule_that_may_go(pc, rule);
        }
        rule = rule_under(method_, rule);
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

    // Finds where the frame pointer of frame `n` is saved: at the last step to it that restored it.
    // Steps by the stack pointer are looked at only here, because few rules need a frame pointer.
    ALLOCSCOPE_FAST_PATH void find_saved_bp(std::uint32_t n) noexcept {
        for (std::uint32_t to = n; to != bp_known_for_; --to) {
            const unwind_rule& rule = out_.rules[to - 1];
            if (!rule.restores_bp) continue;
            set_bp(plus(out_.return_places[to] + word_bytes, rule.bp_offset), to);
            break;
        }
        bp_known_for_ = n;
    }

    ALLOCSCOPE_FAST_PATH void set_bp(std::uintptr_t saved_at, std::uint32_t frame) noexcept {
        bp_ = {saved_at, frame};
        is_bp_noted_ = false;
        bp_known_for_ = frame;
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

    // Whether the frames before `end` are of code without optimisation. A few of its functions are
    // not recognised, so one of four is enough.
    static bool is_unoptimised_behind(const unwind_rule* end) noexcept {
        const rule_word any =
            word_of(end[-1]) | word_of(end[-2]) | word_of(end[-3]) | word_of(end[-4]);
        return (any & unoptimised_bit) != 0;
    }

    // Where the return address of frame `n` + 1 is, if frame `n` has this rule; 0: nowhere.
    ALLOCSCOPE_FAST_PATH std::uintptr_t place_after(std::uint32_t n,
                                                    const unwind_rule& rule) noexcept {
        const std::uintptr_t sp = out_.return_places[n] + word_bytes;
        find_saved_bp(n);
        const caller_place to = ALLOCSCOPE_LIKELY(rule.kind == rule_kind::frame_pointer)
                                    ? checked_place(place_by_bp(), sp)
                                    : leave(rule, sp);
        if (to.cfa == 0) return 0;
        if (to.saved_bp != 0) set_bp(to.saved_bp, n + 1);
        bp_known_for_ = n + 1;
        return to.cfa - word_bytes;
    }

    // Follows any other rule than that of a frame pointer.
    ALLOCSCOPE_NOINLINE caller_place leave(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        caller_place to;
        switch (rule.kind) {
            case rule_kind::outermost:
                return {};
            case rule_kind::from_sp:  // of a module that may be unloaded
                to.cfa = plus(sp, rule.cfa_offset);
                if (rule.restores_bp) to.saved_bp = plus(to.cfa, rule.bp_offset);
                break;
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
    rule_cache& rules_;
    walked_stack& out_;
    std::uint64_t shape_of_saved_ = 0;
    saved_pointer bp_{};  // what restores the frame pointer of frame bp_known_for_
    std::uint32_t bp_known_for_ = 0;
    bool is_bp_noted_ = false;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_UNWIND_STACK_WALK_HPP
