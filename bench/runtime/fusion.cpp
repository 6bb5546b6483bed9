// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/fusion.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "bench/transport/clock.hpp"
#include "cardan/shm_vector.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::bench {

struct FusionFrame {
  std::uint64_t number = 0;  ///< of its channel, from 0
  std::int64_t sent_ns = 0;
  shm::vector<std::uint8_t> data;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::FusionFrame, "cardan_bench/msg/FusionFrame", number, sent_ns, data);

namespace cardan::bench {
namespace {

using namespace std::chrono_literals;

// The beat that all channels share is their least common multiple, 120 Hz: each publishes on some of its beats.
constexpr std::uint32_t kBeatHz = 120;
constexpr std::uint32_t kCyclesPerSecond = 10;
static_assert(kFusionCycleNs * kCyclesPerSecond == 1'000'000'000);
static_assert(kBeatHz % 10 == 0 && kBeatHz % 20 == 0 && kBeatHz % 30 == 0 && kBeatHz % 40 == 0);
// Until all threads are there.
constexpr std::chrono::nanoseconds kFusionStart = 50ms;
// How long messages that were published may be under way at the end.
constexpr std::int64_t kFusionPatience = 5'000'000'000;

std::chrono::nanoseconds period_of(std::size_t channel) {
  return std::chrono::nanoseconds(1'000'000'000 / kFusionRates[channel]);
}

std::uint64_t messages_in(std::uint32_t cycles, std::size_t channel) {
  return std::uint64_t{cycles} * kFusionRates[channel] / kCyclesPerSecond;
}

Topic<FusionFrame> fusion_topic(std::size_t channel) {
  constexpr std::array<const char*, kFusionChannels> kNames{"/fusion/10hz", "/fusion/20hz", "/fusion/30hz",
                                                            "/fusion/40hz"};
  return {kNames[channel], {.max_bytes = kFusionBytes, .depth = kRuntimeDepth, .process_private = true}};
}

FusionPolicy policy_of(FusionWay way) {
  switch (way) {
    case FusionWay::PrimarySlowest:
      return primary({.input = 0});
    case FusionWay::PrimaryFastest:
      return primary({.input = kFusionChannels - 1});
    case FusionWay::Approximate:  // the period of the second slowest: each message of the slowest finds partners
      return approximate({.tolerance = period_of(1), .time = FusionTime::Publish});
    case FusionWay::Exact:
      break;
  }
  return exact();
}

/// Publishes a channel, the same way whatever the policy is.
class FusionPublisher : public Component {
 public:
  FusionPublisher(std::size_t channel, double phase, std::uint64_t messages)
      : channel_(channel), phase_(phase), messages_(messages) {}
  void on_start(Context& context) override {
    out_ = context.output(fusion_topic(channel_));
    const std::chrono::nanoseconds period = period_of(channel_);
    delay_ = std::chrono::nanoseconds(std::llround(phase_ * static_cast<double>(period.count())));
    // CatchUp: the number of a call is then that of its beat, also after a call that was late.
    context.timer(period, [this] { publish(); }, {.overrun = Overrun::CatchUp, .delay = kFusionStart + delay_});
  }
  [[nodiscard]] std::uint64_t tried() const noexcept { return tried_.load(); }
  /// ns, of the common beat 0 as the most and the least punctual publication place it. After the runtime has stopped.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> beat() const noexcept { return beat_; }

 private:
  void publish() {
    const std::uint64_t n = tried_.load();
    if (n == messages_) return;
    const std::int64_t sent_ns = now_ns();
    const std::int64_t beat = sent_ns - (delay_ + period_of(channel_) * static_cast<std::int64_t>(n)).count();
    beat_ = {std::min(beat_.first, beat), std::max(beat_.second, beat)};
    if (auto loan = out_.loan()) {  // else it never comes to the fusion, and counts as lost
      loan->number = n;
      loan->sent_ns = sent_ns;
      (void)loan->data.try_resize_for_overwrite(kFusionBytes);
      // From 1, since a stamp of 0 means no stamp.
      loan.set_source_time(static_cast<std::int64_t>((n * (kBeatHz / kFusionRates[channel_]) + 1) *
                                                     (std::uint64_t{1'000'000'000} / kBeatHz)));
      out_.publish(std::move(loan));
    }
    tried_.store(n + 1);
  }

  std::size_t channel_;
  double phase_;
  std::uint64_t messages_;
  std::chrono::nanoseconds delay_{};
  std::pair<std::int64_t, std::int64_t> beat_{std::numeric_limits<std::int64_t>::max(), 0};
  Output<FusionFrame> out_;
  std::atomic<std::uint64_t> tried_{0};
};

class FusionReader : public Component {
 public:
  FusionReader(FusionWay way, std::uint32_t cycles) : way_(way) {
    const std::uint32_t warmup = std::max(1U, cycles / 10);
    for (std::size_t c = 0; c < kFusionChannels; ++c) {
      first_[c] = messages_in(warmup, c);
      latency_us_[c].reserve(messages_in(cycles, kFusionChannels - 1));  // a set for each of its messages at most
    }
  }
  void on_start(Context& context) override {
    context.fuse(
        policy_of(way_),
        [this](const Sample<FusionFrame>& a, const Sample<FusionFrame>& b, const Sample<FusionFrame>& c,
               const Sample<FusionFrame>& d) {
          const std::int64_t now = now_ns();
          std::size_t channel = 0;
          for (const auto* sample : {&a, &b, &c, &d}) {
            if ((*sample)->number >= first_[channel])
              latency_us_[channel].push_back(static_cast<double>(now - (*sample)->sent_ns) / 1e3);
            ++channel;
          }
        },
        fusion_topic(0), fusion_topic(1), fusion_topic(2), fusion_topic(3));
  }
  /// After the runtime has stopped.
  std::vector<double>& latency_us(std::size_t channel) { return latency_us_[channel]; }

 private:
  FusionWay way_;
  std::array<std::uint64_t, kFusionChannels> first_{};
  std::array<std::vector<double>, kFusionChannels> latency_us_{};
};

using FusionPublishers = std::array<std::shared_ptr<FusionPublisher>, kFusionChannels>;

FusionStatistics statistics_of(const Runtime& runtime) {
  return runtime.components().back()->fusions().front().statistics();
}

bool all_sent(const FusionPublishers& publishers, std::uint32_t cycles) {
  for (std::size_t c = 0; c < kFusionChannels; ++c)
    if (publishers[c]->tried() != messages_in(cycles, c)) return false;
  return true;
}

bool all_accounted(const FusionPublishers& publishers, const FusionStatistics& statistics) {
  for (std::size_t c = 0; c < kFusionChannels; ++c)
    if (const auto& in = statistics.inputs[c]; in.offered != publishers[c]->tried() || in.accounted() != in.offered)
      return false;
  return true;
}

}  // namespace

std::string_view name_of(FusionWay way) noexcept {
  constexpr std::array<std::string_view, kFusionWays.size()> kNames{"primary slowest", "primary fastest", "approximate",
                                                                    "exact"};
  return kNames.at(static_cast<std::size_t>(way));
}

FusionPhases fusion_phases(std::uint32_t round) noexcept {
  // The additive recurrence of Roberts in four dimensions: powers of 1 / φ, where φ⁵ = φ + 1.
  constexpr double kStep = 1 / 1.1673039782614187;
  FusionPhases phases;
  double step = 1;
  for (double& phase : phases) {
    step *= kStep;
    double whole = 0;
    phase = std::modf(0.5 + step * (static_cast<double>(round) + 1), &whole);
  }
  return phases;
}

std::vector<double> FusionRun::latency_us() const {
  std::vector<double> all;
  for (const FusionChannelRun& c : channels) all.insert(all.end(), c.latency_us.begin(), c.latency_us.end());
  return all;
}

FusionRun run_fusion(FusionWay way, const FusionPhases& phases, const RuntimeBenchOptions& options,
                     const std::function<bool()>& stopped) {
  const std::uint32_t cycles = options.fusion_cycles;
  Runtime runtime({.transport = false,
                   .groups = {{.name = "publishers", .cpus = {options.publisher_cpu}},
                              {.name = "reader", .cpus = {options.reader_cpu}}}});
  FusionPublishers publishers;
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    publishers[c] = std::make_shared<FusionPublisher>(c, phases[c], messages_in(cycles, c));
    runtime.add({.name = "channel" + std::to_string(c), .group = "publishers"}, publishers[c]);
  }
  const auto reader = std::make_shared<FusionReader>(way, cycles);
  runtime.add({.name = "fusion", .group = "reader"}, reader);  // the last, see statistics_of()
  runtime.start();

  const std::int64_t length = kFusionStart.count() + (std::int64_t{cycles} + 1) * kFusionCycleNs;
  const std::int64_t deadline = now_ns() + length + kFusionPatience;
  while (!stopped() && now_ns() < deadline &&
         !(all_sent(publishers, cycles) && all_accounted(publishers, statistics_of(runtime))))
    std::this_thread::sleep_for(100ms);  // seldom: it would disturb what it waits for
  const FusionStatistics statistics = statistics_of(runtime);
  FusionRun run{.sets = statistics.fired};
  // Of a run that `stopped()` ended, some are under way, and seem to be lost. Such a run is not reported.
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    run.channels[c].counts = statistics.inputs[c];
    run.channels[c].sent = std::max(publishers[c]->tried(), statistics.inputs[c].offered);
  }
  runtime.stop();
  auto [first, last] = publishers.front()->beat();
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    run.channels[c].latency_us = std::move(reader->latency_us(c));
    first = std::min(first, publishers[c]->beat().first);
    last = std::max(last, publishers[c]->beat().second);
  }
  run.late_us = static_cast<double>(last - first) / 1e3;
  return run;
}

}  // namespace cardan::bench
