// SPDX-License-Identifier: Apache-2.0
// Programs on the left publish topics in the middle, which programs on the right subscribe.

import { fillTable, rateText, timeText } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 50;
const BOX = 40;
const COLUMNS = [10, 440, 870];
const WIDTH = 280;
const LETTERS = 38; // that fit into a box
const NONE = { program: "", received: "", missed: "", p50_ns: -1, p99_ns: -1 };

const rate = (p) => (p.hz === undefined ? "" : rateText(p.hz));
const cut = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);
const delays = (s) => {
  const [median, most] = s.recent_p50_ns >= 0 ? [s.recent_p50_ns, s.recent_p99_ns] : [s.p50_ns, s.p99_ns];
  return median < 0 ? "" : `${timeText(median)} / ${timeText(most)}`;
};

/** Which boxes there are, and which are connected. `notes`: pid → the second line of a program's box. */
export function layout(publishers, notes = new Map()) {
  const columns = [new Map(), new Map(), new Map()];
  const edges = new Map();
  const box = (column, name, note) => {
    if (!columns[column].has(name)) columns[column].set(name, { row: columns[column].size, note });
    return columns[column].get(name).row;
  };
  for (const p of publishers) {
    const topic = box(1, p.topic, p.type);
    edges.set(`0 ${box(0, `${p.program} (${p.pid})`, notes.get(p.pid))} ${topic}`, { text: rate(p), lost: 0 });
    for (const s of p.subscribers)
      edges.set(`1 ${topic} ${box(2, `${s.program} (${s.pid})`, notes.get(s.pid))}`, { text: delays(s), lost: s.lost ?? 0 });
  }
  return { columns, edges };
}

function add(parent, kind, attributes, text) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

/** What a program's box says beside its name: its components, and its share of a processor. */
function notesOf({ cpu }, components) {
  const notes = new Map();
  for (const { pid, name } of components) notes.set(pid, [...(notes.get(pid) ?? []), name]);
  const pids = new Set([...notes.keys(), ...cpu.keys()]);
  return new Map([...pids].map((pid) => [pid, [...(cpu.has(pid) ? [`CPU ${cpu.get(pid).toFixed(0)} %`] : []), ...(notes.get(pid) ?? [])].join(", ")]));
}

export function showGraph(svg, table, look, components) {
  const { publishers } = look;
  const { columns, edges } = layout(publishers, notesOf(look, components));
  const rows = Math.max(1, ...columns.map((c) => c.size));
  svg.setAttribute("viewBox", `0 0 ${COLUMNS[2] + WIDTH + 10} ${rows * ROW + 10}`);
  svg.replaceChildren();
  const middle = (row) => 5 + row * ROW + BOX / 2;
  const ends = new Map(); // of each side of a box → its edges
  const side = (...words) => words.join(" ");
  const all = [...edges].map(([edge, label]) => [...edge.split(" ").map(Number), label]);
  for (const [from, a, b] of all) for (const key of [side("from", from, a), side("to", from, b)]) ends.set(key, (ends.get(key) ?? 0) + 1);
  for (const [from, a, b, { text, lost }] of all) {
    const [x1, x2] = [COLUMNS[from] + WIDTH, COLUMNS[from + 1]];
    const half = (x1 + x2) / 2;
    add(svg, "path", { d: `M ${x1} ${middle(a)} C ${half} ${middle(a)} ${half} ${middle(b)} ${x2} ${middle(b)}`, class: lost ? "loses" : "" });
    // At the end where fewer edges meet, so that labels are apart.
    const atStart = ends.get(side("from", from, a)) < ends.get(side("to", from, b));
    const [x, near, anchor] = atStart ? [x1 + 6, middle(a), "start"] : [x2 - 6, middle(b), "end"];
    add(svg, "text", { x, y: near - 4, "text-anchor": anchor, class: "edge" }, text);
    if (lost) add(svg, "text", { x, y: near + 14, "text-anchor": anchor, class: "edge loses" }, `${lost.toFixed(1)} lost/s`);
  }
  columns.forEach((column, i) => {
    for (const [name, { row, note }] of column) {
      const y = 5 + row * ROW;
      add(svg, "rect", { x: COLUMNS[i], y, width: WIDTH, height: BOX, rx: 5, class: i === 1 ? "topic" : "program" });
      add(add(svg, "text", { x: COLUMNS[i] + 8, y: y + 17 }, cut(name)), "title", {}, name);
      if (note) add(add(svg, "text", { x: COLUMNS[i] + 8, y: y + 33, class: "note" }, cut(note)), "title", {}, note);
    }
  });
  const cells = (p, s) => [p.topic, p.program, s.program, rate(p), s.received, s.missed, timeText(s.p50_ns), timeText(s.p99_ns)];
  fillTable(table, publishers.flatMap((p) => (p.subscribers.length ? p.subscribers : [NONE]).map((s) => cells(p, s))), 3);
}
