// Calls every part of the everyday door, so that every inline function is compiled and checked.
#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <sstream>

namespace {

void look(const allocscope::snapshot& rows) {
    for (const allocscope::snapshot::row& row : rows) {
        std::printf("%llu %llu %s %d %s %s\n", static_cast<unsigned long long>(row.objects),
                    static_cast<unsigned long long>(row.bytes), row.file, row.line, row.type,
                    row.function);
    }
    std::ostringstream text;
    text << rows;
}

}  // namespace

int main() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::exact;
    wanted.from = allocscope::threads::current;
    wanted.stack_frames = 8;
    allocscope::scope window{"everything", wanted};
    allocscope::start();
    auto* number = new int(7);
    const allocscope::snapshot first = window.stats();
    {
        const allocscope::pause_recording unseen;
        delete new long(7);
    }
    const allocscope::snapshot tracked = allocscope::track([] { delete new char('7'); });
    allocscope::snapshot last = window.stats_and_forget();
    look(last.difference_from(first));
    look(tracked);
    look(allocscope::stats());
    look(allocscope::stats_and_forget());
    look(allocscope::stop());
    delete number;
    last = first;
    look(window.stop());
    const allocscope::allocation_counts counts = window.counts();
    std::printf("%llu live, %llu bytes, first had %llu\n",
                static_cast<unsigned long long>(counts.live_objects()),
                static_cast<unsigned long long>(counts.live_bytes()),
                static_cast<unsigned long long>(last.live_objects() + first.size()));
    return 0;
}
