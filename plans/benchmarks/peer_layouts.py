"""Layouts that other tools choose, as controls beside ours.

cdsort  LLVM's order of functions by a call graph, which lld makes of the edges that a build with profile keeps (-fprofile-use).
        The code is the plain build's, byte for byte; only the order of its functions is another.
bolt    llvm-bolt on the finished binary, which it first instruments for a run: order of functions, order of blocks, hot and cold
        parts apart. That is other code, and without our metadata: it runs with code off only.
bolt-shuffled   the same with its functions in an order drawn by the link's seed: what BOLT's code gains wherever it lies.
"""
import re
import shutil
import subprocess
from pathlib import Path

from debian_source import Failure

PEERS = ("cdsort", "bolt", "bolt-shuffled")
# By its own path: in /usr/bin, where Debian links it, it doesn't find the library that instrumented programs get.
BOLT = Path("/usr/lib/llvm-19/bin/llvm-bolt")


def has_bolt():
    return BOLT.exists()


def call_graph(objects):
    """{(caller, callee): weight}, from what clang keeps of a profile in the objects below a folder."""
    files = sorted(file for pattern in ("*.o", "*.a") for file in objects.rglob(pattern))
    text = subprocess.run(["llvm-readobj-19", "--cg-profile", *files], capture_output=True, text=True, timeout=120).stdout
    edges = {}
    for caller, callee, weight in re.findall(r"From: (\S+) \(\d+\)\s+To: (\S+) \(\d+\)\s+Weight: (\d+)", text):
        edges[caller, callee] = edges.get((caller, callee), 0) + int(weight)
    if not any(edges.values()):
        raise Failure(f"no object below {objects} has a call graph with counts; is it a build with a profile?")
    return edges


def sorted_by_lld(edges, where):
    """Options of a link in folder `where` that orders functions by these calls."""
    (where / "calls").write_text("".join(f"{caller} {callee} {weight}\n" for (caller, callee), weight in edges.items() if weight))
    return ["--call-graph-ordering-file=calls", "--call-graph-profile-sort=cdsort", "--no-warn-symbol-ordering"]


def bolted(linked, run_once, seed=None):
    """Has BOLT instrument `linked`, runs that by `run_once(path)`, and rewrites `linked` by what was counted. seed: of the order of its
    functions; None: BOLT's own order."""
    if not has_bolt():
        raise Failure(f"{BOLT} is not there; install bolt-19 (packaging/scripts/install --compare)")
    instrumented, counted, better = (Path(f"{linked}.{end}") for end in ("instrumented", "fdata", "bolt"))
    said(BOLT, linked, "-o", instrumented, "--instrument", f"--instrumentation-file={counted}")
    counted.unlink(missing_ok=True)
    run_once(instrumented)
    if not counted.exists():
        raise Failure(f"{instrumented} has run and left no profile")
    order = ["--reorder-functions=cdsort"] if seed is None else ["--reorder-functions=random", f"--bolt-seed={seed}"]
    said(BOLT, linked, "-o", better, f"--data={counted}", *order, "--reorder-blocks=ext-tsp", "--split-functions")
    shutil.move(better, linked)
    instrumented.unlink()
    counted.unlink()


def said(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}")
    return done.stdout
