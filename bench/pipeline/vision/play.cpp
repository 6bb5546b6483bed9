// SPDX-License-Identifier: Apache-2.0
// The work of each process of the camera's pipeline, and the module that has it (stages.hpp).
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bench/pipeline/join.hpp"
#include "bench/pipeline/play_parts.hpp"
#include "bench/pipeline/stages.hpp"
#include "bench/pipeline/vision/lane.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/pipeline/vision/tracks.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/opencv_picture.hpp"

namespace cardan::bench::perception {
namespace {

/// Work on a picture.
class Finder : public WorkFor<Result> {
 public:
  explicit Finder(Stage stage) : WorkFor({.stage = stage}) {}
  bool take(Words words, std::uint64_t number) final {
    const auto picture = get<Picture>(words);
    if (!picture) return false;
    result_ = empty_;
    result_.number = number;
    // The stages only read; OpenCV has no Mat of constant pixels.
    find(cv::Mat(static_cast<int>(picture->height), static_cast<int>(picture->width), CV_8UC3,
                 const_cast<std::byte*>(after<Picture>(words))));
    return true;
  }
  [[nodiscard]] std::uint64_t found() const final {
    const auto& lanes = result_.lanes;
    return result_.count + static_cast<std::uint64_t>(std::count_if(lanes.begin(), lanes.end(),
                                                                    [](const LaneLine& line) { return line.found(); }));
  }

 protected:
  virtual void find(const cv::Mat& picture) = 0;
};

class Lane final : public Finder {
 public:
  Lane() : Finder(Stage::Lane) {}

 private:
  void find(const cv::Mat& picture) override { result_.lanes = lines_.find(picture); }

  LaneFinder lines_;
};

class Detector final : public Finder {
 public:
  explicit Detector(const std::string& model) : Finder(Stage::Detector), detector_(street::open_detector(model)) {}

 private:
  void find(const cv::Mat& picture) override {
    for (const street::Seen& s : detector_->detect(street::picture_of(picture)))
      result_.add({.x = s.x, .y = s.y, .width = s.width, .height = s.height, .score = s.score});
  }

  std::unique_ptr<street::PictureDetector> detector_;
};

/// Empty: the message is not a result, or is torn.
std::optional<Result> result_of(Words words) noexcept {
  const std::uint64_t number = number_of(words);
  if (!is_intact(words, number)) return std::nullopt;
  auto result = get<Result>(words);
  if (!is_intact(words, number)) return std::nullopt;
  return result;
}

/// The newest detections, from the thread that reads them to the tracker's.
class TargetSink final : public FrameSink {
 public:
  explicit TargetSink(const Area& targets) : frames_(targets.header().cell.frames), stamps_(targets.received(0, 0)) {}

  bool take(Words words, std::int64_t in_hand) noexcept override {
    const auto result = result_of(words);
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

class Tracker final : public Finder {
 public:
  explicit Tracker(TargetSink& targets) : Finder(Stage::Tracker), targets_(targets) {}

 private:
  void find(const cv::Mat& picture) override {
    Result detected;
    const bool fresh = targets_.newest(detected);
    tracks_.update(picture, fresh ? &detected : nullptr, result_);
  }

  TargetSink& targets_;
  Tracks tracks_;
};

class FusionSink final : public FrameSink {
 public:
  FusionSink(const Area& stages, const Area& results)
      : frames_(stages.header().cell.frames),
        slot_(stages.role(role_of(Stage::Fusion))),
        fused_(stamps_of_end(stages)),
        window_(stages, slot_) {
    for (const Stage finder : kFinders) received_[place_of(finder)] = results.received(0, place_of(finder));
  }

  bool take(Words words, std::int64_t in_hand) noexcept override {
    const auto result = result_of(words);
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
  const Picture head{.width = static_cast<std::uint32_t>(pictures.size().width),
                     .height = static_cast<std::uint32_t>(pictures.size().height)};
  const std::size_t row = std::size_t{head.width} * 3;
  play_source(stages, link, [&, frames = stages.header().cell.frames](Room room, std::uint64_t n) {
    std::byte* const pixels = put(room, head, head.pixels());
    if (pixels == nullptr) return false;
    for (std::uint32_t y = 0; n <= frames && y < head.height; ++y)
      std::memcpy(pixels + y * row, pictures.at(n).ptr(static_cast<int>(y)), row);
    return true;
  });
}

void play_finder(const Area& stages, const std::vector<Area>& links, Stage stage, const StageInputs& inputs) {
  const Area& targets = links[static_cast<std::size_t>(Link::Targets)];
  if (const int threads = stage == Stage::Detector ? inputs.threads : 1; threads > 0) cv::setNumThreads(threads);
  std::unique_ptr<Work> work;
  std::unique_ptr<TargetSink> target_sink;
  if (stage == Stage::Lane) {
    work = std::make_unique<Lane>();
  } else if (stage == Stage::Detector) {
    work = std::make_unique<Detector>(inputs.detector);
  } else {
    target_sink = std::make_unique<TargetSink>(targets);
    work = std::make_unique<Tracker>(*target_sink);
  }
  WorkingStage finder(stages, camera_chain(), links, role_of(stage), *work);
  std::unique_ptr<LinkReader> reader;
  if (target_sink) reader = kind_of_link(targets).links.reader(targets, 1, *target_sink);
  if (!stages.arrive_and_wait()) return;
  std::jthread target_thread;
  if (reader) target_thread = std::jthread([&] { read_and_close(targets, std::move(reader)); });
  finder.play();
}

void play(const Area& stages, std::uint32_t role, const StageInputs& inputs) {
  const std::vector<Area> links = open_links(stages, camera_chain(), role);
  const auto stage = static_cast<Stage>(role);
  if (stage == Stage::Camera) {
    play_camera(stages, links.front(), Pictures(inputs, stages.header().cell.frames));
  } else if (stage != Stage::Fusion) {
    play_finder(stages, links, stage, inputs);
  } else {
    const Area& results = links[static_cast<std::size_t>(Link::Results)];
    FusionSink sink(stages, results);
    auto reader = kind_of_link(results).links.reader(results, static_cast<std::uint32_t>(kFinders.size()), sink);
    if (stages.arrive_and_wait()) read_and_close(results, std::move(reader));
  }
}

LookedAt look(const StageInputs& inputs) {
  cv::setNumThreads(1);  // none that would stay in this process, which starts others
  const Pictures pictures(inputs, 1);
  const auto width = static_cast<std::uint32_t>(pictures.size().width);
  const auto height = static_cast<std::uint32_t>(pictures.size().height);
  return {.width = width,
          .height = height,
          .camera = pictures.name(),
          .detector = street::open_detector(inputs.detector)->name(),
          .link_bytes = {picture_bytes(width, height), kResultBytes, kResultBytes}};
}

constexpr StagesModule kModule{look, play};

}  // namespace
}  // namespace cardan::bench::perception

extern "C" const cardan::bench::perception::StagesModule* cardan_bench_pipeline_stages() {
  return &cardan::bench::perception::kModule;
}
