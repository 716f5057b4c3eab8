// met_modules.hpp - the modules that appeared on a stack and may be unloaded, kept for good.
//
// Room:     platform (floor 1), malloc-safe
// Called:   note() by unwind/module_identity.hpp, when a walk met such a module; read by symbols/
//           and naming/
// Threads:  any, lock-free; a module that was noted is never changed or removed
// Memory:   two tables of 48 KiB for records and 64 KiB for paths, of which only what is used is
//           touched
//
// A plugin may be unloaded before the names of its code are needed, and another plugin may then lie
// at its addresses. The notes say which module an old address belongs to:
//
//     start, size     where the module lay
//     fingerprint     which module it was (binary/module_fingerprint.hpp)
//     base, path      how its file is read
//
// One module at one place is noted once; two threads that note it at the same time may do so twice.

#ifndef ALLOCSCOPE_PLATFORM_MET_MODULES_HPP
#define ALLOCSCOPE_PLATFORM_MET_MODULES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy, strlen

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// What each frame in a module adds to the sum over its stack (base/hash_mix.hpp). So one return
// address in two modules makes two sites.
inline std::uint64_t module_tag(std::uintptr_t start, std::uint64_t fingerprint) noexcept {
    return hash_finish(hash_step(fingerprint, start));
}

// Without initialisers, because compilers would write out those of a thousand objects.
struct met_module {
    std::uintptr_t start;
    std::uintptr_t size;
    std::uintptr_t base;        // run-time address minus linked address
    std::uint64_t fingerprint;  // 0: there is nothing to compute it from
    const char* path;           // as the loader knows it; "" when it was too long to keep
    std::uint32_t number;       // from 1
    bool has_build_id;

    ALLOCSCOPE_PURE bool holds(std::uintptr_t address) const noexcept {
        return address - start < size;
    }
    ALLOCSCOPE_INLINE std::uint64_t tag() const noexcept { return module_tag(start, fingerprint); }
};

// On pages of its own: see state/recording_head.hpp.
class alignas(page_bytes) met_modules {
public:
    static constexpr std::uint32_t most = 1024;

    // `seen` and its path must stay loaded meanwhile. Nothing is noted when there is no room. The
    // first module gets the number `first`.
    void note(const met_module& seen, std::uint32_t first = 1) noexcept {
        if (find(seen) != nullptr) return;
        const std::uint32_t at = taken_.fetch_add(1, memory_order::relaxed);
        if (at >= most) {
            taken_.store(most, memory_order::relaxed);
            return;
        }
        met_module& made = modules_[at];
        made = seen;
        made.number = first + at;
        made.path = keep(seen.path);
        is_ready_[at].store(true, memory_order::release);
    }

    // The first module noted of those that held the address; null when there is none.
    const met_module* holder_of(std::uintptr_t address) const noexcept {
        for (std::uint32_t i = 0; i < count(); ++i) {
            const met_module* each = at(i);
            if (each != nullptr && each->holds(address)) return each;
        }
        return nullptr;
    }

    // How many there may be. at() returns null for those that are not complete yet.
    std::uint32_t count() const noexcept {
        const std::uint32_t taken = taken_.load(memory_order::relaxed);
        return taken < most ? taken : most;
    }
    const met_module* at(std::uint32_t index) const noexcept {
        return is_ready_[index].load(memory_order::acquire) ? &modules_[index] : nullptr;
    }

    // Called in a copy of what lay at `address`: makes the paths point into the copy.
    void move_from(std::uintptr_t address) noexcept {
        const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(this) - address;
        for (std::uint32_t i = 0; i < count(); ++i) {
            const char*& path = modules_[i].path;
            const std::uintptr_t old = reinterpret_cast<std::uintptr_t>(path);
            const bool is_kept = old - address < sizeof *this;
            path = is_kept ? reinterpret_cast<const char*>(old + distance) : "";
        }
    }

private:
    static constexpr std::uint32_t text_bytes = std::uint32_t{64} << 10U;

    const met_module* find(const met_module& wanted) const noexcept {
        for (std::uint32_t i = count(); i > 0; --i) {
            const met_module* known = at(i - 1);
            if (known != nullptr && known->start == wanted.start && known->size == wanted.size &&
                known->fingerprint == wanted.fingerprint) {
                return known;
            }
        }
        return nullptr;
    }

    const char* keep(const char* path) noexcept {
        const std::size_t bytes = std::strlen(path) + 1;
        if (bytes > text_bytes) return "";
        const std::uint32_t at =
            text_used_.fetch_add(static_cast<std::uint32_t>(bytes), memory_order::relaxed);
        if (at > text_bytes || bytes > text_bytes - at) {
            text_used_.store(text_bytes, memory_order::relaxed);
            return "";
        }
        std::memcpy(texts_ + at, path, bytes);
        return texts_ + at;
    }

    // All zero at first, so that it takes no room in the program's file.
    atomic<std::uint32_t> taken_{0};
    atomic<std::uint32_t> text_used_{0};
    atomic<bool> is_ready_[most] = {};
    met_module modules_[most] = {};
    char texts_[text_bytes] = {};
};

ALLOCSCOPE_HIDDEN inline met_modules modules_met;

// For a report about another process: the modules that were loaded when the recording of that
// process began, the program first. Otherwise empty. Numbered from `number_at_start` on.
ALLOCSCOPE_HIDDEN inline met_modules modules_at_start;
constexpr std::uint32_t number_at_start = met_modules::most + 2;

inline bool names_another_process() noexcept {
    return modules_at_start.count() != 0;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_MET_MODULES_HPP
