// SPDX-License-Identifier: Apache-2.0
// The numbers of a message type, by its definition.
import { resolve } from "./cdr.js";

const NUMBERS = /^(bool|byte|char|u?int(8|16|32|64)|float(32|64))$/;
const TIMES = ["builtin_interfaces/Time", "builtin_interfaces/Duration"];
const MOST = 400; // fields of a type
const DEEPEST = 8;
const ELEMENTS = 8; // of a list of fixed length; of another, the first

/** [{name, path}]: a path's elements are names, indices, "#" for a list's length, or "s" for seconds of a time. */
export function numericFields(schema) {
  const all = [];
  const add = (name, path) => all.length < MOST && all.push({ name, path });
  const visit = (type, name, path, depth) => {
    if (NUMBERS.test(type)) return add(name, path);
    if (TIMES.includes(type)) return add(`${name} (s)`, [...path, { as: "s" }]);
    if (depth > DEEPEST || all.length >= MOST) return;
    for (const field of schema.types.get(type) ?? []) {
      const [under, way] = [name ? `${name}.${field.name}` : field.name, [...path, field.name]];
      const inner = resolve(schema, field.type, type);
      if (field.list === null) {
        visit(inner, under, way, depth + 1);
        continue;
      }
      const count = field.list === "sequence" ? 1 : Math.min(field.list, ELEMENTS);
      for (let i = 0; i < count; ++i) visit(inner, `${under}[${i}]`, [...way, i], depth + 1);
      if (field.list === "sequence") add(`${under}.length`, [...way, { as: "#" }]);
    }
  };
  visit(schema.root, "", [], 0);
  return all;
}

/** The number at a path; NaN: there is none (an empty list). */
export function valueAt(message, path) {
  let value = message;
  for (const step of path) {
    if (value === undefined || value === null) return NaN;
    if (step.as === "#") return value.length;
    if (step.as === "s") return value.sec + value.nanosec / 1e9;
    value = value[step];
  }
  return value === undefined ? NaN : Number(value);
}
