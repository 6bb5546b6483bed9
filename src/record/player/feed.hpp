// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/record/player/message_form.hpp"
#include "src/record/player/simulate.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::record {

/// Publishes recorded messages of a topic inside a runtime that has no transport. One thread.
class Feed {
 public:
  /// `reader`: an input that reads the topic.
  Feed(std::string topic, const detail::ComponentCore::Declared& reader, MessageForm form);

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  /// The most recorded bytes of a message. Before open().
  void expect(std::uint64_t recorded_bytes);
  /// Of static transforms: places of these frames are left out. Has no effect on other types. Before open().
  void leave_out(const std::vector<config::FrameTransform>& transforms);
  /// Throws Error (NoMemory, Limit).
  void open(Runtime& runtime);
  /// Messages that cannot be published are counted. `shift`: as for source_time_of().
  void push(const mcap::Message& message, std::int64_t shift);

  [[nodiscard]] SimulatedTopic report() const;

 private:
  void push_native(const mcap::Message& message, std::int64_t shift);
  void push_encoded(const mcap::Message& message, std::int64_t shift);
  void failed(std::string why);

  std::string topic_;
  detail::PayloadType type_;
  detail::RemoteSource::Convert convert_;  ///< from an encoded sample to one of an object
  MessageForm form_;
  std::size_t payload_bytes_ = 0;
  std::shared_ptr<detail::OutputCore> out_;
  std::set<std::string, std::less<>> left_out_;  ///< frames
  std::uint64_t messages_ = 0, failed_ = 0;
  std::string failure_;
};

}  // namespace cardan::record
