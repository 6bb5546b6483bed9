// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/detail/atomic.hpp"

namespace cardan::detail {

class PublisherCore;

/// Waits until the recorders of this user have attached to those of `outputs` (announced until `announced_ns`, steady
/// clock) that they record, so that they have the first sample too. At once if no recorder runs; at most `limit` if
/// a recorder does not attach. False: no recorder runs. Set-up; blocks.
bool await_recorders(const std::string& domain, const std::vector<std::shared_ptr<PublisherCore>>& outputs,
                     std::int64_t announced_ns, std::chrono::nanoseconds limit);

/// Holds back the first publication of each output until the recorders have attached to it, while components start:
/// what on_start() publishes, or a thread of theirs. Any thread.
class RecorderGate {
 public:
  /// All outputs together wait for `limit` at most, from now on.
  void shut(std::string domain, std::chrono::nanoseconds limit);
  /// No one waits any more.
  void open() noexcept { open_.store(true, std::memory_order_release); }
  /// Of an output that was announced then (steady clock). Blocks.
  void pass(const std::shared_ptr<PublisherCore>& output, std::int64_t announced_ns) noexcept;

 private:
  Atomic<bool> open_{true};
  std::mutex mutex_;
  std::string domain_;
  std::chrono::nanoseconds left_{0};
};

}  // namespace cardan::detail
