// catch2_versions.hpp - includes the Catch2 that is installed, version 2 or 3.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the other catch2_ headers
// Threads:  any
// Memory:   none
//
// If Catch2 was already included (catch.hpp from elsewhere, catch_amalgamated.hpp), nothing more is
// included. Otherwise version 3 is tried first.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP

#ifndef CATCH_VERSION_MAJOR
    #if __has_include(<catch2/catch_test_macros.hpp>)
        #include <catch2/catch_session.hpp>                       // Session
        #include <catch2/catch_test_case_info.hpp>                // TestCaseHandle
        #include <catch2/catch_test_macros.hpp>                   // TEST_CASE
        #include <catch2/catch_version_macros.hpp>                // CATCH_VERSION_MAJOR
        #include <catch2/interfaces/catch_interfaces_config.hpp>  // IConfig
        #if __has_include(<catch2/internal/catch_test_failure_exception.hpp>)
            #include <catch2/internal/catch_test_failure_exception.hpp>  // TestFailureException
        #endif
        #include <catch2/interfaces/catch_interfaces_registry_hub.hpp>  // getRegistryHub
        #include <catch2/interfaces/catch_interfaces_test_invoker.hpp>  // ITestInvoker
        #include <catch2/interfaces/catch_interfaces_testcase.hpp>      // ITestCaseRegistry
        #include <catch2/internal/catch_stdstreams.hpp>                 // cout
        #include <catch2/reporters/catch_reporter_event_listener.hpp>   // EventListenerBase
        #include <catch2/reporters/catch_reporter_registrars.hpp>       // ListenerRegistrar
    #elif __has_include(<catch2/catch.hpp>)
        #include <catch2/catch.hpp>  // all of version 2
    #elif __has_include(<catch.hpp>)
        #include <catch.hpp>  // all of version 2
    #elif __has_include(<catch_amalgamated.hpp>)
        #include <catch_amalgamated.hpp>  // all of version 3
    #else
        #error "allocscope: Catch2 is not found: add its include folder, or include it first"
    #endif
#endif

#if CATCH_VERSION_MAJOR < 2 || (CATCH_VERSION_MAJOR == 2 && CATCH_VERSION_MINOR < 13)
    #error "allocscope: this adapter needs Catch2 2.13 or newer"
#endif

// In version 2 everything but the assertions exists only in the file that compiles the runner.
#if CATCH_VERSION_MAJOR > 2 || defined(CATCH_CONFIG_EXTERNAL_INTERFACES)
    #define ALLOCSCOPE_CATCH2_HAS_LISTENERS 1
#else
    #define ALLOCSCOPE_CATCH2_HAS_LISTENERS 0
#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP
