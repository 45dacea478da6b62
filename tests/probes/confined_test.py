#!/usr/bin/python3
"""Parts that read a submitter's files confine themselves before they read, and say what is wrong with a file that was made to
harm.

    confined_test.py --bin BUILD/bin [unittest arguments]
"""
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

if "--bin" in sys.argv:
    AT = sys.argv.index("--bin")
    BIN = Path(sys.argv[AT + 1]).resolve()
    del sys.argv[AT : AT + 2]
LIBEXEC = BIN.parent / "libexec" / "stab"
LAYOUT, LINES, CAUSAL = LIBEXEC / "stab-layout", LIBEXEC / "stab-lines", LIBEXEC / "stab-causal"
MODE = ["--code", "shuffle", "--stack", "on", "--range", "4096", "--seed", "7"]
SOURCE = """
#include <stdio.h>
__attribute__((noinline)) int first(int x) { return x * 3 + 1; }
__attribute__((noinline)) int second(int x) { return first(x) ^ 5; }
int main(int argc, char** argv) { (void)argv; printf("%d\\n", second(argc)); return 0; }
"""


def layout(executable, *words, mode=MODE, **options):
    return subprocess.run([LAYOUT, executable, *mode, *words], capture_output=True, text=True, errors="replace", timeout=60, **options)


def status_of(pid):
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)


def limits_of(pid):
    limits = {}
    for line in Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]:
        name, soft = line[:25].strip(), line[26:].split()[0]
        limits[name] = soft
    return limits


def wait_for(process, what):
    """Until it sleeps in a read or a poll, confined by then."""
    for _ in range(6000):
        if status_of(process.pid).get("Seccomp", "").strip() == "2":
            return
        if process.poll() is not None:
            raise AssertionError(f"{what} has ended with {process.returncode}")
        time.sleep(0.01)
    raise AssertionError(f"{what} has no filter after 60 s")


def section_of(elf, wanted):
    """Where a section of an ELF file lies in it, and its length."""
    table = struct.unpack_from("<Q", elf, 40)[0]
    count, names = struct.unpack_from("<HH", elf, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * 64) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        if elf[at : elf.index(b"\0", at)].decode() == wanted:
            return header[4], header[5]
    raise AssertionError(f"no section {wanted}")


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="stab-confined-")
        cls.path = Path(cls.folder.name)
        source = cls.path / "program.c"
        source.write_text(SOURCE)
        cls.program = cls.path / "program"
        subprocess.run([BIN / "szc", "-O2", "-g", source, "-o", cls.program], check=True)
        cls.bytes = cls.program.read_bytes()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def written(self, name, content):
        path = self.path / name
        path.write_bytes(content)
        return path

    def assert_confined(self, process, what):
        status = status_of(process.pid)
        self.assertEqual(status["Seccomp"].strip(), "2", what)
        self.assertEqual(status["NoNewPrivs"].strip(), "1", what)
        limits = limits_of(process.pid)
        self.assertEqual(limits["Max core file size"], "0", what)
        return limits


class Layout(Made):
    def test_a_program_is_read_by_name_and_handed_over(self):
        named = layout(self.program, "--image", "2")
        self.assertEqual(named.returncode, 0, named.stderr)
        self.assertIn("\tsecond\n", named.stdout)
        with open(self.program, "rb") as handed:
            given = layout("-", "--image", "2", stdin=handed)
        self.assertEqual(given.stdout, named.stdout)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_it_is_confined_before_it_reads_a_byte(self):
        # The trace says in which order it calls.
        trace = self.path / "trace"
        done = subprocess.run(["strace", "-f", "-o", trace, LAYOUT, self.program, *MODE, "--image", "1"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = trace.read_text().splitlines()
        filtered = [i for i, line in enumerate(calls) if "SECCOMP_SET_MODE_FILTER" in line or "seccomp(" in line]
        opened = [i for i, line in enumerate(calls) if "program\"" in line and "openat(" in line]
        read = [i for i, line in enumerate(calls) if "pread64(" in line]
        self.assertTrue(filtered and opened and read)
        self.assertLess(opened[-1], filtered[0])
        self.assertLess(filtered[0], read[0])
        self.assertFalse([line for line in calls[filtered[0] :] if "openat(" in line or "socket(" in line])

    def test_it_has_no_means_but_those_that_it_needs(self):
        # It can't go on writing while nobody reads.
        process = subprocess.Popen([LAYOUT, self.program, *MODE, "--through", "100000"], stdout=subprocess.PIPE)
        try:
            wait_for(process, "stab-layout")
            limits = self.assert_confined(process, "stab-layout")
            self.assertLessEqual(int(limits["Max data size"]), 4 << 30)
            self.assertLessEqual(int(limits["Max address space"]), 6 << 30)
            self.assertLessEqual(int(limits["Max cpu time"]), 300)
            self.assertEqual(int(limits["Max file size"]), (256 << 20) + 1)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_what_is_no_regular_file_is_refused_at_once(self):
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, "/dev/zero", self.path):
            done = layout(path, "--image", "1")
            self.assertEqual(done.returncode, 1, path)
            self.assertIn("it is no regular file", done.stderr)
        done = layout("-", "--image", "1", stdin=subprocess.PIPE)
        self.assertIn("it is no regular file", done.stderr)

    def test_no_damage_ends_it_otherwise_than_in_words(self):
        rng = random.Random(17)
        ends = {}
        begin, length = section_of(self.bytes, "stab_code")
        table = struct.unpack_from("<Q", self.bytes, 40)[0]
        for number in range(400):
            damaged = bytearray(self.bytes)
            for _ in range(rng.choice((1, 4, 32))):
                at = rng.choice((begin + rng.randrange(length), begin + rng.randrange(64), table + rng.randrange(len(damaged) - table),
                                 rng.randrange(len(damaged))))
                damaged[at] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            if rng.random() < 0.2:
                del damaged[rng.randrange(64, len(damaged)) :]
            path = self.written("damaged", bytes(damaged))
            done = layout(path, "--through", "3")
            ends[done.returncode] = ends.get(done.returncode, 0) + 1
            self.assertIn(done.returncode, (0, 1), f"number {number}: {done.stderr}")
            if done.returncode == 1:
                self.assertTrue(done.stderr.startswith(f"stab-layout: '{path}': "), done.stderr)
        self.assertGreater(ends.get(1, 0), 20, "none of the damage was seen")

    def test_sections_that_claim_all_memory_are_refused(self):
        # Section headers whose sizes are half a terabyte, and a file that is as long, of holes.
        damaged = bytearray(self.bytes)
        table, count, entry = struct.unpack_from("<Q", damaged, 40)[0], struct.unpack_from("<H", damaged, 60)[0], 64
        for i in range(count):
            struct.pack_into("<Q", damaged, table + i * entry + 32, 1 << 39)
        path = self.written("holes", bytes(damaged))
        os.truncate(path, 1 << 40)
        begun = time.monotonic()
        done = layout(path, "--image", "1")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("stab-layout: "), done.stderr)
        self.assertLess(time.monotonic() - begun, 20)


class Lines(Made):
    def start(self):
        return subprocess.Popen([LINES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_it_is_confined_before_it_reads_a_byte(self):
        process = self.start()
        try:
            wait_for(process, "stab-lines")
            limits = self.assert_confined(process, "stab-lines")
            self.assertLessEqual(int(limits["Max data size"]), 8 << 30)
            self.assertLessEqual(int(limits["Max cpu time"]), 300)
            with self.assertRaises(PermissionError):
                # Of the same user, and yet it can't be looked into. Root may.
                if os.geteuid() == 0:
                    raise PermissionError
                Path(f"/proc/{process.pid}/mem").open("rb")
        finally:
            process.stdin.close()
            process.wait(timeout=30)
            process.stdout.close()
            process.stderr.close()

    def test_what_is_no_request_is_said(self):
        process = self.start()
        _, error = process.communicate(b"\xff" * 4096, timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(error.startswith(b"stab-lines: "), error)


class Companion(Made):
    """It is in no trial's tree, so whoever could make it do something else would have a process that outlives the trial."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        root = Path(__file__).resolve().parents[2]
        cls.scribbler = cls.path / "scribbler"
        subprocess.run(["c++", "-std=c++20", "-O1", "-I", root, root / "tests/probes/scribbles_on_area.cc", "-o", cls.scribbler],
                       check=True)

    def run_beside(self, how):
        area = self.path / f"area-{how}"
        subprocess.run([self.scribbler, area, "make"], check=True)
        companion = subprocess.Popen([CAUSAL, area], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(companion, "stab-causal")
        limits = self.assert_confined(companion, "stab-causal")
        self.assertLessEqual(int(limits["Max data size"]), 64 << 20)
        program = subprocess.run([self.scribbler, area, how], timeout=60)
        self.assertEqual(program.returncode, 0)
        _, said = companion.communicate(timeout=30)
        return companion.returncode, said

    def test_a_program_that_is_honest_gets_its_windows(self):
        self.assertEqual(self.run_beside("honest"), (0, ""))

    def test_no_index_that_the_program_writes_is_one(self):
        for how in ("windows", "arms", "cpus", "ranges", "regions", "script", "everything"):
            with self.subTest(how=how):
                code, said = self.run_beside(how)
                self.assertEqual((code, said), (0, ""), f"signal {signal.Signals(-code).name}" if code < 0 else said)

    def test_what_is_no_script_is_refused_in_words(self):
        area = self.path / "nothing"
        subprocess.run([self.scribbler, area, "make"], check=True)
        with open(area, "r+b") as file:
            file.write(b"nothing!")
        done = subprocess.run([CAUSAL, area], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no causal area: its magic is another", done.stderr)


if __name__ == "__main__":
    unittest.main()
