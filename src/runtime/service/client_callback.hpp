// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/runtime/executor/callback.hpp"
#include "src/runtime/executor/group.hpp"
#include "src/transport/service/asking_end.hpp"
#include "src/transport/service/client_core.hpp"

namespace cardan::detail {

/// A component's client of a service: for each question a function, which is called once with its outcome, as a
/// callback of the component. Any thread may ask and cancel.
class ClientCallback final : public Callback, public Watched {
 public:
  using Call = std::function<void(Outcome&&)>;

  ClientCallback(std::string name, Group& group, Strand& strand, int priority)
      : Callback(std::move(name), group, strand, priority) {}
  ~ClientCallback() override;

  /// A server of any process. Once; set-up.
  void ask_through(std::shared_ptr<ClientCore> core) noexcept {
    core_ = core.get();
    ask_through(std::shared_ptr<AskingEnd>(std::move(core)));
  }
  /// The server of its simulation. Once; set-up.
  void ask_through(std::shared_ptr<AskingEnd> end) noexcept {
    kept_ = std::move(end);
    end_.store(kept_.get(), std::memory_order_release);  // the component's own threads may ask already
  }
  /// Null: of its simulation.
  [[nodiscard]] const ClientCore* core() const noexcept { return core_; }

  [[nodiscard]] LoanedSlot loan() noexcept {
    AskingEnd* const to = end();
    return to == nullptr ? LoanedSlot() : to->loan();
  }
  /// Returns its number; 0: it could not be asked, and `call` is told why. Allocates.
  std::uint64_t ask(Filled filled, std::chrono::nanoseconds timeout, Call call);
  /// The same for a question that got no slot.
  void fail(Call call);
  /// Its function is not called any more, if it was not yet.
  void cancel(std::uint64_t number);
  [[nodiscard]] bool has_server() const noexcept {
    const AskingEnd* const to = end();
    return to != nullptr && to->has_server();
  }
  /// Offers what is done, and what is overdue, and wakes a worker for it.
  void collect();

  // Watched:
  [[nodiscard]] SubscriberCore& subscriber() const noexcept override { return core_->answers(); }
  [[nodiscard]] bool has_work() noexcept override;
  void drain(QuietOffer& offer) noexcept override;
  [[nodiscard]] std::int64_t due() const noexcept override { return end()->next_deadline(); }

  [[nodiscard]] const SampleBlock* trigger() const noexcept override { return picked_.outcome.block; }

 private:
  struct Waiting {
    std::uint64_t number = 0;
    std::int64_t asked_ns = 0;
    Call call{};
  };
  struct Done {
    std::uint64_t number = 0;
    Outcome outcome{};
    Call call{};
    std::int64_t asked_ns = 0;  ///< 0: it was not
    std::int64_t since_ns = 0;
  };
  /// Null: not yet.
  [[nodiscard]] AskingEnd* end() const noexcept { return end_.load(std::memory_order_acquire); }
  [[nodiscard]] Done next_done();
  void put(Done&& done);
  void report(NoAnswer reason, Call call);
  void show_queued() noexcept;
  [[nodiscard]] bool pending() const noexcept override { return next_ != done_.size(); }
  void pick(std::int64_t now) noexcept override;
  void invoke() override;

  std::shared_ptr<AskingEnd> kept_;
  Atomic<AskingEnd*> end_{nullptr};
  ClientCore* core_ = nullptr;
  std::mutex mutex_;  ///< before the locks of the end and of the group
  std::vector<Waiting> waiting_;
  std::vector<Done> done_;  // with the group's lock, as the next one; without bound: what the component asks in vain
  std::size_t next_ = 0;
  Done picked_;
};

}  // namespace cardan::detail
