// SPDX-License-Identifier: Apache-2.0
// Lines of numbers over time, on a canvas of its own.
import { parseSchema } from "./cdr.js";
import { numericFields, valueAt } from "./fields.js";
import { latencies } from "./look.js";
import { cell, numberText } from "./text.js";

const $ = (id) => document.getElementById(id);
const LINES = 6;
const LONGEST = 300; // seconds
const STEP = 15; // ms: what comes closer together becomes one stroke from its least to its most
const KEPT = (LONGEST * 1000) / STEP;
const FARTHEST = 1e300; // what is beyond is drawn at the edge
const LATENCIES = "\0latencies"; // no topic has this name
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3], [4, 4], [1, 5]]; // so that colours alone do not tell

/** Round numbers from `least` to `most`, at most `count`. */
export function ticks(least, most, count) {
  const rough = (most - least) / count || 1;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough) ?? 10 * ten;
  const all = [];
  for (let v = Math.ceil(least / step) * step; v <= most && all.length <= count + 1; v += step) all.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return all;
}

/** Powers of ten from `least` to `most`, both above 0; of a small range as ticks(). */
export function powers(least, most, count) {
  const [first, last] = [Math.ceil(Math.log10(least)), Math.floor(Math.log10(most))];
  if (last <= first) return ticks(least, most, count);
  const step = Math.ceil((last - first + 1) / count);
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
}

/** A number beside a line at multiples of `step`: with as many digits as tell it from its neighbours. */
export function tickText(value, step) {
  if (value === 0) return "0";
  const size = Math.max(Math.abs(value), step);
  const digits = Math.floor(Math.log10(size)) - Math.floor(Math.log10(step));
  if (size >= 1e15 || (size >= 1e7 && digits < 4) || size < 1e-4) return value.toExponential(Math.min(Math.max(digits, 0), 15));
  return value.toFixed(Math.min(Math.max(0, -Math.floor(Math.log10(step))), 15));
}

/** Adds a number to {points: [{ms, low, high, gap}], newest}. One that is none leaves a gap in the line. */
export function addPoint(line, ms, value) {
  line.newest = value;
  if (!Number.isFinite(value)) {
    line.breaks = true;
    return;
  }
  const last = line.points.at(-1);
  if (last && !line.breaks && ms >= last.ms && ms - last.ms < STEP) {
    last.low = Math.min(last.low, value);
    last.high = Math.max(last.high, value);
    return;
  }
  line.points.push({ ms, low: value, high: value, gap: Boolean(line.breaks) });
  line.breaks = false;
  if (line.points.length > KEPT || line.points[0].ms < ms - LONGEST * 1000) line.points.shift();
}

export class Plots {
  #lines = []; // {topic, name, path, points, newest, place, end}
  #paused = false;
  #until = 0;
  #shown = 0;
  #streams = new Map(); // name → newest ns

  constructor(session) {
    this.session = session;
    $("plot-topic").onchange = () => this.#listFields();
    $("plot-form").onsubmit = (event) => {
      event.preventDefault();
      this.#add();
    };
    $("plot-span").onchange = $("plot-scale").onchange = () => this.draw();
    $("plot-pause").onclick = () => {
      this.#paused = !this.#paused;
      this.#until = this.session.now();
      for (const line of this.#lines) line.held = this.#paused ? line.points.slice() : []; // messages under way come later
      $("plot-pause").setAttribute("aria-pressed", String(this.#paused));
      this.draw();
    };
    setInterval(() => !$("plots").hidden && !document.hidden && this.draw(), 100);
  }

  listTopics() {
    const had = $("plot-topic").value;
    const topics = [...this.session.channels.values()].filter((c) => !this.session.shapeOf(c.schemaName)).map((c) => c.topic).sort();
    this.#options($("plot-topic"), [[LATENCIES, "latencies of all topics"], ...topics.map((t) => [t, t])], had);
    this.#listFields();
  }
  /** The newest look. */
  look(publishers) {
    const before = this.#streams.size;
    this.#streams = new Map(latencies(publishers));
    if (this.#streams.size !== before && $("plot-topic").value === LATENCIES) this.#listFields();
    for (const line of this.#lines)
      if (line.topic === LATENCIES && (this.#streams.get(line.name) ?? -1) >= 0) addPoint(line, this.session.now(), this.#streams.get(line.name) / 1e6);
  }

  /** A recording shows another time: lines begin there. */
  seeked() {
    for (const line of this.#lines) line.points = [];
  }

  #options(select, all, chosen) {
    if ([...select.options].map((o) => o.value).join("\n") === all.map(([value]) => value).join("\n")) return;
    select.replaceChildren(...all.map(([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text })));
    if (all.some(([value]) => value === chosen)) select.value = chosen;
  }
  #fields(topic) {
    if (topic === LATENCIES) return [...this.#streams.keys()].sort().map((name) => ({ name, path: [] }));
    const channel = this.session.channelOf(topic);
    try {
      return channel ? numericFields(parseSchema(channel.schemaName, channel.schema)) : [];
    } catch {
      return [];
    }
  }
  #listFields() {
    const had = $("plot-field").value;
    this.#options($("plot-field"), this.#fields($("plot-topic").value).map(({ name }) => [name, name]), had);
    $("plot-add").disabled = $("plot-field").options.length === 0;
  }

  #add() {
    const topic = $("plot-topic").value;
    const field = this.#fields(topic).find(({ name }) => name === $("plot-field").value);
    if (!field) return;
    const free = [...Array(LINES).keys()].find((place) => this.#lines.every((line) => line.place !== place));
    if (free === undefined) return this.#say(`At most ${LINES} lines: remove one first.`);
    if (this.#lines.some((line) => line.topic === topic && line.name === field.name)) return this.#say("This line is there already.");
    const line = { topic, ...field, points: [], held: [], newest: undefined, place: free, end: () => {} };
    if (topic !== LATENCIES)
      line.end = this.session.subscribe(topic, {
        message: (message) => {
          try {
            addPoint(line, message.at, valueAt(message.value, line.path));
          } catch (error) {
            this.#say(String(error));
          }
        },
        failed: (text) => this.#say(text),
      });
    this.#lines.push(line);
    this.#say("");
    this.#listLines();
  }
  #say(text) {
    $("plot-note").textContent = text;
  }
  #listLines() {
    $("plot-list").replaceChildren();
    for (const line of this.#lines) {
      const row = $("plot-list").insertRow();
      const sign = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      sign.setAttribute("class", `sign line-${line.place}`);
      sign.setAttribute("viewBox", "0 0 40 10");
      sign.setAttribute("aria-hidden", "true");
      const stroke = document.createElementNS("http://www.w3.org/2000/svg", "path");
      stroke.setAttribute("d", "M0 5H40");
      stroke.setAttribute("stroke-dasharray", DASHES[line.place].join(" "));
      sign.append(stroke);
      cell(row, "").append(sign);
      cell(row, line.topic === LATENCIES ? `${line.name} (ms)` : `${line.topic} ${line.name}`);
      line.cells = [cell(row, "", "number"), cell(row, "", "number"), cell(row, "", "number")];
      const remove = document.createElement("button");
      remove.textContent = "Remove";
      remove.setAttribute("aria-label", `Remove ${line.name}`);
      remove.onclick = () => {
        line.end();
        this.#lines = this.#lines.filter((other) => other !== line);
        this.#listLines();
        this.draw();
        $("plot-add").focus();
      };
      cell(row, "").append(remove);
    }
  }

  draw() {
    const canvas = $("plot");
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const c = canvas.getContext("2d");
    if (!c?.fillText || !width) return;
    const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
    if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
    const span = Number($("plot-span").value) * 1000;
    const end = this.#paused ? this.#until : this.session.now();
    const seen = this.#lines.map((line) => (this.#paused ? line.held : line.points).filter(({ ms }) => ms >= end - span && ms <= end + 1000));
    const isLog = $("plot-scale").value === "log";
    let [least, most] = [Infinity, -Infinity];
    for (const { low, high } of seen.flat()) if (!isLog || low > 0) [least, most] = [Math.min(least, low), Math.max(most, high)];
    if (least > most) [least, most] = isLog ? [0.1, 10] : [0, 1];
    [least, most] = [Math.max(least, -FARTHEST), Math.min(most, FARTHEST)];
    const margin = (most - least) * 0.05 || Math.abs(most) * 0.05 || 1;
    [least, most] = isLog ? [least / 1.2, most * 1.2] : [least - margin, most + margin];
    const colour = (name) => getComputedStyle(canvas).getPropertyValue(name);
    c.font = "12px system-ui, sans-serif";
    const marks = isLog ? powers(least, most, 8) : ticks(least, most, 6);
    const texts = marks.map((v) => tickText(v, isLog ? v : Math.abs(marks[1] - marks[0]) || 1));
    c.setTransform(1, 0, 0, 1, 0, 0);
    const [left, bottom] = [Math.max(40, ...texts.map((text) => c.measureText(text).width)) + 12, 24];
    const x = (ms) => left + ((ms - end + span) / span) * (width - left - 8);
    const scaled = isLog ? (v) => Math.log10(Math.max(v, least)) : (v) => Math.min(Math.max(v, least), most);
    const [low, high] = [scaled(least), scaled(most)];
    const y = (v) => 8 + (1 - (scaled(v) - low) / (high - low)) * (height - bottom - 8);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.lineWidth = 1;
    c.setLineDash([]);
    c.strokeStyle = colour("--line");
    c.fillStyle = colour("--soft");
    marks.forEach((v, i) => {
      c.strokeRect(left, y(v), width - left - 8, 0);
      c.fillText(texts[i], 4, y(v) + 4);
    });
    for (const s of ticks(-span / 1000, 0, width < 500 ? 3 : 6)) c.fillText(`${s} s`, Math.min(x(end + s * 1000) - 10, width - 34), height - 6);
    this.#lines.forEach((line, i) => {
      c.strokeStyle = colour(`--line-${line.place}`);
      c.lineWidth = 2;
      c.setLineDash(DASHES[line.place]);
      c.beginPath();
      for (const point of seen[i]) {
        if (point.gap) c.moveTo(x(point.ms), y(point.low));
        else c.lineTo(x(point.ms), y(point.low));
        if (point.high !== point.low) c.lineTo(x(point.ms), y(point.high));
      }
      c.stroke();
    });
    if (Date.now() - this.#shown < 250) return;
    this.#shown = Date.now();
    this.#lines.forEach((line, i) => {
      const newest = this.#paused ? seen[i].at(-1)?.high : line.newest;
      const range = seen[i].reduce(([a, b], point) => [Math.min(a, point.low), Math.max(b, point.high)], [Infinity, -Infinity]);
      const texts = [newest, ...(seen[i].length ? range : [undefined, undefined])].map((n) => (n === undefined ? "" : numberText(n)));
      line.cells.forEach((td, k) => (td.textContent = texts[k]));
    });
  }
}
