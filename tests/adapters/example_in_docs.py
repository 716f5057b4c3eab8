"""example_in_docs.py [--update] PROGRAM EXIT_CODE PAGE [ARGUMENT...]

Runs an example and looks for what it prints, word for word, in a block of a page of docs/how_to/.
Where the sources lie is taken out of the output first. --update writes the block instead: the one
behind the line that names the example's output.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    words = sys.argv[1:]
    is_update = words[:1] == ["--update"]
    program, code, page, *arguments = words[1:] if is_update else words
    done = subprocess.run([program, *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600,
                          env={**os.environ, "ALLOCSCOPE_EVIDENCE_DIR": ""})
    if done.returncode != int(code):
        sys.exit(f"exit code {done.returncode} instead of {code}:\n{done.stdout}")
    printed = done.stdout.replace(f"{ROOT}/", "").replace(pathlib.Path(program).name, "leaks")
    printed = re.sub(r"^(\.\./)+", "", printed, flags=re.MULTILINE).strip("\n")
    path = ROOT / "docs" / "how_to" / page
    text = path.read_text()
    block = f"```text\n{printed}\n```"
    if is_update:
        path.write_text(re.sub(r"```text\n(.*?\n)??```", lambda _: block, text, count=1,
                               flags=re.DOTALL))
    elif block not in text:
        sys.exit(f"{path} does not show what the example prints; --update puts it there:\n{block}")
    print(f"docs/how_to/{page} shows what the example prints")


if __name__ == "__main__":
    main()
