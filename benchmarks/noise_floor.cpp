// noise_floor.cpp - how precise is the ruler?
//
// The churn loop against itself must give 1.00, whatever the machine does meanwhile. The difference
// from 1.00 is the error to expect of every other ratio here. The last row says what the standard
// library's own operator new costs over malloc, without the hooks.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"

using namespace benchmarks;

namespace {

template <class Baseline, class Measured>
ratio compare(const run_options& options, std::size_t live) {
    churn<Baseline> baseline{live};
    churn<Measured> measured{live};
    baseline.fill_with(measured);
    return compare_churn(options, baseline, measured);
}

struct bare_again {
    static void* allocate(std::size_t size) { return std::malloc(size); }
    static void release(void* block) { std::free(block); }
};

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const char* headline = "malloc against malloc, another copy of the loop";
    result_table table{arguments[0], "How precise is the ruler?", headline, options};
    table.add_ratio("malloc against malloc, the same code", compare<bare, bare>(options, 1024),
                    1.01);
    table.add_ratio(headline, compare<bare, bare_again>(options, 1024), 1.01);
    table.add_ratio("malloc against malloc, 100000 blocks alive",
                    compare<bare, bare_again>(options, 100000), 1.01);
    table.add_ratio("libstdc++'s operator new against malloc",
                    compare<bare, library_new>(options, 1024));
    return table.finish();
}
