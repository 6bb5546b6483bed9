// SPDX-License-Identifier: Apache-2.0
// The tree of frames of the page of `cardan view`, without a browser: a part of page_parts_check.mjs.
import assert from "node:assert/strict";

const turn = (yaw) => ({ x: 0, y: 0, z: Math.sin(yaw / 2), w: Math.cos(yaw / 2) });
const transform = (parent, child, more = {}) => ({ header: { stamp: { sec: 1000, nanosec: 0 }, frame_id: parent }, child_frame_id: child, transform: { translation: { x: 1, y: 2, z: 3 }, rotation: turn(0.5) }, ...more });
const at = (ms) => ({ sec: Math.floor(ms / 1000), nanosec: (ms % 1000) * 1e6 });

/** `load(name)`: the module of the page. */
export async function checkFrames(load) {
  const { FrameTree, LONGEST, MOST: FRAMES, anglesOf } = await load("frames.js");
  {
    const tree = new FrameTree();
    const rowOf = (name, ...when) => tree.look(...when).rows.find((row) => row.name === name);
    tree.add(Array(64).fill(transform("odom", "base")), false, 1e6, 0); // what was published before counts for no rate
    tree.look(0);
    tree.look(1000);
    for (let ms = 1000; ms <= 4000; ms += 20) tree.add([transform("/odom", "base", { header: { stamp: at(1e6 + ms), frame_id: "/odom" } })], false, 1e6 + ms + 5, ms);
    tree.add([transform("base", "lidar"), transform("base", "camera")], true, 1e6, 4000);
    assert.deepEqual(tree.look(4000).rows.map(({ name, depth, parent, isStatic }) => [name, depth, parent, isStatic]), [["odom", 0, "", false], ["base", 1, "odom", false], ["camera", 2, "base", true], ["lidar", 2, "base", true]]);
    const base = rowOf("base", 4000);
    assert.ok(Math.abs(base.hz - 50) < 1, `${base.hz} Hz`);
    assert.deepEqual([base.ageMs, base.isOld, rowOf("lidar", 9e9).ageMs, rowOf("odom", 4000).place], [5, false, undefined, null], "what is static has no age");
    assert.deepEqual([rowOf("base", 4990).isOld, rowOf("base", 5000).isOld], [false, true], "older than a second");
    assert.equal(rowOf("base", 4000, { timeMs: 1e6 + 9000 }).ageMs, 5000, "of a recording, to the time that is shown");
    for (const [value, wish] of [[base.place.x, 1], [base.place.z, 3], [base.place.roll, 0], [base.place.yaw, 0.5]]) assert.ok(Math.abs(value - wish) < 1e-12);
    const angles = anglesOf({ x: 0, y: Math.SQRT1_2, z: 0, w: Math.SQRT1_2 });
    assert.ok(Math.abs(angles[1] - Math.PI / 2) < 1e-7, "straight up");

    // Two parents: one that is handed on is right, one that goes back and forth is not.
    tree.add([transform("map", "tool")], false, 1e6, 5000);
    tree.add([transform("base", "tool")], false, 1e6, 5100);
    assert.equal(rowOf("tool", 5100).remark, "");
    tree.add([transform("map", "tool")], false, 1e6, 5200);
    assert.deepEqual([rowOf("tool", 5200).remark, rowOf("tool", 5200).isWrong], ["two parents: base and map; the last one counts", true]);
    assert.equal(rowOf("tool", 99_000).remark, "", "until it was right for ten seconds");
    for (const [parent, ms] of [["map", 0], ["base", 100], ["base", 20_000], ["map", 20_100]]) tree.add([transform(parent, "cup")], false, 1e6, ms);
    assert.equal(rowOf("cup", 20_100).remark, "", "and one that is handed back after a while");
    tree.add([transform("roof", "lidar")], true, 1e6, 5300);
    assert.match(rowOf("lidar", 99_000).remark, /two parents: base and roof/, "what never changes has one");

    // Circles, false places, and other definitions.
    tree.add([transform("base", "odom")], false, 1e6, 6000);
    assert.match(rowOf("odom", 6000).remark, /in base would close a circle/);
    assert.deepEqual(tree.look(6000).rows.filter(({ name }) => ["odom", "base"].includes(name)).map(({ depth }) => depth), [0, 1]);
    const bad = (rotation, translation = { x: 0, y: 0, z: 0 }) => transform("odom", "base", { transform: { rotation, translation } });
    for (const [one, words] of [[bad({ x: NaN, y: 0, z: 0, w: 1 }), /NaN/], [bad(turn(0), { x: Infinity, y: 0, z: 0 }), /NaN or infinity/], [bad({ x: 0, y: 0, z: 0, w: 0 }), /not of length 1/], [transform("base", "/base"), /in itself/], [transform("odom", "base", { header: { stamp: { sec: -5, nanosec: 0 }, frame_id: "odom" } }), /1970/]]) {
      tree.add([one], false, 1e6, 6000);
      assert.match(rowOf("base", 6000).remark, words);
      assert.equal(rowOf("base", 6000).place.x, 1, "the place before stays");
    }
    for (const one of [undefined, 5, [null], [{}], [transform(7, "x")], [transform("odom", "x", { transform: { translation: { x: "1" }, rotation: turn(0) } })], [transform("odom", "x", { header: { stamp: { sec: 0.5, nanosec: 0 }, frame_id: "odom" } })], [transform("", "x")]]) tree.add(one, false, 1e6, 6000);
    assert.equal(rowOf("x", 6000), undefined);
    assert.ok(tree.look(6000).remarks.some((text) => text.includes("TFMessage")) && tree.look(6000).remarks.some((text) => text.includes("without a name")));
    assert.deepEqual(tree.look(99_000).remarks, []);
    tree.add([transform("odom", "wheel", { header: { stamp: at(5), frame_id: "odom" } })], false, 1.7e12, 6000);
    assert.deepEqual([rowOf("wheel", 6500).ageMs, /another clock/.test(rowOf("wheel", 6500).remark)], [500, true], "of a simulation");

    tree.forgetMoving();
    assert.deepEqual(tree.look(7000).rows.map(({ name }) => name).sort(), ["base", "camera", "lidar", "roof"], "of a recording in which somebody seeks");
  }

  // ---- hostile publishers
  {
    const tree = new FrameTree();
    const flood = (prefix, isStatic, nowMs) => tree.add(Array.from({ length: 10_000 }, (_, i) => transform(`${prefix}${i}`, `${prefix}${i + 1}`)), isStatic, 1e6, nowMs);
    const began = performance.now();
    flood("a", false, 0);
    flood("b", false, 0);
    assert.equal(tree.size, FRAMES);
    const { rows, remarks } = tree.look(0);
    assert.equal(rows.length, FRAMES);
    assert.equal(rows.at(-1).depth, FRAMES - 1, "a chain of all, without recursion");
    assert.ok(remarks.some((text) => text.includes("further ones are left out")));
    for (let i = 0; i < 10_000; ++i) tree.add([transform(`a${i % 2 ? FRAMES - 1 : FRAMES - 2}`, "a0")], false, 1e6, 1); // each closes a circle
    assert.ok(performance.now() - began < 20_000, "within a bounded time");
    for (let ms = 20_000; tree.size > 0 && ms < 2e6 && !tree.look(ms).rows.some(({ name }) => name === "base"); ms += 1000) tree.add([transform("odom", "base")], false, 1e6, ms);
    assert.ok(tree.look(2e6).rows.some(({ name }) => name === "base"), "frames that have gone make room");

    const full = new FrameTree();
    full.add([transform("odom", "base"), ...Array.from({ length: 4095 }, (_, i) => transform("odom", `gone${i}`)), transform("odom", "beyond")], false, 1e6, 0);
    full.add([transform("base", "wheel")], false, 1e6, 0);
    assert.deepEqual(full.look(0).rows.filter(({ name }) => ["base", "beyond", "wheel"].includes(name)).map(({ name }) => name), ["base"]);
    full.add([transform("base", "wheel")], false, 1e6, 20_000);
    full.forgetMoving();
    full.add([transform("odom", "base"), transform("base", "wheel"), ...Array.from({ length: 2000 }, (_, i) => transform("odom", `gone${i}`))], false, 1e6, 30_000);
    full.add([transform("base", "wheel")], false, 1e6, 50_000);
    full.add([transform("odom", "new")], false, 1e6, 50_000);
    assert.deepEqual(full.look(50_000).rows.map(({ name, depth }) => [name, depth]), [["odom", 0], ["base", 1], ["wheel", 2], ["new", 1]], "a frame with frames in it stays");
    const some = new FrameTree();
    some.add([...Array.from({ length: 4096 }, () => transform("odom", "base")), transform("odom", "beyond")], false, 1e6, 0);
    assert.deepEqual([some.size, some.look(0).remarks.length], [2, 1], "a message has a bound, too");

    const odd = new FrameTree();
    const names = ["__proto__", "constructor", "<img src=x onerror=hit()>", "\u202eevil\u0000", "x".repeat(5000)];
    odd.add(names.map((name) => transform("toString", name)), true, 1e6, 0);
    assert.equal(odd.look(0).rows.length, names.length + 1);
    assert.ok(odd.look(0).rows.every(({ name }) => name.length <= LONGEST));
  }

  // ---- the same on the page: names are text, and a flood is not looked at as a whole
  {
    class Element {
      constructor() {
        Object.assign(this, { textContent: "", title: "", hidden: false, cells: [], rows: [], children: [], classes: new Set(), style: { setProperty() {} } });
        this.classList = { toggle: (name, is) => (is ? this.classes.add(name) : this.classes.delete(name)) };
      }
      append(...all) {
        this.children.push(...all);
      }
      replaceChildren() {
        this.rows = [];
      }
      insertRow() {
        this.rows.push(new Element());
        return this.rows.at(-1);
      }
      insertCell() {
        this.cells.push(new Element());
        return this.cells.at(-1);
      }
      set innerHTML(_) {
        throw new Error("a peer's text as HTML");
      }
    }
    const page = new Map();
    globalThis.document = { hidden: false, createElement: () => new Element(), getElementById: (id) => page.get(id) ?? page.set(id, new Element()).get(id) };
    const { Frames } = await load("frames_view.js");
    const listeners = new Map();
    const session = { timeline: { now: undefined }, channelOf: (topic) => listeners.has(topic), subscribe: (topic, listener) => (listeners.set(topic, listener), () => listeners.delete(topic)) };
    const frames = new Frames(session);
    frames.shown(true);
    frames.shown(true);
    assert.deepEqual([...listeners.keys()], ["/tf", "/tf_static"]);
    assert.match(page.get("frames-note").textContent, /No transforms yet\. They come on \/tf/);
    assert.ok(page.get("frames-table").hidden);
    const message = (transforms, root = "tf2_msgs/TFMessage") => ({ use: { schema: { root } }, at: 1e6, value: { transforms } });
    const name = "<img src=x onerror=hit()>";
    listeners.get("/tf").message(message([transform("map", name)]));
    listeners.get("/tf_static").message(message([transform(name, "lidar")]));
    frames.draw();
    const [map, moving, fixed] = page.get("frames").rows;
    assert.equal(moving.cells[0].children[0].textContent, name);
    assert.equal(fixed.cells[1].textContent, name);
    assert.deepEqual([map.cells[2].textContent, fixed.cells[2].textContent, fixed.cells[3].textContent], ["", "static", ""]);
    assert.deepEqual([fixed.cells[4].textContent, fixed.cells[5].textContent], ["1, 2, 3", "0, 0, 28.6"]);
    assert.equal(page.get("frames-table").hidden, false);
    assert.equal(page.get("frames-note").textContent, "");
    listeners.get("/tf").message(message([transform("map", "late", { header: { stamp: at(1e6 - 5000), frame_id: "map" } })]));
    frames.draw();
    const late = page.get("frames").rows.find((row) => row.cells[0].children[0].textContent === "late");
    assert.ok(late.cells[3].classes.has("bad") && /^5\.\d\d s$/.test(late.cells[3].textContent), late.cells[3].textContent);
    assert.throws(() => listeners.get("/tf").message(message([], "a/B")), /its type is not/, "which the page says");
    const began = performance.now();
    let looked = 0;
    for (let i = 0; i < 2000 && performance.now() - began < 900; ++i) {
      const flood = Array.from({ length: 4096 }, (_, k) => transform("map", `f${k}`));
      listeners.get("/tf").message({ ...message(flood), get value() { looked += 1; return { transforms: flood }; } });
    }
    frames.draw();
    assert.ok(page.get("frames").rows.length === FRAMES);
    if (looked < 100) assert.match(page.get("frames-note").textContent, /faster than this page reads/);
    frames.shown(false);
    assert.equal(listeners.size, 0, "another view is shown");
  }
}
