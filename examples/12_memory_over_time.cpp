// Where is the memory of the process, and when did it come? A time series with marks, and the
// resident memory, explained.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/12_memory_over_time.cpp -o over_time && ./over_time
//
// A cache of documents is filled, emptied by half, and looked through by an index that is mapped.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

namespace archive {

struct document {
    std::string title;
    std::string text;
};

struct cache {
    std::vector<std::unique_ptr<document>> documents;
};

void fill(cache& all) {
    for (int i = 0; i < 20000; ++i) {
        all.documents.push_back(std::make_unique<document>(
            document{"document number " + std::to_string(i), std::string(300, 'x')}));
        if (i % 2000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

// Every second one: what they leave behind lies between those that stay.
void evict(cache& all) {
    for (std::size_t i = 0; i < all.documents.size(); i += 2) all.documents[i].reset();
}

void* map_index(std::size_t bytes) {
    void* const index =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (index != MAP_FAILED) std::memset(index, 1, bytes);
    return index;
}

}  // namespace archive

int main() {
    allocscope::timed_scope window{"cache", std::chrono::milliseconds{2}};
    archive::cache all;
    {
        const allocscope::marked_scope filling{window, "fill"};  // two marks
        archive::fill(all);
    }
    archive::evict(all);
    window.mark("half is evicted");
    archive::map_index(std::size_t{8} << 20U);
    const allocscope::snapshot now = allocscope::with_memory(window.stats());
    allocscope::write_text(now, std::cout);
}
