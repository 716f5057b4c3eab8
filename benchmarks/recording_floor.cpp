// recording_floor.cpp - what is the least that recording can cost?
//
// Made-up hooks in the standard churn loop, each with one step of recording more than the one
// before, and no test for any case but the usual one: one thread, one window, one place. They use
// the library's own map and counters. What is left between the last of them and `counters` is what
// the library could still save; a target below a step cannot be met while that step is needed.
//
// The last of them counts each death in the hook of the next one. The address of a death's counters
// is known only when the record has arrived, and until then the processor holds back the loads of
// free(). docs/decisions/0010-the-straight-line.md says why the library does not do this.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <allocscope/base/owned_counter.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t, uintptr_t
#include <cstdlib>  // malloc, free, abort

using namespace benchmarks;

namespace {

using allocscope::detail::live_object_map;
using allocscope::detail::owned_counter;

// The steps of a hook; each includes those before it.
enum class step { call, gate, record, counters, busy, peak, later_death };

struct place_counters {
    owned_counter births, birth_bytes, deaths, death_bytes;
};

struct made_up_thread {
    volatile std::uintptr_t busy = 0;
    std::uint64_t view = 1;
    std::uint64_t head = live_object_map::record_head(1, 0);  // of place 0
    std::uint64_t later = 0;  // the place and size of a death that is not counted yet
    place_counters* births = nullptr;
    owned_counter below_peak, above_floor;  // of live bytes
};

live_object_map objects;
volatile std::uint64_t gate_word = 1;
place_counters places[64];
place_counters* volatile first_place = places;
made_up_thread only_thread;
thread_local made_up_thread* current = nullptr;

void expect(bool is_usual) {
    if (__builtin_expect(!is_usual, 0)) std::abort();
}

void begin(made_up_thread& thread, const void* frame) {
    expect(thread.busy == 0);
    thread.busy = reinterpret_cast<std::uintptr_t>(frame);
    expect(gate_word == thread.view);
}

void count_death(std::uint64_t place_and_size) {
    place_counters& place = first_place[place_and_size >> 27U];
    place.death_bytes.add(live_object_map::short_bytes_of(place_and_size));
    place.deaths.add(1);
}

template <step Last>
ALLOCSCOPE_BENCHMARK_FRAME void* allocate_up_to(std::size_t size) {
    void* block = std::malloc(size);
    expect(block != nullptr);
    if (Last == step::call) return block;
    expect(gate_word != 0);
    made_up_thread& thread = *current;
    if (Last >= step::busy) begin(thread, __builtin_frame_address(0));
    if (Last >= step::record) {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        live_object_map::slot* slot = objects.slot_for(address);
        expect(slot != nullptr);
        if (Last >= step::peak) {
            thread.below_peak.add(0 - size);
            expect(thread.below_peak.read() != 0);
            thread.above_floor.add(size);
        }
        if (Last >= step::counters) {
            thread.births->births.add(1);
            thread.births->birth_bytes.add(size);
        }
        live_object_map::put_short(slot, address, thread.head, size);
    }
    if (Last >= step::busy) thread.busy = 0;
    return block;
}

template <step Last>
ALLOCSCOPE_BENCHMARK_FRAME void release_up_to(void* block) {
    if (Last == step::call) return std::free(block);
    expect(gate_word != 0);
    made_up_thread& thread = *current;
    if (Last >= step::busy) begin(thread, &thread);
    if (Last >= step::record && block != nullptr) {
        live_object_map::slot* slot =
            objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
        expect(slot != nullptr);
        using allocscope::detail::memory_order;
        const std::uint64_t death = slot->load(memory_order::relaxed) ^ thread.head;
        if (Last >= step::counters) expect(death >> 27U < 64);
        if (Last >= step::peak) {
            const std::uint64_t bytes = live_object_map::short_bytes_of(death);
            thread.above_floor.add(0 - bytes);
            expect(thread.above_floor.read() != 0);
            thread.below_peak.add(bytes);
        }
        slot->store(0, memory_order::relaxed);
        if (Last == step::later_death) {
            const std::uint64_t earlier = thread.later;
            thread.later = death;
            count_death(earlier);
        } else if (Last >= step::counters) {
            count_death(death);
        }
    }
    if (Last >= step::busy) thread.busy = 0;
    std::free(block);
}

template <step Last>
struct up_to {
    static void* allocate(std::size_t size) { return allocate_up_to<Last>(size); }
    static void release(void* block) { release_up_to<Last>(block); }
};

template <class Policy>
ratio against_bare(const run_options& options) {
    churn<bare> baseline{1024};
    churn<Policy> measured{1024};
    return compare_churn(options, baseline, measured);
}

struct floor_row {
    const char* name;
    ratio (*measure)(const run_options&);
};

ratio in_window_of_counters(const run_options& options) {
    const optional_window window{counters()};
    return against_bare<hooked>(options);
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    only_thread.births = places;
    only_thread.below_peak.set(std::uint64_t{1} << 40U);
    only_thread.above_floor.set(std::uint64_t{1} << 40U);
    current = &only_thread;
    expect(objects.prepare());
    const floor_row rows[] = {
        {"a call", &against_bare<up_to<step::call>>},
        {"+ the gate", &against_bare<up_to<step::gate>>},
        {"+ the record of the block", &against_bare<up_to<step::record>>},
        {"+ births and deaths", &against_bare<up_to<step::counters>>},
        {"+ the thread is busy", &against_bare<up_to<step::busy>>},
        {"+ live bytes for the peak", &against_bare<up_to<step::peak>>},
        {"the same, each death counted at the next", &against_bare<up_to<step::later_death>>},
        {"counters", &in_window_of_counters},
    };
    result_table table{arguments[0], "What is the least that recording can cost?", "counters",
                       options};
    for (const floor_row& row : rows) {
        if (options.wants(row.name)) table.add_ratio(row.name, row.measure(options));
    }
    return table.finish();
}
