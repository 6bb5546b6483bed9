// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/detail/atomic.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/detail/service_end.hpp"
#include "src/bridge/local_service.hpp"
#include "src/bridge/rules.hpp"
#include "src/transport/service/found_service.hpp"

namespace cardan::bridge {

/// Finds the services of a domain, and asks them for peers beyond a bridge: those whose server is of this user. It does
/// both on its own thread. Thread safety: all functions on one thread. None blocks but the destructor, for at most some
/// seconds.
class ServiceCaller {
 public:
  static constexpr std::size_t kMostQuestionBytes = std::size_t{1} << 20;  ///< as CDR
  static constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20;   ///< as CDR; also of all that wait
  static constexpr std::size_t kMostCalls = 64;                            ///< without an answer
  static constexpr std::size_t kMostOpen = 16;                             ///< services that are asked at the same time
  static constexpr std::size_t kMostServices = 1024;

  /// `rules`: which services may be asked, as topics with their name and the type of their questions would leave; they
  /// outlive it. `timeout`: of a question. Throws Error (Limit): no descriptor is left.
  ServiceCaller(std::string domain, const std::vector<TopicRule>& rules,
                std::chrono::nanoseconds timeout = std::chrono::seconds{10});
  ServiceCaller(const ServiceCaller&) = delete;
  ServiceCaller& operator=(const ServiceCaller&) = delete;
  ~ServiceCaller();

  /// A question of a peer. `peer` and `number` come back with its answer. As many questions of a service are asked at
  /// once as its `pending` allows, of one peer one less if it can be; the others wait for their turn.
  struct Call {
    std::uint64_t peer = 0;
    std::uint32_t service = 0, number = 0;
    std::vector<std::byte> question{};  ///< CDR
  };
  /// Returns false if too many wait already.
  [[nodiscard]] bool call(Call call);
  /// Nobody waits for the answers to this peer any more.
  void forget(std::uint64_t peer);

  struct Answer {
    std::uint64_t peer = 0;
    std::uint32_t service = 0, number = 0;
    std::vector<std::byte> answer{};  ///< CDR
    std::string failure{};            ///< for people: the reason for a missing answer; empty: `answer` is set
  };
  struct Change {
    bool added = false;  ///< false: its server has ended; only `id` is set
    LocalService service{};
  };
  using Result = std::variant<Change, Answer>;
  /// All since the last call, in order. Empties fd(). Without results it costs a load.
  [[nodiscard]] std::vector<Result> results();
  /// Readable when there are results.
  [[nodiscard]] int fd() const noexcept { return ready_.get(); }

 private:
  struct Known {
    LocalService service;
    detail::FoundService found;
  };
  struct Waiting {
    Call call;
    std::int64_t until_ns = 0;
    std::uint64_t number = 0;  ///< of the question at its client; 0: it was not asked yet
  };
  /// A service that is asked.
  struct Open {
    AnyType question;
    CdrFramer answer;
    std::uint32_t pending;
    detail::ClientEnd end;
    int fd;
    std::deque<Waiting> waiting{};  ///< in the order of the calls
    std::int64_t used_ns = 0;
    Open(const std::string& domain, const detail::FoundService& service, AnyType its_question, AnyType its_answer);
  };
  using Key = std::pair<std::string, std::uint32_t>;  ///< process and serial of a server
  struct Server {
    std::uint32_t id = 0;  ///< 0: it is not asked
    int missing = 0;       ///< looks since it was there
    bool is_described = false;
    std::int64_t again_ns = 0;  ///< otherwise: when it is looked at again
  };

  void run();
  void round(std::int64_t& next_look);
  void wait(std::int64_t due);
  void look();
  void look_at(const PublisherReport& server, Server& known);
  void remove(std::uint32_t id);
  void accept(Call&& call);
  [[nodiscard]] Open& open(const Known& known);
  void make_room();
  void serve(std::uint32_t service, Open& open);
  void collect(std::uint32_t service, Open& open);
  [[nodiscard]] bool is_over(std::uint32_t service, Open& open, Waiting& waiting);
  void ask_next(Open& open);
  [[nodiscard]] Answer answer_to(std::uint32_t service, Open& open, const Call& call, const detail::Outcome& outcome);
  void forget_gone(const std::set<std::uint64_t>& peers);
  void fail(const Call& call, const std::string& why);
  void add(Result&& result);

  const std::string domain_;
  const std::vector<TopicRule>& rules_;
  const std::chrono::nanoseconds timeout_;
  Fd ready_, wake_;
  std::mutex mutex_;
  std::deque<Call> calls_;
  std::set<std::uint64_t> gone_;  ///< peers
  std::vector<Result> results_;
  Atomic<bool> has_results_{false};
  std::size_t unanswered_ = 0, answer_bytes_ = 0;  ///< calls; bytes in `results_`
  bool stop_ = false;
  // Of the thread.
  std::map<Key, Server> servers_;
  std::map<std::uint32_t, Known> known_;
  std::map<std::uint32_t, std::unique_ptr<Open>> open_;
  std::uint32_t last_id_ = 0;
  std::thread thread_;
};

}  // namespace cardan::bridge
