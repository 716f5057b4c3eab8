#include <allocscope/places/frame_rule.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::frame_rule;

namespace {

ALLOCSCOPE_CONSTANT_INITIALISED frame_rule global_rule;

code_frame frame(const char* function, const char* file = "", int line = 0) {
    code_frame made;
    made.function = function;
    made.file = file;
    made.line = line;
    return made;
}

bool is_library(const char* function, const char* file = "") {
    arena scratch;
    return frame_rule{}.is_library(scratch, frame(function, file, 1));
}

std::size_t user_frame(const std::vector<code_frame>& frames, const frame_rule& rule) {
    arena memory;
    allocscope::symbolize::list<code_frame> stack{memory};
    for (const code_frame& each : frames) stack.push_back(each);
    return allocscope::symbolize::user_frame(memory, stack, rule);
}

}  // namespace

TEST_CASE("frame_rule: the library is known by the function's own name") {
    for (const char* name :
         {"std::vector<app::widget, std::allocator<app::widget> >::reserve(unsigned long)",
          "app::widget* std::__copy<app::widget>(app::widget*)",
          "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
          "__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
          "__cxxabiv1::__class_type_info::method()",
          "allocscope::v0::scope::stats() const",
          "allocscope::snapshot::size() const",
          "operator new(unsigned long)",
          "operator new[](unsigned long, std::nothrow_t const&)",
          "__cxa_allocate_exception",
          "_dl_open",
          "__libc_start_main",
          "_start",
          "start_thread",
          "clone3",
          "malloc",
          "strdup",
          "execute_native_thread_routine",
          "__something_of_the_c_library",
          "_ZNSt6vectorIiE3addEv"}) {
        CAPTURE(std::string{name});
        CHECK(is_library(name));
    }
}

TEST_CASE("frame_rule: a function with a file may have a name of the C library") {
    arena scratch;
    const frame_rule rule;
    code_frame frame;
    for (const char* name : {"clone", "exit", "start_thread"}) {
        CAPTURE(std::string{name});
        frame.function = name;
        frame.file = "";
        CHECK(rule.is_library(scratch, frame));
        frame.file = "/home/me/main.cpp";  // a member function that was inlined, with -g1
        CHECK(!rule.is_library(scratch, frame));
    }
    frame.function = "malloc";
    CHECK(rule.is_library(scratch, frame));
}

TEST_CASE("frame_rule: library types in a user's function do not make it a library's") {
    for (const char* name :
         {"void user::f<std::vector<int, std::allocator<int> > >(std::map<int, int>&)",
          "std::vector<int, std::allocator<int> > make<int>(int)",
          "std::string* (anonymous namespace)::make(std::string const&)", "main",
          "main::{lambda(int)#1}::operator()(int) const", "user::functor::operator()() const",
          "stdx::thing()", "allocscope_demo::run()", "my_operator(int)", "mallocator::allocate()",
          "_ZN3app4loadEi", "app::std::inner()"}) {
        CAPTURE(std::string{name});
        CHECK_FALSE(is_library(name));
    }
}

TEST_CASE("frame_rule: functions around malloc that C programs have are the library's") {
    for (const char* name : {"xmalloc",
                             "g_malloc0",
                             "gmalloc",
                             "agalloc",
                             "png_malloc_warn",
                             "AcquireCriticalMemory",
                             "uv__malloc",
                             "Tcl_Alloc",
                             "ngx_calloc",
                             "zmalloc_usable",
                             "objc_calloc",
                             "caml_stat_alloc",
                             "debug_xalloc",
                             "_dbus_strdup",
                             "ztrdup",
                             "monoeg_g_calloc",
                             "mcxRealloc",
                             "ajMemCallocZero",
                             "gmt_memory_func",
                             "erts_sys_aligned_alloc",
                             "successful_malloc",
                             "Storage_ALLOCATE",
                             "CPLMalloc",
                             "coq_stat_alloc",
                             "sq_vm_realloc",
                             "VSICallocVerbose",
                             "ber_memcalloc_x",
                             "ck_realloc_u32",
                             "rstrndup",
                             "scm_realloc",
                             "prvTidytmbstrdup",
                             "greedy_realloc",
                             "safe_zalloc"}) {
        CAPTURE(std::string{name});
        CHECK(is_library(name));
    }
    for (const char* name : {"malloc_table", "user::gmalloc", "xmalloc_of_mine", "alloc"}) {
        CAPTURE(std::string{name});
        CHECK_FALSE(is_library(name));
    }
}

TEST_CASE("frame_rule: what runs before main for a global of the user is the user's") {
    CHECK_FALSE(is_library("__static_initialization_and_destruction_0(int, int)", "/p/a.cpp"));
    CHECK_FALSE(is_library("_GLOBAL__sub_I_global", "/p/a.cpp"));
    CHECK_FALSE(is_library("__cxx_global_var_init", "/p/a.cpp"));
    CHECK_FALSE(is_library("__cxx_global_var_init"));
}

TEST_CASE("frame_rule: a function in a standard header is the library's, named or not") {
    CHECK(is_library("allocate", "/usr/include/c++/12/bits/new_allocator.h"));
    CHECK(is_library("", "/usr/lib/llvm-14/include/c++/v1/vector"));
    CHECK_FALSE(is_library("allocate", "/home/me/pool.h"));
}

TEST_CASE("frame_rule: a frame without a name is the user's when it has a file") {
    CHECK_FALSE(is_library("", "/home/me/main.cpp"));
    CHECK(is_library(""));
}

TEST_CASE("frame_rule: users add namespaces, prefixes and folders") {
    frame_rule rule;
    arena scratch;
    const auto is_hidden = [&](const char* function, const char* file) {
        return rule.is_library(scratch, frame(function, file, 1));
    };
    CHECK_FALSE(is_hidden("mylib::pool<int>::grab()", "/home/me/a.cpp"));
    CHECK(std::string{rule.add("mylib::")} == "");
    CHECK(is_hidden("mylib::pool<int>::grab()", "/home/me/a.cpp"));
    CHECK(is_hidden("mylib::detail::grab()", ""));
    CHECK(is_hidden("int const& mylib::each<user::f>(user::f)", ""));
    CHECK(is_hidden("char const* mylib::name<int>(int)", ""));
    CHECK_FALSE(is_hidden("mylib::box const* user::find<int>(int)", ""));
    CHECK_FALSE(is_hidden("mylibrary::grab()", ""));
    CHECK_FALSE(is_hidden("mylib::f<int>()::nothing* user::mylib()", ""));

    CHECK(std::string{rule.add("other::pool")} == "");
    CHECK(is_hidden("other::pool<int>::grab()", ""));
    CHECK_FALSE(is_hidden("other::pooled()", ""));

    CHECK(std::string{rule.add("xml*")} == "");
    CHECK(is_hidden("xmlNewNode", ""));
    CHECK_FALSE(is_hidden("user::xmlNewNode()", ""));

    CHECK(std::string{rule.add("/usr/include/mylib/")} == "");
    CHECK(is_hidden("grab", "/usr/include/mylib/pool.h"));
    CHECK_FALSE(is_hidden("grab", "/usr/include/mylib2/pool.h"));
    CHECK_FALSE(is_hidden("grab", "/home/usr/include/mylib/pool.h"));

    CHECK(std::string{rule.add("third_party/")} == "");
    CHECK(is_hidden("grab", "/home/me/third_party/pool.h"));
    CHECK(is_hidden("grab", "third_party/pool.h"));
    CHECK_FALSE(is_hidden("grab", "/home/me/not_third_party/pool.h"));
}

TEST_CASE("frame_rule: what users declare to be theirs is theirs, whatever else is said") {
    frame_rule rule;
    arena scratch;
    const auto is_hidden = [&](const char* function, const char* file) {
        return rule.is_library(scratch, frame(function, file, 1));
    };
    CHECK(std::string{rule.add("mylib::")} == "");
    CHECK(std::string{rule.add("!mylib::core")} == "");
    CHECK(is_hidden("mylib::grab()", "/p/a.cpp"));
    CHECK_FALSE(is_hidden("mylib::core::grab()", "/p/a.cpp"));
    CHECK(rule.is_declared_own(scratch, frame("mylib::core::grab()", "", 0)));
    CHECK_FALSE(rule.is_declared_own(scratch, frame("mylib::grab()", "", 0)));
    CHECK(is_hidden("allocate", "/usr/include/c++/12/bits/new_allocator.h"));
    CHECK(std::string{rule.add("!/usr/include/c++/")} == "");
    CHECK_FALSE(is_hidden("allocate", "/usr/include/c++/12/bits/new_allocator.h"));
    for (const char* pattern : {"!", "!*", "!/", "!::"}) {
        CAPTURE(pattern);
        CHECK(std::string{rule.add(pattern)}.find("every frame") != std::string::npos);
    }
}

TEST_CASE("frame_rule: a pattern that fits everything or nothing is refused with the reason") {
    frame_rule rule;
    for (const char* pattern : {"", "*", "/", "::", "::*"}) {
        CAPTURE(pattern);
        CHECK(std::string{rule.add(pattern)}.find("every frame") != std::string::npos);
    }
    for (const char* pattern : {"*json", "**", "!*json*", "third_party/*", "src/*/parts/", "a*b",
                                "kit::*::make", "kit*::", "xml**", "!kit*::make"}) {
        CAPTURE(pattern);
        CHECK(std::string{rule.add(pattern)}.find("end of a function's name") != std::string::npos);
    }
    CHECK(std::string{rule.add("vec::operator*=")} == "");
    CHECK(std::string{rule.add("vec::operator*")} == "");
    CHECK(std::string{rule.add(nullptr)}.find("null") != std::string::npos);
    CHECK(std::string{rule.add(std::string(256, 'x').c_str())}.find("255") != std::string::npos);
    CHECK(std::string{rule.add(std::string(255, 'x').c_str())} == "");
    for (int i = 1; i < 62; ++i) {
        CHECK(std::string{rule.add(("space" + std::to_string(i)).c_str())} == "");
    }
    CHECK(std::string{rule.add("one_more")}.find("64") != std::string::npos);
    CHECK(std::string{rule.add("space1")} == "");  // it is there already
    arena scratch;
    CHECK_FALSE(rule.is_library(scratch, frame("user::run()")));
}

TEST_CASE("frame_rule: a global one is ready before the program runs") {
    CHECK(std::string{global_rule.add("mylib::")} == "");
    CHECK(global_rule.version() == 1);
    CHECK(std::string{global_rule.add("mylib::")} == "");
    CHECK(global_rule.version() == 1);
}

TEST_CASE("frame_rule: looking at a frame gives back the memory that it took") {
    arena scratch;
    const frame_rule rule;
    const void* before = scratch.allocate(16);
    CHECK_FALSE(rule.is_library(scratch, frame("user::run(std::vector<int>)")));
    CHECK(scratch.allocate(16) == static_cast<const char*>(before) + 16);
}

TEST_CASE("frame_rule: patterns may be added while others read") {
    frame_rule rule;
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int reader = 0; reader < 2; ++reader) {
        threads.emplace_back([&] {
            arena scratch;
            while (!is_over) CHECK_FALSE(rule.is_library(scratch, frame("user::run()")));
        });
    }
    for (int i = 0; i < 64; ++i) rule.add(("space" + std::to_string(i)).c_str());
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    arena scratch;
    CHECK(rule.is_library(scratch, frame("space63::run()")));
}

TEST_CASE("user_frame: the innermost frame of the user gives the row its line") {
    const frame_rule rule;
    const std::vector<code_frame> frames = {
        frame("std::__new_allocator<int>::allocate(unsigned long, void const*)",
              "/usr/include/c++/12/bits/new_allocator.h", 137),
        frame("std::vector<int, std::allocator<int> >::reserve(unsigned long)",
              "/usr/include/c++/12/bits/vector.tcc", 80),
        frame("app::fill(std::vector<int, std::allocator<int> >&)", "/p/a.cpp", 12),
        frame("main", "/p/main.cpp", 3)};
    CHECK(user_frame(frames, rule) == 2);
}

TEST_CASE("user_frame: a lambda that the library calls is the user's") {
    const frame_rule rule;
    const std::vector<code_frame> frames = {
        frame("main::{lambda(int)#1}::operator()(int) const", "/p/main.cpp", 5),
        frame("std::for_each<int*, main::{lambda(int)#1}>(int*, int*)", "/usr/include/c++/12/x", 9),
        frame("main", "/p/main.cpp", 4)};
    CHECK(user_frame(frames, rule) == 0);
}

TEST_CASE("user_frame: without a frame of the user a line is better than a name") {
    const frame_rule rule;
    std::vector<code_frame> frames = {frame("operator new(unsigned long)"),
                                      frame("std::f()", "/usr/include/c++/12/x", 7)};
    CHECK(user_frame(frames, rule) == 1);
    frames[1] = frame("std::f()");
    CHECK(user_frame(frames, rule) == 0);
    frames = {frame(""), frame("")};
    CHECK(user_frame(frames, rule) == 2);
    CHECK(user_frame({}, rule) == 0);
}

TEST_CASE("user_frame: a user's function counts without a line") {
    const frame_rule rule;
    CHECK(user_frame({frame("std::f()", "/usr/include/c++/12/x", 7), frame("app::run()")}, rule) ==
          1);
}
