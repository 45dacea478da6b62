#!/usr/bin/python3
"""Makes pairs of programs whose difference is known: a change of code, a change of place, both, or neither. Each is plain C, built by szc.

    tests/explain/make_cases.py FOLDER --szc build/release/bin/szc [--count N] [--seed N]

writes FOLDER/NUMBER-KIND/{old,new} with their sources, and FOLDER/cases.json: for each case its truth (code and place, as shares), the
function whose place it is, how it was moved, and the arguments. tests/explain/run_cases runs `stabctl explain` over them.

The place: `wide` is a short loop of independent additions. Where it begins 16 bytes behind a multiple of 64, the loop crosses a line of
64 bytes and a processor that fetches whole lines takes some 1.8 times as long for it. It is moved by what lies before it, which has
nothing to do with it. How much that is on this machine is measured when the cases are made: `reaction`."""
import argparse
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

HEAD = """#include <stdio.h>
#include <stdlib.h>
typedef unsigned long word;
#define KEEP(x) __asm__ volatile("" : "+r"(x))
"""

WIDE = """
__attribute__((noinline)) word wide(word n, word x) {
  word a = 1, b = 2, c = 3, d = 4;
  do {
    a += n; KEEP(a);
    b ^= n; KEEP(b);
    c += 5; KEEP(c);
    d ^= 9; KEEP(d);
    x += n; KEEP(x);
  } while (--n);
  return a + b + c + d + x;
}
"""

# Bound by latency, so that its place makes no difference.
CHAIN = """
__attribute__((noinline)) word {name}(word n, word x) {{
  do {{ x = (x ^ (x >> 7)) * {factor}u + n; }} while (--n);
  return x;
}}
"""

WIDE_ITERATION, WIDE_PENALTY, CHAIN_ITERATION = 0.65e-9, 0.5e-9, 1.6e-9  # seconds, about; `reaction` corrects the second one
ROUNDS = 50


def unrelated(name, statements):
    """A function that is called once, and as long as it has statements."""
    lines = "".join(f"  x = x * {2654435761 + 2 * i}u + (x >> {3 + i % 11});\n" for i in range(statements))
    return f"\n__attribute__((noinline)) word {name}(word x) {{\n{lines}  return x;\n}}\n"


def main_function(chain, wide, calls):
    """Work of `chain` and `wide` iterations in all; `calls`: unrelated functions."""
    called = "".join(f"  x += {name}(x);\n" for name in calls)
    parts = "".join(f"    x = chain{i}({chain // ROUNDS // 3}, x);\n" for i in range(3))
    return (f"\nint main(int count, char** words) {{\n  word x = (word)count + (word)atol(words[1]);\n{called}"
            f"  for (int i = 0; i < {ROUNDS}; ++i) {{\n{parts}    x += wide({max(1, wide // ROUNDS)}, x);\n  }}\n"
            '  printf("%d\\n", (int)(x & 1));\n  return 0;\n}\n')


class Side:
    """One build: how long the unrelated function is, and what it does."""

    def __init__(self, statements, chain, wide, extra=""):
        self.statements, self.chain, self.wide, self.extra = statements, chain, wide, extra

    def source(self):
        chains = "".join(CHAIN.format(name=f"chain{i}", factor=2654435761 + 4 * i) for i in range(3))
        return (HEAD + self.extra + unrelated("unrelated", self.statements) + WIDE + chains +
                main_function(self.chain, self.wide, ["unrelated"]))

    def build(self, szc, path):
        path.with_suffix(".c").write_text(self.source())
        subprocess.run([szc, "-O2", str(path.with_suffix(".c")), "-o", str(path)], check=True)

    def place(self, szc, path):
        self.build(szc, path)
        names = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
        return int(re.search(r"^([0-9a-f]+) [tT] wide$", names, re.M).group(1), 16) % 64


def at_place(szc, path, side, wanted):
    """Builds the side with `wide` at this remainder of 64, by the length of the function before it."""
    for _ in range(40):
        if side.place(szc, path) == wanted:
            return side
        side.statements += 1
    sys.exit(f"no length of the unrelated function brings 'wide' to {wanted} mod 64")


def cpu_time(path):
    before = os.times()
    subprocess.run(["setarch", "-R", str(path), "1"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user


def reaction(szc, folder):
    """What the slow place of `wide` costs, as a multiple of its time; the least of several runs, as noise only adds."""
    wide = int(0.2 / WIDE_ITERATION)
    times = {}
    for name, place in (("fast", 0), ("slow", 16)):
        path = folder / f"reaction-{name}"
        at_place(szc, path, Side(3, 3 * ROUNDS, wide), place)
        times[name] = min(cpu_time(path) for _ in range(9))
    return times["slow"] / times["fast"] - 1, times["fast"] / wide


KINDS = ["code", "place", "both", "nothing", "cancel", "size"]
MOVES = ["a longer function before it", "a function more before it", "a string of a function before it"]


def make(kind, draw, szc, folder, penalty, wide_seconds, seconds):
    """One pair. Truths are shares of the whole time."""
    sign = draw.choice([1, -1])
    code = draw.choice([0.005, 0.01, 0.02, 0.03, 0.05]) if kind in ("code", "both", "size") else 0.0
    place = draw.choice([0.02, 0.04, 0.06]) if kind in ("place", "both", "cancel", "size") else 0.0
    if kind == "cancel":
        code = -place
    # Of a pair without an effect of the place, too, the loop is there.
    weight = place or draw.choice([0.02, 0.04])
    wide = int(seconds * weight / (penalty * wide_seconds))
    chain = int((seconds - wide * wide_seconds) / CHAIN_ITERATION)
    folder.mkdir(parents=True)
    old = at_place(szc, folder / "old", Side(draw.randrange(2, 12), chain, wide), 16 if place and sign < 0 else 0)
    changed = int(chain + code * seconds / CHAIN_ITERATION)
    new = Side(old.statements, changed, wide)
    move = "nothing moved"
    if place:
        move = draw.choice(MOVES)
        if move == MOVES[1]:
            new.extra = unrelated("another", draw.randrange(1, 9)).replace("__attribute__((noinline))",
                                                                           "__attribute__((noinline, used))")
        if move == MOVES[2]:
            new.extra = ('\n__attribute__((noinline, used)) int say(void) { return puts("' + "x" * draw.randrange(1, 60) +
                         '"); }\n')
        new = at_place(szc, folder / "new", new, 0 if sign < 0 else 16)
    else:
        if kind == "nothing" and draw.random() < 0.5:
            new.extra, move = "/* a comment */\n", "a comment"
        if new.place(szc, folder / "new") != old.place(szc, folder / "old"):
            sys.exit("a change of a number has moved a function")
    return {"kind": kind, "code": code, "place": sign * place if place else 0.0, "function": "wide" if place else "", "move": move,
            "arguments": ["1"]}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--szc", required=True)
    words.add_argument("--count", type=int, default=6)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--seconds", type=float, default=0.2, help="CPU time of a run")
    given = words.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(given.seed)
    penalty, wide_seconds = reaction(given.szc, given.folder)
    print(f"reaction: the slow place costs {100 * penalty:.0f} % of the loop, {wide_seconds * 1e9:.2f} ns an iteration")
    if penalty < 0.2:
        sys.exit("this processor doesn't mind where the loop lies; there are no cases to be made of it")
    cases = []
    for number in range(given.count):
        kind = KINDS[number % len(KINDS)]
        folder = given.folder / f"{number:03}-{kind}"
        cases.append({"folder": str(folder.resolve()),
                      **make(kind, draw, given.szc, folder, penalty, wide_seconds, given.seconds)})
    (given.folder / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
