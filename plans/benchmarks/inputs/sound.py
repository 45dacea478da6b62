"""A stereo WAV file of SECONDS at 44.1 kHz to stdout: three gliding tones and noise, integers only, so that the
bytes are the same everywhere.

    sound.py SECONDS
"""
import array
import sys

from corpus import numbers

RATE = 44100
frames = int(sys.argv[1]) * RATE
draw = numbers(0x9E3779B97F4A7C15)
samples = array.array("h")
phase, step = [0, 0, 0], [40_000_000, 61_000_000, 97_000_000]  # a full turn is 2^32
for i in range(frames):
    if i % 4410 == 0:
        step = [20_000_000 + next(draw) % 150_000_000 for _ in step]
    value = 0
    for k in range(3):
        phase[k] = (phase[k] + step[k]) & 0xFFFFFFFF
        saw = (phase[k] >> 16) - 32768
        value += saw * (65536 - abs(saw)) >> 19  # a parabola's arc a half turn: nearly a sine
    noise = next(draw) % 257 - 128
    samples.append(value + noise)
    samples.append((value >> 1) - noise)
if sys.byteorder == "big":
    samples.byteswap()
data = samples.tobytes()


def le(value, size):
    return value.to_bytes(size, "little")


sys.stdout.buffer.write(b"RIFF" + le(36 + len(data), 4) + b"WAVEfmt " + le(16, 4) + le(1, 2) + le(2, 2) + le(RATE, 4)
                        + le(RATE * 4, 4) + le(4, 2) + le(16, 2) + b"data" + le(len(data), 4) + data)
