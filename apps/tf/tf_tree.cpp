// SPDX-License-Identifier: Apache-2.0
// `cardan tf tree`: draws the tree of frames.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "apps/decode.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/output.hpp"
#include "apps/tf/tf.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

/// A frame, and how many frames are above it.
struct DrawnFrame {
  std::size_t frame, depth;
};

/// Each frame below its parent, by name.
std::vector<DrawnFrame> in_tree_order(const HeardTransforms& heard) {
  const std::size_t n = heard.frames.size();
  std::vector<std::vector<std::size_t>> below(n);
  std::vector<DrawnFrame> open;
  for (std::size_t i = n; i-- > 0;) {
    const std::size_t parent = heard.index_of(heard.frames[i].frame.parent);
    if (parent == n)
      open.push_back({i, 0});
    else
      below[parent].push_back(i);
  }
  std::vector<DrawnFrame> drawn;
  while (!open.empty()) {  // frames may be in a row of 1,024
    const DrawnFrame at = open.back();
    open.pop_back();
    drawn.push_back(at);
    for (const std::size_t child : below[at.frame]) open.push_back({child, at.depth + 1});
  }
  return drawn;
}

/// Deeper frames are not indented further, but say how deep they are: a chain of 1,024 frames is not a page wide.
std::string frame_cell(const std::string& name, std::size_t depth) {
  constexpr std::size_t kDeepest = 24;
  const std::string indent(2 * std::min(depth, kDeepest), ' ');
  std::string cell = indent + (depth > kDeepest ? fmt::format("({}) ", depth) : std::string()) + printable(name);
  if (!stdout_is_terminal()) return cell;
  std::string whole;  // no-break spaces: a table that is too wide breaks cells at spaces, and drops the indentation
  for (const char c : cell) whole += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return whole;
}

std::string frame_age_cell(const FrameReport& frame, const TfMoment& now) {
  const TfAge age = tf_age_of(frame, now);
  return tf_age_text(age.ns) + (age.by_arrival ? " by arrival" : "");
}

ordered_json tf_frame_json(const HeardFrame& heard, const TfMoment& now) {
  const FrameReport& frame = heard.frame;
  ordered_json json{{"name", frame.name}, {"parent", nullptr}};
  if (frame.parent.empty()) return json;
  const Transform& place = frame.place;
  json["parent"] = frame.parent;
  json["is_static"] = frame.is_static;
  json["rate_hz"] = heard.rate < 0 ? ordered_json() : ordered_json(heard.rate);
  if (!frame.is_static) {
    const TfAge age = tf_age_of(frame, now);
    json["stamp_ns"] = frame.newest_stamp;
    json["age_ms"] = static_cast<double>(age.ns) / 1e6;
    json["age_by"] = age.by_arrival ? "arrival" : "stamp";
  }
  json["received"] = frame.received;
  json["publisher"] = frame.publisher;
  json["translation"] = {{"x", place.translation.x}, {"y", place.translation.y}, {"z", place.translation.z}};
  json["rotation"] = {
      {"x", place.rotation.x}, {"y", place.rotation.y}, {"z", place.rotation.z}, {"w", place.rotation.w}};
  return json;
}

bool print_tree_json(const HeardTransforms& heard) {
  ordered_json frames = ordered_json::array();
  for (const HeardFrame& one : heard.frames) frames.push_back(tf_frame_json(one, heard.end));
  return emit(one_line({{"frames", frames}, {"problems", tf_problems_json(heard.problems)}}) + "\n");
}

bool print_tree(const HeardTransforms& heard) {
  Table table({{"FRAME"}, {"RATE Hz", true}, {"AGE", true}, {"PUBLISHER"}});
  for (const auto& [index, depth] : in_tree_order(heard)) {
    const auto& [frame, rate] = heard.frames[index];
    const std::string name = frame_cell(frame.name, depth);
    const std::string publisher = printable(frame.publisher);
    if (frame.parent.empty())
      table.row({name, "", "", ""});
    else if (frame.is_static)
      table.row({name, "static", "", publisher});
    else
      table.row({name, rate < 0 ? "-" : count_text(rate), frame_age_cell(frame, heard.end), publisher});
  }
  return emit(table.shown());
}

}  // namespace

int tf_tree(const TfTreeOptions& o) {
  if (o.names && nothing_runs_yet()) return kOk;
  stop_on_signals();
  const HeardTransforms heard = listen_to_transforms(o.domain, o.timeout);
  if (o.names) {
    std::string text;
    for (const HeardFrame& one : heard.frames) text += printable(one.frame.name) + "\n";
    return emit(text) ? kOk : kFailed;
  }
  if (o.json && !print_tree_json(heard)) return kFailed;
  if (heard.frames.empty()) return no_transforms(o.domain, o.timeout, heard.problems);
  if (!o.json && !print_tree(heard)) return kFailed;
  warn_of_tf_problems(heard.problems);
  return kOk;
}

}  // namespace cardan::apps
