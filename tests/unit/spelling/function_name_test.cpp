#include <allocscope/spelling/function_name.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/show_text.hpp"

namespace symbolize = allocscope::symbolize;

namespace {

struct example {
    const char* demangled;
    const char* plain;           // the qualified name without arguments
    const char* last_arguments;  // of the last component
};

// Real names, printed by nm -C and addr2line for programs built by g++ 12 and clang 14.
constexpr example real_names[] = {
    {"main", "main", ""},
    {"app::load(int)", "app::load", ""},
    {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>"
     "(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, int&&)",
     "std::vector::_M_realloc_insert", "<int>"},
    {"int& std::vector<int, std::allocator<int> >::emplace_back<int>(int&&)",
     "std::vector::emplace_back", "<int>"},
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >* "
     "app::make<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
     ">()",
     "app::make",
     "<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >"},
    {"void user::f<std::vector<int, std::allocator<int> > >(std::map<int, int>&)", "user::f",
     "<std::vector<int, std::allocator<int> > >"},
    {"std::__detail::_MakeUniq<int []>::__array std::make_unique<int []>(unsigned long)",
     "std::make_unique", "<int []>"},
    {"main::{lambda(int)#6}::operator()(int) const", "main::{lambda(int)#6}::operator()", ""},
    {"main::{lambda(int)#6} std::for_each<int*, main::{lambda(int)#6}>"
     "(int*, int*, main::{lambda(int)#6})",
     "std::for_each", "<int*, main::{lambda(int)#6}>"},
    {"main::$_5::operator()(int) const", "main::$_5::operator()", ""},
    {"main::'lambda'(int)::operator()(int) const", "main::'lambda'::operator()", ""},
    {"app::run(std::function<void ()> const&)::{lambda()#1}::operator()() const",
     "app::run::{lambda()#1}::operator()", ""},
    {"auto app::run()::{lambda(auto:1)#1}::operator()<int>(int) const",
     "app::run::{lambda(auto:1)#1}::operator()", "<int>"},
    {"app::run() const &::{lambda()#1}::operator()() const &&",
     "app::run::{lambda()#1}::operator()", ""},
    {"(anonymous namespace)::helper(int)", "(anonymous namespace)::helper", ""},
    {"app::(anonymous namespace)::thing<int>* app::(anonymous namespace)::make<int>()",
     "app::(anonymous namespace)::make", "<int>"},
    {"app::value[abi:cxx11](int)", "app::value", ""},
    {"std::__1::allocator<int>::allocate[abi:v15006](unsigned long)",
     "std::__1::allocator::allocate", ""},
    {"decltype(auto) app::twice<int>(int)", "app::twice", "<int>"},
    {"decltype ((declval<int>)()+1) app::sum<int>(int)", "app::sum", "<int>"},
    {"void (*app::handler<int>(int))(double)", "app::handler", "<int>"},
    {"int (app::widget::*app::member<int>())(char) const", "app::member", "<int>"},
    {"void (*(*app::deep<int>())(int))(char)", "app::deep", "<int>"},
    {"app::widget::operator int() const", "app::widget::operator int", ""},
    {"app::widget::operator std::vector<int, std::allocator<int> >() const",
     "app::widget::operator std::vector<int, std::allocator<int> >", ""},
    {"app::widget::operator app::box<int><int>() const", "app::widget::operator app::box<int>",
     "<int>"},
    {"app::widget::operator int*<int>()", "app::widget::operator int*", "<int>"},
    {"app::widget::operator (anonymous namespace)::x*()",
     "app::widget::operator (anonymous namespace)::x*", ""},
    {"bool app::operator< <int>(app::box<int> const&, app::box<int> const&)", "app::operator<",
     "<int>"},
    {"bool app::operator==<int>(app::box<int> const&)", "app::operator==", "<int>"},
    {"std::ostream& app::operator<<(std::ostream&, app::widget const&)", "app::operator<<", ""},
    {"app::widget::operator->() const", "app::widget::operator->", ""},
    {"app::widget::operator()(int)", "app::widget::operator()", ""},
    {"app::widget::operator[](unsigned long)", "app::widget::operator[]", ""},
    {"app::operator\"\" _km(long double)", "app::operator\"\" _km", ""},
    {"app::widget::operator new(unsigned long)", "app::widget::operator new", ""},
    {"operator new[](unsigned long, std::align_val_t)", "operator new[]", ""},
    {"app::widget::~widget()", "app::widget::~widget", ""},
    {"app::load(int) [clone .isra.0]", "app::load", ""},
    {"app::load(int) [clone .constprop.0] [clone .cold]", "app::load", ""},
    {"load.part.3", "load", ""},
    {"load.constprop.0.cold", "load", ""},
    {"load._omp_fn.0", "load", ""},
    {"load.avx2", "load", ""},
    {"app::load(int).__uniq.123", "app::load", ""},
    {"runtime.asmcgocall.abi0", "runtime.asmcgocall.abi0", ""},  // of Go
    {"main.(*box).grow", "main.(*box).grow", ""},
    {"main.work.func1", "main.work.func1", ""},
    {"malloc@plt", "malloc", ""},
    {"virtual thunk to app::widget::draw()", "app::widget::draw", ""},
    {"non-virtual thunk to app::widget::draw() const", "app::widget::draw", ""},
    {"unsigned long app::count<3ul, (char)44>()", "app::count", "<3ul, (char)44>"},
    {"app::f<(app::color)2, &(app::g(int))>()", "app::f", "<(app::color)2, &(app::g(int))>"},
    {"std::thread::thread<main::{lambda()#3}, , void>(main::{lambda()#3}&&)", "std::thread::thread",
     "<main::{lambda()#3}, , void>"},
    {"app::mixed", "app::mixed", ""},
    {"int const& lib::b<x>(x)", "lib::b", "<x>"},
    {"char const* ns::f<int>(int)", "ns::f", "<int>"},
    {"int const lib::value<3>()", "lib::value", "<3>"},
    {"lib::box<int> const* lib::find<int>(int) [clone .cold]", "lib::find", "<int>"},
    {"int volatile* lib::port<int>()", "lib::port", "<int>"},
    {"int const (&lib::row<int>())[3]", "lib::row", "<int>"},
    {"std::__new_allocator<main()::local>::allocate", "std::__new_allocator::allocate", ""},
    {"main()::<lambda(int)>::operator()", "main::<lambda(int)>::operator()", ""},
};

}  // namespace

TEST_CASE("function_name: the qualified name stands between return type and parameters") {
    allocscope::plain::arena memory;
    for (const example& name : real_names) {
        CAPTURE(std::string{name.demangled});
        const symbolize::function_name parsed =
            symbolize::parse_function_name(memory, name.demangled);
        REQUIRE(parsed.is_known());
        CHECK(symbolize::plain_name(memory, parsed) == name.plain);
        CHECK(parsed.last().arguments == name.last_arguments);
    }
}

TEST_CASE("function_name: what is no name is not known") {
    allocscope::plain::arena memory;
    for (const char* name : {"", " ", "<", "f<int", "f(", "a:b", "?", "()", "*", "f<int>)("}) {
        CAPTURE(name);
        const symbolize::function_name parsed = symbolize::parse_function_name(memory, name);
        if (std::string{name} == "f<int>)(") {
            CHECK(symbolize::plain_name(memory, parsed) == "f");
        } else {
            CHECK_FALSE(parsed.is_known());
        }
    }
}
