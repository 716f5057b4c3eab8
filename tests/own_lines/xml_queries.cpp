// hooks: malloc
#include "share.hpp"

#include <pugixml.hpp>

#include <string>

static const char text[] =
    "<shop name='a name that is long enough'><item number='1'>text of the first one</item>"
    "<item number='2'/><!-- a comment --></shop>";

struct names : pugi::xml_tree_walker {
    std::string all;
    bool for_each(pugi::xml_node& node) override {
        all += node.name();
        all += " and something more behind it";
        return true;
    }
};

int main() {
    const allocscope::scope window{"xml queries"};
    pugi::xml_document document;
    document.load_string(text);
    pugi::xml_node added = document.child("shop").append_child("item");
    added.append_attribute("number").set_value("a value that is long enough to be copied");
    for (int i = 0; i < 400; ++i) added.append_child("many").text().set(i);
    const pugi::xpath_query query{"/shop/item[@number='1']"};
    const pugi::xpath_node_set found = query.evaluate_node_set(document);
    names walker;
    document.traverse(walker);
    pugi::xml_document copied;
    copied.reset(document);
    return testing::own_lines(window.stats(), __FILE__, 5);
}
