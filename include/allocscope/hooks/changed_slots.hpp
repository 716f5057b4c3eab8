// changed_slots.hpp - the earlier values of the words that attach_hooks() has changed.
//
// Room:     hooks (floor 6), not for use inside a hook: only while the loader's lock is held
// Called:   by hooks/attached_hooks.hpp
// Threads:  one at a time, under the loader's lock
// Memory:   pages from the kernel, 16 KiB at first
//
// A hash table whose key is the address of the word. Words of modules that were unloaded stay in
// the table until it grows. They are never read, because they have the number of an older walk.

#ifndef ALLOCSCOPE_HOOKS_CHANGED_SLOTS_HPP
#define ALLOCSCOPE_HOOKS_CHANGED_SLOTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class changed_slots {
public:
    struct entry {
        std::uintptr_t* word;     // null: unused
        std::uintptr_t original;  // what the word held before, or holds if it is another tool's
        std::uint32_t function;
        std::uint32_t is_of_other;  // 0: the word leads to us
        std::uint64_t walk;         // the last walk that met the word
    };

    // Returns null when the word was not changed.
    entry* find(std::uintptr_t* word) noexcept {
        if (room_ == 0) return nullptr;
        entry& place = place_of(word);
        return place.word == word ? &place : nullptr;
    }

    // Returns the entry of the word, and makes it if there is none. Entries of walks before
    // `oldest` may be dropped. Null when there is no memory.
    entry* find_or_add(std::uintptr_t* word, std::uint64_t oldest) noexcept {
        if (used_ * 2 >= room_ && !make_room(oldest)) return nullptr;
        entry& place = place_of(word);
        if (place.word == nullptr) ++used_;
        place.word = word;
        return &place;
    }

    template <class Visitor>
    void for_each(Visitor&& visit) noexcept {
        for (std::size_t i = 0; i < room_; ++i) {
            if (entries_[i].word != nullptr) visit(entries_[i]);
        }
    }

    void clear() noexcept {
        if (room_ != 0) return_reservation(entries_, room_ * sizeof(entry));
        entries_ = nullptr;
        room_ = 0;
        used_ = 0;
    }

private:
    static constexpr std::size_t first_room = 512;

    // The place where the word is or belongs. There is always an unused place.
    entry& place_of(const std::uintptr_t* word) noexcept {
        const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(word) * golden_multiplier;
        std::size_t place = (mixed >> 20U) & (room_ - 1);
        while (entries_[place].word != nullptr && entries_[place].word != word) {
            place = (place + 1) & (room_ - 1);
        }
        return entries_[place];
    }

    bool make_room(std::uint64_t oldest) noexcept {
        std::size_t kept = 0;
        for_each([&](const entry& each) { kept += each.walk >= oldest ? 1 : 0; });
        changed_slots larger;
        larger.room_ = first_room;
        while (larger.room_ < 4 * (kept + 1)) larger.room_ *= 2;
        larger.entries_ = static_cast<entry*>(reserve_pages(larger.room_ * sizeof(entry)));
        if (larger.entries_ == nullptr) return false;
        for_each([&](const entry& each) {
            if (each.walk < oldest) return;
            larger.place_of(each.word) = each;
            ++larger.used_;
        });
        clear();
        *this = larger;
        return true;
    }

    entry* entries_ = nullptr;
    std::size_t room_ = 0;  // a power of two, or 0
    std::size_t used_ = 0;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_CHANGED_SLOTS_HPP
