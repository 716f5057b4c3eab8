// workloads.cpp - the loops that run.py times under every tool, one of them in each process.
//
//     workloads churn   1|2 STEPS MODE     256 stacks about 20 deep, 1024 blocks alive on a thread
//     workloads handover  2 STEPS MODE     one thread allocates, the other one frees
//     workloads containers 1 OBJECTS MODE  a map, a hash map and a vector of strings grow and go
//     workloads large     1 STEPS MODE     blocks of 64 KiB to 4 MiB, replaced, or grown by half
//
//     prints: time_ns peak_KiB peak_with_report_KiB checksum
//
// All memory comes from operator new. Where nothing replaces it, it is the C++ library's, which
// calls malloc. The time is that of the loop alone. The peaks are those of the process: until the
// loop ended, and until the report of the window was printed.

#include "recording_window.hpp"

#include "../child_process.hpp"
#include "../interleaved_ratio.hpp"
#include "../peer_workloads.hpp"
#include "../worker_team.hpp"

#include <mcheck.h>  // mtrace, muntrace

#include <algorithm>  // min
#include <array>      // array
#include <cstdio>     // fprintf, printf
#include <cstdlib>    // atoi, getenv, strtoull
#include <cstring>    // memcpy

using namespace benchmarks;

namespace {

struct finished_loop {
    double time_ns = 0;
    std::uint64_t checksum = 0;
};

finished_loop churn_on_threads(int threads, std::uint64_t steps) {
    std::vector<std::unique_ptr<batched_churn<hooked>>> loops;
    for (int worker = 0; worker < threads; ++worker) {
        loops.push_back(
            std::make_unique<batched_churn<hooked>>(static_cast<std::uint64_t>(worker)));
    }
    const auto run = [&](int worker) { loops[static_cast<std::size_t>(worker)]->run(steps); };
    if (threads == 1) {
        const double begin = wall_ns();
        run(0);
        return {wall_ns() - begin, steps};
    }
    worker_team team{threads};
    team.run(run);
    return {team.elapsed_ns(), steps};
}

finished_loop hand_over(std::uint64_t steps) {
    handover<hooked> loop{peer_paths, 16, 112};
    worker_team team{2};
    team.run([&](int worker) { loop.run(worker, steps); });
    return {team.elapsed_ns(), steps};
}

finished_loop fill_containers(std::uint64_t objects) {
    const phase_times times = grow_and_drop<hooked>{}.run(objects);
    return {times.grow_ns + times.drop_ns, objects};
}

// 32 places; three steps of four put another block there, the fourth makes the block half as large
// again, as a vector does: a new one, the contents copied, the old one freed.
class large_blocks {
public:
    large_blocks() = default;
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;
    ~large_blocks() {
        for (const block& old : blocks_) hooked::release(old.bytes);
    }

    ALLOCSCOPE_BENCHMARK_FRAME std::uint64_t run(std::uint64_t steps) {
        std::uint64_t sum = 0;
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t random = next_random(random_);
            block& place = blocks_[random % blocks_.size()];
            const bool grows = place.bytes != nullptr && (random >> 40) % 4 == 0;
            const std::size_t size = grows ? std::min(place.size + place.size / 2, largest)
                                           : smallest << ((random >> 20) % 7);
            char* bytes = static_cast<char*>(allocate_here<hooked, 0>(size));
            if (grows) std::memcpy(bytes, place.bytes, place.size);
            bytes[0] = bytes[size / 2] = bytes[size - 1] = static_cast<char>(step);
            sum += static_cast<unsigned char>(bytes[size / 2]);
            hooked::release(place.bytes);
            place = {bytes, size};
        }
        return sum;
    }

private:
    struct block {
        char* bytes;
        std::size_t size;
    };
    static constexpr std::size_t smallest = 64 * 1024;
    static constexpr std::size_t largest = 4096 * 1024;

    std::array<block, 32> blocks_{};
    std::uint64_t random_ = random_seed(1);
};

finished_loop replace_large_blocks(std::uint64_t steps) {
    large_blocks loop;
    const double begin = wall_ns();
    const std::uint64_t sum = loop.run(steps);
    return {wall_ns() - begin, sum};
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: workloads LOOP THREADS STEPS MODE; see workloads.cpp\n");
        return 2;
    }
    const std::string name = arguments[1];
    const std::uint64_t steps = std::strtoull(arguments[3], nullptr, 10);
    // glibc's tracer has to be switched on by the program itself.
    const bool is_traced = std::getenv("MALLOC_TRACE") != nullptr;
    if (is_traced) mtrace();
    const std::function<void()> report = begin_recording(arguments[4]);
    // Alive when the report is made, so that it has a place to name.
    const std::string kept(1000, 'k');
    finished_loop seen;
    if (name == "churn") {
        seen = churn_on_threads(std::atoi(arguments[2]), steps);
    } else if (name == "handover") {
        seen = hand_over(steps);
    } else if (name == "containers") {
        seen = fill_containers(steps);
    } else if (name == "large") {
        seen = replace_large_blocks(steps);
    } else {
        std::fprintf(stderr, "no loop %s; see workloads.cpp\n", name.c_str());
        return 2;
    }
    if (is_traced) muntrace();
    const double peak_kib = status_kib("VmHWM:");
    report();
    std::printf("%.0f %.0f %.0f %llu\n", seen.time_ns, peak_kib, status_kib("VmHWM:"),
                static_cast<unsigned long long>(seen.checksum));
    return 0;
}
