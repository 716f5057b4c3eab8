"""template_types.py COMPILER FLAGS... -- OBJECTS...

Compiles template_types.cpp at -O0 and -O2 and compares each row's type with the one that the
compiler's own typeid() has for the object, or with what stands behind the line: `// row: ?`.
"""

import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("template_types.cpp")
LEAST_ROWS = 48


def as_a_row_has_it(name):
    """app::box<int, int> is written app::box<int>, and unnamed namespaces are left out."""
    return name.replace("(anonymous namespace)::", "").replace(", int>", ">")


def main():
    compiler, *rest = sys.argv[1:]
    at = rest.index("--")
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    said = {number + 1: line.split("// row: ")[1].split(" at ") for number, line in enumerate(lines)
            if "// row: " in line}
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O2"):
            program = pathlib.Path(folder) / "program"
            subprocess.run([compiler, *rest[:at], level, "-g", SOURCE, *rest[at + 1:], "-pthread",
                            "-o", program], check=True, timeout=900)
            rows = subprocess.run([program], check=True, timeout=600, capture_output=True,
                                  text=True).stdout.splitlines()
            if len(rows) < LEAST_ROWS:
                problems.append(f"{level}: {len(rows)} rows, expected {LEAST_ROWS}")
            for row in rows:
                line, objects, seen, made = row.split("\t")
                wanted = [as_a_row_has_it(made)]
                if int(line) in said:
                    type_, *where = said[int(line)]
                    is_always = not where
                    wanted = [type_] if is_always else wanted + [type_]
                if as_a_row_has_it(seen) not in wanted or objects != "1":
                    problems.append(f"{level}: line {line}: {objects} of {seen}, expected 1 of "
                                    f"{' or '.join(wanted)}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{LEAST_ROWS} lines, at -O0 and -O2: as the compiler says")


if __name__ == "__main__":
    main()
