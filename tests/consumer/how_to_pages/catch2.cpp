#define CATCH_CONFIG_RUNNER
#include <allocscope/integrations/catch2.hpp>

ALLOCSCOPE_CATCH2_MAIN()

TEST_CASE("leaks") {
    CHECK(*new int(1) == 1);
}
