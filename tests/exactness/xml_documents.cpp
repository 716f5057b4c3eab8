// tinyxml2: a shared library with pools of its own, which come from operator new[].
#include "measured_part.hpp"

#include <tinyxml2.h>

#include <string>

int main(int, char** arguments) {
    return testing::measure(arguments[1], [] {
        tinyxml2::XMLDocument document;
        tinyxml2::XMLElement* root = document.NewElement("catalogue");
        document.InsertFirstChild(root);
        for (int i = 0; i < 800; ++i) {
            tinyxml2::XMLElement* entry = document.NewElement("entry");
            entry->SetAttribute("number", i);
            entry->SetText(std::string(static_cast<std::size_t>(i % 90), 't').c_str());
            root->InsertEndChild(entry);
        }
        tinyxml2::XMLPrinter printer;
        document.Print(&printer);
        tinyxml2::XMLDocument again;
        const tinyxml2::XMLError error = again.Parse(printer.CStr());
        std::printf("%d %d\n", static_cast<int>(error), printer.CStrSize());
    });
}
