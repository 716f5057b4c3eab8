// folded_format.hpp - writes each stack on one line, for flame graphs: main;load;parse 4096.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp
//
//     allocscope::write_folded(window.stats(), "heap.folded");
//
// The outermost frame comes first. `value` says which number stands after the last blank: live
// bytes by default. Stacks for which it is 0 are left out. flamegraph.pl, inferno, speedscope and
// Perfetto read the format. A `;` in a name becomes `:`, because `;` separates the frames.

#ifndef ALLOCSCOPE_FORMATS_FOLDED_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_FOLDED_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The names of frames as they stand in a line, each with a `;` after it. Each name is made once.
class folded_names {
public:
    explicit folded_names(arena& memory)
        : memory_(memory), book_(memory, frames_differ_by::place), names_(memory) {}

    text name_of(const numbered_frames& frames, std::size_t at) {
        const std::uint32_t number = book_.number_of(frames, at);
        if (number == names_.size()) names_.push_back(made_name(frames[at]));
        return names_[number];
    }

private:
    text made_name(const snapshot::frame& frame) {
        text_out name{memory_};
        write_frame_name(name, frame);
        replace_since(name, 0, ";", ':');
        name << ';';
        return name.view();
    }

    arena& memory_;
    frame_book book_;
    list<text> names_;
};

inline bool write_folded_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    folded_names names{job.memory};
    for_each_stack_by_numbers(
        job, [&job, &names](const snapshot::stack& stack, const numbered_frames& frames) {
            const std::uint64_t value = numbers_of(stack)[job.value];
            if (value == 0) return;
            if (frames.count == 0) job.out << "?;";
            for (std::size_t i = frames.count; i > 0; --i) job.out << names.name_of(frames, i - 1);
            job.out.cut(job.out.size() - 1);  // the last `;`
            job.out << ' ' << decimal{value} << '\n';
        });
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_folded(const snapshot& rows, Target&& target,
                  stack_value value = stack_value::live_bytes) {
    detail::write_or_throw(detail::write_folded_body, rows, target, value);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_folded(const snapshot& rows, Target&& target, std::string& error,
                  stack_value value = stack_value::live_bytes) {
    return detail::try_write(detail::write_folded_body, rows, target, error, value);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_FOLDED_FORMAT_HPP
