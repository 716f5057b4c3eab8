// matched_stacks.hpp - finds the equal stacks of several snapshots.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/merged_stacks.hpp and subtracted_stacks.hpp
// Threads:  one at a time; the sides must outlive this
// Memory:   12 bytes for each stack and 56 for each different one, of the arena that is passed in
//
//     const matched_stacks matched{memory, made};      // the sides of a derived_stacks
//     matched.for_each([&](const stack_origin* equal, std::size_t count) { ... });
//
// Two stacks are equal if all their frames and types are equal as texts, because the sides may be
// of two processes: see snapshot/stacks_of_difference.hpp. Each different frame gets a number, and
// stacks are compared by these. The numbers are not kept. For a stack that was met before, they are
// looked up again.

#ifndef ALLOCSCOPE_GROUPING_MATCHED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_MATCHED_STACKS_HPP

#include <allocscope/base/hash_mix.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // strcmp

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class stack_matcher;

// A stack that was met. It is compared with the stack that the matcher is looking up.
struct matched_key {
    stack_matcher* of;
    std::uint64_t hash;
    stack_origin origin;
};

inline std::uint64_t hash_of_key(const matched_key& key) noexcept {
    return key.hash;
}
inline bool operator==(const matched_key& met, const matched_key& wanted);

class stack_matcher {
public:
    stack_matcher(arena& memory, const derived_stacks& sides)
        : sides_(sides),
          book_(memory, frames_differ_by::texts),
          known_(memory),
          path_(memory),
          met_(memory) {
        for (std::size_t i = 0; i < sides.side_count(); ++i) {
            known_.push_back(memory.make<numbers_of_frames>(memory));
        }
    }

    // The number of its kind, from 0 in the order in which they are met.
    std::uint32_t kind_of(stack_origin origin) {
        const borrowed_memory meanwhile{scratch_};
        const shown_stacks& side = sides_.side(origin.side);
        const numbered_frames frames = side.frames(origin.number, scratch_);
        path_.resize(frames.count);
        std::uint64_t hash = hash_step(hash_seed, frames.count);
        for (std::size_t i = 0; i < frames.count; ++i) {
            path_[i] = number_of(origin.side, frames, i);
            hash = hash_step(hash, path_[i]);
        }
        type_ = side.stack(origin.number).type;
        const auto known = met_.insert({this, hash_finish(hash), origin});
        if (known.is_new) known.value = static_cast<std::uint32_t>(met_.size() - 1);
        return known.value;
    }
    std::size_t kinds() const noexcept { return met_.size(); }

    // Whether the stack that kind_of() looks up is equal to one that was met.
    bool is_equal_to(stack_origin other) {
        const borrowed_memory meanwhile{scratch_};
        const shown_stacks& side = sides_.side(other.side);
        if (std::strcmp(side.stack(other.number).type, type_) != 0) return false;
        const numbered_frames frames = side.frames(other.number, scratch_);
        if (frames.count != path_.size()) return false;
        for (std::size_t i = 0; i < frames.count; ++i) {
            if (number_of(other.side, frames, i) != path_[i]) return false;
        }
        return true;
    }

private:
    std::uint32_t number_of(std::size_t side, const numbered_frames& frames, std::size_t at) {
        return known_[side]->find(
            frames, at, [this](const snapshot::frame& frame) { return book_.number_of(frame); });
    }

    const derived_stacks& sides_;
    arena scratch_;
    frame_book book_;
    list<numbers_of_frames*> known_;  // of each side
    list<std::uint32_t> path_;        // the frames of the stack that is looked up
    const char* type_ = "";
    table<matched_key, std::uint32_t> met_;
};

inline bool operator==(const matched_key& met, const matched_key& wanted) {
    return met.hash == wanted.hash && wanted.of->is_equal_to(met.origin);
}

class matched_stacks {
public:
    // Throws std::bad_alloc.
    matched_stacks(arena& memory, const derived_stacks& sides) : origins_(memory), begins_(memory) {
        arena scratch;
        list<std::uint32_t> kinds{scratch};
        stack_matcher matcher{scratch, sides};
        for_each_origin(sides,
                        [&](stack_origin origin) { kinds.push_back(matcher.kind_of(origin)); });
        begins_.resize(matcher.kinds() + 1);
        for (const std::uint32_t kind : kinds) ++begins_[kind + std::size_t{1}];
        for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
        list<std::uint32_t> next{scratch};
        next.append(begins_);
        origins_.resize(kinds.size());
        std::size_t at = 0;
        for_each_origin(sides,
                        [&](stack_origin origin) { origins_[next[kinds[at++]]++] = origin; });
    }

    // Calls work(equal, count) for each kind, in the order in which they were met.
    template <class Work>
    void for_each(const Work& work) const {
        for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
            work(origins_.data() + begins_[i], std::size_t{begins_[i + 1]} - begins_[i]);
        }
    }

private:
    template <class Work>
    static void for_each_origin(const derived_stacks& sides, const Work& work) {
        for (std::uint32_t side = 0; side < sides.side_count(); ++side) {
            const std::size_t count = sides.side(side).count();
            for (std::uint32_t i = 0; i < count; ++i) work(stack_origin{side, i});
        }
    }

    list<stack_origin> origins_;  // equal ones side by side
    list<std::uint32_t> begins_;  // where each kind begins there, and the end
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_MATCHED_STACKS_HPP
