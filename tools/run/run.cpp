// allocscope run -- COMMAND
#include "../counted.hpp"
#include "../number_in_proc.hpp"
#include "../recording_path.hpp"
#include "../verbs.hpp"
#include "age_requests.hpp"
#include "held_segments.hpp"
#include "misspelled_variables.hpp"
#include "process_status.hpp"
#include "program_ends.hpp"
#include "program_file.hpp"
#include "program_report.hpp"
#include "recording_file.hpp"
#include "run_options.hpp"
#include "started_program.hpp"
#include "thread_watch.hpp"
#include "unrecorded_children.hpp"

#include <allocscope/platform/clocks.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

constexpr const char* library_name = "liballocscope_preload.so";

// A library that another user can change must not be loaded into a program. Who can change this
// command is trusted anyway: in a user namespace without root, that is whoever installed both.
std::string why_not_trusted(const std::string& library) {
    struct stat about;
    struct stat own;
    if (::stat(library.c_str(), &about) != 0) return std::strerror(errno);
    const bool is_of_same_owner = ::stat("/proc/self/exe", &own) == 0 && about.st_uid == own.st_uid;
    if (about.st_uid != 0 && about.st_uid != ::geteuid() && !is_of_same_owner) {
        return "it belongs to another user";
    }
    if ((about.st_mode & S_IWOTH) != 0) return "everybody may write to it: run chmod o-w on it";
    if (library.find_first_of(" :") != std::string::npos) {
        return "the loader takes no path with a space or colon in LD_PRELOAD: install allocscope in"
               " another folder";
    }
    return {};
}

std::string own_folder(std::string& error) {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length < 0) {
        error = std::string{library_name} +
                " lies beside allocscope, and where that is, only "
                "/proc/self/exe says: " +
                std::strerror(errno) + "; mount /proc";
        return {};
    }
    const std::string file{path, static_cast<std::size_t>(length)};
    return file.substr(0, file.rfind('/'));
}

// The folder of the library: that of this program, or the one where it is installed.
std::string library_folder(std::string& error) {
    const std::string own = own_folder(error);
    if (!error.empty()) return {};
    std::string looked_at;
    for (const char* relative : {"", "/" ALLOCSCOPE_LIBRARY_FOLDER}) {
        const std::string folder = own + relative;
        const std::string library = folder + "/" + library_name;
        if (::access(library.c_str(), F_OK) != 0) {
            looked_at += (looked_at.empty() ? "" : " and ") + folder;
            continue;
        }
        const std::string reason = why_not_trusted(library);
        if (!reason.empty()) error = library + " cannot be used: " + reason;
        return folder;
    }
    error = std::string{library_name} + " is neither in " + looked_at +
            ": build it, or install allocscope";
    return {};
}

std::string preload_before() {
    const char* value = ::secure_getenv("LD_PRELOAD");
    return value != nullptr ? value : "";
}

// A path to "/" that glibc's loader can follow and musl's cannot: glibc replaces $LIB. musl's
// loader ignores a library that it cannot open, but ends a program if it can open the library and
// cannot load it. "" if there is no such path: then no recorded program can start a program of
// musl.
std::string way_of_glibc() {
    const std::string folder = "/usr/$LIB";
    static_cast<void>(::dlerror());
    if (::dlopen((folder + "/").c_str(), RTLD_LAZY) != nullptr) return {};
    const char* const message = ::dlerror();  // begins with the path that the loader tried
    const std::string tried{message != nullptr ? message : ""};
    struct stat about;
    const std::string found = tried.substr(0, tried.find("/:"));
    if (found == folder || ::stat(found.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return {};
    std::string way = folder;
    for (int levels = 0; levels < 8; ++levels) way += "/..";
    return way;
}

// The new value of LD_PRELOAD. The library comes first, so that its malloc is the one that is
// found.
std::string preload_value(const std::string& folder, const recording_file& file) {
    recording_place place;
    place.process = static_cast<std::uint32_t>(number_in_proc());
    place.descriptor = static_cast<std::uint32_t>(file.descriptor());
    char marks[recording_path_room];
    write_recording_path(place, marks);
    const std::string before = preload_before();
    return way_of_glibc() + folder + marks + "/" + library_name +
           (before.empty() ? "" : ":" + before);
}

class recorded_run {
public:
    explicit recorded_run(const run_options& wanted)
        : wanted_(wanted), ages_(wanted.record.age_step) {
        name_of_signal_ = std::string{"signal "} + wanted.report_signal.name;
    }

    int run() {
        std::string error;
        const std::string folder = library_folder(error);
        if (!error.empty()) return refuse("run", error);
        recording_file file{wanted_.record, wanted_.follows_children, wanted_.explains_memory,
                            no_memory_};
        program_order order;
        order.words = wanted_.command;
        order.file = wanted_.file;
        const std::string path =
            wanted_.file.empty() ? find_program(wanted_.command[0]) : wanted_.file;
        why_not_ = path.empty() ? "" : why_not_preloadable(path);
        const bool is_led = no_memory_.empty() && (why_not_.empty() || is_static(path));
        order.preload = is_led ? preload_value(folder, file) : preload_before();
        order.before_execution = [&file] { file.name_process(); };
        started_program program{order, wanted_.report_signal.number, error};
        if (program.lacks_process()) {
            refuse("run", "nothing is recorded: no process could be made for the program: " +
                              error + " (see ulimit -u, or pids.max of a container)");
            order.preload = preload_before();
            error = std::strerror(program.execute(order));
        }
        if (!program.has_started()) {
            const bool is_there = program.lacks_file() && ::access(path.c_str(), F_OK) == 0;
            return refuse("run", "\"" + executed_file() + "\" cannot be run: " + error +
                                     (is_there ? ": its interpreter or loader is missing" : ""));
        }
        // The reader of stderr may end early (`2>&1 | head`). That must not end this command before
        // it has waited for the program.
        std::signal(SIGPIPE, SIG_IGN);
        end_asked_ = [&program] { return program.end_asked(0.1); };
        watch(program, file);
        report_all(file, program);
        if (file.program_count() != 0 && program.is_ended_by(SIGSYS)) say_what_a_filter_ends();
        std::fflush(nullptr);
        program.end_if_interrupted();
        return program.exit_code();
    }

private:
    using event = started_program::event;

    void watch(started_program& program, recording_file& file) {
        using clock = std::chrono::steady_clock;
        constexpr double soon = 0.25;
        constexpr double usual_refresh = 2;
        const bool is_periodic = wanted_.every_seconds > 0 || wanted_.is_live;
        const std::chrono::duration<double> period{wanted_.every_seconds > 0 ? wanted_.every_seconds
                                                                             : usual_refresh};
        std::unique_ptr<live_view> view;
        // A program that can read from the terminal gets everything that is typed there.
        if (wanted_.is_live) view = std::make_unique<live_view>(::isatty(STDIN_FILENO) == 0);
        clock::time_point reported = clock::now();
        clock::time_point names_due = reported;
        for (;;) {
            const std::chrono::duration<double> until_names = names_due - clock::now();
            double seconds = std::max(until_names.count(), 0.0);
            const std::chrono::duration<double> left = period - (clock::now() - reported);
            if (is_periodic) seconds = std::min(seconds, std::max(left.count(), 0.0));
            if (wanted_.follows_children || view) seconds = std::min(seconds, soon);
            seconds = std::min(seconds, ages_.seconds_left());
            const event happened = program.wait(seconds);
            if (happened == event::ended) return;
            ages_.ask_when_due(file, [this](std::uint32_t i) { return is_reported(i); });
            const bool is_asked = happened == event::report_asked;
            if (is_asked || clock::now() >= names_due) {
                look_at_threads(file);
                names_due = clock::now() + std::chrono::duration_cast<clock::duration>(
                                               std::chrono::duration<double>{names_.pause()});
            }
            if (wanted_.follows_children) {
                const std::chrono::duration<double> now = clock::now().time_since_epoch();
                unrecorded_.look(program.number(), now.count());
                report_ended(file);
            }
            const bool is_due = is_periodic && clock::now() - reported >= period;
            if (is_due) reported = clock::now();
            if (is_due) note_moments(file, "");
            if (is_asked) note_moments(file, name_of_signal_.c_str());
            const bool has_key = view && view->take_keys();
            if (view && view->is_left()) view.reset();
            if (view) {
                if ((is_due && !view->is_paused()) || has_key) draw(*view, file);
                if (is_asked) report_running(file);
            } else if (is_due && is_shown_on_terminal()) {
                show_progress(file);
            } else if (is_due || is_asked) {
                report_running(file);
            }
        }
    }

    void look_at_threads(const recording_file& file) {
        if (wanted_.record.record == allocscope::recording::counters) return;
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            if (!is_reported(i)) names_.look(file, i);
        }
    }

    // Notes the time series of the reports, and where the memory was when it was largest.
    void note_moments(const recording_file& file, const char* mark) {
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            // The memory of what is reported was given back.
            if (is_reported(i) || ends_.of(file, i) != 0) continue;
            const recorded_program program = file.program(i);
            if (program.process_id == 0) continue;  // it has only just begun, or got no memory
            allocscope::snapshot::moment now{};
            if (!program_report{wanted_, file, i, {}}.measure(now)) continue;
            now.mark = mark;
            add_moment(moments_[i], now);
            if (wanted_.explains_memory) note_memory(memories_[i], now, program.process_id);
        }
    }

    // If there are too many points, every second one without a mark is dropped.
    static void add_moment(std::vector<allocscope::snapshot::moment>& all,
                           const allocscope::snapshot::moment& now) {
        constexpr std::size_t most_moments = 4096;
        all.push_back(now);
        if (all.size() < most_moments) return;
        bool goes = false;
        const auto is_dropped = [&goes](const allocscope::snapshot::moment& each) {
            if (each.mark[0] != '\0') return false;
            goes = !goes;
            return goes;
        };
        all.erase(std::remove_if(all.begin(), all.end(), is_dropped), all.end());
    }

    static void note_memory(memory_moment& largest, const allocscope::snapshot::moment& now,
                            std::int32_t process_id) {
        memory_moment seen;
        seen.at = now;
        seen.is_known = allocscope::detail::look_at_memory_of(process_id, seen.look);
        if (seen.is_known && seen.look.found.total > largest.look.found.total) largest = seen;
    }

    // If the program has ended, that was at `seen_ended_ns` or before; 0: it may run. Returns
    // whether it is not known where the memory was.
    bool write_report(const recording_file& file, std::uint32_t index,
                      std::uint64_t seen_ended_ns) {
        program_report report{wanted_, file, index, path_of(file, index)};
        if (index == 0 && why_not_.empty()) report.add_command();
        const std::uint64_t ended_ns = ends_.of(file, index);
        report.add_end(ended_ns != 0 ? ended_ns : seen_ended_ns);
        report.add(moments_[index]);
        report.add(names_.of(index));
        if (wanted_.explains_memory) report.add(memories_[index]);
        report.stop_when(end_asked_);
        report.write();
        return report.lacks_memory();
    }

    // The recordings of ended programs take memory, so they are reported soon.
    void report_ended(recording_file& file) {
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            if (is_reported(i)) continue;  // its memory was given back
            const recorded_program program = file.program(i);
            if (program.process_id == 0) continue;  // just begun, or died before it could
            // A process that executes one program after the other has one recording for each.
            const bool is_over = has_ended(program) || ends_.has_become_another(file, i);
            if (!is_over || is_held(file, i)) continue;
            report_last(file, i, allocscope::detail::monotonic_ns());
            file.forget(i);
        }
    }

    // Returns false for a zombie. The kernel is asked last: it may take the number for that of a
    // process in another PID namespace, but /proc may hide processes of other users.
    static bool has_ended(const recorded_program& program) {
        const process_status seen = status_of(program.process_id);
        if (seen.began != 0) return has_begun_after(seen, program.began_ns);
        return ::kill(program.process_id, 0) != 0 && errno == ESRCH;
    }

    static bool is_running(const recorded_program& program) {
        const process_status seen = status_of(program.process_id);
        return seen.is_alive && !has_begun_after(seen, program.began_ns);
    }

    bool is_shown_on_terminal() const { return wanted_.output.empty() && ::isatty(2) != 0; }

    // The program that began last, of those that have not been reported and forgotten.
    std::uint32_t newest(const recording_file& file) const {
        std::uint32_t index = file.program_count() - 1;
        while (index != 0 && is_reported(index)) --index;
        return index;
    }

    void draw(const live_view& view, const recording_file& file) {
        if (file.program_count() == 0) return;
        program_report report{wanted_, file, newest(file), {}};
        report.stop_when(end_asked_);
        report.draw(view);
    }

    void show_progress(const recording_file& file) {
        if (file.program_count() == 0) return;
        program_report report{wanted_, file, newest(file), {}};
        report.stop_when(end_asked_);
        report.write_progress();
        has_progress_ = true;
    }

    void report_running(const recording_file& file) {
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            // The reason why a program was not recorded is printed once, at the end.
            if (is_reported(i) || !file.program(i).refusal.empty()) continue;
            write_report(file, i, 0);
        }
    }

    std::string path_of(const recording_file& file, std::uint32_t index) {
        if (!paths_) paths_ = std::make_unique<output_paths>(wanted_.output, file);
        return paths_->path_of(index);
    }

    bool is_reported(std::uint32_t index) const {
        return index < reported_.size() && reported_[index];
    }

    void report_last(const recording_file& file, std::uint32_t index, std::uint64_t seen_ended_ns) {
        if (write_report(file, index, seen_ended_ns)) {
            if (without_memory_++ == 0) first_without_memory_ = file.program(index).name;
        }
        program_report{wanted_, file, index, {}}.say_what_is_missing();
        unrecorded_.leave_out(file.program(index));
        moments_.erase(index);
        names_.forget(index);
        memories_.erase(index);
        if (reported_.size() <= index) reported_.resize(index + std::size_t{1});
        reported_[index] = true;
    }

    // Forgets nothing: what goes on after this command, such as a daemon, uses its tables.
    void report_all(const recording_file& file, const started_program& started) {
        if (has_progress_) std::fputs("\r\x1b[K", stderr);
        const std::uint64_t now_ns = allocscope::detail::monotonic_ns();
        if (file.program_count() == 0) {
            say_nothing_recorded();
        } else if (!why_not_.empty()) {
            refuse("run", "not recorded: \"" + executed_file() + "\" " + why_not_);
        }
        const std::string unrecorded = unrecorded_program(file, started);
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            if (is_reported(i)) continue;
            const recorded_program program = file.program(i);
            const bool goes_on = is_running(program) && !ends_.has_become_another(file, i);
            if (goes_on && program.refusal.empty()) say_that_it_runs(program);
            report_last(file, i, goes_on ? 0 : now_ns);
        }
        if (without_memory_ != 0) refuse("run", sentence_about_memory());
        if (!unrecorded.empty()) refuse("run", unrecorded);
        for (const std::string& each : unrecorded_.sentences()) refuse("run", each);
        if (file.programs_left_out() != 0) {
            refuse("run", counted(file.programs_left_out(), "program was", "programs were") +
                              " not recorded: there is only room for " +
                              std::to_string(file.program_count()));
        }
        if (file.children_refused() != 0) {
            refuse("run",
                   counted(file.children_refused(), "forked child was", "forked children were") +
                       " not recorded: no memory or no descriptors (see ulimit -v and -n),"
                       " privileges given up, another user, or a sandbox in which /proc cannot be"
                       " read");
        }
        if (file.programs_sanitized() != 0) {
            refuse("run",
                   "programs that were not recorded, because they have the malloc of a"
                   " sanitizer: " +
                       std::to_string(file.programs_sanitized()));
        }
    }

    std::string sentence_about_memory() const {
        const bool is_one = without_memory_ == 1;
        const std::string who =
            first_without_memory_ +
            (is_one ? "" : " and " + counted(without_memory_ - 1, "other program"));
        return who + ": it is not known where " + (is_one ? "its" : "their") + " memory was: " +
               (is_one ? "it ended without running its" : "they ended without running their") +
               " exit handlers, and before anything looked; " +
               (wanted_.every_seconds > 0
                    ? "a smaller --every looks sooner"
                    : std::string{"with --every SECONDS this command looks while "} +
                          (is_one ? "it runs" : "they run"));
    }

    // What is said if the process has executed a program that was not recorded; "": nothing.
    static std::string unrecorded_program(const recording_file& file,
                                          const started_program& started) {
        if (file.programs_sanitized() != 0) return "";  // that is said anyway
        for (std::uint32_t i = file.program_count(); i-- > 0;) {
            const recorded_program last = file.program(i);
            if (last.process_id != started.number()) continue;
            const std::string& name = started.kernel_name();
            if (last.exited_ns != 0 || !last.refusal.empty() || last.kernel_name.empty()) return "";
            if (name.empty() || name == last.kernel_name) return "";
            return last.name + " ended under another name, \"" + name +
                   "\". If that is a program which it executed, the report has nothing of it: it is"
                   " statically linked, of another C library or set-user-ID, has a malloc of its "
                   "own, or could not load the library (env -i, a launcher that sets LD_PRELOAD "
                   "itself, chroot, another user or user namespace). Record it by itself: put "
                   "allocscope run -- before its name";
        }
        return "";
    }

    // The command ends with the program that it started. Others, such as a daemon, may go on.
    static void say_that_it_runs(const recorded_program& program) {
        refuse("run", program.name + ", process " + std::to_string(program.process_id) +
                          ", goes on; its report has what it did until now");
    }

    // The file as the user typed it.
    const std::string& executed_file() const {
        return wanted_.file.empty() ? wanted_.command[0] : wanted_.file;
    }

    void say_what_a_filter_ends() {
        refuse("run", "\"" + executed_file() +
                          "\" was ended by SIGSYS: it has a filter of system calls (seccomp). "
                          "If it runs without allocscope, the filter forbids one that recording "
                          "makes: mmap, munmap, mprotect, mremap, madvise, membarrier, futex, "
                          "getpid; in a signal handler sigaltstack; in a forked child, and with "
                          "--memory, also openat, readlink and prlimit64; sampled also "
                          "clock_gettime");
    }

    void say_nothing_recorded() {
        refuse("run",
               "nothing was recorded: " +
                   (!no_memory_.empty() ? no_memory_
                    : !why_not_.empty() ? "\"" + executed_file() + "\" " + why_not_
                                        : "\"" + executed_file() + "\" did not load " +
                                              library_name + ", or has a malloc of its own"));
    }

    const run_options& wanted_;
    std::string name_of_signal_;  // the signal that asks for a report
    std::string why_not_;         // why the library cannot be loaded into the program; "": it can
    std::string no_memory_;       // why there is no memory to record into; the program still runs
    bool has_progress_ = false;
    std::size_t without_memory_ = 0;    // programs of which it is not known where their memory was
    std::string first_without_memory_;  // the name of one of them
    std::unique_ptr<output_paths> paths_;
    std::vector<bool> reported_;
    std::map<std::uint32_t, std::vector<allocscope::snapshot::moment>> moments_;
    std::map<std::uint32_t, memory_moment> memories_;
    thread_watch names_;
    unrecorded_children unrecorded_;
    program_ends ends_;
    age_requests ages_;
    std::function<int()> end_asked_;  // see program_report::stop_when
};

}  // namespace

int run(const arguments& words) {
    if (asks_for_run_help(words)) {
        std::fputs(run_help, stdout);
        return exit_fine;
    }
    run_options wanted;
    const std::string problem = read_run_options(words, wanted);
    if (!problem.empty()) return refuse("run", problem);
    for (const std::string& each : misspelled_variables(environ, variables_of_run())) {
        std::fprintf(stderr, "allocscope run: %s\n", each.c_str());
    }
    return recorded_run{wanted}.run();
}

}  // namespace allocscope_tools
