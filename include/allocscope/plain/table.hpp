// table.hpp - values found by a key: a number, a pointer or a text.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever something is looked up by name or address
// Threads:  one at a time; any number may find() while no thread adds
// Memory:   from its arena
//
//     table<std::uint64_t, unit> units{memory};
//     units[offset].name = ...;                   // added if it was not there
//     if (unit* found = units.find(offset)) ...   // valid until the next one is added
//     for (const auto& entry : units) use(entry.key, entry.value);   // in the order they came
//
// The entries are a list. Beside it is a hash table of their numbers, with linear probing and at
// most two thirds of the slots in use. The search knows keys only as bytes, so the core is compiled
// once.

#ifndef ALLOCSCOPE_PLAIN_TABLE_HPP
#define ALLOCSCOPE_PLAIN_TABLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy, memset

ALLOCSCOPE_MILD_BEGIN

namespace plain {

// --- keys ---

ALLOCSCOPE_NOINLINE std::uint64_t hash_of_key(std::uint64_t key) noexcept {
    return detail::hash_finish(detail::hash_step(detail::hash_seed, key));
}
ALLOCSCOPE_INLINE std::uint64_t hash_of_key(const void* key) noexcept {
    return hash_of_key(reinterpret_cast<std::uintptr_t>(key));
}
ALLOCSCOPE_NOINLINE std::uint64_t hash_of_key(const text& key) noexcept {
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

// A key that equals another one if all bytes are the same: texts by their addresses.
template <class Key>
struct by_bytes : Key {
    static_assert(__has_unique_object_representations(Key), "padding would be compared, too");
    ALLOCSCOPE_INLINE text bytes() const noexcept {
        return {reinterpret_cast<const char*>(this), sizeof(Key)};
    }
};
template <class Key>
ALLOCSCOPE_INLINE bool operator==(const by_bytes<Key>& a, const by_bytes<Key>& b) noexcept {
    return a.bytes() == b.bytes();
}
template <class Key>
ALLOCSCOPE_INLINE std::uint64_t hash_of_key(const by_bytes<Key>& key) noexcept {
    std::uint64_t words[(sizeof(Key) + 7) / 8] = {};
    std::memcpy(words, &key, sizeof(Key));
    std::uint64_t hash = detail::hash_seed;
    for (const std::uint64_t word : words) hash = detail::hash_step(hash, word);
    return detail::hash_finish(hash);
}

// --- the core ---

// A table in the form that functions without a type parameter use.
struct raw_table {
    struct slot {
        std::uint32_t entry;  // its number, from 1; 0: free
        std::uint32_t hash;
    };
    raw_list entries;
    slot* first = nullptr;
    std::size_t count = 0;  // of slots: a power of two, or 0
};

ALLOCSCOPE_NOINLINE void put_slot(raw_table& in, raw_table::slot added) noexcept {
    const std::size_t mask = in.count - 1;
    std::size_t at = added.hash & mask;
    while (in.first[at].entry != 0) at = (at + 1) & mask;
    in.first[at] = added;
}

using same_key = bool (*)(const void* entry, const void* key);

// Returns null when it is not there. Throws only what `is_same` throws.
ALLOCSCOPE_NOINLINE void* find_entry(const raw_table& in, std::size_t entry_bytes,
                                     std::uint64_t hash, same_key is_same, const void* key) {
    if (in.count == 0) return nullptr;
    const std::size_t mask = in.count - 1;
    const auto lower = static_cast<std::uint32_t>(hash);
    for (std::size_t at = lower & mask;; at = (at + 1) & mask) {
        const raw_table::slot& found = in.first[at];
        if (found.entry == 0) return nullptr;
        if (found.hash != lower) continue;
        void* entry = static_cast<char*>(in.entries.values) + (found.entry - 1) * entry_bytes;
        if (is_same(entry, key)) return entry;
    }
}

// Makes `wanted` slots: a power of two, more than there are.
ALLOCSCOPE_NOINLINE void make_slots(raw_table& in, std::size_t wanted) {
    const raw_table::slot* const before = in.first;
    const std::size_t count = in.count;
    in.count = wanted;
    const std::size_t bytes = wanted * sizeof(raw_table::slot);
    in.first = static_cast<raw_table::slot*>(in.entries.memory->allocate(bytes));
    std::memset(in.first, 0, bytes);
    for (std::size_t i = 0; i < count; ++i) {
        if (before[i].entry != 0) put_slot(in, before[i]);
    }
}

// Makes room for `entries` entries. Nothing moves until there are more.
ALLOCSCOPE_NOINLINE void make_room(raw_table& in, std::size_t entry_bytes, std::size_t entries) {
    std::size_t wanted = 16;
    while (wanted * 2 < entries * 3) wanted *= 2;
    if (wanted > in.count) make_slots(in, wanted);
    if (entries > in.entries.room) grow_list(in.entries, entry_bytes, entries);
}

// Adds an entry that is not there yet; it is not yet initialised.
ALLOCSCOPE_NOINLINE void* add_entry(raw_table& in, std::size_t entry_bytes, std::uint64_t hash) {
    if ((in.entries.size + 1) * 3 > in.count * 2) make_slots(in, in.count == 0 ? 16 : in.count * 4);
    void* entry = add_to_list(in.entries, entry_bytes);
    put_slot(in, {static_cast<std::uint32_t>(in.entries.size), static_cast<std::uint32_t>(hash)});
    return entry;
}

// The entry with the key. `is_new`: it has been added, and is not yet initialised.
ALLOCSCOPE_NOINLINE void* find_or_add(raw_table& in, std::size_t entry_bytes, std::uint64_t hash,
                                      same_key is_same, const void* key, bool& is_new) {
    void* found = find_entry(in, entry_bytes, hash, is_same, key);
    is_new = found == nullptr;
    return is_new ? add_entry(in, entry_bytes, hash) : found;
}

// Whether an entry, which begins with its key, has this key.
template <class Key>
bool has_key(const void* entry, const void* key) {
    return *static_cast<const Key*>(entry) == *static_cast<const Key*>(key);
}

// --- the table ---

// The part of a table that does not depend on the types of its entries.
class any_table {
public:
    ALLOCSCOPE_INLINE std::size_t size() const noexcept { return raw_.entries.size; }
    ALLOCSCOPE_INLINE bool empty() const noexcept { return raw_.entries.size == 0; }
    // Forgets the entries and their memory. Call it when all memory of the arena is given back.
    ALLOCSCOPE_NOINLINE void forget() noexcept {
        raw_ = {{raw_.entries.memory, nullptr, 0, 0}, nullptr, 0};
    }

protected:
    ALLOCSCOPE_NOINLINE constexpr any_table() noexcept
        : raw_{{nullptr, nullptr, 0, 0}, nullptr, 0} {}
    ALLOCSCOPE_NOINLINE explicit any_table(arena& memory) noexcept
        : raw_{{&memory, nullptr, 0, 0}, nullptr, 0} {}

    raw_table raw_;
};

template <class Key, class Value>
class table : public any_table {
public:
    struct entry {
        Key key;
        Value value;
    };

    ALLOCSCOPE_INLINE constexpr table() noexcept {}  // stays empty: it has no memory
    ALLOCSCOPE_INLINE explicit table(arena& memory) noexcept : any_table(memory) {}

    ALLOCSCOPE_INLINE entry* begin() const noexcept {
        return static_cast<entry*>(raw_.entries.values);
    }
    ALLOCSCOPE_INLINE entry* end() const noexcept { return begin() + raw_.entries.size; }

    // For callers that know how many keys there may be.
    ALLOCSCOPE_INLINE void reserve(std::size_t entries) { make_room(raw_, sizeof(entry), entries); }

    // Returns null when it is not there.
    ALLOCSCOPE_INLINE Value* find(const Key& key) const noexcept {
        void* found = find_entry(raw_, sizeof(entry), hash_of_key(key), &has_key<Key>, &key);
        return found != nullptr ? &static_cast<entry*>(found)->value : nullptr;
    }

    // Loads the slot of this key into the cache, because find() will need it soon.
    ALLOCSCOPE_INLINE void expect(const Key& key) const noexcept {
        if (raw_.count != 0) __builtin_prefetch(raw_.first + (hash_of_key(key) & (raw_.count - 1)));
    }

    struct place {
        Value& value;
        bool is_new;
    };

    // Returns the value of the key, value-initialised if the key was not there.
    ALLOCSCOPE_INLINE place insert(const Key& key) {
        static_assert(__is_trivially_copyable(entry), "entries are moved by memcpy");
        bool is_new = false;
        void* at = find_or_add(raw_, sizeof(entry), hash_of_key(key), &has_key<Key>, &key, is_new);
        if (is_new) ::new (at) entry{key, Value()};
        return {static_cast<entry*>(at)->value, is_new};
    }
    ALLOCSCOPE_INLINE Value& operator[](const Key& key) { return insert(key).value; }
};

}  // namespace plain

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_PLAIN_TABLE_HPP
