// merge_refusals.hpp - which snapshots cannot be merged, and the sentence that says why.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/merge_snapshots.hpp
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
#include <allocscope/plain/arena.hpp>
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

// The number of a process is used again, and containers have their own numbers. The program then
// lies at another address, unless it is always loaded at the same one.
inline bool is_same_process(const snapshot& a, const snapshot& b) {
    if (a.info().process_id == 0 || a.info().process_id != b.info().process_id) return false;
    const auto modules = a.modules();
    const auto others = b.modules();
    if (modules.empty() || others.empty()) return true;
    return text{modules[0].path} != text{others[0].path} || modules[0].address == others[0].address;
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
inline bool has_common_thread(const snapshot& a, const snapshot& b) {
    if (a.info().from == threads::all || b.info().from == threads::all) return true;
    const auto known = a.allocating_threads();
    const auto others = b.allocating_threads();
    if (known.empty() || others.empty()) return true;
    for (const snapshot::thread& each : known) {
        for (const snapshot::thread& other : others) {
            if (each.number == other.number) return true;
        }
    }
    return false;
}

// "snapshot 2 (window "load", process 123)"
inline std::string name_of_part(const std::vector<snapshot>& parts, std::size_t number) {
    const snapshot::window_info& info = parts[number].info();
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
inline std::string why_not_merged(const std::vector<snapshot>& parts) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const snapshot::window_info& info = parts[i].info();
        if (info.is_difference != parts[0].info().is_difference) {
            const std::size_t difference = info.is_difference ? i : 0;
            return name_of_part(parts, difference) + " is a difference, and " +
                   name_of_part(parts, difference == 0 ? i : 0) +
                   " is none; merge the snapshots before subtracting";
        }
        if (parts[i].has_stacks() != parts[0].has_stacks()) {
            const std::size_t without = parts[i].has_stacks() ? 0 : i;
            return name_of_part(parts, without) +
                   " has no stacks: its window recorded counters only; merge it with others of"
                   " its kind";
        }
        for (std::size_t k = 0; k < i; ++k) {
            if (!is_same_process(parts[i], parts[k]) || info.is_difference ||
                !is_same_time(info, parts[k].info()) || !has_common_thread(parts[i], parts[k])) {
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
