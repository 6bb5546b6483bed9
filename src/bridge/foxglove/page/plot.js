// SPDX-License-Identifier: Apache-2.0
// Charts of numbers over time, drawn by dygraphs. Their contents are in the page's address.
import { parseSchema } from "./cdr.js";
import { numericFields, valueAt } from "./fields.js";
import { hasLibrary, library } from "./library.js";
import { latencies } from "./look.js";
import { CHARTS, LINES, addPoint, layoutOf, rangeOf, rowsOf, textOf } from "./plot_lines.js";
import { cell, clockText, numberText } from "./text.js";

const $ = (id) => document.getElementById(id);
const LATENCIES = "latencies"; // no topic has this name
const DASHES = [null, [8, 4], [2, 3], [12, 3, 2, 3], [4, 4], [1, 5]]; // so that colours alone do not tell
const EVERY = 250; // ms from drawing to drawing
const LESS = { picture: 320, points: 5000 }; // a link may name a topic with images

/** A line of a chart: {topic, name, side, place, points, newest, unit, end}. */
class Line {
  points = [];
  held = [];
  newest = undefined;
  unit = "";
  #schema = null;
  #path = null;

  constructor(session, { topic, name, side }, place, say) {
    Object.assign(this, { topic, name, side, place });
    this.end = () => {};
    if (topic === LATENCIES) {
      this.unit = "ms";
      return;
    }
    this.end = session.subscribe(topic, {
      most: LESS,
      pace: () => 1000,
      message: (message) => {
        try {
          this.#read(message);
        } catch (error) {
          say(`${topic}: ${error.message}`);
        }
      },
      preview: () => say(`${topic} has no numbers that are drawn.`),
      failed: say,
    });
  }
  #read(message) {
    if (this.#schema !== message.use.schema) {
      this.#schema = message.use.schema;
      const field = numericFields(this.#schema).find(({ name }) => name === this.name);
      if (!field) throw new Error(`it has no number ${this.name}`);
      [this.#path, this.unit] = [field.path, field.unit];
    }
    if (this.#path) addPoint(this, message.at, valueAt(message.named, this.#path));
  }
}

class Chart {
  lines = [];
  scale = "linear";
  graph = null;
  hover = null; // ms of the place that the pointer shows

  constructor(plots, number) {
    this.plots = plots;
    this.box = document.createElement("section");
    this.box.className = "chart";
    this.box.setAttribute("aria-label", `Chart ${number}`);
    this.units = Object.assign(document.createElement("p"), { className: "chart-units" });
    this.left = document.createElement("span");
    this.right = document.createElement("span");
    this.when = document.createElement("span");
    const label = document.createElement("label");
    this.scales = document.createElement("select");
    for (const [value, text] of [["linear", "linear"], ["log", "logarithmic"]]) this.scales.append(Object.assign(document.createElement("option"), { value, textContent: text }));
    this.scales.onchange = () => plots.rescale(this, this.scales.value);
    label.append("Scale ", this.scales);
    this.units.append(this.left, this.when, label, this.right);
    this.plot = Object.assign(document.createElement("div"), { className: "chart-plot" });
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", "Chosen fields over time; the table below has their values");
    const wide = Object.assign(document.createElement("div"), { className: "wide" });
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const [i, text] of ["Line", "Field", "Unit", "Newest", "Least", "Most", ""].entries()) head.append(Object.assign(document.createElement("th"), { textContent: text, className: i > 2 && i < 6 ? "number" : "" }));
    this.body = table.createTBody();
    wide.append(table);
    this.box.append(this.units, this.plot, wide);
  }

  list() {
    this.body.replaceChildren();
    for (const line of this.lines) {
      const row = this.body.insertRow();
      const sign = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      sign.setAttribute("class", `sign line-${line.place}`);
      sign.setAttribute("viewBox", "0 0 40 10");
      sign.setAttribute("aria-hidden", "true");
      const stroke = document.createElementNS("http://www.w3.org/2000/svg", "path");
      stroke.setAttribute("d", "M0 5H40");
      stroke.setAttribute("stroke-dasharray", (DASHES[line.place] ?? []).join(" "));
      sign.append(stroke);
      cell(row, "").append(sign);
      cell(row, `${line.topic === LATENCIES ? line.name : `${line.topic} ${line.name}`}${line.side === "right" ? " (right axis)" : ""}`);
      line.cells = ["", "number", "number", "number"].map((kind) => cell(row, "", kind));
      const remove = document.createElement("button");
      remove.textContent = "Remove";
      remove.setAttribute("aria-label", `Remove ${line.name}`);
      remove.onclick = () => this.plots.remove(this, line);
      cell(row, "").append(remove);
    }
  }

  /** The quantities of the axes, and the values where the pointer is or the newest. */
  say(from, to) {
    const of = (side) => [...new Set(this.lines.filter((line) => line.side === side).map((line) => line.unit || "no unit"))].join(", ");
    const set = (element, text) => element.textContent !== text && (element.textContent = text);
    set(this.left, of("left"));
    set(this.right, of("right") && `right: ${of("right")}`);
    set(this.when, this.hover === null ? "" : clockText(this.hover));
    for (const line of this.lines) {
      const points = this.plots.isPaused ? line.held : line.points;
      const at = this.hover === null ? undefined : points.findLast(({ ms }) => ms <= this.hover + 1);
      const newest = this.hover !== null ? at?.high : this.plots.isPaused ? points.at(-1)?.high : line.newest;
      const range = rangeOf(points, from, to) ?? [undefined, undefined];
      const texts = [line.unit, ...[newest, ...range].map((n) => (n === undefined ? "" : numberText(n)))];
      line.cells.forEach((td, i) => set(td, texts[i]));
    }
  }
}

export class Plots {
  isPaused = false;
  #charts = [];
  #until = 0;
  #zoom = null; // [from, to] in ms
  #streams = new Map(); // name → newest ns
  #Dygraph = null;
  #theme = "";

  /** `kept()`: the address changes. */
  constructor(session, kept) {
    this.session = session;
    this.kept = kept;
    $("plot-topic").onchange = () => this.#listFields();
    $("plot-form").onsubmit = (event) => {
      event.preventDefault();
      this.#add();
    };
    $("plot-span").onchange = () => {
      this.#zoom = null;
      this.kept();
      this.draw();
    };
    $("plot-pause").onclick = () => this.#pause(!this.isPaused);
    setInterval(() => !$("plots").hidden && !document.hidden && this.draw(), EVERY);
    this.#say(hasLibrary("dygraphs") ? "Choose a topic and a field, then Add." : "This build has no plots: it was made without Debian's package libjs-dygraphs.");
    $("plot-add").disabled = true;
    $("plot-licences").hidden = !hasLibrary("dygraphs");
    this.#listCharts();
  }

  /** The charts, as the address has them. */
  get layout() {
    return textOf({ span: $("plot-span").value, charts: this.#charts.map(({ scale, lines }) => ({ scale, lines })) });
  }
  set layout(text) {
    const { span, charts } = layoutOf(text);
    if (!hasLibrary("dygraphs") || textOf({ span, charts }) === this.layout) return;
    for (const chart of this.#charts) this.#end(chart);
    this.#charts = [];
    $("plot-span").value = span;
    for (const { scale, lines } of charts) {
      const chart = this.#newChart();
      chart.scale = chart.scales.value = scale;
      for (const line of lines) this.#put(chart, line);
    }
    this.#listCharts();
    this.draw();
  }

  listTopics() {
    const had = $("plot-topic").value;
    const topics = [...this.session.channels.values()].filter((c) => !this.session.previewOf(c.schemaName)).map((c) => c.topic).sort();
    this.#options($("plot-topic"), [[LATENCIES, "latencies of all topics"], ...topics.map((t) => [t, t])], had);
    this.#listFields();
  }
  /** The newest look. */
  look(publishers) {
    const before = this.#streams.size;
    this.#streams = new Map(latencies(publishers));
    if (this.#streams.size !== before && $("plot-topic").value === LATENCIES) this.#listFields();
    for (const line of this.#charts.flatMap((chart) => chart.lines))
      if (line.topic === LATENCIES && (this.#streams.get(line.name) ?? -1) >= 0) addPoint(line, this.session.now(), this.#streams.get(line.name) / 1e6);
  }

  /** A recording shows another time: lines begin there. */
  seeked() {
    for (const line of this.#charts.flatMap((chart) => chart.lines)) line.points = [];
  }

  #options(select, all, chosen) {
    if ([...select.options].map((o) => o.value).join("\n") === all.map(([value]) => value).join("\n")) return;
    select.replaceChildren(...all.map(([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text })));
    if (all.some(([value]) => value === chosen)) select.value = chosen;
  }
  #fields(topic) {
    if (topic === LATENCIES) return [...this.#streams.keys()].sort().map((name) => ({ name }));
    const channel = this.session.channelOf(topic);
    try {
      return channel ? numericFields(parseSchema(channel.schemaName, channel.schema)) : [];
    } catch {
      return [];
    }
  }
  #listFields() {
    const had = $("plot-field").value;
    this.#options($("plot-field"), this.#fields($("plot-topic").value).map(({ name, unit }) => [name, unit ? `${name} [${unit}]` : name]), had);
    $("plot-add").disabled = $("plot-field").options.length === 0 || !hasLibrary("dygraphs");
  }
  #listCharts() {
    const all = this.#charts.map((_, i) => [String(i), `chart ${i + 1}`]);
    if (all.length < CHARTS) all.push(["new", "a new chart"]);
    this.#options($("plot-chart"), all, $("plot-chart").value || "0");
  }
  #say(text) {
    $("plot-note").textContent = text;
  }

  #newChart() {
    const chart = new Chart(this, this.#charts.length + 1);
    this.#charts.push(chart);
    $("charts").append(chart.box);
    return chart;
  }
  #put(chart, wish) {
    const place = [...Array(LINES).keys()].find((free) => chart.lines.every((line) => line.place !== free));
    chart.lines.push(new Line(this.session, wish, place, (text) => this.#say(text)));
    chart.list();
    this.#forget(chart);
  }
  #forget(chart) {
    chart.graph?.destroy();
    chart.graph = null;
  }
  #end(chart) {
    for (const line of chart.lines) line.end();
    this.#forget(chart);
    chart.box.remove();
  }

  #add() {
    const [topic, name, side] = [$("plot-topic").value, $("plot-field").value, $("plot-side").value];
    if (!this.#fields(topic).some((field) => field.name === name)) return;
    const chosen = this.#charts[Number($("plot-chart").value)];
    if (chosen && chosen.lines.length >= LINES) return this.#say(`At most ${LINES} lines in a chart: remove one, or choose a new chart.`);
    if (chosen?.lines.some((line) => line.topic === topic && line.name === name)) return this.#say("This line is there already.");
    const chart = chosen ?? this.#newChart();
    this.#put(chart, { topic, name, side });
    this.#say("Drag over a chart to zoom; double-click shows all again.");
    this.#listCharts();
    $("plot-chart").value = this.#charts.indexOf(chart); // the next line is meant for the same one
    this.kept();
    this.draw();
  }
  remove(chart, line) {
    line.end();
    chart.lines = chart.lines.filter((other) => other !== line);
    if (chart.lines.length) {
      chart.list();
      this.#forget(chart);
    } else {
      this.#end(chart);
      this.#charts = this.#charts.filter((other) => other !== chart);
    }
    this.#listCharts();
    this.kept();
    this.draw();
    $("plot-add").focus();
  }
  rescale(chart, scale) {
    chart.scale = scale;
    this.#forget(chart);
    this.kept();
    this.draw();
  }

  #pause(isPaused) {
    this.isPaused = isPaused;
    this.#until = this.session.now();
    this.#zoom = null;
    // Messages under way come later.
    for (const line of this.#charts.flatMap((chart) => chart.lines)) line.held = isPaused ? line.points.map((point) => ({ ...point })) : [];
    $("plot-pause").setAttribute("aria-pressed", String(isPaused));
    $("plot-pause").textContent = isPaused ? "Continue" : "Pause";
    this.draw();
  }
  /** The reader chose a part: it is frozen, in all charts. */
  #zoomTo(from, to) {
    if (!this.isPaused) this.#pause(true);
    this.#zoom = [from, to];
    this.draw();
  }

  #makeGraph(chart, rows, range) {
    const style = getComputedStyle(chart.box);
    const colour = (name) => style.getPropertyValue(name).trim();
    const isLog = chart.scale === "log";
    const labels = ["time", ...chart.lines.map((_, i) => `line ${i}`)]; // names of peers are in the table alone, as text
    const axis = { axisLabelWidth: 64, logscale: isLog, axisLabelFormatter: (v) => numberText(v) };
    const hasRight = chart.lines.some((line) => line.side === "right") && chart.lines.some((line) => line.side === "left");
    chart.graph = new this.#Dygraph(chart.plot, rows, {
      labels,
      colors: chart.lines.map((line) => colour(`--line-${line.place}`)),
      series: Object.fromEntries(chart.lines.map((line, i) => [`line ${i}`, { axis: hasRight && line.side === "right" ? "y2" : "y", strokePattern: DASHES[line.place] }])),
      axes: { x: { axisLabelWidth: 80 }, y: axis, y2: { ...axis, independentTicks: true, drawGrid: false } },
      connectSeparatedPoints: true,
      strokeWidth: 2,
      gridLineColor: colour("--line"),
      axisLineColor: colour("--edge"),
      highlightCircleSize: 4,
      animatedZooms: false,
      dateWindow: range,
      // With one hand: a drag chooses a time, a double click shows all again.
      zoomCallback: (from, to) => this.#zoomTo(from, to),
      highlightCallback: (_, ms) => {
        chart.hover = ms;
        this.draw(true);
      },
      unhighlightCallback: () => {
        chart.hover = null;
        this.draw(true);
      },
    });
    chart.plot.ondblclick = (event) => {
      event.stopPropagation();
      this.#zoom = null;
      this.draw();
    };
  }

  /** `valuesOnly`: the lines are as they were. */
  draw(valuesOnly = false) {
    if (!this.#charts.length || $("plots").hidden) return;
    if (!this.#Dygraph) {
      library("/dygraph", "Dygraph", true).then(
        (Dygraph) => {
          if (this.#Dygraph) return;
          // Its legend writes HTML, which the page's policy refuses; ours is the table.
          Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
          this.#Dygraph = Dygraph;
          this.draw();
        },
        (error) => this.#say(error.message),
      );
      return;
    }
    const theme = getComputedStyle(document.body).backgroundColor;
    const isNewTheme = theme !== this.#theme;
    this.#theme = theme;
    const end = this.isPaused ? this.#until : this.session.now();
    const range = this.#zoom ?? [end - Number($("plot-span").value) * 1000, end];
    for (const chart of this.#charts) {
      chart.say(...range);
      if (valuesOnly) continue;
      const width = chart.plot.clientWidth;
      if (isNewTheme) this.#forget(chart);
      const isLog = chart.scale === "log";
      const rows = rowsOf(chart.lines.map((line) => ({ points: this.isPaused ? line.held : line.points, isLog })), ...range, width);
      // Without a row there is nothing that dygraphs could draw.
      if (!rows.length) rows.push([new Date(range[1]), ...chart.lines.map(() => null)]);
      if (chart.graph === null) this.#makeGraph(chart, rows, range);
      else if (chart.hover === null || !this.isPaused) chart.graph.updateOptions({ file: rows, dateWindow: range });
      if (chart.graph.width_ !== width) chart.graph.resize();
    }
  }
}
