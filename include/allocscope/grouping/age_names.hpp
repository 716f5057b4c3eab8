// age_names.hpp - which ages are wanted, and how an age is written.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/filter_stacks.hpp and group_by.hpp
// Threads:  any
// Memory:   of the text that is written to
//
//     write_age(out, {1'000'000'000, 2'500'000'000});   // "1000..2500 ms"
//     wanted_ages{1'000'000'000, 0}.fit(age);           // certainly at least 1 s old?

#ifndef ALLOCSCOPE_GROUPING_AGE_NAMES_HPP
#define ALLOCSCOPE_GROUPING_AGE_NAMES_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The ages of stack_filter. An age is known between two bounds only; it fits if it does so wherever
// between them the truth lies.
struct wanted_ages {
    std::uint64_t older_than = 0;    // ns; 0: any
    std::uint64_t younger_than = 0;  // ns; 0: any

    bool are_any() const noexcept { return older_than == 0 && younger_than == 0; }
    bool fit(const snapshot::age& age) const noexcept {
        return age.least_ns >= older_than && (younger_than == 0 || age.most_ns < younger_than);
    }
};

// Both bounds in the unit of the greater one: ns, us or ms below ten thousand of them, else seconds
// with a tenth. So the ages of a window have different names.
inline void write_age(text_out& out, const snapshot::age& age) {
    constexpr const char* units[] = {" ns", " us", " ms", " s"};
    std::uint64_t unit_ns = 1;
    std::size_t unit = 0;
    for (; unit < 3 && age.most_ns / unit_ns >= 10'000; ++unit) unit_ns *= 1000;
    const auto write = [&](std::uint64_t ns) {
        out << decimal{ns / unit_ns};
        if (unit == 3) out << '.' << decimal{ns % unit_ns / (unit_ns / 10)};
    };
    write(age.least_ns);
    out << "..";
    write(age.most_ns);
    out << units[unit];
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_AGE_NAMES_HPP
