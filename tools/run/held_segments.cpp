#include "held_segments.hpp"

#include <allocscope/state/recording_head.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

void add_segments_of(const std::string& process, ino_t recording, std::set<std::uint32_t>& found) {
    std::ifstream file{process + "/maps"};
    for (std::string line; std::getline(file, line);) {
        unsigned long offset = 0;
        unsigned long inode = 0;
        const bool is_ours =
            line.find(" /memfd:allocscope ") != std::string::npos &&
            std::sscanf(line.c_str(), "%*s %*s %lx %*s %lu", &offset, &inode) == 2 &&
            inode == recording && offset >= allocscope::detail::first_segment;
        if (!is_ours) continue;
        found.insert(static_cast<std::uint32_t>((offset - allocscope::detail::first_segment) /
                                                allocscope::detail::segment_bytes));
    }
}

}  // namespace

std::set<std::uint32_t> held_segments(const recording_file& recording,
                                      const std::set<std::string>& executed) {
    std::set<std::uint32_t> found;
    struct stat about;
    DIR* const all = ::opendir("/proc");
    if (all == nullptr) return found;
    if (::fstat(recording.descriptor(), &about) == 0) {
        while (const dirent* const entry = ::readdir(all)) {
            if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
            const std::string process = std::string{"/proc/"} + entry->d_name;
            char path[4096];
            const ssize_t length = ::readlink((process + "/exe").c_str(), path, sizeof path);
            if (length <= 0) continue;
            std::string file{path, static_cast<std::size_t>(length)};
            file.resize(std::min(file.size(), file.rfind(" (deleted)")));
            if (executed.count(file) != 0) add_segments_of(process, about.st_ino, found);
        }
    }
    ::closedir(all);
    return found;
}

}  // namespace allocscope_tools
