// SPDX-License-Identifier: Apache-2.0
// The bridge's socket: channels, subscriptions that outlive a lost connection, and parameters. A peer's messages are data:
// it never becomes HTML or code.
import { decode, parseSchema } from "./cdr.js";
import { named } from "./names.js";

const PREVIEWS = { "sensor_msgs/msg/Image": "picture", "sensor_msgs/msg/PointCloud2": "points" };
const MESSAGE = 1;
const TIME = 2;
const PLAYBACK = 5;
const PREVIEW = 0x80;

/** A message as it came. `value` decodes it, and throws Error for one that does not fit its definition. */
class Message {
  constructor(use, at, bytes) {
    Object.assign(this, { use, at, bytes });
  }
  get value() {
    this.decoded ??= decode(this.use.schema, this.bytes);
    return this.decoded;
  }
  /** The same, with the names of names.js. */
  get named() {
    this.renamed ??= named(this.use.schema, this.value);
    return this.renamed;
  }
}

/** `{head, payload}` of what the bridge made of a large message. Throws Error. */
function previewParts(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { head, payload: bytes.subarray(4 + length) };
}

export class Session {
  channels = new Map(); // id → channel
  metadata = {};
  #uses = new Map(); // topic → {topic, listeners, channel, id, schema}
  #byId = new Map();
  #socket = null;
  #lastId = 0;
  #wait = 500; // ms until the next try
  #skew = 0; // ms that our clock is ahead
  #most = { picture: 960, points: 50000 };

  /** `on`: {channels(), state(text, isGood), parameters(text), status(text), and of a recording: recording(contents),
      time(ms), playback(view)} */
  constructor(on) {
    this.on = on;
  }

  connect() {
    this.#socket = new WebSocket(`ws://${location.host}`, ["foxglove.sdk.v1", "foxglove.websocket.v1"]);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => (typeof data === "string" ? this.#text(JSON.parse(data)) : this.#binary(data));
    this.#socket.onclose = () => {
      this.channels.clear();
      for (const use of this.#uses.values()) this.#forget(use);
      this.on.state("not connected; trying again …", false);
      this.on.channels();
      setTimeout(() => this.connect(), this.#wait);
      this.#wait = Math.min(this.#wait * 2, 4000);
    };
  }

  /** The time of the bridge's computer in ms, as messages have it; another computer's clock may be far off. Of a
      recording the time that is shown. */
  now() {
    return this.timeline?.now ?? Date.now() - this.#skew;
  }
  /** The time of the clock there when it looked, up to two seconds ago. */
  clock(ms) {
    const off = Date.now() - ms;
    const skew = off > -500 && off < 2500 ? 0 : off - 1000;
    if (Math.abs(skew - this.#skew) > 1500 || skew === 0) this.#skew = skew;
  }

  /** Whether there was a connection to send it on. */
  send(object) {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(object));
    return true;
  }

  sendBytes(bytes) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  channelOf(topic) {
    return [...this.channels.values()].find((channel) => channel.topic === topic);
  }

  /** Whether the bridge sends previews of this. */
  previewOf(type) {
    const kind = PREVIEWS[type];
    return kind && this.metadata[kind === "picture" ? "cardan.pictures" : "cardan.points"] === "yes" ? kind : null;
  }

  /** Pixels of a picture's longer side, and points of a cloud. */
  setMost(most) {
    if (most.picture === this.#most.picture && most.points === this.#most.points) return;
    this.#most = most;
    for (const use of this.#uses.values()) if (use.preview) this.#fit(use);
  }

  /** `listener.message(Message)`, or `listener.preview(head, payload, at)`, which may return a promise: the next one is
      asked for when it is fulfilled. `listener.failed(text)`. A listener that needs less says so: `most` (pixels, points)
      and `pace()` (ms from one to the next). Of several on a topic, one without them counts. Returns what ends it. */
  subscribe(topic, listener) {
    const use = this.#uses.get(topic) ?? { topic, listeners: new Set() };
    this.#uses.set(topic, use);
    use.listeners.add(listener);
    this.#fit(use);
    return () => {
      if (!use.listeners.delete(listener)) return;
      if (use.listeners.size) return this.#fit(use);
      this.#leave(use);
      if (this.#uses.get(topic) === use) this.#uses.delete(topic);
    };
  }

  /** The requests to the bridge, as its listeners need them now. */
  #fit(use) {
    if (use.preview && use.channel && use.most !== this.#mostOf(use)) this.#leave(use);
    this.#enter(use);
  }
  #mostOf(use) {
    const all = [...use.listeners].map((listener) => listener.most?.[use.preview]);
    return all.includes(undefined) ? this.#most[use.preview] : Math.max(...all); // the reader's choice counts
  }

  /** A page that is not seen asks for nothing. */
  seen(isSeen) {
    for (const use of this.#uses.values()) isSeen ? this.#enter(use) : this.#leave(use);
  }

  #forget(use) {
    this.#byId.delete(use.id);
    use.channel = null;
  }
  #leave(use) {
    if (use.channel) this.send({ op: "unsubscribe", subscriptionIds: [use.id] });
    this.#forget(use);
  }
  #enter(use) {
    const channel = this.channelOf(use.topic);
    if (use.channel || !channel || document.hidden) return;
    Object.assign(use, { channel, id: ++this.#lastId, preview: this.previewOf(channel.schemaName), schema: null });
    this.#byId.set(use.id, use);
    try {
      if (!use.preview) use.schema = parseSchema(channel.schemaName, channel.schema);
    } catch (error) {
      for (const listener of use.listeners) listener.failed?.(String(error));
    }
    if (use.preview) use.most = this.#mostOf(use);
    const wish = use.preview ? { preview: use.preview, most: use.most } : {};
    this.send({ op: "subscribe", subscriptions: [{ id: use.id, channelId: channel.id, ...wish }] });
  }

  #text(text) {
    if (text.op === "serverInfo") {
      this.#wait = 500;
      this.metadata = text.metadata ?? {};
      this.on.state("connected", true);
    } else if (text.op === "advertise") {
      for (const channel of text.channels) this.channels.set(channel.id, channel);
      this.on.channels();
      for (const use of this.#uses.values()) this.#enter(use);
    } else if (text.op === "unadvertise") {
      for (const id of text.channelIds) this.channels.delete(id);
      for (const use of this.#uses.values()) if (use.channel && !this.channels.has(use.channel.id)) this.#forget(use);
      this.on.channels();
    } else if (text.op === "parameterValues") {
      this.on.parameters(text);
    } else if (text.op === "cardanRecording") {
      this.on.recording(text.recording);
    } else if (text.op === "status") {
      this.on.status(text);
    }
  }

  #binary(data) {
    const view = new DataView(data);
    const kind = view.getUint8(0);
    if (kind === TIME) this.on.time(Number(view.getBigUint64(1, true)) / 1e6);
    if (kind === PLAYBACK) this.on.playback(view);
    if (kind !== MESSAGE && kind !== PREVIEW) return;
    const use = this.#byId.get(view.getUint32(1, true));
    if (!use) return;
    const at = Number(view.getBigUint64(5, true)) / 1e6;
    const bytes = new Uint8Array(data, 13);
    if (kind === PREVIEW) this.#preview(use, at, bytes);
    else if (use.schema) {
      const message = new Message(use, at, bytes);
      for (const listener of use.listeners) {
        try {
          listener.message?.(message);
        } catch (error) {
          listener.failed?.(String(error)); // it does not fit its definition: the others get it, too
        }
      }
    }
  }

  #preview(use, at, bytes) {
    const { id } = use;
    const came = performance.now();
    // The screen sets the pace: the next one is asked for when this one is drawn.
    requestAnimationFrame(async () => {
      try {
        const { head, payload } = previewParts(bytes);
        await Promise.all([...use.listeners].map((listener) => listener.preview?.(head, payload, at)));
      } catch (error) {
        for (const listener of use.listeners) listener.failed?.(String(error));
      }
      const ready = () => use.id === id && use.channel && this.send({ op: "cardanReady", subscriptionIds: [id] });
      const pace = Math.min(...[...use.listeners].map((listener) => listener.pace?.() ?? 0)) - (performance.now() - came);
      if (pace > 0 && pace < Infinity) setTimeout(ready, pace);
      else ready();
    });
  }
}
