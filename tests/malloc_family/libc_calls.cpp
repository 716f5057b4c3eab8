// libc_calls [ROUNDS] - what the C library allocates for itself, by functions known for it.
//
// With the hooks it prints what a window around the calls saw. Without them it is for Valgrind,
// which replaces malloc, too: as_valgrind_counts.py subtracts a run without a round from one with
// one.

#if defined(WITH_ALLOCSCOPE)
    #include <allocscope/allocscope.hpp>
#endif

#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <glob.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

volatile std::size_t one = 1;

// As the hooks have some: what the C library allocates for a thread depends on it.
thread_local volatile int of_each_thread = 0;

int compare(const void* a, const void* b) {
    return std::memcmp(a, b, 64);
}

int compare_texts(const void* a, const void* b) {
    return std::strcmp(static_cast<const char*>(a), static_cast<const char*>(b));
}

void texts() {
    std::free(strdup("a text"));
    std::free(strndup("a long text", 5 * one));
    std::free(wcsdup(L"wide"));
    char* made = nullptr;
    if (asprintf(&made, "%d and %s", 5, "more") > 0) std::free(made);
    char* where = realpath("/usr/lib/../lib", nullptr);
    std::free(where);
    std::free(getcwd(nullptr, 0));
}

void streams() {
    char text[] = "first line\nsecond, which is rather longer than the first one was\n";
    FILE* in = fmemopen(text, sizeof text - 1, "r");
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, in) > 0) {
    }
    std::free(line);
    std::fclose(in);
    char* all = nullptr;
    std::size_t length = 0;
    FILE* out = open_memstream(&all, &length);
    for (int i = 0; i < 5000; ++i) std::fprintf(out, "line %d\n", i);
    std::fclose(out);
    std::free(all);
    FILE* file = std::fopen("/etc/passwd", "r");
    if (file != nullptr) {
        static_cast<void>(std::fgetc(file));
        std::fclose(file);
    }
}

void folders() {
    dirent** names = nullptr;
    const int found = scandir("/etc", &names, nullptr, alphasort);
    for (int i = 0; i < found; ++i) std::free(names[i]);
    if (found >= 0) std::free(names);
    DIR* folder = opendir("/");
    if (folder != nullptr) closedir(folder);
    glob_t paths = {};
    if (glob("/etc/*.conf", 0, nullptr, &paths) == 0) globfree(&paths);
    nftw(
        "/etc/default", [](const char*, const struct stat*, int, FTW*) { return 0; }, 4, 0);
    wordexp_t words = {};
    if (wordexp("a b /etc/h*", &words, WRDE_NOCMD) == 0) wordfree(&words);
}

void tables() {
    regex_t pattern = {};
    if (regcomp(&pattern, "^([a-z]+|[0-9]*)x{2,5}$", REG_EXTENDED) == 0) {
        regmatch_t found[3];
        regexec(&pattern, "abcxx", 3, found, 0);
        regfree(&pattern);
    }
    static char items[2000][64];
    for (int i = 0; i < 2000; ++i) std::snprintf(items[i], 64, "%d", (i * 7919) % 2000);
    std::qsort(items, 2000, 64, &compare);
    hsearch_data table = {};
    if (hcreate_r(100, &table) != 0) hdestroy_r(&table);
    void* root = nullptr;
    for (int i = 0; i < 50; ++i) tsearch(items[i], &root, &compare_texts);
    tdestroy(root, [](void*) {});
}

void systems() {
    locale_t language = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
    if (language != nullptr) freelocale(language);
    iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
    if (converter != reinterpret_cast<iconv_t>(-1)) iconv_close(converter);
    addrinfo wanted = {};
    wanted.ai_flags = AI_NUMERICHOST;
    addrinfo* addresses = nullptr;
    if (getaddrinfo("127.0.0.1", "80", &wanted, &addresses) == 0) freeaddrinfo(addresses);
    ifaddrs* devices = nullptr;
    if (getifaddrs(&devices) == 0) freeifaddrs(devices);
    setenv("ALLOCSCOPE_LIBC_CALLS", "a value that stays", 1);
    void* library = dlopen("/lib/x86_64-linux-gnu/libutil.so.1", RTLD_NOW);
    if (library != nullptr) dlclose(library);
    if (dlopen("/nowhere/none.so", RTLD_NOW) == nullptr) static_cast<void>(dlerror());
    pthread_t thread;
    const auto work = [](void*) -> void* {
        of_each_thread = 1;
        return std::malloc(100 * one);
    };
    void* made = nullptr;
    if (pthread_create(&thread, nullptr, work, nullptr) == 0) pthread_join(thread, &made);
    std::free(made);
}

void direct() {
    void* block = std::malloc(10 * one);
    for (std::size_t bytes = 20; bytes < 3'000'000; bytes *= 3) block = std::realloc(block, bytes);
    block = std::realloc(block, 5 * one);
    std::free(block);
    std::free(std::calloc(12 * one, 12));
    std::free(memalign(128, 200 * one));
    std::free(aligned_alloc(64, 128 * one));
    if (posix_memalign(&block, 32, 70 * one) == 0) std::free(block);
    delete[] new char[31 * one];
    ::operator delete (::operator new (48, std::align_val_t{64}), std::align_val_t{64});
}

void all_of_them() {
    texts();
    streams();
    folders();
    tables();
    systems();
    direct();
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 1;
    clearenv();  // Valgrind sets variables, and setenv() copies them all
#if defined(WITH_ALLOCSCOPE)
    allocscope::scope window{"libc"};
    for (int i = 0; i < rounds; ++i) all_of_them();
    const allocscope::allocation_counts seen = window.counts();
    std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(seen.allocations),
                static_cast<unsigned long long>(seen.frees),
                static_cast<unsigned long long>(seen.bytes_allocated));
#else
    for (int i = 0; i < rounds; ++i) all_of_them();
#endif
}
