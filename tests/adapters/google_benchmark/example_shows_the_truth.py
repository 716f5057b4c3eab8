"""example_shows_the_truth.py PROGRAM

docs/how_to/google_benchmark.md shows what examples/08_benchmark_allocations prints, but for times
and numbers of iterations, and the example as it is.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path("docs/how_to/google_benchmark.md")
EXAMPLE = pathlib.Path("examples/08_benchmark_allocations.cpp")


def masked(text):
    """Times, iterations and widths are different each time; what is counted is not."""
    text = re.sub(r"alive: \d+ objects of \d+ bytes", "alive: N objects of N bytes", text)
    text = re.sub(r" +[\d.]+ ns +[\d.]+ ns +\d+ ", " T ", text)
    return [" ".join(line.split()) for line in text.splitlines() if not line.startswith("-")]


def main():
    environment = {key: value for key, value in os.environ.items()
                   if key != "ALLOCSCOPE_EVIDENCE_DIR"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "--benchmark_min_time=0.02"],
                              cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=600)
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
