// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/await_recorders.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/messages/recorder_statistics.hpp"
#include "cardan/observer.hpp"
#include "src/base/socket.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {
namespace {

/// Whether a process subscribes; 0: it is not known which one, and anybody counts.
bool is_read_by(const PublisherCore& output, int pid) {
  bool read = false;
  output.for_each_subscriber([&](const Attached& reader) { read = read || pid == 0 || reader.pid == pid; });
  return read;
}

/// A topic that it had before joins a new publisher by itself, and not by a look.
bool is_attached(const RecorderStatistics& said, int pid, const std::vector<std::shared_ptr<PublisherCore>>& outputs) {
  return std::none_of(outputs.begin(), outputs.end(), [&](const auto& output) {
    return !is_read_by(*output, pid) && std::any_of(said.topics.begin(), said.topics.end(), [&](const auto& recorded) {
      return std::string_view(recorded.topic) == output->topic();
    });
  });
}

}  // namespace

bool await_recorders(const std::string& domain, const std::vector<std::shared_ptr<PublisherCore>>& outputs,
                     std::int64_t announced_ns, std::chrono::nanoseconds limit) {
  if (outputs.empty()) return false;
  bool somebody_records = false;
  const std::int64_t begun = steady_now();
  try {
    const Observer recorders(std::string(kRecorderStatistics.name),
                             {.domain = domain, .timeout = std::chrono::milliseconds{100}});
    for (const auto& recorder : recorders.streams()) {
      if (recorder->peer().uid != ::geteuid()) continue;  // another user's does not hold us up
      somebody_records = true;
      ObservedSample sample;
      while (!recorder->ended() && steady_now() - begun < limit.count()) {
        if (recorder->copy_latest(sample))
          if (const auto* said = sample.as<RecorderStatistics>();
              said == nullptr || (said->looked_ns > announced_ns && is_attached(*said, recorder->peer().pid, outputs)))
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
    }
  } catch (const Error&) {  // a process that cannot be asked is not waited for
  }
  return somebody_records;
}

void RecorderGate::shut(std::string domain, std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  domain_ = std::move(domain);
  left_ = limit;
  open_.store(limit.count() <= 0, std::memory_order_release);
}

void RecorderGate::pass(const std::shared_ptr<PublisherCore>& output, std::int64_t announced_ns) noexcept {
  if (open_.load(std::memory_order_acquire)) return;
  try {
    const std::lock_guard lock(mutex_);
    if (open_.load(std::memory_order_acquire)) return;
    const std::int64_t begun = steady_now();
    const bool somebody_records = await_recorders(domain_, {output}, announced_ns, left_);
    left_ -= std::chrono::nanoseconds{steady_now() - begun};
    if (!somebody_records || left_.count() <= 0) open();
  } catch (const std::exception&) {  // no memory to ask them
  }
}

}  // namespace cardan::detail
