// SPDX-License-Identifier: Apache-2.0
// The work of each process of the LiDAR's pipeline. All between the first and the last do the same around their work:
// take a message, work, write the result into the memory of the next link, publish.
#include "bench/pipeline/lidar/play.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/pipeline/lidar/algorithms.hpp"
#include "bench/pipeline/lidar/chain.hpp"
#include "bench/pipeline/lidar/planner.hpp"
#include "bench/pipeline/lidar/scans.hpp"
#include "bench/pipeline/messages.hpp"
#include "bench/pipeline/play_parts.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::perception::lidar {
namespace {

using Words = std::span<const std::uint64_t>;
using Room = std::span<std::uint64_t>;

constexpr std::size_t kMostFiltered = 32768;  // points
constexpr std::size_t kLooks = 8;             // scans that look() filters
constexpr std::size_t kAllScans = 1'000'000;  // Scans bounds their bytes
constexpr double kReserve = 1.25;             // of points in others

std::uint64_t now_in(const std::uint64_t& word) noexcept { return static_cast<const volatile std::uint64_t&>(word); }

/// Gives the message its number, at both ends; the last words are written last.
void sign(Room words, std::uint64_t number) noexcept {
  static_cast<volatile std::uint64_t&>(words.front()) = number;
  std::atomic_thread_fence(std::memory_order_release);
  static_cast<volatile std::uint64_t&>(words.back()) = number;
  std::atomic_thread_fence(std::memory_order_release);
}

/// A stage's work for a message.
class Work {
 public:
  virtual ~Work() = default;
  /// Must bear any words: those of a peer without protection may change meanwhile. False: they hold no message.
  virtual bool take(Words words, std::uint64_t number) = 0;
  /// Writes the result of the last take(). False: it does not fit.
  virtual bool write(Room room) = 0;
  /// Writes an empty message.
  virtual bool write_empty(Room room) = 0;
  /// Of the last take().
  [[nodiscard]] virtual std::uint64_t found() const = 0;
};

class CloudWork : public Work {
 public:
  bool write_empty(Room room) final { return room.size_bytes() >= cloud_bytes(0) && write_cloud(room, {}, {}); }

 protected:
  static bool write_cloud(Room room, const CloudHead& head, std::span<const CloudPoint> points) {
    const auto to = begin_cloud(room, head);
    if (to.size() != points.size()) return false;
    std::copy(points.begin(), points.end(), to.begin());
    return true;
  }
};

class Preprocessing final : public CloudWork {
 public:
  explicit Preprocessing(std::size_t most) : most_(most) {}
  bool take(Words words, std::uint64_t) override {
    const auto cloud = cloud_of(words);
    if (!cloud) return false;
    points_ = filter_.filter(cloud->all(), most_);
    return true;
  }
  bool write(Room room) override {
    return write_cloud(
        room,
        {.points = static_cast<std::uint32_t>(points_.size()), .ground = static_cast<std::uint32_t>(filter_.ground())},
        points_);
  }
  [[nodiscard]] std::uint64_t found() const override { return points_.size(); }

 private:
  std::size_t most_;
  Preprocessor filter_;
  std::span<const CloudPoint> points_;
};

class Localization final : public CloudWork {
 public:
  explicit Localization(double rate_hz) : rate_hz_(rate_hz) {}
  bool take(Words words, std::uint64_t number) override {
    const auto cloud = cloud_of(words);
    if (!cloud) return false;
    head_ = cloud->head;
    points_.assign(cloud->all().begin(), cloud->all().end());
    head_.pose = localizer_.locate(points_, static_cast<double>(number) / rate_hz_);
    return true;
  }
  bool write(Room room) override { return write_cloud(room, head_, points_); }
  [[nodiscard]] std::uint64_t found() const override { return head_.pose.converged; }

 private:
  double rate_hz_;
  Localizer localizer_;
  CloudHead head_;
  std::vector<CloudPoint> points_;
};

class PerceptionWork final : public Work {
 public:
  bool take(Words words, std::uint64_t number) override {
    const auto cloud = cloud_of(words);
    if (!cloud) return false;
    const auto boxes = clusters_.find(cloud->obstacles());
    result_ = {.number = number, .count = boxes.size(), .pose = cloud->head.pose};
    std::copy(boxes.begin(), boxes.end(), result_.boxes.begin());
    return true;
  }
  bool write(Room room) override { return put(room, result_); }
  bool write_empty(Room room) override { return put(room, Obstacles{}); }
  [[nodiscard]] std::uint64_t found() const override { return result_.count; }

 private:
  Clusters clusters_;
  Obstacles result_;
};

class Planning final : public Work {
 public:
  bool take(Words words, std::uint64_t) override {
    const auto obstacles = get<Obstacles>(words);
    if (obstacles) result_ = plan(*obstacles);
    return obstacles.has_value();
  }
  bool write(Room room) override { return put(room, result_); }
  bool write_empty(Room room) override { return put(room, Plan{}); }
  [[nodiscard]] std::uint64_t found() const override { return result_.has; }

 private:
  Plan result_;
};

class Deciding final : public Work {
 public:
  bool take(Words words, std::uint64_t) override {
    const auto plan = get<Plan>(words);
    if (plan) result_ = decide(*plan);
    return plan.has_value();
  }
  bool write(Room) override { return true; }
  bool write_empty(Room) override { return true; }
  [[nodiscard]] std::uint64_t found() const override { return result_.brake ? 1 : 0; }

 private:
  Decision result_;
};

std::unique_ptr<Work> work_of(Stage stage, const Cell& cell, const std::vector<Area>& links) {
  switch (stage) {
    case Stage::Preprocessing:
      return std::make_unique<Preprocessing>(points_that_fit(links[role_of(stage)].header().cell.bytes));
    case Stage::Localization:
      return std::make_unique<Localization>(cell.rate_hz);
    case Stage::Perception:
      return std::make_unique<PerceptionWork>();
    case Stage::Planning:
      return std::make_unique<Planning>();
    case Stage::Lidar:
    case Stage::Decision:
      break;
  }
  return std::make_unique<Deciding>();
}

/// A stage between its two links; the last one has no link after it.
class StageSink final : public FrameSink {
 public:
  StageSink(const Area& stages, std::uint32_t role, const Area& in, Work& work)
      : frames_(stages.header().cell.frames),
        slot_(stages.role(role)),
        received_(in.received(0, 0)),
        window_(stages, slot_),
        work_(work) {}

  void publish_to(const Area& link) {
    published_ = link.published(0);
    out_ = kind_of_link(link).links.writer(link, 0);
  }

  bool take(Words words, std::int64_t in_hand) noexcept override {
    const std::uint64_t n = now_in(words.front());
    if (n == 0 || !is_intact(words, n)) {
      ++slot_.torn;
      return true;
    }
    if (n > frames_) {
      window_.close();
      return false;
    }
    Stamps& stamp = received_[static_cast<std::size_t>(n)];
    if (stamp.first != 0) return true;  // an unprotected peer may hand out a message twice
    const bool measured = window_.open_for(n);
    try {
      const bool is_message = work_.take(words, n);
      if (!is_message || !is_intact(words, n)) {  // its result is of two messages
        if (measured) ++slot_.torn;
        return true;
      }
    } catch (const std::exception& e) {
      failure_ = e.what();
      return false;
    }
    if (out_ == nullptr) {
      stamp = {in_hand, now_ns(), 0};
    } else {
      const Room room = out_->loan(n);
      if (room.empty() || !work_.write(room)) {
        if (measured) ++slot_.refused;
        return true;
      }
      sign(room, n);
      now_ns();  // the clock's own pages are fetched here, and not between the stamp and the publication
      const std::int64_t ready = now_ns();
      stamp = {in_hand, ready, 0};
      published_[static_cast<std::size_t>(n)] = {in_hand, ready, 0};
      out_->publish(n);
    }
    if (measured) window_.add(work_.found());
    return true;
  }

  /// Sends empty messages with numbers after the last until their reader has seen one.
  void send_ends(const Area& link) {
    const std::int64_t give_up = now_ns() + kEndLimitNs;
    for (std::uint64_t n = std::uint64_t{frames_} + 1; now_ns() < give_up && !all_readers_ended(link); ++n) {
      if (const Room room = out_->loan(n); !room.empty() && work_.write_empty(room)) {
        sign(room, n);
        out_->publish(n);
      }
      sleep_until(now_ns() + kEndPauseNs);
    }
  }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  std::uint32_t frames_;
  RoleSlot& slot_;
  std::span<Stamps> received_, published_;
  StageWindow window_;
  Work& work_;
  std::unique_ptr<LinkWriter> out_;
  std::string failure_;
};

void play_lidar(const Area& stages, const Area& link, const Scans& scans) {
  const std::uint32_t frames = stages.header().cell.frames;
  play_source(stages, link, [&](Room room, std::uint64_t n) {
    const std::span<const CloudPoint> scan = n <= frames ? scans.at(n) : std::span<const CloudPoint>();
    const auto to = begin_cloud(room, {.points = static_cast<std::uint32_t>(scan.size())});
    if (to.size() != scan.size() || room.empty()) return false;
    std::copy(scan.begin(), scan.end(), to.begin());
    sign(room, n);
    return true;
  });
}

}  // namespace

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
                         kMessageBytes<Obstacles>, kMessageBytes<Plan>}};
}

void play(const Area& stages, std::uint32_t role, const StageInputs& inputs) {
  const Cell& cell = stages.header().cell;
  const std::vector<Area> links = open_links(stages, lidar_chain(), role);
  if (role == role_of(Stage::Lidar)) {
    play_lidar(stages, links.front(), Scans(inputs, cell.frames, cell.rate_hz));
    return;
  }
  const Area& in = links[role - 1];
  const std::unique_ptr<Work> work = work_of(static_cast<Stage>(role), cell, links);
  // All stages open their ends in the order of the links, so that none waits for one that waits for it.
  StageSink sink(stages, role, in, *work);
  auto reader = kind_of_link(in).links.reader(in, 1, sink);
  const bool is_last = role + 1 == lidar_chain().stages.size();
  if (!is_last) sink.publish_to(links[role]);
  if (!stages.arrive_and_wait()) return;
  read_and_close(in, std::move(reader));
  if (!is_last) sink.send_ends(links[role]);
  if (!sink.failure().empty())
    throw Error(ErrorCode::System, sink.failure(), "give another --lidar or --from, or leave both out");
}

}  // namespace cardan::bench::perception::lidar
