"""A repository that is made here: nine commits behind the first one, of which one makes the program 6 % slower, one does not build, and
the last one takes a part of it back. Trials are simulated, so what is found depends on commits and layouts and nothing else."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BIN, git  # noqa: E402

WORK = """#include <stdio.h>
enum { kRounds = 2000, kWidth = 100 };
static unsigned table[kWidth];
static unsigned turn(unsigned hash) {
  for (int i = 0; i < kWidth; ++i) table[i] = hash = (hash ^ table[i]) * 16777619u + (unsigned)i;
  return hash;
}
int main(void) {
  unsigned hash = 1;
  for (int round = 0; round < kRounds; ++round) hash = turn(hash);
  printf("%d\\n", hash != 0);
  return 0;
}
"""
GATE = """[gate]
margin = "2%"
looks = [4, 8]
[[program]]
name = "work"
source = { git = ".", revision = "{revision}" }
build = "$CC -O1 -o work work.c"
run = ["./work"]
[counters]
simulate = "cachegrind"
[counters.cache]
I1 = { size = "32KiB", ways = 8, line = 64 }
D1 = { size = "32KiB", ways = 8, line = 64 }
LL = { size = "2MiB", ways = 16, line = 64 }
""".replace("$CC", str(BIN / "szc"))
HISTORY = [
    ("comment", "enum {", "// What it takes.\nenum {"),
    ("rename", "unsigned hash = 1;", "unsigned hash = 1u;"),
    ("break the build", "#include <stdio.h>", "#include <stdio_>"),
    ("mend the build", "#include <stdio_>", "#include <stdio.h>"),
    ("go further each round", "kWidth = 100", "kWidth = 106"),
    ("say more", '"%d\\n"', '"%d.\\n"'),
    ("comment again", "int main", "// It hashes.\nint main"),
    ("declare a name", "static unsigned table", "extern int unused_name;\nstatic unsigned table"),
    ("go less far each round", "kWidth = 106", "kWidth = 103"),
]


def commit(root, message):
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", message)
    return git(root, "rev-parse", "HEAD")


def make_history(root):
    """The commits, the good one first."""
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    text = WORK
    (root / "work.c").write_text(text)
    (root / "stab-gate.toml").write_text(GATE)
    commits = [commit(root, "begin")]
    for message, old, new in HISTORY:
        assert text.count(old) == 1, (message, old)
        text = text.replace(old, new)
        (root / "work.c").write_text(text)
        commits.append(commit(root, message))
    return commits
