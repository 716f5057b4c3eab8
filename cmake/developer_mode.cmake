# Everything that only developers of allocscope use.
#
# | option                        | default | meaning                                             |
# |-------------------------------|---------|-----------------------------------------------------|
# | ALLOCSCOPE_TEST_GROUPS        | all     | which tests: names of folders in tests/, `lint`,    |
# |                               |         | `examples`, `benchmarks`, or unit/<room>            |
# | ALLOCSCOPE_PROCESS_TESTS_ABOUT | all    | only those of tests/process that say, for `stacks`, |
# |                               |         | `// about: stacks`                                  |
# | ALLOCSCOPE_SANITIZE           | (none)  | e.g. "address,undefined" or "thread"                |
# | ALLOCSCOPE_SINGLE_INCLUDE     | OFF     | compile the tests against single_include/           |
# | ALLOCSCOPE_OMIT_FRAME_POINTER | OFF     | build our programs as distributions did for years   |
# | ALLOCSCOPE_WARNINGS_AS_ERRORS | ON      |                                                     |
# | ALLOCSCOPE_FLAVOUR            | (none)  | name of this build for `// not with:` lines         |
# | ALLOCSCOPE_UNIT_TEST_OPTIONS  | (none)  | for unit tests alone, e.g. "-O0": behind the others |
# | ALLOCSCOPE_UPPER_UNIT_TEST_OPTIONS  | (none) | for those above the malloc line alone  |
# | ALLOCSCOPE_HOOKS_OPTIONS      | (none)  | the same for the hooks that the tests link          |
# | ALLOCSCOPE_BENCHMARK_OPTIONS  | (none)  | the same for benchmarks, where only crashes count   |
# | ALLOCSCOPE_TEST_FILES_TOGETHER | 1      | how many files of unit tests are compiled at a time |
# | ALLOCSCOPE_ROOMS_TOGETHER     | OFF     | one program of all unit tests above the malloc line |
# |                               |         | and one source of the command                       |
# | ALLOCSCOPE_LINKER             | (none)  | e.g. "lld", for our own programs                    |
# | ALLOCSCOPE_SOAK               | OFF     | run every test for as long as it can be of use      |
set(ALLOCSCOPE_TEST_GROUPS "all" CACHE STRING "Which tests to build")
set(ALLOCSCOPE_PROCESS_TESTS_ABOUT "all" CACHE STRING "Which process tests to build")
set(ALLOCSCOPE_SANITIZE "" CACHE STRING "Sanitizers for our own programs")
set(ALLOCSCOPE_FLAVOUR "" CACHE STRING "Name of this build")
set(ALLOCSCOPE_UNIT_TEST_OPTIONS "" CACHE STRING "Further flags for unit tests")
set(ALLOCSCOPE_UPPER_UNIT_TEST_OPTIONS "" CACHE STRING
    "Further flags for the unit tests of rooms above the malloc line")
set(ALLOCSCOPE_HOOKS_OPTIONS "" CACHE STRING "Further flags for the hooks of the tests")
set(ALLOCSCOPE_BENCHMARK_OPTIONS "" CACHE STRING "Further flags for the benchmarks")
set(ALLOCSCOPE_TEST_FILES_TOGETHER "1" CACHE STRING "Files of unit tests compiled at a time")
set(ALLOCSCOPE_LINKER "" CACHE STRING "Linker of our own programs, where it is installed")
option(ALLOCSCOPE_SINGLE_INCLUDE "Compile the tests against single_include/" OFF)
option(ALLOCSCOPE_OMIT_FRAME_POINTER "Compile our own programs without frame pointers" OFF)
option(ALLOCSCOPE_ROOMS_TOGETHER "One program of all unit tests above the malloc line" OFF)
option(ALLOCSCOPE_SOAK "Run every test for as long as it can be of use" OFF)
option(ALLOCSCOPE_WARNINGS_AS_ERRORS "A warning fails the build" ON)

set(allocscope_scripts "${PROJECT_SOURCE_DIR}/cmake/scripts")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# What each of our own programs is compiled with.
add_library(allocscope_developer_flags INTERFACE)
if(ALLOCSCOPE_OMIT_FRAME_POINTER)
    target_compile_options(allocscope_developer_flags INTERFACE -fomit-frame-pointer)
else()
    # A target that wants the other sets this property: what a library hands on stands behind the
    # target's own options, and of two the last one holds.
    set(omits_it "$<BOOL:$<TARGET_PROPERTY:OMITS_FRAME_POINTER>>")
    target_compile_options(allocscope_developer_flags INTERFACE
        $<IF:${omits_it},-fomit-frame-pointer,-fno-omit-frame-pointer>)
endif()
# Where a debugger finds each variable at each instruction takes g++ a third of the time.
target_compile_options(allocscope_developer_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking>)
# lld takes a third of the time of Debian's own, which stays that of dev: users have it.
if(ALLOCSCOPE_LINKER)
    find_program(ALLOCSCOPE_LINKER_PROGRAM NAMES ld.${ALLOCSCOPE_LINKER})
    if(ALLOCSCOPE_LINKER_PROGRAM)
        target_link_options(allocscope_developer_flags INTERFACE -fuse-ld=${ALLOCSCOPE_LINKER})
    endif()
endif()
include(cmake/warnings.cmake)
include(cmake/sanitizers.cmake)

find_package(Python3 COMPONENTS Interpreter QUIET)
find_package(doctest CONFIG QUIET)
find_package(benchmark CONFIG QUIET)
foreach(name IN ITEMS Python3 doctest benchmark)
    if(NOT ${name}_FOUND)
        message(WARNING "${name} is not installed: what needs it is left out. On Debian: apt-get"
                        " install python3 doctest-dev libbenchmark-dev")
    endif()
endforeach()

include(cmake/test_files_together.cmake)
include(cmake/test_helpers.cmake)

# Every CI step is a target, so that CI and laptop run the same thing.
if(Python3_FOUND)
    add_custom_target(amalgamate COMMAND Python3::Interpreter "${allocscope_scripts}/amalgamate.py"
                      USES_TERMINAL VERBATIM)
    add_custom_target(lint COMMAND Python3::Interpreter "${allocscope_scripts}/check.py"
                      USES_TERMINAL VERBATIM)
    add_custom_target(format COMMAND Python3::Interpreter "${allocscope_scripts}/check.py"
                      --fix-format USES_TERMINAL VERBATIM)
endif()
