// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_publisher.hpp"
#include "cardan/any_type.hpp"
#include "cardan/detail/atomic.hpp"
#include "src/bridge/counts.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge {

/// The memory that the publishers of all incoming topics may occupy together: rules may let in names without end, each
/// with its largest message. Any thread; no function blocks.
class IncomingMemory {
 public:
  explicit IncomingMemory(std::uint64_t most_bytes) noexcept : most_(most_bytes) {}
  /// One for all topics of this process: a quarter of the computer's memory, and at least 1 GiB.
  [[nodiscard]] static const std::shared_ptr<IncomingMemory>& of_process();

  /// Returns false if there is less.
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
  void give_back(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes); }
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }

 private:
  const std::uint64_t most_;
  Atomic<std::uint64_t> used_{0};
};

/// Part of it, which is given back with this object.
class IncomingShare {
 public:
  IncomingShare() = default;
  IncomingShare(std::shared_ptr<IncomingMemory> memory, std::uint64_t bytes) noexcept
      : memory_(std::move(memory)), bytes_(bytes) {}
  IncomingShare(IncomingShare&& other) noexcept = default;
  IncomingShare& operator=(IncomingShare&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~IncomingShare() {
    if (memory_) memory_->give_back(bytes_);
  }

 private:
  std::shared_ptr<IncomingMemory> memory_;
  std::uint64_t bytes_ = 0;
};

struct IncomingOptions {
  std::string domain{};
  std::string via{};  ///< networks that the messages came through (PublisherOptions::via)
  Access access = Access::Owner;
  std::uint32_t depth = 10;  ///< of the publisher, if the rule says none; fewer of large messages
  bool latched = false;      ///< late subscribers get the last `depth` messages, also after its room has grown
  std::shared_ptr<IncomingMemory> memory = IncomingMemory::of_process();
};

/// One topic that comes in. Its publisher exists from the first message on, with room for messages twice as large as
/// the largest one so far: what nobody sends costs no memory.
/// A function that throws bad_alloc has delivered nothing; the next message may fit.
/// Thread safety: one thread. No function blocks, except that a reliable publish waits for reliable subscribers.
class IncomingTopic {
 public:
  /// `beyond`: the name on the other side. `name`: on this computer. Throws Error (Refused): it is a topic of Cardan's
  /// own.
  IncomingTopic(std::string beyond, std::string name, AnyType type, TopicRule rule, IncomingOptions options);

  /// Publishes a message in CDR with its header of four bytes. `source_ns`: the sender's stamp (wall clock), or 0.
  /// Returns false if it was refused or there was no room; counts() and note() say why.
  bool deliver(std::span<const std::byte> cdr, std::int64_t source_ns) {
    return deliver(CdrPieces(&cdr, 1), source_ns);
  }
  /// The same from bytes in pieces. Each byte is copied once, from its piece into the publisher's slot.
  bool deliver(CdrPieces cdr, std::int64_t source_ns);
  void lost(std::uint64_t messages = 1) noexcept { counts_.lost += messages; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& beyond() const noexcept { return beyond_; }
  [[nodiscard]] const AnyType& type() const noexcept { return type_; }
  [[nodiscard]] std::size_t subscribers() const { return now_.publisher ? now_.publisher->subscribers() : 0; }
  [[nodiscard]] TopicCounts counts() const noexcept { return counts_; }
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  bool make_room(std::size_t cdr_bytes);
  bool refuse(std::string why);

  const std::string beyond_, name_;
  const AnyType type_;
  const TopicRule rule_;
  const IncomingOptions options_;
  struct Room {
    IncomingShare share{};  ///< given back after the publisher
    std::unique_ptr<AnyPublisher> publisher{};
  };
  Room now_;
  /// Of a latched topic, with less room: late subscribers still get what these published. Each has less than half the
  /// room of the next.
  std::vector<Room> earlier_;
  std::size_t room_ = 0;     ///< payload bytes of a message
  std::uint32_t depth_ = 0;  ///< of the publisher
  std::int64_t due_ns_ = 0;
  TopicCounts counts_;
  std::string note_;
};

}  // namespace cardan::bridge
