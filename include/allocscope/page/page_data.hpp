// page_data.hpp - the data of a page, as JSON: a snapshot in which each name and path is once.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  one for each text that is written to
// Memory:   of that text, and an arena of its own while it is written (see page/page_names.hpp)
//
// The fields of `info` have names. These lists have rows of numbers without names; each list is one
// string, see page/packed_numbers.hpp:
//
//     "stacks"   path, place, number of frames before the user's, live bytes, live objects,
//                allocated bytes, allocations. If there are "thread_names": the number of one. With
//                details: bytes at the peak, temporary allocations, and the microseconds that the
//                objects lived, added up
//     "nodes"    the paths, from number 1: how far back the path above it is, frame
//     "frames"   function, file, line, module, whether it is inlined; if no function is known, the
//                offset
//     "places"   file, line, type, function, offset, how the type was found. In a sampled window:
//                samples, lowest and highest number of objects, and of bytes (95%)
//
// "ages" has for each of info().ages: the two bounds in nanoseconds, live objects, live bytes,
// allocations, allocated bytes. It is missing if there are none.
//
// And these have texts:
//
//     "thread_names"  the threads, if several have allocated. "stacks" then has a stack once for
//                each thread that allocated there
//     "strings"  the texts that the numbers stand for
//
// Only the script of the page reads this, and it may change with the script. Other programs read
// to_json().

#ifndef ALLOCSCOPE_PAGE_PAGE_DATA_HPP
#define ALLOCSCOPE_PAGE_PAGE_DATA_HPP

#include <allocscope/base/memory_use.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/page/packed_numbers.hpp>
#include <allocscope/page/page_escapes.hpp>
#include <allocscope/page/page_names.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/shown_memory.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>
#include <allocscope/version.hpp>

#include <cstddef>           // size_t
#include <cstdint>           // int64_t, uint32_t, uint64_t
#include <initializer_list>  // for over a list in braces

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class page_data_writer {
public:
    page_data_writer(text_out& out, const shown_stacks& stacks, text_flow flow)
        : out_(out),
          stacks_(stacks),
          shown_(stacks.rows()),
          flow_(flow),
          info_(shown_.info()),
          is_sampled_(info_.record == recording::sampled),
          names_(memory_) {}

    void write() {
        out_ << "{\"allocscope\":\"" << ALLOCSCOPE_VERSION_STRING << '"';
        write_info();
        write_totals();
        write_lists();
        write_threads();
        write_ages();
        write_stacks();
        write_names();
        out_ << '}';
    }

private:
    text_out& key(const char* name) { return out_ << ",\"" << name << "\":"; }
    void field(const char* name, const char* shown) {
        key(name);
        write_script_text(out_, shown);
    }
    void field(const char* name, std::uint64_t number) { key(name) << decimal{number}; }
    void yes_or_no(const char* name, bool is_true) { key(name) << (is_true ? "true" : "false"); }
    void amount(std::uint64_t number) { out_ << signed_decimal{number, info_.is_difference}; }
    void add_amount(packed_numbers& list, std::uint64_t number) const {
        list.add(size_of_change(number, info_.is_difference),
                 info_.is_difference && is_negative(number));
    }

    void write_info() {
        field("window", info_.name);
        field("record", info_.record == recording::exact     ? "exact"
                        : info_.record == recording::sampled ? "sampled"
                                                             : "counters");
        field("threads", info_.from == threads::all ? "all" : "one");
        field("stack_frames", std::uint64_t{info_.stack_frames});
        field("duration_ns", info_.duration_ns);
        field("sample_bytes", info_.sample_bytes);
        field("samples", info_.samples);
        yes_or_no("is_difference", info_.is_difference);
        yes_or_no("is_of_two_windows", info_.is_of_two_windows);
        yes_or_no("is_backwards", info_.is_backwards);
        yes_or_no("is_filtered", info_.is_filtered);
        yes_or_no("has_totals", has_totals(info_));
        yes_or_no("has_details", info_.has_details);
        yes_or_no("has_peak_details", info_.has_peak_details);
        field("not_recording", info_.not_recording);
        field("own_memory_bytes", info_.own_memory_bytes);
        field("process_id", info_.process_id);
        const std::int64_t taken = info_.taken_unix_ns;
        field("taken_unix_ms", taken > 0 ? static_cast<std::uint64_t>(taken) / 1000000 : 0);
        field("command", info_.command);
        key("uncertain") << '[' << decimal{info_.uncertain_objects} << ','
                         << decimal{info_.uncertain_bytes} << ']';
        key("rows_alive") << '[';
        amount(shown_.live_objects());
        out_ << ',';
        amount(shown_.live_bytes());
        out_ << ']';
    }

    void total(const char* name, const estimate& of) {
        out_ << '"' << name << "\":[";
        amount(of.value);
        out_ << ',';
        amount(of.low);
        out_ << ',';
        amount(of.high);
        out_ << "],";
    }
    void write_totals() {
        const snapshot::window_estimates& known = info_.estimates;
        key("totals") << '{';
        total("allocations", known.allocations);
        total("frees", known.frees);
        total("live_objects", known.live_objects);
        total("bytes_allocated", known.bytes_allocated);
        total("bytes_freed", known.bytes_freed);
        total("live_bytes", known.live_bytes);
        out_ << "\"peak_bytes\":";
        amount(info_.totals.peak_bytes);
        out_ << '}';
    }

    // Writes the comma before element `number`. Between elements, text may be passed on.
    void separate(std::size_t number) {
        if (number != 0) out_ << ',';
        if (number % 1024 == 1023) flow_.may_go(flow_.whom);
    }

    void write_lists() {
        key("lost") << '[';
        for (std::size_t i = 0; i < info_.loss_count; ++i) {
            separate(i);
            out_ << '[';
            write_script_text(out_, sentence_of(info_.losses[i]));
            out_ << ',' << decimal{info_.losses[i].count} << ']';
        }
        out_ << ']';
        key("families") << '[';
        for (std::size_t i = 0; i < info_.family_count; ++i) {
            const snapshot::family& each = info_.families[i];
            separate(i);
            out_ << '[';
            write_script_text(out_, each.name);
            for (const std::uint64_t number :
                 {each.allocations, each.frees, each.bytes_allocated, each.bytes_freed}) {
                out_ << ',';
                amount(number);
            }
            out_ << ']';
        }
        out_ << ']';
        key("moments") << '[';
        for (std::size_t i = 0; i < info_.moment_count; ++i) {
            const snapshot::moment& each = info_.moments[i];
            separate(i);
            out_ << '[' << decimal{each.at_ns} << ',' << decimal{each.live_objects} << ','
                 << decimal{each.live_bytes} << ',' << decimal{each.allocations} << ','
                 << decimal{each.bytes_allocated} << ',';
            write_script_text(out_, each.mark);
            out_ << ']';
        }
        out_ << ']';
        if (const memory_use* const memory = shown_memory(info_)) write_memory(*memory);
    }

    void write_memory(const memory_use& memory) {
        key("memory") << "{\"resident\":" << decimal{memory.resident_bytes}
                      << ",\"swapped\":" << decimal{memory.swapped_bytes}
                      << ",\"at_ns\":" << decimal{memory.at_ns} << ",\"parts\":[";
        bool is_first = true;
        for (std::size_t i = 0; i < memory_part_count; ++i) {
            if (memory.parts[i] == 0) continue;
            const memory_words& words = words_of(static_cast<memory_part>(i));
            out_ << (is_first ? "[" : ",[");
            is_first = false;
            write_script_text(out_, words.name);
            out_ << ',';
            write_script_text(out_, words.meaning);
            out_ << ',' << decimal{memory.parts[i]} << ']';
        }
        out_ << "]}";
    }

    void write_ages() {
        if (info_.age_count == 0) return;
        arena memory;
        const auto sums =
            sums_of_parts(memory, stacks_, &snapshot::thread_part::age, info_.age_count);
        key("ages") << '[';
        for (std::size_t i = 0; i < info_.age_count; ++i) {
            separate(i);
            out_ << '[' << decimal{info_.ages[i].least_ns} << ',' << decimal{info_.ages[i].most_ns}
                 << ',' << decimal{sums[i].objects} << ',' << decimal{sums[i].bytes} << ','
                 << decimal{sums[i].allocations} << ',' << decimal{sums[i].bytes_allocated} << ']';
        }
        out_ << ']';
    }

    void write_threads() {
        stacks_.with_threads([this](const snapshot::thread* threads, std::size_t count) {
            write_threads(threads, count);
        });
    }
    void write_threads(const snapshot::thread* threads, std::size_t count) {
        has_threads_ = count > 1;
        key("thread_names") << '[';
        if (has_threads_) {
            arena scratch;
            const thread_names names{scratch, threads, count};
            for (std::size_t i = 0; i < names.size(); ++i) {
                separate(i);
                write_script_text(out_, copy_of(scratch, names[i]).data());
            }
        }
        out_ << ']';
    }

    // Adds a row, a stack, or what one thread has allocated there.
    template <class Row>
    void add_stack(packed_numbers& to, const Row& of, std::uint32_t path, std::uint32_t place,
                   const stack_numbers& numbers, std::size_t thread) const {
        const bool has_user = of.user_frame < of.frame_count;
        to.add(path);
        to.add(place);
        to.add(has_user ? of.user_frame : 0);
        add_amount(to, numbers.bytes);
        add_amount(to, numbers.objects);
        add_amount(to, numbers.bytes_allocated);
        add_amount(to, numbers.allocations);
        if (has_threads_) to.add(thread);
        if (has_details_) {
            add_amount(to, numbers.peak_bytes);
            add_amount(to, numbers.temporary);
            add_amount(to, numbers.lifetime_us);
        }
    }
    void add_one(packed_numbers& to, const snapshot::stack& stack, std::uint32_t path,
                 std::uint32_t place) const {
        bool has_parts = false;
        if (has_threads_) {
            for_each_thread(stack, [&](std::size_t thread, const stack_numbers& numbers) {
                has_parts = true;
                add_stack(to, stack, path, place, numbers, thread);
            });
        }
        if (!has_parts) add_stack(to, stack, path, place, numbers_of(stack), 0);
    }
    void add_one(packed_numbers& to, const snapshot::row& row, std::uint32_t path,
                 std::uint32_t place) const {
        stack_numbers alive;
        alive.objects = row.objects;
        alive.bytes = row.bytes;
        add_stack(to, row, path, place, alive, 0);
    }

    // Rows or stacks that are written together. Their frames are needed only in add().
    template <class Row>
    struct few_rows {
        packed_numbers to;
        Row rows[page_names::at_once];
        std::size_t count = 0;
    };
    template <class Row>
    void add(few_rows<Row>& few, const Row& row, const numbered_frames& frames) {
        names_.meet_frames(frames);
        few.rows[few.count++] = row;
        if (few.count == page_names::at_once) write_few(few);
    }
    template <class Row>
    void write_few(few_rows<Row>& few) {
        std::uint32_t paths[page_names::at_once];
        names_.number_paths(few.rows, few.count, paths);
        std::uint32_t places[page_names::at_once];
        names_.number_places(few.rows, few.count, places);
        for (std::size_t i = 0; i < few.count; ++i) {
            add_one(few.to, few.rows[i], paths[i], places[i]);
        }
        few.count = 0;
    }

    // If there are no stacks, the rows are shown in their place: of these only live objects are
    // known.
    void write_stacks() {
        const bool has_stacks = stacks_.count() != 0 || shown_.empty();
        has_details_ = has_stacks && info_.has_details;
        yes_or_no("has_stacks", has_stacks);
        key("stacks");
        if (has_stacks) {
            names_.reserve(stacks_.count(), stacks_.frame_count(), stacks_.row_count());
            few_rows<snapshot::stack> few{{out_, flow_}, {}, 0};
            stacks_.for_each_by_numbers(
                [&](const snapshot::stack& stack, const numbered_frames& frames) {
                    add(few, stack, frames);
                });
            write_few(few);
            few.to.end();
        } else {
            names_.reserve(shown_.size(), stacks_.frame_count(), shown_.size());
            few_rows<snapshot::row> few{{out_, flow_}, {}, 0};
            for (std::size_t i = 0; i < shown_.size(); ++i) {
                const row_frames of = stacks_.frames_of_row(i, memory_);
                snapshot::row row = shown_[i];
                row.frame_count = of.frames.count;
                row.user_frame = of.user_frame;
                add(few, row, of.frames);
            }
            write_few(few);
            few.to.end();
        }
    }

    void write_names() {
        key("nodes");
        packed_numbers nodes{out_, flow_};
        const list<page_path>& paths = names_.paths();
        for (std::size_t i = 1; i < paths.size(); ++i) {
            nodes.add(i - paths[i].above);
            nodes.add(paths[i].frame);
        }
        nodes.end();
        key("frames");
        packed_numbers frames{out_, flow_};
        for (const auto& each : names_.frames()) {
            const page_frame& frame = each.key;
            frames.add(frame.function);
            frames.add(frame.file);
            frames.add(frame.line);
            frames.add(frame.module);
            frames.add(frame.is_inlined ? 1 : 0);
            frames.add(frame.offset);
        }
        frames.end();
        write_places();
        key("strings") << '[';
        std::size_t number = 0;
        for (const auto& each : names_.texts()) {
            separate(number++);
            write_script_text(out_, each.key.data());
        }
        out_ << ']';
    }

    void write_places() {
        list<const snapshot::row*> rows{memory_};
        if (is_sampled_) {
            for (const snapshot::row& row : shown_) {
                const std::uint32_t place = names_.place_number(row);
                if (place >= rows.size()) rows.resize(place + std::size_t{1});
                rows[place] = &row;
            }
        }
        rows.resize(names_.places().size());
        key("places");
        packed_numbers places{out_, flow_};
        std::size_t number = 0;
        for (const auto& each : names_.places()) {
            const page_place& place = each.key;
            places.add(place.file);
            places.add(place.line);
            places.add(place.type);
            places.add(place.function);
            places.add(place.offset);
            places.add(each.value.type_source);
            if (is_sampled_) add_intervals(places, rows[number]);
            ++number;
        }
        places.end();
    }

    // A place without a row has nothing alive.
    void add_intervals(packed_numbers& to, const snapshot::row* of) const {
        const snapshot::row none{};
        if (of == nullptr) of = &none;
        to.add(of->samples);
        add_amount(to, of->objects_low);
        add_amount(to, of->objects_high);
        add_amount(to, of->bytes_low);
        add_amount(to, of->bytes_high);
    }

    text_out& out_;
    const shown_stacks& stacks_;
    const snapshot& shown_;
    const text_flow flow_;
    const snapshot::window_info& info_;
    const bool is_sampled_;
    arena memory_;
    page_names names_;
    bool has_threads_ = false;
    bool has_details_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_PAGE_DATA_HPP
