// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/error.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/discovery/service_parts.hpp"
#include "src/transport/service/asked_table.hpp"
#include "src/transport/service/asking_end.hpp"

namespace cardan::detail {

/// The asking end of a service (docs/protocols/service.md). It finds the server by its card, and then has a session
/// with it: an unlisted publication of its questions, and an attachment to the server's publication of its answers.
/// Thread safety: wait(), poll() and receive() by one thread at a time, the functions of ServiceCaller by the helper
/// thread, the rest by any.
class ClientCore final : public ServiceCaller, public AskingEnd, public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(const std::string& service, MessageType question, MessageType answer, AdoptFunction adopt,
             const ServiceOptions& options, const ClientOptions& own);
  ~ClientCore() override;
  /// Looks for the server, and waits, at most a second, until it serves this client. Throws Error.
  void open();

  /// Its outcome, of what was received.
  [[nodiscard]] Outcome look(std::uint64_t number);
  /// `until_ns`: when it returns Pending at the latest; steady clock, 0: never.
  [[nodiscard]] Outcome wait(std::uint64_t number, std::int64_t until_ns);
  /// Takes the answers that have come. Returns whether there were any, or a question has ended without one.
  bool receive() noexcept;
  /// Whether receive() has something to take, or a question has ended without an answer since.
  [[nodiscard]] bool has_news() noexcept { return ended_.load(std::memory_order_acquire) || answers_->ready(); }
  [[nodiscard]] bool wait_for_server(std::int64_t deadline_ns);
  [[nodiscard]] SubscriberCore& answers() noexcept { return *answers_; }

  // AskingEnd:
  LoanedSlot loan() noexcept override;
  AskedQuestion ask(Filled filled, std::int64_t deadline_ns) noexcept override;
  void cancel(std::uint64_t number) noexcept override;
  [[nodiscard]] bool has_server() const noexcept override;
  [[nodiscard]] std::string why_not_asked(NoAnswer reason) const override;
  Done next_done(std::int64_t now) override;
  [[nodiscard]] std::int64_t next_deadline() const noexcept override;

  // ServiceCaller:
  void served(const std::string& process, uid_t owner, const handshake::Served& answer) override;
  void refused(const handshake::Refused& answer, bool foreign) override;
  void hung_up() override;
  void declined(std::uint64_t sequence, const std::string& why) override;

 private:
  /// With one server.
  struct Session {
    std::shared_ptr<PublisherCore> questions;
    std::uint64_t tag = 0;     ///< of the stream of answers
    std::uint64_t asked = 0;   ///< id of the request to be served
    bool is_admitted = false;  ///< the server has answered: from here on, the stream of answers tells of its end
    bool is_served = false;
    std::string server{};  ///< its name and pid, for people
    std::int64_t began_ns = 0;
  };

  void begin_session(const Stream& card);
  void end_session(std::uint64_t tag);
  void find_card();
  void forget_ended_cards();
  void try_again(std::int64_t began_ns);
  void joined(const Stream& answers);
  void collect(SampleBlock* block) noexcept;
  [[nodiscard]] std::int64_t deadline_of(std::uint64_t number) noexcept;
  [[nodiscard]] Outcome timed_out(std::uint64_t number);
  void remove(const std::shared_ptr<PublisherCore>& questions);

  const std::string service_;
  const ServiceOptions options_;
  const MessageType question_;
  Process& process_;
  SubscriberCore* card_;
  SubscriberCore* answers_;
  std::vector<std::uint64_t> cards_;  ///< streams of the card, at most kMaxStreams; helper thread
  std::uint64_t last_tag_ = 0;        ///< helper thread
  std::int64_t pause_ns_ = 0;         ///< before the next session is tried; helper thread

  Atomic<bool> ended_{false};  ///< a question has, without an answer, since receive()
  mutable std::mutex mutex_;
  std::condition_variable served_;
  std::optional<Session> session_;
  std::optional<Error> refusal_;  ///< of the last request to be served
  AskedTable asked_;              ///< at most `pending`
};

}  // namespace cardan::detail
