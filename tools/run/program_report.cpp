#include "program_report.hpp"

#include "../counted.hpp"
#include "../missing_names.hpp"
#include "../report_formats.hpp"
#include "../verbs.hpp"
#include "adopted_recording.hpp"
#include "nameless_functions.hpp"

#include <allocscope/platform/output_file.hpp>
#include <allocscope/report.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

bool write_text_by_bytes(allocscope::detail::format_job& job) {
    allocscope::text_options options;
    options.sort = allocscope::row_order::bytes;
    allocscope::detail::write_text_report(job.out, job.rows, options, job.descriptor);
    return true;
}

// Programs free most of what they hold before they end, and then no row shows it.
std::string how_to_see_the_peak(const run_options& wanted, const allocscope::snapshot& rows) {
    constexpr std::uint64_t least_bytes = 64 * 1024;
    const std::uint64_t peak_bytes = rows.info().totals.peak_bytes;
    const bool could_be_asked =
        wanted.record.record == allocscope::recording::exact && !wanted.record.details;
    const bool is_gone = peak_bytes >= least_bytes && rows.live_bytes() < peak_bytes / 10;
    if (!could_be_asked || !is_gone) return "";
    return "\nmost of the peak was freed: run with --details to see what was alive then\n";
}

void print_summary(const std::string& name, const allocscope::snapshot& rows) {
    const auto& info = rows.info();
    const auto& about = info.estimates;  // or the totals themselves
    const char* mark = mark_of_estimates(rows);
    std::fprintf(stderr,
                 "allocscope: %s: %s%s, %s%s, %s%s allocated; alive: %s%s of %s%s; peak %s%s\n",
                 name.c_str(), mark, counted(about.allocations.value, "allocation").c_str(), mark,
                 counted(about.frees.value, "free").c_str(), mark,
                 counted(about.bytes_allocated.value, "byte").c_str(), mark,
                 counted(about.live_objects.value, "object").c_str(), mark,
                 counted(about.live_bytes.value, "byte").c_str(), mark,
                 counted(info.totals.peak_bytes, "byte").c_str());
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        std::fprintf(stderr, "allocscope: %s: lost: %s %s\n", name.c_str(),
                     with_commas(info.losses[i].count).c_str(),
                     allocscope::detail::sentence_of(info.losses[i]));
    }
}

// Devices, pipes and descriptors by their names take one report after the other.
bool takes_all_reports(const std::string& path) {
    struct stat about;
    return allocscope::detail::descriptor_named_by(path.c_str()) >= 0 ||
           (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode));
}

// "heap.2.html" for "heap.html": the ending tells other programs the format.
std::string numbered_path(const std::string& path, int number) {
    if (takes_all_reports(path)) return path;
    const report_format* const format = format_of_path(path);
    const std::size_t ending = format != nullptr ? std::strlen(format->ending) : 0;
    return path.substr(0, path.size() - ending) + "." + std::to_string(number) +
           path.substr(path.size() - ending);
}

}  // namespace

program_report::program_report(const run_options& wanted, const recording_file& file,
                               std::uint32_t index, std::string path)
    : wanted_(wanted),
      file_(file),
      index_(index),
      path_(std::move(path)),
      program_(file.program(index)) {
    facts_.command = program_.path;
    facts_.process_id = program_.process_id;
    facts_.clock_ahead_ns = program_.clock_ahead_ns;
}

void program_report::add(const std::vector<allocscope::snapshot::moment>& moments) {
    facts_.moments = moments;
}

void program_report::add(const memory_moment& memory) {
    facts_.memory = memory;
    const bool is_largest =
        !memory.is_known || program_.last_look.found.total >= memory.look.found.total;
    if (program_.has_last_look && is_largest) {
        facts_.memory = {true, true, {}, program_.last_look};
    }
}

// Arguments are left out unless asked for: they may be secret, and reports are passed on.
void program_report::add_command() {
    facts_.command = wanted_.command[0];
    for (std::size_t i = 1; i < wanted_.command.size() && wanted_.includes_arguments; ++i) {
        facts_.command += " " + wanted_.command[i];
    }
}

template <class Work>
void program_report::in_own_process(bool wants_rows, const Work& work) const {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        refuse("run", "no process could be made for the report");
        return;
    }
    if (child == 0) {
        std::string error;
        const allocscope::snapshot rows = adopt_recording(file_.descriptor(), index_, wants_rows,
                                                          facts_, wanted_.library_frames, error);
        if (error.empty()) {
            work(rows);
        } else {
            refuse("run", program_.name + ": " + error);
        }
        std::fflush(nullptr);
        ::_exit(exit_fine);
    }
    int status = 0;
    int end_asked = 0;
    while (::waitpid(child, &status, end_asked_ ? WNOHANG : 0) != child) {
        if (!end_asked_ || end_asked != 0) continue;
        end_asked = end_asked_();
        if (end_asked != 0) ::kill(child, SIGKILL);
    }
    if (end_asked != 0) {
        refuse("run",
               program_.name + ": the report was stopped by signal " + std::to_string(end_asked));
    } else if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        const char* const why = number == SIGKILL
                                    ? "it was killed, as the kernel does where memory is short"
                                    : "the recording is damaged";
        refuse("run", program_.name + ": the report failed (signal " + std::to_string(number) +
                          "): " + why);
    }
}

std::string output_paths::path_with(const recorded_program& program) const {
    // A program chooses its name. These two would lead out of the folder.
    const bool is_folder = program.name == "." || program.name == "..";
    std::string path;
    for (std::size_t i = 0; i < pattern_.size(); ++i) {
        const char next = i + 1 < pattern_.size() ? pattern_[i + 1] : '\0';
        if (pattern_[i] != '%') {
            path += pattern_[i];
            continue;
        }
        if (next == 'p') path += std::to_string(program.process_id);
        if (next == 'n') path += is_folder ? "program" : program.name;
        if (next == '%') path += '%';
        ++i;  // other signs were refused with the options
    }
    return path;
}

void output_paths::choose(std::uint32_t index, const recorded_program& program) {
    if (paths_.count(index) != 0) return;
    const std::string path = path_with(program);
    const int number = ++times_[path];
    paths_[index] = number == 1 ? path : numbered_path(path, number);
}

void output_paths::look_at(std::uint32_t index) {
    const recorded_program program = file_.program(index);
    if (!program.has_begun) return nameless_.push_back(index);
    choose(index, program);
}

// Files are numbered as the programs began, if their names were known in time.
std::string output_paths::path_of(std::uint32_t index) {
    if (pattern_.empty()) return {};
    for (std::uint32_t each : std::exchange(nameless_, {})) look_at(each);
    while (looked_at_ < index) look_at(looked_at_++);
    choose(index, file_.program(index));
    return paths_[index];
}

void program_report::write() const {
    if (program_.is_empty) return;
    if (!program_.refusal.empty()) {
        refuse("run", program_.name + " was not recorded: " + program_.refusal);
        return;
    }
    const bool is_line = wanted_.is_summary && wanted_.output.empty();
    in_own_process(!is_line, [this, is_line](const allocscope::snapshot& rows) {
        if (wanted_.is_summary) print_summary(printable(program_.name), rows);
        if (is_line) return;
        std::string error;
        const auto* const text = format_named("text");
        const auto text_body = wanted_.is_by_bytes ? write_text_by_bytes : text->body;
        const auto body = wanted_.format == text ? text_body : wanted_.format->body;
        const bool is_written =
            path_.empty() ? allocscope::detail::try_write(body, rows, STDERR_FILENO, error)
                          : allocscope::detail::try_write(body, rows, path_, error);
        std::fputs(remark_on_unmet_numbers().c_str(), stderr);
        // The program may have run for hours: its report must not be lost with the file.
        const bool is_shown_instead = !is_written && !path_.empty();
        if (!is_written) {
            refuse("run", error + (is_shown_instead ? "; the report follows as text" : ""));
        }
        if (is_shown_instead) {
            allocscope::detail::try_write(text_body, rows, STDERR_FILENO, error);
        }
        if (is_shown_instead || (path_.empty() && wanted_.format == text)) {
            std::fputs(what_could_name_rows(rows, STDERR_FILENO).c_str(), stderr);
            std::fputs(how_to_see_the_peak(wanted_, rows).c_str(), stderr);
        }
    });
}

void program_report::say_what_is_missing() const {
    if (program_.operators_of.empty()) return;
    refuse("run", program_.name +
                      ": objects of operator new may be missing: " + program_.operators_of +
                      " takes their memory from its own heap, and its calls could not be changed");
}

bool program_report::lacks_memory() const {
    const bool is_reported = !program_.is_empty && program_.refusal.empty();
    return is_reported && wanted_.explains_memory && !facts_.memory.is_known;
}

bool program_report::measure(allocscope::snapshot::moment& into) const {
    int ends[2] = {-1, -1};
    if (!program_.refusal.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return false;
    in_own_process(false, [&ends](const allocscope::snapshot& rows) {
        const auto& info = rows.info();
        const allocscope::snapshot::moment now{info.duration_ns,
                                               info.estimates.live_objects.value,
                                               info.estimates.live_bytes.value,
                                               info.estimates.allocations.value,
                                               info.estimates.bytes_allocated.value,
                                               nullptr};
        if (::write(ends[1], &now, sizeof now) != static_cast<ssize_t>(sizeof now)) ::_exit(1);
    });
    ::close(ends[1]);
    const bool is_read = ::read(ends[0], &into, sizeof into) == static_cast<ssize_t>(sizeof into);
    ::close(ends[0]);
    into.mark = "";
    return is_read;
}

void program_report::draw(const live_view& view) const {
    if (!program_.refusal.empty()) return;
    in_own_process(true, [this, &view](const allocscope::snapshot& rows) {
        view.draw(printable(program_.name), rows);
    });
}

void program_report::write_progress() const {
    if (!program_.refusal.empty()) return;
    in_own_process(false, [this](const allocscope::snapshot& rows) {
        const auto& info = rows.info();
        const std::string mark = mark_of_estimates(rows);
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%.1f",
                      static_cast<double>(info.duration_ns) * 1e-9);
        const std::string line = printable(program_.name) + ": " + seconds + " s, " + mark +
                                 counted(info.totals.live_objects(), "object") + " of " + mark +
                                 counted(info.totals.live_bytes(), "byte") + " alive";
        std::fprintf(stderr, "\r\x1b[K%s", cut_to_terminal(line).c_str());
    });
}

}  // namespace allocscope_tools
