// window_model.hpp - keeps in plain vectors what windows should say, and compares what they do say.
//
// Room:     tests/model
// Called:   by window_model_test.cpp
// Threads:  one at a time: whoever holds the baton
// Memory:   malloc
//
// Every live object has one bit for each window that it belongs to. That is the whole model: a
// birth sets the bits of the open windows that watch the thread, a death takes the object out of
// them, and closing or forgetting a window clears one bit everywhere. An object is older than the
// age marks that a window got after its birth.

#ifndef ALLOCSCOPE_TESTS_MODEL_WINDOW_MODEL_HPP
#define ALLOCSCOPE_TESTS_MODEL_WINDOW_MODEL_HPP

#include "../support/dice.hpp"
#include "../support/malloc_containers.hpp"
#include "model_sites.hpp"

#include <allocscope/allocscope.hpp>

#include <bitset>   // bitset
#include <cstdarg>  // va_list
#include <cstdint>  // uint64_t
#include <cstdio>   // vsnprintf
#include <cstring>  // strcmp
#include <new>      // placement new
#include <string>   // string

namespace allocscope_test {

constexpr int most_windows = 100;
constexpr std::size_t most_marks = 60;  // with more, a window forgets some of them
constexpr std::uint64_t peak_slack_per_thread = 64 * 1024;

struct model_object {
    void* address;
    std::size_t size;
    int site;
    std::bitset<most_windows> windows;  // those it belongs to
    long born;                          // in which step
};

struct model_row {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
};

enum class window_state { closed, open, stopped };

struct model_window {
    window_state state = window_state::closed;
    allocscope::options wanted;
    int opener = 0;
    allocscope::allocation_counts counts;
    std::uint64_t highest_peak;  // that the window has told
    model_row rows[site_count];
    long marks[most_marks];  // the steps in which it got an age mark
    std::size_t mark_count;
    alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];

    allocscope::scope& real() {
        return *std::launder(reinterpret_cast<allocscope::scope*>(storage));
    }
};

class window_model {
public:
    // Up to `slots` windows are open at a time.
    window_model(std::uint64_t seed, int threads, int slots = 12)
        : roll_(seed), threads_(threads), slots_(slots) {}

    // One random operation, made by thread number `thread`, and the comparison after it.
    void step(int thread) {
        ++steps_;
        const std::uint64_t choice = roll_.below(100);
        if (choice < 44) {
            allocate(thread, false);
        } else if (choice < 46) {
            allocate(thread, true);
        } else if (choice < 88) {
            if (!objects_.empty()) release(roll_.below(objects_.size()));
        } else if (choice < 93) {
            open(thread);
        } else if (choice < 97) {
            close(random_slot());
        } else if (choice < 98) {
            look(random_slot());
        } else if (choice < 99) {
            mark_age(random_slot());
        } else {
            forget(random_slot());
        }
        compare_counts();
    }

    // Ends the windows that are open; objects may stay, as those of an earlier time do.
    void end_windows() {
        for (int i = 0; i < slots_; ++i) {
            if (windows_[i].state == window_state::open)
                compare_rows(i, windows_[i].real().stats());
            destroy(i);
        }
    }
    void release_everything() {
        while (!objects_.empty()) release(objects_.size() - 1);
    }

    bool failed() const { return failure_[0] != 0; }
    std::string failure() const { return failure_; }

private:
    void allocate(int thread, bool paused) {
        if (objects_.size() >= 1500) return;
        model_object object = {};
        object.site = static_cast<int>(roll_.below(site_count));
        object.size = random_size();
        object.born = steps_;
        const int depth = static_cast<int>(roll_.below(20));
        if (paused) {
            const allocscope::pause_recording pause;
            object.address = site_at_depth(object.site, object.size, depth);
        } else {
            object.address = site_at_depth(object.site, object.size, depth);
            charge(object, thread);
        }
        objects_.push_back(object);
    }

    int random_slot() { return static_cast<int>(roll_.below(static_cast<std::uint64_t>(slots_))); }

    std::size_t random_size() {
        switch (roll_.below(8)) {
            case 0:
                return 0;
            case 1:
                return 1 + roll_.below(8);
            case 2:
                return 1000 + roll_.below(5000);
            case 3:
                return roll_.one_in(20) ? 100000 + roll_.below(200000) : 32;
            default:
                return 16 + roll_.below(512);
        }
    }

    void charge(model_object& object, int thread) {
        for (int i = 0; i < slots_; ++i) {
            model_window& window = windows_[i];
            if (window.state != window_state::open) continue;
            if (window.wanted.from == allocscope::threads::current && window.opener != thread) {
                continue;
            }
            object.windows.set(static_cast<std::size_t>(i));
            window.counts.allocations += 1;
            window.counts.bytes_allocated += object.size;
            if (window.counts.live_bytes() > window.counts.peak_bytes) {
                window.counts.peak_bytes = window.counts.live_bytes();
            }
            window.rows[object.site].objects += 1;
            window.rows[object.site].bytes += object.size;
        }
    }

    void release(std::size_t index) {
        const model_object object = objects_[index];
        objects_[index] = objects_.back();
        objects_.pop_back();
        release_site(object.site, object.address, object.size);
        for (int i = 0; i < slots_; ++i) {
            if (!object.windows.test(static_cast<std::size_t>(i))) continue;
            windows_[i].counts.frees += 1;
            windows_[i].counts.bytes_freed += object.size;
            windows_[i].rows[object.site].objects -= 1;
            windows_[i].rows[object.site].bytes -= object.size;
        }
    }

    void open(int thread) {
        const int slot = random_slot();
        model_window& window = windows_[slot];
        if (window.state == window_state::open) return;
        destroy(slot);
        allocscope::options wanted;
        if (roll_.one_in(4)) wanted.record = allocscope::recording::counters;
        if (roll_.one_in(8)) {
            wanted.record = allocscope::recording::sampled;  // an estimate; it must disturb nobody
            wanted.sample_bytes = 1 + roll_.below(5000);
        }
        if (roll_.one_in(3)) wanted.from = allocscope::threads::current;
        const std::uint32_t frames[] = {1, 2, 24, 128};
        wanted.stack_frames = frames[roll_.below(4)];
        window.wanted = wanted;
        window.opener = thread;
        empty(slot);
        new (window.storage) allocscope::scope{"model", wanted};
        window.state = window_state::open;
    }

    // The window starts anew: nothing that lives belongs to it.
    void empty(int slot) {
        for (model_object& object : objects_) object.windows.reset(static_cast<std::size_t>(slot));
        windows_[slot].counts = {};
        windows_[slot].highest_peak = 0;
        for (model_row& row : windows_[slot].rows) row = {};
        windows_[slot].mark_count = 0;
    }

    void close(int slot) {
        model_window& window = windows_[slot];
        if (slots_ > 12 && roll_.one_in(2)) return;  // so that most of the many are open
        if (window.state != window_state::open || roll_.one_in(3)) {
            destroy(slot);
            return;
        }
        compare_rows(slot, window.real().stop());
        window.state = window_state::stopped;
        for (model_object& object : objects_) object.windows.reset(static_cast<std::size_t>(slot));
    }

    void destroy(int slot) {
        if (windows_[slot].state == window_state::closed) return;
        windows_[slot].real().~scope();
        windows_[slot].state = window_state::closed;
        for (model_object& object : objects_) object.windows.reset(static_cast<std::size_t>(slot));
    }

    void look(int slot) {
        if (windows_[slot].state != window_state::closed) {
            compare_rows(slot, windows_[slot].real().stats());
        }
    }

    // Now and then several, with nothing in between.
    void mark_age(int slot) {
        model_window& window = windows_[slot];
        if (window.state != window_state::open) return;
        do {
            if (window.mark_count == most_marks) return;
            window.real().mark_age();
            if (window.wanted.record == allocscope::recording::counters) return;
            window.marks[window.mark_count++] = steps_;
        } while (roll_.one_in(4));
    }

    void forget(int slot) {
        if (windows_[slot].state != window_state::open) return;
        compare_rows(slot, windows_[slot].real().stats_and_forget());
        empty(slot);
    }

    void compare_counts() {
        const int step_width = slots_ <= 12 || steps_ % 64 == 0 ? 1 : 9;
        for (int i = 0; i < slots_; i += step_width) {
            if (windows_[i].state == window_state::closed) continue;
            compare_totals(i, windows_[i].real().counts(), "counts()");
        }
    }

    void compare_totals(int slot, const allocscope::allocation_counts& seen, const char* where) {
        if (windows_[slot].wanted.record == allocscope::recording::sampled) return;
        const allocscope::allocation_counts& wanted = windows_[slot].counts;
        const std::uint64_t peak_gap = seen.peak_bytes > wanted.peak_bytes
                                           ? seen.peak_bytes - wanted.peak_bytes
                                           : wanted.peak_bytes - seen.peak_bytes;
        const std::uint64_t slack =
            threads_ == 1 ? 0 : static_cast<std::uint64_t>(threads_) * peak_slack_per_thread;
        if (seen.allocations == wanted.allocations && seen.frees == wanted.frees &&
            seen.bytes_allocated == wanted.bytes_allocated &&
            seen.bytes_freed == wanted.bytes_freed && peak_gap <= slack &&
            seen.peak_bytes >= windows_[slot].highest_peak) {
            windows_[slot].highest_peak = seen.peak_bytes;
            return;
        }
        fail(
            "step %ld, window %d (%s), %s: seen %llu/%llu objects, %llu/%llu bytes, peak %llu;"
            " wanted %llu/%llu, %llu/%llu, peak %llu; before, the peak was %llu",
            steps_, slot, describe(slot), where, number(seen.allocations), number(seen.frees),
            number(seen.bytes_allocated), number(seen.bytes_freed), number(seen.peak_bytes),
            number(wanted.allocations), number(wanted.frees), number(wanted.bytes_allocated),
            number(wanted.bytes_freed), number(wanted.peak_bytes),
            number(windows_[slot].highest_peak));
    }

    // What is alive of each age.
    void compare_ages(int slot, const allocscope::snapshot& seen) {
        const model_window& window = windows_[slot];
        const std::size_t ages = window.mark_count != 0 ? window.mark_count + 1 : 0;
        if (seen.info().age_count != ages) {
            fail("step %ld, window %d (%s): %zu ages instead of %zu", steps_, slot, describe(slot),
                 seen.info().age_count, ages);
        }
        if (ages == 0 || failed()) return;
        model_row wanted[most_marks + 1];
        for (const model_object& object : objects_) {
            if (!object.windows.test(static_cast<std::size_t>(slot))) continue;
            std::size_t age = 0;
            while (age < window.mark_count && window.marks[age] < object.born) ++age;
            wanted[age].objects += 1;
            wanted[age].bytes += object.size;
        }
        model_row found[most_marks + 1];
        for (const allocscope::snapshot::stack& stack : seen.stacks()) {
            if (stack.thread_count == 1) {
                found[stack.age].objects += stack.objects;
                found[stack.age].bytes += stack.bytes;
                continue;
            }
            for (std::size_t i = 0; i < stack.thread_count; ++i) {
                const allocscope::snapshot::thread_part& part = stack.by_thread[i];
                found[part.age].objects += part.objects;
                found[part.age].bytes += part.bytes;
            }
        }
        for (std::size_t age = 0; age < ages; ++age) {
            if (found[age].objects == wanted[age].objects &&
                found[age].bytes == wanted[age].bytes) {
                continue;
            }
            fail(
                "step %ld, window %d (%s), age %zu of %zu: seen %llu objects, %llu bytes;"
                " wanted %llu, %llu",
                steps_, slot, describe(slot), age, ages, number(found[age].objects),
                number(found[age].bytes), number(wanted[age].objects), number(wanted[age].bytes));
        }
    }

    // What is alive of each family, where there are others than operator new's.
    void compare_families(int slot, const allocscope::snapshot& seen) {
        const allocscope::snapshot::window_info& info = seen.info();
        for (std::size_t i = 0; i < info.family_count; ++i) {
            const allocscope::snapshot::family& family = info.families[i];
            model_row wanted;
            for (int site = 0; site < site_count; ++site) {
                if (std::strcmp(family.name, family_of_site(site)) != 0) continue;
                wanted.objects += windows_[slot].rows[site].objects;
                wanted.bytes += windows_[slot].rows[site].bytes;
            }
            if (family.live_objects() == wanted.objects && family.live_bytes() == wanted.bytes) {
                continue;
            }
            fail(
                "step %ld, window %d (%s), family %s: seen %llu objects, %llu bytes;"
                " wanted %llu, %llu",
                steps_, slot, describe(slot), family.name, number(family.live_objects()),
                number(family.live_bytes()), number(wanted.objects), number(wanted.bytes));
        }
    }

    void compare_rows(int slot, const allocscope::snapshot& seen) {
        compare_totals(slot, seen.info().totals, "stats().info().totals");
        if (windows_[slot].wanted.record == allocscope::recording::sampled) return;
        compare_families(slot, seen);
        if (windows_[slot].wanted.record != allocscope::recording::exact) return;
        model_row rows[site_count];
        for (const allocscope::snapshot::row& row : seen) {
            const int site = site_of_line(row.line);
            if (site < 0) {
                fail("step %ld, window %d: a row that no site made: %s:%d, %llu objects", steps_,
                     slot, row.file, row.line, number(row.objects));
                return;
            }
            if (site == site_count - 1 &&
                std::strcmp(row.type, "allocscope_test::pool_object") != 0) {
                fail("step %ld, window %d: objects of a pool are of type %s", steps_, slot,
                     row.type);
                return;
            }
            rows[site].objects += row.objects;
            rows[site].bytes += row.bytes;
        }
        for (int site = 0; site < site_count; ++site) {
            const model_row& wanted = windows_[slot].rows[site];
            if (rows[site].objects == wanted.objects && rows[site].bytes == wanted.bytes) continue;
            fail(
                "step %ld, window %d (%s), line %d: seen %llu objects, %llu bytes;"
                " wanted %llu, %llu",
                steps_, slot, describe(slot), line_of_site(site), number(rows[site].objects),
                number(rows[site].bytes), number(wanted.objects), number(wanted.bytes));
        }
        if (windows_[slot].state == window_state::open) compare_ages(slot, seen);
    }

    const char* describe(int slot) const {
        const bool current = windows_[slot].wanted.from == allocscope::threads::current;
        if (windows_[slot].wanted.record == allocscope::recording::counters) {
            return current ? "counters, current" : "counters, all";
        }
        return current ? "exact, current" : "exact, all";
    }

    static unsigned long long number(std::uint64_t value) { return value; }

    __attribute__((format(printf, 2, 3))) void fail(const char* format, ...) {
        if (failed()) return;  // the first one tells the story
        va_list values;
        va_start(values, format);
        std::vsnprintf(failure_, sizeof failure_, format, values);
        va_end(values);
    }

    dice roll_;
    int threads_;
    int slots_;
    long steps_ = 0;
    malloc_vector<model_object> objects_;
    model_window windows_[most_windows];
    char failure_[600] = {};
};

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_MODEL_WINDOW_MODEL_HPP
