#include <allocscope/grouping/call_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../formats/made_stacks.hpp"

using namespace allocscope_tests;
using allocscope::detail::call_direction;
using allocscope::detail::call_node;
using allocscope::detail::call_tree;

namespace {

// "main 470(load() 400/400 ...)": inclusive live bytes, and own ones behind a slash.
std::string shown(const call_tree& tree, const call_node& node) {
    std::string text = node.frame == nullptr ? "root" : node.frame->function;
    text += " " + std::to_string(static_cast<std::int64_t>(node.inclusive.bytes));
    if (!node.own.is_nothing()) {
        text += "/" + std::to_string(static_cast<std::int64_t>(node.own.bytes));
    }
    std::string children;
    for (const call_node& child : tree.children_of(node)) {
        CHECK(child.parent == node.number);
        CHECK(child.depth == node.depth + 1);
        CHECK(&tree[child.number] == &child);
        children += (children.empty() ? "" : ", ") + shown(tree, child);
    }
    return children.empty() ? text : text + " (" + children + ")";
}

std::string shown(const allocscope::snapshot& rows, call_direction direction) {
    allocscope::plain::arena memory;
    const call_tree tree{memory, rows, direction};
    return shown(tree, tree.root());
}

// Of the `most` largest nodes, of equal ones the first: the way to each, and its numbers.
std::vector<std::string> largest_nodes(const call_tree& tree, allocscope::stack_value value,
                                       std::size_t most) {
    std::vector<std::uint32_t> numbers(tree.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
        return tree[a].inclusive[value] > tree[b].inclusive[value];
    });
    numbers.resize(std::min(most, numbers.size()));
    std::vector<std::string> ways;
    for (std::uint32_t at : numbers) {
        std::string way = std::to_string(tree[at].inclusive.bytes);
        way += '/' + std::to_string(tree[at].inclusive.allocations);
        for (; at != 0; at = tree[at].parent) way += std::string{" "} + tree[at].frame->function;
        ways.push_back(way);
    }
    return ways;
}

}  // namespace

TEST_CASE("call_tree: top-down sums what each frame and its callees allocated") {
    CHECK(shown(made_window(small_stacks()), call_direction::top_down) ==
          "root 470 (main 400 (load() 400/400 (parse(int) 0/0)), main 70 (parse(int) 70/70))");
}

TEST_CASE("call_tree: bottom-up begins at who called operator new") {
    CHECK(shown(made_window(small_stacks()), call_direction::bottom_up) ==
          "root 470 (load() 400 (main 400/400), parse(int) 70 (main 70/70, load() 0 (main 0/0)))");
}

TEST_CASE("call_tree: the largest change of a difference comes first") {
    auto stacks = small_stacks();
    stacks[1].bytes = static_cast<std::uint64_t>(-1000);
    info_text about;
    about.is_difference = true;
    CHECK(shown(made_window(stacks, about), call_direction::top_down) ==
          "root -600 (main -1000 (parse(int) -1000/-1000), main 400 (load() 400/400 (parse(int) "
          "0/0)))");
}

TEST_CASE("call_tree: frames differ by their place, or by their address") {
    const frame_text main = made_frame("main", "/m", 1, 1);
    frame_text same_line = made_frame("f", "/f", 5, 0x10);
    frame_text other_address = made_frame("f", "/f", 5, 0x20);
    const auto rows = made_window(
        {made_stack({same_line, main}, 1, 1, 1, 1), made_stack({other_address, main}, 1, 1, 1, 1)});
    allocscope::plain::arena memory;
    using allocscope::detail::frames_differ_by;
    CHECK(call_tree(memory, rows, call_direction::top_down).size() == 3);
    CHECK(
        call_tree(memory, rows, call_direction::top_down, {frames_differ_by::address, 0}).size() ==
        4);
}

TEST_CASE("call_tree: frames without a function differ by module and offset") {
    frame_text here = made_frame("", "", 0, 0x10);
    frame_text there = made_frame("", "", 0, 0x20);
    frame_text elsewhere = here;
    elsewhere.module = "/lib/other.so";
    const auto rows =
        made_window({made_stack({here}, 1, 1, 1, 1), made_stack({there}, 1, 1, 1, 1),
                     made_stack({elsewhere}, 1, 1, 1, 1), made_stack({here}, 1, 1, 1, 1)});
    allocscope::plain::arena memory;
    const call_tree tree{memory, rows, call_direction::top_down};
    CHECK(tree.root().child_count == 3);
    CHECK(tree.children_of(tree.root())[0].own.allocations == 2);
}

TEST_CASE("call_tree: no stacks, and a stack without frames") {
    CHECK(shown(made_snapshot({}), call_direction::top_down) == "root 0");
    CHECK(shown(made_window({made_stack({}, 1, 9, 1, 9)}), call_direction::bottom_up) ==
          "root 9/9");
}

TEST_CASE("call_tree: what is too small to be looked at has no children") {
    allocscope::plain::arena memory;
    const auto rows = made_window(small_stacks());
    const call_tree tree{
        memory, rows, call_direction::bottom_up, {allocscope::detail::frames_differ_by::place, 71}};
    CHECK(shown(tree, tree.root()) == "root 470 (load() 400 (main 400/400), parse(int) 70)");
    CHECK(tree.children_of(tree.root())[1].is_cut);
    CHECK_FALSE(tree.children_of(tree.root())[0].is_cut);
}

TEST_CASE("call_tree: many stacks, each of its sums added up by hand") {
    std::uint32_t dice = 3;
    const auto roll = [&dice](std::uint32_t sides) {
        dice = dice * 1664525U + 1013904223U;
        return (dice >> 8U) % sides;
    };
    std::vector<stack_text> stacks;
    std::map<std::string, std::uint64_t> expected;  // of a path from the root: live bytes
    for (int i = 0; i < 500; ++i) {
        std::vector<frame_text> frames;  // innermost first
        std::string path;
        std::vector<std::string> names;
        for (std::uint32_t depth = roll(6); depth > 0; --depth) {
            names.push_back("f" + std::to_string(roll(4)));
            frames.insert(frames.begin(), made_frame(names.back()));
        }
        const std::uint64_t bytes = roll(1000);
        stacks.push_back(made_stack(frames, 1, bytes, 1, bytes));
        expected[path] += bytes;
        for (const std::string& name : names) expected[path += "/" + name] += bytes;
    }
    allocscope::plain::arena memory;
    const auto rows = made_window(stacks);
    const call_tree tree{memory, rows, call_direction::top_down};
    CHECK(tree.size() == expected.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
        std::string path;
        for (std::size_t at = i; at != 0; at = tree[at].parent) {
            path = std::string("/") + tree[at].frame->function + path;
        }
        REQUIRE(expected.count(path) == 1);
        CHECK(tree[i].inclusive.bytes == expected[path]);
        std::uint64_t sum = tree[i].own.bytes;
        for (const call_node& child : tree.children_of(tree[i])) sum += child.inclusive.bytes;
        CHECK(sum == tree[i].inclusive.bytes);
    }
}

TEST_CASE("frame_book: thousands of frames keep their numbers") {
    allocscope::plain::arena memory;
    allocscope::detail::frame_book book{memory, allocscope::detail::frames_differ_by::address};
    std::vector<std::string> names;
    for (int i = 0; i < 20000; ++i) names.push_back("f" + std::to_string(i % 5000));
    std::vector<allocscope::snapshot::frame> frames;
    for (int i = 0; i < 20000; ++i) {
        // Equal frames whose texts lie in different places.
        frames.push_back({names[static_cast<std::size_t>(i)].c_str(), "", 0, 0, false,
                          static_cast<std::uint64_t>(i % 5000) * 16, "m", 0});
    }
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            REQUIRE(book.number_of(frames[i]) == i % 5000);
        }
    }
    CHECK(book.size() == 5000);
    CHECK(std::string(book[4999].function) == "f4999");
}

TEST_CASE("call_tree: what is chosen of a tree is as in the whole tree") {
    std::vector<stack_text> stacks;
    for (std::uint64_t i = 0; i < 300; ++i) {
        std::vector<frame_text> frames;
        for (std::uint64_t left = i * 7 % 311; left != 0; left /= 3) {
            frames.push_back(made_frame("f" + std::to_string(left % 5), "/src/a.cpp", 1));
        }
        frames.push_back(made_frame("main", "/src/main.cpp", 3));
        const std::uint64_t bytes = i % 4 * 8;  // many are equal, a quarter is gone
        stacks.push_back(made_stack(frames, 1 + i % 3, 100, bytes / 8, bytes));
    }
    const auto rows = made_window(stacks);
    for (const call_direction direction : {call_direction::top_down, call_direction::bottom_up}) {
        for (const auto value :
             {allocscope::stack_value::live_bytes, allocscope::stack_value::allocations}) {
            allocscope::plain::arena memory;
            const call_tree whole{memory, rows, direction};
            for (std::size_t most = 1; most < 60; most += 7) {
                allocscope::detail::call_tree_options wanted;
                wanted.most_nodes = most;
                wanted.value = value;
                const call_tree part{memory, rows, direction, wanted};
                CHECK(part.size() < whole.size());
                CHECK(largest_nodes(part, value, most) == largest_nodes(whole, value, most));
            }
        }
    }
}

TEST_CASE("call_tree: a change below a small change is not left out") {
    auto stacks = small_stacks();
    stacks[0].bytes = 70;
    stacks[1].bytes = static_cast<std::uint64_t>(-69);
    info_text about;
    about.is_difference = true;
    allocscope::detail::call_tree_options wanted;
    wanted.most_nodes = 1;
    allocscope::plain::arena memory;
    const auto rows = made_window(stacks, about);
    const call_tree tree{memory, rows, call_direction::bottom_up, wanted};
    CHECK(tree.size() == call_tree(memory, rows, call_direction::bottom_up).size());
}
