// A consumer's program that includes the hooks itself, after the door, and prints its rows. It
// includes no more than the first program of the documented contract: that one uses std::vector and
// std::string, so the three headers must bring both.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <iostream>

int main() {
    std::vector<std::string*> kept;
    allocscope::scope window{"consumer"};
    kept.push_back(new std::string("a text that lives"));
    const allocscope::snapshot alive = window.stats();
    std::cout << alive;
    delete kept[0];
    kept = std::vector<std::string*>();
    return alive.live_objects() >= 2 && window.stop().empty() ? 0 : 1;
}
