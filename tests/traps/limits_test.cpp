// SPDX-License-Identifier: Apache-2.0
// The known traps of the design: limits of the system, run directories that cannot be used, names that the dead or
// others left.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/detail/atomic.hpp"
#include "cardan/log.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/traps/traps.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::ErrorCode;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::error_line;
using cardan::test::kSmall;
using cardan::test::report;
using cardan::test::Small;
using cardan::test::Traps;

}  // namespace

CARDAN_ROLE(publishes_once) {
  cardan::Publisher<Big> out{cardan::test::kBig};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

const cardan::Topic<Small> kOnlyOne{"/traps/only_one", {.exclusive = true}};

CARDAN_ROLE(publishes_alone) {
  return report([] {
    const cardan::Publisher out{kOnlyOne};
    cardan::test::say("ready");
    cardan::test::hear();
  });
}

CARDAN_ROLE(tries_to_be_alone) {
  const cardan::Publisher other{kSmall};  // so that set-up of the process is over
  cardan::test::say("ready");
  for (std::string at = cardan::test::hear(); !at.empty(); at = cardan::test::hear()) {
    while (cardan::steady_now() < std::stoll(at)) cardan::cpu_relax();
    std::optional<cardan::Publisher<Small>> out;
    try {
      out.emplace(kOnlyOne);
    } catch (const cardan::Error&) {
      out.reset();
    }
    cardan::test::say(out ? "alone" : "taken");
    cardan::test::hear();
    out.reset();
    cardan::test::say("ended");
  }
  return 0;
}

CARDAN_ROLE(both_ends) {
  return report([] {
    cardan::Publisher out{kSmall};
    cardan::Subscriber in{kSmall};
    (void)in.fd();
    cardan::test::publish_next(out, 1, 0);
    if (!in.wait(5s)) throw std::runtime_error("nothing came");
  });
}

TEST_F(Traps, TooFewDescriptorsIsAnErrorWithTheRemedy) {
  int fine = 0;
  for (rlim_t limit = 3; limit <= 24; ++limit) {
    Child few("both_ends", {}, [limit] {
      const rlimit r{limit, limit};
      ::setrlimit(RLIMIT_NOFILE, &r);
    });
    const auto line = few.line();
    const int code = few.end();
    if (code == 127 || !line) {
      EXPECT_LT(limit, 6U) << "exit " << code;  // not even the loader could open its files
      continue;
    }
    fine += *line == "fine" ? 1 : 0;
    EXPECT_EQ(code, 0) << limit << ": " << *line;
    if (*line != "fine") {
      EXPECT_TRUE(line->starts_with(error_line(ErrorCode::Limit)) ||
                  line->starts_with(error_line(ErrorCode::Unavailable)))
          << limit << ": " << *line;
    }
  }
  EXPECT_GE(fine, 1);
}

CARDAN_ROLE(exhausts_inotify) {
  const auto limit = rlimit{65536, 65536};
  ::setrlimit(RLIMIT_NOFILE, &limit);
  int taken = 0;
  while (::inotify_init1(IN_CLOEXEC) >= 0 && taken < 60'000) ++taken;
  int refused = 0;
  cardan::set_log([](auto, const auto&) {});
  cardan::Subscriber in{
      kSmall, {.on_event = [&](const cardan::Event& e) {
        refused += e.kind == cardan::Event::Kind::Incompatible || e.kind == cardan::Event::Kind::Refused ? 1 : 0;
      }}};
  cardan::test::say("ready");
  const bool got = static_cast<bool>(in.wait(20s));
  std::this_thread::sleep_for(1s);
  cardan::test::say("got " + std::to_string(got) + " refused " + std::to_string(refused));
  return 0;
}

TEST_F(Traps, WithoutInotifyPublishersAreFoundAllTheSame) {
  SKIP_UNLESS_ROOT();  // it uses up all instances of a user, which must not be the one that runs this
  ::chmod(cardan::test::run_directory().c_str(), 01777);
  Child blind("exhausts_inotify", {}, cardan::test::as_user(47113));
  blind.expect("ready");
  const cardan::Topic<Big> other{kSmall.name, {.access = cardan::Access::Everyone}};
  const cardan::Publisher<Big> misfit{other};  // another type: told once, not at each look
  Child good("open_publisher", {}, cardan::test::as_user(47113));
  EXPECT_EQ(blind.expect("got", 40s), "1 refused 1");
  EXPECT_EQ(blind.end(), 0);
}

CARDAN_ROLE(open_publisher) {
  cardan::Publisher out{kSmall};
  while (!cardan::test::heard()) {
    cardan::test::publish_next(out, 1, 0);
    std::this_thread::sleep_for(5ms);
  }
  return 0;
}

TEST_F(Traps, TheRunDirectorysPathMayBeLong) {  // the kernel's addresses have room for 107 bytes
  const std::string deep_folder =
      cardan::test::run_directory() + "/" + std::string(90, 'x') + "/" + std::string(90, 'y');
  std::filesystem::create_directories(deep_folder);
  ::setenv("CARDAN_RUN_DIR", deep_folder.c_str(), 1);
  Child writer("open_publisher");
  Child reader("both_ends");
  ::setenv("CARDAN_RUN_DIR", cardan::test::run_directory().c_str(), 1);
  EXPECT_EQ(reader.line().value_or(""), "fine");
  EXPECT_EQ(reader.end(), 0);
  writer.say("");
  EXPECT_EQ(writer.end(), 0);
}

TEST_F(Traps, AnUnusableRunDirectoryNamesPathAndRemedy) {
  const std::string& root = cardan::test::run_directory();
  const auto try_with = [&](const std::string& folder, const std::function<void()>& before = {}) {
    ::setenv("CARDAN_RUN_DIR", folder.c_str(), 1);
    Child c("both_ends", {}, before);
    ::setenv("CARDAN_RUN_DIR", root.c_str(), 1);
    const auto line = c.line().value_or("");
    EXPECT_TRUE(line.starts_with(error_line(ErrorCode::Unavailable))) << line;
    EXPECT_NE(line.find(folder), std::string::npos) << line;
    EXPECT_NE(line.find("CARDAN_RUN_DIR"), std::string::npos) << line;
    EXPECT_EQ(c.end(), 0);
  };
  std::ofstream(root + "/file") << "no folder";
  try_with(root + "/file");
  try_with("/proc/cardan");
  if (cardan::test::is_root()) {
    std::filesystem::create_directories(root + "/closed");
    ::chmod(root.c_str(), 0755);
    ::chmod((root + "/closed").c_str(), 0755);
    try_with(root + "/closed", cardan::test::as_user(47114));
  }
}

TEST_F(Traps, LeftoversOfAKilledProcessAreRemovedByTheNext) {
  Child killed("publishes_once");
  killed.expect("ready");
  EXPECT_EQ(cardan::test::names_in(folder()), 2U) << "a socket and an entry";
  killed.kill();
  EXPECT_EQ(cardan::test::names_in(folder()), 2U);
  Child next("publishes_once");
  next.expect("ready");
  EXPECT_EQ(cardan::test::names_in(folder()), 2U) << "its own two";
  EXPECT_EQ(next.end(), 0);
  EXPECT_EQ(cardan::test::names_in(folder()), 0U);
}

TEST_F(Traps, AnEntryThatOnlyLooksLikeOursIsNotOurs) {
  const cardan::Publisher real{kSmall};
  // The same hash, another name: as if two names collided; and an entry of a process that does not exist.
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(cardan::detail::hash_name(kSmall.name)));
  const std::string process =
      std::filesystem::path(cardan::test::sockets_in(folder()).at(0)).filename().string().substr(2);
  EXPECT_EQ(::symlink("/another/name", (folder() + "/t." + hash + "." + process + ".77").c_str()), 0);
  EXPECT_EQ(::symlink(kSmall.name, (folder() + "/t." + hash + ".00000000deadbeef.1").c_str()), 0);
  EXPECT_EQ(::symlink(kSmall.name, (folder() + "/t." + hash + "." + process + ".78").c_str()), 0);
  Child reader("one_sample");
  reader.expect("ready");
  EXPECT_EQ(reader.expect("publishers"), "1");
  EXPECT_EQ(reader.end(), 0);
}

CARDAN_ROLE(one_sample) {
  const cardan::Subscriber in{kSmall};
  cardan::test::say("ready");
  std::this_thread::sleep_for(100ms);
  cardan::test::say("publishers " + std::to_string(in.publishers()));
  return 0;
}

TEST_F(Traps, ATakenNameIsAnErrorThatNamesTheOther) {
  Child first("publishes_alone");
  first.expect("ready");
  Child second("publishes_alone");
  const std::string line = second.line().value_or("");
  EXPECT_TRUE(line.starts_with(error_line(ErrorCode::NameTaken))) << line;
  EXPECT_NE(line.find("/traps/only_one"), std::string::npos) << line;
  EXPECT_NE(line.find("pid " + std::to_string(first.pid())), std::string::npos) << line;
  second.end();
  // Nothing remains of a refused peer, nor of a dead one.
  first.kill();
  Child third("publishes_alone");
  third.expect("ready");
  third.say("");
  EXPECT_EQ(third.end(), 0);
}

TEST_F(Traps, ATakenNameInOneProcessToo) {
  const cardan::Publisher first{kOnlyOne};
  try {
    const cardan::Publisher second{kOnlyOne};
    ADD_FAILURE() << "a second publisher of this process";
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::NameTaken) << e.what();
  }
  EXPECT_EQ(first.subscribers(), 0U);
}

TEST_F(Traps, OfTwoThatStartAtOnceAtMostOneStays) {
  std::array<Child, 2> both{Child("tries_to_be_alone"), Child("tries_to_be_alone")};
  for (Child& child : both) child.expect("ready");
  int alone = 0;
  for (int round = 0; round < 300; ++round) {
    // Both look at the clock for the same instant: closer together than two pipes could start them.
    const std::string at = std::to_string(cardan::steady_now() + 1'000'000);
    for (const Child& child : both) child.say(at);
    int stayed = 0;
    for (Child& child : both) stayed += child.line().value_or("") == "alone" ? 1 : 0;
    ASSERT_LE(stayed, 1) << "in round " << round;
    alone += stayed;
    for (const Child& child : both) child.say("end it");
    for (Child& child : both) child.expect("ended");
  }
  EXPECT_GT(alone, 0);
}
