// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cardan/log.hpp"
#include "src/system/host/component_report.hpp"
#include "src/system/plan/difference.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::host {

struct ControlOptions {
  /// Domain to ask; empty: $CARDAN_DOMAIN, else "default".
  std::string domain{};
  /// How long to wait for a host; what a component or a process has to do for it may take longer, as its function says.
  std::chrono::nanoseconds timeout = std::chrono::seconds{1};
  /// How long a component may take to accept a change of a parameter; a change not made by then is dropped.
  std::chrono::nanoseconds change = std::chrono::seconds{2};
};

/// A `cardan run` that runs now.
struct LauncherReport {
  struct Process {
    std::string name, state;
    int pid = 0;  ///< 0: it does not run
    std::uint64_t restarts = 0;
  };
  std::string system;
  std::string host;  ///< its name in the run directory
  int pid = 0;
  std::vector<Process> processes;
};

/// A component whose process does not run: it was stopped or given up, has ended, or waits for its restart.
struct DownComponent {
  std::string name, class_name, library;
  LauncherReport::Process process;
  LauncherReport launcher;  ///< of the process, without its list of processes
};

/// Files that a system was started from, and that are not as they were then.
struct ChangedFiles {
  std::string system, file;  ///< the configuration
  std::vector<plan::ChangedFile> changed;
};

/// The answers of a domain's hosts.
struct DomainComponents {
  std::vector<ComponentReport> components;  ///< by process and in their order of start
  std::vector<DownComponent> down;          ///< those that only a launcher knows, in the order of its file
  std::vector<ChangedFiles> changed;        ///< where the launchers were asked for them
  std::vector<std::string> problems;        ///< in words: hosts that did not answer, with their pid
  std::vector<uid_t> others;                ///< users with hosts here that answer their own user alone
  std::size_t hosts = 0;                    ///< that answered
};

struct DomainLaunchers {
  std::vector<LauncherReport> launchers;
  std::vector<std::string> problems;
  std::vector<uid_t> others;  ///< as of DomainComponents
};

/// Asks the processes of `cardan run`, and `cardan run` itself, over Cardan's own topics: those of the own user, as the
/// topics' access rule says. A process that does not answer costs the time-out, not more. One thread at a time.
class ControlClient {
 public:
  /// Throws Error as Publisher and Subscriber. Set-up; blocks for some ms.
  explicit ControlClient(ControlOptions options = {});
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;
  ~ControlClient();

  /// All components with their statistics and parameters. Throws Error (Unavailable). Blocks until all hosts have
  /// answered, at most the time-out. `files`: launchers also look at the files that they were started from.
  [[nodiscard]] DomainComponents components(bool files = false);

  /// Changes a parameter of a component that components() found. Throws Error: what Runtime::set_parameter() throws
  /// there, Unavailable (its host does not answer). A change that was not answered in time does not take effect later.
  /// Blocks until the component has answered, at most for the time-out and `change`. `keep`: also after a restart of
  /// the component within its process.
  void set_parameter(const ComponentReport& component, const std::string& parameter, const config::Value& value,
                     bool keep = false);

  struct Restarted {
    double took_ms = 0;
    std::uint64_t restarts = 0;  ///< of the component within its process
  };
  /// Restarts a component that components() found, while the rest of its process keeps running. Throws Error: what
  /// Runtime::restart() throws there (its process then ends, and is restarted by its rule), Unavailable (its host
  /// does not answer, or a callback of its groups hangs). Blocks until it has started, at most 11 s longer than the
  /// time-out.
  Restarted restart_component(const ComponentReport& component);
  /// The least level of what a component says from now on. Throws as set_parameter(); blocks at most for twice the
  /// time-out.
  void set_log_level(const ComponentReport& component, LogLevel level);
  /// Lets a component crash its process, as one of its callbacks. Throws and blocks as set_log_level().
  void crash(const ComponentReport& component);

  /// The processes that `cardan run` runs in this domain. Throws and blocks as components().
  [[nodiscard]] DomainLaunchers launchers();
  struct Ordered {
    int pid = 0;          ///< 0: it is down
    bool killed = false;  ///< it did not end in order within the launcher's grace period
  };
  /// Ends a process of a launcher that launchers() found, and with `start` starts it, also one that is down. Throws
  /// Error: the launcher's word, Unavailable (it does not answer: an order that it has not started by then is dropped;
  /// or it has started it, and does not report the result). Blocks until it is done, at most `within` and the time-out.
  Ordered order(const LauncherReport& launcher, const std::string& process, bool start,
                std::chrono::nanoseconds within);

  struct Offered {
    std::uint64_t offer = 0;
    plan::Difference difference;
  };
  /// Sends another plan to a launcher, and asks what differs; nothing changes yet. Throws Error: the launcher's word,
  /// Limit (the plan is too large), Unavailable. Blocks until it has answered, at most the time-out for each part.
  [[nodiscard]] Offered offer_plan(const LauncherReport& launcher, const plan::Plan& plan);
  /// Lets it do what differs. Throws Error: the launcher's word, also of a process that did not start; Unavailable, as
  /// order(). Blocks until it is done, at most `within` and the time-out.
  Ordered apply_plan(const LauncherReport& launcher, std::uint64_t offer, std::chrono::nanoseconds within);

 private:
  struct Link;
  struct Answer {
    std::string host, text;
  };
  /// The answers of one publisher.
  struct Place {
    std::string host, program;
    int pid = 0;
  };
  /// One answer of each host in `hosts` (names in the run directory).
  std::vector<Answer> ask(const std::string& request, const std::vector<std::string>& hosts, const std::string& only,
                          std::chrono::nanoseconds timeout);
  /// Asks all that are there; `take` gets each answer, and may throw what makes it a problem. The problems and the
  /// others go into `all`.
  template <class All, class Take>
  void ask_all(const std::string& request, All& all, Take take);
  /// Asks one and throws the Error that it answers; `within`: how long the other side may work on the answer. `who`: in
  /// words. `unanswered`: what that means, in words.
  std::string ask_one(const std::string& host, const std::string& who, const std::string& request,
                      std::chrono::nanoseconds within,
                      const char* unanswered = "orders not started by now are dropped");

  /// Waits for the outcome of an order that a launcher has taken. `unanswered`, `late`: what that means, in words.
  Ordered outcome_of(const LauncherReport& launcher, const std::string& taken, std::int64_t until,
                     const std::string& unanswered, const std::string& late);

  ControlOptions options_;
  std::unique_ptr<Link> link_;
};

}  // namespace cardan::host
