// keeps_baselines FILE TOLERANCE [NAME COUNT]...: for each name, allocates COUNT blocks of 10 bytes
// and keeps one of them; prints what the baselines say. COUNT "lost" loses an event.
#include <allocscope/allocscope.hpp>
#include <allocscope/integrations/baselines.hpp>
#include <allocscope/pools.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

char* volatile kept;

allocscope::allocation_counts counts_of(const char* wanted) {
    const allocscope::scope window{"test"};
    const int count = std::atoi(wanted);
    if (std::strcmp(wanted, "lost") == 0) {  // no record can be kept of a block at this address
        allocscope::report_allocation(reinterpret_cast<void*>(std::uintptr_t{1} << 47U), 1, "pool");
    }
    for (int i = 0; i < count; ++i) {
        kept = new char[10];
        if (i != 0) delete[] kept;
    }
    return window.counts();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    allocscope::baselines baselines{argv[1], std::atof(argv[2])};
    bool has_failed = false;
    for (int i = 3; i + 1 < argc; i += 2) {
        const allocscope::allocation_counts counts = counts_of(argv[i + 1]);
        const allocscope::scope outer{"what the check itself allocates"};
        const std::string worse = baselines.check(argv[i], counts);
        if (outer.counts().allocations != 0) std::puts("the check is charged to a window");
        std::printf("%s\n", worse.c_str());
        has_failed |= !worse.empty();
    }
    return has_failed ? 1 : 0;
}
