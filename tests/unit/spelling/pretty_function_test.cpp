#include <allocscope/spelling/pretty_function.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

std::string pretty(const char* function) {
    allocscope::plain::arena memory;
    const auto shown = allocscope::symbolize::pretty_function(memory, function);
    return {shown.data(), shown.size()};
}

}  // namespace

TEST_CASE("pretty_function: without return type, ABI tags and clones") {
    CHECK(pretty("main") == "main");
    CHECK(pretty("app::load(int)") == "app::load(int)");
    CHECK(pretty("std::vector<int, std::allocator<int> >* app::make<int>(unsigned long)") ==
          "app::make<int>(unsigned long)");
    CHECK(pretty("decltype(auto) app::first<app::box<int> >(app::box<int>&)") ==
          "app::first<app::box<int>>(app::box<int>&)");
    CHECK(pretty("void (*app::handler<int>(int))(double)") == "app::handler<int>(int)");
    CHECK(pretty("app::load[abi:cxx11](char const*) [clone .isra.0]") == "app::load(const char*)");
    CHECK(pretty("app::load(std::__cxx11::basic_string<char, std::char_traits<char>, "
                 "std::allocator<char> > const&)") == "app::load(const std::string&)");
    CHECK(pretty("app::cache::at(long) const") == "app::cache::at(long) const");
    CHECK(pretty("app::cache::take() &&") == "app::cache::take() &&");
    CHECK(pretty("non-virtual thunk to app::widget::draw()") == "app::widget::draw()");
}

TEST_CASE("pretty_function: operators keep their names") {
    CHECK(pretty("app::widget::operator new(unsigned long)") ==
          "app::widget::operator new(unsigned long)");
    CHECK(pretty("operator new[](unsigned long)") == "operator new[](unsigned long)");
    CHECK(pretty("bool app::operator< <int>(app::box<int> const&, app::box<int> const&)") ==
          "app::operator< <int>(const app::box<int>&, const app::box<int>&)");
    CHECK(pretty("std::ostream& operator<< <char>(std::ostream&, char)") ==
          "operator<< <char>(std::ostream&, char)");
    CHECK(pretty("app::less::operator()(int, int) const") ==
          "app::less::operator()(int, int) const");
    CHECK(pretty("app::widget::operator std::vector<int, std::allocator<int> >() const") ==
          "app::widget::operator std::vector<int>() const");
}

TEST_CASE("pretty_function: a lambda has one name, whatever the compiler calls it") {
    for (const char* name :
         {"main::{lambda(int)#1}::operator()(int) const", "main::$_0::operator()(int) const",
          "main::<lambda(int)>::operator()", "main::'lambda'(int)::operator()(int) const",
          "auto main::{lambda(auto:1)#1}::operator()<int>(int) const", "main::{lambda}",
          "main::{lambda()#1}::_FUN()", "main::$_1::__invoke()",
          "main::{lambda(auto:1)#1}::operator()(int) const [with auto:1 = int]"}) {
        CAPTURE(name);
        CHECK(pretty(name) == "main::{lambda}");
    }
    CHECK(pretty("app::run(int)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() "
                 "const") == "app::run::{lambda}::{lambda}");
    CHECK(pretty("main::{lambda()#1}::operator()() const::local::run(int)") ==
          "main::{lambda}::local::run(int)");
}

TEST_CASE("pretty_function: pretty names and what is no name stay as they are") {
    for (const char* name :
         {"app::make<int>(unsigned long)", "app::operator< <int>(int)", "main::{lambda}",
          "app::run::{lambda}::{lambda}", "(anonymous namespace)::node::grow()", "", "?", "+0x12",
          "_ZN3app4loadEi", "operator new(unsigned long)", "app::widget::~widget()"}) {
        CHECK(pretty(name) == name);
    }
}
