"""Unpacks streams with allocscope's inflate and with Python's zlib: both say the same of each.

    zlib_test.py [PROGRAM]

Streams of all levels and strategies, stored, fixed and dynamic blocks, flushed in between; each
also cut off, with bits turned over, with other lengths asked for, and with noise in its place.
"""

import os
import random
import struct
import subprocess
import sys
import zlib

SEED = 20220601
DAMAGED = 40  # copies of each stream


def contents(random_source):
    words = [bytes(random_source.choices(range(97, 123), k=random_source.randint(1, 9)))
             for _ in range(300)]
    text = b" ".join(random_source.choices(words, k=6000))
    yield b""
    yield b"a"
    yield b"abc" * 3
    yield bytes(100000)
    yield bytes(range(256)) * 40
    yield text
    yield random_source.randbytes(70000)  # more than one stored block
    yield text[:3000] + random_source.randbytes(3000) + bytes(40000) + text[:20000]
    for _ in range(20):  # few and strange symbols: codes with holes and of one symbol
        symbols = random_source.randbytes(random_source.randint(1, 6))
        yield bytes(random_source.choices(symbols, k=random_source.randint(1, 3000)))
    # Frequencies as of Fibonacci: the longest codes.
    a, b, skewed = 1, 1, b""
    for symbol in range(22):
        skewed += bytes([symbol]) * a
        a, b = b, a + b
    mixed = list(skewed)
    random_source.shuffle(mixed)
    yield bytes(mixed)
    yield open(sys.executable, "rb").read(400000)


def packed(content, random_source):
    for level in (0, 1, 6, 9):
        yield zlib.compress(content, level)
    for strategy in (zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED, zlib.Z_FILTERED):
        maker = zlib.compressobj(9, zlib.DEFLATED, random_source.randint(9, 15),
                                 random_source.randint(1, 9), strategy)
        yield maker.compress(content) + maker.flush()
    maker = zlib.compressobj(6)
    stream = b""
    for at in range(0, len(content), 5000):
        stream += maker.compress(content[at:at + 5000])
        stream += maker.flush(random_source.choice([zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH]))
    yield stream + maker.flush()


class bit_writer:
    def __init__(self):
        self.bits = []

    def number(self, value, count):
        self.bits += [value >> i & 1 for i in range(count)]

    def code(self, value, count):  # the most significant bit first
        self.bits += [value >> i & 1 for i in reversed(range(count))]

    def data(self):
        padded = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(sum(bit << i for i, bit in enumerate(padded[at:at + 8]))
                     for at in range(0, len(padded), 8))


def codes_of(lengths):
    """{symbol: (code, bits)}; nonsense when there are more codes than there can be."""
    codes, code = {}, 0
    for bits in range(1, 16):
        for symbol, length in enumerate(lengths):
            if length == bits:
                codes[symbol] = (code & (1 << bits) - 1, bits)
                code += 1
        code <<= 1
    return codes


def dynamic_stream(literals, distances, tokens, content):
    """One block with these lengths of codes. A token is a literal or (length code, distance code),
    none of them with bits of its own."""
    out = bit_writer()
    out.number(1, 1)
    out.number(2, 2)
    out.number(len(literals) - 257, 5)
    out.number(len(distances) - 1, 5)
    out.number(15, 4)
    for symbol in (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15):
        out.number(4 if symbol < 16 else 0, 3)
    for length in literals + distances:
        out.code(length, 4)
    literal_codes, distance_codes = codes_of(literals), codes_of(distances)
    for token in tokens:
        if isinstance(token, tuple):
            out.code(*literal_codes[token[0]])
            out.code(*distance_codes[token[1]])
        else:
            out.code(*literal_codes[token])
    return b"\x78\x9c" + out.data() + struct.pack(">I", zlib.adler32(content))


def lengths_of(count, **of_symbols):
    lengths = [0] * count
    for symbol, length in of_symbols.items():
        lengths[int(symbol[1:])] = length
    return lengths


def strange_streams():
    """Such as no compressor writes: (stream, length)."""
    usual = lengths_of(258, s97=2, s98=2, s256=2, s257=2)
    aaaa = [97, (257, 0), 256], b"aaaa"
    for distances in ([1], [2], [0, 1], [1, 1], [0], [1, 1, 1], [2, 2, 2], [15]):
        if distances[0] != 0 or len(distances) == 1:
            yield dynamic_stream(usual, distances, [97, 98, 256], b"ab"), 2
        if distances[0] != 0:
            yield dynamic_stream(usual, distances, *aaaa), 4
    for literals in (lengths_of(257, s256=1), lengths_of(257, s256=2),
                     lengths_of(257, s97=1, s256=2), lengths_of(257, s97=1, s98=1, s256=1),
                     lengths_of(257, s97=1, s98=2, s99=2, s256=1)):
        yield dynamic_stream(literals, [1], [256], b""), 0
    for count in (286, 287, 288):
        yield dynamic_stream(usual + [0] * (count - 258), [1], *aaaa), 4
    for count in (30, 31, 32):
        yield dynamic_stream(usual, [1, 1] + [0] * (count - 2), *aaaa), 4
    whole = zlib.compress(b"with a dictionary that there is not")
    yield bytes([0x78, 0xbb]) + whole[2:], 35
    for head in (0x7879, 0x8899, 0x7819 + 31, 0x771b):
        yield struct.pack(">H", head) + whole[2:], 35
    for number in range(3000):  # sums that end with zeros, cut off
        content = b"%d and %d" % (number, number * number)
        stream = zlib.compress(content)
        if stream[-1] == 0:
            yield stream[:-1], len(content)
            yield stream[:-1] + b"\1", len(content)


def cases():
    yield from strange_streams()
    random_source = random.Random(SEED)
    for content in contents(random_source):
        for stream in packed(content, random_source):
            yield stream, len(content)
            yield stream, len(content) + 1
            if content:
                yield stream, len(content) - 1
            for _ in range(DAMAGED if len(stream) < 3000 else 4):
                broken = bytearray(stream)
                kind = random_source.randrange(4)
                at = random_source.randrange(len(broken))
                if kind == 0:
                    broken = broken[:at]
                elif kind == 1:
                    for _ in range(random_source.randint(1, 4)):
                        broken[random_source.randrange(len(broken))] ^= (
                            1 << random_source.randrange(8))
                elif kind == 2:
                    broken[at:at + 8] = random_source.randbytes(8)
                else:  # only the head, where the codes stand
                    broken[random_source.randrange(min(len(broken), 60))] ^= (
                        1 << random_source.randrange(8))
                yield bytes(broken), len(content)
    for _ in range(3000):
        noise = bytearray(b"\x78\x9c" + random_source.randbytes(random_source.randint(0, 300)))
        if len(noise) > 2:  # the last block, of a kind that there is
            noise[2] = noise[2] & ~7 | 1 | random_source.choice([0, 2, 4])
        yield bytes(noise), random_source.randrange(600)


def judged(stream, size):
    """What the stream is by zlib; None when it is damaged or of another length."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(stream, size + 1)
        while not reader.eof and len(content) <= size:
            more = reader.decompress(reader.unconsumed_tail, size + 1 - len(content))
            if not more and not reader.eof:
                break
            content += more
    except zlib.error:
        return None
    return content if reader.eof and len(content) == size else None


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.environ["ALLOCSCOPE_BUILD"], "tests", "inflate_unpack_streams")
    all_cases = list(cases())
    # Hundreds at a time.
    whole = 0
    for begin in range(0, len(all_cases), 400):
        part = all_cases[begin:begin + 400]
        question = b"".join(struct.pack("<QQ", size, len(stream)) + stream
                            for stream, size in part)
        done = subprocess.run([program, "-"], input=question, capture_output=True, timeout=600)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}\n{done.stderr.decode()}")
        at = 0
        for number, (stream, size) in enumerate(part, begin):
            wanted = judged(stream, size)
            has = done.stdout[at:at + 1] == b"1"
            at += 1
            if has != (wanted is not None) or has and done.stdout[at:at + size] != wanted:
                sys.exit(f"stream {number}, {len(stream)} bytes for {size}: zlib says "
                         f"{'damaged' if wanted is None else 'whole'}, inflate says "
                         f"{'whole' if has else 'damaged'}, or other bytes: {stream[:40]!r}")
            at += size if has else 0
            whole += has
    print(f"{len(all_cases)} streams, {whole} of them whole: inflate agrees with zlib")
    return 0 if whole > 200 and len(all_cases) - whole > 2000 else 1


if __name__ == "__main__":
    sys.exit(main())
