// interval_reach.hpp - the interval of a sum or difference of estimates.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by naming/snapshot_difference.hpp, and by report/ for what it sums
// Threads:  plain values
// Memory:   16 bytes
//
//     interval_reach reach;
//     reach.meet(later, true);
//     reach.meet(earlier, false);
//     estimate grown = reach.around(later.value - earlier.value);

#ifndef ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP
#define ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP

#include <allocscope/config.hpp>
#include <allocscope/sampling/estimate.hpp>
#include <allocscope/sampling/sample_sums.hpp>

#include <cmath>    // ceil, sqrt
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// How far an interval reaches below and above its number, while numbers are added and subtracted.
// The distances add as if at right angles: those of estimates that do not depend on each other (the
// method of variance estimates recovery: G. Y. Zou, A. Donner, "Construction of confidence limits
// about effect measures", Statistics in Medicine 27, 2008). Two snapshots of one window do depend
// on each other, as they share samples: there the interval is wider than it need be.
class interval_reach {
public:
    void meet(const estimate& number, bool is_added) noexcept {
        const double below = static_cast<double>(number.value - number.low);
        const double above = static_cast<double>(number.high - number.value);
        below_squared_ += is_added ? below * below : above * above;
        above_squared_ += is_added ? above * above : below * below;
    }

    estimate around(std::uint64_t value) const noexcept {
        return {value, value - whole_number(std::ceil(std::sqrt(below_squared_))),
                value + whole_number(std::ceil(std::sqrt(above_squared_)))};
    }

private:
    double below_squared_ = 0.0;
    double above_squared_ = 0.0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP
