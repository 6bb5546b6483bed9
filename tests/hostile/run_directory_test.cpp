// SPDX-License-Identifier: Apache-2.0
// A run directory that others can write: what they put there does not make us remove anything that is not Cardan's,
// does not let them in, does not take a topic away, and does not cost us much.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Access;
using cardan::Error;
using cardan::ErrorCode;
using cardan::Fd;
using cardan::test::Child;
using cardan::test::domain_folder;
using cardan::test::kStranger;
using cardan::test::kUser;
using cardan::test::Small;
namespace fs = std::filesystem;

constexpr unsigned kNobody = 65534;
constexpr std::int64_t kLongAgo = 100'000;  // s

constexpr cardan::Topic<Small> kGuardedAlone{"/guarded/alone", {.exclusive = true}};
constexpr cardan::Topic<Small> kOther{"/guarded/other", {.depth = 2}};
constexpr cardan::Topic<Small> kOurs{"/guarded/ours", {.depth = 2}};
constexpr cardan::Topic<Small> kGroups{"/guarded/group", {.depth = 2, .access = Access::Group}};

std::string link_name(const std::string& topic, const std::string& process, unsigned serial) {
  char name[64];
  std::snprintf(name, sizeof(name), "/t.%016llx.%s.%u",
                static_cast<unsigned long long>(cardan::detail::hash_name(topic)), process.c_str(), serial);
  return name;
}

void make_file(const std::string& path) { std::ofstream(path) << "ours"; }

void make_old(const std::string& path) {
  const timespec then{::time(nullptr) - kLongAgo, 0};
  const timespec both[2] = {then, then};
  ::utimensat(AT_FDCWD, path.c_str(), both, AT_SYMLINK_NOFOLLOW);
}

/// A socket's name in the folder; its maker does not listen any more.
Fd bound(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return {};
  return fd;
}

/// The error of starting Cardan in the domain; empty: no error.
std::string start() {
  try {
    const cardan::Publisher<Small> out{kOther};
    return {};
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable) << e.what();
    EXPECT_FALSE(e.remedy().empty());
    return e.what();
  }
}

class RunDirectoryAttacks : public cardan::test::OwnRunDirectory {
 protected:
  RunDirectoryAttacks() {
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});
  }
  ~RunDirectoryAttacks() override {
    cardan::set_log({});
    ::chmod(cardan::test::run_directory().c_str(), 01777);
  }
  /// The domain's folder, which is not there yet.
  static std::string no_domain() {
    fs::remove_all(domain_folder());
    return domain_folder();
  }
};

TEST_F(RunDirectoryAttacks, ADomainThatIsALinkIsRefusedAndNothingIsRemovedThere) {
  const std::string home = cardan::test::run_directory() + "/home-" + domain_;
  fs::create_directories(home);
  ::chmod(home.c_str(), 0700);
  const std::vector<std::string> names = {"id_rsa~", "p.0123456789abcdef~", "p.0123456789abcdef",
                                          "t.0000000000000001.0123456789abcdef.1"};
  for (const std::string& name : names) {
    make_file(home + "/" + name);
    make_old(home + "/" + name);
  }
  const std::string domain = no_domain();
  ASSERT_EQ(::symlink(home.c_str(), domain.c_str()), 0);
  const std::string why = start();
  EXPECT_NE(why.find(domain), std::string::npos) << why;
  EXPECT_NE(why.find("link"), std::string::npos) << why;
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(home + "/" + name)) << name;
}

TEST_F(RunDirectoryAttacks, OnlyNamesOfCardansMakingAreRemoved) {
  const std::string folder = domain_folder();
  fs::create_directories(folder);
  const std::vector<std::string> files = {"id_rsa~",
                                          "notes~",
                                          "p.0123456789abcdef~",
                                          "p.0123456789abcde~",
                                          "p.0123456789ABCDEF",
                                          "p.0123456789abcdee",
                                          "t.0000000000000001.0123456789abcdef.1",
                                          "t.0000000000000001.0123456789abcdef.x"};
  for (const std::string& name : files) {
    make_file(folder + "/" + name);
    make_old(folder + "/" + name);
  }
  ASSERT_EQ(::symlink("/x", (folder + "/t.0000000000000001.0123456789abcdef.01").c_str()), 0);
  ASSERT_EQ(::symlink("/x", (folder + "/t.0000000000000001.0123456789abcdef.2").c_str()), 0);  // what the dead leave
  const Fd dead = bound(folder + "/p.1111111111111111");
  const Fd killed = bound(folder + "/p.2222222222222222~");
  make_old(folder + "/p.2222222222222222~");
  const Fd beginning = bound(folder + "/p.3333333333333333~");
  EXPECT_EQ(start(), "");
  for (const std::string& name : files) EXPECT_TRUE(fs::exists(folder + "/" + name)) << name;
  EXPECT_TRUE(fs::is_symlink(folder + "/t.0000000000000001.0123456789abcdef.01")) << "not a name of ours";
  EXPECT_FALSE(fs::is_symlink(folder + "/t.0000000000000001.0123456789abcdef.2"));
  EXPECT_FALSE(fs::exists(folder + "/p.1111111111111111"));
  EXPECT_FALSE(fs::exists(folder + "/p.2222222222222222~"));
  EXPECT_TRUE(fs::exists(folder + "/p.3333333333333333~")) << "its process may be about to listen";
}

TEST_F(RunDirectoryAttacks, AFolderThatOthersCanWriteHasToBeSticky) {
  const std::string root = cardan::test::run_directory();
  const std::string domain = domain_folder();
  fs::create_directories(domain);
  for (const mode_t mode : {0777U, 0770U, 0775U, 0722U}) {
    ::chmod(domain.c_str(), mode);
    const std::string why = start();
    EXPECT_NE(why.find(domain), std::string::npos) << why;
    EXPECT_NE(why.find("sticky"), std::string::npos) << why;
    EXPECT_NE(why.find("install -d -o root -m 1777"), std::string::npos) << why;
    EXPECT_NE(why.find("chmod go-w " + cardan::test::run_directory()), std::string::npos) << why;
  }
  ::chmod(domain.c_str(), 0700);
  ::chmod(root.c_str(), 0777);
  EXPECT_NE(start().find("sticky"), std::string::npos);
  ::chmod(root.c_str(), 01777);
  ::chmod(domain.c_str(), 01770);
  EXPECT_EQ(start(), "");
}

TEST_F(RunDirectoryAttacks, ADomainOfAnotherUserIsRefused) {
  SKIP_UNLESS_ROOT();
  const std::string domain = domain_folder();
  fs::create_directories(domain);
  for (const mode_t mode : {01777U, 0755U}) {
    ::chmod(domain.c_str(), mode);
    ASSERT_EQ(::chown(domain.c_str(), kStranger, kStranger), 0);
    const std::string why = start();
    EXPECT_NE(why.find(domain), std::string::npos) << why;
    EXPECT_NE(why.find("user 47110"), std::string::npos) << why;
  }
  ASSERT_EQ(::chown(domain.c_str(), 0, 0), 0);
  EXPECT_EQ(start(), "");
}

}  // namespace

CARDAN_ROLE(starts) {
  const std::string why = start();
  cardan::test::say(why.empty() ? "fine" : why);
  return 0;
}

namespace {

TEST_F(RunDirectoryAttacks, ARunDirectoryOfAnotherUserIsRefused) {
  SKIP_UNLESS_ROOT();
  const std::string root = cardan::test::run_directory() + "/of-" + domain_;
  fs::create_directories(root + "/" + domain_);
  ::chmod(root.c_str(), 01777);
  ::chmod((root + "/" + domain_).c_str(), 01777);
  const auto from = [&](const char* role, const std::function<void()>& who) {
    ::setenv("CARDAN_RUN_DIR", root.c_str(), 1);
    Child c(role, {}, who);
    ::setenv("CARDAN_RUN_DIR", cardan::test::run_directory().c_str(), 1);
    return c.line().value_or("(nothing)");
  };
  EXPECT_EQ(from("starts", cardan::test::as_user(kUser)), "fine") << "root's";
  ASSERT_EQ(::chown(root.c_str(), kStranger, kStranger), 0);
  const std::string why = from("starts", cardan::test::as_user(kUser));
  EXPECT_NE(why.find(root), std::string::npos) << why;
  EXPECT_NE(why.find("user 47110"), std::string::npos) << why;
  EXPECT_NE(from("starts", {}), "fine") << "root, too";
  EXPECT_EQ(from("starts", cardan::test::as_user(kStranger)), "fine") << "its own";
}

TEST_F(RunDirectoryAttacks, AFolderMadeForAllStaysAndOneOfOurOwnGoes) {
  SKIP_UNLESS_ROOT();
  const std::string shared = domain_folder();
  Child in_shared("starts", {}, cardan::test::as_user(kUser));
  EXPECT_EQ(in_shared.line(), "fine");
  EXPECT_EQ(in_shared.end(), 0);
  EXPECT_TRUE(fs::is_directory(shared));
  Child root_in_shared("starts");
  EXPECT_EQ(root_in_shared.line(), "fine");
  EXPECT_EQ(root_in_shared.end(), 0);
  EXPECT_TRUE(fs::is_directory(shared)) << "the next user's process would make one for itself alone";
  const std::string own = no_domain();
  Child alone("waits_as_publisher", {}, cardan::test::as_user(kUser));
  alone.expect("ready");
  struct stat st{};
  ASSERT_EQ(::stat(own.c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, kUser);
  EXPECT_EQ(st.st_mode & 07777, 0700U) << "no other user could use it";
  alone.say("");
  EXPECT_EQ(alone.end(), 0);
  EXPECT_FALSE(fs::exists(own));
}

}  // namespace

CARDAN_ROLE(waits_as_publisher) {
  const cardan::Publisher<Small> out{kOurs};
  const cardan::Publisher<Small> to_group{kGroups};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

// squats TOPIC [PROCESS]: a link to a socket that nobody may connect to, or to another process.
CARDAN_ROLE(squats) {
  const std::string process = args.size() > 1 ? args[1] : "00000000deadbeef";
  Fd socket;
  if (args.size() == 1) {
    socket = bound(domain_folder() + "/p." + process);
    if (!socket || ::listen(socket.get(), 1) != 0) return 1;
    ::chmod((domain_folder() + "/p." + process).c_str(), 0);
  }
  if (::symlink(args[0].c_str(), (domain_folder() + link_name(args[0], process, 99)).c_str()) != 0) return 1;
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(takes_it_alone) {
  try {
    const cardan::Publisher<Small> out{kGuardedAlone};
    cardan::test::say("alone");
  } catch (const Error& e) {
    cardan::test::say(e.what());
  }
  return 0;
}

namespace {

TEST_F(RunDirectoryAttacks, AUserWhomTheTopicRefusesDoesNotTakeItsName) {
  SKIP_UNLESS_ROOT();
  Child squatter("squats", {kGuardedAlone.name}, cardan::test::as_user(kStranger));
  squatter.expect("ready");
  Child ours("takes_it_alone", {}, cardan::test::as_user(kUser));
  EXPECT_EQ(ours.line(), "alone");
  EXPECT_EQ(ours.end(), 0);
  Child roots("takes_it_alone");
  EXPECT_EQ(roots.line(), "alone");
}

TEST_F(RunDirectoryAttacks, ALinkToAnothersProcessDoesNotSpeakForIt) {
  SKIP_UNLESS_ROOT();
  Child honest("waits_as_publisher", {}, cardan::test::as_user(kUser));  // of other topics
  honest.expect("ready");
  std::string process;
  for (const auto& name : fs::directory_iterator(domain_folder()))
    if (const std::string file = name.path().filename(); file.starts_with("p.")) process = file.substr(2);
  ASSERT_EQ(process.size(), 16U);
  Child squatter("squats", {kGuardedAlone.name, process}, cardan::test::as_user(kStranger));
  squatter.expect("ready");
  Child ours("takes_it_alone", {}, cardan::test::as_user(kUser));
  EXPECT_EQ(ours.line(), "alone");
}

}  // namespace

CARDAN_ROLE(subscribes) {
  const bool group = args[0] == kGroups.name;
  cardan::set_log([](auto, const auto&) {});
  const std::int64_t before = cardan::steady_now();
  try {
    const cardan::Subscriber<Small> in{group ? cardan::Topic<Small>{kGroups.name, {.access = Access::Everyone}}
                                             : kOurs};
    cardan::test::say("attached " + std::to_string(in.publishers()));
  } catch (const Error& e) {
    cardan::test::say(e.what());
  }
  cardan::test::say("after " + std::to_string((cardan::steady_now() - before) / 1'000'000));
  return 0;
}

// plants TOPIC COUNT: links of processes that never were.
CARDAN_ROLE(plants) {
  char process[17];
  for (unsigned long i = 0; i < std::stoul(args[1]); ++i) {
    std::snprintf(process, sizeof(process), "%016lx", i + 1);
    if (::symlink(args[0].c_str(), (domain_folder() + link_name(args[0], process, 1)).c_str()) != 0) return 1;
  }
  return 0;
}

namespace {

/// A run directory in memory, as a real one is: a test with many names should not wait for a disk.
class InMemory {
 public:
  InMemory() {
    char name[] = "/dev/shm/cardan-test-XXXXXX";
    if (::access("/dev/shm", W_OK) != 0 || ::mkdtemp(name) == nullptr) return;
    path_ = name;
    ::setenv("CARDAN_RUN_DIR", name, 1);
    ::chmod(name, 01777);
    fs::create_directory(domain_folder());
    ::chmod(domain_folder().c_str(), 01777);
  }
  InMemory(const InMemory&) = delete;
  InMemory& operator=(const InMemory&) = delete;
  ~InMemory() {
    std::error_code ignored;
    ::setenv("CARDAN_RUN_DIR", cardan::test::run_directory().c_str(), 1);
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

 private:
  std::string path_;
};

TEST_F(RunDirectoryAttacks, FortyThousandNamesOfAnotherUserHardlyDelayASubscriber) {
  SKIP_UNLESS_ROOT();
  const InMemory run_directory;
  EXPECT_EQ(Child("plants", {kOurs.name, "40000"}, cardan::test::as_user(kStranger)).end(60s), 0);
  Child honest("waits_as_publisher", {}, cardan::test::as_user(kUser));
  honest.expect("ready");
  Child reader("subscribes", {kOurs.name}, cardan::test::as_user(kUser));
  EXPECT_EQ(reader.line(60s), "attached 1");
  const long ours = std::stol(reader.expect("after"));
  Child root("subscribes", {kOurs.name});  // it may remove what it finds, and does not do so for ever
  const long roots = std::stol(root.expect("after", 60s));
  const std::int64_t before = cardan::steady_now();
  std::size_t links = 0;
  for (const auto& name : fs::directory_iterator(domain_folder())) links += fs::is_symlink(name.symlink_status());
  const long pass = (cardan::steady_now() - before) / 1'000'000 + 1;
  EXPECT_GT(links, 30'000U);
  // A few passes over the folder, not one for each name.
  EXPECT_LT(ours, 1000 + 20 * pass) << "ms, one pass takes " << pass;
  EXPECT_LT(roots, 1000 + 20 * pass) << "ms, one pass takes " << pass;
  std::printf("  with 40,000 planted names: %ld ms, as root %ld ms; one pass over the folder takes %ld ms\n", ours,
              roots, pass);
}

TEST_F(RunDirectoryAttacks, User65534IsAUserWhereAllIdsAreMapped) {
  SKIP_UNLESS_ROOT();
  Child honest("waits_as_publisher", {}, cardan::test::as_user(kNobody));
  honest.expect("ready");
  Child same("subscribes", {kOurs.name}, cardan::test::as_user(kNobody));
  EXPECT_EQ(same.line(), "attached 1");
  Child stranger("subscribes", {kOurs.name}, cardan::test::as_user(kStranger));
  EXPECT_NE(stranger.line(), "attached 1");
  Child of_group("subscribes", {kGroups.name}, cardan::test::as_user(kStranger, kNobody));
  EXPECT_EQ(of_group.line(), "attached 1") << "its group is one, too";
  Child of_none("subscribes", {kGroups.name}, cardan::test::as_user(kStranger));
  EXPECT_NE(of_none.line(), "attached 1");
}

}  // namespace

CARDAN_ROLE(begins_to_listen) {
  try {
    const Fd listener = cardan::socket::listen_at(domain_folder() + "/p.0123456789abcdef");
    cardan::test::say("listens");
  } catch (const Error& e) {
    cardan::test::say(e.what());
  }
  return 0;
}

namespace {

TEST_F(RunDirectoryAttacks, NobodyCanForeseeTheNameUnderWhichASocketBegins) {
  SKIP_UNLESS_ROOT();
  const std::string folder = domain_folder();
  fs::create_directories(folder);
  ::chmod(folder.c_str(), 01777);
  make_file(folder + "/p.0123456789abcdef~");
  ASSERT_EQ(::chown((folder + "/p.0123456789abcdef~").c_str(), kStranger, kStranger), 0);
  Child user("begins_to_listen", {}, cardan::test::as_user(kUser));
  EXPECT_EQ(user.line(), "listens");
  EXPECT_TRUE(fs::exists(folder + "/p.0123456789abcdef~"));
  struct stat st{};
  ASSERT_EQ(::stat((folder + "/p.0123456789abcdef").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0666U) << "the handshake decides about access";
}

}  // namespace
