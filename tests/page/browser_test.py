"""browser_test.py WRITER [STACKS]

The page in a real browser: every control, numbers equal to those of the JSON that was written from
the same snapshot, hostile names, keys, themes, printing, and how long many stacks take.
"""

import pathlib
import subprocess
import sys
import tempfile

import chart_checks
import chromium
import kinds_checks
import reader_checks
import table_checks

WRITER = sys.argv[1]
STACKS = sys.argv[2] if len(sys.argv) > 2 else "100000"


def main():
    program = chromium.find()
    if program is None:
        print("cannot run: there is no Chromium (apt-get install chromium)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(subprocess.run([WRITER, name, STACKS], check=True, capture_output=True,
                             text=True).stdout.strip())
        page = chromium.Page(program)
        try:
            for checks in (chart_checks, table_checks, kinds_checks, reader_checks):
                for check in checks.CHECKS:
                    print(check.__name__, flush=True)
                    check(page, folder)
            for each in ("real", "by_hand"):
                print("numbers of", each, flush=True)
                table_checks.numbers_are_those_of_the_json(page, folder, each)
        finally:
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
