#include "parts.hpp"

shop::part_numbers known;

namespace shop {

struct part {
    long numbers[5] = {};
};

// Only the debug information has this class.
#define ALLOCSCOPE_PIECE(name) \
    struct name {              \
        char text[70] = {};    \
    }
ALLOCSCOPE_PIECE(piece);

// Its code is in another unit than the description of the variable.
__attribute__((noinline)) void number_parts() {
    known.numbers = static_cast<short*>(::operator new(3 * sizeof *known.numbers));
}

std::unique_ptr<part, deleter> make_part() {
    return std::unique_ptr<part, deleter>{new part};
}

void* make_piece() {
    return new piece;
}

void deleter::operator()(part* made) const noexcept {
    delete made;
}

}  // namespace shop
