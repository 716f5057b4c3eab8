// Danger: the kernel grants a process 65,530 mappings (vm.max_map_count). A program that has nearly
// all of them can be recorded, because a window needs few.
//
// not with: asan, tsan (they need mappings of their own)
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace allocscope_test;

namespace {

// Counted without an allocation.
int mappings() {
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char part[4096];
    int lines = 0;
    for (ssize_t got = 1; got > 0;) {
        got = read(file, part, sizeof part);
        for (ssize_t i = 0; i < got; ++i) lines += part[i] == '\n' ? 1 : 0;
    }
    close(file);
    return lines;
}

int most_mappings() {
    int most = 65530;
    if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "r")) {
        if (std::fscanf(file, "%d", &most) != 1) most = 65530;
        std::fclose(file);
    }
    return most;
}

// Pages of which every second one may not be read are a mapping each.
void make_mappings(int count) {
    constexpr std::size_t page = 4096;
    const std::size_t bytes = page * static_cast<std::size_t>(count);
    void* const all =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ALLOCSCOPE_EXPECT(all != MAP_FAILED);
    for (int i = 0; i < count; i += 2) {
        char* const at = static_cast<char*>(all) + page * static_cast<std::size_t>(i);
        ALLOCSCOPE_EXPECT(mprotect(at, page, PROT_READ) == 0);
    }
}

constexpr int most_recording = 8;
constexpr int most_with_names = 16;  // a report keeps the names that it has found, and some pages
constexpr int blocks = 1000;

}  // namespace

int main() {
    watchdog();
    const int most = most_mappings();
    if (most > 1000000) return verdict();  // nobody has that many
    make_mappings(most - mappings() - most_with_names - 1);
    const int before = mappings();
    ALLOCSCOPE_EXPECT(before >= most - most_with_names - 3);

    void* kept[blocks];
    allocscope::scope window{"many mappings"};
    for (void*& each : kept) each = allocate(100);
    ALLOCSCOPE_EXPECT(mappings() <= before + most_recording);
    const allocscope::snapshot alive = window.stats();
    ALLOCSCOPE_EXPECT(mappings() <= before + most_with_names);
    ALLOCSCOPE_EXPECT_EQUAL(alive.info().totals.live_objects(), blocks);
    ALLOCSCOPE_EXPECT_EQUAL(alive.info().loss_count, 0);
    std::uint64_t placed = 0;
    for (const allocscope::snapshot::row& row : alive) {
        if (row.line != 0) placed += row.objects;
    }
    ALLOCSCOPE_EXPECT_EQUAL(placed, blocks);
    for (void* each : kept) release(each);
    return verdict();
}
