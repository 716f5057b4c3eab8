"""no_locked_instruction.py OBJDUMP EXECUTABLE

The usual way through the operators and what they jump to (all that is not handed on to a slow
function) has no locked instruction: no lock prefix, no xchg with memory, no fence.
"""
import re
import subprocess
import sys

LOCKED = re.compile(r"\t(lock\b|mfence|xchg\s.*\()")
OPERATOR = re.compile(r"^[0-9a-f]+ <(operator (?:new|delete)(?:\[\])?\([^>]*\))>:$")
JUMPED_TO = re.compile(r"^[0-9a-f]+ <allocscope::\w+::detail::"
                       r"(plain_block_or_throw\([^>]*\))>:$")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    objdump, executable = sys.argv[1:]
    listing = subprocess.run([objdump, "-dC", "--no-show-raw-insn", executable],
                             capture_output=True, text=True, check=True).stdout
    seen, problems, current = set(), [], None
    for line in listing.splitlines():
        if line.endswith(">:"):
            match = OPERATOR.match(line) or JUMPED_TO.match(line)
            current = match.group(1) if match else None
            seen.update({current} - {None})
        elif current and LOCKED.search(line):
            problems.append(f"{current}: {line.strip()}")
    if len(seen) != 20 + 1:
        sys.exit(f"expected the 20 operators and 1 more, found {len(seen)}: {sorted(seen)}")
    if not any("lock " in line for line in listing.splitlines()):
        sys.exit("no locked instruction in the whole program: is this still what objdump prints?")
    if problems:
        sys.exit("Locked instructions on the way of every allocation:\n  " + "\n  ".join(problems))
    print("20 operators, and the function they jump to, without a locked instruction")


if __name__ == "__main__":
    main()
