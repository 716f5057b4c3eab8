"""`allocscope run` on programs whose debug information is in other files: it is read, and where it
is not there, the report says which file is missing. What zstd and xz have packed is read where
the system has their libraries.

usage: forms_test.py PROGRAM COMPILER
"""
import ctypes.util
import lzma
import shutil
import subprocess
import sys
import tempfile

from recorded_programs import Recorder, compiled

# What was inlined, and the types, are told by the other file.
SOURCE = """#include <vector>
namespace shop { struct plain { long numbers[5]; }; }
static shop::plain* kept;
static std::vector<shop::plain>* list;
__attribute__((noinline)) void fill() {
    kept = new shop::plain;
    list = new std::vector<shop::plain>;
    list->reserve(10);
    asm volatile("" : : "m"(kept), "m"(list));
}
int main() { fill(); }
"""
# `plain` is in what all three sources have in common, `order` in what two have.
PLAIN = """#pragma once
namespace shop {
struct plain { long first, second, third, fourth, fifth; plain* next; plain* before;
               void link(plain* to); void unlink(); long sum() const; long product() const; };
}
"""
ORDER = """#pragma once
#include "plain.hpp"
namespace shop {
extern void* kept;
struct order { long number, amount, price, weight; order* next; order* before;
               void ship(); void cancel(long why); long total() const; void merge(order& other);
               __attribute__((noinline)) void fill() { kept = new plain; } };
}
"""
UNITS = {"plain.hpp": PLAIN, "order.hpp": ORDER,
         "first.cpp": '#include "order.hpp"\nvoid* shop::kept; void rest(shop::order&);'
                      "long more(shop::plain&); int main() { shop::order made{}; made.fill();"
                      " rest(made); shop::plain one{}; return more(one) == 7; }\n",
         "second.cpp": '#include "order.hpp"\nvoid rest(shop::order& made) { made.number = 3;'
                       " shop::plain one{}; shop::kept = one.next; made.fill(); }\n",
         "third.cpp": '#include "plain.hpp"\nlong more(shop::plain& one) { return one.first; }\n'}
PLACES = ["forms.cpp:6:shop::plain", "forms.cpp:7:std::vector<shop::plain>",
          "forms.cpp:8:shop::plain"]


def run(*command, **more):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=600, **more)


def places_in(report):
    return [place for place in PLACES if place in report]


def needs(recorder, program, file, complaint):
    """Rows are right with the file; without it they are not, and the report says so."""
    seen = recorder.run([program]).stderr
    assert places_in(seen) == PLACES, seen
    assert "  forms: " not in seen, seen
    file.unlink()
    seen = recorder.run([program]).stderr
    assert places_in(seen) != PLACES, seen
    assert "  forms: " in seen, seen
    assert complaint in seen, seen


def reads_package_files(recorder, folder, compiler):
    source, part, program = folder / "forms.cpp", folder / "forms.o", folder / "forms"
    source.write_text(SOURCE)
    run(compiler, "-std=c++17", "-O2", "-g", "-gsplit-dwarf", "-gdwarf-4", "-c", source, "-o", part)
    run(compiler, part, "-o", program)
    unit, package = folder / "forms.dwo", folder / "forms.dwp"
    # binutils had a dwp as long as they had gold.
    run(shutil.which("dwp") or "llvm-dwp", unit, "-o", package)
    unit.unlink()
    needs(recorder, program, package, "there is no .dwp file of its name beside it")


def reads_supplementary_files(recorder, folder, compiler):
    # dwz knows no DWARF 5 of clang++.
    program = compiled(folder, "forms", SOURCE, compiler, "-O2", "-gdwarf-4")
    other = shutil.copy(program, folder / "other")
    common = folder / "common.debug"
    run("dwz", "-m", common, "-r", program, other)
    needs(recorder, program, common, "is in common.debug, which dwz made and which is not there")


def reads_partial_units(recorder, folder, compiler):
    for name, content in UNITS.items():
        (folder / name).write_text(content)
    program = folder / "forms"
    sources = [folder / name for name in UNITS if name.endswith(".cpp")]
    run(compiler, "-std=c++17", "-O1", "-g", "-gdwarf-4", *sources, "-o", program)
    assert "order.hpp:7:shop::plain" in recorder.run([program]).stderr
    size = program.stat().st_size
    run("dwz", program)
    assert program.stat().st_size < size
    seen = recorder.run([program]).stderr
    assert "order.hpp:7:shop::plain" in seen, seen


def reads_zstd(recorder, folder, compiler):
    program = compiled(folder, "forms", SOURCE, compiler, "-O2")
    whole = program.read_bytes()
    pack = ["objcopy", "--compress-debug-sections=zstd", program]
    if subprocess.run(list(map(str, pack)), check=False, capture_output=True).returncode != 0:
        return  # an older objcopy
    assert program.read_bytes() != whole
    seen = recorder.run([program]).stderr
    assert places_in(seen) == PLACES, seen
    packed = bytearray(program.read_bytes())
    packed[packed.index(b"\x28\xb5\x2f\xfd")] ^= 1  # where the first section begins
    program.write_bytes(packed)
    recorder.run([program])


def reads_hidden_symbols(recorder, folder, compiler):
    program = compiled(folder, "forms", SOURCE, compiler, "-O2")
    symbols = folder / "symbols"
    run("objcopy", "--only-keep-debug", program, symbols)
    run("strip", "-g", symbols)
    run("strip", "-s", program)
    seen = recorder.run([program]).stderr
    assert "forms+0x" in seen and "fill()" not in seen, seen
    for content, is_read in ((lzma.compress(symbols.read_bytes()), True), (b"nothing", False),
                             (lzma.compress(b"nothing"), False)):
        (folder / "packed").write_bytes(content)
        run("objcopy", "--remove-section=.gnu_debugdata", program)
        run("objcopy", f"--add-section=.gnu_debugdata={folder / 'packed'}", program)
        seen = recorder.run([program]).stderr
        assert ("fill()+0x" in seen) == is_read, seen
        assert "no debug information; compile it with -g" in seen, seen


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        recorder = Recorder(program, name)
        reads_package_files(recorder, recorder.folder, compiler)
        if shutil.which("dwz") is not None:
            reads_supplementary_files(recorder, recorder.folder, compiler)
            reads_partial_units(recorder, recorder.folder, compiler)
        if ctypes.util.find_library("zstd") is not None:
            reads_zstd(recorder, recorder.folder, compiler)
        if ctypes.util.find_library("lzma") is not None:
            reads_hidden_symbols(recorder, recorder.folder, compiler)


if __name__ == "__main__":
    main()
