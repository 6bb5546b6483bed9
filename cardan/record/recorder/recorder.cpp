// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/recorder.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/base/futex.hpp"
#include "cardan/base/log.hpp"
#include "cardan/record/name_patterns.hpp"
#include "cardan/record/recorded_clock.hpp"
#include "cardan/record/recorder/implementation.hpp"
#include "cardan/transport/endpoint/waiting.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::record {
namespace {

constexpr std::size_t kQueueEntries = 256;
constexpr std::int64_t kReportInterval = 100'000'000;
/// How long what has been taken may still go to the disk when the recording ends.
constexpr std::int64_t kLastWrites = 30'000'000'000;

void check_level(mcap::Compression compression, int level) {
  if (compression == mcap::Compression::None || level == 0) return;
  const mcap::Levels known = mcap::levels_of(compression);
  if (level < known.lowest || level > known.highest)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no level {}", mcap::name_of(compression), level),
                fmt::format("{} to {}", known.lowest, known.highest));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::System, "cannot make the folder " + folder + ": " + error.message(), "name another one");
}

RecorderOptions checked(RecorderOptions options) {
  if (options.path.empty()) throw Error(ErrorCode::InvalidArgument, "no file to record into", "name one");
  if (options.on_full == OnFull::DeleteOldest && options.keep_last.count() == 0 && options.split_bytes == 0 &&
      options.split_time.count() == 0)
    throw Error(ErrorCode::InvalidArgument, "the oldest file cannot be deleted: the recording is one file",
                "split it by size or time");
  if (options.keep_last.count() > 0 && options.split_time.count() == 0) options.split_time = options.keep_last / 4;
  for (const TopicRule& rule : options.rules)
    if (rule.every == 0 || !(rule.max_rate_hz >= 0))
      throw Error(ErrorCode::InvalidArgument, "the rule for " + rule.pattern + " makes no sense",
                  "every n-th sample from 1 on, a rate above 0");
  for (const auto used : {options.compression, mcap::Compression::None}) check_level(used, options.level);
  for (const TopicRule& rule : options.rules)
    check_level(rule.compression.value_or(mcap::Compression::None), options.level);
  static_cast<void>(Selection(options));
  if (options.folder) make_folder(folder_of(options.path));
  // This topic would wake us at each start and end of every component's cycle, which we must not disturb.
  if (options.topics.empty() && options.types.empty() && options.expressions.empty()) {
    options.exclude.emplace_back(kCycles.name);
    options.exclude.emplace_back("/cardan/record/*");  // what recorders publish, and their orders
  }
  options.queue_bytes = std::max<std::uint64_t>(options.queue_bytes, 1);
  options.chunk_bytes = std::clamp<std::uint64_t>(options.chunk_bytes, 4096, std::uint64_t{256} << 20);
  return options;
}

/// A file that grows beyond what the process may write is an error of that write, not the end of the process. Threads
/// that are started from here inherit it.
void block_file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

DurationReport durations(const Histogram& histogram, std::uint64_t count, std::int64_t sum) {
  const LatencyHistogram counts = histogram.counts();
  return {.count = count,
          .sum = sum,
          .p50 = latency_percentile(counts, 50),
          .p99 = latency_percentile(counts, 99),
          .most = histogram.longest()};
}

}  // namespace

Recorder::Implementation::Implementation(RecorderOptions options)
    : options_(checked(std::move(options))),
      probe_(probe_disk(folder_of(options_.path), options_.mode, options_.use_io_uring)),
      compressors_{mcap::Compressor(mcap::Compression::None), mcap::Compressor(mcap::Compression::Lz4, options_.level),
                   mcap::Compressor(mcap::Compression::Zstd, options_.level)},
      scheduler_(options_.schedule),
      selection_(options_) {
  paused_ = options_.start_paused;
  std::promise<void> started;
  thread_ = std::thread([this, &started] { run(started); });
  started.get_future().wait();
  if (!start_error_) return;
  thread_.join();
  std::rethrow_exception(std::move(start_error_));
}

Recorder::Implementation::~Implementation() {
  try {
    stop();
  } catch (const Error& e) {
    detail::log(LogLevel::Error, std::string("the recording did not end properly: ") + e.what());
  }
}

void Recorder::Implementation::stop() {
  const std::lock_guard lock(stop_mutex_);
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);
  poke();
  thread_.join();
}

void Recorder::Implementation::pause(bool paused) {
  paused_.store(paused, std::memory_order_relaxed);
  poke();
}

void Recorder::Implementation::split() {
  split_.store(true, std::memory_order_relaxed);
  poke();
}

void Recorder::Implementation::trigger() {
  triggered_.store(true, std::memory_order_relaxed);
  poke();
}

void Recorder::Implementation::poke() noexcept {
  poked_.fetch_add(1, std::memory_order_release);
  futex::wake(poked_, 1);
}

void Recorder::Implementation::run(std::promise<void>& started) {
  block_file_size_signal();
  try {
    queue_ = make_io_queue(probe_, kQueueEntries);
    files_ = std::make_unique<Files>(options_, probe_, *queue_);
    packer_ = std::make_unique<Worker>();
    hints_ = std::make_unique<Subscriber<CycleHint>>(kCycles, SubscriberOptions{.domain = options_.domain});
    constexpr Topic<Clock> kClock{"/clock", {}};
    if (options_.simulated_clock)
      clock_ = std::make_unique<Subscriber<Clock>>(kClock, SubscriberOptions{.domain = options_.domain});
    if (options_.statistics) create_statistics();
    scout_ = std::make_unique<Scout>(options_, [this] { poke(); });
    segment_ = files_->first();
  } catch (...) {
    scout_.reset();
    files_.reset();
    start_error_ = std::current_exception();
  }
  if (start_error_) return started.set_value();
  now_ = started_ns_ = segment_since_ns_ = synced_ns_ = steady_now();
  time_.ahead = wall_clock_ahead();
  publish_report();
  started.set_value();
  while (!stop_.load(std::memory_order_relaxed)) {
    turn();
    sleep();
  }
  ending_ = true;
  turn();  // what has come until now
  const std::int64_t stopped = now_;
  std::vector<TopicQueue*> full;  // what they could not take yet is lost
  for (const auto& topic : topics_)
    if (topic->is_full()) full.push_back(topic.get());
  close_old_batches(true);
  const std::int64_t until = steady_now() + kLastWrites;
  while (!nothing_left() && segment_->error() == 0 && !files_->out_of_room(*segment_) && steady_now() < until) {
    now_ = steady_now();
    collect_packed();
    issue();
    close_old_batches(true);
    queue_->wait(steady_now() + 10'000'000);
    collect_completions();
    if (now_ - reported_ns_ >= kReportInterval) publish_report();  // it may take long: compression, a slow disk
  }
  packer_ = std::make_unique<Worker>();  // the one before does first what is left
  collect_packed();
  drop_everything(segment_->error() != 0 ? LossCause::DiskFailed : LossCause::DiskSlow);
  while (queue_->under_way() != 0) {  // their bytes are ours until they have completed
    queue_->wait(0);
    collect_completions();
  }
  for (TopicQueue* const topic : full) topic->lose_what_is_left(stopped, time_);
  problems_ = scout_->problems();
  scout_.reset();
  committed_closed_ += segment_->committed_bytes();
  closing_.push_back(std::move(segment_));
  for (auto& segment : closing_) files_->finish(std::move(segment), losses());
  closing_.clear();
  files_->finish_all();
  forget_old_files(true);
  if (failure_.empty()) failure_ = files_->failure();
  publish_report();
  topics_.clear();
  hints_.reset();
  clock_.reset();
  statistics_.reset();
  files_.reset();
  packer_.reset();
  queue_.reset();
  ended_.store(true, std::memory_order_release);
}

void Recorder::Implementation::turn() {
  now_ = steady_now();
  adopt_topics();
  take_all();
  close_old_batches(false);
  collect_packed();
  issue();
  collect_completions();
  look_after_files();
  const bool looked = looked_before_ != told_looked_ns_;
  if (now_ - reported_ns_ < kReportInterval && !looked) return;
  time_.ahead = wall_clock_ahead();  // it may be set while we run
  publish_report();
}

void Recorder::Implementation::sleep() {
  // Nothing tells when writes are done. While all that waits is under way, only slots and heads wait for that: each
  // look costs the applications a piece of a CPU, so there are few. When more waits than may be under way, the disk
  // does.
  constexpr std::int64_t kWriting = 4'000'000;
  constexpr std::int64_t kPressed = 1'000'000;
  constexpr std::int64_t kIdle = 20'000'000;  // new topics, files, the clock
  std::int64_t until = now_ + kIdle;
  const auto no_later_than = [&until](std::int64_t at) { until = std::min(until, at); };
  if (queue_->under_way() != 0 || !ready_.empty()) no_later_than(now_ + (pressed_ ? kPressed : kWriting));
  if (look_again_ns_ != 0) no_later_than(look_again_ns_);
  for (const OpenBatch& open : open_)
    if (open.batch != nullptr) no_later_than(open.opened_ns + options_.chunk_time.count());
  const futex::Watch own{&poked_, poked_.load(std::memory_order_acquire)};
  if (stop_.load(std::memory_order_relaxed)) return;
  if (stopping()) {
    // The process must stop, and nothing sleeps on bells any more; our owner will stop us too.
    futex::wait(poked_, own.expected, now_ + kPressed);
  } else {
    // A topic that has samples which it cannot take would end each sleep at once.
    awake_for_.clear();
    for (const auto& topic : topics_)
      if (!topic->is_full()) awake_for_.push_back(&topic->subscriber());
    if (awake_for_.size() != topics_.size()) no_later_than(now_ + kPressed);
    detail::sleep_on(awake_for_, {}, until, false, own);
  }
}

void Recorder::Implementation::publish_report() {
  reported_ns_ = now_;
  RecorderReport report;
  report.file = segment_ != nullptr ? segment_->file().active_path() : std::string();
  report.files = files_->finished();
  report.mode = probe_.why;
  for (const auto& topic : topics_) {
    report.topics.push_back(topic->report());
    report.recorded += report.topics.back().recorded;
    report.lost += report.topics.back().lost_in_all();
    report.held_bytes += topic->held * topic->source().max_bytes;
  }
  if (scout_ != nullptr) problems_ = scout_->problems();
  const std::size_t recorded = report.topics.size();
  const auto any_of_recorded = [&](const std::string& name, auto&& fits) {
    const auto end = report.topics.begin() + static_cast<std::ptrdiff_t>(recorded);
    return std::any_of(report.topics.begin(), end, [&](const TopicReport& t) { return t.topic == name && fits(t); });
  };
  const auto is_recorded = [&](const std::string& name) {
    return any_of_recorded(name, [](const TopicReport&) { return true; });
  };
  const auto is_there = [&](const std::string& name) {
    return any_of_recorded(
        name, [](const TopicReport& t) { return t.recorded + t.left_out + t.queued + t.lost_in_all() != 0; });
  };
  for (const std::string& name : selection_.named())
    if (!is_there(name)) report.missing.push_back(name);
  for (const auto& [topic, problem] : problems_) {
    if (is_recorded(topic)) report.unreadable += problem.unreadable;
    report.topics.push_back(
        {.topic = topic, .refused = problem.refused, .unreadable = problem.unreadable, .problem = problem.why});
  }
  for (const TopicReport& topic : report.topics)
    if (fits_one(options_.topics, topic.topic)) report.refused += topic.refused;
  report.bytes = committed_closed_ + (segment_ != nullptr ? segment_->committed_bytes() : 0);
  for (const auto& segment : closing_) report.bytes += segment->committed_bytes();
  report.copied_bytes = copied_bytes_;
  for (const auto& batch : free_batches_) report.own_bytes += batch->capacity();
  report.own_bytes += queue_->under_way() * 4 * kBlock;  // seams
  report.own_bytes += (batches_made_ - free_batches_.size()) * options_.chunk_bytes;
  report.in_flight_bytes = bytes_under_way_;
  report.free_bytes = files_->free_bytes();
  report.duration_ns = steady_now() - started_ns_;
  report.write = durations(write_times_, writes_, write_sum_);
  report.submit = durations(submit_times_, submits_, submit_sum_);
  report.path = durations(path_times_, paths_, path_sum_);
  report.paused = paused();
  report.no_clock = options_.simulated_clock && !time_.simulated.has_value();
  report.triggered = triggered_.load(std::memory_order_relaxed);
  report.schedule = scheduler_.explain(now_);
  report.failure = failure_;
  {
    const std::lock_guard lock(report_mutex_);
    report_ = std::move(report);
  }
  constexpr std::int64_t kStatisticsInterval = 1'000'000'000;
  // Processes that wait for us to attach are notified at once (cardan/runtime/executor/await_recorders.hpp).
  const bool looked = std::exchange(told_looked_ns_, looked_before_) != looked_before_;
  if (statistics_ == nullptr || (now_ - told_ns_ < kStatisticsInterval && !looked)) return;
  told_ns_ = now_;
  publish_statistics();
}

// Recording matters more than reporting.
void Recorder::Implementation::create_statistics() {
  try {
    statistics_ = std::make_unique<Publisher<RecorderStatistics>>(kRecorderStatistics,
                                                                  PublisherOptions{.domain = options_.domain});
  } catch (const Error& e) {
    detail::log(LogLevel::Warning, std::string("no statistics of the recorder: ") + e.what());
  }
}

// Only this thread writes the report.
void Recorder::Implementation::publish_statistics() {
  auto loan = statistics_->loan();
  if (!loan) return;
  loan->stamp = now_ + time_.ahead;
  loan->recorded = report_.recorded;
  loan->lost = report_.lost;
  loan->bytes = report_.bytes;
  loan->write_p50_ns = std::max<std::int64_t>(report_.write.p50, 0);  // -1: nothing was written yet
  loan->write_p99_ns = std::max<std::int64_t>(report_.write.p99, 0);
  loan->write_most_ns = report_.write.most;
  loan->free_bytes = report_.free_bytes;
  loan->looked_ns = told_looked_ns_;
  loan->paused = report_.paused;
  loan->file = FixedString<252>(std::string_view(report_.file));
  const std::size_t count =
      std::min(report_.topics.size(), kRecorderStatistics.options.max_bytes / sizeof(RecordedTopic));
  if (loan->topics.try_resize(count))
    for (std::size_t i = 0; i < count; ++i) {
      const TopicReport& topic = report_.topics[i];
      loan->topics[i] = {.topic = FixedString<124>(std::string_view(topic.topic)),
                         .recorded = topic.recorded,
                         .lost = topic.lost_in_all(),
                         .queued = topic.queued,
                         .queued_bytes = topic.queued_bytes};
    }
  statistics_->publish(std::move(loan));
}

RecorderReport Recorder::Implementation::report() const {
  const std::lock_guard lock(report_mutex_);
  return report_;
}

Recorder::Recorder(RecorderOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Recorder::~Recorder() = default;
void Recorder::stop() { implementation_->stop(); }
void Recorder::pause(bool paused) { implementation_->pause(paused); }
bool Recorder::paused() const noexcept { return implementation_->paused(); }
void Recorder::split() { implementation_->split(); }
void Recorder::trigger() { implementation_->trigger(); }
bool Recorder::ended() const noexcept { return implementation_->ended(); }
RecorderReport Recorder::report() const { return implementation_->report(); }

}  // namespace cardan::record
