#include "option_words.hpp"

#include "counted.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace allocscope_tools {

std::string unknown_option(const char* verb, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    if (name == "--help") return needless_value(word);
    return "there is no option \"" + name + "\"; allocscope " + verb + " --help lists them";
}

std::string needless_value(const std::string& word) {
    const std::size_t equals = word.find('=');
    return word.substr(0, equals) + " takes no value; leave \"" + word.substr(equals) + "\" out";
}

std::string missing_value(const char* verb, const std::string& name) {
    return name + " needs a value; allocscope " + verb + " --help says which";
}

std::string wrong_value(const std::string& name, const std::string& value,
                        const std::string& problem) {
    return problem.empty() ? "" : name + " is \"" + value + "\"; " + problem;
}

std::string wrong_number_of_files(std::size_t given, const char* usage) {
    return counted(given, "file was", "files were") + " given; write: allocscope " + usage;
}

std::string read_amount(const std::string& text, std::uint64_t& into) {
    const char* const problem =
        "it must be a whole number, such as 4096, 64K, 10MiB or 2G, in units of 1024";
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) return problem;
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
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
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    into = number > most >> shift ? most : number << shift;
    return {};
}

std::string read_whole(const std::string& text, std::uint32_t least, std::uint32_t most,
                       std::uint32_t& into) {
    std::uint64_t number = 0;
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && read_amount(text, number).empty() && number >= least && number <= most) {
        into = static_cast<std::uint32_t>(number);
        return {};
    }
    return "it must be a whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
}

const char* read_decimal(const char* text, double& into) {
    const bool is_decimal =
        std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.';
    const bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!is_decimal || is_hexadecimal) return nullptr;
    char* end = nullptr;
    into = std::strtod(text, &end);
    return end;
}

std::string read_duration(const std::string& text, std::uint64_t& into) {
    const char* const problem =
        "it must be a time above 0, such as 500ms, 10s, 5min, 2h or 1d; a number alone is seconds";
    constexpr struct {
        const char* name;
        double nanoseconds;
    } units[] = {{"", 1e9},  {"s", 1e9},    {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1.}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
    double number = 0;
    const char* const unit_name = read_decimal(text.c_str(), number);
    if (unit_name == nullptr) return problem;
    for (const auto& unit : units) {
        if (std::string{unit_name} != unit.name) continue;
        const double nanoseconds = std::round(number * unit.nanoseconds);
        constexpr double most = 1e18;  // 11574 days
        if (nanoseconds > most) return "it must be at most 11574d";
        if (!(nanoseconds >= 1)) return problem;
        into = static_cast<std::uint64_t>(nanoseconds);
        return {};
    }
    return problem;
}

}  // namespace allocscope_tools
