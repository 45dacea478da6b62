"""A history of one program of the manifest whose slow commits are known, as a git repository.

Behind the first commit come COMMITS more. A step changes the turns of the manifest's planted loop (`slowed`). The others do nothing:
a function that nobody calls, which moves all that is linked behind it; a comment; an error that the next commit takes back.
"""
import os
import random
import shutil
import subprocess

COMMITS = 64
SEED = 47   # of those that were searched first
# Kind -> percent by which its steps change the time of the first commit; the places of the steps are drawn.
KINDS = {"none": (), "2 %": (2,), "3 %": (3,), "4 and -2 %": (4, -2)}
BUILD = """export CC="{cache}$1" CXX="{cache}$2" CFLAGS=-O2 CXXFLAGS=-O2 LDFLAGS= JOBS=2
{recipe}"""
GATE = """[gate]
margin = "1%"
[[program]]
name = "{name}"
source = {{ git = ".", revision = "{{revision}}" }}
build = "bash -eux build.sh {cc} {cxx}"
run = {run}
expect = {{ exit = {exit} }}
"""
WHO = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
       for what, value in (("NAME", "A Maker"), ("EMAIL", "maker@example.org"), ("DATE", "2026-01-01T00:00:00Z"))}


class History:
    """One program and kind. one_percent: the percent of the manifest's turns that cost 1 % (race's calibration). seed: of all that is drawn."""

    def __init__(self, program, kind, one_percent, into, seed=SEED):
        self.program, self.kind, self.one_percent = program, kind, one_percent
        self.name = f"{program.name}-{kind}".replace(" ", "")
        self.root, self.draw = into / self.name / "repository", random.Random(f"{seed} {program.name} {kind}")
        places = sorted(self.draw.sample(range(1, COMMITS + 1), len(KINDS[kind])))
        self.steps = dict(zip(places, KINDS[kind]))   # number of the commit -> percent
        self.commits = []                             # hashes, the good one first

    def words(self):
        """What is run: the binary, and arguments that find their inputs from any folder."""
        inputs, run = self.program.inputs(), self.program.short
        words = [" ".join(str(inputs / part) if (inputs / part).is_file() else part for part in word.split(" ")) for word in run.args]
        return [f"./{self.program.binary}", *words]

    def make(self, szc):
        """The repository; the same commits each time."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.program.fetch()
        shutil.copytree(self.program.folder / "source", self.root, symlinks=True)
        cache = "ccache " if shutil.which("ccache") else ""
        (self.root / "build.sh").write_text(BUILD.format(cache=cache, recipe=self.program.recipe))
        words = "[" + ", ".join(f"'{word}'" for word in self.words()) + "]"
        (self.root / "stab-gate.toml").write_text(GATE.format(name=self.program.name, cc=szc, cxx=f"{szc}++", run=words,
                                                              exit=self.program.short.exit))
        self.git("init", "--quiet", "--initial-branch=main")
        file = self.root / self.program.slowed["file"]
        source, percent, added, error = file.read_text(), 0, [], ""
        self.commits = [self.commit("begin")]
        for number in range(1, COMMITS + 1):
            message = "mend the build" if error else ""
            error = ""
            if number in self.steps:
                percent, message = percent + self.steps[number], "change the loop"
            elif not message:
                can_break = number < COMMITS and number + 1 not in self.steps
                message = self.draw.choices(("add a function", "say more", "break the build"), (6, 3, 2 * can_break))[0]
            if message == "add a function":
                added.append(self.function(number))
            elif message == "say more":
                added.append(f"/* {number}: {'more ' * self.draw.randrange(1, 9)}*/")
            elif message == "break the build":
                error = "#error not yet\n"
            file.write_text(self.changed(source, percent, added, error))
            self.commits.append(self.commit(message))
        return self

    def changed(self, source, percent, added, error):
        head, between, body = source.partition(self.program.slowed["after"])
        loop = self.program.loop(percent * self.one_percent) if percent else ""
        # In front of the function that holds the loop nothing may come between its lines, so what is added stands at the file's first line.
        return "\n".join([*added, ""]) + error + head + between + loop + body

    def function(self, number):
        lines = "".join(f"  x = x * {self.draw.randrange(3, 1000)}u + (x >> {self.draw.randrange(1, 31)});\n" for _ in range(self.draw.randrange(4, 80)))
        declared = f"unsigned nobody_{number}(unsigned x)"
        language = 'extern "C" ' if self.program.language == "c++" else ""
        return f"{language}__attribute__((used)) {declared};\n{declared} {{\n{lines}  return x;\n}}"

    def commit(self, message):
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.root, env={**os.environ, **WHO}, check=True, capture_output=True, text=True).stdout.strip()
