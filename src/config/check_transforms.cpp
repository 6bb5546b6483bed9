// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cardan/messages/transforms.hpp"
#include "src/config/check_parts.hpp"

namespace cardan::config {
namespace {

class TransformCheck {
 public:
  TransformCheck(const Configuration& configuration, ProblemList& problems) : c_(configuration), problems_(problems) {}

  void check() {
    if (c_.transforms.size() > kMaxTransforms)
      problems_.error(c_.transforms[kMaxTransforms].pointer,
                      fmt::format("the file has more than {} transforms", kMaxTransforms),
                      "leave some out: a tree of frames has 1,024 at most, with those that move");
    for (const FrameTransform& t : c_.transforms) {
      rotation(t);
      numbers(t, "xyz", 3);
      frames(t);
    }
    circles();
    if (!c_.transforms.empty()) topic();
  }

 private:
  static std::string subject(const FrameTransform& t) {
    return t.child.empty() ? "a transform" : fmt::format("frame '{}'", t.child);
  }

  [[nodiscard]] bool names_are_right(const FrameTransform& t) const {
    return !problems_.was_wrong(t.pointer) && !problems_.was_wrong(t.pointer + "/parent") &&
           !problems_.was_wrong(t.pointer + "/child");
  }

  void frames(const FrameTransform& t) {
    if (!names_are_right(t)) return;
    if (t.parent == t.child)
      return problems_.error(t.pointer + "/child", fmt::format("{} is its own parent", subject(t)),
                             "write the frame in which its place is given as 'parent'");
    const auto [first, fresh] = of_child_.emplace(t.child, &t);
    if (fresh) return;
    const FrameTransform& other = *first->second;
    const std::string where = c_.source.line(c_.source.value(other.pointer));
    const bool same = other.parent == t.parent;
    problems_.error(
        t.pointer,
        same ? fmt::format("{} has two places in '{}' (also in {})", subject(t), t.parent, where)
             : fmt::format("{} has two parents, '{}' and '{}' (in {})", subject(t), t.parent, other.parent, where),
        same ? "remove one of them, or rename one of the frames"
             : "remove one of them: a frame has one parent, and is found from all other frames over it");
  }

  /// Each circle once: at the place that closes it, the last one in the text.
  void circles() {
    std::map<const FrameTransform*, int> seen;  // by the frame from which it was first reached
    int from = 0;
    for (const auto& [child, start] : of_child_) {
      ++from;
      const FrameTransform* t = start;
      while (t != nullptr && seen.emplace(t, from).second) t = parent_of(*t);
      if (t != nullptr && seen[t] == from) circle(*t);
    }
  }

  [[nodiscard]] const FrameTransform* parent_of(const FrameTransform& t) const {
    const auto found = of_child_.find(t.parent);
    return found != of_child_.end() ? found->second : nullptr;
  }

  void circle(const FrameTransform& any) {
    const FrameTransform* last = &any;
    for (const FrameTransform* t = parent_of(any); t != &any; t = parent_of(*t)) last = std::max(last, t);
    std::vector<std::string> way{last->child};
    for (const FrameTransform* t = last; t != nullptr && way.size() <= kMaxShown; t = parent_of(*t)) {
      way.push_back(t->parent);
      if (t->parent == last->child) break;
    }
    if (way.size() > kMaxShown) way.emplace_back("…");
    problems_.error(last->pointer,
                    fmt::format("the frames '{}' are parents of each other in a circle", fmt::join(way, "' → '")),
                    "remove one of these transforms: one frame of them has no parent here");
  }

  /// True: it is there, and right.
  bool numbers(const FrameTransform& t, const char* key, std::size_t count) {
    const std::string at = join(t.pointer, key);
    if (!problems_.stands(at) || problems_.was_wrong(at)) return false;
    std::size_t there = 0;
    for (std::string element = at + "/0"; c_.source.values.contains(element);
         element = fmt::format("{}/{}", at, ++there))
      if (problems_.was_wrong(element)) return false;
    if (there == count) return true;
    problems_.error(at, fmt::format("'{}' of {} has {} numbers, not {}", key, subject(t), there, count),
                    count == 4 ? "write [x, y, z, w]" : "write [x, y, z]");
    return false;
  }

  void rotation(const FrameTransform& t) {
    const std::string rpy = t.pointer + "/rpy", quaternion = t.pointer + "/quaternion";
    if (problems_.stands(rpy) && problems_.stands(quaternion))
      problems_.error_in_key(quaternion, fmt::format("{} has 'rpy' and 'quaternion'", subject(t)),
                             "remove one of them: both say how it is turned");
    numbers(t, "rpy", 3);
    if (!numbers(t, "quaternion", 4)) return;
    const Quaternion& q = t.place.rotation;
    const double length = std::hypot(std::hypot(q.x, q.y), std::hypot(q.z, q.w));
    if (!is_length_1(length))
      problems_.error(quaternion, fmt::format("'quaternion' of {} has the length {:.4g}, not 1", subject(t), length),
                      "write the quaternion of a rotation, [x, y, z, w], with 4 digits or more");
  }

  /// The file's settings of the topic on which `cardan run` publishes them.
  void topic() {
    const auto found = c_.topics.find(kStaticTransforms.name);
    if (found == c_.topics.end() || !found->second.process_private.value_or(false)) return;
    problems_.error(found->second.pointer + "/private",
                    fmt::format("topic '{}' is private, but cardan run publishes the transforms of the file on it",
                                kStaticTransforms.name),
                    "write \"private\": false, or remove it");
  }

  static constexpr std::size_t kMaxShown = 10;  ///< frames of a circle

  const Configuration& c_;
  ProblemList& problems_;
  std::map<std::string, const FrameTransform*> of_child_;  ///< the first of each child
};

}  // namespace

void check_transforms(const Configuration& configuration, ProblemList& problems) {
  TransformCheck(configuration, problems).check();
}

}  // namespace cardan::config
