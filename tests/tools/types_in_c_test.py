"""types_in_c_test.py ALLOCSCOPE COMPILER

What C programs ask malloc for.

One asks for `sizeof(part_t)` bytes, where part_t is an alias from a header. In C, only the
function could have a variable of that name. In C++, a class around it could have one, too.

gcc says that a malloc in the arguments of a call is where that call is.
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
union cell { long number; char raw[24]; };
extern long double* numbers;
typedef unsigned char byte;
typedef int row[4];
typedef struct node* pair[2];
struct entry { long key; union { char* text; long number; }; };
#define ALLOCATE(T) ((T*)malloc(sizeof(T)))
"""

SOURCE = """\
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include "parts.h"
#define KEEP(p) (kept[count++] = (p))
void* volatile kept[32];
int count;
int count_of_hooks;
struct shelf shelf;
struct node* node;
long double* numbers;
__attribute__((used)) static char* line;
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
static void keep(void* p) { KEEP(p); }
static void keep_two(void* p, void* q) { KEEP(p); KEEP(q); }
__attribute__((noinline)) static void pass(const part_t* from, long n) {
    keep(malloc(4 * sizeof(double)));             /* double */
    keep(memcpy(malloc(sizeof(struct node)), node, sizeof(struct node)));  /* node */
    keep(ALLOCATE(union cell));                   /* cell */
    KEEP(aligned_alloc(32, 4 * sizeof(double)));  /* double */
    byte* bytes = (byte*)malloc(n + 300);         /* unsigned char; -g1: ? */
    keep(bytes);
    keep(wcsdup(L"wide"));                        /* wchar_t */
    keep_two(strdup("text"), calloc(2, sizeof(part_t))); /* char, part_t */
    keep_two(malloc(n + 8), malloc(3 * sizeof(int)));    /* ?, int or ? */
    keep_two(malloc(n + 8), ALLOCATE(int));              /* ?, int or ? */
}
__attribute__((noinline)) static void name(void) {
    line = malloc(count + 400);                          /* char; -g1: ? */
    shelf.title = malloc(count + 401 + sizeof("..."));   /* char */
    numbers = malloc(6 * sizeof *numbers);               /* long double */
}
struct entry entry;
int (*grid)[4];
struct node* (*pages)[2];
union cell* table[4];
struct node fields[3];
static void* volatile last;
FILE* stream;
char* message;
__attribute__((noinline)) static void point(struct entry* to) {
    to->text = malloc(count + 402);                      /* char; -g1: ? */
    char* const fixed = malloc(count + 403);             /* char */
    keep(fixed);
    grid = malloc(7 * sizeof *grid);                     /* int; -g1: ? */
    pages = calloc(3, sizeof(pages[0]));                 /* node*; -g1: ? */
    table[1] = malloc(5 * sizeof *table[1]);             /* cell; -g1: ? */
    table[2] = malloc(3 * sizeof(**table));              /* cell; -g1: ? */
    node = malloc(4 * sizeof(fields[0]));                /* node; -g1: ? */
}
__attribute__((noinline)) static void copy(struct node one, long n) {
    keep(memcpy(malloc(sizeof one), &one, sizeof one));  /* node; -g1: ? */
    last = malloc(3 * sizeof n);                         /* long; -g1: ? */
    last = malloc(n + 406 + sizeof n);                   /* ? */
}
__attribute__((noinline)) static void print(const char* format, ...) {
    va_list values;
    va_start(values, format);
    if (vasprintf(&message, format, values) < 0) abort();  /* char */
    va_end(values);
    stream = fdopen(dup(1), "w");                        /* FILE */
}
struct hooks { void* (*get)(size_t); void* (*resize)(void*, size_t); };
static struct hooks plain = {malloc, realloc};
__attribute__((noinline)) static void* counted(size_t size) {
    void* block = malloc(size);                          /* part_t, char, ? */
    if (block != NULL) ++count_of_hooks;
    return block;
}
static struct hooks counting = {counted, realloc};
__attribute__((noinline)) static void hook(const struct hooks* hooks, struct entry* to) {
    part_t* part = (part_t*)hooks->get(sizeof(part_t));  /* part_t */
    last = part;
    to->text = (char*)hooks->get(count + 404);           /* char */
    double* row = (double*)hooks->resize(NULL, 8 * sizeof(double));  /* double */
    last = row;
    last = hooks->get(count + 405);                      /* ? */
}
int main() {
    hook(&plain, &entry);
    hook(&counting, &entry);
    point(&entry);
    print("%d", count);
    copy(fields[0], count);
    fill(&shelf);
    hide((long)shelf.any);
    pass(shelf.parts, count);
    name();
    return 0;
}
"""


def types_of(allocscope, compiler, folder, name, flags):
    (folder / "parts.h").write_text(HEADER)
    source, program, report = folder / name, folder / "program", folder / "report.json"
    casts = SOURCE
    for member, kind in ("parts", "part_t"), ("node", "struct node"), ("title", "char"), \
            ("line", "char"), ("numbers", "long double"), ("text", "char"), ("fixed", "char"), \
            ("grid", "row"), ("pages", "pair"), ("table[1]", "union cell"), \
            ("table[2]", "union cell"):
        casts = casts.replace(f"{member} = ", f"{member} = ({kind}*)")
    source.write_text(casts if name.endswith("cpp") else SOURCE)
    subprocess.run([compiler, "-g", *flags, str(source), "-o", str(program)], check=True)
    subprocess.run([allocscope, "run", "--output", str(report), "--", str(program)], check=True)
    rows = json.loads(report.read_text())["rows"]
    found = {}
    for row in rows:
        if row["line"] != 0:
            found.setdefault(row["line"], set()).add(row["type"])
    return found


def main():
    allocscope, compiler = sys.argv[1:]
    notes = {row: line.split("/* ")[1].split(" */")[0]
             for row, line in enumerate(SOURCE.splitlines(), 1) if "/* " in line}
    wanted = {row: set(note.split(";")[0].removesuffix(" or ?").split(", "))
              for row, note in notes.items()}
    # gcc gives both requests of a line one place, clang each its own: "?, int or ?".
    may_be_unknown = {row for row, note in notes.items() if note.endswith(" or ?")}
    unknown_with_g1 = {row for row, note in notes.items() if note.endswith("; -g1: ?")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forms = [["-O0"], ["-O2"]]
        if "clang" not in compiler:
            # With -flto the variables of the file are in another unit than the code.
            forms.append(["-O0", "-flto"])
            forms.append(["-O2", "-g1"])
        for level in forms:
            found = types_of(allocscope, compiler, folder, "program.c", ["-x", "c", *level])
            for row in may_be_unknown | (unknown_with_g1 if "-g1" in level else set()):
                if found[row] == {"?"}:
                    found[row] = wanted[row]
            if found != wanted:
                print(f"with {level} the rows of C are {found}, and not {wanted}")
                return 1
        found = types_of(allocscope, compiler, folder, "program.cpp", [])
        first = min(wanted)
        if found[first] != {"?"}:
            print(f"in C++, the alias may be a variable of another header: {found}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
