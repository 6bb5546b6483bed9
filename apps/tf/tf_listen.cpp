// SPDX-License-Identifier: Apache-2.0
// Listening to /tf and /tf_static, for all of `cardan tf`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "apps/component/others.hpp"
#include "apps/terminal/output.hpp"
#include "apps/tf/tf.hpp"
#include "cardan/clock.hpp"
#include "cardan/observer.hpp"
#include "cardan/stop.hpp"
#include "src/transport/discovery/closed_topics.hpp"

namespace cardan::apps {
namespace {

/// The arrivals of a frame while the command listens. Those before are not counted: a publisher's last places come at
/// once.
class FrameArrivals {
 public:
  explicit FrameArrivals(std::uint64_t before) : before_(before) {}
  void look(const FrameReport& frame) {
    if (frame.received == before_) return;
    if (first_ == 0) {
      first_ = frame.received;
      first_at_ = frame.last_arrival;
    }
    last_ = frame.received;
    last_at_ = frame.last_arrival;
  }
  /// Negative: not known.
  [[nodiscard]] double rate() const {
    if (last_ <= first_ || last_at_ <= first_at_) return -1;
    return static_cast<double>(last_ - first_) * 1e9 / static_cast<double>(last_at_ - first_at_);
  }

 private:
  std::uint64_t before_, first_ = 0, last_ = 0;
  std::int64_t first_at_ = 0, last_at_ = 0;
};

bool is_tf_topic(std::string_view topic) { return topic == kTransforms.name || topic == kStaticTransforms.name; }

}  // namespace

TfMoment tf_now() { return {.steady = steady_now(), .wall = wall_now()}; }

std::size_t HeardTransforms::index_of(const std::string& name) const {
  const auto at = std::lower_bound(frames.begin(), frames.end(), name,
                                   [](const HeardFrame& heard, const auto& of) { return heard.frame.name < of; });
  return at != frames.end() && at->frame.name == name ? static_cast<std::size_t>(at - frames.begin()) : frames.size();
}

HeardTransforms listen_to_transforms(const std::string& domain, double seconds) {
  constexpr std::int64_t kLookNs = 20'000'000;
  TransformsOptions options;
  options.log_problems = false;
  options.domain = domain;
  const Transforms transforms(options);
  const std::int64_t until = steady_now() + std::llround(seconds * 1e9);
  std::map<std::string, FrameArrivals> arrivals;
  for (const FrameReport& frame : transforms.frames()) arrivals.emplace(frame.name, FrameArrivals(frame.received));
  for (std::int64_t left = until - steady_now(); left > 0; left = until - steady_now()) {
    if (!sleep_for(std::chrono::nanoseconds(std::min(left, kLookNs)))) break;
    for (const FrameReport& frame : transforms.frames())
      arrivals.try_emplace(frame.name, FrameArrivals(0)).first->second.look(frame);
  }
  HeardTransforms heard{.frames = {}, .problems = transforms.problems(), .end = tf_now()};
  for (FrameReport& frame : transforms.frames()) {
    const auto at = arrivals.find(frame.name);
    const double rate = frame.is_static || at == arrivals.end() ? -1 : at->second.rate();
    heard.frames.push_back({.frame = std::move(frame), .rate = rate});
  }
  return heard;
}

int no_transforms(const std::string& domain, double seconds, const std::vector<TransformProblem>& problems) {
  for (const TransformProblem& problem : problems) warn(tf_problem_text(problem));
  if (!problems.empty()) {
    warn("no valid transform came — correct these publishers");
    return kFailed;
  }
  DomainReport all = look_around({.domain = domain});
  for (const std::string& problem : all.problems) warn(problem);
  std::erase_if(all.closed, [](const std::string& topic) { return !is_tf_topic(topic); });
  if (!all.closed.empty()) {
    const std::vector<uid_t> users = users_behind(all, domain);
    warn(fmt::format("not open to this user: {}, of {} — set the topics' access, or {}", fmt::join(all.closed, ", "),
                     names_of(users), as_user(users)));
    return kFailed;
  }
  const auto publisher = std::find_if(all.publishers.begin(), all.publishers.end(),
                                      [](const PublisherReport& p) { return is_tf_topic(p.topic); });
  if (publisher != all.publishers.end())
    warn(
        fmt::format("no transform came in {}, although {} (pid {}) publishes {} — increase --timeout, or see `cardan "
                    "topic info {}`",
                    time_text(seconds * 1e9), publisher->program, publisher->pid, publisher->topic, publisher->topic));
  else
    warn(fmt::format("nobody publishes {} or {} in {} — {}", kTransforms.name, kStaticTransforms.name,
                     all.run_directory,
                     why_none({}, "start a program that publishes transforms; check CARDAN_RUN_DIR and the domain.")));
  return kFailed;
}

bool is_wall_stamp(std::int64_t stamp, const TfMoment& now) {
  constexpr std::int64_t kDayNs = 86'400'000'000'000;
  return stamp >= now.wall - kDayNs && stamp <= now.wall + kDayNs;
}

TfAge tf_age_of(const FrameReport& frame, const TfMoment& now) {
  if (is_wall_stamp(frame.newest_stamp, now)) return {.ns = now.wall - frame.newest_stamp};
  return {.ns = now.steady - frame.last_arrival, .by_arrival = true};
}

std::string tf_age_text(std::int64_t age_ns) {
  const std::string text = time_text(std::abs(static_cast<double>(age_ns)));
  return age_ns < 0 ? text + " ahead" : text;
}

std::string tf_problem_text(const TransformProblem& problem) {
  return problem.count > 1 ? fmt::format("{} ({} times)", problem.text, problem.count) : problem.text;
}

void warn_of_tf_problems(const std::vector<TransformProblem>& problems) {
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(problems.size(), kMost); ++i) warn(tf_problem_text(problems[i]));
  if (problems.size() > kMost)
    warn(fmt::format("{} — `cardan tf check` prints all", number_of(problems.size() - kMost, "more problem")));
}

nlohmann::ordered_json tf_problems_json(const std::vector<TransformProblem>& problems) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const TransformProblem& p : problems)
    all.push_back({{"kind", to_string(p.kind)}, {"frame", p.frame}, {"count", p.count}, {"text", p.text}});
  return all;
}

}  // namespace cardan::apps
