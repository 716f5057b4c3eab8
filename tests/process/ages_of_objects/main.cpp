// Danger: an object is told to be older or younger than it is.
// The objects of phase k are born between the marks k and k + 1, on all threads, from the same
// places; each phase has its own number of objects. The test knows between which two moments each
// mark was made, so it knows between which bounds each age must lie, however slow the machine is.
// compiled: above the line

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/scale.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace allocscope_test;
using allocscope::group_key;
using allocscope::snapshot;
using allocscope::stack_filter;

namespace {

constexpr std::size_t phase_count = 4;
constexpr std::uint64_t object_bytes = 40;

__attribute__((noinline)) char* aged_place() {
    return opaque(new char[object_bytes]);
}

std::uint64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// Something happened between these two moments.
struct moments {
    std::uint64_t before, after;
};
template <class Work>
moments timed(const Work& work) {
    moments made{now_ns(), 0};
    work();
    made.after = now_ns();
    return made;
}

// Phase k: 10 * (k + 1) objects of this thread and 100 * (k + 1) of a thread that ends. Of each, k
// objects are freed by the main thread at once, and k by a third thread in the last phase.
struct phases {
    std::vector<char*> kept;
    std::vector<char*> freed_later;

    phases() {
        kept.reserve(2000);
        freed_later.reserve(100);
    }
    static std::uint64_t born(std::size_t phase) { return 110 * (phase + 1); }
    static std::uint64_t alive(std::size_t phase) { return born(phase) - 4 * phase; }

    void run(std::size_t phase) {
        std::vector<char*> freed;
        freed.reserve(2 * phase + 1);
        const auto work = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                char* const made = aged_place();
                (i < phase ? freed : i < 2 * phase ? freed_later : kept).push_back(made);
            }
        };
        work(10 * (phase + 1));
        std::thread{work, 100 * (phase + 1)}.join();
        for (const char* each : freed) delete[] each;
    }
    // What an inner window sees of the place, and frees again.
    void run_in_no_phase() { delete[] opaque(new char[object_bytes]); }
    void free_later() {
        std::thread{[this] {
            for (const char* each : freed_later) delete[] each;
        }}.join();
    }
    void free_all() {
        for (const char* each : kept) delete[] each;
        kept.clear();
    }
};

snapshot of_aged_place(const snapshot& rows) {
    stack_filter wanted;
    wanted.frame = "aged_place";
    return rows.filter(wanted);
}

// The live objects and the allocations of each age.
struct sum {
    std::uint64_t objects, bytes, allocations;
};
std::vector<sum> sums_of_ages(const snapshot& rows) {
    std::vector<sum> sums(rows.info().age_count);
    for (const snapshot::stack& stack : rows.stacks()) {
        allocscope::detail::for_each_part(stack, [&](const snapshot::thread_part& part) {
            ALLOCSCOPE_EXPECT(part.age < sums.size());
            sums[part.age].objects += part.objects;
            sums[part.age].bytes += part.bytes;
            sums[part.age].allocations += part.allocations;
        });
    }
    return sums;
}

// The bounds of each age are the times since the marks around it; `marks` are those between the
// phases.
void check_times(const snapshot& rows, const moments& opened, const std::vector<moments>& marks,
                 const moments& taken) {
    const allocscope::snapshot::window_info& info = rows.info();
    ALLOCSCOPE_EXPECT_EQUAL(info.age_count, marks.size() + 1);
    for (std::size_t i = 0; i < info.age_count; ++i) {
        const moments& from = i == 0 ? opened : marks[i - 1];
        ALLOCSCOPE_EXPECT(info.ages[i].most_ns >= taken.before - from.after);
        ALLOCSCOPE_EXPECT(info.ages[i].most_ns <= taken.after - from.before);
        if (i == marks.size()) {
            ALLOCSCOPE_EXPECT_EQUAL(info.ages[i].least_ns, std::uint64_t{0});
            continue;
        }
        ALLOCSCOPE_EXPECT(info.ages[i].least_ns >= taken.before - marks[i].after);
        ALLOCSCOPE_EXPECT(info.ages[i].least_ns <= taken.after - marks[i].before);
        ALLOCSCOPE_EXPECT(info.ages[i].least_ns <= info.ages[i + 1].most_ns);
    }
}

void check_phases(const snapshot& rows) {
    const std::vector<sum> sums = sums_of_ages(of_aged_place(rows));
    ALLOCSCOPE_EXPECT_EQUAL(sums.size(), phase_count);
    for (std::size_t phase = 0; phase < phase_count && phase < sums.size(); ++phase) {
        ALLOCSCOPE_EXPECT_EQUAL(sums[phase].objects, phases::alive(phase));
        ALLOCSCOPE_EXPECT_EQUAL(sums[phase].bytes, phases::alive(phase) * object_bytes);
        ALLOCSCOPE_EXPECT_EQUAL(sums[phase].allocations, phases::born(phase));
    }
}

// The filter keeps whole phases: the bounds are those of the snapshot.
void check_filters(const snapshot& rows) {
    const allocscope::snapshot::window_info& info = rows.info();
    for (std::size_t phase = 0; phase < info.age_count; ++phase) {
        std::uint64_t older = 0;
        std::uint64_t younger = 0;
        for (std::size_t i = 0; i < phase_count; ++i) {
            (i <= phase ? older : younger) += phases::alive(i);
        }
        stack_filter wanted;
        wanted.frame = "aged_place";
        wanted.older_than = info.ages[phase].least_ns;
        ALLOCSCOPE_EXPECT_EQUAL(rows.filter(wanted).live_objects(), older);
        wanted.older_than = 0;
        if (phase + 1 == info.age_count) continue;
        wanted.younger_than = info.ages[phase + 1].most_ns + 1;
        const snapshot young = rows.filter(wanted);
        ALLOCSCOPE_EXPECT_EQUAL(young.live_objects(), younger);
        ALLOCSCOPE_EXPECT_EQUAL(young.live_bytes(), younger * object_bytes);
        // One nanosecond less, and the objects of the next phase may be too old.
        --wanted.younger_than;
        ALLOCSCOPE_EXPECT_EQUAL(rows.filter(wanted).live_objects(),
                                younger - phases::alive(phase + 1));
    }
}

// Each group has as many stacks as have a part in it.
void check_groups(const snapshot& all) {
    const snapshot rows = of_aged_place(all);
    std::vector<std::uint64_t> stacks(rows.info().age_count);
    std::uint64_t stacks_of_threads = 0;
    for (const snapshot::stack& stack : rows.stacks()) {
        std::vector<bool> has_age(stacks.size());
        allocscope::detail::for_each_part(
            stack, [&](const snapshot::thread_part& part) { has_age[part.age] = true; });
        for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i] += has_age[i] ? 1 : 0;
        allocscope::detail::for_each_thread(
            stack,
            [&](std::size_t, const allocscope::detail::stack_numbers&) { ++stacks_of_threads; });
    }
    const std::vector<sum> sums = sums_of_ages(rows);
    const auto ages = rows.group_by(group_key::age);
    ALLOCSCOPE_EXPECT_EQUAL(ages.size(), phase_count);
    for (std::size_t i = 0; i < phase_count && i < ages.size(); ++i) {
        // The later the phase, the more bytes it has alive, and so the earlier its group comes.
        const allocscope::group& each = ages[ages.size() - 1 - i];
        ALLOCSCOPE_EXPECT_EQUAL(each.objects, sums[i].objects);
        ALLOCSCOPE_EXPECT_EQUAL(each.allocations, sums[i].allocations);
        ALLOCSCOPE_EXPECT_EQUAL(each.stacks, stacks[i]);
    }
    const auto threads = rows.group_by(group_key::thread);
    ALLOCSCOPE_EXPECT_EQUAL(threads.size(), phase_count + 1);
    for (const allocscope::group& each : threads) stacks_of_threads -= each.stacks;
    ALLOCSCOPE_EXPECT_EQUAL(stacks_of_threads, std::uint64_t{0});
}

void check_file(const snapshot& rows) {
    const std::string bytes = allocscope::to_saved_snapshot(rows);
    std::string error;
    snapshot again;
    ALLOCSCOPE_EXPECT(allocscope::load_snapshot_from(bytes.data(), bytes.size(), again, error));
    check_phases(again);
    check_filters(again);
    ALLOCSCOPE_EXPECT(allocscope::to_saved_snapshot(again) == bytes);
    ALLOCSCOPE_EXPECT(allocscope::to_json(again) == allocscope::to_json(rows));
    ALLOCSCOPE_EXPECT(allocscope::to_text(again) == allocscope::to_text(rows));
}

snapshot phases_of(const allocscope::options& wanted) {
    phases all;
    snapshot rows;
    std::vector<moments> marks;
    marks.reserve(phase_count);
    std::unique_ptr<allocscope::scope> window;
    const moments opened = timed([&] { window.reset(new allocscope::scope{"phases", wanted}); });
    for (std::size_t phase = 0; phase < phase_count; ++phase) {
        if (phase != 0) marks.push_back(timed([&] { window->mark_age(); }));
        all.run(phase);
        // Boundaries of other windows begin epochs, but they are no marks.
        allocscope::scope inner{"inner"};
        inner.mark_age();
        all.run_in_no_phase();
    }
    all.free_later();
    const moments taken = timed([&] { rows = window->stats(); });
    check_times(rows, opened, marks, taken);
    check_phases(rows);
    check_filters(rows);
    check_groups(rows);
    check_file(rows);
    all.free_all();
    ALLOCSCOPE_EXPECT_EQUAL(of_aged_place(window->stats()).live_objects(), std::uint64_t{0});
    return rows;
}

void windows_of_all_kinds() {
    phases_of({});
    allocscope::options with_details;
    with_details.details = true;
    const snapshot detailed = phases_of(with_details);
    for (const snapshot::stack& stack : of_aged_place(detailed).stacks()) {
        std::uint64_t count = 0;
        allocscope::detail::for_each_part(stack, [&](const snapshot::thread_part& part) {
            count += part.details->sizes[allocscope::size_class_of(object_bytes)];
        });
        ALLOCSCOPE_EXPECT_EQUAL(count, stack.allocations);
    }
    allocscope::options every_object_a_sample;
    every_object_a_sample.record = allocscope::recording::sampled;
    every_object_a_sample.sample_bytes = 2;
    phases_of(every_object_a_sample);
}

// A window of one thread knows the ages of what that thread has allocated, and a window inside it
// has marks of its own.
void window_of_one_thread() {
    std::vector<char*> kept;
    kept.reserve(100);
    allocscope::options own;
    own.from = allocscope::threads::current;
    allocscope::scope outer{"outer", own};
    kept.push_back(aged_place());
    outer.mark_age();
    for (int i = 0; i < 2; ++i) kept.push_back(aged_place());
    allocscope::scope inner{"inner"};
    std::thread{[&] {
        for (int i = 0; i < 20; ++i) kept.push_back(aged_place());
    }}.join();
    for (int i = 0; i < 3; ++i) kept.push_back(aged_place());
    inner.mark_age();
    std::thread{[&] { outer.mark_age(); }}.join();
    for (int i = 0; i < 4; ++i) kept.push_back(aged_place());
    const std::vector<sum> outside = sums_of_ages(of_aged_place(outer.stats()));
    const std::vector<sum> inside = sums_of_ages(of_aged_place(inner.stats()));
    ALLOCSCOPE_EXPECT_EQUAL(outside.size(), std::size_t{3});
    ALLOCSCOPE_EXPECT_EQUAL(outside[0].objects, std::uint64_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(outside[1].objects, std::uint64_t{5});
    ALLOCSCOPE_EXPECT_EQUAL(outside[2].objects, std::uint64_t{4});
    ALLOCSCOPE_EXPECT_EQUAL(inside.size(), std::size_t{2});
    ALLOCSCOPE_EXPECT_EQUAL(inside[0].objects, std::uint64_t{23});
    ALLOCSCOPE_EXPECT_EQUAL(inside[1].objects, std::uint64_t{4});
    for (const char* each : kept) delete[] each;
}

// Windows without marks, marks that make no sense, and windows that begin anew.
void who_has_ages() {
    allocscope::scope plain{"plain"};
    plain.counts();
    ALLOCSCOPE_EXPECT_EQUAL(plain.stats().info().age_count, std::size_t{0});
    stack_filter old;
    old.older_than = 1;
    ALLOCSCOPE_EXPECT(plain.stats().filter(old).stacks().empty());

    allocscope::options counters;
    counters.record = allocscope::recording::counters;
    allocscope::scope counting{"counting", counters};
    counting.mark_age();
    ALLOCSCOPE_EXPECT_EQUAL(counting.stats().info().age_count, std::size_t{0});

    allocscope::options every_reading;
    every_reading.age_step = 1;
    allocscope::scope read{"read", every_reading};
    char* const first = aged_place();
    read.counts();
    char* const second = aged_place();
    const snapshot rows = read.stats_and_forget();  // makes no mark: the window ends here
    ALLOCSCOPE_EXPECT_EQUAL(sums_of_ages(of_aged_place(rows)).size(), std::size_t{2});
    ALLOCSCOPE_EXPECT_EQUAL(sums_of_ages(of_aged_place(rows))[0].objects, std::uint64_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(sums_of_ages(of_aged_place(rows))[1].objects, std::uint64_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(read.stats().info().age_count, std::size_t{2});  // one mark: its own
    delete[] first;
    delete[] second;

    allocscope::options never;
    never.age_step = ~std::uint64_t{0} / 2;
    allocscope::scope waiting{"waiting", never};
    waiting.mark_age();
    ALLOCSCOPE_EXPECT_EQUAL(waiting.stats().info().age_count, std::size_t{1});

    allocscope::timed_scope series{"series", {}, every_reading};
    series.mark("a point is a reading");
    ALLOCSCOPE_EXPECT_EQUAL(series.stop().info().age_count, std::size_t{3});  // stop() is another
}

// A difference has no ages; merged windows have those of each, unless one has none.
void with_other_snapshots() {
    std::vector<char*> kept;
    kept.reserve(100);
    snapshot parts[3];
    for (std::size_t i = 0; i < 3; ++i) {
        allocscope::scope window{"part"};
        kept.push_back(aged_place());
        const snapshot before = window.stats();
        if (i < 2) window.mark_age();
        kept.push_back(aged_place());
        kept.push_back(aged_place());
        parts[i] = window.stop();
        const snapshot change = allocscope::difference(parts[i], before);
        ALLOCSCOPE_EXPECT_EQUAL(change.info().age_count, std::size_t{0});
        ALLOCSCOPE_EXPECT_EQUAL(change.group_by(group_key::age)[0].name == "not known", true);
        ALLOCSCOPE_EXPECT_EQUAL(parts[i].difference_from(before).info().age_count, std::size_t{0});
        for (const snapshot::stack& stack : of_aged_place(change).stacks()) {
            ALLOCSCOPE_EXPECT_EQUAL(stack.thread_count, std::size_t{1});
        }
    }
    const std::vector<sum> both =
        sums_of_ages(of_aged_place(allocscope::merge({parts[0], parts[1]})));
    ALLOCSCOPE_EXPECT_EQUAL(both.size(), std::size_t{4});
    for (std::size_t i = 0; i < both.size(); ++i) {
        ALLOCSCOPE_EXPECT_EQUAL(both[i].objects, std::uint64_t{1 + i % 2});
    }
    const snapshot all = allocscope::merge({parts[0], parts[1], parts[2]});
    ALLOCSCOPE_EXPECT_EQUAL(all.info().age_count, std::size_t{0});
    ALLOCSCOPE_EXPECT_EQUAL(of_aged_place(all).live_objects(), std::uint64_t{9});
    for (const char* each : kept) delete[] each;
}

// Threads allocate while another one makes marks. An object was born after the marks that were made
// before its allocation began, and before those that had not begun when it ended.
void marks_while_threads_allocate() {
    constexpr std::size_t mark_count = 20;
    constexpr std::size_t worker_count = 3;
    struct bounds {
        std::size_t earliest, latest;
    };
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> done{0};
    std::vector<char*> kept[worker_count];
    std::vector<bounds> births[worker_count];
    const auto count = static_cast<std::size_t>(scaled(20000, 200000));
    for (std::size_t i = 0; i < worker_count; ++i) {
        kept[i].reserve(count);
        births[i].reserve(count);
    }
    allocscope::scope window{"meanwhile"};
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < worker_count; ++i) {
        workers.emplace_back([&, i] {
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t earliest = done.load();
                kept[i].push_back(aged_place());
                births[i].push_back({earliest, begun.load()});
                if (k % 3 == 0) delete[] aged_place();
            }
        });
    }
    for (std::size_t mark = 1; mark <= mark_count; ++mark) {
        begun.store(mark);
        window.mark_age();
        done.store(mark);
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        if (mark % 5 == 0) window.stats();
    }
    for (std::thread& each : workers) each.join();
    const std::vector<sum> sums = sums_of_ages(of_aged_place(window.stats()));
    ALLOCSCOPE_EXPECT_EQUAL(sums.size(), mark_count + 1);
    std::uint64_t so_far = 0;
    for (std::size_t mark = 0; mark < sums.size(); ++mark) {
        so_far += sums[mark].objects;
        std::uint64_t certainly = 0;
        std::uint64_t possibly = 0;
        for (const std::vector<bounds>& of_worker : births) {
            for (const bounds& each : of_worker) {
                certainly += each.latest <= mark ? 1 : 0;
                possibly += each.earliest <= mark ? 1 : 0;
            }
        }
        ALLOCSCOPE_EXPECT_AT_MOST(certainly, so_far);
        ALLOCSCOPE_EXPECT_AT_MOST(so_far, possibly);
    }
    ALLOCSCOPE_EXPECT_EQUAL(so_far, std::uint64_t{worker_count * count});
    for (const std::vector<char*>& each : kept) {
        for (const char* object : each) delete[] object;
    }
}

// A forked child goes on with the marks of its parent, which does not see those of the child.
void in_a_forked_child() {
    std::vector<char*> kept;
    kept.reserve(10);
    allocscope::scope window{"forked"};
    kept.push_back(aged_place());
    window.mark_age();
    const ::pid_t child = ::fork();
    ALLOCSCOPE_EXPECT(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 2; ++i) kept.push_back(aged_place());
        window.mark_age();
        for (int i = 0; i < 3; ++i) kept.push_back(aged_place());
        const std::vector<sum> sums = sums_of_ages(of_aged_place(window.stats()));
        const bool is_right = sums.size() == 3 && sums[0].objects == 1 && sums[1].objects == 2 &&
                              sums[2].objects == 3;
        ::_exit(is_right ? 0 : 1);
    }
    int status = -1;
    ALLOCSCOPE_EXPECT(::waitpid(child, &status, 0) == child && status == 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().age_count, std::size_t{2});
    delete[] kept[0];
}

// However many marks are asked for, 64 are kept, and no object is in the wrong step: each has its
// own size, and the test knows between which moments it was born.
void many_marks() {
    constexpr std::size_t count = 1000;
    std::vector<char*> kept;
    std::vector<moments> births;
    kept.reserve(count);
    births.reserve(count);
    allocscope::scope window{"many"};
    for (std::size_t i = 0; i < count; ++i) {
        births.push_back(timed([&] { kept.push_back(opaque(new char[1000 + i])); }));
        window.mark_age();
    }
    snapshot rows;
    const moments taken = timed([&] { rows = window.stats(); });
    const std::size_t ages = rows.info().age_count;
    ALLOCSCOPE_EXPECT_AT_MOST(ages, std::size_t{65});
    ALLOCSCOPE_EXPECT(ages > 32);
    std::vector<sum> sums = sums_of_ages(rows);
    std::size_t at = 0;
    for (std::size_t i = 0; i < ages; ++i) {
        const snapshot::age& age = rows.info().ages[i];
        for (; at < count && sums[i].bytes >= 1000 + at && sums[i].objects != 0; ++at) {
            ALLOCSCOPE_EXPECT(age.least_ns <= taken.after - births[at].before);
            ALLOCSCOPE_EXPECT(age.most_ns >= taken.before - births[at].after);
            sums[i].bytes -= 1000 + at;
            --sums[i].objects;
        }
    }
    ALLOCSCOPE_EXPECT_EQUAL(at, count);
    for (const char* each : kept) delete[] each;
}

}  // namespace

int main() {
    windows_of_all_kinds();
    window_of_one_thread();
    who_has_ages();
    with_other_snapshots();
    marks_while_threads_allocate();
    in_a_forked_child();
    many_marks();
    return verdict();
}
