#include "run_options.hpp"

#include "../option_words.hpp"
#include "nameless_functions.hpp"

#include <allocscope/types/frame_rule.hpp>

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
    "                                    %% a percent sign\n"
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

std::string read_number(const std::string& name, const std::string& text, std::uint64_t least,
                        std::uint64_t most, std::uint64_t& into) {
    char* end = nullptr;
    errno = 0;
    into = std::strtoull(text.c_str(), &end, 10);
    const bool is_number = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    if (is_number && *end == '\0' && errno == 0 && into >= least && into <= most) return {};
    return name + " is \"" + text + "\"; it must be a whole number from " + std::to_string(least) +
           " to " + std::to_string(most);
}

std::string read_record(const std::string& text, run_options& into) {
    if (text == "exact") {
        into.record.record = recording::exact;
    } else if (text == "sampled") {
        into.record.record = recording::sampled;
    } else if (text == "counters") {
        into.record.record = recording::counters;
    } else {
        return "--record is \"" + text + "\"; it must be exact, sampled or counters";
    }
    return {};
}

std::string read_sample_bytes(const std::string& text, run_options& into) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40U;
    std::uint64_t& bytes = into.record.sample_bytes;
    std::string problem = read_amount(text, bytes);
    if (problem.empty() && (bytes == 0 || bytes > most)) problem = "it must be from 1 to 1T";
    return problem.empty() ? "" : "--sample-bytes is \"" + text + "\"; " + problem;
}

std::string read_age_step(const std::string& text, run_options& into) {
    constexpr std::uint64_t least = 10'000'000;
    std::string problem = read_duration(text, into.record.age_step);
    if (problem.empty() && into.record.age_step < least) problem = "it must be at least 10ms";
    return problem.empty() ? "" : "--age-step is \"" + text + "\"; " + problem;
}

std::string read_frames(const std::string& text, run_options& into) {
    std::uint64_t frames = 0;
    std::string problem = read_number("--frames", text, allocscope::min_stack_frames,
                                      allocscope::max_stack_frames, frames);
    into.record.stack_frames = static_cast<std::uint32_t>(frames);
    return problem;
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
    if (text.empty()) return "--output is empty; it must be a path";
    if (text == "-") return "--output is \"-\"; write /dev/stdout, or ./- for a file of that name";
    if (const std::string sign = unknown_sign(text); !sign.empty()) {
        return "--output is \"" + text + "\", and \"" + sign +
               "\" stands for nothing; write %p for the number of the process, %n for the name of"
               " the program or %% for a percent sign";
    }
    struct stat about;
    if (::stat(text.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
        return "--output is \"" + text + "\", which is a folder; name a file in it";
    }
    const std::size_t slash = text.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : text.substr(0, slash + 1);
    if (folder.find('%') != std::string::npos || ::access(text.c_str(), F_OK) == 0) return {};
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    const int reason = errno;
    return "--output is \"" + text + "\", and nothing can be written to " +
           (slash == std::string::npos ? "this folder" : "\"" + folder + "\"") + ": " +
           std::strerror(reason);
}

std::string read_format(const std::string& text, run_options& into) {
    const report_format* named = format_named(text);
    if (named == nullptr) {
        return "--format is \"" + text + "\"; it must be " + format_names();
    }
    into.format = named;
    return {};
}

std::string read_children(const std::string& text, run_options& into) {
    into.follows_children = text == "follow";
    if (text == "follow" || text == "ignore") return {};
    return "--children is \"" + text + "\"; it must be follow or ignore";
}

std::string read_sort(const std::string& text, run_options& into) {
    into.is_by_bytes = text == "bytes";
    if (text == "objects" || text == "bytes") return {};
    return "--sort is \"" + text +
           "\"; it must be objects or bytes; allocscope show knows more orders";
}

std::string read_every(const std::string& text, run_options& into) {
    const char* const end = read_decimal(text.c_str(), into.every_seconds);
    const bool is_number = end != nullptr && *end == '\0';
    if (is_number && into.every_seconds >= 0.01 && into.every_seconds <= 1e9) return {};
    return "--every is \"" + text + "\"; it must be seconds, from 0.01 to 1000000000";
}

std::string read_signal(const std::string& text, run_options& into) {
    const std::string name = text.compare(0, 3, "SIG") == 0 ? text.substr(3) : text;
    for (int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGURG, SIGIO, SIGPWR}) {
        if (name == ::sigabbrev_np(number)) {
            into.report_signal = number;
            return {};
        }
    }
    return "--on-signal is \"" + text +
           "\"; it must be HUP, USR1, USR2, ALRM, WINCH, URG, IO or"
           " PWR";
}

std::string read_library_frames(const std::string& text, run_options& into) {
    into.library_frames.push_back(text);
    const numbered_pattern numbered = read_numbered_pattern(text);
    if (numbered == numbered_pattern::valid) return {};
    allocscope::symbolize::frame_rule tried;
    const std::string reason = numbered == numbered_pattern::none
                                   ? tried.add(text.c_str())
                                   : "write a function without a name as reports do: "
                                     "\"FILE+0xNUMBER\"";
    return reason.empty() ? "" : "--library-frames is \"" + text + "\"; " + reason;
}

std::string read_executable(const std::string& text, run_options& into) {
    into.file = text;
    if (!text.empty()) return {};
    return "--executable is empty; it must be a path";
}

std::string read_live(const std::string& text, run_options& into) {
    into.is_live = text == "1";
    if (text != "1" && text != "0") return "ALLOCSCOPE_LIVE is \"" + text + "\"; it must be 0 or 1";
    if (!into.is_live || ::isatty(STDERR_FILENO) != 0) return {};
    return "--live draws on the terminal of stderr, but stderr is not a terminal; do not redirect "
           "it";
}

// Reads an option without a value. In the environment it has one.
std::string read_flag(const char* variable, const std::string& text, bool& into) {
    into = text == "1";
    if (text == "1" || text == "0") return {};
    return std::string{variable} + " is \"" + text + "\"; it must be 0 or 1";
}

std::string read_details(const std::string& text, run_options& into) {
    return read_flag("ALLOCSCOPE_DETAILS", text, into.record.details);
}

std::string read_summary(const std::string& text, run_options& into) {
    return read_flag("ALLOCSCOPE_SUMMARY", text, into.is_summary);
}

std::string read_memory(const std::string& text, run_options& into) {
    return read_flag("ALLOCSCOPE_MEMORY", text, into.explains_memory);
}

std::string read_include_cmdline(const std::string& text, run_options& into) {
    return read_flag("ALLOCSCOPE_INCLUDE_CMDLINE", text, into.includes_arguments);
}

struct option {
    const char* name;
    const char* variable;
    std::string (*read)(const std::string& text, run_options& into);
    bool has_value = true;
};

constexpr option all_options[] = {
    {"--record", "ALLOCSCOPE_RECORD", read_record},
    {"--sample-bytes", "ALLOCSCOPE_SAMPLE_BYTES", read_sample_bytes},
    {"--frames", "ALLOCSCOPE_FRAMES", read_frames},
    {"--output", "ALLOCSCOPE_OUTPUT", read_output},
    {"--format", "ALLOCSCOPE_FORMAT", read_format},
    {"--sort", "ALLOCSCOPE_SORT", read_sort},
    {"--children", "ALLOCSCOPE_CHILDREN", read_children},
    {"--every", "ALLOCSCOPE_EVERY", read_every},
    {"--on-signal", "ALLOCSCOPE_ON_SIGNAL", read_signal},
    {"--library-frames", "ALLOCSCOPE_LIBRARY_FRAMES", read_library_frames},
    {"--executable", "ALLOCSCOPE_EXECUTABLE", read_executable},
    {"--age-step", "ALLOCSCOPE_AGE_STEP", read_age_step},
    {"--details", "ALLOCSCOPE_DETAILS", read_details, false},
    {"--summary", "ALLOCSCOPE_SUMMARY", read_summary, false},
    {"--memory", "ALLOCSCOPE_MEMORY", read_memory, false},
    {"--include-cmdline", "ALLOCSCOPE_INCLUDE_CMDLINE", read_include_cmdline, false},
    {"--live", "ALLOCSCOPE_LIVE", read_live, false},
};

const option* find_option(const std::string& name) {
    for (const option& each : all_options) {
        if (name == each.name) return &each;
    }
    return nullptr;
}

// Checks the variable that says where sources are. types/source_cache.hpp reads it later.
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
        for (const option& each : all_options) {
            const char* value = ::secure_getenv(each.variable);
            if (value != nullptr && value[0] != '\0') take_variable(each, value);
        }
        if (problem_.empty()) problem_ = check_sources();
        for (; problem_.empty() && at_ < words_.size() && !is_over_; ++at_) read_word();
        if (!problem_.empty()) return problem_;
        into_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
        if (into_.command.empty() || into_.command[0].empty()) {
            return "no command is given; write: allocscope run [options] -- COMMAND"
                   " [ARGUMENT...]";
        }
        const bool has_format = source_of("--format") != source::none;
        const std::string problem = has_format ? "" : choose_format();
        return problem.empty() ? check_together() : problem;
    }

private:
    enum class source { none, variable, option };  // where the value of an option comes from

    void take(const option& wanted, const std::string& value) {
        if (!problem_.empty()) return;
        problem_ = wanted.read(value, into_);
        source_[&wanted - all_options] = source::option;
    }

    // An error names the variable, because nobody has typed the option.
    void take_variable(const option& wanted, const std::string& value) {
        if (!problem_.empty()) return;
        take(wanted, value);
        source_[&wanted - all_options] = source::variable;
        const std::size_t length = std::strlen(wanted.name);
        if (problem_.compare(0, length, wanted.name) != 0) return;
        problem_.replace(0, length, wanted.variable);
    }

    source source_of(const char* name) const { return source_[find_option(name) - all_options]; }

    // The name under which the user has given the option.
    std::string given(const char* name) const {
        const option* const known = find_option(name);
        return source_of(name) == source::variable ? known->variable : known->name;
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
        const bool is_table = into_.format == format_named("text");
        if (source_of("--sort") == source::option && (!is_table || into_.is_summary)) {
            return "--sort needs the report as text; leave " +
                   std::string{is_table ? "--summary" : "it"} + " out";
        }
        if (!into_.output.empty() || into_.format->is_text) return {};
        return given("--format") + " is \"" + into_.format->name +
               "\", which is not text; --output must say where to write it";
    }

    void read_word() {
        const std::string& word = words_[at_];
        if (word == "--") {
            is_over_ = true;
            return;
        }
        if (word.empty() || word[0] != '-') {  // the command itself
            is_over_ = true;
            --at_;
            return;
        }
        const std::size_t equals = word.find('=');
        const option* wanted = find_option(word.substr(0, equals));
        if (wanted == nullptr) {
            problem_ = unknown_option("run", word);
        } else if (!wanted->has_value && equals != std::string::npos) {
            problem_ = needless_value(word);
        } else if (!wanted->has_value) {
            take(*wanted, "1");
        } else if (equals != std::string::npos) {
            take(*wanted, word.substr(equals + 1));
        } else if (at_ + 1 == words_.size() || words_[at_ + 1] == "--") {
            problem_ = missing_value("run", word);
        } else {
            take(*wanted, words_[++at_]);
        }
    }

    const arguments& words_;
    run_options& into_;
    std::size_t at_ = 0;
    bool is_over_ = false;
    source source_[std::size(all_options)] = {};  // by option
    std::string problem_;
};

}  // namespace

bool asks_for_run_help(const arguments& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--help" || word == "-h") return true;
        if (word == "--" || word.empty() || word[0] != '-') return false;
        const option* const known = find_option(word);
        if (known != nullptr && known->has_value) ++at;
    }
    return false;
}

std::vector<std::string> variables_of_run() {
    std::vector<std::string> names{"ALLOCSCOPE_EVIDENCE_DIR", "ALLOCSCOPE_SOURCES",
                                   "ALLOCSCOPE_UPDATE_BASELINES"};
    for (const option& each : all_options) names.emplace_back(each.variable);
    return names;
}

std::string read_run_options(const arguments& words, run_options& into) {
    return option_reader{words, into}.read();
}

}  // namespace allocscope_tools
