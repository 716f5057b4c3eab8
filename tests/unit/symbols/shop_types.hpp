// shop_types.hpp - the types of the unit with shop::cart, as each compiler tells them.
//
// Room:     tests/unit/symbols
// Called:   by tests of classes that are known with their sizes
// Threads:  one
// Memory:   a fixture at a time

#ifndef ALLOCSCOPE_TESTS_UNIT_SYMBOLS_SHOP_TYPES_HPP
#define ALLOCSCOPE_TESTS_UNIT_SYMBOLS_SHOP_TYPES_HPP

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <doctest/doctest.h>

#include <initializer_list>

#include "unit/symbols/fixture_bytes.hpp"

namespace allocscope_test {

// Calls work(memory, known).
template <class Work>
void with_shop_types(const Work& work) {
    namespace symbolize = allocscope::symbolize;
    for (const char* name : {"gcc_dwarf5_o2.so", "gcc_dwarf4_o2.so", "clang_dwarf5_o2.so"}) {
        CAPTURE(name);
        const auto bytes = fixture::bytes_of(name);
        allocscope::plain::arena memory;
        symbolize::kept_texts texts{memory};
        symbolize::debug_object object{texts, fixture::view_of(bytes)};
        const symbolize::type_names* known =
            object.types_at(object.address_of("_ZN4shop4cart5totalEi"));
        REQUIRE(known != nullptr);
        work(memory, *known);
    }
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_UNIT_SYMBOLS_SHOP_TYPES_HPP
