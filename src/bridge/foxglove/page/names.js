// SPDX-License-Identifier: Apache-2.0
// The fields of messages by the names that C++, Python and `cardan topic echo` use. A few standard messages have other
// names and shapes in ROS, which is what the wire carries.
import { resolve } from "./cdr.js";

const TIME = "builtin_interfaces/Time";
const nanoseconds = ({ sec, nanosec }) => BigInt(sec) * 1_000_000_000n + BigInt(nanosec);

/** Cardan keeps of each detection the hypothesis with the highest score. */
function best(results) {
  let most = { hypothesis: { class_id: "", score: 0 } };
  results.forEach((one, i) => {
    if (i === 0 || one.hypothesis.score > most.hypothesis.score) most = one;
  });
  return most.hypothesis;
}

/** type → {fields: [name, type], make: what the wire has → the same with these names}. "ns": nanoseconds since 1970. */
export const OWN = new Map([
  ["std_msgs/Header", { fields: [["stamp", "ns"], ["frame_id", "string"]], make: (v) => ({ stamp: nanoseconds(v.stamp), frame_id: v.frame_id }) }],
  ["rosgraph_msgs/Clock", { fields: [["clock", "ns"]], make: (v) => ({ clock: nanoseconds(v.clock) }) }],
  [
    "vision_msgs/Detection2D",
    {
      fields: [["label", "string"], ["score", "float64"], ["center_x", "float64"], ["center_y", "float64"], ["theta", "float64"], ["size_x", "float64"], ["size_y", "float64"], ["id", "string"]],
      make: ({ results, bbox, id }) => {
        const { class_id: label, score } = best(results);
        return { label, score, center_x: bbox.center.position.x, center_y: bbox.center.position.y, theta: bbox.center.theta, size_x: bbox.size_x, size_y: bbox.size_y, id };
      },
    },
  ],
  [
    "vision_msgs/Detection3D",
    {
      fields: [["label", "string"], ["score", "float64"], ["center", "geometry_msgs/Pose"], ["size", "geometry_msgs/Vector3"], ["id", "string"]],
      make: ({ results, bbox, id }) => {
        const { class_id: label, score } = best(results);
        return { label, score, center: bbox.center, size: bbox.size, id };
      },
    },
  ],
]);

/** The decoded message of a schema, with these names. A definition that has one of the types' names and other fields
    stays as it is. */
export function named(schema, message) {
  const visit = (type, value) => {
    const own = OWN.get(type);
    if (own) {
      try {
        return own.make(value);
      } catch {
        // Another definition of that name.
      }
    }
    const fields = schema.types.get(type);
    if (!fields || type === TIME) return value;
    const all = {};
    for (const field of fields) {
      const [inner, one] = [resolve(schema, field.type, type), value[field.name]];
      all[field.name] = Array.isArray(one) ? one.map((v) => visit(inner, v)) : visit(inner, one);
    }
    return all;
  };
  return visit(schema.root, message);
}

/** The bridge's description of a picture or of points. */
export const namedHead = ({ header, ...rest }) => ({ header: OWN.get("std_msgs/Header").make(header), ...rest });
