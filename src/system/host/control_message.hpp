// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/message.hpp"
#include "cardan/topic.hpp"

namespace cardan::host {

/// A request to the hosts of a domain, or a part of an answer: JSON text.
struct ControlMessage {
  std::uint64_t asker = 0;   ///< a random number that the asker chose
  std::uint32_t number = 0;  ///< of its requests
  std::uint32_t part = 0;    ///< of an answer that is longer than a message, from 0
  std::uint32_t parts = 1;
  shm::string host;  ///< the process that answers, or must (its name in the run directory); empty in a request: all
  shm::string text;
};
CARDAN_MESSAGE(ControlMessage, "cardan_msgs/msg/Control", asker, number, part, parts, host, text);

/// Text of one message; a longer answer travels in parts, so that an idle host commits no memory for it.
inline constexpr std::size_t kControlText = 16384;
inline constexpr TopicOptions kControlOptions{
    .max_bytes = kControlText + 1024, .depth = 16, .reliable = true, .reliable_timeout = std::chrono::seconds{1}};

/// Requests: clients publish, hosts subscribe.
inline constexpr Topic<ControlMessage> kControl{"/cardan/control", kControlOptions};
/// Answers: hosts publish, clients subscribe. Its publishers are the hosts of the domain.
inline constexpr Topic<ControlMessage> kAnswers{"/cardan/answers", kControlOptions};

}  // namespace cardan::host
