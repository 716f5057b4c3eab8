#!/usr/bin/env python3
"""Test suites of others, bare and under `allocscope run`: no test may fail that passes bare.

    foreign_suites.py ALLOCSCOPE
        [--suites python,glib,stress-ng,systemd,pango,gdk-pixbuf,perl,git,sqlite]

Debian: libpython3.11-testsuite libglib2.0-tests stress-ng systemd-tests pango1.0-tests
gdk-pixbuf-tests. The others are not packaged: the folder ALLOCSCOPE_TEST_SOURCES has the trees
`perl`, `git` and `sqlite`, as `apt-get source` brings them, after `make test_prep`, `make` and
`make testfixture`. What is not there is left out, and said. Every suite is run bare, with every
event recorded, and sampled every 4 KiB; its children are followed. Prints what passed in each way,
and every difference; exit code 1 when there is one.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from judges import end_with_parent

PYTHON = """test_list test_dict test_set test_bytes test_json test_re test_gc test_ctypes
    test_threading test_subprocess test_zlib test_unicode test_pickle test_signal test_fork1 test_os
    test_mmap test_array test_weakref test_struct test_float test_collections test_itertools
    test_select test_thread test_queue test_csv test_heapq test_sort test_faulthandler test_posix
    test_wait3 test_wait4 test_multiprocessing_fork test_multiprocessing_spawn test_io
    test_tracemalloc test_embed test_sys test_exceptions test_generators test_asyncio""".split()
STRESSORS = ("--malloc 2 --fork 2 --vfork 1 --clone 1 --mmapfork 1 --brk 1 --sigsegv 1 --bsearch 1"
             " --tree 1 --vm 1 --pthread 1 --daemon 1 --exec 1 --sigfpe 1 --switch 1").split()
SOURCES = pathlib.Path(os.environ.get("ALLOCSCOPE_TEST_SOURCES", "/none")).resolve()
INSTALLED = pathlib.Path("/usr/libexec/installed-tests")
GLIB = INSTALLED / "glib"
SYSTEMD = pathlib.Path("/usr/lib/systemd/tests")
# Of GLib: they wait for a bus or a mount that is not there, take minutes, or look at time.
NOT_OF_GLIB = {"642026", "642026-ec", "timeout", "timer", "gdbus-connection-flush", "threadtests"}
# Of systemd: they change mounts, control groups and devices, or ask a network.
NOT_OF_SYSTEMD = ("test-bpf", "test-cgroup", "test-execute", "test-engine", "test-loop-block",
                  "test-udev", "test-mount", "test-ns", "test-namespace", "test-sleep", "test-boot",
                  "test-nss-hosts", "test-dns", "test-resolve")
# Of SQLite: they run others of this list, or take minutes.
NOT_OF_SQLITE = re.compile(
    r"(all|permutations|quick|veryquick|full|extraquick|mallocAll|soak|crash|fuzz|speed|threadtest|"
    r"wal[3-9]|bigfile|bigsort|corrupt|sort[2-9]|vtab_shared|async|memleak|rtree|backup_malloc|"
    r"malloc|ioerr|savepoint6|tkt-5d863f|randexpr|like3|selectA|e_)")
WAYS = {"bare": None, "exact": ["--record", "exact"],
        "sampled": ["--record", "sampled", "--sample-bytes", "4096"]}


def under(program, way, folder):
    if WAYS[way] is None:
        return []
    return [program, "run", "--children", "follow", "--summary", "--output",
            str(folder / "%p.json"), *WAYS[way], "--"]


def outcome(command, environment=None, seconds=1200, folder=None):
    """Exit code and output; a code of its own when time is up."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False, stdin=subprocess.DEVNULL,
                              cwd=folder, preexec_fn=end_with_parent,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        return "time is up", ""
    # A command that runs another one says of a signal what a shell says.
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return code, done.stdout + done.stderr


def python(prefix):
    """What became of each test file."""
    command = [*prefix, "/usr/bin/python3", "-m", "test", "-j2", "--timeout", "600", *PYTHON]
    _, text = outcome(command, {"PYTHONMALLOC": "malloc"}, 3600)
    found = {name: "passed" for name in PYTHON}
    for line in text.splitlines():
        told = re.search(r"\b(test_\w+) (failed|crashed|skipped|timed out|worker)", line)
        if told and told.group(1) in found:
            found[told.group(1)] = told.group(2)
    if not re.search(r"Tests result: |tests? (OK|failed)", text):
        found["the end"] = "not reached"
    return found


def programs_of(folder, is_left_out):
    return sorted(each for each in folder.iterdir()
                  if each.is_file() and os.access(each, os.X_OK) and "." not in each.name
                  and not is_left_out(each.name))


def exit_codes(prefix, programs, arguments, folder):
    """The exit code of each test program; they find their files in `folder`."""
    environment = {"G_TEST_SRCDIR": str(folder), "G_TEST_BUILDDIR": str(folder)}
    with tempfile.TemporaryDirectory() as place:  # some write files where they are
        return {each.name: outcome([*prefix, str(each), *arguments], environment, 240, place)[0]
                for each in programs}


def glib(prefix):
    programs = programs_of(GLIB, NOT_OF_GLIB.__contains__)
    return exit_codes(prefix, programs, ["--tap"], GLIB)


def systemd(prefix):
    programs = programs_of(SYSTEMD, lambda name: name.startswith(NOT_OF_SYSTEMD)
                           or not name.startswith("test-"))
    return exit_codes(prefix, programs, [], SYSTEMD)


def pango(prefix):
    folder = INSTALLED / "pango"
    return exit_codes(prefix, programs_of(folder, lambda name: False), ["--tap"], folder)


def gdk_pixbuf(prefix):
    folder = INSTALLED / "gdk-pixbuf"
    return exit_codes(prefix, programs_of(folder, lambda name: False), ["--tap"], folder)


def stress_ng(prefix):
    code, text = outcome([*prefix, "stress-ng", *STRESSORS, "--verify", "-t", "5"])
    complaints = [line for line in text.splitlines() if "fail:" in line or "error:" in line]
    return {"exit code": code, "complaints": len(complaints)}


def scripts(prefix, names, words_for, environment, folder):
    """What became of each test script: exit code, and the tests that it says have failed."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            code, text = outcome([*prefix, *words_for(name, place)], environment, 600,
                                 folder or place)
            wrong = re.findall(r"^not ok (?!.*# T.DO).*|^! \S+ expected", text, re.MULTILINE)
            found[name] = (code, *sorted(wrong)) if wrong else code
    return found


def perl(prefix):
    folder = SOURCES / "perl/t"
    parts = ("base", "cmd", "comp", "io", "op", "re", "uni", "mro", "lib", "class")
    names = sorted(str(each.relative_to(folder)) for part in parts
                   for each in (folder / part).glob("*.t"))
    return scripts(prefix, names, lambda name, place: ["./perl", "-I../lib", name],
                   {"PERL_CORE": "1", "PERL_SKIP_TTY_TEST": "1", "LC_ALL": "C"}, folder)


def git(prefix):
    folder = SOURCES / "git/t"
    names = sorted(each.name for each in folder.glob("t[0-9]*.sh"))
    return scripts(prefix, names, lambda name, place: ["sh", name, f"--root={place}"],
                   {"TEST_NO_MALLOC_CHECK": "1", "LC_ALL": "C"}, folder)


def sqlite(prefix):
    tree = SOURCES / "sqlite"
    names = sorted(each.name for each in (tree / "test").glob("*.test")
                   if not NOT_OF_SQLITE.match(each.name))
    return scripts(prefix, names, lambda name, place: [str(tree / "testfixture"),
                                                       str(tree / "test" / name)], {}, None)


SUITES = {"python": (python, pathlib.Path("/usr/lib/python3.11/test/test_dict.py")),
          "glib": (glib, GLIB),
          "stress-ng": (stress_ng, pathlib.Path(shutil.which("stress-ng") or "/none")),
          "systemd": (systemd, SYSTEMD),
          "pango": (pango, INSTALLED / "pango"),
          "gdk-pixbuf": (gdk_pixbuf, INSTALLED / "gdk-pixbuf"),
          "perl": (perl, SOURCES / "perl/t/perl"),
          "git": (git, SOURCES / "git/t/helper/test-tool"),
          "sqlite": (sqlite, SOURCES / "sqlite/testfixture")}


def compare(name, suite, program):
    results = {}
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            results[way] = suite(under(program, way, pathlib.Path(folder)))
            reports = len(list(pathlib.Path(folder).iterdir()))
        good = sum(1 for each in results[way].values() if each in ("passed", 0))
        print(f"{name}, {way}: {good} of {len(results[way])} good, {reports} programs recorded",
              flush=True)
    # A test that gives two answers bare says nothing.
    differing = [test for test in results["bare"]
                 if len({results[way].get(test) for way in WAYS}) > 1]
    again = suite([]) if differing else results["bare"]
    changes = 0
    for test in differing:
        seen = {way: results[way].get(test) for way in WAYS}
        if again.get(test) != seen["bare"]:
            print(f"{name}: {test} differs bare, too: {seen['bare']}, {again.get(test)}")
            continue
        print(f"{name}: {test} DIFFERS: {seen}")
        changes += 1
    return changes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--suites", default=",".join(SUITES))
    arguments = parser.parse_args()
    changes = 0
    for name in arguments.suites.split(","):
        suite, needed = SUITES[name]
        if not needed.exists():
            print(f"{name}: left out, {needed} is not installed")
            continue
        changes += compare(name, suite, str(pathlib.Path(arguments.program).resolve()))
    sys.exit(1 if changes else 0)


main()
