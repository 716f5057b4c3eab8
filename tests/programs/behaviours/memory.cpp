// memory.cpp WHAT - what a program can see of its malloc, printed.
#include "run_behaviour.hpp"

#include <dirent.h>
#include <glob.h>
#include <malloc.h>
#include <regex.h>
#include <search.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <wchar.h>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

volatile std::size_t opaque_zero = 0;

// Keeps the compiler from seeing what is freed twice, and from removing what nobody reads.
void* hidden(void* pointer) {
    void* volatile copy = pointer;
    return copy;
}

void options() {
    std::printf("%d %d %d %d\n", ::mallopt(M_MMAP_THRESHOLD, 65536),
                ::mallopt(M_TRIM_THRESHOLD, 4096), ::mallopt(M_ARENA_MAX, 1), ::mallopt(12345, 1));
    void* mapped = hidden(std::malloc(100'000));
    std::printf("%zu\n", static_cast<std::size_t>(::mallinfo2().hblks));
    std::free(mapped);
}

void statistics() {
    std::vector<void*> all;
    for (std::size_t bytes = 1; bytes < 5000; bytes += 37) all.push_back(std::malloc(bytes));
    for (std::size_t i = 0; i < all.size(); i += 2) std::free(all[i]);
    const auto info = ::mallinfo2();
    std::printf("%zu %zu %zu %zu %zu\n", info.hblks, info.hblkhd, info.fsmblks, info.ordblks,
                info.uordblks);
    for (std::size_t i = 1; i < all.size(); i += 2) std::free(all[i]);
}

void perturbed() {
    ::mallopt(M_PERTURB, 0xAA);
    auto* bytes = static_cast<unsigned char*>(hidden(std::malloc(64)));
    std::printf("%x %x\n", bytes[0], bytes[63]);
    std::free(bytes);
    auto* after = static_cast<volatile unsigned char*>(hidden(bytes));
    std::printf("%x\n", after[40]);
}

void trimmed() {
    std::vector<void*> all;
    for (int i = 0; i < 1000; ++i) all.push_back(std::malloc(10'000));
    void* last = std::malloc(10);
    for (void* each : all) std::free(each);
    std::printf("%d %d\n", ::malloc_trim(0), ::malloc_trim(0));
    std::free(last);
}

void usable() {
    std::uint64_t sum = 0;
    const auto add = [&sum](std::size_t bytes) {
        auto* block = static_cast<unsigned char*>(std::malloc(bytes));
        const std::size_t whole = ::malloc_usable_size(block);
        std::memset(block, 0x5A, whole);
        sum = sum * 31 + whole;
        std::free(block);
    };
    for (std::size_t bytes = 0; bytes < 3000; ++bytes) add(bytes);
    add(200'000);
    std::printf("%llu %zu\n", static_cast<unsigned long long>(sum), ::malloc_usable_size(nullptr));
}

void free_twice() {
    char* block = static_cast<char*>(hidden(std::malloc(24)));
    std::free(block);
    std::free(hidden(block));
}

void free_wrong() {
    static char inside[64] = {};
    std::free(hidden(inside + 16));
}

void overrun() {
    char* block = static_cast<char*>(hidden(std::malloc(24)));
    char* next = static_cast<char*>(hidden(std::malloc(2000)));
    std::memset(hidden(block + 24), 0xFF, 8);
    std::free(next);
    std::free(block);
}

void too_large() {
    errno = 0;
    const std::size_t most = ~opaque_zero;
    std::printf("%d %d\n", std::malloc(most / 2 + 1) == nullptr, errno);
    errno = 0;
    std::printf("%d %d\n", std::calloc(most / 2, 3) == nullptr, errno);
    void* block = std::malloc(10);
    errno = 0;
    std::printf("%d %d\n", ::reallocarray(block, most, 2) == nullptr, errno);
    errno = 0;
    void* aligned = &block;
    std::printf("%d %d", ::posix_memalign(&aligned, 24, 8), errno);
    std::printf(" %d\n", aligned == &block);
    std::printf("%d %d\n", ::pvalloc(most) == nullptr, errno);
    std::free(block);
    try {
        delete[] new char[most / 2 - 64];
    } catch (const std::bad_alloc& error) {
        std::printf("%s\n", error.what());
    }
}

void little_space() {
    rlimit limit = {400u << 20, 400u << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    std::vector<void*> all;
    while (void* block = std::malloc(8u << 20)) all.push_back(block);
    std::printf("%d %d\n", errno, all.size() > 20);
    if (all.empty()) return;
    std::printf("%d\n", std::realloc(all[0], 512u << 20) == nullptr);
    for (void* each : all) std::free(each);
    std::printf("%d\n", std::malloc(8u << 20) != nullptr);
}

int by_text(const void* left, const void* right) {
    return std::strcmp(static_cast<const char*>(left), static_cast<const char*>(right));
}

void inside_libc() {
    char* text = nullptr;
    std::size_t size = 0;
    FILE* stream = ::open_memstream(&text, &size);
    std::fprintf(stream, "%0*d", 3000, 7);
    std::fclose(stream);
    std::printf("%zu\n", size);
    std::free(text);
    std::printf("%d\n", ::asprintf(&text, "%s-%d", "a", 5));
    std::free(text);
    regex_t compiled;
    std::printf("%d\n", ::regcomp(&compiled, "(a|b)*c+[[:digit:]]{2,5}", REG_EXTENDED));
    std::printf("%d\n", ::regexec(&compiled, "ababcc123", 0, nullptr, 0));
    ::regfree(&compiled);
    glob_t found;
    std::printf("%d", ::glob("tree/*/deep1", 0, nullptr, &found));
    std::printf(" %zu\n", found.gl_pathc);
    ::globfree(&found);
    dirent** entries = nullptr;
    const int count = ::scandir("tree", &entries, nullptr, ::alphasort);
    for (int i = 0; i < count; ++i) {
        std::printf("%s ", entries[i]->d_name);
        std::free(entries[i]);
    }
    std::free(entries);
    void* root = nullptr;
    for (const char* each : {"b", "a", "c", "a"}) ::tsearch(each, &root, by_text);
    ::tdestroy(root, [](void*) {});
    std::vector<char> large(200'000, 'x');
    std::qsort(large.data(), large.size() / 1000, 1000, by_text);
    wchar_t wide[16];
    std::printf("\n%zu %s\n", std::mbstowcs(wide, "abc", 16), std::setlocale(LC_ALL, ""));
    std::printf("%s\n", ::getenv("HOME") != nullptr ? "home" : "no home");
    char* line = nullptr;
    std::size_t capacity = 0;
    FILE* file = std::fopen("words.txt", "r");
    std::printf("%zd\n", ::getline(&line, &capacity, file));
    std::fclose(file);
    std::free(line);
    char* path = ::realpath("tree/../words.txt", nullptr);
    std::printf("%s\n", std::strrchr(path, '/'));
    std::free(path);
}

void addresses() {
    // With fixed addresses the heap lies where it always lies.
    std::vector<char*> all;
    for (std::size_t bytes = 8; bytes < 4000; bytes += 56) {
        all.push_back(static_cast<char*>(std::malloc(bytes)));
    }
    for (std::size_t i = 1; i < all.size(); ++i) std::printf("%td ", all[i] - all[i - 1]);
    std::printf("\n");
    for (char* each : all) std::free(each);
}

void locked_memory() {
    std::printf("%d\n", ::mlockall(MCL_CURRENT | MCL_FUTURE));
    std::vector<int> all(100'000, 1);
    std::printf("%zu\n", all.size());
}

constexpr behaviour behaviours[] = {
    {"options", options},
    {"statistics", statistics},
    {"perturbed", perturbed},
    {"trimmed", trimmed},
    {"usable", usable},
    {"free_twice", free_twice},
    {"free_wrong", free_wrong},
    {"overrun", overrun},
    {"too_large", too_large},
    {"little_space", little_space},
    {"inside_libc", inside_libc},
    {"addresses", addresses},
    {"locked_memory", locked_memory},
};

}  // namespace

int main(int, char** arguments) {
    return run_behaviour(behaviours, arguments[1]);
}
