#include <allocscope/report/text_function.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace allocscope::detail;

namespace {

std::string in_columns(const char* function, std::size_t columns) {
    arena memory;
    text_out out{memory};
    write_function(out, function, columns);
    return {out.view().data(), out.size()};
}

}  // namespace

TEST_CASE("text_function: parameters and template arguments give way before the name") {
    const char* const push_back =
        "std::vector<std::map<int, long>, std::allocator<int>>::push_back(const int&)";
    CHECK(in_columns(push_back, 200) == push_back);
    CHECK(in_columns(push_back, 76) == push_back);
    CHECK(in_columns(push_back, 75) == "std::vector::push_back");
    CHECK(in_columns(push_back, 22) == "std::vector::push_back");
    CHECK(in_columns(push_back, 15) == "std::v...h_back");
    CHECK(in_columns("kit::parser::operator()(char const*) const", 30) ==
          "kit::parser::operator()");
}

TEST_CASE("text_function: what is no name of a C++ function is cut in the middle") {
    CHECK(in_columns("libstdc++.so.6+0xa57b9", 15) == "libstd...xa57b9");
    CHECK(in_columns("-[Window closeAllTabs]", 13) == "-[Win...Tabs]");
    CHECK(in_columns("<Vec<T> as core::ops::Drop>::drop", 15) == "<Vec<T...::drop");
    CHECK(in_columns("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", 15) == "_ZN4co...bcdefE");
    CHECK(in_columns("", 8).empty());
}
