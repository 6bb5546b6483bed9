// SPDX-License-Identifier: Apache-2.0
// Detections over the image in which they were found: the same coordinate frame, and the nearest time.
const TYPE = "vision_msgs/msg/Detection2DArray";
const TOPICS = 8; // that are read at once
const KEPT = 40; // messages of a topic
const DRAWN = 200; // boxes of a message
const FARTHEST = 500_000_000n; // ns between an image and boxes that are drawn on it

export const stampOf = ({ sec, nanosec }) => BigInt(sec) * 1_000_000_000n + BigInt(nanosec);

/** The message of `kept` [{stamp, frame, boxes}] that belongs to an image; undefined: none is near. */
export function nearest(kept, stamp, frame) {
  const off = (one) => (one.stamp > stamp ? one.stamp - stamp : stamp - one.stamp);
  let best;
  for (const one of kept) if (one.frame === frame && off(one) <= FARTHEST && (best === undefined || off(one) < off(best))) best = one;
  return best;
}

export class Boxes {
  isWanted = true;
  #users = new Set();
  #topics = new Map(); // topic → {end, kept}

  constructor(session) {
    this.session = session;
  }

  /** The topics with boxes. */
  get topics() {
    return [...this.session.channels.values()].filter((channel) => channel.schemaName === TYPE).map((channel) => channel.topic);
  }
  /** `who` draws images now, or no longer. */
  use(who, does) {
    does ? this.#users.add(who) : this.#users.delete(who);
    this.channels();
  }
  channels() {
    const wanted = new Set(this.#users.size && this.isWanted ? this.topics.sort().slice(0, TOPICS) : []);
    for (const [topic, { end }] of this.#topics)
      if (!wanted.has(topic)) {
        end();
        this.#topics.delete(topic);
      }
    for (const topic of wanted) {
      if (this.#topics.has(topic)) continue;
      const kept = [];
      const message = ({ named }) => {
        kept.push({ stamp: BigInt(named.header.stamp), frame: named.header.frame_id, boxes: named.detections });
        if (kept.length > KEPT) kept.shift();
      };
      this.#topics.set(topic, { kept, end: this.session.subscribe(topic, { message }) });
    }
  }

  /** `head`: of the picture that the canvas shows. */
  draw(canvas, head) {
    const c = canvas.getContext("2d");
    if (!this.isWanted || !c?.strokeRect) return;
    const scale = canvas.width / head.width;
    const unit = Math.max(1, canvas.width / 480);
    [...this.#topics.values()].forEach(({ kept }, i) => {
      const found = nearest(kept, stampOf(head.header.stamp), head.header.frame_id);
      c.strokeStyle = c.fillStyle = ["#39ff6e", "#ffd23f", "#4cc9ff", "#ff6b9d"][i % 4];
      c.lineWidth = 2 * unit;
      c.font = `${Math.round(12 * unit)}px system-ui, sans-serif`;
      for (const box of found?.boxes.slice(0, DRAWN) ?? []) {
        c.save();
        c.translate(box.center_x * scale, box.center_y * scale);
        c.rotate(box.theta);
        const [w, h] = [box.size_x * scale, box.size_y * scale];
        c.strokeRect(-w / 2, -h / 2, w, h);
        const text = `${box.label} ${(box.score * 100).toFixed(0)} %`;
        c.strokeStyle = "#000c"; // so that it can be read on any image
        c.lineWidth = 3 * unit;
        c.strokeText(text, -w / 2, -h / 2 - 4 * unit);
        c.fillText(text, -w / 2, -h / 2 - 4 * unit);
        c.restore();
      }
    });
  }
}
