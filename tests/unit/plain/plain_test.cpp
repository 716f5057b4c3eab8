// The vocabulary against the standard library's, on random input.

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace plain = allocscope::plain;

namespace {

std::string random_word(std::mt19937_64& dice, std::size_t longest) {
    std::string word(dice() % (longest + 1), '\0');
    for (char& c : word) c = static_cast<char>('a' + dice() % 3);
    return word;
}

plain::text seen(const std::string& word) {
    return {word.data(), word.size()};
}

}  // namespace

TEST_CASE("every search in a text finds what std::string_view finds") {
    std::mt19937_64 dice{1};
    for (int i = 0; i < 20000; ++i) {
        const std::string a = random_word(dice, 12);
        const std::string b = random_word(dice, 3);
        const std::string_view view{a};
        const plain::text text = seen(a);
        const std::size_t from = dice() % (a.size() + 1);
        CAPTURE(a);
        CAPTURE(b);
        REQUIRE(text.find(seen(b), from) == view.find(b, from));
        REQUIRE(text.rfind(seen(b)) == view.rfind(b));
        REQUIRE(text.find('b', from) == view.find('b', from));
        REQUIRE(text.rfind('b') == view.rfind('b'));
        REQUIRE(text.find_first_of(seen(b), from) == view.find_first_of(b, from));
        REQUIRE(text.find_first_not_of(seen(b), from) == view.find_first_not_of(b, from));
        REQUIRE(text.find_last_not_of(seen(b)) == view.find_last_not_of(b));
        REQUIRE(text.starts_with(seen(b)) == (view.substr(0, b.size()) == b));
        REQUIRE(text.ends_with(seen(b)) ==
                (b.size() <= a.size() && view.substr(a.size() - b.size()) == b));
        REQUIRE((text.compare(seen(b)) < 0) == (view.compare(b) < 0));
        REQUIRE((text.compare(seen(b)) == 0) == (view == b));
        REQUIRE((text == seen(b)) == (view == b));
    }
    CHECK(plain::text{"\x80"}.compare("a") > 0);  // bytes have no sign
}

TEST_CASE("what is written piece by piece is what a string would hold") {
    std::mt19937_64 dice{2};
    for (int round = 0; round < 200; ++round) {
        plain::arena memory;
        plain::text_out one{memory};
        plain::text_out other{memory};  // grows in between, so neither stays where it is
        std::string expected_one;
        std::string expected_other;
        for (int i = 0; i < 100; ++i) {
            const std::string word = random_word(dice, 30);
            const std::uint64_t number = dice() >> (dice() % 64);
            one << seen(word) << plain::decimal{number} << '/';
            expected_one += word + std::to_string(number) + '/';
            other << plain::hexadecimal{number};
            char digits[17];
            std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(number));
            expected_other += digits;
            if (dice() % 8 == 0) {
                const std::size_t kept = dice() % (one.size() + 1);
                one.cut(kept);
                expected_one.resize(kept);
            }
            const std::size_t count = dice() % 5;
            other.fill(count, ' ');
            expected_other.append(count, ' ');
        }
        REQUIRE(one.view() == seen(expected_one));
        REQUIRE(std::string{other.c_str()} == expected_other);
    }
}

TEST_CASE("what could harm a terminal is written escaped") {
    plain::arena memory;
    plain::text_out line{memory};
    write_printable(line, "a\x1b[0m\xc3\xa9\xff");
    write_printable(line, nullptr);
    CHECK(line.view() == "a\\x1b[0m\xc3\xa9\\xff");
}

TEST_CASE("texts are joined in their order, with a zero byte behind them") {
    plain::arena memory;
    CHECK(plain::joined(memory, "std::", "pair<", "int", ">") == "std::pair<int>");
    CHECK(plain::joined(memory, "", "").empty());
    const plain::text two = plain::joined(memory, plain::text{"abc", 2}, "d");
    CHECK(std::strlen(two.data()) == two.size());
}

TEST_CASE("a list grows, also by its own values and beside another one") {
    plain::arena memory;
    plain::list<std::uint64_t> grown{memory};
    plain::list<std::uint64_t> other{memory};
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        grown.push_back(i);
        expected.push_back(i);
        grown.push_back(grown.front());
        expected.push_back(expected.front());
        if (i % 3 == 0) other.push_back(i);
    }
    REQUIRE(std::equal(grown.begin(), grown.end(), expected.begin(), expected.end()));
    grown.resize(3);
    grown.resize(5);
    CHECK(grown[3] == 0);
    CHECK(other.size() == 1667);
    CHECK(other.back() == 4998);
}

TEST_CASE("a list appended to another is copied whole, in order, also an empty one") {
    plain::arena memory;
    std::mt19937_64 dice{7};
    plain::list<std::uint32_t> grown{memory};
    std::vector<std::uint32_t> expected;
    for (int i = 0; i < 300; ++i) {
        const plain::list<std::uint32_t> none;
        plain::list<std::uint32_t> part{memory};
        for (std::uint64_t left = dice() % 40; left > 0; --left) {
            part.push_back(static_cast<std::uint32_t>(dice()));
        }
        grown.append(none);
        grown.append(part);
        expected.insert(expected.end(), part.begin(), part.end());
        grown.push_back(5);
        expected.push_back(5);
        REQUIRE(grown.size() == expected.size());
    }
    CHECK(std::equal(grown.begin(), grown.end(), expected.begin(), expected.end()));
}

TEST_CASE("a table finds by text and by number what a map finds") {
    std::mt19937_64 dice{3};
    plain::arena memory;
    plain::table<plain::text, int> by_text{memory};
    plain::table<std::uint64_t, int> by_number{memory};
    std::map<std::string, int> expected_text;
    std::map<std::uint64_t, int> expected_number;
    for (int i = 0; i < 20000; ++i) {
        const std::string word = random_word(dice, 8);
        const std::uint64_t number = (dice() % 4096) << 32U;  // only the upper half differs
        const bool is_new = expected_text.find(word) == expected_text.end();
        if (is_new) {
            REQUIRE(by_text.find(seen(word)) == nullptr);
            by_text[plain::copy_of(memory, seen(word))] = i;
        } else {
            REQUIRE(*by_text.find(seen(word)) == expected_text[word]);
            REQUIRE_FALSE(by_text.insert(seen(word)).is_new);
        }
        if (is_new) expected_text[word] = i;
        by_number[number] += 1;
        expected_number[number] += 1;
    }
    REQUIRE(by_text.size() == expected_text.size());
    REQUIRE(by_number.size() == expected_number.size());
    for (const auto& entry : by_number) REQUIRE(entry.value == expected_number[entry.key]);
}

TEST_CASE("a table with room keeps what it has, and nothing moves until the room is used") {
    plain::arena memory;
    plain::table<std::uint64_t, std::uint64_t> numbers{memory};
    for (std::uint64_t i = 0; i < 10; ++i) numbers[i] = i;
    numbers.reserve(20000);
    numbers.reserve(5);  // less than there is
    const auto* const first = numbers.begin();
    const std::size_t mapped = memory.mapped_bytes();
    for (std::uint64_t i = 10; i < 20000; ++i) numbers[i] = i;
    CHECK(numbers.begin() == first);
    CHECK(memory.mapped_bytes() == mapped);
    for (std::uint64_t i = 20000; i < 30000; ++i) numbers[i] = i;
    REQUIRE(numbers.size() == 30000);
    for (std::uint64_t i = 0; i < 30000; ++i) {
        REQUIRE(numbers.find(i) != nullptr);
        REQUIRE(*numbers.find(i) == i);
    }
}

TEST_CASE("what was gathered in borrowed memory stays when it has moved") {
    plain::arena kept;
    plain::arena borrowed;
    plain::list<std::uint64_t> gathered{borrowed};
    plain::list<std::uint64_t> none{borrowed};
    for (std::uint64_t i = 0; i < 700; ++i) gathered.push_back(i);
    gathered.move_to(kept);
    none.move_to(kept);
    borrowed.release();
    REQUIRE(gathered.size() == 700);
    for (std::uint64_t i = 0; i < 700; ++i) REQUIRE(gathered[i] == i);
    CHECK(&gathered.memory() == &kept);
    const std::uint64_t* const behind = kept.make<std::uint64_t>(5U);
    gathered.push_back(700);
    CHECK(gathered.back() == 700);
    CHECK(*behind == 5);
    CHECK(none.empty());
    none.push_back(1);
    CHECK(none.front() == 1);
}

TEST_CASE("sorting keeps equal values as they were") {
    struct item {
        std::uint32_t key;
        std::uint32_t number;
        char filler[20];
    };
    std::mt19937_64 dice{4};
    for (std::size_t count = 0; count < 300; ++count) {
        plain::arena memory;
        plain::list<item> items{memory};
        std::vector<item> expected;
        for (std::uint32_t i = 0; i < count; ++i) {
            const item made{static_cast<std::uint32_t>(dice() % 16), i, {}};
            items.push_back(made);
            expected.push_back(made);
        }
        const auto less = [](const item& a, const item& b) { return a.key < b.key; };
        plain::sort(items, less);
        std::stable_sort(expected.begin(), expected.end(), less);
        for (std::size_t i = 0; i < count; ++i) REQUIRE(items[i].number == expected[i].number);
        for (std::uint32_t key = 0; key < 18; ++key) {
            const auto is_before = [key](const item& each) { return each.key < key; };
            const auto point = std::partition_point(expected.begin(), expected.end(), is_before);
            const auto index = static_cast<std::size_t>(point - expected.begin());
            REQUIRE(plain::partition_point(items.data(), count, is_before) == index);
            for (std::size_t last = 0; last < count + 2; last += 1 + last / 8) {
                std::size_t answer = last;
                REQUIRE(plain::partition_point_near(answer, items.data(), count, is_before) ==
                        index);
                REQUIRE(answer == index);
            }
        }
    }
}

TEST_CASE("count_below counts the values that begin with a lower number") {
    struct item {
        std::uint64_t number;  // first, for count_below()
        std::uint32_t more[3];
    };
    std::mt19937_64 dice{5};
    for (std::size_t count = 0; count < 60; ++count) {
        std::vector<std::uint64_t> numbers;
        for (std::size_t i = 0; i < count; ++i) numbers.push_back(dice() % 40 << 30U);
        std::sort(numbers.begin(), numbers.end());
        plain::arena memory;
        plain::list<item> items{memory};
        for (const std::uint64_t number : numbers) items.push_back({number, {~0U, ~0U, ~0U}});
        for (std::uint64_t bound = 0; bound <= std::uint64_t{40} << 30U; bound += 1U << 29U) {
            const auto first = std::lower_bound(numbers.begin(), numbers.end(), bound);
            REQUIRE(plain::count_below(items, bound) ==
                    static_cast<std::size_t>(first - numbers.begin()));
        }
    }
}

TEST_CASE("partition_point_near looks at few values if the answer is near") {
    std::vector<std::size_t> values;
    for (std::size_t i = 0; i < 100000; ++i) values.push_back(i);
    std::size_t last = 50000;
    const auto looks_for = [&](std::size_t answer) {
        std::size_t looked_at = 0;
        CHECK(
            plain::partition_point_near(last, values.data(), values.size(), [&](std::size_t each) {
                ++looked_at;
                return each < answer;
            }) == answer);
        return looked_at;
    };
    for (const std::size_t answer : {50001U, 50003U, 50000U, 49990U}) {
        CHECK(looks_for(answer) <= 10);
    }
    for (const std::size_t answer : {99999U, 0U, 70000U, 1U}) {  // at most twice as many as ever
        CHECK(looks_for(answer) <= 2 * 17 + 2);
    }
}

TEST_CASE("pieces of an arena are aligned, apart, and gone with it") {
    plain::arena memory;
    std::mt19937_64 dice{5};
    std::vector<std::pair<unsigned char*, std::size_t>> pieces;
    for (int i = 0; i < 3000; ++i) {
        const std::size_t bytes = i % 100 == 0 ? 200000 : dice() % 900;
        auto* piece = static_cast<unsigned char*>(memory.allocate(bytes));
        REQUIRE(reinterpret_cast<std::uintptr_t>(piece) % 16 == 0);
        for (std::size_t at = 0; at < bytes; ++at) piece[at] = 0xff;
        pieces.emplace_back(piece, bytes);
    }
    std::sort(pieces.begin(), pieces.end());
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        REQUIRE(pieces[i - 1].first + pieces[i - 1].second <= pieces[i].first);
    }
    CHECK(memory.mapped_bytes() > 6000000);
    memory.release();
    CHECK(memory.mapped_bytes() == 0);
}

TEST_CASE("borrowed memory is given back, and what was there before stays") {
    plain::arena memory;
    const plain::text kept = plain::copy_of(memory, "kept");
    const std::size_t mapped = memory.mapped_bytes();
    const void* first = nullptr;
    for (int i = 0; i < 100; ++i) {
        const plain::borrowed_memory meanwhile{memory};
        void* piece = memory.allocate(100);
        if (first == nullptr) first = piece;
        REQUIRE(piece == first);
        std::memset(memory.allocate(500000), 0xff, 500000);
        for (int k = 0; k < 50; ++k) std::memset(memory.allocate(10000), 0xff, 10000);
        REQUIRE(memory.mapped_bytes() > mapped);
    }
    CHECK(memory.mapped_bytes() == mapped);
    CHECK(kept == "kept");
    // A table's slots must be cleared although this memory was used before.
    plain::table<std::uint64_t, int> numbers{memory};
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(numbers.insert(i).is_new);
}

TEST_CASE("refused memory ends the question, not the program") {
    plain::arena memory;
    plain::text_out line{memory};
    line << "kept";
    allocscope::detail::mappings_until_refusal = 1;
    std::size_t lines = 0;
    CHECK_FALSE(plain::is_done_with_memory([&] {
        for (;; ++lines) line.fill(40000, 'x');
    }));
    allocscope::detail::mappings_until_refusal = -1;
    CHECK(lines > 0);
    line.cut(4);
    CHECK(plain::is_done_with_memory([&] { line << ", and goes on"; }));
    CHECK(line.view() == "kept, and goes on");
}

TEST_CASE("borrowed_memory: the next step gets the block of the last one, not one of the kernel") {
    using plain::borrowed_memory;
    plain::arena memory;
    char* first = nullptr;
    {
        const borrowed_memory meanwhile{memory};
        first = static_cast<char*>(memory.allocate(100));
        *first = 'x';
    }
    CHECK(memory.mapped_bytes() == 0);
    for (int step = 0; step < 3; ++step) {
        const borrowed_memory meanwhile{memory};
        char* again = static_cast<char*>(memory.allocate(100));
        REQUIRE(again == first);
        CHECK(*again == 'x');
    }
    {
        const borrowed_memory meanwhile{memory};
        for (int i = 0; i < 100; ++i) memory.allocate(60000);  // many blocks
        memory.allocate(std::size_t{5} << 20);                 // and one of its own
    }
    const borrowed_memory meanwhile{memory};
    CHECK(memory.allocate(100) != nullptr);
}
