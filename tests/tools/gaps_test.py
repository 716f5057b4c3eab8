"""gaps_test.py ALLOCSCOPE COMPILER

Between two segments of a program may be a page that is not mapped, as in Debian's make and bc. Then
the loader takes each segment for a module of its own, and only one of them begins with an ELF
header. The rows of such a program name its lines all the same.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = """\
#include <stdlib.h>
void* volatile kept[3];
__attribute__((noinline)) static void allocates_here(void) {
    for (int i = 0; i < 3; ++i) kept[i] = malloc(48);
}
int main() {
    allocates_here();
    return 0;
}
"""


def main():
    allocscope, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, program, report = folder / "gaps.c", folder / "gaps", folder / "report.json"
        source.write_text(SOURCE)
        # The linker leaves 64 KiB between segments, and the kernel does not fill the gaps.
        subprocess.run([compiler, "-x", "c", "-g", "-O1", "-fomit-frame-pointer", "-nodefaultlibs",
                        str(source), "-lc", "-o",
                        str(program), "-Wl,-z,max-page-size=65536"], check=True)
        subprocess.run([allocscope, "run", "--output", str(report), "--", str(program)], check=True)
        rows = json.loads(report.read_text())["rows"]
    places = [(row["objects"], row["function"], row["line"]) for row in rows]
    if places != [(3, "allocates_here", 4)]:
        print(f"the rows are {places}")
        return 1
    frames = [each["function"] for each in rows[0]["frames"]]
    if frames[:2] != ["allocates_here", "main"]:
        print(f"the frames are {frames}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
