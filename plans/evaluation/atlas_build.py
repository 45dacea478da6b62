"""Builds a commit and its parent by szc, and looks whether a run of them can answer anything."""
import filecmp
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from recorded import STABCTL

HERE = Path(__file__).resolve().parent
REACHED = 1e-5   # the smallest change of what is executed; a program whose size changes starts with a few instructions more
BUILD_SECONDS, RUN_SECONDS, COUNT_SECONDS = 900, 20, 600
SIDES = ("old", "new")
# What every recipe may call.
COMPILE = """
compile() {
  mkdir -p objects
  for file in "$@"; do $CC $CFLAGS "${flags[@]}" -c "$file" -o "objects/${file//\\//_}.o"; done
}
"""


class SetAside(Exception):
    """Why a commit isn't asked about."""


class Pair:
    """A commit and its parent, in a folder of their own: the programs `old` and `new`."""

    def __init__(self, project, commit, parent, into):
        self.project, self.commits = project, {"old": parent, "new": commit}
        self.folder = into / project.name / commit[:12]
        self.inputs = into / project.name / "inputs"

    def program(self, side):
        return self.folder / side

    def build(self):
        """Both, one after the other at the same path: programs may hold the names of their sources."""
        if all(self.program(side).exists() for side in SIDES):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        tree = self.folder / "tree"
        for side, commit in self.commits.items():
            self.project.unpack(commit, tree)
            out = self.folder / "made"
            cache = "ccache" if shutil.which("ccache") else ""
            env = {**os.environ, "PATH": f"{STABCTL.resolve().parent}:{os.environ['PATH']}", "CACHE": cache, "CC": f"{cache} szc",
                   "CXX": f"{cache} szc++", "CFLAGS": "-O2", "OUT": str(out)}
            with open(self.folder / f"{side}.log", "w") as log:
                done = wait(["bash", "-euc", COMPILE + self.project.build], BUILD_SECONDS, cwd=tree, env=env, stdout=log, stderr=log)
            shutil.rmtree(tree)
            if done or not out.exists():
                raise SetAside(f"{side} doesn't build")
            out.rename(self.program(side))

    def make_inputs(self):
        if not self.inputs.exists():
            new = self.inputs.with_name("new-inputs")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            env = {**os.environ, "CORPUS": str(HERE.parent / "benchmarks/inputs"), "OURS": str(HERE / "atlas_inputs")}
            subprocess.run(["bash", "-euc", self.project.inputs], cwd=new, env=env, check=True)
            new.rename(self.inputs)

    def words(self):
        """The run's arguments, with the whole path of each input: a run of explain lies in a folder of its own."""
        return [str(self.inputs / word) if (self.inputs / word).is_file() else word for word in self.project.args]

    def instructions(self):
        """{side: instructions that the run executes}. SetAside where nothing could be compared."""
        self.make_inputs()
        for side in SIDES:
            if wait([self.program(side), *self.words()], RUN_SECONDS, cwd=self.inputs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
                raise SetAside(f"{side} doesn't run")
        if filecmp.cmp(*(self.program(side) for side in SIDES), shallow=False):
            raise SetAside("same program")
        counts = {side: self.count(side) for side in SIDES}
        if abs(counts["new"] / counts["old"] - 1) < REACHED:
            raise SetAside("not reached by the run")
        return counts

    def count(self, side):
        """By cachegrind, the code where it was linked."""
        log = self.folder / f"{side}.count"
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={log}", "--",
                   self.program(side), *self.words()]
        if wait(command, COUNT_SECONDS, cwd=self.inputs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            raise SetAside(f"{side} doesn't run in a simulator")
        return int(re.search(r"I\s+refs:\s+([\d,]+)", log.read_text()).group(1).replace(",", ""))

    def explain(self, stabctl, most):
        """What `stabctl explain` answers, as it prints it for machines."""
        self.make_inputs()
        database = self.folder / "explain.db"
        database.unlink(missing_ok=True)
        done = subprocess.run([stabctl, "explain", *(self.program(side) for side in SIDES), "--json", "--quiet", "--db", database, "--at-most", most,
                               "--", *self.words()], capture_output=True, text=True, cwd=self.inputs)
        database.unlink(missing_ok=True)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return {"answer": "none", "sentence": done.stderr.strip()[-300:].replace(str(self.folder), "")}
        for key in ("old", "new", "command", "experiments"):
            answer.pop(key, None)
        return json.loads(json.dumps(answer).replace(str(self.folder) + "/", "").replace(str(self.inputs) + "/", ""))


def wait(command, seconds, **options):
    """Its exit status, 124 where the time was over; it gets nothing to read and ends with all that it started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return 124
