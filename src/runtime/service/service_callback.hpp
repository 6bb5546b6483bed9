// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/executor/callback.hpp"
#include "src/runtime/executor/group.hpp"
#include "src/transport/service/server_core.hpp"

namespace cardan::detail {

/// A service of a component: the questions that wait, and the callback that is called for each. One that is overdue or
/// cancelled when its turn comes is not delivered, and counts as unanswered.
class ServiceCallback final : public Callback, public Watched {
 public:
  using Call = std::function<void(TakenQuestion&&)>;

  ServiceCallback(std::string name, Group& group, Strand& strand, int priority, std::uint32_t holds, Call call)
      : Callback(std::move(name), group, strand, priority), call_(std::move(call)), ring_(holds + 1) {}
  ~ServiceCallback() override { clear(); }

  /// Questions of all processes come from there. Set-up.
  void serve(std::shared_ptr<ServerCore> core) noexcept { core_ = std::move(core); }
  /// Null: those of its simulation only.
  [[nodiscard]] const std::shared_ptr<ServerCore>& core() const noexcept { return core_; }
  /// A question of its simulation. Allocates.
  void push(TakenQuestion&& question);
  /// Drops the questions that wait: their clients are told.
  void clear() noexcept;
  [[nodiscard]] std::uint32_t capacity() const noexcept { return static_cast<std::uint32_t>(ring_.size()); }

  // Watched:
  [[nodiscard]] SubscriberCore& subscriber() const noexcept override { return core_->questions(); }
  [[nodiscard]] bool has_work() noexcept override;
  void drain(QuietOffer& offer) noexcept override;
  [[nodiscard]] std::size_t streams() const noexcept override { return 16; }  // one for each client

  [[nodiscard]] const SampleBlock* trigger() const noexcept override { return picked_.question.block; }

 private:
  struct Entry {
    TakenQuestion question{};
    std::int64_t deadline_ns = 0;  ///< of the component's clock; 0: none
    std::int64_t arrived_ns = 0;
  };
  void put(TakenQuestion&& question, std::int64_t now) noexcept;
  [[nodiscard]] Entry pop() noexcept;
  void show_queued() noexcept { statistics().queued.store(count_, std::memory_order_relaxed); }
  [[nodiscard]] bool pending() const noexcept override { return count_ != 0; }
  void pick(std::int64_t now) noexcept override;
  void invoke() override;

  Call call_;
  std::shared_ptr<ServerCore> core_;
  std::vector<Entry> ring_;  // with the group's lock, as the next two
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  Entry picked_;
};

}  // namespace cardan::detail
