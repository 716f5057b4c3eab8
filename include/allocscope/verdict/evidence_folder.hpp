// evidence_folder.hpp - where a failed check saves its evidence, if the user asked for it.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by verdict/check_block.hpp for a check that failed
// Threads:  any, while no other thread changes the environment
// Memory:   of the texts that are written to
//
//     ALLOCSCOPE_EVIDENCE_DIR=evidence    the folder; it is made when the first file is written
//     (not set, or empty)                 nothing is saved
//
//     evidence/parser-4711-1.txt          <name>-<process>-<n>.txt
//
// A program with raised privileges (AT_SECURE) does not read the environment. The folder must
// belong to the user, and it must not be one that everybody may write to and move files in.

#ifndef ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
#define ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cerrno>   // errno
#include <cstdint>  // uint32_t, uint64_t
#include <cstdlib>  // secure_getenv
#include <cstring>  // strerror_r

#include <sys/stat.h>  // mkdir, stat
#include <unistd.h>    // getpid, geteuid

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A check that fails in a loop must not fill the disk.
constexpr std::uint32_t most_evidence_files = 1000;

ALLOCSCOPE_HIDDEN inline atomic<std::uint32_t> evidence_files{0};

// Writes the name with its letters, digits, '.', '_' and '-'; every other byte becomes '_'.
inline void write_file_name(text_out& out, const char* name) {
    if (name[0] == '\0') name = "window";
    for (int i = 0; name[i] != '\0' && i < 60; ++i) {
        const char byte = name[i];
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' ||
                              (byte == '.' && i != 0);
        out << (is_plain ? byte : '_');
    }
}

// Makes the folder unless it exists. Returns "", or why nothing is written to it.
inline const char* problem_of_folder(const char* folder, char (&space)[128]) noexcept {
    struct stat found = {};
    if (::mkdir(folder, 0700) != 0 && errno != EEXIST) return ::strerror_r(errno, space, 128);
    if (::stat(folder, &found) != 0) return ::strerror_r(errno, space, 128);
    if (!S_ISDIR(found.st_mode)) return ::strerror_r(ENOTDIR, space, 128);
    if (found.st_uid != ::geteuid()) return "the folder belongs to another user";
    const bool is_open_to_all = (found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0;
    return is_open_to_all ? "other users can write to the folder" : "";
}

// Saves the rows below the text `head`. `path` stays empty if nothing was saved; `problem` then
// says why, unless the user did not ask for a file.
inline void save_evidence_of(const snapshot& rows, const char* name, const char* head,
                             text_out& path, text_out& problem) {
    const char* folder = ::secure_getenv("ALLOCSCOPE_EVIDENCE_DIR");
    if (folder == nullptr || *folder == '\0') return;
    const engine* own = find_engine();
    if (own == nullptr || own->save_evidence == nullptr) return;
    const std::uint32_t number = evidence_files.fetch_add(1, memory_order::relaxed) + 1;
    if (number > most_evidence_files) {
        evidence_files.fetch_sub(1, memory_order::relaxed);
        problem << "this process has saved " << decimal{most_evidence_files} << " already";
        return;
    }
    path << folder << '/';
    write_file_name(path, name);
    path << '-' << decimal{static_cast<std::uint64_t>(::getpid())} << '-' << decimal{number}
         << ".txt";
    char space[128];
    const char* reason = problem_of_folder(folder, space);
    if (reason[0] == '\0') {
        const int failure = own->save_evidence(rows, head, path.c_str());
        if (failure == 0) return;
        reason = ::strerror_r(failure, space, 128);
    }
    problem << "cannot write '" << path.view() << "': " << reason;
    path.cut(0);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
