// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/detail/atomic.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/publisher.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/crash_details.hpp"
#include "src/system/launcher/line_splitter.hpp"
#include "src/system/launcher/log_rate.hpp"
#include "src/system/launcher/placed_frames.hpp"
#include "src/system/launcher/restart_policy.hpp"
#include "src/system/launcher/silence_watch.hpp"
#include "src/system/launcher/system_state.hpp"
#include "src/system/launcher/topics.hpp"
#include "src/system/plan/difference.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::launcher {

/// A line of the merged log.
struct LogLine {
  enum class Source : std::uint8_t { Output, Error, Launcher };
  std::string_view name;  ///< of the process; "cardan": the launcher's own words
  Source source = Source::Output;
  LogLevel level = LogLevel::Info;  ///< of the launcher's words
  std::int64_t wall_ns = 0;         ///< when it came, wall clock
  std::string_view text;
};

enum class Phase : std::uint8_t {
  Starting,
  Running,
  Waiting,   ///< for its restart
  Finished,  ///< it ended in order and by itself
  GivenUp,
  Stopping,
  Stopped,
};
[[nodiscard]] std::string_view name_of(Phase phase) noexcept;

/// An end that was not requested, and what followed. Times in nanoseconds of the steady clock.
struct Outage {
  std::string cause{};   ///< in words
  std::string report{};  ///< path of the crash report; "": it ended in order, or the report could not be written
  std::int64_t noticed_ns = 0;
  std::int64_t started_ns = 0;  ///< its program started again; 0: it did not
  std::int64_t ready_ns = 0;    ///< it was running again; 0: it was not
};

struct ProcessStatus {
  std::string name{};
  pid_t pid = 0;  ///< 0: it does not run
  Phase phase = Phase::Starting;
  std::uint64_t restarts = 0;
  std::int64_t started_ns = 0;  ///< of its present or last run, steady clock
  std::int64_t ready_ns = 0;    ///< 0: not yet
  std::vector<Outage> outages{};
  std::vector<PoisonSample> skipped{};  ///< samples that it is not given any more: it crashed on each twice
  bool killed = false;                  ///< one of its runs did not end within the grace period
  /// That left callbacks, by component, in all of its runs; of a run that was killed without the last half second.
  std::map<std::string, std::uint64_t> exceptions{};
};

/// Publications at the end of a chain that has a budget, in all runs of its processes.
struct ChainStatus {
  std::uint64_t publications = 0;
  std::uint64_t unknown = 0;  ///< those whose age is not known
  std::uint64_t late = 0;     ///< those that exceeded the budget
  std::int64_t said_ns = 0;   ///< when the last line about them was written, steady clock; 0: none was
  std::uint64_t unsaid = 0;   ///< late ones since then
};

/// A line about late publications of a chain.
struct LateChain {
  std::string chain{};
  std::string component{};  ///< that took longest, the last time; "": not known
  std::int64_t at_ns = 0;   ///< steady clock
  std::int64_t age_ns = 0;  ///< of the last one
  std::int64_t hop_ns = 0;  ///< of the component
  std::uint64_t times = 0;  ///< late ones since the line before, and those after it without a line of their own
};

/// Another plan for a system that runs.
struct PlanChange {
  std::shared_ptr<const plan::Plan> from{}, to{};
  plan::Difference difference{};  ///< of these
};

/// An operator's order to a launcher that runs.
struct Order {
  enum class What : std::uint8_t {
    Look,
    Stop,     ///< ends the process in order; it stays down until Restart
    Restart,  ///< ends it in order, where it runs, and starts it, also one that was given up
    Apply,    ///< ends and starts what differs in another plan, if the plan is still the one that was compared
  };
  What what = What::Look;
  std::string process{};                       ///< of Stop and Restart
  std::shared_ptr<const PlanChange> change{};  ///< of Apply
  std::int64_t until_ns = 0;                   ///< steady clock: after that it is not begun any more; 0: no limit
};

struct OrderAnswer {
  std::optional<Error> error{};            ///< it was not done
  bool killed = false;                     ///< it was done, but the process did not end within the grace period
  std::vector<ProcessStatus> processes{};  ///< as they are then
};

struct LauncherOptions {
  /// The command that starts the host of a process; "--plan-fd N --process NAME --ready-fd N --report-fd N" is added,
  /// and a "--skip SAMPLE" for each sample that it crashed on twice. The first word is the path of the program; the
  /// process is shown as "cardan:NAME".
  std::vector<std::string> host_command{"/proc/self/exe", "host"};
  /// The command that starts a bridge; its kind, its file and "--ready-fd N" are added. The first word is the path of
  /// the program.
  std::vector<std::string> bridge_command{"/proc/self/exe", "bridge"};
  /// The command that starts a recorder; its options and "--ready-fd N" are added. The first word is the path of the
  /// program.
  std::vector<std::string> record_command{"/proc/self/exe", "record"};
  std::string reports = "out";                                     ///< folder of the crash reports
  std::chrono::nanoseconds grace = std::chrono::seconds{5};        ///< for each process, between SIGTERM and SIGKILL
  std::chrono::nanoseconds slow_start = std::chrono::seconds{2};   ///< a process that takes longer to start is reported
  std::chrono::nanoseconds duration{0};                            ///< stops by itself after this time; 0: it does not
  std::chrono::nanoseconds tick = std::chrono::milliseconds{500};  ///< between calls of on_tick
  // All called on the thread of run(), which supervises nothing meanwhile: they must not block.
  std::function<void(const LogLine&)> on_line{};
  std::function<void(const StateMachine::Change&)> on_state{};
  std::function<void(const plan::Plan&)> on_plan{};  ///< another one is run from now on
  std::function<void()> on_tick{};
};

/// Starts the processes of a plan, restarts what crashes, and ends all in order. The processes get the plan, sealed,
/// and read no file. run() and all that is const belong to one thread, and the processes do not outlive it, whatever
/// ends it; stop() is for any thread.
class Supervisor {
 public:
  /// Throws Error: as Publisher, and Limit (no descriptors). Set-up.
  Supervisor(plan::Plan plan, LauncherOptions options);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  /// Blocks until all processes have ended: after stop(), the time given, a transition to "stopped", or because none is
  /// left to restart. 0: all ended in order; 1: one was given up, could not be started, or had to be killed; 3: all
  /// ended in order, and exceptions left callbacks.
  int run();
  /// The first call ends all in order, each further one at once. Any thread, and signal handlers; never blocks.
  void stop() noexcept;
  /// Asks run() for something. The answer comes when it is done (of Restart and Apply: when the processes run, or have
  /// ended before), at the latest when run() ends. Any thread; takes a mutex that is never held for long.
  [[nodiscard]] std::future<OrderAnswer> order(Order order);

  [[nodiscard]] const std::vector<ProcessStatus>& processes() const noexcept { return status_; }
  [[nodiscard]] config::State state() const noexcept { return machine_.state(); }
  [[nodiscard]] const std::vector<StateMachine::Change>& changes() const noexcept { return changes_; }
  /// By name.
  [[nodiscard]] const std::map<std::string, ChainStatus>& chains() const noexcept { return chains_; }
  /// The last 1,000 lines about late chains: one in ten seconds for each.
  [[nodiscard]] const std::deque<LateChain>& late_chains() const noexcept { return late_; }
  [[nodiscard]] const config::Configuration& configuration() const noexcept { return plan_->configuration; }
  /// The plan that runs now. Any thread; takes a mutex that is never held for long.
  [[nodiscard]] std::shared_ptr<const plan::Plan> plan() const;

 private:
  struct Slot {
    RestartPolicy policy;
    std::unique_ptr<ChildProcess> child{};
    LineSplitter output{}, error{};
    LogRate rate{};                                       ///< of what no component logs
    std::map<std::string, LogRate, std::less<>> rates{};  ///< of its components
    std::int64_t told_ns = 0;                             ///< when lines that were left out were last reported
    std::string ready{};
    std::map<std::string, std::uint64_t> threw_before{};  ///< exceptions of the runs before this one
    std::deque<std::string> last_lines{};
    std::int64_t restart_ns = 0;  ///< 0: none is due
    std::int64_t slow_ns = 0;     ///< when to report that it has not started; 0: it has
    std::int64_t kill_ns = 0;     ///< when one that an operator stops has used up its grace; 0: none is stopped
    std::string doing{};          ///< before it is up, in words
    std::string failure{};        ///< why it does not start, in its own words
    bool cannot_change = false;   ///< the failure: in a first start, the next one would end the same way
    bool told_to_end = false;
    bool ends_in_order = false;   ///< it has said that it ends
    std::int64_t stopped_ns = 0;  ///< since when a signal keeps it from running; 0: it runs
    std::int64_t name_ns = 0;     ///< when to report that again
    bool frozen = false;          ///< it was killed for that
    bool killed = false;          ///< by this launcher, in its present or last run
    bool was_up = false;          ///< in one of its runs
    bool held = false;            ///< an operator stopped it
    bool unstarted = false;       ///< with the plan that an operator applied
    PoisonWatch poison{};
    /// By component and parameter: values that were set at run time, and that its next run starts with.
    std::map<std::string, std::map<std::string, config::Value>> kept{};
    Fd kept_plan{};                      ///< with them, for its present run
    std::optional<Order::What> asked{};  ///< by an operator, and not done yet
    std::promise<OrderAnswer> answer{};  ///< of that
    bool order_killed = false;           ///< it did not end in order for that
  };
  /// A plan that is being applied: first processes end, then the plan is another one, then processes start.
  struct Applying {
    std::shared_ptr<const PlanChange> change{};
    std::set<std::string> names{};  ///< of the processes that end
    Fd sealed{};
    std::unique_ptr<StateMachine> machine{};
    bool same_topics = true;                  ///< are watched
    std::unique_ptr<SilenceWatch> silence{};  ///< where they are others
    bool switched = false, killed = false;
    std::size_t waiting = 0;  ///< processes that have to end, then those that have to start
    std::optional<Error> error{};
    std::promise<OrderAnswer> answer{};
  };
  struct Given {
    Order order;
    std::promise<OrderAnswer> answer;
  };

  void start(std::size_t index);
  [[nodiscard]] ChildOptions command_of(std::size_t index) const;
  void listen(int fd, std::size_t index);
  void serve(std::size_t index);
  void drain(std::size_t index, int fd, bool error);
  void read_ready(std::size_t index);
  void heard(std::size_t index, std::string_view line);
  void threw(std::size_t index, std::string_view words);
  void chain(std::string_view words);
  void say_chains() const;
  void keep(std::size_t index, std::string_view words);
  void seal_kept(std::size_t index);
  static void forget_changed(Slot& slot, const config::Process& before, const config::Process& now);
  /// True: there were any.
  [[nodiscard]] bool say_exceptions() const;
  void say_slow(std::size_t index, std::int64_t now);
  void look_stopped(std::size_t index, std::int64_t now);
  void came_up(std::size_t index);
  void ended(std::size_t index, const Ending& ending);
  void crashed(std::size_t index, const std::string& cause, const std::string& remedy, const std::string& own_words);
  void decide(std::size_t index, bool in_order, const std::string& cause);
  void take_orders();
  void obey(Given given);
  void end_for_operator(std::size_t index);
  void obeyed(std::size_t index, bool crashed);
  void apply(Given given);
  void ended_for_plan(std::size_t index, bool crashed);
  void switch_plan();
  void applied(std::size_t index, std::optional<Error> error);
  void finish_apply();
  [[nodiscard]] StateMachine machine_of(const config::Configuration& configuration);
  [[nodiscard]] static std::unique_ptr<SilenceWatch> watch_of(const config::Configuration& configuration,
                                                              const StateMachine& machine);
  void kill(std::size_t index);
  void answer(std::size_t index, std::optional<Error> error);
  void close_orders();
  void begin_stop(const std::string& reason);
  void stop_next();
  void kill_all();
  void change(std::size_t index, Phase phase, Unit unit, const std::string& why = {});
  void advance();
  void publish(const StateMachine::Change& change);
  void due(std::int64_t now);
  void arm_timer();
  [[nodiscard]] bool over() const;
  /// Between two plans: nothing starts, because it would start with the old one.
  [[nodiscard]] bool between_plans() const noexcept { return applying_ && !applying_->switched; }
  void say_left_out(std::size_t index, std::int64_t now, bool at_once = false);
  void line(std::size_t index, LogLine::Source source, std::string_view text);
  void say(LogLevel level, const std::string& text) const;

  mutable std::mutex plan_mutex_;
  std::shared_ptr<const plan::Plan> plan_;  ///< changed with plan_mutex_, by the thread of run()
  LauncherOptions options_;
  Fd sealed_;  ///< the plan, for the processes
  Fd epoll_, timer_, stop_fd_;
  Atomic<std::uint32_t> stops_{0};
  std::uint32_t stops_seen_ = 0;
  std::vector<Slot> slots_;
  std::vector<ProcessStatus> status_;
  std::unique_ptr<SilenceWatch> silence_;
  StateMachine machine_;
  std::vector<StateMachine::Change> changes_;
  std::map<std::string, ChainStatus> chains_;
  std::deque<LateChain> late_;
  std::unique_ptr<Publisher<SystemState>> publisher_;
  PlacedFrames frames_;
  bool stopping_ = false, failed_ = false;
  std::string stop_reason_;
  std::size_t stop_at_ = 0;   ///< processes from here on have been asked to end
  std::int64_t kill_ns_ = 0;  ///< when the one that is being stopped has used up its grace
  std::int64_t tick_ns_ = 0, end_ns_ = 0;
  std::mutex orders_mutex_;
  std::vector<Given> orders_;  ///< with orders_mutex_
  bool takes_orders_ = true;   ///< with orders_mutex_
  std::optional<Applying> applying_;
};

}  // namespace cardan::launcher
