#!/usr/bin/env python3
"""The schema of JSON, the page and docs/types_and_places.md know every rung of type_answer.hpp."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    header = (ROOT / "include/allocscope/types/type_answer.hpp").read_text()
    words = re.search(r"word_of\(.*?\n}", header, re.S).group(0)
    rungs = {word for word in re.findall(r'return "(\w*)";', words) if word}
    assert {"source", "constructor"} <= rungs, rungs
    schema = json.loads((ROOT / "include/allocscope/report/json_report.schema.json").read_text())
    listed = []

    def look_for(name, value):
        if name == "type_source":
            listed.append(set(value["enum"]) - {""})
        for inner in value.items() if isinstance(value, dict) else ():
            look_for(*inner)

    look_for("", schema)
    script = (ROOT / "tools/page/1_data.js").read_text()
    shown = re.search(r"type_sources = \{(.*?)\n\}", script, re.S).group(1)
    table = (ROOT / "docs/types_and_places.md").read_text()
    known = {"the JSON schema": listed[0] if len(listed) == 1 else set(),
             "the page": set(re.findall(r"^ +(\w+): '", shown, re.M)),
             "docs/types_and_places.md": set(re.findall(r"^\| `(\w+)` \| [^|]*\| (?:yes|no)", table,
                                                        re.M))}
    problems = [f"{where} knows {sorted(names)}, and rungs are {sorted(rungs)}"
                for where, names in known.items() if names != rungs]
    print("\n".join(problems) or "every rung is in the schema, on the page and in the docs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
