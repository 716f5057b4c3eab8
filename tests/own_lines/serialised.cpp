// hooks: malloc
#include "share.hpp"

#include <cereal/archives/json.hpp>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

struct shape {
    virtual ~shape() = default;
    std::string name;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(name);
    }
};

struct circle : shape {
    std::vector<double> radii;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(cereal::base_class<shape>(this), radii);
    }
};

CEREAL_REGISTER_TYPE(circle)

int main() {
    const allocscope::scope window{"serialised"};
    rapidjson::Document parsed;
    parsed.Parse(R"({"name": "a name that is too long for the object", "list": [1, 2, 3]})");
    rapidjson::Document built;
    built.SetObject();
    rapidjson::Value list{rapidjson::kArrayType};
    for (int i = 0; i < 100; ++i) list.PushBack(i, built.GetAllocator());
    built.AddMember("list", list, built.GetAllocator());
    rapidjson::StringBuffer buffer;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{buffer};
    built.Accept(writer);
    auto made = std::make_shared<circle>();
    made->name = "a name that is too long for the object";
    made->radii = {1, 2, 3};
    const std::shared_ptr<shape> shared = made;
    const std::map<int, std::string> names{{1, "a text that is too long for the object"}};
    std::stringstream bytes;
    {
        cereal::PortableBinaryOutputArchive out{bytes};
        out(shared, names);
    }
    std::shared_ptr<shape> read;
    std::map<int, std::string> read_names;
    {
        cereal::PortableBinaryInputArchive in{bytes};
        in(read, read_names);
    }
    std::ostringstream json;
    {
        cereal::JSONOutputArchive out{json};
        out(shared, names);
    }
    return testing::own_lines(window.stats(), __FILE__, 12);
}
