// piece_target.hpp - where the pieces of a file go: a path, a descriptor, a stdio file, a stream.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/, formats/format_job.hpp and saved/save_snapshot.hpp
// Threads:  any
// Memory:   the message of an error
//
//     auto target = target_for("heap.pb.gz");        // or 1, or stdout, or a std::ostream
//     if (target.open() && target.put(piece) && target.finish()) return;
//     complain(target.name(), target.problem());
//
// A path gets the whole file, or stays as it was: see platform/output_file.hpp. A descriptor or a
// stream may have received the first pieces of a file that could not be finished.

#ifndef ALLOCSCOPE_REPORT_PIECE_TARGET_HPP
#define ALLOCSCOPE_REPORT_PIECE_TARGET_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/output_file.hpp>

#include <cerrno>        // errno, EIO
#include <cstddef>       // ptrdiff_t
#include <cstdio>        // FILE, fwrite, fflush, fileno
#include <iosfwd>        // basic_ostream
#include <string>        // string, to_string
#include <system_error>  // generic_category

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What all targets share: an errno value, or a sentence of their own.
class target_problem {
public:
    std::string problem() const {
        return sentence_ != nullptr ? sentence_ : std::generic_category().message(error_);
    }

protected:
    bool is_fine(int error) noexcept {
        error_ = error;
        return error == 0;
    }
    bool is_refused(const char* sentence) noexcept {
        sentence_ = sentence;
        return false;
    }

private:
    int error_ = 0;
    const char* sentence_ = nullptr;
};

class path_target : public target_problem {
public:
    explicit path_target(const char* path) noexcept : path_(path) {}

    bool open() noexcept {
        return path_ != nullptr ? is_fine(file_.open(path_)) : is_refused("a path is needed");
    }
    bool put(const text& piece) noexcept {
        return is_fine(file_.write(piece.data(), piece.size()));
    }
    bool finish() noexcept { return is_fine(file_.commit()); }

    std::string name() const {
        if (path_ == nullptr) return "a null path";
        arena memory;
        text_out shown{memory};
        shown << '\'';
        write_printable(shown, path_);
        shown << '\'';
        return shown.c_str();
    }
    // The descriptor on which a text would be seen, if it is known; else -1.
    int descriptor() const noexcept { return path_ != nullptr ? descriptor_named_by(path_) : -1; }

private:
    const char* path_;
    output_file file_;
};

class descriptor_target : public target_problem {
public:
    explicit descriptor_target(int descriptor) noexcept : descriptor_(descriptor) {}

    bool open() noexcept {
        return descriptor_ >= 0 || is_refused("a descriptor must not be negative");
    }
    bool put(const text& piece) noexcept {
        return is_fine(write_all(descriptor_, piece.data(), piece.size()));
    }
    bool finish() noexcept { return true; }
    std::string name() const { return "descriptor " + std::to_string(descriptor_); }
    int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

// Flushed at the end, so that a full disk is noticed here and not when the program ends.
class stdio_target : public target_problem {
public:
    explicit stdio_target(std::FILE* file) noexcept : file_(file) {}

    bool open() noexcept { return file_ != nullptr || is_refused("an open file is needed"); }
    bool put(const text& piece) noexcept {
        const file_size_signal_blocked quietly;
        errno = 0;
        if (std::fwrite(piece.data(), 1, piece.size(), file_) == piece.size()) return true;
        return is_fine(errno != 0 ? errno : EIO);
    }
    bool finish() noexcept {
        const file_size_signal_blocked quietly;
        errno = 0;
        if (std::fflush(file_) == 0) return true;
        return is_fine(errno != 0 ? errno : EIO);
    }
    std::string name() const { return file_ != nullptr ? "a FILE*" : "a null FILE*"; }
    int descriptor() const noexcept { return file_ != nullptr ? ::fileno(file_) : -1; }

private:
    std::FILE* file_;
};

template <class Stream>
class stream_target : public target_problem {
public:
    explicit stream_target(Stream& stream) noexcept : stream_(stream) {}

    bool open() { return is_good(); }
    bool put(const text& piece) {
        stream_.write(piece.data(), static_cast<std::ptrdiff_t>(piece.size()));
        return is_good();
    }
    bool finish() { return is_good(); }
    std::string name() const { return "a stream"; }
    int descriptor() const noexcept { return -1; }

private:
    bool is_good() { return !stream_.fail() || is_refused("the stream has failed"); }

    Stream& stream_;
};

inline path_target target_for(const char* path) noexcept {
    return path_target{path};
}
// For std::string and std::filesystem::path. No conversion may be needed: the target only points to
// the text of the path.
template <class Path>
auto target_for(const Path& path) noexcept -> decltype(path_target{path.c_str()}) {
    return path_target{path.c_str()};
}
inline descriptor_target target_for(int descriptor) noexcept {
    return descriptor_target{descriptor};
}
inline stdio_target target_for(std::FILE* file) noexcept {
    return stdio_target{file};
}
template <class Traits>
stream_target<std::basic_ostream<char, Traits>> target_for(
    std::basic_ostream<char, Traits>& stream) {
    return stream_target<std::basic_ostream<char, Traits>>{stream};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_PIECE_TARGET_HPP
