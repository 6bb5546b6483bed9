// SPDX-License-Identifier: Apache-2.0
#include "bench/record/recorder_process.hpp"

#include <nlohmann/json.hpp>

#include "bench/record/peers/rosbag2/message_cache.hpp"

namespace cardan::bench::recording {
namespace {

/// A recorder that is a part of this program.
class OwnRecorder : public RecorderProcess {
 public:
  OwnRecorder(const nlohmann::json& job, const Setting& setting, bool makes_messages)
      : actor_("record", job, setting.run_dir), stopped_(setting.stopped), makes_messages_(makes_messages) {}

  void await_ready() override { actor_.await_ready(stopped_); }
  void go() override { actor_.go(); }
  void end() override { actor_.end(); }
  RecorderResult result(std::int64_t until, const Look& look) override {
    RecorderResult result;
    result.words = actor_.await_result(until, look);
    result.files = result.words.at("files").get<std::vector<std::string>>();
    result.cpu = cpu_time_of(result.words.at("cpu"));
    return result;
  }
  [[nodiscard]] int pid() const override { return actor_.pid(); }
  [[nodiscard]] Actor* sensors() override { return makes_messages_ ? &actor_ : nullptr; }

 private:
  Actor actor_;
  Stopped stopped_;
  bool makes_messages_;
};

}  // namespace

std::unique_ptr<RecorderProcess> start_recorder(const RunSpec& spec, const Setting& setting) {
  nlohmann::json job{{"file", spec.file + ".mcap"}};
  switch (spec.peer) {
    case Peer::Alone:
    case Peer::Unrecorded:
    case Peer::Fio:
    case Peer::FioBuffered:
      return nullptr;
    case Peer::Rosbag:
      return start_rosbag(spec, setting);
    case Peer::Cardan:
    case Peer::CardanAsap:
    case Peer::Speed:
      job["part"] = "recorder";
      job["copy"] = spec.peer == Peer::Speed;
      job["asap"] = spec.peer == Peer::CardanAsap;
      return std::make_unique<OwnRecorder>(job, setting, false);
    case Peer::Rosbag2:
    case Peer::Rosbag2Topics:
      break;
  }
  job["part"] = "rosbag2";
  job["sensors"] = to_json(spec.sensors);
  job["schedule"] = name_of(spec.schedule);
  job["seconds"] = spec.seconds;
  job["feed"] = spec.peer == Peer::Rosbag2Topics ? "topics" : "no transport";
  job["cache_bytes"] = rosbag2::MessageCache::kUsualBytes;
  return std::make_unique<OwnRecorder>(job, setting, spec.peer == Peer::Rosbag2);
}

}  // namespace cardan::bench::recording
