"""The cases of a folder of make_cases.py: made, not to be had, or in the making."""
import fcntl
import json
import sys

NOT_YET = object()
LOCK = "making"   # in the folder; held by whoever makes its cases


def making(folder):
    """The lock of who makes the folder's cases, held until it is closed or its process ends."""
    lock = (folder / LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"{folder}: its cases are in the making by another run")
    return lock


def _is_in_the_making(folder):
    if not (folder / LOCK).exists():
        return False
    with (folder / LOCK).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def read_case(folder, name):
    """The case, nothing where it could not be made or nobody makes it any more, or NOT_YET."""
    path = folder / name / "case.json"
    if not path.exists() and _is_in_the_making(folder):
        return NOT_YET
    return json.loads(path.read_text()) if path.exists() else None
