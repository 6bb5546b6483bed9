// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cardan::bench {

/// The part of a process that the bench has started: what it hears and says. Its orders are signals, because they need
/// no descriptor and cost nothing while nobody sends one: SIGUSR1 begins, SIGTERM ends. For the main thread, before any
/// other is started.
class Stage {
 public:
  Stage();

  void ready();        ///< all is set up
  bool wait_for_go();  ///< false: it is to end
  void done();         ///< all messages are made; what has been published stays
  void wait_for_end();
  [[nodiscard]] bool end_asked();  ///< does not block
  /// Hands over the result; the process ends afterwards.
  static void report(const nlohmann::json& result);

 private:
  void say();
  bool ended_ = false;
};

/// CPU time of this process, its kernel threads for io_uring included, in seconds.
struct CpuTime {
  double user = 0, system = 0;
  [[nodiscard]] double sum() const noexcept { return user + system; }
  [[nodiscard]] CpuTime since(const CpuTime& before) const noexcept {
    return {user - before.user, system - before.system};
  }
};
[[nodiscard]] CpuTime own_cpu() noexcept;
[[nodiscard]] CpuTime thread_cpu() noexcept;  ///< of the calling thread

[[nodiscard]] nlohmann::json to_json(const CpuTime& time);
[[nodiscard]] CpuTime cpu_time_of(const nlohmann::json& json);

/// Plays the part of `parts` that `job` names and describes, in a process that the bench has started for it; returns
/// the exit code. Blocks. A part throws what goes wrong.
int play_part(const std::map<std::string, void (*)(const nlohmann::json&)>& parts, const char* job) noexcept;

}  // namespace cardan::bench
