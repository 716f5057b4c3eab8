// build_snapshot.hpp - lays rows, frames and texts out in the one block of a snapshot.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by the engine when a window is reported, by naming/snapshot_difference.hpp
// Threads:  any; the block is immutable from then on
// Memory:   one malloc for the block; temporary containers while it is built
//
//     snapshot_data | rows, sorted | frames of all rows | losses | texts, each once, zero-ended
//
// Many rows share their outer frames, and all share a few file names, so equal texts are stored
// once: the block of a large program is a fraction of what its names add up to.
//
//     std::vector<detail::row_text> rows = ...;
//     detail::info_text about_window = ...;
//     snapshot made{detail::build_snapshot(std::move(rows), about_window)};

#ifndef ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP
#define ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/row_text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/windows/uncharged_work.hpp>

#include <algorithm>      // sort
#include <cstddef>        // size_t
#include <cstdint>        // uint64_t
#include <cstdlib>        // malloc, free
#include <cstring>        // memcpy
#include <new>            // placement new
#include <string>         // string
#include <string_view>    // string_view
#include <unordered_map>  // unordered_map
#include <vector>         // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Defined in naming/snapshot_difference.hpp; every block carries it as its `difference`.
ALLOCSCOPE_HIDDEN snapshot_data* difference_of(const snapshot_data& later,
                                               const snapshot_data& earlier);

// Of a number that counts up in a plain snapshot and up or down in a difference.
inline std::uint64_t size_of_change(std::uint64_t value, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(value) < 0;
    return is_negative ? std::uint64_t{0} - value : value;
}

// Most objects first (in a difference: the largest change), then most bytes; what is still equal
// goes by its texts, so that the order does not depend on how the rows were found.
inline bool row_comes_before(const row_text& left, const row_text& right, bool is_difference) {
    const std::uint64_t left_objects = size_of_change(left.objects, is_difference);
    const std::uint64_t right_objects = size_of_change(right.objects, is_difference);
    if (left_objects != right_objects) return left_objects > right_objects;
    const std::uint64_t left_bytes = size_of_change(left.bytes, is_difference);
    const std::uint64_t right_bytes = size_of_change(right.bytes, is_difference);
    if (left_bytes != right_bytes) return left_bytes > right_bytes;
    if (const int order = left.file.compare(right.file); order != 0) return order < 0;
    if (left.line != right.line) return left.line < right.line;
    if (left.offset != right.offset) return left.offset < right.offset;
    if (const int order = left.type.compare(right.type); order != 0) return order < 0;
    if (const int order = left.function.compare(right.function); order != 0) return order < 0;
    if (left.objects != right.objects) return left.objects < right.objects;  // signs differ
    return left.bytes < right.bytes;
}

// Every text once. First add() all of them; then there is a size, and once the bytes have an
// address, at() knows where each text went. The views must stay valid meanwhile.
class text_pool {
public:
    void add(std::string_view text) {
        if (offsets_.emplace(text, size_bytes_).second) size_bytes_ += length(text) + 1;
    }
    std::size_t size_bytes() const noexcept { return size_bytes_; }

    void place(char* bytes) {
        bytes_ = bytes;
        for (const auto& [text, offset] : offsets_) {
            if (length(text) != 0) std::memcpy(bytes + offset, text.data(), length(text));
            bytes[offset + length(text)] = '\0';
        }
    }
    const char* at(std::string_view text) const { return bytes_ + offsets_.find(text)->second; }

private:
    // A zero byte inside would hide what follows it from some readers and not from others.
    static std::size_t length(std::string_view text) noexcept {
        return std::min(text.find('\0'), text.size());
    }

    std::unordered_map<std::string_view, std::size_t> offsets_;
    std::size_t size_bytes_ = 0;
    char* bytes_ = nullptr;
};

// Where each part of the block begins.
struct snapshot_layout {
    std::size_t row_count = 0;
    std::size_t frame_count = 0;
    std::size_t loss_count = 0;
    text_pool texts;

    snapshot_layout(const std::vector<row_text>& rows, const info_text& about) {
        row_count = rows.size();
        for (const row_text& row : rows) {
            frame_count += row.frames.size();
            for (const std::string* text : {&row.file, &row.type, &row.function}) texts.add(*text);
            for (const frame_text& frame : row.frames) {
                for (const std::string* text : {&frame.function, &frame.file, &frame.module}) {
                    texts.add(*text);
                }
            }
        }
        texts.add(about.name);
        texts.add(about.not_recording);
        for (const loss_text& loss : about.losses) {
            if (loss.count == 0) continue;
            ++loss_count;
            texts.add(loss.reason);
        }
    }

    std::size_t rows_at() const { return sizeof(snapshot_data); }
    std::size_t frames_at() const { return rows_at() + row_count * sizeof(snapshot::row); }
    std::size_t losses_at() const { return frames_at() + frame_count * sizeof(snapshot::frame); }
    std::size_t texts_at() const { return losses_at() + loss_count * sizeof(snapshot::loss); }
    std::size_t size_bytes() const { return texts_at() + texts.size_bytes(); }
};
static_assert(sizeof(snapshot_data) % alignof(snapshot::row) == 0 &&
                  sizeof(snapshot::row) % alignof(snapshot::frame) == 0 &&
                  sizeof(snapshot::frame) % alignof(snapshot::loss) == 0,
              "each part of the block ends where the next one may begin");

// Hidden: the block must call the module that made it, not a plugin that may be unloaded.
ALLOCSCOPE_HIDDEN inline void release_snapshot_block(snapshot_data* data) {
    std::free(data);
}

inline void place_rows(char* block, const snapshot_layout& layout,
                       const std::vector<row_text>& rows) {
    auto* row_out = reinterpret_cast<snapshot::row*>(block + layout.rows_at());
    auto* frame_out = reinterpret_cast<snapshot::frame*>(block + layout.frames_at());
    for (const row_text& row : rows) {
        const std::size_t frame_count = row.frames.size();
        new (row_out++) snapshot::row{row.objects,
                                      row.bytes,
                                      layout.texts.at(row.file),
                                      row.line,
                                      layout.texts.at(row.type),
                                      layout.texts.at(row.function),
                                      row.offset,
                                      row.sites,
                                      frame_out,
                                      frame_count,
                                      std::min(row.user_frame, frame_count),
                                      row.samples,
                                      row.objects_low,
                                      row.objects_high,
                                      row.bytes_low,
                                      row.bytes_high};
        for (const frame_text& frame : row.frames) {
            new (frame_out++) snapshot::frame{layout.texts.at(frame.function),
                                              layout.texts.at(frame.file),
                                              frame.line,
                                              frame.column,
                                              frame.is_inlined,
                                              frame.address,
                                              layout.texts.at(frame.module),
                                              frame.offset};
        }
    }
}

inline void place_losses(char* block, const snapshot_layout& layout, const info_text& about) {
    auto* loss_out = reinterpret_cast<snapshot::loss*>(block + layout.losses_at());
    for (const loss_text& loss : about.losses) {
        if (loss.count == 0) continue;
        new (loss_out++) snapshot::loss{layout.texts.at(loss.reason), loss.count};
    }
}

// The block, with one reference. Rows may come in any order. Null when memory for the block was
// refused; throws std::bad_alloc when it was refused for the temporaries.
inline snapshot_data* build_snapshot(std::vector<row_text> rows, const info_text& about) {
    const uncharged_work quietly;
    const bool is_difference = about.is_difference;
    std::sort(rows.begin(), rows.end(), [is_difference](const row_text& a, const row_text& b) {
        return row_comes_before(a, b, is_difference);
    });
    const bool is_sampled = about.record == recording::sampled;
    if (!is_sampled) {
        for (row_text& row : rows) set_exact(row);
    }
    snapshot_layout layout{rows, about};
    char* block = static_cast<char*>(std::malloc(layout.size_bytes()));
    if (block == nullptr) return nullptr;
    layout.texts.place(block + layout.texts_at());
    place_rows(block, layout, rows);
    place_losses(block, layout, about);
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    for (const row_text& row : rows) {
        objects += row.objects;
        bytes += row.bytes;
    }
    const snapshot::window_info info{
        layout.texts.at(about.name),
        about.record,
        about.from,
        about.stack_frames,
        about.duration_ns,
        about.totals,
        about.own_memory_bytes,
        reinterpret_cast<const snapshot::loss*>(block + layout.losses_at()),
        layout.loss_count,
        is_difference,
        layout.texts.at(about.not_recording),
        about.sample_bytes,
        about.samples,
        is_sampled ? about.estimates : exact_estimates(about.totals)};
    return new (block)
        snapshot_data{1,
                      &release_snapshot_block,
                      reinterpret_cast<const snapshot::row*>(block + layout.rows_at()),
                      rows.size(),
                      objects,
                      bytes,
                      info,
                      &difference_of};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#include <allocscope/naming/snapshot_difference.hpp>  // last: it builds its result with the above

#endif  // ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP
