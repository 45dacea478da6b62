#!/usr/bin/python3
"""Makes pairs of programs whose difference is known: a change of code, of place, both, or neither. Each is plain C, built by szc.

    tests/explain/make_cases.py FOLDER --szc build/release/bin/szc [--rounds N] [--seed N] [--parts loop] [--loop nops]

writes FOLDER/cases.json, FOLDER/reaction/* and for each case FOLDER/NUMBER-KIND/{old,new} and, when they are made, case.json. A
round has a case of each kind, in an order of its own, so that the first so many are a fair sample. --kinds names others, or some. A
case that can't be made is drawn again, and left out after three tries. --again ANSWERS.json.xz makes cases of kept answers once more, by
the same seed, kinds and rounds: what parts cost is what they cost then, and the order is drawn by --draw. A part whose place this processor doesn't mind is refused:
--loop takes another loop, --parts leaves the part out. programs.py has the programs, truth.py says what is true of them, and run_cases runs
`stabctl explain` over them. docs/evaluation/explain-cases.md says which kinds there are."""
import argparse
import copy
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import case_folder  # noqa: E402
import matrix  # noqa: E402
import truth  # noqa: E402
from programs import (BOTH, CALL_LINES, CALLED, CHAIN, FUNCTIONS, GROWING, HEAD, HOW, LIBRARY, LOOPS, MOVES, ROUNDS,  # noqa: E402
                      SHAPES, TAIL, TURNS_OF, WIDE_OF_CPLUSPLUS, Filler, NotMade, Side, Turns, addresses, filler, fit, fit_lines, grown,
                      is_placed, library_of, lines_function, lines_places, loop_place)

KINDS = ["code", "code-moved", "function", "string", "header", "link", "pair", "both", "cancel", "nothing", "size", "inlining",
         "pgo", "lto"]
# Of these each has a twin whose change does not matter to the time, and half of the twins are moved. They are made where --kinds
# asks for them: those above are drawn as they were declared.
IN_DATA = ["constant", "string-work", "table", "library"]
TWIN = "-twin"
# Programs of another sort, and places that a flag moves or that are a library's. They are made where --kinds asks for them, too.
OTHERS = ["virtual", "threads", "library-place", "flag"]
ALIGNING = [["-falign-functions=32"], ["-mllvm", "-align-all-nofallthru-blocks=5"]]
TRIES = 3  # of a case
PLACED = ["loop", "lines"]  # parts that have a place that matters
# Iterations of the programs that are measured: some 0.1 s each.
MEASURED = {"chain": 60_000_000, "loop": 120_000_000, "loop-slow": 120_000_000, "lines": 10_000_000, "lines-slow": 10_000_000,
            "called": 15_000_000, "inlined": 15_000_000, "virtual": 10_000_000}


class Maker:
    """Makes the cases of one folder."""

    def __init__(self, given, draw, reaction):
        self.szc, self.draw, self.reaction, self.seconds = given.szc, draw, reaction, given.seconds
        self.parts, self.loop = given.parts, LOOPS[given.loop]

    def side(self, part, share, is_double=False):
        """A program of which this part adds so much of its time where it lies slowly."""
        side = Side(self.draw)
        # Where a neighbour on the same core leaves the loop alone its place matters less, so its cost is not underestimated here.
        cost = max(self.reaction[part + "-slow"] - self.reaction[part], 0.3 * self.reaction[part])
        count = int(self.seconds * share / cost)
        chain = int((self.seconds - count * self.reaction[part]) / self.reaction["chain"])
        if part == "loop" and is_double:
            half = max(1, count // ROUNDS // 2)
            side.add("loop", count, [self.loop.format(name=name) for name in ("wide", "wide2")],
                     f"x += wide({half}, x);", f"x += wide2({half}, x);")
        elif part == "loop":
            side.add("loop", count, [self.loop.format(name="wide")], "x += wide(#, x);")
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

    def of_data(self, kind, folder):
        """The chains run as often as a constant says, or a shared library. The new one's says another number; a twin's says
        another one that is not used, and functions may be moved to places that are as good, or to others."""
        what, is_twin = kind.removesuffix(TWIN), kind.endswith(TWIN)
        share, part = self.draw.choice([0.02, 0.04, 0.06]), self.draw.choice(self.parts)
        slow = self.draw.choice(["old", "new", "", ""]) if is_twin else ""
        move = self.draw.choice(list(MOVES)) if is_twin and (slow or self.draw.random() < 0.5) else ""
        code = 0.0 if is_twin else self.draw.choice([1, -1]) * self.draw.choice([0.005, 0.01, 0.02, 0.03, 0.05])
        old = self.side(part, share)
        old.lines = [line for line in old.lines if "chain" not in line]
        count = old.work["chain"] // ROUNDS // 3
        new = copy.deepcopy(old)
        more = count + int(code * self.seconds / self.reaction["chain"]) // ROUNDS // 3
        for side, turns, aside in ((old, count, 7000001), (new, more, 7000002 if is_twin else 7000001)):
            side.work["chain"] = 3 * ROUNDS * turns
            self.let_data_say(what, side, [turns, turns, turns, aside])
        self.place(folder, part, old, new, move, slow)
        return self.case(old, new, slow, part, FUNCTIONS[part][-1:], f"{what}, {move or 'nothing moves'}")

    @staticmethod
    def let_data_say(what, side, counts):
        chains = [piece for piece in side.hot if "chain" in str(piece)]
        if what != "library":
            # Behind all that moves, so that its own length moves nothing.
            side.hot.append(Turns(what.removesuffix("-work"), counts))
            side.lines += [f"x = chain{i}(turns({i}), x);" for i in range(3)]
            return
        side.hot = [piece for piece in side.hot if piece not in chains]
        calls = "".join(f"  x = chain{i}({counts[i]}, x);\n" for i in range(3))
        head, rest = LIBRARY.format(*counts, lines=calls).split("word aside", 1)
        side.library = head + "".join(map(str, chains)) + "word aside" + rest
        side.lines.append("x = work(x);")

    def more_chain(self, side, code):
        """A change of code: so much more of the whole time in the chains."""
        grown = copy.deepcopy(side)
        part = "virtual" if "virtual" in side.work else "chain"
        was = side.work[part]
        now = was + int(code * self.seconds / self.reaction[part])
        grown.work[part] = now
        grown.lines = [re.sub(rf"\b{was // ROUNDS // 3}, x\)", f"{now // ROUNDS // 3}, x)", line) for line in grown.lines]
        return grown

    def place(self, folder, part, old, new, move, slow):
        """Builds both, and looks where the part lies. `move`: how the new one is moved, or ""; `slow`: which one is slow."""
        self.place_old(folder, part, old, slow)
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

    def place_old(self, folder, part, old, slow):
        fit(self.szc, folder / "old", old, old.unrelated, lambda made: is_placed(part, made, slow == "old", True),
            f"places '{part}'")

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
        # What cancels must have a size that is known: a neighbour on the same core changes that of the loop.
        part = "lines" if kind == "cancel" and "lines" in self.parts else draw.choice(self.parts)
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

    def drawn_code(self):
        return self.draw.choice([1, -1]) * self.draw.choice([0.005, 0.01, 0.02, 0.03, 0.05])

    def of_others(self, kind, folder):
        """Half of the cases have a change of code, half of them, drawn by itself, a place."""
        share, part = self.draw.choice([0.02, 0.04, 0.06]), "loop" if kind == "virtual" else self.draw.choice(self.parts)
        code = self.drawn_code() if self.draw.random() < 0.5 else 0.0
        slow = self.draw.choice(["old", "new"]) if self.draw.random() < 0.5 else ""
        old = self.side_of_virtual(share) if kind == "virtual" else self.side(part, share)
        if kind == "threads":
            old.has_threads = True
            old.flags.append("-pthread")
            old.header.append("#include <pthread.h>\n")
        new = self.more_chain(old, code)
        # A header's function that is inline is not emitted in C++ unless it is called.
        moves = [name for name in MOVES if kind != "virtual" or name != "header"]
        move = self.draw.choice(moves) if slow or self.draw.random() < 0.5 else ""
        self.place(folder, part, old, new, move, slow)
        functions = [WIDE_OF_CPLUSPLUS] if kind == "virtual" else FUNCTIONS[part][-1:]
        return self.case(old, new, slow, part, functions, f"{kind}, {move or 'nothing moves'}")

    def loop_and_chain(self, share):
        """How often the loop and what fills the rest of the time go round, if the loop's place is to make such a share."""
        cost = max(self.reaction["loop-slow"] - self.reaction["loop"], 0.3 * self.reaction["loop"])
        count = int(self.seconds * share / cost)
        return count, self.seconds - count * self.reaction["loop"]

    def side_of_virtual(self, share):
        side = Side(self.draw)
        side.is_cplusplus = True
        count, rest = self.loop_and_chain(share)
        side.add("loop", count, [SHAPES, self.loop.format(name="Wide::run")], "x += shape_at(0)->run(#, x);")
        side.add("virtual", int(rest / self.reaction["virtual"]), [TURNS_OF],
                 *(f"x = turns_of(shape_at({i}), %, x);" for i in (1, 2, 3)))
        return side

    def of_library_place(self, folder):
        """The loop and the chains are a shared library's, in which a function before them is longer."""
        share, slow = self.draw.choice([0.02, 0.04, 0.06]), self.draw.choice(["old", "new"])
        old = self.side("loop", share)
        before = filler("before", self.draw.randrange(2, 12))
        body = "".join(f"  {line}\n" for line in old.lines)
        old.library = [HEAD, before, *old.hot, f'__attribute__((visibility("default"))) word work(word x);\nword work(word x) {{\n{body}'
                       "  return before(x);\n}\n"]
        old.flags.append("-fvisibility=hidden")
        old.hot, old.lines = [], ["x = work(x);"]
        new = copy.deepcopy(old)
        for name, side in (("old", old), ("new", new)):
            fit(self.szc, folder / name, side, side.library[1], lambda made, is_slow=slow == name: is_placed(
                "loop", library_of(made), is_slow, True), "places 'wide' of the library")
        return self.case(old, new, slow, "loop", ["libwork.so!wide"], "library-place")

    def of_flag(self, folder):
        """All of the new one is compiled with a flag that aligns functions or blocks, which moves what is behind them."""
        share, slow, flags = self.draw.choice([0.02, 0.04, 0.06]), self.draw.choice(["old", "new"]), self.draw.choice(ALIGNING)
        old = self.side("loop", share)
        new = copy.deepcopy(old)
        new.flags += flags
        self.place_old(folder, "loop", old, slow)
        self.place_new(folder, "loop", new, new.unrelated, slow, addresses(folder / "old"))
        return self.case(old, new, slow, "loop", FUNCTIONS["loop"], " ".join(flags))

    def profile(self, folder, side):
        """Flags that build with a profile of this side."""
        path = folder / "profiled"
        raw, kept = path.with_suffix(".profraw"), path.with_suffix(".profdata")
        side.build(self.szc, path, ["-fprofile-instr-generate"])
        subprocess.run([str(path), "1"], check=True, stdout=subprocess.DEVNULL, env={"LLVM_PROFILE_FILE": str(raw)})
        subprocess.run(["llvm-profdata-19", "merge", str(raw), "-o", str(kept)], check=True)
        # lld would order functions by the profile, so that nothing but hot ones could move others.
        return [f"-fprofile-instr-use={kept}", "-Wl,--no-call-graph-profile-sort", "-Wno-profile-instr-unprofiled",
                "-Wno-profile-instr-out-of-date", "-Wno-unused-command-line-argument"]

    def of_size(self, folder):
        """A function before the part is longer and does more, which moves the part."""
        code, share = self.draw.choice([0.005, 0.01, 0.02, 0.03, 0.05]), self.draw.choice([0.02, 0.04, 0.06])
        part, slow = self.draw.choice(self.parts), self.draw.choice(["old", "new"])
        more = max(1, int(code * self.seconds / self.reaction["chain"] / ROUNDS))
        old = self.side(part, share)
        old.hot.insert(0, GROWING % "")
        old.lines.append(f"x = grows({more}, {more}, x);")
        old.work["chain"] += more * ROUNDS
        new = copy.deepcopy(old)
        new.hot[0] = knob = Filler(grown, self.draw.randrange(0, 5))
        new.work["chain"] += more * ROUNDS
        self.place_old(folder, part, old, slow)
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
        part, slow = self.draw.choice(self.parts), self.draw.choice(["", "", "old", "new"])
        old = self.side(part, share)
        new = copy.deepcopy(old)
        count = int(code * self.seconds / (self.reaction["called"] - self.reaction["inlined"]))
        ways = self.draw.choice([("called", "inlined"), ("inlined", "called")])
        for side, way in zip((old, new), ways):
            side.add(way, count, [CALLED.format(how=HOW[way])], "x += mixes(#, x);")
        self.place_old(folder, part, old, slow)
        new.unrelated.length = old.unrelated.length
        move = self.draw.choice(list(MOVES)[:-1])
        self.place_new(folder, part, new, MOVES[move](new, self.draw), slow, addresses(folder / "old"))
        return self.case(old, new, slow, part, FUNCTIONS[part][-1:], f"{ways[0]}, then {ways[1]}, {move}")

    def of_pair(self, folder):
        """Two loops that are moved alike, or two functions that want the same lines only where both are moved."""
        share, slow = self.draw.choice([0.02, 0.04, 0.06]), self.draw.choice(["old", "new"])
        part = self.draw.choice(self.parts)
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
        if kind == "library-place":
            return self.of_library_place(folder)
        if kind == "flag":
            return self.of_flag(folder)
        if kind in OTHERS:
            return self.of_others(kind, folder)
        if kind.removesuffix(TWIN) in IN_DATA:
            return self.of_data(kind, folder)
        return self.of_one(kind, folder)


def made_case(maker, kind, folder):
    """The case, or nothing where what was drawn can't be had, three times."""
    for _ in range(TRIES):
        try:
            return maker.make(kind, folder)
        except NotMade as error:
            print(f"{error}; drawn again", flush=True)
            shutil.rmtree(folder)
    return None


def measured_parts(given):
    return [part for part in truth.PARTS if part.removesuffix("-slow") not in PLACED or part.removesuffix("-slow") in given.parts]


def make_reaction(given, folder, draw):
    """The programs that truth.measure runs, one for each part."""
    szc, loop = given.szc, LOOPS[given.loop]
    folder.mkdir(parents=True, exist_ok=True)
    for part in measured_parts(given):
        # What came later draws by itself: others are drawn as they were declared.
        side = Side(random.Random(1) if part == "virtual" else draw)
        work, path = MEASURED[part], folder / part
        if part == "virtual":
            side.is_cplusplus = True
            side.add(part, work, [SHAPES, loop.format(name="Wide::run"), TURNS_OF], "x = turns_of(shape_at(1), #, x);")
        if part == "chain":
            side.add(part, work, [CHAIN.format(name="chain", factor=2654435761)], "x = chain(#, x);")
        if part in HOW:
            side.add(part, work, [CALLED.format(how=HOW[part])], "x += mixes(#, x);")
        if part.startswith("loop"):
            side.add(part, work, [loop.format(name="wide")], "x += wide(#, x);")
            fit(szc, path, side, side.unrelated, lambda made: is_placed("loop", made, part == "loop-slow", True), "places 'wide'")
        elif part.startswith("lines"):
            between = filler("between", 0 if part == "lines-slow" else 8)
            side.add(part, work, [lines_function("left"), between, lines_function("right")], CALL_LINES)
            side.first = [BOTH]
            fit_lines(szc, path, side, part == "lines-slow", set())
        else:
            side.build(szc, path)


def reaction_of(kept):
    """What an iteration of each part cost when these answers were given, in the median."""
    seen = [case["answer"]["reaction"] for case in kept["cases"]]
    return {part: statistics.median(one[part] for one in seen if part in one) for part in sorted({part for one in seen for part in one})}


def made_again(cases, kept, draw):
    """Those of the cases that have kept answers, in a drawn order."""
    kinds = {case["name"]: case["kind"] for case in kept["cases"]}
    again = [case for case in cases if case["name"] in kinds]
    if {case["name"]: case["kind"] for case in again} != kinds:
        sys.exit("the kept answers are of other cases; give their seed, --rounds and --kinds")
    return random.Random(draw).sample(again, len(again))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--szc", required=True)
    words.add_argument("--rounds", type=int, default=1, help="cases of each kind")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--seconds", type=float, default=0.12, help="CPU time of a run")
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--kinds", default=",".join(KINDS))
    words.add_argument("--parts", type=lambda text: text.split(","), default=PLACED, help="whose places are planted")
    words.add_argument("--loop", choices=LOOPS, default="additions", help="what the part 'loop' does")
    words.add_argument("--again", type=lambda name: matrix.read(Path(name)), metavar="ANSWERS", help="makes cases of these answers again")
    words.add_argument("--draw", type=int, default=1, help="seed of the order of those")
    given = words.parse_args()
    draw = random.Random(given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    lock = case_folder.making(given.folder)
    make_reaction(given, given.folder / "reaction", draw)
    reaction = (reaction_of(given.again) if given.again else
                truth.medians(truth.measure(given.folder / "reaction", MEASURED, measured_parts(given), 7)))
    print("reaction: " + ", ".join(f"{part} {1e9 * seconds:.2f} ns" for part, seconds in reaction.items()), flush=True)
    for part in given.parts:
        if reaction[part + "-slow"] < 1.15 * reaction[part]:
            sys.exit(f"this processor hardly minds the place of '{part}'; there are no cases to be made of it (see --loop and --parts)")
    kinds = given.kinds.split(",")
    busy = {kind: draw.sample(range(given.rounds), given.rounds // 3) for kind in kinds}
    cases = []
    for number in range(given.rounds):
        for kind in draw.sample(kinds, len(kinds)):
            cases.append({"name": f"{len(cases):03}-{kind}", "kind": kind,
                          "busy": draw.choice([1, 2]) if number in busy[kind] else 0, "seed": draw.randrange(2**32)})
    if given.again:
        cases = made_again(cases, given.again, given.draw)
    plan = {"seed": given.seed, "seconds": given.seconds, "iterations": MEASURED, "reaction": reaction, "cases": cases}
    (given.folder / "cases.json").write_text(json.dumps(plan, indent=1))

    def make(case):
        folder = given.folder / case["name"]
        made = made_case(Maker(given, random.Random(case["seed"]), reaction), case["kind"], folder)
        print(f"{case['name']} {'is made' if made else 'can not be made'}", flush=True)
        folder.mkdir(exist_ok=True)
        (folder / "made").write_text(json.dumps({**case, **made} if made else None))
        (folder / "made").rename(folder / "case.json")

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(make, cases))
    lock.close()


if __name__ == "__main__":
    main()
