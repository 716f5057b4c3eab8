// Danger: a type that only the size of the objects proves is not known when all are freed.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <cstring>
#include <string>

#include "reader.hpp"

using namespace allocscope_test;

namespace shop {

reader::reader(long first) : numbers{first, 2, 3, 4, 5} {}

__attribute__((noinline)) void parser::start(long first) {
    reader_.reset(new reader_type(first));
}

}  // namespace shop

namespace {

std::uint64_t allocations_of(const allocscope::snapshot& seen, const char* type) {
    std::uint64_t count = 0;
    for (const allocscope::snapshot::stack& stack : seen.stacks()) {
        std::printf("%s:%d:%s\n", stack.file, stack.line, stack.type);
        if (std::strcmp(stack.type, type) == 0) count += stack.allocations;
    }
    return count;
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"gone"};
    shop::parser all;
    for (long first = 0; first < 3; ++first) all.start(first);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(window.stats(), "shop::reader"), 3);
    all.stop();
    const allocscope::scope another{"gone"};
    all.start(4);
    all.stop();
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(another.stats(), "shop::reader"), 1);
    return verdict();
}
