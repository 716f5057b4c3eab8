# Compiles the files of a test program several at a time, as what they include takes most of their
# time. Each stands in a namespace of its own, so that it may name its helpers as it likes; what it
# includes stands before all of them.
#
# A missing include of a test is not seen so: the preset `dev` and tests/mutants/run.py compile each
# file by itself. One of a header is seen by header_alone.

# result = the headers that a source includes, as they are found from anywhere.
function(allocscope_headers_of result source)
    get_filename_component(folder "${source}" DIRECTORY)
    file(READ "${source}" text)
    # Without the comments behind them, which may have what divides a list.
    string(REGEX MATCHALL "\n *# *include *[<\"][^>\"\n]*[>\"]" lines "\n${text}")
    set(headers)
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^\n *# *include *" "" header "${line}")
        string(REGEX REPLACE "^\"(.*)\"$" "${folder}/\\1" beside "${header}")
        if(EXISTS "${beside}")
            set(header "\"${beside}\"")
        endif()
        list(APPEND headers "${header}")
    endforeach()
    set(${result} "${headers}" PARENT_SCOPE)
endfunction()

# list_name: the sources; becomes what to compile instead, each with up to `count` of them. One that
# says `// compiled: alone` stays so, and so does one that includes a source, which has no guard.
function(allocscope_join_test_files list_name target count)
    set(compiled "${${list_name}}")
    set(sources)
    foreach(source IN LISTS compiled)
        allocscope_headers_of(headers "${source}")
        allocscope_any_line_matches(is_alone "^// compiled: alone" "${source}")
        if(NOT is_alone AND NOT headers MATCHES "[.]cpp\"")
            list(APPEND sources "${source}")
        endif()
    endforeach()
    if(sources)
        list(REMOVE_ITEM compiled ${sources})
    endif()
    set(number 0)
    while(sources)
        list(SUBLIST sources 0 ${count} some)
        list(REMOVE_ITEM sources ${some})
        set(headers)
        set(bodies)
        foreach(source IN LISTS some)
            # An include that is added there must come to stand before the namespace.
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
            allocscope_headers_of(of_source "${source}")
            list(APPEND headers ${of_source})
            get_filename_component(stem "${source}" NAME_WE)
            string(APPEND bodies "namespace in_${stem} {\n#include \"${source}\"\n}\n")
        endforeach()
        list(REMOVE_DUPLICATES headers)
        list(TRANSFORM headers REPLACE "(.+)" "#if __has_include(\\1)\n#include \\1\n#endif\n")
        list(JOIN headers "" headers)
        set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp")
        file(CONFIGURE OUTPUT "${file}" CONTENT "${headers}${bodies}" @ONLY)
        list(APPEND compiled "${file}")
        math(EXPR number "${number} + 1")
    endwhile()
    set(${list_name} "${compiled}" PARENT_SCOPE)
endfunction()
