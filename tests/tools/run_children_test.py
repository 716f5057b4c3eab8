"""run_children_test.py PROGRAM COMPILER

Programs under `allocscope run` that start others: which of them have reports, under which names.
"""
import json
import subprocess
import sys
import tempfile
import time

from recorded_programs import WITHOUT_CXX, Recorder, compiled, keeps, totals

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
    (folder / "program").mkdir()
    recorder.run(["some/.."], "--executable", program, "--output", folder / "%n" / "heap.json")
    assert (folder / "program" / "heap.json").exists()


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


def has_a_clock_of_its_own(recorder, folder):
    """A program in a time namespace was not recorded for a day, and no mark of its age is from
    before it began. It ends without its exit handlers, so that the command says when."""
    source = r"""
        #include <cstdlib>
        #include <unistd.h>
        int main() {
            for (int i = 0; i < 1000; ++i) {
                free(malloc(9));
                malloc(5);
                usleep(1000);
            }
            _exit(0);
        }"""
    program = compiled(folder, "timed", source, COMPILER, *WITHOUT_CXX)
    half_of_uptime = int(time.clock_gettime(time.CLOCK_MONOTONIC) / 2)
    for ahead in (86400, -half_of_uptime):
        apart = ["unshare", "--time", "--fork", "--monotonic", str(ahead)]
        if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode != 0:
            return  # only root may do so, from Linux 5.6 on
        began = time.monotonic()
        reports = recorder.reports([*apart, program], "--children", "follow", "--details",
                                   "--every", "0.1", "--age-step", "0.1")
        took = 1e9 * (time.monotonic() - began)
        timed = [each for each in reports if each["window"] == "timed"]
        assert len(timed) == 1, [each["window"] for each in reports]
        for report in reports:
            assert report["duration_ns"] <= took, (ahead, report["duration_ns"], took)
        moments = [each["at_ns"] for each in timed[0]["moments"]]
        assert moments == sorted(set(moments)), (ahead, moments)
        ages = [each["least_ns"] for each in timed[0]["ages"]]
        assert ages and max(ages) <= took, (ahead, ages)


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


def names_what_begins_slowly(recorder, folder):
    """A child is stopped when it has its place in the recording, and no name there yet. Meanwhile
    one that began later ends, and is reported."""
    source = r"""
        #include <csignal>
        #include <cstdio>
        #include <cstdlib>
        #include <sys/ptrace.h>
        #include <sys/syscall.h>
        #include <sys/user.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main() {
            free(malloc(11));
            const pid_t slow = fork();
            if (slow == 0) {
                if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
                raise(SIGSTOP);
                free(malloc(5));
                _exit(0);
            }
            int status = 0;
            waitpid(slow, &status, 0);
            if (WIFEXITED(status)) return 3;  // nobody may trace here
            user_regs_struct registers = {};
            while (WIFSTOPPED(status) && registers.orig_rax != SYS_mmap) {
                ptrace(PTRACE_SYSCALL, slow, nullptr, nullptr);
                waitpid(slow, &status, 0);
                ptrace(PTRACE_GETREGS, slow, nullptr, &registers);
            }
            const pid_t quick = fork();
            if (quick == 0) {
                free(malloc(7));
                _exit(0);
            }
            waitpid(quick, &status, 0);
            sleep(1);
            ptrace(PTRACE_DETACH, slow, nullptr, nullptr);
            waitpid(slow, &status, 0);
            printf("%d %d %d", getpid(), slow, quick);
        }"""
    program = compiled(folder, "slow", source, COMPILER, *WITHOUT_CXX)
    done = recorder.run([program], "--children", "follow", "--output",
                        recorder.folder / "begun-%n-%p.json", code=None)
    if done.returncode == 3:
        return
    found = {each.name for each in recorder.folder.glob("begun-*.json")}
    assert found == {f"begun-slow-{number}.json" for number in done.stdout.split()}, found


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        children(recorder, folder)
        has_the_name_that_was_typed(recorder, folder)
        runs_in_a_namespace_of_its_own(recorder, folder)
        has_a_clock_of_its_own(recorder, folder)
        says_what_was_executed_unrecorded(recorder, folder)
        records_what_others_start(recorder, folder)
        says_which_children_are_not_recorded(recorder, folder)
        killed_before_they_began(recorder, folder)
        generations(recorder, folder)
        names_what_begins_slowly(recorder, folder)


main()
