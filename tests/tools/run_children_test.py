"""run_children_test.py PROGRAM COMPILER

Programs under `allocscope run` that start others: which of them have reports, under which names,
and what becomes of those that outlive the command.
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

from recorded_programs import (WITHOUT_CXX, Recorder, become_nobody, compiled, for_everybody, keeps,
                               totals)

PROGRAM, COMPILER = sys.argv[1:3]


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
    assert sorted(set(names)) == ["ls", "sh", "wc"], names


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


def has_the_name_that_was_typed(recorder, folder):
    """Not that of the file behind a link, nor a title that a child has written over it."""
    source = r"""
        #include <cstdlib>
        #include <cstring>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int, char** arguments) {
            free(malloc(11));
            std::memset(arguments[0], 't', std::strlen(arguments[0]));
            if (fork() == 0) {
                free(malloc(5));
                exit(0);
            }
            wait(nullptr);
        }"""
    program = compiled(folder, "retitled", source, COMPILER, *WITHOUT_CXX)
    folder = recorder.folder
    link = folder / "typed"
    link.symlink_to(program)
    windows = [each["window"] for each in recorder.reports([link], "--children", "follow")]
    assert windows == ["typed", "typed"], windows
    recorder.run([link], "--output", folder / "of-%n.json")
    assert (folder / "of-typed.json").exists()
    far = folder / "a" / ("b" * 200) / ("c" * 200)
    far.mkdir(parents=True)
    (far / "far").symlink_to(program)
    assert "allocscope: far: " in recorder.run([far / "far"], "--summary").stderr
    named = recorder.report(["some/name"], "--executable", program)
    assert named["window"] == "name", named["window"]


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


def runs_in_a_namespace_of_its_own(recorder, folder):
    """Where the command itself has another number than /proc says, as after unshare --pid, it
    records the program and the children, and sees which of them are still there."""
    apart = ["unshare", "--pid", "--fork"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode != 0:
        return  # only root may do so, and not in every container
    source = r"""
        #include <cstdlib>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int count, char**) {
            if (count == 1 && fork() == 0) execl("/proc/self/exe", "child", "works", nullptr);
            for (int i = 0; i < 500; ++i) {
                free(malloc(9));
                usleep(1000);
            }
            while (wait(nullptr) > 0) {}
        }"""
    program = compiled(folder, "within", source, COMPILER, *WITHOUT_CXX)
    output = recorder.folder / "within-%n.json"
    done = subprocess.run([*apart, recorder.program, "run", "--children", "follow", "--output",
                           output, "--", program], capture_output=True, text=True, check=True)
    assert done.stderr == "", done.stderr
    for name in ("within", "child"):
        report = json.loads((recorder.folder / f"within-{name}.json").read_text())
        assert report["totals"]["allocations"] >= 500, (name, report["totals"])


def says_what_was_executed_unrecorded(recorder, folder):
    """Whoever reads the report of `env` must not take it for that of the program behind it."""
    text = "#include <cstdlib>\nint main() { std::free(std::malloc(9)); return 5; }"
    dynamic = compiled(folder, "with_libraries", text, COMPILER, *WITHOUT_CXX)
    static = compiled(folder, "without_any", text, COMPILER, "-static")
    said = "ended under another name, "
    for command, name in ((["env", "-i", dynamic], "with_libraries"),
                          (["env", static], "without_any"),
                          (["sh", "-c", f"exec {static}"], "without_any")):
        done = recorder.run(command, "--summary", code=5)
        assert f'allocscope run: {command[0]} {said}"{name}"' in done.stderr, done.stderr
    # Those that are recorded, and one that only calls itself something else.
    text = "#include <sys/prctl.h>\nint main() { return prctl(PR_SET_NAME, \"another\"); }"
    renamed = compiled(folder, "renamed", text, COMPILER)
    for command, code in (([dynamic], 5), (["env", dynamic], 5), ([renamed], 0),
                          (["sh", "-c", f"{static}; exit 5"], 5),
                          (["sh", "-c", "kill -9 $$"], 137)):
        done = recorder.run(command, "--summary", code=code)
        assert said not in done.stderr, done.stderr


def records_what_others_start(recorder, folder):
    """A static program, as many of Go and Rust are, is not recorded, but hands the library on. The
    loader loads the program that it gets as an argument."""
    text = "#include <cstdlib>\nint main() { std::free(std::malloc(9)); return 5; }"
    dynamic = compiled(folder, "is_started", text, COMPILER, *WITHOUT_CXX)
    text = "#include <sys/wait.h>\n#include <unistd.h>\nint main(int, char** words) {" \
           " if (words[2] != nullptr && fork() != 0) { wait(nullptr); return 6; }" \
           " execv(words[1], words + 1); }"
    static = compiled(folder, "starts_it", text, COMPILER, "-static")
    path = recorder.folder / "report.json"
    for words, options, code in (([static, dynamic], [], 5),
                                 ([static, dynamic, "forks"], ["--children", "follow"], 6)):
        done = recorder.run(words, "--output", path, *options, code=code)
        assert f'not recorded: "{static}" is statically linked' in done.stderr, done.stderr
        found = json.loads(path.read_text())
        assert (found["window"], found["command"]) == (dynamic.name, str(dynamic)), found
        assert totals(found) == (1, 1, 9), found
        path.unlink()
    link = recorder.folder / "as_typed"
    link.symlink_to(keeps(folder, COMPILER))
    loader = "/lib64/ld-linux-x86-64.so.2"
    said = recorder.run([loader, link], "--summary", code=4).stderr
    assert "not recorded" not in said, said
    found = recorder.report([loader, link], code=4)
    assert (found["window"], totals(found)) == ("as_typed", (150, 50, 3350)), found
    assert all(row["line"] for row in found["rows"]), found["rows"]


def says_which_children_are_not_recorded(recorder, folder):
    """A report of `make` or of a shell lacks what a static program did that it started."""
    text = "#include <unistd.h>\nint main() { sleep(5); return 5; }"
    dynamic = compiled(folder, "sleeps", text, COMPILER, *WITHOUT_CXX)
    static = compiled(folder, "sleeps_static", text, COMPILER, "-static")
    text += "\n#include <cstddef>\nextern \"C\" void* malloc(std::size_t) { return nullptr; }"
    own = compiled(folder, "has_malloc", text, COMPILER, *WITHOUT_CXX)
    script = f"{static} & {static} & {own} & env -i {dynamic} & {dynamic}"
    done = recorder.run(["sh", "-c", f"{script}; wait"], "--summary", "--children", "follow")
    for said in (f', 2 processes: "{static}" is statically linked, so no library can be loaded',
                 f': "{own}" has a malloc of its own, or could not open the recording',
                 f': "{dynamic}" has not loaded the library (env -i, LD_PRELOAD set anew, chroot)'):
        assert f"allocscope run: not recorded{said}" in done.stderr, (said, done.stderr)
    assert done.stderr.count("not recorded") == 3, done.stderr
    done = recorder.run(["sh", "-c", f"{static}; exit 5"], "--summary", code=5)
    assert "not recorded" not in done.stderr, done.stderr
    # The first looks meet one that has not come to loading libraries.
    text = r"""
        #include <sys/ptrace.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int, char** words) {
            const pid_t child = fork();
            if (child == 0) {
                ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
                execv(words[1], words + 1);
            }
            waitpid(child, nullptr, 0);
            sleep(2);
            ptrace(PTRACE_DETACH, child, nullptr, nullptr);
            return waitpid(child, nullptr, 0) != child;
        }
    """
    delays = compiled(folder, "delays", text, COMPILER, *WITHOUT_CXX)
    done = recorder.run([delays, own], "--summary", "--children", "follow")
    said = f'not recorded: "{own}" has a malloc of its own'
    assert said in done.stderr, done.stderr
    # One that is recorded, and a fork of it that only gets another name.
    text = r"""
        #include <sys/prctl.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main() {
            if (fork() != 0) return wait(nullptr) < 0;
            prctl(PR_SET_NAME, "worker");
            sleep(3);
            _exit(0);
        }
    """
    worker = compiled(folder, "has_worker", text, COMPILER, *WITHOUT_CXX)
    done = recorder.run(["sh", "-c", f"{worker}; exit 5"], "--summary", "--children", "follow",
                        code=5)
    assert "not recorded" not in done.stderr, done.stderr


def killed_before_they_began(recorder, folder):
    """GNU parallel counts how many processes there may be: it forks some, and kills them at once.
    Such a child has allocated nothing, so it is missed as little as one that never allocates. The
    kernel ends these in their first allocation: where they map their part of the recording, and
    where they have mapped it. A child that ends after them is reported while the program runs."""
    source = r"""
        #include <cstddef>
        #include <cstdio>
        #include <cstdlib>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void die_at(unsigned call) {
            sock_filter rules[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
            const sock_fprog program = {4, rules};
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(77);
        }
        int main(int count, char** words) {
            free(malloc(9));
            int killed = 0;
            const unsigned calls[] = {SYS_mmap, SYS_mremap};
            for (const unsigned call : calls) {
                if (fork() == 0) {
                    die_at(call);
                    _exit(malloc(5) != nullptr ? 1 : 2);
                }
                int status = 0;
                wait(&status);
                if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return 77;
                killed += WIFSIGNALED(status) ? 1 : 0;
            }
            if (count == 1) return killed;
            const pid_t last = fork();
            if (last == 0) _exit(malloc(6) != nullptr ? 0 : 1);
            waitpid(last, nullptr, 0);
            char report[4096];
            snprintf(report, sizeof report, "%s-%d.json", words[1], static_cast<int>(last));
            for (int i = 0; i < 1200 && access(report, F_OK) != 0; ++i) usleep(50'000);
            return access(report, F_OK) == 0 ? killed : 5;
        }"""
    program = compiled(folder, "killed", source, COMPILER, *WITHOUT_CXX)
    if subprocess.run([program], check=False).returncode == 77:
        return  # the kernel refuses such filters here
    path = recorder.folder / "killed"
    done = recorder.run([program, path], "--children", "follow", "--output", f"{path}-%p.json",
                        code=2)
    assert done.stderr == "", done.stderr
    reports = [json.loads(each.read_text()) for each in recorder.folder.glob("killed-*.json")]
    assert sorted(totals(each) for each in reports) == [(1, 0, 6), (1, 1, 9)], reports


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
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        children(recorder, folder)
        forgets_what_has_ended(folder, "for i in $(seq 40); do /bin/true; done")
        again = pathlib.Path(folder) / "again"
        again.write_text("[ $1 = 0 ] || exec sh $0 $(($1 - 1)); echo; read e")
        forgets_what_has_ended(folder, f"exec sh {again} 40")
        has_the_name_that_was_typed(recorder, folder)
        says_what_goes_on(recorder, folder)
        leaves_what_goes_on_alone(recorder, folder)
        takes_no_file_of_another_process(recorder, folder)
        takes_no_other_process_for_one_that_ended(recorder, folder)
        knows_processes_of_other_namespaces(recorder, folder)
        leaves_shared_memory_alone(recorder, folder)
        runs_in_a_namespace_of_its_own(recorder, folder)
        says_what_was_executed_unrecorded(recorder, folder)
        records_what_others_start(recorder, folder)
        says_which_children_are_not_recorded(recorder, folder)
        killed_before_they_began(recorder, folder)
        generations(recorder, folder)


main()
