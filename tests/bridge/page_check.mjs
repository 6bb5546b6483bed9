// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view` in npm's jsdom, on a bridge that runs: the list, a message, an image, the graph, the keys.
//
//   node page_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startBridge, until, withPrograms } from "./programs.mjs";

const [programs, modules] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
const { JSDOM } = require("jsdom");
const WebSocket = require("ws");

/** Loads the page as the bridge serves it. Returns its window, and what was drawn. */
async function open(port, folder) {
  const base = `http://127.0.0.1:${port}`;
  const get = async (path) => (await fetch(base + path)).text();
  const dom = new JSDOM(await get("/"), { url: base, pretendToBeVisual: true });
  const { window } = dom;
  const drawn = [];
  window.HTMLCanvasElement.prototype.getContext = () => ({ putImageData: (image) => drawn.push(image) });
  const served = globalThis.fetch;
  Object.assign(globalThis, {
    window,
    document: window.document,
    location: window.location,
    WebSocket,
    ImageData: class {
      constructor(data, width, height) {
        Object.assign(this, { data, width, height });
      }
    },
    requestAnimationFrame: (draw) => setTimeout(() => draw(performance.now()), 0),
    fetch: (path) => served(base + path),
  });
  const scripts = join(folder, "page");
  mkdirSync(scripts);
  writeFileSync(join(scripts, "package.json"), '{"type":"module"}');
  for (const name of ["view", "cdr", "image", "tree", "graph"]) {
    writeFileSync(join(scripts, `${name}.js`), await (await served(`${base}/${name}.js`)).text());
  }
  await import(pathToFileURL(join(scripts, "view.js")));
  return { window, drawn };
}

await withPrograms(programs, async ({ start, folder }) => {
  const sensors = await start("bridge_sensors", 320, 240, 20, 1000, 10);
  const bridge = await startBridge(start);
  const { window, drawn } = await open(bridge.port, folder);
  const $ = (id) => window.document.getElementById(id);
  const key = (name) => window.document.dispatchEvent(new window.KeyboardEvent("keydown", { key: name, cancelable: true }));
  const topics = () => [...$("list").querySelectorAll("button")].map((button) => button.textContent);

  await until(() => topics().join() === "/camera,/cloud");
  assert.equal($("state").textContent, "connected");
  await until(() => /^\d.* Hz$/.test($("list").rows[0].cells[2].textContent));
  assert.match($("list").rows[0].cells[3].textContent, /B$/);

  key("/");
  assert.equal(window.document.activeElement, $("filter"));
  $("filter").value = "cloud";
  $("filter").dispatchEvent(new window.Event("input"));
  assert.deepEqual(topics(), ["/cloud"]);
  $("filter").value = "";
  $("filter").dispatchEvent(new window.Event("input"));
  key("ArrowDown");
  assert.equal(window.document.activeElement.textContent, "/camera");

  window.document.activeElement.click();
  await until(() => drawn.length > 2 && $("tree").textContent.includes("encoding"));
  const { data, width, height } = drawn.at(-1);
  assert.deepEqual([width, height, $("image").width, $("image").hidden], [320, 240, 320, false]);
  // Byte i of frame n is i + n, in the order blue, green, red.
  const first = data[2];
  for (const at of [0, 1, 777, 320 * 240 - 1]) {
    const expected = [2, 1, 0].map((i) => (first + 3 * at + i) % 256);
    assert.deepEqual([...data.slice(4 * at, 4 * at + 4)], [...expected, 255]);
  }
  for (const part of ['frame_id: "camera"', "width: 320", 'encoding: "bgr8"', "(230400)"]) assert.ok($("tree").textContent.includes(part), part);
  const fold = $("tree").querySelector("details");
  fold.open = false;
  fold.dispatchEvent(new window.Event("toggle"));
  const stamp = () => $("tree").querySelector(".value").textContent;
  const before = stamp();
  await until(() => $("facts").textContent.includes("Hz here"));
  await until(() => stamp() !== before || $("tree").textContent !== before);
  assert.equal($("tree").querySelector("details").open, false, "it stays folded");

  [...$("list").querySelectorAll("button")].find((button) => button.textContent === "/cloud").click();
  await until(() => $("tree").textContent.includes("point_step: 16"));
  assert.equal($("image").hidden, true);
  assert.ok($("tree").textContent.includes("fields (3)"));

  $("show-graph").click();
  assert.deepEqual([$("topics").hidden, $("graph").hidden], [true, false]);
  await until(() => $("connections").textContent.includes("bridge_sensors"));
  assert.ok($("drawing").textContent.includes(`bridge_sensors (${sensors.process.pid})`));
  assert.ok($("drawing").querySelectorAll("path").length >= 2);

  bridge.process.kill("SIGKILL");
  await until(() => $("state").textContent.startsWith("not connected"));
  assert.deepEqual(topics(), []);
  console.log("the page shows topics, rates, an image, values and the graph, and says when the bridge has gone");
});
process.exit(0); // its timers go on
