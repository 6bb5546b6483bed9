// SPDX-License-Identifier: Apache-2.0
// The computations of the page of `cardan view`, without a browser: figures of cards, which topics it asks for by itself, the
// graph and where its boxes are, plots of odd numbers and hostile links, names of fields.
//
//   node page_parts_check.mjs SOURCE_FOLDER
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkFrames } from "./page_frames_part.mjs";

const folder = mkdtempSync(join(tmpdir(), "cardan-page-"));
cpSync(join(process.argv[2], "src/bridge/foxglove/page"), folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{"type":"module"}');
const load = (name) => import(pathToFileURL(join(folder, name)));
writeFileSync(join(folder, "libraries.js"), "export const LIBRARIES = new Set();\n"); // the build makes it
const { connected, edgeText, filtered, graphOf, grouped, pathOf, placed, BOX } = await load("graph_layout.js");
const { addPoint, layoutOf, rangeOf, rowsOf, textOf, CHARTS, LINES } = await load("plot_lines.js");
const { numericFields, valueAt } = await load("fields.js");
const { parseSchema } = await load("cdr.js");
const { named, namedHead, OWN } = await load("names.js");
const { unitOf } = await load("units.js");
const { facts } = await load("overview.js");
const { edgesOf, nearest } = await load("boxes.js");
const { quantile } = await load("cloud.js");
const { compare, latencies } = await load("look.js");
const { SPAN, ageOf, keepFrames, meansOf, messagesOf, piecesOf, slowestOf } = await load("chain_frames.js");
const { BYTES, ChainSamples, Kept, LARGEST, SAMPLES, TOPICS } = await load("chain_samples.js");
const { SPEEDS, nextSpeed, requestOf, spanText, stateOf } = await load("timeline.js");

const DAGRE = "/usr/share/nodejs/dagre/dist/dagre.min.js"; // node-dagre-layout
const dagre = existsSync(DAGRE) ? createRequire(import.meta.url)(DAGRE) : null;
if (!dagre) console.log("node-dagre-layout is not here: the graph's places are not checked");

const reader = (program, pid, more = {}) => ({ program, pid, received: 1, missed: 0, p50_ns: 1_000, p99_ns: 2_000, recent_p50_ns: -1, recent_p99_ns: -1, age_p50_ns: 3_000, age_p99_ns: 4_000, lost: 0, ...more });
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

  if (dagre)
    for (const width of [374, 1248]) {
      const layout = placed(dagre, graph, width, (e) => (edgeText(e) ? 100 : 0));
      const all = [...layout.boxes];
      /** Points of a path of SVG that consists of M and C. */
      const samples = (path) => {
        const [start, ...curves] = path.split("C").map((part) => [...part.matchAll(/-?[\d.]+/g)].map(([n]) => Number(n)));
        const found = [];
        let at = start;
        for (const curve of curves) {
          const ends = [at, curve.slice(0, 2), curve.slice(2, 4), curve.slice(4)];
          for (let t = 0; t <= 1; t += 0.02) found.push([0, 1].map((k) => (1 - t) ** 3 * ends[0][k] + 3 * (1 - t) ** 2 * t * ends[1][k] + 3 * (1 - t) * t ** 2 * ends[2][k] + t ** 3 * ends[3][k]));
          at = ends[3];
        }
        return found;
      };
      for (const [key, { points, label }] of layout.ways) {
        const e = graph.edges.get(key);
        assert.equal(label !== null, edgeText(e) !== "", key);
        const line = samples(pathOf(points, layout.isDown));
        assert.ok(line.length > 10);
        const leads = (x, y, width, height, what) => assert.ok(!line.some((p) => Math.abs(p[0] - x) < width / 2 - 3 && Math.abs(p[1] - y) < height / 2 - 3), `${key} leads through ${what}`);
        for (const [id, box] of all) {
          if (id !== e.from && id !== e.to) leads(box.x + box.width / 2, box.y + BOX.height / 2, box.width, BOX.height, id);
          if (label) assert.ok(Math.abs(label.x - box.x - box.width / 2) >= (box.width + 100) / 2 || Math.abs(label.y - box.y - BOX.height / 2) >= BOX.height / 2, `the label of ${key} is on ${id}`);
        }
        for (const [other, way] of layout.ways) if (other !== key && way.label) leads(way.label.x, way.label.y, 100, 16, `the label of ${other}`);
      }
      for (const [id, box] of all) assert.ok(box.x >= 0 && box.x + box.width <= layout.width && box.y + BOX.height <= layout.height, id);
      for (const [, one] of all) for (const [, other] of all) assert.ok(one === other || Math.abs(one.y - other.y) >= BOX.height || Math.abs(one.x - other.x) >= one.width, "no box covers another");
    }
}

// ---- a circle, and a crowd
{
  const circle = graphOf({ publishers: [writer("/a", "left", 1, [reader("right", 2)]), writer("/b", "right", 2, [reader("left", 1)])] });
  if (dagre) assert.equal(placed(dagre, circle, 800, () => 50).boxes.size, 4);
  const crowd = Array.from({ length: 200 }, (_, i) => writer(`/t/${i}`, "many", 1, i < 150 ? [reader("all", 2, { lost: 1, p99_ns: i })] : []));
  const graph = graphOf({ publishers: crowd });
  const small = grouped(graph);
  assert.deepEqual([...small.nodes.values()].map((n) => n.name), ["many (1)", "all (2)", "150 topics", "50 topics"]);
  const [group] = [...small.nodes.values()].filter((n) => n.name === "150 topics");
  assert.equal(small.edges.get(`program 1>${group.id}`).hz, 150 * 30);
  assert.deepEqual(small.edges.get(`${group.id}>program 2`), { from: group.id, to: "program 2", lost: 150, median: 1_000, most: 149 });
  assert.equal(grouped(graph, new Set([group.id])).nodes.size, 3 + 150);
  if (dagre) assert.equal(placed(dagre, graph, 1248, () => 50).boxes.size, 202);
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
  assert.deepEqual(odd.points.map(({ low, gap }) => [low, gap]), [[1, false], [2, true], [3, true]], "a value that is not a number breaks the line");
  addPoint(odd, 500, NaN);
  assert.ok(Number.isNaN(odd.newest));
  // The drawn lines: a gap stays one, peaks stay, and there are few rows.
  const rows = rowsOf([line, odd], line.points[0].ms, line.points.at(-1).ms, 500);
  assert.ok(rows.length <= 2 * 500 + 20, `${rows.length} rows`);
  assert.equal(Math.max(...rows.map((row) => row[1] ?? 0)), 3999);
  assert.ok(rows.every((row, i) => i === 0 || row[0] >= rows[i - 1][0]), "in the order of time");
  const gaps = rowsOf([odd], 0, 1000, 500).map((row) => row[1]);
  assert.deepEqual(gaps, [1, NaN, 2, NaN, 3]);
  const far = { points: [], isLog: true };
  [1.7e308, -1.7e308, 0, 1e-300].forEach((value, i) => addPoint(far, i * 100, value));
  assert.deepEqual(rowsOf([far], 0, 1000, 500).map((row) => row[1]), [1e300, 1e-300], "of a logarithmic axis");
  assert.deepEqual(rangeOf(odd.points, 0, 250), [1, 2]);
  assert.equal(rangeOf(odd.points, 900, 1000), undefined);
  assert.equal(quantile([...Array(99).keys(), 1e9], 0.98), 98, "one that is far off changes nothing");
  assert.equal(quantile([NaN, 4], 0.5), 4);
}

// ---- the layout of plots in an address, which anybody may have made
{
  const layout = { span: 300, charts: [{ scale: "log", lines: [{ topic: "/a", name: "x[0].y (s)", side: "left" }, { topic: "latencies", name: "/a, p → s, median", side: "right" }] }, { scale: "linear", lines: [{ topic: "/b&c", name: "d", side: "left" }] }] };
  assert.deepEqual(layoutOf(textOf(layout)), layout, "a reload shows the same");
  assert.equal(textOf({ span: 60, charts: [] }), "");
  const none = { span: 60, charts: [] };
  for (const text of ["", "&span=1e9", "&left=/a x", "&chart=log&left=x&left=&left= y", `&chart=log&left=/${"a".repeat(1000)} x`, "&__proto__=1&constructor=2", "%%%&&&==="]) assert.deepEqual(layoutOf(text), none, text);
  const many = layoutOf("&chart=log&left=/a x".repeat(1000) + "&chart=log" + Array.from({ length: 1000 }, (_, i) => `&left=/a x${i}`).join(""));
  assert.equal(many.charts.length, CHARTS);
  const wide = layoutOf("&chart=log" + Array.from({ length: 1000 }, (_, i) => `&left=/a x${i}`).join(""));
  assert.equal(wide.charts[0].lines.length, LINES);
  assert.equal(layoutOf("&chart=log&left=/a x&left=/a x").charts[0].lines.length, 1);
  const hostile = layoutOf('&chart=<img src=x onerror=hit()>&left=/a <script>');
  assert.deepEqual(hostile.charts, [{ scale: "linear", lines: [{ topic: "/a", name: "<script>", side: "left" }] }], "text, which stays text");
}

// ---- one name of a field everywhere
{
  const rows = [...readFileSync(join(process.argv[2], "docs/messages.md"), "utf8").matchAll(/^\| `(\w+)` \| (.*?) \| `(.*?)` \|/gm)].map(([, message, names]) => [message, [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name)]);
  const documented = (message) => rows.filter(([name]) => name === message).flatMap(([, names]) => names);
  for (const type of ["Detection2D", "Detection3D"]) assert.deepEqual(OWN.get(`vision_msgs/${type}`).fields.map(([name]) => name), documented(type));
  assert.deepEqual(OWN.get("std_msgs/Header").fields.map(([name]) => name), documented("Header").filter((name) => name !== "sequence"), "which is not in the ROS form");

  const line = "=".repeat(80);
  const definition = `std_msgs/Header header\nDetection2D[] detections\n${line}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n${line}\nMSG: vision_msgs/Detection2D\nstd_msgs/Header header\nObjectHypothesisWithPose[] results\nBoundingBox2D bbox\nstring id\n${line}\nMSG: vision_msgs/ObjectHypothesisWithPose\nObjectHypothesis hypothesis\n${line}\nMSG: vision_msgs/ObjectHypothesis\nstring class_id\nfloat64 score\n${line}\nMSG: vision_msgs/BoundingBox2D\nPose2D center\nfloat64 size_x\nfloat64 size_y\n${line}\nMSG: vision_msgs/Pose2D\nPoint2D position\nfloat64 theta\n${line}\nMSG: vision_msgs/Point2D\nfloat64 x\nfloat64 y\n`;
  const schema = parseSchema("vision_msgs/msg/Detection2DArray", definition);
  const header = { stamp: { sec: 1_700_000_000, nanosec: 7 }, frame_id: "camera" };
  const results = [0.2, 0.9, 0.5].map((score, i) => ({ hypothesis: { class_id: `kind ${i}`, score } }));
  const wire = { header, detections: [{ header, results, bbox: { center: { position: { x: 1, y: 2 }, theta: 3 }, size_x: 4, size_y: 5 }, id: "7" }, { header, results: [], bbox: { center: { position: { x: 1, y: 2 }, theta: 3 }, size_x: 4, size_y: 5 }, id: "" }] };
  const message = named(schema, wire);
  assert.deepEqual(message.header, { stamp: 1_700_000_000_000_000_007n, frame_id: "camera" });
  assert.deepEqual(message.detections[0], { label: "kind 1", score: 0.9, center_x: 1, center_y: 2, theta: 3, size_x: 4, size_y: 5, id: "7" }, "of the best hypothesis");
  assert.deepEqual([message.detections[1].label, message.detections[1].score], ["", 0]);
  assert.deepEqual(namedHead({ header, width: 3 }), { header: message.header, width: 3 });
  const fields = numericFields(schema);
  assert.deepEqual(fields.map(({ name, unit }) => `${name} ${unit}`), ["header.stamp (s) s", "detections[0].score ", "detections[0].center_x px", "detections[0].center_y px", "detections[0].theta rad", "detections[0].size_x px", "detections[0].size_y px", "detections.length "]);
  assert.deepEqual(fields.map(({ path }) => valueAt(message, path)), [1_700_000_000, 0.9, 1, 2, 3, 4, 5, 2]);
  assert.ok(Number.isNaN(valueAt(named(schema, { header, detections: [] }), fields[1].path)), "an empty list has no number");
  // Another definition with that name is shown as it is.
  const other = parseSchema("vision_msgs/msg/Detection2D", "float64 whatever\n");
  assert.deepEqual(named(other, { whatever: 1 }), { whatever: 1 });

  assert.deepEqual(["a/B speed # [m/s]", "a/B since_ns", "a/B own_front_m", "a/B v_m_s", "a/B data", "sensor_msgs/Imu angular_velocity"].map((one) => /^(\S+) (\w+)(.*)$/.exec(one).slice(1)).map((parts) => unitOf(...parts)), ["m/s", "ns", "m", "m/s", "", "rad/s"]);
  assert.equal(unitOf("a/B", "x", `# [${"long".repeat(100)}]`), "");

  const half = Math.SQRT1_2; // a quarter of a turn about z: x becomes y
  const edges = edgesOf([{ center: { position: { x: 10, y: 20, z: 30 }, orientation: { x: 0, y: 0, z: half, w: half } }, size: { x: 4, y: 2, z: 6 } }]);
  assert.equal(edges.length, 12 * 2 * 4);
  const span = (axis) => [Math.min, Math.max].map((of) => Math.round(of(...edges.filter((_, i) => i % 4 === axis)) * 1000) / 1000);
  assert.deepEqual([span(0), span(1), span(2)], [[9, 11], [18, 22], [27, 33]]);
  assert.ok(edgesOf(Array.from({ length: 100_000 }, () => ({ center: { position: {}, orientation: {} }, size: {} }))).length <= 200 * 96);
  const kept = [1n, 900_000_000n, 1_000_000_000n].map((stamp) => ({ stamp, frame: "camera", boxes: [] }));
  assert.equal(nearest(kept, 950_000_001n, "camera"), kept[2]);
  assert.equal(nearest(kept, 950_000_001n, "other"), undefined, "boxes of another camera");
  assert.equal(nearest(kept, 9_000_000_000n, "camera"), undefined, "boxes of long ago");
}

// ---- what the page asks for by itself
{
  globalThis.IntersectionObserver = class {
    constructor(tell) {
      globalThis.tellOfSight = tell;
    }
    observe() {}
    disconnect() {}
  };
  globalThis.window = { devicePixelRatio: 1 };
  const { Thumbs, paceOf, fromAbove, MOST } = await load("thumbs.js");
  const asked = new Map();
  const session = { subscribe: (topic, listener) => (asked.set(topic, listener), () => asked.delete(topic)) };
  const uses = new Map();
  const thumbs = new Thumbs(session, { use: (who, does) => uses.set(who, does) });
  const canvas = { clientWidth: 300, classList: { toggle() {} } };
  for (let i = 0; i < 500; ++i) thumbs.add(`/camera/${i}`, "picture", { dataset: {} }, canvas, { textContent: "" });
  const see = (from, to, isIntersecting) => globalThis.tellOfSight(Array.from({ length: to - from }, (_, i) => ({ target: { dataset: { of: `/camera/${from + i}` } }, isIntersecting })));
  assert.equal(asked.size, 0, "what is not in sight is not asked for");
  see(10, 13, true);
  assert.deepEqual([...asked.keys()], ["/camera/10", "/camera/11", "/camera/12"]);
  assert.deepEqual(asked.get("/camera/10").most, { picture: 320, points: 5000 });
  assert.ok(uses.get("cards"));
  see(0, 500, true);
  assert.equal(asked.size, MOST, "however many there are");
  const each = asked.get("/camera/0").pace();
  assert.ok((MOST * 1000) / each <= 10, `at most ten pictures a second: one of each in ${each} ms`);
  assert.equal(paceOf(1), 500);
  thumbs.shown(false);
  assert.equal(asked.size, 0, "another view is shown");
  assert.equal(uses.get("cards"), false);
  thumbs.shown(true);
  see(0, 500, false);
  assert.equal(asked.size, 0);

  const points = new Float32Array([0, 0, 0, 0, 10, 5, 0, 1, NaN, NaN, NaN, NaN, 1e30, 0, 0, 0]);
  for (const [x, y, colour] of fromAbove(points, 320, 200)) assert.ok(x >= 0 && x < 320 && y >= 0 && y < 200 && colour >= 0 && colour <= 1);
  assert.deepEqual(fromAbove(new Float32Array(0), 320, 200), []);
}

// ---- topics as a tree
{
  const { treeOf } = await load("topics.js");
  const text = (node) => [...node.under.values()].map((one) => `${one.name}${one.topic === undefined ? "" : "!"}${one.under.size ? `(${text(one)})` : ""}`).join(" ");
  assert.equal(text(treeOf(["/a", "/a/b", "/sensors/front/camera", "/sensors/front/lidar", "/x/y/z"])), "a!(b!) sensors/front(camera! lidar!) x/y/z!");
  assert.equal(text(treeOf(["/__proto__/constructor", "//a//"])), "__proto__/constructor! a!");
}

// ---- from look to look
{
  const at = (seconds, missed, published) => ({ time_ns: seconds * 1e9, publishers: [{ ...writer("/a", "p", 1, [reader("s", 2, { missed })]), serial: 1, published, bytes: published * 10 }], services: [{ name: "/map", pid: 1, serial: 2, answered: published }], processes: [{ pid: 1, cpu_seconds: seconds / 4, memory_bytes: 5 }] });
  const seen = compare(at(1, 0, 0), at(3, 4, 60));
  assert.ok(seen.isLooked && !compare(null, { publishers: [] }).isLooked, "nothing was looked at is not nothing is there");
  assert.deepEqual(seen.rates.get("/a"), { hz: 30, bytes: 300 });
  assert.deepEqual([seen.services[0].hz, compare(null, at(1, 0, 0)).services[0].hz], [30, undefined]);
  assert.equal(seen.publishers[0].subscribers[0].lost, 2);
  assert.deepEqual(seen.topics.get("/a"), { hz: 30, bytes: 300, size: 10, p50: 1_000, p99: 2_000, age50: 3_000, age99: 4_000, lost: 2, missed: 4, from: ["p"], readers: 1, messages: 60, total: 600 });
  // A line of a plot outlives the process: its name has no number.
  assert.deepEqual(latencies(seen.publishers), [["/a, p → s, median", -1], ["/a, p → s, 99 %", -1]]);
  const twice = [writer("/a", "p", 1, [reader("s", 2, { recent_p50_ns: 5, recent_p99_ns: 9 }), reader("s", 3, { recent_p50_ns: 7, recent_p99_ns: 8 })])];
  assert.deepEqual(latencies(twice), [["/a, p → s, median", 7], ["/a, p → s, 99 %", 9]]);
  const system = { changes: [{ system: "car", state: "starting", reason: "", wall_ms: 0 }, { system: "car", state: "degraded", reason: "no camera", wall_ms: 1 }], processes: [{ state: "running", restarts: 0 }, { state: "waiting", restarts: 3 }], problems: ["p does not answer"] };
  const words = facts(system, seen, 7);
  for (const part of ["car: degraded (no camera), since", "1 of 2 processes run", "3 restarts", "7 topics", "2.0 messages lost a second", "p does not answer"]) assert.ok(words.some(({ text, isBad }) => text.startsWith(part) && (isBad || part === "7 topics")), part);
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

// ---- chains
{
  const way = [{ by: "detector: /camera", to: "/objects" }, { by: "driver: /objects", to: "/command" }];
  const frame = (sequence, wall_ms, running) => ({ sequence, wall_ms, hops_us: [[10, 20, running], [1, 2, 3]] });
  const answer = (...frames) => ({ ways: [{ hops: way, frames }, { hops: way.slice(1), frames: [{ sequence: 1, wall_ms: 1_500, hops_us: [[1, 1, 1]] }] }] });
  let kept = keepFrames([], answer(frame(1, 1_000, 100), frame(2, 2_000, 300)), 3_000);
  kept = keepFrames(kept, answer(frame(2, 2_000, 300), frame(3, 3_000, 200)), 3_000);
  assert.deepEqual(kept.map(({ sequence, all }) => [sequence, all]), [[1, 136], [1, 3], [2, 336], [3, 236]], "each once, in the order of their times");
  assert.equal(slowestOf(kept).sequence, 2);
  assert.equal(ageOf(kept, 0.99), 336);
  assert.equal(ageOf([], 0.5), undefined);
  const means = meansOf(kept);
  assert.deepEqual([means.way, means.frames, means.hops_us, means.all], [way, 3, [[10, 20, 200], [1, 2, 3]], 236], "of the most used way");
  assert.equal(meansOf([]), undefined);
  assert.deepEqual(piecesOf({ hops_us: [[0, 5, 10], [1, 0, 0]] }), [{ hop: 0, part: 1, from: 0, to: 5 }, { hop: 0, part: 2, from: 5, to: 15 }, { hop: 1, part: 0, from: 15, to: 16 }]);
  assert.deepEqual(keepFrames(kept, answer(), 2_000 + SPAN).map(({ sequence }) => sequence), [3]);
  const [traced] = keepFrames([], { ways: [{ hops: way, frames: [{ ...frame(9, 1_000, 1), sequences: [70, 71, 9], published_us: [999_000, 999_500, 1_000_001] }] }] }, 1_000);
  assert.deepEqual(messagesOf(traced, "/camera"), [{ topic: "/camera", sequence: 70, ms: 999 }, { topic: "/objects", sequence: 71, ms: 999.5 }, { topic: "/command", sequence: 9, ms: 1000.001 }]);
}

// ---- the messages of chains: found by their times, and never more than the bounds
{
  const kept = new Kept();
  for (const ms of [10, 12, 11, 13, 13.01, NaN]) kept.add({ ms, bytes: 10 });
  assert.deepEqual([kept.size, kept.bytes, kept.since], [5, 50, 10]);
  assert.deepEqual([kept.at(11.005).length, kept.at(11.5).length, kept.at(13).length], [1, 0, 2], "two that are so near are not told apart");
  for (let i = 0; i < 3 * SAMPLES; ++i) kept.add({ ms: 20 + i, bytes: 10 });
  assert.deepEqual([kept.size, kept.bytes, kept.since], [SAMPLES, SAMPLES * 10, 20 + 2 * SAMPLES]);
  for (let i = 0; i < 20; ++i) kept.add({ ms: 1e6 + i, bytes: LARGEST });
  kept.add({ ms: 2e6, bytes: LARGEST + 1 });
  assert.deepEqual([kept.size, kept.bytes, kept.tooLarge], [BYTES / LARGEST, BYTES, 1]);

  const uses = new Map();
  const channels = new Map([["/camera", "sensor_msgs/msg/Image"], ["/objects", "a/msg/B"], ["/map", "a/msg/B"], ["/new", "a/msg/B"]]);
  const session = {
    now: () => 1000,
    channelOf: (topic) => (channels.has(topic) ? { schemaName: channels.get(topic) } : undefined),
    previewOf: (type) => (type === "sensor_msgs/msg/Image" ? "picture" : null),
    subscribe: (topic, listener) => (uses.set(topic, listener), () => uses.delete(topic)),
  };
  const samples = new ChainSamples(session);
  samples.look(new Map([["/objects", { size: 100 }], ["/map", { size: 5e6 }], ["/new", { size: -1 }]]));
  samples.want(["/camera", "/objects", "/map", "/new", "/inside"]);
  assert.equal(uses.size, 0, "a view that nobody sees asks for nothing");
  samples.shown(true);
  assert.deepEqual([...uses.keys()], ["/camera", "/objects"], "neither large messages nor those of unknown size");
  assert.deepEqual(uses.get("/camera").most, { picture: 320, points: 5000 });
  uses.get("/camera").preview({ width: 1 }, new Uint8Array(10), 1500);
  uses.get("/objects").message({ at: 1510.002, bytes: new Uint8Array(5) });
  assert.equal(samples.find("/camera", 1500).sample.payload.length, 10);
  assert.equal(samples.find("/objects", 1510.001).sample.message.at, 1510.002);
  const why = (topic, ms) => samples.find(topic, ms).why;
  assert.match(why("/camera", 1501), /at the page's pace/, "the next one is not taken in its place");
  assert.match(why("/objects", 1600), /did not get it/);
  assert.match(why("/objects", 900), /before the page read/);
  assert.match(why("/map", 1500), /size/);
  assert.match(why("/inside", 1500), /does not send/);
  for (const off of [0, 0.01]) uses.get("/objects").message({ at: 1700 + off, bytes: new Uint8Array(5) });
  assert.match(why("/objects", 1700), /Several/);
  for (let i = 0; i <= SAMPLES; ++i) uses.get("/objects").message({ at: 2000 + i, bytes: new Uint8Array(5) });
  assert.match(why("/objects", 1510.001), /gone/);
  samples.isKeeping = false;
  assert.equal(uses.size, 0);
  assert.match(why("/camera", 1500), /not kept/);
  samples.isKeeping = true;
  for (let i = 0; i < 100; ++i) channels.set(`/more/${i}`, "sensor_msgs/msg/Image");
  samples.want([...channels.keys()]);
  assert.ok(uses.size <= TOPICS, `${uses.size} topics`);
  samples.shown(false);
  assert.equal(uses.size, 0);
}

// ---- detections over the picture of a frame: of the same coordinate frame and time alone
{
  const { boxesOn } = await load("chain_shots.js");
  const head = { header: { stamp: { sec: 100, nanosec: 0 }, frame_id: "camera" } };
  const detections = (frame_id, stamp, root = "vision_msgs/Detection2DArray") => ({ message: { use: { schema: { root } }, named: { header: { frame_id, stamp }, detections: [frame_id] } } });
  const broken = { message: { use: { schema: { root: "vision_msgs/Detection2DArray" } }, get named() { throw new Error("the message ends too early"); } } };
  const all = [detections("camera", 100_100_000_000n), detections("rear", 100_000_000_000n), detections("camera", 90_000_000_000n), detections("camera", 100_000_000_000n, "a/B"), broken, undefined, { head }];
  assert.deepEqual(boxesOn(head, all), [["camera"]]);
}

await checkFrames(load);

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
console.log("cards, pictures, the graph, plots, names, links, the controls of recordings, chains, frames and contrasts are as they should be");
