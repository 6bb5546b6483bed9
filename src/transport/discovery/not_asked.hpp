// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "src/base/recent_set.hpp"
#include "src/transport/discovery/run_directory.hpp"

namespace cardan::detail {

class SubscriberCore;

/// A publication, for one subscriber that may attach to it.
struct Offer {
  const SubscriberCore* subscriber = nullptr;
  std::string process{};
  std::uint32_t serial = 0;
  friend auto operator<=>(const Offer&, const Offer&) = default;
  static Offer of(const SubscriberCore& subscriber, const TopicEntry& entry) {
    return {&subscriber, entry.process, entry.serial};
  }
};

/// The publications that are not requested again: they were refused, or are not accepted. Those that were refused for
/// lack of room are requested again later. Helper thread only.
class Declined {
 public:
  void insert(const Offer& offer) { all_.insert(offer); }
  void insert_for_now(const Offer& offer, std::int64_t now);
  [[nodiscard]] bool contains(const Offer& offer) const { return all_.contains(offer); }
  /// When some are due again (steady clock, ns); 0: none is.
  [[nodiscard]] std::int64_t due_at() const noexcept { return due_at_; }
  void release_due(std::int64_t now);
  void forget(const SubscriberCore& subscriber);

 private:
  static constexpr std::size_t kRemembered = 4096;
  RecentSet<Offer> all_{kRemembered};
  std::set<Offer> for_now_;
  std::int64_t due_at_ = 0;
};

/// The processes that could not be reached, or that hung up although they live: each is tried again at growing
/// intervals. Helper thread only.
class Tries {
 public:
  static constexpr std::int64_t kFirst = 100'000'000;  ///< ns until a process is tried again for the first time
  static constexpr std::int64_t kLongest = 5'000'000'000;

  /// Notes a failure. Returns the nanoseconds until the process may be tried again.
  std::int64_t failed(const std::string& process, std::int64_t first, std::int64_t now);
  /// The nanoseconds until it may be tried; 0: now.
  [[nodiscard]] std::int64_t wait_for(const std::string& process, std::int64_t now) const;
  void forget(const std::string& process) { all_.erase(process); }

 private:
  struct Try {
    std::int64_t at = 0;
    std::int64_t delay = 0;
  };
  std::map<std::string, Try> all_;
};

}  // namespace cardan::detail
