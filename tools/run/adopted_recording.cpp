// All pointers in a recording are addresses of the process that made it. So its segment is mapped
// at the same addresses here, and the state of the process is copied over our own. From then on the
// functions that report on this process report on the other.
#include "adopted_recording.hpp"

#include "linked_functions.hpp"
#include "nameless_functions.hpp"

#include <allocscope/debug_forms.hpp>
#include <allocscope/define_once/engine_table.hpp>
#include <allocscope/report/explain_memory.hpp>
#include <allocscope/state/recording_head.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

using namespace allocscope::detail;

// Copies what a part of the file holds to the beginning of another. Holes stay holes.
bool copy_part(int file, std::uint64_t begin, std::uint64_t bytes, int copy) {
    constexpr std::size_t most = std::size_t{1} << 20U;
    if (::ftruncate(copy, static_cast<off_t>(bytes)) != 0) return false;
    const std::unique_ptr<char[]> piece{new char[most]};
    const auto end = static_cast<off_t>(begin + bytes);
    for (off_t at = ::lseek(file, static_cast<off_t>(begin), SEEK_DATA); at >= 0 && at < end;
         at = ::lseek(file, at, SEEK_DATA)) {
        const off_t hole = ::lseek(file, at, SEEK_HOLE);
        for (const off_t last = hole < end ? hole : end; at < last;) {
            const auto left = static_cast<std::size_t>(last - at);
            const ssize_t got = ::pread(file, piece.get(), left < most ? left : most, at);
            const off_t to = at - static_cast<off_t>(begin);
            const auto size = static_cast<std::size_t>(got);
            if (got <= 0 || ::pwrite(copy, piece.get(), size, to) != got) return false;
            at += got;
        }
    }
    return true;
}

// A private copy is limited by ulimit -d, because only this process can write to it. A file that is
// shared is not, even if nobody else has it.
void* map_as_file(void* wanted, std::size_t bytes, int file, std::uint64_t offset) {
    const int copy = ::memfd_create("allocscope report", MFD_CLOEXEC);
    if (copy < 0) return MAP_FAILED;
    void* mapped = MAP_FAILED;
    if (copy_part(file, offset, bytes, copy)) {
        mapped = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, copy, 0);
    }
    ::close(copy);
    return mapped;
}

// Maps a copy: changes do not reach the recording. All of the segment, because a program that runs
// may take more of it until the report has been made.
char* map_segment(int file, std::uint32_t index, const recording_head& head, std::string& error) {
    const std::uintptr_t next = head.next.load();
    const std::size_t bytes = head.bytes;
    const std::uintptr_t end = head.address + bytes;
    if (bytes > segment_bytes || next < head.address + lasting_offset || next > end) {
        error = "the recording is damaged: its head names addresses outside of it";
        return nullptr;
    }
    void* const wanted = reinterpret_cast<void*>(head.address);
    const std::uint64_t offset = segment_offset(index);
    void* mapped =
        ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, static_cast<off_t>(offset));
    if (mapped == MAP_FAILED && errno == ENOMEM) mapped = map_as_file(wanted, bytes, file, offset);
    if (mapped == wanted) return static_cast<char*>(mapped);
    error = std::string{"the recording cannot be mapped where it was: "} +
            (mapped == MAP_FAILED ? std::strerror(errno) : "the kernel chose another place");
    return nullptr;
}

// Resets what is of use only in the process that made the recording.
void drop_what_was_private() {
    ::new (static_cast<void*>(&process.entry)) gate;
    ::new (static_cast<void*>(&process.objects)) live_object_map;
    ::new (static_cast<void*>(&process.samples)) sampled_object_map;
    ::new (static_cast<void*>(&process.pools)) pool_object_map;
    ::new (static_cast<void*>(&process.mark)) child_mark;
    const pthread_mutex_t open = PTHREAD_MUTEX_INITIALIZER;
    process.naming = open;
    process.walking = open;
    process.control = open;
    process.forking.store(nullptr);
    process.mend_child = nullptr;
    process.reclaim = nullptr;
    process.window_being_read = 0;
}

// If a program was killed while it moved sums, some of these may be counted twice.
void declare_sums_in_motion() {
    if (!process.are_sums_moving.load()) return;
    process.latecomer.load()->lose(loss_reason::torn_sums);
    process.are_sums_moving.store(false);
}

// From here on, all times are those of this process's clock.
void set_back(window_id id, std::int64_t clock_ahead_ns) {
    open_window* const window = find_window(id);
    if (clock_ahead_ns == 0 || window == nullptr) return;
    const auto ahead = static_cast<std::uint64_t>(clock_ahead_ns);
    window->started_ns -= ahead;
    process.followed.first_ns -= ahead;
    if (window->ages == nullptr) return;
    age_mark marks[age_marks::most];
    const std::uint32_t count = window->ages->copy_to(marks);
    window->ages->clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        window->ages->add({marks[i].clock, marks[i].before_ns - ahead, marks[i].after_ns - ahead});
    }
}

// Marks the threads of the recording as unable to answer, because they are not in this process.
// Returns false if their list has a loop.
bool let_threads_be(std::size_t most_threads) {
    for (thread_state& each : all_threads()) {
        if (most_threads-- == 0) return false;
        each.busy.store(0);
        each.task.store(0);  // a thread of this process may have the same number
        each.question.step.store(question_step::nobody_asks);
    }
    return true;
}

program_facts kept;  // this process adopts one program

const char* name_seen(std::uint32_t instance) {
    const auto seen = kept.threads.find(instance);
    return seen != kept.threads.end() ? seen->second.c_str() : "";
}

// Reads no sites: a program may have a hundred thousand.
snapshot_data* totals_of_window(window_id id) {
    snapshot_block block;
    arena scratch;
    live_window window{block.memory(), scratch};
    window_facts facts;
    const walking_lock walk;
    {
        const control_lock lock;
        if (!begin_taking(window, facts, id, after_stats::go_on)) return nullptr;
    }
    read_totals(window.totals, facts, window.doubt, nullptr);
    end_taking(window, facts);
    return finish_block(block, window, "");
}

// At the end of the program, the recorded objects are those of the snapshot. While it runs, only
// their sum is known.
allocscope::memory_use explained(const memory_moment& of, const allocscope::snapshot& rows) {
    const recorded_sizes sizes =
        of.is_last ? recorded_in(rows) : recorded_sizes{of.at.live_bytes, 0};
    allocscope::memory_use use = divide_memory(of.look, sizes);
    use.at_ns = of.is_last ? rows.info().duration_ns : of.at.at_ns;
    return use;
}

}  // namespace

allocscope::snapshot adopt_recording(int file, std::uint32_t index, bool wants_rows,
                                     const program_facts& program,
                                     const std::vector<std::string>& library_frames,
                                     std::string& error) {
    for (const std::string& pattern : library_frames) {
        if (read_numbered_pattern(pattern) == numbered_pattern::valid) continue;
        error = engine_library_frames(pattern.c_str());
        if (!error.empty()) return {};
    }
    const std::unique_ptr<char[]> page{new char[page_bytes]()};
    const auto offset = static_cast<off_t>(segment_offset(index));
    if (::pread(file, page.get(), page_bytes, offset) != static_cast<ssize_t>(page_bytes)) {
        error = std::string{"the recording cannot be read: "} + std::strerror(errno);
        return {};
    }
    const auto& head = *reinterpret_cast<const recording_head*>(page.get());
    const char* const segment = map_segment(file, index, head, error);
    if (segment == nullptr) return {};
    std::memcpy(static_cast<void*>(&process), segment + process_offset, sizeof process);
    std::memcpy(static_cast<void*>(&modules_met), segment + met_offset, sizeof modules_met);
    std::memcpy(static_cast<void*>(&modules_at_start), segment + start_offset,
                sizeof modules_at_start);
    modules_met.move_from(head.met_address);
    modules_at_start.move_from(head.start_address);
    drop_what_was_private();
    declare_sums_in_motion();
    if (!let_threads_be(head.bytes / sizeof(thread_state))) {
        error = "the recording is damaged: its list of threads has a loop";
        return {};
    }
    set_back(head.window, program.clock_ahead_ns);
    kept = program;
    name_from_outside = &name_seen;
    end_of_program_ns = program.ended_ns;
    follow_links();
    name_nameless_functions(library_frames);
    snapshot_data* made = wants_rows ? snapshot_of_window(head.window, after_stats::go_on)
                                     : totals_of_window(head.window);
    if (made == nullptr) {
        error = "the recording has no window";
        return {};
    }
    // What was read a moment after the end shows the end.
    for (allocscope::snapshot::moment& each : kept.moments) {
        each.at_ns = std::min(each.at_ns, made->info.duration_ns);
    }
    const allocscope::snapshot::window_estimates& alive = made->info.estimates;
    if (!kept.moments.empty()) {
        kept.moments.push_back({made->info.duration_ns, alive.live_objects.value,
                                alive.live_bytes.value, alive.allocations.value,
                                alive.bytes_allocated.value, ""});
    }
    made->info.command = kept.command.c_str();
    made->info.process_id = static_cast<std::uint64_t>(kept.process_id);
    made->info.moments = kept.moments.data();
    made->info.moment_count = kept.moments.size();
    allocscope::snapshot adopted{made};
    if (kept.memory.is_known) {
        static allocscope::memory_use memory;
        memory = explained(kept.memory, adopted);
        made->info.memory = &memory;
    }
    return adopted;
}

}  // namespace allocscope_tools
