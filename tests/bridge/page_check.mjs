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
  window.HTMLCanvasElement.prototype.getContext = () => ({ drawImage: (image) => drawn.push(image) });
  // A browser runs a library's script; here it is a module of node.
  const append = window.document.head.append.bind(window.document.head);
  window.document.head.append = async (...all) => {
    for (const one of all.filter(({ tagName }) => tagName === "SCRIPT")) {
      const path = join(folder, `${one.src.replace(/\W/g, "_")}.cjs`);
      writeFileSync(path, await (await served(one.src)).text());
      window[one.src.endsWith("dagre.js") ? "dagre" : "Dygraph"] = require(path);
      one.onload();
    }
    append(...all.filter(({ tagName }) => tagName !== "SCRIPT"));
  };
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
    ResizeObserver: class {
      observe() {}
    },
    // Nothing is in sight: cards ask for no pictures.
    IntersectionObserver: class {
      observe() {}
      disconnect() {}
    },
    // A browser decodes the picture; here it is looked at as it came.
    createImageBitmap: async (blob) => ({ width: 320, height: 240, bytes: Buffer.from(await blob.arrayBuffer()), close() {} }),
    requestAnimationFrame: (draw) => setTimeout(() => draw(performance.now()), 0),
    fetch: (path) => served(base + path),
  });
  const scripts = join(folder, "page");
  mkdirSync(scripts);
  writeFileSync(join(scripts, "package.json"), '{"type":"module"}');
  const wanted = ["view.js"];
  for (const name of wanted) {
    const text = await (await served(`${base}/${name}`)).text();
    writeFileSync(join(scripts, name), text);
    for (const [, other] of text.matchAll(/ from "\.\/([a-z_]+\.js)"/g)) if (!wanted.includes(other)) wanted.push(other);
  }
  await import(pathToFileURL(join(scripts, "view.js")));
  const { pixels } = await import(pathToFileURL(join(scripts, "image.js")));
  return { window, drawn, pixels };
}

await withPrograms(programs, async ({ start, folder }) => {
  const sensors = await start("bridge_sensors", 320, 240, 20, 1000, 10);
  const bridge = await startBridge(start);
  const { window, drawn, pixels } = await open(bridge.port, folder);
  const $ = (id) => window.document.getElementById(id);
  const key = (name) => window.document.dispatchEvent(new window.KeyboardEvent("keydown", { key: name, cancelable: true }));
  const buttons = () => [...$("list").querySelectorAll("button[data-topic]")];
  const topics = () => buttons().map((button) => button.textContent);
  const figures = (topic) => buttons().find((button) => button.dataset.topic === topic).closest(".card").querySelector("dl").textContent;

  await until(() => topics().join() === "/camera,/cloud");
  assert.equal($("state").textContent, "connected");
  await until(() => /rate\d.* Hz/.test(figures("/camera")));
  await until(() => /size23[0-9] kB/.test(figures("/camera")));
  for (const part of ["latencyno reader", "frombridge_sensors"]) assert.ok(figures("/camera").includes(part), part);
  await until(() => /\d of 2 topics|2 topics, .*B\/s/.test($("overview").textContent));
  assert.ok($("overview").textContent.includes("nothing is lost"));

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
  assert.deepEqual([...drawn.at(-1).bytes.subarray(0, 2)], [0xff, 0xd8], "a JPEG");
  assert.deepEqual([$("image").width, $("image").height, $("image-part").hidden], [320, 240, false]);
  // The pictures of a bridge without libjpeg are drawn pixel by pixel: blue, green, red.
  const raw = { encoding: "bgr8", width: 2, height: 1, step: 6, data: Uint8Array.of(1, 2, 3, 4, 5, 6) };
  assert.deepEqual([...pixels(raw).rgba], [3, 2, 1, 255, 6, 5, 4, 255]);
  assert.throws(() => pixels({ ...raw, width: 3 }), /fewer bytes/);
  for (const part of ['frame_id: "camera"', "width: 320", 'encoding: "bgr8"', "bytes: 230400"]) assert.ok($("tree").textContent.includes(part), part);
  const fold = $("tree").querySelector("details");
  fold.open = false;
  fold.dispatchEvent(new window.Event("toggle"));
  const stamp = () => $("tree").querySelector(".value").textContent;
  const before = stamp();
  await until(() => $("facts").textContent.includes("Hz here"));
  await until(() => stamp() !== before || $("tree").textContent !== before);
  assert.equal($("tree").querySelector("details").open, false, "it stays folded");

  // It stops, and continues.
  $("detail-pause").click();
  const [still, count] = [stamp(), drawn.length];
  await new Promise((next) => setTimeout(next, 500));
  assert.deepEqual([stamp(), drawn.length, $("silence").textContent], [still, count, "Paused: newer messages are not shown."]);
  $("detail-pause").click();
  await until(() => drawn.length > count && stamp() !== still);

  for (const way of ["tree", "table"]) {
    $("topics-as").value = way;
    $("topics-as").dispatchEvent(new window.Event("change"));
    assert.deepEqual(topics(), way === "tree" ? ["camera", "cloud"] : ["/camera", "/cloud"]);
    assert.ok(window.location.hash.endsWith(`&as=${way}`), "the address keeps it");
  }
  $("topics-as").value = "cards";
  $("topics-as").dispatchEvent(new window.Event("change"));

  buttons().find((button) => button.textContent === "/cloud").click();
  await until(() => $("tree").textContent.includes("point_step: 16"));
  assert.equal($("image-part").hidden, true);
  assert.ok($("tree").textContent.includes("fields ("));

  $("show-graph").click();
  assert.deepEqual([$("topics").hidden, $("graph").hidden], [true, false]);
  await until(() => $("connections").textContent.includes("bridge_sensors"));
  await until(() => $("drawing").textContent.includes("CPU"));
  assert.ok($("drawing").textContent.includes(`bridge_sensors (${sensors.process.pid})`));
  assert.ok($("drawing").querySelectorAll("path").length >= 2);
  assert.ok(!$("connections").textContent.includes("undefined"));

  bridge.process.kill("SIGKILL");
  await until(() => $("state").textContent.startsWith("not connected"));
  assert.deepEqual(topics(), []);
  console.log("the page shows topics, rates, an image, values and the graph, and says when the bridge has gone");
});
process.exit(0); // its timers continue
