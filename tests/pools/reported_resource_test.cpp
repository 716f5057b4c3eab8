#include "families.hpp"

#include "../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <doctest/doctest.h>

#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

using namespace allocscope_test;

namespace pmr_types {
struct order {
    int number = 0;
    double price = 0.0;
};
}  // namespace pmr_types
using pmr_types::order;

TEST_CASE("reported_resource: over a pool, each object is counted, with its type") {
    const allocscope::scope window{"pmr"};
    std::pmr::unsynchronized_pool_resource pool;
    {
        allocscope::reported_resource reported{&pool, "orders"};
        std::pmr::list<order> orders{&reported};
        for (int i = 0; i < 100; ++i) orders.push_back({i, 1.0});
        std::pmr::map<int, order> by_number{&reported};
        for (int i = 0; i < 50; ++i) by_number[i] = {};
        const allocscope::snapshot seen = window.stats();
        CHECK(family_of(seen, "orders").live_objects() == 150);
        CHECK(objects_of_type(seen, "pmr_types::order") == 100);
        CHECK(objects_of_type(seen, "std::pair<const int, pmr_types::order>") == 50);
        orders.clear();
        CHECK(family_of(window.stats(), "orders").live_objects() == 50);
    }
    CHECK(family_of(window.stats(), "orders").live_objects() == 0);
}

TEST_CASE("reported_resource: over a monotonic buffer, what containers give back is freed") {
    const allocscope::scope window{"pmr"};
    alignas(16) char buffer[4096];
    std::pmr::monotonic_buffer_resource monotonic{buffer, sizeof buffer,
                                                  std::pmr::null_memory_resource()};
    allocscope::reported_resource reported{&monotonic, "frame"};
    {
        std::pmr::vector<order> orders{&reported};
        orders.reserve(10);
        std::pmr::string name{"a name that is too long for the string itself", &reported};
        const allocscope::snapshot seen = window.stats();
        CHECK(family_of(seen, "frame").live_objects() == 2);
        CHECK(family_of(seen, "operator new").live_bytes() == 0);
        CHECK(objects_of_type(seen, "pmr_types::order") == 1);
    }
    CHECK(family_of(window.stats(), "frame").live_objects() == 0);
}

TEST_CASE("reported_resource: between a pool and its memory it counts chunks, beside the objects") {
    const allocscope::scope window{"pmr"};
    allocscope::reported_resource chunks{std::pmr::new_delete_resource(), "chunks"};
    std::pmr::unsynchronized_pool_resource pool{&chunks};
    allocscope::reported_resource objects{&pool, "objects"};
    std::pmr::unordered_map<int, order> orders{&objects};
    for (int i = 0; i < 1000; ++i) orders[i] = {};
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "objects").live_objects() > 1000);
    CHECK(family_of(seen, "chunks").live_objects() > 0);
    CHECK(family_of(seen, "chunks").live_objects() < 200);
    CHECK(family_of(seen, "chunks").live_bytes() >= family_of(seen, "objects").live_bytes());
}

TEST_CASE("reported_resource: it is equal to itself alone, and says what it stands for") {
    allocscope::reported_resource one{std::pmr::new_delete_resource(), "one"};
    allocscope::reported_resource two{std::pmr::new_delete_resource(), "two"};
    CHECK(one.is_equal(one));
    CHECK_FALSE(one.is_equal(two));
    CHECK(one.upstream_resource() == std::pmr::new_delete_resource());
    CHECK(std::string{one.name()} == "one");
}
