"""A program in C that szc builds, whose loop takes longer at one of two places: a function before it moves it there. And commits of it."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "explain"))
from harness import BIN, git, run  # noqa: E402
import programs  # noqa: E402
import truth  # noqa: E402

SZC = str(BIN / "szc")
# The loop whose place matters is two thirds of the work, so that its place is far above the margin.
WIDE, CHAIN = 64_000_000, 12_000_000


class Source:
    """One file of C: a function that is called once and has so many statements, then the loop, then a chain."""

    def __init__(self, statements, chain, wide):
        self.statements, self.chain, self.wide = statements, chain, wide

    def text(self):
        return (programs.HEAD + programs.unrelated("unrelated", self.statements) +
                programs.LOOPS["additions"].format(name="wide") +
                programs.CHAIN.format(name="chain", factor=2654435761) + "\nint main(int count, char** words) {\n"
                "  word x = unrelated((word)count + (word)atol(words[1]));\n  for (int i = 0; i < 50; ++i) {\n"
                f"    x = chain({self.chain // 50}, x);\n    x += wide({self.wide // 50}, x);\n  }}\n"
                '  printf("%d\\n", (int)(x & 1));\n  return 0;\n}\n')

    def build(self, path):
        path.with_suffix(".c").write_text(self.text())
        run(SZC, "-O2", str(path.with_suffix(".c")), "-o", path)

    def twice(self):
        return Source(self.statements, 2 * self.chain, 2 * self.wide)


def at_place(path, wanted, chain=CHAIN, wide=WIDE):
    """The source whose loop begins at this remainder of 64, by the length of the function before it. Built at `path`."""
    for statements in range(3, 43):
        source = Source(statements, chain, wide)
        source.build(path)
        if programs.loop_place(path) == wanted:
            return source
    sys.exit(f"no length of the function before it brings the loop to {wanted} mod 64")


def penalty_of(fast, slow):
    """What the slow program takes longer, as a share of the fast one's time: the least of several runs, as noise only adds."""
    times = [min(truth.cpu_seconds(["setarch", "-R", str(program), "1"]) for _ in range(7)) for program in (fast, slow)]
    return times[1] / times[0] - 1


def penalty(folder):
    """What the slow place costs."""
    at_place(folder / "fast", programs.FAST)
    at_place(folder / "slow", programs.SLOW)
    return penalty_of(folder / "fast", folder / "slow")


def commit(root, message, **files):
    for name, text in files.items():
        (root / name.replace("_", ".", 1)).write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", message)
    return git(root, "rev-parse", "HEAD")
