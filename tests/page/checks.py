"""What tests of the page share: making pages, saying what passed."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from times import in_time_or  # noqa: E402

bin_folder = os.environ["LAB_BIN"]
work = tempfile.TemporaryDirectory(prefix="stab-page-")
failed = 0


def check(what, holds, saw=""):
    global failed
    failed += not holds
    print(("PASS " if holds else "FAIL ") + what + ("" if holds else f": {saw}"), flush=True)


check_time = in_time_or(check)


def path(name):
    return os.path.join(work.name, name)


def made_page(kind):
    subprocess.run([os.path.join(bin_folder, "made_page"), kind, path(kind + ".html")], check=True)
    return path(kind + ".html")


def stabctl(*words):
    done = subprocess.run([os.path.join(bin_folder, "stabctl"), *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def end():
    sys.exit(1 if failed else 0)
