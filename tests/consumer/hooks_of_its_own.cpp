// A consumer's program that includes the hooks itself, after the door, and prints its rows.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <iostream>
#include <string>

int main() {
    allocscope::scope window{"consumer"};
    auto* kept = new std::string("a text that lives");
    const allocscope::snapshot alive = window.stats();
    std::cout << alive;
    delete kept;
    return alive.live_objects() >= 1 && window.stop().empty() ? 0 : 1;
}
