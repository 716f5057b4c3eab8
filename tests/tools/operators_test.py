"""operators_test.py PROGRAM COMPILER

Programs whose allocator defines operator new itself: jemalloc, tcmalloc, mimalloc, and one that is
compiled here. Their objects are counted exactly, and nothing else about the program changes.
"""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled, totals

PROGRAM, COMPILER = sys.argv[1:3]
SYSTEM_LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
SIZED = "-fsized-deallocation"  # clang++ asks for it
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")

# --- a program that counts for itself ---

# Calls all 20 operators at random, on several threads, and exchanges objects with a plugin. Prints
# how many objects it made and freed, and what it checked: each object holds a pattern to its end.
COUNTED = r"""
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
namespace {
struct numbers {
    unsigned long allocations, frees, allocated, freed;
};
struct object {
    unsigned char* block;
    std::size_t bytes;
    int how;
};
const std::align_val_t of_8{8}, of_64{64};
void fill(const object& made) { memset(made.block, static_cast<int>(made.bytes + 7), made.bytes); }
object make(int how, std::size_t bytes, numbers& count) {
    void* block = nullptr;
    switch (how) {
        case 0: case 1: case 2: block = ::operator new(bytes); break;
        case 3: case 4: case 5: block = ::operator new[](bytes); break;
        case 6: block = ::operator new(bytes, std::nothrow); break;
        case 7: block = ::operator new[](bytes, std::nothrow); break;
        case 8: case 9: block = ::operator new(bytes, of_8); break;
        case 10: case 11: block = ::operator new[](bytes, of_64); break;
        case 12: block = ::operator new(bytes, of_64, std::nothrow); break;
        default: block = ::operator new[](bytes, of_8, std::nothrow); break;
    }
    const object made{static_cast<unsigned char*>(block), bytes, how};
    fill(made);
    ++count.allocations;
    count.allocated += bytes;
    return made;
}
void drop(const object& dying, numbers& count) {
    for (std::size_t i = 0; i < dying.bytes; ++i) {
        if (dying.block[i] != static_cast<unsigned char>(dying.bytes + 7)) abort();
    }
    ++count.frees;
    count.freed += dying.bytes;
    void* const block = dying.block;
    switch (dying.how) {
        case 0: ::operator delete(block); break;
        case 1: ::operator delete(block, dying.bytes); break;
        case 2: case 6: ::operator delete(block, std::nothrow); break;
        case 3: ::operator delete[](block); break;
        case 4: ::operator delete[](block, dying.bytes); break;
        case 5: case 7: ::operator delete[](block, std::nothrow); break;
        case 8: ::operator delete(block, of_8); break;
        case 9: ::operator delete(block, dying.bytes, of_8); break;
        case 10: ::operator delete[](block, of_64); break;
        case 11: ::operator delete[](block, dying.bytes, of_64); break;
        case 12: ::operator delete(block, of_64, std::nothrow); break;
        default: ::operator delete[](block, of_8, std::nothrow); break;
    }
}
}  // namespace
"""

PLUGIN = COUNTED + r"""
struct ticket {
    char text[56];
};
static numbers own;
struct at_load {
    object made = make(4, 9, own);
    ~at_load() { drop(made, own); }
};
static at_load loaded;
extern "C" __attribute__((visibility("default"))) object make_in_plugin(int how, std::size_t bytes,
                                                                        numbers& count) {
    return make(how, bytes, count);
}
extern "C" __attribute__((visibility("default"))) void drop_in_plugin(const object& dying,
                                                                      numbers& count) {
    drop(dying, count);
}
extern "C" __attribute__((visibility("default"))) ticket* make_ticket() {
    return new ticket;  // LIVE ticket
}
"""

COUNTS_ITSELF = COUNTED + r"""
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
struct order {
    char text[40];
};
struct alignas(64) wide_order {
    char text[64];
};
struct report_at_end {
    const char* who = "program";
    numbers all{0, 0, 0, 0};
    ~report_at_end() {
        char line[200];
        const int length =
            snprintf(line, sizeof line, "%s %lu %lu %lu %lu\n", who, all.allocations, all.frees,
                     all.allocated, all.freed);
        if (write(1, line, length) != length) abort();
    }
};
static report_at_end counted;  // the first constructed, so the last destroyed
static object (*make_there)(int, std::size_t, numbers&);
static void (*drop_there)(const object&, numbers&);

// A random walk; the seed decides.
static void* walk(void* given) {
    auto* const count = static_cast<numbers*>(given);
    std::uint64_t state = count->allocations + 0x9e3779b97f4a7c15U;
    *count = {};
    object slots[64] = {};
    for (int i = 0; i < 20000; ++i) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        object& slot = slots[state >> 58U];
        const bool is_there = (state & 1U) != 0;
        if (slot.block != nullptr) {
            (is_there ? drop_there : drop)(slot, *count);
            slot.block = nullptr;
        } else {
            const std::size_t bytes = (state >> 40U) % ((state & 14U) != 0 ? 41 : 6000);
            slot = (is_there ? make_there : make)(static_cast<int>((state >> 20U) % 14), bytes,
                                                  *count);
        }
    }
    for (const object& each : slots) {
        if (each.block != nullptr) drop(each, *count);
    }
    return nullptr;
}
static void add(const numbers& part) {
    counted.all.allocations += part.allocations;
    counted.all.frees += part.frees;
    counted.all.allocated += part.allocated;
    counted.all.freed += part.freed;
}
static void walk_in_threads(int threads) {
    pthread_t made[4];
    numbers counts[4] = {};
    for (int i = 0; i < threads; ++i) {
        counts[i].allocations = static_cast<unsigned long>(i);  // the seed
        pthread_create(&made[i], nullptr, &walk, &counts[i]);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(made[i], nullptr);
        add(counts[i]);
    }
}
static order* orders[7];
static wide_order* wide_orders[3];
__attribute__((noinline)) static void keep() {
    for (order*& each : orders) {
        each = new order;  // LIVE order
    }
    for (wide_order*& each : wide_orders) {
        each = new (std::nothrow) wide_order;  // LIVE wide_order
    }
    add({10, 0, 7 * sizeof(order) + 3 * sizeof(wide_order), 0});
}
static void refuse() { throw 7; }
// What a new_handler throws passes through the operators; the nothrow forms return null.
static void is_thrown() {
    std::set_new_handler(&refuse);
    volatile std::size_t most = std::size_t{1} << 62U;
    int thrown = 0;
    for (int i = 0; i < 3; ++i) {
        try {
            drop(make(i, most, counted.all), counted.all);
        } catch (int number) {
            thrown += number;
        }
    }
    if (thrown != 21) abort();
    std::set_new_handler(nullptr);
}
static void crosses() {
    numbers& all = counted.all;
    const object first = make(0, 33, all);
    free(first.block);
    const object second = make(3, 21, all);
    free(realloc(second.block, 3000));
    all.frees += 2;
    all.freed += 54;
    ::operator delete(malloc(77));
    const object third = make(0, 19, all);
    if (realloc(third.block, std::size_t{1} << 62U) != nullptr) abort();  // it stays
}
int main(int argc, char** argv) {
    const auto open = [argv] { return dlopen(argv[1], RTLD_NOW | RTLD_LOCAL); };
    dlclose(open());
    void* const plugin = open();
    make_there = reinterpret_cast<decltype(make_there)>(dlsym(plugin, "make_in_plugin"));
    drop_there = reinterpret_cast<decltype(drop_there)>(dlsym(plugin, "drop_in_plugin"));
    add({2, 1, 18, 9});  // what the plugin does when it is loaded and closed
    keep();
    for (int i = 0; i < 5; ++i) reinterpret_cast<void* (*)()>(dlsym(plugin, "make_ticket"))();
    add({5, 0, 5 * 56, 0});
    walk_in_threads(4);
    crosses();
    if (argc > 2 && strchr(argv[2], 't') != nullptr) is_thrown();
    auto* const by_name = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_DEFAULT, "_Znwm"));
    drop({static_cast<unsigned char*>(memset(by_name(100), 107, 100)), 100, 0}, counted.all);
    add({1, 0, 100, 0});
    if (argc > 2 && strchr(argv[2], 'f') != nullptr) {
        const pid_t child = fork();
        if (child == 0) {
            counted.who = "child";
            counted.all = {};
            delete orders[0];  // was recorded in the parent
            walk_in_threads(2);
            counted.~report_at_end();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) return 3;
    }
    add({0, 1, 0, 9});  // the plugin's destructors, at exit
    return 0;
}
"""


def line_of(source, name):
    """The line of a source with the mark of a live object."""
    return next(number for number, line in enumerate(source.split("\n"), 1)
                if line.endswith(f"// LIVE {name}"))


def of_operators(report):
    """Allocations, frees, bytes allocated, bytes freed of the family of the operators."""
    found, = (each for each in report["families"] or [{"name": "operator new", **report["totals"]}]
              if each["name"] == "operator new")
    return [found[key] for key in ("allocations", "frees", "bytes_allocated", "bytes_freed")]


def losses(report):
    return {reason: count for reason, count in report["lost"].items() if count}


def has_rows(report):
    rows = {(row["type"], pathlib.Path(row["file"]).name, row["line"], row["objects"],
             row["bytes"]) for row in report["rows"]}
    for expected in (("order", "counts_itself.cpp", line_of(COUNTS_ITSELF, "order"), 7, 280),
                     ("wide_order", "counts_itself.cpp", line_of(COUNTS_ITSELF, "wide_order"), 3,
                      192),
                     ("ticket", "libcounted.so.cpp", line_of(PLUGIN, "ticket"), 5, 280)):
        assert expected in rows, (expected, rows)
    # What malloc made and delete freed, or the other way round, is not alive.
    assert not any(row[3:] in ((1, 77), (1, 3000)) for row in rows), rows
    assert [row[3] for row in rows if row[4] == 19] == [1], rows


def made_by_library(report, library):
    """What a library itself makes by the operators: tcmalloc makes two objects."""
    own = [0, 0, 0, 0]
    for row in report["rows"] + report["freed_rows"]:
        if pathlib.Path(row["frames"][0]["module"]).name.startswith(library.name):
            own = [sum(pair) for pair in zip(own, (
                row["allocations"], row["allocations"] - row["objects"], row["bytes_allocated"],
                row["bytes_allocated"] - row["bytes"]))]
    assert own[0] <= 2, own
    return own


def counts_exactly(recorder, program, plugin, modes, library, preload=""):
    environment = {**os.environ, "LD_PRELOAD": str(preload)}
    words = [program, plugin, modes]
    alone = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True,
                           env=environment).stdout
    expected = [[int(word) for word in line.split()[1:]] for line in alone.splitlines()]
    expected.reverse()  # the child ends first, and its report comes second
    assert len(expected) == 1 + ("f" in modes) and min(expected[0]) > 10000, alone
    path = recorder.folder / "exact.json"
    for record in ("exact", "counters"):
        for old in recorder.folder.glob("exact.*json"):
            old.unlink()
        done = recorder.run(words, "--record", record, "--children", "follow", "--output", path,
                            env=environment)
        assert done.stdout == alone, (done.stdout, alone)
        reports = recorder.read_reports(path)
        if record == "exact":
            has_rows(reports[0])
            own = made_by_library(reports[0], library)
            expected[0] = [sum(pair) for pair in zip(expected[0], own)]
        assert [of_operators(each) for each in reports] == expected, (
            record, [each["families"] for each in reports], expected)
        assert [losses(each) for each in reports] == [{}] * len(expected), reports
    sampled = recorder.report([program, plugin], "--record", "sampled", "--sample-bytes", "4K",
                              env=environment)
    objects = of_operators(sampled)
    assert abs(objects[2] / expected[0][2] - 1) < 0.2 and losses(sampled) == {}, sampled


def can_be_judged(library):
    """jemalloc 5.3.1 damages blocks by itself: of 480 runs without us three ended by a signal."""
    return library.exists() and b"5.3.1-" not in library.read_bytes()


def counts_objects_of_known_allocators(recorder, folder):
    plugin = compiled(folder, "libcounted.so", PLUGIN, COMPILER, "-shared", "-fPIC", SIZED)
    usual = (folder, "counts_itself", COUNTS_ITSELF, COMPILER, SIZED)
    libraries = ("-ldl", "-pthread")
    for name in ALLOCATORS:
        library = SYSTEM_LIBRARIES / name
        if not can_be_judged(library):
            continue
        # It forks, and a new_handler throws; mimalloc ends a program in which one does.
        modes = "f" if "mimalloc" in name else "ft"
        counts_exactly(recorder, compiled(*usual, *libraries), plugin, modes, library,
                       preload=library)
        for flags in (["-Wl,-z,lazy"], ["-no-pie", "-fno-pie"]):
            linked = compiled(*usual, "-Wl,--no-as-needed", *flags, library, *libraries)
            counts_exactly(recorder, linked, plugin, modes, library)


# --- an allocator that is compiled here ---

HEAP_OF_ITS_OWN = r"""
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
alignas(16) static char room[1 << 22];
static std::size_t used;
static void* take(std::size_t bytes) {
    void* block = room + used + 16;
    memcpy(room + used, &bytes, sizeof bytes);
    used += (bytes + 31) / 16 * 16;
    return block;
}
extern "C" {
void* malloc(std::size_t bytes) { return take(bytes); }
void* calloc(std::size_t count, std::size_t bytes) { return take(count * bytes); }
void free(void*) {}
void* realloc(void* old, std::size_t bytes) {
    std::size_t before = 0;
    if (old != nullptr) memcpy(&before, (char*)old - 16, sizeof before);
    void* block = take(bytes);
    if (old != nullptr) memcpy(block, old, before < bytes ? before : bytes);
    return block;
}
// Where an object of operator new comes from, and what another function of the library allocates.
void* obtained(std::size_t bytes) {
    void* (*volatile by_address)(std::size_t) = &malloc;
    return by_address(bytes);
}
}
#if defined(WITH_OPERATORS)
void* operator new(std::size_t bytes) { return take(bytes); }
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
#elif defined(OPERATORS_CALL_MALLOC)
void* operator new(std::size_t bytes) { return obtained(bytes); }
void* operator new[](std::size_t bytes) {
    void* (*volatile by_address)(std::size_t) = &operator new;
    return by_address(bytes);
}
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, std::size_t) noexcept { free(block); }
void operator delete[](void* block) noexcept { operator delete(block); }
#endif
"""

ASKS_FOR_OBJECTS = r"""
#include <cstdlib>
#include <new>
#include <sys/wait.h>
#include <unistd.h>
#if defined(OWN_OPERATORS)
void* operator new(std::size_t bytes) { return malloc(bytes); }
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, std::size_t) noexcept { free(block); }
#endif
static void* make(bool is_array, std::size_t bytes) {
    void* (*volatile by_address)(std::size_t) = &operator new;
    void* (*volatile array_by_address)(std::size_t) = &operator new[];
    return (is_array ? array_by_address : by_address)(bytes);
}
extern "C" __attribute__((visibility("default"))) int ask() {
    for (int i = 0; i < 500; ++i) {
        ::operator delete(make(false, 30));
        ::operator delete[](make(true, 30));
    }
    free(malloc(30));
    return 0;
}
#if defined(OBTAINS)
extern "C" void* obtained(std::size_t);
#else
static void* obtained(std::size_t bytes) { return malloc(bytes); }
#endif
#if !defined(PLUGIN)
int main(int argc, char** argv) {
    free(obtained(50));
    if (argc > 1 && argv[1][0] == '_') _exit(ask());
    if (argc > 1 && fork() == 0) return ask();
    wait(nullptr);
    return ask();
}
#endif
"""

MAKES_AT_START = r"""
struct made_at_start {
    int* kept[3];
    made_at_start() { for (int*& each : kept) each = new int[7]; }
    ~made_at_start() { for (int* each : kept) delete[] each; }
};
static made_at_start own;
extern "C" int started() { return own.kept[2] != nullptr; }
"""

OPENS_A_PLUGIN = r"""
#include <cstdlib>
#include <dlfcn.h>
int main(int argc, char** argv) {
    free(malloc(argc));
    if (argc == 1) return 0;
    void* const plugin = dlopen(argv[1], RTLD_NOW);
    return plugin == nullptr ? 1 : reinterpret_cast<int (*)()>(dlsym(plugin, "ask"))();
}
"""


class Operators:
    """Programs with an allocator that has operators, or has none."""

    def __init__(self, recorder, folder):
        self.recorder, self.folder = recorder, folder

    def library(self, name, *flags):
        return compiled(self.folder, f"lib{name}.so", HEAP_OF_ITS_OWN, COMPILER, "-shared", "-fPIC",
                        *flags, *WITHOUT_CXX)

    def program(self, name, source, *flags):
        return compiled(self.folder, name, source, COMPILER, f"-Wl,-rpath,{self.folder}",
                        "-Wl,--no-as-needed", *flags)

    def expect(self, command, objects, preload="", bytes_each=30):
        """`objects` is how many the operators make, and all of them are freed."""
        environment = {**os.environ, "LD_PRELOAD": str(preload)}
        report = self.recorder.report(command, env=environment)
        assert losses(report) == {}, (command, report)
        whole = bytes_each * objects
        assert of_operators(report) == [objects, objects, whole, whole], (command,
                                                                          report["families"])
        return totals(report)[0]

    def says(self, command, allocator, **more):
        report = self.recorder.report(command, **more)
        said = self.recorder.run(command, "--summary", **more).stderr
        assert losses(report) == {"operators_of_others": 1}, (command, report)
        # Nothing is led: with births alone, all objects would seem to be alive.
        assert "operator new" not in [each["name"] for each in report["families"]], report
        summary, loss, line = said.splitlines()
        assert " allocations, " in summary, said
        assert "lost: 1 allocator has an operator new of its own" in loss, said
        assert f"objects of operator new may be missing: {allocator} takes" in line, said


def forbid_to_write_single_pages():
    """Between fork and exec: from now on mprotect fails that would allow to write to one page."""
    load, equals, result = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS and so on
    allow, fail = 0x7fff0000, 0x00050001     # with EPERM
    sys_mprotect, of_call, of_bytes, of_access = 10, 0, 24, 32
    code = ((load, 0, 0, of_call), (equals, 0, 5, sys_mprotect),
            (load, 0, 0, of_bytes), (equals, 0, 3, 4096),
            (load, 0, 0, of_access), (equals, 0, 1, 3),
            (result, 0, 0, fail), (result, 0, 0, allow))
    text = b"".join(struct.pack("HBBI", *each) for each in code)
    lines = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(lines))
    libc = ctypes.CDLL(None)
    pr_set_no_new_privs, pr_set_seccomp, seccomp_mode_filter = 38, 22, 2
    assert libc.prctl(pr_set_no_new_privs, 1, 0, 0, 0) == 0
    assert libc.prctl(pr_set_seccomp, seccomp_mode_filter, program) == 0


def counts_objects_of_any_allocator(recorder, folder):
    with_heap = Operators(recorder, folder)
    heap = with_heap.library("heap", "-DWITH_OPERATORS")
    for name, flags in (("linked", []), ("lazy", ["-Wl,-z,lazy"]),
                        ("fixed", ["-no-pie", "-fno-pie"])):
        made = with_heap.program(name, ASKS_FOR_OBJECTS, *flags, heap)
        with_heap.expect([made], 1000)
        with_heap.expect([made, "_exit"], 1000)
    usual = with_heap.program("usual", ASKS_FOR_OBJECTS)
    with_heap.expect([usual], 1000, heap)
    reports = recorder.reports([usual, "fork"], "--children=follow",
                               env={**os.environ, "LD_PRELOAD": str(heap)})
    assert [of_operators(each)[:2] for each in reports] == [[1000, 1000]] * 2, reports
    # A child that is not followed records nothing.
    with_heap.expect([usual, "fork"], 1000, heap)
    # Each object is counted once if operator new calls malloc, and so is another call of it.
    on_its_own = with_heap.expect([with_heap.program("heaps", ASKS_FOR_OBJECTS, heap)], 1000)
    for optimised in ("-O1", "-O2"):  # with the second, new[] ends with a jump to new
        calls = with_heap.library("calls", "-DOPERATORS_CALL_MALLOC", optimised)
        obtains = with_heap.program("obtains", ASKS_FOR_OBJECTS, "-DOBTAINS", calls)
        assert with_heap.expect([obtains], 1000) == on_its_own, optimised
    # The constructors of libraries come before those of ours.
    early = compiled(folder, "libearly.so", MAKES_AT_START, COMPILER, "-shared", "-fPIC")
    with_heap.expect([with_heap.program("starts", 'extern "C" int started();'
                                        "int main() { return started() - 1; }", heap, early)], 3,
                     bytes_each=28)
    # A program in C, until it opens a library in C++.
    in_c = with_heap.program("in_c", OPENS_A_PLUGIN, heap, "-ldl")
    plugin = compiled(folder, "libplugin.so", ASKS_FOR_OBJECTS, COMPILER, "-shared", "-fPIC",
                      "-DPLUGIN")
    assert losses(recorder.report([in_c])) == {}
    with_heap.expect([in_c, plugin], 1000)
    # In these, operator new calls malloc, and the program finds no other.
    for made in (usual, with_heap.program("plain", ASKS_FOR_OBJECTS, with_heap.library("plain")),
                 with_heap.program("own", ASKS_FOR_OBJECTS, "-DOWN_OPERATORS", heap)):
        report = recorder.report([made])
        of_malloc, = (each["allocations"] for each in report["families"]
                      if each["name"] == "malloc")
        assert losses(report) == {} and of_malloc == totals(report)[0] >= 1000, (made, report)
    # The kernel does not let its table of symbols be written.
    with_heap.says([with_heap.program("refused", ASKS_FOR_OBJECTS, heap)], heap,
                   preexec_fn=forbid_to_write_single_pages)


SHOWS_ITS_MAPPINGS = r"""
#include <cstdio>
#include <cstring>
int main() {
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        if (std::strstr(line, "/libheap.so") != nullptr) std::puts(std::strchr(line, ' ') + 1);
    }
    int* volatile made = new int;
    delete made;
}
"""


def protects_what_it_has_written(recorder, folder):
    """The table of symbols of the allocator is read-only again."""
    with_heap = Operators(recorder, folder)
    program = with_heap.program("mappings", SHOWS_ITS_MAPPINGS,
                                with_heap.library("heap", "-DWITH_OPERATORS"))
    with_heap.expect([program], 1, bytes_each=4)

    def allowed(*before):
        lines = subprocess.run([*before, program], capture_output=True, text=True, timeout=60,
                               check=True).stdout.split("\n")
        each = [line.split()[0] for line in lines if line]
        return [one for at, one in enumerate(each) if each[at - 1:at] != [one]]

    alone = allowed()
    assert "r--p" in alone and "rw-p" in alone, alone
    assert allowed(PROGRAM, "run", "--summary", "--") == alone


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        counts_objects_of_any_allocator(recorder, folder)
        protects_what_it_has_written(recorder, folder)
        counts_objects_of_known_allocators(recorder, folder)


main()
