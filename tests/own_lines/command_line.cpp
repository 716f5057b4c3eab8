#include "share.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

int main() {
    const allocscope::scope window{"command line"};
    CLI::App app{"a description that is too long for the object", "program"};
    std::string name;
    std::vector<int> numbers;
    bool is_loud = false;
    app.add_option("-n,--name", name, "the name that is greeted by it")->required();
    app.add_option("--numbers", numbers, "numbers")->check(CLI::Range(0, 100));
    app.add_flag("--loud", is_loud, "whether it is loud or rather not");
    CLI::App* const sub = app.add_subcommand("sub", "a command below the other one");
    sub->add_option("file", name)->check(CLI::ExistingFile)->envname("SOME_FILE_OF_THE_USER");
    app.parse("--name \"a name that is too long for it\" --numbers 1 2 3");
    const std::string help = app.help();
    return testing::own_lines(window.stats(), __FILE__, 12);
}
