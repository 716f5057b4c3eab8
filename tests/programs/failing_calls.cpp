// failing_calls.cpp - preloaded beside liballocscope_preload.so: the k-th system call that the
// library makes fails. Calls of anybody else are made as they are.
//
//     FAILING_CALLS=LOG:K:ERRNO     K = 0: none fails
//
// Each call of the library adds its name to the file LOG as a line, so that the number of lines
// says how many there are. Nothing here needs the loader to have done its work, as the library
// calls before that: no function of the C library, no table of addresses.
// Compiled as counting_shim.cpp.
#include <linux/fcntl.h>  // the numbers alone
#include <sys/syscall.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

constexpr const char library_name[] = "liballocscope_preload.so";

struct plan {
    bool is_read;
    std::uintptr_t code_begin, code_end;  // of the library
    int log;                              // -1: nothing is asked for
    long failing_call;
    int error;
};
plan current;
long calls_so_far = 0;

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

template <class Pointer>
long word(Pointer* pointer) {
    return reinterpret_cast<long>(pointer);
}

// The end of `prefix` in `text` where that begins with it, else nullptr.
const char* behind(const char* text, const char* prefix) {
    for (; *prefix != '\0'; ++prefix, ++text) {
        if (*text != *prefix) return nullptr;
    }
    return text;
}

bool contains(const char* text, const char* end, const char* wanted) {
    for (; text < end; ++text) {
        if (behind(text, wanted) != nullptr) return true;
    }
    return false;
}

std::uintptr_t hexadecimal(const char*& text) {
    std::uintptr_t value = 0;
    for (;; ++text) {
        const char c = *text;
        if (c >= '0' && c <= '9') {
            value = value * 16 + static_cast<std::uintptr_t>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value * 16 + static_cast<std::uintptr_t>(c - 'a' + 10);
        } else {
            return value;
        }
    }
}

long decimal(const char*& text) {
    long value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
    return value;
}

char file_text[1 << 16];

// The file's first bytes, ended by a zero byte.
const char* read_whole(const char* path) {
    const long file = raw(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
    std::size_t have = 0;
    while (have + 1 < sizeof file_text) {
        const long more = raw(SYS_read, file, word(file_text + have),
                              static_cast<long>(sizeof file_text - 1 - have));
        if (more <= 0) break;
        have += static_cast<std::size_t>(more);
    }
    raw(SYS_close, file);
    file_text[have] = '\0';
    return file_text;
}

void find_library() {
    for (const char* line = read_whole("/proc/self/maps"); *line != '\0';) {
        const char* end = line;
        while (*end != '\n' && *end != '\0') ++end;
        if (contains(line, end, library_name)) {
            const char* at = line;
            const std::uintptr_t begin = hexadecimal(at);
            ++at;
            const std::uintptr_t last = hexadecimal(at);
            if (current.code_begin == 0) current.code_begin = begin;
            current.code_end = last;
        }
        line = *end == '\0' ? end : end + 1;
    }
}

void read_request() {
    current.log = -1;
    const char* text = read_whole("/proc/self/environ");
    const char* end = file_text + sizeof file_text - 1;
    while (text < end && *text != '\0') {
        const char* value = behind(text, "FAILING_CALLS=");
        if (value != nullptr) {
            char path[4096];
            std::size_t length = 0;
            while (*value != ':' && length + 1 < sizeof path) path[length++] = *value++;
            path[length] = '\0';
            ++value;
            current.failing_call = decimal(value);
            ++value;
            current.error = static_cast<int>(decimal(value));
            // A high number, as programs count theirs from below.
            const long low = raw(SYS_open, word(path), O_WRONLY | O_APPEND | O_CREAT, 0600);
            current.log = static_cast<int>(raw(SYS_fcntl, low, F_DUPFD_CLOEXEC, 900));
            raw(SYS_close, low);
            return;
        }
        while (*text != '\0') ++text;
        ++text;
    }
}

// The error with which the call of `name` is to fail, 0 where it is not.
int error_for(const char* name, const void* caller) {
    if (!current.is_read) {
        current.is_read = true;
        find_library();
        read_request();
    }
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    if (current.log < 0 || at < current.code_begin || at >= current.code_end) return 0;
    char line[64];
    std::size_t length = 0;
    while (name[length] != '\0') {
        line[length] = name[length];
        ++length;
    }
    line[length++] = '\n';
    raw(SYS_write, current.log, word(line), static_cast<long>(length));
    const long number = __atomic_add_fetch(&calls_so_far, 1, __ATOMIC_RELAXED);
    return number == current.failing_call ? current.error : 0;
}

long result_of(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = static_cast<int>(-result);
    return -1;
}

}  // namespace

// One function of the C library: fails where it is to, else is the system call of its name.
#define ALLOCSCOPE_TESTS_CALL(type, name, parameters, ...)                            \
    type name parameters noexcept {                                                   \
        const int error = error_for(#name, __builtin_return_address(0));              \
        return (type)(result_of(error != 0 ? -error : raw(SYS_##name, __VA_ARGS__))); \
    }

extern "C" {
ALLOCSCOPE_TESTS_CALL(void*, mmap, (void* a, std::size_t b, int c, int d, int e, long f), word(a),
                      static_cast<long>(b), c, d, e, f)
ALLOCSCOPE_TESTS_CALL(int, munmap, (void* a, std::size_t b), word(a), static_cast<long>(b))
ALLOCSCOPE_TESTS_CALL(int, mprotect, (void* a, std::size_t b, int c), word(a), static_cast<long>(b),
                      c)
ALLOCSCOPE_TESTS_CALL(int, madvise, (void* a, std::size_t b, int c), word(a), static_cast<long>(b),
                      c)
ALLOCSCOPE_TESTS_CALL(void*, mremap, (void* a, std::size_t b, std::size_t c, int d, void* e),
                      word(a), static_cast<long>(b), static_cast<long>(c), d, word(e))
ALLOCSCOPE_TESTS_CALL(int, access, (const char* a, int b), word(a), b)
ALLOCSCOPE_TESTS_CALL(int, open, (const char* a, int b, int c), word(a), b, c)
ALLOCSCOPE_TESTS_CALL(int, close, (int a), a)
ALLOCSCOPE_TESTS_CALL(long, read, (int a, void* b, std::size_t c), a, word(b), static_cast<long>(c))
ALLOCSCOPE_TESTS_CALL(long, write, (int a, const void* b, std::size_t c), a, word(b),
                      static_cast<long>(c))
ALLOCSCOPE_TESTS_CALL(int, fstat, (int a, void* b), a, word(b))
ALLOCSCOPE_TESTS_CALL(long, readlink, (const char* a, char* b, std::size_t c), word(a), word(b),
                      static_cast<long>(c))
ALLOCSCOPE_TESTS_CALL(int, getrlimit, (int a, void* b), a, word(b))
ALLOCSCOPE_TESTS_CALL(int, sigaltstack, (const void* a, void* b), word(a), word(b))

long syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
    const int error = error_for("syscall", __builtin_return_address(0));
    return result_of(error != 0 ? -error : raw(number, a, b, c, d, e, f));
}
}
