#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_LTO_PARTS_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_LTO_PARTS_HPP

#include <memory>

namespace shop {

struct part;
struct deleter {
    void operator()(part* made) const noexcept;
};
std::unique_ptr<part, deleter> make_part();

struct part_numbers {
    short* numbers;
};
void number_parts();
void* make_piece();

}  // namespace shop

extern shop::part_numbers known;

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_LTO_PARTS_HPP
