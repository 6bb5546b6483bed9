// SPDX-License-Identifier: Apache-2.0
// `cardan tf echo`: prints where a frame is in another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "apps/tf/tf.hpp"
#include "cardan/clock.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

/// With `decimals`, and never "-0.00". A publisher may say any number, also those of 300 digits.
std::string tf_number(double value, int decimals) {
  if (std::abs(value) >= 1e9) return fmt::format("{:.6g}", value);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text.starts_with('-') ? text.substr(1) : text;
}

class TfEcho {
 public:
  explicit TfEcho(const TfEchoOptions& o) : o_(o), transforms_(options_of(o)) {}

  int run() {
    const std::int64_t period = std::llround(1e9 / o_.rate);
    const bool only_one = o_.once || o_.at != kNewest;
    std::int64_t next = 0;
    for (std::uint64_t shown = 0;;) {
      const FoundTransform found = wait();
      if (!found) return not_known(found);
      if (!(o_.json ? print_json(found) : print(found))) return kFailed;
      if (++shown == o_.count || only_one || stopping()) return kOk;
      const std::int64_t now = steady_now();
      next = std::max(next == 0 ? now + period : next + period, now);  // a slow reader is not made up for
      if (!sleep_for(std::chrono::nanoseconds(next - now))) return kOk;
    }
  }

 private:
  static TransformsOptions options_of(const TfEchoOptions& o) {
    TransformsOptions options;
    options.log_problems = false;
    options.domain = o.domain;
    return options;
  }

  FoundTransform wait() {
    const FoundTransform found = transforms_.lookup(o_.target, o_.source, o_.at);
    if (found) return found;
    show_progress(fmt::format("waiting for '{}' in '{}'", printable(o_.source), printable(o_.target)));
    return transforms_.wait(o_.target, o_.source, o_.at, std::chrono::nanoseconds(std::llround(o_.timeout * 1e9)));
  }

  int not_known(const FoundTransform& found) const {
    if (o_.json && !emit(one_line({{"target", o_.target},
                                   {"source", o_.source},
                                   {"translation", nullptr},
                                   {"rotation", nullptr},
                                   {"reason", to_string(found.reason())}}) +
                         "\n"))
      return kFailed;
    if (transforms_.frames().empty() && !stopping())
      return no_transforms(o_.domain, o_.timeout, transforms_.problems());
    warn_of_tf_problems(transforms_.problems());  // a refused place may be the cause
    warn(found.text());
    return kFailed;
  }

  static Vector3 degrees(const Quaternion& rotation) {
    const Vector3 rpy = to_rpy(rotation);
    constexpr double kDegrees = 180 / std::numbers::pi;
    return {rpy.x * kDegrees, rpy.y * kDegrees, rpy.z * kDegrees};
  }

  [[nodiscard]] bool print_json(const FoundTransform& found) const {
    const auto& [v, q] = *found;
    const Vector3 rpy = degrees(q);
    const TfMoment now = tf_now();
    const bool has_age = found.stamp() != 0 && is_wall_stamp(found.stamp(), now);
    return emit(one_line({{"target", o_.target},
                          {"source", o_.source},
                          {"is_static", found.stamp() == 0},
                          {"stamp_ns", found.stamp()},
                          {"age_ms", has_age ? ordered_json(static_cast<double>(now.wall - found.stamp()) / 1e6)
                                             : ordered_json()},
                          {"translation", {{"x", v.x}, {"y", v.y}, {"z", v.z}}},
                          {"rotation", {{"x", q.x}, {"y", q.y}, {"z", q.z}, {"w", q.w}}},
                          {"rpy_deg", {{"roll", rpy.x}, {"pitch", rpy.y}, {"yaw", rpy.z}}}}) +
                "\n");
  }

  [[nodiscard]] bool print(const FoundTransform& found) const {
    const auto& [v, q] = *found;
    const Vector3 rpy = degrees(q);
    const TfMoment now = tf_now();
    std::string head = fmt::format("--- {} in {}, ", printable(o_.source), printable(o_.target));
    if (found.stamp() == 0)
      head += "static";
    else if (!is_wall_stamp(found.stamp(), now))
      head += fmt::format("stamp {}", found.stamp());  // of another clock, such as a recording's
    else
      head += fmt::format("stamp {}, {}", found.stamp(), age(now.wall - found.stamp()));
    return emit(fmt::format(
        "{}\n"
        "  translation  x {}  y {}  z {}  m\n"
        "  rotation     x {}  y {}  z {}  w {}\n"
        "  angles       roll {}  pitch {}  yaw {}  deg\n",
        head, tf_number(v.x, 4), tf_number(v.y, 4), tf_number(v.z, 4), tf_number(q.x, 5), tf_number(q.y, 5),
        tf_number(q.z, 5), tf_number(q.w, 5), tf_number(rpy.x, 3), tf_number(rpy.y, 3), tf_number(rpy.z, 3)));
  }

  static std::string age(std::int64_t ns) { return tf_age_text(ns) + (ns < 0 ? "" : " ago"); }

  const TfEchoOptions& o_;
  Transforms transforms_;
};

}  // namespace

int tf_echo(const TfEchoOptions& o) {
  stop_on_signals();
  return TfEcho(o).run();
}

}  // namespace cardan::apps
