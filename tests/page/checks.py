"""What tests of the page share: making pages, saying what passed."""
import os
import subprocess
import sys
import tempfile

bin_folder = os.environ["LAB_BIN"]
work = tempfile.TemporaryDirectory(prefix="stab-page-")
failed = 0


def check(what, holds, saw=""):
    global failed
    failed += not holds
    print(("PASS " if holds else "FAIL ") + what + ("" if holds else f": {saw}"), flush=True)


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
