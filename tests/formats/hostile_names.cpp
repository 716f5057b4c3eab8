// hostile_names.cpp FOLDER - writes a snapshot whose names are made to do harm, in every format.
#include <string>

#include "unit/formats/made_stacks.hpp"

int main(int count, char** arguments) {
    if (count != 2) return 2;
    using namespace allocscope_tests;
    info_text about;
    about.name = "win\n\"dow\x1b";
    about.command = "prog --x \"y\"\nfn=(1) # z";
    about.losses.push_back({"was \"lost\"\nevents: none", 1});
    const allocscope::snapshot rows = made_window(hostile_stacks(), about);
    for (const auto& format : allocscope::detail::file_formats) {
        allocscope::write(rows, std::string(arguments[1]) + "/hostile" + format.ending);
    }
    return 0;
}
