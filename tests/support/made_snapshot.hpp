// made_snapshot.hpp - snapshots from literal rows, without a window, in the block of stats().

#ifndef ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP

#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

namespace allocscope_tests {

constexpr std::size_t no_frame = static_cast<std::size_t>(-1);

// The fields of snapshot::row and its like, with texts that own their bytes.
struct frame_text {
    std::string function;
    std::string file;
    int line = 0;
    int column = 0;
    bool is_inlined = false;
    std::uint64_t address = 0;
    std::string module;
    std::uint64_t offset = 0;
};

struct row_text {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::string file;
    int line = 0;
    std::string type = "?";
    std::string function;
    std::uint64_t offset = 0;
    std::uint64_t sites = 1;
    std::vector<frame_text> frames;
    std::size_t user_frame = no_frame;
    std::uint64_t samples = 0;
    std::uint64_t objects_low = 0;
    std::uint64_t objects_high = 0;
    std::uint64_t bytes_low = 0;
    std::uint64_t bytes_high = 0;
    std::string type_source;
};

struct stack_text : row_text {
    std::uint64_t allocations = 0;
    std::uint64_t bytes_allocated = 0;
    std::vector<allocscope::snapshot::thread_part> by_thread;
    std::vector<allocscope::snapshot::stack_details> details;  // none, or one
};

struct module_text {
    std::string path;
    std::string build_id;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
};

struct thread_text {
    std::uint64_t number = 0;
    std::string name;
    std::uint64_t process_id = 0;
};

struct moment_text {
    std::uint64_t at_ns = 0;
    std::uint64_t live_objects = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes_allocated = 0;
    std::string mark;
};

struct loss_text {
    std::string reason;
    std::uint64_t count = 0;
};

struct family_text {
    std::string name;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t bytes_allocated = 0;
    std::uint64_t bytes_freed = 0;
};

struct info_text {
    std::string name;
    allocscope::recording record = allocscope::recording::exact;
    allocscope::threads from = allocscope::threads::all;
    std::uint32_t stack_frames = 24;
    std::uint64_t duration_ns = 0;
    allocscope::allocation_counts totals;
    std::uint64_t own_memory_bytes = 0;
    std::vector<loss_text> losses;
    bool is_difference = false;
    std::string not_recording;
    std::uint64_t sample_bytes = 0;
    std::uint64_t samples = 0;
    allocscope::snapshot::window_estimates estimates{};
    std::uint64_t window = 0;
    bool is_of_two_windows = false;
    std::uint64_t uncertain_objects = 0;
    std::uint64_t uncertain_bytes = 0;
    std::uint64_t process_id = 0;
    std::int64_t taken_unix_ns = 0;
    std::string command;
    std::uint64_t merged_windows = 0;
    bool has_details = false;
    std::vector<family_text> families;
    std::vector<moment_text> moments;
    std::vector<allocscope::snapshot::age> ages;
    const allocscope::memory_use* memory = nullptr;  // must outlive the snapshot
    std::vector<stack_text> stacks;
    std::vector<module_text> modules;
    std::vector<thread_text> threads;
};

// A row without a stack.
inline row_text made_row(std::uint64_t objects, std::uint64_t bytes, std::string file, int line,
                         std::string type, std::string function = "") {
    row_text row;
    row.objects = objects;
    row.bytes = bytes;
    row.file = std::move(file);
    row.line = line;
    row.type = std::move(type);
    row.function = std::move(function);
    return row;
}

// The same, with one frame that has the whole path.
inline row_text made_row_at(std::uint64_t objects, std::uint64_t bytes, std::string path,
                            std::string file, int line, std::string type) {
    row_text row = made_row(objects, bytes, std::move(file), line, std::move(type));
    row.frames.resize(1);
    row.frames[0].function = "work()";
    row.frames[0].file = std::move(path);
    row.frames[0].line = line;
    row.user_frame = 0;
    return row;
}

namespace made_snapshot_detail {

namespace detail = allocscope::detail;
namespace plain = allocscope::plain;

inline const char* kept(plain::arena& memory, const std::string& text) {
    return plain::copy_of(memory, {text.data(), text.size()}).data();
}

inline const allocscope::snapshot::frame* kept_frames(plain::arena& memory,
                                                      const std::vector<frame_text>& texts) {
    plain::list<allocscope::snapshot::frame> frames{memory};
    for (const frame_text& frame : texts) {
        frames.push_back({kept(memory, frame.function), kept(memory, frame.file), frame.line,
                          frame.column, frame.is_inlined, frame.address, kept(memory, frame.module),
                          frame.offset});
    }
    return frames.data();
}

inline allocscope::snapshot::row kept_row(plain::arena& memory, const row_text& row) {
    return {row.objects,
            row.bytes,
            kept(memory, row.file),
            row.line,
            kept(memory, row.type),
            kept(memory, row.function),
            row.offset,
            row.sites,
            kept_frames(memory, row.frames),
            row.frames.size(),
            row.user_frame,
            row.samples,
            row.objects_low,
            row.objects_high,
            row.bytes_low,
            row.bytes_high,
            kept(memory, row.type_source)};
}

inline allocscope::snapshot::stack kept_stack(plain::arena& memory, const stack_text& stack) {
    allocscope::snapshot::stack made{};
    made.frames = kept_frames(memory, stack.frames);
    made.frame_count = stack.frames.size();
    made.user_frame = stack.user_frame < made.frame_count ? stack.user_frame : made.frame_count;
    made.objects = stack.objects;
    made.bytes = stack.bytes;
    made.allocations = stack.allocations;
    made.bytes_allocated = stack.bytes_allocated;
    made.file = kept(memory, stack.file);
    made.line = stack.line;
    made.type = kept(memory, stack.type);
    made.function = kept(memory, stack.function);
    made.offset = stack.offset;
    made.samples = stack.samples;
    made.objects_low = stack.objects_low;
    made.objects_high = stack.objects_high;
    made.bytes_low = stack.bytes_low;
    made.bytes_high = stack.bytes_high;
    made.type_source = kept(memory, stack.type_source);
    plain::list<allocscope::snapshot::thread_part> parts{memory};
    for (const allocscope::snapshot::thread_part& part : stack.by_thread) parts.push_back(part);
    made.thread_count = parts.size();
    made.thread = parts.empty() ? 0 : parts[0].thread;
    made.age = parts.empty() ? 0 : parts[0].age;
    if (parts.size() > 1) made.by_thread = parts.data();
    if (!stack.details.empty()) {
        made.details = memory.make<allocscope::snapshot::stack_details>(stack.details.front());
    }
    if (stack.samples == 0) detail::set_exact(made);
    return made;
}

inline void make_stacks(detail::snapshot_block& block, const info_text& about) {
    plain::arena& memory = block.memory();
    plain::list<allocscope::snapshot::stack> stacks{memory};
    for (const stack_text& stack : about.stacks) stacks.push_back(kept_stack(memory, stack));
    plain::list<allocscope::snapshot::module> modules{memory};
    for (const module_text& module : about.modules) {
        modules.push_back({kept(memory, module.path), kept(memory, module.build_id), module.address,
                           module.size});
    }
    plain::list<allocscope::snapshot::thread> threads{memory};
    for (const thread_text& thread : about.threads) {
        threads.push_back({thread.number, kept(memory, thread.name), thread.process_id});
    }
    block.set_stacks(*memory.make<detail::stack_table>(
        detail::stack_table{stacks.data(), stacks.size(), modules.data(), modules.size(),
                            threads.data(), threads.size()}));
}

}  // namespace made_snapshot_detail

// Null: memory for it was refused.
inline allocscope::detail::snapshot_data* made_block(const std::vector<row_text>& rows,
                                                     const info_text& about = {}) {
    using namespace made_snapshot_detail;
    detail::snapshot_block block;
    if (!block.has_memory()) return nullptr;
    plain::arena scratch;
    allocscope::snapshot::window_info info{};
    const bool is_made = plain::is_done_with_memory([&] {
        plain::list<allocscope::snapshot::row> kept_rows{scratch};
        for (const row_text& row : rows) kept_rows.push_back(kept_row(block.memory(), row));
        plain::list<allocscope::snapshot::loss> losses{scratch};
        for (const loss_text& loss : about.losses) {
            losses.push_back({kept(block.memory(), loss.reason), loss.count});
        }
        info = {kept(block.memory(), about.name),
                about.record,
                about.from,
                about.stack_frames,
                about.duration_ns,
                about.totals,
                about.own_memory_bytes,
                losses.data(),
                losses.size(),
                about.is_difference,
                kept(block.memory(), about.not_recording),
                about.sample_bytes,
                about.samples,
                about.estimates,
                about.window,
                about.is_of_two_windows,
                about.uncertain_objects,
                about.uncertain_bytes,
                nullptr,
                0,
                about.process_id,
                about.taken_unix_ns,
                kept(block.memory(), about.command),
                nullptr,
                about.moments.size(),
                false,
                about.merged_windows,
                about.memory,
                about.has_details,
                about.has_details,
                false,
                nullptr,
                about.ages.size(),
                0};
        plain::list<allocscope::snapshot::moment> moments{block.memory()};
        for (const moment_text& each : about.moments) {
            moments.push_back({each.at_ns, each.live_objects, each.live_bytes, each.allocations,
                               each.bytes_allocated, kept(block.memory(), each.mark)});
        }
        info.moments = moments.data();
        plain::list<allocscope::snapshot::age> ages{block.memory()};
        for (const allocscope::snapshot::age& each : about.ages) ages.push_back(each);
        info.ages = ages.data();
        block.add_rows(kept_rows, info, scratch);
        make_stacks(block, about);
        plain::list<allocscope::snapshot::family> families{scratch};
        for (const family_text& each : about.families) {
            families.push_back({kept(block.memory(), each.name), each.allocations, each.frees,
                                each.bytes_allocated, each.bytes_freed});
        }
        if (!families.empty()) block.add_families(families);
    });
    return is_made ? block.finish(info) : nullptr;
}

inline allocscope::snapshot made_snapshot(const std::vector<row_text>& rows,
                                          const info_text& about = {}) {
    return allocscope::snapshot{made_block(rows, about)};
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
