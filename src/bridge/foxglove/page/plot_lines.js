// SPDX-License-Identifier: Apache-2.0
// The numbers of plots: what is kept of a line, what is drawn of it, and how the address names the charts.

export const LINES = 6; // of a chart
export const CHARTS = 6;
const LONGEST = 300; // seconds that are kept
const STEP = 15; // ms: what comes closer together becomes one stroke from its least to its most
const KEPT = (LONGEST * 1000) / STEP;
const FARTHEST = 1e300; // values beyond are drawn at the edge
const SPANS = [10, 60, 300];
const LONGEST_NAME = 300; // letters of a topic or a field in an address

/** Adds a number to {points: [{ms, low, high, gap}], newest}. A value that is not a number leaves a gap in the line. */
export function addPoint(line, ms, value) {
  line.newest = value;
  if (!Number.isFinite(value)) {
    line.breaks = true;
    return;
  }
  const last = line.points.at(-1);
  if (last && !line.breaks && ms >= last.ms && ms - last.ms < STEP) {
    last.low = Math.min(last.low, value);
    last.high = Math.max(last.high, value);
    return;
  }
  line.points.push({ ms, low: value, high: value, gap: Boolean(line.breaks) });
  line.breaks = false;
  if (line.points.length > KEPT || line.points[0].ms < ms - LONGEST * 1000) line.points.shift();
}

/** [least, most] of what is between two times; undefined: nothing is. */
export function rangeOf(points, from, to) {
  let range;
  for (const { ms, low, high } of points) if (ms >= from && ms <= to) range = range ? [Math.min(range[0], low), Math.max(range[1], high)] : [low, high];
  return range;
}

/** Rows [Date, a number of each line, or null: none at this time, or NaN: a gap] between two times, at most some for
    each pixel of `width`. A logarithmic axis leaves out values that are not above 0. */
export function rowsOf(lines, from, to, width) {
  const step = Math.max(1, (to - from) / Math.max(1, width));
  const at = new Map(); // ms → row
  const put = (ms, i, value) => {
    while (at.get(ms)?.[i + 1] !== undefined && at.get(ms)[i + 1] !== null) ms += 1e-3; // a second number at that time
    if (!at.has(ms)) at.set(ms, [ms, ...lines.map(() => null)]);
    at.get(ms)[i + 1] = value;
  };
  lines.forEach(({ points, isLog }, i) => {
    let [bucket, low, high] = [null, 0, 0];
    const flush = () => {
      if (bucket === null) return;
      put(bucket, i, low);
      if (high !== low) put(bucket, i, high);
      bucket = null;
    };
    for (const point of points) {
      if (point.ms < from - step || point.ms > to + 1000) continue;
      if (point.gap) {
        flush();
        put(point.ms - 1e-2, i, NaN);
      }
      if (isLog && !(point.high > 0)) continue;
      const [least, most] = [Math.max(isLog && !(point.low > 0) ? point.high : point.low, -FARTHEST), Math.min(point.high, FARTHEST)];
      if (bucket !== null && point.ms - bucket < step) [low, high] = [Math.min(low, least), Math.max(high, most)];
      else {
        flush();
        [bucket, low, high] = [point.ms, Math.min(least, FARTHEST), Math.max(most, -FARTHEST)];
      }
    }
    flush();
  });
  return [...at.values()].sort((a, b) => a[0] - b[0]).map(([ms, ...values]) => [new Date(ms), ...values]);
}

/** "&span=60&chart=linear&left=/clock clock&right=…" of {span, charts: [{scale, lines: [{topic, name, side}]}]} */
export function textOf({ span, charts }) {
  const all = new URLSearchParams();
  if (!charts.length) return "";
  all.append("span", span);
  for (const { scale, lines } of charts) {
    all.append("chart", scale);
    for (const { topic, name, side } of lines) all.append(side, `${topic} ${name}`);
  }
  return `&${all}`;
}

/** The same out of an address, which anybody may have made: parts that are too many or malformed are left out. */
export function layoutOf(text) {
  const layout = { span: 60, charts: [] };
  for (const [key, value] of new URLSearchParams(text)) {
    const chart = layout.charts.at(-1);
    if (key === "span" && SPANS.includes(Number(value))) layout.span = Number(value);
    if (key === "chart" && layout.charts.length < CHARTS) layout.charts.push({ scale: value === "log" ? "log" : "linear", lines: [] });
    if ((key !== "left" && key !== "right") || !chart || chart.lines.length >= LINES) continue;
    const cut = value.indexOf(" ");
    const [topic, name] = [value.slice(0, cut), value.slice(cut + 1)];
    if (cut > 0 && name && topic.length <= LONGEST_NAME && name.length <= LONGEST_NAME && !chart.lines.some((line) => line.topic === topic && line.name === name))
      chart.lines.push({ topic, name, side: key });
  }
  layout.charts = layout.charts.filter((chart) => chart.lines.length);
  return layout;
}
