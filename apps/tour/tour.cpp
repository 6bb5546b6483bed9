// SPDX-License-Identifier: Apache-2.0
// `cardan tour`: ten short steps for newcomers, with real processes.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "apps/command.hpp"
#include "apps/tour/stage.hpp"
#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"
#include "cardan/transport/stop.hpp"
#include "cardan/transport/subscriber.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTourExamples = R"(Examples:
  cardan tour                         ten steps; Enter goes on, Ctrl-C ends
  cardan tour --yes                   all of them without a key

A camera is started as a process of its own, read, crashed, recorded and played again. All of it is in a run directory of
its own, which is removed at the end.
Exit codes: 0 all steps done, 1 one failed, 2 wrong options; 130: ended by Ctrl-C.)";

/// What the steps need: the camera's process, and a reader that lives from one step to the next.
struct Guide {
  Stage stage;
  std::unique_ptr<Subscriber<Image>> reader{};
};

[[noreturn]] void step_failed(const std::string& cause) {
  throw Error(ErrorCode::Unavailable, "this step failed: " + cause, "cardan doctor says what this computer lacks");
}

void say_step(const std::string& text) {
  if (!emit(text + "\n")) throw CLI::RuntimeError(kFailed);
}

/// Shows the command, and runs it.
void show_step(Guide& guide, const std::vector<std::string>& words) {
  std::string line = "  $ cardan";
  for (const std::string& word : words) line += " " + word;
  say_step(line);
  const int code = guide.stage.run(words);
  if (code != 0 && !stopping()) step_failed(fmt::format("cardan {} ended with {}", words.front(), code));
}

Sample<Image> frame_of(Subscriber<Image>& reader) {
  Sample<Image> frame = reader.wait(60s);
  if (!frame && !stopping()) step_failed("no frame came for 60 s");
  return frame;
}

/// Sleeps, as a reader that is busy with something else.
void be_busy(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

void step_look(Guide& guide) { show_step(guide, {"doctor"}); }

void step_publish(Guide& guide) {
  guide.stage.start_camera();
  say_step(fmt::format("  a camera is process {} now: 640 x 480, 30 Hz", guide.stage.camera()));
}

void step_list(Guide& guide) {
  for (int tries = 0; tries < 200 && !stopping(); ++tries) {  // until the camera has announced its topics
    const Subscriber<Image> probe{kTourQueue};
    if (probe.publishers() != 0) break;
    be_busy(50ms);
  }
  show_step(guide, {"topic", "list"});
}

void step_read(Guide& guide) {
  guide.reader = std::make_unique<Subscriber<Image>>(kTourCamera);
  for (int i = 0; i < 3 && !stopping(); ++i)
    if (const auto frame = frame_of(*guide.reader))
      say_step(fmt::format("  frame {}: {} x {} {}, {} old, not copied", frame.sequence(), frame->width, frame->height,
                           frame->encoding.view(), time_text(static_cast<double>(frame.age().count()))));
}

void step_freshness(Guide& guide) {
  const auto before = frame_of(*guide.reader);
  be_busy(500ms);
  const auto after = frame_of(*guide.reader);
  if (before && after)
    say_step(fmt::format("  frame {}, then half a second of work, then frame {}: {} old. Nothing old waited in a queue",
                         before.sequence(), after.sequence(), time_text(static_cast<double>(after.age().count()))));
}

void step_loss(Guide&) {
  Subscriber<Image> queue{kTourQueue};
  std::uint64_t first = 0;
  (void)frame_of(queue);
  while (queue.take()) {
  }  // what was there before us does not count
  if (const auto frame = frame_of(queue)) first = frame.sequence();
  const std::uint64_t missed_before = queue.missed();
  be_busy(800ms);
  std::uint64_t taken = 1;
  std::uint64_t last = first;
  while (const auto frame = queue.take()) {
    last = frame.sequence();
    ++taken;
  }
  if (stopping()) return;
  const std::uint64_t sent = last - first + 1;
  const std::uint64_t missed = queue.missed() - missed_before;
  say_step(fmt::format("  {} frames were sent: {} taken, {} missed", sent, taken, missed));
  if (taken + missed != sent) step_failed("the count of lost frames is wrong");
}

void step_crash(Guide& guide) {
  say_step(fmt::format("  $ kill -KILL {}", guide.stage.camera()));
  guide.stage.end_camera(SIGKILL);
  for (int tries = 0; tries < 200 && !stopping(); ++tries) {
    (void)guide.reader->take();
    while (const auto event = guide.reader->event())
      if (event->kind == Event::Kind::Died) return say_step("  the reader got the event: " + printable(event->text));
    be_busy(50ms);
  }
  if (!stopping()) step_failed("the reader was not told of the camera's end");
}

void step_again(Guide& guide) {
  guide.stage.start_camera();
  if (const auto frame = frame_of(*guide.reader))
    say_step(
        fmt::format("  the same reader goes on with frame {} of process {}", frame.sequence(), guide.stage.camera()));
}

void step_record(Guide& guide) {
  show_step(guide, {"record", "/tour/camera", "-o", guide.stage.path("tour.mcap"), "--seconds", "2", "--no-view",
                    "--min-space", "0"});
}

void step_replay(Guide& guide) {
  guide.stage.end_camera(SIGTERM);
  const std::vector<std::string> words{"play", guide.stage.path("tour.mcap"), "--wait-for-readers"};
  say_step("  $ cardan play " + words[1] + " --wait-for-readers");
  guide.reader = std::make_unique<Subscriber<Image>>(kTourCamera);
  const pid_t player = guide.stage.start(words);
  const auto frame = guide.reader->wait(60s);
  const int code = Stage::finish(player);
  if (stopping()) return;
  if (!frame || code != 0) step_failed(fmt::format("cardan play ended with {}", code));
  say_step(fmt::format("  frame {} x {} came from the recording", frame->width, frame->height));
}

struct Step {
  const char* title;
  const char* lines;  ///< what was written for it; empty: a command, which is shown
  void (*run)(Guide&);
};

constexpr std::array kSteps{
    Step{"Look at this computer", "", step_look},
    Step{
        "Publish: a camera in a process of its own",
        "  cardan::Publisher out{kCamera};\n  auto frame = out.loan();              // shared memory, filled in place\n"
        "  fill(frame->resize(480, 640, \"mono8\"));\n  out.publish(std::move(frame));",
        step_publish},
    Step{"See what is published", "", step_list},
    Step{"Read, in the camera's memory",
         "  cardan::Subscriber in{kCamera};\n  while (auto frame = in.wait())\n    look_at(*frame);", step_read},
    Step{"Freshness: a slow reader gets the newest frame (depth 1)", "  topic options: {.depth = 1}", step_freshness},
    Step{"Loss: a slow reader of a queue knows exactly what it missed", "  topic options: {.depth = 8}; in.missed()",
         step_loss},
    Step{"Crash: the camera is killed; its readers are told", "  while (auto event = in.event()) log(event->text);",
         step_crash},
    Step{"Restart: a new camera; nobody else restarts", "", step_again},
    Step{"Record, without a copy", "", step_record},
    Step{"Replay: readers cannot tell it from the camera", "", step_replay},
};

/// False: Ctrl-C, or nobody can press Enter any more.
bool wait_for_enter() {
  if (!emit("  [Enter] ")) return false;
  while (!stopping()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 100) <= 0) continue;
    char keys[256];
    return ::read(STDIN_FILENO, keys, sizeof(keys)) > 0 && !stopping();
  }
  return false;
}

int tour(bool yes) {
  if (!yes && (::isatty(STDIN_FILENO) == 0 || !stdout_is_terminal()))
    throw Error(ErrorCode::InvalidArgument, "the tour waits for keys, and this is no terminal", "add --yes");
  stop_on_signals();
  Guide guide;
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    const Step& step = kSteps[i];
    say_step(fmt::format("\n{}/{}  {}", i + 1, kSteps.size(), step.title));
    if (*step.lines != '\0') say_step(step.lines);
    step.run(guide);
    if (stopping() || (!yes && i + 1 < kSteps.size() && !wait_for_enter())) {
      say_step("\nthe tour ends here; nothing is left");
      return 128 + SIGINT;
    }
  }
  say_step("\nThat was all. Next: cardan new project truck, and docs/guide.md. Nothing of the tour is left.");
  return kOk;
}

void add_tour(CLI::App& app) {
  auto* const command = app.add_subcommand("tour", "Ten short steps for newcomers: publish, read, lose, crash, replay");
  command->footer(kTourExamples);
  struct Options {
    bool yes = false, camera = false;
  };
  auto o = std::make_shared<Options>();
  command->add_flag("--yes", o->yes, "Go through all steps without waiting for a key");
  command->add_flag("--camera", o->camera)->group("");
  command->callback([o] {
    if (const int code = o->camera ? run_tour_camera() : tour(o->yes); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kTourCommand{10, add_tour};

}  // namespace
}  // namespace cardan::apps
