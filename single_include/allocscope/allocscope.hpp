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
    inline namespace v0 {
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
    current  // only with what the thread that opened it allocates; frees count whoever makes them
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
    // bytes more than were requested. Of windows open at the same time all profit from the finest.
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
#define ALLOCSCOPE_ABI_VERSION 1

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

// What a call for a window's rows does besides.
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
    // Options are valid when this is called. 0: no memory for a window.
    window_id (*open_window)(const char* name, const options& wanted);
    void (*close_window)(window_id window);
    allocation_counts (*counts)(window_id window);
    // One reference is handed over; null when there is no such window.
    snapshot_data* (*stats)(window_id window, after_stats then);
    // The process-wide window of start/stats/stop.
    void (*start)(const options& wanted);
    snapshot_data* (*process_stats)(after_stats then);
    // +1: what this thread allocates from now on is charged to nobody; -1: takes one +1 back.
    void (*pause)(int change);
    // Adds a pattern to the library frames. "" or why it was refused.
    const char* (*library_frames)(const char* pattern);
    // One reference is handed over; null when there was no memory for the result.
    check_data* (*check)(const check_request& asked);
    // False: a line is not understood, and the message says which. `room` is 128 at least.
    bool (*check_expected_leaks)(const char* lines, char* message, std::size_t room);
    // Writes a text report with `head` before it; 0 or an errno value.
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

// The request that asks for the engine. The size is odd on purpose: nobody asks for it by chance,
// and a tag of another origin is then still told apart by its magic number.
constexpr std::size_t handshake_size = 421;
constexpr std::align_val_t handshake_alignment = static_cast<std::align_val_t>(128);
constexpr std::uint64_t handshake_magic = 0xa110c5c09e5afe01U;

struct handshake_tag : std::nothrow_t {
    std::uint64_t magic = handshake_magic;
    const engine* answer = nullptr;
};

// The process's engine, or null when `operator new` is not ours. About 10 ns; not cached, so that
// a plugin that brings the hooks is found as soon as it is loaded.
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

// check_request.hpp - what a window is asked to have kept to.

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
    allocated_rows,  // nothing is judged: the rows of what was allocated, freed since or not
    judged           // by the caller: the evidence is saved, with `headline` above `rows`
};

struct check_request {
    check_kind kind = check_kind::budget;
    after_stats then = after_stats::go_on;
    check_limits limits;
    const char* expected = "";  // leaks that are none, see verdict/leak_patterns.hpp
    // The same, asked for each stack with what is said here.
    bool (*is_expected)(const leak_stack& stack, const void* context) = nullptr;
    const void* expected_context = nullptr;

    window_id window = 0;  // 0: it has ended, and the two below are what it left behind
    allocation_counts counts;
    const snapshot* rows = nullptr;

    // repeated_leaks: the least that any run added, and how many runs there were.
    std::uint64_t runs = 0;
    std::uint64_t added_objects = 0;
    std::uint64_t added_bytes = 0;

    // As is_expected, asked first, with what leak_options::is_expected_by_symbols says.
    bool (*is_expected_by_symbols)(const leak_stack& stack, const void* context) = nullptr;

    // judged: what is wrong, and whose name the file gets.
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
    // `space` need not be initialised; no zero byte is put at the end.
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

    // All of it or nothing.
    void append(const char* bytes, std::size_t length) noexcept {
        if (length > room()) {
            was_cut_ = true;
            return;
        }
        for (std::size_t i = 0; i < length; ++i) space_[size_ + i] = bytes[i];
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
             {}},
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
    const snapshot* rows;  // as long as the result lives; null: none
};

constexpr check_data constant_check(const char* message) noexcept {
    return {0, false, nullptr, message, "", {}, 0, 0, nullptr};
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
    ALLOCSCOPE_EXCEPTIONS_TAG explicit scope(const char* name = "", const options& wanted = {});
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
    pause_recording() noexcept;
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
    ALLOCSCOPE_EXCEPTIONS_TAG budget_guard(const char* name, const allocation_budget& budget,
                                           on_violation wanted_action = on_violation::report(),
                                           const options& wanted = {})
        : limits_(detail::checked_limits(budget)), action_(wanted_action), window_(name, wanted) {}
    ALLOCSCOPE_EXCEPTIONS_TAG explicit budget_guard(
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

// What a guard is told of.
struct watched_event {
    bool is_free;
    std::uint64_t bytes;
    const std::uintptr_t* frames;  // return addresses, innermost first
    std::uint32_t frame_count;
};

struct guard_watch {
    // Filled by measure/.
    const char* name = "";  // used while it is armed only
    bool watches_frees = false;
    void* context = nullptr;  // of the two below
    // Called at the first violation, outside of any lock, with a result that stays the guard's. May
    // allocate; that is no violation. True: `raise` is to be called as well.
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

// --- a plan which allocations fail ---

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
    ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_allocation(detail::typed_number nth,
                                                       detail::typed_number times = 1,
                                                       threads from = threads::current);
};

// Whatever would go beyond so many bytes fails. What is freed is not given back: it is the sum of
// all requests.
class fail_after_bytes : public injected_fault {
public:
    ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_after_bytes(detail::typed_number bytes,
                                                        threads from = threads::current);
};

// Each allocation fails with this probability (0 to 1). The same seed makes the same allocations
// fail again, as long as one thread makes them in the same order.
class fail_randomly : public injected_fault {
public:
    ALLOCSCOPE_EXCEPTIONS_TAG fail_randomly(double probability, std::uint64_t seed,
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
    // For those whose is_expected would be asked in every test, as an adapter's is: asked before it
    // with function names only, as the symbol tables have them, which spares a process the 30 ms of
    // reading its debug information. No file, line or type is known then, and code that the
    // compiler inlined is in the function around it. What gets a no is asked again with all names.
    bool (*is_expected_by_symbols)(const leak_stack& stack, const void* context) = nullptr;
    options window = {};                    // whose allocations, and how deep the stacks are
    detail::typed_number warm_up_runs = 1;  // repeat(): runs before the first that counts
};

class leak_check {
public:
    // Starts. Throws std::invalid_argument when a tolerance is negative, a line of `expected` is
    // not understood, or the window's options are out of range (-fno-exceptions: prints it and
    // aborts).
    ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_check(const char* name = "leak check",
                                                  const leak_options& wanted = {});
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
    check_result judge(detail::after_stats then) const;
    friend class leak_repetition;

    leak_options wanted_;
    detail::check_limits limits_;
    scope window_;
    bool is_finished_ = false;
};

// The arithmetic of repeat(), for those who drive the loop themselves (as test frameworks do):
// warm up, construct, and call end_of_run() after each run.
class leak_repetition {
public:
    ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_repetition(const char* name = "leak check",
                                                       const leak_options& wanted = {})
        : leaks_(name, wanted) {}
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
    ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_guard(
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

inline leak_check::leak_check(const char* name, const leak_options& wanted)
    : wanted_(wanted), limits_(detail::checked_tolerance(wanted)), window_(name, wanted.window) {}

inline check_result leak_check::judge(detail::after_stats then) const {
    if (is_finished_) return check_result{};
    detail::check_request asked;
    asked.kind = detail::check_kind::leaks;
    asked.then = then;
    asked.limits = limits_;
    asked.expected = wanted_.expected;
    asked.is_expected = wanted_.is_expected;
    asked.expected_context = wanted_.expected_context;
    asked.is_expected_by_symbols = wanted_.is_expected_by_symbols;
    detail::scope_reader::describe(window_, asked);
    return detail::ask_engine(detail::scope_reader::engine_of(window_), asked);
}

inline check_result leak_check::finish() {
    if (is_finished_) return check_result{};
    const check_result found = judge(detail::after_stats::end);
    is_finished_ = true;
    detail::scope_reader::end(window_, found.counts());
    return found;
}

inline check_result leak_check::finish(const leak_options& instead) {
    limits_ = detail::checked_tolerance(instead);
    wanted_ = instead;
    return finish();
}

inline void leak_repetition::end_of_run() {
    detail::check_request asked;
    asked.kind = detail::check_kind::repeated_leaks;  // counts only
    asked.limits = leaks_.limits_;
    asked.expected = leaks_.wanted_.expected;
    asked.is_expected = leaks_.wanted_.is_expected;
    asked.expected_context = leaks_.wanted_.expected_context;
    asked.is_expected_by_symbols = leaks_.wanted_.is_expected_by_symbols;
    detail::scope_reader::describe(leaks_.window_, asked);
    const check_result now =
        detail::ask_engine(detail::scope_reader::engine_of(leaks_.window_), asked);
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
    detail::check_request asked;
    asked.kind = detail::check_kind::repeated_leaks;
    asked.then = detail::after_stats::end;
    asked.limits = leaks_.limits_;
    asked.expected = leaks_.wanted_.expected;
    asked.is_expected = leaks_.wanted_.is_expected;
    asked.expected_context = leaks_.wanted_.expected_context;
    asked.is_expected_by_symbols = leaks_.wanted_.is_expected_by_symbols;
    asked.runs = runs_;
    asked.added_objects = least_objects_ > 0 ? static_cast<std::uint64_t>(least_objects_) : 0;
    asked.added_bytes = least_bytes_ > 0 ? static_cast<std::uint64_t>(least_bytes_) : 0;
    detail::scope_reader::describe(leaks_.window_, asked);
    leaks_.is_finished_ = true;
    const check_result found =
        detail::ask_engine(detail::scope_reader::engine_of(leaks_.window_), asked);
    detail::scope_reader::end(leaks_.window_, found.counts());
    return found;
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
    explicit no_allocation_guard(const char* name = "no allocations",
                                 on_violation wanted_action = on_violation::report(),
                                 forbidden what = forbidden::allocations);
    explicit no_allocation_guard(on_violation wanted_action,
                                 forbidden what = forbidden::allocations)
        : no_allocation_guard("no allocations", wanted_action, what) {}
    no_allocation_guard(const char* name, forbidden what)
        : no_allocation_guard(name, on_violation::report(), what) {}

    // Without the hooks nothing can be watched: the action is taken with a result that says so.
    // A guard with throw_error() that was broken reports, unless finish() was called.
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
    allow_allocations() noexcept : engine_(detail::usable_engine()) {
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
    const check_result found = look(true);
    if (!was_told) action_.act_in_destructor(found);
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

// A window of counters has numbers and no rows: without this line its leaks would print nothing.
template <class Writer>
void print_counters(Writer& line, const snapshot::window_info& info) {
    line.name("allocscope: ");
    line.number(info.totals.live_objects(), info.is_difference, 0, '\0');
    line.name(" objects with ");
    line.number(info.totals.live_bytes(), info.is_difference, 0, '\0');
    line.name(" bytes are alive; a window that records counters only has no rows");
    line.end_line();
}

// The rows could not be had, but what is alive was counted.
template <class Writer>
void print_alive(Writer& line, const snapshot::window_info& info) {
    const char mark = info.record == recording::sampled ? '~' : '\0';
    line.name("allocscope: ");
    line.number(info.totals.live_objects(), info.is_difference, 0, mark);
    line.name(" objects with ");
    line.number(info.totals.live_bytes(), info.is_difference, 0, mark);
    line.name(" bytes are alive");
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
        detail::print_counters(line, info);
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

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <deque>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// code_location.hpp - what is known about one code address: module, symbol, logical frames.

#ifndef ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP
#define ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct code_frame {
    std::string function;      // demangled; "" when unknown
    std::string linkage_name;  // as the linker knows it; "" when the debug information has none
    std::string file;          // with its directory, as the debug information has it; "" unknown
    int line = 0;              // 0: unknown
    int column = 0;
    bool is_inlined = false;
};

struct code_location {
    std::uint64_t address = 0;
    std::string module;               // path of the program or library; "" when in none
    std::uint64_t module_offset = 0;  // address as linked, what addr2line and objdump call it
    std::string symbol;               // demangled function of .symtab or .dynsym; "" unknown
    std::uint64_t symbol_offset = 0;  // distance from that function's start
    // Innermost first; at least one when a symbol or a line is known.
    std::vector<code_frame> frames;
};

// The headers of libstdc++ and libc++: everything in them is the library's, also a function whose
// scope the debug information does not tell.
inline bool is_standard_header(std::string_view file) noexcept {
    return file.find("/include/c++/") != std::string_view::npos;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

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

    // What begins at `offset`; nothing when that lies outside.
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
    std::uint64_t unsigned_of(unsigned width) noexcept {
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

    // Bits beyond the 64th are dropped; more than 16 bytes fail.
    std::uint64_t uleb() noexcept {
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
    std::int64_t sleb() noexcept {
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

    // A text that ends with a zero byte inside the bytes; "" on failure.
    const char* text() noexcept {
        const std::size_t left = remaining();
        const void* end = left == 0 ? nullptr : std::memchr(bytes_.data + at_, 0, left);
        if (end == nullptr) return ok_ = false, "";
        const std::uint8_t* start = bytes_.data + at_;
        at_ += static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - start) + 1;
        return reinterpret_cast<const char*>(start);
    }

    byte_view block(std::uint64_t length) noexcept {
        if (length > remaining()) return ok_ = false, byte_view{};
        const byte_view part = bytes_.part(at_, length);
        at_ += part.size;
        return part;
    }

private:
    static constexpr unsigned longest_leb = 16;

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

// Longer texts are no names; a section without any zero byte must not become one.
constexpr std::size_t longest_text = std::size_t{1} << 16;

// The text at `offset` of a string section; "" when there is none.
inline const char* text_at(byte_view section, std::uint64_t offset) noexcept {
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

// Two fingerprints that both exist and differ: the file is not what was loaded.
inline bool build_ids_disagree(const build_id& one, const build_id& other) noexcept {
    return one.known() && other.known() && !one.equals(other);
}

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

// dwarf_constants.hpp - the numbers of DWARF 2 to 5 that are looked at.

#ifndef ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP
#define ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
namespace dwarf {

constexpr std::uint16_t tag_class_type = 0x02;
constexpr std::uint16_t tag_enumeration_type = 0x04;
constexpr std::uint16_t tag_lexical_block = 0x0b;
constexpr std::uint16_t tag_structure_type = 0x13;
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

ALLOCSCOPE_NAMESPACE_BEGIN

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
inline int dwarf_fixed_bytes(std::uint16_t form, const dwarf_format& format) noexcept {
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
inline dwarf_value read_dwarf_value(byte_cursor& in, std::uint16_t form, const dwarf_format& format,
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_FORMS_HPP

// dwarf_units.hpp - the units of .debug_info, their abbreviations, and what their values stand for.

#ifndef ALLOCSCOPE_BINARY_DWARF_UNITS_HPP
#define ALLOCSCOPE_BINARY_DWARF_UNITS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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
inline bool read_dwarf_unit(byte_view info, std::uint64_t offset, dwarf_unit& unit) noexcept {
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

// Entry `index` of a table of fixed-size numbers; false when it lies outside.
inline bool read_dwarf_table(byte_view section, std::uint64_t base, std::uint64_t index,
                             unsigned width, std::uint64_t& number) noexcept {
    if (index > section.size) return false;  // keeps the product below from wrapping
    byte_cursor in{section, base};
    in.skip(index * width);
    number = in.unsigned_of(width);
    return in.ok();
}

// The text that a value stands for; "" when there is none or when it is in another file.
inline const char* dwarf_text(const dwarf_sections& sections, const dwarf_unit& unit,
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

inline bool dwarf_address(const dwarf_sections& sections, const dwarf_unit& unit,
                          const dwarf_value& value, std::uint64_t& address) noexcept {
    if (value.form == dwarf::form_addr) return address = value.number, true;
    return dwarf_form_is_address(value.form) &&
           read_dwarf_table(sections.addresses, unit.addresses_base, value.number,
                            unit.format.address_bytes, address);
}

// The .debug_info offset of the entry that a value refers to; 0 (never an entry) when it is none.
inline std::uint64_t dwarf_reference(const dwarf_unit& unit, const dwarf_value& value) noexcept {
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_UNITS_HPP

// dwarf_ranges.hpp - the address ranges of an entry: low/high, .debug_ranges or .debug_rnglists.

#ifndef ALLOCSCOPE_BINARY_DWARF_RANGES_HPP
#define ALLOCSCOPE_BINARY_DWARF_RANGES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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
                return;  // the end, or an entry that nobody can measure
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_RANGES_HPP

// address_ranges.hpp - many address ranges, each with a number; which of them hold an address?

#ifndef ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
#define ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct address_range {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // exclusive
    std::uint64_t value = 0;
    std::uint64_t highest = 0;  // set by finish()
};

class address_ranges {
public:
    void add(std::uint64_t low, std::uint64_t high, std::uint64_t value) {
        if (low < high) ranges_.push_back(address_range{low, high, value, 0});
    }

    // To be called once, after the last add() and before the first search.
    void finish() {
        std::stable_sort(
            ranges_.begin(), ranges_.end(),
            [](const address_range& a, const address_range& b) { return a.low < b.low; });
        std::uint64_t highest = 0;
        for (address_range& range : ranges_) {
            highest = std::max(highest, range.high);
            range.highest = highest;
        }
    }

    // The narrowest range that holds the address; among equals the one added last. Null: none.
    const address_range* find(std::uint64_t address) const {
        std::size_t first = 0;
        std::size_t last = ranges_.size();
        while (first < last) {  // the first range that begins after the address
            const std::size_t middle = first + (last - first) / 2;
            if (ranges_[middle].low <= address) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        const address_range* best = nullptr;
        for (int steps = 0; first > 0 && steps < most_steps; ++steps) {
            const address_range& range = ranges_[--first];
            if (range.highest <= address) break;
            if (range.high <= address) continue;
            if (best == nullptr || range.high - range.low < best->high - best->low) best = &range;
        }
        return best;
    }

    bool empty() const { return ranges_.empty(); }
    std::size_t size() const { return ranges_.size(); }

private:
    // Honest ranges nest a few deep; a file made to slow us down stops being searched here.
    static constexpr int most_steps = 4096;

    std::vector<address_range> ranges_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

// debug_entries.hpp - walking the entries of one unit of debug information.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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
    abbreviation_table() = default;

    // `only_code` other than 0: nothing but that abbreviation, found within the budget.
    abbreviation_table(detail::byte_view section, const detail::dwarf_unit& unit,
                       std::uint64_t only_code = 0, step_budget* budget = nullptr) {
        builder build{*this, unit.format, only_code, budget};
        detail::visit_dwarf_abbreviations(section, unit.abbreviations, build);
        const auto by_code = [](const abbreviation& a, const abbreviation& b) {
            return a.code < b.code;
        };
        if (!std::is_sorted(shapes_.begin(), shapes_.end(), by_code)) {
            std::stable_sort(shapes_.begin(), shapes_.end(), by_code);
        }
    }

    const abbreviation* find(std::uint64_t code) const {
        // Compilers number from 1 without gaps.
        if (code - 1 < shapes_.size() && shapes_[code - 1].code == code) {
            return &shapes_[code - 1];
        }
        const auto at = std::lower_bound(
            shapes_.begin(), shapes_.end(), code,
            [](const abbreviation& shape, std::uint64_t wanted) { return shape.code < wanted; });
        return at != shapes_.end() && at->code == code ? &*at : nullptr;
    }

    const detail::dwarf_attribute* attributes(const abbreviation& shape) const {
        return attributes_.data() + shape.first_attribute;
    }

private:
    struct builder {
        abbreviation_table& table;
        const detail::dwarf_format& format;
        std::uint64_t only_code;
        step_budget* budget;
        abbreviation shape = {};

        bool begin(std::uint64_t code, std::uint16_t tag, bool has_children) {
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

    std::vector<abbreviation> shapes_;
    std::vector<detail::dwarf_attribute> attributes_;
};

// Steps from entry to entry in the order of the bytes. An empty entry, which ends a list of
// children, is passed with a null shape.
class entry_walker {
public:
    entry_walker(const detail::dwarf_sections& sections, const detail::dwarf_unit& unit,
                 const abbreviation_table& table, std::uint64_t offset)
        : unit_(unit), table_(table), in_(sections.info.part(0, unit.end), offset) {}

    bool next() {
        if (shape_ != nullptr) {
            skip_values();
            if (shape_->has_children) ++next_depth_;
        }
        shape_ = nullptr;
        if (in_.at_end()) return false;
        offset_ = in_.at();
        const std::uint64_t code = in_.uleb();
        depth_ = next_depth_;
        are_values_read_ = false;
        if (code == 0) {
            --next_depth_;
            return in_.ok();
        }
        shape_ = table_.find(code);
        return in_.ok() && shape_ != nullptr;
    }

    std::uint64_t offset() const { return offset_; }
    const abbreviation* shape() const { return shape_; }
    // 0 for the first entry, 1 for its children. The empty entry after children has their depth.
    std::int64_t depth() const { return depth_; }

    // `visit(attribute name, value)`, once per entry.
    template <class Visitor>
    void values(Visitor&& visit) {
        if (are_values_read_) return;
        are_values_read_ = true;
        const detail::dwarf_attribute* attribute = table_.attributes(*shape_);
        for (std::size_t i = 0; i < shape_->attribute_count && in_.ok(); ++i, ++attribute) {
            const detail::dwarf_value value = detail::read_dwarf_value(
                in_, attribute->form, unit_.format, attribute->implicit_value);
            if (in_.ok()) visit(attribute->name, value);
        }
    }

private:
    void skip_values() {
        if (are_values_read_) return;
        if (shape_->is_fixed) {
            in_.skip(shape_->fixed_bytes);
        } else {
            values([](std::uint16_t, const detail::dwarf_value&) {});
        }
    }

    const detail::dwarf_unit& unit_;
    const abbreviation_table& table_;
    detail::byte_cursor in_;
    const abbreviation* shape_ = nullptr;
    std::uint64_t offset_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t next_depth_ = 0;
    bool are_values_read_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

// elf_image.hpp - the header of an ELF file and its table of sections.

#ifndef ALLOCSCOPE_BINARY_ELF_IMAGE_HPP
#define ALLOCSCOPE_BINARY_ELF_IMAGE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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

// Entry `index` of a section table whose entries are `stride` bytes apart; all zero when outside.
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_ELF_IMAGE_HPP

// file_reader.hpp - a regular file, opened for positioned reads.

#ifndef ALLOCSCOPE_PLATFORM_FILE_READER_HPP
#define ALLOCSCOPE_PLATFORM_FILE_READER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What tells one file from another, or from its own later content.
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

    // Reads up to `count` bytes; fewer mean that the file ended or cannot be read.
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

// object_bytes.hpp - the bytes of one ELF file: its sections, each read when it is asked for.

#ifndef ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
#define ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A block of bytes that is not cleared before it is filled.
struct owned_bytes {
    std::unique_ptr<std::uint8_t[]> data;
    std::size_t size = 0;
    detail::byte_view view() const { return detail::byte_view{data.get(), size}; }
};

struct named_section {
    const char* name;
    detail::elf_section section;
};

class object_bytes {
public:
    object_bytes() = default;

    // Everything is read from `file`, which must stay.
    explicit object_bytes(detail::byte_view file) : memory_(file), file_bytes_(file.size) {
        read_tables();
    }

    explicit object_bytes(std::string path) : path_(std::move(path)) {
        const detail::file_reader file{path_.c_str()};
        if (!file.is_open() || file.identity().size_bytes > largest_file) return;
        identity_ = file.identity();
        file_bytes_ = identity_.size_bytes;
        read_tables();
    }

    bool is_readable() const { return header_.is_valid; }
    const detail::build_id& id() const { return id_; }
    const std::vector<named_section>& sections() const { return sections_; }
    // As linked; 0 when there is no code.
    std::uint64_t lowest_code() const { return lowest_code_; }

    const detail::elf_section* find(const char* name) const {
        for (const named_section& candidate : sections_) {
            if (std::strcmp(candidate.name, name) == 0) return &candidate.section;
        }
        return nullptr;
    }

    // Compressed sections are not read: their names are then simply not known.
    owned_bytes read(const detail::elf_section* section) const {
        if (section == nullptr || section->type == detail::elf_section_no_bytes ||
            (section->flags & detail::elf_section_compressed) != 0) {
            return owned_bytes{};
        }
        return read(section->offset, section->size);
    }
    owned_bytes read(const char* name) const { return read(find(name)); }

private:
    static constexpr std::uint64_t largest_file = std::uint64_t{2} << 30;
    static constexpr std::uint64_t largest_read = std::uint64_t{1} << 30;

    owned_bytes read(std::uint64_t offset, std::uint64_t size) const {
        owned_bytes bytes;
        if (size == 0 || size > largest_read || offset > file_bytes_ ||
            size > file_bytes_ - offset) {
            return bytes;
        }
        const std::size_t count = size;
        bytes.data.reset(new (std::nothrow) std::uint8_t[count]);
        if (bytes.data == nullptr) return bytes;
        if (path_.empty()) {
            std::memcpy(bytes.data.get(), memory_.data + offset, count);
            bytes.size = count;
            return bytes;
        }
        const detail::file_reader file{path_.c_str()};
        if (file.is_open() && file.identity().equals(identity_) &&
            file.read_at(offset, bytes.data.get(), count) == count) {
            bytes.size = count;
        } else {
            bytes.data.reset();
        }
        return bytes;
    }

    void read_tables() {
        const owned_bytes start = read(0, detail::elf_header_bytes);
        header_ = detail::read_elf_header(start.view());
        if (!header_.is_valid) return;
        const owned_bytes first = read(header_.sections_offset, detail::elf_section_bytes);
        const detail::elf_section zero =
            detail::read_elf_section(first.view(), 0, detail::elf_section_bytes);
        std::uint64_t count = header_.section_count == 0 ? zero.size : header_.section_count;
        if (count > file_bytes_ / header_.section_bytes) return;
        const owned_bytes table = read(header_.sections_offset, count * header_.section_bytes);
        count = table.size / header_.section_bytes;
        const std::uint64_t names_section =
            header_.names_section == 0xffff ? zero.link : header_.names_section;
        const auto entry = [&](std::uint64_t index) {
            return detail::read_elf_section(table.view(), index, header_.section_bytes);
        };
        const detail::elf_section names = entry(names_section);
        names_ = read(&names);
        sections_.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const detail::elf_section section = entry(i);
            sections_.push_back(
                named_section{detail::text_at(names_.view(), section.name), section});
        }
        find_lowest_code();
        find_id();
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

    void find_id() {
        for (const named_section& candidate : sections_) {
            if (candidate.section.type != detail::elf_section_notes) continue;
            if (candidate.section.size > largest_note) continue;
            const owned_bytes notes = read(&candidate.section);
            id_ = detail::find_build_id(notes.view());
            if (id_.known()) return;
        }
    }

    static constexpr std::uint64_t largest_note = 1 << 20;

    std::string path_;  // "": memory_ is the file
    detail::byte_view memory_;
    std::uint64_t file_bytes_ = 0;
    detail::file_identity identity_;
    detail::elf_header header_;
    detail::build_id id_;
    std::uint64_t lowest_code_ = 0;
    owned_bytes names_;
    std::vector<named_section> sections_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

// debug_units.hpp - which unit of the debug information describes an address.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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
    std::vector<entry_scope> scopes;
};

class debug_units {
public:
    void build(const object_bytes& object) {
        static_assert(sizeof(bytes_) / sizeof(bytes_[0]) == 9, "one block for each section");
        const char* const names[] = {".debug_info",     ".debug_abbrev",   ".debug_str",
                                     ".debug_line",     ".debug_line_str", ".debug_ranges",
                                     ".debug_rnglists", ".debug_addr",     ".debug_str_offsets"};
        detail::byte_view* const views[] = {
            &sections_.info,        &sections_.abbreviations, &sections_.strings,
            &sections_.lines,       &sections_.line_strings,  &sections_.ranges,
            &sections_.range_lists, &sections_.addresses,     &sections_.string_offsets};
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < 9; ++i) {
            const detail::elf_section* section = object.find(names[i]);
            if (section == nullptr || section->size > most_bytes - total) continue;
            bytes_[i] = object.read(section);
            *views[i] = bytes_[i].view();
            total += bytes_[i].size;
        }
        lowest_code_ = object.lowest_code();
        step_budget budget{fresh_budget()};
        step_budget abbreviation_budget{65536 + std::uint64_t{4} * sections_.abbreviations.size};
        std::uint64_t offset = 0;
        while (offset < sections_.info.size) {
            debug_unit unit;
            if (!detail::read_dwarf_unit(sections_.info, offset, unit.header)) break;
            offset = unit.header.end;
            if (unit.header.first_entry < unit.header.end) {
                read_first_entry(unit, budget, abbreviation_budget);
                units_.push_back(std::move(unit));
            }
        }
        by_address_.finish();
    }

    const detail::dwarf_sections& sections() const { return sections_; }
    bool empty() const { return units_.empty(); }

    // The unit that covers an address as linked; null: none.
    debug_unit* unit_at(std::uint64_t address) {
        const address_range* range = by_address_.find(address);
        return range == nullptr ? nullptr : load(static_cast<std::size_t>(range->value));
    }

    // The unit whose bytes hold this offset of .debug_info; null: none.
    debug_unit* unit_of_entry(std::uint64_t offset) {
        std::size_t first = 0;
        std::size_t last = units_.size();
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            if (units_[middle].header.end <= offset) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        if (first == units_.size() || offset < units_[first].header.first_entry) return nullptr;
        return load(first);
    }

    std::size_t bytes() const {
        std::size_t total = 0;
        for (const owned_bytes& block : bytes_) total += block.size;
        return total + units_.size() * sizeof(debug_unit);
    }

    // True for what the linker threw away: it stays described, at addresses below all code.
    bool is_discarded(std::uint64_t low) const { return low < lowest_code_; }

    // Steps for one pass over things that an honest file does not describe twice.
    std::uint64_t fresh_budget() const {
        return 65536 + std::uint64_t{sections_.info.size} / 4 + sections_.ranges.size / 8 +
               sections_.range_lists.size / 2;
    }

private:
    // Of all sections together. Larger files are named by their symbols.
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

    void read_first_entry(debug_unit& unit, step_budget& budget, step_budget& abbreviation_budget) {
        const detail::dwarf_unit& header = unit.header;
        detail::byte_cursor in{sections_.info.part(0, header.end), header.first_entry};
        const std::uint64_t code = in.uleb();
        if (code == 0) return;
        const abbreviation_table table{sections_.abbreviations, header, code, &abbreviation_budget};
        entry_walker walker{sections_, header, table, header.first_entry};
        if (!walker.next() || walker.shape() == nullptr) return;
        detail::dwarf_extent extent;
        detail::dwarf_value directory;
        detail::dwarf_unit bases = header;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
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
                    bases.string_offsets_base = value.number;
                    break;
                case detail::dwarf::at_addr_base:
                case detail::dwarf::at_gnu_addr_base:
                    bases.addresses_base = value.number;
                    break;
                case detail::dwarf::at_rnglists_base:
                    bases.range_lists_base = value.number;
                    break;
                default:
                    break;
            }
        });
        unit.header = bases;
        unit.directory = detail::dwarf_text(sections_, unit.header, directory);
        std::uint64_t low = 0;
        if (detail::dwarf_address(sections_, unit.header, extent.low, low)) {
            unit.header.low_address = low;
        }
        const std::uint64_t number = units_.size();
        detail::visit_dwarf_extent(sections_, unit.header, extent,
                                   [&](std::uint64_t from, std::uint64_t to) {
                                       if (!is_discarded(from)) by_address_.add(from, to, number);
                                       return budget.take();
                                   });
    }

    debug_unit* load(std::size_t number) {
        debug_unit& unit = units_[number];
        if (unit.is_loaded) return &unit;
        unit.is_loaded = true;
        unit.abbreviations = abbreviation_table{sections_.abbreviations, unit.header};
        read_entries(unit);
        unit.functions.finish();
        return &unit;
    }

    static bool opens_scope(std::uint16_t tag) {
        return tag == detail::dwarf::tag_namespace || tag == detail::dwarf::tag_class_type ||
               tag == detail::dwarf::tag_structure_type || tag == detail::dwarf::tag_union_type ||
               tag == detail::dwarf::tag_subprogram;
    }

    void read_entries(debug_unit& unit) {
        struct open_scope {
            std::int64_t depth;
            std::size_t number;
        };
        std::vector<open_scope> open;
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

    void read_function(debug_unit& unit, entry_walker& walker, step_budget& budget) {
        detail::dwarf_extent extent;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            extent.take(name, value);
        });
        detail::visit_dwarf_extent(sections_, unit.header, extent,
                                   [&](std::uint64_t from, std::uint64_t to) {
                                       if (!is_discarded(from)) {
                                           unit.functions.add(from, to, walker.offset());
                                       }
                                       return budget.take();
                                   });
    }

    owned_bytes bytes_[9];
    detail::dwarf_sections sections_;
    std::uint64_t lowest_code_ = 0;
    std::vector<debug_unit> units_;
    address_ranges by_address_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

// mangled_reader.hpp - the letters of a linker name, and the sizes of its parts met so far.

#ifndef ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP
#define ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::size_t longest_mangled_name = 4096;
constexpr std::size_t longest_demangled_name = std::size_t{1} << 18;

class mangled_reader {
protected:
    explicit mangled_reader(const char* name)
        : at_(name), end_(name + ::strnlen(name, longest_mangled_name + 1)) {}

    static constexpr int deepest = 96;
    static constexpr std::size_t most_parts = 256;
    static constexpr std::size_t most_arguments = 64;

    struct level {
        mangled_reader& reader;
        explicit level(mangled_reader& owner) : reader(owner) {
            if (++reader.depth_ > deepest) {
                reader.is_too_deep_ = true;
                reader.give_up();
            }
        }
        ~level() { --reader.depth_; }
    };

    char peek(std::size_t ahead = 0) const {
        return static_cast<std::size_t>(end_ - at_) > ahead ? at_[ahead] : '\0';
    }
    void skip(std::size_t count) {
        at_ += static_cast<std::size_t>(end_ - at_) < count ? static_cast<std::size_t>(end_ - at_)
                                                            : count;
    }
    bool take(char expected) {
        if (peek() != expected) return false;
        skip(1);
        return true;
    }
    bool take(const char* two) {
        if (peek() != two[0] || peek(1) != two[1]) return false;
        skip(2);
        return true;
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_one_of(char c, const char* set) {
        return c != '\0' && std::strchr(set, c) != nullptr;
    }
    std::size_t give_up() {
        is_unknown_ = true;
        at_ = end_;
        return 0;
    }
    static std::size_t sum(std::size_t a, std::size_t b) {
        const std::size_t total = a + b;
        return total > longest_demangled_name ? longest_demangled_name + 1 : total;
    }
    std::size_t remember(std::size_t size) {
        if (part_count_ < most_parts) parts_[part_count_] = size;
        ++part_count_;
        return size;
    }
    std::size_t number() {
        std::size_t value = 0;
        while (is_digit(peek())) {
            value = sum(value * 10, static_cast<std::size_t>(peek() - '0'));
            skip(1);
        }
        return value;
    }
    void skip_past_underscore() {
        while (peek() != '\0' && peek() != '_') skip(1);
        skip(1);
    }

    // Compilers disagree about what inside "sr" counts as a part. After one, numbers may be off by
    // a few, and the largest part near by is taken.
    std::size_t part_size(std::size_t index) const {
        constexpr std::size_t most_off = 3;
        const std::size_t known = part_count_ < most_parts ? part_count_ : most_parts;
        if (!is_count_vague_) return index < known ? parts_[index] : longest_demangled_name + 1;
        std::size_t size = 0;
        const std::size_t first = index < most_off ? 0 : index - most_off;
        for (std::size_t i = first; i < known && i <= index + most_off; ++i) {
            if (parts_[i] > size) size = parts_[i];
        }
        return first < known ? size : longest_demangled_name + 1;
    }

    const char* at_;
    const char* const end_;
    std::size_t parts_[most_parts] = {};  // lengths of what can be referred back to
    std::size_t part_count_ = 0;
    std::size_t arguments_[most_arguments] = {};  // lengths of the last template arguments
    std::size_t argument_count_ = 0;
    std::size_t widest_argument_ = 16;
    int depth_ = 0;
    bool is_unknown_ = false;
    bool is_too_deep_ = false;
    bool is_count_vague_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP

// mangled_size.hpp - how long would a linker name be, written out? Asked before it is.

#ifndef ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP
#define ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class mangled_measure : private mangled_reader {
public:
    explicit mangled_measure(const char* name) : mangled_reader(name) {}

    // The estimated length; more than longest_demangled_name when the name must not be demangled.
    std::size_t run() {
        constexpr std::size_t refused = longest_demangled_name + 1;
        constexpr int harmless_references = 10;
        if (static_cast<std::size_t>(end_ - at_) > longest_mangled_name) return refused;
        int references = 0;
        for (const char* c = at_; c < end_; ++c) references += *c == '_' || *c == 'T' ? 1 : 0;
        at_ += 2;  // _Z
        const std::size_t size = encoding();
        if (is_too_deep_) return refused;
        if (is_unknown_) return references <= harmless_references ? size : refused;
        return size;
    }

private:
    static constexpr std::size_t operator_size = 10;

    std::size_t encoding();
    std::size_t special();
    std::size_t name();
    std::size_t nested_name();
    std::size_t local_name();
    std::size_t unqualified();
    std::size_t template_arguments();
    std::size_t argument();
    std::size_t arguments_until_end();
    std::size_t until_end();
    std::size_t type();
    std::size_t type_with_letter_d();
    std::size_t expression_item();
    std::size_t unresolved_name();
    std::size_t literal();
    std::size_t back_reference();
    std::size_t template_parameter();
};

inline bool is_demanglable(const char* name) {
    return mangled_measure{name}.run() <= longest_demangled_name;
}

// definitions

inline std::size_t mangled_measure::encoding() {
    const level here{*this};
    if (peek() == 'G' || peek() == 'T') return special();
    std::size_t size = name();
    while (peek() != '\0' && peek() != 'E' && peek() != '.') {
        size = sum(size, type() + 2);
        if (peek() == 'Q') give_up();
    }
    return size;
}

inline std::size_t mangled_measure::special() {
    constexpr std::size_t prefix = 32;
    const char first = peek();
    const char second = peek(1);
    skip(2);
    if (first == 'T' && is_one_of(second, "VTIS")) return sum(prefix, type());
    if (first == 'T' && is_one_of(second, "hvc")) {
        int offsets = second == 'c' ? 2 : 1;
        for (; offsets > 0; --offsets) {
            const char kind = second == 'c' ? peek() : second;
            if (second == 'c') skip(1);
            skip_past_underscore();
            if (kind == 'v') skip_past_underscore();
        }
        return sum(prefix, encoding());
    }
    const std::size_t size = sum(prefix, name());
    if (first == 'G' && second == 'R') skip_past_underscore();
    return size;
}

inline std::size_t mangled_measure::name() {
    const level here{*this};
    if (peek() == 'N') return nested_name();
    if (peek() == 'Z') return local_name();
    std::size_t size = 0;
    if (peek() == 'S' && peek(1) != 't') {
        size = back_reference();
    } else {
        if (take("St")) size = 5;
        size = sum(size, unqualified());
        if (peek() == 'I') remember(size);
    }
    if (peek() == 'I') size = sum(size, template_arguments());
    return size;
}

inline std::size_t mangled_measure::nested_name() {
    skip(1);
    while (is_one_of(peek(), "rVKRO")) skip(1);
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) {
        bool is_new_part = true;
        if (peek() == 'S' && peek(1) != 't') {
            size = back_reference();
            is_new_part = false;
        } else if (peek() == 'S') {
            skip(2);
            size = 5;
            is_new_part = false;
        } else if (peek() == 'T') {
            size = template_parameter();
        } else if (peek() == 'I') {
            size = sum(size, template_arguments());
        } else if (take('M')) {
            is_new_part = false;
        } else if (peek() == 'D' && is_one_of(peek(1), "tT")) {
            size = sum(size, type_with_letter_d());
        } else {
            size = sum(size, unqualified() + 2);
        }
        if (is_new_part && peek() != 'E') remember(size);
    }
    return size;
}

inline std::size_t mangled_measure::local_name() {
    skip(1);
    std::size_t size = encoding();
    if (!take('E')) return give_up();
    if (take('s')) {
        size = sum(size, 16);
    } else {
        if (take('d')) skip_past_underscore();
        size = sum(size, name());
    }
    if (take('_')) {  // one digit, or __ digits _
        if (take('_')) {
            skip_past_underscore();
        } else {
            skip(1);
        }
    }
    return size;
}

inline std::size_t mangled_measure::unqualified() {
    const level here{*this};
    std::size_t size = operator_size;
    take('L');
    if (is_digit(peek())) {
        size = number();
        if (size > static_cast<std::size_t>(end_ - at_)) return give_up();
        skip(size);
        if (size < 32) size = 32;  // a constructor repeats it
    } else if (take("cv")) {
        size = sum(size, type());
    } else if (take("li")) {
        skip(number());
    } else if (take("Ul")) {
        size = sum(size, arguments_until_end());
        skip_past_underscore();
    } else if (take("Ut")) {
        skip_past_underscore();
    } else if (take("DC")) {
        size = sum(size, until_end());
    } else if (peek() == 'C' && peek(1) == 'I') {
        skip(3);
        size = sum(64, type());
    } else if (is_one_of(peek(), "CD")) {
        skip(2);
        size = 64;
    } else if (peek() >= 'a' && peek() <= 'z') {
        skip(2);
    } else {
        return give_up();
    }
    while (take('B')) {
        const std::size_t tag = number();
        skip(tag);
        size = sum(size, tag + 6);
    }
    return size;
}

inline std::size_t mangled_measure::template_arguments() {
    const level here{*this};
    skip(1);
    std::size_t sizes[most_arguments];
    std::size_t count = 0;
    std::size_t total = 2;
    while (peek() != '\0' && !take('E')) {
        const std::size_t size = argument();
        if (count < most_arguments) sizes[count++] = size;
        total = sum(total, size + 2);
    }
    argument_count_ = count;
    for (std::size_t i = 0; i < count; ++i) {
        arguments_[i] = sizes[i];
        if (sizes[i] > widest_argument_) widest_argument_ = sizes[i];
    }
    return total;
}

inline std::size_t mangled_measure::argument() {
    if (peek() == 'L') return literal();
    if (take('X')) return until_end();
    if (take('J')) return arguments_until_end();
    return type();
}

inline std::size_t mangled_measure::arguments_until_end() {
    const level here{*this};
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) size = sum(size, argument() + 2);
    return size;
}

// Types and expressions, mixed, up to the E that ends the list.
inline std::size_t mangled_measure::until_end() {
    const level here{*this};
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) size = sum(size, expression_item() + 2);
    return size;
}

inline std::size_t mangled_measure::expression_item() {
    const level here{*this};
    const char first = peek();
    if (first == 'L') return literal();
    if (first == 'X' || first == 'J') return argument();
    if (first == 'I') return template_arguments();
    if (first == '_') return skip(1), 0;
    if (is_digit(first) && depth_ > 1) return name();
    if (first == 'f' && is_one_of(peek(1), "pL")) return skip_past_underscore(), 12;
    if (take("cl") || take("il") || take("cw")) return sum(operator_size, until_end());
    if (take("tl")) return sum(type(), until_end());
    if (take("cv")) {
        const std::size_t size = type();
        return peek() == '_' ? (skip(1), sum(size, until_end())) : size;
    }
    if (take("sr")) return unresolved_name();
    if (take("st") || take("at") || take("ti")) return sum(operator_size, type());
    if (take("on")) return unqualified();
    // Two small letters are an operator, unless they are types: after those, lengths still fit.
    if (first >= 'a' && first <= 'z' && peek(1) >= 'a' && peek(1) <= 'z' && peek(1) != '\0') {
        return skip(2), operator_size;
    }
    if (first == 's' && is_one_of(peek(1), "ZPR")) return skip(2), operator_size;
    if (first >= 'a' && first <= 'z' && is_one_of(peek(1), "SLTEIVNCM")) {
        skip(1);  // aS pL oR and their like; or the last type of a list
        if (peek() != 'E' && is_one_of(first, "apmdrloe") && is_one_of(peek(), "SLIVRN")) skip(1);
        return operator_size;
    }
    return type();
}

// A member of a type that is not known yet. g++ writes the type and the member, clang the names
// of the levels one after the other, an E, and the member.
inline std::size_t mangled_measure::unresolved_name() {
    is_count_vague_ = true;
    std::size_t size = sum(operator_size, type());
    while (is_digit(peek())) size = sum(size, name());
    if (peek() == 'E' && is_digit(peek(1))) {
        skip(1);
        size = sum(size, name());
    }
    return size;
}

inline std::size_t mangled_measure::literal() {
    const level here{*this};
    skip(1);
    if (take("_Z")) {
        const std::size_t size = encoding();
        return take('E') ? size : give_up();
    }
    const std::size_t size = type();
    const char* start = at_;
    while (peek() != '\0' && peek() != 'E') skip(1);
    skip(1);
    return sum(size, static_cast<std::size_t>(at_ - start) + 2);
}

inline std::size_t mangled_measure::type() {
    const level here{*this};
    const char first = peek();
    if (is_one_of(first, "rVK")) {
        while (is_one_of(peek(), "rVK")) skip(1);
        return remember(sum(type(), 9));
    }
    if (is_one_of(first, "PROCG")) return skip(1), remember(sum(type(), 2));
    if (is_one_of(first, "vwbcahstijlmxynofdegz")) return skip(1), 9;
    if (first == 'u') return skip(1), remember(unqualified());
    if (first == 'U') {
        skip(1);
        std::size_t size = unqualified();
        if (peek() == 'I') size = sum(size, template_arguments());
        return remember(sum(size, type()));
    }
    if (first == 'D') return type_with_letter_d();
    if (first == 'F') {
        skip(1);
        take('Y');
        std::size_t size = 4;
        while (peek() != '\0' && !take('E')) {
            if (is_one_of(peek(), "RO") && peek(1) == 'E')
                skip(1);
            else
                size = sum(size, type() + 2);
        }
        return remember(size);
    }
    if (first == 'A') {
        skip(1);
        std::size_t size = 4;
        while (peek() != '\0' && !take('_')) {
            if (is_digit(peek()))
                number();
            else
                size = sum(size, expression_item());
        }
        return remember(sum(size, type()));
    }
    if (first == 'M') {
        skip(1);
        const std::size_t owner = type();
        return remember(sum(owner, type() + 4));
    }
    if (first == 'T' && !is_one_of(peek(1), "sue")) {
        std::size_t size = remember(template_parameter());
        if (peek() == 'I') size = remember(sum(size, template_arguments()));
        return size;
    }
    if (first == 'T') return skip(2), remember(name());
    if (first == 'S' && peek(1) != 't') {
        const std::size_t size = back_reference();
        return peek() == 'I' ? remember(sum(size, template_arguments())) : size;
    }
    if (first == 'S' || first == 'N' || first == 'Z' || is_digit(first)) return remember(name());
    return give_up();
}

inline std::size_t mangled_measure::type_with_letter_d() {
    const level here{*this};
    const char second = peek(1);
    skip(2);
    if (is_one_of(second, "defhisuacn")) return 16;
    if (second == 'p') return remember(type());
    if (second == 't' || second == 'T') return remember(sum(12, until_end()));
    if (second == 'v' || second == 'F') {
        skip_past_underscore();
        return second == 'v' ? remember(sum(type(), 16)) : 16;
    }
    if (second == 'o') return sum(type(), 10);
    if (second == 'O' || second == 'w') {
        const std::size_t size = until_end();
        return sum(size, type());
    }
    return give_up();
}

inline std::size_t mangled_measure::back_reference() {
    skip(1);
    if (is_one_of(peek(), "abs")) return skip(1), 80;
    if (is_one_of(peek(), "iod")) return skip(1), 60;
    std::size_t index = 0;
    for (bool is_first = true; !take('_'); is_first = false) {
        const char c = peek();
        std::size_t digit = 0;
        if (is_digit(c)) {
            digit = static_cast<std::size_t>(c - '0');
        } else if (c >= 'A' && c <= 'Z') {
            digit = static_cast<std::size_t>(c - 'A') + 10;
        } else {
            return give_up();
        }
        skip(1);
        index = is_first ? digit + 1 : (index - 1) * 36 + digit + 1;
        if (index > longest_mangled_name) return give_up();
    }
    return part_size(index);
}

inline std::size_t mangled_measure::template_parameter() {
    skip(1);
    if (peek() == 'L') {
        skip(1);
        skip_past_underscore();
    }
    std::size_t index = is_digit(peek()) ? number() + 1 : 0;
    if (!take('_')) return give_up();
    return index < argument_count_ ? arguments_[index] : widest_argument_;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP

// demangle.hpp - linker names as the programmer wrote them.

#ifndef ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
#define ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

inline std::string demangled(const char* name) {
    if (name[0] != '_' || name[1] != 'Z') return name;
    if (!is_demanglable(name)) return name;
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    if (text == nullptr || status != 0) {
        std::free(text);
        return name;
    }
    std::string answer = text;
    std::free(text);
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

// entry_names.hpp - the name of the function that an entry of the debug information describes.

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct entry_name {
    std::string function;  // demangled or put together; "" unknown
    std::string linkage;   // "" when the debug information has none
};

class entry_names {
public:
    explicit entry_names(debug_units& units) : units_(units) {}

    const entry_name& of(std::uint64_t entry) {
        const auto known = names_.find(entry);
        if (known != names_.end()) return known->second;
        entry_name name = read(entry, 0);
        return names_.emplace(entry, std::move(name)).first->second;
    }

private:
    static constexpr int most_links = 16;
    static constexpr int most_scopes = 64;
    static constexpr int most_nested_functions = 8;
    static constexpr std::size_t longest_name = 65536;

    struct facts {
        const char* name = "";
        const char* linkage = "";
        std::uint64_t next = 0;  // the entry that says more
        std::uint16_t tag = 0;
    };

    facts read_facts(const debug_unit& unit, std::uint64_t entry) const {
        facts found;
        entry_walker walker{units_.sections(), unit.header, unit.abbreviations, entry};
        if (!walker.next() || walker.shape() == nullptr) return found;
        found.tag = walker.shape()->tag;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            switch (name) {
                case detail::dwarf::at_name:
                    found.name = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_linkage_name:
                case detail::dwarf::at_mips_linkage_name:
                    found.linkage = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_abstract_origin:
                case detail::dwarf::at_specification:
                    found.next = detail::dwarf_reference(unit.header, value);
                    break;
                default:
                    break;
            }
        });
        return found;
    }

    entry_name read(std::uint64_t entry, int nesting) {
        entry_name answer;
        const char* plain = "";
        const debug_unit* home = nullptr;
        std::uint64_t last = entry;
        for (int links = 0; links < most_links && entry != 0; ++links) {
            const debug_unit* unit = units_.unit_of_entry(entry);
            if (unit == nullptr) break;
            const facts found = read_facts(*unit, entry);
            if (*found.linkage != '\0') {
                answer.linkage = found.linkage;
                answer.function = demangled(found.linkage);
                if (answer.function != answer.linkage) return answer;
            }
            if (*found.name != '\0') plain = found.name;
            home = unit;
            last = entry;
            entry = found.next;
        }
        if (*plain == '\0') return answer;
        answer.function = home == nullptr ? plain : scope_of(*home, last, plain, nesting) + plain;
        return answer;
    }

    // The enclosing names, each followed by "::".
    std::string scope_of(const debug_unit& unit, std::uint64_t entry, const char* plain,
                         int nesting) {
        std::string scope;
        std::size_t number = enclosing(unit, entry);
        for (int levels = 0; levels < most_scopes && number != 0; ++levels) {
            const entry_scope& outer = unit.scopes[number - 1];
            const facts found = read_facts(unit, outer.begin);
            if (found.tag == detail::dwarf::tag_subprogram) {
                if (nesting >= most_nested_functions) break;
                const entry_name function = read(outer.begin, nesting + 1);
                return function.function.empty() ? scope : function.function + "::" + scope;
            }
            const char* name = found.name;
            if (*name == '\0') {
                name = found.tag == detail::dwarf::tag_namespace ? "(anonymous namespace)"
                       : std::strcmp(plain, "operator()") == 0   ? "{lambda}"
                                                                 : "{unnamed type}";
            }
            if (scope.size() > longest_name) break;
            scope = std::string(name) + "::" + scope;
            number = outer.parent;
        }
        return scope;
    }

    // The number + 1 of the innermost scope around an entry; 0: none.
    static std::size_t enclosing(const debug_unit& unit, std::uint64_t entry) {
        std::size_t first = 0;
        std::size_t last = unit.scopes.size();
        while (first < last) {  // the first scope that begins at or after the entry
            const std::size_t middle = first + (last - first) / 2;
            if (unit.scopes[middle].begin < entry) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        std::size_t number = first;
        while (number != 0 && unit.scopes[number - 1].end <= entry) {
            number = unit.scopes[number - 1].parent;
        }
        return number;
    }

    debug_units& units_;
    std::unordered_map<std::uint64_t, entry_name> names_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

// inline_lookup.hpp - the calls that were inlined at an address, innermost first.

#ifndef ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct inlined_call {
    std::uint64_t entry = 0;  // of the inlined copy
    std::uint64_t call_file = 0;
    std::uint64_t call_line = 0;
    std::uint64_t call_column = 0;
};

struct inlined_chain {
    std::uint64_t function = 0;       // the entry of the function that really was called; 0: none
    std::vector<inlined_call> calls;  // outermost first
};

class inline_search {
public:
    inline_search(const debug_units& units, const debug_unit& unit, std::uint64_t address)
        : units_(units), unit_(unit), address_(address), budget_{units.fresh_budget()} {}

    inlined_chain run() {
        inlined_chain chain;
        const address_range* function = unit_.functions.find(address_);
        if (function == nullptr) return chain;
        chain.function = function->value;
        walk(function->value);
        for (std::size_t i = best_; i != 0 && chain.calls.size() < most_calls;) {
            const candidate& call = candidates_[i - 1];
            chain.calls.push_back(call.call);
            i = call.parent;
        }
        std::reverse(chain.calls.begin(), chain.calls.end());
        return chain;
    }

private:
    static constexpr std::size_t most_calls = 256;

    // One inlined call around the address. Numbers are positions + 1; 0: none.
    struct candidate {
        inlined_call call;
        std::int64_t depth = 0;
        std::size_t parent = 0;
        std::uint64_t width = 0;
    };

    void walk(std::uint64_t function) {
        entry_walker walker{units_.sections(), unit_.header, unit_.abbreviations, function};
        if (!walker.next() || walker.shape() == nullptr || !walker.shape()->has_children) return;
        std::size_t open = 0;            // the innermost call that the walk is inside of
        std::int64_t skipped_below = 0;  // 0: nothing is skipped
        while (walker.next() && walker.depth() > 0) {
            const abbreviation* shape = walker.shape();
            if (shape == nullptr) {
                const std::int64_t closed = walker.depth() - 1;
                if (closed <= 0) return;
                if (skipped_below == closed) skipped_below = 0;
                while (open != 0 && candidates_[open - 1].depth >= closed) {
                    open = candidates_[open - 1].parent;
                }
                continue;
            }
            if (skipped_below != 0) continue;
            bool is_entered = shape->tag == detail::dwarf::tag_lexical_block;
            if (shape->tag == detail::dwarf::tag_inlined_subroutine) {
                is_entered = take(walker, open);
                if (is_entered && shape->has_children) open = candidates_.size();
            }
            if (!is_entered && shape->has_children) skipped_below = walker.depth();
        }
    }

    // True when the entry's code holds the address: it is then the last candidate.
    bool take(entry_walker& walker, std::size_t parent) {
        detail::dwarf_extent extent;
        candidate found;
        found.call.entry = walker.offset();
        found.depth = walker.depth();
        found.parent = parent;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            extent.take(name, value);
            if (name == detail::dwarf::at_call_file) found.call.call_file = value.number;
            if (name == detail::dwarf::at_call_line) found.call.call_line = value.number;
            if (name == detail::dwarf::at_call_column) found.call.call_column = value.number;
        });
        detail::visit_dwarf_extent(units_.sections(), unit_.header, extent,
                                   [&](std::uint64_t low, std::uint64_t high) {
                                       if (address_ >= low && address_ < high) {
                                           const std::uint64_t width = high - low;
                                           if (found.width == 0 || width < found.width) {
                                               found.width = width;
                                           }
                                       }
                                       return budget_.take();
                                   });
        if (found.width == 0) return false;
        candidates_.push_back(found);
        if (best_ == 0 || found.width <= candidates_[best_ - 1].width) best_ = candidates_.size();
        return true;
    }

    const debug_units& units_;
    const debug_unit& unit_;
    const std::uint64_t address_;
    step_budget budget_;
    std::vector<candidate> candidates_;
    std::size_t best_ = 0;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

// dwarf_lines.hpp - one line number program: its directories and files, and the rows it produces.

#ifndef ALLOCSCOPE_BINARY_DWARF_LINES_HPP
#define ALLOCSCOPE_BINARY_DWARF_LINES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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

inline bool read_dwarf_line_header(byte_view section, std::uint64_t offset,
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

// DWARF 2 to 4: texts until an empty one, then files until an empty one. File 1 is the first.
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
        if (in.at() == before) return in.fail();  // entries without bytes could be any number
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_LINES_HPP

// line_lookup.hpp - file, line and column of an address, from one line number program.

#ifndef ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class line_table {
public:
    struct row {
        std::uint64_t address;
        std::uint32_t file;
        std::uint32_t line;
        std::uint32_t column;
    };

    line_table() = default;

    line_table(const debug_units& units, const debug_unit& unit) : directory_(unit.directory) {
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
                rows_.resize(first);
            }
        });
        rows_.resize(first);
        sequences_.finish();
    }

    // The last row at or before the address, within its sequence; null: none.
    const row* find(std::uint64_t address) const {
        const address_range* sequence = sequences_.find(address);
        if (sequence == nullptr) return nullptr;
        const span& rows = spans_[static_cast<std::size_t>(sequence->value)];
        std::size_t first = rows.first;
        std::size_t last = rows.last;
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            if (rows_[middle].address <= address) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first == rows.first ? nullptr : &rows_[first - 1];
    }

    // The whole path of a file by its number in this program; "" when there is no such number.
    std::string path_of(std::uint64_t file) const {
        if (file >= files_.size() || files_[file].name == nullptr) {
            return std::string{};
        }
        const file_entry& entry = files_[file];
        if (::strnlen(entry.name, detail::longest_text) == detail::longest_text)
            return std::string{};
        std::string path = entry.name;
        if (path[0] == '/') return path;
        if (entry.directory < directories_.size()) {
            const char* directory = directories_[static_cast<std::size_t>(entry.directory)];
            if (directory != nullptr) path = joined(directory, path);
        }
        return path[0] == '/' ? path : joined(directory_, path);
    }

private:
    struct span {
        std::size_t first, last;
    };
    struct file_entry {
        const char* name;
        std::uint64_t directory;
    };
    struct file_collector {
        line_table& table;
        void directory(const char* name) { table.directories_.push_back(name); }
        void file(const char* name, std::uint64_t directory) {
            table.files_.push_back(file_entry{name, directory});
        }
    };

    static std::string joined(const char* directory, const std::string& name) {
        const std::size_t length = ::strnlen(directory, detail::longest_text);
        if (length == 0 || length == detail::longest_text) return name;
        std::string path(directory, length);
        if (path.back() != '/') path += '/';
        return path + name;
    }

    const char* directory_ = "";
    std::vector<const char*> directories_;
    std::vector<file_entry> files_;
    std::vector<row> rows_;
    std::vector<span> spans_;
    address_ranges sequences_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

// elf_symbols.hpp - the entries of a symbol table (.symtab or .dynsym), one after the other.

#ifndef ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP
#define ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP

// symbol_lookup.hpp - the function or the object that an address lies in, from the symbol table.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct found_symbol {
    const char* name = nullptr;  // mangled; null when there is none; lives as long as the index
    std::uint64_t offset = 0;
};

class symbol_index {
public:
    // Reads .symtab, or .dynsym of a stripped file.
    void build(const object_bytes& object) {
        const char* const names[] = {".symtab", ".dynsym"};
        for (const char* name : names) {
            const detail::elf_section* section = object.find(name);
            if (section == nullptr || section->link >= object.sections().size()) continue;
            const owned_bytes table = object.read(section);
            names_ = object.read(&object.sections()[section->link].section);
            collect(object, table.view());
            if (!functions_.empty() || !objects_.empty()) break;
        }
    }

    found_symbol function_at(std::uint64_t address) const { return find(functions_, address); }
    found_symbol object_at(std::uint64_t address) const { return find(objects_, address); }
    std::size_t bytes() const {
        return names_.size + (functions_.size() + objects_.size()) * sizeof(address_range);
    }

private:
    struct candidate {
        std::uint64_t address;
        std::uint64_t size;
        std::uint64_t section_end;
        std::uint32_t name;
        int rank;
    };

    static int rank_of(const detail::elf_symbol& symbol) {
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

    void collect(const object_bytes& object, detail::byte_view table) {
        std::vector<candidate> functions;
        std::vector<candidate> objects;
        detail::visit_elf_symbols(table, [&](const detail::elf_symbol& symbol) {
            if (symbol.section >= object.sections().size()) return;
            const detail::elf_section& home = object.sections()[symbol.section].section;
            const std::uint64_t home_end = home.address + home.size;
            if (symbol.address < home.address || symbol.address >= home_end) return;
            const bool is_code = (home.flags & detail::elf_section_executable) != 0;
            const candidate found{symbol.address, symbol.size, home_end, symbol.name,
                                  rank_of(symbol)};
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

    static void fill(address_ranges& index, std::vector<candidate>& found) {
        std::sort(found.begin(), found.end(), [](const candidate& a, const candidate& b) {
            if (a.address != b.address) return a.address < b.address;
            if (a.rank != b.rank) return a.rank > b.rank;
            return a.name < b.name;
        });
        for (std::size_t i = 0; i < found.size(); ++i) {
            const candidate& symbol = found[i];
            if (i != 0 && found[i - 1].address == symbol.address) continue;
            std::size_t next = i + 1;
            while (next < found.size() && found[next].address == symbol.address) ++next;
            std::uint64_t end = symbol.section_end;
            if (symbol.size != 0) {
                end = std::min(end, symbol.address + symbol.size);
            } else if (next < found.size()) {
                end = std::min(end, found[next].address);
            }
            index.add(symbol.address, end, symbol.name);
            i = next - 1;
        }
        index.finish();
    }

    found_symbol find(const address_ranges& index, std::uint64_t address) const {
        found_symbol symbol;
        const address_range* range = index.find(address);
        if (range == nullptr) return symbol;
        const char* name = detail::text_at(names_.view(), range->value);
        if (*name == '\0') return symbol;
        symbol.name = name;
        symbol.offset = address - range->low;
        return symbol;
    }

    owned_bytes names_;
    address_ranges functions_;
    address_ranges objects_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

// debug_object.hpp - everything that one program or library file says about its addresses.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class debug_object {
public:
    explicit debug_object(std::string path) : bytes_(std::move(path)) {}
    // `expected`: the build id of the running module. A file with another one tells nothing.
    debug_object(std::string path, const detail::build_id& expected) : bytes_(std::move(path)) {
        is_trusted_ = !detail::build_ids_disagree(bytes_.id(), expected);
    }
    // The bytes must stay.
    explicit debug_object(detail::byte_view file) : bytes_(file) {}

    bool is_readable() const { return is_trusted_ && bytes_.is_readable(); }

    // Adds symbol and frames to `location`.
    void resolve(std::uint64_t linked_address, code_location& location) {
        if (!is_readable()) return;
        load();
        const found_symbol symbol = symbols_->function_at(linked_address);
        const std::string name = without_version(symbol.name);
        if (!name.empty()) {
            location.symbol = demangled(name.c_str());
            location.symbol_offset = symbol.offset;
        }
        add_frames(linked_address, location, name);
        if (location.frames.empty() && !name.empty()) {
            location.frames.emplace_back();
            location.frames.back().function = location.symbol;
            location.frames.back().linkage_name = name;
        }
    }

    // The demangled name of the variable, vtable or typeinfo that holds the address; "" none.
    std::string data_symbol_at(std::uint64_t linked_address) {
        if (!is_readable()) return std::string{};
        load_symbols();
        return demangled(without_version(symbols_->object_at(linked_address).name).c_str());
    }

    // The demangled function that holds the address, from the symbol table alone; "" none.
    std::string function_symbol_at(std::uint64_t linked_address) {
        if (!is_readable()) return std::string{};
        load_symbols();
        return demangled(without_version(symbols_->function_at(linked_address).name).c_str());
    }

    // Gives the memory back; the next question reads the file again.
    void release() {
        lines_.clear();
        names_.reset();
        units_.reset();
        symbols_.reset();
    }

    std::size_t bytes_in_memory() const {
        return (units_ == nullptr ? 0 : units_->bytes()) +
               (symbols_ == nullptr ? 0 : symbols_->bytes());
    }

private:
    void load_symbols() {
        if (symbols_ != nullptr) return;
        symbols_ = std::make_unique<symbol_index>();
        symbols_->build(bytes_);
    }

    void load() {
        load_symbols();
        if (units_ != nullptr) return;
        units_ = std::make_unique<debug_units>();
        units_->build(bytes_);
        names_ = std::make_unique<entry_names>(*units_);
    }

    // One line program may serve several units.
    const line_table& lines_of(const debug_unit& unit) {
        const auto known = lines_.find(unit.lines);
        if (known != lines_.end()) return known->second;
        line_table table = unit.has_lines ? line_table{*units_, unit} : line_table{};
        return lines_.emplace(unit.lines, std::move(table)).first->second;
    }

    static int small(std::uint64_t number) {
        return number > INT_MAX ? 0 : static_cast<int>(number);
    }

    void add_frames(std::uint64_t address, code_location& location, const std::string& symbol) {
        const debug_unit* unit = units_->unit_at(address);
        if (unit == nullptr) return;
        const line_table& lines = lines_of(*unit);
        const line_table::row* row = lines.find(address);
        const inlined_chain chain = inline_search{*units_, *unit, address}.run();
        if (row == nullptr && chain.function == 0) return;
        // Split debug information: what was inlined is told by another file. The library's line
        // would be taken for one of the function that the symbol names.
        const bool is_all_there = chain.function != 0 || row == nullptr;
        if (!is_all_there && is_standard_header(lines.path_of(row->file))) return;
        code_frame frame;
        if (row != nullptr) {
            frame.file = lines.path_of(row->file);
            frame.line = small(row->line);
            frame.column = small(row->column);
        }
        for (auto call = chain.calls.rbegin(); call != chain.calls.rend(); ++call) {
            const entry_name& name = names_->of(call->entry);
            frame.function = name.function;
            frame.linkage_name = name.linkage;
            frame.is_inlined = true;
            location.frames.push_back(std::move(frame));
            frame = code_frame{};
            frame.file = lines.path_of(call->call_file);
            frame.line = small(call->call_line);
            frame.column = small(call->call_column);
        }
        name_outermost(frame, chain.function, location.symbol, symbol);
        location.frames.push_back(std::move(frame));
    }

    // The symbol table's name is preferred, since it is always there and always whole. But where it
    // names a part that the compiler split off ("load.cold"), or another function that was merged
    // into the same code, the debug information says which function the lines belong to. So it does
    // when a name is too long to be demangled.
    void name_outermost(code_frame& frame, std::uint64_t function, const std::string& readable,
                        const std::string& symbol) {
        entry_name name;
        if (function != 0) name = names_->of(function);
        const bool has_own = !name.linkage.empty() && name.function != name.linkage;
        const bool is_unreadable = readable.compare(0, 2, "_Z") == 0 && !name.function.empty();
        if (symbol.empty() || (has_own && name.function != readable) || is_unreadable ||
            is_part_of(symbol, name.function)) {
            frame.function = std::move(name.function);
            frame.linkage_name = std::move(name.linkage);
        } else {
            frame.function = readable;
            frame.linkage_name = symbol;
        }
    }

    // "load.cold" is a part of "load".
    static bool is_part_of(const std::string& symbol, const std::string& whole) {
        return !whole.empty() && symbol.size() > whole.size() && symbol[whole.size()] == '.' &&
               symbol.compare(0, whole.size(), whole) == 0;
    }

    // "read@@LIBRARY_2" is "read".
    static std::string without_version(const char* symbol) {
        return symbol == nullptr ? std::string{} : std::string(symbol, std::strcspn(symbol, "@"));
    }

    object_bytes bytes_;
    bool is_trusted_ = true;
    std::unique_ptr<symbol_index> symbols_;
    std::unique_ptr<debug_units> units_;
    std::unique_ptr<entry_names> names_;
    std::unordered_map<std::uint64_t, line_table> lines_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

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
    const char* path = "";            // "" for the main program
    std::uint64_t base = 0;           // run-time address minus linked address
    std::uint64_t low = 0, high = 0;  // the addresses between the first and the last byte
    bool is_first = false;            // the main program
    byte_view notes;                  // of the first note segment with a build id's alignment
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
        if (low < facts.low) facts.low = low;
        if (high > facts.high) facts.high = high;
    }
    if (facts.low >= facts.high) return 0;
    // Several note segments are usual; the visitor is called once for each and told so by the base.
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

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP

// module_list.hpp - the modules of this process: where each lies, and which file it came from.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct loaded_module {
    std::string path;        // what reports show
    std::string file;        // what is opened to read it; "" when there is no file
    std::uint64_t base = 0;  // run-time address minus linked address
    std::uint64_t low = 0, high = 0;
    detail::build_id id;

    bool holds(std::uint64_t address) const { return address >= low && address < high; }
    bool is_same(const loaded_module& other) const {
        return base == other.base && low == other.low && high == other.high && path == other.path &&
               id.equals(other.id);
    }
};

namespace module_list_detail {

inline std::string read_whole(const char* path) {
    constexpr std::size_t largest = std::size_t{64} << 20;
    std::string text;
    const detail::file_reader file{path};
    char buffer[4096];
    while (text.size() < largest) {
        const std::size_t got = file.read_at(text.size(), buffer, sizeof buffer);
        if (got == 0) break;
        text.append(buffer, got);
    }
    return text;
}

// The file of the mapping that holds `address`; "" when there is none.
inline std::string mapped_file_of(const std::string& maps, std::uint64_t address) {
    std::size_t at = 0;
    while (at < maps.size()) {
        std::size_t end = maps.find('\n', at);
        if (end == std::string::npos) end = maps.size();
        char* rest = nullptr;
        const std::uint64_t low = std::strtoull(maps.c_str() + at, &rest, 16);
        const std::uint64_t high = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
        if (address >= low && address < high) {
            const std::size_t slash = maps.find('/', at);
            return slash < end ? maps.substr(slash, end - slash) : std::string{};
        }
        at = end + 1;
    }
    return std::string{};
}

inline std::string own_program() {
    char buffer[4096];
    const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string{};
}

}  // namespace module_list_detail

class module_list {
public:
    const std::vector<loaded_module>& modules() const { return modules_; }

    bool is_current() const {
        return is_read_ && generation_.equals(detail::current_module_generation());
    }

    void read() {
        generation_ = detail::current_module_generation();
        is_read_ = true;
        modules_.clear();
        bool has_main = false;
        detail::visit_loaded_modules([&](const detail::module_facts& facts) {
            const bool is_next_note = !modules_.empty() && modules_.back().low == facts.low;
            if (!is_next_note) {
                loaded_module next;
                next.path = facts.path;
                next.base = facts.base;
                next.low = facts.low;
                next.high = facts.high;
                modules_.push_back(std::move(next));
                has_main = has_main || facts.is_first;
            }
            detail::build_id& id = modules_.back().id;
            if (!id.known()) id = detail::find_build_id(facts.notes);
        });
        find_files(has_main);
    }

    // The module that holds the address; null: none.
    const loaded_module* find(std::uint64_t address) const {
        for (const loaded_module& module : modules_) {
            if (module.holds(address)) return &module;
        }
        return nullptr;
    }

private:
    void find_files(bool has_main) {
        std::string maps;
        for (std::size_t i = 0; i < modules_.size(); ++i) {
            loaded_module& module = modules_[i];
            const bool is_main = has_main && i == 0;
            if (!is_main && !module.path.empty() && module.path[0] == '/') {
                module.file = module.path;
                continue;
            }
            if (maps.empty()) maps = module_list_detail::read_whole("/proc/self/maps");
            const std::string mapped = module_list_detail::mapped_file_of(maps, module.low);
            if (is_main) {
                name_main(module, mapped);
            } else if (!mapped.empty()) {
                module.path = module.file = mapped;
            } else if (module.id.known() && module.path.find('/') != std::string::npos) {
                module.file = module.path;  // the id tells when the current directory has changed
            }
        }
    }

    // /proc/self/exe reaches the running file even when its name now belongs to another one.
    static void name_main(loaded_module& module, const std::string& mapped) {
        const std::string program = module_list_detail::own_program();
        const bool is_own = mapped.empty() || mapped == program;
        module.path = is_own ? program : mapped;
        module.file = is_own ? "/proc/self/exe" : mapped;
        if (!module.path.empty()) return;
        // Without /proc there is still the name that the kernel was asked to run.
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        if (started != nullptr) module.path = module.file = started;
    }

    bool is_read_ = false;
    detail::module_generation generation_;
    std::vector<loaded_module> modules_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

// symbolizer.hpp - addresses of this process to modules, functions, files, lines, inlined calls.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class symbolizer {
public:
    symbolizer() { refresh_modules(); }
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    // The caller has subtracted 1 from return addresses. Good until this object dies, or until
    // refresh_modules() finds that the address's module is gone.
    const code_location& resolve(std::uint64_t address) {
        const auto known = locations_.find(address);
        if (known != locations_.end()) return known->second;
        code_location location;
        location.address = address;
        if (const loaded_module* module = modules_.find(address)) {
            location.module = module->path;
            location.module_offset = address - module->base;
            object_of(*module).resolve(location.module_offset, location);
        }
        return locations_.emplace(address, std::move(location)).first->second;
    }

    // The demangled name of the variable, vtable or typeinfo around an address, as in
    // "vtable for widget"; "" when there is none.
    std::string data_symbol_at(std::uint64_t address) {
        const loaded_module* module = modules_.find(address);
        return module == nullptr ? std::string{}
                                 : object_of(*module).data_symbol_at(address - module->base);
    }

    // The demangled function around an address by the symbol table alone; "" when there is none.
    // Spares the debug information, and knows nothing of inlined calls. Subtract 1 as above.
    std::string function_symbol_at(std::uint64_t address) {
        const loaded_module* module = modules_.find(address);
        return module == nullptr ? std::string{}
                                 : object_of(*module).function_symbol_at(address - module->base);
    }

    // To be called before a report: looks for libraries loaded and unloaded since. What was
    // resolved in modules that are still there stays. True when anything changed.
    bool refresh_modules() {
        if (modules_.is_current()) return false;
        const std::vector<loaded_module> before = modules_.modules();
        modules_.read();
        for (const loaded_module& old : before) {
            if (!is_still_there(old)) objects_.erase(old.low);
        }
        for (auto at = locations_.begin(); at != locations_.end();) {
            at = is_still_valid(before, at->first) ? std::next(at) : locations_.erase(at);
        }
        return true;
    }

    const std::vector<loaded_module>& modules() const { return modules_.modules(); }

    // Gives back what was read of the files. A later resolve() reads again what it needs.
    void release_debug_data() {
        for (auto& object : objects_) object.second->release();
    }

    std::size_t debug_bytes() const {
        std::size_t total = 0;
        for (const auto& object : objects_) total += object.second->bytes_in_memory();
        return total;
    }

private:
    debug_object& object_of(const loaded_module& module) {
        std::unique_ptr<debug_object>& object = objects_[module.low];
        if (object == nullptr) object = std::make_unique<debug_object>(module.file, module.id);
        return *object;
    }

    bool is_still_there(const loaded_module& old) const {
        const loaded_module* now = modules_.find(old.low);
        return now != nullptr && now->is_same(old);
    }

    // An address that was in no module stays valid when it is still in none.
    bool is_still_valid(const std::vector<loaded_module>& before, std::uint64_t address) const {
        for (const loaded_module& old : before) {
            if (old.holds(address)) return is_still_there(old);
        }
        return modules_.find(address) == nullptr;
    }

    module_list modules_;
    std::unordered_map<std::uint64_t, std::unique_ptr<debug_object>> objects_;  // by lowest address
    std::unordered_map<std::uint64_t, code_location> locations_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

// name_brackets.hpp - jumps over brackets and operator symbols in demangled names.

#ifndef ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP
#define ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::size_t no_position = std::string_view::npos;

inline bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

inline bool starts_with(std::string_view text, std::string_view start) noexcept {
    return text.size() >= start.size() && text.compare(0, start.size(), start) == 0;
}

inline bool ends_with(std::string_view text, std::string_view end) noexcept {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Behind the word that starts at `at`.
inline std::size_t skip_word(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_name_character(text[at])) ++at;
    return at;
}

inline std::string_view without_spaces_around(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Length of the symbol of an operator, 0 when the text goes on with something else (new, delete,
// or the type of a conversion).
inline std::size_t operator_symbol_length(std::string_view text) noexcept {
    constexpr std::string_view longest_first[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",   "!=", "&&",
        "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "\"\"", "<",  ">",
        ",",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "="};
    for (const std::string_view symbol : longest_first) {
        if (starts_with(text, symbol)) return symbol.size();
    }
    return 0;
}

// True when the word `operator` starts at `at`.
inline bool is_operator_word(std::string_view text, std::size_t at) noexcept {
    return text[at] == 'o' && starts_with(text.substr(at), "operator") &&
           (at == 0 || !is_name_character(text[at - 1])) && skip_word(text, at) == at + 8;
}

// `at` is on an opening bracket: the position behind the one that closes it, or no_position.
// Linear in the length of the brackets.
inline std::size_t skip_brackets(std::string_view text, std::size_t at) {
    std::string open;
    while (at < text.size()) {
        const char c = text[at];
        if (is_operator_word(text, at)) {
            at += 8;
            at += operator_symbol_length(text.substr(at));
            continue;
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            open.push_back(c);
        } else if (c == '>') {
            const bool is_arrow = at > 0 && text[at - 1] == '-';
            if (!is_arrow && !open.empty() && open.back() == '<') open.pop_back();
        } else if (c == ')' || c == ']' || c == '}') {
            const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
            while (!open.empty() && open.back() == '<') open.pop_back();  // it was "less than"
            if (open.empty() || open.back() != opening) return no_position;
            open.pop_back();
        }
        ++at;
        if (open.empty()) return at;
    }
    return no_position;
}

// The arguments in "<a, b>" or "(a, b)", brackets included in the input, as they stand there.
inline std::vector<std::string_view> split_arguments(std::string_view bracketed) {
    std::vector<std::string_view> parts;
    if (bracketed.size() < 2) return parts;
    const std::string_view inside = bracketed.substr(1, bracketed.size() - 2);
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
    const std::string_view last = without_spaces_around(inside.substr(begin));
    if (!last.empty() || !parts.empty()) parts.push_back(last);
    return parts;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP

// function_name.hpp - takes a demangled function name apart into its own qualified name.

#ifndef ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP
#define ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct name_component {
    std::string_view name;       // "vector", "operator()", "{lambda(int)#1}"
    std::string_view arguments;  // "<int, std::allocator<int> >", or empty
};

struct function_name {
    std::vector<name_component> components;  // empty when the text is not a function's name
    std::string_view whole;                  // from the first component to the last

    bool is_known() const noexcept { return !components.empty(); }
    const name_component& last() const noexcept { return components.back(); }
};

constexpr std::string_view anonymous_namespace = "(anonymous namespace)";
constexpr std::size_t max_name_components = 256;

class function_name_parser {
public:
    explicit function_name_parser(std::string_view text) : text_(text) {}

    function_name parse() {
        while (at_ < text_.size() && !is_done_ && !is_failed_) step();
        finish_component();
        if (is_failed_) return {};
        function_name result;
        result.components = static_cast<std::vector<name_component>&&>(components_);
        if (result.is_known()) result.whole = text_.substr(begin_, end_ - begin_);
        return result;
    }

private:
    void step() {
        const char c = text_[at_];
        if (is_name_character(c) || c == '~') {
            read_word();
        } else if (c == ':') {
            if (!starts_with(text_.substr(at_), "::")) return fail();
            finish_component();
            at_ += 2;
        } else if (c == '<') {
            read_angle_brackets();
        } else if (c == '(') {
            read_parentheses();
        } else if (c == '{' || c == '[') {
            const std::size_t behind = skip_brackets(text_, at_);
            if (behind == no_position) return fail();
            if (c == '{') extend_name(at_, behind);
            at_ = behind;  // an ABI tag says nothing about whose function it is
        } else if (c == '\'') {
            const std::size_t quote = text_.find('\'', at_ + 1);
            if (quote == no_position) return fail();
            extend_name(at_, quote + 1);
            at_ = quote + 1;
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

    void read_space() {
        if (is_end_mark(at_)) {
            is_done_ = true;
        } else if (is_decltype() && starts_with(text_.substr(at_), " (")) {
            ++at_;
        } else {
            begin_anew(at_ + 1);
        }
    }

    bool is_decltype() const {
        return name_begin_ != no_position &&
               text_.substr(name_begin_, name_end_ - name_begin_) == "decltype";
    }

    void read_word() {
        if (!is_operator_word(text_, at_)) {
            const std::size_t behind = skip_word(text_, at_ + 1);
            extend_name(at_, behind);
            at_ = behind;
            return;
        }
        std::size_t behind = at_ + 8;
        const std::size_t symbol = operator_symbol_length(text_.substr(behind));
        if (symbol != 0) {
            behind += symbol;
            if (text_[behind - 1] == '"' && behind < text_.size() && text_[behind] == ' ') {
                behind = skip_word(text_, behind + 1);
            }
        } else {
            behind = skip_named_operator(behind);
        }
        if (behind == no_position) return fail();
        extend_name(at_, behind);
        at_ = behind;
        // "operator< <int>": the space belongs to the name
        if (starts_with(text_.substr(at_), " <")) ++at_;
    }

    // Behind `operator`: " new", " delete[]", " co_await", or the type of a conversion.
    std::size_t skip_named_operator(std::size_t at) {
        for (const std::string_view word :
             {" new[]", " delete[]", " new", " delete", " co_await"}) {
            const std::string_view rest = text_.substr(at);
            if (!starts_with(rest, word)) continue;
            const bool ends_here =
                rest.size() == word.size() || !is_name_character(rest[word.size()]);
            if (ends_here) return at + word.size();
        }
        while (at < text_.size() &&
               (text_[at] != '(' || starts_with(text_.substr(at), anonymous_namespace))) {
            if (text_[at] == '<' || text_[at] == '{' || text_[at] == '(') {
                at = skip_brackets(text_, at);
                if (at == no_position) return at;
            } else {
                ++at;
            }
        }
        return at;
    }

    void read_angle_brackets() {
        const std::size_t behind = skip_brackets(text_, at_);
        if (behind == no_position) return fail();
        if (name_begin_ == no_position) {
            extend_name(at_, behind);  // "<lambda(int)>", as g++ writes it in debug information
        } else {
            arguments_ = text_.substr(at_, behind - at_);
            end_ = behind;
        }
        at_ = behind;
    }

    void read_parentheses() {
        if (starts_with(text_.substr(at_), anonymous_namespace)) {
            extend_name(at_, at_ + anonymous_namespace.size());
            at_ += anonymous_namespace.size();
            return;
        }
        if (name_begin_ == no_position) return begin_anew(at_ + 1);  // returns a function pointer
        const std::size_t behind = skip_brackets(text_, at_);
        if (behind == no_position) return fail();
        if (is_decltype()) return begin_anew(behind);
        const std::size_t rest = skip_qualifiers(behind);
        if (starts_with(text_.substr(rest), "::")) {  // a lambda or a type inside this function
            at_ = rest;
            return;
        }
        is_done_ = true;
    }

    std::size_t skip_qualifiers(std::size_t at) const {
        for (bool again = true; again;) {
            again = false;
            for (const std::string_view word : {" const", " volatile", " &&", " &", "&&", "&"}) {
                if (!starts_with(text_.substr(at), word)) continue;
                at += word.size();
                again = true;
            }
        }
        return at;
    }

    bool is_end_mark(std::size_t at) const {
        const std::string_view rest = text_.substr(at);
        return has_name() &&
               (starts_with(rest, " [clone") || starts_with(rest, " [with ") ||
                starts_with(rest, " (.") || starts_with(rest, " const") || rest == " ");
    }

    bool has_name() const noexcept { return name_begin_ != no_position || !components_.empty(); }

    void extend_name(std::size_t from, std::size_t to) {
        if (name_begin_ == no_position) name_begin_ = from;
        if (components_.empty() && begin_ == no_position) begin_ = from;
        name_end_ = to;
        end_ = to;
    }

    void finish_component() {
        if (name_begin_ == no_position) return;
        if (components_.size() == max_name_components) return fail();
        components_.push_back({text_.substr(name_begin_, name_end_ - name_begin_), arguments_});
        name_begin_ = no_position;
        arguments_ = {};
    }

    void begin_anew(std::size_t at) {
        components_.clear();
        name_begin_ = no_position;
        begin_ = no_position;
        arguments_ = {};
        at_ = at;
    }

    void fail() { is_failed_ = true; }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t begin_ = no_position;
    std::size_t end_ = 0;
    std::size_t name_begin_ = no_position;
    std::size_t name_end_ = 0;
    std::string_view arguments_;
    std::vector<name_component> components_;
    bool is_done_ = false;
    bool is_failed_ = false;
};

// The views in the result point into `demangled`.
inline function_name parse_function_name(std::string_view demangled) {
    std::string_view text = without_spaces_around(demangled);
    constexpr std::string_view thunk = "non-virtual thunk to ";
    if (starts_with(text, thunk)) text.remove_prefix(thunk.size());
    return function_name_parser{text}.parse();
}

// "std::vector::push_back" of any vector: the components without their arguments.
inline std::string plain_name(const function_name& name) {
    std::string joined;
    for (const name_component& component : name.components) {
        if (!joined.empty()) joined += "::";
        joined += component.name;
    }
    return joined;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP

// frame_rule.hpp - tells the user's frames from the library's: which one gives a row its line.

#ifndef ALLOCSCOPE_TYPES_FRAME_RULE_HPP
#define ALLOCSCOPE_TYPES_FRAME_RULE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// True for the functions between a user's code and the allocation that nobody asks about: of the
// C++ runtime, the C library's allocating functions, and what runs before main and in new threads.
inline bool is_runtime_function(std::string_view name) noexcept {
    constexpr std::string_view starts[] = {
        "__cxa_", "__gxx_",     "_Unwind_",       "_dl_",         "__libc_",        "__GI_",
        "_IO_",   "__gthread_", "__interceptor_", "operator new", "operator delete"};
    for (const std::string_view start : starts) {
        if (starts_with(name, start)) return true;
    }
    constexpr std::string_view names[] = {"_start",
                                          "_init",
                                          "_fini",
                                          "start_thread",
                                          "clone",
                                          "clone3",
                                          "__clone",
                                          "dl_main",
                                          "call_init",
                                          "malloc",
                                          "calloc",
                                          "realloc",
                                          "reallocarray",
                                          "free",
                                          "cfree",
                                          "memalign",
                                          "aligned_alloc",
                                          "valloc",
                                          "pvalloc",
                                          "strdup",
                                          "strndup",
                                          "__strdup",
                                          "__strndup",
                                          "wcsdup",
                                          "posix_memalign",
                                          "execute_native_thread_routine",
                                          "__libcpp_operator_new",
                                          "__call_tls_dtors",
                                          "__run_exit_handlers",
                                          "exit"};
    for (const std::string_view exact : names) {
        if (name == exact) return true;
    }
    return false;
}

// Of the C and C++ implementation by its name: a reserved global name. What the compilers put
// around a user's global variables is the user's, and so is a linker name too long to demangle,
// unless it begins with the library's namespaces.
inline bool is_reserved_function(std::string_view name) noexcept {
    if (name.size() < 2 || name[0] != '_') return false;
    if (starts_with(name, "_Z")) {
        for (const std::string_view start :
             {"_ZSt", "_ZNSt", "_ZNKSt", "_ZNSa", "_ZNSs", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"}) {
            if (starts_with(name, start)) return true;
        }
        return false;
    }
    for (const std::string_view start : {"_GLOBAL__", "__cxx_global_", "__static_init"}) {
        if (starts_with(name, start)) return false;
    }
    return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
}

inline bool is_library_namespace(std::string_view name) noexcept {
    constexpr std::string_view spaces[] = {"std",        "__gnu_cxx",      "__cxxabiv1",
                                           "allocscope", "__gnu_debug",    "__gnu_parallel",
                                           "__pstl",     "__gnu_internal", "__sanitizer"};
    for (const std::string_view space : spaces) {
        if (name == space) return true;
    }
    return false;
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
        const std::string_view text{pattern};
        if (text.empty()) return "library_frames: the pattern is empty: it would fit every frame";
        if (text == "*" || text == "/" || text == "::") {
            return "library_frames: the pattern fits every frame: name a namespace or a folder";
        }
        if (text.size() >= pattern_size)
            return "library_frames: the pattern is over 255 characters";
        const std::lock_guard<std::mutex> hold{adding_};
        const std::size_t count = count_.load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < count; ++i) {
            if (text == patterns_[i]) return "";
        }
        if (count == max_patterns) return "library_frames: there are 64 patterns already";
        std::memcpy(patterns_[count], text.data(), text.size());  // the rest is zero
        // Pairs with the acquire in is_added(): who sees the count sees the text.
        count_.store(count + 1, std::memory_order_release);
        return "";
    }

    // Changes whenever a pattern was added: what was decided before may be different now.
    std::size_t version() const noexcept { return count_.load(std::memory_order_acquire); }

    // True when no row should be named after this frame. A frame about which nothing is known
    // is no user's frame either.
    bool is_library(const code_frame& frame) const {
        if (frame.function.empty() && frame.file.empty()) return true;
        if (is_standard_header(frame.file)) return true;
        const function_name name = parse_function_name(frame.function);
        const std::string plain = plain_name(name);
        if (is_added(plain, frame.file)) return true;
        if (!name.is_known()) return false;
        if (is_runtime_function(plain)) return true;
        if (name.components.size() > 1) return is_library_namespace(name.components[0].name);
        return frame.file.empty() && is_reserved_function(plain);
    }

private:
    bool is_added(std::string_view plain, std::string_view file) const {
        const std::size_t count = count_.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string_view pattern{patterns_[i]};
            const bool fits = pattern.find('/') != no_position ? fits_file(pattern, file)
                                                               : fits_name(pattern, plain);
            if (fits) return true;
        }
        return false;
    }

    static bool fits_file(std::string_view pattern, std::string_view file) {
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

    static bool fits_name(std::string_view pattern, std::string_view plain) {
        if (starts_with(pattern, "::")) pattern.remove_prefix(2);
        if (pattern.back() == '*') {
            pattern.remove_suffix(1);
            return starts_with(plain, pattern);
        }
        if (ends_with(pattern, "::")) pattern.remove_suffix(2);
        if (pattern.empty() || !starts_with(plain, pattern)) return false;
        return plain.size() == pattern.size() || starts_with(plain.substr(pattern.size()), "::");
    }

    static constexpr std::size_t max_patterns = 64;
    static constexpr std::size_t pattern_size = 256;

    std::mutex adding_;
    std::atomic<std::size_t> count_{0};
    char patterns_[max_patterns][pattern_size] = {};
};

// Index of the frame that gives a stack its file and line: the innermost that is the user's; if
// there is none, the innermost with file and line, then the innermost with a name, then
// frames.size(). `frames` are the logical frames of the whole stack, innermost first.
inline std::size_t user_frame(const std::vector<code_frame>& frames, const frame_rule& rule) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!rule.is_library(frames[i])) return i;
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!frames[i].file.empty() && frames[i].line > 0) return i;
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!frames[i].function.empty()) return i;
    }
    return frames.size();
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_FRAME_RULE_HPP

// shorten_paths.hpp - file names without the directory that they all share.

#ifndef ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP
#define ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// "/a/b/../c/./d.cpp" as "/a/c/d.cpp". A relative path keeps the ".." it begins with.
inline std::string tidy_path(std::string_view path) {
    const bool is_absolute = !path.empty() && path[0] == '/';
    std::vector<std::string_view> parts;
    std::size_t at = 0;
    while (at < path.size()) {
        std::size_t end = path.find('/', at);
        if (end == std::string_view::npos) end = path.size();
        const std::string_view part = path.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !is_absolute) {
            parts.push_back(part);
        }
    }
    std::string tidy;
    for (const std::string_view part : parts) {
        if (is_absolute || !tidy.empty()) tidy += '/';
        tidy += part;
    }
    return tidy;
}

// Length of the directory, its slash included, that all of them begin with.
inline std::size_t common_directory(const std::set<std::string>& paths) {
    if (paths.empty()) return 0;
    const std::string& first = *paths.begin();
    const std::string& last = *paths.rbegin();  // sorted: these two differ earliest
    std::size_t same = 0;
    while (same < first.size() && same < last.size() && first[same] == last[same]) ++same;
    const std::size_t slash = first.substr(0, same).rfind('/');
    return slash == std::string::npos ? 0 : slash + 1;
}

// The names in the order of the input; "" stays "".
inline std::vector<std::string> shorten_paths(const std::vector<std::string>& files) {
    std::vector<std::string> whole;
    std::set<std::string> absolute;
    std::set<std::string> relative;
    for (const std::string& file : files) {
        whole.push_back(tidy_path(file));
        if (whole.back().empty()) continue;
        (whole.back()[0] == '/' ? absolute : relative).insert(whole.back());
    }
    const std::size_t absolute_cut = common_directory(absolute);
    const std::size_t relative_cut = common_directory(relative);
    const auto shortened = [&](const std::string& path) {
        if (path.empty()) return path;
        return path.substr(path[0] == '/' ? absolute_cut : relative_cut);
    };
    std::map<std::string, int> meanings;  // of a short name
    for (const std::set<std::string>* group : {&absolute, &relative}) {
        for (const std::string& path : *group) ++meanings.emplace(shortened(path), 0).first->second;
    }
    std::vector<std::string> names;
    for (const std::string& path : whole) {
        const std::string name = shortened(path);
        names.push_back(!path.empty() && meanings.find(name)->second > 1 ? path : name);
    }
    return names;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP

// default_arguments.hpp - the template arguments that nobody writes, and the names people use.

#ifndef ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP
#define ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// "const std::string", but "char* const": the place where people write it.
inline std::string with_const(const std::string& type) {
    if (starts_with(type, "const ") && !ends_with(type, "*")) return type;
    const bool is_compound = ends_with(type, "*") || ends_with(type, "&") || ends_with(type, ")");
    return is_compound ? type + " const" : "const " + type;
}

// The defaults of one family of templates. In a rule $0 and $1 stand for the first arguments,
// $p for the std::pair of a map; rules[i] belongs to argument first + i.
struct default_rule {
    const char* name;
    std::size_t first;
    const char* rules[4];
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

inline const default_rule* find_default_rule(std::string_view name) noexcept {
    for (const default_rule& rule : default_rules) {
        if (name == rule.name) return &rule;
    }
    return nullptr;
}

inline std::string filled_in(std::string_view rule, const std::vector<std::string>& arguments) {
    std::string text;
    for (std::size_t i = 0; i < rule.size(); ++i) {
        if (rule[i] != '$') {
            text += rule[i];
        } else if (rule[++i] == '0') {
            text += arguments[0];
        } else if (arguments.size() > 1) {
            text += "std::pair<" + with_const(arguments[0]) + ", " + arguments[1] + '>';
        }
    }
    return text;
}

// "std::string" for basic_string<char>, "std::wregex" for basic_regex<wchar_t>; "" when there is
// no such name. `space` is "std::" or "std::pmr::".
inline std::string character_alias(std::string_view space, std::string_view name,
                                   std::string_view character) {
    if (!starts_with(name, "basic_")) return {};
    const std::string_view rest = name.substr(6);
    const bool is_string = rest == "string" || rest == "string_view";
    const char* prefix = character == "char"                    ? ""
                         : character == "wchar_t"               ? "w"
                         : is_string && character == "char8_t"  ? "u8"
                         : is_string && character == "char16_t" ? "u16"
                         : is_string && character == "char32_t" ? "u32"
                                                                : nullptr;
    if (prefix == nullptr) return {};
    return std::string{space} + prefix + std::string{rest};
}

// Appends `arguments`, which are pretty already, to a text that ends with the qualified name from
// `name_begin` on, and makes of both what people write.
inline void append_arguments(std::string& text, std::size_t name_begin,
                             std::vector<std::string> arguments) {
    const std::string_view name = std::string_view{text}.substr(name_begin);
    const default_rule* rule =
        starts_with(name, "std::") ? find_default_rule(name.substr(5)) : nullptr;
    if (rule != nullptr && arguments.size() >= rule->first) {
        std::size_t rule_count = 0;
        while (rule_count < 4 && rule->rules[rule_count] != nullptr) ++rule_count;
        std::string_view space = "std::";
        if (rule->has_allocator && arguments.size() == rule->first + rule_count) {
            const std::string allocator = filled_in(rule->rules[rule_count - 1], arguments);
            const std::string element = allocator.substr(15);  // behind "std::allocator<"
            if (arguments.back() == "std::pmr::polymorphic_allocator<" + element) {
                space = "std::pmr::";
                arguments.pop_back();
            }
        }
        while (arguments.size() > rule->first && arguments.size() <= rule->first + rule_count &&
               arguments.back() ==
                   filled_in(rule->rules[arguments.size() - 1 - rule->first], arguments)) {
            arguments.pop_back();
        }
        std::string alias;
        if (arguments.size() == 1) alias = character_alias(space, rule->name, arguments[0]);
        text.resize(name_begin);
        if (!alias.empty()) {
            text += alias;
            return;
        }
        text += space;
        text += rule->name;
    }
    text += '<';
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i != 0) text += ", ";
        text += arguments[i];
    }
    text += '>';
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP

// pretty_type.hpp - spells a type the way people write it, from a demangled name or from source.

#ifndef ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP
#define ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr int max_type_depth = 64;
constexpr std::size_t max_type_length = 256 * 1024;

// Counts the words of a built-in type, whose order is free: "long unsigned int" is "unsigned long".
class builtin_type {
public:
    bool take(std::string_view word) noexcept {
        constexpr std::string_view words[word_count] = {"unsigned", "signed", "long",   "short",
                                                        "int",      "char",   "double", "__int128"};
        for (std::size_t i = 0; i < word_count; ++i) {
            if (word != words[i]) continue;
            ++counts_[i];
            return true;
        }
        return false;
    }

    std::string spelled() const {
        const char* sign = counts_[0] != 0 ? "unsigned " : "";
        if (counts_[5] != 0) return (counts_[1] != 0 ? "signed " : std::string{sign}) + "char";
        if (counts_[6] != 0) return counts_[2] != 0 ? "long double" : "double";
        if (counts_[7] != 0) return std::string{sign} + "__int128";
        if (counts_[3] != 0) return std::string{sign} + "short";
        if (counts_[2] > 1) return std::string{sign} + "long long";
        if (counts_[2] == 1) return std::string{sign} + "long";
        return std::string{sign} + "int";
    }

private:
    enum : std::size_t { word_count = 8 };
    int counts_[word_count] = {};
};

class type_printer {
public:
    explicit type_printer(std::string_view text) : text_(text) {}

    std::string print() {
        std::string out = type(0);
        if (is_failed_ || at_ != text_.size()) return std::string{text_};
        return out;
    }

private:
    // What has been written of one type, up to the next comma or closing bracket.
    struct written {
        std::string text;
        std::size_t name_begin = 0;   // where the qualified name that is being written began
        bool space_before = false;    // the input has a space here
        bool has_declarator = false;  // behind "*", "&" or "(": const belongs to that
        bool is_const = false;        // of the type itself
        bool is_volatile = false;
    };

    std::string type(int depth) {
        if (depth > max_type_depth) is_failed_ = true;
        written out;
        while (!is_failed_ && at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ',' || c == '>' || c == ')' || c == ']' || c == '}') break;
            step(out, depth, c);
        }
        std::string prefix;
        if (out.is_const) prefix += "const ";
        if (out.is_volatile) prefix += "volatile ";
        return prefix + out.text;
    }

    void step(written& out, int depth, char c) {
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            out.space_before = true;
            ++at_;
        } else if (is_name_character(c)) {
            word(out);
        } else if (starts_with(rest(), "::")) {
            at_ += 2;
            if (out.text.size() > out.name_begin && !out.space_before) out.text += "::";
        } else if (c == '<') {
            angle_brackets(out, depth);
        } else if (c == '(') {
            parentheses(out, depth);
        } else if (c == '{') {
            braces(out, depth);
        } else if (c == '[') {
            square_brackets(out);
        } else if (c == '\'') {
            const std::size_t quote = text_.find('\'', at_ + 1);
            copy_until(out, quote == no_position ? no_position : quote + 1);
        } else if (c == '*' || c == '&') {
            out.text += c;
            out.has_declarator = true;
            out.space_before = false;
            ++at_;
        } else if (starts_with(rest(), "->")) {
            copy_until(out, at_ + 2);
        } else {
            copy_until(out, at_ + 1);
        }
    }

    void word(written& out) {
        const std::size_t behind = skip_word(text_, at_);
        const std::string_view word = text_.substr(at_, behind - at_);
        const bool continues_name = ends_with(out.text, "::") && !out.space_before;
        if (!continues_name && special_word(out, word, behind)) return;
        if (continues_name && is_inline_namespace(out, word, behind)) {
            at_ = behind + 2;
            return;
        }
        if (!continues_name) begin_name(out);
        if (is_operator_word(text_, at_)) {
            const std::size_t symbol = operator_symbol_length(text_.substr(behind));
            return copy_until(out, behind + symbol);
        }
        out.text += without_literal_suffix(word);
        at_ = behind;
    }

    // Words that are no names: qualifiers, `struct`, and the words of built-in types.
    bool special_word(written& out, std::string_view word, std::size_t behind) {
        if (word == "const" || word == "volatile") {
            at_ = behind;
            if (out.has_declarator) {
                if (!out.text.empty() && out.text.back() != '(') out.text += ' ';
                out.text += word;
                out.space_before = true;
            } else {
                (word == "const" ? out.is_const : out.is_volatile) = true;
            }
            return true;
        }
        const bool is_elaborated = word == "struct" || word == "class" || word == "union" ||
                                   word == "enum" || word == "typename";
        if (is_elaborated && behind < text_.size() && text_[behind] == ' ') {
            at_ = behind;
            return true;
        }
        return builtin_words(out, word);
    }

    bool builtin_words(written& out, std::string_view word) {
        builtin_type builtin;
        if (!builtin.take(word)) return false;
        begin_name(out);
        at_ += word.size();
        for (;;) {
            std::size_t next = at_;
            while (next < text_.size() && text_[next] == ' ') ++next;
            const std::size_t behind = skip_word(text_, next);
            const std::string_view more = text_.substr(next, behind - next);
            if (more == "const" && next != behind) {
                out.is_const = true;
            } else if (!builtin.take(more)) {
                break;
            }
            at_ = behind;
        }
        out.text += builtin.spelled();
        return true;
    }

    void begin_name(written& out) {
        const bool needs_space = out.space_before && !out.text.empty() && out.text.back() != '(';
        if (needs_space) out.text += ' ';
        out.space_before = false;
        if (needs_space || out.text.empty() || !is_name_character(out.text.back())) {
            out.name_begin = out.text.size();
        }
    }

    // Parts of a name that the library's authors put there for the linker.
    bool is_inline_namespace(const written& out, std::string_view word, std::size_t behind) const {
        if (!starts_with(text_.substr(behind), "::")) return false;
        const std::string_view name = std::string_view{out.text}.substr(out.name_begin);
        if (name == "allocscope::") return word == "v0";
        if (!starts_with(name, "std::")) return false;
        return word == "__cxx11" || word == "__1" || word == "__debug" || word == "__cxx1998" ||
               word == "__ndk1" || word == "_V2" || word == "__8";
    }

    // "8ul" and "8": one number.
    static std::string_view without_literal_suffix(std::string_view word) noexcept {
        if (word.front() < '0' || word.front() > '9') return word;
        std::string_view digits = word;
        while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'l' ||
                                   digits.back() == 'U' || digits.back() == 'L')) {
            digits.remove_suffix(1);
        }
        for (const char c : digits) {
            if (c < '0' || c > '9') return word;
        }
        return digits;
    }

    void angle_brackets(written& out, int depth) {
        const bool has_name = out.text.size() > out.name_begin && !ends_with(out.text, "::");
        if (!has_name) {  // "<lambda(int)>", as g++ writes it in debug information
            return copy_until(out, skip_brackets(text_, at_));
        }
        std::vector<std::string> arguments = list('>', depth);
        if (is_failed_) return;
        append_arguments(out.text, out.name_begin,
                         static_cast<std::vector<std::string>&&>(arguments));
        out.space_before = false;
    }

    void parentheses(written& out, int depth) {
        if (starts_with(rest(), anonymous_namespace)) {
            if (!ends_with(out.text, "::")) begin_name(out);
            return copy_until(out, at_ + anonymous_namespace.size());
        }
        if (out.space_before && !out.text.empty()) out.text += ' ';
        out.space_before = false;
        const bool is_main = out.text == "main" && starts_with(rest(), "()::");
        const std::vector<std::string> parts = list(')', depth);
        if (is_main) return;  // main::local, whatever main's parameters
        append_list(out.text, '(', parts, ')');
        if (!starts_with(rest(), "::")) out.has_declarator = true;
    }

    void braces(written& out, int depth) {
        if (starts_with(rest(), "{anonymous}")) {
            at_ += 11;
            out.text += anonymous_namespace;
            return;
        }
        if (!ends_with(out.text, "::")) begin_name(out);
        append_list(out.text, '{', list('}', depth), '}');
    }

    void square_brackets(written& out) {
        const std::size_t behind = skip_brackets(text_, at_);
        if (starts_with(rest(), "[abi:") && behind != no_position) {
            at_ = behind;
            return;
        }
        out.space_before = false;  // "int []" is "int[]"
        copy_until(out, behind);
    }

    // The parts between this bracket and the closing one, which is consumed.
    std::vector<std::string> list(char closing, int depth) {
        std::vector<std::string> parts;
        ++at_;
        for (;;) {
            std::string part = type(depth + 1);
            if (is_failed_ || at_ >= text_.size()) break;
            const char c = text_[at_++];
            if (!part.empty() || c == ',' || !parts.empty()) {
                parts.push_back(static_cast<std::string&&>(part));
            }
            if (c == closing) return parts;
            if (c != ',') break;
        }
        is_failed_ = true;
        return parts;
    }

    static void append_list(std::string& text, char open, const std::vector<std::string>& parts,
                            char close) {
        text += open;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i != 0) text += ", ";
            text += parts[i];
        }
        text += close;
    }

    void copy_until(written& out, std::size_t behind) {
        if (behind == no_position || behind > text_.size()) {
            is_failed_ = true;
            return;
        }
        if (out.space_before && !out.text.empty()) out.text += ' ';
        out.space_before = false;
        out.text += text_.substr(at_, behind - at_);
        at_ = behind;
    }

    std::string_view rest() const { return text_.substr(at_); }

    std::string_view text_;
    std::size_t at_ = 0;
    bool is_failed_ = false;
};

// The type as people write it; the input itself when it is no type that we understand.
inline std::string pretty_type(std::string_view type) {
    type = without_spaces_around(type);
    if (type.size() > max_type_length) return std::string{type};
    return type_printer{type}.print();
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP

// source_tokens.hpp - cuts C++ source into words and signs with their line and column.

#ifndef ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP
#define ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct source_token {
    std::string_view text;  // a word, a number, a literal, or a sign ("::" and "->" are one)
    int line;
    int column;
};

struct token_list {
    std::vector<source_token> tokens;
    std::vector<std::string_view> macros;  // names defined in this file
};

inline bool is_word(std::string_view token) noexcept {
    return !token.empty() && is_name_character(token[0]) && !(token[0] >= '0' && token[0] <= '9');
}

class source_lexer {
public:
    explicit source_lexer(std::string_view source) : source_(source) {}

    token_list read() {
        while (at_ < source_.size()) step();
        return static_cast<token_list&&>(result_);
    }

private:
    void step() {
        const char c = source_[at_];
        if (c == '\n') {
            new_line();
            is_line_start_ = true;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (c == '\\' && is_line_end(at_ + 1)) {
            at_ = source_[at_ + 1] == '\r' ? at_ + 2 : at_ + 1;
            new_line();
        } else if (is_comment()) {
            skip_comment();
        } else if (c == '#' && is_line_start_) {
            skip_directive();
        } else {
            is_line_start_ = false;
            token(c);
        }
    }

    void token(char c) {
        const std::size_t begin = at_;
        const int line = line_;
        const int column = static_cast<int>(at_ - line_begin_) + 1;
        std::size_t behind = at_ + 1;
        if (c >= '0' && c <= '9') {
            behind = skip_number(begin);
        } else if (is_name_character(c)) {
            behind = skip_word(source_, begin);
            const bool is_prefix = behind < source_.size() && behind - begin <= 3;
            if (is_prefix && source_[behind] == '"' && source_[behind - 1] == 'R') {
                behind = skip_raw_string(behind);
            }
        } else if (c == '"' || c == '\'') {
            behind = skip_literal(begin);
        } else if (starts_with(source_.substr(begin), "::") ||
                   starts_with(source_.substr(begin), "->")) {
            behind = begin + 2;
        }
        for (at_ = begin; at_ < behind;) {  // a literal may run over lines
            if (source_[at_] == '\n') {
                new_line();
            } else {
                ++at_;
            }
        }
        result_.tokens.push_back({source_.substr(begin, behind - begin), line, column});
    }

    void new_line() {
        ++at_;
        ++line_;
        line_begin_ = at_;
    }

    bool is_line_end(std::size_t at) const {
        const std::string_view rest = source_.substr(at);
        return starts_with(rest, "\n") || starts_with(rest, "\r\n");
    }

    bool is_comment() const {
        const std::string_view rest = source_.substr(at_);
        return starts_with(rest, "//") || starts_with(rest, "/*");
    }

    void skip_comment() {
        const bool is_block = source_[at_ + 1] == '*';
        at_ += 2;
        while (at_ < source_.size()) {
            if (source_[at_] == '\n') {
                const bool goes_on = source_[at_ - 1] == '\\';
                if (!is_block && !goes_on) return;
                new_line();
            } else if (is_block && starts_with(source_.substr(at_), "*/")) {
                at_ += 2;
                return;
            } else {
                ++at_;
            }
        }
    }

    void skip_directive() {
        const std::size_t begin = at_;
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (is_comment()) {
                skip_comment();
            } else if (source_[at_] == '\\' && is_line_end(at_ + 1)) {
                at_ = source_[at_ + 1] == '\r' ? at_ + 2 : at_ + 1;
                new_line();
            } else {
                ++at_;
            }
        }
        std::string_view directive = source_.substr(begin + 1, at_ - begin - 1);
        skip_blanks(directive);
        if (!starts_with(directive, "define")) return;
        directive.remove_prefix(6);
        skip_blanks(directive);
        result_.macros.push_back(directive.substr(0, skip_word(directive, 0)));
    }

    static void skip_blanks(std::string_view& text) noexcept {
        while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
    }

    std::size_t skip_number(std::size_t at) const {
        while (at < source_.size()) {
            const bool is_separator = source_[at] == '\'' && at + 1 < source_.size() &&
                                      is_name_character(source_[at + 1]);
            if (!is_name_character(source_[at]) && source_[at] != '.' && !is_separator) break;
            ++at;
        }
        return at;
    }

    // A string or character literal ends at its quote, or at the end of the line.
    std::size_t skip_literal(std::size_t at) const {
        const char quote = source_[at++];
        while (at < source_.size() && source_[at] != '\n') {
            if (source_[at] == quote) return at + 1;
            if (source_[at] == '\\' && at + 1 < source_.size()) ++at;
            ++at;
        }
        return at < source_.size() ? at : source_.size();
    }

    // R"mark( ... )mark": `at` is on the first quote.
    std::size_t skip_raw_string(std::size_t at) const {
        const std::size_t length = source_.substr(at, 18).find('(');  // a mark has 16 at most
        if (length == no_position) return skip_literal(at);
        const std::size_t open = at + length;
        const std::string_view mark = source_.substr(at + 1, open - at - 1);
        for (std::size_t close = source_.find(')', open); close != no_position;
             close = source_.find(')', close + 1)) {
            const std::string_view rest = source_.substr(close + 1);
            if (starts_with(rest, mark) && starts_with(rest.substr(mark.size()), "\"")) {
                return close + 2 + mark.size();
            }
        }
        return source_.size();
    }

    std::string_view source_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    int line_ = 1;
    bool is_line_start_ = true;
    token_list result_;
};

inline token_list read_tokens(std::string_view source) {
    return source_lexer{source}.read();
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP

// template_scopes.hpp - which template parameters are in force at a place of a source file.

#ifndef ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP
#define ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct template_header {
    std::vector<std::string_view> parameters;  // "" for one without a name
    bool has_pack = false;
    bool shows_arguments = true;  // argument i of the demangled name is parameter i
};

// Behind the `>` that closes the `<` at `at`; 0 when there is none near. `partners` are the
// matching round, square and curly brackets.
inline std::size_t skip_angle_tokens(const std::vector<source_token>& tokens,
                                     const std::vector<std::size_t>& partners, std::size_t at) {
    constexpr std::size_t far_away = 512;
    int depth = 0;
    const std::size_t first = at;
    while (at < tokens.size() && at - first < far_away) {
        const std::string_view text = tokens[at].text;
        if (text == ";" || text == "{" || text == "}") return 0;
        if (text == "<") ++depth;
        if (text == ">" && --depth == 0) return at + 1;
        if (text == "(" || text == "[") {
            if (partners[at] == 0) return 0;
            at = partners[at];
        }
        ++at;
    }
    return 0;
}

class template_scopes {
public:
    template_scopes(const std::vector<source_token>& tokens,
                    const std::vector<std::size_t>& partners)
        : tokens_(tokens), partners_(partners) {
        scopes_.push_back({0, {}});
    }

    // Tells the walk of the token at `at`; returns the index of the next one to look at.
    std::size_t see(std::size_t at) {
        const std::string_view text = tokens_[at].text;
        if (text == "template" && text_at(at + 1) == "<") return read_header(at + 1);
        if (text == "]" && text_at(at + 1) == "<" &&
            (text_at(at + 2) == "class" || text_at(at + 2) == "typename")) {
            return read_header(at + 1);
        }
        if (text == "{") {
            check_specialisation(at);
            open_.push_back(current_);
            current_ = here();
            pending_.clear();
        } else if (text == "}" && !open_.empty()) {
            const std::size_t outer = open_.back();
            open_.pop_back();
            const bool was_initialiser = text_at(at + 1) == "," || text_at(at + 1) == "{";
            if (was_initialiser && current_ != outer) pending_ = scopes_[current_].headers;
            current_ = outer;
        } else if (text == ";") {
            pending_.clear();
        }
        return at + 1;
    }

    // The scope of the token that see() was told of last.
    std::size_t here() {
        if (pending_.empty()) return current_;
        scopes_.push_back({current_, pending_});
        return scopes_.size() - 1;
    }

    // The headers around a scope, outermost first.
    std::vector<const template_header*> headers_around(std::size_t scope) const {
        std::vector<const template_header*> inside_out;
        constexpr std::size_t most = 64;
        while (scope != 0 && inside_out.size() < most) {
            const std::vector<std::size_t>& own = scopes_[scope].headers;
            for (std::size_t i = own.size(); i > 0; --i)
                inside_out.push_back(&headers_[own[i - 1]]);
            scope = scopes_[scope].parent;
        }
        return {inside_out.rbegin(), inside_out.rend()};
    }

private:
    struct node {
        std::size_t parent;
        std::vector<std::size_t> headers;
    };

    std::string_view text_at(std::size_t at) const noexcept {
        return at < tokens_.size() ? tokens_[at].text : std::string_view{};
    }

    // `at` is on the `<` of a header.
    std::size_t read_header(std::size_t at) {
        const std::size_t behind = skip_angle_tokens(tokens_, partners_, at);
        if (behind == 0) return at + 1;
        template_header header;
        std::string_view name;
        int depth = 0;
        bool has_default = false;
        for (std::size_t i = at + 1; i < behind; ++i) {
            const std::string_view text = tokens_[i].text;
            if (depth == 0 && (text == "," || i + 1 == behind)) {
                if (i > at + 1) header.parameters.push_back(name);
                name = {};
                has_default = false;
                continue;
            }
            if (text == "<" || text == "(") ++depth;
            if (text == ">" || text == ")") --depth;
            if (depth == 0 && text == "=") has_default = true;
            if (text == ".") header.has_pack = true;
            const bool is_name = is_word(text) && text != "class" && text != "typename";
            if (depth == 0 && !has_default && is_name) name = text;
        }
        headers_.push_back(static_cast<template_header&&>(header));
        constexpr std::size_t most = 16;  // one for each level of nested classes, and their member
        if (pending_.size() < most) pending_.push_back(headers_.size() - 1);
        header_end_ = behind;
        is_unchecked_ = true;
        return behind;
    }

    // `at` is on the `{` behind the pending headers. In `struct pool<T*>` and `pool<T*>::grab()`
    // the arguments differ from the parameters; header i belongs to the i-th class with arguments.
    void check_specialisation(std::size_t at) {
        if (pending_.empty() || !is_unchecked_) return;
        is_unchecked_ = false;
        std::vector<std::size_t> opens;  // the "<" of each class of the name being declared
        const std::string_view first = text_at(header_end_);
        const bool is_class = first == "struct" || first == "class" || first == "union";
        constexpr std::size_t far_away = 256;
        for (std::size_t i = header_end_; i < at && i < header_end_ + far_away; ++i) {
            const std::string_view text = tokens_[i].text;
            if ((text == "(" && !is_class) || (text == ":" && is_class)) break;
            if (is_word(text) && i > header_end_ && text_at(i - 1) != "::") opens.clear();
            if (text != "<") continue;
            const std::size_t behind = skip_angle_tokens(tokens_, partners_, i);
            if (behind == 0 || behind > at) break;
            if (is_class || text_at(behind) == "::") opens.push_back(i);
            i = behind - 1;
        }
        for (std::size_t i = 0; i < opens.size(); ++i) {
            if (i < pending_.size()) check_arguments(headers_[pending_[i]], opens[i]);
        }
    }

    // `open` is on the "<" of the arguments that a class is declared or a member is defined with.
    void check_arguments(template_header& header, std::size_t open) {
        const std::size_t close = skip_angle_tokens(tokens_, partners_, open) - 1;
        std::size_t parameter = 0;
        bool is_same = true;
        for (std::size_t i = open + 1; i < close; ++i) {
            const std::string_view text = tokens_[i].text;
            if (text == "," || text == ".") continue;
            is_same = is_same && parameter < header.parameters.size() &&
                      text == header.parameters[parameter];
            ++parameter;
        }
        header.shows_arguments = is_same && parameter == header.parameters.size();
    }

    const std::vector<source_token>& tokens_;
    const std::vector<std::size_t>& partners_;
    std::vector<template_header> headers_;
    std::vector<node> scopes_;
    std::vector<std::size_t> open_;  // for every open brace: the scope outside it
    std::vector<std::size_t> pending_;
    std::size_t current_ = 0;
    std::size_t header_end_ = 0;
    bool is_unchecked_ = false;  // the pending headers, by check_specialisation
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP

// new_expressions.hpp - finds every `new T` of a source file, and where compilers say it stands.

#ifndef ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
#define ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// Positions are indices of tokens.
struct new_expression {
    std::size_t begin = 0;       // of `new`, or of the `::` before it
    std::size_t last = 0;        // the token that g++ names
    std::size_t type_begin = 0;  // of the type, without the bounds of an array
    std::size_t type_end = 0;
    std::size_t scope = 0;  // of template_scopes
    bool has_initialiser = false;
    bool has_type = false;  // false: `new auto(x)`, or something that we cannot read
};

class source_outline {
public:
    explicit source_outline(std::string source)
        : source_(static_cast<std::string&&>(source)),
          list_(read_tokens(source_)),
          partners_(matching_brackets(list_.tokens)),
          scopes_(list_.tokens, partners_) {
        std::sort(list_.macros.begin(), list_.macros.end());
        for (std::size_t at = 0; at < tokens().size();) {
            const std::string_view text = tokens()[at].text;
            if (text == "new") read_new(at);
            if (text == "using" || text == "typedef") read_alias(at);
            if (text == "using") read_using_std(at);
            if (text == "struct" || text == "class") class_names_.push_back(text_at(at + 1));
            at = scopes_.see(at);
        }
        std::sort(template_aliases_.begin(), template_aliases_.end());
        std::sort(class_names_.begin(), class_names_.end());
        std::sort(standard_names_.begin(), standard_names_.end());
    }
    source_outline(const source_outline&) = delete;
    source_outline& operator=(const source_outline&) = delete;

    const std::vector<source_token>& tokens() const noexcept { return list_.tokens; }
    const std::vector<new_expression>& expressions() const noexcept { return expressions_; }

    // The token that closes the bracket at `at`, or that it closes; 0 when there is none.
    std::size_t partner(std::size_t at) const noexcept { return partners_[at]; }

    std::vector<const template_header*> headers_around(std::size_t scope) const {
        return scopes_.headers_around(scope);
    }

    bool is_macro(std::string_view name) const {
        return std::binary_search(list_.macros.begin(), list_.macros.end(), name);
    }

    // Declared by `using` or `typedef` inside a template: it may depend on the parameters.
    bool is_template_alias(std::string_view name) const {
        return std::binary_search(template_aliases_.begin(), template_aliases_.end(), name);
    }

    // A name of the standard library that this file uses without "std::".
    bool is_standard_name(std::string_view name) const {
        if (std::binary_search(class_names_.begin(), class_names_.end(), name)) return false;
        if (std::binary_search(standard_names_.begin(), standard_names_.end(), name)) return true;
        if (!uses_namespace_std_) return false;
        // Names that hardly anybody gives to a class of his own.
        for (const std::string_view known :
             {"string", "wstring", "vector", "deque", "forward_list", "map", "multimap", "multiset",
              "unordered_map", "unordered_set", "unordered_multimap", "shared_ptr", "unique_ptr",
              "ostringstream", "istringstream", "stringstream"}) {
            if (name == known) return true;
        }
        return false;
    }

    // Index of the first token at or behind a line and column.
    std::size_t token_from(int line, int column) const {
        const auto found = std::lower_bound(
            tokens().begin(), tokens().end(), column, [line](const source_token& token, int c) {
                return token.line < line || (token.line == line && token.column < c);
            });
        return static_cast<std::size_t>(found - tokens().begin());
    }

private:
    static std::vector<std::size_t> matching_brackets(const std::vector<source_token>& tokens) {
        std::vector<std::size_t> partners(tokens.size(), 0);
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const char c = tokens[i].text.size() == 1 ? tokens[i].text[0] : ' ';
            if (c == '(' || c == '[' || c == '{') open.push_back(i);
            if (c != ')' && c != ']' && c != '}') continue;
            if (open.empty()) continue;
            const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (tokens[open.back()].text[0] == opening) {
                partners[open.back()] = i;
                partners[i] = open.back();
                open.pop_back();
            } else if (c == '}') {  // a macro with half a bracket: start again behind the brace
                while (!open.empty() && tokens[open.back()].text[0] != '{') open.pop_back();
                if (!open.empty()) open.pop_back();
            }
        }
        return partners;
    }

    std::string_view text_at(std::size_t at) const noexcept {
        return at < tokens().size() ? tokens()[at].text : std::string_view{};
    }

    std::string_view text_before(std::size_t at) const noexcept {
        return at > 0 ? tokens()[at - 1].text : std::string_view{};
    }

    void read_new(std::size_t at) {
        const std::string_view before = text_before(at);
        if (before == "operator" || before == "." || before == "->") return;
        new_expression found;
        found.begin = before == "::" ? at - 1 : at;
        std::size_t next = at + 1;
        std::size_t behind = 0;
        if (text_at(next) == "(") {
            const std::size_t close = partners_[next];
            if (close == 0) return;
            const std::string_view follows = text_at(close + 1);
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
        const std::string_view opens = text_at(behind);
        if ((opens == "(" || opens == "{") && partners_[behind] != 0) {
            found.has_initialiser = true;
            found.last = partners_[behind];
        }
        found.scope = scopes_.here();
        expressions_.push_back(found);
    }

    bool is_allocating_placement(std::size_t open, std::size_t close) const {
        for (std::size_t i = open + 1; i < close && i < open + 16; ++i) {
            if (tokens()[i].text == "nothrow" || tokens()[i].text == "align_val_t") return true;
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
            const std::string_view text = text_at(at);
            if (text == "const" || text == "volatile") {
                found.last = at;
            } else if (!has_name && builtin_type{}.take(text)) {
                is_builtin = true;
                found.last = at;
            } else if (has_name || is_builtin) {
                break;
            } else if (text == "decltype" || text == "auto") {
                has_name = true;
                is_readable = false;
                found.last = at;
                if (text == "decltype" && text_at(at + 1) == "(") at = partners_[at + 1];
                if (at == 0) return found.last + 1;
            } else if (text == "struct" || text == "class" || text == "union" || text == "enum" ||
                       text == "typename") {
                continue;
            } else if (text == "::" || is_word(text)) {
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

    // Remembers `using X =` and `typedef ... X;` when they stand in a template.
    void read_alias(std::size_t at) {
        if (scopes_.headers_around(scopes_.here()).empty()) return;
        if (text_at(at) == "using") {
            if (text_at(at + 2) == "=") template_aliases_.push_back(text_at(at + 1));
            return;
        }
        constexpr std::size_t far_away = 64;
        for (std::size_t i = at + 1; i < tokens().size() && i < at + far_away; ++i) {
            if (tokens()[i].text != ";") continue;
            template_aliases_.push_back(tokens()[i - 1].text);
            return;
        }
    }

    // `using std::string;` and `using namespace std;`
    void read_using_std(std::size_t at) {
        if (text_at(at + 1) == "namespace" && text_at(at + 2) == "std" && text_at(at + 3) == ";") {
            uses_namespace_std_ = true;
        }
        if (text_at(at + 1) == "std" && text_at(at + 2) == "::" && text_at(at + 4) == ";") {
            standard_names_.push_back(text_at(at + 3));
        }
    }

    std::string source_;
    token_list list_;
    std::vector<std::size_t> partners_;
    template_scopes scopes_;
    std::vector<new_expression> expressions_;
    std::vector<std::string_view> template_aliases_;
    std::vector<std::string_view> class_names_;     // declared or named as such in this file
    std::vector<std::string_view> standard_names_;  // of using-declarations
    bool uses_namespace_std_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

// source_cache.hpp - source files, each read and taken apart once for a report.

#ifndef ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
#define ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::uint64_t max_source_bytes = 2 * 1024 * 1024;
constexpr std::size_t max_source_files = 256;

class source_cache {
public:
    source_cache() = default;
    source_cache(const source_cache&) = delete;
    source_cache& operator=(const source_cache&) = delete;

    // Null when the file cannot be read, is no regular file, or is larger than 2 MiB.
    const source_outline* find(const std::string& path) {
        const auto known = files_.find(path);
        if (known != files_.end()) return known->second.get();
        if (files_.size() >= max_source_files) return nullptr;
        return files_.emplace(path, read(path)).first->second.get();
    }

private:
    static std::unique_ptr<source_outline> read(const std::string& path) {
        const detail::file_reader file{path.c_str()};
        const std::uint64_t size = file.identity().size_bytes;
        if (!file.is_open() || size > max_source_bytes) return nullptr;
        std::string text(static_cast<std::size_t>(size), '\0');
        text.resize(file.read_at(0, &text[0], text.size()));
        return std::make_unique<source_outline>(static_cast<std::string&&>(text));
    }

    std::map<std::string, std::unique_ptr<source_outline>> files_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

// type_answer.hpp - a type's name, and what it was read from.

#ifndef ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP
#define ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The rungs of the ladder; what each of them means is told in docs/types_and_places.md.
enum class type_evidence {
    none,             // not known: the name is "?"
    explicit_tag,     // allocscope::allocator<T>, a tracked base class
    allocator_frame,  // std::allocator<T>::allocate called operator new
    make_frame,       // std::make_unique<T> and its like did
    vtable,           // the live object points to the vtable of T
    constructor,      // T's constructor was called right behind operator new
    source_text       // `new T` stands at that line and column
};

struct type_answer {
    std::string name = "?";
    type_evidence evidence = type_evidence::none;

    bool is_known() const noexcept { return evidence != type_evidence::none; }
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP

// wrapped_type.hpp - takes the library's wrapping off a type: nodes, control blocks, buckets.

#ifndef ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
#define ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A type that is one template with arguments and nothing behind them.
struct template_type {
    std::string_view name;
    std::vector<std::string_view> arguments;  // empty: it is no such type
};

inline template_type split_template(std::string_view type) {
    const std::size_t open = type.find('<');
    if (open == no_position || open == 0 || skip_brackets(type, open) != type.size()) return {};
    return {type.substr(0, open), split_arguments(type.substr(open))};
}

inline std::string_view without_pointer(std::string_view type) noexcept {
    if (ends_with(type, "*")) type.remove_suffix(1);
    return type;
}

inline std::string_view without_array(std::string_view type) noexcept {
    const std::size_t bracket = type.rfind('[');
    const bool is_array = ends_with(type, "]") && bracket != no_position && bracket != 0;
    return is_array ? without_spaces_around(type.substr(0, bracket)) : type;
}

enum class wrapping { none, node, pair_node, control_block, future_result, future_state };

inline wrapping wrapping_of(std::string_view name) noexcept {
    struct known {
        std::string_view name;
        wrapping is;
    };
    constexpr known all[] = {
        {"std::_Rb_tree_node", wrapping::node},
        {"std::__detail::_Hash_node", wrapping::node},
        {"std::_List_node", wrapping::node},
        {"std::_Fwd_list_node", wrapping::node},
        {"std::_Sp_counted_ptr_inplace", wrapping::node},
        {"std::__tree_node", wrapping::node},
        {"std::__hash_node", wrapping::node},
        {"std::__list_node", wrapping::node},
        {"std::__forward_list_node", wrapping::node},
        {"std::__shared_ptr_emplace", wrapping::node},
        {"std::__function::__func", wrapping::node},
        {"std::__value_type", wrapping::pair_node},
        {"std::__hash_value_type", wrapping::pair_node},
        {"std::_Sp_counted_ptr", wrapping::control_block},
        {"std::_Sp_counted_deleter", wrapping::control_block},
        {"std::__shared_ptr_pointer", wrapping::control_block},
        {"std::__future_base::_Result", wrapping::future_result},
        {"std::__future_base::_Deferred_state", wrapping::future_state},
        {"std::__future_base::_Async_state_impl", wrapping::future_state},
        {"std::__future_base::_Task_state", wrapping::future_state},
    };
    for (const known& entry : all) {
        if (name == entry.name) return entry.is;
    }
    return wrapping::none;
}

// What stands in the block, for a user. Idempotent.
inline std::string unwrapped_type(std::string type) {
    for (int layer = 0; layer < 4; ++layer) {
        if (type == "std::__detail::_Hash_node_base*") return "hash buckets";
        if (starts_with(type, "std::__hash_node_base<") && ends_with(type, "*")) {
            return "hash buckets";
        }
        if (type == "std::__future_base::_State_baseV2") return "std::future state";
        const template_type parts = split_template(type);
        if (parts.arguments.empty()) return type;
        const std::string first{parts.arguments[0]};
        switch (wrapping_of(parts.name)) {
            case wrapping::none:
                return type;
            case wrapping::node:
                type = first;
                break;
            case wrapping::pair_node:
                if (parts.arguments.size() < 2) return type;
                type =
                    "std::pair<" + with_const(first) + ", " + std::string{parts.arguments[1]} + '>';
                break;
            case wrapping::control_block:
                return "std::shared_ptr<" + std::string{without_pointer(first)} + "> control block";
            case wrapping::future_result:
                return "std::future<" + first + "> result";
            case wrapping::future_state:
                return "std::future state";
        }
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

// library_calls.hpp - what a function of the standard library allocates, by its template arguments.

#ifndef ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
#define ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The scope and the function of a member of a library template: std::(scope<...>)::(function<...>).
struct library_call {
    std::string_view scope;  // "" for a function of the namespace itself
    std::vector<std::string_view> scope_arguments;
    std::string_view function;
    std::vector<std::string_view> function_arguments;
};

// Function "" when it is not one of the standard library's.
inline library_call as_library_call(const function_name& name) {
    library_call call;
    if (name.components.size() < 2) return call;
    const std::string_view space = name.components[0].name;
    if (space != "std" && space != "__gnu_cxx") return call;
    call.function = name.last().name;
    call.function_arguments = split_arguments(name.last().arguments);
    const name_component& scope = name.components[name.components.size() - 2];
    if (name.components.size() > 2) {
        call.scope = scope.name;
        call.scope_arguments = split_arguments(scope.arguments);
    }
    return call;
}

// The T of "std::allocator<T>"; "" for an allocator that is not the library's own.
inline std::string_view allocated_by(std::string_view allocator) {
    for (const std::string_view start :
         {"std::allocator<", "std::__1::allocator<", "std::__new_allocator<",
          "__gnu_cxx::new_allocator<", "std::pmr::polymorphic_allocator<"}) {
        if (!starts_with(allocator, start) || !ends_with(allocator, ">")) continue;
        const std::size_t size = allocator.size() - start.size() - 1;
        return without_spaces_around(allocator.substr(start.size(), size));
    }
    return {};
}

// allocate() of the library's allocators: the element type, "" for everything else.
inline std::string_view type_of_allocator_call(const library_call& call) {
    if (call.function != "allocate" || call.scope_arguments.empty()) return {};
    const std::string_view first = call.scope_arguments[0];
    for (const std::string_view scope : {"__new_allocator", "new_allocator", "allocator",
                                         "polymorphic_allocator", "malloc_allocator"}) {
        if (call.scope == scope) return first;
    }
    return call.scope == "allocator_traits" ? allocated_by(first) : std::string_view{};
}

// Members that can allocate only characters, inlined code or not.
inline std::string_view type_of_character_buffer(const library_call& call) {
    if (call.scope_arguments.empty()) return {};
    const std::string_view character = call.scope_arguments[0];
    const bool is_plain = character == "char" || character == "wchar_t" || character == "char8_t" ||
                          character == "char16_t" || character == "char32_t";
    const bool is_buffer =
        call.scope == "basic_string" || call.scope == "basic_stringbuf" ||
        (call.scope == "basic_filebuf" && call.function == "_M_allocate_internal_buffer");
    return is_plain && is_buffer ? character : std::string_view{};
}

// The internal functions by which containers ask their allocator.
inline std::string type_of_container_call(const library_call& call) {
    const std::string_view function = call.function;
    if (function == "_M_allocate_buckets" || function == "_M_rehash_aux") return "hash buckets";
    const std::size_t count = call.scope_arguments.size();
    if (call.scope.empty() && function == "__allocate_guarded" &&
        !call.function_arguments.empty()) {
        return std::string{allocated_by(call.function_arguments[0])};
    }
    if (count == 0) return {};
    const std::string first{call.scope_arguments[0]};
    const bool is_node = function == "_M_get_node" || function == "_M_create_node";
    if (call.scope == "_Rb_tree") {
        return is_node && count > 1 ? std::string{call.scope_arguments[1]} : std::string{};
    }
    if (call.scope == "_Hashtable_alloc") {
        return function == "_M_allocate_node" ? std::string{allocated_by(first)} : std::string{};
    }
    const bool is_standard = count > 1 && !allocated_by(call.scope_arguments[1]).empty();
    if (!is_standard) return {};
    if (call.scope == "_Vector_base") return first;
    const bool is_list =
        call.scope == "_List_base" || call.scope == "list" || call.scope == "_Fwd_list_base";
    if (is_list && is_node) return first;
    if (call.scope == "_Deque_base" && function == "_M_allocate_node") return first;
    if (call.scope == "_Deque_base" && function == "_M_allocate_map") return first + '*';
    return {};
}

// Any member of a vector: the type of its elements. Such a member may also copy an element that
// allocates, so it only confirms what functions further in have said.
inline std::string element_of_vector(const library_call& call) {
    if (call.scope != "vector" || call.scope_arguments.size() < 2) return {};
    if (allocated_by(call.scope_arguments[1]).empty()) return {};
    const std::string_view element = call.scope_arguments[0];
    return element == "bool" ? std::string{} : std::string{element};
}

// Functions that contain `new T` themselves and name T in their arguments.
inline std::string type_of_make_call(const library_call& call) {
    const std::string_view function = call.function;
    const std::string_view scope_first =
        call.scope_arguments.empty() ? std::string_view{} : call.scope_arguments[0];
    const std::string_view first =
        call.function_arguments.empty() ? std::string_view{} : call.function_arguments[0];

    if (call.scope.empty() || call.scope == "__1" || call.scope == "__detail") {
        for (const std::string_view maker :
             {"make_unique", "make_unique_for_overwrite", "make_shared", "allocate_shared",
              "make_shared_for_overwrite", "get_temporary_buffer", "__get_temporary_buffer"}) {
            if (function == maker) return std::string{without_array(first)};
        }
        return {};
    }
    if (call.scope == "_Base_manager" &&
        (function == "_M_create" || function == "_M_init_functor" || function == "_M_clone")) {
        return std::string{scope_first};
    }
    if (call.scope == "_Manager_external" && (function == "_S_create" || function == "_S_manage")) {
        return std::string{scope_first};
    }
    if (call.scope == "__shared_count" && function == "__shared_count" && ends_with(first, "*")) {
        return "std::_Sp_counted_ptr<" + std::string{first} + '>';
    }
    if (call.scope == "thread" && function == "thread") return "std::thread state";
    if (call.scope == "promise" && function == "promise") {
        return "std::__future_base::_Result<" + std::string{scope_first} + '>';
    }
    if (call.scope == "__future_base" && function == "_S_allocate_result") {
        return "std::__future_base::_Result<" + std::string{first} + '>';
    }
    if ((call.scope == "_Deferred_state" || call.scope == "_Async_state_impl") &&
        function == call.scope && call.scope_arguments.size() > 1) {
        return "std::__future_base::_Result<" + std::string{call.scope_arguments[1]} + '>';
    }
    if (call.scope == "locale" && function == "locale") return "std::locale::_Impl";
    return type_of_container_call(call);
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

// type_from_frames.hpp - the type in the template arguments of the function that called new.

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// Forwards a request for memory and nothing else: its caller is the one to ask.
inline bool is_forwarding_frame(const code_frame& frame) {
    const std::string plain = plain_name(parse_function_name(frame.function));
    if (starts_with(plain, "operator new")) return true;
    for (const std::string_view end :
         {"::__libcpp_operator_new", "::__libcpp_allocate", "newdel_res_t::do_allocate",
          "__new_delete_memory_resource_imp::do_allocate", "std::pmr::memory_resource::allocate"}) {
        if (ends_with(plain, end)) return true;
    }
    return false;
}

// Index of the frame that wanted the memory; frames.size() when there is none.
inline std::size_t asking_frame(const std::vector<code_frame>& frames) {
    std::size_t index = 0;
    while (index < frames.size() && is_forwarding_frame(frames[index])) ++index;
    return index;
}

// What one frame says by itself, were it the direct caller of operator new.
inline type_answer type_from_frame(const code_frame& frame) {
    const function_name name = parse_function_name(frame.function);
    if (name.is_known() && name.components[0].name == "allocscope" &&
        name.last().name == "allocate" && name.components.size() > 2) {
        const name_component& scope = name.components[name.components.size() - 2];
        const std::vector<std::string_view> arguments = split_arguments(scope.arguments);
        if (scope.name != "allocator" || arguments.empty()) return {};
        return {unwrapped_type(pretty_type(arguments[0])), type_evidence::explicit_tag};
    }
    const library_call call = as_library_call(name);
    if (call.function.empty()) return {};
    std::string_view type = type_of_allocator_call(call);
    if (!type.empty()) {
        return {unwrapped_type(pretty_type(type)), type_evidence::allocator_frame};
    }
    type = type_of_character_buffer(call);
    if (!type.empty()) return {std::string{type}, type_evidence::make_frame};
    if (frame.line <= 0) return {};
    std::string made = type_of_container_call(call);
    if (made.empty()) made = type_of_make_call(call);
    if (made.empty()) return {};
    return {unwrapped_type(pretty_type(made)), type_evidence::make_frame};
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
class request_path {
public:
    request_path(const std::vector<code_frame>& frames, std::size_t asking)
        : frames_(frames), at_(asking), answer_(type_from_frame(frames[asking])) {
        plain_ = plain_name(parse_function_name(frames_[at_].function));
    }

    type_answer follow() {
        while (answer_.is_known() && ++at_ < frames_.size() && step()) {
        }
        return answer_;
    }

private:
    // False when this frame asks for something of its own.
    bool step() {
        const function_name name = parse_function_name(frames_[at_].function);
        std::string plain = plain_name(name);
        const bool is_same_function = plain == plain_ && !plain.empty();
        plain_ = static_cast<std::string&&>(plain);
        const library_call call = as_library_call(name);
        if (call.function.empty()) return false;
        if (is_same_function && !was_vector_) {
            const type_evidence evidence = answer_.evidence;
            answer_ = type_from_frame(frames_[at_]);
            if (answer_.is_known()) answer_.evidence = evidence;
            return true;
        }
        std::string type{type_of_allocator_call(call)};
        if (type.empty()) type = type_of_container_call(call);
        if (type.empty()) return vector_step(element_of_vector(call), is_same_function);
        answer_.name = unwrapped_type(pretty_type(type));
        return true;
    }

    bool vector_step(const std::string& element, bool is_same_function) {
        if (element.empty()) return false;
        const std::string type = unwrapped_type(pretty_type(element));
        if (type != answer_.name && was_vector_ && !is_same_function) {
            // A vector of vectors copies an element; anything else cannot be told apart from that.
            if (type != "std::vector<" + answer_.name + '>') answer_ = {};
            return false;
        }
        answer_.name = type;
        was_vector_ = true;
        return true;
    }

    const std::vector<code_frame>& frames_;
    std::size_t at_;
    type_answer answer_;
    std::string plain_;        // of the frame before
    bool was_vector_ = false;  // the frame before is a member of std::vector
};

// What the direct caller of operator new tells by its name. `frames` innermost first.
inline type_answer type_from_frames(const std::vector<code_frame>& frames) {
    const std::size_t asking = asking_frame(frames);
    if (asking == frames.size()) return {};
    // Behind memory_resource::allocate stands whoever asked the resource: believe only the
    // allocator that passes its request on as it is.
    const bool is_resource =
        asking > 0 && ends_with(plain_name(parse_function_name(frames[asking - 1].function)),
                                "memory_resource::allocate");
    const type_answer answer = request_path{frames, asking}.follow();
    if (is_resource && answer.evidence != type_evidence::allocator_frame) return {};
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP

// type_from_source.hpp - the T of the `new T` at a frame's file, line and column.

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A word that may be a macro with a `new` inside: by convention, or defined in this file.
inline bool may_be_macro_call(const source_outline& file, std::size_t at) {
    const std::vector<source_token>& tokens = file.tokens();
    const std::string_view word = tokens[at].text;
    if (!is_word(word)) return false;
    if (file.is_macro(word)) return true;
    if (word.size() < 2 || at + 1 == tokens.size() || tokens[at + 1].text != "(") return false;
    for (const char c : word) {
        if (c >= 'a' && c <= 'z') return false;
    }
    return true;
}

// True when something in [begin, end) but `known` might call operator new in this very place.
inline bool has_hidden_new(const source_outline& file, std::size_t begin, std::size_t end) {
    const std::vector<source_token>& tokens = file.tokens();
    for (std::size_t i = begin; i < end && i < tokens.size(); ++i) {
        if (tokens[i].text == "operator" || may_be_macro_call(file, i)) return true;
    }
    return false;
}

// g++ gives a `new` without initialiser, whose value is handed over as it is, the place of the
// call's "(". The only such new-expression in that call, when it is an argument by itself.
inline const new_expression* find_in_call(const source_outline& file, std::size_t open) {
    const std::size_t close = file.partner(open);
    if (close <= open || has_hidden_new(file, open, close)) return nullptr;
    const new_expression* only = nullptr;
    for (const new_expression& expression : file.expressions()) {
        if (expression.begin < open || expression.begin > close) continue;
        if (expression.has_initialiser) continue;
        if (only != nullptr) return nullptr;
        only = &expression;
    }
    if (only == nullptr) return nullptr;
    const std::string_view before = file.tokens()[only->begin - 1].text;
    return before == "(" || before == "," ? only : nullptr;
}

// Without a column: the only new-expression that begins or ends on the line.
inline const new_expression* find_on_line(const source_outline& file, int line) {
    const new_expression* only = nullptr;
    for (const new_expression& expression : file.expressions()) {
        const int first = file.tokens()[expression.begin].line;
        const int last = file.tokens()[expression.last].line;
        if (line != first && line != last) continue;
        if (only != nullptr) return nullptr;
        only = &expression;
    }
    if (only == nullptr) return nullptr;
    const int first = file.tokens()[only->begin].line;
    const int last = file.tokens()[only->last].line;
    const bool is_hidden =
        has_hidden_new(file, file.token_from(first, 0), file.token_from(last + 1, 0));
    return is_hidden ? nullptr : only;
}

inline const new_expression* find_new_expression(const source_outline& file, int line, int column) {
    if (column <= 0) return find_on_line(file, line);
    const std::size_t at = file.token_from(line, column);
    if (at == file.tokens().size()) return nullptr;
    const source_token& token = file.tokens()[at];
    if (token.line != line || token.column != column) return nullptr;
    for (const new_expression& expression : file.expressions()) {
        if (expression.begin == at || expression.last == at) return &expression;
    }
    return token.text == "(" ? find_in_call(file, at) : nullptr;
}

// Puts what the frame's function shows in the place of template parameters.
class source_spelling {
public:
    source_spelling(const source_outline& file, const new_expression& expression,
                    std::string_view function)
        : file_(file),
          expression_(expression),
          name_(parse_function_name(function)),
          headers_(file.headers_around(expression.scope)) {
        for (std::size_t i = 0; i < name_.components.size(); ++i) {
            const bool is_generic_lambda = name_.components[i].name == "operator()" && i > 0 &&
                                           name_.components[i - 1].name[0] == '{';
            if (name_.components[i].arguments.empty() || is_generic_lambda) continue;
            instantiated_.push_back(i);
        }
    }

    // "" when it is not certain.
    std::string spelled() const {
        const std::vector<source_token>& tokens = file_.tokens();
        std::string text;
        for (std::size_t i = expression_.type_begin; i < expression_.type_end; ++i) {
            const std::string_view token = tokens[i].text;
            if (token == "template") continue;
            std::string word{token};
            if (is_word(token) && (i == 0 || tokens[i - 1].text != "::")) {
                word = meaning_of(token);
                if (word.empty()) return {};
            }
            const bool touches =
                !text.empty() && is_name_character(text.back()) && is_name_character(word[0]);
            if (touches) text += ' ';
            text += word;
        }
        return without_const(pretty_type(text));
    }

private:
    // `new const T` makes a T.
    static std::string without_const(std::string type) {
        if (ends_with(type, "* const")) return type.substr(0, type.size() - 6);
        const bool is_compound = ends_with(type, "*") || ends_with(type, "&");
        return starts_with(type, "const ") && !is_compound ? type.substr(6) : type;
    }

    std::string meaning_of(std::string_view word) const {
        if (is_plain_word(word)) return std::string{word};
        if (file_.is_macro(word)) return {};
        for (std::size_t i = headers_.size(); i > 0; --i) {
            const std::vector<std::string_view>& parameters = headers_[i - 1]->parameters;
            for (std::size_t p = 0; p < parameters.size(); ++p) {
                if (parameters[p] == word) return argument(i - 1, p);
            }
        }
        // Inside a template that the text does not show, any name may be a parameter.
        if (!instantiated_.empty() && headers_.empty()) return {};
        if (!headers_.empty() && file_.is_template_alias(word)) return {};
        if (file_.is_standard_name(word)) return "std::" + std::string{word};
        return own_class(word);
    }

    static bool is_plain_word(std::string_view word) {
        for (const std::string_view plain :
             {"std", "const", "volatile", "bool", "void", "float", "wchar_t", "char8_t", "char16_t",
              "char32_t", "struct", "class", "union", "enum", "typename", "true", "false"}) {
            if (word == plain) return true;
        }
        return builtin_type{}.take(word);
    }

    // Argument `index` of what the header's template was instantiated with.
    std::string argument(std::size_t header, std::size_t index) const {
        if (headers_.size() != instantiated_.size()) return {};
        for (const template_header* outer : headers_) {
            if (!outer->shows_arguments) return {};
        }
        const std::vector<std::string_view> arguments =
            split_arguments(name_.components[instantiated_[header]].arguments);
        const std::size_t count = headers_[header]->parameters.size();
        if (headers_[header]->has_pack) {  // the pack takes the rest: those before it are certain
            if (index + 1 >= count || index >= arguments.size()) return {};
        } else if (arguments.size() != count) {
            return {};
        }
        return std::string{arguments[index]};
    }

    // `pool` inside a member of app::pool<int> is app::pool<int>.
    std::string own_class(std::string_view word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            if (component.name != word || i + 1 == name_.components.size()) continue;
            const char* begin = name_.whole.data();
            const char* end = component.arguments.data() + component.arguments.size();
            return std::string(begin, end);
        }
        return std::string{word};
    }

    const source_outline& file_;
    const new_expression& expression_;
    function_name name_;
    std::vector<const template_header*> headers_;  // outermost first
    std::vector<std::size_t> instantiated_;        // components that show arguments
};

// What stands at the frame's line and column. The frame must be the direct caller of operator new.
inline type_answer type_from_source(const code_frame& frame, source_cache& sources) {
    if (frame.line <= 0 || frame.file.empty() || is_standard_header(frame.file)) return {};
    const function_name function = parse_function_name(frame.function);
    const std::size_t count = function.components.size();
    // Without a column a default member initialiser would be taken for what stands on the
    // constructor's line.
    const bool is_constructor =
        count > 1 && function.components[count - 1].name == function.components[count - 2].name;
    if (frame.column <= 0 && is_constructor) return {};
    const source_outline* file = sources.find(frame.file);
    if (file == nullptr) return {};
    const new_expression* expression = find_new_expression(*file, frame.line, frame.column);
    if (expression == nullptr || !expression->has_type) return {};
    std::string type = source_spelling{*file, *expression, frame.function}.spelled();
    if (type.empty()) return {};
    return {static_cast<std::string&&>(type), type_evidence::source_text};
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

// type_from_vtable.hpp - the class whose vtable a live object points to.

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// `symbol` is demangled. "" when it is not a vtable.
inline std::string type_from_vtable(std::string_view symbol) {
    constexpr std::string_view mark = "vtable for ";
    if (!starts_with(symbol, mark)) return {};
    const std::string type = pretty_type(symbol.substr(mark.size()));
    return type.empty() ? type : unwrapped_type(type);
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP

// type_ladder.hpp - names the type that a stack allocated: the best rung that holds.

#ifndef ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
#define ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The direct caller of operator new, for its source text. When it was folded with another
// instantiation of the same template, its name says nothing about its template arguments.
inline code_frame frame_for_source(const std::vector<code_frame>& frames, std::size_t asking) {
    code_frame frame = frames[asking];
    if (asking + 1 < frames.size() && frames[asking + 1].function != frame.function &&
        plain_name(parse_function_name(frames[asking + 1].function)) ==
            plain_name(parse_function_name(frame.function))) {
        frame.function.clear();
    }
    return frame;
}

// `vtable_symbol`: the demangled symbol that the first word of a live object of this stack points
// into, "" when it points to none. A vtable says the whole name; but it may be that of the first
// member of a class without virtual functions, so it does not stand against the source text.
inline type_answer name_type(const std::vector<code_frame>& frames, source_cache& sources,
                             std::string_view vtable_symbol = {}) {
    type_answer answer = type_from_frames(frames);
    if (answer.is_known()) return answer;
    const std::size_t asking = asking_frame(frames);
    if (asking < frames.size()) {
        answer = type_from_source(frame_for_source(frames, asking), sources);
    }
    const std::string dynamic = type_from_vtable(vtable_symbol);
    if (dynamic.empty()) return answer;
    const bool agrees =
        !answer.is_known() || dynamic == answer.name || ends_with(dynamic, "::" + answer.name);
    if (agrees) return {dynamic, type_evidence::vtable};
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

// name_book.hpp - what the stacks of a process are called, each worked out once.

#ifndef ALLOCSCOPE_NAMING_NAME_BOOK_HPP
#define ALLOCSCOPE_NAMING_NAME_BOOK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A stack with everything a row says of it. Texts belong to the book.
struct named_stack {
    std::vector<std::uintptr_t> addresses;
    const char* path = "";   // of the user's frame; "" when it has no line
    const char* place = "";  // when there is no line: the function, else the module
    int line = 0;
    const char* type = "?";
    const char* function = "";
    std::uint64_t offset = 0;
    std::vector<snapshot::frame> frames;
    std::size_t user_frame = 0;
    bool is_type_final = false;  // false: a live object's vtable might still tell
    std::uint64_t rule_version = 0;
};

// What the symbol tables say of a stack. `frames` point into `names`.
struct symbol_stack {
    std::vector<symbolize::code_frame> names;
    std::vector<snapshot::frame> frames;
    std::size_t user_frame = 0;
};

class name_book {
public:
    name_book() = default;
    name_book(const name_book&) = delete;
    name_book& operator=(const name_book&) = delete;

    // Before the stacks of a snapshot are asked for: libraries may have come and gone.
    void refresh() {
        if (symbols_.refresh_modules()) by_hash_.clear();
    }

    // After them: the files that were read are not needed until the next new stack.
    void rest() { symbols_.release_debug_data(); }

    // The stack's names, worked out when it is seen for the first time.
    named_stack& find(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
                      const symbolize::frame_rule& rule) {
        if (named_stack* found = known(hash, addresses, count, rule)) return *found;
        stacks_.emplace_back();
        named_stack& made = stacks_.back();
        made.addresses.assign(addresses, addresses + count);
        made.rule_version = rule.version();
        name(made, rule);
        by_hash_.emplace(hash, &made);
        has_new_ = true;
        return made;
    }

    // Whether find() would work out nothing.
    bool knows(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
               const symbolize::frame_rule& rule) const {
        return known(hash, addresses, count, rule) != nullptr;
    }

    // A stack with the names of the symbol tables alone: a frame for each address. Not kept.
    symbol_stack symbols_of(const std::uintptr_t* addresses, std::size_t count,
                            const symbolize::frame_rule& rule) {
        symbol_stack made;
        made.names.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            made.names[i].function = symbols_.function_symbol_at(addresses[i] - 1);
        }
        for (std::size_t i = 0; i < count; ++i) {
            made.frames.push_back(
                {made.names[i].function.c_str(), "", 0, 0, false, addresses[i] - 1, "", 0});
        }
        made.user_frame = symbolize::user_frame(made.names, rule);
        return made;
    }

    // The type as the vtable that a live object of the stack points to has it.
    void settle_type(named_stack& stack, std::uintptr_t first_word) {
        stack.is_type_final = true;
        const std::string symbol = symbols_.data_symbol_at(first_word);
        if (symbol.empty()) return;
        const std::string type = symbolize::type_from_vtable(symbol);
        if (!type.empty()) stack.type = keep(type);
    }

    const char* keep(const std::string& text) { return texts_.insert(text).first->c_str(); }

    bool has_new() const noexcept { return has_new_; }
    void forget_new() noexcept { has_new_ = false; }

    std::size_t stack_count() const noexcept { return stacks_.size(); }
    std::uint32_t references = 1;  // under the naming lock

private:
    using code_frame = symbolize::code_frame;
    using code_location = symbolize::code_location;

    named_stack* known(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
                       const symbolize::frame_rule& rule) const {
        const auto range = by_hash_.equal_range(hash);
        for (auto at = range.first; at != range.second; ++at) {
            named_stack& found = *at->second;
            if (found.rule_version == rule.version() && found.addresses.size() == count &&
                std::memcmp(found.addresses.data(), addresses, count * sizeof(*addresses)) == 0) {
                return &found;
            }
        }
        return nullptr;
    }

    struct whose {
        const code_location* location;
        bool is_outermost;  // of its location: the symbol's offset is this frame's
    };

    void name(named_stack& stack, const symbolize::frame_rule& rule) {
        std::vector<code_frame> frames;
        std::vector<whose> owners;
        for (const std::uintptr_t address : stack.addresses) {
            const code_location& location = symbols_.resolve(address - 1);
            add_frames(location, frames, owners);
        }
        const std::size_t user = place_of(frames, owners, rule);
        stack.user_frame = user;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            stack.frames.push_back(kept_frame(frames[i], *owners[i].location));
        }
        const symbolize::type_answer type = symbolize::name_type(frames, sources_);
        if (type.is_known()) stack.type = keep(type.name);
        stack.is_type_final = type.is_known();
        if (user < frames.size()) place(stack, frames[user], *owners[user].location);
    }

    // The user's frame. Without any name to go by, as in a stripped program, the first frame that
    // is at least not in one of the system's libraries.
    static std::size_t place_of(const std::vector<code_frame>& frames,
                                const std::vector<whose>& owners,
                                const symbolize::frame_rule& rule) {
        const std::size_t user = symbolize::user_frame(frames, rule);
        if (user < frames.size() && !rule.is_library(frames[user])) return user;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const bool is_nameless = frames[i].function.empty() && frames[i].file.empty();
            if (is_nameless && !is_system_library(owners[i].location->module)) return i;
        }
        return user;
    }

    static bool is_system_library(const std::string& module) {
        if (module.empty()) return true;
        const std::size_t slash = module.rfind('/');
        const std::string name = slash == std::string::npos ? module : module.substr(slash + 1);
        for (const char* start : {"libc.so", "libc-", "libstdc++.so", "libc++.so", "libc++abi.so",
                                  "libgcc_s.so", "libm.so", "libpthread.so", "ld-linux"}) {
            if (name.rfind(start, 0) == 0) return true;
        }
        return false;
    }

    static void add_frames(const code_location& location, std::vector<code_frame>& frames,
                           std::vector<whose>& owners) {
        if (location.frames.empty()) {
            frames.emplace_back();
            owners.push_back({&location, true});
        }
        for (const code_frame& frame : location.frames) {
            frames.push_back(frame);
            owners.push_back({&location, &frame == &location.frames.back()});
        }
    }

    snapshot::frame kept_frame(const code_frame& frame, const code_location& location) {
        return {keep(frame.function),  keep(frame.file),      frame.line,
                frame.column,          frame.is_inlined,      location.address,
                keep(location.module), location.module_offset};
    }

    void place(named_stack& stack, const code_frame& frame, const code_location& location) {
        stack.function = keep(frame.function);
        if (frame.line != 0 && !frame.file.empty()) {
            stack.path = keep(symbolize::tidy_path(frame.file));
            stack.line = frame.line;
        } else if (!location.symbol.empty()) {
            stack.place = keep(location.symbol);
            stack.offset = location.symbol_offset;
        } else {
            const std::size_t slash = location.module.rfind('/');
            stack.place = keep(slash == std::string::npos ? location.module
                                                          : location.module.substr(slash + 1));
            stack.offset = location.module_offset;
        }
    }

    symbolize::symbolizer symbols_;
    symbolize::source_cache sources_;
    std::unordered_set<std::string> texts_;
    std::deque<named_stack> stacks_;  // stay where they are
    std::unordered_multimap<std::uint64_t, named_stack*> by_hash_;
    bool has_new_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_NAME_BOOK_HPP

// row_text.hpp - the contents of a snapshot while they are still being put together.

#ifndef ALLOCSCOPE_NAMING_ROW_TEXT_HPP
#define ALLOCSCOPE_NAMING_ROW_TEXT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The index of a frame that is not there.
constexpr std::size_t no_frame = static_cast<std::size_t>(-1);

struct frame_text {
    std::string function;
    std::string file;
    int line = 0;
    int column = 0;
    bool is_inlined = false;
    std::uint64_t address = 0;
    std::string module;
    std::uint64_t offset = 0;
};

struct row_text {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::string file;
    int line = 0;
    std::string type = "?";
    std::string function;
    std::uint64_t offset = 0;
    std::uint64_t sites = 1;
    std::vector<frame_text> frames;
    std::size_t user_frame = no_frame;  // whatever is not an index into frames: none
    std::uint64_t samples = 0;
    // Sampled windows only; of other rows build_snapshot() knows them.
    std::uint64_t objects_low = 0;
    std::uint64_t objects_high = 0;
    std::uint64_t bytes_low = 0;
    std::uint64_t bytes_high = 0;
};

struct loss_text {
    std::string reason;
    std::uint64_t count = 0;
};

struct info_text {
    std::string name;
    recording record = recording::exact;
    threads from = threads::all;
    std::uint32_t stack_frames = 24;
    std::uint64_t duration_ns = 0;
    allocation_counts totals;
    std::uint64_t own_memory_bytes = 0;
    std::vector<loss_text> losses;  // those with a count of 0 are left out of the snapshot
    bool is_difference = false;
    std::string not_recording;
    std::uint64_t sample_bytes = 0;
    std::uint64_t samples = 0;
    snapshot::window_estimates estimates;  // sampled windows only; otherwise the totals
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ROW_TEXT_HPP

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

// Of an estimate without variance: the estimate itself. Without samples there is no variance, and
// the answer is 0 to 0: nothing is known then, and it is the caller who must say so.
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

// Wraps for requests that no allocator grants: one that is refused is no sample anyway.
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

// With x = 1 for objects, x = the size for bytes:
struct sample_weight {
    double objects;  // x / p
    double bytes;
    double
        objects_variance;  // x^2 (1 - p) / p^2: its sum estimates the variance of the sum of x / p
    double bytes_variance;
    double objects_skew;  // x^3 (1 - p)^2 / p^3: see sampling/confidence_interval.hpp
    double bytes_skew;
};

// What was not drawn but is recorded anyway, as everything is while an exact window is open.
constexpr sample_weight weigh_certain(std::uint64_t bytes) noexcept {
    return {1.0, static_cast<double>(bytes), 0.0, 0.0, 0.0, 0.0};
}

// Of an object of so many bytes, sampled at so many bytes on average. One of 0 bytes stands for
// objects, and for no bytes. Where p is 1 as a double (from 38 means on; always when the mean is 1
// or 0) the weight is 1 and the variance 0, exactly.
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

// (1 - p) / p of an object of 0 bytes: no sample, met or not, is worth more unseen objects.
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

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// 0 for what is below, the largest number for what is above.
inline std::uint64_t whole_number(double number) noexcept {
    if (!(number > 0.0)) return 0;
    if (number >= 18446744073709551615.0) return 0xffffffffffffffffU;
    return static_cast<std::uint64_t>(number);
}

// To the nearest; the interval outwards, except for what a double cannot tell from a whole number.
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

    // `other` is part of this. More samples than there are leave nothing.
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

    // Of one place, which is only looked at because it was sampled. At least as many objects as
    // samples: those were seen. Of a single sample nothing more is certain: many places that are
    // never seen had the same chance, and the one that was seen may hold this one object.
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

    // Of all that was sampled every `sample_bytes`, whether or not it met a sample. What did not
    // can only add to what did, so it is the upper end that makes room for it, as much as may be
    // needed: one sample of the smallest objects there are is most_unseen_objects() objects, one of
    // any objects at most `sample_bytes` bytes. Without any sample there are 0 to 3.84 *
    // sample_bytes bytes, in 0 to 3.84 * sample_bytes / 16 objects. For less room the sizes that
    // were not met would have to be guessed from those that were: docs/decisions/0008.
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

    // What rounding leaves is zero: it would pass for samples of an odd size.
    static double rest_of(double whole, double part) noexcept {
        constexpr double rounding = 1e-12;
        const double rest = whole - part;
        return rest > whole * rounding ? rest : 0.0;
    }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <pthread.h>

// estimates.hpp - from sums of samples to the numbers of a snapshot.

#ifndef ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
#define ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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
template <class Row>
void set_exact(Row& row) noexcept {
    row.objects_low = row.objects_high = row.objects;
    row.bytes_low = row.bytes_high = row.bytes;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

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

// build_snapshot.hpp - lays rows, frames and texts out in the one block of a snapshot.

#ifndef ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP
#define ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Defined in naming/snapshot_difference.hpp; every block carries it as its `difference`.
ALLOCSCOPE_HIDDEN snapshot_data* difference_of(const snapshot_data& later,
                                               const snapshot_data& earlier);

// Of a number that counts up in a plain snapshot and up or down in a difference.
inline std::uint64_t size_of_change(std::uint64_t value, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(value) < 0;
    return is_negative ? std::uint64_t{0} - value : value;
}

// Most objects first (in a difference: the largest change), then most bytes; what is still equal
// goes by its texts, so that the order does not depend on how the rows were found.
inline bool row_comes_before(const row_text& left, const row_text& right, bool is_difference) {
    const std::uint64_t left_objects = size_of_change(left.objects, is_difference);
    const std::uint64_t right_objects = size_of_change(right.objects, is_difference);
    if (left_objects != right_objects) return left_objects > right_objects;
    const std::uint64_t left_bytes = size_of_change(left.bytes, is_difference);
    const std::uint64_t right_bytes = size_of_change(right.bytes, is_difference);
    if (left_bytes != right_bytes) return left_bytes > right_bytes;
    if (const int order = left.file.compare(right.file); order != 0) return order < 0;
    if (left.line != right.line) return left.line < right.line;
    if (left.offset != right.offset) return left.offset < right.offset;
    if (const int order = left.type.compare(right.type); order != 0) return order < 0;
    if (const int order = left.function.compare(right.function); order != 0) return order < 0;
    if (left.objects != right.objects) return left.objects < right.objects;  // signs differ
    return left.bytes < right.bytes;
}

// Every text once. First add() all of them; then there is a size, and once the bytes have an
// address, at() knows where each text went. The views must stay valid meanwhile.
class text_pool {
public:
    void add(std::string_view text) {
        if (offsets_.emplace(text, size_bytes_).second) size_bytes_ += length(text) + 1;
    }
    std::size_t size_bytes() const noexcept { return size_bytes_; }

    void place(char* bytes) {
        bytes_ = bytes;
        for (const auto& [text, offset] : offsets_) {
            if (length(text) != 0) std::memcpy(bytes + offset, text.data(), length(text));
            bytes[offset + length(text)] = '\0';
        }
    }
    const char* at(std::string_view text) const { return bytes_ + offsets_.find(text)->second; }

private:
    // A zero byte inside would hide what follows it from some readers and not from others.
    static std::size_t length(std::string_view text) noexcept {
        return std::min(text.find('\0'), text.size());
    }

    std::unordered_map<std::string_view, std::size_t> offsets_;
    std::size_t size_bytes_ = 0;
    char* bytes_ = nullptr;
};

// Where each part of the block begins.
struct snapshot_layout {
    std::size_t row_count = 0;
    std::size_t frame_count = 0;
    std::size_t loss_count = 0;
    text_pool texts;

    snapshot_layout(const std::vector<row_text>& rows, const info_text& about) {
        row_count = rows.size();
        for (const row_text& row : rows) {
            frame_count += row.frames.size();
            for (const std::string* text : {&row.file, &row.type, &row.function}) texts.add(*text);
            for (const frame_text& frame : row.frames) {
                for (const std::string* text : {&frame.function, &frame.file, &frame.module}) {
                    texts.add(*text);
                }
            }
        }
        texts.add(about.name);
        texts.add(about.not_recording);
        for (const loss_text& loss : about.losses) {
            if (loss.count == 0) continue;
            ++loss_count;
            texts.add(loss.reason);
        }
    }

    std::size_t rows_at() const { return sizeof(snapshot_data); }
    std::size_t frames_at() const { return rows_at() + row_count * sizeof(snapshot::row); }
    std::size_t losses_at() const { return frames_at() + frame_count * sizeof(snapshot::frame); }
    std::size_t texts_at() const { return losses_at() + loss_count * sizeof(snapshot::loss); }
    std::size_t size_bytes() const { return texts_at() + texts.size_bytes(); }
};
static_assert(sizeof(snapshot_data) % alignof(snapshot::row) == 0 &&
                  sizeof(snapshot::row) % alignof(snapshot::frame) == 0 &&
                  sizeof(snapshot::frame) % alignof(snapshot::loss) == 0,
              "each part of the block ends where the next one may begin");

// Hidden: the block must call the module that made it, not a plugin that may be unloaded.
ALLOCSCOPE_HIDDEN inline void release_snapshot_block(snapshot_data* data) {
    std::free(data);
}

inline void place_rows(char* block, const snapshot_layout& layout,
                       const std::vector<row_text>& rows) {
    auto* row_out = reinterpret_cast<snapshot::row*>(block + layout.rows_at());
    auto* frame_out = reinterpret_cast<snapshot::frame*>(block + layout.frames_at());
    for (const row_text& row : rows) {
        const std::size_t frame_count = row.frames.size();
        new (row_out++) snapshot::row{row.objects,
                                      row.bytes,
                                      layout.texts.at(row.file),
                                      row.line,
                                      layout.texts.at(row.type),
                                      layout.texts.at(row.function),
                                      row.offset,
                                      row.sites,
                                      frame_out,
                                      frame_count,
                                      std::min(row.user_frame, frame_count),
                                      row.samples,
                                      row.objects_low,
                                      row.objects_high,
                                      row.bytes_low,
                                      row.bytes_high};
        for (const frame_text& frame : row.frames) {
            new (frame_out++) snapshot::frame{layout.texts.at(frame.function),
                                              layout.texts.at(frame.file),
                                              frame.line,
                                              frame.column,
                                              frame.is_inlined,
                                              frame.address,
                                              layout.texts.at(frame.module),
                                              frame.offset};
        }
    }
}

inline void place_losses(char* block, const snapshot_layout& layout, const info_text& about) {
    auto* loss_out = reinterpret_cast<snapshot::loss*>(block + layout.losses_at());
    for (const loss_text& loss : about.losses) {
        if (loss.count == 0) continue;
        new (loss_out++) snapshot::loss{layout.texts.at(loss.reason), loss.count};
    }
}

// The block, with one reference. Rows may come in any order. Null when memory for the block was
// refused; throws std::bad_alloc when it was refused for the temporaries.
inline snapshot_data* build_snapshot(std::vector<row_text> rows, const info_text& about) {
    const uncharged_work quietly;
    const bool is_difference = about.is_difference;
    std::sort(rows.begin(), rows.end(), [is_difference](const row_text& a, const row_text& b) {
        return row_comes_before(a, b, is_difference);
    });
    const bool is_sampled = about.record == recording::sampled;
    if (!is_sampled) {
        for (row_text& row : rows) set_exact(row);
    }
    snapshot_layout layout{rows, about};
    char* block = static_cast<char*>(std::malloc(layout.size_bytes()));
    if (block == nullptr) return nullptr;
    layout.texts.place(block + layout.texts_at());
    place_rows(block, layout, rows);
    place_losses(block, layout, about);
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    for (const row_text& row : rows) {
        objects += row.objects;
        bytes += row.bytes;
    }
    const snapshot::window_info info{
        layout.texts.at(about.name),
        about.record,
        about.from,
        about.stack_frames,
        about.duration_ns,
        about.totals,
        about.own_memory_bytes,
        reinterpret_cast<const snapshot::loss*>(block + layout.losses_at()),
        layout.loss_count,
        is_difference,
        layout.texts.at(about.not_recording),
        about.sample_bytes,
        about.samples,
        is_sampled ? about.estimates : exact_estimates(about.totals)};
    return new (block)
        snapshot_data{1,
                      &release_snapshot_block,
                      reinterpret_cast<const snapshot::row*>(block + layout.rows_at()),
                      rows.size(),
                      objects,
                      bytes,
                      info,
                      &difference_of};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_BUILD_SNAPSHOT_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// interval_reach.hpp - the interval of a sum or difference of estimates.

#ifndef ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP
#define ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_INTERVAL_REACH_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// snapshot_difference.hpp - what one snapshot has more, and less, than another.

#ifndef ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP
#define ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The path that `row.file` was shortened from; "" when it is not known.
inline std::string_view whole_path_of(const snapshot::row& row) noexcept {
    if (row.line == 0 || row.user_frame >= row.frame_count) return {};
    return row.frames[row.user_frame].file;
}

// What two rows have in common when they are the same place.
inline std::string key_of(const snapshot::row& row) {
    const std::string_view path = whole_path_of(row);
    std::string key{path.empty() ? std::string_view{row.file} : path};
    key += '\0';
    key += row.line != 0 ? std::to_string(row.line) : '+' + std::to_string(row.offset);
    key += '\0';
    key += row.type;
    return key;
}

inline row_text text_of(const snapshot::row& row) {
    row_text copy;
    copy.file = row.file;
    copy.line = row.line;
    copy.type = row.type;
    copy.function = row.function;
    copy.offset = row.offset;
    copy.sites = row.sites;
    copy.user_frame = row.user_frame;
    copy.frames.reserve(row.frame_count);
    for (std::size_t i = 0; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        copy.frames.push_back({frame.function, frame.file, frame.line, frame.column,
                               frame.is_inlined, frame.address, frame.module, frame.offset});
    }
    return copy;
}

// The directory that several paths lost when they were shortened, with its last '/'.
class cut_directory {
public:
    void meet(std::string_view cut) {
        if (!is_known_) directory_ = cut;
        is_known_ = true;
        std::size_t same = 0;
        while (same < directory_.size() && same < cut.size() && directory_[same] == cut[same]) {
            ++same;
        }
        const std::size_t slash = directory_.substr(0, same).rfind('/');
        directory_ = directory_.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
    }
    bool is_known() const noexcept { return is_known_; }
    std::string_view directory() const noexcept { return directory_; }

private:
    std::string_view directory_;
    bool is_known_ = false;
};

// The name of a row's file in the difference. Two snapshots that were shortened alike keep their
// names; otherwise the paths of both lose what both lost. Two files never get one name.
class difference_names {
public:
    difference_names(const snapshot_data& later, const snapshot_data& earlier) {
        see(later, 0);
        see(earlier, 1);
    }

    std::string name_of(const snapshot::row& row) {
        const std::string_view path = whole_path_of(row);
        if (path.empty()) return row.file;
        std::string name = shorten(row, path);
        const auto [owner, is_new] = owners_.emplace(name, path);
        return is_new || owner->second == path ? name : std::string{path};
    }

private:
    static constexpr std::size_t kinds = 2;  // absolute and relative paths have no common directory
    static std::size_t kind_of(std::string_view path) noexcept { return path[0] == '/' ? 0 : 1; }

    static bool ends_with(std::string_view text, std::string_view end) noexcept {
        return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
    }

    void see(const snapshot_data& data, std::size_t side) {
        for (std::size_t i = 0; i < data.row_count; ++i) {
            const std::string_view name = data.rows[i].file;
            const std::string_view path = whole_path_of(data.rows[i]);
            if (path.empty() || !ends_with(path, name)) continue;
            cuts_[side][kind_of(path)].meet(path.substr(0, path.size() - name.size()));
        }
    }

    std::string shorten(const snapshot::row& row, std::string_view path) const {
        const cut_directory& later = cuts_[0][kind_of(path)];
        const cut_directory& earlier = cuts_[1][kind_of(path)];
        const bool are_alike =
            !later.is_known() || !earlier.is_known() || later.directory() == earlier.directory();
        if (are_alike || !ends_with(path, row.file)) return row.file;
        cut_directory both = later;
        both.meet(earlier.directory());
        // Only the root in common: whole paths say more.
        return std::string{path.substr(both.directory() == "/" ? 0 : both.directory().size())};
    }

    cut_directory cuts_[2][kinds];
    std::unordered_map<std::string, std::string_view> owners_;
};

class row_reach {
public:
    void meet(const snapshot::row& row, bool is_added) noexcept {
        objects_.meet({row.objects, row.objects_low, row.objects_high}, is_added);
        bytes_.meet({row.bytes, row.bytes_low, row.bytes_high}, is_added);
    }

    void set_interval_of(row_text& row) const noexcept {
        const estimate objects = objects_.around(row.objects);
        const estimate bytes = bytes_.around(row.bytes);
        row.objects_low = objects.low;
        row.objects_high = objects.high;
        row.bytes_low = bytes.low;
        row.bytes_high = bytes.high;
    }

private:
    interval_reach objects_;
    interval_reach bytes_;
};

// The rows of both, merged by place, with the numbers of `later` minus those of `earlier`.
inline std::vector<row_text> changed_rows(const snapshot_data& later,
                                          const snapshot_data& earlier) {
    difference_names names{later, earlier};
    std::unordered_map<std::string, std::size_t> index_of;
    std::vector<row_text> merged;
    std::vector<row_reach> reaches;
    bool is_added = true;
    for (const snapshot_data* data : {&later, &earlier}) {
        for (std::size_t i = 0; i < data->row_count; ++i) {
            const snapshot::row& row = data->rows[i];
            const auto [place, is_new] = index_of.emplace(key_of(row), merged.size());
            if (is_new) {
                merged.push_back(text_of(row));
                merged.back().file = names.name_of(row);
                reaches.emplace_back();
            }
            row_text& sum = merged[place->second];
            sum.objects += is_added ? row.objects : std::uint64_t{0} - row.objects;
            sum.bytes += is_added ? row.bytes : std::uint64_t{0} - row.bytes;
            sum.samples += row.samples;
            reaches[place->second].meet(row, is_added);
        }
        is_added = false;
    }
    std::vector<row_text> changed;
    for (std::size_t i = 0; i < merged.size(); ++i) {
        if (merged[i].objects == 0 && merged[i].bytes == 0) continue;
        reaches[i].set_interval_of(merged[i]);
        changed.push_back(std::move(merged[i]));
    }
    return changed;
}

// Two snapshots of one window count the same losses, so they are not added up: of each reason, the
// larger number.
inline void merge_losses(const snapshot::window_info& info, std::vector<loss_text>& losses) {
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const snapshot::loss& loss = info.losses[i];
        const auto same = std::find_if(losses.begin(), losses.end(), [&](const loss_text& known) {
            return known.reason == loss.reason;
        });
        if (same == losses.end()) {
            losses.push_back({loss.reason, loss.count});
        } else {
            same->count = std::max(same->count, loss.count);
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

inline info_text info_difference(const snapshot_data& later, const snapshot_data& earlier) {
    const snapshot::window_info& described = is_no_window(later) ? earlier.info : later.info;
    info_text about;
    about.name = described.name;
    about.record = described.record;
    about.from = described.from;
    about.stack_frames = described.stack_frames;
    about.own_memory_bytes = described.own_memory_bytes;
    about.is_difference = true;
    about.sample_bytes = described.sample_bytes;
    about.totals = counts_difference(later.info.totals, earlier.info.totals);
    about.samples = later.info.samples + earlier.info.samples;
    about.estimates = estimates_difference(later.info.estimates, earlier.info.estimates);
    if (later.info.duration_ns > earlier.info.duration_ns) {
        about.duration_ns = later.info.duration_ns - earlier.info.duration_ns;
    }
    for (const snapshot_data* data : {&later, &earlier}) {
        if (is_no_window(*data)) continue;
        merge_losses(data->info, about.losses);
        if (data->info.record == recording::sampled) about.record = recording::sampled;
        if (about.not_recording.empty()) about.not_recording = data->info.not_recording;
    }
    return about;
}

// Null: memory was refused.
inline snapshot_data* difference_of(const snapshot_data& later, const snapshot_data& earlier) {
    const uncharged_work quietly;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return build_snapshot(changed_rows(later, earlier), info_difference(later, earlier));
#else
    try {
        return build_snapshot(changed_rows(later, earlier), info_difference(later, earlier));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP

// hash_mix.hpp - one number from the return addresses of a stack.

#ifndef ALLOCSCOPE_BASE_HASH_MIX_HPP
#define ALLOCSCOPE_BASE_HASH_MIX_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// 2^64 divided by the golden ratio, made odd: spreads consecutive numbers well.
constexpr std::uint64_t golden_multiplier = 0x9e3779b97f4a7c15U;

// A number for each position: the splitmix64 series (Steele, Lea, Flood 2014), of each the high
// half, made odd.
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
// a row) make sums that lie in rows, too; so it is folded before it is multiplied.
ALLOCSCOPE_FAST_PATH std::uint64_t stack_hash(std::uint64_t sum) noexcept {
    return hash_finish(hash_finish(sum) * golden_multiplier);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_HASH_MIX_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <time.h>

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

#include <dlfcn.h>
#include <elf.h>
#include <emmintrin.h>
#include <initializer_list>
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

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

// Zeroed pages, readable and writable, or null. Not in core dumps; never huge pages, which would
// turn a sparse table into a dense one.
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

// Addresses only: nothing can be read or written there before open_pages(), and nothing counts as
// memory of the process. Null when they are refused.
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

// As above, for good, and counted as memory of ours.
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

// page_arena.hpp - small pieces of zeroed memory that are given back all at once.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class page_arena {
public:
    static constexpr std::size_t block_bytes = std::size_t{256} * 1024;
    static constexpr std::size_t largest_piece = block_bytes / 8;

    // Zeroed, aligned to 64; null when the kernel refuses. `bytes` is at most largest_piece.
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

    // Bytes handed out, and so touched at most.
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

// What a thread does with an allocation, from the needs of all windows that watch it: the greatest
// of what they want; but samples and numbers together are stacks, as neither serves the other.
enum class charge : std::uint32_t {
    nothing,             // no window watches this thread; frees are still seen
    samples,             // a few allocations, each with its stack
    numbers,             // counters only
    stacks,              // each allocation with its stack
    stacks_without_memo  // there was no memory for the thread's caches
};

// A number that no view has, and that the word never is: not 0, which a shut gate has.
constexpr std::uint64_t no_view = ~std::uint64_t{0};

// In a view's number: the hooks must see every event. The sign, so that the one test of an operator
// tells all three states of the word.
constexpr std::uint64_t every_event = std::uint64_t{1} << 63U;

constexpr charge joined(charge most, std::uint64_t sample_bytes) noexcept {
    return most == charge::numbers && sample_bytes != 0 ? charge::stacks : most;
}

// A set of ways to find callers (options::unwind). Windows that want different ones get stacks that
// serve all: by any means.
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

    // Whether a free must be looked up, or be asked whether it is one of null: a test of the
    // address alone, with bits that say what of it has to be zero. Nothing, while every event is
    // recorded; what is below a page, while only samples are; all of it, while no window is open.
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
        // Release: who reads anything new here, reads 0 or the new number afterwards.
        place.clock.store(next.clock, std::memory_order_release);
        place.windows.store(next.windows, std::memory_order_release);
        place.mode.store(next.mode, std::memory_order_release);
        place.frames.store(next.frames, std::memory_order_release);
        place.session.store(next.session, std::memory_order_release);
        place.many_windows.store(next.many_windows, std::memory_order_release);
        place.tables.store(next.tables, std::memory_order_release);
        place.methods.store(next.methods, std::memory_order_release);
        place.sample_bytes.store(next.sample_bytes, std::memory_order_release);
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
            out.clock = place.clock.load(std::memory_order_acquire);
            out.windows = place.windows.load(std::memory_order_acquire);
            out.mode = place.mode.load(std::memory_order_acquire);
            out.frames = place.frames.load(std::memory_order_acquire);
            out.session = place.session.load(std::memory_order_acquire);
            out.many_windows = place.many_windows.load(std::memory_order_acquire);
            out.tables = place.tables.load(std::memory_order_acquire);
            out.methods = place.methods.load(std::memory_order_acquire);
            out.sample_bytes = place.sample_bytes.load(std::memory_order_acquire);
            const std::uint64_t after = place.number.load(std::memory_order_acquire);
            out.number = number;
            if (before == number && after == number) return true;
        }
    }

private:
    static constexpr std::size_t view_count = 256;
    static constexpr std::uintptr_t sampled_address_bits = 4095;  // record/sample_records.hpp

    struct alignas(64) stored {
        std::atomic<std::uint64_t> number{0};
        std::atomic<std::uint64_t> clock{0};
        std::atomic<std::uint64_t> windows{0};
        std::atomic<charge> mode{charge::nothing};
        std::atomic<std::uint32_t> frames{0};
        std::atomic<std::uint32_t> session{0};
        std::atomic<std::uint32_t> many_windows{0};
        std::atomic<std::uint32_t> tables{0};
        std::atomic<unwinding_set> methods{0};
        std::atomic<std::uint64_t> sample_bytes{0};
    };

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
        __atomic_store_n(&value_, value_ + amount, __ATOMIC_RELEASE);  // so that it can follow
#else
        // One instruction, which compilers do not make of an atomic load and store: an event of
        // the hooks takes eight fewer, and a signal handler finds the addition done or not begun.
        __asm__ volatile("addq %1, %0" : "+m"(value_) : "er"(amount) : "cc", "memory");
#endif
    }
    // Any thread, with a locked instruction; then nobody may use add() on the same counter.
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

    // Each of the 2^64 numbers once in 2^64 calls.
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

// Serial of no epoch as a thread has it. What remembers an epoch says "none" with 0, so that the
// two never agree.
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

// window_table.hpp - the windows that are open, each in a numbered slot.

#ifndef ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
#define ALLOCSCOPE_STATE_WINDOW_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint64_t every_thread = 0;  // no thread instance has this number

// What a window owned of cohorts that were reclaimed while it was open. All of it has died.
struct retired_births {
    allocation_counts counts;  // of a window that is not sampled
    sample_sums births;        // of a sampled one
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
        // Cohorts keep the low half only.
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
    // In steps of 16 bytes, as chain_memo.hpp writes them: what was written a moment ago in another
    // rhythm could not be read before it is in the cache.
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

    // The one site of this stack, if it has one already.
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

    // The site with this number; null for site 0 and when it was not indexed for lack of memory.
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
        std::uint64_t shape;  // 0: none that can be known again
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

struct alignas(64) cohort {
    owned_counter births;
    owned_counter birth_bytes;
    owned_counter deaths;  // by the thread that made the cohort
    owned_counter death_bytes;
    std::atomic<std::uint64_t> born_at;  // the boundary clock when the cohort's epoch began
    std::atomic<std::uint64_t> windows;  // which windows (slots 0..63) it belonged to then
    std::atomic<std::uint32_t> owner;    // number of the thread state that made it
    std::atomic<std::uint32_t> site;
    std::atomic<std::uint32_t> next;  // of the same epoch; 0 ends the list
    // Low half of the thread's instance number: told apart from another thread that had the same
    // state unless 2^32 threads were started in between.
    std::atomic<std::uint32_t> instance;
};
static_assert(sizeof(cohort) == 64, "one cache line: an event touches one");

// A cohort of samples goes on in the lines after its first, where births and deaths then count
// samples, and the bytes are those that the samples stand for. Any thread may count a death there,
// with locked instructions: samples are few.
struct alignas(64) sampled_part {
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
// Ids of sampled cohorts are multiples of it, so that all lines of one lie in one page.
constexpr std::uint32_t sampled_cohort_lines = 4;
static_assert(sizeof(sampled_part) <= (sampled_cohort_lines - 1) * sizeof(cohort),
              "it lies in the place of the next cohorts");

// In cohort::owner: this is a cohort of samples.
constexpr std::uint32_t sampled_owner = std::uint32_t{1} << 31U;

inline bool is_sampled(const cohort& which) noexcept {
    return (which.owner.load(std::memory_order_relaxed) & sampled_owner) != 0;
}

class cohort_table {
public:
    static constexpr std::uint32_t id_bits = 24;  // as many as a slot of the live object map holds
    static constexpr std::uint32_t page_cohorts = 64;
    static constexpr std::uint32_t page_count = (1U << id_bits) / page_cohorts;

    // False when there are no addresses for the table. Called again after a failure.
    bool prepare() noexcept {
        if (is_prepared_.load(std::memory_order_acquire)) return true;
        // Where addresses are few, most of them are the program's.
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

    // The id of the first of 64 fresh cohorts; 0 when there is no room. Ids below 64 are never
    // given out, so that 0 can mean "none".
    std::uint32_t add_page() noexcept {
        std::uint32_t page = next_page_.load(std::memory_order_relaxed);
        do {
            if (page >= reserved_pages_ || page >= limit.load(std::memory_order_relaxed)) return 0;
            if (page >= opened_pages_.load(std::memory_order_acquire) && !open_up_to(page)) {
                return 0;
            }
        } while (!next_page_.compare_exchange_weak(page, page + 1, std::memory_order_acq_rel));
        return page * page_cohorts;
    }

    // Of the pages given out.
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
    static_assert(sizeof(cohort) * page_cohorts == page_bytes, "a page of the machine");

    // Makes the page, and those up to the next multiple of pages_at_once, readable and writable.
    ALLOCSCOPE_SLOW_PATH bool open_up_to(std::uint32_t page) noexcept {
        const std::uint32_t first = page / pages_at_once * pages_at_once;
        cohort* from = cohorts_.load(std::memory_order_relaxed) + first * page_cohorts;
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
    // The owner's counters for a cohort; null when there is no memory for them.
    ALLOCSCOPE_FAST_PATH foreign_count* for_writing(page_arena& arena, std::uint32_t id) noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_relaxed);
        if (ALLOCSCOPE_LIKELY(directory != nullptr)) {
            foreign_count* chunk =
                directory[id / cohort_table::page_cohorts].load(std::memory_order_relaxed);
            if (ALLOCSCOPE_LIKELY(chunk != nullptr)) return chunk + id % cohort_table::page_cohorts;
        }
        return add_chunk(arena, id);
    }

    // Any thread: the counters for a cohort, or null when this thread freed none of its page.
    foreign_count* for_reading(std::uint32_t id) const noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_acquire);
        if (directory == nullptr) return nullptr;
        foreign_count* chunk =
            directory[id / cohort_table::page_cohorts].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + id % cohort_table::page_cohorts;
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
        directory[id / cohort_table::page_cohorts].store(chunk, std::memory_order_release);
        return chunk + id % cohort_table::page_cohorts;
    }

    std::atomic<chunk_pointer*> directory_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP

// eh_frame.hpp - the records of .eh_frame: which code they are about, and their programs.

#ifndef ALLOCSCOPE_BINARY_EH_FRAME_HPP
#define ALLOCSCOPE_BINARY_EH_FRAME_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Bytes, and the address that the first of them has for those who point at it.
struct mapped_bytes {
    byte_view bytes;
    std::uint64_t address = 0;

    bool holds(std::uint64_t place) const noexcept { return place - address < bytes.size; }
};

// How a pointer is written: the low four bits say in which form, the next three what is added.
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

// An address. `in` reads `from` from its start; `data` is what relative_to_data counts from.
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
            case 'B':  // return addresses are signed: another processor's
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

// What follows the name of the CIE. `out` has what the CIE said.
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

// Where the record about `code` is, if there is one at all: the last that does not begin after it.
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

// One row of the table. Of a register that is not sp, rbp or the return address nothing is kept.
// Small because a machine has ten of them on the stack of the program.
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

    // The operations that begin with the number of a register.
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
                in_.uleb();  // signed or not: as long
                return set_place(number, cfi_row::place::other);
            case 0x2f:  // the other way round
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

    // The two expressions that gcc writes for a function that aligns its stack: "the word at bp +
    // offset" for the CFA, "at bp + offset" for the saved bp. And what OpenSSL's assembler writes
    // for the same: "the word at sp + offset, plus 8"; the word is sp as it was on entry.
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

    // Whether it is that register + offset, then `rest` more bytes.
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

    // As the common program left it.
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
    bool is_past_ = false;  // of the row that counts
    cfi_row row_;
    cfi_row first_;
    cfi_row kept_[most_kept];
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP

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

    // The loaded segment that has all of `flags` and holds `address` in its file's part.
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
    may_go,       // dlclose may unload it; whether it is still the same one can be told
    cannot_tell,  // likewise, but it has no build id
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

    // Where it came from does not matter.
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

// cfi_to_rule.hpp - from the unwind table of a program to one of a few rules.

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

// Apart, as is what finds the record: their stacks are not needed at the same time.
ALLOCSCOPE_NOINLINE unwind_rule rule_from_program(const eh_frame_image& image,
                                                  const frame_description& about,
                                                  std::uint64_t code) noexcept {
    cfi_machine machine{image.frames, image.index_address, about};
    if (machine.run_to(code)) return rule_from_row(machine.row());
    return rule_kind::unsupported;
}

// The rule for a return address. `unknown`: no record is about the call before it. A frame that a
// signal interrupted goes on at the instruction itself.
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

// Apart, so that its stack is not needed while a program runs.
ALLOCSCOPE_NOINLINE unwind_rule rule_without_table(std::uintptr_t pc) noexcept {
    return is_return_address(pc) ? rule_kind::no_table : rule_kind::unknown;
}

}  // namespace cfi_to_rule_detail

// The rule for the frame that goes on at `pc`, a return address. Any number may be asked about.
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

// module_identity.hpp - is the module at this address still the one it was?

#ifndef ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
#define ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct module_identity {
    std::uintptr_t start = 0;  // of its addresses; 0: no module
    std::uintptr_t size = 0;
    std::uint64_t fingerprint = 0;  // of the build id
    module_life life = module_life::permanent;

    bool is_same(const module_identity& other) const noexcept {
        return start == other.start && size == other.size && fingerprint == other.fingerprint;
    }
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

// 0: it has none.
inline std::uint64_t build_id_fingerprint(const module_segments& segments) noexcept {
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
        std::uint64_t hash = hash_seed;
        for (std::size_t at = 0; at < id.size; at += sizeof hash) {  // the rest of it is zero
            std::uint64_t word = 0;
            std::memcpy(&word, id.bytes + at, sizeof word);
            hash = hash_step(hash_finish(hash), word);
        }
        if (id.known()) return hash_finish(hash) | 1U;
    }
    return 0;
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
    if (is_loaded_with_program(object.dlfo_link_map)) return found;
    module_segments segments;
    if (find_module_segments(found.start, segments)) {
        found.fingerprint = build_id_fingerprint(segments);
    }
    found.life = found.fingerprint != 0 ? module_life::may_go : module_life::cannot_tell;
    return found;
}

#else

// Without _dl_find_object no rule depends on what a module holds.
inline module_identity identify_module(std::uintptr_t) noexcept {
    return {};
}

#endif

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

// rule_cache.hpp - the unwind rules one thread has needed so far.

#ifndef ALLOCSCOPE_UNWIND_RULE_CACHE_HPP
#define ALLOCSCOPE_UNWIND_RULE_CACHE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class rule_cache {
public:
    // The rule for the frame that goes on at `pc`; for 0 it is `unknown`. The reference is good
    // until the next call.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_for(std::uintptr_t pc) noexcept {
        const entry& home = entries_[home_of(pc)];
        if (ALLOCSCOPE_LIKELY(home.pc == pc)) return home.rule;
        return rule_from_line(pc);
    }

    // The rule of a `pc` for which rule_for found one that may go. `checked` is the
    // module looked at last: while it stays on the stack, it need not be looked at again.
    ALLOCSCOPE_NOINLINE const unwind_rule& confirm(std::uintptr_t pc,
                                                   module_identity& checked) noexcept {
        if (pc - 1 - checked.start >= checked.size) {
            checked = identify_module(pc - 1);
            if (checked.life == module_life::may_go) {
                admit(checked);
            } else {
                forget();  // what the rule came from is no longer there
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

    // Each address has a place of its own, and when that is taken, three others in the same cache
    // line: in a direct-mapped table of this size two of fifty addresses usually meet, and a loop
    // over both would look each up anew every time.
    //
    // The low 13 bits of addresses of code are as good as random. A real multiplication would take
    // a tenth of the time of a walk, in which everything waits for this.
    ALLOCSCOPE_FAST_PATH static std::size_t home_of(std::uintptr_t pc) noexcept {
        return (pc * 9) / sizeof(entry) % entry_count;
    }

    // The n-th place to look at, 0 is home.
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
        // Where no module is, one may be tomorrow.
        if (from.start == 0 && found.kind == rule_kind::unknown) return found;
        found.life = from.life;
        if (from.life == module_life::cannot_tell) return found;
        if (from.life == module_life::may_go) admit(from);
        keep(pc, found);
        return found;
    }

    // At home; who was there moves on, and so on. A signal handler that jumps out of here leaves an
    // empty place, never a wrong pair.
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

    // From here on rules of `module` may be kept, and no others are there for its addresses.
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

// stack_walk.hpp - from frame to frame, by unwind rules and by frame pointers.

#ifndef ALLOCSCOPE_UNWIND_STACK_WALK_HPP
#define ALLOCSCOPE_UNWIND_STACK_WALK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Reads a word of the stack. In asm where AddressSanitizer would otherwise object to garbage frame
// pointers that lead to a local variable's red zone: reading that is harmless.
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
    module_identity checked;  // of the modules that may be unloaded, the one met last
    bool has_all_others;      // false: there was no room for all the words it depends on
    std::uint64_t sum;        // hash_part of each frame's return address
    stack_word returns[most_words];
    unwind_rule rules[most_words];  // of the returns, as they were obeyed
    // The saved frame pointer right below returns[i], when the walk depended on it.
    std::uintptr_t saved_below[most_words];
    bool has_saved_below[most_words];
    stack_word others[most_words];  // saved frame and stack pointers that lie elsewhere
};

// Whether a method may make something else of a rule.
ALLOCSCOPE_FAST_PATH bool is_obeyed_as_it_is(unwinding method, const unwind_rule& rule) noexcept {
    return rule.kind != rule_kind::unsupported && rule.kind != rule_kind::no_table &&
           method != unwinding::frame_pointers;
}

// What a method makes of a rule: one that says where to go, `outermost` for the end, or `unknown`.
inline unwind_rule rule_under(unwinding method, const unwind_rule& rule) noexcept {
    const bool is_end = rule.kind == rule_kind::unknown || rule.kind == rule_kind::outermost;
    if (is_end || is_obeyed_as_it_is(method, rule)) return rule;
    unwind_rule obeyed = frame_pointer_rule;
    if (method == unwinding::cfi) obeyed = rule_kind::outermost;
    obeyed.life = rule.life;
    return obeyed;
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
        out_.sum = sum;
        out_.frame_count = frames;
        out_.generation = rules_.generation();
    }

private:
    // Where a frame's caller goes on.
    struct caller_place {
        std::uintptr_t cfa = 0;       // 0: it cannot be found
        std::uintptr_t saved_bp = 0;  // where the caller's bp is kept; 0: still in the register
    };

    void begin() noexcept {
        out_.other_count = 0;
        out_.method = method_;
        out_.has_all_others = true;
        out_.checked = module_identity{};
    }

    // By reference: taken apart and put together again, eight bytes take longer than the rest.
    ALLOCSCOPE_FAST_PATH const unwind_rule& rule_to_obey(std::uintptr_t pc,
                                                         unwind_rule& copy) noexcept {
        const unwind_rule* rule = &rules_.rule_for(pc);
        if (ALLOCSCOPE_UNLIKELY(rule->life == module_life::may_go)) {
            rule = &rules_.confirm(pc, out_.checked);
        }
        std::memcpy(&copy, rule, sizeof copy);
        if (ALLOCSCOPE_LIKELY(is_obeyed_as_it_is(method_, *rule))) return *rule;
        copy = rule_under(method_, *rule);
        return copy;
    }

    // The register now has what is saved at `at`. Few walks ask for it: it is read when one does.
    void restore_bp(std::uintptr_t at, std::uint32_t index) noexcept {
        bp_address_ = at;
        bp_index_ = index;
        is_bp_noted_ = false;
    }

    // The walk now depends on where the frame pointer points: notes the word it came from.
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

    // What nearly every frame is. Its rule promises that the CFA lies higher, at a multiple of 8,
    // and the saved bp at such a distance below it.
    ALLOCSCOPE_FAST_PATH caller_place leave_by_sp(const unwind_rule& rule,
                                                  std::uintptr_t sp) const noexcept {
        const std::uintptr_t cfa = plus(sp, rule.cfa_offset);
        if (ALLOCSCOPE_UNLIKELY(cfa > high_)) return {};
        if (!rule.restores_bp) return {cfa, 0};
        const std::uintptr_t saved_bp = plus(cfa, rule.bp_offset);
        if (ALLOCSCOPE_UNLIKELY(saved_bp < sp)) return {};
        return {cfa, saved_bp};
    }

    // By any other rule.
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

// One remembered chain. What it stands for is the business of record/.
struct alignas(64) remembered_chain {
    std::uintptr_t frame;  // where the walk began; 0: empty
    std::uint16_t pair_count;
    std::uint16_t single_count;
    std::uint16_t frame_count;
    std::uint16_t is_ordered;    // the frames with pairs are the innermost ones
    std::uint32_t epoch;         // for which the next two are right; 0: for none
    std::uint16_t return_count;  // may be one more than frames
    std::uint16_t method;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;    // hash_part of each frame's return address
    std::uint64_t shape;  // of this thread, not used again; 0: it is walked when anything differs

    frame_pair* pairs() noexcept { return reinterpret_cast<frame_pair*>(this + 1); }
    const frame_pair* pairs() const noexcept {
        return reinterpret_cast<const frame_pair*>(this + 1);
    }
    std::uintptr_t* places() noexcept {
        return reinterpret_cast<std::uintptr_t*>(pairs() + pair_count);
    }
    stack_word* singles() noexcept { return reinterpret_cast<stack_word*>(places() + pair_count); }
    unwind_rule* rules() noexcept {
        return reinterpret_cast<unwind_rule*>(singles() + single_count);
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

// chain_memo.hpp - check a remembered stack instead of walking it.

#ifndef ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP
#define ALLOCSCOPE_UNWIND_CHAIN_MEMO_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class chain_memo {
public:
    static constexpr std::size_t entry_count = 128;

    bool is_ready() const noexcept { return entries_ != nullptr; }

    // Makes room for chains of so many frames; forgets all. False when there is no memory.
    bool prepare(std::uint32_t most_frames, unwinding method = unwinding::automatic) noexcept {
        release();
        method_ = method;
        generation_ = 0;
        // A frame leaves a pair with its place (24 bytes), or two single words, rarely three; and a
        // rule. Chains for which that is too little are not kept.
        const std::size_t needed =
            sizeof(remembered_chain) +
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

    // By which the chains kept here are walked.
    unwinding method() const noexcept { return method_; }

    // What the entries used so far take; any thread.
    std::uint64_t touched_bytes() const noexcept { return touched_bytes_.read(); }

    // The entry in which a chain that starts so is kept, whatever is in it now.
    ALLOCSCOPE_FAST_PATH remembered_chain* entry_for(std::uintptr_t frame,
                                                     std::uintptr_t return_address) noexcept {
        const std::uint64_t mixed = (frame >> 4U) + return_address + (return_address >> 7U);
        return reinterpret_cast<remembered_chain*>(entries_ +
                                                   (mixed & (entry_count - 1U)) * stride_);
    }

    // Whether a walk from `frame` would read what the remembered one read.
    ALLOCSCOPE_FAST_PATH static bool is_unchanged(const remembered_chain& chain,
                                                  std::uintptr_t frame) noexcept {
        if (ALLOCSCOPE_UNLIKELY(chain.frame != frame)) return false;
        const frame_pair* pair = chain.pairs();
        const frame_pair* const pairs_end = pair + chain.pair_count;
        const auto* place = reinterpret_cast<const std::uintptr_t*>(pairs_end);
        __m128i changed = _mm_setzero_si128();
        __m128i changed_too = _mm_setzero_si128();
        for (; pairs_end - pair >= 4; pair += 4, place += 4) {
            changed = _mm_or_si128(changed, compare(place[0], pair[0]));
            changed_too = _mm_or_si128(changed_too, compare(place[1], pair[1]));
            changed = _mm_or_si128(changed, compare(place[2], pair[2]));
            changed_too = _mm_or_si128(changed_too, compare(place[3], pair[3]));
        }
        for (; pair != pairs_end; ++pair, ++place) {
            changed = _mm_or_si128(changed, compare(*place, *pair));
        }
        changed = _mm_or_si128(changed, changed_too);
        const stack_word* single = reinterpret_cast<const stack_word*>(place);
        const stack_word* const end = single + chain.single_count;
        std::uintptr_t different = 0;
        std::uintptr_t different_too = 0;
        for (; end - single >= 4; single += 4) {
            different |= compare(single[0]);
            different_too |= compare(single[1]);
            different |= compare(single[2]);
            different_too |= compare(single[3]);
        }
        for (; single != end; ++single) different |= compare(*single);
        const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(changed, _mm_setzero_si128()));
        return equal == 0xffff && (different | different_too) == 0;
    }

    // For a stack that starts at `frame` and differs from the remembered one at most in return
    // addresses: takes them into the chain and into `frames`, and their sum. False: it has to be
    // walked. In any case the chain is not found again until end_change or remember.
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

    // All three. False: the stack has to be walked.
    static bool update(remembered_chain& chain, std::uintptr_t frame, rule_cache& rules,
                       std::uintptr_t* frames) noexcept {
        if (!collect(chain, frame, frames) || !leads_as_before(chain, rules, frames)) return false;
        end_change(chain, frame);
        return true;
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
        chain.return_count = static_cast<std::uint16_t>(stack.return_count);
        chain.method = static_cast<std::uint16_t>(stack.method);
        chain.frame_count = static_cast<std::uint16_t>(stack.frame_count);
        chain.sum = stack.sum;
        if (stack.method != method_ || !has_room(chain, stack)) return;
        write_words(chain, stack);
        end_change(chain, frame);
    }

private:
    static_assert((entry_count & (entry_count - 1)) == 0, "entry_for masks");

    // A signal handler that jumps out between the two leaves an empty entry.
    static void begin_change(remembered_chain& chain) noexcept {
        chain.frame = 0;
        chain.epoch = 0;
        chain.site = nullptr;
        compiler_barrier();
    }

    // Sums and differences of frames two by two.
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
        // What ended the walk, when it had a saved frame pointer beside it.
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

    // Not 0 when one of the singles from `first` on, which are no frames, is not what it was.
    static std::uintptr_t changed_others(remembered_chain& chain, std::uint32_t first) noexcept {
        std::uintptr_t moved = 0;
        for (std::uint32_t i = first; i < chain.single_count; ++i) {
            moved |= compare(chain.singles()[i]);
        }
        return moved;
    }

    // Whether the frame that goes on at `pc` is left like the one at `index` of the chain.
    static bool has_same_rule(rule_cache& rules, std::uintptr_t pc, remembered_chain& chain,
                              std::uint32_t index) noexcept {
        const unwind_rule now = rules.rule_for(pc);
        return now.life == module_life::permanent &&
               rule_under(static_cast<unwinding>(chain.method), now)
                   .leads_like(chain.rules()[index]);
    }

    bool has_room(const remembered_chain& chain, const walked_stack& stack) const noexcept {
        return stack.has_all_others && sizeof(remembered_chain) +
                                               chain.pair_count * (sizeof(frame_pair) + 8U) +
                                               chain.single_count * sizeof(stack_word) +
                                               stack.return_count * sizeof(unwind_rule) <=
                                           stride_;
    }

    // A module went: a chain with return addresses into it may be left otherwise now.
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
    std::uint64_t last_shape_ = 0;  // never set back: others know shapes, too
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
    std::atomic<std::uint64_t> opened_at;  // which window of the slot; another one: all is void
    std::atomic<std::int64_t> live_bytes;  // may be negative: it frees what others allocated
    std::atomic<std::int64_t> peak_bytes;
    std::uint64_t reserved;
};

// Why something was not recorded.
enum class loss_reason : std::uint32_t {
    no_memory_for_record,  // the object is in no number
    no_room_for_site,      // the object is counted, its place is not known
    no_room_for_death,     // the death of another thread's object is not counted
    too_deeply_nested,     // signal handlers inside signal handlers inside hooks
    record_replaced,       // a block was freed past us: its record gave way to its successor's
    no_memory_for_thread,  // the thread has no state, so none of its events are recorded
    count
};

constexpr std::uint64_t never_sampled = ~std::uint64_t{0};

// What a hook looks at first. A thread without a state has one that is always busy, so that the
// usual way of a hook needs one test only.
struct alignas(64) thread_entry {
    std::atomic<std::uintptr_t> busy{0};
    std::uint64_t view_number = no_view;  // no_view: read the view before anything else
    // The same while each allocation of the thread is recorded and needs no thought before; else
    // no_view.
    std::uint64_t straight_view = no_view;
    // Until the next sample. Not counted down to it but past it: whoever asks for as much or more
    // is sampled. The most there is: this thread is not sampled.
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
    std::uint32_t session = 0;
    std::uint32_t epoch_serial = no_epoch;
    std::uint32_t number = 0;          // of this state; never 0
    std::uint64_t plain_record = 0;    // what a slot of plain_cohort begins with
    cohort* plain_counters = nullptr;  // of plain_cohort; null: not known, or stacks are wanted
    std::uint64_t newest_window = 0;   // latest opened_at of the windows that watch
    std::uint64_t windows = 0;         // slots 0..63 that watch this thread
    // Net live bytes since the last flush to the shares, and the most it was since.
    std::atomic<std::int64_t> pending_bytes{0};
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

// live_object_map.hpp - from the address of a live block to what we know of it, without hashing.

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
    static constexpr std::uint32_t cohort_bits = 24;
    static constexpr std::uint32_t last_session = 4095;
    // Sizes from here on stand in the slot after the record's own.
    static constexpr std::int64_t least_long_bytes = (std::int64_t{1} << 27) - 1;

    using slot = std::atomic<std::uint64_t>;

    // Before that no other member but for_each, wipe and resident may be called.
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

    // Of a size that fits.
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
        return static_cast<std::uint32_t>(record >> cohort_shift) & ((1U << cohort_bits) - 1U);
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
    static constexpr std::uint32_t half_shift = 27;
    static constexpr std::uint32_t cohort_shift = 28;
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

    // Only while a window is or was open: regions_ is set before the gate opens.
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

    // Pages that were never written are not in memory and are not read: a read would map them.
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

    // Where the dice of sampling begin; 0: at random in each process. A test sets it.
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
// busy, so that every hook of such a thread takes the slow way.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry unattached{{1}, no_view};
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry departed{{1}, no_view};

// What threads use after their last destructor, one at a time.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_state latecomer{};

// The state of this thread, &unattached or &departed.
ALLOCSCOPE_HIDDEN inline thread_local thread_entry* current_entry
    __attribute__((tls_model("initial-exec"))) = &unattached;

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

// False: the kernel does not offer it (or a filter forbids it); nothing may be concluded then.
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
    return variable.load(std::memory_order_relaxed);  // so that it can follow
#else
    static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free,
                  "the atomic is nothing but its value");
    return reinterpret_cast<const T&>(variable);
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OWN_VALUE_HPP

// cohort_lookup.hpp - which cohort a new object belongs to, when the memo does not know.

#ifndef ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP
#define ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint32_t no_cohort = 0;

// A fresh epoch object: one that was reclaimed, or a new one.
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
               id, process.cohorts.by_id(id)->next.load(std::memory_order_relaxed),
               std::memory_order_acq_rel)) {
    }
    if (id != no_cohort) return id;
    const std::uint32_t lines = is_of_samples ? sampled_cohort_lines : 1;
    thread.next_cohort = (thread.next_cohort + lines - 1) & ~(lines - 1);
    if (thread.next_cohort == thread.last_cohort) {
        const std::uint32_t first = process.cohorts.add_page();
        if (first == 0) return no_cohort;
        thread.next_cohort = first;
        thread.last_cohort = first + cohort_table::page_cohorts;
    }
    id = thread.next_cohort;
    thread.next_cohort += lines;
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
    made.born_at.store(now->began_at.load(std::memory_order_relaxed), std::memory_order_relaxed);
    made.windows.store(now->windows.load(std::memory_order_relaxed), std::memory_order_relaxed);
    made.owner.store(owner, std::memory_order_relaxed);
    made.instance.store(static_cast<std::uint32_t>(now->instance.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
    made.site.store(site, std::memory_order_relaxed);
    made.next.store(now->cohorts.load(std::memory_order_relaxed), std::memory_order_relaxed);
    now->cohorts.store(id, std::memory_order_release);
    thread.new_cohorts.add(1);
    return id;
}

// The cohort for objects whose place is not wanted or not known.
inline std::uint32_t plain_cohort(thread_state& thread) noexcept {
    if (thread.plain_cohort == no_cohort) {
        const std::uint32_t id = make_cohort(thread, 0);
        if (id == no_cohort) return no_cohort;
        thread.plain_record = live_object_map::record_head(thread.session, id);
        thread.plain_cohort = id;
    }
    if (thread.mode == charge::numbers) {
        thread.plain_counters = process.cohorts.by_id(thread.plain_cohort);
    }
    return thread.plain_cohort;
}

// What the memo says of a chain from now on, as long as the thread is in this epoch.
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
}

// The cohort of a stack in the thread's own bounds that is not the one in its memo.
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
        chain_memo::is_unchanged(*memo, frame)) {
        const cohort_of_site::entry* const entry = entry_for_site(thread, known->id);
        if (entry == nullptr) return plain_cohort(thread);
        settle_memo(thread, *memo, entry->cohort);
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

constexpr std::int64_t flush_bytes = 64 * 1024;

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

// The thread's share, begun anew when it still is of an earlier window of the slot.
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
    // The window of this view may have closed since, and another one opened in its slot.
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

// Adds what is pending to the windows that watched the thread while it piled up.
ALLOCSCOPE_NOINLINE void flush_pending(thread_state& thread) noexcept {
    const std::int64_t net = thread.pending_bytes.load(std::memory_order_relaxed);
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
    thread.pending_bytes.store(0, std::memory_order_relaxed);
    thread.pending_peak.store(0, std::memory_order_relaxed);
}

ALLOCSCOPE_FAST_PATH void add_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    const std::int64_t net =
        thread.pending_bytes.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    thread.pending_bytes.store(net, std::memory_order_relaxed);
    if (ALLOCSCOPE_UNLIKELY(net > thread.pending_peak.load(std::memory_order_relaxed))) {
        thread.pending_peak.store(net, std::memory_order_relaxed);
        if (net >= flush_bytes) flush_pending(thread);
    }
}

// The object belongs to exactly the windows that watch this thread now.
ALLOCSCOPE_FAST_PATH void remove_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    const std::int64_t net =
        thread.pending_bytes.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes);
    thread.pending_bytes.store(net, std::memory_order_relaxed);
    if (ALLOCSCOPE_UNLIKELY(net <= -flush_bytes)) flush_pending(thread);
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

// A state nobody uses, taken; or null when there is no memory.
inline thread_state* take_state() noexcept {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        if (t->is_taken.load(std::memory_order_relaxed)) continue;
        bool expected = false;
        // Acquire: pairs with the release in give_back_state, so all its last owner did is seen.
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
    // Under one long window, threads that come and go are the only boundaries there are.
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
    // From now, so that the epochs of one state stay in order of time over all its threads.
    state.own_clock.store(process.clock.load(std::memory_order_acquire), std::memory_order_relaxed);
    state.clock.store(0, std::memory_order_relaxed);
    state.windows = 0;
    state.bounds = {};
    // The memo's chains lie on a stack that is no more. They are dropped when the view is read, as
    // the depth has changed: somebody else may be giving the tables back at this moment.
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

// Whether the hook that marked the state busy is gone for good: somebody jumped out of a signal
// handler over it. A hook that still runs lies higher in the same stack than what interrupts it,
// or on another stack than the handler; an alternate signal stack may lie anywhere, also within
// the thread's own, so the kernel is asked whether we are on it. (Rare: only when `busy` is set.)
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

// After its last destructor a thread has no state: it waits for the common one.
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

// Bytes up to and including the one that is sampled; 1 to longest_sample_gap. With a mean of 1 or 0
// always 1: everything is recorded. About 20 ns.
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
    bool is_telling = false;        // a guard is being told: what it does itself is no violation
};

ALLOCSCOPE_HIDDEN inline thread_local thread_watches own_watches
    __attribute__((tls_model("initial-exec"))) = {};

// --- plans ---

struct armed_plan {
    std::atomic<std::uint64_t> instance{0};  // of the thread; 0: every thread
    std::atomic<bool> is_taken{false};
    std::atomic<bool> is_armed{false};
    std::uint64_t window = 0;  // keeps the gate open
    // Of the fault_plan; written before is_armed. A hook that is late may read them all the same.
    std::atomic<fault_kind> kind{fault_kind::nth};
    std::atomic<std::uint64_t> number{0};
    std::atomic<std::uint64_t> times{0};
    std::atomic<std::uint64_t> seed{0};

    std::atomic<std::uint64_t> seen{0};  // allocations that the plan decided about
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> bytes{0};  // granted
    // Where the first one failed. The count is stored last.
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

// All that a hook on its slow way asks when nothing is watched.
ALLOCSCOPE_FAST_PATH bool has_watches() noexcept {
    return own_watches.innermost != nullptr ||
           fault_plans.armed.load(std::memory_order_acquire) != 0;
}

// Whether a hook of the calling thread, which has this number, must take the slow way.
inline bool is_watched_thread(std::uint64_t instance) noexcept {
    if (own_watches.innermost != nullptr) return true;
    if (fault_plans.armed.load(std::memory_order_acquire) == 0) return false;
    for (const armed_plan& each : fault_plans.plans) {
        if (concerns(each, instance)) return true;
    }
    return false;
}

// The finish of splitmix64 (Steele, Lea, Flood 2014): neighbours have nothing in common.
constexpr std::uint64_t scrambled(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

// Whether a request of so many bytes fails; counts it.
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
            // Of the allocation's place and the seed alone, so that a run can be repeated.
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

// Of two mean intervals the smaller, where 0 is none.
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

// Until the next sample. That has no memory, so it may be drawn anew whenever the mean changes.
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
        thread.pending_bytes.store(0, std::memory_order_relaxed);
        thread.pending_peak.store(0, std::memory_order_relaxed);
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
        // Remembered chains were cut at another depth, or found in another way.
        thread.memo.release();
        thread.frames = needs.frames;
        thread.method = method;
    }
    // A thread without its caches is charged without stacks; find_cohort counts that as a loss.
    if (thread.mode == charge::stacks && !thread.memo.is_ready()) {
        if (!thread.memo.prepare(thread.frames, thread.method))
            thread.mode = charge::stacks_without_memo;
    }
    if (thread.bounds.high == 0) thread.bounds = current_stack_bounds(frame);
    // A watched thread has no up-to-date view, so that all its events take the slow way.
    const bool is_watched = is_watched_thread(thread.instance.load(std::memory_order_relaxed));
    const bool is_straight = thread.mode == charge::numbers || thread.mode == charge::stacks;
    thread.view_number = is_watched ? no_view : now.number;
    thread.straight_view = is_straight ? thread.view_number : no_view;
    thread.plain_counters = nullptr;  // the next allocation finds them, if they are wanted
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
// The gate is read after `busy` is set. Who gives tables back does the reverse (shuts the gate,
// fences all threads, reads `busy`), so either it sees this thread busy or this thread sees the
// gate shut.
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

// The thread has entered. How many return addresses were found.
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

// From the innermost outwards. The first guard that wants an exception, or null.
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

// The thread has entered. Whether one of the plans says no; every plan counts the request.
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

// Before the real allocation. True: the hook is to behave as if there were no memory. Throws what
// a guard throws if the hook may; else the guard's finish() will. Nothing concerns what is charged
// to nobody, and what a signal handler does that interrupted a hook.
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

// At a free, which nothing can refuse.
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

// All that a free of a block that was not sampled is asked.
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

// The bytes a sample stands for are kept whole, so that sums of them come out even.
inline std::uint64_t whole_bytes(const sample_weight& weight) noexcept {
    return whole_number(weight.bytes + 0.5);
}

inline sample_weight weight_in(const sampled_part& part, std::uint64_t bytes) noexcept {
    return weigh_sample(bytes, part.sample_bytes.load(std::memory_order_relaxed));
}

// Takes the record of a sampled block that dies out of its slot and counts the death. No effect
// when the block was not sampled.
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
    const std::uint64_t born_at = born.born_at.load(std::memory_order_relaxed);
    const std::uint64_t windows = born.windows.load(std::memory_order_relaxed);
    if (windows == thread.windows && born_at >= thread.newest_window && thread.many_windows == 0) {
        remove_live_bytes(thread, bytes);
    } else {
        remove_older_bytes(thread, bytes, born_at, windows,
                           born.instance.load(std::memory_order_relaxed));
    }
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

// The hooks jump to the functions below as their last act, and those to others. What is called so
// begins with a frame at the hook's own address, with the same saved frame pointer in it: the walk
// from `frame` finds what it would have found in the hook.
#define ALLOCSCOPE_KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

// --- death ---

// An object that was born on another thread.
ALLOCSCOPE_NOINLINE void count_foreign_death(thread_state& thread, std::uint32_t id,
                                             std::uint64_t bytes) noexcept {
    const cohort& born = *process.cohorts.by_id(id);
    const std::uint64_t born_at = born.born_at.load(std::memory_order_relaxed);
    const std::uint64_t windows = born.windows.load(std::memory_order_relaxed);
    if (windows == thread.windows && born_at >= thread.newest_window && thread.many_windows == 0) {
        remove_live_bytes(thread, bytes);
    } else {
        remove_older_bytes(thread, bytes, born_at, windows,
                           born.instance.load(std::memory_order_relaxed));
    }
    foreign_count* count = thread.foreign.for_writing(process.arena, id);
    if (count == nullptr) {
        thread.lose(loss_reason::no_room_for_death);
        return;
    }
    count->death_bytes.add(bytes);
    count->deaths.add(1);  // last: a cohort without live objects may be used again
}

// Takes the record of an object that dies out of its slot and counts the death.
ALLOCSCOPE_NOINLINE void remove_record(thread_state& thread, live_object_map::slot* slot) noexcept {
    const std::uint64_t record = slot->load(std::memory_order_relaxed);
    if (live_object_map::session_of(record) != thread.session) return;
    const std::uint64_t bytes = live_object_map::bytes_of(slot, record);
    const std::uint32_t id = live_object_map::cohort_of(record);
    slot->store(0, std::memory_order_relaxed);
    cohort& born = *process.cohorts.by_id(id);
    if (born.owner.load(std::memory_order_relaxed) != thread.number) {
        count_foreign_death(thread, id, bytes);
        return;
    }
    const std::uint64_t born_at = born.born_at.load(std::memory_order_relaxed);
    if (born_at >= thread.newest_window) {
        remove_live_bytes(thread, bytes);
    } else {
        remove_older_bytes(thread, bytes, born_at, born.windows.load(std::memory_order_relaxed),
                           born.instance.load(std::memory_order_relaxed));
    }
    born.death_bytes.add(bytes);
    born.deaths.add(1);
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
    on_free_slow(block, frame);
    Release(block);
}

// Takes the record of the block away, then calls the real free. `frame` is the hook's own frame,
// see on_allocate.
//
// The usual case in a straight line without calls; every other case is handed on as the last act,
// so that nothing needs to be kept for afterwards.
template <void (*Release)(void*)>
ALLOCSCOPE_FAST_PATH void free_recorded(void* block, std::uintptr_t frame) noexcept {
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0 || may_be_sample(block))) {
        return free_slowly<Release>(block, frame);
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(frame, std::memory_order_relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.view_number)) {
        thread.busy.store(0, std::memory_order_relaxed);
        return free_slowly<Release>(block, frame);
    }
    live_object_map::slot* const slot =
        process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    const std::uint64_t record =
        ALLOCSCOPE_LIKELY(slot != nullptr) ? slot->load(std::memory_order_relaxed) : 0;
    if (live_object_map::session_of(record) == thread.session) {
        cohort& born = *process.cohorts.by_id(live_object_map::cohort_of(record));
        const std::uint64_t bytes = live_object_map::short_bytes_of(record);
        const std::int64_t net = own_value(thread.pending_bytes) - static_cast<std::int64_t>(bytes);
        static_assert(live_object_map::least_long_bytes > 2 * flush_bytes,
                      "a long record, whose size stands elsewhere, is caught by the last test");
        if (ALLOCSCOPE_UNLIKELY(born.owner.load(std::memory_order_relaxed) != thread.number ||
                                born.born_at.load(std::memory_order_relaxed) <
                                    thread.newest_window ||
                                net <= -flush_bytes)) {
            return remove_and_release<Release>(thread, slot, block);
        }
        slot->store(0, std::memory_order_relaxed);
        thread.pending_bytes.store(net, std::memory_order_relaxed);
        born.death_bytes.add(bytes);
        born.deaths.add(1);  // last: see count_foreign_death
    }
    leave(thread);
    Release(block);
}

// --- birth ---

// Somebody gave the old block back past us, else its address could not have been given out again.
ALLOCSCOPE_SLOW_PATH void replace_record(thread_state& thread,
                                         live_object_map::slot* slot) noexcept {
    thread.lose(loss_reason::record_replaced);
    remove_record(thread, slot);
}

// The rest of every case, when the cohort is known; no_cohort when there is none to be had.
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

// Every case. The thread has entered; it leaves here. Returns the block.
ALLOCSCOPE_NOINLINE void* record_and_leave(thread_state& thread, void* block, std::uint64_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    // An allocation that sampling let pass, or was late for: see record/sampler.hpp.
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
    const std::int64_t net = own_value(thread.pending_bytes) + static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(slot == nullptr || live_object_map::session_of(slot->load(
                                                   std::memory_order_relaxed)) == thread.session)) {
        return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
    }
    if (ALLOCSCOPE_UNLIKELY(net > own_value(thread.pending_peak))) {
        // Also for every size that does not fit in a slot.
        if (net >= flush_bytes) {
            return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
        }
        thread.pending_peak.store(net, std::memory_order_relaxed);
    }
    thread.pending_bytes.store(net, std::memory_order_relaxed);
    counters->births.add(1);
    counters->birth_bytes.add(bytes);
    live_object_map::put_short(slot, address, head, bytes);
    leave(thread);
    return block;
}

// The memo has another stack at this place. A short way of its own: a loop over changing data comes
// here with every other block.
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
                                 live_object_map::record_head(thread.session, id),
                                 process.cohorts.by_id(id));
}

// After the real allocation. Returns the block. `frame` is the address of the hook's own frame:
// there lie the caller's frame pointer and the return address into it. `entry` is current_entry as
// it was before the real allocation.
//
// Straight like free_recorded: a stack that the memo knows, or none wanted; the rest is handed on.
ALLOCSCOPE_FAST_PATH void* on_allocate(thread_entry* entry, void* block, std::uint64_t bytes,
                                       std::uintptr_t frame) noexcept {
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0)) {
        return on_allocate_slow(block, bytes, frame);
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(frame, std::memory_order_relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.straight_view)) {
        thread.busy.store(0, std::memory_order_relaxed);
        return on_allocate_slow(block, bytes, frame);
    }
    std::uint64_t head = thread.plain_record;
    cohort* counters = thread.plain_counters;
    if (counters == nullptr) {
        if (ALLOCSCOPE_UNLIKELY(thread.mode != charge::stacks)) {  // the counters are still to be
            return record_and_leave(thread, block, bytes, frame);  // found
        }
        remembered_chain& memo =
            *thread.memo.entry_for(frame, read_stack_word(frame + sizeof(std::uintptr_t)));
        // A chain is remembered only of this thread's own stack, so what it names can be read.
        if (ALLOCSCOPE_UNLIKELY(memo.epoch != thread.epoch_serial ||
                                !chain_memo::is_unchanged(memo, frame))) {
            return record_changed_and_leave(thread, block, bytes, frame, memo);
        }
        head = memo.record;
        counters = static_cast<cohort*>(memo.counters);
    }
    return count_birth_and_leave(thread, block, bytes, head, counters);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_RECORDER_HPP

// window_sums.hpp - what the cohorts of a window add up to.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Calls visit(cohort, id) for every cohort of an epoch. Throws what `visit` throws.
template <class Visit>
inline void for_each_cohort(const epoch& of, Visit&& visit) {
    for (std::uint32_t id = of.cohorts.load(std::memory_order_acquire); id != 0;) {
        const cohort& found = *process.cohorts.by_id(id);
        const std::uint32_t next = found.next.load(std::memory_order_relaxed);
        visit(found, id);
        id = next;
    }
}

// Which objects are meant: born on one thread or any, in [from, until) of the boundary clock.
struct birth_range {
    std::uint64_t from;
    std::uint64_t until;
    std::uint64_t instance;
};

inline birth_range births_in(const open_window& window) noexcept {
    return {window.open_at.load(std::memory_order_relaxed), ~std::uint64_t{0},
            window.instance.load(std::memory_order_relaxed)};
}

// Calls visit(cohort, id) for every cohort in the range. Costs nothing for what is older: a
// thread's epochs are in order of time. Throws what `visit` throws.
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

// Everybody's deaths of one cohort.
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

// What so many events, each recorded for certain, add to a sampled window.
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

// Control lock. Without the peak; exact windows.
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

// Objects and bytes of a sampled window. What is freed is taken from what is alive, so that the
// numbers of a window of which nothing is left agree.
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

// Control lock. Without the peak; sampled windows.
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

// Control lock. Without the peak.
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

// What the tables have in memory, but for the live object map.
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

// How often it happened since the process began.
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

// table_release.hpp - memory of the tables is used again, or given back.

#ifndef ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
#define ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- reclaim ---

// A death may have been counted by any thread; the id starts from zero with its next use.
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
        const std::uint32_t next = c.next.load(std::memory_order_relaxed);
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
            process.cohorts.by_id(kept_last)->next.store(next, std::memory_order_relaxed);
        }
        push_returned(is_sampled(c) ? thread.returned_sampled : thread.returned_cohorts, id,
                      c.next);
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

// Reclaims when so many cohorts were made since the last time that looking through them is
// paid for.
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

// Of all threads in epochs that began at `clock` or later; stops counting at `enough`.
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
// unmap all day. 2 MiB are promised; the rest is for what is not looked at here.
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
    // An event touches one page of the map at most.
    const std::uint64_t map_bytes = process.births_since_wipe * page_bytes;
    const bool is_last_session = process.session == live_object_map::last_session;
    if (map_bytes + table_bytes() > kept_bytes || is_last_session) {
        if (release_tables()) return;
    }
    // Records of this session mean nothing from now on. Should the numbers have run out while a
    // thread hung inside a hook, the last one is used on: an old record may then be taken for one
    // of today, which the next release mends.
    if (!is_last_session) ++process.session;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

// window_control.hpp - windows open, close, forget and are counted.

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

// Control lock. Tells those whom a window concerns that it has opened or closed.
inline void announce(const open_window& window, int change) noexcept {
    const std::uint64_t instance = window.instance.load(std::memory_order_relaxed);
    const bool is_first = process.entry.word() == 0;
    const bool is_of_every_event = window.mode.load(std::memory_order_relaxed) >= charge::numbers;
    if (is_of_every_event) process.windows_of_every_event += static_cast<std::uint32_t>(change);
    // Whoever frees an object of this window must look it up, on any thread.
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

// Before the first window. Registering may allocate, so not under the control lock.
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

// With a sample at every byte each object is one: that is exact, without dice.
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

// Control lock. Only sampled windows are left open: frees go back to one test of the address, once
// nothing is alive that needs more. Tried again at each boundary.
inline void look_up_frees_no_more() noexcept {
    if (!process.sees_every_event || process.windows_of_every_event != 0) return;
    // Nobody may be about to record an event by the view of before.
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

// take_snapshot.hpp - the only reader of live tables: what a window holds, by stack.

#ifndef ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP
#define ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The live objects of one stack.
struct live_site {
    std::uint32_t id;  // of the site; 0: the stack is not known
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;        // of a sampled window: what objects and bytes are estimated from
    std::uint64_t hash;         // of the frames below
    std::uint32_t first_frame;  // index into live_window::frames
    std::uint32_t frame_count;
};

// One window at one moment.
struct live_window {
    bool exists = false;
    char name[sizeof(open_window::name)] = {};
    options wanted;
    std::uint64_t duration_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    window_sum totals;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)] = {};
    std::vector<live_site> sites;
    std::vector<std::uintptr_t> frames;
};

// Control lock. What allocscope has in memory for its tables now; of the live object map, when few
// objects were born, what they touched at most.
inline std::uint64_t own_memory_bytes() noexcept {
    constexpr std::uint64_t few = 256;
    const std::uint64_t births =
        process.births_since_wipe + births_since(process.session_began_at, few);
    const std::uint64_t map_bytes = births < few ? births * page_bytes : process.objects.resident();
    return table_bytes() + map_bytes;
}

// What is alive of one cohort: as counted, or in a sampled window as estimated.
struct live_cohort {
    std::uint32_t id;
    std::uint32_t site;
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;
};

inline live_cohort deaths_in(const cohort& c, std::uint32_t id, bool in_samples) {
    live_cohort found{id, c.site.load(std::memory_order_relaxed), 0, 0, {}};
    if (in_samples) {
        found.samples = death_sums_of(c, id);
    } else {
        const death_sum deaths = deaths_of(c, id);
        found.objects = deaths.deaths;
        found.bytes = deaths.bytes;
    }
    return found;
}

inline void subtract_from_births(live_cohort& c, bool in_samples) {
    const cohort& counted = *process.cohorts.by_id(c.id);
    if (in_samples) {
        sample_sums alive = birth_sums_of(counted, c.id);
        alive.subtract(c.samples);
        c.samples = alive;
    } else {
        c.objects = counted.births.read() - c.objects;
        c.bytes = counted.birth_bytes.read() - c.bytes;
    }
}

// Deaths of all first, then births: see window_sums.hpp.
inline std::vector<live_cohort> live_cohorts_in(const birth_range& range, bool in_samples) {
    std::vector<live_cohort> found;
    for_each_cohort_in(range, [&found, in_samples](const cohort& c, std::uint32_t id) {
        found.push_back(deaths_in(c, id, in_samples));
    });
    for (live_cohort& c : found) subtract_from_births(c, in_samples);
    return found;
}

inline void add_site(live_window& to, live_site found) {
    found.first_frame = static_cast<std::uint32_t>(to.frames.size());
    if (const site* known = process.sites.by_id(found.id)) {
        const std::uint32_t most = to.wanted.stack_frames;
        found.frame_count = known->frame_count < most ? known->frame_count : most;
        found.hash = hash_seed;
        for (std::uint32_t i = 0; i < found.frame_count; ++i) {
            found.hash = hash_step(found.hash, known->frames()[i]);
            to.frames.push_back(known->frames()[i]);
        }
        found.hash = hash_finish(found.hash);
    }
    to.sites.push_back(found);
}

inline void collect_sites(live_window& to, const birth_range& range) {
    const bool in_samples = to.wanted.record == recording::sampled;
    std::vector<live_cohort> found = live_cohorts_in(range, in_samples);
    std::sort(found.begin(), found.end(),
              [](const live_cohort& a, const live_cohort& b) { return a.site < b.site; });
    for (std::size_t i = 0; i < found.size();) {
        live_site here{found[i].site, 0, 0, {}, 0, 0, 0};
        std::size_t end = i;
        for (; end < found.size() && found[end].site == found[i].site; ++end) {
            here.objects += found[end].objects;
            here.bytes += found[end].bytes;
            here.samples.add(found[end].samples);
        }
        if (in_samples) {
            here.objects = here.samples.objects_95().value;
            here.bytes = here.samples.bytes_95().value;
        }
        if (here.objects != 0) add_site(to, here);
        i = end;
    }
}

inline void collect_losses(live_window& to) noexcept {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        to.losses[i] = losses_ever(static_cast<loss_reason>(i)) - process.losses_before_session[i];
    }
}

// Control lock. Waits until no hook works with the view of before: what it records is then counted.
inline void wait_for_hooks() noexcept {
    all_threads_are_outside();
}

// The window's live objects; then it starts anew if it is to forget them. To end it is left to the
// caller: types are still to be read from the live objects. Throws std::bad_alloc when memory for
// the sites is refused; everything else is then in `taken` all the same, but for own_memory_bytes,
// which is never filled: it asks the system for each table.
inline void take_live_objects(live_window& taken, window_id id, after_stats then) {
    control_lock lock;
    open_window* window = find_window(id);
    if (window == nullptr) return;
    taken.exists = true;
    copy_name(taken.name, sizeof taken.name, window->name);
    taken.wanted = window->wanted;
    taken.duration_ns = monotonic_ns() - window->started_ns;
    birth_range range = births_in(*window);
    const window_sum before = totals_of(*window, slot_of(id));
    if (then == after_stats::forget) {
        const retired_births ended = window->retired;
        begin_window(*window);
        announce(*window, 0);
        wait_for_hooks();  // else an object born just now would be in neither report
        range.until = window->open_at.load(std::memory_order_relaxed);
        taken.totals = totals_in(range, taken.wanted.record, ended);
        taken.totals.counts.peak_bytes = before.counts.peak_bytes;
    } else {
        taken.totals = before;
    }
    collect_losses(taken);
    if (taken.wanted.record != recording::counters) collect_sites(taken, range);
    if (then == after_stats::forget) reclaim_when_due();
}

inline void add_own_memory(live_window& taken) noexcept {
    control_lock lock;
    taken.own_memory_bytes = own_memory_bytes();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP

// named_block.hpp - the block of a snapshot whose texts live in a name book.

#ifndef ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP
#define ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class naming_lock {
public:
    naming_lock() noexcept { ::pthread_mutex_lock(&process.naming); }
    ~naming_lock() { ::pthread_mutex_unlock(&process.naming); }
    naming_lock(const naming_lock&) = delete;
    naming_lock& operator=(const naming_lock&) = delete;
};

// The naming lock is held.
inline void drop_book(name_book* book) noexcept {
    if (book != nullptr && --book->references == 0) delete book;
}

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

class named_block {
public:
    // Room for so many rows, unless memory for it is refused.
    explicit named_block(std::size_t most_rows) noexcept {
        void* memory = std::malloc(sizeof(head) + most_rows * sizeof(snapshot::row));
        if (memory == nullptr) return;
        head_ = ::new (memory) head{};
        rows_ = reinterpret_cast<snapshot::row*>(head_ + 1);
    }
    ~named_block() { std::free(head_); }
    named_block(const named_block&) = delete;
    named_block& operator=(const named_block&) = delete;

    bool has_memory() const noexcept { return head_ != nullptr; }

    void add(const snapshot::row& row) noexcept {
        ::new (rows_ + row_count_) snapshot::row(row);
        ++row_count_;
        head_->data.live_objects += row.objects;
        head_->data.live_bytes += row.bytes;
    }

    // The finished block, with one reference. The naming lock is held, or there is no book.
    snapshot_data* take(name_book* book, const live_window& window,
                        const char* not_recording) noexcept {
        head_->book = book;
        if (book != nullptr) ++book->references;
        copy_name(head_->name, sizeof head_->name, window.name);
        snapshot_data& data = head_->data;
        data.references = 1;
        data.release = &release;
        data.rows = rows_;
        data.row_count = row_count_;
        data.difference = &difference_of;
        describe(data.info, window);
        data.info.not_recording = not_recording;
        head_ = nullptr;
        return &data;
    }

private:
    static constexpr std::size_t loss_count = static_cast<std::size_t>(loss_reason::count);

    struct head {
        snapshot_data data;  // first: a pointer to it is a pointer to the block
        name_book* book;     // null: there are no rows
        snapshot::loss losses[loss_count];
        char name[sizeof(live_window::name)];
    };
    static_assert(sizeof(head) % alignof(snapshot::row) == 0, "rows follow the head");

    void describe(snapshot::window_info& info, const live_window& window) noexcept {
        info.name = head_->name;
        info.record = window.wanted.record;
        info.from = window.wanted.from;
        info.stack_frames = window.wanted.stack_frames;
        info.duration_ns = window.duration_ns;
        info.totals = window.totals.counts;
        info.estimates = exact_estimates(info.totals);
        if (info.record == recording::sampled) {
            info.sample_bytes = window.wanted.sample_bytes;
            info.samples = window.totals.births.samples;
            info.estimates = sampled_estimates(info.totals, window.totals.births,
                                               window.totals.deaths, info.sample_bytes);
        }
        info.own_memory_bytes = window.own_memory_bytes;
        info.losses = head_->losses;
        for (std::uint32_t i = 0; i < loss_count; ++i) {
            if (window.losses[i] == 0) continue;
            head_->losses[info.loss_count++] = {sentence_for(static_cast<loss_reason>(i)),
                                                window.losses[i]};
        }
    }

    static void release(snapshot_data* data) {
        const uncharged_work meanwhile;
        auto* block = reinterpret_cast<head*>(data);
        if (block->book != nullptr) {
            const naming_lock lock;
            drop_book(block->book);
        }
        std::free(block);
    }

    head* head_ = nullptr;
    snapshot::row* rows_ = nullptr;
    std::size_t row_count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP

// process_names.hpp - the names that this process has worked out so far.

#ifndef ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP
#define ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Which frames are library code; see types/frame_rule.hpp.
ALLOCSCOPE_HIDDEN inline symbolize::frame_rule library_rule;

// Under the naming lock. Null until the first report, and after the last window of a large program.
ALLOCSCOPE_HIDDEN inline name_book* names_of_process = nullptr;

// The process's names while one lives, under the naming lock. When memory is refused halfway, the
// book is dropped: what it had begun to read would stay wrong, and its memory may be what is
// missing.
class names_at_work {
public:
    names_at_work() {
        if (names_of_process == nullptr) names_of_process = new name_book;
    }
    ~names_at_work() {
        if (is_done_) return;
        drop_book(names_of_process);
        names_of_process = nullptr;
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

inline void put_names_away() {
    if (process.entry.word() != 0) return;
    const naming_lock lock;
    if (names_of_process == nullptr || names_of_process->stack_count() <= most_kept_names) return;
    drop_book(names_of_process);
    names_of_process = nullptr;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP

// probe_memory.hpp - reads memory of this process that may be gone.

#ifndef ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// False when not all of it could be read, also where the kernel forbids to ask. One system call.
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

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- types from live objects ---

// For each stack whose type is not known yet: looks at one live object of it. The objects are
// found by walking the live object map once; the object's memory may go meanwhile, so it is read
// through the kernel.
inline void settle_types(name_book& book, const live_window& window,
                         const std::vector<named_stack*>& stacks) {
    std::unordered_map<std::uint32_t, named_stack*> open;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        if (window.sites[i].id != 0 && !stacks[i]->is_type_final) {
            open.emplace(window.sites[i].id, stacks[i]);
        }
    }
    if (open.empty()) return;
    std::vector<std::pair<named_stack*, std::uintptr_t>> samples;
    samples.reserve(open.size());  // the walk below may not throw
    {
        control_lock lock;
        const auto look_at = [&](const live_object& object) {
            const cohort& born = *process.cohorts.by_id(object.cohort);
            const auto wanted = open.find(born.site.load(std::memory_order_relaxed));
            if (wanted == open.end() || object.bytes < sizeof(std::uintptr_t)) return true;
            samples.emplace_back(wanted->second, object.address);
            open.erase(wanted);
            return !open.empty();
        };
        process.objects.for_each(process.session, look_at);
        if (!open.empty()) process.samples.for_each(process.session, look_at);
    }
    for (const auto& [stack, address] : samples) {
        std::uintptr_t first_word = 0;
        if (probe_memory(address, &first_word, sizeof(first_word))) {
            book.settle_type(*stack, first_word);
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

    bool operator==(const row_key& other) const noexcept {
        return path == other.path && place == other.place && line == other.line &&
               offset == other.offset && type == other.type;
    }
};

struct row_key_hash {
    std::size_t operator()(const row_key& key) const noexcept {
        std::uint64_t hash = hash_seed;
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.path));
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.place));
        hash = hash_step(hash, static_cast<std::uint64_t>(key.line) ^ (key.offset << 20U));
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.type));
        return hash_finish(hash);
    }
};

struct row_sum {
    const named_stack* stack;  // of the most numerous site
    std::uint64_t stack_objects;
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t sites;
    sample_sums samples;
};

inline std::vector<row_sum> sum_rows(const live_window& window,
                                     const std::vector<named_stack*>& stacks) {
    std::unordered_map<row_key, std::size_t, row_key_hash> index;
    std::vector<row_sum> rows;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const named_stack& stack = *stacks[i];
        const live_site& site = window.sites[i];
        const row_key key{stack.path, stack.place, stack.line, stack.offset, stack.type};
        const auto [at, is_new] = index.emplace(key, rows.size());
        if (is_new) rows.push_back({&stack, 0, 0, 0, 0, {}});
        row_sum& row = rows[at->second];
        row.objects += site.objects;
        row.bytes += site.bytes;
        row.samples.add(site.samples);
        ++row.sites;
        if (site.objects > row.stack_objects) {
            row.stack_objects = site.objects;
            row.stack = &stack;
        }
    }
    return rows;
}

// Most objects first, then most bytes, then by place, so that equal rows have a fixed order.
inline bool comes_before(const row_sum& a, const row_sum& b) noexcept {
    if (a.objects != b.objects) return a.objects > b.objects;
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    if (const int order = std::strcmp(a.stack->path, b.stack->path); order != 0) return order < 0;
    if (a.stack->line != b.stack->line) return a.stack->line < b.stack->line;
    if (const int order = std::strcmp(a.stack->place, b.stack->place); order != 0) return order < 0;
    if (a.stack->offset != b.stack->offset) return a.stack->offset < b.stack->offset;
    return std::strcmp(a.stack->type, b.stack->type) < 0;
}

inline std::unordered_map<const char*, std::string> shortened(const std::vector<row_sum>& rows) {
    std::unordered_map<const char*, std::string> names;
    std::vector<std::string> paths;
    std::vector<const char*> keys;
    for (const row_sum& row : rows) {
        if (row.stack->path[0] == '\0' || !names.emplace(row.stack->path, "").second) continue;
        keys.push_back(row.stack->path);
        paths.emplace_back(row.stack->path);
    }
    std::vector<std::string> shorter = symbolize::shorten_paths(paths);
    for (std::size_t i = 0; i < keys.size(); ++i) names[keys[i]] = std::move(shorter[i]);
    return names;
}

// --- all together ---

[[noreturn]] inline void refuse_memory() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

inline std::vector<named_stack*> name_stacks(name_book& book, const live_window& window,
                                             const symbolize::frame_rule& rule) {
    book.refresh();
    book.forget_new();
    std::vector<named_stack*> stacks;
    stacks.reserve(window.sites.size());
    for (const live_site& site : window.sites) {
        named_stack& stack =
            book.find(site.hash, window.frames.data() + site.first_frame, site.frame_count, rule);
        if (site.frame_count == 0) stack.place = book.keep("(place not recorded)");
        stacks.push_back(&stack);
    }
    return stacks;
}

// A new reference, or std::bad_alloc; the names are then left to be dropped: see names_at_work.
inline snapshot_data* name_window(name_book& book, const live_window& window,
                                  const symbolize::frame_rule& rule) {
    const std::vector<named_stack*> stacks = name_stacks(book, window, rule);
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    std::vector<row_sum> rows = sum_rows(window, stacks);
    const bool is_sampled = window.wanted.record == recording::sampled;
    if (is_sampled) {  // rounded once, not once for each stack
        for (row_sum& row : rows) {
            row.objects = row.samples.objects_95().value;
            row.bytes = row.samples.bytes_95().value;
        }
    }
    std::sort(rows.begin(), rows.end(), comes_before);
    const auto names = shortened(rows);
    named_block block{rows.size()};
    if (!block.has_memory()) refuse_memory();
    for (const row_sum& row : rows) {
        const named_stack& stack = *row.stack;
        const bool has_path = stack.path[0] != '\0';
        snapshot::row made{};
        made.objects = row.objects;
        made.bytes = row.bytes;
        set_exact(made);
        if (is_sampled) set_estimates(made, row.samples);
        made.file = has_path ? book.keep(names.at(stack.path)) : stack.place;
        made.line = stack.line;
        made.type = stack.type;
        made.function = stack.function;
        made.offset = stack.offset;
        made.sites = row.sites;
        made.frames = stack.frames.data();
        made.frame_count = stack.frames.size();
        made.user_frame = stack.user_frame;
        block.add(made);
    }
    return block.take(&book, window, "");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

#include <cerrno>
#include <cstdio>
#include <cstring>
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

// A file over its size limit (ulimit -f) would kill the process with SIGXFSZ. While one of these
// lives this thread's write fails with EFBIG instead, and no signal is left behind.
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

// All of it, however often the kernel takes only a part. Waits while a non-blocking descriptor is
// full.
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

    // The last write errors of a network file system come with the close.
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

    // Need not be secret, O_EXCL decides; only threads and processes must not often collide.
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

#include <system_error>

// check_message.hpp - what a check that failed says.

#ifndef ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
#define ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t message_rows = 3;
constexpr std::size_t message_callers = 2;

inline std::string counted(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

// Escaped like everything that comes out of a file.
inline std::string shown(const char* text) {
    std::string made;
    while (*text != '\0') {
        const std::size_t length = printable_length(text);
        if (length != 0) {
            made.append(text, length);
            text += length;
        } else {
            char escaped[escaped_byte_length];
            write_escaped_byte(*text++, escaped);
            made.append(escaped, escaped_byte_length);
        }
    }
    return made;
}

// " in session::login": parameters and template arguments would make the lines long. The file has
// them.
inline std::string in_function(const char* function) {
    if (function[0] == '\0') return "";
    const std::string plain = symbolize::plain_name(symbolize::parse_function_name(function));
    return " in " + shown(plain.empty() ? function : plain.c_str());
}

inline std::string frame_place(const snapshot::frame& frame) {
    if (frame.file[0] == '\0') return "";
    return shown(frame.file) + ':' + std::to_string(frame.line);
}

// The whole path: the short one of the row cannot be opened.
inline std::string row_place(const snapshot::row& row) {
    if (row.user_frame < row.frame_count) {
        const std::string place = frame_place(row.frames[row.user_frame]);
        if (!place.empty()) return place;
    }
    std::string place = shown(row.file);
    if (place.empty()) place = "(place not recorded)";
    if (row.line != 0) return place + ':' + std::to_string(row.line);
    if (row.offset == 0) return place;
    char digits[17] = {};
    std::size_t at = 16;
    for (std::uint64_t left = row.offset; left != 0; left >>= 4U) {
        digits[--at] = "0123456789abcdef"[left & 15U];
    }
    return place + "+0x" + (digits + at);
}

inline std::string row_line(const snapshot::row& row, const char* mark) {
    std::string line =
        "\n  " + row_place(row) + ": " + mark + counted(row.objects, "object", "objects");
    if (row.type[0] != '\0' && row.type[0] != '?') line += " of " + shown(row.type);
    line += ", " + (mark + counted(row.bytes, "byte", "bytes"));
    if (row.function[0] != '\0') line += ',' + in_function(row.function);
    return line;
}

inline std::string caller_lines(const snapshot::row& row, const symbolize::frame_rule& rule) {
    std::string lines;
    std::size_t shown_callers = 0;
    for (std::size_t i = row.user_frame + 1; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        symbolize::code_frame plain;
        plain.function = frame.function;
        plain.file = frame.file;
        plain.line = frame.line;
        // Further out there is only what runs the tests.
        if (plain.function.find("::allocscope_test_boundary") != std::string::npos) break;
        const std::string place = frame_place(frame);
        if (place.empty() || rule.is_library(plain)) continue;
        lines += "\n    called from " + place + in_function(frame.function);
        if (++shown_callers == message_callers) break;
    }
    return lines;
}

// One row without its numbers.
inline std::string place_and_callers(const snapshot::row& row, const symbolize::frame_rule& rule) {
    std::string line = row_place(row);
    if (row.function[0] != '\0') line += ':' + in_function(row.function);
    return line + caller_lines(row, rule);
}

// The rows that matter most, by bytes or by objects, and how many more there are.
inline std::string top_rows(const snapshot& rows, bool by_bytes,
                            const symbolize::frame_rule& rule) {
    std::vector<const snapshot::row*> order;
    for (const snapshot::row& row : rows) order.push_back(&row);
    const std::size_t count = std::min(message_rows, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [by_bytes](const snapshot::row* a, const snapshot::row* b) {
                          const std::uint64_t left = by_bytes ? a->bytes : a->objects;
                          const std::uint64_t right = by_bytes ? b->bytes : b->objects;
                          return left != right ? left > right : a < b;
                      });
    const char* mark = rows.info().record == recording::sampled ? "~" : "";
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
        lines += row_line(*order[i], mark) + caller_lines(*order[i], rule);
    }
    if (order.size() > count) {
        lines += "\n  and " + counted(order.size() - count, "more place", "more places");
    }
    return lines;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

// allocated_rows.hpp - where a window allocated, whatever has become of it since.

#ifndef ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP
#define ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Replaces the sites of a window that records every event. What nested windows have reclaimed
// meanwhile is in the totals only.
inline void count_births_by_site(live_window& window, window_id id) {
    control_lock lock;
    const open_window* found = find_window(id);
    if (found == nullptr) return;
    std::map<std::uint32_t, live_site> sites;
    for_each_cohort_in(births_in(*found), [&sites](const cohort& c, std::uint32_t) {
        live_site& site = sites[c.site.load(std::memory_order_relaxed)];
        site.objects += c.births.read();
        site.bytes += c.birth_bytes.read();
    });
    window.sites.clear();
    window.frames.clear();
    for (auto& [site_id, site] : sites) {
        site.id = site_id;
        if (site.objects != 0) add_site(window, site);
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ALLOCATED_ROWS_HPP

// evidence_folder.hpp - where a check that failed saves what it saw.

#ifndef ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP
#define ALLOCSCOPE_VERDICT_EVIDENCE_FOLDER_HPP

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

// expected_beginnings.hpp - stacks whose innermost frames are known to belong to nobody's leak.

#ifndef ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP
#define ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class expected_beginnings {
public:
    // The first `decisive` names of the stack decided.
    void add(const check_request& asked, const leak_stack& stack, std::size_t decisive) {
        if (decisive == 0 || decisive > stack.frame_count || known_.size() == most) return;
        beginning made{asked.is_expected, asked.expected_context, {}};
        // Inlined calls share an address with the function they are inlined into.
        for (std::size_t i = 0; i < decisive; ++i) {
            if (i == 0 || !stack.frames[i - 1].is_inlined) {
                made.addresses.push_back(stack.frames[i].address + 1);
            }
        }
        known_.push_back(std::move(made));
    }

    // Takes the sites that begin so out of the window.
    void drop_from(live_window& window, const check_request& asked) const {
        std::size_t kept = 0;
        for (const live_site& site : window.sites) {
            if (!fits(asked, window.frames.data() + site.first_frame, site.frame_count)) {
                window.sites[kept++] = site;
            }
        }
        window.sites.resize(kept);
    }

private:
    static constexpr std::size_t most = 256;

    struct beginning {
        bool (*is_expected)(const leak_stack& stack, const void* context);
        const void* context;
        std::vector<std::uintptr_t> addresses;
    };

    bool fits(const check_request& asked, const std::uintptr_t* frames, std::size_t count) const {
        for (const beginning& each : known_) {
            const std::size_t needed = each.addresses.size();
            if (each.is_expected != asked.is_expected || each.context != asked.expected_context ||
                needed > count || each.addresses[0] != frames[0]) {
                continue;
            }
            if (std::memcmp(each.addresses.data(), frames, needed * sizeof *frames) == 0) {
                return true;
            }
        }
        return false;
    }

    std::vector<beginning> known_;
};

// Under the naming lock. Null until the first.
ALLOCSCOPE_HIDDEN inline expected_beginnings* beginnings_of_process = nullptr;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_EXPECTED_BEGINNINGS_HPP

// leak_patterns.hpp - which live objects are expected: lines as LeakSanitizer's suppressions.

#ifndef ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
#define ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether `pattern`, in which * stands for any text, fits all of `text`. Linear but for the
// product of both lengths in the worst case: the last * takes one byte more each time.
inline bool fits_whole(std::string_view pattern, std::string_view text) noexcept {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_in = 0;
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_in = in;
        } else if (at < pattern.size() && pattern[at] == text[in]) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
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
    // "" or what is wrong with the lines. Then nothing is expected.
    std::string read(std::string_view lines) {
        std::size_t number = 0;
        while (!lines.empty()) {
            ++number;
            const std::size_t end = lines.find('\n');
            const std::string_view line = trimmed(lines.substr(0, end));
            lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
            if (line.empty() || line[0] == '#') continue;
            const bool is_leak = line.substr(0, 5) == "leak:";
            if (!is_leak || !add(trimmed(line.substr(5)))) {
                patterns_.clear();
                return "leak_options::expected, line " + std::to_string(number) + ": '" +
                       std::string{line.substr(0, 40)} +
                       (is_leak ? "' fits everything; name a function, file, module or type"
                                : "' is no pattern; write leak:<part of a name>");
            }
        }
        return "";
    }

    bool empty() const noexcept { return patterns_.empty(); }

    bool fits(const named_stack& stack) const {
        for (const std::string& pattern : patterns_) {
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
    static std::string_view trimmed(std::string_view text) noexcept {
        const char* const blanks = " \t\r";
        const std::size_t begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos) return {};
        return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
    }

    // False: it would fit everything.
    bool add(std::string_view text) {
        if (text.find_first_not_of("*^$") == std::string_view::npos) return false;
        std::string pattern;
        if (text.front() != '^') {
            pattern += '*';
        } else {
            text.remove_prefix(1);
        }
        const bool has_end = text.back() == '$';
        if (has_end) text.remove_suffix(1);
        pattern += text;
        if (!has_end) pattern += '*';
        patterns_.push_back(pattern);
        return true;
    }

    std::vector<std::string> patterns_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

// check_window.hpp - judges a window: what was expected, what happened, where.

#ifndef ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
#define ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The texts lie behind it.
struct check_block {
    check_data data;
    std::string message;
    std::string saved_to;
    snapshot rows;
};

inline void release_check(check_data* data) {
    const uncharged_work meanwhile;
    delete reinterpret_cast<check_block*>(data);
}

inline std::unique_ptr<check_block> new_check(const allocation_counts& counts) {
    auto made = std::make_unique<check_block>();
    made->data = {1, true, &release_check, "", "", counts, 0, 0, nullptr};
    return made;
}

// --- what is wrong ---

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

inline std::string allowed_text(const count_range& allowed) {
    if (allowed.most == 0) return "0";
    if (allowed.least == allowed.most) return "exactly " + std::to_string(allowed.most);
    if (allowed.most == ~std::uint64_t{0}) return "at least " + std::to_string(allowed.least);
    if (allowed.least == 0) return "at most " + std::to_string(allowed.most);
    return std::to_string(allowed.least) + " to " + std::to_string(allowed.most);
}

inline std::string quoted(const char* name) {
    return name[0] == '\0' ? "" : " \"" + shown(name) + '"';
}

inline std::string budget_headline(const broken_limit& broken, const char* name) {
    return "budget" + quoted(name) + ": " + broken.field + " is " + std::to_string(broken.seen) +
           ", allowed " + allowed_text(broken.allowed);
}

// What the rows below the headline are.
inline const char* headline_end(const snapshot& rows, evidence wanted) noexcept {
    if (rows.empty()) return "";
    return wanted == evidence::alive ? "; alive:" : "; allocated, freed since or not:";
}

inline std::string leak_headline(const check_request& asked, const char* name,
                                 std::uint64_t objects, std::uint64_t bytes) {
    const bool is_repeated = asked.kind == check_kind::repeated_leaks;
    std::string line = "leak check" + quoted(name) + ": ";
    if (is_repeated) {
        line += "each of " + std::to_string(asked.runs) + " runs left at least ";
        objects = asked.added_objects;
        bytes = asked.added_bytes;
    }
    line += counted(objects, "object", "objects") + " with " + counted(bytes, "byte", "bytes");
    line += is_repeated ? " more alive" : objects == 1 ? " is still alive" : " are still alive";
    const count_range allowed = asked.limits.live_objects;
    if (objects < allowed.least) return line + ", expected " + allowed_text(allowed);
    if (objects > allowed.most) return line + ", allowed " + allowed_text(allowed);
    return line + ", allowed " + allowed_text({0, asked.limits.live_bytes.most}) + " bytes";
}

// With a least, which wants leaks: or has not leaked enough.
inline bool has_leaked(const check_request& asked, std::uint64_t objects, std::uint64_t bytes) {
    return objects > asked.limits.live_objects.most || bytes > asked.limits.live_bytes.most ||
           objects < asked.limits.live_objects.least;
}

// --- what was seen ---

struct seen_window {
    snapshot rows;
    allocation_counts counts;
    std::uint64_t objects = 0;  // in the rows: what is alive and not expected
    std::uint64_t bytes = 0;
};

// Takes those out whose function names are enough to tell: before any debug information is read,
// which takes longer than a hundred small tests.
inline void drop_expected_by_symbols(name_book& book, live_window& window,
                                     const check_request& asked) {
    book.refresh();
    std::size_t kept = 0;
    bool has_read = false;
    for (const live_site& site : window.sites) {
        const std::uintptr_t* addresses = window.frames.data() + site.first_frame;
        bool is_expected = false;
        if (!book.knows(site.hash, addresses, site.frame_count, library_rule)) {
            has_read = true;
            const symbol_stack names = book.symbols_of(addresses, site.frame_count, library_rule);
            const leak_stack stack = {names.frames.data(), names.frames.size(), names.user_frame,
                                      "?"};
            is_expected = asked.is_expected_by_symbols(stack, asked.expected_context);
            if (is_expected) beginnings_of_process->add(asked, stack, stack.decisive_frames);
        }
        if (!is_expected) window.sites[kept++] = site;
    }
    window.sites.resize(kept);
    if (has_read && kept == 0) book.rest();
}

// Takes the sites with an expected leak out of the window.
inline void drop_expected(name_book& book, live_window& window, const leak_patterns& expected,
                          const check_request& asked) {
    if (beginnings_of_process == nullptr) beginnings_of_process = new expected_beginnings;
    if (asked.is_expected != nullptr) beginnings_of_process->drop_from(window, asked);
    if (window.sites.empty()) return;
    if (asked.is_expected_by_symbols != nullptr) drop_expected_by_symbols(book, window, asked);
    if (window.sites.empty()) return;
    const std::vector<named_stack*> stacks = name_stacks(book, window, library_rule);
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    std::vector<live_site> kept;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const named_stack& stack = *stacks[i];
        if (expected.fits(stack)) continue;
        const leak_stack asked_for = {stack.frames.data(), stack.frames.size(), stack.user_frame,
                                      stack.type};
        if (asked.is_expected != nullptr && asked.is_expected(asked_for, asked.expected_context)) {
            beginnings_of_process->add(asked, asked_for, asked_for.decisive_frames);
            continue;
        }
        kept.push_back(window.sites[i]);
    }
    window.sites.swap(kept);
}

inline seen_window look_at(const check_request& asked, const leak_patterns& expected,
                           evidence wanted) {
    live_window window;
    take_live_objects(window, asked.window, after_stats::go_on);
    if (wanted == evidence::allocated && window.wanted.record == recording::exact) {
        count_births_by_site(window, asked.window);
    }
    seen_window seen;
    {
        names_at_work names;
        if (!expected.empty() || asked.is_expected != nullptr) {
            drop_expected(names.book(), window, expected, asked);
        }
        if (!window.sites.empty()) add_own_memory(window);
        seen.rows = snapshot{name_window(names.book(), window, library_rule)};
        names.done();
    }
    seen.counts = seen.rows.info().totals;
    const bool has_rows = window.wanted.record != recording::counters;
    seen.objects = has_rows ? seen.rows.live_objects() : seen.counts.live_objects();
    seen.bytes = has_rows ? seen.rows.live_bytes() : seen.counts.live_bytes();
    return seen;
}

// --- the verdict ---

// Events of this session that are in no number: a limit that seems kept may be broken.
inline std::uint64_t events_lost() noexcept {
    control_lock lock;
    std::uint64_t sum = 0;
    for (const loss_reason reason :
         {loss_reason::no_memory_for_record, loss_reason::too_deeply_nested,
          loss_reason::no_memory_for_thread}) {
        sum +=
            losses_ever(reason) - process.losses_before_session[static_cast<std::uint32_t>(reason)];
    }
    return sum;
}

inline std::string name_of_window(window_id id) {
    control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr ? window->name : "";
}

inline bool is_estimated(window_id id) noexcept {
    control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr && window->wanted.record == recording::sampled;
}

inline void refuse_check(check_block& made, const std::string& why) {
    made.data.has_passed = false;
    made.message = why;
    made.data.message = made.message.c_str();
}

// What passed by its numbers must not pass when the numbers are not all.
inline check_data* passed_unless_lost(std::unique_ptr<check_block> made, const char* name) {
    if (const std::uint64_t lost = events_lost()) {
        refuse_check(*made, "check" + quoted(name) + ": " +
                                counted(lost, "event was", "events were") +
                                " not recorded, so nothing is certain; stats() tells why");
    }
    return &made.release()->data;
}

inline void fail_with(check_block& made, const std::string& headline, const char* name,
                      const snapshot& rows, const std::string& places) {
    made.data.has_passed = false;
    made.rows = rows;
    made.data.rows = &made.rows;
    made.message = headline + places;
    const evidence_answer saved = save_evidence_of(rows, name, made.message);
    made.saved_to = saved.path;
    if (!saved.path.empty()) made.message += "\n  saved in " + saved.path;
    if (!saved.problem.empty()) made.message += "\n  not saved: " + saved.problem;
    made.data.message = made.message.c_str();
    made.data.saved_to = made.saved_to.c_str();
}

inline void fail(check_block& made, const std::string& headline, bool by_bytes, const char* name,
                 const snapshot& rows) {
    fail_with(made, headline, name, rows, top_rows(rows, by_bytes, library_rule));
}

inline check_data* check_budget_of(const check_request& asked, const char* name) {
    const bool is_open = asked.window != 0;
    allocation_counts counts = is_open ? counts_now(asked.window) : asked.counts;
    broken_limit broken = first_broken(asked.limits, counts);
    if (broken.field == nullptr) return passed_unless_lost(new_check(counts), name);
    seen_window seen;
    if (is_open) {
        seen = look_at(asked, {}, broken.rows);
    } else {
        broken.rows = evidence::alive;  // more is not known of a window that has ended
        seen.rows = *asked.rows;
        seen.counts = counts;
    }
    std::unique_ptr<check_block> made = new_check(seen.counts);
    fail(*made, budget_headline(broken, name) + headline_end(seen.rows, broken.rows),
         broken.counts_bytes, name, seen.rows);
    return &made.release()->data;
}

inline check_data* check_leaks_of(const check_request& asked, const char* name) {
    leak_patterns expected;
    expected.read(asked.expected);
    allocation_counts counts = counts_now(asked.window);
    std::unique_ptr<check_block> made = new_check(counts);
    made->data.unexpected_objects = counts.live_objects();
    made->data.unexpected_bytes = counts.live_bytes();
    const bool is_one_run = asked.kind == check_kind::repeated_leaks && asked.runs == 0;
    if (is_one_run && expected.empty() && asked.is_expected == nullptr) {
        return &made.release()->data;
    }
    const bool is_sum = asked.kind == check_kind::repeated_leaks && asked.runs != 0;
    if (is_sum ? !has_leaked(asked, asked.added_objects, asked.added_bytes)
               : !has_leaked(asked, counts.live_objects(), counts.live_bytes())) {
        // Some of it may be expected by name: only the rows tell what is left of a least.
        const bool wants_leaks = asked.limits.live_objects.least != 0;
        if (!is_one_run && (is_sum || !wants_leaks)) {
            return passed_unless_lost(std::move(made), name);
        }
    }
    const seen_window seen = look_at(asked, expected, evidence::alive);
    made->data.counts = seen.counts;
    made->data.unexpected_objects = seen.objects;
    made->data.unexpected_bytes = seen.bytes;
    if (is_one_run) return &made.release()->data;
    if (!is_sum && !has_leaked(asked, seen.objects, seen.bytes)) {
        return passed_unless_lost(std::move(made), name);
    }
    const bool by_bytes =
        (is_sum ? asked.added_objects : seen.objects) <= asked.limits.live_objects.most;
    fail(*made, leak_headline(asked, name, seen.objects, seen.bytes), by_bytes, name, seen.rows);
    return &made.release()->data;
}

inline check_data* rows_of_allocated(const check_request& asked) {
    const seen_window seen = look_at(asked, {}, evidence::allocated);
    std::unique_ptr<check_block> made = new_check(seen.counts);
    made->rows = seen.rows;
    made->data.rows = &made->rows;
    return &made.release()->data;
}

inline check_data* save_what_was_judged(const check_request& asked) {
    std::unique_ptr<check_block> made = new_check(asked.counts);
    fail(*made, asked.headline, false, asked.name, *asked.rows);
    return &made.release()->data;
}

inline check_data* check_now(const check_request& asked) {
    if (asked.kind == check_kind::judged) return save_what_was_judged(asked);
    if (asked.window == 0 && !has_totals(asked.rows->info())) {
        return shared_check(check_without_window);
    }
    const std::string name =
        asked.window != 0 ? name_of_window(asked.window) : asked.rows->info().name;
    const bool is_sampled = asked.window != 0 ? is_estimated(asked.window)
                                              : asked.rows->info().record == recording::sampled;
    if (is_sampled) {
        std::unique_ptr<check_block> made = new_check({});
        refuse_check(*made, "check" + quoted(name.c_str()) +
                                ": a sampled window has estimates only; open it with"
                                " recording::exact or recording::counters");
        return &made.release()->data;
    }
    if (asked.kind == check_kind::allocated_rows) return rows_of_allocated(asked);
    return asked.kind == check_kind::budget ? check_budget_of(asked, name.c_str())
                                            : check_leaks_of(asked, name.c_str());
}

inline check_data* engine_check(const check_request& asked) {
    const uncharged_work meanwhile;
    check_data* made = nullptr;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    made = check_now(asked);
#else
    try {
        made = check_now(asked);
    } catch (const std::bad_alloc&) {
        made = nullptr;
    }
#endif
    if (asked.then == after_stats::end && asked.window != 0) {
        close_window_now(asked.window);
        put_names_away();
    }
    return made;
}

inline bool engine_check_expected_leaks(const char* lines, char* message, std::size_t room) {
    const uncharged_work meanwhile;
    leak_patterns read;
    const std::string problem = "allocscope: " + read.read(lines);
    const bool is_good = problem.size() == 12;
    const std::size_t length = is_good ? 0 : std::min(problem.size(), room - 1);
    problem.copy(message, length);
    message[length] = '\0';
    return is_good;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

// guard_violation.hpp - guards are armed, broken and looked at.

#ifndef ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
#define ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A snapshot with one row, for one event at one stack.
inline snapshot snapshot_of_event(const char* name, const allocation_counts& totals,
                                  std::uint64_t bytes, const std::uintptr_t* frames,
                                  std::uint32_t frame_count) {
    live_window window;
    window.exists = true;
    copy_name(window.name, sizeof window.name, name);
    window.wanted.from = threads::current;
    window.wanted.stack_frames = most_fault_frames;
    window.totals.counts = totals;
    window.frames.assign(frames, frames + frame_count);
    live_site site{};
    site.objects = 1;
    site.bytes = bytes;
    site.hash = hash_seed;
    for (std::uint32_t i = 0; i < frame_count; ++i) site.hash = hash_step(site.hash, frames[i]);
    site.hash = hash_finish(site.hash);
    site.frame_count = frame_count;
    window.sites.push_back(site);
    names_at_work names;
    snapshot rows{name_window(names.book(), window, library_rule)};
    names.done();
    return rows;
}

// --- broken ---

inline check_data* describe_violation(const guard_watch& watch, const watched_event& event) {
    const std::string name = name_of_window(watch.window);
    allocation_counts counts = counts_now(watch.window);
    if (!event.is_free) {  // the guard is told before the event
        ++counts.allocations;
        counts.bytes_allocated += event.bytes;
    }
    const snapshot rows =
        snapshot_of_event(name.c_str(), counts, event.bytes, event.frames, event.frame_count);
    std::unique_ptr<check_block> made = new_check(counts);
    const std::string subject = "no_allocation_guard" + quoted(name.c_str()) + ": ";
    if (event.is_free) {
        fail_with(*made, subject + "memory was freed", name.c_str(), rows,
                  "\n  " + place_and_callers(rows[0], library_rule));
    } else {
        fail_with(*made, subject + counted(event.bytes, "byte was", "bytes were") + " allocated",
                  name.c_str(), rows, top_rows(rows, false, library_rule));
    }
    return &made.release()->data;
}

inline bool guard_violated(guard_watch& watch, const watched_event& event) {
    const uncharged_work meanwhile;
    watch.is_broken = true;
    watch.found = shared_check(check_without_memory);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    watch.found = describe_violation(watch, event);
#else
    try {
        watch.found = describe_violation(watch, event);
    } catch (const std::bad_alloc&) {  // it is told all the same
    }
#endif
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
    const char text[] =
        "allocscope: a no_allocation_guard was destroyed by another thread than made it; keep it"
        " in a block of one thread\n";
    write_all(2, text, sizeof text - 1);
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
    if (seen != nullptr) {
        if (!ends) hold_check(seen);
    } else {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
        seen = &new_check(counts_now(watch.window)).release()->data;
#else
        try {
            seen = &new_check(counts_now(watch.window)).release()->data;
        } catch (const std::bad_alloc&) {  // null says it
        }
#endif
    }
    if (ends) disarm_guard(watch);
    return seen;
}

// +1: what this thread allocates from now on breaks none of its guards; -1: takes one +1 back.
inline void engine_allow(int change) {
    own_watches.allow_depth += static_cast<std::uint32_t>(change);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

// armed_faults.hpp - plans of failing allocations are armed, read and disarmed.

#ifndef ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
#define ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

// fault_sweep.hpp - keeps what became of a piece of code, one failing allocation after the other.

#ifndef ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
#define ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t message_runs = 3;

struct sweep_block {
    sweep_data data;
    std::string name;
    std::vector<fault_run> runs;
    std::deque<std::string> texts;  // stay where they are
    std::string problems;           // of the first bad runs
    snapshot rows;                  // what the first run left that left something

    const char* keep(std::string text) {
        if (text.empty()) return "";
        texts.push_back(std::move(text));
        return texts.back().c_str();
    }
};

inline sweep_block& block_of(sweep_data* data) noexcept {
    return *reinterpret_cast<sweep_block*>(data);
}

inline void release_sweep(sweep_data* data) {
    const uncharged_work meanwhile;
    if (data->verdict != nullptr) drop_check(data->verdict);
    delete &block_of(data);
}

inline sweep_data* engine_begin_sweep(const char* name) {
    const uncharged_work meanwhile;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    try {
#endif
        auto* made = new sweep_block{};
        made->data.references = 1;
        made->data.release = &release_sweep;
        made->name = name;
        return &made->data;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
#endif
}

// Where the plan's first allocation failed.
inline std::string failed_at(const armed_plan& plan, const char* name) {
    const std::uint32_t count = plan.frame_count.load(std::memory_order_acquire);
    if (count == 0 || count > most_fault_frames) return "";
    std::uintptr_t frames[most_fault_frames];
    for (std::uint32_t i = 0; i < count; ++i) {
        frames[i] = plan.frames[i].load(std::memory_order_relaxed);
    }
    return row_place(snapshot_of_event(name, {}, 0, frames, count)[0]);
}

inline std::string problem_of(const fault_run& run, const snapshot& left) {
    std::string text = "\n  ";
    if (run.nth == 0) {
        text += "without any failure";
    } else {
        text += "allocation " + std::to_string(run.nth) + " failed";
        if (run.site[0] != '\0') text += std::string{" at "} + run.site;
    }
    if (run.outcome == fault_outcome::threw_other) {
        text += ": another exception than std::bad_alloc came out";
        if (run.detail[0] != '\0') text += " (" + shown(run.detail) + ')';
    }
    if (run.leaked_objects == 0) return text;
    text += ": " + counted(run.leaked_objects, "object", "objects") + " with " +
            counted(run.leaked_bytes, "byte", "bytes") + " left alive";
    std::string places = top_rows(left, false, library_rule);
    for (std::size_t at = 0; (at = places.find('\n', at)) != std::string::npos; at += 3) {
        places.insert(at + 1, "  ");
    }
    return text + places;
}

inline void add_run(sweep_block& sweep, const sweep_request& asked) {
    check_request leaks;
    leaks.kind = check_kind::leaks;
    leaks.window = asked.window;
    leaks.expected = asked.expected;
    leak_patterns expected;
    expected.read(asked.expected);
    fault_run run{};
    seen_window seen;
    if (counts_now(asked.window).live_objects() != 0) {
        seen = look_at(leaks, expected, evidence::alive);
        run.leaked_objects = seen.objects;
        run.leaked_bytes = seen.bytes;
    }
    const armed_plan& plan = plan_of(asked.plan);
    run.nth = plan.failed.load(std::memory_order_relaxed) != 0 ? asked.nth : 0;
    run.outcome = asked.outcome;
    run.site = run.nth != 0 ? sweep.keep(failed_at(plan, sweep.name.c_str())) : "";
    run.detail = sweep.keep(asked.detail);
    sweep.runs.push_back(run);
    if (run.is_good()) return;
    if (sweep.data.bad_runs++ < message_runs) sweep.problems += problem_of(run, seen.rows);
    if (sweep.rows.empty()) sweep.rows = seen.rows;
}

// False: no memory to note the run.
inline bool engine_add_sweep_run(sweep_data* to, const sweep_request& asked) {
    const uncharged_work meanwhile;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    add_run(block_of(to), asked);
#else
    try {
        add_run(block_of(to), asked);
    } catch (const std::bad_alloc&) {
        return false;
    }
#endif
    return true;
}

inline check_data* verdict_of(sweep_block& sweep, bool gave_up) {
    std::unique_ptr<check_block> made = new_check({});
    const std::uint64_t bad = sweep.data.bad_runs;
    const std::size_t runs = sweep.runs.size();
    if (bad == 0 && !gave_up) return &made.release()->data;
    std::string headline = "fault sweep" + quoted(sweep.name.c_str()) + ": ";
    if (bad != 0) {
        headline += "of " + counted(runs, "run", "runs") + " with one allocation failing each, " +
                    std::to_string(bad) + " went wrong";
        if (bad > message_runs) {
            sweep.problems += "\n  and " + counted(bad - message_runs, "more run", "more runs");
        }
    } else {
        headline += "not finished";
    }
    if (gave_up) {
        sweep.problems += "\n  given up after " + counted(runs, "run", "runs") +
                          ": the code allocates more often, or memory was refused; raise"
                          " sweep_options::most_runs or sweep a smaller piece";
    }
    fail_with(*made, headline, sweep.name.c_str(), sweep.rows, sweep.problems);
    return &made.release()->data;
}

inline void engine_end_sweep(sweep_data* data, bool gave_up) {
    const uncharged_work meanwhile;
    sweep_block& sweep = block_of(data);
    data->runs = sweep.runs.data();
    data->run_count = sweep.runs.size();
    data->verdict = shared_check(check_without_memory);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    data->verdict = verdict_of(sweep, gave_up);
#else
    try {
        data->verdict = verdict_of(sweep, gave_up);
    } catch (const std::bad_alloc&) {  // the verdict says it
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE)

// engine_table.hpp - the functions behind engine.hpp.

#ifndef ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The window of start(); 0: not started. Under `control` only in so far as windows are: a race of
// two starts is decided by the exchange.
ALLOCSCOPE_HIDDEN inline std::atomic<window_id> process_window{0};

// What stop() of that window said, until the next start(). Under the naming lock.
ALLOCSCOPE_HIDDEN inline snapshot_data* last_of_process = nullptr;

// Takes over one reference to `kept`. What was kept before is dropped when the lock is free again:
// dropping takes it.
inline void keep_last_of_process(snapshot_data* kept) noexcept {
    snapshot_data* before = nullptr;
    {
        const naming_lock lock;
        before = last_of_process;
        last_of_process = kept;
    }
    drop_reference(before);
}

// Null: no window of start() was ever stopped, or one is on its way to be.
inline snapshot_data* repeat_last_of_process() noexcept {
    const naming_lock lock;
    add_reference(last_of_process);
    return last_of_process;
}

// Null: there is no such window.
inline snapshot_data* name_rows(live_window& window, window_id id, after_stats then) {
    take_live_objects(window, id, then);
    if (!window.exists) return nullptr;
    add_own_memory(window);
    names_at_work names;
    snapshot_data* made = name_window(names.book(), window, library_rule);
    names.done();
    return made;
}

// Null also when memory was refused; `window` then holds what is known without it.
inline snapshot_data* try_to_name_rows(live_window& window, window_id id, after_stats then) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return name_rows(window, id, then);
#else
    try {
        return name_rows(window, id, then);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
#endif
}

inline bool is_open(window_id id) noexcept {
    const control_lock lock;
    return find_window(id) != nullptr;
}

inline snapshot_data* snapshot_of_window(window_id id, after_stats then) {
    // Had before anything is done: what a window forgets or ends with is told, if only in numbers.
    named_block numbers{0};
    if (!numbers.has_memory()) {
        return is_open(id) ? const_cast<snapshot_data*>(&snapshot_without_memory) : nullptr;
    }
    live_window window;
    snapshot_data* made = try_to_name_rows(window, id, then);
    if (made != nullptr || !window.exists) return made;
    add_own_memory(window);
    return numbers.take(nullptr, window, snapshot_without_memory.info.not_recording);
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

// Null: there is no such window. Memory refused for the rows is a snapshot of numbers that says so;
// refused even for that, one that says so, and the window forgets nothing.
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

// `save` is of report/, which this room does not see.
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

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// sampler.hpp - which allocations are sampled, decided before there is a block.

#ifndef ALLOCSCOPE_RECORD_SAMPLER_HPP
#define ALLOCSCOPE_RECORD_SAMPLER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What is asked of the allocator for a sample that the program wants at multiples of `wanted`.
constexpr std::size_t alignment_of_sample(std::size_t wanted) noexcept {
    return wanted > sampled_alignment ? wanted : sampled_alignment;
}

// How many bytes are asked of the allocator for it. Large ones are rounded up to 56 bytes less than
// whole pages, for glibc's sake: it maps a block afresh, and each of its pages has to be faulted
// in, when what it needs to align one is more than the largest block that it has unmapped so far
// (128 KiB to 32 MiB: mallopt(3), M_MMAP_THRESHOLD). What it remembers of a mapped block that
// begins at a page is its size less 4080 bytes; what it needs for the next is 4144 bytes more than
// asked. So of blocks of equal size each would be mapped, always; unless, as with this size, the
// rounding of the mapping itself leaves nearly a page over. To others it is a size like any other.
constexpr std::uint64_t least_mapped_bytes = std::uint64_t{128} << 10U;
constexpr std::uint64_t longest_request = ~std::uint64_t{0} >> 1U;  // more is never granted
constexpr std::uint64_t bytes_of_sample(std::uint64_t bytes) noexcept {
    if (bytes < least_mapped_bytes || bytes > longest_request) return bytes;
    return ((bytes + 55U) | (sampled_alignment - 1U)) - 55U;
}

// Whether the allocation is no sample and needs no record: counted down, and done with. `word` is
// the gate's. False: ask is_sample().
ALLOCSCOPE_FAST_PATH bool passes(std::uint64_t word, std::uint64_t bytes) noexcept {
    thread_entry* const entry = current_entry;
    const std::uint64_t counted = bytes_to_count(bytes);
    // Read once and written once: a signal handler that allocates in between counts down too, and
    // to subtract from what it left could end below zero, and then no sample would ever follow.
    // Of two that count at the same time the later one stands: the time to a sample has no memory.
    const std::uint64_t left = entry->bytes_left.load(std::memory_order_relaxed);
    if (ALLOCSCOPE_UNLIKELY(entry->view_number != word || counted >= left)) return false;
    entry->bytes_left.store(left - counted, std::memory_order_relaxed);
    return true;
}

// Whether the thread records all that it allocates, so that neither is_sample() nor a watch need
// be asked.
ALLOCSCOPE_FAST_PATH bool records_every_event(const thread_entry& entry) noexcept {
    return entry.straight_view == process.entry.word();
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

// After the allocation of a block at a page for a sample.
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

// There was no memory for a block at a page; the object goes without a record.
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

// Memory was refused: asks the new_handler for help as long as there is one. Passes on what the
// handler throws.
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
// In functions of their own, so that the operators have nothing but a load and a test to do while
// no window is open. `frame` is the operator's own frame address.

// A block at a page for an allocation that is to be a sample; null when there is none to be had.
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

// Apart, and with all that throws, so that the next function has nothing to keep.
ALLOCSCOPE_NOINLINE void* watched_block_or_throw(std::size_t bytes, void* frame) {
    ALLOCSCOPE_KEEP_FRAME();
    void* block = watched_block(bytes, no_alignment, frame);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// The operators jump to the next two as their last act.

// For the throwing operators. In a straight line for a thread that records every event.
ALLOCSCOPE_NOINLINE void* recorded_block(std::size_t bytes, void* frame) {
    // Where the operator jumped here, the frame is this function's own too, and need not be kept.
    void* const own_frame = __builtin_frame_address(0);
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(frame != own_frame || !records_every_event(*entry))) {
        return watched_block_or_throw(bytes, frame);
    }
    void* block = std::malloc(block_bytes_for(bytes));
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) return watched_block_or_throw(bytes, own_frame);
    return on_allocate(entry, block, bytes, reinterpret_cast<std::uintptr_t>(own_frame));
}

ALLOCSCOPE_NOINLINE void free_recorded_block(void* block, void* frame) noexcept {
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) return;
    free_recorded<&std::free>(block, reinterpret_cast<std::uintptr_t>(frame));
}

// --- the operators' bodies ---

// Apart, so that an operator needs no frame of its own unless a window is open.
ALLOCSCOPE_NOINLINE void* plain_block_or_throw(std::size_t bytes) {
    void* block = plain_block(bytes);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// The gate's word says all: 0, no window is open; negative, every event is recorded; else samples
// are.
ALLOCSCOPE_FAST_PATH void* new_block(std::size_t bytes) {
    const std::uint64_t word = process.entry.word();
    if (ALLOCSCOPE_UNLIKELY(word != 0) && ((word & every_event) != 0 || !passes(word, bytes))) {
        return recorded_block(bytes, __builtin_frame_address(0));
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
    } catch (...) {  // the standard says so: whatever the new_handler threw
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
        return free_recorded_block(block, __builtin_frame_address(0));
    }
    std::free(block);
}

// Whether this is a module asking for the engine (engine.hpp); then the answer is in its tag. The
// tag is looked at only when size and alignment say that it is one: a plain nothrow_t has no magic.
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

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <system_error>
#include <vector>

// report_rows.hpp - the rows of a snapshot in the order and number that a report shows.

#ifndef ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
#define ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

enum class row_order {
    objects,  // as in the snapshot: most objects first (in a difference: the largest change)
    bytes     // most bytes first; equal ones in the snapshot's order
};

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
    std::vector<const snapshot::row*> shown;
    remainder rest;
    // What shares are of: all bytes; in a difference, all changes without their signs.
    std::uint64_t byte_magnitude = 0;
};

inline row_selection select_rows(const snapshot& rows, row_order order, std::size_t most) {
    const bool is_difference = rows.info().is_difference;
    row_selection selection;
    selection.shown.reserve(rows.size());
    for (const snapshot::row& row : rows) selection.shown.push_back(&row);
    if (order == row_order::bytes) {
        std::stable_sort(selection.shown.begin(), selection.shown.end(),
                         [is_difference](const snapshot::row* left, const snapshot::row* right) {
                             return magnitude(left->bytes, is_difference) >
                                    magnitude(right->bytes, is_difference);
                         });
    }
    const std::size_t shown_count = std::min(most, selection.shown.size());
    for (std::size_t i = 0; i < selection.shown.size(); ++i) {
        const snapshot::row& row = *selection.shown[i];
        selection.byte_magnitude += magnitude(row.bytes, is_difference);
        if (i < shown_count) continue;
        ++selection.rest.places;
        selection.rest.objects += row.objects;
        selection.rest.bytes += row.bytes;
        selection.rest.samples += row.samples;
        selection.rest.objects_reach.meet({row.objects, row.objects_low, row.objects_high}, true);
        selection.rest.bytes_reach.meet({row.bytes, row.bytes_low, row.bytes_high}, true);
        selection.rest.byte_magnitude += magnitude(row.bytes, is_difference);
    }
    selection.shown.resize(shown_count);
    return selection;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

// text_options.hpp - how a text report looks.

#ifndef ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP
#define ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

enum class text_color {
    automatic,  // on a terminal, unless NO_COLOR is set and not empty or TERM is "dumb"
    never,
    always
};

struct text_options {
    // Lines are cut to this many columns, at least 60. 0: to the width of the terminal (what it
    // says, else COLUMNS, else 100); what does not go to a terminal is then not cut at all.
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

// What the terminal says, else COLUMNS, else 100.
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

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// `value` units of which one is worth `unit`, with one decimal, rounded half up.
inline std::string with_one_decimal(std::uint64_t value, std::uint64_t unit) {
    std::uint64_t whole = value / unit;
    // The rest is below the unit, and no unit is so large that ten of it overflow twice over.
    std::uint64_t tenths = static_cast<std::uint64_t>(
        static_cast<double>(value % unit) * 10.0 / static_cast<double>(unit) + 0.5);
    if (tenths == 10) {
        tenths = 0;
        ++whole;
    }
    return std::to_string(whole) + '.' + static_cast<char>('0' + tenths);
}

// Exact below 10,000 B, then KiB, MiB, GiB, TiB, PiB, EiB: each 1024 times the one before.
inline std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10000) return std::to_string(bytes) + " B";
    const char* const names[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned shift = 10;
    unsigned name = 0;
    // 1023.95 of a unit would be printed as 1024.0: the next unit is meant.
    while (name < 5 &&
           bytes >= (std::uint64_t{1} << (shift + 10)) - (std::uint64_t{51} << shift >> 10)) {
        shift += 10;
        ++name;
    }
    return with_one_decimal(bytes, std::uint64_t{1} << shift) + names[name];
}

// The number of a difference: two's complement, with its sign.
inline std::string change_text(std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    return (value > 0 ? "+" : "") + std::to_string(value);
}

inline std::string bytes_change_text(std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    if (value < 0) return '-' + bytes_text(std::uint64_t{0} - change);
    return (value > 0 ? "+" : "") + bytes_text(change);
}

// In percent with one decimal. What is there but rounds to nothing is "<0.1%"; of nothing, "-".
inline std::string share_text(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "-";
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    const auto tenths = static_cast<std::uint64_t>(percent * 10.0 + 0.5);
    if (tenths == 0 && part != 0) return "<0.1%";
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + '%';
}

// From one amount to another; a unit that both have is said once.
inline std::string interval_text(std::string low, const std::string& high) {
    const std::size_t unit = low.find(' ');
    const std::size_t other = high.find(' ');
    if (unit != std::string::npos && other != std::string::npos &&
        low.compare(unit, low.size() - unit, high, other, high.size() - other) == 0) {
        low.erase(unit);
    }
    return low + ".." + high;
}

inline std::string duration_text(std::uint64_t nanoseconds) {
    if (nanoseconds < 1000) return std::to_string(nanoseconds) + " ns";
    if (nanoseconds < 999950) return with_one_decimal(nanoseconds, 1000) + " us";
    if (nanoseconds < 999950000) return with_one_decimal(nanoseconds, 1000000) + " ms";
    return with_one_decimal(nanoseconds, 1000000000) + " s";
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP

// text_columns.hpp - text in columns: escaped, counted, padded, cut.

#ifndef ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
#define ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// `text` with everything that a terminal could obey or hide escaped; valid UTF-8.
inline std::string printable(const char* text) {
    std::string shown;
    while (text != nullptr && *text != '\0') {
        const std::size_t length = printable_length(text);
        if (length != 0) {
            shown.append(text, length);
            text += length;
        } else {
            char escaped[escaped_byte_length];
            write_escaped_byte(*text++, escaped);
            shown.append(escaped, escaped_byte_length);
        }
    }
    return shown;
}

inline bool begins_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

inline std::size_t columns_of(std::string_view text) noexcept {
    std::size_t columns = 0;
    for (const char byte : text) columns += begins_character(byte) ? 1U : 0U;
    return columns;
}

// The first `columns` characters.
inline std::string_view first_columns(std::string_view text, std::size_t columns) noexcept {
    std::size_t end = 0;
    while (end < text.size()) {
        if (begins_character(text[end]) && columns-- == 0) break;
        ++end;
    }
    return text.substr(0, end);
}

inline std::string_view last_columns(std::string_view text, std::size_t columns) noexcept {
    const std::size_t all = columns_of(text);
    return text.substr(first_columns(text, all - std::min(all, columns)).size());
}

constexpr std::string_view cut_mark = "...";

// Keeps the beginning.
inline std::string cut_end(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns) return text;
    if (columns <= cut_mark.size()) return std::string(columns, '.');
    std::string cut{first_columns(text, columns - cut_mark.size())};
    return cut.append(cut_mark);
}

// Keeps both ends: of file:line:type the file's directory and the type matter as much.
inline std::string cut_middle(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns) return text;
    if (columns <= cut_mark.size()) return std::string(columns, '.');
    const std::size_t kept = columns - cut_mark.size();
    std::string cut{first_columns(text, kept / 2)};
    return cut.append(cut_mark).append(last_columns(text, kept - kept / 2));
}

inline std::string pad_left(const std::string& text, std::size_t columns) {
    return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

inline std::string pad_right(const std::string& text, std::size_t columns) {
    return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

// Breaks between words, so that no line has more than `columns`; the following lines begin with
// `indent` blanks. A word that is longer than a line stays whole. 0 columns: no limit.
inline std::string wrap(const std::string& text, std::size_t columns, std::size_t indent) {
    std::string wrapped;
    std::size_t used = 0;
    std::size_t begin = 0;
    bool has_word = false;  // in the line so far
    while (begin < text.size()) {
        // A word, with the blanks before it.
        std::size_t end = text.find_first_not_of(' ', begin);
        end = end == std::string::npos ? text.size() : std::min(text.find(' ', end), text.size());
        std::string word = text.substr(begin, end - begin);
        if (columns != 0 && has_word && used + columns_of(word) > columns) {
            word.erase(0, word.find_first_not_of(' '));
            wrapped += '\n' + std::string(indent, ' ');
            used = indent;
        }
        used += columns_of(word);
        wrapped += word;
        has_word = true;
        begin = end;
    }
    return wrapped;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

// text_head.hpp - the lines of a text report above its rows.

#ifndef ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
#define ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Columns to keep to (0: no limit), and whether escape sequences may be used.
struct text_form {
    std::size_t width = 0;
    bool has_color = false;

    std::string bold(const std::string& text) const { return colored("\x1b[1m", text); }
    std::string warning(const std::string& text) const { return colored("\x1b[33m", text); }
    std::string dim(const std::string& text) const { return colored("\x1b[2m", text); }

private:
    std::string colored(const char* begin, const std::string& text) const {
        return has_color && !text.empty() ? begin + text + "\x1b[0m" : text;
    }
};

inline std::string window_title(const snapshot::window_info& info, const text_form& form) {
    const std::string name = printable(info.name);
    std::string title = info.is_difference ? "allocscope difference" : "allocscope report";
    title += name.empty() ? " of an unnamed window" : " of window \"" + name + '"';
    return form.bold(form.width != 0 ? cut_end(title, form.width) : title) + '\n';
}

inline std::string window_mode(const snapshot::window_info& info) {
    std::string mode = "  ";
    switch (info.record) {
        case recording::exact:
            mode += "exact";
            break;
        case recording::sampled:
            mode += "sampled";
            break;
        case recording::counters:
            mode += "counters only";
            break;
    }
    if (info.record == recording::sampled && info.sample_bytes != 0) {
        mode += " every " + bytes_text(info.sample_bytes) +
                " on average: " + std::to_string(info.samples) +
                (info.samples == 1 ? " sample" : " samples");
    }
    if (info.record != recording::counters) {
        mode += ", up to " + std::to_string(info.stack_frames) + " frames of each stack";
    }
    mode += info.from == threads::all ? ", all threads" : ", one thread";
    const std::string duration = duration_text(info.duration_ns);
    return mode + (info.is_difference ? ", " + duration + " apart" : ", open for " + duration);
}

// Numbers as this kind of snapshot has them: signed in a difference, marked '~' when they are
// estimated from samples.
class number_form {
public:
    explicit number_form(const snapshot::window_info& info)
        : is_difference_(info.is_difference), mark_(info.record == recording::sampled ? "~" : "") {}

    std::string count(std::uint64_t objects) const {
        return mark_ + (is_difference_ ? change_text(objects) : std::to_string(objects));
    }
    std::string amount(std::uint64_t bytes) const {
        return mark_ + (is_difference_ ? bytes_change_text(bytes) : bytes_text(bytes));
    }
    // Intervals, without a mark.
    std::string counts(std::uint64_t low, std::uint64_t high) const {
        return is_difference_ ? interval_text(change_text(low), change_text(high))
                              : interval_text(std::to_string(low), std::to_string(high));
    }
    std::string amounts(std::uint64_t low, std::uint64_t high) const {
        return is_difference_ ? interval_text(bytes_change_text(low), bytes_change_text(high))
                              : interval_text(bytes_text(low), bytes_text(high));
    }

private:
    bool is_difference_;
    std::string mark_;
};

// One line of the totals.
class total_line {
public:
    total_line(const snapshot::window_info& info, const text_form& form)
        : numbers_(info), form_(form), is_sampled_(info.record == recording::sampled) {}

    std::string both(const char* name, std::uint64_t objects, std::uint64_t bytes) const {
        return "  " + pad_right(name, 11) + pad_left(numbers_.count(objects), 10) +
               (objects == 1 ? " object " : " objects") + pad_left(numbers_.amount(bytes), 14);
    }
    std::string both(const char* name, const estimate& objects, const estimate& bytes) const {
        std::string line = both(name, objects.value, bytes.value);
        if (!is_sampled_) return line + '\n';
        const std::string interval = "   95%: " + numbers_.counts(objects.low, objects.high) +
                                     " objects, " + numbers_.amounts(bytes.low, bytes.high);
        const std::size_t columns = columns_of(line) + columns_of(interval);
        if (form_.width == 0 || columns <= form_.width) return line + form_.dim(interval) + '\n';
        return line + '\n' + form_.dim(wrap("          " + interval, form_.width, 18)) + '\n';
    }
    std::string bytes_only(const char* name, std::uint64_t bytes) const {
        return "  " + pad_right(name, 29) + pad_left(numbers_.amount(bytes), 14) + '\n';
    }

private:
    number_form numbers_;
    const text_form& form_;
    bool is_sampled_;
};

inline std::string window_totals(const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const allocation_counts& totals = info.totals;
    const snapshot::window_estimates& known = info.estimates;
    const total_line line{info, form};
    std::string text = line.both("allocated", known.allocations, known.bytes_allocated);
    text += line.both("freed", known.frees, known.bytes_freed);
    text += line.both("alive", known.live_objects, known.live_bytes);
    // Exact rows add up to what is alive, unless something was lost on the way.
    const bool is_complete =
        totals.live_objects() == rows.live_objects() && totals.live_bytes() == rows.live_bytes();
    if (info.record == recording::exact && !is_complete) {
        text += line.both("in rows", rows.live_objects(), rows.live_bytes()) + '\n';
    }
    text += line.bytes_only("peak", totals.peak_bytes);
    text += "  " + pad_right("own memory", 29) + pad_left(bytes_text(info.own_memory_bytes), 14);
    return text + '\n';
}

inline std::string window_head(const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const bool has_recorded = info.not_recording[0] == '\0';
    std::string head = window_title(info, form);
    if (!has_recorded) {
        const std::string sentence = "  attention: " + printable(info.not_recording);
        head += form.warning(wrap(sentence, form.width, 4)) + '\n';
    }
    if (!rows.empty() || has_totals(info)) {
        head += wrap(window_mode(info), form.width, 4) + '\n' + window_totals(rows, form);
    }
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const std::string sentence = "  not recorded: " + std::to_string(info.losses[i].count) +
                                     ' ' + printable(info.losses[i].reason);
        head += form.warning(wrap(sentence, form.width, 4)) + '\n';
    }
    return head;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

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
inline bool put_report(const std::string& text, const char* path, std::string& error) {
    if (path == nullptr) {
        error = report_problem("a null path", "a path is needed");
        return false;
    }
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(text.data(), text.size());
    if (failure == 0) failure = out.commit();
    if (failure != 0) error = report_problem('\'' + printable(path) + '\'', failure);
    return failure == 0;
}

inline bool put_report(const std::string& text, int descriptor, std::string& error) {
    const std::string target = "descriptor " + std::to_string(descriptor);
    if (descriptor < 0) {
        error = report_problem(target, "a descriptor is not negative");
        return false;
    }
    const int failure = write_all(descriptor, text.data(), text.size());
    if (failure != 0) error = report_problem(target, failure);
    return failure == 0;
}

// Flushed, so that a full disk is noticed here and not at the end of the program.
inline bool put_report(const std::string& text, std::FILE* file, std::string& error) {
    if (file == nullptr) {
        error = report_problem("a null FILE*", "an open file is needed");
        return false;
    }
    const file_size_signal_blocked quietly;
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) {
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

// text_table.hpp - the rows of a text report, in columns.

#ifndef ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline std::string offset_text(std::uint64_t offset) {
    char space[20];
    fixed_text text{space, sizeof space};
    text.append("+0x");
    text.append_hexadecimal(offset);
    return {text.data(), text.size()};
}

// file:line:type, as in the rows of operator<<.
inline std::string place_text(const snapshot::row& row) {
    std::string place = printable(row.file);
    if (place.empty()) place = "?";
    place += row.line != 0 ? ':' + std::to_string(row.line) : offset_text(row.offset);
    return place + ':' + printable(row.type);
}

inline std::string frame_line(const snapshot::frame& frame, const text_form& form) {
    std::string line = printable(frame.function);
    if (line.empty()) {
        const std::string module = printable(frame.module);
        line = (module.empty() ? "?" : module) + offset_text(frame.offset);
    }
    if (frame.file != nullptr && frame.file[0] != '\0') {
        line += " (" + printable(frame.file);
        if (frame.line != 0) line += ':' + std::to_string(frame.line);
        line += ')';
    }
    if (frame.is_inlined) line += " [inlined]";
    line = "            at " + line;
    return form.dim(form.width != 0 ? cut_middle(line, form.width) : line) + '\n';
}

// The frames before the row's own one are the library's way to operator new: not shown.
inline std::string frame_lines(const snapshot::row& row, std::size_t most, const text_form& form) {
    const std::size_t first = row.user_frame < row.frame_count ? row.user_frame : 0;
    const std::size_t count = std::min(most, row.frame_count - first);
    std::string lines;
    for (std::size_t i = first; i < first + count; ++i) lines += frame_line(row.frames[i], form);
    if (most != 0 && first + count < row.frame_count) {
        const std::size_t more = row.frame_count - first - count;
        lines += form.dim("            and " + std::to_string(more) + " more") + '\n';
    }
    return lines;
}

class text_table {
public:
    text_table(const snapshot& rows, const text_options& wanted, const text_form& form)
        : info_(rows.info()), numbers_(rows.info()), wanted_(wanted), form_(form) {
        const row_selection top = select_rows(rows, wanted.sort, wanted.rows);
        lines_.push_back(
            {"objects", "95%", "bytes", "95%", "share", "samples", "place", "function", nullptr});
        for (const snapshot::row* row : top.shown) lines_.push_back(line_of(*row, top));
        if (top.rest.places != 0) lines_.push_back(line_of(top.rest, top));
        align_samples();
        measure();
    }

    std::string text() const {
        std::string all;
        for (const line& each : lines_) {
            const bool is_title = &each == lines_.data();
            const std::string shown = line_text(each);
            all += (is_title ? form_.bold(shown) : shown) + '\n';
            if (each.row != nullptr) all += frame_lines(*each.row, wanted_.frames, form_);
        }
        return all;
    }

private:
    struct line {
        std::string objects;
        std::string objects_interval;
        std::string bytes;
        std::string bytes_interval;
        std::string share;
        std::string samples;
        std::string place;
        std::string function;
        const snapshot::row* row;  // whose stack is shown below; null: none
    };

    bool is_sampled() const { return info_.record == recording::sampled; }

    line line_of(const snapshot::row& row, const row_selection& top) const {
        return {numbers_.count(row.objects),
                numbers_.counts(row.objects_low, row.objects_high),
                numbers_.amount(row.bytes),
                numbers_.amounts(row.bytes_low, row.bytes_high),
                share_text(magnitude(row.bytes, info_.is_difference), top.byte_magnitude),
                std::to_string(row.samples) +
                    (has_few_samples(row, info_.is_difference) ? few_mark : ""),
                place_text(row),
                printable(row.function),
                &row};
    }

    line line_of(const row_selection::remainder& rest, const row_selection& top) const {
        const estimate objects = rest.objects_reach.around(rest.objects);
        const estimate bytes = rest.bytes_reach.around(rest.bytes);
        return {numbers_.count(rest.objects),
                numbers_.counts(objects.low, objects.high),
                numbers_.amount(rest.bytes),
                numbers_.amounts(bytes.low, bytes.high),
                share_text(rest.byte_magnitude, top.byte_magnitude),
                std::to_string(rest.samples),
                "and " + std::to_string(rest.places) +
                    (rest.places == 1 ? " more place" : " more places"),
                "",
                nullptr};
    }

    // Numbers below each other, whether or not they are marked.
    void align_samples() {
        const auto is_marked = [](const line& each) {
            return each.samples.find(few_mark) != std::string::npos;
        };
        if (std::none_of(lines_.begin(), lines_.end(), is_marked)) return;
        for (std::size_t i = 1; i < lines_.size(); ++i) {
            if (!is_marked(lines_[i])) lines_[i].samples += std::string(few_columns, ' ');
        }
    }

    // What the columns of numbers take, with the blanks behind each.
    std::size_t number_columns() const {
        std::size_t columns = objects_ + 2 + bytes_ + 2 + share_columns + 2;
        if (is_sampled()) columns += samples_ + 2;
        if (objects_interval_ != 0) columns += objects_interval_ + 2;
        if (bytes_interval_ != 0) columns += bytes_interval_ + 2;
        return columns;
    }

    void drop_intervals(std::size_t width) {
        if (number_columns() + least_place > width) bytes_interval_ = 0;
        if (number_columns() + least_place > width) objects_interval_ = 0;
    }

    void measure() {
        std::size_t longest_function = 0;
        for (const line& each : lines_) {
            objects_ = std::max(objects_, columns_of(each.objects));
            bytes_ = std::max(bytes_, columns_of(each.bytes));
            samples_ = std::max(samples_, columns_of(each.samples));
            place_ = std::max(place_, columns_of(each.place));
            longest_function = std::max(longest_function, columns_of(each.function));
            if (!is_sampled()) continue;
            objects_interval_ = std::max(objects_interval_, columns_of(each.objects_interval));
            bytes_interval_ = std::max(bytes_interval_, columns_of(each.bytes_interval));
        }
        if (form_.width != 0) drop_intervals(form_.width);
        const std::size_t numbers = number_columns();
        const std::size_t width = form_.width != 0 ? form_.width : usual_width;
        const std::size_t texts = std::max(numbers + 8, width) - numbers;
        if (form_.width == 0) {
            // One long place must not push the functions of all others far to the right.
            const std::size_t least = is_sampled() ? 60 : 40;  // its numbers alone fill most of it
            place_ = std::min(place_, std::max(texts, least) - 20);
        } else if (place_ + 2 + longest_function > texts) {
            const std::size_t beside_function = texts - std::min(texts, longest_function + 2);
            place_ = std::min({place_, texts, std::max(texts * 2 / 3, beside_function)});
            function_ = texts - place_ >= 2 + 8 ? texts - place_ - 2 : 0;
        }
    }

    std::string line_text(const line& each) const {
        std::string shown = pad_left(each.objects, objects_);
        if (objects_interval_ != 0) {
            shown += "  " + pad_left(each.objects_interval, objects_interval_);
        }
        shown += "  " + pad_left(each.bytes, bytes_);
        if (bytes_interval_ != 0) shown += "  " + pad_left(each.bytes_interval, bytes_interval_);
        shown += "  " + pad_left(each.share, share_columns);
        if (is_sampled()) shown += "  " + pad_left(each.samples, samples_);
        shown += "  " + pad_right(cut_place(each), place_);
        if (function_ != 0) shown += "  " + cut_end(each.function, function_);
        return shown.erase(shown.find_last_not_of(' ') + 1);
    }

    std::string cut_place(const line& each) const {
        if (form_.width == 0) return each.place;
        return each.row != nullptr ? cut_middle(each.place, place_) : cut_end(each.place, place_);
    }

    const snapshot::window_info& info_;
    const number_form numbers_;
    const text_options& wanted_;
    const text_form& form_;
    std::vector<line> lines_;
    std::size_t objects_ = row_number_columns;
    std::size_t objects_interval_ = 0;  // no such column
    std::size_t bytes_ = 0;
    std::size_t bytes_interval_ = 0;
    std::size_t samples_ = 0;
    std::size_t place_ = 0;
    std::size_t function_ = static_cast<std::size_t>(-1);  // no limit; 0: no such column
    static constexpr std::size_t row_number_columns = 7;
    static constexpr std::size_t share_columns = 6;
    static constexpr std::size_t least_place = 32;  // else intervals give way
    static constexpr const char* few_mark = " few";
    static constexpr std::size_t few_columns = 4;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

// text_report.hpp - a snapshot for a person to read: head, rows in columns, what was lost.

#ifndef ALLOCSCOPE_REPORT_TEXT_REPORT_HPP
#define ALLOCSCOPE_REPORT_TEXT_REPORT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint32_t least_text_width = 60;

// -1: the text goes to no descriptor, so to no terminal.
inline text_form form_for(const text_options& wanted, int descriptor) {
    text_form form;
    if (wanted.width != 0) {
        form.width = std::max(wanted.width, least_text_width);
    } else if (descriptor >= 0 && is_terminal(descriptor)) {
        form.width = std::max(terminal_columns(descriptor), least_text_width);
    }
    form.has_color =
        wanted.color == text_color::always || (wanted.color == text_color::automatic &&
                                               descriptor >= 0 && terminal_wants_color(descriptor));
    return form;
}

// What stands in the place of the rows when there are none. "Nothing is alive" is said only when
// that is known.
inline std::string instead_of_rows(const snapshot& rows) {
    const snapshot::window_info& info = rows.info();
    if (info.not_recording[0] != '\0') return "";
    if (is_all_unsampled(rows)) {
        return "no sample is alive: up to " + bytes_text(info.estimates.live_bytes.high) +
               " may be alive (95%)\n";
    }
    const std::uint64_t alive = info.totals.live_objects();
    if (info.record == recording::counters && alive != 0) {
        return "counters only: there are no rows\n";
    }
    if (info.is_difference) return "no row has changed\n";
    if (alive == 0 && info.loss_count == 0) return "nothing is alive\n";
    if (alive == 0) return "nothing that was recorded is alive\n";
    return "where the objects that are alive were allocated was not recorded\n";
}

inline std::string text_for(const snapshot& rows, const text_options& wanted, int descriptor) {
    const text_form form = form_for(wanted, descriptor);
    std::string text = window_head(rows, form);
    if (!rows.empty()) return text + '\n' + text_table{rows, wanted, form}.text();
    const std::string sentence = instead_of_rows(rows);
    return sentence.empty() ? text : text + '\n' + wrap(sentence, form.width, 0);
}

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
    return put_report(text_for(rows, wanted, descriptor_of(target)), target, error);
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
    return detail::text_for(rows, wanted, -1);
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

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// evidence_file.hpp - the file that a check which failed leaves behind.

#ifndef ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
#define ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The message, an empty line, and every row with its whole stack. 0 or an errno value.
inline int save_evidence_file(const snapshot& rows, const char* head, const char* path) {
    text_options whole;
    whole.rows = ~std::size_t{0};
    whole.frames = ~std::uint32_t{0};
    const std::string text = std::string{head} + "\n\n" + to_text(rows, whole);
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(text.data(), text.size());
    if (failure == 0) failure = out.commit();
    return failure;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

#endif  // ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE, ALLOCSCOPE_SINGLE_EVERYTHING

#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_OPERATOR_NEW_DELETE)

// operator_new_delete.hpp - replaces operator new and delete: include it in exactly one .cpp.

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP

// noinline: the operator's frame is where a stack begins. used: nothing may drop it, the linker
// finds it by name only.
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

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINE_FILE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_JSON_READER)

#include <limits>
#include <string>
#include <utility>
#include <vector>

// json_reader.hpp - reads the JSON of baselines and of Google Benchmark.

#ifndef ALLOCSCOPE_INTEGRATIONS_JSON_READER_HPP
#define ALLOCSCOPE_INTEGRATIONS_JSON_READER_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct json_value {
    enum class kind { null, boolean, number, text, list, object };
    kind is = kind::null;
    bool boolean = false;
    double number = 0;
    std::string text;
    std::vector<json_value> list;    // of an object: the values of its members
    std::vector<std::string> names;  // of the members, in the order of the file

    // Null when this is no object or has no such member. Of equal names the last one counts.
    const json_value* find(const char* name) const {
        for (std::size_t i = names.size(); i > 0; --i) {
            if (names[i - 1] == name) return &list[i - 1];
        }
        return nullptr;
    }
    bool is_text(const char* expected) const { return is == kind::text && text == expected; }
};

class json_reader {
public:
    explicit json_reader(const std::string& text) : text_(text) {}

    // "" when the text is one JSON value; else what is wrong, with line and column.
    std::string read(json_value& into) {
        const bool is_read = read_value(into, 0);
        if (is_read) skip_blanks();
        if (is_read && at_ != text_.size()) refuse("there is more after the end of the value");
        return error_;
    }

private:
    static constexpr int most_depth = 100;

    bool refuse(const std::string& what) {
        if (!error_.empty()) return false;
        std::size_t line = 1;
        std::size_t column = 1;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            column = text_[i] == '\n' ? 1 : column + 1;
            if (text_[i] == '\n') ++line;
        }
        error_ =
            "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what;
        return false;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
    }
    bool skip(const char* word) {
        const std::string expected = word;
        if (text_.compare(at_, expected.size(), expected) != 0) return false;
        at_ += expected.size();
        return true;
    }

    bool read_value(json_value& into, int depth) {
        if (depth > most_depth) return refuse("lists and objects lie too deeply in each other");
        skip_blanks();
        if (at_ >= text_.size()) return refuse("the text ends here, a value is missing");
        if (peek() == '{') return read_object(into, depth);
        if (peek() == '[') return read_list(into, depth);
        if (peek() == '"') {
            into.is = json_value::kind::text;
            return read_text(into.text);
        }
        if (skip("null")) return true;
        if (skip("true") || skip("false")) {
            into.is = json_value::kind::boolean;
            into.boolean = text_[at_ - 2] == 'u';
            return true;
        }
        into.is = json_value::kind::number;
        return read_number(into.number);
    }

    bool read_object(json_value& into, int depth) {
        into.is = json_value::kind::object;
        ++at_;
        skip_blanks();
        if (skip("}")) return true;
        for (;;) {
            skip_blanks();
            std::string name;
            if (peek() != '"') return refuse("a name in quotation marks is missing");
            if (!read_text(name)) return false;
            skip_blanks();
            if (!skip(":")) return refuse("':' is missing");
            into.names.push_back(std::move(name));
            into.list.emplace_back();
            if (!read_value(into.list.back(), depth + 1)) return false;
            skip_blanks();
            if (skip("}")) return true;
            if (!skip(",")) return refuse("',' or '}' is missing");
        }
    }

    bool read_list(json_value& into, int depth) {
        into.is = json_value::kind::list;
        ++at_;
        skip_blanks();
        if (skip("]")) return true;
        for (;;) {
            into.list.emplace_back();
            if (!read_value(into.list.back(), depth + 1)) return false;
            skip_blanks();
            if (skip("]")) return true;
            if (!skip(",")) return refuse("',' or ']' is missing");
        }
    }

    bool read_text(std::string& into) {
        ++at_;
        for (;;) {
            if (at_ >= text_.size()) return refuse("the text ends inside quotation marks");
            const char found = text_[at_];
            if (static_cast<unsigned char>(found) < 0x20) {
                return refuse("a control character inside quotation marks");
            }
            ++at_;
            if (found == '"') return true;
            if (found != '\\') {
                into += found;
            } else if (!read_escape(into)) {
                return false;
            }
        }
    }

    bool read_escape(std::string& into) {
        static constexpr char letters[] = "\"\\/bfnrt";
        static constexpr char meanings[] = "\"\\/\b\f\n\r\t";
        const char letter = peek();
        ++at_;
        for (std::size_t i = 0; i + 1 < sizeof letters; ++i) {
            if (letter != letters[i]) continue;
            into += meanings[i];
            return true;
        }
        std::uint32_t code = 0;
        if (letter != 'u' || !read_four_digits(code)) return refuse("'\\' and no escape after it");
        if (code >= 0xd800 && code < 0xdc00) {
            std::uint32_t second = 0;
            if (!skip("\\u") || !read_four_digits(second) || second < 0xdc00 || second > 0xdfff) {
                return refuse("half of a pair of \\u escapes");
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
        }
        add_utf8(into, code);
        return true;
    }

    bool read_four_digits(std::uint32_t& code) {
        for (int i = 0; i < 4; ++i, ++at_) {
            const char digit = peek();
            std::uint32_t value = 0;
            if (digit >= '0' && digit <= '9') {
                value = static_cast<std::uint32_t>(digit - '0');
            } else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f') {
                value = static_cast<std::uint32_t>((digit | 0x20) - 'a' + 10);
            } else {
                return false;
            }
            code = code * 16 + value;
        }
        return true;
    }

    static void add_utf8(std::string& into, std::uint32_t code) {
        if (code < 0x80) {
            into += static_cast<char>(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static constexpr std::uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
        into += static_cast<char>(first[more] | (code >> (6 * more)));
        for (int i = more - 1; i >= 0; --i) {
            into += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
        }
    }

    bool read_number(double& into) {
        const std::size_t start = at_;
        if (skip("NaN")) {
            into = std::numeric_limits<double>::quiet_NaN();
            return true;
        }
        const bool is_negative = skip("-");
        if (skip("Infinity")) {
            into = is_negative ? -std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::infinity();
            return true;
        }
        long double value = 0;
        const std::size_t digits_at = at_;
        int exponent = read_digits(value, 0);
        if (at_ == digits_at) {
            at_ = start;
            return refuse("this is no JSON value");
        }
        if (skip(".")) {
            const std::size_t fraction_at = at_;
            exponent += read_digits(value, -1);
            if (at_ == fraction_at) return refuse("a digit is missing");
        }
        if ((skip("e") || skip("E")) && !read_exponent(exponent)) return false;
        for (; exponent > 0 && value > 0; --exponent) value *= 10;
        long double divisor = 1;
        for (; exponent < 0; ++exponent) divisor *= 10;
        value /= divisor;
        into = static_cast<double>(is_negative ? -value : value);
        return true;
    }

    // Adds the digits to the value; what it must still be multiplied with, as a power of ten.
    int read_digits(long double& value, int step) {
        int exponent = 0;
        for (; peek() >= '0' && peek() <= '9'; ++at_) {
            const bool has_room = value < 1e18L;
            if (has_room) value = value * 10 + (peek() - '0');
            exponent += has_room ? step : step + 1;
        }
        return exponent;
    }

    bool read_exponent(int& exponent) {
        const bool is_negative = skip("-");
        if (!is_negative) (void)skip("+");
        const std::size_t digits_at = at_;
        int read = 0;
        for (; peek() >= '0' && peek() <= '9'; ++at_) {
            if (read < 10000) read = read * 10 + (peek() - '0');
        }
        if (at_ == digits_at) return refuse("a digit is missing");
        exponent += is_negative ? -read : read;
        return true;
    }

    const std::string& text_;
    std::size_t at_ = 0;
    std::string error_;
};

// The text between quotation marks, with them.
inline std::string json_quoted(const std::string& text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char character : text) {
        const unsigned code = static_cast<unsigned char>(character);
        if (code < 0x20) {
            quoted += "\\u00";
            quoted += digits[code >> 4];
            quoted += digits[code & 15];
            continue;
        }
        if (character == '"' || character == '\\') quoted += '\\';
        quoted += character;
    }
    return quoted + '"';
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_JSON_READER_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINE_FILE, ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES, ALLOCSCOPE_SINGLE_INTEGRATIONS_JSON_READER

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINE_FILE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES)

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/file.h>
#include <unistd.h>

// baseline_file.hpp - the file that baselines are kept in.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINE_FILE_HPP

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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINE_FILE, ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES

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

// Null when there is none of this name.
inline const double* find_number(const measured_numbers& numbers, const std::string& name) {
    for (const auto& found : numbers) {
        if (found.first == name) return &found.second;
    }
    return nullptr;
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
        error = update_is_asked_for ? update(name, now) : compare(name, now);
    }
    return error.empty() ? error : "allocscope: " + error;
}

inline std::string baselines::read(detail::measured_results& into, bool& exists) const {
    exists = ::access(path_.c_str(), F_OK) == 0;
    if (!exists) return {};
    detail::json_value document;
    const std::string error = detail::read_json_file(path_, document);
    return error.empty() ? detail::read_baselines(path_, document, into) : error;
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
    return detail::replace_file(path_, detail::baselines_as_json(results));
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_BASELINES

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_OWN) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_OWN) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_FRAMEWORK_STACKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_OWN)

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

// Declares the functions between a test and main to be library code, so that messages end with the
// test. They must not be where the framework allocates: its rows would be charged to the test.
template <std::size_t Count>
void hide_runner(const char* const (&functions)[Count]) {
    if (usable_engine() == nullptr) return;
    for (const char* pattern : functions) library_frames(pattern);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_OWN, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_OWN, ALLOCSCOPE_SINGLE_INTEGRATIONS_FRAMEWORK_STACKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_OWN

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_OWN)

// catch2_own.hpp - tells what Catch2 keeps for its own work from what a test case leaves alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether a reporter catches std::cout in the test case that is running. Written by the listener,
// on the thread that runs test cases.
inline bool catch2_holds_output = false;

// The functions right below the test's. One of them is innermost when the test's function is not on
// the stack: inlined without debug information, or left by a tail call into the standard library.
inline bool calls_the_test_case(const snapshot::frame& frame) noexcept {
    for (const std::string_view name : {"TestInvoker", "Catch::TestCase::invoke",
                                        "Catch::TestCaseHandle::invoke", "catch2_invoker"}) {
        if (mentions(frame, name)) return true;
    }
    return false;
}

constexpr const char* catch2_runner[] = {"Catch::TestInvoker*",
                                         "Catch::(anonymous namespace)::TestInvoker*",
                                         "Catch::TestCase::",
                                         "Catch::TestCaseHandle::",
                                         "Catch::RunContext::invokeActiveTestCase*",
                                         "Catch::RunContext::runCurrentTest*",
                                         "Catch::RunContext::runTest*",
                                         "Catch::(anonymous namespace)::TestGroup::",
                                         "Catch::Session::"};

// The user's function `maker` allocated: did Catch2 have it called, to keep what comes of it?
inline bool made_for_catch2(const leak_stack& stack, std::size_t maker,
                            bool fills_buffer) noexcept {
    if (fills_buffer && catch2_holds_output) return true;
    for (std::size_t i = maker + 1; i < stack.frame_count; ++i) {
        const snapshot::frame& frame = stack.frames[i];
        if (calls_the_test_case(frame)) return false;
        if (is_of_namespace(frame.function, "Catch::Generators::") ||
            (fills_buffer && is_of_namespace(frame.function, "Catch::"))) {
            stack.decisive_frames = i + 1;
            return true;
        }
    }
    return false;
}

// The context is null, or the user's leak_options whose own answer counts too.
inline bool is_catch2_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame && i < stack.frame_count; ++i) {
        if (calls_the_test_case(stack.frames[i])) return false;
        if (mentions(stack.frames[i], "basic_stringbuf<")) fills_buffer = true;
    }
    if (stack.user_frame >= stack.frame_count) return false;
    const snapshot::frame& maker = stack.frames[stack.user_frame];
    if (calls_the_test_case(maker)) return false;
    if (is_of_namespace(maker.function, "Catch::")) {
        stack.decisive_frames = stack.user_frame + 1;
        return true;
    }
    return made_for_catch2(stack, stack.user_frame, fills_buffer);
}

// For leak_options::is_expected_by_symbols.
inline bool is_catch2_own_by_symbols(const leak_stack& stack, const void*) {
    return hides_nothing(stack, stack.user_frame, "Catch::") && is_catch2_own(stack, nullptr);
}

// The user's options as the engine gets them. The result points to `wanted`.
inline leak_options without_catch2_own(const leak_options& wanted) noexcept {
    leak_options result = wanted;
    result.is_expected = &is_catch2_own;
    result.is_expected_by_symbols = &is_catch2_own_by_symbols;
    result.expected_context = &wanted;
    return result;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_OWN

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERDICT) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERSIONS)

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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERDICT, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERSIONS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERDICT)

#include <string>

// catch2_verdict.hpp - hands what a check found to Catch2, as one more assertion of the test case.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Leaves by an exception where Catch2's assertions would: is_fatal, or --abort was given.
inline void fail_catch2(const char* macro, const char* file, int line, const char* message,
                        bool is_fatal) {
    const pause_recording quietly;
    Catch::AssertionHandler assertion{
        Catch::StringRef{macro}, Catch::SourceLineInfo{file, static_cast<std::size_t>(line)},
        Catch::StringRef{},
        is_fatal ? Catch::ResultDisposition::Normal : Catch::ResultDisposition::ContinueOnFailure};
    assertion.handleMessage(Catch::ResultWas::ExplicitFailure, std::string{message});
    assertion.complete();
}

// The same from a destructor, which nothing leaves: with --abort the next assertion ends the run.
inline void fail_catch2_in_destructor(const char* macro, const char* file, int line,
                                      const char* message) noexcept {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    fail_catch2(macro, file, line, message, false);
#else
    try {
        fail_catch2(macro, file, line, message, false);
    } catch (const Catch::TestFailureException&) {
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_VERDICT

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CHECKED_BLOCK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS)

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
    explicit block_without_leaks(const leak_options& wanted) : leaks_("block", wanted) {}
    check_result finish() { return leaks_.finish(); }

private:
    leak_check leaks_;
};

class block_within_budget {
public:
    explicit block_within_budget(const allocation_budget& budget)
        : guard_("block", budget, only_tell(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static options of_this_thread() noexcept {
        options wanted;
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class block_without_allocations {
public:
    block_without_allocations() : guard_("block", only_tell()) {}
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

template <class Check, class Voice>
class checked_block {
public:
    template <class... Arguments>
    checked_block(const char* file, int line, bool is_fatal, const Arguments&... arguments)
        : file_(file),
          line_(line),
          is_fatal_(is_fatal),
          exceptions_(std::uncaught_exceptions()),
          check_(arguments...) {}
    checked_block(const checked_block&) = delete;
    checked_block& operator=(const checked_block&) = delete;

    // Left by return or break. An exception is a failure already, and so is what a failed fatal
    // assertion left behind when it returned.
    ~checked_block() {
        if (state_ != state::running || std::uncaught_exceptions() != exceptions_) return;
        const check_result found = check_.finish();
        if (!found && !Voice::has_failed()) {
            Voice::fail_in_destructor(file_, line_, found.message());
        }
    }

    bool next() {
        if (state_ != state::running) {
            const bool is_first = state_ == state::fresh;
            state_ = is_first ? state::running : state::done;
            return is_first;
        }
        state_ = state::done;
        const check_result found = check_.finish();
        if (found) return false;
        if (is_fatal_ && Voice::leaves_by_return) {
            failure_.emplace(found);
            return true;  // once more, for the macro to tell the failure and to leave
        }
        Voice::fail(file_, line_, found.message(), is_fatal_);
        return false;
    }

    // For such a macro.
    bool has_failed() const noexcept { return failure_.has_value(); }
    const char* message() const noexcept { return failure_->message(); }

private:
    enum class state { fresh, running, done };

    const char* file_;
    int line_;
    bool is_fatal_;
    int exceptions_;
    std::optional<check_result> failure_;
    state state_ = state::fresh;
    Check check_;  // last: its window opens when all else is ready
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_CHECKED_BLOCK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS)

// catch2_blocks.hpp - assertions about a block inside a test case: ALLOCSCOPE_CHECK_NO_LEAKS { }.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct catch2_voice {
    static constexpr bool leaves_by_return = false;
    static void fail(const char* file, int line, const char* message, bool is_fatal) {
        const char* macro = is_fatal ? "ALLOCSCOPE_REQUIRE" : "ALLOCSCOPE_CHECK";
        fail_catch2(macro, file, line, message, is_fatal);
    }
    static void fail_in_destructor(const char* file, int line, const char* message) noexcept {
        fail_catch2_in_destructor("ALLOCSCOPE_CHECK", file, line, message);
    }
    // A failed REQUIRE leaves by an exception, so a return means that nothing failed.
    static bool has_failed() noexcept { return false; }
};

template <class Check>
using catch2_block = checked_block<Check, catch2_voice>;

inline leak_options catch2_leaks_of(threads from) noexcept {
    leak_options wanted;
    wanted.is_expected = &is_catch2_own;
    wanted.is_expected_by_symbols = &is_catch2_own_by_symbols;
    wanted.window.from = from;
    return wanted;
}

}  // namespace detail

// From here to the end of the block nothing may be left alive.
class catch2_leak_scope {
public:
    // The options' texts must stay valid. Throws std::invalid_argument as leak_check does.
    ALLOCSCOPE_EXCEPTIONS_TAG explicit catch2_leak_scope(const leak_options& wanted = {},
                                                         const char* file = __builtin_FILE(),
                                                         int line = __builtin_LINE())
        : file_(file),
          line_(line),
          exceptions_(std::uncaught_exceptions()),
          wanted_(wanted),
          leaks_("scope", detail::without_catch2_own(wanted_)) {}
    // Judges as a CHECK at the place where the scope begins, unless an exception passes through.
    ~catch2_leak_scope() {
        if (std::uncaught_exceptions() != exceptions_) return;
        const check_result found = leaks_.finish();
        if (found) return;
        detail::fail_catch2_in_destructor("allocscope::catch2_leak_scope", file_, line_,
                                          found.message());
    }
    catch2_leak_scope(const catch2_leak_scope&) = delete;
    catch2_leak_scope& operator=(const catch2_leak_scope&) = delete;

private:
    const char* file_;
    int line_;
    int exceptions_;
    leak_options wanted_;
    leak_check leaks_;
};

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_CATCH2_JOIN_(left, right) left##right
#define ALLOCSCOPE_CATCH2_NAME_(line) ALLOCSCOPE_CATCH2_JOIN_(allocscope_block_, line)
#define ALLOCSCOPE_CATCH2_LOOP_(name, check, ...)                                                 \
    for (::allocscope::detail::catch2_block<::allocscope::detail::check> name{__FILE__, __LINE__, \
                                                                              __VA_ARGS__};       \
         name.next();)
// CHECK or REQUIRE: is_fatal is the first argument.
#define ALLOCSCOPE_CATCH2_BLOCK_(check, ...) \
    ALLOCSCOPE_CATCH2_LOOP_(ALLOCSCOPE_CATCH2_NAME_(__LINE__), check, __VA_ARGS__)

#define ALLOCSCOPE_CATCH2_LEAKS_(from) \
    ::allocscope::detail::catch2_leaks_of(::allocscope::threads::from)
#define ALLOCSCOPE_CHECK_NO_LEAKS \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, false, ALLOCSCOPE_CATCH2_LEAKS_(all))
#define ALLOCSCOPE_REQUIRE_NO_LEAKS \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, true, ALLOCSCOPE_CATCH2_LEAKS_(all))
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, false, ALLOCSCOPE_CATCH2_LEAKS_(current))
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, true, ALLOCSCOPE_CATCH2_LEAKS_(current))

#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS ALLOCSCOPE_CATCH2_BLOCK_(block_without_allocations, false)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS ALLOCSCOPE_CATCH2_BLOCK_(block_without_allocations, true)

// `most` is any integer; a negative one is refused by name.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most)       \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, false, \
                             ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most)    \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, true, \
                             ::allocscope::detail::allocations_at_most(most))

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_CHECK_WITHIN_BUDGET(...) \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, false, __VA_ARGS__)
#define ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(...) \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_BLOCKS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_EXPECT_LEAKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER)

#include <mutex>
#include <string>
#include <type_traits>

// expect_leaks.hpp - what a running test says about what it will leave alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What a test said; for the window of a suite, what its tests said together.
struct said_of_leaks {
    std::uint64_t least_objects = 0;
    std::uint64_t most_objects = 0;
    std::string patterns;  // lines as in leak_options::expected
    bool is_ignored = false;

    void add(const said_of_leaks& other) {
        least_objects += other.least_objects;
        most_objects += other.most_objects;
        patterns += other.patterns;
        is_ignored = is_ignored || other.is_ignored;
    }

    // The adapter's options with what was said added to them. The result points into this.
    leak_options add_to(const leak_options& wanted) {
        leak_options result = wanted;
        result.least_objects = wanted.least_objects.bits + least_objects;
        result.objects = wanted.objects.bits + most_objects;
        patterns += wanted.expected;
        result.expected = patterns.c_str();
        return result;
    }
};

// The test that is running.
class running_test {
public:
    // Hands over what was said since the last call.
    said_of_leaks take() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_of_leaks result = static_cast<said_of_leaks&&>(said_);
        said_ = said_of_leaks{};
        return result;
    }
    void say(const said_of_leaks& more) {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_.add(more);
    }

private:
    std::mutex mutex_;
    said_of_leaks said_;
};

inline running_test test_that_runs;

}  // namespace detail

// So many objects must be alive at the end of this test, with two numbers at least and at most so
// many; beside those that a pattern fits. Several calls add up. Throws std::invalid_argument when a
// number is negative or the least is more than the most (-fno-exceptions: prints it and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG inline void expect_leaks(detail::typed_number least,
                                                   detail::typed_number most) {
    const pause_recording pause;
    detail::said_of_leaks more;
    more.least_objects = detail::checked_count("allocscope", "expect_leaks", least);
    more.most_objects = detail::checked_count("allocscope", "expect_leaks", most);
    if (more.least_objects > more.most_objects) {
        detail::refuse_order("allocscope", "expect_leaks", more.least_objects, more.most_objects);
    }
    detail::test_that_runs.say(more);
}
// A template, so that 0 is a number and not the null pointer of the text below.
template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
ALLOCSCOPE_EXCEPTIONS_TAG void expect_leaks(Integer objects) {
    expect_leaks(objects, objects);
}

// What fits may be alive at the end of this test; lines as in leak_options::expected. Throws
// std::invalid_argument when a line is not understood (-fno-exceptions: prints it and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG inline void expect_leaks(const char* patterns) {
    const pause_recording pause;
    if (patterns == nullptr) patterns = "leak:";  // which is refused by name
    detail::check_expected(patterns);
    detail::said_of_leaks more;
    more.patterns = patterns;
    more.patterns += '\n';
    detail::test_that_runs.say(more);
}

// This test is not checked.
inline void ignore_leaks() {
    const pause_recording pause;
    detail::said_of_leaks more;
    more.is_ignored = true;
    detail::test_that_runs.say(more);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_EXPECT_LEAKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER)

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
        hide_runner(catch2_runner);
    }

    void begin_case() { was_entered_ = false; }
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
        leak_check leaks{name_.c_str(), without_catch2_own(catch2_options)};
        test.invoke();  // an exception passes through and ends the window: failed, or skipped
        end_pass(about, leaks);
    }

private:
    bool is_refused() const noexcept { return refusal_[0] != '\0'; }

    void begin_pass(const Catch::TestCaseInfo& about) {
        const pause_recording quietly;
        name_ = about.name;
        sections_.clear();
        is_in_test_ = true;
        test_that_runs.take();
        catch2_holds_output = Catch::cout().rdbuf() != own_output_;
    }

    void end_pass(const Catch::TestCaseInfo& about, leak_check& leaks) {
        const pause_recording quietly;
        is_in_test_ = false;
        said_of_leaks said = test_that_runs.take();
        if (has_failed_ || said.is_ignored) return;
        const check_result found = leaks.finish(said.add_to(without_catch2_own(catch2_options)));
        if (found) return;
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
        fail_catch2("ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE", about.lineInfo.file,
                    static_cast<int>(about.lineInfo.line), message, false);
    }

    const char* refusal_ = "";  // why nothing is recorded
    const std::streambuf* own_output_ = nullptr;
    std::string name_;
    std::string sections_;
    bool has_told_ = false;
    bool was_entered_ = false;
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2, ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2_LISTENER

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2)

// catch2.hpp - Catch2: every test case must free what it allocated, and blocks keep to budgets.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_CATCH2

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_OWN)

// doctest_own.hpp - tells what doctest keeps for its own work from what a test leaves alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Context::run() is below every case and allocates nothing in it.
inline bool is_doctest_function(const snapshot::frame& frame) noexcept {
    return is_of_namespace(frame.function, "doctest::") &&
           !is_of_namespace(frame.function, "doctest::Context::");
}

// For leak_options::is_expected.
inline bool is_doctest_own(const leak_stack& stack, const void*) {
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame; ++i) {
        fills_buffer = fills_buffer || mentions(stack.frames[i], "basic_stringbuf<");
    }
    for (std::size_t i = stack.user_frame; i < stack.frame_count; ++i) {
        if (is_doctest_function(stack.frames[i])) {
            stack.decisive_frames = i + 1;
            return true;
        }
        if (!fills_buffer) return false;
    }
    return false;
}

// For leak_options::is_expected_by_symbols.
inline bool is_doctest_own_by_symbols(const leak_stack& stack, const void* context) {
    return is_doctest_own(stack, context) &&
           hides_nothing(stack, stack.decisive_frames - 1, "doctest::");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_OWN_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_OWN

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_VERDICT)

// doctest_verdict.hpp - hands what a check found to doctest, as one more assertion of the case.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP

#ifndef DOCTEST_LIBRARY_INCLUDED
    #include <doctest/doctest.h>  // ResultBuilder, DOCTEST_BREAK_INTO_DEBUGGER
#endif

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Where a verdict belongs, and how it reads: "file(line): ERROR: CHECK( claim ) is NOT correct!".
struct doctest_claim {
    doctest::assertType::Enum kind;  // DT_CHECK goes on after a failure, DT_REQUIRE does not
    const char* file;
    int line;
    const char* text;
};

// Leaves by an exception where an assertion of this kind would: after a failed REQUIRE, and when
// --abort-after is reached. Else returns.
inline void tell_doctest(const doctest_claim& claim, bool has_passed, const char* message,
                         bool may_leave) {
    doctest::detail::ResultBuilder assertion(claim.kind, claim.file, claim.line, claim.text);
    {
        const pause_recording quietly;
        assertion.m_failed = !has_passed;
        if (has_passed) message = "true";
        assertion.m_decomp = message;
        if (assertion.log()) DOCTEST_BREAK_INTO_DEBUGGER();
    }
    if (may_leave) assertion.react();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_VERDICT

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS)

#include <exception>

// doctest_blocks.hpp - assertions about a block inside a test case: ALLOCSCOPE_CHECK_NO_LEAKS { }.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What the three kinds of blocks have in common. `Check` has finish(), which gives a check_result.
template <class Check>
class doctest_block {
public:
    template <class... Arguments>
    explicit doctest_block(const doctest_claim& claim, const Arguments&... arguments)
        : claim_(claim), exceptions_(std::uncaught_exceptions()), check_(arguments...) {}
    doctest_block(const doctest_block&) = delete;
    doctest_block& operator=(const doctest_block&) = delete;

    // By return, break or goto; an exception must not be answered with another one.
    ~doctest_block() {
        if (!is_finished_ && std::uncaught_exceptions() == exceptions_) judge(false);
    }

    bool is_open() const noexcept { return !is_finished_; }
    void finish() { judge(true); }

private:
    void judge(bool may_leave) {
        is_finished_ = true;
        const check_result found = check_.finish();
        tell_doctest(claim_, found.passed(), found.message(), may_leave);
    }

    doctest_claim claim_;
    int exceptions_;
    Check check_;
    bool is_finished_ = false;
};

// For the message and the name of the file that keeps the evidence.
inline const char* doctest_case_name() noexcept {
    const doctest::ContextOptions* options = doctest::getContextOptions();
    if (options == nullptr || options->currentTest == nullptr) return "block";
    return options->currentTest->m_name;
}

// The guards have nothing to do themselves.
inline on_violation told_by_doctest() noexcept {
    return on_violation::call([](const check_result&, void*) {});
}

class doctest_leak_block {
public:
    explicit doctest_leak_block(threads from) : check_(doctest_case_name(), options_for(from)) {}
    check_result finish() { return check_.finish(); }

private:
    static leak_options options_for(threads from) {
        leak_options wanted;
        wanted.is_expected = &is_doctest_own;
        wanted.is_expected_by_symbols = &is_doctest_own_by_symbols;
        wanted.window.from = from;
        return wanted;
    }

    leak_check check_;
};

class doctest_budget_block {
public:
    explicit doctest_budget_block(typed_number most)
        : guard_(doctest_case_name(), budget_of(most), told_by_doctest(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static allocation_budget budget_of(typed_number most) noexcept {
        allocation_budget budget;
        budget.allocations = at_most(most);
        return budget;
    }
    static options of_this_thread() noexcept {
        options wanted;
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class doctest_silent_block {
public:
    explicit doctest_silent_block(bool) : guard_(doctest_case_name(), told_by_doctest()) {}
    check_result finish() { return guard_.finish(); }

private:
    no_allocation_guard guard_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

// The assertions themselves; with doctest switched off the block just runs.
#ifdef DOCTEST_CONFIG_DISABLE
    #define ALLOCSCOPE_DOCTEST_BLOCK(check, assertion, claim, argument) if (true)
#else
    #define ALLOCSCOPE_DOCTEST_BLOCK_NAMED(name, check, assertion, claim, argument)              \
        for (::allocscope::detail::doctest_block<::allocscope::detail::check> name{              \
                 ::allocscope::detail::doctest_claim{::doctest::assertType::assertion, __FILE__, \
                                                     __LINE__, claim},                           \
                 argument};                                                                      \
             name.is_open(); name.finish())
    #define ALLOCSCOPE_DOCTEST_BLOCK(check, assertion, claim, argument)                        \
        ALLOCSCOPE_DOCTEST_BLOCK_NAMED(DOCTEST_ANONYMOUS(allocscope_block_), check, assertion, \
                                       claim, argument)
#endif
#define ALLOCSCOPE_DOCTEST_LEAK_BLOCK(assertion, from) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_leak_block, assertion, "no leaks", ::allocscope::threads::from)

// Nothing that is allocated in the block, by any thread, is alive at its end.
#define ALLOCSCOPE_CHECK_NO_LEAKS ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_CHECK, all)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_REQUIRE, all)
// The same for what this thread allocates, while others work.
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_CHECK, current)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_REQUIRE, current)

// This thread allocates nothing in the block.
#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_silent_block, DT_CHECK, "no allocations", true)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_silent_block, DT_REQUIRE, "no allocations", true)

// This thread allocates at most so many objects in the block. Any integer; one that is negative
// fails the case and is named.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_budget_block, DT_CHECK, "allocations at most " #most, most)
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_budget_block, DT_REQUIRE, "allocations at most " #most, most)

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_BLOCKS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_EXPECTATIONS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER)

// doctest_expectations.hpp - decorators: what a doctest case may leave alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP

#ifndef DOCTEST_LIBRARY_INCLUDED  // the user may have included a copy from elsewhere
    #include <doctest/doctest.h>  // TestCase, TestSuite
#endif

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class doctest_remark_kind { objects, pattern, ignored, repeated };

// What one decorator says about one case, or about all cases of a suite.
struct doctest_remark {
    doctest_remark_kind kind = doctest_remark_kind::ignored;
    int least_objects = 0;
    int most_objects = 0;
    const char* pattern = "";
    doctest::detail::funcType test = nullptr;  // null: of the suite
    const char* suite = nullptr;
    const doctest_remark* next = nullptr;
};

// Constant-initialised, so that the decorators of every translation unit find it ready.
inline const doctest_remark* doctest_remarks = nullptr;

inline void add_doctest_remark(doctest_remark remark) {
    remark.next = doctest_remarks;
    doctest_remarks = new doctest_remark(remark);  // lives as long as doctest's own registry
}

// What a decorator has in common with the others: doctest applies it by calling fill().
class doctest_decorator {
public:
    void fill(doctest::detail::TestCase& test) const {
        doctest_remark remark = remark_;
        remark.test = test.m_test;
        add_doctest_remark(remark);
    }
    void fill(doctest::detail::TestSuite& suite) const {
        doctest_remark remark = remark_;
        remark.suite = suite.m_test_suite;
        add_doctest_remark(remark);
    }

protected:
    explicit doctest_decorator(const doctest_remark& remark) noexcept : remark_(remark) {}
    ~doctest_decorator() = default;

private:
    doctest_remark remark_;
};

inline doctest_remark objects_remark(int least, int most) noexcept {
    doctest_remark remark;
    remark.kind = doctest_remark_kind::objects;
    remark.least_objects = least;
    remark.most_objects = most;
    return remark;
}

inline doctest_remark pattern_remark(const char* pattern) noexcept {
    doctest_remark remark;
    remark.kind = doctest_remark_kind::pattern;
    remark.pattern = pattern;
    return remark;
}

inline doctest_remark remark_of_kind(doctest_remark_kind kind) noexcept {
    doctest_remark remark;
    remark.kind = kind;
    return remark;
}

}  // namespace detail

// TEST_CASE("keeps two" * allocscope::expect_leaks(2)): the case fails unless exactly so many
// objects are alive after each pass through it. With two numbers: at least and at most so many.
// With a text: what fits is no leak, any number of it; lines as in leak_options::expected, such as
// "leak:load_locale". Several decorators add up. On a TEST_SUITE it holds for each of its cases
// that has none of its own. Numbers that make no sense and patterns that are not understood fail
// the case and are named.
class expect_leaks : public detail::doctest_decorator {
public:
    explicit expect_leaks(int objects) noexcept
        : doctest_decorator(detail::objects_remark(objects, objects)) {}
    expect_leaks(int least, int most) noexcept
        : doctest_decorator(detail::objects_remark(least, most)) {}
    explicit expect_leaks(const char* pattern) noexcept
        : doctest_decorator(detail::pattern_remark(pattern)) {}
};

// The case, or each case of the suite, is not checked.
class ignore_leaks : public detail::doctest_decorator {
public:
    ignore_leaks() noexcept
        : doctest_decorator(detail::remark_of_kind(detail::doctest_remark_kind::ignored)) {}
};

// For cases that fill caches. One that leaves something alive is run three times more, and fails
// only if each of those left more alive than the one before. Its assertions are counted each time.
// A pass with SUBCASEs cannot be run again from inside, and is judged as always.
class only_repeated_leaks : public detail::doctest_decorator {
public:
    only_repeated_leaks() noexcept
        : doctest_decorator(detail::remark_of_kind(detail::doctest_remark_kind::repeated)) {}
};

namespace detail {

inline bool is_same_suite(const char* left, const char* right) noexcept {
    std::size_t i = 0;
    while (left[i] != '\0' && left[i] == right[i]) ++i;
    return left[i] == right[i];
}

// What the decorators of one case say together.
class doctest_expectation {
public:
    // `always` are patterns that hold for every case.
    void read(doctest::detail::funcType test, const char* suite, const char* always) {
        *this = doctest_expectation{};
        add_pattern(always);
        bool has_own = false;
        for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
            if (each->test != test || test == nullptr) continue;
            add(*each);
            has_own = true;
        }
        if (has_own || suite == nullptr) return;
        for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
            if (each->suite != nullptr && is_same_suite(each->suite, suite)) add(*each);
        }
    }

    bool is_ignored() const noexcept { return is_ignored_; }
    bool is_repeated() const noexcept { return is_repeated_; }
    // More patterns were given than there is room for.
    bool is_too_long() const noexcept { return is_too_long_; }

    // `wanted` with what the decorators say put in; the texts are this object's.
    leak_options apply_to(leak_options wanted) const noexcept {
        wanted.expected = patterns_;
        if (!counts_objects_) return wanted;
        wanted.least_objects = least_objects_;
        wanted.objects = most_objects_;
        return wanted;
    }

private:
    void add(const doctest_remark& remark) {
        if (remark.kind == doctest_remark_kind::ignored) is_ignored_ = true;
        if (remark.kind == doctest_remark_kind::repeated) is_repeated_ = true;
        if (remark.kind == doctest_remark_kind::pattern) add_pattern(remark.pattern);
        if (remark.kind == doctest_remark_kind::objects) add_objects(remark);
    }

    // A negative number stays, so that the check can refuse it.
    void add_objects(const doctest_remark& remark) {
        counts_objects_ = true;
        least_objects_ = sum(least_objects_, remark.least_objects);
        most_objects_ = sum(most_objects_, remark.most_objects);
    }
    static int sum(int left, int right) noexcept {
        if (left < 0 || right < 0) return left < right ? left : right;
        int result = 0;
        return __builtin_add_overflow(left, right, &result) ? left : result;
    }

    void add_pattern(const char* pattern) {
        if (pattern == nullptr) pattern = "";
        if (pattern[0] == '\0') return;
        // The last byte stays 0.
        fixed_text text{patterns_ + pattern_bytes_, sizeof patterns_ - 1 - pattern_bytes_};
        text.append(pattern, length_of(pattern));
        text.append('\n');
        pattern_bytes_ += text.size();
        if (text.was_cut()) is_too_long_ = true;
    }

    static std::size_t length_of(const char* text) noexcept {
        std::size_t length = 0;
        while (text[length] != '\0') ++length;
        return length;
    }

    bool is_ignored_ = false;
    bool is_repeated_ = false;
    bool counts_objects_ = false;
    int least_objects_ = 0;
    int most_objects_ = 0;
    std::size_t pattern_bytes_ = 0;
    bool is_too_long_ = false;
    char patterns_[4096] = {};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_EXPECTATIONS, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER)

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
        hide_runner({"doctest::Context::"});
    }

    void test_case_start(const doctest::TestCaseData& started) override {
        // Not const when it was made: doctest keeps its cases in a set, whose order is not by this.
        case_ = const_cast<doctest::detail::TestCase*>(
            static_cast<const doctest::detail::TestCase*>(&started));
        function_ = case_->m_test;
        expected_.read(function_, case_->m_test_suite, doctest_defaults.expected);
        if (!expected_.is_ignored()) case_->m_test = &run_case;
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
    static constexpr int repeated_runs = 3;

    // Stands in the place of the case's function.
    static void run_case() { doctest_running->run_pass(); }

    // Messages show nothing that is further out than this; the engine knows the name.
    __attribute__((noinline)) void allocscope_test_boundary() {
        function_();
        __asm__ volatile("");  // a frame of its own: the call above must not become a jump
    }

    void run_pass() {
        has_failed_.store(false, std::memory_order_relaxed);
        has_subcases_ = false;
        if (is_refused()) return run_unchecked();
        if (expected_.is_too_long()) fail("the patterns of expect_leaks are more than 4 KiB");
        const leak_options limits = wanted();
        leak_check leaks{case_->m_name, limits};
        // An exception passes through and ends the window: the case has failed.
        allocscope_test_boundary();
        if (has_failed()) return;
        if (expected_.is_repeated() && !has_subcases_ && leaks.counts().live_objects() != 0) {
            return repeat(limits);
        }
        const check_result found = leaks.finish();
        if (!found.passed()) fail(found.message());
    }

    void repeat(const leak_options& limits) {
        leak_repetition runs{case_->m_name, limits};
        for (int i = 0; i < repeated_runs; ++i) {
            allocscope_test_boundary();
            runs.end_of_run();
        }
        if (has_failed()) return;
        const check_result found = runs.finish();
        if (!found.passed()) fail(found.message());
    }

    // Without the hooks the first case says so, and no other: it is one mistake.
    void run_unchecked() {
        if (!has_told_) fail(refusal_.info().not_recording);
        has_told_ = true;
        allocscope_test_boundary();
    }

    leak_options wanted() const {
        leak_options options = expected_.apply_to(doctest_defaults);
        options.is_expected = &is_expected;
        options.is_expected_by_symbols = &is_doctest_own_by_symbols;
        options.expected_context = nullptr;
        return options;
    }
    static bool is_expected(const leak_stack& stack, const void*) {
        const leak_options& defaults = doctest_defaults;
        if (is_doctest_own(stack, nullptr)) return true;
        return defaults.is_expected != nullptr &&
               defaults.is_expected(stack, defaults.expected_context);
    }

    void fail(const char* message) {
        tell_doctest({doctest::assertType::DT_CHECK, case_->m_file.c_str(),
                      static_cast<int>(case_->m_line), "no leaks"},
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
    doctest_expectation expected_;
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_DOCTEST_LISTENER

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

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE)

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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
    bool is_same_as(const benchmark_range& other) const noexcept {
        return !(least < other.least) && !(least > other.least) && !(most < other.most) &&
               !(most > other.most);
    }
};

// What a run that kept stacks knows of its places.
struct benchmark_places {
    snapshot alive;       // at the end
    snapshot allocated;   // freed since or not; empty unless that run broke a limit of those
    std::string heading;  // "after 1 iteration: "
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

    bool is_same_as(const benchmark_rule& other) const noexcept {
        return file == other.file && line == other.line &&
               allocations.is_same_as(other.allocations) && bytes.is_same_as(other.bytes) &&
               peak_bytes.is_same_as(other.peak_bytes) &&
               live_objects.is_same_as(other.live_objects) &&
               live_bytes.is_same_as(other.live_bytes);
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

class benchmark_rules {
public:
    // The number of the rule, from 1. New places replace the old ones.
    std::size_t remember(const benchmark_rule& rule) {
        const std::lock_guard<std::mutex> lock{mutex_};
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            if (!rules_[i].is_same_as(rule)) continue;
            if (!rule.places.alive.empty()) {
                rules_[i].places.alive = rule.places.alive;
                rules_[i].places.heading = rule.places.heading;
            }
            if (!rule.places.allocated.empty()) {
                rules_[i].places.allocated = rule.places.allocated;
                rules_[i].places.heading = rule.places.heading;
            }
            return i + 1;
        }
        rules_.push_back(rule);
        return rules_.size();
    }
    // False when no scope has remembered a rule of this number.
    bool find(double number, benchmark_rule& found) {
        const std::lock_guard<std::mutex> lock{mutex_};
        if (!(number >= 1) || number > static_cast<double>(rules_.size())) return false;
        found = rules_[static_cast<std::size_t>(number) - 1];
        return true;
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
    std::vector<benchmark_rule> rules_;
    std::map<std::string, std::string> saved_;
    std::map<std::pair<const char*, int>, allocation_counts> labels_;
};

inline benchmark_rules remembered_rules;

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
    return text + remembered_rules.save(name, text, rows);
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
    const bool is_silent = rule.live_objects.is_same_as({}) && rule.live_bytes.is_same_as({});
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS)

#include <benchmark/benchmark.h>
#include <string>
#include <type_traits>
#include <utility>

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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE)

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

// Counters that only a benchmark_gate reads, and takes out.
constexpr const char* rule_counter = "allocscope/rule";
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
        detail::remembered_rules.learn_label(rule_.file, rule_.line, detail::label_in(alive_));
    }
    return detail::remembered_rules.label_of(rule_.file, rule_.line);
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
    set(detail::rule_counter, detail::remembered_rules.remember(rule_), Counter::kAvgThreads,
        Counter::kIs1000);
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE)

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
// --benchmark_out, or its file shows the inner counters of the scopes.
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
    return run.counters.find(rule_counter) != run.counters.end();
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
    detail::benchmark_rule rule;
    if (is_judged && !detail::run_has_no_numbers(run, 0) && detail::has_scope(run) &&
        detail::remembered_rules.find(detail::counter_of(run, detail::rule_counter), rule)) {
        const std::string message = detail::judge(rule, detail::usage_of(run), name);
        if (!message.empty()) detail::fail_run(run, message, 0);
    }
    if (detail::run_failed(run, 0)) {
        ++failures_;
        failed_.insert(name);
        if (pads_errors_) detail::pad_counters(run);
    }
    if (is_aggregate && detail::has_scope(run)) detail::set_nan_to_zero(run);
    run.counters.erase(detail::rule_counter);
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER)

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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK, ALLOCSCOPE_SINGLE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER

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

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_OWN)

// gtest_own.hpp - tells what GoogleTest keeps for its own work from what a test leaves alive.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The functions right below the user's. One of them is innermost when the user's function is not on
// the stack: inlined without debug information, or left by a tail call into the standard library.
inline bool calls_the_test(const snapshot::frame& frame) noexcept {
    for (const std::string_view name :
         {"TestFactoryImpl", "HandleExceptionsInMethodIfSupported",
          "HandleSehExceptionsInMethodIfSupported", "testing::Test::Run", "testing::TestInfo::Run",
          "testing::TestSuite::Run"}) {
        if (mentions(frame, name)) return true;
    }
    return false;
}

constexpr const char* gtest_runner[] = {
    "testing::internal::HandleExceptionsInMethodIfSupported*",
    "testing::internal::HandleSehExceptionsInMethodIfSupported*",
    "testing::Test::Run*",
    "testing::TestInfo::Run*",
    "testing::TestSuite::Run*",
    "testing::internal::UnitTestImpl::RunAllTests*",
    "testing::UnitTest::Run*",
    "RUN_ALL_TESTS*"};

// The context is null, or the user's leak_options whose own answer counts too.
inline bool is_gtest_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    if (stack.user_frame >= stack.frame_count) return false;
    const snapshot::frame& maker = stack.frames[stack.user_frame];
    if (!is_of_namespace(maker.function, "testing::") || calls_the_test(maker)) return false;
    stack.decisive_frames = stack.user_frame + 1;
    return true;
}

// For leak_options::is_expected_by_symbols.
inline bool is_gtest_own_by_symbols(const leak_stack& stack, const void*) {
    return hides_nothing(stack, stack.user_frame, "testing::") && is_gtest_own(stack, nullptr);
}

// The user's options as the engine gets them. The result points to `wanted`.
inline leak_options without_gtest_own(const leak_options& wanted) noexcept {
    leak_options result = wanted;
    result.is_expected = &is_gtest_own;
    result.is_expected_by_symbols = &is_gtest_own_by_symbols;
    result.expected_context = &wanted;
    return result;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_OWN

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS)

#include <gtest/gtest.h>

// gtest_blocks.hpp - assertions about a block inside a test: ALLOCSCOPE_EXPECT_NO_LEAKS { }.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct gtest_voice {
    static constexpr bool leaves_by_return = true;
    // Fatal ones are told by the macro.
    static void fail(const char* file, int line, const char* message, bool) {
        const pause_recording quietly;
        ADD_FAILURE_AT(file, line) << message;
    }
    static void fail_in_destructor(const char* file, int line, const char* message) {
        fail(file, line, message, false);
    }
    static bool has_failed() { return ::testing::Test::HasFailure(); }
};

template <class Check>
using gtest_block = checked_block<Check, gtest_voice>;

inline leak_options gtest_leaks_of(threads from) noexcept {
    leak_options wanted;
    wanted.is_expected = &is_gtest_own;
    wanted.is_expected_by_symbols = &is_gtest_own_by_symbols;
    wanted.window.from = from;
    return wanted;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_GTEST_JOIN_(left, right) left##right
#define ALLOCSCOPE_GTEST_NAME_(line) ALLOCSCOPE_GTEST_JOIN_(allocscope_block_, line)
#define ALLOCSCOPE_GTEST_LOOP_(name, check, ...)                                                 \
    for (::allocscope::detail::gtest_block<::allocscope::detail::check> name{__FILE__, __LINE__, \
                                                                             __VA_ARGS__};       \
         name.next();)
#define ALLOCSCOPE_GTEST_EXPECT_(check, ...) \
    ALLOCSCOPE_GTEST_LOOP_(ALLOCSCOPE_GTEST_NAME_(__LINE__), check, __VA_ARGS__)
// GTEST_FAIL_AT returns by itself in newer versions only. The switch keeps an `else` behind the
// block from being taken for one of this `if`.
#define ALLOCSCOPE_GTEST_ASSERT_(check, ...)                                             \
    switch (0)                                                                           \
    case 0:                                                                              \
    default:                                                                             \
        ALLOCSCOPE_GTEST_LOOP_(ALLOCSCOPE_GTEST_NAME_(__LINE__), check, __VA_ARGS__)     \
    if (ALLOCSCOPE_GTEST_NAME_(__LINE__).has_failed()) {                                 \
        GTEST_FAIL_AT(__FILE__, __LINE__) << ALLOCSCOPE_GTEST_NAME_(__LINE__).message(); \
        return;                                                                          \
    } else

#define ALLOCSCOPE_GTEST_LEAKS_(from) \
    ::allocscope::detail::gtest_leaks_of(::allocscope::threads::from)
#define ALLOCSCOPE_EXPECT_NO_LEAKS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, false, ALLOCSCOPE_GTEST_LEAKS_(all))
#define ALLOCSCOPE_ASSERT_NO_LEAKS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, true, ALLOCSCOPE_GTEST_LEAKS_(all))
#define ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, false, ALLOCSCOPE_GTEST_LEAKS_(current))
#define ALLOCSCOPE_ASSERT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, true, ALLOCSCOPE_GTEST_LEAKS_(current))

#define ALLOCSCOPE_EXPECT_NO_ALLOCATIONS ALLOCSCOPE_GTEST_EXPECT_(block_without_allocations, false)
#define ALLOCSCOPE_ASSERT_NO_ALLOCATIONS ALLOCSCOPE_GTEST_ASSERT_(block_without_allocations, true)

// `most` is any integer; a negative one is refused by name.
#define ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(most)      \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, false, \
                             ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(most)     \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, true, \
                             ::allocscope::detail::allocations_at_most(most))

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_EXPECT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, false, __VA_ARGS__)
#define ALLOCSCOPE_ASSERT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_BLOCKS

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST) || \
    defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER)

#include <gtest/gtest.h>
#include <optional>

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

// One window of the listener, a test's or a suite's.
class gtest_window {
public:
    void open(std::string name, const leak_options& wanted) {
        name_ = static_cast<std::string&&>(name);
        wanted_ = &wanted;
        leaks_.emplace(name_.c_str(), without_gtest_own(wanted));
    }
    void drop() { leaks_.reset(); }
    bool is_open() const noexcept { return leaks_.has_value(); }

    check_result close(said_of_leaks& said) {
        check_result found = leaks_->finish(said.add_to(without_gtest_own(*wanted_)));
        leaks_.reset();
        return found;
    }

private:
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
        detail::hide_runner(detail::gtest_runner);
        refuse_without_hooks();
    }

    void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
        is_warm_ = iteration >= wanted_.warm_up_iterations;
    }

    void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_ = detail::said_of_leaks{};
        detail::test_that_runs.take();
        if (wanted_.checks_suites && can_judge()) suite_.open(suite.name(), wanted_.leaks);
    }

    void OnTestStart(const ::testing::TestInfo& test) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.take());  // of SetUpTestSuite
        if (!wanted_.checks_tests || !can_judge()) return;
        test_.open(std::string{test.test_suite_name()} + '.' + test.name(), wanted_.leaks);
    }

    void OnTestEnd(const ::testing::TestInfo& test) override {
        const pause_recording pause;
        detail::said_of_leaks said = detail::test_that_runs.take();
        suite_said_.add(said);
        if (!test_.is_open()) return;
        const ::testing::TestResult& result = *test.result();
        if (said.is_ignored || result.Failed() || result.Skipped()) return test_.drop();
        last_ = test_.close(said);
        if (!last_) ADD_FAILURE_AT(test.file(), test.line()) << last_.message();
    }

    void OnTestSuiteEnd(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.take());  // of TearDownTestSuite
        if (!suite_.is_open()) return;
        // What a skipped test left behind is in the suite's window, too.
        if (suite_said_.is_ignored || suite.Failed() || suite.skipped_test_count() != 0) {
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

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST, ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST_LISTENER

#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST)

// gtest.hpp - GoogleTest: every test must free what it allocated, and blocks keep to budgets.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_HPP

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_HPP

#endif  // ALLOCSCOPE_SINGLE_INTEGRATIONS_GTEST

#if defined(ALLOCSCOPE_SINGLE_REPORT) || \
    defined(ALLOCSCOPE_SINGLE_EVERYTHING)

// report.hpp - the door to the writers: a snapshot as text.

#ifndef ALLOCSCOPE_REPORT_HPP
#define ALLOCSCOPE_REPORT_HPP

#endif  // ALLOCSCOPE_REPORT_HPP

#endif  // ALLOCSCOPE_SINGLE_REPORT, ALLOCSCOPE_SINGLE_EVERYTHING
