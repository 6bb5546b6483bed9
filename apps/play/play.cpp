// SPDX-License-Identifier: Apache-2.0
// `cardan play`: publishes what files hold, as it was recorded.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "apps/bag/max_chunk.hpp"
#include "apps/command.hpp"
#include "apps/decode.hpp"
#include "apps/play/play_control.hpp"
#include "apps/terminal/keys.hpp"
#include "apps/terminal/numbers.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/player.hpp"
#include "cardan/stop.hpp"
#include "src/replay/run_from.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;
using record::PlayerReport;

constexpr const char* kPlayExamples = R"(Examples:
  cardan play drive.mcap
  cardan play drive.mcap --rate 0.5 --loop --start 10 --until 20
  cardan play drive.mcap --topic '/camera/*' --remap /camera/front:=/replay/front
  cardan play drive.mcap --as-fast-as-readers --wait-for-readers=2    no reliable subscriber loses a message
  cardan play front.mcap rear.mcap --clock --pause
  cardan play drive/                                    a folder: its files as one recording
  cardan play --tell seek=30                            sends an order to running players: pause, resume, step=N, rate=X, seek=S, stop

Keys on a terminal: space pauses and resumes; s, and the right arrow in a pause, play the next message; the left and right
arrows jump 5 s back and forward; + and - change the rate; q ends.
Messages are played in the order of their log times, also if a subscriber is slow. Publish times are the current time; the
recorded ones are the samples' source times. All messages that the files define in ros2msg, as ROS 2 does, are played, and
messages in Protobuf and in JSON with a JSON Schema, as they are.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something was damaged or could not be played.)";

constexpr auto kRefresh = 100ms;
constexpr auto kArrow = 5s;

struct PlayOptions {
  std::vector<std::string> files, topics, exclude, remap;
  double rate = 1;
  replay::RecordedTime start{};
  std::optional<replay::RecordedTime> until{};
  std::optional<double> duration{};
  std::string clock, wait_for_readers, domain, tell;
  double max_gap = 600;
  std::uint64_t step = 1;
  std::uint32_t depth = 0;
  bool loop = false, as_fast = false, reliable = false, pause = false, json = false;
};

std::chrono::nanoseconds span_of(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(s, -4e9, 4e9) * 1e9));
}

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

record::PlayerOptions player_options(const PlayOptions& o) {
  record::PlayerOptions p{.rate = o.rate, .loop = o.loop, .start = span_of(o.start.seconds), .start_at = o.start.at};
  if (o.until && !o.until->at && !o.start.at && o.until->seconds < o.start.seconds)
    throw Error(ErrorCode::InvalidArgument, fmt::format("--until {} is before --start {}", o.until->text, o.start.text),
                "both count from the first message");
  if (o.until) p.until_at = o.until->at;
  if (o.until && !o.until->at) p.until = span_of(o.until->seconds);
  if (o.duration && o.start.at)
    p.until_at = *o.start.at + static_cast<std::uint64_t>(span_of(*o.duration).count());
  else if (o.duration)
    p.until = std::min(p.until, p.start + span_of(*o.duration));
  p.topics = o.topics;
  p.exclude = o.exclude;
  for (const std::string& pair : o.remap) {
    const std::size_t at = pair.find(":=");
    if (at == std::string::npos || at == 0 || at + 2 == pair.size())
      throw Error(ErrorCode::InvalidArgument, fmt::format("--remap {} is not a pair of names", pair),
                  "give it as /recorded:=/published");
    p.remap[pair.substr(0, at)] = pair.substr(at + 2);
  }
  p.max_gap = span_of(o.max_gap);
  p.paused = o.pause;
  p.as_fast_as_readers = o.as_fast;
  p.reliable = o.reliable;
  p.depth = o.depth;
  p.domain = o.domain;
  if (!o.clock.empty()) p.clock_hz = option_number("--clock", o.clock, 0.001, 10'000);
  if (!o.wait_for_readers.empty())
    p.wait_for_readers = static_cast<std::uint32_t>(option_number("--wait-for-readers", o.wait_for_readers, 1, 10'000));
  return p;
}

/// The next one of 0.1, 0.2, 0.5, 1, 2, 5, …
double next_rate(double rate, bool faster) {
  const double least = faster ? rate * 1.01 : rate * 0.99;
  double best = rate;
  for (int power = -3; power <= 3; ++power)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double one = digit * std::pow(10.0, power);
      if (faster ? one > least && (best == rate || one < best) : one < least && (best == rate || one > best))
        best = one;
    }
  return best;
}

/// A line on the terminal of standard error that shows where it is.
class Line {
 public:
  explicit Line(bool keys) : keys_(keys) {}
  ~Line() { erase_progress(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void show(const PlayerReport& r) {
    if (!terminal_) return;
    std::string text =
        fmt::format("{} {:.1f} / {:.1f} s  ×{:g}  {}", r.paused ? "paused" : "playing", in_seconds(r.position_ns),
                    in_seconds(r.end_ns), r.rate, number_of(r.published, "message"));
    if (r.lap > 0) text += fmt::format("  lap {}", r.lap + 1);
    if (r.timed > 0)
      text += fmt::format("  late {} / {}", time_text(static_cast<double>(r.late_p50)),
                          time_text(static_cast<double>(r.late_p99)));
    if (r.failed > 0) text += fmt::format("  {} not played", r.failed);
    if (!r.waits_for.empty()) text += fmt::format("  waits for the readers of {}", printable(r.waits_for));
    if (keys_) text += "   space s ← → + - q";
    show_progress(cut(text, columns() - 1));
  }

 private:
  /// The first letters, at most this many.
  static std::string cut(const std::string& text, std::size_t letters) {
    std::size_t at = 0;
    for (; at < text.size(); ++at)
      if ((static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U && letters-- == 0) break;
    return text.substr(0, at);
  }

  bool keys_, terminal_ = ::isatty(STDERR_FILENO) == 1;
};

/// The playing thread; ends with this, whatever happens.
class Playing {
 public:
  explicit Playing(record::Player& player)
      : player_(player), thread_([this] {
          try {
            player_.run();
          } catch (...) {
            failure_ = std::current_exception();
          }
          done_ = true;
        }) {}
  ~Playing() {
    player_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Playing(const Playing&) = delete;
  Playing& operator=(const Playing&) = delete;

  [[nodiscard]] bool done() const { return done_; }
  void finish() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  record::Player& player_;
  std::exception_ptr failure_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

void obey(char32_t key, record::Player& player, const PlayOptions& o) {
  const auto seek = [&](std::chrono::nanoseconds span) {
    player.seek(std::max(0ns, std::chrono::nanoseconds(player.report().position_ns) + span));
  };
  switch (key) {
    case ' ':
      return player.pause(!player.paused());
    case 's':
      return player.step(o.step);
    case kRight:
      return player.paused() ? player.step(o.step) : seek(kArrow);
    case kLeft:
      return seek(-kArrow);
    case '+':
    case '=':
    case kUp:
      return player.set_rate(next_rate(player.report().rate, true));
    case '-':
    case kDown:
      return player.set_rate(next_rate(player.report().rate, false));
    case 'q':
      return player.stop();
    default:
      return;
  }
}

void obey(const PlayOrder& order, record::Player& player) {
  switch (order.action) {
    case PlayOrder::Action::Pause:
      return player.pause(true);
    case PlayOrder::Action::Resume:
      return player.pause(false);
    case PlayOrder::Action::Step:
      return player.step(static_cast<std::uint64_t>(order.value));
    case PlayOrder::Action::Rate:
      return player.set_rate(order.value);
    case PlayOrder::Action::Seek:
      return player.seek(span_of(order.value));
    case PlayOrder::Action::Stop:
      return player.stop();
  }
}

int send_order_to_players(const PlayOptions& o) {
  if (tell_players(o.domain, play_order(o.tell))) return kOk;
  warn("no player runs in this domain — start one: cardan play drive.mcap");
  return kFailed;
}

Json playback_json(const PlayOptions& o, const PlayerReport& r, double took) {
  Json topics = Json::array(), left_out = Json::array();
  for (const record::PlayedTopic& t : r.topics)
    topics.push_back({{"topic", t.topic},
                      {"type", t.type},
                      {"published", t.published},
                      {"failed", t.failed},
                      {"failure", t.failure.empty() ? Json() : Json(t.failure)},
                      {"readers", t.subscribers}});
  for (const record::LeftOut& l : r.left_out)
    left_out.push_back(
        {{"file", l.file}, {"topic", l.topic}, {"type", l.type}, {"why", l.why}, {"by_design", l.by_design}});
  Json late;
  if (r.timed > 0)
    late = {{"p50", static_cast<double>(r.late_p50) / 1e3},
            {"p99", static_cast<double>(r.late_p99) / 1e3},
            {"max", static_cast<double>(r.late_most) / 1e3}};
  return {{"files", o.files},
          {"seconds", took},
          {"start_s", in_seconds(r.start_ns)},
          {"end_s", in_seconds(r.end_ns)},
          {"position_s", in_seconds(r.position_ns)},
          {"lap", r.lap},
          {"published", r.published},
          {"failed", r.failed},
          {"late_us", late},
          {"gave_way_s", in_seconds(r.gave_way_ns)},
          {"gaps_skipped", r.gaps},
          {"skipped_s", in_seconds(r.skipped_ns)},
          {"topics", topics},
          {"left_out", left_out},
          {"problems", r.problems},
          {"unfinished", r.unfinished},
          {"notes", r.notes}};
}

std::string playback_text(const PlayerReport& r, double took) {
  Table table({{"TOPIC"}, {"TYPE"}, {"PUBLISHED", true}, {"FAILED", true}, {"READERS", true}});
  for (const record::PlayedTopic& t : r.topics)
    table.row({printable(t.topic), printable(t.type), std::to_string(t.published), std::to_string(t.failed),
               std::to_string(t.subscribers)});
  std::string out = table.text();
  out += fmt::format("\n{} in {:.3f} s", number_of(r.published, "message"), took);
  if (r.timed > 0)
    out += fmt::format("; late (p50 / p99 / max) {} / {} / {}", time_text(static_cast<double>(r.late_p50)),
                       time_text(static_cast<double>(r.late_p99)), time_text(static_cast<double>(r.late_most)));
  if (r.gave_way_ns > 0) out += fmt::format("; it paused for {:.3f} s", in_seconds(r.gave_way_ns));
  if (r.gaps > 0) out += fmt::format("; {}", replay::gaps_text(r.gaps, r.skipped_ns));
  return out + "\n";
}

/// Reports what is missing on standard error; true: something is.
bool report_playback_loss(const PlayerReport& r) {
  bool lost = !r.problems.empty() || r.failed > 0;
  for (const std::string& problem : r.problems) warn(problem);
  for (const record::PlayedTopic& t : r.topics)
    if (t.failed > 0) warn(fmt::format("{}: {} messages could not be played: {}", t.topic, t.failed, t.failure));
  for (const record::LeftOut& l : r.left_out) lost = lost || !l.by_design;
  return lost;
}

void tell_of_waiting(const PlayOptions& o, const PlayerReport& r) {
  const std::uint32_t wanted = player_options(o).wait_for_readers;
  std::uint64_t readers = 0;
  for (const record::PlayedTopic& topic : r.topics) readers += topic.subscribers;
  if (readers < wanted)
    warn(
        fmt::format("waiting for {} subscription{} to the recording's topics (--wait-for-readers); topic echo and top "
                    "only look, and do not count",
                    wanted - readers, wanted - readers == 1 ? "" : "s"));
}

int play(const PlayOptions& o) {
  if (!o.tell.empty()) return send_order_to_players(o);
  stop_on_signals();
  record::Player player(o.files, player_options(o));
  const PlayerReport before = player.report();
  if (!o.start.text.empty() && before.start_ns >= before.end_ns)
    throw Error(ErrorCode::InvalidArgument, fmt::format("--start {} is after the last message", o.start.text),
                "cardan bag info shows how long the recording is");
  for (const record::LeftOut& l : before.left_out) warn(fmt::format("{} is not played: {}", l.topic, l.why));
  for (const std::string& note : before.notes) warn(note);
  for (const std::string& what : before.unfinished) warn(fmt::format("not finished: {}", what));
  if (before.topics.empty()) {
    for (const std::string& problem : before.problems) warn(problem);
    warn("there is nothing to play — cardan bag info shows what the file contains");
    return kFailed;
  }
  tell_of_waiting(o, before);
  const std::int64_t begun = steady_now();
  {
    Keyboard keyboard;
    PlayControl control(o.domain);
    Line line(keyboard.is_there());
    Playing playing(player);
    while (!playing.done()) {
      if (stopping()) player.stop();
      for (const char32_t key : keyboard.wait(kRefresh)) obey(key, player, o);
      while (const auto order = control.next()) obey(*order, player);
      line.show(player.report());
    }
    playing.finish();
  }
  const double took = in_seconds(steady_now() - begun);
  const PlayerReport report = player.report();
  const bool lost = report_playback_loss(report);
  const std::string text = o.json ? json_lines(playback_json(o, report, took)) : playback_text(report, took);
  if (!emit(text)) return kFailed;
  return lost ? kLoss : kOk;
}

}  // namespace

static void add_play_command(CLI::App& app) {
  auto* const command = app.add_subcommand("play", "Publish the messages of recorded files with their timing");
  command->footer(kPlayExamples);
  auto o = std::make_shared<PlayOptions>();
  const auto one_each = [&](const char* name, std::vector<std::string>& values, const char* what) {
    command->add_option(name, values, what)->allow_extra_args(false);
  };
  command->add_option("file", o->files, "Files, as drive.mcap, or folders of a recording; several are played as one");
  add_max_chunk(command);
  command->add_option("--rate", o->rate, "Recorded seconds to play per second")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command->add_flag("--loop", o->loop, "Repeat until Ctrl-C or q");
  command->add_option("--start", o->start, "Seconds after the first message to start at, or a date (RFC 3339)")
      ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"));
  auto* const until = command->add_option("--until", o->until, "Seconds after the first message to end at, or a date")
                          ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"));
  command
      ->add_option("--max-gap", o->max_gap,
                   "Skip times of more than this many seconds without a message, as when the clock was set; 0: none")
      ->check(CLI::Range(0.0, 4e9))
      ->capture_default_str();
  command->add_option("--duration", o->duration, "Recorded seconds to play")
      ->excludes(until)
      ->check(CLI::PositiveNumber);
  one_each("--topic", o->topics, "Only this topic, or topics that match this pattern (* and ?); repeatable");
  one_each("--exclude", o->exclude, "Not this topic, or topics that match this pattern; repeatable");
  one_each("--remap", o->remap, "/recorded:=/published: publish under another name; repeatable");
  command->add_flag("--clock{40}", o->clock,
                    "Publish the recording's time on /clock, 40 times a second, or --clock=HZ");
  command->add_flag("--as-fast-as-readers", o->as_fast,
                    "Ignore the times: publish each message as soon as all reliable readers have room");
  command->add_flag("--reliable", o->reliable, "Play slower instead of letting a reliable reader lose messages");
  command->add_flag("--wait-for-readers{1}", o->wait_for_readers,
                    "Start when there is a subscription, or N of them with --wait-for-readers=N");
  command
      ->add_option("--depth", o->depth,
                   "Depth of the topics (default: as recorded, but at least 10; 4 if messages are larger than 1 MiB)")
      ->check(CLI::Range(1U, 1024U));
  command->add_flag("--pause", o->pause, "Start paused, until space is pressed or --tell resume");
  command->add_option(
      "--tell", o->tell,
      "Play nothing, but send running players an order: pause, resume, step[=N], rate=X, seek=SECONDS, stop");
  command->add_option("--step", o->step, "Messages that one press of s plays")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  command->add_option("--domain", o->domain, "Domain to publish in (default: $CARDAN_DOMAIN, else \"default\")");
  command->add_flag("--json", o->json, "Print a summary as JSON at the end");
  command->callback([o] {
    if (o->files.empty() == o->tell.empty())
      throw CLI::ValidationError("file", o->tell.empty() ? "give one, as drive.mcap" : "leave it out with --tell");
    if (const int code = play(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kPlayCommand{320, add_play_command};

}  // namespace cardan::apps
