// before_main_library.cpp - see before_main.cpp. Linked three times.
#include "rounds.hpp"

namespace {

void half_kept() {
    for (int i = 0; i < rounds(); ++i) {
        void* first = block_of(24);
        block_of(24);
        std::free(first);
    }
}

[[gnu::constructor(101)]] void at_load() {
    half_kept();
}

struct allocates {
    allocates() { half_kept(); }
};
[[gnu::init_priority(101)]] allocates object;

}  // namespace
