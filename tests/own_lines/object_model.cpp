// Poco, whose pointers have policies that nobody writes, and JsonCpp, whose code has no debug
// information.

#include "share.hpp"

#include <Poco/BasicEvent.h>
#include <Poco/Delegate.h>
#include <Poco/Dynamic/Var.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <Poco/LRUCache.h>
#include <Poco/NotificationQueue.h>
#include <Poco/SharedPtr.h>
#include <json/json.h>

#include <string>
#include <vector>

namespace {

struct price_changed : Poco::Notification {
    explicit price_changed(int now) : price(now) {}
    int price;
};

struct display {
    void show(const void*, int& price) { shown = price; }
    int shown = 0;
};

Poco::JSON::Object::Ptr make_order() {
    Poco::JSON::Object::Ptr order = new Poco::JSON::Object;
    Poco::JSON::Array::Ptr items = new Poco::JSON::Array;
    items->add("an item with a name that is too long for the object");
    order->set("items", items);
    return order;
}

}  // namespace

int main() {
    const allocscope::scope window{"Poco and JsonCpp"};
    const Poco::JSON::Object::Ptr order = make_order();
    Poco::JSON::Parser parser;
    const Poco::Dynamic::Var parsed = parser.parse("{\"a\": {\"b\": [1, \"two\"]}}");
    Poco::LRUCache<int, std::string> cache(10);
    cache.add(1, "one");
    Poco::NotificationQueue queue;
    queue.enqueueNotification(new price_changed(5));
    Poco::SharedPtr<display> board = new display;
    Poco::BasicEvent<int> event;
    event += Poco::delegate(board.get(), &display::show);
    Json::Value root;
    root["name"] = "a name that is too long for the object";
    root["ports"].append(80);
    const std::vector<Json::Value> copies{root, root["ports"]};
    const allocscope::snapshot seen = window.stats();
    int misspelled = testing::lacks_types(seen, {"price_changed", "display", "Json::Value",
                                                 "Poco::JSON::Object", "Poco::Dynamic::Var"});
#if !defined(__clang__)  // clang 14 does not note defaults that depend on other arguments
    misspelled += testing::lacks_types(
        seen, {"std::pair<const int, Poco::SharedPtr<std::string>>",
               "Poco::SharedPtr<Poco::AbstractDelegate<int>>",
               "Poco::Dynamic::VarHolderImpl<Poco::SharedPtr<Poco::JSON::Array>>"});
#endif
    return testing::own_lines(seen, __FILE__, 30) + misspelled;
}
