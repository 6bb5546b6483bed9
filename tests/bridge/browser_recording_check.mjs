// SPDX-License-Identifier: Apache-2.0
// A recording in the page of `cardan view`, in Debian's Chromium: the timeline, by mouse and by keys.
//
//   node browser_recording_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES CHROMIUM SOURCE_FOLDER [FOLDER_FOR_PICTURES]
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { startBridge, withPrograms } from "./programs.mjs";

const [programs, modules, chromium, , pictures] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
const WebSocket = require("ws");

let page;
let shots = 0;
async function shot(name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.shot(join(pictures, `${String(++shots).padStart(2, "0")}-${name}.png`));
}
const text = (id) => page.evaluate(`document.getElementById("${id}").textContent`);
const choose = (topic) => page.evaluate(`[...document.querySelectorAll("#list button")].find((b) => b.dataset.topic === "${topic}").click()`);
/** ms after the start that the timeline shows. */
const position = () => page.evaluate('Number(document.getElementById("timeline-at").value)');
const positionIs = (condition) => page.until(`((p) => ${condition})(Number(document.getElementById("timeline-at").value))`);
const stamp = () => text("facts");
const plays = (does) => page.until(`document.getElementById("timeline-play").textContent === "${does ? "Pause" : "Play"}"`);

async function record(start, folder) {
  const sensors = await start("bridge_sensors", 640, 480, 10, 5000, 5);
  const file = join(folder, "drive.mcap");
  const recorder = await start("cardan", "record", "--seconds", "12", "-o", file);
  if (recorder.process.exitCode === null) await new Promise((ended) => recorder.process.once("exit", ended));
  sensors.process.kill("SIGKILL");
  return file;
}

async function opens() {
  await page.until('document.querySelectorAll("#list button").length >= 2');
  await page.until('document.querySelector("#timeline")');
  assert.match(await text("timeline-facts"), /^drive\.mcap: 2 topics, \d\d\d? messages$/);
  await plays(false);
  await positionIs("p > 900 && p < 1100");
  await choose("/camera");
  await page.until('!document.getElementById("image").hidden && document.getElementById("tree").textContent.includes("encoding")');
  assert.equal(await text("problem"), "");
  await shot("opens");
}

async function keys() {
  await page.evaluate("document.activeElement.blur()");
  const before = await stamp();
  await page.key(" ");
  await plays(true);
  await positionIs("p > 2500");
  await page.until(`document.getElementById("facts").textContent !== ${JSON.stringify(before)}`);
  await page.key(" ");
  await plays(false);
  const at = await position();
  await page.key("s"); // two messages may be closer than a step of the slider
  await page.key("s");
  await page.key("s");
  await positionIs(`p > ${at}`);
  await page.key("ArrowRight");
  await positionIs(`p > ${at} + 4900`);
  await page.key("ArrowLeft");
  await positionIs(`p < ${at} + 1000`);
  await page.key("+");
  await page.until('document.getElementById("timeline-speed").value === "2"');
  await page.key("-");
  await page.until('document.getElementById("timeline-speed").value === "1"');
  await page.key("End");
  await page.until('document.getElementById("timeline-text").textContent.replace(/^(.*) \\/ (.*)$/, "$1") === document.getElementById("timeline-text").textContent.replace(/^(.*) \\/ (.*)$/, "$2")');
  await page.key(" "); // from the start again
  await plays(true);
  await positionIs("p < 5000");
  await page.key(" ");
  await plays(false);
  await page.key("Home");
  await positionIs("p === 0");
  await page.key("2");
  assert.equal(await page.evaluate('document.getElementById("plots").hidden'), false, "the keys of the views are theirs");
  await page.key("1");
}

async function mouse() {
  const length = Number(await page.evaluate('document.getElementById("timeline-at").max'));
  await page.click("#timeline-at"); // its middle
  await positionIs(`Math.abs(p - ${length / 2}) < ${length / 20}`);
  await page.click("#timeline-step");
  await page.click("#timeline-forth");
  await positionIs(`p > ${length / 2} + 4000`);
  await page.click("#timeline-back");
  await positionIs(`p < ${length / 2} + 1500`);
  await choose("/cloud");
  await page.until('document.getElementById("cloud-facts").textContent.includes("points")');
  await page.select("#timeline-speed", "0.5");
  await page.click("#timeline-play");
  await plays(true);
  await shot("cloud");
  await page.click("#timeline-play");
  await plays(false);
  await page.click("#timeline-facts");
  await page.until('document.querySelector("#timeline-contents table").textContent.includes("/cloud")');
  await page.until('document.getElementById("silence").textContent === ""');
  await shot("contents");
  await page.click("#timeline-facts");
}

async function screens(url) {
  for (const [name, width, options] of [["wide-dark", 1400, { scheme: "dark" }], ["phone-light", 390, { mobile: true, scale: 2 }], ["phone-dark", 390, { scheme: "dark", mobile: true, scale: 2 }]]) {
    await page.screen(width, 850, options);
    await page.goto("about:blank");
    await page.goto(`${url}/#topics=%2Fcamera`);
    await page.until('document.querySelector("#timeline") && !document.getElementById("image").hidden');
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "nothing outside the screen");
    await shot(name);
  }
}

await withPrograms(programs, async ({ start, folder }) => {
  const file = await record(start, folder);
  const bridge = await startBridge(start, file);
  const url = `http://127.0.0.1:${bridge.port}`;
  page = await openBrowser(chromium, WebSocket, folder);
  try {
    await page.screen(1400, 850);
    await page.goto(url);
    await opens();
    await keys();
    await mouse();
    await screens(url);
    // A bridge to what runs comes in its place.
    bridge.process.kill("SIGKILL");
    await page.until('document.getElementById("timeline-play").disabled');
    await startBridge(start, "--port", bridge.port);
    await page.until('document.getElementById("timeline").hidden');
    assert.deepEqual(page.errors.filter((text) => !/ERR_CONNECTION|WebSocket connection/.test(text)), []);
  } finally {
    await page.end();
  }
  console.log("a recording opens with what is there, plays, steps, seeks and changes its rate by mouse and keys");
});
process.exit(0);
