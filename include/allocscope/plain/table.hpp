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
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // memcmp, memcpy, memset

ALLOCSCOPE_MILD_BEGIN

namespace plain {

// --- keys ---

ALLOCSCOPE_NOINLINE std::uint64_t hash_of_key(std::uint64_t key) noexcept {
    return detail::hash_finish(detail::hash_step(detail::hash_seed, key));
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
};

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

// What the core knows about entries. Each begins with its key.
struct entry_shape {
    std::size_t entry_bytes;
    std::size_t key_bytes;
    std::uint64_t (*hash_of)(const void* key, std::size_t key_bytes);
    bool (*has_key)(const void* entry, const void* key, std::size_t key_bytes);
};

// Returns null when it is not there. Throws only what the functions of the shape throw.
ALLOCSCOPE_INLINE void* find_hashed(const raw_table& in, const entry_shape& shape, const void* key,
                                    std::uint64_t hash) {
    if (in.count == 0) return nullptr;
    const std::size_t mask = in.count - 1;
    const auto lower = static_cast<std::uint32_t>(hash);
    for (std::size_t at = lower & mask;; at = (at + 1) & mask) {
        const raw_table::slot& found = in.first[at];
        if (found.entry == 0) return nullptr;
        if (found.hash != lower) continue;
        void* entry = static_cast<char*>(in.entries.values) + (found.entry - 1) * shape.entry_bytes;
        if (shape.has_key(entry, key, shape.key_bytes)) return entry;
    }
}
ALLOCSCOPE_NOINLINE void* find_entry(const raw_table& in, const entry_shape& shape,
                                     const void* key) {
    return find_hashed(in, shape, key, shape.hash_of(key, shape.key_bytes));
}

// Loads the slot of a key into the cache.
ALLOCSCOPE_NOINLINE void expect_entry(const raw_table& in, const entry_shape& shape,
                                      const void* key) noexcept {
    const std::uint64_t hash = shape.hash_of(key, shape.key_bytes);
    if (in.count != 0) __builtin_prefetch(in.first + (hash & (in.count - 1)));
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

// The entry with the key. `is_new`: it has been added, and all bytes behind the key are zero.
ALLOCSCOPE_NOINLINE void* find_or_add(raw_table& in, const entry_shape& shape, const void* key,
                                      bool& is_new) {
    const std::uint64_t hash = shape.hash_of(key, shape.key_bytes);
    void* const found = find_hashed(in, shape, key, hash);
    is_new = found == nullptr;
    if (!is_new) return found;
    void* const added = add_entry(in, shape.entry_bytes, hash);
    std::memset(added, 0, shape.entry_bytes);
    return std::memcpy(added, key, shape.key_bytes);
}

// Numbers and pointers are words for the core.
ALLOCSCOPE_NOINLINE std::uint64_t hash_of_word(const void* key, std::size_t /*key_bytes*/) {
    std::uint64_t word = 0;
    std::memcpy(&word, key, sizeof word);
    return detail::hash_finish(detail::hash_step(detail::hash_seed, word));
}
ALLOCSCOPE_NOINLINE bool has_word(const void* entry, const void* key, std::size_t /*key_bytes*/) {
    return std::memcmp(entry, key, sizeof(std::uint64_t)) == 0;
}
// Keys by_bytes are nothing but bytes.
ALLOCSCOPE_NOINLINE std::uint64_t hash_of_bytes(const void* key, std::size_t key_bytes) {
    std::uint64_t hash = detail::hash_seed;
    std::uint64_t word = 0;
    std::size_t at = 0;
    for (; at + sizeof word <= key_bytes; at += sizeof word) {
        std::memcpy(&word, static_cast<const char*>(key) + at, sizeof word);
        hash = detail::hash_step(hash, word);
    }
    if (at != key_bytes) {
        word = 0;
        std::memcpy(&word, static_cast<const char*>(key) + at, key_bytes - at);
        hash = detail::hash_step(hash, word);
    }
    return detail::hash_finish(hash);
}
ALLOCSCOPE_NOINLINE bool has_bytes(const void* entry, const void* key, std::size_t key_bytes) {
    return std::memcmp(entry, key, key_bytes) == 0;
}
template <class Key>
std::uint64_t hash_at(const void* key, std::size_t /*key_bytes*/) {
    return hash_of_key(*static_cast<const Key*>(key));
}
template <class Key>
bool has_key(const void* entry, const void* key, std::size_t /*key_bytes*/) {
    return *static_cast<const Key*>(entry) == *static_cast<const Key*>(key);
}
template <std::size_t EntryBytes, class Key>
ALLOCSCOPE_HIDDEN inline constexpr entry_shape shape_of_entry = {EntryBytes, sizeof(Key),
                                                                 &hash_at<Key>, &has_key<Key>};
template <std::size_t EntryBytes>
ALLOCSCOPE_HIDDEN inline constexpr entry_shape shape_of_entry<EntryBytes, std::uint64_t> = {
    EntryBytes, sizeof(std::uint64_t), &hash_of_word, &has_word};
template <std::size_t EntryBytes, class T>
ALLOCSCOPE_HIDDEN inline constexpr entry_shape shape_of_entry<EntryBytes, T*> = {
    EntryBytes, sizeof(T*), &hash_of_word, &has_word};
template <std::size_t EntryBytes, class Key>
ALLOCSCOPE_HIDDEN inline constexpr entry_shape shape_of_entry<EntryBytes, by_bytes<Key>> = {
    EntryBytes, sizeof(Key), &hash_of_bytes, &has_bytes};

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
        void* found = find_entry(raw_, shape_of_entry<sizeof(entry), Key>, &key);
        return found != nullptr ? &static_cast<entry*>(found)->value : nullptr;
    }

    // For callers that will find() this key soon.
    ALLOCSCOPE_INLINE void expect(const Key& key) const noexcept {
        expect_entry(raw_, shape_of_entry<sizeof(entry), Key>, &key);
    }

    struct place {
        Value& value;
        bool is_new;
    };

    // Returns the value of the key, value-initialised if the key was not there.
    ALLOCSCOPE_INLINE place insert(const Key& key) {
        static_assert(__is_trivially_copyable(entry), "entries are moved by memcpy");
        bool is_new;
        auto* at = static_cast<entry*>(
            find_or_add(raw_, shape_of_entry<sizeof(entry), Key>, &key, is_new));
        if constexpr (!__is_trivially_constructible(Value)) {
            if (is_new) ::new (&at->value) Value();
        }
        return {at->value, is_new};
    }
    ALLOCSCOPE_INLINE Value& operator[](const Key& key) { return insert(key).value; }
};

}  // namespace plain

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_PLAIN_TABLE_HPP
