// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view` in Debian's Chromium: every control, by mouse and by keys, on a running system.
//
//   node browser_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES CHROMIUM SOURCE_FOLDER [FOLDER_FOR_PICTURES]
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { startBridge, until, withPrograms } from "./programs.mjs";

const [programs, modules, chromium, sources, pictures] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
const WebSocket = require("ws");
const HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>';

const LOG = "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n" + "=".repeat(80) + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec";

/** CDR of a log message. */
function logMessage(level, name, text) {
  const bytes = [];
  const align = (size) => {
    while ((bytes.length - 4) % size) bytes.push(0);
  };
  const word = (n) => {
    align(4);
    bytes.push(n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255);
  };
  const string = (s) => {
    const all = Buffer.from(`${s}\0`);
    word(all.length);
    bytes.push(...all);
  };
  bytes.push(0, 1, 0, 0);
  word(100);
  word(0);
  bytes.push(level);
  for (const s of [name, text, "f", "g"]) string(s);
  word(1);
  return Buffer.from(bytes);
}

/** Publishes through the bridge, as any client that a rule lets in. */
async function publish(port, messages) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["foxglove.sdk.v1"]);
  await new Promise((open, failed) => socket.once("open", open).once("error", failed));
  socket.on("message", (data, isBinary) => {
    const text = isBinary ? {} : JSON.parse(data);
    assert.notEqual(text.op, "status", text.message);
  });
  socket.send(JSON.stringify({ op: "advertise", channels: [{ id: 1, topic: "/rosout", encoding: "cdr", schemaName: "rcl_interfaces/msg/Log", schema: LOG, schemaEncoding: "ros2msg" }] }));
  return () => {
    for (const message of messages) socket.send(Buffer.concat([Buffer.from([1, 1, 0, 0, 0]), message]));
  };
}

let page;
let shots = 0;
async function shot(name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.shot(join(pictures, `${String(++shots).padStart(2, "0")}-${name}.png`));
}
const text = (id) => page.evaluate(`document.getElementById("${id}").textContent`);
/** What a canvas shows, as a number that changes with it, and whether it has more than one colour. */
const canvas = (id) =>
  page.evaluate(`(() => {
    const c = document.getElementById("${id}"), copy = document.createElement("canvas");
    Object.assign(copy, {width: c.width, height: c.height});
    const d = copy.getContext("2d");
    d.drawImage(c, 0, 0);
    const p = d.getImageData(0, 0, c.width, c.height).data;
    let sum = 0;
    const colours = new Set();
    for (let i = 0; i < p.length; i += 4) { sum = (sum * 31 + p[i] + 3 * p[i + 1] + 7 * p[i + 2]) % 1000000007; if (colours.size < 64) colours.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]); }
    return {sum, colours: colours.size, width: c.width, height: c.height};
  })()`);
const choose = (topic) => page.evaluate(`[...document.querySelectorAll("#list button")].find((b) => b.dataset.topic === "${topic}").click()`);

async function topics() {
  await page.until('document.querySelectorAll("#list button").length >= 3');
  await page.until('document.querySelector("#list").textContent.includes("Hz")');
  await page.key("/");
  assert.equal(await page.evaluate("document.activeElement.id"), "filter");
  await page.type("cloud");
  assert.equal(await page.evaluate('document.querySelectorAll("#list button").length'), 1);
  await page.key("ArrowDown");
  assert.equal(await page.evaluate("document.activeElement.dataset.topic"), "/cloud");
  await page.key("Enter");
  await page.until('document.activeElement.getAttribute("aria-current") === "true"');
  await page.evaluate('(() => { const f = document.getElementById("filter"); f.value = ""; f.dispatchEvent(new Event("input")); })()');
}

async function cloud() {
  await page.until('document.getElementById("cloud-facts").textContent.includes("points")');
  await page.until('!document.getElementById("cloud-box").hidden');
  assert.equal(await text("problem"), "");
  assert.match(await text("cloud-facts"), /of 20000 points, coloured by z/);
  await shot("cloud");
  let before = await canvas("cloud");
  assert.ok(before.colours >= 3, "there are points and a grid");
  const changes = async (what, act) => {
    await act();
    const now = await canvas("cloud");
    assert.notEqual(now.sum, before.sum, what);
    before = now;
  };
  for (const id of ["cloud-left", "cloud-in", "cloud-top", "cloud-right", "cloud-out", "cloud-reset"]) await changes(id, () => page.click(`#${id}`));
  await changes("drag", () => page.drag("#cloud", 80, 30));
  await changes("wheel", async () => {
    await page.wheel("#cloud", 200);
    await new Promise((next) => setTimeout(next, 300));
  });
  await page.evaluate('document.getElementById("cloud").focus()');
  for (const key of ["ArrowLeft", "ArrowUp", "+", "-", "r"]) await changes(key, () => page.key(key));
  assert.equal(await page.evaluate("document.activeElement.id"), "cloud");
  await page.select("#detail-size", "least");
  await page.until('/^[0-9]+ of/.test(document.getElementById("cloud-facts").textContent) && parseInt(document.getElementById("cloud-facts").textContent) <= 5000');
  await page.select("#detail-size", "auto");
}

async function image() {
  await choose("/camera");
  await page.until('!document.getElementById("image").hidden && document.getElementById("tree").textContent.includes("encoding")');
  const first = await canvas("image");
  assert.deepEqual([first.width, first.height], [640, 480]);
  assert.ok(first.colours > 8);
  await page.until(`document.getElementById("facts").textContent.includes("Hz here")`);
  await page.until(`(() => { const c = document.getElementById("image"); window.was ??= c.toDataURL(); return c.toDataURL() !== window.was; })()`);
  for (const part of ['frame_id: "camera"', "width: 640", 'encoding: "bgr8"', "bytes: 921600"]) assert.ok((await text("tree")).includes(part), part);
  await shot("image");
  await page.select("#detail-size", "least");
  await page.until('document.getElementById("image").width === 320');
  await page.select("#detail-size", "most");
  await page.until('document.getElementById("image").width === 640');
  await page.evaluate('document.querySelector("#tree details").open = false');
  await new Promise((next) => setTimeout(next, 600));
  assert.equal(await page.evaluate('document.querySelector("#tree details").open'), false, "it stays folded");
}

async function plots() {
  await page.click("#show-plots");
  assert.equal(await page.evaluate('document.getElementById("plots").hidden'), false);
  await page.until('[...document.getElementById("plot-topic").options].some((o) => o.value === "/clock")');
  assert.ok(!(await page.evaluate('[...document.getElementById("plot-topic").options].map((o) => o.value).includes("/camera")')));
  await page.select("#plot-topic", "/clock");
  await page.until('document.getElementById("plot-field").options.length === 1');
  assert.equal(await page.evaluate('document.getElementById("plot-field").value'), "clock (s)");
  await page.click("#plot-add");
  await page.until('Number(document.querySelector("#plot-list .number").textContent) > 1000');
  await page.click("#plot-add");
  assert.equal(await text("plot-note"), "This line is there already.");
  const latencies = await page.evaluate('document.getElementById("plot-topic").options[0].value');
  assert.ok(latencies.includes("latencies"));
  await page.select("#plot-topic", latencies);
  await page.until('[...document.getElementById("plot-field").options].some((o) => o.value.endsWith(", 99 %"))');
  await page.click("#plot-add");
  await page.until('document.querySelectorAll("#plot-list tr").length === 2 && document.querySelector("#plot-list tr:nth-child(2) .number").textContent !== ""');
  await page.select("#plot-span", "10");
  await new Promise((next) => setTimeout(next, 3000));
  await shot("plots");
  assert.ok((await canvas("plot")).colours > 3);
  await page.click("#plot-pause");
  const held = (await canvas("plot")).sum;
  await new Promise((next) => setTimeout(next, 700));
  assert.equal((await canvas("plot")).sum, held, "it stands still");
  await page.click("#plot-pause");
  await page.until('document.getElementById("plot-pause").getAttribute("aria-pressed") === "false"');
  await page.click("#plot-list tr:nth-child(2) button");
  assert.equal(await page.evaluate('document.querySelectorAll("#plot-list tr").length'), 1);
}

async function system() {
  await page.key("3");
  await page.until('document.querySelectorAll("#components tr").length >= 2 && document.querySelectorAll("#parameters input").length >= 1');
  await page.until('document.querySelector("#processes").textContent.includes("running")');
  await page.until('document.querySelector("#changes").textContent.includes("→ running")');
  await page.until('document.querySelector("#processes").textContent.includes("%")');
  await shot("system");
  const name = await page.evaluate('document.querySelector("#parameters label:has(input[type=number]) span").textContent');
  const value = await page.evaluate('document.querySelector("#parameters input[type=number]").valueAsNumber');
  const type = async (wish) => {
    await page.evaluate('(() => { const i = document.querySelector("#parameters input[type=number]"); i.focus(); i.select(); })()');
    await page.type(String(wish));
    await page.key("Enter");
  };
  const least = await page.evaluate('document.querySelector("#parameters input[type=number]").min');
  await type(value + 1);
  await page.until(`document.getElementById("system-note").textContent === ${JSON.stringify(`${name} is now ${value + 1}.`)}`);
  assert.notEqual(least, "", "the example's parameter has bounds");
  await type(Number(least) - 1);
  await page.until('document.getElementById("system-note").textContent.includes("was not changed")');
}

async function log(say) {
  await page.click("#show-log");
  say();
  await page.until('document.getElementById("lines").textContent.includes("onerror")');
  assert.equal(await page.evaluate("window.hit"), undefined, "a peer's text is text");
  assert.equal(await page.evaluate('document.querySelectorAll("#lines img, #lines script").length'), 0);
  assert.ok((await text("lines")).includes(HOSTILE));
  assert.ok((await text("lines")).includes("→ running"));
  await page.until('/cardan: .* runs after/.test(document.getElementById("lines").textContent)'); // the log of `cardan run`
  const count = await page.evaluate('[...document.querySelectorAll("#lines li")].filter((line) => line.textContent.includes("runs after")).length');
  await new Promise((next) => setTimeout(next, 2500));
  assert.equal(await page.evaluate('[...document.querySelectorAll("#lines li")].filter((line) => line.textContent.includes("runs after")).length'), count, "each line is there once");
  const times = await page.evaluate('[...document.querySelectorAll("#lines li")].map((line) => line.textContent.slice(0, 12))');
  assert.deepEqual(times, times.toSorted().reverse(), "the newest first");
  await shot("log");
  await page.select("#log-level", "40");
  assert.ok(!(await text("lines")).includes("all is well"));
  assert.ok((await text("lines")).includes("brakes are hot"));
  await page.select("#log-level", "10");
  assert.ok((await text("lines")).includes("a detail"));
  await page.evaluate('document.getElementById("log-filter").focus()');
  await page.type("BRAKES");
  assert.ok(await page.evaluate('[...document.querySelectorAll("#lines li")].every((line) => line.textContent.includes("brakes are hot"))'));
  await page.click("#log-clear");
  assert.equal(await text("lines"), "");
}

async function graph() {
  await page.click("#show-graph");
  await page.until('document.getElementById("drawing").textContent.includes("<b id=hit>")');
  await page.until('document.getElementById("drawing").textContent.includes("CPU")');
  await page.until('/[µm]s \\/ /.test(document.getElementById("drawing").textContent)');
  assert.equal(await page.evaluate('document.getElementById("hit")'), null, "a program's name is text");
  assert.ok((await text("connections")).includes("/camera"));
  await shot("graph");
}

/** Each control is reached by Tab in the order in which it is read, and has a name. */
async function keyboard() {
  for (const view of ["topics", "plots", "system", "log", "graph"]) {
    await page.click(`#show-${view}`);
    const names = await page.evaluate(`[...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter((e) => e.offsetParent && !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).map((e) => e.id)`);
    assert.deepEqual(names, [], `${view}: all controls have names`);
    await page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges(); document.querySelector('#show-topics').focus()");
    const order = ["show-topics"];
    for (let i = 0; i < 5; ++i) {
      await page.key("Tab");
      order.push(await page.evaluate("document.activeElement.id"));
    }
    assert.deepEqual(order, ["show-topics", "show-plots", "show-system", "show-log", "show-graph", "theme"]);
  }
}

async function screens() {
  await page.click("#show-topics");
  const back = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  assert.equal(await back(), "rgb(255, 255, 255)");
  await page.select("#theme", "dark");
  assert.equal(await back(), "rgb(13, 17, 23)");
  await page.screen(1280, 900, { scheme: "dark" });
  await page.select("#theme", "light");
  assert.equal(await back(), "rgb(255, 255, 255)");
  await page.select("#theme", "");
  assert.equal(await back(), "rgb(13, 17, 23)");
  await shot("dark");
  await page.click("#show-plots");
  await shot("dark-plots");
  await page.screen(375, 720, { scheme: "dark", mobile: true, scale: 2 });
  for (const view of ["topics", "plots", "system", "log", "graph"]) {
    await page.evaluate(`document.getElementById("show-${view}").click()`);
    await new Promise((next) => setTimeout(next, 300));
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    await shot(`phone-${view}`);
    assert.ok(wide <= 375, `${view} is as wide as a phone: ${wide}`);
  }
  await page.screen(1280, 900);
}

await withPrograms(programs, async ({ start, folder }) => {
  const odd = join(folder, "<b id=hit>"); // the name of a program
  copyFileSync(join(programs, "bridge_sensors"), odd);
  await start("bridge_sensors", 640, 480, 15, 20000, 5);
  await start(relative(programs, odd), 64, 48, 0, 0, 0, "clock");
  start("cardan", "run", join(sources, "examples", "component", "brake.json"));
  const bridge = await startBridge(start, "--set-parameters", "--in", "/rosout");
  page = await openBrowser(chromium, WebSocket, folder);
  try {
    await page.screen(1280, 900);
    await page.goto(`http://127.0.0.1:${bridge.port}/`);
    await topics();
    await cloud();
    await image();
    await plots();
    await system();
    const say = await publish(bridge.port, [logMessage(10, "n", "a detail"), logMessage(20, "n", "all is well"), logMessage(20, HOSTILE, HOSTILE), logMessage(40, "brake", "brakes are hot")]);
    say(); // the topic is there with its first message
    await page.until('document.getElementById("log-note").textContent.includes("/rosout")');
    await log(say);
    await graph();
    await keyboard();
    await screens();
    assert.deepEqual(page.errors, [], "nothing was refused by the page's policy, and nothing failed");
    bridge.process.kill("SIGKILL");
    await page.until('document.getElementById("state").textContent.startsWith("not connected")');
    console.log("every control of the page does what it says, in light and dark, on a screen and on a phone");
  } catch (error) {
    if (pictures) await shot("failed");
    console.error(page.errors);
    throw error;
  } finally {
    await page.end();
  }
});
process.exit(0);
