"""include_order.py HEADERS FOLDER ORDER...

The header of the operators may stand before or behind that of malloc: what an operator allocates is
counted once. ORDER is where it stands, `before` or `behind`. Not optimised: what is instantiated
does not depend on that.
"""
import os
import pathlib
import subprocess
import sys

MALLOC = "#include <allocscope/define_once/malloc_family.hpp>\n"
OPERATORS = "#include <allocscope/define_once/operator_new_delete.hpp>\n"
PROGRAM = """
#include <cstdio>
#include <cstdlib>
int main() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::counters;
    allocscope::scope window{"order", wanted};
    int* volatile made = new int{1};
    void* volatile block = std::malloc(3);
    delete made;
    std::free(block);
    const allocscope::allocation_counts seen = window.counts();
    std::printf("%llu %llu", static_cast<unsigned long long>(seen.allocations),
                static_cast<unsigned long long>(seen.frees));
}
"""


def main():
    orders = {"before": OPERATORS + MALLOC, "behind": MALLOC + OPERATORS}
    if len(sys.argv) < 4 or not orders.keys() >= set(sys.argv[3:]):
        sys.exit(__doc__)
    headers, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    compiler = os.environ.get("ALLOCSCOPE_CXX", "c++")
    for name in sys.argv[3:]:
        source, program = folder / f"order_{name}.cpp", folder / f"order_{name}"
        source.write_text(orders[name] + PROGRAM, encoding="ascii")
        subprocess.run([compiler, "-std=c++17", "-O0", f"-I{headers}", str(source), "-o",
                        str(program)], check=True)
        seen = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        if seen != "2 2":
            sys.exit(f"operators {name} malloc: allocations and frees are {seen}, not 2 2")
    print("counted once with the operators " + " and ".join(sys.argv[3:]))


if __name__ == "__main__":
    main()
