// SPDX-License-Identifier: Apache-2.0
// The first screen: a card for each topic, or the topics as a tree of their names, or as a table.
import { bytesText, cell, rateText, timeText } from "./text.js";
import { Thumbs } from "./thumbs.js";

const $ = (id) => document.getElementById(id);
const WAYS = ["cards", "tree", "table"];
export const RUN_LOG = "/cardan/log"; // the view Log shows it

const element = (kind, name, text = "") => Object.assign(document.createElement(kind), { className: name, textContent: text });
const latency = ({ p50, p99 }) => (p50 < 0 ? "" : `${timeText(p50)} / ${timeText(p99)}`);
const lossText = ({ lost, missed }) => (lost > 0 ? `${lost.toFixed(1)}/s` : missed > 0 ? `${missed} in all` : "none");
const age = ({ age50, age99 }) => latency({ p50: age50, p99: age99 });
const NOTHING = { hz: -1, bytes: -1, size: -1, p50: -1, p99: -1, age50: -1, age99: -1, lost: 0, missed: 0, from: [], readers: 0 };

/** Topics by the parts of their names: {name, topic or undefined, under: Map}. A part that leads to one other alone is
    one with it. */
export function treeOf(topics) {
  const root = { name: "", under: new Map() };
  for (const topic of topics) {
    let at = root;
    for (const part of topic.split("/").filter(Boolean)) {
      if (!at.under.has(part)) at.under.set(part, { name: part, under: new Map() });
      at = at.under.get(part);
    }
    at.topic = topic;
  }
  const joined = (node) => {
    for (const [key, one] of node.under) node.under.set(key, joined(one));
    if (node === root || node.topic !== undefined || node.under.size !== 1) return node;
    const [only] = node.under.values();
    return { ...only, name: `${node.name}/${only.name}` };
  };
  return joined(root);
}

export class Topics {
  #form = "";
  #order = { by: "topic", sign: 1 };
  #way = "cards";
  #items = new Map(); // topic → {button, say(figures), chosen(is)}
  #closed = new Set(); // branches of the tree
  #figures = new Map();

  /** `on`: {choose(topic), chosen(): topic, kept(): the address changes, isConnected()} */
  constructor(session, boxes, on) {
    this.session = session;
    this.on = on;
    this.thumbs = new Thumbs(session, boxes);
    for (const button of document.querySelectorAll("[data-sort]")) button.onclick = () => this.#sortBy(button.dataset.sort);
    $("filter").oninput = () => this.show();
    $("topics-as").onchange = () => {
      this.as($("topics-as").value);
      this.on.kept();
    };
  }

  get way() {
    return this.#way;
  }
  /** "cards", "tree" or "table". */
  as(way) {
    if (!WAYS.includes(way)) return;
    this.#way = $("topics-as").value = way;
    this.#form = "";
    this.show();
  }
  look(figures) {
    this.#figures = figures;
    this.show();
  }
  /** A view that nobody sees asks for nothing. */
  shown(isShown) {
    this.thumbs.shown(isShown);
  }
  buttons() {
    return [...$("list").querySelectorAll("button[data-topic]")].filter((button) => button.closest("details:not([open]) > div") === null);
  }

  #sortBy(by) {
    this.#order = { by, sign: this.#order.by === by ? -this.#order.sign : by === "topic" || by === "type" ? 1 : -1 };
    for (const button of document.querySelectorAll("[data-sort]")) {
      const th = button.parentElement;
      if (button.dataset.sort === by) th.setAttribute("aria-sort", this.#order.sign > 0 ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    }
    this.show();
  }
  #sorted(channels) {
    const { by, sign } = this.#way === "table" ? this.#order : { by: "topic", sign: 1 };
    const of = (c) => this.#figures.get(c.topic) ?? NOTHING;
    const key = { topic: (c) => c.topic, type: (c) => c.schemaName, hz: (c) => of(c).hz, bytes: (c) => of(c).bytes, p99: (c) => of(c).p99, lost: (c) => of(c).lost }[by];
    const less = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * sign;
    return channels.sort((a, b) => less(a, b) || (a.topic < b.topic ? -1 : 1));
  }

  show() {
    const words = $("filter").value.toLowerCase();
    const all = [...this.session.channels.values()].filter((c) => c.topic !== RUN_LOG);
    const fits = this.#sorted(all.filter((c) => `${c.topic} ${c.schemaName}`.toLowerCase().includes(words)));
    const form = JSON.stringify([this.#way, fits.map((c) => [c.topic, c.schemaName, this.session.previewOf(c.schemaName)])]);
    // Items stay as long as they are the same: a click or the focus on it is not lost each second.
    if (form !== this.#form) this.#make(fits);
    this.#form = form;
    for (const channel of fits) {
      const item = this.#items.get(channel.topic);
      const isChosen = this.on.chosen() === channel.topic;
      item.box.classList.toggle("chosen", isChosen);
      if (isChosen) item.button.setAttribute("aria-current", "true");
      else item.button.removeAttribute("aria-current");
      item.say(this.#figures.get(channel.topic) ?? NOTHING);
    }
    $("none").hidden = fits.length !== 0;
    $("none").textContent = !this.on.isConnected() ? "Not connected to the bridge." : all.length === 0 ? "No topics yet. Start a program that publishes, or `cardan demo`." : "No topic fits the filter.";
  }

  #make(fits) {
    const focused = document.activeElement?.dataset?.topic;
    this.#items.clear();
    this.thumbs.clear();
    for (const id of ["picture-cards", "cards", "topic-tree", "table-rows"]) $(id).replaceChildren();
    $("topic-table").hidden = this.#way !== "table";
    if (this.#way === "table") for (const channel of fits) this.#makeRow(channel);
    else if (this.#way === "tree") this.#makeBranch($("topic-tree"), treeOf(fits.map((c) => c.topic)), new Map(fits.map((c) => [c.topic, c])), "");
    else for (const channel of fits) this.#makeCard(channel);
    this.buttons().find((button) => button.dataset.topic === focused)?.focus({ preventScroll: true });
  }

  #makeButton(topic, text) {
    const button = element("button", "name", text);
    button.dataset.topic = topic;
    button.onclick = () => this.on.choose(topic);
    return button;
  }

  #makeCard({ topic, schemaName }) {
    const preview = this.session.previewOf(schemaName);
    const box = element("li", "card");
    const button = this.#makeButton(topic, topic);
    button.title = topic;
    box.append(button, element("span", "type", schemaName.replace("/msg/", "/")));
    if (preview) {
      const canvas = element("canvas", "thumb");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `The newest ${preview === "picture" ? "image" : "point cloud"} of ${topic}`);
      const words = element("span", "thumb-words", "waiting for a message …");
      const frame = element("button", "thumb-box");
      frame.tabIndex = -1; // the name does the same
      frame.ariaHidden = "true";
      frame.append(canvas, words);
      frame.onclick = button.onclick;
      box.append(frame);
      this.thumbs.add(topic, preview, frame, canvas, words);
    }
    const figures = element("dl", "figures");
    const figure = (name, title, isWhole = true) => {
      const [dt, dd] = [element("dt", "", name), element("dd", "")];
      dt.title = dd.title = title;
      const pair = element("div", isWhole ? "whole" : "");
      pair.append(dt, dd);
      figures.append(pair);
      return dd;
    };
    const rate = figure("rate", "messages a second", false);
    const loss = figure("lost", "messages that readers missed", false);
    const size = figure("size", "of a message, and of all in a second");
    const delay = figure("latency", "from publish to take at the slowest reader: median / 99 % of the last second");
    const old = figure("age", "from the oldest publication that a message rests on to its take, at the reader of the oldest: median / 99 %");
    const from = figure("from", "programs that publish it, and how many read it");
    box.append(figures);
    (preview ? $("picture-cards") : $("cards")).append(box);
    const set = (to, text) => to.textContent !== text && (to.textContent = text);
    const say = (f) => {
      set(rate, rateText(f.hz));
      set(size, f.size < 0 ? "" : `${bytesText(f.size)}${f.bytes < 0 ? "" : ` · ${bytesText(f.bytes)}/s`}`);
      set(delay, f.readers ? latency(f) || "nothing taken" : "no reader");
      set(old, age(f) || "–");
      set(loss, f.readers ? lossText(f) : "–");
      loss.classList.toggle("bad", f.lost > 0);
      set(from, `${f.from.join(", ")}${f.readers ? ` → ${f.readers}` : ""}`);
    };
    this.#items.set(topic, { box, button, say });
  }

  #makeRow({ topic, schemaName }) {
    const row = $("table-rows").insertRow();
    const button = this.#makeButton(topic, topic);
    cell(row, "").append(button);
    cell(row, schemaName, "type");
    const [rate, bytes, delay, loss] = [0, 1, 2, 3].map(() => cell(row, "", "number"));
    const say = (f) => {
      rate.textContent = rateText(f.hz);
      bytes.textContent = f.bytes < 0 ? "" : bytesText(f.bytes);
      delay.textContent = latency(f);
      loss.textContent = f.lost > 0 ? `${f.lost.toFixed(1)}/s` : "";
    };
    this.#items.set(topic, { box: row, button, say });
  }

  #makeBranch(parent, node, channels, path) {
    for (const one of [...node.under.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const here = `${path}/${one.name}`;
      if (one.topic !== undefined) this.#makeLeaf(parent, one, channels.get(one.topic));
      if (!one.under.size) continue;
      const branch = element("details", "branch");
      const summary = element("summary", "", `${one.name}/`);
      const under = element("div", "");
      branch.open = !this.#closed.has(here);
      branch.ontoggle = () => (branch.open ? this.#closed.delete(here) : this.#closed.add(here));
      branch.append(summary, under);
      parent.append(branch);
      this.#makeBranch(under, one, channels, here);
    }
  }
  #makeLeaf(parent, { name }, { topic, schemaName }) {
    const box = element("div", "leaf");
    const button = this.#makeButton(topic, name);
    button.ariaLabel = topic;
    const figures = element("span", "number");
    box.append(button, element("span", "type", schemaName.replace("/msg/", "/")), figures);
    parent.append(box);
    const say = (f) => {
      const text = [rateText(f.hz), latency(f), f.lost > 0 ? `${f.lost.toFixed(1)} lost/s` : ""].filter(Boolean).join(" · ");
      if (figures.textContent !== text) figures.textContent = text;
    };
    this.#items.set(topic, { box, button, say });
  }
}
