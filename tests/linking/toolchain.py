"""What the scripts of this folder share: compile, link and run small programs, in parallel.

Every script is called as

    script.py --include HEADERS --work FOLDER [--compiler g++ --compiler clang++]

and ends with exit code 0 when all its cases hold, 1 with the failures listed, 77 when it was
skipped.
"""
import argparse
import concurrent.futures
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
LIBRARIES = ["-pthread", "-ldl"]
SKIPPED = 77


class failure(Exception):
    """A case that does not hold, with what there is to see."""


def shown(command):
    return " ".join(map(str, command))


def run(command, timeout=600, must_succeed=True, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          timeout=timeout, errors="replace", **more)
    if must_succeed and done.returncode != 0:
        raise failure(f"exit code {done.returncode} of\n  {shown(command)}\n"
                      f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


class bench:
    """One work folder, the headers under test, and the compilers to try."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--include", required=True, type=pathlib.Path)
        parser.add_argument("--work", required=True, type=pathlib.Path)
        parser.add_argument("--compiler", action="append")
        arguments = parser.parse_args()
        self.include = arguments.include.resolve()
        self.work = arguments.work.resolve()
        self.compilers = [name for name in arguments.compiler or ["g++", "clang++"]
                          if shutil.which(name)]
        if not self.compilers:
            print("skipped: no compiler found")
            sys.exit(SKIPPED)
        headers = sorted(self.include.rglob("*.hpp"))
        self.version = ";".join(f"{path}:{path.stat().st_mtime_ns}" for path in headers)

    def compile(self, compiler, source, *flags, standard="c++17"):
        """The object of a source file; reused until a header, the source or a flag changes."""
        source = SOURCES / source
        # Takes a third of the time, and changes only what a debugger knows of variables.
        quick = ["-fno-var-tracking"] if "clang" not in pathlib.Path(compiler).name else []
        command = [compiler, f"-std={standard}", *quick, *flags, f"-I{self.include}", "-c", source]
        key = hashlib.sha256("\0".join(
            [shown(command), self.version, str(source.stat().st_mtime_ns)]).encode()).hexdigest()
        wanted = self.work / f"{source.stem}-{key[:16]}.o"
        wanted.parent.mkdir(parents=True, exist_ok=True)
        # So that no two cases make the same one, of this script or of another that runs meanwhile.
        with open(wanted.with_suffix(".lock"), "w", encoding="ascii") as its_lock:
            fcntl.flock(its_lock, fcntl.LOCK_EX)
            if not wanted.exists():
                handle, unfinished = tempfile.mkstemp(suffix=".o", dir=wanted.parent)
                os.close(handle)
                run([*command, "-o", unfinished], timeout=600)
                os.replace(unfinished, wanted)
        return wanted

    def hooks(self, compiler, *flags, standard="c++17"):
        """The once-per-program part. It takes the longest to compile, so most scripts share one."""
        return self.compile(compiler, "hooks.cpp", *(flags or ("-O0", "-g", "-fPIC")),
                            standard=standard)

    def link(self, compiler, output, *inputs):
        output.parent.mkdir(parents=True, exist_ok=True)
        run([compiler, *inputs, "-o", output, *LIBRARIES], timeout=600)
        return output

    def folder(self, name):
        """An empty folder for one case."""
        folder = self.work / "".join(c if c.isalnum() or c in "+-" else "_" for c in name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def can_link(self, compiler, *flags):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "probe.cpp"
            # Of the C++ library without a header of it, which would take most of the time.
            source.write_text("int main() { delete new int; }\n")
            return run([compiler, source, *flags, "-o", pathlib.Path(folder) / "probe"],
                       must_succeed=False).returncode == 0


def check_all(cases):
    """Runs (name, function) pairs, two at a time; ends the script."""
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        running = [(name, pool.submit(function)) for name, function in cases]
        for name, future in running:
            try:
                note = future.result()
                print(f"ok      {name}{': ' + note if note else ''}", flush=True)
            except (failure, subprocess.SubprocessError) as error:
                failures += 1
                print(f"FAILED  {name}\n{error}", flush=True)
    if not cases:
        print("FAILED  there was nothing to check")
        failures = 1
    print(f"{len(cases)} cases, {failures} failed")
    sys.exit(1 if failures else 0)


def expect(actual, wanted, what="output"):
    if actual != wanted:
        raise failure(f"{what} is\n{actual}\ninstead of\n{wanted}")


def expect_in(part, whole, what="output"):
    if part not in whole:
        raise failure(f"{what} lacks \"{part}\":\n{whole}")
