// text_groups.hpp - groups of stacks as a table for a person to read.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   the whole text, charged to no window
//
//     std::string table = allocscope::to_text(snapshot.group_by(allocscope::group_key::type));
//
//          bytes  share  objects   allocated  allocations  stacks  type
//       51.1 KiB  97.7%     1000    51.1 KiB         1000       1  std::string
//         1200 B   2.3%      100     2.3 KiB          200       2  char
//
// "bytes" and "objects" are alive, the share is of all bytes alive (in a difference, of all changes
// without their signs).

#ifndef ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP
#define ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_options.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline const char* name_of(group_key key) noexcept {
    switch (key) {
        case group_key::place:
            return "place";
        case group_key::type:
            return "type";
        case group_key::function:
            return "function";
        case group_key::file:
            return "file";
        case group_key::module:
            return "module";
        case group_key::size:
            return "size";
    }
    return "";
}

class group_table {
public:
    group_table(arena& memory, const snapshot_groups& groups, const text_options& wanted)
        : memory_(memory), groups_(groups), wanted_(wanted), lines_(memory) {
        for (const group& each : groups) all_bytes_ += magnitude_of(each.bytes);
        line title;
        const char* titles[columns] = {"bytes",     "share",       "objects",
                                       "allocated", "allocations", "stacks"};
        for (std::size_t i = 0; i < columns; ++i) title.numbers[i] = titles[i];
        title.name = name_of(groups.key());
        lines_.push_back(title);
        group rest{};
        std::size_t rest_count = 0;
        for (const group& each : groups) {
            if (lines_.size() <= wanted.rows) {
                add(each, printable(each.name.c_str()));
                continue;
            }
            ++rest_count;
            rest.bytes += each.bytes;
            rest.objects += each.objects;
            rest.allocations += each.allocations;
            rest.bytes_allocated += each.bytes_allocated;
            rest.stacks += each.stacks;
        }
        if (rest_count == 0) return;
        text_out name{memory_};
        name << "and " << decimal{rest_count} << " more";
        add(rest, name.view());
    }

    void write(text_out& out) const {
        std::size_t widths[columns] = {};
        for (const line& each : lines_) {
            for (std::size_t i = 0; i < columns; ++i) {
                const std::size_t taken = columns_of(each.numbers[i]);
                if (taken > widths[i]) widths[i] = taken;
            }
        }
        std::size_t taken = 0;
        for (const std::size_t width : widths) taken += width + 2;
        for (const line& each : lines_) {
            for (std::size_t i = 0; i < columns; ++i) {
                write_right(out, each.numbers[i], widths[i]);
                out << "  ";
            }
            if (wanted_.width != 0 && wanted_.width > taken + 8) {
                write_middle_cut(out, each.name, wanted_.width - taken);
            } else {
                out << each.name;
            }
            out << '\n';
        }
    }

private:
    static constexpr std::size_t columns = 6;

    struct line {
        text numbers[columns];
        text name;
    };

    std::uint64_t magnitude_of(std::uint64_t number) const noexcept {
        return size_of_value(number, groups_.is_difference());
    }
    text printable(const char* shown) {
        text_out made{memory_};
        write_printable(made, shown);
        return made.view();
    }
    text count(std::uint64_t number) {
        text_out made{memory_};
        if (groups_.is_difference()) {
            write_change(made, number);
        } else {
            made << decimal{number};
        }
        return made.view();
    }
    text amount(std::uint64_t bytes) {
        text_out made{memory_};
        if (groups_.is_difference()) {
            write_bytes_change(made, bytes);
        } else {
            write_bytes(made, bytes);
        }
        return made.view();
    }
    void add(const group& of, text name) {
        line made;
        made.numbers[0] = amount(of.bytes);
        text_out share{memory_};
        write_share(share, magnitude_of(of.bytes), all_bytes_);
        made.numbers[1] = share.view();
        made.numbers[2] = count(of.objects);
        made.numbers[3] = amount(of.bytes_allocated);
        made.numbers[4] = count(of.allocations);
        text_out stacks{memory_};
        stacks << decimal{of.stacks};
        made.numbers[5] = stacks.view();
        made.name = name;
        lines_.push_back(made);
    }

    arena& memory_;
    const snapshot_groups& groups_;
    const text_options& wanted_;
    std::uint64_t all_bytes_ = 0;
    list<line> lines_;
};

}  // namespace detail

// Of `wanted`, the width and the number of rows count. Nothing is cut unless there is a width.
inline std::string to_text(const snapshot_groups& groups, const text_options& wanted = {}) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out out{memory};
    detail::group_table{memory, groups, wanted}.write(out);
    return {out.view().data(), out.size()};
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP
