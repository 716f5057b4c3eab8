// Stacks are found by their addresses, modules, tag and rule, and forgotten when they may be wrong.

#include <allocscope/naming/named_stack.hpp>
#include <allocscope/naming/stack_index.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using allocscope::detail::known_stack;
using allocscope::detail::named_stack;
using allocscope::detail::stack_index;
using allocscope::plain::arena;

namespace {

struct indexed_stacks {
    static constexpr std::uint64_t count = 3000;

    // Stacks of one frame. Every tenth one has the hash of the one before it.
    indexed_stacks() {
        for (std::uint64_t i = 0; i < count; ++i) {
            auto* frame = memory.make<allocscope::snapshot::frame>();
            frame->address = address_of(i) - 1;
            auto* made = memory.make<named_stack>();
            made->frames = frame;
            made->frame_count = 1;
            made->hash = static_cast<std::uint32_t>(hash_of(i));
            made->is_lasting = i % 3 != 0;
            stacks[i] = made;
            index.add(*made);
        }
    }

    static std::uintptr_t address_of(std::uint64_t i) { return 0x4000 + i * 16; }
    static std::uint64_t hash_of(std::uint64_t i) {
        return (i % 10 == 9 ? i - 1 : i) * 0x9e3779b97f4a7c15U;
    }

    const named_stack* find(std::uint64_t i, std::uint32_t tag = 0) const {
        const std::uintptr_t address = address_of(i);
        known_stack asked;
        asked.hash = hash_of(i);
        asked.addresses = &address;
        asked.count = 1;
        asked.tag = tag;
        return index.find(asked, 0, 0);
    }

    arena memory;
    stack_index index{memory};
    named_stack* stacks[count] = {};
};

}  // namespace

TEST_CASE("stack_index: finds each of many stacks, also those with equal hashes, and no other") {
    const indexed_stacks all;
    for (std::uint64_t i = 0; i < all.count; ++i) REQUIRE(all.find(i) == all.stacks[i]);
    CHECK(all.find(all.count) == nullptr);
    CHECK(all.find(1, 5) == nullptr);
}

TEST_CASE("stack_index: forgets the stacks that may be wrong, and finds the others") {
    indexed_stacks all;
    all.index.drop_passing();
    for (std::uint64_t i = 0; i < all.count; ++i) {
        REQUIRE(all.find(i) == (i % 3 != 0 ? all.stacks[i] : nullptr));
    }
    all.index.add(*all.stacks[0]);
    CHECK(all.find(0) == all.stacks[0]);
}
