// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "cardan/context.hpp"
#include "cardan/detail/atomic.hpp"
#include "demo/sensors/timeline.hpp"

namespace cardan::street {

/// The folder that a driver keeps step with, from its parameters.
inline Beside beside_of(Context& context, const char* other, const char* what) {
  const auto folder = context.parameter(other, std::string(),
                                        {.description = std::string(what) + ", in step with this one", .fixed = true});
  const auto origin = context.parameter(
      "origin_ns", std::int64_t{0},
      {.description = "steady clock, ns, when the playback of folders starts; 0: any time", .fixed = true});
  return {.folder = *folder, .origin = *origin};
}

/// The thread of a sensor's driver, which blocks in the sensor and so cannot be a callback. Its exception becomes the
/// component's exception: the rule of the configuration (`on_exception`) applies.
class Driver {
 public:
  using Stopping = std::function<bool()>;

  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { stop(); }

  /// Begins when all components have started: `drive(stopping)` runs until `stopping()` says so. In on_start().
  void begin_with(Context& context, std::function<void(const Stopping&)> drive) {
    context.timer(kLook,
                  [this, drive = std::move(drive)] {
                    if (!thread_.joinable()) thread_ = std::thread([this, drive] { run(drive); });
                    if (failed_.exchange(false)) std::rethrow_exception(failure_);
                  },
                  {.name = "driver"});
  }
  /// Blocks until the thread has ended: as long as the sensor takes for a frame. In on_stop().
  void stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }

 private:
  static constexpr std::chrono::milliseconds kLook{50};
  void run(const std::function<void(const Stopping&)>& drive) {
    try {
      drive([this] { return stopping_.load(std::memory_order_relaxed); });
    } catch (...) {
      failure_ = std::current_exception();
      failed_.store(true);
    }
  }

  std::thread thread_;
  Atomic<bool> stopping_{false}, failed_{false};
  std::exception_ptr failure_;
};

}  // namespace cardan::street
