#include "run_options.hpp"

#include "../option_words.hpp"
#include "nameless_functions.hpp"

#include <allocscope/places/frame_rule.hpp>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

namespace allocscope_tools {

const char* const run_help =
    "usage: allocscope run [options] -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program unchanged and reports what it allocated and what was alive at its end.\n"
    "Its output, its files and its exit code stay the same (128 + n when signal n ended it).\n"
    "The report is complete even when the program crashed, was killed or called _exit.\n"
    "\n"
    "  --record exact|sampled|counters   every allocation with its stack (the default), a\n"
    "                                    sample of them, or totals only\n"
    "  --sample-bytes N                  mean bytes between two samples, such as 64K (512K); only\n"
    "                                    with --record sampled\n"
    "  --frames N                        frames recorded of each stack, 1 to 128 (24)\n"
    "  --output PATH                     write the report there, not to stderr; %p becomes the\n"
    "                                    number of the process, %n the name of the program,\n"
    "                                    %% a percent sign. The second program that gets the\n"
    "                                    same PATH writes to heap.2.html instead of heap.html\n"
    "  --format NAME                     text, html, json, csv, snapshot, pprof, folded,\n"
    "                                    speedscope, dhat, heaptrack, massif or callgrind; if\n"
    "                                    not given, the ending of PATH chooses: .txt .html .json\n"
    "                                    .csv .allocscope .pb.gz .folded .speedscope.json\n"
    "                                    .dhat.json .heaptrack .massif .callgrind\n"
    "  --sort objects|bytes              which rows of the text come first: those with most\n"
    "                                    objects (the default), or with most bytes\n"
    "  --children follow|ignore          also record the programs that it starts (ignore)\n"
    "  --every SECONDS                   also report while it runs; on a terminal one line\n"
    "  --live                            a screen of the largest places while it runs; redrawn\n"
    "                                    every 2 seconds, or as --every says\n"
    "  --on-signal NAME                  also report when this command gets this signal (USR1)\n"
    "  --memory                          also show where the resident memory is: at the end, or\n"
    "                                    with --every when it was largest\n"
    "  --library-frames PATTERN          code that rows shall not name, such as \"xml*\", "
    "\"my::\",\n"
    "                                    \"/usr/src/lib/\" or, for a function without a name,\n"
    "                                    \"git+0x2897a0\"; may be given several times\n"
    "  --executable PATH                 run this file; COMMAND is only the name it gets\n"
    "  --age-step TIME                   how old objects are, in steps of TIME, such as 1s; a\n"
    "                                    step gets longer when 64 have passed\n"
    "  --details                         what was alive at the peak, how long objects lived and\n"
    "                                    which were temporary; slower\n"
    "  --include-cmdline                 also write the arguments of COMMAND, which may be "
    "secret,\n"
    "                                    into the report\n"
    "  --summary                         one line of totals on stderr\n"
    "\n"
    "An option can also be given in the environment, as ALLOCSCOPE_SAMPLE_BYTES=64K.\n"
    "exit code: that of the program; 2 when it could not be run, and stderr says why\n";

namespace {

using allocscope::recording;

constexpr named_value<recording> record_names[] = {{"exact", recording::exact},
                                                   {"sampled", recording::sampled},
                                                   {"counters", recording::counters}};
constexpr named_value<bool> children_names[] = {{"follow", true}, {"ignore", false}};
constexpr named_value<bool> sort_names[] = {{"objects", false}, {"bytes", true}};
constexpr named_value<bool> flag_names[] = {{"0", false}, {"1", true}};

std::string read_record(const std::string& text, run_options& into) {
    return read_named(text, record_names, into.record.record);
}

std::string read_sample_bytes(const std::string& text, run_options& into) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40U;
    std::uint64_t& bytes = into.record.sample_bytes;
    const std::string problem = read_amount(text, bytes);
    return problem.empty() && (bytes == 0 || bytes > most) ? "it must be from 1 to 1T" : problem;
}

std::string read_age_step(const std::string& text, run_options& into) {
    constexpr std::uint64_t least = 10'000'000;
    const std::string problem = read_duration(text, into.record.age_step);
    const bool is_short = problem.empty() && into.record.age_step < least;
    return is_short ? "it must be at least 10ms" : problem;
}

std::string read_frames(const std::string& text, run_options& into) {
    return read_whole(text, allocscope::min_stack_frames, allocscope::max_stack_frames,
                      into.record.stack_frames);
}

// A percent sign of the path with what follows it, if that stands for nothing; "" otherwise.
std::string unknown_sign(const std::string& path) {
    for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 2)) {
        const std::string sign = path.substr(at, 2);
        if (sign != "%p" && sign != "%n" && sign != "%%") return sign;
    }
    return {};
}

// The program may run for hours, so it must not begin if its report cannot be written.
std::string read_output(const std::string& text, run_options& into) {
    into.output = text;
    if (text.empty()) return "it must be a path";
    if (text == "-") return "write /dev/stdout, or ./- for a file of that name";
    if (const std::string sign = unknown_sign(text); !sign.empty()) {
        return '"' + sign +
               "\" stands for nothing: write %p for the number of the process, %n for the name of"
               " the program or %% for a percent sign";
    }
    struct stat about;
    if (::stat(text.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
        return "that is a folder: name a file in it";
    }
    const std::size_t slash = text.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : text.substr(0, slash + 1);
    if (folder.find('%') != std::string::npos || ::access(text.c_str(), F_OK) == 0) return {};
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    const int reason = errno;
    return "nothing can be written to " +
           (slash == std::string::npos ? "this folder" : "\"" + folder + "\"") + ": " +
           std::strerror(reason);
}

std::string read_format(const std::string& text, run_options& into) {
    const report_format* const named = format_named(text);
    if (named == nullptr) return "it must be " + format_names();
    into.format = named;
    return {};
}

std::string read_children(const std::string& text, run_options& into) {
    return read_named(text, children_names, into.follows_children);
}

std::string read_sort(const std::string& text, run_options& into) {
    const std::string problem = read_named(text, sort_names, into.is_by_bytes);
    return problem.empty() ? "" : problem + "; allocscope show knows more orders";
}

std::string read_every(const std::string& text, run_options& into) {
    const char* const end = read_decimal(text.c_str(), into.every_seconds);
    const bool is_number = end != nullptr && *end == '\0';
    if (is_number && into.every_seconds >= 0.01 && into.every_seconds <= 1e9) return {};
    return "it must be seconds, from 0.01 to 1000000000";
}

std::string read_signal(const std::string& text, run_options& into) {
    const std::string name = text.compare(0, 3, "SIG") == 0 ? text.substr(3) : text;
    // sigabbrev_np, which knows the names of all signals, is missing in glibc before 2.32.
    static constexpr named_signal known[] = {
        {SIGHUP, "HUP"},   {SIGUSR1, "USR1"},   {SIGUSR2, "USR2"},
        {SIGALRM, "ALRM"}, {SIGWINCH, "WINCH"}, {SIGURG, "URG"},
        {SIGIO, "IO"},     {SIGPOLL, "POLL"},   {SIGPWR, "PWR"}};
    for (const named_signal& each : known) {
        if (name == each.name) {
            into.report_signal = each;
            return {};
        }
    }
    return "it must be HUP, USR1, USR2, ALRM, WINCH, URG, IO or PWR";
}

std::string read_library_frames(const std::string& text, run_options& into) {
    into.library_frames.push_back(text);
    const numbered_pattern numbered = read_numbered_pattern(text);
    if (numbered == numbered_pattern::valid) return {};
    allocscope::symbolize::frame_rule tried;
    return numbered == numbered_pattern::none
               ? tried.add(text.c_str())
               : "write a function without a name as reports do: \"FILE+0xNUMBER\"";
}

std::string read_executable(const std::string& text, run_options& into) {
    into.file = text;
    return text.empty() ? "it must be a path" : "";
}

std::string read_details(const std::string& text, run_options& into) {
    return read_named(text, flag_names, into.record.details);
}

template <bool run_options::*flag>
std::string read_flag(const std::string& text, run_options& into) {
    return read_named(text, flag_names, into.*flag);
}

constexpr verb_option<run_options> all_options[] = {
    {"--record", read_record},
    {"--sample-bytes", read_sample_bytes},
    {"--frames", read_frames},
    {"--output", read_output},
    {"--format", read_format},
    {"--sort", read_sort},
    {"--children", read_children},
    {"--every", read_every},
    {"--on-signal", read_signal},
    {"--library-frames", read_library_frames},
    {"--executable", read_executable},
    {"--age-step", read_age_step},
    {"--details", read_details, false},
    {"--summary", read_flag<&run_options::is_summary>, false},
    {"--memory", read_flag<&run_options::explains_memory>, false},
    {"--include-cmdline", read_flag<&run_options::includes_arguments>, false},
    {"--live", read_flag<&run_options::is_live>, false},
};

// The variable of the environment that may have the value of an option: for --sample-bytes
// ALLOCSCOPE_SAMPLE_BYTES. An option that takes no value has 0 or 1 there.
std::string variable_of(const std::string& option) {
    std::string name = "ALLOCSCOPE_";
    for (const char each : option.substr(2)) {
        name +=
            each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    }
    return name;
}

// Checks the variable that says where sources are. source/source_cache.hpp reads it later.
std::string check_sources() {
    const char* value = ::secure_getenv("ALLOCSCOPE_SOURCES");
    std::string rest = value != nullptr ? value : "";
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        const std::string word = rest.substr(0, colon);
        rest.erase(0, colon == std::string::npos ? colon : colon + 1);
        if (word.empty() || word.find('=') != std::string::npos) continue;
        return "ALLOCSCOPE_SOURCES has \"" + word +
               "\", which is not FROM=TO; write ALLOCSCOPE_SOURCES=/build=/home/me/project, with"
               " colons between several";
    }
    return {};
}

class option_reader {
public:
    option_reader(const arguments& words, run_options& into) : words_(words), into_(into) {}

    std::string read() {
        std::string problem = read_variables();
        if (problem.empty()) problem = check_sources();
        std::size_t at = 0;
        for (; problem.empty() && at < words_.size() && is_option(words_[at]); ++at) {
            const auto* const known =
                find_option(all_options, words_[at].substr(0, words_[at].find('=')));
            if (known != nullptr) source_[known - all_options] = source::option;
            problem = read_option("run", words_, at, all_options, into_);
        }
        if (!problem.empty()) return problem;
        if (at < words_.size() && words_[at] == "--") ++at;
        into_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at), words_.end());
        if (into_.command.empty() || into_.command[0].empty()) {
            return "no command is given; write: allocscope run [options] -- COMMAND"
                   " [ARGUMENT...]";
        }
        const bool has_format = source_of("--format") != source::none;
        problem = has_format ? "" : choose_format();
        return problem.empty() ? check_together() : problem;
    }

private:
    enum class source { none, variable, option };  // where the value of an option comes from

    // An error names the variable, because nobody has typed the option.
    std::string read_variables() {
        for (const auto& each : all_options) {
            const std::string name = variable_of(each.name);
            const char* const value = ::secure_getenv(name.c_str());
            if (value == nullptr || value[0] == '\0') continue;
            source_[&each - all_options] = source::variable;
            const std::string problem = wrong_value(name, value, each.read(value, into_));
            if (!problem.empty()) return problem;
        }
        return {};
    }

    source source_of(const char* name) const {
        return source_[find_option(all_options, name) - all_options];
    }

    // The name under which the user has given the option.
    std::string given(const char* name) const {
        return source_of(name) == source::variable ? variable_of(name) : name;
    }

    // Chooses the format by the ending of the path.
    std::string choose_format() {
        const std::string& path = into_.output;
        const report_format* fitting = format_of_path(path);
        if (fitting != nullptr) {
            into_.format = fitting;
            return {};
        }
        const std::size_t dot = path.rfind('.');
        const std::size_t slash = path.rfind('/');
        const bool has_ending =
            dot != std::string::npos && (slash == std::string::npos || dot > slash);
        if (has_ending && path.find('%', dot) == std::string::npos) {
            return given("--output") + " is \"" + path + "\"; its ending must be " +
                   format_endings() + ", or --format must say what to write";
        }
        return {};
    }

    // Refuses options that contradict each other.
    std::string check_together() const {
        const recording recorded = into_.record.record;
        if (into_.record.details && recorded != recording::exact) {
            return given("--details") + " needs every allocation with its stack; leave " +
                   given("--record") + " out";
        }
        if (source_of("--sample-bytes") != source::none && recorded != recording::sampled) {
            return given("--sample-bytes") +
                   " is of use only with --record sampled; write that, too";
        }
        const bool has_age_step = into_.record.age_step != 0;
        const bool has_frames = source_of("--frames") != source::none;
        if ((has_age_step || has_frames) && recorded == recording::counters) {
            return given(has_frames ? "--frames" : "--age-step") + " needs stacks; leave " +
                   given("--record") + " out";
        }
        // The program may run for hours, and its report could not be written then.
        if (recorded == recording::counters && !into_.format->has_totals) {
            return "a report as " + std::string{into_.format->name} + " needs stacks; leave " +
                   given("--record") + " out, or choose text, html, json or snapshot";
        }
        const bool is_table = into_.format == format_named("text");
        if (source_of("--sort") == source::option && (!is_table || into_.is_summary)) {
            return "--sort needs the report as text; leave " +
                   std::string{is_table ? "--summary" : "it"} + " out";
        }
        if (into_.is_live && ::isatty(STDERR_FILENO) == 0) {
            return given("--live") +
                   " draws on the terminal of stderr, but stderr is not a terminal; do not redirect"
                   " it";
        }
        if (!into_.output.empty() || into_.format->is_text) return {};
        return given("--format") + " is \"" + into_.format->name +
               "\", which is not text; --output must say where to write it";
    }

    const arguments& words_;
    run_options& into_;
    source source_[std::size(all_options)] = {};  // by option
};

}  // namespace

bool asks_for_run_help(const arguments& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--help" || word == "-h") return true;
        if (word == "--" || word.empty() || word[0] != '-') return false;
        const auto* const known = find_option(all_options, word);
        if (known != nullptr && known->has_value) ++at;
    }
    return false;
}

std::vector<std::string> variables_of_run() {
    std::vector<std::string> names{"ALLOCSCOPE_EVIDENCE_DIR", "ALLOCSCOPE_SOURCES",
                                   "ALLOCSCOPE_UPDATE_BASELINES"};
    for (const auto& each : all_options) names.push_back(variable_of(each.name));
    return names;
}

std::string read_run_options(const arguments& words, run_options& into) {
    return option_reader{words, into}.read();
}

}  // namespace allocscope_tools
