// Part of the programs of allocscope_add_leak_checked_test(), whose linker calls this instead of
// main(): fails when main() returns and objects that were made in it are still alive. A program
// that ends in another way (exit(), a signal) is not checked.
#include <allocscope/allocscope.hpp>
#include <allocscope/measure/leak_check.hpp>

#include <cstdio>
#include <cstdlib>

extern "C" {
int __real_main(int argc, char** argv, char** environment);  // NOLINT: the linker's names
int __wrap_main(int argc, char** argv, char** environment);  // NOLINT
}

int __wrap_main(int argc, char** argv, char** environment) {  // NOLINT
    allocscope::leak_options wanted;
    if (const char* expected = std::getenv("ALLOCSCOPE_EXPECTED_LEAKS")) {
        wanted.expected = expected;
    }
    allocscope::leak_check leaks{"main()", wanted};
    const int exit_code = __real_main(argc, argv, environment);
    const allocscope::check_result result = leaks.finish();
    if (result) return exit_code;
    std::fflush(nullptr);
    std::fprintf(stderr, "allocscope: %s\n", result.message());
    return exit_code != 0 ? exit_code : 1;
}
