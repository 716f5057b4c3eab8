// Looks whether all rows are at lines of main.cpp.

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>

using namespace allocscope_test;

void look(...);
int shown_verdict();

static allocscope::scope opened{"lambdas"};

void look(...) {
    for (const allocscope::snapshot::row& row : opened.stats()) {
        const char* const end = std::strrchr(row.file, '/');
        ALLOCSCOPE_EXPECT(std::strcmp(end != nullptr ? end + 1 : row.file, "main.cpp") == 0);
    }
}

int shown_verdict() {
    return verdict();
}
