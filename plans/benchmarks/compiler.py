"""A compiler and its options: what one build of a program differs in from another."""
import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from debian_source import Failure

REPOSITORY = Path(__file__).resolve().parents[2]

IN_LIBRARY = Path(__file__).resolve().parent / "linker/in_library"
# The options of szc that let the linker place single functions.
PLACING = "-ffunction-sections -falign-functions=16"
# What the link alone decides: another value compiles nothing.
AS_BUILT = {"link": 0, "link_data": 0, "unused": 0, "order": "source"}


@dataclass
class Compiler:
    """cc is szc, clang-19, gcc, szc or clang of another LLVM (szc-22), or a path to one of them. szc alone: in $LAB_BIN, the PATH, or
    build/release/bin."""
    cc: str
    opt: str
    ldflags: str = ""
    link: int = 0        # functions in this seeded order, by the linker; 0: as they come
    link_data: int = 0   # data objects likewise
    unused: int = 0      # bytes of a function in front of all others that nobody calls; 0: none
    order: str = "source"   # or functions in an order of function_order.py, by the profile of a short run
    placing: bool = False   # clang: with those options of szc that let the linker place functions; szc has them
    pgo: bool = False    # with the profile of a short run
    slow: float = 0      # percent by which a function of the program is slowed down
    change: str = ""     # one of the program's changes, as the manifest has them
    layout: str = ""     # szc: a layout file that the build obeys
    library: bool = False   # all code of the program in a shared library of its own

    def is_szc(self):
        return os.path.basename(self.cc).partition("-")[0] == "szc"

    def llvm(self):
        """The version of the LLVM that a compiler of ours or clang is of; where none is named, the one that all tests run with."""
        name, _, version = os.path.basename(self.cc).partition("-")
        return version if name in ("szc", "clang") and version.isdigit() else "19"

    def as_built(self):
        return all(getattr(self, name) == value for name, value in AS_BUILT.items())

    def checked(self):
        """Itself, where its options go together and it is there."""
        if self.layout and not self.is_szc():
            raise Failure(f"compiler '{self.cc}' knows no layout files; use szc")
        if self.layout and not os.path.isfile(self.layout):
            raise Failure(f"there is no layout file '{self.layout}'")
        self.commands()
        return self

    def lto(self):
        return "-flto" in self.opt

    def links_again(self):
        return self.is_szc() or self.placing

    def placed(self):
        """The compiler whose builds can be linked in any order."""
        if not self.is_szc() and os.path.basename(self.cc) != f"clang-{self.llvm()}":
            raise Failure(f"compiler '{self.cc}' can't link in a seeded order; use szc or clang-19")
        return replace(self, **AS_BUILT, placing=not self.is_szc())

    def wrapped(self, folder):
        """The commands that a build calls: the compilers, or of a library scripts of their names in `folder`."""
        if not self.library:
            return self.commands()
        folder.mkdir()
        scripts = [folder / os.path.basename(command) for command in self.commands()]
        for script, command in zip(scripts, self.commands()):
            script.write_text(f'#!/bin/sh\nexec {shlex.join([str(IN_LIBRARY), command])} "$@"\n')
            script.chmod(0o755)
        return [str(script) for script in scripts]

    def post_linker(self):
        """What szc runs after the linker."""
        szc = Path(shutil.which(self.commands()[0])).resolve()
        return str(szc.parent / "stab-postlink") if self.is_szc() else ""

    def commands(self):
        partners = {"szc": ("szc++", "szflang"), "clang-19": ("clang++-19", "flang-new-19"), "gcc": ("g++", "gfortran")}
        folder, name = os.path.split(self.cc)
        version = self.llvm()
        if version != "19":
            partners |= {f"szc-{version}": (f"szc++-{version}", f"szflang-{version}"),
                         f"clang-{version}": (f"clang++-{version}", f"flang-{version}")}
        if name not in partners:
            raise Failure(f"compiler '{self.cc}' is not one of {', '.join(partners)}")
        if self.is_szc() and not folder:
            found = shutil.which(name, path=f"{os.environ.get('LAB_BIN', '')}:{os.environ.get('PATH', '')}")
            folder = os.path.dirname(found) if found else str(REPOSITORY / "build/release/bin")
        commands = [os.path.join(folder, n) for n in (name, *partners[name])]
        if not shutil.which(commands[0]):
            raise Failure(f"compiler {commands[0]} not found; " +
                          ("build it: cmake --preset release && cmake --build --preset release"
                           if self.is_szc() else "run packaging/scripts/install"))
        if self.is_szc() and any(character.isspace() for character in commands[0]):
            raise Failure(f"compiler '{commands[0]}': programs' makefiles can't take a path with a blank; install or clone Stab to one without")
        return commands

    def configuration(self):
        words = [os.path.basename(self.cc) + self.opt.replace(" ", "")]
        if self.ldflags:
            words.append(hashlib.sha256(self.ldflags.encode()).hexdigest()[:8])
        if self.layout:
            words.append("layout-" + hashlib.sha256(Path(self.layout).read_bytes()).hexdigest()[:8])
        words += ["placing"] * self.placing + ["library"] * self.library + ["pgo"] * self.pgo + [f"slow{self.slow:g}"] * (self.slow != 0)
        words += [self.change] if self.change else []
        return "-".join(words).replace("/", "_")

    def fingerprint(self):
        """What the compiler is. For szc, all files that it names itself: its own by their bytes, the system's by size and
        time of their last change. For others the executable's bytes and what it says its version is."""
        first = Path(shutil.which(self.commands()[0])).resolve()
        digest = hashlib.sha256(IN_LIBRARY.read_bytes() if self.library else b"")
        if first.name != "szc":
            digest.update(hashlib.sha256(first.read_bytes()).digest() + said_by(first, "--version").encode())
            return digest.hexdigest()
        root = first.parent.parent
        for part in map(Path, said_by(first, "--stab-parts").split("\n")[:-1]):
            of_ours, state = part.is_relative_to(root), part.stat()
            what = hashlib.sha256(part.read_bytes()).hexdigest() if of_ours else f"{state.st_size} {state.st_mtime_ns}"
            digest.update(f"{part.relative_to(root) if of_ours else part} {what}\n".encode())
        return digest.hexdigest()


def said_by(command, word):
    done = subprocess.run([command, word], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{command} {word}: {done.stderr.strip() or done.returncode}")
    return done.stdout
