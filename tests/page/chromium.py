"""A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): no port, no library, no network.

    with Chromium() as browser:
        page = browser.open(path, width=1200, height=900)
        page.run("document.title")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import skip  # noqa: E402


def executable():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


# What Chromium answers where a page went elsewhere before it had an answer.
LEFT = ("Inspected target navigated or closed", "Execution context was destroyed", "Cannot find context with specified id")


def plain(value):
    """A value with the spaces that a reader types: those between a number and its unit are no-break spaces on a page."""
    if isinstance(value, str):
        return value.replace("\u00a0", " ")
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {plain(key): plain(one) for key, one in value.items()} if isinstance(value, dict) else value


class Failure(Exception):
    pass


class Chromium:
    def __init__(self):
        path = executable()
        if not path:
            skip("no chromium to be had; apt install chromium")
        self.profile = tempfile.mkdtemp(prefix="stab-chromium-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def connect():  # the browser reads commands from 3 and answers on 4
            os.dup2(to_browser, 10), os.dup2(from_browser, 11)
            os.dup2(10, 3), os.dup2(11, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost", "--allow-file-access-from-files=false", f"--user-data-dir={self.profile}"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (Failure, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise Failure("the browser doesn't answer")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise Failure("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, timeout=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1200, height=900, fragment="", wait=True, dark=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        page.call("Performance.enable", timeDomain="threadTicks")
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(domain + ".enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        began = time.monotonic()
        page.call("Page.navigate", url=(path if path.startswith("http://") else "file://" + os.path.abspath(path)) + fragment)
        if wait:
            page.until("document.documentElement?.dataset.ready === 'yes' || "
                       "location.href !== 'about:blank' && document.readyState === 'complete' && document.scripts.length === 0")
        page.opened_in = time.monotonic() - began
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def run(self, expression, timeout=60):
        """The value of a JavaScript expression, with plain spaces; promises are awaited."""
        return plain(self.raw(expression, timeout))

    def raw(self, expression, timeout=60):
        result = self.call("Runtime.evaluate", timeout=timeout, expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            detail = result["exceptionDetails"]
            raise Failure(detail.get("exception", {}).get("description") or detail.get("text"))
        return result["result"].get("value")

    def until(self, expression, seconds=60):
        deadline = time.monotonic() + seconds
        while not self._is_true(expression):
            if time.monotonic() > deadline:
                raise Failure(f"never true: {expression}\n" + "\n".join(self.complaints()))
            time.sleep(0.01)

    def _is_true(self, expression):
        try:
            return self.run(expression)
        except Failure as failure:
            if not any(words in str(failure) for words in LEFT):
                raise
            return False  # asked of a document that another one took the place of meanwhile

    def complaints(self):
        """Exceptions, errors of the console, refusals of the security policy."""
        self.run("0")  # whatever was under way has arrived
        out = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                detail = parameters["exceptionDetails"]
                out.append(detail.get("exception", {}).get("description") or detail["text"])
            if event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                out.append(parameters["entry"]["text"])
            if event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                out.append(str(parameters["args"]))
        return out

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] == "Network.requestWillBeSent"]

    def cpu_s(self):
        """Seconds that the page's thread has computed: other processes on this machine don't count."""
        return {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def key(self, name, text=""):
        codes = {"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes.get(name, 0), **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, button="none", clicks=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=1 if button == "left" and kind != "mouseReleased" else 0, clickCount=clicks)

    def screenshot(self, path, clip=None):
        options = {"format": "png", "captureBeyondViewport": clip is not None}
        if clip:
            options["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))

    def element_box(self, selector):
        return self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [box.x + scrollX, box.y + scrollY, box.width, box.height]; }})()")

    def scroll_through(self):
        """Every figure that a script draws comes by once and is drawn; one without an id is drawn already."""
        for name in self.run("[...document.querySelectorAll('figure[id]')].map(figure => figure.id)"):
            self.show(name)

    def show(self, name):
        self.run(f"(fold => {{ if (fold) fold.open = true; }})(document.getElementById({json.dumps(name)}).closest('details.fold'))")
        there = f"document.getElementById({json.dumps(name)}).scrollIntoView({{behavior: 'instant', block: 'center'}})"
        self.run(there)
        self.until(f"document.getElementById({json.dumps(name)}).hidden || document.querySelector('#{name} .plot').children.length > 1", 20)
        self.run("new Promise(done => setTimeout(done, 100))")  # its neighbours are drawn, too, which moves it
        self.run(there)

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
