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
        const holding_module expected = find_holding_module(address_in(*each));
        const holding_module found = find_start_module(address_in(*each));
        CHECK(found.loaded == each);
        CHECK(found.loaded == expected.loaded);
        CHECK(found.start == expected.start);
        CHECK(found.end == expected.end);
        CHECK(found.index == expected.index);
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
    CHECK(find_holding_module(code).start != 0);
    CHECK(find_start_module(code).start == 0);
    CHECK(find_start_module(std::uintptr_t{1} << 40U).start == 0);
    CHECK(find_start_module(0).start == 0);
    ::dlclose(later);
}

}  // namespace
