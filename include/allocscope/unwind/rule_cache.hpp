// rule_cache.hpp - the unwind rules one thread has needed so far.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   for each frame of a stack that is walked by rules
// Threads:  one cache per thread; the slow half is lock-free
// Memory:   9 KiB per thread
//
// Finding a rule takes about a microsecond, and a program has few return addresses on the stacks of
// its allocations. So the cache has a home for the rule of each address: one comparison, one load.
// Memory that is all zero is a valid, empty cache.
//
// A rule must not outlive the module that it came from (module_identity.hpp). The cache knows which
// modules its rules came from, if they may be unloaded. A rule from such a module is right only
// when `confirm` says so: it checks which module is at the address now, and forgets all rules when
// that is another one. No rules are kept for a module without a build id.
//
//     unwind_rule rule = cache.rule_for(return_address);
//     if (rule.life == module_life::may_go) rule = cache.confirm(return_address, checked);

#ifndef ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
#define ALLOCSCOPE_UNWIND_RULE_CACHE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/unwind/cfi_to_rule.hpp>
#include <allocscope/unwind/known_rules.hpp>
#include <allocscope/unwind/module_identity.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class rule_cache {
public:
    // The rule for the frame that continues at `pc`; `unknown` for 0. The reference is valid until
    // the next call.
    ALLOCSCOPE_INLINE const unwind_rule& rule_for(std::uintptr_t pc) noexcept {
        const entry& home = entries_[home_of(pc)];
        if (ALLOCSCOPE_LIKELY(home.pc == pc)) return home.rule;
        return rule_from_line(pc);
    }

    // The rule for a `pc` for which rule_for found one that may go. `checked` is the module that
    // was checked last; while the walk stays in it, it is not checked again.
    ALLOCSCOPE_SLOW_PATH const unwind_rule& confirm(std::uintptr_t pc,
                                                    module_identity& checked) noexcept {
        if (!checked.holds(pc - 1)) {
            checked = identify_module(pc - 1);
            if (checked.life == module_life::may_go) {
                admit(checked);
            } else {
                forget();  // the module of the rule is gone
            }
        }
        return rule_for(pc);
    }

    void forget() noexcept {
        for (entry& each : entries_) each.pc = 0;
        compiler_barrier();
        module_count_ = 0;
        ++generation_;
    }

    // Another number than before means that rules may have changed.
    ALLOCSCOPE_INLINE std::uint32_t generation() const noexcept { return generation_; }

private:
    struct entry {
        std::uintptr_t pc = 0;
        unwind_rule rule{};
    };
    static_assert(sizeof(entry) == 16, "four to a cache line");
    static constexpr std::size_t entry_count = 512;
    static constexpr std::size_t line_entries = 4;
    static constexpr std::uint32_t most_modules = 32;

    // Each address has a home, and three other elements in the same cache line for when the home is
    // taken. In a direct-mapped table of this size two of fifty addresses usually share a home, and
    // a loop over both would find each rule anew every time.
    //
    // The low 13 bits of addresses of code are as good as random. A real multiplication would take
    // a tenth of the time of a walk, because the walk waits for the result at each frame.
    ALLOCSCOPE_INLINE static std::size_t home_of(std::uintptr_t pc) noexcept {
        return (pc * 9) / sizeof(entry) % entry_count;
    }

    // The n-th element to look at; 0 is home.
    ALLOCSCOPE_FAST_PATH static std::size_t place(std::size_t home, std::size_t n) noexcept {
        return (home & ~(line_entries - 1)) | ((home + n) & (line_entries - 1));
    }

    ALLOCSCOPE_NOINLINE const unwind_rule& rule_from_line(std::uintptr_t pc) noexcept {
        const entry* const line = entries_ + (home_of(pc) & ~(line_entries - 1));
        for (std::size_t n = 0; n < line_entries; ++n) {
            if (line[n].pc == pc) return line[n].rule;
        }
        return rule_for_slow(pc);
    }

    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_for_slow(std::uintptr_t pc) noexcept {
        unwind_rule& found = unkept_;
        if (rules_of_all.find(pc, found)) {
            keep(pc, found);
            return found;
        }
        return find_and_keep(pc);
    }

    ALLOCSCOPE_SLOW_PATH const unwind_rule& find_and_keep(std::uintptr_t pc) noexcept {
        const holding_module module = find_holding_module(pc - 1);
        unkept_ = find_unwind_rule(pc, module);
        keep_found(pc, unkept_, module);
        return unkept_;
    }

    // A separate function, so that the search above does not need stack space for this, too.
    ALLOCSCOPE_SLOW_PATH void keep_found(std::uintptr_t pc, unwind_rule& found,
                                         const holding_module& module) noexcept {
        const module_identity from = identify(module);
        // No module is here now, but one may be loaded later.
        if (from.start == 0 && found.kind == rule_kind::unknown) return;
        found.life = from.life;
        if (from.life == module_life::cannot_tell) return;
        if (from.life == module_life::may_go) admit(from);
        if (from.life == module_life::permanent && from.start != 0) rules_of_all.add(pc, found);
        keep(pc, found);
    }

    // Puts the rule at its home, unless the rule that is there belongs there. In that case the new
    // rule becomes a guest of the next element that is free or has a guest; if there is no such
    // element, it takes the home. A signal handler that jumps away in the middle leaves an empty
    // element, never a wrong pair.
    ALLOCSCOPE_FAST_PATH void keep(std::uintptr_t pc, unwind_rule rule) noexcept {
        const std::size_t home = home_of(pc);
        std::size_t at = home;
        for (std::size_t n = 0; n < line_entries; ++n) {
            const std::size_t each = place(home, n);
            const std::uintptr_t there = entries_[each].pc;
            if (there != 0 && home_of(there) == each) continue;
            at = each;
            break;
        }
        set(entries_[at], pc, rule);
    }

    static void set(entry& at, std::uintptr_t pc, unwind_rule rule) noexcept {
        at.pc = 0;
        compiler_barrier();
        at.rule = rule;
        compiler_barrier();
        at.pc = pc;
    }

    // Admits rules of `module`, after dropping those of other modules at the same addresses.
    void admit(const module_identity& module) noexcept {
        bool is_in_the_way = false;
        for (std::uint32_t i = 0; i < module_count_; ++i) {
            if (modules_[i].is_same(module)) return;
            is_in_the_way = is_in_the_way || modules_[i].overlaps(module);
        }
        if (is_in_the_way || module_count_ == most_modules) forget();
        modules_[module_count_] = module;
        compiler_barrier();
        ++module_count_;
    }

    alignas(64) entry entries_[entry_count];
    module_identity modules_[most_modules];
    unwind_rule unkept_{};  // found last
    std::uint32_t module_count_ = 0;
    std::uint32_t generation_ = 0;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
