"""Reads the stacks of a saved snapshot (docs/snapshot_format.md), and what is said of each."""

import dataclasses


@dataclasses.dataclass
class Stack:
    frames: list  # (module, offset, function, is_inlined), innermost first
    file: str
    line: int
    type: str
    function: str
    allocations: int
    bytes_allocated: int
    type_source: str


def numbers_of(payload):
    found, number, shift = [], 0, 0
    for byte in payload:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(number)
            number = shift = 0
    return found


def records_of(data):
    at = data.index(b"\n") + 2
    while at < len(data):
        tag, at, length, shift = chr(data[at]), at + 1, 0, 0
        while True:
            byte = data[at]
            length |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        yield tag, data[at:at + length]
        at += length


def read(path):
    """All stacks in which something was allocated."""
    texts, frames, chains, stacks = [""], [], [], []
    for tag, payload in records_of(path.read_bytes()):
        if tag == "t":
            texts.append(payload[:-1].decode("utf-8", "replace"))
            continue
        if tag not in "fls":
            continue
        fields = numbers_of(payload)
        if tag == "f":
            frames.append((texts[fields[6]], fields[7], texts[fields[0]], bool(fields[4])))
        elif tag == "l":
            chains.append([frames[each] for each in fields])
        else:
            chain, _, _, _, file, line, type_, function = fields[:8]
            allocations, size, source = fields[14:17]
            stacks.append(Stack(chains[chain], texts[file], line, texts[type_], texts[function],
                                allocations, size, texts[source]))
    return stacks
