"""What `stabctl report` says of a database, and what its script says in R of the same: for check_r_script and check_r_random."""
import csv
import json
import math
import os
import re
import subprocess
from pathlib import Path

BIN = os.environ["LAB_BIN"]
PILOT = (Path(__file__).parents[2] / "golden/command_line/plans/pilot.toml").read_text()
# The script's table of contrasts with all digits; where nothing can be compared there is none.
ALL_DIGITS = """
if (!is.null(table)) {
  for (column in 4:8) table[[column]] <- formatC(table[[column]], digits = 17, format = "g")
  write.csv(table, "table.csv")
}
"""


def stabctl(database, *words):
    return subprocess.run([f"{BIN}/stabctl", "report", *words, "--db", database], check=True, capture_output=True, text=True).stdout


class Answers:
    """Contrasts of the first response, of each workload: `report` is the report's JSON, `largest` the largest relative difference of
    an estimate, an end of an interval, degrees of freedom or p; `apart` are contrasts that only one of both answers. Both are of the
    script's own table, until compare() holds other rows against the report."""

    def __init__(self, folder, database, more=""):
        self.report = json.loads(stabctl(database, "--json"))
        script = stabctl(database, "--r")
        Path(folder, "data.csv").write_text(stabctl(database, "--csv"))
        Path(folder, "script.R").write_text(script + more + ALL_DIGITS)
        table = Path(folder, "table.csv")
        table.unlink(missing_ok=True)
        ran = subprocess.run(["Rscript", "--vanilla", "script.R", "data.csv"], cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0, f"R: {ran.stderr}"
        response, self.is_log = re.search(r'd\$y <- \w*\(d\[\["(.*?)"', script)[1], "d$y <- log(" in script
        self.ours = {(c["workload"], c["factor"], c["level"]): c for c in self.report["contrasts"]
                     if c["response"] == response and c["workload"] and "refused" not in c}
        rows = {(row["workload"], row["factor"], row["level"]): row for row in csv.DictReader(open(table))} if table.exists() else {}
        self.compare(rows)

    def compare(self, rows):
        ours, scale = self.ours, math.log if self.is_log else float
        # Where the report refuses, R has no error of the estimate, or an interval without an end.
        theirs = {key: row for key, row in rows.items() if all(math.isfinite(float(row[end].replace("NA", "nan"))) for end in ("low", "high"))}
        self.apart = sorted(ours.keys() ^ theirs.keys())
        self.count, self.largest = len(ours), 0
        for key in ours.keys() & theirs.keys():
            mine, row = ours[key], theirs[key]
            interval = [scale(mine["interval"][name]) for name in ("estimate", "conf_low", "conf_high")]
            for theirs_is, mine_is in zip((row["estimate"], row["low"], row["high"]), interval):
                self.largest = max(self.largest, abs(float(theirs_is) - mine_is) / max(abs(mine_is), 1e-3))
            for theirs_is, mine_is in ((row["df"], mine["df"]), (row["p"], mine["p_value"])):
                self.largest = max(self.largest, abs(float(theirs_is) - mine_is) / max(abs(mine_is), 1e-300))
