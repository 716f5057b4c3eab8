#include "share.hpp"

#include <absl/container/btree_map.h>
#include <absl/container/fixed_array.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/container/node_hash_map.h>
#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <string>
#include <vector>

struct employee {
    int number;
    std::string name;
};

int main() {
    const allocscope::scope window{"abseil"};
    absl::flat_hash_map<int, employee> staff;
    staff[1] = employee{1, "a name that is too long for the object"};
    staff.reserve(100);
    absl::flat_hash_set<std::string> words;
    words.insert("a word that is too long for the object");
    absl::node_hash_map<std::string, employee> by_name;
    by_name["one"] = employee{2, "another name that is too long for it"};
    absl::btree_map<int, std::string> ordered;
    for (int i = 0; i < 100; ++i) ordered[i] = absl::StrCat("number ", i, " of a hundred of them");
    absl::InlinedVector<int, 4> few;
    for (int i = 0; i < 40; ++i) few.push_back(i);
    const absl::FixedArray<long> fixed(1000);
    absl::Cord cord{std::string(5000, 'c')};
    cord.Append(std::string(3000, 'd'));
    const absl::Status failed = absl::NotFoundError("there is nothing by that name anywhere");
    const absl::StatusOr<std::string> value{"a value that is too long for the object"};
    absl::AnyInvocable<int() const> call = [copied = employee{3, "x"}] { return copied.number; };
    const std::vector<std::string> parts = absl::StrSplit("one,two,three,four,five", ',');
    const std::string text = absl::StrJoin(parts, " and then there comes ");
    const std::string printed = absl::StrFormat("%60s %d", "right", 42);
    return testing::own_lines(window.stats(), __FILE__, 13);
}
