"""run_signals_test.py PROGRAM COMPILER

What the program gets of the signals that others send, and of what a process keeps when it executes
a program: the same as without `allocscope run` before it.
"""
import ctypes
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

from recorded_programs import Recorder, compiled, keeps, wait_for_child

PROGRAM, COMPILER = sys.argv[1:3]
RUN = [PROGRAM, "run", "--summary", "--"]


class Terminal:
    """On which a recorded command runs."""

    def __init__(self, *command):
        self.seen = b""
        self.command, self.descriptor = pty.fork()
        if self.command == 0:
            os.execv(PROGRAM, [*RUN, *map(str, command)])

    def wait_for(self, wanted):
        while wanted not in self.seen:
            assert select.select([self.descriptor], [], [], 60)[0], self.seen
            self.seen += os.read(self.descriptor, 65536)

    def press_ctrl_c(self):
        os.write(self.descriptor, b"\x03")

    def status(self):
        return os.waitpid(self.command, 0)[1]

    def close(self):
        os.close(self.descriptor)


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


def takes_signals_between_reports(recorder, program):
    """Each report takes longer than --every, because its reader is slow, so that the next one is
    due at once."""
    path = recorder.folder / "between.html"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR)
    with subprocess.Popen([PROGRAM, "run", "--every", "0.01", "--on-signal", "USR2", "--output",
                           path, "--", program, "wait"]) as started:
        wait_for_child(started.pid)
        seen = b""
        while b"signal USR2" not in seen:
            seen += os.read(reader, 1 << 16)
            if b"</html>" in seen:
                started.send_signal(signal.SIGUSR2)
                seen = seen[-(1 << 17):]
            time.sleep(0.02)
        started.send_signal(signal.SIGTERM)
        os.close(reader)
        assert started.wait(60) == 128 + signal.SIGTERM


def waits_in_write(process):
    try:
        return pathlib.Path(f"/proc/{process}/syscall").read_text().startswith("1 ")
    except OSError:
        return False  # it has just ended


def passes_signals_on_while_a_report_is_not_read(is_terminal, *options):
    """With --every a report waits for its reader: the pipe is full, or the terminal stands. So does
    a picture of --live."""
    reader, writer = pty.openpty() if is_terminal else os.pipe()
    with subprocess.Popen([PROGRAM, "run", "--every", "0.01", *options, "--", "sh", "-c",
                           "echo $$; exec sleep 60"], stdout=subprocess.PIPE,
                          stderr=writer) as started:
        os.close(writer)
        program = int(started.stdout.readline())
        children = pathlib.Path(f"/proc/{started.pid}/task/{started.pid}/children")
        while not any(waits_in_write(child) for child in children.read_text().split()
                      if int(child) != program):
            time.sleep(0.02)
        started.send_signal(signal.SIGTERM)
        while "zombie" not in pathlib.Path(f"/proc/{program}/status").read_text():
            time.sleep(0.02)
        os.close(reader)  # what is written now is refused
        assert started.wait(60) == 128 + signal.SIGTERM


def ends_by_the_signal_of_the_terminal():
    """A shell ends a loop after Ctrl-C only if that has ended the command. The report comes first.
    What somebody else has sent becomes an exit code."""
    terminal = Terminal("sh", "-c", "echo ready; exec sleep 60")
    terminal.wait_for(b"ready")
    terminal.press_ctrl_c()
    terminal.wait_for(b"allocations")
    status = terminal.status()
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status
    terminal.close()


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
    with subprocess.Popen([*RUN, program], stdout=subprocess.PIPE,
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
    terminal = Terminal(program)
    terminal.wait_for(b"ready")
    os.kill(terminal.command, signal.SIGSTOP)  # so that two signals cannot become one
    terminal.press_ctrl_c()
    terminal.wait_for(b"interrupted")
    os.kill(terminal.command, signal.SIGCONT)
    terminal.wait_for(b"times")
    assert b"1 times" in terminal.seen, terminal.seen
    assert os.waitstatus_to_exitcode(terminal.status()) == 0
    terminal.close()


def stops_with_the_program():
    """A shell gives the prompt back when a program stops itself, and continues the whole job. Where
    there is no such shell, somebody else continues the program, and the command waits for it."""
    stops = ["sh", "-c", "echo $$; kill -STOP $$; echo resumed"]
    signal.alarm(60)  # ends this test if nobody stops, or nobody goes on
    terminal = Terminal(*stops)
    assert os.WIFSTOPPED(os.waitpid(terminal.command, os.WUNTRACED)[1])
    os.killpg(terminal.command, signal.SIGCONT)
    terminal.wait_for(b"resumed")
    assert os.waitstatus_to_exitcode(terminal.status()) == 0
    terminal.close()
    with subprocess.Popen([*RUN, *stops], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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


def keeps_signals_that_wait():
    """Blocked signals wait through exec, and a forked child has none of its parent's: the program
    has those that have waited for it, as often as they were sent."""
    numbers = {signal.SIGUSR1, signal.SIGRTMIN + 3}
    take = f"import signal; waiting = [signal.sigtimedwait({set(map(int, numbers))}, 0)" \
           " for _ in range(4)]; print([(each.si_signo, each.si_pid) for each in waiting if each])"

    def send_itself():
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        os.kill(os.getpid(), signal.SIGUSR1)
        for value in (5, 6):
            ctypes.CDLL(None).sigqueue(os.getpid(), signal.SIGRTMIN + 3, ctypes.c_void_p(value))

    for before in ([], [PROGRAM, "run", "--summary", "--"]):
        with subprocess.Popen([*before, sys.executable, "-c", take], stdout=subprocess.PIPE,
                              text=True, preexec_fn=send_itself) as started:
            shown = started.communicate(timeout=60)[0]
        sent = [(int(number), started.pid) for number in
                (signal.SIGUSR1, signal.SIGRTMIN + 3, signal.SIGRTMIN + 3)]
        assert shown == f"{sent}\n", (before, shown, sent)


def keeps_scheduling_that_forks_lose():
    """As systemd's CPUSchedulingResetOnFork=yes asks for it."""
    show = "import os; print(os.sched_getscheduler(0), os.nice(0))"

    def schedule():
        if os.geteuid() == 0:
            os.nice(-3)
        os.sched_setscheduler(0, os.SCHED_BATCH | os.SCHED_RESET_ON_FORK, os.sched_param(0))

    shown = [subprocess.run([*before, sys.executable, "-c", show], capture_output=True, text=True,
                            timeout=60, check=False, preexec_fn=schedule).stdout
             for before in ([], [PROGRAM, "run", "--summary", "--"])]
    assert shown[0] == shown[1] and shown[0].startswith(str(0x40000000 | os.SCHED_BATCH)), shown


def main():
    # nohup, and a shell that starts this in the background, ignore these, and programs inherit
    # it.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        recorder, program = Recorder(PROGRAM, folder), keeps(folder, COMPILER)
        passes_signals_on(recorder, program)
        takes_signals_between_reports(recorder, program)
        passes_signals_on_while_a_report_is_not_read(is_terminal=False)
        passes_signals_on_while_a_report_is_not_read(is_terminal=True)
        passes_signals_on_while_a_report_is_not_read(True, "--live")
        passes_no_signal_of_the_terminal_on(folder)
        ends_by_the_signal_of_the_terminal()
        passes_no_signal_of_the_program_on(folder)
        keeps_what_execution_keeps(folder)
        keeps_signals_that_wait()
        keeps_scheduling_that_forks_lose()
        stops_with_the_program()
        knows_the_end_of_a_child_that_is_ignored()


main()
