// SPDX-License-Identifier: Apache-2.0
// The triggers of an event recording, besides orders: a state of the system, or what happens on a topic.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cardan::apps {

/// Why an event begins.
struct RecordEvent {
  std::string word{};    ///< for the file's name: "safe_stop", "silent", "message", "told"
  std::string reason{};  ///< in words
};

class RecordTrigger {
 public:
  /// Of each: "state=[SYSTEM:]STATE" (the system comes into it), "silent=TOPIC:MS" (after messages, none came for so
  /// long) or "message=TOPIC" (one comes, after a second without any). Throws Error (InvalidArgument), and as
  /// Subscriber and Observer. Set-up.
  RecordTrigger(const std::vector<std::string>& on, const std::string& domain);
  RecordTrigger(const RecordTrigger&) = delete;
  RecordTrigger& operator=(const RecordTrigger&) = delete;
  ~RecordTrigger();

  /// The first event since the last call. Call it often: what comes and goes between two calls is
  /// seen by its time stamps only. One thread; does not block.
  [[nodiscard]] std::optional<RecordEvent> look();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cardan::apps
