#include "made_elf_file.hpp"

#include <allocscope/binary/elf_image.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace {

using allocscope::detail::byte_view;
using allocscope::plain::arena;
using allocscope::symbolize::debug_units;
using allocscope::symbolize::entry_name;
using allocscope::symbolize::entry_names;
using allocscope::symbolize::kept_texts;
using allocscope::symbolize::object_bytes;
using made_elf::append;
using made_elf::bytes;
using made_elf::file_of;
using made_elf::put;
using made_elf::put_shape;
using made_elf::put_uleb;

// The header of a DWARF 4 unit without its length, and the entry of the unit, of shape 1.
bytes begun_unit() {
    bytes unit;
    put(unit, 4, 2);
    put(unit, 0, 4);
    put(unit, 8, 1);
    append(unit, {1});
    put(unit, 0x1000, 8);
    put(unit, 16, 1);
    return unit;
}

// DWARF 4. "grow" is declared in file 3, line 30. One definition is in line 40 of the same file,
// one in line 50 of file 0, and one has neither file nor line.
struct functions {
    bytes info;
    bytes shapes;
    std::uint64_t same_file = 0;
    std::uint64_t file_zero = 0;
    std::uint64_t nothing = 0;

    functions() {
        put_shape(shapes, 1, 0x11, true, {0x11, 0x01, 0x12, 0x0b});  // the unit: addresses
        put_shape(shapes, 2, 0x2e, false, {0x03, 0x08, 0x3a, 0x0b, 0x3b, 0x0b});  // declared
        put_shape(shapes, 3, 0x2e, false, {0x47, 0x13, 0x3b, 0x0b});              // a line
        put_shape(shapes, 4, 0x2e, false, {0x47, 0x13, 0x3a, 0x0b, 0x3b, 0x0b});  // and a file
        put_shape(shapes, 5, 0x2e, false, {0x47, 0x13});
        put(shapes, 0, 1);
        bytes unit = begun_unit();
        const std::uint64_t declared = unit.size() + 4;
        append(unit, {2, 'g', 'r', 'o', 'w', 0, 3, 30});
        same_file = unit.size() + 4;
        append(unit, {3});
        put(unit, declared, 4);
        append(unit, {40});
        file_zero = unit.size() + 4;
        append(unit, {4});
        put(unit, declared, 4);
        append(unit, {0, 50});
        nothing = unit.size() + 4;
        append(unit, {5});
        put(unit, declared, 4);
        put(unit, 0, 1);
        put(info, unit.size(), 4);
        append(info, unit);
    }
};

// DWARF 4. Functions as g++ describes them: a constructor that it made, whose code has the linker
// name and refers to the declaration; one with a body; an assignment, a constructor and a
// destructor in a class without linker names; the body of a coroutine, which is artificial, too.
struct made_functions {
    bytes info;
    bytes shapes;
    std::uint64_t copy = 0;
    std::uint64_t written = 0;
    std::uint64_t assignment = 0;
    std::uint64_t hidden_copy = 0;
    std::uint64_t destructor = 0;
    std::uint64_t coroutine = 0;

    made_functions() {
        put_shape(shapes, 1, 0x11, true, {0x11, 0x01, 0x12, 0x0b});   // the unit: addresses
        put_shape(shapes, 2, 0x2e, false, {0x03, 0x08, 0x34, 0x19});  // a name; artificial
        put_shape(shapes, 3, 0x2e, false, {0x6e, 0x08, 0x31, 0x13});  // a linker name and a link
        put_shape(shapes, 4, 0x2e, false, {0x03, 0x08, 0x3b, 0x0b});  // a name and a line
        put_shape(shapes, 5, 0x13, true, {0x03, 0x08});               // a class
        put(shapes, 0, 1);
        bytes unit = begun_unit();
        const auto add = [&unit](unsigned shape, const std::string& name) {
            const std::uint64_t at = unit.size() + 4;
            put(unit, shape, 1);
            unit.insert(unit.end(), name.begin(), name.end());
            put(unit, 0, 1);
            return at;
        };
        const std::uint64_t declared = add(2, "s");
        const std::uint64_t declared_with_body = add(4, "s");
        append(unit, {30});
        copy = add(3, "_ZN1sC2ERKS_");
        put(unit, declared, 4);
        written = add(3, "_ZN1sC2Ei");
        put(unit, declared_with_body, 4);
        coroutine = add(2, "work");
        add(5, "hidden<int>");
        hidden_copy = add(2, "hidden");
        destructor = add(2, "~hidden");
        assignment = add(2, "operator=");
        put(unit, 0, 1);
        put(unit, 0, 1);
        put(info, unit.size(), 4);
        append(info, unit);
    }
};

// DWARF 4. A function in a class without a name; returns its entry.
std::uint64_t put_member_of_unnamed(bytes& info, bytes& shapes, const std::string& name) {
    put_shape(shapes, 1, 0x11, true, {0x11, 0x01, 0x12, 0x0b});  // the unit: addresses
    put_shape(shapes, 2, 0x13, true, {0x0b, 0x0b});              // a class with a size
    put_shape(shapes, 3, 0x2e, false, {0x03, 0x08});
    put(shapes, 0, 1);
    bytes unit = begun_unit();
    append(unit, {2, 8});
    const std::uint64_t member = unit.size() + 4;
    append(unit, {3});
    unit.insert(unit.end(), name.begin(), name.end());
    put(unit, 0, 3);
    put(info, unit.size(), 4);
    append(info, unit);
    return member;
}

// The names in a file with these entries and abbreviations.
struct names_in_file {
    names_in_file(const bytes& info, const bytes& shapes)
        : file(file_of({{".debug_info", info}, {".debug_abbrev", shapes}})) {}

    bytes file;
    arena memory;
    object_bytes object{memory, byte_view{file.data(), file.size()}};
    debug_units units{memory, object};
    arena kept;
    kept_texts texts{kept};
    entry_names names{units, texts};
};

}  // namespace

TEST_CASE("entry_names: what the compiler made is known") {
    const made_functions made;
    names_in_file in{made.info, made.shapes};
    CHECK(in.names.of(made.copy).function == "s::s(s const&)");
    CHECK(in.names.of(made.copy).is_implicit);
    CHECK(in.names.of(made.written).may_be_implicit);
    CHECK_FALSE(in.names.of(made.written).is_implicit);
    CHECK(in.names.of(made.hidden_copy).function == "hidden<int>::hidden");
    CHECK(in.names.of(made.hidden_copy).is_implicit);
    CHECK(in.names.of(made.destructor).is_implicit);
    CHECK(in.names.of(made.assignment).is_implicit);
    CHECK(in.names.of(made.coroutine).function == "work");
    CHECK_FALSE(in.names.of(made.coroutine).is_implicit);
}

TEST_CASE("entry_names: a definition in the file of the declaration has only its line") {
    const functions made;
    names_in_file in{made.info, made.shapes};
    const auto check = [&](std::uint64_t entry, std::uint64_t number, std::uint64_t line) {
        const entry_name name = in.names.of(entry);
        CHECK(name.function == "grow");
        CHECK(name.file == number);
        CHECK(name.line == line);
    };
    check(made.same_file, 3, 40);
    check(made.file_zero, 0, 50);
    check(made.nothing, 3, 30);
}

TEST_CASE("entry_names: a class without a name that can be called is a lambda") {
    for (const std::string name : {"operator()", "operator()<double>", "twice"}) {
        CAPTURE(name);
        bytes info;
        bytes shapes;
        const std::uint64_t member = put_member_of_unnamed(info, shapes, name);
        names_in_file in{info, shapes};
        const std::string scope = name == "twice" ? "{unnamed type}::" : "{lambda}::";
        CHECK(in.names.of(member).function == (scope + name).c_str());
    }
}

TEST_CASE("entry_names: a lambda in a constructor is no constructor, but the copy of one is") {
    using allocscope::symbolize::is_special_member;
    CHECK(is_special_member("_ZN4shop9catalogueI4itemEC4Ev"));
    CHECK_FALSE(is_special_member("_ZZN4shop9catalogueI4itemEC4EvENKUlvE_clEv"));
    CHECK_FALSE(is_special_member("_ZZN1wC4EvENKUlT_E0_clIiEEDaS0_"));
    CHECK_FALSE(is_special_member("_ZZN1waSEiENKUliE_clEi"));
    CHECK(is_special_member("_ZZZN1wC4EvENKUlvE_clEvEN5localC1Ev"));
    CHECK(is_special_member("_ZZN1wC4EvENUlvE_C1EOS0_"));
    CHECK(is_special_member("_ZN4itemCI24baseE8my_class"));
}
