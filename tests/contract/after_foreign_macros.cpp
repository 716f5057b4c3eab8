// All doors compile after headers that define common words as macros.
// not with: asan, tsan
// A sanitizer has a malloc of its own.
// compiled: above the line
#include "foreign_macros.h"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>

#include <allocscope/define_once/malloc_family.hpp>

int main() {
    const allocscope::scope window{"after foreign macros"};
    int* volatile kept = new int;
    const bool is_counted = window.counts().live_objects() == 1;
    delete kept;
    return is_counted ? 0 : 1;
}
