// print_rows.hpp - prints a snapshot to a stream: one line for each row, and a line for each loss.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by the user: std::cout << window.stats()
// Threads:  as for the stream
// Memory:   none of its own; a stream that keeps its text in memory grows
//
//     1000 quick_start.cpp:9:std::string        objects, file:line:type
//       -3 cache.cpp:70:entry                   in a difference: signed
//    ~2050 parser.cpp:12:node  (4 samples: few; 95%: 797..5268)    in a sampled window
//    1 main+0x4d:?                          the line is unknown: the function and the offset in it
//
// (The number is right-aligned in 7 columns.) If nothing is alive, nothing is printed. But if a
// window recorded nothing, or not everything, or if there was no memory for its rows, the snapshot
// says so in lines that begin with "allocscope:", because an empty answer must never be mistaken
// for "no leaks".
//
// These are templates, so that this header does not need <ostream>: a user with a stream has
// included it already. The width, fill, base and locale of the stream do not change the rows. The
// width is reset to 0, as by any inserter. Nothing is written to a stream that has failed.

#ifndef ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP
#define ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/snapshot/few_samples.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, int64_t
#include <iosfwd>   // basic_ostream

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t row_number_width = 7;

// Collects a line in a small buffer and hands it to the stream in as few pieces as possible.
// `Stream` needs write(const char*, integer).
template <class Stream>
class line_writer {
public:
    explicit line_writer(Stream& stream) noexcept : stream_(stream), text_(space_, sizeof space_) {}
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;

    void number(std::uint64_t value, bool is_signed, std::size_t width, char mark) {
        make_room();
        if (is_signed) {
            text_.append_signed(static_cast<std::int64_t>(value), width, mark);
        } else {
            text_.append_decimal(value, width, mark);
        }
    }

    void hexadecimal(std::uint64_t value) {
        make_room();
        text_.append("0x");
        text_.append_hexadecimal(value);
    }

    // Bytes that could do harm on a terminal are escaped. A null pointer means an unknown name.
    void name(const char* text) {
        if (text == nullptr) text = "?";
        while (*text != '\0') {
            make_room();
            text += text_.append_printable(text);
        }
    }

    void byte(char value) {
        make_room();
        text_.append(value);
    }

    void end_line() {
        byte('\n');
        flush();
    }

private:
    // The longest single piece is a number in its column.
    void make_room() {
        if (text_.room() < 32) flush();
    }

    void flush() {
        stream_.write(text_.data(), static_cast<std::ptrdiff_t>(text_.size()));
        text_.clear();
    }

    Stream& stream_;
    char space_[256];
    fixed_text text_;
};

// What an estimate is based on: "  (4 samples: few; 95%: 797..5268)".
template <class Writer>
void print_support(Writer& line, const snapshot::row& row, const snapshot::window_info& info) {
    line.name("  (");
    line.number(row.samples, false, 0, '\0');
    line.name(row.samples == 1 ? " sample" : " samples");
    if (has_few_samples(row, info.is_difference)) line.name(": few");
    line.name("; 95%: ");
    line.number(row.objects_low, info.is_difference, 0, '\0');
    line.name("..");
    line.number(row.objects_high, info.is_difference, 0, '\0');
    line.byte(')');
}

template <class Writer>
void print_row(Writer& line, const snapshot::row& row, const snapshot::window_info& info) {
    const char mark = info.record == recording::sampled ? '~' : '\0';
    line.number(row.objects, info.is_difference, row_number_width, mark);
    line.byte(' ');
    line.name(row.file != nullptr && row.file[0] != '\0' ? row.file : "?");
    if (row.line != 0) {
        line.byte(':');
        line.number(static_cast<std::uint64_t>(row.line), true, 0, '\0');
    } else {
        line.byte('+');
        line.hexadecimal(row.offset);
    }
    line.byte(':');
    line.name(row.type);
    if (info.record == recording::sampled) print_support(line, row, info);
    line.end_line();
}

template <class Writer>
void print_remark(Writer& line, const char* sentence) {
    line.name("allocscope: ");
    line.name(sentence);
    line.end_line();
}

// Prints the counted live objects when there are no rows.
template <class Writer>
void print_alive(Writer& line, const snapshot::window_info& info, const char* more = "") {
    const char mark = info.record == recording::sampled ? '~' : '\0';
    const std::uint64_t objects = info.totals.live_objects();
    const std::uint64_t bytes = info.totals.live_bytes();
    line.name("allocscope: ");
    line.number(objects, info.is_difference, 0, mark);
    line.name(objects == 1 ? " object with " : " objects with ");
    line.number(bytes, info.is_difference, 0, mark);
    line.name(bytes == 1 ? " byte " : " bytes ");
    line.name(objects == 1 ? "is alive" : "are alive");
    line.name(more);
    line.end_line();
}

// Says that no live object was sampled, which does not mean that no object is alive.
template <class Writer>
void print_unsampled(Writer& line, const snapshot::window_info& info) {
    line.name("allocscope: no sample is alive: up to ");
    line.number(info.estimates.live_bytes.high, false, 0, '\0');
    line.name(" bytes may be alive (95%)");
    line.end_line();
}

}  // namespace detail

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const snapshot& rows) {
    detail::line_writer<std::basic_ostream<char, Traits>> line{stream};
    const snapshot::window_info& info = rows.info();
    stream.width(0);
    if (info.not_recording[0] != '\0') {
        detail::print_remark(line, info.not_recording);
        const bool is_told_below =
            info.record == recording::counters && info.totals.live_objects() != 0;
        if (rows.empty() && detail::has_totals(info) && !is_told_below) {
            detail::print_alive(line, info);
        }
    }
    for (const snapshot::row& row : rows) detail::print_row(line, row, info);
    if (info.record == recording::counters && rows.empty() && info.totals.live_objects() != 0) {
        // Without this line the leaks of such a window would print nothing.
        detail::print_alive(line, info, "; a window that records counters only has no rows");
    }
    if (detail::is_all_unsampled(rows)) detail::print_unsampled(line, info);
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        line.name("allocscope: ");
        line.number(info.losses[i].count, false, 0, '\0');
        line.byte(' ');
        line.name(detail::sentence_of(info.losses[i]));
        line.end_line();
    }
    return stream;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP
