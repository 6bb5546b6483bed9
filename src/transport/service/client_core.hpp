// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/service_end.hpp"
#include "cardan/error.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/discovery/service_parts.hpp"

namespace cardan::detail {

/// The asking end of a service (docs/protocols/service.md). It finds the server by its card, and then has a session
/// with it: an unlisted publication of its questions, and an attachment to the server's publication of its answers.
/// Thread safety: one thread at a time; the functions of ServiceCaller by the helper thread.
class ClientCore final : public ServiceCaller, public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(const std::string& service, MessageType question, MessageType answer, AdoptFunction adopt,
             const ServiceOptions& options, const ClientOptions& own);
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;
  ~ClientCore();
  /// Looks for the server, and waits, at most a second, until it serves this client. Throws Error.
  void open();

  [[nodiscard]] LoanedSlot loan() noexcept;
  [[nodiscard]] AskedQuestion ask(Filled filled, std::int64_t deadline_ns) noexcept;
  [[nodiscard]] Outcome poll(std::uint64_t number);
  [[nodiscard]] Outcome wait(std::uint64_t number);
  void cancel(std::uint64_t number) noexcept;
  [[nodiscard]] bool has_server() const noexcept;
  [[nodiscard]] bool wait_for_server(std::int64_t deadline_ns);
  [[nodiscard]] SubscriberCore& answers() noexcept { return *answers_; }

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
  struct Asked {
    std::uint64_t number = 0;
    std::uint64_t sequence = 0;  ///< in its session
    std::uint64_t tag = 0;       ///< of its session
    std::int64_t deadline_ns = 0;
    NoAnswer state = NoAnswer::Pending;
    SampleBlock* answer = nullptr;
    std::string text{};
  };

  void begin_session(const Stream& card);
  void end_session(std::uint64_t tag);
  void find_card();
  void forget_ended_cards();
  void try_again(std::int64_t began_ns);
  void joined(const Stream& answers);
  void collect(SampleBlock* block);
  [[nodiscard]] Asked* find(std::uint64_t number) noexcept;
  [[nodiscard]] Outcome outcome_of(std::uint64_t number);
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

  mutable std::mutex mutex_;
  std::condition_variable served_;
  std::optional<Session> session_;
  std::optional<Error> refusal_;  ///< of the last request to be served
  std::vector<Asked> asked_;      ///< at most `pending`
  std::uint64_t last_number_ = 0;
};

}  // namespace cardan::detail
