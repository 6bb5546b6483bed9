// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "demo/report/note.hpp"

namespace cardan::street {

/// How a process ended.
struct Ending {
  std::string name;
  pid_t pid = 0;
  int exit_code = 0;   ///< when it ended by itself
  int signal = 0;      ///< else
  std::string output;  ///< the last lines that it wrote to stderr
};

/// The event and its remedy, in words: "detector (pid 12) died by signal 11 (Segmentation fault) …".
[[nodiscard]] std::string explain(const Ending& ending);

/// The child processes of a run: started from one program, watched, and ended together. Not thread-safe.
class Processes {
 public:
  struct Start {
    std::string name;
    std::string program;
    std::vector<std::string> arguments;  ///< "{note}" is replaced by the number of the descriptor that takes notes
  };

  Processes() = default;
  ~Processes();  ///< ends what still runs
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Throws cardan::Error (System) when the process cannot be started.
  void start(const Start& start);

  /// Waits up to `timeout` for notes and hands each over with the index of its process. Returns early after a signal.
  void poll(std::chrono::milliseconds timeout, const std::function<void(std::size_t, const Note&)>& on_note);

  /// The next process that has ended since the last call.
  [[nodiscard]] std::optional<Ending> ended();

  /// SIGTERM to all, SIGKILL to those that still run after `patience`. Returns the names of the latter. Notes still
  /// come.
  std::vector<std::string> stop(std::chrono::milliseconds patience,
                                const std::function<void(std::size_t, const Note&)>& on_note);

  [[nodiscard]] std::size_t running() const noexcept;
  /// CPU time used by process `index` so far, in seconds; its last value once it has ended.
  [[nodiscard]] double cpu_seconds(std::size_t index);

 private:
  struct Child {
    std::string name;
    pid_t pid = 0;
    bool running = false, told = false;
    int status = 0;
    double cpu = 0;
    Fd notes, errors;
    std::string output;
  };
  void drain(std::size_t index, const std::function<void(std::size_t, const Note&)>& on_note);
  void reap();

  std::vector<Child> children_;
};

}  // namespace cardan::street
