"""symbols.py NM EXECUTABLE

The executable must define malloc and its family itself, as strong symbols that libraries see, and
must not refer to a name that glibc keeps to itself.
"""
import subprocess
import sys

EXPECTED = set("malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign"
               " valloc pvalloc malloc_usable_size free_sized free_aligned_sized".split())
# What the C library itself calls by name is exported whatever the program is linked with.
EXPORTED = {"malloc", "calloc", "realloc", "free"}


def symbols(nm, executable, *flags):
    listing = subprocess.run([nm, *flags, executable], capture_output=True, text=True,
                             check=True).stdout
    return [line.split()[-2:] for line in listing.splitlines()]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    nm, executable = sys.argv[1:]
    strong = {name for kind, name in symbols(nm, executable, "--defined-only") if kind == "T"}
    if EXPECTED - strong:
        sys.exit(f"not defined: {sorted(EXPECTED - strong)}")
    exported = {name for _, name in symbols(nm, executable, "-D", "--defined-only")}
    if EXPORTED - exported:
        sys.exit(f"not exported, so libraries do not see them: {sorted(EXPORTED - exported)}")
    private = [name for _, name in symbols(nm, executable, "-D", "--undefined-only")
               if name.endswith("@GLIBC_PRIVATE")]
    if private:
        sys.exit(f"glibc may change these in any release: {private}")
    print("all 13 are defined")


if __name__ == "__main__":
    main()
