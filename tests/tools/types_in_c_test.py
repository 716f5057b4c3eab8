"""types_in_c_test.py ALLOCSCOPE COMPILER

What C programs ask malloc for.

One asks for `sizeof(part_t)` bytes, where part_t is an alias from a header. In C, only the
function could have a variable of that name. In C++, a class around it could have one, too.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HEADER = """\
typedef struct { long key[3]; } part_t;
struct node { long key[5]; };
struct shelf { void* any; part_t* parts; char* title; };
"""

SOURCE = """\
#include <stdlib.h>
#include "parts.h"
struct shelf shelf;
struct node* node;
__attribute__((noinline)) static void fill(struct shelf* to) {
    to->any = malloc(sizeof(part_t));             /* part_t */
    to->parts = calloc(4, sizeof(to->parts[0]));  /* part_t */
    node = calloc(1, sizeof(struct node));        /* node */
    if (to->parts == NULL || node == NULL) return;
    to->title = malloc(node->key[0] + 12);        /* char */
    to->any = calloc(node->key[1] + 2, sizeof(int));  /* int */
}
__attribute__((noinline)) static void hide(long part_t) {
    shelf.any = malloc(3 * sizeof(part_t));       /* ? */
    node->key[0] = (long)malloc(sizeof(node));    /* ? */
}
int main() {
    fill(&shelf);
    hide((long)shelf.any);
    return 0;
}
"""


def types_of(allocscope, compiler, folder, name, flags):
    (folder / "parts.h").write_text(HEADER)
    source, program, report = folder / name, folder / "program", folder / "report.json"
    casts = SOURCE
    for member, kind in ("parts", "part_t"), ("node", "struct node"), ("title", "char"):
        casts = casts.replace(f"{member} = ", f"{member} = ({kind}*)")
    source.write_text(casts if name.endswith("cpp") else SOURCE)
    subprocess.run([compiler, "-g", *flags, str(source), "-o", str(program)], check=True)
    subprocess.run([allocscope, "run", "--output", str(report), "--", str(program)], check=True)
    rows = json.loads(report.read_text())["rows"]
    return {row["line"]: row["type"] for row in rows if row["line"] != 0}


def main():
    allocscope, compiler = sys.argv[1:]
    wanted = {row: line.split("/* ")[1].split(" */")[0]
              for row, line in enumerate(SOURCE.splitlines(), 1) if "/* " in line}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for level in "-O0", "-O2":
            found = types_of(allocscope, compiler, folder, "program.c", ["-x", "c", level])
            if found != wanted:
                print(f"with {level} the rows of C are {found}, and not {wanted}")
                return 1
        found = types_of(allocscope, compiler, folder, "program.cpp", [])
        if found[6] != "?":
            print(f"in C++, the alias may be a variable of another header: {found}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
