#include <allocscope/types/read_names.hpp>

#include <doctest/doctest.h>

using allocscope::plain::arena;
using allocscope::symbolize::read_name;
using allocscope::symbolize::read_names;
using allocscope::symbolize::text;
using allocscope::symbolize::type_evidence;

TEST_CASE("read_names: a name is taken apart once") {
    arena memory;
    read_names names{memory};
    const text function = "std::vector<int, std::allocator<int> >::push_back(int&&)";
    const read_name& name = names.of(function);
    CHECK(name.plain == "std::vector::push_back");
    CHECK(name.call.scope_first == "int");
    CHECK(&names.of(function) == &name);
    names.of("app::f()");
    CHECK(&names.of(function) == &name);
}

TEST_CASE("read_names: who hands a request on") {
    arena memory;
    read_names names{memory};
    CHECK(names.of("operator new(unsigned long)").is_forwarding);
    CHECK_FALSE(names.of("operator new(unsigned long)").is_own_allocator);
    CHECK(names.of("app::w::operator new(unsigned long)").is_own_allocator);
    CHECK(names.of("app::w::operator new(unsigned long)").is_forwarding);
    CHECK(names.of("app::pool::do_allocate(unsigned long, unsigned long)").is_own_allocator);
    CHECK_FALSE(names.of("std::pmr::pool::do_allocate(unsigned long)").is_own_allocator);
    CHECK(names.of("allocscope::v5::detail::plain_block_or_throw(unsigned long)").is_forwarding);
    CHECK(names
              .of("allocscope::v5::detail::memory_of<allocscope::v5::detail::the_operators>::"
                  "obtain(unsigned long)")
              .is_forwarding);
    CHECK_FALSE(names.of("allocscope::v5::detail::report(unsigned long)").is_forwarding);
    CHECK_FALSE(names.of("app::detail::plain_block(unsigned long)").is_forwarding);
    CHECK_FALSE(names.of("app::w::allocate(int)").is_forwarding);
    CHECK_FALSE(names.of("").is_forwarding);
}

TEST_CASE("read_names: a frame without a line says less than one with a line") {
    arena memory;
    read_names names{memory};
    const text make = "std::unique_ptr<int> std::make_unique<int, int>(int&&)";
    CHECK(names.alone(make, true).name == "int");
    CHECK_FALSE(names.alone(make, false).is_known());
    CHECK(names.alone(make, true).evidence == type_evidence::made_object);
}

TEST_CASE("read_names: a longer text that begins where another one does is another") {
    arena memory;
    read_names names{memory};
    const char* whole = "app::load::twice()";
    CHECK(names.of({whole, 9}).plain == "app::load");
    CHECK(names.of(whole).plain == "app::load::twice");
}
