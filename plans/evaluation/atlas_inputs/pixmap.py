"""A picture in PPM form to stdout: gradients, edges and noise.

    pixmap.py WIDTH HEIGHT
"""
import sys

width, height = map(int, sys.argv[1:])
state = 0x9E3779B97F4A7C15
out = bytearray(f"P6\n{width} {height}\n255\n".encode())
for y in range(height):
    for x in range(width):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        noise = state >> 60
        edge = 60 if (x // 37 + y // 53) % 3 == 0 else 0
        out += bytes(((x * 2 + y) // 9 % 160 + edge + noise, (x + 3 * y) // 11 % 180 + noise, (x * y) // 977 % 120 + edge + noise))
sys.stdout.buffer.write(out)
