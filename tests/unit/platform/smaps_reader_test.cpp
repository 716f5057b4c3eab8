#include <allocscope/platform/smaps_reader.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

using allocscope::detail::mapping;
using allocscope::detail::smaps_reader;

namespace {

std::vector<mapping> read_all(const std::string& text) {
    char path[] = P_tmpdir "/smaps_reader_XXXXXX";
    const int file = ::mkstemp(path);
    REQUIRE(file >= 0);
    REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(file);
    std::vector<mapping> found;
    {
        smaps_reader reader{path};
        mapping next;
        while (reader.next(next)) found.push_back(next);
    }
    ::unlink(path);
    return found;
}

const std::string heap =
    "55d0c3a4b000-55d0c3a6c000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:                132 kB\nRss:                  16 kB\nPss:                  16 kB\n"
    "Swap:                  4 kB\nSwapPss:               0 kB\n"
    "VmFlags: rd wr mr mw me ac sd \n";
const std::string library =
    "7f0a1c000000-7f0a1c028000 r-xp 00028000 fd:01 1835157      /usr/lib/lib c.so (deleted)\n"
    "Rss:                 160 kB\nVmFlags: rd ex mr mw me dd nh sd\n";

}  // namespace

TEST_CASE("an entry is read field by field") {
    const std::vector<mapping> all = read_all(heap + library);
    REQUIRE(all.size() == 2);
    CHECK(all[0].low == 0x55d0c3a4b000U);
    CHECK(all[0].size() == 132 * 1024);
    CHECK(all[0].resident == 16 * 1024);
    CHECK(all[0].swapped == 4 * 1024);
    CHECK(all[0].is_named("[heap]"));
    CHECK(all[0].inode == 0);
    CHECK((all[0].is_readable && all[0].is_writable && !all[0].is_executable));
    CHECK_FALSE(all[0].is_shared);
    CHECK_FALSE((all[0].is_not_dumped || all[0].is_never_huge));
    CHECK(all[1].is_named("/usr/lib/lib c.so (deleted)"));
    CHECK(all[1].inode == 1835157);
    CHECK(all[1].device == ((std::uint64_t{0xfd} << 32U) | 1U));
    CHECK(all[1].is_executable);
    CHECK((all[1].is_not_dumped && all[1].is_never_huge));
    CHECK(all[1].swapped == 0);
}

TEST_CASE("a name that looks like fields is a name") {
    const std::string name = "/tmp/a\\012Rss:  99 kB\\0127f00-8000 rw-p VmFlags: dd nh";
    const std::vector<mapping> all =
        read_all("1000-2000 r--p 00000000 00:10 7 " + name + "\nRss: 4 kB\n" + heap);
    REQUIRE(all.size() == 2);
    CHECK(all[0].resident == 4096);
    CHECK_FALSE(all[0].is_not_dumped);
    CHECK(all[0].is_named("/tmp/a\\012Rss:"));
}

TEST_CASE("names of any length are cut and nothing after them is lost") {
    for (const std::size_t length : {1U, 47U, 48U, 255U, 256U, 4000U, 4096U, 70000U}) {
        const std::vector<mapping> all =
            read_all("1000-2000 r--s 00000000 00:10 7 /" + std::string(length, 'x') +
                     "\nRss: 4 kB\n" + heap);
        REQUIRE(all.size() == 2);
        CHECK(all[0].resident == 4096);
        CHECK(all[0].is_shared);
        CHECK(all[1].resident == 16 * 1024);
    }
}

TEST_CASE("what is missing is nothing, and what is cut ends") {
    CHECK(read_all("").empty());
    CHECK(read_all("\n\n").empty());
    CHECK(read_all("Rss: 12 kB\n").empty());
    CHECK(read_all("1000-2000").size() == 1);
    CHECK(read_all("1000-2000\nRss:").front().resident == 0);
    CHECK(read_all("2000-1000 rw-p\n").front().size() == 0);
    smaps_reader none{"/proc/self/there is no such file"};
    mapping next;
    CHECK_FALSE(none.next(next));
    smaps_reader folder{"/proc/self"};
    CHECK_FALSE(folder.next(next));
}

TEST_CASE("damaged files are read to their end") {
    std::mt19937 random{7};
    for (int round = 0; round < 300; ++round) {
        std::string text = heap + library + heap;
        for (int i = 0; i < 20; ++i) text[random() % text.size()] = static_cast<char>(random());
        CHECK(read_all(text).size() < text.size());
    }
}

TEST_CASE("of this process it says what the kernel says") {
    smaps_reader reader{"/proc/self/smaps"};
    mapping next;
    std::uint64_t last = 0;
    bool has_stack = false;
    while (reader.next(next)) {
        CHECK(next.low >= last);
        last = next.high;
        has_stack = has_stack || next.is_named("[stack]");
    }
    CHECK(has_stack);
}
