// SPDX-License-Identifier: Apache-2.0
// `cardan record`: records topics into MCAP files.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command.hpp"
#include "apps/compression_choices.hpp"
#include "apps/decode.hpp"
#include "apps/launcher_pipe.hpp"
#include "apps/record/record_control.hpp"
#include "apps/record/record_events.hpp"
#include "apps/record/record_trigger.hpp"
#include "apps/record/record_view.hpp"
#include "apps/record/recording_display.hpp"
#include "apps/terminal/keys.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/recorder.hpp"
#include "cardan/stop.hpp"
#include "src/config/shape.hpp"

namespace cardan::apps {
namespace {

using record::Recorder;
using record::RecorderReport;

constexpr double kUsualAfter = 10;  ///< seconds of an event after its beginning

constexpr const char* kRecordExamples = R"(Examples:
  cardan record                                         every topic, also those that come later, until Ctrl-C
  cardan record /camera/front /imu -o drive.mcap
  cardan record '/camera/*' --exclude '*/debug' --split-size 4G -o drive.mcap
  cardan record --rule '/camera/*:every=3' --rule '/map:compression=zstd' -o drive.mcap
  cardan record --access group /camera/*                also publications of users in your group
  cardan record --regex '^/camera/(front|rear)/' -o drive/    a folder that ros2 bag opens too
  cardan record --reliable /plan -o drive.mcap          without a gap: the topic's publisher waits for the recorder
  cardan record --seconds 60 --json -o drive.mcap | jq .lost
  cardan record --last 30 --after 10 -o event.mcap      a flight recorder: keeps 30 s, and at the trigger 10 s more
  cardan record --last 30 --in events/ --on state=safe_stop    a separate file for each event; it continues after it
  cardan record --tell trigger                          sends an order to running recorders: pause, resume, split, trigger, stop

Samples of 64 KiB and more are written to the disk from the publisher's memory, without a copy. If the disk stalls, the
recording loses samples, which are counted with their cause; publishers are never delayed. After a crash or a power loss
`cardan bag info` and play read the unfinished file (.active), and `cardan bag recover` finishes it.
Keys: space pauses, s starts a new file, t triggers, q ends. Signals: SIGUSR1 starts a new file, SIGUSR2 pauses or
resumes, SIGRTMIN+1 triggers, SIGINT, SIGTERM and SIGHUP end in order.
Exit codes: 0 all was recorded, 1 failed or ended by itself, 2 wrong usage, 3 recorded, but samples were lost, or a named
topic (with --use-sim-time also /clock) did not appear or belongs to another user.)";

struct RecordOptions {
  record::RecorderOptions recorder;
  std::vector<std::string> rules, metadata;
  std::string compression = "none", access = "owner", mode = "auto", on_full = "stop", schedule = "cycle";
  double queue_time = 5, sync = 1, split_time = 0, seconds = 0, last = 0, after = 0;
  std::string tell, in, as = "recording";
  std::vector<std::string> on;
  int ready_fd = -1;  ///< of `cardan run`; −1: none
  bool no_io_uring = false, json = false, no_view = false, explain = false, no_causes = false;
};

volatile std::sig_atomic_t split_asked = 0, pause_asked = 0;

Access access_of_option(const std::string& name) {
  return name == "group"      ? Access::Group
         : name == "everyone" ? Access::Everyone
         : name == "policy"   ? Access::Policy
                              : Access::Owner;
}

/// "PATTERN:every=3,rate=10,compression=zstd"
record::TopicRule rule_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument, fmt::format("--rule {}: {}", text, why),
                 "write PATTERN:every=N, PATTERN:rate=HZ or PATTERN:compression=none|lz4|zstd");
  };
  if (colon == std::string::npos || colon == 0) throw wrong("it has no pattern and ':'");
  record::TopicRule rule{.pattern = text.substr(0, colon)};
  for (const std::string& part : CLI::detail::split(text.substr(colon + 1), ',')) {
    const std::size_t equal = part.find('=');
    const std::string name = part.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : part.substr(equal + 1);
    if (name == "compression") {
      rule.compression = mcap::require_compression(value);
    } else if (name == "every"  ? !CLI::detail::lexical_cast(value, rule.every) || rule.every == 0
               : name == "rate" ? !CLI::detail::lexical_cast(value, rule.max_rate_hz) || !(rule.max_rate_hz > 0) ||
                                      !std::isfinite(rule.max_rate_hz)
                                : true) {
      throw wrong(fmt::format("'{}' cannot be", part));
    }
  }
  return rule;
}

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>((seconds < 9e9 ? seconds : 9e9) * 1e9));
}

/// A folder is one that is there, or a name that ends with '/': the recording has it to itself then.
void name_file(record::RecorderOptions& options) {
  const std::string default_name = fmt::format("cardan_{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  std::error_code ignored;
  options.folder = options.path.ends_with('/') || std::filesystem::is_directory(options.path, ignored);
  if (options.folder) {
    const std::filesystem::path folder = options.path.ends_with('/') ? options.path : options.path + "/";
    std::string name = folder.parent_path().filename().string();
    if (name.empty() || name == "." || name == "..") name = default_name;
    options.path = (folder / (name + ".mcap")).string();
  }
  if (options.path.empty()) options.path = default_name + ".mcap";
}

record::RecorderOptions recorder_options(const RecordOptions& o) {
  record::RecorderOptions options = o.recorder;
  if (o.in.empty())
    name_file(options);
  else if (o.last <= 0)
    options.path = recording_stem(o.in, o.as, std::time(nullptr)) + ".mcap";
  for (const std::string& rule : o.rules) options.rules.push_back(rule_of(rule));
  std::map<std::string, std::string> fields;
  for (const std::string& field : o.metadata) {
    const std::size_t equal = field.find('=');
    if (equal == std::string::npos)
      throw Error(ErrorCode::InvalidArgument, "--meta " + field + " has no '='", "write --meta name=value");
    fields[field.substr(0, equal)] = field.substr(equal + 1);
  }
  if (!fields.empty()) options.metadata.emplace_back("user", fields);
  options.access = access_of_option(o.access);
  options.compression = mcap::require_compression(o.compression);
  if (o.mode != "auto") options.mode = record::disk_mode_of(o.mode);
  options.use_io_uring = !o.no_io_uring;
  options.causes = !o.no_causes;
  static_cast<void>(record::parse(o.schedule, options.schedule.policy));  // one of the words that are allowed
  options.on_full = o.on_full == "stop" ? record::OnFull::Stop : record::OnFull::DeleteOldest;
  options.queue_time = duration_of(o.queue_time);
  options.sync_interval = duration_of(o.sync);
  options.split_time = duration_of(o.split_time);
  options.keep_last = duration_of(o.last);
  return options;
}

/// Requests by keys, signals and other commands.
class Orders {
 public:
  explicit Orders(const RecordOptions& o)
      : after_(o.after), control_(o.recorder.domain), on_(o.on, o.recorder.domain) {}

  /// Waits for a key a moment, and does what was asked.
  void follow(Recorder& recorder) {
    for (const char32_t key : keyboard_.wait(std::chrono::milliseconds(50))) follow(recorder, key);
    if (split_asked != 0) split_asked = 0, recorder.split();
    if (pause_asked != 0) pause_asked = 0, recorder.pause(!recorder.paused());
    if (take_trigger_signal()) trigger(recorder);
    if (const auto event = on_.look(); event && !triggered_) {
      warn(fmt::format("triggered: {}", printable(event->reason)));
      trigger(recorder);
    }
    while (const auto action = control_.next()) {
      if (*action == "pause" || *action == "resume") recorder.pause(*action == "pause");
      if (*action == "split") recorder.split();
      if (*action == "trigger") trigger(recorder);
      if (*action == "stop") request_stop();
    }
    if (triggered_ && after_ > 0 && std::chrono::steady_clock::now() - *triggered_ >= duration_of(after_))
      request_stop();
  }

 private:
  void follow(Recorder& recorder, char32_t key) {
    switch (key) {
      case U' ':
        recorder.pause(!recorder.paused());
        break;
      case U's':
        recorder.split();
        break;
      case U't':
        trigger(recorder);
        break;
      case U'q':
        request_stop();
        break;
      default:
        break;
    }
  }
  void trigger(Recorder& recorder) {
    recorder.trigger();
    if (!triggered_) triggered_ = std::chrono::steady_clock::now();
  }

  double after_;
  Keyboard keyboard_;
  RecordControl control_;
  RecordTrigger on_;
  std::optional<std::chrono::steady_clock::time_point> triggered_;
};

int send_order_to_recorders(const RecordOptions& o) {
  if (tell_recorders(o.recorder.domain, o.tell)) return kOk;
  warn("no recorder runs in this domain — start one: cardan record -o drive.mcap");
  return kFailed;
}

void warn_of_clock(const RecorderReport& report) {
  for (const record::ClockStep& step : report.clock_steps)
    warn(fmt::format(
        "the wall clock was set {} by {:.3f} s while the recorder ran; times in the files continue by the steady clock",
        step.by_ns < 0 ? "back" : "forward", std::abs(static_cast<double>(step.by_ns)) / 1e9));
}

/// Reports requested topics that are not in the files; false: something is missing.
bool warn_of_missing(const RecorderReport& report) {
  for (const std::string& name : report.missing) {
    const auto known = std::find_if(report.topics.begin(), report.topics.end(),
                                    [&](const auto& topic) { return topic.topic == name; });
    const bool offered = known != report.topics.end();
    warn(fmt::format("{} was not recorded: {}", name,
                     offered && !known->problem.empty() ? known->problem
                     : offered                          ? "its publisher published nothing"
                                                        : "nobody published it — cardan topic list shows the topics"));
  }
  if (report.unreadable != 0)
    warn(fmt::format("{} publication{} of recorded topics had a type that cannot be recorded; see above",
                     report.unreadable, report.unreadable == 1 ? "" : "s"));
  return report.missing.empty() && report.unreadable == 0 && report.refused == 0;
}

std::uint64_t queued_bytes(const RecorderReport& report) {
  std::uint64_t bytes = 0;
  for (const record::TopicReport& topic : report.topics) bytes += topic.queued_bytes;
  return bytes;
}

/// With its progress: strong compression or a slow disk may have much left to do.
void end(Recorder& recorder) {
  auto ended = std::async(std::launch::async, [&recorder] { recorder.stop(); });
  Progress progress;
  std::uint64_t most = 0;
  while (ended.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    const std::uint64_t left = queued_bytes(recorder.report());
    most = std::max(most, left);
    progress.show(most - left, most);
  }
  ended.get();
}

void listen_to_signals() {
  stop_on_signals();
  stop_on_hang_up();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGUSR1, [](int) { split_asked = 1; });
  std::signal(SIGUSR2, [](int) { pause_asked = 1; });
  listen_to_trigger_signal();
}

/// Until the end is asked for, or the recorder ends by itself, or its time is over.
void follow_orders(const RecordOptions& o, Recorder& recorder, RecordingDisplay& display) {
  const auto begun = std::chrono::steady_clock::now();
  const auto has_time = [&] {
    return o.seconds <= 0 || std::chrono::steady_clock::now() - begun < duration_of(o.seconds);
  };
  Orders orders(o);
  while (!stopping() && !recorder.ended() && has_time()) {
    orders.follow(recorder);
    if (!display.refresh()) return;
  }
}

/// False: the JSON could not be written.
bool show_result(const RecordOptions& o, const RecorderReport& report, RecordingDisplay& display) {
  if (o.json) return emit(json_lines(record_json(report)));
  emit(display.above(record_table(report, {})));
  if (o.explain) emit(record::to_text(report.schedule));
  for (const std::string& file : report.files) emit(fmt::format("{}\n", printable(file)));
  return true;
}

/// Says what is missing. The exit code.
int judge(const RecordOptions& o, const RecorderReport& report) {
  warn_of_clock(report);
  if (report.refused != 0)
    warn(fmt::format("{} publication{} of named topics {} not recorded: they belong to another user — see --access",
                     report.refused, report.refused == 1 ? "" : "s", report.refused == 1 ? "is" : "are"));
  if (report.causes_left_out != 0)
    warn(fmt::format("the causes of {} are not in the file: the disk is too slow",
                     number_of(report.causes_left_out, "recorded sample")));
  if (!report.failure.empty()) {
    warn(report.failure);
    return kFailed;
  }
  if (report.no_clock)
    warn(
        "nothing was recorded: no message of /clock came, and --use-sim-time takes the times from it — publish it "
        "(cardan play --clock, or the simulator), or leave --use-sim-time out");
  else if (report.recorded == 0)
    warn("nothing was recorded: no matching topic was published — cardan topic list shows the topics");
  const bool all_there = warn_of_missing(report);
  // For `cardan run` only 0 is an end in order.
  return o.ready_fd < 0 && (report.lost != 0 || report.no_clock || !all_there) ? kLoss : kOk;
}

int record_topics(const RecordOptions& o) {
  const record::RecorderOptions options = recorder_options(o);
  if (!o.in.empty() && o.last > 0)
    return record_events({.recorder = options,
                          .folder = o.in,
                          .name = o.as,
                          .on = o.on,
                          .after = duration_of(o.after > 0 ? o.after : kUsualAfter),
                          .seconds = o.seconds,
                          .json = o.json,
                          .ready_fd = o.ready_fd});
  listen_to_signals();
  Recorder recorder(options);
  tell_launcher(o.ready_fd, "ready");
  RecordingDisplay display(recorder, {.json = o.json, .table = !o.no_view});
  display.show_beginning();
  follow_orders(o, recorder, display);
  end(recorder);
  const RecorderReport report = recorder.report();
  return show_result(o, report, display) ? judge(o, report) : kFailed;
}

}  // namespace

static void add_record_command(CLI::App& app) {
  auto* const command = app.add_subcommand("record", "Record topics into MCAP files");
  command->footer(kRecordExamples);
  auto o = std::make_shared<RecordOptions>();
  record::RecorderOptions& r = o->recorder;
  const auto size = CLI::AsSizeValue(false);
  command->add_option("topic", r.topics, "Topics, or patterns (* and ?); none, no --regex and no --type: all");
  auto* const output =
      command->add_option("-o,--output", r.path,
                          "File to write, or a folder (drive/) that ros2 bag opens (default: cardan_DATE-TIME.mcap)");
  command->add_option("--regex", r.expressions,
                      "Topics with a name that contains a match of this regular expression (as grep -E); repeatable");
  command->add_option("--type", r.types, "Topics of this type, or pattern, as sensor_msgs/msg/Image; repeatable");
  command->add_option("--exclude", r.exclude, "Not this topic, or topics that match this pattern; repeatable");
  command->add_option("--exclude-regex", r.exclude_expressions,
                      "Not topics that match this regular expression; repeatable");
  command
      ->add_option("--access", o->access, "Whose publications are recorded: as a topic's access rule, for all topics")
      ->check(CLI::IsMember({"owner", "group", "everyone", "policy"}))
      ->capture_default_str();
  command->add_option("--rule", o->rules, "PATTERN:every=N,rate=HZ,compression=none|lz4|zstd; repeatable");
  command->add_option("--compression", o->compression, "Compression of chunks of small samples")
      ->check(CLI::IsMember(compression_choices()))
      ->capture_default_str();
  command->add_option("--compression-level", r.level,
                      "Level of all compression: zstd 1 (fast) to 22 (small), lz4 up to 12; 0: the default level");
  command->add_flag(
      "--reliable", r.reliable,
      "Publishers of reliable topics wait for the recorder instead of overwriting samples that it has not taken");
  command->add_flag("--no-causes", o->no_causes,
                    "Leave out what samples rest on (topic /cardan/causes), for cardan bag chain");
  command->add_flag("--start-paused", r.start_paused, "Record nothing until space, SIGUSR2 or --tell resume");
  command->add_option("--split-size", r.split_bytes, "Bytes after which a new file starts, as 4G")->transform(size);
  command->add_option("--split-time", o->split_time, "Seconds after which a new file starts")
      ->check(CLI::PositiveNumber);
  command->add_option("--queue", r.queue_bytes, "Bytes that each topic may queue while the disk stalls, as 64M")
      ->transform(size);
  command->add_option("--queue-time", o->queue_time, "Seconds that a sample may wait in the queue; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--min-space", r.min_space, "Bytes that stay free on the disk (1G)")->transform(size);
  command->add_option("--on-full", o->on_full, "Action when this space is reached")
      ->check(CLI::IsMember({"stop", "delete-oldest"}))
      ->capture_default_str();
  command->add_option("--sync", o->sync, "Seconds that a power loss may cost; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--mode", o->mode, "How the disk is written")
      ->check(CLI::IsMember({"auto", "direct", "dontcache", "sync-range", "plain"}))
      ->capture_default_str();
  command->add_option("--schedule", o->schedule, "When the disk is written: at once, evenly, or while programs idle")
      ->check(CLI::IsMember({"asap", "paced", "cycle"}))
      ->capture_default_str();
  command->add_flag("--explain", o->explain, "Print at the end what was written when, and why");
  command->add_flag("--no-io-uring", o->no_io_uring, "Write with threads instead of io_uring");
  command->add_flag("--checksums", r.held_checksums,
                    "Also compute checksums of large samples, which reads each of their bytes");
  command->add_flag("--copy", r.copy,
                    "Copy all samples: frees the publishers' memory at once, but costs CPU and memory");
  command->add_option("--attach", r.attachments, "A file to put into each recorded file; repeatable");
  command->add_option("--meta", o->metadata, "name=value to put into each recorded file; repeatable");
  command->add_option("--seconds", o->seconds, "End after this many seconds (default: until Ctrl-C)")
      ->check(CLI::PositiveNumber);
  auto* const last = command
                         ->add_option("--last", o->last,
                                      "Keep the files of the last seconds only; a trigger keeps them and what follows")
                         ->check(CLI::PositiveNumber);
  command->add_option("--after", o->after, "With --last: seconds after the trigger to end at (with --in: 10)")
      ->needs(last)
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--on", o->on,
                   "With --last: what triggers it. state=safe_stop, silent=/topic:500 (ms without a message) or "
                   "message=/topic (the first one after a second without any); repeatable")
      ->needs(last);
  auto* const in = command
                       ->add_option("--in", o->in,
                                    "Folder for files that are named by the time. With --last each trigger makes one, "
                                    "and the recorder continues")
                       ->excludes(output);
  command->add_option("--as", o->as, "With --in: what their names begin with")
      ->needs(in)
      ->capture_default_str()
      ->check([](const std::string& name) {
        return config::fits(config::Format::Name, name) ? std::string() : "a name of letters, digits, '_', '-' and '.'";
      });
  command->add_option("--ready-fd", o->ready_fd)->group("");  // of `cardan run`
  command->add_option("--tell", o->tell, "Record nothing, but send running recorders an order")
      ->check(CLI::IsMember(record_actions()));
  command->add_option("--domain", r.domain, "Domain (default: $CARDAN_DOMAIN, else \"default\")");
  command->add_flag("--use-sim-time", r.simulated_clock, "Log times are those of /clock, not the wall clock's");
  command->add_flag("--json", o->json, "Print only a report, as JSON at the end");
  command->add_flag("--no-view", o->no_view, "No live table");
  command->callback([o] {
    try {
      if (const int code = o->tell.empty() ? record_topics(*o) : send_order_to_recorders(*o); code != 0)
        throw CLI::RuntimeError(code);
    } catch (const Error& e) {
      tell_launcher(o->ready_fd, e);
      throw;
    }
  });
}

const Command kRecordCommand{300, add_record_command};

}  // namespace cardan::apps
