// Uses the doors through a module, and with -DINCLUDES_TOO includes one of them as well.
#if defined(INCLUDES_TOO)
    #include <allocscope/allocscope.hpp>
#endif

#include <cstdio>
#include <string>

import in_a_module;

int main() {
    const scope window{"user"};
    int* volatile kept = new int{1};
    const unsigned long long inside = allocations_of_work([] {
        int* volatile made = new int{2};
        delete made;
    });
    const snapshot rows = window.stats();
    const bool is_shown = report_of(rows).find("window \"user\"") != std::string::npos;
    std::printf("%llu inside, %llu alive, %s\n", inside,
                static_cast<unsigned long long>(rows.live_objects()), is_shown ? "shown" : "?");
    delete kept;
}
