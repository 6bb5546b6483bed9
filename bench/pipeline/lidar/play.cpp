// SPDX-License-Identifier: Apache-2.0
// The work of each process of the LiDAR's pipeline, and the module that has it (stages.hpp).
#include <algorithm>
#include <memory>
#include <vector>

#include "bench/pipeline/lidar/algorithms.hpp"
#include "bench/pipeline/lidar/planner.hpp"
#include "bench/pipeline/lidar/scans.hpp"
#include "bench/pipeline/play_parts.hpp"
#include "bench/pipeline/stages.hpp"

namespace cardan::bench::perception::lidar {
namespace {

constexpr std::size_t kMostFiltered = 32768;  // points
constexpr std::size_t kLooks = 8;             // scans that look() filters
constexpr std::size_t kAllScans = 1'000'000;  // Scans bounds their bytes
constexpr double kReserve = 1.25;             // of points in others

/// Work whose result is a cloud.
class CloudWork : public Work {
 public:
  bool take(Words words, std::uint64_t number) final {
    const auto head = get<CloudHead>(words);
    if (head) work(*head, lidar::points_of(words, *head), number);
    return head.has_value();
  }
  bool write(Room room) final { return put_cloud(room, head_, points_); }
  bool write_empty(Room room) final { return put_cloud(room, {}, {}); }

 protected:
  virtual void work(const CloudHead& head, std::span<const CloudPoint> points, std::uint64_t number) = 0;

  CloudHead head_;
  std::span<const CloudPoint> points_;
};

class Preprocessing final : public CloudWork {
 public:
  explicit Preprocessing(std::size_t most) : most_(most) {}
  [[nodiscard]] std::uint64_t found() const override { return points_.size(); }

 private:
  void work(const CloudHead& /*head*/, std::span<const CloudPoint> points, std::uint64_t /*number*/) override {
    points_ = filter_.filter(points, most_);
    head_.ground = static_cast<std::uint32_t>(filter_.ground());
  }

  std::size_t most_;
  Preprocessor filter_;
};

class Localization final : public CloudWork {
 public:
  explicit Localization(double rate_hz) : rate_hz_(rate_hz) {}
  [[nodiscard]] std::uint64_t found() const override { return head_.pose.converged; }

 private:
  void work(const CloudHead& head, std::span<const CloudPoint> points, std::uint64_t number) override {
    head_ = head;
    kept_.assign(points.begin(), points.end());
    points_ = kept_;
    head_.pose = localizer_.locate(kept_, static_cast<double>(number) / rate_hz_);
  }

  double rate_hz_;
  Localizer localizer_;
  std::vector<CloudPoint> kept_;
};

class Perception final : public WorkFor<Obstacles> {
 public:
  bool take(Words words, std::uint64_t number) override {
    const auto head = get<CloudHead>(words);
    if (!head) return false;
    const auto boxes = clusters_.find(lidar::points_of(words, *head).subspan(head->ground));
    result_ = {.number = number, .count = boxes.size(), .pose = head->pose};
    std::copy(boxes.begin(), boxes.end(), result_.boxes.begin());
    return true;
  }
  [[nodiscard]] std::uint64_t found() const override { return result_.count; }

 private:
  Clusters clusters_;
};

class Planning final : public WorkFor<Plan> {
 public:
  bool take(Words words, std::uint64_t /*number*/) override {
    const auto obstacles = get<Obstacles>(words);
    if (obstacles) result_ = plan(*obstacles);
    return obstacles.has_value();
  }
  [[nodiscard]] std::uint64_t found() const override { return result_.has; }
};

/// Nobody reads its result.
class Deciding final : public WorkFor<Decision> {
 public:
  bool take(Words words, std::uint64_t /*number*/) override {
    const auto plan = get<Plan>(words);
    if (plan) result_ = decide(*plan);
    return plan.has_value();
  }
  [[nodiscard]] std::uint64_t found() const override { return result_.brake ? 1 : 0; }
};

std::unique_ptr<Work> work_of(Stage stage, const Cell& cell, const std::vector<Area>& links) {
  switch (stage) {
    case Stage::Preprocessing:
      return std::make_unique<Preprocessing>(points_that_fit(links[role_of(stage)].header().cell.bytes));
    case Stage::Localization:
      return std::make_unique<Localization>(cell.rate_hz);
    case Stage::Perception:
      return std::make_unique<Perception>();
    case Stage::Planning:
      return std::make_unique<Planning>();
    case Stage::Lidar:
    case Stage::Decision:
      break;
  }
  return std::make_unique<Deciding>();
}

LookedAt look(const StageInputs& inputs) {
  // The scans of the simulated street always have the same number of rays; those of a recording have not.
  const bool is_simulated = inputs.from.empty() && inputs.lidar.empty();
  const Scans scans(inputs, is_simulated ? kLooks : kAllScans, inputs.rate_hz);
  Preprocessor filter;
  std::size_t filtered = 0;
  for (std::size_t i = 0; i < std::min(kLooks, scans.count()); ++i)
    filtered = std::max(filtered, filter.filter(scans.at(1 + i * scans.count() / kLooks), kMostFiltered).size());
  const auto room = std::min(static_cast<std::size_t>(kReserve * static_cast<double>(filtered)) + 64, kMostFiltered);
  return {.lidar = scans.name(),
          .points = scans.most_points(),
          .filtered = filtered,
          .link_bytes = {cloud_bytes(scans.most_points()), cloud_bytes(room), cloud_bytes(room),
                         message_bytes<Obstacles>(), message_bytes<Plan>()}};
}

void play(const Area& stages, std::uint32_t role, const StageInputs& inputs) {
  const Cell& cell = stages.header().cell;
  const std::vector<Area> links = open_links(stages, lidar_chain(), role);
  if (role == role_of(Stage::Lidar)) {
    const Scans scans(inputs, cell.frames, cell.rate_hz);
    play_source(stages, links.front(), [&](Room room, std::uint64_t n) {
      return put_cloud(room, {}, n <= cell.frames ? scans.at(n) : std::span<const CloudPoint>());
    });
    return;
  }
  const std::unique_ptr<Work> work = work_of(static_cast<Stage>(role), cell, links);
  WorkingStage stage(stages, lidar_chain(), links, role, *work);
  if (stages.arrive_and_wait()) stage.play();
}

constexpr StagesModule kLidarModule{look, play};

}  // namespace
}  // namespace cardan::bench::perception::lidar

extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages() {
  return &cardan::bench::perception::lidar::kLidarModule;
}
