// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/simulate.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/messages/transforms.hpp"
#include "cardan/observer_report.hpp"
#include "cardan/simulation.hpp"
#include "src/mcap/message_sizes.hpp"
#include "src/record/player/feed.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/player/message_form.hpp"
#include "src/record/player/recorded_answers.hpp"
#include "src/record/player/simulation_output.hpp"
#include "src/record/recording_folder.hpp"
#include "src/runtime/executor/chain_end.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::record {
namespace {

using Declared = detail::ComponentCore::Declared;

/// Between two checks of whether to continue: of the recording's time, as timers may run between two messages …
constexpr std::int64_t kTimeSlice = 1'000'000'000;
/// … of ours, and of messages.
constexpr std::int64_t kStopLook = 50'000'000;
constexpr std::uint64_t kStopSteps = 64;

/// Names of components; in other places also those of processes.
std::vector<std::string> components_of(const config::Configuration& configuration,
                                       const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const config::Process* process = configuration.process(name);
    if (configuration.component(name) == nullptr && process != nullptr)
      for (const config::Component& component : process->components) all.push_back(component.name);
    else
      all.push_back(name);
  }
  return all;
}

std::uint64_t later(std::uint64_t time, std::chrono::nanoseconds span) {
  const auto more = static_cast<std::uint64_t>(span.count());
  return time > std::numeric_limits<std::uint64_t>::max() - more ? std::numeric_limits<std::uint64_t>::max()
                                                                 : time + more;
}

/// Of log times to the simulation's clock. Log times beyond that clock's range are counted from a second before
/// `begin`.
std::int64_t shift_of(const FileSet& files, std::uint64_t begin) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::int64_t ahead = files.wall_clock_ahead();
  const std::uint64_t last = std::max(files.empty() ? begin : files.last(), begin);
  const bool fits = last - static_cast<std::uint64_t>(ahead) <= std::numeric_limits<std::int64_t>::max();
  return fits ? ahead : static_cast<std::int64_t>(begin - kSecond);
}

class Replay {
 public:
  Replay(const config::Configuration& configuration, const std::vector<std::string>& files,
         const SimulateOptions& options)
      : options_(options),
        files_(files),
        begin_(options.start_at ? std::max(*options.start_at, files_.first()) : later(files_.first(), options.start)),
        end_(std::min(options.until_at ? *options.until_at : later(files_.first(), options.until),
                      files_.empty() ? begin_ : later(files_.last(), std::chrono::nanoseconds(1)))),
        shift_(shift_of(files_, begin_)),
        transforms_(configuration.transforms),
        output_(options.output, options.replace, shift_),
        simulation_(
            configuration, components_of(configuration, options.without),
            {.begin = clock_time(begin_, shift_), .on_begin = options.on_begin, .on_change = [this](bool declared) {
               tell_runtime(declared ? &detail::runtime_of(simulation_) : nullptr);
             }}) {
    detail::runtime_of(simulation_).tap([this](const detail::Channel& channel, const detail::SampleBlock& sample) {
      published(channel, sample);
    });
  }

  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { tell_runtime(nullptr); }

  SimulateReport run() {
    simulation_.start();
    report_.problems = files_.problems();
    std::ranges::move(out_of_reach(files_, end_), std::back_inserter(report_.problems));
    connect();
    FileMessages messages(
        files_, begin_, end_,
        [this](std::size_t file, const mcap::Channel& channel) {
          return feed_of(file, channel.id) != nullptr || answers_.has({file, channel.id});
        },
        nullptr, mcap::ReadOptions{}.most_unpacked_bytes, mcap::MergedMessages::Before::Latched);
    std::uint64_t last = begin_;
    while (const auto next = messages.next()) {
      // The messages that late subscribers would have got at the beginning come there.
      const std::uint64_t log_time = std::max(next->view.message.log_time, begin_);
      skip_gap(log_time - std::exchange(last, log_time));
      const std::int64_t time = clock_time(log_time, shift_);
      simulation_.at(time, [&] { push(*next); });
      if (!run_until(time)) break;
    }
    report_.simulated_ns = static_cast<std::int64_t>(log_time_of(simulation_.now(), shift_) - begin_);
    simulation_.stop();
    output_.rethrow();
    for (const FileProblem& p : messages.problems()) report_.problems.push_back(text_of(p));
    return finished();
  }

 private:
  void tell_runtime(const Runtime* runtime) const {
    if (options_.on_runtime) options_.on_runtime(runtime);
  }

  [[nodiscard]] std::string text_of(const FileProblem& p) const {
    return files_.readers()[p.file]->file().path() + ", byte " + std::to_string(p.problem.offset) + ": " +
           p.problem.cause;
  }

  /// Skips a gap that is longer than max_gap: the clock was set, or nothing was recorded.
  void skip_gap(std::uint64_t gap) {
    if (options_.max_gap.count() == 0 || gap <= static_cast<std::uint64_t>(options_.max_gap.count())) return;
    shift_ += static_cast<std::int64_t>(gap);
    output_.set_shift(shift_);
    ++report_.gaps;
    report_.skipped_ns += static_cast<std::int64_t>(gap);
  }

  /// False: it must end.
  bool run_until(std::int64_t time) {
    do {
      const std::int64_t now = simulation_.now();
      report_.callbacks += simulation_.run_until(time > now && time - now > kTimeSlice ? now + kTimeSlice : time);
      output_.rethrow();
      const std::int64_t real = steady_now();
      if (++steps_ % kStopSteps != 0 && real - looked_ns_ < kStopLook) continue;
      looked_ns_ = real;
      if (!go_on(log_time_of(simulation_.now(), shift_))) return false;
    } while (simulation_.now() < time);
    return true;
  }

  bool go_on(std::uint64_t time) {
    const double done =
        static_cast<double>(time - begin_) / static_cast<double>(std::max<std::uint64_t>(1, end_ - begin_));
    report_.stopped = options_.progress && !options_.progress(std::clamp(done, 0.0, 1.0));
    return !report_.stopped;
  }

  /// The publications of components. Those of the files are published too, and do not count here.
  void published(const detail::Channel& channel, const detail::SampleBlock& sample) noexcept {
    if (!fed_.contains(channel.topic())) output_.write(channel, sample);
  }

  Feed* feed_of(std::size_t file, std::uint16_t channel) const {
    const auto found = of_channel_.find((std::uint64_t{file} << 16) | channel);
    return found == of_channel_.end() ? nullptr : found->second;
  }

  void push(const FileMessages::Next& next) {
    const std::uint16_t channel = next.view.channel->id;
    if (Feed* const feed = feed_of(next.file, channel)) return feed->push(next.view.message, shift_);
    // The answers to questions from before the beginning have nobody who waits for them.
    if (next.view.message.log_time >= begin_) answers_.push({next.file, channel}, next.view.message.data);
  }

  /// Gives each channel of the files that a component reads, and none publishes, a way to it.
  void connect() {
    std::unordered_map<std::string, const Declared*> read;
    std::set<std::string> made;
    const auto& all = detail::runtime_of(simulation_).components();
    // The first one is what is around the components. It publishes the transforms of the file, in addition to those
    // of the recording.
    for (const auto& core : std::ranges::subrange(all.begin() + 1, all.end()))
      for (const Declared& d : core->declared()) {
        if (d.output)
          made.insert(d.topic);
        else
          read.emplace(d.topic, &d);
      }
    for (std::size_t file = 0; file < files_.readers().size(); ++file) {
      const mcap::Reader& reader = *files_.readers()[file];
      if (!reader.complete()) note_end(reader);
      for (const auto& [id, channel] : reader.summary().channels()) {
        if (made.contains(channel.topic)) {
          if (std::find(report_.recomputed.begin(), report_.recomputed.end(), channel.topic) ==
              report_.recomputed.end())
            report_.recomputed.push_back(channel.topic);
        } else if (const auto found = read.find(channel.topic); found != read.end()) {
          connect(file, channel, *found->second);
        } else {
          answer_from(file, channel);
        }
      }
      const auto is_fed = [&](const mcap::Channel& c) { return feed_of(file, c.id) != nullptr; };
      for (const auto& [id, bytes] : mcap::largest_messages(reader, is_fed)) feed_of(file, id)->expect(bytes);
    }
    for (const auto& feed : feeds_) feed->open(detail::runtime_of(simulation_));
  }

  [[nodiscard]] const mcap::Schema* schema_of(std::size_t file, const mcap::Channel& channel) const {
    const auto& schemas = files_.readers()[file]->summary().schemas();
    const auto found = schemas.find(channel.schema_id);
    return found == schemas.end() ? nullptr : &found->second;
  }
  void leave_out(std::size_t file, const mcap::Channel& channel, const std::string& why) {
    const mcap::Schema* const schema = schema_of(file, channel);
    report_.left_out.push_back({.file = files_.readers()[file]->file().path(),
                                .topic = channel.topic,
                                .type = schema == nullptr ? std::string() : schema->name,
                                .why = why});
  }
  void answer_from(std::size_t file, const mcap::Channel& channel) {
    std::string why;
    if (!answers_.connect({file, channel.id}, channel, schema_of(file, channel), why) && !why.empty())
      leave_out(file, channel, why);
  }

  void connect(std::size_t file, const mcap::Channel& channel, const Declared& declared) {
    const mcap::Schema* const schema = schema_of(file, channel);
    std::string why = "it never leaves its process, and has no form in files";
    std::optional<MessageForm> form;
    if (declared.type.shared) form = form_for(*declared.type.shared, declared.type.native, channel, schema, why);
    if (!form) return leave_out(file, channel, why);
    const auto same = [&](const auto& feed) { return feed->topic() == channel.topic; };
    auto feed = std::find_if(feeds_.begin(), feeds_.end(), same);
    if (feed == feeds_.end()) {
      feeds_.push_back(std::make_unique<Feed>(channel.topic, declared, *std::move(form)));
      feed = feeds_.end() - 1;
      if (channel.topic == kStaticTransforms.name) (*feed)->leave_out(transforms_);
      fed_.insert(channel.topic);
    }
    of_channel_[(std::uint64_t{file} << 16) | channel.id] = feed->get();
  }

  void note_end(const mcap::Reader& reader) {
    const std::string what = text_of(
        {.file = file_number(reader), .problem = {.offset = reader.finish().valid, .cause = reader.finish().cause}});
    (reader.finish().how == mcap::Finish::How::Damaged ? report_.problems : report_.unfinished).push_back(what);
  }
  [[nodiscard]] std::size_t file_number(const mcap::Reader& reader) const {
    std::size_t number = 0;
    while (files_.readers()[number].get() != &reader) ++number;
    return number;
  }

  void report_chains() {
    for (const auto& core : detail::runtime_of(simulation_).components())
      for (const Declared& d : core->declared()) {
        if (!d.output || d.out == nullptr || d.out->chain_ends() == nullptr) continue;
        for (const detail::ChainEnd& end : d.out->chain_ends()->all()) {
          const LatencyHistogram ages = end.age().counts();
          const auto below = [&](double percent) {  // it is of a bucket, and may lie above the longest
            return std::min(latency_percentile(ages, percent), end.age().longest());
          };
          report_.chains.push_back({.component = core->name(),
                                    .chain = end.chain().name,
                                    .in_time = end.in_time(),
                                    .late = end.late(),
                                    .unknown = end.unknown(),
                                    .age_p50 = below(50),
                                    .age_p99 = below(99),
                                    .age_greatest = ages.empty() ? -1 : end.age().longest()});
        }
      }
  }

  SimulateReport finished() {
    for (const auto& core : detail::runtime_of(simulation_).components()) {
      std::uint64_t failures = 0;
      for (const auto& callback : core->callbacks()) {
        failures += callback->statistics().failures.load(std::memory_order_relaxed);
        report_.dropped += callback->statistics().dropped.load(std::memory_order_relaxed);
      }
      report_.failures += failures;
      if (failures != 0) report_.failed.push_back({.component = core->name(), .exceptions = failures});
      for (const Declared& d : core->declared())
        if (d.port != nullptr && d.port->statistics().transport.counts().empty())
          report_.empty_inputs.push_back({.component = core->name(), .input = d.port->name(), .topic = d.topic});
    }
    for (const auto& core : detail::runtime_of(simulation_).components())
      for (const auto& fused : core->fusions()) {
        const FusionStatistics statistics = fused.statistics();
        SimulatedFusion fusion{.component = core->name(),
                               .fusion = fused.watch->name(),
                               .fired = statistics.fired,
                               .every_input_had = true};
        for (std::size_t i = 0; i < fused.topics.size(); ++i)
          if (statistics.inputs[i].offered == 0) fusion.every_input_had = false;
        if (fusion.fired == 0) fusion.silent = fused.watch->why(statistics);
        report_.fusions.push_back(std::move(fusion));
      }
    report_chains();
    for (const auto& feed : feeds_) report_.fed.push_back(feed->report());
    report_.services = answers_.report();
    report_.made = output_.topics();
    if (!report_.stopped) report_.output_bytes = output_.finish();
    return std::move(report_);
  }

  const SimulateOptions& options_;
  FileSet files_;
  std::uint64_t begin_, end_;  ///< log times: from there, and before there
  std::int64_t shift_;         ///< of log times to the simulation's clock
  SimulateReport report_;
  std::set<std::string> fed_;  ///< topics
  const std::vector<config::FrameTransform>& transforms_;
  std::int64_t looked_ns_ = steady_now();
  std::uint64_t steps_ = 0;
  SimulationOutput output_;
  Simulation simulation_;
  RecordedAnswers answers_{detail::runtime_of(simulation_)};
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::unordered_map<std::uint64_t, Feed*> of_channel_;  ///< by file and channel
};

}  // namespace

SimulateReport simulate(const config::Configuration& configuration, const std::vector<std::string>& files,
                        const SimulateOptions& options) {
  if (options.start.count() < 0 || options.until <= options.start ||
      (options.start_at && options.until_at && *options.until_at <= *options.start_at))
    throw Error(ErrorCode::InvalidArgument, "the part to play ends before it starts",
                "give times from the first message on, with the end after the start");
  for (const std::string& file : recording_files(files).files)
    if (std::error_code ignored; std::filesystem::equivalent(file, options.output, ignored))
      throw Error(ErrorCode::InvalidArgument, "the output is the input " + file, "name another file");
  return Replay(configuration, files, options).run();
}

}  // namespace cardan::record
