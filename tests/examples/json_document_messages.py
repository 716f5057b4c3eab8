"""json_document_messages.py PROGRAM [FILE.json]

What example 02 says when it is used wrongly, and that a real document leaves nothing behind.
"""
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def expect(done, code, *parts):
    for part in parts:
        if part not in done.stdout + done.stderr:
            sys.exit(f"\"{part}\" is not in\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    if done.returncode != code:
        sys.exit(f"exit code {done.returncode} instead of {code}:\n{done.stderr}")


def main():
    program, *documents = sys.argv[1:]
    expect(run(program), 2, "usage: ", "FILE.json")
    expect(run(program, "one.json", "two.json"), 2, "usage: ")
    with tempfile.TemporaryDirectory() as folder:
        missing = str(pathlib.Path(folder) / "missing.json")
        expect(run(program, missing), 1, missing, "cannot be opened", "No such file")
        broken = pathlib.Path(folder) / "broken.json"
        broken.write_text("{\"a\": [1, 2")
        expect(run(program, str(broken)), 1, str(broken), "cannot be read as JSON")
    for document in documents:
        expect(run(program, document), 0, "The document holds ", "Without the document: 0 objects.")
    print(f"messages are clear; {len(documents)} real documents read")


if __name__ == "__main__":
    main()
