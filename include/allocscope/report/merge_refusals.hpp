// merge_refusals.hpp - which snapshots cannot be merged, and the sentence that says why.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/merge_snapshots.hpp and report/whole_difference.hpp
// Threads:  any
// Memory:   the message
//
// An object belongs to every window that was open at its birth. So two windows of one process that
// were open at the same time hold the same objects, and their sum would count these twice. The
// exception is two windows of one thread each, of two different threads.

#ifndef ALLOCSCOPE_REPORT_MERGE_REFUSALS_HPP
#define ALLOCSCOPE_REPORT_MERGE_REFUSALS_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>

#include <allocscope/grouping/sourced_snapshot.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t
#include <string>   // string, to_string
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A default-constructed snapshot, or one of a window that was never opened.
inline bool is_of_no_window(const snapshot& part) {
    const snapshot::window_info& info = part.info();
    return part.empty() && info.window == 0 && info.merged_windows == 0 && !info.is_difference &&
           !has_totals(info);
}

// 0 or less: unknown.
inline std::int64_t began_unix_ns(const snapshot::window_info& info) noexcept {
    return info.taken_unix_ns - static_cast<std::int64_t>(info.duration_ns);
}

// Null if no modules are known.
inline const snapshot::module* program_of(const shown_stacks& part) {
    const snapshot::module* first = nullptr;
    part.with_modules([&first](const snapshot::module* modules, std::size_t count) {
        if (count != 0) first = modules;
    });
    return first;
}

// The number of a process is used again, and containers have their own numbers. The program then
// lies at another address, unless it is always loaded at the same one.
inline bool is_same_process(const shown_stacks& a, const shown_stacks& b) {
    const std::uint64_t number = a.rows().info().process_id;
    if (number == 0 || number != b.rows().info().process_id) return false;
    const snapshot::module* const program = program_of(a);
    const snapshot::module* const other = program_of(b);
    if (program == nullptr || other == nullptr) return true;
    return text{program->path} != text{other->path} || program->address == other->address;
}

// Two windows, one after the other, may seem to overlap by the difference of two clocks.
inline bool is_same_time(const snapshot::window_info& a, const snapshot::window_info& b) noexcept {
    if (began_unix_ns(a) <= 0 || began_unix_ns(b) <= 0) return false;
    const std::int64_t begin =
        began_unix_ns(a) > began_unix_ns(b) ? began_unix_ns(a) : began_unix_ns(b);
    const std::int64_t end = a.taken_unix_ns < b.taken_unix_ns ? a.taken_unix_ns : b.taken_unix_ns;
    const std::uint64_t shorter = a.duration_ns < b.duration_ns ? a.duration_ns : b.duration_ns;
    constexpr std::int64_t clocks_differ_ns = 1'000'000;
    const auto quarter = static_cast<std::int64_t>(shorter / 4);
    return end - begin > (quarter < clocks_differ_ns ? quarter : clocks_differ_ns);
}

// Two windows of one thread each, of different threads, own different objects.
inline bool has_common_thread(const shown_stacks& a, const shown_stacks& b) {
    if (a.rows().info().from == threads::all || b.rows().info().from == threads::all) return true;
    arena scratch;
    table<std::uint64_t, bool> known{scratch};
    a.with_threads([&known](const snapshot::thread* threads, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) known[threads[i].number] = true;
    });
    bool has_common = known.empty();
    b.with_threads([&](const snapshot::thread* threads, std::size_t count) {
        has_common = has_common || count == 0;
        for (std::size_t i = 0; i < count && !has_common; ++i) {
            has_common = known.find(threads[i].number) != nullptr;
        }
    });
    return has_common;
}

// "snapshot 2 (window "load", process 123)"
inline std::string name_of_part(const std::vector<sourced_snapshot>& parts, std::size_t number) {
    const snapshot::window_info& info = parts[number].rows.info();
    arena memory;
    text_out name{memory};
    name << "snapshot " << decimal{number + 1} << " (window \"";
    write_printable(name, info.name);
    name << '"';
    if (info.process_id != 0) name << ", process " << decimal{info.process_id};
    name << ')';
    return {name.view().data(), name.size()};
}

// Returns "", or why these cannot become one snapshot, with the remedy.
inline std::string why_not_merged(const std::vector<sourced_snapshot>& parts) {
    if (parts.size() < 2) return {};
    std::vector<shown_stacks> stacks;
    stacks.reserve(parts.size());
    for (const sourced_snapshot& part : parts) stacks.push_back(part.stacks());
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const snapshot::window_info& info = parts[i].rows.info();
        if (info.is_difference != parts[0].rows.info().is_difference) {
            const std::size_t difference = info.is_difference ? i : 0;
            return name_of_part(parts, difference) + " is a difference, and " +
                   name_of_part(parts, difference == 0 ? i : 0) +
                   " is none; merge the snapshots before subtracting";
        }
        if (stacks[i].are_known() != stacks[0].are_known()) {
            const std::size_t without = stacks[i].are_known() ? 0 : i;
            return name_of_part(parts, without) +
                   " has no stacks: its window recorded counters only; merge it with others of"
                   " its kind";
        }
        for (std::size_t k = 0; k < i; ++k) {
            if (!is_same_process(stacks[i], stacks[k]) || info.is_difference ||
                !is_same_time(info, parts[k].rows.info()) ||
                !has_common_thread(stacks[i], stacks[k])) {
                continue;
            }
            return name_of_part(parts, k) + " and " + name_of_part(parts, i) +
                   " are of one process and were open at the same time, so an object may be in"
                   " both and would count twice; merge windows that follow each other, or take"
                   " the longer one alone";
        }
    }
    return {};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_MERGE_REFUSALS_HPP
