// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/projection.hpp"

#include <algorithm>
#include <cmath>

#include "cardan/transform_math.hpp"

namespace cardan::street {
namespace {

constexpr double kNear = 0.1;  // m ahead of the camera; a point at its back would appear upside down

/// A point before the division by its depth w: an edge can be cut there, because all three are linear along it.
struct Ray {
  double u, v, w;
};

Ray ray_of(const ProjectionMatrix& p, const cardan::Point& at) noexcept {
  const auto row = [&](std::size_t first) {
    return p[first] * at.x + p[first + 1] * at.y + p[first + 2] * at.z + p[first + 3];
  };
  return {row(0), row(4), row(8)};
}

Ray between(const Ray& a, const Ray& b, double share) noexcept {
  return {a.u + (b.u - a.u) * share, a.v + (b.v - a.v) * share, a.w + (b.w - a.w) * share};
}

/// False: all of it is nearer than that, or at the back of the camera.
bool cut_at_near_plane(Ray& a, Ray& b) noexcept {
  if (!(a.w >= kNear) && !(b.w >= kNear)) return false;
  if (a.w < kNear) a = between(a, b, (kNear - a.w) / (b.w - a.w));
  if (b.w < kNear) b = between(b, a, (kNear - b.w) / (a.w - b.w));
  return true;
}

/// The part of a line that is in the picture (Liang and Barsky). False: none.
bool cut_at_edges(PictureLine& line, double width, double height) noexcept {
  const double dx = line.x1 - line.x0, dy = line.y1 - line.y0;
  double begin = 0, end = 1;
  const auto cut = [&](double along, double room) {  // keeps the part where along * share <= room
    if (along == 0) return room >= 0;
    if (along < 0)
      begin = std::max(begin, room / along);
    else
      end = std::min(end, room / along);
    return begin <= end;
  };
  if (!cut(-dx, line.x0) || !cut(dx, width - line.x0) || !cut(-dy, line.y0) || !cut(dy, height - line.y0)) return false;
  const auto inside = [](double value, double most) { return std::clamp(value, 0.0, most); };  // of rounding
  line = {inside(line.x0 + begin * dx, width), inside(line.y0 + begin * dy, height), inside(line.x0 + end * dx, width),
          inside(line.y0 + end * dy, height)};
  return true;
}

}  // namespace

ProjectionMatrix pinhole(double width, double height, double fov) noexcept {
  const double focal = width / 2 / std::tan(fov / 2);
  return {focal, 0, width / 2, 0, 0, focal, height / 2, 0, 0, 0, 1, 0};
}

std::optional<BoxInPicture> box_in_picture(const Detection3D& box, const Transform& in_camera,
                                           const ProjectionMatrix& projection, double width, double height) noexcept {
  const Transform place = in_camera * Transform{{box.center.position.x, box.center.position.y, box.center.position.z},
                                                box.center.orientation};
  std::array<Ray, 8> corners{};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto side = [&](unsigned axis, double size) { return ((i >> axis) & 1U) != 0 ? size / 2 : -size / 2; };
    const cardan::Point corner{side(0, box.size.x), side(1, box.size.y), side(2, box.size.z)};
    corners[i] = ray_of(projection, place * corner);
    if (!std::isfinite(corners[i].u) || !std::isfinite(corners[i].v) || !std::isfinite(corners[i].w)) return {};
  }
  BoxInPicture found;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    for (const std::size_t axis : {1U, 2U, 4U}) {
      if ((i & axis) != 0) continue;  // each edge once, from its lower corner
      Ray a = corners[i], b = corners[i | axis];
      if (!cut_at_near_plane(a, b)) continue;
      PictureLine line{a.u / a.w, a.v / a.w, b.u / b.w, b.v / b.w};
      if (!std::isfinite(line.x0 + line.y0 + line.x1 + line.y1) || !cut_at_edges(line, width, height)) continue;
      const auto [left, right] = std::minmax(line.x0, line.x1);
      const auto [top, bottom] = std::minmax(line.y0, line.y1);
      const bool first = found.count == 0;
      found.left = first ? left : std::min(found.left, left);
      found.right = first ? right : std::max(found.right, right);
      found.top = first ? top : std::min(found.top, top);
      found.bottom = first ? bottom : std::max(found.bottom, bottom);
      found.lines[found.count++] = line;
    }
  }
  if (found.count == 0) return {};
  return found;
}

}  // namespace cardan::street
