// SPDX-License-Identifier: Apache-2.0
#include "apps/record/record_events.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/decode.hpp"
#include "apps/launcher_pipe.hpp"
#include "apps/record/record_control.hpp"
#include "apps/record/record_trigger.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using record::Recorder;
using Json = nlohmann::ordered_json;

constexpr auto kTurn = std::chrono::milliseconds(50);

volatile std::sig_atomic_t trigger_asked = 0;

/// An event that is over.
struct Ended {
  std::string file{};  ///< "": nothing was recorded
  std::string reason{}, failure{};
  std::uint64_t messages = 0, bytes = 0, lost = 0;
};

/// Its parts as one file.
void join(const RecordEventsOptions& o, const std::vector<std::string>& parts, const std::string& file,
          std::int64_t wall_ns, Ended& ended) {
  const mcap::Rewritten result =
      mcap::rewrite(parts, file,
                    {.write = {.compression = o.recorder.compression, .level = o.recorder.level},
                     .add_metadata = {{.name = "cardan.event",
                                       .metadata = {{"reason", ended.reason}, {"time_ns", std::to_string(wall_ns)}}}}});
  ended.messages = result.messages;
  ended.bytes = result.bytes;
  ended.file = file;
  for (const auto& trouble : result.troubles)
    ended.failure = fmt::format("{}, byte {}: {}", trouble.file, trouble.problem.offset, trouble.problem.cause);
  if (!result.troubles.empty()) return;  // the parts stay
  std::error_code ignored;
  for (const std::string& part : parts) fs::remove(part, ignored);
}

/// One event after the other; the next one's past is recorded while this one's parts are joined.
class Events {
 public:
  explicit Events(const RecordEventsOptions& options) : o_(options), recorder_(begin()) {}

  [[nodiscard]] Recorder& recorder() noexcept { return *recorder_; }
  /// For the report of --json; else empty, however long it runs.
  [[nodiscard]] const std::vector<Ended>& ended() const noexcept { return ended_; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

  void trigger(RecordEvent event) {
    if (event_) return;  // it is part of that one
    recorder_->trigger();
    event_ = std::move(event);
    since_ns_ = steady_now();
    wall_ns_ = wall_now();
    if (!o_.json) (void)emit(fmt::format("an event begins: {}\n", printable(event_->reason)));
  }

  void turn() {
    if (joining_.valid() && joining_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) collect();
    // While the one before is joined, this one becomes longer.
    if (!event_ || joining_.valid() || steady_now() - since_ns_ < o_.after.count()) return;
    auto next = begin();  // before this one ends, so that nothing is missed between them
    end(std::exchange(recorder_, std::move(next)));
  }

  void finish() {
    if (joining_.valid()) collect();
    end(std::move(recorder_));
    collect();
  }

 private:
  std::unique_ptr<Recorder> begin() {
    record::RecorderOptions options = o_.recorder;
    options.path = recording_stem(o_.folder, o_.name, std::time(nullptr)) + "_parts.mcap";
    return std::make_unique<Recorder>(std::move(options));
  }

  [[nodiscard]] std::string file_of(const RecordEvent& event, std::int64_t wall_ns) const {
    return fmt::format("{}_{}.mcap", recording_stem(o_.folder, o_.name, wall_ns / 1'000'000'000), event.word);
  }

  void end(std::unique_ptr<Recorder> recorder) {
    const std::optional<RecordEvent> event = std::exchange(event_, std::nullopt);
    joining_ = std::async(std::launch::async, [this, event, wall_ns = wall_ns_, recorder = std::move(recorder)] {
      Ended ended;
      try {
        recorder->stop();
        const record::RecorderReport report = recorder->report();
        ended.lost = report.lost;
        ended.failure = report.failure;
        if (!event) return ended;
        ended.reason = event->reason;
        if (!report.files.empty()) join(o_, report.files, file_of(*event, wall_ns), wall_ns, ended);
      } catch (const Error& e) {
        ended.failure = e.what();
      }
      return ended;
    });
  }

  void collect() {
    Ended ended = joining_.get();
    failed_ = failed_ || !ended.failure.empty();
    lost_ = lost_ || ended.lost != 0;
    if (!ended.failure.empty())
      warn(ended.reason.empty() ? ended.failure
                                : ended.failure + " — the event's parts remain: cardan bag merge joins them");
    if (ended.reason.empty()) return;
    if (o_.json)
      ended_.push_back(std::move(ended));
    else
      (void)emit(ended.file.empty() ? "the event is over; nothing was published\n"
                                    : fmt::format("{}: {} messages, {}{}\n", printable(ended.file), ended.messages,
                                                  bytes_text(static_cast<double>(ended.bytes)),
                                                  ended.lost == 0 ? "" : fmt::format(", {} lost", ended.lost)));
  }

  const RecordEventsOptions& o_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<RecordEvent> event_;
  std::int64_t since_ns_ = 0, wall_ns_ = 0;
  std::vector<Ended> ended_;
  bool failed_ = false, lost_ = false;
  std::future<Ended> joining_;  // last: it uses the others
};

/// False: it is to end.
bool follow(RecordControl& control, Events& events) {
  while (const auto action = control.next()) {
    if (*action == "stop") return false;
    if (*action == "pause" || *action == "resume") events.recorder().pause(*action == "pause");
    if (*action == "trigger") events.trigger({"told", "ordered by --tell trigger"});
  }
  if (take_trigger_signal()) events.trigger({"told", "ordered by a signal"});
  return true;
}

Json json_of(const std::vector<Ended>& all) {
  Json list = Json::array();
  for (const Ended& e : all)
    list.push_back({{"file", e.file.empty() ? Json() : Json(e.file)},
                    {"reason", e.reason},
                    {"messages", e.messages},
                    {"bytes", e.bytes},
                    {"lost", e.lost},
                    {"failure", e.failure.empty() ? Json() : Json(e.failure)}});
  return {{"events", list}};
}

}  // namespace

void listen_to_trigger_signal() {
  std::signal(SIGRTMIN + 1, [](int) { trigger_asked = 1; });
}

bool take_trigger_signal() noexcept {
  if (trigger_asked == 0) return false;
  trigger_asked = 0;
  return true;
}

std::string recording_stem(const std::string& folder, const std::string& name, std::time_t when) {
  make_output_folder(folder);
  const std::string plain = fmt::format("{}_{:%Y%m%d-%H%M%S}", name, fmt::localtime(when));
  std::string stem = plain;
  const auto is_taken = [&] {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
      const std::string file = at->path().filename().string();
      if (file.starts_with(stem) &&
          (file.size() == stem.size() || file[stem.size()] == '.' || file[stem.size()] == '_'))
        return true;
    }
    return false;
  };
  for (int number = 2; is_taken(); ++number) stem = fmt::format("{}-{}", plain, number);
  return (fs::path(folder) / stem).string();
}

int record_events(const RecordEventsOptions& o) {
  stop_on_signals();
  stop_on_hang_up();
  std::signal(SIGPIPE, SIG_IGN);
  listen_to_trigger_signal();
  RecordTrigger trigger(o.on, o.recorder.domain);
  RecordControl control(o.recorder.domain);
  Events events(o);
  if (!o.json)
    (void)emit(fmt::format("keeping the last {:g} s; events become files in {}\n",
                           static_cast<double>(o.recorder.keep_last.count()) / 1e9, printable(o.folder)));
  tell_launcher(o.ready_fd, "ready");
  const std::int64_t end = o.seconds > 0 ? steady_now() + static_cast<std::int64_t>(o.seconds * 1e9) : 0;
  bool failed = false;
  while (!stopping() && (end == 0 || steady_now() < end)) {
    std::this_thread::sleep_for(kTurn);
    if (!follow(control, events)) break;
    if (auto event = trigger.look()) events.trigger(std::move(*event));
    events.turn();
    failed = events.recorder().ended();
    if (failed) break;
  }
  events.finish();
  if (o.json && !emit(json_lines(json_of(events.ended())))) return kFailed;
  if (failed || events.failed()) return kFailed;
  return events.lost() && o.ready_fd < 0 ? kLoss : kOk;  // for `cardan run` only 0 is an end in order
}

}  // namespace cardan::apps
