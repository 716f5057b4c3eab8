#!/usr/bin/env python3
"""Makes the headers that hold the HTML page from its readable sources in tools/page/.

    page_template.py              write include/allocscope/page/*_text.hpp
    page_template.py --check      fail when they are not what would be written
    page_template.py --self-test  the packing keeps what it must keep

page.html is the frame; its words between @ are filled: @style@ with page.css, @script@ with the .js
files in the order of their numbers, @policy@ with a Content-Security-Policy that lets exactly these
two run and forbids every request; the other words by the writer, with what it writes. Comments and
indentation are left out. The literals are shorter than 64 KiB, which is all that compilers promise.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tools/page"
HEADERS = ROOT / "include/allocscope/page"
COLUMNS = 99
WORD = re.compile(r"@(\w+)@")
MOST_BYTES = 60000

# The header, what it holds, the numbers of the .js files in it.
SCRIPTS = [
    ("script_of_data", "the script of the page: what it knows, the tree, the search", range(1, 4)),
    ("script_of_chart", "the script of the page: colours and the chart", range(4, 6)),
    ("script_of_views", "the script of the page: table, treemap and timeline", range(6, 9)),
    ("script_of_page", "the script of the page: head, controls and keys", range(9, 99)),
]

CARD = """\
// {name}_text.hpp - {what}.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_{upper}_TEXT_HPP
#define ALLOCSCOPE_PAGE_{upper}_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {{

{constants}
}}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_{upper}_TEXT_HPP
"""


def packed_lines(lines):
    """As few lines as fit into the columns. Each statement must end with its semicolon."""
    packed = [""]  # it stands behind the name of the constant
    for line in lines:
        is_alone = len(packed) == 1 or WORD.search(line + packed[-1])  # a word to be filled is
        if not is_alone and len(packed[-1]) + 1 + len(line) <= COLUMNS:
            packed[-1] += " " + line
        else:
            packed.append(line)
    return "\n".join(packed) + "\n"


def packed_script(source):
    lines = [line.strip() for line in source.split("\n")]
    return packed_lines([re.sub(r"\s+// [^'\"]*$", "", line) for line in lines
                         if line and not line.startswith("//")])


def packed_words(source):
    """Of HTML and CSS: lines may be broken at any blank that is not between quotation marks."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    return packed_lines(re.findall(r'(?:"[^"]*"|[^\s"])+', source))


def hash_for_policy(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def literal(name, text):
    if ')page"' in text or len(text) > MOST_BYTES:
        raise SystemExit(f"page_template.py: {name} cannot be a literal: split it")
    return f'constexpr char {name}[] = R"page({text})page";\n'


def header(name, what, constants):
    text = CARD.format(name=name, upper=name.upper(), what=what, constants="\n".join(constants))
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 100 or not line.isascii():
            raise SystemExit(f"page_template.py: {name}_text.hpp:{number} is over 100 columns or"
                             f" not ASCII: {line}")
    return text


def generated(folder=SOURCES):
    """The headers by name."""
    scripts = {int(path.name.split("_")[0]): path.read_text(encoding="ascii")
               for path in folder.glob("*.js")}
    parts = [(name, what, "".join(packed_script(scripts[number])
                                  for number in sorted(scripts) if number in numbers))
             for name, what, numbers in SCRIPTS]
    script = "'use strict'; {" + "".join(text for _, _, text in parts) + "}\n"
    style = packed_words((folder / "page.css").read_text(encoding="ascii"))
    policy = ("default-src 'none';\nscript-src " + hash_for_policy(script) + ";\nstyle-src "
              + hash_for_policy(style) + ";\nbase-uri 'none'; form-action 'none'")
    frame = packed_words((folder / "page.html").read_text(encoding="ascii"))
    frame = frame.replace("@policy@", policy)
    # What the policy names has to stand there to the byte.
    frame = frame.replace("@script@", "@begin_script@@end_script@").rstrip("\n")
    pieces = WORD.split(frame)
    if pieces[1::2] != ["title", "style", "noscript", "data", "begin_script", "end_script"]:
        raise SystemExit(f"page_template.py: page.html has other words: {pieces[1::2]}")
    begin, to_style, to_noscript, to_data, to_script, _, end = pieces[0::2]
    made = {"frame_of_page": header("frame_of_page", "the page but for its script and its data", [
        literal("page_begin", begin.lstrip("\n").replace("> ", ">\n", 1)),
        literal("page_after_title", to_style),
        literal("page_style", style), literal("page_after_style", to_noscript),
        literal("page_after_noscript", to_data),
        literal("page_after_data", to_script + "'use strict'; {"),
        literal("page_end", "}\n" + end + "\n")])}
    for name, what, text in parts:
        made[name] = header(name, what, [literal(f"page_{name}", text)])
    return {f"{name}_text.hpp": text for name, text in made.items()}


def self_test():
    script = "// a\nconst a = '//';  // b\n\n  if (a) {\n    f();\n  }\n"
    assert packed_script(script) == "\nconst a = '//'; if (a) { f(); }\n", packed_script(script)
    style = '/* a */\na::after { content: " b"; }\n'
    assert packed_words(style) == '\na::after { content: " b"; }\n', packed_words(style)
    assert packed_lines(["x" * 60] * 3).count("\n") == 4
    assert packed_words("a <b>@c@</b> d") == "\na\n<b>@c@</b>\nd\n"
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    outputs = generated()
    have = {path.name: path.read_text(encoding="utf-8") for path in HEADERS.glob("*_text.hpp")}
    if arguments.check:
        differing = sorted(name for name in {*outputs, *have}
                           if outputs.get(name) != have.get(name))
        for name in differing:
            print(f"include/allocscope/page/{name}: is not what tools/page/ gives\n"
                  "    why: the page is read and changed there\n"
                  "    fix: python3 cmake/scripts/page_template.py, then amalgamate.py")
        return 1 if differing else 0
    HEADERS.mkdir(exist_ok=True)
    for name in {*have} - {*outputs}:
        (HEADERS / name).unlink()
    for name, text in outputs.items():
        (HEADERS / name).write_text(text, encoding="utf-8")
    print(f"include/allocscope/page/: {len(outputs)} headers, "
          f"{sum(len(text) for text in outputs.values())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
