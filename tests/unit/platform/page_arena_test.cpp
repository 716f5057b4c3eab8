#include <doctest/doctest.h>
#include <allocscope/platform/page_arena.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using allocscope::detail::mappings_until_refusal;
using allocscope::detail::page_arena;

namespace {

// Fifteen million bytes are looked at: an assertion for each takes most of the time.
bool is_filled_with(const unsigned char* piece, std::size_t bytes, unsigned char wanted) {
    return std::all_of(piece, piece + bytes,
                       [wanted](unsigned char byte) { return byte == wanted; });
}

}  // namespace

TEST_CASE("page_arena: pieces are zeroed, aligned and apart") {
    page_arena arena;
    std::vector<std::pair<unsigned char*, std::size_t>> pieces;
    for (std::size_t i = 0; i < 3000; ++i) {
        const std::size_t bytes = i * 37 % 5000 + 1;
        auto* piece = static_cast<unsigned char*>(arena.allocate(bytes));
        REQUIRE(piece != nullptr);
        CHECK(reinterpret_cast<std::uintptr_t>(piece) % 64 == 0);
        REQUIRE(is_filled_with(piece, bytes, 0));
        std::memset(piece, static_cast<int>(i % 255) + 1, bytes);
        pieces.emplace_back(piece, bytes);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        REQUIRE(is_filled_with(pieces[i].first, pieces[i].second,
                               static_cast<unsigned char>(i % 255 + 1)));
    }
    arena.release();
    CHECK(arena.used_bytes() == 0);
}

TEST_CASE("page_arena: threads never get the same piece") {
    page_arena arena;
    std::vector<std::vector<void*>> got(4);
    std::vector<std::thread> threads;
    for (auto& mine : got) {
        threads.emplace_back([&mine, &arena] {
            for (int i = 0; i < 20000; ++i) mine.push_back(arena.allocate(64));
        });
    }
    for (auto& thread : threads) thread.join();
    std::set<void*> all;
    for (const auto& mine : got) all.insert(mine.begin(), mine.end());
    CHECK(all.size() == 80000);
    CHECK(all.count(nullptr) == 0);
    arena.release();
}

TEST_CASE("page_arena: refused memory is a null piece, and later ones come again") {
    page_arena arena;
    mappings_until_refusal.store(0);
    CHECK(arena.allocate(64) == nullptr);
    mappings_until_refusal.store(-1);
    CHECK(arena.allocate(64) != nullptr);
    arena.release();
}
