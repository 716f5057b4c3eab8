// Danger: windows that close in another order than they opened, or very many at once, are charged
// with each other's objects.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/escape.hpp"
#include "../../support/malloc_containers.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <new>

using namespace allocscope_test;

namespace {

struct slot {
    alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];
    std::uint64_t born_before = 0;  // objects and bytes ever born when it opened
    std::uint64_t bytes_before = 0;
    std::uint64_t frees = 0;
    bool is_open = false;

    allocscope::scope& window() {
        return *std::launder(reinterpret_cast<allocscope::scope*>(storage));
    }
};

struct object {
    void* address;
    std::size_t size;
    std::uint64_t number;  // in order of birth
};

// Two hundred windows open and close in random orders; each belongs to a span of births.
void random_orders() {
    dice roll{18};
    malloc_vector<slot> slots(200);
    malloc_vector<object> objects;
    std::uint64_t born = 0;
    std::uint64_t bytes = 0;
    for (long step = scaled(150000, 1000000); step > 0; --step) {
        slot& chosen = slots[roll.below(slots.size())];
        if (roll.one_in(2)) {
            if (objects.size() < 3000 && !roll.one_in(3)) {
                const std::size_t size = roll.below(400);
                objects.push_back({allocate(size), size, born++});
                bytes += size;
            } else if (!objects.empty()) {
                const std::size_t index = roll.below(objects.size());
                for (slot& each : slots) {
                    if (each.is_open && each.born_before <= objects[index].number) ++each.frees;
                }
                release(objects[index].address);
                objects[index] = objects.back();
                objects.pop_back();
            }
        } else if (chosen.is_open) {
            const allocscope::allocation_counts seen = chosen.window().counts();
            ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, born - chosen.born_before);
            ALLOCSCOPE_EXPECT_EQUAL(seen.bytes_allocated, bytes - chosen.bytes_before);
            ALLOCSCOPE_EXPECT_EQUAL(seen.frees, chosen.frees);
            chosen.window().~scope();
            chosen.is_open = false;
        } else {
            new (chosen.storage) allocscope::scope{"random"};
            chosen.is_open = true;
            chosen.born_before = born;
            chosen.bytes_before = bytes;
            chosen.frees = 0;
        }
    }
    for (slot& each : slots) {
        if (each.is_open) each.window().~scope();
    }
    for (const object& each : objects) release(each.address);
}

void ten_thousand_nested() {
    const std::size_t depth = static_cast<std::size_t>(is_sanitized ? 500 : 10000);
    malloc_vector<slot> slots(depth);
    malloc_vector<void*> objects(depth);
    for (std::size_t i = 0; i < depth; ++i) {
        new (slots[i].storage) allocscope::scope{"nested"};
        objects[i] = allocate(10);
    }
    for (std::size_t i = 0; i < depth; i += 1 + depth / 40) {
        ALLOCSCOPE_EXPECT_EQUAL(slots[i].window().counts().allocations, depth - i);
    }
    for (std::size_t i = 0; i < depth; ++i) release(objects[i]);
    for (std::size_t i = 0; i < depth; i += 1 + depth / 40) {
        ALLOCSCOPE_EXPECT_EQUAL(slots[i].window().counts().frees, depth - i);
    }
    ALLOCSCOPE_EXPECT_EQUAL(slots[depth / 2].window().stop().live_objects(), 0);
    expect_accounted(slots[0].window().stats(), {depth, depth});
    for (std::size_t i = 0; i < depth; i += 2) slots[i].window().~scope();  // not in order
    for (std::size_t i = 1; i < depth; i += 2) slots[i].window().~scope();
}

}  // namespace

int main() {
    watchdog();
    random_orders();
    ten_thousand_nested();
    return verdict();
}
