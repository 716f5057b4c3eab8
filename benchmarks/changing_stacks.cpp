// changing_stacks.cpp - what does exact recording cost when no stack repeats soon?
//
// There are 4096 stacks, and every allocation comes from another stack than the 4095 before it. Two
// kinds try a memory of stacks in different ways:
//
//     innermost   common frames -> one of 64 functions -> one of 64 functions -> operator new
//     anywhere    one of two call sites in each of 12 frames, walked down anew for each allocation
//
// The baseline walks the same way down to malloc; the cheaper the walk, the harder the comparison,
// so the first kind is the headline.

#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

constexpr std::uint32_t stack_count = 4096;

// Visits all 4096 paths, then again: a full-period linear congruence that looks random.
std::uint32_t next_path(std::uint32_t path) {
    return (path * 1229 + 887) % stack_count;
}

// One allocation at each end of a freshly chosen route.
template <class Policy, bool Anywhere>
class many_stacks {
public:
    void run(std::uint64_t steps) {
        if (Anywhere) {
            loop_anywhere(steps);
        } else {
            steps_ = steps;
            call_chain<standard_chain - 2>::descend(&loop_innermost, this, 0);
        }
    }

private:
    ALLOCSCOPE_BENCHMARK_FRAME void loop_anywhere(std::uint64_t steps) {
        for (std::uint64_t step = 0; step < steps; ++step) {
            path_ = next_path(path_);
            call_chain<standard_chain - 2>::descend(&churn<Policy>::single_step_leaf, &loop_,
                                                    path_);
        }
    }

    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t loop_innermost(void* object) {
        many_stacks& self = *static_cast<many_stacks*>(object);
        for (std::uint64_t step = 0; step < self.steps_; ++step) {
            self.path_ = next_path(self.path_);
            call_fan<64>::descend(&churn<Policy>::single_step_leaf, &self.loop_, self.path_);
        }
        return self.steps_;
    }

    churn<Policy> loop_{1024};
    std::uint32_t path_ = 1;
    std::uint64_t steps_ = 0;
};

template <bool Anywhere>
ratio compare(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    many_stacks<bare, Anywhere> baseline;
    many_stacks<hooked, Anywhere> measured;
    measured.run(2 * stack_count);
    return measure_ratio(
        options, [&](std::uint64_t steps) { return timed_on_cpu([&] { baseline.run(steps); }); },
        [&](std::uint64_t steps) { return timed_on_cpu([&] { measured.run(steps); }); });
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const char* headline = "16 frames, 4096 stacks, innermost frames differ";
    result_table table{arguments[0], "What does exact recording cost when no stack repeats soon?",
                       headline, options};
    table.add_ratio("no window open, innermost", compare<false>(options, std::nullopt));
    table.add_ratio(headline, compare<false>(options, exact(16)), 3);
    table.add_ratio("24 frames, 4096 stacks, innermost frames differ",
                    compare<false>(options, exact(24)));
    table.add_ratio("16 frames, 4096 stacks, any frames differ", compare<true>(options, exact(16)),
                    3);
    table.add_ratio("24 frames, 4096 stacks, any frames differ", compare<true>(options, exact(24)));
    return table.finish();
}
