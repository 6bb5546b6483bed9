// SPDX-License-Identifier: Apache-2.0
// The messages on the way of a chosen frame: pictures, points, or values.
import { drawBoxes, nearest, stampOf } from "./boxes.js";
import { drawImage, drawPicture, isImage } from "./image.js";
import { clockText, timeText } from "./text.js";
import { drawPoints } from "./thumbs.js";
import { showTree } from "./tree.js";

const FLAT = "vision_msgs/Detection2DArray";

function html(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** The detections among the samples that belong to a picture, as drawBoxes() has them. */
export function boxesOn(head, samples) {
  return samples.flatMap((sample) => {
    try {
      if (sample?.message?.use.schema.root !== FLAT) return [];
      const { header, detections } = sample.message.named;
      const found = nearest([{ stamp: header.stamp, frame: header.frame_id, boxes: detections }], stampOf(head.header.stamp), head.header.frame_id);
      return found ? [found.boxes] : [];
    } catch {
      return []; // it does not fit its definition, which its own place says
    }
  });
}

export class ChainShots {
  #form = "";

  constructor() {
    this.box = html("div", { className: "shots" });
  }

  /** `messages`: as messagesOf() of chain_frames.js; `found`: as ChainSamples.find(), of each. */
  show(key, messages, found) {
    const form = JSON.stringify([key, found.map(({ why }) => why ?? "")]);
    if (form === this.#form) return; // a reader folds values, and selects text
    this.#form = form;
    const samples = found.map(({ sample }) => sample);
    this.box.replaceChildren(...messages.map((one, i) => this.#figure(one, messages[0].ms, found[i], samples)));
  }
  clear() {
    this.#form = "";
    this.box.replaceChildren();
  }

  #figure({ topic, sequence, ms }, firstMs, { sample, why }, samples) {
    const after = ms > firstMs ? `, ${timeText(Math.round((ms - firstMs) * 1e6))} after the first` : "";
    const caption = html("figcaption", {}, html("b", { textContent: topic }), html("span", { textContent: `message ${sequence}, ${clockText(ms)}${after}` }));
    const figure = html("figure", {}, caption);
    const say = (textContent) => figure.append(html("p", { className: "soft", textContent }));
    if (!sample) say(why);
    else
      try {
        this.#draw(figure, topic, sequence, sample, samples, say);
      } catch (error) {
        say(String(error)); // of a message that does not fit its definition
      }
    return figure;
  }
  #draw(figure, topic, sequence, { head, payload, message }, samples, say) {
    if (head?.problem !== undefined) return say(String(head.problem));
    const drawn = Boolean(head) || isImage(message.use.schema.root);
    if (!drawn) {
      const values = html("div", { className: "values" });
      showTree(values, message.named);
      figure.append(values);
      return;
    }
    const canvas = html("canvas", {});
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Message ${sequence} of ${topic}`);
    figure.append(canvas);
    if (!head) return drawImage(canvas, message.value);
    if (head.shown.points !== undefined) return drawPoints(canvas, new Float32Array(payload.slice().buffer));
    drawPicture(canvas, payload).then(() => drawBoxes(canvas, head, boxesOn(head, samples)), (error) => say(String(error)));
  }
}
