// Preloaded into a real program: walks at each allocation by stack_walk.hpp, by chain_memo.hpp, and
// with backtrace(3) of libgcc, and compares frame by frame. For tests only; compare_stacks.py runs
// programs with it and adds up what it writes.
//
//     ALLOCSCOPE_COMPARE_OUTPUT=file LD_PRELOAD=./libcompare_stacks.so program
//
// One line for each process that allocated, then one for each kind of difference, most frequent
// first:
//
//     total <captures> <frames> <equal by walk> <equal by memo> <memo hits> <updates> <program>
//     difference <count> <what> <rule of the frame left> <where it is> <walk: next> <other: next>

#include "../../support/update_chain.hpp"

#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
}

namespace {

using namespace allocscope::detail;

constexpr std::uint32_t most_frames = 100;

struct stack_copy {
    std::uint32_t count;
    std::uintptr_t frames[most_frames + 1];
};

// Zero-filled memory is a valid one.
struct walker {
    stack_bounds bounds;
    rule_cache rules;
    chain_memo memo;
    walked_stack walked;
    stack_copy by_memo[chain_memo::entry_count];
    std::size_t copies;
    void* expected[most_frames + 16];
    bool is_busy;
};

struct difference {
    std::uint64_t count;
    const char* what;
    rule_kind kind;
    std::uintptr_t left, ours, theirs;
};

constexpr std::size_t most_differences = 512;
difference differences[most_differences];
std::atomic<std::size_t> difference_count;
pthread_mutex_t differences_lock = PTHREAD_MUTEX_INITIALIZER;

std::atomic<std::uint64_t> captures, frames, equal_by_walk, equal_by_memo, memo_hits, updates;
std::atomic<bool> is_on;
__thread walker* own __attribute__((tls_model("initial-exec")));
__thread bool is_inside __attribute__((tls_model("initial-exec")));

void note(const char* what, rule_kind kind, std::uintptr_t left, std::uintptr_t ours,
          std::uintptr_t theirs) {
    pthread_mutex_lock(&differences_lock);
    std::size_t i = 0;
    const std::size_t count = difference_count.load();
    while (i < count && (differences[i].what != what || differences[i].left != left)) ++i;
    if (i < most_differences) {
        difference& at = differences[i];
        if (i == count) {
            at.what = what;
            at.kind = kind;
            at.left = left;
            at.ours = ours;
            at.theirs = theirs;
            difference_count.store(count + 1);
        }
        ++at.count;
    }
    pthread_mutex_unlock(&differences_lock);
}

// How many of the expected frames were found, up to the first that was not.
std::uint32_t compare(walker& self, const std::uintptr_t* found, std::uint32_t found_count,
                      void** expected, std::uint32_t expected_count, bool by_memo) {
    std::uint32_t i = 0;
    const auto wanted = [expected](std::uint32_t at) {
        return reinterpret_cast<std::uintptr_t>(expected[at]);
    };
    while (i < found_count && i < expected_count && found[i] == wanted(i)) ++i;
    if (i == expected_count && i == found_count) return i;
    const std::uintptr_t left = i == 0 ? 0 : found[i - 1];
    const rule_kind kind = self.rules.rule_for(left).kind;
    const char* what = "another frame";
    if (i == found_count) what = "ends early";
    if (i == expected_count) what = "goes on";
    if (by_memo) what = i == found_count ? "memo ends early" : "memo: another frame";
    note(what, kind, left, i == found_count ? 0 : found[i], i == expected_count ? 0 : wanted(i));
    return i;
}

// As record/cohort_lookup.hpp does it.
const stack_copy& look_up(walker& self, std::uintptr_t frame) {
    remembered_chain& chain =
        *self.memo.entry_for(frame, read_stack_word(frame + sizeof(std::uintptr_t)));
    if (chain.counters == nullptr) chain.counters = &self.by_memo[self.copies++];
    auto& copy = *static_cast<stack_copy*>(chain.counters);
    if (chain_memo::is_unchanged(chain, frame)) {
        memo_hits.fetch_add(1, std::memory_order_relaxed);
        return copy;
    }
    std::uintptr_t now[walked_stack::most_words];
    if (update_chain(chain, frame, self.rules, now)) {
        updates.fetch_add(1, std::memory_order_relaxed);
        std::copy(now, now + chain.frame_count, copy.frames);
    } else {
        stack_walk{self.bounds, self.rules, self.walked}.run(frame, most_frames);
        self.memo.remember(chain, frame, self.walked);
        for (std::uint32_t i = 0; i < self.walked.frame_count; ++i) {
            copy.frames[i] = self.walked.return_addresses[i];
        }
    }
    copy.count = chain.frame_count;
    return copy;
}

void compare_all(walker& self, std::uintptr_t frame, void* caller) {
    void** const last = self.expected + ::backtrace(self.expected, most_frames + 16);
    void** const first = std::find(self.expected, last, caller);
    if (first == last) return note("no caller", rule_kind::unknown, 0, 0, 0);
    const auto expected_count = std::min(static_cast<std::uint32_t>(last - first), most_frames);
    captures.fetch_add(1, std::memory_order_relaxed);

    stack_walk{self.bounds, self.rules, self.walked}.run(frame, most_frames);
    std::uintptr_t found[most_frames];
    const std::uint32_t count = self.walked.frame_count;
    for (std::uint32_t i = 0; i < count; ++i) found[i] = self.walked.return_addresses[i];
    equal_by_walk.fetch_add(compare(self, found, count, first, expected_count, false));
    frames.fetch_add(std::max(count, expected_count), std::memory_order_relaxed);
    const stack_copy& known = look_up(self, frame);
    equal_by_memo.fetch_add(
        compare(self, known.frames, known.count, first, expected_count,
                known.count != count || !std::equal(found, found + count, known.frames)));
}

__attribute__((noinline)) void capture(std::uintptr_t frame, void* caller) {
    if (is_inside || !is_on.load(std::memory_order_relaxed)) return;
    is_inside = true;
    if (own == nullptr) {
        own = static_cast<walker*>(reserve_pages((sizeof(walker) + 4095) & ~std::size_t{4095}));
        own->bounds = current_stack_bounds(frame);
        if (!own->memo.prepare(most_frames)) std::abort();
    }
    if (own->bounds.contains(frame)) compare_all(*own, frame, caller);
    is_inside = false;
}

#define ALLOCSCOPE_CAPTURE_HERE()                                         \
    capture(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), \
            __builtin_return_address(0))

void print_place(int file, std::uintptr_t address) {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
        dprintf(file, " 0x%zx", address);
        return;
    }
    const char* const slash = std::strrchr(info.dli_fname, '/');
    dprintf(file, " %s+0x%zx(%s)", slash == nullptr ? info.dli_fname : slash + 1,
            address - reinterpret_cast<std::uintptr_t>(info.dli_fbase),
            info.dli_sname == nullptr ? "" : info.dli_sname);
}

void print() {
    static const char* const kinds[] = {"unknown",   "frame_pointer", "from_sp",
                                        "from_bp",   "outermost",     "unsupported",
                                        "realigned", "no_table",      "saved_sp"};
    is_on.store(false);
    const char* const path = std::getenv("ALLOCSCOPE_COMPARE_OUTPUT");
    if (path == nullptr || captures.load() == 0) return;
    const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    dprintf(file, "total %zu %zu %zu %zu %zu %zu %s\n", captures.load(), frames.load(),
            equal_by_walk.load(), equal_by_memo.load(), memo_hits.load(), updates.load(),
            program_invocation_short_name);
    std::sort(differences, differences + difference_count.load(),
              [](const difference& a, const difference& b) { return a.count > b.count; });
    for (std::size_t i = 0; i < difference_count.load(); ++i) {
        const difference& each = differences[i];
        dprintf(file, "difference %zu '%s' %s", each.count, each.what,
                kinds[static_cast<int>(each.kind)]);
        for (const std::uintptr_t at : {each.left, each.ours, each.theirs}) print_place(file, at);
        dprintf(file, "\n");
    }
    ::close(file);
}

void begin_child() {
    for (auto* each : {&captures, &frames, &equal_by_walk, &equal_by_memo, &memo_hits, &updates}) {
        each->store(0);
    }
    difference_count.store(0);
}

struct run_with_program {
    run_with_program() {
        void* frame[4];
        ::backtrace(frame, 4);  // loads libgcc
        pthread_atfork(nullptr, nullptr, begin_child);
        is_on.store(true);
    }
    ~run_with_program() { print(); }
} here;

}  // namespace

#define ALLOCSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

ALLOCSCOPE_EXPORT void* malloc(std::size_t size) noexcept {
    ALLOCSCOPE_CAPTURE_HERE();
    return __libc_malloc(size);
}
ALLOCSCOPE_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
    ALLOCSCOPE_CAPTURE_HERE();
    return __libc_calloc(count, size);
}
ALLOCSCOPE_EXPORT void* realloc(void* block, std::size_t size) noexcept {
    ALLOCSCOPE_CAPTURE_HERE();
    return __libc_realloc(block, size);
}

namespace {
void* allocate_or_abort(std::size_t size) noexcept {
    void* const block = __libc_malloc(size == 0 ? 1 : size);
    if (block == nullptr) std::abort();
    return block;
}
}  // namespace

__attribute__((visibility("default"))) void* operator new(std::size_t size) {
    ALLOCSCOPE_CAPTURE_HERE();
    return allocate_or_abort(size);
}
__attribute__((visibility("default"))) void* operator new[](std::size_t size) {
    ALLOCSCOPE_CAPTURE_HERE();
    return allocate_or_abort(size);
}
