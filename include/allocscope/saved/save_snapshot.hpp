// save_snapshot.hpp - writes a snapshot to a file, with everything that a report can show.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by the user, and by the command-line program
// Threads:  any
// Memory:   about 100 bytes for each distinct text, 160 for each distinct frame, 50 for each stack,
//           and 256 KiB; charged to no window
//
//     window.stats().save("now.allocscope");
//     allocscope::snapshot then = allocscope::load_snapshot("then.allocscope");
//
// A file is written whole, or the path stays as it was. Equal snapshots make equal files, and a
// loaded snapshot makes the file from which it came. The format: saved/saved_format.hpp.

#ifndef ALLOCSCOPE_SAVED_SAVE_SNAPSHOT_HPP
#define ALLOCSCOPE_SAVED_SAVE_SNAPSHOT_HPP

#include <allocscope/base/memory_use.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/piece_target.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/saved/saved_format.hpp>
#include <allocscope/snapshot/shown_memory.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memcpy
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A record that is being built. The longest has about 40 numbers of at most ten bytes.
class saved_record {
public:
    saved_record& operator<<(std::uint64_t number) noexcept {
        while (number >= 0x80U) {
            bytes_[size_++] = static_cast<char>(number | 0x80U);
            number >>= 7U;
        }
        bytes_[size_++] = static_cast<char>(number);
        return *this;
    }
    // Adds an interval as the distances of its ends from `value`.
    saved_record& reach(std::uint64_t value, std::uint64_t low, std::uint64_t high) noexcept {
        return *this << value - low << high - value;
    }
    saved_record& number_95(const estimate& number) noexcept {
        return (*this << number.value).reach(number.value, number.low, number.high);
    }
    text view() const noexcept { return {bytes_, size_}; }

private:
    char bytes_[640];
    std::size_t size_ = 0;
};

template <class Write>
class snapshot_saver {
public:
    // `write(text)` takes finished bytes. After it has returned false, it is not called again.
    explicit snapshot_saver(const Write& write) : write_(write) {
        texts_.number_of("");  // number 0; the file has no record for it
    }

    bool save(const shown_stacks& stacks) {
        const snapshot& rows = stacks.rows();
        out_ << text{saved_magic, saved_magic_bytes};
        saved_record version;
        version << saved_version;
        out_ << version.view();
        add_info(rows, stacks.are_known());
        arena memory;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const borrowed_memory meanwhile{memory};
            add_row(rows[i], stacks.frames_of_row(i, memory));
        }
        if (stacks.are_known()) add_stacks(stacks);
        add_end();
        flush();
        return is_good_;
    }

private:
    static constexpr std::size_t flushed_bytes = std::size_t{256} * 1024;

    void flush() {
        sum_.add(out_.view().data(), out_.size());
        is_good_ = is_good_ && write_(out_.view());
        out_.cut(0);
    }

    void put(saved_tag tag, const text& payload) {
        saved_record length;
        length << payload.size();
        out_ << static_cast<char>(tag) << length.view() << payload;
        if (out_.size() >= flushed_bytes) flush();
    }
    void put(saved_tag tag, const saved_record& record) { put(tag, record.view()); }

    // A new text is written with its zero byte, so that a reader can use it in place.
    std::uint64_t number_of(const char* shown) {
        const std::size_t before = texts_.size();
        const std::uint64_t number = texts_.number_of(shown);
        if (number == before) put(saved_tag::text, {shown, texts_[number].size() + 1});
        return number;
    }

    std::uint64_t number_of(const numbered_frames& frames, std::size_t at) {
        const std::size_t before = frames_.size();
        const std::uint64_t number = frames_.number_of(frames, at);
        if (number != before) return number;
        const snapshot::frame& frame = frames[at];
        put(saved_tag::frame, saved_record{} << number_of(frame.function) << number_of(frame.file)
                                             << static_cast<std::uint64_t>(frame.line)
                                             << static_cast<std::uint64_t>(frame.column)
                                             << (frame.is_inlined ? 1U : 0U) << frame.address
                                             << number_of(frame.module) << frame.offset);
        return number;
    }

    // Rows and stacks that share their frames in memory also share them in the file.
    std::uint64_t number_of(const numbered_frames& frames) {
        std::uint64_t& number = place_for(frames);  // from 1
        if (number == 0) {
            number = ++stack_count_;
            add_stack(frames);
        }
        return number - 1;
    }
    std::uint64_t& place_for(const numbered_frames& frames) {
        if (frames.count == 0) return number_of_no_frames_;
        if (frames.numbers == nullptr) return stacks_[{{frames.frames, frames.count}}];
        if (frames.path >= number_of_path_.size()) number_of_path_.resize(frames.path + 1);
        return number_of_path_[frames.path];
    }
    void add_stack(const numbered_frames& frames) {
        stack_out_.cut(0);
        for (std::size_t i = 0; i < frames.count; ++i) {
            saved_record frame;
            frame << number_of(frames, i);
            stack_out_ << frame.view();
        }
        put(saved_tag::stack, stack_out_.view());
    }

    void add_info(const snapshot& rows, bool has_stacks) {
        const snapshot::window_info& info = rows.info();
        const snapshot::window_estimates& about = info.estimates;
        const allocation_counts& totals = info.totals;
        saved_record record;
        record << number_of(ALLOCSCOPE_VERSION_STRING) << number_of(info.name)
               << static_cast<std::uint64_t>(info.record) << static_cast<std::uint64_t>(info.from)
               << info.stack_frames << info.duration_ns << totals.allocations << totals.frees
               << totals.bytes_allocated << totals.bytes_freed << totals.peak_bytes
               << info.own_memory_bytes
               << ((info.is_difference ? saved_is_difference : 0) |
                   (info.is_of_two_windows ? saved_is_of_two_windows : 0) |
                   (has_stacks ? saved_has_stacks : 0) |
                   (info.is_filtered ? saved_is_filtered : 0) |
                   (info.has_details ? saved_has_details : 0) |
                   (info.has_peak_details ? saved_has_peak_details : 0) |
                   (info.is_backwards ? saved_is_backwards : 0))
               << number_of(info.not_recording) << info.sample_bytes << info.samples;
        record.number_95(about.allocations)
            .number_95(about.frees)
            .number_95(about.live_objects)
            .number_95(about.bytes_allocated)
            .number_95(about.bytes_freed)
            .number_95(about.live_bytes);
        record << info.window << info.uncertain_objects << info.uncertain_bytes << info.process_id
               << static_cast<std::uint64_t>(info.taken_unix_ns) << number_of(info.command);
        put(saved_tag::info, record);
        if (info.merged_windows != 0) {
            put(saved_tag::merged, saved_record{} << info.merged_windows);
        }
        for (std::size_t i = 0; i < info.loss_count; ++i) {
            const snapshot::loss& each = info.losses[i];
            put(saved_tag::loss, saved_record{} << number_of(each.reason) << each.count);
        }
        for (std::size_t i = 0; i < info.family_count; ++i) {
            const snapshot::family& each = info.families[i];
            put(saved_tag::family, saved_record{} << number_of(each.name) << each.allocations
                                                  << each.frees << each.bytes_allocated
                                                  << each.bytes_freed);
        }
        for (std::size_t i = 0; i < info.moment_count; ++i) {
            const snapshot::moment& each = info.moments[i];
            put(saved_tag::moment, saved_record{} << each.at_ns << each.live_objects
                                                  << each.live_bytes << each.allocations
                                                  << each.bytes_allocated << number_of(each.mark));
        }
        has_ages_ = info.age_count != 0;
        for (std::size_t i = 0; i < info.age_count; ++i) {
            put(saved_tag::age, saved_record{} << info.ages[i].least_ns << info.ages[i].most_ns);
        }
        if (const memory_use* const memory = shown_memory(info)) add_memory(*memory);
    }

    // Writes the names of the parts, so that a reader can recognise parts that are new to it.
    void add_memory(const memory_use& memory) {
        saved_record record;
        record << memory.resident_bytes << memory.swapped_bytes << memory.at_ns;
        for (std::size_t i = 0; i < memory_part_count; ++i) {
            record << number_of(name_of(static_cast<memory_part>(i))) << memory.parts[i];
        }
        put(saved_tag::memory, record);
    }

    void add_module(const snapshot::module& module) {
        put(saved_tag::module, saved_record{} << number_of(module.path)
                                              << number_of(module.build_id) << module.address
                                              << module.size);
    }

    // Adds the fields that the records of rows and stacks have in common.
    template <class Row>
    saved_record& add_place(saved_record& record, const Row& row, const row_frames& of) {
        record << number_of(of.frames) << of.user_frame << row.objects << row.bytes
               << number_of(row.file) << static_cast<std::uint64_t>(row.line) << number_of(row.type)
               << number_of(row.function) << row.offset << row.samples;
        return record.reach(row.objects, row.objects_low, row.objects_high)
            .reach(row.bytes, row.bytes_low, row.bytes_high);
    }
    void add_row(const snapshot::row& row, const row_frames& frames) {
        saved_record record;
        add_place(record, row, frames) << row.sites << number_of(row.type_source);
        put(saved_tag::row, record);
    }
    void add_stacks(const shown_stacks& stacks) {
        stacks.with_modules([this](const snapshot::module* modules, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) add_module(modules[i]);
        });
        stacks.with_threads([this](const snapshot::thread* threads, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) add_thread(threads[i]);
        });
        stacks.for_each_by_numbers(
            [this](const snapshot::stack& stack, const numbered_frames& frames) {
                add_sums(stack, frames);
            });
    }
    void add_sums(const snapshot::stack& stack, const numbered_frames& frames) {
        saved_record record;
        add_place(record, stack, {frames, stack.user_frame})
            << stack.allocations << stack.bytes_allocated << number_of(stack.type_source)
            << (stack.thread_count == 1 ? stack.thread + 1 : 0);
        if (has_ages_) record << (stack.thread_count == 1 ? stack.age : 0);
        put(saved_tag::sums, record);
        add_details(stack.details);
        if (stack.thread_count < 2) return;
        for (std::size_t i = 0; i < stack.thread_count; ++i) add_part(stack.by_thread[i]);
    }
    void add_part(const snapshot::thread_part& part) {
        saved_record record;
        record << part.thread << part.objects << part.bytes << part.allocations
               << part.bytes_allocated << part.samples;
        record.reach(part.objects, part.objects_low, part.objects_high)
            .reach(part.bytes, part.bytes_low, part.bytes_high);
        if (has_ages_) record << part.age;
        put(saved_tag::part, record);
        add_details(part.details);
    }
    void add_details(const snapshot::stack_details* details) {
        if (details == nullptr) return;
        saved_record record;
        record << details->peak_objects << details->peak_bytes << details->temporary
               << details->lifetime_us;
        for (const std::uint64_t count : details->sizes) record << count;
        put(saved_tag::details, record);
    }
    void add_thread(const snapshot::thread& thread) {
        put(saved_tag::thread,
            saved_record{} << thread.number << number_of(thread.name) << thread.process_id);
    }

    void add_end() {
        flush();
        char bytes[8];
        for (std::size_t i = 0; i < sizeof bytes; ++i) {
            bytes[i] = static_cast<char>(sum_.value() >> (8 * i));
        }
        put(saved_tag::end, {bytes, sizeof bytes});
    }

    struct frame_span {
        const snapshot::frame* first;
        std::size_t count;
    };

    const Write& write_;
    arena out_memory_;
    arena stack_memory_;
    arena table_memory_;
    text_out out_{out_memory_};
    text_out stack_out_{stack_memory_};
    text_numbers texts_{table_memory_};
    frame_book frames_{table_memory_, frames_differ_by::address};
    // The numbers of stacks, from 1: found by the address of the frames, or by the number of the
    // path if the source has numbered its paths.
    table<by_bytes<frame_span>, std::uint64_t> stacks_{table_memory_};
    list<std::uint64_t> number_of_path_{table_memory_};
    std::uint64_t number_of_no_frames_ = 0;
    std::uint64_t stack_count_ = 0;
    saved_checksum sum_;
    bool has_ages_ = false;
    bool is_good_ = true;
};

template <class Write>
bool save_snapshot_with(const shown_stacks& stacks, const Write& write) {
    snapshot_saver<Write> saver{write};
    return saver.save(stacks);
}

}  // namespace detail

// Writes a new file (mode 0600), which replaces the old one only when it is complete. Returns false
// if it could not be written; `error` says why. Throws std::bad_alloc.
inline bool save_snapshot(const snapshot& rows, const char* path, std::string& error) {
    const pause_recording quietly;
    auto target = detail::target_for(path);
    const auto put = [&target](detail::text part) { return target.put(part); };
    if (target.open() && detail::save_snapshot_with(detail::shown_stacks{rows}, put) &&
        target.finish())
        return true;
    error = detail::report_problem(target.name(), target.problem());
    return false;
}

// Returns the bytes that save_snapshot() would write.
inline std::string to_saved_snapshot(const snapshot& rows) {
    const pause_recording quietly;
    std::string bytes;
    detail::save_snapshot_with(detail::shown_stacks{rows}, [&bytes](detail::text part) {
        bytes.append(part.data(), part.size());
        return true;
    });
    return bytes;
}

inline void snapshot::save(const char* path) const {
    std::string error;
    if (!save_snapshot(*this, path, error)) detail::raise_report_error(error);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAVED_SAVE_SNAPSHOT_HPP
