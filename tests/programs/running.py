"""Programs of a test, run in the folder where they were built, with the settings of Stab's that they are given and no others."""
import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


def environment(**settings):
    return {name: value for name, value in os.environ.items() if not name.startswith("STAB")} | settings


def run(command, directory, expected=0, timeout=120, **settings):
    """What ended with this exit status (None: any): its output as text."""
    return harness.run(*command, code=expected, timeout=timeout, cwd=directory, env=environment(**settings))


def run_bytes(command, directory, expected=0, timeout=120, **settings):
    return harness.run(*command, code=expected, timeout=timeout, cwd=directory, env=environment(**settings), text=False)


def output(command, directory, expected=0, **settings):
    return run(command, directory, expected, **settings).stdout


def run_check(checks, doc):
    """Calls the check that the command line names, with the folder of the built tools (--bin) and a fresh one."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="where szc is")
    parser.add_argument("check", choices=checks)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        checks[arguments.check](arguments.bin.resolve(), directory)
