// What operators allocate and what malloc allocates have lines of their own in the head, in every
// kind of window, and the totals are their sum.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include <pools/families.hpp>

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using allocscope::recording;
using allocscope::snapshot;

void check_families(const snapshot& seen, std::uint64_t rounds) {
    const snapshot::family operators = allocscope_test::family_of(seen, "operator new");
    const snapshot::family mallocs = allocscope_test::family_of(seen, "malloc");
    CHECK(operators.allocations == 3 * rounds);
    CHECK(operators.bytes_allocated == 3 * rounds * 16);
    CHECK(operators.frees == rounds);
    CHECK(mallocs.allocations == 2 * rounds);
    CHECK(mallocs.bytes_allocated == rounds * (100 + 200));
    CHECK(mallocs.frees == rounds);
    CHECK(mallocs.bytes_freed == rounds * 100);
    CHECK(seen.info().totals.allocations == 5 * rounds);
}

__attribute__((noinline)) void allocate(std::vector<void*>& kept_new,
                                        std::vector<void*>& kept_malloc) {
    void* block = std::malloc(100);
    kept_malloc.push_back(std::realloc(block, 200));  // a death and a birth
    kept_new.push_back(::operator new(16));
    kept_new.push_back(::operator new(16));
    ::operator delete(::operator new(16));
}

snapshot all_families(recording how, std::uint64_t rounds) {
    std::vector<void*> kept_new;
    std::vector<void*> kept_malloc;
    kept_new.reserve(2 * rounds);
    kept_malloc.reserve(rounds);
    allocscope::options wanted;
    wanted.record = how;
    wanted.sample_bytes = 1;
    allocscope::scope window{"families", wanted};
    for (std::uint64_t i = 0; i < rounds; ++i) allocate(kept_new, kept_malloc);
    const snapshot seen = window.stop();
    for (void* block : kept_new) ::operator delete(block);
    for (void* block : kept_malloc) std::free(block);
    return seen;
}

}  // namespace

TEST_CASE("operators and malloc are told apart in every kind of window") {
    for (const recording how : {recording::exact, recording::counters, recording::sampled}) {
        CAPTURE(static_cast<int>(how));
        check_families(all_families(how, 200), 200);
    }
}

TEST_CASE("the head of a report has a line for each") {
    const std::string report = allocscope::to_text(all_families(recording::exact, 10));
    CHECK(report.find("operator new") != std::string::npos);
    CHECK(report.find("malloc") != std::string::npos);
}
