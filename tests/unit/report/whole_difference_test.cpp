// A made-up program whose every event is known, asked twice; what the difference has to say is
// counted from the events in between alone.

#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/made_snapshot.hpp"

using allocscope::difference;
using allocscope::group_key;
using allocscope::snapshot;
using allocscope_tests::info_text;
using allocscope_tests::made_snapshot;
using allocscope_tests::row_text;
using allocscope_tests::stack_text;

namespace {

constexpr std::size_t stack_count = 12;
constexpr std::size_t thread_count = 3;
using details = snapshot::stack_details;

// Of one stack and thread; changes of them are signed.
struct numbers {
    std::uint64_t objects = 0, bytes = 0, allocations = 0, bytes_allocated = 0;
    details more{};

    bool operator==(const numbers& other) const {
        bool is_same =
            objects == other.objects && bytes == other.bytes && allocations == other.allocations &&
            bytes_allocated == other.bytes_allocated &&
            more.peak_objects == other.more.peak_objects &&
            more.peak_bytes == other.more.peak_bytes && more.temporary == other.more.temporary &&
            more.lifetime_us == other.more.lifetime_us;
        for (std::size_t i = 0; i < allocscope::size_class_count; ++i) {
            is_same = is_same && more.sizes[i] == other.more.sizes[i];
        }
        return is_same;
    }
    bool is_nothing_but_time() const {
        numbers timeless = *this;
        timeless.more.lifetime_us = 0;
        return timeless == numbers{};
    }
    void add(const numbers& part) {
        objects += part.objects;
        bytes += part.bytes;
        allocations += part.allocations;
        bytes_allocated += part.bytes_allocated;
        more.add(part.more);
    }
};
using table = std::map<std::pair<std::size_t, std::size_t>, numbers>;  // by stack and thread

struct object {
    std::size_t stack, thread;
    std::uint64_t bytes;
};

// Each event takes a microsecond.
class made_up_program {
public:
    table now;    // since it began
    table since;  // since forget(), without the peak

    void run(std::size_t events) {
        for (std::size_t i = 0; i < events; ++i) step();
    }
    void forget() { since.clear(); }
    table at_peak() const { return peak_; }
    std::uint64_t peak_bytes() const { return peak_bytes_; }

private:
    std::uint32_t roll(std::uint32_t sides) {
        dice_ = dice_ * 1664525U + 1013904223U;
        return (dice_ >> 8U) % sides;
    }

    void step() {
        for (const object& each : alive_) {
            ++now[{each.stack, each.thread}].more.lifetime_us;
            ++since[{each.stack, each.thread}].more.lifetime_us;
        }
        if (!alive_.empty() && roll(100) < 45) {
            const std::size_t which = roll_of(alive_.size());
            const object gone = alive_[which];
            alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(which));
            const bool is_temporary = roll(4) == 0;
            for (table* each : {&now, &since}) {
                numbers& here = (*each)[{gone.stack, gone.thread}];
                --here.objects;
                here.bytes -= gone.bytes;
                if (is_temporary) ++here.more.temporary;
            }
            bytes_ -= gone.bytes;
            return;
        }
        // The first stack is used in the beginning alone, the last one by one thread.
        std::size_t stack = roll_of(stack_count);
        if (stack == 0 && ++births_ > 200) stack = 1;
        const std::size_t thread = stack + 1 == stack_count ? 0 : roll(thread_count);
        const object born{stack, thread, std::uint64_t{1} << roll(12)};
        for (table* each : {&now, &since}) {
            numbers& here = (*each)[{born.stack, born.thread}];
            ++here.objects;
            here.bytes += born.bytes;
            ++here.allocations;
            here.bytes_allocated += born.bytes;
            ++here.more.sizes[allocscope::size_class_of(born.bytes)];
        }
        alive_.push_back(born);
        bytes_ += born.bytes;
        if (bytes_ <= peak_bytes_) return;
        peak_bytes_ = bytes_;
        peak_ = now;
    }
    std::size_t roll_of(std::size_t sides) { return roll(static_cast<std::uint32_t>(sides)); }

    std::vector<object> alive_;
    std::uint64_t bytes_ = 0;
    std::uint64_t peak_bytes_ = 0;
    std::uint64_t births_ = 0;
    table peak_;
    std::uint32_t dice_ = 17;
};

std::deque<details>& kept_details() {
    static std::deque<details> kept;
    return kept;
}

bool is_of_pool(std::size_t stack) {
    return stack % 3 == 0;
}

snapshot taken(const made_up_program& program, std::uint64_t process_id, bool has_details = true) {
    info_text about;
    about.window = process_id;
    about.process_id = process_id;
    about.has_details = has_details;
    about.totals.peak_bytes = program.peak_bytes();
    about.families = {{"operator new", 0, 0, 0, 0}, {"pool", 0, 0, 0, 0}};
    // No two snapshots have their threads in one order.
    static std::size_t shift = 0;
    ++shift;
    for (std::size_t i = 0; i < thread_count; ++i) {
        const std::size_t t = (i + shift) % thread_count;
        about.threads.push_back({t + 1, "worker " + std::to_string(t), process_id});
    }
    const auto index_of = [](std::size_t t) {
        return (t + thread_count * shift - shift) % thread_count;
    };
    std::vector<row_text> rows;
    const table peak = program.at_peak();
    for (std::size_t s = 0; s < stack_count; ++s) {
        stack_text stack;
        numbers sum;
        for (std::size_t t = 0; t < thread_count; ++t) {
            const auto known = program.now.find({s, t});
            if (known == program.now.end()) continue;
            numbers of = known->second;
            const auto then = peak.find({s, t});
            of.more.peak_objects = then != peak.end() ? then->second.objects : 0;
            of.more.peak_bytes = then != peak.end() ? then->second.bytes : 0;
            kept_details().push_back(of.more);
            stack.by_thread.push_back({index_of(t), of.objects, of.bytes, of.allocations,
                                       of.bytes_allocated, 0, of.objects, of.objects, of.bytes,
                                       of.bytes, has_details ? &kept_details().back() : nullptr,
                                       0});
            sum.add(of);
        }
        if (stack.by_thread.empty()) continue;
        stack.frames.resize(1);
        stack.frames[0].function = stack.function = "work_" + std::to_string(s);
        stack.frames[0].file = stack.file = "/src/work.cpp";
        stack.frames[0].line = stack.line = static_cast<int>(s + 1);
        stack.user_frame = 0;
        stack.type = "node";
        stack.objects = sum.objects;
        stack.bytes = sum.bytes;
        stack.allocations = sum.allocations;
        stack.bytes_allocated = sum.bytes_allocated;
        if (has_details) stack.details.push_back(sum.more);
        auto& family = about.families[is_of_pool(s) ? 1 : 0];
        family.allocations += sum.allocations;
        family.frees += sum.allocations - sum.objects;
        family.bytes_allocated += sum.bytes_allocated;
        family.bytes_freed += sum.bytes_allocated - sum.bytes;
        about.totals.allocations += sum.allocations;
        about.totals.frees += sum.allocations - sum.objects;
        about.totals.bytes_allocated += sum.bytes_allocated;
        about.totals.bytes_freed += sum.bytes_allocated - sum.bytes;
        about.stacks.push_back(stack);
        if (sum.objects != 0) rows.push_back(stack);
    }
    return made_snapshot(rows, about);
}

template <class Stack>
numbers numbers_said(const Stack& stack) {
    return {stack.objects, stack.bytes, stack.allocations, stack.bytes_allocated,
            stack.details != nullptr ? *stack.details : details{}};
}

// By stack and by the name of the thread.
table said_by(const snapshot& change) {
    table said;
    for (const snapshot::stack& stack : change.stacks()) {
        const std::size_t s = static_cast<std::size_t>(stack.line) - 1;
        numbers sum;
        allocscope::detail::for_each_part(stack, [&](const snapshot::thread_part& part) {
            const std::string name = change.allocating_threads()[part.thread].name;
            const numbers known = numbers_said(part);
            CHECK(part.objects_low == part.objects);
            CHECK(part.bytes_high == part.bytes);
            sum.add(known);
            said[{s, static_cast<std::size_t>(name.back() - '0')}] = known;
        });
        CHECK(sum == numbers_said(stack));
    }
    return said;
}

// What the events in between have changed; the peak is that of two moments.
table truth(const made_up_program& program, const table& earlier_peak) {
    table changes = program.since;
    const table later_peak = program.at_peak();
    for (const auto& each : later_peak) {
        changes[each.first].more.peak_objects += each.second.objects;
        changes[each.first].more.peak_bytes += each.second.bytes;
    }
    for (const auto& each : earlier_peak) {
        changes[each.first].more.peak_objects -= each.second.objects;
        changes[each.first].more.peak_bytes -= each.second.bytes;
    }
    return changes;
}

void check_against(table expected, const table& said, std::size_t least = stack_count) {
    // Of a stack whose numbers are all as before nothing is said.
    for (std::size_t s = 0; s < stack_count; ++s) {
        bool is_as_before = true;
        for (std::size_t t = 0; t < thread_count; ++t) {
            is_as_before = is_as_before && expected[{s, t}].is_nothing_but_time();
        }
        for (std::size_t t = 0; t < thread_count && is_as_before; ++t) expected[{s, t}] = {};
    }
    std::size_t changed = 0;
    for (const auto& each : expected) {
        CAPTURE(each.first.first);
        CAPTURE(each.first.second);
        const auto found = said.find(each.first);
        const numbers known = found != said.end() ? found->second : numbers{};
        CHECK(known == each.second);
        if (!(each.second == numbers{})) ++changed;
    }
    CHECK(changed == said.size());
    CHECK(changed >= least);
}

}  // namespace

TEST_CASE("whole difference: of each thread at each stack, what the events in between have done") {
    made_up_program program;
    program.run(3000);
    const snapshot earlier = taken(program, 7);
    const table earlier_peak = program.at_peak();
    program.forget();
    program.run(2000);
    const snapshot later = taken(program, 7);
    const snapshot change = difference(later, earlier);
    REQUIRE(change.info().is_difference);
    REQUIRE(change.info().has_details);
    REQUIRE(change.info().has_peak_details);
    REQUIRE(change.allocating_threads().size() == thread_count);
    check_against(truth(program, earlier_peak), said_by(change));

    // Rows and totals are those that every program gets.
    const snapshot plain = later.difference_from(earlier);
    REQUIRE(change.size() == plain.size());
    CHECK(change.live_bytes() == plain.live_bytes());
    CHECK(change.info().totals.allocations == plain.info().totals.allocations);

    std::uint64_t peak = 0;
    for (const allocscope::group& each : change.group_by(group_key::thread))
        peak += each.peak_bytes;
    CHECK(peak == change.info().totals.peak_bytes);

    numbers families[2];
    for (const auto& each : program.since) families[is_of_pool(each.first.first)].add(each.second);
    REQUIRE(change.info().family_count == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CAPTURE(i);
        const snapshot::family& said = change.info().families[i];
        CHECK(said.name == std::string(i == 0 ? "operator new" : "pool"));
        CHECK(said.allocations == families[i].allocations);
        CHECK(said.bytes_allocated == families[i].bytes_allocated);
        CHECK(said.live_objects() == families[i].objects);
        CHECK(said.live_bytes() == families[i].bytes);
    }
}

TEST_CASE("whole difference: where a stack has changed, the time of all its threads counts") {
    made_up_program program;
    program.run(3000);
    const snapshot earlier = taken(program, 7);
    const table earlier_peak = program.at_peak();
    program.forget();
    program.run(8);  // most threads do nothing, and their objects live on
    const snapshot change = difference(taken(program, 7), earlier);
    check_against(truth(program, earlier_peak), said_by(change), 8);
}

TEST_CASE("whole difference: the other way round every number has the other sign") {
    made_up_program program;
    program.run(1000);
    const snapshot earlier = taken(program, 7);
    program.run(1000);
    const snapshot later = taken(program, 7);
    const table there = said_by(difference(later, earlier));
    table back = said_by(difference(earlier, later));
    REQUIRE(there.size() == back.size());
    for (const auto& each : there) {
        numbers sum = each.second;
        sum.add(back[each.first]);
        CHECK(sum == numbers{});
    }
    CHECK(difference(later, later).stacks().empty());
    CHECK(difference(later, later).info().family_count == 0);
}

TEST_CASE("whole difference: two runs of a program have the same threads") {
    made_up_program program;
    program.run(1000);
    const table before = said_by(taken(program, 7));
    const snapshot first = taken(program, 7);
    program.run(500);
    const snapshot second = taken(program, 8);
    const snapshot change = difference(second, first);
    CHECK(change.allocating_threads().size() == thread_count);
    CHECK(change.allocating_threads()[0].process_id == 8);
    const table said = said_by(change);
    table now = program.now;
    for (const auto& each : said) {
        const numbers old = before.count(each.first) != 0 ? before.at(each.first) : numbers{};
        CHECK(each.second.allocations == now[each.first].allocations - old.allocations);
    }
    // Of one process, a thread with another number is another thread.
    const snapshot merged = allocscope::merge({first, second});
    CHECK(difference(merged, first).allocating_threads().size() == 2 * thread_count);
}

TEST_CASE("whole difference: nothing is the same as a snapshot of no window") {
    made_up_program program;
    program.run(1000);
    const snapshot later = taken(program, 7);
    const snapshot all = difference(later, snapshot{});
    CHECK(all.info().has_details);
    check_against(said_by(later), said_by(all));
    CHECK(all.info().family_count == 2);
    CHECK(difference(snapshot{}, snapshot{}).empty());
}

TEST_CASE("whole difference: details are there when both sides have them") {
    made_up_program program;
    program.run(1000);
    const snapshot without = taken(program, 7, false);
    const snapshot with = taken(program, 7);
    program.run(100);
    const snapshot change = difference(taken(program, 7), without);
    CHECK(!change.info().has_details);
    CHECK(change.stacks()[0].details == nullptr);
    CHECK(difference(taken(program, 7), with).stacks()[0].details != nullptr);
}

TEST_CASE("whole difference: in text, JSON, CSV, the page and a file its numbers have signs") {
    made_up_program program;
    program.run(2000);
    const snapshot later = taken(program, 7);
    made_up_program longer;
    longer.run(4000);
    const snapshot change = difference(later, taken(longer, 7));  // less than before
    const std::string text = allocscope::to_text(change);
    CHECK(text.find("pool: -") != std::string::npos);
    CHECK(text.find("changes of what was alive at the peak, -") != std::string::npos);
    CHECK(text.find("lived") != std::string::npos);
    CHECK(text.find("mean life") == std::string::npos);
    const std::string json = allocscope::to_json(change);
    CHECK(json.find("\"name\": \"worker 0\", \"process_id\": 7, \"objects\": -") !=
          std::string::npos);
    CHECK(json.find("\"families\": [{\"name\": \"operator new\", \"allocations\": -") !=
          std::string::npos);
    CHECK(json.find("\"lifetime_us\": -") != std::string::npos);
    for (const std::string& each : {text, json, allocscope::to_html(change)}) {
        CHECK(each.find("1844674407370") == std::string::npos);  // 2^64 less something
    }
    snapshot again;
    std::string error;
    const std::string saved = allocscope::to_saved_snapshot(change);
    REQUIRE(allocscope::load_snapshot_from(saved.data(), saved.size(), again, error));
    CHECK(said_by(again) == said_by(change));
    CHECK(allocscope::to_text(again) == text);
    CHECK(allocscope::to_json(again) == json);
    CHECK(allocscope::to_saved_snapshot(again) == saved);
}
