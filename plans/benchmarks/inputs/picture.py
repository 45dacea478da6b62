"""A film in YUV4MPEG2 form to stdout: moving gradients, a moving square and noise.

    picture.py WIDTH HEIGHT FRAMES
"""
import sys

from corpus import numbers

width, height, frames = map(int, sys.argv[1:])
draw = numbers(0x9E3779B97F4A7C15)
noise = bytes(next(draw) % 12 for _ in range(width * 7 + 13))
out = sys.stdout.buffer
out.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode())
for t in range(frames):
    out.write(b"FRAME\n")
    for y in range(height):
        row = bytearray((x * 2 + y + 3 * t) // 3 % 200 + 20 for x in range(width))
        if 40 + 2 * t <= y < 120 + 2 * t:
            for x in range(60 + 5 * t, min(width, 140 + 5 * t)):
                row[x] = 225 - (x ^ y) % 32
        shift = (y * 131 + t * 977) % len(noise)
        row = bytes(a + b for a, b in zip(row, (noise[shift:] + noise * 2)[:width]))
        out.write(row)
    for plane in range(2):
        for y in range(height // 2):
            out.write(bytes((128 + (x - y) // 4 + (t if plane else -t)) & 0xFF for x in range(width // 2)))
