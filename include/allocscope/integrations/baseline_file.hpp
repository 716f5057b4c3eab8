// baseline_file.hpp - the file that baselines are kept in.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by baselines.hpp and by the command-line program
// Threads:  several processes may write one file: each takes a lock on its folder meanwhile
// Memory:   the file's text and its results
//
//     {
//       "allocscope": "baselines",
//       "version": 1,
//       "results": {
//         "parser: empty text": {"allocations": 3, "bytes": 120, ...}
//       }
//     }
//
// One line for each test, sorted by name, so that a diff shows what changed.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/json_reader.hpp>

#include <fcntl.h>     // open
#include <sys/file.h>  // flock
#include <unistd.h>    // close
#include <cerrno>      // errno
#include <cstddef>     // size_t
#include <cstdio>      // fopen, fread, fwrite, rename, snprintf
#include <cstring>     // strerror
#include <map>         // map
#include <string>      // string
#include <utility>     // pair
#include <vector>      // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr int baseline_version = 1;

// What was measured, in the order of the file: "allocations" and so on.
using measured_numbers = std::vector<std::pair<std::string, double>>;
using measured_results = std::map<std::string, measured_numbers>;

// The texts of errors name the file and what to do. "" is no error.

inline std::string system_error(const std::string& path, const char* what, int code) {
    return path + " cannot be " + what + ": " + std::strerror(code);
}

inline std::string read_whole_file(const std::string& path, std::string& into) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return system_error(path, "read", errno);
    char part[16384];
    errno = 0;
    for (std::size_t count = 1; count != 0;) {
        count = std::fread(part, 1, sizeof part, file);
        into.append(part, count);
    }
    const int code = std::ferror(file) != 0 ? errno : 0;
    std::fclose(file);
    return code != 0 ? system_error(path, "read", code) : std::string{};
}

inline std::string read_json_file(const std::string& path, json_value& into) {
    std::string text;
    const std::string error = read_whole_file(path, text);
    if (!error.empty()) return error;
    if (text.find_first_not_of(" \r\n\t") == std::string::npos) {
        return path + " is empty: the program that was to write it did not end well; run it again";
    }
    const std::string wrong = json_reader{text}.read(into);
    if (wrong.empty()) return wrong;
    return path + " is not JSON: " + wrong + "; write it again, it may be cut off";
}

inline bool is_baseline_file(const json_value& document) {
    const json_value* kind = document.find("allocscope");
    return kind != nullptr && kind->is_text("baselines");
}

inline std::string read_numbers(const json_value& entry, measured_numbers& into) {
    for (std::size_t i = 0; i < entry.names.size(); ++i) {
        const std::string& name = entry.names[i];
        const json_value& value = entry.list[i];
        if (value.is != json_value::kind::number) return '"' + name + "\" is not a number";
        into.emplace_back(name, value.number);
    }
    return entry.is == json_value::kind::object ? std::string{} : "it is not an object";
}

inline std::string read_baselines(const std::string& path, const json_value& document,
                                  measured_results& into) {
    const json_value* version = document.find("version");
    if (!is_baseline_file(document) || version == nullptr ||
        version->is != json_value::kind::number) {
        return path +
               " is JSON, but no file of baselines: \"allocscope\": \"baselines\" or"
               " \"version\" is missing; give another path, or remove the file";
    }
    if (version->number < baseline_version || version->number > baseline_version) {
        char number[32];
        std::snprintf(number, sizeof number, "%.17g", version->number);
        return path + " has the format of version " + number + ", this is version " +
               std::to_string(baseline_version) +
               ": use the allocscope that wrote it, or remove the file and write it again with"
               " ALLOCSCOPE_UPDATE_BASELINES=1";
    }
    const json_value* results = document.find("results");
    if (results == nullptr || results->is != json_value::kind::object) {
        return path +
               " has no object \"results\"; remove the file and write it again with"
               " ALLOCSCOPE_UPDATE_BASELINES=1";
    }
    for (std::size_t i = 0; i < results->names.size(); ++i) {
        const std::string& name = results->names[i];
        measured_numbers& numbers = into[name];
        numbers.clear();
        const std::string wrong = read_numbers(results->list[i], numbers);
        if (!wrong.empty()) return path + ", the result of \"" + name + "\": " + wrong;
    }
    return {};
}

inline std::string baselines_as_json(const measured_results& results) {
    std::string text =
        "{\n  \"allocscope\": \"baselines\",\n  \"version\": " + std::to_string(baseline_version) +
        ",\n  \"results\": {";
    const char* separator = "\n";
    for (const auto& [name, numbers] : results) {
        text += separator + ("    " + json_quoted(name)) + ": {";
        separator = ",\n";
        const char* comma = "";
        for (const auto& [what, value] : numbers) {
            char number[32];
            std::snprintf(number, sizeof number, "%.0f", value);
            text += comma + json_quoted(what) + ": " + number;
            comma = ", ";
        }
        text += '}';
    }
    return text + "\n  }\n}\n";
}

// The file is replaced as a whole: who reads it meanwhile sees the old one.
inline std::string replace_file(const std::string& path, const std::string& text) {
    const std::string next = path + ".new";
    std::FILE* file = std::fopen(next.c_str(), "wb");
    if (file == nullptr) return system_error(next, "written", errno);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int code = errno;
    const bool is_closed = std::fclose(file) == 0;
    if (!is_written || !is_closed) return system_error(next, "written", is_written ? errno : code);
    if (std::rename(next.c_str(), path.c_str()) != 0) return system_error(path, "replaced", errno);
    return {};
}

// While one lives, no other process changes a file of this folder by replace_file().
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
