// SPDX-License-Identifier: Apache-2.0
// A recorder, a disk, sources and applications in simulated time, to see what a scheduler makes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "src/record/schedule/scheduler.hpp"

namespace cardan::record::test {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

/// `count` samples of `bytes` at each multiple of `period`.
struct Source {
  std::int64_t period;
  std::uint64_t bytes;
  int count = 1;
};

/// Begins at each multiple of `period`, give or take `jitter`, and computes for `work`, give or take `work_jitter`.
struct Worker {
  std::string name;
  std::int64_t period;
  std::int64_t work;
  std::int64_t jitter = 0;
  std::int64_t work_jitter = 0;
  double weight = 1;
  std::int64_t silent_from = std::numeric_limits<std::int64_t>::max();  ///< crashes then, in whatever state it is
  bool says_period = false;
};

struct Issue {
  std::int64_t at;
  std::uint64_t bytes;
  std::int64_t age;
  WriteReason why;
  std::vector<bool> computing;  ///< which applications really were
};

class Model {
 public:
  static constexpr std::int64_t kBegin = 1000 * kSecond;  ///< of the clock

  Model(const SchedulerOptions& options, std::vector<Source> sources, std::vector<Worker> workers,
        double disk_bytes_per_ns, std::uint64_t budget, std::uint32_t seed = 1)
      : scheduler(options),
        sources_(std::move(sources)),
        workers_(std::move(workers)),
        disk_(disk_bytes_per_ns),
        budget_(budget),
        random_(seed),
        next_sample_(sources_.size(), kBegin),
        states_(workers_.size()) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      CycleHint& h = states_[i].hint;
      h.instance = 100 + i;
      h.weight = workers_[i].weight;
      h.period_ns = workers_[i].says_period ? workers_[i].period : 0;
      (void)h.name.assign(workers_[i].name);
      states_[i].next = kBegin + workers_[i].period / 3;
      states_[i].grid = states_[i].next;
    }
  }

  /// Other events when the recorder wakes: lying hints, for example.
  std::function<void(std::int64_t now)> also;

  void run(std::int64_t duration) {
    const std::int64_t until = now_ + duration;
    while (now_ < until) {
      std::int64_t next = std::min(look_, until);
      for (const std::int64_t at : next_sample_) next = std::min(next, at);
      for (const State& s : states_) next = std::min(next, s.next);
      if (!flying_.empty()) next = std::min(next, flying_.front().done);
      now_ = next;
      work();
      bool wake = now_ >= look_;
      for (std::size_t i = 0; i < sources_.size(); ++i)
        for (; next_sample_[i] <= now_; next_sample_[i] += sources_[i].period, wake = true)
          for (int n = 0; n < sources_[i].count; ++n) {
            queue_.push_back({now_, sources_[i].bytes});
            waiting_ += sources_[i].bytes;
            came += sources_[i].bytes;
            scheduler.arrived(sources_[i].bytes, now_);
          }
      for (; !flying_.empty() && flying_.front().done <= now_; wake = true) {
        scheduler.completed(flying_.front().bytes, now_);
        in_flight_ -= flying_.front().bytes;
        flying_.pop_front();
      }
      if (wake) decide();
    }
  }

  [[nodiscard]] std::uint64_t bytes_of(WriteReason why) const {
    std::uint64_t sum = 0;
    for (const Issue& i : issues) sum += i.why == why ? i.bytes : 0;
    return sum;
  }
  /// Share of the bytes that were issued while application `i` really computed.
  [[nodiscard]] double while_computing(std::size_t i, std::int64_t from = 0) const {
    double sum = 0;
    double all = 0;
    for (const Issue& issue : issues) {
      if (issue.at < from) continue;
      all += static_cast<double>(issue.bytes);
      if (issue.computing[i]) sum += static_cast<double>(issue.bytes);
    }
    return all == 0 ? 0 : sum / all;
  }
  /// The most bytes issued within any such time.
  [[nodiscard]] std::uint64_t most_within(std::int64_t window, std::int64_t from = 0) const {
    std::uint64_t most = 0;
    std::uint64_t sum = 0;
    std::size_t first = 0;
    for (const Issue& issue : issues) {
      if (issue.at < from) {
        ++first;
        continue;
      }
      sum += issue.bytes;
      while (issues[first].at <= issue.at - window) sum -= issues[first++].bytes;
      most = std::max(most, sum);
    }
    return most;
  }
  [[nodiscard]] std::int64_t now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }

  Scheduler scheduler;
  std::vector<Issue> issues;
  std::int64_t oldest = 0;  ///< the longest that anything has waited
  std::uint64_t fullest = 0;
  std::uint64_t came = 0;
  std::uint64_t looks = 0;

 private:
  struct Waiting {
    std::int64_t came;
    std::uint64_t bytes;
  };
  struct Flying {
    std::int64_t done;
    std::uint64_t bytes;
  };
  struct State {
    CycleHint hint;
    bool unread = false;
    std::int64_t next = 0;
    std::int64_t grid = 0;  ///< its begins without jitter
  };

  std::int64_t jitter(std::int64_t most) {
    return most == 0 ? 0 : std::uniform_int_distribution<std::int64_t>(-most, most)(random_);
  }

  void work() {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      State& s = states_[i];
      while (s.next <= now_) {
        if (s.next - kBegin >= workers_[i].silent_from) {
          s.next = std::numeric_limits<std::int64_t>::max();
          break;
        }
        s.unread = true;
        if (s.hint.busy) {
          s.hint.end_ns = s.next;
          s.hint.worked_ns = s.next - s.hint.begin_ns;
          s.hint.busy = false;
          s.grid += workers_[i].period;
          s.next = std::max(s.next + 1, s.grid + jitter(workers_[i].jitter));
        } else {
          ++s.hint.count;
          s.hint.begin_ns = s.next;
          s.hint.busy = true;
          s.next += std::max(kUs, workers_[i].work + jitter(workers_[i].work_jitter));
        }
      }
    }
  }

  void decide() {
    ++looks;
    for (State& s : states_)
      if (std::exchange(s.unread, false)) scheduler.hint(s.hint, now_);
    if (also) also(now_);
    if (!queue_.empty()) oldest = std::max(oldest, now_ - queue_.front().came);
    fullest = std::max(fullest, waiting_);
    const Decision decision =
        scheduler.decide({waiting_, queue_.empty() ? 0 : queue_.front().came,
                          static_cast<double>(waiting_) / static_cast<double>(budget_), in_flight_},
                         now_);
    look_ = decision.look_again_ns;
    std::uint64_t sum = 0;
    while (!queue_.empty() && sum < decision.bytes) {
      const Waiting sample = queue_.front();
      queue_.pop_front();
      waiting_ -= sample.bytes;
      sum += sample.bytes;
      const std::int64_t begin = flying_.empty() ? now_ : std::max(now_, flying_.back().done);
      flying_.push_back(
          {begin + 50 * kUs + static_cast<std::int64_t>(static_cast<double>(sample.bytes) / disk_), sample.bytes});
      in_flight_ += sample.bytes;
      Issue issue{now_, sample.bytes, now_ - sample.came, decision.why, {}};
      for (const State& s : states_) issue.computing.push_back(s.hint.busy);
      issues.push_back(std::move(issue));
    }
    if (sum != 0) scheduler.issued(sum, now_);
  }

  std::vector<Source> sources_;
  std::vector<Worker> workers_;
  double disk_;
  std::uint64_t budget_;
  std::mt19937 random_;
  std::int64_t now_ = kBegin;
  std::int64_t look_ = kBegin;
  std::vector<std::int64_t> next_sample_;
  std::vector<State> states_;
  std::deque<Waiting> queue_;
  std::uint64_t waiting_ = 0;
  std::deque<Flying> flying_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace cardan::record::test
