#include <allocscope/spelling/pretty_type.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

std::string pretty_type(const std::string& type) {
    allocscope::plain::arena memory;
    const auto pretty = allocscope::symbolize::pretty_type(memory, {type.data(), type.size()});
    return {pretty.data(), pretty.size()};
}

// As the demanglers spell it, with the first of its arguments and with more behind the last one.
#define ALLOCSCOPE_JSON(map, more)                                                \
    "nlohmann::json_abi_v3_11_2::basic_json<" map                                 \
    ", std::vector, std::__cxx11::basic_string<char, std::char_traits<char>, "    \
    "std::allocator<char> >, bool, long, unsigned long, double, std::allocator, " \
    "nlohmann::json_abi_v3_11_2::adl_serializer, std::vector<unsigned char, "     \
    "std::allocator<unsigned char> >" more " >"

struct spelling {
    const char* demangled;
    const char* pretty;
};

#define ALLOCSCOPE_STRING \
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

constexpr spelling spellings[] = {
    {ALLOCSCOPE_STRING, "std::string"},
    {ALLOCSCOPE_STRING "*", "std::string*"},
    {ALLOCSCOPE_STRING " const", "const std::string"},
    {ALLOCSCOPE_STRING " const&", "const std::string&"},
    {"std::string", "std::string"},
    {ALLOCSCOPE_JSON("std::map", ""), "nlohmann::json"},
    {ALLOCSCOPE_JSON("std::map", "") "*", "nlohmann::json*"},
    {ALLOCSCOPE_JSON("std::map", ", void"), "nlohmann::json"},
    {ALLOCSCOPE_JSON("nlohmann::json_abi_v3_11_2::ordered_map", ""), "nlohmann::ordered_json"},
    {ALLOCSCOPE_JSON("app::map", ""),
     "nlohmann::basic_json<app::map, std::vector, std::string, bool, long, unsigned long, double, "
     "std::allocator, nlohmann::adl_serializer, std::vector<unsigned char>>"},
    {ALLOCSCOPE_JSON("std::map", ", app::base"),
     "nlohmann::basic_json<std::map, std::vector, std::string, bool, long, unsigned long, double, "
     "std::allocator, nlohmann::adl_serializer, std::vector<unsigned char>, app::base>"},
    {"std::pair<" ALLOCSCOPE_STRING " const, " ALLOCSCOPE_JSON("std::map", "") " >",
     "std::pair<const std::string, nlohmann::json>"},
    {"boost::property_tree::basic_ptree<" ALLOCSCOPE_STRING ", " ALLOCSCOPE_STRING
     ", std::less<" ALLOCSCOPE_STRING " > >",
     "boost::property_tree::ptree"},
    {"boost::property_tree::basic_ptree<int, int, std::less<int> >",
     "boost::property_tree::basic_ptree<int, int, std::less<int>>"},
    {"fmt::v9::basic_memory_buffer<char, 500ul>", "fmt::basic_memory_buffer<char, 500>"},
    {"absl::lts_20220623::Cord", "absl::Cord"},
    {"toml::toml11_4_4_0::detail::scanner_storage", "toml::detail::scanner_storage"},
    {"absl::debian3::Cord", "absl::Cord"},
    {"app::v9::thing", "app::v9::thing"},
    {"msgpack::v2::object*", "msgpack::object*"},
    {"toml::v3::table", "toml::table"},
    {"boost::log::v2_mt_posix::core", "boost::log::core"},
    {"tbb::detail::d1::task_arena", "tbb::task_arena"},
    {"tbb::detail::thing", "tbb::thing"},
    {"icu_72::UnicodeString", "icu::UnicodeString"},
    {"xercesc_3_2::DOMNode", "xercesc::DOMNode"},
    {"icu_old::thing", "icu_old::thing"},
    {"icu_72", "icu_72"},
    {"app::icu_72::thing", "app::icu_72::thing"},
    {"app::bits<(unsigned char)7, (signed char)-7, (short)-3, (unsigned short)9>",
     "app::bits<7, -7, -3, 9>"},
    {"app::letter<(char)120, (char)10, (char)39>", "app::letter<'x', (char)10, (char)39>"},
    {"app::paint<(app::colour)1, (mychar)2>", "app::paint<(app::colour)1, (mychar)2>"},
    {"app::call<(short)>", "app::call<(short)>"},
    {"std::less<void>", "std::less<>"},
    {"std::set<int, std::greater<void>, std::allocator<int> >", "std::set<int, std::greater<>>"},
    {"std::chrono::duration<long, std::ratio<1l, 1l> >", "std::chrono::seconds"},
    {"std::chrono::duration<double, std::ratio<1l, 1l> >", "std::chrono::duration<double>"},
    {"std::chrono::duration<long, std::ratio<60l, 1l> >", "std::chrono::minutes"},
    {"std::chrono::duration<int, std::ratio<60l, 1l> >",
     "std::chrono::duration<int, std::ratio<60>>"},
    {"std::span<app::item, 18446744073709551615ul>", "std::span<app::item>"},
    {"std::span<int, 4ul>", "std::span<int, 4>"},
    {"std::chrono::time_point<std::chrono::_V2::system_clock, std::chrono::duration<long, "
     "std::ratio<1l, 1000000000l> > >",
     "std::chrono::system_clock::time_point"},
    {"std::chrono::time_point<app::clock, std::chrono::duration<long, std::ratio<1l, 1000l> > >",
     "std::chrono::time_point<app::clock, std::chrono::milliseconds>"},
    {"std::mersenne_twister_engine<unsigned long, 32ul, 624ul, 397ul, 31ul, 2567483615ul, 11ul, "
     "4294967295ul, 7ul, 2636928640ul, 15ul, 4022730752ul, 18ul, 1812433253ul>",
     "std::mt19937"},
    {"std::mersenne_twister_engine<unsigned long, 32ul>",
     "std::mersenne_twister_engine<unsigned long, 32>"},
    {"std::__cxx11::match_results<__gnu_cxx::__normal_iterator<char const*, " ALLOCSCOPE_STRING
     " >, std::allocator<std::__cxx11::sub_match<__gnu_cxx::__normal_iterator<char "
     "const*, " ALLOCSCOPE_STRING " > > > >",
     "std::smatch"},
    {"__gnu_cxx::__normal_iterator<char*, " ALLOCSCOPE_STRING " >", "std::string::iterator"},
    {"__gnu_cxx::__normal_iterator<char const**, std::vector<char const*, std::allocator<char "
     "const*> > >",
     "std::vector<const char*>::iterator"},
    {"__gnu_cxx::__normal_iterator<char const* const*, std::vector<char const*, "
     "std::allocator<char const*> > >",
     "std::vector<const char*>::const_iterator"},
    {"__gnu_cxx::__normal_iterator<int*, app::list>",
     "__gnu_cxx::__normal_iterator<int*, app::list>"},
    {"std::_List_iterator<int const*>", "std::list<const int*>::iterator"},
    {"std::__1::__list_iterator<int, void*>", "std::list<int>::iterator"},
    {"std::__1::__list_const_iterator<int, void*>", "std::list<int>::const_iterator"},
    {"std::__1::__fs::filesystem::path", "std::filesystem::path"},
    {"std::_List_const_iterator<int>", "std::list<int>::const_iterator"},
    {"std::_Deque_iterator<int, int const&, int const*>", "std::deque<int>::const_iterator"},
    {"std::_Deque_iterator<int, int&, int*>", "std::deque<int>::iterator"},
    {"std::_Rb_tree_iterator<int>", "std::_Rb_tree_iterator<int>"},
    {"fmt::vector::thing", "fmt::vector::thing"},
    {"std::basic_string<char>", "std::string"},
    {"std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
     "std::__1::allocator<wchar_t> >",
     "std::wstring"},
    {"std::__cxx11::basic_string<char32_t, std::char_traits<char32_t>, std::allocator<char32_t> >",
     "std::u32string"},
    {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
    {"std::basic_string<char, app::traits, std::allocator<char> >",
     "std::basic_string<char, app::traits>"},
    {"std::vector<int, std::allocator<int> >", "std::vector<int>"},
    {"std::vector<int, app::allocator<int> >", "std::vector<int, app::allocator<int>>"},
    {"std::vector<int, std::allocator<long> >", "std::vector<int, std::allocator<long>>"},
    {"std::vector<" ALLOCSCOPE_STRING ", std::allocator<" ALLOCSCOPE_STRING " > >",
     "std::vector<std::string>"},
    {"std::vector<std::vector<int, std::allocator<int> >, "
     "std::allocator<std::vector<int, std::allocator<int> > > >",
     "std::vector<std::vector<int>>"},
    {"std::map<" ALLOCSCOPE_STRING ", int, std::less<" ALLOCSCOPE_STRING
     " >, std::allocator<std::pair<" ALLOCSCOPE_STRING " const, int> > >",
     "std::map<std::string, int>"},
    {"std::map<char*, int, std::less<char*>, std::allocator<std::pair<char* const, int> > >",
     "std::map<char*, int>"},
    {"std::map<char const*, int, std::less<char const*>, "
     "std::allocator<std::pair<char const* const, int> > >",
     "std::map<const char*, int>"},
    {"std::map<int, int, std::greater<int>, std::allocator<std::pair<int const, int> > >",
     "std::map<int, int, std::greater<int>>"},
    {"std::set<int, std::less<int>, std::allocator<int> >", "std::set<int>"},
    {"std::unordered_map<int, char, std::hash<int>, std::equal_to<int>, "
     "std::allocator<std::pair<int const, char> > >",
     "std::unordered_map<int, char>"},
    {"std::unordered_set<int, app::hash, std::equal_to<int>, std::allocator<int> >",
     "std::unordered_set<int, app::hash>"},
    {"std::pair<" ALLOCSCOPE_STRING " const, int>", "std::pair<const std::string, int>"},
    {"std::unique_ptr<app::widget, std::default_delete<app::widget> >",
     "std::unique_ptr<app::widget>"},
    {"std::unique_ptr<int [], std::default_delete<int []> >", "std::unique_ptr<int[]>"},
    {"std::stack<int, std::deque<int, std::allocator<int> > >", "std::stack<int>"},
    {"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >",
     "std::priority_queue<int>"},
    {"std::vector<int, std::pmr::polymorphic_allocator<int> >", "std::pmr::vector<int>"},
    {"std::basic_string<char, std::char_traits<char>, std::pmr::polymorphic_allocator<char> >",
     "std::pmr::string"},
    {"std::map<int, int, std::less<int>, "
     "std::pmr::polymorphic_allocator<std::pair<int const, int> > >",
     "std::pmr::map<int, int>"},
    {"std::__cxx11::list<int, std::allocator<int> >", "std::list<int>"},
    {"std::__debug::vector<int, std::allocator<int> >", "std::vector<int>"},
    {"std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >",
     "std::ostringstream"},
    {"std::basic_ifstream<char, std::char_traits<char> >", "std::ifstream"},
    {"std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >", "std::regex"},
    {"std::filesystem::__cxx11::path", "std::filesystem::path"},
    {"std::chrono::_V2::system_clock", "std::chrono::system_clock"},
    {"std::__exception_ptr::exception_ptr", "std::exception_ptr"},
    {"std::__n4861::coroutine_handle<void>", "std::coroutine_handle<void>"},
    {"std::array<int, 8ul>", "std::array<int, 8>"},
    {"long unsigned int", "unsigned long"},
    {"unsigned long", "unsigned long"},
    {"unsigned", "unsigned int"},
    {"unsigned long long int", "unsigned long long"},
    {"char unsigned", "unsigned char"},
    {"signed char", "signed char"},
    {"short int", "short"},
    {"_Bool*", "bool*"},
    {"long double", "long double"},
    {"unsigned __int128", "unsigned __int128"},
    {"int const", "const int"},
    {"long unsigned int const*", "const unsigned long*"},
    {"int const* const", "const int* const"},
    {"char* const", "char* const"},
    {"int volatile", "volatile int"},
    {"int (*) [3]", "int (*)[3]"},
    {"int (*)(char, " ALLOCSCOPE_STRING " const&)", "int (*)(char, const std::string&)"},
    {"void (app::widget::*)(int) const", "void (app::widget::*)(int) const"},
    {"std::function<void (int)>", "std::function<void(int)>"},
    {"std::function<void(int)>", "std::function<void(int)>"},
    {"void(*)(int)", "void (*)(int)"},
    {"std::vector<int (&) [3]>", "std::vector<int (&)[3]>"},
    {"std::_Bind<void (*(int))(int)>", "std::_Bind<void (*(int))(int)>"},
    {"std::decay_t<app::widget&>", "app::widget"},
    {"std::vector<std::remove_cvref_t<int const&> >", "std::vector<int>"},
    {"typename std::decay<app::widget const&>::type*", "app::widget*"},
    {"std::decay_t<char const*&>", "const char*"},
    {"std::decay_t<char* const&>", "char*"},
    {"boost::any::holder<decay<app::widget>::type>", "boost::any::holder<app::widget>"},
    {"std::remove_reference_t<app::widget const&>", "const app::widget"},
    {"typename std::remove_reference<char*&&>::type", "char*"},
    {"std::remove_pointer_t<char const*>", "const char"},
    {"std::remove_pointer_t<char** const>", "char*"},
    {"std::remove_pointer<app::widget>::type", "app::widget"},
    {"std::remove_pointer_t<int (*)(char)>", "std::remove_pointer_t<int (*)(char)>"},
    {"std::remove_const_t<app::widget const>", "app::widget"},
    {"std::remove_const_t<char const*>", "const char*"},
    {"std::remove_cv_t<std::remove_reference_t<int const&> >", "int"},
    {"std::remove_cv_t<int const volatile>", "std::remove_cv_t<const volatile int>"},
    {"std::remove_reference<int&>", "std::remove_reference<int&>"},
    {"std::decay_t<char const (&) [4]>", "std::decay_t<const char (&)[4]>"},
    {"std::decay_t<int[3]>", "std::decay_t<int[3]>"},
    {"std::decay<int>", "std::decay<int>"},
    {"decay<int>::box<char>::type", "decay<int>::box<char>::type"},
    {"app::traits<int&>::type", "app::traits<int&>::type"},
    {"box<decltype(nullptr), decltype(nullptr)*>", "box<std::nullptr_t, std::nullptr_t*>"},
    {"decltype(nullptr)", "std::nullptr_t"},
    {"main::{lambda(int)#1}", "main::{lambda}"},
    {"main::{lambda}", "main::{lambda}"},
    {"main::$_0", "main::{lambda}"},
    {"app::run(int)::$_12", "app::run::{lambda}"},
    {"app::worker::run(int) const::local", "app::worker::run::local"},
    {"app::worker::run(int)&&::local*", "app::worker::run::local*"},
    {"app::worker::run(int) const volatile & noexcept::local", "app::worker::run::local"},
    {"int* app::make<int, 8ul>(int)::local", "app::make<int, 8>::local"},
    {"std::vector<void app::make<char>(char*)::local>", "std::vector<app::make<char>::local>"},
    {"box<app::run(int)::{lambda(int)#1}::operator()(int) const::local>",
     "box<app::run::{lambda}::local>"},
    {"main::{lambda(auto:1)#1}::operator()<int>(int) const::local", "main::{lambda}::local"},
    {"app::functor::operator()(int) const::local", "app::functor::operator()::local"},
    {"void (*)(int)", "void (*)(int)"},
    {"void (app::worker::*)(int) const", "void (app::worker::*)(int) const"},
    {"(lambda at /home/app/main.cpp:3:9)", "{lambda}"},
    {"app::holder<(lambda at main.cpp:3:9), int>*", "app::holder<{lambda}, int>*"},
    {"main::{lambda(int)#1}::operator()(int) const::{lambda(char)#1}", "main::{lambda}::{lambda}"},
    {"main::{lambda(int)#1}::operator()(int)::{lambda()#1}", "main::{lambda}::{lambda}"},
    {"std::vector<main::$_0, std::allocator<main::$_0> >", "std::vector<main::{lambda}>"},
    {"app::$_x", "app::$_x"},
    {"main::{lambda(" ALLOCSCOPE_STRING " const&)#2}", "main::{lambda}"},
    {"app::f()::{unnamed type#1}", "app::f::{unnamed type#1}"},
    {"main()::local", "main::local"},
    {"main(int, char**)::local", "main::local"},
    {"main::local", "main::local"},
    {"main()::<lambda(int)>", "main::{lambda}"},
    {"main::'lambda'(int)", "main::{lambda}"},
    {"main::'lambda0'(int)*", "main::{lambda}*"},
    {"(anonymous namespace)::foo", "(anonymous namespace)::foo"},
    {"app::(anonymous namespace)::foo<int>", "app::(anonymous namespace)::foo<int>"},
    {"app::{anonymous}::foo", "app::(anonymous namespace)::foo"},
    {"app::tagged[abi:cxx11]", "app::tagged"},
    {"std::_Sp_counted_ptr_inplace<int, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
     "std::_Sp_counted_ptr_inplace<int, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>"},
    {"allocscope::v0::snapshot", "allocscope::snapshot"},
    {"allocscope::v1::snapshot", "allocscope::snapshot"},
    {"allocscope::vessel::snapshot", "allocscope::vessel::snapshot"},
    {"app::__1::thing", "app::__1::thing"},
    {"struct app::widget", "app::widget"},
    {"typename app::traits<int>::type", "app::traits<int>::type"},
    {"::app::widget", "app::widget"},
    {"std::vector<int>::iterator", "std::vector<int>::iterator"},
    {"std::map<std::string,std::vector<int>>", "std::map<std::string, std::vector<int>>"},
    {"std::tuple<int&&, char const (&) [4]>", "std::tuple<int&&, const char (&)[4]>"},
    {"app::box<&app::operator<, -1>", "app::box<&app::operator<, -1>"},
    {"app::empty<>", "app::empty<>"},
};

#undef ALLOCSCOPE_STRING

}  // namespace

TEST_CASE("pretty_type: types are spelled as people write them") {
    for (const spelling& type : spellings) {
        CAPTURE(std::string{type.demangled});
        CHECK(pretty_type(type.demangled) == type.pretty);
    }
}

TEST_CASE("pretty_type: an unnamed namespace is left out where the type is shown") {
    using allocscope::symbolize::without_unnamed_namespaces;
    allocscope::plain::arena memory;
    CHECK(without_unnamed_namespaces(memory, "app::node") == "app::node");
    CHECK(without_unnamed_namespaces(
              memory, "std::vector<(anonymous namespace)::a, app::(anonymous namespace)::b>") ==
          "std::vector<a, app::b>");
}

TEST_CASE("pretty_type: a pretty type stays as it is") {
    for (const spelling& type : spellings) {
        CAPTURE(std::string{type.demangled});
        CHECK(pretty_type(type.pretty) == type.pretty);
    }
}

TEST_CASE("pretty_type: what is no type comes back unchanged") {
    for (const char* text :
         {"", "std::vector<", "a>b", "f(", "std::vector<int, std::allocator<int>", "{", "'", "a,b",
          "x[", ")))"}) {
        CAPTURE(std::string{text});
        CHECK(pretty_type(text) == text);
    }
}

TEST_CASE("pretty_type: nesting is limited and long input is linear") {
    std::string deep;
    for (int i = 0; i < 60; ++i) deep += "std::vector<";
    deep += "int";
    std::string closed = deep;
    for (int i = 0; i < 60; ++i) closed += '>';
    CHECK(pretty_type(closed) == closed);
    std::string too_deep;
    for (int i = 0; i < 50000; ++i) too_deep += "a<";
    CHECK(pretty_type(too_deep) == too_deep);
    const std::string brackets(100000, '(');
    CHECK(pretty_type(brackets) == brackets);
    std::string wide = "app::tuple<";
    for (int i = 0; i < 20000; ++i) wide += "int, ";
    wide += "int>";
    CHECK(pretty_type(wide) == wide);
}
