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
const VIEWS = ["topics", "plots", "system", "log", "graph", "chains"];
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
/** The picture of a canvas, as a number that changes with it, and whether it has more than one colour. */
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
const choose = (topic) => page.evaluate(`[...document.querySelectorAll("#list button[data-topic]")].find((b) => b.dataset.topic === "${topic}").click()`);

/** The first screen: the system's state, and a card for each topic, with live pictures. */
async function cards() {
  await page.until('/brake: running, since/.test(document.getElementById("overview").textContent)');
  await page.until('/2 of 2 processes run/.test(document.getElementById("overview").textContent)');
  const of = (topic) => `[...document.querySelectorAll(".card")].find((card) => card.querySelector("[data-topic]").dataset.topic === "${topic}")`;
  for (const topic of ["/camera", "/cloud"]) {
    await page.until(`${of(topic)}.querySelector(".thumb-words").textContent === ""`);
    await page.until(`(() => { const c = ${of(topic)}.querySelector("canvas"); const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; return p.some((n, i) => i % 4 !== 3 && n !== p[i % 4]); })()`);
  }
  await page.until(`(() => { const c = ${of("/camera")}.querySelector("canvas"); window.first ??= c.toDataURL(); return c.toDataURL() !== window.first; })()`);
  await page.until(`/[µm]s \\/ /.test(${of("/distance")}.textContent)`); // the latency at its reader
  for (const part of ["rate", "size", "lost", "sensors → 1"]) assert.ok((await page.evaluate(`${of("/distance")}.textContent`)).includes(part), part);
  await shot("cards");
  await page.select("#topics-as", "tree");
  await page.until('document.querySelector("#topic-tree .leaf")');
  assert.equal(await page.evaluate("location.hash"), "#topics&as=tree");
  await page.select("#topics-as", "table");
  await page.until('/Hz/.test(document.getElementById("table-rows").textContent)');
  await page.select("#topics-as", "cards");
}

async function topics() {
  await page.until('document.querySelectorAll("#list button[data-topic]").length >= 3');
  await cards();
  await page.until('document.querySelector("#list").textContent.includes("Hz")');
  await page.key("/");
  assert.equal(await page.evaluate("document.activeElement.id"), "filter");
  await page.type("cloud");
  assert.equal(await page.evaluate('document.querySelectorAll("#list button[data-topic]").length'), 1);
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
  await page.until('!document.getElementById("image-part").hidden && document.getElementById("tree").textContent.includes("encoding")');
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
  // Closer, from part to part, and back.
  const width = () => page.evaluate('document.getElementById("image").getBoundingClientRect().width / document.getElementById("image-box").clientWidth');
  await page.click("#image-in");
  assert.ok((await width()) > 1.4);
  await page.wheel("#image-box", -200);
  await page.until('document.getElementById("image").getBoundingClientRect().width > 1.7 * document.getElementById("image-box").clientWidth');
  const left = await page.evaluate('document.getElementById("image-box").scrollLeft');
  await page.drag("#image-box", -60, 0);
  assert.ok((await page.evaluate('document.getElementById("image-box").scrollLeft')) > left, "it moves");
  await page.evaluate('document.getElementById("image-box").focus()');
  await page.key("0");
  assert.ok((await width()) <= 1.01);
  await page.click("#detail-pause");
  const still = (await canvas("image")).sum;
  await new Promise((next) => setTimeout(next, 700));
  assert.equal((await canvas("image")).sum, still, "it stands still");
  await page.click("#detail-pause");
  await page.until('document.getElementById("detail-pause").textContent === "Pause" && document.getElementById("silence").textContent === ""');
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
  const rows = 'document.querySelectorAll("#charts tbody tr")';
  await page.until(`Number(${rows}[0].cells[3].textContent) > 1000 && ${rows}[0].cells[2].textContent === "s"`);
  await page.click("#plot-add");
  assert.equal(await text("plot-note"), "This line is there already.");
  assert.equal(await page.evaluate('document.getElementById("plot-topic").options[0].value'), "latencies");
  await page.select("#plot-topic", "latencies");
  await page.until('[...document.getElementById("plot-field").options].some((o) => o.value === "/distance, sensors → driving, 99 %")'); // no number of a process
  await page.select("#plot-field", "/distance, sensors → driving, 99 %");
  await page.select("#plot-side", "right");
  await page.click("#plot-add");
  await page.until(`${rows}.length === 2 && ${rows}[1].cells[3].textContent !== "" && ${rows}[1].cells[2].textContent === "ms"`);
  await page.select("#plot-chart", "new");
  await page.select("#plot-topic", "/distance");
  await page.click("#plot-add");
  await page.until('document.querySelectorAll(".chart").length === 2');
  await page.select("#plot-span", "10");
  await new Promise((next) => setTimeout(next, 3000));
  await shot("plots");
  const drawing = '[...document.querySelectorAll(".chart-plot canvas")].map((c) => c.toDataURL()).join()';
  assert.ok(await page.evaluate('[...document.querySelectorAll(".dygraph-axis-label-y2")].length > 0'), "a second axis");
  // The values where the pointer is.
  const { x, y } = await page.middle(".chart-plot");
  await page.mouse("mouseMoved", { x, y }, { button: "none", buttons: 0 });
  await page.until('/^[0-9:.]+$/.test(document.querySelector(".chart-units > span:nth-child(2)").textContent)');
  await page.mouse("mouseMoved", { x, y: 5 }, { button: "none", buttons: 0 });
  await page.until('document.querySelector(".chart-units > span:nth-child(2)").textContent === ""');
  // A reload shows the same charts, and so does a link.
  const [place, before] = [await page.evaluate("location.hash"), await page.evaluate('[...document.querySelectorAll(".chart")].map((c) => [...c.querySelectorAll("tbody tr")].map((r) => r.cells[1].textContent))')];
  await page.call("Page.reload");
  await page.until(`document.readyState === "complete" && ${rows}.length === 3`);
  assert.deepEqual([await page.evaluate("location.hash"), await page.evaluate('[...document.querySelectorAll(".chart")].map((c) => [...c.querySelectorAll("tbody tr")].map((r) => r.cells[1].textContent))')], [place, before]);
  await page.until(`[...${rows}].every((row) => row.cells[3].textContent !== "")`);
  await page.click("#plot-pause");
  const held = await page.evaluate(drawing);
  await new Promise((next) => setTimeout(next, 700));
  assert.equal(await page.evaluate(drawing), held, "it stands still");
  await page.click("#plot-pause");
  await page.until('document.getElementById("plot-pause").getAttribute("aria-pressed") === "false"');
  await page.drag(".chart-plot", 80, 0);
  await page.until('document.getElementById("plot-pause").getAttribute("aria-pressed") === "true"'); // a zoomed chart is frozen
  await page.click("#plot-pause");
  await page.click("#charts tbody tr:nth-child(2) button");
  assert.equal(await page.evaluate(`${rows}.length`), 2);
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
  await page.until('/ was not changed: /.test(document.querySelector("#parameters .answer.bad").textContent)');
}

async function log(say) {
  await page.click("#show-log");
  say();
  await page.until('document.getElementById("lines").textContent.includes("onerror")');
  assert.equal(await page.evaluate("window.hit"), undefined, "a peer's text is text");
  assert.equal(await page.evaluate('document.querySelectorAll("#lines img, #lines script").length'), 0);
  assert.ok((await text("lines")).includes(HOSTILE));
  assert.ok((await text("lines")).includes("→ running"));
  const count = (words) => page.evaluate(`[...document.querySelectorAll("#lines li")].filter((line) => line.textContent.includes("${words}")).length`);
  assert.equal(await count("starting → running"), 1, "a change of the state is one line");
  await page.until('/cardan: .* runs after/.test(document.getElementById("lines").textContent)'); // the log of `cardan run`
  const before = await count("runs after");
  await new Promise((next) => setTimeout(next, 2500));
  assert.equal(await count("runs after"), before, "each line is there once");
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
  for (const view of VIEWS) {
    await page.click(`#show-${view}`);
    const names = await page.evaluate(`[...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter((e) => e.offsetParent && !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).map((e) => e.id)`);
    assert.deepEqual(names, [], `${view}: all controls have names`);
    await page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges(); document.querySelector('#show-topics').focus()");
    const order = ["show-topics"];
    for (let i = 0; i < VIEWS.length; ++i) {
      await page.key("Tab");
      order.push(await page.evaluate("document.activeElement.id"));
    }
    assert.deepEqual(order, [...VIEWS.map((name) => `show-${name}`), "theme"]);
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
  for (const view of VIEWS) {
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
