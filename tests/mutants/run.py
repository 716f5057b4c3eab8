"""run.py [--jobs N] [--work FOLDER] [--list] [--room ROOM] [part of a name ...]

Shows that the tests can fail. For each mutant of mutant_list.py the headers are copied, one line is
changed, the hooks and the tests that are named are compiled against the copy and run: at least one
has to fail, or come to no end. The same tests must pass with the headers as they are, built in the
same way: -O1 for the hooks, and for process tests that do not ask for -O2. Ten seconds each of
processor time. The last line is "N killed, N survived"; exit code 0 only when all were killed.

A unit test of a mutant in ROOMS_OF_REPORTS is first linked with the hooks as they are, which takes
half the time: the linker takes its copy of every function, because its object comes first. What
survives this is linked with its own hooks.

Some tests see a mutant only if threads meet at a bad moment, and do so seldom on a busy machine.
What survives beside others is tried once more alone, at the end.

For tests of tools/ the command is built with the mutant: the sources that include a changed file of
tools/, and after a change of a header the library that the command loads into programs, and the
sources that name rows if the header is one of ROOMS_OF_REPORTS.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from mutant_list import ROOT, apply, cannot_apply, read_lists, sources_of

COMPILER = os.environ.get("ALLOCSCOPE_CXX", "g++")
# -w: a mutant may leave a variable unused.
FLAGS = ["-std=c++17", "-g", "-w", "-fno-omit-frame-pointer", f"-I{ROOT / 'tests'}"]
LIBRARIES = ["-pthread", "-ldl"]
# Tests that CMake builds in another way: without the hooks and without frame pointers.
BARE = ("unwinding/unloaded_modules",)
# Rooms that no hook runs through at an allocation.
ROOMS_OF_REPORTS = ("formats", "grouping", "measure", "naming", "page", "places", "report", "saved",
                    "snapshot", "source", "spelling", "symbols", "types", "verdict")
LEAST_SECONDS = 60
CANNOT_RUN_HERE = 77


class build_failed(Exception):
    pass


def compile_object(source, include, target, *flags):
    optimised = [] if any(flag.startswith("-O") for flag in flags) else ["-O1"]
    done = subprocess.run([COMPILER, *FLAGS, *optimised, *flags, f"-I{include}", "-c", str(source),
                           "-o", str(target)], capture_output=True, text=True)
    if done.returncode != 0:
        raise build_failed(done.stderr[:2000])
    return target


class command:
    """The program allocscope and its library, built from one state of the headers and the tools."""

    def __init__(self, folder, tree, original=None, changed=None):
        self.folder = pathlib.Path(folder) / "command"
        self.tree = pathlib.Path(tree)
        self.original = original  # whose objects are good for sources without the changed file
        self.changed = changed
        self.program = self.folder / "allocscope"
        self.library = self.folder / "liballocscope_preload.so"
        self.objects = {}
        self.lock = threading.Lock()

    def build(self):
        with self.lock:
            if not self.folder.exists():
                self.folder.mkdir()
                self.build_library()
                self.build_program()
        return self

    def concerns(self, source, seen):
        """Whether the source is the changed file, or includes it."""
        if source.name == self.changed.name:
            return True
        for name in re.findall(r'#include "([^"]+)"', source.read_text()):
            included = source.parent / name
            if included.exists() and included.name not in seen:
                seen.add(included.name)
                if self.concerns(included, seen):
                    return True
        return False

    def build_library(self):
        source = self.tree / "tools/preload/preload.cpp"
        is_same = self.original and "tools" in self.changed.parts and \
            not self.concerns(source, set())
        if is_same:
            shutil.copy(self.original.library, self.library)
            return
        built = compile_object(source, self.tree / "include", self.folder / "preload.o", "-O2",
                               "-fPIC", "-fno-exceptions", "-fno-rtti", "-mstackrealign",
                               "-fvisibility=hidden",
                               '-DALLOCSCOPE_PROGRAM_FOLDER="."')
        self.link(self.library, [built], "-shared", "-nodefaultlibs", "-lc",
                  f"-Wl,--version-script={self.tree / 'tools/preload/exported_symbols.map'}")

    def is_changed(self, source):
        if "tools" in self.changed.parts:
            return self.concerns(source, set())
        # The command names the rows. Only these sources have code of the library that does.
        return self.changed.parts[-2] in ROOMS_OF_REPORTS and \
            "#include <allocscope/define_once/" in source.read_text()

    def object_of(self, source):
        if self.original and not self.is_changed(source):
            return self.original.objects[source.stem]
        return compile_object(source, self.tree / "include", self.folder / f"{source.stem}.o",
                              "-O0", '-DALLOCSCOPE_LIBRARY_FOLDER="."')

    def build_program(self):
        sources = [each for each in sorted((self.tree / "tools").rglob("*.cpp"))
                   if each.parent.name != "preload"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            built = list(pool.map(self.object_of, sources))
        self.objects = {source.stem: made for source, made in zip(sources, built)}
        self.link(self.program, built, *LIBRARIES)

    @staticmethod
    def link(target, inputs, *flags):
        done = subprocess.run([COMPILER, *map(str, inputs), "-o", str(target), *flags],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise build_failed(done.stderr[:2000])


class workshop:
    """Builds and runs tests against one state of the headers and the tools."""

    def __init__(self, folder, tree, doctest_main, original=None, changed=None, becomes=""):
        self.becomes = becomes
        self.folder = pathlib.Path(folder)
        self.include = pathlib.Path(tree) / "include"
        self.command = command(folder, tree, original and original.command, changed)
        self.doctest_main = doctest_main
        self.hooks = {}
        self.hooks_lock = threading.Lock()  # without mutants, several tests are built at a time

    def hooks_object(self, name="test_hooks"):
        with self.hooks_lock:
            if name not in self.hooks:
                self.hooks[name] = compile_object(ROOT / f"tests/support/{name}.cpp", self.include,
                                                  self.folder / f"{name}.o")
        return self.hooks[name]

    def build(self, test):
        sources, plugins = sources_of(test)
        folder = self.folder / test.replace("/", "_")
        folder.mkdir()
        if test.startswith("tools/"):
            return self.told_the_command(sources[0], folder)
        if sources[0].suffix == ".py":
            return self.wrapped(sources[0], folder)
        rule = sources[0].parent / "CMakeLists.txt"
        text = "".join(path.read_text() for path in sources)
        is_process = any(path.name == "main.cpp" for path in sources)
        rules = rule.read_text() if rule.exists() and is_process else ""
        rules += "NO_HOOKS" if re.search(r"#\s*include <allocscope/define_once/", text) else ""
        flags = [f'-DALLOCSCOPE_PLUGIN_FOLDER="{folder}"']
        flags += re.findall(r"\bCOMPILE_OPTIONS (-O\d|-g1)", rules)
        flags += re.findall(r"\bCOMPILE_OPTIONS .*(-gsplit-dwarf|-flto)", rules)
        flags += [f"-I{sources[0].parent}/{name}" for name in
                  re.findall(r"-I\$\{CMAKE_CURRENT_SOURCE_DIR\}/(\w+)", rules)]
        flags += [f"-std=c++{year}" for year in re.findall(r"\bCXX_STANDARD (\d+)", rules)]
        if test in BARE:
            flags.append("-fomit-frame-pointer")
        inputs = [compile_object(path, self.include, folder / f"{path.stem}.o", *flags)
                  for path in sources]
        if re.search(r"^// hooks: malloc", text, re.MULTILINE):
            inputs.append(self.hooks_object("test_malloc_hooks"))
        elif "NO_HOOKS" not in rules and test not in BARE:
            inputs.append(self.hooks_object())
        if "TEST_CASE" in text and "DOCTEST_CONFIG_IMPLEMENT" not in text:
            inputs.append(self.doctest_main)
        for path in plugins:
            subprocess.run([COMPILER, *FLAGS, "-O1", "-fPIC", "-shared", f"-I{self.include}",
                            str(path), "-o", str(folder / f"{path.stem}.so")], check=True)
        program = folder / "program"
        done = subprocess.run([COMPILER, *map(str, inputs), "-o", str(program), *LIBRARIES],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise build_failed(done.stderr[:2000])
        return program

    def told_the_command(self, script, folder):
        """A test of the command. The first lines of such a script say its arguments."""
        built = self.command.build()
        known = {"PROGRAM": built.program, "ALLOCSCOPE": built.program,
                 "LIBRARY": built.library, "COMPILER": COMPILER}
        usage = re.search(rf"{script.name}((?: [A-Z]+)+)", script.read_text())
        return self.script_for([script, *(known[word] for word in usage[1].split())], folder)

    def wrapped(self, script, folder):
        if "COMPILER FLAGS... -- OBJECTS..." in script.read_text().partition("\n")[0]:
            return self.script_for([script, COMPILER, "-std=c++17", f"-I{self.include}", "--",
                                    self.hooks_object()], folder)
        compiler = "clang++" if "__clang__" in self.becomes else COMPILER  # who sees a change
        return self.script_for([script, "--include", self.include, "--work", folder / "work",
                                "--compiler", compiler], folder)

    @staticmethod
    def script_for(arguments, folder):
        program = folder / "program"
        words = [sys.executable, *arguments]
        program.write_text("#!/bin/sh\nexec " + shlex.join(map(str, words)) + "\n")
        program.chmod(0o755)
        return program

    def run(self, program, seconds):
        """(exit code or None without an end, seconds, the last lines)"""
        start = time.monotonic()
        with open(program.with_suffix(".log"), "w+", encoding="utf-8", errors="replace") as log:
            child = subprocess.Popen(
                [str(program)], cwd=program.parent, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            try:
                code = child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                code = None
            log.seek(0)
            return code, time.monotonic() - start, log.read()[-1500:]


class judge:
    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.unchanged = None
        self.doctest_main = self.work / "doctest_main.o"
        self.usual_seconds = {}

    def check_unchanged(self, tests, jobs):
        """The tests that do not pass with the headers as they are."""
        compile_object(ROOT / "tests/support/doctest_main.cpp", ROOT / "include",
                       self.doctest_main, "-O0")
        folder = self.work / "unchanged"
        folder.mkdir()
        place = self.unchanged = workshop(folder, ROOT, self.doctest_main)
        if any(not test.startswith("tools/") for test in tests):
            place.hooks_object()
        failures = []

        def one(test):
            code, seconds, output = place.run(place.build(test), 20 * LEAST_SECONDS)
            self.usual_seconds[test] = seconds
            if code not in (0, CANNOT_RUN_HERE):
                failures.append(f"{test} fails without any mutant, exit code {code}:\n{output}")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, tests))
        return failures

    def try_mutant(self, number, each):
        """(is killed, text for the table)"""
        units = [test for test in each.tests if test.startswith("unit/")]
        if each.room in ROOMS_OF_REPORTS and units:
            quick = dataclasses.replace(each, tests=units)
            result = self.try_with(number, quick, {"test_hooks": self.unchanged.hooks_object()})
            if result[0]:
                return result
        return self.try_with(number, each, {})

    def try_with(self, number, each, hooks):
        folder = self.work / f"mutant_{number}"
        for part in ("include", "tools"):
            shutil.copytree(ROOT / part, folder / part)
        try:
            changed = apply(folder, each).relative_to(folder)
            place = workshop(folder, folder, self.doctest_main, self.unchanged, changed,
                             each.becomes)
            place.hooks.update(hooks)
            for test in each.tests:
                program = place.build(test)
                limit = LEAST_SECONDS + 10 * self.usual_seconds[test]
                code, _, output = place.run(program, limit)
                if code is None:
                    return True, f"{test}: no end in {limit:.0f} s"
                if code not in (0, CANNOT_RUN_HERE):
                    return True, f"{test}: {self.reason(code, output)}"
            return False, "SURVIVED " + ", ".join(each.tests)
        except (build_failed, cannot_apply) as error:
            return False, f"NOT BUILT: {error}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def reason(code, output):
        if code < 0:
            return signal.Signals(-code).name
        found = re.search(r"ERROR: (.+)|^(.*(?:FAILED|failed|expected).*)$", output, re.MULTILINE)
        return found.group(0).strip()[:100] if found else f"exit code {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", help="where the copies are made; a temporary folder")
    parser.add_argument("--list", action="store_true", help="the mutants, and what users would see")
    parser.add_argument("--room", help="only the mutants of ROOM.toml")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    mutants = [each for each in read_lists()
               if arguments.room in (None, each.room) and
               (not arguments.names or any(part in each.name for part in arguments.names))]
    if arguments.list:
        for each in mutants:
            print(f"{each.name}\n    {each.file}: {each.line}\n    -> {each.becomes or '(nothing)'}"
                  f"\n    {each.user}")
        return 0
    tests = sorted({test for each in mutants for test in each.tests})
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        bench = judge(folder)
        print(f"-- {len(tests)} tests without any mutant", flush=True)
        failures = bench.check_unchanged(tests, arguments.jobs)
        if failures:
            print("\n".join(failures))
            return 1
        print(f"-- {len(mutants)} mutants, {arguments.jobs} at a time\n"
              "| mutant | file | killed by |\n|---|---|---|", flush=True)
        killed = 0
        survivors = []
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = pool.map(lambda pair: bench.try_mutant(*pair), enumerate(mutants))
            for number, (each, (is_killed, text)) in enumerate(zip(mutants, results)):
                killed += is_killed
                if arguments.jobs > 1 and text.startswith("SURVIVED"):
                    survivors.append(number)
                    text = "nothing, while others were tried; see below"
                print(f"| {each.name} | {each.file} | {text} |", flush=True)
        for number in survivors:
            each = mutants[number]
            is_killed, text = bench.try_mutant(number, each)
            killed += is_killed
            print(f"| {each.name} | {each.file} | {text} |", flush=True)
    print(f"{killed} killed, {len(mutants) - killed} survived")
    return 0 if killed == len(mutants) and mutants else 1


if __name__ == "__main__":
    sys.exit(main())
