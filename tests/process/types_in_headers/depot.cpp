#include "shop/depot.hpp"

namespace shop {

depot::depot() {
    cells_.reserve(2);
}

void depot::fill() {
    cells_.emplace_back(new cell);
    labels_ = static_cast<char16_t*>(::operator new(4 * sizeof *labels_));
    crate_ = new crate;  // compilers describe no class that is only passed on
}

}  // namespace shop
