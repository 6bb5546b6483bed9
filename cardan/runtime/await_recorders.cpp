// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/await_recorders.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/memory/socket.hpp"
#include "cardan/messages/recorder_statistics.hpp"
#include "cardan/transport/observer.hpp"

namespace cardan::detail {
namespace {

/// A topic that it had before joins a new publisher by itself, and not by a look.
bool is_attached(const RecorderStatistics& said, const std::vector<std::shared_ptr<PublisherCore>>& outputs) {
  return std::none_of(outputs.begin(), outputs.end(), [&](const auto& output) {
    return output->subscribers() == 0 && std::any_of(said.topics.begin(), said.topics.end(), [&](const auto& recorded) {
             return std::string_view(recorded.topic) == output->topic();
           });
  });
}

}  // namespace

void await_recorders(const std::string& domain, const std::vector<std::shared_ptr<PublisherCore>>& outputs,
                     std::int64_t announced_ns, std::chrono::nanoseconds limit) {
  if (outputs.empty()) return;
  const std::int64_t begun = steady_now();
  try {
    const Observer recorders(std::string(kRecorderStatistics.name),
                             {.domain = domain, .timeout = std::chrono::milliseconds{100}});
    for (const auto& recorder : recorders.streams()) {
      if (recorder->peer().uid != ::geteuid()) continue;  // another user's does not hold us up
      ObservedSample sample;
      while (!recorder->ended() && steady_now() - begun < limit.count()) {
        if (recorder->copy_latest(sample))
          if (const auto* said = sample.as<RecorderStatistics>();
              said == nullptr || (said->looked_ns > announced_ns && is_attached(*said, outputs)))
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
    }
  } catch (const Error&) {  // who cannot be asked is not waited for
  }
}

}  // namespace cardan::detail
