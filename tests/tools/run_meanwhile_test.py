"""run_meanwhile_test.py PROGRAM COMPILER

What `allocscope run` does while the program runs and while it reports: signals, progress, the live
view, reports on request, the names of threads.
"""
import ctypes
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


def passes_signals_on(recorder, program):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2, signal.SIGABRT,
                   signal.SIGPROF, signal.SIGVTALRM, signal.SIGRTMIN + 3):
        path = recorder.folder / "signal.json"
        with subprocess.Popen([PROGRAM, "run", "--output", path, "--", program, "wait"]) as started:
            wait_for_child(started.pid)
            started.send_signal(number)
            assert started.wait(60) == 128 + number, number
        assert path.exists()
        path.unlink()


def ends_by_the_signal_of_the_terminal():
    """A shell ends a loop after Ctrl-C only if that has ended the command. The report comes first.
    What somebody else has sent becomes an exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(PROGRAM, [PROGRAM, "run", "--summary", "--", "sh", "-c",
                           "echo ready; exec sleep 60"])
    seen = b""

    def wait_for(wanted):
        nonlocal seen
        while wanted not in seen:
            assert select.select([terminal], [], [], 60)[0], seen
            seen += os.read(terminal, 65536)

    wait_for(b"ready")
    os.write(terminal, b"\x03")
    wait_for(b"allocations")
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status
    os.close(terminal)


def passes_no_signal_of_the_program_on(folder):
    """What it sends to its group reaches it without the command, and what it sends to its parent is
    not for itself. A signal with a value is passed on with the value."""
    source = r"""
        #include <csignal>
        #include <cstdio>
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile sig_atomic_t groups = 0, parents = 0, value = 0;
        static void take(int, siginfo_t* about, void*) { value = about->si_value.sival_int; }
        int main() {
            signal(SIGUSR1, [](int) { groups = groups + 1; });
            signal(SIGUSR2, [](int) { parents = parents + 1; });
            struct sigaction queued = {};
            queued.sa_sigaction = take;
            queued.sa_flags = SA_SIGINFO;
            sigaction(SIGRTMIN + 3, &queued, nullptr);
            kill(0, SIGUSR1);
            kill(getppid(), SIGUSR2);
            usleep(200000);
            const pid_t child = fork();
            if (child == 0) {
                signal(SIGUSR1, SIG_IGN);
                kill(0, SIGUSR1);
                usleep(400000);
                _exit(0);
            }
            waitpid(child, nullptr, 0);
            printf("%d %d\n", int{groups}, int{parents});
            fflush(stdout);
            while (value == 0) usleep(1000);
            printf("%d\n", int{value});
        }"""
    program = compiled(folder, "signals_itself", source, COMPILER)
    with subprocess.Popen([PROGRAM, "run", "--summary", "--", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as started:
        try:
            assert started.stdout.readline() == "2 0\n"
            ctypes.CDLL(None).sigqueue(started.pid, signal.SIGRTMIN + 3, ctypes.c_void_p(78))
            assert started.communicate(timeout=60)[0] == "78\n"
        finally:
            started.kill()


def passes_no_signal_of_the_terminal_on(folder):
    """Ctrl-C reaches the program from the kernel, as it does alone, and not once more from here."""
    source = r"""
        #include <csignal>
        #include <cstdio>
        #include <unistd.h>
        static volatile sig_atomic_t seen = 0;
        int main() {
            signal(SIGINT, [](int) { seen = seen + 1; });
            puts("ready");
            fflush(stdout);
            while (seen == 0) usleep(1000);
            puts("interrupted");
            fflush(stdout);
            usleep(500000);
            printf("%d times\n", int{seen});
        }"""
    program = compiled(folder, "interrupted", source, COMPILER)
    child, terminal = pty.fork()
    if child == 0:
        os.execv(PROGRAM, [PROGRAM, "run", "--summary", "--", str(program)])
    seen = b""

    def wait_for(wanted):
        nonlocal seen
        while wanted not in seen:
            assert select.select([terminal], [], [], 60)[0], seen
            seen += os.read(terminal, 65536)

    wait_for(b"ready")
    os.kill(child, signal.SIGSTOP)  # so that two signals cannot become one
    os.write(terminal, b"\x03")
    wait_for(b"interrupted")
    os.kill(child, signal.SIGCONT)
    wait_for(b"times")
    assert b"1 times" in seen, seen
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


def stops_with_the_program():
    """A shell gives the prompt back when a program stops itself, and continues the whole job. Where
    there is no such shell, somebody else continues the program, and the command waits for it."""
    stops = ["run", "--summary", "--", "sh", "-c", "echo $$; kill -STOP $$; echo resumed"]
    signal.alarm(60)  # ends this test if nobody stops, or nobody goes on
    child, terminal = pty.fork()
    if child == 0:
        os.execv(PROGRAM, [PROGRAM, *stops])
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    os.killpg(child, signal.SIGCONT)
    seen = b""
    while b"resumed" not in seen:
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 65536)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
    with subprocess.Popen([PROGRAM, *stops], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as started:
        program = int(started.stdout.readline())
        while pathlib.Path(f"/proc/{program}/stat").read_text().split()[2] != "T":
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(program, signal.SIGCONT)
        try:
            assert started.communicate(timeout=30)[0] == "resumed\n"
        finally:
            started.kill()
    signal.alarm(0)


def knows_the_end_of_a_child_that_is_ignored():
    """Who starts the command may ignore SIGCHLD. The program inherits that, and the command still
    learns how the program ends."""
    words = ["grep", "-hs", "SigIgn", "/proc/self/status", "/no/such/file"]

    def ignored(*before):
        done = subprocess.run([*before, *words], capture_output=True, text=True, timeout=60,
                              check=False, preexec_fn=lambda: signal.signal(signal.SIGCHLD,
                                                                            signal.SIG_IGN))
        assert done.returncode == 2, done
        return int(done.stdout.split()[1], 16)

    alone = ignored()
    assert alone >> (signal.SIGCHLD - 1) & 1, alone
    assert ignored(PROGRAM, "run", "--summary", "--") == alone


def keeps_what_execution_keeps(folder):
    """A timer and the wish for a signal when the parent ends outlive exec, and no fork: the program
    has them as it has them alone. The first process of a container gets the orphans."""
    source = r"""
        #include <csignal>
        #include <cstdio>
        #include <sys/prctl.h>
        #include <sys/time.h>
        #include <unistd.h>
        int main() {
            itimerval times[3];
            for (int i = 0; i < 3; ++i) getitimer(static_cast<__itimer_which>(i), &times[i]);
            int death = 0;
            prctl(PR_GET_PDEATHSIG, &death);
            int child[2];
            if (pipe(child) != 0) return 1;
            if (fork() == 0) {
                const pid_t parent = getpid();
                if (fork() != 0) _exit(0);
                while (getppid() == parent) usleep(1000);
                const pid_t now = getppid();
                _exit(write(child[1], &now, sizeof now) != sizeof now);
            }
            pid_t reaper = 0;
            if (read(child[0], &reaper, sizeof reaper) != sizeof reaper) return 1;
            for (const itimerval& each : times) {
                printf("%d ", each.it_value.tv_sec > 7000 && each.it_interval.tv_sec == 7);
            }
            printf("%d %d\n", death, reaper == getpid());
        }"""
    program = compiled(folder, "is_executed", source, COMPILER)

    def given():
        for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(which, 9000, 7)
        libc = ctypes.CDLL(None)
        pr_set_pdeathsig, pr_set_child_subreaper = 1, 36
        libc.prctl(pr_set_pdeathsig, signal.SIGURG)
        libc.prctl(pr_set_child_subreaper, 1)

    for before in ([], [PROGRAM, "run", "--summary", "--"]):
        done = subprocess.run([*before, program], capture_output=True, text=True, timeout=60,
                              check=False, preexec_fn=given)
        assert done.stdout == "1 1 1 23 1\n", (before, done)
    contained = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*contained, "true"], capture_output=True, check=False).returncode != 0:
        return
    done = subprocess.run([*contained, PROGRAM, "run", "--summary", "--", program],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "0 0 0 0 1\n", done


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


def stops_a_report(program):
    """A report that takes long, because nobody reads it, ends when the command is asked to end."""
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
        text = started.stderr.read().decode()
        assert text.endswith(": the report was stopped by signal 15\n"), text[-300:]
        assert started.wait(60) == 0


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
        passes_signals_on(recorder, program)
        passes_no_signal_of_the_terminal_on(folder)
        ends_by_the_signal_of_the_terminal()
        passes_no_signal_of_the_program_on(folder)
        keeps_what_execution_keeps(folder)
        stops_with_the_program()
        knows_the_end_of_a_child_that_is_ignored()
        reports_while_it_runs(recorder, program)
        reports_on_what_grows(recorder, folder)
        names_threads(recorder, folder)
        stops_a_report(["python3", "-c", "pass"])
        goes_on_with_a_report()


main()
