// SPDX-License-Identifier: Apache-2.0
// Single operations of Cardan, each between two processes.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/results/statistics.hpp"
#include "bench/transport/peers/cardan_frames.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/detail/publisher_end.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/observer_report.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::bench {
namespace {

using namespace std::chrono_literals;

// The time between two calls of the clock with nothing between them.
std::int64_t clock_cost() {
  std::vector<double> pairs(1001);
  for (double& pair : pairs) {
    const std::int64_t before = now_ns();
    pair = static_cast<double>(now_ns() - before);
  }
  return static_cast<std::int64_t>(median(std::move(pairs)));
}

void wait_for_reader(const Area& area) {
  while (area.header().readers_done.load(std::memory_order_acquire) == 0) std::this_thread::sleep_for(1ms);
}

/// One thread polls the subscribers of these tasks.
std::uint32_t pollers(const Area& area) { return area.header().task == Task::Chains ? 1 : area.header().endpoints; }

/// `Out`: a publisher, or what has its functions.
template <class Out>
void hand_over(const Area& area, Out& out) {
  wait_until("not all readers attached", [&] { return out.subscribers() == pollers(area); });
  const auto stamps = area.published(0);
  const std::int64_t clock = clock_cost();
  if (!area.arrive_and_wait()) return;
  for (std::uint64_t n = 1; n < stamps.size(); ++n) {
    const std::int64_t before = now_ns();
    auto loan = out.loan();
    loan->words[0] = n;
    out.publish(std::move(loan));
    stamps[n].handing_ns = std::max<std::int64_t>(0, now_ns() - before - clock);
    while (area.header().acknowledged.load(std::memory_order_acquire) < n) {
    }
  }
}

void hand_over_plain(const Area& area) {
  Publisher<SmallFrame> out(topic_of<SmallFrame>(area));
  hand_over(area, out);
}

void hand_over_traced(const Area& area) {
  const detail::trace::Switch tracing;
  hand_over_plain(area);
}

/// The publisher of a component's output whose configuration has `beginnings` chains (docs/chains.md).
class ChainedOut {
 public:
  ChainedOut(const Topic<SmallFrame>& topic, std::uint32_t beginnings)
      : core_(std::make_shared<detail::PublisherCore>(
            topic.name, detail::message_type_of<SmallFrame>(), topic.options, PublisherOptions{},
            detail::ChainRole{.entries = beginnings, .component = detail::ChainRole::key("bench")})),
        process_(detail::Process::of("")) {
    process_.add(core_);
  }
  ~ChainedOut() { process_.remove(core_); }
  ChainedOut(const ChainedOut&) = delete;
  ChainedOut& operator=(const ChainedOut&) = delete;

  [[nodiscard]] std::size_t subscribers() const { return core_->subscribers(); }
  Loan<SmallFrame> loan() noexcept { return detail::typed<SmallFrame>(detail::LoanedSlot(core_)); }
  void publish(Loan<SmallFrame>&& loan) noexcept { (void)detail::PublisherEnd::publish(detail::take_out(loan)); }

 private:
  std::shared_ptr<detail::PublisherCore> core_;
  detail::Process& process_;
};

void hand_over_chains(const Area& area) {
  const std::uint32_t beginnings = area.header().endpoints;
  detail::ChainGrounds grounds;
  const std::int64_t now = steady_now();
  for (std::uint32_t i = 1; i <= beginnings; ++i)
    grounds.add({.from = i, .hop = 0, .origin_ns = now, .hop_ns = 0, .since_ns = now});
  detail::SampleBlock trigger;
  trigger.publish_ns = now;
  trigger.own_chains = std::make_unique<const detail::ChainGrounds>(grounds);
  detail::CallbackBasis callback;
  callback.triggered_by(trigger);
  ChainedOut out(topic_of<SmallFrame>(area), beginnings);
  hand_over(area, out);
}

void take_all(const Area& area) {
  std::vector<std::unique_ptr<Subscriber<SmallFrame>>> in;
  for (std::uint32_t i = 0; i < pollers(area); ++i)
    in.push_back(std::make_unique<Subscriber<SmallFrame>>(topic_of<SmallFrame>(area)));
  wait_until("not all publishers were found",
             [&] { return std::all_of(in.begin(), in.end(), [](const auto& s) { return s->publishers() == 1; }); });
  if (!area.arrive_and_wait()) return;
  for (std::uint64_t n = 1; n <= area.header().cell.frames; ++n) {
    for (const auto& subscriber : in) {
      for (;;) {
        const auto sample = subscriber->take();
        if (sample && sample->words[0] == n) break;
      }
    }
    area.header().acknowledged.store(n, std::memory_order_release);
  }
}

template <class T>
Topic<T> besieged_topic(const Area& area) {
  Topic<T> topic = topic_of<T>(area);
  topic.options.waiting = block();
  topic.options.access = Access::Everyone;
  return topic;
}

void publish_besieged(const Area& area) {
  Publisher<SmallFrame> out(besieged_topic<SmallFrame>(area));
  wait_until("not all readers attached", [&] { return out.subscribers() == 1; });
  const auto stamps = area.published(0);
  const std::int64_t clock = clock_cost();
  if (!area.arrive_and_wait()) return;
  for (std::uint64_t n = 1; n < stamps.size(); ++n) {
    std::this_thread::sleep_for(1ms);
    const std::int64_t before = now_ns();
    auto loan = out.loan();
    if (!loan) throw Error(ErrorCode::Unavailable, "the publisher found no slot", "report this");
    loan->words[0] = n;
    out.publish(std::move(loan));
    stamps[n].handing_ns = std::max<std::int64_t>(0, now_ns() - before - clock);
  }
  area.header().acknowledged.store(area.header().cell.frames, std::memory_order_release);
}

/// More threads than it announced sleep on its bell, as those of a hostile user would.
void besiege(const Area& area) {
  constexpr unsigned kStranger = 47'110;
  if (area.header().endpoints > 1 &&
      (::setresgid(kStranger, kStranger, kStranger) != 0 || ::setresuid(kStranger, kStranger, kStranger) != 0))
    throw Error(ErrorCode::Refused, "cannot become another user", "run this part as root");
  Subscriber<SmallFrame> in(besieged_topic<SmallFrame>(area));
  wait_until("the publisher was not found", [&] { return in.publishers() == 1; });
  std::vector<std::thread> sleepers;
  for (std::uint32_t i = 0; i < area.header().endpoints; ++i)
    sleepers.emplace_back([&] {
      while (area.header().acknowledged.load(std::memory_order_acquire) == 0) (void)in.wait(50ms);
    });
  const bool go = area.arrive_and_wait();
  if (!go) area.header().acknowledged.store(1, std::memory_order_release);
  for (std::thread& sleeper : sleepers) sleeper.join();
}

void attach(const Area& area) {
  const auto stamps = area.received(0, 0);
  if (!area.arrive_and_wait()) return;
  for (std::size_t n = 1; n < stamps.size(); ++n) {
    const std::int64_t before = now_ns();
    Subscriber<SmallFrame> in(topic_of<SmallFrame>(area));
    while (in.publishers() == 0) std::this_thread::yield();
    stamps[n].first = now_ns() - before;
  }
}

std::string numbered(const Area& area, std::uint32_t i) { return fmt::format("{}/{}", area.header().topic, i); }

// Memory of this process without that of files, in bytes; a page that two processes map counts half in each. 0: the
// kernel does not say, and the figure is left out.
std::uint64_t proportional_memory() {
  std::ifstream in("/proc/self/smaps_rollup");
  std::uint64_t sum = 0;
  for (std::string word; in >> word;)
    if (word == "Pss_Anon:" || word == "Pss_Shmem:") {
      std::uint64_t kib = 0;
      in >> kib;
      sum += kib * 1024;
    }
  return sum;
}

void note_growth(const Area& area, std::size_t role, std::uint64_t before) {
  const std::uint64_t now = proportional_memory();
  area.role(role).memory_bytes = now > before ? now - before : 0;
}

void wait_for(const Area& area, std::uint64_t step) {
  while (area.header().acknowledged.load(std::memory_order_acquire) < step) std::this_thread::sleep_for(1ms);
}

void publish_many(const Area& area) {
  {
    const Publisher<SmallFrame> first({"/bench/first", {}});
  }  // it makes what a process has once, whatever its topics
  const std::uint64_t before = proportional_memory();
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Publisher<SmallFrame>>> out;
  for (std::uint32_t i = 0; i < area.header().endpoints; ++i) names.push_back(numbered(area, i));
  for (const auto& name : names)
    out.push_back(std::make_unique<Publisher<SmallFrame>>(Topic<SmallFrame>{name.c_str(), {}}));
  if (!area.arrive_and_wait()) return;
  wait_for(area, 1);
  note_growth(area, 0, before);
  area.header().acknowledged.store(2, std::memory_order_release);
  wait_for_reader(area);
}

void discover_many(const Area& area) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < area.header().endpoints; ++i) names.push_back(numbered(area, i));
  if (!area.arrive_and_wait()) return;
  Stamps& stamp = area.received(0, 0)[1];
  const std::int64_t before = now_ns();
  const std::size_t known = look_around().publishers.size();
  stamp.first = now_ns() - before;
  if (known != names.size()) {
    throw Error(ErrorCode::Unavailable, fmt::format("{} of {} topics were listed", known, names.size()),
                "try `cardan doctor`");
  }
  {
    const Subscriber<SmallFrame> first({"/bench/first", {}});
  }
  const std::uint64_t memory = proportional_memory();
  const std::int64_t subscribing = now_ns();
  std::vector<std::unique_ptr<Subscriber<SmallFrame>>> in;
  for (const auto& name : names)
    in.push_back(std::make_unique<Subscriber<SmallFrame>>(Topic<SmallFrame>{name.c_str(), {}}));
  for (const auto& subscriber : in) {
    while (subscriber->publishers() == 0) std::this_thread::yield();
  }
  stamp.second = now_ns() - subscribing;
  note_growth(area, 1, memory);
  area.header().acknowledged.store(1, std::memory_order_release);
  wait_for(area, 2);
}

}  // namespace

void play_cardan_operation(const Area& area, std::uint32_t index) {
  const bool publishes = index < area.publishers();
  switch (area.header().task) {
    case Task::HandOver:
      publishes ? hand_over_plain(area) : take_all(area);
      break;
    case Task::Traced:
      publishes ? hand_over_traced(area) : take_all(area);
      break;
    case Task::Chains:
      publishes ? hand_over_chains(area) : take_all(area);
      break;
    case Task::Besieged:
      publishes ? publish_besieged(area) : besiege(area);
      break;
    case Task::Attach:
      if (publishes) {
        const Publisher<SmallFrame> out(topic_of<SmallFrame>(area));
        if (area.arrive_and_wait()) wait_for_reader(area);
      } else {
        attach(area);
      }
      break;
    case Task::Discover:
      publishes ? publish_many(area) : discover_many(area);
      break;
    case Task::Frames:
      break;
  }
  if (!publishes) area.header().readers_done.fetch_add(1, std::memory_order_release);
}

}  // namespace cardan::bench
