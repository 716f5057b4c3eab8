// Danger: an optimiser that drops the copy of a number's digits, so that a report shows what was on
// the stack. clang 14 did at -O2, where the digits are written from the back in the same function.
// about: stacks

#include <allocscope/base/fixed_text.hpp>

#include <cstdio>
#include <cstring>

int main(int argc, char**) {
    char space[20];
    allocscope::detail::fixed_text text{space, sizeof space};
    text.append("+0x");
    text.append_hexadecimal(0x27248U + static_cast<unsigned>(argc));  // not known to the compiler
    if (text.size() == 8 && std::memcmp(text.data(), "+0x27249", 8) == 0) return 0;
    std::fprintf(stderr, "got %.*s\n", static_cast<int>(text.size()), text.data());
    return 1;
}
