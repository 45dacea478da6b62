"""What the test scripts share: checks, skips, waiting, commands, rows of a database, folders. A script begins with

    import sys
    from pathlib import Path

    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/; [2] below tests/unit
    from harness import BIN, check, run  # noqa: E402

It passes where it ends with 0, is skipped with 77 (skip), and fails at its first wrong check: that raises Failed, whose
traceback shows the place, and whose text says what was seen. Nothing needs a build until BIN is asked for.
"""
import contextlib
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
from times import in_time_or  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = 77
POLL_SECONDS = 0.02


def __getattr__(name):
    """BIN: the folder with the programs of the build that is tested."""
    if name != "BIN":
        raise AttributeError(name)
    if "LAB_BIN" not in os.environ:
        sys.exit("LAB_BIN is not set; name the folder with the build's programs: export LAB_BIN=build/release/bin")
    return Path(os.environ["LAB_BIN"]).resolve()


class Failed(AssertionError):
    """What is tested is not as it must be."""


def fail(fault):
    """Ends the test; `fault` says what is wrong."""
    raise Failed(fault)


def check(what, good, seen=""):
    """`what` is a property that the test's reader wants: a line says that it holds. Else the test fails, with what was seen."""
    if not good:
        fail(f"{what}: {seen}" if seen != "" else what)
    print(f"PASS {what}", flush=True)


def expect(holds, fault):
    """Says nothing where it holds. `fault` is no property but what is wrong where it doesn't, with what was seen."""
    if not holds:
        fail(fault)


# For what the noise of a machine may hide: a miss fails the test only where times are judged (tests/times.py).
check_in_time = in_time_or(check)
expect_in_time = in_time_or(expect)


def run_parts(*parts):
    """Calls the functions whose names this script's words are, or all: a long test is run as several, or whole by hand."""
    names = {part.__name__: part for part in parts}
    for word in sys.argv[1:]:
        expect(word in names, f"there is no part '{word}'; there are {', '.join(names)}")
    for name, part in names.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            part()


def skip(why):
    """Ends the test as one that can't be made here. tests/expected_skips lists which reasons are expected."""
    print(f"SKIP: {why}", flush=True)
    sys.exit(SKIPPED)


def wait_for(condition, seconds, what):
    """What `condition` returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            fail(f"{what}: not within {seconds} s")
        time.sleep(POLL_SECONDS)
    return found


def run(*words, code=0, timeout=300, **options):
    """A command that ended with this exit status (None: any), with its output; `options` are subprocess.run's."""
    words = [str(word) for word in words]
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    if options.setdefault("text", True):
        options.setdefault("errors", "replace")
    try:
        done = subprocess.run(words, capture_output=True, timeout=timeout, **options)
    except subprocess.TimeoutExpired as late:
        streams = [(stream or b"").decode(errors="replace") for stream in (late.stdout, late.stderr)]
        raise Failed(f"{shlex.join(words)}: takes longer than {timeout} s{both(*streams)}") from None
    if code is not None and done.returncode != code:
        fail(f"{shlex.join(words)}: exit status {done.returncode}, expected {code}{both(done.stdout, done.stderr)}")
    return done


def git(repository, *words, env=None, **options):
    """What git says in that repository, without the last newline. Author and day of commits are always the same, so their names are."""
    author = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "A Tester"), ("EMAIL", "tester@example.org"), ("DATE", "2026-01-01T00:00:00Z"))}
    return run("git", "-c", "protocol.file.allow=always", *words, cwd=repository, env={**(env or os.environ), **author},
               **options).stdout.strip()


def both(output, errors):
    return f"\nstandard output: {output}\nstandard error: {errors}"


def rows(database, sql, *values):
    """What a query finds in a database that may be in use; read by SQLite alone."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(sql, values).fetchall()


@contextlib.contextmanager
def temporary_folder(**options):
    """A fresh folder's path without symbolic links; it is removed with what is in it."""
    with tempfile.TemporaryDirectory(**options) as name:
        yield Path(name).resolve()
