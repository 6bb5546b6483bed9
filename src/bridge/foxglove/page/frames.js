// SPDX-License-Identifier: Apache-2.0
// Where frames are, as /tf and /tf_static say it: the tree, how old each place is, and what is wrong with it. The rules
// are those of cardan::Transforms. Publishers may be hostile: the tree is bounded, and refuses false places.
import { stampOf } from "./boxes.js";

export const MOST = 1024; // frames
export const LONGEST = 120; // characters of a name
export const AT_ONCE = 4096; // transforms of a message
export const OLD = 1000; // ms: an older place of a moving frame is marked
const LATE = 10_000; // ms: a stamp that is further back is of a clock that was set back
const REMEMBERED = 10_000; // ms: how long a row says what was wrong
const CLOCKS = 3_600_000; // ms between stamp and publication: the stamps are of another clock
const WINDOW = 2500; // ms of a rate
const FIRST = 1000; // ms that count for no rate: at first comes what was published before
const ROOM = 1000; // ms from one search for room to the next
const NO_TRANSFORMS = "A message has no transforms in the form of tf2_msgs/msg/TFMessage.";

/** Without the slash of ROS's old days, as in tf2. */
function nameOf(text) {
  if (typeof text !== "string") return "";
  const name = text.startsWith("/") ? text.slice(1) : text;
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 1)}…`;
}

/** Why this place is false; "": it is right. */
function wrongWith({ translation: t, rotation: q }) {
  if (![t.x, t.y, t.z, q.x, q.y, q.z, q.w].every(Number.isFinite)) return "NaN or infinity was refused";
  if (Math.abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1) >= 0.01) return "a quaternion that is not of length 1 was refused";
  return "";
}

/** Roll, pitch and yaw in radians, about the fixed axes x, y and z in this order. */
export function anglesOf({ x, y, z, w }) {
  const sine = Math.min(1, Math.max(-1, 2 * (w * y - z * x)));
  return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(sine), Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
}

export class FrameTree {
  #frames = new Map(); // name → frame
  #remarks = new Map(); // text → ms: of what belongs to no frame
  #windowBegan; // ms
  #isWarm = false; // whether the time that counts for no rate is over
  #span = 0; // ms of the window before
  #searched = -Infinity; // ms: the last time that room was looked for

  get size() {
    return this.#frames.size;
  }

  /** A list of geometry_msgs/TransformStamped. `atMs`: its publication; `nowMs`: here, by a clock that nobody sets. */
  add(transforms, isStatic, atMs, nowMs) {
    this.#windowBegan ??= nowMs;
    if (!Array.isArray(transforms)) return this.#remark(NO_TRANSFORMS, nowMs);
    if (transforms.length > AT_ONCE) this.#remark(`A message has ${transforms.length} transforms: those after the first ${AT_ONCE} were left out.`, nowMs);
    for (const one of transforms.slice(0, AT_ONCE)) {
      try {
        this.#one(one, isStatic, atMs, nowMs);
      } catch {
        this.#remark(NO_TRANSFORMS, nowMs); // another definition of that name
      }
    }
  }

  /** Of a recording: what is shown is of another time. Places that never change stay. */
  forgetMoving() {
    for (const [name, frame] of this.#frames) if (!frame.isStatic) this.#frames.delete(name);
    for (const frame of this.#frames.values()) frame.children = 0;
    for (const { parent } of [...this.#frames.values()]) if (parent !== null) (this.#frames.get(parent) ?? this.#make(parent)).children += 1;
    this.#windowBegan = undefined;
    this.#isWarm = false;
    this.#span = 0;
  }

  #make(name) {
    const frame = { name, parent: null, before: null, movedMs: -Infinity, isStatic: false, place: null, stampMs: 0, atMs: 0, cameMs: 0, count: 0, countBefore: 0, hz: -1, wrong: null, children: 0 };
    this.#frames.set(name, frame);
    return frame;
  }
  #remark(text, nowMs) {
    if (this.#remarks.size < 8 || this.#remarks.has(text)) this.#remarks.set(text, nowMs);
  }

  /** Whether `names` more fit. If the tree is full, frames that have gone make room. */
  #hasRoom(names, nowMs) {
    if (this.#frames.size + names <= MOST) return true;
    if (nowMs - this.#searched < ROOM && nowMs >= this.#searched) return false;
    this.#searched = nowMs;
    for (const frame of [...this.#frames.values()]) {
      if (frame.isStatic || frame.children > 0 || nowMs - frame.cameMs < LATE) continue;
      this.#leave(frame);
      this.#frames.delete(frame.name);
    }
    return this.#frames.size + names <= MOST;
  }
  #leave(frame) {
    const parent = frame.parent === null ? undefined : this.#frames.get(frame.parent);
    if (parent) parent.children -= 1;
    frame.parent = null;
  }

  #one(one, isStatic, atMs, nowMs) {
    const [parent, child] = [nameOf(one.header.frame_id), nameOf(one.child_frame_id)];
    const stampMs = Number(stampOf(one.header.stamp) / 1000n) / 1000;
    if (!parent || !child) return this.#remark("A frame without a name was refused.", nowMs);
    const wrong = (stampMs < 0 ? "a stamp before 1970 was refused" : wrongWith(one.transform)) || (parent === child ? "it was placed in itself, which was refused" : "");
    let frame = this.#frames.get(child);
    if (wrong) {
      if (frame) frame.wrong = { text: wrong, ms: nowMs };
      else this.#remark(`${child} in ${parent}: ${wrong}.`, nowMs);
      return;
    }
    if (!this.#hasRoom(Number(!frame) + Number(!this.#frames.has(parent)), nowMs)) return this.#remark(`There are ${MOST} frames already: further ones are left out.`, nowMs);
    frame ??= this.#make(child);
    if (!this.#frames.has(parent)) this.#make(parent);
    if (frame.parent !== parent && this.#isAbove(child, parent)) {
      frame.wrong = { text: `its place in ${parent} would close a circle and was refused`, ms: nowMs };
      return;
    }
    if (frame.place === null) frame.isStatic = isStatic;
    else if (frame.isStatic !== isStatic) frame.wrong = { text: "it comes on /tf and on /tf_static", ms: nowMs };
    frame.count += 1;
    if (frame.place !== null && !frame.isStatic && stampMs < frame.stampMs && frame.stampMs - stampMs < LATE) return; // it was late
    if (frame.parent !== parent) this.#place(frame, parent, nowMs);
    Object.assign(frame, { place: one.transform, stampMs, atMs, cameMs: nowMs });
  }

  /** A frame that is handed on has another parent from then on. One that goes back and forth has two publishers. */
  #place(frame, parent, nowMs) {
    const isBack = frame.before === parent && nowMs - frame.movedMs < LATE;
    if (frame.parent !== null && (frame.isStatic || isBack)) frame.wrong = { text: `two parents: ${frame.parent} and ${parent}; the last one counts`, ms: nowMs };
    frame.before = frame.parent;
    this.#leave(frame);
    [frame.parent, frame.movedMs] = [parent, nowMs];
    this.#frames.get(parent).children += 1;
  }
  #isAbove(child, name) {
    for (let steps = 0; name !== null && steps <= this.#frames.size; ++steps, name = this.#frames.get(name)?.parent ?? null) if (name === child) return true;
    return false;
  }

  /** The messages of which only this part was looked at count as if all had been. */
  #roll(nowMs, part) {
    if (this.#windowBegan === undefined) return;
    const span = nowMs - this.#windowBegan;
    const seconds = (span + this.#span) / 1000;
    const isDue = span < 0 || span >= (this.#isWarm ? WINDOW : FIRST);
    for (const frame of this.#frames.values()) {
      frame.hz = !this.#isWarm || seconds < 1 ? -1 : (frame.count + frame.countBefore) / seconds / part;
      if (isDue) [frame.countBefore, frame.count] = [this.#isWarm && span > 0 ? frame.count : 0, 0];
    }
    if (!isDue) return;
    this.#span = this.#isWarm && span > 0 ? span : 0;
    this.#windowBegan = nowMs;
    this.#isWarm = true;
  }

  /** {rows: [{name, depth, parent: "" for a root, isStatic, hz: −1: not known yet, ageMs, isOld, place: null, or metres and
      radians {x, y, z, roll, pitch, yaw}, rotation, remark}], remarks: texts}: each frame below its parent. `timeMs`: of a
      recording, the time that is shown. `part`: of the messages, how many were looked at. */
  look(nowMs, { timeMs, part = 1 } = {}) {
    this.#roll(nowMs, part);
    const under = new Map();
    for (const frame of this.#frames.values()) {
      const key = frame.parent ?? "";
      if (!under.has(key)) under.set(key, []);
      under.get(key).push(frame);
    }
    for (const all of under.values()) all.sort((a, b) => (a.name < b.name ? 1 : -1)); // the stack takes the last one first
    const rows = [];
    const stack = (under.get("") ?? []).map((frame) => ({ frame, depth: 0 }));
    while (stack.length && rows.length < MOST) {
      const { frame, depth } = stack.pop();
      rows.push(this.#row(frame, depth, nowMs, timeMs));
      for (const child of under.get(frame.name) ?? []) stack.push({ frame: child, depth: depth + 1 });
    }
    for (const [text, ms] of this.#remarks) if (nowMs - ms > REMEMBERED) this.#remarks.delete(text);
    return { rows, remarks: [...this.#remarks.keys()] };
  }
  #row(frame, depth, nowMs, timeMs) {
    const { name, parent, isStatic, place, stampMs, atMs, cameMs, wrong } = frame;
    const hasOtherClock = place !== null && !isStatic && Math.abs(atMs - stampMs) > CLOCKS;
    const before = hasOtherClock ? 0 : atMs - stampMs; // how old it was when it was published: both are of one clock
    const ageMs = place === null || isStatic ? undefined : timeMs !== undefined && !hasOtherClock ? timeMs - stampMs : nowMs - cameMs + before;
    const isWrong = wrong !== null && (isStatic || nowMs - wrong.ms < REMEMBERED); // what is static came once
    const remarks = isWrong ? [wrong.text] : [];
    if (hasOtherClock) remarks.push("its stamps are of another clock: the age is since it came");
    const [roll, pitch, yaw] = place === null ? [] : anglesOf(place.rotation);
    return {
      name,
      depth,
      parent: parent ?? "",
      isStatic,
      hz: frame.hz,
      ageMs,
      isOld: ageMs !== undefined && ageMs > OLD,
      place: place === null ? null : { ...place.translation, roll, pitch, yaw },
      rotation: place?.rotation,
      remark: remarks.join("; "),
      isWrong,
    };
  }
}
