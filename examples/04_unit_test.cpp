// A unit test that fails when something is left alive, and says what. Needs doctest.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/04_unit_test.cpp -o unit_test
//     ./unit_test
//
// The first case passes, the second finds the leak that is built in: the exit code is not 0.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

struct listener {
    std::string name;
};

class registry {
public:
    ~registry() {
        for (auto& [id, known] : listeners_) delete known;
    }
    void add(int id, const char* name) { listeners_[id] = new listener{name}; }
    void remove(int id) {
        const auto found = listeners_.find(id);
        delete found->second;
        listeners_.erase(found);
    }
    void forget(int id) { listeners_.erase(id); }  // the bug: the listener is not deleted

private:
    std::map<int, listener*> listeners_;
};

}  // namespace

TEST_CASE("registry: a removed listener is freed") {
    allocscope::scope window{"remove"};
    {
        registry listeners;
        listeners.add(1, "one");
        listeners.add(2, "two");
        listeners.remove(1);
    }
    const allocscope::snapshot alive = window.stop();
    CHECK_MESSAGE(alive.empty(), "still alive:\n", alive);
}

TEST_CASE("registry: a forgotten listener is freed") {
    allocscope::scope window{"forget"};
    {
        registry listeners;
        listeners.add(1, "one");
        listeners.add(2, "two");
        listeners.forget(1);
    }
    const allocscope::snapshot alive = window.stop();
    CHECK_MESSAGE(alive.empty(), "still alive:\n", alive);
}
