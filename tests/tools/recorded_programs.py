"""Programs that the tests of `allocscope run` compile and record, and what comes out."""
import json
import os
import pathlib
import shutil
import subprocess
import time


# The C++ library allocates when it is loaded, and clang++ always loads it.
WITHOUT_CXX = ("-nodefaultlibs", "-lc")


def compiled(folder, name, source, compiler, *flags):
    """Compiles C++ (or a library, with -shared among the flags); returns its path."""
    path = pathlib.Path(folder) / f"{name}.cpp"
    path.write_text(source)
    made = pathlib.Path(folder) / name
    subprocess.run([compiler, "-std=c++17", "-g", "-O1", "-fno-builtin", str(path), "-o", str(made),
                    *map(str, flags)], check=True)
    return made


class Recorder:
    """Runs commands under `allocscope run`."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)

    def run(self, command, *options, code=0, **more):
        """The finished process; its stdout and stderr are text. `code` None takes any."""
        done = subprocess.run([self.program, "run", *map(str, options), "--", *map(str, command)],
                              capture_output=True, text=True, timeout=600, check=False, **more)
        assert code in (None, done.returncode), (command, done.returncode, done.stdout, done.stderr)
        return done

    def reports(self, command, *options, code=0, **more):
        """The JSON reports of all programs that were recorded, in the order of their start."""
        path = self.folder / "report.json"
        for old in self.folder.glob("report.*json"):
            old.unlink()
        self.run(command, *options, "--output", path, code=code, **more)
        return self.read_reports(path)

    @staticmethod
    def read_reports(path):
        """What a run with --output=path has left, in the order in which the programs started."""
        found = [path, *(path.with_name(f"{path.stem}.{i}{path.suffix}") for i in range(2, 2000))]
        return [json.loads(each.read_text()) for each in found if each.exists()]

    def report(self, command, *options, code=0, **more):
        """The report of the one program that was recorded."""
        reports = self.reports(command, *options, code=code, **more)
        assert len(reports) == 1, [each["window"] for each in reports]
        return reports[0]


def for_everybody(folder, program):
    """A copy of the command that every user can run, in a folder which every user can read."""
    place = pathlib.Path(folder) / "for_everybody"
    if not place.exists():
        place.mkdir()
        for name in ("allocscope", "liballocscope_preload.so"):
            shutil.copy(pathlib.Path(program).parent / name, place)
        for each in (folder, place):
            os.chmod(each, 0o755)
    return place / "allocscope"


def become_nobody(user=65534):
    """Between fork and exec: root's rights are gone. Others have none that matter."""
    if os.geteuid() == 0:
        os.setresuid(user, user, user)


def totals(report):
    """Allocations, frees, bytes allocated."""
    found = report["totals"]
    return found["allocations"], found["frees"], found["bytes_allocated"]


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


def keeps(folder, compiler):
    """A program that keeps 100 of 150 blocks and ends as it is told, with 4 if nobody does."""
    return compiled(folder, "keeps", KEEPS, compiler, *WITHOUT_CXX)


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
