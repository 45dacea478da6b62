"""A series of experiments in a daemon of a test's own: nights that compare a few revisions of one program each."""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from harness import BIN, expect, run  # noqa: E402

# From revision "v4" on it does half as much again. CPU time, so that a busy machine changes little.
PROGRAM = """
#include <string.h>
__attribute__((noinline)) unsigned long work(unsigned long sum) { for (int i = 0; i < 1000; ++i) sum = sum * 31 + i; return sum; }
int main(int argc, char** argv) {
  unsigned long sum = 1;
  const int rounds = argc > 1 && argv[1][1] >= '4' ? 120000 : 80000;
  for (int i = 0; i < rounds; ++i) sum = work(sum);
  return sum == 0;
}
"""
PLAN = """
[experiment]
name = "%s"
series = "%s"
seed = %d
replicates = %d
response = "user_time"
preflight = false
[factors]
code = ["shuffle"]
revision = %s
[[program]]
name = "work"
run = ["%s", "{revision}"]
"""


def built(folder):
    (folder / "work.c").write_text(PROGRAM)
    run(BIN / "szc", "-O2", "work.c", "-o", "work", cwd=folder)
    (folder / "work").chmod(0o755)
    return folder / "work"


def submit(client, program, number, series="nightly", replicates=6, revisions=None):
    """The night of that number: the anchor v0, yesterday's revision and today's."""
    revisions = revisions or ["v0", *([f"v{number - 1}"] if number > 1 else []), f"v{number}"]
    answer = client.call("submit", plan=PLAN % (f"night-{number}", series, number, replicates, json.dumps(revisions), program), path="night.toml", directory="/")
    expect("result" in answer, f"night {number}: {answer}")
    return answer["result"]["experiment"]


def nights(client, program, count, **more):
    out = [submit(client, program, number, **more) for number in range(1, count + 1)]
    for experiment in out:
        client.wait(experiment, "a night is over", lambda row: row["state"] == "done", seconds=120)
    return out
