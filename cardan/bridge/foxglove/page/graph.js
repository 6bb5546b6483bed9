// SPDX-License-Identifier: Apache-2.0
// Programs on the left publish topics in the middle, which programs on the right subscribe.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 34;
const BOX = 24;
const COLUMNS = [10, 400, 790];
const WIDTH = 280;
const LETTERS = 38; // that fit into a box

export function timeText(ns) {
  if (ns < 0) return "";
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(2)} s`;
}
const rate = (p) => (p.hz === undefined ? "" : `${p.hz.toFixed(1)} Hz`);
const cut = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);

/** Which boxes there are, and which are connected. */
export function layout(publishers) {
  const columns = [new Map(), new Map(), new Map()];
  const edges = new Map();
  const box = (column, name) => {
    if (!columns[column].has(name)) columns[column].set(name, columns[column].size);
    return columns[column].get(name);
  };
  for (const p of publishers) {
    const topic = box(1, p.topic);
    edges.set(`0 ${box(0, `${p.program} (${p.pid})`)} ${topic}`, rate(p));
    for (const s of p.subscribers) edges.set(`1 ${topic} ${box(2, `${s.program} (${s.pid})`)}`, timeText(s.p50_ns));
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

export function showGraph(svg, table, publishers) {
  const { columns, edges } = layout(publishers);
  const rows = Math.max(1, ...columns.map((c) => c.size));
  svg.setAttribute("viewBox", `0 0 ${COLUMNS[2] + WIDTH + 10} ${rows * ROW + 10}`);
  svg.replaceChildren();
  const middle = (row) => 5 + row * ROW + BOX / 2;
  for (const [edge, text] of edges) {
    const [from, a, b] = edge.split(" ").map(Number);
    const [x1, x2] = [COLUMNS[from] + WIDTH, COLUMNS[from + 1]];
    const half = (x1 + x2) / 2;
    add(svg, "path", { d: `M ${x1} ${middle(a)} C ${half} ${middle(a)} ${half} ${middle(b)} ${x2} ${middle(b)}` });
    add(svg, "text", { x: half, y: (middle(a) + middle(b)) / 2 - 3, "text-anchor": "middle" }, text);
  }
  columns.forEach((column, i) => {
    for (const [name, row] of column) {
      const y = 5 + row * ROW;
      add(svg, "rect", { x: COLUMNS[i], y, width: WIDTH, height: BOX, rx: 5, class: i === 1 ? "topic" : "program" });
      add(add(svg, "text", { x: COLUMNS[i] + 8, y: y + 17 }, cut(name)), "title", {}, name);
    }
  });
  table.replaceChildren();
  for (const p of publishers) {
    const none = { program: "", received: "", missed: "", p50_ns: -1, p99_ns: -1 };
    for (const s of p.subscribers.length ? p.subscribers : [none]) {
      const row = table.insertRow();
      const texts = [p.topic, p.program, s.program, rate(p), s.received, s.missed, timeText(s.p50_ns), timeText(s.p99_ns)];
      texts.forEach((text, i) => {
        const cell = row.insertCell();
        cell.textContent = text;
        if (i > 2) cell.className = "number";
      });
    }
  }
}
