// SPDX-License-Identifier: Apache-2.0
#include "apps/play/recording_playback.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/player.hpp"
#include "cardan/stop.hpp"
#include "src/base/text_of_json.hpp"

namespace cardan::apps {
namespace {

using bridge::foxglove::Playback;
using bridge::foxglove::PlaybackState;
using bridge::foxglove::PlaybackStatus;
using nlohmann::json;
using record::PlayerReport;

constexpr std::size_t kMostTold = 8;        ///< of each kind, on the terminal
constexpr std::size_t kMostTopics = 2'000;  ///< that the page is told; a file may have 65,535
constexpr std::size_t kMostReasons = 100;
constexpr std::size_t kMostLetters = 300;  ///< of a name or a reason; a file may have any
/// It begins so far from the start, or at a tenth of a short recording: most topics have a message by then.
constexpr std::int64_t kLead = 1'000'000'000;

/// Where no other program looks: what is played is not there for those that work with what runs.
class OwnRunDirectory {
 public:
  OwnRunDirectory() {
    const char* const temporary = std::getenv("TMPDIR");
    folder_ = fmt::format("{}/cardan-view.XXXXXX", temporary != nullptr && *temporary != '\0' ? temporary : "/tmp");
    if (::mkdtemp(folder_.data()) == nullptr)
      throw Error(ErrorCode::Unavailable,
                  fmt::format("cannot make the folder {}: {}", folder_, std::generic_category().message(errno)),
                  "set TMPDIR to a folder in which you may write");
    ::setenv("CARDAN_RUN_DIR", (folder_ + "/run").c_str(), 1);
  }
  ~OwnRunDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  OwnRunDirectory(const OwnRunDirectory&) = delete;
  OwnRunDirectory& operator=(const OwnRunDirectory&) = delete;

 private:
  std::string folder_;
};

/// Says the first ones, and how many more there are.
class Told {
 public:
  void say(const std::string& what) {
    if (!said_.insert(what).second) return;
    if (said_.size() <= kMostTold)
      warn(what);
    else
      ++more_;
  }
  void end() {
    if (const std::size_t more = std::exchange(more_, 0); more != 0) warn(fmt::format("… and {} more of these", more));
  }

 private:
  std::set<std::string> said_;
  std::size_t more_ = 0;
};

std::string shown(const std::string& text) {
  return text.size() <= kMostLetters ? text : text.substr(0, kMostLetters) + "…";
}

/// `start`: log time.
json contents_json(const std::string& name, std::int64_t start, std::int64_t end, const PlayerReport& r) {
  json topics = json::array(), left_out = json::array(), problems = json::array();
  for (std::size_t i = 0; i < std::min(r.topics.size(), kMostTopics); ++i) {
    const record::PlayedTopic& t = r.topics[i];
    json one{{"topic", shown(t.topic)}, {"type", shown(t.type)}};
    if (t.recorded) one["messages"] = *t.recorded;
    topics.push_back(std::move(one));
  }
  for (const record::LeftOut& l : r.left_out)
    if (left_out.size() < kMostReasons) left_out.push_back({{"topic", shown(l.topic)}, {"why", shown(l.why)}});
  for (const auto* const list : {&r.problems, &r.unfinished, &r.notes})
    for (const std::string& text : *list)
      if (problems.size() < kMostReasons) problems.push_back(shown(text));
  return {{"name", name},
          {"start_ms", static_cast<double>(start) / 1e6},
          {"end_ms", static_cast<double>(end) / 1e6},
          {"topics", std::move(topics)},
          {"topics_in_all", r.topics.size()},
          {"left_out", std::move(left_out)},
          {"left_out_in_all", r.left_out.size()},
          {"problems", std::move(problems)}};
}

class RecordingPlayback final : public Playback {
 public:
  RecordingPlayback(const std::vector<std::string>& files, const std::string& domain)
      : player_(std::in_place, files, record::PlayerOptions{.paused = true, .domain = domain, .for_viewer = true}) {
    const PlayerReport report = player_->report();
    tell(report);
    if (report.topics.empty())
      throw Error(ErrorCode::Unavailable, "there is nothing to show", "cardan bag info shows what the recording has");
    name_ = shown(std::filesystem::path(files[0]).lexically_normal().filename().string());
    if (name_.empty())
      name_ = shown(std::filesystem::path(files[0]).lexically_normal().parent_path().filename().string());
    if (files.size() > 1) name_ += fmt::format(" and {} more", files.size() - 1);
    constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
    start_ = static_cast<std::int64_t>(std::min(report.first_time, kLast));
    end_ = start_ + std::min<std::int64_t>(report.end_ns, std::numeric_limits<std::int64_t>::max() - start_);
    contents_ = text_of_json(contents_json(name_, start_, end_, report));
    name_ = printable(name_);
    span_ = report.end_ns;
    player_->seek(std::chrono::nanoseconds(std::min(kLead, span_ / 10)));
    thread_ = std::thread([this] { run(); });
  }
  ~RecordingPlayback() override { stop(); }
  RecordingPlayback(const RecordingPlayback&) = delete;
  RecordingPlayback& operator=(const RecordingPlayback&) = delete;

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] std::int64_t start_ns() const noexcept override { return start_; }
  [[nodiscard]] std::int64_t end_ns() const noexcept override { return end_; }
  [[nodiscard]] const std::string& contents() const noexcept override { return contents_; }
  [[nodiscard]] PlaybackState state() const override {
    const record::PlayerPosition at = player_->position();
    return {.status = at.ended    ? PlaybackStatus::Ended
                      : at.paused ? PlaybackStatus::Paused
                                  : PlaybackStatus::Playing,
            .time_ns = std::min(end_, start_ + std::min(at.position_ns, end_ - start_)),
            .speed = static_cast<float>(at.rate)};
  }

  void play(bool again) override {
    const record::PlayerPosition at = player_->position();
    // A page counts in milliseconds.
    if (again && (at.ended || at.position_ns > span_ - 1'000'000)) player_->seek({});
    player_->pause(false);
  }
  void pause() override {
    if (!player_->paused()) player_->pause(true);  // it would forget the steps that were asked for
  }
  void step(std::uint32_t messages) override { player_->step(messages); }
  void seek(std::int64_t time_ns) override {
    player_->seek(std::chrono::nanoseconds(std::clamp(time_ns, start_, end_) - start_));
  }
  void set_speed(float speed) override {
    if (static_cast<float>(player_->position().rate) != speed) player_->set_rate(static_cast<double>(speed));
  }

  void check() const override {
    if (failed_) std::rethrow_exception(failure_);
  }
  [[nodiscard]] bool finish() override {
    stop();
    const PlayerReport report = player_->report();
    tell(report);
    const bool all = std::all_of(report.left_out.begin(), report.left_out.end(),
                                 [](const record::LeftOut& l) { return l.by_design; });
    return all && report.problems.empty() && report.failed == 0;
  }

 private:
  void run() {
    try {
      player_->run();
    } catch (...) {
      failure_ = std::current_exception();
      failed_ = true;
    }
  }
  void stop() {
    player_->stop();
    if (thread_.joinable()) thread_.join();
  }
  void tell(const PlayerReport& r) {
    for (const record::LeftOut& l : r.left_out)
      left_out_.say(fmt::format("{} is not shown: {}", printable(shown(l.topic)), printable(shown(l.why))));
    for (const std::string& note : r.notes) notes_.say(printable(shown(note)));
    for (const std::string& what : r.unfinished) problems_.say("not finished: " + printable(shown(what)));
    for (const std::string& what : r.problems) problems_.say(printable(shown(what)));
    for (const record::PlayedTopic& t : r.topics)
      if (t.failed > 0)
        problems_.say(fmt::format("{}: {} messages could not be shown: {}", printable(shown(t.topic)), t.failed,
                                  printable(shown(t.failure))));
    for (Told* const told : {&left_out_, &notes_, &problems_}) told->end();
  }

  OwnRunDirectory run_directory_;  // first: it goes last
  Told left_out_, notes_, problems_;
  std::optional<record::Player> player_;
  std::string name_, contents_;
  std::int64_t start_ = 0, end_ = 0, span_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Playback> open_recording(const std::vector<std::string>& files, const std::string& domain) {
  stop_on_signals();  // so that the run directory is removed
  return std::make_unique<RecordingPlayback>(files, domain);
}

}  // namespace cardan::apps
