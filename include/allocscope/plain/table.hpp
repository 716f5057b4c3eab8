// table.hpp - values found by a key: a number, a pointer or a text.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever something is looked up by name or address
// Threads:  one at a time; any number may find() while nobody adds
// Memory:   of its arena
//
//     table<std::uint64_t, unit> units{memory};
//     units[offset].name = ...;                   // made when it was not there
//     if (unit* found = units.find(offset)) ...   // good until the next one is added
//     for (const auto& entry : units) use(entry.key, entry.value);   // in the order they came
//
// The entries are a list; beside it lie their numbers, hashed, with linear probing and at most
// half of the slots in use. Finding knows keys only as bytes: the core is compiled once.

#ifndef ALLOCSCOPE_PLAIN_TABLE_HPP
#define ALLOCSCOPE_PLAIN_TABLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy, memset

ALLOCSCOPE_WARM_BEGIN

namespace plain {

// --- keys ---

inline std::uint64_t hash_of_key(std::uint64_t key) noexcept {
    return detail::hash_finish(detail::hash_step(detail::hash_seed, key));
}
inline std::uint64_t hash_of_key(const void* key) noexcept {
    return hash_of_key(reinterpret_cast<std::uintptr_t>(key));
}
ALLOCSCOPE_NOINLINE std::uint64_t hash_of_key(text key) noexcept {
    std::uint64_t hash = detail::hash_step(detail::hash_seed, key.size());
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data() + at, 8);
        hash = detail::hash_step(hash, word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, key.data() + at, key.size() - at);
    return detail::hash_finish(detail::hash_step(hash, rest));
}

// --- the core ---

struct raw_slots {
    struct slot {
        std::uint32_t entry;  // its number, from 1; 0: free
        std::uint32_t hash;   // the upper half
    };
    slot* slots = nullptr;
    std::size_t count = 0;  // a power of two, or 0
};

ALLOCSCOPE_NOINLINE raw_slots make_slots(arena& memory, std::size_t count) {
    void* slots = memory.allocate(count * sizeof(raw_slots::slot));
    std::memset(slots, 0, count * sizeof(raw_slots::slot));
    return {static_cast<raw_slots::slot*>(slots), count};
}

using same_key = bool (*)(const void* entry, const void* key);

// Number of the entry from 1, or 0.
ALLOCSCOPE_NOINLINE std::uint32_t find_entry(const raw_slots& in, const raw_list& entries,
                                             std::size_t entry_bytes, std::uint64_t hash,
                                             same_key is_same, const void* key) noexcept {
    if (in.count == 0) return 0;
    const std::size_t mask = in.count - 1;
    const auto upper = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const raw_slots::slot& found = in.slots[at];
        if (found.entry == 0) return 0;
        const void* entry =
            static_cast<const char*>(entries.values) + (found.entry - 1) * entry_bytes;
        if (found.hash == upper && is_same(entry, key)) return found.entry;
    }
}

// Where an entry with the hash may be put; the lower half of the hash is not kept, so growing asks
// for it again.
ALLOCSCOPE_NOINLINE void put_slot(raw_slots& in, std::uint64_t hash, std::uint32_t entry) noexcept {
    const std::size_t mask = in.count - 1;
    std::size_t at = hash & mask;
    while (in.slots[at].entry != 0) at = (at + 1) & mask;
    in.slots[at] = {entry, static_cast<std::uint32_t>(hash >> 32U)};
}

template <class Key, class Value>
class table {
public:
    struct entry {
        Key key;
        Value value;
    };

    table() noexcept = default;  // empty for good
    explicit table(arena& memory) noexcept { entries_.memory = &memory; }

    std::size_t size() const noexcept { return entries_.size; }
    bool empty() const noexcept { return entries_.size == 0; }
    entry* begin() const noexcept { return static_cast<entry*>(entries_.values); }
    entry* end() const noexcept { return begin() + entries_.size; }

    // Null: not there.
    Value* find(const Key& key) const noexcept {
        const std::uint32_t number =
            find_entry(slots_, entries_, sizeof(entry), hash_of_key(key), &is_same, &key);
        return number != 0 ? &begin()[number - 1].value : nullptr;
    }

    struct place {
        Value& value;
        bool is_new;
    };

    // The value of the key, value-initialised when it was not there.
    place insert(const Key& key) {
        if (Value* found = find(key)) return {*found, false};
        static_assert(std::is_trivially_copyable<entry>::value, "entries are moved by memcpy");
        if ((entries_.size + 1) * 2 > slots_.count) grow();
        entry* made = ::new (add_to_list(entries_, sizeof(entry))) entry{key, Value()};
        put_slot(slots_, hash_of_key(key), static_cast<std::uint32_t>(entries_.size));
        return {made->value, true};
    }
    Value& operator[](const Key& key) { return insert(key).value; }

    void clear() noexcept {
        entries_.size = 0;
        slots_ = {};
    }

private:
    static bool is_same(const void* entry_of, const void* key) {
        return static_cast<const entry*>(entry_of)->key == *static_cast<const Key*>(key);
    }

    void grow() {
        const std::size_t count = slots_.count == 0 ? 16 : slots_.count * 4;
        slots_ = make_slots(*entries_.memory, count);
        std::uint32_t number = 0;
        for (const entry& each : *this) put_slot(slots_, hash_of_key(each.key), ++number);
    }

    raw_list entries_;
    raw_slots slots_;
};

}  // namespace plain

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_PLAIN_TABLE_HPP
