// The command-line program: `allocscope VERB ...`.
#include "decoders.hpp"
#include "verbs.hpp"

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/version.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr const char* help =
    "usage: allocscope VERB ...\n"
    "\n"
    "verbs:\n"
    "  run -- COMMAND     what a program allocates and leaves behind, without rebuilding it\n"
    "  show FILE...       a saved snapshot, or several merged into one\n"
    "  diff OLD NEW       what came and went between two saved snapshots\n"
    "  histogram FILE [NEW]   objects and bytes of each type, or how they changed\n"
    "  convert IN... OUT  saved snapshots in the format of another tool, by the ending of OUT\n"
    "  compare OLD NEW    what allocates more than before; exit code 1 when something does\n"
    "\n"
    "  allocscope VERB --help    says more\n"
    "  allocscope --version\n";

}  // namespace

std::string allocscope_tools::printable(const std::string& text) {
    allocscope::detail::arena memory;
    allocscope::detail::text_out out{memory};
    write_printable(out, text.c_str());
    return out.c_str();
}

int allocscope_tools::refuse(const std::string& verb, const std::string& message) {
    std::string shown;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = message.find('\n', begin);
        shown += (begin == 0 ? "" : "\n") + printable(message.substr(begin, end - begin));
    }
    std::fprintf(stderr, "allocscope %s: %s\n", printable(verb).c_str(), shown.c_str());
    return exit_bad_input;
}

namespace {

// If stdin, stdout or stderr is closed, the next file that is opened would get its number, and
// would then get what is printed. These descriptors are closed again when a program is run.
void occupy_standard_descriptors() {
    int opened = 0;
    while (opened >= 0 && opened <= STDERR_FILENO) {
        opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (opened >= 0) ::close(opened);
}

int answer(const std::string& verb, const allocscope_tools::arguments& words) {
    using namespace allocscope_tools;
    if (verb == "--help" || verb == "-h" || verb == "help") {
        std::fputs(help, stdout);
        return exit_fine;
    }
    if (verb == "--version") {
        std::puts("allocscope " ALLOCSCOPE_VERSION_STRING);
        return exit_fine;
    }
    constexpr struct {
        const char* name;
        int (*work)(const arguments& words);
    } verbs[] = {{"run", run},         {"show", show},
                 {"diff", diff},       {"histogram", histogram},
                 {"convert", convert}, {"compare", compare}};
    use_decoders();
    for (const auto& each : verbs) {
        if (verb == each.name) return each.work(words);
    }
    std::fprintf(stderr, "allocscope: there is no verb \"%s\"\n\n%s", printable(verb).c_str(),
                 help);
    return exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace allocscope_tools;
    occupy_standard_descriptors();
    if (argc < 2) {
        std::fputs(help, stderr);
        return exit_bad_input;
    }
    const std::string verb = argv[1];
    const int code = answer(verb, {argv + 2, argv + argc});
    // A full disk or a closed pipe must not look like success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        return refuse(verb, std::string{"the output cannot be written: "} + std::strerror(errno));
    }
    return code;
}
