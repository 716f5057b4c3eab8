"""run_meanwhile_test.py PROGRAM COMPILER

What `allocscope run` does while the program runs and while it reports: progress, the live view,
reports on request, the names of threads. Signals are in run_signals_test.py.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from recorded_programs import WITHOUT_CXX, Recorder, compiled, keeps, wait_for_child

PROGRAM, COMPILER = sys.argv[1:3]


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
    os.write(terminal, b"p")
    wait_for(b"by allocations, paused;")  # the last picture until the next key
    os.write(terminal, b"m")
    wait_for(b"  module\x1b[K")
    os.write(terminal, b"p")
    wait_for(b"by allocations;")
    for columns in (50, 80):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
        wait_for_width(columns - 29, columns)
    wait_for(b"t types, m modules, p pause, q leave\x1b[K")
    for line in seen.split(b"\x1b[K"):
        assert len(line.strip()) <= 80 + 8, line
    os.write(terminal, b"q")
    wait_for(b"\x1b[?1049l")
    wait_for(b"bytes alive")  # the line of progress: the program goes on
    assert termios.tcgetattr(terminal)[3] & termios.ECHO, "what is typed is not shown any more"
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


def reports_while_it_runs(recorder, program):
    path = recorder.folder / "now.txt"
    with subprocess.Popen([PROGRAM, "run", "--on-signal", "USR1", "--output", path, "--",
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
    assert told.count("a program was not recorded: its memory is limited") == 1, told


def reports_on_what_grows(recorder, folder):
    """The program takes as much memory for its recording again while a report has only begun: a
    library in the command lets it go on when the report has read how large the recording is."""
    waits = compiled(folder, "waits_for_growth.so", r"""
        #include <cstdlib>
        #include <fcntl.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        extern "C" void* mmap(void* place, size_t bytes, int access, int kind, int file, off_t at) {
            const char* const paths = getenv("GROWTH");
            if ((kind & MAP_FIXED_NOREPLACE) != 0 && file >= 0 && chdir(paths) == 0) {
                char byte = 0;
                const int begins = open("begins", O_WRONLY | O_NONBLOCK);  // fails the second time
                if (begins >= 0 && write(begins, &byte, 1) == 1) {
                    if (read(open("ended", O_RDONLY), &byte, 1) != 1) abort();
                }
                close(begins);
            }
            return reinterpret_cast<void*>(syscall(SYS_mmap, place, bytes, access, kind, file, at));
        }""", COMPILER, "-shared", "-fPIC", *WITHOUT_CXX)
    program = compiled(folder, "grows", r"""
        #include <cstdlib>
        #include <fcntl.h>
        #include <unistd.h>
        template <int> __attribute__((noinline)) void* deep(unsigned turns, unsigned left);
        template <int place>
        void* deep(unsigned turns, unsigned left) {
            void* made = left == 0 ? malloc(1) :
                turns % 2 == 0 ? deep<place>(turns / 2, left - 1) :
                deep<1 - place>(turns / 2, left - 1);
            asm volatile("");
            return made;
        }
        int main() {
            char byte = 0;
            if (chdir(getenv("GROWTH")) != 0 || malloc(1) == nullptr) return 1;
            const int begins = open("begins", O_RDWR);
            if (write(1, "ready\n", 6) != 6 || read(begins, &byte, 1) != 1) return 1;
            close(begins);
            for (unsigned turns = 0; turns < 60000; ++turns) deep<0>(turns, 16);
            const int ended = open("ended", O_WRONLY);
            if (write(ended, &byte, 1) != 1) return 1;
            pause();
        }""", COMPILER, *WITHOUT_CXX)
    place = recorder.folder / "growth"
    place.mkdir()
    for name in ("begins", "ended"):
        os.mkfifo(place / name)
    path = place / "grown.json"
    with subprocess.Popen([PROGRAM, "run", "--on-signal", "USR1", "--output", path, "--", program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LD_PRELOAD": str(waits), "GROWTH": str(place)}
                          ) as started:
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGUSR1)
        for _ in range(3000):
            if path.exists() or started.poll() is not None:
                break
            time.sleep(0.02)
        started.send_signal(signal.SIGTERM)
        told = started.communicate(timeout=60)[1]
    assert told == "", told
    assert json.loads(path.read_text())["totals"]["allocations"] == 60001


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


def stops_a_report(program, is_read):
    """A report that takes long, because nobody reads it, ends when the command is asked to end. So
    does the command when it is asked once more."""
    with subprocess.Popen([PROGRAM, "run", "--format", "json", "--", *program],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        # The pipe is full when the report has begun, and no signal stops it in the first second,
        # see goes_on_with_a_report().
        room = fcntl.fcntl(started.stderr, fcntl.F_GETPIPE_SZ)
        unread = 0
        while unread < room:
            time.sleep(0.02)
            unread = struct.unpack("i", fcntl.ioctl(started.stderr, termios.FIONREAD, b"...."))[0]
        time.sleep(1.5)
        assert started.poll() is None
        started.send_signal(signal.SIGTERM)
        if is_read:
            text = started.stderr.read().decode()
            assert text.endswith(": the report was stopped by signal 15\n"), text[-300:]
            assert started.wait(60) == 0
            return
        # Nor does anybody read that the report was stopped.
        for _ in range(600):
            if started.poll() is not None:
                break
            started.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        assert started.poll() == -signal.SIGTERM


SENDS_A_SIGNAL_SOON = r"""
import os, signal, time
command, program = os.getppid(), os.getpid()
if os.fork() == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    while os.getppid() == program:
        time.sleep(0.005)
    time.sleep(0.3)
    os.kill(command, signal.SIGTERM)
    os.write(1, b"sent\n")
"""


def goes_on_with_a_report():
    """A signal soon after the program's end was meant for the program: its report, which nobody
    reads yet, is not stopped. On a slow machine the signal may come too late, but not each time."""
    for _ in range(10):
        with subprocess.Popen([PROGRAM, "run", "--format", "json", "--", "python3", "-c",
                               SENDS_A_SIGNAL_SOON], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as started:
            fcntl.fcntl(started.stderr, fcntl.F_SETPIPE_SZ, 4096)
            assert started.stdout.readline() == b"sent\n"
            while is_pending(signal.SIGTERM, started.pid):
                time.sleep(0.02)
            text = started.stderr.read().decode()
            assert started.wait(60) == 0
        if not text.endswith(": the report was stopped by signal 15\n"):
            assert json.loads(text)["totals"]["allocations"] > 1000, text[:300]
            return
    raise AssertionError("each report was stopped")


def is_pending(number, process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return any(int(mask, 16) >> (number - 1) & 1
               for mask in re.findall(r"^S\w*Pnd:\s+(\w+)", status, re.MULTILINE))


def main():
    # nohup, and a shell that starts this in the background, ignore these, and programs inherit
    # it.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        program = keeps(folder, COMPILER)
        keeps_the_code_when_nobody_reads(program)
        draws_a_live_view(recorder, program)
        fits_the_terminal(recorder, program)
        reports_while_it_runs(recorder, program)
        reports_on_what_grows(recorder, folder)
        names_threads(recorder, folder)
        for is_read in (True, False):
            stops_a_report(["python3", "-c", "pass"], is_read)
        goes_on_with_a_report()


main()
