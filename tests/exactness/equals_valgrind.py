"""equals_valgrind.py VALGRIND PLAIN_PROGRAM MEASURED_PROGRAM

The plain program runs under Valgrind, which writes down every call of an allocation function; the
calls of operator new between the two marks are added up, and the operator delete of those blocks.
The measured program says what its window counted. The four numbers must be equal, exactly.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BEGIN_MARK = 777777
END_MARK = 777779
SKIPPED = 77

# --79-- _Znwm(24) = 0x4DA5C80; the aligned forms: _ZnwmSt11align_val_t(size 64, al 64) = ...
ALLOCATION = re.compile(r"^--\d+-- (_Zn[wa]m\w*)\((?:size )?(\d+)[^=]*\) = 0x([0-9A-Fa-f]+)$")
# _ZdlPv(0x4DA5C80), and from Valgrind 3.27 on also with what else is passed: _ZdlPvm(0x4DA5C80, 1)
DEATH = re.compile(r"^--\d+-- (_Zd[la]Pv\w*)\(0x([0-9A-Fa-f]+)[,)]")
MARK = re.compile(r"^--\d+-- malloc\((\d+)\) = 0x")


def environment():
    """The programs must not find out that they are watched: the same environment for both."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}


def valgrind_counts(valgrind, program):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "trace"
        done = subprocess.run(
            [valgrind, "--tool=memcheck", "--leak-check=no", "--undef-value-errors=no",
             "--run-libc-freeres=no", "--run-cxx-freeres=no", "--trace-malloc=yes",
             f"--log-file={log}", program, ""],
            capture_output=True, text=True, timeout=600, env=environment())
        trace = log.read_text(errors="replace")
    if done.returncode != 0:
        sys.exit(f"under Valgrind the program ended with {done.returncode}:\n{done.stderr}")
    counts = {"allocations": 0, "frees": 0, "bytes": 0, "bytes_freed": 0}
    alive = {}
    is_inside = False
    for line in trace.splitlines():
        if mark := MARK.match(line):
            if int(mark[1]) == BEGIN_MARK:
                is_inside = True
            elif int(mark[1]) == END_MARK:
                break
        elif not is_inside:
            continue
        elif birth := ALLOCATION.match(line):
            counts["allocations"] += 1
            counts["bytes"] += int(birth[2])
            alive[int(birth[3], 16)] = int(birth[2])
        elif death := DEATH.match(line):
            size = alive.pop(int(death[2], 16), None)
            if size is not None:  # otherwise null, or born before the part that is measured
                counts["frees"] += 1
                counts["bytes_freed"] += size
        elif "_Zn" in line or "_Zd" in line:
            sys.exit(f"a line of the trace that this script does not understand: {line}")
    else:
        sys.exit("the marks are not in the trace")
    return counts, done.stdout


def measured_counts(program, record):
    done = subprocess.run([program, record], capture_output=True, text=True, timeout=600,
                          env=environment())
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    *output, last = done.stdout.splitlines(True)
    words = last.split()
    return dict(zip(words[::2], map(int, words[1::2]))), "".join(output)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    valgrind, plain, measured = sys.argv[1:]
    expected, expected_output = valgrind_counts(valgrind, plain)
    if expected["allocations"] < 100:
        sys.exit(f"Valgrind saw hardly anything, so the test says nothing: {expected}")
    for record in ("exact", "counters"):
        actual, output = measured_counts(measured, record)
        if output != expected_output:
            sys.exit(f"the two builds do not do the same work:\n{expected_output}\n{output}")
        if actual != expected:
            sys.exit(f"{record}: the window counted {actual}\n"
                     f"Valgrind counted {expected}")
    print(f"equal: {expected}")


if __name__ == "__main__":
    main()
