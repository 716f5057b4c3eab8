// memory_look.hpp - one look at the memory of a process: what is resident, and what malloc says.
//
// Room:     platform (floor 1), not for use inside a hook: asks malloc
// Called:   by report/explain_memory.hpp; by the command; by the library that the command puts into
//           a program, which passes the result on in state/recording_head.hpp
// Threads:  any; other threads go on meanwhile
// Memory:   none; 16 KiB of stack

#ifndef ALLOCSCOPE_PLATFORM_MEMORY_LOOK_HPP
#define ALLOCSCOPE_PLATFORM_MEMORY_LOOK_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/malloc_numbers.hpp>
#include <allocscope/platform/pages_of_process.hpp>
#include <allocscope/platform/resident_memory.hpp>

#include <cstdint>  // uint64_t

#include <sys/resource.h>  // getrlimit
#include <sys/types.h>     // pid_t
#include <unistd.h>        // getpid

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct memory_look {
    malloc_numbers known;
    resident_memory found;
};

// How large the stack of a thread is if the program did not choose a size.
inline std::uint64_t usual_stack_bytes() noexcept {
    constexpr std::uint64_t usual = std::uint64_t{8} << 20U;
    struct rlimit limit = {};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return usual;
    return limit.rlim_cur;
}

// Returns false when /proc cannot be read.
inline bool look_at_own_memory(memory_look& into) noexcept {
    into.known = read_malloc_numbers();
    const pages_of_process pages{::getpid(), "/proc/self/pagemap"};
    const bool is_glibc = into.known.kind == malloc_kind::glibc;
    resident_walk walk{pages, usual_stack_bytes(), is_glibc ? into.known.mapped_bytes : 0};
    return walk.walk("/proc/self/smaps", into.found);
}

// "/proc/PID/NAME".
class path_in_proc {
public:
    path_in_proc(pid_t process_id, const char* name) noexcept {
        fixed_text path{path_, sizeof path_ - 1};
        path.append("/proc/");
        path.append_decimal(static_cast<std::uint64_t>(process_id));
        path.append('/');
        path.append(name);
    }
    const char* path() const noexcept { return path_; }

private:
    char path_[64] = {};
};

// Looks at another process, whose malloc cannot be asked. Returns false when that process has
// ended, or may not be looked at.
inline bool look_at_memory_of(pid_t process_id, memory_look& into) noexcept {
    into.known = malloc_numbers{};
    const pages_of_process pages{process_id, path_in_proc{process_id, "pagemap"}.path()};
    resident_walk walk{pages, usual_stack_bytes(), ~std::uint64_t{0}};
    return walk.walk(path_in_proc{process_id, "smaps"}.path(), into.found);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_MEMORY_LOOK_HPP
