// toml++, a library of templates alone with the version in its namespace, as its users use it.

#include "share.hpp"

#include <toml++/toml.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

static std::vector<std::int64_t> ports_in(const toml::table& table) {
    std::vector<std::int64_t> ports;
    if (const toml::array* all = table["server"]["ports"].as_array()) {
        for (const toml::node& each : *all) ports.push_back(each.value_or(std::int64_t{0}));
    }
    return ports;
}

int main() {
    const allocscope::scope window{"toml++"};
    toml::table table = toml::parse(
        "[server]\n"
        "name = 'a name that is too long for the object'\n"
        "ports = [80, 443]\n"
        "since = 1979-05-27\n");
    const std::vector<std::int64_t> ports = ports_in(table);
    const toml::array mixed{1, 2.5, "three"};
    table.insert_or_assign("extra", mixed);
    const auto copy = std::make_unique<toml::table>(table);
    std::ostringstream out;
    out << toml::json_formatter{table};
    const std::string text = out.str();
    const allocscope::snapshot seen = window.stats();
    const int misspelled =
        testing::lacks_types(seen, {"toml::table", "toml::array", "toml::value<double>",
                                    "toml::value<toml::date>", "std::unique_ptr<toml::node>"});
    return testing::own_lines(seen, __FILE__, 15) + misspelled;
}
