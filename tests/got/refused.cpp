// Where attach_hooks() cannot help it says so and changes nothing.
//
//     refused WORDS-OF-THE-REFUSAL ALLOCATIONS [PLUGIN]     without a plugin the program attaches

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) const char* attach_here() {
    const allocscope::attached_hooks done = allocscope::attach_hooks();
    expect_equal(done.is_attached, 0, "attached");
    expect_equal(done.words, 0, "words");
    expect_equal(allocscope::detach_hooks(), 0, "detached");
    return done.refusal;
}

#ifndef IS_PLUGIN
int main(int count, char** arguments) {
    const char* refusal = "";
    if (count > 3) {
        void* const plugin = ::dlopen(arguments[3], RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) std::printf("%s\n", ::dlerror());
        refusal = reinterpret_cast<const char* (*)()>(::dlsym(plugin, "attach_here"))();
    } else {
        refusal = attach_here();
    }
    if (std::strstr(refusal, arguments[1]) == nullptr) {
        std::printf("the refusal is \"%s\"\n", refusal);
        ++failures;
    }
    const auto allocations = static_cast<std::uint64_t>(std::atoi(arguments[2]));
    expect_counts(allocations, allocations == 0 ? 0 : known_bytes, "a library", known_work);
    return failures == 0 ? 0 : 1;
}
#endif
