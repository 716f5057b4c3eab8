// late_frees_library.cpp - see late_frees.cpp.
#include "rounds.hpp"

struct stage {
    void* blocks[4000];
};
stage of_library;

[[gnu::destructor]] static void at_the_end_of_the_library() {
    for (int i = 0; i < rounds(); ++i) std::free(of_library.blocks[i]);
}
