// allocation_tags.hpp - the family of an allocation and, where it is known, its type.
//
// Room:     tables (floor 2), malloc-safe
// Called:   with each report of a pool while a window is open; read when rows are named
// Threads:  any, without locks; a tag is never changed or removed
// Memory:   64 to 192 bytes for each pair of a family and a type, for as long as the process lives;
//           addresses for 1 MiB when the first pool is reported
//
//     number   0                1          2                 3 ...
//     family   "operator new"   "malloc"   "other pools"     as reported: "arena", "arena"
//     type     ""               ""         ""                ""      "app::widget"
//
// The site stores the number (tables/site_table.hpp), so a cohort and all sums know their family.
// Hooks of another family than operator new's pass its number to find_cohort(), and have a
// find_changed() of their own.
//
// The number of a family is that of its tag without a type. Texts are copied, because the module
// that contains a text may be unloaded.

#ifndef ALLOCSCOPE_TABLES_ALLOCATION_TAGS_HPP
#define ALLOCSCOPE_TABLES_ALLOCATION_TAGS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // memcmp, memcpy, strncmp

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct allocation_tag {
    const char* family;
    const char* type;  // "" when it is not known
    std::size_t family_length;
    std::size_t type_length;
    std::uint64_t hash;
    std::uint32_t family_number;
    std::uint32_t number;
    atomic<allocation_tag*> next;
};

class allocation_tags {
public:
    static constexpr std::uint32_t operator_new = 0;
    static constexpr std::uint32_t malloc_family = 1;
    static constexpr std::uint32_t other_pools =
        2;  // pools without a name, or without memory for it
    static constexpr std::uint32_t first_pool = 3;
    static constexpr std::uint32_t most = 65535;
    static constexpr std::size_t longest_family = 63;  // longer texts are cut
    static constexpr std::size_t longest_type = 1023;

    static ALLOCSCOPE_INLINE constexpr const char* family_of_fixed(std::uint32_t number) noexcept {
        return number == operator_new    ? "operator new"
               : number == malloc_family ? "malloc"
                                         : "other pools";
    }

    // The number of the pair, which is added if it is new. If there is no room for the type, the
    // number of the family; if there is none for the family, other_pools.
    std::uint32_t number_of(const char* family, const char* type,
                            std::size_t type_length) noexcept {
        if (family == nullptr || family[0] == '\0') family = family_of_fixed(other_pools);
        const std::size_t family_length = length_of_cut(family, longest_family);
        type_length = shorter(type_length, longest_type);
        if (const allocation_tag* known = find(family, family_length, type, type_length)) {
            return known->number;
        }
        const std::uint32_t own = add(family, family_length, "", 0, 0);
        if (own == 0) {
            has_refused_any_.store(true, memory_order::relaxed);
            return other_pools;
        }
        if (type_length == 0) return own;
        const std::uint32_t typed = add(family, family_length, type, type_length, own);
        return typed == 0 ? own : typed;
    }

    ALLOCSCOPE_INLINE const char* family_of(std::uint32_t number) const noexcept {
        const allocation_tag* tag = by_number(number);
        return tag != nullptr ? tag->family : family_of_fixed(number);
    }
    // "" when it is not known.
    ALLOCSCOPE_INLINE const char* type_of(std::uint32_t number) const noexcept {
        const allocation_tag* tag = by_number(number);
        return tag != nullptr ? tag->type : "";
    }
    ALLOCSCOPE_INLINE std::uint32_t family_number_of(std::uint32_t number) const noexcept {
        const allocation_tag* tag = by_number(number);
        return tag != nullptr ? tag->family_number : number;
    }
    // An empty name means the same as to number_of().
    ALLOCSCOPE_INLINE bool is_of_family(std::uint32_t number, const char* family) const noexcept {
        if (family[0] == '\0') family = family_of_fixed(other_pools);
        const char* const own = family_of(number);
        const std::size_t length = length_of_cut(family, longest_family);
        return std::strncmp(own, family, length) == 0 && own[length] == '\0';
    }
    // Whether objects of pools with names may be in other_pools.
    ALLOCSCOPE_INLINE bool has_refused_any() const noexcept {
        return has_refused_any_.load(memory_order::relaxed);
    }
    // False: all that was ever allocated belongs to operator new.
    ALLOCSCOPE_INLINE bool has_families() const noexcept {
        return has_malloc_.load(memory_order::relaxed) ||
               tables_.load(memory_order::acquire) != nullptr;
    }
    // For hooks of malloc, before the first window. They pass `malloc_family` to find_cohort().
    void note_malloc_family() noexcept { has_malloc_.store(true, memory_order::relaxed); }
    ALLOCSCOPE_INLINE bool has_malloc_family() const noexcept {
        return has_malloc_.load(memory_order::relaxed);
    }

private:
    using tag_pointer = atomic<allocation_tag*>;
    static constexpr std::size_t bucket_count = 4096;
    struct tables {
        tag_pointer buckets[bucket_count];
        tag_pointer by_number[most + 1];
    };

    static std::size_t shorter(std::size_t length, std::size_t limit) noexcept {
        return length < limit ? length : limit;
    }

    static std::uint64_t hash_of(const char* text, std::size_t length,
                                 std::uint64_t hash) noexcept {
        for (; length >= sizeof(std::uint64_t); length -= sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, text, sizeof word);
            hash = hash_finish(hash_step(hash, word));
            text += sizeof word;
        }
        std::uint64_t rest = length;
        for (; length != 0; --length) rest = rest << 8U | static_cast<unsigned char>(*text++);
        return hash_finish(hash_step(hash, rest));
    }

    const allocation_tag* by_number(std::uint32_t number) const noexcept {
        const tables* all = tables_.load(memory_order::acquire);
        if (all == nullptr || number > most) return nullptr;
        return all->by_number[number].load(memory_order::acquire);
    }

    static allocation_tag* find_in(allocation_tag* from, std::uint64_t hash, const char* family,
                                   std::size_t family_length, const char* type,
                                   std::size_t type_length) noexcept {
        for (allocation_tag* t = from; t != nullptr; t = t->next.load(memory_order::relaxed)) {
            if (t->hash == hash && t->family_length == family_length &&
                t->type_length == type_length &&
                std::memcmp(t->family, family, family_length) == 0 &&
                std::memcmp(t->type, type, type_length) == 0) {
                return t;
            }
        }
        return nullptr;
    }

    const allocation_tag* find(const char* family, std::size_t family_length, const char* type,
                               std::size_t type_length) const noexcept {
        const tables* all = tables_.load(memory_order::acquire);
        if (all == nullptr) return nullptr;
        const std::uint64_t hash = hash_of(type, type_length, hash_of(family, family_length, 0));
        return find_in(all->buckets[hash % bucket_count].load(memory_order::acquire), hash, family,
                       family_length, type, type_length);
    }

    ALLOCSCOPE_INLINE tables* prepared() noexcept {
        tables* all = tables_.load(memory_order::acquire);
        if (all != nullptr) return all;
        void* pages = reserve_pages(sizeof(tables));
        if (pages == nullptr) return nullptr;
        if (tables_.compare_exchange_strong(all, static_cast<tables*>(pages),
                                            memory_order::acq_rel)) {
            return static_cast<tables*>(pages);
        }
        return_reservation(pages, sizeof(tables));
        return all;
    }

    ALLOCSCOPE_INLINE const char* copy(const char* text, std::size_t length) noexcept {
        if (length == 0) return "";
        auto* made = static_cast<char*>(texts_.allocate(length + 1));  // zeroed
        if (made != nullptr) std::memcpy(made, text, length);
        return made;
    }

    // Returns 0 when there is no room. `family_number` 0: the tag is a family of its own. If two
    // threads add the same new pair, the second finds that of the first, and one number stays
    // unused.
    ALLOCSCOPE_SLOW_PATH std::uint32_t add(const char* family, std::size_t family_length,
                                           const char* type, std::size_t type_length,
                                           std::uint32_t family_number) noexcept {
        if (const allocation_tag* known = find(family, family_length, type, type_length)) {
            return known->number;
        }
        tables* const all = prepared();
        if (all == nullptr || next_number_.load(memory_order::relaxed) > most) return 0;
        auto* fresh = static_cast<allocation_tag*>(texts_.allocate(sizeof(allocation_tag)));
        if (fresh == nullptr) return 0;
        fresh->family = copy(family, family_length);
        fresh->type = copy(type, type_length);
        if (fresh->family == nullptr || fresh->type == nullptr) return 0;
        fresh->family_length = family_length;
        fresh->type_length = type_length;
        fresh->hash = hash_of(type, type_length, hash_of(family, family_length, 0));
        fresh->number = next_number_.fetch_add(1, memory_order::relaxed);
        if (fresh->number > most) {
            next_number_.fetch_sub(1, memory_order::relaxed);
            return 0;
        }
        fresh->family_number = family_number == 0 ? fresh->number : family_number;
        all->by_number[fresh->number].store(fresh, memory_order::release);
        tag_pointer& place = all->buckets[fresh->hash % bucket_count];
        allocation_tag* seen = place.load(memory_order::acquire);
        do {
            if (const allocation_tag* known =
                    find_in(seen, fresh->hash, family, family_length, type, type_length)) {
                return known->number;
            }
            fresh->next.store(seen, memory_order::relaxed);
            // Release: a thread that finds the tag sees its texts.
        } while (!place.compare_exchange_weak(seen, fresh, memory_order::acq_rel));
        return fresh->number;
    }

    atomic<tables*> tables_{nullptr};
    atomic<bool> has_malloc_{false};
    atomic<bool> has_refused_any_{false};
    atomic<std::uint32_t> next_number_{first_pool};
    page_arena texts_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_TABLES_ALLOCATION_TAGS_HPP
