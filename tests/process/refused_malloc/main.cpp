// Danger: malloc or the kernel refuses memory at any one moment while a snapshot or a check is
// made: the process ends, the numbers of a window that forgets or ends are lost, a check passes
// because it saw no rows, or names that were half read stay wrong. One call after another is
// refused.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/refused_memory.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/naming/process_names.hpp>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string>

#include <sys/mman.h>

using namespace allocscope_test;

namespace {

constexpr const char* sentence = "memory for the rows of this snapshot was refused";
constexpr unsigned pair_count = 40;

struct with_vtable {
    virtual ~with_vtable() = default;
    int number = 1;
};

struct holdings {
    int* numbers[pair_count] = {};
    with_vtable* others[pair_count] = {};

    holdings() {
        for (unsigned i = 0; i < pair_count; ++i) {
            numbers[i] = opaque(new int{1});
            others[i] = opaque(new with_vtable);
        }
    }
    ~holdings() {
        for (unsigned i = 0; i < pair_count; ++i) {
            delete opaque(numbers[i]);
            delete opaque(others[i]);
        }
    }
    holdings(const holdings&) = delete;
    holdings& operator=(const holdings&) = delete;
};

// Runs `work` with one or more calls refused; true when that many were not made.
template <class Work>
bool is_through(refusal way, unsigned before, Work work) {
    drop_kept_pages();
    calls = 0;
    calls_before = before;
    refused = way;
    work();
    refused = refusal::none;
    return calls <= before;
}

// Expects what is true of a snapshot whatever was refused. True: there was no memory even for its
// totals.
bool knows_nothing(const allocscope::snapshot& seen, const allocscope::allocation_counts& counted) {
    const auto& info = seen.info();
    const bool is_refused_whole = info.not_recording[0] != 0 && info.totals.allocations == 0;
    if (info.not_recording[0] != 0) {
        ALLOCSCOPE_EXPECT(std::strcmp(info.not_recording, sentence) == 0);
        ALLOCSCOPE_EXPECT(seen.empty());
    }
    if (is_refused_whole) return true;
    ALLOCSCOPE_EXPECT(std::strcmp(info.name, "refused") == 0);
    ALLOCSCOPE_EXPECT_EQUAL(info.totals.allocations, counted.allocations);
    ALLOCSCOPE_EXPECT_EQUAL(info.totals.frees, counted.frees);
    ALLOCSCOPE_EXPECT_EQUAL(info.totals.live_bytes(), counted.live_bytes());
    ALLOCSCOPE_EXPECT_EQUAL(info.totals.peak_bytes, counted.peak_bytes);
    ALLOCSCOPE_EXPECT(info.duration_ns != 0);
    const bool is_told = info.not_recording[0] != 0 || info.record != allocscope::recording::exact;
    ALLOCSCOPE_EXPECT(is_told || seen.live_objects() == counted.live_objects());
    return false;
}

bool has_type(const allocscope::snapshot& rows, const char* type) {
    for (const auto& row : rows) {
        if (std::strstr(row.type, type) != nullptr) return true;
    }
    return false;
}

// With memory again, everything has its name.
void expect_whole(const allocscope::snapshot& seen) {
    ALLOCSCOPE_EXPECT(seen.info().not_recording[0] == 0);
    if (seen.info().record != allocscope::recording::exact) return;
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 2 * pair_count);
    ALLOCSCOPE_EXPECT(has_type(seen, "int"));
    ALLOCSCOPE_EXPECT(has_type(seen, "with_vtable"));
    ALLOCSCOPE_EXPECT(seen[0].line != 0);
}

allocscope::options recording_as(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    wanted.sample_bytes = 16;
    return wanted;
}

using test_round = bool (*)(refusal way, unsigned before, const allocscope::options& wanted);

bool look(refusal way, unsigned before, const allocscope::options& wanted) {
    allocscope::scope window{"refused", wanted};
    const holdings alive;
    const auto counted = window.counts();
    allocscope::snapshot seen;
    const bool is_last = is_through(way, before, [&] { seen = window.stats(); });
    ALLOCSCOPE_EXPECT_EQUAL(knows_nothing(seen, counted), before == 0);
    if (seen.info().not_recording[0] != 0) expect_whole(window.stats());
    if (is_last) expect_whole(seen);
    return is_last;
}

bool forget(refusal way, unsigned before, const allocscope::options& wanted) {
    allocscope::scope window{"refused", wanted};
    const holdings alive;
    const auto counted = window.counts();
    allocscope::snapshot seen;
    const bool is_last = is_through(way, before, [&] { seen = window.stats_and_forget(); });
    const bool is_kept = knows_nothing(seen, counted);
    ALLOCSCOPE_EXPECT_EQUAL(is_kept, before == 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, is_kept ? counted.allocations : 0);
    return is_last;
}

bool end(refusal way, unsigned before, const allocscope::options& wanted) {
    allocscope::scope window{"refused", wanted};
    const holdings alive;
    const auto counted = window.counts();
    allocscope::snapshot seen;
    const bool is_last = is_through(way, before, [&] { seen = window.stop(); });
    ALLOCSCOPE_EXPECT_EQUAL(knows_nothing(seen, counted), before == 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, counted.allocations);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), counted.live_bytes());
    // It has ended: what is allocated now is not its own.
    release(allocate(16));
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, counted.allocations);
    return is_last;
}

bool check(refusal way, unsigned before, const allocscope::options& wanted) {
    if (wanted.record == allocscope::recording::sampled) return true;  // has no checks
    allocscope::scope window{"refused", wanted};
    const holdings alive;
    allocscope::check_result found;
    const bool is_last = is_through(way, before, [&] {
        allocscope::allocation_budget budget;
        budget.live_objects = 0;
        found = allocscope::check(window, budget);
    });
    ALLOCSCOPE_EXPECT(!found.passed());
    ALLOCSCOPE_EXPECT(found.message()[0] != 0);
    return is_last;
}

bool subtract(refusal way, unsigned before, const allocscope::options& wanted) {
    allocscope::scope window{"refused", wanted};
    const allocscope::snapshot earlier = window.stats();
    const holdings alive;
    const allocscope::snapshot later = window.stats();
    allocscope::snapshot seen;
    const bool is_last = is_through(way, before, [&] { seen = later.difference_from(earlier); });
    const bool is_told = seen.info().not_recording[0] != 0;
    ALLOCSCOPE_EXPECT(is_told || seen.live_objects() == later.live_objects());
    return is_last;
}

// Refuses each of the first calls; later ones, which all belong to reading names, at growing
// distances.
void refuse_each(test_round tried, refusal way, const allocscope::options& wanted,
                 bool knows_names) {
    const auto begin = [knows_names] {
        if (!knows_names) allocscope::detail::names_at_work{};  // without done(): they are dropped
    };
    for (unsigned before = 0; begin(), !tried(way, before, wanted); before += 1 + before / 8) {
        if (failed_expectations.load() == 0) continue;
        char out[100];
        say(out, std::snprintf(out, sizeof out, "after %u calls, way %d, recording %d\n", before,
                               static_cast<int>(way), static_cast<int>(wanted.record)));
        return;
    }
}

}  // namespace

int main() {
    watchdog();
    setenv("ALLOCSCOPE_EVIDENCE_DIR", "", 1);  // hundreds of checks fail here
    for (const auto record : {allocscope::recording::exact, allocscope::recording::counters,
                              allocscope::recording::sampled}) {
        for (const refusal way : {refusal::of_one, refusal::of_all_from}) {
            for (const test_round tried : {look, forget, end, check, subtract}) {
                refuse_each(tried, way, recording_as(record), false);
                refuse_each(tried, way, recording_as(record), true);
            }
        }
    }
    return verdict();
}
