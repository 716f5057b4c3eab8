"""cost_per_test.py CHECKED UNCHECKED [ARGUMENT...]

Runs two builds of the same thousand small tests in turns and prints what the check of one test
costs: the difference of the medians of processor time, by a thousand. Built when asked for:

    cmake --build --preset dev --target adapters_gtest_cost adapters_gtest_cost_unchecked \\
        adapters_catch2_cost adapters_catch2_cost_unchecked
"""
import resource
import statistics
import subprocess
import sys

TESTS = 1000
ROUNDS = 21


def seconds(command):
    """Of the processor: what else the machine does is counted less than by a clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    checked, unchecked, *arguments = sys.argv[1:]
    with_check, without = [], []
    for _ in range(ROUNDS):
        with_check.append(seconds([checked, *arguments]))
        without.append(seconds([unchecked, *arguments]))
    medians = statistics.median(with_check), statistics.median(without)
    each = (medians[0] - medians[1]) / TESTS * 1e6
    print(f"checked {medians[0] * 1e3:.1f} ms, unchecked {medians[1] * 1e3:.1f} ms:"
          f" {each:.1f} us for each test")
    fastest = (min(with_check) - min(without)) / TESTS * 1e6
    print(f"fastest runs: {fastest:.1f} us for each test")


if __name__ == "__main__":
    main()
