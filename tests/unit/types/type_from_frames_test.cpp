#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/marked_source.hpp"
#include "support/show_text.hpp"

using allocscope::symbolize::code_frame;
using allocscope::symbolize::type_evidence;

namespace {

struct answer_of_frames {
    std::string name;
    type_evidence evidence;
    bool is_known() const { return evidence != type_evidence::none; }
};

answer_of_frames type_from_frames(const std::vector<code_frame>& stack) {
    allocscope::plain::arena memory;
    allocscope::symbolize::list<code_frame> frames{memory};
    for (const code_frame& frame : stack) frames.push_back(frame);
    allocscope::symbolize::read_names names{memory};
    allocscope::symbolize::source_cache sources;
    const auto answer = allocscope::symbolize::type_from_frames(
        names, frames, allocscope::symbolize::asking_frame(names, frames), sources);
    return {{answer.name.data(), answer.name.size()}, answer.evidence};
}

// Every frame with a line, as debug information gives it.
std::vector<code_frame> frames_of(const std::vector<const char*>& functions, int line = 1) {
    std::vector<code_frame> frames;
    for (const char* function : functions) {
        code_frame frame;
        frame.function = function;
        frame.file = line > 0 ? "somewhere.h" : "";
        frame.line = line;
        frames.push_back(frame);
    }
    return frames;
}

struct example {
    const char* caller;  // the direct caller of operator new
    const char* type;
    type_evidence evidence;
};

#define ALLOCSCOPE_STRING \
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define ALLOCSCOPE_LOCK "(__gnu_cxx::_Lock_policy)2"

// Printed by addr2line for programs built by g++ 12 and clang 14 at -O0 and -O2.
constexpr example callers[] = {
    {"std::__new_allocator<int>::allocate(unsigned long, void const*)", "int",
     type_evidence::allocator_frame},
    {"__gnu_cxx::new_allocator<" ALLOCSCOPE_STRING "*>::allocate(unsigned long, void const*)",
     "std::string*", type_evidence::allocator_frame},
    {"std::allocator<app::widget>::allocate(unsigned long)", "app::widget",
     type_evidence::allocator_frame},
    {"std::allocator_traits<std::allocator<std::_List_node<int> > >::allocate"
     "(std::allocator<std::_List_node<int> >&, unsigned long)",
     "int", type_evidence::allocator_frame},
    {"std::__1::allocator<app::widget>::allocate[abi:v15006](unsigned long)", "app::widget",
     type_evidence::allocator_frame},
    {"std::__new_allocator<std::_Rb_tree_node<std::pair<" ALLOCSCOPE_STRING
     " const, int> > >::allocate(unsigned long, void const*)",
     "std::pair<const std::string, int>", type_evidence::allocator_frame},
    {"std::__new_allocator<std::__detail::_Hash_node_base*>::allocate(unsigned long, void const*)",
     "hash buckets", type_evidence::allocator_frame},
    {"std::__new_allocator<std::_Sp_counted_ptr_inplace<" ALLOCSCOPE_STRING
     ", std::allocator<void>, " ALLOCSCOPE_LOCK "> >::allocate(unsigned long, void const*)",
     "std::string", type_evidence::allocator_frame},
    {"std::__new_allocator<main::local>::allocate", "main::local", type_evidence::allocator_frame},
    {"std::__detail::_MakeUniq<app::widget>::__single_object std::make_unique<app::widget>()",
     "app::widget", type_evidence::made_object},
    {"std::__detail::_MakeUniq<int []>::__array std::make_unique<int []>(unsigned long)", "int",
     type_evidence::make_frame},
    {"std::__1::unique_ptr<int> std::__1::make_unique[abi:v15006]<int, int>(int&&)", "int",
     type_evidence::made_object},
    {"void std::_Function_base::_Base_manager<app::big>::_M_create<app::big&>"
     "(std::_Any_data&, app::big&, std::integral_constant<bool, false>)",
     "app::big", type_evidence::make_frame},
    {"void std::_Function_base::_Base_manager<main::{lambda()#2}>::_M_create<main::{lambda()#2}>"
     "(std::_Any_data&, main::{lambda()#2}&&, std::integral_constant<bool, false>) "
     "[clone .constprop.0]",
     "main::{lambda}", type_evidence::make_frame},
    {"void std::any::_Manager_external<" ALLOCSCOPE_STRING ">::_S_create<" ALLOCSCOPE_STRING
     ">(std::any::_Storage&, " ALLOCSCOPE_STRING "&&)",
     "std::string", type_evidence::made_object},
    {"std::any::_Manager_external<int>::_S_manage(std::any::_Op, std::any const*, std::any::_Arg*)",
     "int", type_evidence::make_frame},
    {"std::stop_token::_Stop_state_ref::_Stop_state_ref()", "std::stop_token state",
     type_evidence::make_frame},
    {"std::thread::thread<main::{lambda()#3}, , void>(main::{lambda()#3}&&)", "std::thread state",
     type_evidence::make_frame},
    {"std::__shared_count<" ALLOCSCOPE_LOCK ">::__shared_count<app::widget*>(app::widget*)",
     "std::shared_ptr<app::widget> control block", type_evidence::make_frame},
    {"std::__1::shared_ptr<app::base>::shared_ptr<app::widget, void>(app::widget*)",
     "std::shared_ptr<app::widget> control block", type_evidence::make_frame},
    {"std::shared_ptr<app::widget>::shared_ptr<std::allocator<void> >(std::_Sp_alloc_shared_tag<"
     "std::allocator<void> >)",
     "?", type_evidence::none},
    {"std::promise<int>::promise()", "std::future<int> result", type_evidence::make_frame},
    {"std::unique_ptr<std::__future_base::_Result<int>, std::__future_base::_Result_base::_Deleter>"
     " std::__future_base::_S_allocate_result<int, int>(std::allocator<int> const&)",
     "std::future<int> result", type_evidence::make_frame},
    {"std::pair<" ALLOCSCOPE_STRING "*, long> std::get_temporary_buffer<" ALLOCSCOPE_STRING
     ">(long)",
     "std::string", type_evidence::make_frame},
    {"std::string::_Rep::_S_create(unsigned long, unsigned long, std::allocator<char> const&)",
     "char", type_evidence::make_frame},
    {"std::pmr::monotonic_buffer_resource::_M_new_buffer(unsigned long, unsigned long)",
     "std::pmr::monotonic_buffer_resource buffer", type_evidence::make_frame},
    {"std::__cxx11::basic_stringstream<char, std::char_traits<char>, std::allocator<char> "
     ">::basic_stringstream(" ALLOCSCOPE_STRING " const&, std::_Ios_Openmode)",
     "char", type_evidence::make_frame},
    {"double* std::__valarray_get_storage<double>(unsigned long)", "double",
     type_evidence::make_frame},
    {ALLOCSCOPE_STRING "::_M_create(unsigned long&, unsigned long)", "char",
     type_evidence::make_frame},
    {"void std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> "
     ">::_M_construct<wchar_t const*>(wchar_t const*, wchar_t const*, std::forward_iterator_tag)",
     "wchar_t", type_evidence::make_frame},
    {"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)", "int",
     type_evidence::make_frame},
    {"std::_Deque_base<int, std::allocator<int> >::_M_allocate_map(unsigned long)", "int*",
     type_evidence::make_frame},
};

constexpr const char* silent_callers[] = {
    "main",
    "app::make()",
    "allocscope::v0::pool<app::widget>::allocate(unsigned long)",
    "allocscope::v0::allocator<app::widget>::deallocate(app::widget*, unsigned long)",
    "app::pool_allocator<int>::allocate(unsigned long)",
    "app::allocator<int>::allocate(unsigned long)",
    "std::allocator_traits<app::allocator<int> >::allocate(app::allocator<int>&, unsigned long)",
    "app::widget* app::make_unique<app::widget>()",
    "std::_Vector_base<int, app::allocator<int> >::_M_allocate(unsigned long)",
    "std::locale::combine<app::facet>(std::locale const&) const",
    "std::pmr::monotonic_buffer_resource::do_allocate(unsigned long, unsigned long)",
    "std::wstring::_Rep::_S_create(unsigned long, unsigned long)",
    "std::vector<int, std::allocator<int> >::reserve(unsigned long)",
    "app::widget* std::__copy<app::widget>(app::widget*)",
    "allocate",
    "",
    "std::",
    "std::allocate",
};

}  // namespace

TEST_CASE("type_from_frames: the direct caller of operator new names the type") {
    for (const example& caller : callers) {
        CAPTURE(std::string{caller.caller});
        const answer_of_frames answer = type_from_frames(frames_of({caller.caller, "main"}));
        CHECK(answer.name == caller.type);
        CHECK(answer.evidence == caller.evidence);
    }
}

TEST_CASE("type_from_frames: our own allocator says its type, and nodes what is in them") {
    const answer_of_frames plain = type_from_frames(
        frames_of({"allocscope::v0::allocator<app::widget>::allocate(unsigned long)", "main"}));
    CHECK(plain.name == "app::widget");
    CHECK(plain.evidence == type_evidence::tag);
    const answer_of_frames node = type_from_frames(frames_of(
        {"allocscope::v0::allocator<std::_List_node<app::widget> >::allocate(unsigned long)"}));
    CHECK(node.name == "app::widget");
}

TEST_CASE("type_from_frames: a resource that reports passes on who asked it") {
    // As std::pmr::memory_resource::allocate: only an allocator is believed behind it.
    const char* const reporter =
        "allocscope::v0::reported_resource::do_allocate(unsigned long, unsigned long)";
    const answer_of_frames asked = type_from_frames(frames_of(
        {reporter, "std::pmr::polymorphic_allocator<app::widget>::allocate(unsigned long)"}));
    CHECK(asked.name == "app::widget");
    const answer_of_frames other =
        type_from_frames(frames_of({reporter, "app::widget* std::make_unique<app::widget>()"}));
    CHECK(other.name == "?");
}

TEST_CASE("type_from_frames: nothing is known behind other functions") {
    for (const char* caller : silent_callers) {
        CAPTURE(std::string{caller});
        const answer_of_frames answer = type_from_frames(frames_of({caller, "main"}));
        CHECK(answer.name == "?");
        CHECK(answer.evidence == type_evidence::none);
    }
    CHECK_FALSE(type_from_frames({}).is_known());
}

TEST_CASE("type_from_frames: an allocator above the user's frame says nothing about it") {
    CHECK_FALSE(type_from_frames(
                    frames_of({"app::widget::widget()",
                               "std::__new_allocator<int>::allocate(unsigned long, void const*)"}))
                    .is_known());
}

TEST_CASE("type_from_frames: frames that only pass the request on are looked through") {
    CHECK(type_from_frames(frames_of({"operator new(unsigned long)",
                                      "std::allocator<int>::allocate(unsigned long)"}))
              .name == "int");
    CHECK(
        type_from_frames(frames_of({"void* std::__1::__libcpp_operator_new<unsigned long>(unsigned"
                                    " long)",
                                    "std::__1::__libcpp_allocate[abi:v15006](unsigned long, "
                                    "unsigned long)",
                                    "std::__1::allocator<int>::allocate(unsigned long)"}))
            .name == "int");
}

TEST_CASE("type_from_frames: a polymorphic allocator is believed directly above its resource") {
    const char* resource = "std::pmr::memory_resource::allocate(unsigned long, unsigned long)";
    CHECK(type_from_frames(frames_of({resource,
                                      "std::pmr::polymorphic_allocator<int>::allocate(unsigned "
                                      "long)"}))
              .name == "int");
    CHECK(
        type_from_frames(
            frames_of({"std::pmr::monotonic_buffer_resource::_M_new_buffer(unsigned long, "
                       "unsigned long)",
                       resource, "std::pmr::polymorphic_allocator<int>::allocate(unsigned long)"}))
            .name == "std::pmr::monotonic_buffer_resource buffer");  // of many things
    CHECK_FALSE(type_from_frames(frames_of({resource, "std::make_unique<int>(int&&)"})).is_known());
    const char* bytes = "std::pmr::polymorphic_allocator<std::byte>::allocate_bytes(unsigned long)";
    CHECK(type_from_frames(frames_of({resource, bytes,
                                      "app::widget* std::pmr::polymorphic_allocator<std::byte>::"
                                      "allocate_object<app::widget>(unsigned long)"}))
              .name == "app::widget");
    CHECK_FALSE(type_from_frames(frames_of({resource, bytes, "app::run()"})).is_known());
}

TEST_CASE("type_from_frames: the table of a deque of pointers to functions") {
    const char* const table =
        "std::_Deque_base<void (*)(), std::allocator<void (*)()> >::_M_allocate_map(unsigned long)";
    const char* const allocator =
        "std::__new_allocator<void (**)()>::allocate(unsigned long, void const*)";
    CHECK(type_from_frames(frames_of({allocator, table})).name == "void (**)()");
    CHECK_FALSE(type_from_frames(frames_of({table})).is_known());
}

TEST_CASE("type_from_frames: functions of the C library") {
    const auto of = [](const std::vector<const char*>& frames, int line = 0) {
        return type_from_frames(frames_of(frames, line)).name;
    };
    CHECK(of({"__strdup", "realpath", "main"}) == "char");
    CHECK(of({"", "timelocal", "main"}) == "time zone");
    CHECK(of({"", "_IO_fclose", "main"}) == "char");
    CHECK(of({"_IO_fdopen", "main"}) == "FILE");
    CHECK(of({"_IO_file_doallocate", "_IO_doallocbuf"}) == "char");
    CHECK(of({"", "__asprintf", "main"}) == "char");
    CHECK(of({"", "_dl_allocate_tls", "pthread_create", "main"}) == "thread-local storage");
    CHECK(of({"", "__tls_get_addr", "main"}) == "thread-local storage");
    CHECK(of({"__cxa_thread_atexit_impl", "__cxa_thread_atexit", "main"}) ==
          "thread_local destructor");
    CHECK(of({"", "fopen_like", "main"}) == "?");
    CHECK(of({"strdup", "main"}, 3) == "?");  // a function of the program
    CHECK(of({"app::strdup(char const*)", "main"}) == "?");
}

TEST_CASE("type_from_frames: without debug information only the certain ones are believed") {
    const auto named = [](const char* caller) {
        return type_from_frames(frames_of({caller}, 0)).name;
    };
    CHECK(named("std::__new_allocator<int>::allocate(unsigned long, void const*)") == "int");
    CHECK(named(ALLOCSCOPE_STRING "::_M_create(unsigned long&, unsigned long)") == "char");
    // The constructor of a widget may have been inlined, and its allocations with it.
    CHECK(named("std::make_unique<app::widget>()") == "?");
}

TEST_CASE("type_from_frames: of two folded instantiations the outer one is right") {
    // g++ 12 -O2, for a std::vector<std::unique_ptr<int>> beside a std::vector<char const*>.
    const char* folded_allocate = "std::__new_allocator<char const*>::allocate(unsigned long)";
    const char* folded_base =
        "std::_Vector_base<char const*, std::allocator<char const*> >::_M_allocate(unsigned long)";
    const char* base =
        "std::_Vector_base<app::widget*, std::allocator<app::widget*> >::_M_allocate(unsigned "
        "long)";
    const char* grow =
        "void std::vector<app::widget*, std::allocator<app::widget*> >::_M_realloc_insert<int>()";
    CHECK(type_from_frames(frames_of({folded_allocate, folded_base, base, grow, "main"})).name ==
          "app::widget*");
    CHECK(type_from_frames(frames_of({folded_allocate, folded_base, grow, "main"})).name ==
          "app::widget*");
    CHECK(type_from_frames(frames_of({folded_allocate, folded_base, "main"})).name ==
          "const char*");
    CHECK(type_from_frames(
              frames_of({"std::make_unique<app::a>()", "std::make_unique<app::b>()", "main"}))
              .name == "app::b");
}

TEST_CASE("type_from_frames: the first blocks of a deque, in code folded with another deque's") {
    const char* allocate = "std::__new_allocator<app::other>::allocate(unsigned long, void const*)";
    const char* blocks =
        "std::_Deque_base<app::other, std::allocator<app::other> >::_M_create_nodes(app::other**, "
        "app::other**)";
    const char* folded =
        "std::_Deque_base<app::other, std::allocator<app::other> >::_M_initialize_map(unsigned "
        "long)";
    const char* begin =
        "std::_Deque_base<app::row, std::allocator<app::row> >::_M_initialize_map(unsigned long)";
    const char* base = "std::_Deque_base<app::row, std::allocator<app::row> >::_Deque_base()";
    const char* table =
        "std::_Deque_base<app::other, std::allocator<app::other> >::_M_allocate_map(unsigned long)";
    CHECK(type_from_frames(frames_of({allocate, blocks, begin, "main"})).name == "app::row");
    CHECK(type_from_frames(frames_of({allocate, blocks, folded, base, "main"})).name == "app::row");
    CHECK(type_from_frames(frames_of({table, begin, "main"})).name == "app::row*");
    CHECK(type_from_frames(frames_of({table, folded, base, "main"})).name == "app::row*");
    const char* inner = "std::__new_allocator<int>::allocate(unsigned long, void const*)";
    const char* of_inner =
        "std::_Deque_base<int, std::allocator<int> >::_M_initialize_map(unsigned long)";
    CHECK(type_from_frames(frames_of({inner, blocks, of_inner, "std::vector<int>::f()"})).name ==
          "int");
    // A deque of deques makes an element.
    const char* grow =
        "void std::deque<std::deque<app::row, std::allocator<app::row> >, "
        "std::allocator<std::deque<app::row> > >::_M_push_back_aux<int>(int)";
    CHECK(type_from_frames(frames_of({allocate, blocks, begin, base, grow})).name == "app::row");
}

TEST_CASE("type_from_frames: a vector that copies its elements does not name their contents") {
    const char* allocate = "std::__new_allocator<int>::allocate(unsigned long, void const*)";
    const char* element =
        "std::vector<int, std::allocator<int> >::operator=(std::vector<int> const&)";
    const char* outer =
        "void std::vector<std::vector<int, std::allocator<int> >, "
        "std::allocator<std::vector<int, std::allocator<int> > > >::_M_insert_aux<int>(int)";
    CHECK(type_from_frames(frames_of({allocate, element, outer, "main"})).name == "int");
    const char* other = "void std::vector<app::row, std::allocator<app::row> >::assign(int)";
    CHECK(type_from_frames(frames_of({allocate, element, other, "main"})).name == "?");
}

TEST_CASE("type_from_frames: the user's allocator shows that the code is that of another type") {
    const char* other = "std::__new_allocator<app::row>::allocate(unsigned long, void const*)";
    const auto seen = [](const std::vector<const char*>& functions) {
        return type_from_frames(frames_of(functions)).name;
    };
    const char* vector = "std::_Vector_base<int, pool<int> >::_M_allocate(unsigned long)";
    CHECK(seen({other, "pool<int>::allocate(unsigned long)", vector, "main"}) == "?");
    CHECK(seen({other, "pool<app::row>::allocate(unsigned long)", "main"}) == "app::row");
    CHECK(seen({other, "pool<int>::refill(unsigned long)", "main"}) == "app::row");
    CHECK(seen({other, "std::allocator_traits<pool<int> >::allocate(pool<int>&, unsigned long)",
                vector, "main"}) == "?");
    CHECK(seen({other, "std::allocator_traits<pool<std::_List_node<app::row> > >::allocate(int&)",
                "main"}) == "app::row");
    // It asks for bytes, which is what it gets.
    const char* bytes = "std::__new_allocator<std::byte>::allocate(unsigned long, void const*)";
    const char* chars = "std::__new_allocator<char>::allocate(unsigned long, void const*)";
    CHECK(seen({chars, "pool<int>::allocate(unsigned long)", "main"}) == "char");
    CHECK(seen({bytes, "pool<int>::allocate(unsigned long)", "main"}) == "std::byte");
    // A list in the allocator grows.
    const char* list = "std::_List_base<app::row, std::allocator<app::row> >::_M_get_node()";
    CHECK(seen({other, list, "pool<int>::allocate(unsigned long)", "main"}) == "app::row");
}

TEST_CASE("type_from_frames: what libstdc++.so's functions without a name allocate") {
    const auto seen = [](const std::vector<const char*>& functions) {
        return type_from_frames(frames_of(functions, 0)).name;
    };
    const char* join = "std::filesystem::__cxx11::path::operator/=(std::filesystem::path const&)";
    CHECK(seen({"", join, "main"}) == "std::filesystem::path components");
    CHECK(seen({"", "", join, "main"}) == "std::filesystem::path components");
    CHECK(seen({"", "std::filesystem::__cxx11::path::_M_append(std::string_view)", "main"}) ==
          "std::filesystem::path components");
    CHECK(seen({"", "std::error_code::message() const", "main"}) == "char");
    CHECK(seen({"std::locale::_Impl::_Impl(char const*, unsigned long)", "main"}) ==
          "std::locale data");
    CHECK(seen({"", "std::locale::_Impl::_Impl(char const*, unsigned long)", "main"}) ==
          "std::locale data");
    CHECK(seen({"", "std::locale::locale(char const*)", "main"}) == "?");
    CHECK(seen({"", "std::__basic_file<char>::open(char const*, std::_Ios_Openmode, int)",
                "main"}) == "FILE");
    CHECK(seen({"", "std::pmr::synchronized_pool_resource::do_allocate(unsigned long)", "main"}) ==
          "std::pmr pool buffer");
    CHECK(seen({"", "std::pmr::unsynchronized_pool_resource::release()", "main"}) ==
          "std::pmr pool buffer");
    CHECK(seen({"", "std::filesystem::__cxx11::path::parent_path() const", "main"}) == "?");
    CHECK(seen({join, "main"}) == "?");
    CHECK(seen({"", "app::path::operator=(app::path const&)", "main"}) == "?");
    CHECK(seen({"", ""}) == "?");
}

TEST_CASE("type_from_frames: texts that compiled functions of a library make") {
    const auto seen = [](const char* function) {
        return type_from_frames(frames_of({function, "main"}, 0)).name;
    };
    CHECK(seen("std::operator+<char, std::char_traits<char>, std::allocator<char> >(char const*, "
               "std::string const&)") == "char");
    CHECK(seen("std::operator+<app::part>(app::part const&, int)") == "?");
    CHECK(seen("std::collate<wchar_t>::do_transform(wchar_t const*, wchar_t const*) const") ==
          "wchar_t");
    CHECK(seen("std::collate<char>::do_compare(char const*, char const*) const") == "?");
    CHECK(
        seen("std::__1::basic_filebuf<char, std::__1::char_traits<char> >::setbuf(char*, long)") ==
        "char");
    CHECK(
        seen("std::__1::basic_filebuf<wchar_t, std::__1::char_traits<wchar_t> >::setbuf(wchar_t*, "
             "long)") == "?");
    CHECK(seen("std::__1::__thread_struct::__thread_struct()") == "std::thread state");
    CHECK(seen("std::runtime_error::runtime_error(std::string const&)") == "char");
    CHECK(seen(ALLOCSCOPE_STRING "* std::__do_uninit_copy<" ALLOCSCOPE_STRING
                                 " const*, " ALLOCSCOPE_STRING "*>(" ALLOCSCOPE_STRING
                                 " const*)") == "char");
    CHECK(seen("app::part* std::__do_uninit_copy<app::part const*, app::part*>()") == "?");
}

TEST_CASE("type_from_frames: the outer members of a container of nodes are right, if folded") {
    const std::vector<const char*> tree = {
        "std::__new_allocator<std::_Rb_tree_node<app::part> >::allocate(unsigned long)",
        "std::_Rb_tree<int, app::part, std::less<int>, std::allocator<app::part> >::_M_get_node()",
        "std::_Rb_tree<long, app::other, std::less<long>, std::allocator<app::other> >::"
        "_Auto_node::_Auto_node<int>(int&&)",
        "std::_Rb_tree<long, app::other, std::less<long>, std::allocator<app::other> >::"
        "_M_emplace_unique<int>(int&&)",
        "main"};
    CHECK(type_from_frames(frames_of(tree)).name == "app::other");
    // A function without a line may hide inlined calls.
    std::vector<code_frame> bare = frames_of(tree);
    bare[3].line = 0;
    CHECK(type_from_frames(bare).name == "app::part");
    const std::vector<const char*> list = {
        "std::__new_allocator<std::_List_node<int> >::allocate(unsigned long)",
        "std::list<int, std::allocator<int> >::_M_create_node<int>(int&&)",
        "std::list<long, std::allocator<long> >::assign(long const*)",
        "std::list<long, std::allocator<long> >::assign(std::initializer_list<long>)", "main"};
    CHECK(type_from_frames(frames_of(list)).name == "long");
}

TEST_CASE("type_from_frames: what the C library allocates is known where the source opens it") {
    const auto made_at_mark = [](const char* source, const char* inner = "") {
        const allocscope_test::marked_source marked{source};
        code_frame caller;
        caller.function = "main";
        caller.file = marked.path().c_str();
        caller.line = marked.line();
        caller.column = marked.column();
        code_frame callee;
        callee.function = inner;
        const answer_of_frames answer = type_from_frames({callee, code_frame{}, caller});
        if (answer.is_known()) CHECK(answer.evidence == type_evidence::source_text);
        return answer.name;
    };
    CHECK(made_at_mark("FILE* f = fopen@(path, mode);") == "FILE");  // g++
    CHECK(made_at_mark("FILE* f = @fopen(path, mode);") == "FILE");  // clang
    CHECK(made_at_mark("FILE* f = @std::fopen(path, mode);") == "FILE");
    CHECK(made_at_mark("FILE* f = @::fdopen(3, mode);") == "FILE");
    CHECK(made_at_mark("DIR* d = ::opendir@(path);") == "DIR");
    CHECK(made_at_mark("::localtime_r@(&now, &parts);") == "time zone");
    CHECK(made_at_mark("const int n = vasprintf@(&text, format, values);") == "char");
    CHECK(made_at_mark("log.@write(path);") == "?");
    CHECK(made_at_mark("auto d = archive.opendir@(path);") == "?");
    CHECK(made_at_mark("auto d = archive->@opendir(path);") == "?");
    CHECK(made_at_mark("auto d = @zip::opendir(path);") == "?");
    CHECK(made_at_mark("FILE* f = fopen@(path, mode);", "app::grow(int)") == "?");
}
