// Danger: g++ -O2 makes functions with equal code one. What each of them allocated would be in the
// row of the one that was kept, with its type. A function that is called by another name is none of
// these.
// not with: tsan (it sees nothing where there is one thread)
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/naming/process_names.hpp>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace allocscope_test;

// In other_names.cpp, where they have other names.
extern "C" {
int* second_name_of_first();
int* named_by_label() asm("label_of_second");
int* name_for_the_linker();
}
extern const int line_of_first;
extern const int line_of_second;
extern const int line_of_third;

namespace {

// Nothing is written into them: that would be another code for each.
struct cat {
    int lives;
};
struct dog {
    unsigned bones;
};
struct bird {
    int wings;
};

void* volatile kept[128];
int kept_count = 0;

__attribute__((noinline)) void keep(void* object) {
    kept[kept_count++] = object;
}

constexpr int line_of_cat = __LINE__ + 3;
__attribute__((noinline)) void new_cat() {
    // it begins here
    keep(new cat);
}
__attribute__((noinline)) void new_dog() {
    keep(new dog);
}
__attribute__((noinline)) void new_bird() {
    keep(new bird);
}

constexpr int line_of_made_cat = __LINE__ + 2;
__attribute__((noinline)) void made_cat() {
    keep(std::unique_ptr<cat>{new cat}.release());
}
__attribute__((noinline)) void made_dog() {
    keep(std::unique_ptr<dog>{new dog}.release());
}

struct lion {
    int manes;
};
struct wolf {
    unsigned packs;
};
template <class T>
__attribute__((always_inline)) inline T* fresh() {
    return new T;
}
// What is asked for by inlined calls is not taken for the `new`.
constexpr int line_of_lion = __LINE__ + 3;
__attribute__((noinline)) void fresh_cat_and_lion() {
    keep(fresh<cat>());
    keep(new lion);
}
__attribute__((noinline)) void fresh_dog_and_wolf() {
    keep(fresh<dog>());
    keep(new wolf);
}

// A call that was inlined is found in the source: the row is at its `new`.
constexpr int line_of_grown = __LINE__ + 3;
template <class T>
__attribute__((always_inline)) inline T* grown() {
    return new T;
}
__attribute__((noinline)) void grown_cat() {
    keep(grown<cat>());
}
__attribute__((noinline)) void grown_dog() {
    keep(grown<dog>());
}

// The allocation of the characters is inside of the standard library.
constexpr int line_of_text = __LINE__ + 2;
__attribute__((noinline)) void first_text() {
    keep(new std::string(100, 'x'));
}
__attribute__((noinline)) void second_text() {
    keep(new std::string(100, 'x'));
}

// What the library asks for is not asked for by the only `new` of the function.
std::string texts[8];
int text_count = 0;
constexpr int line_of_cat_beside_text = __LINE__ + 3;
__attribute__((noinline)) void text_and_cat() {
    texts[text_count++].assign(100, 'x');
    keep(new cat);
}
__attribute__((noinline)) void text_and_dog() {
    texts[text_count++].assign(100, 'x');
    keep(new dog);
}

// For a visitor and, where it calls itself, for a reference to one: the same lines and types.
struct branch {
    int number;
    std::vector<branch> parts;
};
constexpr int line_of_seen = __LINE__ + 3;
template <class Visitor>
__attribute__((noinline)) void walk(const branch& at, Visitor&& visitor, std::set<int>& seen) {
    if (!seen.insert(at.number).second) return;
    visitor(at.number);
    for (const branch& part : at.parts) walk(part, visitor, seen);
}

// For texts of two lengths: the same lines, of which one has no text itself.
struct book {
    std::map<int, std::string> lines;
    std::vector<int> numbers;
    template <class... Text>
    book& add(Text&&... text) {
        // it begins here
        auto& one = lines[static_cast<int>(lines.size())];
        one.assign(std::forward<Text>(text)...);
        numbers.push_back(3);
        return *this;
    }
};
constexpr int line_of_node = __LINE__ - 6;

// But not with `if constexpr`.
struct notes {
    std::map<int, std::string> lines;
    std::vector<int> numbers;
    template <class... Text>
    notes& add(Text&&... text) {
        auto& one = lines[static_cast<int>(lines.size())];
        if constexpr ((sizeof(text) + ...) > 25) {
            one.assign(std::forward<Text>(text)...);
        } else {
            one.assign(std::forward<Text>(text)...);
        }
        numbers.push_back(4);
        return *this;
    }
};
constexpr int line_of_notes = __LINE__ - 10;

// The objects of a line that have that type.
std::uint64_t objects_at(const allocscope::snapshot& alive, int line, const char* type) {
    std::uint64_t objects = 0;
    for (const allocscope::snapshot::row& row : alive) {
        const bool is_there = static_cast<int>(row.line) == line;
        if (is_there && std::strcmp(row.type, type) == 0) objects += row.objects;
    }
    return objects;
}

// The characters that std::string asks for: at the line of the `new`, or where its function begins.
// With C++20 all of std::string is inlined, and what is inlined in a folded function has no type.
std::uint64_t characters_at(const allocscope::snapshot& alive, int line) {
    std::uint64_t objects = 0;
    for (const int at : {line - 1, line}) {
        objects += objects_at(alive, at, "char") + objects_at(alive, at, "?");
    }
    return objects;
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope window{"folded"};
    for (int i = 0; i < 2; ++i) new_cat();
    for (int i = 0; i < 3; ++i) new_dog();
    for (int i = 0; i < 4; ++i) new_bird();
    for (int i = 0; i < 5; ++i) made_cat();
    for (int i = 0; i < 6; ++i) made_dog();
    for (int i = 0; i < 7; ++i) fresh_cat_and_lion();
    for (int i = 0; i < 8; ++i) fresh_dog_and_wolf();
    for (int i = 0; i < 9; ++i) grown_cat();
    for (int i = 0; i < 5; ++i) grown_dog();
    for (int i = 0; i < 3; ++i) first_text();
    for (int i = 0; i < 4; ++i) second_text();
    for (int i = 0; i < 2; ++i) text_and_cat();
    for (int i = 0; i < 3; ++i) text_and_dog();
    for (int i = 0; i < 2; ++i) keep(second_name_of_first());
    for (int i = 0; i < 3; ++i) keep(named_by_label());
    for (int i = 0; i < 4; ++i) keep(name_for_the_linker());
    const branch tree{1, {{2, {}}, {3, {{4, {}}}}}};
    std::set<int> met;
    std::vector<std::string> found;
    const int line_of_visitor = __LINE__ + 1;
    auto find = [&](int number) { found.emplace_back(static_cast<std::size_t>(number) + 40, 'x'); };
    walk(tree, std::move(find), met);
    book all;
    all.add("a text that is long").add("another text that is long").add("the third text, longer");
    notes some;
    some.add("a text that is long").add("another text that is long").add("the third text, longer");
    const allocscope::snapshot alive = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_cat, "cat"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_cat + 3, "dog"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_cat + 6, "bird"), 4);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_made_cat, "cat"), 5);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_made_cat + 3, "dog"), 6);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_lion, "lion"), 7);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_lion + 4, "wolf"), 8);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_grown, "cat"), 9);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_grown, "dog"), 5);
    ALLOCSCOPE_EXPECT_EQUAL(characters_at(alive, line_of_text), 3);
    ALLOCSCOPE_EXPECT_EQUAL(characters_at(alive, line_of_text + 3), 4);
    for (const int at : {line_of_cat_beside_text, line_of_cat_beside_text + 4}) {
        ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, at, "char"), 0);
    }
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_cat_beside_text, "cat"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_cat_beside_text + 4, "dog"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_first, "int"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_second, "int"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_third, "int"), 4);

    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_seen, "int"), 4);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_visitor, "char"), 4);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(alive, line_of_visitor, "std::string"), 1);
    const auto at_line = [&](int line, const char* type) {
        return objects_at(alive, line, type) + objects_at(alive, line, "?");
    };
    ALLOCSCOPE_EXPECT_EQUAL(at_line(line_of_node, "std::pair<const int, std::string>"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(at_line(line_of_node + 1, "char"), 3);
    ALLOCSCOPE_EXPECT_EQUAL(at_line(line_of_node + 2, "int"), 1);

    ALLOCSCOPE_EXPECT_EQUAL(at_line(line_of_notes, "std::pair<const int, std::string>"), 3);
    const std::uint64_t in_branches =
        at_line(line_of_notes + 2, "char") + at_line(line_of_notes + 4, "char");
#if defined(__clang__)  // does not fold
    ALLOCSCOPE_EXPECT_EQUAL(in_branches, 3);
#else
    ALLOCSCOPE_EXPECT_EQUAL(in_branches, 1);
#endif

    // All names are known from the first time.
    const std::size_t named = allocscope::detail::names_of_process->stack_count();
    const allocscope::snapshot again = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::detail::names_of_process->stack_count(), named);
    ALLOCSCOPE_EXPECT_EQUAL(again.size(), alive.size());
    return verdict();
}
