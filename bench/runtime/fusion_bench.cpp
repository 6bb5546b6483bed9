// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/fusion_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/host.hpp"
#include "bench/transport/options.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/runtime/fusion.hpp"
#include "cardan/runtime/runtime.hpp"
#include "cardan/types/shm_vector.hpp"

namespace cardan::bench {

struct FusedFrame {
  std::int64_t sent = 0;  ///< steady, just before publish
  shm::vector<std::uint8_t> data;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::FusedFrame, "cardan_bench/msg/FusedFrame", sent, data);

namespace cardan::bench {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kFusionWarmUp = 300 * kMillisecond;
constexpr std::array kChannelTopics{"/channel/10_hz", "/channel/20_hz", "/channel/50_hz", "/channel/100_hz"};

Topic<FusedFrame> channel_topic(std::size_t channel, std::size_t bytes) {
  return {kChannelTopics[channel], {.max_bytes = bytes, .depth = 4, .process_private = true}};
}

double rate_of(std::size_t channel) { return 1e3 / static_cast<double>(kFusionPeriodsMs[channel]); }

FusionPolicy policy_of(FusionSetup setup) {
  switch (setup) {
    case FusionSetup::PrimarySlowest:
      return primary({.input = 0});
    case FusionSetup::PrimaryFastest:
      return primary({.input = kChannels - 1});
    case FusionSetup::Approximate:
      return approximate({.tolerance = 5ms, .inputs = {{50ms}, {25ms}, {10ms}, {5ms}}});
    case FusionSetup::UnknownPeriods:
      return approximate({.tolerance = 5ms});
    case FusionSetup::Exact:
      break;
  }
  return exact();
}

/// Steady time at which the measurement starts, for all components of a run; set when all of them run.
using MeasuredFrom = std::atomic<std::int64_t>;

/// A sensor. Channel c publishes c ms after its beat, as if its measurement took that long. With exact fusion the beat
/// is its stamp; otherwise the time of publishing, as of sensors that nothing synchronizes.
class Channel : public Component {
 public:
  Channel(std::size_t channel, FusionSetup setup, const FusionOptions& options, const MeasuredFrom& from,
          FusionSamples::Channel& result)
      : channel_(channel), exact_(setup == FusionSetup::Exact), bytes_(options.bytes), from_(from), result_(result) {}
  void on_start(Context& context) override {
    out_ = context.output(channel_topic(channel_, bytes_));
    context.timer(1ms, [this] {
      const auto offset = static_cast<std::int64_t>(channel_);
      const std::int64_t beat = tick_++ - offset;
      if (beat < 0 || beat % kFusionPeriodsMs[channel_] != 0) return;
      auto loan = out_.loan();
      (void)loan->data.try_resize_for_overwrite(bytes_);
      // From 1: a stamp of 0 is none.
      loan.set_source_time(1 + (exact_ ? beat : beat + offset) * kMillisecond);
      const std::int64_t now = now_ns();
      if (now > from_) ++result_.sent;
      loan->sent = now;
      out_.publish(std::move(loan));
    });
  }

 private:
  std::size_t channel_;
  bool exact_;
  std::size_t bytes_;
  const MeasuredFrom& from_;
  FusionSamples::Channel& result_;
  Output<FusedFrame> out_;
  std::int64_t tick_ = 0;
};

class Fusing : public Component {
 public:
  Fusing(FusionSetup setup, const FusionOptions& options, const MeasuredFrom& from, FusionSamples& result)
      : setup_(setup), bytes_(options.bytes), from_(from), result_(result) {}
  void on_start(Context& context) override {
    using S = const Sample<FusedFrame>&;
    context.fuse(
        policy_of(setup_),
        [this](S a, S b, S c, S d) {
          const std::int64_t now = now_ns();
          if (now <= from_) return;
          ++result_.sets;
          std::size_t channel = 0;
          for (const auto* sample : {&a, &b, &c, &d}) note(channel++, (*sample)->sent, now);
        },
        channel_topic(0, bytes_), channel_topic(1, bytes_), channel_topic(2, bytes_), channel_topic(3, bytes_));
  }
  [[nodiscard]] std::uint64_t used(std::size_t channel) const { return used_[channel]; }

 private:
  void note(std::size_t channel, std::int64_t sent, std::int64_t now) {
    result_.channels[channel].latency_us.push_back(static_cast<double>(now - sent) / 1e3);
    if (sent > from_ && sent != last_[channel]) ++used_[channel];
    last_[channel] = sent;
  }

  FusionSetup setup_;
  std::size_t bytes_;
  const MeasuredFrom& from_;
  FusionSamples& result_;
  std::array<std::int64_t, kChannels> last_{};
  std::array<std::uint64_t, kChannels> used_{};
};

std::vector<double> pooled_of(const std::vector<FusionSamples>& runs, std::size_t channel) {
  std::vector<double> all;
  for (const FusionSamples& run : runs)
    all.insert(all.end(), run.channels[channel].latency_us.begin(), run.channels[channel].latency_us.end());
  return all;
}

std::uint64_t sum_of(const std::vector<FusionSamples>& runs, std::size_t channel,
                     std::uint64_t FusionSamples::Channel::* count) {
  std::uint64_t all = 0;
  for (const FusionSamples& run : runs) all += run.channels[channel].*count;
  return all;
}

}  // namespace

std::string_view name_of(FusionSetup setup) noexcept {
  switch (setup) {
    case FusionSetup::PrimarySlowest:
      return "primary, the slowest fires";
    case FusionSetup::PrimaryFastest:
      return "primary, the fastest fires";
    case FusionSetup::Approximate:
      return "approximate";
    case FusionSetup::UnknownPeriods:
      return "approximate, no periods";
    case FusionSetup::Exact:
      break;
  }
  return "exact";
}

FusionSamples run_fusion(FusionSetup setup, const FusionOptions& options) {
  FusionSamples samples;
  Runtime runtime({.transport = false,
                   .groups = {{.name = "publishers", .cpus = {options.publisher_cpu}},
                              {.name = "fusion", .cpus = {options.reader_cpu}}}});
  MeasuredFrom from = std::numeric_limits<std::int64_t>::max();
  const auto fusing = std::make_shared<Fusing>(setup, options, from, samples);
  runtime.add({.name = "fusion", .group = "fusion"}, fusing);
  for (std::size_t c = 0; c < kChannels; ++c)
    runtime.add({.name = fmt::format("channel{}", c), .group = "publishers"},
                std::make_shared<Channel>(c, setup, options, from, samples.channels[c]));
  runtime.start();
  from = now_ns() + kFusionWarmUp;
  sleep_until(from + static_cast<std::int64_t>(options.seconds * 1e9));
  runtime.stop();
  for (std::size_t c = 0; c < kChannels; ++c)
    samples.channels[c].unused = samples.channels[c].sent - std::min(samples.channels[c].sent, fusing->used(c));
  return samples;
}

std::string FusionReport::text() const {
  std::string out;
  for (const FusionSetup setup : kFusionSetups) {
    const auto& runs = runs_[static_cast<std::size_t>(setup)];
    if (runs.empty()) continue;
    if (out.empty())
      out =
          "\n1 component that joins 4 channels: from publish to the joined callback, for each set\n"
          "  policy                        channel      p50      p99      max     sent   unused     sets\n";
    std::uint64_t sets = 0;
    for (const FusionSamples& run : runs) sets += run.sets;
    for (std::size_t c = 0; c < kChannels; ++c) {
      const Summary s = summarize(pooled_of(runs, c));
      out += fmt::format("  {:<28}{:>6.0f} Hz{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n", c == 0 ? name_of(setup) : "",
                         rate_of(c), three_digits(s.p50), three_digits(s.p99), three_digits(s.max),
                         sum_of(runs, c, &FusionSamples::Channel::sent),
                         sum_of(runs, c, &FusionSamples::Channel::unused), sets);
    }
  }
  return out;
}

std::vector<Json> FusionReport::rows() const {
  std::vector<Json> all;
  for (const FusionSetup setup : kFusionSetups) {
    const auto& runs = runs_[static_cast<std::size_t>(setup)];
    for (std::size_t c = 0; c < kChannels && !runs.empty(); ++c)
      all.push_back({{"peer", "cardan"},
                     {"scenario", "fusion"},
                     {"policy", name_of(setup)},
                     {"rate_hz", rate_of(c)},
                     {"sent", sum_of(runs, c, &FusionSamples::Channel::sent)},
                     {"unused", sum_of(runs, c, &FusionSamples::Channel::unused)},
                     {"transport_us", to_json(summarize(pooled_of(runs, c)))}});
  }
  return all;
}

std::vector<Measurement> FusionReport::measurements(const FusionOptions& options) const {
  std::vector<Measurement> all;
  for (const FusionSetup setup : kFusionSetups) {
    const auto& runs = runs_[static_cast<std::size_t>(setup)];
    if (runs.empty()) continue;
    const auto add = [&](const std::string& quantity,
                         const std::function<std::vector<double>(const FusionSamples&)>& of) {
      Measurement m{.part = "runtime",
                    .peer = "cardan",
                    .setup = std::string(name_of(setup)),
                    .cell = "fusion",
                    .quantity = quantity,
                    .unit = "us",
                    .bytes = static_cast<double>(options.bytes),
                    .publishers = kChannels,
                    .readers = 1,
                    .command = "cardan bench runtime"};
      for (const FusionSamples& run : runs) m.runs.push_back(make_run(of(run), run.steal_percent));
      all.push_back(std::move(m));
    };
    add("transport", [](const FusionSamples& run) {
      std::vector<double> every;
      for (const auto& channel : run.channels)
        every.insert(every.end(), channel.latency_us.begin(), channel.latency_us.end());
      return every;
    });
    for (std::size_t c = 0; c < kChannels; ++c)
      add(fmt::format("transport of {:g} Hz", rate_of(c)),
          [c](const FusionSamples& run) { return run.channels[c].latency_us; });
  }
  return all;
}

FusionReport measure_fusion(const FusionOptions& options, const std::function<bool()>& stopped) {
  FusionReport report;
  Progress progress;
  for (std::uint32_t round = 0; round < options.runs; ++round)
    for (std::size_t turn = 0; turn < kFusionSetups.size(); ++turn) {
      if (stopped()) return report;
      const FusionSetup setup = kFusionSetups[(turn + round) % kFusionSetups.size()];  // the order rotates
      progress.now(fmt::format("round {} of {}: fusion of four channels, {}", round + 1, options.runs, name_of(setup)));
      const CpuTicks before = read_cpu_ticks();
      FusionSamples run = run_fusion(setup, options);
      run.steal_percent = steal_percent(before, read_cpu_ticks());
      report.add(setup, std::move(run));
    }
  return report;
}

}  // namespace cardan::bench
