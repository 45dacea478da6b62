"""Numbers that the pages state of the histories, from the kept answers, without histories_tables.py."""
import functools
import json
import lzma
import statistics
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "docs/evaluation/data"


@functools.cache
def kept(name):
    return json.loads(lzma.decompress((DATA / f"{name}.json.xz").read_bytes()))


def commits_of(answer):
    parts = [answer, *answer.get("further", [])]
    return [part["slower"] for part in parts if part["answer"] == "commit"]


def count(name, holds):
    return sum(bool(holds(one)) for one in kept(name)["histories"])


def right(one, way):
    found = commits_of(one[way]) if one[way]["answer"] == "commit" else []
    return bool(found) and one["steps"].get(str(found[0]), 0) > 0


def wrong(one, way):
    return any(str(commit) not in one["steps"] for commit in commits_of(one[way]))


def add_histories(add):
    add("histories.planned", lambda: kept("histories")["planned"])
    for name, ways in (("histories", ("stabctl", "git")), ("histories-second", ("stabctl",)), ("histories-third", ("stabctl",))):
        prefix = name.replace("-", ".")
        add(f"{prefix}.n", lambda name=name: count(name, lambda one: True))
        add(f"{prefix}.slow", lambda name=name: count(name, lambda one: one["steps"]))
        for way in ways:
            add(f"{prefix}.{way}.right", lambda name=name, way=way: count(name, lambda one: right(one, way)))
            add(f"{prefix}.{way}.wrong", lambda name=name, way=way: count(name, lambda one: wrong(one, way)))
        add(f"{prefix}.comparisons", lambda name=name: statistics.median(
            len([step for step in one["stabctl"]["comparisons"] if step["search"] == 0]) for one in kept(name)["histories"]
            if len(one["steps"]) == 1 and right(one, "stabctl")))
