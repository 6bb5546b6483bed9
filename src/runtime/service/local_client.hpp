// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/runtime/executor/runtime_clock.hpp"
#include "src/runtime/service/service_callback.hpp"
#include "src/transport/service/asked_table.hpp"
#include "src/transport/service/asking_end.hpp"

namespace cardan::detail {

/// The asking end of a service in a simulation: questions and answers are slots of this process, and nothing waits.
class LocalClient final : public AskingEnd {
 public:
  struct Parts {
    std::string service;
    MessageType question, answer;
    ServiceOptions options;
    /// The callback that serves it now; null: none.
    std::function<ServiceCallback*()> server;
    /// Called when a question has ended.
    std::function<void()> ended;
  };
  /// Throws Error as the constructor of a publisher.
  LocalClient(Parts parts, const RuntimeClock& clock);
  ~LocalClient() override;

  LoanedSlot loan() noexcept override;
  AskedQuestion ask(Filled filled, std::int64_t deadline_ns) noexcept override;
  void cancel(std::uint64_t number) noexcept override;
  [[nodiscard]] bool has_server() const noexcept override { return parts_.server() != nullptr; }
  [[nodiscard]] std::string why_not_asked(NoAnswer reason) const override { return text_of(reason); }
  Done next_done(std::int64_t now) override;
  [[nodiscard]] std::int64_t next_deadline() const noexcept override;

 private:
  class Caller;
  [[nodiscard]] SampleBlock* published_here(PublisherCore& core, int slot) const noexcept;
  void forget(const AskedTable::Asked& one) noexcept;

  const Parts parts_;
  const RuntimeClock& clock_;
  std::shared_ptr<PublisherCore> questions_;
  std::shared_ptr<Caller> caller_;
  mutable std::mutex mutex_;
  AskedTable asked_;
};

}  // namespace cardan::detail
