"""What tests of the page share: making pages, asking stabctl."""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BIN, run  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="stab-page-")


def path(name):
    return os.path.join(work.name, name)


def made_page(kind):
    run(BIN / "made_page", kind, path(kind + ".html"))
    return path(kind + ".html")


def stabctl(*words):
    done = run(BIN / "stabctl", *words, code=None)
    return done.returncode, done.stdout + done.stderr
