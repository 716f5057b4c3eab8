"""common_entries.py COMPILER FLAGS... -- OBJECTS...

dwz moves the declaration of a class that several units have to a unit of its own, and its entries
come to lie elsewhere than the code. What is asked about the code must be looked for where it was
compiled: the types that its unit describes. What is asked about the declaration must be looked for
where that has gone: the names of its files.
"""

import pathlib
import shutil
import sys
import tempfile

from packed_forms import door_object, rows_of, run

CANNOT_RUN_HERE = 77

SOURCES = {
    "part.hpp": """
namespace shop {
struct part { long weight = 1, height = 2, depth = 3; };
}
""",
    # A call that has line 0 is placed where its function is declared.
    "host.hpp": """#include "part.hpp"
namespace shop {
class host {
public:
    void* make() { return new part; }
    long first(long a, long b) { return count += a + b; }
    long second(long a, long b) { return count -= a - b; }
    long third(const char* name, long b) { return count += b + name[0]; }
    void* quiet() {
#line 0 "nowhere.hpp"
        return new part; }
#line 13 "host.hpp"
    long count = 0;
    long more[9] = {};
    host* parent = nullptr;
};
}
""",
    "other.cpp": """#include "host.hpp"
long other(shop::host& h) { return h.first(1, 2) + h.third("a", 3); }
""",
    "main.cpp": """#include <allocscope/allocscope.hpp>
#include <cstdio>
#include <cstdlib>
#include "host.hpp"
long other(shop::host& h);
int main() {
    const allocscope::scope window{"common"};
    shop::host h;
    void* volatile made = h.make();
    made = h.quiet();
    other(h);
    for (const auto& row : window.stats()) std::printf("%s:%d:%s\\n", row.file, row.line, row.type);
    std::fflush(stdout);
    std::_Exit(0);
}
"""}


def main():
    words = sys.argv[1:]
    at = words.index("--")
    command, objects = words[:at], words[at + 1:]
    if shutil.which("dwz") is None or shutil.which("clang++") is None:
        print("skipped: dwz or clang++ is not installed")
        return CANNOT_RUN_HERE
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, source in SOURCES.items():
            (folder / file).write_text(source, encoding="utf-8")
        objects = [*objects, door_object(folder, *command)]
        programs = []
        # g++ gives no code line 0, and dwz knows no DWARF 5 of clang++.
        for compiler, form in ((command[0], "-g"), ("clang++", "-gdwarf-4")):
            for copy in ("one", "two"):
                programs.append(folder / f"{copy}{form}")
                run(compiler, *command[1:], "-O0", "-w", form, folder / "main.cpp",
                    folder / "other.cpp", *objects, "-pthread", "-o", programs[-1], cwd=folder)
        wanted = {program: rows_of(program) for program in programs}
        for program in programs:
            placed = "?" if program in programs[2:] else "shop::part"  # by its constructor
            if wanted[program] != ["host.hpp:5:shop::part", f"host.hpp:9:{placed}"]:
                sys.exit(f"{program.name}: {wanted[program]}")
        for first in (0, 2):
            alone = folder / "alone"
            run("dwz", programs[first], "-o", alone)
            common = folder / f"common{first}.debug"
            run("dwz", "-m", common, "-r", *programs[first:first + 2])
            for program in (alone, *programs[first:first + 2]):
                rows = rows_of(program)
                if rows != wanted[programs[first]]:
                    sys.exit(f"{program.name}, behind dwz: {rows}, not {wanted[programs[first]]}")
    print("behind dwz, types and the lines of declarations are what they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
