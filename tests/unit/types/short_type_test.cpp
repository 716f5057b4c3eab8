#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/types/short_type.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "unit/symbols/shop_types.hpp"

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;
using allocscope::plain::list;
using allocscope::plain::text;

namespace {

// What the last of the arguments `shown` is in a class with the arguments `others`.
std::string as_argument(std::initializer_list<const char*> shown,
                        std::initializer_list<const char*> others) {
    arena memory;
    list<text> of_shown{memory};
    list<text> of_others{memory};
    for (const char* each : shown) of_shown.push_back(each);
    for (const char* each : others) of_others.push_back(each);
    const text made = symbolize::as_argument_of(memory, of_shown.back(), of_shown, of_others,
                                                of_shown.size() - 1);
    return {made.data(), made.size()};
}

}  // namespace

TEST_CASE("short_type: an argument that is made of those before it") {
    CHECK(as_argument({"int", "std::allocator<int>"}, {"char"}) == "std::allocator<char>");
    CHECK(as_argument({"int", "app::widget", "map<int, app::widget>"}, {"app::widget", "int"}) ==
          "map<app::widget, int>");
    CHECK(as_argument({"bag<int>", "pool<bag<int>>"}, {"char"}) == "pool<char>");
    CHECK(as_argument({"int", "pool<app::int, print>"}, {"char"}) == "pool<app::int, print>");
    CHECK(as_argument({"int", "int"}, {"char"}) == "int");
    CHECK(as_argument({"3", "box<3>"}, {"4"}) == "box<3>");
    CHECK(as_argument({"int", "app::counted"}, {"char"}) == "app::counted");
}

TEST_CASE("short_type: only what is outside of the standard library is looked up") {
    for (const char* type : {"", "?", "int", "widget", "std::vector<int>", "{lambda}",
                             "std::pair<const int, std::vector<widget>>", "void (*)(int)"}) {
        CAPTURE(std::string{type});
        CHECK_FALSE(symbolize::may_be_shorter(type));
    }
    for (const char* type : {"app::bag<int>", "std::vector<bag<int>>", "std::set<app::widget>",
                             "app::widget", "main::{lambda}"}) {
        CAPTURE(std::string{type});
        CHECK(symbolize::may_be_shorter(type));
    }
}

TEST_CASE("short_type: a type that nothing is known about stays as it is") {
    allocscope_test::with_shop_types([](arena& memory, const symbolize::type_names& known) {
        for (const char* type :
             {"app::bag<int, std::allocator<int>>", "std::vector<app::bag<int>>", "bag<>", "a<b",
              "shop::shelf<int>", "app::operator< <int>", "f(a<b>)::c<d, e>"}) {
            CAPTURE(std::string{type});
            CHECK(symbolize::short_type(memory, type, known) == type);
        }
    });
}
