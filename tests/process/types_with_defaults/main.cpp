// Danger: a type is printed with arguments that nobody writes, and so has two names in one report:
// `bag<int>` in the source, `bag<int, std::allocator<int>>` for the compiler. Or an argument is
// dropped that is not the default, and two types get one name.
// about: stacks

#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>

#include <memory>
#include <vector>

using namespace allocscope_test;

namespace shop {

template <class T>
struct pool : std::allocator<T> {};

template <class T, class Allocator = std::allocator<T>>
struct bag {
    Allocator allocator;
    T first{};
};

// No default: the second argument has to be written.
template <class T, class Allocator>
struct sack {
    Allocator allocator;
    T first{};
};

template <class T, int Rows = 3, int Columns = 3>
struct matrix {
    T numbers[Rows * Columns] = {};
};

}  // namespace shop

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    const auto whole = std::make_unique<shop::matrix<double>>();
    const auto four = std::make_unique<shop::matrix<double, 4>>();
    const auto square = std::make_unique<shop::matrix<double, 4, 4>>();
    const auto wide = std::make_unique<shop::matrix<double, 3, 5>>();
    const auto bag = std::make_unique<shop::bag<int>>();
    const auto long_bag = std::make_unique<shop::bag<long>>();
    const auto pooled = std::make_unique<shop::bag<int, shop::pool<int>>>();
    const auto sack = std::make_unique<shop::sack<int, std::allocator<int>>>();
    const auto nested = std::make_unique<std::vector<shop::bag<int>>>();
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::matrix<double>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::matrix<double, 4>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::matrix<double, 4, 4>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::matrix<double, 3, 5>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::bag<int, shop::pool<int>>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::sack<int, std::allocator<int>>"), 1);
#if !defined(__clang__)  // clang 14 does not note defaults that depend on other arguments
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::bag<int>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::bag<long>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "std::vector<shop::bag<int>>"), 1);
#endif
    return verdict();
}
