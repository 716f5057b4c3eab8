# ALLOCSCOPE_SANITIZE: as the compiler takes it, "address,undefined" or "thread". With g++ only:
# clang links a static run-time library that replaces operator new itself.
if(ALLOCSCOPE_SANITIZE)
    # A sanitizer report must fail the test, and a test that leaks on purpose must not.
    target_compile_options(allocscope_developer_flags INTERFACE
        -fsanitize=${ALLOCSCOPE_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(allocscope_developer_flags INTERFACE -fsanitize=${ALLOCSCOPE_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # What a sanitizer inserts hides initialisations from g++ 12: it warns of <regex>, as others
        # have found (GCC bug 105562). The other flavours look for what is really uninitialized.
        target_compile_options(allocscope_developer_flags INTERFACE -Wno-maybe-uninitialized)
    endif()
    if(ALLOCSCOPE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # g++ warns that ThreadSanitizer does not understand fences. No data is handed over by a
        # fence alone, so it loses nothing by that.
        target_compile_options(allocscope_developer_flags INTERFACE -Wno-tsan)
    endif()
endif()
# For the `// not with:` line of a test: the words that describe this build.
set(allocscope_build_words "${ALLOCSCOPE_FLAVOUR}")
if(ALLOCSCOPE_SANITIZE MATCHES "address")
    list(APPEND allocscope_build_words asan)
endif()
if(ALLOCSCOPE_SANITIZE MATCHES "thread")
    list(APPEND allocscope_build_words tsan)
endif()
