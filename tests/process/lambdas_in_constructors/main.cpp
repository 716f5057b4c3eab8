// Danger: a lambda in a constructor is taken for the constructor, of which the debug information of
// g++ then says that the compiler made it; what the lambda allocates is placed where it is called.
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace allocscope_test;

namespace {

int line_of_maker = 0;
int line_of_text = 0;
int line_of_assignment = 0;

}  // namespace

namespace shop {

struct item {
    long price = 3;
};

template <class T>
struct catalogue {
    std::function<std::unique_ptr<T>()> make;
    std::function<std::string(char)> name;
    std::function<std::vector<T>(int)> several;

    catalogue() {
        line_of_maker = __LINE__ + 1;
        make = [] { return std::make_unique<T>(); };
        line_of_text = __LINE__ + 1;
        name = [](auto letter) { return std::string(40, letter); };
    }
    catalogue& operator=(int) {
        line_of_assignment = __LINE__ + 1;
        several = [](int count) { return std::vector<T>(static_cast<std::size_t>(count)); };
        return *this;
    }
};

}  // namespace shop

int main() {
    watchdog();
    shop::catalogue<shop::item> all;
    all = 3;
    const allocscope::scope window{"lambdas"};
    const auto one = all.make();
    const auto name = all.name('x');
    const auto several = all.several(3);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.size(), std::size_t{3});
    for (const allocscope::snapshot::row& row : seen) {
        const bool is_text = std::strcmp(row.type, "char") == 0;
        const int wanted = is_text                           ? line_of_text
                           : row.bytes == sizeof(shop::item) ? line_of_maker
                                                             : line_of_assignment;
        ALLOCSCOPE_EXPECT_EQUAL(row.line, wanted);
        ALLOCSCOPE_EXPECT(is_text || std::strcmp(row.type, "shop::item") == 0);
    }
    return verdict();
}
