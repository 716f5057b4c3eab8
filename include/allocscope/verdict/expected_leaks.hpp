// expected_leaks.hpp - removes from a window what is expected to be alive.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by verdict/check_window.hpp, under the naming lock
// Threads:  one at a time
// Memory:   of the window's arena; the beginnings of up to 256 stacks, until the process ends
//
// A test framework keeps something alive in nearly every test, and each test calls the framework
// from another place. So each of these stacks is new, and finding its names takes milliseconds. The
// cheapest question therefore comes first:
//
//     1 does the stack begin with the same addresses as an expected stack?            no names
//         operator new, vector::push_back, framework::remember | the test, ...
//     2 do the function names of the symbol tables say so?                            30 us
//     3 does a pattern fit, or does the user's function agree, with all names known?  milliseconds
//
// The function that answers yes may say how many frames decided: these become the next known
// beginning.

#ifndef ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP
#define ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/platform/loaded_modules.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/unwind/first_use.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/stack_walk.hpp>
#include <allocscope/verdict/leak_patterns.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcmp
#include <new>      // placement new

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct object_sum {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
};

using leak_question = bool (*)(const leak_stack& stack, const void* context);

class expected_beginnings {
public:
    // Remembers the decisive frames of an expected stack.
    void add(const check_request& asked, const leak_stack& stack) {
        const std::size_t decisive = stack.decisive_frames;
        if (decisive == 0 || decisive > stack.frame_count || known_.size() == most) return;
        list<std::uintptr_t> addresses{memory_};
        // An inlined call shares its address with the function that it was inlined into.
        for (std::size_t i = 0; i < decisive; ++i) {
            if (i == 0 || !stack.frames[i - 1].is_inlined) {
                addresses.push_back(stack.frames[i].address + 1);
            }
        }
        known_.push_back({asked.is_expected, asked.expected_context, addresses});
    }

    bool fits(const check_request& asked, const std::uintptr_t* frames, std::size_t count) const {
        for (const beginning& each : known_) {
            const std::size_t needed = each.addresses.size();
            if (each.is_expected == asked.is_expected && each.context == asked.expected_context &&
                needed <= count &&
                std::memcmp(each.addresses.data(), frames, needed * sizeof *frames) == 0) {
                return true;
            }
        }
        return false;
    }

private:
    friend expected_beginnings& beginnings_of_process();

    static constexpr std::size_t most = 256;

    struct beginning {
        leak_question is_expected;
        const void* context;
        list<std::uintptr_t> addresses;
    };

    arena memory_;
    list<beginning> known_{memory_};
};

// Protected by the naming lock. Null until the first check that expects something.
ALLOCSCOPE_HIDDEN inline expected_beginnings* known_beginnings = nullptr;

// The object lies in its own memory, so that nothing is destroyed when the program ends.
inline expected_beginnings& beginnings_of_process() {
    if (known_beginnings == nullptr) {
        arena memory;
        auto* made = memory.make<expected_beginnings>();
        made->memory_.take(memory);
        known_beginnings = made;
    }
    return *known_beginnings;
}

// Asks about one stack. If the answer is yes, it remembers how the stack begins.
inline bool is_expected_stack(const check_request& asked, leak_question question,
                              const leak_stack& stack) {
    if (question == nullptr || !question(stack, asked.expected_context)) return false;
    beginnings_of_process().add(asked, stack);
    return true;
}

inline void drop_expected_sites(live_window& window) {
    std::size_t kept = 0;
    for (const live_site& site : window.sites) {
        if (!site.is_expected) window.sites[kept++] = site;
    }
    window.sites.cut(kept);
}

// Runs before any debug information is read, because reading it takes longer than a hundred small
// tests.
inline void drop_expected_by_symbols(name_book& book, live_window& window,
                                     const check_request& asked) {
    book.refresh();
    bool has_read = false;
    for (live_site& site : window.sites) {
        const known_stack stack = stack_of(site, window.frames_of(site));
        if (book.knows(stack, library_rule)) continue;
        has_read = true;
        arena& scratch = window.scratch;
        const borrowed_memory meanwhile{scratch};
        const symbol_stack names = book.symbols_of(scratch, stack, library_rule);
        site.is_expected =
            is_expected_stack(asked, asked.is_expected_by_symbols,
                              {names.frames.data(), names.frames.size(), names.user_frame, "?"});
    }
    drop_expected_sites(window);
    if (has_read && window.sites.empty()) book.rest();
}

// The stack of this thread; null if its bounds are not known.
ALLOCSCOPE_NOINLINE walked_stack* own_stack(arena& memory) {
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const stack_bounds bounds = current_stack_bounds(frame);
    if (!bounds.contains(frame)) return nullptr;
    struct room {
        unsigned char bytes[sizeof(rule_cache) + alignof(rule_cache)];
    };
    const auto place = reinterpret_cast<std::uintptr_t>(memory.make<room>());
    const std::uintptr_t aligned = (place | (alignof(rule_cache) - 1)) + 1;
    auto& rules = *::new (reinterpret_cast<void*>(aligned)) rule_cache;
    auto* const stack = memory.make<walked_stack>();
    stack_walk{bounds, rules, *stack}.run(frame, max_stack_frames);
    return stack;
}

// What a function-local static allocates when it is initialised lives until the program ends. It is
// no leak of the code that happened to use the static first. But a check that runs in the middle of
// an initialisation judges what that one allocates.
inline object_sum drop_first_use(live_window& window) {
    table<std::uint64_t, std::uintptr_t> known{window.scratch};
    for (const live_site& site : window.sites) {
        const std::uintptr_t* addresses = window.frames_of(site);
        for (std::uint32_t i = 0; i < site.frame_count; ++i) known[addresses[i]];
    }
    bool is_any = false;
    while_modules_stay([&] {
        for (auto& each : known) {
            each.value = initialisation_around(each.key);
            is_any = is_any || each.value != 0;
        }
    });
    if (!is_any) return {};
    if (const walked_stack* const own = own_stack(window.scratch)) {
        while_modules_stay([&] {
            for (std::uint32_t i = 0; i < own->frame_count; ++i) {
                const std::uintptr_t begin = initialisation_around(own->return_addresses[i]);
                for (auto& each : known) {
                    if (each.value == begin) each.value = 0;
                }
            }
        });
    }
    object_sum dropped;
    for (live_site& site : window.sites) {
        const std::uintptr_t* addresses = window.frames_of(site);
        for (std::uint32_t i = 0; i < site.frame_count && !site.is_expected; ++i) {
            site.is_expected = *known.find(addresses[i]) != 0;
        }
        if (!site.is_expected) continue;
        dropped.objects += site.objects;
        dropped.bytes += site.bytes;
    }
    drop_expected_sites(window);
    return dropped;
}

// Keeps only the sites that are leaks. Returns the sum of the objects that first uses made.
inline object_sum drop_expected(name_book& book, live_window& window, const leak_patterns& expected,
                                const check_request& asked) {
    if (asked.is_expected != nullptr) {
        const expected_beginnings& known = beginnings_of_process();
        for (live_site& site : window.sites) {
            const std::uintptr_t* addresses = window.frames_of(site);
            site.is_expected = known.fits(asked, addresses, site.frame_count);
        }
        drop_expected_sites(window);
    }
    if (asked.is_expected_by_symbols != nullptr && !window.sites.empty()) {
        drop_expected_by_symbols(book, window, asked);
    }
    const object_sum first_use = drop_first_use(window);
    if (window.sites.empty() || (expected.empty() && asked.is_expected == nullptr)) {
        return first_use;
    }
    const list<named_stack*> stacks = name_stacks(book, window, library_rule);
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        const named_stack& stack = *stacks[i];
        window.sites[i].is_expected =
            expected.fits(stack) ||
            is_expected_stack(asked, asked.is_expected,
                              {stack.frames, stack.frame_count, stack.maker_frame, stack.type});
    }
    drop_expected_sites(window);
    return first_use;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP
