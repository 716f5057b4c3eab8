#include "share.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

using nlohmann::json;

struct order {
    int number;
    std::string customer;
    std::vector<std::string> articles;
};

static void to_json(json& made, const order& from) {
    made = json{{"number", from.number}, {"customer", from.customer}, {"list", from.articles}};
}

static void from_json(const json& read, order& made) {
    read.at("number").get_to(made.number);
    read.at("customer").get_to(made.customer);
    read.at("list").get_to(made.articles);
}

int main() {
    const allocscope::scope window{"json"};
    const json parsed = json::parse(
        R"({"name": "a name that is too long for the object", "list": [1, 2.5, null, [true]]})");
    json built;
    built["settings"]["colour"] = "a colour that has a long name indeed";
    built["settings"]["size"] = 12;
    built["points"] = json::array({1, 2, 3});
    built["points"].push_back({{"x", 1}, {"y", std::string(40, 'y')}});
    built.emplace("more", std::vector<int>{1, 2, 3});
    const json written = order{7, "a customer with a long name, Ltd.", {"one", "two"}};
    const auto read = written.get<order>();
    const json patch = json::diff(parsed, built);
    json merged = parsed;
    merged.merge_patch(built);
    const json flat = merged.flatten();
    const std::vector<std::uint8_t> packed = json::to_msgpack(flat);
    const json unpacked = json::from_msgpack(packed);
    const std::string text = unpacked.dump(2);
    const auto words = written["list"].get<std::vector<std::string>>();
    const auto whole = built["settings"].get<std::map<std::string, json>>();
    return testing::own_lines(window.stats(), __FILE__, 12);
}
