// SPDX-License-Identifier: Apache-2.0
// The work of each process of the camera's pipeline.
#include "bench/pipeline/vision/play.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <string>
#include <thread>
#include <utility>

#include "bench/pipeline/graph.hpp"
#include "bench/pipeline/join.hpp"
#include "bench/pipeline/messages.hpp"
#include "bench/pipeline/play_parts.hpp"
#include "bench/pipeline/vision/lane.hpp"
#include "bench/pipeline/vision/mosse.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/peers/link.hpp"
#include "cardan/error.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/opencv_picture.hpp"

namespace cardan::bench::perception {
namespace {

/// A stage's writing end of a link for results.
class ResultOut {
 public:
  ResultOut(const Area& link, std::uint32_t publisher, RoleSlot& slot)
      : link_(link),
        publisher_(publisher),
        slot_(slot),
        frames_(link.header().cell.frames),
        out_(kind_of_link(link).links.writer(link, publisher)) {}

  void publish(const Result& result) noexcept {
    const std::int64_t ready = now_ns();
    const auto words = out_->loan(result.number);
    if (words.empty()) {
      if (result.number <= frames_) ++slot_.refused;
      return;
    }
    write_result(words, result);
    const std::int64_t before_publish = now_ns();
    // The reader may have it before publish() returns: its stamps are in other places.
    if (result.number <= frames_)
      link_.published(publisher_)[static_cast<std::size_t>(result.number)] = {ready, before_publish, 0};
    out_->publish(result.number);
  }
  [[nodiscard]] bool all_ended() const noexcept { return all_readers_ended(link_); }

 private:
  const Area& link_;
  std::uint32_t publisher_;
  RoleSlot& slot_;
  std::uint32_t frames_;
  std::unique_ptr<LinkWriter> out_;
};

/// Sends results with numbers after the last until their reader has seen one from each stage.
void send_ends(std::vector<ResultOut*> outs, Result last) {
  const std::int64_t give_up = now_ns() + kEndLimitNs;
  while (now_ns() < give_up) {
    std::erase_if(outs, [](const ResultOut* out) { return out->all_ended(); });
    if (outs.empty()) return;
    ++last.number;
    for (ResultOut* const out : outs) out->publish(last);
    sleep_until(now_ns() + kEndPauseNs);
  }
}

/// Reads pictures, works on them, and publishes what was found.
class FinderSink final : public FrameSink {
 public:
  using Work = std::function<void(const cv::Mat&, Result&)>;

  FinderSink(const Area& stages, const Area& pictures, Stage stage, Work work)
      : frames_(stages.header().cell.frames),
        stage_(stage),
        slot_(stages.role(role_of(stage))),
        stamps_(pictures.received(place_of(stage), 0)),
        window_(stages, slot_),
        work_(std::move(work)) {}

  bool take(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept override {
    const auto picture = picture_of(words);
    if (!picture) {
      ++slot_.torn;
      return true;
    }
    const std::uint64_t n = picture->number;
    if (n > frames_) {
      window_.close();
      return false;
    }
    Stamps& stamp = stamps_[static_cast<std::size_t>(n)];
    if (stamp.first != 0) return true;  // an unprotected peer may hand out a frame twice
    const bool measured = window_.open_for(n);
    Result result;
    result.number = n;
    result.stage = stage_;
    try {
      // The stages only read; OpenCV has no Mat of constant pixels.
      work_(cv::Mat(static_cast<int>(picture->height), static_cast<int>(picture->width), CV_8UC3,
                    const_cast<std::uint8_t*>(picture->pixels)),
            result);
    } catch (const std::exception& e) {
      failure_ = e.what();
      return false;
    }
    const std::int64_t ready = now_ns();
    if (!is_intact(words, n)) {  // its result is of two pictures
      if (measured) ++slot_.torn;
      return true;
    }
    stamp = {in_hand, ready, 0};
    for (ResultOut* const out : outs_) out->publish(result);
    if (measured) window_.add(found_in(result));
    return true;
  }
  /// Where results go: known before the first picture comes.
  void publish_to(std::vector<ResultOut*> outs) { outs_ = std::move(outs); }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  static std::uint64_t found_in(const Result& result) noexcept {
    const auto lines =
        std::count_if(result.lanes.begin(), result.lanes.end(), [](const LaneLine& line) { return line.found(); });
    return result.count + static_cast<std::uint64_t>(lines);
  }

  std::uint32_t frames_;
  Stage stage_;
  RoleSlot& slot_;
  std::span<Stamps> stamps_;
  StageWindow window_;
  Work work_;
  std::vector<ResultOut*> outs_;
  std::string failure_;
};

/// The newest detections, from the thread that reads them to the tracker's.
class TargetSink final : public FrameSink {
 public:
  explicit TargetSink(const Area& targets) : frames_(targets.header().cell.frames), stamps_(targets.received(0, 0)) {}

  bool take(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept override {
    const auto result = read_result(words);
    if (!result) return true;
    if (result->number > frames_) return false;
    stamps_[static_cast<std::size_t>(result->number)] = {in_hand, now_ns(), 0};
    const std::scoped_lock lock(mutex_);
    newest_ = *result;
    fresh_ = true;
    return true;
  }
  /// False: nothing came since the last call.
  bool newest(Result& into) {
    const std::scoped_lock lock(mutex_);
    if (fresh_) into = newest_;
    return std::exchange(fresh_, false);
  }

 private:
  std::uint32_t frames_;
  std::span<Stamps> stamps_;
  std::mutex mutex_;
  Result newest_;
  bool fresh_ = false;
};

class FusionSink final : public FrameSink {
 public:
  FusionSink(const Area& stages, const Area& results)
      : frames_(stages.header().cell.frames),
        slot_(stages.role(role_of(Stage::Fusion))),
        fused_(stages.received(kFusionReader, 0)),
        window_(stages, slot_) {
    for (const Stage finder : kFinders) received_[place_of(finder)] = results.received(0, place_of(finder));
  }

  bool take(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept override {
    const auto result = read_result(words);
    if (!result) {
      ++slot_.torn;
      return true;
    }
    const std::uint64_t n = result->number;
    const std::uint32_t finder = place_of(result->stage);
    if (n > frames_) {
      window_.close();
      ended_[finder] = true;
      return !std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });
    }
    const bool measured = window_.open_for(n);
    Stamps& stamp = received_[finder][static_cast<std::size_t>(n)];
    if (stamp.first != 0) return true;
    stamp = {in_hand, now_ns(), 0};
    const Results* const all = join_.add(*result);
    if (all == nullptr) return true;
    const Fused fused = fuse(*all);
    fused_[static_cast<std::size_t>(n)] = {in_hand, now_ns(), 0};
    if (measured) window_.add(fused.in_lane);
    return true;
  }

 private:
  std::uint32_t frames_;
  RoleSlot& slot_;
  std::span<Stamps> fused_;
  std::array<std::span<Stamps>, kFinders.size()> received_{};
  StageWindow window_;
  FrameJoin join_;
  std::array<bool, kFinders.size()> ended_{};
};

void play_camera(const Area& stages, const Area& link, const Pictures& pictures) {
  const auto width = static_cast<std::uint32_t>(pictures.size().width);
  const auto height = static_cast<std::uint32_t>(pictures.size().height);
  const std::size_t row = std::size_t{width} * 3;
  const std::uint32_t frames = stages.header().cell.frames;
  play_source(stages, link, [&](std::span<std::uint64_t> words, std::uint64_t n) {
    const auto pixels = begin_picture(words, n, width, height);
    if (pixels.empty()) return false;
    if (n <= frames) {
      const cv::Mat& picture = pictures.at(n);
      for (int y = 0; y < picture.rows; ++y)
        std::memcpy(pixels.data() + static_cast<std::size_t>(y) * row, picture.ptr(y), row);
    }
    end_picture(words, n);
    return true;
  });
}

void play_finder(const Area& stages, const std::vector<Area>& links, Stage stage, const StageInputs& inputs) {
  const auto link = [&](Link which) -> const Area& { return links[static_cast<std::size_t>(which)]; };
  const Area& pictures = link(Link::Pictures);
  RoleSlot& slot = stages.role(role_of(stage));

  LaneFinder lane;
  Tracks tracks;
  std::unique_ptr<street::PictureDetector> detector;
  std::unique_ptr<TargetSink> targets;
  FinderSink::Work work;
  if (stage == Stage::Detector) {
    if (inputs.threads > 0) cv::setNumThreads(inputs.threads);
    detector = street::open_detector(inputs.detector);
    work = [&](const cv::Mat& picture, Result& result) {
      for (const street::Seen& s : detector->detect(street::picture_of(picture)))
        result.add({.x = s.x, .y = s.y, .width = s.width, .height = s.height, .score = s.score});
    };
  } else {
    cv::setNumThreads(1);
    if (stage == Stage::Tracker) targets = std::make_unique<TargetSink>(link(Link::Targets));
    work = [&](const cv::Mat& picture, Result& result) {
      if (stage == Stage::Lane) {
        result.lanes = lane.find(picture);
        return;
      }
      Result detected;
      const bool fresh = targets->newest(detected);
      tracks.update(picture, fresh ? &detected : nullptr, result);
    };
  }

  // All stages open their ends in the order of the links, so that none waits for one that waits for it.
  FinderSink sink(stages, pictures, stage, work);
  auto reader = kind_of_link(pictures).links.reader(pictures, 1 + place_of(stage), sink);
  ResultOut results(link(Link::Results), place_of(stage), slot);
  std::vector<ResultOut*> outs{&results};
  std::unique_ptr<ResultOut> to_tracker;
  std::unique_ptr<LinkReader> target_reader;
  if (stage == Stage::Detector) {
    to_tracker = std::make_unique<ResultOut>(link(Link::Targets), 0, slot);
    outs.push_back(to_tracker.get());
  }
  if (stage == Stage::Tracker)
    target_reader = kind_of_link(link(Link::Targets)).links.reader(link(Link::Targets), 1, *targets);
  sink.publish_to(outs);

  if (!stages.arrive_and_wait()) return;
  std::thread target_thread;
  if (target_reader)
    target_thread = std::thread([&] { read_and_close(link(Link::Targets), std::move(target_reader)); });
  read_and_close(pictures, std::move(reader));
  Result last;
  last.number = stages.header().cell.frames;
  last.stage = stage;
  send_ends(outs, last);
  if (target_thread.joinable()) target_thread.join();
  if (!sink.failure().empty()) throw Error(ErrorCode::System, sink.failure(), "give another --camera or --detector");
}

void play_fusion(const Area& stages, const Area& results) {
  FusionSink sink(stages, results);
  auto reader = kind_of_link(results).links.reader(results, static_cast<std::uint32_t>(kFinders.size()), sink);
  if (!stages.arrive_and_wait()) return;
  read_and_close(results, std::move(reader));
}

}  // namespace

void play(const Area& stages, std::uint32_t role, const StageInputs& inputs) {
  const Stage stage = kStages.at(role);
  const std::vector<Area> links = open_links(stages, camera_chain(), role);
  const auto link = [&](Link which) -> const Area& { return links[static_cast<std::size_t>(which)]; };
  if (stage == Stage::Camera)
    play_camera(stages, link(Link::Pictures), Pictures(inputs, stages.header().cell.frames));
  else if (stage == Stage::Fusion)
    play_fusion(stages, link(Link::Results));
  else
    play_finder(stages, links, stage, inputs);
}

}  // namespace cardan::bench::perception
