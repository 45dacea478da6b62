"""What has changed since a commit, for whoever chooses tests by that."""
import shlex
import subprocess
from pathlib import Path

GREEN = Path(".ci/green")


class ChangesError(Exception):
    pass


def output_of(command, directory):
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise ChangesError(f"{shlex.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def changed_since(revision, repository):
    """Files that differ from `revision`, in commits, in the working tree or by being new."""
    if revision.startswith("-"):
        raise ChangesError(f"'{revision}' is no revision")
    try:
        differ = output_of(["git", "diff", "--name-only", "-z", revision, "--"], repository)
    except ChangesError as error:
        raise ChangesError(f"--since '{revision}': {error}") from None
    new = output_of(["git", "ls-files", "--others", "--exclude-standard", "-z"], repository)
    return {name for name in (differ + new).split("\0") if name}


def green_revision(repository):
    """The commit that .ci/green names, if HEAD descends from it; else why not."""
    try:
        revision = (repository / GREEN).read_text().split()[0]
    except (OSError, IndexError):
        return None, f"{GREEN} names no commit"
    is_ancestor = subprocess.run(["git", "merge-base", "--is-ancestor", revision, "HEAD"], cwd=repository,
                                 stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    return (revision, "") if is_ancestor else (None, f"'{revision}' of {GREEN} is no ancestor of HEAD")
