// SPDX-License-Identifier: Apache-2.0
// The unit of a field: of a standard message as docs/messages.md has it, else as the definition's comment says
// ("float64 speed # [m/s]"), else as the name ends.

const KNOWN = new Map(
  Object.entries({
    "std_msgs/Header stamp": "s",
    "rosgraph_msgs/Clock clock": "s",
    "geometry_msgs/Point x": "m",
    "geometry_msgs/Point y": "m",
    "geometry_msgs/Point z": "m",
    "geometry_msgs/Transform translation": "m",
    "geometry_msgs/Twist linear": "m/s",
    "geometry_msgs/Twist angular": "rad/s",
    "sensor_msgs/Imu angular_velocity": "rad/s",
    "sensor_msgs/Imu linear_acceleration": "m/s²",
    "sensor_msgs/NavSatFix latitude": "°",
    "sensor_msgs/NavSatFix longitude": "°",
    "sensor_msgs/NavSatFix altitude": "m",
    "vision_msgs/Detection2D center_x": "px",
    "vision_msgs/Detection2D center_y": "px",
    "vision_msgs/Detection2D size_x": "px",
    "vision_msgs/Detection2D size_y": "px",
    "vision_msgs/Detection2D theta": "rad",
    "vision_msgs/Detection3D size": "m",
  }),
);
const ENDS = { ns: "ns", us: "µs", ms: "ms", s: "s", m: "m", mm: "mm", mps: "m/s", m_s: "m/s", kmh: "km/h", rad: "rad", deg: "°", hz: "Hz", bytes: "B", percent: "%", v: "V", a: "A", w: "W", celsius: "°C", pa: "Pa", n: "N", nm: "Nm" };
const LONGEST = 12; // letters of a unit out of a comment

/** "": not known. `comment`: of the field's line. */
export function unitOf(type, field, comment = "") {
  const known = KNOWN.get(`${type} ${field}`);
  if (known !== undefined) return known;
  const said = /\[([^\]]+)\]/.exec(comment)?.[1].trim() ?? "";
  if (said && said.length <= LONGEST) return said;
  const end = /_(m_s|[a-z]+)$/.exec(field)?.[1];
  return end !== undefined && Object.hasOwn(ENDS, end) ? ENDS[end] : "";
}
