"""type_corpus.py [--table] COMPILER FLAGS... -- OBJECTS...

Compiles the expressions of expressions.py and compares the rows of a report with what is written
beside each expression: the type, and the line that it stands on. Without --table at -O0 and -O2,
with debug information as it is and in the forms that it is kept in, and once without the source
file; a type that is wrong fails the test, and so does a share of right ones that is too low. With
--table: the table of docs/types_and_places.md, for all levels.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import expressions

SOURCE = "corpus.cpp"


def run(*command, **others):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          timeout=900, text=True, **others)


class Verdicts:
    def __init__(self, corpus, first_line, printed):
        self.counts = collections.Counter()
        self.details = []
        rows = collections.defaultdict(dict)
        self.elsewhere = []
        self.rungs = set()
        for line in printed.splitlines():
            objects, file, number, type_, source = line.split("\t")
            at = int(number) - first_line
            self.rungs.add(source)
            if file.endswith(SOURCE) and 0 <= at < len(corpus):
                rows[at][type_] = (int(objects), source)
            else:
                self.elsewhere.append(line)
        for number, (source, types) in enumerate(corpus):
            self.judge(source, types, rows.get(number, {}))

    def judge(self, source, types, seen):
        wanted = [{one.strip() for one in each.split("|")} for each in types]
        accepted = set().union(*wanted)
        wrong = [name for name in seen if name not in accepted and name != "?" and
                 not name.startswith("begins with ")]
        missing = [each for each in wanted if not each & set(seen)]
        is_misnamed = missing and sum(count for count, _ in seen.values()) >= len(wanted)
        is_misnamed = is_misnamed and set(seen) <= accepted - {"?"}
        if wrong or is_misnamed:
            verdict = "wrong"
        elif not seen:
            verdict = "elsewhere"
        elif not missing:
            verdict = "right"
        else:
            is_unknown = any(name == "?" or name.startswith("begins with ") for name in seen)
            verdict = "unknown" if is_unknown else "elsewhere"
        self.counts[verdict] += 1
        if verdict != "right":
            self.details.append(f"{verdict}: {source}\n    wanted {types}, seen {seen}")

    def share(self, verdict):
        return 100.0 * self.counts[verdict] / sum(self.counts.values())


class Bench:
    def __init__(self, folder, compiler, flags, objects):
        self.folder = folder
        self.command = [compiler, *flags]
        self.objects = objects
        self.source = folder / SOURCE
        self.use(expressions.corpus())

    def use(self, corpus, more=""):
        self.corpus = corpus
        text, self.first_line = expressions.source_text(corpus, more)
        self.source.write_text(text, encoding="utf-8")

    def build(self, name, *flags):
        program = self.folder / name
        run(*self.command, *flags, self.source, *self.objects, "-pthread", "-o", program,
            cwd=self.folder)
        return program

    def coroutine_flags(self):
        """None: this compiler has no coroutines."""
        for flags in (["-std=c++20"], ["-std=c++20", "-fcoroutines"]):
            if subprocess.run([*self.command, *flags, "-fsyntax-only", self.source], check=False,
                              capture_output=True, timeout=600).returncode == 0:
                return flags
        return None

    def verdicts(self, program):
        return Verdicts(self.corpus, self.first_line, run(program).stdout)


FORMS = [("-g", ["-g"]), ("-g -gz", ["-g", "-gz"]), ("-g -gsplit-dwarf", ["-g", "-gsplit-dwarf"]),
         ("-g -flto", ["-g", "-flto"]), ("-g1", ["-g1"]), ("without -g", []),
         ("-g -gdwarf-4", ["-g", "-gdwarf-4"]),
         ("-g -fdebug-types-section", ["-g", "-fdebug-types-section"]),
         ("-g -gsplit-dwarf -fdebug-types-section",
          ["-g", "-gsplit-dwarf", "-fdebug-types-section"])]


def table(bench):
    print("| | right | `?` | elsewhere | wrong |\n|---|---|---|---|---|")
    for form, flags in FORMS:
        for level in ("-O0", "-O1", "-O2", "-O3") if form == "-g" else ("-O0", "-O2"):
            name = re.sub(r"\W", "_", level + form)
            try:
                program = bench.build(name, level, *flags)
            except subprocess.CalledProcessError as problem:
                print(f"| {level} {form} | cannot be built: {problem.stderr[-200:]!r} |")
                continue
            seen = bench.verdicts(program)
            shares = " | ".join(f"{seen.share(each):.1f}"
                                for each in ("right", "unknown", "elsewhere", "wrong"))
            print(f"| {level} {form} | {shares} |", flush=True)
            (bench.folder / (name + ".txt")).write_text("\n".join(seen.details))
            program.unlink()


def check(bench, form, level, flags, least_right, least_without_source=None):
    program = bench.build("program", level, *flags)
    seen = check_rows(bench, program, f"{level} {form}", least_right)
    if least_without_source is not None:
        hidden = bench.source.rename(bench.folder / "hidden.cpp")
        rungs = check_rows(bench, program, f"{level} {form}, no source", least_without_source).rungs
        hidden.rename(bench.source)
        if "source" in rungs or "constructor" not in rungs:
            sys.exit(f"types that were found without the source: {rungs}")
    return seen


def check_rows(bench, program, form, least_right):
    seen = bench.verdicts(program)
    if seen.counts["wrong"] or seen.share("right") < least_right:
        print("\n".join(seen.details))
        sys.exit(f"{form}: {dict(seen.counts)}; at least {least_right}% must be right, "
                 "and nothing wrong")
    print(f"{form}: {seen.share('right'):.1f}% of {len(bench.corpus)} expressions right, "
          f"{seen.share('unknown'):.1f}% not known, none wrong")
    return seen


# Form, level, flags, and the share that has to be right. Each expression is in one form of each
# list; a soak has all of them in each form.
FREQUENT_FORMS = [("-g", "-O0", ["-g"], 99.0), ("-g1", "-O2", ["-g1"], 94.0)]
# The second third has `v.reserve(9)` of a vector of hidden_shape, which had another line in C++20.
FREQUENT_FORMS_OF_GCC = [
    FREQUENT_FORMS[0], ("-g -std=c++20", "-O2", ["-g", "-std=c++20"], 98.5), FREQUENT_FORMS[1]]
RARER_FORMS = [
    ("-g1", "-O0", ["-g1"], 95.0),
    ("-g -gsplit-dwarf, units of types", "-O0",
     ["-g", "-gsplit-dwarf", "-fdebug-types-section"], 98.0),
    ("-g, units of types", "-O0", ["-g", "-fdebug-types-section"], 98.0),
    ("-g -flto", "-O0", ["-g", "-flto"], 98.0),
    ("-g -flto", "-O2", ["-g", "-flto"], 97.0)]


def check_parts(bench, forms):
    is_soak = "ALLOCSCOPE_TEST_SOAK" in os.environ
    for which, (form, level, flags, least_right) in enumerate(forms):
        bench.use(expressions.corpus() if is_soak
                  else expressions.part_of_corpus(which, len(forms)))
        seen = check(bench, form, level, flags, least_right)
        if form == "-g -std=c++20" and seen.counts["elsewhere"]:
            sys.exit("\n".join(["at another line:", *seen.details]))


def main():
    words = sys.argv[1:]
    wants_table = words[0] == "--table"
    compiler, *rest = words[1:] if wants_table else words
    at = rest.index("--")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), compiler, rest[:at], rest[at + 1:])
        if wants_table:
            table(bench)
            return
        check(bench, "-g", "-O2", ["-g"], 99.0, 65.0)
        if "clang" in compiler:  # the table has the other forms, too; it forgets no inlined calls
            check_parts(bench, FREQUENT_FORMS)
        else:
            check_parts(bench, FREQUENT_FORMS_OF_GCC)
            check_parts(bench, RARER_FORMS)
        bench.use(expressions.rare(), expressions.RARE_PRELUDE)
        for level in ("-O0", "-O2"):
            check(bench, "-g, rare ways to write it", level, ["-g"], 100.0)
        bench.use(expressions.coroutines(), expressions.COROUTINE_PRELUDE)
        flags = bench.coroutine_flags()
        for level in ("-O0", "-O2") if flags else ():
            check(bench, "-g -std=c++20", level, ["-g", *flags], 100.0)


if __name__ == "__main__":
    main()
