// Words of memory that may be gone: those that are there are read, whatever lies between them.

#include <allocscope/platform/probe_memory.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

using allocscope::detail::probe_words;
using allocscope::detail::probed_word;

namespace {

std::uintptr_t address_of(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at);
}

}  // namespace

TEST_CASE("probe_words: each word that is there is read, each that is not is said to be gone") {
    // Around each hundred, which is one system call.
    for (const std::size_t count : {0U, 1U, 99U, 100U, 101U, 250U}) {
        for (const std::size_t gone_every : {0U, 1U, 2U, 7U, 100U}) {
            CAPTURE(count);
            CAPTURE(gone_every);
            std::vector<std::uintptr_t> values(count);
            std::vector<probed_word> words;
            for (std::size_t i = 0; i < count; ++i) {
                values[i] = i * 3 + 1;
                const bool is_gone = gone_every != 0 && i % gone_every == gone_every - 1;
                words.push_back({is_gone ? 16 : address_of(&values[i]), 0, false});
            }
            errno = 77;
            probe_words(words.data(), words.size());
            CHECK(errno == 77);
            for (std::size_t i = 0; i < count; ++i) {
                CAPTURE(i);
                REQUIRE(words[i].is_read == (words[i].address != 16));
                REQUIRE(words[i].word == (words[i].is_read ? values[i] : 0));
            }
        }
    }
}

TEST_CASE("probe_words: a word of which only a part is there is gone") {
    constexpr std::size_t page = 4096;
    void* const pages =
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    auto* const bytes = static_cast<char*>(pages);
    REQUIRE(::munmap(bytes + page, page) == 0);
    const std::uintptr_t value = 5;
    probed_word words[] = {{address_of(&value), 0, false},
                           {address_of(bytes + page - 4), 0, true},
                           {address_of(&value), 0, false}};
    probe_words(words, 3);
    CHECK(words[0].is_read);
    CHECK_FALSE(words[1].is_read);
    CHECK(words[2].is_read);
    CHECK(words[2].word == 5);
    ::munmap(pages, page);
}

TEST_CASE("probe_words: words in any order, of one page and of several, are each their own") {
    constexpr std::size_t count = 4096;  // 32 KiB
    std::vector<std::uintptr_t> values(count + 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 3 + 1;
    for (const std::size_t step : {1U, 2U, 5U, 511U, 513U, 4095U}) {  // backwards with the last one
        CAPTURE(step);
        std::vector<probed_word> words;
        std::size_t at = 0;
        for (std::size_t i = 0; i < count; ++i, at = (at + step) % count) {
            words.push_back({address_of(&values[at]), 0, false});
        }
        probe_words(words.data(), words.size());
        at = 0;
        for (std::size_t i = 0; i < count; ++i, at = (at + step) % count) {
            CAPTURE(i);
            REQUIRE(words[i].is_read);
            REQUIRE(words[i].word == values[at]);
        }
    }
}
