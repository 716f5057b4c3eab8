// Danger: a program has used up its descriptors when a report looks for names. The files of the
// program cannot be opened then; if that were remembered, its rows would never have lines again.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstdio>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace allocscope_test;

namespace {

// While one exists, the kernel opens no file for this process.
class refused_files {
public:
    refused_files() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 0;
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~refused_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    refused_files(const refused_files&) = delete;
    refused_files& operator=(const refused_files&) = delete;

private:
    rlimit before_;
};

// Whether the row of the only object of `bytes` bytes has this line, or for 0 no line.
bool is_at(const allocscope::snapshot& seen, std::uint64_t bytes, int line) {
    for (const allocscope::snapshot::row& row : seen) {
        if (row.bytes != bytes || row.objects != 1) continue;
        return ALLOCSCOPE_EXPECT_EQUAL(row.line, line);
    }
    return ALLOCSCOPE_EXPECT_EQUAL(bytes, 0);  // no row has so many
}

// `statm` is /proc/self/statm, which must be open already.
std::uint64_t resident_bytes(int statm) {
    char text[128] = {};
    unsigned long long pages = 0;
    ALLOCSCOPE_EXPECT(::pread(statm, text, sizeof text - 1, 0) > 0);
    ALLOCSCOPE_EXPECT(std::sscanf(text, "%*u %llu", &pages) == 1);
    return pages * 4096;
}

}  // namespace

int main() {
    watchdog();
    void* const library = ::dlopen(ALLOCSCOPE_PLUGIN_FOLDER "/plugin_maker.so", RTLD_NOW);
    if (!ALLOCSCOPE_EXPECT(library != nullptr)) return verdict();
    const auto make_in_library = reinterpret_cast<char* (*)()>(::dlsym(library, "make_in_library"));
    const int statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const allocscope::scope window{"refused"};

    // The first report of the process.
    char* const foreign = make_in_library();
    const int foreign_line = 4;
    char* const first = opaque(new char[101]);
    const int first_line = __LINE__ - 1;
    {
        const refused_files now;
        const allocscope::snapshot seen = window.stats();
        is_at(seen, 100, 0);
        is_at(seen, 101, 0);
        // Reports that find nothing again and again take no more memory.
        const std::uint64_t before = resident_bytes(statm);
        for (int i = 0; i < 5000; ++i) window.stats();
        if (!is_sanitized) ALLOCSCOPE_EXPECT_AT_MOST(resident_bytes(statm), before + (1 << 20));
    }
    const allocscope::snapshot early = window.stats();
    is_at(early, 100, foreign_line);
    is_at(early, 101, first_line);

    // A later one keeps what is known, and does not remember that a new stack has no names.
    char* const second = opaque(new char[102]);
    const int second_line = __LINE__ - 1;
    {
        const refused_files now;
        const allocscope::snapshot seen = window.stats();
        is_at(seen, 101, first_line);
        is_at(seen, 102, 0);
    }
    const allocscope::snapshot seen = window.stats();
    is_at(seen, 101, first_line);
    is_at(seen, 102, second_line);
    is_at(window.stats(), 102, second_line);

    delete[] foreign;
    delete[] first;
    delete[] second;
    return verdict();
}
