// SPDX-License-Identifier: Apache-2.0
// The log of `cardan run`, topics of ROS 2's log messages, changes of the system's state, and what the bridge says to this
// page.
import { stampOf } from "./boxes.js";
import { clockText } from "./text.js";
import { RUN_LOG } from "./topics.js";

const $ = (id) => document.getElementById(id);
const TYPE = "rcl_interfaces/msg/Log";
const KEPT = 1000; // lines
const NAMES = new Map([[10, "debug"], [20, "info"], [30, "warning"], [40, "error"], [50, "fatal"]]);
const LEVEL = { starting: 20, running: 20, degraded: 30, "safe stop": 40, stopped: 20 };

export class Log {
  #lines = []; // {ms, level, name, text}, the newest last
  #ends = new Map(); // topic → what ends its subscription
  #changes = new Set();
  #drawing = false;
  #known = new Set(); // lines of `cardan run`: a bridge that comes back gives the last ones again

  constructor(session) {
    this.session = session;
    $("log-level").onchange = $("log-filter").oninput = () => this.#draw();
    $("log-form").onsubmit = (event) => event.preventDefault();
    $("log-clear").onclick = () => {
      this.#lines = [];
      this.#draw();
    };
  }

  /** Reads each topic with a log from the start, so that the view has what came before it was shown. */
  channels() {
    for (const { topic, schemaName } of this.session.channels.values()) {
      if (schemaName !== TYPE || this.#ends.has(topic)) continue;
      // A definition may make anything of these fields; other values than texts are refused here, not each time it is drawn.
      const message = ({ at, value }) => (topic === RUN_LOG ? this.#ofRun(value) : this.add(at, Number(value.level), String(value.name), String(value.msg)));
      const end = this.session.subscribe(topic, { message, failed: (text) => this.add(Date.now(), 40, topic, text) });
      this.#ends.set(topic, end);
    }
    const others = [...this.#ends.keys()].filter((topic) => topic !== RUN_LOG);
    $("log-note").textContent = others.length
      ? `From cardan run, ${others.join(", ")} and the bridge.`
      : "From cardan run and the bridge. Topics of the type rcl_interfaces/msg/Log are shown, too.";
  }
  #ofRun({ stamp, level, name, msg }) {
    const key = `${stamp.sec} ${stamp.nanosec} ${name} ${msg}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    if (this.#known.size > KEPT) this.#known.delete(this.#known.values().next().value);
    this.add(Number(stampOf(stamp) / 1000n) / 1000, Number(level), String(name), String(msg));
  }

  /** Changes of the system's state, where its launcher writes no log: else they are lines of it. */
  states(changes) {
    if (this.session.channelOf(RUN_LOG)) return;
    for (const { system, state, previous, reason, wall_ms } of changes ?? []) {
      const key = `${system} ${state} ${previous} ${Math.round(wall_ms / 100)}`;
      if (this.#changes.has(key)) continue;
      this.#changes.add(key);
      this.add(wall_ms, LEVEL[state] ?? 20, system, `${previous === state ? "" : `${previous} → `}${state}${reason ? `: ${reason}` : ""}`);
    }
  }

  add(ms, level, name, text) {
    this.#lines.push({ ms, level, name, text });
    // Sources reach the page at different times.
    for (let i = this.#lines.length - 1; i > 0 && this.#lines[i - 1].ms > ms; --i) [this.#lines[i - 1], this.#lines[i]] = [this.#lines[i], this.#lines[i - 1]];
    if (this.#lines.length > KEPT) this.#lines.shift();
    if (this.#drawing || $("log").hidden) return;
    this.#drawing = true;
    setTimeout(() => this.#draw(), 100); // a flood is drawn ten times a second
  }
  show() {
    this.#draw();
  }

  #draw() {
    this.#drawing = false;
    const least = Number($("log-level").value);
    const words = $("log-filter").value.toLowerCase();
    const fits = (line) => line.level >= least && `${line.name} ${line.text}`.toLowerCase().includes(words);
    $("lines").replaceChildren(
      ...this.#lines.filter(fits).toReversed().map(({ ms, level, name, text }) => {
        const line = document.createElement("li");
        const kind = NAMES.get(level) ?? String(level);
        line.className = NAMES.has(level) ? `level-${kind}` : "";
        line.textContent = `${clockText(ms)}  ${kind}  ${name}: ${text}`;
        return line;
      }),
    );
  }
}
