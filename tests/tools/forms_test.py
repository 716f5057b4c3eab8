"""`allocscope run` on programs whose debug information is in other files: it is read, and where it
is not there, the report says which file is missing.

usage: forms_test.py PROGRAM COMPILER
"""
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
PLACES = ["forms.cpp:6:shop::plain", "forms.cpp:7:std::vector<shop::plain>",
          "forms.cpp:8:shop::plain"]


def run(*command, **more):
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=600, **more)


def places_in(report):
    return [place for place in PLACES if place in report]


def reads_package_files(recorder, folder, compiler):
    source, part, program = folder / "forms.cpp", folder / "forms.o", folder / "forms"
    source.write_text(SOURCE)
    run(compiler, "-std=c++17", "-O2", "-g", "-gsplit-dwarf", "-gdwarf-4", "-c", source, "-o", part)
    run(compiler, part, "-o", program)
    unit, package = folder / "forms.dwo", folder / "forms.dwp"
    run("dwp", unit, "-o", package)
    unit.unlink()
    seen = recorder.run([program]).stderr
    assert places_in(seen) == PLACES, seen
    assert "  forms: " not in seen, seen
    package.unlink()
    seen = recorder.run([program]).stderr
    assert places_in(seen) != PLACES, seen
    assert "  forms: " in seen, seen
    assert "no file of its name with .dwp is beside it" in seen, seen


def reads_supplementary_files(recorder, folder, compiler):
    # dwz knows no DWARF 5 of clang++.
    program = compiled(folder, "forms", SOURCE, compiler, "-O2", "-gdwarf-4")
    other = shutil.copy(program, folder / "other")
    common = folder / "common.debug"
    run("dwz", "-m", common, "-r", program, other)
    seen = recorder.run([program]).stderr
    assert places_in(seen) == PLACES, seen
    assert "  forms: " not in seen, seen
    common.unlink()
    seen = recorder.run([program]).stderr
    assert places_in(seen) != PLACES, seen
    assert "is in common.debug, which dwz made and which is not there" in seen, seen


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        recorder = Recorder(program, name)
        reads_package_files(recorder, recorder.folder, compiler)
        if shutil.which("dwz") is not None:
            reads_supplementary_files(recorder, recorder.folder, compiler)


if __name__ == "__main__":
    main()
