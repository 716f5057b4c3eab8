// text_groups.hpp - shows groups of stacks as a table for people to read.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   the whole text, charged to no window
//
//     std::string table = allocscope::to_table(snapshot.group_by(allocscope::group_key::type));
//
//          bytes  share  objects   allocated  allocations  type
//       51.1 KiB  97.7%     1000    51.1 KiB         1000  std::string
//         1200 B   2.3%      100     2.3 KiB          200  char
//
// "bytes" and "objects" are those alive. The share is that of all live bytes (in a difference, of
// all changes without their signs).

#ifndef ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP
#define ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_columns.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline const char* name_of(group_key key) noexcept {
    constexpr const char* names[] = {"place",  "type", "function", "file",
                                     "module", "size", "thread",   "age"};
    return names[static_cast<std::size_t>(key)];
}

// The number of bytes before the type in "file:line:type"; 0 if the name is something else.
inline std::size_t place_bytes(const text& name, group_key key) noexcept {
    if (key != group_key::place) return 0;
    for (std::size_t at = name.find(':'); at != text::npos; at = name.find(':', at + 1)) {
        const std::size_t behind = name.find_first_not_of("0123456789", at + 1);
        if (behind != text::npos && behind > at + 1 && name[behind] == ':') return behind + 1;
    }
    return 0;
}

inline void write_groups(text_out& out, arena& memory, const snapshot_groups& groups,
                         const text_options& wanted) {
    if (groups.begin() == groups.end()) {
        out << (groups.is_difference() ? "no stack has changed\n"
                                       : "there are no stacks to add up\n");
        return;
    }
    number_columns columns{memory,
                           {groups.is_difference(), groups.is_sampled(), groups.has_details()},
                           name_of(groups.key())};
    std::uint64_t whole = 0;
    std::uint64_t whole_peak = 0;
    for (const group& each : groups) {
        whole += size_of_change(each.bytes, groups.is_difference());
        whole_peak += size_of_change(each.peak_bytes, groups.is_difference());
    }
    columns.set_whole(whole, whole_peak);
    stack_numbers rest;
    std::size_t rest_count = 0;
    for (const group& each : groups) {
        const stack_numbers numbers = numbers_of(each);
        if (columns.size() == wanted.rows) {
            ++rest_count;
            rest.add(numbers);
            continue;
        }
        text_out name{memory};
        write_printable(name, each.name.c_str());
        const std::size_t place = place_bytes(name.view(), groups.key());
        columns.add(numbers, {name.view().substr(0, place),
                              name.view().substr(place),
                              {},
                              groups.key() == group_key::function});
    }
    if (rest_count != 0) {
        text_out name{memory};
        name << "and " << decimal{rest_count} << " more";
        columns.add(rest, {{}, name.view(), {}});
    }
    columns.write(out, wanted.width, groups.order());
}

}  // namespace detail

// From `wanted` only the width and the number of rows are used. Nothing is cut if no width is set.
inline std::string to_table(const snapshot_groups& groups, const text_options& wanted = {}) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out out{memory};
    detail::write_groups(out, memory, groups, wanted);
    return {out.view().data(), out.size()};
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_GROUPS_HPP
