// A module whose global module fragment has the doors. It hands the names on and uses them.
module;
#include <allocscope/allocscope.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>

#include <string>
export module in_a_module;

export using allocscope::scope;
export using allocscope::snapshot;

export template <class Work>
unsigned long long allocations_of_work(Work&& work) {
    const allocscope::scope window{"in a module"};
    work();
    return window.counts().allocations;
}

export inline std::string report_of(const snapshot& rows) {
    return allocscope::to_text(rows);
}
