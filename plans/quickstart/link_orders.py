"""What the trials of plans/quickstart_links.toml say: how far the orders of one program's functions lie apart, plain and randomized,
and what randomization costs. The trials are those of `stabctl report quickstart-links --csv`, in a file; the statistics are those of
`stabctl stats`. The criterion is in the plan."""
import csv
import json
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass

ALPHA = 0.05
STABCTL = os.environ.get("STABCTL", "stabctl")


class Refusal(Exception):
    """Why nothing can be said."""


@dataclass
class Orders:
    """Of the plain builds, or of the randomized ones."""
    p: float          # Friedman's, over the orders, ranks within blocks
    apart: float      # percent: how far the largest of their medians lies above the smallest
    noise: float      # percent: how far from its order's median half of the runs lie
    medians: dict     # seconds, by the order's seed


@dataclass
class LinkOrders:
    linked: int       # orders
    runs: int         # of each
    plain: Orders
    randomized: Orders
    price: float      # percent: what randomized runs take more

    @property
    def shows(self):
        """The orders are told apart."""
        return self.plain.p < ALPHA

    @property
    def remains(self):
        """So are they where they are randomized."""
        return self.randomized.p < ALPHA

    def conclusion(self):
        """The four cases of the criterion."""
        if self.shows and not self.remains:
            return (f"Plain, two builds of this one source can differ by {self.plain.apart:.1f} %: a change of that size may be nothing but another "
                    "order of functions. Randomized, each run goes through many layouts, and the orders are no longer told apart.")
        if self.shows:
            return (f"Plain, two builds of this one source can differ by {self.plain.apart:.1f} %. Randomized, they still do "
                    f"({self.randomized.apart:.1f} %): either "
                    "too few layouts were drawn in a run, or the order changes more than places. 'stabctl report --full' shows the doses.")
        if self.remains:
            return ("The plain orders are not told apart here and the randomized ones are, which nothing explains but chance: one such test in "
                    "twenty errs. Run it again, with more replicates.")
        return ("Here the order doesn't show: differences like these come by chance. It may be small in this program, or this machine's noise "
                "hides it. Where it was measured at length it showed in some programs and not in others: docs/evaluation.md.")


def stats(method, rows, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        writer = csv.DictWriter(file, ["linked", "code", "block", "cpu_time"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
        file.flush()
        done = subprocess.run([STABCTL, "stats", method, file.name, "--response", "cpu_time", *flags, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refusal(done.stderr.strip().removeprefix("error: "))
    return json.loads(done.stdout)


def orders(rows):
    p = stats("friedman", rows, "--group", "linked", "--block", "block")["p_value"]
    groups = stats("describe", rows, "--group", "linked")["groups"]
    medians = {group["group"]: group["median"] for group in groups}
    noise = statistics.median((group["q75"] - group["q25"]) / 2 / group["median"] for group in groups)
    return Orders(p, 100 * (max(medians.values()) / min(medians.values()) - 1), 100 * noise, medians)


def complete_blocks(rows):
    """Those of blocks in which every order ran, plain and randomized: a trial that failed leaves its block out."""
    cells = {(row["linked"], row["code"]) for row in rows}
    ran = {}
    for row in rows:
        ran.setdefault(row["block"], set()).add((row["linked"], row["code"]))
    return [row for row in rows if ran[row["block"]] == cells]


def read(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row.get("excluded")]
    for column in ("linked", "code", "block", "cpu_time"):
        if rows and column not in rows[0]:
            raise Refusal(f"no column '{column}'; are these the trials of plans/quickstart_links.toml?")
    rows = complete_blocks(rows)
    plain, randomized = ([row for row in rows if row["code"] == code] for code in ("off", "shuffle"))
    linked, runs = len({row["linked"] for row in rows}), len({row["block"] for row in rows})
    if linked < 2 or runs < 2 or not plain or not randomized:
        raise Refusal("needs two blocks in which each order ran plain and randomized; 'stabctl logs quickstart-links' says what failed")
    seen = orders(plain), orders(randomized)
    cost = stats("ratio", rows, "--group", "code", "--levels", "shuffle,off")
    return LinkOrders(linked, runs, *seen, 100 * (cost["estimate"] - 1))
