# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen, over its DevTools protocol. It reaches no network: only 127.0.0.1 has a name.

    browser.py SITE FOLDER    pictures of pages of a built site, light and dark, for people to look at
"""
import base64
import contextlib
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import threading
import time

CHROMIUM = shutil.which("chromium")
PATIENCE = 120  # seconds; it only ends what hangs
WORDS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0"]


class Browser:
    """One page. `requests`: what it asked for; `errors`: what it complained of."""

    def __init__(self, profile):
        self.profile, self.requests, self.errors, self.events, self.last = profile, [], [], [], 0

    def __enter__(self):
        import websockets.sync.client
        self.process = subprocess.Popen([CHROMIUM, *WORDS, f"--user-data-dir={self.profile}", "about:blank"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            address = next((line.split()[-1] for line in self.process.stderr if line.startswith("DevTools listening on ")), None)
            if address is None:
                raise RuntimeError(f"Chromium ended with {self.process.wait()}")
            self.connection = websockets.sync.client.connect(address, max_size=256 << 20, open_timeout=PATIENCE)
            self.socket = self.connection.__enter__()
            self.session = None
            target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
            self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if hasattr(self, "socket"):
            self.session = None
            try:
                self.call("Browser.close")
                self.connection.__exit__(None, None, None)
            except Exception:  # it may close the connection first
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()

    def receive(self):
        message = json.loads(self.socket.recv(timeout=PATIENCE))
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f'{parameters["entry"]["text"]} {parameters["entry"].get("url", "")}')
        elif method:
            self.events.append(method)
        return message

    def call(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}))
        while (message := self.receive()).get("id") != self.last:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def until(self, expression, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not (value := self.value(expression)) and time.monotonic() < end:
            time.sleep(0.05)
        return value

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def colours(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextlib.contextmanager
def served(site):
    """The address of a web server for the folder."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def pictures(site, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in "light", "dark":
        with served(site) as own, Browser(folder / f"profile-{scheme}") as page:  # a profile remembers what was chosen
            page.colours(scheme)
            for name, width, height in ("wide", 1280, 900), ("phone", 390, 844):
                page.resize(width, height)
                for path in ("index.html", "docs/guide.html", "docs/command.html", "docs/index.html", "examples/component/index.html"):
                    page.open(f"{own}/{path}")
                    time.sleep(0.3)
                    page.picture(folder / f"{path.replace('/', '-').removesuffix('.html')}-{scheme}-{name}.png")
        shutil.rmtree(folder / f"profile-{scheme}", ignore_errors=True)


if __name__ == "__main__":
    pictures(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
