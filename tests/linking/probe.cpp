// The smallest program that proves the hooks are in: one file, one window, known allocations.
// What is between "seen" and the end of the line must be the same however this is built.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <cstdio>
#include <new>
#include <string>

namespace {

template <class Pointer>
Pointer opaque(Pointer pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

__attribute__((noinline)) void keep_seven(int** kept) {
    for (int i = 0; i < 7; ++i) kept[i] = opaque(new int(i));
}

}  // namespace

int main() {
    int* kept[7];
    allocscope::scope window{"probe"};
    keep_seven(kept);
    for (int i = 0; i < 1000; ++i) delete opaque(new long(i));
    {
        std::string text;
        text.reserve(500);  // allocated by code of the standard library
        opaque(text.data());
    }
    const allocscope::allocation_counts counts = window.counts();
    for (int i = 0; i < 1000; ++i) delete new long(i);  // a compiler may remove both
    const unsigned long long unseen = 1000 - (window.counts().allocations - counts.allocations);
    const allocscope::snapshot alive = window.stop();
    std::printf("seen %llu allocations, %llu frees, %llu live, %llu in rows\n",
                static_cast<unsigned long long>(counts.allocations),
                static_cast<unsigned long long>(counts.frees),
                static_cast<unsigned long long>(counts.live_objects()),
                static_cast<unsigned long long>(alive.live_objects()));
    std::printf("not recording: \"%s\"\n", alive.info().not_recording);
    std::printf("%llu pairs were removed by the compiler\n", unseen);
    for (const auto& row : alive) {
        std::printf("row %llu %s:%d:%s in %s\n", static_cast<unsigned long long>(row.objects),
                    row.file, row.line, row.type, row.function);
    }
    for (int* number : kept) delete number;
    return 0;
}
