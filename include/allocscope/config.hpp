// config.hpp - the few things decided at compile time.
//
// Room:     root (floor 0), malloc-safe
// Called:   by the preprocessor only
// Threads:  any
// Memory:   none
//
// Everything else is a run-time option (`allocscope::options`). No knob may change the layout of a
// structure, because translation units compiled with different knobs must agree on every byte.
//
//   ALLOCSCOPE_CONFIG_NO_EXCEPTIONS   1: bad options print a message and abort instead of throwing.
//                                     Default: follows the compiler (-fno-exceptions). No cost.
//   ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
//                                     1: begin_recording() is called before the first event of the
//                                     process (state/process_state.hpp). The preload library sets
//                                     it. Default: 0. No cost.

#ifndef ALLOCSCOPE_CONFIG_HPP
#define ALLOCSCOPE_CONFIG_HPP

// This check is here and not in a door, because it must come before the first line that older
// compilers reject.
#if __cplusplus < 201703L
    #error "allocscope needs C++17 or newer: compile with -std=c++17"
#endif

#ifndef ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #if defined(__cpp_exceptions)
        #define ALLOCSCOPE_CONFIG_NO_EXCEPTIONS 0
    #else
        #define ALLOCSCOPE_CONFIG_NO_EXCEPTIONS 1
    #endif
#endif

#ifndef ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
    #define ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT 0
#endif

// Marks functions whose body depends on the knob above. Translation units compiled with and without
// exceptions then each keep their own version. Without the mark the linker would choose one version
// for both.
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #define ALLOCSCOPE_EXCEPTIONS_TAG __attribute__((__abi_tag__("no_exceptions")))
#else
    #define ALLOCSCOPE_EXCEPTIONS_TAG
#endif

// The versioned namespace keeps the names apart when one program contains two versions of the
// headers.
#define ALLOCSCOPE_NAMESPACE_BEGIN \
    namespace allocscope {         \
    inline namespace v7 {
#define ALLOCSCOPE_NAMESPACE_END \
    }                            \
    }

#endif  // ALLOCSCOPE_CONFIG_HPP
