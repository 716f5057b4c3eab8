#include "share.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

int main() {
    const allocscope::scope window{"re2"};
    const RE2 plain{"(\\w+)@(\\w+)\\.com"};
    RE2::Options options;
    options.set_case_sensitive(false);
    const auto held = std::make_unique<RE2>("a(b|c)*d[e-k]{2,9}", options);
    std::string user, host;
    RE2::PartialMatch("someone-with-a-long-name@example.com", plain, &user, &host);
    RE2::FullMatch("ABCBCBDEEE", *held);
    std::string replaced = "one two three four five six seven eight";
    RE2::GlobalReplace(&replaced, "\\w+", "a longer word");
    RE2::Set set{RE2::DefaultOptions, RE2::UNANCHORED};
    set.Add("first|second", nullptr);
    set.Add("third.*", nullptr);
    set.Compile();
    std::vector<int> matching;
    set.Match("the third one", &matching);
    const std::map<std::string, int> names =
        RE2{"(?P<year>\\d+)-(?P<month>\\d+)"}.NamedCapturingGroups();
    std::vector<std::unique_ptr<RE2>> many;
    for (int i = 0; i < 4; ++i)
        many.push_back(std::make_unique<RE2>("x{" + std::to_string(i) + "}"));
    return testing::own_lines(window.stats(), __FILE__, 9);
}
