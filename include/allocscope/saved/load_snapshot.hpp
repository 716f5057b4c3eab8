// load_snapshot.hpp - reads a snapshot from its file.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by the user, and by the command-line program
// Threads:  any
// Memory:   the file, and the snapshot's rows and frames; charged to no window
//
//     allocscope::snapshot then = allocscope::load_snapshot("then.allocscope");
//     std::cout << window.stats().difference_from(then);
//
// The file may come from anybody: every length and number in it is checked before it is used. A
// file that is not complete, or not as save() writes it, is refused with a sentence that says what
// is wrong.
//
// A plugin must release the snapshots that it loaded or filtered before it is unloaded.

#ifndef ALLOCSCOPE_SAVED_LOAD_SNAPSHOT_HPP
#define ALLOCSCOPE_SAVED_LOAD_SNAPSHOT_HPP

#include <allocscope/base/memory_use.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/platform/large_pages.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/saved/saved_format.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/saved/saved_rows.hpp>
#include <allocscope/saved/unreadable_file.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t, uint8_t
#include <cstring>  // memcpy
#include <string>   // string, to_string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- the file ---

// The parts of a file that the caller needs. The loader skips the others, but it always checks the
// checksum of the whole file.
struct wanted_parts {
    // Only this many rows, from the first, get their frames, because the frames of a million rows
    // take a gigabyte. Rows without a line always get theirs, because these tell what could name
    // the row.
    std::size_t framed_rows = every_row;
    // If false, the snapshot has no stacks(), unless it has details.
    bool has_stacks = true;
    // If true, each row without all of its frames gets one, the one that gave it its place: two
    // places may differ only in the path of that frame. A row that has no such frame gets all.
    bool has_user_frames = false;
    // The snapshot has only this many rows: those with the most bytes. It has all rows if they say
    // more than the stacks: in a sampled window, and if the file has no stacks.
    std::size_t kept_rows = every_row;
};

class snapshot_loader {
public:
    // `memory` belongs to the block that fill() is called with.
    snapshot_loader(arena& memory, const wanted_parts& wanted)
        : memory_(memory), wanted_(wanted), has_stacks_(wanted.has_stacks) {
        parts_ = memory.make<loaded_parts>(memory);
        rows_ = memory.make<saved_rows>(*parts_, memory);
        parts_->texts.push_back("");
    }

    // Returns "", or what is wrong with the file. Throws std::bad_alloc.
    std::string read(const text& whole) {
        if (whole.size() < saved_magic_bytes ||
            whole.substr(0, saved_magic_bytes) != text{saved_magic, saved_magic_bytes}) {
            return "it is not a saved snapshot; save() and allocscope run --output NAME.allocscope"
                   " write those";
        }
        whole_ = whole;
        saved_fields file{whole.substr(saved_magic_bytes)};
        const std::uint64_t version = file.number();
        if (version > saved_version) {
            return "it has format " + std::to_string(version) + ", and this is allocscope " +
                   ALLOCSCOPE_VERSION_STRING + ", which reads up to format " +
                   std::to_string(saved_version) + "; read it with a newer one";
        }
        make_room(file);
        saved_fields ahead = file;  // by eight records
        for (int i = 0; i < 8; ++i) expect_record(ahead);
        bool has_end = false;
        // The checksum of the bytes before the current record. It is added to record by record:
        // the sum of each byte waits for that of the byte before it, and meanwhile the processor
        // can read the record.
        saved_checksum sum;
        std::size_t summed = 0;
        while (!file.is_at_end() && !has_end) {
            const std::size_t at = whole.size() - file.left();
            sum.add(whole.data() + summed, at - summed);
            summed = at;
            const auto tag = static_cast<saved_tag>(file.bytes(1).front());
            const std::uint64_t length = file.number();
            const text payload = file.bytes(length);
            expect_record(ahead);
            if (file.is_damaged()) return damaged_at(at, "it ends in the middle of a record");
            saved_fields fields{payload};
            if (tag == saved_tag::end) {
                if (!is_checksum(payload, sum)) {
                    return damaged_at(at, "its checksum does not match its contents");
                }
                has_end = true;
            } else if (!read_record(tag, fields, payload) || fields.is_damaged()) {
                return damaged_at(at, "this record is impossible");
            }
        }
        if (!has_end) return damaged_at(whole.size(), "its end is missing");
        if (!file.is_at_end()) {
            return damaged_at(whole.size() - file.left(), "something follows its end");
        }
        return parts_->has_info ? "" : damaged_at(whole.size(), "it does not name its window");
    }

    // Moves what has been read into the block. Throws std::bad_alloc.
    void fill(snapshot_block& block) {
        rows_->end();
        list<snapshot::row>& rows = rows_->kept();
        const bool is_in_order = parts_->are_rows_in_order;
        // If there are no stacks, the rows are used in their place and need all frames.
        const std::size_t framed_rows =
            parts_->has_stacks && is_in_order ? wanted_.framed_rows : every_row;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t number = parts_->stack_of_row[i];
            const saved_stack& stack = parts_->stacks[number];
            snapshot::row& row = rows[i];
            if (i >= framed_rows && row.line != 0) {
                if (!wanted_.has_user_frames || set_user_frame(row, stack)) continue;
            }
            row.frames = frames_of(*parts_, number, memory_);
            row.frame_count = stack.frame_count;
            if (number >= parts_->laid_out.size()) parts_->laid_out.resize(number + 1);
            parts_->laid_out[number] = row.frames;
        }
        if (is_in_order) {
            block.set_rows(rows, parts_->info);
        } else {
            block.sort_rows(rows, parts_->info, scratch_);
        }
        block.set_live(rows_->objects(), rows_->bytes());
        block.add_families(parts_->families);
        if (parts_->has_stacks && has_stacks_) block.set_stacks(&find_stacks_of_file, parts_);
    }
    const snapshot::window_info& info() const noexcept { return parts_->info; }
    // The parts; they lie in the block.
    const loaded_parts& parts() const noexcept { return *parts_; }

private:
    // What a saved_stack and a saved_sums keep in 32 bits.
    static bool is_short(std::size_t number) noexcept {
        return number == static_cast<std::uint32_t>(number);
    }

    // Returns false if it has none.
    bool set_user_frame(snapshot::row& row, const saved_stack& of) const noexcept {
        if (row.user_frame >= of.frame_count) return false;
        saved_fields numbers = of.numbers();
        for (std::size_t i = 0; i < row.user_frame; ++i) numbers.number();
        row.frames = &parts_->frames[numbers.number_below(parts_->frames.size())];
        row.frame_count = 1;
        row.user_frame = 0;
        return true;
    }

    // Counts the records and reserves memory for as many parts, so that no list has to grow.
    void make_room(saved_fields file) {
        std::size_t count[256] = {};
        while (!file.is_at_end()) {
            const text tag = file.bytes(1);
            file.bytes(file.number());
            if (file.is_damaged()) break;
            ++count[static_cast<std::uint8_t>(tag.front())];
        }
        const auto count_of = [&count](saved_tag tag) {
            return count[static_cast<std::uint8_t>(tag)];
        };
        parts_->texts.reserve(1 + count_of(saved_tag::text));
        parts_->frames.reserve(count_of(saved_tag::frame));
        parts_->stacks.reserve(count_of(saved_tag::stack));
        parts_->sums.reserve(count_of(saved_tag::sums));
        rows_->reserve(count_of(saved_tag::row));
        ask_for_large_pages(parts_->stacks.data(),
                            count_of(saved_tag::stack) * sizeof(saved_stack));
        ask_for_large_pages(parts_->frames.data(),
                            count_of(saved_tag::frame) * sizeof(snapshot::frame));
    }

    // The stack that a record names lies anywhere, so it is fetched before the record is read.
    void expect_record(saved_fields& ahead) const noexcept {
        if (!has_stacks_ || ahead.is_at_end()) return;
        const auto tag = static_cast<saved_tag>(ahead.bytes(1).front());
        saved_fields fields{ahead.bytes(ahead.number())};
        if (tag != saved_tag::sums) return;
        __builtin_prefetch(parts_->stacks.data() + fields.number_below(parts_->stacks.size()));
    }

    static std::string damaged_at(std::size_t byte, const char* what) {
        return "it is damaged at byte " + std::to_string(byte) + ": " + what;
    }

    static bool is_checksum(const text& payload, const saved_checksum& sum) noexcept {
        if (payload.size() != 8) return false;
        std::uint64_t read = 0;
        for (std::size_t i = 8; i > 0; --i) {
            read = read << 8U | static_cast<std::uint8_t>(payload[i - 1]);
        }
        return read == sum.value();
    }

    // Returns false if the record is damaged.
    bool read_record(saved_tag tag, saved_fields& from, const text& payload) {
        switch (tag) {
            case saved_tag::text:
                // The text ends with a zero byte, so it is used in place.
                if (payload.empty() || payload.back() != '\0') return false;
                parts_->texts.push_back(payload.data());
                return true;
            case saved_tag::frame:
                return read_frame(from);
            case saved_tag::stack:
                return read_stack(from, payload);
            case saved_tag::info:
                return read_info(from);
            case saved_tag::loss: {
                const char* reason = read_text(*parts_, from);
                parts_->losses.push_back({reason, from.number()});
                set_lists();
                return true;
            }
            case saved_tag::family: {
                snapshot::family each{};
                each.name = read_text(*parts_, from);
                each.allocations = from.number();
                each.frees = from.number();
                each.bytes_allocated = from.number();
                each.bytes_freed = from.number();
                parts_->families.push_back(each);
                return true;
            }
            case saved_tag::moment:
                return read_moment(from);
            case saved_tag::age: {
                const std::uint64_t least_ns = from.number();
                const std::uint64_t most_ns = from.number();
                parts_->ages.push_back({least_ns, most_ns});
                set_lists();
                return least_ns <= most_ns;
            }
            case saved_tag::memory:
                return read_memory(from);
            case saved_tag::module: {
                snapshot::module each{};
                each.path = read_text(*parts_, from);
                each.build_id = read_text(*parts_, from);
                each.address = from.number();
                each.size = from.number();
                parts_->modules.push_back(each);
                return true;
            }
            case saved_tag::row:
                return read_row(from);
            case saved_tag::sums: {
                if (!has_stacks_) return true;
                snapshot::stack checked{};
                const std::size_t stack = read_sums(*parts_, from, checked);
                if (!is_short(payload.size()) || !is_short(stack)) return false;
                parts_->sums.push_back({payload.data(), static_cast<std::uint32_t>(payload.size()),
                                        static_cast<std::uint32_t>(stack)});
                return true;
            }
            case saved_tag::thread: {
                snapshot::thread each{};
                each.number = from.number();
                each.name = read_text(*parts_, from);
                each.process_id = from.number();
                parts_->threads.push_back(each);
                return true;
            }
            case saved_tag::part: {
                if (!has_stacks_) return true;
                if (parts_->sums.empty() || parts_->threads.empty()) return false;
                more_of_sums& more = more_of_last_sums();
                if (more.part_count++ == 0) more.first_part = parts_->thread_parts.size();
                parts_->thread_parts.push_back(read_part(*parts_, from));
                return true;
            }
            case saved_tag::details:
                return read_details(from);
            case saved_tag::merged:
                parts_->info.merged_windows = from.number();
                return true;
            case saved_tag::end:
                break;
        }
        return true;  // a newer allocscope wrote this record
    }

    more_of_sums& more_of_last_sums() {
        parts_->more.resize(parts_->sums.size());
        return parts_->more.back();
    }

    bool read_details(saved_fields& from) {
        if (!has_stacks_) return true;
        if (parts_->sums.empty()) return false;
        auto* const read = memory_.make<snapshot::stack_details>();
        read->peak_objects = from.number();
        read->peak_bytes = from.number();
        read->temporary = from.number();
        read->lifetime_us = from.number();
        for (std::uint64_t& count : read->sizes) count = from.number();
        more_of_sums& more = more_of_last_sums();
        (more.part_count == 0 ? more.details : parts_->thread_parts.back().details) = read;
        return true;
    }

    bool read_frame(saved_fields& from) {
        snapshot::frame each{};
        each.function = read_text(*parts_, from);
        each.file = read_text(*parts_, from);
        each.line = from.small_number();
        each.column = from.small_number();
        each.is_inlined = from.number() != 0;
        each.address = from.number();
        each.module = read_text(*parts_, from);
        each.offset = from.number();
        parts_->frames.push_back(each);
        return true;
    }

    bool read_stack(saved_fields& from, const text& payload) {
        constexpr std::size_t most_frames = 65536;
        std::size_t count = 0;
        if (has_stacks_) {
            count = from.for_each_index(parts_->frames.size(), [](std::size_t) {});
        } else {
            count = count_of_numbers(payload);  // frames_of() checks those that are needed
        }
        if (count > most_frames || (count != 0 && parts_->frames.empty())) return false;
        if (!is_short(payload.size())) return false;
        parts_->stacks.push_back({payload.data(), static_cast<std::uint32_t>(payload.size()),
                                  static_cast<std::uint32_t>(count)});
        return true;
    }

    bool read_info(saved_fields& from) {
        if (parts_->has_info) return false;
        parts_->has_info = true;
        snapshot::window_info& info = parts_->info;
        read_text(*parts_, from);  // the version that wrote the file
        info.name = read_text(*parts_, from);
        info.record = static_cast<recording>(from.number_below(3));
        info.from = static_cast<threads>(from.number_below(2));
        info.stack_frames = static_cast<std::uint32_t>(from.small_number());
        info.duration_ns = from.number();
        info.totals.allocations = from.number();
        info.totals.frees = from.number();
        info.totals.bytes_allocated = from.number();
        info.totals.bytes_freed = from.number();
        info.totals.peak_bytes = from.number();
        info.own_memory_bytes = from.number();
        const std::uint64_t flags = from.number();
        info.is_difference = (flags & saved_is_difference) != 0;
        info.is_of_two_windows = (flags & saved_is_of_two_windows) != 0;
        info.is_filtered = (flags & saved_is_filtered) != 0;
        info.has_details = (flags & saved_has_details) != 0;
        info.has_peak_details = (flags & saved_has_peak_details) != 0;
        info.is_backwards = (flags & saved_is_backwards) != 0;
        has_stacks_ = has_stacks_ || info.has_details;  // the report shows the details
        parts_->has_stacks = (flags & saved_has_stacks) != 0;
        if (parts_->has_stacks && info.record != recording::sampled) {
            rows_->keep_largest(wanted_.kept_rows);
        }
        info.not_recording = read_text(*parts_, from);
        info.sample_bytes = from.number();
        info.samples = from.number();
        info.estimates.allocations = from.number_95();
        info.estimates.frees = from.number_95();
        info.estimates.live_objects = from.number_95();
        info.estimates.bytes_allocated = from.number_95();
        info.estimates.bytes_freed = from.number_95();
        info.estimates.live_bytes = from.number_95();
        info.window = from.number();
        info.uncertain_objects = from.number();
        info.uncertain_bytes = from.number();
        info.process_id = from.number();
        info.taken_unix_ns = static_cast<std::int64_t>(from.number());
        info.command = read_text(*parts_, from);
        return true;
    }

    bool read_moment(saved_fields& from) {
        snapshot::moment each{};
        each.at_ns = from.number();
        each.live_objects = from.number();
        each.live_bytes = from.number();
        each.allocations = from.number();
        each.bytes_allocated = from.number();
        each.mark = read_text(*parts_, from);
        parts_->moments.push_back(each);
        set_lists();
        return true;
    }

    // A part that this version does not know counts as unexplained.
    bool read_memory(saved_fields& from) {
        if (parts_->info.memory != nullptr) return false;
        memory_use& memory = *memory_.make<memory_use>();
        memory.resident_bytes = from.number();
        memory.swapped_bytes = from.number();
        memory.at_ns = from.number();
        std::uint64_t sum = 0;
        while (!from.is_at_end() && !from.is_damaged()) {
            const text name = read_text(*parts_, from);
            std::size_t part = 0;
            while (part + 1 < memory_part_count &&
                   name != text{name_of(static_cast<memory_part>(part))}) {
                ++part;
            }
            const std::uint64_t bytes = from.number();
            memory.parts[part] += bytes;
            sum += bytes;
        }
        parts_->info.memory = &memory;
        return sum == memory.resident_bytes;
    }

    bool read_row(saved_fields& from) {
        snapshot::row row{};
        const std::size_t number = read_place(*parts_, from, row);
        row.sites = from.number();
        row.type_source = read_text(*parts_, from);
        if (from.is_damaged()) return false;
        row.frame_count = 0;  // until fill()
        rows_->add(row, number);
        return true;
    }

    void set_lists() noexcept {
        parts_->info.losses = parts_->losses.data();
        parts_->info.loss_count = parts_->losses.size();
        parts_->info.totals.lost_events = lost_events_of(parts_->info);
        parts_->info.moments = parts_->moments.data();
        parts_->info.moment_count = parts_->moments.size();
        parts_->info.ages = parts_->ages.data();
        parts_->info.age_count = parts_->ages.size();
    }

    arena& memory_;
    const wanted_parts wanted_;
    bool has_stacks_;
    arena scratch_;
    loaded_parts* parts_;
    saved_rows* rows_;
    text whole_;
};

inline snapshot snapshot_from(snapshot_block& block, const text& whole, std::string& error,
                              const wanted_parts& wanted = {},
                              const loaded_parts** parts = nullptr) {
    snapshot_loader loader{block.memory(), wanted};
    error = loader.read(whole);
    if (!error.empty()) return {};
    loader.fill(block);
    if (parts != nullptr) *parts = &loader.parts();
    return snapshot{block.finish(loader.info())};
}

inline std::string load_problem(const char* path, const std::string& reason) {
    arena memory;
    text_out target{memory};
    write_printable(target, path);
    return std::string{"cannot load snapshot '"} + target.c_str() + "': " + reason;
}

// If `parts` is not null, it is set to the contents of the file. They live as long as
// the snapshot.
inline bool load_snapshot(const char* path, snapshot& into, std::string& error,
                          const wanted_parts& wanted, const loaded_parts** parts = nullptr) {
    const pause_recording quietly;
    return is_done_or_told(error, [&] {
        const file_reader file{path};
        if (!file.is_open()) {
            error = load_problem(path, why_unreadable(path));
            return false;
        }
        const bool has_memory = is_done_with_memory([&] {
            snapshot_block block;
            if (!block.has_memory()) refuse_memory();
            const std::size_t bytes = file.identity().size_bytes;
            auto* whole = static_cast<char*>(block.memory().allocate(bytes + saved_fields::ahead));
            ask_for_large_pages(whole, bytes);
            const std::size_t got = file.read_at(0, whole, bytes);
            into = snapshot_from(block, {whole, got}, error, wanted, parts);
        });
        if (!has_memory) error = "there is not enough memory for it";
        if (!error.empty()) error = load_problem(path, error);
        return error.empty();
    });
}

}  // namespace detail

// Returns false if the file cannot be read; `error` says why.
inline bool load_snapshot(const char* path, snapshot& into, std::string& error) {
    return detail::load_snapshot(path, into, error, detail::wanted_parts{});
}
inline bool load_snapshot(const std::string& path, snapshot& into, std::string& error) {
    return load_snapshot(path.c_str(), into, error);
}

// Loads a snapshot from the bytes of a file. It copies them.
inline bool load_snapshot_from(const void* bytes, std::size_t size, snapshot& into,
                               std::string& error) {
    const pause_recording quietly;
    return detail::is_done_or_told(error, [&] {
        detail::snapshot_block block;
        if (!block.has_memory()) detail::refuse_memory();
        auto* whole =
            static_cast<char*>(block.memory().allocate(size + detail::saved_fields::ahead));
        if (size != 0) std::memcpy(whole, bytes, size);
        into = detail::snapshot_from(block, {whole, size}, error);
        return error.empty();
    });
}

// Throws report_error.
inline snapshot load_snapshot(const char* path) {
    snapshot loaded;
    std::string error;
    if (!load_snapshot(path, loaded, error)) detail::raise_report_error(error);
    return loaded;
}
inline snapshot load_snapshot(const std::string& path) {
    return load_snapshot(path.c_str());
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAVED_LOAD_SNAPSHOT_HPP
