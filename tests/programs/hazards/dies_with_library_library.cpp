// dies_with_library_library.cpp - see dies_with_library.cpp.
#include <memory>
#include <vector>

namespace {
struct element {
    long numbers[2] = {1, 2};
};
std::vector<std::unique_ptr<element>> all;
}  // namespace

void fill(int count) {
    all.reserve(4000);
    for (int i = 0; i < count; ++i) all.push_back(std::make_unique<element>());
}
