// SPDX-License-Identifier: Apache-2.0
// One topic: its newest message as values, and as a picture or points.
import { CloudView } from "./cloud.js";
import { drawImage, drawPicture, isImage } from "./image.js";
import { namedHead } from "./names.js";
import { bytesText, numberText, rateText } from "./text.js";
import { showTree } from "./tree.js";
import { Zoom } from "./zoom.js";

const $ = (id) => document.getElementById(id);
const MOST = { least: { picture: 320, points: 5000 }, most: { picture: 1920, points: 100000 } };

export class Detail {
  topic = null;
  #end = () => {};
  #newest = null;
  #treeShown = 0;
  #count = 0;
  #since = 0;
  #before = [0, 0]; // messages and seconds of the time before `since`
  #cameAt = 0; // of the last message, here
  #at = 0; // the same by its own time
  #isShown = true;
  #isPaused = false;
  #cloud = null;
  #last = null; // {head, payload} of the picture that is shown

  /** `closed()`: the reader has closed it. */
  constructor(session, boxes, closed) {
    Object.assign(this, { session, boxes, closed });
    this.zoom = new Zoom($("image-box"), $("image"), () => this.#setMost());
    $("image-in").onclick = () => this.zoom.by(1.5);
    $("image-out").onclick = () => this.zoom.by(1 / 1.5);
    $("image-fit").onclick = () => this.zoom.fit();
    $("boxes").onchange = () => {
      boxes.isWanted = $("boxes").checked;
      boxes.channels();
      this.#drawAgain();
    };
    $("detail-pause").onclick = () => this.#pause(!this.#isPaused);
    const on = (id, act) => ($(id).onclick = () => this.#cloud && act(this.#cloud));
    on("cloud-left", (cloud) => cloud.turn(0.3, 0));
    on("cloud-right", (cloud) => cloud.turn(-0.3, 0));
    on("cloud-in", (cloud) => cloud.zoom(0.7));
    on("cloud-out", (cloud) => cloud.zoom(1 / 0.7));
    on("cloud-top", (cloud) => cloud.fromAbove());
    on("cloud-reset", (cloud) => cloud.reset());
    $("detail-size").onchange = () => this.#setMost();
    window.addEventListener("resize", () => $("detail-size").value === "auto" && this.#setMost());
    this.#setMost();
    $("detail-close").onclick = () => this.close();
    setInterval(() => this.#showSilence(), 500);
  }

  #setMost() {
    const pixels = Math.min(window.innerWidth, 1000) * (window.devicePixelRatio || 1) * this.zoom.factor;
    const auto = { picture: [320, 640, 960, 1280].find((n) => n >= pixels) ?? 1920, points: window.innerWidth < 700 ? 20000 : 50000 };
    this.session.setMost(MOST[$("detail-size").value] ?? auto);
  }

  choose(topic) {
    this.#end();
    this.#end = () => {};
    Object.assign(this, { topic });
    this.#newest = null;
    this.#start();
    $("detail").hidden = false;
    for (const id of ["image-part", "cloud-box", "detail-controls"]) $(id).hidden = true;
    this.#last = null;
    this.boxes.use("detail", false);
    if (this.zoom.factor > 1) this.zoom.fit();
    this.#setPaused(false);
    $("name").textContent = topic;
    $("facts").textContent = "waiting for a message …";
    $("problem").textContent = $("cloud-facts").textContent = "";
    $("tree").replaceChildren();
    $("tree").dataset.form = "";
    this.#cloud?.clear();
    if (this.#isShown) this.#subscribe();
    this.channels();
  }
  close() {
    const topic = this.topic;
    this.#end();
    this.#end = () => {};
    this.topic = this.#newest = this.#last = null;
    this.boxes.use("detail", false);
    $("detail").hidden = true;
    this.closed();
    [...$("list").querySelectorAll("button[data-topic]")].find((b) => b.dataset.topic === topic)?.focus();
  }
  /** Another view is shown, or this one again: what nobody sees is not asked for. */
  shown(isShown) {
    if (isShown === this.#isShown) return;
    this.#isShown = isShown;
    this.#end();
    this.#end = () => {};
    this.#start();
    if (isShown && this.topic !== null && !this.#isPaused) this.#subscribe();
    if (!isShown) this.boxes.use("detail", false); // the next picture asks for them again
  }
  /** The view is frozen, and asks for nothing. */
  #pause(isPaused) {
    this.#setPaused(isPaused);
    this.#end();
    this.#end = () => {};
    this.#start();
    if (!isPaused && this.#isShown && this.topic !== null) this.#subscribe();
    this.#showSilence();
  }
  #setPaused(isPaused) {
    this.#isPaused = isPaused;
    $("detail-pause").setAttribute("aria-pressed", String(isPaused));
    $("detail-pause").textContent = isPaused ? "Continue" : "Pause";
  }
  /** The list of topics has changed. */
  channels() {
    $("detail").classList.toggle("gone", this.topic !== null && !this.session.channelOf(this.topic));
    this.#showSilence();
  }

  #start() {
    this.#count = this.#cameAt = this.#at = 0;
    this.#since = performance.now(); // until the first message comes
    this.#before = [0, 0];
  }
  #subscribe() {
    const { topic } = this;
    this.#end = this.session.subscribe(topic, {
      message: (message) => this.#message(message),
      preview: (head, payload, at) => topic === this.topic && this.#preview(head, payload, at),
      failed: (text) => this.#failed(text),
    });
  }
  #came(at) {
    this.#at = at;
    const now = performance.now();
    if (this.#cameAt) ++this.#count;
    else this.#since = now;
    this.#cameAt = now;
  }
  /** Says how old the shown values are. */
  #showSilence() {
    if (this.topic === null || !this.#isShown) return;
    const { now } = this.session.timeline ?? {}; // of a recording
    const silent = now === undefined ? (performance.now() - (this.#cameAt || this.#since)) / 1000 : (now - this.#at) / 1000;
    const isGone = !this.session.channelOf(this.topic);
    const text = this.#isPaused
      ? "Paused: newer messages are not shown."
      : isGone
      ? `Nobody publishes this topic now.${this.#cameAt ? " This is its last message." : ""}`
      : silent < 2.5
        ? ""
        : this.#cameAt
          ? `No message for ${silent.toFixed(0)} s.`
          : now === undefined
            ? "Its publisher has sent nothing since this page asked."
            : "The recording has no message of it here.";
    if ($("silence").textContent !== text) $("silence").textContent = text;
  }

  #failed(text) {
    $("problem").textContent = text;
  }
  #showFacts(size, at) {
    const seconds = (performance.now() - this.#since) / 1000 + this.#before[1];
    const count = this.#count + this.#before[0];
    const type = this.session.channelOf(this.topic)?.schemaName ?? "";
    const when = new Date(at);
    const published = Number.isNaN(when.getTime()) ? "" : `, published ${when.toISOString()}`;
    $("facts").textContent = `${type}, ${bytesText(size)}${seconds < 1 ? "" : `, ${rateText(count / seconds)} here`}${published}`;
    if (performance.now() - this.#since < 2500) return;
    this.#before = [this.#count, (performance.now() - this.#since) / 1000];
    [this.#count, this.#since] = [0, performance.now()];
  }
  /** Whether the tree is due: reading is slower than messages. */
  #treeIsDue() {
    if (performance.now() - this.#treeShown < 200) return false;
    this.#treeShown = performance.now();
    return true;
  }

  #message(message) {
    const first = this.#newest === null;
    if (this.#isPaused) return;
    this.#newest = message;
    this.#came(message.at);
    // Messages since the last picture are not drawn: the screen sets the pace.
    if (first) requestAnimationFrame(() => this.#draw());
  }
  #draw() {
    const message = this.#newest;
    this.#newest = null;
    if (!message) return;
    try {
      const { value } = message;
      $("image-part").hidden = !isImage(message.use.schema.root);
      if (isImage(message.use.schema.root)) drawImage($("image"), value);
      $("problem").textContent = "";
      if (!this.#treeIsDue()) return;
      showTree($("tree"), message.named);
      this.#showFacts(message.bytes.length, message.at);
    } catch (error) {
      this.#failed(String(error));
    }
  }

  async #preview(head, payload, at) {
    if (this.#isPaused) return;
    this.#came(at);
    if (head.problem !== undefined) {
      this.#failed(head.problem);
      this.#showFacts(0, at);
      return;
    }
    $("problem").textContent = "";
    $("detail-controls").hidden = false;
    $("boxes-label").hidden = !this.boxes.topics.length;
    this.boxes.use("detail", true);
    if (head.shown.points === undefined) {
      $("image-part").hidden = false;
      const { topic } = this;
      if (!(await drawPicture($("image"), payload, () => !this.#isPaused && this.topic === topic))) return;
      this.#last = { head, payload };
      this.boxes.draw($("image"), head);
    } else {
      $("cloud-box").hidden = false;
      this.#cloud ??= new CloudView($("cloud"));
      if (!this.#cloud.works) this.#failed("This browser has no WebGL: points are not drawn.");
      this.#cloud.show(new Float32Array(payload.slice().buffer), this.boxes.edges(head));
      const { points, colour } = head.shown;
      $("cloud-facts").textContent = `${points} of ${numberText(head.width * head.height)} points, coloured by ${colour}; a grid of ${numberText(this.#cloud.spacing)} m`;
    }
    if (!this.#treeIsDue()) return;
    showTree($("tree"), namedHead(head));
    this.#showFacts(head.bytes, at);
  }
  async #drawAgain() {
    if (this.#last === null) return;
    const { head, payload } = this.#last;
    await drawPicture($("image"), payload);
    if (this.#last !== null) this.boxes.draw($("image"), head);
  }
}
