"""run_refuses_test.py PROGRAM COMPILER

What `allocscope run` says where it cannot do what it is asked: bad options, programs that it cannot
record, files that cannot be written, a recording that was damaged.
"""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from recorded_programs import (Recorder, become_nobody, compiled, for_everybody, keeps,
                               totals)

PROGRAM, COMPILER = sys.argv[1:3]


def refuses(words, *expected, **environment):
    done = subprocess.run([PROGRAM, "run", *words], capture_output=True, text=True, timeout=600,
                          check=False, env={**os.environ, **environment})
    assert done.returncode == 2, (words, done.returncode, done.stderr)
    assert done.stdout == "", done.stdout
    for text in ("allocscope run: ", *expected):
        assert text in done.stderr, (text, done.stderr)


def says_what_is_wrong(program):
    refuses([], "no command is given", "allocscope run [options] -- COMMAND")
    refuses(["--"], "no command is given")
    refuses(["--record", "all", "--", program], '"all"', "exact, sampled or counters")
    refuses(["--sample-bytes", "0", program], '"0"', "from 1 to 1T")
    for beyond in ("2T", "16777216T", "99999999999999999999999"):
        refuses(["--sample-bytes", beyond, program], f'"{beyond}"', "from 1 to 1T")
    for wrong in ("64KB", "K", "1.5M", "4 K", "-1", ""):
        refuses(["--sample-bytes=" + wrong, program], f'"{wrong}"', "such as 4096, 64K, 10MiB")
    for record in ([], ["--record", "exact"], ["--record", "counters"]):
        refuses(["--sample-bytes", "64K", *record, program],
                "--sample-bytes is of use only with --record sampled")
    refuses([program], "ALLOCSCOPE_SAMPLE_BYTES is of use only with --record sampled",
            ALLOCSCOPE_SAMPLE_BYTES="64K")
    for wrong in ("0", "5 s", "soon", ""):
        refuses(["--age-step=" + wrong, program], f'"{wrong}"', "such as 500ms, 10s")
    refuses(["--age-step", "9ms", program], '"9ms"; it must be at least 10ms')
    refuses(["--age-step", "11575d", program], '"11575d"; it must be at most 11574d')
    refuses(["--age-step", "1s", "--record", "counters", program], "--age-step needs stacks")
    refuses(["--frames", "200", program], '"200"', "from 1 to 128")
    refuses(["--sort", "size", program], '"size"', "must be objects or bytes")
    refuses(["--sort", "bytes", "--summary", program], "--sort needs the report as text",
            "leave --summary out")
    refuses(["--sort", "bytes", "--format", "json", program], "leave it out")
    refuses(["--frames", "3", "--record", "counters", program],
            "--frames needs stacks; leave --record out")
    refuses(["--record", "counters", program],
            "ALLOCSCOPE_FRAMES needs stacks; leave --record out", ALLOCSCOPE_FRAMES="3")
    for output in ("--format=folded", "--output=a.csv"):
        refuses(["--record=counters", output, program],
                "needs stacks; leave --record out, or choose text, html, json or snapshot")
    refuses(["--frames", "-1", program], '"-1"')
    for seconds in ("0", "0x10", "0X1p4", " 5", "+5", "-5", "5s", "inf", "nan", ""):
        refuses([f"--every={seconds}", program], f'"{seconds}"', "seconds")
    offered = ("HUP", "USR1", "USR2", "ALRM", "WINCH", "URG", "IO", "PWR")
    refuses(["--on-signal", "KILL", program], '"KILL"', ", ".join(offered[:-1]) + " or PWR")
    for name in offered:
        subprocess.run([PROGRAM, "run", "--summary", "--on-signal", name, "true"], check=True)
    refuses(["--children", "some", program], '"some"', "follow or ignore")
    refuses(["--output", "a.docx", program], '"a.docx"', ".json")
    formats = ("text", "html", "json", "csv", "snapshot", "pprof", "folded", "speedscope",
               "dhat", "heaptrack", "massif", "callgrind")
    refuses(["--format", "xml", program], '"xml"', *formats)
    refuses(["--format", "pprof", program], '"pprof"', "--output")
    refuses(["--loud", program], '"--loud"', "--help")
    refuses(["--frames"], "--frames needs a value")
    refuses(["--output", "--", program], "--output needs a value")
    refuses(["--sample-bytes", "--", program], "--sample-bytes needs a value")
    refuses(["--memory=yes", program], "--memory takes no value", "=yes")
    refuses(["--help=3", program], '--help takes no value; leave "=3" out')
    refuses(["--library-frames", "*", program], '"*"', "fits every frame")
    for record in ("sampled", "counters"):
        refuses(["--details", "--record", record, program], "--details needs every allocation")
    refuses(["--details", program], "--details needs every", "leave ALLOCSCOPE_RECORD out",
            ALLOCSCOPE_RECORD="sampled")
    refuses(["--record", "counters", program], "ALLOCSCOPE_AGE_STEP needs stacks",
            "leave --record out", ALLOCSCOPE_AGE_STEP="1s")
    refuses([program], 'ALLOCSCOPE_FORMAT is "pprof", which is not text', ALLOCSCOPE_FORMAT="pprof")
    refuses([program], 'ALLOCSCOPE_OUTPUT is "a.docx"', ALLOCSCOPE_OUTPUT="a.docx")
    refuses([program], 'ALLOCSCOPE_SOURCES has "/build"', "not FROM=TO",
            ALLOCSCOPE_SOURCES="/a=/b:/build:/c=/d")
    refuses([program], 'ALLOCSCOPE_RECORD is "all"; it must be exact, sampled or counters',
            ALLOCSCOPE_RECORD="all")
    refuses([program], 'ALLOCSCOPE_MEMORY is "7"; it must be 0 or 1', ALLOCSCOPE_MEMORY="7")
    refuses([program], 'ALLOCSCOPE_SAMPLE_BYTES is "K"; it must be', ALLOCSCOPE_SAMPLE_BYTES="K")
    refuses(["--executable=", program], '--executable is ""; it must be a path')
    refuses(["--every", "1e10", program], '"1e10"', "from 0.01 to 1000000000")
    refuses(["--output", "-", program], '--output is "-"', "/dev/stdout")
    refuses(["--output", "/tmp", "--format", "text", program], '"/tmp"; that is a folder')
    for path, sign in (("%q.txt", "%q"), ("100%.txt", "%."), ("%%%.txt", "%."), ("heap%", "%")):
        refuses(["--output", path, program], f'"{path}"', f'"{sign}" stands for nothing', "%% for")
    refuses([program], 'ALLOCSCOPE_OUTPUT is "%q.txt"', ALLOCSCOPE_OUTPUT="%q.txt")
    refuses(["--output", "/no/such/folder/heap.txt", program], '"/no/such/folder/heap.txt"',
            'to "/no/such/folder/": No such file or directory')
    refuses(["--executable", "/no/such/file", program],
            '"/no/such/file" cannot be run: No such file or directory\n')
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


def says_that_a_report_was_killed(folder):
    """Nothing is wrong with its recording. It waits here for room in a pipe that nobody reads."""
    pipe = pathlib.Path(folder) / "pipe"
    os.mkfifo(pipe)
    both_ends = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(both_ends, bytes(4096))
    with subprocess.Popen([PROGRAM, "run", "--format", "text", "--output", pipe, "--",
                           "sh", "-c", "echo $$"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as started:
        program = started.stdout.readline().strip()
        children = pathlib.Path(f"/proc/{started.pid}/task/{started.pid}/children")
        while not (found := set(children.read_text().split()) - {program}):
            time.sleep(0.01)
        os.kill(int(found.pop()), signal.SIGKILL)
        said = started.communicate(timeout=60)[1]
    os.close(both_ends)
    assert started.returncode == 0 and "the report failed (signal 9): it was killed" in said, said


def trusts_no_library_of_others(folder, program):
    """Whoever can change the library decides what is done in every recorded program."""
    own = pathlib.Path(folder) / "own"
    own.mkdir()
    command = shutil.copy(PROGRAM, own)
    library = shutil.copy(pathlib.Path(PROGRAM).parent / "liballocscope_preload.so", own)

    def refusal():
        done = subprocess.run([command, "run", "--summary", "--", program], capture_output=True,
                              text=True, timeout=60, check=False)
        return done.stderr if done.returncode == 2 else ""
    assert refusal() == ""
    os.chmod(library, 0o757)
    assert f"{library} cannot be used: everybody may write to it" in refusal(), refusal()
    os.chmod(library, 0o755)
    if os.geteuid() == 0:
        os.chown(library, 65534, -1)
        assert f"{library} cannot be used: it belongs to another user" in refusal(), refusal()
        os.chown(command, 65534, -1)  # as root's files look in a user namespace without root
        assert refusal() == ""


def runs_the_program_where_no_process_is_left(folder):
    """The limit is that of a user, and none for root. The program runs in place of the command."""
    nobody_else = 60000 + os.getpid() % 5000  # tests beside this one have processes of nobody

    def allow_one_process():
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        become_nobody(nobody_else)

    run = [str(for_everybody(folder, PROGRAM)), "run", "--"]
    show = ["sh", "-c", "echo $LD_PRELOAD; exit 4"]
    done = subprocess.run([*run, *show], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "LD_PRELOAD": "libdl.so.2"},
                          preexec_fn=allow_one_process)
    assert (done.returncode, done.stdout) == (4, "libdl.so.2\n"), done
    assert "nothing is recorded: no process could be made" in done.stderr, done.stderr
    done = subprocess.run([*run, "/no/such/program"], capture_output=True, text=True, timeout=60,
                          check=False, preexec_fn=allow_one_process)
    assert done.returncode == 2 and "No such file" in done.stderr, done


def says_that_help_was_not_written():
    for words in (["--help"], ["--version"], ["run", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False)
        assert done.returncode == 2 and "No space left" in done.stderr, (words, done)


def says_that_proc_is_missing():
    hidden = ["unshare", "--mount", "--map-root-user", "sh", "-c",
              'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], check=False, capture_output=True).returncode != 0:
        return  # a container may not do so
    done = subprocess.run([*hidden, PROGRAM, "run", "true"], capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 2, done
    assert "only /proc/self/exe says: No such file or directory; mount /proc" in done.stderr, done


def says_that_nothing_can_be_loaded(recorder, folder, program):
    fixed = compiled(folder, "fixed", "int main() { return 5; }", COMPILER, "-static")
    done = recorder.run([fixed], code=5)
    assert "is statically linked" in done.stderr, done.stderr
    # An empty word in PATH is the folder in which the command was called.
    done = recorder.run([fixed.name], code=5, cwd=folder, env={**os.environ, "PATH": ":/usr/bin"})
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
    for flag, name in (("thread", "ThreadSanitizer"), ("leak", "LeakSanitizer")):
        made = compiled(folder, f"checked_{flag}", "int main() { return 6; }", COMPILER,
                        f"-fsanitize={flag}")
        assert name in recorder.run([made], code=6).stderr, name
    # Only its libraries may be compiled so.
    linked = compiled(folder, "linked_lsan", "int main() { return 6; }", COMPILER,
                      "-Wl,--no-as-needed", "-llsan")
    assert "LeakSanitizer" in recorder.run([linked], code=6).stderr
    # The name of musl's loader, behind which is the loader that this system has.
    loader = pathlib.Path(folder) / "ld-musl-x86_64.so.1"
    loader.symlink_to("/lib64/ld-linux-x86-64.so.2")
    of_musl = compiled(folder, "of_musl", "int main() { return 7; }", COMPILER,
                       f"-Wl,--dynamic-linker={loader}")
    assert "is linked with musl" in recorder.run([of_musl], code=7).stderr


def says_that_an_interpreter_is_missing(recorder, folder):
    script = pathlib.Path(folder) / "of_nobody"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    for words, missing in (([script], True), (["no_such_command"], False)):
        said = recorder.run(words, code=2).stderr
        assert f'"{words[0]}" cannot be run: No such file or directory' in said, said
        assert ("its interpreter or loader is missing" in said) == missing, said


def says_which_limit_is_too_low(recorder):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    done = recorder.run(["true"], "--summary", preexec_fn=limited)
    assert "File too large; raise the limit of ulimit -f" in done.stderr, done.stderr


def says_who_has_raised_privileges(recorder, folder):
    """A program that becomes another user or group is not recorded for root either."""
    if os.geteuid() != 0 or os.statvfs(folder).f_flag & os.ST_NOSUID:
        return
    raised = compiled(folder, "raised", "int main() { return 5; }", COMPILER)
    for user, group, mode in ((0, 65534, 0o2755), (65534, 0, 0o4755)):
        os.chown(raised, user, group)
        raised.chmod(mode)
        done = recorder.run([raised], code=5)
        assert "runs with raised privileges" in done.stderr, done.stderr
    raised.chmod(0o755)
    assert "privileges" not in recorder.run([raised], code=5).stderr


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


DAMAGES_ITS_RECORDING = r"""
#include <allocscope/state/recording_head.hpp>
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int, char** argv) {
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
    if (std::strcmp(argv[1], "threads") == 0) {
        thread_state* state = copy->threads.load();
        state->is_taken.store(false);
        state->next_state = state;
    } else {
        reinterpret_cast<recording_head*>(begin)->next.store(begin + (1UL << 45U));
    }
    usleep(300000);
    _exit(5);
}
"""


def reads_nothing_that_was_damaged(recorder, folder):
    """A program that writes nonsense over its list of threads, or over the head of its recording;
    it is read while it runs, too."""
    headers = pathlib.Path(__file__).resolve().parents[2] / "include"
    program = compiled(folder, "damages", DAMAGES_ITS_RECORDING, COMPILER, "-I", headers)
    for what, told in (("threads", "its list of threads has a loop"),
                       ("head", "its head names addresses outside of it")):
        for options in ([], ["--every", "0.1"]):
            done = recorder.run([program, what], *options, code=5)
            assert f"damages: the recording is damaged: {told}" in done.stderr, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        program = keeps(folder, COMPILER)
        says_what_is_wrong(str(program))
        shows_what_it_cannot_write(recorder, program)
        says_that_a_report_was_killed(folder)
        runs_the_program_where_no_process_is_left(folder)
        says_that_help_was_not_written()
        says_that_proc_is_missing()
        trusts_no_library_of_others(folder, program)
        says_that_nothing_can_be_loaded(recorder, folder, program)
        says_that_an_interpreter_is_missing(recorder, folder)
        says_which_limit_is_too_low(recorder)
        says_who_has_raised_privileges(recorder, folder)
        scripts_of_scripts(recorder, recorder.folder)
        counts_children_that_it_cannot_record(recorder, folder)
        reads_nothing_that_was_damaged(recorder, folder)


main()
