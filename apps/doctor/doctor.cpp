// SPDX-License-Identifier: Apache-2.0
// `cardan doctor`: what this computer allows and lacks for Cardan, with the remedy of each.
#include "apps/doctor/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kDoctorExamples = R"(Examples:
  cardan doctor
  cardan doctor --json | jq '.checks[] | select(.status != "ok")'

ok: good. note: worth knowing. warn: Cardan works, but is slower or more limited than it could be. fail: Cardan cannot work.
Run it where your programs run: as their user, in their container. Exit codes: 0 no fail, 1 at least one fail.)";

struct DoctorOptions {
  std::string domain;
  bool json = false;
};

Findings examine(const DoctorOptions& o) {
  Findings all;
  check_kernel(all);
  check_run_directory(all, o.domain);
  check_limits(all);
  check_memory(all);
  check_cpus(all);
  check_clocks(all);
  return all;
}

std::string human(const Findings& all) {
  const bool colours = stdout_is_terminal();
  const std::size_t columns = terminal_size().columns;
  std::size_t width = 0;
  for (const Finding& f : all) width = std::max(width, f.check.size());
  std::string out;
  for (const Finding& f : all) {
    const char* const colour = f.status == Finding::Status::Fail   ? "\x1b[31m"
                               : f.status == Finding::Status::Warn ? "\x1b[33m"
                               : f.status == Finding::Status::Ok   ? "\x1b[32m"
                                                                   : "\x1b[36m";
    const std::string words = printable(f.found) + (f.remedy.empty() ? "" : " — ") + printable(f.remedy);
    const std::size_t before = width + 8;  // the columns before them
    const std::vector<std::string> lines = colours
                                               ? in_words(words, std::max<std::size_t>(columns, before + 20) - before)
                                               : std::vector<std::string>{words};
    out += fmt::format("{}{:<4}{}  {:<{}}  {}\n", colours ? colour : "", to_string(f.status), colours ? "\x1b[0m" : "",
                       f.check, width, fmt::join(lines, "\n" + std::string(before, ' ')));
  }
  const auto count = [&](Finding::Status s) {
    return std::count_if(all.begin(), all.end(), [s](const Finding& f) { return f.status == s; });
  };
  const auto fails = count(Finding::Status::Fail);
  const auto warns = count(Finding::Status::Warn);
  out += fails != 0   ? fmt::format("\nCardan cannot work here: {} fail, {} warn\n", fails, warns)
         : warns != 0 ? fmt::format("\nCardan works here; {} above what could be improved\n",
                                    warns == 1 ? "1 warning says" : fmt::format("{} warnings say", warns))
                      : "\nCardan works here without restrictions\n";
  return out;
}

int run_doctor(const DoctorOptions& o) {
  const Findings all = examine(o);
  const bool fails =
      std::any_of(all.begin(), all.end(), [](const Finding& f) { return f.status == Finding::Status::Fail; });
  std::string text;
  if (o.json) {
    nlohmann::ordered_json checks = nlohmann::ordered_json::array();
    for (const Finding& f : all)
      checks.push_back({{"check", f.check}, {"status", to_string(f.status)}, {"found", f.found}, {"remedy", f.remedy}});
    text = one_line({{"ok", !fails}, {"checks", checks}}) + "\n";
  } else {
    text = human(all);
  }
  return !emit(text) || fails ? kFailed : kOk;
}

}  // namespace

const char* to_string(Finding::Status status) {
  switch (status) {
    case Finding::Status::Ok:
      return "ok";
    case Finding::Status::Note:
      return "note";
    case Finding::Status::Warn:
      return "warn";
    case Finding::Status::Fail:
      return "fail";
  }
  return "?";
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\0')) line.pop_back();
  return line;
}

static void add_doctor_command(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "doctor", "Check what this computer allows and lacks for Cardan, with a remedy for each problem");
  command->footer(kDoctorExamples);
  auto options = std::make_shared<DoctorOptions>();
  command->add_flag("--json", options->json, "One JSON object");
  command->add_option("--domain", options->domain,
                      "Domain whose run directory is checked (default: $CARDAN_DOMAIN, else \"default\")");
  command->callback([options] {
    if (const int code = run_doctor(*options); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kDoctorCommand{400, add_doctor_command};

}  // namespace cardan::apps
