// one_loop.cpp - one loop under one kind of window, nothing else: for callgrind, perf and gdb.
//
//     one_loop LOOP MODE STEPS
//     one_loop churn exact 16 1000000
//
// LOOP   churn | peers                  (churn_loop.hpp, peer_workloads.hpp)
//        innermost | anywhere           (4096 stacks, see changing_stacks.cpp)
//        handed                         (one thread allocates 4096 blocks, another one frees them)
//        windows                        (a window opens, counts and closes)
//        marked | unmarked              (as innermost, in a window of its own for 131072 steps,
//                                       with or without an age mark before each 4096 steps)
// MODE   bare | library | off | counters | sampled | sampled BYTES | exact N | details N
//
// one_loop_of_malloc is the same with malloc in place of operator new.

#include "churn_loop.hpp"
#include "peer_workloads.hpp"
#include "window_modes.hpp"
#include "worker_team.hpp"

#include <cstdint>      // uint32_t, uint64_t
#include <cstdio>       // fprintf
#include <cstdlib>      // strtoull, atoi
#include <string>       // string
#include <type_traits>  // is_same
#include <vector>       // vector

using namespace benchmarks;

namespace {

#if defined(LOOP_OF_MALLOC)
using reference = glibc;
using measured = bare;
#else
using reference = bare;
using measured = hooked;
#endif

template <class Policy>
ALLOCSCOPE_BENCHMARK_FRAME std::uint64_t fan_out(void* loop) {
    // The full period of changing_stacks.cpp, 4096 steps a call.
    std::uint32_t path = 1;
    for (int step = 0; step < 4096; ++step) {
        path = (path * 1229 + 887) % 4096;
        call_fan<64>::descend(&churn<Policy>::single_step_leaf, loop, path);
    }
    return path;
}

// Any of two call sites in each of 12 frames.
template <class Policy>
ALLOCSCOPE_BENCHMARK_FRAME void change_anywhere(churn<Policy>& loop, std::uint64_t steps) {
    std::uint32_t path = 1;
    for (std::uint64_t done = 0; done < steps; ++done) {
        path = (path * 1229 + 887) % 4096;
        call_chain<standard_chain - 2>::descend(&churn<Policy>::single_step_leaf, &loop, path);
    }
}

// In turns, so that neither thread ever waits for a single block of the other.
template <class Policy>
void hand_over(std::uint64_t steps) {
    worker_team other{1};
    std::vector<void*> blocks(4096);
    for (std::uint64_t done = 0; done < steps; done += blocks.size()) {
        for (void*& block : blocks) block = allocate_here<Policy, 0>(64);
        other.run([&](int) {
            for (void* block : blocks) Policy::release(block);
        });
    }
}

template <class Policy>
void open_windows(std::uint64_t steps) {
    if (std::is_same<Policy, reference>::value) return;
    std::uint64_t seen = 0;
    for (std::uint64_t done = 0; done < steps; ++done) {
        const allocscope::scope window{"one of many"};
        seen += window.counts().allocations;
    }
    if (seen != 0) std::fprintf(stderr, "a window that nobody allocates in is not empty\n");
}

// A window forgets marks when it has 64, and makes new ones half as often; so no window gets there.
template <class Policy>
void mark_ages(std::uint64_t steps, bool has_marks) {
    constexpr int marks = 32;
    churn<Policy> loop{1024};
    for (std::uint64_t done = 0; done < steps;) {
        allocscope::scope window{"marked", exact(16)};
        for (int i = 0; i < marks && done < steps; ++i, done += 4096) {
            if (has_marks) window.mark_age();
            call_chain<standard_chain - 2>::descend(&fan_out<Policy>, &loop, 0);
        }
    }
}

template <class Policy>
bool run(const std::string& name, std::uint64_t steps) {
    if (name == "churn") {
        churn<Policy> loop{1024};
        loop.template run_below<standard_chain>(steps);
    } else if (name == "peers") {
        batched_churn<Policy> loop;
        loop.run(steps);
    } else if (name == "innermost") {
        churn<Policy> loop{1024};
        for (std::uint64_t done = 0; done < steps; done += 4096) {
            call_chain<standard_chain - 2>::descend(&fan_out<Policy>, &loop, 0);
        }
    } else if (name == "anywhere") {
        churn<Policy> loop{1024};
        change_anywhere(loop, steps);
    } else if (name == "handed") {
        hand_over<Policy>(steps);
    } else if (name == "marked" || name == "unmarked") {
        mark_ages<Policy>(steps, name == "marked");
    } else if (name == "windows") {
        open_windows<Policy>(steps);
    } else {
        return false;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        std::fprintf(stderr,
                     "usage: one_loop LOOP MODE [BYTES | FRAMES] STEPS; see one_loop.cpp\n");
        return 2;
    }
    const std::string loop = arguments[1];
    const std::string mode = arguments[2];
    const std::uint64_t steps = std::strtoull(arguments[count - 1], nullptr, 10);
    if (mode == "bare") return run<reference>(loop, steps) ? 0 : 2;
    if (mode == "library") return run<library_new>(loop, steps) ? 0 : 2;
    window_mode wanted;
    if (mode == "counters") wanted = counters();
    if (mode == "sampled") wanted = sampled();
    if (mode == "sampled" && count == 5) {
        wanted->sample_bytes = std::strtoull(arguments[3], nullptr, 10);
    }
    if (mode == "exact" || mode == "details")
        wanted = exact(static_cast<std::uint32_t>(std::atoi(arguments[3])));
    if (mode == "details") wanted->details = true;
    const optional_window window{wanted};
    return run<measured>(loop, steps) ? 0 : 2;
}
