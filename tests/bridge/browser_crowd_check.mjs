// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view` in Debian's Chromium where it is hard: two hundred topics, very long names, values that are
// not numbers, 4 kHz, 115,200 points at 10 Hz turned by fingers, programs and a bridge that go and come back.
//
//   node browser_crowd_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES CHROMIUM SOURCE_FOLDER [FOLDER_FOR_PICTURES]
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { startBridge, withPrograms } from "./programs.mjs";

const [programs, modules, chromium, sources, pictures] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
let page;
let shots = 0;
async function shot(name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.shot(join(pictures, `${String(++shots).padStart(2, "0")}-${name}.png`));
}
const text = (id) => page.evaluate(`document.getElementById("${id}").textContent`);
const says = (id, part) => page.until(`document.getElementById("${id}").textContent.includes(${JSON.stringify(part)})`);
/** A number that changes with what a canvas shows. */
const sumOf = (id) => `[...document.getElementById("${id}").toDataURL()].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1000000007, 0)`;
const picture = (id) => page.evaluate(sumOf(id));
const buttons = '[...document.querySelectorAll("#list button[data-topic]")]';
const choose = (topic) => page.evaluate(`${buttons}.find((b) => b.dataset.topic === "${topic}").click()`);
const setFilter = (id, words) => page.evaluate(`(() => { const f = document.getElementById("${id}"); f.value = "${words}"; f.dispatchEvent(new Event("input")); })()`);

/** Fingers from one place to another; each of `from` and `to` is a list of points from the canvas's middle. */
async function fingers(from, to) {
  const { x, y } = await page.middle("#cloud");
  const touch = (type, points) => page.call("Input.dispatchTouchEvent", { type, touchPoints: points.map(([dx, dy], id) => ({ x: x + dx, y: y + dy, id })) });
  await touch("touchStart", from);
  for (let i = 1; i <= 4; ++i) await touch("touchMove", from.map(([dx, dy], k) => [dx + ((to[k][0] - dx) * i) / 4, dy + ((to[k][1] - dy) * i) / 4]));
  await touch("touchEnd", []);
}

async function cloudOnAPhone() {
  await page.until('document.getElementById("cloud-facts")'); // the page is there
  await says("cloud-facts", "of 115200 points");
  await page.until('!document.getElementById("cloud-box").hidden');
  assert.ok(await page.evaluate('document.getElementById("detail").getBoundingClientRect().top < 400'), "a link leads to the message, not to the list");
  let before = await picture("cloud");
  const changes = async (what, act) => {
    await act();
    const now = await picture("cloud");
    assert.notEqual(now, before, what);
    before = now;
  };
  // Only this one's points stand still.
  assert.equal(before, await picture("cloud"), "the same points from the same place");
  await changes("one finger turns", () => fingers([[0, 0]], [[60, 20]]));
  await changes("two fingers zoom", () => fingers([[-30, 0], [30, 0]], [[-80, 0], [80, 0]]));
  await changes("two fingers move", () => fingers([[-30, 0], [30, 0]], [[-30, 60], [30, 60]]));
  assert.equal(await page.evaluate("window.scrollX"), 0);
  await page.evaluate('document.getElementById("cloud").focus()');
  for (const key of ["ArrowLeft", "ArrowDown"]) await changes(`Shift ${key} moves`, () => page.key(key, 8));
  await shot("cloud-phone");
  assert.ok((await page.evaluate("document.documentElement.scrollWidth")) <= 390);
}

async function list() {
  await page.until(`${buttons}.length >= 206`);
  const wide = async () => {
    const over = await page.evaluate('document.querySelector("#topics > section").scrollWidth - document.querySelector("#topics > section").clientWidth');
    assert.ok(over <= 0, `long names break, nothing sticks out: ${over}`);
  };
  await page.click("#detail-close");
  await shot("cards");
  await wide();
  await page.select("#topics-as", "tree");
  await shot("tree");
  await wide();
  await page.evaluate('[...document.querySelectorAll("#topic-tree summary")].find((s) => s.textContent === "crowd/").click()');
  await page.until('[...document.querySelectorAll("#topic-tree details:not([open])")].length === 1');
  await page.select("#topics-as", "table");
  await page.click('[data-sort="hz"]');
  await page.until(`${buttons}[0].dataset.topic === "/fast" && document.querySelector("#table-rows .number").textContent.length > 6`);
  assert.equal(await page.evaluate('document.querySelector(\'[data-sort="hz"]\').parentElement.getAttribute("aria-sort")'), "descending");
  await page.click('[data-sort="topic"]');
  await page.until(`${buttons}[0].dataset.topic.startsWith("/a_very")`);
  await wide();
  await choose("/crowd/199");
  await page.until('document.getElementById("tree").textContent.includes("data: ")');
  await says("facts", "Hz here");
  assert.equal(await page.evaluate("location.hash"), `#topics=${encodeURIComponent("/crowd/199")}&as=table`);
  await shot("list");
  await choose("/fast");
  await page.until('Number(/([0-9]+) Hz here/.exec(document.getElementById("facts").textContent)?.[1]) > 500');
  await page.key("Escape");
  assert.equal(await page.evaluate('document.getElementById("detail").hidden'), true);
  assert.equal(await page.evaluate("document.activeElement.dataset.topic"), "/fast", "the focus is where it came from");
}

/** The page's requests to the bridge. */
async function asksForNothing() {
  await page.evaluate('(() => { window.sent = []; const send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) { window.sent.push(text); return send.call(this, text); }; })()');
  await choose("/camera");
  await page.until('!document.getElementById("image-part").hidden');
  await page.click("#show-log");
  assert.ok(await page.evaluate('JSON.parse(window.sent.at(-1)).op === "unsubscribe" || window.sent.some((t) => JSON.parse(t).op === "unsubscribe")'), "a picture that nobody sees is not asked for");
  const count = await page.evaluate("window.sent.length");
  await new Promise((next) => setTimeout(next, 500));
  assert.ok((await page.evaluate("window.sent.length")) <= count + 1, "and no more of them");
  await page.click("#show-topics");
  await page.until('JSON.parse(window.sent.at(-1)).op === "cardanReady"');
}

async function plots() {
  await page.click("#show-plots");
  for (const topic of ["/odd", "/fast"]) {
    await page.select("#plot-topic", topic);
    await page.until('document.getElementById("plot-field").value === "data"');
    await page.click("#plot-add");
  }
  const cells = (row) => `document.querySelectorAll("#charts tbody tr")[${row}].cells`;
  await page.until(`${cells(0)}[3].textContent === "NaN"`);
  await page.until(`${cells(0)}[5].textContent === "1.7e+308"`);
  await page.until(`Number(${cells(1)}[5].textContent) > 3000`);
  await shot("plots-odd");
  await page.click("#charts tbody tr:nth-child(1) button");
  const drawing = '[...document.querySelectorAll(".chart-plot canvas")].map((c) => c.toDataURL()).join()';
  for (const scale of ["log", "linear"]) {
    await page.click("#plot-pause");
    const before = await page.evaluate(drawing);
    await page.select(".chart select", scale);
    assert.notEqual(await page.evaluate(drawing), before, scale);
    if (scale === "log") await shot("plots-log");
    await page.click("#plot-pause");
  }
  // A link that somebody else made: text stays text, and what is too much is left out.
  const link = "#plots&span=10" + ("&chart=log" + "&left=/fast data&left=/camera x&left=/nobody <img src=x onerror=hit()>".repeat(9)).repeat(30);
  await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
  await page.until('document.querySelectorAll(".chart").length === 6');
  await page.until(`Number(${cells(0)}[5].textContent) > 3000`);
  assert.equal(await page.evaluate('document.querySelectorAll("#charts img").length'), 0);
  await page.until('document.getElementById("plot-note").textContent.includes("/camera has no numbers")');
  await page.evaluate('location.hash = "#plots"');
  await page.until('document.querySelectorAll(".chart").length === 0');
}

async function graph() {
  await page.click("#show-graph");
  await says("drawing", "topics");
  const boxes = 'document.querySelectorAll("#drawing .box").length';
  const few = await page.evaluate(boxes);
  assert.ok(few < 20, `topics that connect the same boxes are one box: ${few}`);
  await shot("graph");
  // By keys alone.
  await page.evaluate('document.getElementById("graph-filter").focus()');
  await page.key("Tab");
  assert.match(await page.evaluate("document.activeElement.dataset.node ?? ''"), /^(program|component|topic)/);
  await page.key("Enter");
  assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-pressed")'), "true");
  assert.ok(await page.evaluate('document.querySelectorAll("#drawing .far").length > 0'), "what is not connected steps back");
  await page.key("Escape");
  assert.equal(await page.evaluate('document.querySelectorAll("#drawing .far").length'), 0);
  await page.evaluate('[...document.querySelectorAll("#drawing .box")].find((b) => / topics/.test(b.textContent)).dispatchEvent(new MouseEvent("click"))');
  await page.until(`${boxes} > 200`);
  await shot("graph-opened");
  await page.click("#graph-all");
  await page.until(`${boxes} === ${few}`);
  await setFilter("graph-filter", "/camera");
  await page.until(`${boxes} === 2`);
  assert.deepEqual(await page.evaluate('[...new Set([...document.getElementById("connections").rows].map((row) => row.cells[0].textContent))]'), ["/camera"]);
  await page.click('#drawing [data-node="topic /camera"]');
  await page.click("#graph-open");
  await page.until('!document.getElementById("image-part").hidden && document.getElementById("name").textContent === "/camera"');
  await page.evaluate('location.hash = "graph"');
  await page.until('!document.getElementById("graph").hidden');
  await setFilter("graph-filter", "nothing has this name");
  await says("graph-note", "Nothing fits");
  await setFilter("graph-filter", "");
}

async function parametersAreShownOnly() {
  await page.click("#show-system");
  await page.until('document.querySelectorAll("#parameters output").length > 0');
  assert.equal(await page.evaluate('document.querySelectorAll("#parameters input").length'), 0);
  await says("parameter-note", "--set-parameters");
  await says("now", "running");
  await page.until('[...document.getElementById("processes").rows].some((row) => row.cells[1].textContent === "bridge_crowd" && row.cells[4].textContent.endsWith("%"))');
}

async function aStoppedProcessIsNamed(process) {
  process.kill("SIGSTOP");
  await page.click("#show-graph");
  await says("graph-note", `(pid ${process.pid})`);
  await page.click("#show-system");
  await says("system-note", `(pid ${process.pid})`);
  process.kill("SIGCONT");
  await page.until(`!document.getElementById("system-note").textContent.includes("(pid ${process.pid})")`);
}

async function comings(crowd, bridge, again) {
  await page.click("#show-topics");
  await choose("/crowd/003");
  await page.until('document.getElementById("tree").textContent.includes("data: ")');
  crowd.kill("SIGKILL");
  await says("silence", "Nobody publishes this topic now. This is its last message.");
  assert.ok((await text("tree")).includes("data: "), "which stays");
  await choose("/camera");
  await page.until('!document.getElementById("image-part").hidden');
  bridge.kill("SIGKILL");
  await says("state", "not connected");
  assert.equal(await text("none"), "Not connected to the bridge.");
  assert.ok(await page.evaluate('document.body.classList.contains("stale")'));
  await shot("gone");
  await again();
  await page.until('document.getElementById("state").textContent === "connected"');
  await page.until(`${buttons}.length >= 2`);
  const before = await picture("image");
  await page.until(`${sumOf("image")} !== ${before}`);
  await page.until('document.getElementById("silence").textContent === ""');
}

await withPrograms(programs, async ({ start, folder }) => {
  const crowd = await start("bridge_crowd", 200);
  await start("bridge_sensors", 320, 240, 10, 115200, 10);
  start("cardan", "run", join(sources, "examples", "component", "brake.json"));
  let bridge = await startBridge(start);
  const { port } = bridge;
  page = await openBrowser(chromium, require("ws"), folder);
  try {
    await page.screen(390, 844, { mobile: true });
    await page.goto(`http://127.0.0.1:${port}/#topics=/cloud`);
    await cloudOnAPhone();
    await page.screen(1280, 800);
    await list();
    await asksForNothing();
    await plots();
    await graph();
    await parametersAreShownOnly();
    await aStoppedProcessIsNamed(crowd.process);
    assert.deepEqual(page.errors, []);
    await comings(crowd.process, bridge.process, async () => {
      bridge = await startBridge(start, "--port", port);
    });
    console.log("the page bears a crowd, odd numbers, fingers, and programs that go and come back");
  } catch (error) {
    if (pictures) await shot("failed");
    console.error(page.errors);
    throw error;
  } finally {
    await page.end();
  }
});
process.exit(0);
