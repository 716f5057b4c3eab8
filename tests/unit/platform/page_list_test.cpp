#include <allocscope/platform/page_list.hpp>

#include <doctest/doctest.h>

#include <cstddef>

using namespace allocscope::detail;

namespace {

struct wide {
    std::size_t first;
    char rest[32];
};

bool counts_up(const page_list<wide>& values) {
    std::size_t next = 0;
    for (const wide& value : values) {
        if (value.first != next++) return false;
    }
    return next == values.size();
}

}  // namespace

TEST_CASE("page_list: values stay when their pages are exchanged for more") {
    page_list<wide> values;
    for (std::size_t i = 0; i < 10000; ++i) values.add({i, {}});
    CHECK(values.size() == 10000);
    CHECK(counts_up(values));
    values.cut(5000);
    CHECK(values.size() == 5000);
    for (std::size_t i = 5000; i < 7000; ++i) values.add({i, {}});
    CHECK(counts_up(values));
    values.release();
    CHECK(values.size() == 0);
    values.add({0, {}});
    CHECK(counts_up(values));
    values.release();
}

TEST_CASE("page_list: refused pages are told, and what was there before stays") {
    page_list<wide> values;
    mappings_until_refusal = 1;
    for (std::size_t i = 0; i < 10000; ++i) values.add({i, {}});
    mappings_until_refusal = -1;
    CHECK(values.has_refused());
    CHECK(values.size() > 0);
    CHECK(counts_up(values));
    values.clear();
    CHECK_FALSE(values.has_refused());
    for (std::size_t i = 0; i < 10000; ++i) values.add({i, {}});
    CHECK(values.size() == 10000);
    CHECK(counts_up(values));
    values.release();
}
