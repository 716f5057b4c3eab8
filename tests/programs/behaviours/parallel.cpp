// parallel.cpp - an OpenMP program.
#include <cstdio>
#include <string>

int main() {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (int i = 0; i < 20'000; ++i) {
        const std::string text(static_cast<std::size_t>(i % 90), 'o');
        sum += static_cast<long>(text.size());
    }
    std::printf("%ld\n", sum);
}
