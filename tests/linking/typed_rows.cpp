// Every container of the standard library with allocscope::allocator. For each one line: its name,
// the types of its rows, and how many objects are left when it is gone.
#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace app {

struct order {
    int number = 0;
    char text[20] = {};
    friend bool operator<(const order& a, const order& b) { return a.number < b.number; }
    friend bool operator==(const order& a, const order& b) { return a.number == b.number; }
};

// The same size and the same code: only the name is another one.
struct offer : order {};

struct alignas(64) wide {
    double numbers[8] = {};
};

struct hash {
    std::size_t operator()(const order& of) const { return static_cast<std::size_t>(of.number); }
};

}  // namespace app

namespace {

template <class T>
using own = allocscope::allocator<T>;

template <class Fill>
__attribute__((noinline)) void show(const char* name, const Fill& fill) {
    allocscope::scope window{name};
    {
        auto kept = fill();
        const allocscope::snapshot seen = window.stats();
        std::printf("%s:", name);
        for (const allocscope::snapshot::row& row : seen) std::printf(" [%s]", row.type);
        __asm__ volatile("" : : "r"(&kept) : "memory");
    }
    std::printf(", %llu left\n", static_cast<unsigned long long>(window.counts().live_objects()));
}

template <class T>
auto filled_vector() {
    return [] { return std::vector<T, own<T>>(10); };
}

}  // namespace

int main() {
    using app::order;
    using pair = std::pair<const int, order>;
    show("vector", filled_vector<order>());
    show("vector of the same size", filled_vector<app::offer>());
    show("vector of wide", filled_vector<app::wide>());
    show("vector of pointers", filled_vector<order*>());
    show("deque", [] { return std::deque<order, own<order>>(3); });
    show("list", [] { return std::list<order, own<order>>(3); });
    show("forward_list", [] { return std::forward_list<order, own<order>>(3); });
    show("set", [] { return std::set<order, std::less<order>, own<order>>{order{}}; });
    show("multiset", [] { return std::multiset<order, std::less<order>, own<order>>{order{}}; });
    show("map", [] { return std::map<int, order, std::less<int>, own<pair>>{{1, order{}}}; });
    show("multimap", [] {
        return std::multimap<int, order, std::less<int>, own<pair>>{{1, order{}}};
    });
    show("unordered_set", [] {
        return std::unordered_set<order, app::hash, std::equal_to<order>, own<order>>{order{}};
    });
    show("unordered_map", [] {
        return std::unordered_map<int, order, std::hash<int>, std::equal_to<int>, own<pair>>{
            {1, order{}}};
    });
    show("string",
         [] { return std::basic_string<char, std::char_traits<char>, own<char>>(100, 'x'); });
    show("allocate_shared", [] { return std::allocate_shared<order>(own<order>{}); });

    // What the standard asks of an allocator.
    using traits = std::allocator_traits<own<order>>;
    static_assert(std::is_same<traits::rebind_alloc<int>, own<int>>::value, "rebinds");
    static_assert(traits::is_always_equal::value, "holds nothing");
    static_assert(traits::propagate_on_container_move_assignment::value, "as std::allocator");
    static_assert(!traits::propagate_on_container_copy_assignment::value, "as std::allocator");
    static_assert(!traits::propagate_on_container_swap::value, "as std::allocator");
    static_assert(std::is_empty<own<order>>::value, "costs no room in a container");
    own<order> first;
    const own<int> second{first};
    bool is_refused = false;
    try {
        first.deallocate(first.allocate(~std::size_t{0} / 2), 1);
    } catch (const std::bad_alloc&) {
        is_refused = true;
    }
    std::printf("equal: %d, too many are refused: %d\n", first == second && !(first != second),
                is_refused);
    return 0;
}
