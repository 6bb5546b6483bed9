// SPDX-License-Identifier: Apache-2.0
// DDS messages as CDR bytes, without a type known at compile time. With packets.cpp and half_received.cpp, wire.cpp
// alone uses Cyclone's internal interfaces, which differ between its versions.
#pragma once

#include <dds/dds.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/cdr_reader.hpp"
#include "cardan/detail/atomic.hpp"
#include "src/bridge/dds/entity.hpp"
#include "src/bridge/dds/inbox.hpp"

namespace cardan::bridge::dds {

/// A message on its way out: CDR bytes with their header of four bytes, in pieces that stay where they are.
struct WireMessage {
  std::array<std::span<const std::byte>, 3> pieces{};
  std::shared_ptr<const void> keep{};  ///< what the pieces point into
  std::int64_t source_ns = 0;          ///< wall clock
};

/// Cyclone's work on the messages of one topic, on its own threads.
struct SendTally {
  Atomic<std::uint64_t> held{0};      ///< messages that it still keeps
  Atomic<std::uint64_t> gathered{0};  ///< bytes that were copied, because a fragment lies in two pieces
  Atomic<bool> wanted{false};         ///< `released` is called when it lets go of one, once
  std::function<void()> released{};   ///< must not block or throw
};

/// A DDS topic whose type is only a name.
struct WireTopic {
  Entity topic{};
  const struct ddsi_sertype* type = nullptr;  ///< lives as long as the topic
};
/// `inbox`: where its readers' messages go; null for a topic that is only written. `name` and `type_name` are DDS's.
/// Throws Error (System).
[[nodiscard]] WireTopic make_topic(dds_entity_t participant, const std::string& name, const std::string& type_name,
                                   std::shared_ptr<Inbox> inbox);

/// A message for Cyclone, with all memory that sending it takes. Null: no memory; nothing has been counted then.
[[nodiscard]] struct ddsi_serdata* new_message(const WireTopic& topic, WireMessage message,
                                               std::shared_ptr<SendTally> tally) noexcept;
/// Sends a message. Returns Cyclone's code; DDS_RETCODE_OUT_OF_RESOURCES: there is no memory for it. Blocks for the
/// system calls that send it, and as the writer's reliability says.
[[nodiscard]] dds_return_t write(dds_entity_t writer, const WireTopic& topic, WireMessage message,
                                 std::shared_ptr<SendTally> tally);

/// A message that came in.
class Received {
 public:
  Received(struct ddsi_serdata* data, const dds_sample_info_t& info);
  Received(Received&& other) noexcept : data_(std::exchange(other.data_, nullptr)), info_(other.info_) {}
  Received& operator=(Received&&) = delete;
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received();

  /// Bytes with the header of four; at least these. 0: it is a change of state, not data.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Of an inbox that copies.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// Of any; `room` holds the list. Throws bad_alloc.
  [[nodiscard]] CdrPieces pieces(std::vector<std::span<const std::byte>>& room) const;
  [[nodiscard]] std::int64_t source_ns() const noexcept { return info_.source_timestamp; }
  /// The instance handle of its writer.
  [[nodiscard]] dds_instance_handle_t writer() const noexcept { return info_.publication_handle; }

 private:
  struct ddsi_serdata* data_;
  dds_sample_info_t info_;
};
/// Takes what has come in, at most `most`. Throws Error (System), and bad_alloc; nothing is taken then.
[[nodiscard]] std::vector<Received> take(dds_entity_t reader, std::uint32_t most);

}  // namespace cardan::bridge::dds
