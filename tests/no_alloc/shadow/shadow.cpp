// Watches a program of the tests from outside: every call of malloc and its family, from whatever
// code. It looks up the stack for the first function of the program itself, past the C library and
// the C++ library. If that is a function of ours, or an operator or malloc that the program
// defines, the stack up to the first function of others is written to the file ALLOCSCOPE_SHADOW,
// once. shadow.py loads this library, reads the file and knows what is allowed.
//
// What is ours is known by the symbol table alone. Nothing of allocscope is used here.

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class kind : unsigned char { outside, library, ours, others };

struct function {
    std::uintptr_t begin;
    std::uintptr_t end;
    kind is;
};

function* functions = nullptr;
std::size_t function_count = 0;
std::uintptr_t program_base = 0;   // what its symbols are relative to
std::uintptr_t program_begin = 0;  // its code
std::uintptr_t program_end = 0;
int log_file = -1;
__attribute__((tls_model("initial-exec"))) thread_local bool is_busy = false;

// --- the symbol table ---

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

// Returns false when no function of ours is in the program.
bool read_symbols(const char* file, std::size_t size) {
    if (size < sizeof(Elf64_Ehdr) || std::memcmp(file, ELFMAG, SELFMAG) != 0) return false;
    const auto& head = *reinterpret_cast<const Elf64_Ehdr*>(file);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + head.e_shoff);
    bool has_ours = false;
    for (unsigned i = 0; head.e_shoff != 0 && i < head.e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + sections[i].sh_offset);
        const char* texts = file + sections[sections[i].sh_link].sh_offset;
        const std::size_t count = sections[i].sh_size / sizeof(Elf64_Sym);
        functions =
            static_cast<function*>(::mmap(nullptr, count * sizeof(function), PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (std::size_t s = 0; s < count; ++s) {
            if (ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC || symbols[s].st_size == 0) continue;
            const std::uintptr_t begin = program_base + symbols[s].st_value;
            const kind is = kind_of(texts + symbols[s].st_name);
            functions[function_count++] = {begin, begin + symbols[s].st_size, is};
            has_ours = has_ours || is == kind::ours;
        }
    }
    std::sort(functions, functions + function_count, [](const function& a, const function& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.is < b.is;
    });
    return has_ours;
}

int find_program(dl_phdr_info* info, std::size_t, void*) {
    program_base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        program_begin = info->dlpi_addr + part.p_vaddr;
        program_end = program_begin + part.p_memsz;
    }
    return 1;  // the program is the first one
}

__attribute__((constructor)) void begin_to_watch() {
    const char* path = std::getenv("ALLOCSCOPE_SHADOW");
    if (path == nullptr) return;
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || ::fstat(file, &about) != 0) return;
    const auto size = static_cast<std::size_t>(about.st_size);
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    ::dl_iterate_phdr(find_program, nullptr);
    if (mapped != MAP_FAILED && read_symbols(static_cast<char*>(mapped), size)) {
        // A high number, so that programs find the numbers that they expect.
        const int opened = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        log_file = ::fcntl(opened, F_DUPFD_CLOEXEC, 700);
        ::close(opened);
    }
    if (mapped != MAP_FAILED) ::munmap(mapped, size);
}

kind kind_at(std::uintptr_t address) {
    if (address < program_begin || address >= program_end) return kind::outside;
    const function* after = std::upper_bound(
        functions, functions + function_count, address,
        [](std::uintptr_t wanted, const function& each) { return wanted < each.begin; });
    while (after != functions) {
        --after;
        if (address < after->end) return after->is;
        if (address - after->begin > 1U << 20U) break;
    }
    return kind::outside;  // a stub of the linker
}

// --- one call ---

struct look {
    static constexpr int most = 24;
    std::uintptr_t ours[most];
    int count = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* given) {
    auto& seen = *static_cast<look*>(given);
    const std::uintptr_t address = _Unwind_GetIP(context) - 1;
    const kind is = kind_at(address);
    if (is == kind::outside || is == kind::library) return _URC_NO_REASON;
    if (is == kind::others) return _URC_END_OF_STACK;
    seen.ours[seen.count++] = address - program_base;
    return seen.count == look::most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

constexpr std::size_t most_written = 8192;
std::atomic<std::uint64_t> written[most_written];

bool is_new(const look& seen) {
    std::uint64_t mark = 1469598103934665603U;
    for (int i = 0; i < seen.count; ++i) mark = (mark ^ seen.ours[i]) * 1099511628211U;
    mark |= 1;
    for (std::size_t i = 0; i < 64; ++i) {
        std::atomic<std::uint64_t>& at = written[(mark + i) % most_written];
        std::uint64_t there = 0;
        if (at.compare_exchange_strong(there, mark)) return true;
        if (there == mark) return false;
    }
    return true;  // no room: it is written more than once
}

void write_down(const char* called, const look& seen) {
    char program[512];
    const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char line[1024];
    int size = std::snprintf(line, sizeof line, "%s %s", program, called);
    for (int i = 0; i < seen.count && size < 1000; ++i) {
        size += std::snprintf(line + size, sizeof line - static_cast<std::size_t>(size), " %lx",
                              static_cast<unsigned long>(seen.ours[i]));
    }
    line[size++] = '\n';
    if (::write(log_file, line, static_cast<std::size_t>(size)) < 0) std::abort();
}

void look_who_calls(const char* called, void* caller) {
    if (log_file < 0 || is_busy) return;
    // Most calls come from the test itself.
    if (kind_at(reinterpret_cast<std::uintptr_t>(caller) - 1) == kind::others) return;
    is_busy = true;
    const int saved_errno = errno;
    int cancel_state = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    look seen;
    _Unwind_Backtrace(visit, &seen);
    if (seen.count != 0 && is_new(seen)) write_down(called, seen);
    ::pthread_setcancelstate(cancel_state, nullptr);
    errno = saved_errno;
    is_busy = false;
}

template <class Function>
Function next_named(const char* name, Function) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// --- malloc and its family ---

#define ALLOCSCOPE_TEST_SHADOWED(result, name, parameters, arguments)          \
    extern "C" __attribute__((visibility("default"))) result name parameters { \
        static const auto next = next_named(#name, &name);                     \
        look_who_calls(#name, __builtin_return_address(0));                    \
        return next arguments;                                                 \
    }

extern "C" {
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
}

// dlsym may call these.
extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
    look_who_calls("malloc", __builtin_return_address(0));
    return __libc_malloc(size);
}
extern "C" __attribute__((visibility("default"))) void* calloc(std::size_t count,
                                                               std::size_t size) noexcept {
    look_who_calls("calloc", __builtin_return_address(0));
    return __libc_calloc(count, size);
}
extern "C" __attribute__((visibility("default"))) void free(void* block) noexcept {
    look_who_calls("free", __builtin_return_address(0));
    __libc_free(block);
}
ALLOCSCOPE_TEST_SHADOWED(void*, realloc, (void* block, std::size_t size) noexcept, (block, size))
ALLOCSCOPE_TEST_SHADOWED(void*, memalign, (std::size_t alignment, std::size_t size) noexcept,
                         (alignment, size))
ALLOCSCOPE_TEST_SHADOWED(void*, aligned_alloc, (std::size_t alignment, std::size_t size) noexcept,
                         (alignment, size))
ALLOCSCOPE_TEST_SHADOWED(int, posix_memalign,
                         (void** into, std::size_t alignment, std::size_t size) noexcept,
                         (into, alignment, size))
