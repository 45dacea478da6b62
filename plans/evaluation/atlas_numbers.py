"""Numbers that the pages state of the atlas, from the kept answers, without atlas_tables.py."""
import functools
import json
import lzma
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "docs/evaluation/data"
SLOWER_OR_FASTER = ("code", "both")


@functools.cache
def kept():
    return json.loads(lzma.decompress((DATA / "atlas.json.xz").read_bytes()))


def answers():
    return [(one["answer"], one["instructions"]["new"] / one["instructions"]["old"] - 1) for one in kept()["commits"]]


def count(holds):
    return sum(bool(holds(answer, executed)) for answer, executed in answers())


def is_code(answer):
    return answer["answer"] in SLOWER_OR_FASTER


def is_shown(answer):
    """Whether the interval of the code's effect leaves out zero."""
    return "code" in answer and not answer["code"]["low"] <= 0 <= answer["code"]["high"]


def add_atlas(add):
    add("atlas.n", lambda: len(answers()))
    add("atlas.set_aside", lambda: len(kept()["set_aside"]))
    add("atlas.real", lambda: count(lambda answer, _: is_code(answer) and answer["code"]["difference"] < 0))
    add("atlas.other", lambda: count(lambda answer, _: is_code(answer) and answer["code"]["difference"] > 0))
    for name in ("place", "both", "nothing", "unresolved"):
        add(f"atlas.{name}", lambda name=name: count(lambda answer, _: answer["answer"] == name))
    add("atlas.moved", lambda: count(lambda answer, _: answer["answer"] in ("place", "both")))
    add("atlas.many", lambda: count(lambda answer, executed: abs(executed) >= 0.01 and "code" in answer))
    add("atlas.many.agree", lambda: count(lambda answer, executed: abs(executed) >= 0.01 and "code" in answer and
                                          (answer["code"]["difference"] > 0) == (executed > 0)))
    # Of those whose code is shown to differ.
    add("atlas.many.shown", lambda: count(lambda answer, executed: abs(executed) >= 0.01 and is_shown(answer)))
    add("atlas.many.shown.agree", lambda: count(lambda answer, executed: abs(executed) >= 0.01 and is_shown(answer) and
                                                (answer["code"]["difference"] > 0) == (executed > 0)))
    # Code that is shown to be faster, whatever its place does.
    add("atlas.faster", lambda: count(lambda answer, _: is_shown(answer) and answer["code"]["difference"] < 0))
    add("atlas.place_known", lambda: count(lambda answer, _: answer["answer"] == "unresolved" and answer.get("place", {}).get("state") == "there"))
    add("atlas.few", lambda: count(lambda _, executed: abs(executed) < 0.001))
    add("atlas.few.silent", lambda: count(lambda answer, executed: abs(executed) < 0.001 and not is_code(answer)))
