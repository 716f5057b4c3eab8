"""shadow.py BUILD LIBRARY PROGRAM... [-- ARGUMENT...]
shadow.py BUILD LIBRARY --ctest [EXPRESSION]

Runs test programs, or the tests of a build whose names fit the expression, with shadow.cpp loaded
into every process: each call of malloc and its family is looked at while it is made, also in the
programs of others that `allocscope run` records. Fails when code of ours makes one that
calls_of_ours.toml does not list.

Where calls_of_ours.py reads what code could call, this sees what the C library and the C++ library
allocate behind the functions that are called. Neither asks a flag of ours what code it is in. A
function of ours that the compiler has put into one of the test counts as the test's here.
"""
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.parse

from calls_of_ours import OPERATOR, OURS, readable

HERE = pathlib.Path(__file__).resolve().parent
# What the suite does without the shadow, and why.
NOT_WATCHED = {
    "process/under_a_filter": "its filter of system calls forbids what shadow.cpp does",
    "tools/run_programs|tools/run_refuses|linking/sanitizers":
        "AddressSanitizer must be the first library",
    "tools/operators": "its programs must find their own allocators first",
    "malloc_family/|no_alloc/": "they watch malloc in their own way, and some end at such a call",
    "programs/(exactness|hazards|judges|failing)":
        "its judges count all that is asked of malloc, and give programs their own environment",
    "benchmarks/golden_instructions": "it counts instructions",
    "lint/|docs/|mutants/|header_alone/|compile_fail/|benchmarks/compile_time|linking/compile_":
        "no code of ours runs",
}
# What an adapter has to say it says in strings and lists of the C++ library, as its framework does.
OF_FRAMEWORKS = "/allocscope/integrations/"
REQUESTS = {"malloc", "free", "calloc", "realloc", "memalign", "valloc", "pvalloc",
            "aligned_alloc", "posix_memalign"}


def names_at(program, addresses):
    """{address: (name, file) of the functions there, innermost first}, also of inlined ones."""
    names, current = {}, None
    done = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", program], capture_output=True,
                          input="".join(f"{each:#x}\n" for each in sorted(addresses)), text=True,
                          check=True)
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            current = names.setdefault(int(line, 16), [])
            line = next(lines)
        current.append((line, next(lines)))
    symbols = symbols_of(program)
    for address, chain in names.items():
        # Instead of an inlined function without a linkage name it names the symbol at the address:
        # that of the outermost function, which may have no linkage name here.
        if len(chain) > 1 and any(address in each for each in symbols.get(chain[0][0], [])):
            chain[-1] = (chain[0][0], chain[-1][1])
            del chain[0]
    return names


def symbols_of(program):
    """{name: where the functions of this name are}"""
    done = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True,
                          check=True)
    symbols = collections.defaultdict(list)
    for begin, size, _, name in (line.split() for line in done.stdout.splitlines()
                                 if line.count(" ") == 3):
        symbols[name].append(range(int(begin, 16), int(begin, 16) + int(size, 16)))
    return symbols


def is_ours(name):
    return OURS.match(name) or OPERATOR.match(name) or name in REQUESTS


def frames_of_ours(names, frames):
    """Innermost first, up to the first function of others."""
    found = []
    for module, address in frames:
        for name, _ in names[module][address]:
            if is_ours(name):
                found.append(name)
            elif not name.startswith(("_ZSt", "_ZNSt", "_ZNKSt", "_ZNSa", "_ZN9__gnu_cxx")):
                return found
    return found


class judge:
    def __init__(self, names):
        listed = tomllib.loads((HERE / "calls_of_ours.toml").read_text())
        self.serving = listed["serving"]
        self.allowed = {name for group in listed["calls"] for name in group.get("by", [])}
        self.allowed |= set(listed["catching"])
        # A line of inlined code may have the file of its caller, but not each of a function's.
        self.allowed |= {readable(name) for each in names.values() for chain in each.values()
                         for name, file in chain if OF_FRAMEWORKS in file and OURS.match(name)}

    def is_serving(self, name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.serving)

    def problem(self, frames):
        """The function of ours that asks for memory and may not, or None."""
        for name in frames:
            if not OURS.match(name) or self.is_serving(readable(name)):
                continue
            return None if readable(name) in self.allowed else readable(name)
        return None


def read_frame(text):
    """(module, address); a module is a path, with what tells it from another file of that name."""
    path, inode, changed_ns, address = text.rsplit("+", 3)
    return (urllib.parse.unquote(path), int(inode, 16), int(changed_ns, 16)), int(address, 16)


def is_there(module):
    path, *identity = module
    try:
        about = os.stat(path)
    except OSError:
        return False
    return [about.st_ino, about.st_mtime_ns] == identity


def read_stacks(log):
    """{program: {(what was called, frames)}}"""
    stacks = collections.defaultdict(set)
    for line in log.read_text().splitlines():
        program, called, *frames = line.split(" ")
        stacks[urllib.parse.unquote(program)].add((called, tuple(map(read_frame, frames))))
    return stacks


def problems_of(log):
    """{what is wrong: the programs with it}, and how many stacks and programs were judged."""
    stacks = read_stacks(log)
    addresses = collections.defaultdict(set)
    for each in stacks.values():
        for _, frames in each:
            for module, address in frames:
                addresses[module].add(address)
    names = {module: names_at(module[0], at) for module, at in addresses.items()
             if is_there(module)}
    judged, found = judge(names), collections.defaultdict(set)
    count, unjudged = 0, set()
    for program, each in stacks.items():
        for called, frames in each:
            if any(module not in names for module, _ in frames):
                unjudged.add(program)
                continue
            count += 1
            ours = frames_of_ours(names, frames)
            wrong = judged.problem(ours)
            if wrong:
                path = " < ".join(readable(name) for name in ours[:6])
                found[f"{wrong} reaches {called}: {path}"].add(pathlib.Path(program).name)
    for program in sorted(unjudged):
        print(f"not judged in whole, because a test has changed its files since: {program}")
    return found, count, len(stacks)


def run_suite(build, environment, expressions):
    """How many tests passed and how many failed."""
    for names, why in NOT_WATCHED.items():
        print(f"left out: {names}: {why}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "junit.xml"
        subprocess.run(["ctest", "--test-dir", build, "--output-on-failure", "-j2",
                        "--output-junit", report, "-E", "|".join(NOT_WATCHED),
                        *(["-R", expressions[0]] if expressions else [])],
                       env=environment, check=False)
        tests = re.findall(r'<testcase .* status="(\w+)"', report.read_text())
    return tests.count("run"), tests.count("fail")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, library, *words = sys.argv[1:]
    library = str(pathlib.Path(library).resolve())
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "stacks"
        log.touch()
        environment = {**os.environ, "ALLOCSCOPE_SHADOW": str(log), "LD_PRELOAD": library}
        passed = failed = 0
        if words[0] == "--ctest":
            passed, failed = run_suite(build, environment, words[1:])
        else:
            at = words.index("--") if "--" in words else len(words)
            for program in [str(pathlib.Path(each).resolve()) for each in words[:at]]:
                done = subprocess.run([program, *words[at + 1:]], env=environment, text=True,
                                      capture_output=True, check=False,
                                      cwd=pathlib.Path(program).parent)
                if done.returncode != 0:
                    failed += 1
                    print(f"{program} ends with {done.returncode}: {done.stdout}{done.stderr}")
        problems, stacks, programs = problems_of(log)
    if problems:
        print("Functions of ours ask the process for memory. Take pages, or give the reason in "
              "calls_of_ours.toml:\n  " +
              "\n  ".join(f"{each}  ({', '.join(sorted(where))})"
                          for each, where in sorted(problems.items())))
    elif stacks != 0:
        print(f"{stacks} stacks with functions of ours in {programs} programs, each of them listed")
    if stacks == 0:
        sys.exit("no call was seen: was the library loaded?")
    if words[0] == "--ctest":
        print(f"{passed} passed, {failed + len(problems)} failed")
    sys.exit(1 if failed or problems else 0)


if __name__ == "__main__":
    main()
