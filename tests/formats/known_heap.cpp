// known_heap.cpp FOLDER - makes a heap whose numbers it knows and writes it in every format.
//
// FOLDER/truth.json says for each function what it has allocated and what of that is alive; beside
// it lie heap.* (exact), sampled.* and grown.* (what came after a first snapshot).
#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct numbers {
    std::uint64_t allocations, bytes_allocated, objects, bytes;
    std::uint64_t temporary, peak_objects, peak_bytes;
};

struct live_block {
    void* memory;
    std::size_t size;
    int place;
};
live_block alive[4096];
int alive_count = 0;

std::uint32_t dice = 12345;
std::uint32_t roll(std::uint32_t sides) {
    dice = dice * 1664525U + 1013904223U;
    return (dice >> 8U) % sides;
}

// Each place is a function with a name and a line of its own, called by one of three, or by itself.
// The number in the instructions keeps the linker from making one function of equal ones.
#define ALLOCSCOPE_KNOWN_HEAP_PLACE(number)                                                    \
    __attribute__((noinline)) void* allocate_at_##number(std::size_t size, int again) {        \
        void* made = again > 0 ? allocate_at_##number(size, again - 1) : ::operator new(size); \
        __asm__ volatile("" : "+r"(made) : "i"(number) : "memory");                            \
        return made;                                                                           \
    }
ALLOCSCOPE_KNOWN_HEAP_PLACE(0)
ALLOCSCOPE_KNOWN_HEAP_PLACE(1)
ALLOCSCOPE_KNOWN_HEAP_PLACE(2)
ALLOCSCOPE_KNOWN_HEAP_PLACE(3)
ALLOCSCOPE_KNOWN_HEAP_PLACE(4)
ALLOCSCOPE_KNOWN_HEAP_PLACE(5)
ALLOCSCOPE_KNOWN_HEAP_PLACE(6)
ALLOCSCOPE_KNOWN_HEAP_PLACE(7)

using allocator_function = void* (*)(std::size_t size, int again);
constexpr allocator_function places[] = {allocate_at_0, allocate_at_1, allocate_at_2,
                                         allocate_at_3, allocate_at_4, allocate_at_5,
                                         allocate_at_6, allocate_at_7};
constexpr int place_count = 8;
numbers truth[place_count];
std::uint64_t live_bytes, peak_bytes;
const void* newest;  // until it is freed

void note_birth(int place, std::size_t size, const void* made) {
    truth[place].allocations += 1;
    truth[place].bytes_allocated += size;
    truth[place].objects += 1;
    truth[place].bytes += size;
    newest = made;
    live_bytes += size;
    if (live_bytes <= peak_bytes) return;
    peak_bytes = live_bytes;
    for (numbers& each : truth) {
        each.peak_objects = each.objects;
        each.peak_bytes = each.bytes;
    }
}

void free_block(const live_block& block) {
    ::operator delete(block.memory);
    if (newest == block.memory) {
        ++truth[block.place].temporary;
        newest = nullptr;
    }
    truth[block.place].objects -= 1;
    truth[block.place].bytes -= block.size;
    live_bytes -= block.size;
}

inline __attribute__((always_inline)) void* inlined_step(int place, std::size_t size, int again) {
    void* made = places[place](size, again);
    __asm__ volatile("" : "+r"(made) : : "memory");
    return made;
}

template <int Group>
__attribute__((noinline)) void* through_group(int place, std::size_t size, int again) {
    void* made = inlined_step(place, size, again);
    __asm__ volatile("" : "+r"(made) : "i"(Group) : "memory");
    return made;
}

void* allocate_through_a_group(int place, std::size_t size, int again) {
    switch (place % 3) {
        case 0:
            return through_group<0>(place, size, again);
        case 1:
            return through_group<1>(place, size, again);
        default:
            return through_group<2>(place, size, again);
    }
}

void allocate() {
    const int place = static_cast<int>(roll(place_count));
    // What place 0 allocates is freed at once; what place 1 allocates is empty.
    const std::size_t size = place == 1 ? 0 : 1 + roll(2000);
    void* made =
        allocate_through_a_group(place, size, place % 4 == 3 ? static_cast<int>(roll(3)) : 0);
    note_birth(place, size, made);
    if (place == 0 || roll(3) == 0) {
        free_block({made, size, place});
        return;
    }
    alive[alive_count++] = {made, size, place};
}

void free_one() {
    if (alive_count == 0) return;
    const int index = static_cast<int>(roll(static_cast<std::uint32_t>(alive_count)));
    const live_block block = alive[index];
    alive[index] = alive[--alive_count];
    free_block(block);
}

void work(int steps) {
    for (int i = 0; i < steps; ++i) {
        if (roll(4) == 0) {
            free_one();
        } else {
            allocate();
        }
    }
}

void save_truth(const std::string& folder) {
    std::FILE* file = std::fopen((folder + "/truth.json").c_str(), "w");
    if (file == nullptr) std::exit(1);
    std::fputs("{", file);
    for (int i = 0; i < place_count; ++i) {
        const numbers& known = truth[i];
        std::fprintf(file,
                     "%s\"%d\": {\"allocations\": %llu, \"bytes_allocated\": %llu,"
                     " \"objects\": %llu, \"bytes\": %llu, \"temporary\": %llu,"
                     " \"peak_objects\": %llu, \"peak_bytes\": %llu}",
                     i == 0 ? "" : ",\n", i, static_cast<unsigned long long>(known.allocations),
                     static_cast<unsigned long long>(known.bytes_allocated),
                     static_cast<unsigned long long>(known.objects),
                     static_cast<unsigned long long>(known.bytes),
                     static_cast<unsigned long long>(known.temporary),
                     static_cast<unsigned long long>(known.peak_objects),
                     static_cast<unsigned long long>(known.peak_bytes));
    }
    std::fputs("}\n", file);
    std::fclose(file);
}

void write_all(const allocscope::snapshot& rows, const std::string& start, bool is_exact) {
    allocscope::write_json(rows, (start + ".json").c_str());
    allocscope::write_csv(rows, start + ".csv");
    allocscope::write_pprof(rows, start + ".pb.gz");
    allocscope::write_folded(rows, start + ".folded");
    allocscope::write_folded(rows, start + ".allocations.folded",
                             allocscope::stack_value::allocations);
    allocscope::write_speedscope(rows, start + ".speedscope.json");
    allocscope::write_dhat(rows, start + ".dhat.json");
    allocscope::write_massif(rows, start + ".massif");
    allocscope::write_callgrind(rows, start + ".callgrind");
    if (is_exact) allocscope::write_heaptrack(rows, start + ".heaptrack");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const std::string folder = arguments[1];

    {
        allocscope::options wanted;
        wanted.record = allocscope::recording::sampled;
        wanted.sample_bytes = 512;
        allocscope::scope window{"a sampled window", wanted};
        work(2000);
        write_all(window.stats(), folder + "/sampled", false);
    }
    while (alive_count != 0) free_one();
    std::memset(truth, 0, sizeof truth);
    live_bytes = peak_bytes = 0;
    newest = nullptr;

    allocscope::options with_details;
    with_details.details = true;
    allocscope::scope window{"the known heap", with_details};
    work(1500);
    const allocscope::snapshot before = window.stats();
    work(1500);
    const allocscope::snapshot after = window.stats();
    save_truth(folder);
    write_all(after, folder + "/heap", true);
    const allocscope::snapshot grown = allocscope::difference(after, before);
    allocscope::write_json(grown, (folder + "/grown.json").c_str());
    allocscope::write_csv(grown, folder + "/grown.csv");
    allocscope::write_pprof(grown, folder + "/grown.pb.gz");
    return 0;
}
