# The warnings our own programs are compiled with: allocscope_developer_flags carries them. Never
# part of what a consumer gets.
add_library(allocscope_developer_warnings INTERFACE)
target_compile_options(allocscope_developer_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(ALLOCSCOPE_WARNINGS_AS_ERRORS)
    target_compile_options(allocscope_developer_warnings INTERFACE -Werror)
endif()
target_link_libraries(allocscope_developer_flags INTERFACE allocscope_developer_warnings)
