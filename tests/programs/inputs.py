"""Input for the programs: texts, tables, sources, a tree, a picture, the same bytes every time."""
import csv
import json
import os
import pathlib
import random
import shutil
import stat

SEED = 20240229
SECOND = 1_700_000_000  # every file's time

C_SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { char *key; long value; struct entry *next; };
static struct entry *table[64];

static unsigned hash(const char *text) {
    unsigned sum = 5381;
    while (*text) sum = sum * 33 + (unsigned char)*text++;
    return sum % 64;
}

static struct entry *find(const char *key) {
    struct entry *each;
    for (each = table[hash(key)]; each; each = each->next)
        if (strcmp(each->key, key) == 0) return each;
    each = calloc(1, sizeof *each);
    each->key = strdup(key);
    each->next = table[hash(key)];
    return table[hash(key)] = each;
}

int main(int argc, char **argv) {
    char line[256];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    while (file && fgets(line, sizeof line, file)) find(line)->value++;
    for (int i = 0; i < 64; ++i)
        for (struct entry *each = table[i]; each; each = each->next)
            if (each->value > 1) printf("%ld %s", each->value, each->key);
    return 0;
}
"""

CPP_SOURCE = """\
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual double area() const = 0;
};
template <class Number>
struct square : shape {
    explicit square(Number given) : side(given) {}
    double area() const override { return double(side) * double(side); }
    Number side;
};
double total(const std::vector<std::unique_ptr<shape>>& all) {
    double sum = 0;
    for (const auto& each : all) sum += each->area();
    return sum;
}
std::map<std::string, std::vector<int>> index_of(const std::vector<std::string>& words) {
    std::map<std::string, std::vector<int>> result;
    for (std::size_t i = 0; i < words.size(); ++i) result[words[i]].push_back(int(i));
    return result;
}
int main() {
    std::vector<std::unique_ptr<shape>> all;
    for (int i = 0; i < 9; ++i) all.push_back(std::make_unique<square<float>>(i));
    return total(all) > 100 ? int(index_of({"a", "b", "a"}).size()) : 1;
}
"""

# For the compilers and clang-format where the headers of a library would take minutes.
SMALL_CPP_SOURCE = """\
namespace boxes {
template <class T> struct pair_of { T first; T second; T sum() const { return first + second; } };
template <int N> struct factorial { static constexpr long value = N * factorial<N - 1>::value; };
template <> struct factorial<0> { static constexpr long value = 1; };
struct base { virtual ~base() {} virtual int kind() const { return 0; } };
struct derived : base { int kind() const override { return 1; } int field[4] = {1,2,3,4}; };
}
static int walk(const int* begin, const int* end) {
    int sum = 0;
    for (; begin != end; ++begin) { if (*begin % 3 == 0) sum += *begin; else sum ^= *begin; }
    return sum;
}
int main(int argc, char**) {
    boxes::pair_of<int> a{argc, 2}; boxes::derived d; const boxes::base& b = d;
    auto twice = [&](int n) { return n * 2 + a.sum(); };
    return walk(d.field, d.field + 4) + twice(b.kind()) + (int)boxes::factorial<6>::value;
}
"""

PROTOCOL_GRAMMAR = """\
%{
int yylex(void); void yyerror(const char *s);
%}
%token NUMBER
%left '+' '-'
%left '*' '/'
%%
list: | list expression '\\n' ;
expression: NUMBER | expression '+' expression | expression '-' expression
    | expression '*' expression | expression '/' expression | '(' expression ')' ;
%%
"""

SCANNER = """\
%option noyywrap
digit [0-9]
%%
{digit}+          { return 1; }
[a-z_][a-z0-9_]*  { return 2; }
"\\""([^"\\\\]|\\\\.)*"\\""  { return 3; }
[ \\t\\n]+          { }
.                 { return yytext[0]; }
%%
"""


def words_of(random_numbers, count):
    """Made-up words, few of them often and many seldom, as in a language."""
    syllables = ["ka", "lo", "mi", "ner", "tu", "sha", "vel", "or", "ip", "den", "ra", "quo"]
    known = ["".join(random_numbers.choices(syllables, k=random_numbers.randint(1, 4)))
             for _ in range(400)]
    weights = [1 / (rank + 1) for rank in range(len(known))]
    return random_numbers.choices(known, weights, k=count)


def write_texts(folder, numbers):
    words = words_of(numbers, 6000)
    lines = [" ".join(words[start:start + 8]) for start in range(0, len(words), 8)]
    (folder / "words.txt").write_text("\n".join(words[:3000]) + "\n")
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    for place in range(0, len(lines), 23):
        lines[place] = lines[place].upper()
    del lines[100:104]
    (folder / "changed.txt").write_text("\n".join(lines) + "\n")
    (folder / "calculation.bc").write_text(
        "scale=60\nfor (i=1;i<200;i++) s+=1/i^2\ns\nsqrt(6*s)\n2^700 % 1000007\n"
        "define f(n) { if (n<2) return n; return f(n-1)+f(n-2); }\nf(15)\n")
    (folder / "macros.m4").write_text(
        "define(`times', `ifelse($1, 0, , `$2 times(decr($1), `$2')')')dnl\n"
        "times(60, `word eval(7*6) len(`abc')')\nforeach\ntranslit(`abcdef', `a-f', `A-F')\n")
    (folder / "Makefile").write_text(
        "names := $(sort $(shell cat names.txt))\nall: $(names:%=%.out)\n"
        "%.out: %.in\n\tcp $< $@\n$(foreach n,$(names),$(eval $n.in: ; touch $$@))\n")
    (folder / "names.txt").write_text("\n".join(sorted(set(words[:150]))) + "\n")


def write_tables(folder, numbers):
    rows = [[number, numbers.choice(["north", "south", "east"]), numbers.randint(1, 10_000),
             round(numbers.random() * 1000, 3)] for number in range(1500)]
    with open(folder / "table.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    (folder / "table.tsv").write_text(
        "".join("\t".join(map(str, row)) + "\n" for row in rows))
    (folder / "data.json").write_text(json.dumps(
        [dict(zip(("id", "side", "count", "share"), row)) for row in rows[:600]], indent=1))
    (folder / "document.xml").write_text(
        "<?xml version='1.0'?>\n<rows>\n" + "".join(
            f"  <row id='r{row[0]}'><side>{row[1]}</side><count>{row[2]}</count></row>\n"
            for row in rows[:500]) + "</rows>\n")
    (folder / "style.xsl").write_text(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        "<xsl:output method='text'/><xsl:template match='/'><xsl:for-each select='rows/row'>"
        "<xsl:sort select='count' data-type='number'/><xsl:value-of select='concat(@id,side)'/>"
        "</xsl:for-each></xsl:template></xsl:stylesheet>\n")
    (folder / "graph.dot").write_text("digraph g {\n" + "".join(
        f"n{row[0]} -> n{row[2] % 40} [label=\"{row[1]}\"];\n" for row in rows[:40]) + "}\n")
    (folder / "script.sql").write_text(
        "CREATE TABLE sale(id INTEGER PRIMARY KEY, side TEXT, count INT, share REAL);\nBEGIN;\n"
        + "".join(f"INSERT INTO sale VALUES({a},'{b}',{c},{d});\n" for a, b, c, d in rows)
        + "COMMIT;\nCREATE INDEX by_count ON sale(count);\n"
        "SELECT side, count(*), sum(count), round(avg(share), 3) FROM sale GROUP BY side;\n"
        "SELECT a.id FROM sale a JOIN sale b ON a.count = b.count AND a.id < b.id ORDER BY 1;\n"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 500)"
        " SELECT group_concat(i, '') FROM n;\nDELETE FROM sale WHERE count % 2; VACUUM;\n")


def write_sources(folder):
    (folder / "program.c").write_text(C_SOURCE)
    (folder / "program.cpp").write_text(CPP_SOURCE)
    (folder / "small.cpp").write_text(SMALL_CPP_SOURCE)
    (folder / "grammar.y").write_text(PROTOCOL_GRAMMAR)
    (folder / "scanner.l").write_text(SCANNER)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(made LANGUAGES NONE)\n"
        "foreach(n RANGE 40)\n  add_custom_target(step_${n} COMMAND echo ${n})\nendforeach()\n")
    (folder / "script.cmake").write_text(
        "set(list)\nforeach(n RANGE 300)\n  math(EXPR m \"${n} * 7 % 31\")\n"
        "  list(APPEND list \"item_${m}\")\nendforeach()\nlist(REMOVE_DUPLICATES list)\n"
        "list(SORT list)\nstring(REGEX REPLACE \"_([0-9])\" \"-\\\\1\" text \"${list}\")\n"
        "file(SHA256 words.txt sum)\nmessage(\"${text} ${sum}\")\n")
    (folder / "build.ninja").write_text(
        "rule touch\n  command = touch $out\n" + "".join(
            f"build out{n}: touch out{n - 1}\n" for n in range(1, 200)) + "build out0: touch\n")


def write_picture(folder, numbers):
    width = height = 48
    pixels = bytes((x * 5 + channel * 40 + numbers.randint(0, 9)) % 256
                   for _ in range(height) for x in range(width) for channel in range(3))
    (folder / "picture.ppm").write_bytes(f"P6 {width} {height} 255\n".encode() + pixels)


def write_all(folder):
    """Everything above, and a tree of sixty small files."""
    folder = pathlib.Path(folder)
    numbers = random.Random(SEED)
    write_texts(folder, numbers)
    write_tables(folder, numbers)
    write_sources(folder)
    write_picture(folder, numbers)
    for number in range(60):
        below = folder / "tree" / f"part{number % 7}" / f"deep{number % 3}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"file{number}.txt").write_text(" ".join(words_of(numbers, 50 + number)) + "\n")
    set_times(folder)


def restore(folder, original):
    """Makes a folder what the original is. What a program left alone keeps its inode: some programs
    put inode numbers into hash tables, and collisions allocate."""
    folder, original = pathlib.Path(folder), pathlib.Path(original)
    for root, folders, files in os.walk(folder, topdown=False):
        for name in folders + files:
            path = pathlib.Path(root, name)
            twin = original / path.relative_to(folder)
            if kind_of(path) != kind_of(twin):
                remove(path)
    for root, folders, files in os.walk(original):
        for name in folders + files:
            twin = pathlib.Path(root, name)
            path = folder / twin.relative_to(original)
            if twin.is_symlink():
                path.unlink(missing_ok=True)
                path.symlink_to(os.readlink(twin))
            elif twin.is_dir():
                path.mkdir(parents=True, exist_ok=True)
            elif not path.exists() or path.read_bytes() != twin.read_bytes():
                path.write_bytes(twin.read_bytes())
            if not twin.is_symlink():
                path.chmod(stat.S_IMODE(twin.stat().st_mode))
    set_times(folder)


def kind_of(path):
    return stat.S_IFMT(os.lstat(path).st_mode) if os.path.lexists(path) else None


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def set_times(folder):
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            os.utime(os.path.join(root, name), (SECOND, SECOND), follow_symlinks=False)
