// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cardan/detail/atomic.hpp"
#include "src/transport/discovery/service_parts.hpp"
#include "src/transport/endpoint/hand_over.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

/// One client of a service, as its server sees it. Questions keep it.
struct ServedCaller {
  using Gid = std::array<std::uint8_t, 16>;
  ServedCaller(CallerNumber its_number, uid_t its_uid, std::shared_ptr<PublisherCore> its_answers,
               std::size_t its_bytes, const Gid& its_gid = {})
      : number(its_number), uid(its_uid), answers(std::move(its_answers)), bytes(its_bytes), gid(its_gid) {}
  ServedCaller(const ServedCaller&) = delete;
  ServedCaller& operator=(const ServedCaller&) = delete;
  virtual ~ServedCaller() = default;

  const CallerNumber number;
  const uid_t uid;
  const std::shared_ptr<PublisherCore> answers;  ///< only this client can attach to it
  const std::size_t bytes;                       ///< the most memory that it can make us commit
  const Gid gid;            ///< names the client in the service's events, for as long as it is served
  std::mutex publishing{};  ///< answers are published by one thread at a time
  Atomic<bool> gone{false};
  /// By question, modulo their number: the last one that the client has cancelled.
  std::array<Atomic<std::uint64_t>, handshake::kMostPending> cancelled{};

  [[nodiscard]] bool has_cancelled(std::uint64_t sequence) const noexcept {
    return gone.load(std::memory_order_acquire) ||
           cancelled[sequence % cancelled.size()].load(std::memory_order_acquire) == sequence;
  }

  // Of a client in the same simulation, which no server has admitted:
  /// Where its answers go.
  [[nodiscard]] virtual HandOver here() noexcept { return {}; }
  virtual void declined(std::uint64_t sequence, const std::string& why) { (void)sequence, (void)why; }
};

}  // namespace cardan::detail
