"""no_locked_instruction.py OBJDUMP EXECUTABLE

The usual way through the operators and what they jump to (all that is not handed on to a slow
function) has no locked instruction: no lock prefix, no xchg with memory, no fence.
"""
import re
import subprocess
import sys

LOCKED = re.compile(r"\t(lock\b|mfence|xchg\s.*\()")
FUNCTION = re.compile(r"^([0-9a-f]+) <.*>:$")
OPERATOR = re.compile(r"^([0-9a-f]+) \S+ .*? \.text\s+[0-9a-f]+\s+"
                      r"(operator (?:new|delete)(?:\[\])?\(.*\))$")
JUMPED_TO = re.compile(r"^([0-9a-f]+) .*allocscope::\w+::detail::(plain_block_or_throw\(.*\))$")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    objdump, executable = sys.argv[1:]
    def ask(*options):
        return subprocess.run([objdump, *options, "-C", executable], capture_output=True, text=True,
                              check=True).stdout.splitlines()

    # Several operators may be one function: objdump prints one of its names.
    names = {}
    for line in ask("--syms"):
        match = OPERATOR.match(line) or JUMPED_TO.match(line)
        if match:
            names.setdefault(int(match.group(1), 16), set()).add(match.group(2))
    listing = ask("-d", "--no-show-raw-insn")
    seen, problems, current = set(), [], None
    for line in listing:
        function = FUNCTION.match(line)
        if function:
            current = names.get(int(function.group(1), 16))
            seen |= current or set()
        elif current and LOCKED.search(line):
            problems.append(f"{min(current)}: {line.strip()}")
    if len(seen) != 20 + 1:
        sys.exit(f"expected the 20 operators and 1 more, found {len(seen)}: {sorted(seen)}")
    if not any("lock " in line for line in listing):
        sys.exit("no locked instruction in the whole program: is this still what objdump prints?")
    if problems:
        sys.exit("Locked instructions on the way of every allocation:\n  " + "\n  ".join(problems))
    print("20 operators, and the function they jump to, without a locked instruction")


if __name__ == "__main__":
    main()
