#include "parts.hpp"

namespace shop {

struct part {
    long numbers[5] = {};
};

std::unique_ptr<part, deleter> make_part() {
    return std::unique_ptr<part, deleter>{new part};
}

void deleter::operator()(part* made) const noexcept {
    delete made;
}

}  // namespace shop
