// SPDX-License-Identifier: Apache-2.0
// The frames of a chain that the page keeps, and what it computes of them. Times are in µs.

export const SPAN = 60_000; // ms that are kept
export const MOST = 3000; // frames

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** Adds the frames of an answer of /chains.json: [{way, sequence, wall_ms, hops_us, all, sequences, published_us}], the
    oldest first. The same frame comes in several answers. */
export function keepFrames(kept, chain, nowMs) {
  const known = new Set(kept.map((frame) => frame.key));
  for (const way of chain.ways)
    for (const { sequence, wall_ms, hops_us, sequences, published_us } of way.frames) {
      const key = `${JSON.stringify(way.hops)} ${sequence}`;
      if (!known.has(key)) kept.push({ key, way: way.hops, sequence, wall_ms, hops_us, all: sum(hops_us.flat()), sequences, published_us });
      known.add(key);
    }
  kept.sort((a, b) => a.wall_ms - b.wall_ms);
  return kept.filter((frame) => frame.wall_ms > nowMs - SPAN).slice(-MOST);
}

/** The value below which `part` of the frames lie; undefined: there are none. */
export function ageOf(frames, part) {
  const all = frames.map((frame) => frame.all).sort((a, b) => a - b);
  return all[Math.min(all.length - 1, Math.floor(all.length * part))];
}

/** {way, frames, hops_us, all}: means of the frames that took the most used way; undefined: there are none. */
export function meansOf(frames) {
  const ways = new Map();
  for (const frame of frames) {
    const key = JSON.stringify(frame.way);
    if (!ways.has(key)) ways.set(key, []);
    ways.get(key).push(frame);
  }
  const most = [...ways.values()].sort((a, b) => b.length - a.length)[0];
  if (!most) return undefined;
  const hops_us = most[0].hops_us.map((parts, hop) => parts.map((_, part) => sum(most.map((frame) => frame.hops_us[hop][part])) / most.length));
  return { way: most[0].way, frames: most.length, hops_us, all: sum(hops_us.flat()) };
}

/** The frame that took longest. */
export const slowestOf = (frames) => frames.reduce((a, b) => (!a || b.all > a.all ? b : a), undefined);

/** [{hop, part: 0 transport, 1 waiting, 2 running, from, to}] of what lasted, in µs from the begin of the frame. */
export function piecesOf({ hops_us }) {
  const pieces = [];
  let from = 0;
  hops_us.forEach((parts, hop) =>
    parts.forEach((us, part) => {
      if (us > 0) pieces.push({ hop, part, from, to: from + us });
      from += us;
    }),
  );
  return pieces;
}

/** [{topic, sequence, ms: its publication}] of the messages on the way of a frame, which began on the topic `from`. */
export const messagesOf = ({ way, sequences, published_us }, from) => [from, ...way.map(({ to }) => to)].map((topic, i) => ({ topic, sequence: sequences[i], ms: published_us[i] / 1000 }));
