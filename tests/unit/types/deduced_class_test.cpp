#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/type_names.hpp>
#include <allocscope/types/deduced_class.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "unit/symbols/shop_types.hpp"

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;

TEST_CASE("deduced_class: the only class of the template that is as large as the block") {
    allocscope_test::with_shop_types([](arena& memory, const symbolize::type_names& known) {
        const auto deduced = [&](const char* begun, std::uint64_t block_bytes) {
            const allocscope::plain::text type =
                symbolize::deduced_class(memory, begun, known, block_bytes);
            return std::string{type.data(), type.size()};
        };
        const std::string shelf = "shop::(anonymous namespace)::shelf";
        CHECK(deduced("shelf<", 16) == shelf + "<int>");
        CHECK(deduced("shelf<", 32) == shelf + "<long>");
        CHECK(deduced("shelf<", 24).empty());
        CHECK(deduced("shelf<long", 32) == shelf + "<long>");
        CHECK(deduced("shelf<long", 16).empty());
        CHECK(deduced("shelf<char", 16).empty());
        CHECK(deduced("shop::shelf<", 16).empty());
        CHECK(deduced("other::shelf<", 16).empty());
        CHECK(deduced("cart<", 56).empty());
        CHECK(deduced("nobody<", 56).empty());
    });
}

TEST_CASE("deduced_class: a candidate without its closing bracket asks for it") {
    CHECK(symbolize::is_begun_class("app::box<"));
    CHECK(symbolize::is_begun_class("app::box<int"));
    CHECK(!symbolize::is_begun_class("app::box<int>"));
    CHECK(!symbolize::is_begun_class("app::part"));
    CHECK(!symbolize::is_begun_class(""));
}
