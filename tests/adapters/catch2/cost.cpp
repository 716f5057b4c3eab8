// A thousand small test cases, and a thousand with a SECTION, for cost_per_test.py: with the
// listener, or (ALLOCSCOPE_UNCHECKED) without. The hooks are there in both.
#define CATCH_CONFIG_RUNNER
#include <allocscope/integrations/catch2.hpp>

#include <map>
#include <string>

namespace {

void fill_a_map() {
    std::map<int, std::string> words;
    for (int i = 0; i < 10; ++i) words[i] = std::string(static_cast<std::size_t>(20 + i), 'a');
    CHECK(words.size() == 10);
    CHECK(words[5].size() == 25);
}

void fill_in_a_section() {
    SECTION("one") {
        fill_a_map();
    }
}

bool register_a_thousand() {
    for (int i = 0; i < 1000; ++i) {
        const std::string number = std::to_string(i);
        const std::string plain = "plain " + number;
        REGISTER_TEST_CASE(fill_a_map, plain.c_str(), "[plain]");
        const std::string sections = "sections " + number;
        REGISTER_TEST_CASE(fill_in_a_section, sections.c_str(), "[sections]");
    }
    return true;
}

const bool are_registered = register_a_thousand();

}  // namespace

#ifdef ALLOCSCOPE_UNCHECKED
int main(int argc, char* argv[]) {
    return Catch::Session().run(argc, argv);
}
#else
ALLOCSCOPE_CATCH2_MAIN()
#endif
