// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/system/host/control_client.hpp"
#include "src/transport/trace_observer.hpp"

namespace cardan::bridge::foxglove {

/// The newest frames of each chain, and where their time went, for the page. It traces the domain meanwhile.
/// Thread safety: one thread.
class ChainWatch {
 public:
  explicit ChainWatch(std::string domain) : domain_(std::move(domain)) {}

  /// Switches tracing on, if it is off. Blocks as TraceObserver does. Throws Error as it does.
  [[nodiscard]] std::string json(const host::DomainComponents& components);
  /// Call it often enough that no ring is overwritten; while tracing is off, it does nothing. Does not block.
  void drain();
  /// Switches tracing off.
  void stop() noexcept;

 private:
  void forget();

  std::string domain_;
  std::unique_ptr<detail::TraceObserver> observer_;
  std::vector<detail::TracedEvent> events_;
  detail::TraceRoom room_{.all = 0, .of_others = 0};  ///< forget() makes it
};

}  // namespace cardan::bridge::foxglove
