// SPDX-License-Identifier: Apache-2.0
// `cardan tf check`: finds what is wrong with the transforms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "apps/tf/tf.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kStaleFrameNs = 1'000'000'000;

struct TreeFound {
  std::string root;
  std::size_t frames = 0;
};

/// By root.
std::vector<TreeFound> trees_of(const HeardTransforms& heard) {
  const std::size_t n = heard.frames.size();
  std::vector<std::size_t> frames(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t at = i;
    for (std::size_t steps = 0; steps < n; ++steps) {
      const std::size_t parent = heard.index_of(heard.frames[at].frame.parent);
      if (parent == n) break;
      at = parent;
    }
    ++frames[at];
  }
  std::vector<TreeFound> trees;
  for (std::size_t i = 0; i < n; ++i)
    if (frames[i] != 0) trees.push_back({heard.frames[i].frame.name, frames[i]});
  return trees;
}

std::vector<const FrameReport*> stale_of(const HeardTransforms& heard) {
  std::vector<const FrameReport*> stale;
  for (const auto& [frame, rate] : heard.frames)
    if (!frame.is_static && !frame.parent.empty() && heard.end.steady - frame.last_arrival > kStaleFrameNs)
      stale.push_back(&frame);
  return stale;
}

std::string text_of_trees(const std::vector<TreeFound>& trees) {
  constexpr std::size_t kMost = 16;
  std::vector<std::string> roots;
  for (const TreeFound& tree : trees) {
    if (roots.size() == kMost) break;
    roots.push_back(fmt::format("'{}' ({})", printable(tree.root), number_of(tree.frames, "frame")));
  }
  if (trees.size() > kMost) roots.push_back(fmt::format("{} more", trees.size() - kMost));
  return fmt::format("{} trees, with the roots {} — publish the place of each root but one in a frame of another tree",
                     trees.size(), fmt::join(roots, ", "));
}

ordered_json tf_check_json(const HeardTransforms& heard, const std::vector<TreeFound>& trees,
                           const std::vector<const FrameReport*>& stale, bool ok) {
  ordered_json of_trees = ordered_json::array();
  for (const TreeFound& tree : trees) of_trees.push_back({{"root", tree.root}, {"frames", tree.frames}});
  ordered_json silent = ordered_json::array();
  for (const FrameReport* frame : stale)
    silent.push_back({{"frame", frame->name},
                      {"parent", frame->parent},
                      {"publisher", frame->publisher},
                      {"silent_ms", static_cast<double>(heard.end.steady - frame->last_arrival) / 1e6}});
  return {{"ok", ok},
          {"frames", heard.frames.size()},
          {"trees", of_trees},
          {"problems", tf_problems_json(heard.problems)},
          {"stale", silent}};
}

}  // namespace

int tf_check(const TfCheckOptions& o) {
  stop_on_signals();
  const HeardTransforms heard = listen_to_transforms(o.domain, o.timeout);
  const std::vector<TreeFound> trees = trees_of(heard);
  const std::vector<const FrameReport*> stale = stale_of(heard);
  const bool ok = heard.problems.empty() && trees.size() == 1 && stale.empty();
  if (o.json && !emit(one_line(tf_check_json(heard, trees, stale, ok)) + "\n")) return kFailed;
  if (heard.frames.empty()) return no_transforms(o.domain, o.timeout, heard.problems);
  if (o.json) return ok ? kOk : kFailed;
  if (ok) return emit(fmt::format("ok: {} in one tree\n", number_of(heard.frames.size(), "frame"))) ? kOk : kFailed;
  for (const TransformProblem& problem : heard.problems) warn(tf_problem_text(problem));
  if (trees.size() > 1) warn(text_of_trees(trees));
  for (const FrameReport* frame : stale) {
    const double silent = static_cast<double>(heard.end.steady - frame->last_arrival);
    warn(fmt::format("no new place of frame '{}' in '{}' came for {}: {} published it — see `cardan topic stats {}`",
                     printable(frame->name), printable(frame->parent), time_text(silent), printable(frame->publisher),
                     kTransforms.name));
  }
  return kFailed;
}

}  // namespace cardan::apps
