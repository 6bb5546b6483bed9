// SPDX-License-Identifier: Apache-2.0
#include "cardan/observer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "cardan/cardan.hpp"
#include "src/base/socket.hpp"
#include "src/transport/protocol/layout.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;

struct Pair {
  std::uint64_t number = 0;
  std::uint64_t twice = 0;
};
struct List {
  std::uint64_t number = 0;
  cardan::shm::vector<std::uint32_t> values;
  cardan::shm::string text;
};

}  // namespace

CARDAN_MESSAGE(Pair, "test_msgs/msg/Pair", number, twice);
CARDAN_MESSAGE(List, "test_msgs/msg/List", number, values, text);

namespace {

using cardan::ObservedSample;
using cardan::Observer;
class ObserverTest : public cardan::test::OwnRunDirectory {};

const cardan::Topic<Pair> kFresh{"/pair", {}};
const cardan::Topic<Pair> kQueue{"/pairs", {.depth = 8}};
const cardan::Topic<List> kList{"/list", {.max_bytes = 4096}};

TEST_F(ObserverTest, AnEmptyDomainIsNotAnError) {
  Observer observer{"/nothing"};
  EXPECT_TRUE(observer.streams().empty());
  EXPECT_TRUE(observer.problems().empty());
  ObservedSample sample;
  EXPECT_FALSE(observer.copy_latest(sample));
  EXPECT_FALSE(observer.copy_next(sample));
  EXPECT_TRUE(cardan::look_around().publishers.empty());
}

TEST_F(ObserverTest, CopiesTheNewest) {
  cardan::Publisher out{kFresh};
  Observer observer{"/pair"};
  ASSERT_EQ(observer.streams().size(), 1U);
  ObservedSample sample;
  EXPECT_FALSE(observer.copy_latest(sample)) << "nothing published yet";
  for (std::uint64_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(out.publish({i, 2 * i}));
    ASSERT_TRUE(observer.copy_latest(sample));
    const Pair* pair = sample.as<Pair>();
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->number, i);
    EXPECT_EQ(pair->twice, 2 * i);
    EXPECT_EQ(sample.sequence(), i);
    EXPECT_LE(sample.publish_time(), cardan::steady_now());
    EXPECT_GT(sample.publish_time(), cardan::steady_now() - 60'000'000'000);
  }
  EXPECT_EQ(sample.as<List>(), nullptr) << "another type";
  EXPECT_TRUE(observer.copy_latest(sample)) << "looking takes nothing away";
}

TEST_F(ObserverTest, CopiesAQueueInOrderAndTellsWhatItPassedOver) {
  cardan::Publisher out{kQueue};
  for (std::uint64_t i = 1; i <= 5; ++i) out.publish({i, 2 * i});
  Observer observer{"/pairs"};
  ObservedSample sample;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(observer.copy_next(sample)) << "what was there at the first look is delivered";
    EXPECT_EQ(sample.as<Pair>()->number, i);
    EXPECT_EQ(sample.passed_over(), 0U);
  }
  EXPECT_FALSE(observer.copy_next(sample));
  for (std::uint64_t i = 6; i <= 25; ++i) out.publish({i, 2 * i});
  ASSERT_TRUE(observer.copy_next(sample));
  EXPECT_EQ(sample.as<Pair>()->number, 18U) << "the last eight of 25";
  EXPECT_EQ(sample.passed_over(), 12U);
}

TEST_F(ObserverTest, VectorsPointIntoTheCopy) {
  cardan::Publisher out{kList};
  auto loan = out.loan();
  loan->number = 7;
  loan->values = {1, 2, 3};
  loan->text = "words";
  out.publish(std::move(loan));
  Observer observer{"/list"};
  ObservedSample sample;
  ASSERT_TRUE(observer.copy_latest(sample));
  const List* list = sample.as<List>();
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->values.size(), 3U);
  EXPECT_EQ(list->values[2], 3U);
  EXPECT_EQ(list->text.view(), "words");
  const auto* first = reinterpret_cast<const std::byte*>(list->values.data());
  EXPECT_EQ(first, sample.payload().data());
}

TEST_F(ObserverTest, DisturbsNobody) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  for (std::uint64_t i = 1; i <= 10; ++i) out.publish({i, 2 * i});
  const auto before = cardan::look_around({}, "/pair").publishers.at(0);
  {
    std::vector<std::unique_ptr<Observer>> many;
    ObservedSample sample;
    for (int i = 0; i < 20; ++i) many.push_back(std::make_unique<Observer>("/pair"));
    for (std::uint64_t i = 11; i <= 500; ++i) {
      ASSERT_TRUE(out.publish({i, 2 * i}));
      for (auto& one : many) ASSERT_TRUE(one->copy_latest(sample));
    }
    EXPECT_EQ(out.subscribers(), 1U);
    const auto during = cardan::look_around({}, "/pair").publishers.at(0);
    EXPECT_EQ(during.slots, before.slots) << "no slot is set aside for an observer";
    EXPECT_EQ(during.wakes, before.wakes) << "nobody is woken for an observer";
    EXPECT_EQ(during.subscribers.size(), 1U);
  }
  EXPECT_EQ(in.take()->number, 500U);
}

TEST_F(ObserverTest, NeverReturnsATornCopy) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the application fills slots with plain stores, which a copy may meet: the sequence decides, and the "
                  "memory-order checker proves it";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the application fills slots with plain stores, which a copy may meet: the sequence decides, and the "
                  "memory-order checker proves it";
#endif
#endif
  struct Run {
    const char* name;
    std::uint32_t depth;
  };
  for (const Run run : {Run{"/torn1", 1}, Run{"/torn4", 4}}) {
    const cardan::Topic<List> topic{run.name, {.max_bytes = 8192, .depth = run.depth}};
    cardan::Publisher out{topic};
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      for (std::uint32_t i = 1; !stop; ++i) {
        auto loan = out.loan();
        loan->number = i;
        loan->values.resize_for_overwrite(1 + i % 2000);
        for (auto& v : loan->values) v = i;
        out.publish(std::move(loan));
      }
    });
    Observer observer{run.name};
    ObservedSample sample;
    std::uint64_t last = 0;
    std::uint64_t copies = 0;
    const auto until = std::chrono::steady_clock::now() + 300ms;
    while (std::chrono::steady_clock::now() < until) {
      if (!(copies % 2 == 0 ? observer.copy_latest(sample) : observer.copy_next(sample))) continue;
      ++copies;
      const List* list = sample.as<List>();
      ASSERT_NE(list, nullptr);
      ASSERT_EQ(list->number, sample.sequence());
      ASSERT_EQ(list->values.size(), 1 + list->number % 2000);
      for (const std::uint32_t v : list->values) ASSERT_EQ(v, list->number);
      last = std::max(last, sample.sequence());
    }
    stop = true;
    writer.join();
    EXPECT_GT(copies, 0U);
    EXPECT_GT(last, 0U);
  }
}

TEST_F(ObserverTest, StampsAreThoseOfLivePublications) {
  cardan::Publisher out{kQueue};
  Observer observer{"/pairs"};
  std::vector<cardan::ObservedStream::Stamp> stamps;
  const auto stream = observer.streams().at(0);
  stream->stamps(stamps);
  EXPECT_TRUE(stamps.empty());
  for (std::uint64_t i = 1; i <= 100; ++i) out.publish({i, 2 * i});
  stream->stamps(stamps);
  ASSERT_GE(stamps.size(), 8U);
  EXPECT_EQ(stamps.back().sequence, 100U);
  for (std::size_t i = 1; i < stamps.size(); ++i) {
    EXPECT_EQ(stamps[i].sequence, stamps[i - 1].sequence + 1);
    EXPECT_GE(stamps[i].publish_ns, stamps[i - 1].publish_ns);
  }
}

TEST_F(ObserverTest, SeesPublishersComeAndGo) {
  Observer observer{"/pair"};
  {
    cardan::Publisher out{kFresh};
    EXPECT_TRUE(observer.refresh());
    ASSERT_EQ(observer.streams().size(), 1U);
    out.publish({1, 2});
    out.publish({2, 4});
  }
  observer.refresh();
  ObservedSample sample;
  ASSERT_EQ(observer.streams().size(), 1U);
  EXPECT_TRUE(observer.streams()[0]->ended());
  EXPECT_TRUE(observer.copy_next(sample)) << "what an ended publisher left can still be copied";
  EXPECT_EQ(sample.as<Pair>()->number, 2U);
  EXPECT_TRUE(observer.refresh());
  EXPECT_TRUE(observer.streams().empty());
  cardan::Publisher again{kFresh};
  EXPECT_TRUE(observer.refresh());
  EXPECT_EQ(observer.streams().size(), 1U);
}

TEST_F(ObserverTest, TwoPublishersOnOneTopic) {
  cardan::Publisher a{kFresh};
  cardan::Publisher b{kFresh};
  Observer observer{"/pair"};
  EXPECT_EQ(observer.streams().size(), 2U);
  a.publish({1, 2});
  b.publish({100, 200});
  ObservedSample sample;
  ASSERT_TRUE(observer.copy_latest(sample));
  EXPECT_EQ(sample.as<Pair>()->number, 100U);
  a.publish({2, 4});
  ASSERT_TRUE(observer.copy_latest(sample));
  EXPECT_EQ(sample.as<Pair>()->number, 2U);
  std::uint64_t sum = 0;
  while (observer.copy_next(sample)) sum += sample.as<Pair>()->number;
  EXPECT_EQ(sum, 102U) << "of each stream the newest (depth 1)";
}

TEST_F(ObserverTest, CopiesFromASubscribersStreamWithoutTaking) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  out.publish({1, 2});
  const auto report = cardan::look_around();
  ASSERT_EQ(report.publishers.size(), 1U);
  EXPECT_EQ(report.processes, 1U);
  const auto& p = report.publishers[0];
  EXPECT_EQ(p.topic, "/pair");
  EXPECT_EQ(p.type, "test_msgs/msg/Pair");
  EXPECT_EQ(p.published, 1U);
  EXPECT_EQ(p.bytes, sizeof(Pair));
  EXPECT_EQ(p.pid, ::getpid());
  ASSERT_EQ(p.subscribers.size(), 1U);
  EXPECT_EQ(p.subscribers[0].received, 0U);
  EXPECT_TRUE(in.take());
  const auto after = cardan::look_around({}, "/pair");
  EXPECT_EQ(after.publishers.at(0).subscribers.at(0).received, 1U);
  EXPECT_GE(cardan::latency_percentile(after.publishers[0].subscribers[0].latency, 50), 64);
}

// A reader in step with the publisher, so that it takes numbers 1, 5, 9, …: its latency is told all the same.
TEST_F(ObserverTest, LatencyOfAReaderThatTakesEachFourth) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  constexpr int kTaken = 40;
  for (int taken = 0; taken < kTaken; ++taken) {
    for (int i = taken == 0 ? 3 : 0; i < 4; ++i) out.publish({1, 2});
    ASSERT_TRUE(in.take());
    std::this_thread::sleep_for(1ms);
  }
  const auto report = cardan::look_around({}, "/pair");
  std::uint64_t measured = 0;
  for (const auto& [bucket, count] : report.publishers.at(0).subscribers.at(0).latency) measured += count;
  EXPECT_GE(measured, kTaken / 8);
}

TEST_F(ObserverTest, AProcessThatDoesNotAnswerIsReported) {
  cardan::Publisher out{kFresh};  // makes the folder
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  const std::string path = cardan::test::run_directory() + "/" + domain_ + "/p.0123456789abcdef";
  if (child == 0) {
    const cardan::Fd mute = cardan::socket::listen_at(path);
    for (;;) ::pause();
  }
  struct stat st{};
  while (::stat(path.c_str(), &st) != 0) std::this_thread::sleep_for(1ms);
  const auto report = cardan::look_around({.timeout = 50ms});
  EXPECT_EQ(report.publishers.size(), 1U);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("did not answer"), std::string::npos) << report.problems[0];
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto links = cardan::look_around({.timeout = 50ms});
  EXPECT_EQ(links.publishers.size(), 1U);
  EXPECT_EQ(links.stale, 1U);
}

TEST_F(ObserverTest, AStoppedProcessIsReportedAsOne) {
  cardan::Publisher out{kFresh};  // makes the folder
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  const std::string path = cardan::test::run_directory() + "/" + domain_ + "/p.0123456789abcdee";
  if (child == 0) {
    const cardan::Fd mute = cardan::socket::listen_at(path);
    for (;;) ::pause();
  }
  struct stat st{};
  while (::stat(path.c_str(), &st) != 0) std::this_thread::sleep_for(1ms);
  ::kill(child, SIGSTOP);
  ::waitpid(child, nullptr, WUNTRACED);
  const auto report = cardan::look_around({.timeout = 50ms});
  ASSERT_EQ(report.problems.size(), 1U);
  std::string name;  // an emulator's, where one runs this test
  std::getline(std::ifstream("/proc/self/comm"), name);
  EXPECT_EQ(report.problems[0], name + " (pid " + std::to_string(child) +
                                    ") did not answer within 50 ms: it is stopped (SIGSTOP) — kill -CONT " +
                                    std::to_string(child) + " continues it");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(ObserverTest, AForkedChildSeesNothingAndSaysWhy) {
  cardan::Publisher out{kFresh};
  out.publish({1, 2});
  Observer observer{"/pair"};
  const pid_t child = ::fork();
  if (child == 0) {
    ObservedSample sample;
    const auto stream = observer.streams().at(0);
    if (observer.copy_latest(sample) || observer.copy_next(sample)) ::_exit(1);
    if (stream->published() != 0 || stream->bytes() != 0 || !stream->ended() || !stream->schema().empty()) ::_exit(2);
    try {
      Observer another{"/pair"};
      ::_exit(3);
    } catch (const cardan::Error& e) {
      ::_exit(e.code() == cardan::ErrorCode::Forked ? 0 : 4);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ObservedSample sample;
  EXPECT_TRUE(observer.copy_latest(sample)) << "the child took nothing from its parent";
}

TEST(Latency, PercentilesOfAHistogram) {
  EXPECT_EQ(cardan::latency_percentile({}, 50), -1);
  const std::int64_t us = 10'000;
  const auto bucket = [](std::int64_t ns) { return static_cast<std::uint32_t>(cardan::layout::latency_bucket(ns)); };
  const cardan::LatencyHistogram histogram{{bucket(100 * us), 1}, {bucket(us), 99}};
  EXPECT_NEAR(static_cast<double>(cardan::latency_percentile(histogram, 50)), us, 0.13 * us);
  EXPECT_NEAR(static_cast<double>(cardan::latency_percentile(histogram, 100)), 100 * us, 0.13 * 100 * us);
}

TEST(Latency, PercentilesLieWithinTheirBucketByTheirRank) {
  const std::int64_t begin = 65'536;  // of a bucket that ends at 81,920 ns
  const auto bucket = static_cast<std::uint32_t>(cardan::layout::latency_bucket(begin));
  EXPECT_EQ(cardan::latency_percentile({{bucket, 1}}, 1), 73'728) << "one sample: the middle";
  EXPECT_EQ(cardan::latency_percentile({{bucket, 1}}, 99), 73'728);
  const cardan::LatencyHistogram many{{bucket, 1'000}};
  EXPECT_EQ(cardan::latency_percentile(many, 0), begin + 8);
  EXPECT_EQ(cardan::latency_percentile(many, 50), 73'728);
  EXPECT_EQ(cardan::latency_percentile(many, 99), begin + 16'384 * 99 / 100);
  EXPECT_LT(cardan::latency_percentile(many, 100), 81'920) << "within the bucket";
  std::int64_t last = 0;
  const cardan::LatencyHistogram several{{0, 3}, {bucket, 10}, {bucket + 1, 10}, {bucket + 9, 1}};
  for (int percent = 0; percent <= 100; ++percent) {
    const std::int64_t now = cardan::latency_percentile(several, percent);
    EXPECT_GE(now, last) << percent;
    last = now;
  }
}

}  // namespace
