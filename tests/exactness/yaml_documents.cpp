// yaml-cpp: a shared library full of maps, sets and shared_ptr, with exceptions.
#include "measured_part.hpp"

#include <yaml-cpp/yaml.h>

#include <string>

int main(int, char** arguments) {
    return testing::measure(arguments[1], [] {
        YAML::Emitter emitter;
        emitter << YAML::BeginMap;
        for (int i = 0; i < 60; ++i) {
            emitter << YAML::Key << "key number " + std::to_string(i) << YAML::Value
                    << YAML::BeginSeq << i << "text" << std::string(30, 'y') << YAML::EndSeq;
        }
        emitter << YAML::EndMap;
        const YAML::Node document = YAML::Load(emitter.c_str());
        int refused = 0;
        for (int i = 0; i < 10; ++i) {
            try {
                YAML::Load("{ not: [closed");
            } catch (const YAML::ParserException&) {
                ++refused;
            }
        }
        std::printf("%zu %d\n", document.size(), refused);
    });
}
