// text_sink.hpp - where a finished report goes: a path, a descriptor, a stdio file.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/text_report.hpp, with the whole report in one text
// Threads:  any
// Memory:   the message of an error
//
//     std::string error;
//     if (!detail::put_report(report, "heap.txt", error)) complain(error);
//     // "cannot write report to 'heap.txt': No space left on device"
//
// A path gets the whole report or is left as it was: see platform/output_file.hpp.

#ifndef ALLOCSCOPE_REPORT_TEXT_SINK_HPP
#define ALLOCSCOPE_REPORT_TEXT_SINK_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/output_file.hpp>

#include <cerrno>        // errno
#include <cstdio>        // FILE, fwrite, fflush, fputs
#include <stdexcept>     // runtime_error
#include <string>        // string, to_string
#include <system_error>  // generic_category

ALLOCSCOPE_NAMESPACE_BEGIN

// A report could not be written. what() says where to and why.
class report_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

inline std::string report_problem(const std::string& target, const std::string& reason) {
    return "cannot write report to " + target + ": " + reason;
}

inline std::string report_problem(const std::string& target, int error_number) {
    return report_problem(target, std::generic_category().message(error_number));
}

// A file that is written piece by piece, and is there only after commit(). What returns false has
// said why in `error`; then nothing more can be done with it.
class report_file {
public:
    // `path` and `error` must stay.
    report_file(const char* path, std::string& error) : path_(path), error_(error) {
        if (path == nullptr) {
            error = report_problem("a null path", "a path is needed");
        } else {
            is_good_ = has_done(out_.open(path));
        }
    }

    bool is_open() const noexcept { return is_good_; }
    bool write(text part) { return is_good_ = has_done(out_.write(part.data(), part.size())); }
    bool commit() { return is_good_ = has_done(out_.commit()); }

private:
    bool has_done(int failure) {
        if (failure == 0) return true;
        arena memory;
        text_out target{memory};
        target << '\'';
        write_printable(target, path_);
        target << '\'';
        error_ = report_problem(target.c_str(), failure);
        return false;
    }

    const char* path_;
    std::string& error_;
    output_file out_;
    bool is_good_ = false;
};

// Each returns true and leaves `error` alone, or returns false and says why in it.
inline bool put_report(text report, const char* path, std::string& error) {
    report_file out{path, error};
    return out.is_open() && out.write(report) && out.commit();
}

inline bool put_report(text report, int descriptor, std::string& error) {
    const std::string target = "descriptor " + std::to_string(descriptor);
    if (descriptor < 0) {
        error = report_problem(target, "a descriptor is not negative");
        return false;
    }
    const int failure = write_all(descriptor, report.data(), report.size());
    if (failure != 0) error = report_problem(target, failure);
    return failure == 0;
}

// Flushed, so that a full disk is noticed here and not at the end of the program.
inline bool put_report(text report, std::FILE* file, std::string& error) {
    if (file == nullptr) {
        error = report_problem("a null FILE*", "an open file is needed");
        return false;
    }
    const file_size_signal_blocked quietly;
    errno = 0;
    if (std::fwrite(report.data(), 1, report.size(), file) == report.size() &&
        std::fflush(file) == 0) {
        return true;
    }
    error = report_problem("a FILE*", errno != 0 ? errno : EIO);
    return false;
}

// Without exceptions the message goes to stderr: a report that fails must not end the program.
inline void raise_report_error(const std::string& message) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::fputs(("allocscope: " + message + '\n').c_str(), stderr);
#else
    throw report_error(message);
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_SINK_HPP
