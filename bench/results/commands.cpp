// SPDX-License-Identifier: Apache-2.0
#include "bench/results/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/results/all/all.hpp"
#include "bench/results/report_program.hpp"
#include "bench/transport/conditions.hpp"
#include "bench/transport/peers/peer.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr const char* kAllExamples = R"(Examples:
  cardan bench all                                 fourteen minutes, then out/report/index.html
  cardan bench all --selection full --out out/full half an hour and more
  cardan bench all --resume                        continues after Ctrl-C or a crash
  cardan bench all --only transport,runtime

A part that crashes or hangs is reported, and the others run.
Exit codes: 0 ok, 1 a part failed or was interrupted, 2 wrong options, 3 something was lost.)";

constexpr const char* kCompareExamples = R"(Examples:
  cardan bench compare before.json after.json
  cardan bench compare out/report/results.json out/new/results.json --threshold 1.1 --json changes.json

A figure is worse or better only if its whole interval of confidence is beyond the threshold. Measure both on the same
computer, with three runs or more.
Exit codes: 0 nothing is worse, 1 something is, 2 a file or an option is wrong.)";

constexpr const char* kReportExamples = R"(Examples:
  cardan bench transport --quick --json transport.json
  cardan bench report transport.json record.json --out out/report

Exit codes: 0 written, 1 it cannot be written, 2 a file is wrong.)";

/// The words of the command line.
struct CompareArguments {
  std::string before{}, after{}, json{};
  double threshold = 1.03;
};
struct ReportArguments {
  std::vector<std::string> results{};
  std::string out = "out/report";
};

/// `without`: the exit code if the program of bench/report cannot be started.
int run_report_program_or(int without, const char* command, const std::vector<std::string>& words) {
  try {
    return run_report_program(words);
  } catch (const Error& e) {
    fmt::print(stderr, "cardan bench {}: {}\n", command, e.what());
    return without;
  }
}

int run_compare(const CompareArguments& given) {
  constexpr int kWrongInput = 2;  // 1 is for what is worse
  return run_report_program_or(kWrongInput, "compare",
                               {"compare", fmt::format("--threshold={}", given.threshold), "--json=" + given.json, "--",
                                given.before, given.after});
}

int run_report(const ReportArguments& given) {
  constexpr int kNotWritten = 1;
  std::vector<std::string> words{"report", "--out=" + given.out, "--"};
  words.insert(words.end(), given.results.begin(), given.results.end());
  return run_report_program_or(kNotWritten, "report", words);
}

template <class Arguments, class Run>
void on_call(CLI::App& command, const std::shared_ptr<Arguments>& arguments, Run run) {
  command.callback([arguments, run] {
    if (const int code = run(*arguments); code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace

void add_result_commands(CLI::App& group) {
  auto* const all = group.add_subcommand("all", "All parts one after the other, and a report of them");
  all->footer(kAllExamples);
  auto all_arguments = std::make_shared<AllArguments>();
  for (const PeerKind& kind : all_peers()) all_arguments->peers.emplace_back(name_of(kind.peer));
  all->add_option("--selection", all_arguments->selection, "quick (fourteen minutes, default) or full");
  all->add_option("--only", all_arguments->only,
                  "Some of the parts: " + names_of(parts_of_selection("quick", all_arguments->peers, true)));
  all->add_option("--out", all_arguments->out, "Folder of the report and of each part's result (default: out/report)");
  all->add_flag("--resume", all_arguments->resume, "Keep the parts that are done in that folder");
  on_call(*all, all_arguments, [](AllArguments& given) {
    given.cpu_budget = why_not({.cpu_percent = 100}).empty();
    return run_all(given);
  });

  auto* const compare =
      group.add_subcommand("compare", "Changes for better or worse between two results, beyond noise");
  compare->footer(kCompareExamples);
  auto compare_arguments = std::make_shared<CompareArguments>();
  compare->add_option("before", compare_arguments->before, "A result (--json of a part, or results.json)")->required();
  compare->add_option("after", compare_arguments->after, "The result that is judged")->required();
  compare->add_option("--threshold", compare_arguments->threshold,
                      "Changes by less than this factor do not count (default: 1.03)");
  compare->add_option("--json", compare_arguments->json, "Write every row to this file");
  on_call(*compare, compare_arguments, run_compare);

  auto* const report = group.add_subcommand("report", "A page with plots, and a summary, of results");
  report->footer(kReportExamples);
  auto report_arguments = std::make_shared<ReportArguments>();
  report->add_option("results", report_arguments->results, "Files with the results of parts")->required();
  report->add_option("--out", report_arguments->out,
                     "Folder for index.html, summary.md and results.json (default: out/report)");
  on_call(*report, report_arguments, run_report);
}

}  // namespace cardan::bench
