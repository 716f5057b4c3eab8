#include <doctest/doctest.h>

#include <memory>

TEST_CASE("leaks") {
    CHECK(*new int(1) == 1);
}

TEST_CASE("frees") {
    CHECK(*std::make_unique<int>(1) == 1);
    CHECK(package::files == 2);  // this one, and the one with main()
}
