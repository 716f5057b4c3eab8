"""run_ends_test.py PROGRAM COMPILER

Programs under `allocscope run` that start others: which of them have ended, and what becomes of
those that outlive the command.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from recorded_programs import WITHOUT_CXX, Recorder, become_nobody, compiled, for_everybody, totals

PROGRAM, COMPILER = sys.argv[1:3]


def target_of(descriptor):
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""  # closed by now


def forgets_what_has_ended(folder, work):
    """While the program goes on, the recordings of children that were reported take no memory, nor
    do those of programs that the process has executed before."""
    with subprocess.Popen([PROGRAM, "run", "--children", "follow", "--output",
                           pathlib.Path(folder) / "ended-%n-%p.json", "--", "sh", "-c",
                           f"echo; read go; {work}; echo; read e"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout.readline() == b"\n"
        recording, = (each for each in pathlib.Path(f"/proc/{started.pid}/fd").iterdir()
                      if "/memfd:allocscope" in target_of(each))
        own = recording.stat().st_blocks
        started.stdin.write(b"\n")
        started.stdin.flush()
        assert started.stdout.readline() == b"\n"
        for _ in range(3000):
            taken = recording.stat().st_blocks
            if taken < 10 * own:
                break
            time.sleep(0.02)
        started.communicate(b"\n")
        assert own > 0 and taken < 10 * own, (own, taken)


def says_what_goes_on(recorder, folder):
    """A daemon outlives the program that started it, and so the command. A zombie does not."""
    source = r"""
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int count, char**) {
            int ends[2];
            if (pipe(ends) != 0) return 1;
            char done = 0;
            if (fork() == 0) {
                malloc(7);
                if (write(ends[1], &done, 1) != 1) return 1;
                // Goes on until the test closes its end of stdin.
                close(1);  // recorder.run() reads until nobody has these open
                close(2);
                if (count > 1) while (read(0, &done, 1) > 0) {}
                _exit(0);
            }
            malloc(11);
            if (read(ends[0], &done, 1) != 1) return 1;
            siginfo_t ended;  // the child becomes a zombie, and stays one
            if (count == 1 && waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0) return 1;
        }"""
    program = compiled(folder, "outlived", source, COMPILER, *WITHOUT_CXX)
    end, held = os.pipe()
    done = recorder.run([program, "daemon"], "--children", "follow", "--summary", stdin=end)
    os.close(held)
    os.close(end)
    said = re.findall(r"outlived, process \d+, goes on; its report has what it did until now",
                      done.stderr)
    assert len(said) == 1 and "1 object of 7 bytes" in done.stderr, done.stderr
    # Each process once, under the name of what it executes now.
    end, held = os.pipe()
    script = "exec 3<&0; (exec cat <&3 >/dev/null 2>&1) & sleep 0.3"
    done = recorder.run(["sh", "-c", script], "--children", "follow", "--summary", stdin=end)
    os.close(held)
    os.close(end)
    said = re.findall(r"(\w+), process \d+, goes on", done.stderr)
    assert said == ["cat"], done.stderr
    done = recorder.run([program], "--children", "follow", "--summary")
    assert "goes on" not in done.stderr and "1 object of 7 bytes" in done.stderr, done.stderr


def knows_what_goes_on_when_it_is_interrupted(recorder, folder):
    """After it has read how long the system is up, the command does not run for a while. Processes
    were taken for later ones with the same number."""
    source = r"""
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        extern "C" int clock_gettime(clockid_t clock, timespec* into) noexcept {
            const long result = syscall(SYS_clock_gettime, clock, into);
            if (clock == CLOCK_BOOTTIME) usleep(200000);
            return static_cast<int>(result);
        }"""
    slow = compiled(folder, "slow_clock.so", source, COMPILER, "-shared", "-fPIC",
                    "-fno-exceptions", *WITHOUT_CXX)
    end, held = os.pipe()
    done = recorder.run(["sh", "-c", "exec 3<&0; cat <&3 >/dev/null 2>&1 & exec sleep 1"],
                        "--children", "follow", "--summary", stdin=end,
                        env={**os.environ, "LD_PRELOAD": str(slow)})
    os.close(held)
    os.close(end)
    said = re.findall(r"(\w+), process \d+, goes on", done.stderr)
    assert said == ["cat"], done.stderr


def leaves_what_goes_on_alone(recorder, folder):
    """Processes that outlive the command, and use the memory that was recorded into: a daemon, and
    one that shares the memory of the program which made it."""
    source = r"""
        #include <csignal>
        #include <cstdlib>
        #include <sched.h>
        #include <unistd.h>
        static void* kept[1000];
        static int begun[2];
        static int answer;
        static char byte;
        static int go_on(void*) {
            free(malloc(7));
            close(1);  // recorder.run() reads until nobody has these open
            close(2);
            if (write(begun[1], &byte, 1) != 1) abort();
            while (read(0, &byte, 1) > 0) {}
            for (int i = 0; i < 1000; ++i) free(i % 2 == 0 ? kept[i] : malloc(i));
            _exit(write(answer, "as ever", 7) == 7 ? 0 : 1);
        }
        static char stack[100000];
        int main(int count, char** words) {
            answer = atoi(words[1]);
            for (int i = 0; i < 1000; ++i) kept[i] = malloc(20 + i);
            if (pipe(begun) != 0) abort();
            if (count == 2 && fork() == 0) go_on(nullptr);
            if (count > 2) clone(go_on, stack + 90000, CLONE_VM | SIGCHLD, nullptr);
            _exit(read(begun[0], &byte, 1) == 1 ? 0 : 1);
        }"""
    program = compiled(folder, "goes_on", source, COMPILER, *WITHOUT_CXX)
    for more, *options in (([], "--children", "follow"), ([],), (["shares"],)):
        end, held = os.pipe()
        told, tells = os.pipe()
        recorder.run([program, tells, *more], "--summary", *options, stdin=end, pass_fds=[tells])
        for each in (end, held, tells):
            os.close(each)
        with open(told, "rb") as answer:
            assert answer.read() == b"as ever", (more, options)


def process_with_number(number, script, *arguments):
    """A shell that waits until its stdin is closed; None if it cannot get the number."""
    for _ in range(200):
        try:
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
        except OSError:
            return None  # only root may do so
        other = subprocess.Popen(["sh", "-c", f"{script} echo; read end", *arguments],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if other.pid == number:
            other.stdout.readline()
            return other
        other.communicate()
    return None


def takes_no_file_of_another_process(recorder, folder):
    """When the command has ended, another process may get its number. What a daemon forks then does
    not record into a file which that process has open."""
    source = r"""
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int, char** words) {
            int begun[2];
            char byte = 0;
            free(malloc(5));
            if (pipe(begun) != 0) return 1;
            if (fork() != 0) return read(begun[0], &byte, 1) == 1 ? 0 : 1;
            free(malloc(7));
            close(1);  // the test reads until nobody has these open
            close(2);
            if (write(begun[1], &byte, 1) != 1) return 1;
            while (read(0, &byte, 1) > 0) {}
            const pid_t child = fork();
            if (child == 0) {
                free(malloc(9));
                _exit(3);
            }
            int status = 0;
            waitpid(child, &status, 0);
            const char* said = WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "well" : "badly";
            return write(atoi(words[1]), said, 4) == 4 ? 0 : 1;
        }"""
    program = compiled(folder, "forks_later", source, COMPILER, *WITHOUT_CXX)
    end, held = os.pipe()
    told, tells = os.pipe()
    with subprocess.Popen([PROGRAM, "run", "--children", "follow", "--summary", "--", program,
                           str(tells)], stdin=end, stderr=subprocess.PIPE,
                          pass_fds=[tells]) as started:
        started.communicate(timeout=60)
    file = recorder.folder / "of_another"
    file.write_bytes(b"x" * 5000)
    other = process_with_number(started.pid, "exec 3<>$0 4<>$0 5<>$0 6<>$0;", file)
    for each in (end, held, tells):
        os.close(each)
    with open(told, "rb") as answer:
        assert answer.read() == b"well"
    if other is not None:
        other.communicate()
    assert file.read_bytes() == b"x" * 5000


def takes_no_other_process_for_one_that_ended(recorder, folder):
    """A child has ended, and another process has got its number before the command looked."""
    source = r"""
        #include <cstdio>
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        int main() {
            free(malloc(5));
            const pid_t child = fork();
            if (child == 0) {
                free(malloc(7));
                getchar();
                _exit(0);
            }
            printf("%d\n", child);
            fflush(stdout);
            waitpid(child, nullptr, 0);
            puts("gone");
            fflush(stdout);
            getchar();
        }"""
    program = compiled(folder, "has_a_child", source, COMPILER, *WITHOUT_CXX)
    with subprocess.Popen([PROGRAM, "run", "--children", "follow", "--summary", "--", program],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, bufsize=1) as started:
        child = int(started.stdout.readline())
        started.send_signal(signal.SIGSTOP)
        started.stdin.write("\n")
        assert started.stdout.readline() == "gone\n"
        time.sleep(0.1)  # processes begin in ticks of 10 ms
        other = process_with_number(child, "")
        started.stdin.write("\n")
        started.send_signal(signal.SIGCONT)
        said = started.communicate(timeout=60)[1]
    if other is not None:
        other.communicate()
    assert "goes on" not in said and said.count("allocations") == 2, said


def knows_processes_of_other_namespaces(recorder, folder):
    """Where processes have other numbers for themselves, those of the command are meant: it asks
    the kernel whether they have ended."""
    apart = ["unshare", "--pid", "--fork"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode != 0:
        return  # only root may do so, and not in every container
    source = r"""
        #include <cstdio>
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        static void say() {
            char number[16] = {};
            free(malloc(9));
            if (readlink("/proc/self", number, 15) > 0) printf("%s %d\n", number, getpid());
            fflush(stdout);
        }
        int main() {
            say();
            for (int i = 0; i < 3; ++i) {
                if (fork() == 0) {
                    say();
                    _exit(0);
                }
            }
            while (wait(nullptr) > 0) {}
        }"""
    program = compiled(folder, "apart", source, COMPILER, *WITHOUT_CXX)
    done = recorder.run([*apart, program], "--children", "follow", "--output",
                        recorder.folder / "apart-%n-%p.json")
    said = [line.split() for line in done.stdout.splitlines()]
    assert sorted(own for _, own in said) == ["1", "2", "3", "4"], done.stdout
    found = {each.name for each in recorder.folder.glob("apart-apart-*.json")}
    assert found == {f"apart-apart-{number}.json" for number, _ in said}, (found, done.stdout)
    assert "goes on" not in done.stderr, done.stderr


def leaves_shared_memory_alone(recorder, folder):
    """A process that shares the memory of its maker goes on to record there when that has ended."""
    source = r"""
        #include <csignal>
        #include <cstdlib>
        #include <sched.h>
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static char stack[1 << 16];
        static int outlives(void*) {
            sleep(1);  // meanwhile the command sees that the maker has ended
            for (int i = 0; i < 1000; ++i) free(malloc(24));
            _exit(write(1, "well", 4) == 4 ? 0 : 1);
        }
        int main(int count, char** words) {
            if (count == 1) {
                if (fork() == 0) execl(words[0], "maker", "makes", nullptr);
                wait(nullptr);
                sleep(2);
                return 0;
            }
            prctl(PR_SET_DUMPABLE, 0);  // from now on its user may not look at it in /proc
            free(malloc(24));
            _exit(clone(outlives, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr) < 0);
        }"""
    program = compiled(folder, "shares", source, COMPILER, *WITHOUT_CXX)
    output = recorder.folder / "shares-%n.json"
    done = recorder.run([program], "--children", "follow", "--output", output)
    assert done.stdout == "well" and done.stderr == "", (done.stdout, done.stderr)
    report = json.loads((recorder.folder / "shares-maker.json").read_text())
    assert report["totals"]["allocations"] == 1001, report["totals"]
    done = subprocess.run([for_everybody(folder, PROGRAM), "run", "--children", "follow",
                           "--summary", "--", program], capture_output=True, text=True,
                          timeout=600, check=False, preexec_fn=become_nobody)
    assert done.stdout == "well", done
    assert "allocscope: maker: 1,001 allocations" in done.stderr, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        forgets_what_has_ended(folder, "for i in $(seq 40); do /bin/true; done")
        again = pathlib.Path(folder) / "again"
        again.write_text("[ $1 = 0 ] || exec sh $0 $(($1 - 1)); echo; read e")
        forgets_what_has_ended(folder, f"exec sh {again} 40")
        says_what_goes_on(recorder, folder)
        knows_what_goes_on_when_it_is_interrupted(recorder, folder)
        leaves_what_goes_on_alone(recorder, folder)
        takes_no_file_of_another_process(recorder, folder)
        takes_no_other_process_for_one_that_ended(recorder, folder)
        knows_processes_of_other_namespaces(recorder, folder)
        leaves_shared_memory_alone(recorder, folder)


main()
