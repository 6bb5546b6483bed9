// SPDX-License-Identifier: Apache-2.0
// Processes of a running system are killed at random moments: the launcher brings each back, the others lose nothing,
// and in the end nothing remains. CARDAN_TEST_SEED repeats the order of a run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/subscriber.hpp"
#include "src/system/launcher/crash_report.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/plan/plan.hpp"
#include "tests/runtime/host_role.hpp"
#include "tests/runtime/kill_components.hpp"
#include "tests/support/child.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;
using config::State;
using launcher::LogLine;
using launcher::Phase;
using launcher::Supervisor;

/// As eventually(), for a computer that may give the whole test no time for minutes: looks are counted, not seconds.
/// A run that needs more of them hangs.
bool patiently(const std::function<bool()>& done, int looks = 100'000) {
  for (int i = 0; i < looks; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

constexpr const char* kNames[] = {"small", "large", "middle", "watch", "store"};
constexpr const char* kClasses[] = {"SmallSource", "LargeSource", "Middle", "Watch", "Store"};
constexpr std::size_t kProcesses = std::size(kNames);

CARDAN_ROLE(kill_sweeper) {  // the next one to come removes what the dead have left
  const Publisher<Small> out{kSmallFrames};
  return 0;
}

/// The open descriptors of this process, one a line.
std::string open_descriptors() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the folder itself
    const std::string to = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!gone) all.push_back(entry.path().filename().string() + " -> " + to);
  }
  std::sort(all.begin(), all.end());
  return fmt::format("{}\n", fmt::join(all, "\n"));
}
std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The processes as the supervisor's thread saw them a moment ago. Descriptors of processes, unlike their numbers,
/// never come to mean another process.
class Targets {
 public:
  /// On the thread of Supervisor::run().
  void look(const Supervisor& supervisor) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kProcesses; ++i) {
      const launcher::ProcessStatus& status = supervisor.processes()[i];
      Target& target = all_[i];
      target.phase = status.phase;
      if (status.pid == 0 || status.started_ns == target.started_ns) continue;
      target.started_ns = status.started_ns;
      target.process = Fd{static_cast<int>(::syscall(SYS_pidfd_open, status.pid, 0))};
    }
    state_ = supervisor.state();
  }
  /// False: it is dead, or was not seen since its last death.
  bool kill(std::size_t index) {
    const std::lock_guard lock(mutex_);
    Target& target = all_[index];
    if (!target.process) return false;
    const std::int64_t now = steady_now();
    const bool good = ::syscall(SYS_pidfd_send_signal, target.process.get(), SIGKILL, nullptr, 0) == 0;
    if (good) target.kills.push_back(now);
    if (good && target.phase == Phase::Starting) ++young_;
    target.process.reset();
    return good;
  }
  std::optional<std::size_t> one_that_starts() {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kProcesses; ++i)
      if (all_[i].phase == Phase::Starting && all_[i].process) return i;
    return {};
  }
  bool all_run() {
    const std::lock_guard lock(mutex_);
    return state_ == State::Running && std::all_of(std::begin(all_), std::end(all_), [](const Target& t) {
             return t.phase == Phase::Running && t.process;
           });
  }
  std::vector<std::int64_t> kills(std::size_t index) {
    const std::lock_guard lock(mutex_);
    return all_[index].kills;
  }
  int young() {
    const std::lock_guard lock(mutex_);
    return young_;
  }
  void forget() {
    for (Target& target : all_) target.process.reset();
  }

 private:
  struct Target {
    Fd process;
    std::int64_t started_ns = 0;
    Phase phase = Phase::Waiting;
    std::vector<std::int64_t> kills;
  };
  std::mutex mutex_;
  Target all_[kProcesses];
  State state_ = State::Starting;
  int young_ = 0;
};

class ProcessKills : public OwnRunDirectory {
 protected:
  ProcessKills() : tally_(run_directory() + "/tally-" + domain_) {}

  plan::Plan plan() {
    std::string processes;
    std::string names;
    for (std::size_t i = 0; i < kProcesses; ++i) {
      processes += fmt::format(
          R"({}"{}": {{"components": {{"{}-1": {{"library": "{}", "class": "{}", "parameters": {{"tally": "{}"}}}}}},
             "restart": {{"limit": 1000000, "window_s": 60, "backoff_ms": 1, "backoff_max_ms": 5}}}})",
          i == 0 ? "" : ", ", kNames[i], kNames[i], CARDAN_KILL_COMPONENTS, kClasses[i], tally_.path());
      names += fmt::format(R"({}"{}")", i == 0 ? "" : ", ", kNames[i]);
    }
    const std::string text = fmt::format(
        R"({{"domain": "{}", "processes": {{{}}}, "states": {{"transitions": [
             {{"when": {{"down": [{}]}}, "to": "degraded", "from": "running"}},
             {{"when": {{"up": [{}]}}, "to": "running", "from": "degraded"}}]}}}})",
        domain_, processes, names, names);
    file_ = fmt::format("{}/{}.json", run_directory(), domain_);
    std::ofstream(file_) << text;
    return plan::make_plan(file_);
  }
  void start() {
    launcher::LauncherOptions options;
    options.host_command = {"/proc/self/exe", "--role", "host"};
    options.reports = run_directory() + "/out";
    options.grace = 1h;
    options.tick = 1ms;
    options.on_tick = [this] { targets_.look(*supervisor_); };
    options.on_line = [this](const LogLine& line) {
      lines_.push_back(fmt::format("{} | {}", line.name, line.text));
      if (lines_.size() > 100) lines_.pop_front();
    };
    supervisor_ = std::make_unique<Supervisor>(plan(), options);
    thread_ = std::thread([this] {
      code_ = supervisor_->run();
      over_ = true;
    });
  }
  void TearDown() override {
    if (thread_.joinable()) {  // a failed assertion left it
      supervisor_->stop();
      supervisor_->stop();
      thread_.join();
    }
    if (HasFailure())
      for (const auto& line : lines_) std::printf("  %s\n", line.c_str());
  }

  /// All run, everybody gets what the others publish now, and no survivor has lost the last messages of the dead.
  void everybody_goes_on() {
    ASSERT_TRUE(patiently([&] { return over_ || targets_.all_run(); })) << "not all came back" << progress();
    ASSERT_FALSE(over_) << "the supervisor has ended by itself";
    ASSERT_TRUE(patiently([&] {
      while (const auto sample = state_->take()) last_state_ = sample->state;
      return last_state_ == State::Running;
    })) << "the state topic did not come back to running";
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      for (std::size_t reader = 0; reader < kReaders; ++reader)
        if (reads(reader, stream)) gets_what_is_new(stream, reader);
    const std::uint64_t lives = std::min<std::uint64_t>(tally_->lives, kMostLives - 1);
    for (std::uint64_t life = 1; life <= lives; ++life) {
      const std::uint64_t stream = tally_->stream_of[life];
      if (stream == 0 || tally_->writer[stream - 1] == life || !ended_.insert(life).second) continue;
      for (std::size_t reader = 0; reader < kReaders; ++reader)
        if (reads(reader, stream - 1)) got_the_last(life, reader);
    }
  }
  void gets_what_is_new(std::size_t stream, std::size_t reader) {
    const std::uint64_t writer = tally_->writer[stream];
    const std::uint64_t wanted = key_of(tally_->reader[reader], tally_->published[writer] + 3);
    EXPECT_TRUE(patiently([&] { return tally_->seen[reader][writer] >= wanted; }))
        << "reader " << reader << " gets no sample of stream " << stream << progress();
  }
  std::string progress() {
    std::string text;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const std::uint64_t writer = tally_->writer[stream];
      text += fmt::format("\n  stream {}: life {} has published {}; seen by", stream, writer,
                          tally_->published[writer].load());
      for (std::size_t reader = 0; reader < kReaders; ++reader)
        text += fmt::format(" {}: {}", reader,
                            writer_of(tally_->seen[reader][writer]) == tally_->reader[reader]
                                ? number_of(tally_->seen[reader][writer])
                                : 0);
    }
    return text;
  }
  void got_the_last(std::uint64_t life, std::size_t reader) {
    if (writer_of(tally_->seen[reader][life]) != tally_->reader[reader]) return;  // not there, or killed too
    ++pairs_;
    EXPECT_TRUE(patiently([&] { return number_of(tally_->seen[reader][life]) >= tally_->published[life]; }))
        << "reader " << reader << " stayed, and of " << tally_->published[life] << " frames of the dead life " << life
        << " it got only " << number_of(tally_->seen[reader][life]);
  }

  void report_times() {
    std::vector<std::int64_t> noticed, back, start_up;
    for (std::size_t i = 0; i < kProcesses; ++i) {
      const launcher::ProcessStatus& status = supervisor_->processes()[i];
      const auto kills = targets_.kills(i);
      EXPECT_EQ(status.phase, Phase::Stopped) << status.name;
      EXPECT_EQ(status.restarts, kills.size()) << status.name;
      ASSERT_EQ(status.outages.size(), kills.size()) << status.name << " ended without being killed";
      std::size_t reports = 0;
      for (std::size_t k = 0; k < kills.size(); ++k) {
        const launcher::Outage& outage = status.outages[k];
        EXPECT_TRUE(outage.cause.starts_with("died by signal 9 ")) << status.name << " " << outage.cause;
        reports += std::filesystem::exists(outage.report) ? 1U : 0U;
        EXPECT_GE(outage.noticed_ns, kills[k]);
        noticed.push_back(outage.noticed_ns - kills[k]);
        if (outage.ready_ns == 0) continue;  // killed again before it was ready
        back.push_back(outage.ready_ns - kills[k]);
        start_up.push_back(outage.ready_ns - outage.started_ns);
      }
      EXPECT_EQ(reports, std::min(kills.size(), launcher::kMostReports)) << status.name;
    }
    std::printf("  kill -> noticed:       %s\n", spread(noticed).c_str());
    std::printf("  kill -> running again: %s\n", spread(back).c_str());
    std::printf("  of that its start-up:  %s\n", spread(start_up).c_str());
  }

  Tally<KillTally> tally_;
  std::string file_;
  Targets targets_;
  std::unique_ptr<Supervisor> supervisor_;
  std::unique_ptr<Subscriber<SystemState>> state_;
  State last_state_ = State::Starting;
  std::deque<std::string> lines_;
  std::thread thread_;
  std::atomic<bool> over_{false};
  int code_ = -1;
  std::set<std::uint64_t> ended_;
  int pairs_ = 0;  ///< readers that outlived a writer
};

TEST_F(ProcessKills, OthersLoseNothingAllComeBackAndNothingIsLeft) {
  const int kills = deep() ? 1000 : 20;
  const char* const given = std::getenv("CARDAN_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<std::uint64_t>(steady_now()) % 1'000'000'000;
  std::printf("  seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };

  const std::string folder = run_directory() + "/" + domain_;
  {  // what the transport opens once stays until exit
    const Publisher<SystemState> out{kSystemState};
    const Subscriber<SystemState> in{kSystemState};
  }
  ASSERT_TRUE(patiently([&] { return open_descriptors().find(kSystemState.name) == std::string::npos; }))
      << "a publisher that is gone keeps its memory:\n"
      << open_descriptors();
  const std::string descriptors_before = open_descriptors();
  const std::size_t names_before = names_in(folder);

  state_ = std::make_unique<Subscriber<SystemState>>(kSystemState, SubscriberOptions{.holds = 2});
  start();
  everybody_goes_on();
  const std::int64_t begun = steady_now();
  int done = 0;
  int twice = 0;
  while (done < kills && !HasFatalFailure()) {
    // Now one after the other in quick succession, now so that most have come back in between.
    std::this_thread::sleep_for(std::chrono::microseconds(below(2) == 0 ? below(15'000) : below(200'000)));
    const std::uint64_t kind = below(10);
    std::size_t victim = below(kProcesses);
    const std::size_t other = below(kProcesses);
    if (kind < 2) victim = targets_.one_that_starts().value_or(victim);
    const int before = done;
    if (targets_.kill(victim)) ++done;
    if (kind == 9 && done < kills && targets_.kill(other)) {
      ++done;
      ++twice;
    }
    if (before / 20 != done / 20) everybody_goes_on();
    ASSERT_FALSE(over_) << "the supervisor has ended by itself";
  }
  everybody_goes_on();
  const double seconds = static_cast<double>(steady_now() - begun) / 1e9;
  supervisor_->stop();
  thread_.join();
  EXPECT_EQ(code_, 0);

  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
  EXPECT_EQ(errno, ECHILD) << "a process is left";
  std::printf("  %d kills in %.1f s: %d of processes that were just starting, %d right after another one\n", done,
              seconds, targets_.young(), twice);
  report_times();
  const auto& changes = supervisor_->changes();
  ASSERT_GE(changes.size(), 3U);
  EXPECT_EQ(changes.back().to, State::Stopped);
  EXPECT_EQ(changes.back().from, State::Running);

  EXPECT_EQ(tally_->lost, 0U) << "frames lost between two that were not killed; " << tally_->missed
                              << " of them on the way";
  EXPECT_EQ(tally_->disordered, 0U);
  EXPECT_EQ(tally_->torn, 0U);
  EXPECT_EQ(tally_->refused, 0U) << "frames found no slot";
  std::uint64_t received = 0;
  for (const auto& count : tally_->received) received += count;
  std::printf("  %llu frames received; %d times a reader outlived a writer, and had its last frame\n",
              static_cast<unsigned long long>(received), pairs_);
  EXPECT_TRUE(pairs_ > 0 || !deep());

  state_.reset();
  supervisor_.reset();
  targets_.forget();
  std::size_t names = 0;
  // Of a process killed while it began to listen a name stays, which is swept after 10 s.
  EXPECT_TRUE(patiently(
      [&] {
        Child("kill_sweeper").end();
        return (names = names_in(folder)) == names_before;
      },
      3000))
      << names << " names in the run directory, " << names_before << " before";
  std::string descriptors;
  EXPECT_TRUE(patiently([&] { return lines_of(descriptors = open_descriptors()) == lines_of(descriptors_before); }))
      << "open:\n"
      << descriptors << "before:\n"
      << descriptors_before;
}

}  // namespace
}  // namespace cardan::test
