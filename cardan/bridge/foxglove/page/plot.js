// SPDX-License-Identifier: Apache-2.0
// Lines of numbers over time, on a canvas of its own.
import { parseSchema } from "./cdr.js";
import { numericFields, valueAt } from "./fields.js";
import { latencies } from "./look.js";
import { cell, numberText } from "./text.js";

const $ = (id) => document.getElementById(id);
const LINES = 6;
const KEPT = 20000; // points of a line
const LONGEST = 300; // seconds
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

export class Plots {
  #lines = []; // {topic, name, path, points: [[ms, value]], place, end}
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
    $("plot-span").onchange = () => this.draw();
    $("plot-pause").onclick = () => {
      this.#paused = !this.#paused;
      this.#until = Date.now();
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
      if (line.topic === LATENCIES && (this.#streams.get(line.name) ?? -1) >= 0) this.#point(line, Date.now(), this.#streams.get(line.name) / 1e6);
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
    const line = { topic, ...field, points: [], held: [], place: free, end: () => {} };
    if (topic !== LATENCIES)
      line.end = this.session.subscribe(topic, {
        message: (message) => {
          try {
            this.#point(line, message.at, valueAt(message.value, line.path));
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
  #point(line, ms, value) {
    if (!Number.isFinite(value)) return;
    line.points.push([ms, value]);
    if (line.points.length > KEPT || line.points[0][0] < ms - LONGEST * 1000) line.points.shift();
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
    const end = this.#paused ? this.#until : Date.now();
    const seen = this.#lines.map((line) => (this.#paused ? line.held : line.points).filter(([ms]) => ms >= end - span && ms <= end + 1000));
    const values = seen.flat().map(([, value]) => value);
    let [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    if (!values.length) [least, most] = [0, 1];
    const margin = (most - least) * 0.05 || Math.abs(most) * 0.05 || 1;
    [least, most] = [least - margin, most + margin];
    const colour = (name) => getComputedStyle(canvas).getPropertyValue(name);
    const [left, bottom] = [70, 24];
    const x = (ms) => left + ((ms - end + span) / span) * (width - left - 8);
    const y = (v) => 8 + (1 - (v - least) / (most - least)) * (height - bottom - 8);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    c.lineWidth = 1;
    c.setLineDash([]);
    c.strokeStyle = colour("--line");
    c.fillStyle = colour("--soft");
    for (const v of ticks(least, most, 6)) {
      c.strokeRect(left, y(v), width - left - 8, 0);
      c.fillText(numberText(v).slice(0, 10), 4, y(v) + 4);
    }
    for (const s of ticks(-span / 1000, 0, width < 500 ? 3 : 6)) c.fillText(`${s} s`, Math.min(x(end + s * 1000) - 10, width - 34), height - 6);
    this.#lines.forEach((line, i) => {
      c.strokeStyle = colour(`--line-${line.place}`);
      c.lineWidth = 2;
      c.setLineDash(DASHES[line.place]);
      c.beginPath();
      for (const [ms, value] of seen[i]) c.lineTo(x(ms), y(value));
      c.stroke();
    });
    if (Date.now() - this.#shown < 250) return;
    this.#shown = Date.now();
    this.#lines.forEach((line, i) => {
      const of = seen[i].map(([, value]) => value);
      const texts = of.length ? [of.at(-1), Math.min(...of), Math.max(...of)].map(numberText) : ["", "", ""];
      line.cells.forEach((td, k) => (td.textContent = texts[k]));
    });
  }
}
