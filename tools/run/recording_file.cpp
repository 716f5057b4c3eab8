#include "recording_file.hpp"

#include "../number_in_proc.hpp"
#include "../recording_path.hpp"

#include <allocscope/base/atomic.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/state/recording_head.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

using allocscope::detail::most_segments;
using allocscope::detail::page_bytes;
using allocscope::detail::recording_head;
using allocscope::detail::recording_request;
using allocscope::detail::recording_step;
using allocscope::detail::segment_bytes;
using allocscope::detail::segment_offset;

// Lifts the limit of file sizes (ulimit -f), which is not meant for memory. The program gets it
// back.
class without_file_size_limit {
public:
    without_file_size_limit() {
        before_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &limit_);
        rlimit most = limit_;
        most.rlim_cur = most.rlim_max;
        ::setrlimit(RLIMIT_FSIZE, &most);
    }
    ~without_file_size_limit() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }
    without_file_size_limit(const without_file_size_limit&) = delete;
    without_file_size_limit& operator=(const without_file_size_limit&) = delete;

private:
    rlimit limit_ = {};
    void (*before_)(int) = SIG_DFL;
};

bool make_large(int file) {
    const without_file_size_limit meanwhile;
    return ::ftruncate(file, static_cast<off_t>(segment_offset(most_segments))) == 0;
}

// Where segments can be mapped here: far from programs, libraries, heaps and the tables of
// sanitizers, so that the place is free in programs, too. If another command records this one, the
// first place is taken.
std::uintptr_t free_place() {
    constexpr std::uintptr_t first = 0x2a0000000000;
    constexpr std::uintptr_t end = first + 8 * segment_bytes;
    for (std::uintptr_t place = first; place != end; place += segment_bytes) {
        void* const wanted = reinterpret_cast<void*>(place);
        void* const mapped =
            ::mmap(wanted, segment_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        const bool is_taken = mapped == MAP_FAILED ? errno == EEXIST : mapped != wanted;
        if (mapped != MAP_FAILED) ::munmap(mapped, segment_bytes);
        if (!is_taken) return place;
    }
    return first;
}

std::int64_t unix_time_ahead_ns() {
    using namespace allocscope::detail;
    return unix_time_ns() - static_cast<std::int64_t>(monotonic_ns());
}

std::string text_in(const char* bytes, std::size_t room) {
    return std::string{bytes, ::strnlen(bytes, room)};
}

}  // namespace

recording_file::recording_file(const allocscope::options& wanted, bool follows_children,
                               bool explains_memory, std::string& error)
    : unix_time_ahead_ns_(unix_time_ahead_ns()) {
    descriptor_ = ::memfd_create("allocscope", MFD_CLOEXEC);
    if (descriptor_ < 0 || !make_large(descriptor_)) {
        error = std::string{"memory for the recording could not be created: "} +
                std::strerror(errno) + (errno == EFBIG ? "; raise the limit of ulimit -f" : "");
        return;
    }
    if (static_cast<std::uint32_t>(descriptor_) > most_recording_descriptor) {
        error = "too many descriptors are open";
        return;
    }
    request_ = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (request_ == MAP_FAILED) {
        request_ = nullptr;
        error =
            std::string{"memory for the recording could not be mapped: "} + std::strerror(errno);
        return;
    }
    auto* request = ::new (request_) recording_request;
    request->wanted = wanted;
    request->place = free_place();
    request->follows_children = follows_children ? 1 : 0;
    request->explains_memory = explains_memory ? 1 : 0;
}

recording_file::~recording_file() {
    if (request_ != nullptr) ::munmap(request_, page_bytes);
    if (descriptor_ >= 0) ::close(descriptor_);
}

void recording_file::name_process() {
    if (request_ == nullptr) return;
    static_cast<recording_request*>(request_)->process_id.store(number_in_proc());
}

std::uint32_t recording_file::program_count() const {
    if (request_ == nullptr) return 0;
    const std::uint32_t taken = static_cast<recording_request*>(request_)->segments_taken.load();
    return taken < most_segments ? taken : most_segments;
}

std::uint32_t recording_file::programs_left_out() const {
    if (request_ == nullptr) return 0;
    const std::uint32_t taken = static_cast<recording_request*>(request_)->segments_taken.load();
    return taken - program_count();
}

std::uint32_t recording_file::children_refused() const {
    if (request_ == nullptr) return 0;
    return static_cast<recording_request*>(request_)->children_refused.load();
}

std::uint32_t recording_file::programs_sanitized() const {
    if (request_ == nullptr) return 0;
    return static_cast<recording_request*>(request_)->programs_sanitized.load();
}

// The time since 1970 is the same in all namespaces. It tells nothing if somebody has set it since
// this command began, or if the system slept, during which the monotonic clock stands still.
std::int64_t recording_file::clock_ahead_of(const recording_head& head) const {
    // Clocks of namespaces mostly differ by whole seconds, and two are not read at one moment.
    constexpr std::int64_t least_ns = 500'000'000;
    const std::int64_t here = unix_time_ahead_ns();
    const bool has_changed = std::abs(here - unix_time_ahead_ns_) > least_ns;
    if (head.began_unix_ns == 0 || has_changed) return 0;
    const std::int64_t there = head.began_unix_ns - static_cast<std::int64_t>(head.began_ns);
    return std::abs(here - there) > least_ns ? here - there : 0;
}

recorded_program recording_file::program(std::uint32_t index) const {
    recorded_program found;
    const std::unique_ptr<char[]> page{new char[page_bytes]()};
    const auto offset = static_cast<off_t>(segment_offset(index));
    if (::pread(descriptor_, page.get(), page_bytes, offset) != static_cast<ssize_t>(page_bytes)) {
        found.refusal = std::string{"its recording cannot be read: "} + std::strerror(errno);
        return found;
    }
    const auto& head = *reinterpret_cast<const recording_head*>(page.get());
    if (head.name[0] != '\0') found.name = text_in(head.name, sizeof head.name);
    found.path = text_in(head.program, sizeof head.program);
    found.process_id = head.process_id;
    found.kernel_name = text_in(head.kernel_name, sizeof head.kernel_name);
    found.clock_ahead_ns = clock_ahead_of(head);
    const auto ahead = static_cast<std::uint64_t>(found.clock_ahead_ns);
    found.began_ns = head.began_ns - ahead;
    found.exited_ns = head.exited_ns.load(allocscope::detail::memory_order::acquire);
    if (found.exited_ns != 0) found.exited_ns -= ahead;
    found.has_last_look = head.has_last_look.load(allocscope::detail::memory_order::acquire) != 0;
    found.last_look = head.last_look;
    found.operators_of = text_in(head.operators_of, sizeof head.operators_of);
    const recording_step step = head.step.load();
    found.has_begun = step == recording_step::running || step == recording_step::refused;
    if (step == recording_step::refused) {
        found.refusal = text_in(head.refusal, sizeof head.refusal);
    } else if (step != recording_step::running) {
        found.refusal = "it ended in its first allocation, or has hardly any memory";
        found.is_empty =
            index != 0 && static_cast<recording_request*>(request_)->follows_children != 0;
    }
    return found;
}

void recording_file::forget(std::uint32_t index) {
    const auto offset = static_cast<off_t>(segment_offset(index));
    ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                static_cast<off_t>(segment_bytes));
}

}  // namespace allocscope_tools
