// SPDX-License-Identifier: Apache-2.0
// The tree of frames in the view System. It reads /tf and /tf_static while it is shown.
import { FrameTree, OLD } from "./frames.js";
import { cell, numberText, rateText, timeText } from "./text.js";

const $ = (id) => document.getElementById(id);
const TOPICS = ["/tf", "/tf_static"];
const TYPE = "tf2_msgs/msg/TFMessage";
const MOST_WORK = 250; // ms of a second, for each topic: what comes faster is counted, and not looked at
const DEEPEST = 12; // indents
const NOTHING = "No transforms yet. They come on /tf and /tf_static (tf2_msgs/msg/TFMessage): from the configuration's `transforms`, from a program with cardan::StaticTransform or cardan::TransformOutput, or from ROS 2 through a bridge.";

/** Numbers with as few digits as are needed to a millimetre, or to a tenth of a degree. */
const few = (n, digits) => (Math.abs(n) < 1e6 ? String(Number(n.toFixed(digits))) : n.toExponential(3)).replace(/^-0$/, "0");
const degrees = (n) => few((n * 180) / Math.PI, 1);
/** "4 ms", "12.3 s"; what is from the future has a minus. */
const ageText = (ms) => (ms < 0 ? "−" : "") + (Math.abs(ms) < 1000 ? `${Math.abs(ms).toFixed(0)} ms` : timeText(Math.min(Math.abs(ms), 1e12) * 1e6));

export class Frames {
  #tree = new FrameTree();
  #ends = [];
  #work = new Map(TOPICS.map((topic) => [topic, { began: -Infinity, ms: 0, all: 0, looked: 0 }]));
  #failure = "";
  #form = "";
  #timer = 0;

  constructor(session) {
    this.session = session;
  }

  shown(isShown) {
    if (isShown === this.#ends.length > 0) return;
    for (const end of this.#ends) end();
    this.#ends = [];
    clearInterval(this.#timer);
    if (!isShown) return;
    this.#tree = new FrameTree(); // the bridge sends again what is static
    this.#failure = "";
    this.#ends = TOPICS.map((topic) => this.session.subscribe(topic, { message: (message) => this.#message(topic, message), failed: (text) => (this.#failure = `${topic}: ${text}`) }));
    this.#timer = setInterval(() => this.draw(), 500);
    this.draw();
  }
  /** Of a recording: what was shown is of another time. */
  seeked() {
    this.#tree.forgetMoving();
  }

  /** ms by a clock that nobody sets; of a recording its own. */
  get #now() {
    return this.session.timeline?.now ?? performance.now();
  }
  #message(topic, message) {
    const work = this.#work.get(topic);
    const began = performance.now();
    if (began - work.began > 1000) Object.assign(work, { began, ms: 0 });
    work.all += 1;
    if (work.ms > MOST_WORK) return;
    work.looked += 1;
    try {
      if (message.use.schema.root !== TYPE.replace("/msg/", "/")) throw new Error(`its type is not ${TYPE}`);
      this.#tree.add(message.value.transforms, topic === "/tf_static", message.at, this.#now);
      if (this.#failure.startsWith(`${topic}:`)) this.#failure = "";
    } finally {
      work.ms += performance.now() - began;
    }
  }

  draw() {
    if ($("system").hidden || document.hidden) return;
    const { all, looked } = this.#work.get("/tf");
    const part = all > 0 ? looked / all : 1;
    if (all > 1000) Object.assign(this.#work.get("/tf"), { all: all / 2, looked: looked / 2 }); // of late
    const { rows, remarks } = this.#tree.look(this.#now, { timeMs: this.session.timeline?.now, part });
    const gone = TOPICS.filter((topic) => !this.session.channelOf(topic) && rows.some(({ place, isStatic }) => place !== null && isStatic === (topic === "/tf_static")));
    const words = [
      ...(rows.length ? [] : [NOTHING]),
      ...(gone.length ? [`Nobody publishes ${gone.join(" or ")} now.`] : []),
      ...remarks,
      ...(part < 1 ? [`Transforms come faster than this page reads them: of the messages on /tf it looks at ${(part * 100).toFixed(0)} %.`] : []),
      ...(this.#failure ? [this.#failure] : []),
    ];
    const text = words.join(" ");
    if ($("frames-note").textContent !== text) $("frames-note").textContent = text;
    $("frames-table").hidden = !rows.length;
    this.#fill(rows);
  }

  /** Rows stay as long as the tree is the same: a selection or the place in the list is not lost twice a second. */
  #fill(rows) {
    const form = JSON.stringify(rows.map(({ name, depth, parent }) => [name, depth, parent]));
    const body = $("frames");
    if (form !== this.#form) {
      body.replaceChildren();
      for (const { name, depth, parent } of rows) {
        const row = body.insertRow();
        const first = cell(row, "", "frame-name");
        first.style.setProperty("--depth", String(Math.min(depth, DEEPEST)));
        first.append(Object.assign(document.createElement("span"), { textContent: name, title: depth > DEEPEST ? `level ${depth}` : "" }));
        cell(row, parent);
        for (let i = 0; i < 2; ++i) cell(row, "", "number");
        for (let i = 0; i < 2; ++i) cell(row, "", "number place");
        cell(row, "", "remark");
      }
    }
    this.#form = form;
    rows.forEach((row, i) => this.#show(body.rows[i], row));
  }
  #show(tr, { isStatic, hz, ageMs, isOld, place, rotation, remark, isWrong }) {
    const set = (at, text) => tr.cells[at].textContent !== text && (tr.cells[at].textContent = text);
    set(2, place === null ? "" : isStatic ? "static" : rateText(hz).trim() === "Hz" ? "" : rateText(hz));
    set(3, ageMs === undefined ? "" : ageText(ageMs));
    tr.cells[3].classList.toggle("bad", isOld);
    tr.cells[3].title = isOld ? `older than ${OLD / 1000} s` : "";
    set(4, place === null ? "" : [place.x, place.y, place.z].map((n) => few(n, 3)).join(", "));
    set(5, place === null ? "" : [place.roll, place.pitch, place.yaw].map(degrees).join(", "));
    tr.cells[5].title = place === null ? "" : `radians: ${[place.roll, place.pitch, place.yaw].map((n) => few(n, 5)).join(", ")}; quaternion x, y, z, w: ${[rotation.x, rotation.y, rotation.z, rotation.w].map(numberText).join(", ")}`;
    set(6, remark);
    tr.cells[6].classList.toggle("bad", isWrong);
  }
}
