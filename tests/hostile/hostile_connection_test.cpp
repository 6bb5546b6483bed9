// SPDX-License-Identifier: Apache-2.0
// The one connection between two processes carries all their streams: what is lacking for one of them, or what one
// hostile answer says, must cost neither the samples of the others nor a place for ever.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "cardan/log.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Event;
using cardan::Fd;
using cardan::test::as_stranger;
using cardan::test::Child;
using cardan::test::FalseProcess;
using cardan::test::is_op;
using cardan::test::kOpen;
using cardan::test::RawPeer;
using cardan::test::send_attached;
using cardan::test::Small;

constexpr cardan::Topic<Small> kSecond{"/second", {.depth = 4}};

class HostileConnection : public cardan::test::OwnRunDirectory {
 protected:
  HostileConnection() {
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});
  }
  ~HostileConnection() override { cardan::set_log({}); }
};

/// A process that one subscriber is attached to, and that hangs up on it while its socket continues listening.
struct HangsUp {
  FalseProcess process;
  cardan::detail::PublisherCore core{"/open", cardan::detail::message_type_of<Small>(), kOpen.options, {}};
  cardan::detail::BellBoard bells;
  std::atomic<int> attached{0}, died{0};
  std::optional<cardan::Subscriber<Small>> in;

  HangsUp() {
    process.announce("/open");
    std::thread serving([this] { serve_until([this] { return attached == 1; }); });
    in.emplace(kOpen, cardan::SubscriberOptions{
                          .on_event = [this](const Event& e) { died += e.kind == Event::Kind::Died ? 1 : 0; }});
    serving.join();
  }
  template <class Done>
  void serve_until(Done done) {
    process.serve(
        [&](const RawPeer& peer, const cardan::socket::Message& m) {
          if (is_op(m, "hello")) cardan::test::greet(peer);
          if (!is_op(m, "attach")) return true;
          send_attached(peer, m, core, bells, true);
          ++attached;
          return true;
        },
        done);
  }
  void publish(int count) {
    for (int i = 0; i < count; ++i) {
      const int slot = core.loan();
      ASSERT_GE(slot, 0);
      cardan::test::fill(*new (core.message(slot)) Small, cardan::test::key_of(1, core.published() + 1), 0);
      core.publish(slot, 0, 0);
    }
  }
  std::vector<std::uint64_t> take_all() {
    std::vector<std::uint64_t> numbers;
    while (const auto sample = in->take()) {
      EXPECT_TRUE(cardan::test::intact(sample));
      numbers.push_back(sample.sequence());
    }
    return numbers;
  }
  /// For a second it accepts nobody. Meanwhile the subscriber looks at the run directory again and again, for the names
  /// of a dead process, and it takes nothing.
  void is_silent() {
    process.hang_up_on_all();
    EXPECT_TRUE(cardan::test::eventually([&] { return process.is_knocked_at(); }));
    std::promise<void> noticed;  // the helper thread knocks in the middle of it
    cardan::detail::Process::of({}).loop().post([&] { noticed.set_value(); });
    noticed.get_future().wait();
    FalseProcess dead;
    dead.die();
    const auto until = std::chrono::steady_clock::now() + 1s;
    for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
      if (i % 15 == 0)
        for (int name = 0; name < 80; ++name) dead.announce("/open");
      EXPECT_TRUE(take_all().empty()) << "its process may live, and refill them";
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(died, 0);
  }
};

}  // namespace

CARDAN_ROLE(publishes_two_topics) {  // and this many frames of the second as the parent says
  const cardan::Publisher<Small> open{kOpen};
  cardan::Publisher<Small> second{kSecond};
  for (int i = 0; i < 4; ++i) cardan::test::publish_next(second, 1, 0);
  cardan::test::say("ready");
  for (std::string word = cardan::test::hear(); !word.empty(); word = cardan::test::hear()) {
    for (int i = 0; i < std::stoi(word); ++i)
      if (!cardan::test::publish_next(second, 1, 0)) return 1;
    cardan::test::say("published");
  }
  return 0;
}

CARDAN_ROLE(holds_while_descriptors_lack) {
  cardan::set_log([](auto, const auto&) {});
  cardan::test::limit_descriptors(64);
  cardan::Subscriber<Small> second{kSecond, {.holds = 2}};
  const auto held = second.take();
  if (!held) return 1;
  cardan::test::say("holds");
  cardan::test::hear();  // the publisher is stopped: it answers later
  const cardan::Subscriber<Small> open{kOpen};
  std::vector<Fd> all = cardan::test::use_up_descriptors();
  cardan::test::say("used up");
  cardan::test::hear();  // it has answered, and published more than its slots
  cardan::test::say("intact " + std::to_string(cardan::test::intact(held) ? 1 : 0));
  all.clear();
  cardan::test::say("attached " +
                    std::to_string(cardan::test::eventually([&] { return open.publishers() == 1; }) ? 1 : 0));
  int good = 0;
  while (const auto sample = second.take()) good += cardan::test::intact(sample) ? 1 : 0;
  int died = 0;
  while (const auto event = second.event()) died += event->kind == Event::Kind::Died ? 1 : 0;
  cardan::test::say("good " + std::to_string(good) + " died " + std::to_string(died));
  return 0;
}

CARDAN_ROLE(publishes_without_descriptors) {
  cardan::set_log([](auto, const auto&) {});
  cardan::test::limit_descriptors(64);
  const cardan::Publisher<Small> open{kOpen};
  const cardan::Publisher<Small> second{kSecond};
  cardan::test::say("ready");
  cardan::test::hear();
  std::vector<Fd> all = cardan::test::use_up_descriptors();
  cardan::test::say("used up");
  cardan::test::hear();
  all.clear();
  cardan::test::say("there are some");
  cardan::test::hear();
  return 0;
}

/// Attaches every subscriber, and says args[0] of the attached stream afterwards; then it is gone.
CARDAN_ROLE(attaches_and_takes_back) {
  FalseProcess me;
  const cardan::detail::PublisherCore core("/open", cardan::detail::message_type_of<Small>(), kOpen.options, {});
  const cardan::detail::BellBoard bells;
  me.announce("/open");
  cardan::test::say("ready");
  bool attached = false;
  me.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) cardan::test::greet(peer);
        if (!is_op(m, "attach") || attached) return true;
        send_attached(peer, m, core, bells);
        const std::uint64_t id = args[1] == "all" ? 0 : cardan::test::id_of(m);
        peer.send(R"({"op":")" + args[0] + R"(","id":)" + std::to_string(id) +
                  R"(,"code":"access","why":"because","remedy":"none"})");
        attached = true;
        return true;
      },
      cardan::test::heard);
  return 0;
}

CARDAN_ROLE(waits_with_a_small_stack) {
  cardan::set_log([](auto, const auto&) {});
  const cardan::Subscriber<Small> in{kOpen};
  cardan::test::say("waits");
  cardan::test::hear();
  cardan::test::say("found " + std::to_string(cardan::test::eventually([&] { return in.publishers() != 0; }) ? 1 : 0));
  return 0;
}

namespace {

TEST_F(HostileConnection, ALackOfDescriptorsCostsNoSampleOfAnotherTopic) {
  Child publisher("publishes_two_topics");
  publisher.expect("ready");
  Child subscriber("holds_while_descriptors_lack");
  subscriber.expect("holds");
  publisher.signal(SIGSTOP);
  ASSERT_TRUE(cardan::test::eventually([&] { return cardan::test::is_stopped(publisher.pid()); }));
  subscriber.say("stopped");
  subscriber.expect("used up");
  publisher.signal(SIGCONT);
  publisher.say("3");  // after the answer, or soon after it
  publisher.expect("published");
  std::this_thread::sleep_for(300ms);  // the answer arrives, and whatever follows from it
  publisher.say("300");
  publisher.expect("published");
  subscriber.say("answered");
  EXPECT_EQ(subscriber.expect("intact"), "1") << "a sample that is held was refilled";
  EXPECT_EQ(subscriber.expect("attached"), "1");
  EXPECT_EQ(subscriber.expect("good"), "4 died 0");
  EXPECT_EQ(subscriber.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileConnection, APublisherWithoutDescriptorsKeepsTheReadersItHas) {
  Child publisher("publishes_without_descriptors");
  publisher.expect("ready");
  const auto target = cardan::test::target_of("/open");
  const RawPeer peer(target.socket);
  ASSERT_TRUE(peer && peer.hello());
  const cardan::detail::Area page = cardan::test::subscriber_page();
  ASSERT_TRUE(peer.send(cardan::test::attach_to(target, "/open", 1), {page.read_only_fd()}));
  ASSERT_TRUE(peer.receive_op("attached"));
  publisher.say("use them up");
  publisher.expect("used up");
  ASSERT_TRUE(peer.send(cardan::test::attach_to(target, "/open", 2), {page.read_only_fd()}));
  const auto answer = peer.receive();
  ASSERT_TRUE(answer) << "it hung up, and refills what its readers hold";
  EXPECT_TRUE(is_op(*answer, "refused")) << answer->text;
  EXPECT_NE(answer->text.find(R"("code":"limit")"), std::string::npos) << answer->text;
  publisher.say("free them");
  publisher.expect("there are some");
  ASSERT_TRUE(peer.send(cardan::test::attach_to(target, "/open", 3), {page.read_only_fd()}));
  EXPECT_TRUE(peer.receive_op("attached"));
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileConnection, AStreamThatIsTakenBackEnds) {
  for (const auto& how : std::vector<cardan::test::Args>{
           {"refused", "one"}, {"gone", "one"}, {"refused", "all"}, {"gone", "all"}, {"nonsense", "one"}}) {
    Child liar("attaches_and_takes_back", how, as_stranger());
    liar.expect("ready");
    std::atomic<int> joined{0};
    std::atomic<int> died{0};
    const cardan::Subscriber<Small> in{kOpen, {.on_event = [&](const Event& e) {
                                         joined += e.kind == Event::Kind::Joined ? 1 : 0;
                                         died += e.kind == Event::Kind::Died ? 1 : 0;
                                       }}};
    EXPECT_TRUE(cardan::test::eventually([&] { return joined == 1; })) << how[0];
    EXPECT_EQ(liar.end(), 0);
    EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 0 && died == 1; }))
        << how[0] << ", " << how[1] << ": a stream that nothing ends";
  }
}

TEST_F(HostileConnection, APublisherThatHangsUpKeepsTheSocketOpenUntilItsSamplesAreGone) {
  (void)cardan::detail::Process::of({});  // makes the domain's folder
  FalseProcess process;
  process.announce("/open");
  cardan::detail::PublisherCore core("/open", cardan::detail::message_type_of<Small>(), kOpen.options, {});
  const cardan::detail::BellBoard bells;
  const int slot = core.loan();
  ASSERT_GE(slot, 0);
  cardan::test::fill(*new (core.message(slot)) Small, cardan::test::key_of(1, 1), 0);
  core.publish(slot, 0, 0);
  std::atomic<bool> end{false};
  std::atomic<std::size_t> open{0};
  std::thread serving([&] {
    process.serve(
        [&](const RawPeer& peer, const cardan::socket::Message& m) {
          if (is_op(m, "hello")) cardan::test::greet(peer);
          if (is_op(m, "attach")) send_attached(peer, m, core, bells);
          if (is_op(m, "notify")) peer.send("no message");  // what it says at the end of this test
          return true;
        },
        [&] {
          open = process.open();
          return end.load();
        });
  });
  cardan::Subscriber<Small> in{kOpen};
  EXPECT_EQ(in.publishers(), 1U);
  auto sample = in.take();
  EXPECT_TRUE(sample);
  (void)in.fd();  // it notifies, is answered with nonsense, and hangs up
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 0; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(open, 1U) << "the publisher would refill a sample that is held";
  sample.reset();
  EXPECT_TRUE(cardan::test::eventually([&] { return open == 0; })) << "it is open for ever";
  end = true;
  serving.join();
}

// A dying process closes its connections some time before its listening socket, and meanwhile everybody can connect.
TEST_F(HostileConnection, OfAProcessThatIsDyingTheLastSamplesAreTaken) {
  (void)cardan::detail::Process::of({});  // makes the domain's folder
  for (const bool named : {true, false}) {
    HangsUp it;
    EXPECT_EQ(it.in->publishers(), 1U);
    it.publish(3);
    if (!named) it.process.withdraw();
    it.is_silent();
    it.process.die();
    std::vector<std::uint64_t> numbers;
    EXPECT_TRUE(cardan::test::eventually([&] {
      for (const std::uint64_t n : it.take_all()) numbers.push_back(n);
      return numbers.size() == 3;
    })) << numbers.size()
        << (named ? "" : ", without a name");
    EXPECT_TRUE(cardan::test::eventually([&] { return it.died == 1 && it.in->publishers() == 0; }));
    EXPECT_EQ(it.in->missed(), 0U);
  }
}

TEST_F(HostileConnection, OfAProcessThatWasSilentAndLivesNothingOldIsTaken) {
  (void)cardan::detail::Process::of({});  // makes the domain's folder
  HangsUp it;
  it.publish(1);
  EXPECT_EQ(it.take_all(), std::vector<std::uint64_t>{1});
  it.publish(2);
  it.is_silent();
  it.publish(7);  // the ring keeps four
  std::atomic<bool> end{false};
  std::thread serving([&] { it.serve_until([&] { return end.load(); }); });
  std::vector<std::uint64_t> numbers;
  EXPECT_TRUE(cardan::test::eventually([&] {
    for (const std::uint64_t n : it.take_all()) numbers.push_back(n);
    return numbers.size() == 4;
  })) << "it waits for ever";
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{7, 8, 9, 10}));
  EXPECT_EQ(it.in->missed(), 5U);
  EXPECT_EQ(it.died, 1);
  EXPECT_EQ(it.attached, 2);
  end = true;
  serving.join();
}

TEST_F(HostileConnection, AnAnswerOfManyNestedListsEndsNobody) {
  for (const char* op : {"attached", "refused"}) {
    Child subscriber("waits_with_a_small_stack", {}, [] {
      const rlimit small{256U << 10, 256U << 10};
      ::setrlimit(RLIMIT_STACK, &small);
    });
    subscriber.expect("waits");
    FalseProcess process;
    process.announce("/open");
    bool asked = false;
    const auto until = std::chrono::steady_clock::now() + 10s;
    process.serve(
        [&](const RawPeer& peer, const cardan::socket::Message& m) {
          if (is_op(m, "hello")) cardan::test::greet(peer);
          if (!is_op(m, "attach")) return true;
          constexpr std::size_t kDeep = 32'600;
          const bool all = op == std::string("refused");
          asked = peer.send(R"({"op":")" + std::string(op) + R"(","id":)" +
                            std::to_string(all ? 0 : cardan::test::id_of(m)) + R"(,"x":)" + std::string(kDeep, '[') +
                            std::string(kDeep, ']') + "}");
          return true;
        },
        [&] { return asked || std::chrono::steady_clock::now() > until; });
    EXPECT_TRUE(asked);
    std::this_thread::sleep_for(50ms);
    const cardan::Publisher<Small> honest{kOpen};
    subscriber.say("there is one");
    EXPECT_EQ(subscriber.expect("found"), "1");
    EXPECT_EQ(subscriber.end(), 0);
  }
}

}  // namespace
