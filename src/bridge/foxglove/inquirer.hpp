// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/foxglove/chain_watch.hpp"
#include "src/bridge/foxglove/parameter_desk.hpp"
#include "src/bridge/foxglove/protocol.hpp"
#include "src/bridge/foxglove/system_look.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge::foxglove {

/// Asks the processes of the domain what may take a second: the connection graph, the components and their parameters.
/// Thread safety: all functions on one thread; it asks on its own thread. None blocks but the destructor.
class Inquirer final : private ParameterDesk::Components {
 public:
  /// `rules` outlives it. Throws Error (Limit): no descriptor is left.
  explicit Inquirer(const Rules& rules);
  Inquirer(const Inquirer&) = delete;
  Inquirer& operator=(const Inquirer&) = delete;
  ~Inquirer() override;

  struct Wants {
    bool looks = false, parameters = false, system = false;
    bool chains = false;  ///< traces the domain
    bool operator==(const Wants&) const = default;
  };
  /// The questions of each second from now on.
  void want(const Wants& wants);

  struct Question {
    std::uint64_t client = 0;
    std::variant<GetParameters, SetParameters> what{};
  };
  /// Returns false if too many wait already.
  bool ask(Question question);

  struct Answer {
    std::uint64_t client = 0;
    std::string text{};  ///< for the client; empty: there was no memory for it
  };
  struct System {
    std::string json{};  ///< as SystemWatch::json()
  };
  struct Chains {
    std::string json{};  ///< as ChainWatch::json()
  };
  using Result = std::variant<Answer, System, Chains, std::shared_ptr<const Look>, std::shared_ptr<const Parameters>>;
  /// Empties fd().
  [[nodiscard]] std::vector<Result> results();
  /// Readable when there are results.
  [[nodiscard]] int fd() const noexcept { return ready_.get(); }

 private:
  void run();
  void answer(const Question& question);
  void ask_all(const Wants& wants);
  void drain();
  host::ControlClient& control();
  // ParameterDesk::Components
  host::DomainComponents look() override { return control().components(); }
  void set(const host::ComponentReport& component, const std::string& parameter, const config::Value& value) override {
    control().set_parameter(component, parameter, value);
  }
  [[nodiscard]] bool stops() const override;
  void add(Result result) noexcept;

  const Rules& rules_;
  Fd ready_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;
  std::vector<Result> results_;
  Wants wants_;
  bool stop_ = false;
  // Of the thread.
  std::unique_ptr<host::ControlClient> control_;
  ParameterDesk desk_{*this};
  LatencyHistory history_;
  SystemWatch system_;
  ChainWatch chains_;
  std::thread thread_;
};

}  // namespace cardan::bridge::foxglove
