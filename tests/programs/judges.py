"""Three ways to count what a program asks malloc's family for, in equal environments.

valgrind     memcheck's "total heap usage"
shim         counting_shim.cpp, preloaded: knows nothing of allocscope
allocscope   the totals in the JSON of `allocscope run`

A program must not be able to tell which of them watches it: some copy their environment, some look
at its size. All get the same variables in the same order, LD_PRELOAD padded with empty names (which
the loader skips) to the same length, and the same file as COUNTING_SHIM_FILE; address randomisation
is off. Valgrind is called past Debian's wrapper, which would set more variables.
"""
import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = os.environ.get("ALLOCSCOPE_CXX", "g++")
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
PRELOAD_LENGTH = 480
ADDR_NO_RANDOMIZE = 0x0040000
PR_SET_PDEATHSIG = 1
SECONDS = 1800  # against hangs alone: 10,000 forks take ten minutes on a busy machine
# Where libraries and blocks lie by themselves. GLib's hash tables hold keys and values in 4 bytes
# as long as they fit, and below 4 GiB, where Valgrind puts everything, addresses do.
ABOVE_4_GIB = "--aspace-minaddr=0x100000000"
KIND_FREE, KIND_REALLOC = 1 << 62, 1 << 61
SUMMARY = re.compile(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes")
NAMES = ("allocations", "frees", "bytes_allocated")


class cannot_judge(Exception):
    pass


def watched(variables):
    """The variables for a program. If tests/no_alloc/shadow.py watches this process, it watches the
    program, too."""
    if "ALLOCSCOPE_SHADOW" not in os.environ:
        return variables
    libraries = [variables.get("LD_PRELOAD"), os.environ["LD_PRELOAD"]]
    return {**variables, "ALLOCSCOPE_SHADOW": os.environ["ALLOCSCOPE_SHADOW"],
            "LD_PRELOAD": ":".join(filter(None, libraries))}


class result:
    """What one run showed. counts: the three numbers in the order of NAMES, or None; rounded: how
    much more operator new of libstdc++ asked malloc for than it was asked for."""

    def __init__(self, code, stdout, stderr, counts=None, rounded=0, events=()):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        self.counts = counts
        self.rounded = rounded
        self.events = list(events)


def find_allocscope():
    """The command or None: $ALLOCSCOPE, else that of $ALLOCSCOPE_BUILD, else along PATH."""
    build = os.environ.get("ALLOCSCOPE_BUILD")
    for each in (os.environ.get("ALLOCSCOPE"), build and f"{build}/tools/allocscope",
                 shutil.which("allocscope")):
        if each and os.access(each, os.X_OK):
            return str(pathlib.Path(each).resolve())
    return None


def end_with_parent():
    """Between fork and exec: who is ended because time is up ends with it what it runs, for
    allocscope hands this wish on."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def quiet_child():
    """Between fork and exec: fixed addresses, no core file, signals as a shell would leave them."""
    end_with_parent()
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


class judges:
    def __init__(self, folder, allocscope=None, valgrind=None):
        self.folder = pathlib.Path(folder)
        self.allocscope = allocscope
        self.valgrind = valgrind
        self.counters = self.folder / "counters"
        self.shim = self.folder / "counting_shim.so"
        self.prefix = {}

    def build_library(self, name, *options):
        """A library to preload, from a source beside this file, with nothing but the C library."""
        path = self.folder / f"{''.join([name, *options])}.so"
        if not path.exists():
            subprocess.run([COMPILER, "-std=c++17", "-O2", "-shared", "-fPIC", "-nodefaultlibs",
                            *options, str(HERE / f"{name}.cpp"), "-lc", "-o", str(path)],
                           check=True)
        return path

    def build_shim(self):
        self.build_library("counting_shim")

    # -- environments

    def environment(self, preload, cwd=None, more=None):
        return {"PATH": PATH, "LC_ALL": "C", "TZ": "UTC", "HOME": str(cwd or self.folder),
                "LD_PRELOAD": preload, "COUNTING_SHIM_FILE": str(self.counters), **(more or {})}

    def preload_for(self, judge, library=""):
        """LD_PRELOAD for the start of a judge, so that the program's is PRELOAD_LENGTH long. The
        library comes behind the judge's."""
        if judge == "bare":
            return library.ljust(PRELOAD_LENGTH, ":")
        if judge == "shim":
            return f"{self.shim}:{library}".ljust(PRELOAD_LENGTH, ":")
        if judge not in self.prefix:
            seen = self.start(judge, ["/usr/bin/env", "-0"], ":").stdout
            value = re.search(rb"(?:^|\0)LD_PRELOAD=([^\0]*)", seen)
            if not value:
                raise cannot_judge(f"a program under {judge} has no LD_PRELOAD:\n{seen!r}")
            self.prefix[judge] = len(value[1]) - 1
        return library.ljust(PRELOAD_LENGTH - self.prefix[judge], ":")

    # -- runs

    def run_process(self, command, environment, cwd=None, stdin=None):
        with open(stdin or os.devnull, "rb") as input_file:
            return subprocess.run(command, cwd=cwd or self.folder, stdin=input_file,
                                  capture_output=True, env=environment, timeout=SECONDS,
                                  preexec_fn=quiet_child)

    def start(self, judge, command, preload, cwd=None, stdin=None, environment=None,
              events=0, record="exact"):
        """Runs a command under one judge, with this LD_PRELOAD outside."""
        variables = self.environment(preload, cwd, environment)
        if judge in ("bare", "shim"):
            with open(self.counters, "wb") as file:
                file.truncate(4096 + 8 * events)
            done = self.run_process(command, variables, cwd, stdin)
            return self.read_shim(done, events) if judge == "shim" else \
                result(done.returncode, done.stdout, done.stderr)
        if judge == "valgrind":
            return self.under_valgrind(command, variables, cwd, stdin, events)
        return self.under_allocscope(command, variables, cwd, stdin, record)

    def judge(self, judge, command, library="", **more):
        return self.start(judge, command, self.preload_for(judge, library), **more)

    def read_shim(self, done, wanted):
        data = self.counters.read_bytes()
        owner, born, freed, size, events, _, is_complete, rounded = struct.unpack_from("8Q", data)
        if not owner or not is_complete:
            return result(done.returncode, done.stdout, done.stderr)
        words = struct.unpack_from(f"{min(events, wanted)}Q", data, 64)
        return result(done.returncode, done.stdout, done.stderr, (born, freed, size), rounded,
                      [describe(word) for word in words])

    def under_valgrind(self, command, variables, cwd, stdin, events):
        for old in self.folder.glob("valgrind.*.log"):
            old.unlink()
        log = self.folder / "valgrind.%p.log"
        options = ["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no",
                   "--run-libc-freeres=no", "--run-cxx-freeres=no", "--trace-children=no",
                   "--keep-stacktraces=none", ABOVE_4_GIB, f"--log-file={log}"]
        if events:
            options.append("--trace-malloc=yes")
        with open(stdin or os.devnull, "rb") as input_file:
            child = subprocess.Popen([self.valgrind, *options, *command], env=variables,
                                     cwd=cwd or self.folder, stdin=input_file,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     preexec_fn=quiet_child)
            stdout, stderr = child.communicate(timeout=SECONDS)
        # Children of the program write a summary each; the program itself has the pid we started.
        path = self.folder / f"valgrind.{child.pid}.log"
        text = path.read_text(errors="replace") if path.exists() else ""
        found = SUMMARY.search(text)
        counts = tuple(int(each.replace(",", "")) for each in found.groups()) if found else None
        return result(child.returncode, stdout, stderr, counts, 0,
                      traced_events(text, child.pid) if events else ())

    def under_allocscope(self, command, variables, cwd, stdin, record):
        output = self.folder / "totals.json"
        output.unlink(missing_ok=True)
        done = self.run_process(
            [self.allocscope, "run", "--record", record, "--format", "json",
             "--output", str(output), "--", *command], variables, cwd, stdin)
        code = done.returncode
        if code > 128:  # as a shell says it; the others say -n
            code = 128 - code
        counts = None
        if output.exists():
            totals = json.loads(output.read_text())["totals"]
            counts = tuple(totals[name] for name in NAMES)
        return result(code, done.stdout, done.stderr, counts)


def describe(word):
    if word == KIND_FREE:
        return "free"
    if word & KIND_REALLOC:
        return f"realloc {word ^ KIND_REALLOC}"
    return f"allocate {word}"


def traced_events(log, pid):
    """Valgrind's --trace-malloc=yes in the words of describe()."""
    events = []
    for line in log.splitlines():
        found = re.match(rf"--{pid}-- (\w+)\((.*?)\)(.*)", line)
        if not found:
            continue
        name, given = found[1], re.findall(r"0x[0-9A-Fa-f]+|\d+", found[2])
        numbers = [int(each, 0) for each in given]
        if name in ("free", "cfree") or name.startswith("_Zd"):
            if numbers[0]:
                events.append("free")
        elif name == "realloc":
            kind = "realloc" if numbers[0] else "allocate"
            events.append("free" if numbers[0] and not numbers[1] else f"{kind} {numbers[1]}")
        elif name == "calloc":
            events.append(f"allocate {numbers[0] * numbers[1]}")
        elif name in ("malloc", "valloc", "pvalloc") or name.startswith("_Zn"):
            events.append(f"allocate {numbers[0]}")
        elif name in ("memalign", "posix_memalign", "aligned_alloc"):
            size = re.search(r"size (\d+)", found[2])
            if size and "memalign" == name:
                events.append(f"allocate {size[1]}")
    return events
