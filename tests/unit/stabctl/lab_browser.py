"""HTTP as a browser speaks it, to a daemon of a test's own (daemon_lab.py): over its socket as any user, or through
'stabctl web'."""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from harness import BIN, expect, wait_for  # noqa: E402

HOST = "127.0.0.1:8642"


def connect(lab, uid=None, timeout=60):
    """The kernel notes who connects, so only that is done as the other one."""
    channel = socket.socket(socket.AF_UNIX)
    channel.settimeout(timeout)
    if uid is not None:
        os.setegid(uid)
        os.seteuid(uid)
    try:
        channel.connect(lab.socket + ".web")
    finally:
        if uid is not None:
            os.seteuid(0)
            os.setegid(0)
    return channel


class Answer:
    def __init__(self, response, method):
        self.status, self.body = response.status, b"" if method == "HEAD" else response.read()
        self.fields = {name.lower(): value for name, value in response.getheaders()}

    def json(self):
        return json.loads(self.body)

    def message(self):
        return self.json()["error"]["message"]


def exchange(channel, method, path, fields=None, body=None, host=HOST, bare=False):
    """One request on a connection that may be used again. `bare`: these fields only."""
    given = {} if bare else {"Host": host}
    if method == "POST" and not bare:
        given.update({"X-Stab": "1", "Content-Type": "application/json", "Origin": "http://" + host})
    given.update(fields or {})
    data = json.dumps(body).encode() if isinstance(body, (dict, list)) else (body or b"")
    if data or method == "POST":
        given["Content-Length"] = str(len(data))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None) + "\r\n"
    channel.sendall(head.encode("latin-1") + data)
    response = http.client.HTTPResponse(channel, method=method)
    response.begin()
    return Answer(response, method)


def get(lab, path, fields=None, uid=None, **more):
    channel = connect(lab, uid)
    try:
        return exchange(channel, "GET", path, fields, **more)
    finally:
        channel.close()


def post(lab, method, params, fields=None, uid=None, **more):
    channel = connect(lab, uid)
    try:
        return exchange(channel, "POST", "/api/" + method, fields, params, **more)
    finally:
        channel.close()


class Events:
    """A stream of server-sent events."""

    def __init__(self, lab, last=None, uid=None):
        self.channel = connect(lab, uid)
        fields = f"Last-Event-ID: {last}\r\n" if last else ""
        self.file, self.head, self.last = self.channel.makefile("rb"), b"", last
        try:
            self.channel.sendall(f"GET /api/events HTTP/1.1\r\nHost: {HOST}\r\n{fields}\r\n".encode())
            while (line := self.file.readline()) not in (b"\r\n", b""):
                self.head += line
        except ConnectionError:  # one too many
            pass

    def next(self, timeout=60):
        """(event, data), or None when the stream has ended or nothing comes."""
        end = time.monotonic() + timeout  # signs of life are no events
        event, data = None, None
        try:
            while True:
                self.channel.settimeout(max(end - time.monotonic(), 0.001))
                line = self.file.readline()
                if not line:
                    return None
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    event = line[7:]
                elif line.startswith("id: "):
                    self.last = line[4:]
                elif line.startswith("data: "):
                    data = json.loads(line[6:])
                elif not line and event:
                    return event, data
        except OSError:  # nothing in time, now or before
            return None

    def close(self):
        self.file.close()
        self.channel.close()


class Relay:
    """stabctl web."""

    def __init__(self, lab, *words, **popen):
        self.process = subprocess.Popen([BIN / "stabctl", "web", "--no-browser", "--socket", lab.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **popen)
        self.address = self.process.stdout.readline().strip()
        expect(re.fullmatch(r"http://stab-[0-9a-f]{32}\.localhost:[0-9]+/#token=[0-9a-f]{64}", self.address), f"stabctl web prints '{self.address}'")
        self.host = self.address.split("/")[2]
        self.port, self.token = int(self.host.split(":")[1]), self.address.split("=")[1]

    def exchange(self, method, path, fields=None, body=None, host=None, **more):
        channel = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        try:
            return exchange(channel, method, path, fields, body, host=host or self.host, **more)
        finally:
            channel.close()

    def cookie(self):
        answer = self.exchange("POST", "/token", body=json.dumps(self.token).encode())
        expect(answer.status == 200, f"the token is refused: {answer.body}")
        return answer.fields["set-cookie"]

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(timeout=60) == 0, "stabctl web does not end well")


def until(what, reached, seconds=60):
    def reached_now():
        try:
            return reached()
        except (OSError, http.client.HTTPException):  # turned away, for now
            return False
    wait_for(reached_now, seconds, what)
