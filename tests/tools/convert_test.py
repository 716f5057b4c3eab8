"""`allocscope convert`, and what a saved snapshot knows of the program.

usage: convert_test.py PROGRAM COMPILER
"""
import json
import re
import subprocess
import sys

from known_heap import known_heap


def converts(show, folder, old):
    saved = folder / "again.allocscope"
    show("convert", old, saved)
    assert saved.read_bytes() == old.read_bytes()
    written = folder / "heap.json"
    show("convert", old, written)
    report = json.loads(written.read_text())
    assert report["totals"]["live_bytes"] == 6000, report["totals"]
    assert sum(row["bytes_allocated"] for row in report["rows"] + report["freed_rows"]) == 76000
    assert "its ending must be .txt, " in show("convert", old, folder / "heap.foo", code=2)
    assert "1 file was given; write: allocscope convert " in show("convert", old, code=2)
    assert "is not a saved snapshot" in show("convert", written, saved, code=2)


def number(data, at):
    """A LEB128 number and where it ends; docs/snapshot_format.md."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def knows_the_modules_of_the_program(old, known):
    data = old.read_bytes()
    at = len(b"allocscope snapshot\n") + 1
    texts, modules = [b""], []
    while at < len(data):
        tag, (size, at) = data[at:at + 1], number(data, at + 1)
        payload, at = data[at:at + size], at + size
        if tag == b"t":
            texts.append(payload[:-1])
        elif tag == b"m":
            path, end = number(payload, 0)
            build_id, end = number(payload, end)
            modules.append((texts[path].decode(), texts[build_id].decode()))
    note = subprocess.run(["readelf", "-n", known], capture_output=True, text=True, check=True)
    wanted = re.search(r"Build ID: (\w+)", note.stdout)
    assert modules[0] == (str(known), wanted.group(1) if wanted else ""), modules
    assert any("libc.so.6" in path and build_id for path, build_id in modules), modules


def main():
    with known_heap(*sys.argv[1:]) as heap:
        converts(heap.show, heap.folder, heap.old)
        knows_the_modules_of_the_program(heap.old, heap.known)


if __name__ == "__main__":
    main()
