// A program that allocates everywhere in the C++ library, for compare_stacks.py: from comparators,
// streams, regular expressions, threads, and while exceptions are on their way.
//
//     workload [rounds]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(ALLOCSCOPE_COMPARE_REGEX)
    #include <regex>
#endif

namespace {

// Far longer than what a string keeps in itself.
std::string name_of(int number) {
    return "number " + std::to_string(number) + " of a long row of numbers";
}

std::size_t sorting(int seed) {
    std::vector<int> numbers;
    for (int i = 0; i < 150; ++i) numbers.push_back(i * 37 % 151 + seed);
    const auto by_name = [](int a, int b) { return name_of(a) < name_of(b); };
    std::sort(numbers.begin(), numbers.end(), by_name);
    std::stable_sort(numbers.begin(), numbers.end(),
                     [](int a, int b) { return *std::make_unique<int>(a) > b; });
    std::map<std::string, int, std::function<bool(const std::string&, const std::string&)>> ordered{
        [](const std::string& a, const std::string& b) { return std::string{a + b} < b + a; }};
    for (const int each : numbers) ordered[name_of(each)] += each;
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void* a, const void* b) {
        return name_of(*static_cast<const int*>(a)).compare(name_of(*static_cast<const int*>(b)));
    });
    return ordered.size();
}

std::size_t streams(int seed) {
    std::ostringstream out;
    for (int i = 0; i < 40; ++i) {
        out << std::setw(20) << name_of(i + seed) << ' ' << i * 0.37 << std::hex << i << '\n';
    }
    std::istringstream in{out.str()};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word + " and more than fits in itself");
    return words.size();
}

struct allocates_when_destroyed {
    int number;
    ~allocates_when_destroyed() {
        if (name_of(number).empty()) std::abort();
    }
};

int throwing(int depth) {
    const allocates_when_destroyed local{depth};
    if (depth == 0) throw std::runtime_error{name_of(depth)};
    try {
        return throwing(depth - 1) + 1;
    } catch (const std::runtime_error&) {
        if (depth % 3 == 0) throw std::logic_error{name_of(depth)};
        throw;
    }
}

std::size_t exceptions() {
    std::size_t length = 0;
    for (int depth = 1; depth < 12; ++depth) {
        try {
            length += static_cast<std::size_t>(throwing(depth));
        } catch (const std::exception& seen) {
            length += std::string{seen.what()}.size();
        }
    }
    return length;
}

std::size_t expressions([[maybe_unused]] int seed) {
    std::size_t found = 0;
#if defined(ALLOCSCOPE_COMPARE_REGEX)
    const std::string text = "key = value; other" + std::to_string(seed) + " = thing; x = 12";
    const std::regex pattern{"([a-z]+[0-9]*) = (([a-z]+)|([0-9]+))"};
    for (std::sregex_iterator at{text.begin(), text.end(), pattern}, end; at != end; ++at) {
        found += (*at)[1].str().size();
    }
#endif
    return found;
}

// Vector code aligns its stack.
double sums(int seed) {
    std::vector<double> numbers(200);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) + seed;
    alignas(64) double parts[8] = {};
    for (std::size_t i = 0; i < numbers.size(); ++i) parts[i % 8] += numbers[i] * 1.5;
    const auto copy = std::make_unique<std::vector<double>>(numbers);
    double sum = 0;
    for (const double part : parts) sum += part + (*copy)[3];
    return sum;
}

std::size_t work(int rounds) {
    std::size_t seen = 0;
    for (int i = 0; i < rounds; ++i) {
        seen += sorting(i) + streams(i) + exceptions() + expressions(i);
        seen += static_cast<std::size_t>(sums(i));
    }
    return seen;
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 2;
    std::size_t seen[2] = {};
    std::thread first{[&] { seen[0] = work(rounds); }};
    std::thread second{[&] { seen[1] = work(rounds); }};
    first.join();
    second.join();
    const std::size_t own = work(rounds);
    std::printf("%zu\n", own);
    return seen[0] == own && seen[1] == own ? 0 : 1;
}
