// SPDX-License-Identifier: Apache-2.0
// The graph of a system, and where its boxes are: programs and components above the topics that they publish, topics above
// who subscribes. It is as wide as the screen, so a layer with many boxes takes several rows.
import { rateText, timeText } from "./text.js";

export const BOX = { height: 42, between: 20 };
const WIDEST = 240;
const LABEL = 104; // pixels of a label
const LEVELS = 3; // rows of labels at a side of a box
const PASSES = 4; // over the layers, to keep what is connected close

const MANY = 12; // topics between the same boxes that become one box

/** What a line says. `hz`: it leads to a topic; else it leads from one, and has the latencies. */
export const edgeText = ({ hz, median, most }) => (hz !== undefined ? (hz >= 0 ? rateText(hz) : "") : median < 0 ? "" : `${timeText(median)} / ${timeText(most)}`);

/** Components of a process that do this with a topic; else its program. */
function unitsOf(parts, program, pid, does) {
  const found = (parts.get(pid) ?? []).filter(does);
  return found.length ? found.map((c) => ({ id: `component ${c.name}`, name: c.name })) : [{ id: `program ${pid}`, name: `${program} (${pid})` }];
}

/** {nodes: id → {id, kind, name, note, topic, trouble}, edges: key → {from, to, hz or median and most in ns, lost}} of what was seen of the domain.
    `components`: of `cardan run`; a program without any stands for itself. */
export function graphOf({ publishers, cpu = new Map() }, components = []) {
  const nodes = new Map();
  const edges = new Map();
  const parts = new Map(); // pid → its components
  const share = (pid) => (cpu.has(pid) ? `CPU ${cpu.get(pid).toFixed(0)} %` : "");
  const node = (id, kind, name, note = "", more = {}) => (nodes.has(id) ? nodes.get(id) : nodes.set(id, { id, kind, name, note, trouble: false, ...more }).get(id));
  const edge = (from, to, figures) => edges.set(`${from}>${to}`, { from, to, lost: 0, ...figures });
  for (const c of components) {
    if (c.pid) parts.set(c.pid, [...(parts.get(c.pid) ?? []), c]);
    const isDown = c.state !== "running";
    const words = isDown ? [c.process, c.state] : [`${c.process} (${c.pid})`, share(c.pid)];
    node(`component ${c.name}`, "component", c.name, words.filter(Boolean).join(", "), { trouble: isDown });
  }
  const unit = ({ id, name }, pid) => node(id, "program", name, share(pid)).id;
  const topic = (name, type) => node(`topic ${name}`, "topic", name, type, { topic: name }).id;
  for (const p of publishers) {
    const bus = p.bus ?? p.topic;
    const to = topic(p.topic, p.type);
    for (const source of unitsOf(parts, p.program, p.pid, (c) => c.outputs?.some((o) => o.topic === bus))) {
      const others = edges.get(`${unit(source, p.pid)}>${to}`)?.hz ?? -1;
      edge(source.id, to, { hz: p.hz === undefined ? others : Math.max(others, 0) + p.hz });
    }
    for (const s of p.subscribers) {
      const [median, most] = s.recent_p50_ns >= 0 ? [s.recent_p50_ns, s.recent_p99_ns] : [s.p50_ns, s.p99_ns];
      for (const reader of unitsOf(parts, s.program, s.pid, (c) => c.callbacks.some((b) => b.topic === bus)))
        edge(to, unit(reader, s.pid), { median, most, lost: s.lost ?? 0 });
    }
    // Within a process a message goes from component to component, past the streams.
    for (const c of parts.get(p.pid) ?? [])
      for (const b of c.callbacks)
        if (b.topic === bus && !edges.has(`${to}>component ${c.name}`)) edge(to, `component ${c.name}`, { median: b.transport_p50_ns ?? -1, most: b.transport_p99_ns ?? -1 });
  }
  return { nodes, edges };
}

/** Only what has one of these words in its name, and its neighbours. */
export function filtered({ nodes, edges }, words) {
  if (!words) return { nodes, edges };
  const has = (id) => `${nodes.get(id).name} ${nodes.get(id).note}`.toLowerCase().includes(words);
  const kept = new Map([...edges].filter(([, e]) => has(e.from) || has(e.to)));
  const near = new Set([...kept.values()].flatMap((e) => [e.from, e.to]));
  return { nodes: new Map([...nodes].filter(([id]) => has(id) || near.has(id))), edges: kept };
}

/** With one box for topics that connect the same boxes, if there are many and it is not among those to be `opened`. */
export function grouped({ nodes, edges }, opened = new Set()) {
  const ends = new Map(); // topic → what it connects
  for (const [key, e] of edges) {
    const isOut = nodes.get(e.to).kind === "topic";
    const id = isOut ? e.to : e.from;
    ends.set(id, [...(ends.get(id) ?? []), [isOut ? `<${e.from}` : `>${e.to}`, key]]);
  }
  const alike = new Map();
  for (const [id, list] of ends) {
    const form = list.map(([end]) => end).sort().join("\n");
    alike.set(form, [...(alike.get(form) ?? []), id]);
  }
  const [allNodes, allEdges] = [new Map(nodes), new Map(edges)];
  for (const [form, ids] of alike) {
    const id = `topics ${form}`;
    if (ids.length < MANY || opened.has(id)) continue;
    const names = ids.map((one) => nodes.get(one).name).sort();
    allNodes.set(id, { id, kind: "topic", name: `${ids.length} topics`, note: `${names[0]} … ${names.at(-1)}`, isGroup: true, trouble: false });
    for (const one of ids) {
      for (const [, key] of ends.get(one)) {
        const e = edges.get(key);
        const [from, to] = e.to === one ? [e.from, id] : [id, e.to];
        const sum = allEdges.get(`${from}>${to}`) ?? { from, to, lost: 0, ...(e.hz === undefined ? { median: -1, most: -1 } : { hz: 0 }) };
        sum.lost += e.lost;
        if (e.hz !== undefined) sum.hz += Math.max(e.hz, 0);
        else [sum.median, sum.most] = [Math.max(sum.median, e.median), Math.max(sum.most, e.most)];
        allEdges.set(`${from}>${to}`, sum);
        allEdges.delete(key);
      }
      allNodes.delete(one);
    }
  }
  return { nodes: allNodes, edges: allEdges };
}

/** The ids of what feeds this box, and what it feeds, however far. */
export function connected({ edges }, id) {
  const found = new Set([id]);
  for (const [here, there] of [["from", "to"], ["to", "from"]]) {
    const seen = new Set([id]);
    for (const one of seen)
      for (const e of edges.values()) if (e[here] === one) seen.add(e[there]);
    for (const one of seen) found.add(one);
  }
  return found;
}

/** id → layer: each box is below what feeds it, as far as there are no circles. */
function layersOf(nodes, edges) {
  const below = new Map([...nodes.keys()].map((id) => [id, []]));
  for (const e of edges.values()) below.get(e.from).push(e.to);
  const state = new Map(); // 1: on the way, 2: done
  const order = [];
  const back = new Set();
  // Sources come first; where all is a circle, a program does.
  const fed = new Set([...edges.values()].map((e) => e.to));
  const last = ({ id, kind }) => (fed.has(id) ? 2 : 0) + (kind === "topic" ? 1 : 0);
  for (const { id: start } of [...nodes.values()].sort((a, b) => last(a) - last(b))) {
    if (state.has(start)) continue;
    const way = [[start, 0]];
    state.set(start, 1);
    while (way.length) {
      const top = way.at(-1);
      const next = below.get(top[0])[top[1]++];
      if (next === undefined) {
        state.set(top[0], 2);
        order.unshift(top[0]);
        way.pop();
      } else if (state.get(next) === 1) back.add(`${top[0]}>${next}`);
      else if (!state.has(next)) {
        state.set(next, 1);
        way.push([next, 0]);
      }
    }
  }
  const layers = new Map([...nodes.values()].map((n) => [n.id, n.kind === "topic" ? 1 : 0]));
  for (const from of order) for (const to of below.get(from)) if (!back.has(`${from}>${to}`)) layers.set(to, Math.max(layers.get(to), layers.get(from) + 1));
  return layers;
}

/** Boxes {x, y, width} by id and edges with their ends and their labels' places, in pixels, within `width`. */
export function placed({ nodes, edges }, width) {
  const layers = layersOf(nodes, edges);
  const rows = [];
  for (const [id, layer] of layers) (rows[layer] ??= []).push(id);
  const neighbours = new Map([...nodes.keys()].map((id) => [id, { from: [], to: [] }]));
  for (const e of edges.values()) {
    neighbours.get(e.to).from.push(e.from);
    neighbours.get(e.from).to.push(e.to);
  }
  const place = new Map(); // id → 0 … 1, from the left
  const settle = (row) => row.forEach((id, i) => place.set(id, (i + 0.5) / row.length));
  for (const row of rows) settle(row?.sort() ?? []);
  for (let pass = 0; pass < PASSES; ++pass) {
    const side = pass % 2 ? "to" : "from";
    for (const row of pass % 2 ? rows.toReversed() : rows) {
      const mean = (id) => {
        const near = neighbours.get(id)[side];
        return near.length ? near.reduce((sum, n) => sum + place.get(n), 0) / near.length : place.get(id);
      };
      const means = new Map((row ?? []).map((id) => [id, mean(id)]));
      row?.sort((a, b) => means.get(a) - means.get(b));
      settle(row ?? []);
    }
  }
  const box = Math.min(WIDEST, width > 700 ? width / 4 - BOX.between : (width - BOX.between) / 2);
  const most = Math.max(1, Math.floor((width + BOX.between) / (box + BOX.between)));
  const boxes = new Map();
  let y = 4;
  rows.filter(Boolean).forEach((row, i) => {
    if (i) y += BOX.height + 8 + 14 * LEVELS;
    const lines = Math.ceil(row.length / most);
    const each = Math.ceil(row.length / lines);
    for (let from = 0; from < row.length; from += each) {
      const line = row.slice(from, from + each);
      if (from) y += BOX.height + BOX.between;
      const left = (width - line.length * (box + BOX.between) + BOX.between) / 2;
      line.forEach((id, k) => boxes.set(id, { x: left + k * (box + BOX.between), y, width: box }));
    }
  });
  return { boxes, ways: waysOf(edges, boxes, box), width, height: y + BOX.height + 4 };
}

/** Where edges end: side by side, in the order of the boxes that they come from, so that they do not cross there. */
function waysOf(edges, boxes, box) {
  const ends = new Map(); // "from id" and "to id" → its edges
  for (const [key, e] of edges)
    for (const side of ["from", "to"]) {
      const at = `${side} ${e[side]}`;
      ends.set(at, [...(ends.get(at) ?? []), [key, boxes.get(e[side === "from" ? "to" : "from"]).x]]);
    }
  for (const list of ends.values()) list.sort((a, b) => a[1] - b[1]);
  const ways = new Map();
  for (const [key, e] of edges) {
    const end = (side) => {
      const list = ends.get(`${side} ${e[side]}`);
      const i = list.findIndex(([k]) => k === key);
      const { x, y, width } = boxes.get(e[side]);
      return { x: x + (width * (i + 1)) / (list.length + 1), y: side === "from" ? y + BOX.height : y, i, count: list.length };
    };
    const [from, to] = [end("from"), end("to")];
    // The label is at the end where fewer edges meet; there it is above or below its neighbours'.
    const near = from.count < to.count ? from : to;
    const levels = Math.ceil((LABEL * (near.count + 1)) / box);
    const level = near.i % Math.min(levels, LEVELS);
    const label = near.count > 1 && levels > LEVELS ? null : { x: near.x, y: near === from ? near.y + 14 + 14 * level : near.y - 6 - 14 * level };
    ways.set(key, { from, to, label });
  }
  return ways;
}
