"""run_answers_test.py PROGRAM COMPILER

What `allocscope run` answers: numbers and rows however the program ends, in every format, on
stderr or in a file.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled, keeps, totals

PROGRAM, COMPILER = sys.argv[1:3]


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


def follow_each_other_in_one_process(recorder):
    """A program ends when its process executes another one: their windows do not overlap, so that
    they can be merged. Their files have the same ending."""
    command = ["sh", "-c", "exec env sleep 0.02"]
    first, second, third = recorder.reports(command, "--details")
    assert [each["window"] for each in (first, second, third)] == ["sh", "env", "sleep"]
    for earlier, later in ((first, second), (second, third)):
        began = later["taken_unix_ns"] - later["duration_ns"]
        assert earlier["taken_unix_ns"] < began + 1000000, (earlier, later)
    path = recorder.folder / "other.allocscope"
    recorder.run(command, "--output", path)
    paths = sorted(recorder.folder.glob("other.*allocscope"))
    assert [each.name for each in paths] == [f"other.{number}allocscope"
                                             for number in ("2.", "3.", "")], paths
    shown = subprocess.run([recorder.program, "show", "--format", "json", *paths], text=True,
                           capture_output=True, timeout=600, check=True)
    assert totals(json.loads(shown.stdout)) == tuple(
        sum(each) for each in zip(*map(totals, (first, second, third)))), shown
    done = recorder.run(command, "--output", "/dev/stdout", "--format", "csv")
    assert done.stdout.count("file,line,") == 3, done.stdout


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
    recorder.run([program], "--output", recorder.folder / "100%%-%n%%n.txt", code=4)
    assert (recorder.folder / "100%-keeps%n.txt").exists()
    environment = {**os.environ, "ALLOCSCOPE_SUMMARY": "1", "ALLOCSCOPE_RECORD": "counters"}
    done = recorder.run([program], code=4, env=environment)
    assert done.stderr.startswith("allocscope: keeps: 150 allocations"), done.stderr


def says_how_to_see_the_peak(recorder, folder):
    hint = "most of the peak was freed: run with --details to see what was alive then"
    program = compiled(folder, "frees", """#include <cstdlib>
void* volatile most;
void* volatile rest;
int main(int count, char**) {
    most = malloc(100000);
    rest = malloc(count == 1 ? 100 : 20000);
    free(most);
}
""", COMPILER, *WITHOUT_CXX)
    in_a_file = ("--output", recorder.folder / "frees.txt")
    for command, options, is_said in (([program], (), True), ([program, "more"], (), False),
                                      ([program], ("--details",), False),
                                      ([program], ("--record", "counters"), False),
                                      ([program], in_a_file, False)):
        seen = recorder.run(command, *options).stderr
        assert (hint in seen) == is_said, (command, options, seen)


def sorts_rows(recorder, folder):
    program = compiled(folder, "sizes", """#include <cstdlib>
static void* kept[11];
int main() {
    for (int i = 0; i < 10; ++i) kept[i] = malloc(3);
    kept[10] = malloc(5000);
}
""", COMPILER, *WITHOUT_CXX)
    for options, order in (((), [4, 5]), (("--sort", "objects"), [4, 5]),
                           (("--sort", "bytes"), [5, 4])):
        seen = recorder.run([program], *options).stderr
        assert [int(line) for line in re.findall(r"sizes\.cpp:(\d+):", seen)] == order, seen


def knows_types_by_their_sizes(recorder, folder):
    """Objects that are alive at the end of the program cannot be read, but have their sizes."""
    program = compiled(folder, "types", """struct part { long numbers[7]; } one;
static void* volatile kept[9];
static int at;
static void* keep(void* block) { return kept[at++] = block; }
#define KEEP(T, count) keep(new T count)
#define KEEP_NEW(T, count) KEEP(T, count)
int main(int count, char**) {
    for (int i = 0; i < 3; ++i) KEEP_NEW(part, {});
    for (int i = 0; i < 2; ++i) KEEP_NEW(part, [count + i + 1]);
}
""", COMPILER)
    rows = recorder.report([program])["rows"]
    seen = {row["line"]: row["type"] for row in rows if row["file"].endswith("types.cpp")}
    assert seen == {8: "part", 9: "?"}, rows


def one_of_each(recorder):
    source = """
        extern "C" void* malloc(unsigned long);
        extern "C" void free(void*);
        int main() { free(malloc(1)); return malloc(1) == nullptr; }
    """
    program = compiled(recorder.folder, "one", source, COMPILER, *WITHOUT_CXX)
    done = recorder.run([program], "--summary")
    assert done.stderr == ("allocscope: one: 2 allocations, 1 free, 2 bytes allocated; alive:"
                           " 1 object of 1 byte; peak 1 byte\n"), done.stderr


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


def keeps_secrets(recorder, program):
    """The environment is in no report, arguments only where --include-cmdline asks for them; nobody
    else may read it."""
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
    # One line for all programs, however many there are.
    for children, others in ((1, "1 other program"), (3, "3 other programs")):
        script = "i=0; while [ $i -lt %d ]; do %s _exit; i=$((i + 1)); done; kill -9 $$" % (
            children, program)
        done = recorder.run(["sh", "-c", script], "--memory", "--children", "follow", code=137)
        (said,) = [line for line in done.stderr.splitlines() if "it is not known" in line]
        assert f" and {others}: it is not known where their memory was: they" in said, said
    done = recorder.run([program, "return"], env={**os.environ, "ALLOCSCOPE_MEMORY": "1"})
    assert "\nresident memory  " in done.stderr, done.stderr
    assert "memory" not in recorder.report([program, "return"])


def says_which_variable_is_misspelled(recorder, program):
    """A variable that nobody reads gets a line when it is nearly one that is read. Others are the
    program's own, or a build's."""
    for given, meant in (("ALLOCSCOPE_RECROD", "ALLOCSCOPE_RECORD"),
                         ("ALLOCSCOPE_EVRY", "ALLOCSCOPE_EVERY"),
                         ("ALLOCSCOPE_SAMPEL_BYTE", "ALLOCSCOPE_SAMPLE_BYTES"),
                         ("ALLOCSCOPE_BUILD", ""), ("ALLOCSCOPE_LIFT", ""),
                         ("ALLOCSCOPE_SOURCES", ""), ("OTHER_RECROD", "")):
        done = recorder.run([program], "--summary", code=4, env={**os.environ, given: "/a=/b"})
        line = f"allocscope run: nobody reads the variable {given}; is {meant} meant?\n"
        assert done.stderr.count("\n") == (2 if meant else 1), done.stderr
        assert not meant or done.stderr.startswith(line), done.stderr


def names_the_package_of_a_library(recorder, folder):
    """The loader finds /lib/x86_64-linux-gnu/libstdc++.so.6, and the package lists it in /usr."""
    library = pathlib.Path("/lib/x86_64-linux-gnu/libstdc++.so.6")
    lists = pathlib.Path("/var/lib/dpkg/info")
    if not (lists / "libstdc++6:amd64.list").exists() or \
            (lists / "libstdc++6-dbgsym:amd64.list").exists():
        return
    program = compiled(folder, "linked", "#include <new>\nint main() { delete new int; }", COMPILER,
                       "-Wl,--no-as-needed", "-lstdc++")
    link = pathlib.Path(folder) / "libstdc++.so.6"  # as an administrator may choose among several
    link.symlink_to(library)
    for variables in ({}, {"LD_LIBRARY_PATH": str(folder)}):
        said = recorder.run([program], env={**os.environ, **variables}).stderr
        assert "libstdc++.so.6: no debug information; the package libstdc++6-dbgsym has it" in \
            " ".join(said.split()), said


ENDED_BY_A_FILTER = r"""
#include <cstddef>
#include <cstdlib>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
    free(malloc(argc));
    if (argv[1][0] == 'e') return 159;
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {4, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
    getppid();
}
"""


def says_what_a_filter_ends(recorder, folder):
    program = compiled(folder, "ended_by_a_filter", ENDED_BY_A_FILTER, COMPILER)
    if subprocess.run([program, "filter"], check=False).returncode == 77:
        return
    for mode, is_said in (("filter", True), ("exit", False)):
        said = recorder.run([program, mode], "--summary", code=159).stderr
        assert ("was ended by SIGSYS: it has a filter" in said) == is_said, said


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        program = keeps(folder, COMPILER)
        is_complete_however_the_program_ends(recorder, program)
        follow_each_other_in_one_process(recorder)
        counts_and_samples(recorder, program)
        places_rows_in_callers(recorder, program)
        text_and_summary(recorder, program)
        sorts_rows(recorder, folder)
        knows_types_by_their_sizes(recorder, folder)
        says_how_to_see_the_peak(recorder, folder)
        one_of_each(recorder)
        writes_every_format(recorder, program)
        keeps_secrets(recorder, program)
        says_which_variable_is_misspelled(recorder, program)
        records_with_closed_descriptors(recorder, program)
        explains_memory(recorder, folder)
        names_the_package_of_a_library(recorder, folder)
        says_what_a_filter_ends(recorder, folder)


main()
