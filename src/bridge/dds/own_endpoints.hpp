// SPDX-License-Identifier: Apache-2.0
// Endpoints for the bridge's own messages and answers on DDS, in addition to the topics that it carries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/bridge/dds/participant.hpp"
#include "src/bridge/dds/qos.hpp"
#include "src/bridge/dds/wire.hpp"

namespace cardan::bridge::dds {

/// Messages that wait, of a service's ends.
inline constexpr std::uint32_t kReplyDepth = 10;     ///< as rmw_qos_profile_services_default
inline constexpr std::uint32_t kRequestDepth = 128;  ///< those of one client push out no others'

inline constexpr std::size_t kCdrHead = 4;  ///< bytes before the fields

/// In rmw_cyclonedds's form, a request and its reply have these between the CDR header and the fields: the numbers of
/// the client and of the request.
using CallHead = std::array<std::byte, 16>;
struct Call {
  CallHead head{};
  std::vector<std::byte> cdr{};  ///< without the head
};
/// Empty: it is too short. Throws std::bad_alloc.
[[nodiscard]] std::optional<Call> split_call(std::span<const std::byte> message);
/// The message for both. `cdr` has at least its header. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> joined_call(const CallHead& head, std::span<const std::byte> cdr);

/// Writes messages of the bridge's own. One thread; does not block, except for the system calls that send.
class OwnWriter {
 public:
  /// `topic`, `type`: as on DDS. Throws Error (System).
  OwnWriter(const Participant& participant, const std::string& topic, const std::string& type, const EndpointQos& qos);
  /// Returns false if it could not be sent.
  bool send(std::vector<std::byte> cdr);
  /// Readers on DDS.
  [[nodiscard]] std::uint32_t readers() const;
  [[nodiscard]] const Guid& guid() const noexcept { return guid_; }

 private:
  WireTopic topic_;
  Entity writer_;
  Guid guid_{};
};

/// Reads messages for the bridge itself, from whomever. One thread; does not block.
class OwnReader {
 public:
  /// As OwnWriter's. `most_bytes`: larger messages are refused.
  OwnReader(const Participant& participant, const std::string& topic, const std::string& type, const EndpointQos& qos,
            std::uint64_t most_bytes);
  [[nodiscard]] std::vector<Received> take(std::uint32_t most) { return dds::take(reader_.get(), most); }
  /// Whose writer sent it; zeros: unknown, it has gone.
  [[nodiscard]] Guid participant_of(const Received& one) const;
  /// Counts since the call before.
  [[nodiscard]] std::uint64_t take_refused() noexcept { return inbox_->take_refused(); }
  [[nodiscard]] std::uint64_t take_lost() noexcept { return inbox_->take_lost(); }
  [[nodiscard]] const Guid& guid() const noexcept { return guid_; }

 private:
  std::shared_ptr<Inbox> inbox_;
  WireTopic topic_;
  Entity reader_;
  Guid guid_{};
};

}  // namespace cardan::bridge::dds
