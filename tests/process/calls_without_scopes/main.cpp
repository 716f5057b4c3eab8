// Danger: g++ -std=c++20 -O2 does not describe the library's functions that it inlined around some
// calls of operator new. Their rows would have the line of another statement, whose code lies in
// front of the call, and no type.
// not with: tsan (it sees nothing where there is one thread)
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace allocscope_test;

namespace {

struct layer {
    std::vector<double> last, bias{1, 2};
    __attribute__((noinline)) std::vector<double> forward(const std::vector<double>& input);
};

constexpr int line_of_last = __LINE__ + 2;
std::vector<double> layer::forward(const std::vector<double>& input) {
    last = input;
    std::vector<double> result(bias);
    for (double& each : result) each += input[0];
    return result;
}

// It is inlined; the row is at the line in it.
struct tensor {
    std::vector<int> shape;
    tensor clone() const {
        tensor copy;
        copy.shape = shape;
        return copy;
    }
};
constexpr int line_of_shape = __LINE__ - 4;

layer* first;
tensor image, twin;
std::vector<double> outcome;
std::vector<const int*> numbers;
std::vector<std::function<int(int)>> steps;
std::vector<unsigned char> key, copy;
std::vector<const char*> word, words;

struct point {
    int x = 1, y = 2, z = 3;
};
std::unordered_map<std::string, point> points;

std::deque<point>*copied, counted;
std::vector<point> reserved, reserved_again;

// A copy of one of these allocates characters, while new elements are made.
struct label {
    std::string name;
    label() = default;
    label(const label& other) : name(other.name) {}
};
std::vector<label> labels;

// What the library calls may be inlined in it, and so is the only frame of the user.
struct tap {
    float a, b;
};
constexpr int line_of_taps = __LINE__ + 3;
struct filter {
    std::vector<tap> taps;
    explicit filter(int n) : taps(static_cast<std::size_t>(n)) {}
};
std::unique_ptr<filter> made;
const std::function<void(int)> make_filter = [](int n) { made = std::make_unique<filter>(n); };
constexpr int line_of_filter = __LINE__ - 1;
struct mark {
    int number;
};
std::vector<mark> made_by_thread;
std::vector<tap> reserved_by_thread;
__attribute__((noinline)) void keep(std::vector<tap>& taps, std::vector<mark>& marks) {
    reserved_by_thread.swap(taps);
    made_by_thread.swap(marks);
}
constexpr int line_of_thread = __LINE__ + 5;
void run_thread() {
    std::thread other([] {
        std::vector<tap> taps;
        taps.reserve(40);
        std::vector<mark> marks(3);
        keep(taps, marks);
    });
    other.join();
}

int twice(int number) {
    return 2 * number;
}

constexpr int line_of_numbers = __LINE__ + 4;
__attribute__((noinline)) void run(const int* one, const int* two) {
    first = new layer;
    outcome = first->forward({1, 2, 3});
    numbers.assign({one, two});
    steps = {twice, [k = 3L, m = 4L, n = 5L](int v) { return static_cast<int>(v * k + m - n); }};
    key = {1, 2, 3};
    copy.assign(key.begin(), key.end());
    image.shape = {2, 3};
    twin = image.clone();
    word = {"operator="};  // twice, so that it is not inlined
    words = {"is", "called"};
    points.insert_or_assign("last", point());
    points.emplace("first", point());
    counted = std::deque<point>(100);
    copied = new std::deque<point>(counted);
    reserved.reserve(5);
    reserved_again.reserve(6U + static_cast<std::size_t>(*one));
    labels.reserve(7U + static_cast<std::size_t>(*one));
}

std::size_t objects_at(const allocscope::snapshot& seen, int line, std::string_view type) {
    std::size_t objects = 0;
    for (const allocscope::snapshot::row& row : seen) {
        if (row.line == line && row.type == type) objects += row.objects;
    }
    return objects;
}

}  // namespace

int main() {
    watchdog();
    const int one = 1;
    const int two = 2;
    labels.resize(1);
    labels[0].name = "a name that is longer than sixteen";
    const allocscope::scope window{"calls"};
    run(&one, &two);
    make_filter(2 + one);
    run_thread();
    const allocscope::snapshot seen = window.stats();
    constexpr std::string_view node = "std::pair<const std::string, point>";
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_last, "double"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_last + 1, "double"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers, "const int*"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 1, "std::function<int(int)>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 1, "run::{lambda}"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 2, "unsigned char"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 3, "unsigned char"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 4, "int"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_shape, "int"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 6, "const char*"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 7, "const char*"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 8, node), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 9, node), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 10, "point"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 10, "point*"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 11, "point"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 12, "point"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 13, "point"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 14, "label"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_numbers + 14, "char"), 0);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_taps, "tap"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, line_of_filter, "filter"), 1);
    const std::size_t by_thread =
        objects_at(seen, line_of_thread, "mark") + objects_at(seen, line_of_thread, "?");
    ALLOCSCOPE_EXPECT_EQUAL(by_thread, 1);
    delete copied;
    delete first;
    return verdict();
}
