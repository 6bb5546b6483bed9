// SPDX-License-Identifier: Apache-2.0
// `cardan tour`: ten short steps for newcomers, with real processes.
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>

#include "apps/command.hpp"
#include "apps/terminal/output.hpp"
#include "apps/tour/camera.hpp"
#include "apps/tour/steps.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kTourExamples = R"(Examples:
  cardan tour                         ten steps; Enter continues, Ctrl-C ends
  cardan tour --yes                   all of them without a key
  cardan tour --list                  their titles
  cardan tour --step 7                one of them, with what it needs

A camera is started as a separate process, read, killed, recorded and played again. Each step shows the command or the
lines of code, and what was measured. The tour has its own folder in $TMPDIR (else /tmp) with its run directory, so
that it disturbs no running system. It removes the folder at its end. Without a terminal it waits for no key.
Exit codes: 0 ok, 1 a step failed, 2 wrong options, 3 done, but the recorder lost frames, 130 ended by Ctrl-C.)";

struct TourOptions {
  bool yes = false, list = false, camera = false;
  std::size_t step = 0;  ///< 0: all
};

/// Throws TourInterrupted on Ctrl-C, and when nobody can press Enter any more.
void wait_for_enter() {
  ::tcflush(STDIN_FILENO, TCIFLUSH);  // keys of the step before are not meant for this question
  if (!emit("  [Enter] ")) throw CLI::RuntimeError(kFailed);
  while (!stopping()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 100) <= 0) continue;
    char keys[256];
    if (::read(STDIN_FILENO, keys, sizeof(keys)) > 0) return;
    break;
  }
  throw TourInterrupted{};
}

void show_step(TourGuide& guide, std::size_t number) {
  const TourStep& step = tour_steps()[number - 1];
  say_in_tour(fmt::format("\n{}/{}  {}", number, tour_steps().size(), step.title));
  if (*step.lines != '\0') say_in_tour(step.lines);
  try {
    step.run(guide);
  } catch (const Error&) {
    say_in_tour(fmt::format("  step {} failed", number));
    throw;
  }
}

int show_list() {
  for (std::size_t i = 0; i < tour_steps().size(); ++i)
    say_in_tour(fmt::format("{:2}  {}", i + 1, tour_steps()[i].title));
  return kOk;
}

int tour(const TourOptions& o) {
  if (o.list) return show_list();
  const bool keys = ::isatty(STDIN_FILENO) == 1 && stdout_is_terminal();
  if (!keys && !o.yes && o.step == 0) say_in_tour("no terminal: the steps follow without waiting for a key");
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone ends us in order
  stop_on_signals();
  stop_on_hang_up();
  const std::size_t first = o.step == 0 ? 1 : o.step;
  const std::size_t last = o.step == 0 ? tour_steps().size() : o.step;
  bool lost = false;
  try {
    TourGuide guide;
    for (std::size_t number = first; number <= last; ++number) {
      show_step(guide, number);
      if (stopping()) throw TourInterrupted{};
      if (keys && !o.yes && number != last) wait_for_enter();
    }
    lost = guide.lost;
  } catch (const TourInterrupted&) {
    say_in_tour("\nthe tour ends here; it left no files and no processes");
    return 128 + SIGINT;
  }
  if (o.step == 0)
    say_in_tour(
        "\nThat was all; it left no files and no processes. Next: cardan new project truck, and the guide "
        "(docs/guide.md in the sources).");
  return lost ? kLoss : kOk;
}

void add_tour(CLI::App& app) {
  auto* const command = app.add_subcommand("tour", "Ten short steps for newcomers: publish, read, lose, crash, replay");
  command->footer(kTourExamples);
  auto o = std::make_shared<TourOptions>();
  auto* const list = command->add_flag("--list", o->list, "Print the titles of the steps");
  command->add_option("--step", o->step, "Only this step, with what it needs")
      ->check(CLI::Range(std::size_t{1}, tour_steps().size()))
      ->excludes(list);
  command->add_flag("--yes", o->yes, "Go through all steps without waiting for a key");
  command->add_flag("--camera", o->camera)->group("");
  command->callback([o] {
    if (const int code = o->camera ? run_tour_camera() : tour(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kTourCommand{10, add_tour};

}  // namespace
}  // namespace cardan::apps
