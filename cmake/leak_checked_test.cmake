# allocscope_add_leak_checked_test(<name>
#     SOURCES <file>...
#     [FRAMEWORK doctest|benchmark|own]
#     [LIBRARIES <target>...]
#     [ARGUMENTS <argument>...]
#     [EXPECTED <pattern>...])
#
# An executable <name>, and a ctest entry of the same name that fails when something is leaked.
#
# | FRAMEWORK | main()                     | what is checked                                     |
# |-----------|----------------------------|-----------------------------------------------------|
# | (none)    | in SOURCES                 | what main() made and left alive when it returns     |
# | doctest   | allocscope::doctest_main   | every test case                                     |
# | benchmark | allocscope::benchmark_main | every benchmark with a benchmark_scope; all are run |
# |           |                            | for a short time only                               |
# | own       | in SOURCES                 | what the program checks itself, e.g. by the adapters|
# |           |                            | for GoogleTest and Catch2; it only gets the hooks   |
#
# LIBRARIES are what the test uses, without allocscope's; ARGUMENTS are the program's. EXPECTED, for
# tests without FRAMEWORK: leaks that are none, each a pattern as in allocscope::leak_options
# ("load_locale", "third_party/"). The framework has to be found before (find_package).
#
# Needs enable_testing(). Not for projects that link with -flto.
function(allocscope_add_leak_checked_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FRAMEWORK" "SOURCES;LIBRARIES;ARGUMENTS;EXPECTED")
    set(prefix "allocscope_add_leak_checked_test(${name})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${prefix}: unknown argument ${arg_UNPARSED_ARGUMENTS}; known are"
                            " SOURCES FRAMEWORK LIBRARIES ARGUMENTS EXPECTED")
    elseif(NOT arg_SOURCES)
        message(FATAL_ERROR "${prefix}: SOURCES is missing; name the .cpp files of the test")
    elseif(arg_FRAMEWORK AND NOT arg_FRAMEWORK MATCHES "^(doctest|benchmark|own)$")
        message(FATAL_ERROR "${prefix}: FRAMEWORK is ${arg_FRAMEWORK}; it must be doctest,"
                            " benchmark or own, or left out")
    elseif(arg_FRAMEWORK AND arg_EXPECTED)
        message(FATAL_ERROR "${prefix}: EXPECTED is for tests without FRAMEWORK; with one, say it"
                            " in the test (expect_leaks, may_keep)")
    endif()

    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
    if(arg_FRAMEWORK MATCHES "^(doctest|benchmark)$")
        if(NOT TARGET allocscope::${arg_FRAMEWORK}_main)
            message(FATAL_ERROR
                "${prefix}: this allocscope has no allocscope::${arg_FRAMEWORK}_main")
        endif()
        target_link_libraries(${name} PRIVATE allocscope::${arg_FRAMEWORK}_main)
    else()
        target_link_libraries(${name} PRIVATE allocscope::operator_new)
    endif()
    if(arg_FRAMEWORK STREQUAL "benchmark")
        # Long enough for a second call of each, so that caches are no leaks.
        list(PREPEND arg_ARGUMENTS "--benchmark_min_time=0.01")
    elseif(NOT arg_FRAMEWORK)
        target_link_libraries(${name} PRIVATE allocscope_leak_checked_main -Wl,--wrap=main)
    endif()

    add_test(NAME ${name} COMMAND ${name} ${arg_ARGUMENTS})
    if(arg_EXPECTED)
        list(TRANSFORM arg_EXPECTED PREPEND "leak:")
        list(JOIN arg_EXPECTED "\n" lines)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "ALLOCSCOPE_EXPECTED_LEAKS=${lines}")
    endif()
endfunction()

if(NOT TARGET allocscope_leak_checked_main)
    add_library(allocscope_leak_checked_main OBJECT EXCLUDE_FROM_ALL
        "${CMAKE_CURRENT_LIST_DIR}/leak_checked_main.cpp")
    target_link_libraries(allocscope_leak_checked_main PUBLIC allocscope::allocscope)
    target_compile_options(allocscope_leak_checked_main PRIVATE -w)
endif()
