// A function is called by a number if its name is that of its module's file, and the number.
#include <allocscope/snapshot/numbered_function.hpp>

#include <doctest/doctest.h>

namespace {

bool is_numbered(const char* function, const char* module) {
    allocscope::snapshot::frame frame{};
    frame.function = function;
    frame.module = module;
    return allocscope::detail::is_numbered(frame);
}

}  // namespace

TEST_CASE("numbered function: the file's name and a number") {
    CHECK(is_numbered("app+0x12f0", "/usr/bin/app"));
    CHECK(is_numbered("app+0x12f0", "app"));
    CHECK_FALSE(is_numbered("app+0x12f0", "/usr/bin/other"));
    CHECK_FALSE(is_numbered("app+0x12f0", "/usr/bin/app/"));
    CHECK_FALSE(is_numbered("app+1", "/usr/bin/app"));
    CHECK_FALSE(is_numbered("app", "/usr/bin/app"));
    CHECK_FALSE(is_numbered("", "/usr/bin/app"));
    CHECK_FALSE(is_numbered("+0x12f0", ""));
    CHECK_FALSE(is_numbered(nullptr, "/usr/bin/app"));
    CHECK_FALSE(is_numbered("app+0x12f0", nullptr));
}
