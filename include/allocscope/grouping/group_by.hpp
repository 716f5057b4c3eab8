// group_by.hpp - sums the stacks of a snapshot by what they share, such as place, thread or age.
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
// Groups hold all stacks of the window, including those whose objects have all been freed. A
// snapshot that has no stacks (see snapshot::has_stacks) has no groups. A difference has only
// groups that have changed; that objects have grown older is no change.

#ifndef ALLOCSCOPE_GROUPING_GROUP_BY_HPP
#define ALLOCSCOPE_GROUPING_GROUP_BY_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/age_names.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // remove_if, sort
#include <cstddef>    // size_t
#include <cstdint>    // int64_t, uint64_t
#include <string>     // string
#include <utility>    // move
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct grouping;
}

enum class group_key : int {
    place,     // "main.cpp:12:std::string", as in the rows
    type,      // "std::string"; "?" for all stacks whose type is not known
    function,  // the one that file and line are in
    file,      // what the rows show of it; where there is no line, the function or module
    module,    // the program or library that the user's frame lies in, by its file name; those of
               // one name by their paths
    size,      // "33..64 B": the mean size of what a stack allocated, in powers of two. With
               // options::details each allocation counts in the class of its own size; the other
               // numbers of a stack stay together, in one of the classes that it has allocated
    thread,    // "worker (thread 3)": the thread that allocated, not the one that frees;
               // "not known" if a snapshot has no threads, like one of difference_from()
    age        // "1000..2500 ms": how long ago it was allocated, between two age marks; "not
               // known" if the window has none (options::age_step), and in a difference
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
    stack_value order() const noexcept { return order_; }
    bool is_difference() const noexcept { return is_difference_; }
    bool has_details() const noexcept { return has_details_; }
    // The numbers are estimates.
    bool is_sampled() const noexcept { return is_sampled_; }

private:
    friend struct detail::grouping;
    std::vector<group> groups_;
    group_key key_ = group_key::place;
    stack_value order_ = stack_value::live_bytes;
    bool is_difference_ = false;
    bool has_details_ = false;
    bool is_sampled_ = false;
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

// Signed, for a difference. A file may hold any numbers: the least one divided by -1 is none.
inline std::int64_t mean_of(std::uint64_t bytes, std::uint64_t count) noexcept {
    if (count == ~std::uint64_t{0}) return static_cast<std::int64_t>(0 - bytes);
    return static_cast<std::int64_t>(bytes) / static_cast<std::int64_t>(count);
}

// The mean size of what was allocated, or of what is alive where that is not known.
inline void write_mean_size(text_out& out, const snapshot::stack& stack) {
    const bool has_births = stack.allocations != 0;
    const std::uint64_t count = has_births ? stack.allocations : stack.objects;
    const std::uint64_t bytes = has_births ? stack.bytes_allocated : stack.bytes;
    const std::int64_t signed_mean = count != 0 ? mean_of(bytes, count) : -1;
    if (signed_mean < 0) {
        out << "not known";
        return;
    }
    const auto mean = static_cast<std::uint64_t>(signed_mean);
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
    const std::int64_t mean = mean_of(stack.bytes_allocated, stack.allocations);
    std::size_t number = size_class_of(mean > 0 ? static_cast<std::uint64_t>(mean) : 0);
    while (number + 1 < size_class_count && stack.details->sizes[number] == 0) ++number;
    return number;
}

// Of the module that the user's frame lies in. grouping::name_modules() makes file names of them.
inline void write_module_path(text_out& out, const snapshot::stack& stack,
                              const shown_stacks& stacks, std::size_t number) {
    const std::size_t depth = stack.user_frame < stack.frame_count ? stack.user_frame : 0;
    const snapshot::frame* const frame = stacks.frame_at(number, depth, false);
    if (frame != nullptr) out << frame->module;
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
        case group_key::size:
            write_mean_size(out, stack);
            break;
        case group_key::module:
        case group_key::thread:
        case group_key::age:
            out << "not known";
            break;
    }
}

// The groups while they are being filled.
class group_sums {
public:
    group_sums(arena& memory, std::vector<group>& groups)
        : memory_(memory),
          groups_(groups),
          numbers_(memory),
          places_(memory),
          group_of_age_(memory),
          last_stack_(memory),
          name_(memory) {}

    // What is added from now on is of another stack.
    void next_stack() { ++stack_; }

    // Adds the numbers of the stack, or of a part of it.
    void add(const text& name, const stack_numbers& numbers) {
        const std::size_t* const known = numbers_.find(name);
        const std::size_t number = known != nullptr ? *known : groups_.size();
        if (known == nullptr) {
            numbers_[copy_of(memory_, name)] = number;
            add_group(name);
        }
        add_to(number, numbers);
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
        add_to(at.number, numbers_of(stack));
    }

    // Adds a part of a stack to the group of its age.
    void add_to_age(const snapshot::thread_part& part, const snapshot::age& age) {
        if (part.age >= group_of_age_.size()) group_of_age_.resize(part.age + 1);
        std::size_t& number = group_of_age_[part.age];  // from 1
        if (number == 0) {
            name_.cut(0);
            write_age(name_, age);
            add_group(name_.view());
            number = groups_.size();
        }
        add_to(number - 1, numbers_of(part));
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
    void add_group(const text& name) {
        groups_.push_back({std::string{name.data(), name.size()}, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        last_stack_.push_back(0);
    }

    void add_to(std::size_t number, const stack_numbers& numbers) noexcept {
        group& sum = groups_[number];
        sum.objects += numbers.objects;
        sum.bytes += numbers.bytes;
        sum.allocations += numbers.allocations;
        sum.bytes_allocated += numbers.bytes_allocated;
        sum.peak_objects += numbers.peak_objects;
        sum.peak_bytes += numbers.peak_bytes;
        sum.temporary += numbers.temporary;
        sum.lifetime_us += numbers.lifetime_us;
        if (last_stack_[number] == stack_) return;  // another part of the same stack
        last_stack_[number] = stack_;
        ++sum.stacks;
    }

    arena& memory_;
    std::vector<group>& groups_;
    table<text, std::size_t> numbers_;
    place_numbers places_;
    list<std::size_t> group_of_age_;
    list<std::size_t> last_stack_;  // of each group, the last stack that was added
    std::size_t stack_ = 0;         // the number of the present one, from 1
    text_out name_;
};

// The groups of stacks that may be those of a file.
struct grouping {
    static snapshot_groups made(const shown_stacks& stacks, group_key key, stack_value order) {
        snapshot_groups made;
        made.key_ = key;
        made.order_ = order;
        made.is_difference_ = stacks.rows().info().is_difference;
        made.has_details_ = stacks.rows().info().has_details;
        made.is_sampled_ = stacks.rows().info().record == recording::sampled;
        stacks.with_threads([&](const snapshot::thread* threads, std::size_t count) {
            arena memory;
            sum(stacks, thread_names{memory, threads, count}, key, memory, made.groups_);
        });
        if (made.is_difference_) drop_unchanged(made.groups_);
        if (key == group_key::module) name_modules(made.groups_);
        sort(made.groups_, order, made.is_difference_);
        return made;
    }

private:
    static void sum(const shown_stacks& stacks, const thread_names& names, group_key key,
                    arena& memory, std::vector<group>& groups) {
        const snapshot::window_info& info = stacks.rows().info();
        group_sums sums{memory, groups};
        text_out name{memory};
        for (std::size_t i = 0; i < stacks.count(); ++i) {
            const snapshot::stack each = stacks.stack(i);
            sums.next_stack();
            if (key == group_key::thread && each.thread_count != 0) {
                for_each_part(each, [&](const snapshot::thread_part& part) {
                    sums.add(names[part.thread], numbers_of(part));
                });
            } else if (key == group_key::age && info.age_count != 0 && each.thread_count != 0) {
                for_each_part(each, [&](const snapshot::thread_part& part) {
                    sums.add_to_age(part, info.ages[part.age]);
                });
            } else if (key == group_key::place) {
                sums.add_to_place(each);
            } else if (key == group_key::size && each.details != nullptr && each.allocations != 0) {
                sums.add_to_sizes(each);
            } else {
                name.cut(0);
                if (key == group_key::module) {
                    write_module_path(name, each, stacks, i);
                } else {
                    write_group_name(name, each, key);
                }
                sums.add(name.view(), numbers_of(each));
            }
        }
    }

    // From paths to file names, where no two have the same: two plugins may be called alike.
    static void name_modules(std::vector<group>& groups) {
        arena memory;
        table<text, std::size_t> paths_of{memory};
        const auto short_name = [](const group& each) {
            return file_name_of({each.name.data(), each.name.size()});
        };
        for (const group& each : groups) ++paths_of[copy_of(memory, short_name(each))];
        for (group& each : groups) {
            const text name = short_name(each);
            if (each.name.empty()) {
                each.name = "(no module)";
            } else if (paths_of[name] == 1) {
                each.name.erase(0, each.name.size() - name.size());
            }
        }
    }

    static void drop_unchanged(std::vector<group>& groups) {
        const auto is_unchanged = [](const group& each) {
            return numbers_of(each).is_nothing() &&
                   (each.peak_objects | each.peak_bytes | each.temporary) == 0;
        };
        groups.erase(std::remove_if(groups.begin(), groups.end(), is_unchanged), groups.end());
    }

    // By size, and equal ones as they were met. (clang++-19 warns about std::stable_sort.)
    static void sort(std::vector<group>& groups, stack_value order, bool is_difference) {
        std::vector<std::size_t> numbers_in_order(groups.size());
        for (std::size_t i = 0; i < numbers_in_order.size(); ++i) numbers_in_order[i] = i;
        const auto size_of = [&](std::size_t number) {
            return size_of_change(value_of(groups[number], order), is_difference);
        };
        std::sort(numbers_in_order.begin(), numbers_in_order.end(),
                  [&](std::size_t a, std::size_t b) {
                      const std::uint64_t a_size = size_of(a);
                      const std::uint64_t b_size = size_of(b);
                      return a_size != b_size ? a_size > b_size : a < b;
                  });
        std::vector<group> in_order;
        in_order.reserve(groups.size());
        for (const std::size_t number : numbers_in_order) {
            in_order.push_back(std::move(groups[number]));
        }
        groups.swap(in_order);
    }
};

}  // namespace detail

inline snapshot_groups snapshot::group_by(group_key key, stack_value order) const {
    const pause_recording quietly;
    return detail::grouping::made(detail::shown_stacks{*this}, key, order);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_GROUP_BY_HPP
