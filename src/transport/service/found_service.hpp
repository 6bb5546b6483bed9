// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cardan/any_type.hpp"
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
    /// Throws Error (Incompatible): its memory layout is not known here.
    [[nodiscard]] AnyType any_type() const;
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
/// "pkg/srv/Map" of a question "pkg/srv/Map_Request" and an answer "pkg/srv/Map_Response", which may also be below
/// "msg". Empty: these are not the names of a service of ROS 2.
[[nodiscard]] std::string ros_service_type(std::string_view question, std::string_view answer);
/// Reads the card of a server that look_around() has found. Blocks, at most `timeout`.
[[nodiscard]] FoundService read_card(const std::string& domain, const PublisherReport& server,
                                     std::chrono::nanoseconds timeout);

}  // namespace cardan::detail
