// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium without a screen, over its DevTools protocol. It reaches no network: only 127.0.0.1 has a name.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

const WORDS = ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--mute-audio", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0", "about:blank"];
const KEYS = { Tab: 9, Enter: 13, " ": 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };

/** A page in a separate browser. `WebSocket`: npm's ws. */
export async function openBrowser(chromium, WebSocket, folder) {
  const process = spawn(chromium, [...WORDS.slice(0, -1), `--user-data-dir=${join(folder, "profile")}`, WORDS.at(-1)], { stdio: ["ignore", "ignore", "pipe"] });
  const address = await new Promise((ready, failed) => {
    process.once("error", failed);
    process.once("exit", (code) => failed(new Error(`Chromium ended with ${code}`)));
    createInterface({ input: process.stderr }).on("line", (line) => {
      const found = /DevTools listening on (ws:\S+)/.exec(line);
      if (found) ready(found[1]);
    });
  });
  const socket = new WebSocket(address, { maxPayload: 256 << 20 });
  await new Promise((open, failed) => socket.once("open", open).once("error", failed));
  let last = 0;
  const waiting = new Map();
  const errors = [];
  socket.on("message", (data) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (id) {
      if (!waiting.has(id)) return; // of end()
      const { done, failed } = waiting.get(id);
      waiting.delete(id);
      error ? failed(new Error(error.message)) : done(result);
    } else if (method === "Runtime.exceptionThrown") {
      errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      errors.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    }
  });
  let sessionId;
  const call = (method, params = {}) =>
    new Promise((done, failed) => {
      waiting.set(++last, { done, failed });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  const { targetInfos } = await call("Target.getTargets");
  const { targetId } = targetInfos.find(({ type }) => type === "page");
  ({ sessionId } = await call("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log"]) await call(`${domain}.enable`);

  const page = {
    errors,
    call,
    /** Ends the browser and its children. */
    async end() {
      const ended = new Promise((done) => process.once("exit", done));
      socket.send(JSON.stringify({ id: ++last, method: "Browser.close" }));
      const killed = setTimeout(() => process.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(killed);
    },
    goto: (url) => call("Page.navigate", { url }),
    /** A screen; `scheme`: what the system prefers. */
    async screen(width, height, { scheme = "light", mobile = false, scale = 1 } = {}) {
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile });
      await call("Emulation.setTouchEmulationEnabled", { enabled: mobile });
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    },
    /** The value of an expression in the page; a promise is waited for. */
    async evaluate(expression) {
      const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      return result.value;
    },
    /** Waits until the expression is true. The test's time-out ends what never is. */
    async until(expression) {
      const told = setTimeout(() => console.error(`still waits for: ${expression}`), 15_000);
      while (!(await page.evaluate(`Boolean(${expression})`))) await new Promise((next) => setTimeout(next, 50));
      clearTimeout(told);
    },
    /** Where an element's middle is, once it is in sight. */
    middle: (selector) => page.evaluate(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`),
    async mouse(type, at, more = {}) {
      await call("Input.dispatchMouseEvent", { type, ...at, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1, ...more });
    },
    async click(selector) {
      const at = await page.middle(selector);
      await page.mouse("mousePressed", at);
      await page.mouse("mouseReleased", at);
    },
    async drag(selector, dx, dy) {
      const at = await page.middle(selector);
      await page.mouse("mousePressed", at);
      for (let i = 1; i <= 5; ++i) await page.mouse("mouseMoved", { x: at.x + (dx * i) / 5, y: at.y + (dy * i) / 5 });
      await page.mouse("mouseReleased", { x: at.x + dx, y: at.y + dy });
    },
    async wheel(selector, deltaY) {
      await call("Input.dispatchMouseEvent", { type: "mouseWheel", ...(await page.middle(selector)), deltaX: 0, deltaY });
    },
    async key(key, modifiers = 0) {
      const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
      const code = { key, modifiers, windowsVirtualKeyCode: KEYS[key] ?? key.toUpperCase().charCodeAt(0) };
      await call("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...code, text });
      await call("Input.dispatchKeyEvent", { type: "keyUp", ...code });
    },
    type: (text) => call("Input.insertText", { text }),
    /** Chooses an option as its user would see it happen. */
    select: (selector, value) => page.evaluate(`(() => { const s = document.querySelector(${JSON.stringify(selector)}); s.value = ${JSON.stringify(value)}; s.dispatchEvent(new Event("input", {bubbles: true})); s.dispatchEvent(new Event("change", {bubbles: true})); return s.value; })()`),
    async shot(path) {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      writeFileSync(path, Buffer.from(data, "base64"));
    },
  };
  return page;
}
