// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cardan/detail/service_end.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/discovery/service_parts.hpp"
#include "src/transport/service/served_caller.hpp"
#include "src/transport/service/service_events.hpp"
#include "src/transport/service/service_statistics.hpp"

namespace cardan::detail {

/// The serving end of a service (docs/protocols/service.md). Its card is a topic that clients find. For each client
/// that asks to be served it has an unlisted publication of answers, and attaches one subscriber to that client's
/// unlisted publication of questions. Thread safety: take() and wait() by one thread at a time, the functions of
/// ServiceDesk by the helper thread, the rest by any.
class ServerCore final : public ServiceDesk, public std::enable_shared_from_this<ServerCore> {
 public:
  ServerCore(const std::string& service, MessageType question, AdoptFunction adopt, MessageType answer,
             const ServiceOptions& options, const ServerOptions& own);
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;
  ~ServerCore();
  /// From now on clients find it. Throws Error (NameTaken).
  void open();
  /// Its clients are told, and their questions fail; another server may come. Questions that are kept keep only its
  /// memory. Nobody takes or waits meanwhile, nor after it.
  void close() noexcept;

  [[nodiscard]] TakenQuestion take() noexcept;
  [[nodiscard]] TakenQuestion wait(std::int64_t deadline_ns) noexcept;
  /// Why the last take() or wait() was empty.
  [[nodiscard]] Reason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }
  [[nodiscard]] SubscriberCore& questions() noexcept { return *questions_; }
  [[nodiscard]] std::size_t clients() const;
  [[nodiscard]] ServiceStatistics& statistics() noexcept { return statistics_; }
  /// Null: it publishes no events.
  [[nodiscard]] ServiceEvents* events() const noexcept { return events_.get(); }
  void decline(CallerNumber number, std::uint64_t sequence, const std::string& why);

  // ServiceDesk:
  std::optional<handshake::Refused> admit(const Caller& caller, handshake::Served& answer) override;
  void caller_gone(CallerNumber number) override;
  void cancelled(CallerNumber number, std::uint64_t sequence) override;
  [[nodiscard]] ServiceReport report() const override { return statistics_.report(); }

 private:
  [[nodiscard]] std::size_t most_bytes() const noexcept;
  [[nodiscard]] std::optional<handshake::Refused> unfit(const Caller& caller) const;
  [[nodiscard]] std::optional<handshake::Refused> other_types(const Caller& caller) const;
  [[nodiscard]] std::optional<handshake::Refused> no_room(const socket::Peer& peer, std::size_t bytes) const;
  [[nodiscard]] std::shared_ptr<ServedCaller> caller_of(std::uint64_t number) const;
  [[nodiscard]] TakenQuestion delivered(SampleBlock* block) noexcept;

  const std::string service_;
  const ServiceOptions options_;
  const MessageType answer_;
  Process& process_;
  std::shared_ptr<PublisherCore> card_;
  const std::unique_ptr<ServiceEvents> events_;
  SubscriberCore* questions_;
  ServiceStatistics statistics_;
  Atomic<Reason> reason_{Reason::None};
  Atomic<bool> closed_{false};
  mutable std::mutex mutex_;
  std::map<CallerNumber, std::shared_ptr<ServedCaller>> callers_;
};

}  // namespace cardan::detail
