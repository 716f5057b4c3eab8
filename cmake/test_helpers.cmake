# How a test becomes a program and a ctest entry. The rules for test authors are in HACKING.md.
#
# These lines may stand in any test source, with words from cmake/sanitizers.cmake and ctest labels:
#     // not with: asan, tsan     (in such builds the file, or the whole process test, is left out)
#     // labels: slow
#     // hooks: malloc            (malloc and its family are replaced, too)
#     // compiled: above the line (with the options of unit tests above the malloc line)
#     // compiled: alone          (never in one file with others: cmake/test_files_together.cmake)

# result = ON when one of the groups is asked for. `unit` also stands for every unit/<room>, and
# "all;-lint" for everything but the lints.
function(allocscope_wants result group)
    get_filename_component(parent "${group}" DIRECTORY)
    set(${result} OFF PARENT_SCOPE)
    foreach(wanted IN LISTS ALLOCSCOPE_TEST_GROUPS)
        if(wanted STREQUAL "all" OR wanted STREQUAL group OR wanted STREQUAL parent)
            set(${result} ON PARENT_SCOPE)
        elseif(wanted STREQUAL "-${group}" OR wanted STREQUAL "-${parent}")
            set(${result} OFF PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Drops the files that say `// not with:` one of the words of this build.
function(allocscope_drop_excluded list_name)
    set(kept)
    foreach(file IN LISTS ${list_name})
        file(STRINGS "${file}" line REGEX "^// not with: " LIMIT_COUNT 1)
        set(is_excluded OFF)
        foreach(word IN LISTS allocscope_build_words)
            if("${line}," MATCHES "[ ,]${word}[ ,.(]")
                set(is_excluded ON)
            endif()
        endforeach()
        if(is_excluded)
            message(STATUS "left out of this build: ${file}")
        else()
            list(APPEND kept "${file}")
        endif()
    endforeach()
    set(${list_name} "${kept}" PARENT_SCOPE)
endfunction()

# result = ON when a line of one of the files matches.
function(allocscope_any_line_matches result pattern)
    set(${result} OFF PARENT_SCOPE)
    foreach(file IN LISTS ARGN)
        file(STRINGS "${file}" line REGEX "${pattern}" LIMIT_COUNT 1)
        if(line)
            set(${result} ON PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Links the hooks to a test program whose sources do not bring their own: those of the operators, or
# those of malloc, too, when a source says `// hooks: malloc`. A sanitizer keeps its own malloc: it
# looks at what is done to blocks.
function(allocscope_link_hooks target)
    allocscope_any_line_matches(has_own_hooks "^ *# *include <allocscope/define_once/" ${ARGN})
    allocscope_any_line_matches(wants_malloc "^// hooks: malloc" ${ARGN})
    if(wants_malloc AND NOT ALLOCSCOPE_SANITIZE)
        target_link_libraries(${target} PRIVATE allocscope_test_malloc_hooks)
    elseif(NOT has_own_hooks)
        target_link_libraries(${target} PRIVATE allocscope_test_hooks)
    endif()
endfunction()

# How a test is optimised does not matter if it is about what lies above the malloc line.
function(allocscope_set_options target)
    allocscope_any_line_matches(is_above_the_line "^// compiled: above the line" ${ARGN})
    if(is_above_the_line)
        target_compile_options(${target} PRIVATE
            ${ALLOCSCOPE_UNIT_TEST_OPTIONS} ${ALLOCSCOPE_UPPER_UNIT_TEST_OPTIONS})
    endif()
endfunction()

# Keeps the files of which a line matches.
function(allocscope_keep_with_line list_name pattern)
    set(kept)
    foreach(file IN LISTS ${list_name})
        allocscope_any_line_matches(is_kept "${pattern}" "${file}")
        if(is_kept)
            list(APPEND kept "${file}")
        endif()
    endforeach()
    set(${list_name} "${kept}" PARENT_SCOPE)
endfunction()

# Seconds of the tests that take longest. ctest starts those first, so that no long one is left
# over at the end for one processor alone.
set(allocscope_costs
    "type_corpus/type_corpus=80" "linking/compile_matrix=65" "linking/flags_and_linkers=50"
    "got/attach_hooks=70" "debug_forms/shared_forms=29" "header_alone/g[+][+]=22"
    "header_alone/clang[+][+]=30" "linking/.*=10" "page/browser=18" "model/window_model=18"
    "benchmarks/golden_instructions=15" "lint/tidy=15" "debug_forms/packed_forms=15"
    "unit/unwind/cfi_to_rule=14" "process/refused_memory=14" "process/many_open_windows=14"
    "programs/transparency=13" "lint/compile_budget=12" "malloc_family/same_as_libc.*=12"
    "consumer/how_to_pages=25" "consumer/leak_checked_test=8" "tools/run_.*=6"
    "sampling/real_windows=10"
    "programs/hazards=10" "type_corpus/misleading=10" "examples/.*=9" "process/refused_malloc=8"
    "type_corpus/whole_programs=15"
    "adapters/doctest=8" "unit/formats/streamed_stacks=8" "consumer/.*=8" "docs/code_blocks=8"
    "benchmarks/compile_time=8" "programs/judges=8" "sampling/simulated_mixes=7"
    "adapters/catch2=7" "programs/exactness=7" "tools/killed=7" "programs/failing_calls=6")

# The properties that every ctest entry of ours has. `labels_from` is a source or empty.
function(allocscope_set_test_properties name label labels_from)
    set(labels ${label})
    if(labels_from)
        file(STRINGS "${labels_from}" line REGEX "^// labels: " LIMIT_COUNT 1)
        string(REGEX REPLACE "^// labels: *" "" more "${line}")
        string(REGEX REPLACE "[ ,]+" ";" more "${more}")
        list(APPEND labels ${more})
    endif()
    # Most take less than a second, the longest a minute; the limit is against hangs alone, on a
    # machine that is busy with ten other things.
    set(seconds 1200)
    if(ALLOCSCOPE_SANITIZE)
        set(seconds 2400)
    endif()
    set_tests_properties("${name}" PROPERTIES TIMEOUT ${seconds} LABELS "${labels}"
                         SKIP_RETURN_CODE 77)
    if(ALLOCSCOPE_SOAK)
        set_property(TEST "${name}" APPEND PROPERTY ENVIRONMENT
            "ALLOCSCOPE_TEST_SCALE=3" "ALLOCSCOPE_TEST_SOAK=1")
        set_tests_properties("${name}" PROPERTIES TIMEOUT 14400)
    endif()
    foreach(pair IN LISTS allocscope_costs)
        string(REGEX REPLACE "=.*" "" names "${pair}")
        if("${name}" MATCHES "^${names}$")
            string(REGEX REPLACE ".*=" "" cost "${pair}")
            set_tests_properties("${name}" PROPERTIES COST ${cost})
            break()
        endif()
    endforeach()
    # Tests leave objects alive on purpose and ask for impossible sizes on purpose.
    set_property(TEST "${name}" APPEND PROPERTY ENVIRONMENT
        "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1"
        "TSAN_OPTIONS=allocator_may_return_null=1"
        "UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# One executable from doctest sources, and one ctest entry for each of the files, so that each
# topic runs in its own process and a failure names its file. With the prefix "unit" they are of
# several rooms, which are part of the names.
function(allocscope_doctest_program target test_prefix)
    set(sources ${ARGN})
    allocscope_drop_excluded(sources)
    if(NOT sources OR NOT doctest_FOUND)
        return()
    endif()
    set(compiled ${sources})
    if(ALLOCSCOPE_TEST_FILES_TOGETHER GREATER 1 AND test_prefix MATCHES "^unit")
        allocscope_join_test_files(compiled ${target} ${ALLOCSCOPE_TEST_FILES_TOGETHER})
    endif()
    add_executable(${target} ${compiled})
    target_link_libraries(${target} PRIVATE allocscope_test_flags doctest::doctest)
    # A check is one call, without code for an exception inside of it: a fifth less to compile. But
    # the tests of unwind/ walk over their own frames, which would then be laid out otherwise.
    if(NOT target STREQUAL "unit_unwind")
        target_compile_definitions(${target} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
    endif()
    allocscope_any_line_matches(has_own_main "DOCTEST_CONFIG_IMPLEMENT" ${sources})
    if(NOT has_own_main)
        target_link_libraries(${target} PRIVATE allocscope_test_main)
    endif()
    allocscope_link_hooks(${target} ${sources})
    if(TARGET allocscope_test_single)
        target_precompile_headers(${target} REUSE_FROM allocscope_test_single)
    endif()
    foreach(source IN LISTS sources)
        get_filename_component(stem "${source}" NAME_WE)
        allocscope_any_line_matches(has_cases "TEST_CASE" "${source}")
        if(has_cases)
            string(REGEX REPLACE "_test$" "" topic "${stem}")
            set(name "${test_prefix}/${topic}")
            if(test_prefix STREQUAL "unit")
                get_filename_component(folder "${source}" DIRECTORY)
                get_filename_component(room "${folder}" NAME)
                set(name "unit/${room}/${topic}")
            endif()
            add_test(NAME "${name}" COMMAND ${target} "--source-file=*/${stem}.cpp")
            allocscope_set_test_properties("${name}" fast "${source}")
            # A filter that matches nothing must not look like success.
            set_property(TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION "test cases: +0 ")
        endif()
    endforeach()
endfunction()

# One executable with a main() of its own; exit code 0 is a pass, 77 is "cannot run here". Further
# arguments are the program's.
function(allocscope_plain_program target test_name label source)
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE allocscope_test_flags)
    allocscope_set_options(${target} "${source}")
    allocscope_link_hooks(${target} "${source}")
    add_test(NAME "${test_name}" COMMAND ${target} ${ARGN})
    allocscope_set_test_properties("${test_name}" ${label} "${source}")
endfunction()

# A process test from the current folder (or FOLDER): main.cpp and its neighbours are one
# executable, each plugin_*.cpp is a module beside it. For special flags a folder has a
# CMakeLists.txt with this one call. NO_HOOKS: operator new stays the library's.
function(allocscope_process_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "NO_HOOKS" "FOLDER"
                          "COMPILE_OPTIONS;LINK_OPTIONS;LINK_LIBRARIES;ARGUMENTS;LABELS")
    if(NOT arg_FOLDER)
        set(arg_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    get_filename_component(behaviour "${arg_FOLDER}" NAME)
    file(GLOB sources CONFIGURE_DEPENDS "${arg_FOLDER}/*.cpp")
    file(GLOB plugins CONFIGURE_DEPENDS "${arg_FOLDER}/plugin_*.cpp")
    if(plugins)
        list(REMOVE_ITEM sources ${plugins})
    endif()
    set(main_source "${arg_FOLDER}/main.cpp")
    set(runs_here "${main_source}")
    if(EXISTS "${main_source}")
        allocscope_drop_excluded(runs_here)
    endif()
    if(NOT EXISTS "${main_source}" OR NOT runs_here)
        return()
    endif()
    # ThreadSanitizer sees nothing where there is one thread.
    if(ALLOCSCOPE_SANITIZE MATCHES "thread")
        allocscope_any_line_matches(has_threads "thread" ${sources} ${plugins})
        if(NOT has_threads)
            message(STATUS "left out of this build: ${main_source}")
            return()
        endif()
    endif()

    set(target process_${behaviour})
    set(folder "${CMAKE_BINARY_DIR}/tests/process/${behaviour}")
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE allocscope_test_flags ${arg_LINK_LIBRARIES})
    target_compile_options(${target} PRIVATE ${arg_COMPILE_OPTIONS})
    allocscope_set_options(${target} ${sources})
    target_compile_definitions(${target} PRIVATE "ALLOCSCOPE_PLUGIN_FOLDER=\"${folder}\"")
    if(arg_LINK_OPTIONS)
        target_link_options(${target} PRIVATE ${arg_LINK_OPTIONS})
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${folder}")
    if(NOT arg_NO_HOOKS)
        allocscope_link_hooks(${target} ${sources})
    endif()
    foreach(plugin IN LISTS plugins)
        get_filename_component(stem "${plugin}" NAME_WE)
        add_library(${target}_${stem} MODULE "${plugin}")
        set_target_properties(${target}_${stem} PROPERTIES PREFIX "" OUTPUT_NAME "${stem}"
            LIBRARY_OUTPUT_DIRECTORY "${folder}")
        target_link_libraries(${target}_${stem} PRIVATE allocscope_test_flags)
        target_compile_options(${target}_${stem} PRIVATE ${arg_COMPILE_OPTIONS})
        add_dependencies(${target} ${target}_${stem})
    endforeach()
    add_test(NAME "process/${behaviour}" COMMAND ${target} ${arg_ARGUMENTS}
             WORKING_DIRECTORY "${folder}")
    allocscope_set_test_properties("process/${behaviour}" process "${main_source}")
    if(arg_LABELS)
        set_property(TEST "process/${behaviour}" APPEND PROPERTY LABELS ${arg_LABELS})
    endif()
endfunction()

# A python script as a ctest entry.
function(allocscope_python_test name label script)
    if(Python3_FOUND)
        add_test(NAME "${name}" COMMAND Python3::Interpreter "${script}" ${ARGN}
                 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        allocscope_set_test_properties("${name}" ${label} "")
        set_property(TEST "${name}" APPEND PROPERTY ENVIRONMENT
            "ALLOCSCOPE_CXX=${CMAKE_CXX_COMPILER}" "ALLOCSCOPE_BUILD=${CMAKE_BINARY_DIR}"
            "PYTHONDONTWRITEBYTECODE=1")
    endif()
endfunction()

# A folder of tests without a rule of its own. Files with a main() of their own are a program each,
# the other .cpp files together are one doctest program, and *_test.py are scripts.
function(allocscope_test_folder folder)
    get_filename_component(group "${folder}" NAME)
    set(label fast)
    if(group STREQUAL "fuzz")
        set(label fuzz)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    allocscope_drop_excluded(sources)
    set(together)
    foreach(source IN LISTS sources)
        get_filename_component(stem "${source}" NAME_WE)
        string(REGEX REPLACE "_test$" "" topic "${stem}")
        allocscope_any_line_matches(has_cases "TEST_CASE" "${source}")
        allocscope_any_line_matches(has_main "^int main *\\(" "${source}")
        allocscope_any_line_matches(makes_main "DOCTEST_CONFIG_IMPLEMENT" "${source}")
        if(has_cases AND (has_main OR makes_main))
            allocscope_doctest_program(${group}_${topic} ${group} "${source}")
        elseif(has_main)
            allocscope_plain_program(${group}_${topic} "${group}/${topic}" ${label} "${source}")
        else()
            list(APPEND together "${source}")
        endif()
    endforeach()
    allocscope_doctest_program(${group}_tests ${group} ${together})
    file(GLOB scripts CONFIGURE_DEPENDS "${folder}/*_test.py")
    foreach(script IN LISTS scripts)
        get_filename_component(stem "${script}" NAME_WE)
        string(REGEX REPLACE "_test$" "" topic "${stem}")
        allocscope_python_test("${group}/${topic}" ${label} "${script}")
    endforeach()
endfunction()

# examples/ and benchmarks/: each .cpp is a complete program, run as a test (a benchmark with
# --smoke, for crashes only). A folder with a CMakeLists.txt of its own rules itself.
function(allocscope_add_programs group)
    allocscope_wants(is_wanted ${group})
    if(NOT is_wanted)
        return()
    endif()
    set(folder "${PROJECT_SOURCE_DIR}/${group}")
    if(EXISTS "${folder}/CMakeLists.txt")
        add_subdirectory("${folder}")
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    allocscope_drop_excluded(sources)
    foreach(source IN LISTS sources)
        get_filename_component(stem "${source}" NAME_WE)
        allocscope_any_line_matches(needs_benchmark "include <benchmark/" "${source}")
        allocscope_any_line_matches(needs_doctest "include .*doctest" "${source}")
        if(needs_benchmark AND NOT benchmark_FOUND OR needs_doctest AND NOT doctest_FOUND)
            continue()
        endif()
        set(arguments)
        if(group STREQUAL "benchmarks" AND needs_benchmark)
            set(arguments --benchmark_min_time=0.001)
        elseif(group STREQUAL "benchmarks")
            set(arguments --smoke)
        endif()
        allocscope_plain_program(${group}_${stem} "${group}/${stem}" process "${source}"
                                 ${arguments})
        if(needs_benchmark)
            target_link_libraries(${group}_${stem} PRIVATE benchmark::benchmark)
        endif()
        if(needs_doctest)
            target_link_libraries(${group}_${stem} PRIVATE doctest::doctest)
        endif()
    endforeach()
endfunction()
