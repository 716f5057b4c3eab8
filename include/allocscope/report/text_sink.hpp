// text_sink.hpp - writes a finished report to a path, a descriptor or a stdio file.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_report.hpp, with the whole report in one text; its errors by formats/
//           and saved/
// Threads:  any
// Memory:   the message of an error
//
//     std::string error;
//     if (!detail::put_report(report, "heap.txt", error)) complain(error);
//     // "cannot write report to 'heap.txt': No space left on device"
//
// A path gets the whole report, or stays as it was: see platform/output_file.hpp.

#ifndef ALLOCSCOPE_REPORT_TEXT_SINK_HPP
#define ALLOCSCOPE_REPORT_TEXT_SINK_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/report/piece_target.hpp>

#include <cstdio>     // fputs
#include <exception>  // exception
#include <new>        // bad_alloc
#include <stdexcept>  // runtime_error
#include <string>     // string

ALLOCSCOPE_NAMESPACE_BEGIN

// A report could not be written. what() says where it should go and why it could not.
class report_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

inline std::string report_problem(const std::string& target, const std::string& reason) {
    return "cannot write report to " + target + ": " + reason;
}

// Returns true and leaves `error` unchanged; or returns false, and `error` says why.
template <class Target>
bool put_report(const text& report, Target&& wanted, std::string& error) {
    auto target = target_for(wanted);
    if (target.open() && target.put(report) && target.finish()) return true;
    error = report_problem(target.name(), target.problem());
    return false;
}

#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
// Sets `error` to `reason`, or to what fits into any string without memory.
inline void set_error(std::string& error, const char* reason) noexcept {
    try {
        error = reason;
    } catch (...) {
        error = "out of memory";
    }
}
#endif

// Returns what `work` returns; false, with the reason in `error`, if it throws. Running out of
// memory is one more reason for an error. Without exceptions, that ends the program.
template <class Work>
bool is_done_or_told(std::string& error, const Work& work) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    static_cast<void>(error);
    return work();
#else
    try {
        return work();
    } catch (const std::bad_alloc&) {
        set_error(error, "out of memory");
    } catch (const std::exception& problem) {
        set_error(error, problem.what());
    }
    return false;
#endif
}

// Without exceptions the message goes to stderr, because a failed report must not end the program.
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
