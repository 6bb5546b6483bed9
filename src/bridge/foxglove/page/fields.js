// SPDX-License-Identifier: Apache-2.0
// The numbers of a message type, by its definition.
import { resolve } from "./cdr.js";
import { OWN } from "./names.js";
import { unitOf } from "./units.js";

const NUMBERS = /^(bool|byte|char|u?int(8|16|32|64)|float(32|64))$/;
const TIMES = ["builtin_interfaces/Time", "builtin_interfaces/Duration"];
const MOST = 400; // fields of a type
const DEEPEST = 8;
const ELEMENTS = 8; // of a list of fixed length; of another, the first

/** [{name, path, unit}], by the names of names.js: a path's elements are names, indices, "#" for a list's length, or "s"
    for seconds of a time. */
export function numericFields(schema) {
  const all = [];
  const add = (name, path, unit) => all.length < MOST && all.push({ name, path, unit });
  // A unit holds for all that is within its field: "angular_velocity" for its x, y and z.
  const visit = (type, name, path, depth, unit) => {
    if (NUMBERS.test(type)) return add(name, path, unit);
    if (type === "ns" || TIMES.includes(type)) return add(`${name} (s)`, [...path, { as: "s" }], "s");
    if (depth > DEEPEST || all.length >= MOST) return;
    const own = OWN.get(type)?.fields.map(([field, inner]) => ({ name: field, type: inner, list: null, isOwn: true }));
    for (const field of own ?? schema.types.get(type) ?? []) {
      const [under, way] = [name ? `${name}.${field.name}` : field.name, [...path, field.name]];
      const inner = field.isOwn ? field.type : resolve(schema, field.type, type);
      const its = unitOf(type, field.name, field.comment) || unit;
      if (field.list === null) {
        visit(inner, under, way, depth + 1, its);
        continue;
      }
      const count = field.list === "sequence" ? 1 : Math.min(field.list, ELEMENTS);
      for (let i = 0; i < count; ++i) visit(inner, `${under}[${i}]`, [...way, i], depth + 1, its);
      if (field.list === "sequence") add(`${under}.length`, [...way, { as: "#" }], "");
    }
  };
  visit(schema.root, "", [], 0, "");
  return all;
}

/** The number at a path; NaN: no number (an empty list). */
export function valueAt(message, path) {
  let value = message;
  for (const step of path) {
    if (value === undefined || value === null) return NaN;
    if (step.as === "#") return value.length;
    if (step.as === "s") return typeof value === "bigint" ? Number(value) / 1e9 : value.sec + value.nanosec / 1e9;
    value = value[step];
  }
  return value === undefined ? NaN : Number(value);
}
