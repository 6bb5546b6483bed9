// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cardan/detail/duration.hpp"
#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/endpoint_options.hpp"
#include "cardan/service_options.hpp"

namespace cardan::detail {

class ServerCore;
class ServiceEvents;
class ClientCore;
struct ServedCaller;

/// Where the answer to a question goes.
class QuestionEnd {
 public:
  QuestionEnd() noexcept = default;
  QuestionEnd(std::shared_ptr<ServerCore> server, std::shared_ptr<ServedCaller> caller) noexcept
      : server_(std::move(server)), caller_(std::move(caller)) {}

  [[nodiscard]] LoanedSlot loan() const noexcept;
  bool reply(Filled filled, const SampleBlock& question) const noexcept;
  void decline(std::uint64_t sequence, const std::string& why) const;
  void decline_dropped(std::uint64_t sequence) const noexcept;
  [[nodiscard]] bool cancelled(std::uint64_t sequence) const noexcept;

 private:
  bool publish(const Filled& filled, const SampleBlock& question, ServiceEvents* events) const noexcept;
  std::shared_ptr<ServerCore> server_;
  std::shared_ptr<ServedCaller> caller_;
};

struct TakenQuestion {
  SampleBlock* block = nullptr;  ///< with one reference; null: none
  QuestionEnd end{};
};

/// The base of Server. It can be moved.
class ServerEnd {
 public:
  ServerEnd(const std::string& service, MessageType question, AdoptFunction adopt, MessageType answer,
            const ServiceOptions& options, const ServerOptions& own);
  ServerEnd(ServerEnd&&) noexcept = default;
  ServerEnd& operator=(ServerEnd&& other) noexcept;
  ServerEnd(const ServerEnd&) = delete;
  ServerEnd& operator=(const ServerEnd&) = delete;
  ~ServerEnd();

  [[nodiscard]] TakenQuestion take() noexcept;
  [[nodiscard]] TakenQuestion wait() noexcept;
  [[nodiscard]] TakenQuestion wait(std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] Reason reason() const noexcept;
  [[nodiscard]] int fd();
  [[nodiscard]] std::size_t clients() const;

 private:
  std::shared_ptr<ServerCore> core_;
};

struct AskedQuestion {
  std::uint64_t number = 0;  ///< 0: it was not asked
  NoAnswer reason = NoAnswer::Pending;
};
struct Outcome {
  NoAnswer reason = NoAnswer::Pending;
  SampleBlock* block = nullptr;  ///< with one reference, if reason is None
  std::string text{};
};
/// For people. Empty: None, and Pending.
[[nodiscard]] std::string text_of(NoAnswer reason);

/// The base of Client. Tickets point to it, so it cannot be moved.
class ClientEnd {
 public:
  ClientEnd(const std::string& service, MessageType question, MessageType answer, AdoptFunction adopt,
            const ServiceOptions& options, const ClientOptions& own);
  ClientEnd(const ClientEnd&) = delete;
  ClientEnd& operator=(const ClientEnd&) = delete;
  ~ClientEnd();

  [[nodiscard]] LoanedSlot loan() noexcept;
  [[nodiscard]] AskedQuestion ask(Filled filled, std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] Outcome poll(std::uint64_t number) { return (void)receive(), look(number); }
  /// The two parts of poll(), for several that share the descriptor. First: takes the answers to all questions that
  /// have come. Returns whether the outcome of one may be known now that was not before.
  bool receive();
  [[nodiscard]] Outcome look(std::uint64_t number);
  /// The program keeps as many answers as `pending` and `holds` allow: no other can come.
  [[nodiscard]] bool is_full() const noexcept;
  [[nodiscard]] Outcome wait(std::uint64_t number);
  /// Pending: `limit` is over.
  [[nodiscard]] Outcome wait(std::uint64_t number, std::chrono::nanoseconds limit);
  void cancel(std::uint64_t number) noexcept;
  [[nodiscard]] bool has_server() const noexcept;
  [[nodiscard]] bool wait_for_server(std::chrono::nanoseconds timeout);
  [[nodiscard]] int fd();

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace cardan::detail
