// SPDX-License-Identifier: Apache-2.0
// The graph view: programs, components and topics, what flows between them, and a table with the same content.
import { BOX, connected, edgeText, filtered, graphOf, grouped, pathOf, placed } from "./graph_layout.js";
import { hasLibrary, library } from "./library.js";
import { fillTable, rateText, timeText } from "./text.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const NONE = { program: "", received: "", missed: "", p50_ns: -1, p99_ns: -1 };
const MOST = 1500; // boxes and edges that are drawn
const CROWD = 120; // edges that are drawn lightly
const LEAST = 0.7; // of the size of letters
const NOTE = 12; // pixels, the size of the letters of notes and labels
const LOSS = " 1000.0 lost/s"; // the widest text of a loss

const rate = (p) => (p.hz === undefined ? "" : rateText(p.hz));
let ruler; // measures texts
function widthOf(text, size) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler?.measureText) return text.length * size * 0.55;
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}
/** The end of a name tells it from others. */
function cut(text, width, size) {
  if (widthOf(text, size) <= width) return text;
  let from = 1;
  while (from < text.length && widthOf(`…${text.slice(from)}`, size) > width) ++from;
  return `…${text.slice(from)}`;
}

function add(parent, kind, attributes, text) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

export class Graph {
  #chosen = null;
  #form = "";
  #boxes = new Map(); // id → its element
  #opened = new Set(); // groups of topics
  #texts = []; // [element, what it says now: () => text]
  #graph = { nodes: new Map(), edges: new Map() };
  #seen = { publishers: [] };
  #components = [];
  #dagre = null;

  /** `open(topic)` shows a topic's messages. */
  constructor(open) {
    $("graph-filter").oninput = () => {
      this.#draw();
      this.#list();
    };
    $("graph-form").onsubmit = (event) => event.preventDefault();
    $("graph-open").onclick = () => open(this.#graph.nodes.get(this.#chosen).topic);
    $("graph-all").onclick = () => this.#choose(null);
    new ResizeObserver(() => !$("graph").hidden && this.#draw()).observe($("graph"));
  }

  show(seen, components) {
    this.#seen = seen;
    this.#components = components;
    this.#draw();
    this.#list();
  }

  #choose(id) {
    const before = this.#chosen;
    if (this.#graph.nodes.get(id)?.isGroup) {
      this.#opened.add(id);
      return this.#draw();
    }
    if (id === null) this.#opened.clear();
    this.#chosen = id === before ? null : id;
    this.#draw();
    if (id === null && before !== null) this.#boxes.get(before)?.focus();
  }

  #draw() {
    const all = graphOf(this.#seen, this.#components);
    const words = $("graph-filter").value.trim().toLowerCase();
    const graph = (this.#graph = grouped(filtered(all, words), this.#opened));
    if (this.#chosen !== null && !graph.nodes.has(this.#chosen)) this.#chosen = null;
    const nobody = this.#seen?.isLooked ? "Nothing publishes in this domain yet." : "Looking at what runs …";
    if (!this.#dagre && hasLibrary("dagre"))
      library("/dagre", "dagre").then(
        (dagre) => {
          if (this.#dagre) return;
          this.#dagre = dagre;
          this.#draw();
        },
        () => {},
      );
    const none = all.nodes.size === 0 ? nobody : "Nothing fits the filter.";
    const count = graph.nodes.size + graph.edges.size;
    const isLarge = count > MOST;
    $("graph-note").textContent = !graph.nodes.size ? none : !hasLibrary("dagre") ? "This build draws no graph: it was made without Debian's package node-dagre-layout. The table has the same content." : isLarge ? `${count} boxes and lines are too many to draw: filter, or read the table.` : this.#words();
    $("graph-open").hidden = !graph.nodes.get(this.#chosen)?.topic;
    $("graph-all").hidden = this.#chosen === null && this.#opened.size === 0;
    const shown = isLarge || !this.#dagre ? { nodes: new Map(), edges: new Map() } : graph;
    const width = Math.max(320, $("drawing").parentElement.clientWidth || 1000);
    const form = JSON.stringify([width, this.#chosen, [...shown.nodes.keys()], [...shown.edges].map(([key, e]) => [key, Boolean(edgeText(e)), Boolean(e.lost)])]);
    if (form === this.#form) for (const [element, text] of this.#texts) this.#say(element, text());
    else this.#make(shown, width);
    this.#form = form;
  }
  #say(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  #words() {
    if (this.#chosen === null && this.#seen.problems?.length) return this.#seen.problems.join(" ");
    if (this.#chosen === null) return "On lines to a topic: its rate. On lines from it: latency from publish to take, median / 99 %. Choose a box to see what it is connected with.";
    const { name, note } = this.#graph.nodes.get(this.#chosen);
    return `${name}${note ? ` — ${note}` : ""}`;
  }

  #make(graph, width) {
    const svg = $("drawing");
    const focused = document.activeElement?.dataset?.node;
    const textWidth = (e) => (edgeText(e) ? widthOf(edgeText(e) + (e.lost ? LOSS : ""), NOTE) : 0);
    const layout = this.#dagre ? placed(this.#dagre, graph, width, textWidth) : { boxes: new Map(), ways: new Map(), width: 0, height: 0 };
    const { boxes, ways } = layout;
    const scale = Math.min(1, Math.max(LEAST, width / (layout.width || 1))); // what is still too wide is scrolled
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${layout.width} ${layout.height}`, width: layout.width * scale, height: layout.height * scale })) svg.setAttribute(name, value);
    svg.replaceChildren();
    this.#boxes.clear();
    this.#texts = [];
    const near = this.#chosen === null ? null : connected(graph, this.#chosen);
    const far = (...ids) => (near && !ids.every((id) => near.has(id)) ? " far" : "");
    const now = (key) => this.#graph.edges.get(key) ?? { hz: -1, lost: 0 };
    svg.classList.toggle("crowded", graph.edges.size > CROWD);
    const labels = [];
    for (const [key, { points, label }] of ways) {
      const { from: a, to: b } = graph.edges.get(key);
      const path = add(svg, "path", { d: pathOf(points, layout.isDown) });
      const loses = () => (now(key).lost ? " loses" : "");
      const title = add(path, "title", {});
      this.#texts.push([title, () => `${graph.nodes.get(a).name} → ${graph.nodes.get(b).name}: ${edgeText(now(key))}${now(key).lost ? `, ${now(key).lost.toFixed(1)} lost/s` : ""}`]);
      this.#texts.push([{ set textContent(name) { path.setAttribute("class", name); } }, () => `way${loses()}${far(a, b)}`]);
      if (label && !far(a, b)) labels.push([key, label]);
    }
    for (const { id, kind, name, note, trouble } of graph.nodes.values()) this.#makeBox(svg, { id, kind, name, note, trouble }, boxes.get(id), far(id));
    for (const [key, { x, y }] of labels) {
      const text = add(svg, "text", { x, y: y + 4, "text-anchor": "middle", class: "edge" });
      this.#texts.push([add(text, "tspan", {}), () => edgeText(now(key))]);
      this.#texts.push([add(text, "tspan", { class: "loses" }), () => (now(key).lost ? ` ${now(key).lost.toFixed(1)} lost/s` : "")]);
    }
    for (const [element, text] of this.#texts) element.textContent = text();
    if (focused) this.#boxes.get(focused)?.focus({ preventScroll: true });
  }

  #makeBox(svg, { id, kind, name, note, trouble }, { x, y, width }, far) {
    const box = add(svg, "g", { class: `box ${kind}${trouble ? " trouble" : ""}${far}`, tabindex: 0, role: "button", "aria-pressed": String(id === this.#chosen), "data-node": id, transform: `translate(${x} ${y})` });
    add(box, "rect", { width, height: BOX.height, rx: kind === "topic" ? BOX.height / 2 : 5 });
    add(box, "text", { x: width / 2, y: 18, "text-anchor": "middle" }, cut(name, width - 24, 13));
    const second = add(box, "text", { x: width / 2, y: 34, "text-anchor": "middle", class: "note" });
    const title = add(box, "title", {});
    const noteNow = () => this.#graph.nodes.get(id)?.note ?? note;
    this.#texts.push([second, () => cut(noteNow().replace("/msg/", "/"), width - 24, NOTE)], [title, () => `${name}${noteNow() ? `, ${noteNow()}` : ""}`]);
    box.onclick = () => this.#choose(id);
    box.onkeydown = (event) => {
      if (event.key === "Escape") this.#choose(null);
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.#choose(id);
    };
    this.#boxes.set(id, box);
  }

  #list() {
    const cells = (p, s) => [p.topic, `${p.program} (${p.pid})`, s.pid ? `${s.program} (${s.pid})` : "", rate(p), s.received, s.missed, timeText(s.p50_ns), timeText(s.p99_ns)];
    const words = $("graph-filter").value.trim().toLowerCase();
    const rows = this.#seen.publishers.flatMap((p) => (p.subscribers.length ? p.subscribers : [NONE]).map((s) => cells(p, s)));
    fillTable($("connections"), rows.filter((row) => row.slice(0, 3).join(" ").toLowerCase().includes(words)), 3);
  }
}
