#!/usr/bin/env python3
"""Programs that try to turn or to stop their helper: it keeps the rights it was given and never ends by a signal.

    hostile_test.py --bin BUILD/bin [unittest arguments]
"""
import ctypes
import json
import math
import mmap
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "plans/benchmarks"))
sys.dont_write_bytecode = True
from launcher_settings import ABI_VERSION, launcher_settings  # noqa: E402
from served import quickest, served  # noqa: E402

TIMEOUT_S = 60
BIN = pathlib.Path("build/release/bin")
WORK = None
MAGIC = 0x37524550_4C454853
PAGE = 4096
# runtime/helper/handshake_messages.h. Settings: code, stack, heap, seed, epoch_ns and visits, helper_cpu, helper_socket, report,
# perf_map, range, simulated
SETTINGS = struct.Struct("<BBB5xQQQiii?3xI?3x")
HELLO = struct.Struct(f"<QII{SETTINGS.size}siIQQQQQIIQQQIII4x")
MAPPED = struct.Struct("<QIIIIIIQQ")
BOARD_BYTES = 540672  # runtime/progress/board.h
PLAN = struct.Struct("<11Q2I")
GREETING = struct.Struct("<QIi")
SHUFFLE, STACK_ON = 3, 2
MEMORY, MAPS, DIRECTORY, PIDFD, EXECUTABLE = range(5)


def environment(**variables):
    return {k: v for k, v in os.environ.items() if not k.startswith("STAB")} | variables


def built(name):
    """Built by our driver, once."""
    program = WORK / name
    if not program.exists():
        source = next(path for folder in (HERE, HERE.parent / "programs") for path in folder.glob(name + ".c"))
        subprocess.run([BIN / "szc", source, "-O2", "-pthread", "-o", program], check=True)
    return program


def other_user():
    """Whose program the helper serves: somebody else where we are root, who alone can choose."""
    return (64901, 64902) if os.geteuid() == 0 else (os.getuid(), os.getgid())


def become_other_user():
    """As a program that was started so: what is ours in /proc is ours to open."""
    user, group = other_user()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        PR_SET_DUMPABLE = 4
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


class Helper:
    """stab-helper beside a program, as the engine starts it. `program_end` is the socket that the program gets."""

    def __init__(self, *options):
        self.program_end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reader, writer = os.pipe()
        if not options:
            options = ["--user", str(other_user()[0]), "--group", str(other_user()[1])]
        self.process = subprocess.Popen(
            [BIN.parent / "libexec/stab/stab-helper", "--socket", str(theirs.fileno()), "--report", str(writer), *options],
            pass_fds=[theirs.fileno(), writer], stderr=subprocess.PIPE, text=True)
        theirs.close()
        os.close(writer)
        self.report = os.fdopen(reader)

    def end(self, patience_s=15.0, errors="strict"):
        """(exit status, report) once it has reported."""
        self.program_end.close()
        deadline = time.monotonic() + patience_s
        text = ""
        while select.select([self.report], [], [], max(0.0, deadline - time.monotonic()))[0]:
            part = os.read(self.report.fileno(), 65536).decode(errors=errors)
            if not part:
                break
            text += part
        else:
            self.process.kill()
            self.process.wait()
            self.close()
            raise AssertionError(f"the helper hangs; its report so far: {text!r}")
        try:
            status = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it serves forked children, or what it was told are some
            self.process.terminate()
            status = self.process.wait(timeout=10)
            status = 0 if status == -signal.SIGTERM else status
        self.close()
        return status, text

    def close(self):
        self.report.close()
        self.process.stderr.close()
        self.program_end.close()

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


def start_beside(helper, *command, stdin=None):
    """A program of ours beside this helper, as the engine starts it: code moves each millisecond."""
    user, group = other_user()
    launched = {"user": user, "group": group, "extra_groups": []} if os.geteuid() == 0 else {}
    end = helper.program_end.fileno()
    return subprocess.Popen([str(word) for word in command], pass_fds=[end], cwd="/", stdin=stdin,
                            stdout=subprocess.PIPE, **launched,
                            env=environment(STAB=launcher_settings("s", 7, 1_000_000, socket=end)))


def given_up(dose):
    """The degradations that say that something couldn't be looked at."""
    return [words for words in dose["degradations"] if re.search("could not be|can't be|denied", words)]


def settings(code=SHUFFLE, stack=STACK_ON, heap=0, epoch_ns=1_000_000, epoch_visits=0, perf_map=False, stack_range=4096):
    return SETTINGS.pack(code, stack, heap, 42, epoch_ns, epoch_visits, -1, -1, -1, perf_map, stack_range, False)


class Impostor:
    """A forked child that speaks the program's part by hand: what it says, hands and does can be anything."""

    def __init__(self, executable):
        self.region = mmap.mmap(-1, 16 * PAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.region))
        self.executable = executable

    def hello(self, pid, handed=(1 << 5) - 1, **changes):
        pads = self.address + 4 * PAGE
        fields = {"magic": MAGIC, "version": ABI_VERSION, "handed": handed, "settings": settings(), "pid": pid,
                  "text_relocations": 0, "nonce": 7, "bias": 0x555555554000, "pads_address": pads, "pads_bytes": 2 * PAGE,
                  "slots_address": pads + 16, "slot_count": 1200, "unwinder": 0, "control_address": self.address,
                  "signal_return": 0, "degradations": 0, "may_load": 0, "of_host": 0, "stacks_switch": 0} | changes
        return HELLO.pack(*fields.values())

    @staticmethod
    def mapped(**changes):
        fields = {"magic": MAGIC, "text": 1, "pads": 1, "control": 1, "slots": 8, "board": 1, "libraries": 0,
                  "ring_address": 0x540000000000, "degradations": 0} | changes
        return MAPPED.pack(*fields.values())

    def descriptors(self):
        return [os.open("/proc/self/mem", os.O_RDWR), os.open("/proc/self/maps", os.O_RDONLY),
                os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY), os.pidfd_open(os.getpid()),
                os.open(self.executable, os.O_RDONLY)]

    def speak(self, helper, hello=None, mapped=None, hand=None, after=None, on_board=None, stays_s=0.004):
        """Forks; the child shakes hands with the helper and ends. `hello` and `mapped` change the bytes, `hand` the
        descriptors, `after` gets the shared control block (or None), `on_board` the board of progress points."""
        child = os.fork()
        if child != 0:
            if os.waitpid(child, 0)[1] != 0:
                raise AssertionError("the impostor failed")
            return
        try:
            become_other_user()
            end = helper.program_end
            end.settimeout(TIMEOUT_S)
            end.recv(100)
            own = self.descriptors()
            if hand:
                own = hand(own)
            said = self.hello(os.getpid())
            socket.send_fds(end, [hello(said) if hello else said], own)
            plan, made, _, _ = socket.recv_fds(end, 200, 8)
            if plan:
                told = self.mapped()
                end.send(mapped(told) if mapped else told)
                end.recv(100)
            control = mmap.mmap(made[0], 2 * PAGE) if made else None
            if after:
                after(control)
            if on_board:
                on_board(mmap.mmap(made[1], BOARD_BYTES))
            time.sleep(stays_s)
        except (BrokenPipeError, ConnectionResetError):  # the helper has hung up
            pass
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        finally:
            os._exit(0)


class Rights(unittest.TestCase):
    def test_a_helper_of_root_is_told_whose(self):
        if os.geteuid() != 0:
            self.skipTest("only root can start a helper of root")
        helper = Helper("--cpu", "0")
        self.assertIn("started as root without --user", helper.process.stderr.read())
        self.assertEqual(helper.end(), (2, ""))
        usage = subprocess.run([BIN.parent / "libexec/stab/stab-helper", "--socket", "3", "--user", "5"], capture_output=True,
                               text=True)
        self.assertEqual((usage.returncode, "usage: stab-helper" in usage.stderr), (2, True))

    def test_another_user_is_refused_without_root(self):
        others = [["setpriv", "--reuid=64901", "--regid=64902", "--clear-groups"], ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]]
        for user in others if os.geteuid() == 0 else [[]]:
            done = subprocess.run([*user, BIN.parent / "libexec/stab/stab-helper", "--socket", "1", "--user", "64903", "--group", "64902"],
                                  capture_output=True, text=True, timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 2)
            self.assertIn("has no right to become it", done.stderr)

    def check_given_up(self, helper):
        user, group = other_user()
        deadline = time.monotonic() + TIMEOUT_S
        while helper.status().get("Seccomp") != "2" and time.monotonic() < deadline:
            time.sleep(0.005)
        status = helper.status()
        self.assertEqual((status["Uid"].split(), status["Gid"].split()), ([str(user)] * 4, [str(group)] * 4))
        if os.geteuid() == 0:
            self.assertEqual(status["Groups"], "")
        for name in "CapInh", "CapPrm", "CapEff", "CapAmb":
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        limits = pathlib.Path(f"/proc/{helper.process.pid}/limits").read_text() if os.geteuid() == 0 else ""
        for name, most in ("core file size", 0), ("open files", 1024), ("address space", 6 << 30):
            found = re.search(rf"Max {name} +(\d+) +(\d+)", limits)
            self.assertTrue(not limits or found and int(found[1]) == int(found[2]) <= most, limits)

    def test_is_the_user_it_was_given_before_the_first_byte(self):
        helper = Helper()
        self.check_given_up(helper)
        helper.end()

    def test_stays_that_user_whatever_directory_is_handed(self):
        """The owner of a directory that the program sends is not who it serves: `/`, another user's home."""
        for directory in "/", "/root", str(WORK):
            helper = Helper()

            def hand(own, directory=directory):
                try:
                    own[DIRECTORY] = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_PATH)
                except OSError:
                    pass
                return own
            speaker = threading.Thread(target=lambda: Impostor(built("ends")).speak(helper, hand=hand, stays_s=0.2))
            speaker.start()
            time.sleep(0.1)
            self.check_given_up(helper)
            speaker.join()
            status, text = helper.end()
            self.assertIn(status, (0, 1))
            self.assertTrue(text.endswith("\n"))

    def test_serves_as_well_with_no_more_rights_than_the_program(self):
        """Threads that run and that sleep, stacks, children by fork and by hand: all are looked at, none ends the helper."""
        for name, *words in (("addresses", "400"), ("many_threads",), ("births", "500"), ("deep_stack",), ("forks",),
                             ("children",), ("many_forks", "300", "300"), ("signals",), ("exec_in_thread",)):
            def run(_, name=name, words=words):
                helper = Helper()
                program = start_beside(helper, built(name), *words)
                program.communicate(timeout=TIMEOUT_S)
                status, text = helper.end()
                self.assertIn(status, (0, 1), (name, text))
                self.assertEqual(program.returncode, 0, name)
                return [json.loads(text)]
            dose, = served(1, run)
            self.assertGreater(dose["code"]["layouts_built"], 1, name)
            self.assertEqual(given_up(dose), [], name)

    def test_threads_that_come_and_go_stop_nothing(self):
        """Born and ended by thousands a second, on a machine with other things to do, none is a thread that can't be read,
        and images are reused."""
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            for _ in range(4):
                helper = Helper()
                program = start_beside(helper, built("births"), "800")
                program.communicate(timeout=TIMEOUT_S)
                status, text = helper.end()
                self.assertEqual((program.returncode, status), (0, 0))
                self.assertEqual(given_up(json.loads(text)), [])
        finally:
            for other in others:
                other.kill()
                other.wait()

    def test_goes_on_after_it_was_stopped(self):
        """An interrupted sleep is restarted by a system call of its own."""
        helper = Helper()
        program = start_beside(helper, built("addresses"), "400")
        for _ in range(10):
            helper.process.send_signal(signal.SIGSTOP)
            time.sleep(0.005)
            helper.process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        program.communicate(timeout=TIMEOUT_S)
        self.assertEqual(program.returncode, 0)
        self.assertEqual(helper.end()[0], 0)

    def test_its_memory_is_shut_to_its_program(self):
        helper = Helper()
        self.check_given_up(helper)
        user, group = other_user()
        code = f"open('/proc/{helper.process.pid}/mem', 'rb')"
        drop = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"] if os.geteuid() == 0 else []
        tried = subprocess.run([*drop, "python3", "-Sc", code], capture_output=True, text=True, cwd="/")
        self.assertIn("PermissionError", tried.stderr)
        helper.end()

    def test_the_images_are_its_own_to_write(self):
        """None of the memory can shrink, and the program can't write the images."""
        helper = Helper()
        said = WORK / "seals"
        said.write_text("")
        said.chmod(0o666)
        impostor = Impostor(built("ends"))
        child = os.fork()
        if child == 0:
            try:
                become_other_user()
                helper.program_end.recv(100)
                socket.send_fds(helper.program_end, [impostor.hello(os.getpid())], impostor.descriptors())
                _, made, _, _ = socket.recv_fds(helper.program_end, 200, 8)
                answers = []
                for change in (lambda: os.ftruncate(made[0], 0), lambda: os.ftruncate(made[1], 0),
                               lambda: os.ftruncate(made[2], 0), lambda: mmap.mmap(made[2], PAGE),
                               lambda: os.pwrite(made[2], b"x", 0),
                               lambda: os.pwrite(os.open(f"/proc/self/fd/{made[2]}", os.O_RDWR), b"x", 0)):
                    try:
                        change()
                        answers.append("done")
                    except OSError as error:
                        answers.append(type(error).__name__)
                said.write_text(" ".join(answers))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        helper.end()
        self.assertEqual(said.read_text(), " ".join(["PermissionError"] * 6))


class Words(unittest.TestCase):
    """What a program says, and what it hands."""

    def check(self, what, **how):
        helper = Helper()
        Impostor(built("ends")).speak(helper, **how)
        status, text = helper.end()
        self.assertIn(status, (0, 1), f"{what}: {signal.Signals(-status).name if status < 0 else status}")
        self.assertTrue(text.endswith("\n"), what)
        return json.loads(text)

    def test_the_impostor_is_served(self):
        dose, = served(6, lambda longer: [self.check("nothing changed", after=enter_all, stays_s=0.1 * longer)])
        self.assertTrue(dose["hello"])
        self.assertGreater(dose["code"]["functions_moved"], 1)
        self.assertGreater(dose["code"]["layouts_built"], 5)
        self.assertGreater(dose["stack"]["refills"], 5)

    def test_mutated_words(self):
        draw = random.Random(17)

        def mutated(said):
            changed = bytearray(said)
            for _ in range(draw.choice((1, 1, 2, 4))):
                at = draw.randrange(len(changed) // 4) * 4
                word = draw.choice((0, 1, 3, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, PAGE, draw.getrandbits(32), draw.getrandbits(8)))
                changed[at:at + 4] = struct.pack("<I", word)
            return bytes(changed[:draw.choice((len(changed),) * 20 + (0, 8, len(changed) - 1))])
        for round_ in range(300):
            which = ("hello", "mapped")[round_ % 2]
            self.check(f"round {round_}", **{which: mutated}, stays_s=0.002)

    def test_chosen_words(self):
        impostor = Impostor(built("ends"))
        hellos = [{"settings": settings(code=200)}, {"settings": settings(stack=77)}, {"settings": settings(heap=255)},
                  {"settings": settings(epoch_visits=1)}, {"settings": settings(stack_range=0x80000000)},
                  {"settings": settings()[:44] + b"\x02" + settings()[45:]}, {"settings": settings(perf_map=True)},
                  {"slots_address": 0x1000}, {"slots_address": impostor.address - PAGE}, {"slot_count": 0xFFFFFFFF},
                  {"slot_count": 1 << 30, "pads_bytes": 1 << 32}, {"pads_bytes": 1 << 40}, {"pads_address": 0},
                  {"bias": (1 << 64) - PAGE}, {"control_address": (1 << 64) - PAGE}, {"pid": -1}, {"pid": 1}, {"nonce": 0},
                  {"slots_address": 0x555555554000 + PAGE, "pads_address": 0x555555554000 + PAGE, "slot_count": 1 << 24,
                   "pads_bytes": 1 << 26}]
        for changes in hellos:
            self.check(changes, hello=lambda _, changes=changes: impostor.hello(**{"pid": os.getpid()} | changes))
        for changes in ({"slots": 0xFFFFFFFF}, {"slots": 65}, {"slots": 1}, {"slots": 0}, {"ring_address": 1},
                        {"ring_address": (1 << 64) - PAGE}, {"control": 0}, {"text": 2}, {"degradations": (1 << 64) - 1}):
            self.check(changes, mapped=lambda _, changes=changes: impostor.mapped(**changes), after=enter_all, stays_s=0.1,
                       hello=lambda _: impostor.hello(os.getpid(), settings=settings(epoch_ns=100_000)))
        # No code was asked for, yet it is said to be there.
        self.check("no code", hello=lambda _: impostor.hello(os.getpid(), settings=settings(code=0)))

    def test_other_descriptors_than_it_names(self):
        def empty_memory(_):
            return os.memfd_create("empty")
        others = [lambda _: os.pipe()[0], lambda _: os.open("/dev/zero", os.O_RDWR), empty_memory,
                  lambda _: os.open("/", os.O_RDONLY | os.O_DIRECTORY), lambda _: os.open("/proc/self/cmdline", os.O_RDONLY),
                  lambda _: os.open("/proc/self/fd", os.O_RDONLY), lambda _: os.eventfd(0)]
        for place in MEMORY, MAPS, DIRECTORY, PIDFD, EXECUTABLE:
            for number, other in enumerate(others):
                def hand(own, place=place, other=other):
                    own[place] = other(own)
                    return own
                self.check((place, number), hand=hand)
        self.check("too few", hand=lambda own: own[:2])
        self.check("more than are named", hand=lambda own: own + own[:3])

    def test_an_executable_that_changes_while_it_is_read(self):
        """A memfd that is cut short, grown and written all the time: no moment is the right one."""
        image = pathlib.Path(built("ends")).read_bytes()
        for round_ in range(12):
            def hand(own, round_=round_):
                file = os.memfd_create("program")
                os.write(file, image)
                draw = random.Random(round_)

                def change():
                    while True:
                        os.ftruncate(file, draw.choice((0, PAGE, len(image) // 2, len(image))))
                        os.pwrite(file, image, 0)
                        os.pwrite(file, draw.randbytes(64), draw.randrange(len(image)))
                if round_ >= 4:
                    threading.Thread(target=change, daemon=True).start()
                elif round_ % 2 == 1:
                    threading.Timer(0.003, lambda: os.ftruncate(file, 0)).start()
                own[EXECUTABLE] = file
                return own
            # Its functions count as entered, so that each epoch reads the text again.
            self.check(round_, hand=hand, after=enter_all, stays_s=0.05)

    def test_a_file_that_claims_to_be_huge(self):
        """Sparse, with headers that promise terabytes: neither memory nor time goes into it."""
        image = bytearray(pathlib.Path(built("ends")).read_bytes())
        at = image.rindex(b"STABCODE")
        cpu_ns = 0
        for offset, value in ((24, 1 << 30), (48, 0xFFFFFFFF), (52, 0xFFFFFFFF), (64, 0xFFFFFFFF)):
            changed = bytearray(image)
            changed[at + offset:at + offset + 4] = struct.pack("<I", value & 0xFFFFFFFF)

            def hand(own, changed=changed):
                file = os.memfd_create("program")
                os.write(file, changed)
                os.ftruncate(file, 1 << 40)
                own[EXECUTABLE] = file
                return own
            dose = self.check(offset, hand=hand, mapped=lambda _: Impostor.mapped(text=0))
            self.assertEqual(dose["code"]["functions_moved"], 0)
            cpu_ns += dose["helper"]["cpu_ns"]
        self.assertLess(cpu_ns, 2e9)


EXECUTED = slice(3776, 3776 + 64)  # Control::executed; a unit test holds the number


def enter_all(control):
    """Says of every image that somebody entered it, as long as the impostor lives: each epoch makes another then."""
    def enter():
        while True:
            control[EXECUTED] = b"\1" * 64
            time.sleep(0)
    threading.Thread(target=enter, daemon=True).start()


class Block(unittest.TestCase):
    """The control block, which the program may write for its whole life."""

    def test_scribbled_all_over(self):
        for milliseconds in 200, 700, 1500:
            helper = Helper()
            program = start_beside(helper, built("scribbles"), milliseconds)
            program.communicate(timeout=TIMEOUT_S)
            self.assertEqual(program.returncode, 3)
            status, text = helper.end()
            self.assertIn(status, (0, 1), text)
            self.assertTrue(json.loads(text)["hello"])

    def test_a_stack_without_end(self):
        """The helper gives a look at the threads up after a second of its own time, whatever the thread does meanwhile, and
        doesn't try again at once: epochs go on."""
        for how in "sleeps", "runs":
            helper = Helper()
            program = start_beside(helper, built("hole"), how, stdin=subprocess.PIPE)
            deadline = time.monotonic() + TIMEOUT_S
            while helper.cpu_s() < 1.0 and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(2)  # of which a helper that tries again has its part
            program.communicate(timeout=TIMEOUT_S)
            self.assertEqual(program.returncode, 3)
            status, text = helper.end()
            self.assertIn(status, (0, 1))
            dose = json.loads(text)
            gave_up = [words for words in dose["degradations"] if "stacks could not be read to their ends" in words]
            self.assertEqual(len(gave_up), 1, (how, text))
            self.assertLess(dose["helper"]["cpu_ns"], 1.8e9, how)

    def test_scribbled_by_an_impostor(self):
        def scribble(control):
            draw = random.Random(3)
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                at = draw.randrange(PAGE // 4) * 8
                control[at:at + 8] = struct.pack("<Q", draw.choice((0, 1, 2, os.getpid(), 1 << 63, draw.getrandbits(64))))
        for _ in range(5):
            helper = Helper()
            Impostor(built("ends")).speak(helper, after=scribble)
            status, text = helper.end()
            self.assertIn(status, (0, 1))
            self.assertTrue(json.loads(text)["hello"])

    def test_libraries_that_are_none(self):
        """Asking again and again for a library to move, with any numbers and any descriptor, and saying that what was planned, or
        was not, is mapped anywhere."""
        request, library = 32, 4352  # Control::request and Control::library; a unit test holds where that ends

        def ask(control):
            draw = random.Random(9)
            good = os.open(library_file, os.O_RDONLY)
            files = [good, good, good, os.open(built("ends"), os.O_RDONLY), os.open("/dev/zero", os.O_RDONLY), os.open("/", os.O_RDONLY),
                     os.pipe()[0], -1, 77777]
            text, bias = self.map_text(good)
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                anything = lambda: draw.choice((0, 4096, 0x7F0000000000, 1 << 47, draw.getrandbits(64), draw.getrandbits(40) << 12))
                words = [draw.choice((0, 1, 2, 47, 48, 1 << 31)), draw.choice(files), 0]
                control[library + 4:library + 16] = struct.pack("<IiI", *words)
                numbers = [draw.choice((bias, bias, bias, anything())), *(anything() % (1 << 64) for _ in range(9))]
                control[library + 16:library + 96] = struct.pack("<10Q", *numbers)
                control[library:library + 4] = struct.pack("<I", draw.choice((1, 1, 1, 3, 3, 2, 9)))
                control[request:request + 4] = struct.pack("<I", 3)
                time.sleep(0.0005)
        library_file = self.library()
        moved = 0
        user, group = map(str, other_user())
        for number in range(6):
            helper = Helper("--user", user, "--group", group, *(["--samples", "1", "--long-loops", "1"] if number % 2 else []))
            Impostor(built("ends")).speak(helper, hello=lambda said: said[:-16] + struct.pack("<IIII", 1, 0, 0, 0), after=ask,
                                          mapped=lambda told: told[:28] + struct.pack("<I", 1) + told[32:])
            status, text = helper.end(errors="replace")
            self.assertIn(status, (0, 1))
            dose = json.loads(text.partition("\n")[0])
            self.assertTrue(dose["hello"])
            moved += dose["code"]["libraries_moved"]
        self.assertGreater(moved, 0, "what was asked for never went so far")

    @staticmethod
    def map_text(file):
        """The text as a loader would map it, somewhere, and where that puts the file's address 0."""
        header = os.pread(file, 64, 0)
        segments, = struct.unpack_from("<Q", header, 32)
        for number in range(struct.unpack_from("<H", header, 56)[0]):
            kind, flags, offset, address, _, size, _, _ = struct.unpack("<IIQQQQQQ", os.pread(file, 56, segments + 56 * number))
            if kind == 1 and flags & 1:
                first = offset & ~(PAGE - 1)
                text = mmap.mmap(file, offset + size - first, flags=mmap.MAP_PRIVATE, offset=first)
                return text, ctypes.addressof(ctypes.c_char.from_buffer(text)) - (address & ~(PAGE - 1))
        raise AssertionError("there is no code")

    def library(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "library.c"
            source.write_text("int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i % 7; return sum; }\n")
            file = pathlib.Path(tempfile.mkdtemp(prefix="stab-hostile-")) / "library.so"
            self.addCleanup(shutil.rmtree, file.parent)
            subprocess.run([BIN / "szc", "-O2", "-fPIC", "-shared", source, "-o", file], check=True)
            file.parent.chmod(0o755)
            return file

    def test_a_board_that_is_scribbled_over(self):
        """While the helper reads it each epoch, and with every byte set: its report stays one line of JSON, and no point is
        more than there can be."""
        def scribble(board):
            draw = random.Random(5)
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                at = draw.randrange(16384 // 8) * 8
                board[at:at + 8] = struct.pack("<Q", draw.choice((0, 1, 1 << 32 | 1, 0x2261225C0A226122, draw.getrandbits(64))))

        def fill(board):
            board[:] = b"\xff" * BOARD_BYTES
            for number in range(64):
                board[4096 + 128 * number + 112:4096 + 128 * number + 120] = struct.pack("<II", 1 + number % 4, 1)
            time.sleep(0.05)
        user, group = map(str, other_user())
        for how in scribble, fill:
            for epochs in [], ["--epochs", "1"]:
                helper = Helper("--user", user, "--group", group, *epochs)
                Impostor(built("ends")).speak(helper, on_board=how)
                status, text = helper.end(errors="replace")
                self.assertIn(status, (0, 1))
                line, _, rest = text.partition("\n")
                points = json.loads(line).get("progress", {}).get("points", [])
                self.assertLessEqual(len(points), 62)
                self.assertEqual(bool(rest), bool(epochs), how)
                if how is fill:
                    self.assertEqual(len(points), 4)  # of one name each, but of four kinds


class Death(unittest.TestCase):
    def test_a_dead_helper_is_not_waited_for(self):
        """It is killed while the program runs; the program's exit asks for its report, and would wait 2 s."""
        def run():
            helper = Helper()
            program = start_beside(helper, built("addresses"), "300")
            maps = pathlib.Path(f"/proc/{program.pid}/maps")
            deadline = time.monotonic() + TIMEOUT_S
            while "memfd:stab (deleted)" not in maps.read_text() and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(0.05)
            helper.process.kill()
            began = time.monotonic()
            output, _ = program.communicate(timeout=TIMEOUT_S)
            took_s = time.monotonic() - began
            self.assertEqual(program.returncode, 0)
            self.assertEqual(helper.end(), (-signal.SIGKILL, ""))
            return took_s if int(output) > 1 else math.inf  # it was not served: no proof
        self.assertLess(quickest(1.8, run), 1.8)  # of which it computes 0.3 s

    def test_a_helper_that_died_before_the_program(self):
        def run():
            helper = Helper()
            helper.process.kill()
            helper.process.wait()
            socket_, program = helper.program_end.fileno(), built("ends")
            began = time.monotonic()
            result = subprocess.run([program, "exit"], pass_fds=[socket_], stdout=subprocess.DEVNULL, timeout=TIMEOUT_S,
                                    env=environment(STAB=launcher_settings("s", 7, 1_000_000, socket=socket_)))
            took_s = time.monotonic() - began
            self.assertEqual(result.returncode, 3)
            helper.end()
            return took_s
        self.assertLess(quickest(1.0, run), 1.0)


class PerfMap(unittest.TestCase):
    """/tmp/perf-PID.map, where everybody may put something first."""

    def run_after(self, command):
        script = f'victim={WORK}/victim; map=/tmp/perf-$$.map; echo kept > $victim; {command}; echo $map >&2; exec "$0" exit'
        result = subprocess.run(["sh", "-c", script, built("ends")], capture_output=True, text=True, timeout=TIMEOUT_S,
                                env=environment(STAB_PERF_MAP="1", STAB_CODE="shuffle", STAB_EPOCH="1ms"))
        self.assertEqual((result.returncode, result.stdout), (3, "ready\n"))
        self.assertEqual((WORK / "victim").read_text(), "kept\n")
        path = pathlib.Path(result.stderr.strip())
        try:
            status = os.lstat(path)
            self.assertTrue(stat.S_ISREG(status.st_mode) and status.st_nlink == 1, oct(status.st_mode))
            self.assertEqual(status.st_uid, os.geteuid())
            self.assertIn("main", path.read_text())
        finally:
            path.unlink()

    def test_is_made_anew_whatever_lies_there(self):
        for command in ("ln -s $victim $map", "ln $victim $map", "mkfifo $map", "ln -s /nowhere/at/all $map"):
            with self.subTest(command):
                self.run_after(command)


class MoreRights(unittest.TestCase):
    """Programs with other rights than whoever starts them."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a setuid program")
        if os.statvfs(WORK).f_flag & os.ST_NOSUID:
            self.skipTest("only root can make a setuid program, and not where the file system ignores them")
        self.program = WORK / f"setuid-{self.id()}"
        shutil.copy(built("ends"), self.program)
        self.program.chmod(0o4755)
        self.secret = WORK / "secret"
        self.secret.write_text("secret")
        self.secret.chmod(0o600)

    def run_as_somebody(self, **variables):
        return subprocess.run([self.program, "exit"], user=64901, group=64902, extra_groups=[], cwd="/", capture_output=True,
                              text=True, timeout=TIMEOUT_S, env=environment(**variables))

    def test_write_no_report_where_the_environment_says(self):
        result = self.run_as_somebody(STAB_REPORT=str(self.secret), STAB_CODE="shuffle", STAB_STACK="on", STAB_EPOCH="1ms")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "ready\n", ""))
        self.assertEqual(self.secret.read_text(), "secret")
        fresh = WORK / "fresh"
        self.run_as_somebody(STAB_REPORT=str(fresh))
        self.assertFalse(fresh.exists())

    def test_write_no_map_for_perf(self):
        before = {entry for entry in os.listdir("/tmp") if entry.startswith("perf-")}
        self.run_as_somebody(STAB_PERF_MAP="1", STAB_CODE="shuffle")
        maps = {entry for entry in os.listdir("/tmp") if entry.startswith("perf-")} - before
        self.assertEqual([m for m in maps if os.stat(f"/tmp/{m}").st_uid == 0], [])

    def test_take_no_descriptor_for_a_helper_and_refuse_nothing(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.send(GREETING.pack(MAGIC, ABI_VERSION, os.getpid()))
        result = subprocess.run([self.program, "exit"], user=64901, group=64902, extra_groups=[], cwd="/", timeout=TIMEOUT_S,
                                capture_output=True, text=True, pass_fds=[theirs.fileno()],
                                env=environment(STAB=launcher_settings("s", 7, 1_000_000, socket=theirs.fileno())))
        theirs.close()
        self.assertEqual((result.returncode, result.stdout), (3, "ready\n"))
        with self.assertRaises(ConnectionResetError):  # it is gone and has read nothing
            ours.recv(4096)
        ours.close()
        self.assertEqual(self.run_as_somebody(STAB_CODE="nonsense", STAB="x").returncode, 3)

    def test_do_as_they_are_told_where_they_have_none(self):
        self.program.chmod(0o755)
        report = WORK / "own"
        report.mkdir(exist_ok=True)
        os.chown(report, 64901, 64902)
        self.run_as_somebody(STAB_REPORT=str(report / "dose"), STAB_CODE="shuffle", STAB_EPOCH="1ms")
        self.assertGreater(json.loads((report / "dose").read_text())["code"]["layouts_built"], 1)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--bin"]:
        BIN = pathlib.Path(arguments[1]).resolve()
        arguments = arguments[2:]
    with tempfile.TemporaryDirectory(prefix="stab-hostile-") as directory:
        os.chmod(directory, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        WORK = pathlib.Path(directory)
        unittest.main(argv=[sys.argv[0], *arguments], exit=True, verbosity=1)
