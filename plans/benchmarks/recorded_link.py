"""One link, recorded while a program is built, and done again with its functions or data in another order.

A link seed must not compile anything: lld's --reproduce keeps every input and option of the program's own link
(linker/ld.lld, which the compiler finds by COMPILER_PATH, asks for it), and a link in another order is one run of
lld on them; then the post-link step, for szc. Linked again without a seed the result must be the built binary, byte
for byte but for the names of symbols: that is checked before a record is accepted.

In a configuration's folder: link/<name>/response.txt and the inputs, link/finish (the post-link command), and
links/, the binaries made so far.
"""
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
from pathlib import Path

from debian_source import Failure
from peer_layouts import sorted_by_lld

LINKER = Path(__file__).resolve().parent / "linker"
DATA_SECTIONS = (".rodata*", ".data*", ".bss*", ".tdata*", ".tbss*")


def lld_seed(seed):
    """As szc makes it of STAB_LINK_SEED: to lld 0 means a random seed, and the largest one reverse order."""
    return seed % (2**32 - 2) + 1


def without_names(binary):
    """Its bytes without symbols, and with a build id of zeros. ThinLTO was seen to number a private label otherwise from
    one link to the next, and the id is a hash of everything."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "stripped"
        subprocess.run(["objcopy", "--strip-all", binary, stripped], check=True, timeout=60)
        content = stripped.read_bytes()
    head = struct.pack("<3I4s", 4, 20, 3, b"GNU\0")   # a note: sizes of name and id, NT_GNU_BUILD_ID
    before, found, after = content.partition(head)
    return before + found + bytes(20) + after[20:] if found else content


class RecordedLink:
    def __init__(self, configuration):
        self.folder = configuration / "link"
        self.archive = configuration / "link.tar"
        self.links = configuration / "links"

    def environment(self, binary, llvm="19"):
        """For the build, so that it records the link of `binary`, by the linker of that LLVM."""
        return {"COMPILER_PATH": str(LINKER), "RECORD_LINK": str(self.archive), "RECORD_OUTPUT": Path(binary).name, "RECORD_LLVM": llvm}

    def exists(self):
        """Whether it can be made again: an installation of szc that has gone took its post-link step along."""
        finish = self.folder / "finish"
        return finish.exists() and all(Path(program).exists() for program in finish.read_text().split()[:1])

    def accept(self, built, post_linker, llvm="19"):
        """Keeps what the build recorded, if that gives the binary that was built; post_linker: szc's, or ""; llvm: whose linker it was."""
        if not self.archive.exists():
            raise Failure(f"the link of {built.name} was not recorded: it isn't lld that makes it")
        with tarfile.open(self.archive) as archive:
            archive.extractall(self.folder)
        self.archive.unlink()
        # lld makes all paths relative to the record, and so one that isn't an input: where to look at run time.
        response = self._where() / "response.txt"
        response.write_text(re.sub(r"^-rpath (?=\w)", "-rpath /", response.read_text(), flags=re.M))
        stripped = b".symtab\0" not in built.read_bytes()
        finish = f"{post_linker} --only-listed{' --strip' if stripped else ''}" if post_linker else ""
        if llvm != "19":
            (self.folder / "llvm").write_text(llvm)
        again = self._link([], finish)
        if without_names(again) != without_names(built):
            raise Failure(f"{again}, linked again from {self.folder}, isn't the binary that was built")
        (self.folder / "finish").write_text(finish)

    def binary(self, name, seed=0, data_seed=0, unused=0, compiler="clang-19", functions=(), calls=None, rewrite=None):
        """The binary with its functions ordered by `seed` and its data by `data_seed` (0: as they come), or with
        `functions` in this order, or as lld sorts them by `calls` (peer_layouts.call_graph), all behind an unused function of
        `unused` bytes, compiled by `compiler`. `name`: what it is kept as. rewrite(path): what is done to the linked binary instead of the post-link step."""
        linked = self.links / name
        if not linked.exists():
            options = [f"--shuffle-sections=.text*={lld_seed(seed)}"] if seed else []
            options += [f"--shuffle-sections={section}={lld_seed(data_seed)}" for section in DATA_SECTIONS if data_seed]
            if functions:
                (self._where() / "order").write_text("\n".join(functions) + "\n")
                options += ["--symbol-ordering-file=order", "--no-warn-symbol-ordering"]
            if calls:
                options += sorted_by_lld(calls, self._where())
            options += ["--emit-relocs"] * (rewrite is not None)   # by which functions can be moved
            first = [self._unused_function(unused, compiler)] if unused else []
            self.links.mkdir(exist_ok=True)
            made = self._link(options, "" if rewrite else (self.folder / "finish").read_text(), first)
            if rewrite:
                rewrite(made)
            made.rename(linked)
        return linked

    def _unused_function(self, size_bytes, compiler):
        source = self._where() / "unused.c"
        source.write_text(f"void benchmark_unused(void) {{ __asm__(\".skip {size_bytes - 1}, 0x90\"); }}\n")
        subprocess.run([compiler, "-O2", "-c", source, "-o", source.with_suffix(".o")], check=True, timeout=60)
        return "unused.o"

    def objects(self):
        """The folder of all that went into the link."""
        return self._where()

    def _where(self):
        return next(path.parent for path in self.folder.glob("*/response.txt"))

    def _link(self, options, finish, first=()):
        output = self.folder / "linked"
        of = self.folder / "llvm"
        llvm = of.read_text() if of.exists() else "19"
        lld = shutil.which(f"ld.lld-{llvm}") or f"/usr/lib/llvm-{llvm}/bin/ld.lld"
        steps = [[lld, *first, "@response.txt", "-o", output, *options], [*finish.split()[:1], output, *finish.split()[1:]]]
        for step in steps if finish else steps[:1]:
            done = subprocess.run(step, cwd=self._where(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            if done.returncode:
                raise Failure(f"linking in another order: {' '.join(map(str, step))}: {done.stdout[-2000:]}")
        return output
