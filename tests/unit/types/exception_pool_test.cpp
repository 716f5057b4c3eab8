#include <allocscope/types/exception_pool.hpp>

#include <doctest/doctest.h>

using allocscope::symbolize::is_exception_pool;

TEST_CASE("exception_pool: what the loader makes libstdc++ ask for, and nothing else of it") {
    const char* const library = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    const char* const loader = "/lib64/ld-linux-x86-64.so.2";
    CHECK(is_exception_pool("", library, loader));
    CHECK_FALSE(is_exception_pool("std::locale::_Impl::_Impl(unsigned long)", library, loader));
    CHECK_FALSE(is_exception_pool("", library, "/usr/bin/program"));
    CHECK_FALSE(is_exception_pool("", library, library));
    CHECK_FALSE(is_exception_pool("", "/usr/lib/libother.so.1", loader));
    CHECK(
        is_exception_pool("_GLOBAL__sub_I_eh_alloc.cc", "/usr/bin/program", "/usr/lib/libc.so.6"));
    CHECK_FALSE(is_exception_pool("_GLOBAL__sub_I_main.cc", "/usr/bin/program", loader));
}
