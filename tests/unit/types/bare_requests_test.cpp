#include <allocscope/types/bare_requests.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/types/library_frames.hpp"

using namespace allocscope_test;

TEST_CASE("bare_requests: functions that name what they make") {
    CHECK(type_of({{"make_unique<app::part[]>", "bits/unique_ptr.h"}}, "@f();") == "app::part");
    CHECK(type_of({{"make_unique<app::part>", "mine.h"}}, "@f();", "load()", "/home/") == "?");
    CHECK(type_of({{"_S_create<part&>", "any"}, {"any<part&>", "any"}}, "@f();") == "part");
    CHECK(type_of({{"_S_create<>", "any"}, {"__do_emplace<part, m>", "any"}}, "@f();") == "part");
    CHECK(type_of({{"_S_create<int>", "any"}, {"f<part>", "any"}}, "@f();") == "?");
    CHECK(type_of({{"_M_create<const call&>", "bits/std_function.h"}}, "@f();") == "call");
    CHECK(type_of({{"_M_create<(lambda at f.cpp:3:4)>", "bits/std_function.h"}}, "@f();") == "?");
    CHECK(type_of({{"other<part>", "bits/unique_ptr.h"}}, "@f();") == "?");
}

TEST_CASE("bare_requests: what push_back passes on is an element") {
    const auto added = [](const char* called, const char* passed) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {passed, "bits/vector.tcc"},
                        {called, "bits/stl_vector.h"},
                        {"operator=", "bits/stl_iterator.h"}},
                       "@f();");
    };
    CHECK(added("push_back", "_M_realloc_insert<const part&>") == "part");
    CHECK(added("push_back", "emplace_back<const char*>") == "const char*");
    CHECK(added("push_back", "_M_realloc_insert") == "?");
    CHECK(added("emplace_back<int>", "_M_realloc_insert<int>") == "?");
}

TEST_CASE("bare_requests: the list with which a container is made") {
    const auto made = [](const char* passed, const char* called = "vector") {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {passed, "bits/stl_vector.h"},
                        {called, "bits/stl_vector.h"}},
                       "v.push_back(@{1, 2});");
    };
    CHECK(made("_M_range_initialize<const part *>") == "part");
    CHECK(made("_M_range_initialize<const char *const *>") == "const char*");
    CHECK(made("_M_range_initialize<const part *>", "vector<const part *, void>") == "?");
    CHECK(made("_M_range_insert<const part *>", "insert") == "?");
    CHECK(made("_M_range_initialize<std::_Fwd_list_const_iterator<part> >") == "?");  // a copy
    CHECK(type_of({{"allocate", "bits/new_allocator.h"},
                   {"_M_get_node", "bits/stl_list.h"},
                   {"_M_create_node<const part &>", "bits/stl_list.h"},
                   {"_M_insert<const part &>", "bits/stl_list.h"},
                   {"emplace_back<const part &>", "bits/stl_list.h"},
                   {"_M_initialize_dispatch<const part *>", "bits/stl_list.h"},
                   {"list", "bits/stl_list.h"}},
                  "f(@{a, b});") == "part");
}

TEST_CASE("bare_requests: functions of a container that name its class in an argument") {
    const char* insert =
        "_M_insert_<int, std::_Rb_tree<int, std::pair<int const, part>, x>::_Node>";
    const auto of_map = [](const char* called, const char* behind) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_get_node", "bits/stl_tree.h"},
                        {called, "bits/stl_tree.h"},
                        {behind, "bits/stl_map.h"}},
                       "@f();");
    };
    CHECK(of_map(insert, "insert") == "std::pair<const int, part>");
    CHECK(of_map(insert, "operator=") == "std::pair<const int, part>");
    CHECK(of_map("_M_insert_<int>", "operator=") == "?");
    const auto of_made = [](const char* maker) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {"vector", "bits/stl_vector.h"},
                        {maker, "bits/unique_ptr.h"}},
                       "@f();");
    };
    CHECK(of_made("make_unique<std::vector<part>, int>") == "part");
    CHECK(of_made("make_unique<part, int>") == "?");
    const auto in_pair = [](const char* maker) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {"vector", "bits/stl_vector.h"},
                        {"pair<int, part, true>", "bits/stl_pair.h"},
                        {maker, "bits/new_allocator.h"}},
                       "@f();");
    };
    CHECK(in_pair("construct<std::pair<int const, std::vector<part> >, int>") == "part");
    CHECK(in_pair("construct<std::pair<std::vector<part> const, std::list<int> >, int>") == "part");
    CHECK(in_pair("construct<std::pair<std::vector<int>, std::vector<part> >, int>") == "?");
    CHECK(in_pair("construct<std::vector<part>, int>") == "?");
    const auto shrunk = [](const char* function) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {"vector<std::move_iterator<int>, void>", "bits/stl_vector.h"},
                        {function, "bits/allocator.h"},
                        {"shrink_to_fit", "bits/stl_vector.h"}},
                       "void load(std::vector<part>& v) { v.@shrink_to_fit(); }");
    };
    CHECK(shrunk("_S_do_it") == "part");
    CHECK(shrunk("operator=") == "?");
}

TEST_CASE("bare_requests: an element that only the compiler can name") {
    const auto grown = [](const char* element) {
        const std::string source = std::string{"void load(std::vector<"} + element + ">& v) { v.";
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {"reserve", "bits/vector.tcc"}},
                       source + "@reserve(3); }");
    };
    CHECK(grown("part") == "part");
    CHECK(grown("other_t<part>") == "other_t<part>");
    CHECK(grown("std::ranges::range_value_t<part>") == "?");
    CHECK(grown("std::pair<int, std::add_const_t<part>>") == "?");
}

TEST_CASE("bare_requests: an assignment by the user") {
    const auto of = [](const std::vector<library_frame>& functions, const std::string& statement) {
        std::vector<library_frame> stack{{"allocate", "bits/new_allocator.h"},
                                         {"_M_allocate", "bits/stl_vector.h"}};
        stack.insert(stack.end(), functions.begin(), functions.end());
        const std::string before = "struct crate { std::vector<part> v; };\nvoid load(row& v, ";
        return type_of(stack, "using row = std::vector<part>; " + before +
                                  "std::vector<row>& all, crate& c) { " + statement + " }");
    };
    const library_frame copies{"operator=", "bits/vector.tcc"};
    for (const char* own : {"v @= w;", "c.v @= w;"}) CHECK(of({copies}, own) == "part");
    for (const char* other : {"all[0] @= w;", "c @= d;"}) CHECK(of({copies}, other) == "?");
    CHECK(of({{"_M_assign_aux", "bits/vector.tcc"}, copies}, "v @= {1, 2};") == "part");
    CHECK(of({{"assign", "bits/stl_vector.h"}}, "v.@assign({1, 2});") == "part");
    CHECK(of({copies, {"_M_insert_aux", "bits/vector.tcc"}, {"insert", "bits/stl_vector.h"}},
             "all.@insert(all.begin(), w);") == "?");
    CHECK(of({copies, copies}, "all @= some;") == "?");
}

TEST_CASE("bare_requests: an assignment of its own names what it copies") {
    const auto assigned = [](const char* assignment, const char* around = "run",
                             const char* header = "bits/stl_vector.h") {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {"_M_allocate_and_copy<part const*>", "bits/stl_vector.h"},
                        {assignment, "bits/vector.tcc"},
                        {around, header}},
                       "@f();");
    };
    const char* of_parts =
        "std::vector<part, std::allocator<part> >::operator=(std::vector<part> const&)";
    const char* of_vectors = "std::vector<std::vector<part> >::operator=(std::vector<part> const&)";
    CHECK(assigned(of_parts) == "part");
    CHECK(assigned(of_parts, of_vectors) == "part");
    CHECK(assigned(of_parts, "__copy_m<part*>", "bits/stl_algobase.h") == "part");
    const char* inserts =
        "std::vector<std::vector<part> >::_M_insert_aux(std::vector<part> const&)";
    CHECK(assigned(of_parts, inserts, "bits/vector.tcc") == "part");
    CHECK(assigned("operator=", of_vectors) == "?");
}

TEST_CASE("bare_requests: pointers to functions are elements, references to them are not") {
    const auto pushed = [](const char* grow) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {grow, "bits/vector.tcc"},
                        {"push_back", "bits/stl_vector.h"}},
                       "std::vector<int (*)(char)> all; void f() { all.@push_back(g); }");
    };
    CHECK(pushed("std::vector<int (*)(char)>::_M_realloc_insert<int (* const&)(char)>"
                 "(int (* const&)(char))") == "int (*)(char)");
    CHECK(pushed("_M_realloc_insert<int (* const&)(char)>") == "?");
}

TEST_CASE("bare_requests: the characters of a string") {
    const auto text_of = [](const char* called) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_create", "bits/basic_string.tcc"},
                        {called, "bits/basic_string.h"}},
                       "@f();");
    };
    CHECK(text_of("basic_string<std::allocator<char16_t> >") == "char16_t");
    CHECK(text_of("basic_string<std::pmr::polymorphic_allocator<char> >") == "char");
    CHECK(text_of("_M_construct<const wchar_t*>") == "wchar_t");
    CHECK(text_of("_M_construct<const part*>") == "?");
    CHECK(text_of("append<const char*>") == "?");
    CHECK(text_of("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
                  "::_M_mutate(unsigned long)") == "char");
    CHECK(text_of("std::__cxx11::basic_string<part, std::char_traits<part>, std::allocator<part> >"
                  "::_M_mutate(unsigned long)") == "?");
    CHECK(type_of({{"_M_construct<const char*>", "bits/basic_string.tcc"}}, "@f();") == "char");
    CHECK(type_of({{"_M_construct<char *>", "bits/basic_string.tcc"}}, "@f();") == "char");
    CHECK(type_of({{"_M_construct<const char*>", "text.hpp"}}, "@f();") == "?");
    const auto made_of = [](const char* constructor) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_create", "bits/basic_string.tcc"},
                        {"_M_construct<const char*>", "bits/basic_string.tcc"},
                        {constructor, "bits/basic_string.h"}},
                       "@f();");
    };
    CHECK(made_of("basic_string<std::allocator<char> >") == "char");
    CHECK(made_of("basic_string") == "char");
    CHECK(made_of("basic_string<const char*, void>") == "?");  // perhaps a std::u16string
}

TEST_CASE("bare_requests: a lambda on the line of a call belongs to the function of that call") {
    const auto stored = [](const std::string& lambda, const char* caller = "load()",
                           const std::string& folder = "", std::size_t skipped = 0) {
        const allocscope_test::marked_source marked{"\n  f = @[] {};"};
        arena memory;
        list<code_frame> frames{memory};
        const std::string path = folder + marked.path().substr(skipped);
        const std::string function = "_M_create<(lambda at " + path + lambda + ")>";
        code_frame made;
        made.function = function.c_str();
        made.file = "/usr/include/c++/12/bits/std_function.h";
        made.line = 1;
        made.is_inlined = true;
        frames.push_back(made);
        made.function = "pass<f>";
        made.file = "/home/pass.hpp";
        frames.push_back(made);
        frames.push_back(frame_at(marked, caller));
        return type_of_frames(memory, frames);
    };
    CHECK(stored(":2:7") == "load::{lambda}");
    CHECK(stored(":2:9") == "load::{lambda}");
    CHECK(stored(":1:7") == "?");
    CHECK(stored(":22:7") == "?");
    CHECK(stored(":2:7",
                 "load(std::__cxx11::basic_string<char, std::char_traits<char>, "
                 "std::allocator<char> >)") == "load::{lambda}");
    const std::size_t folder = allocscope_test::marked_source{"@f();"}.path().rfind('/') + 1;
    CHECK(stored(":2:7", "load()", "", folder) == "load::{lambda}");
    CHECK(stored(":2:7", "load()", "./../", folder) == "load::{lambda}");
    CHECK(stored(":2:7", "load()", "", folder + 1) == "?");
}

TEST_CASE("bare_requests: a copied std::function names its lambda in a function of its own") {
    const auto copied = [](const char* called) {
        return type_of({{"_M_create<const (lambda at f.cpp:3:4)&>", "bits/std_function.h"},
                        {"_M_init_functor<const (lambda at f.cpp:3:4)&>", "bits/std_function.h"},
                        {called, "bits/std_function.h"},
                        {"function", "bits/std_function.h"}},
                       "@f();");
    };
    CHECK(copied("std::_Function_base::_Base_manager<load()::{lambda()#1}>::_M_manager(int)") ==
          "load::{lambda}");
    CHECK(copied("std::_Function_base::_Base_manager<part>::_M_clone(int)") == "part");
    CHECK(copied("std::_Function_handler<int(), part>::_M_manager(int)") == "part");
    CHECK(copied("std::other<int(), part>::_M_manager(int)") == "?");
}

TEST_CASE("bare_requests: the control block of a pointer that somebody else made") {
    CHECK(type_of({{"__shared_count<part *>", "bits/shared_ptr_base.h"}}, "@f();") ==
          "std::shared_ptr<part> control block");
    CHECK(type_of({{"__shared_count<part, std::default_delete<part> >", "bits/shared_ptr_base.h"}},
                  "@f();") == "?");
}

TEST_CASE("bare_requests: what a thread needs") {
    CHECK(type_of({{"thread<(lambda at f.cpp:1:2)>", "bits/std_thread.h"}}, "@f();") ==
          "std::thread state");
    CHECK(type_of({{"_Stop_state_ref", "stop_token"}}, "@f();") == "std::stop_token state");
    CHECK(type_of({{"thread<int>", "thread.hpp"}}, "@f();") == "?");
}

TEST_CASE("bare_requests: the other containers") {
    const auto of = [](const char* request, const char* asking, const char* called,
                       const char* header, const char* source) {
        return type_of({{"allocate", "bits/new_allocator.h"}, {request, asking}, {called, header}},
                       source);
    };
    CHECK(of("_M_get_node", "bits/stl_tree.h", "operator[]", "bits/stl_map.h",
             "void load(std::map<int, part>& m) { m[3@]; }") == "std::pair<const int, part>");
    CHECK(of("_M_get_node", "bits/stl_tree.h", "operator[]", "bits/stl_map.h",
             "void load(std::map<int, part>& m) { @m[3]; }") == "std::pair<const int, part>");
    // Clang places both calls at the name.
    CHECK(of("_M_get_node", "bits/stl_tree.h", "operator[]", "bits/stl_map.h",
             "void load(std::map<int, rows>& m) { @m[3][4]; }") == "?");
    CHECK(of("_M_get_node", "bits/stl_tree.h", "operator[]", "bits/stl_map.h",
             "void load(std::map<int, part>& m) { @m[3].rows[4] = 1; }") == "?");
    CHECK(of("_M_get_node", "bits/stl_tree.h", "operator[]", "bits/stl_map.h",
             "void load(std::map<int, part>& m) { @m[k[3]] = k[5]; }") ==
          "std::pair<const int, part>");
    CHECK(of("_M_get_node", "bits/stl_tree.h", "insert", "bits/stl_set.h",
             "void load(std::set<part*>& s) { s.@insert(p); }") == "part*");
    CHECK(of("_M_allocate_map", "bits/stl_deque.h", "deque", "bits/stl_deque.h",
             "void load() { std::deque<part> @d; }") == "part*");
    CHECK(of("_M_allocate_map", "bits/stl_deque.h", "deque", "bits/stl_deque.h",
             "void load() { std::deque<part* (*)(int)> @d; }") == "part* (**)(int)");
    CHECK(of("_M_allocate_map", "bits/stl_deque.h", "deque", "bits/stl_deque.h",
             "void load() { std::deque<std::function<void (*)()>> @d; }") ==
          "std::function<void (*)()>*");
    CHECK(of("_M_allocate_node", "bits/stl_deque.h", "queue<>", "bits/stl_queue.h",
             "void load() { std::queue<part> @q; }") == "part");
    CHECK(of("_M_allocate_buckets", "bits/hashtable.h", "f", "bits/hashtable.h", "@f();") ==
          "hash buckets");
    CHECK(of("_M_allocate", "bits/stl_bvector.h", "vector", "bits/stl_bvector.h",
             "void load() { std::vector<bool> @v(3); }") == "unsigned long");
    CHECK(of("_M_allocate_node", "bits/hashtable_policy.h", "operator[]", "bits/unordered_map.h",
             "void load(std::map<int, part>& m) { m[3@]; }") == "?");
}

TEST_CASE("bare_requests: an element that another container makes may allocate, too") {
    const char* source = "void load() { std::vector<std::vector<part>> @v(2, w); }";
    const auto inside = [&](const char* made, const char* header, const char* called = "vector") {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_allocate", "bits/stl_vector.h"},
                        {called, "bits/stl_vector.h"},
                        {made, header},
                        {"vector", "bits/stl_vector.h"}},
                       source);
    };
    CHECK(inside("_Construct<std::vector<part>, int>", "bits/stl_construct.h") == "part");
    CHECK(inside("_Construct<mine, int>", "bits/stl_construct.h") == "?");
    CHECK(inside("_S_create<std::vector<part> &>", "any") == "part");
    CHECK(inside("_S_create<mine &>", "any") == "?");
    CHECK(inside("_Storage<const std::vector<part>&>", "optional") == "part");
    CHECK(inside("_Storage<const std::initializer_list<part>&>", "optional") == "?");
    CHECK(inside("_Uninitialized<const std::vector<part>&>", "variant") == "part");
    CHECK(inside("_Head_base<std::vector<part> >", "tuple") == "part");
    CHECK(inside("_Construct<std::vector<part>, int>", "bits/stl_construct.h", "g") == "?");
    CHECK(inside("mine", "bits/stl_pair.h") == "?");
    CHECK(inside("operator=", "bits/vector.tcc") == "?");
    CHECK(inside("_M_insert", "bits/stl_vector.h") == "std::vector<part>");
}

TEST_CASE("bare_requests: the whole name of a function says more than the source") {
    CHECK(type_of({{"allocate", "bits/new_allocator.h"},
                   {"_M_allocate", "bits/stl_vector.h"},
                   {"std::vector<app::part, std::allocator<app::part> >::_M_default_append(int)",
                    "bits/vector.tcc"},
                   {"resize", "bits/stl_vector.h"}},
                  "@f();") == "app::part");
    CHECK(type_of({{"allocate", "bits/new_allocator.h"},
                   {"_M_allocate", "bits/stl_vector.h"},
                   {"std::vector<app::part, std::allocator<app::part> >::vector(int)",
                    "bits/stl_vector.h"},
                   {"any_cast<std::vector<app::part, std::allocator<app::part> > >", "any"}},
                  "@f();") == "app::part");
}
