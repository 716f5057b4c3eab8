// group_by.hpp - sums the stacks of a snapshot by what they share, such as place or thread.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   one entry for each group; charged to no window
//
//     for (const allocscope::group& each : window.stats().group_by(allocscope::group_key::type)) {
//         use(each.name, each.bytes, each.objects, each.bytes_allocated, each.allocations);
//     }
//
// Groups contain all stacks of the window, so also what was allocated and has been freed. A
// snapshot without stacks (see snapshot::has_stacks) has no groups.

#ifndef ALLOCSCOPE_GROUPING_GROUP_BY_HPP
#define ALLOCSCOPE_GROUPING_GROUP_BY_HPP

#include <allocscope/base/size_classes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <cstdint>    // int64_t, uint64_t
#include <string>     // string
#include <utility>    // move
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

enum class group_key : int {
    place,     // "main.cpp:12:std::string", as in the rows
    type,      // "std::string"; "?" for all stacks whose type is unknown
    function,  // the function that contains file and line
    file,      // the name in the rows; without a line, the function or module
    module,    // the program or library that contains the user's frame
    size,      // "33..64 B": the mean size of what a stack allocated, in powers of two. With
               // options::details each allocation counts in the class of its own size; the other
               // numbers of a stack stay together, in one of the classes that it has allocated
    thread     // "worker (thread 3)": the thread that allocated, not the one that frees;
               // "not known" if a snapshot has no threads, like one of difference_from()
};

struct group {
    std::string name;
    std::uint64_t objects, bytes;  // alive; two's complement in a difference, like all
    std::uint64_t allocations, bytes_allocated;  // since the window began
    std::uint64_t stacks;                        // how many stacks were summed
    // As in snapshot::stack_details; 0 if the window has no details.
    std::uint64_t peak_objects, peak_bytes, temporary, lifetime_us;
};

// The groups; the largest comes first.
class snapshot_groups {
public:
    bool empty() const noexcept { return groups_.empty(); }
    std::size_t size() const noexcept { return groups_.size(); }
    const group* begin() const noexcept { return groups_.data(); }
    const group* end() const noexcept { return groups_.data() + groups_.size(); }
    const group& operator[](std::size_t index) const noexcept { return groups_[index]; }
    group_key key() const noexcept { return key_; }
    bool is_difference() const noexcept { return is_difference_; }
    bool has_details() const noexcept { return has_details_; }

private:
    friend class snapshot;
    std::vector<group> groups_;
    group_key key_ = group_key::place;
    bool is_difference_ = false;
    bool has_details_ = false;
};

namespace detail {

inline stack_numbers numbers_of(const group& of) noexcept {
    return {of.objects,      of.bytes,      of.allocations, of.bytes_allocated,
            of.peak_objects, of.peak_bytes, of.temporary,   of.lifetime_us};
}

inline std::uint64_t value_of(const group& of, stack_value which) noexcept {
    return numbers_of(of)[which];
}

inline void write_place_name(text_out& out, const snapshot::stack& stack) {
    out << stack.file;
    if (stack.line != 0) {
        out << ':' << decimal{static_cast<std::uint64_t>(stack.line)};
    } else {
        out << "+0x" << hexadecimal{stack.offset};
    }
    out << ':' << stack.type;
}

// Writes the mean size of what was allocated or, if that is unknown, of what is alive.
inline void write_mean_size(text_out& out, const snapshot::stack& stack) {
    const auto allocations = static_cast<std::int64_t>(stack.allocations);
    const bool has_births = allocations != 0;
    const auto count = has_births ? allocations : static_cast<std::int64_t>(stack.objects);
    const auto bytes = static_cast<std::int64_t>(has_births ? stack.bytes_allocated : stack.bytes);
    if (count == 0 || bytes / count < 0) {
        out << "not known";
        return;
    }
    const auto mean = static_cast<std::uint64_t>(bytes / count);
    if (mean <= 8) {
        out << "0..8 B";
        return;
    }
    std::uint64_t most = 16;
    while (most < mean && most < (std::uint64_t{1} << 62U)) most *= 2;
    out << decimal{most / 2 + 1} << ".." << decimal{most} << " B";
}

// Writes a size class as details have them.
inline void write_size_class(text_out& out, std::size_t number) {
    const std::uint64_t least = number == 0 ? 0 : most_bytes_of_class(number - 1) + 1;
    if (number + 1 == size_class_count) {
        out << decimal{least} << " B and more";
    } else {
        out << decimal{least} << ".." << decimal{most_bytes_of_class(number)} << " B";
    }
}

// The class for those numbers of a stack that are not known for each size: the class of the mean,
// or the next larger class in which the stack has allocated.
inline std::size_t main_size_class(const snapshot::stack& stack) noexcept {
    // Signed, because a difference may be negative.
    const std::int64_t mean = static_cast<std::int64_t>(stack.bytes_allocated) /
                              static_cast<std::int64_t>(stack.allocations);
    std::size_t number = size_class_of(mean > 0 ? static_cast<std::uint64_t>(mean) : 0);
    while (number + 1 < size_class_count && stack.details->sizes[number] == 0) ++number;
    return number;
}

inline void write_group_name(text_out& out, const snapshot::stack& stack, group_key key) {
    switch (key) {
        case group_key::place:
            write_place_name(out, stack);
            break;
        case group_key::type:
            out << stack.type;
            break;
        case group_key::function:
            out << (stack.function[0] != '\0' ? stack.function : stack.file);
            break;
        case group_key::file:
            out << stack.file;
            break;
        case group_key::module: {
            const std::size_t frame = stack.user_frame < stack.frame_count ? stack.user_frame : 0;
            const text path = stack.frame_count != 0 ? text{stack.frames[frame].module} : text{};
            out << (path.empty() ? text{"(no module)"} : file_name_of(path));
            break;
        }
        case group_key::size:
            write_mean_size(out, stack);
            break;
        case group_key::thread:
            out << "not known";
            break;
    }
}

// The groups while they are being filled.
class group_sums {
public:
    group_sums(arena& memory, std::vector<group>& groups)
        : memory_(memory), groups_(groups), numbers_(memory), places_(memory), name_(memory) {}

    // Adds the numbers of a stack, or of a part of it.
    void add(text name, const stack_numbers& numbers) {
        const std::size_t* known = numbers_.find(name);
        if (known == nullptr) {
            numbers_[copy_of(memory_, name)] = groups_.size();
            add_group(name);
            known = numbers_.find(name);
        }
        add_to(groups_[*known], numbers);
    }

    // Adds a stack to the group of its place. The name is made once for each group, not for each
    // stack.
    void add_to_place(const snapshot::stack& stack) {
        const auto at = places_.meet(stack);
        if (at.is_new) {
            name_.cut(0);
            write_place_name(name_, stack);
            add_group(name_.view());
        }
        add_to(groups_[at.number], numbers_of(stack));
    }

    // Adds each allocation of a stack with details to the group of its size.
    void add_to_sizes(const snapshot::stack& stack) {
        const std::size_t main_class = main_size_class(stack);
        for (std::size_t i = 0; i < size_class_count; ++i) {
            const std::uint64_t count = stack.details->sizes[i];
            if (count == 0 && i != main_class) continue;
            stack_numbers numbers = i == main_class ? numbers_of(stack) : stack_numbers{};
            numbers.allocations = count;
            name_.cut(0);
            write_size_class(name_, i);
            add(name_.view(), numbers);
        }
    }

private:
    void add_group(text name) {
        groups_.push_back({std::string{name.data(), name.size()}, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    }

    static void add_to(group& sum, const stack_numbers& numbers) noexcept {
        sum.objects += numbers.objects;
        sum.bytes += numbers.bytes;
        sum.allocations += numbers.allocations;
        sum.bytes_allocated += numbers.bytes_allocated;
        sum.peak_objects += numbers.peak_objects;
        sum.peak_bytes += numbers.peak_bytes;
        sum.temporary += numbers.temporary;
        sum.lifetime_us += numbers.lifetime_us;
        ++sum.stacks;
    }

    arena& memory_;
    std::vector<group>& groups_;
    table<text, std::size_t> numbers_;
    place_numbers places_;
    text_out name_;
};

}  // namespace detail

inline snapshot_groups snapshot::group_by(group_key key, stack_value order) const {
    snapshot_groups made;
    made.key_ = key;
    made.is_difference_ = info().is_difference;
    made.has_details_ = info().has_details;
    detail::arena memory;
    detail::group_sums sums{memory, made.groups_};
    const detail::thread_names names{memory, *this};
    detail::text_out name{memory};
    for (const stack& each : stacks()) {
        if (key == group_key::thread && each.thread_count != 0) {
            detail::for_each_part(each, [&](const thread_part& part) {
                sums.add(names[part.thread], detail::numbers_of(part));
            });
            continue;
        }
        if (key == group_key::place) {
            sums.add_to_place(each);
            continue;
        }
        if (key == group_key::size && each.details != nullptr && each.allocations != 0) {
            sums.add_to_sizes(each);
            continue;
        }
        name.cut(0);
        detail::write_group_name(name, each, key);
        sums.add(name.view(), detail::numbers_of(each));
    }
    // The largest comes first; equal groups stay in the order in which they were met. (clang++-19
    // warns about std::stable_sort.)
    const bool is_difference = made.is_difference_;
    std::vector<std::size_t> numbers_in_order(made.groups_.size());
    for (std::size_t i = 0; i < numbers_in_order.size(); ++i) numbers_in_order[i] = i;
    std::sort(numbers_in_order.begin(), numbers_in_order.end(), [&](std::size_t a, std::size_t b) {
        const std::uint64_t a_size =
            detail::size_of_change(detail::value_of(made.groups_[a], order), is_difference);
        const std::uint64_t b_size =
            detail::size_of_change(detail::value_of(made.groups_[b], order), is_difference);
        return a_size != b_size ? a_size > b_size : a < b;
    });
    std::vector<group> in_order;
    in_order.reserve(made.groups_.size());
    for (const std::size_t number : numbers_in_order) {
        in_order.push_back(std::move(made.groups_[number]));
    }
    made.groups_.swap(in_order);
    return made;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_GROUP_BY_HPP
