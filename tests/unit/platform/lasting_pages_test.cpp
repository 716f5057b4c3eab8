// A process with an area maps no more of it than it needs, and its pages are those of the file.
// not with: tsan
// ThreadSanitizer places the stacks of threads where the trimmed area has left a gap.

#include <allocscope/base/atomic.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace allocscope::detail;

constexpr std::size_t area_bytes = std::size_t{1} << 30U;
constexpr std::size_t reserved_bytes = std::size_t{64} << 20U;
constexpr std::size_t mebibyte = std::size_t{1} << 20U;

// How many of the bytes from an address on are mapped, and may be used as `permission` says.
std::size_t bytes_mapped_at(const void* first, std::size_t bytes, char permission = 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    std::size_t sum = 0;
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long from = 0, to = 0;
        char permissions[5] = "";
        if (std::sscanf(line, "%lx-%lx %4s", &from, &to, permissions) != 3) continue;
        if (permission != 0 && std::strchr(permissions, permission) == nullptr) continue;
        if (from < begin + bytes && to > begin) {
            sum += (to < begin + bytes ? to : begin + bytes) - (from > begin ? from : begin);
        }
    }
    std::fclose(maps);
    return sum;
}

struct area_of_file {
    area_of_file() : file(::memfd_create("area", 0)) {
        CHECK(::ftruncate(file, area_bytes) == 0);
        place = static_cast<char*>(::mmap(reinterpret_cast<void*>(0x2b0000000000), area_bytes,
                                          PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0));
        CHECK(open_pages(place, page_bytes));
        next = ::new (place) atomic<std::uintptr_t>;
        next->store(reinterpret_cast<std::uintptr_t>(place) + page_bytes);
        area.begin(next, reinterpret_cast<std::uintptr_t>(place) + area_bytes);
    }
    ~area_of_file() {
        area.give_up(place);
        CHECK(bytes_mapped_at(place, area_bytes) == 0);
        ::close(file);
    }
    area_of_file(const area_of_file&) = delete;
    area_of_file& operator=(const area_of_file&) = delete;

    char byte_of_file(const void* at) const {
        char byte = 0;
        CHECK(::pread(file, &byte, 1, static_cast<const char*>(at) - place) == 1);
        return byte;
    }

    int file;
    char* place;
    atomic<std::uintptr_t>* next;
    lasting_area area;
};

}  // namespace

TEST_CASE("an area that is not trimmed is mapped as a whole") {
    area_of_file of;
    auto* const reserved = static_cast<char*>(of.area.reserve(reserved_bytes));
    CHECK(of.area.open(reserved, mebibyte));
    auto* const taken = static_cast<char*>(of.area.take(100));
    taken[99] = 'a';
    CHECK(of.byte_of_file(taken + 99) == 'a');
    CHECK(bytes_mapped_at(of.place, area_bytes) == area_bytes);
    CHECK(bytes_mapped_at(of.place, area_bytes, 'r') == mebibyte + 2 * page_bytes);
}

TEST_CASE("a trimmed area maps what is taken and a step more, and nothing between") {
    area_of_file of;
    auto* const reserved = static_cast<char*>(of.area.reserve(reserved_bytes));
    CHECK(of.area.open(reserved, mebibyte));
    reserved[0] = 'r';
    auto* const first = static_cast<char*>(of.area.take(page_bytes));
    first[0] = 'f';
    of.area.trim();
    CHECK(bytes_mapped_at(of.place, area_bytes) <= 4 * mebibyte);
    CHECK(bytes_mapped_at(reserved, reserved_bytes, 'r') == 2 * mebibyte);
    CHECK(bytes_mapped_at(reserved + 2 * mebibyte, reserved_bytes - 2 * mebibyte) == 0);
    CHECK(reserved[0] == 'r');
    CHECK(first[0] == 'f');

    for (std::size_t at = mebibyte; at < reserved_bytes; at += mebibyte) {
        CHECK(of.area.open(reserved + at, mebibyte));
        reserved[at + mebibyte - 1] = 'o';
    }
    CHECK(of.byte_of_file(reserved + reserved_bytes - 1) == 'o');
    CHECK(first[0] == 'f');
    for (int i = 0; i < 50; ++i) {
        auto* const block = static_cast<char*>(of.area.take(300'000));
        CHECK(block != nullptr);
        std::memset(block, 'b', 300'000);
        CHECK(of.byte_of_file(block + 299'999) == 'b');
    }
    CHECK(bytes_mapped_at(of.place, area_bytes) < reserved_bytes + 20 * mebibyte);
}

TEST_CASE("an area whose mapping cannot be made longer at its place stays mapped") {
    area_of_file of;
    // The page that would be made longer.
    char* const last = of.place + area_bytes - mebibyte;
    ::munmap(last - page_bytes, page_bytes);
    of.area.trim();
    CHECK(bytes_mapped_at(of.place, area_bytes) == area_bytes - mebibyte - page_bytes);
    auto* const block = static_cast<char*>(of.area.take(40 * mebibyte));
    block[40 * mebibyte - 1] = 'b';
    CHECK(of.byte_of_file(block + 40 * mebibyte - 1) == 'b');
    CHECK(of.area.take(area_bytes - 41 * mebibyte) == nullptr);
    CHECK(bytes_mapped_at(of.place, area_bytes, 'r') == 40 * mebibyte + page_bytes);
}

TEST_CASE("many threads make a trimmed area longer") {
    area_of_file of;
    of.area.trim();
    std::vector<std::thread> threads;
    atomic<int> refused{0};
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                auto* const block = static_cast<char*>(of.area.take(40'000));
                if (block == nullptr) {
                    refused.fetch_add(1);
                } else {
                    std::memset(block, 'b', 40'000);
                }
            }
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(refused.load() == 0);
}

TEST_CASE("an area that cannot be made longer refuses, and is full at its end") {
    // Somebody else's mapping. One of 2 MiB looks like what another thread has just mapped.
    std::size_t foreign_bytes = page_bytes;
    SUBCASE("a page") {}
    SUBCASE("more than a step") {
        foreign_bytes = 2 * mebibyte;
    }
    area_of_file of;
    of.area.trim();
    char* const end = of.place + page_bytes + 8 * mebibyte;  // where a step ends
    CHECK(::mmap(end, foreign_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          end);
    std::size_t taken = 0;
    while (of.area.take(mebibyte) != nullptr) ++taken;
    CHECK(taken >= 6);
    CHECK(taken <= 8);
    CHECK(of.area.take(area_bytes) == nullptr);
    ::munmap(end, foreign_bytes);
    CHECK(of.area.take(mebibyte) != nullptr);
}
