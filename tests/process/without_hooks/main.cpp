// Danger: a program that forgot to define the operators shows an empty report, which reads like "no
// leaks". Every output must say that nothing was recorded, and how to change that.

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/time_series.hpp>

#include <cstring>
#include <sstream>

using namespace allocscope_test;

namespace {

void expect_statement(const allocscope::snapshot& seen) {
    ALLOCSCOPE_EXPECT(seen.empty());
    ALLOCSCOPE_EXPECT(std::strstr(seen.info().not_recording, "operator_new_delete.hpp") != nullptr);
    std::ostringstream text;
    text << seen;
    ALLOCSCOPE_EXPECT(text.str().find("operator_new_delete.hpp") != std::string::npos);
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope window{"nobody records"};
    void* object = allocate(100);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 0);
    expect_statement(window.stats());
    const allocscope::snapshot early = window.stats();
    expect_statement(window.stats_and_forget());
    expect_statement(window.stop());
    expect_statement(window.stats());
    expect_statement(window.stats().difference_from(early));

    allocscope::timed_scope series{"nobody records"};
    series.mark("a mark");
    expect_statement(series.stats());
    ALLOCSCOPE_EXPECT_EQUAL(series.stop().info().moment_count, 0);

    allocscope::start();
    expect_statement(allocscope::stats());
    expect_statement(allocscope::stats_and_forget());
    expect_statement(allocscope::stop());
    expect_statement(allocscope::track([] { release(allocate(1)); }));
    {
        const allocscope::pause_recording pause;
        release(object);
    }
    return verdict();
}
