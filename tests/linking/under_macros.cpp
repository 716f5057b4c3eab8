// The headers under the macros that other people's headers define. What they need of the system is
// included before, because such macros break that, too.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#define CATCH_CONFIG_PREFIX_ALL
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#if __has_include(<doctest/doctest.h>)
    #include <doctest/doctest.h>
#endif
#if __has_include(<benchmark/benchmark.h>)
    #include <benchmark/benchmark.h>
#endif
#if __has_include(<gtest/gtest.h>)
    #include <gtest/gtest.h>
#endif
#if __has_include(<catch2/catch.hpp>)
    #include <catch2/catch.hpp>
#endif

#include "macros_of_others.hpp"  // compile_matrix.py writes it

#include <allocscope/allocscope.hpp>
#include <allocscope/debug_forms.hpp>
#include <allocscope/define_once/malloc_family.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/integrations/baselines.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>
#if __has_include(<doctest/doctest.h>)
    #include <allocscope/integrations/doctest.hpp>
#endif
#if __has_include(<benchmark/benchmark.h>)
    #include <allocscope/integrations/google_benchmark.hpp>
#endif
#if __has_include(<gtest/gtest.h>)
    #include <allocscope/integrations/gtest.hpp>
#endif
#if __has_include(<catch2/catch.hpp>)
    #include <allocscope/integrations/catch2.hpp>
#endif

int main() {
    const allocscope::scope opened{"under macros"};
    allocscope::write_text(opened.stats(), std::cout);
    return (allocscope::check)(opened, allocscope::allocation_budget{}) ? 0 : 1;
}
