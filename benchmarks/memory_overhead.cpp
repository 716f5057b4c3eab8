// memory_overhead.cpp - how much memory does exact recording take beside the heap?
//
// For several kinds of heap: how much resident memory grows while the heap is built, in a process
// that builds it with malloc and in one that builds it under a window. Allowed is half the heap
// again, and 4 MiB.
//
//     memory_overhead --child=exact --blocks=1000000 --size=16      prints: grown_KiB

#include "block_heap.hpp"
#include "result_table.hpp"

#include <cstdlib>  // strtoull

using namespace benchmarks;

int main(int count, char** arguments) {
    if (count == 4) {
        const std::string mode = value_of(arguments[1], "child");
        const std::uint64_t blocks = std::strtoull(value_of(arguments[2], "blocks"), nullptr, 10);
        const std::uint64_t size = std::strtoull(value_of(arguments[3], "size"), nullptr, 10);
        if (mode == "bare") build_and_print<bare>(blocks, size, std::nullopt);
        if (mode == "counters") build_and_print<hooked>(blocks, size, counters());
        build_and_print<hooked>(blocks, size, exact(24));
    }
    const run_options options = parse_run_options(count, arguments);
    const std::uint64_t divisor = options.smoke ? 1000 : 1;
    result_table table{arguments[0], "How much memory does recording take beside the heap?",
                       "exact, 2000000 blocks of 64 bytes, beside the heap", options};
    for (const heap_shape& shape : heap_shapes) {
        const double heap = grown_kib("bare", shape, divisor);
        const std::string name = shape.name;
        table.add_value(name + ", heap alone", heap / 1024, "MiB");
        table.add_value("exact, " + name + ", beside the heap",
                        (grown_kib("exact", shape, divisor) - heap) / 1024, "MiB",
                        heap / 1024 / 2 + 4);
        table.add_value("counters, " + name + ", beside the heap",
                        (grown_kib("counters", shape, divisor) - heap) / 1024, "MiB");
    }
    return table.finish();
}
