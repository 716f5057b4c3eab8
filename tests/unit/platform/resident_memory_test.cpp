// The file says that neighbours are one mapping, as kernels before Linux 6.7 have it.
#include <allocscope/platform/resident_memory.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

using allocscope::detail::pages_of_process;
using allocscope::detail::resident_memory;
using allocscope::detail::resident_walk;

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t no_limit = ~std::uint64_t{0};

// Pages of a memory that is there, in the order of a thread's stack and what lies above it.
class made_memory {
public:
    explicit made_memory(std::uint64_t pages) : size_(pages * page) {
        void* const mapped =
            ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(mapped != MAP_FAILED);
        ::madvise(mapped, size_, MADV_NOHUGEPAGE);
        low_ = reinterpret_cast<std::uintptr_t>(mapped);
    }
    ~made_memory() { ::munmap(reinterpret_cast<void*>(low_), size_); }
    made_memory(const made_memory&) = delete;
    made_memory& operator=(const made_memory&) = delete;

    std::uint64_t at(std::uint64_t number) const { return low_ + number * page; }
    void touch(std::uint64_t first, std::uint64_t count) const {
        std::memset(reinterpret_cast<void*>(at(first)), 1, count * page);
    }
    void put(std::uint64_t address, std::uint64_t word) const {
        std::memcpy(reinterpret_cast<void*>(address), &word, sizeof word);
    }

private:
    std::uint64_t size_;
    std::uintptr_t low_ = 0;
};

std::string entry(std::uint64_t low, std::uint64_t high, const char* rights,
                  std::uint64_t resident_pages) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%llx-%llx %s 00000000 00:00 0\nRss: %llu kB\nVmFlags: rd wr\n",
                  static_cast<unsigned long long>(low), static_cast<unsigned long long>(high),
                  rights, static_cast<unsigned long long>(resident_pages * 4));
    return text;
}

resident_memory walked(const std::string& smaps, std::uint64_t usual_stack,
                       std::uint64_t most_large) {
    char path[] = P_tmpdir "/resident_memory_XXXXXX";
    const int file = ::mkstemp(path);
    REQUIRE(file >= 0);
    REQUIRE(::write(file, smaps.data(), smaps.size()) == static_cast<ssize_t>(smaps.size()));
    ::close(file);
    const pages_of_process pages{::getpid(), "/proc/self/pagemap"};
    resident_memory found;
    CHECK(resident_walk{pages, usual_stack, most_large}.walk(path, found));
    ::unlink(path);
    return found;
}

}  // namespace

TEST_CASE("a stack ends where stacks usually do, and a large block is found above it") {
    const made_memory memory{40};
    memory.touch(5, 4);   // of a stack from page 1 to 9
    memory.touch(12, 3);  // mapped by the program
    memory.touch(20, 1);  // the head of a block of 16 pages
    memory.put(memory.at(20), 0);
    memory.put(memory.at(20) + 8, 16 * page | 2U);
    memory.touch(30, 2);
    const std::string smaps = entry(memory.at(0), memory.at(1), "---p", 0) +
                              entry(memory.at(1), memory.at(40), "rw-p", 10);
    const resident_memory found = walked(smaps, 9 * page, no_limit);
    CHECK(found.total == 10 * page);
    CHECK(found.stacks == 4 * page);
    CHECK(found.large == 3 * page);
    CHECK(found.large_size == 16 * page);
    CHECK(found.anonymous == 3 * page);
    // Malloc says that it has no block so large.
    const resident_memory none = walked(smaps, 9 * page, 15 * page);
    CHECK(none.large_size == 0);
    CHECK(none.anonymous == 6 * page);
}

TEST_CASE("a large block counts all its pages, whatever its head leaves out at the end") {
    const made_memory memory{40};
    memory.touch(4, 16);
    memory.put(memory.at(4), 0);
    const std::string smaps = entry(memory.at(0), memory.at(40), "rw-p", 16);
    for (const std::uint64_t left_out : {std::uint64_t{0}, std::uint64_t{16}}) {
        memory.put(memory.at(4) + 8, (16 * page - left_out) | 2U);
        CHECK(walked(smaps, 9 * page, no_limit).large == 16 * page);
    }
    memory.put(memory.at(4) + 8, (16 * page - 32) | 2U);
    CHECK(walked(smaps, 9 * page, no_limit).large == 0);
}

TEST_CASE("a stack of unusual size ends with its thread control block") {
    const made_memory memory{40};
    memory.touch(20, 20);
    const std::uint64_t block = memory.at(39) + 0x6c0;
    memory.put(block, block);
    memory.put(block + 16, block);
    const std::string smaps = entry(memory.at(0), memory.at(1), "---p", 0) +
                              entry(memory.at(1), memory.at(40), "rw-p", 20);
    CHECK(walked(smaps, 9 * page, no_limit).stacks == 20 * page);
    memory.put(block + 16, 0);
    CHECK(walked(smaps, 9 * page, no_limit).stacks == 0);
}

TEST_CASE("without a guard below it there is no stack") {
    const made_memory memory{40};
    memory.touch(5, 4);
    const std::string own = entry(memory.at(1), memory.at(40), "rw-p", 4);
    CHECK(walked(own, 40 * page, 0).stacks == 0);
    CHECK(walked(entry(memory.at(0), memory.at(1), "r--p", 0) + own, 40 * page, 0).stacks == 0);
    CHECK(walked(entry(memory.at(0) - page, memory.at(0), "---p", 0) + own, 40 * page, 0).stacks ==
          0);
    CHECK(walked(entry(memory.at(1) - (std::uint64_t{2} << 20U), memory.at(1), "---p", 0) + own,
                 40 * page, 0)
              .stacks == 0);
    CHECK(walked(entry(memory.at(0), memory.at(1), "---p", 0) + own, 40 * page, 0).stacks ==
          4 * page);
}

TEST_CASE("names say what mappings are") {
    const std::string fields = "\nRss: 4 kB\nVmFlags: rd wr\n";
    const resident_memory found = walked(
        "1000-2000 r--p 00000000 08:01 11 /usr/bin/tool" + fields +      //
            "2000-3000 r-xp 00001000 08:01 11 /usr/bin/tool" + fields +  //
            "5000-6000 r--s 00000000 08:01 12 /var/data" + fields +      //
            "6000-7000 rw-s 00000000 00:05 13 /dev/shm/x" + fields +     //
            "7000-8000 rw-s 00000000 00:05 14 /memfd:allocscope (deleted)" + fields +
            "8000-9000 rw-s 00000000 00:05 15 /memfd:other (deleted)" + fields +
            "9000-a000 rw-p 00000000 00:00 0 [stack]" + fields +  //
            "a000-b000 rw-p 00000000 00:00 0 anon_inode:[device]" + fields +
            "b000-c000 r-xp 00000000 00:00 0 [vdso]" + fields + "c000-d000 rwxp 00000000 00:00 0 " +
            fields + "d000-e000 rw-p 00000000 00:00 0 " + "\nRss: 4 kB\nVmFlags: rd dd nh\n",
        page, 0);
    CHECK(found.total == 11 * page);
    CHECK(found.program == 3 * page);
    CHECK(found.files == page);
    CHECK(found.shared == 2 * page);
    CHECK(found.allocscope == 2 * page);
    CHECK(found.stacks == page);
    CHECK(found.unexplained == page);
    CHECK(found.anonymous == page);
}
