// allocated_rows.hpp - where a window allocated, whatever has become of it since.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by verdict/check_window.hpp, when a budget of allocations or bytes was broken
// Threads:  any; reads the tables under the control lock, while hooks go on
// Memory:   as a snapshot
//
// A snapshot tells what is alive. Who allocated too much may have freed it all again, so here every
// site counts with its births.

#ifndef ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP
#define ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP

#include <allocscope/config.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <atomic>   // memory_order_relaxed
#include <cstdint>  // uint32_t
#include <map>      // map

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Replaces the sites of a window that records every event. What nested windows have reclaimed
// meanwhile is in the totals only.
inline void count_births_by_site(live_window& window, window_id id) {
    control_lock lock;
    const open_window* found = find_window(id);
    if (found == nullptr) return;
    std::map<std::uint32_t, live_site> sites;
    for_each_cohort_in(births_in(*found), [&sites](const cohort& c, std::uint32_t) {
        live_site& site = sites[c.facts().site.load(std::memory_order_relaxed)];
        site.objects += c.births.read();
        site.bytes += c.birth_bytes.read();
    });
    window.sites.clear();
    window.frames.clear();
    for (auto& [site_id, site] : sites) {
        site.id = site_id;
        if (site.objects != 0) add_site(window, site);
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP
