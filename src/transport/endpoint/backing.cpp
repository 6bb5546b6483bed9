// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/backing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/detail/fd.hpp"
#include "src/base/area.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/answer_times.hpp"

namespace cardan::detail {
namespace {

constexpr std::int64_t kLook = 5'000'000;                  // between two looks at the thread that asks
constexpr std::int64_t kWithoutProcessor = 1'000'000'000;  // the longest wait that nobody is charged for

/// While it lives, new threads start with signals blocked: those are for the application's threads.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// The start of a small file of /proc; empty if it cannot be read.
template <std::size_t N>
const char* start_of(const char* path, char (&text)[N]) noexcept {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = file ? ::read(file.get(), text, N - 1) : 0;
  text[std::max<ssize_t>(n, 0)] = '\0';
  return text;
}

/// How long this thread has been ready to run without a processor (ns). 0 where the kernel does not count it.
std::int64_t without_processor() noexcept {
  char text[96];
  std::int64_t waited = 0;
  (void)std::sscanf(start_of("/proc/thread-self/schedstat", text), "%*d %" SCNd64, &waited);
  return waited;
}

/// Whether the thread of this process waits for something other than a processor. Also true if /proc does not say.
bool sleeps(pid_t thread) noexcept {
  char path[48];
  char text[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
  const char* const name_end = std::strrchr(start_of(path, text), ')');
  return name_end == nullptr || name_end[1] == '\0' || name_end[2] != 'R';
}

struct Question {
  enum Answer : std::uint32_t { None, Yes, No };
  Fd fd;
  Ranges ranges;
  Atomic<std::uint32_t> answer{None};
  Atomic<pid_t> thread{0};  // 0: it has not run yet
  std::int64_t cost = 0;    // ns, valid once there is an answer

  void ask(uid_t whose) noexcept {
    const std::int64_t began = steady_now();
    const std::int64_t waited = without_processor();
    thread.store(::gettid(), std::memory_order_relaxed);
    const bool backed = all_backed(fd.get(), ranges);
    cost = std::max<std::int64_t>(0, steady_now() - began - (without_processor() - waited));
    AnswerTimes::of_process().done(whose);  // before the answer: the next question may follow at once
    answer.store(backed ? Yes : No, std::memory_order_release);
    futex::wake(answer, 1);
  }
  /// Waits until the answer has come, or has cost the owner `limit`. Returns the cost (ns).
  std::int64_t wait(std::int64_t limit) noexcept {
    std::int64_t now = steady_now();
    const std::int64_t until = now + limit + kWithoutProcessor;
    std::int64_t slept = 0;
    while (answer.load(std::memory_order_acquire) == None && slept < limit && now < until) {
      futex::wait(answer, None, now + std::min(kLook, limit - slept));
      const std::int64_t looked = steady_now();
      const pid_t asking = thread.load(std::memory_order_relaxed);
      if (asking != 0 && sleeps(asking)) slept += looked - now;
      now = looked;
    }
    return answer.load(std::memory_order_acquire) == None ? slept : cost;
  }
};

}  // namespace

bool all_backed(int fd, const Ranges& ranges) noexcept {
  return std::all_of(ranges.begin(), ranges.end(),
                     [fd](const AreaRange& r) { return is_backed(fd, r.offset, r.bytes); });
}

Backed all_backed_in_time(int fd, const Ranges& ranges, uid_t whose) {
  auto& times = AnswerTimes::of_process();
  const auto question = std::make_shared<Question>();
  question->ranges = ranges;
  const std::int64_t limit = times.begin(whose, steady_now());
  if (limit == 0) return Backed::NotAnswered;
  try {
    question->fd = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!question->fd) {  // this process lacks a descriptor
      times.done(whose);
      return Backed::NotAnswered;
    }
    const NoSignals none;
    std::thread([question, whose] { question->ask(whose); }).detach();
  } catch (...) {  // no thread available
    times.done(whose);
    return Backed::NotAnswered;
  }
  times.spent(whose, question->wait(limit));
  switch (question->answer.load(std::memory_order_acquire)) {
    case Question::Yes:
      return Backed::Yes;
    case Question::No:
      return Backed::No;
    default:
      return Backed::NotAnswered;
  }
}

}  // namespace cardan::detail
