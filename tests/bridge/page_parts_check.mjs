// SPDX-License-Identifier: Apache-2.0
// What the page of `cardan view` computes, without a browser: the graph and where its boxes are, plots of odd numbers.
//
//   node page_parts_check.mjs SOURCE_FOLDER
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "cardan-page-"));
cpSync(join(process.argv[2], "cardan/bridge/foxglove/page"), folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{"type":"module"}');
const load = (name) => import(pathToFileURL(join(folder, name)));
const { connected, edgeText, filtered, graphOf, grouped, placed, BOX } = await load("graph_layout.js");
const { addPoint, powers, ticks, tickText } = await load("plot.js");
const { quantile } = await load("cloud.js");
const { compare } = await load("look.js");
const { SPEEDS, nextSpeed, requestOf, spanText, stateOf } = await load("timeline.js");

const reader = (program, pid, more = {}) => ({ program, pid, received: 1, missed: 0, p50_ns: 1_000, p99_ns: 2_000, recent_p50_ns: -1, recent_p99_ns: -1, lost: 0, ...more });
const writer = (topic, program, pid, subscribers, more = {}) => ({ topic, type: "a/msg/B", program, pid, hz: 30, subscribers, ...more });

// ---- what is connected
{
  const publishers = [
    writer("/image", "host", 1, [reader("host", 2, { lost: 3, recent_p50_ns: 5_000, recent_p99_ns: 7_000 }), reader("recorder", 9)]),
    writer("/objects", "host", 2, [reader("recorder", 9)]),
    writer("/image", "host", 1, [], { hz: 10 }),
  ];
  const component = (name, pid, inputs, outputs) => ({ name, process: "main", pid, state: "running", callbacks: inputs.map((topic) => ({ topic, transport_p50_ns: 10, transport_p99_ns: 20 })), outputs: outputs.map((topic) => ({ topic })) });
  const components = [component("camera", 1, [], ["/image"]), component("preview", 1, ["/image"], []), component("detector", 2, ["/image"], ["/objects"]), { ...component("planner", 0, [], []), state: "failed" }];
  const graph = graphOf({ publishers, cpu: new Map([[1, 12.4]]) }, components);
  const text = (key) => edgeText(graph.edges.get(key));
  assert.equal(text("component camera>topic /image"), "40.0 Hz", "of all streams");
  assert.equal(text("topic /image>component detector"), "5.0 µs / 7.0 µs", "of the last second");
  assert.equal(graph.edges.get("topic /image>component detector").lost, 3);
  assert.equal(text("topic /objects>program 9"), "1.0 µs / 2.0 µs", "if nothing came in the last second, of all");
  assert.equal(text("topic /image>component preview"), "10 ns / 20 ns", "within the process");
  assert.equal(graph.nodes.get("component camera").note, "main (1), CPU 12 %");
  assert.deepEqual([graph.nodes.get("component planner").note, graph.nodes.get("component planner").trouble], ["main, failed", true]);
  assert.equal(graph.nodes.get("program 9").name, "recorder (9)");
  assert.deepEqual([...connected(graph, "component detector")].sort(), ["component camera", "component detector", "program 9", "topic /image", "topic /objects"]);
  assert.deepEqual([...filtered(graph, "objects").nodes.keys()].sort(), ["component detector", "program 9", "topic /objects"]);

  for (const width of [374, 1248]) {
    const { boxes, ways } = placed(graph, width);
    for (const [key, { from, to }] of ways) {
      assert.ok(from.y < to.y, `${key} leads down`);
      const e = graph.edges.get(key);
      for (const [end, at] of [[from, e.from], [to, e.to]]) assert.ok(end.x > boxes.get(at).x && end.x < boxes.get(at).x + boxes.get(at).width, key);
    }
    const all = [...boxes.values()];
    for (const box of all) assert.ok(box.x >= 0 && box.x + box.width <= width, `within ${width}`);
    for (const a of all) for (const b of all) assert.ok(a === b || Math.abs(a.y - b.y) >= BOX.height || Math.abs(a.x - b.x) >= a.width, "no box covers another");
  }
}

// ---- a circle, and a crowd
{
  const circle = graphOf({ publishers: [writer("/a", "left", 1, [reader("right", 2)]), writer("/b", "right", 2, [reader("left", 1)])] });
  assert.equal(placed(circle, 800).boxes.size, 4);
  const crowd = Array.from({ length: 200 }, (_, i) => writer(`/t/${i}`, "many", 1, i < 150 ? [reader("all", 2, { lost: 1, p99_ns: i })] : []));
  const graph = graphOf({ publishers: crowd });
  const small = grouped(graph);
  assert.deepEqual([...small.nodes.values()].map((n) => n.name), ["many (1)", "all (2)", "150 topics", "50 topics"]);
  const [group] = [...small.nodes.values()].filter((n) => n.name === "150 topics");
  assert.equal(small.edges.get(`program 1>${group.id}`).hz, 150 * 30);
  assert.deepEqual(small.edges.get(`${group.id}>program 2`), { from: group.id, to: "program 2", lost: 150, median: 1_000, most: 149 });
  assert.equal(grouped(graph, new Set([group.id])).nodes.size, 3 + 150);
  assert.equal(placed(graph, 1248).boxes.size, 202);
}

// ---- numbers of a plot
{
  const line = { points: [], newest: undefined };
  for (let i = 0; i < 4000 * 300; ++i) addPoint(line, i / 4, i % 4000);
  assert.ok(line.points.length <= 20_000, "five minutes at 4 kHz are bounded");
  assert.ok(line.points.at(-1).ms - line.points[0].ms > 299_000, "and they are all there");
  assert.equal(Math.max(...line.points.slice(-70).map((p) => p.high)), 3999, "the peaks, too");
  const odd = { points: [] };
  [1, NaN, 2, Infinity, 3].forEach((value, i) => addPoint(odd, i * 100, value));
  assert.deepEqual(odd.points.map(({ low, gap }) => [low, gap]), [[1, false], [2, true], [3, true]], "what is no number breaks the line");
  addPoint(odd, 500, NaN);
  assert.ok(Number.isNaN(odd.newest));
  const marks = (least, most) => {
    const all = ticks(least, most, 6);
    return all.map((v) => tickText(v, Math.abs(all[1] - all[0]) || 1));
  };
  for (const [least, most] of [[0, 1], [-1.7e300, 1.7e300], [1.79e9, 1.79e9 + 3], [1e-9, 3e-9], [0, 1e7], [-3.2e-5, 1], [5, 5]]) {
    const texts = marks(least, most);
    assert.ok(texts.length >= 1 && texts.length <= 8, `${least} to ${most}: ${texts}`);
    assert.equal(new Set(texts).size, texts.length, `${least} to ${most}: each mark reads otherwise: ${texts}`);
    const step = texts.length > 1 ? Math.abs(Number(texts[1]) - Number(texts[0])) : 1;
    for (const text of texts) assert.ok(Number(text) >= least - step && Number(text) <= most + step, `${text} is not between ${least} and ${most}`);
  }
  assert.deepEqual(powers(0.002, 300, 8), [0.01, 0.1, 1, 10, 100]);
  assert.ok(powers(1e-300, 1e300, 8).length <= 9);
  assert.equal(quantile([...Array(99).keys(), 1e9], 0.98), 98, "one that is far off changes nothing");
  assert.equal(quantile([NaN, 4], 0.5), 4);
}

// ---- from look to look
{
  const at = (seconds, missed, published) => ({ time_ns: seconds * 1e9, publishers: [{ ...writer("/a", "p", 1, [reader("s", 2, { missed })]), serial: 1, published, bytes: published * 10 }], processes: [{ pid: 1, cpu_seconds: seconds / 4, memory_bytes: 5 }] });
  const seen = compare(at(1, 0, 0), at(3, 4, 60));
  assert.ok(seen.isLooked && !compare(null, { publishers: [] }).isLooked, "nothing was looked at is not nothing is there");
  assert.deepEqual(seen.rates.get("/a"), { hz: 30, bytes: 300 });
  assert.equal(seen.publishers[0].subscribers[0].lost, 2);
  assert.deepEqual([seen.cpu.get(1), seen.memory.get(1), [...seen.programs]], [25, 5, [[1, "p"], [2, "s"]]]);
}
// ---- colours, in light and dark (WCAG 2.2, 1.4.3 and 1.4.11)
{
  const css = readFileSync(join(folder, "view.css"), "utf8");
  const schemes = [...css.matchAll(/--back:[^}]*/g)].map(([part]) => new Map([...part.matchAll(/--([a-z0-9-]+): (#[0-9a-f]+)/g)].map(([, name, value]) => [name, value])));
  assert.equal(schemes.length, 3, "light, dark of the system, dark by choice");
  assert.deepEqual([...schemes[1]], [...schemes[2]]);
  const light = (hex) => {
    const all = hex.length === 4 ? [...hex.slice(1)].map((c) => c + c) : hex.slice(1).match(/../g);
    const [r, g, b] = all.map((two) => parseInt(two, 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const scheme of schemes) {
    const contrast = (a, b) => {
      const [x, y] = [light(scheme.get(a)), light(scheme.get(b))].sort((p, q) => q - p);
      return (x + 0.05) / (y + 0.05);
    };
    for (const back of ["back", "mark"]) for (const text of ["text", "soft", "link", "bad", "warn"]) assert.ok(contrast(text, back) >= 4.5, `${text} on ${back}: ${contrast(text, back)}`);
    for (const line of ["edge", "line-0", "line-1", "line-2", "line-3", "line-4", "line-5"]) assert.ok(contrast(line, "back") >= 3, `${line}: ${contrast(line, "back")}`);
  }
}

// ---- a recording's controls, as Foxglove's protocol has them
{
  assert.deepEqual([0, 59_999, 60_000, 3_723_400, -5].map(spanText), ["0:00.0", "0:59.9", "1:00.0", "1:02:03.4", "0:00.0"]);
  assert.equal(nextSpeed(1, true), 2);
  assert.equal(nextSpeed(0.8, false), 0.5);
  assert.equal(nextSpeed(SPEEDS.at(-1), true), SPEEDS.at(-1));
  const request = new DataView(requestOf(false, 0.5, 1_700_000_000_123.5, "q7"));
  assert.deepEqual([request.getUint8(0), request.getUint8(1), request.getFloat32(2, true), request.getUint8(6)], [3, 1, 0.5, 1]);
  assert.equal(request.getBigUint64(7, true), 1_700_000_000_123_500_000n);
  assert.deepEqual([request.getUint32(15, true), request.byteLength], [2, 21]);
  assert.equal(new DataView(requestOf(true, 1, undefined, "")).getUint8(6), 0);
  const state = new DataView(new ArrayBuffer(19));
  state.setUint8(1, 3);
  state.setBigUint64(2, 5_000_000n, true);
  state.setFloat32(10, 2, true);
  state.setUint8(14, 1);
  assert.deepEqual(stateOf(state), { status: 3, ms: 5, speed: 2, didSeek: true });
}
rmSync(folder, { recursive: true });
console.log("the graph, its places, the numbers of plots, the controls of recordings and the contrasts are as they should be");
