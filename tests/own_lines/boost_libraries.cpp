#include "share.hpp"

#include <boost/algorithm/string.hpp>
#include <boost/any.hpp>
#include <boost/circular_buffer.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/dynamic_bitset.hpp>
#include <boost/function.hpp>
#include <boost/heap/fibonacci_heap.hpp>
#include <boost/lexical_cast.hpp>
#include <boost/make_shared.hpp>
#include <boost/multi_array.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>
#include <boost/pool/object_pool.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <boost/ptr_container/ptr_vector.hpp>
#include <boost/shared_ptr.hpp>
#include <boost/signals2.hpp>
#include <boost/unordered_map.hpp>

#include <sstream>
#include <string>
#include <vector>

struct employee {
    int number;
    std::string name;
};

namespace by = boost::multi_index;
using staff_table = by::multi_index_container<
    employee,
    by::indexed_by<by::ordered_unique<by::member<employee, int, &employee::number>>,
                   by::hashed_non_unique<by::member<employee, std::string, &employee::name>>>>;

static boost::property_tree::ptree read_tree() {
    boost::property_tree::ptree tree;
    std::istringstream in{"{\"a\": {\"b\": \"a text that is too long for the object\"}}"};
    boost::property_tree::read_json(in, tree);
    tree.put("c.d.e", 5);
    return tree;
}

int main() {
    const allocscope::scope window{"boost"};
    const boost::any any = employee{1, "a name that is too long for the object"};
    const boost::shared_ptr<employee> shared{new employee{2, "second"}};
    const auto made = boost::make_shared<employee>(employee{3, "third"});
    boost::circular_buffer<int> ring{50};
    ring.push_back(1);
    boost::container::flat_map<int, std::string> flat;
    flat[1] = "a text that is too long for the object";
    boost::container::small_vector<int, 2> small(30, 1);
    boost::container::stable_vector<int> stable(5, 1);
    const boost::dynamic_bitset<> bits{1000};
    const boost::function<int()> call = [copied = employee{4, "x"}] { return copied.number; };
    boost::heap::fibonacci_heap<int> heap;
    heap.push(3);
    boost::multi_array<double, 2> grid{boost::extents[10][20]};
    staff_table staff;
    staff.insert(employee{5, "a name that is too long for the object"});
    boost::object_pool<employee> pool;
    employee* const pooled = pool.construct();
    const boost::property_tree::ptree tree = read_tree();
    boost::ptr_vector<employee> owned;
    owned.push_back(new employee{6, "sixth"});
    boost::signals2::signal<void(int)> signal;
    signal.connect([](int) {});
    boost::unordered_map<int, employee> unordered;
    unordered[1] = employee{7, "seventh"};
    std::vector<std::string> parts;
    boost::split(parts, "one and a longer part,two and a longer part", boost::is_any_of(","));
    const std::string joined = boost::join(parts, " and ");
    const auto number = boost::lexical_cast<std::string>(1234567890123456789);
    const int result = testing::own_lines(window.stats(), __FILE__, 25);
    return pooled != nullptr ? result : 1;
}
