// SPDX-License-Identifier: Apache-2.0
// A recording's timeline: what it has, where it is, and its controls. They are those of Foxglove's protocol
// ("playbackControl"), and one step of the page's own. The section is made here, and only if there is a recording.
import { clockText, fillTable } from "./text.js";

const REQUEST = 3;
const PACE = 100; // ms between two seeks of one drag
const JUMP = 5000; // ms that an arrow key goes
export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];
const PLAYING = 0;
const STATUS = ["playing", "paused", "waiting", "at the end"];

/** "1:02:03.4" of ms. */
export function spanText(ms) {
  const tenths = Math.max(0, Math.floor(ms / 100));
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(tenths / 36000), Math.floor(tenths / 600) % 60, Math.floor(tenths / 10) % 60];
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds)}.${tenths % 10}`;
}

/** The next speed up or down. */
export function nextSpeed(speed, up) {
  const fits = (n) => (up ? n > speed * 1.01 : n < speed * 0.99);
  return (up ? SPEEDS.find(fits) : SPEEDS.findLast(fits)) ?? speed;
}

/** Bytes of a request. `seekMs`: undefined: none. */
export function requestOf(plays, speed, seekMs, id) {
  const name = new TextEncoder().encode(id);
  const view = new DataView(new ArrayBuffer(19 + name.length));
  view.setUint8(0, REQUEST);
  view.setUint8(1, plays ? 0 : 1);
  view.setFloat32(2, speed, true);
  view.setUint8(6, seekMs === undefined ? 0 : 1);
  view.setBigUint64(7, seekMs === undefined ? 0n : BigInt(Math.round(Math.max(0, seekMs) * 1000)) * 1000n, true);
  view.setUint32(15, name.length, true);
  new Uint8Array(view.buffer).set(name, 19);
  return view.buffer;
}

/** {status, ms, speed, didSeek} of an answer. */
export function stateOf(view) {
  return { status: view.getUint8(1), ms: Number(view.getBigUint64(2, true)) / 1e6, speed: Math.fround(view.getFloat32(10, true)), didSeek: view.getUint8(14) !== 0 };
}

const make = (name, members = {}, ...children) => {
  const element = Object.assign(document.createElement(name), members);
  element.append(...children);
  return element;
};

export class Timeline {
  #section = null;
  #parts = {};
  #start = 0; // ms, as all times
  #end = 0;
  #now = 0;
  #status = 1;
  #speed = 1;
  #held = false; // the reader drags
  #wanted; // a seek that waits for its turn
  #asked; // one that was sent, and is not answered
  #sent = 0;
  #requests = 0;

  /** `seeked()`: what is shown is of another time. */
  constructor(session, seeked) {
    this.session = session;
    this.seeked = seeked;
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  get isThere() {
    return Boolean(this.#section && !this.#section.hidden);
  }
  /** The time that is shown; undefined without a recording. */
  get now() {
    return this.isThere ? this.#now : undefined;
  }

  // ---- what the bridge says

  /** It has answered. */
  connected(isGood) {
    this.#asked = undefined;
    if (!this.#section) return;
    if (isGood && this.session.metadata["cardan.recording"] === undefined) {
      this.#section.hidden = true;
      document.title = "Cardan";
    }
    for (const control of this.#section.querySelectorAll("#timeline-controls :is(button, input, select)")) control.disabled = !isGood;
  }
  recording(contents) {
    if (!this.#section) this.#make();
    this.#section.hidden = false;
    document.title = `${contents.name} – Cardan`;
    [this.#start, this.#end] = [contents.start_ms, contents.end_ms];
    const { at, facts, more } = this.#parts;
    at.max = String(Math.max(1, this.#end - this.#start));
    at.step = String(Math.max(1, (this.#end - this.#start) / 1000));
    const total = contents.topics.reduce((sum, t) => sum + (t.messages ?? 0), 0);
    const few = contents.topics.length < contents.topics_in_all;
    facts.textContent = `${contents.name}: ${contents.topics_in_all} topics, ${few ? "more than " : ""}${total} messages${contents.left_out_in_all ? `, ${contents.left_out_in_all} topics not shown` : ""}${contents.problems.length ? ", damaged or remarkable" : ""}`;
    const body = make("tbody");
    fillTable(body, contents.topics.map((t) => [t.topic, t.type, t.messages ?? "not known"]), 2);
    const head = make("thead", {}, make("tr", {}, make("th", { textContent: "Topic" }), make("th", { textContent: "Type" }), make("th", { textContent: "Messages", className: "number" })));
    const words = [
      ...contents.problems,
      ...contents.left_out.map(({ topic, why }) => `${topic} is not shown: ${why}`),
      ...(few ? [`${contents.topics_in_all - contents.topics.length} more topics are not listed.`] : []),
      ...(contents.left_out.length < contents.left_out_in_all ? [`${contents.left_out_in_all - contents.left_out.length} more are not shown.`] : []),
    ];
    more.replaceChildren(make("ul", { hidden: !words.length }, ...words.map((textContent) => make("li", { textContent }))), make("table", {}, head, body));
    this.#draw();
  }
  time(ms) {
    this.#now = ms;
    this.#draw();
  }
  state(view) {
    const { status, ms, speed, didSeek } = stateOf(view);
    [this.#status, this.#now, this.#speed] = [status, ms, Number(speed.toPrecision(4))];
    if (didSeek) {
      this.#asked = undefined;
      this.seeked();
    }
    this.#draw();
  }

  // ---- what the reader wants

  #control({ plays = this.#status === PLAYING, speed = this.#speed, seek } = {}) {
    this.session.sendBytes(requestOf(plays, speed, seek, `page-${++this.#requests}`));
  }
  #toggle() {
    this.#control({ plays: this.#status !== PLAYING });
  }
  /** A drag asks for many; the last one is always sent. */
  #seek(ms) {
    const waits = this.#wanted !== undefined;
    this.#wanted = Math.min(Math.max(ms, this.#start), this.#end);
    if (waits) return;
    const wait = Math.max(0, this.#sent + PACE - performance.now());
    setTimeout(() => {
      this.#sent = performance.now();
      this.#control({ seek: this.#wanted });
      [this.#asked, this.#wanted] = [this.#wanted, undefined];
    }, wait);
  }
  /** The bridge's last answer may be older than the last seek. */
  get #target() {
    return this.#wanted ?? this.#asked ?? this.#now;
  }
  #jump(ms) {
    this.#seek(this.#target + ms);
  }
  #step() {
    this.session.send({ op: "cardanStep", messages: 1 });
  }
  #key(event) {
    const at = document.activeElement;
    if (!this.isThere || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "SELECT", "TEXTAREA", "CANVAS"].includes(at?.tagName) || at?.closest?.("svg")) return;
    if (event.key === " " && ["BUTTON", "SUMMARY", "A"].includes(at?.tagName)) return; // it presses them
    const act = {
      " ": () => this.#toggle(),
      s: () => this.#step(),
      ArrowLeft: () => this.#jump(-JUMP),
      ArrowRight: () => this.#jump(JUMP),
      Home: () => this.#seek(this.#start),
      End: () => this.#seek(this.#end),
      "+": () => this.#control({ speed: nextSpeed(this.#speed, true) }),
      "-": () => this.#control({ speed: nextSpeed(this.#speed, false) }),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // ---- the section

  #make() {
    const button = (id, textContent, title, onclick) => make("button", { id, textContent, title, onclick });
    const play = button("timeline-play", "Play", "Space", () => this.#toggle());
    const step = button("timeline-step", "Step", "S: the next message", () => this.#step());
    const back = button("timeline-back", "−5 s", "Left arrow", () => this.#jump(-JUMP));
    const forth = button("timeline-forth", "+5 s", "Right arrow", () => this.#jump(JUMP));
    const at = make("input", { id: "timeline-at", type: "range", min: "0", max: "1", step: "1", value: "0" });
    at.setAttribute("aria-label", "Time of the recording");
    at.oninput = () => {
      this.#held = true;
      this.#seek(this.#start + Number(at.value));
      this.#draw();
    };
    at.onchange = () => (this.#held = false);
    const text = make("output", { id: "timeline-text" });
    const speed = make("select", { id: "timeline-speed", title: "+ and −", onchange: () => this.#control({ speed: Number(speed.value) }) });
    const facts = make("summary", { id: "timeline-facts" });
    const more = make("div");
    this.#parts = { play, at, text, speed, facts, more };
    this.#section = make(
      "section",
      { id: "timeline" },
      make("div", { id: "timeline-controls" }, play, step, back, forth, at, text, make("label", {}, "Rate ", speed)),
      make("details", { id: "timeline-contents" }, facts, more),
    );
    this.#section.setAttribute("aria-label", "Recording");
    document.body.append(this.#section);
  }
  #draw() {
    if (!this.#section) return;
    const { play, at, text, speed } = this.#parts;
    const position = this.#held ? Number(at.value) : this.#target - this.#start;
    if (!this.#held) at.value = String(position);
    const words = `${spanText(position)} / ${spanText(this.#end - this.#start)}`;
    if (text.textContent !== words) text.textContent = words;
    at.setAttribute("aria-valuetext", words);
    text.title = at.title = `${new Date(this.#start + position).toDateString()} ${clockText(this.#start + position)}, ${STATUS[this.#status] ?? ""}`;
    play.textContent = this.#status === PLAYING ? "Pause" : "Play";
    const chosen = String(this.#speed);
    if (speed.dataset.form !== chosen) {
      const all = SPEEDS.includes(this.#speed) ? SPEEDS : [...SPEEDS, this.#speed].sort((a, b) => a - b);
      speed.replaceChildren(...all.map((n) => make("option", { value: String(n), textContent: `×${n}` })));
      speed.dataset.form = chosen;
      speed.value = chosen;
    }
  }
}
