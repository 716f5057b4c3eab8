// Danger: without exceptions a wrong option is taken silently. It must print what is wrong and
// abort.

#define ALLOCSCOPE_CONFIG_NO_EXCEPTIONS 1

#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <csignal>

using namespace allocscope_test;

namespace {

void expect_abort(const allocscope::options& wrong, const char* option, const char* value) {
    const child_end by_scope = in_child([&wrong] {
        allocscope::scope window("wrong", wrong);
        return 0;
    });
    const child_end by_start = in_child([&wrong] {
        allocscope::start(wrong);
        return 0;
    });
    for (const child_end* ended : {&by_scope, &by_start}) {
        ALLOCSCOPE_EXPECT(ended->was_killed_by(SIGABRT));
        ALLOCSCOPE_EXPECT(ended->text.find(option) != std::string::npos);
        ALLOCSCOPE_EXPECT(ended->text.find(value) != std::string::npos);
    }
}

}  // namespace

int main() {
    watchdog();
    allocscope::options wrong;
    wrong.stack_frames = 0;
    expect_abort(wrong, "stack_frames", "0");
    wrong.stack_frames = 129;
    expect_abort(wrong, "stack_frames", "129");
    wrong = {};
    wrong.sample_bytes = 0;
    expect_abort(wrong, "sample_bytes", "0");
    return verdict();
}
