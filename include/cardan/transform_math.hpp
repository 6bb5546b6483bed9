// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "cardan/messages/geometry.hpp"

/// \file
/// Arithmetic with Transform, for code without Eigen (eigen.hpp converts to and from it). Each function: any thread;
/// never blocks, throws or allocates. Quaternions are of length 1, unless it says otherwise.

namespace cardan {

/// First b, then a.
[[nodiscard]] inline Quaternion operator*(const Quaternion& a, const Quaternion& b) noexcept {
  return {.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          .y = a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
          .z = a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
          .w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

/// The opposite rotation.
[[nodiscard]] inline Quaternion inverse(const Quaternion& q) noexcept { return {-q.x, -q.y, -q.z, q.w}; }

/// The vector, rotated.
[[nodiscard]] inline Vector3 rotate(const Quaternion& q, const Vector3& v) noexcept {
  // v + 2 q × (q × v + w v)
  const Vector3 c{q.y * v.z - q.z * v.y + q.w * v.x, q.z * v.x - q.x * v.z + q.w * v.y,
                  q.x * v.y - q.y * v.x + q.w * v.z};
  return {v.x + 2 * (q.y * c.z - q.z * c.y), v.y + 2 * (q.z * c.x - q.x * c.z), v.z + 2 * (q.x * c.y - q.y * c.x)};
}

/// First b, then a: the place of b's child in a's parent, where a's child is b's parent.
[[nodiscard]] inline Transform operator*(const Transform& a, const Transform& b) noexcept {
  const Vector3 moved = rotate(a.rotation, b.translation);
  return {.translation = {a.translation.x + moved.x, a.translation.y + moved.y, a.translation.z + moved.z},
          .rotation = a.rotation * b.rotation};
}

/// The place of the parent in the child.
[[nodiscard]] inline Transform inverse(const Transform& t) noexcept {
  const Quaternion back = inverse(t.rotation);
  const Vector3 moved = rotate(back, t.translation);
  return {.translation = {-moved.x, -moved.y, -moved.z}, .rotation = back};
}

/// A point of the child frame, in coordinates of the parent frame.
[[nodiscard]] inline Point operator*(const Transform& t, const Point& p) noexcept {
  const Vector3 moved = rotate(t.rotation, {p.x, p.y, p.z});
  return {t.translation.x + moved.x, t.translation.y + moved.y, t.translation.z + moved.z};
}

/// From a (share 0) to b (share 1) at constant speed: the translation on a line, the rotation the shorter way round
/// (slerp), as tf2 does it.
[[nodiscard]] inline Transform interpolate(const Transform& a, const Transform& b, double share) noexcept {
  const Vector3 &p = a.translation, &q = b.translation;
  const Quaternion &u = a.rotation, &v = b.rotation;
  const double dot = u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  const double angle = std::acos(std::min(1.0, std::abs(dot)));  // half of the rotation between them
  double of_a = 1 - share, of_b = share;
  if (angle > 1e-7) {  // below that, both are the same to the last digit
    of_a = std::sin((1 - share) * angle) / std::sin(angle);
    of_b = std::sin(share * angle) / std::sin(angle);
  }
  if (dot < 0) of_b = -of_b;
  return {
      .translation = {p.x + (q.x - p.x) * share, p.y + (q.y - p.y) * share, p.z + (q.z - p.z) * share},
      .rotation = {of_a * u.x + of_b * v.x, of_a * u.y + of_b * v.y, of_a * u.z + of_b * v.z, of_a * u.w + of_b * v.w}};
}

/// The rotation by roll, pitch and yaw in radians, about the fixed axes x, y, z in this order (as URDF's `rpy`).
[[nodiscard]] inline Quaternion from_rpy(double roll, double pitch, double yaw) noexcept {
  const double cr = std::cos(roll / 2), sr = std::sin(roll / 2), cp = std::cos(pitch / 2), sp = std::sin(pitch / 2);
  const double cy = std::cos(yaw / 2), sy = std::sin(yaw / 2);
  return {.x = sr * cp * cy - cr * sp * sy,
          .y = cr * sp * cy + sr * cp * sy,
          .z = cr * cp * sy - sr * sp * cy,
          .w = cr * cp * cy + sr * sp * sy};
}

/// Roll, pitch and yaw (x, y, z) of a rotation, in radians; the inverse of from_rpy().
[[nodiscard]] inline Vector3 to_rpy(const Quaternion& q) noexcept {
  const double sine = std::clamp(2 * (q.w * q.y - q.z * q.x), -1.0, 1.0);
  if (std::abs(sine) > 1 - 1e-14)  // roll and yaw are about one axis: all of it is yaw
    return {0, std::asin(sine), std::atan2(2 * (q.w * q.z - q.x * q.y), 1 - 2 * (q.x * q.x + q.z * q.z))};
  return {std::atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y)), std::asin(sine),
          std::atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))};
}

/// Whether all numbers are finite.
[[nodiscard]] inline bool is_finite(const Transform& t) noexcept {
  const Vector3& v = t.translation;
  const Quaternion& q = t.rotation;
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(q.x) && std::isfinite(q.y) &&
         std::isfinite(q.z) && std::isfinite(q.w);
}

/// Whether the rotation is of length 1, as exactly as tf2 asks for it: its square differs by less than 0.01.
[[nodiscard]] inline bool is_rotation(const Quaternion& q) noexcept {
  return std::abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1) < 10e-3;
}

}  // namespace cardan
