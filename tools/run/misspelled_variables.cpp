#include "misspelled_variables.hpp"

#include <algorithm>
#include <cstddef>

namespace allocscope_tools {

namespace {

const std::string beginning = "ALLOCSCOPE_";

bool begins_as_ours(const std::string& name) {
    return name.compare(0, beginning.size(), beginning) == 0;
}

// How many letters to insert, to leave out, to replace, or to exchange with the next one.
std::size_t edits_between(const std::string& one, const std::string& other) {
    std::vector<std::vector<std::size_t>> least(one.size() + 1,
                                                std::vector<std::size_t>(other.size() + 1));
    for (std::size_t i = 0; i <= one.size(); ++i) {
        for (std::size_t k = 0; k <= other.size(); ++k) {
            if (i == 0 || k == 0) {
                least[i][k] = i + k;
                continue;
            }
            const std::size_t replaced = one[i - 1] == other[k - 1] ? 0 : 1;
            least[i][k] = std::min(
                {least[i - 1][k] + 1, least[i][k - 1] + 1, least[i - 1][k - 1] + replaced});
            const bool is_exchanged =
                i > 1 && k > 1 && one[i - 1] == other[k - 2] && one[i - 2] == other[k - 1];
            if (is_exchanged) least[i][k] = std::min(least[i][k], least[i - 2][k - 2] + 1);
        }
    }
    return least[one.size()][other.size()];
}

// Short names are near to many words.
bool is_near(const std::string& given, const std::string& name) {
    const std::size_t most = name.size() - beginning.size() < 8 ? 1 : 2;
    return edits_between(given, name) <= most;
}

}  // namespace

std::vector<std::string> misspelled_variables(const char* const* environment,
                                              const std::vector<std::string>& names) {
    std::vector<std::string> sentences;
    for (const char* const* each = environment; *each != nullptr; ++each) {
        const std::string text = *each;
        const std::string given = text.substr(0, text.find('='));
        if (!begins_as_ours(given)) continue;
        if (std::find(names.begin(), names.end(), given) != names.end()) continue;
        const auto near = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
            return is_near(given, name);
        });
        if (near != names.end()) {
            sentences.push_back("nobody reads the variable " + given + "; is " + *near + " meant?");
        }
    }
    return sentences;
}

}  // namespace allocscope_tools
