// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/transport/area.hpp"
#include "bench/transport/peers/peer.hpp"

namespace cardan::bench {

/// While it lives, the signals that the harness sleeps on (children, Ctrl-C, TERM, HUP) arrive only where it waits for
/// them; so the harness uses no CPU during a measurement and misses no signal between two.
/// Not thread-safe: for the thread that runs the bench.
class QuietSignals {
 public:
  QuietSignals();
  ~QuietSignals();
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

  /// Sleeps up to `timeout_ns` or until a child changes or somebody asks to stop.
  void wait(std::int64_t timeout_ns);
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
  [[nodiscard]] const sigset_t& former() const noexcept { return former_; }

 private:
  sigset_t watched_{};
  sigset_t former_{};
  bool interrupted_ = false;
};

/// The processes of one run. Each is this program again, in a role; all are gone when the crew is.
class Crew {
 public:
  /// Starts every role. `run_dir` is the CARDAN_RUN_DIR of the children.
  Crew(const Area& area, Wiring wiring, const std::vector<std::string>& role_command, const std::string& run_dir,
       const QuietSignals& signals);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Takes the exit status of those that ended.
  void reap();
  [[nodiscard]] bool all_ended() const noexcept;
  /// The first role that ended badly, in words; empty: none so far.
  [[nodiscard]] std::string failure() const;
  /// Of those that have not ended.
  [[nodiscard]] std::vector<pid_t> pids() const;
  /// Ends what still runs, at once.
  void kill_all() noexcept;

 private:
  struct Member {
    pid_t pid = -1;
    bool ended = false;
    int status = 0;
  };

  const Area& area_;
  std::vector<Member> members_;
};

}  // namespace cardan::bench
