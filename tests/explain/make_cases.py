#!/usr/bin/python3
"""Makes pairs of programs whose difference is known: a change of code, a change of place, both, or neither. Each is plain C, built by szc.

    tests/explain/make_cases.py FOLDER --szc build/release/bin/szc [--rounds N] [--seed N]

writes FOLDER/cases.json, FOLDER/reaction/* and for each case FOLDER/NUMBER-KIND/{old,new} and last of all case.json there. A round has a case of each kind, in an
order of its own, so that the first so many are a fair sample. tests/explain/run_cases runs `stabctl explain` over them;
tests/explain/truth.py says what is true of them.

A program consists of parts that take time and fillers that move them:

  chain    three loops bound by latency: their place makes no difference. A change of code is a change of their count
  loop     `wide`, a short loop of independent additions. Where it crosses a line of 64 bytes it takes longer
  lines    `left` and `right`, which jump through seven lines of the instruction cache each. Where both want the same lines of a
           cache of eight ways, they take longer; neither does by itself
  called   a loop that calls a function in each iteration; `inlined` has the function inlined

Each build is looked at: wide's loop must begin 32 (fast) or 48 bytes (slow) behind a multiple of 64, and left and right must share their
lines or not. A case that can't be made so is
drawn again, and left out after three tries."""
import argparse
import copy
import json
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import truth  # noqa: E402

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long word;
#define KEEP(x) __asm__ volatile("" : "+r"(x))
#define NOINLINE __attribute__((noinline))
"""

KINDS = ["code", "code-moved", "function", "string", "header", "link", "pair", "both", "cancel", "nothing", "size", "inlining", "pgo",
         "lto"]


def statements_of(count):
    return "".join(f"  x = x * {2654435761 + 2 * i}u + (x >> {3 + i % 11});\n" for i in range(count))


def unrelated(name, statements, how="NOINLINE"):
    """A function that is called once at most, and as long as it has statements."""
    return f"\n{how} word {name}(word x) {{\n{statements_of(statements)}  return x;\n}}\n"


OTHER_HEAD = "typedef unsigned long word;\n#define NOINLINE __attribute__((noinline))\n"

WIDE = """
NOINLINE word {name}(word n, word x) {{
  word a = 1, b = 2, c = 3, d = 4;
  do {{
    a += n; KEEP(a);
    b ^= n; KEEP(b);
    c += 5; KEEP(c);
    d ^= 9; KEEP(d);
    x += n; KEEP(x);
  }} while (--n);
  return a + b + c + d + x;
}}
"""

CHAIN_LOOP = "  do {{ x = (x ^ (x >> 7)) * {factor}u + n; }} while (--n);\n"
CHAIN = "\nNOINLINE word {name}(word n, word x) {{\n" + CHAIN_LOOP + "  return x;\n}}\n"

# Where it is longer it does more of what chains do, too.
GROWING = "\nNOINLINE word grows(word n, word m, word x) {\n" + CHAIN_LOOP.format(factor=40503) + "%s  return x + m;\n}\n"


def grown(statements):
    return GROWING % ("  n = m;\n" + CHAIN_LOOP.format(factor=2654435769) + statements_of(statements))


# Seven jumps, each at the same place of another page. The linker's relaxation leaves them five bytes long.
LINES = """
NOINLINE {how} void {name}(void) {{ __asm__ volatile(".rept 7\\n jmp 1f\\n .skip 4091, 0xcc\\n 1:\\n .endr{tail}"); }}
"""
# With it a function is as much longer as lets the same lines come again soon behind it. Its end lies on lines that nobody else needs.
TAIL = "\\n jmp 2f\\n .skip 3835, 0xcc\\n 2:"


# Calls them, and lies before all that moves.
BOTH = """
void left(void);
void right(void);
NOINLINE void both(word n) {
  do { left(); right(); } while (--n);
}
"""
CALL_LINES = "both(#);"
# Those that are moved, the last one where it is one.
FUNCTIONS = {"loop": ["wide"], "lines": ["left", "right"], "pair of loop": ["wide", "wide2"], "pair of lines": ["left", "right"]}

# What is called has to divide; where it is inlined the divisor is known, and it multiplies. Both are bound by latency.
CALLED = """
{how} word mix(word x, word by) {{ return x / by + (x << 40) + 12345; }}
NOINLINE word mixes(word n, word x) {{
  do {{ x = mix(x, 10); }} while (--n);
  return x;
}}
"""
HOW = {"called": "NOINLINE", "inlined": "static inline __attribute__((always_inline))"}

TRIES = 3  # of a case
ROUNDS = 50  # of the main loop
FAST, SLOW = 32, 48  # where wide's loop begins, modulo 64
# Iterations of the programs that are measured: some 0.1 s each.
MEASURED = {"chain": 60_000_000, "loop": 120_000_000, "loop-slow": 120_000_000, "lines": 10_000_000, "lines-slow": 10_000_000,
            "called": 15_000_000, "inlined": 15_000_000}




def lines_function(name, tail="", how=""):
    return LINES.format(name=name, tail=tail, how=how)


def labelled(length):
    """A function that copies a string of so many times eight characters, by instructions for each sixteen."""
    return f'\nNOINLINE void label(char* out) {{ strcpy(out, "{"x" * 8 * length}"); }}\n'


class NotMade(Exception):
    """What was drawn can't be had."""


class Filler:
    """A piece of source whose length is found for each build."""

    def __init__(self, make, length):
        self.make, self.length = make, length

    def __str__(self):
        return self.make(self.length)


def filler(name, length, how="NOINLINE"):
    return Filler(lambda statements: unrelated(name, statements, how), length)


class Side:
    """One build. `hot`: pieces of the functions that take time; `lines`: calls of them, in a round; `work`: what they do in all."""

    def __init__(self, draw):
        self.flags = ["-O2"]
        self.header = []
        self.unrelated = filler("unrelated", draw.randrange(2, 12))
        self.label = Filler(labelled, draw.randrange(1, 4))
        self.other = filler("other", draw.randrange(2, 12))
        self.is_other_first = False
        self.more = []
        self.first = []  # of a file of its own, linked before all others
        self.hot, self.lines, self.work = [], [], {}
        self.compiled = {}  # by object what it was made of

    def add(self, part, count, pieces, *lines):
        """`lines` with the part's count of a round for '#'; of a third of it for '%'."""
        self.work[part] = self.work.get(part, 0) + count
        self.hot += pieces
        each = max(1, count // ROUNDS)
        self.lines += [line.replace("#", str(each)).replace("%", str(max(1, each // 3))) for line in lines]

    def main_file(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        return [HEAD, '#include "shape.h"\nword other(word x);\n', "void both(word n);\n", *self.more, self.unrelated, self.label, *self.hot,
                "\nint main(int count, char** words) {\n  char text[256];\n  word x = (word)count + (word)atol(words[1]);\n"
                "  label(text);\n  x += unrelated(x) + other(x);\n"
                f"  for (int i = 0; i < {ROUNDS}; ++i) {{\n{body}  }}\n"
                '  printf("%d %.1s\\n", (int)(x & 1), text);\n  return 0;\n}\n']

    def build(self, szc, path, more=()):
        sources = path.parent / f"{path.name}-source"
        sources.mkdir(exist_ok=True)
        texts = {"main.c": self.main_file(), "other.c": [OTHER_HEAD, self.other], "first.c": [OTHER_HEAD, *self.first]}
        (sources / "shape.h").write_text("".join(map(str, self.header)))
        files = ["other.c", "main.c"] if self.is_other_first else ["main.c", "other.c"]
        objects = [self.compile(szc, sources / name, "".join(map(str, texts[name])), more)
                   for name in (["first.c"] if self.first else []) + files]
        subprocess.run([szc, *self.flags, *more, *objects, "-o", str(path)], check=True)

    def compile(self, szc, source, text, more):
        """The object of a file, compiled where the last one was of another text."""
        made = source.with_suffix(".o")
        key = [text, "".join(map(str, self.header)), *self.flags, *more]
        if self.compiled.get(made) != key:
            source.write_text(text)
            subprocess.run([szc, *self.flags, *more, "-c", str(source), "-o", str(made)], check=True)
            self.compiled[made] = key
        return str(made)


def addresses(path):
    names = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) [tT] (\w+)$", names, re.M)}


def loop_place(path, name="wide"):
    """Where the loop of a function begins, modulo 64: what its one backward jump leads to."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", str(path)], check=True,
                          capture_output=True, text=True).stdout
    jumps = re.findall(r"^ *([0-9a-f]+):\tj\w+ +([0-9a-f]+) ", code, re.M)
    back = [int(to, 16) for at, to in jumps if int(to, 16) < int(at, 16)]
    if len(back) != 1:
        raise NotMade(f"{path}: '{name}' has {len(back)} backward jumps: expected one")
    return back[0] % 64


def lines_places(path):
    """The lines of the cache that left and right begin in."""
    at = addresses(path)
    return tuple(at[name] % 4096 // 64 for name in ("left", "right"))


def fit(szc, path, side, knob, is_right, what):
    """Builds the side with the next length of this filler that puts things where they are wanted."""
    for _ in range(24):
        side.build(szc, path)
        if is_right(path):
            return
        knob.length += 1
    raise NotMade(f"{path}: no length of the filler {what}")


def is_placed(part, path, is_slow, is_old):
    """Whether the part lies as it should. Lines that are apart: right's are just before left's in the old build, so that a longer
    filler can bring them together, and anywhere else in the new one."""
    if part == "loop":
        return loop_place(path) == (SLOW if is_slow else FAST)
    left, right = lines_places(path)
    if is_slow:
        return left == right
    return right == (left - 1) % 64 if is_old else left != right


# How the new build's functions are moved: each returns the filler whose length says how far.

def longer_function(new, draw):
    new.unrelated.length += draw.randrange(1, 9)
    return new.unrelated


def another_function(new, draw):
    more = filler("another", draw.randrange(1, 9), "__attribute__((noinline, used))")
    new.more.append(more)
    return more


def longer_string(new, draw):
    new.label.length += draw.randrange(1, 3)
    return new.label


def longer_header(new, draw):
    more = filler("perimeter", draw.randrange(1, 9), "extern inline __attribute__((noinline))")
    new.header.append(more)
    return more


def other_link_order(new, draw):
    new.is_other_first = True
    return new.other


MOVES = {"function": longer_function, "another": another_function, "string": longer_string, "header": longer_header,
         "link": other_link_order}


class Maker:
    """Makes the cases of one folder."""

    def __init__(self, szc, draw, reaction, seconds):
        self.szc, self.draw, self.reaction, self.seconds = szc, draw, reaction, seconds

    def side(self, part, share, is_double=False):
        """A program of which this part adds so much of its time where it lies slowly."""
        side = Side(self.draw)
        # Where a neighbour on the same core leaves the loop alone its place matters less, so its cost is not underestimated here.
        cost = max(self.reaction[part + "-slow"] - self.reaction[part], 0.3 * self.reaction[part])
        count = int(self.seconds * share / cost)
        chain = int((self.seconds - count * self.reaction[part]) / self.reaction["chain"])
        if part == "loop" and is_double:
            half = max(1, count // ROUNDS // 2)
            side.add("loop", count, [WIDE.format(name="wide"), WIDE.format(name="wide2")],
                     f"x += wide({half}, x);", f"x += wide2({half}, x);")
        elif part == "loop":
            side.add("loop", count, [WIDE.format(name="wide")], "x += wide(#, x);")
        else:
            side.add("lines", count, [lines_function("right")], CALL_LINES)
            side.first = [BOTH]
            if is_double:
                side.hot.insert(0, lines_function("left"))
            else:
                # Where the program's text begins depends on what it has, and so would where left lies.
                side.first.insert(0, lines_function("left", TAIL, "__attribute__((aligned(4096)))"))
                side.unrelated.length = self.draw.randrange(0, 3)
        side.add("chain", chain, [CHAIN.format(name=f"chain{i}", factor=2654435761 + 4 * i) for i in range(3)],
                 *(f"x = chain{i}(%, x);" for i in range(3)))
        return side

    def more_chain(self, side, code):
        """A change of code: so much more of the whole time in the chains."""
        grown = copy.deepcopy(side)
        was = side.work["chain"]
        now = was + int(code * self.seconds / self.reaction["chain"])
        grown.work["chain"] = now
        grown.lines = [line.replace(f"({was // ROUNDS // 3}, x)", f"({now // ROUNDS // 3}, x)") for line in grown.lines]
        return grown

    def place(self, folder, part, old, new, move, slow):
        """Builds both, and sees that the part lies as it should. `move`: how the new one is moved, or none; `slow`: which is slow."""
        fit(self.szc, folder / "old", old, old.unrelated, lambda made: is_placed(part, made, slow == "old", True), f"places '{part}'")
        new.unrelated.length = old.unrelated.length
        was = addresses(folder / "old")
        if not move:
            new.build(self.szc, folder / "new")
            if addresses(folder / "new") != was:
                raise NotMade(f"{folder}: functions have moved that should not")
            return
        knob = MOVES[move](new, self.draw)
        self.place_new(folder, part, new, knob, slow, was)
        if move == "link":
            old.other.length = new.other.length
            old.build(self.szc, folder / "old")
            if not is_placed(part, folder / "old", slow == "old", True):
                raise NotMade(f"{folder}: '{part}' doesn't lie where it should")

    def place_new(self, folder, part, new, knob, slow, was):
        moved = FUNCTIONS[part][-1]

        def is_right(made):
            now = addresses(made)
            if any(now[name] % 4096 != was[name] % 4096 for name in ("left", "both") if part == "lines" and name in was):
                raise NotMade(f"{made}: what shouldn't has moved")
            return is_placed(part, made, slow == "new", False) and now[moved] % 4096 != was[moved] % 4096

        fit(self.szc, folder / "new", new, knob, is_right, f"places '{part}'")

    def of_one(self, kind, folder):
        """A case of chains and one part: what its kind and the draws say of code and place."""
        draw = self.draw
        has_place = kind in ("function", "string", "header", "link", "both", "cancel", "pgo", "lto")
        has_code = kind in ("code", "code-moved", "both") or (kind in ("pgo", "lto") and draw.random() < 0.3)
        share = draw.choice([0.02, 0.04, 0.06])
        # What cancels must have a size that is known.
        part = "lines" if kind == "cancel" else draw.choice(["loop", "lines"])
        slow = draw.choice(["old", "new"]) if has_place else ""
        code = draw.choice([1, -1]) * draw.choice([0.005, 0.01, 0.02, 0.03, 0.05]) if has_code else 0.0
        if kind == "cancel":
            code = -share if slow == "new" else share
        old = self.side(part, share)
        if kind == "lto":
            old.flags.append("-flto")
        if kind == "pgo":
            old.flags += self.profile(folder, old)
        new = self.more_chain(old, code)
        move = ""
        if kind in ("function", "string", "header", "link"):
            move = draw.choice(["function", "another"]) if kind == "function" else kind
        elif has_place or kind == "code-moved" or (kind == "nothing" and draw.random() < 0.5):
            # With a profile a string's function is cold, and too small to hold it.
            move = draw.choice([name for name in MOVES if kind != "pgo" or name != "string"])
        if kind == "nothing" and not move:
            new.more.append("/* a comment */\n")
        self.place(folder, part, old, new, move, slow)
        return self.case(old, new, slow, part, FUNCTIONS[part][-1:], move or ("a comment" if kind == "nothing" else ""))

    def profile(self, folder, side):
        """Flags that build with a profile of this side."""
        path = folder / "profiled"
        raw, kept = path.with_suffix(".profraw"), path.with_suffix(".profdata")
        side.build(self.szc, path, ["-fprofile-instr-generate"])
        subprocess.run([str(path), "1"], check=True, stdout=subprocess.DEVNULL, env={"LLVM_PROFILE_FILE": str(raw)})
        subprocess.run(["llvm-profdata-19", "merge", str(raw), "-o", str(kept)], check=True)
        # lld would order functions by the profile, so that nothing but hot ones could move others.
        return [f"-fprofile-instr-use={kept}", "-Wl,--no-call-graph-profile-sort", "-Wno-profile-instr-unprofiled", "-Wno-profile-instr-out-of-date"]

    def of_size(self, folder):
        """A function before the part is longer and does more, which moves the part."""
        code, share = self.draw.choice([0.005, 0.01, 0.02, 0.03, 0.05]), self.draw.choice([0.02, 0.04, 0.06])
        part, slow = self.draw.choice(["loop", "lines"]), self.draw.choice(["old", "new"])
        more = max(1, int(code * self.seconds / self.reaction["chain"] / ROUNDS))
        old = self.side(part, share)
        old.hot.insert(0, GROWING % "")
        old.lines.append(f"x = grows({more}, {more}, x);")
        old.work["chain"] += more * ROUNDS
        new = copy.deepcopy(old)
        new.hot[0] = knob = Filler(grown, self.draw.randrange(0, 5))
        new.work["chain"] += more * ROUNDS
        fit(self.szc, folder / "old", old, old.unrelated, lambda made: is_placed(part, made, slow == "old", True), f"places '{part}'")
        new.unrelated.length = old.unrelated.length
        self.place_new(folder, part, new, knob, slow, addresses(folder / "old"))
        case = self.case(old, new, slow, part, FUNCTIONS[part][-1:], "a function that does more, " + part)
        return self.turned(folder, case) if self.draw.random() < 0.5 else case

    def turned(self, folder, case):
        """The same two programs the other way round."""
        for end in ("", "-source"):
            (folder / f"old{end}").rename(folder / f"swap{end}")
            (folder / f"new{end}").rename(folder / f"old{end}")
            (folder / f"swap{end}").rename(folder / f"new{end}")
        return {**case, "old": case["new"], "new": case["old"], "slow": {"old": case["slow"]["new"], "new": case["slow"]["old"]}}

    def of_inlining(self, folder):
        """A function that one side inlines; the part is moved by another one, between equal places or not."""
        code, share = self.draw.choice([0.01, 0.02, 0.03, 0.05]), self.draw.choice([0.02, 0.04, 0.06])
        part, slow = self.draw.choice(["loop", "lines"]), self.draw.choice(["", "", "old", "new"])
        old = self.side(part, share)
        new = copy.deepcopy(old)
        count = int(code * self.seconds / (self.reaction["called"] - self.reaction["inlined"]))
        ways = self.draw.choice([("called", "inlined"), ("inlined", "called")])
        for side, way in zip((old, new), ways):
            side.add(way, count, [CALLED.format(how=HOW[way])], "x += mixes(#, x);")
        fit(self.szc, folder / "old", old, old.unrelated, lambda made: is_placed(part, made, slow == "old", True), f"places '{part}'")
        new.unrelated.length = old.unrelated.length
        move = self.draw.choice(list(MOVES)[:-1])
        self.place_new(folder, part, new, MOVES[move](new, self.draw), slow, addresses(folder / "old"))
        return self.case(old, new, slow, part, FUNCTIONS[part][-1:], f"{ways[0]}, then {ways[1]}, {move}")

    def of_pair(self, folder):
        """Two loops that are moved alike, or two functions that want the same lines only where both are moved."""
        share, slow = self.draw.choice([0.02, 0.04, 0.06]), self.draw.choice(["old", "new"])
        part = self.draw.choice(["loop", "lines"])
        old = self.side(part, share, is_double=True)
        between = filler("between", 0 if part == "loop" or slow == "old" else self.draw.randrange(5, 12))
        old.hot.insert(1, between)
        new = copy.deepcopy(old)
        if part == "loop":
            fit(self.szc, folder / "old", old, between, lambda made: loop_place(made) == loop_place(made, "wide2"),
                "makes both loops begin alike")
            new.hot[1] = between
            move = self.draw.choice(list(MOVES))
            self.place(folder, part, old, new, move, slow)
            if any(loop_place(folder / name, "wide2") != loop_place(folder / name) for name in ("old", "new")):
                raise NotMade(f"{folder}: the two loops don't begin alike")
        else:
            move = "a function before them, and one between"
            new.hot[1].length = self.draw.randrange(5, 12) if slow == "old" else 0
            new.unrelated.length += self.draw.randrange(8, 20)
            fit_lines(self.szc, folder / "old", old, slow == "old", set())
            fit_lines(self.szc, folder / "new", new, slow == "new", set(lines_places(folder / "old")))
            if addresses(folder / "old")["both"] % 4096 != addresses(folder / "new")["both"] % 4096:
                raise NotMade(f"{folder}: what calls the two has moved")
        return self.case(old, new, slow, part, FUNCTIONS["pair of " + part], f"{part}, {move}")

    def case(self, old, new, slow, part, functions, move):
        return {"old": old.work, "new": new.work, "slow": {name: [part] if name == slow else [] for name in ("old", "new")},
                "functions": functions if slow else [], "move": move}

    def make(self, kind, folder):
        folder.mkdir(parents=True)
        if kind == "size":
            return self.of_size(folder)
        if kind == "inlining":
            return self.of_inlining(folder)
        if kind == "pair":
            return self.of_pair(folder)
        return self.of_one(kind, folder)


def fit_lines(szc, path, side, wanted_same, forbidden):
    """Puts left and right, with a filler between them, on the same lines, or on lines that are not, none of them forbidden."""
    between = side.hot[1]
    for _ in range(12):
        for _ in range(12):
            side.build(szc, path)
            left, right = lines_places(path)
            if (left == right) == wanted_same and not forbidden & {left, right}:
                return
            between.length += 1
        between.length -= 12
        side.unrelated.length += 1
    raise NotMade(f"{path}: no lengths of the fillers put 'left' and 'right' on {'the same' if wanted_same else 'different'} lines")


def made_case(maker, kind, folder):
    """The case, or nothing where what was drawn can't be had, three times."""
    for _ in range(TRIES):
        try:
            return maker.make(kind, folder)
        except NotMade as error:
            print(f"{error}; drawn again", flush=True)
            shutil.rmtree(folder)
    return None


def make_reaction(szc, folder, draw):
    """The programs that truth.measure runs, one for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in truth.PARTS:
        side = Side(draw)
        work, path = MEASURED[part], folder / part
        if part == "chain":
            side.add(part, work, [CHAIN.format(name="chain", factor=2654435761)], "x = chain(#, x);")
        if part in HOW:
            side.add(part, work, [CALLED.format(how=HOW[part])], "x += mixes(#, x);")
        if part.startswith("loop"):
            side.add(part, work, [WIDE.format(name="wide")], "x += wide(#, x);")
            fit(szc, path, side, side.unrelated, lambda made: is_placed("loop", made, part == "loop-slow", True), "places 'wide'")
        elif part.startswith("lines"):
            between = filler("between", 0 if part == "lines-slow" else 8)
            side.add(part, work, [lines_function("left"), between, lines_function("right")], CALL_LINES)
            side.first = [BOTH]
            fit_lines(szc, path, side, part == "lines-slow", set())
        else:
            side.build(szc, path)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--szc", required=True)
    words.add_argument("--rounds", type=int, default=1, help="cases of each kind")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--seconds", type=float, default=0.12, help="CPU time of a run")
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--kinds", default=",".join(KINDS))
    given = words.parse_args()
    draw = random.Random(given.seed)
    make_reaction(given.szc, given.folder / "reaction", draw)
    reaction = truth.medians(truth.measure(given.folder / "reaction", MEASURED, truth.PARTS, 7))
    print("reaction: " + ", ".join(f"{part} {1e9 * seconds:.2f} ns" for part, seconds in reaction.items()), flush=True)
    for part in ("loop", "lines"):
        if reaction[part + "-slow"] < 1.15 * reaction[part]:
            sys.exit(f"this processor hardly minds the place of '{part}'; there are no cases to be made of it")
    kinds = given.kinds.split(",")
    busy = {kind: draw.sample(range(given.rounds), given.rounds // 3) for kind in kinds}
    cases = []
    for number in range(given.rounds):
        for kind in draw.sample(kinds, len(kinds)):
            cases.append({"name": f"{len(cases):03}-{kind}", "kind": kind, "busy": draw.choice([1, 2]) if number in busy[kind] else 0,
                          "seed": draw.randrange(2**32)})

    plan = {"seed": given.seed, "seconds": given.seconds, "iterations": MEASURED, "reaction": reaction, "cases": cases}
    (given.folder / "cases.json").write_text(json.dumps(plan, indent=1))

    def make(case):
        folder = given.folder / case["name"]
        made = made_case(Maker(given.szc, random.Random(case["seed"]), reaction, given.seconds), case["kind"], folder)
        print(f"{case['name']} {'is made' if made else 'can not be made'}", flush=True)
        folder.mkdir(exist_ok=True)
        (folder / "made").write_text(json.dumps({**case, **made} if made else None))
        (folder / "made").rename(folder / "case.json")

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(make, cases))


if __name__ == "__main__":
    main()
