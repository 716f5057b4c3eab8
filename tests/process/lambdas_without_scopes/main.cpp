// Danger: g++ -std=c++20 -O2 does not describe the calls that it inlined around some calls of
// operator new. If a function of the library is around them, in which the user's lambda is inlined,
// the row is in a header of the library.
// not with: tsan (it sees nothing while a snapshot is taken in a thread)
// about: stacks

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

void look(...);  // in look.cpp
int shown_verdict();

namespace {
struct small {
    int a;
};
struct other {
    long a, b;
};
struct tap {
    float a, b;
};
std::vector<std::unique_ptr<small>> u;
std::vector<tap> t1;
}  // namespace
int main() {
    std::vector<other> v;
    v.reserve(7);
    std::vector<small> w;
    w.reserve(8);
    u.push_back(std::make_unique<small>());
    t1.resize(4);
    std::thread t([] {
        std::vector<tap> b;
        b.reserve(40);
        std::vector<small> s(3);
        look(&b, &s);
    });
    t.join();
    std::deque<small> many(1000), copied(many);
    std::sort(u.begin(), u.end(), [](auto& a, auto& b) {
        std::vector<small> s(3);
        look(&s);
        return a < b;
    });
    std::function<void(int)> f = [](int n) {
        std::vector<tap> some;
        some.reserve(static_cast<std::size_t>(n));
        std::vector<tap> copy(some);
        look(&some, &copy);
    };
    f(3);
    look(&v, &w, &many, &copied);
    return shown_verdict();
}
