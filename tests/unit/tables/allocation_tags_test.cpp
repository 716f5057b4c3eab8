#include <doctest/doctest.h>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/allocation_tags.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using allocscope::detail::allocation_tags;

namespace {

std::uint32_t number_of(allocation_tags& tags, const std::string& family, const std::string& type) {
    return tags.number_of(family.c_str(), type.data(), type.size());
}

}  // namespace

TEST_CASE("allocation_tags: the texts count, not where they lie, and they are kept") {
    static allocation_tags tags;
    CHECK_FALSE(tags.has_families());
    std::uint32_t arena = 0;
    {
        char family[] = "arena";
        arena = number_of(tags, family, "");
        std::memset(family, 'x', sizeof family - 1);  // as when its module is unloaded
    }
    CHECK(arena >= allocation_tags::first_pool);
    CHECK(number_of(tags, "arena", "") == arena);
    CHECK(std::string{tags.family_of(arena)} == "arena");
    CHECK(std::string{tags.type_of(arena)}.empty());
    const std::uint32_t typed = number_of(tags, "arena", "widget");
    CHECK(typed != arena);
    CHECK(tags.family_number_of(typed) == arena);
    CHECK(std::string{tags.type_of(typed)} == "widget");
    CHECK(number_of(tags, "other", "widget") != typed);
    CHECK(tags.has_families());
}

TEST_CASE("allocation_tags: no name is the family of other pools, when it is asked for, too") {
    static allocation_tags tags;
    const std::uint32_t unnamed = number_of(tags, "", "");
    CHECK(std::string{tags.family_of(unnamed)} == "other pools");
    CHECK(tags.is_of_family(unnamed, ""));
    CHECK(tags.is_of_family(unnamed, "other pools"));
    CHECK_FALSE(tags.is_of_family(number_of(tags, "arena", ""), ""));
}

TEST_CASE("allocation_tags: a type is as long as its length says") {
    static allocation_tags tags;
    const char whole[] = "widget] and more";
    const std::uint32_t typed = tags.number_of("arena", whole, 6);
    CHECK(std::string{tags.type_of(typed)} == "widget");
    CHECK(number_of(tags, "arena", "widge") != typed);
    // Lengths around the eight bytes that are hashed at once.
    std::vector<std::uint32_t> numbers;
    for (std::size_t length = 1; length < 40; ++length) {
        numbers.push_back(number_of(tags, "arena", std::string(length, 't')));
        CHECK(std::string{tags.type_of(numbers.back())} == std::string(length, 't'));
        for (std::size_t i = 0; i + 1 < numbers.size(); ++i) CHECK(numbers[i] != numbers.back());
    }
}

TEST_CASE("allocation_tags: the fixed families have names without any memory") {
    static allocation_tags tags;
    CHECK(std::string{tags.family_of(allocation_tags::operator_new)} == "operator new");
    CHECK(std::string{tags.family_of(allocation_tags::malloc_family)} == "malloc");
    CHECK(std::string{tags.family_of(tags.number_of(nullptr, "", 0))} == "other pools");
    tags.note_malloc_family();
    CHECK(tags.has_families());
}

TEST_CASE("allocation_tags: without memory a pool is one of the others") {
    static allocation_tags tags;
    allocscope::detail::mappings_until_refusal = 0;
    CHECK(number_of(tags, "arena", "widget") == allocation_tags::other_pools);
    allocscope::detail::mappings_until_refusal = -1;
    CHECK(number_of(tags, "arena", "widget") > allocation_tags::other_pools);
}

TEST_CASE("allocation_tags: there is an end to them, and pools go on without their types") {
    static allocation_tags tags;
    const std::uint32_t arena = number_of(tags, "arena", "");
    for (int i = 0; i < 70000; ++i) number_of(tags, "arena", "type " + std::to_string(i));
    CHECK(number_of(tags, "arena", "one more") == arena);
    CHECK(number_of(tags, "late pool", "") == allocation_tags::other_pools);
    CHECK(number_of(tags, "arena", "type 5") > arena);
}

TEST_CASE("allocation_tags: threads that bring the same pair get the same number") {
    static allocation_tags tags;
    std::vector<std::vector<std::uint32_t>> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t) {
        threads.emplace_back([&seen, t] {
            for (int i = 0; i < 2000; ++i) {
                seen[t].push_back(number_of(tags, "pool " + std::to_string(i % 50),
                                            "type " + std::to_string(i / 50)));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 1; t < seen.size(); ++t) CHECK(seen[t] == seen[0]);
}
