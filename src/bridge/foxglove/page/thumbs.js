// SPDX-License-Identifier: Apache-2.0
// The small live pictures of the cards. The page asks for them by itself, so their cost is bounded: those in sight
// alone, at most MOST topics, all together a few pictures a second, each one small and made by the bridge. Bytes of
// another program, as of a compressed image, are decoded only when the reader chooses the topic.
import { drawPicture } from "./image.js";
import { quantile } from "./cloud.js";

export const MOST = 24; // topics
const EACH = 500; // ms from one picture of a topic to the next, at least
const ALL = 10; // pictures of all topics in a second
const SIZES = [320, 640]; // pixels of a picture
const POINTS = 5000;

/** ms between two pictures of a topic, of which `count` are in sight. */
export const paceOf = (count) => Math.max(EACH, (count * 1000) / ALL);

/** The topics of `order` that are drawn, of those that are in sight. */
export const drawn = (order, inSight) => order.filter((topic) => inSight.has(topic)).slice(0, MOST);

/** Points {x, y, z, colour} from above, to the canvas's pixels: [x, y, 0 to 1] of at most POINTS of them. */
export function fromAbove(points, width, height) {
  const step = 4 * Math.ceil(points.length / 4 / POINTS);
  const axis = (k) => Array.from({ length: Math.ceil(points.length / step) || 0 }, (_, i) => points[i * step + k]);
  const range = (values) => [quantile(values, 0.02), quantile(values, 0.98)];
  const [xs, ys, colours] = [axis(0), axis(1), axis(3)];
  if (!xs.length) return [];
  const [[left, right], [low, high], [dark, light]] = [range(xs), range(ys), range(colours)];
  // REP-103: x leads forward, which is up here, and y to the left.
  const scale = Math.min((width - 8) / (high - low || 1), (height - 8) / (right - left || 1));
  const [x0, y0] = [(left + right) / 2, (low + high) / 2];
  const all = [];
  for (let i = 0; i < xs.length; ++i) {
    const [x, y] = [width / 2 - (ys[i] - y0) * scale, height / 2 - (xs[i] - x0) * scale];
    if (x >= 0 && x < width && y >= 0 && y < height) all.push([x, y, Math.min(1, Math.max(0, (colours[i] - dark) / (light - dark || 1)))]);
  }
  return all;
}

export function drawPoints(canvas, points) {
  const size = { width: 320, height: 200 };
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  const c = canvas.getContext("2d");
  c.clearRect(0, 0, size.width, size.height);
  for (const [x, y, colour] of fromAbove(points, size.width, size.height)) {
    c.fillStyle = `hsl(${240 - 240 * colour} 80% 50%)`;
    c.fillRect(x, y, 1.5, 1.5);
  }
}

export class Thumbs {
  #all = new Map(); // topic → {preview, frame, canvas, words, end}
  #inSight = new Set();
  #isShown = true;
  #watch = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) isIntersecting ? this.#inSight.add(target.dataset.of) : this.#inSight.delete(target.dataset.of);
    this.#choose();
  }, { rootMargin: "40px" });

  constructor(session, boxes) {
    this.session = session;
    this.boxes = boxes;
  }

  add(topic, preview, frame, canvas, words) {
    frame.dataset.of = topic;
    this.#all.set(topic, { preview, canvas, words, end: null });
    this.#watch.observe(frame);
  }
  clear() {
    for (const one of this.#all.values()) one.end?.();
    this.#all.clear();
    this.#inSight.clear();
    this.#watch.disconnect();
    this.boxes.use("cards", false);
  }
  shown(isShown) {
    this.#isShown = isShown;
    this.#choose();
  }

  #choose() {
    const wanted = new Set(this.#isShown ? drawn([...this.#all.keys()], this.#inSight) : []);
    for (const [topic, one] of this.#all) {
      if (!wanted.has(topic)) {
        one.end?.();
        one.end = null;
      } else one.end ??= this.#begin(topic, one);
    }
    this.boxes.use("cards", [...wanted].some((topic) => this.#all.get(topic).preview === "picture"));
  }
  #count() {
    return [...this.#all.values()].filter((one) => one.end).length;
  }
  #begin(topic, { canvas, words }) {
    const say = (text) => {
      if (words.textContent !== text) words.textContent = text;
      canvas.classList.toggle("empty", text !== "");
    };
    let drawn = -Infinity;
    return this.session.subscribe(topic, {
      most: { picture: SIZES.find((size) => size >= canvas.clientWidth * (window.devicePixelRatio || 1) * 0.8) ?? SIZES.at(-1), points: POINTS },
      pace: () => paceOf(this.#count()),
      failed: say,
      preview: async (head, payload) => {
        // A topic that the reader has chosen comes faster, and with more points.
        if (performance.now() - drawn < EACH) return;
        drawn = performance.now();
        if (head.problem !== undefined) return say(head.problem);
        if (head.shown.points === undefined) {
          await drawPicture(canvas, payload);
          this.boxes.draw(canvas, head);
        } else drawPoints(canvas, new Float32Array(payload.slice().buffer));
        say("");
      },
    });
  }
}
