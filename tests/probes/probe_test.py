#!/usr/bin/env python3
"""Probes of the runtime: small programs built by szc and looked at from inside and outside while code moves.

    probe_test.py --bin BUILD/bin [unittest arguments]
"""
import array
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "plans/benchmarks"))
sys.dont_write_bytecode = True
from launcher_settings import launcher_settings  # noqa: E402
from served import served  # noqa: E402

MOVING = {"STAB_CODE": "shuffle", "STAB_STACK": "on", "STAB_EPOCH": "1ms"}
TIMEOUT_S = 60
BIN = pathlib.Path("build/release/bin")
WORK = None


def environment(**variables):
    return {k: v for k, v in os.environ.items() if not k.startswith("STAB")} | variables


def built(name, *options):
    """The program built by our driver, once; its plain build stands beside it as NAME.plain."""
    source = next(path for folder in (HERE, HERE.parent / "programs") for path in folder.glob(name + ".c*"))
    tag = name + "".join(o.replace("/", "_") for o in options)
    program, plain = WORK / tag, WORK / (tag + ".plain")
    if not program.exists():
        compilers = ("szc++", "clang++-19") if source.suffix == ".cc" else ("szc", "clang-19")
        common = [str(source), "-O2", "-pthread", *options]
        subprocess.run([BIN / compilers[0], *common, "-o", program], check=True)
        subprocess.run([compilers[1], *common, "-o", plain], check=True)
    return program


def run(command, **variables):
    return subprocess.run([str(c) for c in command], env=environment(**variables), capture_output=True, text=True,
                          timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)


def dose_of(command, patience_s=TIMEOUT_S, **variables):
    """Runs it with a report; returns (result, dose). patience_s: how long the report may come after the end."""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        path = pathlib.Path(directory) / "dose"
        result = run(command, STAB_REPORT=str(path), **variables)
        deadline = time.monotonic() + patience_s
        while not path.read_text().endswith("\n") and time.monotonic() < deadline:
            time.sleep(0.005)
        text = path.read_text()
    lines = text.splitlines()
    if len(lines) != 1:
        raise AssertionError(f"expected one line of report, got {text!r}")
    return result, json.loads(lines[0])


def helpers_of(program, file):
    """Pids of other processes that run this file: a helper of its own is a clone of the program, but no child."""
    file = os.path.realpath(file)
    found = []
    for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        try:
            if pid != program and os.readlink(f"/proc/{pid}/exe") == file:
                found.append(pid)
        except OSError:  # it is gone, or another user's
            pass
    return found


class Addresses(unittest.TestCase):
    def different(self, turns=0, **variables):
        result, dose = served(turns, lambda longer: dose_of([built("addresses"), str(400 * longer)], **variables))
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout), dose

    def test_one_when_off_copied_or_moved_once(self):
        for mode in "off", "copy", "once":
            count, dose = self.different(STAB_CODE=mode, STAB_EPOCH="1ms")
            self.assertEqual(count, 1, mode)
            self.assertEqual(dose["code"]["layouts_built"], 0 if mode == "off" else 1, mode)

    def test_nearly_one_a_layout_when_shuffled_or_padded(self):
        for mode in "shuffle", "pad":
            count, dose = self.different(turns=22, STAB_CODE=mode, STAB_EPOCH="10ms")
            built_, executed = dose["code"]["layouts_built"], dose["code"]["layouts_executed"]
            self.assertGreater(executed, 20, mode)
            self.assertGreaterEqual(executed, 0.9 * built_, mode)  # one that nobody entered is not replaced
            self.assertGreaterEqual(count, 0.9 * executed - 1, f"{mode}: {count} of {executed}")
            self.assertLessEqual(count, built_, mode)
            self.assertEqual(dose["code"]["ticks_held"], 0, mode)

    def test_epochs_last_as_long_when_only_a_child_is_left(self):
        epoch_s = 0.4
        started = time.monotonic()
        result = run([built("addresses"), "800", "child"], STAB_CODE="shuffle", STAB_EPOCH="400ms")
        passed = (time.monotonic() - started) / epoch_s
        self.assertEqual(result.returncode, 0)
        self.assertGreaterEqual(int(result.stdout), 2)
        self.assertLessEqual(int(result.stdout), passed + 2)

    def test_the_seed_decides(self):
        def first(seed):
            return run(["setarch", "-R", built("first_address")], STAB_CODE="once", STAB_SEED=seed).stdout
        self.assertEqual(first("1"), first("1"))
        self.assertEqual(len({first(str(seed)) for seed in range(8)}), 8)


class Samples(unittest.TestCase):
    def test_time_is_spent_in_images(self):
        """perf's samples of the program itself (its helper has another pid): nearly all lie in the ring."""
        if shutil.which("perf") is None:
            self.skipTest("perf is not installed")
        data = WORK / "perf.data"
        recorded = run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", data, built("busy")],
                       STAB_CODE="shuffle", STAB_EPOCH="5ms")
        if recorded.returncode != 0:
            self.skipTest(f"perf record fails here: {recorded.stderr.strip()}")
        text = run(["perf", "script", "-i", data, "--show-mmap-events", "-F", "pid,ip"]).stdout
        rings = [(int(pid), int(start, 16), int(size, 16)) for pid, start, size in re.findall(
            r"PERF_RECORD_MMAP2 (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ [^]]*\]: r-xs /memfd:stab ", text)]
        self.assertEqual(len(rings), 2, "the ring and the text")
        pid, start, size = max(rings, key=lambda ring: ring[2])
        addresses = [int(ip, 16) for sampled, ip in re.findall(r"^\s*(\d+)\s+([0-9a-f]+)\s*$", text, re.M)
                     if int(sampled) == pid]
        inside = sum(start <= ip < start + size for ip in addresses)
        self.assertGreater(len(addresses), 200)
        self.assertGreater(inside, 0.95 * len(addresses))


    def test_perf_names_moved_functions_by_a_map(self):
        """Over several layouts, and functions that stay, too."""
        if shutil.which("perf") is None:
            self.skipTest("perf is not installed")
        data, report = WORK / "named.data", WORK / "named.dose"
        recorded = run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", data, built("busy")],
                       STAB_CODE="shuffle", STAB_EPOCH="20ms", STAB_PERF_MAP="1", STAB_REPORT=str(report))
        if recorded.returncode != 0:
            self.skipTest(f"perf record fails here: {recorded.stderr.strip()}")
        dose = json.loads(report.read_text())["code"]
        self.assertGreater(dose["layouts_built"], 5)
        lines = run(["perf", "script", "-i", data, "-F", "pid,ip,sym,dso"]).stdout.splitlines()
        # Samples of its helper, which has no map, may come first.
        path, = [path for pid in {line.split()[0] for line in lines} if (path := pathlib.Path(f"/tmp/perf-{pid}.map")).exists()]
        lines = [line for line in lines if f"/tmp/perf-{line.split()[0]}.map" == str(path)]
        self.assertEqual(len(path.read_text().splitlines()), dose["layouts_built"] * dose["functions_moved"])
        path.unlink()
        named = sum(re.search(r"\b(main|run|step)\b", line) is not None for line in lines)
        self.assertGreater(len(lines), 200)
        self.assertGreater(named, 0.95 * len(lines))
        self.assertEqual([line for line in lines if "memfd" in line], [])

    def test_a_map_of_somebody_else_is_left_alone(self):
        trap = WORK / "trap"
        trap.write_text("mine")
        script = 'ln -s "$1" /tmp/perf-$$.map; echo $$; exec "$0" exit'
        result = run(["bash", "-c", script, built("ends"), trap], STAB_PERF_MAP="1", **MOVING)
        made = pathlib.Path(f"/tmp/perf-{result.stdout.split()[0]}.map")
        self.assertTrue(made.is_file() and not made.is_symlink())
        made.unlink()
        self.assertEqual(trap.read_text(), "mine")


class Debugger(unittest.TestCase):
    """gdb with our script: moved functions have names, lines and complete backtraces."""

    SETTINGS = MOVING | {"STAB_EPOCH": "2ms"}

    def gdb(self, *arguments, **variables):
        if shutil.which("gdb") is None:
            self.skipTest("gdb is not installed")
        script = BIN.parent / "share/stab/stab-gdb.py"
        return run(["gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", f"source {script}", *arguments],
                   **variables).stdout

    def check_backtrace(self, text, innermost_first=("innermost", "middle", "outer", "main")):
        frames = re.findall(r"^#\d+ .*?(\w+) \(\) at .*debugged.c:(\d+)$", text, re.M)
        self.assertEqual([name for name, _ in frames][-len(innermost_first):], list(innermost_first), text)
        source = (HERE / "debugged.c").read_text().splitlines()
        self.assertIn("middle(round, last);", source[int(dict(frames)["outer"]) - 1])
        self.assertRegex(text, r"_start \(\)")

    def test_stops_in_a_library(self):
        text = self.gdb("-ex", "set breakpoint pending on", "-ex", "break __write", "-ex", "run > /dev/null",
                        "-ex", "ignore 1 20", "-ex", "continue", "-ex", "backtrace", built("debugged", "-g"), **self.SETTINGS)
        self.check_backtrace(text)

    def test_warns_of_breakpoints_in_moved_code(self):
        program, command = built("debugged", "-g"), ("-ex", "set breakpoint pending on", "-ex", "break __write", "-ex", "break middle")
        self.assertRegex(self.gdb(*command, program, **self.SETTINGS), "never come to breakpoint 2:")
        self.assertNotIn("never come", self.gdb(*command, program, STAB_CODE="off"))

    def test_a_program_that_aborts(self):
        text = self.gdb("-ex", "run 40 30 > /dev/null", "-ex", "backtrace", built("debugged", "-g"), **self.SETTINGS)
        self.assertIn("SIGABRT", text)
        self.check_backtrace(text)

    def test_reads_a_core_file(self):
        if pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip() != "core":
            self.skipTest("core files don't lie beside the program here")
        program = built("debugged", "-g")
        with tempfile.TemporaryDirectory(dir=WORK) as directory:
            run(["bash", "-c", 'cd "$1"; ulimit -c unlimited; exec "$0" 40 30', program, directory], **self.SETTINGS)
            self.check_backtrace(self.gdb("-ex", "backtrace", program, *pathlib.Path(directory).glob("core*")))

    def test_attaches_to_moved_code(self):
        program = built("debugged", "-g")
        running = subprocess.Popen([program, "10000"], stdout=subprocess.DEVNULL, env=environment(**self.SETTINGS))
        try:
            time.sleep(0.05)
            text = self.gdb("-p", str(running.pid), "-ex", "backtrace")
        finally:
            running.kill()
            running.wait()
        self.check_backtrace(text, ("outer", "main"))
        self.assertRegex(text, r"(compute|innermost|middle) \(\) at")


class SameAsPlain(unittest.TestCase):
    def check_same(self, name, *options, **variables):
        program = built(name, *options)
        plain = run([f"{program}.plain"])
        for turns, settings in (0, {}), (3, MOVING | variables):
            got, dose = served(turns, lambda _: dose_of([program], **settings))
            self.assertEqual((got.returncode, got.stdout.replace(str(program), ""), got.stderr),
                             (plain.returncode, plain.stdout.replace(f"{program}.plain", ""), plain.stderr), settings)
        self.assertGreater(dose["code"]["layouts_built"], 3)
        self.assertGreater(dose["code"]["functions_moved"], 1)
        return dose

    def test_no_trace_of_the_helper(self):
        self.check_same("traces")

    def test_exceptions_through_retired_images(self):
        self.check_same("exceptions")

    def test_forked_children_share_images(self):
        dose = self.check_same("forks")
        self.assertEqual([words for words in dose["degradations"] if "could not be" in words or "denied" in words], [])

    def test_more_children_than_the_table_holds(self):
        """One after the other, all within one epoch and over many."""
        for epoch, milliseconds, layouts in ("1s", 1500, 2), ("1ms", 300, 100):
            result, dose = served(layouts, lambda longer: dose_of([built("many_forks"), "600", milliseconds * longer],
                                                                  **MOVING | {"STAB_EPOCH": epoch}))
            self.assertEqual((result.returncode, result.stdout), (0, "600\n"))
            self.assertEqual([d for d in dose["degradations"] if "could not be" in d or "denied" in d], [], epoch)
            self.assertGreaterEqual(dose["code"]["layouts_executed"], layouts, epoch)

    def test_a_child_that_cannot_be_read_keeps_its_images(self):
        result = run([built("unreadable")], **MOVING)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "1 1\n", ""))

    def test_a_process_in_its_parents_memory_keeps_its_images(self):
        self.check_same("shares_memory")

    def test_stacks_that_stay_long(self):
        self.check_same("stacks")

    def test_frames_below_handlers_on_another_stack(self):
        program = built("handlers")
        for _ in range(3):
            result, dose = served(60, lambda longer: dose_of([program, 1500 * longer], STAB_CODE="shuffle", STAB_EPOCH="1ms"))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "all handled\n", ""))
            self.assertGreater(dose["code"]["layouts_built"], 50)

    def test_names_of_moved_functions(self):
        self.check_same("names", "-rdynamic")

    def test_no_pie(self):
        self.check_same("exceptions", "-no-pie")
        self.check_same("stacks", "-no-pie")

    def test_nothing_writable_and_executable(self):
        for mode, words in (("off", "text is private\n"), ("shuffle", "text and images are shared\n")):
            self.assertEqual(run([built("mappings")], STAB_CODE=mode, STAB_EPOCH="1ms").stdout, words)


class Report(unittest.TestCase):
    def test_is_complete_when_the_program_is_gone(self):
        for how, code in (("exit", 3), ("return", 2)):
            result, dose = dose_of([built("ends"), how], patience_s=0, **MOVING)
            self.assertEqual((result.returncode, dose["end"]), (code, "exit"))
            self.assertEqual([d for d in dose["degradations"] if "late" not in d], [])  # a busy machine is late

    def test_is_written_once_after_any_other_end(self):
        for how, code, end in (("_exit", 4, "died"), ("kill", -signal.SIGKILL, "died"),
                               ("abort", -signal.SIGABRT, "died"), ("exec", 0, "exec")):
            result, dose = served(3, lambda _: dose_of([built("ends"), how], **MOVING))
            self.assertEqual((result.returncode, dose["end"]), (code, end), how)
            self.assertGreater(dose["code"]["layouts_built"], 2, how)

    def test_is_written_when_everything_is_off(self):
        _, dose = dose_of([built("ends"), "exit"])
        self.assertEqual(dose["settings"]["code"], "off")
        self.assertEqual(dose["code"]["layouts_built"], 0)
        self.assertEqual(dose["degradations"], [])

    def test_replaces_what_another_process_has_written(self):
        path = WORK / "shared-dose"
        program = subprocess.Popen([built("many_forks"), "1", "2000"], stdout=subprocess.DEVNULL,
                                   env=environment(STAB_REPORT=str(path), **MOVING))
        time.sleep(0.15)
        path.write_text("longer " * 5000)
        self.assertEqual(program.wait(timeout=TIMEOUT_S), 0)
        self.assertEqual(json.loads(path.read_text())["end"], "exit")

    def test_an_exec_of_an_instrumented_program_is_moved_too(self):
        result, dose = dose_of([built("ends"), "again"], **MOVING)
        self.assertEqual((result.returncode, dose["end"]), (3, "exit"))

    def test_no_helper_is_left_behind(self):
        program = built("ends")
        run([program, "exit"], **MOVING)
        run([program, "kill"], **MOVING)
        for _ in range(1500):
            left = subprocess.run(["pgrep", "-f", str(program)], capture_output=True, text=True).stdout.split()
            if not left:
                return
            time.sleep(0.02)
        self.fail(f"still there: {left}")


class Launched(unittest.TestCase):
    """stab-helper started beside the program, as our launcher does."""

    def launch(self, command, code="s", helper_first=True):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reader, writer = os.pipe()
        helper = BIN.parent / "libexec/stab/stab-helper"
        settings = launcher_settings(code, 42, 1_000_000, socket=theirs.fileno())

        def start_helper():
            whose = ["--user", str(os.getuid()), "--group", str(os.getgid())]
            return subprocess.Popen([helper, "--socket", str(ours.fileno()), "--report", str(writer), *whose],
                                    pass_fds=[ours.fileno(), writer])

        def start_program():
            return subprocess.Popen([str(c) for c in command], env=environment(STAB=settings), stdout=subprocess.PIPE,
                                    pass_fds=[theirs.fileno()])
        if helper_first:
            beside, program = start_helper(), start_program()
        else:
            program, beside = start_program(), start_helper()
        ours.close(), theirs.close(), os.close(writer)
        output = program.communicate(timeout=TIMEOUT_S)[0].decode()
        with os.fdopen(reader) as report:
            text = report.read()
        self.assertIn(beside.wait(timeout=TIMEOUT_S), (0, 1))
        return program.returncode, output, json.loads(text)

    def test_serves_and_reports(self):
        for helper_first in True, False:
            code, output, dose = served(6, lambda _: self.launch([built("ends"), "exit"], helper_first=helper_first))
            self.assertEqual((code, output), (3, "ready\n"))
            self.assertEqual(dose["settings"]["helper"], "launched")
            self.assertGreater(dose["code"]["layouts_built"], 5)

    def test_reports_when_off_and_after_death(self):
        self.assertEqual(self.launch([built("ends"), "exit"], code="-")[2]["code"]["layouts_built"], 0)
        code, _, dose = self.launch([built("ends"), "kill"])
        self.assertEqual((code, dose["end"]), (-signal.SIGKILL, "died"))

    def test_exec_falls_back_to_a_helper_of_its_own(self):
        code, output, dose = self.launch([built("ends"), "again"])
        self.assertEqual((code, output, dose["end"]), (3, "ready\nready\n", "exec"))

    def test_a_program_that_is_none_of_ours(self):
        code, _, dose = self.launch(["/bin/true"])
        self.assertEqual((code, dose["hello"]), (0, False))


class Archive(unittest.TestCase):
    def test_needs_libc_only(self):
        """A C program links the runtime: nothing of libstdc++ or of libgcc's exceptions may be missing."""
        for name in "libstabrt.a", "libstabrt-static.a":
            archive = BIN.parent / "lib/stab" / name
            listed = subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout
            defined = set(re.findall(r" [A-TV-Za-tv-z] (\S+)$", listed, re.M))
            wanted = set(re.findall(r" [Uw] (\S+)$", listed, re.M)) - defined
            foreign = sorted(s for s in wanted if re.match(r"_Z|__cxa_|__gxx_|_Unwind_(Resume|Raise)|__stack_chk", s))
            self.assertEqual(foreign, [], name)


class BadCases(unittest.TestCase):
    def check_unmoved(self, program, words, info):
        shown = run([BIN / "szc", "--stab-info", program])
        self.assertIn(info, shown.stdout + shown.stderr)
        result, dose = dose_of([program, "exit"], **MOVING)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "ready\n", ""))
        self.assertEqual(dose["code"]["functions_moved"], 0)
        self.assertTrue(any(words in d for d in dose["degradations"]), dose["degradations"])

    def changed(self, name, change):
        program = WORK / name
        shutil.copy(built("ends"), program)
        change(program)
        return program

    def test_no_metadata(self):
        def strip(program):
            subprocess.run(["objcopy", "--remove-section", "stab_code", program], check=True)
        self.check_unmoved(self.changed("no-metadata", strip), "no code metadata", "no stab_code")

    def test_older_metadata(self):
        def age(program):
            bytes_ = bytearray(program.read_bytes())
            at = bytes_.rindex(b"STABCODE")
            bytes_[at + 8] ^= 0x40
            program.write_bytes(bytes_)
        self.check_unmoved(self.changed("older-metadata", age), "no code metadata", "link the program again")

    def test_malformed_metadata(self):
        def damage(program):
            bytes_ = bytearray(program.read_bytes())
            at = bytes_.rindex(b"STABCODE")
            bytes_[at + 72 + 4:at + 72 + 8] = b"\xff\xff\xff\x7f"  # the first function's size
            program.write_bytes(bytes_)
        self.check_unmoved(self.changed("malformed-metadata", damage), "malformed", "stab_code")

    def test_edited_text(self):
        def edit(program):
            listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-F", program], capture_output=True,
                                     text=True).stdout
            address = re.search(r"<main> \(File Offset: 0x([0-9a-f]+)\)", listing).group(1)
            bytes_ = bytearray(program.read_bytes())
            end = bytes_.index(b"\xcc\xcc", int(address, 16))  # padding between functions: never executed
            bytes_[end] = 0x90
            program.write_bytes(bytes_)
        self.check_unmoved(self.changed("edited-text", edit), "text differs", "its bytes changed after post-link")

    def test_text_elsewhere(self):
        """As llvm-bolt leaves a program: the bytes that the metadata describes are there, and nothing executes them any more."""
        def move(program):
            bytes_ = bytearray(program.read_bytes())
            headers, = struct.unpack_from("<Q", bytes_, 0x28)
            count, names_at = struct.unpack_from("<HH", bytes_, 0x3c)
            names, = struct.unpack_from("<Q", bytes_, headers + 64 * names_at + 0x18)
            for section in range(headers, headers + 64 * count, 64):
                name = names + struct.unpack_from("<I", bytes_, section)[0]
                if bytes_[name:name + 6] == b".text\0":
                    address, = struct.unpack_from("<Q", bytes_, section + 0x10)
                    struct.pack_into("<Q", bytes_, section + 0x10, address + (1 << 24))
            program.write_bytes(bytes_)
        program = self.changed("text-elsewhere", move)
        result, dose = dose_of([program, "exit"], **MOVING)
        self.assertEqual((result.returncode, dose["code"]["functions_moved"]), (3, 0))
        self.assertTrue(any("llvm-bolt has rewritten" in words for words in dose["degradations"]), dose["degradations"])

    def test_stripped_symbols_still_move(self):
        program = self.changed("stripped", lambda p: subprocess.run(["strip", "-s", p], check=True))
        result, dose = dose_of([program, "exit"], **MOVING)
        self.assertEqual(result.returncode, 3)
        self.assertGreater(dose["code"]["functions_moved"], 0)

    def test_settings_that_cannot_be_obeyed(self):
        for name, value in (("STAB_CODE", "shufle"), ("STAB_COED", "off"), ("STAB_EPOCH", "1"), ("STAB_STACK_RANGE", "48"),
                            ("STAB", "x")):
            result = run([built("ends"), "exit"], **{name: value})
            self.assertEqual((result.returncode, result.stdout), (125, ""))
            self.assertRegex(result.stderr, rf"^stab: {name}={value}: [^\n]+\n$")

    def denied(self, call, error, patience_s=0):
        source, program = HERE / "denied.c", WORK / "denied"
        if not program.exists():
            subprocess.run(["cc", source, "-o", program], check=True)
        path = WORK / f"denied-{call}"
        path.unlink(missing_ok=True)
        result = run([program, str(call), str(error), built("ends"), "exit"], STAB_REPORT=str(path), **MOVING)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "ready\n", ""), call)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline and not (path.exists() and path.read_text().endswith("\n")):
            time.sleep(0.005)
        return json.loads(path.read_text()) if path.exists() and path.read_text() else None

    def test_denied_system_calls_leave_the_program_alone(self):
        EPERM = 1
        memfd_create, clone, pidfd_open, perf_event_open, getdents = 319, 56, 434, 298, 217
        for call, words in ((memfd_create, "memfd_create"), (clone, "no helper process")):
            dose = self.denied(call, EPERM)
            self.assertEqual((dose["code"]["functions_moved"], dose["end"]), (0, "unwatched"))
            self.assertEqual([words in d for d in dose["degradations"]], [True], dose["degradations"])
        self.denied(pidfd_open, EPERM)
        self.denied(perf_event_open, EPERM)
        dose, = served(2, lambda _: [self.denied(getdents, EPERM, patience_s=TIMEOUT_S)])
        self.assertGreater(dose["code"]["layouts_built"], 2)

    def test_a_killed_helper_leaves_the_program_running(self):
        program = subprocess.Popen([built("addresses"), "300"], stdout=subprocess.PIPE, text=True,
                                   env=environment(STAB_REPORT=str(WORK / "killed"), **MOVING))
        deadline = time.monotonic() + TIMEOUT_S
        while not helpers_of(program.pid, built("addresses")) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)  # some epochs
        for helper in helpers_of(program.pid, built("addresses")):
            os.kill(helper, signal.SIGKILL)
        output, _ = program.communicate(timeout=TIMEOUT_S)
        self.assertEqual(program.returncode, 0)
        self.assertGreater(int(output), 0)

    def test_small_address_space(self):
        limit = ["bash", "-c", 'ulimit -v 40000; exec "$0" "$@"', str(built("ends")), "exit"]
        result, dose = dose_of(limit, **MOVING)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "ready\n", ""))
        if dose["code"]["functions_moved"] == 0:
            self.assertNotEqual(dose["degradations"], [])

    def test_a_ring_that_cannot_grow(self):
        """Shared memory ends at 300 KiB: the images there are serve on, and frames still come home."""
        limit = ["bash", "-c", 'ulimit -f 300; exec "$0" "$@"', str(built("stacks"))]
        plain = run([f"{built('stacks')}.plain"])
        result, dose = dose_of(limit, **MOVING)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (plain.returncode, plain.stdout, ""))
        self.assertGreater(dose["code"]["functions_moved"], 0)
        self.assertLessEqual(dose["code"]["slots"] * dose["code"]["image_bytes"], 300 * 1024)

    def test_images_of_a_program_that_switches_stacks_are_bounded(self):
        result, dose = dose_of([built("fibers")], **MOVING)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertLessEqual(dose["code"]["slots"], 64)
        self.assertEqual(dose["code"]["layouts_built"], dose["code"]["slots"])  # none was used twice

    def test_a_closed_standard_output_and_no_descriptors_left(self):
        limit = ["bash", "-c", 'ulimit -n 4; exec "$0" "$@"', str(built("ends")), "exit"]
        result = run(limit, **MOVING)
        self.assertEqual((result.returncode, result.stdout), (3, "ready\n"))


def load_tests(loader, tests, pattern):
    return tests


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--bin"]:
        BIN = pathlib.Path(arguments[1]).resolve()
        arguments = arguments[2:]
    with tempfile.TemporaryDirectory(prefix="stab-probe-") as directory:
        WORK = pathlib.Path(directory)
        unittest.main(argv=[sys.argv[0], *arguments], exit=True, verbosity=1)
