// SPDX-License-Identifier: Apache-2.0
// The page of `cardan view`: topics, messages, plots, the system, the log, the graph and the chains, over the bridge's own socket.
import { Boxes } from "./boxes.js";
import { Chains } from "./chains.js";
import { Detail } from "./detail.js";
import { Frames } from "./frames_view.js";
import { Graph } from "./graph.js";
import { Log } from "./log.js";
import { compare, poll } from "./look.js";
import { showOverview } from "./overview.js";
import { Plots } from "./plot.js";
import { Session } from "./session.js";
import { System } from "./system.js";
import { Timeline } from "./timeline.js";
import { RUN_LOG, Topics } from "./topics.js";

const $ = (id) => document.getElementById(id);
const VIEWS = ["topics", "plots", "system", "log", "graph", "chains"];
let shownView = "topics";
let look = { publishers: [] };
let seen = compare(null, look);
let asked = {}; // of /system.json
let isConnected = false;

const session = new Session({
  channels() {
    topics.show();
    overview();
    boxes.channels();
    detail.channels();
    plots.listTopics();
    log.channels();
  },
  state(text, isGood) {
    $("state").textContent = text;
    $("state").className = isGood ? "good" : "bad";
    isConnected = isGood;
    document.body.classList.toggle("stale", !isGood); // what is shown is from before
    topics.show();
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
const boxes = new Boxes(session);
const topics = new Topics(session, boxes, {
  choose,
  chosen: () => detail.topic,
  kept: keepPlace,
  isConnected: () => isConnected,
});
const detail = new Detail(session, boxes, () => {
  showDetail();
  keepPlace();
});
const plots = new Plots(session, keepPlace);
const timeline = (session.timeline = new Timeline(session, () => {
  plots.seeked();
  frames.seeked();
}));
const system = new System(session);
const frames = new Frames(session);
const log = new Log(session);
const openTopic = (topic) => {
  show("topics");
  choose(topic);
};
const graph = new Graph(openTopic);
const chains = new Chains(session, openTopic);

let noticeEnd = 0;
/** The bridge's messages to this page; the log keeps them. */
function notice(text) {
  $("notice-text").textContent = text;
  $("notice").hidden = text === "";
  clearTimeout(noticeEnd);
  if (text) noticeEnd = setTimeout(() => notice(""), 20_000);
}

function choose(topic) {
  detail.choose(topic);
  showDetail();
  keepPlace();
  if ($("detail").getBoundingClientRect().top < 0) $("detail").scrollIntoView({ block: "start" });
}
/** Next to a message there is less room for cards. */
function showDetail() {
  $("topics").classList.toggle("with-detail", detail.topic !== null);
  topics.show();
}
function overview() {
  showOverview(asked, seen, [...session.channels.values()].filter((channel) => channel.topic !== RUN_LOG).length);
}

// ---- the page

function show(view) {
  shownView = view;
  for (const name of VIEWS) {
    $(name).hidden = name !== view;
    $(`show-${name}`).setAttribute("aria-pressed", String(name === view));
  }
  detail.shown(view === "topics");
  topics.shown(view === "topics");
  frames.shown(view === "system");
  chains.shown(view === "chains");
  keepPlace();
  if (view === "log") log.show();
  if (view === "plots") plots.draw();
  if (view === "graph") graph.show(seen, asked.components ?? []);
}

/** The address says where the reader is and what the charts show, so that a reload or a link leads there. */
function keepPlace() {
  const words = { topics: `${detail.topic ? `=${encodeURIComponent(detail.topic)}` : ""}${topics.way === "cards" ? "" : `&as=${topics.way}`}`, plots: plots.layout }[shownView] ?? "";
  const place = `#${shownView}${words}`;
  if (location.hash !== place) window.history.replaceState(null, "", place);
}
function goToPlace() {
  const [, view, topic, words] = /^#([a-z]+)(?:=([^&]*))?(.*)$/.exec(location.hash) ?? [];
  if (!VIEWS.includes(view)) return;
  if (view === "plots") plots.layout = words;
  if (view === "topics") topics.as(new URLSearchParams(words).get("as") ?? "cards");
  show(view);
  try {
    if (topic && view === "topics") choose(decodeURIComponent(topic));
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
$("notice-close").onclick = () => notice("");
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
  const buttons = topics.buttons();
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
    topics.look(seen.topics);
    overview();
    plots.look(seen.publishers);
    chains.look(seen.topics);
    if (shownView === "graph") graph.show(seen, asked.components ?? []);
  },
);
poll("/chains.json", () => shownView === "chains", (answer) => chains.show(answer));
poll(
  "/system.json",
  () => shownView !== "plots",
  (answer) => {
    asked = answer;
    overview();
    system.show(answer, seen);
    log.states(answer.changes);
  },
);
