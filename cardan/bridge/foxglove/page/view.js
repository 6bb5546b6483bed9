// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view`: topics, messages, images and the graph, over the bridge's own socket.
import { decode, parseSchema } from "./cdr.js";
import { drawImage, isImage } from "./image.js";
import { showGraph } from "./graph.js";
import { showTree } from "./tree.js";

const $ = (id) => document.getElementById(id);
const channels = new Map(); // id → channel
let socket = null;
let chosen = null; // {topic, subscription, channel, schema, newest, count, bytes, since}
let lastSubscription = 0;
let before = null; // the look before the newest one
let wait = 500; // ms until the next try

const rateText = (n) => (n < 0 || !Number.isFinite(n) ? "" : n >= 100 ? n.toFixed(0) : n.toFixed(1)) + " Hz";
export function bytesText(n) {
  for (const unit of ["B", "kB", "MB"]) {
    if (n < 1000) return `${n < 10 && unit !== "B" ? n.toFixed(1) : n.toFixed(0)} ${unit}`;
    n /= 1000;
  }
  return `${n.toFixed(1)} GB`;
}

function connect() {
  socket = new WebSocket(`ws://${location.host}`, ["foxglove.sdk.v1", "foxglove.websocket.v1"]);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => (typeof data === "string" ? receive(JSON.parse(data)) : message(data));
  socket.onclose = () => {
    channels.clear();
    if (chosen) chosen.channel = null;
    showList();
    $("state").textContent = "not connected; trying again …";
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 8000);
  };
}

function send(object) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(object));
}

function receive(text) {
  if (text.op === "serverInfo") {
    wait = 500;
    $("state").textContent = "connected";
  } else if (text.op === "advertise") {
    for (const channel of text.channels) channels.set(channel.id, channel);
    showList();
    resubscribe();
  } else if (text.op === "unadvertise") {
    for (const id of text.channelIds) channels.delete(id);
    if (chosen && !channels.has(chosen.channel?.id)) chosen.channel = null;
    showList();
  } else if (text.op === "status" && text.level > 0) {
    $("state").textContent = text.message;
  }
}

// ---- the list

let look = { publishers: [] };
const rates = new Map(); // topic → {hz, bytes}

function measure() {
  rates.clear();
  if (!before || look.time_ns <= before.time_ns) return;
  const seconds = (look.time_ns - before.time_ns) / 1e9;
  const key = (p) => `${p.pid}/${p.serial}/${p.topic}`;
  const old = new Map(before.publishers.map((p) => [key(p), p]));
  for (const p of look.publishers) {
    const was = old.get(key(p)) ?? { published: p.published, bytes: p.bytes };
    const sum = rates.get(p.topic) ?? { hz: 0, bytes: 0 };
    sum.hz += (p.published - was.published) / seconds;
    sum.bytes += (p.bytes - was.bytes) / seconds;
    p.hz = (p.published - was.published) / seconds;
    rates.set(p.topic, sum);
  }
}

function cell(row, text, kind) {
  const td = row.insertCell();
  td.textContent = text;
  if (kind) td.className = kind;
  return td;
}

function showList() {
  const words = $("filter").value.toLowerCase();
  const focused = document.activeElement?.dataset?.topic;
  const all = [...channels.values()].sort((a, b) => (a.topic < b.topic ? -1 : 1));
  const shown = all.filter((c) => `${c.topic} ${c.schemaName}`.toLowerCase().includes(words));
  $("list").replaceChildren();
  for (const channel of shown) {
    const row = $("list").insertRow();
    row.className = chosen?.topic === channel.topic ? "chosen" : "";
    const button = document.createElement("button");
    button.textContent = button.dataset.topic = channel.topic;
    button.onclick = () => choose(channel.topic);
    cell(row, "").append(button);
    cell(row, channel.schemaName);
    const rate = rates.get(channel.topic);
    cell(row, rate ? rateText(rate.hz) : "", "number");
    cell(row, rate ? bytesText(rate.bytes) : "", "number");
    if (focused === channel.topic) button.focus();
  }
  $("none").hidden = shown.length !== 0;
  $("none").textContent = all.length === 0 ? "No topics yet." : "No topic fits the filter.";
}

// ---- one topic

function unsubscribe() {
  if (chosen?.channel) send({ op: "unsubscribe", subscriptionIds: [chosen.subscription] });
  if (chosen) chosen.channel = null;
}

/** Subscribes the chosen topic, once it is there and the page is seen. */
function resubscribe() {
  if (!chosen || chosen.channel || document.hidden) return;
  const channel = [...channels.values()].find((c) => c.topic === chosen.topic);
  if (!channel) return;
  Object.assign(chosen, { channel, subscription: ++lastSubscription, schema: null, count: 0, bytes: 0, since: performance.now() });
  try {
    chosen.schema = parseSchema(channel.schemaName, channel.schema);
  } catch (error) {
    $("facts").textContent = String(error);
  }
  send({ op: "subscribe", subscriptions: [{ id: chosen.subscription, channelId: channel.id }] });
}

function choose(topic) {
  unsubscribe();
  chosen = { topic, channel: null, newest: null };
  $("detail").hidden = false;
  $("image").hidden = true;
  $("name").textContent = topic;
  $("facts").textContent = "waiting for a message …";
  $("tree").replaceChildren();
  resubscribe();
  showList();
}

function message(data) {
  const view = new DataView(data);
  if (view.getUint8(0) !== 1 || !chosen?.channel || view.getUint32(1, true) !== chosen.subscription) return;
  const first = chosen.newest === null;
  chosen.newest = { at: Number(view.getBigUint64(5, true)) / 1e6, bytes: new Uint8Array(data, 13) };
  ++chosen.count;
  chosen.bytes += data.byteLength;
  // What came since the last picture is not drawn: the screen sets the pace.
  if (first) requestAnimationFrame(draw);
}

let treeShown = 0;
function draw(now) {
  const { newest, schema } = chosen ?? {};
  if (!newest || !schema) return;
  chosen.newest = null;
  const seconds = (performance.now() - chosen.since) / 1000;
  try {
    const decoded = decode(schema, newest.bytes);
    $("image").hidden = !isImage(schema.root);
    if (isImage(schema.root)) drawImage($("image"), decoded);
    if (now - treeShown > 200) {
      treeShown = now;
      showTree($("tree"), decoded);
      $("facts").textContent =
        `${chosen.channel.schemaName}, ${bytesText(newest.bytes.length)}, ` +
        `${rateText(chosen.count / seconds)} here, published ${new Date(newest.at).toISOString()}`;
    }
  } catch (error) {
    $("facts").textContent = String(error);
  }
  if (seconds > 5) Object.assign(chosen, { count: 0, bytes: 0, since: performance.now() });
}

// ---- the page

function show(view) {
  for (const name of ["topics", "graph"]) {
    $(name).hidden = name !== view;
    $(`show-${name}`).setAttribute("aria-pressed", String(name === view));
  }
}

async function poll() {
  try {
    if (!document.hidden) {
      const answer = await (await fetch("/look.json")).json();
      if (answer.publishers && answer.time_ns !== look.time_ns) {
        before = look.time_ns ? look : null;
        look = answer;
        measure();
        showList();
        showGraph($("drawing"), $("connections"), look.publishers);
      }
    }
  } catch {
    // The socket says that the bridge has gone.
  }
  setTimeout(poll, 1000);
}

$("filter").oninput = showList;
$("show-topics").onclick = () => show("topics");
$("show-graph").onclick = () => show("graph");
document.addEventListener("visibilitychange", () => (document.hidden ? unsubscribe() : resubscribe()));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== $("filter")) {
    event.preventDefault();
    show("topics");
    $("filter").focus();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...$("list").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (step && (at >= 0 || document.activeElement === $("filter"))) {
    event.preventDefault();
    (buttons[Math.max(at + step, 0)] ?? document.activeElement).focus();
  }
});
connect();
poll();
