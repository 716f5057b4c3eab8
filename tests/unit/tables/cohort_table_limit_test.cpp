// Where the address space is nearly used up, the table takes less of it, and never more than it was
// given.
// not with: asan, tsan (they reserve terabytes themselves)
#include "../../support/forked_child.hpp"

#include <doctest/doctest.h>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

using allocscope::detail::cohort_table;
using allocscope::detail::page_bytes;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

void* take_addresses(std::size_t bytes) {
    void* place =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? nullptr : place;
}

// What the kernel says about the addresses of this process. Nothing is allocated.
struct mapped_bytes {
    std::size_t all = 0;
    std::size_t writable = 0;
};

mapped_bytes now_mapped() {
    static char text[1U << 18U];
    mapped_bytes sum;
    const int file = open("/proc/self/maps", O_RDONLY);
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < sizeof text - 1;
         size += static_cast<std::size_t>(got)) {
        got = read(file, text + size, sizeof text - 1 - size);
        if (got < 0) break;
    }
    text[size] = '\0';
    close(file);
    for (const char* line = text; line != nullptr && *line != '\0';) {
        char* behind = nullptr;
        const std::size_t from = std::strtoull(line, &behind, 16);
        const std::size_t to = std::strtoull(behind + 1, &behind, 16);
        sum.all += to - from;
        if (behind[2] == 'w') sum.writable += to - from;
        line = std::strchr(behind, '\n');
        if (line != nullptr) ++line;
    }
    return sum;
}

// So many bytes of addresses are left. With less than one MiB there may be no table.
template <std::size_t Left>
int fill_the_rest() {
    // The table begins with a power of two up to a 64th of it: with 2 MiB, which are not left.
    const std::size_t most = std::max(192 * mebibyte, now_mapped().all + 16 * mebibyte);
    const rlimit limit = {most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    void* const last = take_addresses(Left);
    if (last == nullptr) return 3;
    for (std::size_t bytes = 64 * mebibyte; bytes >= page_bytes;) {
        if (take_addresses(bytes) == nullptr) bytes /= 2;
    }
    munmap(last, Left);
    static cohort_table table;
    const mapped_bytes before = now_mapped();
    if (!table.prepare()) return Left < mebibyte ? 0 : 4;
    if (table.add_page() == 0) return 5;
    const mapped_bytes after = now_mapped();
    return after.writable - before.writable <= after.all - before.all ? 0 : 6;
}

}  // namespace

TEST_CASE("cohort_table: opens only addresses that it was given") {
    CHECK(allocscope_test::in_child(fill_the_rest<mebibyte>).status == 0);
    CHECK(allocscope_test::in_child(fill_the_rest<mebibyte / 2>).status == 0);
}
