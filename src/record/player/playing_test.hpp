// SPDX-License-Identifier: Apache-2.0
// The common part of the tests of the player: a time that only the player moves, so that none depends on how fast this
// computer is, and notes of what was played.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cardan/player.hpp"
#include "src/record/player/bag_test.hpp"

namespace cardan::record::test {

/// Stands still but for waiting.
class FakeTime : public PlayTime {
 public:
  [[nodiscard]] std::int64_t now() noexcept override { return now_; }
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until) override {
    if (until == kNever) return PlayTime::wait(changed, lock, until);
    now_ = std::max<std::int64_t>(now_, until);
  }
  void pass(std::int64_t nanoseconds) { now_ += nanoseconds; }

 private:
  std::atomic<std::int64_t> now_{5'000'000'000};
};

/// One message as it was played.
struct Played {
  std::string topic;
  std::int64_t recorded = 0;  ///< nanoseconds after kBegin
  std::int64_t at = 0;        ///< of the fake time, from the first one on
};

class Playing {
 protected:
  /// Numbers 0 … count − 1 on "/count", one each 100 ms; on "/half" each second one.
  static mcap::Bytes counting(std::uint32_t count, const mcap::WriterOptions& options = {.chunk_bytes = 300}) {
    Bag bag(options);
    const auto one = bag.add<CanFrame>("/count"), half = bag.add<CanFrame>("/half");
    for (std::uint32_t i = 0; i < count; ++i) {
      CanFrame frame;
      frame.id = i;
      bag.write(one, i * kSecond / 10, frame);
      if (i % 2 == 0) bag.write(half, i * kSecond / 10, frame);
    }
    return bag.bytes();
  }

  /// Options that note all that is played.
  PlayerOptions noting(PlayerOptions options = {}) {
    options.time = time_;
    const auto more = options.on_played;
    options.on_played = [this, more](const PlayedMessage& m) {
      if (played_.empty()) first_ = time_->now();
      played_.push_back({m.topic, static_cast<std::int64_t>(m.log_time - kBegin), time_->now() - first_});
      if (more) more(m);
    };
    return options;
  }

  [[nodiscard]] std::vector<std::int64_t> recorded_tenths(const std::string& topic) const {
    std::vector<std::int64_t> all;
    for (const Played& p : played_)
      if (p.topic == topic) all.push_back(p.recorded / 100'000'000);
    return all;
  }
  static std::vector<std::int64_t> numbers(std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> all;
    for (; from < to; ++from) all.push_back(from);
    return all;
  }

  std::shared_ptr<FakeTime> time_ = std::make_shared<FakeTime>();
  std::vector<Played> played_;
  std::int64_t first_ = 0;
};

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return condition();
}

}  // namespace cardan::record::test
