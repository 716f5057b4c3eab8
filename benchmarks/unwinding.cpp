// unwinding.cpp - what do stacks cost in code without frame pointers?
//
// Compiled with -fomit-frame-pointer, so that every frame is found by unwind tables. Two questions:
//
//     recording   the standard loop, 24 frames deep, exact: the stack repeats
//     walking     4096 stacks in turn, each of 24 frames, found anew: by stack_walk (no memo, rules
//                 known), as changing stacks are recorded (memo), and by backtrace(3) of libgcc
//
// Calling down to the place where a stack is taken costs as much as taking it. That is measured by
// itself and subtracted from the times.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/tables/cohort_of_site.hpp>
#include <allocscope/tables/site_table.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstdio>   // fprintf
#include <cstdlib>  // exit

#include <execinfo.h>  // backtrace

using namespace benchmarks;
namespace unwind = allocscope::detail;

namespace {

constexpr std::uint32_t frames = 24;
constexpr std::uint32_t stack_count = 4096;

struct walker {
    unwind::rule_cache rules;
    unwind::chain_memo memo;
    unwind::walked_stack walked;
    unwind::stack_bounds bounds;
    unwind::page_arena arena;
    unwind::site_table sites;
    unwind::cohort_of_site shapes;
    std::uintptr_t found[unwind::walked_stack::most_words];
    void* expected[frames + 1];
};
walker own;

std::uintptr_t own_frame(void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

ALLOCSCOPE_BENCHMARK_FRAME void walk_from(std::uintptr_t frame) {
    unwind::stack_walk{own.bounds, own.rules, own.walked}.run(frame, frames);
    for (std::uint32_t i = 0; i < own.walked.frame_count; ++i) {
        own.found[i] = own.walked.return_addresses[i];
    }
}

struct by_rules {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t look_up(void*) {
        walk_from(own_frame(__builtin_frame_address(0)));
        return own.walked.frame_count;
    }
};

// As record/cohort_lookup.hpp does it.
struct by_memo {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t look_up(void*) {
        const std::uintptr_t frame = own_frame(__builtin_frame_address(0));
        unwind::remembered_chain& chain =
            *own.memo.entry_for(frame, unwind::read_stack_word(frame + sizeof(frame)));
        if (unwind::chain_memo::is_unchanged(chain, frame)) return chain.frame_count;
        if (unwind::chain_memo::collect(chain, frame, own.found)) {
            if (is_known(chain)) return found_again(chain, frame);
            if (unwind::chain_memo::leads_as_before(chain, own.rules, own.found)) {
                note_shape(chain);
                return found_again(chain, frame);
            }
        }
        walk_from(frame);
        own.memo.remember(chain, frame, own.walked);
        note_shape(chain);
        return chain.frame_count;
    }

private:
    static std::uint64_t found_again(unwind::remembered_chain& chain, std::uintptr_t frame) {
        unwind::chain_memo::end_change(chain, frame);
        return chain.frame_count;
    }
    static bool is_known(const unwind::remembered_chain& chain) {
        const unwind::site* const site =
            own.sites.known(unwind::stack_hash(chain.sum), own.found, chain.frame_count);
        const auto* const entry = site == nullptr ? nullptr : own.shapes.existing(site->id);
        return entry != nullptr && entry->shape == chain.shape;
    }
    static void note_shape(const unwind::remembered_chain& chain) {
        const unwind::site* const site = own.sites.intern(own.arena, unwind::stack_hash(chain.sum),
                                                          own.found, chain.frame_count);
        if (site == nullptr) return;
        if (auto* const entry = own.shapes.find(own.arena, site->id)) entry->shape = chain.shape;
    }
};

struct nothing {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t look_up(void*) {
        __asm__ volatile("");
        return 1;
    }
};

struct by_backtrace {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t look_up(void*) {
        return static_cast<std::uint64_t>(::backtrace(own.expected, static_cast<int>(frames) + 1) -
                                          1);
    }
};

// Any of two call sites in each of 12 frames: all 4096 paths, then again.
template <class Method>
ALLOCSCOPE_BENCHMARK_FRAME std::uint64_t look_up_changing(std::uint64_t steps) {
    static std::uint32_t path = 1;
    std::uint64_t found = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
        path = (path * 1229 + 887) % stack_count;
        found += call_chain<frames + 2>::descend(&Method::look_up, nullptr, path) != 0 ? 1U : 0U;
    }
    return found;
}

// The three must find the same, or their times mean nothing.
ALLOCSCOPE_BENCHMARK_FRAME std::uint64_t check_equal(void*) {
    by_rules::look_up(nullptr);
    by_backtrace::look_up(nullptr);
    if (own.walked.frame_count != frames) std::exit(1);
    for (std::uint32_t i = 1; i < frames; ++i) {  // the first is here, at two lines
        if (own.found[i] == reinterpret_cast<std::uintptr_t>(own.expected[i + 1])) continue;
        std::fprintf(stderr, "frame %u is not what backtrace() finds\n", i);
        std::exit(1);
    }
    return 0;
}

template <class Method>
ratio against_backtrace(const run_options& options) {
    return measure_ratio(
        options,
        [](std::uint64_t steps) {
            return timed_on_cpu([&] { look_up_changing<by_backtrace>(steps); });
        },
        [](std::uint64_t steps) { return timed_on_cpu([&] { look_up_changing<Method>(steps); }); });
}

// In percent of what backtrace() takes, without the way down.
double share_of(const ratio& seen, double way_ns) {
    return 100 * (seen.measured_ns - way_ns) / (seen.baseline_ns - way_ns);
}

ratio against_malloc(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    churn<bare> baseline{1024};
    churn<hooked> measured{1024};
    return compare_churn<frames>(options, baseline, measured);
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    own.bounds = unwind::current_stack_bounds(own_frame(__builtin_frame_address(0)));
    if (!own.memo.prepare(frames)) return 1;
    call_chain<frames + 2>::descend(&check_equal, nullptr, 1234);

    const char* headline = "walked by known rules, against backtrace(), each frame";
    result_table table{arguments[0], "What do stacks cost in code without frame pointers?",
                       headline, options};
    table.add_ratio("exact, 24 frames, repeating, against malloc",
                    against_malloc(options, exact(frames)), 2.1);
    const ratio walked = against_backtrace<by_rules>(options);
    const ratio remembered = against_backtrace<by_memo>(options);
    const double way_ns = against_backtrace<nothing>(options).measured_ns;
    table.add_value("walked by known rules, each frame", (walked.measured_ns - way_ns) / frames,
                    "ns");
    table.add_value("changing stacks by the memo, each frame",
                    (remembered.measured_ns - way_ns) / frames, "ns");
    table.add_value("backtrace(), each frame", (walked.baseline_ns - way_ns) / frames, "ns");
    table.add_value(headline, share_of(walked, way_ns), "%", 100.0 / 30);
    table.add_value("changing stacks by the memo, against backtrace(), each frame",
                    share_of(remembered, way_ns), "%", 100.0 / 30);
    return table.finish();
}
