"""What tests of the page share: making pages, asking stabctl."""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BIN, ROOT, run  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="stab-page-")


def path(name):
    return os.path.join(work.name, name)


def made_page(kind):
    run(BIN / "made_page", kind, path(kind + ".html"))
    return path(kind + ".html")


def stabctl(*words):
    done = run(BIN / "stabctl", *words, code=None)
    return done.returncode, done.stdout + done.stderr


def story_page():
    """The page of ./quickstart, told of recorded experiments in the places of its own."""
    reports = []
    for name, plan in (("cost", "links"), ("orders", "ablation"), ("compare", "one_link")):
        run(BIN / "recorded_experiment", ROOT / f"tests/golden/databases/{plan}.toml", path(name + ".db"))
        run(BIN / "stabctl", "report", "--db", path(name + ".db"), "--html", path(name + ".html"))
        reports.append(path(name + ".html"))
    with open(path("compare.txt"), "w", encoding="utf8") as screen:
        screen.write("before/lua words.lua 20 -> after/lua words.lua 20\n440.5 ms -> 449.4 ms  +2.02 % [+0.99, +3.06]  slower; 26 blocks, 30 s\n")
    run(ROOT / "plans/quickstart/story", path("story.html"), ROOT / "tests/golden/command_line/quickstart_links.csv", path("compare.txt"), *reports,
        env={**os.environ, "STABCTL": str(BIN / "stabctl")})
    return path("story.html")
