// many_stacks.hpp - a snapshot of as many stacks as one wants.
//
// The stacks are made up: 3 to 30 frames of 20000 functions, a fifth of them inlined, as a tree of
// calls has them: neighbours share most of their callers.

#ifndef ALLOCSCOPE_BENCHMARKS_MANY_STACKS_HPP
#define ALLOCSCOPE_BENCHMARKS_MANY_STACKS_HPP

#include <allocscope/report.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <time.h>  // clock_gettime

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string, to_string

namespace benchmarks {

namespace detail = allocscope::detail;
using allocscope::snapshot;

constexpr std::uint32_t function_count = 20000;
constexpr std::size_t deepest = 30;

inline std::uint32_t dice = 1;
inline std::uint32_t roll(std::uint32_t sides) {
    dice = dice * 1664525U + 1013904223U;
    return (dice >> 8U) % sides;
}

inline const char* kept(detail::arena& memory, const std::string& words) {
    return detail::copy_of(memory, {words.data(), words.size()}).data();
}

inline detail::list<snapshot::frame> made_frames(detail::arena& memory) {
    detail::list<snapshot::frame> frames{memory};
    for (std::uint32_t i = 0; i < function_count; ++i) {
        const std::string number = std::to_string(i);
        const char* file =
            kept(memory, "/home/user/project/src/part" + number.substr(0, 2) + ".cpp");
        const char* function = kept(
            memory, "project::part" + number.substr(0, 2) + "::function_" + number +
                        "<std::vector<int, std::allocator<int>>>(std::string const&, int) const");
        frames.push_back({function, file, static_cast<int>(1 + roll(2000)), 1, false,
                          0x555555000000 + std::uint64_t{i} * 64, "/home/user/project/program",
                          std::uint64_t{i} * 64});
    }
    return frames;
}

// A function with the one that is inlined into it there, if there is one.
inline std::size_t put_location(const detail::list<snapshot::frame>& functions,
                                snapshot::frame* path, std::size_t depth) {
    const std::uint32_t number = roll(function_count - 1);
    path[depth] = functions[number];
    if (depth + 1 >= deepest || number % 5 != 0) return depth + 1;
    path[depth + 1] = functions[number + 1];
    path[depth + 1].address = path[depth].address;
    path[depth + 1].offset = path[depth].offset;
    path[depth + 1].is_inlined = true;
    return depth + 2;
}

// The first row of a function is at this line; each of its other rows is one line below.
constexpr std::size_t rows_per_function = 50;

// Puts the frame of row `number` below the path. Twenty functions share a file.
inline void put_row(const detail::list<snapshot::frame>& functions,
                    const detail::list<const char*>& files, snapshot::frame* path,
                    std::size_t& depth, std::size_t number) {
    while (path[depth - 1].is_inlined) --depth;
    const std::size_t function = number % function_count;
    const std::size_t line = number / function_count % rows_per_function;
    snapshot::frame& made = path[depth - 1];
    made = functions[function];
    made.file = files[function / 20];
    made.line = static_cast<int>(function % 20 * rows_per_function + line + 1);
    made.address += line;
    made.offset += line;
}

inline detail::list<const char*> made_files(detail::arena& memory) {
    detail::list<const char*> files{memory};
    for (std::size_t i = 0; i < function_count / 20; ++i) {
        files.push_back(kept(memory, "/home/user/project/rows/file" + std::to_string(i) + ".cpp"));
    }
    return files;
}

// Stacks of up to 30 frames, which share their places; with `are_rows` of up to 15, each of which
// is a row.
inline snapshot many_stacks(std::size_t count, bool are_rows = false) {
    detail::snapshot_block block;
    detail::arena& memory = block.memory();
    const detail::list<snapshot::frame> functions = made_frames(memory);
    const detail::list<const char*> files = made_files(memory);
    const char* type = kept(memory, "std::string");
    detail::list<snapshot::stack> stacks{memory};
    stacks.reserve(count);
    snapshot::frame path[deepest];  // outermost first
    std::size_t depth = 0;
    snapshot::window_info info{};
    info.name = are_rows ? "a million rows" : "a million stacks";
    info.not_recording = info.command = "";
    info.duration_ns = 1000000000;
    for (std::size_t i = 0; i < count; ++i) {
        // Back to one of the callers, and down another way.
        const std::size_t least = depth > 5 ? depth - 1 - roll(5) : 0;
        depth = least;
        const std::size_t wanted = 3 + roll(are_rows ? 12 : deepest - 3);
        while (depth < wanted || depth == least) depth = put_location(functions, path, depth);
        if (are_rows) put_row(functions, files, path, depth, i);
        auto* frames = static_cast<snapshot::frame*>(memory.allocate(depth * sizeof path[0]));
        for (std::size_t j = 0; j < depth; ++j) frames[j] = path[depth - 1 - j];
        snapshot::stack made{};
        made.frames = frames;
        made.frame_count = depth;
        made.allocations = 1 + roll(20);
        made.bytes_allocated = made.allocations * (16 + roll(500));
        if (are_rows) {
            made.objects = (made.allocations + 1) / 2;  // some are always alive
        } else {
            made.objects = roll(2) == 0 ? 0 : made.allocations / 2;
        }
        made.bytes = made.bytes_allocated / made.allocations * made.objects;
        detail::set_exact(made);
        made.file = frames[0].file;
        made.line = frames[0].line;
        made.type = type;
        made.type_source = "source";
        made.function = frames[0].function;
        stacks.push_back(made);
        info.totals.allocations += made.allocations;
        info.totals.bytes_allocated += made.bytes_allocated;
        info.totals.frees += made.allocations - made.objects;
        info.totals.bytes_freed += made.bytes_allocated - made.bytes;
    }
    detail::list<snapshot::module> modules{memory};
    modules.push_back({"/home/user/project/program", "0123456789abcdef", 0x555555000000, 1 << 24});
    block.set_stacks(*memory.make<detail::stack_table>(
        detail::stack_table{stacks.data(), stacks.size(), modules.data(), modules.size()}));
    return snapshot{block.finish(info)};
}

// Processor time of this process, so that other work on the machine does not count.
inline double processor_seconds() {
    struct timespec now;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_MANY_STACKS_HPP
