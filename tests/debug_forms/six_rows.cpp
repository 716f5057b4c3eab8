// Six rows of six kinds, printed: what a report says of them must not depend on where the debug
// information is and how it is packed. Compiled and packed by packed_forms.py.

#include <allocscope/allocscope.hpp>

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shop {

struct shape {
    virtual ~shape() = default;
    long numbers[3] = {};
};

struct plain {
#if defined(WITHOUT_CONSTRUCTOR)
    long numbers[5];  // only the source has the type
#else
    long numbers[5] = {};
#endif
};

struct everything {
    std::vector<int> list;
    std::map<int, std::string> names;
    std::string text;
    std::unique_ptr<shape> polymorphic;
    std::unique_ptr<plain> made;
    plain* simple = nullptr;
};

volatile long seed = 3;

// Neither it nor what is in it has a linker's name: what encloses them is put in front.
static inline long weight(long number) {
    const auto scaled = [](long each) { return each * seed; };
    return scaled(number) + seed;
}

__attribute__((noinline)) void fill(everything& all) {
    all.list.resize(100);
    all.names[1] = "short";
    all.text = std::string(200, 'x');
    all.polymorphic.reset(new shape);
    all.made = std::make_unique<plain>();
    all.simple = new plain;
    all.simple->numbers[0] = weight(seed);
}

}  // namespace shop

int main() {
    const allocscope::scope window{"six rows"};
    shop::everything all;
    shop::fill(all);
    std::cout << window.stats();
    delete all.simple;
    return 0;
}
