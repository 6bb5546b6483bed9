// SPDX-License-Identifier: Apache-2.0
// Detections over the image, or in the point cloud, in which they were found: the same coordinate frame, and the nearest
// time.
const FLAT = "vision_msgs/msg/Detection2DArray";
const SOLID = "vision_msgs/msg/Detection3DArray";
const TOPICS = 8; // that are read at once
const KEPT = 40; // messages of a topic
const DRAWN = 200; // boxes of a message
const FARTHEST = 500_000_000n; // ns between an image or a cloud and its boxes

export const stampOf = ({ sec, nanosec }) => BigInt(sec) * 1_000_000_000n + BigInt(nanosec);

/** The message of `kept` [{stamp, frame, boxes}] that belongs to an image; undefined: none is near. */
export function nearest(kept, stamp, frame) {
  const off = (one) => (one.stamp > stamp ? one.stamp - stamp : stamp - one.stamp);
  let best;
  for (const one of kept) if (one.frame === frame && off(one) <= FARTHEST && (best === undefined || off(one) < off(best))) best = one;
  return best;
}

/** x, y, z and 0 of both ends of each edge of boxes in space {center: Pose, size}. */
export function edgesOf(boxes) {
  const all = [];
  for (const { center, size } of boxes.slice(0, DRAWN)) {
    const { x, y, z, w } = center.orientation;
    const turned = (v) => {
      // v + 2 q × (q × v + w v)
      const [a, b, c] = [y * v[2] - z * v[1] + w * v[0], z * v[0] - x * v[2] + w * v[1], x * v[1] - y * v[0] + w * v[2]];
      return [v[0] + 2 * (y * c - z * b), v[1] + 2 * (z * a - x * c), v[2] + 2 * (x * b - y * a)];
    };
    const corner = (i) => {
      const [dx, dy, dz] = turned([((i & 1) - 0.5) * size.x, (((i >> 1) & 1) - 0.5) * size.y, ((i >> 2) - 0.5) * size.z]);
      return [center.position.x + dx, center.position.y + dy, center.position.z + dz, 0];
    };
    for (let i = 0; i < 8; ++i) for (const axis of [1, 2, 4]) if (!(i & axis)) all.push(...corner(i), ...corner(i | axis));
  }
  return new Float32Array(all);
}

/** Boxes over the picture that a canvas shows: a list of each topic. `head`: of the picture. */
export function drawBoxes(canvas, head, lists) {
  const c = canvas.getContext("2d");
  if (!c?.strokeRect) return;
  const scale = canvas.width / head.width;
  const unit = Math.max(1, canvas.width / 480);
  lists.forEach((boxes, i) => {
    c.strokeStyle = c.fillStyle = ["#39ff6e", "#ffd23f", "#4cc9ff", "#ff6b9d"][i % 4];
    c.lineWidth = 2 * unit;
    c.font = `${Math.round(12 * unit)}px system-ui, sans-serif`;
    for (const box of boxes.slice(0, DRAWN)) {
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

export class Boxes {
  isWanted = true;
  #users = new Set();
  #topics = new Map(); // topic → {end, kept}

  constructor(session) {
    this.session = session;
  }

  /** [topic, type] of the topics with boxes. */
  get topics() {
    return [...this.session.channels.values()].filter(({ schemaName }) => schemaName === FLAT || schemaName === SOLID).map(({ topic, schemaName }) => [topic, schemaName]);
  }
  /** `who` draws images now, or no longer. */
  use(who, does) {
    does ? this.#users.add(who) : this.#users.delete(who);
    this.channels();
  }
  channels() {
    const wanted = new Map(this.#users.size && this.isWanted ? this.topics.sort().slice(0, TOPICS) : []);
    for (const [topic, { end }] of this.#topics)
      if (!wanted.has(topic)) {
        end();
        this.#topics.delete(topic);
      }
    for (const [topic, type] of wanted) {
      if (this.#topics.has(topic)) continue;
      const kept = [];
      const message = ({ named }) => {
        kept.push({ stamp: BigInt(named.header.stamp), frame: named.header.frame_id, boxes: named.detections });
        if (kept.length > KEPT) kept.shift();
      };
      this.#topics.set(topic, { type, kept, end: this.session.subscribe(topic, { message }) });
    }
  }

  /** The boxes of each topic of a type that belong to a picture or cloud with this head. */
  #of(type, { header }) {
    const all = [...this.#topics.values()].filter((one) => one.type === type);
    return all.map(({ kept }) => nearest(kept, stampOf(header.stamp), header.frame_id)?.boxes ?? []);
  }
  /** Of a cloud, as edgesOf(). */
  edges(head) {
    return this.isWanted ? edgesOf(this.#of(SOLID, head).flat()) : new Float32Array(0);
  }

  /** `head`: of the picture that the canvas shows. */
  draw(canvas, head) {
    if (this.isWanted) drawBoxes(canvas, head, this.#of(FLAT, head));
  }
}
