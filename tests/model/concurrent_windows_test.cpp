// Threads allocate, free each other's objects and open windows, all at once. Whenever they meet, no
// window may have lost or invented an object. Meanwhile two windows begin anew again and again:
// each object is in one of their reports, and in each report rows and stacks add up to its totals.

#include "../support/dice.hpp"
#include "../support/own_threads.hpp"
#include "../support/scale.hpp"
#include "model_sites.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>
#include <atomic>

namespace {

using namespace allocscope_test;

constexpr int thread_count = 6;
constexpr int slot_count = 512;
constexpr int phases = 12;

// The first bytes of each object say how to give it back.
struct object_head {
    std::uint32_t size;
    std::uint32_t site;
};

struct site_tally {
    std::uint64_t births = 0;
    std::uint64_t deaths = 0;
    std::uint64_t bytes_born = 0;
    std::uint64_t bytes_died = 0;
};

struct worker_state {
    own_thread thread;
    int number = 0;
    struct arena* shared = nullptr;
    site_tally sites[first_pool_site];
    std::uint64_t wrong_own_windows = 0;
};

struct arena {
    std::atomic<object_head*> slots[slot_count] = {};
    meeting_point begin{thread_count + 1};
    meeting_point end{thread_count + 1};
    worker_state workers[thread_count];
    std::atomic<int> working{0};
    std::uint64_t seed = 0;
};

void bury(worker_state& self, object_head* object) {
    if (object == nullptr) return;
    const object_head head = *object;
    self.sites[head.site].deaths += 1;
    self.sites[head.site].bytes_died += head.size;
    release_site(static_cast<int>(head.site), object, head.size);
}

object_head* give_birth(worker_state& self, dice& roll) {
    const auto site = static_cast<std::uint32_t>(roll.below(first_pool_site));
    const auto size = static_cast<std::uint32_t>(sizeof(object_head) + roll.below(300));
    auto* object = static_cast<object_head*>(
        site_at_depth(static_cast<int>(site), size, static_cast<int>(roll.below(12))));
    *object = {size, site};
    self.sites[site].births += 1;
    self.sites[site].bytes_born += size;
    return object;
}

// A window over this thread alone counts exactly, whatever the others do meanwhile.
void use_own_window(worker_state& self, dice& roll) {
    allocscope::options mine;
    mine.from = allocscope::threads::current;
    if (roll.one_in(2)) mine.record = allocscope::recording::counters;
    allocscope::scope window{"own", mine};
    object_head* objects[9];
    std::uint64_t bytes = 0;
    for (object_head*& object : objects) {
        object = give_birth(self, roll);
        bytes += object->size;
    }
    for (int i = 0; i < 4; ++i) bury(self, objects[i]);
    const allocscope::allocation_counts seen = window.counts();
    if (seen.allocations != 9 || seen.frees != 4 || seen.bytes_allocated != bytes) {
        self.wrong_own_windows += 1;
    }
    for (int i = 4; i < 9; ++i) bury(self, objects[i]);
    if (window.counts().live_objects() != 0 || window.counts().live_bytes() != 0) {
        self.wrong_own_windows += 1;
    }
}

void work(worker_state& self) {
    arena& shared = *self.shared;
    for (int phase = 0; phase < phases; ++phase) {
        dice roll(shared.seed * 1000 + static_cast<std::uint64_t>(phase * 100 + self.number));
        shared.begin.wait();
        for (long i = scaled(60000); i > 0; --i) {
            const std::uint64_t choice = roll.below(2000);
            if (choice == 0) {
                use_own_window(self, roll);
            } else if (choice == 1) {
                const allocscope::scope everybody{"in passing"};
                bury(self, shared.slots[roll.below(slot_count)].exchange(give_birth(self, roll)));
            } else if (choice < 900) {
                bury(self, shared.slots[roll.below(slot_count)].exchange(nullptr));
            } else {
                bury(self, shared.slots[roll.below(slot_count)].exchange(give_birth(self, roll)));
            }
        }
        shared.working.fetch_sub(1);
        shared.end.wait();
    }
}

// A window whose reports begin it anew.
class reported_in_parts {
public:
    reported_in_parts(const char* name, const allocscope::options& wanted)
        : window_(name, wanted), has_stacks_(wanted.record == allocscope::recording::exact) {}

    void report() {
        const allocscope::snapshot seen = window_.stats_and_forget();
        const allocscope::allocation_counts& totals = seen.info().totals;
        births_ += totals.allocations;
        bytes_ += totals.bytes_allocated;
        losses_ += totals.lost_events;
        const allocscope::pause_recording unseen;
        if (!has_stacks_) return;
        std::uint64_t objects = 0;
        std::uint64_t births = 0;
        for (const allocscope::snapshot::row& row : seen) objects += row.objects;
        for (const allocscope::snapshot::stack& each : seen.stacks()) births += each.allocations;
        if (objects != totals.live_objects() || births != totals.allocations) ++wrong_reports_;
    }
    void compare(const arena& shared) const {
        site_tally all;
        for (const worker_state& worker : shared.workers) {
            for (const site_tally& site : worker.sites) {
                all.births += site.births;
                all.bytes_born += site.bytes_born;
            }
        }
        CHECK(births_ == all.births);
        CHECK(bytes_ == all.bytes_born);
        CHECK(losses_ == 0);
        CHECK(wrong_reports_ == 0);
    }

private:
    allocscope::scope window_;
    const bool has_stacks_;
    std::uint64_t births_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t losses_ = 0;
    std::uint64_t wrong_reports_ = 0;
};

site_tally total_of_site(const arena& shared, int site) {
    site_tally total;
    for (const worker_state& worker : shared.workers) {
        total.births += worker.sites[site].births;
        total.deaths += worker.sites[site].deaths;
        total.bytes_born += worker.sites[site].bytes_born;
        total.bytes_died += worker.sites[site].bytes_died;
    }
    return total;
}

void compare(const arena& shared, const allocscope::snapshot& seen) {
    site_tally all;
    std::uint64_t objects[first_pool_site] = {};
    std::uint64_t bytes[first_pool_site] = {};
    for (const allocscope::snapshot::row& row : seen) {
        const int site = site_of_line(row.line);
        REQUIRE(site >= 0);
        objects[site] += row.objects;
        bytes[site] += row.bytes;
    }
    for (int site = 0; site < first_pool_site; ++site) {
        const site_tally total = total_of_site(shared, site);
        CHECK(objects[site] == total.births - total.deaths);
        CHECK(bytes[site] == total.bytes_born - total.bytes_died);
        all.births += total.births;
        all.deaths += total.deaths;
        all.bytes_born += total.bytes_born;
        all.bytes_died += total.bytes_died;
    }
    CHECK(seen.info().totals.allocations == all.births);
    CHECK(seen.info().totals.frees == all.deaths);
    CHECK(seen.info().totals.bytes_allocated == all.bytes_born);
    CHECK(seen.info().totals.bytes_freed == all.bytes_died);
}

TEST_CASE("windows lose nothing while threads run freely") {
    static arena shared;
    for (shared.seed = 1; shared.seed <= 2; ++shared.seed) {
        INFO("seed " << shared.seed);
        for (int i = 0; i < thread_count; ++i) {
            worker_state& worker = shared.workers[i];
            worker.number = i;
            worker.shared = &shared;
            for (site_tally& site : worker.sites) site = {};
            worker.thread.start([](void* self) { work(*static_cast<worker_state*>(self)); },
                                &worker);
        }
        allocscope::scope window{"all of them"};
        allocscope::options only_counted;
        only_counted.record = allocscope::recording::counters;
        reported_in_parts named{"named in parts", {}};
        reported_in_parts counted{"counted in parts", only_counted};
        for (int phase = 0; phase < phases; ++phase) {
            shared.working.store(thread_count);
            shared.begin.wait();
            while (shared.working.load() != 0) {
                named.report();
                counted.report();
            }
            shared.end.wait();
            named.report();
            counted.report();
            const allocscope::snapshot seen = window.stats();
            const allocscope::pause_recording unseen;  // doctest's own allocations
            compare(shared, seen);
            named.compare(shared);
            counted.compare(shared);
        }
        for (worker_state& worker : shared.workers) worker.thread.join();
        for (auto& slot : shared.slots) bury(shared.workers[0], slot.exchange(nullptr));
        const allocscope::allocation_counts at_end = window.counts();
        const allocscope::pause_recording unseen;
        CHECK(at_end.live_objects() == 0);
        CHECK(at_end.live_bytes() == 0);
        for (const worker_state& worker : shared.workers) CHECK(worker.wrong_own_windows == 0);
    }
}

}  // namespace
