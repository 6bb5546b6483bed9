// SPDX-License-Identifier: Apache-2.0
// The system's state, in one line above every card.
import { bytesText, clockText } from "./text.js";

const $ = (id) => document.getElementById(id);
export const TROUBLE = ["degraded", "safe stop"];
const DOWN = ["given up", "waiting"];

/** {text, isBad} of each thing to know. `system`: /system.json; `seen`: of compare(). */
export function facts(system, seen, topics) {
  const all = [];
  const now = new Map((system.changes ?? []).map((change) => [change.system, change]));
  for (const [name, { state, reason, wall_ms }] of now) {
    const isBad = TROUBLE.includes(state);
    all.push({ text: `${name}: ${state}${isBad && reason ? ` (${reason})` : ""}, since ${clockText(wall_ms).slice(0, 8)}`, isBad, isState: true });
  }
  const processes = system.processes ?? [];
  if (processes.length) {
    const down = processes.filter((p) => p.state !== "running" && !["stopped", "finished"].includes(p.state));
    const restarts = processes.reduce((sum, p) => sum + p.restarts, 0);
    all.push({ text: `${processes.length - down.length} of ${processes.length} processes run`, isBad: down.some((p) => DOWN.includes(p.state)) });
    all.push({ text: `${restarts} restart${restarts === 1 ? "" : "s"}`, isBad: restarts > 0 });
  }
  all.push({ text: `${seen.programs.size} program${seen.programs.size === 1 ? "" : "s"}`, isBad: false });
  let [bytes, lost] = [0, 0];
  for (const figures of seen.topics.values()) {
    bytes += Math.max(0, figures.bytes);
    lost += figures.lost;
  }
  all.push({ text: `${topics} topic${topics === 1 ? "" : "s"}, ${bytesText(bytes)}/s`, isBad: false });
  all.push(lost > 0 ? { text: `${lost.toFixed(1)} messages lost a second`, isBad: true } : { text: "nothing is lost", isBad: false });
  const cpu = [...seen.cpu.values()].reduce((sum, one) => sum + one, 0);
  if (seen.cpu.size) all.push({ text: `CPU ${cpu.toFixed(0)} %`, isBad: false });
  const problems = [...new Set([...(system.problems ?? []), ...seen.problems])];
  for (const text of problems.slice(0, 3)) all.push({ text, isBad: true });
  return all;
}

export function showOverview(system, seen, topics) {
  const all = facts(system, seen, topics);
  const form = JSON.stringify(all);
  if ($("overview").dataset.form === form) return;
  $("overview").dataset.form = form;
  $("overview").replaceChildren(
    ...all.map(({ text, isBad, isState }) => Object.assign(document.createElement("li"), { textContent: text, className: `${isState ? "is-state" : ""}${isBad ? " bad" : ""}` })),
  );
}
