"""killed_test.py ALLOCSCOPE COMPILER

A program is killed while a thread of it moves sums from its tables into the window. Each time the
report has every event exactly, or says that numbers may be wrong; and there are such moments.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, compiled, totals

MOST_RUNS = 200
WANTED_DECLARATIONS = 3

# The second thread takes over the state of the first, and what that one counted is over. When the
# second one ends, the sums of 30,000 stacks are moved.
SOURCE = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void* volatile sink;
volatile bool ends;

#define KEEP_FRAME asm volatile("" ::: "memory")
__attribute__((noinline)) void walk(unsigned turns, int depth);
__attribute__((noinline)) void left(unsigned turns, int depth) { walk(turns, depth); KEEP_FRAME; }
__attribute__((noinline)) void right(unsigned turns, int depth) { walk(turns, depth); KEEP_FRAME; }

__attribute__((noinline)) void walk(unsigned turns, int depth) {
    if (depth == 0) {
        sink = malloc(24);
        free(sink);
    } else if (turns % 2 != 0) {
        right(turns / 2, depth - 1);
    } else {
        left(turns / 2, depth - 1);
    }
    KEEP_FRAME;
}

void* allocate_from(void* stacks) {
    for (unsigned i = 0; i < (size_t)stacks; ++i) walk(i, 16);
    if ((size_t)stacks != 30000) ends = true;
    return nullptr;
}

long microseconds(void) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(int, char** arguments) {
    pthread_t thread;
    pthread_create(&thread, nullptr, allocate_from, (void*)30000);
    pthread_join(thread, nullptr);
    pthread_create(&thread, nullptr, allocate_from, (void*)62000);
    while (!ends) {}
    for (long begin = microseconds(); microseconds() - begin < atol(arguments[1]);) {}
    kill(getpid(), SIGKILL);
}
"""


def report_of(allocscope, program, folder, delay):
    path = folder / "report.json"
    subprocess.run([allocscope, "run", "--frames", "64", "--output", str(path), "--", str(program),
                    str(delay)], check=False)
    return json.loads(path.read_text())


def main():
    allocscope, compiler = sys.argv[1:]
    declarations = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compiled(folder, "killed", SOURCE, compiler, *WITHOUT_CXX)
        undisturbed = report_of(allocscope, program, folder, 200000)
        for turn in range(MOST_RUNS):
            report = report_of(allocscope, program, folder, turn * 37 % 100 * 100)
            declared = report["lost"]["torn_sums"] != 0
            declarations += declared
            if not declared and totals(report) != totals(undisturbed):
                print(f"{totals(report)}, not {totals(undisturbed)}, and nothing is declared")
                return 1
            if declarations == WANTED_DECLARATIONS:
                return 0
    print(f"{declarations} of {MOST_RUNS} reports say that sums were being moved")
    return 1


if __name__ == "__main__":
    sys.exit(main())
