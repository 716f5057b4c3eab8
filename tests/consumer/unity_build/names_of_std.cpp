// The first file of a unity build: what it makes visible is visible in all that follow.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>
using namespace std;
using namespace std::chrono;
using namespace std::literals;

string numbered(const string& name, size_t count) {
    return name + to_string(count);
}
