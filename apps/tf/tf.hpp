// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cardan/transforms.hpp"

namespace cardan::apps {

struct TfTreeOptions {
  std::string domain;
  bool json = false, names = false;
  double timeout = 1;  ///< seconds to listen
};
struct TfEchoOptions {
  std::string domain, target, source;
  bool json = false, once = false;
  double rate = 1;          ///< per second
  std::uint64_t count = 0;  ///< 0: until Ctrl-C
  double timeout = 5;       ///< seconds to wait for the place
  std::int64_t at = kNewest;
};
struct TfCheckOptions {
  std::string domain;
  bool json = false;
  double timeout = 2;  ///< seconds to listen
};

// Each returns an exit code or throws Error.
int tf_tree(const TfTreeOptions& options);
int tf_echo(const TfEchoOptions& options);
int tf_check(const TfCheckOptions& options);

/// Two clocks at the same moment, nanoseconds.
struct TfMoment {
  std::int64_t steady = 0, wall = 0;
};

struct HeardFrame {
  FrameReport frame;
  double rate = -1;  ///< places per second that came while the command listened; negative: not known
};

/// The result of listening.
struct HeardTransforms {
  std::vector<HeardFrame> frames;  ///< by name
  std::vector<TransformProblem> problems;
  TfMoment end{};

  /// Where the frame is in `frames`; as many as there are: nowhere.
  [[nodiscard]] std::size_t index_of(const std::string& name) const;
};

/// Listens to /tf and /tf_static for this many seconds, or until Ctrl-C. Throws Error as Transforms.
[[nodiscard]] HeardTransforms listen_to_transforms(const std::string& domain, double seconds);

/// Says why no frame is known, and what to do. Returns kFailed.
int no_transforms(const std::string& domain, double seconds, const std::vector<TransformProblem>& problems);

/// Age of a moving frame's newest place.
struct TfAge {
  std::int64_t ns = 0;      ///< negative: its stamp is in the future
  bool by_arrival = false;  ///< its stamp is not of the wall clock
};
[[nodiscard]] TfAge tf_age_of(const FrameReport& frame, const TfMoment& now);
/// Whether a stamp can be of the wall clock: it is at most a day from it.
[[nodiscard]] bool is_wall_stamp(std::int64_t stamp, const TfMoment& now);
/// "12.0 ms", "12.0 ms ahead".
[[nodiscard]] std::string tf_age_text(std::int64_t age_ns);
[[nodiscard]] TfMoment tf_now();
/// With the number of times.
[[nodiscard]] std::string tf_problem_text(const TransformProblem& problem);
/// On standard error, the first ones.
void warn_of_tf_problems(const std::vector<TransformProblem>& problems);
[[nodiscard]] nlohmann::ordered_json tf_problems_json(const std::vector<TransformProblem>& problems);

}  // namespace cardan::apps
