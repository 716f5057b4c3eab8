#include <allocscope/plain/arena.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

#include "unit/symbols/shop_types.hpp"

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;
using symbolize::size_fit;

TEST_CASE("class_size: a block is compared with the class that has the name") {
    allocscope_test::with_shop_types([](arena& memory, const symbolize::type_names& known) {
        const auto fit = [&](const char* type, std::uint64_t block_bytes) {
            return symbolize::compare_size(memory, type, known, block_bytes);
        };
        CHECK(fit("shop::cart", 56) == size_fit::same);
        CHECK(fit("shop::cart", 64) == size_fit::other);
        CHECK(fit("shop::cart", 4096) == size_fit::other);
        CHECK(fit("shop::(anonymous namespace)::shelf<int>", 16) == size_fit::same);
        CHECK(fit("shop::(anonymous namespace)::shelf<int>", 32) == size_fit::other);
        CHECK(fit("shop::(anonymous namespace)::shelf<long>", 32) == size_fit::same);
        CHECK(fit("shop::(anonymous namespace)::shelf<char>", 4) == size_fit::unknown);
        CHECK(fit("shop::(anonymous namespace)::shelf", 16) == size_fit::unknown);
        CHECK(fit("run_example::local", 1) == size_fit::same);
        CHECK(fit("run_example::local", 8) == size_fit::other);
        CHECK(fit("local", 8) == size_fit::unknown);
        CHECK(fit("run_example::shop::cart", 64) == size_fit::unknown);  // it is another one
        for (const char* unknown : {"shop::nobody", "int[14]", "", "?"}) {
            CHECK(fit(unknown, 56) == size_fit::unknown);
        }
        CHECK(fit("shop::cart*", 8) == size_fit::same);
        CHECK(fit("shop::cart*", 56) == size_fit::other);
        CHECK(fit("int", 4) == size_fit::same);
        CHECK(fit("int", 8) == size_fit::other);
        CHECK(fit("unsigned long", 8) == size_fit::same);
        CHECK(fit("std::size_t", 8) == size_fit::same);
        CHECK(fit("uint32_t", 8) == size_fit::other);
        CHECK(fit("app::size_t", 8) == size_fit::unknown);
        CHECK(fit("std::max_align_t", 8) == size_fit::unknown);
        CHECK(fit("long double", 16) == size_fit::same);
        CHECK(fit("double", 8) == size_fit::same);
    });
}
