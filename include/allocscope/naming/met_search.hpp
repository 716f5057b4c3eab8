// met_search.hpp - finds the modules that may be unloaded and were at an address.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/stack_modules.hpp, for each frame of a report
// Threads:  one at a time, under the naming lock
// Memory:   32 bytes for each module, in an arena of its own
//
// A program may load hundreds of plugins, and a report has a million frames. So the modules are put
// in order once, and then again when there are more of them.

#ifndef ALLOCSCOPE_NAMING_MET_SEARCH_HPP
#define ALLOCSCOPE_NAMING_MET_SEARCH_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/symbols/address_ranges.hpp>

#include <cstdint>  // uint32_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class met_search {
public:
    met_search() noexcept = default;
    met_search(const met_search&) = delete;
    met_search& operator=(const met_search&) = delete;

    // Call it before questions about stacks that may have met more modules.
    void refresh() {
        const std::uint32_t count = modules_met.count();
        if (count == ready_) return;
        memory_.release();
        ranges_ = symbolize::address_ranges{memory_};
        ready_ = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const met_module* each = modules_met.at(i);
            if (each == nullptr) continue;
            ranges_.add(each->start, each->start + each->size, i);
            ++ready_;
        }
        ranges_.finish();
    }

    ALLOCSCOPE_INLINE bool empty() const noexcept { return ranges_.empty(); }

    // Of the first `count` modules that were noted, the last one that held the address; `count`
    // becomes the number of those before it. Null: none did.
    const met_module* last_of(std::uint32_t& count, std::uintptr_t address) const noexcept {
        const symbolize::address_range* last = nullptr;
        symbolize::address_ranges::walk at = ranges_.walk_to(address);
        while (const symbolize::address_range* range = ranges_.next(at)) {
            if (range->value >= count) continue;
            if (last == nullptr || range->value > last->value) last = range;
        }
        if (last == nullptr) return nullptr;
        count = static_cast<std::uint32_t>(last->value);
        return modules_met.at(count);
    }

    ALLOCSCOPE_INLINE bool has(std::uintptr_t address) const noexcept {
        return ranges_.find(address) != nullptr;
    }

private:
    arena memory_;
    symbolize::address_ranges ranges_;
    std::uint32_t ready_ = 0;  // how many it has
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_MET_SEARCH_HPP
