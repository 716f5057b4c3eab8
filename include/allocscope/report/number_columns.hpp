// number_columns.hpp - the numbers of stacks in columns, each line ending with a name.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_groups.hpp and report/text_tree.hpp
// Threads:  any
// Memory:   of the arena that is passed in
//
//        bytes  share  objects   allocated  allocations  NAME
//     51.1 KiB  97.7%     1000    51.1 KiB         1000  std::string
//
// A window with details has more columns before the name:
//
//       at peak  of peak  temporary  mean life
//      49.0 KiB    97.1%        120     1.2 ms
//
// In a difference "lived" replaces the mean: by how much the sum of all lifetimes has grown.

#ifndef ALLOCSCOPE_REPORT_NUMBER_COLUMNS_HPP
#define ALLOCSCOPE_REPORT_NUMBER_COLUMNS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_function.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The text after the numbers. If there is too little room, `name` gives way, but not `before` and
// `behind`.
struct line_name {
    text before;
    text name;
    text behind;
    bool is_function = false;
};

// What the numbers are.
struct number_kind {
    bool is_difference;  // they carry their sign
    bool is_sampled;     // they are estimates, and carry '~'
    bool has_details;
};

class number_columns {
public:
    number_columns(arena& memory, const number_kind& kind, const text& name)
        : memory_(memory),
          numbers_(memory, kind.is_difference, kind.is_sampled),
          is_difference_(kind.is_difference),
          count_(kind.has_details ? most_columns : 5),
          lines_(memory) {
        lines_.push_back({{"bytes", "share", "objects", "allocated", "allocations", "at peak",
                           "of peak", "temporary", is_difference_ ? "lived" : "mean life"},
                          {{}, name, {}}});
    }

    // Sets the numbers that shares are parts of: the live bytes, and the bytes at the peak.
    void set_whole(std::uint64_t bytes, std::uint64_t peak_bytes) noexcept {
        whole_ = bytes;
        whole_peak_ = peak_bytes;
    }

    std::size_t size() const noexcept { return lines_.size() - 1; }

    void add(const stack_numbers& numbers, const line_name& name) {
        text_out share{memory_};
        write_share(share, size_of_change(numbers.bytes, is_difference_), whole_);
        line made{{numbers_.amount(numbers.bytes), share.view(), numbers_.count(numbers.objects),
                   numbers_.amount(numbers.bytes_allocated), numbers_.count(numbers.allocations),
                   "", "", "", ""},
                  name};
        if (count_ == most_columns) add_details(made, numbers);
        lines_.push_back(made);
    }

    // Leaves out columns and cuts names, so that no line has more than `width` columns, if that is
    // possible. The column by which the lines are in `order` stays. 0: no limit.
    void write(text_out& out, std::size_t width, stack_value order) const {
        std::size_t widths[most_columns] = {};  // 0: left out
        for (const line& each : lines_) {
            for (std::size_t i = 0; i < count_; ++i) {
                const std::size_t taken = columns_of(each.numbers[i]);
                if (taken > widths[i]) widths[i] = taken;
            }
        }
        const std::size_t taken = leave_out(widths, width, order);
        const bool is_cut = width > taken + least_name;
        for (const line& each : lines_) {
            for (std::size_t i = 0; i < count_; ++i) {
                if (widths[i] == 0) continue;
                write_right(out, each.numbers[i], widths[i]);
                out << "  ";
            }
            write_name(out, each.name, is_cut ? width - taken : 0);
        }
    }

private:
    static constexpr std::size_t most_columns = 9;
    static constexpr std::size_t least_name = 8;

    // Writes a name into `room` columns, if that is possible; 0: no limit. The text after the name
    // is left out if too little of the name would remain.
    static void write_name(text_out& out, const line_name& name, std::size_t room) {
        constexpr std::size_t telling_name = 16;
        const std::size_t before = columns_of(name.before);
        const std::size_t behind = columns_of(name.behind);
        const std::size_t whole = columns_of(name.name);
        const std::size_t wanted = whole < telling_name ? whole : telling_name;
        const bool has_behind = room == 0 || before + wanted + behind <= room;
        const std::size_t kept = before + (has_behind ? behind : 0);
        const std::size_t left = room > kept + least_name ? room - kept : least_name;
        out << name.before;
        const std::size_t columns = room == 0 ? whole : left;
        if (name.is_function) {
            write_function(out, name.name, columns);
        } else {
            write_middle_cut(out, name.name, columns);
        }
        if (has_behind) out << name.behind;
        out << '\n';
    }

    struct line {
        text numbers[most_columns];
        line_name name;
    };

    // Leaves out columns, the least important one first. Returns the width of the others.
    std::size_t leave_out(std::size_t (&widths)[most_columns], std::size_t width,
                          stack_value order) const noexcept {
        constexpr std::size_t column_of_value[] = {0, 2, 3, 4, 5, 7};  // of bytes, objects ...
        constexpr std::size_t dispensable[] = {1, 6, 3, 2, 8, 4, 7};
        constexpr std::size_t good_name = 24;
        std::size_t taken = 0;
        for (std::size_t i = 0; i < count_; ++i) taken += widths[i] + 2;
        if (width == 0 || count_ != most_columns) return taken;
        for (const std::size_t column : dispensable) {
            if (taken + good_name <= width) break;
            if (column == column_of_value[static_cast<std::size_t>(order)]) continue;
            taken -= widths[column] + 2;
            widths[column] = 0;
        }
        return taken;
    }

    void add_details(line& to, const stack_numbers& numbers) {
        text_out share{memory_};
        write_share(share, size_of_change(numbers.peak_bytes, is_difference_), whole_peak_);
        text_out life{memory_};
        if (is_difference_) {
            const std::uint64_t size_us = write_sign(life, numbers.lifetime_us);
            write_duration(life, nanoseconds(static_cast<double>(size_us)));
        } else if (numbers.allocations == 0) {
            life << '-';
        } else {
            const double mean_us =
                static_cast<double>(numbers.lifetime_us) / static_cast<double>(numbers.allocations);
            write_duration(life, nanoseconds(mean_us));
        }
        to.numbers[5] = numbers_.amount(numbers.peak_bytes);
        to.numbers[6] = share.view();
        to.numbers[7] = numbers_.count(numbers.temporary);
        to.numbers[8] = life.view();
    }

    // At most 584 years: a file may claim more.
    static std::uint64_t nanoseconds(double microseconds) {
        constexpr std::uint64_t most_us = ~std::uint64_t{0} / 1000;
        if (microseconds >= static_cast<double>(most_us)) return most_us * 1000;
        return static_cast<std::uint64_t>(microseconds * 1000.0);
    }

    arena& memory_;
    const number_form numbers_;
    const bool is_difference_;
    const std::size_t count_;
    std::uint64_t whole_ = 0;
    std::uint64_t whole_peak_ = 0;
    list<line> lines_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_NUMBER_COLUMNS_HPP
