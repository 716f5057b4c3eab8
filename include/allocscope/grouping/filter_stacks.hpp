// filter_stacks.hpp - a snapshot with only the stacks that somebody asks for.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   150 bytes for each stack that is kept; the result keeps the original snapshot
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
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>
#include <allocscope/snapshot/stack_order.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// Which types a snapshot shows. Types from the rungs "report", "allocator", "make_function" and
// "vtable" are proven, types from "source" and "unsized_vtable" are not: docs/types_and_places.md.
enum class shown_types {
    all,
    proven,      // "?" replaces a type that is not proven
    with_source  // adds the rung to each known type: "std::string [allocator]"
};

// A stack is kept if it fits all members. Texts are parts of names, with case; "" and null fit
// every name.
struct stack_filter {
    const char* frame = "";                // the function, file or module of any frame, or the type
    const char* type = "";                 // the type
    const char* module = "";               // the module of the frame that gave the row its place
    const char* thread = "";               // the name of the thread that allocated, or its number
    std::uint64_t least_bytes = 0;         // alive, of the whole row; in a difference without sign
    std::uint64_t least_objects = 0;       // likewise
    shown_types types = shown_types::all;  // what rows show, and `frame` and `type` search
};

namespace detail {

// --- rows of stacks ---

struct row_of_stacks : summed<snapshot::row> {
    std::uint64_t stack_objects;  // of the stack whose frames the row shows
};

// Makes the rows of the stacks, without rows that have nothing alive.
inline void sum_stacks(list<snapshot::row>& rows, const list<snapshot::stack>& stacks,
                       bool is_difference) {
    place_numbers places{rows.memory()};
    list<row_of_stacks> sums{rows.memory()};
    for (const snapshot::stack& stack : stacks) {
        if (stack.objects == 0 && stack.bytes == 0) continue;
        const auto at = places.meet(stack);
        if (at.is_new) sums.push_back({});
        row_of_stacks& here = sums[at.number];
        const std::uint64_t objects = size_of_change(stack.objects, is_difference);
        if (at.is_new || objects > here.stack_objects) {
            here.stack_objects = objects;
            describe_row(here.sum, stack);
        }
        here.add(stack, true);
        ++here.sum.sites;
    }
    for (row_of_stacks& each : sums) rows.push_back(each.finished());
}

// --- types ---

// `source` is a row's type_source. A source that is not listed here is not proven.
inline bool is_proven_type(text source) noexcept {
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

inline bool has_frame(const snapshot::stack& stack, text wanted) noexcept {
    if (text{stack.type}.contains(wanted) || text{stack.file}.contains(wanted)) return true;
    for (std::size_t i = 0; i < stack.frame_count; ++i) {
        const snapshot::frame& frame = stack.frames[i];
        if (text{frame.function}.contains(wanted) || text{frame.file}.contains(wanted) ||
            text{frame.module}.contains(wanted)) {
            return true;
        }
    }
    return false;
}

inline bool fits_by_name(const snapshot::stack& stack, const stack_filter& wanted) noexcept {
    if (wanted.type[0] != '\0' && !text{stack.type}.contains(wanted.type)) return false;
    if (wanted.module[0] != '\0') {
        if (stack.frame_count == 0) return false;
        const std::size_t frame = stack.user_frame < stack.frame_count ? stack.user_frame : 0;
        if (!text{stack.frames[frame].module}.contains(wanted.module)) return false;
    }
    return wanted.frame[0] == '\0' || has_frame(stack, wanted.frame);
}

// The parts of stacks that the wanted threads allocated.
class stacks_of_threads {
public:
    // `wanted` is stack_filter::thread.
    stacks_of_threads(const snapshot& of, text wanted, arena& memory, arena& scratch)
        : is_any_(wanted.empty()), memory_(memory), fits_(scratch), parts_(scratch) {
        const bool is_number = wanted.find_first_not_of("0123456789") == text::npos;
        for (const snapshot::thread& each : of.allocating_threads()) {
            text_out number{scratch};
            number << decimal{each.number};
            fits_.push_back(is_number ? number.view() == wanted : text{each.name}.contains(wanted));
        }
    }

    void add_to(list<snapshot::stack>& stacks, const snapshot::stack& stack) {
        parts_.clear();
        if (!is_any_) {
            for_each_part(stack, [this](const snapshot::thread_part& part) {
                if (fits_[part.thread]) parts_.push_back(part);
            });
            if (parts_.empty()) return;
        }
        stacks.push_back(stack);
        if (!is_any_ && parts_.size() != stack.thread_count) {
            set_parts(stacks.back(), parts_, memory_);
        }
    }

private:
    bool is_any_;
    arena& memory_;
    list<bool> fits_;
    list<snapshot::thread_part> parts_;
};

// Removes the stacks of small rows.
inline void drop_small_rows(list<snapshot::stack>& stacks, const stack_filter& wanted,
                            bool is_difference, arena& scratch) {
    place_numbers places{scratch};
    list<row_of_stacks> sums{scratch};
    for (const snapshot::stack& stack : stacks) {
        const auto at = places.meet(stack);
        if (at.is_new) sums.push_back({});
        sums[at.number].add(stack, true);
    }
    list<snapshot::stack> kept{scratch};
    for (const snapshot::stack& stack : stacks) {
        const snapshot::row& row = sums[places.meet(stack).number].sum;
        if (size_of_change(row.bytes, is_difference) < wanted.least_bytes) continue;
        if (size_of_change(row.objects, is_difference) < wanted.least_objects) continue;
        kept.push_back(stack);
    }
    stacks.clear();
    for (const snapshot::stack& stack : kept) stacks.push_back(stack);
}

inline stack_filter without_nulls(stack_filter given) noexcept {
    for (const char** each : {&given.frame, &given.type, &given.module, &given.thread}) {
        if (*each == nullptr) *each = "";
    }
    return given;
}

// Null if memory was refused.
inline snapshot_data* filtered(const snapshot& of, const snapshot_data& data,
                               const stack_filter& given) {
    const stack_filter wanted = without_nulls(given);
    snapshot_block block;
    if (!block.has_memory()) return nullptr;
    snapshot::window_info info = of.info();
    info.is_filtered = true;
    const bool is_made = is_done_with_memory([&] {
        arena scratch;
        list<snapshot::stack> stacks{block.memory()};
        stacks_of_threads chosen{of, wanted.thread, block.memory(), scratch};
        for (snapshot::stack stack : of.stacks()) {
            show_type(stack, wanted.types, block.memory());
            if (fits_by_name(stack, wanted)) chosen.add_to(stacks, stack);
        }
        if (wanted.thread[0] != '\0') sort_stacks(stacks, scratch, info.is_difference);
        if (wanted.least_bytes != 0 || wanted.least_objects != 0) {
            drop_small_rows(stacks, wanted, info.is_difference, scratch);
        }
        list<snapshot::row> rows{scratch};
        sum_stacks(rows, stacks, info.is_difference);
        block.add_rows(rows, info, scratch);
        const auto modules = of.modules();
        const auto threads = of.allocating_threads();
        block.set_stacks(*block.memory().make<stack_table>(
            stack_table{stacks.data(), stacks.size(), modules.begin(), modules.size(),
                        threads.begin(), threads.size()}));
        list<snapshot::family> families{scratch};
        for (std::size_t i = 0; i < info.family_count; ++i) families.push_back(info.families[i]);
        block.add_families(families);
    });
    if (!is_made) return nullptr;
    block.keep(data);
    return block.finish(info);
}

}  // namespace detail

inline snapshot snapshot::filter(const stack_filter& wanted) const {
    if (!has_stacks()) return *this;
    detail::snapshot_data* made = detail::filtered(*this, detail::data_or_nothing(data_), wanted);
    return made != nullptr ? snapshot{made} : detail::refused_snapshot();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_FILTER_STACKS_HPP
