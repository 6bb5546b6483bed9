// SPDX-License-Identifier: Apache-2.0
// The graph of a system: programs and components, the topics that they publish, and those that subscribe. Debian's dagre
// lays it out.
import { rateText, timeText } from "./text.js";

export const BOX = { height: 42 };
const WIDE = 700; // pixels
const LABEL = 16; // pixels, its height

const MANY = 12; // topics between the same boxes that become one box

/** The text of a line. `hz`: it leads to a topic; else it leads from one, and has the latencies. */
export const edgeText = ({ hz, median, most }) => (hz !== undefined ? (hz >= 0 ? rateText(hz) : "") : median < 0 ? "" : `${timeText(median)} / ${timeText(most)}`);

/** Components of a process that do this with a topic; else its program. */
function unitsOf(parts, program, pid, does) {
  const found = (parts.get(pid) ?? []).filter(does);
  return found.length ? found.map((c) => ({ id: `component ${c.name}`, name: c.name })) : [{ id: `program ${pid}`, name: `${program} (${pid})` }];
}

/** {nodes: id → {id, kind, name, note, topic, trouble}, edges: key → {from, to, hz or median and most in ns, lost}} of what was seen of the domain.
    `components`: of `cardan run`; a program without any is a separate box. */
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

/** Where dagre puts the boxes {x, y, width} by id and the edges, by key: {points, label: its middle or null}, and the
    size of all, in pixels. `labelWidth(edge)`: 0: it has none. It leads to the right if there is room, else down. */
export function placed(dagre, graph, width, labelWidth) {
  if (width < WIDE) return laidOut(dagre, graph, "TB", labelWidth);
  const right = laidOut(dagre, graph, "LR", labelWidth);
  if (right.width <= width) return right;
  const down = laidOut(dagre, graph, "TB", labelWidth);
  return down.width < right.width ? down : right;
}

function laidOut(dagre, { nodes, edges }, rankdir, labelWidth) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir, nodesep: 14, edgesep: 14, ranksep: 40, marginx: 6, marginy: 6 });
  const box = { width: 176, height: BOX.height };
  for (const id of nodes.keys()) graph.setNode(id, { ...box });
  for (const [key, e] of edges) {
    const label = labelWidth(e);
    graph.setEdge(e.from, e.to, { key, ...(label ? { width: label + 8, height: LABEL, labelpos: "c" } : {}) }, key);
  }
  dagre.layout(graph);
  const boxes = new Map();
  for (const id of nodes.keys()) {
    const { x, y } = graph.node(id);
    boxes.set(id, { x: x - box.width / 2, y: y - box.height / 2, width: box.width });
  }
  const isDown = rankdir === "TB";
  /** Where a line ends at a box: at the side that the next row is on. */
  const end = ({ x, y }, box, sign) => (isDown ? { x, y: box.y + (sign * box.height) / 2 } : { x: box.x + (sign * box.width) / 2, y });
  const ways = new Map();
  for (const edge of graph.edges()) {
    const { key, points, x, y } = graph.edge(edge);
    const [from, to] = [graph.node(edge.v), graph.node(edge.w)];
    // In a circle, one line leads back.
    const sign = (isDown ? from.y <= to.y : from.x <= to.x) ? 1 : -1;
    points[0] = end(points[0], from, sign);
    points[points.length - 1] = end(points.at(-1), to, -sign);
    // Straight through its own label, so that the turns are between the rows.
    const at = points.findIndex((point) => x !== undefined && Math.hypot(point.x - x, point.y - y) < 1);
    if (at > 0) points.splice(at, 1, ...[-sign, sign].map((s) => (isDown ? { x, y: y + (s * LABEL) / 2 } : { x: x + (s * graph.edge(edge).width) / 2, y })));
    ways.set(key, { points, label: x === undefined ? null : { x, y } });
  }
  const size = graph.graph();
  const finite = (n) => (Number.isFinite(n) ? Math.ceil(n) : 0);
  return { boxes, ways, isDown, width: finite(size.width), height: finite(size.height) };
}

/** A line through the points, for an SVG. At each of them it leads on, to the right or `isDown`; to the side it goes between
    the rows, where no boxes and labels are. */
export function pathOf(points, isDown) {
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  let path = `M ${at(points[0])}`;
  for (let i = 1; i < points.length; ++i) {
    const [a, b] = [points[i - 1], points[i]];
    const [first, second] = isDown ? [{ x: a.x, y: (a.y + b.y) / 2 }, { x: b.x, y: (a.y + b.y) / 2 }] : [{ x: (a.x + b.x) / 2, y: a.y }, { x: (a.x + b.x) / 2, y: b.y }];
    path += ` C ${at(first)} ${at(second)} ${at(b)}`;
  }
  return path;
}
