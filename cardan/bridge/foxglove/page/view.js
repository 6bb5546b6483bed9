// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view`: topics, messages, plots, the system, the log and the graph, over the bridge's own socket.
import { Detail } from "./detail.js";
import { Graph } from "./graph.js";
import { Log } from "./log.js";
import { compare, poll } from "./look.js";
import { Plots } from "./plot.js";
import { Session } from "./session.js";
import { System } from "./system.js";
import { bytesText, cell, rateText } from "./text.js";
import { Timeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const VIEWS = ["topics", "plots", "system", "log", "graph"];
let shownView = "topics";
let look = { publishers: [] };
let seen = compare(null, look);
let components = [];
let isConnected = false;

const session = new Session({
  channels() {
    showList();
    detail.channels();
    plots.listTopics();
    log.channels();
  },
  state(text, isGood) {
    $("state").textContent = text;
    $("state").className = isGood ? "good" : "bad";
    isConnected = isGood;
    document.body.classList.toggle("stale", !isGood); // what is shown is from before
    showList();
    timeline.connected(isGood);
    if (!isGood) system.refused("the connection was lost before the answer", "Perhaps changed");
  },
  parameters: (text) => system.answered(text),
  recording: (contents) => timeline.recording(contents),
  time: (ms) => timeline.time(ms),
  playback: (view) => timeline.state(view),
  status({ level, message }) {
    log.add(Date.now(), [20, 30, 40][level] ?? 20, "bridge", message);
    if (level === 2) system.refused(message);
    if (level > 0) notice(message);
  },
});
const detail = new Detail(session, () => {
  showList();
  keepPlace();
});
const plots = new Plots(session);
const timeline = (session.timeline = new Timeline(session, () => plots.seeked()));
const system = new System(session);
const log = new Log(session);
const graph = new Graph((topic) => {
  show("topics");
  choose(topic);
});

let noticeEnd = 0;
/** What the bridge says to this page; the log keeps it. */
function notice(text) {
  $("notice-text").textContent = text;
  $("notice").hidden = text === "";
  clearTimeout(noticeEnd);
  if (text) noticeEnd = setTimeout(() => notice(""), 20_000);
}

// ---- the list

let listed = "";
let order = { by: "topic", sign: 1 };

function choose(topic) {
  detail.choose(topic);
  showList();
  keepPlace();
  if ($("detail").getBoundingClientRect().top < 0) $("detail").scrollIntoView({ block: "start" });
}

function makeRow(channel) {
  const row = $("list").insertRow();
  const button = document.createElement("button");
  button.textContent = button.dataset.topic = channel.topic;
  button.onclick = () => choose(channel.topic);
  cell(row, "").append(button);
  cell(row, channel.schemaName);
  cell(row, "", "number");
  cell(row, "", "number");
}

function sorted(channels) {
  const key = { topic: (c) => c.topic, type: (c) => c.schemaName, hz: (c) => seen.rates.get(c.topic)?.hz ?? -1, bytes: (c) => seen.rates.get(c.topic)?.bytes ?? -1 }[order.by];
  const less = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * order.sign;
  return channels.sort((a, b) => less(a, b) || (a.topic < b.topic ? -1 : 1));
}

function sortBy(by) {
  order = { by, sign: order.by === by ? -order.sign : by === "hz" || by === "bytes" ? -1 : 1 };
  for (const button of document.querySelectorAll("[data-sort]")) {
    const th = button.parentElement;
    if (button.dataset.sort === by) th.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
    else th.removeAttribute("aria-sort");
  }
  showList();
}

function showList() {
  const words = $("filter").value.toLowerCase();
  const all = [...session.channels.values()];
  const fits = sorted(all.filter((c) => `${c.topic} ${c.schemaName}`.toLowerCase().includes(words)));
  const form = JSON.stringify(fits.map((c) => [c.topic, c.schemaName]));
  // Rows stay as long as they are the same ones: a click or the focus on one is not lost each second.
  if (form !== listed) {
    const focused = document.activeElement?.dataset?.topic;
    $("list").replaceChildren();
    fits.forEach(makeRow);
    [...$("list").querySelectorAll("button")].find((b) => b.dataset.topic === focused)?.focus({ preventScroll: true });
    listed = form;
  }
  fits.forEach((channel, i) => {
    const row = $("list").rows[i];
    const chosen = detail.topic === channel.topic;
    row.className = chosen ? "chosen" : "";
    if (chosen) row.cells[0].firstChild.setAttribute("aria-current", "true");
    else row.cells[0].firstChild.removeAttribute("aria-current");
    const rate = seen.rates.get(channel.topic);
    row.cells[2].textContent = rate ? rateText(rate.hz) : "";
    row.cells[3].textContent = rate ? bytesText(rate.bytes) : "";
  });
  $("none").hidden = fits.length !== 0;
  $("none").textContent = !isConnected ? "Not connected to the bridge." : all.length === 0 ? "No topics yet. Start a program that publishes, or `cardan demo`." : "No topic fits the filter.";
}

// ---- the page

function show(view) {
  shownView = view;
  for (const name of VIEWS) {
    $(name).hidden = name !== view;
    $(`show-${name}`).setAttribute("aria-pressed", String(name === view));
  }
  detail.shown(view === "topics");
  keepPlace();
  if (view === "log") log.show();
  if (view === "graph") graph.show(seen, components);
}

/** The address says where the reader is, so that a reload or a link leads there. */
function keepPlace() {
  const place = `#${shownView}${shownView === "topics" && detail.topic ? `=${encodeURIComponent(detail.topic)}` : ""}`;
  if (location.hash !== place) window.history.replaceState(null, "", place);
}
function goToPlace() {
  const [view, topic] = location.hash.slice(1).split("=");
  if (VIEWS.includes(view)) show(view);
  try {
    if (topic) choose(decodeURIComponent(topic));
  } catch {
    // Not an address that this page made.
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").value = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // A browser that keeps nothing: the choice ends with the page.
  }
}

for (const name of VIEWS) $(`show-${name}`).onclick = () => show(name);
for (const button of document.querySelectorAll("[data-sort]")) button.onclick = () => sortBy(button.dataset.sort);
$("notice-close").onclick = () => notice("");
$("filter").oninput = showList;
$("theme").onchange = () => setTheme($("theme").value);
document.addEventListener("visibilitychange", () => session.seen(!document.hidden));
document.addEventListener("keydown", (event) => {
  const writes = ["INPUT", "SELECT"].includes(document.activeElement?.tagName);
  if (event.key === "/" && !writes) {
    event.preventDefault();
    show("topics");
    $("filter").focus();
  }
  if (event.key === "Escape" && shownView === "topics" && detail.topic && !writes) detail.close();
  const view = VIEWS[Number(event.key) - 1];
  if (view && !writes && !event.ctrlKey && !event.altKey && !event.metaKey) $(`show-${view}`).click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...$("list").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (step && (at >= 0 || document.activeElement === $("filter"))) {
    event.preventDefault();
    (buttons[Math.max(at + step, 0)] ?? document.activeElement).focus();
  }
});
try {
  setTheme(localStorage.getItem("theme") ?? "");
} catch {
  setTheme("");
}
goToPlace();
window.addEventListener("hashchange", goToPlace);
session.connect();
poll(
  "/look.json",
  () => true,
  (answer) => {
    if (!answer.publishers || answer.time_ns === look.time_ns) return;
    seen = compare(look, answer);
    look = answer;
    if (Number.isFinite(answer.wall_ms)) session.clock(answer.wall_ms);
    showList();
    plots.look(seen.publishers);
    if (shownView === "graph") graph.show(seen, components);
  },
);
poll(
  "/system.json",
  () => ["system", "graph", "log"].includes(shownView),
  (answer) => {
    components = answer.components ?? [];
    system.show(answer, seen);
    log.states(answer.changes);
    log.run(answer);
  },
);
