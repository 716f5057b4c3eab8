"""preload_test.py PROGRAM LIBRARY COMPILER

The preload library by itself: what it needs, what it defines, how it hands over to the command, and
what it does before the loader has made it ready.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled, totals

PROGRAM, LIBRARY, COMPILER = sys.argv[1:4]

FAMILY = {"malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc",
          "memalign", "valloc", "pvalloc", "malloc_usable_size", "free_sized",
          "free_aligned_sized"}
FOR_ADDRESS_SANITIZER = {"__asan_default_options"}


def symbols(*options):
    words = subprocess.run(["nm", "-D", *options, LIBRARY], capture_output=True, text=True,
                           check=True).stdout.split("\n")
    return {line.split()[-1] for line in words if line}


def is_small_and_alone():
    defined = symbols("--defined-only")
    assert defined == FAMILY | FOR_ADDRESS_SANITIZER, defined ^ FAMILY
    needed = symbols("--undefined-only")
    assert not any("PRIVATE" in name or name.startswith("_Z") for name in needed), needed
    assert "__tls_get_addr" not in " ".join(needed)
    headers = subprocess.run(["readelf", "-lWd", LIBRARY], capture_output=True, text=True,
                             check=True).stdout
    libraries = set(re.findall(r"NEEDED.*\[(.*)\]", headers))
    assert libraries <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, libraries
    tls = re.search(r"^\s+TLS\s+\S+ \S+ \S+ \S+ (\S+)", headers, re.MULTILINE)
    assert int(tls.group(1), 16) <= 256, tls.group(0)
    assert "TEXTREL" not in headers and not re.search(r"LOAD.* RWE ", headers), headers


def hands_over_to_the_command():
    environment = {**os.environ, "LD_PRELOAD": LIBRARY, "ALLOCSCOPE_SUMMARY": "1"}
    for words, output, code in ((["/bin/echo", "a b", ""], "a b \n", 0),
                                (["/bin/sh", "-c", "exit 7"], "", 7)):
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        assert (done.stdout, done.returncode) == (output, code), done
        assert re.fullmatch(r"allocscope: \w+: \d+ allocations, .*\n", done.stderr), done.stderr
    # The library may be named in any way that the loader understands. It was not found again in
    # LD_PRELOAD, and the command handed over to itself for ever.
    here, name = os.path.split(LIBRARY)
    for value in (f"$ORIGIN/../..{LIBRARY}", f"/usr/$LIB/../../../..{LIBRARY}", name,
                  f"libpthread.so.0:{LIBRARY}:libdl.so.2"):
        done = subprocess.run(["/usr/bin/env"], capture_output=True, text=True, check=True,
                              timeout=60, env={**environment, "LD_PRELOAD": value,
                                               "LD_LIBRARY_PATH": here})
        assert re.fullmatch(r"allocscope: env: \d+ allocations, .*\n", done.stderr), done
        seen = re.search("^LD_PRELOAD=(.*)$", done.stdout, re.MULTILINE)[1]
        assert seen.count(name) == 1 and ("libdl" in value) == seen.endswith(
            f"{name}:libpthread.so.0:libdl.so.2"), seen
    # The command itself is not started anew, as it would be for ever with /etc/ld.so.preload.
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True,
                          timeout=60, env=environment)
    assert done.stdout.startswith("allocscope ") and done.stderr == "", done
    # A program without a file was not started at all.
    nameless = os.memfd_create("nameless")
    with open("/bin/echo", "rb") as echo:
        os.write(nameless, echo.read())
    done = subprocess.run(["echo", "on"], executable=f"/proc/self/fd/{nameless}", check=True,
                          pass_fds=[nameless], capture_output=True, text=True, env=environment)
    assert done.stdout == "on\n" and "the program's file is gone" in done.stderr, done
    os.close(nameless)
    with tempfile.TemporaryDirectory() as folder:
        lonely = shutil.copy(LIBRARY, folder)
        environment["LD_PRELOAD"] = lonely
        done = subprocess.run(["/bin/echo", "on"], capture_output=True, text=True, env=environment,
                              check=True)
        assert done.stdout == "on\n" and "is not beside" in done.stderr, done


RESOLVER = r"""
#include <cstdlib>
#include <cstring>
extern "C" {
extern void* malloc(size_t) noexcept __attribute__((noplt));
extern void* calloc(size_t, size_t) noexcept __attribute__((noplt));
extern void* realloc(void*, size_t) noexcept __attribute__((noplt));
extern void free(void*) noexcept __attribute__((noplt));
static char* kept[3];
// Not static: clang would give it another name than the attribute below.
__attribute__((visibility("hidden"))) int chosen() { return 7; }
__attribute__((visibility("hidden"))) int (*choose())() {
    kept[0] = (char*)malloc(32);
    for (int i = 0; i < 32; ++i) kept[0][i] = 'a';
    kept[0] = (char*)realloc(kept[0], 64);
    kept[1] = (char*)calloc(3, 5);
    kept[2] = (char*)malloc(8);
    free(kept[2]);
    return chosen;
}
int seven() __attribute__((ifunc("choose")));
int call_seven() { return seven(); }
char** kept_early() { return kept; }
}
"""

USES_RESOLVER = r"""
#include <cstdlib>
#include <cstring>
extern "C" int call_seven();
extern "C" char** kept_early();
int main() {
    char** kept = kept_early();
    if (kept[0] != nullptr) {  // nobody has called free(): all three are there
        if (strspn(kept[0], "a") < 32) return 1;
        for (int i = 0; i < 15; ++i) if (kept[1][i] != 0) return 2;
        kept[0] = (char*)realloc(kept[0], 1000);
        if (strspn(kept[0], "a") < 32) return 3;
        free(kept[0]);
        free(kept[1]);
    }
    free(malloc(100));
    return call_seven();
}
"""


def allocates_before_it_is_ready(recorder, folder):
    library = compiled(folder, "libseven.so", RESOLVER, COMPILER, "-shared", "-fPIC", *WITHOUT_CXX)
    program = compiled(folder, "sevens", USES_RESOLVER, COMPILER, library,
                       f"-Wl,-rpath,{folder}", *WITHOUT_CXX)
    report = recorder.report([program], code=7, env={**os.environ, "LD_BIND_NOW": "1"})
    lost = {reason: count for reason, count in report["lost"].items() if count}
    assert lost == {"library_not_ready": 4}, lost
    reason = "allocations were not recorded: they came before the loader"
    assert totals(report) == (2, 2, 1100), report["totals"]
    saved = recorder.folder / "sevens.allocscope"
    recorder.run([program], "--output", saved, code=7, env={**os.environ, "LD_BIND_NOW": "1"})
    for words in (["show", "--by", "type"], ["show", "--tree"], ["histogram"]):
        done = subprocess.run([PROGRAM, *words, saved], capture_output=True, text=True, check=True)
        assert f"not recorded: 4 {reason}" in done.stderr, (words, done.stderr)
        assert "before the loader" not in done.stdout, (words, done.stdout)


def keeps_errno_when_the_command_is_gone(recorder, folder):
    source = "#include <cerrno>\nint main() { return errno; }\n"
    program = compiled(folder, "errors", source, COMPILER, *WITHOUT_CXX)
    preload = recorder.run(["sh", "-c", "echo $LD_PRELOAD"], "--summary").stdout.strip()
    assert LIBRARY.split("/")[-1] in preload, preload
    for value in ("", preload):
        done = subprocess.run([program], capture_output=True, text=True, check=True,
                              env={**os.environ, "LD_PRELOAD": value})
        assert (done.stdout, done.stderr) == ("", ""), done


LATE_LIBRARY = r"""
#include <cstdlib>
struct keeper {
    void* kept[1001];
    keeper() { for (void*& each : kept) each = malloc(10); }
    ~keeper() { for (void* each : kept) free(each); }
};
static keeper lasting;
extern "C" int late() { return lasting.kept[5] != nullptr; }
"""


def sees_frees_of_late_destructors(recorder, folder):
    library = compiled(folder, "liblate.so", LATE_LIBRARY, COMPILER, "-shared", "-fPIC",
                       *WITHOUT_CXX)
    program = compiled(folder, "late", 'extern "C" int late(); int main() { return late() - 1; }',
                       COMPILER, library, f"-Wl,-rpath,{folder}", *WITHOUT_CXX)
    report = recorder.report([program])
    assert totals(report) == (1001, 1001, 10010), report["totals"]
    assert report["rows"] == [], report["rows"]


def names_libraries(recorder, folder):
    source = '#include <cstdlib>\nextern "C" void* made_here() { return malloc(40); }\n'
    library = compiled(folder, "libmaker.so", source, COMPILER, "-shared", "-fPIC", "-g0")
    program = compiled(folder, "asks", 'extern "C" void* made_here(); int main() { made_here(); }',
                       COMPILER, library, f"-Wl,-rpath,{folder}", "-g0")
    row, = (each for each in recorder.report([program])["rows"] if each["bytes"] == 40)
    assert row["file"] == "libmaker.so!made_here", row
    source = '#include <cstdio>\nint main() { return fopen("/dev/null", "r") == nullptr; }\n'
    opens = compiled(folder, "opens", source, COMPILER)
    rows = recorder.report([opens])["rows"]
    assert [(row["line"], row["file"].split("/")[-1]) for row in rows if row["bytes"] == 472] == \
        [(2, "opens.cpp")], rows


def names_at_least_the_module(recorder, folder):
    nothing = compiled(folder, "nothing", "#include <iostream>\nint main() { std::cout.flush(); }",
                       COMPILER)
    sizes = (72704, 73728)  # until g++ 12, and since 13
    row, = (each for each in recorder.report([nothing])["rows"] if each["bytes"] in sizes)
    assert row["file"].startswith("libstdc++.so"), row
    assert row["type"] == "pool for exceptions", row


TOOL = r"""
#include <dlfcn.h>
#include <cstdlib>
template <class Function>
Function next(const char* name, Function) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
extern "C" {
void* malloc(size_t bytes) { return next("malloc", &malloc)(bytes); }
void* calloc(size_t count, size_t bytes) { return next("calloc", &calloc)(count, bytes); }
void* realloc(void* block, size_t bytes) { return next("realloc", &realloc)(block, bytes); }
void free(void* block) { next("free", &free)(block); }
}
"""

BEHIND_A_TOOL = r"""
#include <malloc.h>
#include <cstdlib>
static void work() {
    for (int i = 0; i < 100; ++i) {
        void* volatile block = malloc(64);
        if (i % 2 != 0) free(block);
    }
    free(realloc(calloc(2, 50), 300));
    free(valloc(10));  // the tool has none
    free(aligned_alloc(64, 640));
}
int main() { work(); return 6; }
"""


def stands_behind_a_tool_that_passes_calls_on(recorder, folder):
    tool = compiled(folder, "libtool.so", TOOL, COMPILER, "-shared", "-fPIC", *WITHOUT_CXX)
    program = compiled(folder, "behind", BEHIND_A_TOOL, COMPILER, *WITHOUT_CXX)
    _, report = recorder.reports(
        ["/bin/sh", "-c", f"LD_PRELOAD={tool}:$LD_PRELOAD exec {program}"], code=6)
    assert totals(report) == (104, 54, 6400 + 100 + 300 + 10 + 640), report["totals"]
    row, = report["rows"]
    assert (row["objects"], row["line"]) == (50, 6), row


FREES_FIRST = r"""
#include <cstdlib>
int main() {
    void* volatile none = nullptr;
    free(none);
    free(calloc(3, 7));
    return 6;
}
"""

TAKES_ADDRESSES = r"""
#include <cstdlib>
int main() {
    void* (*volatile obtain)(size_t) = &malloc;
    void (*volatile release)(void*) = &free;
    release(obtain(5));
    release(calloc(2, 8));
    return 6;
}
"""


ASKS_FOR_AN_ARRAY = r"""
#include <cstdlib>
int main() {
    void* block = reallocarray(nullptr, 3, 7);
    block = reallocarray(block, 10, 7);
    free(block);
    return 6;
}
"""

ASKS_FOR_ZEROES = r"""
#include <cstdlib>
int main() {
    void* block = calloc(3, 7);
    block = realloc(block, 100);
    free(block);
    free(malloc(5));
    return 6;
}
"""

OF_ITS_OWN = r"""
#include <cstdlib>
#include <cstring>
alignas(16) static char room[1 << 20];
static size_t used;
extern "C" {
void* malloc(size_t bytes) {
    char* const made = room + used;
    used += 16 + (bytes + 15) / 16 * 16;
    return used <= sizeof room ? std::memset(made, 0, bytes) : nullptr;
}
void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void* realloc(void* block, size_t bytes) {
    char* made = static_cast<char*>(malloc(bytes));
    for (size_t i = 0; block != nullptr && i < bytes; ++i) made[i] = static_cast<char*>(block)[i];
    return made;
}
void free(void* block) {
    if (block != nullptr && (block < room || block >= room + used)) abort();
}
}
"""

ASKS_FOR_WHAT_IT_LACKS = r"""
#include <malloc.h>
#include <cstdlib>
int main() {
    void* block = reallocarray(nullptr, 3, 7);
    block = realloc(block, 400);
    free(block);
    free(malloc(5));
    return 6;
}
"""


def stands_behind_a_tool_that_lacks_the_first_function(recorder, folder):
    """Whether it passes calls on cannot be known. The program runs as without the library."""
    lacking = "".join(line for line in TOOL.splitlines(True) if "calloc" not in line)
    tool = compiled(folder, "liblacking.so", lacking, COMPILER, "-O2", "-shared", "-fPIC",
                    *WITHOUT_CXX)
    program = compiled(folder, "asks_for_zeroes", ASKS_FOR_ZEROES, COMPILER, *WITHOUT_CXX)
    done = recorder.run(["/bin/sh", "-c", f"LD_PRELOAD={tool}:$LD_PRELOAD exec {program}"],
                        "--summary", code=6)
    assert "asks_for_zeroes: " not in done.stderr, done.stderr


def stands_behind_a_malloc_that_lacks_a_function(recorder, folder):
    """Only that function reaches the library. It is passed on, and nothing is recorded."""
    other = compiled(folder, "libown.so", OF_ITS_OWN, COMPILER, "-O2", "-shared", "-fPIC",
                     *WITHOUT_CXX)
    program = compiled(folder, "asks_for_it", ASKS_FOR_WHAT_IT_LACKS, COMPILER, *WITHOUT_CXX)
    done = recorder.run(["/bin/sh", "-c", f"LD_PRELOAD={other}:$LD_PRELOAD exec {program}"],
                        "--summary", code=6)
    assert "asks_for_it: " not in done.stderr, done.stderr


def stands_behind_a_tool_that_leaves_no_trace(recorder, folder):
    """Its last act is a jump to the next function. In a program at a fixed place, the address of
    malloc is that of a jump in the program, before the tool's. glibc's reallocarray, which the tool
    lacks, calls the tool's realloc."""
    tool = compiled(folder, "libjumps.so", TOOL, COMPILER, "-O2", "-shared", "-fPIC", *WITHOUT_CXX)
    for name, source, more, expected in (
            ("frees_first", FREES_FIRST, ["-O1"], (1, 1, 21)),
            ("asks_for_an_array", ASKS_FOR_AN_ARRAY, ["-O1"], (2, 2, 91)),
            ("takes_addresses", TAKES_ADDRESSES, ["-O1", "-fno-pie", "-no-pie"], (2, 2, 21))):
        program = compiled(folder, name, source, COMPILER, *more, *WITHOUT_CXX)
        _, report = recorder.reports(
            ["/bin/sh", "-c", f"LD_PRELOAD={tool}:$LD_PRELOAD exec {program}"], code=6)
        assert totals(report) == expected, (name, report["totals"])


def says_that_valgrind_has_its_own_malloc(recorder, folder):
    program = compiled(folder, "replaced", BEHIND_A_TOOL, COMPILER, *WITHOUT_CXX)
    under = ["valgrind", "-q", program]
    done = recorder.run(under, "--summary", code=6)
    assert "replaced was not recorded: Valgrind has replaced our malloc" in done.stderr, done.stderr
    done = recorder.run([under[0], "--soname-synonyms=somalloc=nouserintercepts", *under[1:]],
                        "--summary", code=6)
    assert "replaced: 104 allocations, 54 frees" in done.stderr, done.stderr


def begins_before_main(recorder, folder):
    """With a program in C whose first call of malloc comes later. clang++ leaves out a free of what
    it knows to be null, and the library took that for Valgrind."""
    source = "#include <cstdlib>\nint main() { std::free(std::malloc(9)); }"
    program = compiled(folder, "calls_in_main", source, COMPILER, *WITHOUT_CXX)
    assert totals(recorder.report([program])) == (1, 1, 9)


def main():
    is_small_and_alone()
    hands_over_to_the_command()
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        allocates_before_it_is_ready(recorder, folder)
        begins_before_main(recorder, folder)
        keeps_errno_when_the_command_is_gone(recorder, folder)
        sees_frees_of_late_destructors(recorder, folder)
        names_libraries(recorder, folder)
        names_at_least_the_module(recorder, folder)
        stands_behind_a_tool_that_passes_calls_on(recorder, folder)
        stands_behind_a_tool_that_leaves_no_trace(recorder, folder)
        stands_behind_a_tool_that_lacks_the_first_function(recorder, folder)
        stands_behind_a_malloc_that_lacks_a_function(recorder, folder)
        says_that_valgrind_has_its_own_malloc(recorder, folder)


main()
