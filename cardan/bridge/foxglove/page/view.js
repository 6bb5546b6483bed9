// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view`: topics, messages, plots, the system, the log and the graph, over the bridge's own socket.
import { Detail } from "./detail.js";
import { showGraph } from "./graph.js";
import { Log } from "./log.js";
import { compare, poll } from "./look.js";
import { Plots } from "./plot.js";
import { Session } from "./session.js";
import { System } from "./system.js";
import { bytesText, cell, rateText } from "./text.js";

const $ = (id) => document.getElementById(id);
const VIEWS = ["topics", "plots", "system", "log", "graph"];
let shownView = "topics";
let look = { publishers: [] };
let seen = compare(null, look);
let components = [];

const session = new Session({
  channels() {
    showList();
    plots.listTopics();
    log.channels();
  },
  state(text, isGood) {
    $("state").textContent = text;
    $("state").className = isGood ? "good" : "bad";
    if (!isGood) system.refused("the connection was lost before the answer", "Perhaps changed");
  },
  parameters: (text) => system.answered(text),
  status({ level, message }) {
    log.add(Date.now(), [20, 30, 40][level] ?? 20, "bridge", message);
    if (level === 2) system.refused(message);
    if (level > 0) $("state").textContent = message;
  },
});
const detail = new Detail(session);
const plots = new Plots(session);
const system = new System(session);
const log = new Log(session);

// ---- the list

let listed = "";

function makeRow(channel) {
  const row = $("list").insertRow();
  const button = document.createElement("button");
  button.textContent = button.dataset.topic = channel.topic;
  button.onclick = () => {
    detail.choose(channel.topic);
    showList();
  };
  cell(row, "").append(button);
  cell(row, channel.schemaName);
  cell(row, "", "number");
  cell(row, "", "number");
}

function showList() {
  const words = $("filter").value.toLowerCase();
  const all = [...session.channels.values()].sort((a, b) => (a.topic < b.topic ? -1 : 1));
  const fits = all.filter((c) => `${c.topic} ${c.schemaName}`.toLowerCase().includes(words));
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
  $("none").textContent = all.length === 0 ? "No topics yet." : "No topic fits the filter.";
}

// ---- the page

function show(view) {
  shownView = view;
  for (const name of VIEWS) {
    $(name).hidden = name !== view;
    $(`show-${name}`).setAttribute("aria-pressed", String(name === view));
  }
  if (view === "log") log.show();
  if (view === "graph") showGraph($("drawing"), $("connections"), seen, components);
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
session.connect();
poll(
  "/look.json",
  () => true,
  (answer) => {
    if (!answer.publishers || answer.time_ns === look.time_ns) return;
    seen = compare(look, answer);
    look = answer;
    showList();
    plots.look(seen.publishers);
    if (shownView === "graph") showGraph($("drawing"), $("connections"), seen, components);
  },
);
poll(
  "/system.json",
  () => ["system", "graph", "log"].includes(shownView),
  (answer) => {
    components = answer.components ?? [];
    system.show(answer, seen.cpu);
    log.states(answer.changes);
  },
);
