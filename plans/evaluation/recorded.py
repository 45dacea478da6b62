"""What an experiment of the evaluation really ran, as plans/evaluation/export keeps it, and our own tool's answers on it.

A file is JSON in xz, "format" stab-evaluation, version 1: the experiment's name, seed, planned trials and times, facts
of the machine, `subjects` (names), `cells` (level of each factor), and `trials`, a list for each column, an attempt a row, in
the order in which they were started; `parts`, of one that ran in parts, says when and where each of them ran. `subject` and `cell` are indices; `state` is "recorded" for what is analysed; times are
in ns, `started_ms` counts from the first that began; a number that there isn't is null, also when an attempt never began.

No statistic is computed here: stabctl stats does it, on columns that we hand over as CSV.
"""
import concurrent.futures
import json
import lzma
import math
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "docs/evaluation/data"
STABCTL = Path(os.environ.get("LAB_BIN", REPOSITORY / "build/release/bin")) / "stabctl"
PAPERS = "Curtsinger and Berger, ASPLOS 2013"

OF_A_LINK = {"t": statistics.fmean, "ranks": statistics.median}   # what stands for a link's trials, by test


def kept_answers(path, form):
    """What one of the evaluation's commands kept in a format of its own, version 1."""
    kept = json.loads(lzma.decompress(path.read_bytes()))
    if (kept["format"], kept["version"]) != (form, 1):
        raise ValueError(f"{path}: format {kept['format']} {kept['version']}, expected {form} 1")
    return kept


def when_and_loads(rows):
    """When the first and the last began, and the least and the largest load: as headers say it."""
    first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(one["began"])) for one in (rows[0], rows[-1]))
    loads = sorted(one["load"] for one in rows)
    return f"{first} to {last} UTC", f"load average {loads[0]:g} to {loads[-1]:g}"


class Recorded:
    def __init__(self, path):
        kept = json.loads(lzma.decompress(path.read_bytes()))
        if (kept["format"], kept["version"]) != ("stab-evaluation", 1):
            raise ValueError(f"{path}: format {kept['format']} {kept['version']}, expected stab-evaluation 1")
        self.name, self.folder = path.name.removesuffix(".json.xz"), path.parent
        self.facts, self.subjects, self.cells = kept, kept["subjects"], kept["cells"]
        names = list(kept["trials"])
        self.attempts = [dict(zip(names, values)) for values in zip(*kept["trials"].values())]
        for trial in self.attempts:
            trial["cpu_ns"] = None if trial["user_ns"] is None else trial["user_ns"] + trial["system_ns"]
        self.trials = [trial for trial in self.attempts if trial["state"] == "recorded"]

    def where(self, subject=None, **levels):
        """The recorded trials of a subject in the cells that have these levels."""
        cells = {i for i, cell in enumerate(self.cells) if all(cell[f] == l for f, l in levels.items())}
        return [t for t in self.trials if t["cell"] in cells and subject in (None, self.subjects[t["subject"]])]

    def header(self):
        """When, where and how: the first lines of a table."""
        facts, machine = self.facts, self.facts["machine"]
        failed = len(self.attempts) - len(self.trials)
        command = facts.get("command") or (
            "plans/evaluation/lanes" if "parts" in facts else f"stabctl run plans/evaluation/{facts['experiment'].removeprefix('evaluation-')}.toml")
        return (f"`{command}`, {facts['began_utc']} to {facts['ended_utc']} UTC: "
                f"{len(self.trials)} of {facts['planned']} trials recorded, {failed} attempts failed or lost. "
                + (" ".join(f"{len(subjects)} pairs on {machine}." for machine, subjects in self.machines().items()) if "parts" in facts else
                   f"{machine_text(machine)}; {machine['placement']}."))

    def machines(self):
        """{machine: subjects that ran there}, of an experiment in parts."""
        found = {}
        for part in self.facts["parts"]:
            found.setdefault(machine_text(part["machine"]), set()).update(part["subjects"])
        return found


def machine_text(machine):
    return f"{machine['cpu.model']}, CPUs {machine['cpu.online']}, Linux {machine['kernel.release']}"


def stats(method, columns, *flags):
    """What `stabctl stats METHOD` says about the columns {name: values}."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        names = list(columns)
        file.write(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*columns.values())))
        file.flush()
        return answer([method, file.name, *flags])


def units(trials, response, of=statistics.fmean):
    """Independent draws: a trial of random layout is one; the trials of a link repeat its layout, and one number stands for them."""
    draws = {}
    for i, trial in enumerate(trials):
        draws.setdefault(("link", trial["link"]) if trial["link"] else ("trial", i), []).append(trial[response])
    return [of(times) for times in draws.values()]


def ratio(ours, baseline):
    """Ratio of geometric means, its interval and p-value by Welch's t on logarithms."""
    return stats("ratio", {"time": ours + baseline, "side": ["a"] * len(ours) + ["b"] * len(baseline)}, "--group", "side")


def ratio_in_blocks(ours, baseline, response):
    """The same of trials within their blocks, by the paired t-test on logarithms: what the machine does to a whole block cancels.
    Of blocks that have as many trials on a side as the fullest one."""
    def typical(side):
        blocks = {}
        for trial in side:
            blocks.setdefault(trial["block"], []).append(trial[response])
        most = max(map(len, blocks.values()))
        return {block: statistics.geometric_mean(times) for block, times in blocks.items() if len(times) == most}
    return as_ratio(of_pairs("paired-t", typical(ours), typical(baseline)))


def of_pairs(method, ours, baseline, *flags):
    """On logarithms. ours, baseline: values by what pairs them."""
    pairs = sorted(ours.keys() & baseline.keys())
    rows = [(side[pair], name, pair) for name, side in (("a", ours), ("b", baseline)) for pair in pairs]
    given = {name: [row[i] for row in rows] for i, name in enumerate(("time", "side", "pair"))}
    return stats(method, given, "--response", "time", "--group", "side", "--pair", "pair", "--log", *flags)


def shift(ours, baseline):
    """The same by ranks: the Hodges-Lehmann estimate on logarithms, with Mann and Whitney's interval and p-value. A machine
    that makes one trial in twenty longer by half moves means, and their intervals more; it hardly moves this."""
    found = stats("mann-whitney", {"time": ours + baseline, "side": ["a"] * len(ours) + ["b"] * len(baseline)}, "--response", "time",
                  "--group", "side", "--log")
    return as_ratio(found)


def shift_of_pairs(ours, baseline):
    """The same of pairs, by signed ranks. ours, baseline: values by what pairs them."""
    return as_ratio(of_pairs("wilcoxon", ours, baseline))


def as_ratio(found):
    """Of an answer on logarithms. Few values may have no interval of that level."""
    holds = found.get("achieved_conf_level", 1) >= found["conf_level"] and found["conf_low"] is not None
    low, high = (math.exp(found[name]) if holds else None for name in ("conf_low", "conf_high"))
    return {"p_value": found["p_value"], "estimate": math.exp(found["estimate"]), "conf_low": low, "conf_high": high}


def holm(p_values):
    """Adjusted for that many tests."""
    return stats("holm", {"p": p_values}, "--response", "p")["adjusted"]


def differ(p_values, adjusted):
    """How many differ at 5 %, and how many with Holm: "n (m) of k"."""
    return f"{sum(p < 0.05 for p in p_values)} ({sum(p < 0.05 for p in adjusted)}) of {len(p_values)}"


def change(found):
    """A ratio as a change, with its interval."""
    return f"{percent(found['estimate'] - 1, 2)} {bounds(found)}"


def bounds(found):
    """A ratio's interval as a change; a bound that there isn't is a dash."""
    return f"[{', '.join('-' if found[b] is None else percent(found[b] - 1, 2) for b in ('conf_low', 'conf_high'))}]"


def binomial(successes, trials, p):
    """Exact: share, its Clopper-Pearson interval, p-value against p."""
    return answer(["binomial", "--successes", str(successes), "--trials", str(trials), "--p", str(p)])


def share(found):
    """Of a binomial answer, with its interval."""
    return f"{percent(found['estimate'])} [{percent(found['conf_low'])}, {percent(found['conf_high'])}]"


def verdict_on_level(found, level):
    """Whether a share, a binomial answer, is what a test of that level promises. More of it speaks against the test, less doesn't."""
    return "confirmed" if found["conf_low"] <= level <= found["conf_high"] else "refuted" if found["conf_low"] > level else "open"


def mcnemar(only_left, only_right):
    """p of McNemar's exact test: things that one side alone has."""
    return binomial(only_left, only_left + only_right, 0.5)["p_value"] if only_left + only_right else 1.0


def in_parallel(call, arguments):
    """[call(*each) for each in arguments]: most of the time goes to stabctl."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda given: call(*given), arguments))


def answer(arguments):
    done = subprocess.run([STABCTL, "stats", *arguments, "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise ValueError(f"stabctl stats {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def table(head, rows):
    """Markdown."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def details(summary, head, rows):
    """A table that a reader opens."""
    return f"<details><summary>{summary}</summary>\n\n{table(head, rows)}\n\n</details>"


def percent(share, digits=1):
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"   # + 0.0: no minus before a zero


def p_text(p, equals=""):
    return "< 0.001" if p < 0.001 else f"{equals}{p:.3f}"
