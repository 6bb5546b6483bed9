// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/record/schedule.hpp"
#include "bench/results/measurement.hpp"
#include "bench/stage.hpp"

namespace cardan::bench::recording {

/// The measured parts; the numbers are SPEED's figures.
enum class Part : std::uint8_t {
  Rate,       ///< how fast the disk can be filled
  Phases,     ///< Fig. 7: where a message's time goes
  Cameras,    ///< Fig. 8: cameras on one topic
  Mix,        ///< Fig. 9: eight cameras and all other sensors
  Task,       ///< Fig. 10: a task of 10 ms during recording
  Bystander,  ///< a camera's publisher and another reader, during recording
  Pipeline,   ///< Fig. 11: from sensor to actuator
};
inline constexpr int kParts = 7;
[[nodiscard]] std::string_view name_of(Part part) noexcept;

enum class Peer : std::uint8_t {
  Alone,          ///< nothing else runs
  Unrecorded,     ///< the sensors publish, nobody records
  Fio,            ///< the disk's limit: io_uring and O_DIRECT
  FioBuffered,    ///< the same through the page cache
  Cardan,         ///< our recorder with its defaults: it writes while applications idle that give hints
  CardanAsap,     ///< our recorder, which writes at once
  Speed,          ///< our recorder with SPEED's copies
  Rosbag2,        ///< our re-implementation of rosbag2, fed as by its own benchmark, without transport
  Rosbag2Topics,  ///< the same, fed from Cardan's topics
  Rosbag,         ///< ROS 1's own `rosbag record`
};
[[nodiscard]] std::string_view name_of(Peer peer) noexcept;  ///< "rosbag2"
[[nodiscard]] std::string_view how_of(Peer peer) noexcept;   ///< "cardan topics"
[[nodiscard]] constexpr bool is_rosbag2(Peer peer) noexcept {
  return peer == Peer::Rosbag2 || peer == Peer::Rosbag2Topics;
}
[[nodiscard]] constexpr bool is_ours(Peer peer) noexcept { return peer == Peer::Cardan || peer == Peer::CardanAsap; }

/// From this share on the messages of a run count as recorded, …
inline constexpr double kWholeShare = 0.999;
/// … if the sensors were not kept from making more than this share of them.
inline constexpr double kMostSkipped = 0.01;

/// The results of one run.
struct RunFigures {
  std::uint64_t made = 0;      ///< messages that the sensors made
  std::uint64_t skipped = 0;   ///< beats that they were late for by a whole period; not made
  std::uint64_t recorded = 0;  ///< of them, in the file, by its own index
  std::uint64_t file_bytes = 0;
  double seconds = 0;          ///< from the order to begin until all is durable
  double recording_cpu_s = 0;  ///< whole system, less idle, stolen and the producers'
  double producers_cpu_s = 0;
  CpuTime recorder_cpu{};  ///< of the recorder's process
  double memory_mib = 0;   ///< most private memory that the recorder's process had
  double own_mib = 0;      ///< that it says it has
  double held_mib = 0;     ///< most that waited at once, in publishers' slots or in its memory
  std::optional<double> handling_ms{}, encoding_ms{}, system_calls_ms{};  ///< of all messages together
  std::optional<double> path_p50_ms{}, path_p99_ms{};                     ///< publication → on disk
  std::map<std::string, std::uint64_t> lost_by_cause{};                   ///< as the recorder tells
  std::uint64_t damaged = 0;  ///< of the messages that were read back, those that are not as they were made
  double steal_percent = 0;
  std::string mode{};                                ///< how the disk was written, in the recorder's words
  std::vector<double> publish_us{}, transport_us{};  ///< of the camera's topic
  std::vector<double> tasks{};                       ///< done in each window
  std::vector<double> end_to_end_ms{};               ///< of the pipeline
  std::uint64_t pipeline_missed = 0;

  /// Of what was made, what is in the file.
  [[nodiscard]] double share() const noexcept {
    return made == 0 ? 0 : static_cast<double>(recorded) / static_cast<double>(made);
  }
  /// All cameras sent at their rate, and what they sent is in the file: to 99 % and 99.9 %.
  [[nodiscard]] bool whole() const noexcept {
    return share() >= kWholeShare && static_cast<double>(skipped) <= kMostSkipped * static_cast<double>(made + skipped);
  }
  [[nodiscard]] double bytes_per_second() const noexcept {
    return seconds <= 0 ? 0 : static_cast<double>(file_bytes) / seconds;
  }
  [[nodiscard]] double cpu_s_per_gb() const noexcept {
    return file_bytes == 0 ? 0 : recording_cpu_s / (static_cast<double>(file_bytes) / 1e9);
  }
};

/// A peer under one load, over all rounds.
struct Row {
  Part part = Part::Rate;
  Peer peer = Peer::Cardan;
  Schedule schedule = Schedule::Absolute;
  std::uint32_t cameras = 0;
  char scene = 0;               ///< 'A', 'B' or 'C'; 0: none
  double bytes_per_second = 0;  ///< that the sensors make
  std::vector<RunFigures> runs{};
  bool stolen = false;

  /// The median over the runs of what `figure` takes out of one.
  template <class Figure>
  [[nodiscard]] double median_of(Figure figure) const {
    std::vector<double> values;
    for (const RunFigures& run : runs) values.push_back(figure(run));
    return median_value(std::move(values));
  }
  /// All samples of all runs.
  [[nodiscard]] std::vector<double> pooled(std::vector<double> RunFigures::* samples) const;
  /// Median over the runs of the standard deviation of a run's samples.
  [[nodiscard]] double deviation(std::vector<double> RunFigures::* samples) const;

 private:
  static double median_value(std::vector<double> values);
};

using Rows = std::vector<Row>;

[[nodiscard]] nlohmann::ordered_json to_json(const Row& row);
/// The rows in the form of all results. `seconds`: how long the sensors send in a run.
[[nodiscard]] std::vector<Measurement> measurements_of(const Rows& rows, double seconds);

}  // namespace cardan::bench::recording
