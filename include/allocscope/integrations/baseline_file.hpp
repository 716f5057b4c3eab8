// baseline_file.hpp - the file that baselines are kept in.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by baselines.hpp and by the command-line program
// Threads:  several processes may write one file: each locks the folder of the file while it writes
// Memory:   the file's text and its results
//
//     allocscope baselines 2
//     name<tab>allocations<tab>bytes<tab>peak_bytes<tab>live_objects<tab>live_bytes
//     parser: empty text<tab>3<tab>120<tab>96<tab>0<tab>0
//
// Each test has one line. The lines are sorted by name, so that a diff shows what changed. An empty
// cell means that the number was not measured.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP

#include <allocscope/config.hpp>

#include <fcntl.h>      // open
#include <sys/file.h>   // flock
#include <unistd.h>     // close
#include <algorithm>    // find
#include <cerrno>       // errno
#include <charconv>     // from_chars
#include <cstddef>      // size_t
#include <cstdint>      // uint64_t
#include <cstdio>       // fopen, fread, fwrite, remove, rename, snprintf
#include <cstring>      // strerror
#include <map>          // map
#include <string>       // string, to_string
#include <string_view>  // string_view
#include <utility>      // pair
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The first line. Version 1 was JSON.
constexpr std::string_view baseline_mark = "allocscope baselines ";
constexpr std::string_view baseline_version = "2";
constexpr std::string_view baseline_mark_of_version_1 = "\"allocscope\": \"baselines\"";

// The numbers that were measured, in the order of the columns: "allocations" and so on.
using measured_numbers = std::vector<std::pair<std::string, double>>;
using measured_results = std::map<std::string, measured_numbers>;

// The functions below return the text of an error, or "" if there is none. The text names the file
// and says what to do.

inline std::string system_error(const std::string& path, const char* what, int code) {
    return path + " cannot be " + what + ": " + std::strerror(code);
}

inline std::string read_whole_file(const std::string& path, std::string& into) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return system_error(path, "read", errno);
    constexpr std::size_t largest = std::size_t{256} << 20U;  // a device may never end
    char part[16384];
    errno = 0;
    for (std::size_t count = 1; count != 0 && into.size() <= largest;) {
        count = std::fread(part, 1, sizeof part, file);
        into.append(part, count);
    }
    const int code = std::ferror(file) != 0 ? errno : 0;
    std::fclose(file);
    if (code != 0) return system_error(path, "read", code);
    if (into.size() > largest) {
        return path + " is larger than 256 MiB, so it has no counts of tests; give another path";
    }
    if (into.find_first_not_of(" \r\n\t") != std::string::npos) return {};
    return path + " is empty: the program that should write it did not end normally; run it again";
}

// Removes from `rest` the text before the separator, or all text if there is no separator, and
// returns it.
inline std::string_view take_until(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end < rest.size() ? end + 1 : rest.size());
    return taken;
}

// The same for lines, which a version control system may have ended with "\r\n".
inline std::string_view take_line(std::string_view& rest) {
    std::string_view line = take_until(rest, '\n');
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

// The form in which a name is written to the file: each tab and each line end becomes a blank.
inline std::string name_in_file(std::string name) {
    for (char& each : name) {
        if (each == '\t' || each == '\n' || each == '\r') each = ' ';
    }
    return name;
}

inline bool is_baseline_file(std::string_view text) {
    return text.substr(0, baseline_mark.size()) == baseline_mark ||
           text.substr(0, 100).find(baseline_mark_of_version_1) != std::string_view::npos;
}

// Like take_until(), but after the last cell `rest` has no data(), so that an empty cell and none
// can be told apart.
inline std::string_view take_cell(std::string_view& rest) {
    const std::size_t end = rest.find('\t');
    const std::string_view taken = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return taken;
}

// Returns "", or what is wrong with this line.
inline std::string read_numbers(const std::vector<std::string>& columns, std::string_view line,
                                measured_numbers& into) {
    for (const std::string& column : columns) {
        if (line.data() == nullptr) return "it has fewer cells than the head has columns";
        const std::string_view cell = take_cell(line);
        if (cell.empty()) continue;
        std::uint64_t number = 0;
        const char* end = cell.data() + cell.size();
        const std::from_chars_result read = std::from_chars(cell.data(), end, number);
        if (read.ec != std::errc{} || read.ptr != end) {
            return column + " is \"" + std::string{cell} + "\", which is not a count";
        }
        into.emplace_back(column, static_cast<double>(number));
    }
    return line.data() == nullptr ? std::string{} : "it has more cells than the head has columns";
}

// Returns "", or what is wrong with the head.
inline std::string read_columns(std::string_view head, std::vector<std::string>& into) {
    if (take_cell(head) != "name") return "its first column is not \"name\"";
    while (head.data() != nullptr) {
        const std::string column{take_cell(head)};
        if (std::find(into.begin(), into.end(), column) != into.end()) {
            return "it has the column \"" + column + "\" twice";
        }
        into.push_back(column);
    }
    return {};
}

inline std::string read_baselines(const std::string& path, std::string_view text,
                                  measured_results& into) {
    const std::string remedy =
        "remove the file and write it again with ALLOCSCOPE_UPDATE_BASELINES=1";
    if (!is_baseline_file(text)) {
        return path + " is not a file of baselines: its first line is not \"" +
               std::string{baseline_mark} + std::string{baseline_version} +
               "\"; give another path, or " + remedy;
    }
    std::string_view rest = text;
    std::string_view version = "1";
    if (text[0] == baseline_mark[0]) {
        version = take_line(rest).substr(baseline_mark.size());
    }
    if (version != baseline_version) {
        return path + " has the format of version " + std::string{version} + ", this is version " +
               std::string{baseline_version} + ": use the allocscope that wrote it, or " + remedy;
    }
    if (text.back() != '\n') return path + " ends within a line: it was cut off; " + remedy;
    std::vector<std::string> columns;
    std::string wrong = read_columns(take_line(rest), columns);
    if (!wrong.empty()) return path + ", line 2: " + wrong + "; " + remedy;
    for (std::size_t number = 3; !rest.empty(); ++number) {
        std::string_view line = take_line(rest);
        const std::string name{take_cell(line)};
        measured_numbers numbers;
        wrong = read_numbers(columns, line, numbers);
        if (wrong.empty() && !into.emplace(name, numbers).second) {
            wrong = "there is another line for \"" + name + "\"; remove one of them";
        }
        if (!wrong.empty()) return path + ", line " + std::to_string(number) + ": " + wrong;
    }
    return {};
}

// Null if no number has this name.
inline const double* find_number(const measured_numbers& numbers, const std::string& name) {
    for (const auto& found : numbers) {
        if (found.first == name) return &found.second;
    }
    return nullptr;
}

// The text of the file. Each result is written with the numbers of `columns`, in this order.
inline std::string text_of_baselines(const measured_results& results,
                                     const measured_numbers& columns) {
    std::string text{baseline_mark};
    text += baseline_version;
    text += "\nname";
    for (const auto& column : columns) text += '\t' + column.first;
    for (const auto& [name, numbers] : results) {
        text += '\n' + name;
        for (const auto& column : columns) {
            const double* value = find_number(numbers, column.first);
            char number[32] = "";
            if (value != nullptr) std::snprintf(number, sizeof number, "%.0f", *value);
            text += std::string{"\t"} + number;
        }
    }
    return text + '\n';
}

// Replaces the whole file at once: a process that reads the file at the same time sees the old one.
inline std::string replace_file(const std::string& path, const std::string& text) {
    const std::string next = path + ".new";
    std::FILE* file = std::fopen(next.c_str(), "wb");
    if (file == nullptr) return system_error(next, "written", errno);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int code = errno;
    const bool is_closed = std::fclose(file) == 0;
    if (!is_written || !is_closed) {
        const int reason = is_written ? errno : code;
        std::remove(next.c_str());
        return system_error(next, "written", reason);
    }
    if (std::rename(next.c_str(), path.c_str()) != 0) return system_error(path, "replaced", errno);
    return {};
}

// As long as an object of this class exists, no other process changes a file of this folder with
// replace_file().
class folder_lock {
public:
    explicit folder_lock(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        folder_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
        descriptor_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        code_ = errno;
        while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0) {
            code_ = errno;
            if (code_ == EINTR) continue;
            ::close(descriptor_);
            descriptor_ = -1;
        }
    }
    ~folder_lock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    folder_lock(const folder_lock&) = delete;
    folder_lock& operator=(const folder_lock&) = delete;

    std::string error() const {
        return descriptor_ >= 0 ? std::string{} : system_error(folder_, "opened", code_);
    }

private:
    std::string folder_;
    int descriptor_ = -1;
    int code_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP
