"""The atlas: what `stabctl explain` answered about each commit, and what became of the four questions.

docs/evaluation/atlas.md says what was asked before the data. A file is JSON in xz, "format" stab-atlas, version 1: `planned` commits, the
`projects`' addresses, `set_aside` (project, commit, why), and `commits` with an answer: instructions of both sides, when it was asked
(`began`, `seconds`), `load`, and `answer` as `stabctl explain --json` has it.
"""
import collections
import math

from recorded import binomial, kept_answers, share, table, when_and_loads
from sliced_tables import verdicts

VERDICTS = ("real", "the other way", "place", "nothing", "unresolved")
MANY, FEW = 0.01, 0.001   # changes of the executed instructions
LEAST = 5                 # an interval of fewer commits says nothing


class Atlas:
    def __init__(self, path):
        self.name = path.name.removesuffix(".json.xz")
        self.kept = kept_answers(path, "stab-atlas")
        self.commits = self.kept["commits"]

    def header(self):
        when, loads = when_and_loads(self.commits)
        return (f"`plans/evaluation/atlas ask`, {when}: {len(self.commits)} of {self.kept['planned']} commits have an answer, "
                f"{len(self.kept['set_aside'])} were set aside. {self.kept['machine']}, {loads}.")


def verdict(one):
    answer = one["answer"]
    if answer["answer"] in ("code", "both"):
        return "real" if answer["code"]["difference"] < 0 else "the other way"
    return answer["answer"] if answer["answer"] in VERDICTS else "unresolved"


def instructions(one):
    """Share by which the commit changes what is executed."""
    return one["instructions"]["new"] / one["instructions"]["old"] - 1


def tables(atlas):
    commits, complete = atlas.commits, len(atlas.commits) >= atlas.kept["planned"]
    many = [one for one in commits if abs(instructions(one)) >= MANY and "code" in one["answer"]]
    few = [one for one in commits if abs(instructions(one)) < FEW]

    def counted(name, what, holds, of, confirmed, refuted):
        found, n = sum(map(holds, of)), len(of)
        answer = binomial(found, n, 0.5) if n >= LEAST else None
        seen = f"{what}: {found} of {n}" + (f", {share(answer)}" if answer else "")
        if not complete:
            return name, seen, f"waits: {len(commits)} of {atlas.kept['planned']} have an answer"
        return name, seen, "open" if not answer else "confirmed" if confirmed(found / n, answer) else "refuted" if refuted(answer) else "open"

    def above(bound):
        return lambda _, answer: answer["conf_low"] > bound

    def below(bound):
        return lambda answer: answer["conf_high"] < bound

    def nine_of_ten(part, answer):
        return part >= 0.9 and answer["conf_low"] > 0.75
    rows = [counted("L1", "real", lambda one: verdict(one) == "real", commits, above(0.5), below(0.5)),
            counted("L2", "place or both", lambda one: one["answer"]["answer"] in ("place", "both"), commits, above(0.05), below(0.05)),
            counted("L3", "same sign where instructions change by 1 % or more", same_sign, many, nine_of_ten, below(0.9)),
            counted("L4", "neither code nor both where they change by less than 0.1 %",
                    lambda one: one["answer"]["answer"] not in ("code", "both"), few, nine_of_ten, below(0.9))]
    blocks = {atlas.name: "\n\n".join([atlas.header(), verdicts(rows), by_project(atlas), set_aside(atlas)]), f"{atlas.name}.commits": every(atlas)}
    return blocks, {}


def same_sign(one):
    return (one["answer"]["code"]["difference"] > 0) == (instructions(one) > 0)


def by_project(atlas):
    names = list(atlas.kept["projects"])
    count = collections.Counter((one["project"], verdict(one)) for one in atlas.commits)
    lines = [[name, *(count[name, said] or "" for said in VERDICTS), sum(one["project"] == name for one in atlas.commits)] for name in names]
    lines.append(["**all**", *(sum(count[name, said] for name in names) for said in VERDICTS), len(atlas.commits)])
    return table(["project", *VERDICTS, "commits"], lines)


def set_aside(atlas):
    count = collections.Counter(row["why"].removeprefix("old ").removeprefix("new ") for row in atlas.kept["set_aside"])
    return "Set aside: " + ("; ".join(f"{n} {why}" for why, n in count.most_common()) or "none") + "."


def every(atlas):
    lines = []
    for one in sorted(atlas.commits, key=lambda one: (one["project"], one["began"])):
        answer, address = one["answer"], atlas.kept["projects"][one["project"]]
        lines.append([f"[{one['project']} {one['commit'][:8]}]({address}/commit/{one['commit']})", f"{100 * instructions(one):+.2f}",
                      *(effect(answer.get(key)) for key in ("as_linked", "code", "place")), answer["answer"], verdict(one)])
    return table(["commit", "instructions %", "as linked %", "code %", "place %", "answer", "verdict"], lines)


def effect(found):
    if not found or not math.isfinite(found["low"]):
        return ""
    return f"{100 * found['difference']:+.2f} [{100 * found['low']:+.2f}, {100 * found['high']:+.2f}]"
