"""Numbers that the pages state of the histories, from the kept answers, without histories_tables.py."""
import functools
import json
import lzma
import statistics
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "docs/evaluation/data"


@functools.cache
def kept():
    return json.loads(lzma.decompress((DATA / "histories.json.xz").read_bytes()))


def commits_of(answer):
    parts = [answer, *answer.get("further", [])]
    return [part["slower"] for part in parts if part["answer"] == "commit"]


def count(holds):
    return sum(bool(holds(one)) for one in kept()["histories"])


def right(one, way):
    found = commits_of(one[way]) if one[way]["answer"] == "commit" else []
    return bool(found) and one["steps"].get(str(found[0]), 0) > 0


def wrong(one, way):
    return any(str(commit) not in one["steps"] for commit in commits_of(one[way]))


def add_histories(add):
    add("histories.n", lambda: count(lambda one: True))
    add("histories.planned", lambda: kept()["planned"])
    add("histories.slow", lambda: count(lambda one: one["steps"]))
    for way in ("stabctl", "git"):
        add(f"histories.{way}.right", lambda way=way: count(lambda one: right(one, way)))
        add(f"histories.{way}.wrong", lambda way=way: count(lambda one: wrong(one, way)))
    add("histories.comparisons", lambda: statistics.median(
        len([step for step in one["stabctl"]["comparisons"] if step["search"] == 0]) for one in kept()["histories"]
        if len(one["steps"]) == 1 and right(one, "stabctl")))
