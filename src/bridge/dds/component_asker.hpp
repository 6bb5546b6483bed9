// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/bridge/dds/bell.hpp"
#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/parameter_answers.hpp"
#include "src/bridge/dds/turns.hpp"
#include "src/system/host/control_client.hpp"

namespace cardan::bridge::dds {

/// Asks the components of this computer what may take a second, on its own thread: their parameters, and their
/// statistics for /diagnostics.
/// Thread safety: one thread. No function blocks but the destructor, for at most some seconds.
class ComponentAsker {
 public:
  struct Options {
    std::string domain{};
    bool set_parameters = false;  ///< requests may change parameters
  };
  /// `bell` rings when there is something to take.
  ComponentAsker(Options options, std::shared_ptr<Bell> bell);
  ComponentAsker(const ComponentAsker&) = delete;
  ComponentAsker& operator=(const ComponentAsker&) = delete;
  ~ComponentAsker();

  /// Whether diagnostics are made each second from now on.
  void want_diagnostics(bool wanted);

  struct Question {
    std::size_t place = 0;  ///< in kParameterServices
    Guid who{};             ///< the participant that asks: each has its turn
    std::vector<std::byte> request{};
  };
  /// Returns the place of a question that is not answered, because too many wait already: this one, or one
  /// of a participant that has more.
  [[nodiscard]] std::optional<std::size_t> ask(Question question);

  struct Result {
    std::size_t place = 0;             ///< in kParameterServices; its size: diagnostics
    std::vector<std::byte> message{};  ///< CDR; empty: the request was malformed
    bool lost = false;                 ///< there was no memory for the answer
  };
  [[nodiscard]] std::vector<Result> results();

  static constexpr std::size_t kMostWaiting = 64;  ///< questions; and answers
  static constexpr std::size_t kMostOfOne = 8;     ///< questions of one participant

 private:
  class Table;
  void run();
  void answer(const Question& question);
  void diagnose();
  void add(Result result) noexcept;
  [[nodiscard]] host::ControlClient& control();

  const Options options_;
  const std::shared_ptr<Bell> bell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Turns<Guid, Question> questions_{{.most = kMostWaiting, .most_of_one = kMostOfOne}};
  std::vector<Result> results_;
  bool diagnostics_ = false, stop_ = false;
  std::unique_ptr<host::ControlClient> control_;  ///< of the thread
  std::unique_ptr<Table> table_;                  ///< of the thread
  std::thread thread_;
};

}  // namespace cardan::bridge::dds
