// SPDX-License-Identifier: Apache-2.0
// Orders from one `cardan record` to another: an ordinary topic of the domain.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cardan::apps {

/// "pause", "resume", "split", "trigger", "stop"
[[nodiscard]] const std::vector<std::string>& record_actions();

/// Tells every recorder of the domain. False: no recorder runs. Throws Error. Blocks, at most two seconds.
bool tell_recorders(const std::string& domain, const std::string& action);

/// The recorder's ear. Throws Error.
class RecordControl {
 public:
  explicit RecordControl(const std::string& domain);
  RecordControl(const RecordControl&) = delete;
  RecordControl& operator=(const RecordControl&) = delete;
  ~RecordControl();
  /// The next action that was ordered. Does not block.
  [[nodiscard]] std::optional<std::string> next();

 private:
  struct Ear;
  std::unique_ptr<Ear> ear_;
};

}  // namespace cardan::apps
