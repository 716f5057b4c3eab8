// What windows count after attach_hooks(), and that detach_hooks() leaves no trace.
//
//     counts LATE_LIBRARY LIBRARY_WITH_ITS_OWN_MALLOC

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <unistd.h>

namespace {

struct picture {
    char text[1 << 18];
    std::size_t length;
};
picture before, after;

void take(picture& of) {
    const int file = ::open("/proc/self/maps", O_RDONLY);
    of.length = 0;
    for (;;) {
        const ssize_t got = ::read(file, of.text + of.length, sizeof of.text - of.length);
        if (got <= 0) break;
        of.length += static_cast<std::size_t>(got);
    }
    ::close(file);
}

void expect_same_pictures(const char* when) {
    const bool is_same =
        before.length == after.length && std::memcmp(before.text, after.text, before.length) == 0;
    if (is_same) return;
    std::printf("%s: /proc/self/maps is\n%.*s\ninstead of\n%.*s\n", when,
                static_cast<int>(after.length), after.text, static_cast<int>(before.length),
                before.text);
    ++failures;
}

// All that the library may have written to: its variables, and its tables of calls.
void take_library(picture& of) {
    of.length = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* given) {
            if (std::strstr(info->dlpi_name, "/libknown.so") == nullptr) return 0;
            picture& to = *static_cast<picture*>(given);
            for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& each = info->dlpi_phdr[i];
                if (each.p_type != PT_LOAD || (each.p_flags & PF_W) == 0) continue;
                std::memcpy(to.text + to.length,
                            reinterpret_cast<const void*>(info->dlpi_addr + each.p_vaddr),
                            each.p_memsz);
                to.length += each.p_memsz;
            }
            return 1;
        },
        &of);
}

// The lines that are about the library: where its pages are, and what may be done with them.
void take_rights(picture& of) {
    take(of);
    of.text[of.length < sizeof of.text ? of.length : sizeof of.text - 1] = '\0';
    std::size_t kept = 0;
    for (const char* line = of.text; *line != '\0';) {
        const char* const end = std::strchr(line, '\n') + 1;
        const auto bytes = static_cast<std::size_t>(end - line);
        const char* const name = std::strstr(line, "/libknown.so");
        if (name != nullptr && name < end) {
            std::memmove(of.text + kept, line, bytes);
            kept += bytes;
        }
        line = end;
    }
    of.length = kept;
}

// The first time, in a window that has seen operators only, also those of another thread.
void expect_first_attachment() {
    take_rights(before);
    expect_equal(before.length > 0, 1, "lines of the library");
    allocscope::options numbers;
    numbers.record = allocscope::recording::counters;
    allocscope::scope earlier{"opened before", numbers};
    const auto use_operators = [] {
        for (int round = 0; round < 3; ++round) ::operator delete(::operator new(9));
    };
    const auto use_malloc = [] {
        void* volatile made = std::malloc(11);
        std::free(made);
    };
    use_operators();
    std::atomic<int> step{0};
    const auto wait_for = [&step](int wanted) {
        while (step.load() != wanted) ::sched_yield();
    };
    std::thread other{[&] {
        use_operators();
        step = 1;
        wait_for(2);
        use_malloc();
        step = 3;
        wait_for(4);
    }};
    wait_for(1);
    allocscope::attach_hooks();
    take_rights(after);
    expect_same_pictures("attached for the first time");
    const allocscope::allocation_counts seen = earlier.counts();
    use_malloc();
    expect_equal(earlier.counts().allocations - seen.allocations, 1,
                 "malloc in a window that was open");
    step = 2;
    wait_for(3);
    expect_equal(earlier.counts().allocations - seen.allocations, 2, "malloc of another thread");
    expect_equal(earlier.counts().frees - seen.frees, 2, "its free");
    step = 4;
    other.join();
    allocscope::detach_hooks();
    take_rights(after);
    expect_same_pictures("detached for the first time");
}

// No function of the library has been called yet, so that its words may still lead to the loader.
void expect_words_put_back() {
    take_library(before);
    allocscope::attach_hooks();
    take_library(after);
    expect_equal(std::memcmp(before.text, after.text, before.length) != 0, 1, "words changed");
    allocscope::detach_hooks();
    take_library(after);
    expect_equal(std::memcmp(before.text, after.text, before.length) == 0 ? 0 : 1, 0,
                 "words put back");
    expect_equal(before.length > 0, 1, "bytes compared");
}

void* volatile block;

// In a program at a fixed place it is the address of a jump there, which is then that of malloc for
// every library.
void* (*volatile address_in_program)(std::size_t);

void expect_attached_counts() {
    expect_counts(known_allocations, known_bytes, "a library", known_work);
    expect_counts(2, 44, "an operator and malloc of the program", [] {
        block = ::operator new(33);
        ::operator delete(block);
        block = std::malloc(11);
        std::free(block);
    });
    address_in_program = std::malloc;
    expect_counts(1, 12, "an address of the program", [] {
        block = address_in_program(12);
        std::free(block);
    });
    expect_counts(3, 300, "each form of operator", [] {
        block = ::operator new (100, std::align_val_t{64});
        ::operator delete (block, std::align_val_t{64});
        block = ::operator new(100, std::nothrow);
        ::operator delete(block);
        block = ::operator new[](100);
        ::operator delete[](block);
    });
}

char* base_of(void* library) {
    link_map* map = nullptr;
    ::dlinfo(library, RTLD_DI_LINKMAP, &map);
    return reinterpret_cast<char*>(map->l_addr);
}

void expect_late_library(const char* path) {
    allocscope::scope window{"late"};
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("%s\n", ::dlerror());
        ++failures;
        return;
    }
    const auto work = reinterpret_cast<void (*)()>(::dlsym(library, "known_work"));
    const allocscope::allocation_counts seen = window.counts();
    work();
    expect_equal(window.counts().allocations - seen.allocations, known_allocations, "after dlsym");
    expect_counts(known_allocations, known_bytes, "in a window that was opened later", work);
    // dlsym is passed on as if the program itself had called it.
    expect_equal(::dlsym(RTLD_DEFAULT, "no_such_name") == nullptr, 1, "an unknown name");
    expect_equal(::dlsym(RTLD_NEXT, "strlen") != nullptr, 1, "RTLD_NEXT");
    expect_equal(::dlerror() != nullptr, 0, "an old error");
    ::dlclose(library);
}

// Whoever asks by dlvsym is heard, too. The function is found without asking: where it was before.
void expect_versioned_lookup(const char* path) {
    void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto offset = reinterpret_cast<char*>(::dlsym(library, "known_work")) - base_of(library);
    ::dlclose(library);
    allocscope::scope window{"late"};
    library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect_equal(::dlvsym(library, "known_work", "NO_SUCH_VERSION") == nullptr, 1, "a version");
    const allocscope::allocation_counts seen = window.counts();
    reinterpret_cast<void (*)()>(base_of(library) + offset)();
    expect_equal(window.counts().allocations - seen.allocations, known_allocations, "after dlvsym");
    ::dlclose(library);
}

// A library that calls a malloc of its own goes on to do so, though the loader is still to find it.
void expect_own_malloc(const char* path) {
    void* const library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    const auto work = reinterpret_cast<int (*)()>(::dlsym(library, "own_work"));
    allocscope::attach_hooks();
    expect_counts(0, 0, "a library with a malloc of its own",
                  [work] { expect_equal(static_cast<std::uint64_t>(work()), 1, "its own block"); });
    ::dlclose(library);
}

}  // namespace

int main(int, char** arguments) {
    expect_first_attachment();
    expect_words_put_back();
    take(before);
    const allocscope::attached_hooks first = allocscope::attach_hooks();
    const bool is_detached = allocscope::detach_hooks();
    take(after);
    expect_same_pictures("attached and detached");
    expect_counts(0, 0, "not attached", known_work);
    expect_equal(first.is_attached && is_detached, 1, first.refusal);
    expect_equal(first.words_of_others + first.words_refused, 0, "words left alone");

    for (int round = 0; round < 3; ++round) {
        take(before);
        allocscope::attach_hooks();
        // Hooks that are attached already see what the C library allocates for us.
        allocscope::scope meanwhile{"attached again"};
        const allocscope::attached_hooks again = allocscope::attach_hooks();
        expect_equal(meanwhile.stop().info().totals.allocations, 0, "attaching again");
        expect_equal(again.words, first.words, "words");
        expect_attached_counts();
        expect_late_library(arguments[1]);
        expect_versioned_lookup(arguments[1]);
        expect_own_malloc(arguments[2]);
        expect_equal(allocscope::detach_hooks(), 1, "detached");
        expect_equal(allocscope::detach_hooks(), 0, "detached once more");
        expect_counts(0, 0, "detached", known_work);
    }
    {
        allocscope::scope earlier{"opened before"};
        expect_counts(1, 9, "an operator first", [] { ::operator delete(::operator new(9)); });
        allocscope::attach_hooks();
        const allocscope::allocation_counts seen = earlier.counts();
        known_work();
        expect_equal(earlier.counts().allocations - seen.allocations, known_allocations,
                     "in a window that was open");
        allocscope::detach_hooks();
    }
    return failures == 0 ? 0 : 1;
}
