// SPDX-License-Identifier: Apache-2.0
// `cardan tf`: shows the tree of frames, and where a frame is.
#include "apps/tf/tf.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/command.hpp"
#include "apps/verb.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kTfExamples = R"(Examples:
  cardan tf tree                                      all frames, with their rates, ages and publishers
  cardan tf echo map lidar                            where lidar is in map, once a second
  cardan tf check                                     what is wrong with /tf and /tf_static)";

constexpr const char* kTfTreeExamples = R"(Examples:
  cardan tf tree
  cardan tf tree --timeout 5                          listens longer, for the rates of slow frames
  cardan tf tree --json | jq '.frames[] | {name, parent, rate_hz}'

The age is that of the stamp of the newest place; "by arrival" where stamps are not of the wall clock.
Exit codes: 0 ok, 1 no transforms came, 2 wrong options.)";

constexpr const char* kTfEchoExamples = R"(Examples:
  cardan tf echo map lidar                            until Ctrl-C
  cardan tf echo base_link lidar --once --json | jq .translation
  cardan tf echo map base_link --rate 10 --count 100 --json > places.jsonl
  cardan tf echo map base_link --at 1785312000250000000

The place takes coordinates in SOURCE to TARGET. Roll, pitch and yaw are in degrees, about the fixed axes x, y and z.
Exit codes: 0 ok, 1 the place is not known (the reason is printed), 2 wrong options.)";

constexpr const char* kTfCheckExamples = R"(Examples:
  cardan tf check
  cardan tf check --timeout 10
  cardan tf check --json | jq '.problems[] | {kind, frame}'

Looks for frames with two parents or two publishers, circles, wrong numbers, several trees, and moving frames that have
not come for a second.
Exit codes: 0 nothing wrong, 1 a problem or no transforms, 2 wrong options.)";

void add_tf_tree(CLI::App* group) {
  auto tree = std::make_shared<TfTreeOptions>();
  auto* const command = add_verb(group, "tree", "Show the tree of frames", kTfTreeExamples);
  command->add_flag("--json", tree->json, "One JSON object");
  command->add_flag("--names", tree->names, "Only the names of the frames, one per line");
  command->add_option("--timeout", tree->timeout, "Seconds to listen (default: 1, with --names 0.2)")
      ->check(CLI::Range(0.001, 86400.0));
  command->parse_complete_callback([command, tree] {
    if (tree->names && command->count("--timeout") == 0) tree->timeout = 0.2;  // somebody waits for a completion
  });
  add_domain_option(command, tree->domain);
  list_with(command, tf_tree, tree, [](const TfTreeOptions& o) { return !o.names; });
}

void add_tf_command(CLI::App& app) {
  auto* const group = add_verb(&app, "tf", "Show where frames are: tree, echo; find problems: check", kTfExamples);
  group->require_subcommand(1);
  add_tf_tree(group);

  auto echo = std::make_shared<TfEchoOptions>();
  auto* command = add_verb(group, "echo", "Print where a frame is in another", kTfEchoExamples);
  command->add_option("target", echo->target, "The frame to which coordinates are taken, as map")->required();
  command->add_option("source", echo->source, "The frame whose place is printed, as lidar")->required();
  auto* const rate = command->add_option("--rate", echo->rate, "Prints per second (default: 1)");
  rate->check(CLI::Range(0.001, 1000.0));
  auto* const count = command->add_option("--count", echo->count, "End after this many")->check(CLI::PositiveNumber);
  command->add_flag("--once", echo->once, "Print once")->excludes(count)->excludes(rate);
  command->add_flag("--json", echo->json, "One JSON object per line");
  command->add_option("--timeout", echo->timeout, "Seconds to wait until the place is known (default: 5)")
      ->check(CLI::Range(0.001, 86400.0));
  command->add_option("--at", echo->at, "At this stamp, in nanoseconds; prints once (default: the newest place)")
      ->check(CLI::PositiveNumber)
      ->excludes(count)
      ->excludes(rate);
  add_domain_option(command, echo->domain);
  look_with(command, tf_echo, echo);

  auto check = std::make_shared<TfCheckOptions>();
  command = add_verb(group, "check", "Find what is wrong with the transforms", kTfCheckExamples);
  command->add_flag("--json", check->json, "One JSON object");
  command->add_option("--timeout", check->timeout, "Seconds to listen (default: 2)")->check(CLI::Range(0.001, 86400.0));
  add_domain_option(command, check->domain);
  look_with(command, tf_check, check);
}

const Command kTfCommand{102, add_tf_command};

}  // namespace
}  // namespace cardan::apps
