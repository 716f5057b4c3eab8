// cost_of_writing.cpp - how long does it take to write a snapshot of a million stacks?
//
// The stacks are made up: 3 to 30 frames of 20000 functions, a fifth of them inlined, as a tree of
// calls has them: neighbours share most of their callers. Each format is written three times to a
// file in the current folder; the median counts. The sizes of the files are printed, too.

#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "run_options.hpp"

#include <allocscope/report.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <time.h>

using namespace benchmarks;

namespace {

namespace detail = allocscope::detail;
using allocscope::snapshot;

constexpr std::uint32_t function_count = 20000;
constexpr std::size_t deepest = 30;

std::uint32_t dice = 1;
std::uint32_t roll(std::uint32_t sides) {
    dice = dice * 1664525U + 1013904223U;
    return (dice >> 8U) % sides;
}

const char* kept(detail::arena& memory, const std::string& words) {
    return detail::copy_of(memory, {words.data(), words.size()}).data();
}

detail::list<snapshot::frame> made_frames(detail::arena& memory) {
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
std::size_t put_location(const detail::list<snapshot::frame>& functions, snapshot::frame* path,
                         std::size_t depth) {
    const std::uint32_t number = roll(function_count - 1);
    path[depth] = functions[number];
    if (depth + 1 >= deepest || number % 5 != 0) return depth + 1;
    path[depth + 1] = functions[number + 1];
    path[depth + 1].address = path[depth].address;
    path[depth + 1].offset = path[depth].offset;
    path[depth + 1].is_inlined = true;
    return depth + 2;
}

snapshot many_stacks(std::size_t count) {
    detail::snapshot_block block;
    detail::arena& memory = block.memory();
    const detail::list<snapshot::frame> functions = made_frames(memory);
    const char* type = kept(memory, "std::string");
    detail::list<snapshot::stack> stacks{memory};
    stacks.reserve(count);
    snapshot::frame path[deepest];  // outermost first
    std::size_t depth = 0;
    snapshot::window_info info{};
    info.name = "a million stacks";
    info.not_recording = info.command = "";
    info.duration_ns = 1000000000;
    for (std::size_t i = 0; i < count; ++i) {
        // Back to one of the callers, and down another way.
        const std::size_t least = depth > 5 ? depth - 1 - roll(5) : 0;
        depth = least;
        const std::size_t wanted = 3 + roll(deepest - 3);
        while (depth < wanted || depth == least) depth = put_location(functions, path, depth);
        auto* frames = static_cast<snapshot::frame*>(memory.allocate(depth * sizeof path[0]));
        for (std::size_t j = 0; j < depth; ++j) frames[j] = path[depth - 1 - j];
        snapshot::stack made{};
        made.frames = frames;
        made.frame_count = depth;
        made.allocations = 1 + roll(20);
        made.bytes_allocated = made.allocations * (16 + roll(500));
        made.objects = roll(2) == 0 ? 0 : made.allocations / 2;
        made.bytes = made.bytes_allocated / made.allocations * made.objects;
        made.file = frames[0].file;
        made.line = frames[0].line;
        made.type = type;
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

double now_seconds() {
    struct timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const snapshot rows = many_stacks(options.smoke ? 1000 : 1000000);
    result_table table{arguments[0], "How long does it take to write a million stacks?", "pprof",
                       options};
    for (const detail::file_format& format : detail::file_formats) {
        if (!options.wants(format.name)) continue;
        const std::string path = std::string("cost_of_writing") + format.ending;
        std::vector<double> seconds;
        for (int i = 0; i < (options.smoke ? 1 : 3); ++i) {
            const double begin = now_seconds();
            allocscope::write(rows, path);
            seconds.push_back(now_seconds() - begin);
        }
        struct stat written {};
        ::stat(path.c_str(), &written);
        std::remove(path.c_str());
        const std::string row =
            std::string(format.name) + ", " + std::to_string(written.st_size / 1000000) + " MB";
        const bool has_target = std::string(format.name) == "pprof";
        table.add_value(has_target ? "pprof" : row, median(seconds), "s",
                        has_target ? 2.0 : no_target);
    }
    return table.finish();
}
