// page_paths.hpp - the paths of many stacks; the outer part that they share is kept once.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_names.hpp and formats/heaptrack_format.hpp
// Threads:  one
// Memory:   of an arena: up to 24 bytes for each path, and up to 72 for each stack
//
//     0                  where all paths begin
//     +- 1 main
//     |  +- 2 parse      page_paths::below(1, number of the frame of parse) is 2
//     |  +- 3 load
//
// A snapshot may have a million stacks with twenty frames each, and every frame is looked up here.
// Most paths are the first below another, and were made right after it: these are found beside it.
// Only the others are in a table. A slot contains everything that is compared, so finding one of
// these costs one more cache line.

#ifndef ALLOCSCOPE_PAGE_PAGE_PATHS_HPP
#define ALLOCSCOPE_PAGE_PAGE_PATHS_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/platform/large_pages.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The path above the last frame, that frame, and the first path below; 0: there is none.
struct page_path {
    std::uint32_t above;
    std::uint32_t frame;
    std::uint32_t first_below;
};

class page_paths {
public:
    explicit page_paths(arena& memory) : paths_(memory), slots_(memory) {
        paths_.push_back({0, 0, 0});
        slots_.resize(first_slots);
    }

    // Reserves memory for the paths of this many stacks; call it before the first, because growing
    // moves all paths.
    void reserve(std::size_t stacks) {
        std::size_t count = first_slots;
        while (count < stacks * 2) count *= 2;
        slots_.reserve(count);
        ask_for_large_pages(slots_.data(), count * sizeof(slot));
        slots_.resize(count);
    }

    // All paths by number. Number 0 has no frame.
    const list<page_path>& all() const noexcept { return paths_; }

    std::uint32_t below(std::uint32_t above, std::uint32_t frame) {
        const std::uint32_t first = paths_[above].first_below;
        if (first != 0 && paths_[first].frame == frame) return first;
        const auto made = static_cast<std::uint32_t>(paths_.size());
        if (first == 0) {
            paths_[above].first_below = made;
        } else {
            slot& found = slot_of(slots_, above, frame);
            if (found.path != 0) return found.path;
            found = {above, frame, made};
            ++used_slots_;
        }
        paths_.push_back({above, frame, 0});
        if (used_slots_ * 4 > slots_.size() * 3) grow();
        return made;
    }

    // Announce that below() will be called with these soon: first the one, then the other.
    void expect_first(std::uint32_t above) const noexcept {
        __builtin_prefetch(&paths_[paths_[above].first_below]);
    }
    void expect(std::uint32_t above, std::uint32_t frame) const noexcept {
        const std::uint32_t first = paths_[above].first_below;
        if (first == 0 || paths_[first].frame == frame) return;
        __builtin_prefetch(&slots_[first_slot(slots_, above, frame)]);
    }

private:
    struct slot {
        std::uint32_t above, frame;
        std::uint32_t path;  // 0: free
    };
    static constexpr std::size_t first_slots = 1024;  // a power of two

    static std::size_t first_slot(const list<slot>& in, std::uint32_t above,
                                  std::uint32_t frame) noexcept {
        return plain::hash_of_key(std::uint64_t{above} << 32U | frame) & (in.size() - 1);
    }

    static slot& slot_of(const list<slot>& in, std::uint32_t above, std::uint32_t frame) {
        const std::size_t mask = in.size() - 1;
        for (std::size_t at = first_slot(in, above, frame);; at = (at + 1) & mask) {
            slot& here = in[at];
            if (here.path == 0 || (here.above == above && here.frame == frame)) return here;
        }
    }

    void grow() {
        list<slot> larger{paths_.memory()};
        larger.reserve(slots_.size() * 2);
        ask_for_large_pages(larger.data(), slots_.size() * 2 * sizeof(slot));
        larger.resize(slots_.size() * 2);
        for (const slot& each : slots_) {
            if (each.path != 0) slot_of(larger, each.above, each.frame) = each;
        }
        slots_ = larger;
    }

    list<page_path> paths_;
    list<slot> slots_;
    std::size_t used_slots_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_PAGE_PATHS_HPP
