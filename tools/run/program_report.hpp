// program_report.hpp - the report about one program of a recording.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP

#include "adopted_recording.hpp"
#include "live_view.hpp"
#include "recording_file.hpp"
#include "run_options.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace allocscope_tools {

// Where the reports go. Each program gets a file of its own: "heap.html", "heap.2.html" and so on.
class output_paths {
public:
    output_paths(const std::string& pattern, const recording_file& file)
        : pattern_(pattern), file_(file) {}

    // The path for a program that has a report; "" if it goes to stderr.
    std::string path_of(std::uint32_t index);

private:
    void look_at(std::uint32_t index);
    void choose(std::uint32_t index, const recorded_program& program);
    std::string path_with(const recorded_program& program) const;

    const std::string& pattern_;
    const recording_file& file_;
    std::map<std::uint32_t, std::string> paths_;
    std::map<std::string, int> times_;
    std::uint32_t looked_at_ = 0;          // how many programs
    std::vector<std::uint32_t> nameless_;  // those that had only just begun
};

// Each report is made by a process of its own. That process takes over the memory of the recorded
// one, and if this memory is damaged, only that process fails.
class program_report {
public:
    program_report(const run_options& wanted, const recording_file& file, std::uint32_t index,
                   std::string path);

    // It is the program that the user typed; of others only the paths are known.
    void add_command();
    // When it ended, on the monotonic clock; 0: it runs.
    void add_end(std::uint64_t ended_ns) { facts_.ended_ns = ended_ns; }
    // What was alive at earlier moments, for the time series of the report.
    void add(const std::vector<allocscope::snapshot::moment>& moments);
    // The moment at which its memory was largest so far. The program's own last look may find more.
    void add(const memory_moment& memory);
    void add(const names_of_threads& threads) { facts_.threads = threads; }
    // From now on, `end_asked` is called again and again while a report is made. If it returns the
    // number of a signal, the report is given up.
    void stop_when(const std::function<int()>& end_asked) { end_asked_ = end_asked; }
    // Finds out what is alive now. Returns false if that failed.
    bool measure(allocscope::snapshot::moment& into) const;

    void write() const;
    // Whether the report should say where the memory was, and nothing has looked in time.
    bool lacks_memory() const;
    // Says on stderr which library's objects the last report does not have.
    void say_what_is_missing() const;
    // Draws a picture of the present rows.
    void draw(const live_view& view) const;
    // Writes the line that a terminal shows while the program runs.
    void write_progress() const;

private:
    template <class Work>
    void in_own_process(bool wants_rows, const Work& work) const;

    const run_options& wanted_;
    const recording_file& file_;
    std::uint32_t index_;
    std::string path_;
    recorded_program program_;
    program_facts facts_;
    std::function<int()> end_asked_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP
