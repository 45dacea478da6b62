"""Real programs for tests/bench/causal_real: how each is built from its Debian source package, the line that a slow-down is planted into, the
place where a piece of work is done, and what it is run on.

A program is built three times from one tree: with the planted loop, with a loop of half as many turns, and without it.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BENCHMARKS = HERE.parents[1] / "plans/benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from debian_source import Failure  # noqa: E402
from program import ROOT, Program, read_manifest  # noqa: E402

LOOP = '__asm__ volatile("movl %0, %%ecx\\n1: decl %%ecx\\n jnz 1b" : : "i"({turns}) : "ecx", "cc");'
# In every 64th call: the mispredicted end of a short loop in each would cost more than the loop.
PLANTED = "{{ static __thread unsigned stab_calls; if (++stab_calls % 64 == 0) {loop} }}"

BUILDS = ("planted", "half", "removed")
# The profiled runs are so many times as long as those that the truth is taken of, if nobody says otherwise.
LONG = 8

CLIENT = HERE.parents[1] / "plans/causal/open_loop_client.c"
MADE = "ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=:"

# GROUP BY sorts. Four pages of 64 KiB are a piece that a thread sorts and writes, where the cache has no more: four pieces a query. Pages are
# what it reads and writes at once: with 4 KiB it has 60,000 calls in a second of CPU time, and each costs more in a causal trial. Keys are as good as random, and the same each time.
SORTED_TABLE = """PRAGMA page_size=65536; PRAGMA threads=2; PRAGMA cache_size=-64;
CREATE TABLE t(k TEXT);
INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20000)
SELECT printf('%08x-%032d', (i * 2654435761) % 4294967296, i) FROM n;
"""
SORT = "SELECT count(*), max(k) FROM (SELECT k, count(*) FROM t GROUP BY k);\n"


class Real:
    """name      the manifest's, or its own
    sources   the manifest's name of each, or a Debian source package that the manifest hasn't; recipes run in the first one's folder
    prepare   run once, before anything is planted: makes the file that `plant` names, where the package generates it
    recipe    builds; `again`, where it isn't empty, does so after another loop was planted
    plant     the file that the loop stands in, on a line of its own behind the text `after`; turns: how often it goes round
    point     file, and the text behind which a piece of work is done
    run       arguments; {input} stands for the input's path
    input     bytes of text to compress; or what an input begins with, and what a short run does so often
    env       what its environment has more; {input} as in run
    own       files of this repository that are built into it"""

    def __init__(self, name, *, sources, recipe, binary, plant, after, turns, point, run, input, prepare="", again="",
                 window="250ms", env=None, own=()):
        self.name, self.sources, self.prepare, self.recipe, self.again = name, sources, prepare, recipe, again
        self.binary, self.plant, self.after, self.turns = binary, plant, after, turns
        self.point, self.run, self.input, self.window, self.env, self.own = point, run, input, window, env or {}, own

    def head(self):
        """What every input begins with."""
        return b"" if isinstance(self.input, int) else self.input[0].encode()

    def short(self):
        """What a short run does, without the head."""
        if isinstance(self.input, int):
            corpus = [sys.executable, BENCHMARKS / "inputs/corpus.py", "text", str(self.input)]
            return subprocess.run(corpus, stdout=subprocess.PIPE, check=True).stdout
        _, one, times = self.input
        return one.encode() * times

    def stamp(self):
        """One line: where any of it differs a build is another one."""
        return repr((sorted(vars(self).items()), [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.own]))


# What memcached is asked: 2000 values, and each of them 30 times in a short run.
STORED = "".join(f"set key:{i:06} 0 0 32\r\n{'%08x' % (i * 2654435761 % 2**32) * 4}\r\n" for i in range(2000))
ASKED = "".join(f"get key:{i * 7919 % 2000:06}\r\n" for i in range(2000))

PROGRAMS = [
    Real("xz", sources=["xz"],
         recipe="./configure CFLAGS='-O2 -g' --disable-shared --disable-nls --disable-scripts --disable-doc --enable-threads=posix && "
         "make -j2",
         again="make", binary="src/xz/xz", plant="src/liblzma/lz/lz_encoder_mf.c",
         after="const uint32_t count = mf->find(mf, matches);", turns=15000,
         point=("src/liblzma/common/stream_encoder_mt.c",
                "thr->in, &in_pos, in_limit, thr->outbuf->buf,\n\t\t\t\tout_pos, out_size, action);"),
         run=["-c", "-1", "-T2", "--block-size=1MiB", "{input}"], input=3_000_000),
    # A line of a header that each match finder has a copy of: all of them are the line.
    Real("zstd", sources=["zstd"],
         recipe="make -C programs -j2 zstd CFLAGS='-O2 -g' HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 BACKTRACE=0 ZSTD_NO_ASM=1 "
         "ZSTD_LEGACY_SUPPORT=0",
         binary="programs/zstd", plant="lib/compress/zstd_compress_internal.h",
         after="BYTE const* const litEnd = literals + litLength;", turns=70000,
         point=("lib/compress/zstd_compress.c", "dstCapacity -= cSize;\n            cctx->isFirstBlock = 0;"),
         run=["-c", "-q", "-9", "-T2", "-B1MiB", "{input}"], input=4_000_000),
    Real("pbzip2", sources=["pbzip2", "bzip2"],
         recipe="for f in blocksort huffman crctable randtable compress decompress bzlib; do gcc -O2 -g -D_FILE_OFFSET_BITS=64 -I. -Ibzip2 "
         "-c bzip2/$f.c -o $f.o || exit 1; done; "
         "g++ -O2 -g -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION -pthread -I. -Ibzip2 "
         "-Wno-write-strings pbzip2.cpp BZ2StreamScanner.cpp ErrorContext.cpp *.o -o pbzip2",
         binary="pbzip2", plant="bzip2/blocksort.c", after="   AssertD ( i1 != i2, \"mainGtU\" );", turns=1500,
         point=("pbzip2.cpp", "fileData->buf, fileData->bufSize, BWTblockSize, Verbosity, 30);"),
         run=["-c", "-k", "-p2", "-1", "-b1", "{input}"], input=3_000_000, window="500ms"),
    # Its sorter gives each piece of what is to be sorted to a thread of its own, and merges them.
    Real("sqlite3", sources=["sqlite3"],
         prepare="./configure CC=gcc CFLAGS='-O2 -g' --disable-tcl --disable-readline > /dev/null && make sqlite3.c shell.c && "
         "gcc -O2 -g -c shell.c -o shell.o",
         recipe="gcc -O2 -g -D_GNU_SOURCE -DSQLITE_SORTER_PMASZ=4 -c sqlite3.c -o sqlite3.o && gcc shell.o sqlite3.o -o sqlite3-shell -lm -lpthread -ldl",
         binary="sqlite3-shell", plant="sqlite3.c",
         after="        pTask, &bCached, SRVAL(p1), p1->nVal, SRVAL(p2), p2->nVal\n    );", turns=4000,
         point=("sqlite3.c", "rc = vdbePmaWriterFinish(&writer, &pTask->file.iEof);"),
         run=[":memory:", ".read {input}"], input=(SORTED_TABLE, SORT, 25)),
    # Two threads of libevent's serve, and a process that was forked before main asks: plans/causal/open_loop_client.c. It asks for more
    # than they can do. Make must not make the Makefiles again, which it finds older than what Debian's patches have touched.
    Real("memcached", sources=["memcached", "libevent"],
         prepare=f"gcc -O2 -g -c {CLIENT} -o client.o && export MAKEFLAGS='{MADE}' && (cd libevent && ./configure --disable-shared "
         "--disable-openssl --disable-samples --disable-libevent-regress --disable-debug-mode CFLAGS='-O2 -g' && make -j2 all) && "
         "./configure --disable-docs --disable-coverage CPPFLAGS=-I$PWD/libevent/include LDFLAGS=-L$PWD/libevent/.libs",
         recipe=f"MAKEFLAGS='{MADE}' make -j2 memcached CFLAGS='-O2 -g -pthread' LIBS=\"$PWD/client.o -levent -lm\"",
         binary="memcached", plant="assoc.c", after="    item *ret = NULL;", turns=600000,
         point=("proto_text.c", "/* item_get() has incremented it->refcount for us */"),
         run=["-u", "root", "-t", "2", "-U", "0", "-s", "socket"],
         env={"OPEN_LOOP_SOCKET": "socket", "OPEN_LOOP_REQUESTS": "{input}", "OPEN_LOOP_RATE": "400000"},
         input=(STORED, ASKED, 30), own=(CLIENT,)),
]


def source_of(name):
    manifest = read_manifest()
    program = manifest.get(name) or Program({"name": name, "source": name, "language": "c++", "build": "true", "binary": name,
                                             "run": []})
    program.fetch()
    return program.folder / "source"


def insert_after(path, anchor, line):
    """Puts a line behind the anchor; returns its number."""
    text = path.read_text(errors="surrogateescape")
    if text.count(anchor) != 1:
        raise Failure(f"'{anchor}' is {text.count(anchor)} times in {path}, expected once")
    at = text.index(anchor) + len(anchor)
    path.write_text(text[:at] + "\n" + line + text[at:], errors="surrogateescape")
    return text.count("\n", 0, at) + 2


class Built:
    """The three builds of a program, in a folder of its own; one tree, so that no path in them differs."""

    def __init__(self, real, include, root=ROOT / "causal", source_of=source_of, times=LONG):
        self.real = real
        self.folder = root / real.name
        self.paths = {name: self.folder / name / pathlib.Path(real.binary).name for name in BUILDS}
        stamp, wanted = self.folder / "stamp", real.stamp()
        if stamp.exists() and stamp.read_text().split("\n", 1)[1] == wanted:
            self.line = int(stamp.read_text().split("\n", 1)[0])
            self._write_text(times)
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        tree = self.folder / "tree"
        for number, source in enumerate(real.sources):
            shutil.copytree(source_of(source), tree if number == 0 else tree / source, symlinks=True)
        if real.prepare:
            self._make("prepare", real.prepare, tree, include)
        counted = tree / real.point[0]
        insert_after(counted, real.point[1], 'STAB_PROGRESS("block");')
        counted.write_text("#include <stab/progress.h>\n" + counted.read_text(errors="surrogateescape"), errors="surrogateescape")
        planted = tree / real.plant
        original = planted.read_text(errors="surrogateescape")
        for name, turns in zip(BUILDS, (real.turns, real.turns // 2, 0)):
            planted.write_text(original, errors="surrogateescape")
            line = PLANTED.format(loop=LOOP.format(turns=turns)) if turns else "/* nothing */"
            self.line = insert_after(planted, real.after, line)
            self._make(name, real.again if real.again and name != BUILDS[0] else real.recipe, tree, include)
            self.paths[name].parent.mkdir()
            shutil.copy2(tree / real.binary, self.paths[name])
        (self.folder / "short").write_bytes(real.head() + real.short())
        self._write_text(times)
        stamp.write_text(f"{self.line}\n{wanted}")

    def _write_text(self, times):
        head, text = self.real.head(), self.folder / "text"
        short = (self.folder / "short").read_bytes()[len(head):]
        if not text.exists() or text.stat().st_size != len(head) + len(short) * times:
            text.write_bytes(head + short * times)

    def _make(self, name, recipe, tree, include):
        log = self.folder / f"{name}.log"
        with open(log, "w") as out:
            done = subprocess.run(["bash", "-ec", recipe], cwd=tree, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "CPATH": str(include), "CC": "gcc", "CXX": "g++"})
        if done.returncode != 0:
            raise Failure(f"building {self.real.name} failed; log: {log}")

    def command(self, name, text="text"):
        return [str(self.paths[name]), *(word.replace("{input}", str(self.folder / text)) for word in self.real.run)]

    def env(self, text="text"):
        return {name: value.replace("{input}", str(self.folder / text)) for name, value in self.real.env.items()}

    def copy_into(self, folder):
        shutil.copy2(self.paths["planted"], folder)
        shutil.copy2(self.folder / "text", folder)
