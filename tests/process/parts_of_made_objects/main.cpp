// Danger: what a default argument of a constructor allocates is taken for the object itself,
// because std::make_unique evaluates the argument.
// about: stacks

#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>

#include <any>
#include <memory>
#include <vector>

using namespace allocscope_test;

namespace shop {

struct part {
    int numbers[3] = {};
};

struct device {
    explicit device(int number, part* made = new part) : count(number), first(made) {}
    int count;
    part* first;
    long rest[5] = {};
};

struct shape {
    virtual ~shape() = default;
};

struct drawing {
    explicit drawing(shape* made = new shape) : first(made) {}
    std::unique_ptr<shape> first;
    long rest[5] = {};
};

}  // namespace shop

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    const auto made = std::make_unique<shop::device>(1);
    const auto drawn = std::make_unique<shop::drawing>();
    const auto number = std::make_unique<int>(1);
    const auto numbers = std::make_unique<int[]>(20);
    std::any holder;
    holder.emplace<shop::device>(2);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::device"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "?"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::drawing"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::shape"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "int"), 2);
    return verdict();
}
