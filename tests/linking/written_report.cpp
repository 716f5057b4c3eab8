// Takes a report, so that the code of its writers is compiled, too.
#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

int main() {
    const allocscope::scope window{"written"};
    allocscope::write_text(window.stats(), "written.txt");
}
