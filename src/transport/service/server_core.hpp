// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cardan/detail/service_end.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/discovery/service_parts.hpp"

namespace cardan::detail {

/// One client of a service, as its server sees it. Questions keep it.
struct ServedCaller {
  ServedCaller(CallerNumber its_number, uid_t its_uid, std::shared_ptr<PublisherCore> its_answers,
               std::size_t its_bytes)
      : number(its_number), uid(its_uid), answers(std::move(its_answers)), bytes(its_bytes) {}

  const CallerNumber number;
  const uid_t uid;
  const std::shared_ptr<PublisherCore> answers;  ///< only this client can attach to it
  const std::size_t bytes;                       ///< the most memory that it can make us commit
  std::mutex publishing{};                       ///< answers are published by one thread at a time
  Atomic<bool> gone{false};
  /// By question, modulo their number: the last one that the client has cancelled.
  std::array<Atomic<std::uint64_t>, handshake::kMostPending> cancelled{};

  [[nodiscard]] bool has_cancelled(std::uint64_t sequence) const noexcept {
    return gone.load(std::memory_order_acquire) ||
           cancelled[sequence % cancelled.size()].load(std::memory_order_acquire) == sequence;
  }
};

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

  [[nodiscard]] TakenQuestion take() noexcept;
  [[nodiscard]] TakenQuestion wait(std::int64_t deadline_ns) noexcept;
  /// Why the last take() or wait() was empty.
  [[nodiscard]] Reason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }
  [[nodiscard]] SubscriberCore& questions() noexcept { return *questions_; }
  [[nodiscard]] std::size_t clients() const;
  void decline(CallerNumber number, std::uint64_t sequence, const std::string& why);

  // ServiceDesk:
  std::optional<handshake::Refused> admit(const Caller& caller, handshake::Served& answer) override;
  void caller_gone(CallerNumber number) override;
  void cancelled(CallerNumber number, std::uint64_t sequence) override;

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
  SubscriberCore* questions_;
  Atomic<Reason> reason_{Reason::None};
  mutable std::mutex mutex_;
  std::map<CallerNumber, std::shared_ptr<ServedCaller>> callers_;
};

}  // namespace cardan::detail
