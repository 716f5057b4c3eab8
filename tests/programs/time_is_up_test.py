"""time_is_up_test.py - a judge whose time is up ends the program that it judges, too."""
import pathlib
import subprocess
import sys
import tempfile
import time

import judges

CANNOT_RUN_HERE = 77


def is_there(process):
    status = pathlib.Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def main():
    allocscope = judges.find_allocscope()
    if allocscope is None:
        return CANNOT_RUN_HERE
    judges.SECONDS = 3
    with tempfile.TemporaryDirectory() as folder:
        number = pathlib.Path(folder) / "number"
        shown = ["/bin/sh", "-c", f"echo $$ > {number}; exec sleep 600"]
        try:
            judges.judges(folder, allocscope).judge("allocscope", shown)
            return 1
        except subprocess.TimeoutExpired:
            program = int(number.read_text())
        for _ in range(600):
            if not is_there(program):
                return 0
            time.sleep(0.1)
    print(f"the program, process {program}, goes on")
    return 1


sys.exit(main())
