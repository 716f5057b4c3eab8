// stack_modules.hpp - finds the modules that a stack's addresses were in when it allocated.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/, for each stack of a report
// Threads:  one at a time, under the naming lock
// Memory:   1.5 KiB of the caller's stack
//
// Several modules may have been at an address, one after the other. Each of them put its own tag
// into the hash of the sites whose stacks went through it (platform/met_modules.hpp). So the hash
// tells which one it was: the right modules are those that give the hash of the site.
//
//     address 0x7f11:  alpha.so, later beta.so      hash(addresses, alpha.so) == that of the site

#ifndef ALLOCSCOPE_NAMING_STACK_MODULES_HPP
#define ALLOCSCOPE_NAMING_STACK_MODULES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/naming/met_search.hpp>
#include <allocscope/platform/find_object.hpp>
#include <allocscope/platform/met_modules.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memset

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack whose names are wanted: some of its return addresses, innermost first.
struct known_stack {
    std::uint64_t hash = 0;  // of the first `count` addresses, and perhaps the modules and the tag
    const std::uintptr_t* addresses = nullptr;
    std::uint32_t count = 0;
    std::uint32_t all_count = 0;
    std::uint64_t site_hash = 0;  // of all addresses and their modules; 0: unknown
    std::uint32_t tag = 0;        // tables/allocation_tags.hpp
};

// Stands for an unknown module: it was replaced, and there was no room to note which one it was.
ALLOCSCOPE_HIDDEN inline constexpr met_module module_of_nobody{
    0, 0, 0, 0, "", met_modules::most + 1, false};

class stack_modules {
public:
    // Neither may end before it.
    stack_modules(const known_stack& stack, const met_search& met) noexcept
        : stack_(stack), met_(met) {
        if (met.empty()) {
            std::memset(homes_, 0, stack.count * sizeof *homes_);
            is_certain_ = can_tell_modules();
            return;
        }
        const bool is_found = stack.site_hash != 0 && assign(0, 0);
        is_certain_ = is_found && can_tell_modules();
        if (!is_found) assign_what_is_left();
        for (std::uint32_t i = 0; i < stack.count; ++i) {
            const met_module* const home = homes_[i];
            if (home != nullptr) key_ = hash_step(key_ ^ i, home->number);
        }
    }

    // The module that may be unloaded and held the frame's code; null: it was in none such.
    ALLOCSCOPE_INLINE const met_module* operator[](std::uint32_t frame) const noexcept {
        return homes_[frame];
    }
    // Differs between stacks with equal addresses and different modules.
    ALLOCSCOPE_INLINE std::uint64_t key() const noexcept { return key_; }
    // True: what is named by these modules stays so named, whatever is loaded and unloaded.
    ALLOCSCOPE_INLINE bool is_certain() const noexcept { return is_certain_; }

private:
    static constexpr std::uint32_t most_chosen = 32;

    // Chooses modules from frame `from` on; `sum` is the hash sum of the frames before it.
    bool assign(std::uint32_t from, std::uint64_t sum) noexcept {
        for (std::uint32_t i = from; i < stack_.all_count; ++i) {
            const std::uintptr_t pc = stack_.addresses[i];
            sum += hash_part(pc, i);
            homes_[i] = chosen_for(pc - 1);
            if (homes_[i] != nullptr) {
                sum += homes_[i]->tag();
                continue;
            }
            std::uint32_t left = met_modules::most;
            while (const met_module* candidate = met_.last_of(left, pc - 1)) {
                if (steps_ == 0 || chosen_count_ == most_chosen) return false;
                --steps_;
                homes_[i] = chosen_[chosen_count_++] = candidate;
                if (assign(i + 1, sum + candidate->tag())) return true;
                --chosen_count_;
            }
            homes_[i] = nullptr;
        }
        return stack_hash(sum) == stack_.site_hash;
    }

    const met_module* chosen_for(std::uintptr_t address) const noexcept {
        for (std::uint32_t i = 0; i < chosen_count_; ++i) {
            if (chosen_[i]->holds(address)) return chosen_[i];
        }
        return nullptr;
    }

    // If more than one module was at the address, it may be any of them. A stack without a hash was
    // walked just now: its modules are those that are loaded.
    void assign_what_is_left() noexcept {
        for (std::uint32_t i = 0; i < stack_.all_count; ++i) {
            const bool is_known = stack_.site_hash == 0 || !met_.has(stack_.addresses[i] - 1);
            homes_[i] = is_known ? nullptr : &module_of_nobody;
        }
    }

    const known_stack& stack_;
    const met_search& met_;
    const met_module* homes_[max_stack_frames];  // null, or as operator[] says
    const met_module* chosen_[most_chosen];
    std::uint32_t chosen_count_ = 0;
    std::uint32_t steps_ = 4096;
    std::uint64_t key_ = 0;
    bool is_certain_ = false;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_STACK_MODULES_HPP
