// The loader's list, which is read before glibc 2.35, against _dl_find_object of this glibc.

#include <allocscope/unwind/holding_module.hpp>

#include <cstdint>

#include <dlfcn.h>
#include <link.h>

#include <doctest/doctest.h>

namespace {

using namespace allocscope::detail;

std::uintptr_t address_in(const link_map& module) {
    return reinterpret_cast<std::uintptr_t>(module.l_ld);
}

TEST_CASE("modules that were loaded with the program are those that the C library finds") {
    REQUIRE(can_tell_modules());
    int modules = 0;
    for (link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        struct dl_find_object expected {};
        struct dl_find_object found {};
        REQUIRE(find_holding_module(address_in(*each), expected));
        REQUIRE(find_start_module(address_in(*each), found));
        CHECK(found.dlfo_link_map == each);
        CHECK(found.dlfo_link_map == expected.dlfo_link_map);
        CHECK(found.dlfo_map_start == expected.dlfo_map_start);
        CHECK(found.dlfo_map_end == expected.dlfo_map_end);
        CHECK(found.dlfo_eh_frame == expected.dlfo_eh_frame);
        ++modules;
        if (each->l_addr == _r_debug.r_ldbase) break;
    }
    CHECK(modules >= 3);  // the program, the C library, the loader
}

TEST_CASE("a library that was loaded later, and an address of no module, are not found") {
    // Nobody is linked with it, and it needs nothing that only some programs have.
    void* const later = ::dlopen("libBrokenLocale.so.1", RTLD_LAZY);
    REQUIRE(later != nullptr);
    const auto code = reinterpret_cast<std::uintptr_t>(::dlsym(later, "__ctype_get_mb_cur_max"));
    struct dl_find_object found {};
    CHECK(find_holding_module(code, found));
    CHECK_FALSE(find_start_module(code, found));
    CHECK_FALSE(find_start_module(std::uintptr_t{1} << 40U, found));
    CHECK_FALSE(find_start_module(0, found));
    ::dlclose(later);
}

}  // namespace
