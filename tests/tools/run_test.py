"""run_test.py PROGRAM COMPILER

`allocscope run`: what it answers, its exit codes, what it says about bad input, and that the
program's own output, input, signals and environment stay as they are.
"""
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from recorded_programs import WITHOUT_CXX, Recorder, compiled, totals

PROGRAM, COMPILER = sys.argv[1:3]

KEEPS = r"""
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
static void* kept[100];
__attribute__((noinline)) void keep() { for (int i = 0; i < 100; ++i) kept[i] = malloc(30); }
int main(int argc, char** argv) {
    keep();
    for (int i = 0; i < 50; ++i) free(malloc(7));
    const char* how = argc > 1 ? argv[1] : "return";
    if (strcmp(how, "_exit") == 0) _exit(3);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "kill") == 0) kill(getpid(), 9);
    if (strcmp(how, "crash") == 0) *(volatile int*)nullptr = 1;
    if (strcmp(how, "exec") == 0) execl("/bin/true", "true", nullptr);
    if (strcmp(how, "wait") == 0) pause();
    return 4;
}
"""


def refuses(words, *expected, **environment):
    done = subprocess.run([PROGRAM, "run", *words], capture_output=True, text=True, timeout=600,
                          check=False, env={**os.environ, **environment})
    assert done.returncode == 2, (words, done.returncode, done.stderr)
    assert done.stdout == "", done.stdout
    for text in ("allocscope run: ", *expected):
        assert text in done.stderr, (text, done.stderr)


def is_complete_however_the_program_ends(recorder, program):
    numbers = (150, 50, 3350)
    for how, code in (("return", 4), ("_exit", 3), ("abort", 128 + signal.SIGABRT),
                      ("kill", 128 + signal.SIGKILL), ("crash", 128 + signal.SIGSEGV)):
        report = recorder.report([program, how], code=code)
        assert totals(report) == numbers, (how, report["totals"])
        assert report["lost"]["no_memory_for_record"] == 0, report["lost"]
        assert not any(report["lost"].values()), report["lost"]
        row = report["rows"][0]
        assert (row["objects"], row["bytes"], row["function"]) == (100, 3000, "keep()"), row
        assert row["file"].endswith("keeps.cpp") and row["line"] == 7, row
    first, second = recorder.reports([program, "exec"])
    assert totals(first) == numbers and second["window"] == "true", (first, second)


def counts_and_samples(recorder, program):
    report = recorder.report([program], "--record", "counters", code=4)
    assert totals(report) == (150, 50, 3350) and report["rows"] == [], report
    report = recorder.report([program], "--record=sampled", "--sample-bytes=1", code=4)
    assert totals(report) == (150, 50, 3350), report
    report = recorder.report([program], "--frames", "1", code=4)
    assert {len(row["frames"]) for row in report["rows"]} == {1}, report


def places_rows_in_callers(recorder, program):
    (row,) = recorder.report([program], "--library-frames", "keep", code=4)["rows"]
    assert (row["function"], row["line"]) == ("main", 9), row


def text_and_summary(recorder, program):
    done = recorder.run([program], code=4)
    for line in ("  allocated         150 objects        3350 B",
                 "    100  3000 B  100.0%  keeps.cpp:7:?  keep()"):
        assert line in done.stderr.splitlines(), done.stderr
    done = recorder.run([program], "--summary", code=4)
    assert done.stderr == ("allocscope: keeps: 150 allocations, 50 frees, 3,350 bytes allocated;"
                           " alive: 100 objects of 3,000 bytes; peak 3,007 bytes\n"), done.stderr
    path = recorder.folder / "%n-%p.txt"
    recorder.run([program], "--output", path, code=4)
    (made,) = recorder.folder.glob("keeps-*.txt")
    assert made.stat().st_mode & 0o777 == 0o600
    environment = {**os.environ, "ALLOCSCOPE_SUMMARY": "1", "ALLOCSCOPE_RECORD": "counters"}
    done = recorder.run([program], code=4, env=environment)
    assert done.stderr.startswith("allocscope: keeps: 150 allocations"), done.stderr


def keeps_the_code_when_nobody_reads(program):
    """The reader of stderr has gone, as with `2>&1 | head`: the command may not end before the
    program, nor as if a signal had ended that."""
    for how, options in (("return", ["--summary"]), ("return", []), ("wait", ["--every", "0.05"])):
        reader, writer = os.pipe()
        os.close(reader)
        with subprocess.Popen([PROGRAM, "run", *options, "--", program, how],
                              stderr=writer) as started:
            os.close(writer)
            if how == "wait":
                wait_for_child(started.pid)
                time.sleep(0.3)
                started.send_signal(signal.SIGTERM)
            code = 128 + signal.SIGTERM if how == "wait" else 4
            assert started.wait(60) == code, (how, options, started.returncode)


def records_with_closed_descriptors(recorder, program):
    """What is printed must not go into the recording, as if that were stderr: each child ends, and
    gets its line, before the next one begins."""
    for closed in ("<&- >&- 2>&-", "2>&-"):
        reports = recorder.folder / "closed"
        reports.mkdir()
        rounds = '"$1"; sleep 0.6; "$1"; sleep 0.6; "$1"; exit 3'
        command = f'exec "$0" run --children follow --summary --output "$2" -- "$3" "$1" {closed}'
        script = recorder.folder / "rounds"
        script.write_text(f"#!/bin/sh\n{rounds}\n")
        script.chmod(0o755)
        done = subprocess.run(["sh", "-c", command, PROGRAM, program, reports / "%n-%p.json",
                               script], timeout=600, check=False)
        assert done.returncode == 3, done
        found = [each.name for each in reports.iterdir()]
        assert sum(name.startswith("keeps-") for name in found) == 3, found
        shutil.rmtree(reports)


def draws_a_live_view(recorder, program):
    """In a terminal of 80 columns and 20 lines; keys change the order while the program waits."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 80, 0, 0))
    command = [recorder.program, "run", "--live", "--every", "0.1", "--summary", "--",
               str(program), "wait"]
    view = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=inside, text=False)
    os.close(inside)
    seen = b""

    def wait_for(wanted):
        nonlocal seen
        while wanted not in seen:
            assert select.select([terminal], [], [], 60)[0], (wanted, seen[-3000:])
            seen += os.read(terminal, 65536)
        seen = seen[seen.index(wanted):]

    def wait_for_width(least, most):
        """For a picture whose longest line has so many columns."""
        nonlocal seen
        while True:
            pictures = re.findall(rb"\x1b\[H(.*?)\x1b\[J", seen, re.S)
            lines = pictures[-1].split(b"\x1b[K\r\n") if pictures else [b""]
            if least <= max(len(line) for line in lines) <= most:
                return
            assert select.select([terminal], [], [], 60)[0], seen[-3000:]
            seen += os.read(terminal, 65536)

    wait_for(b"\x1b[?1049h")
    wait_for(b"by live bytes; b bytes, o objects")
    os.write(terminal, b"n")
    wait_for(b"by allocations;")
    os.write(terminal, b"t")
    wait_for(b"  type\x1b[K")
    os.write(terminal, b"p")  # no picture until the next key
    os.write(terminal, b"m")
    wait_for(b"  module\x1b[K")
    os.write(terminal, b"p")
    for columns in (50, 80):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
        wait_for_width(columns - 29, columns)
    wait_for(b"t types, m modules, p pause, q leave\x1b[K")
    for line in seen.split(b"\x1b[K"):
        assert len(line.strip()) <= 80 + 8, line
    os.write(terminal, b"q")
    wait_for(b"\x1b[?1049l")
    wait_for(b"bytes alive")  # the line of progress: the program goes on
    assert view.poll() is None
    view.send_signal(signal.SIGTERM)
    wait_for(b"allocations, ")  # the summary, on the screen of before
    assert view.wait(timeout=60) == 128 + signal.SIGTERM
    os.close(terminal)
    refused = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             timeout=60, check=False)
    assert refused.returncode == 2 and "--live draws on the terminal" in refused.stderr, refused


def fits_the_terminal(recorder, program):
    """One line of progress, and the first line of a live view, in a terminal of 40 columns. The
    characters of the name have two bytes each; a sampled window has estimates."""
    named = recorder.folder / ("\u00e9" * 60)
    named.hardlink_to(program)
    for options in ([], ["--live"]):
        terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 40, 0, 0))
        command = [recorder.program, "run", *options, "--every", "0.1", "--record", "sampled",
                   "--summary", "--", str(named), "wait"]
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=inside)
        os.close(inside)
        seen = b""
        while seen.count(b"\x1b[K") < 4:
            assert select.select([terminal], [], [], 60)[0], seen
            seen += os.read(terminal, 65536)
        started.send_signal(signal.SIGTERM)
        while select.select([terminal], [], [], 60)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:  # the command has ended
                break
        assert started.wait(60) == 128 + signal.SIGTERM
        os.close(terminal)
        lines = re.split(r"[\r\n]+|\x1b\[[?0-9]*[a-zA-Z]", seen.decode())
        drawn = [line for line in lines if line.startswith("\u00e9")]
        assert drawn and all(len(line) == 40 and line.endswith("...") for line in drawn), drawn
        assert "peak ~" in lines[-2], lines[-2]


def writes_every_format(recorder, program):
    begins = {"txt": b"allocscope report of", "json": b"{", "csv": b"file,line,",
              "pb.gz": b"\x1f\x8b", "allocscope": b"allocscope snapshot\n",
              "folded": b"", "speedscope.json": b"{\"$schema\"", "dhat.json": b"{\"dhatFile",
              "heaptrack": b"v 10400 3\n", "massif": b"desc: ", "callgrind": b"# callgrind",
              "html": b"<!doctype html>"}
    for ending, begin in begins.items():
        path = recorder.folder / f"heap.{ending}"
        done = recorder.run([program], "--output", path, code=4)
        assert done.stderr == "" and path.read_bytes().startswith(begin), (ending, done.stderr)
    assert (recorder.folder / "heap.folded").read_text().endswith(";main;keep() 3000\n")
    path = recorder.folder / "named.txt"
    recorder.run([program], "--output", path, "--format", "csv", code=4)
    assert path.read_bytes().startswith(begins["csv"])
    assert ";main;keep() 3000\n" in recorder.run([program], "--format=folded", code=4).stderr
    done = recorder.run([program], "--record=counters", "--format=folded", code=4)
    assert "the window only counted, so there are no stacks" in done.stderr, done.stderr


def keeps_secrets(recorder, program):
    """Arguments, the environment and the contents of the heap are in no report; nobody else may
    read it."""
    command = ["sh", "-c", "exec \"$0\" wait-not secret-argument", program]
    before = os.umask(0)
    for ending in ("txt", "json", "csv", "allocscope", "folded", "speedscope.json", "dhat.json",
                   "heaptrack", "massif", "callgrind", "html", "pb.gz"):
        for options in ([], ["--include-cmdline"]):
            path = recorder.folder / f"secret.{ending}"
            recorder.run(command, *options, "--output", path, "--every", "100", code=4,
                         env={**os.environ, "SECRET": "secret-variable"})
            written = path.read_bytes()
            if ending == "pb.gz":
                written = gzip.decompress(written)
            assert path.stat().st_mode & 0o777 == 0o600, ending
            assert b"secret-variable" not in written, ending
            assert b"secret-argument" not in written or options, ending
            has_command = ending not in ("csv", "folded", "speedscope.json", "txt")
            assert not has_command or not options or b"secret-argument" in written, ending
            path.unlink()
    os.umask(before)


def says_what_is_wrong(program):
    refuses([], "no command is given", "allocscope run [options] -- COMMAND")
    refuses(["--"], "no command is given")
    refuses(["--record", "all", "--", program], '"all"', "exact, sampled or counters")
    refuses(["--sample-bytes", "0", program], '"0"', "from 1 to 1T")
    refuses(["--sample-bytes", "2T", program], '"2T"', "from 1 to 1T")
    for wrong in ("64KB", "K", "1.5M", "4 K", "-1", ""):
        refuses(["--sample-bytes=" + wrong, program], f'"{wrong}"', "such as 4096, 64K, 10MiB")
    refuses(["--frames", "200", program], '"200"', "from 1 to 128")
    refuses(["--frames", "-1", program], '"-1"')
    refuses(["--every", "0", program], '"0"', "seconds")
    refuses(["--on-signal", "KILL", program], '"KILL"', "USR1")
    refuses(["--children", "some", program], '"some"', "follow or ignore")
    refuses(["--output", "a.docx", program], '"a.docx"', ".json")
    formats = ("text", "html", "json", "csv", "snapshot", "pprof", "folded", "speedscope",
               "dhat", "heaptrack", "massif", "callgrind")
    refuses(["--format", "xml", program], '"xml"', *formats)
    refuses(["--format", "pprof", program], '"pprof"', "--output")
    refuses(["--loud", program], '"--loud"', "--help")
    refuses(["--frames"], "--frames needs a value")
    refuses(["--memory=yes", program], "--memory takes no value", "=yes")
    refuses(["--library-frames", "*", program], '"*"', "fits every frame")
    refuses([program], 'ALLOCSCOPE_SOURCES has "/build"', "not FROM=TO",
            ALLOCSCOPE_SOURCES="/a=/b:/build:/c=/d")
    refuses([program], 'ALLOCSCOPE_RECORD is "all"; it must be exact, sampled or counters',
            ALLOCSCOPE_RECORD="all")
    refuses(["--every", "1e10", program], '"1e10"', "from 0.01 to 1000000000")
    refuses(["--output", "/no/such/folder/heap.txt", program], '"/no/such/folder/heap.txt"',
            'to "/no/such/folder/": No such file or directory')
    refuses(["--executable", "/no/such/file", program], '"/no/such/file"', "No such file")
    refuses(["--", "/no/such/program"], '"/no/such/program"', "No such file")
    refuses(["--", "/etc/passwd"], '"/etc/passwd"', "Permission denied")
    helped = ["run", "--output", "--help", "--summary", "--help", "--", program]
    done = subprocess.run([PROGRAM, *helped], capture_output=True, text=True, check=True)
    for option in ("--record", "--sample-bytes", "--frames", "--output", "--format", "--children",
                   "--every", "--on-signal", "--memory", "--summary", *formats):
        assert option in done.stdout, option


def shows_what_it_cannot_write(recorder, program):
    """A program may have run for hours; the report is not lost with its file."""
    done = recorder.run([program], "--output", "/dev/full", "--format=csv", code=4)
    said = ("cannot write report to '/dev/full': No space left on device; the report follows as"
            " text\n")
    assert said in done.stderr, done.stderr
    report = done.stderr[done.stderr.index(said):]
    assert "allocated         150 objects" in report, report
    assert re.search(r"\d+ +\d+ B +[0-9.]+% .*keep", report), report


def says_that_help_was_not_written():
    for words in (["--help"], ["--version"], ["run", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False)
        assert done.returncode == 2 and "No space left" in done.stderr, (words, done)


def says_that_nothing_can_be_loaded(recorder, folder, program):
    fixed = compiled(folder, "fixed", "int main() { return 5; }", COMPILER, "-static")
    done = recorder.run([fixed], code=5)
    assert "is statically linked" in done.stderr, done.stderr
    # What counts is the file that is executed, not the name that it is given.
    done = recorder.run([program], "--executable", fixed, code=5)
    assert f'"{fixed}" is statically linked' in done.stderr, done.stderr
    assert totals(recorder.report([fixed], "--executable", program, code=4)) == (150, 50, 3350)
    script = pathlib.Path(folder) / "script"
    script.write_text(f"#!{fixed}\n")
    script.chmod(0o755)
    assert "is statically linked" in recorder.run([script], code=5).stderr
    own_malloc = compiled(folder, "checked", "int main() { return 6; }", COMPILER,
                          "-fsanitize=address")
    assert "AddressSanitizer" in recorder.run([own_malloc], code=6).stderr
    # The name of musl's loader, behind which is the loader that this system has.
    loader = pathlib.Path(folder) / "ld-musl-x86_64.so.1"
    loader.symlink_to("/lib64/ld-linux-x86-64.so.2")
    of_musl = compiled(folder, "of_musl", "int main() { return 7; }", COMPILER,
                       f"-Wl,--dynamic-linker={loader}")
    assert "is linked with musl" in recorder.run([of_musl], code=7).stderr


def starts_programs_with_sanitizers(recorder, folder):
    """AddressSanitizer ends a program if another library comes first, unless it is told not to."""
    sound = compiled(folder, "sound", "int main() { return 6; }", COMPILER, "-fsanitize=address")
    text = "#include <cstdlib>\nint main() { auto* p = static_cast<char*>(std::malloc(9));" \
           " static_cast<volatile char*>(p)[10] = 1; std::free(p); }"
    unsound = compiled(folder, "unsound", text, COMPILER, "-fsanitize=address")
    for follow in ([], ["--children", "follow"]):
        done = recorder.run(["sh", "-c", f"{sound}; exit $?"], "--summary", *follow, code=6)
        assert "AddressSanitizer" not in done.stderr, done.stderr
        done = recorder.run(["sh", "-c", f"{unsound}; echo $?"], "--summary", *follow)
        assert done.stdout == "1\n" and "heap-buffer-overflow" in done.stderr, done
    text = "#include <cstdlib>\nint main() { std::free(std::malloc(9)); return 5; }"
    of_threads = compiled(folder, "of_threads", text, COMPILER, "-fsanitize=thread")
    done = recorder.run(["sh", "-c", f"{of_threads}; exit $?"], "--summary", "--children", "follow",
                        code=5)
    assert "allocscope: of_threads: " not in done.stderr, done.stderr


def counts_what_looks_like_the_vector_of_a_thread(recorder, folder):
    """The loader's calloc with parts of 16 bytes has one part for the library, no other has."""
    text = "#include <cstdlib>\nint main() { return std::calloc(20, 16) == nullptr; }"
    program = compiled(folder, "vector", text, COMPILER, *WITHOUT_CXX)
    assert totals(recorder.report([program])) == (1, 0, 320)


def starts_programs_of_musl(recorder, folder):
    """musl's loader ignores what it cannot open, and does not replace $LIB."""
    value = recorder.run(["sh", "-c", "echo $LD_PRELOAD"], "--summary").stdout.strip()
    if not os.path.isdir("/usr/lib/x86_64-linux-gnu"):
        return
    assert value.startswith("/usr/$LIB/../..") and not os.path.exists(value), value
    if not shutil.which("musl-gcc"):
        return
    source = pathlib.Path(folder) / "of_musl.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("of musl"); return 7; }\n')
    program = source.with_suffix("")
    subprocess.run(["musl-gcc", source, "-o", program], check=True)
    for follow in ([], ["--children", "follow"]):
        done = recorder.run(["sh", "-c", f"{program}; echo $?; /bin/true"], "--summary", *follow)
        assert done.stdout == "of musl\n7\n", done
        assert "symbol not found" not in done.stderr, done
        assert ("allocscope: true: " in done.stderr) == bool(follow), done


def scripts_of_scripts(recorder, folder):
    """Interpreters in a circle, or one that is no file, are refused as without a recorder."""
    def script(name, interpreter):
        path = folder / name
        path.write_text(f"#!{interpreter}\n")
        path.chmod(0o755)
        return path

    one = script("one", folder / "other")
    script("other", one)
    os.mkfifo(folder / "fifo", 0o755)
    for path in (one, script("waits", folder / "fifo")):
        done = recorder.run([path], code=2)
        assert "cannot be run" in done.stderr, done.stderr
    echo = folder / "echo\x1b[2J"
    shutil.copy("/bin/echo", echo)
    for more in ([], ["--summary"]):
        done = recorder.run([echo], *more)
        assert "\x1b" not in done.stderr and "echo\\x1b[2J" in done.stderr, done.stderr


def streams_and_environment_stay(recorder):
    done = recorder.run(["cat"], input="through\n")
    assert done.stdout == "through\n"
    show = ["sh", "-c", "env | sort; ls -l /proc/self/fd | wc -l; grep Sig[BCIP]"
            " /proc/self/status"]
    bare = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    under = recorder.run(show, "--output", recorder.folder / "sh.txt").stdout

    def without_preload(text):
        return [line for line in text.splitlines() if not line.startswith("LD_PRELOAD=")]
    assert without_preload(under) == without_preload(bare), (under, bare)
    other = {**os.environ, "LD_PRELOAD": "libpthread.so.0"}
    words = recorder.run(["sh", "-c", "echo $LD_PRELOAD"], "--output",
                         recorder.folder / "sh.txt", env=other).stdout.strip()
    assert words.endswith(":libpthread.so.0"), words


WITHOUT_DESCRIPTORS = r"""
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {
    const rlimit none = {3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 2; ++i) {
        if (fork() == 0) _exit(malloc(7) == nullptr);
        wait(nullptr);
    }
    return 6;
}
"""


def counts_children_that_it_cannot_record(recorder, folder):
    program = compiled(folder, "without_descriptors", WITHOUT_DESCRIPTORS, COMPILER, "-fno-builtin")
    done = recorder.run([program], "--summary", "--children", "follow", code=6)
    assert "2 forked children were not recorded: " in done.stderr, done.stderr


def takes_few_addresses(recorder, program):
    """A program may limit its address space while it runs, and a core file holds the program's
    memory, not the recording."""
    status = recorder.run(["grep", "VmSize", "/proc/self/status"], "--summary").stdout
    assert int(status.split()[1]) < 200_000, status
    limited = recorder.run(["sh", "-c", f"ulimit -v 600000; exec {program}"], "--summary", code=4)
    assert "150 allocations, 50 frees" in limited.stderr, limited.stderr
    mappings = recorder.run(["cat", "/proc/self/smaps"], "--summary").stdout
    flags = [each for each in re.findall(r"^(2a00\w+)-.*\n(?:\w+: .*\n)*?VmFlags: (.*)$", mappings,
                                         re.MULTILINE)]
    assert flags and all(" dd" in f" {of_mapping}" for _, of_mapping in flags), flags


def passes_signals_on(recorder, program):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2):
        path = recorder.folder / "signal.json"
        with subprocess.Popen([PROGRAM, "run", "--output", path, "--", program, "wait"]) as started:
            wait_for_child(started.pid)
            started.send_signal(number)
            assert started.wait(60) == 128 + number, number
        assert path.exists()
        path.unlink()


def wait_for_child(parent):
    """Until the program of the command has come to its pause()."""
    for _ in range(3000):
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for child in children:
            try:
                if "pause" in pathlib.Path(f"/proc/{child}/wchan").read_text() or \
                        pathlib.Path(f"/proc/{child}/syscall").read_text().startswith("34 "):
                    return
            except OSError:
                pass
        time.sleep(0.02)
    raise AssertionError("the program does not wait")


def reports_while_it_runs(recorder, program):
    path = recorder.folder / "now.txt"
    with subprocess.Popen([PROGRAM, "run", "--on-signal", "SIGUSR1", "--output", path, "--",
                           program, "wait"]) as started:
        wait_for_child(started.pid)
        assert not path.exists()
        started.send_signal(signal.SIGUSR1)
        for _ in range(3000):
            if path.exists():
                break
            time.sleep(0.02)
        assert "150 objects" in path.read_text()
        assert "  signal USR1\n" in path.read_text(), path.read_text()
        started.send_signal(signal.SIGTERM)
        started.wait(60)
    for more in ([], ["--children", "follow"]):
        done = recorder.run(["sleep", "1.2"], "--every", "0.4", "--summary", *more)
        assert done.stderr.count("allocscope: sleep:") >= 2, done.stderr
    # A program that begins after another one has ended, or got no memory to be recorded, is looked
    # at like those before it.
    later = recorder.folder / "later-keeps.json"
    command = ["sh", "-c", 'ls > /dev/null; (ulimit -v 40000; ls > /dev/null); exec "$0" wait',
               program]
    with subprocess.Popen([PROGRAM, "run", "--children", "follow", "--every", "0.2", "--output",
                           recorder.folder / "later-%n.json", "--", *command],
                          stderr=subprocess.PIPE, text=True) as started:
        moments = []
        for _ in range(3000):
            if later.exists():
                moments = json.loads(later.read_text())["moments"]
            if len(moments) >= 3:
                break
            time.sleep(0.02)
        started.send_signal(signal.SIGTERM)
        told = started.communicate(timeout=60)[1]
    assert len(moments) >= 3, moments
    assert told.count("a program was not recorded") == 1, told


def names_threads(recorder, folder):
    """The names that threads gave themselves, also in the report after they have ended."""
    source = r"""
        #include <cstdlib>
        #include <pthread.h>
        #include <sys/prctl.h>
        #include <unistd.h>
        static void* kept[3];
        static int begun[2];
        static void live(int number, std::size_t bytes) {
            kept[number] = malloc(bytes);
            if (write(begun[1], "", 1) != 1) abort();
            char end;
            while (read(0, &end, 1) == 1) {}
        }
        static void* reader(void*) {
            pthread_setname_np(pthread_self(), "reads <b>all");
            live(0, 1000);
            return nullptr;
        }
        static void* writer(void*) {
            prctl(PR_SET_NAME, "writes a very long line");
            live(1, 2000);
            return nullptr;
        }
        static void* nobody(void*) {
            live(2, 4000);
            return nullptr;
        }
        int main() {
            if (pipe(begun) != 0) abort();
            pthread_t made[3];
            pthread_create(&made[0], nullptr, reader, nullptr);
            pthread_create(&made[1], nullptr, writer, nullptr);
            pthread_create(&made[2], nullptr, nobody, nullptr);
            char all[3];
            for (char& one : all) if (read(begun[0], &one, 1) != 1) abort();
            if (write(1, "begun\n", 6) != 6) abort();
            for (pthread_t each : made) pthread_join(each, nullptr);
        }"""
    program = compiled(folder, "names", source, COMPILER, *WITHOUT_CXX)
    path = recorder.folder / "names.allocscope"
    with subprocess.Popen([PROGRAM, "run", "--on-signal", "SIGUSR1", "--output", path, "--",
                           program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout.readline() == b"begun\n"
        started.send_signal(signal.SIGUSR1)
        for _ in range(3000):
            if path.exists():
                break
            time.sleep(0.02)
        assert path.exists()
        path.unlink()
        started.stdin.close()
        assert started.wait(60) == 0
    shown = subprocess.run([PROGRAM, "show", "--by", "thread", path], capture_output=True,
                           text=True, check=True).stdout
    of = {line.split()[0]: line for line in shown.splitlines()[1:]}
    assert "reads <b>all" in of["1000"], shown
    assert "writes a very l" in of["2000"] and "writes a very lo" not in shown, shown
    assert re.search(r"  thread \d+$", of["4000"]) and "names" not in shown, shown


def refuses_a_loop_of_threads(recorder, folder):
    """A program that writes nonsense over its list of threads; it is read while it runs, too."""
    source = r"""
        #include <allocscope/state/recording_head.hpp>
        #include <cstdio>
        #include <cstring>
        #include <unistd.h>
        int main() {
            using namespace allocscope::detail;
            std::FILE* maps = std::fopen("/proc/self/maps", "r");
            char line[512];
            unsigned long begin = 0;
            unsigned long offset = 0;
            while (offset != first_segment && std::fgets(line, sizeof line, maps) != nullptr) {
                if (std::strstr(line, "/memfd:allocscope") == nullptr) continue;
                std::sscanf(line, "%lx-%*x %*s %lx", &begin, &offset);
            }
            if (offset != first_segment) return 1;
            auto* copy = reinterpret_cast<process_state*>(begin + process_offset);
            thread_state* state = copy->threads.load();
            state->is_taken.store(false);
            state->next_state = state;
            usleep(300000);
            _exit(5);
        }"""
    headers = pathlib.Path(__file__).resolve().parents[2] / "include"
    program = compiled(folder, "loops", source, COMPILER, "-I", headers)
    for options in ([], ["--every", "0.1"]):
        done = recorder.run([program], *options, code=5)
        assert "loops: the recording is damaged: its list of threads has a loop" in done.stderr


def stops_a_report(program):
    """A report that takes long, because nobody reads it, ends when the command is asked to end."""
    with subprocess.Popen([PROGRAM, "run", "--format", "json", "--", *program],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        # The pipe is full when the report has begun, and no signal stops it in the first second.
        room = fcntl.fcntl(started.stderr, fcntl.F_GETPIPE_SZ)
        unread = 0
        while unread < room:
            time.sleep(0.02)
            unread = struct.unpack("i", fcntl.ioctl(started.stderr, termios.FIONREAD, b"...."))[0]
        time.sleep(1.5)
        assert started.poll() is None
        started.send_signal(signal.SIGTERM)
        text = started.stderr.read().decode()
        assert text.endswith(": the report was stopped by signal 15\n"), text[-300:]
        assert started.wait(60) == 0


def explains_memory(recorder, folder):
    """Parts whose sizes the program knows: at its end, from outside, and not of its child."""
    source = r"""
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void* blocks[50000];
int main(int argc, char** argv) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a touched page is then one page
    const size_t bytes = size_t{24} << 20;
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, bytes);
    for (void*& each : blocks) each = memset(malloc(40), 1, 40);
    for (int i = 0; i < 50000; i += 2) free(blocks[i]);
    void* large = malloc(8 << 20);
    memset(large, 1, 2 << 20);
    const char* how = argc > 1 ? argv[1] : "return";
    if (strcmp(how, "unmap") == 0) {
        usleep(600000);
        munmap(mapped, bytes);
        free(large);
        usleep(300000);
    }
    if (strcmp(how, "_exit") == 0) _exit(0);
    if (strcmp(how, "fork") == 0) {
        if (fork() == 0) { munmap(mapped, bytes); exit(0); }
        wait(nullptr);
        _exit(0);
    }
    return 0;
}
"""
    program = compiled(folder, "parts", source, COMPILER, *WITHOUT_CXX)
    mebibyte = 1 << 20

    def parts_of(report):
        parts = report["memory"]["parts"]
        assert sum(parts.values()) == report["memory"]["resident_bytes"], parts
        assert 24 * mebibyte <= parts["anonymous"] < 24.5 * mebibyte, parts
        assert parts["allocscope"] >= 25000 * 8 and parts["program"] > mebibyte, parts
        return parts

    report = recorder.report([program], "--memory")
    parts = parts_of(report)
    assert report["memory"]["at_ns"] == report["duration_ns"], report["memory"]
    # 25,000 of 40 bytes, and what was touched of the large block.
    recorded = 25000 * 40 + 2 * mebibyte
    in_use = parts["recorded"] + parts["rounding"] + parts["other_blocks"]
    assert recorded <= in_use < recorded + mebibyte, parts
    assert 0.5 * mebibyte < parts["free_blocks"] < 2 * mebibyte, parts
    assert parts["heap_rest"] == 0, parts
    report = recorder.report([program, "unmap"], "--memory", "--every", "0.1")
    parts = parts_of(report)
    assert 0 < report["memory"]["at_ns"] < report["duration_ns"], report["memory"]
    assert parts["recorded"] > 2.9 * mebibyte, parts  # of then, not of the end
    assert parts["free_blocks"] == 0, parts
    for how in ("_exit", "fork"):
        done = recorder.run([program, how], "--memory")
        assert "parts: it is not known where its memory was" in done.stderr, done.stderr
        assert "resident memory" not in done.stderr
    done = recorder.run([program, "return"], env={**os.environ, "ALLOCSCOPE_MEMORY": "1"})
    assert "\nresident memory  " in done.stderr, done.stderr
    assert "memory" not in recorder.report([program, "return"])


def children(recorder, folder):
    source = r"""
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        int main() {
            void* parents = malloc(11);
            for (int i = 0; i < 20; ++i) {
                const pid_t child = fork();
                if (child == 0) {
                    free(parents);
                    for (int k = 0; k < 1000; ++k) free(malloc(5));
                    malloc(7);
                    exit(0);
                }
                waitpid(child, nullptr, 0);
            }
            free(parents);
        }"""
    program = compiled(folder, "forks", source, COMPILER, *WITHOUT_CXX)
    assert totals(recorder.report([program])) == (1, 1, 11)
    alone = recorder.reports(["sh", "-c", "ls; ls; true"])
    assert len(alone) == 1, [each["window"] for each in alone]
    first, *others = recorder.reports([program], "--children", "follow")
    assert totals(first) == (1, 1, 11), first
    assert len(others) == 20
    assert {totals(each) for each in others} == {(1001, 1000, 5007)}, others[0]
    for each in (first, *others):
        assert [family["name"] for family in each["families"]] == ["malloc"], each["families"]
    names = [each["window"] for each in recorder.reports(["sh", "-c", "true; ls | wc -l; true"],
                                                         "--children", "follow")]
    assert sorted(set(names)) == ["dash", "ls", "wc"] or "ls" in names, names


def generations(recorder, folder):
    """A child that is followed finds errno as fork() left it, and no generation takes another
    pthread key."""
    source = r"""
        #include <cerrno>
        #include <cstdlib>
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        unsigned new_key() {
            free(malloc(5));
            pthread_key_t key;
            pthread_key_create(&key, nullptr);
            pthread_key_delete(key);
            return key;
        }
        int main() {
            const unsigned first = new_key();
            for (int generation = 0; generation < 5; ++generation) {
                errno = 77;
                const pid_t child = fork();
                if (errno != 77) _exit(1);
                if (child != 0) {
                    int status = 0;
                    waitpid(child, &status, 0);
                    _exit(WEXITSTATUS(status));
                }
                if (new_key() != first) _exit(2);
            }
            _exit(3);
        }"""
    program = compiled(folder, "generations", source, COMPILER, *WITHOUT_CXX)
    assert len(recorder.reports([program], "--children", "follow", code=3)) == 6


def main():
    # nohup, and a shell that starts this in the background, ignore these, and programs inherit it.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        program = compiled(folder, "keeps", KEEPS, COMPILER, *WITHOUT_CXX)
        is_complete_however_the_program_ends(recorder, program)
        counts_and_samples(recorder, program)
        places_rows_in_callers(recorder, program)
        text_and_summary(recorder, program)
        writes_every_format(recorder, program)
        keeps_secrets(recorder, program)
        keeps_the_code_when_nobody_reads(program)
        records_with_closed_descriptors(recorder, program)
        draws_a_live_view(recorder, program)
        fits_the_terminal(recorder, program)
        says_what_is_wrong(str(program))
        shows_what_it_cannot_write(recorder, program)
        says_that_help_was_not_written()
        says_that_nothing_can_be_loaded(recorder, folder, program)
        starts_programs_with_sanitizers(recorder, folder)
        counts_what_looks_like_the_vector_of_a_thread(recorder, folder)
        starts_programs_of_musl(recorder, folder)
        scripts_of_scripts(recorder, recorder.folder)
        streams_and_environment_stay(recorder)
        counts_children_that_it_cannot_record(recorder, folder)
        takes_few_addresses(recorder, program)
        passes_signals_on(recorder, program)
        reports_while_it_runs(recorder, program)
        names_threads(recorder, folder)
        refuses_a_loop_of_threads(recorder, folder)
        stops_a_report(["python3", "-c", "pass"])
        explains_memory(recorder, folder)
        children(recorder, folder)
        generations(recorder, folder)


main()
