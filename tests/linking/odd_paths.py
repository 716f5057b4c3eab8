"""Names are right, or honestly poorer, wherever the program's file lies and however it is started.

From a folder with an end of line in its name, from a path of 5,000 characters, by naming the
program to the loader, and without /proc; each with and without a build id.
"""
import os
import pathlib
import subprocess

from toolchain import SOURCES, WARNINGS, bench, check_all, expect, failure, run

TEXT = (SOURCES / "odd_paths.cpp").read_text()
LINE = TEXT[:TEXT.index("the line")].count("\n") + 1
KNOWN = f"{LINE} widget\n"
LOADER = "/lib64/ld-linux-x86-64.so.2"


def linked(program, path, **options):
    """The program under another name. A file that was written here could be busy when it is run: a
    child that another thread starts at that moment has it open, too."""
    os.link(program, path, **options)
    return path


def from_an_odd_folder(folder, program):
    odd = folder / "two\nlines"
    odd.mkdir()
    moved = linked(program, odd / "p\nq")
    expect(run([moved]).stdout, KNOWN, "an end of line in the path")
    expect(run([LOADER, moved]).stdout, KNOWN, "the same, named to the loader")
    # The kernel writes the end of a line with the very characters that this name has.
    moved = linked(program, odd / "\\012")
    expect(run([moved]).stdout, KNOWN, "four characters that look like an end of line")


def from_far_below(folder, program):
    """A path that is longer than a path may be."""
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(25):
            name = "d" * 200
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        linked(program, "p", dst_dir_fd=here)
        done = run(["./p"], preexec_fn=lambda: os.fchdir(here))
        expect(done.stdout, KNOWN, "a path of 5,000 characters")
    finally:
        os.close(here)
        subprocess.run(["rm", "-rf", folder / ("d" * 200)], check=False)


def by_the_loader(program):
    expect(run([LOADER, program]).stdout, KNOWN, "the program named to the loader")
    expect(run([LOADER, "./" + program.name], cwd=program.parent).stdout, KNOWN,
           "the program named to the loader without its folder")


def without_proc(program):
    """In a mount namespace of its own, where that is allowed."""
    script = f'mount -t tmpfs none /proc && exec "{program}"'
    done = run(["unshare", "-rm", "sh", "-c", script], must_succeed=False)
    if done.returncode != 0:
        return "not tried without /proc: " + done.stderr.strip()[:60]
    if done.stdout != KNOWN:
        raise failure(f"without /proc: {done.stdout}{done.stderr}")
    return None


def check(tools, compiler, id_flag):
    folder = tools.folder(f"paths {compiler} {id_flag}")
    main = tools.compile(compiler, "odd_paths.cpp", "-O2", "-g", *WARNINGS)
    program = tools.link(compiler, folder / "p", id_flag, main, tools.hooks(compiler))
    expect(run([program]).stdout, KNOWN, "at its own place")
    from_an_odd_folder(folder, program)
    from_far_below(folder, program)
    by_the_loader(pathlib.Path(program))
    return without_proc(program)


def main():
    tools = bench()
    check_all([(f"{compiler} {id_flag}", lambda c=compiler, i=id_flag: check(tools, c, i))
               for compiler in tools.compilers
               for id_flag in ("-Wl,--build-id=sha1", "-Wl,--build-id=none")])


if __name__ == "__main__":
    main()
