// resident_memory.hpp - which resident pages of a process are heap, stacks, programs or files.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by platform/memory_look.hpp and report/explain_memory.hpp
// Threads:  any; other threads of the process go on meanwhile
// Memory:   none; 16 KiB of stack
//
// The name of a mapping says what it is. A mapping without a name is searched, because the kernel
// joins neighbours that are alike into one mapping:
//
//     [ large block of malloc | large block of malloc | from mmap ......... | stack ..... ]
//       {0, size | 2}           {0, size | 2}                                 ^ guard page below
//
// - an arena of glibc begins at a multiple of 64 MiB with {arena, heap before, size, open size}
// - a large block of glibc begins at a page with {0, size | 2}; from glibc 2.43 on, this size is
//   without the last 16 bytes
// - a thread's stack lies above an inaccessible guard; its thread control block, which begins with
//   its own address, is at its upper end
// - a program's zeroed variables follow the last page of its file, up to where its headers say
//
// The kernel says how much of a part of a mapping is in memory. The parts of a mapping add up to
// what the kernel says of the whole mapping.

#ifndef ALLOCSCOPE_PLATFORM_RESIDENT_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_RESIDENT_MEMORY_HPP

#include <allocscope/config.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/pages_of_process.hpp>
#include <allocscope/platform/smaps_reader.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

#include <elf.h>  // Elf64_Ehdr, Elf64_Phdr

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Bytes in memory, unless a comment says otherwise.
struct resident_memory {
    std::uint64_t total = 0;  // of all mappings
    std::uint64_t swapped = 0;
    std::uint64_t heap = 0;        // of malloc's arenas
    std::uint64_t heap_size = 0;   // size of their address ranges
    std::uint64_t large = 0;       // of malloc's large blocks
    std::uint64_t large_size = 0;  // size of their address ranges
    std::uint64_t allocscope = 0;
    std::uint64_t program = 0;
    std::uint64_t files = 0;
    std::uint64_t shared = 0;
    std::uint64_t stacks = 0;
    std::uint64_t anonymous = 0;
    std::uint64_t unexplained = 0;
};

class resident_walk {
public:
    // `most_large`: how many bytes malloc has in large blocks; ~0: not known.
    resident_walk(const pages_of_process& pages, std::uint64_t usual_stack,
                  std::uint64_t most_large) noexcept
        : pages_(pages), usual_stack_(usual_stack), most_large_(most_large) {}

    // Returns false when the file cannot be read.
    bool walk(const char* smaps, resident_memory& into) noexcept {
        smaps_reader reader{smaps};
        mapping next;
        while (reader.next(next)) {
            add(next);
            sums_.total += next.resident;
            sums_.swapped += next.swapped;
            before_ = next;
        }
        end_file();
        into = sums_;
        return sums_.total != 0;
    }

private:
    static constexpr std::uint64_t arena_room = std::uint64_t{64} << 20U;
    static constexpr std::uint64_t uncounted_end = 16;

    // --- what a mapping is, by its name ---

    void add(const mapping& here) noexcept {
        const bool is_of_file = here.name[0] == '/' && !is_shared_memory(here);
        if (!is_of_file || here.inode != file_.inode || here.device != file_.device) {
            if (is_of_file || here.low != file_.high) end_file();
        }
        if (is_of_file) {
            add_to_file(here);
        } else if (here.is_named("/memfd:allocscope")) {
            sums_.allocscope += here.resident;
        } else if (is_shared_memory(here)) {
            sums_.shared += here.resident;
        } else if (here.is_named("[stack")) {
            sums_.stacks += here.resident;
        } else if (here.is_named("[vdso]")) {
            sums_.program += here.resident;
        } else if (here.is_named("[heap]")) {
            add_heap(here);
        } else if (here.name[0] == '\0' || here.is_named("[anon:")) {
            add_anonymous(here);
        } else {
            sums_.unexplained += here.resident;
        }
    }

    static bool is_shared_memory(const mapping& here) noexcept {
        if (here.name[0] != '/') return here.is_shared && !here.is_named("anon_inode:");
        return here.is_named("/memfd:") || here.is_named("/dev/shm/") || here.is_named("/SYSV") ||
               here.is_named("/dev/zero");
    }

    // --- files: a file with an executable mapping is a program ---

    struct file {
        std::uint64_t device = 0, inode = 0;
        std::uint64_t low = 0, high = 0;
        std::uint64_t resident = 0;
        bool is_program = false;
    };

    void add_to_file(const mapping& here) noexcept {
        if (file_.resident == 0 && file_.high == 0) {
            file_.device = here.device;
            file_.inode = here.inode;
            file_.low = here.low;
        }
        file_.high = here.high;
        file_.resident += here.resident;
        file_.is_program = file_.is_program || here.is_executable;
    }
    void end_file() noexcept {
        (file_.is_program ? sums_.program : sums_.files) += file_.resident;
        file_ = file{};
    }

    // Where the zeroed variables of the program that was just met end; 0 when it has none here.
    std::uint64_t end_of_variables(const mapping& here) const noexcept {
        Elf64_Ehdr head;
        if (!file_.is_program || here.low != file_.high) return 0;
        if (!pages_.read(file_.low, head) || head.e_phentsize != sizeof(Elf64_Phdr)) return 0;
        if (head.e_ident[0] != 0x7f || head.e_ident[EI_CLASS] != ELFCLASS64) return 0;
        std::uint64_t base = 0;
        std::uint64_t end = 0;
        bool has_base = false;
        for (unsigned i = 0; i < head.e_phnum; ++i) {
            Elf64_Phdr segment;
            if (!pages_.read(file_.low + head.e_phoff + i * sizeof segment, segment)) return 0;
            if (segment.p_type != PT_LOAD) continue;
            if (!has_base) base = file_.low - (segment.p_vaddr & ~std::uint64_t{page_bytes - 1});
            has_base = true;
            if (segment.p_vaddr + segment.p_memsz > end) end = segment.p_vaddr + segment.p_memsz;
        }
        end = whole_pages_up(base + end);
        if (end <= here.low) return 0;
        return end < here.high ? end : here.high;
    }
    static std::uint64_t whole_pages_up(std::uint64_t address) noexcept {
        return (address + page_bytes - 1) & ~std::uint64_t{page_bytes - 1};
    }

    // --- mappings without a name: the parts together have what the mapping has ---

    // Takes the bytes of [low, high) that are in memory, at most what is left of the mapping.
    std::uint64_t take(std::uint64_t low, std::uint64_t high) noexcept {
        if (left_ == 0) return 0;
        const std::uint64_t found = pages_.resident(low, high);
        const std::uint64_t taken = found < left_ ? found : left_;
        left_ -= taken;
        return taken;
    }

    void add_heap(const mapping& here) noexcept {
        left_ = here.resident;
        const std::uint64_t variables = end_of_variables(here);
        if (variables != 0) sums_.program += take(here.low, variables);
        sums_.heap += left_;
        sums_.heap_size += here.high - (variables != 0 ? variables : here.low);
    }

    void add_anonymous(const mapping& here) noexcept {
        left_ = here.resident;
        const bool is_writable = here.is_readable && here.is_writable && !here.is_executable;
        if (here.is_not_dumped && here.is_never_huge) {
            sums_.allocscope += left_;
        } else if (is_writable && left_ != 0) {
            std::uint64_t low = here.low;
            if (const std::uint64_t end = end_of_variables(here)) {
                sums_.program += take(low, end);
                low = end;
            } else if (is_guarded(here)) {
                const std::uint64_t end_of_stack = find_end_of_stack(here);
                sums_.stacks += end_of_stack == here.high ? left_ : take(low, end_of_stack);
                low = end_of_stack;
                if (low == here.high) left_ = 0;
            }
            find_heap(low, here.high);
            sums_.anonymous += left_;
        } else {
            sums_.anonymous += left_;
        }
    }

    // --- stacks ---

    bool is_guarded(const mapping& here) const noexcept {
        constexpr std::uint64_t largest_guard = std::uint64_t{1} << 20U;
        const bool is_guard = before_.high == here.low && !before_.is_readable &&
                              !before_.is_writable && !before_.is_executable &&
                              before_.name[0] == '\0' && before_.size() <= largest_guard;
        return is_guard && here.low != end_of_arena_;
    }

    bool is_control_block_in(std::uint64_t page) const noexcept {
        std::uint64_t words[page_bytes / 8];
        if (!pages_.read(page, words)) return false;
        for (std::size_t i = 0; i + 2 < page_bytes / 8; i += 8) {
            const std::uint64_t own = page + i * 8;
            if (words[i] == own && words[i + 2] == own) return true;
        }
        return false;
    }

    // Kernels before Linux 6.7 make one mapping of a stack and of what lies above it.
    std::uint64_t find_end_of_stack(const mapping& here) const noexcept {
        if (here.high - before_.low <= usual_stack_) return here.high;
        if (is_control_block_in(here.high - page_bytes)) return here.high;
        const std::uint64_t usual = before_.low + usual_stack_;
        return usual > here.low ? usual : here.high;
    }

    // --- malloc ---

    struct arena_head {
        std::uint64_t arena, heap_before, size, open_size;
    };

    // Size of the address range of the glibc arena that begins here; 0 when none begins here.
    std::uint64_t size_of_arena(std::uint64_t low, std::uint64_t high) const noexcept {
        arena_head head;
        if (low % arena_room != 0 || !pages_.read(low, head)) return 0;
        const bool is_own = head.arena - low < 256;  // the arena itself lies in its first heap
        const bool is_later = head.heap_before != 0 && head.heap_before % arena_room == 0 &&
                              head.arena % arena_room < 256 && head.arena >= arena_room;
        if (!is_own && !is_later) return 0;
        if (head.size == 0 || head.size > head.open_size || head.open_size > arena_room) return 0;
        if (head.open_size % page_bytes != 0 || low + head.open_size > high) return 0;
        return head.open_size;
    }

    std::uint64_t size_of_large_block(const pages_of_process::first_words& words, std::uint64_t low,
                                      std::uint64_t high) const noexcept {
        const std::uint64_t counted = words.word[1] - 2;
        const std::uint64_t size = whole_pages_up(counted);
        const bool is_whole = counted == size || counted + uncounted_end == size;
        if (words.word[0] != 0 || size == 0 || !is_whole || size > high - low) return 0;
        return size <= most_large_ ? size : 0;
    }

    void find_heap(std::uint64_t low, std::uint64_t high) noexcept {
        std::uint64_t free_from = low;  // everything below is known
        while (low < high && left_ != 0) {
            if (most_large_ == 0 && low % arena_room != 0) {  // only an arena can follow
                low = (low | (arena_room - 1)) + 1;
                continue;
            }
            bool present[pages_of_process::most_at_once];
            pages_of_process::first_words words[pages_of_process::most_at_once];
            const std::size_t count = pages_of_process::pages_at_once(low, high);
            pages_.find_present(low, count, present);
            pages_.read_first_words(low, count, present, words);
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t page = low + i * page_bytes;
                if (present[i] && page >= free_from) free_from = add_heap_at(page, high, words[i]);
            }
            low += count * page_bytes;
            if (free_from > low) low = free_from;
        }
    }

    // Returns where the thing that begins here ends; the page itself when it is not malloc's.
    std::uint64_t add_heap_at(std::uint64_t page, std::uint64_t high,
                              const pages_of_process::first_words& words) noexcept {
        if (const std::uint64_t size = size_of_arena(page, high)) {
            sums_.heap += take(page, page + size);
            sums_.heap_size += size;
            end_of_arena_ = page + arena_room;
            return page + size;
        }
        if (const std::uint64_t size = size_of_large_block(words, page, high)) {
            sums_.large += take(page, page + size);
            sums_.large_size += size;
            if (most_large_ != ~std::uint64_t{0}) most_large_ -= size;
            return page + size;
        }
        return page;
    }

    const pages_of_process& pages_;
    std::uint64_t usual_stack_;
    std::uint64_t most_large_;
    resident_memory sums_;
    mapping before_;
    file file_;
    std::uint64_t left_ = 0;  // of the mapping, and in no part yet
    std::uint64_t end_of_arena_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_RESIDENT_MEMORY_HPP
