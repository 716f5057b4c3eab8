# The once-per-program part as a target. Link it to the executable, not to a library:
#
#     target_link_libraries(my_program PRIVATE allocscope::operator_new)
#
# An OBJECT library: its object is always linked (a member of a static archive would be dropped when
# something else defines operator new first), and it does not travel on through other libraries, so
# that a program cannot get it twice. It is compiled only when something links it, with the flags of
# the project that uses it. This file serves the source tree and, installed, find_package.
foreach(name IN ITEMS operator_new malloc)
    set(source "${CMAKE_CURRENT_LIST_DIR}/${name}.cpp")
    if(EXISTS "${source}" AND NOT TARGET allocscope::${name})
        add_library(allocscope_${name} OBJECT EXCLUDE_FROM_ALL "${source}")
        target_link_libraries(allocscope_${name} PUBLIC allocscope::allocscope)
        # This code is not the project's: its warnings do not hold here, and places of variables
        # cost compile time.
        target_compile_options(allocscope_${name} PRIVATE
            -w $<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking>)
        add_library(allocscope::${name} ALIAS allocscope_${name})
    endif()
endforeach()

# The main() of a framework together with the once-per-program part. Both are compiled once for all
# programs of the project, so such a target is linked instead of operator_new, not beside it. The
# framework's own target is used where the project has found it; otherwise its headers must be on
# the include path, and the project links the framework itself.
foreach(pair IN ITEMS "benchmark_main benchmark::benchmark" "doctest_main doctest::doctest")
    string(REPLACE " " ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 framework)
    set(source "${CMAKE_CURRENT_LIST_DIR}/${name}.cpp")
    if(EXISTS "${source}" AND NOT TARGET allocscope::${name})
        add_library(allocscope_${name}_object OBJECT EXCLUDE_FROM_ALL "${source}")
        target_compile_options(allocscope_${name}_object PRIVATE -w)
        target_link_libraries(allocscope_${name}_object PUBLIC
            allocscope::allocscope $<TARGET_NAME_IF_EXISTS:${framework}>)
        add_library(allocscope_${name} INTERFACE)
        target_sources(allocscope_${name} INTERFACE
            $<TARGET_OBJECTS:allocscope_${name}_object> $<TARGET_OBJECTS:allocscope_operator_new>)
        target_link_libraries(allocscope_${name} INTERFACE
            allocscope::allocscope $<TARGET_NAME_IF_EXISTS:${framework}>)
        add_library(allocscope::${name} ALIAS allocscope_${name})
    endif()
    # Packages are known in the folder that has found them, and below it. A project may call
    # find_package(allocscope) in several folders, and have the framework in a later one alone.
    if(TARGET allocscope_${name}_object AND TARGET ${framework})
        cmake_policy(PUSH)
        cmake_policy(SET CMP0079 NEW)  # the name is looked up here, not where the target was made
        target_link_libraries(allocscope_${name}_object PUBLIC ${framework})
        target_link_libraries(allocscope_${name} INTERFACE ${framework})
        cmake_policy(POP)
    endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/leak_checked_test.cmake")
