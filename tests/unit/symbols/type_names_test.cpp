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

// A file whose debug information has code at 0x1000.
class described_file {
public:
    described_file(const bytes& info, const bytes& shapes)
        : file_(file_of({{".debug_info", info}, {".debug_abbrev", shapes}})) {}

    // The first type with that name, for the code.
    const named_type& first(const char* name) {
        const type_names* const known = object_.types_at(0x1000);
        REQUIRE(known != nullptr);
        const named_type* const found = known->all(name);
        REQUIRE(found != nullptr);
        return *found;
    }

private:
    bytes file_;
    arena memory_;
    kept_texts texts_{memory_};
    debug_object object_{texts_, byte_view{file_.data(), file_.size()}};
};

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
    described_file file{info, shapes};
    return file.first("box").defaults;
}

// A unit of DWARF 5 with its length in front.
bytes unit_of(std::uint8_t kind, const bytes& header, const bytes& entries) {
    bytes unit;
    put(unit, 5, 2);
    append(unit, {kind, 8, 0, 0, 0, 0});
    append(unit, header);
    append(unit, entries);
    bytes whole;
    put(whole, unit.size(), 4);
    append(whole, unit);
    return whole;
}

// What g++ -fdebug-types-section writes: the unit with the code names a class by its signature
// only, and outside of its scopes. The class `part` has `scope`, which is of the shape 3 or 4. The
// name of the class, or in brackets the scopes of a class that cannot be named.
std::string part_of_own_unit(const bytes& scope) {
    bytes shapes;
    put_shape(shapes, 1, 0x11, true, {0x11, 0x01, 0x12, 0x0b});  // the unit: addresses
    put_shape(shapes, 2, 0x41, true, {});                        // the unit of a type
    put_shape(shapes, 3, 0x39, true, {0x03, 0x08});              // a namespace: a name
    put_shape(shapes, 4, 0x13, true, {0x03, 0x08, 0x3c, 0x19});  // a class that is declared
    put_shape(shapes, 5, 0x13, false, {0x03, 0x08, 0x3c, 0x19});
    // A class: a name, a size, what it completes; the same by a signature
    put_shape(shapes, 6, 0x13, false, {0x03, 0x08, 0x0b, 0x0b, 0x47, 0x13});
    put_shape(shapes, 7, 0x13, false, {0x69, 0x20});
    bytes types = {2, 3, 'a', 'p', 'p', 0};
    append(types, scope);
    const std::size_t declared = 24 + types.size();
    append(types, {5, 'p', 'a', 'r', 't', 0, 0});
    if (!scope.empty()) types.push_back(0);
    const std::size_t completed = 24 + types.size();
    append(types, {6, 'p', 'a', 'r', 't', 0, 12});
    put(types, declared, 4);
    types.push_back(0);
    bytes header = {1, 2, 3, 4, 5, 6, 7, 8};
    put(header, completed, 4);
    bytes info = unit_of(2, header, types);
    bytes code = {1};
    put(code, 0x1000, 8);
    append(code, {16, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0});
    append(info, unit_of(1, {}, code));
    described_file file{info, shapes};
    const named_type& part = file.first("part");
    CHECK(part.next == nullptr);
    CHECK(part.bytes == 12);
    const std::string within{part.within.data(), part.within.size()};
    return part.qualified.empty() ? "(" + within + ")"
                                  : std::string{part.qualified.data(), part.qualified.size()};
}

}  // namespace

TEST_CASE("type_names: a type with a unit of its own has the scopes that are there") {
    CHECK(part_of_own_unit({}) == "app::part");
    CHECK(part_of_own_unit({4, 'b', 'o', 'x', 0}) == "app::box::part");
    CHECK(part_of_own_unit({3, 0}) == "app::(anonymous namespace)::part");
    CHECK(part_of_own_unit({4, 'b', 'o', 'x', '<', 'c', '>', 0}) == "(app::box)");
}

TEST_CASE("type_names: only the last arguments of a class are counted as defaults") {
    CHECK(defaults_of("") == 0);
    CHECK(defaults_of("n") == 0);
    CHECK(defaults_of("nd") == 1);
    CHECK(defaults_of("dd") == 2);
    CHECK(defaults_of("ndn") == 0);
    CHECK(defaults_of("dnd") == 1);
}
