"""Writes BYTES of a generated corpus to stdout: `text` (words by Zipf's law), `binary` (records with drift) or
`protein` (sequences in FASTA format).

The generator is our own, so that the bytes don't depend on a library's version.
    corpus.py text|binary|protein BYTES [SEED]
"""
import sys


def numbers(seed):
    """Marsaglia's xorshift64*, 32 bits at a time."""
    state = seed
    while True:
        state ^= state >> 12
        state = (state ^ (state << 25)) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 27
        yield (state * 0x2545F4914F6CDD1D & 0xFFFFFFFFFFFFFFFF) >> 32


def text(size, draw):
    syllables = [a + b for a in "b c d f g h k l m n p r s t v w st tr".split() for b in "a e i o u ai ou".split()]
    words = ["".join(syllables[next(draw) % len(syllables)] for _ in range(1 + next(draw) % 3)) for _ in range(4096)]
    pieces, length, column = [], 0, 0
    while length < size:
        r = next(draw)
        word = words[int(4096 ** ((r & 0xFFFF) / 65536)) - 1]  # log-uniform rank: Zipf's law
        end = ".\n" if column > 70 else ", " if r >> 28 == 0 else " "
        column = 0 if end == ".\n" else column + len(word) + 1
        pieces.append(word + end)
        length += len(word) + len(end)
    return "".join(pieces).encode()[:size]


def binary(size, draw):
    out, level = bytearray(), [0] * 8
    while len(out) < size:
        r = next(draw)
        level[r & 7] += (r >> 3) % 9 - 4
        out += (r & 7).to_bytes(2, "little") + (level[r & 7] & 0xFFFFFFFF).to_bytes(4, "little")
        if r >> 24 == 0:
            out += bytes(next(draw) & 0xFF for _ in range(64))
    return bytes(out[:size])


def protein(size, draw):
    lines, length, count = [], 0, 0
    while length < size:
        count += 1
        lines.append(f">sequence{count}\n")
        for _ in range(4 + next(draw) % 6):
            lines.append("".join("ACDEFGHIKLMNPQRSTVWYLLAAGGVVSSEE"[next(draw) % 32] for _ in range(60)) + "\n")
            length += 61
    return "".join(lines).encode()


if __name__ == "__main__":
    generate = {"text": text, "binary": binary, "protein": protein}[sys.argv[1]]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sys.stdout.buffer.write(generate(int(sys.argv[2]), numbers(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)))
