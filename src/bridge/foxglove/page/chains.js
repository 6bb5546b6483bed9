// SPDX-License-Identifier: Apache-2.0
// The chains of the running system: their ages over time, and where the time of each frame went. While this view is
// shown, the bridge traces the system.
import { MOST, SPAN, ageOf, keepFrames, meansOf, messagesOf, piecesOf, slowestOf } from "./chain_frames.js";
import { ChainSamples } from "./chain_samples.js";
import { ChainShots } from "./chain_shots.js";
import { cell, clockText, timeText } from "./text.js";

const $ = (id) => document.getElementById(id);
const NEWEST = 8; // frames of the waterfall
const COLOURS = 6;
const PARTS = ["transport", "waiting", "running"];
const usText = (us) => (us === undefined ? "" : timeText(us * 1000));

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function html(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
/** A bar of the hops of a frame; `whole`: µs of its width. */
function bar(frame, whole, className) {
  const pieces = piecesOf(frame).map(({ hop, part, from, to }) =>
    svg("rect", { class: `piece hop-${hop % COLOURS} part-${part}`, x: (from / whole) * 1000, width: ((to - from) / whole) * 1000, y: 0, height: 16 }, svg("title", {}, `${frame.way[hop].by}, ${PARTS[part]}: ${usText(to - from)}`)),
  );
  return svg("svg", { class: className, viewBox: "0 0 1000 16", preserveAspectRatio: "none", "aria-hidden": "true" }, ...pieces);
}

class Chain {
  #frames = [];
  #chosen = null; // a frame; it stays until the reader chooses another one
  #found = new Map(); // key of a frame → what is there of its messages
  #shots = new ChainShots();

  constructor(name, openTopic, samples) {
    this.openTopic = openTopic;
    this.samples = samples;
    this.facts = html("p", {});
    this.ages = svg("svg", { class: "ages", viewBox: "0 0 1000 120", preserveAspectRatio: "none", role: "img", "aria-label": `Age of ${name} over the last minute; the figures above and the table below say it in numbers` });
    this.scale = html("p", { className: "scale" });
    this.hopsTitle = html("h3", {});
    this.hops = html("div", {});
    this.body = html("tbody", {});
    const head = html("tr", {}, ...["By", "Publishes", ...PARTS, "All", "Share"].map((text, i) => html("th", { textContent: text, className: i > 1 ? "number" : "" })));
    this.rows = html("div", { role: "group" });
    this.rows.setAttribute("aria-label", `Frames of ${name}`);
    this.topics = html("p", { className: "bar" });
    this.box = html("section", { className: "chain" }, html("h2", { textContent: name }), this.facts, this.ages, this.scale, this.hopsTitle, this.hops, html("div", { className: "wide" }, html("table", {}, html("thead", {}, head), this.body)), this.topics, this.#shots.box, html("h3", { textContent: "Newest frames, and the slowest one of the last minute" }), this.rows);
  }

  show(chain, nowMs) {
    this.chain = chain;
    this.#frames = keepFrames(this.#frames, chain, nowMs);
    this.#findMessages();
    this.#showFacts();
    this.#showAges(nowMs);
    this.#showHops();
    this.#showRows();
  }

  /** The topics on its ways, the first and the last one before the others. */
  get topicsOfWays() {
    const ways = new Set(this.#frames.map(({ way }) => way));
    return [this.chain.from, this.chain.to, ...[...ways].flatMap((way) => way.map(({ to }) => to))];
  }

  /** The messages of the chosen frame and of the slowest one stay, as long as the frame is one of them. */
  #findMessages() {
    const before = this.#found;
    this.#found = new Map();
    for (const frame of [this.#chosen, slowestOf(this.#frames)]) {
      if (!frame || this.#found.has(frame.key)) continue;
      const known = before.get(frame.key) ?? [];
      this.#found.set(frame.key, messagesOf(frame, this.chain.from).map(({ topic, ms }, i) => (known[i]?.sample ? known[i] : this.samples.find(topic, ms))));
    }
    if (this.#chosen) this.#shots.show(this.#chosen.key, messagesOf(this.#chosen, this.chain.from), this.#found.get(this.#chosen.key));
    else this.#shots.clear();
  }

  #showFacts() {
    const { from, to, budget_us, late, publications, incomplete, more_ways, disputed } = this.chain;
    const frames = this.#frames;
    const which = frames.length < MOST ? `${frames.length} frames in the last minute` : `the last ${MOST} frames`; // of a fast chain
    const seen = frames.length ? `median ${usText(ageOf(frames, 0.5))}, 99 % ${usText(ageOf(frames, 0.99))} of ${which}. ` : "No frame went the whole way in the last minute. ";
    const counted = budget_us ? `Since the start, ${late} of ${publications} publications exceeded the budget of ${usText(budget_us)}. ` : "";
    const missing = incomplete ? `A part of the way of ${incomplete} was not traced. ` : "";
    const more = more_ways ? `${more_ways} in the last 10 s took further ways, which are not shown. ` : "";
    const left = disputed ? `${disputed} publications were in a stream that another process publishes, and were left out.` : "";
    this.facts.textContent = `${from} → ${to}: ${seen}${counted}${missing}${more}${left}`;
  }

  #showAges(nowMs) {
    const { budget_us } = this.chain;
    const most = Math.max(budget_us * 1.25, slowestOf(this.#frames)?.all ?? 0) || 1;
    const y = (us) => (120 - (us / most) * 118).toFixed(1);
    const points = this.#frames.map(({ wall_ms, all }) => `${((1 - (nowMs - wall_ms) / SPAN) * 1000).toFixed(1)} ${y(all)}`);
    const lines = points.length ? [svg("path", { d: `M${points.join("L")}${points.length === 1 ? "h2" : ""}` })] : [];
    if (budget_us) lines.push(svg("path", { class: "budget", d: `M0 ${y(budget_us)}H1000` }));
    this.ages.replaceChildren(...lines);
    this.scale.replaceChildren(html("span", { textContent: "1 min ago" }), html("span", { textContent: `top: ${usText(most)}${budget_us ? `, dashed: ${usText(budget_us)} allowed` : ""}` }), html("span", { textContent: "now" }));
  }

  #showHops() {
    const shown = this.#chosen ?? meansOf(this.#frames);
    this.body.replaceChildren();
    this.hops.replaceChildren();
    this.topics.replaceChildren();
    this.hopsTitle.textContent = !shown ? "" : this.#chosen ? `The way of frame ${shown.sequence}, ${clockText(shown.wall_ms)}` : `Where the time went: means of ${shown.frames} frames, which add up`;
    if (!shown) return;
    this.hops.append(bar(shown, shown.all || 1, "bar-of-hops"));
    shown.hops_us.forEach((parts, hop) => {
      const row = this.body.insertRow();
      const swatch = svg("svg", { class: "swatch", viewBox: "0 0 1 1" }, svg("rect", { class: `hop-${hop % COLOURS}`, width: 1, height: 1 }));
      cell(row, "").append(swatch, shown.way[hop].by);
      cell(row, shown.way[hop].to);
      const all = parts.reduce((a, b) => a + b, 0);
      for (const us of [...parts, all]) cell(row, usText(us), "number");
      cell(row, shown.all ? `${((all / shown.all) * 100).toFixed(0)} %` : "", "number");
    });
    for (const topic of new Set([this.chain.from, ...shown.way.map(({ to }) => to)])) this.topics.append(html("button", { textContent: `Show ${topic}`, onclick: () => this.openTopic(topic) }));
  }

  #showRows() {
    const slowest = slowestOf(this.#frames);
    const whole = Math.max(slowest?.all ?? 0, this.#chosen?.all ?? 0) || 1;
    const shown = this.#frames.slice(-NEWEST).reverse();
    if (slowest && !shown.includes(slowest)) shown.push(slowest);
    if (this.#chosen && !shown.includes(this.#chosen)) shown.push(this.#chosen);
    const had = this.rows.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.rows.replaceChildren(
      ...shown.map((frame) => {
        const button = html("button", { className: "frame-row", onclick: () => this.#choose(frame) }, html("span", { textContent: `${frame === slowest ? "slowest: " : ""}${frame.sequence}, ${usText(frame.all)}` }), bar(frame, whole, ""));
        button.dataset.key = frame.key;
        button.setAttribute("aria-pressed", String(frame === this.#chosen));
        return button;
      }),
    );
    if (had !== null) [...this.rows.children].find((button) => button.dataset.key === had)?.focus();
  }
  #choose(frame) {
    this.#chosen = this.#chosen === frame ? null : frame;
    this.#findMessages();
    this.#showHops();
    this.#showRows();
  }
}

export class Chains {
  #chains = new Map();

  /** `openTopic(name)`: shows its messages. */
  constructor(session, openTopic) {
    this.openTopic = openTopic;
    this.samples = new ChainSamples(session);
    $("chains-keep").onchange = () => (this.samples.isKeeping = $("chains-keep").checked);
  }

  shown(isShown) {
    this.samples.shown(isShown);
  }
  /** topic → figures, of look.js. */
  look(figures) {
    this.samples.look(figures);
  }

  /** `answer`: of /chains.json. */
  show(answer) {
    if (!answer.chains) return;
    const names = answer.chains.map(({ name, to }) => `${name} ${to}`);
    for (const name of this.#chains.keys()) if (!names.includes(name)) this.#chains.delete(name);
    answer.chains.forEach((chain, i) => {
      if (!this.#chains.has(names[i])) this.#chains.set(names[i], new Chain(chain.name, this.openTopic, this.samples));
      this.#chains.get(names[i]).show(chain, answer.wall_ms);
    });
    this.samples.want([...this.#chains.values()].flatMap((chain) => chain.topicsOfWays));
    const boxes = names.map((name) => this.#chains.get(name).box);
    if (boxes.length !== $("chain-list").children.length || boxes.some((box, i) => box !== $("chain-list").children[i])) $("chain-list").replaceChildren(...boxes);
    const said = [...answer.problems];
    if (!boxes.length) said.push("The running system has no chains. A configuration names them under `chains`: from a topic, to a topic, and a budget.");
    if (answer.of_others) said.push(`Processes of other users are not traced: ${answer.of_others}.`);
    if (answer.overwritten) said.push(`${answer.overwritten} events came too fast to be read.`);
    $("chains-note").textContent = said.join(" ");
  }
}
