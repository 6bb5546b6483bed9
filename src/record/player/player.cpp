// SPDX-License-Identifier: Apache-2.0
#include "cardan/player.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/messages/clock.hpp"
#include "cardan/publisher.hpp"
#include "src/record/player/outlets.hpp"
#include "src/record/player/play_clock.hpp"
#include "src/record/player/read_ahead.hpp"
#include "src/runtime/executor/histogram.hpp"

namespace cardan::record {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;  ///< how soon a command is seen while the disk or readers are waited for
constexpr Topic<Clock> kClockTopic{"/clock", {}};

void check_rate(double rate) {
  if (!(rate > 0) || !std::isfinite(rate))
    throw Error(ErrorCode::InvalidArgument, fmt::format("a rate of {}", rate), "give one above zero");
}

/// A file may say anything of its times.
std::uint64_t plus(std::uint64_t time, std::uint64_t more) noexcept {
  return time > std::numeric_limits<std::uint64_t>::max() - more ? std::numeric_limits<std::uint64_t>::max()
                                                                 : time + more;
}

/// The kernel lets an ordinary thread's timers be 50 µs late, to spare power: not while it plays.
class SharpTimers {
 public:
  SharpTimers() : before_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1UL); }
  ~SharpTimers() {
    if (before_ > 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
  }
  SharpTimers(const SharpTimers&) = delete;
  SharpTimers& operator=(const SharpTimers&) = delete;

 private:
  int before_;
};

}  // namespace

std::int64_t PlayTime::now() noexcept { return steady_now(); }

void PlayTime::wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until) {
  if (until == kNever)
    changed.wait(lock);
  else
    changed.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until)));
}

class Player::Implementation {
 public:
  Implementation(const std::vector<std::string>& files, PlayerOptions options)
      : options_(checked(std::move(options))),
        files_(files),
        outlets_(files_, options_),
        clock_(options_.rate),
        time_(options_.time ? options_.time : std::make_shared<PlayTime>()),
        paused_(options_.paused) {
    begin_ = plus(files_.first(), static_cast<std::uint64_t>(options_.start.count()));
    if (options_.start_at) begin_ = std::max(*options_.start_at, files_.first());
    end_ = files_.empty() ? begin_ : plus(files_.last(), 1);
    end_ = std::min(end_, plus(files_.first(), static_cast<std::uint64_t>(options_.until.count())));
    if (options_.until_at) end_ = std::min(end_, *options_.until_at);
    end_ = std::max(end_, begin_);
    if (options_.clock_hz > 0) clock_publisher_.emplace(kClockTopic, PublisherOptions{.domain = options_.domain});
  }

  void run() {
    const SharpTimers timers;
    if (!wait_for_somebody()) return;
    open(begin_);
    while (next()) {
    }
    close();
    const std::lock_guard lock(mutex_);
    clock_.run(time_->now(), false);
    prepared_.reset();
  }

  void stop() {
    command([this] { stopping_ = true; });
  }
  void pause(bool paused) {
    command([this, paused] {
      paused_ = paused;
      steps_ = 0;
      clock_.run(time_->now(), runs());
    });
  }
  [[nodiscard]] bool paused() const {
    const std::lock_guard lock(mutex_);
    return paused_;
  }
  void step(std::uint64_t messages) {
    command([this, messages] {
      paused_ = true;
      clock_.run(time_->now(), false);
      steps_ += messages;
    });
  }
  void seek(std::chrono::nanoseconds after_first) {
    const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(0, after_first.count()));
    command([this, wanted] {
      seek_ = std::clamp(plus(files_.first(), wanted), begin_, end_);
      if (options_.for_viewer) ended_ = false;
      // Shown at once, although nothing is read from there before the playing thread gets to it.
      clock_.jump(time_->now(), static_cast<std::int64_t>(*seek_ - begin_));
    });
  }
  void set_rate(double rate) {
    check_rate(rate);
    command([this, rate] { clock_.set_rate(time_->now(), rate); });
  }

  [[nodiscard]] PlayerReport report() const;
  [[nodiscard]] PlayerPosition where() const {
    const std::lock_guard lock(mutex_);
    return {.position_ns = position_now(), .rate = clock_.rate(), .paused = paused_, .ended = ended_};
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  static PlayerOptions checked(PlayerOptions options) {
    check_rate(options.rate);
    if (options.start.count() < 0 || options.until <= options.start ||
        (options.start_at && options.until_at && *options.until_at <= *options.start_at))
      throw Error(ErrorCode::InvalidArgument, "the part to play ends before it starts",
                  "give times from the first message on, with the end after the start");
    if (options.max_gap.count() < 0)
      throw Error(ErrorCode::InvalidArgument, "a gap of less than nothing", "give it in seconds; 0: none is skipped");
    options.reliable = options.reliable || options.as_fast_as_readers;
    return options;
  }

  template <class Change>
  void command(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  // With the lock.
  [[nodiscard]] bool runs() const { return opened_ && !paused_ && !options_.as_fast_as_readers; }
  [[nodiscard]] bool steps() const { return paused_ && steps_ > 0; }
  [[nodiscard]] bool interrupted() const { return stopping_ || seek_ || (paused_ && steps_ == 0); }
  /// Messages have times, rather than coming as fast as they can or are asked for.
  [[nodiscard]] bool timed() const { return !options_.as_fast_as_readers && !paused_; }

  bool wait_for_somebody() {
    Lock lock(mutex_);
    while (!stopping_ && options_.wait_for_readers > 0 && outlets_.subscribers() < options_.wait_for_readers)
      changed_.wait_for(lock, kLook);
    return !stopping_;
  }

  /// Reads from there on; time stands still until the first message is there.
  void open(std::uint64_t from) {
    close();
    ahead_ = std::make_unique<ReadAhead>(
        files_,
        [this](std::size_t file, const mcap::Channel& channel) { return outlets_.of(file, channel) != nullptr; },
        // A viewer sees what was there at that time, with the message of that very moment.
        ReadAheadOptions{.start = options_.for_viewer ? plus(from, 1) : from,
                         .end = end_,
                         .loop = options_.loop,
                         .loop_start = begin_,
                         .bytes = options_.read_ahead_bytes,
                         .newest = options_.for_viewer,
                         .log_times = options_.for_viewer});
    opened_from_ = from;
    const std::lock_guard lock(mutex_);
    prepared_.reset();
    opened_ = false;
    clock_.run(time_->now(), false);
    clock_.jump(time_->now(), static_cast<std::int64_t>(from - begin_));
    next_tick_ = last_position_ = static_cast<std::int64_t>(from - begin_);
    ended_ = false;
  }

  void close() {
    if (ahead_) outlets_.note(ahead_->finish());
    ahead_.reset();
  }

  /// Plays (a part of) what comes next; false: nothing does.
  bool next() {
    std::optional<std::uint64_t> seek;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      seek = std::exchange(seek_, std::nullopt);
    }
    if (seek) open(*seek);
    const ReadMessage* message = nullptr;
    switch (ahead_->front(message, kLook)) {
      case ReadAhead::Found::NotYet:
        return true;
      case ReadAhead::Found::End:
        return end();
      default:
        break;
    }
    {
      const std::lock_guard lock(mutex_);
      if (!opened_) {
        opened_ = true;
        clock_.jump(time_->now(), clock_.position(time_->now()));
        clock_.run(time_->now(), runs());
      }
    }
    play(*message);
    return true;
  }

  /// All has been played; false: and nothing else is asked for.
  bool end() {
    Lock lock(mutex_);
    ended_ = true;
    while (options_.for_viewer && !stopping_ && !seek_) time_->wait(changed_, lock, PlayTime::kNever);
    return !stopping_ && seek_.has_value();
  }

  [[nodiscard]] std::int64_t position_of(const ReadMessage& message) const {
    // The messages that late subscribers would have got where it starts come there.
    const std::uint64_t at = std::max(message.log_time, message.lap == 0 ? opened_from_ : begin_);
    return static_cast<std::int64_t>(message.lap * (end_ - begin_) + (at - begin_));
  }

  void play(const ReadMessage& message) {
    const std::int64_t position = position_of(message);
    Outlet& outlet = *outlets_.of(message.file, *message.channel);
    skip_gap(position);
    if (clock_publisher_ && next_tick_ <= position) return tick(position);
    if (!prepared_) {
      // Readers that pre-wake spin from the loan on: it is not taken long before it is filled.
      const std::int64_t lead = std::min<std::int64_t>(2 * outlet.fill_ns + 100'000, 5'000'000);
      if (!comes_at_once(message) && !wait_for(position, lead)) return;
      if (!prepare(outlet, message)) {
        ahead_->pop();
        return;
      }
    }
    if ((!comes_at_once(message) && !wait_for(position, 0)) || !wait_for_room(outlet)) return;
    if (publish(outlet, message, position)) ahead_->pop();
  }

  [[nodiscard]] bool comes_at_once(const ReadMessage& message) const { return options_.for_viewer && message.before; }

  void skip_gap(std::int64_t position) {
    const std::int64_t gap = position - std::exchange(last_position_, position);
    if (options_.max_gap.count() == 0 || gap <= options_.max_gap.count()) return;
    const std::lock_guard lock(mutex_);
    clock_.jump(time_->now(), position);
    next_tick_ = std::max(next_tick_, position);
    ++gaps_;
    skipped_ += gap;
  }

  /// False: something was asked for meanwhile that comes first.
  bool wait_for(std::int64_t position, std::int64_t lead) {
    Lock lock(mutex_);
    for (;;) {
      if (stopping_ || seek_) return false;
      if (steps()) return true;
      if (paused_) {
        time_->wait(changed_, lock, PlayTime::kNever);
        continue;
      }
      if (options_.as_fast_as_readers) return true;
      const std::int64_t due = clock_.deadline(position) - lead;
      if (time_->now() >= due) return true;
      time_->wait(changed_, lock, due);
    }
  }

  bool wait_for_room(Outlet& outlet) {
    if (!options_.reliable) return true;
    bool room = outlet.publisher->wait_for_readers(0ns);
    while (!room) {
      {
        const std::lock_guard lock(mutex_);
        if (interrupted()) break;
        waits_for_ = &outlet;
      }
      room = outlet.publisher->wait_for_readers(kLook);
    }
    const std::lock_guard lock(mutex_);
    waits_for_ = nullptr;
    return room;
  }

  /// Fills a slot with the message; false: that is impossible, and counted.
  bool prepare(Outlet& outlet, const ReadMessage& message) {
    const std::int64_t begun = steady_now();
    AnyLoan loan = outlet.publisher->loan();
    CdrResult result;
    if (loan) result = outlet.form.fill(message.data, loan.message(), loan.arena());
    if (!loan || !result) {
      const std::lock_guard lock(mutex_);
      if (outlet.failed++ == 0)
        outlet.failure = loan ? result.text() : "no slot was free: a reader holds more samples than it announced";
      return false;
    }
    loan.set_source_time(message.source_time);
    outlet.fill_ns = steady_now() - begun;
    prepared_ = std::move(loan);
    return true;
  }

  /// False: something was asked for in this very moment after which it is not due any more.
  bool publish(Outlet& outlet, const ReadMessage& message, std::int64_t position) {
    std::int64_t late = 0;
    {
      const std::lock_guard lock(mutex_);
      const std::int64_t now = time_->now();
      const bool at_once = comes_at_once(message);
      if (at_once ? stopping_ || seek_ : interrupted() || (timed() && now < clock_.deadline(position))) return false;
      if (at_once) {
        // It shows where it is, and time stands still as before.
      } else if (timed()) {
        late = std::max<std::int64_t>(0, now - clock_.deadline(position));
        lateness_.add(late);
        ++timed_;
        if (late > options_.gives_way.count()) {
          clock_.give_way(late);
          gave_way_ += late;
        }
      } else {
        clock_.jump(now, position);
      }
      if (steps_ > 0 && !at_once) --steps_;
      lap_ = message.lap;
      ++outlet.published;
    }
    outlet.publisher->publish(std::move(prepared_));
    prepared_.reset();
    if (options_.on_played) options_.on_played({outlet.publisher->topic(), message.log_time, position, late});
    return true;
  }

  /// The clock's next tick, which is due before the message at `position`; unless something was asked for meanwhile
  /// that comes first.
  void tick(std::int64_t position) {
    bool by_time = false;
    {
      const std::lock_guard lock(mutex_);
      by_time = timed();
    }
    // Where time jumps from message to message, the clock does too.
    if (!wait_for(by_time ? next_tick_ : position, 0)) return;
    const std::lock_guard lock(mutex_);
    if (by_time != timed()) return;
    const std::int64_t at = by_time ? next_tick_ : position;
    const auto span = static_cast<std::int64_t>(end_ - begin_);
    clock_publisher_->publish({static_cast<std::int64_t>(begin_) + (options_.loop ? at % span : at)});
    const double period = 1e9 / options_.clock_hz * (by_time ? clock_.rate() : 1);
    next_tick_ = at + std::max<std::int64_t>(1, static_cast<std::int64_t>(period));
  }

  /// With the lock.
  [[nodiscard]] std::int64_t position_now() const {
    const auto span = static_cast<std::int64_t>(end_ - begin_);
    std::int64_t position = ended_ && !options_.loop ? span : clock_.position(time_->now());
    if (options_.loop && span > 0) position %= span;
    return static_cast<std::int64_t>(begin_ - files_.first()) + std::clamp<std::int64_t>(position, 0, span);
  }

  const PlayerOptions options_;
  FileSet files_;
  Outlets outlets_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< log times: played from there, and before there
  std::optional<Publisher<Clock>> clock_publisher_;
  // The playing thread's.
  std::unique_ptr<ReadAhead> ahead_;
  std::uint64_t opened_from_ = 0;  ///< log time
  AnyLoan prepared_;               ///< the next message, filled
  std::int64_t next_tick_ = 0;     ///< position
  std::int64_t last_position_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PlayClock clock_;
  std::shared_ptr<PlayTime> time_;
  bool paused_, stopping_ = false;
  bool opened_ = false;  ///< a message from where it was opened last has been read
  bool ended_ = false;
  std::uint64_t steps_ = 0;  ///< messages that are to be published although it is paused
  std::optional<std::uint64_t> seek_;
  const Outlet* waits_for_ = nullptr;
  Histogram lateness_;
  std::uint64_t timed_ = 0, lap_ = 0;
  std::int64_t gave_way_ = 0;
  std::uint64_t gaps_ = 0;
  std::int64_t skipped_ = 0;
};

PlayerReport Player::Implementation::report() const {
  PlayerReport report;
  report.left_out = outlets_.left_out();
  report.problems = outlets_.problems();
  std::ranges::move(out_of_reach(files_, end_), std::back_inserter(report.problems));
  report.unfinished = outlets_.unfinished();
  report.notes = files_.notes();
  report.notes.insert(report.notes.end(), outlets_.notes().begin(), outlets_.notes().end());
  // Before our lock: a thread that attaches a reader holds the publisher's lock for long.
  std::vector<std::size_t> subscribers;
  for (const auto& outlet : outlets_.all()) subscribers.push_back(outlet->publisher->subscribers());
  const std::lock_guard lock(mutex_);
  for (const auto& outlet : outlets_.all()) {
    report.topics.push_back({.topic = outlet->publisher->topic(),
                             .type = outlet->publisher->type().name,
                             .recorded = outlet->recorded,
                             .published = outlet->published,
                             .failed = outlet->failed,
                             .failure = outlet->failure,
                             .subscribers = subscribers[report.topics.size()]});
    report.published += outlet->published;
    report.failed += outlet->failed;
  }
  report.start_ns = static_cast<std::int64_t>(begin_ - files_.first());
  report.end_ns = static_cast<std::int64_t>(end_ - files_.first());
  report.position_ns = position_now();
  report.first_time = files_.first();
  report.lap = lap_;
  report.rate = clock_.rate();
  report.paused = paused_;
  if (waits_for_ != nullptr) report.waits_for = waits_for_->publisher->topic();
  report.timed = timed_;
  if (timed_ > 0) {
    const LatencyHistogram counts = lateness_.counts();
    report.late_p50 = std::min(latency_percentile(counts, 50), lateness_.longest());
    report.late_p99 = std::min(latency_percentile(counts, 99), lateness_.longest());
    report.late_most = lateness_.longest();
  }
  report.gave_way_ns = gave_way_;
  report.gaps = gaps_;
  report.skipped_ns = skipped_;
  return report;
}

Player::Player(const std::vector<std::string>& files, PlayerOptions options)
    : implementation_(std::make_unique<Implementation>(files, std::move(options))) {}
Player::~Player() = default;
void Player::run() { implementation_->run(); }
void Player::stop() { implementation_->stop(); }
void Player::pause(bool paused) { implementation_->pause(paused); }
bool Player::paused() const { return implementation_->paused(); }
void Player::step(std::uint64_t messages) { implementation_->step(messages); }
void Player::seek(std::chrono::nanoseconds after_first) { implementation_->seek(after_first); }
void Player::set_rate(double rate) { implementation_->set_rate(rate); }
PlayerReport Player::report() const { return implementation_->report(); }
PlayerPosition Player::position() const { return implementation_->where(); }

}  // namespace cardan::record
