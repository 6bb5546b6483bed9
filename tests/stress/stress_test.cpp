// SPDX-License-Identifier: Apache-2.0
// A writer at full speed against every kind of reader, and a reader against every kind of writer, all in processes of
// their own: every word of every frame is checked, and what was lost is counted exactly.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/tally.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr std::size_t kReaders = 16;
constexpr std::size_t kWriters = 64;

struct StressCounts {
  std::atomic<std::uint32_t> stop;
  std::atomic<std::uint64_t> failed_publishes;
  struct Writer {
    std::atomic<std::uint64_t> begun, done;  // publish number n is about to happen; has happened
  } writers[kWriters];
  struct Reader {
    std::atomic<std::uint64_t> torn, disordered, miscounted;
  } readers[kReaders];
};
using StressTally = cardan::test::Tally<StressCounts>;

struct Case {
  const char* name;
  std::size_t words;  // of 8 bytes; 15: the plain struct
  std::uint32_t depth;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
const Case kCases[] = {{"128B_depth1", 15, 1},        {"128B_depth8", 15, 8},         {"64KiB_depth1", 8192 - 8, 1},
                       {"64KiB_depth8", 8192 - 8, 8}, {"1MiB_depth1", 131072 - 8, 1}, {"1MiB_depth4", 131072 - 8, 4}};

template <class T>
cardan::Topic<T> topic_of(const Case& c) {
  return {"/stress", {.max_bytes = std::is_same_v<T, Small> ? 0 : c.words * 8, .depth = c.depth}};
}

/// `f.template operator()<Small or Big>()` for the case with this name.
template <class F>
int with_case(const std::string& name, F f) {
  for (const Case& c : kCases)
    if (name == c.name) return c.words == 15 ? f.template operator()<Small>(c) : f.template operator()<Big>(c);
  return 2;
}

/// One reader's counts of each writer. Its losses since the attach are counted exactly; the `depth` publications
/// from before the attach are a gift, and a gap among them is nobody's loss.
class Ledger {
 public:
  explicit Ledger(std::uint32_t depth) : depth_(depth) {}

  /// `in_order`: one thread enters all, so that each gap can be compared with what the sample says of it.
  template <class T>
  void enter(const cardan::Sample<T>& s, StressCounts::Reader& tally, bool in_order) {
    const std::lock_guard lock(mutex_);
    One& one = writers_[cardan::test::writer_of(s->key)];
    if (one.frames == 0 || s.sequence() < one.first) {
      one.first = s.sequence();
      one.first_missed = s.missed();
    }
    if (in_order && one.frames != 0) {
      const std::uint64_t gap = s.sequence() - one.last - 1;
      if (s.sequence() <= one.last || s.missed() > gap || (s.missed() != gap && one.last >= one.first + depth_))
        ++tally.miscounted;
    }
    one.frames += 1;
    one.missed += s.missed();
    one.last = std::max(one.last, s.sequence());
  }
  /// One line for each writer: `stream WRITER FRAMES MISSED LAST UNCOUNTED`.
  void print(std::uint64_t received, std::uint64_t missed) {
    for (const auto& [writer, o] : writers_)
      cardan::test::say("stream " + std::to_string(writer) + " " + std::to_string(o.frames) + " " +
                        std::to_string(o.missed) + " " + std::to_string(o.last) + " " +
                        std::to_string(o.last - (o.first - o.first_missed - 1) - o.frames - o.missed));
    cardan::test::say("total " + std::to_string(received) + " " + std::to_string(missed));
  }

 private:
  struct One {
    std::uint64_t first = 0, first_missed = 0, frames = 0, missed = 0, last = 0;
  };
  std::uint32_t depth_;
  std::mutex mutex_;
  std::map<std::uint64_t, One> writers_;
};

}  // namespace

// writer CASE TALLY WHO: publishes at full speed until told to stop.
CARDAN_ROLE(writer) {
  StressTally tally(args[1]);
  const std::uint64_t who = std::stoull(args[2]);
  return with_case(args[0], [&]<class T>(const Case& c) {
    cardan::Publisher<T> out{topic_of<T>(c)};
    cardan::test::say("ready");
    auto& mine = tally->writers[who];
    while (tally->stop.load(std::memory_order_relaxed) == 0) {
      mine.begun = out.published() + 1;
      if (!cardan::test::publish_next(out, who, c.words)) ++tally->failed_publishes;
      mine.done = out.published();
      // Instrumented, the many processes take all CPUs for themselves, and one that starts waits for minutes.
      if constexpr (cardan::test::kSanitized) std::this_thread::sleep_for(50us);
    }
    return 0;
  });
}

// reader CASE TALLY INDEX KIND THREADS: takes and checks until every publisher has ended and the test has said stop.
CARDAN_ROLE(reader) {
  StressTally tally(args[1]);
  auto& mine = tally->readers[std::stoull(args[2])];
  const std::string& kind = args[3];
  const auto threads = static_cast<std::uint32_t>(std::stoul(args[4]));
  return with_case(args[0], [&]<class T>(const Case& c) {
    const std::uint32_t holds = kind == "slow" ? 3 : threads;
    cardan::Subscriber<T> in{topic_of<T>(c),
                             {.holds = holds,
                              .threads = threads,
                              .waiting = kind == "spin" ? cardan::spin_then_block(1ms) : cardan::block()}};
    Ledger ledger(c.depth);
    const auto work = [&] {
      std::uint64_t last = 0;
      std::vector<cardan::Sample<T>> held;
      while (tally->stop.load() == 0 || in.publishers() != 0) {
        auto sample = in.wait(20ms);
        if (!sample) continue;
        if (!cardan::test::intact(sample)) ++mine.torn;
        if (cardan::test::writer_of(sample->key) == 0) {  // order is promised within a stream
          if (sample.sequence() <= last) ++mine.disordered;
          last = sample.sequence();
        }
        ledger.enter(sample, mine, threads == 1);
        if (kind != "slow") continue;
        held.push_back(std::move(sample));
        if (held.size() < 3) continue;
        std::this_thread::sleep_for(2ms);
        for (const auto& h : held)
          if (!cardan::test::intact(h)) ++mine.torn;  // held while the writer lapped it
        held.clear();
      }
    };
    cardan::test::say("ready");
    std::vector<std::thread> others;
    for (std::uint32_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (auto& t : others) t.join();
    ledger.print(in.received(), in.missed());
    return in.bad() == 0 ? 0 : 1;
  });
}

namespace {

class Stress : public cardan::test::OwnRunDirectory, public testing::WithParamInterface<Case> {
 protected:
  Stress() : tally_(cardan::test::run_directory() + "/tally-" + domain_) {}
  Child writer(std::uint64_t who) {
    Child c("writer", {GetParam().name, tally_.path(), std::to_string(who)});
    c.expect("ready");
    return c;
  }
  Child reader(std::size_t index, const std::string& kind, int threads = 1) {
    Child c("reader", {GetParam().name, tally_.path(), std::to_string(index), kind, std::to_string(threads)});
    c.expect("ready");
    return c;
  }
  /// Its books balance: each gap is counted, and the sums are the subscriber's own; `whole`: every stream to its end.
  void check_books(Child& c, const std::string& who, std::size_t index, bool whole) {
    std::uint64_t frames = 0;
    std::uint64_t missed = 0;
    for (;;) {
      const auto line = c.line(60s);
      ASSERT_TRUE(line) << who << " ended early";
      std::istringstream in(*line);
      std::string word;
      in >> word;
      if (word == "stream") {
        std::uint64_t writer = 0, f = 0, m = 0, last = 0, uncounted = 0;
        in >> writer >> f >> m >> last >> uncounted;
        EXPECT_LT(uncounted, GetParam().depth) << who << ": loss of writer " << writer << " is not counted exactly";
        if (whole) {
          EXPECT_GE(last, tally_->writers[writer].done) << who << " did not get the last frame of writer " << writer;
          EXPECT_LE(last, tally_->writers[writer].begun) << who;
        }
        frames += f;
        missed += m;
      } else if (word == "total") {
        std::uint64_t f = 0, m = 0;
        in >> f >> m;
        EXPECT_EQ(f, frames) << who;
        EXPECT_EQ(m, missed) << who;
        break;
      }
    }
    EXPECT_EQ(c.end(), 0) << who;
    EXPECT_EQ(tally_->readers[index].torn, 0U) << who << " saw torn frames";
    EXPECT_EQ(tally_->readers[index].miscounted, 0U) << who << " counted its loss wrong";
    EXPECT_EQ(tally_->readers[index].disordered, 0U) << who << " got frames out of order";
    EXPECT_GT(frames, 0U) << who;
    std::printf("  %-8s %9llu frames, %9llu missed\n", who.c_str(), static_cast<unsigned long long>(frames),
                static_cast<unsigned long long>(missed));
  }
  static std::chrono::milliseconds length() { return cardan::test::deep() ? 20s : 700ms; }

  StressTally tally_;
  std::mt19937 random_{42};
};

TEST_P(Stress, OneWriterManyReaders) {
  auto source = writer(0);
  auto fast = reader(0, "fast");
  auto slow = reader(1, "slow");
  auto stopped = reader(2, "fast");
  auto threads = reader(3, "fast", 2);
  auto spinning = reader(4, "spin");
  auto dying = reader(5, "slow");
  const auto until = std::chrono::steady_clock::now() + length();
  int deaths = 0;
  while (std::chrono::steady_clock::now() < until) {
    stopped.signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 40));
    stopped.signal(SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 40));
    dying.kill();
    dying = reader(5, "slow");
    ++deaths;
  }
  tally_->stop = 1;
  EXPECT_EQ(source.end(), 0);
  check_books(fast, "fast", 0, true);
  check_books(slow, "slow", 1, true);
  check_books(stopped, "stopped", 2, true);
  check_books(threads, "threads", 3, true);
  check_books(spinning, "spinning", 4, true);
  EXPECT_EQ(dying.end(), 0);
  EXPECT_EQ(tally_->readers[5].torn, 0U) << "a dying reader saw torn frames";
  EXPECT_EQ(tally_->failed_publishes, 0U) << "publish found no slot";
  std::printf("  %s: %llu published, a reader died %d times\n", GetParam().name,
              static_cast<unsigned long long>(tally_->writers[0].done), deaths);
}

TEST_P(Stress, DyingAndStoppedWriters) {
  std::vector<Child> readers;
  readers.push_back(reader(0, "fast"));
  readers.push_back(reader(1, "slow"));
  readers.push_back(reader(2, "fast", 2));
  std::uint64_t next = 1;  // 0 is for one stream's order
  auto stopped = writer(next++);
  auto dying = writer(next++);
  const auto until = std::chrono::steady_clock::now() + length();
  while (std::chrono::steady_clock::now() < until && next < kWriters) {
    stopped.signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 40));
    dying.kill();
    dying = writer(next++);
    stopped.signal(SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 40));
  }
  tally_->stop = 1;
  EXPECT_EQ(stopped.end(), 0);
  EXPECT_EQ(dying.end(), 0);
  for (std::size_t i = 0; i < readers.size(); ++i) check_books(readers[i], "reader " + std::to_string(i), i, true);
  EXPECT_EQ(tally_->failed_publishes, 0U) << "publish found no slot";
  std::printf("  %s: %llu writers died\n", GetParam().name, static_cast<unsigned long long>(next - 3));
}

INSTANTIATE_TEST_SUITE_P(All, Stress, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
