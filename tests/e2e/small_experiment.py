"""A small real experiment for tests of the laboratory: a C program built by szc, four cells, a few seconds in all,
and the questions that a finished or interrupted run must answer from the database alone."""
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import rows, run  # noqa: E402

REPLICATES = 32   # a kill must find some left: a trial lasts about 10 ms
CELLS = 4

PLAN = f"""
[experiment]
name = "small"
seed = 5
replicates = {REPLICATES}
[factors]
code = ["off", "shuffle"]
heap = ["off", "page"]
epoch = ["5ms"]
[counters]
events = ["task-clock"]
[[program]]
name = "work"
source = "source"
build = ["szc", "--stab-pads=all", "-O2", "work.c", "-o", "work"]
run = ["./work", "120000"]
timeout = "20s"
expect = {{ stdout_sha256 = "SHA256" }}
"""

WORK = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static unsigned mix(unsigned x) { return (x ^ (x >> 7)) * 2654435761u; }
__attribute__((noinline)) static unsigned step(unsigned x) {
  unsigned* object = malloc(16 + x % 64);
  object[0] = x;
  for (int i = 0; i < 40; ++i) object[0] = mix(object[0] + i);
  x = object[0];
  free(object);
  return x;
}
int main(int argc, char** argv) {
  unsigned x = 1;
  for (long i = atol(argv[argc - 1]); i > 0; --i) x = step(x);
  printf("%u\\n", x);
  return 0;
}
"""


def make(folder):
    """Writes source and plan into folder; returns the plan's path."""
    source = Path(folder) / "source"
    source.mkdir()
    (source / "work.c").write_text(WORK)
    run("clang-19", "-O2", source / "work.c", "-o", f"{folder}/plain", timeout=60)
    expected = subprocess.run(f"{folder}/plain 120000 | sha256sum", shell=True, capture_output=True, text=True,
                              check=True, timeout=60).stdout.split()[0]
    plan = Path(folder) / "plan.toml"
    plan.write_text(PLAN.replace("SHA256", expected))
    return plan


def query(database, sql):
    """Rows, read by sqlite3 alone; empty while there is no such database or table yet, or its maker was killed before it was whole."""
    try:
        return rows(database, sql)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "unable to open" in str(error) or error.sqlite_errorname == "SQLITE_READONLY_ROLLBACK":
            return []
        raise


def recorded(database):
    found = query(database, "SELECT count(*) FROM trials WHERE kind = 'main' AND state = 'recorded'")
    return found[0][0] if found else 0


def schedule(database):
    """What was planned: position -> (cell, seed). The same after any interruption."""
    return set(query(database, "SELECT DISTINCT position, cell, seed FROM trials WHERE kind = 'main'"))


def check_complete(database, planned):
    """Every planned trial recorded once, nothing left open, and the schedule as it was."""
    positions = [row[0] for row in query(database, "SELECT position FROM trials WHERE kind = 'main' AND state = 'recorded'")]
    assert sorted(positions) == list(range(min(positions), min(positions) + REPLICATES * CELLS)), sorted(positions)
    assert schedule(database) == planned, "the schedule has changed"
    open_trials = query(database, "SELECT state, count(*) FROM trials WHERE state IN ('claimed', 'started', 'exited', "
                                  "'verified') OR (state = 'planned' AND superseded = 0) GROUP BY state")
    assert not open_trials, open_trials
    per_cell = query(database, "SELECT cell, count(*) FROM trials WHERE kind = 'main' AND state = 'recorded' GROUP BY cell")
    assert sorted(n for _, n in per_cell) == [REPLICATES] * CELLS, per_cell
    lost = query(database, "SELECT count(*) FROM trials WHERE state = 'lost'")[0][0]
    without = query(database, "SELECT count(*) FROM trials t WHERE state = 'lost' AND kind = 'main' AND NOT EXISTS (SELECT 1 "
                              "FROM trials r WHERE r.experiment = t.experiment AND r.kind = 'main' AND r.position = "
                              "t.position AND r.state = 'recorded')")[0][0]
    assert without == 0, "a lost trial has no replacement"
    return lost


def left_over(folder):
    """Processes that run something below folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            target = os.readlink(process / "exe")
        except OSError:
            continue
        if target.startswith(str(folder)):
            found.append((process.name, target))
    return found
