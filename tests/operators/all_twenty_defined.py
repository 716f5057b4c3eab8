"""all_twenty_defined.py NM EXECUTABLE

The executable must define all 20 replaceable operators itself, as symbols that libraries see.
"""
import subprocess
import sys

ALIGNED = "std::align_val_t"
NOTHROW = "std::nothrow_t const&"
SIZE = "unsigned long"
NEW = [[SIZE], [SIZE, NOTHROW], [SIZE, ALIGNED], [SIZE, ALIGNED, NOTHROW]]
DELETE = [["void*"], ["void*", NOTHROW], ["void*", SIZE], ["void*", ALIGNED],
          ["void*", ALIGNED, NOTHROW], ["void*", SIZE, ALIGNED]]
EXPECTED = {f"operator {name}{array}({', '.join(parameters)})"
            for name, forms in (("new", NEW), ("delete", DELETE))
            for array in ("", "[]")
            for parameters in forms}


def defined_symbols(nm, executable, *flags):
    listing = subprocess.run([nm, "-C", "--defined-only", *flags, executable],
                             capture_output=True, text=True, check=True).stdout
    symbols = {}
    for line in listing.splitlines():
        _address, kind, name = line.split(maxsplit=2)
        symbols[name.split("@")[0]] = kind
    return symbols


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    nm, executable = sys.argv[1:]
    assert len(EXPECTED) == 20
    symbols = defined_symbols(nm, executable)
    missing = sorted(EXPECTED - symbols.keys())
    if missing:
        sys.exit("Not defined in the executable, so libstdc++'s are used for:\n  "
                 + "\n  ".join(missing))
    weak = sorted(name for name in EXPECTED if symbols[name] != "T")
    if weak:
        sys.exit("Defined, but not as strong global functions:\n  " + "\n  ".join(weak))
    # libstdc++.so refers to some of them; the linker exports those, and so libraries get ours.
    exported = defined_symbols(nm, executable, "-D")
    for name in (f"operator new({SIZE})", "operator delete(void*)"):
        if name not in exported:
            sys.exit(f"{name} is not exported: what libraries allocate is not counted")
    print("all 20 are defined")


if __name__ == "__main__":
    main()
