#include "made_elf_file.hpp"

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using allocscope::detail::byte_view;
using allocscope::plain::arena;
using allocscope::symbolize::debug_object;
using allocscope::symbolize::kept_texts;
using allocscope::symbolize::named_type;
using allocscope::symbolize::type_names;
using made_elf::append;
using made_elf::bytes;
using made_elf::file_of;
using made_elf::put;
using made_elf::put_shape;

// How many of the last arguments are known to be the defaults, in a class with one parameter for
// each letter: a `d` is marked as the default, an `n` is not. g++ marks only the last ones. clang
// also marks one with another behind it.
std::size_t defaults_of(const std::string& letters) {
    bytes shapes;
    put_shape(shapes, 1, 0x11, true, {0x11, 0x01, 0x12, 0x0b});  // the unit: addresses
    put_shape(shapes, 2, 0x02, true, {0x03, 0x08, 0x0b, 0x0b});  // a class: a name and a size
    put_shape(shapes, 3, 0x2f, false, {});                       // a template parameter
    put_shape(shapes, 4, 0x2f, false, {0x1e, 0x19});             // one that is marked
    put(shapes, 0, 1);
    bytes unit;  // of DWARF 4
    put(unit, 4, 2);
    put(unit, 0, 4);
    put(unit, 8, 1);
    append(unit, {1});
    put(unit, 0x1000, 8);
    put(unit, 16, 1);
    append(unit, {2, 'b', 'o', 'x', '<', '>', 0, 8});
    for (const char letter : letters) put(unit, letter == 'd' ? 4 : 3, 1);
    put(unit, 0, 2);
    bytes info;
    put(info, unit.size(), 4);
    append(info, unit);
    const bytes file = file_of({{".debug_info", info}, {".debug_abbrev", shapes}});
    arena memory;
    kept_texts texts{memory};
    debug_object object{texts, byte_view{file.data(), file.size()}};
    const type_names* known = object.types_at(0x1000);
    REQUIRE(known != nullptr);
    const named_type* box = known->all("box");
    REQUIRE(box != nullptr);
    return box->defaults;
}

}  // namespace

TEST_CASE("type_names: only the last arguments of a class are counted as defaults") {
    CHECK(defaults_of("") == 0);
    CHECK(defaults_of("n") == 0);
    CHECK(defaults_of("nd") == 1);
    CHECK(defaults_of("dd") == 2);
    CHECK(defaults_of("ndn") == 0);
    CHECK(defaults_of("dnd") == 1);
}
