// evidence_folder.hpp - where a check that failed saves what it saw.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   by verdict/check_window.hpp for a check that failed
// Threads:  any
// Memory:   the standard library's
//
//     ALLOCSCOPE_EVIDENCE_DIR        the folder; empty: nothing is saved
//     (not set)                      ./allocscope-evidence, made when it is needed
//
//     allocscope-evidence/parser-4711-1.txt        <name>-<process>-<n>.txt

#ifndef ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
#define ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <atomic>        // atomic
#include <cerrno>        // errno
#include <cstdint>       // uint32_t
#include <cstdlib>       // getenv
#include <string>        // string
#include <system_error>  // generic_category

#include <sys/stat.h>  // mkdir
#include <unistd.h>    // getpid

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A check that fails in a loop must not fill the disk.
constexpr std::uint32_t most_evidence_files = 1000;

ALLOCSCOPE_HIDDEN inline std::atomic<std::uint32_t> evidence_files{0};

struct evidence_answer {
    std::string path;     // "" when nothing was saved
    std::string problem;  // and why, "" when it was not wanted
};

// Letters, digits, '.', '_' and '-' of the name; whatever else is in it becomes '_'.
inline std::string file_name_of(const char* name) {
    std::string made;
    for (; *name != '\0' && made.size() < 60; ++name) {
        const char byte = *name;
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' ||
                              (byte == '.' && !made.empty());
        made += is_plain ? byte : '_';
    }
    return made.empty() ? "window" : made;
}

inline evidence_answer save_evidence_of(const snapshot& rows, const char* name,
                                        const std::string& head) {
    const char* wanted = std::getenv("ALLOCSCOPE_EVIDENCE_DIR");
    if (wanted != nullptr && *wanted == '\0') return {};
    const engine* own = find_engine();
    if (own == nullptr || own->save_evidence == nullptr) return {};
    const std::uint32_t number = evidence_files.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number > most_evidence_files) {
        evidence_files.fetch_sub(1, std::memory_order_relaxed);
        return {"", "this process has saved " + std::to_string(most_evidence_files) + " already"};
    }
    const std::string folder = wanted != nullptr ? wanted : "allocscope-evidence";
    const std::string path = folder + '/' + file_name_of(name) + '-' + std::to_string(::getpid()) +
                             '-' + std::to_string(number) + ".txt";
    int failure = ::mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
    if (failure == 0) failure = own->save_evidence(rows, head.c_str(), path.c_str());
    if (failure == 0) return {path, ""};
    return {"", "cannot write '" + path + "': " + std::generic_category().message(failure)};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
