"""The tables of what `stabctl explain` said of the cases: what is true against the answer, and how often it is wrong, with
intervals of Clopper and Pearson (1934) at 95 %."""
import json
import lzma
import math
from collections import Counter

import truth

ANSWERS = ["code", "place", "both", "nothing", "unresolved", "none"]


def read(path):
    return json.loads(lzma.decompress(path.read_bytes()))


def write(path, kept):
    path.write_bytes(lzma.compress(json.dumps(kept, sort_keys=True).encode(), preset=9))


def binomial_tail(count, total, p):
    """The probability of `count` or more."""
    return sum(math.comb(total, k) * p**k * (1 - p)**(total - k) for k in range(count, total + 1))


def bisected(is_low):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low


def interval(count, total, error=0.05):
    """Of a share: Clopper and Pearson's, exact."""
    low = bisected(lambda p: binomial_tail(count, total, p) < error / 2) if count else 0.0
    high = bisected(lambda p: 1 - binomial_tail(count + 1, total, p) > error / 2) if count < total else 1.0
    return low, high


def share_text(count, total):
    if total == 0:
        return "none was asked"
    low, high = interval(count, total)
    return f"{count} of {total}, {100 * count / total:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def true_cause(code, place):
    if code and place:
        return "both"
    return "code" if code else "place" if place else "nothing"


class Row:
    """A case, what is true of it and what was answered."""

    def __init__(self, case):
        self.kind, self.is_busy, self.functions = case["kind"], case["busy"] > 0, case["functions"]
        self.code, self.place = truth.truth(case, case["answer"]["reaction"])
        self.said = case["answer"]["answer"]
        self.named = truth.named_functions(case["answer"])
        self.seconds = case["answer"]["wall_seconds"]
        self.is_wrong = truth.is_wrong(self.code, self.place, self.said)
        self.is_excused = truth.is_excused(self.code, self.said)
        # The right name is asked of places that matter, where place was answered.
        self.asks_function = abs(self.place) >= truth.MARGIN
        self.is_named = self.named == sorted(self.functions) and self.said in ("place", "both")


def matrix_of(rows, title, key, order):
    lines = [f"| {title} | cases | " + " | ".join(ANSWERS) + " | wrong | right functions |",
             "|---|" + "---:|" * (len(ANSWERS) + 3)]
    for value in [value for value in order if any(key(row) == value for row in rows)]:
        of_value = [row for row in rows if key(row) == value]
        said = Counter(row.said for row in of_value)
        asked = [row for row in of_value if row.asks_function]
        named = f"{sum(row.is_named for row in asked)} of {len(asked)}" if asked else ""
        lines.append(f"| {value} | {len(of_value)} | " + " | ".join(str(said[word]) for word in ANSWERS) +
                     f" | {sum(row.is_wrong for row in of_value)} | {named} |")
    return lines


def costs_text(cases, part):
    """What the slow place of a part costs, over the cases that have it."""
    reactions = [case["answer"]["reaction"] for case in cases]
    costs = sorted(100 * (reaction[part + "-slow"] / reaction[part] - 1) for reaction in reactions if part in reaction)
    if not costs:
        return "no case has it"
    return f"{costs[0]:.0f} to {costs[-1]:.0f} %, {costs[len(costs) // 2]:.0f} % in the median"


def tables(kept):
    machine = kept["machine"]
    rows = [Row(case) for case in kept["cases"]]
    if not rows:
        return ["no case was run"]
    kinds = sorted({row.kind for row in rows})
    seconds = sorted(row.seconds for row in rows)
    real, places = [row for row in rows if row.code], [row for row in rows if row.asks_function]
    decided = [row for row in rows if row.said not in ("unresolved", "none")]
    lines = ["| run | |", "|---|---|",
             f"| machine | {machine['processor']}, {machine['cpus']} CPUs, Linux {machine['kernel']} |",
             f"| cases | {len(rows)} of {kept['made']} of seed {kept['seed']}, {kept['lanes']} at a time |",
             *(f"| what the slow place of '{part}' costs it | {costs_text(kept['cases'], part)} |" for part in ("loop", "lines")),
             f"| a case took | {seconds[len(seconds) // 2]:.0f} s in the median, {seconds[-1]:.0f} s at most |", ""]
    lines += ["| of | share [95 %] |", "|---|---|"]
    for what, count, total in (
            ("wrong answers, of all cases", sum(row.is_wrong for row in rows), len(rows)),
            ("wrong answers, of those that answer", sum(row.is_wrong for row in decided), len(decided)),
            ("real changes that were called place, of all cases", sum(row.is_excused for row in rows), len(rows)),
            ("real changes that were called place, of real changes", sum(row.is_excused for row in real), len(real)),
            ("right function or pair, of places", sum(row.is_named for row in places), len(places)),
            ("unresolved, or no answer", len(rows) - len(decided), len(rows))):
        lines.append(f"| {what} | {share_text(count, total)} |")
    lines.append("")
    lines += matrix_of(rows, "truth", lambda row: true_cause(row.code, row.place), ["code", "place", "both", "nothing"]) + [""]
    lines += matrix_of(rows, "kind", lambda row: row.kind, kinds) + [""]
    lines += matrix_of(rows, "machine", lambda row: "busy" if row.is_busy else "as it was", ["as it was", "busy"])
    return lines
