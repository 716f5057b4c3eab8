"""attach_hooks(): the calls of C libraries are counted, however they are linked, and put back."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "linking"))
from toolchain import WARNINGS, bench, check_all, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-g", "-fno-omit-frame-pointer", *WARNINGS]
IS_SOAK = "ALLOCSCOPE_TEST_SOAK" in os.environ
ROUNDS = 5000 if IS_SOAK else 200
FORKS = 500
# How the library is compiled and linked: each leaves other words and other relocations.
LIBRARIES = {
    "usual": [],
    "now": ["-Wl,-z,now"],
    "lazy": ["-Wl,-z,lazy"],
    "without_table": ["-fno-plt"],
    "without_relro": ["-Wl,-z,norelro"],
    "gold": ["-fuse-ld=gold"],
    "lld": ["-fuse-ld=lld"],
}

OTHERS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")


def make_library(compiler, folder, name, flags):
    made = folder / f"lib{name}.so"
    run([compiler, "-x", "c", "-std=gnu11", "-O1", "-Wall", "-Werror", "-fPIC", "-shared",
         HERE / "known_library.c", *flags, "-o", made])
    return made


def make_library_with_malloc(compiler, folder):
    made = folder / "libown.so"
    run([compiler, "-x", "c", "-std=gnu11", "-O1", "-fno-builtin", "-Wall", "-Werror", "-fPIC",
         "-shared", "-Wl,-z,lazy", HERE / "own_malloc.c", "-o", made])
    return made


def make_program(bench, compiler, folder, source, library, *, hooks="hooks.cpp", level="-O0",
                 options=()):
    """At -O0, which takes half the time to compile: both levels are tried by counts()."""
    fixed = [flag for flag in options if flag == "-fno-pie"]
    objects = [bench.compile(compiler, HERE / source, level, *fixed, *FLAGS),
               bench.compile(compiler, HERE / hooks, "-O0", "-g")]
    return bench.link(compiler, folder / pathlib.Path(source).stem, *objects, library,
                      f"-Wl,-rpath,{folder}", *[o for o in options if o != "-fno-pie"])


def odd_name(bench, compiler):
    """What is left alone is known by its place, not by its name."""
    folder = bench.folder(f"odd-name-{compiler}")
    library = make_library(compiler, folder, "known", ["-Wl,-soname,libknown.so"])
    named = folder / "ld-linux-allocscope-libc.so.6"
    shutil.copy(library, named)
    program = make_program(bench, compiler, folder, "counts.cpp", library, level="-O2")
    run([program, named, make_library_with_malloc(compiler, folder)])


def counts(bench, compiler, name, flags, level="-O2", options=()):
    folder = bench.folder(f"counts-{compiler}-{name}{level}{''.join(options)}")
    library = make_library(compiler, folder, "known", flags)
    late = folder / "liblate.so"
    shutil.copy(library, late)
    program = make_program(bench, compiler, folder, "counts.cpp", library, level=level,
                           options=options)
    run([program, late, make_library_with_malloc(compiler, folder)])


def other_malloc(bench, compiler, preloaded):
    folder = bench.folder(f"other-{compiler}-{preloaded.name}")
    library = make_library(compiler, folder, "known", [])
    late = folder / "liblate.so"
    shutil.copy(library, late)
    program = make_program(bench, compiler, folder, "counts.cpp", library, level="-O2")
    run([program, late, make_library_with_malloc(compiler, folder)],
        env=dict(os.environ, LD_PRELOAD=str(preloaded)))


def threads(bench, compiler):
    folder = bench.folder(f"threads-{compiler}")
    library = make_library(compiler, folder, "known", ["-Wl,-z,lazy"])
    copies = [folder / f"liblate{number}.so" for number in range(4)]
    for copy in copies:
        shutil.copy(library, copy)
    stopping = make_library(compiler, folder, "stopping", ["-DSTOPS_WHILE_IT_IS_LOADED"])
    program = make_program(bench, compiler, folder, "threads.cpp", library)
    run([program, ROUNDS, *copies, stopping])


def refused(bench, compiler):
    folder = bench.folder(f"refused-{compiler}")
    library = make_library(compiler, folder, "known", [])
    plain = make_program(bench, compiler, folder, "refused.cpp", library)
    plugin = folder / "plugin.so"
    run([compiler, "-std=c++17", "-fPIC", "-shared", "-O0", "-DIS_PLUGIN", *FLAGS,
         f"-I{bench.include}", HERE / "refused.cpp", "-o", plugin])
    run([plain, "another module", "0", plugin])
    program = make_program(bench, compiler, folder, "refused.cpp", library,
                           hooks="malloc_hooks.cpp")
    run([program, "malloc_family.hpp", "7"])


def other_tool(bench, compiler):
    folder = bench.folder(f"other-tool-{compiler}")
    library = make_library(compiler, folder, "known",
                           ["-DHAS_ONE_WORD", "-fno-plt", "-Wl,-z,norelro"])
    run([make_program(bench, compiler, folder, "other_tool.cpp", library)])


def forks(bench, compiler):
    folder = bench.folder(f"forks-{compiler}")
    library = make_library(compiler, folder, "known", ["-Wl,-z,lazy"])
    run([make_program(bench, compiler, folder, "forks.cpp", library), FORKS])


def forks_while(bench, compiler, folder_name, source):
    folder = bench.folder(f"{folder_name}-{compiler}")
    library = make_library(compiler, folder, "known", ["-Wl,-z,lazy"])
    program = make_program(bench, compiler, folder, source, library)
    for how in "fork", "_Fork":
        run([program, how])


def forks_in_walks(bench, compiler):
    forks_while(bench, compiler, "forks-in-walks", "forks_in_walks.cpp")


def forks_in_loader(bench, compiler):
    forks_while(bench, compiler, "forks-in-loader", "forks_in_loader.cpp")


def main():
    made = bench()
    cases = []
    for compiler in made.compilers:
        # How words are found depends on the linker and its options; what calls, on the compiler.
        is_second = compiler != made.compilers[0]
        for name, flags in LIBRARIES.items():
            if is_second and name != "usual":
                continue
            linker = [flag for flag in flags if flag.startswith("-fuse-ld")]
            if linker and not made.can_link(compiler, *linker):
                continue
            cases.append((f"{compiler}: library {name}",
                          lambda c=compiler, n=name, f=flags: counts(made, c, n, f)))
        cases.append((f"{compiler}: not optimised",
                      lambda c=compiler: counts(made, c, "usual", [], level="-O0")))
        for options in () if is_second else (("-Wl,-z,lazy",), ("-fno-pie", "-no-pie"),
                                             ("-fno-pie", "-no-pie", "-Wl,-z,lazy")):
            cases.append((f"{compiler}: program {' '.join(options)}",
                          lambda c=compiler, o=options: counts(made, c, "usual", [], options=o)))
        for name in () if is_second else OTHERS:
            for preloaded in pathlib.Path("/usr/lib/x86_64-linux-gnu").glob(name):
                cases.append((f"{compiler}: {name} preloaded",
                              lambda c=compiler, p=preloaded: other_malloc(made, c, p)))
        # What these are about is not what the compiler makes of it.
        for check in () if is_second and not IS_SOAK else (
                odd_name, other_tool, threads, forks, forks_in_walks, forks_in_loader, refused):
            cases.append((f"{compiler}: {check.__name__.replace('_', ' ')}",
                          lambda c=compiler, check=check: check(made, c)))
    check_all(cases)


if __name__ == "__main__":
    main()
