// SPDX-License-Identifier: Apache-2.0
// `cardan topic`: looks at topics without taking part in them, and publishes messages by hand.
#include "apps/topic/topic.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/command.hpp"
#include "apps/verb.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kTopicExamples = R"(Examples:
  cardan topic list                                   all topics
  cardan topic info /camera/front                     publishers, subscribers, and their losses
  cardan topic echo /camera/front --once              the newest message
  cardan topic stats --all                            rate, jitter, gaps, latency and loss, live
  cardan topic pub /go std_msgs/Bool '{"data": true}'  publish a message

Observation does not disturb: it holds no slot, wakes no process, and no publisher waits for it.)";

constexpr const char* kTopicListExamples = R"(Examples:
  cardan topic list --verbose
  cardan topic list --json | jq -r '.topics[].topic')";

constexpr const char* kTopicInfoExamples = R"(Examples:
  cardan topic info /camera/front
  cardan topic info /camera/front --schema            also the fields, in ROS 2's form
  cardan topic info /camera/front --json | jq '.publishers[].subscribers[] | {name, missed}')";

constexpr const char* kTopicTypeExamples = R"(Examples:
  cardan topic type /camera/front
  cardan message show $(cardan topic type /imu)       its fields

A topic whose publishers differ has a line for each type.
Exit codes: 0 ok, 1 nobody publishes it, 2 wrong options.)";

constexpr const char* kEchoExamples = R"(Examples:
  cardan topic echo /imu                              until Ctrl-C
  cardan topic echo /imu --once --fields header.stamp,angular_velocity
  cardan topic echo /camera/front --count 100 --json > frames.jsonl

Lists longer than --list elements are shown as {"count": n, "first": [...]}.
Exit codes: 0 ok, 1 nobody publishes it (or the last one ended before --count), 2 wrong options,
3 done, but some publications were skipped: the command polls 1,000 times a second, and sees the last `depth` each time.)";

constexpr const char* kTopicStatsExamples = R"(Examples:
  cardan topic stats --all                            live, refreshed each second
  cardan topic stats /camera/front --once             measures for two seconds, prints, ends
  cardan topic stats --all --once --seconds 10 --json
  cardan topic hz /camera/front                       the same; so is topic bw

Rate, jitter (standard deviation of the intervals) and gaps are those of publishing, from the stamps in the publisher's
memory. Latency (publish to take) and loss are what the subscribers themselves counted. With depth 1 a subscriber that
is slower than the publisher skips frames on purpose; this counts as loss here too.
Exit codes: 0 ok, 1 nobody publishes it, 2 wrong options, 3 done, but a subscriber lost samples meanwhile.)";

constexpr const char* kTopicPubExamples = R"(Examples:
  cardan topic pub /speed std_msgs/msg/Float64 '{"data": 4.5}'
  cardan topic pub /cmd geometry_msgs/Twist '{"linear": {"x": 0.5}}' --rate 10
  cardan topic pub /pose my_msgs/msg/Pose '{"x": 1}' --msgs ~/ws/src --wait-for-readers
  cardan topic echo /imu --once --json | cardan topic pub /imu_again sensor_msgs/msg/Imu -

Fields have the names that `topic echo --json` prints; `cardan message show TYPE` lists them. Those that are left out are 0,
false or empty; null is the float that is not a number. A topic that another program publishes is left alone without
--with-others. The topic exists for a second at least, and is reliable.
Exit codes: 0 ok, 1 failed, 2 wrong options or fields, 3 done, but a reliable subscriber was too slow for a message.)";

}  // namespace

static void add_pub_command(CLI::App* group) {
  auto pub = std::make_shared<PubOptions>();
  auto* const command = add_verb(group, "pub", "Publish a message that is written as JSON", kTopicPubExamples);
  command->add_option("topic", pub->topic, "Name of the topic, as /cmd")->required();
  command->add_option("type", pub->type, "Type of its messages, as std_msgs/msg/String")->required();
  command->add_option("message", pub->message, "Its fields as a JSON object, or - for standard input (default: {})");
  command->add_option("--rate", pub->rate, "Messages per second, until Ctrl-C or --count of them")
      ->check(CLI::Range(0.001, 1e5));
  command->add_option("--count", pub->count, "Publish this many, one a second or at --rate")
      ->check(CLI::PositiveNumber);
  command->add_flag("--wait-for-readers{1}", pub->wait_for_readers,
                    "Start when there is a subscription, or N of them with --wait-for-readers=N");
  command->add_option("--msgs", pub->msgs, "Search this folder for .msg files, as ~/ws/src; repeatable");
  command->add_flag("--with-others", pub->with_others, "Also if another program publishes the topic");
  command->add_flag("--json", pub->json, "Print a summary as JSON at the end");
  command->add_option("--domain", pub->domain, "Domain to publish in (default: $CARDAN_DOMAIN, else \"default\")");
  run_with(command, topic_pub, pub);
}

static void add_topic_command(CLI::App& app) {
  auto* const group =
      add_verb(&app, "topic", "Observe topics: list, info, type, echo, stats; publish: pub", kTopicExamples);
  group->require_subcommand(1);

  auto list = std::make_shared<ListOptions>();
  auto* command = add_verb(group, "list", "List topics, their publishers and subscribers", kTopicListExamples);
  command->add_flag("--json", list->json, "One JSON object");
  command->add_flag("-v,--verbose", list->verbose, "One line per publisher");
  command->add_flag("--names", list->names, "Only the names, one per line");
  add_domain_option(command, list->domain);
  list_with(command, topic_list, list, [](const ListOptions&) { return false; });

  auto info = std::make_shared<InfoOptions>();
  command =
      add_verb(group, "info", "Show a topic's publishers and subscribers, with their counters", kTopicInfoExamples);
  command->add_option("topic", info->topic, "Name of the topic, as /camera/front")->required();
  command->add_flag("--json", info->json, "One JSON object");
  command->add_flag("--schema", info->schema, "Also print the message's fields");
  add_domain_option(command, info->domain);
  look_with(command, topic_info, info);

  auto type = std::make_shared<InfoOptions>();
  command = add_verb(group, "type", "Print the type of a topic's messages", kTopicTypeExamples);
  command->add_option("topic", type->topic, "Name of the topic, as /camera/front")->required();
  add_domain_option(command, type->domain);
  look_with(command, topic_type, type);

  auto echo = std::make_shared<EchoOptions>();
  command = add_verb(group, "echo", "Print the messages of a topic", kEchoExamples);
  command->add_option("topic", echo->topic, "Name of the topic, as /camera/front")->required();
  auto* const count = command->add_option("--count", echo->count, "End after this many")->check(CLI::PositiveNumber);
  command->add_flag("--once", echo->once, "Only the newest message")->excludes(count);
  command->add_flag("--json", echo->json, "One JSON object per line");
  command->add_option("--fields", echo->fields, "Only these, as header.stamp,height")->delimiter(',');
  command
      ->add_option("--list", echo->list, "Show lists of up to this many elements in full (default: 8, with --json 64)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--wait", echo->wait, "Wait for a publisher, and for the next one when it ends");
  add_domain_option(command, echo->domain);
  run_with(
      command,
      [](const EchoOptions& o) {
        if (!o.wait) refuse_missing_run_directory();
        return topic_echo(o);
      },
      echo);

  auto stats = std::make_shared<StatsOptions>();
  command =
      add_verb(group, "stats", "Show rate, jitter, gaps, bandwidth, latency percentiles and loss", kTopicStatsExamples);
  command->alias("hz")->alias("bw");  // as in ROS 2
  auto* const topic = command->add_option("topic", stats->topic, "Name of the topic, as /camera/front");
  auto* const all = command->add_flag("--all", stats->all, "All topics")->excludes(topic);
  topic->excludes(all);
  command->add_flag("--once", stats->once, "Measure once, print, end");
  command->add_option("--seconds", stats->seconds, "Length of a measurement (default: 2 with --once, 1 live)")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--json", stats->json, "One JSON object per measurement, one per line");
  command->parse_complete_callback([stats] {
    if (!stats->all && stats->topic.empty()) throw CLI::RequiredError("a topic, or --all");
  });
  add_domain_option(command, stats->domain);
  list_with(command, topic_stats, stats, [](const StatsOptions& o) { return !o.all; });
  add_pub_command(group);
}

const Command kTopicCommand{100, add_topic_command};

}  // namespace cardan::apps
