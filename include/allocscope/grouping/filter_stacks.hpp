// filter_stacks.hpp - makes a snapshot of those stacks that fit a filter.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   200 bytes for each stack that is kept, or 8 if its frames come from a source; the
//           result keeps the original snapshot
//
//     allocscope::stack_filter of_json;
//     of_json.frame = "nlohmann::";
//     allocscope::write_html(window.stats().filter(of_json), "json.html");
//
//     allocscope::stack_filter certain;
//     certain.types = allocscope::shown_types::proven;
//     std::cout << window.stats().filter(certain);   // "?" for unproven types
//
// The rows are those of the kept stacks. The totals stay those of the whole window, so that shares
// can be computed.

#ifndef ALLOCSCOPE_GROUPING_FILTER_STACKS_HPP
#define ALLOCSCOPE_GROUPING_FILTER_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/age_names.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/sourced_snapshot.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/numbered_function.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>

#include <cstddef>           // size_t
#include <cstdint>           // uint32_t, uint64_t
#include <cstdlib>           // strtoull
#include <initializer_list>  // for over a list in braces

ALLOCSCOPE_NAMESPACE_BEGIN

// Which types a snapshot shows. Types from the rungs "report", "allocator", "make_function" and
// "vtable" are proven, types from other rungs are not: docs/types_and_places.md.
enum class shown_types {
    all,
    proven,      // "?" replaces a type that is not proven
    with_source  // adds the rung to each known type: "std::string [allocator]"
};

// A stack is kept if it fits all members. Texts are parts of names, with case; "" and null fit
// every name.
struct stack_filter {
    // The function, file or module of any frame, or the type. A frame without a function has the
    // name that reports print, and one that is called by its number has two: "program+0x12f0".
    const char* frame = "";
    const char* type = "";                 // the type
    const char* module = "";               // the module of the frame that gave the row its place
    const char* thread = "";               // a part of the name of the thread that allocated, its
                                           // number, or what a group shows: "worker (thread 3)"
    std::uint64_t least_bytes = 0;         // alive, of the whole row; in a difference without sign
    std::uint64_t least_objects = 0;       // likewise
    shown_types types = shown_types::all;  // what rows show, and `frame` and `type` search
    // Nanoseconds since the allocation; 0: any. What is kept of a stack are the objects that are
    // certainly at least, or certainly less than, so old. An age is known to the distance of two
    // age marks (snapshot::age): objects for which that is too little are in neither part. In a
    // snapshot without ages nothing fits.
    std::uint64_t older_than = 0;
    std::uint64_t younger_than = 0;
};

namespace detail {

// --- rows of stacks ---

struct row_of_stacks : summed<snapshot::row> {
    std::uint64_t stack_objects;  // of the stack whose frames the row shows
    std::size_t shown_stack;      // its number
};

constexpr std::size_t frames_of_every_row = ~std::size_t{0};

// The rows that stacks make, without those that have nothing alive.
class rows_of_stacks {
public:
    rows_of_stacks(arena& scratch, const derived_stacks& stacks, bool is_difference)
        : stacks_(stacks), is_difference_(is_difference), places_(scratch), sums_(scratch) {
        for (std::size_t i = 0; i < stacks.count(); ++i) add(stacks.stack(i), i);
        for (row_of_stacks& each : sums_) each.finished();
    }

    // The first `framed_rows` rows get their frames, and so does each row without a line.
    void put_into(snapshot_block& block, const snapshot::window_info& info,
                  std::size_t framed_rows) {
        list<const row_of_stacks*> order{sums_.memory()};
        order.reserve(sums_.size());
        for (const row_of_stacks& each : sums_) order.push_back(&each);
        sort(order, [this](const row_of_stacks* a, const row_of_stacks* b) {
            return row_comes_before(a->sum, b->sum, is_difference_);
        });
        arena& memory = block.memory();
        list<snapshot::row> rows{memory};
        rows.reserve(order.size());
        for (const row_of_stacks* each : order) {
            snapshot::row& row = rows.push_back(each->sum);
            const bool has_frames = rows.size() <= framed_rows || row.line == 0;
            row.frames = nullptr;
            if (has_frames) {
                row.frames = side_by_side(stacks_.frames(each->shown_stack, memory), memory);
            }
            if (!has_frames) row.frame_count = 0;
        }
        block.set_rows(rows, info);
    }

private:
    void add(const snapshot::stack& stack, std::size_t number) {
        if (stack.objects == 0 && stack.bytes == 0) return;
        const auto at = places_.meet(stack);
        if (at.is_new) sums_.push_back({});
        row_of_stacks& here = sums_[at.number];
        const std::uint64_t objects = size_of_change(stack.objects, is_difference_);
        if (at.is_new || objects > here.stack_objects) {
            here.stack_objects = objects;
            here.shown_stack = number;
            describe_row(here.sum, stack);
        }
        here.add(stack, true);
        ++here.sum.sites;
    }

    const derived_stacks& stacks_;
    bool is_difference_;
    place_numbers places_;
    list<row_of_stacks> sums_;
};

// --- types ---

// `source` is a row's type_source. A source that is not listed here is not proven.
inline bool is_proven_type(const text& source) noexcept {
    return source == "report" || source == "allocator" || source == "make_function" ||
           source == "vtable";
}

inline void show_type(snapshot::stack& stack, shown_types wanted, arena& memory) {
    const text source{stack.type_source};
    if (source.empty()) return;
    if (wanted == shown_types::with_source) {
        stack.type = joined(memory, stack.type, " [", source, "]").data();
    } else if (wanted == shown_types::proven && !is_proven_type(source)) {
        stack.type = "?";
        stack.type_source = "";
    }
}

// --- what fits the filter ---

// Whether a frame without a name, or its function, is the one that reports call so:
// "program+0x12f0".
inline bool is_at_number(const snapshot::frame& frame, const text& wanted) noexcept {
    const std::size_t plus = wanted.find("+0x");
    const text function{frame.function};
    const bool has_number = is_numbered(frame);
    if (plus == text::npos || (!function.empty() && !has_number)) return false;
    const char* const digits = wanted.data() + plus + 3;
    if (!text{frame.module}.ends_with(wanted.substr(0, plus)) || *digits == '\0') return false;
    const std::uint64_t number = std::strtoull(digits, nullptr, 16);
    if (number == frame.offset) return true;
    return has_number &&
           number == std::strtoull(function.data() + function.rfind('x') + 1, nullptr, 16);
}

inline bool names(const snapshot::frame& frame, const text& wanted) noexcept {
    // A number is not searched for a part of it.
    return (text{frame.function}.contains(wanted) && !is_numbered(frame)) ||
           text{frame.file}.contains(wanted) || text{frame.module}.contains(wanted) ||
           is_at_number(frame, wanted);
}

// The parts of names in a filter. A frame that has a number is searched only once.
class wanted_names {
public:
    wanted_names(arena& scratch, const shown_stacks& stacks, const stack_filter& wanted)
        : stacks_(stacks), wanted_(wanted), fits_(scratch) {}

    bool fit(const snapshot::stack& stack, std::size_t number) {
        if (wanted_.type[0] != '\0' && !text{stack.type}.contains(wanted_.type)) return false;
        if (wanted_.module[0] != '\0') {
            const std::size_t depth = stack.user_frame < stack.frame_count ? stack.user_frame : 0;
            const snapshot::frame* const frame = stacks_.frame_at(number, depth, false);
            if (frame == nullptr || !text{frame->module}.contains(wanted_.module)) return false;
        }
        return wanted_.frame[0] == '\0' || has_frame(stack, number);
    }

private:
    bool has_frame(const snapshot::stack& stack, std::size_t number) {
        const text wanted{wanted_.frame};
        if (text{stack.type}.contains(wanted) || text{stack.file}.contains(wanted)) return true;
        const borrowed_memory meanwhile{scratch_};
        const numbered_frames frames = stacks_.frames(number, scratch_);
        bool is_found = false;
        for (std::size_t i = 0; i < frames.count && !is_found; ++i) {
            is_found = fits_.find(frames, i, [wanted](const snapshot::frame& frame) {
                return names(frame, wanted) ? std::uint32_t{1} : std::uint32_t{0};
            }) != 0;
        }
        return is_found;
    }

    const shown_stacks& stacks_;
    const stack_filter& wanted_;
    arena scratch_;
    numbers_of_frames fits_;  // 1: the frame fits
};

inline bool wants_parts(const stack_filter& wanted) noexcept {
    return wanted.thread[0] != '\0' || wanted.older_than != 0 || wanted.younger_than != 0;
}

// The parts of stacks that the wanted threads allocated, and that are of the wanted age.
class fitting_parts {
public:
    fitting_parts(const shown_stacks& of, const stack_filter& filter, arena& memory, arena& scratch)
        : is_any_(!wants_parts(filter)),
          ages_{filter.older_than, filter.younger_than},
          info_(of.rows().info()),
          memory_(memory),
          fits_(scratch),
          parts_(scratch) {
        const text wanted{filter.thread};
        const bool is_number = wanted.find_first_not_of("0123456789") == text::npos;
        of.with_threads([&](const snapshot::thread* threads, std::size_t count) {
            const thread_names shown{scratch, threads, count};
            for (std::size_t i = 0; i < count; ++i) {
                text_out number{scratch};
                number << decimal{threads[i].number};
                fits_.push_back(is_number
                                    ? wanted.empty() || number.view() == wanted
                                    : text{threads[i].name}.contains(wanted) || shown[i] == wanted);
            }
        });
    }

    // Returns false if no part of the stack is left.
    bool cut(snapshot::stack& stack) {
        if (is_any_) return true;
        parts_.clear();
        for_each_part(stack, [this](const snapshot::thread_part& part) {
            if (fits_[part.thread] && has_wanted_age(part)) parts_.push_back(part);
        });
        if (parts_.empty()) return false;
        if (parts_.size() != stack.thread_count) set_parts(stack, parts_, memory_);
        return true;
    }

private:
    bool has_wanted_age(const snapshot::thread_part& part) const noexcept {
        if (ages_.are_any()) return true;
        return part.age < info_.age_count && ages_.fit(info_.ages[part.age]);
    }

    bool is_any_;
    wanted_ages ages_;
    const snapshot::window_info& info_;
    arena& memory_;
    list<bool> fits_;
    list<snapshot::thread_part> parts_;
};

// Removes the stacks of small rows.
inline void drop_small_rows(derived_stacks& stacks, const stack_filter& wanted, bool is_difference,
                            arena& scratch) {
    place_numbers places{scratch};
    list<row_of_stacks> sums{scratch};
    for (std::size_t i = 0; i < stacks.count(); ++i) {
        const snapshot::stack stack = stacks.stack(i);
        const auto at = places.meet(stack);
        if (at.is_new) sums.push_back({});
        sums[at.number].add(stack, true);
    }
    stacks.keep_if([&](const snapshot::stack& stack) {
        const snapshot::row& row = sums[places.meet(stack).number].sum;
        return size_of_change(row.bytes, is_difference) >= wanted.least_bytes &&
               size_of_change(row.objects, is_difference) >= wanted.least_objects;
    });
}

inline void filter_into(derived_stacks& made, const shown_stacks& of, const stack_filter& wanted,
                        arena& memory, arena& scratch) {
    const bool is_difference = of.rows().info().is_difference;
    const bool has_own_numbers =
        of.are_laid_out() || wants_parts(wanted) || wanted.types != shown_types::all;
    const std::uint32_t side = made.add_side(of);
    wanted_names wanted_of{scratch, of, wanted};
    fitting_parts parts{of, wanted, memory, scratch};
    for (std::uint32_t i = 0; i < of.count(); ++i) {
        snapshot::stack stack = of.stack(i);
        show_type(stack, wanted.types, memory);
        if (!wanted_of.fit(stack, i) || !parts.cut(stack)) continue;
        if (has_own_numbers) {
            made.add(stack, {side, i});
        } else {
            made.add_unchanged({side, i});
        }
    }
    if (wants_parts(wanted)) made.sort_by_size(is_difference, scratch);
    if (wanted.least_bytes != 0 || wanted.least_objects != 0) {
        drop_small_rows(made, wanted, is_difference, scratch);
    }
    of.with_modules([&made](const snapshot::module* modules, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) made.modules().push_back(modules[i]);
    });
    of.with_threads([&made](const snapshot::thread* threads, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) made.threads().push_back(threads[i]);
    });
}

inline stack_filter without_nulls(stack_filter given) noexcept {
    for (const char** each : {&given.frame, &given.type, &given.module, &given.thread}) {
        if (*each == nullptr) *each = "";
    }
    return given;
}

// The result has no snapshot if memory was refused. It keeps the snapshot of the argument, but not
// its source.
inline sourced_snapshot filtered(const sourced_snapshot& of, const stack_filter& given,
                                 std::size_t framed_rows = frames_of_every_row) {
    const stack_filter wanted = without_nulls(given);
    snapshot_block block;
    if (!block.has_memory()) return {refused_snapshot()};
    snapshot::window_info info = of.rows.info();
    info.is_filtered = true;
    const stack_source* source = nullptr;
    const bool is_made = is_done_with_memory([&] {
        kept_snapshots& kept = keep_snapshots(block, &of.rows, 1);
        arena& memory = kept.memory();
        arena scratch;
        auto* const made = memory.make<derived_stacks>(memory);
        filter_into(*made, shown_stacks{*kept.begin(), of.source}, wanted, memory, scratch);
        rows_of_stacks rows{scratch, *made, info.is_difference};
        rows.put_into(block, info, framed_rows);
        set_stacks(block, *made);
        if (!made->are_laid_out()) source = memory.make<stack_source>(made->source());
        list<snapshot::family> families{scratch};
        for (std::size_t i = 0; i < info.family_count; ++i) families.push_back(info.families[i]);
        block.add_families(families);
    });
    if (!is_made) return {refused_snapshot()};
    return {snapshot{block.finish(info)}, source};
}

}  // namespace detail

inline snapshot snapshot::filter(const stack_filter& wanted) const {
    return has_stacks() ? detail::filtered({*this}, wanted).rows : *this;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_FILTER_STACKS_HPP
