#include "share.hpp"

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <vector>

int main() {
    const allocscope::scope window{"yaml"};
    YAML::Node parsed = YAML::Load(
        "name: a name that is too long for the object\nlist: [1, 2, 3]\nmap: {a: b, c: d}\n");
    YAML::Node built;
    built["colour"] = "a colour that has a long name indeed";
    built["sizes"].push_back(1);
    built["sizes"].push_back(2);
    built["inner"]["deep"] = std::map<std::string, int>{{"one", 1}, {"two", 2}};
    const auto words = parsed["map"].as<std::map<std::string, std::string>>();
    const auto numbers = parsed["list"].as<std::vector<int>>();
    const auto name = parsed["name"].as<std::string>();
    const YAML::Node copied = YAML::Clone(parsed);
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "key" << YAML::Value << built << YAML::EndMap;
    const std::string dumped = YAML::Dump(built);
    return testing::own_lines(window.stats(), __FILE__, 9);
}
