// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/codec.hpp"
#include "cardan/detail/atomic.hpp"
#include "src/runtime/executor/port.hpp"

namespace cardan::detail {

class PublisherCore;

inline constexpr std::size_t kMaxPorts = 64;  ///< bits of LastSamples::readers

class Channel;
class LastSamples;
/// Called for each sample just before its readers, on the thread that publishes it.
using Tap = std::function<void(const Channel& channel, const SampleBlock& sample)>;

/// A topic inside one process: publishers put samples straight into the queues of the readers.
class Channel {
 public:
  /// `tap`: null, or what outlives the channel; must not throw.
  Channel(std::string topic, PayloadType type, const Tap* tap = nullptr)
      : topic_(std::move(topic)), type_(std::move(type)), tap_(tap) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const PayloadType& type() const noexcept { return type_; }

  /// Pushes a sample of an output to its `readers`. Any thread; allocates nothing.
  void deliver(SampleBlock& block, std::int64_t now, const LastSamples& output) noexcept;
  /// Whether anybody here reads, or listens to all that is published.
  [[nodiscard]] bool read_here() const noexcept {
    return ports_end_.load(std::memory_order_acquire) != 0 || tap_ != nullptr;
  }

  // Set-up; any thread.
  /// The port is given the last samples of each output, up to its queue's length, then the new ones. It drops and
  /// counts samples that do not fit. Throws Error (Limit, NoMemory), std::bad_alloc. Blocks while one is being
  /// published; publishers do not wait for each other.
  void add(Port& port);
  void remove(Port& port) noexcept;  ///< after it returns, no thread pushes to the port any more
  /// An output: what it keeps for inputs that come later, and whose slots that are; null: objects of this process.
  void add(LastSamples& last, const std::shared_ptr<PublisherCore>& publisher);
  void remove(const LastSamples& last, const std::shared_ptr<PublisherCore>& publisher) noexcept;
  void forget(const LastSamples& last) noexcept;     ///< later inputs get nothing from it
  [[nodiscard]] std::uint32_t held_at_most() const;  ///< samples that all inputs together can hold
  [[nodiscard]] std::vector<Port*> ports() const;

 private:
  std::string topic_;
  PayloadType type_;
  const Tap* tap_;
  Atomic<std::uint32_t> ports_end_{0};
  Atomic<std::uint32_t> inside_{0};  ///< threads that look at the table
  std::array<Atomic<Port*>, kMaxPorts> table_{};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<PublisherCore>> publishers_;
  struct Source {
    LastSamples* last;
    bool ended;  ///< its component: a later input is given only what is published from then on
  };
  void enter(Port& port, std::size_t place);
  std::vector<Source> outputs_;
};

}  // namespace cardan::detail
