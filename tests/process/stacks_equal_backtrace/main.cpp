// Danger: a stack is wrong. Frames are missing, were never called, or end where an unwinder goes
// on.
// not with: asan, tsan (their interceptors stand in the stacks)
//
// Allocates from deep inside the standard library (sorting with a comparator that allocates,
// std::function, iostreams, regular expressions, exceptions) and compares each recorded stack with
// that of backtrace(3), frame by frame.
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <execinfo.h>

using namespace allocscope_test;

namespace {

std::uint64_t frames_compared = 0;
std::uint64_t frames_different = 0;

// Records one allocation made here and compares the two stacks above this function.
__attribute__((noinline)) void probe() {
    allocscope::options deep;
    deep.stack_frames = 100;
    deep.from = allocscope::threads::current;
    allocscope::scope window{"probe", deep};
    void* block = ::operator new(7);
    const allocscope::snapshot report = window.stop();
    ::operator delete(block);
    void* expected[100];
    int count = ::backtrace(expected, 100);
    std::vector<std::uint64_t> recorded;
    for (std::size_t i = 0; i < report[0].frame_count; ++i) {
        const allocscope::snapshot::frame& frame = report[0].frames[i];
        if (!frame.is_inlined) recorded.push_back(frame.address + 1);
    }
    // The innermost frame is this function, at another line.
    for (int i = 1; i < count; ++i) {
        ++frames_compared;
        const auto at = static_cast<std::size_t>(i);
        const auto address = reinterpret_cast<std::uint64_t>(expected[i]);
        if (at < recorded.size() && recorded[at] == address) continue;
        if (++frames_different < 10) std::printf("frame %d of %d differs\n", i, count);
    }
    if (recorded.size() > static_cast<std::size_t>(count)) ++frames_different;
}

int recurse(int depth) {
    if (depth == 0) {
        probe();
        return 0;
    }
    return recurse(depth - 1) + 1;
}

}  // namespace

int main() {
    watchdog();
    probe();
    for (int depth = 0; depth < 60; ++depth) recurse(depth);
    std::vector<int> numbers;
    for (int i = 0; i < 60; ++i) numbers.push_back(i * 37 % 61);
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
        if ((a + b) % 9 == 0) probe();
        return a < b;
    });
    std::stable_sort(numbers.begin(), numbers.end(), [](int a, int b) {
        if ((a + b) % 9 == 0) probe();
        return a > b;
    });
    const std::function<void(int)> nested = [&nested](int left) {
        if (left == 0) return probe();
        nested(left - 1);
    };
    nested(20);
    struct noisy : std::stringbuf {
        int overflow(int c) override {
            probe();
            return std::stringbuf::overflow(c);
        }
    } buffer;
    std::ostream stream{&buffer};
    stream << "a long line that does not fit" << 12345 << 6.75 << std::string(50, 'x');
    struct allocating {
        bool operator()(const std::string& a, const std::string& b) const {
            probe();
            return a < b;
        }
    };
    std::map<std::string, int, allocating> ordered;
    for (int i = 0; i < 20; ++i) ordered[std::to_string(i * 7 % 20)] = i;
    try {
        struct thrower {
            ~thrower() { probe(); }  // while an exception is on its way
        };
        const thrower local;
        throw 1;
    } catch (int) {
        probe();
    }
    const std::string text = "key = value; other = thing";
    const std::regex pattern{"([a-z]+) = ([a-z]+)"};
    for (std::sregex_iterator at{text.begin(), text.end(), pattern}, end; at != end; ++at) probe();
    std::printf("%llu frames compared, %llu different\n",
                static_cast<unsigned long long>(frames_compared),
                static_cast<unsigned long long>(frames_different));
    ALLOCSCOPE_EXPECT(frames_compared > 1000);
    ALLOCSCOPE_EXPECT_EQUAL(frames_different, std::uint64_t{0});
    return verdict();
}
