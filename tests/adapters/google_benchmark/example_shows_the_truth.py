"""example_shows_the_truth.py PROGRAM

docs/how_to/google_benchmark.md shows what examples/08_benchmark_allocations prints, but for times
and numbers of iterations, and the example as it is.
"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path("docs/how_to/google_benchmark.md")
EXAMPLE = pathlib.Path("examples/08_benchmark_allocations.cpp")


def masked(text):
    """Times, iterations and widths are different each time; what is counted is not."""
    text = re.sub(r"alive: \d+ objects of \d+ bytes", "alive: N objects of N bytes", text)
    text = re.sub(r" +[\d.]+ ns +[\d.]+ ns +\d+ ", " T ", text)
    return [" ".join(line.split()) for line in text.splitlines() if not line.startswith("-")]


def main():
    done = subprocess.run([sys.argv[1], "--benchmark_min_time=0.02"], capture_output=True,
                          text=True, timeout=100)
    if done.returncode != 1:
        sys.exit(f"exit code {done.returncode} instead of 1\n{done.stdout}{done.stderr}")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    if masked(done.stdout) not in [masked(text) for _, text in blocks]:
        sys.exit(f"{PAGE} does not show this output; copy it there:\n{done.stdout}")
    source = EXAMPLE.read_text()
    functions = [text for language, text in blocks if language == "cpp" and "void copies" in text]
    if not functions or not all(text in source for text in functions):
        sys.exit(f"{PAGE} does not show the functions of {EXAMPLE} word for word")
    print("the page shows what happens")


if __name__ == "__main__":
    main()
