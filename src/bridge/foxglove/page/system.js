// SPDX-License-Identifier: Apache-2.0
// The system of `cardan run`: states, processes, components and their parameters.
import { TROUBLE } from "./overview.js";
import { bytesText, clockText, fillTable, numberText, timeText } from "./text.js";

const $ = (id) => document.getElementById(id);
const percent = (n) => (n === undefined ? "" : `${n.toFixed(0)} %`);

export class System {
  #rows = new Map(); // parameter → {input, parameter, answer: what became of a change}
  #waiting = new Map(); // request → parameter
  #form = "";
  #requests = 0;

  constructor(session) {
    this.session = session;
  }

  get #may() {
    return this.session.metadata["cardan.set_parameters"] === "yes";
  }

  /** `seen`: as compare() of look.js has it. */
  show(system, { cpu, memory, programs, problems, services }) {
    const components = system.components ?? [];
    const processes = [...(system.processes ?? [])];
    // Programs that nobody started with `cardan run` use the computer, too.
    const listed = new Set(processes.map((p) => p.pid));
    for (const [pid, name] of programs) if (!listed.has(pid)) processes.push({ system: "", name, state: "", pid, restarts: "" });
    const all = [...new Set([...(system.problems ?? []), ...problems])];
    if (!components.length && !system.processes?.length) all.push("Nothing runs that `cardan run` started. Programs of their own have no states and no parameters.");
    if (!this.#waiting.size) this.#say(all.join(" "));
    this.#showStates(system.changes ?? []);
    fillTable($("processes"), processes.map((p) => [p.system, p.name, p.state, p.pid || "", percent(cpu.get(p.pid)), memory.has(p.pid) ? bytesText(memory.get(p.pid)) : "", p.restarts]), 3);
    fillTable(
      $("components"),
      components.map((c) => {
        const sum = (name) => c.callbacks.reduce((total, b) => total + b[name], 0);
        const longest = c.callbacks.reduce((a, b) => (b.p99_ns > a.p99_ns ? b : a), { p50_ns: -1, p99_ns: -1 });
        return [c.name, c.process, c.state, sum("calls"), sum("failures"), sum("lost"), timeText(longest.p50_ns), timeText(longest.p99_ns)];
      }),
      3,
    );
    const chains = components.flatMap((c) => c.chains ?? []);
    $("chains-part").hidden = !chains.length;
    fillTable($("chain-rows"), chains.map((c) => [c.name, c.from, c.to, c.slowest, timeText(c.p50_ns), timeText(c.p99_ns), timeText(c.greatest_ns), c.budget_ns ? timeText(c.budget_ns) : "", c.late]), 4);
    $("services-part").hidden = !services.length;
    fillTable($("service-rows"), services.map((s) => [s.name, s.program, s.clients, s.hz === undefined ? "" : numberText(s.hz), s.answered, s.failed, timeText(s.p50_ns), timeText(s.p99_ns)]), 2);
    this.#showParameters(components.flatMap((c) => c.parameters));
  }

  #showStates(changes) {
    const now = new Map(changes.map((c) => [c.system, c.state]));
    const text = [...now].map(([name, state]) => `${name}: ${state}`).join(", ");
    if ($("now").textContent !== text) $("now").textContent = text;
    $("now").className = [...now.values()].some((state) => TROUBLE.includes(state)) ? "bad" : "";
    $("changes").replaceChildren(
      ...changes.toReversed().map(({ system: name, state, previous, reason, wall_ms }) => {
        const line = document.createElement("li");
        const change = previous === state ? state : `${previous} → ${state}`;
        line.textContent = `${clockText(wall_ms)}  ${name}: ${change}${reason ? ` (${reason})` : ""}`;
        return line;
      }),
    );
  }

  #say(text) {
    if ($("system-note").textContent !== text) $("system-note").textContent = text;
  }

  /** Where the reader looks: at the parameter. It stays until the next change. */
  #tell(name, text, isBad = false) {
    this.#say(text);
    const answer = this.#rows.get(name)?.answer;
    if (!answer) return;
    answer.textContent = text;
    answer.classList.toggle("bad", isBad);
  }

  #showParameters(parameters) {
    $("parameter-note").textContent = !parameters.length ? "The system has no parameters." : this.#may ? "" : "They are shown only. `cardan view --set-parameters` lets this page change them.";
    const form = JSON.stringify([this.#may, parameters.map((p) => [p.name, p.fixed, typeof p.value])]);
    if (form !== this.#form) this.#makeRows(parameters);
    this.#form = form;
    for (const p of parameters) {
      const row = this.#rows.get(p.name);
      row.parameter = p;
      if (row.input === document.activeElement || [...this.#waiting.values()].includes(p.name)) continue;
      this.#showValue(row.input, p.value);
    }
  }
  #showValue(input, value) {
    if (input.type === "checkbox") input.checked = value;
    else if (input.tagName === "OUTPUT") input.textContent = typeof value === "number" ? numberText(value) : Array.isArray(value) ? JSON.stringify(value) : String(value);
    else input.value = Array.isArray(value) ? JSON.stringify(value) : String(value);
  }

  #makeRows(parameters) {
    this.#rows.clear();
    $("parameters").replaceChildren();
    for (const p of parameters) {
      const label = document.createElement("label");
      const name = document.createElement("span");
      name.textContent = p.name;
      const about = document.createElement("small");
      const bounds = p.min !== undefined || p.max !== undefined ? ` (${p.min ?? ""} … ${p.max ?? ""})` : "";
      about.textContent = `${p.description}${bounds}${p.fixed ? " — set by the configuration alone" : ""}`;
      const answer = document.createElement("span");
      answer.className = "answer";
      answer.setAttribute("role", "status");
      label.append(name, this.#makeInput(p), about, answer);
      this.#rows.get(p.name).answer = answer;
      $("parameters").append(label);
    }
  }

  #makeInput(p) {
    const input = document.createElement(this.#may && !p.fixed ? "input" : "output");
    this.#rows.set(p.name, { input, parameter: p });
    if (input.tagName === "OUTPUT") return input;
    input.type = typeof p.value === "boolean" ? "checkbox" : typeof p.value === "number" ? "number" : "text";
    if (input.type === "number") Object.assign(input, { step: p.real ? "any" : "1", min: p.min ?? "", max: p.max ?? "" });
    input.onchange = () => this.#set(p.name, input);
    return input;
  }

  #set(name, input) {
    const { parameter } = this.#rows.get(name);
    let value = input.type === "checkbox" ? input.checked : input.type === "number" ? input.valueAsNumber : input.value;
    if (Array.isArray(parameter.value)) {
      try {
        value = JSON.parse(value);
      } catch {
        this.#say(`${name} was not changed: write a list as [1, 2].`);
        return;
      }
    }
    if (typeof value === "number" && (!Number.isFinite(value) || !input.checkValidity())) {
      this.#tell(name, `${name} was not changed: ${input.validationMessage || "this is not a number."}`, true);
      return;
    }
    const id = `set-${++this.#requests}`;
    this.#waiting.set(id, name);
    this.#tell(name, `${name} is being changed …`);
    const parameters = [{ name, value, ...(parameter.real ? { type: "float64" } : {}) }];
    if (!this.session.send({ op: "setParameters", id, parameters })) this.refused("the bridge is not connected");
  }

  /** The bridge's answer to a change. */
  answered({ id, parameters }) {
    const name = this.#waiting.get(id);
    if (!this.#waiting.delete(id)) return;
    const now = parameters.find((p) => p.name === name);
    this.#tell(name, now ? `${name} is now ${now.value}.` : `${name} is no longer there.`);
    if (now && this.#rows.has(name)) this.#showValue(this.#rows.get(name).input, now.value);
    this.#hold(name); // what comes next may be from before the change
  }
  /** A status: it may be why a change was refused. */
  refused(text, verdict = "Not changed") {
    const asked = [...this.#waiting].filter(([id]) => id.startsWith("set-")); // others have their answer
    if (!asked.length) return;
    for (const [id, name] of asked) {
      this.#waiting.delete(id);
      if (this.#rows.has(name)) this.#showValue(this.#rows.get(name).input, this.#rows.get(name).parameter.value);
      this.#tell(name, `${verdict}: ${text}`, true);
    }
    this.#hold(null);
  }
  /** Keeps the answer, and what the parameter's row shows, for some seconds. */
  #hold(name) {
    const key = `hold-${++this.#requests}`;
    this.#waiting.set(key, name);
    setTimeout(() => this.#waiting.delete(key), 5000);
  }
}
