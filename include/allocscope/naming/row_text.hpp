// row_text.hpp - the contents of a snapshot while they are still being put together.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   filled by whoever names rows, read by naming/build_snapshot.hpp
// Threads:  plain values
// Memory:   the standard library's
//
// The same fields as snapshot::row and its like, with texts that own their bytes. What they mean
// is written there.

#ifndef ALLOCSCOPE_NAMING_ROW_TEXT_HPP
#define ALLOCSCOPE_NAMING_ROW_TEXT_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <string>   // string
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The index of a frame that is not there.
constexpr std::size_t no_frame = static_cast<std::size_t>(-1);

struct frame_text {
    std::string function;
    std::string file;
    int line = 0;
    int column = 0;
    bool is_inlined = false;
    std::uint64_t address = 0;
    std::string module;
    std::uint64_t offset = 0;
};

struct row_text {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::string file;
    int line = 0;
    std::string type = "?";
    std::string function;
    std::uint64_t offset = 0;
    std::uint64_t sites = 1;
    std::vector<frame_text> frames;
    std::size_t user_frame = no_frame;  // whatever is not an index into frames: none
    std::uint64_t samples = 0;
    // Sampled windows only; of other rows build_snapshot() knows them.
    std::uint64_t objects_low = 0;
    std::uint64_t objects_high = 0;
    std::uint64_t bytes_low = 0;
    std::uint64_t bytes_high = 0;
};

struct loss_text {
    std::string reason;
    std::uint64_t count = 0;
};

struct info_text {
    std::string name;
    recording record = recording::exact;
    threads from = threads::all;
    std::uint32_t stack_frames = 24;
    std::uint64_t duration_ns = 0;
    allocation_counts totals;
    std::uint64_t own_memory_bytes = 0;
    std::vector<loss_text> losses;  // those with a count of 0 are left out of the snapshot
    bool is_difference = false;
    std::string not_recording;
    std::uint64_t sample_bytes = 0;
    std::uint64_t samples = 0;
    snapshot::window_estimates estimates;  // sampled windows only; otherwise the totals
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ROW_TEXT_HPP
