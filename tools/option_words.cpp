#include "option_words.hpp"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>

namespace allocscope_tools {

std::string read_amount(const std::string& text, std::uint64_t& into) {
    const char* const problem =
        "it must be a whole number, such as 4096, 64K, 10MiB or 2G, in units of 1024";
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) return problem;
    char* end = nullptr;
    errno = 0;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    if (errno != 0) return problem;
    unsigned shift = 0;
    if (*end != '\0') {
        const std::string units = "KMGT";
        const std::size_t unit =
            units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*end))));
        const std::string rest = end + 1;
        if (unit == std::string::npos || (!rest.empty() && rest != "iB" && rest != "ib")) {
            return problem;
        }
        shift = 10 * (static_cast<unsigned>(unit) + 1);
    }
    if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return problem;
    into = static_cast<std::uint64_t>(number) << shift;
    return {};
}

}  // namespace allocscope_tools
