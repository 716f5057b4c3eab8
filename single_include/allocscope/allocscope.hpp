// allocscope.hpp - the whole of allocscope in one file, for those who copy headers.
//
// Generated from include/ by cmake/scripts/amalgamate.py: edit there, not here.
// The everyday door comes first; the rest is switched on by the thin files beside it.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <new>

// config.hpp - the few things decided at compile time.

#ifndef ALLOCSCOPE_CONFIG_HPP
#define ALLOCSCOPE_CONFIG_HPP

// Here and not in a door, so that it comes before the first line that older compilers reject.
#if __cplusplus < 201703L
    #error "allocscope needs C++17 or newer: compile with -std=c++17"
#endif

#ifndef ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #if defined(__cpp_exceptions)
        #define ALLOCSCOPE_CONFIG_NO_EXCEPTIONS 0
    #else
        #define ALLOCSCOPE_CONFIG_NO_EXCEPTIONS 1
    #endif
#endif

// On functions whose body depends on the knob above: translation units compiled with and without
// exceptions then each keep their own, instead of the linker's choice of one for both.
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #define ALLOCSCOPE_EXCEPTIONS_TAG __attribute__((abi_tag("no_exceptions")))
#else
    #define ALLOCSCOPE_EXCEPTIONS_TAG
#endif

// The versioned namespace: two versions of the headers in one program stay two sets of names.
#define ALLOCSCOPE_NAMESPACE_BEGIN \
    namespace allocscope {         \
    inline namespace v1 {
#define ALLOCSCOPE_NAMESPACE_END \
    }                            \
    }

#endif  // ALLOCSCOPE_CONFIG_HPP

// allocation_counts.hpp - the five numbers of a window.

#ifndef ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP
#define ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// What happened to the objects born in one window. An object that was born before the window
// is in none of these numbers, whenever it dies. Reading them allocates nothing.
struct allocation_counts {
    std::uint64_t allocations = 0;      // objects born in the window
    std::uint64_t frees = 0;            // how many of those have died since, on whatever thread
    std::uint64_t bytes_allocated = 0;  // their sizes as requested, never rounded up
    std::uint64_t bytes_freed = 0;      // sizes of those that died, as they were requested
    // The most bytes of this window's objects that were alive at one time. Exact while one thread
    // allocates and frees the window's objects; with n threads within n * 64 KiB of the truth.
    std::uint64_t peak_bytes = 0;

    std::uint64_t live_objects() const noexcept { return allocations - frees; }
    std::uint64_t live_bytes() const noexcept { return bytes_allocated - bytes_freed; }
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP

// options.hpp - what a window records, and whose allocations it is charged with.

#ifndef ALLOCSCOPE_BASE_OPTIONS_HPP
#define ALLOCSCOPE_BASE_OPTIONS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

enum class recording {
    exact,    // every event, each with the stack that made it
    sampled,  // a Poisson sample of the bytes: estimates, with their 95% intervals
    counters  // totals only, no stacks: the cheapest
};

enum class threads {
    all,     // the window is charged with what every thread allocates
    current  // only with what the thread that opened it allocates; frees count on any thread
};

// How the callers of an allocation are found. Code that was compiled without frame pointers needs
// its unwind table (.eh_frame), which compilers write for every function unless told not to.
enum class unwinding {
    automatic,      // by unwind tables, and by frame pointers through code that has none
    cfi,            // by unwind tables alone: a stack ends at the first code that has none
    frame_pointers  // by frame pointers alone: callers without them are missing from a stack
};

struct options {
    recording record = recording::exact;
    threads from = threads::all;
    std::uint32_t stack_frames = 24;  // return addresses kept of each stack: 1..128
    // Mean bytes between two samples: at least 1, which records every event. Each object counts 16
    // bytes more than were requested. Windows that are open together all use the least of these.
    std::uint64_t sample_bytes = 512 * 1024;
    unwinding unwind = unwinding::automatic;
};

// The allowed range of options::stack_frames.
constexpr std::uint32_t min_stack_frames = 1;
constexpr std::uint32_t max_stack_frames = 128;

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OPTIONS_HPP

// version.hpp - which allocscope this is.

#ifndef ALLOCSCOPE_VERSION_HPP
#define ALLOCSCOPE_VERSION_HPP

#define ALLOCSCOPE_VERSION_MAJOR 0
#define ALLOCSCOPE_VERSION_MINOR 1
#define ALLOCSCOPE_VERSION_PATCH 0
#define ALLOCSCOPE_VERSION_STRING "0.1.0"
#define ALLOCSCOPE_ABI_VERSION 2

#endif  // ALLOCSCOPE_VERSION_HPP

// engine.hpp - the calls by which any module of the process reaches its one recorder.

#ifndef ALLOCSCOPE_LINK_ENGINE_HPP
#define ALLOCSCOPE_LINK_ENGINE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

class snapshot;

namespace detail {

struct snapshot_data;
struct check_data;
struct check_request;
struct fault_plan;
struct guard_watch;
struct plan_state;
struct sweep_data;
struct sweep_request;

// What becomes of a window when its rows are asked for.
enum class after_stats : std::uint32_t {
    go_on,   // the window stays as it is
    forget,  // the window starts anew, empty
    end      // the window ends
};

// Names an open window. 0 is no window.
using window_id = std::uint64_t;

struct engine {
    std::uint32_t abi_version;  // ALLOCSCOPE_ABI_VERSION of the module that filled the table
    std::uint32_t size_bytes;   // of this table
    // The caller has checked the options. Returns 0 when there is no memory for a window.
    window_id (*open_window)(const char* name, const options& wanted);
    void (*close_window)(window_id window);
    allocation_counts (*counts)(window_id window);
    // Hands over one reference; null when there is no such window.
    snapshot_data* (*stats)(window_id window, after_stats then);
    // The process-wide window of start/stats/stop.
    void (*start)(const options& wanted);
    snapshot_data* (*process_stats)(after_stats then);
    // +1: what this thread allocates from now on is charged to nobody; -1: takes one +1 back.
    void (*pause)(int change);
    // Adds a pattern to the library frames. Returns "", or why the pattern was refused.
    const char* (*library_frames)(const char* pattern);
    // Hands over one reference; null when there was no memory for the result.
    check_data* (*check)(const check_request& asked);
    // False: a line is not understood, and the message says which. `room` is at least 128.
    bool (*check_expected_leaks)(const char* lines, char* message, std::size_t room);
    // Writes a text report with `head` before it. Returns 0 or an errno value.
    int (*save_evidence)(const snapshot& rows, const char* head, const char* path);
    // --- link/watch_requests.hpp ---
    bool (*arm_guard)(guard_watch& watch);
    check_data* (*look_at_guard)(guard_watch& watch, bool ends);
    void (*allow)(int change);
    std::uint32_t (*arm_plan)(const fault_plan& wanted);
    plan_state (*state_of_plan)(std::uint32_t plan);
    void (*disarm_plan)(std::uint32_t plan);
    // --- snapshot/fault_run.hpp ---
    sweep_data* (*begin_sweep)(const char* name);
    bool (*add_sweep_run)(sweep_data* to, const sweep_request& asked);
    void (*end_sweep)(sweep_data* data, bool gave_up);
};

// The request that asks for the engine. Its size is odd on purpose: hardly anybody asks for it by
// chance, and the magic number tells our tag even then.
constexpr std::size_t handshake_size = 421;
constexpr std::align_val_t handshake_alignment = static_cast<std::align_val_t>(128);
constexpr std::uint64_t handshake_magic = 0xa110c5c09e5afe01U;

struct handshake_tag : std::nothrow_t {
    std::uint64_t magic = handshake_magic;
    const engine* answer = nullptr;
};

// The process's engine, or null when `operator new` is not ours. Takes about 10 ns. The answer is
// not cached, so that a plugin that brings the hooks is found as soon as it is loaded.
__attribute__((noinline, visibility("hidden"))) inline const engine* find_engine() noexcept {
    handshake_tag tag;
    void* block = ::operator new(handshake_size, handshake_alignment,
                                 static_cast<const std::nothrow_t&>(tag));
    __asm__ volatile("" : : "r"(&tag) : "memory");  // the callee wrote through a const reference
    if (block != nullptr) ::operator delete(block, handshake_alignment, std::nothrow);
    return tag.answer;
}

constexpr const char* engine_is_missing =
    "nothing is being recorded: operator new is not replaced in this process. Add"
    " #include <allocscope/define_once/operator_new_delete.hpp> to exactly one .cpp file of the"
    " executable; under Valgrind, run it with --soname-synonyms=somalloc=nouserintercepts";
constexpr const char* engine_is_another_version =
    "nothing is being recorded: the module that replaced operator new was built with another"
    " version of allocscope. Build both with the same headers";

// Why the engine cannot be used by this translation unit; "" when it can.
inline const char* engine_refusal(const engine* found) noexcept {
    if (found == nullptr) return engine_is_missing;
    return found->abi_version == ALLOCSCOPE_ABI_VERSION ? "" : engine_is_another_version;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_ENGINE_HPP

// check_request.hpp - the limits that a window is to be judged by.

#ifndef ALLOCSCOPE_LINK_CHECK_REQUEST_HPP
#define ALLOCSCOPE_LINK_CHECK_REQUEST_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

class snapshot;
struct leak_stack;

namespace detail {

// Both ends are allowed.
struct count_range {
    std::uint64_t least = 0;
    std::uint64_t most = ~std::uint64_t{0};
};

struct check_limits {
    count_range allocations;
    count_range bytes;
    count_range peak_bytes;
    count_range live_objects;
    count_range live_bytes;
};

enum class check_kind : std::uint32_t {
    budget,          // `limits` hold for the window's counts
    leaks,           // live_objects and live_bytes hold for what is alive and not expected
    repeated_leaks,  // the same for what one run of `runs` added; the caller did the arithmetic
    allocated_rows,  // nothing is judged: gives the rows of what was allocated, freed or not
    judged           // the caller has judged: saves the evidence, with `headline` above `rows`
};

struct check_request {
    check_kind kind = check_kind::budget;
    after_stats then = after_stats::go_on;
    check_limits limits;
    const char* expected = "";  // leaks that are expected, see verdict/leak_patterns.hpp
    // Says for each stack whether it is expected, too. `expected_context` is handed to it.
    bool (*is_expected)(const leak_stack& stack, const void* context) = nullptr;
    const void* expected_context = nullptr;

    window_id window = 0;  // 0: the window has ended, and the two members below are its results
    allocation_counts counts;
    const snapshot* rows = nullptr;

    // repeated_leaks: how many runs there were, and the least that any of them added.
    std::uint64_t runs = 0;
    std::uint64_t added_objects = 0;
    std::uint64_t added_bytes = 0;

    // As is_expected, asked first, with what detail::expected_leaks says.
    bool (*is_expected_by_symbols)(const leak_stack& stack, const void* context) = nullptr;

    // judged: what is wrong, and the name for the file.
    const char* headline = "";
    const char* name = "";
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_CHECK_REQUEST_HPP

// printable_text.hpp - which bytes of a name may be shown as they are.

#ifndef ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP
#define ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What a byte that must not be shown looks like: \x1b
constexpr std::size_t escaped_byte_length = 4;

inline void write_escaped_byte(char byte, char* out) noexcept {
    const char* digits = "0123456789abcdef";
    const unsigned value = static_cast<unsigned char>(byte);
    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[value >> 4];
    out[3] = digits[value & 15U];
}

// Characters that draw nothing but change how the rest of the line is read: C1 controls, line and
// paragraph separators, and the marks that set or end a direction of writing.
inline bool is_hidden_control(std::uint32_t code_point) noexcept {
    return code_point < 0xa0U || code_point == 0x61cU ||
           (code_point >= 0x200bU && code_point <= 0x200fU) ||
           (code_point >= 0x2028U && code_point <= 0x202eU) ||
           (code_point >= 0x2060U && code_point <= 0x206fU) || code_point == 0xfeffU;
}

// How many bytes at `text`, which ends with a zero byte, make up one character that may be shown.
// 0: the first byte is to be escaped (or the text ends here). Never reads past the zero byte.
inline std::size_t printable_length(const char* text) noexcept {
    const std::uint32_t first = static_cast<unsigned char>(text[0]);
    if (first < 0x80U) return first >= 0x20U && first != 0x7fU ? 1 : 0;
    if (first < 0xc2U || first > 0xf4U) return 0;
    const std::size_t length = first < 0xe0U ? 2 : (first < 0xf0U ? 3 : 4);
    std::uint32_t code_point = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint32_t next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80U) return 0;
        code_point = code_point << 6 | (next & 0x3fU);
    }
    const bool is_overlong = code_point < (length == 4 ? 0x10000U : (length == 3 ? 0x800U : 0x80U));
    const bool is_surrogate = code_point >= 0xd800U && code_point <= 0xdfffU;
    if (is_overlong || is_surrogate || code_point > 0x10ffffU) return 0;
    return is_hidden_control(code_point) ? 0 : length;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP

// fixed_text.hpp - builds a line of text in a buffer that the caller owns.

#ifndef ALLOCSCOPE_BASE_FIXED_TEXT_HPP
#define ALLOCSCOPE_BASE_FIXED_TEXT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class fixed_text {
public:
    // `space` need not be initialised. No zero byte is written at the end.
    fixed_text(char* space, std::size_t capacity) noexcept : space_(space), capacity_(capacity) {}

    const char* data() const noexcept { return space_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t room() const noexcept { return capacity_ - size_; }
    bool was_cut() const noexcept { return was_cut_; }
    void clear() noexcept { size_ = 0; }

    void append(char byte) noexcept { append(&byte, 1); }

    void append(const char* text) noexcept {
        while (*text != '\0') append(text++, 1);
    }

    // Appends all of it or nothing.
    void append(const char* bytes, std::size_t length) noexcept {
        if (length > room()) {
            was_cut_ = true;
            return;
        }
        // Not a loop: clang 14 at -O2 takes it for a copy of unwritten memory and leaves out all
        // but the first byte.
        __builtin_memcpy(space_ + size_, bytes, length);
        size_ += length;
    }

    // Right-aligned in at least `width` columns; `mark`, when given, stands directly before the
    // digits and counts as a column: append_decimal(1000, 7, '~') is "  ~1000".
    void append_decimal(std::uint64_t value, std::size_t width = 0, char mark = '\0') noexcept {
        append_aligned(value, 10, width, mark, '\0');
    }

    void append_signed(std::int64_t value, std::size_t width = 0, char mark = '\0') noexcept {
        const std::uint64_t bits = static_cast<std::uint64_t>(value);
        if (value < 0) {
            append_aligned(std::uint64_t{0} - bits, 10, width, mark, '-');
        } else {
            append_aligned(bits, 10, width, mark, '\0');
        }
    }

    // Lower case, no prefix.
    void append_hexadecimal(std::uint64_t value, std::size_t width = 0) noexcept {
        append_aligned(value, 16, width, '\0', '\0');
    }

    // Appends the next character of `text`, escaped if it must not be shown, and returns how many
    // bytes of `text` it took; 0 at the end of `text`, and when there is no room for it.
    std::size_t append_printable(const char* text) noexcept {
        if (*text == '\0') return 0;
        const std::size_t length = printable_length(text);
        char escaped[escaped_byte_length];
        const bool is_escaped = length == 0;
        if (is_escaped) write_escaped_byte(*text, escaped);
        const std::size_t size_before = size_;
        append(is_escaped ? escaped : text, is_escaped ? escaped_byte_length : length);
        if (size_ == size_before) return 0;
        return is_escaped ? 1 : length;
    }

private:
    void append_aligned(std::uint64_t value, unsigned base, std::size_t width, char mark,
                        char sign) noexcept {
        char digits[22];  // a sign and the 20 digits of 2^64 - 1, or a mark before them
        std::size_t begin = sizeof digits;
        do {
            digits[--begin] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        if (sign != '\0') digits[--begin] = sign;
        if (mark != '\0') digits[--begin] = mark;
        const std::size_t length = sizeof digits - begin;
        const std::size_t padding = width > length ? width - length : 0;
        if (padding + length > room()) {
            was_cut_ = true;
            return;
        }
        for (std::size_t i = 0; i < padding; ++i) space_[size_++] = ' ';
        append(digits + begin, length);
    }

    char* space_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool was_cut_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_FIXED_TEXT_HPP

// check_options.hpp - refuses options that make no sense, naming value and range.

#ifndef ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP
#define ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP

#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #include <unistd.h>  // write
#elif defined(__GLIBCXX__)
    #include <bits/functexcept.h>  // __throw_invalid_argument
#else
    #include <stdexcept>  // invalid_argument
#endif

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_options(const char* message) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::size_t length = 0;
    while (message[length] != '\0') ++length;
    if (::write(2, message, length) < 0 || ::write(2, "\n", 1) < 0) __builtin_trap();
    __builtin_abort();
#elif defined(__GLIBCXX__)
    std::__throw_invalid_argument(message);
#else
    throw std::invalid_argument(message);
#endif
}

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_option(const char* option,
                                                                 std::uint64_t value,
                                                                 const char* range) {
    char space[160] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: options::");
    text.append(option);
    text.append(" is ");
    text.append_decimal(value);
    text.append("; it must be ");
    text.append(range);
    refuse_options(space);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_options(const options& wanted) {
    if (wanted.stack_frames < min_stack_frames || wanted.stack_frames > max_stack_frames) {
        refuse_option("stack_frames", wanted.stack_frames, "in 1..128");
    }
    if (wanted.sample_bytes == 0) {
        refuse_option("sample_bytes", wanted.sample_bytes, "at least 1");
    }
    if (wanted.record < recording::exact || wanted.record > recording::counters) {
        refuse_option("record", static_cast<std::uint64_t>(wanted.record),
                      "exact, sampled or counters");
    }
    if (wanted.from < threads::all || wanted.from > threads::current) {
        refuse_option("from", static_cast<std::uint64_t>(wanted.from), "all or current");
    }
    if (wanted.unwind < unwinding::automatic || wanted.unwind > unwinding::frame_pointers) {
        refuse_option("unwind", static_cast<std::uint64_t>(wanted.unwind),
                      "automatic, cfi or frame_pointers");
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP

// estimate.hpp - a number and the interval its truth lies in.

#ifndef ALLOCSCOPE_SAMPLING_ESTIMATE_HPP
#define ALLOCSCOPE_SAMPLING_ESTIMATE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// low <= value <= high; all equal when nothing is estimated. In a difference of snapshots all three
// are two's complement: cast to std::int64_t. What they mean: docs/sampling.md.
struct estimate {
    std::uint64_t value = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_ESTIMATE_HPP

// snapshot.hpp - the immutable answer to "what of this window is still alive?".

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct snapshot_data;
}  // namespace detail

class snapshot {
public:
    // One logical frame of a stack: inlined calls are frames of their own.
    struct frame {
        const char* function;   // demangled; "" when there is no symbol
        const char* file;       // as the debug information has it, whole; "" when unknown
        int line;               // 0 when unknown
        int column;             // 0 when unknown
        bool is_inlined;        // inlined into the next frame
        std::uint64_t address;  // return address - 1, as in this process
        const char* module;     // file the code was loaded from; "" when unknown
        std::uint64_t offset;   // of the address in that module
    };

    // All live objects of one file:line:type. The stack is that of the row's most numerous site.
    struct row {
        std::uint64_t objects;  // in a difference: two's complement, cast to std::int64_t
        std::uint64_t bytes;    // as requested; in a difference likewise
        const char* file;       // shortened to what is left after the common directory; when there
                                // is no line information: the function, else the module
        int line;               // 0 when unknown: then `offset` says where in `file` it is
        const char* type;       // "?" when it is not known
        const char* function;   // the function that file:line is in; "" when unknown
        std::uint64_t offset;   // from the start of the function or module when line is 0
        std::uint64_t sites;    // how many distinct stacks were summed in this row
        const frame* frames;    // innermost first, starting at the caller of operator new
        std::size_t frame_count;
        std::size_t user_frame;  // index of the frame that gave file and line; frame_count if none
        std::uint64_t samples;   // a sampled window: how many samples stand behind the estimate
        // A sampled window: 95% intervals, objects_low <= objects <= objects_high. Otherwise equal
        // to objects and bytes. In a difference two's complement; see docs/sampling.md.
        std::uint64_t objects_low, objects_high;
        std::uint64_t bytes_low, bytes_high;
    };

    // The totals again, with their 95% intervals; low == value == high unless sampled.
    struct window_estimates {
        estimate allocations, frees, live_objects;
        estimate bytes_allocated, bytes_freed, live_bytes;
    };

    // Something that was not recorded, and how often.
    struct loss {
        const char* reason;  // a full sentence without a number
        std::uint64_t count;
    };

    // What a report needs to know beside the rows.
    struct window_info {
        const char* name;
        recording record;
        threads from;
        std::uint32_t stack_frames;
        std::uint64_t duration_ns;       // from the start of the window to this snapshot
        allocation_counts totals;        // the window's counts at this snapshot
        std::uint64_t own_memory_bytes;  // what allocscope itself had mapped and touched
        const loss* losses;              // only those that happened
        std::size_t loss_count;
        bool is_difference;          // made by difference_from
        const char* not_recording;   // why nothing is being recorded; "" when it is
        std::uint64_t sample_bytes;  // a sampled window: mean bytes between two samples; else 0
        std::uint64_t samples;       // a sampled window: how many were taken; else 0
        window_estimates estimates;
        std::uint64_t window;    // tells windows of this process apart; 0: of none
        bool is_of_two_windows;  // a difference of snapshots of two windows
    };

    snapshot() noexcept;  // no rows; info().not_recording says that it comes from no window
    snapshot(const snapshot& other) noexcept;
    snapshot(snapshot&& other) noexcept;
    snapshot& operator=(const snapshot& other) noexcept;
    snapshot& operator=(snapshot&& other) noexcept;
    ~snapshot();

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept;
    const row* begin() const noexcept;  // most numerous first
    const row* end() const noexcept;
    const row& operator[](std::size_t index) const noexcept { return begin()[index]; }

    std::uint64_t live_objects() const noexcept;  // sum over the rows
    std::uint64_t live_bytes() const noexcept;
    const window_info& info() const noexcept;

    // Per file:line:type what this snapshot has more than `earlier`: positive, what was added;
    // negative (as std::int64_t), what went. Rows without a change are left out.
    snapshot difference_from(const snapshot& earlier) const;

    // For the engine: takes over one reference.
    explicit snapshot(detail::snapshot_data* data) noexcept : data_(data) {}

private:
    detail::snapshot_data* data_;
};

namespace detail {

// The head of the block. The engine that made it also frees it, through `release`.
struct snapshot_data {
    std::uint32_t references;
    void (*release)(snapshot_data*);
    const snapshot::row* rows;
    std::size_t row_count;
    std::uint64_t live_objects;
    std::uint64_t live_bytes;
    snapshot::window_info info;
    snapshot_data* (*difference)(const snapshot_data& later, const snapshot_data& earlier);
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP

// snapshot_members.hpp - what the members of class snapshot do.

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr snapshot_data constant_snapshot(const char* not_recording) noexcept {
    return {0,
            nullptr,
            nullptr,
            0,
            0,
            0,
            {"",
             recording::exact,
             threads::all,
             0,
             0,
             {},
             0,
             nullptr,
             0,
             false,
             not_recording,
             0,
             0,
             {},
             0,
             false},
            nullptr};
}

// Hidden: a shared symbol would keep a plugin from being unloaded.
__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_of_no_window =
    constant_snapshot("this snapshot comes from no window");
__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_without_memory =
    constant_snapshot("memory for the rows of this snapshot was refused");

// What to hand out when a block could not be had.
inline snapshot refused_snapshot() noexcept {
    return snapshot{
        const_cast<snapshot_data*>(&snapshot_without_memory)};  // count 0: never written
}

inline bool is_counted(const snapshot_data* data) noexcept {
    return data != nullptr && __atomic_load_n(&data->references, __ATOMIC_RELAXED) != 0;
}

// Relaxed: whoever copies already holds a reference, so the block cannot go meanwhile.
inline void add_reference(snapshot_data* data) noexcept {
    if (is_counted(data)) __atomic_add_fetch(&data->references, 1U, __ATOMIC_RELAXED);
}

// Release, so that this owner's reads come before the free; acquire for the last one, which frees.
inline void drop_reference(snapshot_data* data) noexcept {
    if (!is_counted(data)) return;
    if (__atomic_sub_fetch(&data->references, 1U, __ATOMIC_ACQ_REL) == 0) data->release(data);
}

inline const snapshot_data& data_or_nothing(const snapshot_data* data) noexcept {
    return data != nullptr ? *data : snapshot_of_no_window;
}

// Whether a window was counted, also when its rows could not be had.
inline bool has_totals(const snapshot::window_info& info) noexcept {
    return info.not_recording[0] == '\0' || info.duration_ns != 0 || info.totals.allocations != 0;
}

}  // namespace detail

inline snapshot::snapshot() noexcept : data_(nullptr) {}

inline snapshot::snapshot(const snapshot& other) noexcept : data_(other.data_) {
    detail::add_reference(data_);
}

inline snapshot::snapshot(snapshot&& other) noexcept : data_(other.data_) {
    other.data_ = nullptr;
}

inline snapshot& snapshot::operator=(const snapshot& other) noexcept {
    detail::add_reference(other.data_);
    detail::drop_reference(data_);
    data_ = other.data_;
    return *this;
}

inline snapshot& snapshot::operator=(snapshot&& other) noexcept {
    if (this == &other) return *this;
    detail::drop_reference(data_);
    data_ = other.data_;
    other.data_ = nullptr;
    return *this;
}

inline snapshot::~snapshot() {
    detail::drop_reference(data_);
}

inline std::size_t snapshot::size() const noexcept {
    return detail::data_or_nothing(data_).row_count;
}

inline const snapshot::row* snapshot::begin() const noexcept {
    return detail::data_or_nothing(data_).rows;
}

inline const snapshot::row* snapshot::end() const noexcept {
    return begin() + size();
}

inline std::uint64_t snapshot::live_objects() const noexcept {
    return detail::data_or_nothing(data_).live_objects;
}

inline std::uint64_t snapshot::live_bytes() const noexcept {
    return detail::data_or_nothing(data_).live_bytes;
}

inline const snapshot::window_info& snapshot::info() const noexcept {
    return detail::data_or_nothing(data_).info;
}

inline snapshot snapshot::difference_from(const snapshot& earlier) const {
    const detail::snapshot_data& later_data = detail::data_or_nothing(data_);
    const detail::snapshot_data& earlier_data = detail::data_or_nothing(earlier.data_);
    // Only a block knows how to make another one.
    const auto subtract =
        later_data.difference != nullptr ? later_data.difference : earlier_data.difference;
    if (subtract == nullptr) return *this;
    detail::snapshot_data* made = subtract(later_data, earlier_data);
    return made != nullptr ? snapshot{made} : detail::refused_snapshot();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP

// check_data.hpp - what stands behind a check_result: verdict, message, evidence.

#ifndef ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP
#define ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// Where objects that are still alive came from.
struct leak_stack {
    const snapshot::frame* frames;  // innermost first, starting at the caller of operator new
    std::size_t frame_count;
    std::size_t user_frame;  // the innermost that is not library code; frame_count if none
    const char* type;        // "?" when it is not known
    // To be set by a function that answers yes, if it can: how many of the innermost frames would
    // be enough for that answer, whatever calls them and whatever the type. Stacks that begin alike
    // are then expected without being named, which saves milliseconds for each.
    mutable std::size_t decisive_frames = 0;
};

namespace detail {

struct check_data {
    std::uint32_t references;
    bool has_passed;
    void (*release)(check_data*);
    const char* message;   // "" when it passed
    const char* saved_to;  // "" when no file was written
    allocation_counts counts;
    // Alive, and fitting no pattern of expected leaks.
    std::uint64_t unexpected_objects;
    std::uint64_t unexpected_bytes;
    // Alive because a function-local static was initialised in the window; not in the two above.
    std::uint64_t first_use_objects;
    std::uint64_t first_use_bytes;
    const snapshot* rows;  // as long as the result lives; null: none
};

constexpr check_data constant_check(const char* message) noexcept {
    return {0, false, nullptr, message, "", {}, 0, 0, 0, 0, nullptr};
}

// Hidden: a shared symbol would keep a plugin from being unloaded.
__attribute__((visibility("hidden"))) inline constexpr check_data check_without_engine =
    constant_check(engine_is_missing);
__attribute__((visibility("hidden"))) inline constexpr check_data check_of_other_version =
    constant_check(engine_is_another_version);
__attribute__((visibility("hidden"))) inline constexpr check_data check_without_window =
    constant_check("nothing is being recorded: memory for the window was refused");
__attribute__((visibility("hidden"))) inline constexpr check_data check_without_memory =
    constant_check("the check could not be made: memory for its result was refused");
__attribute__((visibility("hidden"))) inline constexpr check_data check_of_nothing =
    constant_check("nothing was checked");

inline check_data* shared_check(const check_data& constant) noexcept {
    return const_cast<check_data*>(&constant);  // count 0: never written
}

// Why this engine cannot check anything.
inline check_data* refused_check(const engine* found) noexcept {
    return shared_check(found == nullptr ? check_without_engine : check_of_other_version);
}

inline void hold_check(check_data* data) noexcept {
    if (__atomic_load_n(&data->references, __ATOMIC_RELAXED) == 0) return;
    __atomic_add_fetch(&data->references, 1U, __ATOMIC_RELAXED);
}

inline void drop_check(check_data* data) noexcept {
    if (__atomic_load_n(&data->references, __ATOMIC_RELAXED) == 0) return;
    if (__atomic_sub_fetch(&data->references, 1U, __ATOMIC_ACQ_REL) == 0) data->release(data);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP

// check_result.hpp - whether a check held, and if not, a message and the evidence.

#ifndef ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP
#define ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

class check_result {
public:
    check_result() noexcept;  // has not passed: nothing was checked

    // A check that could not be made has not passed: without the hooks, without memory, or when
    // events were lost that might have broken it.
    bool passed() const noexcept { return data_->has_passed; }
    explicit operator bool() const noexcept { return passed(); }

    // "" when it passed. Else several lines, without a line end at the last: what was expected and
    // what happened, up to three places with their callers as file:line, where the rest was saved.
    const char* message() const noexcept { return data_->message; }

    // The window's numbers at the check.
    allocation_counts counts() const noexcept { return data_->counts; }

    // What stood behind the failure, by place; empty when the check passed. For leaks: what is
    // alive and was not expected.
    const snapshot& rows() const noexcept { return rows_; }

    // Of a leak check: what function-local statics made at their first use. It is no leak, and in
    // no row. 0 when the numbers of the window were enough to pass.
    std::uint64_t first_use_objects() const noexcept { return data_->first_use_objects; }
    std::uint64_t first_use_bytes() const noexcept { return data_->first_use_bytes; }

    // The file with message and rows; "" when there is none. See docs/how_to/assertions.md.
    const char* saved_to() const noexcept { return data_->saved_to; }

    // For measure/ and the engine: takes over one reference.
    explicit check_result(detail::check_data* data) noexcept;
    const detail::check_data& data() const noexcept { return *data_; }

    check_result(const check_result& other) noexcept;
    check_result& operator=(const check_result& other) noexcept;
    ~check_result();

private:
    detail::check_data* data_;  // never null
    snapshot rows_;
};

// definitions

namespace detail {

inline snapshot rows_of(const check_data& data) noexcept {
    return data.rows != nullptr ? *data.rows : snapshot{};
}

// What a call of the engine gave, which gives null when memory was refused.
inline check_result result_of(check_data* made) noexcept {
    return check_result{made != nullptr ? made : shared_check(check_without_memory)};
}

}  // namespace detail

inline check_result::check_result() noexcept
    : data_(detail::shared_check(detail::check_of_nothing)) {}

inline check_result::check_result(detail::check_data* data) noexcept
    : data_(data), rows_(detail::rows_of(*data)) {}

inline check_result::check_result(const check_result& other) noexcept
    : data_(other.data_), rows_(other.rows_) {
    detail::hold_check(data_);
}

inline check_result& check_result::operator=(const check_result& other) noexcept {
    detail::hold_check(other.data_);
    detail::drop_check(data_);
    data_ = other.data_;
    rows_ = other.rows_;
    return *this;
}

inline check_result::~check_result() {
    detail::drop_check(data_);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP

// refusals.hpp - the snapshots of windows that record nothing: each says why.

#ifndef ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP
#define ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_without_engine =
    constant_snapshot(engine_is_missing);
__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_of_other_version =
    constant_snapshot(engine_is_another_version);
__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_of_refused_window =
    constant_snapshot("nothing is being recorded: memory for the window was refused");
__attribute__((visibility("hidden"))) inline constexpr snapshot_data snapshot_before_start =
    constant_snapshot(
        "nothing is being recorded: no window is started. Call allocscope::start() first");

// For an engine that cannot be used.
inline snapshot refusal_snapshot(const engine* found) noexcept {
    const snapshot_data* data =
        found == nullptr ? &snapshot_without_engine : &snapshot_of_other_version;
    return snapshot{const_cast<snapshot_data*>(data)};  // count 0: never written
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP

// scope.hpp - windows: start, look as often as wanted, stop.

#ifndef ALLOCSCOPE_MEASURE_SCOPE_HPP
#define ALLOCSCOPE_MEASURE_SCOPE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct scope_reader;
}  // namespace detail

// A window over a part of the program: what it allocated, and what of that is still alive.
class scope {
public:
    // Starts. `name` stands in reports; it is copied (the first 63 bytes).
    // Throws std::invalid_argument when stack_frames is not in 1..128 or sample_bytes is 0
    // (-fno-exceptions: prints the same message and aborts).
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit scope(const char* name = "",
                                                           const options& wanted = {});
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // The numbers up to now; after stop(), those at the end. Allocates nothing.
    // Cost: a few nanoseconds for each distinct stack that allocated in the window.
    allocation_counts counts() const noexcept;

    // What is alive now. The window stays open. When memory for the rows is refused, the snapshot
    // says so (info().not_recording) and has the totals.
    snapshot stats() const;

    // What is alive now; the window then starts anew as if it had just been opened: it forgets
    // what was reported, and counts() begin at zero again. (memprof's stats!) When memory is
    // refused even for the totals, it forgets nothing.
    snapshot stats_and_forget();

    // Ends the window. Later calls of stats() and stop() repeat this last snapshot.
    snapshot stop();

private:
    friend struct detail::scope_reader;

    // Null when nothing is being recorded in this process.
    const detail::engine* engine_ = nullptr;
    detail::window_id window_ = 0;  // 0: stopped, or never started for lack of memory
    allocation_counts last_counts_;
    snapshot last_;
};

// The same as free functions, over one process-wide window.
ALLOCSCOPE_EXCEPTIONS_TAG void start(
    const options& wanted = {});  // no effect while it is already started
snapshot stats();                 // before the first start() the snapshot says so
snapshot stats_and_forget();
snapshot stop();  // kept until the next start(): meanwhile all three repeat it

// Starts, runs the work, and returns what of its allocations is still alive afterwards. The window
// is its own: it does not disturb start/stop. Exceptions of the work pass through.
template <class Work>
snapshot track(Work&& work) {
    scope window{"track"};
    static_cast<Work&&>(work)();
    return window.stop();
}

// What this thread allocates while one lives is charged to nobody. Frees are still seen. Nests.
class pause_recording {
public:
    [[nodiscard]] pause_recording() noexcept;
    ~pause_recording();
    pause_recording(const pause_recording&) = delete;
    pause_recording& operator=(const pause_recording&) = delete;

private:
    const detail::engine* engine_;
};

// definitions

namespace detail {

// The engine, if this translation unit can use it; else null.
inline const engine* usable_engine() noexcept {
    const engine* found = find_engine();
    return engine_refusal(found)[0] == '\0' ? found : nullptr;
}

// A snapshot without rows that says why nothing was recorded.
inline snapshot snapshot_without_window(const engine* used) noexcept {
    if (used == nullptr) return refusal_snapshot(find_engine());
    return snapshot{const_cast<snapshot_data*>(&snapshot_of_refused_window)};
}

inline snapshot snapshot_of_process(after_stats then) {
    const engine* used = usable_engine();
    if (used == nullptr) return refusal_snapshot(find_engine());
    snapshot_data* made = used->process_stats(then);
    if (made != nullptr) return snapshot{made};
    return snapshot{const_cast<snapshot_data*>(&snapshot_before_start)};
}

}  // namespace detail

inline scope::scope(const char* name, const options& wanted) {
    detail::check_options(wanted);
    engine_ = detail::usable_engine();
    if (engine_ != nullptr) window_ = engine_->open_window(name, wanted);
    if (window_ == 0) last_ = detail::snapshot_without_window(engine_);
}

inline scope::~scope() {
    if (window_ != 0) engine_->close_window(window_);
}

inline allocation_counts scope::counts() const noexcept {
    return window_ != 0 ? engine_->counts(window_) : last_counts_;
}

inline snapshot scope::stats() const {
    if (window_ == 0) return last_;
    return snapshot{engine_->stats(window_, detail::after_stats::go_on)};
}

inline snapshot scope::stats_and_forget() {
    if (window_ == 0) return last_;
    return snapshot{engine_->stats(window_, detail::after_stats::forget)};
}

inline snapshot scope::stop() {
    if (window_ != 0) {
        last_counts_ = engine_->counts(window_);  // all there is if memory is refused
        last_ = snapshot{engine_->stats(window_, detail::after_stats::end)};
        if (detail::has_totals(last_.info())) last_counts_ = last_.info().totals;
        window_ = 0;
    }
    return last_;
}

inline void start(const options& wanted) {
    detail::check_options(wanted);
    if (const detail::engine* used = detail::usable_engine()) used->start(wanted);
}
inline snapshot stats() {
    return detail::snapshot_of_process(detail::after_stats::go_on);
}
inline snapshot stats_and_forget() {
    return detail::snapshot_of_process(detail::after_stats::forget);
}
inline snapshot stop() {
    return detail::snapshot_of_process(detail::after_stats::end);
}

inline pause_recording::pause_recording() noexcept : engine_(detail::usable_engine()) {
    if (engine_ != nullptr) engine_->pause(+1);
}
inline pause_recording::~pause_recording() {
    if (engine_ != nullptr) engine_->pause(-1);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_SCOPE_HPP

// allocation_budget.hpp - how much a window may, and must, allocate.

#ifndef ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP
#define ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Any integer as it was typed, so that a negative one can be refused by name.
struct typed_number {
    std::uint64_t bits = 0;  // two's complement
    bool is_negative = false;

    constexpr typed_number(int value) noexcept : typed_number(static_cast<long long>(value)) {}
    constexpr typed_number(long value) noexcept : typed_number(static_cast<long long>(value)) {}
    constexpr typed_number(long long value) noexcept
        : bits(static_cast<std::uint64_t>(value)), is_negative(value < 0) {}
    constexpr typed_number(unsigned value) noexcept : bits(value) {}
    constexpr typed_number(unsigned long value) noexcept : bits(value) {}
    constexpr typed_number(unsigned long long value) noexcept : bits(value) {}
};

}  // namespace detail

// The least and the most that is allowed, both included.
class allocation_limit {
public:
    constexpr allocation_limit() noexcept = default;  // no limit
    // Implicit, from any integer type: the most. What is negative is refused by the check.
    template <class Integer>
    constexpr allocation_limit(Integer most) noexcept : most_(most) {}
    constexpr allocation_limit(detail::typed_number least, detail::typed_number most) noexcept
        : least_(least), most_(most) {}

    constexpr detail::typed_number least() const noexcept { return least_; }
    constexpr detail::typed_number most() const noexcept { return most_; }

private:
    detail::typed_number least_ = 0;
    detail::typed_number most_ = ~std::uint64_t{0};
};

constexpr allocation_limit at_most(detail::typed_number most) noexcept {
    return {0, most};
}
constexpr allocation_limit at_least(detail::typed_number least) noexcept {
    return {least, ~std::uint64_t{0}};
}
constexpr allocation_limit between(detail::typed_number least, detail::typed_number most) noexcept {
    return {least, most};
}
constexpr allocation_limit exactly(detail::typed_number count) noexcept {
    return {count, count};
}

// What the counts of a window are held to; the fields are those of allocation_counts.
class allocation_budget {
public:
    allocation_limit allocations{};
    allocation_limit bytes{};         // bytes_allocated
    allocation_limit peak_bytes{};    // most bytes alive at one time
    allocation_limit live_objects{};  // still alive at the check
    allocation_limit live_bytes{};
};

// Whether the window has kept to the budget up to now; after stop(), until then. The window stays
// open. The first limit that is broken makes the check fail.
//
// Throws std::invalid_argument when a limit is negative, a least is more than its most, or two
// limits exclude each other (-fno-exceptions: prints the message and aborts).
// Cost: as counts(); a check that fails names stacks and writes a file, which takes milliseconds.
ALLOCSCOPE_EXCEPTIONS_TAG check_result check(const scope& window, const allocation_budget& budget);

// definitions

namespace detail {

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_limit(const char* owner,
                                                                const char* field,
                                                                const char* before,
                                                                typed_number value,
                                                                const char* remedy) {
    char space[256] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: ");
    text.append(owner);
    text.append("::");
    text.append(field);
    text.append(before);
    if (value.is_negative) {
        text.append_signed(static_cast<std::int64_t>(value.bits));
    } else {
        text.append_decimal(value.bits);
    }
    text.append(remedy);
    refuse_options(space);
}

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_order(const char* owner,
                                                                const char* field,
                                                                std::uint64_t least,
                                                                std::uint64_t most) {
    char space[80] = {};
    fixed_text remedy{space, sizeof space - 1};
    remedy.append(" and at most ");
    remedy.append_decimal(most);
    remedy.append("; exchange the two numbers");
    refuse_limit(owner, field, " must be at least ", least, space);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t checked_count(const char* owner, const char* field,
                                                             typed_number value) {
    if (value.is_negative) {
        refuse_limit(owner, field, " is ", value, "; it counts something, so give 0 or more");
    }
    return value.bits;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline count_range checked_range(const char* field,
                                                           const allocation_limit& limit) {
    count_range range;
    range.least = checked_count("allocation_budget", field, limit.least());
    range.most = checked_count("allocation_budget", field, limit.most());
    if (range.least > range.most) {
        refuse_order("allocation_budget", field, range.least, range.most);
    }
    return range;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_order(const char* field, const count_range& smaller,
                                                  const char* remedy, const count_range& larger) {
    if (smaller.least <= larger.most) return;
    refuse_limit("allocation_budget", field, " must be at least ", smaller.least, remedy);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline check_limits checked_limits(const allocation_budget& budget) {
    check_limits limits;
    limits.allocations = checked_range("allocations", budget.allocations);
    limits.bytes = checked_range("bytes", budget.bytes);
    limits.peak_bytes = checked_range("peak_bytes", budget.peak_bytes);
    limits.live_objects = checked_range("live_objects", budget.live_objects);
    limits.live_bytes = checked_range("live_bytes", budget.live_bytes);
    check_order("live_objects", limits.live_objects,
                ", but fewer may be allocated; raise the most of `allocations`",
                limits.allocations);
    check_order("live_bytes", limits.live_bytes,
                ", but the peak may not reach that; raise the most of `peak_bytes`",
                limits.peak_bytes);
    check_order("live_bytes", limits.live_bytes,
                ", but fewer may be allocated; raise the most of `bytes`", limits.bytes);
    check_order("peak_bytes", limits.peak_bytes,
                ", but fewer may be allocated; raise the most of `bytes`", limits.bytes);
    return limits;
}

// Reads what a scope keeps to itself.
struct scope_reader {
    static void describe(const scope& window, check_request& asked) noexcept {
        asked.window = window.window_;
        asked.counts = window.last_counts_;
        asked.rows = &window.last_;
    }
    // The engine has ended the window.
    static void end(scope& window, const allocation_counts& counts) noexcept {
        window.window_ = 0;
        window.last_counts_ = counts;
    }
    static const engine* engine_of(const scope& window) noexcept { return window.engine_; }
};

inline check_result ask_engine(const engine* used, const check_request& asked) {
    if (used == nullptr) return check_result{refused_check(find_engine())};
    return result_of(used->check(asked));
}

inline check_result check_budget(const scope& window, const check_limits& limits,
                                 after_stats then) {
    check_request asked;
    asked.limits = limits;
    asked.then = then;
    scope_reader::describe(window, asked);
    return ask_engine(scope_reader::engine_of(window), asked);
}

// What the open window has allocated, freed since or not, by place; empty once it has ended.
inline snapshot allocated_in(const scope& window) {
    check_request asked;
    asked.kind = check_kind::allocated_rows;
    scope_reader::describe(window, asked);
    if (asked.window == 0) return snapshot{};
    return ask_engine(scope_reader::engine_of(window), asked).rows();
}

// Saves the evidence of a check that somebody else has made: saved_to() of the result, or its
// message, which ends with why not.
inline check_result save_evidence_of(const snapshot& rows, const char* name, const char* headline) {
    check_request asked;
    asked.kind = check_kind::judged;
    asked.rows = &rows;
    asked.name = name;
    asked.headline = headline;
    return ask_engine(usable_engine(), asked);
}

}  // namespace detail

inline check_result check(const scope& window, const allocation_budget& budget) {
    return detail::check_budget(window, detail::checked_limits(budget), detail::after_stats::go_on);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP

// allocations_of.hpp - what a piece of code allocates each time it runs.

#ifndef ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP
#define ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// The averages over all runs, rounded down; exact when there was one run.
struct run_counts : allocation_counts {
    std::uint64_t runs = 0;
    double average_allocations = 0;
    double average_bytes = 0;
    allocation_counts least;  // of the run with the fewest allocations
};

// Runs the work once to warm up, then `runs` times, and counts what this thread allocates in it.
// Exceptions of the work pass through. Throws std::invalid_argument when `runs` is less than 1, and
// when nothing is being recorded, which must not look like "allocates nothing" (-fno-exceptions:
// prints the message and aborts).
// Cost: some 150 ns a run, and what a window of counters adds to an allocation.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG run_counts allocations_of(Work&& work, detail::typed_number runs = 1);

// definitions

namespace detail {

inline options counting_this_thread() noexcept {
    options wanted;
    wanted.record = recording::counters;
    wanted.from = threads::current;
    return wanted;
}

class run_tally {
public:
    void add(const allocation_counts& run) noexcept {
        if (total_.runs == 0 || run.allocations < total_.least.allocations) total_.least = run;
        ++total_.runs;
        total_.allocations += run.allocations;
        total_.frees += run.frees;
        total_.bytes_allocated += run.bytes_allocated;
        total_.bytes_freed += run.bytes_freed;
        total_.peak_bytes += run.peak_bytes;
    }
    run_counts average() const noexcept {
        run_counts made = total_;
        made.average_allocations =
            static_cast<double>(total_.allocations) / static_cast<double>(total_.runs);
        made.average_bytes =
            static_cast<double>(total_.bytes_allocated) / static_cast<double>(total_.runs);
        made.allocations /= total_.runs;
        made.frees /= total_.runs;
        made.bytes_allocated /= total_.runs;
        made.bytes_freed /= total_.runs;
        made.peak_bytes /= total_.runs;
        return made;
    }

private:
    run_counts total_;
};

ALLOCSCOPE_EXCEPTIONS_TAG inline void require_engine() {
    const engine* found = find_engine();
    if (engine_refusal(found)[0] == '\0') return;
    char space[320] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: ");
    text.append(engine_refusal(found));
    refuse_options(space);
}

}  // namespace detail

template <class Work>
run_counts allocations_of(Work&& work, detail::typed_number runs) {
    if (runs.is_negative || runs.bits == 0) {
        detail::refuse_limit("allocations_of", "runs", " is ", runs, "; give 1 or more");
    }
    detail::require_engine();
    work();
    detail::run_tally tally;
    for (std::uint64_t i = 0; i < runs.bits; ++i) {
        const scope window{"allocations_of", detail::counting_this_thread()};
        work();
        tally.add(window.counts());
    }
    return tally.average();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP

// on_violation.hpp - what a guard does when its promise was broken.

#ifndef ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP
#define ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

#if defined(__clang__)
    #pragma clang diagnostic push
    #pragma clang diagnostic ignored "-Wweak-vtables"  // a header has no other place for a vtable
#endif

// A guard's promise was broken. It is a bad_alloc because a no_allocation_guard throws it out of
// operator new, which may throw nothing else.
class violation_error : public std::bad_alloc {
public:
    explicit violation_error(const check_result& found) noexcept : found_(found) {}
    const char* what() const noexcept override { return found_.message(); }
    const check_result& result() const noexcept { return found_; }

private:
    check_result found_;
};

#if defined(__clang__)
    #pragma clang diagnostic pop
#endif

class on_violation {
public:
    // Called once for each guard that is broken, with what it found. Must not throw. `context` is
    // what was given to call().
    using callback = void (*)(const check_result& found, void* context);

    static on_violation report() noexcept { return on_violation{action::report}; }  // to stderr
    static on_violation abort() noexcept { return on_violation{action::abort}; }    // report first
    static on_violation throw_error() noexcept { return on_violation{action::throw_error}; }
    static on_violation call(callback function, void* context = nullptr) noexcept {
        on_violation made{action::call};
        made.function_ = function;
        made.context_ = context;
        return made;
    }

    // For guards: does it, if the result has not passed. Throws nothing.
    void act_in_destructor(const check_result& found) const noexcept;
    // The same where an exception may leave (-fno-exceptions: prints the message and aborts).
    ALLOCSCOPE_EXCEPTIONS_TAG void act(const check_result& found) const;
    bool throws() const noexcept { return action_ == action::throw_error; }

private:
    enum class action { report, abort, throw_error, call };
    explicit on_violation(action wanted) noexcept : action_(wanted) {}

    action action_;
    callback function_ = nullptr;
    void* context_ = nullptr;
};

// definitions

namespace detail {

// write(2) under a name of its own: nobody who includes the library has to see <unistd.h>.
extern "C" long allocscope_write(int descriptor, const void* bytes,
                                 unsigned long length) __asm__("write");

// To stderr, in one piece if the kernel takes it so.
inline void print_line(const char* prefix, const char* text) noexcept {
    const char* const parts[] = {prefix, text, "\n"};
    for (const char* part : parts) {
        std::size_t length = 0;
        while (part[length] != '\0') ++length;
        while (length != 0) {
            const long written = allocscope_write(2, part, length);
            if (written <= 0) return;  // nobody is there to be told
            part += written;
            length -= static_cast<std::size_t>(written);
        }
    }
}

}  // namespace detail

inline void on_violation::act_in_destructor(const check_result& found) const noexcept {
    if (found.passed()) return;
    if (action_ == action::call && function_ != nullptr) return function_(found, context_);
    detail::print_line("allocscope: ", found.message());
    if (action_ == action::abort) __builtin_abort();
}

inline void on_violation::act(const check_result& found) const {
    if (found.passed()) return;
    if (action_ != action::throw_error) return act_in_destructor(found);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    detail::print_line("allocscope: ", found.message());
    __builtin_abort();
#else
    throw violation_error{found};
#endif
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP

// budget_guard.hpp - a block that must keep to an allocation_budget.

#ifndef ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP
#define ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

class budget_guard {
public:
    // `wanted` says whose allocations count: every thread's unless from = threads::current.
    // Throws std::invalid_argument as check() and scope do.
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG budget_guard(
        const char* name, const allocation_budget& budget,
        on_violation wanted_action = on_violation::report(), const options& wanted = {})
        : limits_(detail::checked_limits(budget)), action_(wanted_action), window_(name, wanted) {}
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit budget_guard(
        const allocation_budget& budget, on_violation wanted_action = on_violation::report(),
        const options& wanted = {})
        : budget_guard("budget", budget, wanted_action, wanted) {}

    // As finish(), unless that was called. Throws nothing, also with throw_error().
    ~budget_guard() {
        if (!is_finished_) action_.act_in_destructor(judge(detail::after_stats::end));
    }
    budget_guard(const budget_guard&) = delete;
    budget_guard& operator=(const budget_guard&) = delete;

    // How it stands now; the action is not taken and the block goes on.
    check_result check() const {
        return is_finished_ ? check_result{} : judge(detail::after_stats::go_on);
    }

    // Ends the block: the action is taken if the budget was broken. Once; later calls return an
    // empty result that has not passed.
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish() {
        if (is_finished_) return check_result{};
        is_finished_ = true;
        check_result found = judge(detail::after_stats::end);
        detail::scope_reader::end(window_, found.counts());
        action_.act(found);
        return found;
    }

    allocation_counts counts() const noexcept { return window_.counts(); }

private:
    check_result judge(detail::after_stats then) const {
        return detail::check_budget(window_, limits_, then);
    }

    detail::check_limits limits_;
    on_violation action_;
    scope window_;
    bool is_finished_ = false;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP

// watch_requests.hpp - what guards and injected faults hand to the engine.

#ifndef ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP
#define ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- a guard: this thread must not allocate ---

// What a guard is told about an event.
struct watched_event {
    bool is_free;
    std::uint64_t bytes;
    const std::uintptr_t* frames;  // return addresses, innermost first
    std::uint32_t frame_count;
};

struct guard_watch {
    // Filled by measure/.
    const char* name = "";  // used only while the guard is armed
    bool watches_frees = false;
    void* context = nullptr;  // of the two below
    // Called at the first violation, outside of any lock, with a result that the guard keeps. It
    // may allocate; that is no violation. True: `raise` is to be called as well.
    bool (*tell)(guard_watch& broken, check_data& found) = nullptr;
    // Throws. Never called for a free or in a nothrow operator's place.
    void (*raise)(guard_watch& broken) = nullptr;

    // The engine's.
    bool (*violated)(guard_watch& broken, const watched_event& event) = nullptr;
    guard_watch* outer = nullptr;
    check_data* found = nullptr;  // one reference
    window_id window = 0;         // keeps the gate open; its numbers are the guard's
    std::uint64_t instance = 0;   // of the thread
    std::uint32_t allow_depth = 0;
    bool is_broken = false;
};

// --- a plan: which allocations fail ---

enum class fault_kind : std::uint32_t {
    nth,          // `times` of them from the `number`th on
    after_bytes,  // whatever would go beyond `number` bytes
    random        // with the probability number / 2^64
};

struct fault_plan {
    fault_kind kind = fault_kind::nth;
    threads from = threads::current;
    std::uint64_t number = 0;
    std::uint64_t times = 1;
    std::uint64_t seed = 0;
};

// Names an armed plan. 0 is none.
using plan_id = std::uint32_t;

struct plan_state {
    std::uint64_t seen = 0;
    std::uint64_t failed = 0;
};

constexpr std::uint32_t most_fault_frames = 32;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP

// fail_allocation.hpp - makes allocations fail on purpose, to see how the program takes it.

#ifndef ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP
#define ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct fault_reader;
}  // namespace detail

// What the kinds below have in common. Their constructors throw std::invalid_argument when a number
// makes no sense, when 16 are alive already, and when operator new is not replaced, so that nothing
// could fail (-fno-exceptions: prints the message and aborts).
class injected_fault {
public:
    std::uint64_t seen() const noexcept { return engine_->state_of_plan(plan_).seen; }
    std::uint64_t failed() const noexcept { return engine_->state_of_plan(plan_).failed; }

    injected_fault(const injected_fault&) = delete;
    injected_fault& operator=(const injected_fault&) = delete;

protected:
    ALLOCSCOPE_EXCEPTIONS_TAG explicit injected_fault(const detail::fault_plan& plan);
    ~injected_fault() { engine_->disarm_plan(plan_); }

private:
    friend struct detail::fault_reader;

    const detail::engine* engine_;
    detail::plan_id plan_;
};

// The nth allocation from now on fails, counted from 1, and the `times - 1` after it.
class fail_allocation : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_allocation(
        detail::typed_number nth, detail::typed_number times = 1, threads from = threads::current);
};

// Whatever would go beyond so many bytes fails. What is freed is not given back: it is the sum of
// all requests.
class fail_after_bytes : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_after_bytes(
        detail::typed_number bytes, threads from = threads::current);
};

// Each allocation fails with this probability (0 to 1). The same seed makes the same allocations
// fail again, as long as one thread makes them in the same order.
class fail_randomly : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG fail_randomly(double probability, std::uint64_t seed,
                                                          threads from = threads::current);
};

// definitions

namespace detail {

struct fault_reader {
    static plan_id plan_of(const injected_fault& fault) noexcept { return fault.plan_; }
};

ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t at_least_one(const char* owner, const char* field,
                                                            typed_number value) {
    if (value.is_negative || value.bits == 0) {
        refuse_limit(owner, field, " is ", value, "; it counts from 1");
    }
    return value.bits;
}

// 2^64 for 1, as the greatest number there is.
ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t checked_probability(double probability) {
    if (!(probability >= 0 && probability <= 1)) {
        char space[160] = {};
        fixed_text text{space, sizeof space - 1};
        text.append("allocscope: fail_randomly::probability is ");
        if (probability > -1e15 && probability < 1e15) {
            const auto thousandths = static_cast<std::int64_t>(probability * 1000);
            const std::int64_t whole = thousandths / 1000;
            const std::int64_t rest = thousandths % 1000;
            if (probability < 0 && whole == 0) text.append('-');
            text.append_signed(whole);
            text.append('.');
            const auto digits = static_cast<std::uint64_t>(rest < 0 ? -rest : rest);
            text.append_decimal(digits / 100);
            text.append_decimal(digits / 10 % 10);
            text.append_decimal(digits % 10);
        } else {
            text.append("no such number");
        }
        text.append("; it must be in 0..1");
        refuse_options(space);
    }
    constexpr double all = 18446744073709551616.0;
    return probability >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(probability * all);
}

inline fault_plan plan_for(fault_kind kind, std::uint64_t number, threads from) noexcept {
    fault_plan plan;
    plan.kind = kind;
    plan.number = number;
    plan.from = from;
    return plan;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline fault_plan nth_plan(typed_number nth, typed_number times,
                                                     threads from) {
    fault_plan plan = plan_for(fault_kind::nth, at_least_one("fail_allocation", "nth", nth), from);
    plan.times = at_least_one("fail_allocation", "times", times);
    return plan;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline fault_plan random_plan(double probability, std::uint64_t seed,
                                                        threads from) {
    fault_plan plan = plan_for(fault_kind::random, checked_probability(probability), from);
    plan.seed = seed;
    return plan;
}

}  // namespace detail

inline injected_fault::injected_fault(const detail::fault_plan& plan) {
    detail::require_engine();
    engine_ = detail::usable_engine();
    plan_ = engine_->arm_plan(plan);
    if (plan_ == 0) {
        detail::refuse_options(
            "allocscope: no more faults can be injected: 16 are alive already, or there is no"
            " memory; destroy some first");
    }
}

inline fail_allocation::fail_allocation(detail::typed_number nth, detail::typed_number times,
                                        threads from)
    : injected_fault(detail::nth_plan(nth, times, from)) {}

inline fail_after_bytes::fail_after_bytes(detail::typed_number bytes, threads from)
    : injected_fault(detail::plan_for(detail::fault_kind::after_bytes,
                                      detail::checked_count("fail_after_bytes", "bytes", bytes),
                                      from)) {}

inline fail_randomly::fail_randomly(double probability, std::uint64_t seed, threads from)
    : injected_fault(detail::random_plan(probability, seed, from)) {}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP

// leak_check.hpp - a window that must end with nothing of it alive.

#ifndef ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP
#define ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

struct leak_options {
    detail::typed_number objects = 0;  // how many may stay alive, beside those expected
    // How many must: for leaks that are known, so that the day they are gone is noticed.
    detail::typed_number least_objects = 0;
    // And how many bytes in them. With objects = 0 and bytes set, only the bytes count.
    detail::typed_number bytes = ~std::uint64_t{0};
    // Leaks that are none: lines of "leak:<pattern>"; blank lines and lines that begin with # are
    // comments. A pattern fits an object when it is part of the function, file or module of any
    // frame of its stack, or of its type; * stands for any text, ^ and $ for the ends. Must stay
    // valid until the check.
    const char* expected = "";
    // The same by a function of yours, asked for each stack that left something alive. It may run
    // on any thread that makes a check, under a lock: it must not use allocscope or throw.
    bool (*is_expected)(const leak_stack& stack, const void* context) = nullptr;
    const void* expected_context = nullptr;  // handed to it
    options window = {};                     // whose allocations, and how deep the stacks are
    detail::typed_number warm_up_runs = 1;   // repeat(): runs before the first that counts
    // For the adapters of test frameworks: every test is judged as only_repeated_leaks() says.
    bool only_repeated_leaks = false;
};

namespace detail {

// The leaks that are none, as the engine is asked about them.
struct expected_leaks {
    using question = bool (*)(const leak_stack& stack, const void* context);

    question test = nullptr;
    // Asked first, with function names only, as the symbol tables have them: no file, line or type
    // is known then, and code that the compiler inlined is in the function around it. What gets a
    // no is asked again with all names. A framework's own stacks are in every test, and a yes here
    // spares the process the 30 ms of reading its debug information.
    question test_by_symbols = nullptr;
    const void* context = nullptr;  // handed to both
    const char* lines = "";
};

}  // namespace detail

class leak_check {
public:
    // Starts. Throws std::invalid_argument when a tolerance is negative, a line of `expected` is
    // not understood, or the window's options are out of range (-fno-exceptions: prints it and
    // aborts).
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_check(
        const char* name = "leak check", const leak_options& wanted = {},
        const detail::expected_leaks& own = {});
    leak_check(const leak_check&) = delete;
    leak_check& operator=(const leak_check&) = delete;

    // What is alive now; the window stays open. After finish(), an empty result.
    check_result check() const { return judge(detail::after_stats::go_on); }
    // Ends the window. Once; later calls return an empty result that has not passed.
    check_result finish();
    // The same, but judged by these instead of by what the constructor was given; `window` and
    // `warm_up_runs` mean nothing here. For what is known only when the work has been done.
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish(const leak_options& instead);

    allocation_counts counts() const noexcept { return window_.counts(); }

    // Runs the work warm_up_runs times, then `runs` times (2 at least: one run cannot tell a cache
    // from a leak), and fails if every one of those left more alive than the one before it.
    // Exceptions of the work pass through. Throws std::invalid_argument as the constructor.
    template <class Work>
    static check_result repeat(detail::typed_number runs, Work&& work,
                               const leak_options& wanted = {}, const char* name = "leak check");

private:
    detail::check_request request(detail::check_kind kind, detail::after_stats then) const noexcept;
    void expect(const leak_options& wanted) noexcept;
    check_result judge(detail::after_stats then) const;
    check_result end_with(const detail::check_request& asked);
    friend class leak_repetition;

    detail::check_limits limits_;
    detail::expected_leaks expected_;
    scope window_;
    bool is_finished_ = false;
};

// The arithmetic of repeat(), for those who drive the loop themselves (as test frameworks do):
// warm up, construct, and call end_of_run() after each run.
class leak_repetition {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_repetition(
        const char* name = "leak check", const leak_options& wanted = {},
        const detail::expected_leaks& own = {})
        : leaks_(name, wanted, own) {}
    void end_of_run();
    check_result finish();

private:
    leak_check leaks_;
    std::uint64_t runs_ = 0;
    std::int64_t objects_before_ = 0;
    std::int64_t bytes_before_ = 0;
    std::int64_t least_objects_ = 0;
    std::int64_t least_bytes_ = 0;
    check_result refusal_;  // of a run that could not be judged
    bool is_refused_ = false;
};

// A leak_check that acts when the block ends.
class leak_guard {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_guard(
        const char* name = "leak guard", on_violation wanted_action = on_violation::report(),
        const leak_options& wanted = {})
        : leaks_(name, wanted), action_(wanted_action) {}
    // As finish(), unless that was called. Throws nothing, also with throw_error().
    ~leak_guard() {
        if (!is_finished_) action_.act_in_destructor(leaks_.finish());
    }
    leak_guard(const leak_guard&) = delete;
    leak_guard& operator=(const leak_guard&) = delete;

    check_result check() const { return leaks_.check(); }
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish() {
        is_finished_ = true;
        check_result found = leaks_.finish();
        action_.act(found);
        return found;
    }

private:
    leak_check leaks_;
    on_violation action_;
    bool is_finished_ = false;
};

// definitions

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_expected(const char* lines) {
    const engine* used = usable_engine();
    if (used == nullptr || lines[0] == '\0') return;
    char message[256] = {};
    if (!used->check_expected_leaks(lines, message, sizeof message)) refuse_options(message);
}

// Refuses what cannot be meant, the patterns included.
ALLOCSCOPE_EXCEPTIONS_TAG inline check_limits checked_tolerance(const leak_options& wanted) {
    check_limits limits;
    limits.live_objects.least =
        checked_count("leak_options", "least_objects", wanted.least_objects);
    limits.live_objects.most = checked_count("leak_options", "objects", wanted.objects);
    limits.live_bytes.most = checked_count("leak_options", "bytes", wanted.bytes);
    if (limits.live_objects.most == 0 && limits.live_bytes.most != ~std::uint64_t{0}) {
        limits.live_objects.most = ~std::uint64_t{0};
    }
    if (limits.live_objects.least > limits.live_objects.most) {
        refuse_limit("leak_options", "least_objects", " is ", wanted.least_objects,
                     ", which is more than `objects`, the most; exchange the two numbers");
    }
    check_expected(wanted.expected);
    return limits;
}

}  // namespace detail

inline leak_check::leak_check(const char* name, const leak_options& wanted,
                              const detail::expected_leaks& own)
    : limits_(detail::checked_tolerance(wanted)), expected_(own), window_(name, wanted.window) {
    expect(wanted);
}

inline void leak_check::expect(const leak_options& wanted) noexcept {
    expected_.lines = wanted.expected;
    if (expected_.test_by_symbols != nullptr) return;  // a framework's, which asks the user's too
    expected_.test = wanted.is_expected;
    expected_.context = wanted.expected_context;
}

inline detail::check_request leak_check::request(detail::check_kind kind,
                                                 detail::after_stats then) const noexcept {
    detail::check_request asked;
    asked.kind = kind;
    asked.then = then;
    asked.limits = limits_;
    asked.expected = expected_.lines;
    asked.is_expected = expected_.test;
    asked.is_expected_by_symbols = expected_.test_by_symbols;
    asked.expected_context = expected_.context;
    detail::scope_reader::describe(window_, asked);
    return asked;
}

inline check_result leak_check::judge(detail::after_stats then) const {
    if (is_finished_) return check_result{};
    return detail::ask_engine(detail::scope_reader::engine_of(window_),
                              request(detail::check_kind::leaks, then));
}

inline check_result leak_check::end_with(const detail::check_request& asked) {
    const check_result found = detail::ask_engine(detail::scope_reader::engine_of(window_), asked);
    is_finished_ = true;
    detail::scope_reader::end(window_, found.counts());
    return found;
}

inline check_result leak_check::finish() {
    if (is_finished_) return check_result{};
    return end_with(request(detail::check_kind::leaks, detail::after_stats::end));
}

inline check_result leak_check::finish(const leak_options& instead) {
    limits_ = detail::checked_tolerance(instead);
    expect(instead);
    return finish();
}

inline void leak_repetition::end_of_run() {
    const check_result now = detail::ask_engine(  // counts only
        detail::scope_reader::engine_of(leaks_.window_),
        leaks_.request(detail::check_kind::repeated_leaks, detail::after_stats::go_on));
    if (!now.passed()) {
        is_refused_ = true;
        refusal_ = now;
    }
    const auto objects = static_cast<std::int64_t>(now.data().unexpected_objects);
    const auto bytes = static_cast<std::int64_t>(now.data().unexpected_bytes);
    const std::int64_t added_objects = objects - objects_before_;
    const std::int64_t added_bytes = bytes - bytes_before_;
    if (runs_ == 0 || added_objects < least_objects_) least_objects_ = added_objects;
    if (runs_ == 0 || added_bytes < least_bytes_) least_bytes_ = added_bytes;
    objects_before_ = objects;
    bytes_before_ = bytes;
    ++runs_;
}

inline check_result leak_repetition::finish() {
    if (is_refused_) return refusal_;
    if (runs_ == 0 || leaks_.is_finished_) return check_result{};
    detail::check_request asked =
        leaks_.request(detail::check_kind::repeated_leaks, detail::after_stats::end);
    asked.runs = runs_;
    asked.added_objects = least_objects_ > 0 ? static_cast<std::uint64_t>(least_objects_) : 0;
    asked.added_bytes = least_bytes_ > 0 ? static_cast<std::uint64_t>(least_bytes_) : 0;
    return leaks_.end_with(asked);
}

template <class Work>
check_result leak_check::repeat(detail::typed_number runs, Work&& work, const leak_options& wanted,
                                const char* name) {
    const std::uint64_t count = detail::checked_count("leak_check", "repeat runs", runs);
    if (count < 2) {
        detail::refuse_limit("leak_check", "repeat", " has a number of runs of ", runs,
                             "; it needs 2 or more to tell a cache from a leak");
    }
    const std::uint64_t warm_up =
        detail::checked_count("leak_options", "warm_up_runs", wanted.warm_up_runs);
    for (std::uint64_t i = 0; i < warm_up; ++i) work();
    leak_repetition repetition{name, wanted};
    for (std::uint64_t i = 0; i < count; ++i) {
        work();
        repetition.end_of_run();
    }
    return repetition.finish();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP

// fault_run.hpp - what became of a piece of code when one of its allocations failed.

#ifndef ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP
#define ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// How a run of the code ended.
enum class fault_outcome : std::uint32_t {
    returned,         // it coped without the memory, or none of its allocations failed
    threw_bad_alloc,  // or what derives from it
    threw_other       // which is wrong: callers are prepared for bad_alloc
};

struct fault_run {
    std::uint64_t nth;  // which allocation failed, from 1; 0: none did, it was the last run
    fault_outcome outcome;
    std::uint64_t leaked_objects;  // alive afterwards
    std::uint64_t leaked_bytes;
    const char* site;    // of the failed allocation, as file:line; "" when unknown
    const char* detail;  // what() of another exception

    bool is_good() const noexcept {
        return outcome != fault_outcome::threw_other && leaked_objects == 0;
    }
};

namespace detail {

struct sweep_request {
    plan_id plan;
    window_id window;
    std::uint64_t nth;
    fault_outcome outcome;
    const char* detail;
    const char* expected;
};

struct sweep_data {
    std::uint32_t references;
    void (*release)(sweep_data*);
    const fault_run* runs;
    std::size_t run_count;
    std::uint64_t bad_runs;
    check_data* verdict;  // one reference; null until the sweep has ended
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP

// for_each_allocation_failing.hpp - runs code once for each allocation it makes, failing that one.

#ifndef ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP
#define ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

struct sweep_options {
    const char* name = "fault sweep";        // stands in the message
    threads from = threads::current;         // whose allocations fail and must not leak
    detail::typed_number warm_up_runs = 1;   // before the first: what is made once is no leak
    detail::typed_number most_runs = 10000;  // more allocations than that: the sweep fails
    const char* expected = "";               // leaks that are none, as in leak_options
};

// What became of the code. Copying shares it.
class fault_sweep {
public:
    // All runs were good, and every allocation had its turn.
    bool passed() const noexcept { return result_.passed(); }
    explicit operator bool() const noexcept { return passed(); }
    const char* message() const noexcept { return result_.message(); }
    const check_result& result() const noexcept { return result_; }

    // Every run, in order. The last one is that in which nothing failed.
    std::size_t size() const noexcept { return data_ != nullptr ? data_->run_count : 0; }
    const fault_run* begin() const noexcept { return data_ != nullptr ? data_->runs : nullptr; }
    const fault_run* end() const noexcept { return begin() + size(); }
    const fault_run& operator[](std::size_t index) const noexcept { return begin()[index]; }

    fault_sweep(const fault_sweep& other) noexcept : data_(other.data_), result_(other.result_) {
        if (data_ != nullptr) __atomic_add_fetch(&data_->references, 1U, __ATOMIC_RELAXED);
    }
    fault_sweep& operator=(const fault_sweep& other) noexcept {
        fault_sweep copy{other};
        detail::sweep_data* mine = data_;
        data_ = copy.data_;
        copy.data_ = mine;
        result_ = other.result_;
        return *this;
    }
    ~fault_sweep() {
        if (data_ == nullptr) return;
        if (__atomic_sub_fetch(&data_->references, 1U, __ATOMIC_ACQ_REL) == 0) {
            data_->release(data_);
        }
    }

    // For measure/: takes over one reference of an ended sweep.
    explicit fault_sweep(detail::sweep_data* ended) noexcept;
    explicit fault_sweep(const check_result& refusal) noexcept : data_(nullptr), result_(refusal) {}

private:
    detail::sweep_data* data_;  // null: there was no sweep, and the result says why
    check_result result_;
};

// Throws std::invalid_argument when an option makes no sense (-fno-exceptions: prints the message
// and aborts). Exceptions of a warm-up run pass through; those of the other runs are part of the
// result. Compiled with -fno-exceptions, what comes out of the work is not caught.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG fault_sweep for_each_allocation_failing(Work&& work,
                                                                  const sweep_options& wanted = {});

// definitions

inline fault_sweep::fault_sweep(detail::sweep_data* ended) noexcept : data_(ended) {
    detail::hold_check(ended->verdict);
    result_ = check_result{ended->verdict};
}

namespace detail {

inline void copy_text(char* to, std::size_t room, const char* from) noexcept {
    std::size_t i = 0;
    for (; from[i] != '\0' && i + 1 < room; ++i) to[i] = from[i];
    to[i] = '\0';
}

template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG fault_outcome outcome_of(Work& work, char (&what)[256]) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    static_cast<void>(what);
    work();
    return fault_outcome::returned;
#else
    try {
        work();
        return fault_outcome::returned;
    } catch (const std::bad_alloc&) {
        return fault_outcome::threw_bad_alloc;
    } catch (const std::exception& other) {
        copy_text(what, sizeof what, other.what());
    } catch (...) {  // of a type that cannot be asked; the run is told as bad
    }
    return fault_outcome::threw_other;
#endif
}

enum class sweep_step { go_on, was_last, gave_up };

// One run. The last is the first in which no allocation fails.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG sweep_step run_failing(const engine& used, sweep_data* sweep, Work& work,
                                                 std::uint64_t nth, const sweep_options& wanted) {
    options window_options;
    window_options.from = wanted.from;
    const scope window{wanted.name, window_options};
    char what[256] = {};
    const fail_allocation fault{nth, 1, wanted.from};
    sweep_request asked{};
    asked.outcome = outcome_of(work, what);
    check_request about_window;
    scope_reader::describe(window, about_window);
    asked.plan = fault_reader::plan_of(fault);
    asked.window = about_window.window;
    asked.nth = nth;
    asked.detail = what;
    asked.expected = wanted.expected;
    const bool has_failed = fault.failed() != 0;
    if (asked.window == 0 || !used.add_sweep_run(sweep, asked)) return sweep_step::gave_up;
    return has_failed ? sweep_step::go_on : sweep_step::was_last;
}

}  // namespace detail

template <class Work>
fault_sweep for_each_allocation_failing(Work&& work, const sweep_options& wanted) {
    const std::uint64_t warm_up =
        detail::checked_count("sweep_options", "warm_up_runs", wanted.warm_up_runs);
    const std::uint64_t most = detail::at_least_one("sweep_options", "most_runs", wanted.most_runs);
    detail::check_expected(wanted.expected);
    const detail::engine* used = detail::usable_engine();
    if (used == nullptr) {
        return fault_sweep{check_result{detail::refused_check(detail::find_engine())}};
    }
    for (std::uint64_t i = 0; i < warm_up; ++i) work();
    detail::sweep_data* sweep = used->begin_sweep(wanted.name);
    if (sweep == nullptr) {
        return fault_sweep{check_result{detail::shared_check(detail::check_without_memory)}};
    }
    detail::sweep_step last = detail::sweep_step::go_on;
    for (std::uint64_t nth = 1; nth <= most && last == detail::sweep_step::go_on; ++nth) {
        last = detail::run_failing(*used, sweep, work, nth, wanted);
    }
    used->end_sweep(sweep, last != detail::sweep_step::was_last);
    return fault_sweep{sweep};
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP

// library_frames.hpp - declares code of yours to be library code: rows are named after its callers.

#ifndef ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP
#define ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// Holds for every snapshot taken from now on, in the whole process. The same pattern again changes
// nothing. Throws std::invalid_argument when the pattern is null, empty, longer than 255
// characters, fits everything, or is the 65th (-fno-exceptions: prints the message and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG void library_frames(const char* pattern);

// definitions

inline void library_frames(const char* pattern) {
    const detail::engine* engine = detail::find_engine();
    if (detail::engine_refusal(engine)[0] != '\0') return;  // no snapshot will have rows
    const char* refusal = engine->library_frames(pattern);
    if (refusal[0] != '\0') detail::refuse_options(refusal);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP

// no_allocation_guard.hpp - a block in which this thread must not allocate.

#ifndef ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP
#define ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

enum class forbidden : std::uint32_t {
    allocations,
    allocations_and_frees  // free() may take a lock too
};

class no_allocation_guard {
public:
    // on_violation::throw_error() throws violation_error out of operator new; a nothrow operator
    // then returns null. What cannot throw (a free; hooks compiled with -fno-exceptions) is kept
    // for finish().
    [[nodiscard]] explicit no_allocation_guard(const char* name = "no allocations",
                                               on_violation wanted_action = on_violation::report(),
                                               forbidden what = forbidden::allocations);
    [[nodiscard]] explicit no_allocation_guard(on_violation wanted_action,
                                               forbidden what = forbidden::allocations)
        : no_allocation_guard("no allocations", wanted_action, what) {}
    [[nodiscard]] no_allocation_guard(const char* name, forbidden what)
        : no_allocation_guard(name, on_violation::report(), what) {}

    // Without the hooks nothing can be watched: the action is taken with a result that says so.
    // A guard with throw_error() that was broken reports, unless finish() was called or the
    // exception has not been handled yet.
    ~no_allocation_guard();
    no_allocation_guard(const no_allocation_guard&) = delete;
    no_allocation_guard& operator=(const no_allocation_guard&) = delete;

    // How it stands. The counts are those of this thread since the guard began, with what was
    // allowed; of a broken guard, at the violation.
    check_result check();

    // Ends the guard. Once; later calls return an empty result that has not passed. Throws
    // violation_error when it was broken and the action is throw_error(), also if that was thrown
    // before (-fno-exceptions: prints the message and aborts).
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish();

private:
    static bool tell(detail::guard_watch& broken, detail::check_data& found);
    static void raise(detail::guard_watch& broken);
    check_result look(bool ends);

    detail::guard_watch watch_;
    on_violation action_;
    const detail::engine* engine_;
    bool is_armed_ = false;
    bool is_finished_ = false;
};

// What this thread allocates and frees while one lives breaks none of the guards around it. It is
// still counted by windows. Nests. A guard inside it watches again.
class allow_allocations {
public:
    [[nodiscard]] allow_allocations() noexcept : engine_(detail::usable_engine()) {
        if (engine_ != nullptr) engine_->allow(+1);
    }
    ~allow_allocations() {
        if (engine_ != nullptr) engine_->allow(-1);
    }
    allow_allocations(const allow_allocations&) = delete;
    allow_allocations& operator=(const allow_allocations&) = delete;

private:
    const detail::engine* engine_;
};

// definitions

inline no_allocation_guard::no_allocation_guard(const char* name, on_violation wanted_action,
                                                forbidden what)
    : action_(wanted_action), engine_(detail::usable_engine()) {
    watch_.name = name;
    watch_.watches_frees = what == forbidden::allocations_and_frees;
    watch_.context = this;
    watch_.tell = &tell;
    watch_.raise = &raise;
    if (engine_ != nullptr) is_armed_ = engine_->arm_guard(watch_);
}

inline bool no_allocation_guard::tell(detail::guard_watch& broken, detail::check_data& found) {
    const auto& guard = *static_cast<no_allocation_guard*>(broken.context);
    if (guard.action_.throws()) return true;
    detail::hold_check(&found);
    guard.action_.act_in_destructor(check_result{&found});
    return false;
}

inline void no_allocation_guard::raise(detail::guard_watch& broken) {
    detail::hold_check(broken.found);
    static_cast<no_allocation_guard*>(broken.context)->action_.act(check_result{broken.found});
}

inline check_result no_allocation_guard::look(bool ends) {
    if (engine_ == nullptr) return check_result{detail::refused_check(detail::find_engine())};
    if (!is_armed_) return check_result{detail::shared_check(detail::check_without_window)};
    return detail::result_of(engine_->look_at_guard(watch_, ends));
}

inline no_allocation_guard::~no_allocation_guard() {
    if (is_finished_) return;
    const bool was_told = is_armed_ && watch_.is_broken && !action_.throws();
    // What was thrown and is still on its way holds the result, and tells it.
    const bool is_on_its_way =
        watch_.found != nullptr && __atomic_load_n(&watch_.found->references, __ATOMIC_RELAXED) > 1;
    const check_result found = look(true);
    if (!was_told && !is_on_its_way) action_.act_in_destructor(found);
}

inline check_result no_allocation_guard::check() {
    return is_finished_ ? check_result{} : look(false);
}

inline check_result no_allocation_guard::finish() {
    if (is_finished_) return check_result{};
    is_finished_ = true;
    const bool was_told = is_armed_ && watch_.is_broken && !action_.throws();
    check_result found = look(true);
    if (!was_told) action_.act(found);
    return found;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP

// few_samples.hpp - when the reader of a sampled window must be told how little is known.

#ifndef ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP
#define ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// From how many samples on a row is not called "few": with ten equal samples the truth lies between
// 0.54 and 1.84 times the estimate. One sample more or less matters little from there on.
constexpr std::uint64_t enough_samples = 10;

// Few samples, and an interval wider than half the number and than one object. (The weight of a
// sample that is larger than several means is known almost exactly: then one sample is enough.)
inline bool has_few_samples(const snapshot::row& row, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(row.objects) < 0;
    const std::uint64_t size = is_negative ? std::uint64_t{0} - row.objects : row.objects;
    const std::uint64_t width = row.objects_high - row.objects_low;
    return row.samples != 0 && row.samples < enough_samples && width > 1 && width > size / 2;
}

// A sampled window in which objects may be alive, and none of them was met by a sample. (With a
// sample in every byte they all are.)
inline bool is_all_unsampled(const snapshot& rows) noexcept {
    const snapshot::window_info& info = rows.info();
    return info.record == recording::sampled && rows.empty() && !info.is_difference &&
           info.not_recording[0] == '\0' && info.estimates.live_bytes.high != 0;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP

// print_rows.hpp - a snapshot on a stream: one line for each row, and nothing that hides a loss.

#ifndef ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP
#define ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t row_number_width = 7;

// Collects a line in a small buffer and hands it to the stream in as few pieces as possible.
// `Stream` needs write(const char*, integer).
template <class Stream>
class line_writer {
public:
    explicit line_writer(Stream& stream) noexcept : stream_(stream), text_(space_, sizeof space_) {}
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;

    void number(std::uint64_t value, bool is_signed, std::size_t width, char mark) {
        make_room();
        if (is_signed) {
            text_.append_signed(static_cast<std::int64_t>(value), width, mark);
        } else {
            text_.append_decimal(value, width, mark);
        }
    }

    void hexadecimal(std::uint64_t value) {
        make_room();
        text_.append("0x");
        text_.append_hexadecimal(value);
    }

    // Bytes that could do harm on a terminal are escaped; a null pointer is an unknown name.
    void name(const char* text) {
        if (text == nullptr) text = "?";
        while (*text != '\0') {
            make_room();
            text += text_.append_printable(text);
        }
    }

    void byte(char value) {
        make_room();
        text_.append(value);
    }

    void end_line() {
        byte('\n');
        flush();
    }

private:
    // The longest single piece is a number in its column.
    void make_room() {
        if (text_.room() < 32) flush();
    }

    void flush() {
        stream_.write(text_.data(), static_cast<std::ptrdiff_t>(text_.size()));
        text_.clear();
    }

    Stream& stream_;
    char space_[256];
    fixed_text text_;
};

// What an estimate stands on: "  (4 samples: few; 95%: 797..5268)".
template <class Writer>
void print_support(Writer& line, const snapshot::row& row, const snapshot::window_info& info) {
    line.name("  (");
    line.number(row.samples, false, 0, '\0');
    line.name(row.samples == 1 ? " sample" : " samples");
    if (has_few_samples(row, info.is_difference)) line.name(": few");
    line.name("; 95%: ");
    line.number(row.objects_low, info.is_difference, 0, '\0');
    line.name("..");
    line.number(row.objects_high, info.is_difference, 0, '\0');
    line.byte(')');
}

template <class Writer>
void print_row(Writer& line, const snapshot::row& row, const snapshot::window_info& info) {
    const char mark = info.record == recording::sampled ? '~' : '\0';
    line.number(row.objects, info.is_difference, row_number_width, mark);
    line.byte(' ');
    line.name(row.file != nullptr && row.file[0] != '\0' ? row.file : "?");
    if (row.line != 0) {
        line.byte(':');
        line.number(static_cast<std::uint64_t>(row.line), true, 0, '\0');
    } else {
        line.byte('+');
        line.hexadecimal(row.offset);
    }
    line.byte(':');
    line.name(row.type);
    if (info.record == recording::sampled) print_support(line, row, info);
    line.end_line();
}

template <class Writer>
void print_remark(Writer& line, const char* sentence) {
    line.name("allocscope: ");
    line.name(sentence);
    line.end_line();
}

// What is alive as it was counted, where there are no rows.
template <class Writer>
void print_alive(Writer& line, const snapshot::window_info& info, const char* more = "") {
    const char mark = info.record == recording::sampled ? '~' : '\0';
    const std::uint64_t objects = info.totals.live_objects();
    const std::uint64_t bytes = info.totals.live_bytes();
    line.name("allocscope: ");
    line.number(objects, info.is_difference, 0, mark);
    line.name(objects == 1 ? " object with " : " objects with ");
    line.number(bytes, info.is_difference, 0, mark);
    line.name(bytes == 1 ? " byte " : " bytes ");
    line.name(objects == 1 ? "is alive" : "are alive");
    line.name(more);
    line.end_line();
}

// Nothing that is alive was sampled: that is not the same as nothing is alive.
template <class Writer>
void print_unsampled(Writer& line, const snapshot::window_info& info) {
    line.name("allocscope: no sample is alive: up to ");
    line.number(info.estimates.live_bytes.high, false, 0, '\0');
    line.name(" bytes may be alive (95%)");
    line.end_line();
}

}  // namespace detail

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const snapshot& rows) {
    detail::line_writer<std::basic_ostream<char, Traits>> line{stream};
    const snapshot::window_info& info = rows.info();
    stream.width(0);
    if (info.not_recording[0] != '\0') {
        detail::print_remark(line, info.not_recording);
        const bool is_told_below =
            info.record == recording::counters && info.totals.live_objects() != 0;
        if (rows.empty() && detail::has_totals(info) && !is_told_below) {
            detail::print_alive(line, info);
        }
    }
    for (const snapshot::row& row : rows) detail::print_row(line, row, info);
    if (info.record == recording::counters && rows.empty() && info.totals.live_objects() != 0) {
        // Without this line the leaks of such a window would print nothing.
        detail::print_alive(line, info, "; a window that records counters only has no rows");
    }
    if (detail::is_all_unsampled(rows)) detail::print_unsampled(line, info);
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        line.name("allocscope: ");
        line.number(info.losses[i].count, false, 0, '\0');
        line.byte(' ');
        line.name(info.losses[i].reason);
        line.end_line();
    }
    return stream;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_PRINT_ROWS_HPP

// allocscope.hpp - the everyday door: windows, counts, and what is still alive.

#ifndef ALLOCSCOPE_ALLOCSCOPE_HPP
#define ALLOCSCOPE_ALLOCSCOPE_HPP

#endif  // ALLOCSCOPE_ALLOCSCOPE_HPP

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// compiler.hpp - what we ask of the compiler beyond the language.

#ifndef ALLOCSCOPE_BASE_COMPILER_HPP
#define ALLOCSCOPE_BASE_COMPILER_HPP

#if !defined(__linux__) || !defined(__x86_64__)
    #error "allocscope runs on Linux x86_64 only"
#endif
#if !defined(__GNUC__)
    #error "allocscope needs g++ or clang++"
#endif

#define ALLOCSCOPE_HIDDEN __attribute__((visibility("hidden")))
#define ALLOCSCOPE_FAST_PATH __attribute__((always_inline, visibility("hidden"))) inline
#define ALLOCSCOPE_SLOW_PATH __attribute__((noinline, cold, visibility("hidden"))) inline
#define ALLOCSCOPE_NOINLINE __attribute__((noinline, visibility("hidden"))) inline
#define ALLOCSCOPE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ALLOCSCOPE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ALLOCSCOPE_CONSTANT_INITIALISED: an error when the variable would be initialised at run time.
#if defined(__clang__)
    #define ALLOCSCOPE_CONSTANT_INITIALISED __attribute__((require_constant_initialization))
#else
    #define ALLOCSCOPE_CONSTANT_INITIALISED __constinit
#endif

#if defined(__clang__)
    #define ALLOCSCOPE_COLD_BEGIN _Pragma("clang optimize off") ALLOCSCOPE_NAMESPACE_BEGIN
    #define ALLOCSCOPE_COLD_END ALLOCSCOPE_NAMESPACE_END _Pragma("clang optimize on")
    #define ALLOCSCOPE_WARM_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
    #define ALLOCSCOPE_WARM_END ALLOCSCOPE_NAMESPACE_END
#else
    #define ALLOCSCOPE_COLD_BEGIN \
        _Pragma("GCC push_options") _Pragma("GCC optimize(\"O0\")") ALLOCSCOPE_NAMESPACE_BEGIN
    #define ALLOCSCOPE_COLD_END ALLOCSCOPE_NAMESPACE_END _Pragma("GCC pop_options")
    #if defined(__OPTIMIZE__)
        #define ALLOCSCOPE_WARM_BEGIN                                                   \
            _Pragma("GCC push_options") _Pragma("GCC optimize(\"O1,no-var-tracking\")") \
                ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_WARM_END ALLOCSCOPE_NAMESPACE_END _Pragma("GCC pop_options")
    #else
        #define ALLOCSCOPE_WARM_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_WARM_END ALLOCSCOPE_NAMESPACE_END
    #endif
#endif

#if defined(__SANITIZE_ADDRESS__)
    #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 1
#elif defined(__has_feature)
    #if __has_feature(address_sanitizer)
        #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 1
    #endif
#endif
#if defined(__SANITIZE_THREAD__)
    #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 1
#elif defined(__has_feature)
    #if __has_feature(thread_sanitizer)
        #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 1
    #endif
#endif
#ifndef ALLOCSCOPE_PRIVATE_THREAD_SANITIZER
    #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 0
#endif
#ifndef ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER
    #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 0
#endif
#define ALLOCSCOPE_ON(feature) ALLOCSCOPE_PRIVATE_##feature()

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Keeps the compiler from moving memory accesses over this line. The processor may still: it is
// for what this thread's own signal handlers see, and for the near side of membarrier(2).
ALLOCSCOPE_FAST_PATH void compiler_barrier() noexcept {
    __asm__ volatile("" : : : "memory");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_COMPILER_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <atomic>
#include <cstring>
#include <dlfcn.h>

// hash_mix.hpp - one number from the return addresses of a stack.

#ifndef ALLOCSCOPE_BASE_HASH_MIX_HPP
#define ALLOCSCOPE_BASE_HASH_MIX_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// 2^64 divided by the golden ratio, made odd: spreads consecutive numbers well.
constexpr std::uint64_t golden_multiplier = 0x9e3779b97f4a7c15U;

// A number for each position: the high half of a number of the splitmix64 series (Steele, Lea,
// Flood 2014), made odd.
constexpr std::uint64_t position_multiplier(std::uint32_t position) noexcept {
    std::uint64_t mixed = (position + 1U) * golden_multiplier;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return (mixed >> 32U) | 1U;
}

struct position_table {
    static constexpr std::uint32_t size = 128;
    alignas(64) std::uint64_t multipliers[size];

    constexpr position_table() noexcept : multipliers() {
        for (std::uint32_t i = 0; i < size; ++i) multipliers[i] = position_multiplier(i);
    }
};
ALLOCSCOPE_HIDDEN inline constexpr position_table positions{};

// What the address at a position adds to the sum.
ALLOCSCOPE_FAST_PATH std::uint64_t hash_part(std::uint64_t address,
                                             std::uint32_t position) noexcept {
    return (address & 0xffffffffU) * positions.multipliers[position];
}

constexpr std::uint64_t hash_seed = 0x2545f4914f6cdd1dU;

ALLOCSCOPE_FAST_PATH std::uint64_t hash_step(std::uint64_t hash, std::uint64_t value) noexcept {
    return (hash ^ value) * golden_multiplier;
}

// Folds the strong high bits into the low ones, from which tables take their index.
ALLOCSCOPE_FAST_PATH std::uint64_t hash_finish(std::uint64_t hash) noexcept {
    return hash ^ (hash >> 32U);
}

// The hash of a stack, from the sum over its addresses. Addresses at equal distances (functions in
// a row) make sums at equal distances, so the sum is folded before it is multiplied.
ALLOCSCOPE_FAST_PATH std::uint64_t stack_hash(std::uint64_t sum) noexcept {
    return hash_finish(hash_finish(sum) * golden_multiplier);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_HASH_MIX_HPP

// met_modules.hpp - the modules that may be unloaded and that stood on a stack, kept for good.

#ifndef ALLOCSCOPE_PLATFORM_MET_MODULES_HPP
#define ALLOCSCOPE_PLATFORM_MET_MODULES_HPP

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept
    __attribute__((weak));
#endif

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What each frame in a module adds to the sum over its stack (base/hash_mix.hpp), so that one
// return address in two modules makes two sites.
inline std::uint64_t module_tag(std::uintptr_t start, std::uint64_t fingerprint) noexcept {
    return hash_finish(hash_step(fingerprint, start));
}

// Whether modules can be told apart without a lock; else none is ever noted.
inline bool can_tell_modules() noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    return &_dl_find_object != nullptr;
#else
    return false;
#endif
}

struct met_module {
    std::uintptr_t start = 0;
    std::uintptr_t size = 0;
    std::uintptr_t base = 0;        // run-time address minus linked address
    std::uint64_t fingerprint = 0;  // 0: there is nothing to tell it by
    const char* path = nullptr;     // as the loader knows it; "" when it was too long to keep
    std::uint32_t number = 0;       // from 1
    bool has_build_id = false;

    bool holds(std::uintptr_t address) const noexcept { return address - start < size; }
    bool overlaps(const met_module& other) const noexcept {
        return start - other.start < other.size || other.start - start < size;
    }
    std::uint64_t tag() const noexcept { return module_tag(start, fingerprint); }
};

class met_modules {
public:
    static constexpr std::uint32_t most = 1024;

    // `seen` must stay loaded meanwhile, its path too. Nothing is noted when there is no room.
    void note(const met_module& seen) noexcept {
        if (find(seen) != nullptr) return;
        const std::uint32_t at = taken_.fetch_add(1, std::memory_order_relaxed);
        if (at >= most) {
            taken_.store(most, std::memory_order_relaxed);
            return;
        }
        met_module& made = modules_[at];
        made = seen;
        made.number = at + 1;
        made.path = keep(seen.path);
        is_ready_[at].store(true, std::memory_order_release);
    }

    // How many there may be: at() is null for those that are not there yet.
    std::uint32_t count() const noexcept {
        const std::uint32_t taken = taken_.load(std::memory_order_relaxed);
        return taken < most ? taken : most;
    }
    const met_module* at(std::uint32_t index) const noexcept {
        return is_ready_[index].load(std::memory_order_acquire) ? &modules_[index] : nullptr;
    }

private:
    static constexpr std::uint32_t text_bytes = std::uint32_t{64} << 10U;

    const met_module* find(const met_module& wanted) const noexcept {
        for (std::uint32_t i = count(); i > 0; --i) {
            const met_module* known = at(i - 1);
            if (known != nullptr && known->start == wanted.start && known->size == wanted.size &&
                known->fingerprint == wanted.fingerprint) {
                return known;
            }
        }
        return nullptr;
    }

    const char* keep(const char* path) noexcept {
        const std::size_t bytes = std::strlen(path) + 1;
        if (bytes > text_bytes) return "";
        const std::uint32_t at =
            text_used_.fetch_add(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
        if (at > text_bytes || bytes > text_bytes - at) {
            text_used_.store(text_bytes, std::memory_order_relaxed);
            return "";
        }
        std::memcpy(texts_ + at, path, bytes);
        return texts_ + at;
    }

    std::atomic<std::uint32_t> taken_{0};
    std::atomic<std::uint32_t> text_used_{0};
    std::atomic<bool> is_ready_[most] = {};
    met_module modules_[most];
    char texts_[text_bytes] = {};
};

ALLOCSCOPE_HIDDEN inline met_modules modules_met;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_MET_MODULES_HPP

// stack_modules.hpp - whose code the addresses of a stack were when its objects were born.

#ifndef ALLOCSCOPE_NAMING_STACK_MODULES_HPP
#define ALLOCSCOPE_NAMING_STACK_MODULES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack as its names are asked for: by some of its return addresses, innermost first.
struct known_stack {
    std::uint64_t hash = 0;  // of the first `count` addresses
    const std::uintptr_t* addresses = nullptr;
    std::uint32_t count = 0;
    std::uint32_t all_count = 0;
    std::uint64_t site_hash = 0;  // of all of them and their modules; 0: not known
};

// No module that is known: it was replaced, and there was no room to note which one it was.
inline constexpr met_module module_of_nobody{0, 0, 0, 0, "", met_modules::most + 1, false};

class stack_modules {
public:
    explicit stack_modules(const known_stack& stack) noexcept : stack_(stack) {
        if (modules_met.count() == 0) {
            is_certain_ = can_tell_modules();
            return;
        }
        const bool is_found = stack.site_hash != 0 && assign(0, 0);
        is_certain_ = is_found && can_tell_modules();
        if (!is_found) assign_what_is_left();
        for (std::uint32_t i = 0; i < stack.count; ++i) {
            if (homes_[i] != nullptr) key_ = hash_step(key_ ^ i, homes_[i]->number);
        }
    }

    // The module that may be unloaded and held the frame's code; null: it was in none such.
    const met_module* operator[](std::uint32_t frame) const noexcept { return homes_[frame]; }
    // Differs between stacks with equal addresses and different modules.
    std::uint64_t key() const noexcept { return key_; }
    // True: what is named by these modules stays so named, whatever is loaded and unloaded.
    bool is_certain() const noexcept { return is_certain_; }

private:
    static constexpr std::uint32_t most_chosen = 32;

    // Chooses modules from frame `from` on; `sum` is that of the frames before.
    bool assign(std::uint32_t from, std::uint64_t sum) noexcept {
        for (std::uint32_t i = from; i < stack_.all_count; ++i) {
            const std::uintptr_t pc = stack_.addresses[i];
            sum += hash_part(pc, i);
            homes_[i] = chosen_for(pc - 1);
            if (homes_[i] != nullptr) {
                sum += homes_[i]->tag();
                continue;
            }
            for (std::uint32_t n = modules_met.count(); n > 0; --n) {  // the latest first
                const met_module* candidate = modules_met.at(n - 1);
                if (candidate == nullptr || !candidate->holds(pc - 1)) continue;
                if (steps_ == 0 || chosen_count_ == most_chosen) return false;
                --steps_;
                homes_[i] = chosen_[chosen_count_++] = candidate;
                if (assign(i + 1, sum + candidate->tag())) return true;
                --chosen_count_;
            }
            homes_[i] = nullptr;
        }
        return stack_hash(sum) == stack_.site_hash;
    }

    const met_module* chosen_for(std::uintptr_t address) const noexcept {
        for (std::uint32_t i = 0; i < chosen_count_; ++i) {
            if (chosen_[i]->holds(address)) return chosen_[i];
        }
        return nullptr;
    }

    // Where more than one module has lain, it might be any of them. A stack without a hash was
    // walked a moment ago: its modules are those that are loaded now.
    void assign_what_is_left() noexcept {
        for (std::uint32_t i = 0; i < stack_.all_count; ++i) {
            homes_[i] = nullptr;
            if (stack_.site_hash == 0) continue;
            for (std::uint32_t n = 0; n < modules_met.count(); ++n) {
                const met_module* each = modules_met.at(n);
                if (each != nullptr && each->holds(stack_.addresses[i] - 1)) {
                    homes_[i] = &module_of_nobody;
                }
            }
        }
    }

    const known_stack& stack_;
    const met_module* homes_[max_stack_frames] = {};
    const met_module* chosen_[most_chosen] = {};
    std::uint32_t chosen_count_ = 0;
    std::uint32_t steps_ = 4096;
    std::uint64_t key_ = 0;
    bool is_certain_ = false;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_STACK_MODULES_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <type_traits>

// page_memory.hpp - pages from the kernel, and back.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t page_bytes = 4096;

// A test sets this to k >= 0: the k-th mapping from now on, and all after it, are refused.
ALLOCSCOPE_HIDDEN inline std::atomic<std::int64_t> mappings_until_refusal{-1};

// Bytes that are mapped for tables and caches now (reservations of address space not included).
ALLOCSCOPE_HIDDEN inline std::atomic<std::size_t> mapped_pages_bytes{0};

inline bool is_mapping_refused() noexcept {
    if (mappings_until_refusal.load(std::memory_order_relaxed) < 0) return false;
    if (mappings_until_refusal.load(std::memory_order_relaxed) == 0) return true;
    mappings_until_refusal.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

// Zeroed pages, readable and writable, or null. They are left out of core dumps and are never huge
// pages, which would turn a sparse table into a dense one.
inline void* reserve_pages(std::size_t bytes) noexcept {
    if (is_mapping_refused()) return nullptr;
    const int saved_errno = errno;
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        pages = nullptr;
    } else {
        ::madvise(pages, bytes, MADV_NOHUGEPAGE);
        ::madvise(pages, bytes, MADV_DONTDUMP);
    }
    errno = saved_errno;
    return pages;
}

// Reserves addresses only: nothing can be read or written there before open_pages(), and nothing
// counts as memory of the process. Null when they are refused.
inline void* reserve_addresses(std::size_t bytes) noexcept {
    if (is_mapping_refused()) return nullptr;
    const int saved_errno = errno;
    void* addresses =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (addresses == MAP_FAILED) {
        addresses = nullptr;
    } else {
        ::madvise(addresses, bytes, MADV_NOHUGEPAGE);
        ::madvise(addresses, bytes, MADV_DONTDUMP);
    }
    errno = saved_errno;
    return addresses;
}

// Makes whole pages of reserved addresses readable and writable; they read as zero at first.
inline bool open_pages(void* pages, std::size_t bytes) noexcept {
    if (is_mapping_refused()) return false;
    const int saved_errno = errno;
    const bool is_open = ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
    errno = saved_errno;
    return is_open;
}

// How much of the address space the process may use (RLIMIT_AS).
inline std::size_t address_space_limit() noexcept {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur;
}

inline void return_reservation(void* pages, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    ::munmap(pages, bytes);
    errno = saved_errno;
}

// As reserve_pages, but never given back, and counted as our own memory.
inline void* map_pages(std::size_t bytes) noexcept {
    void* pages = reserve_pages(bytes);
    if (pages != nullptr) mapped_pages_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return pages;
}

// Gives the memory back and keeps the addresses: the pages read as zero afterwards.
inline void empty_pages(void* pages, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    ::madvise(pages, bytes, MADV_DONTNEED);
    errno = saved_errno;
}

// How many bytes of the range are in memory now.
inline std::size_t resident_bytes(void* pages, std::size_t bytes) noexcept {
    constexpr std::size_t pages_at_once = 512;
    unsigned char present[pages_at_once];
    const int saved_errno = errno;
    std::size_t count = 0;
    for (std::size_t done = 0; done < bytes; done += pages_at_once * page_bytes) {
        const std::size_t left = bytes - done;
        const std::size_t now =
            left < pages_at_once * page_bytes ? left : pages_at_once * page_bytes;
        if (::mincore(static_cast<char*>(pages) + done, now, present) != 0) break;
        for (std::size_t i = 0; i < now / page_bytes; ++i) count += present[i] & 1U;
    }
    errno = saved_errno;
    return count * page_bytes;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP

// arena.hpp - the memory of one question: pieces are taken one by one and given back all at once.

#ifndef ALLOCSCOPE_PLAIN_ARENA_HPP
#define ALLOCSCOPE_PLAIN_ARENA_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

[[noreturn]] ALLOCSCOPE_SLOW_PATH void refuse_memory() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

// Runs `work`. False: memory was refused on the way.
template <class Work>
bool is_done_with_memory(const Work& work) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    work();
    return true;
#else
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
#endif
}

class arena {
public:
    constexpr arena() noexcept = default;
    ~arena() { release(); }
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    // Aligned to 16 bytes. What it holds is not defined.
    void* allocate(std::size_t bytes) {
        const std::size_t rounded = rounded_up(bytes);
        if (rounded > static_cast<std::size_t>(end_ - free_)) return allocate_in_new_block(rounded);
        void* piece = free_;
        free_ += rounded;
        return piece;
    }

    // Makes the piece that was handed out last longer where it is; false when that cannot be.
    bool extend(const void* piece, std::size_t bytes, std::size_t wanted) noexcept {
        const std::size_t more = rounded_up(wanted) - rounded_up(bytes);
        const char* end = static_cast<const char*>(piece) + rounded_up(bytes);
        if (piece == nullptr || end != free_ || more > static_cast<std::size_t>(end_ - free_)) {
            return false;
        }
        free_ += more;
        return true;
    }

    // An object that lives as long as the arena; its destructor is never called.
    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
        static_assert(alignof(T) <= 16, "pieces are aligned to 16 bytes");
        return ::new (allocate(sizeof(T))) T(static_cast<Arguments&&>(arguments)...);
    }

    // Everything that was handed out is gone.
    void release() noexcept {
        while (newest_ != nullptr) {
            block* older = newest_->older;
            detail::return_reservation(newest_, newest_->bytes);
            newest_ = older;
        }
        free_ = end_ = nullptr;
        mapped_bytes_ = 0;
    }

    // Takes over all that `other` has handed out; nothing may have been taken from this one.
    void take(arena& other) noexcept {
        newest_ = other.newest_;
        free_ = other.free_;
        end_ = other.end_;
        next_block_ = other.next_block_;
        mapped_bytes_ = other.mapped_bytes_;
        other.newest_ = nullptr;
        other.release();
    }

    std::size_t mapped_bytes() const noexcept { return mapped_bytes_; }

private:
    friend class borrowed_memory;

    struct alignas(16) block {
        block* older;
        std::size_t bytes;
    };
    static constexpr std::size_t first_block = std::size_t{64} * 1024;
    static constexpr std::size_t largest_block = std::size_t{1024} * 1024;

    static constexpr std::size_t rounded_up(std::size_t bytes) noexcept {
        return (bytes + 15U) & ~std::size_t{15};
    }

    void* allocate_in_new_block(std::size_t bytes);

    block* newest_ = nullptr;
    char* free_ = nullptr;
    char* end_ = nullptr;
    std::size_t next_block_ = first_block;
    std::size_t mapped_bytes_ = 0;
};

// A piece larger than half a block gets a block of its own, and the one in use stays in use.
ALLOCSCOPE_NOINLINE void* arena::allocate_in_new_block(std::size_t bytes) {
    const bool is_alone = bytes > next_block_ / 2;
    const std::size_t pages = detail::page_bytes;
    std::size_t wanted = next_block_;
    if (is_alone) {
        if (bytes > (std::size_t{1} << 46U)) refuse_memory();
        wanted = (bytes + sizeof(block) + pages - 1) & ~(pages - 1);
    }
    void* memory = detail::reserve_pages(wanted);
    if (memory == nullptr) refuse_memory();
    block* fresh = ::new (memory) block{newest_, wanted};
    newest_ = fresh;
    mapped_bytes_ += wanted;
    char* begin = reinterpret_cast<char*>(fresh + 1);
    if (is_alone) return begin;
    free_ = begin + bytes;
    end_ = reinterpret_cast<char*>(fresh) + wanted;
    if (next_block_ < largest_block) next_block_ *= 2;
    return begin;
}

// For work in steps, each of which needs memory only for itself: gives back, at its own end, all
// that was taken from the arena since it was made. What was made before must not grow meanwhile.
class borrowed_memory {
public:
    explicit borrowed_memory(arena& memory) noexcept
        : memory_(memory), newest_(memory.newest_), free_(memory.free_), end_(memory.end_) {}
    ~borrowed_memory() {
        while (memory_.newest_ != newest_) {
            arena::block* given_back = memory_.newest_;
            memory_.newest_ = given_back->older;
            memory_.mapped_bytes_ -= given_back->bytes;
            detail::return_reservation(given_back, given_back->bytes);
        }
        memory_.free_ = free_;
        memory_.end_ = end_;
    }
    borrowed_memory(const borrowed_memory&) = delete;
    borrowed_memory& operator=(const borrowed_memory&) = delete;

private:
    arena& memory_;
    arena::block* newest_;
    char* free_;
    char* end_;
};

}  // namespace plain

// The rooms that use the vocabulary spell it without a prefix.
namespace detail {
using namespace plain;
}
namespace symbolize {
using namespace plain;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_ARENA_HPP

// list.hpp - values in a row, in the memory of an arena.

#ifndef ALLOCSCOPE_PLAIN_LIST_HPP
#define ALLOCSCOPE_PLAIN_LIST_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

// A list as the functions see it that know no types.
struct raw_list {
    arena* memory = nullptr;
    void* values = nullptr;
    std::size_t size = 0;
    std::size_t room = 0;
};

ALLOCSCOPE_NOINLINE void grow_list(raw_list& grown, std::size_t value_bytes, std::size_t room) {
    std::size_t wanted = grown.room * 2;
    if (wanted < room) wanted = room;
    if (wanted > static_cast<std::size_t>(-1) / 2 / value_bytes) refuse_memory();
    const std::size_t bytes = wanted * value_bytes;
    if (!grown.memory->extend(grown.values, grown.room * value_bytes, bytes)) {
        void* larger = grown.memory->allocate(bytes);
        if (grown.size != 0) std::memcpy(larger, grown.values, grown.size * value_bytes);
        grown.values = larger;
    }
    grown.room = wanted;
}

// Room for one more value at the end; it is not yet initialised.
ALLOCSCOPE_NOINLINE void* add_to_list(raw_list& grown, std::size_t value_bytes) {
    if (grown.size == grown.room)
        grow_list(grown, value_bytes, grown.size < 4 ? 4 : grown.size + 1);
    return static_cast<char*>(grown.values) + value_bytes * grown.size++;
}

template <class T>
class list {
public:
    using value_type = T;

    list() noexcept = default;  // empty for good: it has no memory
    ALLOCSCOPE_FAST_PATH explicit list(arena& memory) noexcept { raw_.memory = &memory; }

    ALLOCSCOPE_FAST_PATH std::size_t size() const noexcept { return raw_.size; }
    ALLOCSCOPE_FAST_PATH bool empty() const noexcept { return raw_.size == 0; }
    ALLOCSCOPE_FAST_PATH T* data() const noexcept { return static_cast<T*>(raw_.values); }
    ALLOCSCOPE_FAST_PATH T* begin() const noexcept { return data(); }
    ALLOCSCOPE_FAST_PATH T* end() const noexcept { return data() + raw_.size; }
    ALLOCSCOPE_FAST_PATH T& operator[](std::size_t index) const noexcept { return data()[index]; }
    ALLOCSCOPE_FAST_PATH T& front() const noexcept { return data()[0]; }
    ALLOCSCOPE_FAST_PATH T& back() const noexcept { return data()[raw_.size - 1]; }

    // A reference to the new value is good until the next one is added.
    T& push_back(const T& value) {
        static_assert(std::is_trivially_copyable<T>::value, "values are moved by memcpy");
        static_assert(alignof(T) <= 16, "an arena aligns to 16 bytes");
        const T kept = value;  // it may be one of ours, and move
        return *::new (add_to_list(raw_, sizeof(T))) T(kept);
    }

    ALLOCSCOPE_FAST_PATH void pop_back() noexcept { --raw_.size; }
    ALLOCSCOPE_FAST_PATH void clear() noexcept { raw_.size = 0; }
    // Forgets the values behind the first `size`.
    ALLOCSCOPE_FAST_PATH void cut(std::size_t size) noexcept { raw_.size = size; }

    // The first time for just as many as are wanted.
    void reserve(std::size_t room) {
        if (room > raw_.room) grow_list(raw_, sizeof(T), room);
    }

    // New values are value-initialised.
    void resize(std::size_t size) {
        reserve(size);
        for (std::size_t i = raw_.size; i < size; ++i) ::new (data() + i) T();
        raw_.size = size;
    }

    ALLOCSCOPE_FAST_PATH arena& memory() const noexcept { return *raw_.memory; }

private:
    raw_list raw_;
};

}  // namespace plain

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_LIST_HPP

// sort.hpp - puts values in order; equal ones stay as they were.

#ifndef ALLOCSCOPE_PLAIN_SORT_HPP
#define ALLOCSCOPE_PLAIN_SORT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

using comes_first = bool (*)(const void* a, const void* b, const void* order);

// Most values are pointers: those need no call.
ALLOCSCOPE_FAST_PATH void copy_value(char* to, const char* from, std::size_t value_bytes) noexcept {
    if (value_bytes == sizeof(void*)) {
        std::memcpy(to, from, sizeof(void*));
    } else {
        std::memcpy(to, from, value_bytes);
    }
}

// Merges two sorted neighbours of `from` into `to`.
ALLOCSCOPE_NOINLINE void merge_halves(const char* from, char* to, std::size_t middle,
                                      std::size_t end, std::size_t value_bytes, comes_first less,
                                      const void* order) {
    std::size_t left = 0;
    std::size_t right = middle;
    while (left < middle && right < end) {
        std::size_t& taken = less(from + right, from + left, order) ? right : left;
        copy_value(to, from + taken, value_bytes);
        taken += value_bytes;
        to += value_bytes;
    }
    std::memcpy(to, from + left, middle - left);
    std::memcpy(to + (middle - left), from + right, end - right);
}

ALLOCSCOPE_NOINLINE void sort_values(void* values, std::size_t count, std::size_t value_bytes,
                                     comes_first less, const void* order, arena& scratch) {
    if (count < 2) return;
    const std::size_t bytes = count * value_bytes;
    char* from = static_cast<char*>(values);
    char* to = static_cast<char*>(scratch.allocate(bytes));
    for (std::size_t run = value_bytes; run < bytes; run *= 2) {
        for (std::size_t begin = 0; begin < bytes; begin += 2 * run) {
            const std::size_t left = bytes - begin;
            const std::size_t middle = run < left ? run : left;
            const std::size_t end = 2 * run < left ? 2 * run : left;
            merge_halves(from + begin, to + begin, middle, end, value_bytes, less, order);
        }
        char* merged = to;
        to = from;
        from = merged;
    }
    if (from != values) std::memcpy(values, from, bytes);
}

// `less(a, b)`: a comes before b.
template <class T, class Less>
void sort(T* values, std::size_t count, const Less& less, arena& scratch) {
    static_assert(std::is_trivially_copyable<T>::value, "values are moved by memcpy");
    const comes_first first = [](const void* a, const void* b, const void* order) {
        return (*static_cast<const Less*>(order))(*static_cast<const T*>(a),
                                                  *static_cast<const T*>(b));
    };
    sort_values(values, count, sizeof(T), first, &less, scratch);
}

template <class T, class Less>
void sort(list<T>& values, const Less& less) {
    if (values.size() > 1) sort(values.data(), values.size(), less, values.memory());
}

// Index of the first of `count` values for which `is_before` does not hold; it holds for all before
// that one and for none after it.
template <class T, class IsBefore>
std::size_t partition_point(const T* values, std::size_t count, const IsBefore& is_before) {
    std::size_t begin = 0;
    while (count > 0) {
        const std::size_t half = count / 2;
        if (is_before(values[begin + half])) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return begin;
}

}  // namespace plain

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_SORT_HPP

// monotonic_clock.hpp - nanoseconds that never go back.

#ifndef ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP
#define ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// 0 when there is no clock; a difference of two readings is then 0 and nothing divides by it.
inline std::uint64_t monotonic_ns() noexcept {
    struct timespec now;
    if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <signal.h>

// page_arena.hpp - small pieces of zeroed memory that are given back all at once.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class page_arena {
public:
    static constexpr std::size_t block_bytes = std::size_t{256} * 1024;
    static constexpr std::size_t largest_piece = block_bytes / 8;

    // Zeroed memory, aligned to 64; null when the kernel refuses. At most largest_piece bytes.
    void* allocate(std::size_t bytes) noexcept {
        const std::size_t rounded = (bytes + 63U) & ~std::size_t{63};
        for (;;) {
            block* current = current_.load(std::memory_order_acquire);
            if (current != nullptr) {
                const std::size_t at = current->used.fetch_add(rounded, std::memory_order_relaxed);
                if (at + rounded <= block_bytes) return reinterpret_cast<char*>(current) + at;
            }
            if (!add_block(current)) return nullptr;
        }
    }

    // Unmaps everything.
    void release() noexcept {
        block* next = current_.exchange(nullptr, std::memory_order_acq_rel);
        while (next != nullptr) {
            block* older = next->next;
            return_reservation(next, block_bytes);
            next = older;
        }
    }

    // Bytes handed out: no more than these are touched.
    std::size_t used_bytes() const noexcept {
        std::size_t sum = 0;
        for (block* b = current_.load(std::memory_order_acquire); b != nullptr; b = b->next) {
            const std::size_t used = b->used.load(std::memory_order_relaxed);
            sum += used < block_bytes ? used : block_bytes;
        }
        return sum;
    }

private:
    struct alignas(64) block {
        block* next;
        std::atomic<std::size_t> used;
    };

    bool add_block(block* seen) noexcept {
        void* pages = reserve_pages(block_bytes);
        if (pages == nullptr) return false;
        auto* fresh = static_cast<block*>(pages);
        fresh->next = seen;
        fresh->used.store(sizeof(block), std::memory_order_relaxed);
        // Release: whoever sees the block sees its head.
        if (!current_.compare_exchange_strong(seen, fresh, std::memory_order_acq_rel)) {
            return_reservation(pages, block_bytes);
        }
        return true;
    }

    std::atomic<block*> current_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP

// gate.hpp - one word that says whether and how hooks record, and the facts behind it.

#ifndef ALLOCSCOPE_STATE_GATE_HPP
#define ALLOCSCOPE_STATE_GATE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What a thread does with an allocation: the greatest that any window which watches it wants. But
// samples and numbers together make stacks, because neither serves the other.
enum class charge : std::uint32_t {
    nothing,             // no window watches this thread; frees are still seen
    samples,             // a few allocations, each with its stack
    numbers,             // counters only
    stacks,              // each allocation with its stack
    stacks_without_memo  // there was no memory for the thread's caches
};

// A number that no view has and that the word never is. It is not 0, which means a shut gate.
constexpr std::uint64_t no_view = ~std::uint64_t{0};

// In a view's number: the hooks must see every event. It is the sign bit, so that one test of an
// operator tells all three states of the word.
constexpr std::uint64_t every_event = std::uint64_t{1} << 63U;

constexpr charge joined(charge most, std::uint64_t sample_bytes) noexcept {
    return most == charge::numbers && sample_bytes != 0 ? charge::stacks : most;
}

// A set of ways to find callers (options::unwind). Windows that want different ways get stacks that
// serve all of them: those found by any means.
using unwinding_set = std::uint32_t;
constexpr unwinding_set only(unwinding method) noexcept {
    return 1U << static_cast<std::uint32_t>(method);
}
constexpr unwinding common_method(unwinding_set wanted) noexcept {
    return wanted == only(unwinding::cfi)              ? unwinding::cfi
           : wanted == only(unwinding::frame_pointers) ? unwinding::frame_pointers
                                                       : unwinding::automatic;
}

struct view {
    std::uint64_t number = 0;
    std::uint64_t clock = 0;         // boundary clock when the view began
    std::uint64_t windows = 0;       // process-wide windows in slots 0..63
    charge mode = charge::nothing;   // greatest of the process-wide windows
    std::uint32_t frames = 0;        // most stack_frames of the process-wide exact windows
    std::uint32_t session = 0;       // tag of the records in the live object map
    std::uint32_t many_windows = 0;  // windows in slots from 64 on, of any kind
    std::uint32_t tables = 0;        // generation of the tables: caches of another one are void
    unwinding_set methods = 0;       // of the process-wide windows with stacks
    std::uint64_t sample_bytes = 0;  // least of the process-wide sampled windows; 0: there is none
};

class gate {
public:
    ALLOCSCOPE_FAST_PATH std::uint64_t word() const noexcept {
        // Relaxed: a thread that was told of the window by any synchronisation sees its number;
        // what is behind the number is read with acquire in load().
        return word_.load(std::memory_order_relaxed);
    }

    // Whether a free must be looked up: a test of the address alone. All bits of the address that
    // are set in address_bits_ have to be zero. (A null pointer always passes the test.)
    //
    //     every event is recorded    no bits           every free is looked up
    //     only samples are           the low 12 bits   those of blocks that begin at a page
    //     no window is open          all bits          none
    ALLOCSCOPE_FAST_PATH bool concerns_free_of(const void* block) const noexcept {
        return (reinterpret_cast<std::uintptr_t>(block) &
                address_bits_.load(std::memory_order_relaxed)) == 0;
    }

    void shut() noexcept {
        address_bits_.store(~std::uintptr_t{0}, std::memory_order_relaxed);
        word_.store(0, std::memory_order_seq_cst);
    }

    // Control lock held. Numbers and publishes the view.
    void publish(const view& next, bool sees_every_event) noexcept {
        last_number_ += 2;
        const std::uint64_t number = last_number_ | (sees_every_event ? every_event : 0);
        stored& place = views_[number / 2 % view_count];
        place.number.store(0, std::memory_order_relaxed);
        std::uint64_t words[view_words];
        std::memcpy(words, &next, sizeof(next));
        for (std::size_t i = 0; i < view_words; ++i) {
            // Release: who reads anything new here, reads 0 or the new number afterwards.
            place.words[i].store(words[i], std::memory_order_release);
        }
        place.number.store(number, std::memory_order_release);
        // Before the word, so that whoever was told of the window sees it too.
        address_bits_.store(sees_every_event ? 0 : sampled_address_bits, std::memory_order_relaxed);
        word_.store(number, std::memory_order_release);
    }

    // The view in force. False: the gate is shut.
    bool load(view& out) const noexcept {
        for (;;) {
            const std::uint64_t number = word_.load(std::memory_order_acquire);
            if (number == 0) return false;
            const stored& place = views_[number / 2 % view_count];
            const std::uint64_t before = place.number.load(std::memory_order_acquire);
            std::uint64_t words[view_words];
            for (std::size_t i = 0; i < view_words; ++i) {
                words[i] = place.words[i].load(std::memory_order_acquire);
            }
            const std::uint64_t after = place.number.load(std::memory_order_acquire);
            if (before != number || after != number) continue;
            std::memcpy(&out, words, sizeof(out));
            out.number = number;
            return true;
        }
    }

private:
    static constexpr std::size_t view_count = 256;
    static constexpr std::uintptr_t sampled_address_bits = 4095;  // record/sample_records.hpp

    static constexpr std::size_t view_words = sizeof(view) / sizeof(std::uint64_t);
    static_assert(std::is_trivially_copyable_v<view> && sizeof(view) % sizeof(std::uint64_t) == 0,
                  "a view is stored and read word by word");

    struct alignas(64) stored {
        std::atomic<std::uint64_t> number{0};
        std::atomic<std::uint64_t> words[view_words] = {};
    };
    static_assert(sizeof(stored) == 64, "a cache line");

    alignas(64) std::atomic<std::uint64_t> word_{0};
    std::atomic<std::uintptr_t> address_bits_{~std::uintptr_t{0}};
    alignas(64) std::uint64_t last_number_ = 0;
    stored views_[view_count];
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_GATE_HPP

// owned_counter.hpp - a number that one thread changes and every thread may read.

#ifndef ALLOCSCOPE_BASE_OWNED_COUNTER_HPP
#define ALLOCSCOPE_BASE_OWNED_COUNTER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class owned_counter {
public:
    ALLOCSCOPE_FAST_PATH void add(std::uint64_t amount) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        __atomic_store_n(&value_, value_ + amount, __ATOMIC_RELEASE);  // the sanitizer sees it
#else
        // One instruction; compilers make three of an atomic load, an addition and a store. An
        // event takes eight instructions less, and a signal handler finds the addition done or not
        // begun.
        __asm__ volatile("addq %1, %0" : "+m"(value_) : "er"(amount) : "cc", "memory");
#endif
    }
    // Any thread may call it; then nobody may use add() on the same counter. A locked instruction.
    void add_shared(std::uint64_t amount) noexcept {
        __atomic_fetch_add(&value_, amount, __ATOMIC_ACQ_REL);
    }
    // Owner only, or while no thread can write.
    void set(std::uint64_t value) noexcept {
        __atomic_store_n(&value_, value, __ATOMIC_RELEASE);
    }
    std::uint64_t read() const noexcept {
        return __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
    }

private:
    alignas(8) std::uint64_t value_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OWNED_COUNTER_HPP

// stack_bounds.hpp - between which addresses this thread's stack may be read.

#ifndef ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP
#define ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP

extern "C" void* __libc_stack_end;  // set by the loader before anything else runs

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct stack_bounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;  // first address that is no longer read

    ALLOCSCOPE_FAST_PATH bool contains(std::uintptr_t address) const noexcept {
        return address - low < high - low;
    }
};

inline std::uintptr_t thread_control_block() noexcept {
    std::uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
}

inline stack_bounds main_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    constexpr std::uintptr_t deepest = std::uintptr_t{1} << 30U;  // when the limit is "unlimited"
    const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    std::uintptr_t depth = deepest;
    struct rlimit limit;
    const int saved_errno = errno;
    if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < deepest) depth = limit.rlim_cur;
    errno = saved_errno;
    if (stack_pointer >= end || end - stack_pointer >= depth) return {};
    return {end - depth, end};
}

inline stack_bounds thread_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    constexpr std::size_t searched_words = 2048 / sizeof(std::uintptr_t);
    constexpr std::uintptr_t most_behind = std::uintptr_t{1} << 20U;  // control block, static TLS
    const std::uintptr_t block = thread_control_block();
    if (stack_pointer >= block) return {};
    const auto* words = reinterpret_cast<const std::uintptr_t*>(block);
    for (std::size_t i = 0; i + 1 < searched_words; ++i) {
        const std::uintptr_t low = words[i];
        const std::uintptr_t size = words[i + 1];
        if (low == 0 || low > stack_pointer || size > block) continue;
        if (low + size < block || low + size - block > most_behind) continue;
        return {low, block};
    }
    return {};
}

// The bounds of the stack `stack_pointer` is on, or {0, 0} when it is neither the thread's own nor
// the main one.
inline stack_bounds current_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    const stack_bounds main_stack = main_stack_bounds(stack_pointer);
    if (main_stack.high != 0) return main_stack;
    return thread_stack_bounds(stack_pointer);
}

// The alternate signal stack when this thread runs on it now; else {0, 0}. One system call.
inline stack_bounds alternate_stack_in_use() noexcept {
    stack_t handlers = {};
    const int saved_errno = errno;
    const bool is_known = ::sigaltstack(nullptr, &handlers) == 0;
    errno = saved_errno;
    if (!is_known || (handlers.ss_flags & SS_ONSTACK) == 0) return {};
    const auto low = reinterpret_cast<std::uintptr_t>(handlers.ss_sp);
    return {low, low + handlers.ss_size};
}

// What may be read on a stack of unknown extent: the rest of the page we stand on.
inline stack_bounds page_bounds(std::uintptr_t stack_pointer) noexcept {
    return {stack_pointer, (stack_pointer | 4095U) + 1};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP

// random_source.hpp - the random numbers that decide which allocations are sampled.

#ifndef ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP
#define ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A one-to-one mapping in which every bit of the result depends on every bit of the number.
constexpr std::uint64_t mix_64(std::uint64_t number) noexcept {
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31U);
}

struct random_source {
    std::uint64_t state = 0;  // zero is a seed like any other: usable before seed()

    void seed(std::uint64_t number) noexcept { state = mix_64(number + golden_multiplier); }

    // Gives each of the 2^64 numbers once in 2^64 calls.
    std::uint64_t next() noexcept {
        state += golden_multiplier;
        return mix_64(state);
    }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP

// epoch.hpp - the time between two window boundaries, as one thread sees it.

#ifndef ALLOCSCOPE_STATE_EPOCH_HPP
#define ALLOCSCOPE_STATE_EPOCH_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The serial of a thread that is in no epoch yet. Whatever remembers an epoch uses 0 for "none", so
// the two are never equal.
constexpr std::uint32_t no_epoch = ~std::uint32_t{0};

struct alignas(64) epoch {
    std::atomic<std::uint64_t> began_at;  // boundary clock
    std::atomic<std::uint64_t> instance;  // of the thread, never used twice
    std::atomic<std::uint64_t> windows;   // slots 0..63 that watched the thread then
    std::atomic<std::uint32_t> serial;    // never used twice; not 0, not no_epoch
    std::atomic<std::uint32_t> cohorts;   // first of the list; 0: none
    std::atomic<epoch*> older;
    std::atomic<std::uint64_t> sample_bytes;  // mean bytes between samples; 0: every event counts
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_EPOCH_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <cmath>

// confidence_interval.hpp - between which numbers the truth lies, 95 times of 100.

#ifndef ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP
#define ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct confidence_interval {
    double low;
    double high;
};

// The solutions of (number - estimate)^2 = z^2 (variance + unit (number - estimate)).
inline confidence_interval score_interval(double estimate, double variance, double unit) noexcept {
    constexpr double z = 1.959964;  // 2.5% of a normal distribution lie above
    const double shift = z * z * unit / 2.0;
    const double reach = z * std::sqrt(variance + z * z * unit * unit / 4.0);
    const double low = estimate + shift - reach;
    return {low > 0.0 ? low : 0.0, estimate + shift + reach};
}

// An estimate without variance is its own interval. Without samples there is no variance either,
// and the answer is 0 to 0: nothing is known then, and the caller must say so.
inline confidence_interval interval_95(double estimate, double variance) noexcept {
    if (!(variance > 0.0) || !(estimate > 0.0)) return {estimate, estimate};
    return score_interval(estimate, variance, variance / estimate);
}

// The same for samples that differ. A skew of 0 means that it is not known.
inline confidence_interval interval_95(double estimate, double variance, double skew) noexcept {
    if (!(variance > 0.0) || !(skew > 0.0)) return interval_95(estimate, variance);
    return score_interval(estimate, variance, skew / variance);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP

// counted_bytes.hpp - how many bytes an object counts when samples are drawn.

#ifndef ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP
#define ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint64_t bytes_beside_each_object = 16;

// It wraps only for requests that no allocator grants, and those are never samples.
constexpr std::uint64_t bytes_to_count(std::uint64_t requested) noexcept {
    return requested + bytes_beside_each_object;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP

// sample_weight.hpp - what one sample stands for.

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// In the formulas x is 1 for objects, and the size for bytes.
struct sample_weight {
    double objects;  // x / p
    double bytes;
    double
        objects_variance;  // x^2 (1 - p) / p^2: its sum estimates the variance of the sum of x / p
    double bytes_variance;
    double objects_skew;  // x^3 (1 - p)^2 / p^3: see sampling/confidence_interval.hpp
    double bytes_skew;
};

// For an object that was not drawn but is recorded, as all are while an exact window is open.
constexpr sample_weight weigh_certain(std::uint64_t bytes) noexcept {
    return {1.0, static_cast<double>(bytes), 0.0, 0.0, 0.0, 0.0};
}

// The weight of an object of `bytes` when one sample is taken in `mean` bytes. An object of 0 bytes
// stands for objects, and for no bytes. Where p is 1 as a double (from 38 means on; always when the
// mean is 1 or 0) the weight is exactly 1 and the variance exactly 0.
inline sample_weight weigh_sample(std::uint64_t bytes, std::uint64_t mean) noexcept {
    if (mean <= 1) return weigh_certain(bytes);
    const double size = static_cast<double>(bytes);
    const double ratio =
        (size + static_cast<double>(bytes_beside_each_object)) / static_cast<double>(mean);
    const double p = -std::expm1(-ratio);  // 1 - exp(-ratio) would be 0 for small ratios
    if (p >= 1.0) return weigh_certain(bytes);
    const double missed = std::exp(-ratio);
    const double objects = 1.0 / p;
    const double variance = missed * objects * objects;
    const double skew = variance * missed * objects;
    return {objects, size * objects,           variance, variance * size * size,
            skew,    skew * size * size * size};
}

// (1 - p) / p of an object of 0 bytes: no sample stands for more objects that were not met.
inline double most_unseen_objects(std::uint64_t mean) noexcept {
    if (mean <= 1) return 0.0;
    return 1.0 /
           std::expm1(static_cast<double>(bytes_beside_each_object) / static_cast<double>(mean));
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP

// sample_sums.hpp - samples added up: an estimate and how sure it is.

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Rounds down. Numbers below 0 become 0, numbers that are too large the largest there is.
inline std::uint64_t whole_number(double number) noexcept {
    if (!(number > 0.0)) return 0;
    if (number >= 18446744073709551615.0) return 0xffffffffffffffffU;
    return static_cast<std::uint64_t>(number);
}

// Rounds the value to the nearest number, and the interval outwards, except where a double cannot
// tell an end from a whole number.
inline estimate rounded(double value, const confidence_interval& interval) noexcept {
    constexpr double slack = 1e-9;
    estimate whole;
    whole.value = whole_number(std::floor(value + 0.5));
    whole.low = whole_number(std::floor(interval.low * (1.0 + slack)));
    whole.high = whole_number(std::ceil(interval.high * (1.0 - slack)));
    if (whole.low > whole.value) whole.low = whole.value;
    if (whole.high < whole.value) whole.high = whole.value;
    return whole;
}

struct sample_sums {
    std::uint64_t samples = 0;
    double objects = 0.0;
    double bytes = 0.0;
    double objects_variance = 0.0;
    double bytes_variance = 0.0;
    double objects_skew = 0.0;
    double bytes_skew = 0.0;

    void add(const sample_weight& weight) noexcept {
        add(sample_sums{1, weight.objects, weight.bytes, weight.objects_variance,
                        weight.bytes_variance, weight.objects_skew, weight.bytes_skew});
    }

    void add(const sample_sums& other) noexcept {
        samples += other.samples;
        objects += other.objects;
        bytes += other.bytes;
        objects_variance += other.objects_variance;
        bytes_variance += other.bytes_variance;
        objects_skew += other.objects_skew;
        bytes_skew += other.bytes_skew;
    }

    // `other` is part of this. Subtracting more samples than there are leaves nothing.
    void subtract(const sample_sums& other) noexcept {
        if (other.samples >= samples) {
            *this = sample_sums{};
            return;
        }
        samples -= other.samples;
        objects = rest_of(objects, other.objects);
        bytes = rest_of(bytes, other.bytes);
        objects_variance = rest_of(objects_variance, other.objects_variance);
        bytes_variance = rest_of(bytes_variance, other.bytes_variance);
        objects_skew = rest_of(objects_skew, other.objects_skew);
        bytes_skew = rest_of(bytes_skew, other.bytes_skew);
    }

    // The objects of one place, which is looked at only because it was sampled. There are at least
    // as many objects as samples: those were seen. After a single sample nothing more is certain:
    // many places that were never seen had the same chance, and this place may hold this one object
    // only.
    estimate objects_95() const noexcept {
        estimate known = rounded(objects, interval_95(objects, objects_variance, objects_skew));
        if (known.value < samples) known.value = samples;
        if (known.low < samples || samples == 1) known.low = samples;
        if (known.high < known.value) known.high = known.value;
        return known;
    }
    estimate bytes_95() const noexcept {
        estimate known = rounded(bytes, interval_95(bytes, bytes_variance, bytes_skew));
        if (samples == 1) known.low = whole_number(bytes / objects + 0.5);
        if (known.low > known.value) known.low = known.value;
        return known;
    }

    // The objects of all places that were sampled every `sample_bytes`, whether or not they met a
    // sample. Objects that met none can only add to those that did, so the upper end makes room for
    // as many as there may be: one sample of the smallest objects stands for most_unseen_objects()
    // objects, one of any objects for at most `sample_bytes` bytes. Without any sample there are 0
    // to 3.84 * sample_bytes bytes, in 0 to 3.84 * sample_bytes / 16 objects. For a narrower
    // interval, the sizes that were not met would have to be guessed: docs/decisions/0008.
    estimate objects_95(std::uint64_t sample_bytes) const noexcept {
        return with_room(objects_95(), objects, objects_variance,
                         most_unseen_objects(sample_bytes));
    }
    estimate bytes_95(std::uint64_t sample_bytes) const noexcept {
        const bool is_exact = sample_bytes <= 1;
        return with_room(bytes_95(), bytes, bytes_variance,
                         is_exact ? 0.0 : static_cast<double>(sample_bytes));
    }

private:
    static estimate with_room(estimate known, double value, double variance, double unit) noexcept {
        if (!(unit > 0.0)) return known;
        const estimate wider = rounded(value, score_interval(value, variance, unit));
        if (wider.high > known.high) known.high = wider.high;
        return known;
    }

    // A remainder that only rounding has left becomes zero, else it would pass for a sample.
    static double rest_of(double whole, double part) noexcept {
        constexpr double rounding = 1e-12;
        const double rest = whole - part;
        return rest > whole * rounding ? rest : 0.0;
    }
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <elf.h>
#include <emmintrin.h>
#include <initializer_list>
#include <limits.h>
#include <link.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

// window_table.hpp - the windows that are open, each in a numbered slot.

#ifndef ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
#define ALLOCSCOPE_STATE_WINDOW_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint64_t every_thread = 0;  // no thread instance has this number

// What a window owned in cohorts that were reclaimed while it was open. All of it has died.
struct retired_births {
    allocation_counts counts;  // in a window that is not sampled
    sample_sums births;        // in a sampled one
    sample_sums deaths;
};

struct alignas(64) open_window {
    std::atomic<std::uint64_t> open_at{0};  // boundary clock; 0: the slot is free
    std::atomic<std::uint64_t> instance{every_thread};
    std::atomic<charge> mode{charge::nothing};
    std::atomic<std::uint32_t> frames{0};
    std::atomic<unwinding_set> methods{0};
    std::atomic<std::uint64_t> sample_bytes{0};

    // From here on: control lock.
    std::uint32_t generation = 0;
    options wanted;
    std::uint64_t started_ns = 0;
    retired_births retired;
    char name[64] = {};

    bool owns(std::uint64_t born_at, std::uint64_t by_instance) const noexcept {
        const std::uint64_t opened = open_at.load(std::memory_order_acquire);
        if (opened == 0 || born_at < opened) return false;
        const std::uint64_t watched = instance.load(std::memory_order_relaxed);
        // Cohorts keep only the low half of an instance.
        return watched == every_thread ||
               static_cast<std::uint32_t>(watched) == static_cast<std::uint32_t>(by_instance);
    }
};

class window_table {
public:
    static constexpr std::uint32_t masked_windows = 64;
    static constexpr std::uint32_t chunk_windows = 64;
    static constexpr std::uint32_t chunk_count = 1024;

    // Control lock. A free slot's number, or -1 when there is no memory.
    std::int64_t take_slot() noexcept {
        for (std::uint32_t slot = lowest_free_;; ++slot) {
            open_window* window = by_slot(slot);
            if (window == nullptr) window = add_chunk(slot);
            if (window == nullptr) return -1;
            if (window->open_at.load(std::memory_order_relaxed) != 0) continue;
            lowest_free_ = slot + 1;
            ++open_count_;
            if (slot >= masked_windows) ++unmasked_count_;
            if (slot >= slot_end_.load(std::memory_order_relaxed)) {
                slot_end_.store(slot + 1, std::memory_order_release);
            }
            return slot;
        }
    }

    // Control lock.
    void free_slot(std::uint32_t slot) noexcept {
        open_window* window = by_slot(slot);
        window->open_at.store(0, std::memory_order_release);
        ++window->generation;
        if (slot < lowest_free_) lowest_free_ = slot;
        --open_count_;
        if (slot >= masked_windows) --unmasked_count_;
        std::uint32_t end = slot_end_.load(std::memory_order_relaxed);
        while (end > 0 && by_slot(end - 1)->open_at.load(std::memory_order_relaxed) == 0) --end;
        slot_end_.store(end, std::memory_order_release);
    }

    open_window* by_slot(std::uint32_t slot) noexcept {
        if (slot < chunk_windows) return first_ + slot;
        if (slot >= chunk_windows * chunk_count) return nullptr;
        open_window* chunk = chunks_[slot / chunk_windows].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + slot % chunk_windows;
    }

    // All open windows are in slots below this.
    std::uint32_t slot_end() const noexcept { return slot_end_.load(std::memory_order_acquire); }
    std::uint32_t open_count() const noexcept { return open_count_; }
    std::uint32_t unmasked_count() const noexcept { return unmasked_count_; }

private:
    open_window* add_chunk(std::uint32_t slot) noexcept {
        if (slot >= chunk_windows * chunk_count) return nullptr;
        void* pages = map_pages(chunk_windows * sizeof(open_window));
        if (pages == nullptr) return nullptr;
        auto* chunk = static_cast<open_window*>(pages);  // zeroed pages are free windows
        chunks_[slot / chunk_windows].store(chunk, std::memory_order_release);
        return chunk + slot % chunk_windows;
    }

    open_window first_[chunk_windows];
    std::atomic<open_window*> chunks_[chunk_count] = {};
    std::atomic<std::uint32_t> slot_end_{0};
    std::uint32_t lowest_free_ = 0;
    std::uint32_t open_count_ = 0;
    std::uint32_t unmasked_count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_WINDOW_TABLE_HPP

// site_table.hpp - every distinct stack once, with a small number for it.

#ifndef ALLOCSCOPE_TABLES_SITE_TABLE_HPP
#define ALLOCSCOPE_TABLES_SITE_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// One distinct call stack: return addresses, innermost first.
struct site {
    std::uint64_t hash;
    std::atomic<site*> next;
    std::uint32_t id;
    std::uint32_t frame_count;

    const std::uintptr_t* frames() const noexcept {
        return reinterpret_cast<const std::uintptr_t*>(this + 1);
    }
    // Reads in steps of 16 bytes, as chain_memo.hpp writes them. A read of another width would have
    // to wait until the writes of a moment ago have reached the cache.
    ALLOCSCOPE_FAST_PATH bool is_stack(std::uint64_t other_hash, const std::uintptr_t* other,
                                       std::uint32_t other_count) const noexcept {
        if (hash != other_hash || frame_count != other_count) return false;
        const std::uintptr_t* const own = frames();
        __m128i differs = _mm_setzero_si128();
        std::uint32_t i = 0;
        for (; i + 1 < other_count; i += 2) {
            differs = _mm_or_si128(differs, _mm_xor_si128(load_two(own + i), load_two(other + i)));
        }
        const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(differs, _mm_setzero_si128()));
        return equal == 0xffff && (i == other_count || own[i] == other[i]);
    }

private:
    static __m128i load_two(const std::uintptr_t* words) noexcept {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
    }
};

class site_table {
public:
    static constexpr std::uint32_t chunk_sites = 512;
    static constexpr std::uint32_t chunk_count = 8192;
    static constexpr std::uint32_t most_sites = chunk_sites * chunk_count;

    // The one site of this stack; null when there is none yet.
    ALLOCSCOPE_FAST_PATH const site* known(std::uint64_t hash, const std::uintptr_t* frames,
                                           std::uint32_t frame_count) const noexcept {
        const bucket* buckets = buckets_.load(std::memory_order_acquire);
        if (buckets == nullptr) return nullptr;
        return find(buckets[hash & (bucket_count - 1U)].load(std::memory_order_acquire), nullptr,
                    hash, frames, frame_count);
    }

    // The one site of this stack, or null when there is no room for another.
    site* intern(page_arena& arena, std::uint64_t hash, const std::uintptr_t* frames,
                 std::uint32_t frame_count) noexcept {
        bucket* buckets = prepared_buckets();
        if (buckets == nullptr) return nullptr;
        bucket& place = buckets[hash & (bucket_count - 1U)];
        site* first = place.load(std::memory_order_acquire);
        if (site* known = find(first, nullptr, hash, frames, frame_count)) return known;
        site* fresh = make_site(arena, hash, frames, frame_count);
        if (fresh == nullptr) return nullptr;
        site* seen = first;
        for (;;) {
            fresh->next.store(seen, std::memory_order_relaxed);
            // Release: whoever finds the site finds its frames.
            if (place.compare_exchange_weak(seen, fresh, std::memory_order_acq_rel)) break;
            if (site* known = find(seen, first, hash, frames, frame_count)) return known;
            first = seen;
        }
        index(arena, fresh);
        return fresh;
    }

    // The site with this number; null for site 0, and when there was no memory to index the site.
    const site* by_id(std::uint32_t id) const noexcept {
        if (id == 0 || id >= most_sites) return nullptr;
        const site_slot* chunk = chunks_[id / chunk_sites].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk[id % chunk_sites].load(std::memory_order_acquire);
    }

    std::uint32_t size() const noexcept { return next_id_.load(std::memory_order_relaxed) - 1; }
    std::size_t used_bytes() const noexcept {
        bucket* buckets = buckets_.load(std::memory_order_acquire);
        if (buckets == nullptr) return 0;
        const std::size_t touched = std::size_t{size()} * page_bytes;  // at most a page per site
        return touched < bucket_count * sizeof(bucket) ? touched : bucket_count * sizeof(bucket);
    }

    // Forgets every site. The arena that held them is released by the caller.
    void release() noexcept {
        bucket* buckets = buckets_.load(std::memory_order_relaxed);
        if (buckets != nullptr) empty_pages(buckets, bucket_count * sizeof(bucket));
        for (auto& chunk : chunks_) {
            if (chunk.load(std::memory_order_relaxed) != nullptr) {
                chunk.store(nullptr, std::memory_order_relaxed);
            }
        }
        next_id_.store(1, std::memory_order_relaxed);
    }

    // How many sites there may be; a test makes it small.
    std::atomic<std::uint32_t> limit{most_sites - 1};

private:
    using bucket = std::atomic<site*>;
    using site_slot = std::atomic<const site*>;
    static constexpr std::size_t bucket_count = std::size_t{1} << 16U;

    ALLOCSCOPE_FAST_PATH static site* find(site* from, const site* until, std::uint64_t hash,
                                           const std::uintptr_t* frames,
                                           std::uint32_t frame_count) noexcept {
        for (site* s = from; s != until; s = s->next.load(std::memory_order_relaxed)) {
            if (s->is_stack(hash, frames, frame_count)) return s;
        }
        return nullptr;
    }

    bucket* prepared_buckets() noexcept {
        bucket* buckets = buckets_.load(std::memory_order_acquire);
        if (buckets != nullptr) return buckets;
        void* pages = reserve_pages(bucket_count * sizeof(bucket));
        if (pages == nullptr) return nullptr;
        if (buckets_.compare_exchange_strong(buckets, static_cast<bucket*>(pages),
                                             std::memory_order_acq_rel)) {
            return static_cast<bucket*>(pages);
        }
        return_reservation(pages, bucket_count * sizeof(bucket));
        return buckets;
    }

    site* make_site(page_arena& arena, std::uint64_t hash, const std::uintptr_t* frames,
                    std::uint32_t frame_count) noexcept {
        if (size() >= limit.load(std::memory_order_relaxed)) return nullptr;
        const std::size_t frame_bytes = frame_count * sizeof(std::uintptr_t);
        auto* fresh = static_cast<site*>(arena.allocate(sizeof(site) + frame_bytes));
        if (fresh == nullptr) return nullptr;
        fresh->hash = hash;
        fresh->frame_count = frame_count;
        fresh->id = next_id_.fetch_add(1, std::memory_order_relaxed);
        if (fresh->id >= most_sites) {
            next_id_.fetch_sub(1, std::memory_order_relaxed);
            return nullptr;
        }
        std::memcpy(static_cast<void*>(fresh + 1), frames, frame_bytes);
        return fresh;
    }

    void index(page_arena& arena, const site* fresh) noexcept {
        auto& place = chunks_[fresh->id / chunk_sites];
        site_slot* chunk = place.load(std::memory_order_acquire);
        if (chunk == nullptr) {
            auto* made = static_cast<site_slot*>(arena.allocate(chunk_sites * sizeof(site_slot)));
            if (made == nullptr) return;
            if (place.compare_exchange_strong(chunk, made, std::memory_order_acq_rel)) chunk = made;
        }
        chunk[fresh->id % chunk_sites].store(fresh, std::memory_order_release);
    }

    std::atomic<bucket*> buckets_{nullptr};
    std::atomic<std::uint32_t> next_id_{1};
    std::atomic<site_slot*> chunks_[chunk_count] = {};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_SITE_TABLE_HPP

// cohort_of_site.hpp - what one thread knows about the sites it allocates at.

#ifndef ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP
#define ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class cohort_of_site {
public:
    struct entry {
        std::uint64_t shape;  // 0: none that can be recognised
        std::uint32_t epoch;  // for which `cohort` is right
        std::uint32_t cohort;
    };

    // Null when the thread has not been at this site, nor at one of its neighbours.
    ALLOCSCOPE_FAST_PATH entry* existing(std::uint32_t site_id) const noexcept {
        if (directory_ == nullptr) return nullptr;
        entry* const chunk = directory_[site_id / site_table::chunk_sites];
        return chunk == nullptr ? nullptr : chunk + site_id % site_table::chunk_sites;
    }

    // Null when there is no memory.
    entry* find(page_arena& arena, std::uint32_t site_id) noexcept {
        if (directory_ == nullptr) {
            directory_ = static_cast<entry**>(reserve_pages(directory_bytes));
            if (directory_ == nullptr) return nullptr;
        }
        entry*& chunk = directory_[site_id / site_table::chunk_sites];
        if (chunk == nullptr) {
            chunk = static_cast<entry*>(arena.allocate(site_table::chunk_sites * sizeof(entry)));
            if (chunk == nullptr) return nullptr;
        }
        return chunk + site_id % site_table::chunk_sites;
    }

    // Forgets everything. The arena that held the chunks is released by the caller.
    void release() noexcept {
        if (directory_ != nullptr) return_reservation(directory_, directory_bytes);
        directory_ = nullptr;
    }

private:
    static constexpr std::size_t directory_bytes = site_table::chunk_count * sizeof(entry*);

    entry** directory_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP

// cohort_table.hpp - everything one thread allocated at one place between two window boundaries.

#ifndef ALLOCSCOPE_TABLES_COHORT_TABLE_HPP
#define ALLOCSCOPE_TABLES_COHORT_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct cohort_facts {
    std::atomic<std::uint64_t> born_at;  // the boundary clock when the cohort's epoch began
    std::atomic<std::uint64_t> windows;  // which windows (slots 0..63) it belonged to then
    std::atomic<std::uint32_t> owner;    // number of the thread state that made it
    std::atomic<std::uint32_t> site;
    std::atomic<std::uint32_t> next;  // of the same epoch; 0 ends the list
    // Low half of the thread's instance number. It tells the thread from another one that had the
    // same state, unless 2^32 threads were started in between.
    std::atomic<std::uint32_t> instance;
};

struct alignas(32) cohort {
    owned_counter births;
    owned_counter birth_bytes;
    owned_counter deaths;  // by the thread that made the cohort
    owned_counter death_bytes;

    // Of a cohort in the table.
    cohort_facts& facts() noexcept {
        return *reinterpret_cast<cohort_facts*>(reinterpret_cast<char*>(this) + page_bytes / 2);
    }
    const cohort_facts& facts() const noexcept { return const_cast<cohort*>(this)->facts(); }
};
static_assert(sizeof(cohort) == 32 && sizeof(cohort_facts) == 32, "half a page each for 64");

// A cohort of samples goes on in the counters of the next three, where births and deaths then count
// samples, and the bytes are those that the samples stand for. Any thread may count a death there,
// with locked instructions: samples are few.
struct sampled_part {
    // As in sampling/sample_sums.hpp; sums of weights.
    struct sums {
        std::atomic<double> objects;
        std::atomic<double> objects_variance;
        std::atomic<double> bytes_variance;
        std::atomic<double> objects_skew;
        std::atomic<double> bytes_skew;
    };
    sums births;
    sums deaths;
    std::atomic<std::uint64_t> sample_bytes;  // mean bytes between two samples
};
// Ids of sampled cohorts are multiples of it, so that all parts of one lie in one page.
constexpr std::uint32_t sampled_cohort_parts = 4;
static_assert(sizeof(sampled_part) <= (sampled_cohort_parts - 1) * sizeof(cohort),
              "it lies in the place of the next cohorts");

// In cohort::owner: this is a cohort of samples.
constexpr std::uint32_t sampled_owner = std::uint32_t{1} << 31U;

inline bool is_sampled(const cohort& which) noexcept {
    return (which.facts().owner.load(std::memory_order_relaxed) & sampled_owner) != 0;
}

class cohort_table {
public:
    static constexpr std::uint32_t id_bits = 25;  // as many as a slot of the live object map holds
    static constexpr std::uint32_t page_cohorts = 64;
    static constexpr std::uint32_t page_ids = 128;
    static constexpr std::uint32_t page_count = (1U << id_bits) / page_ids;

    // False when there are no addresses for the table. Called again after a failure.
    bool prepare() noexcept {
        if (is_prepared_.load(std::memory_order_acquire)) return true;
        // Where addresses are few, most of them are left to the program.
        constexpr std::size_t most_bytes = std::size_t{page_count} * page_bytes;
        std::size_t bytes = most_bytes;
        while (bytes > least_pages * page_bytes && bytes > address_space_limit() / 64) bytes /= 2;
        void* addresses = reserve_addresses(bytes);
        for (; addresses == nullptr && bytes > least_pages * page_bytes;
             addresses = reserve_addresses(bytes)) {
            bytes /= 4;
        }
        if (addresses == nullptr) return false;
        cohorts_.store(static_cast<cohort*>(addresses), std::memory_order_relaxed);
        reserved_pages_ = static_cast<std::uint32_t>(bytes / page_bytes);
        is_prepared_.store(true, std::memory_order_release);
        return true;
    }

    ALLOCSCOPE_FAST_PATH cohort* by_id(std::uint32_t id) const noexcept {
        return cohorts_.load(std::memory_order_relaxed) + id;
    }

    sampled_part* sampled_part_of(std::uint32_t id) const noexcept {
        return reinterpret_cast<sampled_part*>(by_id(id + 1));
    }

    // The id of the first of 64 fresh cohorts; 0 when there is no room. Ids of the first page are
    // never given out, so that 0 can mean "none".
    std::uint32_t add_page() noexcept {
        std::uint32_t page = next_page_.load(std::memory_order_relaxed);
        do {
            if (page >= reserved_pages_ || page >= limit.load(std::memory_order_relaxed)) return 0;
            if (page >= opened_pages_.load(std::memory_order_acquire) && !open_up_to(page)) {
                return 0;
            }
        } while (!next_page_.compare_exchange_weak(page, page + 1, std::memory_order_acq_rel));
        return page * page_ids;
    }

    // Bytes of the pages given out.
    std::size_t used_bytes() const noexcept {
        return std::size_t{next_page_.load(std::memory_order_relaxed) - 1} * page_bytes;
    }

    // Forgets every cohort and gives the memory back.
    void release() noexcept {
        const std::uint32_t opened = opened_pages_.load(std::memory_order_relaxed);
        if (opened != 0) {
            empty_pages(cohorts_.load(std::memory_order_relaxed), opened * page_bytes);
        }
        next_page_.store(1, std::memory_order_relaxed);
    }

    // How many pages there may be; a test makes it small.
    std::atomic<std::uint32_t> limit{page_count};

private:
    static constexpr std::uint32_t least_pages = 256;
    static constexpr std::uint32_t pages_at_once = 256;  // opened by one call: 1 MiB
    static_assert(sizeof(cohort) * page_ids == page_bytes && page_ids == 2 * page_cohorts,
                  "a page of the machine, half of it counters");

    // Makes the page, and those up to the next multiple of pages_at_once, readable and writable.
    ALLOCSCOPE_SLOW_PATH bool open_up_to(std::uint32_t page) noexcept {
        const std::uint32_t first = page / pages_at_once * pages_at_once;
        cohort* from = cohorts_.load(std::memory_order_relaxed) + first * page_ids;
        if (!open_pages(from, std::size_t{pages_at_once} * page_bytes)) return false;
        std::uint32_t opened = opened_pages_.load(std::memory_order_relaxed);
        while (opened < first + pages_at_once &&
               !opened_pages_.compare_exchange_weak(opened, first + pages_at_once,
                                                    std::memory_order_acq_rel)) {
        }
        return true;
    }

    std::atomic<cohort*> cohorts_{nullptr};
    std::atomic<std::uint32_t> next_page_{1};
    std::atomic<std::uint32_t> opened_pages_{0};
    std::uint32_t reserved_pages_ = 0;  // set before is_prepared_
    std::atomic<bool> is_prepared_{false};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_COHORT_TABLE_HPP

// foreign_deaths.hpp - what one thread freed of the cohorts of other threads.

#ifndef ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP
#define ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct foreign_count {
    owned_counter deaths;
    owned_counter death_bytes;
};

class foreign_deaths {
public:
    // Owner only: its counters for a cohort; null when there is no memory for them.
    ALLOCSCOPE_FAST_PATH foreign_count* for_writing(page_arena& arena, std::uint32_t id) noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_relaxed);
        if (ALLOCSCOPE_LIKELY(directory != nullptr)) {
            foreign_count* chunk =
                directory[id / cohort_table::page_ids].load(std::memory_order_relaxed);
            if (ALLOCSCOPE_LIKELY(chunk != nullptr)) return chunk + id % cohort_table::page_ids;
        }
        return add_chunk(arena, id);
    }

    // Any thread: the counters for a cohort, or null when this thread freed none of its page.
    foreign_count* for_reading(std::uint32_t id) const noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_acquire);
        if (directory == nullptr) return nullptr;
        foreign_count* chunk =
            directory[id / cohort_table::page_ids].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + id % cohort_table::page_ids;
    }

    // Forgets everything. The arena that held the chunks is released by the caller.
    void release() noexcept {
        chunk_pointer* directory = directory_.exchange(nullptr, std::memory_order_acq_rel);
        if (directory != nullptr) return_reservation(directory, directory_bytes);
    }

private:
    using chunk_pointer = std::atomic<foreign_count*>;
    static constexpr std::size_t directory_bytes = cohort_table::page_count * sizeof(chunk_pointer);

    ALLOCSCOPE_SLOW_PATH foreign_count* add_chunk(page_arena& arena, std::uint32_t id) noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_relaxed);
        if (directory == nullptr) {
            directory = static_cast<chunk_pointer*>(reserve_pages(directory_bytes));
            if (directory == nullptr) return nullptr;
            directory_.store(directory, std::memory_order_release);
        }
        auto* chunk = static_cast<foreign_count*>(
            arena.allocate(cohort_table::page_cohorts * sizeof(foreign_count)));
        if (chunk == nullptr) return nullptr;
        directory[id / cohort_table::page_ids].store(chunk, std::memory_order_release);
        return chunk + id % cohort_table::page_ids;
    }

    std::atomic<chunk_pointer*> directory_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP

// byte_view.hpp - a pointer and a length over memory that somebody else owns.

#ifndef ALLOCSCOPE_BASE_BYTE_VIEW_HPP
#define ALLOCSCOPE_BASE_BYTE_VIEW_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct byte_view {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;

    constexpr bool empty() const noexcept { return size == 0; }

    // The bytes [offset, offset + length), or nothing at all when any of them lies outside.
    constexpr byte_view part(std::uint64_t offset, std::uint64_t length) const noexcept {
        if (offset > size || length > size - offset) return byte_view{};
        return byte_view{data + offset, length};
    }

    // The bytes from `offset` to the end; nothing when `offset` lies outside.
    constexpr byte_view from(std::uint64_t offset) const noexcept {
        return offset > size ? byte_view{} : part(offset, size - offset);
    }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_BYTE_VIEW_HPP

// byte_cursor.hpp - checked reading of little-endian numbers, LEB128 and texts.

#ifndef ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP
#define ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class byte_cursor {
public:
    byte_cursor() = default;
    explicit byte_cursor(byte_view bytes, std::uint64_t start = 0) noexcept : bytes_(bytes) {
        seek(start);
    }

    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return !ok_ || at_ >= bytes_.size; }
    std::size_t at() const noexcept { return at_; }
    std::size_t remaining() const noexcept { return ok_ ? bytes_.size - at_ : 0; }
    void fail() noexcept { ok_ = false; }

    void seek(std::uint64_t position) noexcept {
        if (position > bytes_.size) {
            ok_ = false;
        } else {
            at_ = position;
        }
    }
    void skip(std::uint64_t count) noexcept {
        if (count > remaining()) {
            ok_ = false;
        } else {
            at_ += count;
        }
    }

    std::uint8_t u8() noexcept {
        if (remaining() == 0) return ok_ = false, std::uint8_t{0};
        return bytes_.data[at_++];
    }
    std::uint16_t u16() noexcept { return fixed<std::uint16_t>(); }
    std::uint32_t u32() noexcept { return fixed<std::uint32_t>(); }
    std::uint64_t u64() noexcept { return fixed<std::uint64_t>(); }

    // A number of 1, 2, 3, 4 or 8 bytes; any other width fails.
    std::uint64_t unsigned_of(unsigned width) noexcept;

    // Bits beyond the 64th are dropped; more than 16 bytes fail.
    std::uint64_t uleb() noexcept {
        if (ok_ && at_ < bytes_.size && bytes_.data[at_] < 0x80) return bytes_.data[at_++];
        return long_uleb();
    }
    std::int64_t sleb() noexcept;

    // A text that ends with a zero byte inside the bytes; "" on failure.
    const char* text() noexcept;

    byte_view block(std::uint64_t length) noexcept {
        if (length > remaining()) return ok_ = false, byte_view{};
        const byte_view part = bytes_.part(at_, length);
        at_ += part.size;
        return part;
    }

private:
    static constexpr unsigned longest_leb = 16;

    std::uint64_t long_uleb() noexcept;

    template <class Number>
    Number fixed() noexcept {
        Number value = 0;
        if (remaining() < sizeof value) return ok_ = false, Number{0};
        std::memcpy(&value, bytes_.data + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    byte_view bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

ALLOCSCOPE_NOINLINE std::uint64_t byte_cursor::unsigned_of(unsigned width) noexcept {
    switch (width) {
        case 1:
            return u8();
        case 2:
            return u16();
        case 3: {
            const std::uint64_t low = u16();
            return low | (static_cast<std::uint64_t>(u8()) << 16);
        }
        case 4:
            return u32();
        case 8:
            return u64();
        default:
            ok_ = false;
            return 0;
    }
}

ALLOCSCOPE_NOINLINE std::uint64_t byte_cursor::long_uleb() noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (unsigned i = 0; i < longest_leb; ++i, shift += 7) {
        const std::uint8_t byte = u8();
        if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) return ok_ ? value : 0;
    }
    ok_ = false;
    return 0;
}

ALLOCSCOPE_NOINLINE std::int64_t byte_cursor::sleb() noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (unsigned i = 0; i < longest_leb; ++i) {
        const std::uint8_t byte = u8();
        if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) != 0) continue;
        if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        return ok_ ? static_cast<std::int64_t>(value) : 0;
    }
    ok_ = false;
    return 0;
}

ALLOCSCOPE_NOINLINE const char* byte_cursor::text() noexcept {
    const std::size_t left = remaining();
    const void* end = left == 0 ? nullptr : std::memchr(bytes_.data + at_, 0, left);
    if (end == nullptr) return ok_ = false, "";
    const std::uint8_t* start = bytes_.data + at_;
    at_ += static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - start) + 1;
    return reinterpret_cast<const char*>(start);
}

// A longer text is no name; a section without any zero byte must not become one name.
constexpr std::size_t longest_text = std::size_t{1} << 16;

// The text at `offset` of a string section; "" when there is none.
ALLOCSCOPE_NOINLINE const char* text_at(byte_view section, std::uint64_t offset) noexcept {
    byte_view rest = section.from(offset);
    if (rest.size > longest_text) rest.size = longest_text;
    return byte_cursor{rest}.text();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP

// build_id.hpp - the linker's fingerprint of a file, found in its notes.

#ifndef ALLOCSCOPE_BINARY_BUILD_ID_HPP
#define ALLOCSCOPE_BINARY_BUILD_ID_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct build_id {
    static constexpr std::size_t longest = 64;
    std::uint8_t bytes[longest] = {};
    std::size_t size = 0;  // 0: the module has none

    bool known() const noexcept { return size != 0; }
    bool equals(const build_id& other) const noexcept {
        return size == other.size && std::memcmp(bytes, other.bytes, size) == 0;
    }
};

// The first GNU build id among `notes` (a PT_NOTE segment or a SHT_NOTE section).
inline build_id find_build_id(byte_view notes) noexcept {
    constexpr std::uint32_t type_build_id = 3;
    build_id found;
    byte_cursor in{notes};
    while (in.remaining() >= 12) {
        const std::uint32_t name_bytes = in.u32();
        const std::uint32_t value_bytes = in.u32();
        const std::uint32_t type = in.u32();
        const byte_view name = in.block(name_bytes);
        in.skip((4 - (name_bytes & 3)) & 3);
        const byte_view value = in.block(value_bytes);
        if (!in.ok()) break;
        if (type == type_build_id && name.size == 4 && std::memcmp(name.data, "GNU", 4) == 0 &&
            value.size != 0 && value.size <= build_id::longest) {
            std::memcpy(found.bytes, value.data, value.size);
            found.size = value.size;
            break;
        }
        in.skip((4 - (value_bytes & 3)) & 3);
    }
    return found;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_BUILD_ID_HPP

// module_fingerprint.hpp - one number that tells a module from another at the same address.

#ifndef ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP
#define ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Never 0.
inline std::uint64_t fingerprint_of(const build_id& id) noexcept {
    std::uint64_t hash = hash_seed;
    for (std::size_t at = 0; at < id.size; at += sizeof hash) {  // the rest of it is zero
        std::uint64_t word = 0;
        std::memcpy(&word, id.bytes + at, sizeof word);
        hash = hash_step(hash_finish(hash), word);
    }
    return hash_finish(hash) | 1U;
}

constexpr std::size_t fingerprinted_bytes = 4096;

// Of a module without a build id. `page` are its first fingerprinted_bytes; zeros stand behind the
// end of a shorter file, as the kernel maps it. Never 0.
inline std::uint64_t fingerprint_of(const void* page, const char* path) noexcept {
    constexpr std::size_t lanes = 4;  // multiplications that do not wait for each other
    const auto* at = static_cast<const char*>(page);
    const char* const end = at + fingerprinted_bytes;
    std::uint64_t hashes[lanes] = {hash_seed, hash_seed, hash_seed, hash_seed};
    for (; at != end; at += sizeof hashes) {
        std::uint64_t words[lanes];
        std::memcpy(words, at, sizeof words);
        for (std::size_t i = 0; i < lanes; ++i) {
            hashes[i] = hash_step(hash_finish(hashes[i]), words[i]);
        }
    }
    std::uint64_t hash = hash_seed;
    for (const std::uint64_t part : hashes) hash = hash_step(hash_finish(hash), part);
    for (; *path != '\0'; ++path) {
        hash = hash_step(hash_finish(hash), static_cast<unsigned char>(*path));
    }
    return hash_finish(hash) | 1U;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP

// module_segments.hpp - the segments of a loaded module, read from its ELF header in memory.

#ifndef ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP
#define ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP

// Defined by the linker: the ELF header of the module that this is compiled into.
extern "C" const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct module_segments {
    const Elf64_Phdr* first = nullptr;
    std::size_t count = 0;
    std::uintptr_t base = 0;  // what is added to the addresses in the list

    // The loaded segment that has all of `flags` and holds `address` in the part that is in the
    // file.
    const Elf64_Phdr* holder_of(std::uintptr_t address, unsigned flags) const noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            const Elf64_Phdr& each = first[i];
            if (each.p_type != PT_LOAD || (each.p_flags & flags) != flags) continue;
            if (address - (base + each.p_vaddr) < each.p_filesz) return &each;
        }
        return nullptr;
    }
};

// `start` is where the map of the module begins; that page must be readable.
inline bool find_module_segments(std::uintptr_t start, module_segments& out) noexcept {
    constexpr std::size_t page = 4096;
    const auto has_header = [](std::uintptr_t at) noexcept {
        return std::memcmp(reinterpret_cast<const void*>(at), ELFMAG, SELFMAG) == 0;
    };
    if (!has_header(start)) {
        const auto own = reinterpret_cast<std::uintptr_t>(&__ehdr_start[0]);
        if (own == 0 || own > start || own % page != 0 || !has_header(own)) return false;
        start = own;
    }
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(start);
    if (header.e_phoff > page || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > (page - header.e_phoff) / sizeof(Elf64_Phdr)) {
        return false;
    }
    out.first = reinterpret_cast<const Elf64_Phdr*>(start + header.e_phoff);
    out.count = header.e_phnum;
    for (std::size_t i = 0; i < out.count; ++i) {
        if (out.first[i].p_type != PT_LOAD) continue;
        out.base = start - (out.first[i].p_vaddr & ~(page - 1));
        return true;
    }
    return false;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP

// return_address_check.hpp - could this number be a return address?

#ifndef ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP
#define ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept
    __attribute__((weak));
#endif

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether the bytes before `address` are a call: E8 rel32, or FF /2 with any operand. `start` is
// the lowest address that may be read.
inline bool follows_call(std::uintptr_t address, std::uintptr_t start) noexcept {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    const std::uintptr_t before = address - start;
    if (before >= 5 && code[-5] == 0xe8) return true;
    for (std::uintptr_t length = 2; length <= 7 && length <= before; ++length) {
        const unsigned char* at = code - length;
        if (at[0] != 0xff || (at[1] & 0x38U) != 0x10) continue;
        const unsigned mode = at[1] >> 6U;
        const unsigned base = at[1] & 7U;
        std::uintptr_t expected = 2;
        if (mode != 3 && base == 4) expected += 1;  // an index byte follows
        if (mode == 1) expected += 1;
        if (mode == 2 || (mode == 0 && base == 5)) expected += 4;
        if (mode == 0 && base == 4 && length >= 3 && (at[2] & 7U) == 5) expected += 4;
        if (expected == length) return true;
    }
    return false;
}

// mov $15, %rax; syscall: where the kernel lets a signal handler return to.
inline bool is_signal_return(std::uintptr_t address, std::uintptr_t end) noexcept {
    constexpr unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    return end - address >= sizeof(code) &&
           std::memcmp(reinterpret_cast<const void*>(address), code, sizeof(code)) == 0;
}

// Looks into the module that holds the address.
inline bool is_return_address(std::uintptr_t address) noexcept {
    constexpr std::uintptr_t lowest = 4096;
    constexpr std::uintptr_t highest = std::uintptr_t{1} << 47U;
    if (address < lowest || address >= highest) return false;
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    if (&_dl_find_object == nullptr) return true;
    struct dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
    module_segments segments;
    if (!find_module_segments(reinterpret_cast<std::uintptr_t>(found.dlfo_map_start), segments)) {
        return false;
    }
    const ElfW(Phdr)* code = segments.holder_of(address - 1, PF_R | PF_X);
    if (code == nullptr) return false;
    const std::uintptr_t low = segments.base + code->p_vaddr;
    return follows_call(address, low) || is_signal_return(address, low + code->p_filesz);
#else
    return true;
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP

// unwind_rule.hpp - the few shapes that frames really have.

#ifndef ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP
#define ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class rule_kind : std::uint8_t {
    unknown,        // nothing is known about code at this address: it is no return address
    frame_pointer,  // CFA = bp + 16, bp saved at CFA - 16
    from_sp,        // CFA = sp + cfa_offset; at least 8, a multiple of 8
    from_bp,        // CFA = bp + cfa_offset, otherwise than in frame_pointer
    outermost,      // this frame has no caller
    unsupported,    // described in a way that is not followed here
    realigned,      // CFA = the word at bp + cfa_offset; bp saved at bp + bp_offset; multiples of 8
    no_table,       // no record is about this code, but a call stands before the address
    saved_sp        // CFA = the word at sp + cfa_offset, plus 8; not below sp, a multiple of 8
};

// How long what is known about the code of a module stays true.
enum class module_life : std::uint8_t {
    permanent,    // the program, and what was loaded with it
    may_go,       // dlclose may unload it; its build id tells whether it is still the same
    cannot_tell,  // dlclose may unload it, and it has no build id
};

struct unwind_rule {
    rule_kind kind;
    bool restores_bp : 1;     // false: the caller's bp is still in the register
    module_life life : 2;     // of the module that the rule came from
    bool is_pair : 1;         // for chain_memo.hpp: the saved bp below was needed, too
    std::int16_t bp_offset;   // bytes from the CFA; -16 or less, a multiple of 8
    std::int32_t cfa_offset;  // bytes from sp or bp

    constexpr unwind_rule(rule_kind what = rule_kind::unknown, bool restores = false,
                          std::int16_t bp = 0, std::int32_t cfa = 0) noexcept
        : kind(what),
          restores_bp(restores),
          life(module_life::permanent),
          is_pair(false),
          bp_offset(bp),
          cfa_offset(cfa) {}

    // Whether both lead to the same caller. Where the rules came from does not matter.
    bool leads_like(const unwind_rule& other) const noexcept {
        return kind == other.kind && restores_bp == other.restores_bp &&
               bp_offset == other.bp_offset && cfa_offset == other.cfa_offset;
    }
};
static_assert(sizeof(unwind_rule) == 8, "a cache entry is an address and a rule: 16 bytes");

constexpr unwind_rule frame_pointer_rule{rule_kind::frame_pointer, true, -16, 16};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP

// module_identity.hpp - is the module at this address still the one it was?

#ifndef ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
#define ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct module_identity {
    std::uintptr_t start = 0;  // of its addresses; 0: no module
    std::uintptr_t size = 0;
    std::uint64_t fingerprint = 0;  // 0: not looked for, or there is nothing to tell it by
    module_life life = module_life::permanent;
    const link_map* loaded = nullptr;  // good while the module is on the caller's stack

    bool is_same(const module_identity& other) const noexcept {
        return start == other.start && size == other.size && fingerprint == other.fingerprint;
    }
    bool holds(std::uintptr_t address) const noexcept { return address - start < size; }
    std::uint64_t tag() const noexcept { return module_tag(start, fingerprint); }
    bool overlaps(const module_identity& other) const noexcept {
        return start - other.start < other.size || other.start - start < size;
    }
};

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

// Whether the module was loaded with the program, as far as can be told without a lock.
inline bool is_loaded_with_program(const link_map* module) noexcept {
    const std::uintptr_t loader = _r_debug.r_ldbase;
    if (loader == 0) return false;
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        if (each == module) return true;
        if (each->l_addr == loader) break;
    }
    return false;
}

// The build id of the module, if it has one.
inline build_id build_id_in(const module_segments& segments) noexcept {
    for (std::size_t i = 0; i < segments.count; ++i) {
        const Elf64_Phdr& each = segments.first[i];
        if (each.p_type != PT_NOTE) continue;
        const std::uintptr_t notes = segments.base + each.p_vaddr;
        const Elf64_Phdr* const holder = segments.holder_of(notes, PF_R);
        if (holder == nullptr) continue;
        const byte_view bytes{
            reinterpret_cast<const std::uint8_t*>(segments.base + holder->p_vaddr),
            holder->p_filesz};
        const build_id id =
            find_build_id(bytes.part(each.p_vaddr - holder->p_vaddr, each.p_filesz));
        if (id.known()) return id;
    }
    return {};
}

// Reads the module at `found`, which may go: how long it lives, and what it is told by.
inline void read_fingerprint(module_identity& found) noexcept {
    found.life = module_life::cannot_tell;
    module_segments segments;
    if (!find_module_segments(found.start, segments)) return;
    const build_id id = build_id_in(segments);
    if (id.known()) {
        found.fingerprint = fingerprint_of(id);
        found.life = module_life::may_go;
        return;
    }
    // The page is mapped, and it is as in the file when nobody may write to it.
    const Elf64_Phdr* const first = segments.holder_of(found.start, PF_R);
    if (first == nullptr || (first->p_flags & PF_W) != 0) return;
    found.fingerprint =
        fingerprint_of(reinterpret_cast<const void*>(found.start), found.loaded->l_name);
}

// The module that holds `address`.
ALLOCSCOPE_NOINLINE module_identity identify_module(std::uintptr_t address) noexcept {
    module_identity found;
    struct dl_find_object object;
    if (&_dl_find_object == nullptr ||
        _dl_find_object(reinterpret_cast<void*>(address), &object) != 0) {
        return found;
    }
    found.start = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
    found.size = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end) - found.start;
    found.loaded = object.dlfo_link_map;
    if (!is_loaded_with_program(found.loaded)) read_fingerprint(found);
    return found;
}

// Keeps for good what reports will have to know of a module that may go. Not for a walk: the table
// of modules is written with locked instructions.
ALLOCSCOPE_NOINLINE void note_module(const module_identity& seen) noexcept {
    met_module met;
    met.start = seen.start;
    met.size = seen.size;
    met.base = seen.loaded->l_addr;
    met.fingerprint = seen.fingerprint;
    met.path = seen.loaded->l_name;
    met.has_build_id = seen.life == module_life::may_go;
    modules_met.note(met);
}

#else

// Without _dl_find_object no rule is read from a module.
inline module_identity identify_module(std::uintptr_t) noexcept {
    return {};
}
inline void note_module(const module_identity&) noexcept {}

#endif

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

// eh_frame.hpp - the records of .eh_frame: which code they are about, and their programs.

#ifndef ALLOCSCOPE_BINARY_EH_FRAME_HPP
#define ALLOCSCOPE_BINARY_EH_FRAME_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Bytes, and the address that pointers use for the first of them.
struct mapped_bytes {
    byte_view bytes;
    std::uint64_t address = 0;

    bool holds(std::uint64_t place) const noexcept { return place - address < bytes.size; }
};

// How a pointer is written: the low four bits are its form, the next three say what is added.
namespace eh_pointer {
constexpr std::uint8_t absolute = 0x00;
constexpr std::uint8_t uleb128 = 0x01;
constexpr std::uint8_t udata2 = 0x02;
constexpr std::uint8_t udata4 = 0x03;
constexpr std::uint8_t udata8 = 0x04;
constexpr std::uint8_t sleb128 = 0x09;
constexpr std::uint8_t sdata2 = 0x0a;
constexpr std::uint8_t sdata4 = 0x0b;
constexpr std::uint8_t sdata8 = 0x0c;
constexpr std::uint8_t form_mask = 0x0f;
constexpr std::uint8_t relative_to_field = 0x10;
constexpr std::uint8_t relative_to_data = 0x30;  // to the start of .eh_frame_hdr
constexpr std::uint8_t base_mask = 0xf0;         // bit 7: the address of the pointer is meant
constexpr std::uint8_t omitted = 0xff;
}  // namespace eh_pointer

// The number as it is written; an unknown form marks the cursor as failed.
inline std::uint64_t read_eh_number(byte_cursor& in, std::uint8_t encoding) noexcept {
    switch (encoding & eh_pointer::form_mask) {
        case eh_pointer::absolute:
        case eh_pointer::udata8:
        case eh_pointer::sdata8:
            return in.u64();
        case eh_pointer::uleb128:
            return in.uleb();
        case eh_pointer::udata2:
            return in.u16();
        case eh_pointer::udata4:
            return in.u32();
        case eh_pointer::sleb128:
            return static_cast<std::uint64_t>(in.sleb());
        case eh_pointer::sdata2:
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(in.u16())});
        case eh_pointer::sdata4:
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in.u32())});
        default:
            in.fail();
            return 0;
    }
}

// Reads an address. `in` reads `from` from its start; `data` is what relative_to_data counts from.
inline std::uint64_t read_eh_pointer(byte_cursor& in, std::uint8_t encoding,
                                     const mapped_bytes& from, std::uint64_t data) noexcept {
    const std::uint64_t field = from.address + in.at();
    const std::uint64_t number = read_eh_number(in, encoding);
    switch (encoding & eh_pointer::base_mask) {
        case 0:
            return number;
        case eh_pointer::relative_to_field:
            return number + field;
        case eh_pointer::relative_to_data:
            return number + data;
        default:
            in.fail();
            return 0;
    }
}

enum class eh_record : std::uint8_t {
    description,  // an FDE
    common,       // a CIE
    end,          // a record of length 0
    odd           // not readable, or not of a kind that is known here
};

// What one FDE says together with its CIE.
struct frame_description {
    std::uint64_t begin = 0, end = 0;  // the code it is about
    byte_view common_program, program;
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint8_t encoding = eh_pointer::absolute;
    bool is_signal_frame = false;
};

namespace eh_frame_detail {

// Where the contents of a record lie, as offsets in the bytes.
struct record_bounds {
    std::uint64_t begin = 0;  // of the field that says whether it is a CIE
    std::uint64_t end = 0;
};

ALLOCSCOPE_NOINLINE eh_record read_bounds(const mapped_bytes& frames, std::uint64_t address,
                                          record_bounds& bounds, std::uint32_t& id) noexcept {
    byte_cursor in{frames.bytes, address - frames.address};
    const std::uint32_t length = in.u32();
    if (!in.ok()) return eh_record::odd;
    if (length == 0) return eh_record::end;
    // 0xffffffff announces a 64-bit length: nobody writes that into .eh_frame.
    if (length > in.remaining()) return eh_record::odd;
    bounds.begin = in.at();
    bounds.end = bounds.begin + length;
    id = in.u32();
    if (length < sizeof id) return eh_record::odd;
    return id == 0 ? eh_record::common : eh_record::description;
}

// The letters after 'z', up to a 0, and what stands for each of them.
inline bool read_augmentation(const std::uint8_t* letters, byte_cursor& in,
                              frame_description& out) noexcept {
    const std::uint64_t length = in.uleb();
    const std::uint64_t end = in.at() + length;
    if (length > in.remaining()) return false;
    for (; *letters != 0; ++letters) {
        switch (*letters) {
            case 'R':
                out.encoding = in.u8();
                break;
            case 'L':  // how the address of the exception table is written
                in.skip(1);
                break;
            case 'P':  // the function that decides about exceptions
                read_eh_number(in, in.u8());
                break;
            case 'S':
                out.is_signal_frame = true;
                break;
            case 'B':  // return addresses are signed: on other processors only
                break;
            default:
                return false;
        }
    }
    if (!in.ok() || in.at() > end) return false;
    in.seek(end);
    return in.ok();
}

ALLOCSCOPE_NOINLINE bool read_common(const mapped_bytes& frames, std::uint64_t address,
                                     bool& has_augmentation, frame_description& out) noexcept {
    record_bounds bounds;
    std::uint32_t id = 0;
    if (read_bounds(frames, address, bounds, id) != eh_record::common) return false;
    byte_cursor in{frames.bytes.part(0, bounds.end), bounds.begin + sizeof id};
    const std::uint8_t version = in.u8();
    if (version != 1 && version != 3 && version != 4) return false;
    const std::uint8_t* const letters = frames.bytes.data + in.at() + 1;
    const std::uint8_t first = in.u8();
    if (first != 0 && first != 'z') return false;
    constexpr unsigned most_letters = 16;
    unsigned count = 0;
    for (std::uint8_t letter = first; letter != 0; letter = in.u8()) {
        if (++count > most_letters) return false;
    }
    if (!in.ok()) return false;
    if (version == 4 && (in.u8() != 8 || in.u8() != 0)) return false;  // address, segment
    out.code_factor = in.uleb();
    out.data_factor = in.sleb();
    constexpr std::uint64_t return_address_register = 16;
    if ((version == 1 ? in.u8() : in.uleb()) != return_address_register) return false;
    has_augmentation = first == 'z';
    if (has_augmentation && !read_augmentation(letters, in, out)) return false;
    if (!in.ok()) return false;
    out.common_program = frames.bytes.part(in.at(), bounds.end - in.at());
    return true;
}

// Reads what follows the reference to the CIE. `out` already has what the CIE said.
ALLOCSCOPE_NOINLINE bool read_function(const mapped_bytes& frames, const record_bounds& bounds,
                                       std::uint64_t data, bool has_augmentation,
                                       frame_description& out) noexcept {
    byte_cursor in{frames.bytes.part(0, bounds.end), bounds.begin + sizeof(std::uint32_t)};
    out.begin = read_eh_pointer(in, out.encoding, frames, data);
    const std::uint64_t length = read_eh_number(in, out.encoding);
    out.end = out.begin + length;
    if (has_augmentation) in.skip(in.uleb());
    if (!in.ok() || out.end < out.begin) return false;
    out.program = frames.bytes.part(in.at(), bounds.end - in.at());
    return true;
}

}  // namespace eh_frame_detail

// Reads the record at `address`. `out` is whole only for eh_record::description; `next` is where
// the record after it begins, unless it is odd or the end. Programs are not looked at.
inline eh_record read_frame_description(const mapped_bytes& frames, std::uint64_t address,
                                        std::uint64_t data, frame_description& out,
                                        std::uint64_t& next) noexcept {
    eh_frame_detail::record_bounds bounds;
    std::uint32_t id = 0;
    const eh_record kind = eh_frame_detail::read_bounds(frames, address, bounds, id);
    next = frames.address + bounds.end;
    if (kind != eh_record::description) return kind;
    out = frame_description{};
    bool has_augmentation = false;
    if (id > bounds.begin) return eh_record::odd;  // the CIE would lie before the bytes
    if (!eh_frame_detail::read_common(frames, frames.address + bounds.begin - id, has_augmentation,
                                      out)) {
        return eh_record::odd;
    }
    return eh_frame_detail::read_function(frames, bounds, data, has_augmentation, out)
               ? eh_record::description
               : eh_record::odd;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_EH_FRAME_HPP

// eh_frame_index.hpp - from an address in code to the .eh_frame record about it.

#ifndef ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP
#define ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The unwind tables of one module. The two segments are the same one in nearly every module.
struct eh_frame_image {
    mapped_bytes index;               // the segment that holds .eh_frame_hdr
    std::uint64_t index_address = 0;  // where .eh_frame_hdr begins
    mapped_bytes frames;              // the segment that holds .eh_frame
};

struct eh_frame_header {
    bool is_valid = false;
    std::uint64_t frames_address = 0;
    byte_view table;  // of `entry_bytes` each; empty when there is none that can be searched
};

constexpr std::uint64_t eh_frame_entry_bytes = 8;

inline eh_frame_header read_eh_frame_header(const mapped_bytes& index,
                                            std::uint64_t address) noexcept {
    eh_frame_header header;
    byte_cursor in{index.bytes, address - index.address};
    const std::uint8_t version = in.u8();
    const std::uint8_t frames_encoding = in.u8();
    const std::uint8_t count_encoding = in.u8();
    const std::uint8_t table_encoding = in.u8();
    if (version != 1 || frames_encoding == eh_pointer::omitted) return header;
    header.frames_address = read_eh_pointer(in, frames_encoding, index, address);
    header.is_valid = in.ok();
    if (count_encoding == eh_pointer::omitted ||
        table_encoding != (eh_pointer::relative_to_data | eh_pointer::sdata4)) {
        return header;
    }
    const std::uint64_t count = read_eh_pointer(in, count_encoding, index, address);
    if (!in.ok() || count > in.remaining() / eh_frame_entry_bytes) return header;
    header.table = in.block(count * eh_frame_entry_bytes);
    return header;
}

enum class fde_search : std::uint8_t {
    found,
    none,       // no record is about this address
    unreadable  // there may be one
};

namespace eh_frame_detail {

constexpr unsigned most_scanned_records = 10000;

// The number at `index` of the pairs; `which` is 0 for the code, 4 for the record.
inline std::int32_t table_number(byte_view table, std::uint64_t index, unsigned which) noexcept {
    byte_cursor in{table, index * eh_frame_entry_bytes + which};
    return static_cast<std::int32_t>(in.u32());
}

// Finds the record about `code`, if there is one: the last that does not begin after it.
ALLOCSCOPE_NOINLINE fde_search locate_record(const eh_frame_image& image, std::uint64_t code,
                                             bool& must_scan, std::uint64_t& address) noexcept {
    const eh_frame_header header = read_eh_frame_header(image.index, image.index_address);
    must_scan = header.table.empty();
    address = header.frames_address;
    if (!header.is_valid) return fde_search::unreadable;
    if (must_scan) return fde_search::found;
    // An address counts as signed: code may lie before the table.
    const auto wanted = static_cast<std::int64_t>(code - image.index_address);
    std::uint64_t low = 0;
    std::uint64_t high = header.table.size / eh_frame_entry_bytes;
    while (low != high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (table_number(header.table, middle, 0) <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return fde_search::none;
    const std::int64_t offset = table_number(header.table, low - 1, 4);
    address = image.index_address + static_cast<std::uint64_t>(offset);
    return fde_search::found;
}

}  // namespace eh_frame_detail

// The record about the instruction at `code`.
ALLOCSCOPE_NOINLINE fde_search find_frame_description(const eh_frame_image& image,
                                                      std::uint64_t code,
                                                      frame_description& out) noexcept {
    bool must_scan = false;
    std::uint64_t at = 0;
    const fde_search answer = eh_frame_detail::locate_record(image, code, must_scan, at);
    if (answer != fde_search::found) return answer;
    for (unsigned i = 0; i < eh_frame_detail::most_scanned_records; ++i) {
        // A section need not end with a record of length 0.
        if (at - image.frames.address == image.frames.bytes.size) return fde_search::none;
        std::uint64_t next = 0;
        const eh_record kind =
            read_frame_description(image.frames, at, image.index_address, out, next);
        const bool is_function = kind == eh_record::description;
        if (is_function && code - out.begin < out.end - out.begin) return fde_search::found;
        if (!must_scan) return is_function ? fde_search::none : fde_search::unreadable;
        if (kind == eh_record::end) return fde_search::none;
        if (kind == eh_record::odd) break;
        at = next;
    }
    return fde_search::unreadable;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP

// cfi_machine.hpp - runs the program that .eh_frame holds for a function.

#ifndef ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP
#define ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// One row of the table: where sp, rbp and the return address of the caller are. It is small,
// because a machine has ten of them on the stack of the program.
struct cfi_row {
    // word_at_sp: 8 more than the word there
    enum class base : std::uint8_t { other, sp, bp, word_at_bp, word_at_sp };
    // at_bp: at an offset from bp as it is now, not from the CFA
    enum class place : std::uint8_t { unchanged, saved, undefined, other, at_bp };

    std::int32_t cfa_offset = 0;
    std::int16_t bp_offset = 0;
    base cfa_from : 3;
    place bp : 3;
    place return_address : 3;  // saved: at CFA - 8, elsewhere is `other`

    cfi_row() noexcept
        : cfa_from(base::other), bp(place::unchanged), return_address(place::unchanged) {}
};
static_assert(sizeof(cfi_row) == 8, "see above");

// Runs the program of one function. Operations are numbered as in the DWARF standard.
class cfi_machine {
public:
    cfi_machine(const mapped_bytes& frames, std::uint64_t data,
                const frame_description& about) noexcept
        : frames_(frames), data_(data), about_(about) {}

    // The row for the instruction at `code`, which must be in the function. False: the program
    // cannot be followed.
    bool run_to(std::uint64_t code) noexcept {
        wanted_ = ~std::uint64_t{0};
        if (!run(about_.common_program)) return false;
        first_ = row_;
        kept_count_ = 0;
        location_ = about_.begin;
        wanted_ = code;
        return run(about_.program);
    }

    const cfi_row& row() const noexcept { return row_; }

private:
    static constexpr unsigned most_steps = 100000;
    static constexpr unsigned most_kept = 8;
    static constexpr std::uint8_t operation_dereference = 0x06;
    static constexpr std::uint8_t operation_plus = 0x23;  // a number that follows
    static constexpr std::uint8_t operation_bp = 0x76;    // bp plus an offset
    static constexpr std::uint8_t operation_sp = 0x77;
    static constexpr std::uint64_t register_bp = 6;
    static constexpr std::uint64_t register_sp = 7;
    static constexpr std::uint64_t register_return_address = 16;

    bool run(const byte_view& program) noexcept {
        program_ = &program;
        in_ = byte_cursor{program};
        while (!in_.at_end() && !is_past_) {
            if (++steps_ > most_steps) return false;
            step();
            if (is_odd_ || !in_.ok()) return false;
        }
        return true;
    }

    void step() noexcept {
        const std::uint8_t code = in_.u8();
        const std::uint8_t low = code & 0x3fU;
        switch (code >> 6U) {
            case 1:
                return advance(low);
            case 2:
                return save(low, in_.uleb(), false);
            case 3:
                return restore(low);
            default:
                break;
        }
        switch (code) {
            case 0x00:  // nothing
                return;
            case 0x01:  // go to an address
                return go_to();
            case 0x02:
                return advance(in_.u8());
            case 0x03:
                return advance(in_.u16());
            case 0x04:
                return advance(in_.u32());
            case 0x0a:  // remember the row
                return keep();
            case 0x0b:  // go back to it
                return go_back();
            case 0x0c: {
                const std::uint64_t number = in_.uleb();
                set_base(number);
                return set_offset(static_cast<std::int64_t>(in_.uleb()));
            }
            case 0x0d:
                return set_base(in_.uleb());
            case 0x0e:
                return set_offset(static_cast<std::int64_t>(in_.uleb()));
            case 0x0f:  // an expression
                return set_base_expression(in_.block(in_.uleb()));
            case 0x12: {
                const std::uint64_t number = in_.uleb();
                set_base(number);
                return set_offset(scaled(in_.sleb()));
            }
            case 0x13:
                return set_offset(scaled(in_.sleb()));
            case 0x2e:  // how many bytes of arguments there are: for landing pads
                in_.uleb();
                return;
            default:
                return step_of_register(code);
        }
    }

    // The operations whose first operand is the number of a register.
    void step_of_register(std::uint8_t code) noexcept {
        const std::uint64_t number = in_.uleb();
        switch (code) {
            case 0x05:
                return save(number, in_.uleb(), false);
            case 0x06:
                return restore(number);
            case 0x07:
                return set_place(number, cfi_row::place::undefined);
            case 0x08:
                return set_place(number, cfi_row::place::unchanged);
            case 0x09:  // in another register
                in_.uleb();
                return set_place(number, cfi_row::place::other);
            case 0x10:  // where an expression says
                return save_expression(number, in_.block(in_.uleb()));
            case 0x16:  // what an expression says
                in_.skip(in_.uleb());
                return set_place(number, cfi_row::place::other);
            case 0x11:
                return save(number, static_cast<std::uint64_t>(in_.sleb()), false);
            case 0x14:  // the address itself, not what is there
            case 0x15:
                in_.uleb();  // a signed number is as long as an unsigned one
                return set_place(number, cfi_row::place::other);
            case 0x2f:  // at a negative offset
                return save(number, in_.uleb(), true);
            default:
                is_odd_ = true;
        }
    }

    void advance(std::uint64_t distance) noexcept {
        std::uint64_t bytes = 0;
        std::uint64_t next = 0;
        if (__builtin_mul_overflow(distance, about_.code_factor, &bytes) ||
            __builtin_add_overflow(location_, bytes, &next)) {
            is_odd_ = true;
            return;
        }
        move_to(next);
    }

    void go_to() noexcept {
        const auto offset = static_cast<std::uint64_t>(program_->data - frames_.bytes.data);
        const std::uint64_t next = read_eh_pointer(
            in_, about_.encoding, mapped_bytes{*program_, frames_.address + offset}, data_);
        if (next < location_) {
            is_odd_ = true;
            return;
        }
        move_to(next);
    }

    void move_to(std::uint64_t next) noexcept {
        if (next > wanted_) {
            is_past_ = true;
        } else {
            location_ = next;
        }
    }

    void keep() noexcept {
        if (kept_count_ == most_kept) {
            is_odd_ = true;
        } else {
            kept_[kept_count_++] = row_;
        }
    }

    void go_back() noexcept {
        if (kept_count_ == 0) {
            is_odd_ = true;
        } else {
            row_ = kept_[--kept_count_];
        }
    }

    std::int64_t scaled(std::int64_t number) noexcept {
        std::int64_t product = 0;
        if (__builtin_mul_overflow(number, about_.data_factor, &product)) is_odd_ = true;
        return product;
    }

    void set_base(std::uint64_t number) noexcept {
        row_.cfa_from = number == register_sp   ? cfi_row::base::sp
                        : number == register_bp ? cfi_row::base::bp
                                                : cfi_row::base::other;
    }

    void set_offset(std::int64_t offset) noexcept {
        row_.cfa_offset = static_cast<std::int32_t>(offset);
        if (row_.cfa_offset != offset) is_odd_ = true;
    }

    // Two expressions are followed for the CFA. For a function that aligns its stack, gcc writes
    // "the word at bp + offset" (and "at bp + offset" for the saved bp). OpenSSL's assembler writes
    // "the word at sp + offset, plus 8" for the same; the word is sp as it was on entry.
    void set_base_expression(const byte_view& expression) noexcept {
        std::int64_t offset = 0;
        const std::uint8_t* const end = expression.data + expression.size;
        row_.cfa_from = cfi_row::base::other;
        if (is_at(operation_bp, expression, 1, offset) && end[-1] == operation_dereference) {
            row_.cfa_from = cfi_row::base::word_at_bp;
        } else if (is_at(operation_sp, expression, 3, offset) && end[-3] == operation_dereference &&
                   end[-2] == operation_plus && end[-1] == 8) {
            row_.cfa_from = cfi_row::base::word_at_sp;
        }
        row_.cfa_offset = static_cast<std::int32_t>(offset);
        if (row_.cfa_offset != offset) row_.cfa_from = cfi_row::base::other;
    }

    void save_expression(std::uint64_t number, const byte_view& expression) noexcept {
        std::int64_t offset = 0;
        if (number != register_bp || !is_at(operation_bp, expression, 0, offset)) {
            return set_place(number, cfi_row::place::other);
        }
        row_.bp_offset = static_cast<std::int16_t>(offset);
        const bool fits = row_.bp_offset == offset;
        row_.bp = fits ? cfi_row::place::at_bp : cfi_row::place::other;
    }

    // Whether the expression is that register + offset, then `rest` more bytes.
    static bool is_at(std::uint8_t operation, const byte_view& expression, std::size_t rest,
                      std::int64_t& offset) noexcept {
        byte_cursor in{expression};
        if (in.u8() != operation) return false;
        const std::int64_t number = in.sleb();
        if (!in.ok() || in.remaining() != rest) return false;
        offset = number;
        return true;
    }

    void save(std::uint64_t number, std::uint64_t factor, bool is_negative) noexcept {
        std::int64_t offset = scaled(static_cast<std::int64_t>(factor));
        if (is_negative && __builtin_sub_overflow(std::int64_t{0}, offset, &offset)) is_odd_ = true;
        if (number == register_bp) {
            row_.bp_offset = static_cast<std::int16_t>(offset);
            const bool fits = row_.bp_offset == offset;
            row_.bp = fits ? cfi_row::place::saved : cfi_row::place::other;
        } else {
            set_place(number, offset == -8 ? cfi_row::place::saved : cfi_row::place::other);
        }
    }

    void set_place(std::uint64_t number, cfi_row::place where) noexcept {
        if (number == register_bp) {
            row_.bp = where;
        } else if (number == register_return_address) {
            row_.return_address = where;
        } else if (number == register_sp && where != cfi_row::place::unchanged) {
            is_odd_ = true;  // the caller's sp would not be the CFA
        }
    }

    // Sets the register as the common program left it.
    void restore(std::uint64_t number) noexcept {
        if (number == register_bp) {
            row_.bp = first_.bp;
            row_.bp_offset = first_.bp_offset;
        } else if (number == register_return_address) {
            row_.return_address = first_.return_address;
        }
    }

    const mapped_bytes& frames_;
    std::uint64_t data_;
    const frame_description& about_;
    const byte_view* program_ = nullptr;  // the one that runs
    byte_cursor in_;
    std::uint64_t location_ = 0;
    std::uint64_t wanted_ = 0;
    unsigned steps_ = 0;
    unsigned kept_count_ = 0;
    bool is_odd_ = false;
    bool is_past_ = false;  // the wanted row is complete
    cfi_row row_;
    cfi_row first_;
    cfi_row kept_[most_kept];
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP

// cfi_to_rule.hpp - makes one of a few rules of what an unwind table says about an address.

#ifndef ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP
#define ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline unwind_rule rule_from_realigned_row(const cfi_row& row) noexcept {
    constexpr std::int32_t word = 8;
    if (row.bp != cfi_row::place::at_bp || row.bp_offset % word != 0 ||
        row.cfa_offset % word != 0) {
        return rule_kind::unsupported;
    }
    return {rule_kind::realigned, true, row.bp_offset, row.cfa_offset};
}

inline unwind_rule rule_from_row(const cfi_row& row) noexcept {
    constexpr std::int32_t word = 8;
    unwind_rule rule{rule_kind::unsupported};
    if (row.return_address == cfi_row::place::undefined) {
        rule.kind = rule_kind::outermost;
        return rule;
    }
    if (row.return_address != cfi_row::place::saved || row.cfa_from == cfi_row::base::other ||
        row.bp == cfi_row::place::other) {
        return rule;
    }
    if (row.cfa_from == cfi_row::base::word_at_bp) return rule_from_realigned_row(row);
    if (row.bp == cfi_row::place::at_bp) return rule;
    const bool restores_bp = row.bp == cfi_row::place::saved;
    if (restores_bp && (row.bp_offset > -2 * word || row.bp_offset % word != 0)) return rule;
    if (row.cfa_from == cfi_row::base::bp) {
        if (row.cfa_offset == 2 * word && restores_bp && row.bp_offset == -2 * word) {
            return frame_pointer_rule;
        }
        rule.kind = rule_kind::from_bp;
    } else if (row.cfa_from == cfi_row::base::word_at_sp) {
        if (row.cfa_offset < 0 || row.cfa_offset % word != 0) return rule;
        rule.kind = rule_kind::saved_sp;
    } else {
        if (row.cfa_offset < word || row.cfa_offset % word != 0) return rule;
        rule.kind = rule_kind::from_sp;
    }
    rule.restores_bp = restores_bp;
    rule.bp_offset = restores_bp ? row.bp_offset : std::int16_t{0};
    rule.cfa_offset = row.cfa_offset;
    return rule;
}

// Not inlined, like the search for the record: the two do not need their stacks at the same time.
ALLOCSCOPE_NOINLINE unwind_rule rule_from_program(const eh_frame_image& image,
                                                  const frame_description& about,
                                                  std::uint64_t code) noexcept {
    cfi_machine machine{image.frames, image.index_address, about};
    if (machine.run_to(code)) return rule_from_row(machine.row());
    return rule_kind::unsupported;
}

// The rule for a return address. `unknown`: no record is about the call before it. In a frame that
// a signal interrupted, the address is that of the next instruction, and there is no call before
// it.
ALLOCSCOPE_FAST_PATH unwind_rule rule_from_eh_frame(const eh_frame_image& image,
                                                    std::uintptr_t pc) noexcept {
    frame_description about;
    fde_search search = fde_search::none;
    for (std::uintptr_t before = 1; search == fde_search::none; --before) {
        search = find_frame_description(image, pc - before, about);
        if (before != 0) continue;
        if (search == fde_search::none || !about.is_signal_frame) return rule_kind::unknown;
    }
    if (search == fde_search::unreadable) return rule_kind::unsupported;
    return rule_from_program(image, about, about.is_signal_frame ? pc : pc - 1);
}

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

namespace cfi_to_rule_detail {

inline bool find_segment(const module_segments& segments, std::uintptr_t address,
                         mapped_bytes& out) noexcept {
    const Elf64_Phdr* const segment = segments.holder_of(address, PF_R);
    if (segment == nullptr) return false;
    out.address = segments.base + segment->p_vaddr;
    out.bytes = byte_view{reinterpret_cast<const std::uint8_t*>(out.address), segment->p_filesz};
    return true;
}

struct module_place {
    std::uintptr_t start = 0;  // where its ELF header is
    std::uintptr_t index = 0;  // where .eh_frame_hdr is; 0: no such module, or no table
};

ALLOCSCOPE_NOINLINE module_place find_module(std::uintptr_t pc) noexcept {
    struct dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return {};
    return {reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
            reinterpret_cast<std::uintptr_t>(found.dlfo_eh_frame)};
}

ALLOCSCOPE_NOINLINE bool find_live_image(std::uintptr_t pc, eh_frame_image& image) noexcept {
    if (&_dl_find_object == nullptr) return false;
    const module_place module = find_module(pc);
    image.index_address = module.index;
    module_segments segments;
    if (module.index == 0 || !find_module_segments(module.start, segments) ||
        !find_segment(segments, module.index, image.index)) {
        return false;
    }
    const eh_frame_header header = read_eh_frame_header(image.index, image.index_address);
    if (!header.is_valid) return false;
    image.frames = image.index;
    return image.index.holds(header.frames_address) ||
           find_segment(segments, header.frames_address, image.frames);
}

}  // namespace cfi_to_rule_detail

#endif

namespace cfi_to_rule_detail {

// Not inlined, so that its stack is not needed while a machine runs.
ALLOCSCOPE_NOINLINE unwind_rule rule_without_table(std::uintptr_t pc) noexcept {
    return is_return_address(pc) ? rule_kind::no_table : rule_kind::unknown;
}

}  // namespace cfi_to_rule_detail

// The rule for the frame that goes on at the return address `pc`, which may be any number.
ALLOCSCOPE_FAST_PATH unwind_rule find_unwind_rule(std::uintptr_t pc) noexcept {
    unwind_rule rule{};
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    eh_frame_image image;
    if (pc != 0 && cfi_to_rule_detail::find_live_image(pc - 1, image)) {
        rule = rule_from_eh_frame(image, pc);
    }
#endif
    if (rule.kind != rule_kind::unknown) return rule;
    return cfi_to_rule_detail::rule_without_table(pc);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP

// rule_cache.hpp - the unwind rules one thread has needed so far.

#ifndef ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
#define ALLOCSCOPE_UNWIND_RULE_CACHE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class rule_cache {
public:
    // The rule for the frame that goes on at `pc`; for 0 it is `unknown`. The reference is valid
    // until the next call.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_for(std::uintptr_t pc) noexcept {
        const entry& home = entries_[home_of(pc)];
        if (ALLOCSCOPE_LIKELY(home.pc == pc)) return home.rule;
        return rule_from_line(pc);
    }

    // The rule of a `pc` for which rule_for found one that may go. `checked` is the module that was
    // looked at last: while the walk stays in it, it need not be looked at again.
    ALLOCSCOPE_NOINLINE const unwind_rule& confirm(std::uintptr_t pc,
                                                   module_identity& checked) noexcept {
        if (!checked.holds(pc - 1)) {
            checked = identify_module(pc - 1);
            if (checked.life == module_life::may_go) {
                admit(checked);
            } else {
                forget();  // the module of the rule is gone
            }
        }
        return rule_for(pc);
    }

    void forget() noexcept {
        for (entry& each : entries_) each.pc = 0;
        compiler_barrier();
        module_count_ = 0;
        ++generation_;
    }

    // Another number: rules may have changed since.
    std::uint32_t generation() const noexcept { return generation_; }

private:
    struct entry {
        std::uintptr_t pc = 0;
        unwind_rule rule{};
    };
    static_assert(sizeof(entry) == 16, "four to a cache line");
    static constexpr std::size_t entry_count = 512;
    static constexpr std::size_t line_entries = 4;
    static constexpr std::uint32_t most_modules = 32;

    // Each address has a home, and three other elements in the same cache line for when the home is
    // taken: in a direct-mapped table of this size two of fifty addresses usually share a home, and
    // a loop over both would find each rule anew every time.
    //
    // The low 13 bits of addresses of code are as good as random. A real multiplication would take
    // a tenth of the time of a walk, which waits for the result at each frame.
    ALLOCSCOPE_FAST_PATH static std::size_t home_of(std::uintptr_t pc) noexcept {
        return (pc * 9) / sizeof(entry) % entry_count;
    }

    // The n-th element to look at; 0 is home.
    entry& place(std::size_t home, std::size_t n) noexcept {
        return entries_[(home & ~(line_entries - 1)) | ((home + n) & (line_entries - 1))];
    }

    ALLOCSCOPE_NOINLINE const unwind_rule& rule_from_line(std::uintptr_t pc) noexcept {
        for (std::size_t n = 1; n < line_entries; ++n) {
            const entry& each = place(home_of(pc), n);
            if (each.pc == pc) return each.rule;
        }
        return rule_for_slow(pc);
    }

    ALLOCSCOPE_NOINLINE const unwind_rule& rule_for_slow(std::uintptr_t pc) noexcept {
        unwind_rule& found = unkept_;
        found = find_unwind_rule(pc);
        const module_identity from = identify_module(pc - 1);
        // No module is here now, but one may be loaded later.
        if (from.start == 0 && found.kind == rule_kind::unknown) return found;
        found.life = from.life;
        if (from.life == module_life::cannot_tell) return found;
        if (from.life == module_life::may_go) admit(from);
        keep(pc, found);
        return found;
    }

    // Puts the rule at home; the others move on by one. A signal handler that jumps away in the
    // middle leaves an empty element, never a wrong pair.
    void keep(std::uintptr_t pc, unwind_rule rule) noexcept {
        const std::size_t home = home_of(pc);
        for (std::size_t n = line_entries - 1; n > 0; --n) {
            set(place(home, n), place(home, n - 1).pc, place(home, n - 1).rule);
        }
        set(place(home, 0), pc, rule);
    }

    static void set(entry& at, std::uintptr_t pc, unwind_rule rule) noexcept {
        at.pc = 0;
        compiler_barrier();
        at.rule = rule;
        compiler_barrier();
        at.pc = pc;
    }

    // Admits rules of `module`, after dropping those of other modules at the same addresses.
    void admit(const module_identity& module) noexcept {
        bool is_in_the_way = false;
        for (std::uint32_t i = 0; i < module_count_; ++i) {
            if (modules_[i].is_same(module)) return;
            is_in_the_way = is_in_the_way || modules_[i].overlaps(module);
        }
        if (is_in_the_way || module_count_ == most_modules) forget();
        modules_[module_count_] = module;
        compiler_barrier();
        ++module_count_;
    }

    alignas(64) entry entries_[entry_count];
    module_identity modules_[most_modules];
    unwind_rule unkept_{};  // found last
    std::uint32_t module_count_ = 0;
    std::uint32_t generation_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_RULE_CACHE_HPP

// stack_walk.hpp - walks from frame to frame, by unwind rules and by frame pointers.

#ifndef ALLOCSCOPE_UNWIND_STACK_WALK_HPP
#define ALLOCSCOPE_UNWIND_STACK_WALK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Reads a word of the stack. Under AddressSanitizer it does so in asm: garbage frame pointers may
// lead to the red zone of a local variable, and reading that is harmless.
ALLOCSCOPE_FAST_PATH std::uintptr_t read_stack_word(std::uintptr_t address) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
    std::uintptr_t word;
    __asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(address));
    return word;
#else
    return *reinterpret_cast<const std::uintptr_t*>(address);
#endif
}

struct stack_word {
    std::uintptr_t address;
    std::uintptr_t value;
};

// A walked stack: its return addresses, innermost first, and the words it depends on.
struct walked_stack {
    static constexpr std::uint32_t most_words = max_stack_frames + 1;

    std::uint32_t frame_count;
    std::uint32_t return_count;  // of `returns`: may be one more, which ended the walk
    std::uint32_t other_count;
    std::uint32_t generation;  // of the rules; another one: remembered chains may be wrong
    unwinding method;
    module_identity checked;   // the last module met that may be unloaded
    bool has_all_others;       // false: there was no room for all words that it depends on
    std::uint64_t sum;         // hash_part of each frame's return address, and module_sum
    std::uint64_t module_sum;  // module_tag of each frame in a module that may be unloaded
    stack_word returns[most_words];
    unwind_rule rules[most_words];  // for the returns, as they were followed
    // The saved frame pointer right below returns[i], when the walk depended on it.
    std::uintptr_t saved_below[most_words];
    bool has_saved_below[most_words];
    stack_word others[most_words];  // saved frame and stack pointers that lie elsewhere
};

// Whether the method follows the rule as it is.
ALLOCSCOPE_FAST_PATH bool is_obeyed_as_it_is(unwinding method, const unwind_rule& rule) noexcept {
    return rule.kind != rule_kind::unsupported && rule.kind != rule_kind::no_table &&
           method != unwinding::frame_pointers;
}

// The rule that is followed instead under a method: where to go, `outermost` at the end, `unknown`.
inline unwind_rule rule_under(unwinding method, const unwind_rule& rule) noexcept {
    const bool is_end = rule.kind == rule_kind::unknown || rule.kind == rule_kind::outermost;
    if (is_end || is_obeyed_as_it_is(method, rule)) return rule;
    unwind_rule obeyed = frame_pointer_rule;
    if (method == unwinding::cfi) obeyed = rule_kind::outermost;
    obeyed.life = rule.life;
    return obeyed;
}

// For each module of the walked stack that may be unloaded, and is still on the stack.
template <class Visitor>
void visit_modules_that_may_go(const walked_stack& stack, const Visitor& visit) noexcept {
    if (stack.module_sum == 0) return;
    module_identity here;
    for (std::uint32_t i = 0; i < stack.frame_count; ++i) {
        const std::uintptr_t pc = stack.returns[i].value;
        if (stack.rules[i].life == module_life::permanent || here.holds(pc - 1)) continue;
        here = identify_module(pc - 1);
        if (here.start != 0) visit(here);
    }
}

class stack_walk {
public:
    stack_walk(const stack_bounds& bounds, rule_cache& rules, walked_stack& out,
               unwinding method = unwinding::automatic) noexcept
        : high_(bounds.high), method_(method), rules_(rules), out_(out) {}

    // `frame` is where the hook saved the frame pointer, below its own return address. That
    // address always counts as a frame.
    void run(std::uintptr_t frame, std::uint32_t most_frames) noexcept {
        begin();
        caller_place at{frame + 2 * sizeof(std::uintptr_t), frame};
        std::uint64_t sum = 0;
        std::uint32_t frames = 0;
        for (;;) {
            // The words below a CFA belong to the frame that is left by going there.
            const std::uintptr_t pc = read_stack_word(at.cfa - sizeof(std::uintptr_t));
            const unwind_rule& rule = rule_to_obey(pc, out_.rules[frames]);
            out_.returns[frames] = {at.cfa - sizeof(std::uintptr_t), pc};
            out_.has_saved_below[frames] = false;
            if (at.saved_bp != 0) restore_bp(at.saved_bp, frames);
            // Whether it is a return address at all, only its rule can say.
            if (ALLOCSCOPE_UNLIKELY(rule.kind == rule_kind::unknown) && frames != 0) {
                out_.return_count = frames + 1;
                break;
            }
            sum += hash_part(pc, frames);
            out_.return_count = ++frames;
            if (frames == most_frames) break;
            if (ALLOCSCOPE_LIKELY(rule.kind == rule_kind::from_sp)) {
                at = leave_by_sp(rule, at.cfa);
            } else if (ALLOCSCOPE_LIKELY(rule.kind == rule_kind::frame_pointer)) {
                at = checked_place(place_by_bp(), at.cfa);
            } else {
                at = leave(rule, at.cfa);
            }
            if (at.cfa == 0) break;
        }
        out_.sum = sum + out_.module_sum;
        out_.frame_count = frames;
        out_.generation = rules_.generation();
    }

private:
    // Where the caller's frame is.
    struct caller_place {
        std::uintptr_t cfa = 0;       // 0: it cannot be found
        std::uintptr_t saved_bp = 0;  // where the caller's bp is kept; 0: still in the register
    };

    void begin() noexcept {
        out_.other_count = 0;
        out_.method = method_;
        out_.has_all_others = true;
        out_.checked = module_identity{};
        out_.module_sum = 0;
    }

    // By reference: to take the eight bytes apart and together again takes longer than all else.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_to_obey(std::uintptr_t pc,
                                                         unwind_rule& copy) noexcept {
        const unwind_rule* rule = &rules_.rule_for(pc);
        if (ALLOCSCOPE_UNLIKELY(rule->life != module_life::permanent)) {
            rule = &rule_that_may_go(pc, *rule);
        }
        std::memcpy(&copy, rule, sizeof copy);
        if (ALLOCSCOPE_LIKELY(is_obeyed_as_it_is(method_, *rule))) return *rule;
        copy = rule_under(method_, *rule);
        return copy;
    }

    // The rule for `pc`, of which `known` was found, in a module that may be unloaded.
    ALLOCSCOPE_NOINLINE const unwind_rule& rule_that_may_go(std::uintptr_t pc,
                                                            const unwind_rule& known) noexcept {
        const unwind_rule* rule = &known;
        if (known.life == module_life::may_go) rule = &rules_.confirm(pc, out_.checked);
        if (rule->life == module_life::permanent) return *rule;
        if (!out_.checked.holds(pc - 1)) out_.checked = identify_module(pc - 1);
        if (rule->kind != rule_kind::unknown) out_.module_sum += out_.checked.tag();
        return *rule;
    }

    // The frame pointer now has the value that is saved at `at`. It is read when a rule asks for
    // it, and few do.
    void restore_bp(std::uintptr_t at, std::uint32_t index) noexcept {
        bp_address_ = at;
        bp_index_ = index;
        is_bp_noted_ = false;
    }

    // The walk now depends on the frame pointer: notes the word that it was read from.
    ALLOCSCOPE_FAST_PATH std::uintptr_t use_bp() noexcept {
        const std::uintptr_t value = read_stack_word(bp_address_);
        if (is_bp_noted_) return value;
        is_bp_noted_ = true;
        if (bp_address_ + sizeof(std::uintptr_t) == out_.returns[bp_index_].address) {
            out_.saved_below[bp_index_] = value;
            out_.has_saved_below[bp_index_] = true;
        } else {
            note_other({bp_address_, value});
        }
        return value;
    }

    void note_other(const stack_word& word) noexcept {
        if (out_.other_count < walked_stack::most_words) {
            out_.others[out_.other_count++] = word;
        } else {
            out_.has_all_others = false;
        }
    }

    static std::uintptr_t plus(std::uintptr_t address, std::int32_t offset) noexcept {
        return address + static_cast<std::uintptr_t>(std::intptr_t{offset});
    }

    // The case of nearly every frame. The rule promises that the CFA lies higher, by a multiple of
    // 8, and that the saved bp lies below the CFA by a multiple of 8.
    ALLOCSCOPE_FAST_PATH caller_place leave_by_sp(const unwind_rule& rule,
                                                  std::uintptr_t sp) const noexcept {
        const std::uintptr_t cfa = plus(sp, rule.cfa_offset);
        if (ALLOCSCOPE_UNLIKELY(cfa > high_)) return {};
        if (!rule.restores_bp) return {cfa, 0};
        const std::uintptr_t saved_bp = plus(cfa, rule.bp_offset);
        if (ALLOCSCOPE_UNLIKELY(saved_bp < sp)) return {};
        return {cfa, saved_bp};
    }

    // Follows any other rule.
    ALLOCSCOPE_NOINLINE caller_place leave(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        caller_place to;
        switch (rule.kind) {
            case rule_kind::outermost:
            case rule_kind::from_sp:
                return {};
            case rule_kind::from_bp:
                to.cfa = plus(use_bp(), rule.cfa_offset);
                if (rule.restores_bp) to.saved_bp = plus(to.cfa, rule.bp_offset);
                break;
            case rule_kind::realigned:
                to = read_saved_sp(rule, sp);
                break;
            case rule_kind::saved_sp:
                to = read_word_at_sp(rule, sp);
                break;
            case rule_kind::unknown:
                if (method_ == unwinding::cfi) return {};
                [[fallthrough]];
            case rule_kind::frame_pointer:
            case rule_kind::unsupported:
            case rule_kind::no_table:
                to = place_by_bp();
                break;
        }
        return checked_place(to, sp);
    }

    ALLOCSCOPE_FAST_PATH caller_place place_by_bp() noexcept {
        const std::uintptr_t bp = use_bp();
        return {bp + 2 * sizeof(std::uintptr_t), bp};
    }

    // The place, when it can be that of the caller of a frame whose stack pointer is `sp`.
    ALLOCSCOPE_FAST_PATH caller_place checked_place(caller_place to,
                                                    std::uintptr_t sp) const noexcept {
        if (to.cfa <= sp || to.cfa > high_ || to.cfa % sizeof(std::uintptr_t) != 0) return {};
        if (to.saved_bp == 0) return to;
        const bool is_in_frame = to.saved_bp >= sp && to.saved_bp < to.cfa;
        return is_in_frame && to.saved_bp % sizeof(std::uintptr_t) == 0 ? to : caller_place{};
    }

    caller_place read_word_at_sp(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        const std::uintptr_t at = plus(sp, rule.cfa_offset);
        if (at >= high_) return {};
        const std::uintptr_t word = read_stack_word(at);
        note_other({at, word});
        const std::uintptr_t cfa = word + sizeof(std::uintptr_t);
        return {cfa, rule.restores_bp ? plus(cfa, rule.bp_offset) : 0};
    }

    // The two words of a realigned frame; nothing when the first would lie outside the frame.
    caller_place read_saved_sp(const unwind_rule& rule, std::uintptr_t sp) noexcept {
        const std::uintptr_t bp = use_bp();
        const std::uintptr_t at = plus(bp, rule.cfa_offset);
        if (at < sp || at >= high_ || at % sizeof(std::uintptr_t) != 0) return {};
        const std::uintptr_t cfa = read_stack_word(at);
        note_other({at, cfa});
        return {cfa, plus(bp, rule.bp_offset)};
    }

    std::uintptr_t high_;
    unwinding method_;
    rule_cache& rules_;
    walked_stack& out_;
    std::uintptr_t bp_address_ = 0;
    std::uint32_t bp_index_ = 0;  // of the return address it was restored beside
    bool is_bp_noted_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_STACK_WALK_HPP

// remembered_chain.hpp - the words that one walk depended on, and where they stood.

#ifndef ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
#define ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A saved frame pointer and the return address above it.
struct alignas(16) frame_pair {
    std::uintptr_t saved_bp;
    std::uintptr_t return_address;
};

// One remembered chain. record/ fills and reads what the chain stands for.
struct alignas(64) remembered_chain {
    std::uintptr_t frame;  // where the walk began; 0: empty
    std::uint16_t pair_count;
    std::uint16_t single_count;
    std::uint16_t frame_count;
    std::uint8_t is_ordered;  // the frames with pairs are the innermost ones
    std::uint8_t method;
    std::uint32_t epoch;       // for which the next two are right; 0: for none
    std::uint16_t singles_at;  // in bytes from here, like the next
    std::uint16_t places_at;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;    // as in walked_stack
    std::uint64_t shape;  // of this thread, never used again; 0: a module in it may be unloaded

    frame_pair* pairs() noexcept { return reinterpret_cast<frame_pair*>(this + 1); }
    const frame_pair* pairs() const noexcept {
        return reinterpret_cast<const frame_pair*>(this + 1);
    }
    stack_word* singles() noexcept {
        return reinterpret_cast<stack_word*>(reinterpret_cast<char*>(this) + singles_at);
    }
    // Of the pairs.
    std::uintptr_t* places() noexcept {
        return reinterpret_cast<std::uintptr_t*>(reinterpret_cast<char*>(this) + places_at);
    }
    // module_tag of each frame in a module that may be unloaded.
    std::uint64_t& module_sum() noexcept { return places()[in_fours(pair_count)]; }
    unwind_rule* rules() noexcept { return reinterpret_cast<unwind_rule*>(&module_sum() + 1); }

    // Pairs and singles are compared four at a time; the last four are filled up.
    static constexpr std::uint32_t in_fours(std::uint32_t count) noexcept {
        return (count + 3U) & ~std::uint32_t{3};
    }
    // For the counts that are set. Returns the bytes of all but the rules.
    std::uint32_t lay_out() noexcept {
        const std::uint32_t pairs = in_fours(pair_count);
        singles_at =
            static_cast<std::uint16_t>(sizeof(remembered_chain) + pairs * sizeof(frame_pair));
        places_at =
            static_cast<std::uint16_t>(singles_at + in_fours(single_count) * sizeof(stack_word));
        return static_cast<std::uint32_t>(places_at + (pairs + 1) * sizeof(std::uintptr_t));
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

// Of an unchanged chain without a shape: whether the modules of its frames are still those that
// the walk met. 30 ns for each module that may be unloaded.
ALLOCSCOPE_NOINLINE bool has_same_modules(remembered_chain& chain) noexcept {
    const frame_pair* pair = chain.pairs();
    const stack_word* single = chain.singles();
    const unwind_rule* const rules_of = chain.rules();
    module_identity here;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
        const unwind_rule& rule = rules_of[i];
        const std::uintptr_t pc = rule.is_pair ? (pair++)->return_address : (single++)->value;
        if (rule.life == module_life::permanent || rule.kind == rule_kind::unknown) continue;
        if (!here.holds(pc - 1)) here = identify_module(pc - 1);
        sum += here.tag();
    }
    return sum == chain.module_sum();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

// chain_memo.hpp - checks a remembered stack instead of walking it.

#ifndef ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
#define ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class chain_memo {
public:
    static constexpr std::size_t entry_count = 128;

    bool is_ready() const noexcept { return entries_ != nullptr; }

    // Makes room for chains of so many frames and forgets all chains. False: there is no memory.
    bool prepare(std::uint32_t most_frames, unwinding method = unwinding::automatic) noexcept {
        release();
        method_ = method;
        generation_ = 0;
        // A frame needs a pair with its place (24 bytes) or two single words, rarely three, and a
        // rule. Chains that need more room are not kept.
        const std::size_t needed =
            sizeof(remembered_chain) + sizeof(std::uint64_t) + most_filler_bytes +
            (most_frames + 1U) * (2 * sizeof(stack_word) + sizeof(unwind_rule));
        stride_ = (needed + 63U) & ~std::size_t{63};
        entries_ = static_cast<char*>(reserve_pages(mapped_bytes()));
        return entries_ != nullptr;
    }

    void release() noexcept {
        if (entries_ != nullptr) return_reservation(entries_, mapped_bytes());
        entries_ = nullptr;
        touched_bytes_.set(0);
    }

    // The method by which the chains kept here were walked.
    unwinding method() const noexcept { return method_; }

    // The memory of the entries used so far. Any thread may ask.
    std::uint64_t touched_bytes() const noexcept { return touched_bytes_.read(); }

    // The entry in which a chain that starts so is kept, whatever is in it now.
    ALLOCSCOPE_FAST_PATH remembered_chain* entry_for(std::uintptr_t frame,
                                                     std::uintptr_t return_address) noexcept {
        // Return addresses lie at regular distances: the product spreads them.
        const std::uint64_t index = ((frame + return_address) * golden_multiplier) >> index_shift;
        return reinterpret_cast<remembered_chain*>(entries_ + index * stride_);
    }

    // Whether a walk from `frame` would read what the remembered one read.
    ALLOCSCOPE_FAST_PATH static bool is_unchanged(const remembered_chain& chain,
                                                  std::uintptr_t frame) noexcept {
        if (ALLOCSCOPE_UNLIKELY(chain.frame != frame)) return false;
        const auto* const begin = reinterpret_cast<const char*>(&chain);
        const auto* pair = reinterpret_cast<const frame_pair*>(begin + sizeof(chain));
        const auto* single = reinterpret_cast<const stack_word*>(begin + chain.singles_at);
        const auto* place = reinterpret_cast<const std::uintptr_t*>(begin + chain.places_at);
        const void* const pairs_end = single;
        const void* const singles_end = place;
        __m128i equal = _mm_set1_epi32(-1);
        for (; pair != pairs_end; pair += 4, place += 4) {
            const __m128i two = _mm_and_si128(equals(place[0], pair[0]), equals(place[1], pair[1]));
            const __m128i more =
                _mm_and_si128(equals(place[2], pair[2]), equals(place[3], pair[3]));
            equal = _mm_and_si128(equal, _mm_and_si128(two, more));
        }
        std::uintptr_t different = 0;
        for (; single != singles_end; single += 4) {
            different |= (compare(single[0]) | compare(single[1])) |
                         (compare(single[2]) | compare(single[3]));
        }
        return _mm_movemask_epi8(equal) == 0xffff && different == 0;
    }

    // For a stack that starts at `frame` and differs from the remembered one in return addresses
    // only: reads them into the chain and into `frames`, and forms their sum. False: the stack has
    // to be walked. In any case the chain is not found again until end_change or remember.
    ALLOCSCOPE_FAST_PATH static bool collect(remembered_chain& chain, std::uintptr_t frame,
                                             std::uintptr_t* frames) noexcept {
        if (chain.frame != frame || chain.shape == 0) return false;
        begin_change(chain);
        return chain.is_ordered != 0 ? collect_ordered(chain, frames)
                                     : collect_mixed(chain, frames);
    }

    // Whether the rules of what was collected lead where those of the chain did.
    ALLOCSCOPE_NOINLINE static bool leads_as_before(remembered_chain& chain, rule_cache& rules,
                                                    const std::uintptr_t* frames) noexcept {
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            if (!has_same_rule(rules, frames[i], chain, i)) return false;
        }
        return true;
    }

    // The chain stands for what was collected.
    ALLOCSCOPE_FAST_PATH static void end_change(remembered_chain& chain,
                                                std::uintptr_t frame) noexcept {
        compiler_barrier();
        chain.frame = frame;
    }

    // Puts the walked stack into the entry. Its sum and number of frames always; it is not found
    // again when the walk went by another method, or depended on more words than there is room for.
    void remember(remembered_chain& chain, std::uintptr_t frame,
                  const walked_stack& stack) noexcept {
        if (stack.generation != generation_) forget_all(stack.generation);
        if (chain.frame_count == 0) touched_bytes_.add(stride_);
        begin_change(chain);
        std::uint32_t pairs = 0;
        for (std::uint32_t i = 0; i < stack.return_count; ++i) {
            pairs += stack.has_saved_below[i] ? 1U : 0U;
        }
        chain.pair_count = static_cast<std::uint16_t>(pairs);
        chain.single_count =
            static_cast<std::uint16_t>(stack.return_count - pairs + stack.other_count);
        chain.method = static_cast<std::uint8_t>(stack.method);
        chain.frame_count = static_cast<std::uint16_t>(stack.frame_count);
        chain.sum = stack.sum;
        if (stack.method != method_ || !has_room(chain, stack)) return;
        write_words(chain, stack);
        end_change(chain, frame);
    }

private:
    static constexpr std::uint32_t index_shift = 57;
    static_assert(entry_count == std::uint64_t{1} << (64 - index_shift), "entry_for shifts");

    static constexpr std::size_t most_filler_bytes =
        3 * (sizeof(frame_pair) + sizeof(std::uintptr_t) + sizeof(stack_word));

    // A signal handler that jumps away between begin_change and end_change leaves an empty entry.
    static void begin_change(remembered_chain& chain) noexcept {
        chain.frame = 0;
        chain.epoch = 0;
        chain.site = nullptr;
        compiler_barrier();
    }

    // The frames read so far, and their sum, formed two by two.
    struct collected {
        std::uintptr_t* frames;
        std::uint32_t count = 0;
        std::uint64_t sum = 0;
        __m128i sums = _mm_setzero_si128();

        ALLOCSCOPE_FAST_PATH void add(std::uintptr_t now) noexcept {
            frames[count] = now;
            sum += hash_part(now, count);
            ++count;
        }
        ALLOCSCOPE_FAST_PATH void add_two(__m128i now) noexcept {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(frames + count), now);
            const auto* const numbers =
                reinterpret_cast<const __m128i*>(positions.multipliers + count);
            sums = _mm_add_epi64(sums, _mm_mul_epu32(now, _mm_loadu_si128(numbers)));
            count += 2;
        }
        ALLOCSCOPE_FAST_PATH std::uint64_t total() const noexcept {
            const __m128i both = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
            return sum + static_cast<std::uint64_t>(_mm_cvtsi128_si64(both));
        }
    };

    // The usual chain: frames with frame pointers, and perhaps the outermost ones without.
    ALLOCSCOPE_FAST_PATH static bool collect_ordered(remembered_chain& chain,
                                                     std::uintptr_t* frames) noexcept {
        const std::uintptr_t* const places = chain.places();
        auto* const pairs = reinterpret_cast<__m128i*>(chain.pairs());
        const std::uint32_t frame_count = chain.frame_count;
        const std::uint32_t pair_count = chain.pair_count;
        const std::uint32_t paired = pair_count < frame_count ? pair_count : frame_count;
        collected out{frames};
        __m128i moved = _mm_setzero_si128();  // in its low half
        while (out.count + 1 < paired) {
            const std::uint32_t i = out.count;
            const __m128i first = load_pair(places[i]);
            const __m128i second = load_pair(places[i + 1]);
            moved = _mm_or_si128(moved, _mm_xor_si128(first, _mm_load_si128(pairs + i)));
            moved = _mm_or_si128(moved, _mm_xor_si128(second, _mm_load_si128(pairs + i + 1)));
            _mm_store_si128(pairs + i, first);
            _mm_store_si128(pairs + i + 1, second);
            out.add_two(_mm_unpackhi_epi64(first, second));
        }
        if (out.count != paired) {
            frame_pair& pair = chain.pairs()[out.count];
            const std::uintptr_t place = places[out.count];
            moved = _mm_or_si128(moved, compare(place, pair));
            pair.return_address = read_stack_word(place + sizeof(std::uintptr_t));
            out.add(pair.return_address);
        }
        // The word that ended the walk, if it had a saved frame pointer beside it.
        std::uintptr_t differs = static_cast<std::uintptr_t>(_mm_cvtsi128_si64(moved));
        if (ALLOCSCOPE_UNLIKELY(paired != pair_count)) {
            const frame_pair& pair = chain.pairs()[paired];
            differs |= read_stack_word(places[paired]) ^ pair.saved_bp;
            differs |=
                read_stack_word(places[paired] + sizeof(std::uintptr_t)) ^ pair.return_address;
        }
        stack_word* const singles = chain.singles();
        const std::uint32_t returns = frame_count - paired;
        for (std::uint32_t i = 0; i < returns; ++i) {
            singles[i].value = read_stack_word(singles[i].address);
            out.add(singles[i].value);
        }
        chain.sum = out.total();
        return (differs | changed_others(chain, returns)) == 0;
    }

    ALLOCSCOPE_NOINLINE static bool collect_mixed(remembered_chain& chain,
                                                  std::uintptr_t* frames) noexcept {
        const std::uintptr_t* place = chain.places();
        frame_pair* pair = chain.pairs();
        stack_word* single = chain.singles();
        const unwind_rule* const rules_of = chain.rules();
        std::uintptr_t moved = 0;
        collected out{frames};
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            if (rules_of[i].is_pair) {
                pair->return_address = read_stack_word(*place + sizeof(std::uintptr_t));
                moved |= read_stack_word(*place++) ^ pair->saved_bp;
                out.add((pair++)->return_address);
            } else {
                single->value = read_stack_word(single->address);
                out.add((single++)->value);
            }
        }
        if (pair != chain.pairs() + chain.pair_count) {
            moved |= read_stack_word(*place) ^ pair->saved_bp;
            moved |= read_stack_word(*place + sizeof(std::uintptr_t)) ^ pair->return_address;
        }
        chain.sum = out.total();
        const auto seen = static_cast<std::uint32_t>(single - chain.singles());
        return (moved | changed_others(chain, seen)) == 0;
    }

    // Not 0 when one of the singles from `first` on, which are no frames, has changed.
    static std::uintptr_t changed_others(remembered_chain& chain, std::uint32_t first) noexcept {
        std::uintptr_t moved = 0;
        for (std::uint32_t i = first; i < chain.single_count; ++i) {
            moved |= compare(chain.singles()[i]);
        }
        return moved;
    }

    // Whether the rule for `pc` leads where the rule at `index` of the chain did.
    static bool has_same_rule(rule_cache& rules, std::uintptr_t pc, remembered_chain& chain,
                              std::uint32_t index) noexcept {
        const unwind_rule now = rules.rule_for(pc);
        return now.life == module_life::permanent &&
               rule_under(static_cast<unwinding>(chain.method), now)
                   .leads_like(chain.rules()[index]);
    }

    bool has_room(remembered_chain& chain, const walked_stack& stack) const noexcept {
        return stack.has_all_others &&
               chain.lay_out() + stack.return_count * sizeof(unwind_rule) <= stride_;
    }

    // A module has gone: other rules may hold now for return addresses in a chain.
    ALLOCSCOPE_NOINLINE void forget_all(std::uint32_t generation) noexcept {
        for (std::size_t i = 0; touched_bytes_.read() != 0 && i < entry_count; ++i) {
            auto& chain = *reinterpret_cast<remembered_chain*>(entries_ + i * stride_);
            if (chain.frame != 0) begin_change(chain);
        }
        generation_ = generation;
    }

    void write_words(remembered_chain& chain, const walked_stack& stack) noexcept {
        std::uint32_t pairs = 0;
        std::uint32_t singles = 0;
        bool is_permanent = true;
        bool is_ordered = true;
        for (std::uint32_t i = 0; i < stack.return_count; ++i) {
            const stack_word& at = stack.returns[i];
            is_permanent = is_permanent && stack.rules[i].life == module_life::permanent;
            if (stack.has_saved_below[i]) {
                is_ordered = is_ordered && singles == 0;
                chain.places()[pairs] = at.address - sizeof(std::uintptr_t);
                chain.pairs()[pairs++] = {stack.saved_below[i], at.value};
            } else {
                chain.singles()[singles++] = at;
            }
            chain.rules()[i] = stack.rules[i];
            chain.rules()[i].is_pair = stack.has_saved_below[i];
        }
        for (std::uint32_t i = 0; i < stack.other_count; ++i) {
            chain.singles()[singles++] = stack.others[i];
        }
        // Fillers stand for their own values, so they never differ.
        for (; pairs < remembered_chain::in_fours(chain.pair_count); ++pairs) {
            frame_pair& filler = chain.pairs()[pairs];
            filler = {};
            chain.places()[pairs] = reinterpret_cast<std::uintptr_t>(&filler);
        }
        for (; singles < remembered_chain::in_fours(chain.single_count); ++singles) {
            stack_word& filler = chain.singles()[singles];
            filler = {reinterpret_cast<std::uintptr_t>(&filler.value), 0};
        }
        chain.module_sum() = stack.module_sum;
        chain.shape = is_permanent ? ++last_shape_ : 0;
        chain.is_ordered = is_ordered ? 1 : 0;
    }

    ALLOCSCOPE_FAST_PATH static std::uintptr_t compare(const stack_word& known) noexcept {
        return read_stack_word(known.address) ^ known.value;
    }

    ALLOCSCOPE_FAST_PATH static __m128i load_pair(std::uintptr_t place) noexcept {
#if ALLOCSCOPE_ON(ADDRESS_SANITIZER)
        return _mm_set_epi64x(
            static_cast<long long>(read_stack_word(place + sizeof(std::uintptr_t))),
            static_cast<long long>(read_stack_word(place)));
#else
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(place));
#endif
    }

    // All bits set, or not.
    ALLOCSCOPE_FAST_PATH static __m128i equals(std::uintptr_t place,
                                               const frame_pair& pair) noexcept {
        return _mm_cmpeq_epi32(load_pair(place),
                               _mm_load_si128(reinterpret_cast<const __m128i*>(&pair)));
    }

    // The bits that differ.
    ALLOCSCOPE_FAST_PATH static __m128i compare(std::uintptr_t place,
                                                const frame_pair& pair) noexcept {
        return _mm_xor_si128(load_pair(place),
                             _mm_load_si128(reinterpret_cast<const __m128i*>(&pair)));
    }

    std::size_t mapped_bytes() const noexcept {
        return (entry_count * stride_ + page_bytes - 1) & ~(page_bytes - 1);
    }

    char* entries_ = nullptr;
    std::size_t stride_ = 0;
    unwinding method_ = unwinding::automatic;
    std::uint32_t generation_ = 0;
    std::uint64_t last_shape_ = 0;  // never set back: cohort_of_site keeps shapes, too
    owned_counter touched_bytes_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP

// thread_state.hpp - all that one thread knows and counts.

#ifndef ALLOCSCOPE_STATE_THREAD_STATE_HPP
#define ALLOCSCOPE_STATE_THREAD_STATE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What one thread added to one window's live bytes, and the most that window had as seen from here.
struct window_share {
    std::atomic<std::uint64_t> opened_at;  // tells which window of the slot this share is of
    std::atomic<std::int64_t> live_bytes;  // negative, where it frees what others allocated
    std::atomic<std::int64_t> peak_bytes;
    std::uint64_t reserved;
};

// Why something was not recorded.
enum class loss_reason : std::uint32_t {
    no_memory_for_record,  // the object is in no number
    no_room_for_site,      // the object is counted, its place is not known
    no_room_for_death,     // the death of another thread's object is not counted
    too_deeply_nested,     // signal handlers inside signal handlers inside hooks
    record_replaced,       // a block was freed without our hooks, and its address was used again
    no_memory_for_thread,  // the thread has no state, so none of its events are recorded
    count
};

// How many live bytes a thread may add or take away before it tells the other threads.
constexpr std::int64_t flush_bytes = 64 * 1024;

constexpr std::uint64_t never_sampled = ~std::uint64_t{0};

// What a hook looks at first. A thread without a state has an entry that is always busy, so that
// the usual path of a hook needs one test only.
struct alignas(64) thread_entry {
    std::atomic<std::uintptr_t> busy{0};
    std::uint64_t view_number = no_view;  // no_view: read the view before anything else
    // Equal to view_number while each allocation of the thread is recorded and on_allocate may be
    // called at once; else no_view.
    std::uint64_t straight_view = no_view;
    // Bytes until the next sample: a request of as many or more is sampled, a smaller one is
    // subtracted. never_sampled: this thread is not sampled.
    std::atomic<std::uint64_t> bytes_left{never_sampled};
};

struct thread_state : thread_entry {
    // The next event reads the view anew.
    void forget_view() noexcept {
        view_number = no_view;
        straight_view = no_view;
    }

    // --- every event ---
    charge mode = charge::nothing;
    std::uint32_t epoch_serial = no_epoch;
    std::uint32_t number = 0;  // of this state; never 0
    std::uint32_t session = 0;
    std::uint64_t session_head = 0;    // what the records of this session begin with
    std::uint64_t plain_record = 0;    // what a slot of plain_cohort begins with
    cohort* plain_counters = nullptr;  // of plain_cohort; null: not known, or stacks are wanted
    std::uint64_t newest_window = 0;   // latest opened_at of the windows that watch
    std::uint64_t windows = 0;         // slots 0..63 that watch this thread
    // The live bytes that no share knows yet, and the most they were since the last flush. The
    // bytes themselves stand here as what is left until something must be done, so that an event
    // changes each by one instruction and looks at the sign.
    std::int64_t bytes_below_peak = 0;                 // less than 0: there is a new peak
    std::int64_t bytes_above_floor = flush_bytes - 1;  // less than 0: a flush is due
    std::atomic<std::int64_t> pending_peak{0};
    chain_memo memo;
    stack_bounds bounds;

    // --- at boundaries and for new stacks ---
    std::uint32_t frames = 0;  // how many return addresses to keep
    unwinding method = unwinding::automatic;
    std::uint32_t many_windows = 0;  // windows without a mask bit are open
    std::uint32_t tables = 0;        // generation of the tables the caches belong to
    std::uint32_t pause_depth = 0;
    std::uint64_t sample_bytes = 0;  // mean bytes between samples; 0: not sampled
    random_source dice{};
    bool has_dice = false;
    std::atomic<std::uint64_t> clock{0};  // boundary clock of the view
    std::atomic<std::uint64_t> instance{0};
    std::atomic<epoch*> newest_epoch{nullptr};
    bool is_epoch_current = false;   // newest_epoch is of this view and this thread
    std::uint32_t plain_cohort = 0;  // of site 0 in this epoch; 0: none yet
    std::uint32_t next_cohort = 0;   // in the page that is being filled
    std::uint32_t last_cohort = 0;
    cohort_of_site cohorts;
    foreign_deaths foreign;
    rule_cache rules;
    walked_stack scratch{};  // what a hook would otherwise need 7 KiB of the program's stack for
    std::uintptr_t scratch_frames[max_stack_frames + 1] = {};

    // --- control lock, or the list ---
    std::atomic<std::uint64_t> own_clock{0};         // of the last boundary of an own window
    std::atomic<std::uint32_t> own_windows{0};       // open threads::current windows
    std::atomic<std::uint32_t> returned_cohorts{0};  // reclaimed: list through cohort::next
    std::atomic<std::uint32_t> returned_sampled{0};  // likewise, of sampled cohorts
    std::atomic<epoch*> returned_epochs{nullptr};    // reclaimed: list through epoch::older
    std::atomic<bool> is_taken{false};
    thread_state* next_state = nullptr;                 // in the list of all; set once
    std::atomic<thread_state*> primary_state{nullptr};  // this, or whose nested state this is
    std::atomic<thread_state*> nested{nullptr};
    std::uint32_t end_rounds = 0;

    owned_counter losses[static_cast<std::uint32_t>(loss_reason::count)];
    owned_counter new_cohorts;  // how many were ever made

    window_share shares[window_table::masked_windows] = {};
    std::atomic<window_share*> more_shares{nullptr};  // for slots from 64 on

    thread_state& primary() const noexcept {
        return *primary_state.load(std::memory_order_relaxed);
    }
    void lose(loss_reason reason) noexcept { losses[static_cast<std::uint32_t>(reason)].add(1); }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_THREAD_STATE_HPP

// live_object_map.hpp - finds the record of a live block from its address, without hashing.

#ifndef ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP
#define ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What the hooks ask the allocator for at least, so that no two blocks share a slot.
constexpr std::size_t smallest_block_bytes = 24;

struct live_object {
    std::uintptr_t address = 0;
    std::uint32_t cohort = 0;
    std::uint64_t bytes = 0;
};

// One slot for every 2^GranuleShift bytes of heap.
template <std::uint32_t GranuleShift>
class object_map {
public:
    static constexpr std::uint32_t cohort_bits = 25;
    static constexpr std::uint32_t last_cohort = (1U << cohort_bits) - 1U;
    static constexpr std::uint32_t last_session = 4095;
    // Sizes from here on stand in the slot after the record's own.
    static constexpr std::int64_t least_long_bytes = (std::int64_t{1} << 26) - 1;

    using slot = std::atomic<std::uint64_t>;

    // Until it is true, only prepare, for_each, wipe and resident may be called.
    bool is_ready() const noexcept { return regions_.load(std::memory_order_acquire) != nullptr; }

    // False when there is no memory for the first level. Called again after a failure.
    bool prepare() noexcept {
        if (is_ready()) return true;
        void* pages = reserve_pages(region_count * sizeof(leaf_pointer));
        if (pages == nullptr) return false;
        leaf_pointer* expected = nullptr;
        if (!regions_.compare_exchange_strong(expected, static_cast<leaf_pointer*>(pages))) {
            return_reservation(pages, region_count * sizeof(leaf_pointer));
        }
        return true;
    }

    // The slot of a block, or null when its part of the map could not be mapped.
    ALLOCSCOPE_FAST_PATH slot* slot_for(std::uintptr_t address) noexcept {
        slot* leaf = find_leaf(address);
        if (ALLOCSCOPE_UNLIKELY(leaf == nullptr)) {
            leaf = add_leaf(address);
            if (leaf == nullptr) return nullptr;
        }
        return leaf + granule_of(address);
    }

    // The slot of a block that may have no record; null when no block near it was ever recorded.
    ALLOCSCOPE_FAST_PATH slot* existing_slot(std::uintptr_t address) noexcept {
        slot* leaf = find_leaf(address);
        return leaf == nullptr ? nullptr : leaf + granule_of(address);
    }

    // What the records of a cohort's objects begin with.
    static constexpr std::uint64_t record_head(std::uint32_t session,
                                               std::uint32_t cohort) noexcept {
        return (std::uint64_t{session} << session_shift) | (std::uint64_t{cohort} << cohort_shift);
    }

    // Writes the record of a block whose size fits into the slot.
    ALLOCSCOPE_FAST_PATH static void put_short(slot* where, std::uintptr_t address,
                                               std::uint64_t head, std::uint64_t bytes) noexcept {
        head |= (address & 16U) << (half_shift - 4U);
        where->store(head | bytes, std::memory_order_relaxed);
    }
    static void put(slot* where, std::uintptr_t address, std::uint64_t head,
                    std::uint64_t bytes) noexcept {
        if (is_long_size(bytes)) {
            where[1].store(bytes, std::memory_order_relaxed);
            bytes = size_mask;
        }
        put_short(where, address, head, bytes);
    }

    ALLOCSCOPE_FAST_PATH static std::uint32_t session_of(std::uint64_t record) noexcept {
        return static_cast<std::uint32_t>(record >> session_shift);
    }
    ALLOCSCOPE_FAST_PATH static std::uint32_t cohort_of(std::uint64_t record) noexcept {
        return static_cast<std::uint32_t>(record >> cohort_shift) & last_cohort;
    }
    // The cohort of a record that begins as those of this session do: record_head(session, 0). Else
    // more than any cohort.
    ALLOCSCOPE_FAST_PATH static std::uint64_t cohort_in_session(std::uint64_t record,
                                                                std::uint64_t head) noexcept {
        return (record ^ head) >> cohort_shift;
    }
    // A long record keeps its size in the next slot; a short one is all in its own.
    ALLOCSCOPE_FAST_PATH static bool is_long_size(std::uint64_t bytes) noexcept {
        return bytes >= size_mask;
    }
    ALLOCSCOPE_FAST_PATH static std::uint64_t short_bytes_of(std::uint64_t record) noexcept {
        return record & size_mask;
    }
    ALLOCSCOPE_FAST_PATH static std::uint64_t bytes_of(const slot* where,
                                                       std::uint64_t record) noexcept {
        const std::uint64_t bytes = record & size_mask;
        if (ALLOCSCOPE_UNLIKELY(bytes == size_mask)) {
            return where[1].load(std::memory_order_relaxed);
        }
        return bytes;
    }

    // Calls visit(live_object) for every record of the session. The program may go on meanwhile:
    // a block that dies or is born during the walk is visited or not. Stops when visit says false.
    template <class Visit>
    void for_each(std::uint32_t session, Visit&& visit) noexcept {
        leaf_pointer* regions = regions_.load(std::memory_order_acquire);
        if (regions == nullptr) return;
        const std::size_t last = highest_region_.load(std::memory_order_acquire);
        for (std::size_t region = lowest_region_.load(std::memory_order_acquire); region <= last;
             ++region) {
            slot* leaf = regions[region].load(std::memory_order_acquire);
            if (leaf != nullptr && !visit_leaf(leaf, region, session, visit)) return;
        }
    }

    // Forgets every record and gives the memory of the slots back; the addresses stay reserved.
    void wipe() noexcept {
        for_each_leaf([](slot* leaf) { empty_pages(leaf, leaf_bytes); });
    }

    std::size_t resident() noexcept {
        std::size_t bytes = 0;
        for_each_leaf([&bytes](slot* leaf) { bytes += resident_bytes(leaf, leaf_bytes); });
        return bytes;
    }

private:
    static constexpr std::uint32_t region_shift = 26;
    static constexpr std::uint32_t address_bits = 47;
    static constexpr std::size_t region_count = std::size_t{1} << (address_bits - region_shift);
    static constexpr std::size_t leaf_slots = std::size_t{1} << (region_shift - GranuleShift);
    // One slot more: a huge block that begins in the last granule keeps its size there.
    static constexpr std::size_t leaf_bytes = leaf_slots * sizeof(slot) + page_bytes;
    static constexpr std::uint32_t half_shift = 26;
    static constexpr std::uint32_t cohort_shift = 27;
    static constexpr std::uint32_t session_shift = cohort_shift + cohort_bits;
    static constexpr std::uint64_t size_mask = (std::uint64_t{1} << half_shift) - 1U;
    static_assert(least_long_bytes == size_mask, "the greatest number that fits stands for them");

    using leaf_pointer = std::atomic<slot*>;

    static_assert(sizeof(slot) == 8, "a slot is one machine word");
    static_assert(GranuleShift >= 5 && smallest_block_bytes > 16,
                  "blocks of more than 16 bytes at multiples of 16 are 32 bytes apart");

    ALLOCSCOPE_FAST_PATH static std::size_t granule_of(std::uintptr_t address) noexcept {
        return (address >> GranuleShift) & (leaf_slots - 1U);
    }

    // Called only after a window has opened: regions_ is set before the gate opens.
    ALLOCSCOPE_FAST_PATH slot* find_leaf(std::uintptr_t address) const noexcept {
        const std::uintptr_t region = address >> region_shift;
        if (ALLOCSCOPE_UNLIKELY(region >= region_count)) return nullptr;
        return regions_.load(std::memory_order_relaxed)[region].load(std::memory_order_acquire);
    }

    ALLOCSCOPE_SLOW_PATH slot* add_leaf(std::uintptr_t address) noexcept {
        const std::uintptr_t region = address >> region_shift;
        if (region >= region_count) return nullptr;
        void* pages = reserve_pages(leaf_bytes);
        if (pages == nullptr) return nullptr;
        slot* expected = nullptr;
        leaf_pointer& place = regions_.load(std::memory_order_relaxed)[region];
        if (!place.compare_exchange_strong(expected, static_cast<slot*>(pages),
                                           std::memory_order_acq_rel)) {
            return_reservation(pages, leaf_bytes);
            return expected;
        }
        widen(region);
        return static_cast<slot*>(pages);
    }

    void widen(std::size_t region) noexcept {
        std::size_t low = lowest_region_.load(std::memory_order_relaxed);
        while (region < low && !lowest_region_.compare_exchange_weak(low, region)) {
        }
        std::size_t high = highest_region_.load(std::memory_order_relaxed);
        while (region > high && !highest_region_.compare_exchange_weak(high, region)) {
        }
    }

    template <class Do>
    void for_each_leaf(Do&& action) noexcept {
        leaf_pointer* regions = regions_.load(std::memory_order_acquire);
        if (regions == nullptr) return;
        const std::size_t last = highest_region_.load(std::memory_order_acquire);
        for (std::size_t i = lowest_region_.load(std::memory_order_acquire); i <= last; ++i) {
            if (slot* leaf = regions[i].load(std::memory_order_acquire)) action(leaf);
        }
    }

    // Pages that were never written are not in memory. They are skipped: a read would map them.
    template <class Visit>
    static bool visit_leaf(slot* leaf, std::size_t region, std::uint32_t session,
                           Visit&& visit) noexcept {
        constexpr std::size_t slots_of_page = page_bytes / sizeof(slot);
        for (std::size_t i = 0; i < leaf_slots; i += slots_of_page) {
            if (resident_bytes(leaf + i, page_bytes) == 0) continue;
            for (std::size_t k = i; k < i + slots_of_page; ++k) {
                const std::uint64_t record = leaf[k].load(std::memory_order_relaxed);
                if (session_of(record) != session) continue;
                live_object found;
                found.address = (region << region_shift) | (k << GranuleShift) |
                                ((record >> (half_shift - 4U)) & 16U);
                found.cohort = cohort_of(record);
                found.bytes = bytes_of(leaf + k, record);
                if (!visit(found)) return false;
            }
        }
        return true;
    }

    std::atomic<leaf_pointer*> regions_{nullptr};
    std::atomic<std::size_t> lowest_region_{region_count};
    std::atomic<std::size_t> highest_region_{0};
};

using live_object_map = object_map<5>;      // every block
using sampled_object_map = object_map<12>;  // blocks that begin at a page

// Where sampled blocks begin, so that a free of any other block costs one test of its address.
constexpr std::size_t sampled_alignment = std::size_t{1} << 12U;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP

// process_state.hpp - the one global: every table, every thread, every window.

#ifndef ALLOCSCOPE_STATE_PROCESS_STATE_HPP
#define ALLOCSCOPE_STATE_PROCESS_STATE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct process_state {
    gate entry;
    live_object_map objects;
    sampled_object_map samples;
    cohort_table cohorts;
    site_table sites;
    page_arena arena;

    std::atomic<thread_state*> threads{nullptr};  // list of all states, only ever longer
    std::atomic<std::uint32_t> last_state_number{0};
    std::atomic<std::uint64_t> last_instance{0};
    std::atomic<std::uint32_t> last_epoch_serial{0};

    // Counts boundaries: it moves whenever any window opens, closes or forgets. Never 0.
    std::atomic<std::uint64_t> clock{1};

    // Held while a snapshot is named; taken before `control` and never while it is held.
    pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
    // --- control lock ---
    window_table windows;
    std::uint32_t session = 1;
    std::uint32_t tables = 1;
    std::uint64_t session_began_at = 0;        // boundary clock
    bool sees_every_event = false;             // see gate.hpp
    std::uint32_t windows_of_every_event = 0;  // open ones that are not sampled
    std::uint64_t births_since_wipe = 0;       // of ended sessions, since the map was last wiped
    std::uint64_t cohorts_at_last_reclaim = 0;
    std::uint64_t cohorts_kept = 0;  // how many the last reclaim left
    std::uint64_t losses_before_session[static_cast<std::uint32_t>(loss_reason::count)] = {};

    // The seed of sampling; 0: another one in each process. A test sets it.
    std::atomic<std::uint64_t> sampling_seed{0};

    std::atomic<std::uint64_t> events_without_state{0};  // for lack of memory
    std::atomic<bool> is_prepared{false};
    std::atomic<bool> has_thread_key{false};
    pthread_key_t thread_key{};

    // Control lock. Gives back what ended windows left behind, when enough has gathered. Set before
    // the first window opens; a thread that ends calls it, from a floor below windows/.
    void (*reclaim)() noexcept = nullptr;
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline process_state process{};

// Stand in for the state of a thread before its first event and after its last destructor: always
// busy, so that every hook of such a thread takes the slow path.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry unattached{{1}, no_view};
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry departed{{1}, no_view};

// What threads use after their last destructor, one at a time.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_state latecomer{};

// The state of this thread, &unattached or &departed. Code that can only be part of an executable
// reads it by one instruction, without asking the loader's table where it is.
#if defined(__PIC__) && !defined(__PIE__)
    #define ALLOCSCOPE_PRIVATE_TLS_MODEL "initial-exec"
#else
    #define ALLOCSCOPE_PRIVATE_TLS_MODEL "local-exec"
#endif
ALLOCSCOPE_HIDDEN inline thread_local thread_entry* current_entry
    __attribute__((tls_model(ALLOCSCOPE_PRIVATE_TLS_MODEL))) = &unattached;

// Null when this thread has none of its own.
inline thread_state* current_state() noexcept {
    thread_entry* entry = current_entry;
    if (entry == &unattached || entry == &departed) return nullptr;
    return static_cast<thread_state*>(entry);
}

class control_lock {
public:
    control_lock() noexcept { ::pthread_mutex_lock(&process.control); }
    ~control_lock() { ::pthread_mutex_unlock(&process.control); }
    control_lock(const control_lock&) = delete;
    control_lock& operator=(const control_lock&) = delete;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_PROCESS_STATE_HPP

// thread_fence.hpp - a memory fence in every running thread, paid by the one who asks for it.

#ifndef ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP
#define ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Once per process, before the first fence; again in a forked child is harmless.
inline void prepare_thread_fence() noexcept {
    const int saved_errno = errno;
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    errno = saved_errno;
}

// False: the kernel does not offer it, or a filter forbids it; nothing may be concluded then.
inline bool fence_all_threads() noexcept {
    const int saved_errno = errno;
    bool done = ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (!done) done = ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
    errno = saved_errno;
    return done;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP

// own_value.hpp - reading what only the calling thread writes.

#ifndef ALLOCSCOPE_BASE_OWN_VALUE_HPP
#define ALLOCSCOPE_BASE_OWN_VALUE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

template <class T>
ALLOCSCOPE_FAST_PATH T own_value(const std::atomic<T>& variable) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
    return variable.load(std::memory_order_relaxed);  // the sanitizer sees it
#else
    static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free,
                  "the atomic is nothing but its value");
    return reinterpret_cast<const T&>(variable);
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OWN_VALUE_HPP

// cohort_lookup.hpp - finds the cohort of a new object when the memo does not know it.

#ifndef ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP
#define ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint32_t no_cohort = 0;

// An epoch object to fill: a reclaimed one, or a new one.
inline epoch* make_epoch(thread_state& thread) noexcept {
    epoch* made = thread.returned_epochs.load(std::memory_order_acquire);
    while (made != nullptr &&
           !thread.returned_epochs.compare_exchange_weak(
               made, made->older.load(std::memory_order_relaxed), std::memory_order_acq_rel)) {
    }
    if (made == nullptr) made = static_cast<epoch*>(process.arena.allocate(sizeof(epoch)));
    return made;
}

inline std::uint32_t new_epoch_serial() noexcept {
    std::uint32_t serial;
    do {
        serial = process.last_epoch_serial.fetch_add(1, std::memory_order_relaxed) + 1;
    } while (serial == 0 || serial == no_epoch);
    return serial;
}

// The epoch of the thread's present view; null when there is no memory.
inline epoch* present_epoch(thread_state& thread) noexcept {
    epoch* newest = thread.newest_epoch.load(std::memory_order_relaxed);
    if (thread.is_epoch_current) return newest;
    epoch* fresh = make_epoch(thread);
    if (fresh == nullptr) return nullptr;
    fresh->began_at.store(thread.clock.load(std::memory_order_relaxed), std::memory_order_relaxed);
    fresh->instance.store(thread.instance.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
    fresh->windows.store(thread.windows, std::memory_order_relaxed);
    fresh->serial.store(new_epoch_serial(), std::memory_order_relaxed);
    fresh->cohorts.store(0, std::memory_order_relaxed);
    fresh->sample_bytes.store(thread.sample_bytes, std::memory_order_relaxed);
    fresh->older.store(newest, std::memory_order_relaxed);
    // Release: whoever finds the epoch finds all of it.
    thread.newest_epoch.store(fresh, std::memory_order_release);
    thread.epoch_serial = fresh->serial.load(std::memory_order_relaxed);
    thread.is_epoch_current = true;
    return fresh;
}

// An unused cohort of this thread, for events or for samples; no_cohort when there is no room.
inline std::uint32_t take_cohort(thread_state& thread, bool is_of_samples) noexcept {
    auto& returned = is_of_samples ? thread.returned_sampled : thread.returned_cohorts;
    std::uint32_t id = returned.load(std::memory_order_acquire);
    while (id != no_cohort &&
           !returned.compare_exchange_weak(
               id, process.cohorts.by_id(id)->facts().next.load(std::memory_order_relaxed),
               std::memory_order_acq_rel)) {
    }
    if (id != no_cohort) return id;
    const std::uint32_t parts = is_of_samples ? sampled_cohort_parts : 1;
    thread.next_cohort = (thread.next_cohort + parts - 1) & ~(parts - 1);
    if (thread.next_cohort == thread.last_cohort) {
        const std::uint32_t first = process.cohorts.add_page();
        if (first == 0) return no_cohort;
        thread.next_cohort = first;
        thread.last_cohort = first + cohort_table::page_cohorts;
    }
    id = thread.next_cohort;
    thread.next_cohort += parts;
    return id;
}

inline void begin_sampled_part(sampled_part& part, std::uint64_t sample_bytes) noexcept {
    for (sampled_part::sums* sums : {&part.births, &part.deaths}) {
        sums->objects.store(0, std::memory_order_relaxed);
        sums->objects_variance.store(0, std::memory_order_relaxed);
        sums->bytes_variance.store(0, std::memory_order_relaxed);
        sums->objects_skew.store(0, std::memory_order_relaxed);
        sums->bytes_skew.store(0, std::memory_order_relaxed);
    }
    part.sample_bytes.store(sample_bytes, std::memory_order_relaxed);
}

// A new cohort of the present epoch for a site.
ALLOCSCOPE_SLOW_PATH std::uint32_t make_cohort(thread_state& thread, std::uint32_t site) noexcept {
    epoch* now = present_epoch(thread);
    if (now == nullptr) return no_cohort;
    const std::uint64_t sample_bytes = now->sample_bytes.load(std::memory_order_relaxed);
    const std::uint32_t id = take_cohort(thread, sample_bytes != 0);
    if (id == no_cohort) return no_cohort;
    std::uint32_t owner = thread.number;
    if (sample_bytes != 0) {
        begin_sampled_part(*process.cohorts.sampled_part_of(id), sample_bytes);
        owner |= sampled_owner;
    }
    cohort& made = *process.cohorts.by_id(id);
    made.births.set(0);
    made.birth_bytes.set(0);
    made.deaths.set(0);
    made.death_bytes.set(0);
    cohort_facts& facts = made.facts();
    facts.born_at.store(now->began_at.load(std::memory_order_relaxed), std::memory_order_relaxed);
    facts.windows.store(now->windows.load(std::memory_order_relaxed), std::memory_order_relaxed);
    facts.owner.store(owner, std::memory_order_relaxed);
    facts.instance.store(static_cast<std::uint32_t>(now->instance.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
    facts.site.store(site, std::memory_order_relaxed);
    facts.next.store(now->cohorts.load(std::memory_order_relaxed), std::memory_order_relaxed);
    now->cohorts.store(id, std::memory_order_release);
    thread.new_cohorts.add(1);
    return id;
}

// The cohort for objects whose stack is not wanted or not known.
inline std::uint32_t plain_cohort(thread_state& thread) noexcept {
    if (thread.plain_cohort == no_cohort) {
        const std::uint32_t id = make_cohort(thread, 0);
        if (id == no_cohort) return no_cohort;
        thread.plain_record = live_object_map::record_head(thread.session, id);
        thread.plain_cohort = id;
    }
    if (thread.mode == charge::numbers) {
        thread.plain_counters = process.cohorts.by_id(thread.plain_cohort);
        thread.straight_view = thread.view_number;
    }
    return thread.plain_cohort;
}

// Stores in a remembered chain which cohort it stands for while the thread is in this epoch.
inline void settle_memo(const thread_state& thread, remembered_chain& memo,
                        std::uint32_t cohort) noexcept {
    memo.counters = process.cohorts.by_id(cohort);
    memo.record = live_object_map::record_head(thread.session, cohort);
    memo.epoch = thread.epoch_serial;
}

// The thread's entry for a site, with its cohort of the present epoch. Null when there is no room.
inline cohort_of_site::entry* entry_for_site(thread_state& thread, std::uint32_t site) noexcept {
    if (present_epoch(thread) == nullptr) return nullptr;
    cohort_of_site::entry* entry = thread.cohorts.find(process.arena, site);
    if (entry == nullptr) return nullptr;
    if (entry->epoch != thread.epoch_serial) {
        const std::uint32_t made = make_cohort(thread, site);
        if (made == no_cohort) return nullptr;
        entry->cohort = made;
        entry->epoch = thread.epoch_serial;
    }
    return entry;
}

// The cohort of the stack in scratch_frames; the memo, if any, learns what its chain stands for.
inline std::uint32_t cohort_of_stack(thread_state& thread, std::uint64_t hash,
                                     std::uint32_t frame_count, remembered_chain* memo) noexcept {
    const site* const found =
        process.sites.intern(process.arena, hash, thread.scratch_frames, frame_count);
    if (found == nullptr) {
        thread.lose(loss_reason::no_room_for_site);
        return plain_cohort(thread);
    }
    cohort_of_site::entry* const entry = entry_for_site(thread, found->id);
    if (entry == nullptr) return plain_cohort(thread);
    if (memo != nullptr) {
        entry->shape = memo->frame != 0 ? memo->shape : 0;
        memo->site = found;
        settle_memo(thread, *memo, entry->cohort);
        if (memo->shape == 0) memo->epoch = 0;  // find_cohort() looks at the modules each time
    }
    return entry->cohort;
}

inline void walk_into_scratch(thread_state& thread, const stack_bounds& bounds,
                              std::uintptr_t frame) noexcept {
    walked_stack& stack = thread.scratch;
    stack_walk{bounds, thread.rules, stack, thread.method}.run(frame, thread.frames);
    for (std::uint32_t i = 0; i < stack.frame_count; ++i) {
        thread.scratch_frames[i] = stack.returns[i].value;
    }
    visit_modules_that_may_go(stack, note_module);
}

// The cohort of a stack in the thread's own bounds that differs from the one in its memo.
ALLOCSCOPE_NOINLINE std::uint32_t find_changed(thread_state& thread, remembered_chain& memo,
                                               std::uintptr_t frame) noexcept {
    if (chain_memo::collect(memo, frame, thread.scratch_frames)) {
        const std::uint64_t hash = stack_hash(memo.sum);
        const site* const known =
            process.sites.known(hash, thread.scratch_frames, memo.frame_count);
        const cohort_of_site::entry* const entry =
            known != nullptr ? thread.cohorts.existing(known->id) : nullptr;
        if (ALLOCSCOPE_LIKELY(entry != nullptr && entry->shape == memo.shape &&
                              entry->epoch == thread.epoch_serial)) {
            chain_memo::end_change(memo, frame);
            memo.site = known;
            settle_memo(thread, memo, entry->cohort);
            return entry->cohort;
        }
        if (chain_memo::leads_as_before(memo, thread.rules, thread.scratch_frames)) {
            chain_memo::end_change(memo, frame);
            return cohort_of_stack(thread, hash, memo.frame_count, &memo);
        }
    }
    walk_into_scratch(thread, thread.bounds, frame);
    thread.memo.remember(memo, frame, thread.scratch);
    return cohort_of_stack(thread, stack_hash(memo.sum), memo.frame_count, &memo);
}

inline bool prepare_caches(thread_state& thread) noexcept {
    return thread.memo.is_ready() || thread.memo.prepare(thread.frames, thread.method);
}

// The cohort of an allocation whose caller's frame is `frame`.
ALLOCSCOPE_NOINLINE std::uint32_t find_cohort(thread_state& thread, std::uintptr_t frame) noexcept {
    if (!prepare_caches(thread)) {
        thread.lose(loss_reason::no_room_for_site);
        return plain_cohort(thread);
    }
    if (ALLOCSCOPE_UNLIKELY(!thread.bounds.contains(frame))) {
        walk_into_scratch(thread, page_bounds(frame), frame);
        return cohort_of_stack(thread, stack_hash(thread.scratch.sum), thread.scratch.frame_count,
                               nullptr);
    }
    const std::uintptr_t caller = read_stack_word(frame + sizeof(std::uintptr_t));
    remembered_chain* memo = thread.memo.entry_for(frame, caller);
    const auto* known = static_cast<const site*>(memo->site);
    if (known != nullptr && memo->epoch != thread.epoch_serial &&
        chain_memo::is_unchanged(*memo, frame) && (memo->shape != 0 || has_same_modules(*memo))) {
        const cohort_of_site::entry* const entry = entry_for_site(thread, known->id);
        if (entry == nullptr) return plain_cohort(thread);
        if (memo->shape != 0) settle_memo(thread, *memo, entry->cohort);
        return entry->cohort;
    }
    return find_changed(thread, *memo, frame);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP

// peak_tracking.hpp - the high-water mark of each window, without a shared counter.

#ifndef ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP
#define ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

ALLOCSCOPE_FAST_PATH std::int64_t pending_bytes(const thread_state& thread) noexcept {
    return thread.bytes_above_floor - (flush_bytes - 1);
}

inline void forget_pending(thread_state& thread) noexcept {
    thread.bytes_below_peak = 0;
    thread.bytes_above_floor = flush_bytes - 1;
    thread.pending_peak.store(0, std::memory_order_relaxed);
}

// The share of a thread in the window of a slot; null when there is no memory for it.
inline window_share* share_of(thread_state& thread, std::uint32_t slot, bool make) noexcept {
    if (slot < window_table::masked_windows) return thread.shares + slot;
    constexpr std::size_t bytes =
        std::size_t{window_table::chunk_windows} * window_table::chunk_count * sizeof(window_share);
    window_share* more = thread.more_shares.load(std::memory_order_acquire);
    if (more == nullptr && make) {
        more = static_cast<window_share*>(reserve_pages(bytes));
        thread.more_shares.store(more, std::memory_order_release);
    }
    return more == nullptr ? nullptr : more + slot;
}

// What all threads but `except` have published of a window.
inline std::int64_t published_bytes(std::uint32_t slot, std::uint64_t opened_at,
                                    const thread_state* except) noexcept {
    std::int64_t sum = 0;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        if (t == except) continue;
        const window_share* share = share_of(*t, slot, false);
        if (share == nullptr || share->opened_at.load(std::memory_order_acquire) != opened_at) {
            continue;
        }
        sum += share->live_bytes.load(std::memory_order_relaxed);
    }
    return sum;
}

// The thread's share, begun anew when it still belongs to an earlier window of the slot.
inline window_share* current_share(thread_state& thread, std::uint32_t slot,
                                   std::uint64_t opened_at) noexcept {
    window_share* share = share_of(thread, slot, true);
    if (share != nullptr && share->opened_at.load(std::memory_order_relaxed) != opened_at) {
        share->opened_at.store(0, std::memory_order_relaxed);
        share->live_bytes.store(0, std::memory_order_release);
        share->peak_bytes.store(0, std::memory_order_relaxed);
        share->opened_at.store(opened_at, std::memory_order_release);
    }
    return share;
}

inline void flush_to_window(thread_state& thread, std::uint32_t slot, std::int64_t net,
                            std::int64_t highest) noexcept {
    const open_window* window = process.windows.by_slot(slot);
    if (window == nullptr) return;
    const std::uint64_t opened_at = window->open_at.load(std::memory_order_acquire);
    // The window of this view may have closed meanwhile, and another one opened in its slot.
    if (opened_at == 0 || opened_at > thread.clock.load(std::memory_order_relaxed)) return;
    window_share* share = current_share(thread, slot, opened_at);
    if (share == nullptr) return;
    const std::int64_t live = share->live_bytes.load(std::memory_order_relaxed);
    const std::int64_t reached = published_bytes(slot, opened_at, &thread) + live + highest;
    if (reached > share->peak_bytes.load(std::memory_order_relaxed)) {
        share->peak_bytes.store(reached, std::memory_order_relaxed);
    }
    share->live_bytes.store(live + net, std::memory_order_release);
}

// Calls action(slot) for every window in the mask, and for those without a mask bit when `many`.
template <class Action>
inline void for_each_window(std::uint64_t mask, bool many, Action&& action) noexcept {
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
        action(static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
    if (!many) return;
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = window_table::masked_windows; slot < end; ++slot) action(slot);
}

// Adds the pending bytes to the windows that watched the thread while they were summed.
ALLOCSCOPE_NOINLINE void flush_pending(thread_state& thread) noexcept {
    const std::int64_t net = pending_bytes(thread);
    const std::int64_t highest = thread.pending_peak.load(std::memory_order_relaxed);
    if (net == 0 && highest == 0) return;
    const std::uint64_t instance = thread.instance.load(std::memory_order_relaxed);
    for_each_window(thread.windows, thread.many_windows != 0, [&](std::uint32_t slot) {
        if (slot >= window_table::masked_windows) {
            const open_window* window = process.windows.by_slot(slot);
            if (window == nullptr ||
                !window->owns(thread.clock.load(std::memory_order_relaxed), instance))
                return;
        }
        flush_to_window(thread, slot, net, highest);
    });
    forget_pending(thread);
}

ALLOCSCOPE_FAST_PATH void add_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    thread.bytes_above_floor += static_cast<std::int64_t>(bytes);
    thread.bytes_below_peak -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_below_peak < 0)) {
        const std::int64_t net = pending_bytes(thread);
        thread.bytes_below_peak = 0;
        thread.pending_peak.store(net, std::memory_order_relaxed);
        if (net >= flush_bytes) flush_pending(thread);
    }
}

// The object belongs to exactly the windows that watch this thread now.
ALLOCSCOPE_FAST_PATH void remove_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    thread.bytes_below_peak += static_cast<std::int64_t>(bytes);
    thread.bytes_above_floor -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_above_floor < 0)) flush_pending(thread);
}

// The object belongs to the windows of its birth, whichever they are.
ALLOCSCOPE_NOINLINE void remove_older_bytes(thread_state& thread, std::uint64_t bytes,
                                            std::uint64_t born_at, std::uint64_t born_windows,
                                            std::uint64_t born_instance) noexcept {
    flush_pending(thread);
    const bool many = process.windows.slot_end() > window_table::masked_windows;
    for_each_window(born_windows, many, [&](std::uint32_t slot) {
        const open_window* window = process.windows.by_slot(slot);
        if (window == nullptr || !window->owns(born_at, born_instance)) return;
        window_share* share =
            current_share(thread, slot, window->open_at.load(std::memory_order_acquire));
        if (share == nullptr) return;
        share->live_bytes.store(
            share->live_bytes.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes),
            std::memory_order_release);
    });
}

// An object of any thread dies.
ALLOCSCOPE_FAST_PATH void take_from_live(thread_state& thread, const cohort_facts& born,
                                         std::uint64_t bytes) noexcept {
    const std::uint64_t born_at = born.born_at.load(std::memory_order_relaxed);
    const std::uint64_t windows = born.windows.load(std::memory_order_relaxed);
    if (ALLOCSCOPE_LIKELY(windows == thread.windows && born_at >= thread.newest_window &&
                          thread.many_windows == 0)) {
        remove_live_bytes(thread, bytes);
    } else {
        remove_older_bytes(thread, bytes, born_at, windows,
                           born.instance.load(std::memory_order_relaxed));
    }
}

// Control lock. The peak of a window as far as all threads have seen it. `seen` is its share in a
// thread, `reached` what the pending bytes of that thread add.
inline std::uint64_t peak_of_window(std::uint32_t slot, std::uint64_t opened_at) noexcept {
    const open_window* window = process.windows.by_slot(slot);
    const std::int64_t published = published_bytes(slot, opened_at, nullptr);
    std::int64_t peak = 0;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        const window_share* share = share_of(*t, slot, false);
        if (share != nullptr && share->opened_at.load(std::memory_order_acquire) == opened_at) {
            const std::int64_t seen = share->peak_bytes.load(std::memory_order_relaxed);
            if (seen > peak) peak = seen;
        }
        if (!window->owns(t->clock.load(std::memory_order_acquire),
                          t->instance.load(std::memory_order_acquire))) {
            continue;
        }
        const std::int64_t reached = published + t->pending_peak.load(std::memory_order_relaxed);
        if (reached > peak) peak = reached;
    }
    return static_cast<std::uint64_t>(peak);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP

// thread_lifecycle.hpp - a thread gets its state with its first event and gives it back at its end.

#ifndef ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP
#define ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline std::uint64_t new_instance() noexcept {
    return process.last_instance.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Makes a state known to everybody who sums over threads.
inline void enlist(thread_state& fresh) noexcept {
    fresh.number = process.last_state_number.fetch_add(1, std::memory_order_relaxed) + 1;
    thread_state* first = process.threads.load(std::memory_order_relaxed);
    do {
        fresh.next_state = first;
        // Release: whoever finds the state finds its number.
    } while (!process.threads.compare_exchange_weak(first, &fresh, std::memory_order_acq_rel));
}

// Takes a state that nobody uses; null when there is no memory.
inline thread_state* take_state() noexcept {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        if (t->is_taken.load(std::memory_order_relaxed)) continue;
        bool expected = false;
        // Acquire: pairs with the release in give_back_state, so all that its last owner wrote is
        // seen.
        if (t->is_taken.compare_exchange_strong(expected, true, std::memory_order_acquire)) {
            return t;
        }
    }
    constexpr std::size_t bytes = (sizeof(thread_state) + page_bytes - 1) & ~(page_bytes - 1);
    void* pages = map_pages(bytes);
    if (pages == nullptr) return nullptr;
    auto* fresh = ::new (pages) thread_state;
    fresh->is_taken.store(true, std::memory_order_relaxed);
    enlist(*fresh);
    return fresh;
}

inline void give_back_state(thread_state& state) noexcept {
    flush_pending(state);
    state.forget_view();
    state.is_epoch_current = false;
    state.nested.store(nullptr, std::memory_order_relaxed);
    state.busy.store(0, std::memory_order_relaxed);
    state.is_taken.store(false, std::memory_order_release);
}

// ThreadSanitizer forgets a thread in the last round; none of our code may run after that.
constexpr std::uint32_t last_destructor_round =
    PTHREAD_DESTRUCTOR_ITERATIONS - (ALLOCSCOPE_ON(THREAD_SANITIZER) ? 1 : 0);

// Called by the C library in each round of key destructors of an ending thread.
inline void thread_end(void* value) noexcept {
    auto* state = static_cast<thread_state*>(value);
    if (++state->end_rounds < last_destructor_round) {
        ::pthread_setspecific(process.thread_key, state);
        return;
    }
    current_entry = &departed;
    compiler_barrier();
    for (thread_state* inner = state; inner != nullptr;) {
        thread_state* next = inner->nested.load(std::memory_order_relaxed);
        give_back_state(*inner);
        inner = next;
    }
    // Under one long window there are no boundaries; only threads that end call for a reclaim.
    if (::pthread_mutex_trylock(&process.control) == 0) {
        process.reclaim();
        ::pthread_mutex_unlock(&process.control);
    }
}

// Control lock, before the first window opens.
inline void prepare_threads() noexcept {
    if (latecomer.primary_state.load(std::memory_order_relaxed) != nullptr) return;
    latecomer.primary_state.store(&latecomer, std::memory_order_relaxed);
    latecomer.instance.store(new_instance(), std::memory_order_relaxed);
    latecomer.is_taken.store(true, std::memory_order_relaxed);
    enlist(latecomer);
    if (::pthread_key_create(&process.thread_key, &thread_end) == 0) {
        process.has_thread_key.store(true, std::memory_order_release);
    }
}

inline void begin_state(thread_state& state, thread_state& primary,
                        std::uint64_t instance) noexcept {
    state.primary_state.store(&primary, std::memory_order_relaxed);
    state.instance.store(instance, std::memory_order_relaxed);
    state.forget_view();
    state.is_epoch_current = false;
    state.epoch_serial = no_epoch;
    state.plain_cohort = 0;
    state.plain_counters = nullptr;
    state.pause_depth = 0;
    state.sample_bytes = 0;
    state.bytes_left.store(never_sampled, std::memory_order_relaxed);
    state.has_dice = false;  // each thread has its own
    state.end_rounds = 0;
    state.own_windows.store(0, std::memory_order_relaxed);
    // Set to now, so that the epochs of one state stay in order of time over all its threads.
    state.own_clock.store(process.clock.load(std::memory_order_acquire), std::memory_order_relaxed);
    state.clock.store(0, std::memory_order_relaxed);
    state.windows = 0;
    state.bounds = {};
    // The memo's chains lie on a stack that is gone. They are dropped when the view is read,
    // because the depth will differ then. Not here: another thread may be giving the tables back
    // just now.
    state.frames = 0;
}

// The state of the calling thread, made on its first call; null when there is no memory.
ALLOCSCOPE_SLOW_PATH thread_state* attach_thread() noexcept {
    thread_state* state = take_state();
    if (state == nullptr) {
        process.events_without_state.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    begin_state(*state, *state, new_instance());
    current_entry = state;
    if (process.has_thread_key.load(std::memory_order_acquire)) {
        ::pthread_setspecific(process.thread_key, state);
    }
    return state;
}

inline thread_state* nested_state(thread_state& outer) noexcept {
    thread_state* inner = outer.nested.load(std::memory_order_relaxed);
    if (inner != nullptr) return inner;
    inner = take_state();
    if (inner == nullptr) return nullptr;
    begin_state(*inner, outer.primary(), outer.instance.load(std::memory_order_relaxed));
    thread_state* expected = nullptr;
    if (!outer.nested.compare_exchange_strong(expected, inner)) {
        give_back_state(*inner);  // another handler was faster
        return expected;
    }
    return inner;
}

// Whether the hook that marked the state busy is gone for good, because a signal handler jumped
// over it. A hook that still runs lies higher in the same stack than what interrupts it, or on
// another stack than the handler. An alternate signal stack may lie anywhere, also within the
// thread's own, so the kernel is asked whether we are on it. (That is rare: only when `busy` is
// set.)
inline bool is_abandoned(const thread_state& state, std::uintptr_t busy,
                         std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t same_stack_bytes = 64 * 1024;
    const stack_bounds alternate = alternate_stack_in_use();
    if (alternate.high != 0) return alternate.contains(busy) && frame >= busy;
    if (state.bounds.contains(frame)) {
        return !state.bounds.contains(busy) || frame >= busy;
    }
    return !state.bounds.contains(busy) && frame >= busy && frame - busy < same_stack_bytes;
}

// After its last destructor a thread has no state, so it waits for the common one.
inline thread_state* enter_as_latecomer(std::uintptr_t frame) noexcept {
    constexpr int most_tries = 1000;
    for (int i = 0; i < most_tries; ++i) {
        std::uintptr_t expected = 0;
        if (latecomer.busy.compare_exchange_strong(expected, frame, std::memory_order_acquire)) {
            return &latecomer;
        }
        ::sched_yield();
    }
    return nullptr;
}

// A state that no other hook works on, for a thread that has none or is interrupted in one.
ALLOCSCOPE_SLOW_PATH thread_state* enter_slow(std::uintptr_t frame) noexcept {
    constexpr int deepest = 4;
    if (current_entry == &departed) return enter_as_latecomer(frame);
    thread_state* state = current_state();
    if (state == nullptr) return attach_thread();
    for (int depth = 0; depth < deepest; ++depth) {
        const std::uintptr_t busy = state->busy.load(std::memory_order_relaxed);
        if (busy == 0 || is_abandoned(*state, busy, frame)) return state;
        thread_state* inner = nested_state(*state);
        if (inner == nullptr) break;
        state = inner;
    }
    current_state()->lose(loss_reason::too_deeply_nested);
    return nullptr;
}

// In a forked child: the states of threads that do not exist here are free again.
inline void forget_other_threads() noexcept {
    const thread_state* own = current_state();
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        if (t == &latecomer ||
            (own != nullptr && t->primary_state.load(std::memory_order_relaxed) == own))
            continue;
        if (!t->is_taken.load(std::memory_order_relaxed)) continue;
        give_back_state(*t);
    }
    latecomer.busy.store(0, std::memory_order_relaxed);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP

// random_seed.hpp - 64 bits that differ from process to process and from call to call.

#ifndef ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP
#define ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline std::uint64_t random_seed() noexcept {
    std::uint64_t of_program[2] = {};
    if (const auto* bytes = reinterpret_cast<const char*>(::getauxval(AT_RANDOM))) {
        std::memcpy(of_program, bytes, sizeof of_program);
    }
    std::uint64_t mixed = hash_step(hash_seed, of_program[0]);
    mixed = hash_step(mixed, of_program[1]);
    mixed = hash_step(mixed, monotonic_ns());
    mixed = hash_step(mixed, static_cast<std::uint64_t>(::getpid()));
    return hash_finish(mixed);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP

// sample_gap.hpp - how many bytes until the next sample.

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// No gap is longer, so that it fits a signed countdown.
constexpr std::uint64_t longest_sample_gap = 0x7fffffffffffffffU;

// An exponentially distributed number with mean 1, never 0 and at most 45.1. The uniform number is
// the middle of one of 2^64 steps; the logarithm is taken from the end it is nearer to, where a
// double is fine enough to tell all steps apart. So gaps far below a mean of 2^62 are still right.
inline double draw_exponential(random_source& random) noexcept {
    constexpr double step = 1.0 / 18446744073709551616.0;  // 2^-64
    constexpr std::uint64_t half = std::uint64_t{1} << 63U;
    const std::uint64_t uniform = random.next();
    if (uniform < half) return -std::log((static_cast<double>(uniform) + 0.5) * step);
    return -std::log1p(-(static_cast<double>(~uniform) + 0.5) * step);
}

// Bytes up to and including the one that is sampled: 1 to longest_sample_gap. With a mean of 1 or 0
// the gap is always 1, so everything is recorded. About 20 ns.
inline std::uint64_t draw_gap(random_source& random, std::uint64_t mean) noexcept {
    if (mean <= 1) return 1;
    const double gap = std::ceil(draw_exponential(random) * static_cast<double>(mean));
    if (!(gap < static_cast<double>(longest_sample_gap))) return longest_sample_gap;
    return gap > 1.0 ? static_cast<std::uint64_t>(gap) : 1;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP

// watches.hpp - which threads are watched by guards, and which allocations are to fail.

#ifndef ALLOCSCOPE_STATE_WATCHES_HPP
#define ALLOCSCOPE_STATE_WATCHES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- guards ---

struct thread_watches {
    guard_watch* innermost = nullptr;
    std::uint32_t allow_depth = 0;  // of allow_allocations
    bool is_telling = false;        // a guard is being told: what it allocates is no violation
};

ALLOCSCOPE_HIDDEN inline thread_local thread_watches own_watches
    __attribute__((tls_model("initial-exec"))) = {};

// --- plans ---

struct armed_plan {
    std::atomic<std::uint64_t> instance{0};  // of the thread; 0: every thread
    std::atomic<bool> is_taken{false};
    std::atomic<bool> is_armed{false};
    std::uint64_t window = 0;  // keeps the gate open
    // From the fault_plan; written before is_armed. A hook that is late may still read them.
    std::atomic<fault_kind> kind{fault_kind::nth};
    std::atomic<std::uint64_t> number{0};
    std::atomic<std::uint64_t> times{0};
    std::atomic<std::uint64_t> seed{0};

    std::atomic<std::uint64_t> seen{0};  // allocations that the plan decided about
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> bytes{0};  // granted
    // The stack of the first allocation that failed. The count is stored last.
    std::atomic<std::uint32_t> frame_count{0};
    std::atomic<std::uintptr_t> frames[most_fault_frames] = {};
};

constexpr std::uint32_t most_plans = 16;

struct plan_table {
    armed_plan plans[most_plans];
    std::atomic<std::uint32_t> armed{0};
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline plan_table fault_plans{};

inline bool concerns(const armed_plan& plan, std::uint64_t instance) noexcept {
    if (!plan.is_armed.load(std::memory_order_acquire)) return false;
    const std::uint64_t whose = plan.instance.load(std::memory_order_relaxed);
    return whose == 0 || whose == instance;
}

// While nothing is watched, this is all that a hook asks on its slow path.
ALLOCSCOPE_FAST_PATH bool has_watches() noexcept {
    return own_watches.innermost != nullptr ||
           fault_plans.armed.load(std::memory_order_acquire) != 0;
}

// Whether a hook of the calling thread, which has this instance, must take the slow path.
inline bool is_watched_thread(std::uint64_t instance) noexcept {
    if (own_watches.innermost != nullptr) return true;
    if (fault_plans.armed.load(std::memory_order_acquire) == 0) return false;
    for (const armed_plan& each : fault_plans.plans) {
        if (concerns(each, instance)) return true;
    }
    return false;
}

// The finish of splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
constexpr std::uint64_t scrambled(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

// Counts a request of so many bytes, and says whether it fails.
inline bool decides_to_fail(armed_plan& plan, std::uint64_t bytes) noexcept {
    const std::uint64_t nth = plan.seen.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t number = plan.number.load(std::memory_order_relaxed);
    bool fails = false;
    switch (plan.kind.load(std::memory_order_relaxed)) {
        case fault_kind::nth:
            fails = nth >= number && nth - number < plan.times.load(std::memory_order_relaxed);
            break;
        case fault_kind::after_bytes: {
            std::uint64_t granted = plan.bytes.load(std::memory_order_relaxed);
            do {
                fails = bytes > number - granted;
            } while (!fails && !plan.bytes.compare_exchange_weak(granted, granted + bytes,
                                                                 std::memory_order_relaxed));
            break;
        }
        case fault_kind::random:
            // Decided by the allocation's number and the seed alone, so that a run can be repeated.
            fails = scrambled(plan.seed.load(std::memory_order_relaxed) + nth * golden_multiplier) <
                    number;
            break;
    }
    if (fails) plan.failed.fetch_add(1, std::memory_order_relaxed);
    return fails;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_WATCHES_HPP

// view_refresh.hpp - a thread learns that windows have opened or closed.

#ifndef ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP
#define ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The smaller of two mean intervals, where 0 means that there is none.
constexpr std::uint64_t least_interval(std::uint64_t a, std::uint64_t b) noexcept {
    return a == 0 || (b != 0 && b < a) ? b : a;
}

// What the windows that watch a thread ask of it together.
struct thread_needs {
    std::uint64_t windows = 0;
    std::uint64_t newest = 0;
    charge mode = charge::nothing;
    std::uint32_t frames = 0;
    unwinding_set methods = 0;
    std::uint64_t sample_bytes = 0;

    void note_opening(const open_window& window) noexcept {
        const std::uint64_t opened_at = window.open_at.load(std::memory_order_acquire);
        if (opened_at > newest) newest = opened_at;
    }

    void add(const open_window& window, std::uint32_t slot) noexcept {
        if (slot < window_table::masked_windows) windows |= std::uint64_t{1} << slot;
        note_opening(window);
        const charge wanted = window.mode.load(std::memory_order_relaxed);
        if (wanted > mode) mode = wanted;
        const std::uint32_t depth = window.frames.load(std::memory_order_relaxed);
        if (wanted != charge::numbers && depth > frames) frames = depth;
        if (wanted != charge::numbers) methods |= window.methods.load(std::memory_order_relaxed);
        if (wanted == charge::samples) {
            sample_bytes =
                least_interval(sample_bytes, window.sample_bytes.load(std::memory_order_relaxed));
        }
    }
};

inline thread_needs needs_of(const thread_state& thread, const view& now) noexcept {
    thread_needs needs;
    needs.windows = now.windows;
    needs.mode = now.mode;
    needs.frames = now.frames;
    needs.methods = now.methods;
    needs.sample_bytes = now.sample_bytes;
    for (std::uint64_t left = now.windows; left != 0; left &= left - 1) {
        const auto slot = static_cast<std::uint32_t>(__builtin_ctzll(left));
        needs.note_opening(*process.windows.by_slot(slot));
    }
    const bool has_own = thread.primary().own_windows.load(std::memory_order_acquire) != 0;
    if (!has_own && now.many_windows == 0) return needs;
    const std::uint64_t instance = thread.instance.load(std::memory_order_relaxed);
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = has_own ? 0 : window_table::masked_windows; slot < end; ++slot) {
        const open_window* window = process.windows.by_slot(slot);
        if (window->open_at.load(std::memory_order_acquire) == 0) continue;
        const std::uint64_t watched = window->instance.load(std::memory_order_relaxed);
        if (watched == instance) needs.add(*window, slot);
        if (watched == every_thread) needs.note_opening(*window);
    }
    return needs;
}

inline void seed_dice(thread_state& thread) noexcept {
    const std::uint64_t fixed = process.sampling_seed.load(std::memory_order_relaxed);
    const std::uint64_t instance = thread.instance.load(std::memory_order_relaxed);
    thread.dice.seed(hash_finish(hash_step(fixed != 0 ? fixed : random_seed(), instance)));
    thread.has_dice = true;
}

// Bytes until the next sample. The gap has no memory, so it may be drawn anew whenever the mean
// changes.
inline std::uint64_t next_gap(thread_state& thread) noexcept {
    if (thread.sample_bytes == 0) return never_sampled;
    if (!thread.has_dice) seed_dice(thread);
    return draw_gap(thread.dice, thread.sample_bytes);
}

// False: no window is open any more.
ALLOCSCOPE_SLOW_PATH bool refresh_view(thread_state& thread, std::uintptr_t frame) noexcept {
    view now;
    if (!process.entry.load(now)) {
        thread.forget_view();
        return false;
    }
    if (thread.tables == now.tables) {
        flush_pending(thread);
    } else {  // the caches were emptied when the tables were given back
        thread.tables = now.tables;
        thread.is_epoch_current = false;
        thread.epoch_serial = no_epoch;
        thread.plain_cohort = 0;
        forget_pending(thread);
    }
    const std::uint64_t own = thread.primary().own_clock.load(std::memory_order_acquire);
    const std::uint64_t clock = now.clock > own ? now.clock : own;
    const thread_needs needs = needs_of(thread, now);
    if (clock != thread.clock.load(std::memory_order_relaxed) || needs.windows != thread.windows) {
        thread.is_epoch_current = false;
        thread.epoch_serial = no_epoch;
        thread.plain_cohort = 0;
    }
    thread.clock.store(clock, std::memory_order_release);
    thread.session = now.session;
    thread.session_head = live_object_map::record_head(now.session, 0);
    thread.windows = needs.windows;
    thread.many_windows = now.many_windows;
    thread.newest_window = needs.newest;
    thread.mode = thread.primary().pause_depth != 0 ? charge::nothing
                                                    : joined(needs.mode, needs.sample_bytes);
    const std::uint64_t sample_bytes = thread.mode == charge::samples ? needs.sample_bytes : 0;
    if (sample_bytes == 0 || sample_bytes != thread.sample_bytes || !thread.has_dice) {
        thread.sample_bytes = sample_bytes;
        thread.bytes_left.store(next_gap(thread), std::memory_order_relaxed);
    }
    const unwinding method = common_method(needs.methods);
    if (needs.frames != 0 && (needs.frames != thread.frames || method != thread.method)) {
        // The remembered chains were cut at another depth, or found in another way.
        thread.memo.release();
        thread.frames = needs.frames;
        thread.method = method;
    }
    // Without its caches the thread records no stacks; find_cohort counts that as a loss.
    if (thread.mode == charge::stacks && !thread.memo.is_ready()) {
        if (!thread.memo.prepare(thread.frames, thread.method))
            thread.mode = charge::stacks_without_memo;
    }
    if (thread.bounds.high == 0) thread.bounds = current_stack_bounds(frame);
    // A watched thread has no up-to-date view, so that all its events take the slow path.
    const bool is_watched = is_watched_thread(thread.instance.load(std::memory_order_relaxed));
    thread.view_number = is_watched ? no_view : now.number;
    thread.straight_view = thread.mode == charge::stacks ? thread.view_number : no_view;
    // Where numbers are wanted, the next allocation finds the counters and straightens the view.
    thread.plain_counters = nullptr;
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP

// enter_hook.hpp - a hook takes its thread's state, and gives it back.

#ifndef ALLOCSCOPE_RECORD_ENTER_HOOK_HPP
#define ALLOCSCOPE_RECORD_ENTER_HOOK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

ALLOCSCOPE_FAST_PATH void leave(thread_state& thread) noexcept {
    compiler_barrier();
    // Release: whoever sees the thread idle sees all it wrote while it was busy.
    thread.busy.store(0, std::memory_order_release);
}

// The thread's state, marked busy and with its view up to date; null when there is nothing to do.
//
// The gate is read after `busy` is set. A thread that gives tables back does the reverse: it shuts
// the gate, fences all threads, and reads `busy`. So either it sees this thread busy, or this
// thread sees the gate shut.
inline thread_state* enter(std::uintptr_t frame) noexcept {
    thread_state* thread = current_state();
    if (thread == nullptr || thread->busy.load(std::memory_order_relaxed) != 0) {
        thread = enter_slow(frame);
        if (thread == nullptr) return nullptr;
    }
    thread->busy.store(frame, std::memory_order_relaxed);
    compiler_barrier();
    if (process.entry.word() != thread->view_number && !refresh_view(*thread, frame)) {
        leave(*thread);
        return nullptr;
    }
    return thread;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_ENTER_HOOK_HPP

// consult_watches.hpp - a hook asks whether its event is forbidden, or is to fail.

#ifndef ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP
#define ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The thread has entered. Returns how many return addresses were found.
inline std::uint32_t capture_stack(thread_state& thread, std::uintptr_t frame,
                                   std::uintptr_t (&out)[most_fault_frames]) noexcept {
    const bool is_usual = thread.bounds.contains(frame);
    const stack_bounds bounds = is_usual ? thread.bounds : page_bounds(frame);
    walked_stack& stack = thread.scratch;
    stack_walk{bounds, thread.rules, stack}.run(frame, most_fault_frames);
    for (std::uint32_t i = 0; i < stack.frame_count; ++i) out[i] = stack.returns[i].value;
    return stack.frame_count;
}

inline bool is_broken_by(const guard_watch& guard, bool is_free) noexcept {
    return !guard.is_broken && guard.allow_depth == own_watches.allow_depth &&
           (!is_free || guard.watches_frees);
}

inline bool has_guard_against(bool is_free) noexcept {
    for (const guard_watch* g = own_watches.innermost; g != nullptr; g = g->outer) {
        if (is_broken_by(*g, is_free)) return true;
    }
    return false;
}

// Tells the guards, from the innermost outwards. Returns the first that wants an exception, or
// null.
inline guard_watch* tell_guards(const watched_event& event) noexcept {
    const int saved_errno = errno;
    guard_watch* raiser = nullptr;
    own_watches.is_telling = true;
    for (guard_watch* g = own_watches.innermost; g != nullptr; g = g->outer) {
        if (!is_broken_by(*g, event.is_free)) continue;
        if (g->violated(*g, event) && raiser == nullptr) raiser = g;
    }
    own_watches.is_telling = false;
    errno = saved_errno;
    return raiser;
}

// The thread has entered. Whether a plan makes the request fail; every plan counts it.
inline bool is_to_fail(thread_state& thread, std::uint64_t bytes, std::uintptr_t frame) noexcept {
    const std::uint64_t instance = thread.instance.load(std::memory_order_relaxed);
    bool fails = false;
    for (armed_plan& each : fault_plans.plans) {
        if (!concerns(each, instance) || !decides_to_fail(each, bytes)) continue;
        fails = true;
        std::uint32_t none = 0;
        constexpr std::uint32_t being_written = ~std::uint32_t{0};
        if (each.frame_count.compare_exchange_strong(none, being_written)) {
            std::uintptr_t frames[most_fault_frames];
            const std::uint32_t found = capture_stack(thread, frame, frames);
            for (std::uint32_t i = 0; i < found; ++i) {
                each.frames[i].store(frames[i], std::memory_order_relaxed);
            }
            each.frame_count.store(found, std::memory_order_release);
        }
    }
    return fails;
}

// Called before the real allocation. True: the hook is to behave as if there were no memory. Throws
// what a guard throws, if the hook may throw; otherwise the guard's finish() will. Allocations that
// are charged to nobody do not count, nor do those of a signal handler that interrupted a hook.
ALLOCSCOPE_SLOW_PATH bool is_refused_by_watch(std::uint64_t bytes, std::uintptr_t frame,
                                              bool may_throw = true) {
    const bool may_fail = fault_plans.armed.load(std::memory_order_acquire) != 0;
    const bool is_forbidden = has_guard_against(false);
    if ((!may_fail && !is_forbidden) || own_watches.is_telling) return false;
    thread_state* thread = enter(frame);
    if (thread == nullptr) return false;
    const thread_state& primary = thread->primary();
    if (primary.pause_depth != 0 || thread != &primary) {
        leave(*thread);
        return false;
    }
    std::uintptr_t frames[most_fault_frames];
    const std::uint32_t count = is_forbidden ? capture_stack(*thread, frame, frames) : 0;
    const bool fails = may_fail && is_to_fail(*thread, bytes, frame);
    leave(*thread);
    guard_watch* raiser = is_forbidden ? tell_guards({false, bytes, frames, count}) : nullptr;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    if (raiser != nullptr && may_throw) raiser->raise(*raiser);
#else
    static_cast<void>(raiser);
    static_cast<void>(may_throw);
#endif
    return fails;
}

// Called at a free, which nothing can refuse.
ALLOCSCOPE_SLOW_PATH void tell_watch_of_free(std::uintptr_t frame) noexcept {
    if (own_watches.is_telling || !has_guard_against(true)) return;
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    const thread_state& primary = thread->primary();
    const bool is_meant = primary.pause_depth == 0 && thread == &primary;
    std::uintptr_t frames[most_fault_frames];
    const std::uint32_t count = is_meant ? capture_stack(*thread, frame, frames) : 0;
    leave(*thread);
    if (is_meant) tell_guards({true, 0, frames, count});
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP

// sample_records.hpp - what a sample adds to the tables, and takes away when it is freed.

#ifndef ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP
#define ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// All that has to be asked when a block that was not sampled is freed.
ALLOCSCOPE_FAST_PATH bool may_be_sample(const void* block) noexcept {
    return (reinterpret_cast<std::uintptr_t>(block) & (sampled_alignment - 1U)) == 0;
}

inline void add_to(std::atomic<double>& sum, double amount) noexcept {
    double seen = sum.load(std::memory_order_relaxed);
    while (!sum.compare_exchange_weak(seen, seen + amount, std::memory_order_relaxed)) {
    }
}

inline void add_weight(sampled_part::sums& to, const sample_weight& weight) noexcept {
    add_to(to.objects, weight.objects);
    add_to(to.objects_variance, weight.objects_variance);
    add_to(to.bytes_variance, weight.bytes_variance);
    add_to(to.objects_skew, weight.objects_skew);
    add_to(to.bytes_skew, weight.bytes_skew);
}

// The bytes that a sample stands for are rounded, so that their sums are exact.
inline std::uint64_t whole_bytes(const sample_weight& weight) noexcept {
    return whole_number(weight.bytes + 0.5);
}

inline sample_weight weight_in(const sampled_part& part, std::uint64_t bytes) noexcept {
    return weigh_sample(bytes, part.sample_bytes.load(std::memory_order_relaxed));
}

// Takes the record of a dying sampled block out of its slot and counts the death. No effect when
// the block was not sampled.
ALLOCSCOPE_NOINLINE void remove_sample(thread_state& thread, const void* block) noexcept {
    if (!process.samples.is_ready()) return;
    auto* slot = process.samples.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    if (slot == nullptr) return;
    const std::uint64_t record = slot->load(std::memory_order_relaxed);
    if (sampled_object_map::session_of(record) != thread.session) return;
    const std::uint32_t id = sampled_object_map::cohort_of(record);
    const sample_weight weight =
        weight_in(*process.cohorts.sampled_part_of(id), sampled_object_map::bytes_of(slot, record));
    const std::uint64_t bytes = whole_bytes(weight);
    slot->store(0, std::memory_order_relaxed);
    cohort& born = *process.cohorts.by_id(id);
    take_from_live(thread, born.facts(), bytes);
    add_weight(process.cohorts.sampled_part_of(id)->deaths, weight);
    born.death_bytes.add_shared(bytes);
    born.deaths.add_shared(1);  // last: a cohort without live objects may be used again
}

// The thread has entered and is in mode `samples`.
ALLOCSCOPE_NOINLINE void put_sample(thread_state& thread, const void* block, std::uint64_t bytes,
                                    std::uintptr_t frame) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    auto* slot = process.samples.slot_for(address);
    if (slot != nullptr &&
        sampled_object_map::session_of(slot->load(std::memory_order_relaxed)) == thread.session) {
        thread.lose(loss_reason::record_replaced);
        remove_sample(thread, block);
    }
    const std::uint32_t id = find_cohort(thread, frame);
    if (slot == nullptr || id == no_cohort) {
        thread.lose(loss_reason::no_memory_for_record);
        return;
    }
    sampled_part& part = *process.cohorts.sampled_part_of(id);
    const sample_weight weight = weight_in(part, bytes);
    cohort& counters = *process.cohorts.by_id(id);
    counters.births.add(1);
    counters.birth_bytes.add(whole_bytes(weight));
    add_weight(part.births, weight);
    sampled_object_map::put(slot, address, sampled_object_map::record_head(thread.session, id),
                            bytes);
    add_live_bytes(thread, whole_bytes(weight));
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP

// recorder.hpp - the one place where an event meets the tables.

#ifndef ALLOCSCOPE_RECORD_RECORDER_HPP
#define ALLOCSCOPE_RECORD_RECORDER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The hooks jump to the functions below as their last act, and those jump to others. A function
// that is reached so has its frame at the address of the hook's own frame, with the same saved
// frame pointer in it. So a walk from `frame` finds what it would have found in the hook.
#define ALLOCSCOPE_KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

// The frame of the hook into which the caller of this is inlined: there lie its caller's frame
// pointer and the return address into that.
ALLOCSCOPE_FAST_PATH std::uintptr_t hook_frame() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// A place in or right below that frame, for `busy`: a hook that needs its frame nowhere else then
// does not have to make one.
ALLOCSCOPE_FAST_PATH std::uintptr_t hook_mark() noexcept {
    std::uintptr_t mark;
    __asm__ volatile("leaq -8(%%rsp), %0" : "=r"(mark));
    return mark;
}

// --- death ---

// Counts the death of an object in what its cohort is known by. The record is gone.
ALLOCSCOPE_FAST_PATH void count_death(thread_state& thread, cohort& born, std::uint32_t id,
                                      std::uint64_t bytes) noexcept {
    const cohort_facts& facts = born.facts();
    take_from_live(thread, facts, bytes);
    if (facts.owner.load(std::memory_order_relaxed) == thread.number) {
        born.death_bytes.add(bytes);
        born.deaths.add(1);
        return;
    }
    foreign_count* count = thread.foreign.for_writing(process.arena, id);
    if (ALLOCSCOPE_UNLIKELY(count == nullptr)) {
        thread.lose(loss_reason::no_room_for_death);
        return;
    }
    count->death_bytes.add(bytes);
    count->deaths.add(1);  // last: a cohort without live objects may be used again
}

// Takes the record of a dying object out of its slot and counts the death.
ALLOCSCOPE_NOINLINE void remove_record(thread_state& thread, live_object_map::slot* slot) noexcept {
    const std::uint64_t record = slot->load(std::memory_order_relaxed);
    if (live_object_map::session_of(record) != thread.session) return;
    const std::uint64_t bytes = live_object_map::bytes_of(slot, record);
    const std::uint32_t id = live_object_map::cohort_of(record);
    slot->store(0, std::memory_order_relaxed);
    count_death(thread, *process.cohorts.by_id(id), id, bytes);
}

ALLOCSCOPE_NOINLINE void on_free_slow(void* block, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    if (may_be_sample(block)) remove_sample(*thread, block);
    live_object_map::slot* slot =
        process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    if (slot != nullptr) remove_record(*thread, slot);
    leave(*thread);
    if (ALLOCSCOPE_UNLIKELY(has_watches())) tell_watch_of_free(frame);
}

// The thread has entered; it leaves here.
template <void (*Release)(void*)>
ALLOCSCOPE_NOINLINE void remove_and_release(thread_state& thread, live_object_map::slot* slot,
                                            void* block) noexcept {
    remove_record(thread, slot);
    leave(thread);
    Release(block);
}

template <void (*Release)(void*)>
ALLOCSCOPE_NOINLINE void free_slowly(void* block, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (block != nullptr) on_free_slow(block, frame);
    Release(block);
}

// Takes the record of the block away, then calls the real free.
//
// The usual case is a straight line without calls. Every other case is handed on as the last act,
// so that nothing has to be saved for afterwards.
template <void (*Release)(void*)>
ALLOCSCOPE_FAST_PATH void free_recorded(void* block) noexcept {
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0 || may_be_sample(block))) {
        return free_slowly<Release>(block, hook_frame());
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(hook_mark(), std::memory_order_relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.view_number)) {
        thread.busy.store(0, std::memory_order_relaxed);
        return free_slowly<Release>(block, hook_frame());
    }
    live_object_map::slot* const slot =
        process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    const std::uint64_t record =
        ALLOCSCOPE_LIKELY(slot != nullptr) ? slot->load(std::memory_order_relaxed) : 0;
    const std::uint64_t id = live_object_map::cohort_in_session(record, thread.session_head);
    if (ALLOCSCOPE_LIKELY(id <= live_object_map::last_cohort)) {
        cohort& born = *process.cohorts.by_id(static_cast<std::uint32_t>(id));
        const auto bytes = static_cast<std::int64_t>(live_object_map::short_bytes_of(record));
        static_assert(live_object_map::least_long_bytes > 2 * flush_bytes,
                      "a long record, whose size stands elsewhere, is caught by the last test");
        if (ALLOCSCOPE_UNLIKELY(
                born.facts().owner.load(std::memory_order_relaxed) != thread.number ||
                born.facts().born_at.load(std::memory_order_relaxed) < thread.newest_window)) {
            return remove_and_release<Release>(thread, slot, block);
        }
        thread.bytes_above_floor -= bytes;
        if (ALLOCSCOPE_UNLIKELY(thread.bytes_above_floor < 0)) {
            compiler_barrier();  // so that the subtraction is one instruction
            thread.bytes_above_floor += bytes;
            return remove_and_release<Release>(thread, slot, block);
        }
        thread.bytes_below_peak += bytes;
        slot->store(0, std::memory_order_relaxed);
        born.death_bytes.add(static_cast<std::uint64_t>(bytes));
        born.deaths.add(1);  // last: see count_death
    }
    leave(thread);
    Release(block);
}

// --- birth ---

// The old block was freed without our hooks: otherwise malloc could not return its address.
ALLOCSCOPE_SLOW_PATH void replace_record(thread_state& thread,
                                         live_object_map::slot* slot) noexcept {
    thread.lose(loss_reason::record_replaced);
    remove_record(thread, slot);
}

// The end of every case but the shortest: the cohort is known, or no_cohort without memory for one.
ALLOCSCOPE_NOINLINE void* put_record_and_leave(thread_state& thread, void* block,
                                               std::uint64_t bytes, std::uint32_t id) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    live_object_map::slot* slot = process.objects.slot_for(address);
    if (slot != nullptr &&
        live_object_map::session_of(slot->load(std::memory_order_relaxed)) == thread.session) {
        replace_record(thread, slot);
    }
    if (slot == nullptr || id == no_cohort) {
        thread.lose(loss_reason::no_memory_for_record);
        leave(thread);
        return block;
    }
    cohort& counters = *process.cohorts.by_id(id);
    counters.births.add(1);
    counters.birth_bytes.add(bytes);
    live_object_map::put(slot, address, live_object_map::record_head(thread.session, id), bytes);
    add_live_bytes(thread, bytes);
    leave(thread);
    return block;
}

// Records a birth in any case. The thread has entered; it leaves here. Returns the block.
ALLOCSCOPE_NOINLINE void* record_and_leave(thread_state& thread, void* block, std::uint64_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    // Sampling has let this allocation pass, or began too late for it: see record/sampler.hpp.
    if (thread.mode <= charge::samples) {
        leave(thread);
        return block;
    }
    const std::uint32_t id =
        thread.mode == charge::numbers ? plain_cohort(thread) : find_cohort(thread, frame);
    return put_record_and_leave(thread, block, bytes, id);
}

ALLOCSCOPE_NOINLINE void* on_allocate_slow(void* block, std::uint64_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    thread_state* thread = enter(frame);
    return thread == nullptr ? block : record_and_leave(*thread, block, bytes, frame);
}

// Puts the record of a block into its slot and counts the birth.
ALLOCSCOPE_FAST_PATH void* count_birth_and_leave(thread_state& thread, void* block,
                                                 std::uint64_t bytes, std::uint64_t head,
                                                 cohort* counters) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    live_object_map::slot* const slot = process.objects.existing_slot(address);
    // A slot in use may hold a record of an earlier session.
    if (ALLOCSCOPE_UNLIKELY(slot == nullptr || own_value(*slot) != 0)) {
        return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
    }
    thread.bytes_below_peak -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_below_peak < 0)) {
        compiler_barrier();  // so that the line above is one instruction
        const std::int64_t net = pending_bytes(thread) + static_cast<std::int64_t>(bytes);
        // Also for every size that does not fit in a slot.
        if (net >= flush_bytes) {
            thread.bytes_below_peak += static_cast<std::int64_t>(bytes);
            return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
        }
        thread.bytes_below_peak = 0;
        thread.pending_peak.store(net, std::memory_order_relaxed);
    }
    thread.bytes_above_floor += static_cast<std::int64_t>(bytes);
    counters->births.add(1);
    counters->birth_bytes.add(bytes);
    live_object_map::put_short(slot, address, head, bytes);
    leave(thread);
    return block;
}

// The memo has another stack for this frame and caller. This path is kept short: a loop over
// changing data takes it for every other block.
ALLOCSCOPE_NOINLINE void* record_changed_and_leave(thread_state& thread, void* block,
                                                   std::uint64_t bytes, std::uintptr_t frame,
                                                   remembered_chain& memo) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (memo.frame != frame || memo.epoch != thread.epoch_serial) {
        return record_and_leave(thread, block, bytes, frame);
    }
    const std::uint32_t id = find_changed(thread, memo, frame);
    if (id == no_cohort) return put_record_and_leave(thread, block, bytes, id);
    return count_birth_and_leave(thread, block, bytes,
                                 thread.session_head | live_object_map::record_head(0, id),
                                 process.cohorts.by_id(id));
}

// After the real allocation. Returns the block.
//
// Straight like free_recorded: a stack that the memo knows, or none wanted; the rest is handed on.
ALLOCSCOPE_FAST_PATH void* on_allocate(void* block, std::uint64_t bytes) noexcept {
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0)) {
        return on_allocate_slow(block, bytes, hook_frame());
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(hook_frame(), std::memory_order_relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.straight_view)) {
        thread.busy.store(0, std::memory_order_relaxed);
        return on_allocate_slow(block, bytes, hook_frame());
    }
    std::uint64_t head = thread.plain_record;
    cohort* counters = thread.plain_counters;
    if (counters == nullptr) {
        remembered_chain& memo = *thread.memo.entry_for(
            hook_frame(), read_stack_word(hook_frame() + sizeof(std::uintptr_t)));
        // A chain is remembered only of this thread's own stack, so what it names can be read.
        if (ALLOCSCOPE_UNLIKELY(memo.epoch != thread.epoch_serial ||
                                !chain_memo::is_unchanged(memo, hook_frame()))) {
            return record_changed_and_leave(thread, block, bytes, hook_frame(), memo);
        }
        head = memo.record;
        counters = static_cast<cohort*>(memo.counters);
    }
    return count_birth_and_leave(thread, block, bytes, head, counters);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_RECORDER_HPP

// window_sums.hpp - adds up the cohorts of a window.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Calls visit(cohort, id) for every cohort of an epoch. Throws what `visit` throws.
template <class Visit>
inline void for_each_cohort(const epoch& of, Visit&& visit) {
    for (std::uint32_t id = of.cohorts.load(std::memory_order_acquire); id != 0;) {
        const cohort& found = *process.cohorts.by_id(id);
        const std::uint32_t next = found.facts().next.load(std::memory_order_relaxed);
        visit(found, id);
        id = next;
    }
}

// The objects that are meant: born on one thread or any, in [from, until) of the boundary clock.
struct birth_range {
    std::uint64_t from;
    std::uint64_t until;
    std::uint64_t instance;
};

inline birth_range births_in(const open_window& window) noexcept {
    return {window.open_at.load(std::memory_order_relaxed), ~std::uint64_t{0},
            window.instance.load(std::memory_order_relaxed)};
}

// Calls visit(cohort, id) for every cohort in the range. Older epochs cost nothing, because those
// of a thread are in order of time. Throws what `visit` throws.
template <class Visit>
inline void for_each_cohort_in(const birth_range& range, Visit&& visit) {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        for (const epoch* e = t->newest_epoch.load(std::memory_order_acquire); e != nullptr;
             e = e->older.load(std::memory_order_relaxed)) {
            const std::uint64_t began_at = e->began_at.load(std::memory_order_relaxed);
            if (began_at < range.from) break;
            if (began_at >= range.until) continue;
            if (range.instance != every_thread &&
                range.instance != e->instance.load(std::memory_order_relaxed)) {
                continue;
            }
            for_each_cohort(*e, visit);
        }
    }
}

struct death_sum {
    std::uint64_t deaths = 0;
    std::uint64_t bytes = 0;
};

// The deaths of one cohort, on all threads.
inline death_sum deaths_of(const cohort& of, std::uint32_t id) noexcept {
    death_sum sum;
    sum.deaths = of.deaths.read();
    sum.bytes = of.death_bytes.read();
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        const foreign_count* count = t->foreign.for_reading(id);
        if (count == nullptr) continue;
        sum.deaths += count->deaths.read();
        sum.bytes += count->death_bytes.read();
    }
    return sum;
}

inline sample_sums read_sums(const sampled_part::sums& from, std::uint64_t samples,
                             std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = samples;
    sums.objects = from.objects.load(std::memory_order_relaxed);
    sums.bytes = static_cast<double>(bytes);
    sums.objects_variance = from.objects_variance.load(std::memory_order_relaxed);
    sums.bytes_variance = from.bytes_variance.load(std::memory_order_relaxed);
    sums.objects_skew = from.objects_skew.load(std::memory_order_relaxed);
    sums.bytes_skew = from.bytes_skew.load(std::memory_order_relaxed);
    return sums;
}

// What events add to a sampled window when each of them was recorded.
inline sample_sums certain_sums(std::uint64_t objects, std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = objects;
    sums.objects = static_cast<double>(objects);
    sums.bytes = static_cast<double>(bytes);
    return sums;
}

inline sample_sums death_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const death_sum deaths = deaths_of(of, id);
    if (!is_sampled(of)) return certain_sums(deaths.deaths, deaths.bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->deaths, deaths.deaths, deaths.bytes);
}

inline sample_sums birth_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const std::uint64_t births = of.births.read();
    const std::uint64_t bytes = of.birth_bytes.read();
    if (!is_sampled(of)) return certain_sums(births, bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->births, births, bytes);
}

// What a window holds: exact numbers, or for a sampled one what they are estimated from.
struct window_sum {
    allocation_counts counts;
    sample_sums births;
    sample_sums deaths;
};

// Control lock. The totals of a window that is not sampled, without the peak.
inline allocation_counts sum_of(const birth_range& range,
                                const allocation_counts& retired) noexcept {
    allocation_counts sum = retired;
    for_each_cohort_in(range, [&sum](const cohort& c, std::uint32_t id) {
        const death_sum deaths = deaths_of(c, id);
        sum.frees += deaths.deaths;
        sum.bytes_freed += deaths.bytes;
    });
    for_each_cohort_in(range, [&sum](const cohort& c, std::uint32_t) {
        sum.allocations += c.births.read();
        sum.bytes_allocated += c.birth_bytes.read();
    });
    return sum;
}

// Objects and bytes of a sampled window. The frees are computed as the allocations minus what is
// alive, so that the numbers of a window agree when nothing of it is left.
inline allocation_counts counts_from(const sample_sums& births,
                                     const sample_sums& deaths) noexcept {
    sample_sums alive = births;
    alive.subtract(deaths);
    allocation_counts counts;
    counts.allocations = births.objects_95().value;
    counts.bytes_allocated = births.bytes_95().value;
    const std::uint64_t objects = alive.objects_95().value;
    const std::uint64_t bytes = alive.bytes_95().value;
    counts.frees =
        counts.allocations - (objects < counts.allocations ? objects : counts.allocations);
    counts.bytes_freed =
        counts.bytes_allocated - (bytes < counts.bytes_allocated ? bytes : counts.bytes_allocated);
    return counts;
}

// Control lock. The totals of a sampled window, without the peak.
inline window_sum sampled_totals(const birth_range& range, const retired_births& retired) noexcept {
    window_sum totals{{}, retired.births, retired.deaths};
    for_each_cohort_in(range, [&totals](const cohort& c, std::uint32_t id) {
        totals.deaths.add(death_sums_of(c, id));
    });
    for_each_cohort_in(range, [&totals](const cohort& c, std::uint32_t id) {
        totals.births.add(birth_sums_of(c, id));
    });
    totals.counts = counts_from(totals.births, totals.deaths);
    return totals;
}

// Control lock. The totals of any window, without the peak.
inline window_sum totals_in(const birth_range& range, recording how,
                            const retired_births& retired) noexcept {
    if (how == recording::sampled) return sampled_totals(range, retired);
    return {sum_of(range, retired.counts), {}, {}};
}

// Control lock. The numbers of an open window.
inline window_sum totals_of(const open_window& window, std::uint32_t slot) noexcept {
    window_sum totals = totals_in(births_in(window), window.wanted.record, window.retired);
    allocation_counts& counts = totals.counts;
    counts.peak_bytes = peak_of_window(slot, window.open_at.load(std::memory_order_relaxed));
    if (counts.peak_bytes < counts.live_bytes()) counts.peak_bytes = counts.live_bytes();
    return totals;
}

// What the tables have in memory, without the live object map.
inline std::uint64_t table_bytes() noexcept {
    std::uint64_t bytes = process.arena.used_bytes() + process.sites.used_bytes() +
                          process.cohorts.used_bytes() +
                          mapped_pages_bytes.load(std::memory_order_relaxed);
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        bytes += t->memo.touched_bytes();
    }
    return bytes;
}

// How often this loss has happened since the process began.
inline std::uint64_t losses_ever(loss_reason reason) noexcept {
    std::uint64_t sum = 0;
    if (reason == loss_reason::no_memory_for_thread) {
        sum = process.events_without_state.load(std::memory_order_relaxed);
    }
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        sum += t->losses[static_cast<std::uint32_t>(reason)].read();
    }
    return sum;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP

// table_release.hpp - uses the memory of tables again, or gives it back.

#ifndef ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
#define ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- reclaim ---

// Any thread may have counted deaths of the cohort; its id starts from zero when it is used again.
inline void clear_foreign_deaths(std::uint32_t id) noexcept {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        foreign_count* count = t->foreign.for_reading(id);
        if (count == nullptr) continue;
        count->deaths.set(0);
        count->death_bytes.set(0);
    }
}

inline void retire_into_windows(const cohort& dead, std::uint32_t id, const epoch& of,
                                const death_sum& deaths) noexcept {
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = 0; slot < end; ++slot) {
        open_window* window = process.windows.by_slot(slot);
        if (!window->owns(of.began_at.load(std::memory_order_relaxed),
                          of.instance.load(std::memory_order_relaxed))) {
            continue;
        }
        if (window->wanted.record == recording::sampled) {
            window->retired.births.add(birth_sums_of(dead, id));
            window->retired.deaths.add(death_sums_of(dead, id));
            continue;
        }
        window->retired.counts.allocations += dead.births.read();
        window->retired.counts.bytes_allocated += dead.birth_bytes.read();
        window->retired.counts.frees += deaths.deaths;
        window->retired.counts.bytes_freed += deaths.bytes;
    }
}

// Puts an item on the list from which its thread takes it again.
template <class Item>
inline void push_returned(std::atomic<Item>& head, Item item, std::atomic<Item>& link) noexcept {
    Item first = head.load(std::memory_order_relaxed);
    do {
        link.store(first, std::memory_order_relaxed);
        // Release: the taker sees the cleared counters.
    } while (!head.compare_exchange_weak(first, item, std::memory_order_acq_rel));
}

// Takes the cohorts without live objects out of a closed epoch.
inline void reclaim_epoch(thread_state& thread, epoch& closed) noexcept {
    std::uint32_t kept_last = 0;
    std::uint32_t id = closed.cohorts.load(std::memory_order_relaxed);
    while (id != 0) {
        cohort& c = *process.cohorts.by_id(id);
        const std::uint32_t next = c.facts().next.load(std::memory_order_relaxed);
        const death_sum deaths = deaths_of(c, id);
        if (deaths.deaths != c.births.read()) {
            kept_last = id;
            id = next;
            continue;
        }
        retire_into_windows(c, id, closed, deaths);
        clear_foreign_deaths(id);
        if (kept_last == 0) {
            closed.cohorts.store(next, std::memory_order_relaxed);
        } else {
            process.cohorts.by_id(kept_last)->facts().next.store(next, std::memory_order_relaxed);
        }
        push_returned(is_sampled(c) ? thread.returned_sampled : thread.returned_cohorts, id,
                      c.facts().next);
        id = next;
    }
}

// The newest epoch of a thread may still grow; all older ones are closed for good.
inline void reclaim_thread(thread_state& thread) noexcept {
    epoch* newer = thread.newest_epoch.load(std::memory_order_acquire);
    if (newer == nullptr) return;
    for (epoch* e = newer->older.load(std::memory_order_relaxed); e != nullptr;) {
        epoch* older = e->older.load(std::memory_order_relaxed);
        reclaim_epoch(thread, *e);
        if (e->cohorts.load(std::memory_order_relaxed) == 0) {
            newer->older.store(older, std::memory_order_relaxed);
            push_returned(thread.returned_epochs, e, e->older);
        } else {
            newer = e;
        }
        e = older;
    }
}

inline std::uint64_t cohorts_ever_made() noexcept {
    std::uint64_t sum = 0;
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        sum += t->new_cohorts.read();
    }
    return sum;
}

// Reclaims when enough cohorts have been made since the last time to pay for looking through all
// of them.
inline void reclaim_when_due() noexcept {
    constexpr std::uint64_t least = 2048;
    const std::uint64_t made = cohorts_ever_made();
    const std::uint64_t since = made - process.cohorts_at_last_reclaim;
    if (since < least || since < process.cohorts_kept * 2) return;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        reclaim_thread(*t);
    }
    process.cohorts_at_last_reclaim = made;
    std::uint64_t kept = 0;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        for (epoch* e = t->newest_epoch.load(std::memory_order_acquire); e != nullptr;
             e = e->older.load(std::memory_order_relaxed)) {
            for_each_cohort(*e, [&kept](const cohort&, std::uint32_t) { ++kept; });
        }
    }
    process.cohorts_kept = kept;
}

// --- release ---

// True when no thread is inside a hook, and none can come in before the gate opens again.
inline bool all_threads_are_outside() noexcept {
    constexpr int most_yields = 2000;
    if (!fence_all_threads()) return false;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        // Acquire: pairs with the release in leave().
        for (int i = 0; t->busy.load(std::memory_order_acquire) != 0; ++i) {
            if (i == most_yields) return false;
            ::sched_yield();
        }
    }
    return true;
}

inline void release_thread_tables(thread_state& thread) noexcept {
    thread.memo.release();
    thread.cohorts.release();
    thread.foreign.release();
    thread.newest_epoch.store(nullptr, std::memory_order_relaxed);
    thread.returned_cohorts.store(0, std::memory_order_relaxed);
    thread.returned_sampled.store(0, std::memory_order_relaxed);
    thread.returned_epochs.store(nullptr, std::memory_order_relaxed);
    thread.next_cohort = 0;
    thread.last_cohort = 0;
}

// The gate is shut. False: a thread is still inside; nothing was given back.
inline bool release_tables() noexcept {
    if (!all_threads_are_outside()) return false;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        release_thread_tables(*t);
    }
    process.objects.wipe();
    process.samples.wipe();
    process.cohorts.release();
    process.sites.release();
    process.arena.release();
    ++process.tables;
    process.session = 1;
    process.births_since_wipe = 0;
    process.cohorts_at_last_reclaim = cohorts_ever_made();
    process.cohorts_kept = 0;
    return true;
}

// Births on all threads in epochs that began at `clock` or later; stops counting at `enough`.
inline std::uint64_t births_since(std::uint64_t clock, std::uint64_t enough) noexcept {
    std::uint64_t births = 0;
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        for (epoch* e = t->newest_epoch.load(std::memory_order_acquire); e != nullptr;
             e = e->older.load(std::memory_order_relaxed)) {
            if (e->began_at.load(std::memory_order_relaxed) < clock || births >= enough) break;
            for_each_cohort(
                *e, [&births](const cohort& c, std::uint32_t) { births += c.births.read(); });
        }
    }
    return births;
}

// What may stay mapped after the last window, so that a suite of small windows does not map and
// unmap all day. At most 2 MiB are promised; the difference is for what is not counted here.
constexpr std::size_t kept_bytes = std::size_t{1536} * 1024;

inline void remember_losses() noexcept {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        process.losses_before_session[i] = losses_ever(static_cast<loss_reason>(i));
    }
}

// The last window has closed and the gate is shut.
inline void end_session() noexcept {
    remember_losses();
    process.births_since_wipe += births_since(process.session_began_at, kept_bytes / page_bytes);
    // An event touches at most one page of the map.
    const std::uint64_t map_bytes = process.births_since_wipe * page_bytes;
    const bool is_last_session = process.session == live_object_map::last_session;
    if (map_bytes + table_bytes() > kept_bytes || is_last_session) {
        if (release_tables()) return;
    }
    // Records of this session mean nothing from now on. If the numbers have run out while a thread
    // hangs inside a hook, the last number stays in use: an old record may then be taken for a
    // current one, until the next release mends that.
    if (!is_last_session) ++process.session;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

// window_control.hpp - opens, closes and counts windows.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- identity ---

inline window_id id_of(std::uint32_t slot) noexcept {
    const open_window& window = *process.windows.by_slot(slot);
    return (static_cast<window_id>(window.generation) << 32U) | (slot + 1U);
}

constexpr std::uint32_t slot_of(window_id id) noexcept {
    return static_cast<std::uint32_t>(id & 0xffffffffU) - 1U;
}

// Control lock. The open window with this id, or null.
inline open_window* find_window(window_id id) noexcept {
    if (id == 0) return nullptr;
    open_window* window = process.windows.by_slot(slot_of(id));
    if (window == nullptr || window->open_at.load(std::memory_order_relaxed) == 0) return nullptr;
    return id_of(slot_of(id)) == id ? window : nullptr;
}

// --- the calling thread ---

inline thread_state* own_state() noexcept {
    if (current_entry == &departed) return &latecomer;
    thread_state* state = current_state();
    return state != nullptr ? state : attach_thread();
}

// The next event of this thread reads its view anew.
inline void make_view_stale(thread_state& thread) noexcept {
    for (thread_state* t = &thread; t != nullptr; t = t->nested.load(std::memory_order_relaxed)) {
        t->forget_view();
    }
}

// --- boundaries ---

// Control lock. What all process-wide windows together ask for becomes the view in force.
inline void publish_view() noexcept {
    view next;
    next.clock = process.clock.load(std::memory_order_relaxed);
    next.session = process.session;
    next.tables = process.tables;
    next.many_windows = process.windows.unmasked_count();
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = 0; slot < end; ++slot) {
        const open_window& window = *process.windows.by_slot(slot);
        if (window.open_at.load(std::memory_order_relaxed) == 0) continue;
        if (window.instance.load(std::memory_order_relaxed) != every_thread) continue;
        if (slot < window_table::masked_windows) next.windows |= std::uint64_t{1} << slot;
        const charge mode = window.mode.load(std::memory_order_relaxed);
        const std::uint32_t frames = window.frames.load(std::memory_order_relaxed);
        if (mode > next.mode) next.mode = mode;
        if (mode != charge::numbers && frames > next.frames) next.frames = frames;
        if (mode != charge::numbers) next.methods |= window.methods.load(std::memory_order_relaxed);
        if (mode == charge::samples) {
            next.sample_bytes = least_interval(next.sample_bytes,
                                               window.sample_bytes.load(std::memory_order_relaxed));
        }
    }
    process.entry.publish(next, process.sees_every_event);
}

inline thread_state* state_of_instance(std::uint64_t instance) noexcept {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        if (t->primary_state.load(std::memory_order_relaxed) == t &&
            t->is_taken.load(std::memory_order_acquire) &&
            t->instance.load(std::memory_order_relaxed) == instance) {
            return t;
        }
    }
    return nullptr;
}

// Control lock. A window has opened or closed: tells the threads that it concerns.
inline void announce(const open_window& window, int change) noexcept {
    const std::uint64_t instance = window.instance.load(std::memory_order_relaxed);
    const bool is_first = process.entry.word() == 0;
    const bool is_of_every_event = window.mode.load(std::memory_order_relaxed) >= charge::numbers;
    if (is_of_every_event) process.windows_of_every_event += static_cast<std::uint32_t>(change);
    // Any thread that frees an object of this window must look it up.
    const bool is_first_of_all_events = is_of_every_event && !process.sees_every_event;
    if (is_first_of_all_events) process.sees_every_event = true;
    if (instance == every_thread || process.windows.unmasked_count() != 0) publish_view();
    if (instance == every_thread) return;
    thread_state* watched = state_of_instance(instance);
    if (watched == nullptr) return;  // the thread has ended
    watched->own_windows.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
    watched->own_clock.store(process.clock.load(std::memory_order_relaxed),
                             std::memory_order_release);
    if (watched == own_state()) make_view_stale(*watched);
    if (is_first || is_first_of_all_events || watched != own_state()) publish_view();
}

// Control lock. From here on the window owns what is born.
inline void begin_window(open_window& window) noexcept {
    const std::uint64_t now = process.clock.fetch_add(1, std::memory_order_acq_rel) + 1;
    window.retired = {};
    window.started_ns = monotonic_ns();
    window.open_at.store(now, std::memory_order_release);
}

// --- fork ---

inline void before_fork() noexcept {
    ::pthread_mutex_lock(&process.naming);
    ::pthread_mutex_lock(&process.control);
}
inline void after_fork_in_parent() noexcept {
    ::pthread_mutex_unlock(&process.control);
    ::pthread_mutex_unlock(&process.naming);
}
// Parent and child must not draw the same samples.
inline void draw_anew_in_child() noexcept {
    thread_state* own = current_state();
    for (thread_state* t = own; t != nullptr; t = t->nested.load(std::memory_order_relaxed)) {
        t->has_dice = false;
        t->forget_view();
    }
}

inline void after_fork_in_child() noexcept {
    forget_other_threads();
    draw_anew_in_child();
    after_fork_in_parent();
}

// Called before the first window. Registering may allocate, so the control lock is not held.
inline void prepare_process() noexcept {
    if (process.is_prepared.exchange(true, std::memory_order_acq_rel)) return;
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
    prepare_thread_fence();
}

// --- what the engine table offers ---

inline void copy_name(char* to, std::size_t room, const char* from) noexcept {
    std::size_t i = 0;
    for (; from != nullptr && from[i] != '\0' && i + 1 < room; ++i) to[i] = from[i];
    to[i] = '\0';
}

// With a sample at every byte each object is a sample: such a window is exact.
constexpr charge charge_for(const options& wanted) noexcept {
    if (wanted.record == recording::counters) return charge::numbers;
    const bool has_dice = wanted.record == recording::sampled && wanted.sample_bytes > 1;
    return has_dice ? charge::samples : charge::stacks;
}

// 0 when there is no memory for a window or for the tables behind it.
inline window_id open_window_now(const char* name, const options& wanted) noexcept {
    prepare_process();
    control_lock lock;
    prepare_threads();
    process.reclaim = &reclaim_when_due;
    const thread_state* self = own_state();
    if (wanted.from == threads::current && self == nullptr) return 0;
    if (!process.objects.prepare() || !process.cohorts.prepare()) return 0;
    const charge mode = charge_for(wanted);
    if (mode == charge::samples && !process.samples.prepare()) return 0;
    const std::int64_t taken = process.windows.take_slot();
    if (taken < 0) return 0;
    const auto slot = static_cast<std::uint32_t>(taken);
    open_window& window = *process.windows.by_slot(slot);
    window.wanted = wanted;
    copy_name(window.name, sizeof(window.name), name);
    window.mode.store(mode, std::memory_order_relaxed);
    window.frames.store(wanted.stack_frames, std::memory_order_relaxed);
    window.methods.store(only(wanted.unwind), std::memory_order_relaxed);
    window.sample_bytes.store(wanted.sample_bytes, std::memory_order_relaxed);
    window.instance.store(
        wanted.from == threads::all ? every_thread : self->instance.load(std::memory_order_relaxed),
        std::memory_order_relaxed);
    begin_window(window);
    if (process.windows.open_count() == 1) {
        process.session_began_at = window.open_at.load(std::memory_order_relaxed);
        process.sees_every_event = false;
        process.windows_of_every_event = 0;
    }
    announce(window, +1);
    return id_of(slot);
}

// Whether an object is alive that was recorded while every event was.
inline bool is_any_event_alive() noexcept {
    bool is_any = false;
    for (const thread_state* t = process.threads.load(std::memory_order_acquire);
         t != nullptr && !is_any; t = t->next_state) {
        for (const epoch* e = t->newest_epoch.load(std::memory_order_acquire);
             e != nullptr && !is_any; e = e->older.load(std::memory_order_relaxed)) {
            if (e->began_at.load(std::memory_order_relaxed) < process.session_began_at) break;
            if (e->sample_bytes.load(std::memory_order_relaxed) != 0) continue;
            for_each_cohort(*e, [&is_any](const cohort& c, std::uint32_t id) {
                is_any = is_any || deaths_of(c, id).deaths != c.births.read();
            });
        }
    }
    return is_any;
}

// Control lock. When only sampled windows are open and nothing is alive that was recorded
// otherwise, a free needs only one test of its address again. Tried at each boundary.
inline void look_up_frees_no_more() noexcept {
    if (!process.sees_every_event || process.windows_of_every_event != 0) return;
    // No thread may be about to record an event under the old view.
    if (!all_threads_are_outside() || is_any_event_alive()) return;
    process.sees_every_event = false;
    publish_view();
}

// Control lock.
inline void close_found_window(open_window& window, std::uint32_t slot) noexcept {
    process.windows.free_slot(slot);
    process.clock.fetch_add(1, std::memory_order_acq_rel);
    if (process.windows.open_count() != 0) {
        announce(window, -1);
        reclaim_when_due();
        look_up_frees_no_more();
        return;
    }
    process.entry.shut();
    if (window.instance.load(std::memory_order_relaxed) != every_thread) {
        thread_state* watched = state_of_instance(window.instance.load(std::memory_order_relaxed));
        if (watched != nullptr) watched->own_windows.fetch_sub(1, std::memory_order_relaxed);
    }
    end_session();
}

inline void close_window_now(window_id id) noexcept {
    control_lock lock;
    if (open_window* window = find_window(id)) close_found_window(*window, slot_of(id));
}

inline allocation_counts counts_now(window_id id) noexcept {
    control_lock lock;
    open_window* window = find_window(id);
    return window == nullptr ? allocation_counts{} : totals_of(*window, slot_of(id)).counts;
}

inline void pause_now(int change) noexcept {
    thread_state* self = own_state();
    if (self == nullptr || self == &latecomer) return;
    self->pause_depth += static_cast<std::uint32_t>(change);
    make_view_stale(*self);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP

// live_window.hpp - what a window holds, stack by stack, copied out of the live tables.

#ifndef ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP
#define ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The objects of one stack.
struct live_site {
    std::uint32_t id;  // of the site; 0: the stack is not known
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;        // of a sampled window: what objects and bytes are estimated from
    std::uint64_t hash;         // of the frames below
    std::uint32_t first_frame;  // index into live_window::frames
    std::uint32_t frame_count;
    std::uint32_t all_frames;  // as many are kept: frame_count of them are asked for
    std::uint64_t site_hash;   // of all of them, with their modules; 0: not known
};

// One window at one moment.
struct live_window {
    explicit live_window(arena& memory) noexcept : sites(memory), frames(memory) {}

    bool exists = false;
    window_id id = 0;
    char name[sizeof(open_window::name)] = {};
    options wanted;
    std::uint64_t duration_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    window_sum totals;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)] = {};
    list<live_site> sites;
    list<std::uintptr_t> frames;
};

// --- sites ---

// Which objects of a site are counted.
enum class counted_objects { alive, born };

// One cohort's part of that: as counted, or in a sampled window as estimated.
struct cohort_part {
    std::uint32_t id;
    std::uint32_t site;
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;
};

inline void add_births(cohort_part& to, bool in_samples) noexcept {
    const cohort& counted = *process.cohorts.by_id(to.id);
    if (in_samples) {
        sample_sums alive = birth_sums_of(counted, to.id);
        alive.subtract(to.samples);
        to.samples = alive;
    } else {
        to.objects += counted.births.read();
        to.bytes += counted.birth_bytes.read();
    }
}

inline void subtract_deaths(cohort_part& from, bool in_samples) noexcept {
    const cohort& counted = *process.cohorts.by_id(from.id);
    if (in_samples) {
        from.samples = death_sums_of(counted, from.id);  // add_births() takes them off
    } else {
        const death_sum deaths = deaths_of(counted, from.id);
        from.objects -= deaths.deaths;
        from.bytes -= deaths.bytes;
    }
}

// Deaths of all first, then births: see windows/window_sums.hpp.
inline void collect_cohorts(list<cohort_part>& to, const birth_range& range, bool in_samples,
                            counted_objects which) {
    for_each_cohort_in(range, [&to](const cohort& c, std::uint32_t id) {
        to.push_back({id, c.facts().site.load(std::memory_order_relaxed), 0, 0, {}});
    });
    if (which == counted_objects::alive) {
        for (cohort_part& each : to) subtract_deaths(each, in_samples);
    }
    for (cohort_part& each : to) add_births(each, in_samples);
}

// What names are found again by.
inline std::uint64_t hash_of_stack(const std::uintptr_t* frames, std::uint32_t count) noexcept {
    std::uint64_t hash = hash_seed;
    for (std::uint32_t i = 0; i < count; ++i) hash = hash_step(hash, frames[i]);
    return hash_finish(hash);
}

// `frames` are not those of `to`; the first `count` of them are asked for.
inline void add_site(live_window& to, live_site found, const std::uintptr_t* frames,
                     std::uint32_t count, std::uint32_t all_frames) {
    found.first_frame = static_cast<std::uint32_t>(to.frames.size());
    found.frame_count = count;
    found.all_frames = all_frames;
    found.hash = hash_of_stack(frames, count);
    for (std::uint32_t i = 0; i < all_frames; ++i) to.frames.push_back(frames[i]);
    to.sites.push_back(found);
}

// `frames` are those of the window.
inline known_stack stack_of(const live_site& site, const std::uintptr_t* frames) noexcept {
    return {site.hash, frames, site.frame_count, site.all_frames, site.site_hash};
}

inline void add_known_site(live_window& to, live_site found) {
    const site* known = process.sites.by_id(found.id);
    if (known == nullptr) {
        add_site(to, found, nullptr, 0, 0);
        return;
    }
    found.site_hash = known->hash;
    const std::uint32_t most = to.wanted.stack_frames;
    add_site(to, found, known->frames(), known->frame_count < most ? known->frame_count : most,
             known->frame_count);
}

inline void collect_sites(live_window& to, const birth_range& range, counted_objects which) {
    const bool in_samples = to.wanted.record == recording::sampled;
    list<cohort_part> found{to.sites.memory()};
    collect_cohorts(found, range, in_samples, which);
    sort(found, [](const cohort_part& a, const cohort_part& b) { return a.site < b.site; });
    for (std::size_t i = 0; i < found.size();) {
        live_site here{found[i].site, 0, 0, {}, 0, 0, 0, 0, 0};
        std::size_t end = i;
        for (; end < found.size() && found[end].site == here.id; ++end) {
            here.objects += found[end].objects;
            here.bytes += found[end].bytes;
            here.samples.add(found[end].samples);
        }
        if (in_samples) {
            here.objects = here.samples.objects_95().value;
            here.bytes = here.samples.bytes_95().value;
        }
        if (here.objects != 0) add_known_site(to, here);
        i = end;
    }
}

// --- the window ---

// Control lock. What allocscope has in memory for its tables now; of the live object map, when few
// objects were born, what they touched at most.
inline std::uint64_t own_memory_bytes() noexcept {
    constexpr std::uint64_t few = 256;
    const std::uint64_t births =
        process.births_since_wipe + births_since(process.session_began_at, few);
    const std::uint64_t map_bytes = births < few ? births * page_bytes : process.objects.resident();
    return table_bytes() + map_bytes;
}

inline void add_own_memory(live_window& taken) noexcept {
    const control_lock lock;
    taken.own_memory_bytes = own_memory_bytes();
}

// Takes the window's live objects; the window then starts anew if it is to forget them. To end it
// is left to the caller, because types are still to be read from the live objects. Throws
// std::bad_alloc when memory for the sites is refused; everything else is then in `taken` all the
// same, but for own_memory_bytes, which add_own_memory() fills: it asks the system for each table.
inline void take_live_objects(live_window& taken, window_id id, after_stats then) {
    const control_lock lock;
    open_window* window = find_window(id);
    if (window == nullptr) return;
    taken.exists = true;
    taken.id = id;
    copy_name(taken.name, sizeof taken.name, window->name);
    taken.wanted = window->wanted;
    taken.duration_ns = monotonic_ns() - window->started_ns;
    birth_range range = births_in(*window);
    taken.totals = totals_of(*window, slot_of(id));
    if (then == after_stats::forget) {
        const retired_births ended = window->retired;
        const std::uint64_t peak_bytes = taken.totals.counts.peak_bytes;
        begin_window(*window);
        announce(*window, 0);
        all_threads_are_outside();  // an object born just now would else be in neither report
        range.until = window->open_at.load(std::memory_order_relaxed);
        taken.totals = totals_in(range, taken.wanted.record, ended);
        taken.totals.counts.peak_bytes = peak_bytes;
    }
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        taken.losses[i] =
            losses_ever(static_cast<loss_reason>(i)) - process.losses_before_session[i];
    }
    if (taken.wanted.record != recording::counters) {
        collect_sites(taken, range, counted_objects::alive);
    }
    if (then == after_stats::forget) reclaim_when_due();
}

// Replaces the live objects of a window that records every event by all that were born in it,
// whatever has become of them since: who allocated too much may have freed it all again. What
// nested windows have reclaimed meanwhile is in the totals only.
inline void count_births_by_site(live_window& window, window_id id) {
    const control_lock lock;
    const open_window* found = find_window(id);
    if (found == nullptr) return;
    window.sites.clear();
    window.frames.clear();
    collect_sites(window, births_in(*found), counted_objects::born);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// text.hpp - characters that somebody else keeps.

#ifndef ALLOCSCOPE_PLAIN_TEXT_HPP
#define ALLOCSCOPE_PLAIN_TEXT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

class text {
public:
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    constexpr text() noexcept = default;
    ALLOCSCOPE_FAST_PATH constexpr text(const char* zero_ended) noexcept
        : data_(zero_ended), size_(__builtin_strlen(zero_ended)) {}
    ALLOCSCOPE_FAST_PATH constexpr text(const char* data, std::size_t size) noexcept
        : data_(data), size_(size) {}

    ALLOCSCOPE_FAST_PATH constexpr const char* data() const noexcept { return data_; }
    ALLOCSCOPE_FAST_PATH constexpr std::size_t size() const noexcept { return size_; }
    ALLOCSCOPE_FAST_PATH constexpr bool empty() const noexcept { return size_ == 0; }
    ALLOCSCOPE_FAST_PATH constexpr const char* begin() const noexcept { return data_; }
    ALLOCSCOPE_FAST_PATH constexpr const char* end() const noexcept { return data_ + size_; }
    ALLOCSCOPE_FAST_PATH constexpr char operator[](std::size_t at) const noexcept {
        return data_[at];
    }
    ALLOCSCOPE_FAST_PATH constexpr char front() const noexcept { return data_[0]; }
    ALLOCSCOPE_FAST_PATH constexpr char back() const noexcept { return data_[size_ - 1]; }

    ALLOCSCOPE_FAST_PATH constexpr void remove_prefix(std::size_t count) noexcept {
        data_ += count;
        size_ -= count;
    }
    ALLOCSCOPE_FAST_PATH constexpr void remove_suffix(std::size_t count) noexcept {
        size_ -= count;
    }

    // `at` is at most size().
    ALLOCSCOPE_FAST_PATH constexpr text substr(std::size_t at,
                                               std::size_t count = npos) const noexcept {
        return text{data_ + at, count < size_ - at ? count : size_ - at};
    }

    // Positions, or npos.
    std::size_t find(char wanted, std::size_t from = 0) const noexcept;
    std::size_t find(text wanted, std::size_t from = 0) const noexcept;
    std::size_t rfind(char wanted) const noexcept;
    std::size_t rfind(text wanted) const noexcept;
    std::size_t find_first_of(text wanted, std::size_t from = 0) const noexcept;
    std::size_t find_first_not_of(text unwanted, std::size_t from = 0) const noexcept;
    std::size_t find_last_of(text wanted) const noexcept;
    std::size_t find_last_not_of(text unwanted) const noexcept;

    bool starts_with(text start) const noexcept;
    bool ends_with(text end) const noexcept;
    bool contains(text wanted) const noexcept { return find(wanted) != npos; }

    // Below 0, 0 or above 0, by unsigned bytes.
    int compare(text other) const noexcept;

private:
    const char* data_ = "";
    std::size_t size_ = 0;
};

ALLOCSCOPE_NOINLINE bool is_equal(text a, text b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

ALLOCSCOPE_FAST_PATH bool operator==(text a, text b) noexcept {
    return is_equal(a, b);
}
ALLOCSCOPE_FAST_PATH bool operator!=(text a, text b) noexcept {
    return !is_equal(a, b);
}
ALLOCSCOPE_FAST_PATH bool operator<(text a, text b) noexcept {
    return a.compare(b) < 0;
}

// A zero-ended copy that lives as long as the arena.
ALLOCSCOPE_NOINLINE text copy_of(arena& memory, text original) {
    auto* bytes = static_cast<char*>(memory.allocate(original.size() + 1));
    std::memcpy(bytes, original.data(), original.size());
    bytes[original.size()] = '\0';
    return text{bytes, original.size()};
}

// Up to four texts, one behind the other, zero-ended, in the memory of the arena.
ALLOCSCOPE_NOINLINE text joined(arena& memory, text a, text b, text c = {}, text d = {}) {
    const std::size_t size = a.size() + b.size() + c.size() + d.size();
    auto* bytes = static_cast<char*>(memory.allocate(size + 1));
    char* end = bytes;
    const text* const parts[] = {&a, &b, &c, &d};
    for (const text* part : parts) {
        std::memcpy(end, part->data(), part->size());
        end += part->size();
    }
    *end = '\0';
    return text{bytes, size};
}

ALLOCSCOPE_NOINLINE std::size_t text::find(char wanted, std::size_t from) const noexcept {
    if (from >= size_) return npos;
    const void* found = std::memchr(data_ + from, wanted, size_ - from);
    return found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - data_)
                            : npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find(text wanted, std::size_t from) const noexcept {
    if (wanted.empty()) return from <= size_ ? from : npos;
    for (std::size_t at = find(wanted.front(), from); at != npos;
         at = find(wanted.front(), at + 1)) {
        if (wanted.size_ > size_ - at) return npos;
        if (std::memcmp(data_ + at, wanted.data_, wanted.size_) == 0) return at;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::rfind(char wanted) const noexcept {
    for (std::size_t at = size_; at > 0; --at) {
        if (data_[at - 1] == wanted) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::rfind(text wanted) const noexcept {
    if (wanted.size_ > size_) return npos;
    for (std::size_t at = size_ - wanted.size_ + 1; at > 0; --at) {
        if (std::memcmp(data_ + at - 1, wanted.data_, wanted.size_) == 0) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_first_of(text wanted, std::size_t from) const noexcept {
    for (std::size_t at = from; at < size_; ++at) {
        if (wanted.find(data_[at]) != npos) return at;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_first_not_of(text unwanted,
                                                        std::size_t from) const noexcept {
    for (std::size_t at = from; at < size_; ++at) {
        if (unwanted.find(data_[at]) == npos) return at;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_last_of(text wanted) const noexcept {
    for (std::size_t at = size_; at > 0; --at) {
        if (wanted.find(data_[at - 1]) != npos) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_last_not_of(text unwanted) const noexcept {
    for (std::size_t at = size_; at > 0; --at) {
        if (unwanted.find(data_[at - 1]) == npos) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE bool text::starts_with(text start) const noexcept {
    return start.size_ <= size_ && std::memcmp(data_, start.data_, start.size_) == 0;
}

ALLOCSCOPE_NOINLINE bool text::ends_with(text end) const noexcept {
    return end.size_ <= size_ &&
           std::memcmp(data_ + (size_ - end.size_), end.data_, end.size_) == 0;
}

ALLOCSCOPE_NOINLINE int text::compare(text other) const noexcept {
    const std::size_t shared = size_ < other.size_ ? size_ : other.size_;
    const int order = std::memcmp(data_, other.data_, shared);
    if (order != 0) return order;
    if (size_ == other.size_) return 0;
    return size_ < other.size_ ? -1 : 1;
}

}  // namespace plain

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/stat.h>

// table.hpp - values found by a key: a number, a pointer or a text.

#ifndef ALLOCSCOPE_PLAIN_TABLE_HPP
#define ALLOCSCOPE_PLAIN_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

// --- keys ---

inline std::uint64_t hash_of_key(std::uint64_t key) noexcept {
    return detail::hash_finish(detail::hash_step(detail::hash_seed, key));
}
inline std::uint64_t hash_of_key(const void* key) noexcept {
    return hash_of_key(reinterpret_cast<std::uintptr_t>(key));
}
ALLOCSCOPE_NOINLINE std::uint64_t hash_of_key(text key) noexcept {
    std::uint64_t hash = detail::hash_step(detail::hash_seed, key.size());
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data() + at, 8);
        hash = detail::hash_step(hash, word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, key.data() + at, key.size() - at);
    return detail::hash_finish(detail::hash_step(hash, rest));
}

// --- the core ---

struct raw_slots {
    struct slot {
        std::uint32_t entry;  // its number, from 1; 0: free
        std::uint32_t hash;   // the upper half
    };
    slot* slots = nullptr;
    std::size_t count = 0;  // a power of two, or 0
};

ALLOCSCOPE_NOINLINE raw_slots make_slots(arena& memory, std::size_t count) {
    void* slots = memory.allocate(count * sizeof(raw_slots::slot));
    std::memset(slots, 0, count * sizeof(raw_slots::slot));
    return {static_cast<raw_slots::slot*>(slots), count};
}

using same_key = bool (*)(const void* entry, const void* key);

// Number of the entry from 1, or 0.
ALLOCSCOPE_NOINLINE std::uint32_t find_entry(const raw_slots& in, const raw_list& entries,
                                             std::size_t entry_bytes, std::uint64_t hash,
                                             same_key is_same, const void* key) noexcept {
    if (in.count == 0) return 0;
    const std::size_t mask = in.count - 1;
    const auto upper = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const raw_slots::slot& found = in.slots[at];
        if (found.entry == 0) return 0;
        const void* entry =
            static_cast<const char*>(entries.values) + (found.entry - 1) * entry_bytes;
        if (found.hash == upper && is_same(entry, key)) return found.entry;
    }
}

// Where an entry with the hash may be put; the lower half of the hash is not kept, so growing asks
// for it again.
ALLOCSCOPE_NOINLINE void put_slot(raw_slots& in, std::uint64_t hash, std::uint32_t entry) noexcept {
    const std::size_t mask = in.count - 1;
    std::size_t at = hash & mask;
    while (in.slots[at].entry != 0) at = (at + 1) & mask;
    in.slots[at] = {entry, static_cast<std::uint32_t>(hash >> 32U)};
}

template <class Key, class Value>
class table {
public:
    struct entry {
        Key key;
        Value value;
    };

    table() noexcept = default;  // empty for good
    explicit table(arena& memory) noexcept { entries_.memory = &memory; }

    std::size_t size() const noexcept { return entries_.size; }
    bool empty() const noexcept { return entries_.size == 0; }
    entry* begin() const noexcept { return static_cast<entry*>(entries_.values); }
    entry* end() const noexcept { return begin() + entries_.size; }

    // Null: not there.
    Value* find(const Key& key) const noexcept {
        const std::uint32_t number =
            find_entry(slots_, entries_, sizeof(entry), hash_of_key(key), &is_same, &key);
        return number != 0 ? &begin()[number - 1].value : nullptr;
    }

    struct place {
        Value& value;
        bool is_new;
    };

    // The value of the key, value-initialised when it was not there.
    place insert(const Key& key) {
        if (Value* found = find(key)) return {*found, false};
        static_assert(std::is_trivially_copyable<entry>::value, "entries are moved by memcpy");
        if ((entries_.size + 1) * 2 > slots_.count) grow();
        entry* made = ::new (add_to_list(entries_, sizeof(entry))) entry{key, Value()};
        put_slot(slots_, hash_of_key(key), static_cast<std::uint32_t>(entries_.size));
        return {made->value, true};
    }
    Value& operator[](const Key& key) { return insert(key).value; }

    void clear() noexcept {
        entries_.size = 0;
        slots_ = {};
    }

private:
    static bool is_same(const void* entry_of, const void* key) {
        return static_cast<const entry*>(entry_of)->key == *static_cast<const Key*>(key);
    }

    void grow() {
        const std::size_t count = slots_.count == 0 ? 16 : slots_.count * 4;
        slots_ = make_slots(*entries_.memory, count);
        std::uint32_t number = 0;
        for (const entry& each : *this) put_slot(slots_, hash_of_key(each.key), ++number);
    }

    raw_list entries_;
    raw_slots slots_;
};

}  // namespace plain

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_TABLE_HPP

// code_location.hpp - what is known about one code address: module, symbol, logical frames.

#ifndef ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP
#define ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct code_frame {
    text function;      // demangled; "" when unknown
    text linkage_name;  // as the linker knows it; "" when the debug information has none
    text file;          // with its directory, as the debug information has it; "" unknown
    int line = 0;       // 0: unknown
    int column = 0;
    bool is_inlined = false;
    std::uint64_t built_ns = 0;  // when the file of its module was written; 0: not known
    // True: the compiler gave the call no line, and this is one close by.
    bool is_nearby = false;
    // Of the code before and behind in the same function and file, where that is another line; 0:
    // there is none.
    int line_before = 0;
    int line_behind = 0;
};

struct code_location {
    std::uint64_t address = 0;
    text module;                      // path of the program or library; "" when in none
    std::uint64_t module_offset = 0;  // address as linked, what addr2line and objdump call it
    bool is_unloaded = false;         // the module is gone, and so is its file
    text symbol;                      // demangled function of .symtab or .dynsym; "" unknown
    std::uint64_t symbol_offset = 0;  // distance from that function's start
    // Innermost first; at least one when a symbol or a line is known.
    list<code_frame> frames;
};

// The headers of libstdc++ and libc++: everything in them is the library's, also a function whose
// scope the debug information does not tell.
inline bool is_standard_header(text file) noexcept {
    return file.contains("/include/c++/");
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

// file_reader.hpp - a regular file, opened for positioned reads.

#ifndef ALLOCSCOPE_PLATFORM_FILE_READER_HPP
#define ALLOCSCOPE_PLATFORM_FILE_READER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Tells one file from another, and from its own later content.
struct file_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t changed_ns = 0;

    bool equals(const file_identity& other) const noexcept {
        return device == other.device && inode == other.inode && size_bytes == other.size_bytes &&
               changed_ns == other.changed_ns;
    }
};

class file_reader {
public:
    explicit file_reader(const char* path) noexcept {
        descriptor_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat facts;
        if (descriptor_ < 0) return;
        if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
            close_now();
            return;
        }
        identity_.device = facts.st_dev;
        identity_.inode = facts.st_ino;
        identity_.size_bytes = static_cast<std::uint64_t>(facts.st_size);
        identity_.changed_ns = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1000000000U +
                               static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
    }
    ~file_reader() { close_now(); }
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    bool is_open() const noexcept { return descriptor_ >= 0; }
    const file_identity& identity() const noexcept { return identity_; }

    // Reads up to `count` bytes. Fewer are read where the file ends or cannot be read.
    std::size_t read_at(std::uint64_t offset, void* buffer, std::size_t count) const noexcept {
        std::size_t done = 0;
        while (is_open() && done < count) {
            const ssize_t got = ::pread(descriptor_, static_cast<char*>(buffer) + done,
                                        count - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

private:
    void close_now() noexcept {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }

    int descriptor_ = -1;
    file_identity identity_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_FILE_READER_HPP

// dwarf_constants.hpp - the numbers of DWARF 2 to 5 that are looked at.

#ifndef ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP
#define ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
namespace dwarf {

constexpr std::uint16_t tag_class_type = 0x02;
constexpr std::uint16_t tag_enumeration_type = 0x04;
constexpr std::uint16_t tag_imported_declaration = 0x08;
constexpr std::uint16_t tag_lexical_block = 0x0b;
constexpr std::uint16_t tag_structure_type = 0x13;
constexpr std::uint16_t tag_typedef = 0x16;
constexpr std::uint16_t tag_union_type = 0x17;
constexpr std::uint16_t tag_inlined_subroutine = 0x1d;
constexpr std::uint16_t tag_subprogram = 0x2e;
constexpr std::uint16_t tag_namespace = 0x39;

constexpr std::uint16_t at_sibling = 0x01;
constexpr std::uint16_t at_name = 0x03;
constexpr std::uint16_t at_stmt_list = 0x10;
constexpr std::uint16_t at_low_pc = 0x11;
constexpr std::uint16_t at_high_pc = 0x12;
constexpr std::uint16_t at_comp_dir = 0x1b;
constexpr std::uint16_t at_abstract_origin = 0x31;
constexpr std::uint16_t at_decl_file = 0x3a;
constexpr std::uint16_t at_decl_line = 0x3b;
constexpr std::uint16_t at_specification = 0x47;
constexpr std::uint16_t at_ranges = 0x55;
constexpr std::uint16_t at_call_column = 0x57;
constexpr std::uint16_t at_call_file = 0x58;
constexpr std::uint16_t at_call_line = 0x59;
constexpr std::uint16_t at_linkage_name = 0x6e;
constexpr std::uint16_t at_str_offsets_base = 0x72;
constexpr std::uint16_t at_addr_base = 0x73;
constexpr std::uint16_t at_rnglists_base = 0x74;
constexpr std::uint16_t at_mips_linkage_name = 0x2007;
constexpr std::uint16_t at_gnu_ranges_base = 0x2132;
constexpr std::uint16_t at_gnu_addr_base = 0x2133;

constexpr std::uint16_t form_addr = 0x01;
constexpr std::uint16_t form_block2 = 0x03;
constexpr std::uint16_t form_block4 = 0x04;
constexpr std::uint16_t form_data2 = 0x05;
constexpr std::uint16_t form_data4 = 0x06;
constexpr std::uint16_t form_data8 = 0x07;
constexpr std::uint16_t form_string = 0x08;
constexpr std::uint16_t form_block = 0x09;
constexpr std::uint16_t form_block1 = 0x0a;
constexpr std::uint16_t form_data1 = 0x0b;
constexpr std::uint16_t form_flag = 0x0c;
constexpr std::uint16_t form_sdata = 0x0d;
constexpr std::uint16_t form_strp = 0x0e;
constexpr std::uint16_t form_udata = 0x0f;
constexpr std::uint16_t form_ref_addr = 0x10;
constexpr std::uint16_t form_ref1 = 0x11;
constexpr std::uint16_t form_ref2 = 0x12;
constexpr std::uint16_t form_ref4 = 0x13;
constexpr std::uint16_t form_ref8 = 0x14;
constexpr std::uint16_t form_ref_udata = 0x15;
constexpr std::uint16_t form_indirect = 0x16;
constexpr std::uint16_t form_sec_offset = 0x17;
constexpr std::uint16_t form_exprloc = 0x18;
constexpr std::uint16_t form_flag_present = 0x19;
constexpr std::uint16_t form_strx = 0x1a;
constexpr std::uint16_t form_addrx = 0x1b;
constexpr std::uint16_t form_ref_sup4 = 0x1c;
constexpr std::uint16_t form_strp_sup = 0x1d;
constexpr std::uint16_t form_data16 = 0x1e;
constexpr std::uint16_t form_line_strp = 0x1f;
constexpr std::uint16_t form_ref_sig8 = 0x20;
constexpr std::uint16_t form_implicit_const = 0x21;
constexpr std::uint16_t form_loclistx = 0x22;
constexpr std::uint16_t form_rnglistx = 0x23;
constexpr std::uint16_t form_ref_sup8 = 0x24;
constexpr std::uint16_t form_strx1 = 0x25;
constexpr std::uint16_t form_strx2 = 0x26;
constexpr std::uint16_t form_strx3 = 0x27;
constexpr std::uint16_t form_strx4 = 0x28;
constexpr std::uint16_t form_addrx1 = 0x29;
constexpr std::uint16_t form_addrx2 = 0x2a;
constexpr std::uint16_t form_addrx3 = 0x2b;
constexpr std::uint16_t form_addrx4 = 0x2c;
constexpr std::uint16_t form_gnu_addr_index = 0x1f01;
constexpr std::uint16_t form_gnu_str_index = 0x1f02;
constexpr std::uint16_t form_gnu_ref_alt = 0x1f20;
constexpr std::uint16_t form_gnu_strp_alt = 0x1f21;

constexpr std::uint8_t unit_type_type = 0x02;
constexpr std::uint8_t unit_skeleton = 0x04;
constexpr std::uint8_t unit_split_compile = 0x05;
constexpr std::uint8_t unit_split_type = 0x06;

constexpr std::uint8_t range_end_of_list = 0x00;
constexpr std::uint8_t range_base_addressx = 0x01;
constexpr std::uint8_t range_startx_endx = 0x02;
constexpr std::uint8_t range_startx_length = 0x03;
constexpr std::uint8_t range_offset_pair = 0x04;
constexpr std::uint8_t range_base_address = 0x05;
constexpr std::uint8_t range_start_end = 0x06;
constexpr std::uint8_t range_start_length = 0x07;

constexpr std::uint8_t line_copy = 1;
constexpr std::uint8_t line_advance_pc = 2;
constexpr std::uint8_t line_advance_line = 3;
constexpr std::uint8_t line_set_file = 4;
constexpr std::uint8_t line_set_column = 5;
constexpr std::uint8_t line_const_add_pc = 8;
constexpr std::uint8_t line_fixed_advance_pc = 9;
constexpr std::uint8_t line_end_sequence = 1;  // extended
constexpr std::uint8_t line_set_address = 2;   // extended
constexpr std::uint16_t line_content_path = 1;
constexpr std::uint16_t line_content_directory = 2;

}  // namespace dwarf
}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP

// dwarf_forms.hpp - how one attribute value is stored, read and skipped.

#ifndef ALLOCSCOPE_BINARY_DWARF_FORMS_HPP
#define ALLOCSCOPE_BINARY_DWARF_FORMS_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

// The sizes that a unit's header decides.
struct dwarf_format {
    std::uint16_t version = 0;
    std::uint8_t address_bytes = 8;
    std::uint8_t offset_bytes = 4;
};

struct dwarf_value {
    std::uint16_t form = 0;      // 0: there is no such attribute
    std::uint64_t number = 0;    // value, offset or index, as stored
    const char* text = nullptr;  // of dwarf::form_string only
    bool exists() const noexcept { return form != 0; }
};

constexpr int dwarf_form_varies = -1;

// The bytes that a value of this form always takes, or dwarf_form_varies.
ALLOCSCOPE_NOINLINE int dwarf_fixed_bytes(std::uint16_t form, const dwarf_format& format) noexcept {
    switch (form) {
        case dwarf::form_flag_present:
        case dwarf::form_implicit_const:
            return 0;
        case dwarf::form_data1:
        case dwarf::form_ref1:
        case dwarf::form_flag:
        case dwarf::form_strx1:
        case dwarf::form_addrx1:
            return 1;
        case dwarf::form_data2:
        case dwarf::form_ref2:
        case dwarf::form_strx2:
        case dwarf::form_addrx2:
            return 2;
        case dwarf::form_strx3:
        case dwarf::form_addrx3:
            return 3;
        case dwarf::form_data4:
        case dwarf::form_ref4:
        case dwarf::form_strx4:
        case dwarf::form_addrx4:
        case dwarf::form_ref_sup4:
            return 4;
        case dwarf::form_data8:
        case dwarf::form_ref8:
        case dwarf::form_ref_sig8:
        case dwarf::form_ref_sup8:
            return 8;
        case dwarf::form_data16:
            return 16;
        case dwarf::form_addr:
            return format.address_bytes;
        case dwarf::form_ref_addr:
            return format.version <= 2 ? format.address_bytes : format.offset_bytes;
        case dwarf::form_strp:
        case dwarf::form_sec_offset:
        case dwarf::form_line_strp:
        case dwarf::form_strp_sup:
        case dwarf::form_gnu_ref_alt:
        case dwarf::form_gnu_strp_alt:
            return format.offset_bytes;
        default:
            return dwarf_form_varies;
    }
}

// Reads one value. An unknown form fails the cursor: nobody can say where the next one begins.
ALLOCSCOPE_NOINLINE dwarf_value read_dwarf_value(byte_cursor& in, std::uint16_t form,
                                                 const dwarf_format& format,
                                                 std::int64_t implicit_value) noexcept {
    if (form == dwarf::form_indirect) {
        form = static_cast<std::uint16_t>(in.uleb() & 0xffff);
        if (form == dwarf::form_indirect || form == dwarf::form_implicit_const) in.fail();
    }
    dwarf_value value;
    value.form = form;
    const int fixed = dwarf_fixed_bytes(form, format);
    if (fixed == 16) return in.skip(16), value;
    if (fixed > 0) return value.number = in.unsigned_of(static_cast<unsigned>(fixed)), value;
    switch (form) {
        case dwarf::form_flag_present:
            value.number = 1;
            break;
        case dwarf::form_implicit_const:
            value.number = static_cast<std::uint64_t>(implicit_value);
            break;
        case dwarf::form_string:
            value.text = in.text();
            break;
        case dwarf::form_sdata:
            value.number = static_cast<std::uint64_t>(in.sleb());
            break;
        case dwarf::form_udata:
        case dwarf::form_ref_udata:
        case dwarf::form_strx:
        case dwarf::form_addrx:
        case dwarf::form_loclistx:
        case dwarf::form_rnglistx:
        case dwarf::form_gnu_addr_index:
        case dwarf::form_gnu_str_index:
            value.number = in.uleb();
            break;
        case dwarf::form_block1:
            in.skip(in.u8());
            break;
        case dwarf::form_block2:
            in.skip(in.u16());
            break;
        case dwarf::form_block4:
            in.skip(in.u32());
            break;
        case dwarf::form_block:
        case dwarf::form_exprloc:
            in.skip(in.uleb());
            break;
        default:
            in.fail();
            break;
    }
    return value;
}

inline bool dwarf_form_is_address(std::uint16_t form) noexcept {
    return form == dwarf::form_addr || form == dwarf::form_addrx ||
           form == dwarf::form_gnu_addr_index ||
           (form >= dwarf::form_addrx1 && form <= dwarf::form_addrx4);
}

inline bool dwarf_form_is_string_index(std::uint16_t form) noexcept {
    return form == dwarf::form_strx || form == dwarf::form_gnu_str_index ||
           (form >= dwarf::form_strx1 && form <= dwarf::form_strx4);
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_DWARF_FORMS_HPP

// dwarf_units.hpp - the units of .debug_info, their abbreviations, and what their values stand for.

#ifndef ALLOCSCOPE_BINARY_DWARF_UNITS_HPP
#define ALLOCSCOPE_BINARY_DWARF_UNITS_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

struct dwarf_sections {
    byte_view info, abbreviations, strings, lines, line_strings;
    byte_view ranges, range_lists, addresses, string_offsets;
};

// One unit. The bases and the low address come from its first entry.
struct dwarf_unit {
    std::uint64_t offset = 0;  // of the header in .debug_info
    std::uint64_t end = 0;     // where the next unit begins
    std::uint64_t first_entry = 0;
    std::uint64_t abbreviations = 0;
    dwarf_format format;
    std::uint8_t type = 0;  // DWARF 5 only
    std::uint64_t string_offsets_base = 0;
    std::uint64_t addresses_base = 0;
    std::uint64_t range_lists_base = 0;  // DWARF 5
    std::uint64_t ranges_base = 0;       // split DWARF 4
    std::uint64_t low_address = 0;
};

// Reads the header at `offset`. False: the section is over or cannot be read from there on. A unit
// of an unknown version is returned with first_entry == end, so that the next one can be found.
ALLOCSCOPE_NOINLINE bool read_dwarf_unit(byte_view info, std::uint64_t offset,
                                         dwarf_unit& unit) noexcept {
    unit = dwarf_unit{};
    unit.offset = offset;
    byte_cursor in{info, offset};
    std::uint64_t length = in.u32();
    if (length == 0xffffffffU) {
        length = in.u64();
        unit.format.offset_bytes = 8;
    } else if (length >= 0xfffffff0U) {
        return false;
    }
    if (!in.ok() || length == 0 || length > in.remaining()) return false;
    unit.end = in.at() + length;
    unit.format.version = in.u16();
    if (unit.format.version >= 5) {
        unit.type = in.u8();
        unit.format.address_bytes = in.u8();
        unit.abbreviations = in.unsigned_of(unit.format.offset_bytes);
        if (unit.type == dwarf::unit_skeleton || unit.type == dwarf::unit_split_compile) in.skip(8);
    } else {
        unit.abbreviations = in.unsigned_of(unit.format.offset_bytes);
        unit.format.address_bytes = in.u8();
    }
    const bool is_readable = in.ok() && unit.format.version >= 2 && unit.format.version <= 5 &&
                             (unit.format.address_bytes == 8 || unit.format.address_bytes == 4) &&
                             unit.type != dwarf::unit_type_type &&
                             unit.type != dwarf::unit_split_type && in.at() <= unit.end;
    unit.first_entry = is_readable ? in.at() : unit.end;
    unit.string_offsets_base = unit.format.version >= 5 ? unit.format.offset_bytes * 2U : 0;
    unit.addresses_base = unit.format.version >= 5 ? 8 : 0;
    unit.range_lists_base = unit.format.offset_bytes == 8 ? 20 : 12;
    return true;
}

struct dwarf_attribute {
    std::uint16_t name = 0;
    std::uint16_t form = 0;
    std::int64_t implicit_value = 0;
};

// Walks one abbreviation table. The visitor has
//     bool begin(std::uint64_t code, std::uint16_t tag, bool has_children);
//     bool attribute(const dwarf_attribute&);
//     bool finish();
// each of which returns false to stop the walk.
template <class Visitor>
inline void visit_dwarf_abbreviations(byte_view section, std::uint64_t offset, Visitor&& visit) {
    byte_cursor in{section, offset};
    while (in.ok()) {
        const std::uint64_t code = in.uleb();
        if (code == 0) return;
        const std::uint64_t tag = in.uleb();
        const bool has_children = in.u8() != 0;
        if (!in.ok() || !visit.begin(code, static_cast<std::uint16_t>(tag & 0xffff), has_children))
            return;
        for (;;) {
            const std::uint64_t name = in.uleb();
            const std::uint64_t form = in.uleb();
            dwarf_attribute attribute;
            attribute.name =
                name > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(name);
            attribute.form =
                form > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(form);
            if (form == dwarf::form_implicit_const) attribute.implicit_value = in.sleb();
            if (!in.ok()) return;
            if (name == 0 && form == 0) break;
            if (!visit.attribute(attribute)) return;
        }
        if (!visit.finish()) return;
    }
}

// Reads entry `index` of a table of fixed-size numbers. False when it lies outside.
ALLOCSCOPE_NOINLINE bool read_dwarf_table(byte_view section, std::uint64_t base,
                                          std::uint64_t index, unsigned width,
                                          std::uint64_t& number) noexcept {
    if (index > section.size) return false;  // keeps the product below from wrapping
    byte_cursor in{section, base};
    in.skip(index * width);
    number = in.unsigned_of(width);
    return in.ok();
}

// The text that a value stands for; "" when there is none or when it is in another file.
ALLOCSCOPE_NOINLINE const char* dwarf_text(const dwarf_sections& sections, const dwarf_unit& unit,
                                           const dwarf_value& value) noexcept {
    if (value.form == dwarf::form_string) {
        return ::strnlen(value.text, longest_text) < longest_text ? value.text : "";
    }
    if (value.form == dwarf::form_strp) return text_at(sections.strings, value.number);
    if (value.form == dwarf::form_line_strp) return text_at(sections.line_strings, value.number);
    if (!dwarf_form_is_string_index(value.form)) return "";
    std::uint64_t offset = 0;
    if (!read_dwarf_table(sections.string_offsets, unit.string_offsets_base, value.number,
                          unit.format.offset_bytes, offset)) {
        return "";
    }
    return text_at(sections.strings, offset);
}

ALLOCSCOPE_NOINLINE bool dwarf_address(const dwarf_sections& sections, const dwarf_unit& unit,
                                       const dwarf_value& value, std::uint64_t& address) noexcept {
    if (value.form == dwarf::form_addr) return address = value.number, true;
    return dwarf_form_is_address(value.form) &&
           read_dwarf_table(sections.addresses, unit.addresses_base, value.number,
                            unit.format.address_bytes, address);
}

// The .debug_info offset of the entry that a value refers to; 0 (never an entry) when it is none.
ALLOCSCOPE_NOINLINE std::uint64_t dwarf_reference(const dwarf_unit& unit,
                                                  const dwarf_value& value) noexcept {
    switch (value.form) {
        case dwarf::form_ref_addr:
            return value.number;
        case dwarf::form_ref1:
        case dwarf::form_ref2:
        case dwarf::form_ref4:
        case dwarf::form_ref8:
        case dwarf::form_ref_udata:
            return value.number < unit.end - unit.offset ? unit.offset + value.number : 0;
        default:
            return 0;
    }
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_DWARF_UNITS_HPP

// dwarf_ranges.hpp - the address ranges of an entry: low/high, .debug_ranges or .debug_rnglists.

#ifndef ALLOCSCOPE_BINARY_DWARF_RANGES_HPP
#define ALLOCSCOPE_BINARY_DWARF_RANGES_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

// The three attributes that say where an entry's code is.
struct dwarf_extent {
    dwarf_value low, high, ranges;

    void take(std::uint16_t name, const dwarf_value& value) noexcept {
        if (name == dwarf::at_low_pc) low = value;
        if (name == dwarf::at_high_pc) high = value;
        if (name == dwarf::at_ranges) ranges = value;
    }
};

// DWARF 2 to 4: pairs of addresses relative to a base. `visit(low, high)` returns false to stop.
template <class Visitor>
inline void visit_old_ranges(byte_view section, std::uint64_t offset, const dwarf_unit& unit,
                             Visitor&& visit) {
    const unsigned width = unit.format.address_bytes;
    const std::uint64_t change_base = width == 8 ? ~std::uint64_t{0} : 0xffffffffU;
    std::uint64_t base = unit.low_address;
    byte_cursor in{section, offset};
    for (;;) {
        const std::uint64_t low = in.unsigned_of(width);
        const std::uint64_t high = in.unsigned_of(width);
        if (!in.ok() || (low == 0 && high == 0)) return;
        if (low == change_base) {
            base = high;
        } else if (low < high) {
            if (!visit(base + low, base + high)) return;
        } else if (!visit(0, 0)) {
            return;  // an empty range still costs a step
        }
    }
}

// DWARF 5: a small program of entries.
template <class Visitor>
inline void visit_range_list(const dwarf_sections& sections, std::uint64_t offset,
                             const dwarf_unit& unit, Visitor&& visit) {
    const unsigned width = unit.format.address_bytes;
    std::uint64_t base = unit.low_address;
    byte_cursor in{sections.range_lists, offset};
    const auto indexed = [&](std::uint64_t index) {
        std::uint64_t address = 0;
        read_dwarf_table(sections.addresses, unit.addresses_base, index, width, address);
        return address;
    };
    for (;;) {
        const std::uint8_t kind = in.u8();
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        switch (kind) {
            case dwarf::range_base_addressx:
                base = indexed(in.uleb());
                break;
            case dwarf::range_base_address:
                base = in.unsigned_of(width);
                break;
            case dwarf::range_startx_endx:
                low = indexed(in.uleb());
                high = indexed(in.uleb());
                break;
            case dwarf::range_startx_length:
                low = indexed(in.uleb());
                high = low + in.uleb();
                break;
            case dwarf::range_offset_pair:
                low = base + in.uleb();
                high = base + in.uleb();
                break;
            case dwarf::range_start_end:
                low = in.unsigned_of(width);
                high = in.unsigned_of(width);
                break;
            case dwarf::range_start_length:
                low = in.unsigned_of(width);
                high = low + in.uleb();
                break;
            default:
                return;  // the end, or an entry of unknown length
        }
        if (!in.ok()) return;
        if (low >= high) low = high = 0;
        if (!visit(low, high)) return;
    }
}

// Calls `visit(low, high)` for every piece of the extent, high exclusive, until it returns false.
// An entry that covers nothing is passed as (0, 0), so that the visitor can count its steps.
template <class Visitor>
inline void visit_dwarf_extent(const dwarf_sections& sections, const dwarf_unit& unit,
                               const dwarf_extent& extent, Visitor&& visit) {
    if (extent.ranges.exists()) {
        std::uint64_t offset = extent.ranges.number;
        if (unit.format.version < 5) {
            visit_old_ranges(sections.ranges, offset + unit.ranges_base, unit, visit);
            return;
        }
        if (extent.ranges.form == dwarf::form_rnglistx) {
            if (!read_dwarf_table(sections.range_lists, unit.range_lists_base, offset,
                                  unit.format.offset_bytes, offset)) {
                return;
            }
            offset += unit.range_lists_base;
        }
        visit_range_list(sections, offset, unit, visit);
        return;
    }
    std::uint64_t low = 0;
    if (!dwarf_address(sections, unit, extent.low, low) || !extent.high.exists()) return;
    std::uint64_t high = 0;
    if (!dwarf_form_is_address(extent.high.form)) {
        high = low + extent.high.number;
    } else if (!dwarf_address(sections, unit, extent.high, high)) {
        return;
    }
    if (low < high) visit(low, high);
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_DWARF_RANGES_HPP

// address_ranges.hpp - many address ranges, each with a number; which of them hold an address?

#ifndef ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
#define ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

struct address_range {
    std::uint64_t low;
    std::uint64_t high;  // exclusive
    std::uint64_t value;
    std::uint64_t highest;  // set by finish()

    std::uint64_t width() const noexcept { return high - low; }
};

class address_ranges {
public:
    address_ranges() noexcept = default;  // empty for good
    explicit address_ranges(arena& memory) noexcept : ranges_(memory) {}

    void add(std::uint64_t low, std::uint64_t high, std::uint64_t value);

    // To be called once, after the last add() and before the first search.
    void finish();

    // One walk over all ranges that hold an address, from the one that begins last.
    struct walk {
        std::uint64_t address;
        std::size_t next;
        int steps;
    };
    walk walk_to(std::uint64_t address) const noexcept;
    const address_range* next(walk& at) const noexcept;  // null: that was the last one

    // The narrowest range that holds the address; among equals the one added first, since the
    // linker keeps the first of several copies of a function and gives the others its address.
    // Null: none.
    const address_range* find(std::uint64_t address) const noexcept;

    bool empty() const noexcept { return ranges_.empty(); }

private:
    // Honest ranges nest a few deep; a file made to slow us down stops being searched here.
    static constexpr int most_steps = 4096;

    list<address_range> ranges_;
    bool is_sorted_ = true;
};

ALLOCSCOPE_NOINLINE void address_ranges::add(std::uint64_t low, std::uint64_t high,
                                             std::uint64_t value) {
    if (low >= high) return;
    if (!ranges_.empty() && low < ranges_.back().low) is_sorted_ = false;
    ranges_.push_back(address_range{low, high, value, 0});
}

ALLOCSCOPE_NOINLINE void address_ranges::finish() {
    if (!is_sorted_) {
        arena scratch;
        sort(
            ranges_.data(), ranges_.size(),
            [](const address_range& a, const address_range& b) { return a.low < b.low; }, scratch);
    }
    is_sorted_ = true;
    std::uint64_t highest = 0;
    for (address_range& range : ranges_) {
        if (range.high > highest) highest = range.high;
        range.highest = highest;
    }
}

ALLOCSCOPE_NOINLINE address_ranges::walk address_ranges::walk_to(
    std::uint64_t address) const noexcept {
    const std::size_t behind =
        partition_point(ranges_.data(), ranges_.size(),
                        [&](const address_range& range) { return range.low <= address; });
    return walk{address, behind, 0};
}

ALLOCSCOPE_NOINLINE const address_range* address_ranges::next(walk& at) const noexcept {
    while (at.next > 0 && at.steps < most_steps) {
        ++at.steps;
        const address_range& range = ranges_[--at.next];
        if (range.highest <= at.address) break;
        if (range.high > at.address) return &range;
    }
    at.next = 0;
    return nullptr;
}

ALLOCSCOPE_NOINLINE const address_range* address_ranges::find(
    std::uint64_t address) const noexcept {
    walk at = walk_to(address);
    const address_range* best = nullptr;
    while (const address_range* range = next(at)) {
        if (best == nullptr || range->width() <= best->width()) best = range;
    }
    return best;
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

// debug_entries.hpp - walking the entries of one unit of debug information.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

// How much may still be done before a file counts as made to waste time.
struct step_budget {
    std::uint64_t left = 0;
    bool take() { return left != 0 && left-- != 0; }
};

struct abbreviation {
    std::uint64_t code = 0;
    std::size_t first_attribute = 0;
    std::size_t attribute_count = 0;
    std::uint64_t fixed_bytes = 0;
    std::uint16_t tag = 0;
    bool has_children = false;
    bool is_fixed = true;
    bool has_code = false;  // an address or a list of ranges
};

class abbreviation_table {
public:
    abbreviation_table() noexcept = default;  // empty for good

    // `only_code` other than 0: nothing but that abbreviation, found within the budget.
    abbreviation_table(arena& memory, detail::byte_view section, const detail::dwarf_unit& unit,
                       std::uint64_t only_code = 0, step_budget* budget = nullptr);

    const abbreviation* find(std::uint64_t code) const noexcept {
        // Compilers number from 1 without gaps.
        if (code - 1 < shapes_.size() && shapes_[code - 1].code == code) {
            return &shapes_[code - 1];
        }
        return find_odd(code);
    }

    const detail::dwarf_attribute* attributes(const abbreviation& shape) const noexcept {
        return attributes_.data() + shape.first_attribute;
    }

private:
    const abbreviation* find_odd(std::uint64_t code) const noexcept;

    struct builder {
        abbreviation_table& table;
        const detail::dwarf_format& format;
        std::uint64_t only_code;
        step_budget* budget;
        bool is_sorted = true;
        abbreviation shape = {};

        bool begin(std::uint64_t code, std::uint16_t tag, bool has_children) {
            if (code < shape.code) is_sorted = false;
            shape = abbreviation{};
            shape.code = code;
            shape.tag = tag;
            shape.has_children = has_children;
            shape.first_attribute = table.attributes_.size();
            return true;
        }
        bool attribute(const detail::dwarf_attribute& attribute) {
            if (budget != nullptr && !budget->take()) return false;
            if (only_code != 0 && shape.code != only_code) return true;
            table.attributes_.push_back(attribute);
            const int bytes = detail::dwarf_fixed_bytes(attribute.form, format);
            if (bytes == detail::dwarf_form_varies) shape.is_fixed = false;
            if (bytes > 0) shape.fixed_bytes += static_cast<unsigned>(bytes);
            if (attribute.name == detail::dwarf::at_low_pc ||
                attribute.name == detail::dwarf::at_ranges) {
                shape.has_code = true;
            }
            return true;
        }
        bool finish() {
            shape.attribute_count = table.attributes_.size() - shape.first_attribute;
            if (only_code != 0 && shape.code != only_code) return true;
            table.shapes_.push_back(shape);
            return only_code == 0;
        }
    };

    list<abbreviation> shapes_;
    list<detail::dwarf_attribute> attributes_;
};

ALLOCSCOPE_NOINLINE abbreviation_table::abbreviation_table(arena& memory, detail::byte_view section,
                                                           const detail::dwarf_unit& unit,
                                                           std::uint64_t only_code,
                                                           step_budget* budget)
    : shapes_(memory), attributes_(memory) {
    builder build{*this, unit.format, only_code, budget};
    detail::visit_dwarf_abbreviations(section, unit.abbreviations, build);
    if (build.is_sorted) return;
    sort(shapes_, [](const abbreviation& a, const abbreviation& b) { return a.code < b.code; });
}

ALLOCSCOPE_NOINLINE const abbreviation* abbreviation_table::find_odd(
    std::uint64_t code) const noexcept {
    const std::size_t at =
        partition_point(shapes_.data(), shapes_.size(),
                        [&](const abbreviation& shape) { return shape.code < code; });
    return at < shapes_.size() && shapes_[at].code == code ? &shapes_[at] : nullptr;
}

// Steps from entry to entry in the order of the bytes. An empty entry, which ends a list of
// children, is passed with a null shape.
class entry_walker {
public:
    entry_walker(const detail::dwarf_sections& sections, const detail::dwarf_unit& unit,
                 const abbreviation_table& table, std::uint64_t offset) noexcept
        : format_(unit.format), table_(table), in_(sections.info.part(0, unit.end), offset) {}

    bool next() noexcept;

    std::uint64_t offset() const noexcept { return offset_; }
    const abbreviation* shape() const noexcept { return shape_; }
    // 0 for the first entry, 1 for its children. The empty entry after children has their depth.
    std::int64_t depth() const noexcept { return depth_; }

    // The entry's values one after the other; the name of the attribute and what it is.
    bool next_value(std::uint16_t& name, detail::dwarf_value& value) noexcept;

private:
    const detail::dwarf_format format_;
    const abbreviation_table& table_;
    detail::byte_cursor in_;
    const abbreviation* shape_ = nullptr;
    std::size_t values_read_ = 0;
    std::uint64_t offset_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t next_depth_ = 0;
};

ALLOCSCOPE_NOINLINE bool entry_walker::next_value(std::uint16_t& name,
                                                  detail::dwarf_value& value) noexcept {
    if (values_read_ == shape_->attribute_count) return false;
    const detail::dwarf_attribute& attribute = table_.attributes(*shape_)[values_read_++];
    name = attribute.name;
    value = detail::read_dwarf_value(in_, attribute.form, format_, attribute.implicit_value);
    return in_.ok();
}

ALLOCSCOPE_NOINLINE bool entry_walker::next() noexcept {
    if (shape_ != nullptr) {
        if (values_read_ == 0 && shape_->is_fixed) {
            in_.skip(shape_->fixed_bytes);
        } else {
            std::uint16_t name = 0;
            detail::dwarf_value value;
            while (next_value(name, value)) {
            }
        }
        if (shape_->has_children) ++next_depth_;
    }
    shape_ = nullptr;
    values_read_ = 0;
    if (in_.at_end()) return false;
    offset_ = in_.at();
    const std::uint64_t code = in_.uleb();
    depth_ = next_depth_;
    if (code == 0) {
        --next_depth_;
        return in_.ok();
    }
    shape_ = table_.find(code);
    return in_.ok() && shape_ != nullptr;
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

// elf_image.hpp - the header of an ELF file and its table of sections.

#ifndef ALLOCSCOPE_BINARY_ELF_IMAGE_HPP
#define ALLOCSCOPE_BINARY_ELF_IMAGE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t elf_header_bytes = 64;
constexpr std::size_t elf_section_bytes = 64;

constexpr std::uint32_t elf_section_notes = 7;     // SHT_NOTE
constexpr std::uint32_t elf_section_no_bytes = 8;  // SHT_NOBITS
constexpr std::uint64_t elf_section_executable = 4;
constexpr std::uint64_t elf_section_compressed = 0x800;

struct elf_header {
    bool is_valid = false;
    std::uint16_t type = 0;
    std::uint64_t sections_offset = 0;
    std::uint16_t section_bytes = 0;
    // 0 and 0xffff mean: the true number is in section 0 (its size and its link).
    std::uint64_t section_count = 0;
    std::uint64_t names_section = 0;
};

struct elf_section {
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint64_t entry_bytes = 0;
};

inline elf_header read_elf_header(byte_view bytes) noexcept {
    elf_header header;
    byte_cursor in{bytes};
    const std::uint32_t magic = in.u32();
    const std::uint8_t word_class = in.u8();
    const std::uint8_t byte_order = in.u8();
    if (magic != 0x464c457fU || word_class != 2 || byte_order != 1) return header;
    in.seek(16);
    header.type = in.u16();
    in.skip(2 + 4 + 8);  // machine, version, entry
    in.skip(8);          // where the segments are
    header.sections_offset = in.u64();
    in.skip(4 + 2);  // flags, size of this header
    in.skip(2 + 2);  // segments
    header.section_bytes = in.u16();
    header.section_count = in.u16();
    header.names_section = in.u16();
    header.is_valid = in.ok() && header.section_bytes >= elf_section_bytes;
    return header;
}

// Reads entry `index` of a section table with entries `stride` bytes apart; all zero when outside.
inline elf_section read_elf_section(byte_view table, std::uint64_t index,
                                    std::uint16_t stride) noexcept {
    elf_section section;
    if (stride < elf_section_bytes || index >= table.size / stride) return section;
    byte_cursor in{table, index * stride};
    section.name = in.u32();
    section.type = in.u32();
    section.flags = in.u64();
    section.address = in.u64();
    section.offset = in.u64();
    section.size = in.u64();
    section.link = in.u32();
    in.skip(4 + 8);  // info, alignment
    section.entry_bytes = in.u64();
    return section;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_BINARY_ELF_IMAGE_HPP

// object_bytes.hpp - the bytes of one ELF file: its sections, each read when it is asked for.

#ifndef ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
#define ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct named_section {
    const char* name;
    detail::elf_section section;
};

class object_bytes {
public:
    // Everything is read from `file`, which must stay.
    object_bytes(arena& memory, detail::byte_view file)
        : memory_(file), file_bytes_(file.size), sections_(memory) {
        read_tables(memory);
    }

    // The path must stay.
    object_bytes(arena& memory, const char* path) : path_(path), sections_(memory) {
        {
            const detail::file_reader file{path};
            if (!file.is_open() || file.identity().size_bytes > largest_file) return;
            identity_ = file.identity();
        }
        file_bytes_ = identity_.size_bytes;
        read_tables(memory);
    }

    bool is_readable() const { return header_.is_valid; }
    const detail::build_id& id() const { return id_; }
    const detail::file_identity& identity() const { return identity_; }
    const list<named_section>& sections() const { return sections_; }
    // As linked; 0 when there is no code.
    std::uint64_t lowest_code() const { return lowest_code_; }

    const detail::elf_section* find(const char* name) const {
        for (const named_section& candidate : sections_) {
            if (text{name} == candidate.name) return &candidate.section;
        }
        return nullptr;
    }

    // Compressed sections are not read: their names are then simply not known.
    detail::byte_view read(arena& memory, const detail::elf_section* section) const {
        if (section == nullptr || section->type == detail::elf_section_no_bytes ||
            (section->flags & detail::elf_section_compressed) != 0) {
            return {};
        }
        return read(memory, section->offset, section->size);
    }

private:
    static constexpr std::uint64_t largest_file = std::uint64_t{2} << 30;
    static constexpr std::uint64_t largest_read = std::uint64_t{1} << 30;

    // Nothing when the process may not have that much memory: less is known then.
    detail::byte_view read(arena& memory, std::uint64_t offset, std::uint64_t size) const {
        if (size == 0 || size > largest_read || offset > file_bytes_ ||
            size > file_bytes_ - offset) {
            return {};
        }
        if (path_ == nullptr) return memory_.part(offset, size);
        void* bytes = nullptr;
        if (!is_done_with_memory([&] { bytes = memory.allocate(size); })) return {};
        const detail::file_reader file{path_};
        if (!file.is_open() || !file.identity().equals(identity_)) return {};
        if (file.read_at(offset, bytes, size) != size) return {};
        return {static_cast<const std::uint8_t*>(bytes), size};
    }

    void read_tables(arena& memory) {
        header_ = detail::read_elf_header(read(memory, 0, detail::elf_header_bytes));
        if (!header_.is_valid) return;
        const detail::elf_section zero = detail::read_elf_section(
            read(memory, header_.sections_offset, detail::elf_section_bytes), 0,
            detail::elf_section_bytes);
        std::uint64_t count = header_.section_count == 0 ? zero.size : header_.section_count;
        if (count > file_bytes_ / header_.section_bytes) return;
        const detail::byte_view table =
            read(memory, header_.sections_offset, count * header_.section_bytes);
        count = table.size / header_.section_bytes;
        const std::uint64_t names_section =
            header_.names_section == 0xffff ? zero.link : header_.names_section;
        const detail::elf_section names =
            detail::read_elf_section(table, names_section, header_.section_bytes);
        const detail::byte_view texts = read(memory, &names);
        sections_.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const detail::elf_section section =
                detail::read_elf_section(table, i, header_.section_bytes);
            sections_.push_back(named_section{detail::text_at(texts, section.name), section});
        }
        find_lowest_code();
        find_id(memory);
    }

    // What the linker threw away keeps its debug information, at addresses below all code.
    void find_lowest_code() {
        bool is_first = true;
        for (const named_section& candidate : sections_) {
            const detail::elf_section& section = candidate.section;
            if ((section.flags & detail::elf_section_executable) == 0 || section.size == 0)
                continue;
            if (is_first || section.address < lowest_code_) lowest_code_ = section.address;
            is_first = false;
        }
    }

    void find_id(arena& memory) {
        for (const named_section& candidate : sections_) {
            if (candidate.section.type != detail::elf_section_notes) continue;
            if (candidate.section.size > largest_note) continue;
            id_ = detail::find_build_id(read(memory, &candidate.section));
            if (id_.known()) return;
        }
    }

    static constexpr std::uint64_t largest_note = 1 << 20;

    const char* path_ = nullptr;  // null: memory_ is the file
    detail::byte_view memory_;
    std::uint64_t file_bytes_ = 0;
    detail::file_identity identity_;
    detail::elf_header header_;
    detail::build_id id_;
    std::uint64_t lowest_code_ = 0;
    list<named_section> sections_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

// debug_units.hpp - which unit of the debug information describes an address.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// A namespace, class or function that encloses other entries.
struct entry_scope {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t parent = 0;  // its number + 1; 0: the unit itself
};

struct debug_unit {
    detail::dwarf_unit header;
    const char* directory = "";
    bool has_lines = false;
    std::uint64_t lines = 0;  // offset of its line program
    // Filled by debug_units::load().
    bool is_loaded = false;
    abbreviation_table abbreviations;
    address_ranges functions;  // value: the offset of the entry
    list<entry_scope> scopes;
};

class debug_units {
public:
    // Everything that is read of the object lives in `memory`.
    debug_units(arena& memory, const object_bytes& object);

    const detail::dwarf_sections& sections() const noexcept { return sections_; }
    arena& memory() const noexcept { return memory_; }

    // The unit that covers an address as linked; null: none.
    debug_unit* unit_at(std::uint64_t address) {
        const address_range* range = by_address_.find(address);
        return range == nullptr ? nullptr : load(units_[range->value]);
    }

    // The unit whose bytes hold this offset of .debug_info; null: none.
    debug_unit* unit_of_entry(std::uint64_t offset);

    // True for what the linker threw away: it stays described, at addresses below all code.
    bool is_discarded(std::uint64_t low) const noexcept { return low < lowest_code_; }

    // Steps for one pass over things that an honest file does not describe twice.
    std::uint64_t fresh_budget() const noexcept {
        return 65536 + std::uint64_t{sections_.info.size} / 4 + sections_.ranges.size / 8 +
               sections_.range_lists.size / 2;
    }

    // Adds every piece of the extent that is still there.
    void add_extent(address_ranges& to, const detail::dwarf_unit& unit,
                    const detail::dwarf_extent& extent, std::uint64_t value,
                    step_budget& budget) const;

private:
    // Of all sections together. Larger files are named by their symbols.
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

    void read_sections(const object_bytes& object);
    void read_first_entry(debug_unit& unit, arena& scratch, step_budget& budget,
                          step_budget& abbreviation_budget);
    debug_unit* load(debug_unit& unit);
    void read_entries(debug_unit& unit);
    void read_function(debug_unit& unit, entry_walker& walker, step_budget& budget);

    static bool opens_scope(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_namespace || tag == detail::dwarf::tag_class_type ||
               tag == detail::dwarf::tag_structure_type || tag == detail::dwarf::tag_union_type ||
               tag == detail::dwarf::tag_subprogram;
    }

    arena& memory_;
    detail::dwarf_sections sections_;
    std::uint64_t lowest_code_;
    list<debug_unit> units_;
    address_ranges by_address_;
};

ALLOCSCOPE_NOINLINE void debug_units::read_sections(const object_bytes& object) {
    const struct {
        const char* name;
        detail::byte_view& bytes;
    } wanted[] = {{".debug_info", sections_.info},
                  {".debug_abbrev", sections_.abbreviations},
                  {".debug_str", sections_.strings},
                  {".debug_line", sections_.lines},
                  {".debug_line_str", sections_.line_strings},
                  {".debug_ranges", sections_.ranges},
                  {".debug_rnglists", sections_.range_lists},
                  {".debug_addr", sections_.addresses},
                  {".debug_str_offsets", sections_.string_offsets}};
    std::uint64_t total = 0;
    for (const auto& each : wanted) {
        const detail::elf_section* section = object.find(each.name);
        if (section == nullptr || section->size > most_bytes - total) continue;
        each.bytes = object.read(memory_, section);
        total += each.bytes.size;
    }
}

ALLOCSCOPE_NOINLINE debug_units::debug_units(arena& memory, const object_bytes& object)
    : memory_(memory), lowest_code_(object.lowest_code()), units_(memory), by_address_(memory) {
    read_sections(object);
    arena scratch;
    step_budget budget{fresh_budget()};
    step_budget abbreviation_budget{65536 + std::uint64_t{4} * sections_.abbreviations.size};
    std::uint64_t offset = 0;
    while (offset < sections_.info.size) {
        debug_unit unit;
        if (!detail::read_dwarf_unit(sections_.info, offset, unit.header)) break;
        offset = unit.header.end;
        if (unit.header.first_entry < unit.header.end) {
            read_first_entry(unit, scratch, budget, abbreviation_budget);
            units_.push_back(unit);
        }
    }
    by_address_.finish();
}

ALLOCSCOPE_NOINLINE debug_unit* debug_units::unit_of_entry(std::uint64_t offset) {
    const std::size_t at =
        partition_point(units_.data(), units_.size(),
                        [&](const debug_unit& unit) { return unit.header.end <= offset; });
    if (at == units_.size() || offset < units_[at].header.first_entry) return nullptr;
    return load(units_[at]);
}

ALLOCSCOPE_NOINLINE void debug_units::add_extent(address_ranges& to, const detail::dwarf_unit& unit,
                                                 const detail::dwarf_extent& extent,
                                                 std::uint64_t value, step_budget& budget) const {
    detail::visit_dwarf_extent(sections_, unit, extent, [&](std::uint64_t low, std::uint64_t high) {
        if (!is_discarded(low)) to.add(low, high, value);
        return budget.take();
    });
}

ALLOCSCOPE_NOINLINE void debug_units::read_first_entry(debug_unit& unit, arena& scratch,
                                                       step_budget& budget,
                                                       step_budget& abbreviation_budget) {
    detail::dwarf_unit& header = unit.header;
    const borrowed_memory meanwhile{scratch};
    detail::byte_cursor in{sections_.info.part(0, header.end), header.first_entry};
    const std::uint64_t code = in.uleb();
    if (code == 0) return;
    const abbreviation_table table{scratch, sections_.abbreviations, header, code,
                                   &abbreviation_budget};
    entry_walker walker{sections_, header, table, header.first_entry};
    if (!walker.next() || walker.shape() == nullptr) return;
    detail::dwarf_extent extent;
    detail::dwarf_value directory;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) {
        extent.take(name, value);
        switch (name) {
            case detail::dwarf::at_comp_dir:
                directory = value;
                break;
            case detail::dwarf::at_stmt_list:
                unit.has_lines = true;
                unit.lines = value.number;
                break;
            case detail::dwarf::at_str_offsets_base:
                header.string_offsets_base = value.number;
                break;
            case detail::dwarf::at_addr_base:
            case detail::dwarf::at_gnu_addr_base:
                header.addresses_base = value.number;
                break;
            case detail::dwarf::at_rnglists_base:
                header.range_lists_base = value.number;
                break;
            default:
                break;
        }
    }
    unit.directory = detail::dwarf_text(sections_, header, directory);
    std::uint64_t low = 0;
    if (detail::dwarf_address(sections_, header, extent.low, low)) header.low_address = low;
    add_extent(by_address_, header, extent, units_.size(), budget);
}

ALLOCSCOPE_NOINLINE debug_unit* debug_units::load(debug_unit& unit) {
    if (unit.is_loaded) return &unit;
    unit.is_loaded = true;
    unit.abbreviations = abbreviation_table{memory_, sections_.abbreviations, unit.header};
    unit.functions = address_ranges{memory_};
    unit.scopes = list<entry_scope>{memory_};
    read_entries(unit);
    unit.functions.finish();
    return &unit;
}

ALLOCSCOPE_NOINLINE void debug_units::read_entries(debug_unit& unit) {
    struct open_scope {
        std::int64_t depth;
        std::size_t number;
    };
    arena scratch;
    list<open_scope> open{scratch};
    step_budget budget{fresh_budget()};
    entry_walker walker{sections_, unit.header, unit.abbreviations, unit.header.first_entry};
    while (walker.next()) {
        const abbreviation* shape = walker.shape();
        if (shape == nullptr) {
            if (!open.empty() && open.back().depth + 1 == walker.depth()) {
                unit.scopes[open.back().number].end = walker.offset();
                open.pop_back();
            }
            continue;
        }
        if (shape->tag == detail::dwarf::tag_subprogram && shape->has_code) {
            read_function(unit, walker, budget);
        }
        if (shape->has_children && opens_scope(shape->tag)) {
            const std::size_t parent = open.empty() ? 0 : open.back().number + 1;
            open.push_back(open_scope{walker.depth(), unit.scopes.size()});
            unit.scopes.push_back(entry_scope{walker.offset(), unit.header.end, parent});
        }
    }
}

ALLOCSCOPE_NOINLINE void debug_units::read_function(debug_unit& unit, entry_walker& walker,
                                                    step_budget& budget) {
    detail::dwarf_extent extent;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) extent.take(name, value);
    add_extent(unit.functions, unit.header, extent, walker.offset(), budget);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

// demangle.hpp - linker names as the programmer wrote them.

#ifndef ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
#define ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t longest_mangled_name = 4096;
constexpr int most_back_references = 14;

// Counts "S_", "S1_", "T0_" and the like, also those that only look so inside an identifier.
inline bool is_demanglable(text name) noexcept {
    if (name.size() > longest_mangled_name || !name.starts_with("_Z")) return false;
    int references = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != 'S' && name[i] != 'T') continue;
        std::size_t end = i + 1;
        while (end < name.size() &&
               ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z'))) {
            ++end;
        }
        if (end < name.size() && name[end] == '_') ++references;
    }
    return references <= most_back_references;
}

// A zero-ended text in `memory`.
inline text demangled(arena& memory, const char* linkage_name) {
    struct readable_name {
        char* characters = nullptr;
        ~readable_name() { std::free(characters); }
    } readable;
    if (is_demanglable(linkage_name)) {
        int status = 0;
        constexpr int no_memory = -1;
        readable.characters = abi::__cxa_demangle(linkage_name, nullptr, nullptr, &status);
        if (status == no_memory) refuse_memory();
    }
    return copy_of(memory, readable.characters != nullptr ? readable.characters : linkage_name);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// text_out.hpp - a text that is written to, piece by piece.

#ifndef ALLOCSCOPE_PLAIN_TEXT_OUT_HPP
#define ALLOCSCOPE_PLAIN_TEXT_OUT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace plain {

class text_out {
public:
    ALLOCSCOPE_FAST_PATH explicit text_out(arena& memory) noexcept : memory_(&memory) {}
    text_out(const text_out&) = delete;
    text_out& operator=(const text_out&) = delete;

    ALLOCSCOPE_FAST_PATH std::size_t size() const noexcept { return size_; }
    ALLOCSCOPE_FAST_PATH bool empty() const noexcept { return size_ == 0; }
    ALLOCSCOPE_FAST_PATH char back() const noexcept { return data_[size_ - 1]; }

    // What was written so far; good until the next character is.
    ALLOCSCOPE_FAST_PATH text view() const noexcept {
        return size_ != 0 ? text{data_, size_} : text{};
    }

    // The same with a zero byte behind it.
    const char* c_str();

    // Forgets what stands behind the first `size` characters.
    ALLOCSCOPE_FAST_PATH void cut(std::size_t size) noexcept { size_ = size; }

    ALLOCSCOPE_FAST_PATH arena& memory() const noexcept { return *memory_; }

    text_out& operator<<(text added);
    text_out& operator<<(char added);
    ALLOCSCOPE_FAST_PATH text_out& operator<<(const char* added) { return *this << text{added}; }

    void fill(std::size_t count, char with);

private:
    void grow(std::size_t room);

    arena* memory_;
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

struct decimal {
    std::uint64_t value;
};
struct hexadecimal {  // lower case, without a prefix
    std::uint64_t value;
};

ALLOCSCOPE_NOINLINE void write_digits(text_out& out, std::uint64_t value, unsigned base) {
    char digits[20];
    std::size_t begin = sizeof digits;
    do {
        digits[--begin] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    out << text{digits + begin, sizeof digits - begin};
}

inline text_out& operator<<(text_out& out, decimal number) {
    write_digits(out, number.value, 10);
    return out;
}
inline text_out& operator<<(text_out& out, hexadecimal number) {
    write_digits(out, number.value, 16);
    return out;
}

ALLOCSCOPE_NOINLINE void text_out::grow(std::size_t room) {
    std::size_t wanted = room_ < 64 ? 64 : room_ * 2;
    if (wanted < room) wanted = room;
    if (!memory_->extend(data_, room_, wanted)) {
        auto* larger = static_cast<char*>(memory_->allocate(wanted));
        if (size_ != 0) std::memcpy(larger, data_, size_);
        data_ = larger;
    }
    room_ = wanted;
}

ALLOCSCOPE_NOINLINE text_out& text_out::operator<<(text added) {
    if (added.size() > room_ - size_) grow(size_ + added.size());
    if (!added.empty()) std::memcpy(data_ + size_, added.data(), added.size());
    size_ += added.size();
    return *this;
}

ALLOCSCOPE_NOINLINE text_out& text_out::operator<<(char added) {
    if (size_ == room_) grow(size_ + 1);
    data_[size_++] = added;
    return *this;
}

ALLOCSCOPE_NOINLINE void text_out::fill(std::size_t count, char with) {
    if (count > room_ - size_) grow(size_ + count);
    if (count != 0) std::memset(data_ + size_, with, count);
    size_ += count;
}

ALLOCSCOPE_NOINLINE const char* text_out::c_str() {
    if (size_ == room_) grow(size_ + 1);
    data_[size_] = '\0';
    return data_;
}

// With everything that a terminal could obey or hide escaped; valid UTF-8. Of null: nothing.
ALLOCSCOPE_NOINLINE void write_printable(text_out& out, const char* shown) {
    while (shown != nullptr && *shown != '\0') {
        const std::size_t length = detail::printable_length(shown);
        if (length != 0) {
            out << text{shown, length};
            shown += length;
        } else {
            char escaped[detail::escaped_byte_length];
            detail::write_escaped_byte(*shown++, escaped);
            out << text{escaped, sizeof escaped};
        }
    }
}

}  // namespace plain

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_OUT_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <climits>

// kept_texts.hpp - the texts of all resolved addresses, equal ones once.

#ifndef ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP
#define ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class kept_texts {
public:
    explicit kept_texts(arena& kept) noexcept : kept_(kept), texts_(kept) {}

    // A zero-ended copy that lives as long as the arena.
    text keep(text wanted) {
        if (const text* known = texts_.find(wanted)) return *known;
        const text kept = copy_of(kept_, wanted);
        texts_[kept] = kept;
        return kept;
    }

    arena& memory() const noexcept { return kept_; }

    // To be borrowed by those who put a text together before it is kept.
    arena& scratch() noexcept { return scratch_; }

private:
    arena& kept_;
    arena scratch_;
    table<text, text> texts_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP

// entry_names.hpp - the name of the function that an entry of the debug information describes.

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct entry_name {
    text function;  // demangled or put together; "" unknown
    text linkage;   // "" when the debug information has none
    // Where it is declared: a file's number and the line, of the unit's line program.
    std::uint64_t file = 0;
    std::uint64_t line = 0;  // 0: not known
    std::uint64_t unit = 0;  // an offset inside it
};

class entry_names {
public:
    entry_names(debug_units& units, kept_texts& texts)
        : units_(units), texts_(texts), names_(units.memory()) {}

    entry_name of(std::uint64_t entry) { return of(entry, 0); }

private:
    static constexpr int most_links = 16;
    static constexpr std::size_t most_scopes = 64;
    static constexpr int most_nested_functions = 8;
    static constexpr std::size_t longest_name = 65536;

    struct facts {
        const char* name = "";
        const char* linkage = "";
        std::uint64_t next = 0;  // the entry that says more
        std::uint64_t file = 0;
        std::uint64_t line = 0;
        std::uint16_t tag = 0;
    };

    facts read_facts(const debug_unit& unit, std::uint64_t entry) const {
        facts found;
        entry_walker walker{units_.sections(), unit.header, unit.abbreviations, entry};
        if (!walker.next() || walker.shape() == nullptr) return found;
        found.tag = walker.shape()->tag;
        std::uint16_t name = 0;
        detail::dwarf_value value;
        while (walker.next_value(name, value)) {
            switch (name) {
                case detail::dwarf::at_name:
                    found.name = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_linkage_name:
                case detail::dwarf::at_mips_linkage_name:
                    found.linkage = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_decl_file:
                    found.file = value.number;
                    break;
                case detail::dwarf::at_decl_line:
                    found.line = value.number;
                    break;
                case detail::dwarf::at_abstract_origin:
                case detail::dwarf::at_specification:
                    found.next = detail::dwarf_reference(unit.header, value);
                    break;
                default:
                    break;
            }
        }
        return found;
    }

    entry_name of(std::uint64_t entry, int nesting) {
        if (const entry_name* known = names_.find(entry)) return *known;
        const borrowed_memory meanwhile{texts_.scratch()};
        const entry_name name = read(entry, nesting);
        names_[entry] = name;
        return name;
    }

    entry_name read(std::uint64_t entry, int nesting) {
        entry_name answer;
        text plain;
        const debug_unit* home = nullptr;
        std::uint64_t last = entry;
        for (int links = 0; links < most_links && entry != 0; ++links) {
            const debug_unit* unit = units_.unit_of_entry(entry);
            if (unit == nullptr) break;
            const facts found = read_facts(*unit, entry);
            if (answer.line == 0 && found.line != 0) {
                answer.file = found.file;
                answer.line = found.line;
                answer.unit = entry;
            }
            if (*found.linkage != '\0') {
                answer.linkage = texts_.keep(found.linkage);
                answer.function = texts_.keep(demangled(texts_.scratch(), found.linkage));
                if (answer.function != answer.linkage) return answer;
            }
            if (*found.name != '\0') plain = found.name;
            home = unit;
            last = entry;
            entry = found.next;
        }
        if (plain.empty()) return answer;
        text_out function{texts_.scratch()};
        write_scope(function, *home, last, plain, nesting);
        function << plain;
        answer.function = texts_.keep(function.view());
        return answer;
    }

    // The enclosing names, each followed by "::".
    void write_scope(text_out& out, const debug_unit& unit, std::uint64_t entry, text plain,
                     int nesting) {
        text scopes[most_scopes];  // the innermost first
        std::size_t count = 0;
        std::size_t bytes = 0;
        std::size_t number = enclosing(unit, entry);
        while (count < most_scopes && number != 0 && bytes <= longest_name) {
            const entry_scope& outer = unit.scopes[number - 1];
            number = outer.parent;
            const facts found = read_facts(unit, outer.begin);
            text name = found.name;
            if (found.tag == detail::dwarf::tag_subprogram) {
                number = 0;
                if (nesting < most_nested_functions) name = of(outer.begin, nesting + 1).function;
                if (nesting >= most_nested_functions || name.empty()) break;
            } else if (name.empty()) {
                name = found.tag == detail::dwarf::tag_namespace ? "(anonymous namespace)"
                       : plain == "operator()"                   ? "{lambda}"
                                                                 : "{unnamed type}";
            }
            scopes[count++] = name;
            bytes += name.size();
        }
        while (count != 0) out << scopes[--count] << "::";
    }

    // The number + 1 of the innermost scope around an entry; 0: none.
    static std::size_t enclosing(const debug_unit& unit, std::uint64_t entry) {
        std::size_t number =
            partition_point(unit.scopes.data(), unit.scopes.size(),
                            [&](const entry_scope& scope) { return scope.begin < entry; });
        while (number != 0 && unit.scopes[number - 1].end <= entry) {
            number = unit.scopes[number - 1].parent;
        }
        return number;
    }

    debug_units& units_;
    kept_texts& texts_;
    table<std::uint64_t, entry_name> names_;  // by the offset of the entry
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

// inline_lookup.hpp - the calls that were inlined at an address, innermost first.

#ifndef ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

struct inlined_call {
    std::uint64_t entry = 0;  // the function that was inlined
    std::uint64_t call_file = 0;
    std::uint64_t call_line = 0;
    std::uint64_t call_column = 0;
    std::size_t parent = 0;  // the number of the call around it + 1; 0: the function itself
};

// All inlined calls of one function.
class inlined_calls {
public:
    // `function` is the offset of its entry.
    inlined_calls(const debug_units& units, const debug_unit& unit, std::uint64_t function);

    // The number + 1 of the innermost call at an address; 0: none. Its `parent` leads outwards.
    std::size_t innermost_at(std::uint64_t address) const noexcept;

    const inlined_call& operator[](std::size_t number) const noexcept { return calls_[number]; }

private:
    struct open_call {
        std::int64_t depth;
        std::size_t number;
    };

    void read(const debug_units& units, const debug_unit& unit, entry_walker& walker,
              list<open_call>& open);
    void add(const debug_units& units, const debug_unit& unit, entry_walker& walker,
             std::size_t parent, step_budget& budget);

    list<inlined_call> calls_;
    address_ranges pieces_;  // value: the call's number
};

ALLOCSCOPE_NOINLINE inlined_calls::inlined_calls(const debug_units& units, const debug_unit& unit,
                                                 std::uint64_t function)
    : calls_(units.memory()), pieces_(units.memory()) {
    arena scratch;
    list<open_call> open{scratch};
    entry_walker walker{units.sections(), unit.header, unit.abbreviations, function};
    if (walker.next() && walker.shape() != nullptr && walker.shape()->has_children) {
        read(units, unit, walker, open);
    }
    pieces_.finish();
}

ALLOCSCOPE_NOINLINE void inlined_calls::read(const debug_units& units, const debug_unit& unit,
                                             entry_walker& walker, list<open_call>& open) {
    step_budget budget{units.fresh_budget()};
    std::int64_t skipped_below = 0;  // 0: nothing is skipped
    while (walker.next() && walker.depth() > 0) {
        const abbreviation* shape = walker.shape();
        if (shape == nullptr) {
            const std::int64_t closed = walker.depth() - 1;
            if (closed <= 0) return;
            if (skipped_below == closed) skipped_below = 0;
            while (!open.empty() && open.back().depth >= closed) open.pop_back();
            continue;
        }
        if (skipped_below != 0) continue;
        if (shape->tag == detail::dwarf::tag_inlined_subroutine) {
            const std::size_t parent = open.empty() ? 0 : open.back().number;
            add(units, unit, walker, parent, budget);
            if (shape->has_children) open.push_back(open_call{walker.depth(), calls_.size()});
        } else if (shape->tag != detail::dwarf::tag_lexical_block && shape->has_children) {
            skipped_below = walker.depth();
        }
    }
}

ALLOCSCOPE_NOINLINE void inlined_calls::add(const debug_units& units, const debug_unit& unit,
                                            entry_walker& walker, std::size_t parent,
                                            step_budget& budget) {
    inlined_call call;
    call.entry = walker.offset();
    call.parent = parent;
    detail::dwarf_extent extent;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) {
        extent.take(name, value);
        if (name == detail::dwarf::at_call_file) call.call_file = value.number;
        if (name == detail::dwarf::at_call_line) call.call_line = value.number;
        if (name == detail::dwarf::at_call_column) call.call_column = value.number;
        if (name == detail::dwarf::at_abstract_origin) {
            const std::uint64_t origin = detail::dwarf_reference(unit.header, value);
            if (origin != 0) call.entry = origin;
        }
    }
    units.add_extent(pieces_, unit.header, extent, calls_.size(), budget);
    calls_.push_back(call);
}

// A call counts only when all calls around it hold the address too.
ALLOCSCOPE_NOINLINE std::size_t inlined_calls::innermost_at(std::uint64_t address) const noexcept {
    constexpr std::size_t most_calls = 256;
    struct {
        std::size_t number;  // of the call + 1
        std::uint64_t width;
    } found[most_calls];
    std::size_t count = 0;
    address_ranges::walk at = pieces_.walk_to(address);
    while (const address_range* piece = pieces_.next(at)) {
        const std::size_t number = piece->value + 1;
        std::size_t place = count;  // sorted by number: outer calls stand before inner ones
        while (place > 0 && found[place - 1].number > number) --place;
        if (place > 0 && found[place - 1].number == number) {
            if (piece->width() < found[place - 1].width) found[place - 1].width = piece->width();
            continue;
        }
        if (count == most_calls) break;
        for (std::size_t i = count++; i > place; --i) found[i] = found[i - 1];
        found[place] = {number, piece->width()};
    }
    std::size_t entered = 0;  // moved to the front
    std::size_t best = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t parent = calls_[found[i].number - 1].parent;
        std::size_t outer = entered;
        while (outer > 0 && found[outer - 1].number != parent) --outer;
        if (parent != 0 && outer == 0) continue;
        found[entered] = found[i];
        if (found[entered].width <= found[best].width) best = entered;
        ++entered;
    }
    return entered == 0 ? 0 : found[best].number;
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

// dwarf_lines.hpp - one line number program: its directories and files, and the rows it produces.

#ifndef ALLOCSCOPE_BINARY_DWARF_LINES_HPP
#define ALLOCSCOPE_BINARY_DWARF_LINES_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

struct dwarf_line_header {
    dwarf_format format;
    std::uint64_t tables = 0;      // where directories and files are described
    std::uint64_t operations = 0;  // where the program begins
    std::uint64_t end = 0;
    std::uint8_t least_instruction_bytes = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1;
    std::uint8_t first_special = 10;
    std::uint8_t operand_counts[256] = {};
};

struct dwarf_line_row {
    std::uint64_t address = 0;
    std::uint32_t file = 1;
    std::uint32_t line = 1;
    std::uint32_t column = 0;
    bool ends_sequence = false;
};

ALLOCSCOPE_NOINLINE bool read_dwarf_line_header(byte_view section, std::uint64_t offset,
                                                dwarf_line_header& header) noexcept {
    header = dwarf_line_header{};
    byte_cursor in{section, offset};
    std::uint64_t length = in.u32();
    if (length == 0xffffffffU) {
        length = in.u64();
        header.format.offset_bytes = 8;
    }
    if (!in.ok() || length > in.remaining()) return false;
    header.end = in.at() + length;
    header.format.version = in.u16();
    if (header.format.version < 2 || header.format.version > 5) return false;
    if (header.format.version >= 5) {
        header.format.address_bytes = in.u8();
        in.skip(1);  // segment selectors
    }
    const std::uint64_t header_bytes = in.unsigned_of(header.format.offset_bytes);
    if (!in.ok() || header_bytes > in.remaining()) return false;
    header.operations = in.at() + header_bytes;
    header.least_instruction_bytes = in.u8();
    if (header.format.version >= 4) in.skip(1);  // operations per VLIW instruction
    in.skip(1);                                  // is_stmt at the start
    header.line_base = static_cast<std::int8_t>(in.u8());
    header.line_range = in.u8();
    header.first_special = in.u8();
    for (unsigned code = 1; code < header.first_special; ++code) {
        header.operand_counts[code] = in.u8();
    }
    header.tables = in.at();
    return in.ok() && header.line_range != 0 && header.operations <= header.end;
}

namespace dwarf_line_tables {

// DWARF 2 to 4: directories until an empty text, then files until an empty one. They begin at 1.
template <class Visitor>
inline void visit_old(byte_cursor& in, Visitor& visit) {
    visit.directory(nullptr);  // number 0 is the compilation directory
    for (;;) {
        const char* name = in.text();
        if (!in.ok() || *name == '\0') break;
        visit.directory(name);
    }
    visit.file(nullptr, 0);
    while (in.ok()) {
        const char* name = in.text();
        if (!in.ok() || *name == '\0') break;
        const std::uint64_t directory = in.uleb();
        in.uleb();  // time
        in.uleb();  // size
        visit.file(name, directory);
    }
}

// DWARF 5: each table says first which forms its entries are made of.
template <class Report>
inline void visit_new(byte_cursor& in, const dwarf_sections& sections, const dwarf_unit& unit,
                      const dwarf_format& format, Report&& report) {
    constexpr unsigned most_fields = 16;
    std::uint16_t contents[most_fields] = {};
    std::uint16_t forms[most_fields] = {};
    const unsigned field_count = in.u8();
    if (field_count > most_fields) return in.fail();
    for (unsigned i = 0; i < field_count; ++i) {
        contents[i] = static_cast<std::uint16_t>(in.uleb() & 0xffff);
        forms[i] = static_cast<std::uint16_t>(in.uleb() & 0xffff);
    }
    const std::uint64_t count = in.uleb();
    for (std::uint64_t entry = 0; entry < count && in.ok(); ++entry) {
        const std::size_t before = in.at();
        const char* path = "";
        std::uint64_t directory = 0;
        for (unsigned i = 0; i < field_count; ++i) {
            const dwarf_value value = read_dwarf_value(in, forms[i], format, 0);
            if (contents[i] == dwarf::line_content_path) path = dwarf_text(sections, unit, value);
            if (contents[i] == dwarf::line_content_directory) directory = value.number;
        }
        if (in.at() == before) return in.fail();  // entries of no bytes would never end
        if (in.ok()) report(path, directory);
    }
}

}  // namespace dwarf_line_tables

// Calls `visit.directory(const char* or null)` for each directory in order, then
// `visit.file(const char* or null, directory number)` for each file. Null: there is no such entry.
template <class Visitor>
inline void visit_dwarf_line_tables(const dwarf_sections& sections, const dwarf_unit& unit,
                                    const dwarf_line_header& header, Visitor&& visit) {
    byte_cursor in{sections.lines.part(0, header.end), header.tables};
    if (header.format.version < 5) {
        dwarf_line_tables::visit_old(in, visit);
        return;
    }
    dwarf_line_tables::visit_new(in, sections, unit, header.format,
                                 [&](const char* path, std::uint64_t) { visit.directory(path); });
    dwarf_line_tables::visit_new(
        in, sections, unit, header.format,
        [&](const char* path, std::uint64_t directory) { visit.file(path, directory); });
}

// Runs the program and calls `visit(const dwarf_line_row&)` for every row. Each operation takes at
// least one byte and makes at most one row, so the work is bounded by the length of the section.
template <class Visitor>
class dwarf_line_machine {
public:
    dwarf_line_machine(byte_view section, const dwarf_line_header& header, Visitor& visit) noexcept
        : header_(header), in_(section.part(0, header.end), header.operations), visit_(visit) {}

    void run() {
        while (!in_.at_end()) {
            const std::uint8_t code = in_.u8();
            if (code >= header_.first_special) {
                special(static_cast<std::uint8_t>(code - header_.first_special));
            } else if (code == 0) {
                extended();
            } else {
                standard(code);
            }
        }
    }

private:
    void emit() {
        if (in_.ok()) visit_(static_cast<const dwarf_line_row&>(row_));
    }
    void advance(std::uint64_t operations) {
        row_.address += operations * header_.least_instruction_bytes;
    }
    void add_lines(std::int64_t lines) {
        row_.line += static_cast<std::uint32_t>(static_cast<std::uint64_t>(lines));
    }

    void special(std::uint8_t code) {
        advance(code / header_.line_range);
        add_lines(header_.line_base + code % header_.line_range);
        emit();
    }

    void extended() {
        const std::uint64_t length = in_.uleb();
        const std::size_t start = in_.at();
        if (length == 0 || length > in_.remaining()) return in_.fail();
        const std::uint8_t code = in_.u8();
        if (code == dwarf::line_end_sequence) {
            row_.ends_sequence = true;
            emit();
            row_ = dwarf_line_row{};
        } else if (code == dwarf::line_set_address && (length == 9 || length == 5)) {
            row_.address = in_.unsigned_of(static_cast<unsigned>(length - 1));
        }
        in_.seek(start + length);
    }

    void standard(std::uint8_t code) {
        switch (code) {
            case dwarf::line_copy:
                emit();
                break;
            case dwarf::line_advance_pc:
                advance(in_.uleb());
                break;
            case dwarf::line_advance_line:
                add_lines(in_.sleb());
                break;
            case dwarf::line_set_file:
                row_.file = static_cast<std::uint32_t>(in_.uleb());
                break;
            case dwarf::line_set_column:
                row_.column = static_cast<std::uint32_t>(in_.uleb());
                break;
            case dwarf::line_const_add_pc:
                advance((255U - header_.first_special) / header_.line_range);
                break;
            case dwarf::line_fixed_advance_pc:
                row_.address += in_.u16();
                break;
            default:
                for (unsigned i = 0; i < header_.operand_counts[code]; ++i) in_.uleb();
                break;
        }
    }

    const dwarf_line_header& header_;
    byte_cursor in_;
    Visitor& visit_;
    dwarf_line_row row_;
};

template <class Visitor>
inline void visit_dwarf_lines(byte_view section, const dwarf_line_header& header, Visitor&& visit) {
    dwarf_line_machine<Visitor> machine{section, header, visit};
    machine.run();
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_DWARF_LINES_HPP

// line_lookup.hpp - file, line and column of an address, from one line number program.

#ifndef ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

class line_table {
public:
    struct row {
        std::uint64_t address;
        std::uint32_t file;
        std::uint32_t line;
        std::uint32_t column;
    };

    line_table() noexcept = default;  // empty for good
    line_table(const debug_units& units, const debug_unit& unit);

    // The last row at or before the address, within its sequence; null: none.
    const row* find(std::uint64_t address) const noexcept;

    // The rows of the sequence that holds the address, in order; nothing when none does.
    struct row_range {
        const row* begin = nullptr;
        const row* end = nullptr;
    };
    row_range sequence_of(std::uint64_t address) const noexcept;

    // The whole path of a file by its number in this program; "" when there is no such number.
    text path_of(std::uint64_t file, kept_texts& texts) const;

private:
    struct span {
        std::size_t first, last;
    };
    struct file_entry {
        const char* name;
        std::uint64_t directory;
        text path;  // "": was not asked for yet
    };
    struct file_collector {
        line_table& table;
        void directory(const char* name) { table.directories_.push_back(name); }
        void file(const char* name, std::uint64_t directory) {
            table.files_.push_back(file_entry{name, directory, {}});
        }
    };

    static text short_text(const char* section_text) noexcept {
        const std::size_t length = ::strnlen(section_text, detail::longest_text);
        return length == detail::longest_text ? text{} : text{section_text, length};
    }

    static void write_folder(text_out& out, text folder) {
        out << folder;
        if (!folder.empty() && folder.back() != '/') out << '/';
    }

    const char* directory_ = "";
    list<const char*> directories_;
    list<file_entry> files_;
    list<row> rows_;
    list<span> spans_;
    address_ranges sequences_;
};

ALLOCSCOPE_NOINLINE line_table::line_table(const debug_units& units, const debug_unit& unit)
    : directory_(unit.directory),
      directories_(units.memory()),
      files_(units.memory()),
      rows_(units.memory()),
      spans_(units.memory()),
      sequences_(units.memory()) {
    detail::dwarf_line_header header;
    const detail::dwarf_sections& sections = units.sections();
    if (!detail::read_dwarf_line_header(sections.lines, unit.lines, header)) return;
    detail::visit_dwarf_line_tables(sections, unit.header, header, file_collector{*this});
    std::size_t first = 0;
    detail::visit_dwarf_lines(sections.lines, header, [&](const detail::dwarf_line_row& next) {
        if (!next.ends_sequence) {
            rows_.push_back(row{next.address, next.file, next.line, next.column});
            return;
        }
        if (first < rows_.size() && !units.is_discarded(rows_[first].address)) {
            sequences_.add(rows_[first].address, next.address, spans_.size());
            spans_.push_back(span{first, rows_.size()});
            first = rows_.size();
        } else {
            rows_.cut(first);
        }
    });
    sequences_.finish();
}

ALLOCSCOPE_NOINLINE line_table::row_range line_table::sequence_of(
    std::uint64_t address) const noexcept {
    const address_range* sequence = sequences_.find(address);
    if (sequence == nullptr) return {};
    const span& rows = spans_[sequence->value];
    return {rows_.data() + rows.first, rows_.data() + rows.last};
}

ALLOCSCOPE_NOINLINE const line_table::row* line_table::find(std::uint64_t address) const noexcept {
    const row_range rows = sequence_of(address);
    const auto count = static_cast<std::size_t>(rows.end - rows.begin);
    const std::size_t behind = partition_point(
        rows.begin, count, [&](const row& each) { return each.address <= address; });
    return behind == 0 ? nullptr : rows.begin + behind - 1;
}

// A relative name lies in its directory, a relative directory in the one that was compiled in.
ALLOCSCOPE_NOINLINE text line_table::path_of(std::uint64_t file, kept_texts& texts) const {
    if (file >= files_.size() || files_[file].name == nullptr) return {};
    file_entry& entry = files_[file];
    if (!entry.path.empty()) return entry.path;
    const text name = short_text(entry.name);
    if (name.empty()) return {};
    text inner;
    if (entry.directory < directories_.size() && directories_[entry.directory] != nullptr) {
        inner = short_text(directories_[entry.directory]);
    }
    const borrowed_memory meanwhile{texts.scratch()};
    text_out path{texts.scratch()};
    if (name.front() != '/') {
        if (!inner.starts_with("/")) write_folder(path, short_text(directory_));
        write_folder(path, inner);
    }
    path << name;
    return entry.path = texts.keep(path.view());
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

// nearby_lines.hpp - the lines of the code around a call, where the call's own line says little.

#ifndef ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP
#define ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class nearby_lines {
public:
    // `calls` and `function` belong to the function around the address.
    nearby_lines(const line_table& lines, kept_texts& texts, const inlined_calls& calls,
                 const address_range& function, std::uint64_t address) noexcept
        : lines_(lines), texts_(texts), calls_(calls), function_(function), address_(address) {}

    // The nearest line of the file, other than `line`, that the inlined call `call` is at (its
    // number + 1; 0: the function itself). 0: there is none.
    std::uint64_t before(std::size_t call, std::uint64_t line, text file) const {
        const line_table::row_range rows = lines_.sequence_of(address_);
        const line_table::row* at = lines_.find(address_);
        for (std::size_t i = 0; at != nullptr && i < most_rows; ++i, --at) {
            if (at->address < function_.low) break;
            const std::uint64_t found = line_at(*at, call, file);
            if (found != 0 && found != line) return found;
            if (at == rows.begin) break;
        }
        return 0;
    }
    std::uint64_t behind(std::size_t call, std::uint64_t line, text file) const {
        const line_table::row_range rows = lines_.sequence_of(address_);
        const line_table::row* at = lines_.find(address_);
        for (std::size_t i = 0; at != nullptr && i < most_rows; ++i) {
            if (++at == rows.end || at->address >= function_.high) break;
            const std::uint64_t found = line_at(*at, call, file);
            if (found != 0 && found != line) return found;
        }
        return 0;
    }

private:
    static constexpr std::size_t most_rows = 256;

    // Where `call` is while the row's code runs: the row's line, or where a call was inlined.
    std::uint64_t line_at(const line_table::row& row, std::size_t call, text file) const {
        std::uint64_t number = row.file;
        std::uint64_t line = row.line;
        for (std::size_t i = calls_.innermost_at(row.address); i != call;) {
            if (i == 0) return 0;  // the code of whoever called it
            const inlined_call& inner = calls_[i - 1];
            number = inner.call_file;
            line = inner.call_line;
            i = inner.parent;
        }
        return lines_.path_of(number, texts_) == file ? line : 0;
    }

    const line_table& lines_;
    kept_texts& texts_;
    const inlined_calls& calls_;
    const address_range& function_;
    std::uint64_t address_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP

// elf_symbols.hpp - the entries of a symbol table (.symtab or .dynsym), one after the other.

#ifndef ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP
#define ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

enum class elf_symbol_kind : std::uint8_t {
    none = 0,
    object = 1,
    function = 2,
    common = 5,
    indirect_function = 10
};
enum class elf_symbol_binding : std::uint8_t { local = 0, global = 1, weak = 2, unique = 10 };

struct elf_symbol {
    std::uint32_t name = 0;  // offset in the table's string section
    elf_symbol_kind kind = elf_symbol_kind::none;
    elf_symbol_binding binding = elf_symbol_binding::local;
    std::uint16_t section = 0;  // 0: not defined here
    std::uint64_t address = 0;  // as linked
    std::uint64_t size = 0;
};

constexpr std::size_t elf_symbol_bytes = 24;

// Calls `visit(const elf_symbol&)` for every entry that names a place in this file.
template <class Visitor>
inline void visit_elf_symbols(byte_view table, Visitor&& visit) {
    byte_cursor in{table};
    while (in.remaining() >= elf_symbol_bytes) {
        elf_symbol symbol;
        symbol.name = in.u32();
        const std::uint8_t info = in.u8();
        in.skip(1);  // visibility
        symbol.section = in.u16();
        symbol.address = in.u64();
        symbol.size = in.u64();
        symbol.kind = static_cast<elf_symbol_kind>(info & 0xf);
        symbol.binding = static_cast<elf_symbol_binding>(info >> 4);
        if (symbol.section != 0 && symbol.name != 0) visit(symbol);
    }
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP

// symbol_lookup.hpp - the function or the object that an address lies in, from the symbol table.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

struct found_symbol {
    const char* name = nullptr;  // mangled; null when there is none; lives as long as the index
    std::uint64_t offset = 0;
};

class symbol_index {
public:
    // Reads .symtab, or .dynsym of a stripped file.
    symbol_index(arena& memory, const object_bytes& object);

    found_symbol function_at(std::uint64_t address) const { return find(functions_, address); }
    found_symbol object_at(std::uint64_t address) const { return find(objects_, address); }

private:
    struct candidate {
        std::uint64_t address;
        std::uint64_t size;
        std::uint64_t section_end;
        std::uint32_t name;
        int rank;

        bool operator<(const candidate& other) const noexcept {
            if (address != other.address) return address < other.address;
            if (rank != other.rank) return rank > other.rank;
            return name < other.name;
        }
    };

    static int rank_of(const detail::elf_symbol& symbol) noexcept {
        int rank = symbol.size != 0 ? 8 : 0;
        if (symbol.kind != detail::elf_symbol_kind::none) rank += 4;
        switch (symbol.binding) {
            case detail::elf_symbol_binding::global:
            case detail::elf_symbol_binding::unique:
                return rank + 2;
            case detail::elf_symbol_binding::weak:
                return rank + 1;
            default:
                return rank;
        }
    }

    void collect(const object_bytes& object, detail::byte_view table);
    static void fill(address_ranges& index, list<candidate>& found);
    found_symbol find(const address_ranges& index, std::uint64_t address) const;

    detail::byte_view names_;
    address_ranges functions_;
    address_ranges objects_;
};

ALLOCSCOPE_NOINLINE symbol_index::symbol_index(arena& memory, const object_bytes& object)
    : functions_(memory), objects_(memory) {
    for (int i = 0; i < 2 && functions_.empty() && objects_.empty(); ++i) {
        const detail::elf_section* section = object.find(i == 0 ? ".symtab" : ".dynsym");
        if (section == nullptr || section->link >= object.sections().size()) continue;
        arena scratch;
        collect(object, object.read(scratch, section));
        names_ = object.read(memory, &object.sections()[section->link].section);
    }
}

ALLOCSCOPE_NOINLINE void symbol_index::collect(const object_bytes& object,
                                               detail::byte_view table) {
    arena scratch;
    list<candidate> functions{scratch};
    arena more_scratch;
    list<candidate> objects{more_scratch};
    detail::visit_elf_symbols(table, [&](const detail::elf_symbol& symbol) {
        if (symbol.section >= object.sections().size()) return;
        const detail::elf_section& home = object.sections()[symbol.section].section;
        const std::uint64_t home_end = home.address + home.size;
        if (symbol.address < home.address || symbol.address >= home_end) return;
        const bool is_code = (home.flags & detail::elf_section_executable) != 0;
        const candidate found{symbol.address, symbol.size, home_end, symbol.name, rank_of(symbol)};
        switch (symbol.kind) {
            case detail::elf_symbol_kind::function:
            case detail::elf_symbol_kind::indirect_function:
                functions.push_back(found);
                break;
            case detail::elf_symbol_kind::none:
                if (is_code) functions.push_back(found);
                break;
            case detail::elf_symbol_kind::object:
            case detail::elf_symbol_kind::common:
                if (symbol.size != 0) objects.push_back(found);
                break;
            default:
                break;
        }
    });
    fill(functions_, functions);
    fill(objects_, objects);
}

// One range for each address; a symbol without a size ends where the next one begins.
ALLOCSCOPE_NOINLINE void symbol_index::fill(address_ranges& index, list<candidate>& found) {
    sort(found, [](const candidate& a, const candidate& b) { return a < b; });
    std::size_t next = 0;
    for (std::size_t i = 0; i < found.size(); i = next) {
        const candidate& symbol = found[i];
        next = i + 1;
        while (next < found.size() && found[next].address == symbol.address) ++next;
        std::uint64_t end = symbol.section_end;
        std::uint64_t limit = end;
        if (symbol.size != 0) {
            limit = symbol.address + symbol.size;
        } else if (next < found.size()) {
            limit = found[next].address;
        }
        if (limit < end) end = limit;
        index.add(symbol.address, end, symbol.name);
    }
    index.finish();
}

ALLOCSCOPE_NOINLINE found_symbol symbol_index::find(const address_ranges& index,
                                                    std::uint64_t address) const {
    const address_range* range = index.find(address);
    if (range == nullptr) return {};
    const char* name = detail::text_at(names_, range->value);
    if (*name == '\0') return {};
    return {name, address - range->low};
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

// type_names.hpp - which names of types the debug information of one unit knows.

#ifndef ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class type_names {
public:
    // The unit must have been loaded.
    type_names(const debug_units& units, const debug_unit& unit) : names_(units.memory()) {
        entry_walker walker{units.sections(), unit.header, unit.abbreviations,
                            unit.header.first_entry};
        while (walker.next()) {
            if (walker.shape() == nullptr || !names_a_type(walker.shape()->tag)) continue;
            std::uint16_t name = 0;
            detail::dwarf_value value;
            while (walker.next_value(name, value)) {
                if (name != detail::dwarf::at_name) continue;
                const text whole = detail::dwarf_text(units.sections(), unit.header, value);
                names_[whole.substr(0, whole.find('<'))] = true;
            }
        }
    }

    // A type or a namespace, by its own name: "widget" for app::widget<int>.
    bool has(text name) const { return names_.find(name) != nullptr; }

private:
    static bool names_a_type(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_class_type || tag == detail::dwarf::tag_structure_type ||
               tag == detail::dwarf::tag_union_type || tag == detail::dwarf::tag_enumeration_type ||
               tag == detail::dwarf::tag_typedef || tag == detail::dwarf::tag_namespace ||
               tag == detail::dwarf::tag_imported_declaration;
    }

    table<text, bool> names_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP

// debug_object.hpp - everything that one program or library file says about its addresses.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// What is known of the module whose file it is to be; nothing is known of a file on its own.
struct expected_file {
    detail::build_id id;            // if it has one, the rest does not matter
    std::uint64_t inode = 0;        // 0: not known
    std::uint64_t fingerprint = 0;  // 0: there is none
    const char* loader_path = "";   // goes with it; must stay
    bool is_known_by_id = false;    // the fingerprint is that of an id
};

class debug_object {
public:
    // Another file than the expected one tells nothing. The path must stay.
    debug_object(kept_texts& texts, const char* path, const expected_file& expected = {})
        : texts_(texts), path_(path), expected_(expected) {}
    // The bytes must stay.
    debug_object(kept_texts& texts, detail::byte_view file) : texts_(texts), file_(file) {}
    debug_object(const debug_object&) = delete;
    debug_object& operator=(const debug_object&) = delete;

    bool is_readable() {
        open();
        return is_trusted_;
    }

    // Adds symbol and frames to `location`.
    void resolve(std::uint64_t linked_address, code_location& location) {
        if (!is_readable()) return;
        const found_symbol found = symbols().function_at(linked_address);
        const symbol_name known = name_of(found.name);
        const symbol_name name{texts_.keep(known.readable), texts_.keep(known.linkage)};
        location.symbol = name.readable;
        location.symbol_offset = found.offset;
        location.frames = list<code_frame>{texts_.memory()};
        add_frames(linked_address, location, name);
        if (location.frames.empty() && !name.linkage.empty()) {
            code_frame frame;
            frame.function = name.readable;
            frame.linkage_name = name.linkage;
            add_frame(location, frame);
        }
        for (code_frame& each : location.frames) each.built_ns = identity_.changed_ns;
    }

    // Whether the unit that the address lies in describes a type or a namespace of that name.
    bool knows_type(std::uint64_t linked_address, text name) {
        const debug_unit* unit = is_readable() ? units().unit_at(linked_address) : nullptr;
        if (unit == nullptr) return false;
        type_names*& known = types_[unit->header.first_entry];
        if (known == nullptr) known = memory_.make<type_names>(*units_, *unit);
        return known->has(name);
    }

    // The demangled name of the variable, vtable or typeinfo that holds the address; "" none.
    text data_symbol_at(std::uint64_t linked_address, arena& memory) {
        if (!is_readable()) return {};
        return copy_of(memory, name_of(symbols().object_at(linked_address).name).readable);
    }

    // The demangled function that holds the address, from the symbol table alone; "" none.
    text function_symbol_at(std::uint64_t linked_address, arena& memory) {
        if (!is_readable()) return {};
        return copy_of(memory, name_of(symbols().function_at(linked_address).name).readable);
    }

    // Gives the memory back; the next question reads the file again.
    void release() {
        object_ = nullptr;
        symbols_ = nullptr;
        units_ = nullptr;
        names_ = nullptr;
        symbol_names_ = {};
        lines_ = {};
        inlined_ = {};
        types_ = {};
        memory_.release();
    }

    std::size_t bytes_in_memory() const { return memory_.mapped_bytes(); }

private:
    static constexpr std::size_t most_inlined = 256;
    static constexpr std::uint64_t no_lines = ~std::uint64_t{0};

    struct symbol_name {
        text readable;  // demangled
        text linkage;   // without a version
    };

    // A file that was replaced while it was not open is no more believed than another one.
    void open() {
        if (object_ != nullptr) return;
        object_ = path_ == nullptr ? memory_.make<object_bytes>(memory_, file_)
                                   : memory_.make<object_bytes>(memory_, path_);
        symbol_names_ = table<const void*, symbol_name>{memory_};
        lines_ = table<std::uint64_t, line_table*>{memory_};
        inlined_ = table<std::uint64_t, inlined_calls*>{memory_};
        types_ = table<std::uint64_t, type_names*>{memory_};
        if (!was_open_) identity_ = object_->identity();
        was_open_ = true;
        is_trusted_ =
            object_->is_readable() && object_->identity().equals(identity_) && is_expected();
    }

    // A file without an id is not that of a module with one.
    bool is_expected() const {
        const detail::build_id& id = object_->id();
        if (expected_.id.known()) return id.equals(expected_.id);
        if (expected_.is_known_by_id) {
            return id.known() && detail::fingerprint_of(id) == expected_.fingerprint;
        }
        if (expected_.inode != 0 && expected_.inode != identity_.inode) return false;
        if (expected_.fingerprint == 0) return true;
        char page[detail::fingerprinted_bytes] = {};
        const detail::file_reader file{path_};
        if (!file.identity().equals(identity_)) return false;
        file.read_at(0, page, sizeof page);
        return detail::fingerprint_of(page, expected_.loader_path) == expected_.fingerprint;
    }

    const symbol_index& symbols() {
        if (symbols_ == nullptr) symbols_ = memory_.make<symbol_index>(memory_, *object_);
        return *symbols_;
    }

    debug_units& units() {
        if (units_ == nullptr) units_ = memory_.make<debug_units>(memory_, *object_);
        if (names_ == nullptr) names_ = memory_.make<entry_names>(*units_, texts_);
        return *units_;
    }

    // One line program may serve several units.
    const line_table& lines_of(const debug_unit& unit) {
        const std::uint64_t program = unit.has_lines ? unit.lines : no_lines;
        line_table* const* known = lines_.find(program);
        if (known != nullptr) return **known;
        line_table* made =
            unit.has_lines ? memory_.make<line_table>(*units_, unit) : memory_.make<line_table>();
        lines_[program] = made;
        return *made;
    }

    const inlined_calls& inlined_in(const debug_unit& unit, std::uint64_t function) {
        inlined_calls* const* known = inlined_.find(function);
        if (known != nullptr) return **known;
        inlined_calls* made = memory_.make<inlined_calls>(*units_, unit, function);
        inlined_[function] = made;
        return *made;
    }

    // "read@@LIBRARY_2" is "read". The texts go with release().
    symbol_name name_of(const char* symbol) {
        if (symbol == nullptr) return {};
        if (const symbol_name* known = symbol_names_.find(symbol)) return *known;
        const text whole = symbol;
        symbol_name name;
        name.linkage = copy_of(memory_, whole.substr(0, whole.find('@')));
        name.readable = demangled(memory_, name.linkage.data());
        symbol_names_[symbol] = name;
        return name;
    }

    static int small(std::uint64_t number) {
        return number > INT_MAX ? 0 : static_cast<int>(number);
    }

    static void add_frame(code_location& location, const code_frame& frame) {
        if (location.frames.empty()) location.frames.reserve(1);
        location.frames.push_back(frame);
    }

    void add_frames(std::uint64_t address, code_location& location, const symbol_name& symbol) {
        const debug_unit* unit = units().unit_at(address);
        if (unit == nullptr) return;
        const line_table& lines = lines_of(*unit);
        const line_table::row* row = lines.find(address);
        const address_range* range = unit->functions.find(address);
        const std::uint64_t function = range == nullptr ? 0 : range->value;
        if (row == nullptr && function == 0) return;
        code_frame frame;
        if (row != nullptr) {
            frame.file = lines.path_of(row->file, texts_);
            frame.line = small(row->line);
            frame.column = small(row->column);
        }
        // Split debug information: what was inlined is told by another file. The library's line
        // would be taken for one of the function that the symbol names.
        if (function == 0 && is_standard_header(frame.file)) return;
        if (function == 0) {
            name_outermost(frame, function, symbol);
            return add_frame(location, frame);
        }
        const inlined_calls& calls = inlined_in(*unit, function);
        const nearby_lines nearby{lines, texts_, calls, *range, address};
        add_inlined(calls, calls.innermost_at(address), nearby, lines, location, frame);
        find_line(frame, nearby, 0, function);
        name_outermost(frame, function, symbol);
        add_frame(location, frame);
    }

    // `frame` has the place of the innermost call before, of the outermost one afterwards.
    void add_inlined(const inlined_calls& calls, std::size_t innermost, const nearby_lines& nearby,
                     const line_table& lines, code_location& location, code_frame& frame) {
        std::size_t count = 0;
        for (std::size_t i = innermost; i != 0; i = calls[i - 1].parent) ++count;
        std::size_t left_out = count < most_inlined ? 0 : count - most_inlined;
        location.frames.reserve(count - left_out + 1);
        for (std::size_t i = innermost; i != 0; i = calls[i - 1].parent) {
            const inlined_call& call = calls[i - 1];
            const entry_name name = names_->of(call.entry);
            frame.function = name.function;
            frame.linkage_name = name.linkage;
            frame.is_inlined = true;
            find_line(frame, nearby, i, call.entry);
            if (left_out == 0) {
                location.frames.push_back(frame);
            } else {
                --left_out;
            }
            frame = code_frame{};
            frame.file = lines.path_of(call.call_file, texts_);
            frame.line = small(call.call_line);
            frame.column = small(call.call_column);
        }
    }

    // What the code around it tells of the line of a frame, the one of an inlined call (its number
    // + 1) or of the function (0). A call without a line gets that of the code before it, or that
    // of its function.
    void find_line(code_frame& frame, const nearby_lines& nearby, std::size_t call,
                   std::uint64_t entry) {
        if (is_standard_header(frame.file)) return;
        const auto line = static_cast<std::uint64_t>(frame.line);
        const std::uint64_t before = nearby.before(call, line, frame.file);
        if (frame.line != 0) {
            frame.line_before = small(before);
            frame.line_behind = small(nearby.behind(call, line, frame.file));
            return;
        }
        frame.column = 0;
        frame.is_nearby = true;
        if (before != 0) {
            frame.line = small(before);
            frame.line_before = small(nearby.before(call, before, frame.file));
            return;
        }
        const entry_name name = names_->of(entry);
        const debug_unit* unit = name.line != 0 ? units_->unit_of_entry(name.unit) : nullptr;
        if (unit == nullptr) return;
        frame.file = lines_of(*unit).path_of(name.file, texts_);
        frame.line = small(name.line);
    }

    // The symbol table's name is preferred, since it is always there and always whole. But where it
    // names a part that the compiler split off ("load.cold"), or another function that was merged
    // into the same code, the debug information says which function the lines belong to. So it does
    // when a name was not demangled.
    void name_outermost(code_frame& frame, std::uint64_t function, const symbol_name& symbol) {
        entry_name name;
        if (function != 0) name = names_->of(function);
        const bool has_own = !name.linkage.empty() && name.function != name.linkage;
        const bool is_unreadable = symbol.readable.starts_with("_Z") && !name.function.empty();
        if (symbol.linkage.empty() || (has_own && name.function != symbol.readable) ||
            is_unreadable || is_part_of(symbol.linkage, name.function)) {
            frame.function = name.function;
            frame.linkage_name = name.linkage;
        } else {
            frame.function = symbol.readable;
            frame.linkage_name = symbol.linkage;
        }
    }

    // "load.cold" is a part of "load".
    static bool is_part_of(text symbol, text whole) {
        return !whole.empty() && symbol.size() > whole.size() && symbol[whole.size()] == '.' &&
               symbol.starts_with(whole);
    }

    kept_texts& texts_;
    const char* path_ = nullptr;  // null: file_ is the file
    detail::byte_view file_;
    expected_file expected_;
    detail::file_identity identity_;  // of the file when it was opened first
    bool was_open_ = false;
    bool is_trusted_ = false;
    arena memory_;
    // Null until they are needed, and after release(); in memory_.
    object_bytes* object_ = nullptr;
    symbol_index* symbols_ = nullptr;
    debug_units* units_ = nullptr;
    entry_names* names_ = nullptr;
    table<const void*, symbol_name> symbol_names_;  // by where the name stands
    table<std::uint64_t, line_table*> lines_;       // by the offset of the line program
    table<std::uint64_t, inlined_calls*> inlined_;  // by the function's entry
    table<std::uint64_t, type_names*> types_;       // by the unit's first entry
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP

// loaded_modules.hpp - the programs and libraries in this process, as the loader lists them.

#ifndef ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP
#define ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Changes whenever a library is loaded or unloaded.
struct module_generation {
    std::uint64_t loads = 0;
    std::uint64_t unloads = 0;
    bool equals(const module_generation& other) const noexcept {
        return loads == other.loads && unloads == other.unloads;
    }
};

struct module_facts {
    const char* path = "";             // "" for the main program
    std::uint64_t base = 0;            // run-time address minus linked address
    std::uint64_t low = 0, high = 0;   // the addresses between the first and the last byte
    bool is_first = false;             // the main program
    byte_view notes;                   // of the first note segment with a build id's alignment
    const void* first_page = nullptr;  // as in the file; null when it may have been written to
};

namespace loaded_modules_detail {

// A note segment is read only where a readable load segment holds all of it.
inline byte_view notes_in_memory(const dl_phdr_info& info, const ElfW(Phdr) & note) noexcept {
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& load = info.dlpi_phdr[i];
        if (load.p_type != PT_LOAD || (load.p_flags & PF_R) == 0) continue;
        if (note.p_vaddr < load.p_vaddr || note.p_memsz > load.p_filesz) continue;
        if (note.p_vaddr - load.p_vaddr > load.p_filesz - note.p_memsz) continue;
        return byte_view{reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + note.p_vaddr),
                         static_cast<std::size_t>(note.p_memsz)};
    }
    return byte_view{};
}

template <class Visitor>
struct visit_state {
    Visitor* visit;
    bool is_first = true;
};

template <class Visitor>
inline int visit_one(dl_phdr_info* info, std::size_t, void* state_address) {
    auto& state = *static_cast<visit_state<Visitor>*>(state_address);
    module_facts facts;
    facts.path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    facts.base = info->dlpi_addr;
    facts.is_first = state.is_first;
    facts.low = ~std::uint64_t{0};
    state.is_first = false;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
        const std::uint64_t low = facts.base + segment.p_vaddr;
        const std::uint64_t high = low + segment.p_memsz;
        if (low < facts.low) {
            facts.low = low;
            const bool is_as_in_file = segment.p_offset == 0 && (segment.p_flags & PF_R) != 0 &&
                                       (segment.p_flags & PF_W) == 0;
            facts.first_page = is_as_in_file ? reinterpret_cast<const void*>(low) : nullptr;
        }
        if (high > facts.high) facts.high = high;
    }
    if (facts.low >= facts.high) return 0;
    // Several note segments are usual. The visitor is called once for each, with the same base.
    bool has_notes = false;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        facts.notes = notes_in_memory(*info, segment);
        has_notes = true;
        (*state.visit)(static_cast<const module_facts&>(facts));
    }
    if (!has_notes) (*state.visit)(static_cast<const module_facts&>(facts));
    return 0;
}

}  // namespace loaded_modules_detail

// Calls `visit(const module_facts&)` for every module, once for each of its note segments (at
// least once), one module after the other.
template <class Visitor>
inline void visit_loaded_modules(Visitor&& visit) {
    using plain = typename loaded_modules_detail::visit_state<Visitor>;
    plain state{&visit};
    ::dl_iterate_phdr(&loaded_modules_detail::visit_one<Visitor>, &state);
}

inline module_generation current_module_generation() noexcept {
    module_generation now;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* answer) {
            auto& generation = *static_cast<module_generation*>(answer);
            generation.loads = info->dlpi_adds;
            generation.unloads = info->dlpi_subs;
            return 1;  // every module carries the same two numbers
        },
        &now);
    return now;
}

// Runs `work`, which must not throw, while no library can be loaded or unloaded.
template <class Work>
void while_modules_stay(const Work& work) noexcept {
    const auto run = [](dl_phdr_info*, std::size_t, void* given) {
        (*static_cast<const Work*>(given))();
        return 1;  // once
    };
    ::dl_iterate_phdr(run, const_cast<Work*>(&work));
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP

// module_list.hpp - the modules of this process: where each lies, and which file it came from.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct loaded_module {
    text path;               // what reports show; zero-ended, as the file is
    text file;               // what is opened to read it; "" when there is no file
    std::uint64_t base = 0;  // run-time address minus linked address
    std::uint64_t low = 0, high = 0;
    detail::build_id id;
    std::uint64_t fingerprint = 0;  // see binary/module_fingerprint.hpp; 0: there is none
    std::uint64_t inode = 0;        // of the mapped file; looked for when there is no id
    text loader_path;               // zero-ended

    bool holds(std::uint64_t address) const { return address >= low && address < high; }
    bool is_same(const loaded_module& other) const {
        return base == other.base && low == other.low && high == other.high && path == other.path &&
               fingerprint == other.fingerprint && inode == other.inode;
    }
};

namespace module_list_detail {

inline void write_whole(text_out& out, const char* path) {
    constexpr std::size_t largest = std::size_t{64} << 20;
    const detail::file_reader file{path};
    char buffer[4096];
    while (out.size() < largest) {
        const std::size_t got = file.read_at(out.size(), buffer, sizeof buffer);
        if (got == 0) break;
        out << text{buffer, got};
    }
}

struct mapped_file {
    text path;  // as the kernel writes it: "\\012" for the end of a line; "" when there is none
    std::uint64_t inode = 0;
};

// The file of the mapping that holds `address`:
//     7f00-7f10 r--p 00000000 08:01 1234    /usr/lib/x.so
// Lines end in '\n'.
inline mapped_file mapped_file_of(text maps, std::uint64_t address) {
    while (!maps.empty()) {
        const std::size_t end = maps.find('\n');
        const text line = maps.substr(0, end);
        maps.remove_prefix(end == text::npos ? maps.size() : end + 1);
        char* rest = nullptr;
        const std::uint64_t low = std::strtoull(line.data(), &rest, 16);
        const std::uint64_t high = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
        if (address < low || address >= high) continue;
        const std::size_t slash = line.find('/');
        if (slash == text::npos) return {};
        std::size_t at = slash;
        while (at > 0 && line[at - 1] == ' ') --at;
        while (at > 0 && line[at - 1] != ' ') --at;
        return {line.substr(slash), std::strtoull(line.data() + at, nullptr, 10)};
    }
    return {};
}

// The path as it is on disk. A path that has those four characters of its own is not found.
inline text without_escapes(arena& memory, text path) {
    text_out out{memory};
    while (!path.empty()) {
        const bool is_escape = path.starts_with("\\012");
        out << (is_escape ? text{"\n"} : path.substr(0, 1));
        path.remove_prefix(is_escape ? 4 : 1);
    }
    return copy_of(memory, out.view());
}

}  // namespace module_list_detail

class module_list {
public:
    const list<loaded_module>& modules() const { return modules_; }

    bool is_current() const {
        return is_read_ && generation_.equals(detail::current_module_generation());
    }

    // What modules() was before stays good until this is called once more.
    void read() {
        is_read_ = false;
        is_second_ = !is_second_;
        arena& memory = memory_[is_second_ ? 1 : 0];
        memory.release();
        modules_ = list<loaded_module>{memory};
        generation_ = detail::current_module_generation();
        bool has_main = false;
        detail::visit_loaded_modules([&](const detail::module_facts& facts) {
            const bool is_next_note = !modules_.empty() && modules_.back().low == facts.low;
            if (!is_next_note) {
                loaded_module next;
                next.path = next.loader_path = copy_of(memory, facts.path);
                next.base = facts.base;
                next.low = facts.low;
                next.high = facts.high;
                if (facts.first_page != nullptr) {
                    next.fingerprint = detail::fingerprint_of(facts.first_page, facts.path);
                }
                modules_.push_back(next);
                has_main = has_main || facts.is_first;
            }
            detail::build_id& id = modules_.back().id;
            if (id.known()) return;
            id = detail::find_build_id(facts.notes);
            if (id.known()) modules_.back().fingerprint = detail::fingerprint_of(id);
        });
        find_files(memory, has_main);
        is_read_ = true;
    }

    // The module that holds the address; null: none.
    const loaded_module* find(std::uint64_t address) const {
        for (const loaded_module& module : modules_) {
            if (module.holds(address)) return &module;
        }
        return nullptr;
    }

private:
    void find_files(arena& memory, bool has_main) {
        arena scratch;
        text_out maps{scratch};
        for (loaded_module& module : modules_) {
            const bool is_main = has_main && &module == modules_.begin();
            const bool has_path = !is_main && module.path.starts_with("/");
            if (has_path) module.file = module.path;
            if (has_path && module.id.known()) continue;
            if (maps.empty()) module_list_detail::write_whole(maps, "/proc/self/maps");
            const text all{maps.c_str(), maps.size()};
            auto mapped = module_list_detail::mapped_file_of(all, module.low);
            module.inode = mapped.inode;
            if (has_path) continue;
            mapped.path = module_list_detail::without_escapes(memory, mapped.path);
            if (is_main) {
                name_main(memory, module, mapped.path);
            } else if (!mapped.path.empty()) {
                module.path = module.file = mapped.path;
            } else if (module.path.contains("/")) {
                module.file = module.path;  // its content tells when this is another directory
            }
        }
    }

    // /proc/self/exe reaches the running file even when its name now belongs to another one, and
    // when its name is longer than a name may be.
    static void name_main(arena& memory, loaded_module& module, text mapped) {
        const detail::file_reader running{"/proc/self/exe"};
        const bool is_running_file = module.inode == 0 || running.identity().inode == module.inode;
        if (running.is_open() && is_running_file) {
            char buffer[4096];
            const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
            const text program{buffer, length > 0 ? static_cast<std::size_t>(length) : 0};
            module.path = program.empty() ? mapped : copy_of(memory, program);
            module.file = text{"/proc/self/exe"};
        } else {
            module.path = module.file = mapped;
        }
        if (!module.path.empty()) return;
        // Without /proc there is still the name that the kernel was asked to run.
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        if (started != nullptr) module.path = module.file = copy_of(memory, started);
    }

    arena memory_[2];
    bool is_second_ = false;
    bool is_read_ = false;
    detail::module_generation generation_;
    list<loaded_module> modules_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

// symbolizer.hpp - addresses of this process to modules, functions, files, lines, inlined calls.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class symbolizer {
public:
    // `kept` must live longer.
    explicit symbolizer(arena& kept)
        : kept_(kept), texts_(kept), objects_(kept), gone_(kept), locations_(kept) {
        refresh_modules();
    }
    ~symbolizer() { release_debug_data(); }
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    // The caller has subtracted 1 from return addresses. `home`: the module whose code stood there,
    // loaded or not; null: what is there now. Good as long as `kept`, or, without a home, until
    // refresh_modules() finds that the address's module is gone.
    const code_location& resolve(std::uint64_t address, const detail::met_module* home = nullptr) {
        const std::uint64_t key = address | (home != nullptr ? home->number * first_key : 0);
        code_location** known = locations_.find(key);
        if (known != nullptr && *known != nullptr) return **known;
        auto* location = kept_.make<code_location>();
        location->address = address;
        const code_owner owner = owner_of(address, home);
        if (owner.object != nullptr) {
            location->is_unloaded = owner.is_unloaded;
            location->module = texts_.keep(owner.path);
            location->module_offset = address - owner.base;
            owner.object->resolve(location->module_offset, *location);
        }
        if (!location->is_unloaded) locations_[key] = location;  // its file may come back
        return *location;
    }

    // The demangled name of the variable, vtable or typeinfo around an address, as in
    // "vtable for widget"; "" when there is none.
    text data_symbol_at(std::uint64_t address, arena& memory,
                        const detail::met_module* home = nullptr) {
        const code_owner owner = owner_of(address, home);
        if (owner.object == nullptr) return {};
        return owner.object->data_symbol_at(address - owner.base, memory);
    }

    // The demangled function around an address by the symbol table alone; "" when there is none.
    // Spares the debug information, and knows nothing of inlined calls. Subtract 1 as above.
    text function_symbol_at(std::uint64_t address, arena& memory,
                            const detail::met_module* home = nullptr) {
        const code_owner owner = owner_of(address, home);
        if (owner.object == nullptr) return {};
        return owner.object->function_symbol_at(address - owner.base, memory);
    }

    // Whether the debug information around an address describes a type of that name.
    bool knows_type(std::uint64_t address, const detail::met_module* home, text name) {
        const code_owner owner = owner_of(address, home);
        return owner.object != nullptr && owner.object->knows_type(address - owner.base, name);
    }

    // To be called before a report: looks for libraries loaded and unloaded since. What was
    // resolved in modules that are still there stays. True when anything changed.
    bool refresh_modules() {
        if (modules_.is_current()) return false;
        const list<loaded_module> before = modules_.modules();
        modules_.read();
        for (const loaded_module& old : before) {
            if (is_still_there(old)) continue;
            module_object* object = objects_.find(old.low);
            if (object == nullptr || object->reader == nullptr) continue;
            object->is_current = false;
            object->reader->release();
        }
        for (auto& location : locations_) {
            const bool has_home = location.key >= first_key;
            if (!has_home && !is_still_valid(before, location.key)) location.value = nullptr;
        }
        return true;
    }

    const list<loaded_module>& modules() const { return modules_.modules(); }

    // Gives back what was read of the files. A later resolve() reads again what it needs.
    void release_debug_data() {
        for (const auto* objects : {&objects_, &gone_}) {
            for (const auto& object : *objects) {
                if (object.value.reader != nullptr) object.value.reader->release();
            }
        }
    }

    std::size_t debug_bytes() const {
        std::size_t total = 0;
        for (const auto* objects : {&objects_, &gone_}) {
            for (const auto& object : *objects) {
                if (object.value.reader != nullptr) total += object.value.reader->bytes_in_memory();
            }
        }
        return total;
    }

private:
    struct module_object {
        debug_object* reader = nullptr;
        bool is_current = false;  // false: its memory may serve the next one
    };

    // User addresses are below it.
    static constexpr std::uint64_t first_key = std::uint64_t{1} << 48U;

    // Whose an address is.
    struct code_owner {
        debug_object* object = nullptr;  // null: no module's
        text path;
        std::uint64_t base = 0;
        bool is_unloaded = false;
    };

    code_owner owner_of(std::uint64_t address, const detail::met_module* home) {
        const loaded_module* now = modules_.find(address);
        const bool is_at_home = home == nullptr || (now != nullptr && now->base == home->base &&
                                                    now->fingerprint == home->fingerprint);
        if (!is_at_home) return gone_owner(*home);
        if (now == nullptr) return {};
        return {&object_of(*now), now->path, now->base, false};
    }

    // The names of a module that was unloaded still stand in its file, if that is still there.
    code_owner gone_owner(const detail::met_module& home) {
        module_object& gone = gone_[home.number];
        if (!gone.is_current) {
            expected_file expected;
            expected.fingerprint = home.fingerprint;
            expected.loader_path = home.path;
            expected.is_known_by_id = home.has_build_id;
            make_object(gone, home.path, expected);
        }
        gone.is_current = home.fingerprint != 0 && gone.reader->is_readable();
        if (gone.is_current) return {gone.reader, home.path, home.base, false};
        gone.reader->release();
        const borrowed_memory meanwhile{texts_.scratch()};
        const text path = texts_.keep(joined(texts_.scratch(), home.path, " (unloaded)"));
        return {gone.reader, path, home.base, true};
    }

    debug_object& object_of(const loaded_module& module) {
        module_object& known = objects_[module.low];
        if (!known.is_current) {
            expected_file expected;
            expected.id = module.id;
            expected.inode = module.inode;
            expected.fingerprint = module.fingerprint;
            expected.loader_path = texts_.keep(module.loader_path).data();
            make_object(known, texts_.keep(module.file).data(), expected);
        }
        return *known.reader;
    }

    void make_object(module_object& at, const char* file, const expected_file& expected) {
        void* memory = at.reader != nullptr ? at.reader : kept_.allocate(sizeof(debug_object));
        at.reader = ::new (memory) debug_object{texts_, file, expected};
        at.is_current = true;
    }

    bool is_still_there(const loaded_module& old) const {
        const loaded_module* now = modules_.find(old.low);
        return now != nullptr && now->is_same(old);
    }

    // An address that was in no module stays valid when it is still in none.
    bool is_still_valid(const list<loaded_module>& before, std::uint64_t address) const {
        for (const loaded_module& old : before) {
            if (old.holds(address)) return is_still_there(old);
        }
        return modules_.find(address) == nullptr;
    }

    arena& kept_;
    kept_texts texts_;
    module_list modules_;
    table<std::uint64_t, module_object> objects_;     // by lowest address
    table<std::uint64_t, module_object> gone_;        // by met_module::number
    table<std::uint64_t, code_location*> locations_;  // null: must be resolved anew
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

// name_brackets.hpp - jumps over words, brackets and operators in demangled names.

#ifndef ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP
#define ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t no_position = text::npos;
constexpr std::size_t max_open_brackets = 512;  // a name with more is not understood

inline bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// Behind the word that starts at `at`.
ALLOCSCOPE_NOINLINE std::size_t skip_word(text name, std::size_t at) noexcept {
    while (at < name.size() && is_name_character(name[at])) ++at;
    return at;
}

ALLOCSCOPE_NOINLINE text without_spaces_around(text padded) noexcept {
    while (!padded.empty() && padded.front() == ' ') padded.remove_prefix(1);
    while (!padded.empty() && padded.back() == ' ') padded.remove_suffix(1);
    return padded;
}

// The first of the words in `words`, which stand between single spaces, that `name` starts with;
// "" when it starts with none of them.
ALLOCSCOPE_NOINLINE text listed_start(text name, text words) noexcept {
    while (!words.empty()) {
        const std::size_t space = words.find(' ');
        const text word = words.substr(0, space);
        if (name.starts_with(word)) return word;
        if (space == no_position) break;
        words.remove_prefix(space + 1);
    }
    return {};
}

// True when `word`, which holds no space, is one of the words in `words`.
ALLOCSCOPE_NOINLINE bool is_listed(text word, text words) noexcept {
    if (word.empty()) return false;
    for (std::size_t at = words.find(word); at != no_position; at = words.find(word, at + 1)) {
        const std::size_t behind = at + word.size();
        const bool begins = at == 0 || words[at - 1] == ' ';
        if (begins && (behind == words.size() || words[behind] == ' ')) return true;
    }
    return false;
}

// Length of the symbol of an operator, 0 when the text goes on with something else (new, delete,
// or the type of a conversion).
ALLOCSCOPE_NOINLINE std::size_t operator_symbol_length(text name) noexcept {
    constexpr text longest_first =
        "<=> <<= >>= ->* () [] -> << >> <= >= == != && || ++ -- += -= *= /= %= ^= &= |= \"\" < > , "
        "+ - * / % ^ & | ~ ! =";
    return listed_start(name, longest_first).size();
}

// True when the word `operator` starts at `at`.
inline bool is_operator_word(text name, std::size_t at) noexcept {
    return name[at] == 'o' && name.substr(at).starts_with("operator") &&
           (at == 0 || !is_name_character(name[at - 1])) && skip_word(name, at) == at + 8;
}

// `at` is on an opening bracket: the position behind the one that closes it, or no_position.
// Linear in the length of the brackets.
ALLOCSCOPE_NOINLINE std::size_t skip_brackets(text name, std::size_t at) noexcept {
    char open[max_open_brackets];
    std::size_t depth = 0;
    while (at < name.size()) {
        const char c = name[at++];
        switch (c) {
            case 'o':
                if (!is_operator_word(name, at - 1)) break;
                at += 7;
                at += operator_symbol_length(name.substr(at));
                break;
            case '<':
            case '(':
            case '[':
            case '{':
                if (depth == max_open_brackets) return no_position;
                open[depth++] = c;
                break;
            case '>':  // unless it is an arrow's or "greater than"
                if (depth == 0 || open[depth - 1] != '<' || name[at - 2] == '-') break;
                if (--depth == 0) return at;
                break;
            case ')':
            case ']':
            case '}': {
                const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
                while (depth > 0 && open[depth - 1] == '<') --depth;  // it was "less than"
                if (depth == 0 || open[depth - 1] != opening) return no_position;
                if (--depth == 0) return at;
                break;
            }
            default:
                break;
        }
    }
    return no_position;
}

// The arguments in "<a, b>" or "(a, b)", brackets included in the input, as they stand there.
ALLOCSCOPE_NOINLINE list<text> split_arguments(arena& memory, text bracketed) {
    list<text> parts{memory};
    if (bracketed.size() < 2) return parts;
    const text inside = bracketed.substr(1, bracketed.size() - 2);
    std::size_t begin = 0;
    std::size_t at = 0;
    while (at < inside.size()) {
        const char c = inside[at];
        if (is_operator_word(inside, at)) {
            at += 8;
            at += operator_symbol_length(inside.substr(at));
            continue;
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            const std::size_t behind = skip_brackets(inside, at);
            if (behind == no_position) break;
            at = behind;
            continue;
        }
        if (c == ',') {
            parts.push_back(without_spaces_around(inside.substr(begin, at - begin)));
            begin = at + 1;
        }
        ++at;
    }
    const text last = without_spaces_around(inside.substr(begin));
    if (!last.empty() || !parts.empty()) parts.push_back(last);
    return parts;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP

// function_name.hpp - takes a demangled function name apart into its own qualified name.

#ifndef ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP
#define ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct name_component {
    text name;       // "vector", "operator()", "{lambda(int)#1}"
    text arguments;  // "<int, std::allocator<int> >", or empty
};

struct function_name {
    list<name_component> components;  // empty when the text is not a function's name
    text whole;                       // from the first component to the last

    bool is_known() const noexcept { return !components.empty(); }
    const name_component& last() const noexcept { return components.back(); }
};

constexpr text anonymous_namespace = "(anonymous namespace)";
constexpr std::size_t max_name_components = 256;

class function_name_parser {
public:
    function_name_parser(arena& memory, text name) : name_(name), components_(memory) {}

    function_name parse() {
        while (at_ < name_.size() && !is_done_ && !is_failed_) step();
        finish_component();
        function_name result;
        if (is_failed_ || components_.empty()) return result;
        result.components = components_;
        result.whole = name_.substr(begin_, end_ - begin_);
        return result;
    }

private:
    void step() {
        const char c = name_[at_];
        if (is_name_character(c) || c == '~') {
            read_word();
        } else if (c == ':') {
            if (!is_next(at_, "::")) return fail();
            finish_component();
            at_ += 2;
        } else if (c == '<') {
            read_angle_brackets();
        } else if (c == '(') {
            read_parentheses();
        } else if (c == '{' || c == '[') {
            const std::size_t behind = skip_brackets(name_, at_);
            if (c == '{') return extend_name(behind);
            if (behind == no_position) return fail();
            at_ = behind;  // an ABI tag says nothing about whose function it is
        } else if (c == '\'') {
            const std::size_t quote = name_.find('\'', at_ + 1);
            extend_name(quote == no_position ? quote : quote + 1);
        } else if (c == ' ') {
            read_space();
        } else if (c == '*' || c == '&') {
            begin_anew(at_ + 1);
        } else if (c == '.' || c == '@' || c == ')') {
            is_done_ = has_name();
            if (!is_done_) fail();
        } else {
            fail();
        }
    }

    bool is_next(std::size_t at, text wanted) const noexcept {
        return name_.substr(at).starts_with(wanted);
    }

    void read_space() {
        if (is_end_mark()) {
            is_done_ = true;
        } else if (is_decltype() && is_next(at_, " (")) {
            ++at_;
        } else {
            begin_anew(at_ + 1);
        }
    }

    bool is_decltype() const noexcept {
        return name_begin_ != no_position &&
               name_.substr(name_begin_, name_end_ - name_begin_) == "decltype";
    }

    void read_word() {
        if (!is_operator_word(name_, at_)) return extend_name(skip_word(name_, at_ + 1));
        std::size_t behind = at_ + 8;
        const std::size_t symbol = operator_symbol_length(name_.substr(behind));
        if (symbol != 0) {
            behind += symbol;
            if (name_[behind - 1] == '"' && is_next(behind, " ")) {
                behind = skip_word(name_, behind + 1);
            }
        } else {
            behind = skip_named_operator(behind);
        }
        extend_name(behind);
        // "operator< <int>": the space belongs to the name
        if (!is_failed_ && is_next(at_, " <")) ++at_;
    }

    // Behind `operator`: " new", " delete[]", " co_await", or the type of a conversion.
    std::size_t skip_named_operator(std::size_t at) const {
        if (is_next(at, " ")) {
            const text rest = name_.substr(at + 1);
            const text word = listed_start(rest, "new[] delete[] new delete co_await");
            const std::size_t behind = word.size();
            const bool ends_here = behind == rest.size() || !is_name_character(rest[behind]);
            if (behind != 0 && ends_here) return at + 1 + behind;
        }
        while (at < name_.size() && (name_[at] != '(' || is_next(at, anonymous_namespace))) {
            const char c = name_[at];
            at = c == '<' || c == '{' || c == '(' ? skip_brackets(name_, at) : at + 1;
        }
        return at;  // no_position is behind the end too
    }

    void read_angle_brackets() {
        const std::size_t behind = skip_brackets(name_, at_);
        // "<lambda(int)>", as g++ writes it in debug information
        if (behind == no_position || name_begin_ == no_position) return extend_name(behind);
        arguments_ = name_.substr(at_, behind - at_);
        end_ = behind;
        at_ = behind;
    }

    void read_parentheses() {
        if (is_next(at_, anonymous_namespace)) return extend_name(at_ + anonymous_namespace.size());
        if (name_begin_ == no_position) return begin_anew(at_ + 1);  // returns a function pointer
        const std::size_t behind = skip_brackets(name_, at_);
        if (behind == no_position) return fail();
        if (is_decltype()) return begin_anew(behind);
        const std::size_t rest = skip_qualifiers(behind);
        is_done_ = !is_next(rest, "::");
        at_ = rest;  // "::": a lambda or a type inside this function
    }

    std::size_t skip_qualifiers(std::size_t at) const {
        for (;;) {
            const std::size_t word = is_next(at, " ") ? at + 1 : at;
            const text qualifier = listed_start(name_.substr(word), "const volatile && &");
            if (qualifier.empty()) return at;
            at = word + qualifier.size();
        }
    }

    bool is_end_mark() const noexcept {
        const text rest = name_.substr(at_);
        return has_name() && (rest.starts_with(" [clone") || rest.starts_with(" [with ") ||
                              rest.starts_with(" (."));
    }

    bool has_name() const noexcept { return name_begin_ != no_position || !components_.empty(); }

    // The component that is being read goes on up to `behind`.
    void extend_name(std::size_t behind) noexcept {
        if (behind == no_position) return fail();
        if (name_begin_ == no_position) name_begin_ = at_;
        if (components_.empty() && begin_ == no_position) begin_ = at_;
        name_end_ = end_ = at_ = behind;
    }

    void finish_component() {
        if (name_begin_ == no_position) return;
        if (components_.size() == max_name_components) return fail();
        components_.push_back({name_.substr(name_begin_, name_end_ - name_begin_), arguments_});
        name_begin_ = no_position;
        arguments_ = {};
    }

    void begin_anew(std::size_t at) noexcept {
        components_.clear();
        name_begin_ = begin_ = no_position;
        arguments_ = {};
        at_ = at;
    }

    void fail() noexcept { is_failed_ = true; }

    text name_;
    std::size_t at_ = 0;
    std::size_t begin_ = no_position;  // of the first component
    std::size_t end_ = 0;              // of the last one and its arguments
    std::size_t name_begin_ = no_position;
    std::size_t name_end_ = 0;
    text arguments_;
    list<name_component> components_;
    bool is_done_ = false;
    bool is_failed_ = false;
};

// The views in the result point into `function`.
inline function_name parse_function_name(arena& memory, text function) {
    function = without_spaces_around(function);
    constexpr text thunk = "non-virtual thunk to ";
    if (function.starts_with(thunk)) function.remove_prefix(thunk.size());
    return function_name_parser{memory, function}.parse();
}

// "std::vector::push_back" of any vector: the components without their arguments.
inline text plain_name(arena& memory, const function_name& name) {
    text_out plain{memory};
    for (const name_component& component : name.components) {
        if (!plain.empty()) plain << "::";
        plain << component.name;
    }
    return plain.view();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP

// default_arguments.hpp - the template arguments that nobody writes, and the names people use.

#ifndef ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP
#define ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// "const std::string", but "char* const": the place where people write it.
inline text with_const(arena& memory, text type) {
    const bool is_pointer = type.ends_with("*");
    if (type.starts_with("const ") && !is_pointer) return type;
    if (is_pointer || type.ends_with("&") || type.ends_with(")")) {
        return joined(memory, type, " const");
    }
    return joined(memory, "const ", type);
}

// The defaults of one family of templates. In a rule $0 and $1 stand for the first arguments,
// $p for the std::pair of a map; rules[i] belongs to argument first + i.
struct default_rule {
    text name;
    std::size_t first;
    text rules[4];
    bool has_allocator;  // the last rule is the allocator's: the pmr form is known too
};

constexpr default_rule default_rules[] = {
    {"vector", 1, {"std::allocator<$0>"}, true},
    {"deque", 1, {"std::allocator<$0>"}, true},
    {"list", 1, {"std::allocator<$0>"}, true},
    {"forward_list", 1, {"std::allocator<$0>"}, true},
    {"set", 1, {"std::less<$0>", "std::allocator<$0>"}, true},
    {"multiset", 1, {"std::less<$0>", "std::allocator<$0>"}, true},
    {"map", 2, {"std::less<$0>", "std::allocator<$p>"}, true},
    {"multimap", 2, {"std::less<$0>", "std::allocator<$p>"}, true},
    {"unordered_set", 1, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}, true},
    {"unordered_multiset", 1, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}, true},
    {"unordered_map", 2, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$p>"}, true},
    {"unordered_multimap", 2, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$p>"}, true},
    {"basic_string", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, true},
    {"basic_string_view", 1, {"std::char_traits<$0>"}, false},
    {"basic_stringbuf", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_stringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_istringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_ostringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_streambuf", 1, {"std::char_traits<$0>"}, false},
    {"basic_ios", 1, {"std::char_traits<$0>"}, false},
    {"basic_istream", 1, {"std::char_traits<$0>"}, false},
    {"basic_ostream", 1, {"std::char_traits<$0>"}, false},
    {"basic_iostream", 1, {"std::char_traits<$0>"}, false},
    {"basic_filebuf", 1, {"std::char_traits<$0>"}, false},
    {"basic_ifstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_ofstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_fstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_regex", 1, {"std::regex_traits<$0>"}, false},
    {"match_results", 1, {"std::allocator<std::sub_match<$0>>"}, true},
    {"unique_ptr", 1, {"std::default_delete<$0>"}, false},
    {"stack", 1, {"std::deque<$0>"}, false},
    {"queue", 1, {"std::deque<$0>"}, false},
    {"priority_queue", 1, {"std::vector<$0>", "std::less<$0>"}, false},
};

inline const default_rule* find_default_rule(text name) noexcept {
    for (const default_rule& rule : default_rules) {
        if (name == rule.name) return &rule;
    }
    return nullptr;
}

inline text filled_in(arena& memory, text rule, const list<text>& arguments) {
    text_out filled{memory};
    for (std::size_t i = 0; i < rule.size(); ++i) {
        if (rule[i] != '$') {
            filled << rule[i];
        } else if (rule[++i] == '0') {
            filled << arguments[0];
        } else if (arguments.size() > 1) {
            filled << "std::pair<" << with_const(memory, arguments[0]) << ", " << arguments[1];
            filled << '>';
        }
    }
    return filled.view();
}

// Behind "std::" or "std::pmr::" of a character template: "string" for basic_string<char>,
// "wregex" for basic_regex<wchar_t>. Writes nothing when there is no such name.
inline bool write_character_alias(text_out& out, text name, text character) {
    if (!name.starts_with("basic_")) return false;
    name.remove_prefix(6);
    if (character == "wchar_t") {
        out << 'w';
    } else if (character != "char") {
        if (!is_listed(name, "string string_view")) return false;
        if (character == "char8_t") {
            out << "u8";
        } else if (character == "char16_t") {
            out << "u16";
        } else if (character == "char32_t") {
            out << "u32";
        } else {
            return false;
        }
    }
    out << name;
    return true;
}

// Drops the arguments that are the rule's defaults. True: the template is the one of std::pmr.
inline bool drop_defaults(arena& memory, const default_rule& rule, list<text>& arguments) {
    std::size_t most = rule.first;
    while (most < rule.first + 4 && !rule.rules[most - rule.first].empty()) ++most;
    bool is_pmr = false;
    if (rule.has_allocator && arguments.size() == most) {
        text element = filled_in(memory, rule.rules[most - 1 - rule.first], arguments);
        element.remove_prefix(14);  // "std::allocator"
        is_pmr = arguments.back() == joined(memory, "std::pmr::polymorphic_allocator", element);
        if (is_pmr) arguments.pop_back();
    }
    while (arguments.size() > rule.first && arguments.size() <= most &&
           arguments.back() ==
               filled_in(memory, rule.rules[arguments.size() - 1 - rule.first], arguments)) {
        arguments.pop_back();
    }
    return is_pmr;
}

// Writes parts between brackets, with commas.
inline void write_list(text_out& out, char open, const list<text>& parts, char close) {
    out << open;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) out << ", ";
        out << parts[i];
    }
    out << close;
}

// Appends `arguments`, which are pretty already, to a text that ends with the qualified name from
// `name_begin` on, and makes of both what people write.
inline void write_arguments(text_out& out, std::size_t name_begin, list<text> arguments) {
    const text name = out.view().substr(name_begin);
    const default_rule* rule = nullptr;
    if (name.starts_with("std::")) rule = find_default_rule(name.substr(5));
    if (rule != nullptr && arguments.size() >= rule->first) {
        const bool is_pmr = drop_defaults(out.memory(), *rule, arguments);
        out.cut(name_begin);
        out << (is_pmr ? "std::pmr::" : "std::");
        if (arguments.size() == 1 && write_character_alias(out, rule->name, arguments[0])) return;
        out << rule->name;
    }
    write_list(out, '<', arguments, '>');
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP

// pretty_type.hpp - spells a type the way people write it, from a demangled name or from source.

#ifndef ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP
#define ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr int max_type_depth = 64;
constexpr std::size_t max_type_length = 256 * 1024;

// Counts the words of a built-in type, whose order is free: "long unsigned int" is "unsigned long".
class builtin_type {
public:
    bool take(text word) noexcept {
        if (word == "long") {
            ++longs_;
        } else if (word == "unsigned") {
            is_unsigned_ = true;
        } else if (word == "signed") {
            is_signed_ = true;
        } else if (is_listed(word, "char short double __int128")) {
            kind_ = word;
        } else {
            return word == "int";
        }
        return true;
    }

    void write(text_out& out) const {
        const bool is_char = kind_ == "char";
        if (kind_ == "double") {
            out << (longs_ != 0 ? "long double" : "double");
            return;
        }
        if (is_signed_ && is_char) out << "signed ";
        if (is_unsigned_ && !(is_signed_ && is_char)) out << "unsigned ";
        if (!kind_.empty()) {
            out << kind_;
        } else {
            out << (longs_ > 1 ? "long long" : longs_ == 1 ? "long" : "int");
        }
    }

private:
    text kind_;  // "char", "short", "double", "__int128", or "" for int and the long ones
    int longs_ = 0;
    bool is_unsigned_ = false;
    bool is_signed_ = false;
};

class type_printer {
public:
    type_printer(arena& memory, text type) : memory_(memory), type_(type) {}

    text print() {
        const text printed = part(0);
        return is_failed_ || at_ != type_.size() ? type_ : printed;
    }

private:
    // What has been written of one type, up to the next comma or closing bracket.
    struct written {
        text_out out;
        std::size_t name_begin = 0;   // where the qualified name that is being written began
        bool space_before = false;    // the input has a space here
        bool has_declarator = false;  // behind "*", "&" or "(": const belongs to that
        bool is_const = false;        // of the type itself
        bool is_volatile = false;

        explicit written(arena& memory) : out(memory) {}

        bool is_after_colons() const noexcept { return out.view().ends_with("::"); }

        // Writes the space that the input has here.
        void write_space() {
            if (space_before && !out.empty()) out << ' ';
            space_before = false;
        }
    };

    text part(int depth) {
        if (depth > max_type_depth) is_failed_ = true;
        written to{memory_};
        while (!is_failed_ && at_ < type_.size()) {
            const char c = type_[at_];
            if (c == ',' || c == '>' || c == ')' || c == ']' || c == '}') break;
            step(to, depth, c);
        }
        if (!to.is_const && !to.is_volatile) return to.out.view();
        return joined(memory_, to.is_const ? "const " : "", to.is_volatile ? "volatile " : "",
                      to.out.view());
    }

    void step(written& to, int depth, char c) {
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            to.space_before = true;
            ++at_;
        } else if (is_name_character(c)) {
            word(to);
        } else if (is_next("::")) {
            at_ += 2;
            if (to.out.size() > to.name_begin && !to.space_before) to.out << "::";
        } else if (c == '<') {
            angle_brackets(to, depth);
        } else if (c == '(') {
            parentheses(to, depth);
        } else if (c == '{') {
            braces(to, depth);
        } else if (c == '[') {
            square_brackets(to);
        } else if (c == '\'') {
            const std::size_t quote = type_.find('\'', at_ + 1);
            copy_until(to, quote == no_position ? no_position : quote + 1);
        } else if (c == '*' || c == '&') {
            to.out << c;
            to.has_declarator = true;
            to.space_before = false;
            ++at_;
        } else {
            copy_until(to, is_next("->") ? at_ + 2 : at_ + 1);
        }
    }

    bool is_next(text wanted) const noexcept { return type_.substr(at_).starts_with(wanted); }

    void word(written& to) {
        const std::size_t behind = skip_word(type_, at_);
        const text word = type_.substr(at_, behind - at_);
        const bool continues_name = to.is_after_colons() && !to.space_before;
        if (!continues_name && special_word(to, word, behind)) return;
        if (continues_name && is_inline_namespace(to, word, behind)) {
            at_ = behind + 2;
            return;
        }
        if (!continues_name) begin_name(to);
        if (is_operator_word(type_, at_)) {
            return copy_until(to, behind + operator_symbol_length(type_.substr(behind)));
        }
        to.out << without_literal_suffix(word);
        at_ = behind;
    }

    // Words that are no names: qualifiers, `struct`, and the words of built-in types.
    bool special_word(written& to, text word, std::size_t behind) {
        if (word == "const" || word == "volatile") {
            at_ = behind;
            if (to.has_declarator) {
                if (!to.out.empty() && to.out.back() != '(') to.out << ' ';
                to.out << word;
                to.space_before = true;
            } else {
                (word == "const" ? to.is_const : to.is_volatile) = true;
            }
            return true;
        }
        if (is_listed(word, "struct class union enum typename") && behind < type_.size() &&
            type_[behind] == ' ') {
            at_ = behind;
            return true;
        }
        return builtin_words(to, word);
    }

    bool builtin_words(written& to, text word) {
        builtin_type builtin;
        if (!builtin.take(word)) return false;
        begin_name(to);
        at_ += word.size();
        for (;;) {
            std::size_t next = at_;
            while (next < type_.size() && type_[next] == ' ') ++next;
            const std::size_t behind = skip_word(type_, next);
            const text more = type_.substr(next, behind - next);
            if (more == "const") {
                to.is_const = true;
            } else if (!builtin.take(more)) {
                break;
            }
            at_ = behind;
        }
        builtin.write(to.out);
        return true;
    }

    static void begin_name(written& to) {
        const bool needs_space = to.space_before && !to.out.empty() && to.out.back() != '(';
        if (needs_space) to.out << ' ';
        to.space_before = false;
        if (needs_space || to.out.empty() || !is_name_character(to.out.back())) {
            to.name_begin = to.out.size();
        }
    }

    // Parts of a name that the library's authors put there for the linker.
    bool is_inline_namespace(const written& to, text word, std::size_t behind) const {
        if (!type_.substr(behind).starts_with("::")) return false;
        const text name = to.out.view().substr(to.name_begin);
        if (name == "allocscope::") return word.size() == 2 && word[0] == 'v';
        return name.starts_with("std::") &&
               is_listed(word, "__cxx11 __1 __debug __cxx1998 __ndk1 _V2 __8");
    }

    // "8ul" and "8": one number.
    static text without_literal_suffix(text word) noexcept {
        if (word.front() < '0' || word.front() > '9') return word;
        const text digits = word.substr(0, word.find_last_not_of("ulUL") + 1);
        return digits.find_first_not_of("0123456789") == no_position ? digits : word;
    }

    void angle_brackets(written& to, int depth) {
        const bool has_name = to.out.size() > to.name_begin && !to.is_after_colons();
        if (!has_name) {  // "<lambda(int)>", as g++ writes it in debug information
            return copy_until(to, skip_brackets(type_, at_));
        }
        const list<text> arguments = parts('>', depth);
        if (is_failed_) return;
        write_arguments(to.out, to.name_begin, arguments);
        to.space_before = false;
    }

    void parentheses(written& to, int depth) {
        if (is_next(anonymous_namespace)) {
            if (!to.is_after_colons()) begin_name(to);
            return copy_until(to, at_ + anonymous_namespace.size());
        }
        to.write_space();
        const bool is_main = to.out.view() == "main" && is_next("()::");
        const list<text> parameters = parts(')', depth);
        if (is_main) return;  // main::local, whatever main's parameters
        write_list(to.out, '(', parameters, ')');
        if (!is_next("::")) to.has_declarator = true;
    }

    void braces(written& to, int depth) {
        if (is_next("{anonymous}")) {
            at_ += 11;
            to.out << anonymous_namespace;
            return;
        }
        if (!to.is_after_colons()) begin_name(to);
        write_list(to.out, '{', parts('}', depth), '}');
    }

    void square_brackets(written& to) {
        const std::size_t behind = skip_brackets(type_, at_);
        if (is_next("[abi:") && behind != no_position) {
            at_ = behind;
            return;
        }
        to.space_before = false;  // "int []" is "int[]"
        copy_until(to, behind);
    }

    // The parts between this bracket and the closing one, which is consumed.
    list<text> parts(char closing, int depth) {
        list<text> found{memory_};
        ++at_;
        for (;;) {
            const text one = part(depth + 1);
            if (is_failed_ || at_ >= type_.size()) break;
            const char c = type_[at_++];
            if (!one.empty() || c == ',' || !found.empty()) found.push_back(one);
            if (c == closing) return found;
            if (c != ',') break;
        }
        is_failed_ = true;
        return found;
    }

    void copy_until(written& to, std::size_t behind) {
        if (behind == no_position || behind > type_.size()) {
            is_failed_ = true;
            return;
        }
        to.write_space();
        to.out << type_.substr(at_, behind - at_);
        at_ = behind;
    }

    arena& memory_;
    text type_;
    std::size_t at_ = 0;
    bool is_failed_ = false;
};

// The type as people write it; the input itself when it is no type that we understand. The result
// lives in the arena or is a view of the input.
inline text pretty_type(arena& memory, text type) {
    type = without_spaces_around(type);
    if (type.size() > max_type_length) return type;
    return type_printer{memory, type}.print();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP

// source_tokens.hpp - cuts C++ source into words and signs with their line and column.

#ifndef ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP
#define ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

struct source_token {
    text spelling;  // a word, a number, a literal, or a sign ("::" and "->" are one)
    int line;
    int column;
};

struct token_list {
    list<source_token> tokens;
    list<text> macros;  // names defined in this file
};

inline bool is_word(text token) noexcept {
    return !token.empty() && is_name_character(token[0]) && !(token[0] >= '0' && token[0] <= '9');
}

class source_lexer {
public:
    source_lexer(arena& memory, text source) : source_(source) {
        result_.tokens = list<source_token>{memory};
        result_.macros = list<text>{memory};
        result_.tokens.reserve(source.size() / 4 + 4);
    }

    token_list read() {
        while (at_ < source_.size()) step();
        return result_;
    }

private:
    // The character at a position; behind the end there are zeros.
    char peek(std::size_t at) const noexcept { return at < source_.size() ? source_[at] : '\0'; }

    void step() {
        const char c = source_[at_];
        if (c == '\n') {
            new_line();
            is_line_start_ = true;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (is_comment()) {
            skip_comment();
        } else if (c == '\\' && continues_line()) {
            return;
        } else if (c == '#' && is_line_start_) {
            skip_directive();
        } else {
            is_line_start_ = false;
            token(c);
        }
    }

    void token(char c) {
        const std::size_t begin = at_;
        source_token found{{}, line_, static_cast<int>(begin - line_begin_) + 1};
        if (c == '"' || c == '\'') {
            pass_literal(skip_literal(begin));
        } else if (c >= '0' && c <= '9') {
            at_ = skip_number(begin);
        } else if (is_name_character(c)) {
            at_ = skip_word(source_, begin);
            const bool is_raw = at_ - begin <= 3 && peek(at_) == '"' && source_[at_ - 1] == 'R';
            if (is_raw) pass_literal(skip_raw_string(at_));
        } else {
            const char next = peek(begin + 1);
            const bool is_pair = (c == ':' && next == ':') || (c == '-' && next == '>');
            at_ = begin + (is_pair ? 2 : 1);
        }
        found.spelling = source_.substr(begin, at_ - begin);
        result_.tokens.push_back(found);
    }

    // A literal may run over lines.
    void pass_literal(std::size_t behind) noexcept {
        while (at_ < behind) {
            if (source_[at_] == '\n') {
                new_line();
            } else {
                ++at_;
            }
        }
    }

    void new_line() noexcept {
        ++at_;
        ++line_;
        line_begin_ = at_;
    }

    // Passes a backslash that ends a line.
    bool continues_line() noexcept {
        const std::size_t end = peek(at_ + 1) == '\r' ? at_ + 2 : at_ + 1;
        if (peek(end) != '\n') return false;
        at_ = end;
        new_line();
        return true;
    }

    bool is_comment() const noexcept {
        if (source_[at_] != '/') return false;
        const char next = peek(at_ + 1);
        return next == '/' || next == '*';
    }

    void skip_comment() noexcept {
        const bool is_block = source_[at_ + 1] == '*';
        at_ += 2;
        while (at_ < source_.size()) {
            if (source_[at_] == '\n') {
                const bool goes_on = source_[at_ - 1] == '\\';
                if (!is_block && !goes_on) return;
                new_line();
            } else if (is_block && source_[at_] == '*' && peek(at_ + 1) == '/') {
                at_ += 2;
                return;
            } else {
                ++at_;
            }
        }
    }

    void skip_directive() {
        const std::size_t begin = at_ + 1;
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (is_comment()) {
                skip_comment();
            } else if (source_[at_] != '\\' || !continues_line()) {
                ++at_;
            }
        }
        text directive = without_blanks(source_.substr(begin, at_ - begin));
        if (!directive.starts_with("define")) return;
        directive.remove_prefix(6);
        directive = without_blanks(directive);
        result_.macros.push_back(directive.substr(0, skip_word(directive, 0)));
    }

    static text without_blanks(text line) noexcept {
        const std::size_t begin = line.find_first_not_of(" \t");
        return begin == no_position ? text{} : line.substr(begin);
    }

    std::size_t skip_number(std::size_t at) const noexcept {
        for (;; ++at) {
            const char c = peek(at);
            const bool is_separator = c == '\'' && is_name_character(peek(at + 1));
            if (!is_name_character(c) && c != '.' && !is_separator) return at;
        }
    }

    // A string or character literal ends at its quote, or at the end of the line.
    std::size_t skip_literal(std::size_t at) const noexcept {
        const char quote = source_[at++];
        while (at < source_.size() && source_[at] != '\n') {
            if (source_[at] == quote) return at + 1;
            if (source_[at] == '\\' && at + 1 < source_.size()) ++at;
            ++at;
        }
        return at < source_.size() ? at : source_.size();
    }

    // R"mark( ... )mark": `at` is on the first quote.
    std::size_t skip_raw_string(std::size_t at) const noexcept {
        const std::size_t length = source_.substr(at, 18).find('(');  // a mark has 16 at most
        if (length == no_position) return skip_literal(at);
        const std::size_t open = at + length;
        const text mark = source_.substr(at + 1, open - at - 1);
        for (std::size_t close = source_.find(')', open); close != no_position;
             close = source_.find(')', close + 1)) {
            const std::size_t quote = close + 1 + mark.size();
            if (peek(quote) == '"' && source_.substr(close + 1).starts_with(mark)) return quote + 1;
        }
        return source_.size();
    }

    text source_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    int line_ = 1;
    bool is_line_start_ = true;
    token_list result_;
};

ALLOCSCOPE_NOINLINE token_list read_tokens(arena& memory, text source) {
    return source_lexer{memory, source}.read();
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP

// template_scopes.hpp - which template parameters are in force at a place of a source file.

#ifndef ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP
#define ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct template_header {
    list<text> parameters;  // "" for one without a name
    bool has_pack = false;
    bool shows_arguments = true;  // argument i of the demangled name is parameter i
};

// For each token the one that closes its bracket, or that it closes; 0 when there is none. Angle
// brackets are none.
ALLOCSCOPE_NOINLINE list<std::uint32_t> matching_brackets(arena& memory,
                                                          const list<source_token>& tokens) {
    list<std::uint32_t> partners{memory};
    partners.resize(tokens.size());
    list<std::uint32_t> open{memory};
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const char c = tokens[i].spelling.size() == 1 ? tokens[i].spelling[0] : ' ';
        if (c == '(' || c == '[' || c == '{') open.push_back(i);
        if ((c != ')' && c != ']' && c != '}') || open.empty()) continue;
        const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (tokens[open.back()].spelling[0] == opening) {
            partners[open.back()] = i;
            partners[i] = open.back();
            open.pop_back();
        } else if (c == '}') {  // a macro with half a bracket: start again behind the brace
            while (!open.empty() && tokens[open.back()].spelling[0] != '{') open.pop_back();
            if (!open.empty()) open.pop_back();
        }
    }
    return partners;
}

// Behind the `>` that closes the `<` at `at`; 0 when there is none near. `partners` are the
// matching round, square and curly brackets.
ALLOCSCOPE_NOINLINE std::size_t skip_angle_tokens(const list<source_token>& tokens,
                                                  const list<std::uint32_t>& partners,
                                                  std::size_t at) noexcept {
    constexpr std::size_t far_away = 512;
    int depth = 0;
    const std::size_t first = at;
    while (at < tokens.size() && at - first < far_away) {
        const text token = tokens[at].spelling;
        const char c = token.size() == 1 ? token[0] : ' ';
        if (c == ';' || c == '{' || c == '}') return 0;
        if (c == '<') ++depth;
        if (c == '>' && --depth == 0) return at + 1;
        if (c == '(' || c == '[') {
            if (partners[at] == 0) return 0;
            at = partners[at];
        }
        ++at;
    }
    return 0;
}

class template_scopes {
public:
    template_scopes(arena& memory, const list<source_token>& tokens,
                    const list<std::uint32_t>& partners)
        : memory_(&memory),
          tokens_(tokens),
          partners_(partners),
          headers_(memory),
          scopes_(memory),
          open_(memory),
          pending_(memory) {
        scopes_.push_back({0, list<std::size_t>{}});
    }

    // Tells the walk of the token at `at`; returns the index of the next one to look at.
    std::size_t see(std::size_t at) {
        const text token = tokens_[at].spelling;
        switch (token.front()) {
            case 't':
                if (token == "template" && text_at(at + 1) == "<") return read_header(at + 1);
                break;
            case ']':
                if (text_at(at + 1) == "<" &&
                    (text_at(at + 2) == "class" || text_at(at + 2) == "typename")) {
                    return read_header(at + 1);
                }
                break;
            case '{':
                check_specialisation(at);
                open_.push_back(current_);
                current_ = here();
                forget_pending();
                break;
            case '}':
                close_brace(at);
                break;
            case ';':
                forget_pending();
                break;
            default:
                break;
        }
        return at + 1;
    }

    // The scope of the token that see() was told of last.
    std::size_t here() {
        if (pending_.empty()) return current_;
        scopes_.push_back({current_, pending_});
        return scopes_.size() - 1;
    }

    bool is_in_template() const noexcept {
        if (!pending_.empty()) return true;
        std::size_t scope = current_;
        while (scope != 0 && scopes_[scope].headers.empty()) scope = scopes_[scope].parent;
        return scope != 0;
    }

    // The headers around a scope, outermost first.
    list<const template_header*> headers_around(arena& memory, std::size_t scope) const {
        list<const template_header*> found{memory};
        constexpr std::size_t most = 64;
        while (scope != 0 && found.size() < most) {
            const list<std::size_t>& own = scopes_[scope].headers;
            for (std::size_t i = own.size(); i > 0; --i) found.push_back(&headers_[own[i - 1]]);
            scope = scopes_[scope].parent;
        }
        for (std::size_t i = 0; i < found.size() / 2; ++i) {
            const template_header* inner = found[i];
            found[i] = found[found.size() - 1 - i];
            found[found.size() - 1 - i] = inner;
        }
        return found;
    }

private:
    struct node {
        std::size_t parent;
        list<std::size_t> headers;
    };

    static constexpr std::size_t max_pending = 16;  // a level of nested classes each, and a member

    text text_at(std::size_t at) const noexcept {
        return at < tokens_.size() ? tokens_[at].spelling : text{};
    }

    // A scope may have kept the old list, so it is left to it.
    void forget_pending() noexcept {
        if (!pending_.empty()) pending_ = list<std::size_t>{*memory_};
    }

    void close_brace(std::size_t at) {
        if (open_.empty()) return;
        const std::size_t outer = open_.back();
        open_.pop_back();
        const bool was_initialiser = text_at(at + 1) == "," || text_at(at + 1) == "{";
        if (was_initialiser && current_ != outer) {
            forget_pending();
            for (const std::size_t header : scopes_[current_].headers) pending_.push_back(header);
        }
        current_ = outer;
    }

    // `at` is on the `<` of a header.
    std::size_t read_header(std::size_t at) {
        const std::size_t behind = skip_angle_tokens(tokens_, partners_, at);
        if (behind == 0) return at + 1;
        template_header header;
        header.parameters = list<text>{*memory_};
        text name;
        int depth = 0;
        bool has_default = false;
        for (std::size_t i = at + 1; i < behind; ++i) {
            const text token = tokens_[i].spelling;
            const char c = token.size() == 1 ? token[0] : ' ';
            if (depth == 0 && (c == ',' || i + 1 == behind)) {
                if (i > at + 1) header.parameters.push_back(name);
                name = {};
                has_default = false;
                continue;
            }
            if (c == '<' || c == '(') ++depth;
            if (c == '>' || c == ')') --depth;
            if (depth == 0 && c == '=') has_default = true;
            if (c == '.') header.has_pack = true;
            const bool is_name = is_word(token) && token != "class" && token != "typename";
            if (depth == 0 && !has_default && is_name) name = token;
        }
        headers_.push_back(header);
        if (pending_.size() < max_pending) pending_.push_back(headers_.size() - 1);
        header_end_ = behind;
        is_unchecked_ = true;
        return behind;
    }

    // `at` is on the `{` behind the pending headers. In `struct pool<T*>` and `pool<T*>::grab()`
    // the arguments differ from the parameters; header i belongs to the i-th class with arguments.
    void check_specialisation(std::size_t at) {
        if (pending_.empty() || !is_unchecked_) return;
        is_unchecked_ = false;
        std::size_t opens[max_pending];  // the "<" of each class of the name being declared
        std::size_t count = 0;
        const text first = text_at(header_end_);
        const bool is_class = first == "struct" || first == "class" || first == "union";
        constexpr std::size_t far_away = 256;
        for (std::size_t i = header_end_; i < at && i < header_end_ + far_away; ++i) {
            const text token = tokens_[i].spelling;
            if ((token == "(" && !is_class) || (token == ":" && is_class)) break;
            if (is_word(token) && i > header_end_ && text_at(i - 1) != "::") count = 0;
            if (token != "<") continue;
            const std::size_t behind = skip_angle_tokens(tokens_, partners_, i);
            if (behind == 0 || behind > at) break;
            if ((is_class || text_at(behind) == "::") && count < max_pending) opens[count++] = i;
            i = behind - 1;
        }
        for (std::size_t i = 0; i < count && i < pending_.size(); ++i) {
            check_arguments(headers_[pending_[i]], opens[i]);
        }
    }

    // `open` is on the "<" of the arguments that a class is declared or a member is defined with.
    void check_arguments(template_header& header, std::size_t open) const noexcept {
        const std::size_t close = skip_angle_tokens(tokens_, partners_, open) - 1;
        std::size_t parameter = 0;
        bool is_same = true;
        for (std::size_t i = open + 1; i < close; ++i) {
            const text token = tokens_[i].spelling;
            if (token == "," || token == ".") continue;
            is_same = is_same && parameter < header.parameters.size() &&
                      token == header.parameters[parameter];
            ++parameter;
        }
        header.shows_arguments = is_same && parameter == header.parameters.size();
    }

    arena* memory_;
    const list<source_token>& tokens_;
    const list<std::uint32_t>& partners_;
    list<template_header> headers_;
    list<node> scopes_;
    list<std::size_t> open_;  // for every open brace: the scope outside it
    list<std::size_t> pending_;
    std::size_t current_ = 0;
    std::size_t header_end_ = 0;
    bool is_unchecked_ = false;  // the pending headers, by check_specialisation
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP

// new_expressions.hpp - finds every `new T` of a source file, and where compilers say it stands.

#ifndef ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
#define ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Positions are indices of tokens.
struct new_expression {
    std::size_t begin = 0;       // of `new`, or of the `::` before it
    std::size_t last = 0;        // the token that g++ names
    std::size_t reach = 0;       // the largest `last` of this expression and those before it
    std::size_t type_begin = 0;  // of the type, without the bounds of an array
    std::size_t type_end = 0;
    std::size_t scope = 0;  // of template_scopes
    bool has_initialiser = false;
    bool has_type = false;  // false: `new auto(x)`, or something that we cannot read
};

class source_outline {
public:
    // `source` must live as long as the outline.
    source_outline(arena& memory, text source)
        : list_(read_tokens(memory, source)),
          partners_(matching_brackets(memory, list_.tokens)),
          scopes_(memory, list_.tokens, partners_),
          expressions_(memory),
          edges_(memory),
          names_(memory) {
        for (const text macro : list_.macros) names_[macro] |= macro_name;
        for (std::size_t at = 0; at < tokens().size();) {
            see(at);
            at = scopes_.see(at);
        }
    }
    source_outline(const source_outline&) = delete;
    source_outline& operator=(const source_outline&) = delete;

    const list<source_token>& tokens() const noexcept { return list_.tokens; }
    // In the order in which they begin.
    const list<new_expression>& expressions() const noexcept { return expressions_; }

    // The token that closes the bracket at `at`, or that it closes; 0 when there is none.
    std::size_t partner(std::size_t at) const noexcept { return partners_[at]; }

    list<const template_header*> headers_around(arena& memory, std::size_t scope) const {
        return scopes_.headers_around(memory, scope);
    }

    // The first expression that begins or ends with the token; null when none does.
    const new_expression* expression_at(std::size_t token) const noexcept {
        const std::uint32_t* found = edges_.find(token);
        return found != nullptr ? &expressions_[*found] : nullptr;
    }

    bool is_macro(text name) const noexcept { return is_known_as(name, macro_name); }

    // A type or a namespace of this file.
    bool is_defined(text name) const noexcept { return is_known_as(name, defined_name); }

    // Declared by `using` or `typedef` inside a template: it may depend on the parameters.
    bool is_template_alias(text name) const noexcept {
        return is_known_as(name, template_alias_name);
    }

    // A name of the standard library that this file uses without "std::".
    bool is_standard_name(text name) const noexcept {
        if (is_known_as(name, class_name)) return false;
        if (is_known_as(name, standard_name)) return true;
        // Names that hardly anybody gives to a class of his own.
        return uses_namespace_std_ &&
               is_listed(name,
                         "string wstring vector deque forward_list map multimap multiset "
                         "unordered_map unordered_set unordered_multimap shared_ptr unique_ptr "
                         "ostringstream istringstream stringstream");
    }

    // Index of the first token at or behind a line and column.
    std::size_t token_from(int line, int column) const noexcept {
        return partition_point(tokens().data(), tokens().size(), [&](const source_token& token) {
            return token.line < line || (token.line == line && token.column < column);
        });
    }

private:
    // What this file says about a name.
    enum : unsigned {
        macro_name = 1,
        template_alias_name = 2,
        class_name = 4,     // declared or named as such
        standard_name = 8,  // of a using-declaration
        defined_name = 16   // of a type or a namespace that is defined here
    };

    bool is_known_as(text name, unsigned meaning) const noexcept {
        const unsigned* known = names_.find(name);
        return known != nullptr && (*known & meaning) != 0;
    }

    text text_at(std::size_t at) const noexcept {
        return at < tokens().size() ? tokens()[at].spelling : text{};
    }

    text text_before(std::size_t at) const noexcept {
        return at > 0 ? tokens()[at - 1].spelling : text{};
    }

    void see(std::size_t at) {
        const text token = tokens()[at].spelling;
        switch (token.front()) {
            case 'n':
                if (token == "new") read_new(at);
                if (token == "namespace") read_definition(at + 1);
                break;
            case 'u':
                if (token == "using") read_using(at);
                if (token == "union") read_definition(at + 1);
                break;
            case 't':
                if (token == "typedef") read_typedef(at);
                break;
            case 's':
            case 'c':
                if (token == "struct" || token == "class") {
                    names_[text_at(at + 1)] |= class_name;
                    read_definition(at + 1);
                }
                break;
            case 'e':
                if (token == "enum") read_definition(at + 1);
                break;
            default:
                break;
        }
    }

    // Of a class, an enumeration or a namespace: `name {`, `name : base {`, `name = other;`.
    void read_definition(std::size_t at) {
        if (!is_word(text_at(at))) return;
        const text behind = text_at(at + 1);
        if (is_listed(behind, "{ : = :: final")) names_[text_at(at)] |= defined_name;
        // `namespace a::b {`
        for (; text_at(at + 1) == "::" && is_word(text_at(at + 2)); at += 2) {
            names_[text_at(at + 2)] |= defined_name;
        }
    }

    void read_new(std::size_t at) {
        const text before = text_before(at);
        if (before == "operator" || before == "." || before == "->") return;
        new_expression found;
        found.begin = before == "::" ? at - 1 : at;
        std::size_t next = at + 1;
        std::size_t behind = 0;
        if (text_at(next) == "(") {
            const std::size_t close = partners_[next];
            if (close == 0) return;
            const text follows = text_at(close + 1);
            if (is_word(follows) || follows == "::") {
                if (!is_allocating_placement(next, close)) return;
                behind = read_type(close + 1, found);
            } else {  // new (T)
                const std::size_t type_end = read_type(next + 1, found);
                found.has_type = found.has_type && type_end == close && follows != "(";
                found.last = close;
                behind = close + 1;
            }
        } else {
            behind = read_type(next, found);
        }
        const text opens = text_at(behind);
        if ((opens == "(" || opens == "{") && partners_[behind] != 0) {
            found.has_initialiser = true;
            found.last = partners_[behind];
        }
        found.scope = scopes_.here();
        keep(found);
    }

    void keep(new_expression& found) {
        found.reach = found.last;
        if (!expressions_.empty() && expressions_.back().reach > found.reach) {
            found.reach = expressions_.back().reach;
        }
        const auto number = static_cast<std::uint32_t>(expressions_.size());
        const auto begins = edges_.insert(found.begin);
        if (begins.is_new) begins.value = number;
        const auto ends = edges_.insert(found.last);
        if (ends.is_new) ends.value = number;
        expressions_.push_back(found);
    }

    bool is_allocating_placement(std::size_t open, std::size_t close) const {
        for (std::size_t i = open + 1; i < close && i < open + 16; ++i) {
            if (tokens()[i].spelling == "nothrow" || tokens()[i].spelling == "align_val_t")
                return true;
        }
        return false;
    }

    // Reads a type that starts at `at`; the index behind it and its array bounds.
    std::size_t read_type(std::size_t at, new_expression& found) {
        found.type_begin = at;
        found.last = at < tokens().size() ? at : tokens().size() - 1;
        bool has_name = false;
        bool is_builtin = false;
        bool is_readable = true;
        for (;; ++at) {
            const text word = text_at(at);
            if (word == "const" || word == "volatile") {
                found.last = at;
            } else if (!has_name && builtin_type{}.take(word)) {
                is_builtin = true;
                found.last = at;
            } else if (has_name || is_builtin) {
                break;
            } else if (word == "decltype" || word == "auto") {
                has_name = true;
                is_readable = false;
                found.last = at;
                if (word == "decltype" && text_at(at + 1) == "(") at = partners_[at + 1];
                if (at == 0) return found.last + 1;
            } else if (is_listed(word, "struct class union enum typename")) {
                continue;
            } else if (word == "::" || is_word(word)) {
                const std::size_t behind = read_qualified_name(at, found);
                if (behind == 0) return at + 1;
                has_name = true;
                at = behind - 1;
            } else {
                return at;
            }
        }
        for (; text_at(at) == "*" || text_at(at) == "&" || text_at(at) == "const"; ++at) {
            found.last = at;
        }
        found.type_end = at;
        found.has_type = is_readable;
        while (text_at(at) == "[" && partners_[at] != 0) {
            at = partners_[at];
            found.last = at++;
        }
        return at;
    }

    // 0 when it cannot be read.
    std::size_t read_qualified_name(std::size_t at, new_expression& found) const {
        if (text_at(at) == "::") ++at;
        for (;;) {
            if (!is_word(text_at(at))) return 0;
            found.last = at++;
            if (text_at(at) == "<") {
                at = skip_angle_tokens(tokens(), partners_, at);
                if (at == 0) return 0;
            }
            if (text_at(at) != "::") return at;
            ++at;
            if (text_at(at) == "template") ++at;
        }
    }

    // `using namespace std;`, `using std::string;`, and `using X =` in a template.
    void read_using(std::size_t at) {
        const text next = text_at(at + 1);
        const text after = text_at(at + 2);
        if (next == "namespace" && after == "std" && text_at(at + 3) == ";") {
            uses_namespace_std_ = true;
        }
        if (next == "std" && after == "::" && text_at(at + 4) == ";") {
            names_[text_at(at + 3)] |= standard_name;
        }
        if (after != "=") return;
        names_[next] |= defined_name;
        if (scopes_.is_in_template()) names_[next] |= template_alias_name;
    }

    // Remembers `typedef ... X;`.
    void read_typedef(std::size_t at) {
        const unsigned meaning =
            defined_name | (scopes_.is_in_template() ? template_alias_name : 0U);
        constexpr std::size_t far_away = 64;
        for (std::size_t i = at + 1; i < tokens().size() && i < at + far_away; ++i) {
            if (tokens()[i].spelling != ";") continue;
            names_[tokens()[i - 1].spelling] |= meaning;
            return;
        }
    }

    token_list list_;
    list<std::uint32_t> partners_;
    template_scopes scopes_;
    list<new_expression> expressions_;
    table<std::uint64_t, std::uint32_t> edges_;  // its number, by its first and its last token
    table<text, unsigned> names_;
    bool uses_namespace_std_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

// source_cache.hpp - source files, each read and taken apart once for a report.

#ifndef ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
#define ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::uint64_t max_source_bytes = 2 * 1024 * 1024;
constexpr std::size_t max_source_files = 256;

class source_cache {
public:
    source_cache() noexcept : files_(memory_) {}
    source_cache(const source_cache&) = delete;
    source_cache& operator=(const source_cache&) = delete;

    // Null when the file cannot be read, is no regular file, is larger than 2 MiB, or was changed
    // after `built_ns`; 0: that is not known.
    const source_outline* find(text path, std::uint64_t built_ns = 0) {
        const source_file* file = files_.find(path);
        if (file == nullptr) {
            if (files_.size() >= max_source_files) return nullptr;
            const text kept = copy_of(memory_, path);
            const source_file made = read(kept.data());
            file = &(files_[kept] = made);
        }
        return built_ns == 0 || file->changed_ns <= built_ns ? file->outline : nullptr;
    }

    // Forgets all files.
    void release() noexcept {
        files_ = table<text, source_file>{memory_};
        memory_.release();
    }

private:
    struct source_file {
        const source_outline* outline = nullptr;
        std::uint64_t changed_ns = 0;
    };

    source_file read(const char* path) {
        const detail::file_reader file{path};
        const std::uint64_t size = file.identity().size_bytes;
        if (!file.is_open() || size > max_source_bytes) return {};
        auto* bytes = static_cast<char*>(memory_.allocate(size));
        const text source{bytes, file.read_at(0, bytes, size)};
        return {memory_.make<source_outline>(memory_, source), file.identity().changed_ns};
    }

    arena memory_;
    table<text, source_file> files_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

// closing_brace.hpp - moves a call from the closing brace to the line that it is written on.

#ifndef ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP
#define ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a closing brace is all that stands on the line.
inline bool is_closing_brace(const source_outline& file, int line) noexcept {
    const list<source_token>& tokens = file.tokens();
    const std::size_t at = file.token_from(line, 0);
    if (at >= tokens.size() || tokens[at].line != line || tokens[at].spelling != "}") return false;
    return at + 1 == tokens.size() || tokens[at + 1].line != line;
}

inline bool is_destructor(arena& memory, const code_frame& frame) {
    const borrowed_memory meanwhile{memory};
    const function_name name = parse_function_name(memory, frame.function);
    return !name.components.empty() && name.components.back().name.starts_with("~");
}

// `at`: the frame of `frames` whose line may be that of a brace.
inline void leave_closing_brace(arena& memory, list<code_frame>& frames, std::size_t at,
                                source_cache& sources) {
    code_frame& frame = frames[at];
    const int line = frame.line_behind != 0 ? frame.line_behind : frame.line_before;
    if (frame.line <= 0 || line == 0 || is_standard_header(frame.file)) return;
    if (line < frame.line_before) return;  // the code was moved about: there is nothing to go by
    if (at > 0 && is_destructor(memory, frames[at - 1])) return;
    const source_outline* file = sources.find(frame.file, frame.built_ns);
    if (file == nullptr || !is_closing_brace(*file, frame.line)) return;
    frame.line = line;
    frame.column = 0;
    frame.is_nearby = true;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP

// frame_rule.hpp - tells the user's frames from the library's: which one gives a row its line.

#ifndef ALLOCSCOPE_TYPES_FRAME_RULE_HPP
#define ALLOCSCOPE_TYPES_FRAME_RULE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// True for the functions between a user's code and the allocation that nobody asks about: of the
// C++ runtime, the C library's allocating functions, and what runs before main and in new threads.
inline bool is_runtime_function(text name) noexcept {
    if (name.starts_with("operator ")) {
        name.remove_prefix(9);
        return name.starts_with("new") || name.starts_with("delete");
    }
    constexpr text starts =
        "__cxa_ __gxx_ _Unwind_ _dl_ __libc_ __GI_ _IO_ __gthread_ __interceptor_";
    constexpr text names =
        "_start _init _fini start_thread clone clone3 __clone dl_main call_init malloc calloc "
        "realloc reallocarray free cfree memalign aligned_alloc valloc pvalloc strdup strndup "
        "__strdup __strndup wcsdup posix_memalign execute_native_thread_routine "
        "__libcpp_operator_new __call_tls_dtors __run_exit_handlers exit";
    return is_listed(name, names) || !listed_start(name, starts).empty();
}

// Of the C and C++ implementation by its name: a reserved global name. What the compilers put
// around a user's global variables is the user's, and so is a linker name too long to demangle,
// unless it begins with the library's namespaces.
inline bool is_reserved_function(text name) noexcept {
    if (name.size() < 2 || name[0] != '_') return false;
    if (name[1] == 'Z') {
        constexpr text starts = "_ZSt _ZNSt _ZNKSt _ZNSa _ZNSs _ZN9__gnu_cxx _ZNK9__gnu_cxx";
        return !listed_start(name, starts).empty();
    }
    if (!listed_start(name, "_GLOBAL__ __cxx_global_ __static_init").empty()) return false;
    return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
}

inline bool is_library_namespace(text name) noexcept {
    return is_listed(name,
                     "std __gnu_cxx __cxxabiv1 allocscope __gnu_debug __gnu_parallel __pstl "
                     "__gnu_internal __sanitizer");
}

class frame_rule {
public:
    constexpr frame_rule() noexcept = default;
    frame_rule(const frame_rule&) = delete;
    frame_rule& operator=(const frame_rule&) = delete;

    // From now on these are library code too. Returns "" or why the pattern was refused.
    //   contains '/'    files: begins with '/' - from the root; otherwise that part of any path
    //   ends with '*'   functions whose qualified name starts so
    //   otherwise       a namespace, class or function, with or without "::" at its end
    // Adding the same pattern again changes nothing.
    const char* add(const char* pattern) noexcept {
        if (pattern == nullptr) return "library_frames: the pattern is a null pointer";
        const text added{pattern};
        if (added.empty()) return "library_frames: the pattern is empty: it would fit every frame";
        if (is_listed(added, "* / ::")) {
            return "library_frames: the pattern fits every frame: name a namespace or a folder";
        }
        if (added.size() >= pattern_size) {
            return "library_frames: the pattern is over 255 characters";
        }
        pthread_mutex_lock(&adding_);
        const bool has_room = add_once(added);
        pthread_mutex_unlock(&adding_);
        return has_room ? "" : "library_frames: there are 64 patterns already";
    }

    // Changes whenever a pattern was added: what was decided before may be different now.
    std::size_t version() const noexcept { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }

    // True when no row should be named after this frame. A frame about which nothing is known
    // is no user's frame either.
    bool is_library(arena& scratch, const code_frame& frame) const {
        if (frame.function.empty() && frame.file.empty()) return true;
        if (is_standard_header(frame.file)) return true;
        const borrowed_memory meanwhile{scratch};
        const function_name name = parse_function_name(scratch, frame.function);
        const text plain = plain_name(scratch, name);
        if (is_added(plain, frame.file)) return true;
        if (!name.is_known()) return false;
        if (is_runtime_function(plain)) return true;
        if (name.components.size() > 1) return is_library_namespace(name.components[0].name);
        return frame.file.empty() && is_reserved_function(plain);
    }

private:
    // False: there is no room for one more.
    bool add_once(text added) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (added == patterns_[i]) return true;
        }
        if (count_ == max_patterns) return false;
        std::memcpy(patterns_[count_], added.data(), added.size());  // the rest is zero
        // Pairs with the acquire in version(): who sees the count sees the text.
        __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
        return true;
    }

    bool is_added(text plain, text file) const noexcept {
        const std::size_t count = version();
        for (std::size_t i = 0; i < count; ++i) {
            const text pattern{patterns_[i]};
            const bool fits =
                pattern.contains("/") ? fits_file(pattern, file) : fits_name(pattern, plain);
            if (fits) return true;
        }
        return false;
    }

    static bool fits_file(text pattern, text file) noexcept {
        while (pattern.size() > 1 && pattern.back() == '/') pattern.remove_suffix(1);
        const bool from_root = pattern.front() == '/';
        for (std::size_t at = file.find(pattern); at != no_position;
             at = file.find(pattern, at + 1)) {
            const std::size_t behind = at + pattern.size();
            const bool ends = behind == file.size() || file[behind] == '/';
            const bool begins = at == 0 || (!from_root && file[at - 1] == '/');
            if (begins && ends) return true;
            if (from_root) return false;
        }
        return false;
    }

    static bool fits_name(text pattern, text plain) noexcept {
        if (pattern.starts_with("::")) pattern.remove_prefix(2);
        if (pattern.back() == '*') {
            pattern.remove_suffix(1);
            return plain.starts_with(pattern);
        }
        if (pattern.ends_with("::")) pattern.remove_suffix(2);
        if (pattern.empty() || !plain.starts_with(pattern)) return false;
        return plain.size() == pattern.size() || plain.substr(pattern.size()).starts_with("::");
    }

    static constexpr std::size_t max_patterns = 64;
    static constexpr std::size_t pattern_size = 256;

    pthread_mutex_t adding_ = PTHREAD_MUTEX_INITIALIZER;
    std::size_t count_ = 0;  // others read it while add() runs
    char patterns_[max_patterns][pattern_size] = {};
};

// Index of the frame that gives a stack its file and line: the innermost that is the user's; if
// there is none, the innermost with file and line, then the innermost with a name, then
// frames.size(). `frames` are the logical frames of the whole stack, innermost first.
inline std::size_t user_frame(arena& scratch, const list<code_frame>& frames,
                              const frame_rule& rule) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!rule.is_library(scratch, frames[i])) return i;
    }
    std::size_t named = frames.size();
    for (std::size_t i = frames.size(); i > 0; --i) {
        if (!frames[i - 1].function.empty()) named = i - 1;
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!frames[i].file.empty() && frames[i].line > 0) return i;
    }
    return named;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_FRAME_RULE_HPP

// shorten_paths.hpp - file names without the directory that they all share.

#ifndef ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP
#define ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// "/a/b/../c/./d.cpp" as "/a/c/d.cpp". A relative path keeps the ".." it begins with.
inline text tidy_path(arena& memory, text path) {
    const bool is_absolute = path.starts_with("/");
    list<text> parts{memory};
    std::size_t at = 0;
    while (at < path.size()) {
        std::size_t end = path.find('/', at);
        if (end == text::npos) end = path.size();
        const text part = path.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !is_absolute) {
            parts.push_back(part);
        }
    }
    text_out tidy{memory};
    for (const text part : parts) {
        if (is_absolute || !tidy.empty()) tidy << '/';
        tidy << part;
    }
    return tidy.view();
}

// Length of the directory, its slash included, that all paths of one kind begin with.
inline std::size_t common_directory(const list<text>& paths, bool is_absolute) noexcept {
    text shared;
    bool is_first = true;
    for (const text path : paths) {
        if (path.empty() || path.starts_with("/") != is_absolute) continue;
        if (is_first) shared = path;
        is_first = false;
        std::size_t same = 0;
        while (same < shared.size() && same < path.size() && shared[same] == path[same]) ++same;
        shared = shared.substr(0, same);
    }
    const std::size_t slash = shared.rfind('/');
    return slash == text::npos || slash == 0 ? 0 : slash + 1;
}

// In place; "" stays "", and equal files get equal names.
inline void shorten_paths(arena& memory, list<text>& paths) {
    for (text& path : paths) path = tidy_path(memory, path);
    const std::size_t cuts[] = {common_directory(paths, false), common_directory(paths, true)};
    table<text, text> meanings{memory};  // of a short name: the path, or "" when there are two
    for (const text path : paths) {
        if (path.empty()) continue;
        const text name = path.substr(cuts[path.starts_with("/") ? 1 : 0]);
        const auto meaning = meanings.insert(name);
        if (meaning.is_new) {
            meaning.value = path;
        } else if (meaning.value != path) {
            meaning.value = {};
        }
    }
    for (text& path : paths) {
        if (path.empty()) continue;
        const text name = path.substr(cuts[path.starts_with("/") ? 1 : 0]);
        if (!meanings.find(name)->empty()) path = name;
    }
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP

// wrapped_type.hpp - takes the library's wrapping off a type: nodes, control blocks, buckets.

#ifndef ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
#define ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

inline text without_pointer(text type) noexcept {
    if (type.ends_with("*")) type.remove_suffix(1);
    return type;
}

inline text without_array(text type) noexcept {
    const std::size_t bracket = type.rfind('[');
    const bool is_array = type.ends_with("]") && bracket != no_position && bracket != 0;
    return is_array ? without_spaces_around(type.substr(0, bracket)) : type;
}

// One layer: the result is `type` itself when nothing is wrapped around it.
inline text without_wrapping(arena& memory, text type) {
    if (!type.starts_with("std::")) return type;
    if (type == "std::__detail::_Hash_node_base*" ||
        (type.starts_with("std::__hash_node_base<") && type.ends_with("*"))) {
        return "hash buckets";
    }
    if (type == "std::__future_base::_State_baseV2") return "std::future state";
    const std::size_t open = type.find('<');
    if (open == no_position || skip_brackets(type, open) != type.size()) return type;
    const list<text> arguments = split_arguments(memory, type.substr(open));
    if (arguments.empty()) return type;
    const text name = type.substr(5, open - 5);
    const text first = arguments[0];
    if (is_listed(name,
                  "_Rb_tree_node __detail::_Hash_node _List_node _Fwd_list_node "
                  "_Sp_counted_ptr_inplace __tree_node __hash_node __list_node "
                  "__forward_list_node __shared_ptr_emplace __function::__func")) {
        return first;
    }
    if (is_listed(name, "__value_type __hash_value_type") && arguments.size() > 1) {
        const text key = joined(memory, "std::pair<", with_const(memory, first), ", ");
        return joined(memory, key, arguments[1], ">");
    }
    if (is_listed(name, "_Sp_counted_ptr _Sp_counted_deleter __shared_ptr_pointer")) {
        return joined(memory, "std::shared_ptr<", without_pointer(first), "> control block");
    }
    if (name == "__future_base::_Result") return joined(memory, "std::future<", first, "> result");
    if (is_listed(name,
                  "__future_base::_Deferred_state __future_base::_Async_state_impl "
                  "__future_base::_Task_state")) {
        return "std::future state";
    }
    return type;
}

// What stands in the block, for a user. Idempotent.
inline text unwrapped_type(arena& memory, text type) {
    for (int layer = 0; layer < 4; ++layer) {
        const text inner = without_wrapping(memory, type);
        if (inner.data() == type.data()) break;
        type = inner;
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

// library_calls.hpp - what a function of the standard library allocates, by its template arguments.

#ifndef ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
#define ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The scope and the function of a member of a library template: std::(scope<...>)::(function<...>).
// Of template arguments the first ones; "" for one that is not there.
struct library_call {
    text scope;  // "" for a function of the namespace itself
    text function;
    text scope_first;
    text scope_second;
    text function_first;
};

// Function "" when it is not one of the standard library's.
inline library_call as_library_call(arena& memory, const function_name& name) {
    library_call call;
    const std::size_t count = name.components.size();
    if (count < 2 || !is_listed(name.components[0].name, "std __gnu_cxx")) return call;
    call.function = name.last().name;
    const list<text> own = split_arguments(memory, name.last().arguments);
    if (!own.empty()) call.function_first = own[0];
    if (count == 2) return call;
    const name_component& scope = name.components[count - 2];
    call.scope = scope.name;
    const list<text> arguments = split_arguments(memory, scope.arguments);
    if (!arguments.empty()) call.scope_first = arguments[0];
    if (arguments.size() > 1) call.scope_second = arguments[1];
    return call;
}

// The T of "std::allocator<T>"; "" for an allocator that is not the library's own.
inline text allocated_by(text allocator) noexcept {
    const text start = listed_start(
        allocator,
        "std::allocator< std::__1::allocator< std::__new_allocator< __gnu_cxx::new_allocator< "
        "std::pmr::polymorphic_allocator<");
    if (start.empty() || !allocator.ends_with(">")) return {};
    allocator.remove_prefix(start.size());
    allocator.remove_suffix(1);
    return without_spaces_around(allocator);
}

// allocate() of the library's allocators: the element type, "" for everything else.
inline text type_of_allocator_call(const library_call& call) noexcept {
    if (call.function != "allocate") return {};
    if (call.scope == "allocator_traits") return allocated_by(call.scope_first);
    const bool is_allocator =
        is_listed(call.scope,
                  "__new_allocator new_allocator allocator polymorphic_allocator malloc_allocator");
    return is_allocator ? call.scope_first : text{};
}

// Members that can allocate only characters, inlined code or not.
inline text type_of_character_buffer(const library_call& call) noexcept {
    const bool is_buffer =
        is_listed(call.scope, "basic_string basic_stringbuf") ||
        (call.scope == "basic_filebuf" && call.function == "_M_allocate_internal_buffer");
    const bool is_plain = is_listed(call.scope_first, "char wchar_t char8_t char16_t char32_t");
    return is_buffer && is_plain ? call.scope_first : text{};
}

// The internal functions by which containers ask their allocator.
inline text type_of_container_call(arena& memory, const library_call& call) {
    const text function = call.function;
    if (is_listed(function, "_M_allocate_buckets _M_rehash_aux")) return "hash buckets";
    if (call.scope.empty()) {
        return function == "__allocate_guarded" ? allocated_by(call.function_first) : text{};
    }
    const bool is_node = is_listed(function, "_M_get_node _M_create_node");
    const bool allocates_node = function == "_M_allocate_node";
    if (call.scope == "_Rb_tree") return is_node ? call.scope_second : text{};
    if (call.scope == "_Hashtable_alloc") {
        return allocates_node ? allocated_by(call.scope_first) : text{};
    }
    if (allocated_by(call.scope_second).empty()) return {};
    if (call.scope == "_Vector_base") return call.scope_first;
    if (is_node && is_listed(call.scope, "_List_base list _Fwd_list_base")) return call.scope_first;
    if (call.scope != "_Deque_base") return {};
    if (function == "_M_allocate_map") return joined(memory, call.scope_first, "*");
    return allocates_node ? call.scope_first : text{};
}

// Any member of a vector: the type of its elements. Such a member may also copy an element that
// allocates, so it only confirms what functions further in have said.
inline text element_of_vector(const library_call& call) noexcept {
    const bool is_known = call.scope == "vector" && call.scope_first != "bool" &&
                          !allocated_by(call.scope_second).empty();
    return is_known ? call.scope_first : text{};
}

// Functions that contain `new T` themselves and name T in their arguments.
inline text type_of_make_call(arena& memory, const library_call& call) {
    const text function = call.function;
    const text scope = call.scope;
    if (scope.empty() || is_listed(scope, "__1 __detail")) {
        const bool is_maker =
            is_listed(function,
                      "make_unique make_unique_for_overwrite make_shared allocate_shared "
                      "make_shared_for_overwrite get_temporary_buffer __get_temporary_buffer");
        return is_maker ? without_array(call.function_first) : text{};
    }
    if ((scope == "_Base_manager" && is_listed(function, "_M_create _M_init_functor _M_clone")) ||
        (scope == "_Manager_external" && is_listed(function, "_S_create _S_manage"))) {
        return call.scope_first;
    }
    text result;
    if (scope == "promise" && function == scope) result = call.scope_first;
    if (scope == "__future_base" && function == "_S_allocate_result") result = call.function_first;
    if (is_listed(scope, "_Deferred_state _Async_state_impl") && function == scope) {
        result = call.scope_second;
    }
    if (!result.empty()) return joined(memory, "std::__future_base::_Result<", result, ">");
    if (scope == "__shared_count" && function == scope && call.function_first.ends_with("*")) {
        return joined(memory, "std::_Sp_counted_ptr<", call.function_first, ">");
    }
    if (scope == "thread" && function == scope) return "std::thread state";
    return scope == "locale" && function == scope ? "std::locale::_Impl" : text{};
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

// type_from_source.hpp - the T of the `new T` at a frame's file, line and column.

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// True when something in [begin, end) might call operator new in this very place: `operator`, or
// what may be a macro with a `new` inside, by convention or because this file defines it.
inline bool has_hidden_new(const source_outline& file, std::size_t begin, std::size_t end) {
    const list<source_token>& tokens = file.tokens();
    for (std::size_t i = begin; i < end && i < tokens.size(); ++i) {
        const text word = tokens[i].spelling;
        if (!is_word(word)) continue;
        if (word == "operator" || file.is_macro(word)) return true;
        const bool is_call = i + 1 < tokens.size() && tokens[i + 1].spelling == "(";
        const bool is_upper = word.find_first_of("abcdefghijklmnopqrstuvwxyz") == no_position;
        if (is_call && is_upper && word.size() > 1) return true;
    }
    return false;
}

// g++ gives a `new` without initialiser, whose value is handed over as it is, the place of the
// call's "(". The only such new-expression in that call, when it is an argument by itself.
inline const new_expression* find_in_call(const source_outline& file, std::size_t open) {
    const std::size_t close = file.partner(open);
    if (close <= open) return nullptr;
    const list<new_expression>& all = file.expressions();
    const new_expression* only = nullptr;
    for (std::size_t i = partition_point(all.data(), all.size(),
                                         [&](const new_expression& e) { return e.begin < open; });
         i < all.size() && all[i].begin <= close; ++i) {
        if (all[i].has_initialiser) continue;
        if (only != nullptr) return nullptr;
        only = &all[i];
    }
    if (only == nullptr || has_hidden_new(file, open, close)) return nullptr;
    const text before = file.tokens()[only->begin - 1].spelling;
    return before == "(" || before == "," ? only : nullptr;
}

// Without a column: the only new-expression that begins or ends on the line.
inline const new_expression* find_on_line(const source_outline& file, int line) {
    const list<source_token>& tokens = file.tokens();
    const list<new_expression>& all = file.expressions();
    const new_expression* only = nullptr;
    for (std::size_t i =
             partition_point(all.data(), all.size(),
                             [&](const new_expression& e) { return tokens[e.reach].line < line; });
         i < all.size() && tokens[all[i].begin].line <= line; ++i) {
        if (tokens[all[i].begin].line != line && tokens[all[i].last].line != line) continue;
        if (only != nullptr) return nullptr;
        only = &all[i];
    }
    if (only == nullptr) return nullptr;
    const std::size_t first = file.token_from(tokens[only->begin].line, 0);
    const std::size_t behind = file.token_from(tokens[only->last].line + 1, 0);
    return has_hidden_new(file, first, behind) ? nullptr : only;
}

inline const new_expression* find_new_expression(const source_outline& file, int line, int column) {
    if (column <= 0) return find_on_line(file, line);
    const std::size_t at = file.token_from(line, column);
    if (at == file.tokens().size()) return nullptr;
    const source_token& token = file.tokens()[at];
    if (token.line != line || token.column != column) return nullptr;
    if (const new_expression* found = file.expression_at(at)) return found;
    return token.spelling == "(" ? find_in_call(file, at) : nullptr;
}

// Whether the debug information around the frame knows a type or a namespace of that name.
struct type_knowledge {
    bool (*knows)(void* context, text name) = nullptr;  // null: every name is believed
    void* context = nullptr;
};

// Puts what the frame's function shows in the place of template parameters.
class source_spelling {
public:
    source_spelling(arena& memory, const source_outline& file, const new_expression& expression,
                    const function_name& name, const type_knowledge& knowledge)
        : memory_(memory),
          knowledge_(knowledge),
          file_(file),
          expression_(expression),
          name_(name),
          headers_(file.headers_around(memory, expression.scope)),
          instantiated_(memory) {
        for (std::size_t i = 0; i < name.components.size(); ++i) {
            const name_component& component = name.components[i];
            const bool is_generic_lambda =
                i > 0 && component.name == "operator()" && name.components[i - 1].name[0] == '{';
            if (!component.arguments.empty() && !is_generic_lambda) instantiated_.push_back(i);
        }
    }

    // "" when it is not certain.
    text spelled() const {
        const list<source_token>& tokens = file_.tokens();
        text_out type{memory_};
        bool is_of_library = false;  // the name that is being read
        for (std::size_t i = expression_.type_begin; i < expression_.type_end; ++i) {
            text word = tokens[i].spelling;
            if (word == "template") continue;
            if (is_word(word)) {
                const bool is_inner = i > 0 && tokens[i - 1].spelling == "::";
                if (!is_inner) {
                    word = meaning_of(word);
                    is_of_library = word == "std" || word.starts_with("std::");
                } else if (!is_of_library && !is_type_or_namespace(word)) {
                    return {};
                }
                if (word.empty()) return {};
            }
            if (!type.empty() && is_name_character(type.back()) && is_name_character(word[0])) {
                type << ' ';
            }
            type << word;
        }
        return without_const(pretty_type(memory_, type.view()));
    }

private:
    // `new const T` makes a T.
    static text without_const(text type) noexcept {
        if (type.ends_with("* const")) return type.substr(0, type.size() - 6);
        const bool is_compound = type.ends_with("*") || type.ends_with("&");
        if (type.starts_with("const ") && !is_compound) type.remove_prefix(6);
        return type;
    }

    text meaning_of(text word) const {
        constexpr text plain_words =
            "std const volatile bool void float wchar_t char8_t char16_t char32_t struct class "
            "union enum typename true false";
        if (is_listed(word, plain_words) || builtin_type{}.take(word)) return word;
        if (file_.is_macro(word)) return {};
        for (std::size_t i = headers_.size(); i > 0; --i) {
            const list<text>& parameters = headers_[i - 1]->parameters;
            for (std::size_t p = 0; p < parameters.size(); ++p) {
                if (parameters[p] == word) return argument(i - 1, p);
            }
        }
        // Inside a template that the text does not show, any name may be a parameter.
        if (!instantiated_.empty() && headers_.empty()) return {};
        if (!headers_.empty() && file_.is_template_alias(word)) return {};
        if (file_.is_standard_name(word)) return joined(memory_, "std::", word);
        return own_class(word);
    }

    // Argument `index` of what the header's template was instantiated with.
    text argument(std::size_t header, std::size_t index) const {
        if (headers_.size() != instantiated_.size()) return {};
        for (const template_header* outer : headers_) {
            if (!outer->shows_arguments) return {};
        }
        const list<text> arguments =
            split_arguments(memory_, name_.components[instantiated_[header]].arguments);
        const std::size_t count = headers_[header]->parameters.size();
        if (headers_[header]->has_pack) {  // the pack takes the rest: those before it are certain
            if (index + 1 >= count || index >= arguments.size()) return {};
        } else if (arguments.size() != count) {
            return {};
        }
        return arguments[index];
    }

    // `pool` inside a member of app::pool<int> is app::pool<int>.
    text own_class(text word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            if (component.name != word || i + 1 == name_.components.size()) continue;
            const char* begin = name_.whole.data();
            return text{begin, static_cast<std::size_t>(component.arguments.end() - begin)};
        }
        return is_type_or_namespace(word) ? word : text{};
    }

    // False for what may be a macro that another file defines.
    bool is_type_or_namespace(text word) const {
        return file_.is_defined(word) || knowledge_.knows == nullptr ||
               knowledge_.knows(knowledge_.context, word);
    }

    arena& memory_;
    type_knowledge knowledge_;
    const source_outline& file_;
    const new_expression& expression_;
    const function_name& name_;
    list<const template_header*> headers_;  // outermost first
    list<std::size_t> instantiated_;        // components that show arguments
};

// What stands at the frame's line and column; "" when that is not certain. The frame must be the
// direct caller of operator new.
inline text type_from_source(arena& memory, const code_frame& frame, source_cache& sources,
                             const type_knowledge& knowledge = {}) {
    if (frame.line <= 0 || frame.file.empty() || is_standard_header(frame.file)) return {};
    if (frame.is_nearby) return {};
    const function_name function = parse_function_name(memory, frame.function);
    const std::size_t count = function.components.size();
    // Without a column a default member initialiser would be taken for what stands on the
    // constructor's line.
    const bool is_constructor =
        count > 1 && function.components[count - 1].name == function.components[count - 2].name;
    if (frame.column <= 0 && is_constructor) return {};
    const source_outline* file = sources.find(frame.file, frame.built_ns);
    if (file == nullptr) return {};
    const new_expression* expression = find_new_expression(*file, frame.line, frame.column);
    if (expression == nullptr || !expression->has_type) return {};
    return source_spelling{memory, *file, *expression, function, knowledge}.spelled();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

// type_ladder.hpp - names the type that a stack allocated: the best rung that holds.

#ifndef ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
#define ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The rungs of the ladder; what each of them means is told in docs/types_and_places.md.
enum class type_evidence {
    none,             // not known: the name is "?"
    allocator_frame,  // std::allocator<T>::allocate called operator new
    make_frame,       // std::make_unique<T> and its like did
    vtable,           // the live object points to the vtable of T
    source_text       // `new T` stands at that line and column
};

struct type_answer {
    text name = "?";
    type_evidence evidence = type_evidence::none;

    bool is_known() const noexcept { return evidence != type_evidence::none; }

    // The vtable of a live object may say more.
    bool is_open() const noexcept {
        return evidence == type_evidence::none || evidence == type_evidence::source_text;
    }
};

// The type as it is printed, of a spelling of the demangler's.
inline text printed_type(arena& memory, text type) {
    return unwrapped_type(memory, pretty_type(memory, type));
}

// A frame and its name, taken apart.
struct named_frame {
    text plain;
    library_call call;
    bool has_line;
};

inline named_frame read_frame(arena& memory, const code_frame& frame) {
    const function_name name = parse_function_name(memory, frame.function);
    return {plain_name(memory, name), as_library_call(memory, name), frame.line > 0};
}

// Forwards a request for memory and nothing else: its caller is the one to ask.
inline bool is_forwarding_frame(text plain) noexcept {
    return plain.starts_with("operator new") || plain.ends_with("::__libcpp_operator_new") ||
           plain.ends_with("::__libcpp_allocate") || plain.ends_with("newdel_res_t::do_allocate") ||
           plain.ends_with("__new_delete_memory_resource_imp::do_allocate") ||
           plain == "std::pmr::memory_resource::allocate";
}

// Index of the frame that wanted the memory; frames.size() when there is none.
inline std::size_t asking_frame(arena& memory, const list<code_frame>& frames) {
    std::size_t index = 0;
    while (index < frames.size() &&
           is_forwarding_frame(
               plain_name(memory, parse_function_name(memory, frames[index].function)))) {
        ++index;
    }
    return index;
}

// What one frame says by itself, were it the direct caller of operator new.
inline type_answer type_from_frame(arena& memory, const named_frame& frame) {
    const library_call& call = frame.call;
    if (call.function.empty()) return {};
    text type = type_of_allocator_call(call);
    if (!type.empty()) return {printed_type(memory, type), type_evidence::allocator_frame};
    type = type_of_character_buffer(call);
    if (type.empty() && frame.has_line) type = type_of_container_call(memory, call);
    if (type.empty() && frame.has_line) type = type_of_make_call(memory, call);
    if (type.empty()) return {};
    return {printed_type(memory, type), type_evidence::make_frame};
}

// Two functions with the same code are one in a program built with -O2: g++ lets one of them call
// the other, and what is inlined below carries the other's names. The frames further out tell:
//
//     std::__new_allocator<char const*>::allocate                       says const char*
//     std::_Vector_base<char const*, ...>::_M_allocate                  says const char*
//     std::_Vector_base<std::unique_ptr<int>, ...>::_M_allocate         is right
//     std::vector<std::unique_ptr<int>, ...>::emplace_back              agrees
//
// So the answer of the asking frame is checked outwards, as long as the frames can only pass on
// the same request, and the outermost of them is believed.
inline type_answer follow_request(arena& memory, const list<code_frame>& frames,
                                  std::size_t asking) {
    named_frame inner = read_frame(memory, frames[asking]);
    type_answer answer = type_from_frame(memory, inner);
    bool was_vector = false;  // the inner frame is a member of std::vector
    for (std::size_t at = asking + 1; answer.is_known() && at < frames.size(); ++at) {
        const named_frame outer = read_frame(memory, frames[at]);
        if (outer.call.function.empty()) break;
        const bool is_same_function = outer.plain == inner.plain;
        inner = outer;
        if (is_same_function && !was_vector) {
            const type_evidence evidence = answer.evidence;
            answer = type_from_frame(memory, outer);
            if (answer.is_known()) answer.evidence = evidence;
            continue;
        }
        text type = type_of_allocator_call(outer.call);
        if (type.empty()) type = type_of_container_call(memory, outer.call);
        const bool is_vector = type.empty();
        if (is_vector) type = element_of_vector(outer.call);
        if (type.empty()) break;
        type = printed_type(memory, type);
        if (is_vector && was_vector && !is_same_function && type != answer.name) {
            // A vector of vectors copies an element; anything else cannot be told apart from that.
            if (type != joined(memory, "std::vector<", answer.name, ">")) answer = {};
            break;
        }
        answer.name = type;
        was_vector = was_vector || is_vector;
    }
    return answer;
}

// What the asking frame tells by its name.
inline type_answer type_from_frames(arena& memory, const list<code_frame>& frames,
                                    std::size_t asking) {
    if (asking >= frames.size()) return {};
    const type_answer answer = follow_request(memory, frames, asking);
    if (asking == 0 || answer.evidence == type_evidence::allocator_frame) return answer;
    // Behind memory_resource::allocate stands whoever asked the resource: believe only the
    // allocator that passes its request on as it is.
    const named_frame below = read_frame(memory, frames[asking - 1]);
    return below.plain.ends_with("memory_resource::allocate") ? type_answer{} : answer;
}

// The class of a symbol such as "vtable for app::widget", "" when it is no vtable: the one of a
// construction vtable belongs to an object that is half built.
inline text type_from_vtable(arena& memory, text symbol) {
    constexpr text mark = "vtable for ";
    return symbol.starts_with(mark) ? printed_type(memory, symbol.substr(mark.size())) : text{};
}

// `vtable_symbol`: the demangled symbol that the first word of a live object of this stack points
// into, "" when it points to none. A vtable says the whole name; but it may be that of the first
// member of a class without virtual functions, so it does not stand against the source text.
inline type_answer with_vtable(arena& memory, const type_answer& so_far, text vtable_symbol) {
    if (!so_far.is_open()) return so_far;
    const text type = type_from_vtable(memory, vtable_symbol);
    if (type.empty()) return so_far;
    const bool agrees = !so_far.is_known() || type == so_far.name ||
                        type.ends_with(joined(memory, "::", so_far.name));
    return agrees ? type_answer{type, type_evidence::vtable} : so_far;
}

// `knowledge` is asked about the frame asking_frame().
inline type_answer name_type(arena& memory, const list<code_frame>& frames, source_cache& sources,
                             text vtable_symbol = {}, const type_knowledge& knowledge = {}) {
    const std::size_t asking = asking_frame(memory, frames);
    type_answer answer = type_from_frames(memory, frames, asking);
    if (answer.is_known() || asking == frames.size()) {
        return with_vtable(memory, answer, vtable_symbol);
    }
    code_frame frame = frames[asking];
    if (asking + 1 < frames.size() && frames[asking + 1].function != frame.function) {
        // When it was folded with another instantiation of the same template, its name says
        // nothing about its template arguments.
        const named_frame outer = read_frame(memory, frames[asking + 1]);
        if (outer.plain == read_frame(memory, frame).plain) frame.function = {};
    }
    const text type = type_from_source(memory, frame, sources, knowledge);
    if (!type.empty()) answer = {type, type_evidence::source_text};
    return with_vtable(memory, answer, vtable_symbol);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

// name_book.hpp - what the stacks of a process are called, each worked out once.

#ifndef ALLOCSCOPE_NAMING_NAME_BOOK_HPP
#define ALLOCSCOPE_NAMING_NAME_BOOK_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack with everything a row says of it. Texts belong to the book; equal ones of path, place and
// type are one.
struct named_stack {
    const std::uintptr_t* addresses = nullptr;
    std::size_t address_count = 0;
    std::uint64_t modules = 0;      // stack_modules::key
    list<const met_module*> homes;  // of its frames, each once
    bool is_lasting = false;        // false: good until a module comes or goes
    std::size_t rule_version = 0;
    named_stack* next = nullptr;  // with the same hash
    const char* path = "";        // of the user's frame; "" when it has no line
    const char* place = "";       // when there is no line: the function, else the module
    int line = 0;
    symbolize::type_evidence evidence = symbolize::type_evidence::none;
    const char* type = "?";
    const char* function = "";
    std::uint64_t offset = 0;
    list<snapshot::frame> frames;
    std::size_t user_frame = 0;
    bool is_type_final = false;  // false: a live object's vtable might still tell
};

// What the symbol tables say of a stack: a frame for each address.
struct symbol_stack {
    list<snapshot::frame> frames;
    std::size_t user_frame = 0;
};

class name_book {
public:
    name_book() = default;
    name_book(const name_book&) = delete;
    name_book& operator=(const name_book&) = delete;

    // Before the stacks of a snapshot are asked for: libraries may have come and gone.
    void refresh() {
        if (!symbols_.refresh_modules()) return;
        for (auto& each : by_hash_) {
            named_stack** place = &each.value;
            while (*place != nullptr) {
                if ((*place)->is_lasting) {
                    place = &(*place)->next;
                } else {
                    *place = (*place)->next;
                }
            }
        }
    }

    // After them: the files that were read are not needed until the next new stack.
    void rest() {
        symbols_.release_debug_data();
        sources_.release();
    }

    // The stack's names, worked out when it is seen for the first time.
    named_stack& find(const known_stack& stack, const symbolize::frame_rule& rule) {
        const stack_modules modules{stack};
        if (named_stack* found = known(stack, modules, rule)) return *found;
        auto* made = kept_.make<named_stack>();
        const std::size_t bytes = stack.count * sizeof *stack.addresses;
        auto* copied = static_cast<std::uintptr_t*>(kept_.allocate(bytes));
        if (bytes != 0) std::memcpy(copied, stack.addresses, bytes);
        made->addresses = copied;
        made->address_count = stack.count;
        made->modules = modules.key();
        made->is_lasting = modules.is_certain();
        made->rule_version = rule.version();
        name(*made, modules, rule);
        named_stack*& first = by_hash_[stack.hash];
        made->next = first;
        first = made;
        ++stack_count_;
        has_new_ = true;
        return *made;
    }

    // Whether find() would work out nothing.
    bool knows(const known_stack& stack, const symbolize::frame_rule& rule) const {
        return known(stack, stack_modules{stack}, rule) != nullptr;
    }

    // A stack with the names of the symbol tables alone, made in `memory`.
    symbol_stack symbols_of(arena& memory, const known_stack& stack,
                            const symbolize::frame_rule& rule) {
        const stack_modules modules{stack};
        symbol_stack made{list<snapshot::frame>{memory}, 0};
        list<symbolize::code_frame> names{memory};
        for (std::uint32_t i = 0; i < stack.count; ++i) {
            const std::uintptr_t address = stack.addresses[i] - 1;
            symbolize::code_frame name;
            name.function = symbols_.function_symbol_at(address, memory, modules[i]);
            names.push_back(name);
            made.frames.push_back({name.function.data(), "", 0, 0, false, address, "", 0});
        }
        made.user_frame = symbolize::user_frame(memory, names, rule);
        return made;
    }

    // The type, now that `first_word` of a live object of the stack is known: it may point to a
    // vtable.
    void settle_type(named_stack& stack, std::uintptr_t first_word) {
        stack.is_type_final = true;
        const borrowed_memory meanwhile{scratch_};
        bool is_certain = true;
        const met_module* home = home_of_data(stack, first_word, is_certain);
        text symbol;
        if (is_certain) symbol = symbols_.data_symbol_at(first_word, scratch_, home);
        set_type(stack, symbolize::with_vtable(scratch_, {stack.type, stack.evidence}, symbol));
    }

    // The one copy of an equal text.
    const char* keep(text wanted) {
        if (wanted.empty()) return "";
        if (const char* const* known_text = texts_.find(wanted)) return *known_text;
        const text kept = copy_of(kept_, wanted);
        texts_[kept] = kept.data();
        return kept.data();
    }

    bool has_new() const noexcept { return has_new_; }
    void forget_new() noexcept { has_new_ = false; }

    std::size_t stack_count() const noexcept { return stack_count_; }

private:
    friend name_book* make_book();
    friend void hold_book(name_book& book) noexcept;
    friend void drop_book(name_book& book) noexcept;

    using code_frame = symbolize::code_frame;
    using code_location = symbolize::code_location;

    named_stack* known(const known_stack& stack, const stack_modules& modules,
                       const symbolize::frame_rule& rule) const {
        named_stack* const* first = by_hash_.find(stack.hash);
        for (named_stack* at = first != nullptr ? *first : nullptr; at != nullptr; at = at->next) {
            if (at->rule_version == rule.version() && at->modules == modules.key() &&
                at->address_count == stack.count &&
                (stack.count == 0 || std::memcmp(at->addresses, stack.addresses,
                                                 stack.count * sizeof *stack.addresses) == 0)) {
                return at;
            }
        }
        return nullptr;
    }

    // The module that a vtable at the address is in: one that the stack went through, else the only
    // one that was seen there. Null: what is there now.
    static const met_module* home_of_data(const named_stack& stack, std::uintptr_t address,
                                          bool& is_certain) noexcept {
        for (const met_module* home : stack.homes) {
            if (home->holds(address)) return home;
        }
        const met_module* only = nullptr;
        for (std::uint32_t i = 0; i < modules_met.count(); ++i) {
            const met_module* each = modules_met.at(i);
            if (each == nullptr || !each->holds(address)) continue;
            is_certain = only == nullptr || only->tag() == each->tag();
            only = each;
            if (!is_certain) return nullptr;
        }
        return only;
    }

    // Where a type is asked for by a name in the source.
    struct asked_place {
        symbolize::symbolizer& symbols;
        std::uint64_t address;
        const met_module* home;

        static bool knows_type(void* place, text name) {
            const auto& asked = *static_cast<const asked_place*>(place);
            return asked.symbols.knows_type(asked.address, asked.home, name);
        }
    };

    void set_type(named_stack& stack, const symbolize::type_answer& answer) {
        if (answer.is_known()) stack.type = keep(answer.name);
        stack.evidence = answer.evidence;
    }

    void name(named_stack& stack, const stack_modules& modules, const symbolize::frame_rule& rule) {
        const borrowed_memory meanwhile{scratch_};
        stack.homes = list<const met_module*>{kept_};
        list<code_frame> frames{scratch_};
        list<const code_location*> owners{scratch_};  // of each frame
        for (std::uint32_t i = 0; i < stack.address_count; ++i) {
            const met_module* home = modules[i];
            if (home != nullptr && (stack.homes.empty() || stack.homes.back() != home)) {
                stack.homes.push_back(home);
            }
            const code_location& location = symbols_.resolve(stack.addresses[i] - 1, home);
            if (location.is_unloaded) stack.is_lasting = false;  // its file may come back
            if (location.frames.empty()) {
                frames.push_back({});
                owners.push_back(&location);
            }
            for (const code_frame& frame : location.frames) {
                frames.push_back(frame);
                owners.push_back(&location);
            }
        }
        stack.user_frame = place_of(frames, owners, rule);
        if (stack.user_frame < frames.size()) {
            symbolize::leave_closing_brace(scratch_, frames, stack.user_frame, sources_);
        }
        stack.frames = list<snapshot::frame>{kept_};
        stack.frames.reserve(frames.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            stack.frames.push_back(kept_frame(frames[i], *owners[i]));
        }
        const std::size_t asking = symbolize::asking_frame(scratch_, frames);
        asked_place place_asked{symbols_, 0, nullptr};
        if (asking < frames.size()) {
            place_asked.address = owners[asking]->address;
            for (const met_module* home : stack.homes) {
                if (home->holds(place_asked.address)) place_asked.home = home;
            }
        }
        const symbolize::type_answer type = symbolize::name_type(
            scratch_, frames, sources_, {}, {&asked_place::knows_type, &place_asked});
        set_type(stack, type);
        // What the source says may lack its namespaces, and a vtable has them.
        stack.is_type_final =
            type.is_known() && type.evidence != symbolize::type_evidence::source_text;
        if (stack.user_frame < frames.size()) {
            place(stack, frames[stack.user_frame], *owners[stack.user_frame]);
        }
    }

    // The user's frame; a frame in a module of which nothing can be known any more comes first.
    // Without any name to go by, as in a stripped program, the first frame that is at least not in
    // one of the system's libraries.
    std::size_t place_of(const list<code_frame>& frames, const list<const code_location*>& owners,
                         const symbolize::frame_rule& rule) {
        const std::size_t user = symbolize::user_frame(scratch_, frames, rule);
        for (std::size_t i = 0; i < user && i < frames.size(); ++i) {
            if (owners[i]->is_unloaded && !is_system_library(owners[i]->module)) return i;
        }
        if (user < frames.size() && !rule.is_library(scratch_, frames[user])) return user;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const bool is_nameless = frames[i].function.empty() && frames[i].file.empty();
            if (is_nameless && !is_system_library(owners[i]->module)) return i;
        }
        return user;
    }

    static text file_name_of(text path) noexcept {
        const std::size_t slash = path.rfind('/');
        return slash == text::npos ? path : path.substr(slash + 1);
    }

    static bool is_system_library(text module) noexcept {
        const text name = file_name_of(module);
        const char* const starts[] = {"libc.so",   "libc-",         "libstdc++.so",
                                      "libc++.so", "libc++abi.so",  "libgcc_s.so",
                                      "libm.so",   "libpthread.so", "ld-linux"};
        for (const char* start : starts) {
            if (name.starts_with(start)) return true;
        }
        return name.empty();
    }

    // What was resolved is kept as long as the book.
    static snapshot::frame kept_frame(const code_frame& frame,
                                      const code_location& location) noexcept {
        return {frame.function.data(),  frame.file.data(),     frame.line,
                frame.column,           frame.is_inlined,      location.address,
                location.module.data(), location.module_offset};
    }

    void place(named_stack& stack, const code_frame& frame, const code_location& location) {
        stack.function = frame.function.data();
        if (frame.line != 0 && !frame.file.empty()) {
            stack.path = keep(symbolize::tidy_path(scratch_, frame.file));
            stack.line = frame.line;
        } else if (!location.symbol.empty()) {
            stack.place = keep(location.symbol);
            stack.offset = location.symbol_offset;
        } else {
            stack.place = keep(file_name_of(location.module));
            stack.offset = location.module_offset;
        }
    }

    arena home_;  // where the book itself lies
    arena kept_;
    arena scratch_;
    symbolize::symbolizer symbols_{kept_};
    symbolize::source_cache sources_;
    table<text, const char*> texts_{kept_};
    table<std::uint64_t, named_stack*> by_hash_{kept_};
    std::size_t stack_count_ = 0;
    std::uint32_t references_ = 1;
    bool has_new_ = false;
};

// With one reference. Throws std::bad_alloc.
inline name_book* make_book() {
    arena home;
    name_book* made = home.make<name_book>();
    made->home_.take(home);
    return made;
}

inline void hold_book(name_book& book) noexcept {
    __atomic_add_fetch(&book.references_, 1U, __ATOMIC_RELAXED);
}

// Release, so that this owner's reads come before the end; acquire for the last one, which ends it.
inline void drop_book(name_book& book) noexcept {
    if (__atomic_sub_fetch(&book.references_, 1U, __ATOMIC_ACQ_REL) != 0) return;
    arena last;
    last.take(book.home_);
    book.~name_book();
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_NAME_BOOK_HPP

// process_names.hpp - the names that this process has worked out so far.

#ifndef ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP
#define ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class naming_lock {
public:
    naming_lock() noexcept { ::pthread_mutex_lock(&process.naming); }
    ~naming_lock() { ::pthread_mutex_unlock(&process.naming); }
    naming_lock(const naming_lock&) = delete;
    naming_lock& operator=(const naming_lock&) = delete;
};

// Which frames are library code; see types/frame_rule.hpp.
ALLOCSCOPE_HIDDEN inline symbolize::frame_rule library_rule;

// Under the naming lock. Null until the first report, and after the last window of a large program.
ALLOCSCOPE_HIDDEN inline name_book* names_of_process = nullptr;

// Naming lock.
inline void forget_names() noexcept {
    if (names_of_process != nullptr) drop_book(*names_of_process);
    names_of_process = nullptr;
}

// The process's names while one lives, under the naming lock. When memory is refused halfway, the
// book is dropped: what it had begun to read would stay wrong, and its memory may be what is
// missing.
class names_at_work {
public:
    names_at_work() {
        if (names_of_process == nullptr) names_of_process = make_book();
    }
    ~names_at_work() {
        if (!is_done_) forget_names();
    }
    names_at_work(const names_at_work&) = delete;
    names_at_work& operator=(const names_at_work&) = delete;

    name_book& book() noexcept { return *names_of_process; }
    void done() noexcept { is_done_ = true; }

private:
    const naming_lock lock_;
    bool is_done_ = false;
};

// With so many names a book is not worth keeping for a window that may never come.
constexpr std::size_t most_kept_names = 512;

inline void put_names_away() noexcept {
    if (process.entry.word() != 0) return;
    const naming_lock lock;
    if (names_of_process != nullptr && names_of_process->stack_count() > most_kept_names) {
        forget_names();
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// estimates.hpp - from sums of samples to the numbers of a snapshot, and their intervals.

#ifndef ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
#define ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr estimate exactly(std::uint64_t value) noexcept {
    return {value, value, value};
}

// What a window knows that records every event.
inline snapshot::window_estimates exact_estimates(const allocation_counts& totals) noexcept {
    return {exactly(totals.allocations),    exactly(totals.frees),
            exactly(totals.live_objects()), exactly(totals.bytes_allocated),
            exactly(totals.bytes_freed),    exactly(totals.live_bytes())};
}

// The interval of an estimate around a number that was rounded in another way.
inline estimate around(std::uint64_t value, const estimate& known) noexcept {
    return {value, known.low < value ? known.low : value, known.high > value ? known.high : value};
}

// `deaths` are part of `births`; `totals` are what the counts of the window say.
inline snapshot::window_estimates sampled_estimates(const allocation_counts& totals,
                                                    const sample_sums& births,
                                                    const sample_sums& deaths,
                                                    std::uint64_t sample_bytes) noexcept {
    sample_sums alive = births;
    alive.subtract(deaths);
    return {around(totals.allocations, births.objects_95(sample_bytes)),
            around(totals.frees, deaths.objects_95(sample_bytes)),
            around(totals.live_objects(), alive.objects_95(sample_bytes)),
            around(totals.bytes_allocated, births.bytes_95(sample_bytes)),
            around(totals.bytes_freed, deaths.bytes_95(sample_bytes)),
            around(totals.live_bytes(), alive.bytes_95(sample_bytes))};
}

// All numbers of a row that are estimated: objects, bytes, samples, and the intervals.
inline void set_estimates(snapshot::row& row, const sample_sums& alive) noexcept {
    const estimate objects = alive.objects_95();
    const estimate bytes = alive.bytes_95();
    row.samples = alive.samples;
    row.objects = objects.value;
    row.objects_low = objects.low;
    row.objects_high = objects.high;
    row.bytes = bytes.value;
    row.bytes_low = bytes.low;
    row.bytes_high = bytes.high;
}

// Of a row of a window that records every event: the numbers are known.
inline void set_exact(snapshot::row& row) noexcept {
    row.objects_low = row.objects_high = row.objects;
    row.bytes_low = row.bytes_high = row.bytes;
}

// How far an interval reaches below and above its number, while numbers are added and subtracted.
// The distances add as if at right angles: those of estimates that do not depend on each other (the
// method of variance estimates recovery: G. Y. Zou, A. Donner, "Construction of confidence limits
// about effect measures", Statistics in Medicine 27, 2008). Two snapshots of one window do depend
// on each other, as they share samples: there the interval is wider than it need be.
class interval_reach {
public:
    void meet(const estimate& number, bool is_added) noexcept {
        const double below = static_cast<double>(number.value - number.low);
        const double above = static_cast<double>(number.high - number.value);
        below_squared_ += is_added ? below * below : above * above;
        above_squared_ += is_added ? above * above : below * below;
    }

    estimate around(std::uint64_t value) const noexcept {
        return {value, value - whole_number(std::ceil(std::sqrt(below_squared_))),
                value + whole_number(std::ceil(std::sqrt(above_squared_)))};
    }

private:
    double below_squared_ = 0.0;
    double above_squared_ = 0.0;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <sys/uio.h>

// snapshot_block.hpp - the memory of one snapshot: its rows in order, and what they point to.

#ifndef ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP
#define ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP

ALLOCSCOPE_WARM_BEGIN

namespace detail {

// Of a number that counts up in a plain snapshot and up or down in a difference.
inline std::uint64_t size_of_change(std::uint64_t value, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(value) < 0;
    return is_negative ? std::uint64_t{0} - value : value;
}

// Most objects first (in a difference: the largest change), then most bytes. What is still equal
// goes by its texts, so that the order does not depend on how the rows were found.
inline bool row_comes_before(const snapshot::row& a, const snapshot::row& b, bool is_difference) {
    const std::uint64_t a_objects = size_of_change(a.objects, is_difference);
    const std::uint64_t b_objects = size_of_change(b.objects, is_difference);
    if (a_objects != b_objects) return a_objects > b_objects;
    const std::uint64_t a_bytes = size_of_change(a.bytes, is_difference);
    const std::uint64_t b_bytes = size_of_change(b.bytes, is_difference);
    if (a_bytes != b_bytes) return a_bytes > b_bytes;
    if (const int order = std::strcmp(a.file, b.file)) return order < 0;
    if (a.line != b.line) return a.line < b.line;
    if (a.offset != b.offset) return a.offset < b.offset;
    if (const int order = std::strcmp(a.type, b.type)) return order < 0;
    if (const int order = std::strcmp(a.function, b.function)) return order < 0;
    if (a.objects != b.objects) return a.objects < b.objects;  // the signs differ
    return a.bytes < b.bytes;
}

}  // namespace detail

ALLOCSCOPE_WARM_END

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Defined in naming/snapshot_difference.hpp; every block carries it as its `difference`.
ALLOCSCOPE_HIDDEN snapshot_data* difference_of(const snapshot_data& later,
                                               const snapshot_data& earlier);

class snapshot_block {
public:
    snapshot_block() {
        is_done_with_memory([this] { head_ = memory_.make<head>(); });
    }
    ~snapshot_block() {
        if (head_ != nullptr) let_go(*head_);
    }
    snapshot_block(const snapshot_block&) = delete;
    snapshot_block& operator=(const snapshot_block&) = delete;

    bool has_memory() const noexcept { return head_ != nullptr; }

    // For texts and frames that nobody else keeps.
    arena& memory() noexcept { return memory_; }

    // What the rows point to stays as long as this snapshot. At most one book and two snapshots.
    void keep(name_book& book) noexcept {
        hold_book(book);
        head_->book = &book;
    }
    void keep(const snapshot_data& parent) noexcept {
        auto* kept = const_cast<snapshot_data*>(&parent);
        add_reference(kept);
        head_->parents[head_->parents[0] != nullptr ? 1 : 0] = kept;
    }

    // The rows, in any order; `info` says how they were recorded. Once. Throws std::bad_alloc.
    void add_rows(const list<snapshot::row>& rows, const snapshot::window_info& info,
                  arena& scratch) {
        list<const snapshot::row*> order{scratch};
        order.reserve(rows.size());
        for (const snapshot::row& row : rows) order.push_back(&row);
        const bool is_difference = info.is_difference;
        sort(order, [is_difference](const snapshot::row* a, const snapshot::row* b) {
            return row_comes_before(*a, *b, is_difference);
        });
        list<snapshot::row> placed{memory_};
        placed.reserve(rows.size());
        for (const snapshot::row* row : order) {
            snapshot::row& here = placed.push_back(*row);
            if (info.record != recording::sampled) set_exact(here);
            if (here.user_frame > here.frame_count) here.user_frame = here.frame_count;
        }
        snapshot_data& data = head_->data;
        data.rows = placed.data();
        data.row_count = placed.size();
        for (const snapshot::row& row : placed) {
            data.live_objects += row.objects;
            data.live_bytes += row.bytes;
        }
    }

    // The finished block, with one reference. Copies the name (the first 63 bytes) and the losses;
    // not_recording and the reasons must be constants or kept.
    snapshot_data* finish(const snapshot::window_info& info) noexcept {
        head& made = *head_;
        head_ = nullptr;
        made.data.references = 1;
        made.data.release = &release;
        made.data.difference = &difference_of;
        made.data.info = info;
        copy_name(made.name, sizeof made.name, info.name);
        made.data.info.name = made.name;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < info.loss_count; ++i) {
            if (info.losses[i].count == 0 || kept == most_losses) continue;
            made.losses[kept++] = info.losses[i];
        }
        made.data.info.losses = made.losses;
        made.data.info.loss_count = kept;
        if (info.record != recording::sampled) {
            made.data.info.estimates = exact_estimates(info.totals);
        }
        made.memory.take(memory_);
        return &made.data;
    }

private:
    // A difference has those of both snapshots; equal reasons are one.
    static constexpr std::size_t most_losses = 2 * static_cast<std::size_t>(loss_reason::count);

    struct head {
        snapshot_data data;  // first: a pointer to it is a pointer to the block
        arena memory;        // where this head lies
        name_book* book;
        snapshot_data* parents[2];
        snapshot::loss losses[most_losses];
        char name[sizeof(open_window::name)];
    };

    static void let_go(head& of) noexcept {
        if (of.book != nullptr) drop_book(*of.book);
        for (snapshot_data* parent : of.parents) drop_reference(parent);
    }

    static void release(snapshot_data* data) {
        head& block = *reinterpret_cast<head*>(data);
        let_go(block);
        arena last;
        last.take(block.memory);  // the block goes with it
    }

    arena memory_;
    head* head_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP

// snapshot_difference.hpp - what one snapshot has more than an earlier one, place by place.

#ifndef ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP
#define ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// --- names ---

// The path that `row.file` was shortened from; "" when it is not known.
inline text whole_path_of(const snapshot::row& row) noexcept {
    if (row.line == 0 || row.user_frame >= row.frame_count) return {};
    return row.frames[row.user_frame].file;
}

// The directory that several paths lost when they were shortened, with its last '/'.
struct cut_directory {
    text directory;
    bool is_known = false;

    void meet(text cut) noexcept {
        if (!is_known) directory = cut;
        is_known = true;
        std::size_t same = 0;
        while (same < directory.size() && same < cut.size() && directory[same] == cut[same]) {
            ++same;
        }
        const std::size_t slash = directory.substr(0, same).rfind('/');
        directory = directory.substr(0, slash == text::npos ? 0 : slash + 1);
    }
};

// The name of a row's file in the difference. Two snapshots that were shortened alike keep their
// names; otherwise the paths of both lose what both lost. Two files never get one name.
class difference_names {
public:
    difference_names(const snapshot_data& later, const snapshot_data& earlier, arena& scratch)
        : owners_(scratch) {
        see(later, cuts_[0]);
        see(earlier, cuts_[1]);
    }

    text name_of(const snapshot::row& row) {
        const text path = whole_path_of(row);
        if (path.empty()) return row.file;
        const text name = shorten(row, path);
        const auto owner = owners_.insert(name);
        if (owner.is_new) owner.value = path;
        return owner.value == path ? name : path;
    }

private:
    // Absolute and relative paths have no common directory.
    static std::size_t kind_of(text path) noexcept { return path[0] == '/' ? 0 : 1; }

    static void see(const snapshot_data& data, cut_directory* cuts) noexcept {
        for (std::size_t i = 0; i < data.row_count; ++i) {
            const text name = data.rows[i].file;
            const text path = whole_path_of(data.rows[i]);
            if (path.empty() || !path.ends_with(name)) continue;
            cuts[kind_of(path)].meet(path.substr(0, path.size() - name.size()));
        }
    }

    text shorten(const snapshot::row& row, text path) const noexcept {
        const cut_directory& later = cuts_[0][kind_of(path)];
        const cut_directory& earlier = cuts_[1][kind_of(path)];
        const bool are_alike =
            !later.is_known || !earlier.is_known || later.directory == earlier.directory;
        if (are_alike || !path.ends_with(row.file)) return row.file;
        cut_directory both = later;
        both.meet(earlier.directory);
        // Only the root in common: whole paths say more.
        return path.substr(both.directory == "/" ? 0 : both.directory.size());
    }

    cut_directory cuts_[2][2];
    table<text, text> owners_;  // of each name, the path
};

// --- rows ---

// What two rows have in common when they are the same place.
inline text key_of(const snapshot::row& row, arena& scratch) {
    const text path = whole_path_of(row);
    text_out key{scratch};
    key << (path.empty() ? text{row.file} : path) << '\0';
    if (row.line != 0) {
        key << decimal{static_cast<std::uint64_t>(row.line)};
    } else {
        key << '+' << decimal{row.offset};
    }
    key << '\0' << row.type;
    return key.view();
}

struct changed_row {
    snapshot::row row;
    interval_reach objects;
    interval_reach bytes;

    void add(const snapshot::row& part, bool is_later) noexcept {
        const std::uint64_t sign = is_later ? 1 : ~std::uint64_t{0};
        row.objects += sign * part.objects;
        row.bytes += sign * part.bytes;
        row.samples += part.samples;
        objects.meet({part.objects, part.objects_low, part.objects_high}, is_later);
        bytes.meet({part.bytes, part.bytes_low, part.bytes_high}, is_later);
    }

    const snapshot::row& finished() noexcept {
        const estimate objects_95 = objects.around(row.objects);
        const estimate bytes_95 = bytes.around(row.bytes);
        row.objects_low = objects_95.low;
        row.objects_high = objects_95.high;
        row.bytes_low = bytes_95.low;
        row.bytes_high = bytes_95.high;
        return row;
    }
};

// The place of a row, without its numbers.
inline snapshot::row place_of_row(const snapshot::row& row, const char* file) noexcept {
    snapshot::row made = row;
    made.objects = made.bytes = made.samples = 0;
    made.file = file;
    return made;
}

// The rows of both, merged by place, with the numbers of `later` minus those of `earlier`.
inline void collect_changes(list<snapshot::row>& changed, snapshot_block& block,
                            const snapshot_data& later, const snapshot_data& earlier) {
    arena& scratch = changed.memory();
    difference_names names{later, earlier, scratch};
    table<text, changed_row> merged{scratch};
    const snapshot_data* const both[] = {&later, &earlier};
    bool is_later = true;
    for (const snapshot_data* data : both) {
        for (std::size_t i = 0; i < data->row_count; ++i) {
            const snapshot::row& row = data->rows[i];
            const auto at = merged.insert(key_of(row, scratch));
            if (at.is_new) {
                const text name = names.name_of(row);
                const bool is_same = name == row.file;
                at.value.row =
                    place_of_row(row, is_same ? row.file : copy_of(block.memory(), name).data());
            }
            at.value.add(row, is_later);
        }
        is_later = false;
    }
    for (auto& each : merged) {
        if (each.value.row.objects == 0 && each.value.row.bytes == 0) continue;
        changed.push_back(each.value.finished());
    }
}

// --- the head ---

// Two snapshots of one window count the same losses, so they are not added up: of each reason, the
// larger number.
inline void merge_losses(const snapshot::window_info& info, list<snapshot::loss>& losses) {
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const snapshot::loss& loss = info.losses[i];
        snapshot::loss* same = losses.begin();
        while (same != losses.end() && std::strcmp(same->reason, loss.reason) != 0) ++same;
        if (same == losses.end()) {
            losses.push_back(loss);
        } else if (same->count < loss.count) {
            same->count = loss.count;
        }
    }
}

// `snapshot{}` as one side means "nothing", and is no reason to doubt the result.
inline bool is_no_window(const snapshot_data& data) noexcept {
    return data.release == nullptr &&
           std::strcmp(data.info.not_recording, snapshot_of_no_window.info.not_recording) == 0;
}

inline allocation_counts counts_difference(const allocation_counts& later,
                                           const allocation_counts& earlier) noexcept {
    allocation_counts change;
    change.allocations = later.allocations - earlier.allocations;
    change.frees = later.frees - earlier.frees;
    change.bytes_allocated = later.bytes_allocated - earlier.bytes_allocated;
    change.bytes_freed = later.bytes_freed - earlier.bytes_freed;
    change.peak_bytes = later.peak_bytes - earlier.peak_bytes;
    return change;
}

inline estimate estimate_difference(const estimate& later, const estimate& earlier) noexcept {
    interval_reach reach;
    reach.meet(later, true);
    reach.meet(earlier, false);
    return reach.around(later.value - earlier.value);
}

inline snapshot::window_estimates estimates_difference(
    const snapshot::window_estimates& later, const snapshot::window_estimates& earlier) noexcept {
    return {estimate_difference(later.allocations, earlier.allocations),
            estimate_difference(later.frees, earlier.frees),
            estimate_difference(later.live_objects, earlier.live_objects),
            estimate_difference(later.bytes_allocated, earlier.bytes_allocated),
            estimate_difference(later.bytes_freed, earlier.bytes_freed),
            estimate_difference(later.live_bytes, earlier.live_bytes)};
}

inline snapshot::window_info info_difference(const snapshot_data& later,
                                             const snapshot_data& earlier,
                                             list<snapshot::loss>& losses) {
    snapshot::window_info about = is_no_window(later) ? earlier.info : later.info;
    about.is_difference = true;
    about.is_of_two_windows = later.info.window != 0 && earlier.info.window != 0 &&
                              later.info.window != earlier.info.window;
    about.not_recording = "";
    about.totals = counts_difference(later.info.totals, earlier.info.totals);
    about.samples = later.info.samples + earlier.info.samples;
    about.estimates = estimates_difference(later.info.estimates, earlier.info.estimates);
    const bool is_later_longer = later.info.duration_ns > earlier.info.duration_ns;
    about.duration_ns = is_later_longer ? later.info.duration_ns - earlier.info.duration_ns : 0;
    const snapshot_data* const both[] = {&later, &earlier};
    for (const snapshot_data* data : both) {
        if (is_no_window(*data)) continue;
        merge_losses(data->info, losses);
        if (data->info.record == recording::sampled) about.record = recording::sampled;
        if (about.not_recording[0] == '\0') about.not_recording = data->info.not_recording;
    }
    about.losses = losses.data();
    about.loss_count = losses.size();
    return about;
}

// Null: memory was refused.
inline snapshot_data* difference_of(const snapshot_data& later, const snapshot_data& earlier) {
    snapshot_block block;
    if (!block.has_memory()) return nullptr;
    arena scratch;
    snapshot::window_info info{};
    const bool is_made = is_done_with_memory([&] {
        list<snapshot::loss> losses{scratch};
        info = info_difference(later, earlier, losses);
        list<snapshot::row> changed{scratch};
        collect_changes(changed, block, later, earlier);
        block.add_rows(changed, info, scratch);
    });
    if (!is_made) return nullptr;
    block.keep(later);
    block.keep(earlier);
    return block.finish(info);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP

// probe_memory.hpp - reads memory of this process that may be gone.

#ifndef ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// False when not all of it could be read, or where the kernel forbids the question. One system
// call.
inline bool probe_memory(std::uintptr_t address, void* to, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    struct iovec local = {to, bytes};
    struct iovec remote = {reinterpret_cast<void*>(address), bytes};
    const bool is_read =
        ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
    errno = saved_errno;
    return is_read;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

// rows_of_window.hpp - a window's stacks become the rows of a snapshot.

#ifndef ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// --- types from live objects ---

struct sample_object {
    named_stack* stack;
    std::uintptr_t address;
};

// One live object of each of `wanted`'s sites, which are taken out of it as they are found. The
// walk of the live object map throws nothing: there is room for all.
inline void find_objects(table<std::uint64_t, named_stack*>& wanted, list<sample_object>& found) {
    found.reserve(wanted.size());
    const auto look_at = [&wanted, &found](const live_object& object) {
        const cohort& born = *process.cohorts.by_id(object.cohort);
        named_stack** stack = wanted.find(born.facts().site.load(std::memory_order_relaxed));
        if (stack == nullptr || *stack == nullptr || object.bytes < sizeof(std::uintptr_t)) {
            return true;
        }
        found.push_back({*stack, object.address});
        *stack = nullptr;
        return found.size() < wanted.size();
    };
    const control_lock lock;
    process.objects.for_each(process.session, look_at);
    if (found.size() < wanted.size()) process.samples.for_each(process.session, look_at);
}

// For each stack whose type may still be told by a vtable: looks at one live object of it. The
// object may go meanwhile, so its memory is read through the kernel.
inline void settle_types(name_book& book, const live_window& window,
                         const list<named_stack*>& stacks) {
    arena& scratch = stacks.memory();
    table<std::uint64_t, named_stack*> open{scratch};
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        if (window.sites[i].id != 0 && !stacks[i]->is_type_final) {
            open[window.sites[i].id] = stacks[i];
        }
    }
    if (open.empty()) return;
    list<sample_object> found{scratch};
    find_objects(open, found);
    for (const sample_object& sample : found) {
        std::uintptr_t first_word = 0;
        if (probe_memory(sample.address, &first_word, sizeof first_word)) {
            book.settle_type(*sample.stack, first_word);
        }
    }
}

// --- rows ---

// What distinguishes rows. The texts are the book's, where equal texts are one.
struct row_key {
    const char* path;
    const char* place;
    int line;
    std::uint64_t offset;
    const char* type;
};

inline bool operator==(const row_key& a, const row_key& b) noexcept {
    return a.path == b.path && a.place == b.place && a.line == b.line && a.offset == b.offset &&
           a.type == b.type;
}

inline std::uint64_t hash_of_key(const row_key& key) noexcept {
    std::uint64_t hash = hash_step(hash_seed, reinterpret_cast<std::uintptr_t>(key.path));
    hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.place));
    hash = hash_step(hash, static_cast<std::uint64_t>(key.line) ^ (key.offset << 20U));
    return hash_finish(hash_step(hash, reinterpret_cast<std::uintptr_t>(key.type)));
}

struct row_sum {
    const named_stack* stack;  // of the most numerous site
    std::uint64_t stack_objects;
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t sites;
    sample_sums samples;
};

inline void sum_rows(table<row_key, row_sum>& rows, const live_window& window,
                     const list<named_stack*>& stacks) {
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const named_stack& stack = *stacks[i];
        const live_site& site = window.sites[i];
        row_sum& row = rows[{stack.path, stack.place, stack.line, stack.offset, stack.type}];
        row.objects += site.objects;
        row.bytes += site.bytes;
        row.samples.add(site.samples);
        ++row.sites;
        if (row.stack == nullptr || site.objects > row.stack_objects) {
            row.stack_objects = site.objects;
            row.stack = &stack;
        }
    }
}

inline snapshot::row row_of(const row_sum& sum, const char* file, bool is_sampled) noexcept {
    const named_stack& stack = *sum.stack;
    snapshot::row made{};
    made.objects = sum.objects;
    made.bytes = sum.bytes;
    if (is_sampled) set_estimates(made, sum.samples);  // rounded once, not once for each stack
    made.file = file;
    made.line = stack.line;
    made.type = stack.type;
    made.function = stack.function;
    made.offset = stack.offset;
    made.sites = sum.sites;
    made.frames = stack.frames.data();
    made.frame_count = stack.frames.size();
    made.user_frame = stack.user_frame;
    return made;
}

inline void make_rows(list<snapshot::row>& rows, name_book& book, const live_window& window,
                      const list<named_stack*>& stacks) {
    arena& scratch = rows.memory();
    table<row_key, row_sum> sums{scratch};
    sum_rows(sums, window, stacks);
    // Many rows are of one file: each is shortened once.
    table<const void*, std::size_t> numbers{scratch};  // of a path, its place in `files`
    list<text> files{scratch};
    for (const auto& sum : sums) {
        if (sum.key.path[0] == '\0') continue;
        const auto number = numbers.insert(sum.key.path);
        if (!number.is_new) continue;
        number.value = files.size();
        files.push_back(sum.key.path);
    }
    symbolize::shorten_paths(scratch, files);
    for (text& file : files) file = book.keep(file);
    const bool is_sampled = window.wanted.record == recording::sampled;
    for (const auto& sum : sums) {
        const std::size_t* number = numbers.find(sum.key.path);
        const char* file = number != nullptr ? files[*number].data() : sum.key.place;
        rows.push_back(row_of(sum.value, file, is_sampled));
    }
}

// --- the head ---

inline const char* sentence_for(loss_reason reason) noexcept {
    switch (reason) {
        case loss_reason::no_memory_for_record:
            return "allocations were not recorded: memory for their records was refused";
        case loss_reason::no_room_for_site:
            return "allocations were counted without their place: no room for more stacks";
        case loss_reason::no_room_for_death:
            return "frees by another thread were not counted: memory for them was refused";
        case loss_reason::too_deeply_nested:
            return "events in signal handlers were not recorded: nested too deeply";
        case loss_reason::record_replaced:
            return "blocks were freed past operator delete: noticed when their address was used"
                   " again";
        case loss_reason::no_memory_for_thread:
            return "events were not recorded: memory for the state of their thread was refused";
        case loss_reason::count:
            break;
    }
    return "events were not recorded";
}

// The finished block, with one reference. Needs no memory.
inline snapshot_data* finish_block(snapshot_block& block, const live_window& window,
                                   const char* not_recording) noexcept {
    constexpr auto loss_count = static_cast<std::uint32_t>(loss_reason::count);
    snapshot::loss losses[loss_count];
    for (std::uint32_t i = 0; i < loss_count; ++i) {
        losses[i] = {sentence_for(static_cast<loss_reason>(i)), window.losses[i]};
    }
    snapshot::window_info info{};
    info.name = window.name;
    info.window = window.id;
    info.record = window.wanted.record;
    info.from = window.wanted.from;
    info.stack_frames = window.wanted.stack_frames;
    info.duration_ns = window.duration_ns;
    info.totals = window.totals.counts;
    info.own_memory_bytes = window.own_memory_bytes;
    info.losses = losses;
    info.loss_count = loss_count;
    info.not_recording = not_recording;
    if (info.record == recording::sampled) {
        info.sample_bytes = window.wanted.sample_bytes;
        info.samples = window.totals.births.samples;
        info.estimates = sampled_estimates(info.totals, window.totals.births, window.totals.deaths,
                                           info.sample_bytes);
    }
    return block.finish(info);
}

// --- all together ---

// The stacks of the window's sites, in the same order.
inline list<named_stack*> name_stacks(name_book& book, const live_window& window,
                                      const symbolize::frame_rule& rule) {
    book.refresh();
    book.forget_new();
    list<named_stack*> stacks{window.sites.memory()};
    stacks.reserve(window.sites.size());
    for (const live_site& site : window.sites) {
        named_stack& stack =
            book.find(stack_of(site, window.frames.data() + site.first_frame), rule);
        if (site.frame_count == 0) stack.place = book.keep("(place not recorded)");
        stacks.push_back(&stack);
    }
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    return stacks;
}

// Names the window's sites and puts their rows into the block. Throws std::bad_alloc; the names are
// then left to be dropped: see names_at_work.
inline void add_rows_of(snapshot_block& block, name_book& book, const live_window& window,
                        const symbolize::frame_rule& rule) {
    const list<named_stack*> stacks = name_stacks(book, window, rule);
    list<snapshot::row> rows{window.sites.memory()};
    make_rows(rows, book, window, stacks);
    snapshot::window_info info{};
    info.record = window.wanted.record;
    block.add_rows(rows, info, rows.memory());
    block.keep(book);
}

// The window as a snapshot with one reference. Throws std::bad_alloc, also for the numbers.
inline snapshot_data* rows_of_window(name_book& book, const live_window& window,
                                     const symbolize::frame_rule& rule) {
    snapshot_block block;
    if (!block.has_memory()) refuse_memory();
    add_rows_of(block, book, window, rule);
    return finish_block(block, window, "");
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

// output_file.hpp - a file that appears whole, or not at all.

#ifndef ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP
#define ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Writing beyond the size limit of files (ulimit -f) would kill the process with SIGXFSZ. While one
// of these lives, this thread's write fails with EFBIG instead, and no signal is left behind.
class file_size_signal_blocked {
public:
    file_size_signal_blocked() noexcept {
        ::sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
        ::sigemptyset(&only_this_);
        ::sigaddset(&only_this_, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &only_this_, &mask_before_);
    }
    ~file_size_signal_blocked() {
        const int errno_before = errno;
        const struct timespec at_once = {0, 0};
        if (!was_pending_) ::sigtimedwait(&only_this_, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
        errno = errno_before;
    }
    file_size_signal_blocked(const file_size_signal_blocked&) = delete;
    file_size_signal_blocked& operator=(const file_size_signal_blocked&) = delete;

private:
    ::sigset_t only_this_;
    ::sigset_t mask_before_;
    bool was_pending_;
};

// Writes all of it, however often the kernel takes only a part. Waits while a non-blocking
// descriptor is full.
inline int write_all(int descriptor, const char* bytes, std::size_t length) noexcept {
    const file_size_signal_blocked quietly;
    while (length != 0) {
        const ::ssize_t written = ::write(descriptor, bytes, length);
        if (written > 0) {
            bytes += written;
            length -= static_cast<std::size_t>(written);
            continue;
        }
        if (written == 0) return EIO;
        if (errno == EAGAIN) {
            struct pollfd writable = {descriptor, POLLOUT, 0};
            if (::poll(&writable, 1, -1) < 0 && errno != EINTR) return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// The number in "/dev/stdout", "/dev/fd/3" and the like, -1 for any other path. Such a name is not
// opened again: that would begin at the start of a redirected file, over what is already in it.
inline int descriptor_named_by(const char* path) noexcept {
    if (std::strcmp(path, "/dev/stdout") == 0) return 1;
    if (std::strcmp(path, "/dev/stderr") == 0) return 2;
    const char* digits = nullptr;
    if (std::strncmp(path, "/dev/fd/", 8) == 0) digits = path + 8;
    if (std::strncmp(path, "/proc/self/fd/", 14) == 0) digits = path + 14;
    if (digits == nullptr || *digits == '\0') return -1;
    int number = 0;
    for (; *digits != '\0'; ++digits) {
        if (*digits < '0' || *digits > '9' || number > 100000000) return -1;
        number = number * 10 + (*digits - '0');
    }
    return number;
}

class output_file {
public:
    output_file() noexcept = default;
    ~output_file() { abandon(); }
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // `path` must stay valid until commit().
    int open(const char* path) noexcept {
        if (path == nullptr) return EINVAL;
        if (*path == '\0') return ENOENT;
        const int named = descriptor_named_by(path);
        if (named >= 0) {
            descriptor_ = ::fcntl(named, F_DUPFD_CLOEXEC, 3);
            return descriptor_ >= 0 ? 0 : errno;
        }
        struct stat found;
        if (::stat(path, &found) == 0 && !S_ISREG(found.st_mode)) return open_special(path, found);
        return create_beside(path);
    }

    int write(const char* bytes, std::size_t length) noexcept {
        return write_all(descriptor_, bytes, length);
    }

    // A network file system may report a failed write only at the close.
    int commit() noexcept {
        const int closed = ::close(descriptor_);
        const int close_error = closed == 0 || errno == EINTR ? 0 : errno;
        descriptor_ = -1;
        if (directory_ < 0) return close_error;
        if (close_error != 0) return close_error;
        if (::renameat(directory_, temporary_, directory_, name_) != 0) return errno;
        ::close(directory_);
        directory_ = -1;
        return 0;
    }

private:
    // No O_CREAT and no O_TRUNC: if the path becomes a file meanwhile, that file is left alone.
    // O_NONBLOCK so that a FIFO which nobody reads is an error (ENXIO) and not a hanging program.
    int open_special(const char* path, const struct stat& found) noexcept {
        if (S_ISDIR(found.st_mode)) return EISDIR;
        descriptor_ = ::open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (descriptor_ < 0) return errno;
        struct stat opened;
        if (::fstat(descriptor_, &opened) != 0) return errno;
        const bool is_fifo = S_ISFIFO(opened.st_mode);
        if (!S_ISCHR(opened.st_mode) && !is_fifo) return EINVAL;
        // Somebody else's FIFO in a shared directory would read what a file keeps private.
        if (is_fifo && opened.st_uid != ::geteuid() && opened.st_uid != 0) return EACCES;
        const int flags = ::fcntl(descriptor_, F_GETFL);
        return ::fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK) == 0 ? 0 : errno;
    }

    // The directory is kept open, so that the file ends up where it was asked for even if the
    // program changes its working directory or somebody renames a folder.
    int create_beside(const char* path) noexcept {
        char directory[4096];
        const char* slash = std::strrchr(path, '/');
        name_ = slash == nullptr ? path : slash + 1;
        if (*name_ == '\0') return EISDIR;
        const std::size_t length = static_cast<std::size_t>(name_ - path);
        if (length >= sizeof directory) return ENAMETOOLONG;
        std::memcpy(directory, path, length);
        directory[length] = '\0';
        directory_ = ::open(length == 0 ? "." : directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (directory_ < 0) return errno;
        for (int attempt = 0; attempt < 16; ++attempt) {
            name_temporary(attempt);
            descriptor_ = ::openat(directory_, temporary_,
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
            if (descriptor_ >= 0) return 0;
            if (errno != EEXIST && errno != EINTR) break;
        }
        const int error = errno;
        ::close(directory_);
        directory_ = -1;
        return error;
    }

    // The name need not be secret, as O_EXCL decides; it should rarely be somebody else's.
    void name_temporary(int attempt) noexcept {
        std::uint64_t mixed = monotonic_ns() ^ static_cast<std::uint64_t>(::getpid()) << 40U ^
                              reinterpret_cast<std::uintptr_t>(this);
        mixed = (mixed + static_cast<std::uint64_t>(attempt)) * 0x9e3779b97f4a7c15U;
        std::memcpy(temporary_, ".allocscope-", 12);
        for (std::size_t i = 12; i < sizeof temporary_ - 1; ++i, mixed >>= 4U) {
            temporary_[i] = "0123456789abcdef"[mixed & 15U];
        }
        temporary_[sizeof temporary_ - 1] = '\0';
    }

    void abandon() noexcept {
        const int errno_before = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        if (directory_ >= 0) {
            ::unlinkat(directory_, temporary_, 0);
            ::close(directory_);
        }
        errno = errno_before;
    }

    int descriptor_ = -1;
    int directory_ = -1;  // of the temporary file, while there is one
    const char* name_ = nullptr;
    char temporary_[12 + 16 + 1] = {};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// evidence_folder.hpp - where a check that failed saves what it saw, if somebody asked for it.

#ifndef ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
#define ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A check that fails in a loop must not fill the disk.
constexpr std::uint32_t most_evidence_files = 1000;

ALLOCSCOPE_HIDDEN inline std::atomic<std::uint32_t> evidence_files{0};

// Letters, digits, '.', '_' and '-' of the name; whatever else is in it becomes '_'.
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

// Saves the rows below `head`. `path` is empty when nothing was saved; `problem` then says why,
// unless it was not wanted.
inline void save_evidence_of(const snapshot& rows, const char* name, const char* head,
                             text_out& path, text_out& problem) {
    const char* folder = ::secure_getenv("ALLOCSCOPE_EVIDENCE_DIR");
    if (folder == nullptr || *folder == '\0') return;
    const engine* own = find_engine();
    if (own == nullptr || own->save_evidence == nullptr) return;
    const std::uint32_t number = evidence_files.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number > most_evidence_files) {
        evidence_files.fetch_sub(1, std::memory_order_relaxed);
        problem << "this process has saved " << decimal{most_evidence_files} << " already";
        return;
    }
    path << folder << '/';
    write_file_name(path, name);
    path << '-' << decimal{static_cast<std::uint64_t>(::getpid())} << '-' << decimal{number}
         << ".txt";
    int failure = ::mkdir(folder, 0777) == 0 || errno == EEXIST ? 0 : errno;
    if (failure == 0) failure = own->save_evidence(rows, head, path.c_str());
    if (failure == 0) return;
    char space[128];
    problem << "cannot write '" << path.view() << "': " << ::strerror_r(failure, space, 128);
    path.cut(0);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP

// check_block.hpp - the result of a check while it is made, and the one block it then is.

#ifndef ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP
#define ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class check_block {
public:
    explicit check_block(const allocation_counts& counts)
        : counts_(counts), message_(memory_), saved_to_(memory_) {}
    check_block(const check_block&) = delete;
    check_block& operator=(const check_block&) = delete;

    void set_counts(const allocation_counts& counts) noexcept { counts_ = counts; }
    void set_unexpected(std::uint64_t objects, std::uint64_t bytes) noexcept {
        objects_ = objects;
        bytes_ = bytes;
    }
    void set_first_use(std::uint64_t objects, std::uint64_t bytes) noexcept {
        first_use_objects_ = objects;
        first_use_bytes_ = bytes;
    }
    void keep_rows(const snapshot& rows) noexcept {
        rows_ = rows;
        has_rows_ = true;
    }

    // A check that has one has failed.
    text_out& message() noexcept { return message_; }

    // To a file, if that is wanted. The message tells where it is, or why it is not.
    void save_evidence(const char* name) {
        text_out problem{memory_};
        save_evidence_of(rows_, name, message_.c_str(), saved_to_, problem);
        if (!saved_to_.empty()) message_ << "\n  saved in " << saved_to_.view();
        if (!problem.empty()) message_ << "\n  not saved: " << problem.view();
    }

    // One reference is handed over.
    check_data* finish() {
        head* made = memory_.make<head>();
        made->data = {1,
                      message_.empty(),
                      &release,
                      message_.c_str(),
                      saved_to_.c_str(),
                      counts_,
                      objects_,
                      bytes_,
                      first_use_objects_,
                      first_use_bytes_,
                      has_rows_ ? &made->rows : nullptr};
        made->rows = static_cast<snapshot&&>(rows_);
        made->memory.take(memory_);
        return &made->data;
    }

private:
    struct head {
        check_data data{};  // first: a pointer to it is a pointer to the block
        snapshot rows;
        arena memory;  // where this head lies
    };

    static void release(check_data* data) {
        head& block = *reinterpret_cast<head*>(data);
        block.rows = snapshot{};
        arena last;
        last.take(block.memory);  // the block goes with it
    }

    arena memory_;
    allocation_counts counts_;
    std::uint64_t objects_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t first_use_objects_ = 0;
    std::uint64_t first_use_bytes_ = 0;
    text_out message_;
    text_out saved_to_;
    snapshot rows_;
    bool has_rows_ = false;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP

// check_message.hpp - what a check that failed says of the rows.

#ifndef ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
#define ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t message_rows = 3;
constexpr std::size_t message_callers = 2;

inline void write_count(text_out& out, std::uint64_t count, const char* one, const char* many) {
    out << decimal{count} << ' ' << (count == 1 ? one : many);
}

// The name of a window, if it has one: ` "session"`.
inline void write_quoted(text_out& out, const char* name) {
    if (name[0] == '\0') return;
    out << " \"";
    write_printable(out, name);
    out << '"';
}

// " in session::login": parameters and template arguments would make the lines long. The file has
// them.
inline void write_in_function(text_out& out, arena& scratch, const char* function) {
    if (function[0] == '\0') return;
    const borrowed_memory meanwhile{scratch};
    const text plain =
        symbolize::plain_name(scratch, symbolize::parse_function_name(scratch, function));
    out << " in ";
    write_printable(out, plain.empty() ? function : copy_of(scratch, plain).data());
}

inline void write_file_line(text_out& out, const char* file, int line) {
    write_printable(out, file);
    out << ':' << decimal{static_cast<std::uint64_t>(line)};
}

// The whole path: the short one of the row cannot be opened.
inline void write_row_place(text_out& out, const snapshot::row& row) {
    if (row.user_frame < row.frame_count && row.frames[row.user_frame].file[0] != '\0') {
        const snapshot::frame& frame = row.frames[row.user_frame];
        write_file_line(out, frame.file, frame.line);
        return;
    }
    const char* file = row.file[0] != '\0' ? row.file : "(place not recorded)";
    if (row.line != 0) {
        write_file_line(out, file, row.line);
    } else {
        write_printable(out, file);
        if (row.offset != 0) out << "+0x" << hexadecimal{row.offset};
    }
}

inline bool is_same_call(const snapshot::frame& a, const snapshot::frame& b) noexcept {
    return a.line == b.line && std::strcmp(a.file, b.file) == 0 &&
           std::strcmp(a.function, b.function) == 0;
}

inline bool is_shown_caller(const snapshot::frame& frame, arena& scratch) {
    if (frame.file[0] == '\0') return false;
    symbolize::code_frame plain;
    plain.function = frame.function;
    plain.file = frame.file;
    plain.line = frame.line;
    return !library_rule.is_library(scratch, plain);
}

// Recursion is one caller, so that it does not hide the one that began it.
inline void write_callers(text_out& out, arena& scratch, const snapshot::row& row,
                          const char* indent) {
    std::size_t shown = 0;
    const snapshot::frame* last = nullptr;
    std::uint64_t times = 0;
    for (std::size_t i = row.user_frame + 1; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        // Further out there is only what runs the tests.
        if (text{frame.function}.contains("::allocscope_test_boundary")) break;
        if (!is_shown_caller(frame, scratch)) continue;
        ++times;
        if (last != nullptr && is_same_call(*last, frame)) continue;
        if (times > 2) out << ", " << decimal{times - 1} << " times";
        if (shown == message_callers) return;
        times = 1;
        last = &frame;
        ++shown;
        out << '\n' << indent << "    called from ";
        write_file_line(out, frame.file, frame.line);
        write_in_function(out, scratch, frame.function);
    }
    if (times > 1) out << ", " << decimal{times} << " times";
}

inline void write_row(text_out& out, arena& scratch, const snapshot::row& row, const char* mark,
                      const char* indent) {
    out << '\n' << indent << "  ";
    write_row_place(out, row);
    out << ": " << mark;
    write_count(out, row.objects, "object", "objects");
    if (row.type[0] != '\0' && row.type[0] != '?') {
        out << " of ";
        write_printable(out, row.type);
    }
    out << ", " << mark;
    write_count(out, row.bytes, "byte", "bytes");
    if (row.function[0] != '\0') out << ',';
    write_in_function(out, scratch, row.function);
    write_callers(out, scratch, row, indent);
}

// One row without its numbers.
inline void write_place_and_callers(text_out& out, arena& scratch, const snapshot::row& row) {
    out << "\n  ";
    write_row_place(out, row);
    if (row.function[0] != '\0') out << ':';
    write_in_function(out, scratch, row.function);
    write_callers(out, scratch, row, "");
}

// The rows that matter most, by bytes or by objects, and how many more there are.
inline void write_top_rows(text_out& out, arena& scratch, const snapshot& rows, bool by_bytes,
                           const char* indent = "") {
    list<const snapshot::row*> order{scratch};
    for (const snapshot::row& row : rows) order.push_back(&row);
    if (by_bytes) {
        sort(order,
             [](const snapshot::row* a, const snapshot::row* b) { return a->bytes > b->bytes; });
    } else {
        sort(order, [](const snapshot::row* a, const snapshot::row* b) {
            return a->objects > b->objects;
        });
    }
    const char* mark = rows.info().record == recording::sampled ? "~" : "";
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == message_rows) {
            out << '\n' << indent << "  and ";
            write_count(out, order.size() - i, "more place", "more places");
            return;
        }
        write_row(out, scratch, *order[i], mark, indent);
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

// check_limits.hpp - which limit was broken, and the line that says so.

#ifndef ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP
#define ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Which rows tell most.
enum class evidence { alive, allocated };

// One limit that was broken.
struct broken_limit {
    const char* field = nullptr;  // null: none
    std::uint64_t seen = 0;
    count_range allowed;
    bool counts_bytes = false;
    evidence rows = evidence::allocated;
};

inline broken_limit first_broken(const check_limits& limits, const allocation_counts& counts) {
    const broken_limit all[] = {
        {"allocations", counts.allocations, limits.allocations, false, evidence::allocated},
        {"bytes", counts.bytes_allocated, limits.bytes, true, evidence::allocated},
        {"peak_bytes", counts.peak_bytes, limits.peak_bytes, true, evidence::allocated},
        {"live_objects", counts.live_objects(), limits.live_objects, false, evidence::alive},
        {"live_bytes", counts.live_bytes(), limits.live_bytes, true, evidence::alive},
    };
    for (const broken_limit& each : all) {
        if (each.seen < each.allowed.least || each.seen > each.allowed.most) return each;
    }
    return {};
}

inline void write_allowed(text_out& out, const count_range& allowed) {
    if (allowed.most == 0) {
        out << '0';
    } else if (allowed.least == allowed.most) {
        out << "exactly " << decimal{allowed.most};
    } else if (allowed.most == ~std::uint64_t{0}) {
        out << "at least " << decimal{allowed.least};
    } else if (allowed.least == 0) {
        out << "at most " << decimal{allowed.most};
    } else {
        out << decimal{allowed.least} << " to " << decimal{allowed.most};
    }
}

// With what the rows below it are, if there are any.
inline void write_budget_headline(text_out& out, const broken_limit& broken, const char* name,
                                  const snapshot& rows) {
    out << "budget";
    write_quoted(out, name);
    out << ": " << broken.field << " is " << decimal{broken.seen} << ", allowed ";
    write_allowed(out, broken.allowed);
    if (rows.empty()) return;
    out << (broken.rows == evidence::alive ? "; alive:" : "; allocated, freed since or not:");
}

inline void write_leak_headline(text_out& out, const check_request& asked, const char* name,
                                std::uint64_t objects, std::uint64_t bytes) {
    const bool is_repeated = asked.kind == check_kind::repeated_leaks;
    out << "leak check";
    write_quoted(out, name);
    out << ": ";
    if (is_repeated) {
        out << "each of ";
        write_count(out, asked.runs, "run", "runs");
        out << " left at least ";
        objects = asked.added_objects;
        bytes = asked.added_bytes;
    }
    write_count(out, objects, "object", "objects");
    out << " with ";
    write_count(out, bytes, "byte", "bytes");
    out << (is_repeated ? " more alive" : objects == 1 ? " is still alive" : " are still alive");
    const count_range& allowed = asked.limits.live_objects;
    out << (objects < allowed.least ? ", expected " : ", allowed ");
    if (objects < allowed.least || objects > allowed.most) {
        write_allowed(out, allowed);
    } else {
        const std::uint64_t most = asked.limits.live_bytes.most;
        write_allowed(out, {0, most});
        out << (most == 1 ? " byte" : " bytes");
    }
}

// With a least, which wants leaks: or has not leaked enough.
inline bool has_leaked(const check_request& asked, std::uint64_t objects,
                       std::uint64_t bytes) noexcept {
    return objects > asked.limits.live_objects.most || bytes > asked.limits.live_bytes.most ||
           objects < asked.limits.live_objects.least;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP

// first_use.hpp - tells allocations made while a function-local static was initialised.

#ifndef ALLOCSCOPE_UNWIND_FIRST_USE_HPP
#define ALLOCSCOPE_UNWIND_FIRST_USE_HPP

// They have names of our own, because <cxxabi.h> declares them with types that differ from one C++
// runtime to the next. They are weak: a program without function-local statics may lack them.
extern "C" __attribute__((weak)) void allocscope_guard_acquire() noexcept
    __asm__("__cxa_guard_acquire");
extern "C" __attribute__((weak)) void allocscope_guard_release() noexcept
    __asm__("__cxa_guard_release");

ALLOCSCOPE_WARM_BEGIN

namespace detail {

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

// The code of one function, and the module it lies in.
struct function_code {
    module_segments module;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;  // 0: not known
};

inline function_code function_around(std::uintptr_t address) noexcept {
    function_code found;
    eh_frame_image image;
    frame_description about;
    const cfi_to_rule_detail::module_place place = cfi_to_rule_detail::find_module(address);
    if (place.index == 0 || !find_module_segments(place.start, found.module) ||
        !cfi_to_rule_detail::find_live_image(address, image) ||
        find_frame_description(image, address, about) != fde_search::found) {
        return found;
    }
    const Elf64_Phdr* segment = found.module.holder_of(about.begin, PF_R | PF_X);
    if (segment == nullptr ||
        about.end > found.module.base + segment->p_vaddr + segment->p_filesz) {
        return found;
    }
    found.begin = about.begin;
    found.end = about.end;
    return found;
}

// The address that an operand of four bytes names. The operand ends its instruction.
inline std::uintptr_t relative_address_at(std::uintptr_t operand) noexcept {
    std::int32_t distance = 0;
    std::memcpy(&distance, reinterpret_cast<const void*>(operand), sizeof distance);
    return operand + 4 + static_cast<std::uintptr_t>(std::intptr_t{distance});
}

inline bool has_bytes(std::uintptr_t address, const char* bytes, std::size_t count) noexcept {
    return std::memcmp(reinterpret_cast<const void*>(address), bytes, count) == 0;
}

// The contents of the word of memory that an operand names.
inline std::uintptr_t word_named_at(const module_segments& module,
                                    std::uintptr_t operand) noexcept {
    const std::uintptr_t word = relative_address_at(operand);
    std::uintptr_t value = 0;
    if (module.holder_of(word, PF_R) == nullptr) return 0;
    std::memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
    return value;
}

// Where a jump to `target` arrives in the end, beyond a stub of the linker.
inline std::uintptr_t behind_stub(const module_segments& module, std::uintptr_t target) noexcept {
    constexpr std::size_t longest_stub = 16;
    if (module.holder_of(target, PF_R | PF_X) == nullptr ||
        module.holder_of(target + longest_stub, PF_R | PF_X) == nullptr) {
        return target;
    }
    std::uintptr_t at = target;
    if (has_bytes(at, "\xf3\x0f\x1e\xfa", 4)) at += 4;  // endbr64
    if (has_bytes(at, "\xf2", 1)) at += 1;              // bnd
    return has_bytes(at, "\xff\x25", 2) ? word_named_at(module, at + 2) : target;
}

// Where the call at `address` goes; 0: there is none. Any bytes may be looked at.
inline std::uintptr_t callee_at(const function_code& in, std::uintptr_t address) noexcept {
    if (address + 5 <= in.end && has_bytes(address, "\xe8", 1)) {
        return behind_stub(in.module, relative_address_at(address + 1));
    }
    if (address + 6 <= in.end && has_bytes(address, "\xff\x15", 2)) {
        return word_named_at(in.module, address + 2);
    }
    return 0;
}

// The address of a function of another module, in the form that callee_at() gives.
template <class Function>
std::uintptr_t entry_of(Function* function) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    module_segments module;
    if (address == 0 ||
        !find_module_segments(cfi_to_rule_detail::find_module(address).start, module)) {
        return address;
    }
    return behind_stub(module, address);
}

// Where the initialisation begins whose __cxa_guard_acquire returns to `behind`. Compilers ask at
// once whether there is anything to do (test eax, eax), and g++ jumps to where they put it: often
// far from the function's other code.
inline std::uintptr_t initialisation_behind(const function_code& in,
                                            std::uintptr_t behind) noexcept {
    constexpr std::uintptr_t farthest = 12;
    std::uintptr_t at = behind;
    while (at < behind + farthest && at + 10 < in.end && !has_bytes(at, "\x85\xc0", 2)) ++at;
    for (at += 2; at < behind + farthest && at + 6 < in.end; ++at) {
        if (has_bytes(at, "\x75", 1)) {  // jne, one byte
            signed char distance = 0;
            std::memcpy(&distance, reinterpret_cast<const void*>(at + 1), 1);
            return at + 2 + static_cast<std::uintptr_t>(std::intptr_t{distance});
        }
        if (has_bytes(at, "\x0f\x85", 2)) return relative_address_at(at + 2);  // jne, four bytes
        if (has_bytes(at, "\x74", 1) || has_bytes(at, "\x0f\x84", 2)) break;   // je: goes on here
    }
    return behind;
}

// Whether the call that returns to `return_address` belongs to the initialisation of a static.
inline bool is_first_use(std::uintptr_t return_address) noexcept {
    const function_code function = function_around(return_address - 1);
    if (function.end == 0) return false;
    const std::uintptr_t acquire = entry_of(&allocscope_guard_acquire);
    const std::uintptr_t release = entry_of(&allocscope_guard_release);
    if (acquire == 0 || release == 0) return false;
    // Looks for the first end of an initialisation after the return address. An initialisation that
    // begins before the address and does not end before it holds it.
    std::uintptr_t last_end = function.begin;
    std::uintptr_t next_end = function.end;
    for (std::uintptr_t at = function.begin; at < next_end; ++at) {
        if (callee_at(function, at) != release) continue;
        (at < return_address ? last_end : next_end) = at;
    }
    if (next_end == function.end) return false;
    for (std::uintptr_t at = function.begin; at < function.end; ++at) {
        if (callee_at(function, at) != acquire) continue;
        const std::uintptr_t behind = at + (has_bytes(at, "\xe8", 1) ? 5U : 6U);
        const std::uintptr_t begin = initialisation_behind(function, behind);
        if (begin > last_end && begin < return_address) return true;
    }
    return false;
}

#else

inline bool is_first_use(std::uintptr_t) noexcept {
    return false;  // an older C library does not say where the tables are
}

#endif

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_UNWIND_FIRST_USE_HPP

// leak_patterns.hpp - which live objects are expected: lines as LeakSanitizer's suppressions.

#ifndef ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
#define ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Whether `pattern`, in which * stands for any text, fits all of `whole`. Linear but for the
// product of both lengths in the worst case: the last * takes one byte more each time.
inline bool fits_whole(text pattern, text whole) noexcept {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = text::npos;
    std::size_t star_in = 0;
    while (in < whole.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_in = in;
        } else if (at < pattern.size() && pattern[at] == whole[in]) {
            ++at;
            ++in;
        } else if (star != text::npos) {
            at = star + 1;
            in = ++star_in;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

class leak_patterns {
public:
    explicit leak_patterns(arena& memory) noexcept : patterns_(memory) {}

    // False: `problem` says what is wrong with the lines, and nothing is expected.
    bool read(text lines, text_out& problem) {
        for (std::size_t number = 1; !lines.empty(); ++number) {
            const std::size_t end = lines.find('\n');
            const text line = trimmed(lines.substr(0, end));
            lines = end == text::npos ? text{} : lines.substr(end + 1);
            if (line.empty() || line[0] == '#') continue;
            const bool is_leak = line.starts_with("leak:");
            if (is_leak && add(trimmed(line.substr(5)))) continue;
            patterns_.clear();
            problem << "leak_options::expected, line " << decimal{number} << ": '"
                    << line.substr(0, 40)
                    << (is_leak ? "' fits everything; name a function, file, module or type"
                                : "' is no pattern; write leak:<part of a name>");
            return false;
        }
        return true;
    }

    bool empty() const noexcept { return patterns_.empty(); }

    bool fits(const named_stack& stack) const noexcept {
        for (const text pattern : patterns_) {
            if (fits_whole(pattern, stack.type)) return true;
            for (const snapshot::frame& frame : stack.frames) {
                if (fits_whole(pattern, frame.function) || fits_whole(pattern, frame.file) ||
                    fits_whole(pattern, frame.module)) {
                    return true;
                }
            }
        }
        return false;
    }

private:
    static text trimmed(text line) noexcept {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == text::npos) return {};
        return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    }

    // False: it would fit everything.
    bool add(text wanted) {
        if (wanted.find_first_not_of("*^$") == text::npos) return false;
        text_out pattern{patterns_.memory()};
        const bool has_begin = wanted.front() == '^';
        const bool has_end = wanted.back() == '$';
        if (has_begin) wanted.remove_prefix(1);
        if (has_end) wanted.remove_suffix(1);
        pattern << (has_begin ? "" : "*") << wanted << (has_end ? "" : "*");
        patterns_.push_back(pattern.view());
        return true;
    }

    list<text> patterns_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

// expected_leaks.hpp - takes out of a window what somebody expects to be alive.

#ifndef ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP
#define ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct object_sum {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
};

using leak_question = bool (*)(const leak_stack& stack, const void* context);

class expected_beginnings {
public:
    // The decisive frames of a stack that is expected.
    void add(const check_request& asked, const leak_stack& stack) {
        const std::size_t decisive = stack.decisive_frames;
        if (decisive == 0 || decisive > stack.frame_count || known_.size() == most) return;
        list<std::uintptr_t> addresses{memory_};
        // Inlined calls share an address with the function they are inlined into.
        for (std::size_t i = 0; i < decisive; ++i) {
            if (i == 0 || !stack.frames[i - 1].is_inlined) {
                addresses.push_back(stack.frames[i].address + 1);
            }
        }
        known_.push_back({asked.is_expected, asked.expected_context, addresses});
    }

    bool fits(const check_request& asked, const std::uintptr_t* frames, std::size_t count) const {
        for (const beginning& each : known_) {
            const std::size_t needed = each.addresses.size();
            if (each.is_expected == asked.is_expected && each.context == asked.expected_context &&
                needed <= count &&
                std::memcmp(each.addresses.data(), frames, needed * sizeof *frames) == 0) {
                return true;
            }
        }
        return false;
    }

private:
    friend expected_beginnings& beginnings_of_process();

    static constexpr std::size_t most = 256;

    struct beginning {
        leak_question is_expected;
        const void* context;
        list<std::uintptr_t> addresses;
    };

    arena memory_;
    list<beginning> known_{memory_};
};

// Under the naming lock. Null until the first check that expects something.
ALLOCSCOPE_HIDDEN inline expected_beginnings* known_beginnings = nullptr;

// Lies in its own memory, so that nothing is destroyed when the program ends.
inline expected_beginnings& beginnings_of_process() {
    if (known_beginnings == nullptr) {
        arena memory;
        auto* made = memory.make<expected_beginnings>();
        made->memory_.take(memory);
        known_beginnings = made;
    }
    return *known_beginnings;
}

// Asks about one stack, and remembers how it begins when the answer is yes.
inline bool is_expected_stack(const check_request& asked, leak_question question,
                              const leak_stack& stack) {
    if (question == nullptr || !question(stack, asked.expected_context)) return false;
    beginnings_of_process().add(asked, stack);
    return true;
}

// Keeps the sites of which `is_expected(site, addresses)` is false.
template <class IsExpected>
void drop_sites(live_window& window, const IsExpected& is_expected) {
    std::size_t kept = 0;
    for (const live_site& site : window.sites) {
        if (!is_expected(site, window.frames.data() + site.first_frame)) {
            window.sites[kept++] = site;
        }
    }
    window.sites.cut(kept);
}

// Before any debug information is read, which takes longer than a hundred small tests.
inline void drop_expected_by_symbols(name_book& book, live_window& window,
                                     const check_request& asked) {
    book.refresh();
    bool has_read = false;
    drop_sites(window, [&](const live_site& site, const std::uintptr_t* addresses) {
        const known_stack stack = stack_of(site, addresses);
        if (book.knows(stack, library_rule)) return false;
        has_read = true;
        arena& scratch = window.sites.memory();
        const borrowed_memory meanwhile{scratch};
        const symbol_stack names = book.symbols_of(scratch, stack, library_rule);
        return is_expected_stack(asked, asked.is_expected_by_symbols,
                                 {names.frames.data(), names.frames.size(), names.user_frame, "?"});
    });
    if (has_read && window.sites.empty()) book.rest();
}

// What a function-local static allocated when it was initialised stays until the program ends, and
// is no leak of the code that happened to use it first.
inline object_sum drop_first_use(live_window& window) {
    table<std::uint64_t, bool> known{window.sites.memory()};
    for (const std::uintptr_t address : window.frames) known[address];
    while_modules_stay([&known] {
        for (auto& each : known) each.value = is_first_use(each.key);
    });
    object_sum dropped;
    drop_sites(window, [&](const live_site& site, const std::uintptr_t* addresses) {
        for (std::uint32_t i = 0; i < site.frame_count; ++i) {
            if (!*known.find(addresses[i])) continue;
            dropped.objects += site.objects;
            dropped.bytes += site.bytes;
            return true;
        }
        return false;
    });
    return dropped;
}

// Keeps the sites that are leaks. What first uses made is returned.
inline object_sum drop_expected(name_book& book, live_window& window, const leak_patterns& expected,
                                const check_request& asked) {
    if (asked.is_expected != nullptr) {
        const expected_beginnings& known = beginnings_of_process();
        drop_sites(window, [&](const live_site& site, const std::uintptr_t* addresses) {
            return known.fits(asked, addresses, site.frame_count);
        });
    }
    if (asked.is_expected_by_symbols != nullptr && !window.sites.empty()) {
        drop_expected_by_symbols(book, window, asked);
    }
    const object_sum first_use = drop_first_use(window);
    if (window.sites.empty() || (expected.empty() && asked.is_expected == nullptr)) {
        return first_use;
    }
    const list<named_stack*> stacks = name_stacks(book, window, library_rule);
    std::size_t at = 0;
    drop_sites(window, [&](const live_site&, const std::uintptr_t*) {
        const named_stack& stack = *stacks[at++];
        return expected.fits(stack) || is_expected_stack(asked, asked.is_expected,
                                                         {stack.frames.data(), stack.frames.size(),
                                                          stack.user_frame, stack.type});
    });
    return first_use;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_EXPECTED_LEAKS_HPP

// uncharged_work.hpp - while one lives, what this thread allocates is charged to no window.

#ifndef ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP
#define ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class uncharged_work {
public:
    uncharged_work() noexcept : engine_(find_engine()) {
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
        if (engine_refusal(engine_)[0] != '\0') engine_ = nullptr;
        if (engine_ != nullptr) engine_->pause(+1);
    }
    ~uncharged_work() {
        if (engine_ != nullptr) engine_->pause(-1);
        ::pthread_setcancelstate(cancel_state_, nullptr);
    }
    uncharged_work(const uncharged_work&) = delete;
    uncharged_work& operator=(const uncharged_work&) = delete;

private:
    const engine* engine_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP

// check_window.hpp - judges a window: what was expected, what happened, where.

#ifndef ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
#define ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// --- what was seen ---

struct seen_window {
    snapshot rows;
    allocation_counts counts;
    std::uint64_t objects = 0;  // in the rows: what is alive and not expected
    std::uint64_t bytes = 0;
    object_sum first_use;  // not in the rows: what function-local statics made
};

inline seen_window look_at(arena& scratch, const check_request& asked,
                           const leak_patterns& expected, evidence wanted) {
    live_window window{scratch};
    take_live_objects(window, asked.window, after_stats::go_on);
    if (wanted == evidence::allocated && window.wanted.record == recording::exact) {
        count_births_by_site(window, asked.window);
    }
    seen_window seen;
    {
        names_at_work names;
        if (wanted == evidence::alive && asked.kind != check_kind::budget) {
            seen.first_use = drop_expected(names.book(), window, expected, asked);
        }
        if (!window.sites.empty()) add_own_memory(window);
        seen.rows = snapshot{rows_of_window(names.book(), window, library_rule)};
        names.done();
    }
    seen.counts = seen.rows.info().totals;
    const bool has_rows = window.wanted.record != recording::counters;
    seen.objects = has_rows ? seen.rows.live_objects() : seen.counts.live_objects();
    seen.bytes = has_rows ? seen.rows.live_bytes() : seen.counts.live_bytes();
    return seen;
}

inline const char* name_of_window(arena& memory, window_id id) {
    const control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr ? copy_of(memory, window->name).data() : "";
}

inline bool is_estimated(window_id id) noexcept {
    const control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr && window->wanted.record == recording::sampled;
}

// Events of this session that are in no number: a limit that seems kept may be broken.
inline std::uint64_t events_lost() noexcept {
    const control_lock lock;
    const loss_reason in_no_number[] = {loss_reason::no_memory_for_record,
                                        loss_reason::too_deeply_nested,
                                        loss_reason::no_memory_for_thread};
    std::uint64_t sum = 0;
    for (const loss_reason each : in_no_number) {
        sum += losses_ever(each) - process.losses_before_session[static_cast<std::uint32_t>(each)];
    }
    return sum;
}

// --- the verdict ---

// What passed by its numbers must not pass when some events are in no number.
inline check_data* passed_unless_lost(check_block& made, const char* name) {
    if (const std::uint64_t lost = events_lost()) {
        made.message() << "check";
        write_quoted(made.message(), name);
        made.message() << ": ";
        write_count(made.message(), lost, "event was", "events were");
        made.message() << " not recorded, so nothing is certain; stats() tells why";
    }
    return made.finish();
}

// Apart from the leaks, so that nobody wonders where they are.
inline void write_first_use(text_out& out, const object_sum& first_use) {
    if (first_use.objects == 0) return;
    out << "\n  not counted: ";
    write_count(out, first_use.objects, "object", "objects");
    out << " with ";
    write_count(out, first_use.bytes, "byte", "bytes");
    out << " of function-local statics, made at their first use";
}

// The message has its headline.
inline check_data* failed(check_block& made, arena& scratch, const seen_window& seen, bool by_bytes,
                          const char* name) {
    write_top_rows(made.message(), scratch, seen.rows, by_bytes);
    write_first_use(made.message(), seen.first_use);
    made.keep_rows(seen.rows);
    made.save_evidence(name);
    return made.finish();
}

inline check_data* check_budget_of(arena& scratch, const check_request& asked, const char* name) {
    const bool is_open = asked.window != 0;
    const allocation_counts counts = is_open ? counts_now(asked.window) : asked.counts;
    check_block made{counts};
    broken_limit broken = first_broken(asked.limits, counts);
    if (broken.field == nullptr) return passed_unless_lost(made, name);
    seen_window seen;
    if (is_open) {
        seen = look_at(scratch, asked, leak_patterns{scratch}, broken.rows);
        made.set_counts(seen.counts);
    } else {
        broken.rows = evidence::alive;  // more is not known of a window that has ended
        seen.rows = *asked.rows;
    }
    write_budget_headline(made.message(), broken, name, seen.rows);
    return failed(made, scratch, seen, broken.counts_bytes, name);
}

// What is alive and not expected is within the limits.
inline check_data* check_leaks_of(arena& scratch, const check_request& asked,
                                  const leak_patterns& expected, const char* name) {
    const allocation_counts counts = counts_now(asked.window);
    check_block made{counts};
    made.set_unexpected(counts.live_objects(), counts.live_bytes());
    // Some of it may be expected by name: only the rows tell what is left of a least.
    if (asked.limits.live_objects.least == 0 &&
        !has_leaked(asked, counts.live_objects(), counts.live_bytes())) {
        return passed_unless_lost(made, name);
    }
    const seen_window seen = look_at(scratch, asked, expected, evidence::alive);
    made.set_counts(seen.counts);
    made.set_unexpected(seen.objects, seen.bytes);
    made.set_first_use(seen.first_use.objects, seen.first_use.bytes);
    if (!has_leaked(asked, seen.objects, seen.bytes)) return passed_unless_lost(made, name);
    // Who wants a number of leaks may mean those of statics, too.
    const bool wants_leaks = asked.limits.live_objects.least != 0;
    if (wants_leaks && !has_leaked(asked, seen.objects + seen.first_use.objects,
                                   seen.bytes + seen.first_use.bytes)) {
        return passed_unless_lost(made, name);
    }
    write_leak_headline(made.message(), asked, name, seen.objects, seen.bytes);
    return failed(made, scratch, seen, seen.objects <= asked.limits.live_objects.most, name);
}

// Before the last run: how much is alive and not expected is all that is asked. After it: what each
// run added is within the limits.
inline check_data* check_runs_of(arena& scratch, const check_request& asked,
                                 const leak_patterns& expected, const char* name) {
    const allocation_counts counts = counts_now(asked.window);
    check_block made{counts};
    made.set_unexpected(counts.live_objects(), counts.live_bytes());
    const bool is_one_run = asked.runs == 0;
    if (is_one_run && counts.live_objects() == 0) return made.finish();
    if (!is_one_run && !has_leaked(asked, asked.added_objects, asked.added_bytes)) {
        return passed_unless_lost(made, name);
    }
    const seen_window seen = look_at(scratch, asked, expected, evidence::alive);
    made.set_counts(seen.counts);
    made.set_unexpected(seen.objects, seen.bytes);
    made.set_first_use(seen.first_use.objects, seen.first_use.bytes);
    if (is_one_run) return made.finish();
    write_leak_headline(made.message(), asked, name, seen.objects, seen.bytes);
    return failed(made, scratch, seen, asked.added_objects <= asked.limits.live_objects.most, name);
}

inline check_data* rows_of_allocated(arena& scratch, const check_request& asked) {
    const seen_window seen = look_at(scratch, asked, leak_patterns{scratch}, evidence::allocated);
    check_block made{seen.counts};
    made.keep_rows(seen.rows);
    return made.finish();
}

inline check_data* save_what_was_judged(arena& scratch, const check_request& asked) {
    check_block made{asked.counts};
    made.message() << asked.headline;
    seen_window seen;
    seen.rows = *asked.rows;
    return failed(made, scratch, seen, false, asked.name);
}

inline check_data* check_now(arena& scratch, const check_request& asked) {
    if (asked.kind == check_kind::judged) return save_what_was_judged(scratch, asked);
    const bool is_open = asked.window != 0;
    if (!is_open && !has_totals(asked.rows->info())) return shared_check(check_without_window);
    const char* name = is_open ? name_of_window(scratch, asked.window) : asked.rows->info().name;
    if (is_open ? is_estimated(asked.window) : asked.rows->info().record == recording::sampled) {
        check_block made{{}};
        made.message() << "check";
        write_quoted(made.message(), name);
        made.message() << ": a sampled window has estimates only; open it with"
                          " recording::exact or recording::counters";
        return made.finish();
    }
    if (asked.kind == check_kind::allocated_rows) return rows_of_allocated(scratch, asked);
    if (asked.kind == check_kind::budget) return check_budget_of(scratch, asked, name);
    leak_patterns expected{scratch};
    text_out problem{scratch};
    expected.read(asked.expected, problem);  // has been checked when the leak check was made
    return asked.kind == check_kind::leaks ? check_leaks_of(scratch, asked, expected, name)
                                           : check_runs_of(scratch, asked, expected, name);
}

// Null: memory was refused.
inline check_data* engine_check(const check_request& asked) {
    const uncharged_work meanwhile;
    check_data* made = nullptr;
    is_done_with_memory([&] {
        arena scratch;
        made = check_now(scratch, asked);
    });
    if (asked.then == after_stats::end && asked.window != 0) {
        close_window_now(asked.window);
        put_names_away();
    }
    return made;
}

inline bool engine_check_expected_leaks(const char* lines, char* message, std::size_t room) {
    const uncharged_work meanwhile;
    message[0] = '\0';
    bool is_good = false;
    is_done_with_memory([&] {
        arena scratch;
        leak_patterns read{scratch};
        text_out problem{scratch};
        problem << "allocscope: ";
        is_good = read.read(lines, problem);
        if (is_good) return;
        const std::size_t length = problem.size() < room ? problem.size() : room - 1;
        std::memcpy(message, problem.view().data(), length);
        message[length] = '\0';
    });
    return is_good;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

// guard_violation.hpp - guards are armed, broken and looked at.

#ifndef ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
#define ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A snapshot with one row, for one event at one stack.
inline snapshot snapshot_of_event(arena& scratch, const char* name, const allocation_counts& totals,
                                  std::uint64_t bytes, const std::uintptr_t* frames,
                                  std::uint32_t frame_count) {
    live_window window{scratch};
    window.exists = true;
    copy_name(window.name, sizeof window.name, name);
    window.wanted.from = threads::current;
    window.wanted.stack_frames = most_fault_frames;
    window.totals.counts = totals;
    live_site site{};
    site.objects = 1;
    site.bytes = bytes;
    add_site(window, site, frames, frame_count, frame_count);
    names_at_work names;
    snapshot rows{rows_of_window(names.book(), window, library_rule)};
    names.done();
    return rows;
}

// --- broken ---

inline check_data* describe_violation(const guard_watch& watch, const watched_event& event) {
    arena scratch;
    const char* name = name_of_window(scratch, watch.window);
    allocation_counts counts = counts_now(watch.window);
    if (!event.is_free) {  // the guard is told before the event
        ++counts.allocations;
        counts.bytes_allocated += event.bytes;
    }
    const snapshot rows =
        snapshot_of_event(scratch, name, counts, event.bytes, event.frames, event.frame_count);
    check_block made{counts};
    made.message() << "no_allocation_guard";
    write_quoted(made.message(), name);
    made.message() << ": ";
    if (event.is_free) {
        made.message() << "memory was freed";
        write_place_and_callers(made.message(), scratch, rows[0]);
    } else {
        write_count(made.message(), event.bytes, "byte was", "bytes were");
        made.message() << " allocated";
        write_top_rows(made.message(), scratch, rows, false);
    }
    made.keep_rows(rows);
    made.save_evidence(name);
    return made.finish();
}

// A guard that is broken while memory is refused tells that much.
inline bool guard_violated(guard_watch& watch, const watched_event& event) {
    const uncharged_work meanwhile;
    watch.is_broken = true;
    watch.found = shared_check(check_without_memory);
    is_done_with_memory([&] { watch.found = describe_violation(watch, event); });
    return watch.tell(watch, *watch.found) && !event.is_free;
}

// --- armed ---

inline options counting(threads from) noexcept {
    options wanted;
    wanted.record = recording::counters;
    wanted.from = from;
    return wanted;
}

// False: no memory.
inline bool engine_arm_guard(guard_watch& watch) {
    const uncharged_work meanwhile;
    watch.window = open_window_now(watch.name, counting(threads::current));
    if (watch.window == 0) return false;
    watch.violated = &guard_violated;
    watch.allow_depth = own_watches.allow_depth;
    watch.outer = own_watches.innermost;
    own_watches.innermost = &watch;
    make_view_stale(*own_state());
    return true;
}

// To go on would leave a pointer to a guard that is gone.
[[noreturn]] inline void refuse_foreign_guard() {
    const char sentence[] =
        "allocscope: a no_allocation_guard was destroyed by another thread than made it; keep it"
        " in a block of one thread\n";
    write_all(2, sentence, sizeof sentence - 1);
    std::abort();
}

inline void disarm_guard(guard_watch& watch) {
    guard_watch** at = &own_watches.innermost;
    while (*at != nullptr && *at != &watch) at = &(*at)->outer;
    if (*at == nullptr) refuse_foreign_guard();
    *at = watch.outer;
    close_window_now(watch.window);
    put_names_away();
}

// One reference is handed over; null when there was no memory for the result.
inline check_data* engine_look_at_guard(guard_watch& watch, bool ends) {
    const uncharged_work meanwhile;
    check_data* seen = watch.found;
    if (seen == nullptr) {
        is_done_with_memory([&] { seen = check_block{counts_now(watch.window)}.finish(); });
    } else if (!ends) {
        hold_check(seen);
    }
    if (ends) disarm_guard(watch);
    return seen;
}

// +1: what this thread allocates from now on breaks none of its guards; -1: takes one +1 back.
inline void engine_allow(int change) {
    own_watches.allow_depth += static_cast<std::uint32_t>(change);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

// armed_faults.hpp - plans of failing allocations are armed, read and disarmed.

#ifndef ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
#define ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline armed_plan* take_plan() noexcept {
    for (armed_plan& each : fault_plans.plans) {
        if (!each.is_taken.exchange(true, std::memory_order_acq_rel)) return &each;
    }
    return nullptr;
}

inline armed_plan& plan_of(plan_id id) noexcept {
    return fault_plans.plans[id - 1];
}

// 0: most_plans are armed, or there is no memory.
inline plan_id engine_arm_plan(const fault_plan& wanted) {
    const uncharged_work meanwhile;
    const thread_state* self = own_state();
    armed_plan* plan = take_plan();
    if (plan == nullptr) return 0;
    if (self == nullptr) {
        plan->is_taken.store(false, std::memory_order_release);
        return 0;
    }
    plan->kind.store(wanted.kind, std::memory_order_relaxed);
    plan->number.store(wanted.number, std::memory_order_relaxed);
    plan->times.store(wanted.times, std::memory_order_relaxed);
    plan->seed.store(wanted.seed, std::memory_order_relaxed);
    plan->seen.store(0, std::memory_order_relaxed);
    plan->failed.store(0, std::memory_order_relaxed);
    plan->bytes.store(0, std::memory_order_relaxed);
    plan->frame_count.store(0, std::memory_order_relaxed);
    plan->instance.store(
        wanted.from == threads::all ? 0 : self->instance.load(std::memory_order_relaxed),
        std::memory_order_relaxed);
    plan->is_armed.store(true, std::memory_order_release);
    fault_plans.armed.fetch_add(1, std::memory_order_release);
    // Last: whoever it concerns reads the view anew, and is told there that it is watched.
    plan->window = open_window_now("fault", counting(wanted.from));
    if (plan->window != 0) return static_cast<plan_id>(plan - fault_plans.plans) + 1;
    plan->is_armed.store(false, std::memory_order_release);
    fault_plans.armed.fetch_sub(1, std::memory_order_release);
    plan->is_taken.store(false, std::memory_order_release);
    return 0;
}

inline plan_state engine_plan_state(plan_id id) {
    const armed_plan& plan = plan_of(id);
    return {plan.seen.load(std::memory_order_relaxed), plan.failed.load(std::memory_order_relaxed)};
}

inline void engine_disarm_plan(plan_id id) {
    const uncharged_work meanwhile;
    armed_plan& plan = plan_of(id);
    plan.is_armed.store(false, std::memory_order_release);
    fault_plans.armed.fetch_sub(1, std::memory_order_release);
    close_window_now(plan.window);
    put_names_away();
    plan.is_taken.store(false, std::memory_order_release);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

// fault_sweep.hpp - keeps what became of a piece of code, one failing allocation after the other.

#ifndef ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
#define ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t message_runs = 3;

struct sweep_block {
    sweep_data data{};  // first: a pointer to it is a pointer to the block
    arena memory;       // where this block lies
    const char* name = "";
    list<fault_run> runs{memory};
    text_out problems{memory};  // of the first bad runs
    snapshot rows;              // what the first run left that left something
};

inline sweep_block& block_of(sweep_data* data) noexcept {
    return *reinterpret_cast<sweep_block*>(data);
}

inline void release_sweep(sweep_data* data) {
    const uncharged_work meanwhile;
    if (data->verdict != nullptr) drop_check(data->verdict);
    sweep_block& block = block_of(data);
    block.rows = snapshot{};
    arena last;
    last.take(block.memory);  // the block goes with it
}

// Null: memory was refused.
inline sweep_data* engine_begin_sweep(const char* name) {
    const uncharged_work meanwhile;
    sweep_data* begun = nullptr;
    is_done_with_memory([&] {
        arena memory;
        auto* made = memory.make<sweep_block>();
        made->name = copy_of(memory, name).data();
        made->memory.take(memory);
        made->data.references = 1;
        made->data.release = &release_sweep;
        begun = &made->data;
    });
    return begun;
}

// Where the plan's first allocation failed; "" when that is not known.
inline const char* failed_at(sweep_block& sweep, arena& scratch, const armed_plan& plan) {
    const std::uint32_t count = plan.frame_count.load(std::memory_order_acquire);
    if (count == 0 || count > most_fault_frames) return "";
    std::uintptr_t frames[most_fault_frames];
    for (std::uint32_t i = 0; i < count; ++i) {
        frames[i] = plan.frames[i].load(std::memory_order_relaxed);
    }
    const snapshot rows = snapshot_of_event(scratch, sweep.name, {}, 0, frames, count);
    text_out place{sweep.memory};
    write_row_place(place, rows[0]);
    return place.c_str();
}

inline void write_problem(text_out& out, arena& scratch, const fault_run& run,
                          const snapshot& left) {
    out << "\n  ";
    if (run.nth == 0) {
        out << "without any failure";
    } else {
        out << "allocation " << decimal{run.nth} << " failed";
        if (run.site[0] != '\0') out << " at " << run.site;
    }
    if (run.outcome == fault_outcome::threw_other) {
        out << ": another exception than std::bad_alloc came out";
        if (run.detail[0] != '\0') {
            out << " (";
            write_printable(out, run.detail);
            out << ')';
        }
    }
    if (run.leaked_objects == 0) return;
    out << ": ";
    write_count(out, run.leaked_objects, "object", "objects");
    out << " with ";
    write_count(out, run.leaked_bytes, "byte", "bytes");
    out << " left alive";
    write_top_rows(out, scratch, left, false, "  ");
}

inline void add_run(sweep_block& sweep, const sweep_request& asked) {
    arena scratch;
    check_request leaks;
    leaks.kind = check_kind::leaks;
    leaks.window = asked.window;
    leaks.expected = asked.expected;
    leak_patterns expected{scratch};
    text_out problem{scratch};
    expected.read(asked.expected, problem);  // has been checked when the sweep began
    fault_run run{};
    seen_window seen;
    if (counts_now(asked.window).live_objects() != 0) {
        seen = look_at(scratch, leaks, expected, evidence::alive);
        run.leaked_objects = seen.objects;
        run.leaked_bytes = seen.bytes;
    }
    const armed_plan& plan = plan_of(asked.plan);
    run.nth = plan.failed.load(std::memory_order_relaxed) != 0 ? asked.nth : 0;
    run.outcome = asked.outcome;
    run.site = run.nth != 0 ? failed_at(sweep, scratch, plan) : "";
    run.detail = copy_of(sweep.memory, asked.detail).data();
    sweep.runs.push_back(run);
    if (run.is_good()) return;
    if (sweep.data.bad_runs++ < message_runs) {
        write_problem(sweep.problems, scratch, run, seen.rows);
    }
    if (sweep.rows.empty()) sweep.rows = seen.rows;
}

// False: no memory to note the run.
inline bool engine_add_sweep_run(sweep_data* to, const sweep_request& asked) {
    const uncharged_work meanwhile;
    return is_done_with_memory([&] { add_run(block_of(to), asked); });
}

inline check_data* verdict_of(sweep_block& sweep, bool gave_up) {
    check_block made{{}};
    const std::uint64_t bad = sweep.data.bad_runs;
    if (bad == 0 && !gave_up) return made.finish();
    text_out& message = made.message();
    message << "fault sweep";
    write_quoted(message, sweep.name);
    message << ": ";
    if (bad != 0) {
        message << "of ";
        write_count(message, sweep.runs.size(), "run", "runs");
        message << " with one allocation failing each, " << decimal{bad} << " went wrong";
    } else {
        message << "not finished";
    }
    message << sweep.problems.view();
    if (bad > message_runs) {
        message << "\n  and ";
        write_count(message, bad - message_runs, "more run", "more runs");
    }
    if (gave_up) {
        message << "\n  given up after ";
        write_count(message, sweep.runs.size(), "run", "runs");
        message << ": the code allocates more often, or memory was refused; raise"
                   " sweep_options::most_runs or sweep a smaller piece";
    }
    made.keep_rows(sweep.rows);
    made.save_evidence(sweep.name);
    return made.finish();
}

inline void engine_end_sweep(sweep_data* data, bool gave_up) {
    const uncharged_work meanwhile;
    sweep_block& sweep = block_of(data);
    data->runs = sweep.runs.data();
    data->run_count = sweep.runs.size();
    data->verdict = shared_check(check_without_memory);
    is_done_with_memory([&] { data->verdict = verdict_of(sweep, gave_up); });
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE)

// engine_table.hpp - the functions behind engine.hpp.

#ifndef ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The window of start(); 0: not started. No lock guards it: the exchange decides a race of two
// starts.
ALLOCSCOPE_HIDDEN inline std::atomic<window_id> process_window{0};

// Naming lock. The snapshot that stop() gave, until the next start().
ALLOCSCOPE_HIDDEN inline snapshot_data* last_of_process = nullptr;

// Takes over one reference to `kept`.
inline void keep_last_of_process(snapshot_data* kept) noexcept {
    snapshot_data* before = nullptr;
    {
        const naming_lock lock;
        before = last_of_process;
        last_of_process = kept;
    }
    drop_reference(before);
}

// Null: no window of start() was ever stopped, or another thread is just stopping it.
inline snapshot_data* repeat_last_of_process() noexcept {
    const naming_lock lock;
    add_reference(last_of_process);
    return last_of_process;
}

inline bool is_open(window_id id) noexcept {
    const control_lock lock;
    return find_window(id) != nullptr;
}

// Null: there is no such window. When memory for the rows is refused, the snapshot has the numbers.
inline snapshot_data* snapshot_of_window(window_id id, after_stats then) {
    // Allocated first, so that the totals survive if naming runs out of memory.
    snapshot_block block;
    if (!block.has_memory()) {
        return is_open(id) ? const_cast<snapshot_data*>(&snapshot_without_memory) : nullptr;
    }
    arena memory;
    live_window window{memory};
    const bool has_rows = is_done_with_memory([&] {
        take_live_objects(window, id, then);
        if (!window.exists) return;
        names_at_work names;
        add_rows_of(block, names.book(), window, library_rule);
        names.done();
    });
    if (!window.exists) return nullptr;
    add_own_memory(window);
    return finish_block(block, window, has_rows ? "" : snapshot_without_memory.info.not_recording);
}

// --- the table ---

inline window_id engine_open_window(const char* name, const options& wanted) {
    const uncharged_work meanwhile;
    return open_window_now(name, wanted);
}

inline void engine_close_window(window_id id) {
    close_window_now(id);
    if (process.entry.word() != 0) return;
    const uncharged_work meanwhile;
    put_names_away();
}

inline allocation_counts engine_counts(window_id id) {
    return counts_now(id);
}

// Null: there is no such window. Where memory for the rows is refused, the snapshot has numbers
// only and says so. Where memory even for that is refused, the snapshot only says so, and the
// window forgets nothing.
inline snapshot_data* engine_stats(window_id id, after_stats then) {
    const uncharged_work meanwhile;
    snapshot_data* made = snapshot_of_window(id, then);
    if (then == after_stats::end) {
        close_window_now(id);
        put_names_away();
    }
    return made;
}

inline void engine_start(const options& wanted) {
    if (process_window.load(std::memory_order_acquire) != 0) return;
    const window_id opened = engine_open_window("start", wanted);
    window_id expected = 0;
    if (!process_window.compare_exchange_strong(expected, opened, std::memory_order_acq_rel)) {
        close_window_now(opened);  // another thread was faster
        return;
    }
    const uncharged_work meanwhile;
    keep_last_of_process(nullptr);
}

inline snapshot_data* engine_process_stats(after_stats then) {
    const window_id id = then == after_stats::end
                             ? process_window.exchange(0, std::memory_order_acq_rel)
                             : process_window.load(std::memory_order_acquire);
    snapshot_data* made = id != 0 ? engine_stats(id, then) : nullptr;
    if (made == nullptr) return repeat_last_of_process();
    if (then == after_stats::end) {
        const uncharged_work meanwhile;
        add_reference(made);
        keep_last_of_process(made);
    }
    return made;
}

inline void engine_pause(int change) {
    pause_now(change);
}

inline const char* engine_library_frames(const char* pattern) {
    return library_rule.add(pattern);
}

// `save` is handed in: whoever fills the table chooses what writes the evidence.
constexpr engine make_engine_table(decltype(engine::save_evidence) save) noexcept {
    engine table{};
    table.abi_version = ALLOCSCOPE_ABI_VERSION;
    table.size_bytes = sizeof(engine);
    table.open_window = &engine_open_window;
    table.close_window = &engine_close_window;
    table.counts = &engine_counts;
    table.stats = &engine_stats;
    table.start = &engine_start;
    table.process_stats = &engine_process_stats;
    table.pause = &engine_pause;
    table.library_frames = &engine_library_frames;
    table.check = &engine_check;
    table.check_expected_leaks = &engine_check_expected_leaks;
    table.save_evidence = save;
    table.arm_guard = &engine_arm_guard;
    table.look_at_guard = &engine_look_at_guard;
    table.allow = &engine_allow;
    table.arm_plan = &engine_arm_plan;
    table.state_of_plan = &engine_plan_state;
    table.disarm_plan = &engine_disarm_plan;
    table.begin_sweep = &engine_begin_sweep;
    table.add_sweep_run = &engine_add_sweep_run;
    table.end_sweep = &engine_end_sweep;
    return table;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// sampler.hpp - which allocations are sampled, decided before there is a block.

#ifndef ALLOCSCOPE_RECORD_SAMPLER_HPP
#define ALLOCSCOPE_RECORD_SAMPLER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The alignment asked of the allocator for a sample that the program wants aligned to `wanted`.
constexpr std::size_t alignment_of_sample(std::size_t wanted) noexcept {
    return wanted > sampled_alignment ? wanted : sampled_alignment;
}

// How many bytes are asked of the allocator for a sample. Large sizes are rounded up to 56 bytes
// less than whole pages, because of glibc. It maps a block afresh, so that each page has to be
// faulted in, when it needs more for an aligned block than the largest block that it has unmapped
// so far (128 KiB to 32 MiB: mallopt(3), M_MMAP_THRESHOLD). Of a mapped block that begins at a page
// it remembers the size less 4080 bytes; for the next one it needs 4144 bytes more than asked. So
// each of many blocks of equal size would be mapped, unless the rounding of the mapping itself
// leaves nearly a page over, as it does with this size. To other allocators it is a size like any
// other.
constexpr std::uint64_t least_mapped_bytes = std::uint64_t{128} << 10U;
constexpr std::uint64_t longest_request = ~std::uint64_t{0} >> 1U;  // more is never granted
constexpr std::uint64_t bytes_of_sample(std::uint64_t bytes) noexcept {
    if (bytes < least_mapped_bytes || bytes > longest_request) return bytes;
    return ((bytes + 55U) | (sampled_alignment - 1U)) - 55U;
}

// Whether the allocation is no sample and needs no record: counted down, and done with. `word` is
// the gate's. False: ask is_sample().
ALLOCSCOPE_FAST_PATH bool passes(thread_entry* entry, std::uint64_t word,
                                 std::uint64_t bytes) noexcept {
    const std::uint64_t counted = bytes_to_count(bytes);
    // Read once and written once. A signal handler that allocates in between counts down, too;
    // subtracting from what it has left could end below zero, and no sample would ever follow. Of
    // two that count at the same time the later one stands. That is no bias, because the time to
    // the next sample has no memory.
    const std::uint64_t left = entry->bytes_left.load(std::memory_order_relaxed);
    if (ALLOCSCOPE_UNLIKELY(entry->view_number != word || counted >= left)) return false;
    entry->bytes_left.store(left - counted, std::memory_order_relaxed);
    return true;
}

// Decides about one allocation, in every case. In a signal handler that interrupted a hook it is
// still the thread's own countdown that decides, not that of the state the handler works with:
// passes() asked it already, and two dice would have to fall.
ALLOCSCOPE_NOINLINE bool is_sample(std::uint64_t bytes, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return false;
    const std::uint64_t counted = bytes_to_count(bytes);
    bool is_drawn = false;
    if (thread->mode == charge::samples) {
        thread_state& primary = thread->primary();
        const bool is_known = primary.view_number == thread->view_number;
        std::atomic<std::uint64_t>& countdown = (is_known ? primary : *thread).bytes_left;
        const std::uint64_t left = countdown.load(std::memory_order_relaxed);
        is_drawn = counted >= left;
        countdown.store(is_drawn ? next_gap(*thread) : left - counted, std::memory_order_relaxed);
    }
    leave(*thread);
    return is_drawn;
}

// Called after a block at a page was allocated for a sample.
ALLOCSCOPE_NOINLINE void on_sampled(void* block, std::uint64_t bytes,
                                    std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    // Windows may have opened or closed meanwhile.
    if (thread->mode != charge::samples) {
        record_and_leave(*thread, block, bytes, frame);
        return;
    }
    put_sample(*thread, block, bytes, frame);
    leave(*thread);
}

// Called when there was no memory for a block at a page; the object gets no record.
ALLOCSCOPE_NOINLINE void on_sample_refused(std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    thread->lose(loss_reason::no_memory_for_record);
    leave(*thread);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_SAMPLER_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE)

// operator_new_entry.hpp - what the replaced operators do.

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The engine of this process; defined where a header of define_once/ is included.
ALLOCSCOPE_HIDDEN extern const engine the_engine;

constexpr std::size_t block_bytes_for(std::size_t bytes) noexcept {
    return bytes < smallest_block_bytes ? smallest_block_bytes : bytes;
}

[[noreturn]] inline void refuse_allocation() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

// --- memory, or null ---

constexpr std::size_t no_alignment = 0;

inline void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    void* block = nullptr;
    const std::size_t least = sizeof(void*);
    if (::posix_memalign(&block, alignment < least ? least : alignment, block_bytes_for(bytes)) !=
        0) {
        return nullptr;
    }
    return block;
}

// Memory was refused: calls the new_handler as long as there is one, and tries again. Passes on
// what the handler throws.
ALLOCSCOPE_SLOW_PATH void* allocate_with_handler(std::size_t bytes, std::size_t alignment) {
    for (;;) {
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) return nullptr;
        handler();
        void* block = alignment == no_alignment ? std::malloc(block_bytes_for(bytes))
                                                : allocate_aligned(bytes, alignment);
        if (block != nullptr) return block;
    }
}

ALLOCSCOPE_FAST_PATH void* plain_block(std::size_t bytes) {
    void* block = std::malloc(block_bytes_for(bytes));
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) block = allocate_with_handler(bytes, no_alignment);
    return block;
}

inline void* plain_aligned_block(std::size_t bytes, std::size_t alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    void* block = allocate_aligned(bytes, alignment);
    if (block == nullptr) block = allocate_with_handler(bytes, alignment);
    return block;
}

// --- the same while a window is open ---
//
// These are functions of their own, so that the operators only load and test a word while no window
// is open. `frame` is the operator's own frame address.

// A block at a page for an allocation that is to be a sample; null when there is no memory for it.
inline void* sampled_block(std::size_t bytes, std::size_t alignment, void* frame) noexcept {
    const int saved_errno = errno;
    void* block = allocate_aligned(bytes_of_sample(bytes), alignment_of_sample(alignment));
    errno = saved_errno;
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    if (block == nullptr) {
        on_sample_refused(address);
    } else {
        on_sampled(block, bytes, address);
    }
    return block;
}

// Any request, in any state of the thread.
ALLOCSCOPE_NOINLINE void* watched_block(std::size_t bytes, std::size_t alignment, void* frame) {
    if (ALLOCSCOPE_UNLIKELY(has_watches()) &&
        is_refused_by_watch(bytes, reinterpret_cast<std::uintptr_t>(frame))) {
        return nullptr;
    }
    const bool is_possible = (alignment & (alignment - 1)) == 0;
    if (is_possible && is_sample(bytes, reinterpret_cast<std::uintptr_t>(frame))) {
        if (void* block = sampled_block(bytes, alignment, frame)) return block;
    }
    void* block =
        alignment == no_alignment ? plain_block(bytes) : plain_aligned_block(bytes, alignment);
    if (block != nullptr && (process.entry.word() & every_event) != 0) {
        on_allocate_slow(block, bytes, reinterpret_cast<std::uintptr_t>(frame));
    }
    return block;
}

// All that throws is here, so that the next function has nothing to save on the stack.
ALLOCSCOPE_NOINLINE void* watched_block_or_throw(std::size_t bytes, void* frame) {
    ALLOCSCOPE_KEEP_FRAME();
    void* block = watched_block(bytes, no_alignment, frame);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// --- the operators' bodies ---

// For the throwing operators while a window is open. In a straight line for a thread that records
// every event.
ALLOCSCOPE_FAST_PATH void* recorded_block(thread_entry* entry, std::uint64_t word,
                                          std::size_t bytes) {
    // Parts what is kept over the call of malloc from the operator's argument, so that the compiler
    // saves registers here and not while no window is open.
    __asm__("" : "+r"(bytes), "+r"(entry));
    // Neither a sample nor a watch need be asked.
    const bool records_every_event = entry->straight_view == word;
    if (ALLOCSCOPE_UNLIKELY(!records_every_event)) {
        return watched_block_or_throw(bytes, __builtin_frame_address(0));
    }
    void* block = std::malloc(block_bytes_for(bytes));
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) {
        return watched_block_or_throw(bytes, __builtin_frame_address(0));
    }
    return on_allocate(block, bytes);
}

// Apart, so that an operator needs no frame of its own unless a window is open.
ALLOCSCOPE_NOINLINE void* plain_block_or_throw(std::size_t bytes) {
    void* block = plain_block(bytes);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// The gate's word says all. 0: no window is open. Highest bit set: every event is recorded.
// Otherwise samples are.
ALLOCSCOPE_FAST_PATH void* new_block(std::size_t bytes) {
    const std::uint64_t word = process.entry.word();
    if (ALLOCSCOPE_UNLIKELY(word != 0)) {
        thread_entry* const entry = current_entry;
        if ((word & every_event) != 0 || !passes(entry, word, bytes)) {
            return recorded_block(entry, word, bytes);
        }
    }
    return plain_block_or_throw(bytes);
}

// Passes on what the new_handler throws.
ALLOCSCOPE_FAST_PATH void* block_or_null(std::size_t bytes, void* frame) {
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != 0)) {
        return watched_block(bytes, no_alignment, frame);
    }
    return plain_block(bytes);
}

ALLOCSCOPE_FAST_PATH void* aligned_block_or_null(std::size_t bytes, std::align_val_t wanted,
                                                 void* frame) {
    const auto alignment = static_cast<std::size_t>(wanted);
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != 0) && alignment != no_alignment) {
        return watched_block(bytes, alignment, frame);
    }
    return plain_aligned_block(bytes, alignment);
}

ALLOCSCOPE_FAST_PATH void* new_aligned_block(std::size_t bytes, std::align_val_t alignment,
                                             void* frame) {
    void* block = aligned_block_or_null(bytes, alignment, frame);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS

ALLOCSCOPE_FAST_PATH void* new_block_or_null(std::size_t bytes, void* frame) noexcept {
    return block_or_null(bytes, frame);
}
ALLOCSCOPE_FAST_PATH void* new_aligned_block_or_null(std::size_t bytes, std::align_val_t alignment,
                                                     void* frame) noexcept {
    return aligned_block_or_null(bytes, alignment, frame);
}

#else

ALLOCSCOPE_FAST_PATH void* new_block_or_null(std::size_t bytes, void* frame) noexcept {
    try {
        return block_or_null(bytes, frame);
    } catch (...) {  // whatever the new_handler threw, as the standard demands
        return nullptr;
    }
}
ALLOCSCOPE_FAST_PATH void* new_aligned_block_or_null(std::size_t bytes, std::align_val_t alignment,
                                                     void* frame) noexcept {
    try {
        return aligned_block_or_null(bytes, alignment, frame);
    } catch (...) {
        return nullptr;
    }
}

#endif

ALLOCSCOPE_FAST_PATH void delete_block(void* block) noexcept {
    if (ALLOCSCOPE_UNLIKELY(process.entry.concerns_free_of(block))) {
        return free_recorded<&std::free>(block);
    }
    std::free(block);
}

// Whether a module asks for the engine (engine.hpp); then the answer is put into its tag. The tag
// is read only when size and alignment fit, because a plain nothrow_t has no magic number.
inline bool answer_handshake(std::size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t& tag) noexcept {
    if (bytes != handshake_size || alignment != handshake_alignment) return false;
    if (&tag == &std::nothrow) return false;
    auto& asked = const_cast<handshake_tag&>(static_cast<const handshake_tag&>(tag));
    if (asked.magic != handshake_magic) return false;
    asked.answer = &the_engine;
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <sys/ioctl.h>

// text_options.hpp - how a text report looks.

#ifndef ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP
#define ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

enum class row_order {
    objects,  // as in the snapshot: most objects first (in a difference: the largest change)
    bytes     // most bytes first; equal ones in the snapshot's order
};

enum class text_color {
    automatic,  // on a terminal, unless NO_COLOR is set and not empty or TERM is "dumb"
    never,
    always
};

struct text_options {
    // Lines are cut to this many columns, at least 60. 0: to the width of the terminal (what it
    // says, else COLUMNS, else 100); what does not go to a terminal is then not cut at all.
    // file:line is never cut.
    std::uint32_t width = 0;
    text_color color = text_color::automatic;
    std::size_t rows = 50;  // at most so many; the others are summed in one last row
    row_order sort = row_order::objects;
    std::uint32_t frames = 0;  // stack frames shown below each row, from its file:line outwards
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP

// terminal_width.hpp - who reads the report: a terminal, how wide, and does it want colours?

#ifndef ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP
#define ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint32_t usual_width = 100;

inline bool is_terminal(int descriptor) noexcept {
    const int errno_before = errno;
    const bool answer = ::isatty(descriptor) == 1;
    errno = errno_before;
    return answer;
}

// A number in 1..10000, else 0.
inline std::uint32_t columns_from_text(const char* text) noexcept {
    std::uint32_t value = 0;
    if (text == nullptr || *text == '\0') return 0;
    for (; *text != '\0'; ++text) {
        if (*text < '0' || *text > '9' || value > 1000) return 0;
        value = value * 10 + static_cast<std::uint32_t>(*text - '0');
    }
    return value <= 10000 ? value : 0;
}

// The width that the terminal says, else COLUMNS, else 100.
inline std::uint32_t terminal_columns(int descriptor) noexcept {
    const int errno_before = errno;
    struct winsize size = {};
    const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    errno = errno_before;
    if (is_known) return size.ws_col;
    const std::uint32_t wanted = columns_from_text(::secure_getenv("COLUMNS"));
    return wanted != 0 ? wanted : usual_width;
}

// NO_COLOR is a convention (no-color.org): set and not empty, whatever its value.
inline bool terminal_wants_color(int descriptor) noexcept {
    if (!is_terminal(descriptor)) return false;
    const char* refusal = ::secure_getenv("NO_COLOR");
    const char* kind = ::secure_getenv("TERM");
    return (refusal == nullptr || *refusal == '\0') &&
           (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP

// number_units.hpp - numbers as a person reads them: bytes, durations, shares.

#ifndef ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP
#define ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// `value` units of which one is worth `unit`, with one decimal, rounded half up.
inline void write_one_decimal(text_out& out, std::uint64_t value, std::uint64_t unit) {
    std::uint64_t whole = value / unit;
    std::uint64_t tenths = static_cast<std::uint64_t>(
        static_cast<double>(value % unit) * 10.0 / static_cast<double>(unit) + 0.5);
    if (tenths == 10) {
        tenths = 0;
        ++whole;
    }
    out << decimal{whole} << '.' << decimal{tenths};
}

// Exact below 10,000 B, then KiB, MiB, GiB, TiB, PiB, EiB: each 1024 times the one before.
inline void write_bytes(text_out& out, std::uint64_t bytes) {
    if (bytes < 10000) {
        out << decimal{bytes} << " B";
        return;
    }
    unsigned power = 0;
    // 1023.95 of a unit would be printed as 1024.0: the next unit is meant.
    for (; power < 5; ++power) {
        const unsigned shift = 10 * (power + 1);
        if (bytes < (std::uint64_t{1} << (shift + 10)) - (std::uint64_t{51} << shift >> 10)) break;
    }
    write_one_decimal(out, bytes, std::uint64_t{1} << 10 * (power + 1));
    out << ' ' << "KMGTPE"[power] << "iB";
}

// The number of a difference: two's complement, with its sign. Its size is returned.
inline std::uint64_t write_sign(text_out& out, std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    if (value != 0) out << (value < 0 ? '-' : '+');
    return value < 0 ? std::uint64_t{0} - change : change;
}

inline void write_change(text_out& out, std::uint64_t change) {
    const std::uint64_t size = write_sign(out, change);
    out << decimal{size};
}

inline void write_bytes_change(text_out& out, std::uint64_t change) {
    const std::uint64_t size = write_sign(out, change);
    write_bytes(out, size);
}

// In percent with one decimal. What is there but rounds to nothing is "<0.1%"; of nothing, "-".
inline void write_share(text_out& out, std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) {
        out << '-';
        return;
    }
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    const auto tenths = static_cast<std::uint64_t>(percent * 10.0 + 0.5);
    if (tenths == 0 && part != 0) {
        out << "<0.1%";
        return;
    }
    out << decimal{tenths / 10} << '.' << decimal{tenths % 10} << '%';
}

// From one amount to another; a unit that both have is said once.
inline void write_interval(text_out& out, text low, text high) {
    const std::size_t unit = low.find(' ');
    const std::size_t other = high.find(' ');
    if (unit != text::npos && other != text::npos && low.substr(unit) == high.substr(other)) {
        low = low.substr(0, unit);
    }
    out << low << ".." << high;
}

inline void write_duration(text_out& out, std::uint64_t nanoseconds) {
    if (nanoseconds < 1000) {
        out << decimal{nanoseconds} << " ns";
    } else if (nanoseconds < 999950) {
        write_one_decimal(out, nanoseconds, 1000);
        out << " us";
    } else if (nanoseconds < 999950000) {
        write_one_decimal(out, nanoseconds, 1000000);
        out << " ms";
    } else {
        write_one_decimal(out, nanoseconds, 1000000000);
        out << " s";
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP

// text_columns.hpp - text in columns: counted, padded, cut.

#ifndef ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
#define ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline bool begins_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

inline std::size_t columns_of(text shown) noexcept {
    std::size_t columns = 0;
    for (const char byte : shown) columns += begins_character(byte) ? 1U : 0U;
    return columns;
}

// The first `columns` characters.
inline text first_columns(text shown, std::size_t columns) noexcept {
    std::size_t end = 0;
    while (end < shown.size()) {
        if (begins_character(shown[end]) && columns-- == 0) break;
        ++end;
    }
    return shown.substr(0, end);
}

inline text last_columns(text shown, std::size_t columns) noexcept {
    const std::size_t all = columns_of(shown);
    return shown.substr(first_columns(shown, all > columns ? all - columns : 0).size());
}

constexpr std::size_t cut_mark_columns = 3;  // "..."

// Keeps `before` characters at the beginning, and as many at the end as have room.
inline void write_cut(text_out& out, text shown, std::size_t columns, std::size_t before) {
    if (columns_of(shown) <= columns) {
        out << shown;
    } else if (columns <= cut_mark_columns) {
        out.fill(columns, '.');
    } else {
        out << first_columns(shown, before) << "..."
            << last_columns(shown, columns - cut_mark_columns - before);
    }
}

inline void write_end_cut(text_out& out, text shown, std::size_t columns) {
    write_cut(out, shown, columns, columns - cut_mark_columns);
}

inline void write_middle_cut(text_out& out, text shown, std::size_t columns) {
    write_cut(out, shown, columns, (columns - cut_mark_columns) / 2);
}

inline void pad(text_out& out, text shown, std::size_t columns) {
    const std::size_t taken = columns_of(shown);
    if (taken < columns) out.fill(columns - taken, ' ');
}

inline void write_right(text_out& out, text shown, std::size_t columns) {
    pad(out, shown, columns);
    out << shown;
}

inline void write_left(text_out& out, text shown, std::size_t columns) {
    out << shown;
    pad(out, shown, columns);
}

// Breaks between words, so that no line has more than `columns`; the following lines begin with
// `indent` blanks. A word that is longer than a line stays whole. 0 columns: no limit.
inline void write_wrapped(text_out& out, text shown, std::size_t columns, std::size_t indent) {
    std::size_t used = 0;
    bool has_word = false;  // in the line so far
    while (!shown.empty()) {
        // A word, with the blanks before it.
        const std::size_t begin = shown.find_first_not_of(" ");
        std::size_t end = begin != text::npos ? shown.find(' ', begin) : text::npos;
        if (end == text::npos) end = shown.size();
        text word = shown.substr(0, end);
        shown.remove_prefix(end);
        if (columns != 0 && has_word && used + columns_of(word) > columns && begin != text::npos) {
            word.remove_prefix(begin);
            out << '\n';
            out.fill(indent, ' ');
            used = indent;
        }
        used += columns_of(word);
        out << word;
        has_word = true;
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

// text_head.hpp - the lines of a text report above its rows.

#ifndef ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
#define ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The escape sequences of a terminal.
constexpr const char* bold = "\x1b[1m";
constexpr const char* dim = "\x1b[2m";
constexpr const char* yellow = "\x1b[33m";

// How a report is laid out, and where the parts of its lines are put together.
struct text_form {
    arena& parts;
    std::size_t width = 0;  // columns to keep to; 0: no limit
    bool has_color = false;

    void write(text_out& out, const char* color, text shown) const {
        if (has_color) out << color;
        out << shown;
        if (has_color) out << "\x1b[0m";
    }
    void write_sentence(text_out& out, text sentence) const {
        text_out wrapped{parts};
        write_wrapped(wrapped, sentence, width, 4);
        write(out, yellow, wrapped.view());
        out << '\n';
    }
};

// Numbers as this kind of snapshot has them: signed in a difference, marked '~' when they are
// estimated from samples.
class number_form {
public:
    number_form(arena& memory, const snapshot::window_info& info)
        : memory_(memory),
          is_difference_(info.is_difference),
          is_sampled_(info.record == recording::sampled) {}

    text count(std::uint64_t objects) const { return made(objects, false, is_sampled_); }
    text amount(std::uint64_t bytes) const { return made(bytes, true, is_sampled_); }

    // Intervals, without a mark.
    text counts(std::uint64_t low, std::uint64_t high) const { return interval(low, high, false); }
    text amounts(std::uint64_t low, std::uint64_t high) const { return interval(low, high, true); }

private:
    text made(std::uint64_t number, bool counts_bytes, bool is_marked) const {
        text_out out{memory_};
        if (is_marked) out << '~';
        const std::uint64_t size = is_difference_ ? write_sign(out, number) : number;
        if (counts_bytes) {
            write_bytes(out, size);
        } else {
            out << decimal{size};
        }
        return out.view();
    }
    text interval(std::uint64_t low, std::uint64_t high, bool counts_bytes) const {
        text_out out{memory_};
        write_interval(out, made(low, counts_bytes, false), made(high, counts_bytes, false));
        return out.view();
    }

    arena& memory_;
    bool is_difference_;
    bool is_sampled_;
};

inline void write_title(text_out& out, const snapshot::window_info& info, const text_form& form) {
    text_out title{form.parts};
    title << (info.is_difference ? "allocscope difference" : "allocscope report");
    if (info.name[0] == '\0') {
        title << " of an unnamed window";
    } else {
        title << " of window \"";
        write_printable(title, info.name);
        title << '"';
    }
    text_out cut{form.parts};
    write_end_cut(cut, title.view(), form.width != 0 ? form.width : title.size());
    form.write(out, bold, cut.view());
    out << '\n';
}

// How the window was recorded.
inline void write_mode(text_out& out, const snapshot::window_info& info, const text_form& form) {
    const bool is_sampled = info.record == recording::sampled;
    const bool has_stacks = info.record != recording::counters;
    text_out mode{form.parts};
    mode << "  " << (is_sampled ? "sampled" : has_stacks ? "exact" : "counters only");
    if (is_sampled && info.sample_bytes != 0) {
        mode << " every ";
        write_bytes(mode, info.sample_bytes);
        mode << " on average: " << decimal{info.samples}
             << (info.samples == 1 ? " sample" : " samples");
    }
    if (has_stacks) {
        mode << ", up to " << decimal{info.stack_frames}
             << (info.stack_frames == 1 ? " frame" : " frames") << " of each stack";
    }
    mode << (info.from == threads::all ? ", all threads" : ", one thread");
    if (!info.is_of_two_windows) {
        mode << (info.is_difference ? ", " : ", open for ");
        write_duration(mode, info.duration_ns);
        if (info.is_difference) mode << " apart";
    }
    write_wrapped(out, mode.view(), form.width, 4);
    out << '\n';
}

// The totals, a line each.
class total_lines {
public:
    total_lines(text_out& out, const snapshot::window_info& info, const text_form& form)
        : out_(out),
          numbers_(form.parts, info),
          form_(form),
          is_sampled_(info.record == recording::sampled) {}

    void add(const char* name, std::uint64_t objects, std::uint64_t bytes) {
        out_ << "  ";
        write_left(out_, name, 11);
        write_right(out_, numbers_.count(objects), 10);
        out_ << (objects == 1 ? " object " : " objects");
        write_right(out_, numbers_.amount(bytes), 14);
    }
    void add(const char* name, const estimate& objects, const estimate& bytes) {
        const std::size_t begin = out_.size();
        add(name, objects.value, bytes.value);
        if (is_sampled_) {
            const std::size_t taken = columns_of(out_.view().substr(begin));
            add_interval(objects, bytes, taken);
        }
        out_ << '\n';
    }
    void add(const char* name, text bytes) {
        out_ << "  ";
        write_left(out_, name, 29);
        write_right(out_, bytes, 14);
        out_ << '\n';
    }
    text amount(std::uint64_t bytes) const { return numbers_.amount(bytes); }

private:
    void add_interval(const estimate& objects, const estimate& bytes, std::size_t taken) {
        text_out interval{form_.parts};
        interval << "   95%: " << numbers_.counts(objects.low, objects.high) << " objects, "
                 << numbers_.amounts(bytes.low, bytes.high);
        if (form_.width == 0 || taken + columns_of(interval.view()) <= form_.width) {
            form_.write(out_, dim, interval.view());
            return;
        }
        text_out below{form_.parts};
        below << "          " << interval.view();
        text_out wrapped{form_.parts};
        write_wrapped(wrapped, below.view(), form_.width, 18);
        out_ << '\n';
        form_.write(out_, dim, wrapped.view());
    }

    text_out& out_;
    number_form numbers_;
    const text_form& form_;
    bool is_sampled_;
};

inline void write_totals(text_out& out, const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const snapshot::window_estimates& known = info.estimates;
    total_lines lines{out, info, form};
    lines.add("allocated", known.allocations, known.bytes_allocated);
    lines.add("freed", known.frees, known.bytes_freed);
    lines.add("alive", known.live_objects, known.live_bytes);
    // Exact rows add up to what is alive, unless something was lost on the way.
    const bool is_complete = info.totals.live_objects() == rows.live_objects() &&
                             info.totals.live_bytes() == rows.live_bytes();
    if (info.record == recording::exact && !is_complete) {
        lines.add("in rows", rows.live_objects(), rows.live_bytes());
        out << '\n';
    }
    lines.add("peak", lines.amount(info.totals.peak_bytes));
    text_out own{form.parts};
    write_bytes(own, info.own_memory_bytes);
    lines.add("own memory", own.view());
}

inline void write_head(text_out& out, const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    write_title(out, info, form);
    if (info.not_recording[0] != '\0') {
        text_out sentence{form.parts};
        sentence << "  attention: ";
        write_printable(sentence, info.not_recording);
        form.write_sentence(out, sentence.view());
    }
    if (info.is_of_two_windows) {
        form.write_sentence(out, "  attention: the two snapshots are of different windows");
    }
    if (!rows.empty() || has_totals(info)) {
        write_mode(out, info, form);
        write_totals(out, rows, form);
    }
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        text_out sentence{form.parts};
        sentence << "  not recorded: " << decimal{info.losses[i].count} << ' ';
        write_printable(sentence, info.losses[i].reason);
        form.write_sentence(out, sentence.view());
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

// report_rows.hpp - the rows of a snapshot in the order and number that a report shows.

#ifndef ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
#define ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// In a difference both numbers are two's complement: how far they are from "no change".
inline std::uint64_t magnitude(std::uint64_t number, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(number) < 0;
    return is_negative ? std::uint64_t{0} - number : number;
}

struct row_selection {
    struct remainder {
        std::size_t places = 0;
        std::uint64_t objects = 0;  // in a difference: two's complement
        std::uint64_t bytes = 0;
        std::uint64_t samples = 0;
        std::uint64_t byte_magnitude = 0;
        interval_reach objects_reach;  // as far as the intervals of those rows reach together
        interval_reach bytes_reach;
    };
    list<const snapshot::row*> shown;
    remainder rest;
    // What shares are of: all bytes; in a difference, all changes without their signs.
    std::uint64_t byte_magnitude = 0;
};

inline row_selection select_rows(arena& memory, const snapshot& rows, row_order order,
                                 std::size_t most) {
    const bool is_difference = rows.info().is_difference;
    row_selection selection;
    selection.shown = list<const snapshot::row*>{memory};
    selection.shown.reserve(rows.size());
    for (const snapshot::row& row : rows) selection.shown.push_back(&row);
    if (order == row_order::bytes) {
        sort(selection.shown, [is_difference](const snapshot::row* left,
                                              const snapshot::row* right) {
            return magnitude(left->bytes, is_difference) > magnitude(right->bytes, is_difference);
        });
    }
    std::size_t shown_count = 0;
    for (const snapshot::row* row : selection.shown) {
        const std::uint64_t size = magnitude(row->bytes, is_difference);
        selection.byte_magnitude += size;
        if (shown_count < most) {
            ++shown_count;
            continue;
        }
        row_selection::remainder& rest = selection.rest;
        ++rest.places;
        rest.objects += row->objects;
        rest.bytes += row->bytes;
        rest.samples += row->samples;
        rest.objects_reach.meet({row->objects, row->objects_low, row->objects_high}, true);
        rest.bytes_reach.meet({row->bytes, row->bytes_low, row->bytes_high}, true);
        rest.byte_magnitude += size;
    }
    selection.shown.cut(shown_count);
    return selection;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

// text_frames.hpp - the stack below a row of a text report.

#ifndef ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP
#define ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// What calls main() or the function of a thread: the same below every stack.
inline bool is_start_of_thread(const snapshot::frame& frame) {
    const text function{frame.function};
    if (function.empty()) {
        text module{frame.module};
        const std::size_t slash = module.rfind('/');
        if (slash != text::npos) module.remove_prefix(slash + 1);
        return module.starts_with("libc.so") || module.starts_with("libstdc++.so") ||
               module.starts_with("ld-linux");
    }
    return function == "_start" || function == "start_thread" || function == "clone" ||
           function == "clone3" || function.starts_with("__clone") ||
           function.starts_with("__libc_start_");
}

inline void write_frame(text_out& out, const snapshot::frame& frame, const text_form& form) {
    text_out line{form.parts};
    line << "            at ";
    if (frame.function[0] != '\0') {
        write_printable(line, frame.function);
    } else {
        write_printable(line, frame.module[0] != '\0' ? frame.module : "?");
        line << "+0x" << hexadecimal{frame.offset};
    }
    if (frame.file[0] != '\0') {
        line << " (";
        write_printable(line, frame.file);
        if (frame.line != 0) line << ':' << decimal{static_cast<std::uint64_t>(frame.line)};
        line << ')';
    }
    if (frame.is_inlined) line << " [inlined]";
    text_out cut{form.parts};
    write_middle_cut(cut, line.view(), form.width != 0 ? form.width : line.size());
    form.write(out, dim, cut.view());
    out << '\n';
}

// The frames before the row's own one are the library's way to operator new: not shown.
inline void write_frames(text_out& out, const snapshot::row& row, std::size_t most,
                         const text_form& form) {
    if (most == 0) return;
    const std::size_t first = row.user_frame < row.frame_count ? row.user_frame : 0;
    std::size_t end = row.frame_count;
    while (end > first + 1 && is_start_of_thread(row.frames[end - 1])) --end;
    for (std::size_t i = first; i < end; ++i) {
        if (i - first == most) {
            text_out rest{form.parts};
            rest << "            and " << decimal{end - i} << " more";
            form.write(out, dim, rest.view());
            out << '\n';
            return;
        }
        write_frame(out, row.frames[i], form);
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP

// text_table.hpp - the rows of a text report, in columns.

#ifndef ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// file:line:type, as in the rows of operator<<, and where its parts begin.
struct row_place {
    text whole;
    std::size_t name = 0;  // behind the directories
    std::size_t type = 0;  // the ':' in front of it
};

inline row_place place_of(arena& memory, const snapshot::row& row) {
    text_out place{memory};
    write_printable(place, row.file);
    if (place.empty()) place << '?';
    row_place made;
    if (row.line != 0) {
        const std::size_t slash = place.view().rfind('/');
        if (slash != text::npos) made.name = slash + 1;
        place << ':' << decimal{static_cast<std::uint64_t>(row.line)};
    } else {
        place << "+0x" << hexadecimal{row.offset};
    }
    made.type = place.size();
    place << ':';
    write_printable(place, row.type);
    made.whole = place.view();
    return made;
}

// As many of the directories next to the file as have room, else the file, its line and what has
// room of the type.
inline void write_place(text_out& out, const row_place& place, std::size_t columns) {
    const std::size_t all = columns_of(place.whole);
    if (all <= columns) {
        out << place.whole;
        return;
    }
    const text bare = place.whole.substr(place.name);
    const std::size_t needed = columns_of(bare);
    if (needed + 1 + cut_mark_columns <= columns) {
        const text directories = place.whole.substr(0, place.name);
        text kept = last_columns(directories, columns - needed - cut_mark_columns);
        kept.remove_prefix(kept.find('/'));
        out << "..." << kept << bare;
        return;
    }
    const text file = bare.substr(0, place.type - place.name);
    const std::size_t taken = columns_of(file);
    if (taken + 1 + cut_mark_columns > columns) {
        write_cut(out, file, columns, columns / 4);  // the line stands at its end
        return;
    }
    out << file;
    write_middle_cut(out, bare.substr(file.size()), columns - taken);
}

class text_table {
public:
    text_table(const snapshot& rows, const text_options& wanted, const text_form& form)
        : info_(rows.info()),
          numbers_(form.parts, rows.info()),
          wanted_(wanted),
          form_(form),
          is_sampled_(rows.info().record == recording::sampled),
          lines_(form.parts) {
        const row_selection top = select_rows(form.parts, rows, wanted.sort, wanted.rows);
        line title;
        title.objects = "objects";
        title.bytes = "bytes";
        title.objects_interval = title.bytes_interval = "95%";
        title.share = "share";
        title.samples = "samples";
        title.place.whole = "place";
        title.function = "function";
        lines_.push_back(title);
        for (const snapshot::row* row : top.shown) add(*row, top.byte_magnitude);
        if (top.rest.places != 0) add(top.rest, top.byte_magnitude);
        align_samples();
        measure();
        if (form.width != 0) {
            fit(form.width);
        } else if (place_ > widest_padding) {
            place_ = widest_padding;  // one long place must not push the functions of all away
        }
    }

    void write(text_out& out) const {
        for (const line& each : lines_) {
            text_out shown{form_.parts};
            write_line(shown, each);
            shown.cut(shown.view().find_last_not_of(" ") + 1);
            if (&each == lines_.begin()) {
                form_.write(out, bold, shown.view());
            } else {
                out << shown.view();
            }
            out << '\n';
            if (each.row != nullptr) write_frames(out, *each.row, wanted_.frames, form_);
        }
        if (has_row_without_line_) {
            out << '\n';
            write_wrapped(out,
                          "rows with +0x have no line: code shows its lines when it is compiled"
                          " with -g",
                          form_.width, 2);
            out << '\n';
        }
    }

private:
    struct line {
        text objects;
        text objects_interval;
        text bytes;
        text bytes_interval;
        text share;
        text samples;
        row_place place;
        text function;
        const snapshot::row* row = nullptr;  // whose stack is shown below; null: none
        bool has_few = false;
    };

    void add(const snapshot::row& row, std::uint64_t all_bytes) {
        line made = line_of({row.objects, row.objects_low, row.objects_high},
                            {row.bytes, row.bytes_low, row.bytes_high},
                            magnitude(row.bytes, info_.is_difference), all_bytes);
        made.has_few = is_sampled_ && has_few_samples(row, info_.is_difference);
        made.samples = samples_of(row.samples, made.has_few);
        made.place = place_of(form_.parts, row);
        text_out function{form_.parts};
        write_printable(function, row.function);
        made.function = function.view();
        made.row = &row;
        lines_.push_back(made);
        if (row.line == 0 && row.file[0] != '\0' && row.file[0] != '?') {
            has_row_without_line_ = true;
        }
    }

    void add(const row_selection::remainder& rest, std::uint64_t all_bytes) {
        line made = line_of(rest.objects_reach.around(rest.objects),
                            rest.bytes_reach.around(rest.bytes), rest.byte_magnitude, all_bytes);
        made.samples = samples_of(rest.samples, false);
        text_out places{form_.parts};
        places << "and " << decimal{rest.places}
               << (rest.places == 1 ? " more place" : " more places");
        made.place.whole = places.view();
        made.place.type = places.size();
        lines_.push_back(made);
    }

    line line_of(const estimate& objects, const estimate& bytes, std::uint64_t size,
                 std::uint64_t all_bytes) const {
        line made;
        made.objects = numbers_.count(objects.value);
        made.bytes = numbers_.amount(bytes.value);
        if (is_sampled_) {
            made.objects_interval = numbers_.counts(objects.low, objects.high);
            made.bytes_interval = numbers_.amounts(bytes.low, bytes.high);
        }
        text_out share{form_.parts};
        write_share(share, size, all_bytes);
        made.share = share.view();
        return made;
    }

    text samples_of(std::uint64_t samples, bool has_few) const {
        text_out made{form_.parts};
        made << decimal{samples} << (has_few ? few_mark : "");
        return made.view();
    }

    // Numbers below each other, whether or not they are marked.
    void align_samples() {
        bool is_any_marked = false;
        for (const line& each : lines_) is_any_marked = is_any_marked || each.has_few;
        if (!is_any_marked) return;
        for (std::size_t i = 1; i < lines_.size(); ++i) {
            if (lines_[i].has_few) continue;
            text_out aligned{form_.parts};
            write_left(aligned, lines_[i].samples, lines_[i].samples.size() + few_columns);
            lines_[i].samples = aligned.view();
        }
    }

    static void widen(std::size_t& columns, text shown) {
        const std::size_t wanted = columns_of(shown);
        if (wanted > columns) columns = wanted;
    }

    void measure() {
        for (const line& each : lines_) {
            widen(objects_, each.objects);
            widen(bytes_, each.bytes);
            widen(place_, each.place.whole);
            widen(bare_place_, each.place.whole.substr(each.place.name));
            widen(function_, each.function);
            if (!is_sampled_) continue;
            widen(objects_interval_, each.objects_interval);
            widen(bytes_interval_, each.bytes_interval);
            widen(samples_, each.samples);
        }
    }

    // What the columns of numbers take, with the blanks behind each.
    std::size_t number_columns() const {
        std::size_t columns = objects_ + 2 + bytes_ + 2 + share_columns + 2;
        if (samples_ != 0) columns += samples_ + 2;
        if (objects_interval_ != 0) columns += objects_interval_ + 2;
        if (bytes_interval_ != 0) columns += bytes_interval_ + 2;
        return columns;
    }

    void fit(std::size_t width) {
        if (number_columns() + least_place > width) bytes_interval_ = 0;
        if (number_columns() + least_place > width) objects_interval_ = 0;
        const std::size_t numbers = number_columns();
        const std::size_t texts = width > numbers + 8 ? width - numbers : 8;
        if (place_ + 2 + function_ <= texts) return;
        const std::size_t beside_function = texts > function_ + 2 ? texts - function_ - 2 : 0;
        std::size_t place = beside_function > bare_place_ ? beside_function : bare_place_;
        if (place < place_) place_ = place;
        if (place_ > texts) place_ = texts;
        const std::size_t left = texts - place_;
        function_ = left >= 2 + least_function ? left - 2 : 0;
        if (function_ != 0) return;
        place = bare_place_ > texts ? bare_place_ : texts;  // the function's columns are free
        place_ = place < texts ? place : texts;
    }

    void write_line(text_out& out, const line& each) const {
        write_right(out, each.objects, objects_);
        if (objects_interval_ != 0) {
            out << "  ";
            write_right(out, each.objects_interval, objects_interval_);
        }
        out << "  ";
        write_right(out, each.bytes, bytes_);
        if (bytes_interval_ != 0) {
            out << "  ";
            write_right(out, each.bytes_interval, bytes_interval_);
        }
        out << "  ";
        write_right(out, each.share, share_columns);
        if (samples_ != 0) {
            out << "  ";
            write_right(out, each.samples, samples_);
        }
        out << "  ";
        text_out place{form_.parts};
        if (form_.width == 0) {
            place << each.place.whole;
        } else {
            write_place(place, each.place, place_);
        }
        write_left(out, place.view(), place_);
        if (function_ == 0) return;
        out << "  ";
        write_end_cut(out, each.function, form_.width == 0 ? each.function.size() : function_);
    }

    const snapshot::window_info& info_;
    const number_form numbers_;
    const text_options& wanted_;
    const text_form& form_;
    const bool is_sampled_;
    list<line> lines_;
    bool has_row_without_line_ = false;
    // Columns of each; 0: there is no such column.
    std::size_t objects_ = 7;
    std::size_t objects_interval_ = 0;
    std::size_t bytes_ = 0;
    std::size_t bytes_interval_ = 0;
    std::size_t samples_ = 0;
    std::size_t place_ = 0;
    std::size_t bare_place_ = 0;  // without directories
    std::size_t function_ = 0;
    static constexpr std::size_t share_columns = 6;
    static constexpr std::size_t least_place = 32;     // else intervals give way
    static constexpr std::size_t least_function = 8;   // else the column does
    static constexpr std::size_t widest_padding = 80;  // where nothing is cut
    static constexpr const char* few_mark = " few";
    static constexpr std::size_t few_columns = 4;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

// whole_report.hpp - a text report from its first line to its last.

#ifndef ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP
#define ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::uint32_t least_text_width = 60;

// Descriptor -1: the text goes to none, so to no terminal.
inline std::uint32_t width_for(const text_options& wanted, int descriptor) {
    std::uint32_t width = wanted.width;
    if (width == 0) {
        if (descriptor < 0 || !is_terminal(descriptor)) return 0;
        width = terminal_columns(descriptor);
    }
    return width < least_text_width ? least_text_width : width;
}

// What stands in the place of the rows when there are none. "Nothing is alive" is said only when
// that is known.
inline void write_instead_of_rows(text_out& out, const snapshot& rows) {
    const snapshot::window_info& info = rows.info();
    const std::uint64_t alive = info.totals.live_objects();
    if (is_all_unsampled(rows)) {
        out << "no sample is alive: up to ";
        write_bytes(out, info.estimates.live_bytes.high);
        out << " may be alive (95%)";
    } else if (info.record == recording::counters && alive != 0) {
        out << "counters only: there are no rows";
    } else if (info.is_difference) {
        out << "no row has changed";
    } else if (alive != 0) {
        out << "where the objects that are alive were allocated was not recorded";
    } else {
        out << (info.loss_count == 0 ? "nothing is alive" : "nothing that was recorded is alive");
    }
}

inline void write_report(text_out& out, const snapshot& rows, const text_options& wanted,
                         int descriptor) {
    arena parts;
    const bool has_color =
        wanted.color == text_color::always || (wanted.color == text_color::automatic &&
                                               descriptor >= 0 && terminal_wants_color(descriptor));
    const text_form form{parts, width_for(wanted, descriptor), has_color};
    write_head(out, rows, form);
    if (!rows.empty()) {
        out << '\n';
        const text_table table{rows, wanted, form};
        table.write(out);
    } else if (rows.info().not_recording[0] == '\0') {
        text_out sentence{parts};
        write_instead_of_rows(sentence, rows);
        out << '\n';
        write_wrapped(out, sentence.view(), form.width, 0);
        out << '\n';
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// evidence_file.hpp - the file that a check which failed leaves behind.

#ifndef ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
#define ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The message, an empty line, and every row with its whole stack. 0 or an errno value.
inline int save_evidence_file(const snapshot& rows, const char* head, const char* path) {
    arena memory;
    text_out all{memory};
    all << head << "\n\n";
    text_options whole;
    whole.rows = ~std::size_t{0};
    whole.frames = ~std::uint32_t{0};
    write_report(all, rows, whole, -1);
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(all.view().data(), all.size());
    if (failure == 0) failure = out.commit();
    return failure;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE)

#include <string>
#include <vector>

// operator_new_delete.hpp - replaces operator new and delete: include it in exactly one .cpp.

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP

// noinline: a stack begins with the operator's own frame. used: only the linker asks for it, by
// name, so the compiler must not drop it.
#define ALLOCSCOPE_OPERATOR __attribute__((noinline, used))

// --- new ---

ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes) {
    return allocscope::detail::new_block(bytes);
}
ALLOCSCOPE_OPERATOR void* operator new[](std::size_t bytes) {
    return allocscope::detail::new_block(bytes);
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocscope::detail::new_block_or_null(bytes, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocscope::detail::new_block_or_null(bytes, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocscope::detail::new_aligned_block(bytes, alignment, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return allocscope::detail::new_aligned_block(bytes, alignment, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
    if (allocscope::detail::answer_handshake(bytes, alignment, tag)) return nullptr;
    return allocscope::detail::new_aligned_block_or_null(bytes, alignment,
                                                         __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                         const std::nothrow_t&) noexcept {
    return allocscope::detail::new_aligned_block_or_null(bytes, alignment,
                                                         __builtin_frame_address(0));
}

// --- delete: size and alignment are not needed, the record knows ---

ALLOCSCOPE_OPERATOR void operator delete(void* block) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete(void* block, std::size_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block, std::size_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete(void* block, std::align_val_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block, std::align_val_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete(void* block, std::align_val_t,
                                         const std::nothrow_t&) noexcept {
    allocscope::detail::delete_block(block);
}
ALLOCSCOPE_OPERATOR void operator delete[](void* block, std::align_val_t,
                                           const std::nothrow_t&) noexcept {
    allocscope::detail::delete_block(block);
}

#undef ALLOCSCOPE_OPERATOR

// The engine that answers for these operators.
ALLOCSCOPE_NAMESPACE_BEGIN
namespace detail {
ALLOCSCOPE_HIDDEN extern constexpr engine the_engine = make_engine_table(&save_evidence_file);
}  // namespace detail
ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES)

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
#include <utility>
#include <vector>

// baseline_file.hpp - the file that baselines are kept in.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The first line. Version 1 was JSON.
constexpr std::string_view baseline_mark = "allocscope baselines ";
constexpr std::string_view baseline_version = "2";
constexpr std::string_view baseline_mark_of_version_1 = "\"allocscope\": \"baselines\"";

// What was measured, in the order of the columns: "allocations" and so on.
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
    if (code != 0) return system_error(path, "read", code);
    if (into.find_first_not_of(" \r\n\t") != std::string::npos) return {};
    return path + " is empty: the program that was to write it did not end well; run it again";
}

// Takes out of `rest` what stands before the separator, which is all of it when there is none.
inline std::string_view take_until(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end < rest.size() ? end + 1 : rest.size());
    return taken;
}

// As a name stands in the file: a blank for each tab and each end of a line.
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

// "" or what is wrong with this line.
inline std::string read_numbers(const std::vector<std::string>& columns, std::string_view line,
                                measured_numbers& into) {
    for (const std::string& column : columns) {
        const std::string_view cell = take_until(line, '\t');
        if (cell.empty()) continue;
        std::uint64_t number = 0;
        const char* end = cell.data() + cell.size();
        const std::from_chars_result read = std::from_chars(cell.data(), end, number);
        if (read.ec != std::errc{} || read.ptr != end) {
            return column + " is \"" + std::string{cell} + "\", which is not a count";
        }
        into.emplace_back(column, static_cast<double>(number));
    }
    return line.empty() ? std::string{} : "it has more cells than the head has columns";
}

inline std::string read_baselines(const std::string& path, std::string_view text,
                                  measured_results& into) {
    const std::string remedy =
        "remove the file and write it again with ALLOCSCOPE_UPDATE_BASELINES=1";
    if (!is_baseline_file(text)) {
        return path + " is no file of baselines: its first line is not \"" +
               std::string{baseline_mark} + std::string{baseline_version} +
               "\"; give another path, or " + remedy;
    }
    std::string_view rest = text;
    std::string_view version = "1";
    if (text[0] == baseline_mark[0]) {
        version = take_until(rest, '\n').substr(baseline_mark.size());
    }
    if (version != baseline_version) {
        return path + " has the format of version " + std::string{version} + ", this is version " +
               std::string{baseline_version} + ": use the allocscope that wrote it, or " + remedy;
    }
    if (text.back() != '\n') return path + " ends within a line: it was cut off; " + remedy;
    std::vector<std::string> columns;
    std::string_view names = take_until(rest, '\n');
    take_until(names, '\t');
    while (!names.empty()) columns.emplace_back(take_until(names, '\t'));
    for (std::size_t number = 3; !rest.empty(); ++number) {
        std::string_view line = take_until(rest, '\n');
        measured_numbers& numbers = into[std::string{take_until(line, '\t')}];
        numbers.clear();
        const std::string wrong = read_numbers(columns, line, numbers);
        if (!wrong.empty()) return path + ", line " + std::to_string(number) + ": " + wrong;
    }
    return {};
}

// Null when there is none of this name.
inline const double* find_number(const measured_numbers& numbers, const std::string& name) {
    for (const auto& found : numbers) {
        if (found.first == name) return &found.second;
    }
    return nullptr;
}

// The text of the file. Each result has the numbers of `columns`, in this order.
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES)

#include <cstdlib>
#include <mutex>

// baselines.hpp - what tests allocated, kept in a file; more than that fails.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

class baselines {
public:
    // `path` is relative to the working directory of the test. The file need not exist before it is
    // updated. `tolerance_percent`: how much more than the baseline is still accepted, of each
    // number.
    explicit baselines(std::string path, double tolerance_percent = 0)
        : path_(std::move(path)), tolerance_percent_(tolerance_percent) {}
    baselines(const baselines&) = delete;
    baselines& operator=(const baselines&) = delete;

    // "" when no number is above its baseline. Else one line that says what increased, or why it
    // could not be compared (no baseline of this name, file not readable, of another version), and
    // what to do. Compared are allocations, bytes, peak_bytes, live_objects and live_bytes. When
    // updating: "" or why the file could not be written.
    // Cost: reads the file at the first call; each update reads and writes it.
    std::string check(const std::string& name, const allocation_counts& counts);

private:
    std::string compare(const std::string& name, const detail::measured_numbers& now);
    std::string update(const std::string& name, const detail::measured_numbers& now);
    // No error when there is no file.
    std::string read(detail::measured_results& into, bool& exists) const;

    std::string path_;
    double tolerance_percent_;
    std::mutex mutex_;
    bool is_read_ = false;
    bool exists_ = false;
    std::string read_error_;
    detail::measured_results results_;
};

namespace detail {

inline measured_numbers baseline_numbers(const allocation_counts& counts) {
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    return {{"allocations", number(counts.allocations)},
            {"bytes", number(counts.bytes_allocated)},
            {"peak_bytes", number(counts.peak_bytes)},
            {"live_objects", number(counts.live_objects())},
            {"live_bytes", number(counts.live_bytes())}};
}

// Whether `now` is more than the tolerance allows. Numbers that differ by rounding only are equal.
inline bool is_increase(double before, double now, double tolerance_percent) {
    const double accepted = before * (1 + tolerance_percent / 100);
    return now > accepted + 1e-9 * (accepted < 0 ? -accepted : accepted);
}

// "3 -> 5 (+66.7 %)"
inline std::string change_text(double before, double now) {
    char text[128];
    if (before > 0) {
        std::snprintf(text, sizeof text, "%.10g -> %.10g (%+.1f %%)", before, now,
                      (now - before) / before * 100);
    } else {
        std::snprintf(text, sizeof text, "%.10g -> %.10g", before, now);
    }
    return text;
}

// "" or what is wrong with the value; `update` becomes whether the file is to be written.
inline std::string read_update_request(bool& update) {
    const char* value = std::getenv("ALLOCSCOPE_UPDATE_BASELINES");
    const std::string text = value != nullptr ? value : "";
    update = text == "1";
    if (update || text.empty() || text == "0") return {};
    return "ALLOCSCOPE_UPDATE_BASELINES is \"" + text + "\"; 1 updates, 0 or nothing compares";
}

}  // namespace detail

// definitions

inline std::string baselines::check(const std::string& name, const allocation_counts& counts) {
    const pause_recording not_of_the_test;
    const std::lock_guard<std::mutex> lock{mutex_};
    bool update_is_asked_for = false;
    std::string error = detail::read_update_request(update_is_asked_for);
    const char* refusal = detail::engine_refusal(detail::find_engine());
    if (error.empty()) error = refusal;
    if (error.empty() && !(tolerance_percent_ >= 0)) {
        error = "the tolerance of baselines is " + std::to_string(tolerance_percent_) +
                " %; it must be 0 or more";
    }
    if (error.empty()) {
        const detail::measured_numbers now = detail::baseline_numbers(counts);
        const std::string kept_as = detail::name_in_file(name);
        error = update_is_asked_for ? update(kept_as, now) : compare(kept_as, now);
    }
    return error.empty() ? error : "allocscope: " + error;
}

inline std::string baselines::read(detail::measured_results& into, bool& exists) const {
    exists = ::access(path_.c_str(), F_OK) == 0;
    if (!exists) return {};
    std::string text;
    const std::string error = detail::read_whole_file(path_, text);
    return error.empty() ? detail::read_baselines(path_, text, into) : error;
}

inline std::string baselines::compare(const std::string& name,
                                      const detail::measured_numbers& now) {
    if (!is_read_) {
        is_read_ = true;
        read_error_ = read(results_, exists_);
    }
    if (!read_error_.empty()) return read_error_;
    const auto found = results_.find(name);
    if (found == results_.end()) {
        return "\"" + name + "\" has no baseline in " + path_ +
               (exists_ ? "" : " (there is no such file)") +
               "; run it with ALLOCSCOPE_UPDATE_BASELINES=1 to add it";
    }
    std::string worse;
    for (const auto& [what, value] : now) {
        const double* before = detail::find_number(found->second, what);
        if (before == nullptr || !detail::is_increase(*before, value, tolerance_percent_)) continue;
        worse += (worse.empty() ? "" : ", ") + what + ' ' + detail::change_text(*before, value);
    }
    if (worse.empty()) return worse;
    return "\"" + name + "\" allocates more than its baseline in " + path_ + ": " + worse +
           "; if that is meant, run it with ALLOCSCOPE_UPDATE_BASELINES=1";
}

// Read anew under the lock: another process may have added its results meanwhile.
inline std::string baselines::update(const std::string& name, const detail::measured_numbers& now) {
    const detail::folder_lock lock{path_};
    if (!lock.error().empty()) return lock.error() + "; make the folder, or give another path";
    detail::measured_results results;
    bool exists = false;
    const std::string error = read(results, exists);
    if (!error.empty()) return error;
    results[name] = now;
    return detail::replace_file(path_, detail::text_of_baselines(results, now));
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2)

// catch2_versions.hpp - includes the Catch2 that is there, version 2 or 3.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP

#ifndef CATCH_VERSION_MAJOR
    #if __has_include(<catch2/catch_test_macros.hpp>)
        #include <catch2/catch_session.hpp>                       // Session
        #include <catch2/catch_test_case_info.hpp>                // TestCaseHandle
        #include <catch2/catch_test_macros.hpp>                   // TEST_CASE
        #include <catch2/catch_version_macros.hpp>                // CATCH_VERSION_MAJOR
        #include <catch2/interfaces/catch_interfaces_config.hpp>  // IConfig
        #if __has_include(<catch2/internal/catch_test_failure_exception.hpp>)
            #include <catch2/internal/catch_test_failure_exception.hpp>  // TestFailureException
        #endif
        #include <catch2/interfaces/catch_interfaces_registry_hub.hpp>  // getRegistryHub
        #include <catch2/interfaces/catch_interfaces_test_invoker.hpp>  // ITestInvoker
        #include <catch2/interfaces/catch_interfaces_testcase.hpp>      // ITestCaseRegistry
        #include <catch2/internal/catch_stdstreams.hpp>                 // cout
        #include <catch2/reporters/catch_reporter_event_listener.hpp>   // EventListenerBase
        #include <catch2/reporters/catch_reporter_registrars.hpp>       // ListenerRegistrar
    #elif __has_include(<catch2/catch.hpp>)
        #include <catch2/catch.hpp>  // all of version 2
    #elif __has_include(<catch.hpp>)
        #include <catch.hpp>  // all of version 2
    #elif __has_include(<catch_amalgamated.hpp>)
        #include <catch_amalgamated.hpp>  // all of version 3
    #else
        #error "allocscope: Catch2 is not found: add its include folder, or include it first"
    #endif
#endif

#if CATCH_VERSION_MAJOR < 2 || (CATCH_VERSION_MAJOR == 2 && CATCH_VERSION_MINOR < 13)
    #error "allocscope: this adapter needs Catch2 2.13 or newer"
#endif

// In version 2 everything but the assertions exists only where its runner is compiled.
#if CATCH_VERSION_MAJOR > 2 || defined(CATCH_CONFIG_EXTERNAL_INTERFACES)
    #define ALLOCSCOPE_CATCH2_HAS_LISTENERS 1
#else
    #define ALLOCSCOPE_CATCH2_HAS_LISTENERS 0
#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_VERSIONS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

// checked_test.hpp - what the adapters of the test frameworks do around a test, and how they speak.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// An assertion about a block: where its macro stands, and what it says.
struct block_claim {
    const char* file;
    int line;
    bool is_fatal;     // ends the test when it fails
    const char* text;  // "no leaks"
};

// How an adapter serves the blocks in tests of its framework.
struct test_framework {
    expected_leaks own;           // what the framework keeps for itself is no leak
    bool leaves_by_return;        // a fatal failure is told by the macro, which then returns
    const char* (*block_name)();  // how messages name a block
    bool (*has_failed)();         // the running test, so that a return may be a failed assertion's
    bool (*is_running)();         // null: whenever no other framework is
    // An assertion that holds, or not. `may_leave`: it may throw where the framework's own do.
    void (*tell)(const block_claim& claim, const check_result& found, bool may_leave);
};

// The frameworks whose adapters are in the program, for macros that two of them have in common.
inline const test_framework* frameworks_of_program[2] = {};

inline bool add_framework(const test_framework& added) noexcept {
    for (const test_framework*& place : frameworks_of_program) {
        if (place != nullptr) continue;
        place = &added;
        break;
    }
    return true;
}

inline const test_framework* running_framework() {
    const test_framework* otherwise = nullptr;
    for (const test_framework* each : frameworks_of_program) {
        if (each == nullptr) break;
        if (each->is_running == nullptr || otherwise == nullptr) otherwise = each;
        if (each->is_running != nullptr && each->is_running()) return each;
    }
    return otherwise;
}

// Runs a test. Messages show nothing that is further out than this; the engine knows the name.
template <class Test>
__attribute__((noinline)) void allocscope_test_boundary(const Test& test) {
    test();
    __asm__ volatile("");  // a frame of its own: the call above must not become a jump
}

constexpr int runs_of_repeated_test = 3;

// For only_repeated_leaks(): the test ran once and left something alive.
template <class Test>
check_result judge_repeated(const char* name, const leak_options& wanted, const expected_leaks& own,
                            const Test& test) {
    leak_repetition runs{name, wanted, own};
    for (int i = 0; i < runs_of_repeated_test; ++i) {
        allocscope_test_boundary(test);
        runs.end_of_run();
    }
    return runs.finish();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

#include <string>
#include <string_view>

// framework_stacks.hpp - tells by a stack whether a test framework allocated or a test.

#ifndef ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A demangled function without the return type, which stands in front of templates.
constexpr std::string_view without_return_type(std::string_view function) noexcept {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        const char here = function[i];
        if (depth == 0 && function.substr(i, unnamed.size()) == unnamed) {
            i += unnamed.size() - 1;
        } else if (depth == 0 && here == '(' && i != begin) {
            break;  // the parameters; right behind a blank it would be a decltype's
        } else if (here == '<' || here == '(') {
            ++depth;
        } else if (here == '>' || here == ')') {
            --depth;
        } else if (depth == 0 && (here == ' ' || here == '*' || here == '&')) {
            constexpr std::string_view conversion = "operator";
            const std::size_t length = i - begin;
            if (length >= conversion.size() &&
                function.substr(i - conversion.size(), conversion.size()) == conversion) {
                break;  // a conversion's type follows
            }
            begin = i + 1;
        }
    }
    return function.substr(begin);
}

// `space` with its colons: "testing::".
constexpr bool is_of_namespace(std::string_view function, std::string_view space) noexcept {
    if (function.find(space) == std::string_view::npos) return false;  // most
    return without_return_type(function).substr(0, space.size()) == space;
}

constexpr bool is_word_of_name(char byte) noexcept {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == ':' || byte == '~';
}

constexpr bool is_builtin_word(std::string_view word) noexcept {
    constexpr std::string_view words[] = {
        "void",     "bool",     "char",     "short",     "int",   "long",
        "signed",   "unsigned", "float",    "double",    "const", "volatile",
        "operator", "wchar_t",  "decltype", "nullptr_t", "ref"};
    for (const std::string_view each : words) {
        if (word == each) return true;
    }
    return word[0] >= '0' && word[0] <= '9';
}

// Whether a demangled function names nothing, also in its arguments, but the framework (`space`,
// with its colons), the standard library and built-in types. The compiler cannot have inlined a
// user's code into such a function.
constexpr bool names_only(std::string_view function, std::string_view space) noexcept {
    if (function.empty()) return false;
    std::size_t at = 0;
    while (at < function.size()) {
        if (!is_word_of_name(function[at])) {
            if (function[at] == '{' || function.substr(at, 4) == "(ano") return false;
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < function.size() && is_word_of_name(function[at])) ++at;
        const std::string_view word = function.substr(begin, at - begin);
        const bool goes_on = begin != 0 && word[0] == ':';  // "vector<int>" | "::push_back"
        if (goes_on || is_builtin_word(word)) continue;
        bool is_known = false;
        for (const std::string_view known :
             {space, std::string_view{"std::"}, std::string_view{"__gnu_cxx::"},
              std::string_view{"allocscope::"}}) {
            is_known = is_known || word.substr(0, known.size()) == known;
        }
        if (!is_known) return false;
    }
    return true;
}

// For the question by symbols: whether the names up to `outermost` cannot hide a user's code.
inline bool hides_nothing(const leak_stack& stack, std::size_t outermost,
                          std::string_view space) noexcept {
    for (std::size_t i = 0; i <= outermost && i < stack.frame_count; ++i) {
        if (!names_only(stack.frames[i].function, space)) return false;
    }
    return outermost < stack.frame_count;
}

inline bool mentions(const snapshot::frame& frame, std::string_view part) noexcept {
    return std::string_view{frame.function}.find(part) != std::string_view::npos;
}

// How a framework's own stacks are told from those of the tests. Lists end with null.
struct framework_names {
    const char* space;           // the framework's namespace with its colons: "testing::"
    const char* const* runners;  // how functions between main and a test begin
    const char* const* callers;  // and others that are right below a test's
    const char* keepers;         // keep what the user's functions make that these call; or null
    const char* printers;        // print into buffers through the user's operator<<; or null
    const bool* holds_output;    // while it is true, every stream's buffer is one of those; or null
};

inline bool begins_with_any(const snapshot::frame& frame, const char* const* names) noexcept {
    for (; *names != nullptr; ++names) {
        if (is_of_namespace(frame.function, *names)) return true;
    }
    return false;
}

// One of these is innermost when the test's function is not on the stack: inlined without debug
// information, or left by a tail call into the standard library. What it made is the test's.
inline bool calls_a_test(const snapshot::frame& frame, const framework_names& names) noexcept {
    return begins_with_any(frame, names.runners) || begins_with_any(frame, names.callers);
}

// The maker is the innermost function that is not the standard library's. A framework keeps what
// its own functions make, and what it has a function of the user's make for it:
//
//     operator new < std::vector... < testing::TestResult::RecordProperty < the test
//     operator new < a generator of the user's < Catch::Generators::generate < the test
//     operator new < std::basic_stringbuf::overflow < a user's operator<< < doctest::... < the test
//
// Any other leak in a function that the framework calls is the user's: in operator==, a matcher, an
// action of a mock.
inline bool is_framework_own(const leak_stack& stack, const framework_names& names) noexcept {
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame && i < stack.frame_count; ++i) {
        if (calls_a_test(stack.frames[i], names)) return false;
        fills_buffer = fills_buffer || mentions(stack.frames[i], "basic_stringbuf<");
    }
    if (stack.user_frame >= stack.frame_count) return false;
    if (calls_a_test(stack.frames[stack.user_frame], names)) return false;
    if (fills_buffer && names.holds_output != nullptr && *names.holds_output) return true;
    for (std::size_t i = stack.user_frame; i < stack.frame_count; ++i) {
        const char* function = stack.frames[i].function;
        if (calls_a_test(stack.frames[i], names)) return false;
        const bool is_maker = i == stack.user_frame && is_of_namespace(function, names.space);
        const bool is_keeper = names.keepers != nullptr && is_of_namespace(function, names.keepers);
        const bool is_printer =
            fills_buffer && names.printers != nullptr && is_of_namespace(function, names.printers);
        if (!is_maker && !is_keeper && !is_printer) continue;
        stack.decisive_frames = i + 1;
        return true;
    }
    return false;
}

// For expected_leaks. The context is null, or the user's leak_options, whose function counts too.
template <const framework_names& names>
bool is_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    return is_framework_own(stack, names);
}

template <const framework_names& names>
bool is_own_by_symbols(const leak_stack& stack, const void*) {
    if (!is_framework_own(stack, names)) return false;
    const bool is_by_maker = stack.decisive_frames == 0;
    return hides_nothing(stack, is_by_maker ? stack.user_frame : stack.decisive_frames - 1,
                         names.space);
}

template <const framework_names& names>
constexpr expected_leaks own_leaks(const leak_options* wanted) noexcept {
    expected_leaks own;
    own.test = &is_own<names>;
    own.test_by_symbols = &is_own_by_symbols<names>;
    own.context = wanted;
    return own;
}

// Declares the functions between a test and main to be library code, so that messages end with the
// test. They must not be where the framework allocates: its rows would be charged to the test.
inline void hide_runners(const framework_names& names) {
    if (usable_engine() == nullptr) return;
    const pause_recording quietly;
    for (const char* const* name = names.runners; *name != nullptr; ++name) {
        const std::string beginning = *name;
        library_frames((beginning.back() == ':' ? beginning : beginning + '*').c_str());
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2)

#include <exception>

// catch2_framework.hpp - what is Catch2's own: its names, its assertions, and a scope to the end.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether a reporter catches std::cout in the test case that is running. Written by the listener,
// on the thread that runs test cases.
inline bool catch2_holds_output = false;

inline constexpr const char* catch2_runners[] = {"Catch::TestInvoker",
                                                 "Catch::(anonymous namespace)::TestInvoker",
                                                 "Catch::TestCase::",
                                                 "Catch::TestCaseHandle::",
                                                 "Catch::RunContext::invokeActiveTestCase",
                                                 "Catch::RunContext::runCurrentTest",
                                                 "Catch::RunContext::runTest",
                                                 "Catch::(anonymous namespace)::TestGroup::",
                                                 "Catch::Session::",
                                                 nullptr};
inline constexpr const char* catch2_callers[] = {nullptr};
inline constexpr framework_names catch2_names{"Catch::",      catch2_runners,
                                              catch2_callers, "Catch::Generators::",
                                              "Catch::",      &catch2_holds_output};

// Leaves by an exception where Catch2's assertions would: is_fatal, or --abort was given.
inline void fail_catch2(const char* macro, const block_claim& claim, const char* message) {
    const pause_recording quietly;
    Catch::AssertionHandler assertion{
        Catch::StringRef{macro},
        Catch::SourceLineInfo{claim.file, static_cast<std::size_t>(claim.line)}, Catch::StringRef{},
        claim.is_fatal ? Catch::ResultDisposition::Normal
                       : Catch::ResultDisposition::ContinueOnFailure};
    assertion.handleMessage(Catch::ResultWas::ExplicitFailure, std::string{message});
    assertion.complete();
}

// The same from a destructor, which nothing leaves: with --abort the next assertion ends the run.
inline void fail_catch2_in_destructor(const char* macro, block_claim claim,
                                      const char* message) noexcept {
    claim.is_fatal = false;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    fail_catch2(macro, claim, message);
#else
    try {
        fail_catch2(macro, claim, message);
    } catch (const Catch::TestFailureException&) {
    }
#endif
}

inline void tell_catch2(const block_claim& claim, const check_result& found, bool may_leave) {
    if (found) return;
    if (!may_leave) return fail_catch2_in_destructor("ALLOCSCOPE_CHECK", claim, found.message());
    fail_catch2(claim.is_fatal ? "ALLOCSCOPE_REQUIRE" : "ALLOCSCOPE_CHECK", claim, found.message());
}

inline constexpr test_framework catch2_framework{
    own_leaks<catch2_names>(nullptr),
    false,
    [] { return "block"; },
    [] { return false; },  // a failed REQUIRE leaves by an exception, so a return means no failure
    nullptr,
    &tell_catch2};
inline const bool catch2_is_there = add_framework(catch2_framework);

}  // namespace detail

// From here to the end of the block nothing may be left alive.
class catch2_leak_scope {
public:
    // The options' texts must stay valid. Throws std::invalid_argument as leak_check does.
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit catch2_leak_scope(
        const leak_options& wanted = {}, const char* file = __builtin_FILE(),
        int line = __builtin_LINE())
        : claim_{file, line, false, ""},
          exceptions_(std::uncaught_exceptions()),
          wanted_(wanted),
          leaks_("scope", wanted_, detail::own_leaks<detail::catch2_names>(&wanted_)) {}
    // Judges as a CHECK at the place where the scope begins, unless an exception passes through.
    ~catch2_leak_scope() {
        if (std::uncaught_exceptions() != exceptions_) return;
        const check_result found = leaks_.finish();
        if (found) return;
        detail::fail_catch2_in_destructor("allocscope::catch2_leak_scope", claim_, found.message());
    }
    catch2_leak_scope(const catch2_leak_scope&) = delete;
    catch2_leak_scope& operator=(const catch2_leak_scope&) = delete;

private:
    detail::block_claim claim_;
    int exceptions_;
    leak_options wanted_;
    leak_check leaks_;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

#include <mutex>
#include <type_traits>

// leak_remarks.hpp - what a test says about what it will leave alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// One sentence of a test, or of a decorator.
struct leak_remark {
    enum class kind { objects, pattern, ignored, repeated };
    kind is = kind::ignored;
    typed_number least = 0;
    typed_number most = 0;
    const char* pattern = "";

    // How doctest applies a decorator to a case or a suite; its adapter has remember_remark().
    template <class Decorated>
    void fill(Decorated& decorated) const {
        remember_remark(decorated, *this);
    }
};

// What a test said in all; for the window of a suite, what its tests said together.
class said_of_leaks {
public:
    void add(const leak_remark& remark) {
        if (remark.is == leak_remark::kind::ignored) is_ignored_ = true;
        if (remark.is == leak_remark::kind::repeated) is_repeated_ = true;
        if (remark.is == leak_remark::kind::objects) add_objects(remark.least, remark.most);
        if (remark.is == leak_remark::kind::pattern) {
            patterns_ += remark.pattern;
            patterns_ += '\n';
        }
    }
    void add(const said_of_leaks& other) {
        is_ignored_ = is_ignored_ || other.is_ignored_;
        is_repeated_ = is_repeated_ || other.is_repeated_;
        if (other.counts_objects_) add_objects(other.least_, other.most_);
        patterns_ += other.patterns_;
    }

    bool is_ignored() const noexcept { return is_ignored_; }
    bool is_repeated() const noexcept { return is_repeated_; }

    // The options for all tests with what was said: its numbers take the place of theirs, and its
    // patterns are added. The result points into this.
    leak_options add_to(const leak_options& wanted) {
        leak_options result = wanted;
        if (counts_objects_) {
            result.least_objects = least_;
            result.objects = most_;
        }
        patterns_ += wanted.expected;
        result.expected = patterns_.c_str();
        return result;
    }

private:
    void add_objects(typed_number least, typed_number most) noexcept {
        counts_objects_ = true;
        least_ = sum(least_, least);
        most_ = sum(most_, most);
    }
    // A negative number stays, so that the check can refuse it.
    static typed_number sum(typed_number left, typed_number right) noexcept {
        if (left.is_negative) return left;
        if (right.is_negative) return right;
        const std::uint64_t result = left.bits + right.bits;
        return result < left.bits ? ~std::uint64_t{0} : result;
    }

    bool is_ignored_ = false;
    bool is_repeated_ = false;
    bool counts_objects_ = false;
    typed_number least_ = 0;
    typed_number most_ = 0;
    std::string patterns_;  // lines as in leak_options::expected
};

// The test that an adapter checks now.
class running_test {
public:
    void begin() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_ = said_of_leaks{};
        is_running_ = true;
    }
    // Hands over what was said since the last call.
    said_of_leaks take() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_of_leaks result = static_cast<said_of_leaks&&>(said_);
        said_ = said_of_leaks{};
        return result;
    }
    said_of_leaks end() {
        said_of_leaks result = take();
        const std::lock_guard<std::mutex> lock{mutex_};
        is_running_ = false;
        return result;
    }

    bool is_running() {
        const std::lock_guard<std::mutex> lock{mutex_};
        return is_running_;
    }
    leak_remark say(const leak_remark& remark) {
        const std::lock_guard<std::mutex> lock{mutex_};
        if (is_running_) said_.add(remark);
        return remark;
    }

private:
    std::mutex mutex_;
    said_of_leaks said_;
    bool is_running_ = false;
};

inline running_test test_that_runs;

}  // namespace detail

// So many objects must be alive at the end of this test, with two numbers at least and at most so
// many; beside those that a pattern fits. Several calls add up. In a test, throws
// std::invalid_argument when a number is negative or the least is more than the most
// (-fno-exceptions: prints it and aborts); as a decorator, fails each pass through the case so.
ALLOCSCOPE_EXCEPTIONS_TAG inline detail::leak_remark expect_leaks(detail::typed_number least,
                                                                  detail::typed_number most) {
    const pause_recording pause;
    if (detail::test_that_runs.is_running()) {
        const std::uint64_t low = detail::checked_count("allocscope", "expect_leaks", least);
        const std::uint64_t high = detail::checked_count("allocscope", "expect_leaks", most);
        if (low > high) detail::refuse_order("allocscope", "expect_leaks", low, high);
    }
    return detail::test_that_runs.say({detail::leak_remark::kind::objects, least, most, ""});
}
// A template, so that 0 is a number and not the null pointer of the text below.
template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
ALLOCSCOPE_EXCEPTIONS_TAG detail::leak_remark expect_leaks(Integer objects) {
    return expect_leaks(objects, objects);
}

// What fits may be alive at the end of this test, any number of it; lines as in
// leak_options::expected. Refuses a line that is not understood as expect_leaks(number) does.
ALLOCSCOPE_EXCEPTIONS_TAG inline detail::leak_remark expect_leaks(const char* patterns) {
    const pause_recording pause;
    if (patterns == nullptr) patterns = "leak:";  // which is refused by name
    if (detail::test_that_runs.is_running()) detail::check_expected(patterns);
    return detail::test_that_runs.say({detail::leak_remark::kind::pattern, 0, 0, patterns});
}

// This test is not checked.
inline detail::leak_remark ignore_leaks() {
    const pause_recording pause;
    return detail::test_that_runs.say({detail::leak_remark::kind::ignored, 0, 0, ""});
}

// For tests that fill caches. One that leaves something alive is run three times more, and fails
// only if each of those runs left more alive than the one before. Its assertions count each time.
// A pass with SUBCASEs or SECTIONs cannot be run again from inside, and is judged as always.
inline detail::leak_remark only_repeated_leaks() {
    const pause_recording pause;
    return detail::test_that_runs.say({detail::leak_remark::kind::repeated, 0, 0, ""});
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2)

#include <memory>
#include <ostream>
#include <vector>

// catch2_listener.hpp - measures each pass through each test case of Catch2.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP

#if ALLOCSCOPE_CATCH2_HAS_LISTENERS

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

    #if CATCH_VERSION_MAJOR == 2
using catch2_test = Catch::TestCase;
using catch2_listener_base = Catch::TestEventListenerBase;
    #else
using catch2_test = Catch::TestCaseHandle;
using catch2_listener_base = Catch::EventListenerBase;
    #endif

// What every test case may leave alive, from the macro.
inline leak_options catch2_options;
// For our own main: 1 when something was not checked that should have been.
inline int catch2_exit_code = 0;

// What is known of the run and of the pass that is going on.
class catch2_run {
public:
    void begin() {
        own_output_ = Catch::cout().rdbuf();
        refusal_ = engine_refusal(find_engine());
        if (is_refused()) catch2_exit_code = 1;
        hide_runners(catch2_names);
    }

    void begin_case() {
        was_entered_ = false;
        was_repeated_ = false;
    }
    // Never in silence: a version of Catch2 that keeps its test cases elsewhere.
    void end_case() {
        if (was_entered_ || has_told_) return;
        has_told_ = true;
        catch2_exit_code = 1;
        print_line("allocscope: ", "this Catch2 ran a test case that could not be checked");
    }
    void end() {
        if (is_refused() && !has_told_)
            print_line("allocscope: no test case was checked: ", refusal_);
    }

    void enter_section(const std::string& name) {
        if (!is_in_test_) return;
        const pause_recording quietly;
        sections_ += sections_.empty() ? "" : " / ";
        sections_ += name;
    }
    void note_failure() noexcept { has_failed_ = true; }

    void run_pass(const catch2_test& test) {
        was_entered_ = true;
        has_failed_ = false;
        if (is_refused()) return run_unchecked(test);
        const Catch::TestCaseInfo& about = test.getTestCaseInfo();
        begin_pass(about);
        const expected_leaks own = own_leaks<catch2_names>(&catch2_options);
        leak_check leaks{name_.c_str(), catch2_options, own};
        const auto invoke = [&test] { test.invoke(); };
        // An exception passes through and ends the window: failed, or skipped.
        allocscope_test_boundary(invoke);
        said_of_leaks said;
        const leak_options limits = limits_of_pass(said);
        if (has_failed_ || said.is_ignored()) return;
        if (can_be_repeated(said) && leaks.counts().live_objects() != 0) {
            was_repeated_ = true;
            const check_result found = judge_repeated(name_.c_str(), limits, own, invoke);
            if (!has_failed_) tell(about, found);
        } else {
            tell(about, leaks.finish(limits));
        }
    }

private:
    bool is_refused() const noexcept { return refusal_[0] != '\0'; }

    void begin_pass(const Catch::TestCaseInfo& about) {
        const pause_recording quietly;
        name_ = about.name;
        sections_.clear();
        is_in_test_ = true;
        test_that_runs.begin();
        catch2_holds_output = Catch::cout().rdbuf() != own_output_;
    }

    // The result points into `said`.
    leak_options limits_of_pass(said_of_leaks& said) {
        const pause_recording quietly;
        is_in_test_ = false;
        said = test_that_runs.end();
        return said.add_to(catch2_options);
    }

    // Sections and generators remember which way the pass went. A generator shows what it has got
    // again, so only the first pass is run again; sections would go another way.
    bool can_be_repeated(const said_of_leaks& said) const noexcept {
        const bool is_wanted = said.is_repeated() || catch2_options.only_repeated_leaks;
        return is_wanted && sections_.empty() && !was_repeated_;
    }

    void tell(const Catch::TestCaseInfo& about, const check_result& found) {
        if (found) return;
        const pause_recording quietly;
        std::string message = found.message();
        if (!sections_.empty()) message += "\n  in section: " + sections_;
        fail(about, message.c_str());
    }

    // Once, in the first test case whose failure counts.
    void run_unchecked(const catch2_test& test) {
        const Catch::TestCaseInfo& about = test.getTestCaseInfo();
        if (!has_told_ && !about.okToFail() && !about.expectedToFail()) {
            has_told_ = true;
            fail(about, refusal_);
        }
        test.invoke();
    }

    static void fail(const Catch::TestCaseInfo& about, const char* message) {
        fail_catch2("ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE",
                    {about.lineInfo.file, static_cast<int>(about.lineInfo.line), false, ""},
                    message);
    }

    const char* refusal_ = "";  // why nothing is recorded
    const std::streambuf* own_output_ = nullptr;
    std::string name_;
    std::string sections_;
    bool has_told_ = false;
    bool was_entered_ = false;
    bool was_repeated_ = false;  // in this test case
    bool is_in_test_ = false;
    bool has_failed_ = false;  // in this pass
};

// Stands in the place of a test case's own invoker.
class catch2_invoker final : public Catch::ITestInvoker {
public:
    catch2_invoker(catch2_run& run, const catch2_test& test) : run_(run), test_(test) {}
    void invoke() const override { run_.run_pass(test_); }
    #if CATCH_VERSION_MAJOR > 3 || (CATCH_VERSION_MAJOR == 3 && CATCH_VERSION_MINOR >= 7)
    void prepareTestCase() override { test_.prepareTestCase(); }
    void tearDownTestCase() override { test_.tearDownTestCase(); }
    #endif

private:
    catch2_run& run_;
    catch2_test test_;
};

// Puts the invokers into Catch2's list and takes them out again.
class catch2_test_list {
public:
    // The elements are const to the outside only.
    void wrap(catch2_run& run, const std::vector<catch2_test>& tests) {
        for (const catch2_test& test : tests) {
            auto& place = const_cast<catch2_test&>(test);
            wrapped_.push_back({&place, place});
    #if CATCH_VERSION_MAJOR == 2
            Catch::TestCaseInfo about = place.getTestCaseInfo();
            place = Catch::TestCase{new catch2_invoker{run, place}, std::move(about)};
    #else
            invokers_.push_back(std::make_unique<catch2_invoker>(run, place));
            place = Catch::TestCaseHandle{
                const_cast<Catch::TestCaseInfo*>(&place.getTestCaseInfo()), invokers_.back().get()};
    #endif
        }
    }
    void unwrap() {
        for (const wrapped& each : wrapped_) *each.place = each.was;
        wrapped_.clear();
        invokers_.clear();
    }

private:
    struct wrapped {
        catch2_test* place;
        catch2_test was;
    };
    std::vector<wrapped> wrapped_;
    std::vector<std::unique_ptr<catch2_invoker>> invokers_;  // version 2 owns them itself
};

}  // namespace detail

class catch2_leak_listener : public detail::catch2_listener_base {
public:
    using detail::catch2_listener_base::catch2_listener_base;

    void testRunStarting(const Catch::TestRunInfo& info) override {
        detail::catch2_listener_base::testRunStarting(info);
        run_.begin();
        tests_.wrap(run_,
                    Catch::getRegistryHub().getTestCaseRegistry().getAllTestsSorted(*m_config));
    }
    void testRunEnded(const Catch::TestRunStats& end) override {
        tests_.unwrap();
        run_.end();
        detail::catch2_listener_base::testRunEnded(end);
    }
    void testCaseStarting(const Catch::TestCaseInfo& about) override {
        run_.begin_case();
        detail::catch2_listener_base::testCaseStarting(about);
    }
    void testCaseEnded(const Catch::TestCaseStats& end) override {
        run_.end_case();
        detail::catch2_listener_base::testCaseEnded(end);
    }
    void sectionStarting(const Catch::SectionInfo& about) override {
        run_.enter_section(about.name);
        detail::catch2_listener_base::sectionStarting(about);
    }

    #if CATCH_VERSION_MAJOR == 2
    bool assertionEnded(const Catch::AssertionStats& stats) override {
        if (!stats.assertionResult.isOk()) run_.note_failure();
        return detail::catch2_listener_base::assertionEnded(stats);
    }
    #else
    void assertionEnded(const Catch::AssertionStats& stats) override {
        if (!stats.assertionResult.isOk()) run_.note_failure();
    }
    #endif

private:
    detail::catch2_run run_;
    detail::catch2_test_list tests_;
};

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline bool check_every_catch2_case(const leak_options& wanted = {}) {
    checked_tolerance(wanted);
    check_expected(wanted.expected);
    catch2_options = wanted;
    #if CATCH_VERSION_MAJOR == 2
    const Catch::ListenerRegistrar<catch2_leak_listener> registered;
    #else
    const Catch::ListenerRegistrar<catch2_leak_listener> registered{"allocscope"};
    #endif
    static_cast<void>(registered);
    return true;
}

    #if CATCH_VERSION_MAJOR > 2 || defined(CATCH_CONFIG_RUNNER)
inline int catch2_main(int argument_count, char* arguments[]) {
    const int code = Catch::Session{}.run(argument_count, arguments);
    return code != 0 ? code : catch2_exit_code;
}
    #endif

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

    // In one .cpp of the program, at namespace scope: every test case must free what it allocated.
    // An argument is the leak_options that hold for all of them; texts must stay valid.
    #define ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(...)                     \
        [[maybe_unused]] static const bool allocscope_catch2_is_there = \
            ::allocscope::detail::check_every_catch2_case(__VA_ARGS__)
    // The same with a main(). Its exit code is that of Catch2, and 1 when that is 0 although test
    // cases could not be checked.
    #define ALLOCSCOPE_CATCH2_MAIN(...)                                          \
        ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(__VA_ARGS__);                         \
        int main(int argument_count, char* arguments[]) {                        \
            return ::allocscope::detail::catch2_main(argument_count, arguments); \
        }

#else

    #define ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(...)                      \
        static_assert(false,                                             \
                      "define CATCH_CONFIG_RUNNER, CATCH_CONFIG_MAIN or" \
                      " CATCH_CONFIG_EXTERNAL_INTERFACES before Catch2 is included in this file")
    #define ALLOCSCOPE_CATCH2_MAIN(...) ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(__VA_ARGS__);

#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

#include <exception>
#include <optional>

// checked_block.hpp - a block in a test that is held to something, as a loop that runs once.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- what a block is held to: each has finish() ---

// The guards' own action: the result is what the block looks at.
inline on_violation only_tell() noexcept {
    return on_violation::call([](const check_result&, void*) {});
}

class block_without_leaks {
public:
    block_without_leaks(const test_framework& framework, threads from)
        : leaks_(framework.block_name(), of(from), framework.own) {}
    check_result finish() { return leaks_.finish(); }

private:
    static leak_options of(threads from) noexcept {
        leak_options wanted;
        wanted.window.from = from;
        return wanted;
    }

    leak_check leaks_;
};

class block_within_budget {
public:
    block_within_budget(const test_framework& framework, const allocation_budget& budget)
        : guard_(framework.block_name(), budget, only_tell(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static options of_this_thread() noexcept {
        options wanted;
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class block_without {
public:
    block_without(const test_framework& framework, forbidden what)
        : guard_(framework.block_name(), only_tell(), what) {}
    check_result finish() { return guard_.finish(); }

private:
    no_allocation_guard guard_;
};

inline allocation_budget allocations_at_most(typed_number most) noexcept {
    allocation_budget budget;
    budget.allocations = at_most(most);
    return budget;
}

// --- the block ---

template <class Check>
class checked_block {
public:
    template <class Argument>
    checked_block(const test_framework* framework, const block_claim& claim,
                  const Argument& argument)
        : framework_(*framework),
          claim_(claim),
          exceptions_(std::uncaught_exceptions()),
          check_(*framework, argument) {}
    checked_block(const checked_block&) = delete;
    checked_block& operator=(const checked_block&) = delete;

    // Left by return or break. An exception is a failure already, and so is what a failed fatal
    // assertion left behind when it returned.
    ~checked_block() {
        if (state_ != state::running || std::uncaught_exceptions() != exceptions_) return;
        const check_result found = check_.finish();
        if (found || !framework_.has_failed()) framework_.tell(claim_, found, false);
    }

    bool next() {
        if (state_ != state::running) {
            const bool is_first = state_ == state::fresh;
            state_ = is_first ? state::running : state::done;
            return is_first;
        }
        state_ = state::done;
        const check_result found = check_.finish();
        if (!found && claim_.is_fatal && framework_.leaves_by_return) {
            failure_.emplace(found);
            return true;  // once more, for the macro to tell the failure and to leave
        }
        framework_.tell(claim_, found, true);
        return false;
    }

    // For such a macro.
    bool has_failed() const noexcept { return failure_.has_value(); }
    const char* message() const noexcept { return failure_->message(); }

private:
    enum class state { fresh, running, done };

    const test_framework& framework_;
    block_claim claim_;
    int exceptions_;
    std::optional<check_result> failure_;
    state state_ = state::fresh;
    Check check_;  // last: its window opens when all else is ready
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_BLOCK_JOIN_(left, right) left##right
#define ALLOCSCOPE_BLOCK_NAME_(line) ALLOCSCOPE_BLOCK_JOIN_(allocscope_block_, line)
#define ALLOCSCOPE_BLOCK_LOOP_(name, framework, check, is_fatal, claim, ...)                    \
    for (::allocscope::detail::checked_block<::allocscope::detail::check> name{                 \
             framework, ::allocscope::detail::block_claim{__FILE__, __LINE__, is_fatal, claim}, \
             __VA_ARGS__};                                                                      \
         name.next();)
// The last argument is what the check is told; commas of an initialiser may stand in it.
#define ALLOCSCOPE_BLOCK_(framework, check, is_fatal, claim, ...)                               \
    ALLOCSCOPE_BLOCK_LOOP_(ALLOCSCOPE_BLOCK_NAME_(__LINE__), framework, check, is_fatal, claim, \
                           __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST)

// check_blocks.hpp - assertions about a block inside a test: ALLOCSCOPE_CHECK_NO_LEAKS { }.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP

// With doctest switched off the block just runs.
#if defined(DOCTEST_CONFIG_DISABLE) && !defined(CATCH_VERSION_MAJOR)
    #define ALLOCSCOPE_CHECK_BLOCK_(check, is_fatal, claim, ...) if (true)
#else
    #define ALLOCSCOPE_CHECK_BLOCK_(check, is_fatal, claim, ...)                             \
        ALLOCSCOPE_BLOCK_(::allocscope::detail::running_framework(), check, is_fatal, claim, \
                          __VA_ARGS__)
#endif

#define ALLOCSCOPE_LEAK_BLOCK_(is_fatal, from) \
    ALLOCSCOPE_CHECK_BLOCK_(block_without_leaks, is_fatal, "no leaks", ::allocscope::threads::from)
#define ALLOCSCOPE_SILENT_BLOCK_(is_fatal)                             \
    ALLOCSCOPE_CHECK_BLOCK_(block_without, is_fatal, "no allocations", \
                            ::allocscope::forbidden::allocations)
#define ALLOCSCOPE_AT_MOST_BLOCK_(is_fatal, most)                                        \
    ALLOCSCOPE_CHECK_BLOCK_(block_within_budget, is_fatal, "allocations at most " #most, \
                            ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_BUDGET_BLOCK_(is_fatal, ...)                                           \
    ALLOCSCOPE_CHECK_BLOCK_(block_within_budget, is_fatal, "within budget " #__VA_ARGS__, \
                            __VA_ARGS__)

// Nothing that is allocated in the block, by any thread, is alive at its end.
#define ALLOCSCOPE_CHECK_NO_LEAKS ALLOCSCOPE_LEAK_BLOCK_(false, all)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS ALLOCSCOPE_LEAK_BLOCK_(true, all)
// The same for what this thread allocates, while others work.
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_LEAK_BLOCK_(false, current)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_LEAK_BLOCK_(true, current)

// This thread allocates nothing in the block.
#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS ALLOCSCOPE_SILENT_BLOCK_(false)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS ALLOCSCOPE_SILENT_BLOCK_(true)

// This thread allocates at most so many objects in the block. Any integer; one that is negative
// fails the case and is named.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most) ALLOCSCOPE_AT_MOST_BLOCK_(false, most)
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most) ALLOCSCOPE_AT_MOST_BLOCK_(true, most)

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_CHECK_WITHIN_BUDGET(...) ALLOCSCOPE_BUDGET_BLOCK_(false, __VA_ARGS__)
#define ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(...) ALLOCSCOPE_BUDGET_BLOCK_(true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2)

// catch2.hpp - Catch2: every test case must free what it allocated, and blocks keep to budgets.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST)

#include <cstring>

// doctest_framework.hpp - what is doctest's own: its names, its assertions, its decorators.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP

#ifndef DOCTEST_LIBRARY_INCLUDED  // the user may have included a copy from elsewhere
    #include <doctest/doctest.h>  // TestCase, ResultBuilder, DOCTEST_BREAK_INTO_DEBUGGER
#endif

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- its names ---

inline constexpr const char* doctest_runners[] = {"doctest::Context::", nullptr};
inline constexpr const char* doctest_callers[] = {nullptr};
inline constexpr framework_names doctest_names{"doctest::", doctest_runners, doctest_callers,
                                               nullptr,     "doctest::",     nullptr};

// --- its assertions ---

// An assertion and not a message: doctest 2.4 leaves messages out of its JUnit report. Leaves by an
// exception where an assertion of this kind would: after a failed REQUIRE, and when --abort-after
// is reached. It reads "file(line): ERROR: CHECK( claim ) is NOT correct!".
inline void tell_doctest(const block_claim& claim, bool has_passed, const char* message,
                         bool may_leave) {
    const auto kind =
        claim.is_fatal ? doctest::assertType::DT_REQUIRE : doctest::assertType::DT_CHECK;
    doctest::detail::ResultBuilder assertion(kind, claim.file, claim.line, claim.text);
    {
        const pause_recording quietly;
        assertion.m_failed = !has_passed;
        if (has_passed) message = "true";
        assertion.m_decomp = message;
        if (assertion.log()) DOCTEST_BREAK_INTO_DEBUGGER();
    }
    if (may_leave) assertion.react();
}

inline const char* doctest_block_name() noexcept {
    const doctest::ContextOptions* options = doctest::getContextOptions();
    if (options == nullptr || options->currentTest == nullptr) return "block";
    return options->currentTest->m_name;
}

inline constexpr test_framework doctest_framework{
    own_leaks<doctest_names>(nullptr),
    false,
    &doctest_block_name,
    [] { return false; },  // a failed REQUIRE leaves by an exception, so a return means no failure
    [] { return doctest::is_running_in_test; },
    [](const block_claim& claim, const check_result& found, bool may_leave) {
        tell_doctest(claim, found.passed(), found.message(), may_leave);
    }};
inline const bool doctest_is_there = add_framework(doctest_framework);

// --- its decorators ---

// doctest's TestCase has no field for us, so what a decorator says is kept in a list of its own.
// The key of a case is its function, which no other case has; that of a suite is its name.
struct doctest_remark {
    leak_remark said;
    doctest::detail::funcType test = nullptr;  // null: of the suite
    const char* suite = nullptr;
    const doctest_remark* next = nullptr;
};

// Constant-initialised, so that the decorators of every translation unit find it ready. Lives as
// long as doctest's own registry.
inline const doctest_remark* doctest_remarks = nullptr;

inline void remember_remark(doctest::detail::TestCase& test, const leak_remark& said) {
    doctest_remarks = new doctest_remark{said, test.m_test, nullptr, doctest_remarks};
}
inline void remember_remark(doctest::detail::TestSuite& suite, const leak_remark& said) {
    doctest_remarks = new doctest_remark{said, nullptr, suite.m_test_suite, doctest_remarks};
}

// What the decorators of a case say, or those of its suite if it has none.
inline said_of_leaks said_by_decorators(doctest::detail::funcType test, const char* suite) {
    said_of_leaks said;
    bool has_own = false;
    for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
        if (each->test != test || test == nullptr) continue;
        said.add(each->said);
        has_own = true;
    }
    if (has_own || suite == nullptr) return said;
    for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
        if (each->suite != nullptr && std::strcmp(each->suite, suite) == 0) said.add(each->said);
    }
    return said;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST)

#include <atomic>

// doctest_listener.hpp - measures each pass through each doctest case.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class doctest_listener;

// Of the run that is going on, which is one at most: doctest keeps its own state in a global too.
inline doctest_listener* doctest_running = nullptr;
// What holds for every case, from ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...).
inline leak_options doctest_defaults;

class doctest_listener : public doctest::IReporter {
public:
    explicit doctest_listener(const doctest::ContextOptions&) { doctest_running = this; }
    ~doctest_listener() {
        put_function_back();
        if (doctest_running == this) doctest_running = nullptr;
    }
    doctest_listener(const doctest_listener&) = delete;
    doctest_listener& operator=(const doctest_listener&) = delete;

    void test_run_start() override {
        refusal_ = scope{}.stats();
        // doctest prints through a buffer for each thread, and keeps it: not a case's fault.
        doctest::detail::MessageBuilder first_use("", 0, doctest::assertType::is_warn);
        first_use.operator,("first use");
        hide_runners(doctest_names);
    }

    void test_case_start(const doctest::TestCaseData& started) override {
        // Not const when it was made: doctest keeps its cases in a set, whose order is not by this.
        case_ = const_cast<doctest::detail::TestCase*>(
            static_cast<const doctest::detail::TestCase*>(&started));
        function_ = case_->m_test;
        const pause_recording quietly;
        decorated_ = said_by_decorators(function_, case_->m_test_suite);
        if (!decorated_.is_ignored()) case_->m_test = &run_case;
    }
    void test_case_end(const doctest::CurrentTestCaseStats&) override { put_function_back(); }

    void subcase_start(const doctest::SubcaseSignature&) override { has_subcases_ = true; }
    void log_assert(const doctest::AssertData& assertion) override {
        if (assertion.m_failed) note_failure(assertion.m_at);
    }
    void log_message(const doctest::MessageData& message) override {
        note_failure(message.m_severity);
    }

    // A case that may fail cannot tell that nothing was checked.
    void test_run_end(const doctest::TestRunStats& end) override {
        if (!is_refused() || end.numTestCasesPassingFilters == 0) return;
        if (end.numTestCasesFailed != 0) return;
        print_line("allocscope: no case was checked: ", refusal_.info().not_recording);
        // The object is doctest's own state and not const; the exit code is read from it next.
        const_cast<doctest::TestRunStats&>(end).numTestCasesFailed = 1;
    }

    void report_query(const doctest::QueryData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_end() override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    // Stands in the place of the case's function.
    static void run_case() { doctest_running->run_pass(); }

    void run_pass() {
        has_failed_.store(false, std::memory_order_relaxed);
        has_subcases_ = false;
        if (is_refused()) return run_unchecked();
        test_that_runs.begin();
        const expected_leaks own = own_leaks<doctest_names>(&doctest_defaults);
        leak_check leaks{case_->m_name, doctest_defaults, own};
        // An exception passes through and ends the window: the case has failed.
        allocscope_test_boundary(function_);
        said_of_leaks said;
        const leak_options limits = limits_of_pass(said);
        if (has_failed() || said.is_ignored()) return;
        const bool is_repeated = said.is_repeated() || limits.only_repeated_leaks;
        if (is_repeated && !has_subcases_ && leaks.counts().live_objects() != 0) {
            return repeat(limits, own);
        }
        tell(leaks.finish(limits));
    }

    // The result points into `said`.
    leak_options limits_of_pass(said_of_leaks& said) const {
        const pause_recording quietly;
        said.add(decorated_);
        said.add(test_that_runs.end());
        return said.add_to(doctest_defaults);
    }

    void repeat(const leak_options& limits, const expected_leaks& own) {
        const check_result found = judge_repeated(case_->m_name, limits, own, function_);
        if (!has_failed()) tell(found);
    }

    // Without the hooks the first case says so, and no other: it is one mistake.
    void run_unchecked() {
        if (!has_told_) fail(refusal_.info().not_recording);
        has_told_ = true;
        function_();
    }

    void tell(const check_result& found) {
        if (!found) fail(found.message());
    }
    void fail(const char* message) {
        tell_doctest({case_->m_file.c_str(), static_cast<int>(case_->m_line), false, "no leaks"},
                     false, message, true);
    }

    void put_function_back() {
        if (case_ != nullptr) case_->m_test = function_;
        case_ = nullptr;
    }

    void note_failure(doctest::assertType::Enum kind) {
        if ((kind & doctest::assertType::is_warn) != 0) return;
        has_failed_.store(true, std::memory_order_relaxed);
    }
    bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
    bool is_refused() const { return refusal_.info().not_recording[0] != '\0'; }

    snapshot refusal_;  // of no window; says why nothing is recorded, if so
    doctest::detail::TestCase* case_ = nullptr;
    doctest::detail::funcType function_ = nullptr;
    said_of_leaks decorated_;
    std::atomic<bool> has_failed_{false};  // in this pass
    bool has_subcases_ = false;            // in this pass
    bool has_told_ = false;
};

inline leak_options doctest_options() {
    return {};
}
inline leak_options doctest_options(threads from) {
    leak_options options;
    options.window.from = from;
    return options;
}
inline leak_options doctest_options(const leak_options& options) {
    return options;
}

inline bool check_every_doctest_case(const leak_options& defaults) {
    doctest_defaults = defaults;
    doctest::registerReporter<doctest_listener>("allocscope", 1, false);
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST)

// doctest.hpp - the door for tests with doctest: every case, or a block, frees what it allocates.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP

// In one .cpp of the program: every case must free what it allocates, on each pass through it. An
// argument holds for all cases: allocscope::threads::current, which charges only what the thread of
// the cases allocates, or leak_options, whose texts must stay valid.
#ifdef DOCTEST_CONFIG_DISABLE
    #define ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...) static_assert(true, "")
#else
    #define ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...)                                   \
        [[maybe_unused]] static const bool DOCTEST_ANONYMOUS(allocscope_every_case_) = \
            ::allocscope::detail::check_every_doctest_case(                            \
                ::allocscope::detail::doctest_options(__VA_ARGS__))
#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

// google_benchmark_rules.hpp - what a benchmark may use, and how a run is judged by it.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// The most that a benchmark may use. What is not set is not limited.
//
//     memory.at_most({.allocations = 2, .bytes = 256});     // C++20
//     memory.at_most({2, 256});                             // C++17: in this order
struct benchmark_limits {
    static constexpr double unlimited = std::numeric_limits<double>::infinity();
    double allocations = unlimited;  // for each iteration
    double bytes = unlimited;        // for each iteration, as requested
    double peak_bytes = unlimited;  // of the whole run; with several threads the sum of their peaks
};

namespace detail {

struct benchmark_range {
    double least = 0;
    double most = benchmark_limits::unlimited;

    bool holds(double used) const noexcept { return !(used < least) && !(used > most); }
    bool is_a_limit() const noexcept { return least > 0 || most < benchmark_limits::unlimited; }
};

// What a run that kept stacks knows of its places.
struct benchmark_places {
    snapshot alive;       // at the end
    snapshot allocated;   // freed since or not; empty unless that run broke a limit of those
    std::string heading;  // "after 1 iteration: "

    void take_from(const benchmark_places& newer) {
        if (!newer.alive.empty()) alive = newer.alive;
        if (!newer.allocated.empty()) allocated = newer.allocated;
        if (!newer.alive.empty() || !newer.allocated.empty()) heading = newer.heading;
    }
};

// One scope in the source with its limits.
struct benchmark_rule {
    const char* file = "";
    int line = 0;
    benchmark_range allocations;  // for each iteration
    benchmark_range bytes;        // for each iteration
    benchmark_range peak_bytes;
    benchmark_range live_objects{0, 0};
    benchmark_range live_bytes;
    benchmark_places places;

    // The place and the limits, in an order.
    auto key() const noexcept {
        const auto ends = [](const benchmark_range& of) {
            return std::make_pair(of.least, of.most);
        };
        return std::make_tuple(file, line, ends(allocations), ends(bytes), ends(peak_bytes),
                               ends(live_objects), ends(live_bytes));
    }
};

// What a run used: of one thread, or of all as Google Benchmark adds them up.
struct benchmark_usage {
    double allocations = 0;  // for each iteration
    double bytes = 0;        // for each iteration
    double peak_bytes = 0;
    double live_bytes = 0;
    double live_objects = 0;
};

// What is kept from one call of a function to the next.
class benchmark_memories {
public:
    // A scope has ended; what its run knows of places holds for later runs under the same limits.
    void scope_ended(const benchmark_rule& rule) {
        const std::lock_guard<std::mutex> lock{mutex_};
        last_ = rule;
        places_[rule.key()].take_from(rule.places);
    }
    // Google Benchmark reports a benchmark right after its last call, so this is the rule of the
    // runs that are reported. (The name of a benchmark is not known to it in older releases.)
    benchmark_rule last_rule() {
        const std::lock_guard<std::mutex> lock{mutex_};
        benchmark_rule found = last_;
        found.places = places_[last_.key()];
        return found;
    }

    // "; saved in <file>", once for each benchmark: its repetitions and a second reporter tell of
    // the same. "" when there are no rows.
    std::string save(const std::string& name, const std::string& message, const snapshot& rows) {
        if (rows.empty()) return {};
        const std::lock_guard<std::mutex> lock{mutex_};
        std::string& saved = saved_[name];
        if (saved.empty()) saved = saved_text(name, message, rows);
        return saved;
    }

    // What a label of the scope in this place takes; learned from a run that kept stacks.
    void learn_label(const char* file, int line, const allocation_counts& label) {
        const std::lock_guard<std::mutex> lock{mutex_};
        labels_[{file, line}] = label;
    }
    allocation_counts label_of(const char* file, int line) {
        const std::lock_guard<std::mutex> lock{mutex_};
        const auto found = labels_.find({file, line});
        return found != labels_.end() ? found->second : allocation_counts{};
    }

private:
    static std::string saved_text(const std::string& name, const std::string& message,
                                  const snapshot& rows) {
        const check_result told = save_evidence_of(rows, name.c_str(), message.c_str());
        if (told.saved_to()[0] != '\0') return std::string{"; saved in "} + told.saved_to();
        const char* problem = std::strstr(told.message(), "not saved: ");
        return problem != nullptr ? std::string{"; "} + problem : std::string{};
    }

    std::mutex mutex_;
    benchmark_rule last_;
    std::map<decltype(benchmark_rule{}.key()), benchmark_places> places_;
    std::map<std::string, std::string> saved_;
    std::map<std::pair<const char*, int>, allocation_counts> labels_;
};

inline benchmark_memories remembered;

inline std::string number_text(double value) {
    char space[32];
    const bool is_whole = value > -1e15 && value < 1e15 && !(value < std::floor(value)) &&
                          !(value > std::floor(value));
    std::snprintf(space, sizeof space, is_whole ? "%.0f" : "%.6g", value);
    return space;
}

// The text that State::SetLabel() keeps.
inline bool is_label(const snapshot::row& row) noexcept {
    for (std::size_t i = 0; i < row.frame_count; ++i) {
        if (std::strstr(row.frames[i].function, "benchmark::State::SetLabel") != nullptr)
            return true;
    }
    return false;
}

inline bool is_of_google_benchmark(const snapshot::row& row) noexcept {
    return std::strstr(row.type, "benchmark::Counter") != nullptr || is_label(row);
}

inline allocation_counts label_in(const snapshot& alive) noexcept {
    allocation_counts label;
    for (const snapshot::row& row : alive) {
        if (!is_label(row)) continue;
        label.allocations += row.objects;
        label.bytes_allocated += row.bytes;
    }
    return label;
}

// "3 x parser.cpp:12:node (72 B), ...": at most three.
inline std::string places_of(const snapshot& alive) {
    std::string text;
    std::size_t shown = 0;
    for (const snapshot::row& row : alive) {
        if (is_of_google_benchmark(row)) continue;
        if (shown++ == 3) {
            text += ", ...";
            break;
        }
        if (!text.empty()) text += ", ";
        text += std::to_string(row.objects) + " x " + row.file + ":";
        if (row.line != 0) text += std::to_string(row.line) + ":";
        text += std::string{row.type} + " (" + std::to_string(row.bytes) + " B)";
    }
    return text;
}

inline std::string objects_text(double count) {
    return number_text(count) + (count > 1 ? " objects" : " object");
}

constexpr const char* unknown_places =
    "to see where they were allocated: benchmark_scope memory{state, "
    "allocscope::recording::exact};";

inline void add_excess(std::string& text, double used, const benchmark_range& allowed,
                       const char* what) {
    if (allowed.holds(used)) return;
    if (!text.empty()) text += "; ";
    const bool is_too_much = used > allowed.most;
    text += number_text(used) + what + (is_too_much ? ", at most " : ", at least ") +
            number_text(is_too_much ? allowed.most : allowed.least) +
            (is_too_much ? " are allowed" : " are wanted");
}

inline std::string leak_text(const benchmark_rule& rule, const benchmark_usage& used) {
    const bool is_leak = used.live_objects > rule.live_objects.most;
    std::string text = is_leak ? "leak: still alive: " : "still alive: ";
    text += objects_text(used.live_objects) + " of " + number_text(used.live_bytes) + " bytes";
    if (is_leak && rule.live_objects.most > 0) {
        text += ", " + number_text(rule.live_objects.most) + " are allowed";
    }
    add_excess(text, used.live_objects, {rule.live_objects.least, benchmark_limits::unlimited},
               " objects");
    add_excess(text, used.live_bytes, rule.live_bytes, " bytes alive");
    return text;
}

inline bool breaks_limit_of_allocated(const benchmark_rule& rule, const benchmark_usage& used) {
    return !rule.allocations.holds(used.allocations) || !rule.bytes.holds(used.bytes) ||
           !rule.peak_bytes.holds(used.peak_bytes);
}

// "" when the run keeps the rule; else one line, with the file that has the evidence.
inline std::string judge(const benchmark_rule& rule, const benchmark_usage& used,
                         const std::string& name) {
    const bool is_leak =
        !rule.live_objects.holds(used.live_objects) || !rule.live_bytes.holds(used.live_bytes);
    const bool is_over = breaks_limit_of_allocated(rule, used);
    if (!is_leak && !is_over) return {};
    std::string text = is_leak ? leak_text(rule, used) : std::string{};
    add_excess(text, used.allocations, rule.allocations, " allocations for each iteration");
    add_excess(text, used.bytes, rule.bytes, " bytes for each iteration");
    add_excess(text, used.peak_bytes, rule.peak_bytes, " bytes at the peak");
    const snapshot& rows = is_leak ? rule.places.alive : rule.places.allocated;
    const std::string places = places_of(rows);
    const bool has_places = (is_leak ? used.live_objects : used.allocations) > 0;
    if (!places.empty()) {
        text += "; " + rule.places.heading + places;
    } else if (has_places) {
        text += std::string{"; "} + unknown_places;
    }
    text = "allocscope: " + text;
    return text + remembered.save(name, text, rows);
}

inline benchmark_range range_of(const count_range& limit) noexcept {
    const bool has_most = limit.most != ~std::uint64_t{0};
    return {static_cast<double>(limit.least),
            has_most ? static_cast<double>(limit.most) : benchmark_limits::unlimited};
}

// A limit of what is alive takes the place of "nothing".
inline void take_limits(benchmark_rule& rule, const check_limits& limits) noexcept {
    rule.allocations = range_of(limits.allocations);
    rule.bytes = range_of(limits.bytes);
    rule.peak_bytes = range_of(limits.peak_bytes);
    rule.live_bytes = range_of(limits.live_bytes);
    rule.live_objects = range_of(limits.live_objects);
    const bool is_silent = !rule.live_objects.is_a_limit() && !rule.live_bytes.is_a_limit();
    if (is_silent) rule.live_objects = {0, 0};
}

// "" when the limits make sense; else what is wrong with them.
inline std::string refusal_of(const benchmark_limits& most) {
    const struct {
        const char* name;
        double value;
    } limits[] = {
        {"allocations", most.allocations}, {"bytes", most.bytes}, {"peak_bytes", most.peak_bytes}};
    for (const auto& limit : limits) {
        if (limit.value >= 0) continue;
        return "allocscope: benchmark_limits::" + std::string{limit.name} + " is " +
               number_text(limit.value) + "; it must be 0 or more";
    }
    return {};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <benchmark/benchmark.h>
#include <type_traits>

// google_benchmark_versions.hpp - what differs between releases of Google Benchmark.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

using benchmark_run = benchmark::BenchmarkReporter::Run;

// Overloads below end in `int` where the newer form compiles and in `long` elsewhere: called with 0
// the first is the better match.

// Skipped with a message or with an error: either way its numbers mean nothing.
template <class State>
auto is_skipped(const State& state, int) -> decltype(state.skipped()) {
    return state.skipped();
}
template <class State>
bool is_skipped(const State& state, long) {
    return state.error_occurred();
}

template <class Run>
auto run_failed(const Run& run, int) -> decltype(run.skip_message, bool()) {
    return run.skipped == decltype(Run::skipped)::SkippedWithError;
}
template <class Run>
bool run_failed(const Run& run, long) {
    return run.error_occurred;
}

// A run without numbers, whether that is an error or not.
template <class Run>
auto run_has_no_numbers(const Run& run, int) -> decltype(run.skip_message, bool()) {
    return run.skipped != decltype(Run::skipped)::NotSkipped;
}
template <class Run>
bool run_has_no_numbers(const Run& run, long) {
    return run.error_occurred;
}

template <class Run>
auto fail_run(Run& run, const std::string& message, int) -> decltype(run.skip_message, void()) {
    run.skipped = decltype(Run::skipped)::SkippedWithError;
    run.skip_message = message;
}
template <class Run>
void fail_run(Run& run, const std::string& message, long) {
    run.error_occurred = true;
    run.error_message = message;
}

// The last two fields of a result: not in every release.
template <class Result>
auto set_growth(Result& result, benchmark::IterationCount total, benchmark::IterationCount net, int)
    -> decltype(result.net_heap_growth, void()) {
    result.total_allocated_bytes = total;
    result.net_heap_growth = net;
}
template <class Result>
void set_growth(Result&, benchmark::IterationCount, benchmark::IterationCount, long) {}

template <class Result>
auto set_iterations(Result& result, benchmark::IterationCount iterations, int)
    -> decltype(result.memory_iterations, void()) {
    result.memory_iterations = iterations;
}
template <class Result>
void set_iterations(Result&, benchmark::IterationCount, long) {}

// `result` must outlive what is done with the run where the run only points to it.
template <class Run>
void set_memory_result(Run& run, const benchmark::MemoryManager::Result& result) {
    if constexpr (std::is_pointer_v<decltype(run.memory_result)>) {
        run.memory_result = &result;
    } else {
        run.memory_result = result;
    }
}

// Forwards the calls that only some releases make. `Member` is the type of Base::List.
template <class Base, class Member>
class forwards_list;

template <class Base, class Argument>
class forwards_list<Base, void (Base::*)(Argument)> : public Base {
public:
    void List(Argument benchmarks) { listed().List(benchmarks); }

private:
    virtual Base& listed() = 0;
};

class forwards_no_list : public benchmark::BenchmarkReporter {
    virtual benchmark::BenchmarkReporter& listed() = 0;
};

template <class Base, class = void>
struct reporter_base {
    using type = forwards_no_list;
};
template <class Base>
struct reporter_base<Base, std::void_t<decltype(&Base::List)>> {
    using type = forwards_list<Base, decltype(&Base::List)>;
};

template <class Reporter>
auto forward_runs_config(Reporter& reporter, double min_time, bool has_iterations,
                         benchmark::IterationCount iterations, int)
    -> decltype(reporter.ReportRunsConfig(min_time, has_iterations, iterations)) {
    reporter.ReportRunsConfig(min_time, has_iterations, iterations);
}
template <class Reporter>
void forward_runs_config(Reporter&, double, bool, benchmark::IterationCount, long) {}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// For ALLOCSCOPE_BENCHMARK_MAIN: newer releases start the program again without randomised
// addresses, for steadier times. Outside our namespace, because there it would hide theirs.
namespace allocscope_older_benchmark {
inline void MaybeReenterWithoutASLR(...) {}
}  // namespace allocscope_older_benchmark

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <atomic>
#include <optional>
#include <set>
#include <stdexcept>

// google_benchmark_scope.hpp - allocations of a benchmark's loop, beside its time.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// Counts from its declaration to stop() or its end, and adds four counters to the benchmark:
//
//     allocs/op   allocations for each iteration
//     bytes/op    bytes for each iteration, as requested
//     peak        most bytes alive at one time; with several threads the sum of their peaks
//     live        bytes still alive at the end
//
// Objects that are still alive, and a broken limit, are errors of the benchmark. With a
// benchmark_gate (ALLOCSCOPE_BENCHMARK_MAIN has one) the reported run decides; without one every
// run, also the first of one iteration, which fills caches.
//
// What state.counters, SetItemsProcessed() and SetLabel() keep after the loop is not counted; a
// peak of fewer bytes than that is then shown as the least it can have been. A label of more than
// 15 characters is only known from a run that kept stacks, and of one thread: with several, or a
// fixed number of iterations, call stop() before. What one thread allocates and another one frees
// when the loop of the first has ended counts as alive.
//
// Cost: some 8 ns for each allocation and its free, which is in the times that are shown. Runs of
// one iteration, which is the first of almost every benchmark, keep the stacks too (16 ns), so that
// a leak can be named.
class benchmark_scope {
public:
    // Without the hooks in the process: an error of the benchmark that says what to add.
    explicit benchmark_scope(benchmark::State& state, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE());
    // Records in each run as told: with `exact` a leak is always named, `counters` costs least.
    // `sampled` is an error of the benchmark: it would give estimates.
    benchmark_scope(benchmark::State& state, recording wanted, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE());
    // With keep_within(budget).
    benchmark_scope(benchmark::State& state, const allocation_budget& budget,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE());
    ~benchmark_scope();
    benchmark_scope(const benchmark_scope&) = delete;
    benchmark_scope& operator=(const benchmark_scope&) = delete;

    // What breaks the budget is an error of the benchmark, also too little where the budget has a
    // least. `allocations` and `bytes` hold for each iteration, as the mean of the run;
    // `peak_bytes`, `live_objects` and `live_bytes` for the run; all for the threads together.
    // Unless live_objects or live_bytes are limited, nothing may be alive at the end; of this and
    // may_keep() the later call counts. A budget that cannot be kept (a negative limit, a least
    // above its most) is an error of the benchmark too, with -fno-exceptions an abort.
    void keep_within(const allocation_budget& budget);

    // The same for fractions of an allocation or byte: more than this is an error. A negative
    // limit, or NaN, is an error too.
    void at_most(const benchmark_limits& most);

    // So many objects may be alive at the end, all threads together.
    void may_keep(std::uint64_t objects) noexcept;

    // Ends the counting. What the function does afterwards is not charged.
    void stop();

    // The numbers of this thread up to now. Allocates nothing.
    allocation_counts counts() const noexcept { return window_->counts(); }

private:
    // The nodes of counters that the function has added.
    allocation_counts counts_of_new_counters() const;
    // The text of a label that Google Benchmark keeps.
    allocation_counts label_counts() const;
    void report(const allocation_counts& totals);
    void add_counters(const allocation_counts& totals, bool is_judged_later);
    void judge_now(const allocation_counts& totals);
    detail::benchmark_usage usage_of(const allocation_counts& totals) const noexcept;

    benchmark::State& state_;
    detail::benchmark_rule rule_;
    bool keeps_stacks_;
    std::set<std::string> known_counters_;
    std::optional<scope> window_;
    snapshot alive_;
    bool is_stopped_ = false;
};

namespace detail {

// For a benchmark_gate, which takes it out.
constexpr const char* objects_counter = "allocscope/objects";

// How many gates there are: then scopes leave the judgement to them.
inline std::atomic<int> benchmark_gates{0};

// The extra pass of a benchmark_memory_manager: it asks the scopes of that pass.
struct benchmark_memory_pass {
    bool is_open = false;
    bool had_scope = false;
    allocation_counts totals;

    // Scopes of one function come one after the other.
    void add(const allocation_counts& more) noexcept {
        had_scope = true;
        totals.allocations += more.allocations;
        totals.frees += more.frees;
        totals.bytes_allocated += more.bytes_allocated;
        totals.bytes_freed += more.bytes_freed;
        if (more.peak_bytes > totals.peak_bytes) totals.peak_bytes = more.peak_bytes;
    }
};
inline benchmark_memory_pass memory_pass;

inline options options_of_benchmark(recording wanted) noexcept {
    options made;
    made.record = wanted;
    made.from = threads::current;
    return made;
}

inline recording usual_recording(const benchmark::State& state) noexcept {
    return state.max_iterations == 1 ? recording::exact : recording::counters;
}

// The totals without Google Benchmark's objects, which are still alive.
inline allocation_counts without_own(allocation_counts totals,
                                     const allocation_counts& own) noexcept {
    if (own.allocations == 0 || own.allocations > totals.live_objects()) return totals;
    const bool were_in_the_peak = totals.peak_bytes <= totals.live_bytes();
    totals.allocations -= own.allocations;
    totals.bytes_allocated -= own.bytes_allocated;
    if (!were_in_the_peak) return totals;
    // The rest had a peak below that of both. It was at least this.
    const std::uint64_t mean =
        totals.allocations != 0
            ? (totals.bytes_allocated + totals.allocations - 1) / totals.allocations
            : 0;
    totals.peak_bytes = totals.live_bytes() > mean ? totals.live_bytes() : mean;
    return totals;
}

}  // namespace detail

// definitions

inline benchmark_scope::benchmark_scope(benchmark::State& state, const char* file, int line)
    : benchmark_scope(state, detail::usual_recording(state), file, line) {}

inline benchmark_scope::benchmark_scope(benchmark::State& state, recording wanted, const char* file,
                                        int line)
    : state_(state), keeps_stacks_(wanted == recording::exact) {
    const char* refusal = detail::engine_refusal(detail::find_engine());
    if (wanted == recording::sampled) {
        refusal =
            "recording is sampled, which gives estimates; a benchmark_scope counts: take exact"
            " or counters";
    }
    if (refusal[0] != '\0') {
        state_.SkipWithError((std::string{"allocscope: "} + refusal).c_str());
    }
    {
        const pause_recording not_of_the_benchmark;
        rule_.file = file;
        rule_.line = line;
        for (const auto& counter : state_.counters) known_counters_.insert(counter.first);
    }
    window_.emplace("benchmark", detail::options_of_benchmark(wanted));
}

inline benchmark_scope::benchmark_scope(benchmark::State& state, const allocation_budget& budget,
                                        const char* file, int line)
    : benchmark_scope(state, file, line) {
    keep_within(budget);
}

inline allocation_counts benchmark_scope::counts_of_new_counters() const {
    // A copy takes as much as the counters did.
    const scope window{"benchmark counters", detail::options_of_benchmark(recording::counters)};
    benchmark::UserCounters copied;
    for (const auto& counter : state_.counters) {
        if (known_counters_.count(counter.first) == 0) copied.insert(counter);
    }
    return window.counts();
}

inline void benchmark_scope::stop() {
    if (is_stopped_) return;
    is_stopped_ = true;
    if (keeps_stacks_ && detail::breaks_limit_of_allocated(rule_, usage_of(window_->counts()))) {
        const pause_recording not_of_the_benchmark;
        rule_.places.allocated = detail::allocated_in(*window_);
    }
    alive_ = window_->stop();
}

inline benchmark_scope::~benchmark_scope() {
    stop();
    const allocation_counts own = counts_of_new_counters();
    const pause_recording not_of_the_benchmark;
    if (detail::is_skipped(state_, 0)) return;
    const snapshot::window_info& info = alive_.info();
    std::string refusal = info.not_recording;
    if (refusal.empty() && info.loss_count != 0) {
        refusal = "the counts are not complete: " + std::to_string(info.losses[0].count) +
                  " times: " + info.losses[0].reason;
    }
    if (!refusal.empty()) {
        state_.SkipWithError(("allocscope: " + refusal).c_str());
        return;
    }
    report(detail::without_own(detail::without_own(info.totals, own), label_counts()));
}

// With several threads it is anybody's guess which of them allocated the text they share.
inline allocation_counts benchmark_scope::label_counts() const {
    if (state_.threads() != 1) return {};
    if (keeps_stacks_) {
        detail::remembered.learn_label(rule_.file, rule_.line, detail::label_in(alive_));
    }
    return detail::remembered.label_of(rule_.file, rule_.line);
}

inline void benchmark_scope::report(const allocation_counts& totals) {
    if (detail::memory_pass.is_open && state_.thread_index() == 0) {
        detail::memory_pass.add(totals);
        return;
    }
    if (keeps_stacks_) {
        const bool is_one = state_.iterations() == 1;
        rule_.places.heading = "after " + std::to_string(state_.iterations()) +
                               (is_one ? " iteration: " : " iterations: ");
        if (!detail::places_of(alive_).empty()) rule_.places.alive = alive_;
    }
    const bool is_judged_later = detail::benchmark_gates != 0;
    add_counters(totals, is_judged_later);
    if (!is_judged_later) judge_now(totals);
}

inline void benchmark_scope::at_most(const benchmark_limits& most) {
    const pause_recording not_of_the_benchmark;
    const std::string refusal = detail::refusal_of(most);
    if (!refusal.empty()) state_.SkipWithError(refusal.c_str());
    rule_.allocations = {0, most.allocations};
    rule_.bytes = {0, most.bytes};
    rule_.peak_bytes = {0, most.peak_bytes};
}

inline void benchmark_scope::keep_within(const allocation_budget& budget) {
    const pause_recording not_of_the_benchmark;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    detail::take_limits(rule_, detail::checked_limits(budget));
#else
    try {
        detail::take_limits(rule_, detail::checked_limits(budget));
    } catch (const std::invalid_argument& refusal) {
        state_.SkipWithError(refusal.what());
    }
#endif
}

inline void benchmark_scope::may_keep(std::uint64_t objects) noexcept {
    rule_.live_objects = {0, static_cast<double>(objects)};
}

// Google Benchmark adds the counters of the threads, then divides as the flags say.
inline void benchmark_scope::add_counters(const allocation_counts& totals, bool is_judged_later) {
    using benchmark::Counter;
    const auto set = [this](const char* name, std::uint64_t value, Counter::Flags flags,
                            Counter::OneK one_k) {
        state_.counters[name] = Counter(static_cast<double>(value), flags, one_k);
    };
    set("allocs/op", totals.allocations, Counter::kAvgIterations, Counter::kIs1000);
    set("bytes/op", totals.bytes_allocated, Counter::kAvgIterations, Counter::kIs1024);
    set("peak", totals.peak_bytes, Counter::kDefaults, Counter::kIs1024);
    set("live", totals.live_bytes(), Counter::kDefaults, Counter::kIs1024);
    if (!is_judged_later) return;
    set(detail::objects_counter, totals.live_objects(), Counter::kDefaults, Counter::kIs1000);
    detail::remembered.scope_ended(rule_);
}

inline detail::benchmark_usage benchmark_scope::usage_of(
    const allocation_counts& totals) const noexcept {
    const double iterations = static_cast<double>(state_.iterations());
    detail::benchmark_usage used;
    used.allocations = static_cast<double>(totals.allocations) / iterations;
    used.bytes = static_cast<double>(totals.bytes_allocated) / iterations;
    used.peak_bytes = static_cast<double>(totals.peak_bytes);
    used.live_bytes = static_cast<double>(totals.live_bytes());
    used.live_objects = static_cast<double>(totals.live_objects());
    return used;
}

// Each thread for itself: nobody here sees the sums.
inline void benchmark_scope::judge_now(const allocation_counts& totals) {
    const char* slash = std::strrchr(rule_.file, '/');
    const std::string place = slash != nullptr ? slash + 1 : rule_.file;
    const std::string message =
        detail::judge(rule_, usage_of(totals), place + ':' + std::to_string(rule_.line));
    if (!message.empty()) state_.SkipWithError(message.c_str());
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <vector>

// google_benchmark_gate.hpp - a reporter before the reporter: leaks and broken limits fail the run.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// Passes runs on to another reporter, with what it needs to show them right:
// - a run that leaks or breaks a limit has become an error, with its numbers where the format shows
//   both; its aggregates are left out, as Google Benchmark leaves out those of its own errors;
// - the memory fields of JSON are filled from the run itself (all threads, every repetition);
// - `pad_errors`: runs that failed get the four counters, all 0. CSV needs that (it shows none of
//   them): its header has the columns of the first run, and a later column ends the program.
// While a gate exists, scopes do not fail runs themselves. Each reporter needs one: also that of
// --benchmark_out, or its file shows the inner counter of the scopes.
class benchmark_gate : public detail::reporter_base<benchmark::BenchmarkReporter>::type {
public:
    // The reporter must outlive the gate.
    explicit benchmark_gate(benchmark::BenchmarkReporter& reporter, bool pad_errors = false)
        : reporter_(reporter), pads_errors_(pad_errors) {
        ++detail::benchmark_gates;
    }
    ~benchmark_gate() { --detail::benchmark_gates; }
    benchmark_gate(const benchmark_gate&) = delete;
    benchmark_gate& operator=(const benchmark_gate&) = delete;

    // Reported runs that failed: ours and those of SkipWithError().
    std::size_t failures() const noexcept { return failures_; }

    // For Google Benchmark. Not each is virtual in each release: no `override`.
    bool ReportContext(const Context& context);
    void ReportRuns(const std::vector<Run>& runs);
    void ReportRunsConfig(double min_time, bool has_iterations,
                          benchmark::IterationCount iterations) {
        detail::forward_runs_config(reporter_, min_time, has_iterations, iterations, 0);
    }
    void Finalize() { reporter_.Finalize(); }

private:
    benchmark::BenchmarkReporter& listed() { return reporter_; }

    void judge_run(Run& run);

    benchmark::BenchmarkReporter& reporter_;
    bool pads_errors_;
    std::set<std::string> seen_;    // benchmarks of which a run was reported
    std::set<std::string> failed_;  // and of those, or their aggregates, one failed
    std::size_t failures_ = 0;
};

namespace detail {

inline double counter_of(const benchmark_run& run, const char* name) {
    const auto found = run.counters.find(name);
    return found != run.counters.end() ? found->second.value : 0;
}

inline benchmark_usage usage_of(const benchmark_run& run) {
    benchmark_usage used;
    used.allocations = counter_of(run, "allocs/op");
    used.bytes = counter_of(run, "bytes/op");
    used.peak_bytes = counter_of(run, "peak");
    used.live_bytes = counter_of(run, "live");
    used.live_objects = counter_of(run, objects_counter);
    return used;
}

inline bool has_scope(const benchmark_run& run) {
    return run.counters.find(objects_counter) != run.counters.end();
}

// A result that is not constructed: its constructor uses a constant that shared libraries of older
// releases do not export.
class memory_result {
public:
    using result_type = benchmark::MemoryManager::Result;
    static_assert(std::is_trivially_copyable<result_type>::value &&
                      std::is_trivially_destructible<result_type>::value,
                  "its bytes are its value");

    void fill_from(const benchmark_run& run) {
        const benchmark_usage used = usage_of(run);
        const double iterations = static_cast<double>(run.iterations);
        const auto rounded = [](double value) {
            return static_cast<benchmark::IterationCount>(std::llround(value));
        };
        get().num_allocs = rounded(used.allocations * iterations);
        get().max_bytes_used = rounded(used.peak_bytes);
        set_growth(get(), rounded(used.bytes * iterations), rounded(used.live_bytes), 0);
        set_iterations(get(), run.iterations, 0);
    }
    result_type& get() noexcept { return *reinterpret_cast<result_type*>(bytes_); }

private:
    alignas(result_type) unsigned char bytes_[sizeof(result_type)] = {};
};

// The coefficient of variation of numbers that are all 0: older releases print it as NaN, which is
// not JSON.
inline void set_nan_to_zero(benchmark_run& run) {
    for (auto& [name, counter] : run.counters) {
        if (std::isnan(counter.value)) counter.value = 0;
    }
}

inline void pad_counters(benchmark_run& run) {
    for (const char* name : {"allocs/op", "bytes/op", "peak", "live"}) {
        run.counters.insert({name, benchmark::Counter{}});
    }
}

}  // namespace detail

// definitions

inline bool benchmark_gate::ReportContext(const Context& context) {
    reporter_.SetOutputStream(&GetOutputStream());
    reporter_.SetErrorStream(&GetErrorStream());
    return reporter_.ReportContext(context);
}

// Aggregates are judged only where they are all that is reported of a benchmark
// (--benchmark_report_aggregates_only). They may come in a call of their own, after the runs.
inline void benchmark_gate::judge_run(Run& run) {
    const std::string name = run.run_name.str();
    const bool is_aggregate = run.run_type != Run::RT_Iteration;
    if (!is_aggregate) seen_.insert(name);
    const bool is_judged =
        !is_aggregate || (seen_.count(name) == 0 && run.aggregate_name == "mean");
    if (is_judged && !detail::run_has_no_numbers(run, 0) && detail::has_scope(run)) {
        const std::string message =
            detail::judge(detail::remembered.last_rule(), detail::usage_of(run), name);
        if (!message.empty()) detail::fail_run(run, message, 0);
    }
    if (detail::run_failed(run, 0)) {
        ++failures_;
        failed_.insert(name);
        if (pads_errors_) detail::pad_counters(run);
    }
    if (is_aggregate && detail::has_scope(run)) detail::set_nan_to_zero(run);
    run.counters.erase(detail::objects_counter);
}

inline void benchmark_gate::ReportRuns(const std::vector<Run>& runs) {
    std::vector<Run> judged{runs};
    std::vector<detail::memory_result> results(judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
        Run& run = judged[i];
        if (run.run_type == Run::RT_Iteration && detail::has_scope(run)) {
            results[i].fill_from(run);
            detail::set_memory_result(run, results[i].get());
            run.allocs_per_iter = detail::counter_of(run, "allocs/op");
        }
        judge_run(run);
    }
    // The statistics over runs of which one failed say nothing.
    std::vector<Run> shown;
    for (const Run& run : judged) {
        if (run.run_type == Run::RT_Iteration || detail::run_failed(run, 0) ||
            failed_.count(run.run_name.str()) == 0) {
            shown.push_back(run);
        }
    }
    if (!shown.empty()) reporter_.ReportRuns(shown);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <memory>

// google_benchmark_memory_manager.hpp - Google Benchmark's own memory fields, from our windows.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// Fills num_allocs, max_bytes_used, total_allocated_bytes and net_heap_growth. Google Benchmark
// calls the function once more for them, with up to 16 iterations on one thread.
//
// Where the function has a benchmark_scope, its numbers are taken: nothing but the loop. Otherwise
// all that the thread allocates in the pass, where releases up to 1.9.5 allocate one object of
// their own and call Setup and Teardown. Releases up to 1.9.1 keep pointers to results that have
// moved: with two repetitions or more their memory fields are wrong whoever fills them.
class benchmark_memory_manager : public benchmark::MemoryManager {
public:
    // Which of these are virtual differs between releases: no `override`.
    void Start();
    void Stop(Result& result) { fill(result); }
    void Stop(Result* result) { fill(*result); }

private:
    void fill(Result& result);

    std::unique_ptr<scope> window_;
};

namespace detail {

inline benchmark::IterationCount count_of(std::uint64_t value) noexcept {
    return static_cast<benchmark::IterationCount>(value);
}

}  // namespace detail

// definitions

inline void benchmark_memory_manager::Start() {
    const pause_recording not_of_the_benchmark;
    detail::memory_pass = {};
    detail::memory_pass.is_open = true;
    window_.reset(
        new scope{"benchmark memory pass", detail::options_of_benchmark(recording::counters)});
}

inline void benchmark_memory_manager::fill(Result& result) {
    const allocation_counts all = window_ ? window_->counts() : allocation_counts{};
    window_.reset();
    detail::memory_pass.is_open = false;
    const allocation_counts used = detail::memory_pass.had_scope ? detail::memory_pass.totals : all;
    result.num_allocs = detail::count_of(used.allocations);
    result.max_bytes_used = detail::count_of(used.peak_bytes);
    detail::set_growth(result, detail::count_of(used.bytes_allocated),
                       detail::count_of(used.live_bytes()), 0);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK)

#include <cstdlib>

// google_benchmark.hpp - allocations of benchmarks beside their times; leaks and limits as errors.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

// What BENCHMARK_MAIN does, with gates before the reporters. 0; 1 when a reported run failed or an
// argument is not known. To be called once, from main().
int run_benchmarks(int argc, char** argv);

namespace detail {

// The flags that say which reporters there will be. Google Benchmark does not tell.
struct benchmark_outputs {
    std::string format;       // --benchmark_format
    std::string file;         // --benchmark_out
    std::string file_format;  // --benchmark_out_format
};

inline std::string text_of_environment(const char* name, const char* otherwise) {
    const char* found = std::getenv(name);
    return found != nullptr ? found : otherwise;
}

inline void read_flag(const std::string& argument, const std::string& flag, std::string& value) {
    if (argument.compare(0, flag.size(), flag) == 0) value = argument.substr(flag.size());
}

// As Google Benchmark reads them: the environment, then the arguments, the last one counts.
inline benchmark_outputs read_outputs(int argc, char** argv) {
    benchmark_outputs found;
    found.format = text_of_environment("BENCHMARK_FORMAT", "console");
    found.file = text_of_environment("BENCHMARK_OUT", "");
    found.file_format = text_of_environment("BENCHMARK_OUT_FORMAT", "json");
    for (int i = 1; i < argc; ++i) {
        read_flag(argv[i], "--benchmark_format=", found.format);
        read_flag(argv[i], "--benchmark_out=", found.file);
        read_flag(argv[i], "--benchmark_out_format=", found.file_format);
    }
    return found;
}

// Null when there is no file.
inline std::unique_ptr<benchmark::BenchmarkReporter> file_reporter_of(
    const benchmark_outputs& outputs) {
    std::unique_ptr<benchmark::BenchmarkReporter> made;
    if (outputs.file.empty()) return made;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of CSVReporter, which is the only one
    if (outputs.file_format == "csv") made.reset(new benchmark::CSVReporter);
#pragma GCC diagnostic pop
    if (outputs.file_format == "json") made.reset(new benchmark::JSONReporter);
    if (outputs.file_format == "console") {
        made.reset(new benchmark::ConsoleReporter(benchmark::ConsoleReporter::OO_None));
    }
    return made;
}

}  // namespace detail

// definitions

inline int run_benchmarks(int argc, char** argv) {
    const detail::benchmark_outputs outputs = detail::read_outputs(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;

    // A raw pointer in older releases, a unique_ptr in newer ones.
    const std::unique_ptr<benchmark::BenchmarkReporter> display{
        benchmark::CreateDefaultDisplayReporter()};
    const std::unique_ptr<benchmark::BenchmarkReporter> file = detail::file_reporter_of(outputs);
    benchmark_gate display_gate{*display, outputs.format == "csv"};
    std::unique_ptr<benchmark_gate> file_gate;
    if (file) file_gate.reset(new benchmark_gate{*file, outputs.file_format == "csv"});
    benchmark::RunSpecifiedBenchmarks(&display_gate, file_gate.get());
    benchmark::Shutdown();
    const bool has_failed =
        display_gate.failures() != 0 || (file_gate && file_gate->failures() != 0);
    return has_failed ? 1 : 0;
}

ALLOCSCOPE_NAMESPACE_END

// main() of a benchmark program.
#define ALLOCSCOPE_BENCHMARK_MAIN()                      \
    int main(int argc, char** argv) {                    \
        using namespace benchmark;                       \
        using namespace allocscope_older_benchmark;      \
        MaybeReenterWithoutASLR(argc, argv);             \
        return ::allocscope::run_benchmarks(argc, argv); \
    }                                                    \
    static_assert(true, "for the semicolon after ALLOCSCOPE_BENCHMARK_MAIN()")

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

#include <gtest/gtest.h>

// gtest_framework.hpp - what is GoogleTest's own: its names, its failures, the blocks in its tests.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline constexpr const char* gtest_runners[] = {
    "testing::internal::HandleExceptionsInMethodIfSupported",
    "testing::internal::HandleSehExceptionsInMethodIfSupported",
    "testing::Test::Run",
    "testing::TestInfo::Run",
    "testing::TestSuite::Run",
    "testing::internal::UnitTestImpl::RunAllTests",
    "testing::UnitTest::Run",
    "RUN_ALL_TESTS",
    nullptr};
inline constexpr const char* gtest_callers[] = {"testing::internal::TestFactoryImpl", nullptr};
inline constexpr framework_names gtest_names{"testing::", gtest_runners, gtest_callers,
                                             nullptr,     nullptr,       nullptr};

inline constexpr test_framework gtest_framework{
    own_leaks<gtest_names>(nullptr),
    true,
    [] { return "block"; },
    [] { return ::testing::Test::HasFailure(); },
    nullptr,
    [](const block_claim& claim, const check_result& found, bool) {
        if (found) return;
        const pause_recording quietly;
        ADD_FAILURE_AT(claim.file, claim.line) << found.message();
    }};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_GTEST_EXPECT_(check, ...) \
    ALLOCSCOPE_BLOCK_(&::allocscope::detail::gtest_framework, check, false, "", __VA_ARGS__)
// GTEST_FAIL_AT returns by itself in newer versions only. The switch keeps an `else` behind the
// block from being taken for one of this `if`.
#define ALLOCSCOPE_GTEST_ASSERT_(check, ...)                                                    \
    switch (0)                                                                                  \
    case 0:                                                                                     \
    default:                                                                                    \
        ALLOCSCOPE_BLOCK_(&::allocscope::detail::gtest_framework, check, true, "", __VA_ARGS__) \
    if (ALLOCSCOPE_BLOCK_NAME_(__LINE__).has_failed()) {                                        \
        GTEST_FAIL_AT(__FILE__, __LINE__) << ALLOCSCOPE_BLOCK_NAME_(__LINE__).message();        \
        return;                                                                                 \
    } else

// Nothing that is allocated in the block, by any thread, is alive at its end.
#define ALLOCSCOPE_EXPECT_NO_LEAKS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, ::allocscope::threads::all)
#define ALLOCSCOPE_ASSERT_NO_LEAKS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, ::allocscope::threads::all)
#define ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, ::allocscope::threads::current)
#define ALLOCSCOPE_ASSERT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, ::allocscope::threads::current)

#define ALLOCSCOPE_EXPECT_NO_ALLOCATIONS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without, ::allocscope::forbidden::allocations)
#define ALLOCSCOPE_ASSERT_NO_ALLOCATIONS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without, ::allocscope::forbidden::allocations)

// `most` is any integer; a negative one is refused by name.
#define ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_EXPECT_WITHIN_BUDGET(::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_ASSERT_WITHIN_BUDGET(::allocscope::detail::allocations_at_most(most))

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_EXPECT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, __VA_ARGS__)
#define ALLOCSCOPE_ASSERT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

#include <memory>

// gtest_listener.hpp - measures each test of GoogleTest, and each suite if wanted.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

struct gtest_leak_options {
    leak_options leaks;          // what every test may leave alive; texts must stay valid
    bool checks_tests = true;    // each test by itself
    bool checks_suites = false;  // each suite from SetUpTestSuite to TearDownTestSuite
    int warm_up_iterations = 0;  // of --gtest_repeat: not judged, so that caches are filled
};

namespace detail {

// GoogleTest has no public way to run a test again. What is private can be named where a template
// is instantiated explicitly; these two members are as old as GoogleTest.
template <::testing::internal::TestFactoryBase* const ::testing::TestInfo::*factory,
          void (::testing::Test::*run)()>
struct gtest_privates {
    friend ::testing::Test* make_gtest_fixture(const ::testing::TestInfo& test) {
        return (test.*factory)->CreateTest();
    }
    friend void run_gtest_fixture(::testing::Test& made) { (made.*run)(); }
};
template struct gtest_privates<&::testing::TestInfo::factory_, &::testing::Test::Run>;
::testing::Test* make_gtest_fixture(const ::testing::TestInfo& test);
void run_gtest_fixture(::testing::Test& made);

// One window of the listener, a test's or a suite's.
class gtest_window {
public:
    void open(std::string name, const leak_options& wanted) {
        name_ = static_cast<std::string&&>(name);
        wanted_ = &wanted;
        leaks_.emplace(name_.c_str(), wanted, own_leaks<gtest_names>(wanted_));
    }
    void drop() { leaks_.reset(); }
    bool is_open() const noexcept { return leaks_.has_value(); }

    check_result close(said_of_leaks& said) {
        check_result found = leaks_->finish(limits(said));
        leaks_.reset();
        return found;
    }
    // As close(), but of a test that fills caches.
    check_result close_repeated(said_of_leaks& said, const ::testing::TestInfo& test) {
        if (leaks_->counts().live_objects() == 0) return close(said);
        leaks_.reset();
        return judge_repeated(
            name_.c_str(), limits(said), own_leaks<gtest_names>(wanted_), [&test] {
                const std::unique_ptr<::testing::Test> made{make_gtest_fixture(test)};
                run_gtest_fixture(*made);
            });
    }

private:
    // Points into `said`.
    leak_options limits(said_of_leaks& said) const {
        const pause_recording pause;
        return said.add_to(*wanted_);
    }

    std::string name_;
    const leak_options* wanted_ = nullptr;
    std::optional<leak_check> leaks_;
};

}  // namespace detail

class gtest_leak_listener : public ::testing::EmptyTestEventListener {
public:
    // Throws std::invalid_argument as leak_check does, naming what is wrong with the options.
    ALLOCSCOPE_EXCEPTIONS_TAG explicit gtest_leak_listener(const gtest_leak_options& wanted = {})
        : wanted_(wanted) {
        detail::checked_tolerance(wanted.leaks);
        detail::check_expected(wanted.leaks.expected);
        detail::checked_count("gtest_leak_options", "warm_up_iterations",
                              wanted.warm_up_iterations);
    }

    // What the last test was found to be; has not passed when none was judged.
    const check_result& last_result() const noexcept { return last_; }

    void OnTestProgramStart(const ::testing::UnitTest&) override {
        SUCCEED();  // the first result of all makes GoogleTest allocate what it keeps for good
        detail::hide_runners(detail::gtest_names);
        refuse_without_hooks();
    }

    void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
        is_warm_ = iteration >= wanted_.warm_up_iterations;
    }

    void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_ = detail::said_of_leaks{};
        detail::test_that_runs.begin();
        if (wanted_.checks_suites && can_judge()) suite_.open(suite.name(), wanted_.leaks);
    }

    void OnTestStart(const ::testing::TestInfo& test) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.take());  // of SetUpTestSuite
        if (!wanted_.checks_tests || !can_judge()) return;
        test_.open(std::string{test.test_suite_name()} + '.' + test.name(), wanted_.leaks);
    }

    void OnTestEnd(const ::testing::TestInfo& test) override {
        detail::said_of_leaks said = take_said();
        if (!test_.is_open()) return;
        if (said.is_ignored() || has_end_of_its_own(test)) return test_.drop();
        if (said.is_repeated() || wanted_.leaks.only_repeated_leaks) {
            last_ = test_.close_repeated(said, test);
            detail::test_that_runs.take();  // what it said has been heard
            if (has_end_of_its_own(test)) return;
        } else {
            last_ = test_.close(said);
        }
        const pause_recording pause;
        if (!last_) ADD_FAILURE_AT(test.file(), test.line()) << last_.message();
    }

    void OnTestSuiteEnd(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.end());  // of TearDownTestSuite
        if (!suite_.is_open()) return;
        // What a skipped test left behind is in the suite's window, too, and so are the caches of
        // one that is repeated.
        if (suite_said_.is_ignored() || suite_said_.is_repeated() ||
            wanted_.leaks.only_repeated_leaks || suite.Failed() ||
            suite.skipped_test_count() != 0) {
            return suite_.drop();
        }
        const check_result found = suite_.close(suite_said_);
        if (found) return;
        const ::testing::TestInfo& first = *suite.GetTestInfo(0);
        ADD_FAILURE_AT(first.file(), first.line()) << found.message();
    }

private:
    // Once, and as a failure outside any test: the exit code is then 1.
    void refuse_without_hooks() {
        const char* refusal = detail::engine_refusal(detail::find_engine());
        is_refused_ = refusal[0] != '\0';
        if (is_refused_) ADD_FAILURE() << "allocscope: no test is checked for leaks: " << refusal;
    }
    bool can_judge() const noexcept { return is_warm_ && !is_refused_; }
    detail::said_of_leaks take_said() {
        const pause_recording pause;
        detail::said_of_leaks said = detail::test_that_runs.take();
        suite_said_.add(said);
        return said;
    }
    static bool has_end_of_its_own(const ::testing::TestInfo& test) {
        return test.result()->Failed() || test.result()->Skipped();
    }

    gtest_leak_options wanted_;
    bool is_refused_ = false;
    bool is_warm_ = true;
    detail::gtest_window test_;
    detail::gtest_window suite_;
    detail::said_of_leaks suite_said_;
    check_result last_;
};

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline bool check_every_gtest_test(
    const gtest_leak_options& wanted = {}) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new gtest_leak_listener{wanted});
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// For programs that get their main from GoogleTest: in one .cpp, at namespace scope. An argument is
// the gtest_leak_options.
#define ALLOCSCOPE_GTEST_CHECK_EVERY_TEST(...)                     \
    [[maybe_unused]] static const bool allocscope_gtest_is_there = \
        ::allocscope::detail::check_every_gtest_test(__VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

// gtest.hpp - GoogleTest: every test must free what it allocated, and blocks keep to budgets.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_HPP

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

// text_sink.hpp - where a finished report goes: a path, a descriptor, a stdio file.

#ifndef ALLOCSCOPE_REPORT_TEXT_SINK_HPP
#define ALLOCSCOPE_REPORT_TEXT_SINK_HPP

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

// Each returns true and leaves `error` alone, or returns false and says why in it.
inline bool put_report(text report, const char* path, std::string& error) {
    if (path == nullptr) {
        error = report_problem("a null path", "a path is needed");
        return false;
    }
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(report.data(), report.size());
    if (failure == 0) failure = out.commit();
    if (failure == 0) return true;
    arena memory;
    text_out target{memory};
    target << '\'';
    write_printable(target, path);
    target << '\'';
    error = report_problem(target.c_str(), failure);
    return false;
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

// text_report.hpp - a snapshot for a person to read: head, rows in columns, what was lost.

#ifndef ALLOCSCOPE_REPORT_TEXT_REPORT_HPP
#define ALLOCSCOPE_REPORT_TEXT_REPORT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A path names a descriptor (/dev/stdout), or something that is not laid out for a terminal.
inline int descriptor_of(const char* path) {
    return path != nullptr ? descriptor_named_by(path) : -1;
}
inline int descriptor_of(int descriptor) {
    return descriptor;
}
inline int descriptor_of(std::FILE* file) {
    return file != nullptr ? ::fileno(file) : -1;
}

template <class Target>
bool put_text(const snapshot& rows, Target target, std::string& error, const text_options& wanted) {
    arena memory;
    text_out report{memory};
    write_report(report, rows, wanted, descriptor_of(target));
    return put_report(report.view(), target, error);
}

// The same, with running out of memory as one more reason not to write.
template <class Target>
bool try_put_text(const snapshot& rows, Target target, std::string& error,
                  const text_options& wanted) {
    const pause_recording quietly;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return put_text(rows, target, error, wanted);
#else
    try {
        return put_text(rows, target, error, wanted);
    } catch (const std::exception& problem) {
        error = problem.what();
        return false;
    }
#endif
}

template <class Target>
void put_text_or_throw(const snapshot& rows, Target target, const text_options& wanted) {
    const pause_recording quietly;
    std::string error;
    if (!put_text(rows, target, error, wanted)) raise_report_error(error);
}

}  // namespace detail

// The report as it would stand in a file: not cut and not coloured unless `wanted` says so.
inline std::string to_text(const snapshot& rows, const text_options& wanted = {}) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out report{memory};
    detail::write_report(report, rows, wanted, -1);
    return {report.view().data(), report.size()};
}

// To a path: a new file (mode 0600) takes the place of what was there. A path that is not a file
// (/dev/stdout, /dev/null, a FIFO with a reader) is written to.
inline void write_text(const snapshot& rows, const char* path, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, path, wanted);
}

// To an open descriptor, which stays open.
inline void write_text(const snapshot& rows, int descriptor, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, descriptor, wanted);
}

// To a stdio file, which is flushed and stays open.
inline void write_text(const snapshot& rows, std::FILE* file, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, file, wanted);
}

// To a stream, behind what was written to it before; as it would stand in a file.
template <class Traits>
void write_text(const snapshot& rows, std::basic_ostream<char, Traits>& stream,
                const text_options& wanted = {}) {
    detail::arena memory;
    detail::text_out report{memory};
    detail::write_report(report, rows, wanted, -1);
    stream.write(report.view().data(), static_cast<std::ptrdiff_t>(report.size()));
}

// The same without exceptions: false, and why in `error`.
inline bool write_text(const snapshot& rows, const char* path, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, path, error, wanted);
}
inline bool write_text(const snapshot& rows, int descriptor, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, descriptor, error, wanted);
}
inline bool write_text(const snapshot& rows, std::FILE* file, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, file, error, wanted);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_REPORT_HPP

// report.hpp - the door to the writers: a snapshot as text.

#ifndef ALLOCSCOPE_REPORT_HPP
#define ALLOCSCOPE_REPORT_HPP

#endif  // ALLOCSCOPE_REPORT_HPP

#endif  // ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING
