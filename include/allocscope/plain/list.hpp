// list.hpp - an array of values in the memory of an arena.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever several of something are gathered
// Threads:  one at a time
// Memory:   from its arena; when a list grows, its old place stays there until the arena is
//           released
//
// The values are moved by memcpy and never destroyed, so they must be trivially copyable. One
// function grows the lists of all types. A copy of a list is a second handle on the same values,
// and only one of the two may be added to.

#ifndef ALLOCSCOPE_PLAIN_LIST_HPP
#define ALLOCSCOPE_PLAIN_LIST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_MILD_BEGIN

namespace plain {

// A list in the form that functions without a type parameter use.
struct raw_list {
    arena* memory = nullptr;
    void* values = nullptr;
    std::size_t size = 0;
    std::size_t room = 0;
};

// In bytes. Smaller lists have no block of their own.
constexpr std::size_t large_list = std::size_t{32} * 1024;

ALLOCSCOPE_NOINLINE void grow_list(raw_list& grown, std::size_t value_bytes, std::size_t room) {
    std::size_t wanted = grown.room * 2;
    if (wanted < room) wanted = room;
    if (wanted > static_cast<std::size_t>(-1) / 2 / value_bytes) refuse_memory();
    const std::size_t bytes = wanted * value_bytes;
    if (!grown.memory->extend(grown.values, grown.room * value_bytes, bytes)) {
        void* larger = nullptr;
        if (grown.room * value_bytes >= large_list) {
            larger = grown.memory->move_and_extend(grown.values, bytes);
        }
        if (larger == nullptr) {
            larger = grown.memory->allocate(bytes);
            if (grown.size != 0) std::memcpy(larger, grown.values, grown.size * value_bytes);
        }
        grown.values = larger;
    }
    grown.room = wanted;
}

// Moves the values into `memory`, with no room for more.
ALLOCSCOPE_NOINLINE void move_list(raw_list& moved, std::size_t value_bytes, arena& memory) {
    void* const kept = moved.size != 0 ? memory.allocate(moved.size * value_bytes) : nullptr;
    if (moved.size != 0) std::memcpy(kept, moved.values, moved.size * value_bytes);
    moved = {&memory, kept, moved.size, moved.size};
}

// Adds one more value at the end, which is not yet initialised.
ALLOCSCOPE_NOINLINE void* add_to_list(raw_list& grown, std::size_t value_bytes) {
    if (grown.size == grown.room)
        grow_list(grown, value_bytes, grown.size < 4 ? 4 : grown.size + 1);
    return static_cast<char*>(grown.values) + value_bytes * grown.size++;
}

// Adds a copy of a value. The value may be one of the list's own, which move when the list grows.
ALLOCSCOPE_NOINLINE void* copy_to_list(raw_list& grown, const void* value,
                                       std::size_t value_bytes) {
    if (grown.size == grown.room) {
        const std::size_t at = reinterpret_cast<std::uintptr_t>(value) -
                               reinterpret_cast<std::uintptr_t>(grown.values);
        const bool is_own = at < grown.size * value_bytes;
        grow_list(grown, value_bytes, grown.size < 4 ? 4 : grown.size + 1);
        if (is_own) value = static_cast<const char*>(grown.values) + at;
    }
    void* const added = static_cast<char*>(grown.values) + value_bytes * grown.size++;
    return std::memcpy(added, value, value_bytes);
}

// Adds copies of `count` values that are not the list's own.
ALLOCSCOPE_NOINLINE void append_to_list(raw_list& grown, const void* values, std::size_t count,
                                        std::size_t value_bytes) {
    if (count == 0) return;
    const std::size_t size = grown.size + count;
    if (size > grown.room) grow_list(grown, value_bytes, size);
    std::memcpy(static_cast<char*>(grown.values) + value_bytes * grown.size, values,
                value_bytes * count);
    grown.size = size;
}

}  // namespace plain

ALLOCSCOPE_MILD_END

ALLOCSCOPE_COOL_BEGIN

namespace plain {

// The part of a list that does not depend on the type of its values.
class any_list {
public:
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE std::size_t size() const noexcept { return raw_.size; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool empty() const noexcept { return raw_.size == 0; }
    ALLOCSCOPE_INLINE void pop_back() noexcept { --raw_.size; }
    ALLOCSCOPE_INLINE void clear() noexcept { raw_.size = 0; }
    // Forgets the values after the first `size`.
    ALLOCSCOPE_INLINE void cut(std::size_t size) noexcept { raw_.size = size; }
    ALLOCSCOPE_INLINE arena& memory() const noexcept { return *raw_.memory; }

protected:
    ALLOCSCOPE_INLINE constexpr any_list() noexcept : raw_{nullptr, nullptr, 0, 0} {}
    ALLOCSCOPE_NOINLINE explicit any_list(arena& memory) noexcept : raw_{&memory, nullptr, 0, 0} {}

    raw_list raw_;
};

template <class T>
class list : public any_list {
public:
    ALLOCSCOPE_INLINE constexpr list() noexcept {}  // stays empty: it has no memory
    ALLOCSCOPE_INLINE explicit list(arena& memory) noexcept : any_list(memory) {}

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T* data() const noexcept {
        return static_cast<T*>(raw_.values);
    }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T* begin() const noexcept {
        return static_cast<T*>(raw_.values);
    }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T* end() const noexcept { return begin() + raw_.size; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T& operator[](std::size_t at) const noexcept {
        return static_cast<T*>(raw_.values)[at];
    }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T& front() const noexcept { return data()[0]; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE T& back() const noexcept { return end()[-1]; }

    // The reference to the new value is valid until the next one is added.
    ALLOCSCOPE_INLINE T& push_back(const T& value) {
        static_assert(__is_trivially_copyable(T), "values are moved by memcpy");
        static_assert(alignof(T) <= 16, "an arena aligns to 16 bytes");
        if constexpr (sizeof(T) > 2 * sizeof(void*)) {  // one function for all of these
            return *static_cast<T*>(copy_to_list(raw_, &value, sizeof(T)));
        } else {
            const T kept = value;  // it may be one of ours, and move
            return *static_cast<T*>(add_to_list(raw_, sizeof(T))) = kept;
        }
    }

    // Adds the values of another list.
    ALLOCSCOPE_INLINE void append(const T* values, std::size_t count) {
        append_to_list(raw_, values, count, sizeof(T));
    }
    ALLOCSCOPE_INLINE void append(const list& other) { append(other.data(), other.size()); }

    // The first time, makes room for exactly as many as are wanted.
    ALLOCSCOPE_INLINE void reserve(std::size_t room) {
        if (room > raw_.room) grow_list(raw_, sizeof(T), room);
    }

    // Moves to `memory` what was gathered in borrowed memory.
    ALLOCSCOPE_INLINE void move_to(arena& memory) { move_list(raw_, sizeof(T), memory); }

    // New values are value-initialised.
    ALLOCSCOPE_INLINE void resize(std::size_t size) {
        reserve(size);
        for (std::size_t i = raw_.size; i < size; ++i) ::new (data() + i) T();
        raw_.size = size;
    }
};

}  // namespace plain

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLAIN_LIST_HPP
