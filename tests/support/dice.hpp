// dice.hpp - repeatable random numbers.
//
// Room:     tests/support
// Called:   by tests that try random orders; the seed is printed when one fails
// Threads:  one thread each
// Memory:   none
//
//     dice roll{42};
//     roll.below(6);     // 0..5
//     roll.one_in(10);   // true about every tenth time

#ifndef ALLOCSCOPE_TESTS_SUPPORT_DICE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_DICE_HPP

#include <cstdint>  // uint64_t

namespace allocscope_test {

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31);
    }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
    bool one_in(std::uint64_t count) { return below(count) == 0; }

private:
    std::uint64_t state_;
};

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_DICE_HPP
