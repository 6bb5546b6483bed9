// SPDX-License-Identifier: Apache-2.0
// The headline claims of the five papers, for their own method where it is a peer here, and for Cardan.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/results/statements.hpp"
#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench {
namespace {

constexpr double kCamera = 640 * 480 * 3;
constexpr double kMebi = 1024 * 1024;

Finding missing(std::string what) { return {Judgement::NotMeasured, std::move(what)}; }
Finding decided(bool holds, std::string figures) {
  return {holds ? Judgement::Holds : Judgement::DoesNotHold, std::move(figures)};
}

Evidence::Wanted frames(std::string peer, std::string setup, double bytes = 0, std::string cell = "1p1s") {
  return {"transport", std::move(peer), std::move(setup), std::move(cell), "transport", bytes};
}

std::string joined(const std::string& before, const std::string& more) {
  return before.empty() ? more : before + "; " + more;
}

// Oops!, key finding 1.
Finding shared_memory_is_best(const Evidence& e) {
  std::string text;
  bool best = true;
  for (const double bytes : e.sizes(frames("cardan", "block"))) {
    const Measurement* const ours = e.one(frames("cardan", "block", bytes));
    for (const char* socket : {"uds", "tcp"}) {
      const auto theirs = e.p50(frames(socket, "block", bytes));
      if (!theirs) continue;
      const double p50 = median(ours->pooled());
      best = best && p50 <= *theirs && ours->lost.value_or(0) == 0;
      text = joined(text, fmt::format("{} cardan {}, {} {} µs, lost {}", name_of_size(bytes), three_digits(p50), socket,
                                      three_digits(*theirs), ours->lost.value_or(0)));
    }
  }
  return text.empty() ? missing("cardan `block` beside sockets") : decided(best, text);
}

// SIM against the paper's baseline: how much less the mean and the p99 of a camera's frame are.
Finding far_below_fastdds(const Evidence& e, const char* peer, const std::vector<const char*>& setups) {
  const Measurement* baseline = nullptr;
  for (const char* name : {"fastdds-loans", "fastdds-shm", "fastdds"})
    if (baseline == nullptr) baseline = e.one(frames(name, "block", kCamera));
  if (baseline == nullptr) return missing("Fast DDS with 640 × 480 × 3 (make bench-peers)");
  const Summary theirs = summarize(baseline->pooled());
  std::string text;
  bool reached = false;
  for (const char* setup : setups) {
    const Measurement* const m = e.one(frames(peer, setup, kCamera));
    if (m == nullptr || theirs.mean <= 0 || theirs.p99 <= 0) continue;
    const Summary ours = summarize(m->pooled());
    reached = reached || (ours.mean <= 0.05 * theirs.mean && ours.p99 <= 0.04 * theirs.p99);
    text = joined(text,
                  fmt::format("{} {}: mean {} of {} µs ({:+.0f} %), p99 {} of {} µs ({:+.0f} %)", peer, setup,
                              three_digits(ours.mean), three_digits(theirs.mean), 100 * (ours.mean / theirs.mean - 1),
                              three_digits(ours.p99), three_digits(theirs.p99), 100 * (ours.p99 / theirs.p99 - 1)));
  }
  if (text.empty()) return missing(fmt::format("{} with 640 × 480 × 3", peer));
  return decided(reached, fmt::format("against {}: {}", baseline->peer, text));
}
Finding sim_far_below(const Evidence& e) { return far_below_fastdds(e, "sim", {"poll", "block"}); }
Finding cardan_far_below(const Evidence& e) {
  return far_below_fastdds(e, "cardan", {"block", "prewake", "anticipate"});
}
Finding sim_loses_nothing(const Evidence& e) {
  std::uint64_t due = 0;
  std::uint64_t lost = 0;
  for (const Measurement* m : e.all({.part = "transport", .peer = "sim"})) {
    due += m->due.value_or(0);
    lost += m->lost.value_or(0);
  }
  return due == 0 ? missing("no peer sim") : decided(lost == 0, fmt::format("{} of {} frames lost", lost, due));
}

// LOT against the loopback device.
Finding orders_below_loopback(const Evidence& e) {
  const auto sizes = e.sizes(frames("tcp", "block"));
  std::string text;
  double most = 0;
  for (const double bytes : sizes) {
    if (bytes < kMebi / 2) continue;
    const auto tcp = e.p50(frames("tcp", "block", bytes));
    for (const char* setup : {"block", "prewake", "anticipate", "spin"})
      if (const auto ours = e.p50(frames("cardan", setup, bytes)); ours && *ours > 0) {
        most = std::max(most, *tcp / *ours);
        text = joined(text, fmt::format("{} {}: TCP ÷ cardan {:.1f}", name_of_size(bytes), setup, *tcp / *ours));
      }
  }
  return text.empty() ? missing("cardan beside TCP with half a MiB or more") : decided(most >= 100, text);
}
Finding size_does_not_matter(const Evidence& e) {
  const auto sizes = e.sizes(frames("cardan", "block"));
  if (sizes.size() < 2) return missing("cardan `block` with several sizes");
  double least = 1e18;
  double most = 0;
  std::string text;
  for (const double bytes : sizes) {
    const double p50 = *e.p50(frames("cardan", "block", bytes));
    least = std::min(least, p50);
    most = std::max(most, p50);
    text += fmt::format("{}{} {} µs", text.empty() ? "" : ", ", name_of_size(bytes), three_digits(p50));
  }
  return decided(least > 0 && most <= 2 * least, "cardan block: " + text);
}
Finding readers_are_treated_alike(const Evidence& e) {
  std::string text;
  bool fair = true;
  for (const Measurement* ours :
       e.all({.part = "transport", .peer = "cardan", .setup = "block", .quantity = "first to last reader"})) {
    const double gap = median(ours->pooled());
    const auto tcp = e.p50({"transport", "tcp", "block", ours->cell, ours->quantity, ours->bytes});
    if (!tcp || *tcp <= 0) continue;
    fair = fair && gap < *tcp;
    text = joined(text, fmt::format("{} {}: cardan {}, TCP {} µs", ours->cell, name_of_size(ours->bytes),
                                    three_digits(gap), three_digits(*tcp)));
  }
  return text.empty() ? missing("several readers of cardan and TCP")
                      : decided(fair, "first to last reader, p50: " + text);
}

// FastCycle against ROS's components of one process.
Finding beats_components_of_ros(const Evidence& e) {
  std::string text;
  bool better = true;
  for (const char* quantity : {"transport", "round trip"})
    for (const double bytes : e.sizes({"runtime", "cardan", "pointer", "fastcycle", quantity})) {
      const Measurement* const ours = e.one({"runtime", "cardan", "pointer", "fastcycle", quantity, bytes});
      const Measurement* const ros = e.one({"runtime", "nodelet", "pointer", "fastcycle", quantity, bytes});
      if (ours == nullptr || ros == nullptr) continue;
      const double a = summarize(ours->pooled()).mean;
      const double b = summarize(ros->pooled()).mean;
      better = better && a < b;
      text = joined(text, fmt::format("{} {}: cardan {}, nodelet {} µs", quantity, name_of_size(bytes), three_digits(a),
                                      three_digits(b)));
    }
  return text.empty() ? missing("ROS 1 nodelets beside cardan's components") : decided(better, "means; " + text);
}
Finding twice_as_fast_at_4_mib(const Evidence& e) {
  const Measurement* const ours = e.one({"runtime", "cardan", "pointer", "fastcycle", "transport", 4 * kMebi});
  const Measurement* const ros = e.one({"runtime", "nodelet", "pointer", "fastcycle", "transport", 4 * kMebi});
  if (ours == nullptr || ros == nullptr) return missing("4 MiB of nodelets and cardan's components");
  const double a = summarize(ours->pooled()).mean;
  const double b = summarize(ros->pooled()).mean;
  return decided(a > 0 && b >= 2 * a, fmt::format("means: cardan {}, nodelet {} µs", three_digits(a), three_digits(b)));
}

// SPEED against rosbag2: of its own copies (peer `speed`) and of Cardan's recorder.
Evidence::Wanted recorded(std::string peer, std::string setup, std::string cell, std::string quantity) {
  return {"record", std::move(peer), std::move(setup), std::move(cell), std::move(quantity), 0};
}
Finding less_time_in_system_calls(const Evidence& e) {
  const auto rosbag2 = e.p50(recorded("rosbag2", "no transport", "phases", "time in system calls per message"));
  std::string text;
  bool reached = false;
  for (const char* peer : {"speed", "cardan"})
    if (const auto own = e.p50(recorded(peer, "", "phases", "time in system calls per message"));
        own && rosbag2 && *rosbag2 > 0) {
      if (std::string_view(peer) == "speed") reached = *own <= 0.16 * *rosbag2;
      text = joined(text, fmt::format("{} {:.3f} of rosbag2's {:.3f} ms ({:+.0f} %)", peer, *own, *rosbag2,
                                      100 * (*own / *rosbag2 - 1)));
    }
  return text.empty() ? missing("phases of rosbag2 and speed") : decided(reached, text);
}
double most_cameras(const Evidence& e, const char* peer, double share) {
  std::map<double, double> shares;
  for (const Measurement* m : e.all({.part = "record", .peer = peer, .quantity = "recorded share"}))
    if (m->cell.rfind("cameras ", 0) == 0) {
      const double count = std::strtod(m->cell.c_str() + 8, nullptr);
      shares[count] = std::max(shares[count], median(m->pooled()));
    }
  double most = 0;
  for (const auto& [count, found] : shares) {
    if (found < share) break;
    most = count;
  }
  return most;
}
Finding more_cameras(const Evidence& e) {
  const double rosbag2 = most_cameras(e, "rosbag2", 97);
  const double speed = most_cameras(e, "speed", 97);
  const double cardan = most_cameras(e, "cardan", 97);
  if (rosbag2 == 0 || speed == 0) return missing("the sweep over cameras of rosbag2 and speed");
  return decided(speed >= 1.5 * rosbag2, fmt::format("recorded to 97 %: rosbag2 {:.0f}, speed {:.0f}, cardan {:.0f} "
                                                     "cameras (of those that were tried)",
                                                     rosbag2, speed, cardan));
}
Finding mix_is_recorded(const Evidence& e) {
  const auto speed = e.p50(recorded("speed", "", "mix", "recorded share"));
  const auto rosbag2 = e.p50(recorded("rosbag2", "no transport", "mix", "recorded share"));
  const auto cardan = e.p50(recorded("cardan", "cycle", "mix", "recorded share"));
  if (!speed || !rosbag2) return missing("the mix of all sensors of rosbag2 and speed");
  return decided(*speed >= 97.9, fmt::format("rosbag2 {:.1f}, speed {:.1f}, cardan {} %", *rosbag2, *speed,
                                             cardan ? fmt::format("{:.1f}", *cardan) : "–"));
}
std::optional<double> deviation(const Measurement* m) {
  if (m == nullptr) return std::nullopt;
  std::vector<double> by_run;
  for (const MeasuredRun& run : m->runs) by_run.push_back(summarize(run.samples).std);
  return median(by_run);
}
Finding task_is_steadier(const Evidence& e) {
  const auto rosbag2 = deviation(e.one(recorded("rosbag2", "no transport", "task", "tasks in 33 ms")));
  const auto cardan = deviation(e.one(recorded("cardan", "cycle", "task", "tasks in 33 ms")));
  if (!rosbag2 || !cardan || *cardan <= 0) return missing("the task beside rosbag2 and cardan");
  return decided(*rosbag2 >= 3.08 * *cardan,
                 fmt::format("deviation beside rosbag2 {:.3f}, beside cardan with cycle hints {:.3f}: × {:.2f}",
                             *rosbag2, *cardan, *rosbag2 / *cardan));
}
Finding cycle_hints_steady_the_pipeline(const Evidence& e) {
  std::string text;
  bool steadier = true;
  for (const char* scene : {"pipeline A", "pipeline B", "pipeline C"}) {
    const auto cycle = deviation(e.one(recorded("cardan", "cycle", scene, "sensor to actuator")));
    const auto asap = deviation(e.one(recorded("cardan", "asap", scene, "sensor to actuator")));
    if (!cycle || !asap) continue;
    steadier = steadier && *cycle < *asap;
    text = joined(text, fmt::format("{}: {:.2f} with hints, {:.2f} ms at once", scene, *cycle, *asap));
  }
  return text.empty() ? missing("the pipeline with and without cycle hints") : decided(steadier, "deviation; " + text);
}

}  // namespace

void add_paper_claims(std::vector<Statement>& all) {
  const auto add = [&](const char* paper, const char* text, const char* rule, Finding (*judge)(const Evidence&)) {
    all.push_back({paper, text, rule, judge});
  };
  add("Oops!", "Shared memory is the optimal choice considering both performance and reliability.",
      "At each size cardan block's p50 is at most that of Unix sockets and TCP, without loss.", shared_memory_is_best);
  add("SIM", "SIM's mean is 95 % lower, and its tails are 96 % lower, than those of zero-copy Fast DDS.",
      "Of a 640 × 480 × 3 frame, one way of `sim` has a mean ≤ 0.05 and a p99 ≤ 0.04 of Fast DDS's.", sim_far_below);
  add("SIM, for Cardan", "The same of Cardan.", "One way of waiting of cardan reaches both.", cardan_far_below);
  add("SIM", "All published messages are received.", "`sim` lost no frame.", sim_loses_nothing);
  add("LOT, for Cardan", "Up to two orders of magnitude better than local loopback.",
      "At one size of half a MiB or more, TCP's p50 is at least 100 × that of a way of cardan.", orders_below_loopback);
  add("LOT, for Cardan", "Latency is not sensitive to the size of an image.",
      "cardan block's greatest p50 over the sizes is at most twice the least.", size_does_not_matter);
  add("LOT, for Cardan", "Subscribers are treated fairly, unlike those of TCP, whatever the order of connection.",
      "From the first to the last reader cardan takes less than TCP, in each cell.", readers_are_treated_alike);
  add("FastCycle, for Cardan", "Lower mean latency and round trip than components of one process in ROS.",
      "cardan's means are below those of ROS 1 nodelets at each size.", beats_components_of_ros);
  add("FastCycle, for Cardan", "Two to three times as fast as components of one process in ROS at 4 MiB.",
      "nodelet's mean is at least twice cardan's.", twice_as_fast_at_4_mib);
  add("SPEED", "Latency of a single write is 84 % lower than rosbag2's.",
      "Time in system calls for each message of `speed` is at most 0.16 of rosbag2's.", less_time_in_system_calls);
  add("SPEED", "1.5 times as many cameras.", "`speed` records 1.5 × the cameras of rosbag2 to 97 %.", more_cameras);
  add("SPEED", "97.9 % of all sensors' messages are recorded.", "`speed` records 97.9 % of the mix.", mix_is_recorded);
  add("SPEED, for Cardan", "The deviation of a task beside recording is 3.08 times smaller.",
      "Beside rosbag2 it is at least 3.08 × that beside cardan.", task_is_steadier);
  add("SPEED, for Cardan", "A schedule by the application's cycle makes the pipeline steadier in each scene.",
      "The deviation with cycle hints is below that of writing at once, in each scene.",
      cycle_hints_steady_the_pipeline);
}

}  // namespace cardan::bench
