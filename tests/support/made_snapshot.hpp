// made_snapshot.hpp - snapshots from literal rows, without a window, in the block of stats().

#ifndef ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP

#include <allocscope/naming/snapshot_block.hpp>
#include <allocscope/naming/snapshot_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

namespace allocscope_tests {

constexpr std::size_t no_frame = static_cast<std::size_t>(-1);

// The fields of snapshot::row and its like, with texts that own their bytes.
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
    std::size_t user_frame = no_frame;
    std::uint64_t samples = 0;
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
    allocscope::recording record = allocscope::recording::exact;
    allocscope::threads from = allocscope::threads::all;
    std::uint32_t stack_frames = 24;
    std::uint64_t duration_ns = 0;
    allocscope::allocation_counts totals;
    std::uint64_t own_memory_bytes = 0;
    std::vector<loss_text> losses;
    bool is_difference = false;
    std::string not_recording;
    std::uint64_t sample_bytes = 0;
    std::uint64_t samples = 0;
    allocscope::snapshot::window_estimates estimates{};
    std::uint64_t window = 0;
    bool is_of_two_windows = false;
    std::uint64_t uncertain_objects = 0;
    std::uint64_t uncertain_bytes = 0;
};

// A row without a stack.
inline row_text made_row(std::uint64_t objects, std::uint64_t bytes, std::string file, int line,
                         std::string type, std::string function = "") {
    row_text row;
    row.objects = objects;
    row.bytes = bytes;
    row.file = std::move(file);
    row.line = line;
    row.type = std::move(type);
    row.function = std::move(function);
    return row;
}

// The same, with one frame that has the whole path.
inline row_text made_row_at(std::uint64_t objects, std::uint64_t bytes, std::string path,
                            std::string file, int line, std::string type) {
    row_text row = made_row(objects, bytes, std::move(file), line, std::move(type));
    row.frames.resize(1);
    row.frames[0].function = "work()";
    row.frames[0].file = std::move(path);
    row.frames[0].line = line;
    row.user_frame = 0;
    return row;
}

namespace made_snapshot_detail {

namespace detail = allocscope::detail;
namespace plain = allocscope::plain;

inline const char* kept(plain::arena& memory, const std::string& text) {
    return plain::copy_of(memory, {text.data(), text.size()}).data();
}

inline allocscope::snapshot::row kept_row(plain::arena& memory, const row_text& row) {
    plain::list<allocscope::snapshot::frame> frames{memory};
    for (const frame_text& frame : row.frames) {
        frames.push_back({kept(memory, frame.function), kept(memory, frame.file), frame.line,
                          frame.column, frame.is_inlined, frame.address, kept(memory, frame.module),
                          frame.offset});
    }
    return {row.objects,
            row.bytes,
            kept(memory, row.file),
            row.line,
            kept(memory, row.type),
            kept(memory, row.function),
            row.offset,
            row.sites,
            frames.data(),
            frames.size(),
            row.user_frame,
            row.samples,
            row.objects_low,
            row.objects_high,
            row.bytes_low,
            row.bytes_high};
}

}  // namespace made_snapshot_detail

// Null: memory for it was refused.
inline allocscope::detail::snapshot_data* made_block(const std::vector<row_text>& rows,
                                                     const info_text& about = {}) {
    using namespace made_snapshot_detail;
    detail::snapshot_block block;
    if (!block.has_memory()) return nullptr;
    plain::arena scratch;
    allocscope::snapshot::window_info info{};
    const bool is_made = plain::is_done_with_memory([&] {
        plain::list<allocscope::snapshot::row> kept_rows{scratch};
        for (const row_text& row : rows) kept_rows.push_back(kept_row(block.memory(), row));
        plain::list<allocscope::snapshot::loss> losses{scratch};
        for (const loss_text& loss : about.losses) {
            losses.push_back({kept(block.memory(), loss.reason), loss.count});
        }
        info = {kept(block.memory(), about.name),
                about.record,
                about.from,
                about.stack_frames,
                about.duration_ns,
                about.totals,
                about.own_memory_bytes,
                losses.data(),
                losses.size(),
                about.is_difference,
                kept(block.memory(), about.not_recording),
                about.sample_bytes,
                about.samples,
                about.estimates,
                about.window,
                about.is_of_two_windows,
                about.uncertain_objects,
                about.uncertain_bytes,
                nullptr,
                0};
        block.add_rows(kept_rows, info, scratch);
    });
    return is_made ? block.finish(info) : nullptr;
}

inline allocscope::snapshot made_snapshot(const std::vector<row_text>& rows,
                                          const info_text& about = {}) {
    return allocscope::snapshot{made_block(rows, about)};
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
