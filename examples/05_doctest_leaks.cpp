// Every doctest case must free what it allocates; some blocks must allocate little or nothing.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/05_doctest_leaks.cpp -o doctest_leaks
//     ./doctest_leaks
//
// Two cases fail because of the bugs that are built in: the exit code is not 0. The output stands
// in docs/how_to/doctest.md.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/integrations/doctest.hpp>

#include <map>
#include <string>
#include <vector>

ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();

namespace {

struct session {
    std::string user;
};

class server {
public:
    ~server() {
        for (auto& [id, open] : sessions_) delete open;
    }
    void open(int id, const char* user) { sessions_[id] = new session{user}; }
    void close(int id) {
        delete sessions_[id];
        sessions_.erase(id);
    }
    void time_out(int id) { sessions_.erase(id); }  // the first bug: nobody deletes the session
    std::size_t count() const { return sessions_.size(); }

private:
    std::map<int, session*> sessions_;
};

// The second bug: a copy of every name.
std::size_t longest(const std::vector<std::string>& names) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string name = names[i];
        if (name.size() > most) most = name.size();
    }
    return most;
}

}  // namespace

TEST_CASE("server: sessions that end leave nothing behind") {
    server tested;
    tested.open(1, "one");
    tested.open(2, "two");
    SUBCASE("closed by the user") {
        tested.close(1);
    }
    SUBCASE("timed out") {
        tested.time_out(1);
    }
    SUBCASE("still open") {}
    CHECK(tested.count() >= 1);
}

TEST_CASE("names: the longest is found without allocating") {
    const std::vector<std::string> names(10, std::string(40, 'n'));
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {
        longest(names);
    }
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(11) {
        const std::vector<std::string> copy = names;
    }
}

TEST_CASE("server: the audit keeps one record" * allocscope::expect_leaks(1)) {
    static const std::string* audit = new std::string("kept");
    CHECK(!audit->empty());
}
