// Compiled by odd_paths.py, which runs it from odd places.
#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <memory>

struct widget {
    virtual ~widget() = default;
    long size = 0;
};

__attribute__((noinline)) std::unique_ptr<widget> make_widget() {
    return std::make_unique<widget>();  // the line
}

int main() {
    const allocscope::scope window{"odd paths"};
    const std::unique_ptr<widget> made = make_widget();
    for (const allocscope::snapshot::row& row : window.stats()) {
        std::printf("%d %s\n", row.line, row.type);
    }
    return 0;
}
