// SPDX-License-Identifier: Apache-2.0
#include "apps/tour/steps.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "apps/tour/camera.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// No step waits for ever. It counts its waits, and not the time: the computer may have slept meanwhile.
constexpr std::chrono::nanoseconds kPatience = 60s;

[[noreturn]] void step_failed(const std::string& cause) {
  throw Error(ErrorCode::Unavailable, cause, "cardan doctor says what this computer lacks");
}

void must(bool good, const std::string& otherwise) {
  if (!good) step_failed(otherwise);
}

/// Sleeps, as a reader that is busy with something else.
void be_busy(std::chrono::nanoseconds time) {
  if (!sleep_for(time)) throw TourInterrupted{};
}

/// Until `good()`. Throws Error with the cause if it takes too long.
template <class Good>
void wait_until(const Good& good, std::chrono::nanoseconds step, const char* otherwise) {
  for (std::chrono::nanoseconds waited{0}; !good(); waited += step) {
    must(waited < kPatience, fmt::format("{} for 60 s", otherwise));
    be_busy(step);
  }
}

std::string milliseconds_since(std::int64_t begin) { return time_text(static_cast<double>(steady_now() - begin)); }

std::string command_line(const Words& words) {
  std::string line = "$ cardan";
  for (const std::string& word : words) line += " " + word;
  return line;
}

/// Shows the command, runs it, and shows its lines that `wanted` lets through. Returns the exit code and all lines.
struct Said {
  int code = 0;
  Words lines;
  [[nodiscard]] bool has_line_with(std::string_view text) const {
    return std::ranges::any_of(lines, [&](const std::string& l) { return l.find(text) != std::string::npos; });
  }
};
template <class Wanted>
Said show_command(const Words& words, const Wanted& wanted) {
  say_in_tour("  " + command_line(words));
  Said said;
  auto process = Stage::start(words);
  try {
    said.code = Stage::finish(*process, [&](std::string_view line) {
      said.lines.emplace_back(printable(line));
      if (wanted(said.lines.back())) say_in_tour("    " + said.lines.back());
    });
  } catch (...) {
    Stage::end(std::move(process));
    throw;
  }
  return said;
}
Said show_command(const Words& words) {
  return show_command(words, [](const std::string&) { return true; });
}

/// The next frame of the camera; it is whole, or the step fails.
Sample<Image> frame_of(TourGuide& guide, Subscriber<Image>& reader) {
  for (std::chrono::nanoseconds waited{0};; waited += 200ms) {
    if (auto frame = reader.wait(200ms)) {
      must(is_whole(*frame), fmt::format("frame {} is torn", frame.sequence()));
      return frame;
    }
    if (stopping()) throw TourInterrupted{};
    must(guide.stage.camera_runs(), fmt::format("the camera's process {}", guide.stage.camera_end()));
    must(waited < kPatience, "no frame came for 60 s");
  }
}

/// Waits until the camera has published frame n, without taking part in the topic. Returns the newest one's number.
std::uint64_t until_published(TourGuide& guide, Subscriber<Image>& reader, std::uint64_t n) {
  ObservedSample seen;
  wait_until(
      [&] {
        must(guide.stage.camera_runs(), fmt::format("the camera's process {}", guide.stage.camera_end()));
        return reader.copy_latest(seen) && seen.sequence() >= n;
      },
      50ms, "the camera published nothing");
  return seen.sequence();
}

/// Starts the camera, and waits for its first frame.
Sample<Image> begin_camera(TourGuide& guide) {
  const std::int64_t begin = steady_now();
  guide.stage.start_camera();
  if (!guide.reader) guide.reader = std::make_unique<Subscriber<Image>>(kTourCamera);
  Sample<Image> frame = frame_of(guide, *guide.reader);
  must(frame.publish_time() >= begin, "the first frame is older than the camera");
  return frame;
}

/// For a step that runs by itself.
void need_camera(TourGuide& guide) {
  if (guide.stage.camera_runs()) return;
  must(guide.stage.camera() < 0, fmt::format("the camera's process {}", guide.stage.camera_end()));
  say_in_tour("  (first a camera, as in step 2)");
  (void)begin_camera(guide);
}

void step_look(TourGuide&) {
  const Said doctor = show_command({"doctor"}, [](const std::string& line) { return !line.starts_with("ok "); });
  must(doctor.code == kOk, "Cardan cannot work on this computer");
  const auto good =
      std::ranges::count_if(doctor.lines, [](const std::string& line) { return line.starts_with("ok "); });
  say_in_tour(fmt::format("  {} checks are ok; the lines above are all others", good));
}

void step_publish(TourGuide& guide) {
  guide.reader.reset();
  const std::int64_t begin = steady_now();
  const auto frame = begin_camera(guide);
  say_in_tour(fmt::format("  the camera is process {}; its first frame ({} x {}) was here {} after its start",
                          guide.stage.camera(), frame->width, frame->height, milliseconds_since(begin)));
}

void step_list(TourGuide& guide) {
  need_camera(guide);
  const Said list = show_command({"topic", "list"});
  must(list.code == kOk, fmt::format("cardan topic list ended with code {}", list.code));
  for (const char* topic : {kTourCamera.name, kTourQueue.name})
    must(list.has_line_with(topic), fmt::format("{} is not in the list", topic));
}

void step_read(TourGuide& guide) {
  need_camera(guide);
  for (int i = 0; i < 3; ++i) {
    const auto frame = frame_of(guide, *guide.reader);
    say_in_tour(fmt::format("  frame {}: {} x {}, {} old when it was read, and whole", frame.sequence(), frame->width,
                            frame->height, time_text(static_cast<double>(frame.age().count()))));
  }
}

void step_freshness(TourGuide& guide) {
  need_camera(guide);
  const std::uint64_t before = frame_of(guide, *guide.reader).sequence();
  const std::int64_t begin = steady_now();
  const std::uint64_t newest = until_published(guide, *guide.reader, before + 15);
  const std::string busy = milliseconds_since(begin);
  const auto after = frame_of(guide, *guide.reader);
  say_in_tour(fmt::format("  frame {}, then {} of other work, then frame {}: it is {} old; {} older ones did not wait",
                          before, busy, after.sequence(), time_text(static_cast<double>(after.age().count())),
                          after.sequence() - before - 1));
  must(after.sequence() >= newest, fmt::format("frame {} was published before, and not delivered", newest));
}

void step_loss(TourGuide& guide) {
  need_camera(guide);
  Subscriber<Image> queue{kTourQueue};
  (void)frame_of(guide, queue);
  while (queue.take()) {  // what was there before us does not count
  }
  const std::uint64_t first = frame_of(guide, queue).sequence();
  const std::uint64_t before = queue.missed();
  const std::int64_t begin = steady_now();
  (void)until_published(guide, queue, first + 3 * kTourQueue.options.depth);
  const std::string busy = milliseconds_since(begin);
  std::uint64_t taken = 1;
  std::uint64_t last = first;
  while (const auto frame = queue.take()) {
    must(is_whole(*frame), fmt::format("frame {} is torn", frame.sequence()));
    last = frame.sequence();
    ++taken;
  }
  const std::uint64_t missed = queue.missed() - before;
  const std::uint64_t sent = last - first + 1;
  say_in_tour(fmt::format("  {} of other work: {} frames were sent, {} taken, {} missed", busy, sent, taken, missed));
  must(missed != 0, "a reader of eight frames should have missed some");
  must(taken + missed == sent, "taken and missed are not what was sent");
}

void step_crash(TourGuide& guide) {
  need_camera(guide);
  const auto held = frame_of(guide, *guide.reader);
  const pid_t camera = guide.stage.camera();
  say_in_tour(fmt::format("  $ kill -KILL {}", camera));
  const std::int64_t begin = steady_now();
  guide.stage.kill_camera();
  std::string text;
  wait_until(
      [&] {
        (void)guide.reader->take();  // a subscriber that never takes would get its events, too
        while (const auto event = guide.reader->event())
          if (event->kind == Event::Kind::Died && event->pid == camera) text = printable(event->text);
        return !text.empty();
      },
      1ms, "the reader got no event of the camera's death");
  say_in_tour(fmt::format("  {} later the reader got the event: {}", milliseconds_since(begin), text));
  must(is_whole(*held), fmt::format("frame {} changed", held.sequence()));
  say_in_tour(
      fmt::format("  frame {}, which the reader holds, is still whole: {} bytes", held.sequence(), held->data.size()));
  guide.stage.end_camera();
}

void step_again(TourGuide& guide) {
  if (!guide.reader) guide.reader = std::make_unique<Subscriber<Image>>(kTourCamera);
  const std::int64_t begin = steady_now();
  const auto frame = begin_camera(guide);
  say_in_tour(fmt::format("  the same reader has frame {} of process {}, {} after its start", frame.sequence(),
                          guide.stage.camera(), milliseconds_since(begin)));
}

void step_record(TourGuide& guide) {
  need_camera(guide);
  const std::string file = guide.stage.path("tour.mcap");
  const Said record =
      show_command({"record", kTourQueue.name, "-o", file, "--seconds", "2", "--no-view", "--min-space", "0"});
  must(record.code == kOk || record.code == kLoss, fmt::format("cardan record ended with code {}", record.code));
  guide.lost = record.code == kLoss;
  const Said info = show_command({"bag", "info", file, "--json"}, [](const std::string&) { return false; });
  std::string text;
  for (const std::string& line : info.lines) text += line;
  const auto contents = nlohmann::json::parse(text, nullptr, false);
  const bool counted =
      contents.is_object() && contents.contains("messages") && contents["messages"].is_number_unsigned();
  must(info.code == kOk && counted, fmt::format("cardan bag info ended with code {}: {}", info.code, text));
  guide.recorded = contents["messages"].get<std::uint64_t>();
  must(guide.recorded != 0, "the recording has no frame");
  say_in_tour(fmt::format("  {} frames are in the file; {}", guide.recorded,
                          guide.lost
                              ? "the recorder lost some: the line above has the count and the cause, and the exit "
                                "code was 3"
                              : "none was lost"));
}

void step_replay(TourGuide& guide) {
  if (guide.recorded == 0) {
    say_in_tour("  (first a recording, as in step 9)");
    step_record(guide);
  }
  guide.stage.end_camera();
  Subscriber<Image> reader{kTourQueue};
  const Words words{"play", guide.stage.path("tour.mcap"), "--wait-for-readers"};
  say_in_tour("  " + command_line(words));
  const std::int64_t begin = steady_now();
  auto player = Stage::start(words);
  try {
    std::uint64_t taken = 0;
    bool left = false;
    const auto take_all = [&] {
      while (const auto frame = reader.take()) {
        must(is_whole(*frame), fmt::format("frame {} is torn", frame.sequence()));
        ++taken;
      }
      while (const auto event = reader.event()) {
        must(event->kind != Event::Kind::Died, "the player died");
        left = left || event->kind == Event::Kind::Left;
      }
      return left;
    };
    wait_until(take_all, 5ms, "the player did not end");
    const std::string span = milliseconds_since(begin);
    const int code = Stage::finish(*player, [](std::string_view line) { say_in_tour("    " + printable(line)); });
    must(code == kOk, fmt::format("cardan play ended with code {}", code));
    say_in_tour(fmt::format("  {} frames came from the file in {}, and {} were missed; {} were recorded", taken, span,
                            reader.missed(), guide.recorded));
    must(taken + reader.missed() == guide.recorded, "these are not the frames that were recorded");
  } catch (...) {
    Stage::end(std::move(player));
    throw;
  }
}

constexpr std::array kSteps{
    TourStep{"Look at this computer", "", step_look},
    TourStep{"Publish: a camera in its own process",
             "  cardan::Publisher out{kCamera};\n"
             "  auto frame = out.loan();                                  // shared memory, filled in place\n"
             "  std::ranges::fill(frame->resize(480, 640, \"mono8\"), n);\n"
             "  out.publish(std::move(frame));",
             step_publish},
    TourStep{"See what is published", "", step_list},
    TourStep{"Read, in the camera's memory",
             "  cardan::Subscriber in{kCamera};\n"
             "  while (auto frame = in.wait())                            // no copy\n"
             "    look_at(*frame);",
             step_read},
    TourStep{
        "Freshness: with depth 1, a slow reader gets the newest frame",
        "  constexpr cardan::Topic<cardan::Image> kCamera{\"/tour/camera\", {.max_bytes = 640 * 480, .depth = 1}};\n"
        "  while (auto frame = in.wait())\n"
        "    work_for_half_a_second(*frame);",
        step_freshness},
    TourStep{"Loss: with depth 8, a slow reader gets the last eight, and knows exactly what it missed",
             "  constexpr cardan::Topic<cardan::Image> kQueue{\"/tour/queue\", {.max_bytes = 640 * 480, .depth = 8}};\n"
             "  cardan::Subscriber in{kQueue};\n"
             "  while (auto frame = in.take()) ++taken;\n"
             "  const std::uint64_t missed = in.missed();",
             step_loss},
    TourStep{"Crash: the camera is killed, and its reader continues",
             "  while (auto event = in.event())\n"
             "    if (event->kind == cardan::Event::Kind::Died) log(event->text);",
             step_crash},
    TourStep{"Restart: a new camera, and the same reader",
             "  while (auto frame = in.wait())                            // nothing else to do\n"
             "    look_at(*frame);",
             step_again},
    TourStep{"Record, from the camera's memory to the disk", "", step_record},
    TourStep{"Replay: for its readers, the file is a camera", "", step_replay},
};

}  // namespace

std::span<const TourStep> tour_steps() { return kSteps; }

void say_in_tour(const std::string& line) {
  if (!emit(line + "\n")) throw CLI::RuntimeError(kFailed);
}

}  // namespace cardan::apps
