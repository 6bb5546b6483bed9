// SPDX-License-Identifier: Apache-2.0
// The last messages of the topics of chains: small pictures of images, some points of clouds, other messages whole. Bounded
// in topics, number and bytes. A message is found by its publish time, which the trace has, too.

export const TOPICS = 12;
export const SAMPLES = 2000; // of a topic
export const BYTES = 8 << 20; // of a topic
export const LARGEST = 1 << 20; // bytes of a message
const NEAR = 0.02; // ms: the bridge knows the times to a few microseconds

const PREVIEW = { picture: 320, points: 5000 };

/** The last messages of a topic, the oldest first. */
export class Kept {
  #all = []; // {ms, bytes, …}
  #bytes = 0;
  tooLarge = 0;

  get size() {
    return this.#all.length;
  }
  get bytes() {
    return this.#bytes;
  }
  /** ms of the oldest one. */
  get since() {
    return this.#all[0]?.ms;
  }

  add(sample) {
    if (!Number.isFinite(sample.ms)) return;
    if (sample.bytes > LARGEST) {
      this.tooLarge += 1;
      return;
    }
    let at = this.#all.length; // messages of several publishers may be in another order than their times
    while (at > 0 && this.#all.length - at < 100 && this.#all[at - 1].ms > sample.ms) --at;
    this.#all.splice(at, 0, sample);
    this.#bytes += sample.bytes;
    let gone = 0;
    for (; this.#all.length - gone > SAMPLES || this.#bytes > BYTES; ++gone) this.#bytes -= this.#all[gone].bytes;
    if (gone) this.#all.splice(0, gone);
  }

  /** The messages that were published then: more than one, if they cannot be told apart. */
  at(ms) {
    return this.#all.filter((one) => Math.abs(one.ms - ms) <= NEAR);
  }
}

export class ChainSamples {
  #topics = new Map(); // topic → {kept, end, sinceMs}
  #wanted = [];
  #sizes = new Map(); // topic → bytes of a message
  #isShown = false;
  #isKeeping = true;

  constructor(session) {
    this.session = session;
  }

  get isKeeping() {
    return this.#isKeeping;
  }
  set isKeeping(is) {
    this.#isKeeping = is;
    this.#choose();
  }
  /** A view that nobody sees asks for nothing. */
  shown(isShown) {
    this.#isShown = isShown;
    this.#choose();
  }
  /** topic → {size: bytes of a message, −1: not known}, as compare() of look.js has them. */
  look(figures) {
    this.#sizes = figures;
    this.#choose();
  }
  want(topics) {
    this.#wanted = [...new Set(topics)].slice(0, TOPICS);
    this.#choose();
  }

  #isSmall(topic) {
    const channel = this.session.channelOf(topic);
    const { size = -1 } = this.#sizes.get(topic) ?? {};
    return Boolean(channel) && (this.session.previewOf(channel.schemaName) !== null || (size >= 0 && size <= LARGEST));
  }
  #choose() {
    const wanted = new Set(this.#isShown && this.#isKeeping ? this.#wanted.filter((topic) => this.#topics.has(topic) || this.#isSmall(topic)) : []);
    for (const [topic, { end }] of this.#topics)
      if (!wanted.has(topic)) {
        end();
        this.#topics.delete(topic);
      }
    for (const topic of wanted) if (!this.#topics.has(topic)) this.#topics.set(topic, this.#begin(topic));
  }
  #begin(topic) {
    const kept = new Kept();
    const end = this.session.subscribe(topic, {
      most: PREVIEW,
      preview: (head, payload, at) => kept.add({ ms: at, bytes: payload.length + 500, head, payload }),
      message: (message) => kept.add({ ms: message.at, bytes: message.bytes.length + 200, message }),
    });
    return { kept, end, sinceMs: this.session.now() };
  }

  /** {sample: {ms, head, payload} of a preview, or {ms, message}}, or {why: it is not here}. */
  find(topic, ms) {
    const one = this.#topics.get(topic);
    const at = one?.kept.at(ms) ?? [];
    if (at.length === 1) return { sample: at[0] };
    return { why: at.length ? "Several messages were published at that time." : this.#why(topic, ms, one) };
  }
  #why(topic, ms, one) {
    const channel = this.session.channelOf(topic);
    if (!channel) return "The bridge does not send this topic to this page.";
    if (!this.#isKeeping) return "It was not kept.";
    if (!one) return this.#wanted.includes(topic) ? "Messages of this size are not kept." : `It was not kept: the page reads ${TOPICS} topics at most.`;
    if (one.kept.tooLarge > 0) return "Messages of this size are not kept.";
    if (ms < one.sinceMs) return "It is from before the page read this topic.";
    if (one.kept.since !== undefined && ms < one.kept.since) return "It is gone: newer messages took its place.";
    if (this.session.previewOf(channel.schemaName) !== null) return "The page has no picture of it: the bridge makes them at the page's pace.";
    return "The page did not get it.";
  }
}
