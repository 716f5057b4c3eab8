"""`allocscope run` on programs whose functions left by a jump and were called through what the
linker puts between modules: such a function has the row if it is certain that it was called.

usage: tail_calls_test.py PROGRAM COMPILER
"""
import os
import shutil
import subprocess
import sys
import tempfile

from recorded_programs import Recorder

MAKERS = r"""
#include <cstdlib>
#include <cstring>
struct item { int numbers[3]; };
extern "C" {
item* make_item() { return new item; }
void* zeroed(size_t bytes) { return calloc(1, bytes); }
char* copied(const char* text) { return strdup(text); }
__attribute__((noinline)) item* make_seven() { return new item[7]; }
item* make_by_two_jumps() { return make_seven(); }
void* make_either(bool is_first) {
    if (is_first) return operator new(50);
    return malloc(51);
}
void* make_by_pointer(void* (*make)(size_t), size_t bytes) {
    if (bytes == 0) return malloc(52);
    return make(bytes);
}
void* make_twin() { return malloc(53); }
void* make_replaced() { return malloc(54); }
__attribute__((cold, noinline)) void note() { asm volatile(""); }
[[noreturn]] __attribute__((cold, noinline)) void fail() { abort(); }
void* make_checked(int kind) {
    if (kind > 7) fail();
    return malloc(56);
}
void* make_rarely(int kind) {
    if (kind > 7) {
        note();
        return malloc(57);
    }
    return malloc(58);
}
static __attribute__((noinline)) void* asked() { return malloc(59); }
void* make_or_ask(bool is_asking) {
    if (is_asking) return asked();
    return malloc(60);
}
}
"""
SECOND = r"""
#include <cstdlib>
extern "C" void* make_twin() { return malloc(63); }
"""
REPLACES = r"""
#include <cstdlib>
extern "C" void* make_replaced() { void* made = malloc(64); *(char*)made = 1; return made; }
"""
USES = r"""
#include <cstdlib>
#include <dlfcn.h>
struct item;
extern "C" {
item* make_item();
void* zeroed(size_t);
char* copied(const char*);
item* make_by_two_jumps();
void* make_either(bool);
void* make_by_pointer(void* (*)(size_t), size_t);
void* make_twin();
void* make_replaced();
void* make_checked(int);
void* make_rarely(int);
void* make_or_ask(bool);
}
void* kept[20];
int main(int count, char** arguments) {
    kept[0] = make_item();
    kept[1] = zeroed(40);
    kept[2] = copied("thirty-five letters are in this text");
    kept[3] = make_by_two_jumps();
    kept[4] = make_either(true);
    kept[5] = make_by_pointer(malloc, 55);
    kept[6] = make_twin();
    kept[7] = make_replaced();
    kept[9] = make_checked(count);
    kept[10] = make_rarely(count + 8);
    kept[11] = make_or_ask(false);
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    kept[8] = reinterpret_cast<void* (*)()>(dlsym(plugin, "plugged"))();
    return 0;
}
"""
# Another library may come before the one where it finds make_helped().
PLUGIN = r"""
#include <cstdlib>
extern "C" void* make_helped(size_t bytes);
extern "C" void* made_here();
extern "C" void* make_own(size_t bytes) { return malloc(bytes); }
static void* kept[4];
extern "C" void* plugged() {
    kept[0] = make_helped(70);
    kept[1] = make_own(71);
    kept[2] = made_here();
    return kept;
}
"""
HELPER = r"""
#include <cstdlib>
extern "C" void* make_helped(size_t bytes) { return malloc(bytes); }
extern "C" void* made_here() { void* made = malloc(72); *(char*)made = 1; return made; }
"""
# Two bytes of the distance of the jump to make_far(), 7b ed, are those of a jump to near() as well.
DISGUISED = r"""
#include <cstdlib>
__attribute__((noipa)) static void* make_far();
extern "C" {
__attribute__((noipa)) int near() { return 3; }
__attribute__((noipa)) void* make_disguised() { return make_far(); }
}
asm(".pushsection .text; .skip 0xed7b; .popsection");
static void* make_far() { void* made = malloc(80); *(char*)made = 1; return made; }
void* make_other() { return make_far(); }  // or make_far() alone would tell who jumped to it
int main() { return near() + (make_disguised() == nullptr) - 3; }
"""


def line_of(source, part):
    return next(number for number, line in enumerate(source.splitlines(), 1) if part in line)


class House:
    """The program and its libraries, compiled with some flags."""

    def __init__(self, folder, compiler, flags):
        self.folder = folder
        self.compiler = compiler
        self.flags = flags
        self.second = self.library("second", SECOND)
        self.makers = self.library("makers", MAKERS)
        self.replaces = self.library("replaces", REPLACES)
        self.helper = self.library("helper", HELPER)
        self.plugin = self.library("plugin", PLUGIN, self.helper)
        self.program = self.compiled("uses", USES, "-ldl", "-Wl,--no-as-needed", self.makers,
                                     self.second, f"-Wl,-rpath,{folder}")

    def compiled(self, name, source, *more):
        path = self.folder / f"{name}.cpp"
        path.write_text(source)
        made = self.folder / name
        # In its folder, because clang++ writes split debug information there.
        subprocess.run([self.compiler, "-std=c++17", "-g", "-O2", "-fno-builtin", *self.flags,
                        str(path), "-o", str(made), *map(str, more)], check=True,
                       cwd=self.folder)
        return made

    def library(self, name, source, *more):
        return self.compiled(f"lib{name}.so", source, "-shared", "-fPIC",
                             f"-Wl,-soname,lib{name}.so", f"-Wl,-rpath,{self.folder}", *more)


def places(report):
    """Where the blocks of each size were allocated."""
    return {row["bytes"]: (row["file"].rsplit("/")[-1], row["line"], row["type"])
            for row in report["rows"]}


def check(recorder, compiler, flags):
    house = House(recorder.folder, compiler, flags)
    found = places(recorder.report([house.program, house.plugin]))
    in_makers = [(12, "return new item;", "item"), (40, "calloc", "?"), (84, "item[7]", "item"),
                 (54, "malloc(54)", "?"), (56, "malloc(56)", "?")]
    for size, part, kind in in_makers:
        assert found[size] == ("libmakers.so.cpp", line_of(MAKERS, part), kind), (flags, found)
    copied = ("libmakers.so.cpp", line_of(MAKERS, "strdup(text)"))
    assert found[37][:2] == copied, (flags, found)
    # Which of two jumps was taken, or which of two functions was called, is not known.
    uncertain = [(50, "make_either(true)"), (55, "by_pointer(malloc"), (53, "= make_twin()"),
                 (57, "make_rarely(count"), (60, "make_or_ask(false)")]
    for size, part in uncertain:
        assert found[size][:2] == ("uses.cpp", line_of(USES, part)), (flags, size, found)
    assert found[70][:2] == ("libplugin.so.cpp", line_of(PLUGIN, "make_helped(70)")), (flags, found)
    assert found[71][:2] == ("libplugin.so.cpp", line_of(PLUGIN, "make_own(size_t")), (flags, found)
    assert found[72][0] == "libhelper.so.cpp", (flags, found)
    replaced = places(recorder.report([house.program, house.plugin],
                                      env={**os.environ, "LD_PRELOAD": str(house.replaces)}))
    assert replaced[64][0] == "libreplaces.so.cpp", (flags, replaced)


def check_disguised(recorder, compiler, folder):
    """With -g1 g++ does not describe the jump, so the machine code is looked through."""
    path = folder / "disguised.cpp"
    path.write_text(DISGUISED)
    made = folder / "disguised"
    subprocess.run([compiler, "-g1", "-O2", "-fcf-protection=none", "-fno-toplevel-reorder",
                    "-fno-reorder-functions", str(path), "-o", str(made)], check=True)
    code = subprocess.run(["objdump", "-d", made], stdout=subprocess.PIPE, text=True, check=True)
    assert "e9 7b ed 00 00" in code.stdout, "or the test tests nothing"
    [row] = [row for row in recorder.report([made])["rows"] if row["bytes"] == 80]
    functions = [frame["function"] for frame in row["frames"]]
    assert functions[:3] == ["make_far()", "make_disguised", "main"], functions


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(program, folder)
        flags_of_builds = [(), ("-fno-plt",), ("-fcf-protection", "-Wl,-z,now"), ("-gsplit-dwarf",)]
        if "clang" not in compiler:  # with -g1 it does not say where functions begin
            flags_of_builds.append(("-g1", "-fno-plt"))
            flags_of_builds.append(("-g1",))
        for linker in ("gold", "lld"):
            if shutil.which(f"ld.{linker}") is not None:
                flags_of_builds.append((f"-fuse-ld={linker}",))
        for flags in flags_of_builds:
            check(recorder, compiler, flags)
        if "clang" not in compiler:
            check_disguised(recorder, compiler, recorder.folder)


if __name__ == "__main__":
    main()
