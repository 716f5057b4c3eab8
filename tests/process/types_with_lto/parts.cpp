#include "parts.hpp"

namespace shop {

struct part {
    long numbers[5] = {};
};

part_numbers known;

std::unique_ptr<part, deleter> make_part() {
    known.numbers = static_cast<short*>(::operator new(3 * sizeof *known.numbers));
    return std::unique_ptr<part, deleter>{new part};
}

void deleter::operator()(part* made) const noexcept {
    delete made;
}

}  // namespace shop
