#include "refusal.hpp"

namespace shop {

refusal::~refusal() = default;

}  // namespace shop
