// SPDX-License-Identifier: Apache-2.0
#include "bench/stage.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/pin.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/child_process.hpp"

namespace cardan::bench {
namespace {

sigset_t orders() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  ::sigaddset(&set, SIGTERM);
  return set;
}

int next_order() {
  const sigset_t set = orders();
  for (;;)
    if (const int order = ::sigwaitinfo(&set, nullptr); order > 0) return order;
}

CpuTime cpu_of(int who) noexcept {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

// Before any other thread exists, so that all are where it is.
void take_place(const nlohmann::json& job) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  const int cpu = job.value("cpu", -1);
  if (cpu < 0) return;
  if (!pin_to(cpu))
    throw Error(ErrorCode::Refused, fmt::format("cannot pin to CPU {}: {}", cpu, std::strerror(errno)),
                "choose another with the options of the bench");
}

}  // namespace

Stage::Stage() {
  const sigset_t set = orders();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void Stage::say() {
  const char word = '.';
  while (::write(launcher::ChildProcess::kReadyFd, &word, 1) < 0 && errno == EINTR) {
  }
}

void Stage::ready() { say(); }
void Stage::done() { say(); }

bool Stage::wait_for_go() {
  if (!ended_) ended_ = next_order() == SIGTERM;
  return !ended_;
}

void Stage::wait_for_end() {
  while (!ended_) ended_ = next_order() == SIGTERM;
}

bool Stage::end_asked() {
  if (ended_) return true;
  const sigset_t set = orders();
  const timespec now{};
  ended_ = ::sigtimedwait(&set, nullptr, &now) == SIGTERM;
  return ended_;
}

void Stage::report(const nlohmann::json& result) {
  const std::string text = result.dump();
  const char* at = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t n = ::write(launcher::ChildProcess::kReportFd, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(ErrorCode::System, fmt::format("cannot hand over the result: {}", std::strerror(errno)),
                  "this part is started by `cardan bench`");
    at += n;
    left -= static_cast<std::size_t>(n);
  }
}

CpuTime own_cpu() noexcept { return cpu_of(RUSAGE_SELF); }
CpuTime thread_cpu() noexcept { return cpu_of(RUSAGE_THREAD); }

nlohmann::json to_json(const CpuTime& time) { return {{"user", time.user}, {"system", time.system}}; }
CpuTime cpu_time_of(const nlohmann::json& json) { return {json.at("user"), json.at("system")}; }

int play_part(const std::map<std::string, void (*)(const nlohmann::json&)>& parts, const char* job) noexcept {
  try {
    const auto description = nlohmann::json::parse(job);
    take_place(description);
    parts.at(description.at("part"))(description);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace cardan::bench
