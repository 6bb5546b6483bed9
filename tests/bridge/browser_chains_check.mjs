// SPDX-License-Identifier: Apache-2.0
// The pictures and messages of a chain's frames, and the tree of frames, in Debian's Chromium: each picture is the one on
// which the message rests, and a hostile publisher's names stay text.
//
//   node browser_chains_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES CHROMIUM LIBRARY_OF_COMPONENTS [FOLDER_FOR_PICTURES]
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { startBridge, withPrograms } from "./programs.mjs";

const [programs, modules, chromium, library, pictures] = process.argv.slice(2).map((path) => resolve(path));
const WebSocket = createRequire(join(modules, "node_modules", "x.js"))("ws");
const HOSTILE = '<img src=x onerror="window.hit=1">';
const FRAMES = 60; // that are looked at
const component = (name, kind) => ({ components: { [name]: { library, class: kind } } });
const SYSTEM = { name: "eyes", processes: { eye: component("eye", "ChainEye"), mind: component("finder", "ChainFinder") }, chains: { see: { from: "/picture", to: "/seen", budget_ms: 100 } } };

/** CDR of a tf2_msgs/msg/TFMessage: [parent, child, {x, y, z}] of each. */
function places(all, ms) {
  const bytes = [0, 1, 0, 0];
  const align = (size) => {
    while ((bytes.length - 4) % size) bytes.push(0);
  };
  const put = (size, write) => {
    align(size);
    const one = Buffer.alloc(size);
    write(one);
    bytes.push(...one);
  };
  const word = (n) => put(4, (one) => one.writeUInt32LE(n));
  word(all.length);
  for (const [parent, child, at] of all) {
    word(Math.floor(ms / 1000));
    word(Math.floor(ms % 1000) * 1e6);
    for (const name of [parent, child]) {
      word(Buffer.byteLength(name) + 1);
      bytes.push(...Buffer.from(`${name}\0`));
    }
    for (const n of [at.x, at.y, at.z, 0, 0, 0, 1]) put(8, (one) => one.writeDoubleLE(n));
  }
  return Buffer.from(bytes);
}

let page;
const shot = async (name) => {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.shot(join(pictures, `${name}.png`));
};

/** The bright column of the picture in a chosen frame's way, and the one that the next message tells; null: no picture. */
const LOOK = `(() => {
  const [picture, seen] = document.querySelectorAll(".shots figure");
  const canvas = picture?.querySelector("canvas");
  if (!canvas || canvas.width !== 64) return null;
  const { data } = canvas.getContext("2d").getImageData(0, 44, 64, 1);
  const bright = [...Array(64).keys()].filter((x) => data[4 * x] > 127);
  const told = Number(/center_x: ([0-9.]+)/.exec(seen.textContent)?.[1]);
  return bright.length === 0 ? null : { bright: (bright[0] + bright.at(-1) + 1) / 2, told };
})()`;

async function chains() {
  await page.key("6");
  await page.until('document.querySelectorAll(".frame-row").length >= 9');
  let [all, wrong] = [0, 0];
  const words = new Set();
  for (let i = 0; i < FRAMES; ++i) {
    const key = await page.evaluate(`(() => { const b = [...document.querySelectorAll(".frame-row:not([aria-pressed=true])")][${i % 7}]; b.click(); return b.dataset.key; })()`);
    await page.until(`document.querySelector(".frame-row[aria-pressed=true]")?.dataset.key === ${JSON.stringify(key)} && document.querySelectorAll(".shots figure").length === 2`);
    await new Promise((next) => setTimeout(next, 150)); // the picture is decoded
    const look = await page.evaluate(LOOK);
    if (look) {
      all += 1;
      wrong += look.bright !== look.told;
    } else words.add(await page.evaluate('document.querySelector(".shots figure .soft")?.textContent ?? "no figure"'));
  }
  console.log(`${all} of ${FRAMES} frames have their pictures, ${wrong} a wrong one; others: ${[...words].join(" ") || "none"}`);
  assert.equal(wrong, 0, "each picture is the one on which the message rests");
  assert.ok(all > FRAMES / 4, `${all} of ${FRAMES}`);
  await page.evaluate('document.querySelector(".shots").scrollIntoView({ block: "center" })');
  await shot("chains");
  await page.click("#chains-keep");
  await page.until('[...document.querySelectorAll(".frame-row:not([aria-pressed=true])")][0].click() ?? document.querySelector(".shots").textContent.includes("It was not kept.")');
  await page.click("#chains-keep");
  await page.until('[...document.querySelectorAll(".frame-row:not([aria-pressed=true])")][0].click() ?? !document.querySelector(".shots").textContent.includes("It was not kept.")');
}

async function frames(port) {
  await page.click("#show-system");
  await page.until('document.getElementById("frames-note").textContent.startsWith("No transforms yet.")');
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["foxglove.sdk.v1"]);
  await new Promise((open, failed) => socket.once("open", open).once("error", failed));
  socket.on("message", (data, isBinary) => assert.ok(isBinary || JSON.parse(data).op !== "status", String(data)));
  socket.send(JSON.stringify({ op: "advertise", channels: ["/tf", "/tf_static"].map((topic, id) => ({ id, topic, encoding: "cdr", schemaName: "tf2_msgs/msg/TFMessage" })) }));
  const publish = (id, all) => socket.send(Buffer.concat([Buffer.from([1, id, 0, 0, 0]), places(all, Date.now())]));
  const at = { x: 1, y: 2, z: 3 };
  publish(1, [["base", HOSTILE, at], ["base", "lidar", at]]);
  let moved = 0;
  const timer = setInterval(() => {
    moved += 1;
    publish(0, [["odom", "base", at], ["base", "odom", at], [moved % 2 ? "odom" : "base", "trailer", at], ["base", "broken", { ...at, x: NaN }], ...(moved < 20 ? [["base", "arm", at]] : [])]);
  }, 50);
  const row = (name) => `[...document.querySelectorAll("#frames tr")].find((r) => r.cells[0].textContent === ${JSON.stringify(name)})`;
  await page.until(`${row(HOSTILE)} && /^(1[5-9]|2[0-5])\\.\\d Hz$/.test(${row("base")}?.cells[2].textContent)`);
  assert.equal(await page.evaluate(`${row(HOSTILE)}.cells[2].textContent`), "static");
  await page.until(`${row("arm")}.cells[3].classList.contains("bad")`); // nobody publishes it any longer
  assert.equal(await page.evaluate(`${row("base")}.cells[3].classList.contains("bad")`), false);
  assert.match(await page.evaluate(`${row("odom")}.cells[6].textContent`), /would close a circle/);
  assert.match(await page.evaluate(`${row("trailer")}.cells[6].textContent`), /two parents/);
  assert.match(await page.evaluate('document.getElementById("frames-note").textContent'), /broken in base: NaN/);
  publish(0, Array.from({ length: 10_000 }, (_, i) => [`f${i}`, `f${i + 1}`, at]).slice(0, 400)); // what fits into a message of the topic
  await page.until(`document.querySelectorAll("#frames tr").length > 400`);
  await page.evaluate('document.getElementById("frames-table").scrollIntoView()');
  await shot("frames");
  // Another page comes later: it gets what is static, too.
  await page.evaluate("window.isOld = true");
  await page.call("Page.reload");
  await page.until(`!window.isOld && ${row("lidar")}`);
  assert.equal(await page.evaluate("window.hit"), undefined);
  assert.equal(await page.evaluate('document.querySelectorAll("#frames img").length'), 0);
  clearInterval(timer);
}

await withPrograms(programs, async ({ start, folder }) => {
  const system = join(folder, "eyes.json");
  writeFileSync(system, JSON.stringify(SYSTEM));
  start("cardan", "run", system, "--no-view", "--reports", join(folder, "out"));
  const bridge = await startBridge(start, "--in", "/tf*");
  page = await openBrowser(chromium, WebSocket, folder);
  try {
    await page.screen(1280, 900);
    await page.goto(`http://127.0.0.1:${bridge.port}/`);
    await page.until('document.getElementById("picture-cards")?.textContent.includes("/picture")');
    await chains();
    await frames(bridge.port);
    assert.deepEqual(page.errors, [], "nothing was refused by the page's policy, and nothing failed");
    console.log("each picture is the right one, and the tree of frames is as it is published");
  } catch (error) {
    await shot("failed");
    console.error(page.errors);
    throw error;
  } finally {
    await page.end();
  }
});
process.exit(0);
