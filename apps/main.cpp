// SPDX-License-Identifier: Apache-2.0
// The command `cardan`. Each subcommand has a file of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <exception>
#include <string>
#include <vector>

#include "apps/completion/completion.hpp"
#include "apps/component/components.hpp"
#include "apps/configuration_file.hpp"
#include "apps/doctor/doctor.hpp"
#include "apps/topic/topic.hpp"
#include "apps/view/numbers.hpp"
#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"
#include "cardan/config/suggest.hpp"
#if defined(CARDAN_HAS_RECORD_COMMANDS)
#include "apps/bag/bag.hpp"
#include "apps/play/play.hpp"
#include "apps/record/record.hpp"
#endif
#if defined(CARDAN_HAS_BENCH_COMMAND)
#include "apps/bench/bench.hpp"
#endif
#if defined(CARDAN_HAS_DEMO_COMMAND)
#include "apps/demo/demo.hpp"
#endif

namespace {

constexpr const char* kExamples = R"(Examples:
  cardan doctor                          what this computer allows and lacks for Cardan
  cardan topic list                      what is published now
  cardan topic stats --all               rates, latency and loss, live
  cardan topic echo /camera/front --once
  cardan component stats                 what the callbacks of `cardan run` cost, live
  cardan param set detector/threshold 0.6

Each subcommand explains itself: cardan topic echo --help
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 done with loss.
Environment: CARDAN_RUN_DIR (run directory), CARDAN_DOMAIN (domain).)";

/// The subcommand that the wrong words belong to: "cardan topic echo".
std::string deepest(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

/// "there is no 'cardan topic lst' — did you mean 'list'?" where the word of a subcommand is wrong; else nothing.
std::string wrong_subcommand(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::App* const command : at->get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    known.push_back(command->get_name());
  const std::vector<std::string> rest = app.remaining(true);
  if (known.empty() || rest.empty() || rest.front().starts_with('-')) return {};
  return fmt::format("there is no '{} {}' — {}", deepest(app), rest.front(),
                     cardan::config::suggestion(rest.front(), known, ""));
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& e) {
  if (const std::string words = wrong_subcommand(app); !words.empty()) {
    cardan::apps::warn(words);
    return cardan::apps::kUsage;
  }
  std::string cause = e.what();
  while (!cause.empty() && (cause.back() == '\n' || cause.back() == '.')) cause.pop_back();
  for (char& c : cause)
    if (c == '\n') c = ' ';
  // "A subcommand" → "a subcommand", but "--json …" and "TOPIC …" stay.
  if (cause.size() > 1 && std::islower(static_cast<unsigned char>(cause[1])) != 0)
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
  if (cause.size() > 1 && cause[1] == ' ')
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
  cardan::apps::warn(fmt::format("{} — see {} --help", cause, deepest(app)));
  return cardan::apps::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Cardan: a frame in the hands of every reader of a vehicle computer, in microseconds", "cardan"};
  app.footer(kExamples);
  app.set_version_flag("--version", "cardan " CARDAN_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  cardan::apps::add_topic_command(app);
  cardan::apps::add_run_command(app);
  cardan::apps::add_check_command(app);
  cardan::apps::add_graph_command(app);
  cardan::apps::add_component_command(app);
  cardan::apps::add_param_command(app);
  cardan::apps::add_host_command(app);
  cardan::apps::add_doctor_command(app);
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  cardan::apps::add_record_command(app);
  cardan::apps::add_bag_command(app);
  cardan::apps::add_play_command(app);
#endif
#if defined(CARDAN_HAS_BENCH_COMMAND)
  cardan::apps::add_bench_command(app);
#endif
#if defined(CARDAN_HAS_DEMO_COMMAND)
  cardan::apps::add_demo_command(app);
#endif
  cardan::apps::add_completion_command(app);
  cardan::apps::refuse_nonsense_numbers(app);
  try {
    app.parse(argc, argv);
    return cardan::apps::kOk;
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    return wrong_usage(app, e);
  } catch (const cardan::Error& e) {
    cardan::apps::warn(e.what());
    return e.code() == cardan::ErrorCode::InvalidArgument ? cardan::apps::kUsage : cardan::apps::kFailed;
  } catch (const std::exception& e) {
    cardan::apps::warn(
        fmt::format("{} — a bug of Cardan, or this computer is out of something; `cardan doctor` may tell", e.what()));
    return cardan::apps::kFailed;
  }
}
