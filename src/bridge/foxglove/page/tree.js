// SPDX-License-Identifier: Apache-2.0
// A message's values as a tree that stays as the reader has folded it.

const LONGEST = 16; // elements of a list

function leafText(value) {
  if (ArrayBuffer.isView(value)) {
    const first = Array.from(value.subarray(0, LONGEST), numberText).join(", ");
    return `[${first}${value.length > LONGEST ? ", …" : ""}]  (${value.length})`;
  }
  return typeof value === "string" ? JSON.stringify(value) : numberText(value);
}
const numberText = (n) => (typeof n === "number" && !Number.isInteger(n) ? String(Number(n.toPrecision(9))) : String(n));
const isLeaf = (value) => typeof value !== "object" || value === null || ArrayBuffer.isView(value);

/** [depth, path, key, text or null] of each line. */
export function lines(message, depth = 0, path = "") {
  const all = [];
  const entries = Array.isArray(message) ? message.slice(0, LONGEST).map((v, i) => [`[${i}]`, v]) : Object.entries(message);
  for (const [key, value] of entries) {
    const here = `${path}/${key}`;
    if (isLeaf(value)) {
      all.push([depth, here, key, leafText(value)]);
    } else {
      const count = Array.isArray(value) ? ` (${value.length})` : "";
      all.push([depth, here, key + count, null], ...lines(value, depth + 1, here));
    }
  }
  return all;
}

const folded = new Set();

export function showTree(root, message) {
  const all = lines(message);
  const form = all.map(([, path, , text]) => path + (text === null ? "+" : "")).join("\n");
  if (root.dataset.form === form) {
    const texts = all.filter(([, , , text]) => text !== null);
    root.querySelectorAll(".value").forEach((span, i) => {
      if (span.textContent !== texts[i][3]) span.textContent = texts[i][3];
    });
    return;
  }
  root.dataset.form = form;
  root.replaceChildren();
  const parents = [root];
  for (const [depth, path, key, text] of all) {
    parents.length = depth + 1;
    const name = document.createElement(text === null ? "summary" : "span");
    name.className = "key";
    name.textContent = text === null ? key : `${key}: `;
    const line = document.createElement(text === null ? "details" : "div");
    line.append(name);
    if (text === null) {
      line.open = !folded.has(path);
      line.ontoggle = () => (line.open ? folded.delete(path) : folded.add(path));
      parents.push(line);
    } else {
      const value = document.createElement("span");
      value.className = "value";
      value.textContent = text;
      line.append(value);
    }
    parents[depth].append(line);
  }
}
