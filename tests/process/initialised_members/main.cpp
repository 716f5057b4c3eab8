// Danger: g++ gives what the initialiser of a member allocates no line of its own. Its row is where
// the object is made, or at the constructor, and nobody sees which member it is.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace allocscope_test;

namespace shop {

constexpr int line_of_plain = __LINE__ + 2;
struct plain {
    std::vector<int> values = {1, 2, 3};
    std::unique_ptr<long[]> raw = std::make_unique<long[]>(7);
    std::vector<std::string> names;
    int count = 3;
};

constexpr int line_of_stock = __LINE__ + 2;
struct stock {
    std::set<short> numbers{3, 4};
    std::string name{"a name that is long enough"};
    int count;
    stock() : count(0) {}
    explicit stock(int several) : name(40, 'x'), count(several) {}
    explicit stock(char) : numbers{{1, 2}}, count(1) {
        // it names the first member
    }
};

// It is not certain which of them it is.
[[maybe_unused]] constexpr int line_of_two = __LINE__ + 2;
struct two {
    std::vector<int> first{1};
    std::vector<long> second{2};
    two() {}
};

// The default constructor allocates, too.
[[maybe_unused]] constexpr int line_of_queues = __LINE__ + 2;
struct queues {
    std::deque<int> first;
    std::deque<int> second{2};
    queues() {}
};

constexpr int line_of_wide = __LINE__ + 2;
struct wide {
    std::shared_ptr<std::pair<const std::string, unsigned long>> last_known =
        std::make_shared<std::pair<const std::string, unsigned long>>();
    wide() {}
};

constexpr int line_of_pool = __LINE__ + 3;
template <class T>
struct pool {
    std::vector<T> items = std::vector<T>(9);
    pool() = default;
};

// A default argument is no initialiser of a member.
struct theme {
    long colours[11];
    theme() { colours[0] = 1; }
};
struct shown {
    theme* look;
    explicit shown(theme* t = new theme) : look(t) {}
};
struct panel : shown {
    int depth = int(sizeof(long));
    theme* other() { return new theme; }
};
#define ALLOCSCOPE_TEST_TWICE(MEMBER) MEMBER(first) MEMBER(second)
#define ALLOCSCOPE_TEST_THEME(name) theme* name = new theme;
constexpr int line_of_listed = __LINE__ + 1;
struct listed {
    ALLOCSCOPE_TEST_TWICE(ALLOCSCOPE_TEST_THEME)
};
[[maybe_unused]] constexpr int line_of_door = __LINE__ + 2;
struct door : shown {
    theme* inside = new theme;
};

}  // namespace shop

namespace {

std::uint64_t objects_at(const allocscope::snapshot& alive, int line, const char* type = "") {
    std::uint64_t objects = 0;
    for (const allocscope::snapshot::row& row : alive) {
        const bool is_type = *type == '\0' || std::strcmp(row.type, type) == 0;
        if (row.line == line && is_type) objects += row.objects;
    }
    return objects;
}

}  // namespace

int main() {
    watchdog();
#if defined(__clang__)
    constexpr bool is_clang = true;
#else
    constexpr bool is_clang = false;
#endif
    const allocscope::scope window{"members"};
    const shop::plain one;
    const auto other = std::make_unique<shop::plain>();
    const shop::stock stock;
    const shop::stock several{3};
    const shop::stock letter{'c'};
    const shop::two two;
    const shop::queues queues;
    const shop::wide wide;
    const shop::pool<double> doubles;
    constexpr int line_of_panel = __LINE__ + 1;
    const shop::panel panel;
    const shop::door door;
    const shop::listed listed;
    opaque(listed.first);
    opaque(listed.second);
    opaque(panel.look);
    opaque(door.look);
    opaque(door.inside);
    const allocscope::snapshot alive = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_plain, "int"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_plain + 1, "long"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_stock, "short"), 4);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_stock + 1, "char"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_stock + 4, "char"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_stock + 5, "short"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(
        objects_at(alive, shop::line_of_wide + 1, "std::pair<const std::string, unsigned long>"),
        1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_pool, "double"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_panel, "shop::theme"), 1);
    // A macro writes the members.
    const int line_of_members = shop::line_of_listed + (is_clang ? 1 : 0);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_members), 2);
#if !defined(__clang__)
    // g++ gives both the place of the class.
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_door, "shop::theme"), 2);
    // Clang knows the lines of initialisers.
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_two + 2, "int"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_two + 2, "long"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, shop::line_of_queues + 2, "int"), 2);
#endif
    return verdict();
}
