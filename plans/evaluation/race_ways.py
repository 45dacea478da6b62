"""Seven ways of comparing two programs, as plans/evaluation/race asks them. Each gets as many runs a side, on one CPU.

A way is a function of (question, runs a side, cpu, folder to work in). It returns the runs and, of Stab's ways, the facts of the machine. A run is a
dictionary: side, block (what pairs it; None: nothing does), link, started_s, wall_ns, user_ns, system_ns (None: not told).
"""
import json
import lzma
import os
import random
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from compiler import Compiler
from program import Program
from program_tables import program_text
from recorded import STABCTL

HERE = Path(__file__).resolve().parent
PROGRAMS = ("lua", "bzip2", "sqlite3", "gnugo", "minisat")   # those with a planted loop; libquantum's costs too little
QUESTIONS = ("equal", "planted")
RUNS = 20        # a side, in the evaluation
LINKS = 10       # of the way that takes another link each run: each link runs twice
POOL = 24        # links of a program, of which an experiment draws its own
SIDES = "AB"


@dataclass
class Question:
    """Is side B slower than A? Of one program, each side a link of its own."""
    program: Program
    kind: str       # of QUESTIONS
    number: int
    one_percent: float   # the percent of planted turns that cost 1 %

    def __post_init__(self):
        self.name = f"{self.program.name}-{self.kind}-{self.number}"
        links = random.Random(self.name).sample(range(1, POOL + 1), 2 * LINKS)
        self.links = {"A": links[:LINKS], "B": links[LINKS:]}   # the first of a side is its only one, where a way takes one

    def compiler(self, cc, side, link):
        return Compiler(cc, "-O2", link=link, slow=self.slow(side))

    def slow(self, side):
        return self.one_percent if side == "B" and self.kind == "planted" else 0

    def build(self):
        """All builds of all ways, so that none of them waits for one."""
        for side in SIDES:
            for link in self.links[side]:
                self.program.build(self.compiler("clang-19", side, link))
            self.program.build(self.compiler("szc", side, self.links[side][0]))
        self.program.inputs()

    def place(self, folder):
        """{side: [command of each of its plain links]} and what each needs, in a folder of this question's."""
        run, binaries = self.program.short, {}
        for name in run.uses:
            (folder / name).write_bytes((self.program.inputs() / name).read_bytes())
        for side in SIDES:
            binaries[side] = []
            for number, link in enumerate(self.links[side]):
                binary = folder / f"{side}{number}"
                binary.write_bytes(self.program.build(self.compiler("clang-19", side, link)).read_bytes())
                binary.chmod(0o755)
                binaries[side].append([str(binary), *run.args])
        return binaries


def fresh(folder):
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    return folder


def hyperfine(question, runs, cpu, folder):
    """What most people do: one build a side, all runs of the first and then all of the second, wall times and Welch's test."""
    commands = question.place(fresh(folder))
    run, answer = question.program.short, folder / "answer.json"
    words = [shlex.join(commands[side][0]) for side in SIDES]
    began = time.time()
    subprocess.run(["taskset", "-c", str(cpu), "hyperfine", "-N", "--warmup", "1", "--runs", str(runs), "--style", "none",
                    *(["--ignore-failure"] if run.exit else []), "--export-json", answer, *words],
                   cwd=folder, env=os.environ | question.program.variables(run), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    share = (time.time() - began) / (2 * runs)   # a run's share of the time that all took
    rows = []
    for side, result in zip(SIDES, json.loads(answer.read_text())["results"]):
        rows += [{"side": side, "block": None, "link": question.links[side][0], "started_s": began + (len(rows) + i) * share,
                  "wall_ns": round(1e9 * seconds), "user_ns": None, "system_ns": None} for i, seconds in enumerate(result["times"])]
    return rows, None


def in_turn(question, runs, cpu, folder, links):
    """Runs of both sides in turn, which of them first by chance; each side's links one after the other."""
    commands, run, draw = question.place(fresh(folder)), question.program.short, random.Random(question.name)
    environment, rows = os.environ | question.program.variables(run), []
    for pair in range(-1, runs):   # the first pair warms up
        for side in draw.sample(SIDES, 2):
            link = pair % links
            started, began = time.time(), time.perf_counter_ns()
            process = subprocess.Popen(["taskset", "-c", str(cpu), *commands[side][link]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter_ns() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != run.exit:
                sys.exit(f"race: {commands[side][link]} in {folder} ended with {process.returncode}, expected {run.exit}")
            if pair >= 0:
                rows.append({"side": side, "block": pair, "link": question.links[side][link], "started_s": started, "wall_ns": wall,
                             "user_ns": round(1e9 * usage.ru_utime), "system_ns": round(1e9 * usage.ru_stime)})
    return rows, None


def pairs(question, runs, cpu, folder):
    """One build a side, runs in turn, paired t-test."""
    return in_turn(question, runs, cpu, folder, 1)


def links(question, runs, cpu, folder):
    """Ten builds a side in random link orders, runs in turn, a Welch test of the links' means."""
    return in_turn(question, runs, cpu, folder, LINKS)


PLAN = """
[experiment]
name = "race"
seed = {seed}
replicates = {runs}
response = ["cpu_time"]
margin = "1%"
preflight = false
{blocks}
[factors]
side = ["A", "B"]
{factors}
"""
RANDOMIZED = 'code = ["shuffle"]\nstack = ["on"]\nheap = ["page"]\nepoch = ["4ms"]\n'   # fifty layouts in a run of 0.2 s
IN_SLICES = 'blocks = "sliced"\nslice = "3ms"\nalone = "0%"\n'


def planned(question, runs, cpu, folder, cc, blocks):
    """By a plan of Stab's: two cells, and the trials on the CPU that the daemon would choose."""
    fresh(folder)
    options = {side: f"--link {question.links[side][0]} --slow {question.slow(side)}" for side in SIDES}
    text = program_text(question.program, [question.program.short], f"{cc} ${{side}}", False)
    text = text.replace("build = '", "build = '" + "".join(f'{side}="{words}"; ' for side, words in options.items()))
    text = PLAN.format(seed=question.number, runs=runs, blocks=blocks, factors=RANDOMIZED if cc == "szc" else "") + text
    plan, database = folder / "plan.toml", folder / "race.db"
    plan.write_text(text.replace("$PLAN_DIR/../..", str(HERE.parents[1])).replace("$PLAN_DIR/..", str(HERE.parent)))
    with open(folder / "log", "w") as log:
        for command in ([STABCTL, "run", plan, "--db", database, "--html", folder / "page.html"], [HERE / "export", "--into", folder, database]):
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=True)
    kept = json.loads(lzma.decompress((folder / "race.json.xz").read_bytes()))
    if f"trials on cpu {cpu} " not in kept["machine"]["placement"]:
        sys.exit(f"race: the plan's trials ran elsewhere than on CPU {cpu}: {kept['machine']['placement']}; say --cpu")
    names, rows = list(kept["trials"]), []
    for values in zip(*kept["trials"].values()):
        trial = dict(zip(names, values))
        if trial["state"] == "recorded":
            side = kept["cells"][trial["cell"]]["side"]
            rows.append({"side": side, "block": trial["block"], "link": question.links[side][0],
                         "started_s": (kept["began_ms"] + trial["started_ms"]) / 1000, **{name: trial[name] for name in ("wall_ns", "user_ns", "system_ns")}})
    return rows, kept["machine"]


def sliced_plain(question, runs, cpu, folder):
    """One plain build a side, in slices."""
    return planned(question, runs, cpu, folder, "clang-19", IN_SLICES)


def blocks(question, runs, cpu, folder):
    """Randomized, the trials of a block one after the other."""
    return planned(question, runs, cpu, folder, "szc", 'layouts = "independent"')


def sliced(question, runs, cpu, folder):
    """Randomized, in slices, each side with layouts of its own."""
    return planned(question, runs, cpu, folder, "szc", IN_SLICES + 'layouts = "independent"')


def matched(question, runs, cpu, folder):
    """Randomized, in slices, both sides with the same layouts."""
    return planned(question, runs, cpu, folder, "szc", IN_SLICES + 'layouts = "matched"')


WAYS = {"hyperfine": hyperfine, "pairs": pairs, "links": links, "sliced plain": sliced_plain, "blocks": blocks, "sliced": sliced, "matched": matched}
