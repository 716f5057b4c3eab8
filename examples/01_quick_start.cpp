// Quick start: a window over a part of a program, and what is still alive in it.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>  // in exactly one .cpp of the program

#include <iostream>
#include <string>
#include <vector>

int main() {
    std::vector<std::string*> kept;
    allocscope::scope window{"quick start"};  // starts
    for (int i = 0; i < 100; ++i) kept.push_back(new std::string("aaaaa"));
    for (int i = 0; i < 1000; ++i) kept.push_back(new std::string("bbbbb"));
    std::cout << window.stats();  // what is still alive
    window.stop();
}
