"""Histories of real programs: what `stabctl bisect` and `git bisect run` named, and what became of the four questions.

docs/evaluation/histories.md says what was asked before the data. A file is JSON in xz, "format" stab-histories, version 1: `planned`
histories, `commits` behind the first of each, and `histories`: program, kind, `steps` (number of the commit -> percent), when it was
asked (`began`), `load`, and the answers of `stabctl` and perhaps `git`, their commits as numbers.
"""
import statistics

from recorded import binomial, kept_answers, mcnemar, share, table, when_and_loads
from sliced_tables import one_sided, verdicts

MOST_COMPARISONS = 12


class Histories:
    def __init__(self, path):
        self.name = path.name.removesuffix(".json.xz")
        self.kept = kept_answers(path, "stab-histories")
        self.histories = self.kept["histories"]

    def header(self):
        when, loads = when_and_loads(self.histories)
        return (f"`plans/evaluation/histories ask`, {when}: {len(self.histories)} of {self.kept['planned']} histories were searched. "
                f"{self.kept['machine']}, {loads}.")


def slow_commits(one):
    return {int(number) for number, percent in one["steps"].items() if percent > 0}


def named(answer):
    """All commits that an answer names, the first one first."""
    first = [answer["slower"]] if answer["answer"] == "commit" else []
    return first + [more["slower"] for more in answer.get("further", ()) if more["answer"] == "commit"]


def is_right(one, way):
    return named(one[way])[:1] != [] and named(one[way])[0] in slow_commits(one)


def is_wrong(one, way):
    return bool(set(named(one[way])) - {int(number) for number in one["steps"]})


def up_to_first(answer):
    """Comparisons of the first search, whose last one names the commit."""
    return sum(step["search"] == 0 for step in answer["comparisons"])


def tables(recorded):
    """H1 to H4; of the second and third twenty, which git bisect run was not asked, H5 to H7 and H8 to H10."""
    histories, planned = recorded.histories, recorded.kept["planned"]
    has_git = all("git" in one for one in histories)
    rows = [*accusations(histories), *([beside_git(histories)] if has_git else []), comparisons(histories)]
    if len(histories) < planned:
        rows = [(seen, f"waits: {len(histories)} of {planned} have been searched") for seen, _ in rows]
    first = 1 if has_git else 8 if recorded.name == "histories-third" else 5
    asked = verdicts([(f"H{number}", *row) for number, row in enumerate(rows, first)])
    return {recorded.name: "\n\n".join([recorded.header(), asked, each(histories, has_git)])}, {}


def accusations(histories):
    """How often a commit is named that did nothing, and one that did."""
    slow = [one for one in histories if slow_commits(one)]
    wrong, right = (sum(is_so(one, "stabctl") for one in some) for is_so, some in ((is_wrong, histories), (is_right, slow)))
    alarms = binomial(wrong, len(histories), 0.05)
    yield (f"wrong {wrong} of {len(histories)}: {share(alarms)}", "confirmed" if wrong <= 1 else "refuted" if alarms["conf_low"] > 0.05 else "open")
    found = binomial(right, len(slow), 0.8) if slow else None
    yield (f"right {right} of {len(slow)}" + (f": {share(found)}" if found else ""),
           "confirmed" if right >= 12 else "refuted" if found and found["conf_high"] < 0.8 else "open")


def beside_git(histories):
    wrong = {way: [is_wrong(one, way) for one in histories] for way in ("stabctl", "git")}
    more, fewer = (sum(a and not b for a, b in zip(wrong[x], wrong[y])) for x, y in (("git", "stabctl"), ("stabctl", "git")))
    return (f"wrong by git bisect run {sum(wrong['git'])}; only by it {more}, only by stabctl {fewer}; p {mcnemar(more, fewer):.4f}",
            one_sided(mcnemar(more, fewer), more - fewer))


def comparisons(histories):
    """Of the searches for one commit that named a right one."""
    steps = [up_to_first(one["stabctl"]) for one in histories if len(one["steps"]) == 1 and is_right(one, "stabctl")]
    return (f"median {statistics.median(steps):g} comparisons in {len(steps)} searches" if steps else "none was named",
            "open" if not steps else "confirmed" if statistics.median(steps) <= MOST_COMPARISONS else "refuted")


def each(histories, has_git):
    lines = []
    for one in sorted(histories, key=lambda one: (one["program"], one["kind"])):
        truth = ", ".join(f"{number} ({percent:+g} %)" for number, percent in one["steps"].items()) or "none"
        ours = one["stabctl"]
        lines.append([one["program"], truth, answer_text(ours), len(ours.get("comparisons", ())),
                      sum(step["blocks"] for step in ours.get("comparisons", ())), f"{ours['seconds']} s", *([answer_text(one["git"])] if has_git else [])])
    head = ["program", "slow commits of 64", "stabctl bisect", "comparisons", "blocks", "time", *(["git bisect run"] if has_git else [])]
    return table(head, lines)


def answer_text(answer):
    if answer["answer"] == "commit":
        return ", ".join(map(str, named(answer)))
    if answer["answer"] == "range" and answer.get("slower") is not None:
        first = answer["not_slower"] + 1
        return f"not shown at {first}" if first == answer["slower"] else f"one of {first} to {answer['slower']}"
    return {"none": "nothing to find", "unsure": "can't tell"}.get(answer["answer"], answer["answer"])
