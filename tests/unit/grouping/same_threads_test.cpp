#include <allocscope/grouping/same_threads.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using allocscope::snapshot;
using allocscope::detail::same_threads;
using allocscope::plain::arena;

TEST_CASE("same_threads: process, number and name tell threads apart") {
    arena memory;
    arena scratch;
    same_threads threads{memory, scratch};
    CHECK(threads.number_of({1, "worker", 70}) == 0);
    CHECK(threads.number_of({2, "worker", 70}) == 1);
    CHECK(threads.number_of({1, "worker", 71}) == 2);
    CHECK(threads.number_of({1, "reader", 70}) == 3);  // of another run with this process id
    CHECK(threads.number_of({1, "worker", 70}) == 0);
    CHECK(threads.number_of({1, "reader", 70}) == 3);
    CHECK(threads.all().size() == 4);
}

TEST_CASE("same_threads: a thread without a name gets that of another snapshot") {
    arena memory;
    arena scratch;
    same_threads threads{memory, scratch};
    CHECK(threads.number_of({1, "", 70}) == 0);
    CHECK(threads.number_of({1, "worker", 70}) == 0);
    CHECK(threads.number_of({1, "", 70}) == 0);
    CHECK(threads.number_of({1, "reader", 70}) == 1);
    CHECK(threads.number_of({1, "", 70}) == 0);
    CHECK(std::string{threads.all()[0].name} == "worker");
}

TEST_CASE("same_threads: two runs of a program have the same threads") {
    arena memory;
    arena scratch;
    same_threads threads{memory, scratch, true};
    CHECK(threads.number_of({1, "worker", 70}) == 0);
    CHECK(threads.number_of({1, "worker", 90}) == 0);
    CHECK(threads.number_of({2, "worker", 90}) == 1);
}

// Comparing each with each would take minutes.
TEST_CASE("same_threads: many threads") {
    constexpr std::size_t count = 200000;
    arena memory;
    arena scratch;
    same_threads threads{memory, scratch};
    std::size_t wrong = 0;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
            if (threads.number_of({i, "worker", 70}) != i) ++wrong;
        }
    }
    CHECK(wrong == 0);
    CHECK(threads.all().size() == count);
}
