"""What a simulator of caches and branch prediction says of two builds: their cost as they were linked, and over random layouts that both
share. A model with a seed has no noise, so a few layouts do."""
import csv
import io
import json
import math
import statistics
import subprocess
from pathlib import Path

LAYOUTS = 3
PLAN = """
[experiment]
name = "simulated"
seed = 1
replicates = {layouts}
layouts = "matched"
response = ["simulated_cost", "simulated_instructions"]
[factors]
build = [{{name = "old", value = {old}}}, {{name = "new", value = {new}}}]
code = ["off", "once"]
stack = ["off"]
heap = ["off"]
[counters]
simulate = "cachegrind"
[[program]]
name = "program"
build = ["cp", "{{build}}", "program"]
run = {run}
timeout = "5min"
expect = {{ exit = {exit} }}
"""
# Those of a program's own lie beside it, and its copy doesn't find them from where that is.
LIBRARIES = 'env = { LD_LIBRARY_PATH = "{build}-libraries" }\n'


def simulate(stabctl, old, new, words, exit_status, folder):
    """Of logarithms, new less old: `linked`, `code` (over layouts) and `place` by cost, `instructions` of the programs as they were
    linked."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plan, database = folder / "plan.toml", folder / "simulated.db"
    plan.write_text(PLAN.format(layouts=LAYOUTS, old=json.dumps(str(old)), new=json.dumps(str(new)), exit=exit_status,
                                run=json.dumps(["./program", *words])) +
                    (LIBRARIES if Path(f"{new}-libraries").exists() else ""))
    database.unlink(missing_ok=True)
    done = subprocess.run([stabctl, "run", plan, "--quiet", "--db", database], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"stabctl run {plan}: {done.stderr.strip()[-300:]}")
    table = subprocess.run([stabctl, "report", "1", "--db", database, "--csv"], capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(io.StringIO(table)))

    def difference(code, of):
        means = {build: statistics.mean(math.log(float(row[of])) for row in rows if row["build"] == build and row["code"] == code)
                 for build in ("old", "new")}
        return means["new"] - means["old"]

    linked, code = difference("off", "simulated_cost"), difference("once", "simulated_cost")
    return {"linked": linked, "code": code, "place": linked - code, "instructions": difference("off", "simulated_instructions"),
            "I1_misses": difference("off", "simulated_I1_misses")}


# Half of the margin: so much the two may differ beyond the measured interval.
TOLERANCE = 0.005


def agrees(simulated, effect):
    """Whether it lies in the interval that `explain` measured, or next to it."""
    return effect["low"] - TOLERANCE <= math.expm1(simulated) <= effect["high"] + TOLERANCE
