"""Which commits claim to make a program faster, in which order the atlas asks about them, and their sources."""
import datetime
import hashlib
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

SEED = 45
CLAIM = re.compile(r"\b(speeds? ?-?ups?|speed(s|ing)? \w+ up|faster|optimi[sz](e|es|ed|ing|ation|ations)|performance)\b", re.IGNORECASE)
# Of something else than this program on this machine, or a step back.
NO_CLAIM = re.compile(r"\b(revert\w*|undo|remov\w+|disabl\w+|docs?|readme|changelog|tests?|bench\w*|build|ci|cmake|makefile|typos?|comments?|"
                      r"warnings?|neon|arm(v\d|64)?|aarch64|mips\w*|msa|dspr2|altivec|power(pc)?|ppc\w*|s390\w*|risc-?v|jit|windows|msvc|wasm|java|"
                      r"python|c#)\b", re.IGNORECASE)
MOST_LINES = 500   # of C or C++ that a commit changes; larger ones carry other things, too
SOURCE = (".c", ".h", ".cc", ".cpp", ".hpp")


@dataclass
class Project:
    name: str
    address: str
    head: str
    since: str
    sources: list
    build: str
    inputs: str
    args: list
    history: Path = None   # a clone

    def git(self, *words):
        return subprocess.run(["git", "--git-dir", self.history, *words], capture_output=True, text=True, errors="replace", check=True).stdout

    def find(self, histories):
        """Its clone among them, made from its address where there is none."""
        places = (histories / self.name, histories / self.name / ".git", histories / f"{self.name}.git")
        self.history = next((place for place in places if (place / "HEAD").exists()), None)
        if self.history is None:
            self.history = places[2]
            subprocess.run(["git", "clone", "--bare", "--quiet", self.address, self.history], check=True)

    def claims(self):
        """(commit, its parent) of each that claims a speedup in the first line of its message, in the drawn order."""
        since = datetime.datetime.fromisoformat(f"{self.since}T00:00+00:00").timestamp()
        log = self.git("log", "--no-merges", "--format=%H %P %ct %s", self.head)
        found = []
        for line in log.splitlines():
            commit, parent, second, message = (line.split(" ", 3) + [""])[:4]
            if second.isdigit() and int(second) >= since and CLAIM.search(message) and not NO_CLAIM.search(message):
                found.append((commit, parent))
        found.sort(key=lambda pair: hashlib.sha256(f"{SEED} {pair[0]}".encode()).digest())
        return [pair for pair in found if self.is_small(*pair)]

    def is_small(self, commit, parent):
        """Whether it changes a source file of the program, and few lines of it."""
        lines = 0
        for row in self.git("diff-tree", "-r", "--numstat", "--no-renames", parent, commit).splitlines():
            added, removed, path = row.split("\t", 2)
            if path.endswith(SOURCE) and any(path.startswith(place) for place in self.sources) and added.isdigit():
                lines += int(added) + int(removed)
        return 0 < lines <= MOST_LINES

    def unpack(self, commit, folder):
        """The commit's files in an empty folder."""
        subprocess.run(["rm", "-rf", folder], check=True)
        folder.mkdir(parents=True)
        packed = subprocess.Popen(["git", "--git-dir", self.history, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], stdin=packed.stdout, check=True)
        if packed.wait():
            raise OSError(f"{self.name}: no commit {commit} in {self.history}")


def read_projects(path):
    """{name: project}, in the file's order."""
    rows = tomllib.loads(path.read_text())["project"]
    return {row["name"]: Project(**row) for row in rows}
