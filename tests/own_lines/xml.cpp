#include "share.hpp"

#include <tinyxml2.h>

static const char text[] =
    "<shop name='a name that is long enough'><item number='1'>text of the first one</item>"
    "<item number='2'/><!-- a comment --></shop>";

int main() {
    const allocscope::scope window{"xml"};
    tinyxml2::XMLDocument parsed;
    parsed.Parse(text);
    tinyxml2::XMLDocument built;
    tinyxml2::XMLElement* root = built.NewElement("root");
    built.InsertEndChild(root);
    root->SetAttribute("colour", "a colour that has a long name indeed");
    root->InsertEndChild(built.NewText("some text that is long enough to be kept elsewhere"));
    for (int i = 0; i < 40; ++i) {
        tinyxml2::XMLElement* each = root->InsertNewChildElement("child");
        each->SetText(i);
        each->SetAttribute("index", i);
    }
    tinyxml2::XMLPrinter printer;
    built.Print(&printer);
    return testing::own_lines(window.stats(), __FILE__, 9);
}
