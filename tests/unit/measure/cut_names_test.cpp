// Names that are longer than their room keep whole characters, wherever they are kept.
#include <allocscope/allocscope.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/time_series.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("names: a window, a mark, a pool and a guard keep whole characters of theirs") {
    const std::string kept(62, 'n');
    const std::string name = kept + "\xc3\xa9";
    allocscope::timed_scope window{name.c_str()};
    window.mark(name.c_str());
    int object = 0;
    for (int i = 0; i < 2; ++i) {
        allocscope::report_allocation(&object, 100, name.c_str());
        allocscope::report_free(&object, name.c_str());
    }
    const allocscope::snapshot found = window.stop();
    CHECK(found.info().name == kept);
    bool has_mark = false;
    for (std::size_t i = 0; i < found.info().moment_count; ++i) {
        has_mark = has_mark || found.info().moments[i].mark == kept;
    }
    CHECK(has_mark);
    bool has_family = false;
    for (std::size_t i = 0; i < found.info().family_count; ++i) {
        const allocscope::snapshot::family& each = found.info().families[i];
        if (each.name != kept) continue;
        has_family = true;
        CHECK(each.allocations == 2);
        CHECK(each.frees == 2);
    }
    CHECK(has_family);
    allocscope::no_allocation_guard guard{
        name.c_str(),
        allocscope::on_violation::call([](const allocscope::check_result&, void*) {})};
    ::operator delete(::operator new(4));
    CHECK(guard.finish().rows().info().name == kept);
}
