// SPDX-License-Identifier: Apache-2.0
// `cardan graph`: which component runs where, and which topics connect them.
#include "src/config/graph.hpp"
#include "apps/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "apps/configuration_file.hpp"
#include "apps/graph/graphviz.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "src/base/output_file.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kGraphExamples = R"(Examples:
  cardan graph street.json                            a Mermaid flowchart, which GitHub and many editors show
  cardan graph street.json --svg street.svg           a picture, by Graphviz's `dot`
  cardan graph street.json --svg - | display
  cardan graph street.json --dot | dot -Tpdf -o street.pdf

Each component's on_start is called once, in a separate process, to find out its topics. If that fails, only the
component's box is drawn, and standard error gives the reason.
Exit codes: 0 drawn, 1 the file has errors, or the picture could not be written, 2 wrong options or no such file.)";

struct GraphOptions {
  std::string file, svg;
  plan::PlanOptions changes{};
  bool mermaid = false, dot = false;
};

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (!emit(text)) throw Error(ErrorCode::System, "cannot write the picture to standard output", "");
    return;
  }
  write_output(path, text);
}

int graph(const GraphOptions& o) {
  std::vector<config::Problem> problems;
  const config::Configuration configuration = plan::make_plan(o.file, o.changes, problems).configuration;
  show(problems, o.file);
  if (config::has_errors(problems)) return kFailed;
  const launcher::Asked asked = launcher::ask_components(configuration, {});
  show(asked.problems, o.file);
  const config::Graph graph = config::make_graph(configuration, asked.declarations);
  if (!o.svg.empty())
    write(o.svg, svg_of(config::dot(graph)));
  else
    write("-", o.dot ? config::dot(graph) : config::mermaid(graph));
  return kOk;
}

}  // namespace

static void add_graph_command(CLI::App& app) {
  auto* const command = app.add_subcommand("graph", "Draw a configuration: Mermaid, Graphviz or SVG");
  command->footer(kGraphExamples);
  auto o = std::make_shared<GraphOptions>();
  command->add_option("file", o->file, "The configuration")->required();
  auto* const svg =
      command->add_option("--svg", o->svg, "Write a picture (by Graphviz) to this file; -: to standard output");
  auto* const dot = command->add_flag("--dot", o->dot, "Print the graph for Graphviz")->excludes(svg);
  command->add_flag("--mermaid", o->mermaid, "Print a Mermaid flowchart (default)")->excludes(svg)->excludes(dot);
  add_variables_option(*command, o->changes.variables);
  command->callback([o] {
    if (const int code = graph(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kGraphCommand{220, add_graph_command};

}  // namespace cardan::apps
