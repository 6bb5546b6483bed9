// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "cardan/observer_report.hpp"

namespace cardan::detail {

/// A service that has a server, as that describes it.
struct FoundService {
  std::string name;
  PublisherReport server{};  ///< of its card: its subscribers are the clients
  struct Side {
    std::string type{};
    std::uint64_t layout = 0;
    std::string schema{};  ///< ros2msg text; empty: not known
    std::uint64_t max_bytes = 0;
  };
  Side question{}, answer{};
  std::uint32_t pending = 0;

  /// Otherwise the server has ended meanwhile, or its card is malformed.
  [[nodiscard]] bool is_described() const noexcept { return !question.type.empty(); }
  /// Its server is of this user or of root. Any user can serve any name.
  [[nodiscard]] bool is_ours() const noexcept;
};

/// "/map/region" of its card.
[[nodiscard]] std::string service_of(const std::string& card);
/// Reads the card of a server that look_around() has found. Blocks, at most `timeout`.
[[nodiscard]] FoundService read_card(const std::string& domain, const PublisherReport& server,
                                     std::chrono::nanoseconds timeout);

}  // namespace cardan::detail
