// SPDX-License-Identifier: Apache-2.0
// The policy file lies in a folder that others can write: what they put in its place lets nobody in, and nobody hangs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Error;
using cardan::test::Child;
using cardan::test::kStranger;
using cardan::test::kUser;
using cardan::test::Small;
namespace fs = std::filesystem;

constexpr cardan::Topic<Small> kByPolicy{"/guarded/policy", {.depth = 2, .access = cardan::Access::Policy}};
const std::string kLetsIn = R"({"topics": [{"topic": "/guarded/*", "users": [47110, 47111]}]})";

class PolicyAttacks : public cardan::test::OwnRunDirectory {
 protected:
  PolicyAttacks() { ::chmod(cardan::test::run_directory().c_str(), 01777); }
  ~PolicyAttacks() override { clear(); }
  void clear() const {
    std::error_code ignored;
    fs::remove_all(file_, ignored);
  }
  void write(const std::string& text, mode_t mode = 0644) const {
    std::ofstream(file_) << text;
    ::chmod(file_.c_str(), mode);
  }
  /// User kStranger's access to kUser's topic by the file in the policy's place. The publisher ends in time, whatever
  /// it was.
  std::string ask() const {
    Child publisher("offers_by_policy", {}, cardan::test::as_user(kUser));
    publisher.expect("ready");
    Child stranger("asks_by_policy", {}, cardan::test::as_user(kStranger));
    std::string answer = stranger.line(10s).value_or("(nothing)");
    publisher.say("");
    EXPECT_EQ(publisher.end(5s), 0) << "the publisher hangs";
    return answer;
  }
  const std::string file_ = cardan::test::run_directory() + "/policy.json";
};

}  // namespace

CARDAN_ROLE(offers_by_policy) {
  cardan::set_log([](auto, const auto&) {});
  const cardan::Publisher<Small> out{kByPolicy};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(asks_by_policy) {
  try {
    cardan::Subscriber<Small> in{
        cardan::Topic<Small>{kByPolicy.name, {.depth = 2, .access = cardan::Access::Everyone}}};
    const auto event = in.event();  // a refusal by a publisher of another user is not an error
    cardan::test::say(in.publishers() == 0 && event ? event->text : "attached " + std::to_string(in.publishers()));
  } catch (const Error& e) {
    cardan::test::say(e.what());
  }
  return 0;
}

namespace {

TEST_F(PolicyAttacks, OneThatRootOrThePublishersUserWroteCounts) {
  SKIP_UNLESS_ROOT();
  write(kLetsIn);
  EXPECT_EQ(ask(), "attached 1");
  ASSERT_EQ(::chown(file_.c_str(), kUser, kUser), 0);
  EXPECT_EQ(ask(), "attached 1");
}

TEST_F(PolicyAttacks, OneThatAnotherUserWroteLetsNobodyIn) {
  SKIP_UNLESS_ROOT();
  write(kLetsIn);
  ASSERT_EQ(::chown(file_.c_str(), kStranger, kStranger), 0);
  const std::string no = ask();
  EXPECT_NE(no.find("belongs to user 47110"), std::string::npos) << no;
  EXPECT_NE(no.find("chown root " + file_), std::string::npos) << "the remedy: " << no;
}

TEST_F(PolicyAttacks, OneThatOthersCanWriteLetsNobodyIn) {
  SKIP_UNLESS_ROOT();
  for (const mode_t mode : {0666U, 0664U, 0602U}) {
    write(kLetsIn, mode);
    ASSERT_EQ(::chown(file_.c_str(), kUser, kUser), 0);
    const std::string no = ask();
    EXPECT_NE(no.find("can be written by others"), std::string::npos) << no;
  }
}

TEST_F(PolicyAttacks, AFifoHangsNobody) {
  SKIP_UNLESS_ROOT();
  for (const uid_t owner : {uid_t{0}, uid_t{kStranger}}) {
    clear();
    ASSERT_EQ(::mkfifo(file_.c_str(), 0666), 0);
    ASSERT_EQ(::chown(file_.c_str(), owner, owner), 0);
    const std::string no = ask();
    EXPECT_NE(no.find("not a regular file"), std::string::npos) << no;
  }
}

TEST_F(PolicyAttacks, ALinkAFolderAndAnEndlessFileLetNobodyIn) {
  SKIP_UNLESS_ROOT();
  const std::string real = cardan::test::run_directory() + "/real.json";
  std::ofstream(real) << kLetsIn;
  ASSERT_EQ(::symlink(real.c_str(), file_.c_str()), 0);
  std::string no = ask();
  EXPECT_NE(no.find("is a link"), std::string::npos) << no;
  clear();
  fs::create_directory(file_);
  no = ask();
  EXPECT_NE(no.find("not a regular file"), std::string::npos) << no;
  clear();
  write(kLetsIn);
  ASSERT_EQ(::truncate(file_.c_str(), off_t{1} << 40), 0);  // a hole of a terabyte
  no = ask();
  EXPECT_NE(no.find("more than 1048576"), std::string::npos) << no;
}

}  // namespace
