// SPDX-License-Identifier: Apache-2.0
// How much fits: readers of a topic, topics of a process, processes of a domain, bytes of a frame; and what it costs
// when nothing happens.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cardan/error.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr cardan::Topic<Small> kMany{"/many", {.depth = 4}};
constexpr cardan::Topic<Big> kHuge{"/huge", {.max_bytes = std::size_t{1} << 30}};

class Bounds : public cardan::test::OwnRunDirectory {};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("/topic/number" + std::to_string(i));
  return all;
}

long descriptors_of(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd", error);
  return error ? -1 : std::distance(begin(all), end(all));
}

/// Times that the threads of a process went to sleep by themselves: a process that does nothing is never woken, so
/// never falls asleep again.
long sleeps_of(pid_t pid) {
  long sum = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error))
    sum += cardan::test::number_in(task.path().string() + "/status", "voluntary_ctxt_switches");
  return sum;
}

}  // namespace

CARDAN_ROLE(eight_readers) {
  std::vector<std::unique_ptr<cardan::Subscriber<Small>>> readers;
  for (int i = 0; i < 8; ++i) readers.push_back(std::make_unique<cardan::Subscriber<Small>>(kMany));
  cardan::test::say("ready");
  int got = 0;
  for (auto& r : readers)
    for (int i = 0; i < 3; ++i) got += cardan::test::intact(r->wait(20s)) ? 1 : 0;
  cardan::test::say("got " + std::to_string(got));
  cardan::test::hear();
  return 0;
}

TEST_F(Bounds, SixtyFourReadersOfATopic) {
  cardan::Publisher out{kMany};
  std::vector<Child> children;
  for (int i = 0; i < 8; ++i) children.emplace_back("eight_readers");
  for (auto& c : children) c.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return out.subscribers() == 64; })) << out.subscribers();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(cardan::test::publish_next(out, 1, 0));
    std::this_thread::sleep_for(5ms);
  }
  for (auto& c : children) EXPECT_EQ(c.expect("got"), "24");
  // And an observer can still ask about the topic.
  const std::string folder = cardan::test::run_directory() + "/" + domain_;
  bool listed = false;
  for (const auto& path : cardan::test::sockets_in(folder)) {
    const cardan::test::RawPeer peer(path);
    if (!peer.hello() || !peer.send(cardan::test::handshake::List{})) continue;
    const auto answer = peer.receive_op("topics");
    listed = listed || (answer && answer->text.find("/many") != std::string::npos);
  }
  EXPECT_TRUE(listed) << "the description of a topic with 64 readers does not arrive";
  for (auto& c : children) EXPECT_EQ(c.end(), 0);
}

CARDAN_ROLE(thousand_readers) {
  const int count = std::stoi(args[0]);
  const auto all = names(count);
  std::atomic<int> left{0};
  std::vector<std::unique_ptr<cardan::Subscriber<Small>>> readers;
  for (const auto& name : all)
    readers.push_back(std::make_unique<cardan::Subscriber<Small>>(
        cardan::Topic<Small>{name.c_str(), {}}, cardan::SubscriberOptions{.on_event = [&](const cardan::Event& e) {
          left += e.kind == cardan::Event::Kind::Left ? 1 : 0;
        }}));
  cardan::test::say("ready");
  const auto begin = Clock::now();
  const auto attached = [&] {
    std::size_t sum = 0;
    for (const auto& r : readers) sum += r->publishers();
    return sum;
  };
  cardan::test::eventually([&] { return attached() == readers.size(); }, 60s);
  cardan::test::say("attached " + std::to_string(attached()) + " " + std::to_string(ms_since(begin)));
  cardan::test::hear();
  cardan::test::eventually([&] { return left == count; }, 30s);
  cardan::test::say("left " + std::to_string(left));
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(thousand_publishers) {
  const auto all = names(std::stoi(args[0]));
  const auto begin = Clock::now();
  {
    std::vector<std::unique_ptr<cardan::Publisher<Small>>> publishers;
    for (const auto& name : all)
      publishers.push_back(std::make_unique<cardan::Publisher<Small>>(cardan::Topic<Small>{name.c_str(), {}}));
    cardan::test::say("made " + std::to_string(ms_since(begin)));
    cardan::test::hear();
  }
  cardan::test::say("ended");
  cardan::test::hear();
  return 0;
}

TEST_F(Bounds, ThousandTopicsOfAProcess) {
  for (const bool readers_first : {true, false}) {
    Child readers;
    Child publishers;
    const auto start_readers = [&] {
      readers = Child("thousand_readers", {"1000"});
      readers.expect("ready", 100s);
    };
    std::string made;
    if (readers_first) start_readers();
    publishers = Child("thousand_publishers", {"1000"});
    made = publishers.expect("made", 100s);
    const auto begin = Clock::now();
    if (!readers_first) start_readers();
    const std::string attached = readers.expect("attached", 100s);
    EXPECT_TRUE(attached.starts_with("1000 ")) << attached << (readers_first ? ", the readers were there first" : "");
    std::printf(
        "  1000 topics, %s first: made in %s ms, all attached %.0f ms later; %ld descriptors at the publisher, %ld at "
        "the readers\n",
        readers_first ? "readers" : "publishers", made.c_str(), ms_since(begin), descriptors_of(publishers.pid()),
        descriptors_of(readers.pid()));
    EXPECT_LT(descriptors_of(readers.pid()), 64)
        << "one connection for each pair of processes, areas are closed once mapped";
    publishers.say("end");
    publishers.expect("ended", 60s);
    readers.say("count");
    EXPECT_EQ(readers.expect("left", 60s), "1000") << "the end of each stream is told";
    EXPECT_EQ(publishers.end(), 0);
    EXPECT_EQ(readers.end(), 0);
  }
}

CARDAN_ROLE(one_of_hundred) {
  const std::string own = "/reply/" + args[0];
  cardan::Publisher<Small> out{cardan::Topic<Small>{own.c_str(), {}}};
  cardan::Subscriber<Small> in{kMany};
  cardan::test::say("ready");
  if (in.wait(60s)) cardan::test::publish_next(out, std::stoull(args[0]) + 1, 0);
  cardan::test::hear();
  return 0;
}

TEST_F(Bounds, HundredProcessesOfADomain) {
  std::vector<Child> children;
  for (int i = 0; i < 100; ++i) children.emplace_back("one_of_hundred", cardan::test::Args{std::to_string(i)});
  for (auto& c : children) c.expect("ready", 60s);
  cardan::Publisher out{kMany};
  EXPECT_TRUE(cardan::test::eventually([&] { return out.subscribers() == 100; }, 30s)) << out.subscribers();
  std::vector<std::unique_ptr<cardan::Subscriber<Small>>> replies;
  for (int i = 0; i < 100; ++i)
    replies.push_back(
        std::make_unique<cardan::Subscriber<Small>>(cardan::Topic<Small>{("/reply/" + std::to_string(i)).c_str(), {}}));
  const auto begin = Clock::now();
  EXPECT_TRUE(cardan::test::publish_next(out, 500, 0));
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    const auto answer = replies[static_cast<std::size_t>(i)]->wait(20s);
    good += answer && cardan::test::intact(answer) &&
                    cardan::test::writer_of(answer->key) == static_cast<std::uint64_t>(i) + 1
                ? 1
                : 0;
  }
  EXPECT_EQ(good, 100);
  std::printf("  one message to 100 processes and an answer of each: %.1f ms\n", ms_since(begin));
  for (auto& c : children) EXPECT_EQ(c.end(), 0);
}

CARDAN_ROLE(reads_a_gigabyte) {
  cardan::Subscriber in{kHuge};
  cardan::test::say("ready");
  const auto sample = in.wait(100s);
  cardan::test::say(sample && cardan::test::intact(sample) ? "whole " + std::to_string(sample->words.size() * 8)
                                                           : "torn");
  return 0;
}

TEST_F(Bounds, AFrameOfAGigabyte) {
  if (cardan::test::number_in("/proc/meminfo", "MemAvailable") < 9L * 1024 * 1024)
    GTEST_SKIP() << "skipped: needs 9 GiB of free memory for five slots of 1 GiB";
  cardan::Publisher out{kHuge};
  Child reader("reads_a_gigabyte");
  reader.expect("ready", 60s);
  EXPECT_TRUE(cardan::test::publish_next(out, 1, (std::size_t{1} << 30) / 8));
  EXPECT_EQ(reader.expect("whole", 100s), "1073741824");
  EXPECT_EQ(reader.end(), 0);
}

CARDAN_ROLE(idle_reader) {
  cardan::Subscriber in{kMany};
  cardan::test::say("ready");
  (void)in.wait();
  return 0;
}

CARDAN_ROLE(idle_publisher) {
  const cardan::Publisher<Small> out{kMany};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

TEST_F(Bounds, AnIdleSystemIsNeverWoken) {
  Child publisher("idle_publisher");
  publisher.expect("ready");
  Child one("idle_reader");
  Child two("idle_reader");
  one.expect("ready");
  two.expect("ready");
  std::this_thread::sleep_for(500ms);
  for (const auto* c : {&publisher, &one, &two}) {
    const long before = sleeps_of(c->pid());
    std::this_thread::sleep_for(2s / 3);
    EXPECT_EQ(sleeps_of(c->pid()) - before, 0) << "wake-ups in two thirds of a second";
  }
  publisher.kill();  // ends the readers' attachment; they wait on
}

TEST_F(Bounds, AnIdleTopicIsSmall) {
  constexpr int kTopics = 200;
  const auto all = names(kTopics);
  const cardan::Publisher<Small> first{kMany};  // with it comes what a process has once
  const auto resident = [] {
    return cardan::test::number_in("/proc/self/status", "RssShmem") +
           cardan::test::number_in("/proc/self/status", "RssAnon");
  };
  const long before = resident();
  std::vector<std::unique_ptr<cardan::Publisher<Small>>> publishers;
  for (const auto& name : all)
    publishers.push_back(std::make_unique<cardan::Publisher<Small>>(cardan::Topic<Small>{name.c_str(), {}}));
  const double each = static_cast<double>(resident() - before) / kTopics;
  std::printf("  an idle topic of 128-byte messages: %.1f KiB\n", each);
  EXPECT_LT(each, 64 + 3.0 * 256 / 1024);
}
