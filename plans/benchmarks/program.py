"""A benchmark program: its entry in the manifest, its builds, its inputs, its outputs.

Everything lives under build/benchmarks/<name>/: source/ (unpacked Debian source), inputs/ (generated, the
working directory of every run), one folder per build configuration such as clang-19-O2/ or szc-O2/ with the
built tree, its log and a stamp. A configuration is rebuilt when its stamp no longer says what its build
depends on: source version, recipe, flags, and the bytes of the compiler's own parts.

Every configuration is built in the same folder, tree/, and moved away when done, so that paths which end up
in a binary (asserts, debug information) don't differ between configurations: length differences would move
data, and layout is what we study.
"""
import contextlib
import fcntl
import hashlib
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler import AS_BUILT, PLACING, REPOSITORY, Compiler
from debian_source import DebianSources, Failure, run_logged
from function_order import ORDERS, ordered
from peer_layouts import PEERS, bolted, call_graph
from recorded_link import RecordedLink

HERE = Path(__file__).resolve().parent


def root():
    """Of a checkout its build tree; what is installed is not ours to write to, so there it is the user's cache. A build of a
    daemon's has no HOME that exists."""
    if (REPOSITORY / "CMakePresets.json").exists():
        return REPOSITORY / "build" / "benchmarks"
    home = os.environ.get("HOME", "")
    home = home if os.path.isdir(home) else pwd.getpwuid(os.getuid()).pw_dir
    return Path(os.environ.get("XDG_CACHE_HOME") or f"{home}/.cache") / "stab" / "benchmarks"


ROOT = root()
PROGRAM_KEYS = {"name", "source", "language", "build", "binary", "inputs", "run", "short", "slowed", "like", "patched", "members", "large",
                "changes"}
BUILD_VERSION = "0"   # another one when builds are made in another way: none of the old ones is good any more
RUN_KEYS = {"name", "args", "stdin", "env", "output", "exit", "uses"}


def library_of(binary):
    """Where the code of a program is that was built into a library: in this one, beside it."""
    return binary.with_name(f"lib{binary.name}.so")


@dataclass
class Run:
    name: str
    args: list
    stdin: str = "/dev/null"   # a file in the inputs folder
    env: dict = field(default_factory=dict)
    exit: int = 0
    output: str = ""           # the file it writes, where stdout isn't what counts (or tells times)
    uses: list = field(default_factory=list)   # those of the inputs that it reads, for a short run


class Program:
    def __init__(self, entry):
        unknown = set(entry) - PROGRAM_KEYS
        if unknown:
            raise Failure(f"manifest.toml: program '{entry.get('name')}' has unknown keys: {', '.join(unknown)}")
        self.name, self.source, self.language = entry["name"], entry["source"], entry["language"]
        self.recipe, self.binary, self.like = entry["build"], entry["binary"], entry.get("like", "")
        self.patched, self.members, self.large = entry.get("patched", True), entry.get("members", []), entry.get("large", False)
        if self.members and self.patched:
            raise Failure(f"manifest.toml: '{self.name}' has members of upstream's archive and patches of Debian's; it needs patched = false")
        self.inputs_recipe = entry.get("inputs", "true")
        short = [{"name": "short", **entry["short"]}] if "short" in entry else []
        for run in [*entry["run"], *short]:
            if set(run) - RUN_KEYS:
                raise Failure(f"manifest.toml: a run of '{self.name}' has unknown keys: {set(run) - RUN_KEYS}")
        self.runs = [Run(**run) for run in entry["run"]]
        self.short = Run(**short[0]) if short else None
        self.slowed = entry.get("slowed")
        self.changes = {change["name"]: change["edit"] for change in entry.get("changes", [])}
        self.folder = ROOT / self.name

    @contextlib.contextmanager
    def _locked(self):
        """One process at a time works in a program's folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _fetch(self):
        stamp = self.folder / "source-version"
        if not stamp.exists():
            # One private apt state for all programs, hence its own lock.
            ROOT.mkdir(parents=True, exist_ok=True)
            with open(ROOT / ".apt-lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                version = DebianSources(ROOT).fetch(self.source, self.folder / "source", self.patched, self.members)
                stamp.write_text(f"{self.source} {version}")
        return stamp.read_text()

    def fetch(self):
        with self._locked():
            return self._fetch()

    def build(self, compiler):
        """Builds one configuration if needed; returns the binary's path."""
        if compiler.checked().order not in ("source", *ORDERS, *PEERS):
            raise Failure(f"no order '{compiler.order}' of functions; there are: source, {', '.join((*ORDERS, *PEERS))}")
        bolt_seed = {"bolt": None, "bolt-shuffled": compiler.link}
        profile = self.profile() if compiler.pgo or compiler.order not in ("source", *bolt_seed) else None
        if compiler.order in bolt_seed:
            self.inputs()
        with self._locked():
            if compiler.as_built():
                return self._build(compiler)
            placed = compiler.placed()
            built = self._build(placed, linked_again=True)
            record = RecordedLink(self.folder / placed.configuration())
            functions = ordered(compiler.order, profile, built) if compiler.order in ORDERS else ()
            calls = self._calls(compiler) if compiler.order == "cdsort" else None
            rewrite = (lambda linked: bolted(linked, self._run_for_profile, bolt_seed[compiler.order])) if compiler.order in bolt_seed else None
            name = "-".join(str(getattr(compiler, option)) for option in AS_BUILT)
            if functions or calls:   # a new profile is a new order
                name += "-" + hashlib.sha256(repr(functions or sorted(calls.items())).encode()).hexdigest()[:8]
            linked = record.binary(name, compiler.link, compiler.link_data, compiler.unused, placed.commands()[0], functions, calls, rewrite)
            return self._with_library(built, linked) if compiler.library else linked

    def _with_library(self, built, linked):
        """The program in a folder of its own, beside its library in that link."""
        folder = linked.with_name(linked.name + "-program")
        folder.mkdir(exist_ok=True)
        for source, name in ((built, built.name), (linked, library_of(built).name)):
            if not (folder / name).exists():
                os.link(source, folder / name)
        return folder / built.name

    def _calls(self, compiler):
        """Who calls whom how often in a short run: as a plain build with that profile keeps it."""
        profiled = Compiler("clang-19", compiler.opt, placing=True, pgo=True)
        self._build(profiled, linked_again=True)
        return call_graph(RecordedLink(self.folder / profiled.configuration()).objects())

    def _run_for_profile(self, binary):
        run = self.short or self.runs[0]
        with self._workplace(self.folder / "inputs") as work:
            self._run(binary, run, work)

    def profile(self):
        """The profile of its short run, in clang's format; the same file name for all builds that use it."""
        with self._locked():
            binary = self._build(Compiler("clang-19", "-O2 -fprofile-generate", "-fprofile-generate"))
        profile = self.folder / "profile"
        if not profile.exists() or profile.stat().st_mtime < binary.stat().st_mtime:
            run = self.short or self.runs[0]
            with tempfile.TemporaryDirectory(dir=self.folder) as raw:
                self.output(binary, replace(run, env=run.env | {"LLVM_PROFILE_FILE": f"{raw}/%p.profraw"}))
                run_logged(["llvm-profdata-19", "merge", "-o", f"{raw}/merged", *Path(raw).glob("*.profraw")],
                           self.folder / "profile-log")
                os.rename(f"{raw}/merged", profile)
        return profile

    def _slow_down(self, tree, percent):
        """Puts a loop of so many cycles into the manifest's function that a short run takes so many percent longer."""
        if not self.slowed:
            raise Failure(f"manifest.toml: '{self.name}' says no function to slow down")
        file, at = tree / self.slowed["file"], self.slowed["after"]
        text = file.read_text()
        if text.count(at) != 1:
            raise Failure(f"manifest.toml: '{at}' is {text.count(at)} times in {file}, expected once")
        file.write_text(text.replace(at, at + self.loop(percent)))

    def loop(self, percent):
        """C of a loop that makes a short run so many percent longer by the manifest's calibration."""
        turns = round(percent * self.slowed["turns_a_percent"])
        # In every 64th call: the mispredicted end of a short loop in each would cost more than the loop.
        loop = f'__asm__ volatile("movl %0, %%ecx\\n1: decl %%ecx\\n jnz 1b" : : "i"({turns}) : "ecx", "cc");'
        return f" {{ static unsigned calls; if (++calls % 64 == 0) {loop} }}"

    def make_change(self, tree, name, log):
        """Makes one of the manifest's changes in `tree`, a copy of the source. Failure: it can't be made, or changes nothing."""
        run_logged(["bash", "-euxc", self.changes[name]], log, cwd=tree)
        if subprocess.run(["diff", "-rq", self.folder / "source", tree], stdout=subprocess.DEVNULL).returncode != 1:
            raise Failure(f"manifest.toml: change '{name}' of '{self.name}' changes nothing")

    def _build(self, compiler, linked_again=False):
        """linked_again: a build without a record of its link won't do."""
        done = self.folder / compiler.configuration()
        if compiler.change and compiler.change not in self.changes:
            raise Failure(f"manifest.toml: '{self.name}' has no change '{compiler.change}'; there are: {', '.join(self.changes) or 'none'}")
        changed = [str(self.slowed)] if compiler.slow else []
        changed += [self.changes[compiler.change]] if compiler.change else []
        changed += [hashlib.sha256((self.folder / "profile").read_bytes()).hexdigest()] if compiler.pgo else []
        wanted = "\n".join([self._fetch(), self.recipe, self.binary, compiler.opt, compiler.ldflags, BUILD_VERSION,
                            compiler.fingerprint(), *changed])
        stamp, binary, record = done / "stamp", done / "tree" / self.binary, RecordedLink(done)
        if stamp.exists() and stamp.read_text() == wanted and binary.exists() and not (linked_again and not record.exists()):
            return binary
        shutil.rmtree(done, ignore_errors=True)
        done.mkdir()
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.folder / "source", tree, symlinks=True)
        if compiler.slow:
            self._slow_down(tree, compiler.slow)
        if compiler.change:
            self.make_change(tree, compiler.change, done / "log")
        cc, cxx, fc = compiler.wrapped(done / "commands")
        # No compiler cache and no flags of the caller's: a build depends on its configuration alone.
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR", "LANG", "LAB_BIN")}
        use_profile = f"-fprofile-use={self.folder / 'profile'} -Wno-profile-instr-out-of-date" if compiler.pgo else ""
        cflags = " ".join(filter(None, [compiler.opt, PLACING if compiler.placing else "", use_profile]))
        ldflags = " ".join(filter(None, ["-fuse-ld=lld" if compiler.placing else "", compiler.opt if compiler.lto() else "",
                                         compiler.ldflags]))
        env = {**keep, "CC": cc, "CXX": cxx, "FC": fc, "F77": fc, "CFLAGS": cflags, "CXXFLAGS": cflags,
               "FFLAGS": compiler.opt, "FCFLAGS": compiler.opt, "LDFLAGS": ldflags, "JOBS": str(os.cpu_count()),
               "RECIPES": str(HERE)}
        if compiler.lto():   # bitcode in archives
            env |= {name.upper(): f"llvm-{name}-{compiler.llvm()}" for name in ("ar", "ranlib", "nm")}
        layout = done / "layout"
        if compiler.layout:   # a copy: links made later are held to it, too
            shutil.copy(compiler.layout, layout)
            env |= {"STAB_LINK_LAYOUT": str(layout)}
        code = library_of(binary) if compiler.library else binary
        env |= {"IN_LIBRARY": binary.name} if compiler.library else {}
        if compiler.links_again():
            env |= record.environment(code, compiler.llvm())
        log = done / "log"
        try:
            run_logged(["bash", "-euxc", self.recipe], log, cwd=tree, env=env)
        except Failure as failure:
            raise Failure(f"building {self.name} with {compiler.cc} {compiler.opt}: {failure}") from None
        if not (tree / self.binary).exists():
            raise Failure(f"building {self.name}: {self.binary} was not made; log: {log}")
        os.rename(tree, done / "tree")
        if compiler.library and not code.exists():   # of a program that was copied away from where it was linked
            shutil.copy2(next((done / "tree").rglob(code.name)), code)
        if compiler.links_again():
            record.accept(code, compiler.post_linker() + (f" --layout {layout}" if compiler.layout else ""), compiler.llvm())
        stamp.write_text(wanted)
        return binary

    def inputs(self):
        """Generates the inputs if needed; returns their folder, the working directory of runs."""
        with self._locked():
            folder, stamp = self.folder / "inputs", self.folder / "inputs-stamp"
            digest = hashlib.sha256(self.inputs_recipe.encode())
            for file in sorted((HERE / "inputs").iterdir()):
                if file.is_file():
                    digest.update(file.name.encode() + file.read_bytes())
            wanted = digest.hexdigest() + self._fetch()
            if not (stamp.exists() and stamp.read_text() == wanted):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                env = {**os.environ, "INPUTS": str(HERE / "inputs"), "SOURCE": str(self.folder / "source")}
                run_logged(["bash", "-euxc", self.inputs_recipe], self.folder / "inputs-log", cwd=folder, env=env)
                stamp.write_text(wanted)
            return folder

    def variables(self, run):
        """What a run wants in its environment."""
        return {k: v.replace("{source}", str(self.folder / "source")) for k, v in run.env.items()}

    @contextlib.contextmanager
    def workplace(self):
        """A fresh folder with the inputs, for one run: programs write beside what they read."""
        with self._workplace(self.inputs()) as work:
            yield work

    @contextlib.contextmanager
    def _workplace(self, inputs):
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            for file in inputs.iterdir():
                shutil.copy(file, work)
            yield Path(work)

    def _run(self, binary, run, work):
        with open(work / run.stdin, "rb") as stdin:
            return subprocess.run([binary, *run.args], cwd=work, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=600, env={**os.environ, **self.variables(run)})

    def output(self, binary, run):
        """Runs once in a fresh folder; returns (sha256 of its output, exit code, seconds of wall time)."""
        with self.workplace() as work:
            start = time.monotonic()
            done = self._run(binary, run, work)
            seconds = time.monotonic() - start
            written = work / run.output
            output = done.stdout if not run.output else written.read_bytes() if written.exists() else b"absent"
        return hashlib.sha256(output).hexdigest(), done.returncode, seconds

    def expected(self, run):
        """(sha256 of stdout, exit code) of the plain build: clang-19 -O2 of the same source."""
        plain = self.build(Compiler("clang-19", "-O2"))
        cache = plain.parents[len(Path(self.binary).parts)] / f"expected-{run.name}"
        inputs_stamp = (self.inputs().parent / "inputs-stamp").read_text()
        wanted = f"{inputs_stamp} {shlex.join(run.args)} {run.stdin} {run.output} {run.env}"
        if cache.exists():
            stored = cache.read_text().split("\n")
            if stored[0] == wanted:
                return stored[1], int(stored[2])
        digest, code, _ = self.output(plain, run)
        if code != run.exit:
            raise Failure(f"{self.name} {run.name}: the plain build exits with {code}, expected {run.exit}")
        cache.write_text(f"{wanted}\n{digest}\n{code}")
        return digest, code


def read_manifest():
    with open(HERE / "manifest.toml", "rb") as file:
        programs = [Program(entry) for entry in tomllib.load(file)["program"]]
    return {program.name: program for program in programs}


def not_large(manifest):
    """The names of those that are meant where no name is given."""
    return [name for name, program in manifest.items() if not program.large]
