// expected_beginnings.hpp - stacks whose innermost frames are known to belong to nobody's leak.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   by verdict/check_window.hpp, under the naming lock
// Threads:  one at a time
// Memory:   up to 256 beginnings of stacks, until the process ends
//
// A test framework keeps something alive in nearly every test, and each test calls it from another
// place: a new stack, whose names take milliseconds. But what decides stands at the beginning, in
// addresses that are the same for every test:
//
//     operator new, vector::push_back, framework::remember | the test, ...
//
// So a function that says is_expected may also say by how many frames, and the next stack that
// begins with the same addresses needs no names.

#ifndef ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP
#define ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/snapshot/check_data.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <cstring>  // memcmp
#include <utility>  // move
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class expected_beginnings {
public:
    // The first `decisive` names of the stack decided.
    void add(const check_request& asked, const leak_stack& stack, std::size_t decisive) {
        if (decisive == 0 || decisive > stack.frame_count || known_.size() == most) return;
        beginning made{asked.is_expected, asked.expected_context, {}};
        // Inlined calls share an address with the function they are inlined into.
        for (std::size_t i = 0; i < decisive; ++i) {
            if (i == 0 || !stack.frames[i - 1].is_inlined) {
                made.addresses.push_back(stack.frames[i].address + 1);
            }
        }
        known_.push_back(std::move(made));
    }

    // Takes the sites that begin so out of the window.
    void drop_from(live_window& window, const check_request& asked) const {
        std::size_t kept = 0;
        for (const live_site& site : window.sites) {
            if (!fits(asked, window.frames.data() + site.first_frame, site.frame_count)) {
                window.sites[kept++] = site;
            }
        }
        window.sites.resize(kept);
    }

private:
    static constexpr std::size_t most = 256;

    struct beginning {
        bool (*is_expected)(const leak_stack& stack, const void* context);
        const void* context;
        std::vector<std::uintptr_t> addresses;
    };

    bool fits(const check_request& asked, const std::uintptr_t* frames, std::size_t count) const {
        for (const beginning& each : known_) {
            const std::size_t needed = each.addresses.size();
            if (each.is_expected != asked.is_expected || each.context != asked.expected_context ||
                needed > count || each.addresses[0] != frames[0]) {
                continue;
            }
            if (std::memcmp(each.addresses.data(), frames, needed * sizeof *frames) == 0) {
                return true;
            }
        }
        return false;
    }

    std::vector<beginning> known_;
};

// Under the naming lock. Null until the first.
ALLOCSCOPE_HIDDEN inline expected_beginnings* beginnings_of_process = nullptr;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP
