// SPDX-License-Identifier: Apache-2.0
// DDS messages as CDR bytes, without a type known at compile time: the only file (with wire.cpp) that uses Cyclone's
// internal interfaces. They differ between its versions.
#pragma once

#include <dds/dds.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cardan/base/atomic.hpp"
#include "cardan/bridge/dds/entity.hpp"

namespace cardan::bridge::dds {

/// A message on its way out: CDR bytes with their header of four bytes, in pieces that stay where they are.
struct WireMessage {
  std::array<std::span<const std::byte>, 3> pieces{};
  std::shared_ptr<const void> keep{};  ///< what the pieces point into
  std::int64_t source_ns = 0;          ///< wall clock
};

/// What Cyclone does with the messages of one topic, on threads of its own.
struct SendTally {
  Atomic<std::uint64_t> held{0};      ///< messages that it still keeps
  Atomic<std::uint64_t> gathered{0};  ///< bytes that were copied, because a fragment lies in two pieces
  Atomic<bool> wanted{false};         ///< `released` is called when it lets go of one, once
  std::function<void()> released{};   ///< must not block or throw
};

/// Where Cyclone's receive threads leave messages of one topic. They copy each once, into a buffer that is used again.
/// Thread safety: any thread. No function blocks, except for the time of a copy.
class Inbox {
 public:
  /// `most_bytes`: larger messages are refused.
  explicit Inbox(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  struct Buffer {
    std::unique_ptr<std::byte[]> bytes{};
    std::size_t size = 0, capacity = 0;
  };
  /// Room for a message, or none: it is too large (counted), or memory ran out (counted as lost).
  [[nodiscard]] bool room(std::size_t size, Buffer& buffer) noexcept;
  void give_back(Buffer buffer) noexcept;

  /// From now on messages that nobody takes do not count as lost: their reader is about to go.
  void close() noexcept { closed_.store(true); }
  void not_taken() noexcept {
    if (!closed_.load()) lost_.fetch_add(1);
  }
  void refuse() noexcept { refused_.fetch_add(1); }
  /// Counts since the call before.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return lost_.exchange(0); }
  [[nodiscard]] std::uint64_t take_refused() noexcept { return refused_.exchange(0); }
  [[nodiscard]] std::uint64_t take_copied() noexcept { return copied_.exchange(0); }

 private:
  const std::uint64_t most_bytes_;
  Atomic<bool> closed_{false};
  Atomic<std::uint64_t> lost_{0}, refused_{0}, copied_{0};
  std::mutex mutex_;
  std::vector<Buffer> spare_;
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

/// A message for Cyclone, with all memory that sending it takes. Null: there is none; nothing has been counted then.
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

  /// With its header of four bytes; at least these. Empty: it is a change of state, not data.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  [[nodiscard]] std::int64_t source_ns() const noexcept { return info_.source_timestamp; }
  /// The instance handle of its writer.
  [[nodiscard]] dds_instance_handle_t writer() const noexcept { return info_.publication_handle; }

 private:
  struct ddsi_serdata* data_;
  dds_sample_info_t info_;
};
/// Takes what has come in, at most `most`. Throws Error (System).
[[nodiscard]] std::vector<Received> take(dds_entity_t reader, std::uint32_t most);

}  // namespace cardan::bridge::dds
