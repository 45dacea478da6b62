#!/usr/bin/python3
"""Amplified load on real clocks: queues whose servers sleep, as real-time processes, so that other work costs them little. The same
tasks come once amplified and once really so many times as often; and what can't be amplified says so.

    check_load.py --runner RUN_WINDOWS --lib LIBSTABCAUSAL --companion STAB_CAUSAL --cc CC
"""
import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[1]))
from harness import ROOT, check, check_in_time, run, skip  # noqa: E402

class Bench:
    def __init__(self, options, folder):
        self.runner = [options.runner, "--lib", options.lib, "--companion", options.companion]
        self.queue = Path(folder) / "queue"
        run(options.cc, "-O2", "-I", ROOT / "runtime/include", HERE / "queue.c", "-o", self.queue, "-lpthread", "-lm")

    def run(self, load, *words, window_ms=500, flags=0):
        done = run("chrt", "-f", "20", *self.runner, "--load", round(1000 * load), "--flags", flags, "--window-ms", window_ms,
                   "--cool-ms", "0", "--period-us", "5000", "--", self.queue, *words, timeout=120)
        text = done.stdout
        period, inside = re.search(r"period_ms ([\d.]+)", text), re.search(r"^latency task .* ms ([\d.]+)", text, re.M)
        own = re.search(r"seconds ([\d.]+)", done.stderr)
        tasks = re.search(r"^point \d+ task kind [24] visits (\d+)", text, re.M)
        return {"rate": 1e3 / float(period[1]) if period else 0, "inside_ms": float(inside[1]) if inside else 0,
                "degraded": re.findall(r"^degraded (\S+)", text, re.M), "arrivals_a_second": int(tasks[1]) / float(own[1])}


def main():
    parser = argparse.ArgumentParser()
    for name in ("runner", "lib", "companion", "cc"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    if subprocess.run(["chrt", "-f", "20", "true"], capture_output=True).returncode != 0:
        skip("real-time processes are refused here, and other work would be measured along")
    queues = {"M/M/1": ["--rate", "50"], "M/D/1": ["--rate", "50", "--service", "fixed"], "M/M/3": ["--rate", "150", "--servers", "3"]}
    load = 3
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(16) as pool:
        bench = Bench(options, folder)
        jobs = {}
        for name, words in queues.items():
            words = [*words, "--service-us", "4000", "--tasks", "1500" if name == "M/M/3" else "500"]
            jobs[name, "amplified"] = pool.submit(bench.run, load, *words)
            jobs[name, "raised"] = pool.submit(bench.run, 1, *words, "--raise", str(load), window_ms=round(500 / load))
            jobs[name, "plain"] = pool.submit(bench.run, 1, *words)
        for at in (1, 3):
            jobs["closed", at] = pool.submit(bench.run, at, "--closed", "4", "--rate", "800", "--tasks", "1000")
        jobs["mute"] = pool.submit(bench.run, 2, "--mute", "--tasks", "150")
        jobs["begins"] = pool.submit(bench.run, 2, "--mute", "--tasks", "450", flags=32)
        jobs["patience"] = pool.submit(bench.run, 2, "--patience-us", "3000", "--tasks", "300")
        found = {key: job.result() for key, job in jobs.items()}
    for name in queues:
        amplified, raised, plain = (found[name, how] for how in ("amplified", "raised", "plain"))
        rate, inside = amplified["rate"] / raised["rate"], amplified["inside_ms"] / raised["inside_ms"]
        print(f"     {name}: {amplified}\n     raised {raised}\n     plain {plain}")
        check_in_time(f"{name} at load {load}: throughput {100 * (rate - 1):+.1f} % of really raised arrivals'", abs(rate - 1) <= 0.05)
        check_in_time(f"{name} at load {load}: latency {100 * (inside - 1):+.1f} %", abs(inside - 1) <= 0.15)
        # Else nothing was amplified, and the two are alike for another reason.
        check_in_time(f"{name}: {load} times as many are served as at load 1", amplified["rate"] > 2.5 * plain["rate"])
        share = amplified["arrivals_a_second"] / plain["arrivals_a_second"]
        check_in_time(f"{name}: in real time as many come at load {load} as at load 1 ({share:.3f})", abs(share - 1) < 0.02)
    share = found["closed", 3]["arrivals_a_second"] / found["closed", 1]["arrivals_a_second"]
    check_in_time(f"of a closed loop fewer come in real time: {share:.2f}", share < 0.7)
    check("without an arrival point: no-arrivals", "no-arrivals" in found["mute"]["degraded"])
    check("a begin is an arrival where the script says so", "no-arrivals" not in found["begins"]["degraded"])
    check_in_time(f"and is amplified: {found['begins']}", found["begins"]["rate"] > 200)
    check("waits that end by their time are said", "time-outs" in found["patience"]["degraded"])


if __name__ == "__main__":
    main()
