// rule_cache.hpp - the unwind rules one thread has needed so far.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   for each frame of a stack that is walked by rules
// Threads:  one cache per thread; the slow half is lock-free
// Memory:   9 KiB per thread
//
// Finding a rule costs about a microsecond, and a program has few return addresses on the way to
// its allocations. So each address has one place where its rule is kept: one comparison, one load.
// Memory that is all zero is a valid, empty cache.
//
// A rule must not outlive the module it came from (module_identity.hpp). The cache knows the
// modules that its rules came from and may be unloaded. A rule from one of those is only right when
// `confirm` says so: it looks who lies at the address now, and when that is somebody new where
// another one was, forgets everything. A module without a build id gets no rules kept.
//
//     unwind_rule rule = cache.rule_for(return_address);
//     if (rule.life == module_life::may_go) rule = cache.confirm(return_address, checked);

#ifndef ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
#define ALLOCSCOPE_UNWIND_RULE_CACHE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/unwind/cfi_to_rule.hpp>
#include <allocscope/unwind/module_identity.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class rule_cache {
public:
    // The rule for the frame that goes on at `pc`; for 0 it is `unknown`. The reference is good
    // until the next call.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_for(std::uintptr_t pc) noexcept {
        const entry& home = entries_[home_of(pc)];
        if (ALLOCSCOPE_LIKELY(home.pc == pc)) return home.rule;
        return rule_from_line(pc);
    }

    // The rule of a `pc` for which rule_for found one that may go. `checked` is the
    // module looked at last: while it stays on the stack, it need not be looked at again.
    ALLOCSCOPE_NOINLINE const unwind_rule& confirm(std::uintptr_t pc,
                                                   module_identity& checked) noexcept {
        if (pc - 1 - checked.start >= checked.size) {
            checked = identify_module(pc - 1);
            if (checked.life == module_life::may_go) {
                admit(checked);
            } else {
                forget();  // what the rule came from is no longer there
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

    // Another number: rules may have changed since.
    std::uint32_t generation() const noexcept { return generation_; }

private:
    struct entry {
        std::uintptr_t pc = 0;
        unwind_rule rule{};
    };
    static_assert(sizeof(entry) == 16, "four to a cache line");
    static constexpr std::size_t entry_count = 512;
    static constexpr std::size_t line_entries = 4;
    static constexpr std::uint32_t most_modules = 32;

    // Each address has a place of its own, and when that is taken, three others in the same cache
    // line: in a direct-mapped table of this size two of fifty addresses usually meet, and a loop
    // over both would look each up anew every time.
    //
    // The low 13 bits of addresses of code are as good as random. A real multiplication would take
    // a tenth of the time of a walk, in which everything waits for this.
    ALLOCSCOPE_FAST_PATH static std::size_t home_of(std::uintptr_t pc) noexcept {
        return (pc * 9) / sizeof(entry) % entry_count;
    }

    // The n-th place to look at, 0 is home.
    entry& place(std::size_t home, std::size_t n) noexcept {
        return entries_[(home & ~(line_entries - 1)) | ((home + n) & (line_entries - 1))];
    }

    ALLOCSCOPE_NOINLINE const unwind_rule& rule_from_line(std::uintptr_t pc) noexcept {
        for (std::size_t n = 1; n < line_entries; ++n) {
            const entry& each = place(home_of(pc), n);
            if (each.pc == pc) return each.rule;
        }
        return rule_for_slow(pc);
    }

    ALLOCSCOPE_NOINLINE const unwind_rule& rule_for_slow(std::uintptr_t pc) noexcept {
        unwind_rule& found = unkept_;
        found = find_unwind_rule(pc);
        const module_identity from = identify_module(pc - 1);
        // Where no module is, one may be tomorrow.
        if (from.start == 0 && found.kind == rule_kind::unknown) return found;
        found.life = from.life;
        if (from.life == module_life::cannot_tell) return found;
        if (from.life == module_life::may_go) admit(from);
        keep(pc, found);
        return found;
    }

    // At home; who was there moves on, and so on. A signal handler that jumps out of here leaves an
    // empty place, never a wrong pair.
    void keep(std::uintptr_t pc, unwind_rule rule) noexcept {
        const std::size_t home = home_of(pc);
        for (std::size_t n = line_entries - 1; n > 0; --n) {
            set(place(home, n), place(home, n - 1).pc, place(home, n - 1).rule);
        }
        set(place(home, 0), pc, rule);
    }

    static void set(entry& at, std::uintptr_t pc, unwind_rule rule) noexcept {
        at.pc = 0;
        compiler_barrier();
        at.rule = rule;
        compiler_barrier();
        at.pc = pc;
    }

    // From here on rules of `module` may be kept, and no others are there for its addresses.
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
