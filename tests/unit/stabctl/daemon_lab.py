"""A daemon of a test's own, and clients that speak its protocol: for tests that ask faster, or as others, than stabctl does."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from harness import BIN, expect, run  # noqa: E402

PLAN = """
[experiment]
name = "%s"
seed = 5
replicates = %d
preflight = false
%s
[[program]]
name = "sleeper"
run = ["/bin/sh", "-c", "sleep %s"]
"""


def texts_of(paths):
    """Sorted; of those files that are there when they are read: retention removes some meanwhile."""
    texts = []
    for path in paths:
        try:
            texts.append(path.read_text().strip())
        except OSError:
            pass
    return sorted(texts)


def run_plan(folder, plan, **as_user):
    """stabctl run of a plan with this text, on a fresh database in the folder: how it ended, and the database."""
    file, database = folder / "plan.toml", folder / "results.db"
    for old in folder.glob("results.db*"):
        if old.is_file():
            old.unlink()
    file.write_text(plan)
    return run(BIN / "stabctl", "run", file, "--quiet", "--db", database, code=None, timeout=120, cwd=folder, **as_user), database


class Client:
    """One connection; as another user where root runs the test."""

    def __init__(self, path, uid=None, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        if uid is None:
            self.socket.connect(path)
        else:  # the kernel notes who connects, so only that is done as the other one
            os.setegid(uid)
            os.seteuid(uid)
            try:
                self.socket.connect(path)
            finally:
                os.seteuid(0)
                os.setegid(0)
        self.file = self.socket.makefile("rb")
        self.id = 0

    def send(self, method, **params):
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def answer(self):
        line = self.file.readline()
        return json.loads(line) if line else None

    def call(self, method, **params):
        self.send(method, **params)
        answer = self.answer()
        while answer is not None and answer.get("id") != self.id:
            answer = self.answer()
        return answer

    def submit(self, name, replicates=1, seconds=0.01, more="", directory="/", **params):
        return self.call("submit", plan=PLAN % (name, replicates, more, seconds), path=f"{name}.toml", directory=directory, **params)

    def row(self, experiment):
        answer = self.call("status", experiment=str(experiment))
        return answer["result"]["experiments"][0] if "result" in answer else None

    def wait(self, experiment, what, reached, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            row = self.row(experiment)
            if reached(row):
                return row
            time.sleep(0.02)
        expect(False, f"{what}: {row}")

    def close(self):
        self.file.close()
        self.socket.close()


def as_root():
    """For a daemon that root starts in a folder of many things, which can't become another user's."""
    return ["--user", "root"] if os.geteuid() == 0 else []


class Lab:
    def __init__(self, folder, config="", words=(), **popen):
        self.folder, self.socket, self.database = folder, str(folder / "s"), folder / "d.db"
        self.config = folder / "stabd.toml"
        self.config.write_text(config)
        self.config.chmod(0o644)
        self.words, self.popen = words, popen
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen([*self.words, BIN / "stabd", "--foreground", "--allow-root", *as_root(), "--config", self.config, "--db",
                                        self.database, "--socket", self.socket], stderr=subprocess.PIPE, text=True, **self.popen)
        first = self.daemon.stderr.readline()
        expect("database" in first, f"the daemon says: {first}{self.daemon.stderr.read() if self.daemon.poll() else ''}")
        # What it logs must not fill the pipe.
        subprocess.Popen(["cat"], stdin=self.daemon.stderr, stdout=subprocess.DEVNULL)

    def client(self, uid=None):
        return Client(self.socket, uid)

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def alive(self):
        return self.daemon.poll() is None

    def stop(self):
        if self.daemon and self.alive():
            self.daemon.terminate()
            try:
                self.daemon.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.daemon.kill()

    def ctl(self, *words, uid=None):
        as_user = {} if uid is None else {"user": uid, "group": uid, "extra_groups": [], "cwd": "/"}
        return subprocess.run([BIN / "stabctl", *map(str, words), "--socket", self.socket], capture_output=True, text=True, timeout=60, **as_user)

    def checked(self):
        done = subprocess.run([BIN / "stabctl", "db", "check", "--db", self.database], capture_output=True, text=True)
        expect(done.returncode == 0, f"db check: {done.stdout}{done.stderr}")
