// re2: a shared library with caches, and with threads that share one expression.
#include "measured_part.hpp"

#include <re2/re2.h>

#include <string>
#include <thread>
#include <vector>

int main(int, char** arguments) {
    return testing::measure(arguments[1], [] {
        int matches = 0;
        for (int i = 0; i < 40; ++i) {
            const re2::RE2 expression("(\\w+)@(host" + std::to_string(i) + "|[a-z.]+)\\.(org|com)");
            std::string user;
            std::string host;
            if (re2::RE2::PartialMatch("write to someone@mail.example.org today", expression, &user,
                                       &host)) {
                ++matches;
            }
        }
        const re2::RE2 shared("[a-c]+(x|y)*z");
        std::vector<std::thread> threads;
        std::vector<int> found(2);
        for (int& count : found) {
            threads.emplace_back([&shared, &count] {
                for (int i = 0; i < 200; ++i) {
                    if (re2::RE2::FullMatch("abc" + std::string(50, 'x') + "z", shared)) ++count;
                }
            });
            threads.back().join();  // one after the other, so that the caches fill in one order
        }
        std::printf("%d %d %d\n", matches, found[0], found[1]);
    });
}
