#include "shape.hpp"

namespace shop {

shape::~shape() = default;

}  // namespace shop
