// SPDX-License-Identifier: Apache-2.0
// Numbers in words, and table cells. Texts of peers become text, never HTML.

export const rateText = (n) => (n < 0 || !Number.isFinite(n) ? "" : n >= 100 ? n.toFixed(0) : n.toFixed(1)) + " Hz";

export function bytesText(n) {
  for (const unit of ["B", "kB", "MB"]) {
    if (n < 1000) return `${n < 10 && unit !== "B" ? n.toFixed(1) : n.toFixed(0)} ${unit}`;
    n /= 1000;
  }
  return `${n.toFixed(1)} GB`;
}

export function timeText(ns) {
  if (ns < 0) return "";
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(2)} s`;
}

/** The reader's time of day, with milliseconds. */
export function clockText(ms) {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return "";
  const two = (n) => String(n).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

export const numberText = (n) => (typeof n === "number" && !Number.isInteger(n) ? String(Number(n.toPrecision(6))) : String(n));

export function cell(row, text, kind) {
  const td = row.insertCell();
  td.textContent = text;
  if (kind) td.className = kind;
  return td;
}

/** A row for each list of texts; those from `firstNumber` on are numbers. */
export function fillTable(body, rows, firstNumber) {
  body.replaceChildren();
  for (const texts of rows) {
    const row = body.insertRow();
    texts.forEach((text, i) => cell(row, text, i >= firstNumber ? "number" : ""));
  }
}
