"""Drives a headless Chromium through its own protocol, by a pipe: nothing listens on a port."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Escape": 27, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
        "ArrowDown": 40, "Tab": 9}


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Failure(AssertionError):
    pass


class Page:
    """One browser with one tab. Remembers what the page says and what it asks the network for."""

    def __init__(self, program, width=1280, height=900):
        self.folder = tempfile.TemporaryDirectory(prefix="page_")
        to_browser, self.out = os.pipe()
        self.answers, from_browser = os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking",
                   "--disable-component-update", "--disable-extensions", "--disable-sync",
                   "--hide-scrollbars", "--force-color-profile=srgb",
                   f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(["sh", "-c", shell, "sh", *command],
                                        pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.read = b""
        self.number = 0
        self.session = None
        self.events = []
        self.messages = []
        self.requests = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    # --- the protocol ---

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def next_message(self, seconds=300):
        end = time.monotonic() + seconds
        while b"\0" not in self.read:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.answers, 1 << 20) if ready else b""
            if not piece:
                raise Failure("the browser does not answer")
            self.read += piece
        message, self.read = self.read.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(str(about.get("args")))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(about["exceptionDetails"])[:2000])
        elif method == "Log.entryAdded":
            self.messages.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        if method:
            self.events.append(method)

    # --- what a person does ---

    def open(self, path):
        self.messages, self.requests, self.events = [], [], []
        self.call("Page.navigate", url=path if ":" in str(path) else f"file://{path}")
        while "Page.loadEventFired" not in self.events:
            self.note(self.next_message())

    def run(self, expression):
        """The value of an expression of the page's language."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})]"
                        ".map((each) => each.textContent)")

    def settle(self):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click_at(self, x, y):
        self.mouse_to(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle_of(self, selector):
        """Where on the screen the element is, after it was brought there."""
        x, y = self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: 'center'}});
            const box = element.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        return x, y

    def click(self, selector):
        self.click_at(*self.middle_of(selector))

    def press(self, key):
        about = {"key": key}
        if len(key) == 1:
            about["text"] = key
        else:
            about["windowsVirtualKeyCode"] = KEYS[key]
            if key == "Enter":
                about["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, **clip):
        shot = self.call("Page.captureScreenshot", format="png",
                         **({"clip": {**clip, "scale": 1}} if clip else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (Failure, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.answers)
        self.folder.cleanup()
