"""Snapshots of a program whose heap is known, and what the verbs of `allocscope` print of them."""
import contextlib
import pathlib
import subprocess
import tempfile
import types

from recorded_programs import Recorder, WITHOUT_CXX, compiled

# Keeps `kept` objects of 100 bytes and one of 5,000, and allocates 70 of 1,000 that it frees.
SOURCE = """#include <stdlib.h>
struct node { char bytes[100]; };
static void* kept[1000];
template <class T> T seen(T p) { asm volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void* make_node() { return seen(malloc(sizeof(node))); }
__attribute__((noinline)) void* make_large() { return seen(malloc(5000)); }
__attribute__((noinline)) void churn() { free(seen(malloc(1000))); asm volatile(""); }
int main(int count, char**) {
    for (int i = 0; i < count * 10; ++i) kept[i] = make_node();
    kept[999] = make_large();
    for (int i = 0; i < 70; ++i) churn();
    asm volatile("" : : "m"(kept));
}
"""


class Shown:
    """Verbs of the program, and what they print."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *words, code=0):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        if code == 0:
            assert done.stderr == "", (words, done.stderr)
            return done.stdout
        assert done.stdout == "", (words, done.stdout)
        return done.stderr


def table(text):
    """The lines of a table as lists of words, without its title."""
    return [line.split() for line in text.splitlines()[1:]]


@contextlib.contextmanager
def known_heap(program, compiler):
    """The program above and two snapshots of it, and what records and shows more."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        heap = types.SimpleNamespace(
            compiler=compiler, folder=folder, recorder=Recorder(program, folder),
            show=Shown(program), known=compiled(folder, "known", SOURCE, compiler, *WITHOUT_CXX),
            old=folder / "old.allocscope", new=folder / "new.allocscope")
        heap.recorder.run([heap.known], "--output", heap.old)
        heap.recorder.run([heap.known, "more"], "--output", heap.new)
        yield heap
