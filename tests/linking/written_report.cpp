// Takes reports, so that the code of their writers is compiled, too.
#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

int main() {
    const allocscope::scope window{"written"};
    const allocscope::snapshot twice = allocscope::merge({window.stats(), window.stats()});
    const allocscope::fail_allocation millionth{1000000};
    allocscope::write_text(twice, "written.txt");
    return twice.group_by(allocscope::group_key::module).empty() ? 0 : 1;
}
