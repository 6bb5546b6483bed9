// SPDX-License-Identifier: Apache-2.0
// Resources that peers of another user may use up: connections, descriptors, streams, attachments. Our own user's
// places stay free, whatever they do.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/transport/discovery/process.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Fd;
using cardan::test::as_stranger;
using cardan::test::Child;
using cardan::test::descriptors_of;
using cardan::test::FalseProcess;
using cardan::test::hung_up;
using cardan::test::is_op;
using cardan::test::kOpen;
using cardan::test::kOwn;
using cardan::test::RawPeer;
using cardan::test::Small;

class HostileShares : public cardan::test::OwnRunDirectory {
 protected:
  HostileShares() {
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});
  }
  ~HostileShares() override { cardan::set_log({}); }
};

/// Processor time of a process's helper threads (one for each domain), in seconds; −1: it has none.
double helper_time_of(pid_t pid) {
  double sum = -1;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator it(tasks, error), end; !error && it != end; it.increment(error)) {
    std::ifstream file(it->path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.find("(cardan-helper)") == std::string::npos) continue;
    std::istringstream rest(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) rest >> skipped;
    double user = 0;
    double system = 0;
    rest >> user >> system;
    sum = std::max(sum, 0.0) + (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return sum;
}

}  // namespace

CARDAN_ROLE(publishes_with_few_descriptors) {
  cardan::set_log([](auto, const auto&) {});
  if (args.size() > 1) cardan::test::limit_descriptors(static_cast<rlim_t>(std::stoul(args[1])));
  cardan::Publisher<Small> out{args[0] == "own" ? kOwn : kOpen};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(connects_often) {
  const auto target = cardan::test::target_of("/open");
  std::vector<RawPeer> open;
  for (int i = 0; i < 200; ++i) {
    RawPeer peer(target.socket);
    if (peer && peer.hello()) open.push_back(std::move(peer));
  }
  std::erase_if(open, hung_up);
  cardan::test::say("open " + std::to_string(open.size()));
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(knocks_at_the_owners_door) {
  const auto target = cardan::test::target_of("/own");
  std::vector<RawPeer> open;
  std::size_t told = 0;
  for (int i = 0; i < 100; ++i) {
    RawPeer peer(target.socket);
    const auto answer = peer ? peer.receive(2s) : std::nullopt;
    if (answer && is_op(*answer, "refused")) ++told;
    open.push_back(std::move(peer));
  }
  cardan::test::say("told " + std::to_string(told));
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(keeps_its_place) {  // attaches once, and again when the parent says so
  const auto target = cardan::test::target_of("/open");
  const RawPeer peer(target.socket);
  const cardan::detail::Area page = cardan::test::subscriber_page();
  if (!peer || !peer.hello() || !peer.send(cardan::test::attach_to(target, "/open", 1), {page.read_only_fd()}) ||
      !peer.receive_op("attached"))
    return 1;
  cardan::test::say("attached");
  cardan::test::hear();
  peer.send(cardan::test::attach_to(target, "/open", 2), {page.read_only_fd()});
  const auto answer = peer.receive(3s);
  cardan::test::say(!answer                      ? "answer none"
                    : is_op(*answer, "refused")  ? "answer refused"
                    : is_op(*answer, "attached") ? "answer attached"
                                                 : "answer " + answer->text);
  cardan::test::say(hung_up(peer) ? "first gone" : "first kept");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(asks_without_pause) {  // on this many connections
  const auto target = cardan::test::target_of("/open");
  std::vector<RawPeer> peers;
  for (int i = 0; i < std::stoi(args[0]); ++i) {
    peers.emplace_back(target.socket);
    if (!peers.back() || !peers.back().hello()) return 1;
  }
  cardan::test::say("asking");
  cardan::socket::Message m;
  while (!cardan::test::heard())
    for (const RawPeer& peer : peers) {
      peer.send(cardan::test::handshake::List{});
      cardan::socket::receive(peer.fd(), m);
    }
  return 0;
}

CARDAN_ROLE(talks_without_pause) {  // to every subscriber that attaches
  FalseProcess me;
  me.announce("/open");
  cardan::test::say("ready");
  int listens = -1;
  me.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) cardan::test::greet(peer);
        if (!is_op(m, "attach")) return true;
        cardan::test::say("talking");
        listens = peer.fd();
        return true;
      },
      [&] {
        const std::string again = cardan::test::handshake::encode(cardan::test::handshake::Hello{.name = "again"});
        for (int i = 0; i < 1000 && listens >= 0; ++i) cardan::socket::send(listens, again);
        return cardan::test::heard();
      });
  return 0;
}

CARDAN_ROLE(reads_no_answer) {
  const auto target = cardan::test::target_of("/open");
  const RawPeer peer(target.socket);
  if (!peer || !peer.hello()) return 1;
  for (std::uint64_t id = 1; id <= 2000; ++id) {
    peer.send(cardan::test::observe(target, "/open", id));
    peer.send(cardan::test::handshake::Detach{id});
    if (id % 50 == 0) std::this_thread::sleep_for(5ms);
  }
  cardan::test::say("asked");
  pollfd hang_up{.fd = peer.fd(), .events = 0, .revents = 0};
  cardan::test::say(::poll(&hang_up, 1, 60'000) == 1 ? "cut" : "kept");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(only_looks) {
  const auto target = cardan::test::target_of("/open");
  std::size_t attached = 0;
  std::vector<RawPeer> peers;
  for (int p = 0; p < 4; ++p) {
    peers.emplace_back(target.socket);
    if (!peers.back() || !peers.back().hello()) return 1;
    for (std::uint64_t id = 1; id <= 50; ++id) {
      peers.back().send(cardan::test::observe(target, "/open", id));
      const auto answer = peers.back().receive(2s);
      if (answer && is_op(*answer, "attached")) ++attached;
    }
  }
  cardan::test::say("attached " + std::to_string(attached));
  cardan::test::hear();
  return 0;
}

/// This many processes with an entry of the topic each, which say hello and nothing more.
CARDAN_ROLE(many_processes) {
  const int count = std::stoi(args[1]);
  std::vector<std::unique_ptr<FalseProcess>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(std::make_unique<FalseProcess>());
    all.back()->announce(args[0]);
  }
  cardan::test::say("ready");
  std::size_t asked = 0;
  const auto answer = [&](const RawPeer& peer, const cardan::socket::Message& m) {
    if (is_op(m, "hello")) cardan::test::greet(peer);
    if (is_op(m, "attach")) ++asked;
    return true;
  };
  while (!cardan::test::heard())
    for (auto& one : all) {
      int turns = 0;
      one->serve(answer, [&] { return turns++ != 0; });
    }
  cardan::test::say("asked " + std::to_string(asked));
  return 0;
}

CARDAN_ROLE(many_names) {  // of processes that do not exist, and of one socket with many names
  const std::string folder = cardan::test::domain_folder();
  const FalseProcess one;
  const auto count = static_cast<unsigned>(std::stoul(args[0]));
  const unsigned long long hash = cardan::detail::hash_name("/open");
  for (unsigned i = 0; i < count; ++i) {
    char name[96];
    std::snprintf(name, sizeof(name), "/t.%016llx.%016x.1", hash, i + 1);
    if (::symlink("/open", (folder + name).c_str()) != 0) return 1;
    if (i % 8 != 0) continue;
    std::snprintf(name, sizeof(name), "/p.%016x", i + 1);
    if (::link(one.socket_path().c_str(), (folder + name).c_str()) != 0) return 2;
  }
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

namespace {

TEST_F(HostileShares, ConnectionsOfManyOtherUsersLeaveOurUsersFree) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"open", "256"});
  publisher.expect("ready");
  std::vector<Child> all;
  std::size_t open = 0;
  for (unsigned i = 0; i < 8; ++i) all.emplace_back("connects_often", cardan::test::Args{}, as_stranger(i));
  for (Child& child : all) {
    const auto one = std::stoul(child.expect("open"));
    EXPECT_LE(one, 32U);
    open += one;
  }
  EXPECT_LE(open, 64U) << "a quarter of the descriptor limit for all other users";
  const cardan::Subscriber<Small> in{kOpen};
  EXPECT_EQ(in.publishers(), 1U) << "our own user is shut out";
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, AUserWithoutAccessIsSentAwayAtOnce) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"own"});
  publisher.expect("ready");
  const long before = descriptors_of(publisher.pid());
  Child knocks("knocks_at_the_owners_door", {}, as_stranger());
  EXPECT_EQ(knocks.expect("told"), "100");
  EXPECT_LE(descriptors_of(publisher.pid()), before + 2);
  EXPECT_EQ(knocks.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, UnreadAnswersCostAFewDescriptors) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"open"});
  publisher.expect("ready");
  const long before = descriptors_of(publisher.pid());
  Child reads_none("reads_no_answer", {}, as_stranger());
  reads_none.expect("asked");
  EXPECT_LE(descriptors_of(publisher.pid()), before + 12);
  const cardan::Subscriber<Small> in{kOpen};
  EXPECT_EQ(in.publishers(), 1U);
  reads_none.expect("cut");  // after the server's patience of 5 s
  EXPECT_LE(descriptors_of(publisher.pid()), before + 6) << "of our reader, and none of the one that was cut off";
  EXPECT_EQ(reads_none.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, AUserWithoutAShareForASecondTopicKeepsTheFirst) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"open", "256"});
  publisher.expect("ready");
  Child fifth("keeps_its_place", {}, as_stranger(4));
  fifth.expect("attached");
  std::vector<Child> others;  // a quarter of the limit is for other users, and a quarter of that for each
  for (unsigned i = 0; i < 4; ++i) {
    others.emplace_back("connects_often", cardan::test::Args{}, as_stranger(i));
    others.back().expect("open");
  }
  fifth.say("again");
  EXPECT_EQ(fifth.expect("answer"), "refused") << "it waits for what others have, as if it did not read";
  EXPECT_EQ(fifth.expect("first"), "kept");
  EXPECT_EQ(fifth.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, AUserThatAsksWithoutPauseGetsATenthOfTheHelperThread) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"open"});
  publisher.expect("ready");
  Child asks("asks_without_pause", {"32"}, as_stranger());
  asks.expect("asking");
  const auto begin = std::chrono::steady_clock::now();
  const double before = helper_time_of(publisher.pid());
  ASSERT_GE(before, 0);
  std::this_thread::sleep_for(3s);
  const double had = helper_time_of(publisher.pid()) - before;
  const double length = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(had, 0.2 * length + 0.1) << "of " << length
                                     << " s; a tenth is its share, the rest is what it takes to know it";
  const cardan::Subscriber<Small> in{kOpen};
  EXPECT_EQ(in.publishers(), 1U);
  EXPECT_EQ(asks.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, AProcessThatTalksWithoutPauseGetsATenthOfASubscribersHelperThread) {
  SKIP_UNLESS_ROOT();
  Child talks("talks_without_pause", {}, as_stranger());
  talks.expect("ready");
  const cardan::Subscriber<Small> in{kOpen};
  talks.expect("talking");
  const auto begin = std::chrono::steady_clock::now();
  const double before = helper_time_of(::getpid());
  ASSERT_GE(before, 0);
  std::this_thread::sleep_for(3s);
  const double had = helper_time_of(::getpid()) - before;
  const double length = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(had, 0.2 * length + 0.1) << "of " << length << " s";
  const cardan::Publisher<Small> honest{kOpen};
  EXPECT_EQ(in.publishers(), 1U);
  EXPECT_EQ(talks.end(), 0);
}

TEST_F(HostileShares, AnotherUserHasSixtyFourObservers) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_with_few_descriptors", {"open"});
  publisher.expect("ready");
  Child looks("only_looks", {}, as_stranger());
  EXPECT_EQ(looks.expect("attached"), "64");
  EXPECT_EQ(looks.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileShares, HoldsAndThreadsAreCheckedOneByOne) {
  const cardan::Publisher<Small> out{kOpen};
  const auto target = cardan::test::target_of("/open");
  const RawPeer peer(target.socket);
  ASSERT_TRUE(peer && peer.hello());
  const cardan::detail::Area page = cardan::test::subscriber_page();
  std::uint64_t id = 0;
  for (const char* more : {R"("holds":18446744073709551615,"threads":3)", R"("holds":3,"threads":18446744073709551615)",
                           R"("holds":0,"threads":5)", R"("holds":5,"threads":0)", R"("holds":201,"threads":1)"}) {
    ASSERT_TRUE(peer.send(cardan::test::attach_with(cardan::test::attach_to(target, "/open", ++id), more),
                          {page.read_only_fd()}));
    const auto answer = peer.receive();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(is_op(*answer, "refused")) << more << ": " << answer->text;
  }
  EXPECT_EQ(out.subscribers(), 0U);
}

TEST_F(HostileShares, OtherUsersHaveHalfOfASubscribersStreams) {
  SKIP_UNLESS_ROOT();
  std::vector<Child> all;
  for (unsigned i = 0; i < 4; ++i)
    all.emplace_back("many_processes", cardan::test::Args{"/open", "40"}, as_stranger(i));
  for (Child& child : all) child.expect("ready");
  const long before = descriptors_of(::getpid());
  const cardan::Subscriber<Small> in{kOpen};
  EXPECT_LE(descriptors_of(::getpid()), before + 80);
  const cardan::Publisher<Small> own{kOpen};
  Child another("publishes_with_few_descriptors", {"open"});
  another.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 2; })) << "our own publisher is not found";
  std::size_t asked = 0;
  for (Child& child : all) {
    child.close_input();
    const auto one = std::stoul(child.expect("asked"));
    EXPECT_LE(one, 16U);
    asked += one;
  }
  EXPECT_LE(asked, 32U);
  EXPECT_EQ(another.end(), 0);
}

TEST_F(HostileShares, ThousandsOfNamesNeitherStallNorUseUpDescriptors) {
  SKIP_UNLESS_ROOT();
  const cardan::Subscriber<Small> first{kOpen};  // it is told of each name
  const long before = descriptors_of(::getpid());
  Child names("many_names", {"6000"}, as_stranger());
  names.expect("ready");
  Child publisher("publishes_with_few_descriptors", {"open"});
  auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(cardan::test::eventually([&] { return first.publishers() == 1; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s) << "the flood of names comes first";
  began = std::chrono::steady_clock::now();
  const cardan::Subscriber<Small> second{kOpen};
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms);
  EXPECT_EQ(second.publishers(), 1U);
  EXPECT_LE(descriptors_of(::getpid()), before + 64);
  publisher.expect("ready");
  EXPECT_EQ(publisher.end(), 0);
  EXPECT_EQ(names.end(), 0);
}

TEST_F(HostileShares, ASubscriberRefusedForLackOfRoomAsksAgain) {
  (void)cardan::detail::Process::of({});
  FalseProcess full;
  cardan::Subscriber in{kOpen};
  full.announce("/open");
  int asked = 0;
  const auto until = cardan::steady_now() + 6'000'000'000;
  full.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) return cardan::test::greet(peer);
        if (!is_op(m, "attach")) return true;
        ++asked;
        return peer.send(cardan::test::handshake::Refused{.id = cardan::test::id_of(m),
                                                          .code = cardan::test::handshake::Reason::Limit,
                                                          .why = "full",
                                                          .remedy = "wait"});
      },
      [&] { return asked == 2 || cardan::steady_now() > until; });
  EXPECT_EQ(asked, 2);
}

}  // namespace
