"""levels_agree.py [--first SEED] [--programs N] COMPILER FLAGS... -- OBJECTS...

Writes programs at random that fill containers of containers, and compares what the rows of each say
at -O2 with what those of the same program say at -O0, where every function has a frame of its own:
each line has the same objects of the same types, but that a few types are not known. --first with
the number of a program that differs tries it alone. One program in the suite; 40 in a soak.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TEXT = '"a text that is longer than any short string"'
SMALL = 7  # more kinds of elements are made of other elements
MOST_UNKNOWN = 1.0  # percent

HEAD = """\
#include <allocscope/allocscope.hpp>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct hidden {
    int a = 1, b = 2, c = 3;
};
struct holder {
    explicit holder(int n) : all(static_cast<std::size_t>(n)) {}
    std::vector<hidden> all;
};

std::string make_text(std::size_t n) {
    std::string made(n, 'x');
    made += 'y';
    return made;
}

template <class T>
void keep(T* object) {
    asm volatile("" : : "r"(object) : "memory");
}

}  // namespace

namespace shop {

struct item {
    std::string name;
    int price = 0;
};

template <class T>
class box {
public:
    box() = default;
    explicit box(const T& first) { items.push_back(first); }
    void put(T value) { items.push_back(std::move(value)); }
    void share(const T& value) { last = std::make_shared<T>(value); }

private:
    std::vector<T> items;
    std::shared_ptr<T> last;
};

}  // namespace shop

"""


class Element:
    """A type, and expressions that make objects of it."""

    def __init__(self, dice, depth=0):
        kind = dice.randrange(SMALL if depth == 2 else 17)
        inner = Element(dice, depth + 1) if kind >= SMALL else None
        of = inner and inner.type
        number = str(dice.randint(1, 9))
        self.type, self.values = {
            0: lambda: ("int", [number]),
            1: lambda: ("double", ["1.5"]),
            2: lambda: ("hidden", ["hidden()", "hidden{1, 2, 3}"]),
            3: lambda: ("std::string", [f"std::string({TEXT})", "make_text(40)"]),
            4: lambda: ("shop::item", [f"shop::item{{{TEXT}, 3}}"]),
            5: lambda: ("holder", [f"holder({number})"]),
            6: lambda: ("unsigned char", ["7"]),
            7: lambda: (f"std::vector<{of}>",
                        [f"std::vector<{of}>({number}, {inner.value(dice)})"]),
            8: lambda: (f"std::vector<{of}>",
                        [f"std::vector<{of}>{{{inner.value(dice)}, {inner.value(dice)}}}"]),
            9: lambda: (f"std::list<{of}>",
                        [f"std::list<{of}>{{{inner.value(dice)}, {inner.value(dice)}}}"]),
            10: lambda: (f"std::deque<{of}>", [f"std::deque<{of}>{{{inner.value(dice)}}}"]),
            11: lambda: (f"std::shared_ptr<{of}>",
                         [f"std::make_shared<{of}>({inner.value(dice)})",
                          f"std::shared_ptr<{of}>(new {of}({inner.value(dice)}))"]),
            12: lambda: (f"std::map<int, {of}>",
                         [f"std::map<int, {of}>{{{{{number}, {inner.value(dice)}}}}}"]),
            13: lambda: (f"std::optional<{of}>", [f"std::optional<{of}>({inner.value(dice)})"]),
            14: lambda: (f"std::unordered_map<std::string, {of}>",
                         [f"std::unordered_map<std::string, {of}>{{{{{TEXT}, "
                          f"{inner.value(dice)}}}}}"]),
            15: lambda: (f"shop::box<{of}>", [f"shop::box<{of}>({inner.value(dice)})"]),
            16: lambda: (f"std::tuple<int, {of}>",
                         [f"std::tuple<int, {of}>(1, {inner.value(dice)})"]),
        }[kind]()

    def value(self, dice):
        return dice.choice(self.values)


# What is done to a variable $x and another one $w of its type $c: $v is a new element, of type $t.
SEQUENCE = ["$x = {$v, $v};", "$x = $w;", "$x.push_back($v);", "$x.emplace_back($v);",
            "$x.insert($x.end(), $v);", "$x.assign($w.begin(), $w.end());", "$w = $c(n, $v);",
            "{ $c other($w); other.push_back($v); $x.swap(other); }",
            "$x.insert($x.begin(), $w.begin(), $w.end());", "keep(new $c($w));",
            "keep(new $t($v));", "keep(std::make_unique<$t>($v).release());",
            "for (std::size_t i = 0; i < n; ++i) $x.push_back($v);",
            "if (n > 1) $w = $x;\n    else $w.push_back($v);"]
OPERATIONS = {
    "std::vector<$t>": [*SEQUENCE, "$x.reserve($x.size() + 9);"],
    "std::list<$t>": SEQUENCE,
    "std::deque<$t>": SEQUENCE,
    "std::map<int, $t>": ["$x.emplace(3, $v);", "$w = $x;", "$w.insert({5, $v});",
                          "keep(new $c($w));"],
    "std::unordered_map<std::string, $t>": [
        f"$x.emplace({TEXT}, $v);", "$w = $x;", f"$w.insert({{{TEXT}, $v}});",
        "$x.insert_or_assign(make_text(n + 30), $v);", "$x.reserve(50);"],
    "shop::box<$t>": ["$x.put($v);", "$w = $x;", "$x.share($v);", "$w = $c($v);"],
    "std::unique_ptr<$t>": ["$x = std::make_unique<$t>($v);", "$w.reset(new $t($v));",
                            "if ($x) $w = std::make_unique<$t>(*$x);",
                            "keep(new $t[2]{$v, $v});"],
    "std::optional<$t>": ["$x = $v;", "$w = $x;", "$x.emplace($v);", "if ($w) $x = *$w;",
                          "$x = std::make_optional<$t>($v);"],
}


class Variables:
    """Two static variables of a container, and what a function does to them."""

    def __init__(self, dice, number):
        self.dice = dice
        self.pattern = dice.choice(list(OPERATIONS))
        self.element = Element(dice)
        self.meanings = {"x": f"x{number}", "w": f"w{number}", "t": self.element.type}
        self.meanings["c"] = self.filled(self.pattern)

    def filled(self, pattern):
        def meaning(found):
            name = found.group(1)
            return self.element.value(self.dice) if name == "v" else self.meanings[name]
        return re.sub(r"\$(\w)", meaning, pattern)

    def declaration(self):
        return self.filled("static $c $x, $w;")

    def operation(self):
        return self.filled(self.dice.choice(OPERATIONS[self.pattern]))


def source_of(seed):
    dice = random.Random(seed)
    variables = [Variables(dice, number) for number in range(12)]
    lines = [HEAD, *(each.declaration() for each in variables)]
    functions = range(10)
    for function in functions:
        lines.append(f"__attribute__((noinline)) void work_{function}(std::size_t n) {{")
        lines += ["    " + dice.choice(variables).operation() for _ in range(dice.randint(2, 6))]
        lines.append('    asm volatile("" : : "r"(n) : "memory");\n}')
    lines.append("int main() {\n    allocscope::options deep;\n    deep.stack_frames = 100;\n"
                 '    const allocscope::scope window{"levels", deep};')
    calls = [*functions, *functions]
    dice.shuffle(calls)
    lines += [f"    work_{function}({dice.randint(1, 4)});" for function in calls]
    lines.append("    for (const allocscope::snapshot::row& row : window.stats())\n"
                 '        std::printf("%d %llu %s\\n", row.line, row.objects * 1ULL, row.type);\n}')
    return "\n".join(lines) + "\n"


def rows_of(command, source, program):
    subprocess.run([*command, "-w", source, "-pthread", "-o", program], check=True, timeout=900)
    rows = collections.defaultdict(collections.Counter)
    printed = subprocess.run([program], check=True, timeout=600, capture_output=True, text=True)
    for row in printed.stdout.splitlines():
        line, objects, type_ = row.split(" ", 2)
        rows[int(line)][type_] += int(objects)
    return rows


def main():
    is_soak = "ALLOCSCOPE_TEST_SOAK" in os.environ
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--programs", type=int, default=40 if is_soak else 1)
    wanted, (compiler, *rest) = parser.parse_known_args()
    at = rest.index("--")
    flags, objects = rest[:at], rest[at + 1:]
    problems = []
    compared = unknown = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(wanted.first, wanted.first + wanted.programs):
            source = pathlib.Path(folder) / f"levels_{seed}.cpp"
            source.write_text(source_of(seed), encoding="utf-8")
            low, high = (rows_of([compiler, *flags, *objects, level, "-g"], source,
                                 pathlib.Path(folder) / f"program{level}")
                         for level in ("-O0", "-O2"))
            lines = source.read_text(encoding="utf-8").splitlines()
            for line, types in sorted(high.items()):
                compared += sum(types.values())
                more = types - low[line]
                unknown += more.pop("?", 0)
                if more:
                    problems.append(f"program {seed}, line {line}: {lines[line - 1].strip()}\n"
                                    f"    -O0 {dict(low[line])}\n    -O2 {dict(types)}")
    share = 100.0 * unknown / compared
    if problems or share > MOST_UNKNOWN:
        sys.exit("\n".join([*problems, f"{compared} objects compared, {share:.1f}% not known"]))
    print(f"{compared} objects of {wanted.programs} programs: as at -O0, {share:.1f}% not known")


if __name__ == "__main__":
    main()
