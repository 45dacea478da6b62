"""The A/A plans: pairs of builds that must not differ, by plain clang and by szc.

A pair is a program of the plan with two sides, A and B, built from the same source in both compilers. The sides
differ in what must not matter: the order of linking, the size of a function that nobody calls, or the size of the
environment. Both are linked freshly, for this pair alone. A trial of the plain build repeats the layout of its binary;
one of szc's draws layouts of its own. The programs are the clusters: each gives as many pairs to each kind.

n is fixed here, before any data; the four cells of a pair (side x compiler) run one after the other in random order, so
that what the machine does in a minute falls on both sides. One test a pair and compiler: tables.py says which.

`wide` asks once more what the link order's pairs showed without having been asked, of more programs and more pairs; what is
expected of it was written in docs/evaluation/aa.md before it ran. `sliced` asks it in sliced blocks with matched layouts, as
docs/evaluation/sliced.md said before it ran; `sliced-unused` and `sliced-env` ask it so of the other two kinds. `thousand` is
`sliced` with 1,005 pairs; plans/evaluation/lanes writes it in parts and runs them on several CPUs.
"""
import json
import random
from pathlib import Path

KINDS = ("link", "unused", "env")
WIDE = "wide"
SLICED = "sliced"
SLICED_UNUSED = "sliced-unused"
SLICED_ENV = "sliced-env"
THOUSAND = "thousand"
PAIRS_A_PROGRAM = {"link": 8, "unused": 8, "env": 8, WIDE: 13, SLICED: 6, SLICED_UNUSED: 6, SLICED_ENV: 6, THOUSAND: 67}
NINE = ("lua", "bzip2", "sqlite3", "gnugo", "hmmer2", "minisat", "eprover", "tcl", "perl")   # of all kinds but the wide one
EPOCH_MS = {"link": 5, "unused": 5, "env": 5}
SHORT_EPOCH_MS = 4   # of the other kinds, whose shortest run takes 0.13 s: 30 layouts and more
SEEDS = {"link": 11, "unused": 12, "env": 13, WIDE: 14, SLICED: 17, THOUSAND: 23, SLICED_UNUSED: 29, SLICED_ENV: 30}
WITHOUT_PADS = ("x264",)   # its configure asks for -mstack-alignment=64, with which functions had no pads on the day
TRIALS_A_SIDE = {THOUSAND: 6, SLICED_UNUSED: 6, SLICED_ENV: 6}   # of the others 8
LONGER_ENV_BYTES = 1040
MOST_UNUSED_BYTES = 4096

PURPOSE = {
    "link": "the sides are linked in other orders",
    WIDE: "the sides are linked in other orders; more programs and pairs than in aa-link, whose findings it asks for again",
    SLICED: "the sides are linked in other orders; in sliced blocks, with matched layouts",
    THOUSAND: "the sides are linked in other orders; in sliced blocks, with matched layouts, a thousand times",
    "unused": "each side has an unused function in front of all others, of another size",
    SLICED_UNUSED: "each side has an unused function in front of all others, of another size; in sliced blocks, with matched layouts",
    SLICED_ENV: "side B has 1040 bytes more in its environment; without ASLR; in sliced blocks, with matched layouts",
    "env": "side B has 1040 bytes more in its environment; without ASLR, which would move the stack anyway",
}

HEAD = """
[experiment]
name = "evaluation-aa-{kind}"
seed = {seed}
replicates = {trials}
{blocks}margin = "1%"
preflight = false           # hundreds of cells; each trial's output and dose are checked anyway

[factors]
{side}
cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["{epoch}"]             # {layouts} layouts in a run of 0.2 s
# Nothing but plain builds as they are, and szc's with everything on.
exclude = [
  {{ cc = "clang-19", code = "shuffle" }}, {{ cc = "clang-19", stack = "on" }}, {{ cc = "clang-19", heap = "page" }},
  {{ cc = "szc", code = "off" }}, {{ cc = "szc", stack = "off" }}, {{ cc = "szc", heap = "off" }},
]

[counters]
events = ["task-clock", "page-faults", "context-switches"]
"""


IN_TURN = 'response = ["wall_time", "task-clock"]\n'
# No block runs alone: what slicing does to a difference is asked elsewhere (tests/bench/sliced_blocks).
IN_SLICES = {kind: f'response = ["cpu_time"]\nblocks = "sliced"\nslice = "{length}\nalone = "0%"\n'
             for kind, length in ((SLICED, '10ms"            # some twenty in a run of 0.2 s'), (THOUSAND, '3ms"'),
                                  (SLICED_UNUSED, '3ms"'), (SLICED_ENV, '3ms"'))}


def options_of(kind, draw):
    """(shell assignments in front of the build, its options, length of a variable of this pair's own)."""
    if kind in ("link", WIDE, SLICED, THOUSAND):
        a, b = draw.sample(range(1, 1000000), 2)
        return f"A={a}; B={b}; ", ' --link "${side}"', 0
    if kind in ("unused", SLICED_UNUSED):
        a, b = draw.sample(range(16, MOST_UNUSED_BYTES + 1, 16), 2)
        return f"A={a}; B={b}; ", ' --placing --unused "${side}"', 0
    return "", f" --link {draw.randrange(1, 1000000)}", draw.randrange(0, 1024)


def pair_text(program, kind, number, environment):
    run = program.short
    before, options, padding = options_of(kind, random.Random(f"{kind} {program.name} {number}"))
    environment = environment | ({"PAIR": "x" * padding} if is_of_environments(kind) else {})
    binary = f"./{Path(program.binary).name}"
    folder = f"$PLAN_DIR/../../build/benchmarks/{program.name}/inputs"
    lines = ["[[program]]", f'name = "{program.name}-{number}"', "shell = true",
             f"build = '{before}\"$PLAN_DIR/../benchmarks/fetch\" build {program.name} --cc {{cc}}{options} --into .'",
             *([f"prepare = 'cp {' '.join(f'{chr(34)}{folder}/{name}{chr(34)}' for name in run.uses)} .'"] if run.uses else []),
             f"run = {json.dumps([binary, *run.args])}", 'timeout = "60s"']
    expect = ([f"exit = {run.exit}"] if run.exit else []) + ([] if run.output else ["same_stdout = true"])
    if expect:
        lines.append(f"expect = {{ {', '.join(expect)} }}")
    if environment:
        lines.append("env = { " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in environment.items()) + " }")
    return "\n".join(lines) + "\n"


def is_of_environments(kind):
    return kind in ("env", SLICED_ENV)


def takes_part(kind, program):
    return kind == WIDE or (program.name in NINE if kind not in IN_SLICES else program.name not in WITHOUT_PADS)


def plan_text(kind, programs, environment_of, numbers=None, part=0):
    """programs: those with a short run; environment_of(program, run): variables that it needs; numbers: of the pairs, without them all;
    part: another seed for each part of an experiment that is made in parts."""
    programs = [program for program in programs if takes_part(kind, program)]
    epoch_ms = EPOCH_MS.get(kind, SHORT_EPOCH_MS)
    side = f"env_size = [0, {LONGER_ENV_BYTES}]" if is_of_environments(kind) else 'side = ["A", "B"]'
    head = HEAD.format(kind=kind, seed=SEEDS[kind] + 1000 * part, trials=TRIALS_A_SIDE.get(kind, 8), side=side,
                       blocks=IN_SLICES.get(kind, IN_TURN), epoch=f"{epoch_ms}ms", layouts=200 // epoch_ms)
    machine = '\n[machine]\nknobs = { aslr = false }\n' if is_of_environments(kind) else ""
    pairs = [pair_text(program, kind, number, environment_of(program, program.short))
             for number in numbers or range(1, PAIRS_A_PROGRAM[kind] + 1) for program in programs]
    return (f"# Pairs that must not differ: {PURPOSE[kind]}.\n"
            f"# Written by plans/evaluation/write; plans/evaluation/pairs.py explains the design.\n"
            f"{head}{machine}\n" + "\n".join(pairs))
