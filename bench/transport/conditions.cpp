// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/conditions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "bench/pin.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/options.hpp"
#include "cardan/error.hpp"
#include "cardan/realtime.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMostWorkMs = 1000;
constexpr std::uint32_t kMostLoadThreads = 256;
constexpr double kLeastCpuPercent = 10;  // the kernel gives a group 1 ms of a period or more
constexpr double kMostCpuPercent = 100'000;
constexpr int kRealTimePriority = 50;  // the middle, below the kernel's own threads
// A load's periods vary around 10 ms, so that it does not march in step with the frames.
constexpr std::int64_t kLeastLoadPeriodNs = 5'000'000, kMostLoadPeriodNs = 15'000'000;
constexpr int kStepsBetweenLooks = 20'000;        // some 20 µs: the clock of a thread's CPU time is a system call
constexpr std::int64_t kBudgetPeriodUs = 10'000;  // of a control group; the kernel's default of 100 ms is a long gap
constexpr std::string_view kGroupPrefix = "cardan-bench-";

[[noreturn]] void refuse_word(std::string_view word) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("--conditions: unknown condition `{}`", word),
              fmt::format("use none, or some of work=MS (to {:g}), load=THREADSxPERCENT (to {}x100), cpu=PERCENT "
                          "({:g} and more), fifo, joined as work=20+fifo",
                          kMostWorkMs, kMostLoadThreads, kLeastCpuPercent));
}

void take_word(Conditions& out, const std::string& word) {
  const auto equals = std::min(word.find('='), word.size());
  const std::string_view key = std::string_view(word).substr(0, equals);
  const std::string_view value = std::string_view(word).substr(std::min(equals + 1, word.size()));
  if (word == "fifo") {
    out.fifo = true;
  } else if (key == "work") {
    out.work_ms = number_in(value, 0.001, kMostWorkMs).value_or(0);
    if (out.work_ms == 0) refuse_word(word);
  } else if (key == "cpu") {
    out.cpu_percent = number_in(value, kLeastCpuPercent, kMostCpuPercent).value_or(0);
    if (out.cpu_percent == 0) refuse_word(word);
  } else if (key == "load" && value.find('x') != std::string_view::npos) {
    const auto threads = number_in(value.substr(0, value.find('x')), 1, kMostLoadThreads);
    const auto percent = number_in(value.substr(value.find('x') + 1), 1, 100);
    if (!threads || !percent || *threads != std::floor(*threads)) refuse_word(word);
    out.load_threads = static_cast<std::uint32_t>(*threads);
    out.load_percent = *percent;
  } else {
    refuse_word(word);
  }
}

// Threads start one after the other within a period, and differ in their periods. An exception must not leave a
// process that is a copy of the harness.
[[noreturn]] void run_load(std::uint32_t threads, double percent) noexcept {
  const auto work = [=](std::uint32_t index) noexcept {
    std::minstd_rand random(index + 1);
    std::uniform_int_distribution<std::int64_t> periods(kLeastLoadPeriodNs, kMostLoadPeriodNs);
    std::int64_t beat = now_ns() + kLeastLoadPeriodNs * index / threads;
    for (;;) {
      const std::int64_t period = periods(random);
      sleep_until(beat);
      compute_for(static_cast<std::int64_t>(static_cast<double>(period) * percent / 100 / threads));
      beat = std::max(beat + period, now_ns());
    }
  };
  try {
    for (std::uint32_t i = 1; i < threads; ++i) std::thread(work, i).detach();
  } catch (...) {
    ::_exit(1);  // BackgroundLoad::failure() says so
  }
  work(0);
  ::_exit(0);
}

std::string write_to(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return written ? std::string() : fmt::format("cannot write {}: {}", path, std::strerror(error));
}

bool has_word(const std::string& path, std::string_view wanted) {
  std::ifstream in(path);
  for (std::string word; in >> word;)
    if (word == wanted) return true;
  return false;
}

bool is_second_version() { return ::access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0; }

std::string root_of_groups() { return is_second_version() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu"; }

// Of benches that were killed: an empty group costs nothing, but nobody else removes it.
void remove_orphans(const std::string& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kGroupPrefix, 0) != 0) continue;
    const std::string numbers = name.substr(kGroupPrefix.size());  // PID-SERIAL
    const auto pid = number_in(std::string_view(numbers).substr(0, numbers.find('-')), 1, 1e9);
    if (pid && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

}  // namespace

std::string name_of(const Conditions& c) {
  std::vector<std::string> words;
  if (c.work_ms > 0) words.push_back(fmt::format("work={:g}", c.work_ms));
  if (c.load_threads > 0) words.push_back(fmt::format("load={}x{:g}", c.load_threads, c.load_percent));
  if (c.cpu_percent > 0) words.push_back(fmt::format("cpu={:g}", c.cpu_percent));
  if (c.fifo) words.emplace_back("fifo");
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, "+"));
}

Conditions parse_conditions(std::string_view text) {
  Conditions out;
  if (text == "none") return out;
  const auto words = split(text, '+');
  if (words.empty()) refuse_word(text);
  for (const std::string& word : words) take_word(out, word);
  if (out.fifo && out.cpu_percent > 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("--conditions: `{}`: a limit of CPU time does not hold for SCHED_FIFO", text),
                "give cpu= and fifo as two conditions");
  return out;
}

void compute_for(std::int64_t cpu_ns) noexcept {
  const std::int64_t until = read_clock(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
  volatile std::uint64_t value = 1;
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) < until)
    for (int i = 0; i < kStepsBetweenLooks; ++i) value = value * 6'364'136'223'846'793'005U + 1;
}

void become_real_time() {
  const RealtimeReport report = realtime({.priority = kRealTimePriority});
  for (const RealtimeGrant& grant : report.grants)
    if (!grant.granted)
      throw Error(ErrorCode::Refused, fmt::format("cannot have {}: {}", grant.what, grant.cause), grant.remedy);
}

std::string why_not(const Conditions& conditions) {
  try {
    const CpuBudget budget(conditions.cpu_percent);
    if (!conditions.fifo) return {};
    const int policy = ::sched_getscheduler(0);
    sched_param former{};
    ::sched_getparam(0, &former);
    become_real_time();
    ::sched_setscheduler(0, policy, &former);
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

BackgroundLoad::BackgroundLoad(const Conditions& conditions, const std::vector<int>& cpus) {
  if (conditions.load_threads == 0) return;
  std::vector<int> each = cpus;
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  const pid_t harness = ::getpid();
  for (const int cpu : each) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::signal(SIGINT, SIG_IGN);  // the harness alone decides what Ctrl-C means
      if (::getppid() != harness || !pin_to(cpu)) ::_exit(1);
      run_load(conditions.load_threads, conditions.load_percent);
    }
    if (pid < 0) {
      const int error = errno;
      end();
      throw Error(ErrorCode::Limit, fmt::format("cannot start a process: {}", std::strerror(error)),
                  "raise the limit of processes with ulimit -u");
    }
    pids_.push_back(pid);
  }
}

BackgroundLoad::~BackgroundLoad() { end(); }

std::string BackgroundLoad::failure() {
  for (const pid_t pid : pids_)
    if (siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
      return "the load of --conditions could not be had: too few processes or threads, or a CPU that may not be used";
  return {};
}

void BackgroundLoad::end() noexcept {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_)
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

CpuBudget::CpuBudget(double percent) {
  if (percent <= 0) return;
  const std::string root = root_of_groups();
  const auto fail = [&](const std::string& cause) {
    remove();
    throw Error(ErrorCode::Refused, fmt::format("cannot limit CPU time by a control group: {}", cause),
                "run as root on a computer with control groups, or leave out cpu=");
  };
  remove_orphans(root);
  if (is_second_version() && !has_word(root + "/cgroup.subtree_control", "cpu")) {
    if (const std::string error = write_to(root + "/cgroup.subtree_control", "+cpu"); !error.empty()) fail(error);
    takes_back_ = true;
  }
  static std::uint32_t serial = 0;
  const std::string folder = fmt::format("{}/{}{}-{}", root, kGroupPrefix, ::getpid(), ++serial);
  if (::mkdir(folder.c_str(), 0755) != 0) fail(fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
  folder_ = folder;
  const auto quota = static_cast<std::int64_t>(percent / 100 * static_cast<double>(kBudgetPeriodUs));
  std::string error;
  if (is_second_version()) {
    error = write_to(folder_ + "/cpu.max", fmt::format("{} {}", quota, kBudgetPeriodUs));
  } else {
    error = write_to(folder_ + "/cpu.cfs_period_us", std::to_string(kBudgetPeriodUs));
    if (error.empty()) error = write_to(folder_ + "/cpu.cfs_quota_us", std::to_string(quota));
  }
  if (!error.empty()) fail(error);
}

CpuBudget::~CpuBudget() { remove(); }

void CpuBudget::remove() noexcept {
  // The kernel counts a process as a member until a moment after it was reaped.
  if (!folder_.empty())
    for (int i = 0; i < 100 && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) sleep_until(now_ns() + 1'000'000);
  if (takes_back_) static_cast<void>(write_to(root_of_groups() + "/cgroup.subtree_control", "-cpu"));
  folder_.clear();
  takes_back_ = false;
}

void CpuBudget::take(pid_t pid) const {
  if (folder_.empty()) return;
  if (const std::string error = write_to(folder_ + "/cgroup.procs", std::to_string(pid)); !error.empty())
    throw Error(ErrorCode::Refused, fmt::format("cannot limit the CPU time of process {}: {}", pid, error),
                "leave out cpu=");
}

}  // namespace cardan::bench
