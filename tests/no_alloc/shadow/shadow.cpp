// Watches a program of the tests from outside: every call of malloc and its family, from whatever
// code. It looks up the stack for functions of ours, past code of others that has no such function,
// as the C library and the C++ library. If it finds some, or an operator or malloc that the program
// defines, the stack up to the first function of the test is written to the file
// ALLOCSCOPE_SHADOW, once. shadow.py loads this library, reads the file and knows what is allowed.
//
// What is ours is known by the symbol tables alone: of the program, of the modules that it opens,
// and of the library that `allocscope run` loads into programs of others. Nothing of allocscope is
// used here. Neither is a library that those programs do not have anyway: see CMakeLists.txt.

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

enum class kind : unsigned char { outside, library, ours, others };

struct function {
    std::uintptr_t begin;
    std::uintptr_t end;
    kind is;
};

struct module {
    const link_map* loaded;  // the two by which it is known again
    const void* dynamic;
    std::uintptr_t base;              // what its symbols are relative to
    std::uint64_t inode, changed_ns;  // of the file: tests compile another one of the same name
    function* functions;              // null: none of them is ours
    std::size_t function_count;
};

constexpr std::size_t most_modules = 1024;
module modules[most_modules];
std::atomic<std::size_t> module_count{0};
std::atomic_flag modules_are_written = ATOMIC_FLAG_INIT;
std::atomic<bool> is_any_ours{false};
std::atomic<bool> has_begun{false};
char program_path[1024];
__attribute__((tls_model("initial-exec"))) thread_local bool is_busy = false;

// --- the symbol tables ---

bool begins(const char* name, const char* beginning) {
    return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
}

kind kind_of(const char* name) {
    static const char* const requests[] = {"malloc",  "free",          "calloc",
                                           "realloc", "memalign",      "valloc",
                                           "pvalloc", "aligned_alloc", "posix_memalign"};
    for (const char* each : requests) {
        if (std::strcmp(name, each) == 0) return kind::ours;
    }
    if (!begins(name, "_Z")) return kind::others;
    const char* at = name + 2;
    if (begins(at, "nw") || begins(at, "na") || begins(at, "dl") || begins(at, "da")) {
        return kind::ours;
    }
    while (*at == 'Z') ++at;
    if (*at == 'N') ++at;
    while (*at == 'K' || *at == 'V' || *at == 'r' || *at == 'R' || *at == 'O') ++at;
    if (begins(at, "10allocscope")) return kind::ours;
    const bool is_standard = begins(at, "St") || begins(at, "Sa") || begins(at, "Ss") ||
                             begins(at, "So") || begins(at, "Si") || begins(at, "9__gnu_cxx");
    return is_standard ? kind::library : kind::others;
}

// Reads the symbol table of a file, if there is a function of ours in it.
void read_symbols(const char* file, std::size_t size, bool is_all_ours, module& into) {
    if (size < sizeof(Elf64_Ehdr) || std::memcmp(file, ELFMAG, SELFMAG) != 0) return;
    const auto& head = *reinterpret_cast<const Elf64_Ehdr*>(file);
    if (head.e_shoff == 0 || head.e_shoff + head.e_shnum * sizeof(Elf64_Shdr) > size) return;
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + head.e_shoff);
    const auto* const table =
        std::find_if(sections, sections + head.e_shnum,
                     [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
    if (table == sections + head.e_shnum) return;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + table->sh_offset);
    const char* texts = file + sections[table->sh_link].sh_offset;
    const std::size_t room = table->sh_size / sizeof(Elf64_Sym) * sizeof(function);
    void* const pages =
        ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    auto* const found = static_cast<function*>(pages);
    std::size_t count = 0;
    bool has_ours = false;
    for (std::size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_size == 0) continue;
        const std::uintptr_t begin = into.base + symbols[i].st_value;
        const kind is = is_all_ours ? kind::ours : kind_of(texts + symbols[i].st_name);
        found[count++] = {begin, begin + symbols[i].st_size, is};
        has_ours = has_ours || is == kind::ours;
    }
    if (!has_ours) {
        ::munmap(pages, room);
        return;
    }
    std::sort(found, found + count, [](const function& a, const function& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.is < b.is;
    });
    into.functions = found;
    into.function_count = count;
}

void read_module(module& into) {
    if (into.dynamic == static_cast<const void*>(_DYNAMIC)) return;  // this library
    const char* const name = into.loaded->l_name;
    const char* const path = name[0] != '\0' ? name : "/proc/self/exe";
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0) return;  // the kernel's own has no file
    const bool is_known = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    const auto size = is_known ? static_cast<std::size_t>(about.st_size) : 0;
    into.inode = about.st_ino;
    into.changed_ns = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * 1'000'000'000U +
                      static_cast<std::uint64_t>(about.st_mtim.tv_nsec);
    void* const mapped =
        size != 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (mapped == MAP_FAILED) return;
    const bool is_preload = std::strstr(path, "/liballocscope_preload.so") != nullptr;
    read_symbols(static_cast<const char*>(mapped), size, is_preload, into);
    ::munmap(mapped, size);
}

const module* known_module(const dl_find_object& found) {
    const std::size_t count = module_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        if (modules[i].loaded == found.dlfo_link_map &&
            modules[i].dynamic == found.dlfo_link_map->l_ld) {
            return &modules[i];
        }
    }
    return nullptr;
}

// Null: it is not known which, because another thread is reading, or was in the parent of a fork.
const module* module_at(std::uintptr_t address) {
    dl_find_object found;
    if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return nullptr;
    if (const module* const known = known_module(found)) return known;
    for (int tries = 0; modules_are_written.test_and_set(std::memory_order_acquire); ++tries) {
        if (tries == 10000) return nullptr;
        ::sched_yield();
    }
    const module* result = known_module(found);
    const std::size_t count = module_count.load(std::memory_order_relaxed);
    if (result == nullptr && count < most_modules) {
        const link_map* const loaded = found.dlfo_link_map;
        modules[count] = {loaded, loaded->l_ld, loaded->l_addr, 0, 0, nullptr, 0};
        read_module(modules[count]);
        if (modules[count].functions != nullptr) is_any_ours = true;
        module_count.store(count + 1, std::memory_order_release);
        result = &modules[count];
    }
    modules_are_written.clear(std::memory_order_release);
    return result;
}

int meet_module(dl_phdr_info* info, std::size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD) return module_at(info->dlpi_addr + part.p_vaddr), 0;
    }
    return 0;
}

// The environment is there when the C library is initialised, which is before any constructor.
void begin_to_watch() {
    if (environ == nullptr || has_begun.exchange(true)) return;
    const ssize_t length = ::readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    program_path[length > 0 ? length : 0] = '\0';
    ::dl_iterate_phdr(meet_module, nullptr);
}

kind kind_in(const module* module, std::uintptr_t address) {
    if (module == nullptr || module->functions == nullptr) return kind::outside;
    const function* after = std::upper_bound(
        module->functions, module->functions + module->function_count, address,
        [](std::uintptr_t wanted, const function& each) { return wanted < each.begin; });
    while (after != module->functions) {
        --after;
        if (address < after->end) return after->is;
        if (address - after->begin > 1U << 20U) break;
    }
    return kind::outside;  // a stub of the linker
}

// --- one call ---

struct look {
    static constexpr int most = 24;
    const module* of[most];
    std::uintptr_t ours[most];  // relative to the base of the module
    int count = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* given) {
    auto& seen = *static_cast<look*>(given);
    const std::uintptr_t address = _Unwind_GetIP(context) - 1;
    const module* const at = module_at(address);
    const kind is = kind_in(at, address);
    if (is == kind::outside || is == kind::library) return _URC_NO_REASON;
    if (is == kind::others) return _URC_END_OF_STACK;
    seen.of[seen.count] = at;
    seen.ours[seen.count++] = address - at->base;
    return seen.count == look::most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

constexpr std::size_t most_written = 8192;
std::atomic<std::uint64_t> written[most_written];

bool is_new(const look& seen) {
    std::uint64_t mark = 1469598103934665603U;
    for (int i = 0; i < seen.count; ++i) {
        mark = (mark ^ (seen.of[i]->base + seen.ours[i])) * 1099511628211U;
    }
    mark |= 1;
    for (std::size_t i = 0; i < 64; ++i) {
        std::atomic<std::uint64_t>& at = written[(mark + i) % most_written];
        std::uint64_t there = 0;
        if (at.compare_exchange_strong(there, mark)) return true;
        if (there == mark) return false;
    }
    return true;  // no room: it is written more than once
}

// One line of words. Small, because some tests have small stacks.
class line {
public:
    bool has_room() const { return size_ < sizeof text_ - 600; }
    void end_word() { put(' '); }
    // So that a space in a path does not end the word.
    void add(const char* text) {
        for (; *text != '\0'; ++text) {
            const auto letter = static_cast<unsigned char>(*text);
            if (letter > ' ' && letter != '%') {
                put(*text);
            } else {
                put('%');
                add_digit(letter >> 4U);
                add_digit(letter & 15U);
            }
        }
    }
    void add_hexadecimal(std::uintptr_t value) {
        for (unsigned shift = 64; shift != 0; shift -= 4) add_digit((value >> (shift - 4)) & 15U);
    }
    // The file is not kept open, so that programs find the descriptors that they expect. One that
    // has no descriptor left, sees other files, or may not make files as large as it likes,
    // is not watched meanwhile.
    void write() {
        rlimit most;
        if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY) return;
        text_[size_ - 1] = '\n';
        const int file = ::open(std::getenv("ALLOCSCOPE_SHADOW"), O_WRONLY | O_APPEND | O_CLOEXEC);
        if (file < 0) return;
        if (::write(file, text_, size_) != static_cast<ssize_t>(size_)) std::abort();
        ::close(file);
    }

private:
    void put(char letter) {
        if (size_ < sizeof text_) text_[size_++] = letter;
    }
    void add_digit(std::uintptr_t value) { put("0123456789abcdef"[value]); }

    char text_[4096];
    std::size_t size_ = 0;
};

void write_down(const char* called, const look& seen) {
    line text;
    text.add(program_path);
    text.end_word();
    text.add(called);
    text.end_word();
    for (int i = 0; i < seen.count && text.has_room(); ++i) {
        const char* const path = seen.of[i]->loaded->l_name;
        text.add(path[0] != '\0' ? path : program_path);
        for (const std::uint64_t number :
             {seen.of[i]->inode, seen.of[i]->changed_ns, std::uint64_t{seen.ours[i]}}) {
            text.add("+");
            text.add_hexadecimal(number);
        }
        text.end_word();
    }
    text.write();
}

void look_who_calls(const char* called, void* caller) {
    if (is_busy) return;
    is_busy = true;
    const int saved_errno = errno;
    begin_to_watch();
    // Most calls come from the test itself.
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(caller) - 1;
    const bool is_of_others = kind_in(module_at(address), address) == kind::others;
    const bool is_wanted = !is_of_others && has_begun.load() && is_any_ours.load();
    if (is_wanted && std::getenv("ALLOCSCOPE_SHADOW") != nullptr) {
        int cancel_state = 0;
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
        look seen;
        _Unwind_Backtrace(visit, &seen);
        if (seen.count != 0 && is_new(seen)) write_down(called, seen);
        ::pthread_setcancelstate(cancel_state, nullptr);
    }
    errno = saved_errno;
    is_busy = false;
}

}  // namespace

// --- malloc and its family ---

extern "C" {
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void* __libc_valloc(std::size_t) noexcept;
void* __libc_pvalloc(std::size_t) noexcept;
}

namespace {

// What glibc has under no other name.
void* (*next_aligned_alloc)(std::size_t, std::size_t) = nullptr;
int (*next_posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
std::size_t (*next_malloc_usable_size)(void*) = nullptr;
std::atomic<bool> is_next_found{false};

template <class Function>
void find(Function& next, const char* name) {
    next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// At the first call of all: dlerror() allocates, and what it has to say is lost with a dlsym() in
// the middle of it. dlsym itself may allocate.
void find_next() {
    if (is_next_found.exchange(true)) return;
    find(next_aligned_alloc, "aligned_alloc");
    find(next_posix_memalign, "posix_memalign");
    find(next_malloc_usable_size, "malloc_usable_size");
}

}  // namespace

#define ALLOCSCOPE_TEST_SHADOWED(result, name, next, parameters, arguments)             \
    extern "C" __attribute__((visibility("default"))) result name parameters noexcept { \
        find_next();                                                                    \
        look_who_calls(#name, __builtin_return_address(0));                             \
        return next arguments;                                                          \
    }

ALLOCSCOPE_TEST_SHADOWED(void*, malloc, __libc_malloc, (std::size_t size), (size))
ALLOCSCOPE_TEST_SHADOWED(void*, calloc, __libc_calloc, (std::size_t count, std::size_t size),
                         (count, size))
ALLOCSCOPE_TEST_SHADOWED(void, free, __libc_free, (void* block), (block))
ALLOCSCOPE_TEST_SHADOWED(void*, realloc, __libc_realloc, (void* block, std::size_t size),
                         (block, size))
ALLOCSCOPE_TEST_SHADOWED(void*, memalign, __libc_memalign,
                         (std::size_t alignment, std::size_t size), (alignment, size))
ALLOCSCOPE_TEST_SHADOWED(void*, valloc, __libc_valloc, (std::size_t size), (size))
ALLOCSCOPE_TEST_SHADOWED(void*, pvalloc, __libc_pvalloc, (std::size_t size), (size))
ALLOCSCOPE_TEST_SHADOWED(void*, aligned_alloc, next_aligned_alloc,
                         (std::size_t alignment, std::size_t size), (alignment, size))
ALLOCSCOPE_TEST_SHADOWED(int, posix_memalign, next_posix_memalign,
                         (void** into, std::size_t alignment, std::size_t size),
                         (into, alignment, size))

// Asks for nothing. To the hooks an allocator without it would be another one than glibc's.
extern "C" __attribute__((visibility("default"))) std::size_t malloc_usable_size(
    void* block) noexcept {
    return next_malloc_usable_size(block);
}
