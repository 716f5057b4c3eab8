# The warnings our own programs are compiled with: allocscope_developer_flags carries them. Never
# part of what a consumer gets.
target_compile_options(allocscope_developer_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(ALLOCSCOPE_WARNINGS_AS_ERRORS)
    target_compile_options(allocscope_developer_flags INTERFACE -Werror)
endif()
