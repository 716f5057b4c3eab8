// not with: tsan (it takes every handler that allocates for an error)

#include "window_checks.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <new>

using allocscope::scope;
using allocscope::snapshot;
using namespace sampling_test;

namespace {

volatile std::sig_atomic_t handled = 0;

void allocate_in_handler(int) {
    for (const std::size_t bytes : {10U, 300U, 70000U}) {
        ::operator delete(::operator new(bytes));
    }
    handled = handled + 1;
}

}  // namespace

TEST_CASE("sampled_handlers: what a handler allocates is sampled like everything else") {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = &allocate_in_handler;
    ::sigaction(SIGUSR1, &action, &before);
    for (const std::uint64_t every : {std::uint64_t{1}, std::uint64_t{500}}) {
        scope sampled{"handler", sampled_every(every)};
        for (int i = 0; i < 300; ++i) ::raise(SIGUSR1);
        const snapshot rows = sampled.stop();
        CHECK(rows.live_objects() == 0);
        CHECK(is_near(900, rows.info().estimates.allocations));
        if (every == 1) check_is_exactly(rows.info().estimates.allocations, 900);
    }
    ::sigaction(SIGUSR1, &before, nullptr);
    CHECK(handled == 600);
}
