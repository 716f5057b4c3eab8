"""example_shows_the_truth.py PROGRAM: docs/how_to/doctest.md shows what examples/05 prints."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path("docs/how_to/doctest.md")


def main():
    root = str(pathlib.Path.cwd()) + "/"
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items()
                       if key != "ALLOCSCOPE_EVIDENCE_DIR"}
        done = subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "--no-version"], cwd=folder,
                              env=environment, capture_output=True, text=True, timeout=600)
    printed = done.stdout.replace(root, "")
    printed = re.sub(r"-\d+-(\d)\.txt", r"-4711-\1.txt", printed)
    if done.returncode != 1 or done.stderr:
        sys.exit(f"exit code {done.returncode} instead of 1\n{done.stdout}{done.stderr}")
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    if printed not in blocks:
        sys.exit(f"{PAGE} does not show this output; copy it there:\n{printed}")
    print("the page shows what happens")


if __name__ == "__main__":
    main()
