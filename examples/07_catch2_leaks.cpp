// Every Catch2 test case must free what it allocates; blocks in a test case keep to a budget.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/07_catch2_leaks.cpp -o catch2_leaks
//     ./catch2_leaks
//
// For version 2 (one header). For version 3 leave the first line out and link Catch2. Two test
// cases fail because of the bugs that are built in: the exit code is 2. The output stands in
// docs/how_to/catch2.md.
#define CATCH_CONFIG_RUNNER
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/integrations/catch2.hpp>

#include <list>
#include <string>

namespace {

struct shape {
    virtual ~shape() = default;
    std::string name;
};
struct circle final : shape {
    double radius = 1;
};

class drawing {
public:
    ~drawing() {
        for (shape* each : shapes_) delete each;
    }
    void add(shape* added) { shapes_.push_back(added); }
    void replace_last(shape* by) { shapes_.back() = by; }  // the first bug: the old one is lost
    void clear() {
        for (shape* each : shapes_) delete each;
        shapes_.clear();
    }
    // The second bug: a copy of the name for each question.
    bool has(const char* name) const {
        for (const shape* each : shapes_) {
            const std::string copy = each->name;
            if (copy == name) return true;
        }
        return false;
    }

private:
    std::list<shape*> shapes_;
};

}  // namespace

ALLOCSCOPE_CATCH2_MAIN()

TEST_CASE("a drawing owns its shapes") {
    drawing picture;
    picture.add(new circle);
    SECTION("until it is cleared") {
        picture.clear();
    }
    SECTION("also those that are replaced") {
        picture.replace_last(new circle);
    }
}

TEST_CASE("looking for a shape costs no memory") {
    drawing picture;
    auto* named = new circle;
    named->name = "a name that is longer than a short string";
    picture.add(named);
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {
        picture.has("a circle");
    }
}
