// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/log_channel.hpp"

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "cardan/cdr_reader.hpp"
#include "src/bridge/log_line.hpp"

namespace cardan::bridge::foxglove {

bool is_log(const LocalTopic& topic) {
  return topic.name == kLog.name && topic.type == message_traits<LogMessage>::type_name();
}

FramePtr log_frame(const OutgoingFrame& line) {
  // The texts are views of what the reader reads: one piece, so that none of them is a copy that the next one replaces.
  const std::vector<std::byte> all = line.cdr.joined();
  CdrReader in{std::span<const std::byte>(all)};
  LogLineView view;
  if (!in.number(view.stamp) || !in.number(view.level) || !in.string(view.process) || !in.string(view.component) ||
      !in.string(view.text))
    return nullptr;
  auto frame = std::make_shared<OutgoingFrame>();
  frame->publish_ns = line.publish_ns;
  frame->steady_ns = line.steady_ns;
  frame->source_ns = view.stamp;
  frame->sequence = line.sequence;
  frame->cdr.prefix = ros_log_line(view);
  return frame;
}

}  // namespace cardan::bridge::foxglove
