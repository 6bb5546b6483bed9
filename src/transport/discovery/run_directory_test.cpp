// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cardan/error.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using cardan::Error;
using cardan::ErrorCode;
using cardan::Fd;
using cardan::detail::folder_refusal;
using cardan::detail::RunDirectory;
using cardan::detail::TopicEntry;
namespace fs = std::filesystem;
namespace socket_ = cardan::socket;

constexpr std::uint64_t kHash = 0x1234;
constexpr uid_t kStranger = 47140;
constexpr uid_t kAnother = 47141;

std::string id(unsigned number) { return fmt::format("{:016x}", number); }

class RunDirectories : public cardan::test::OwnRunDirectory {
 protected:
  RunDirectories() : folder_(cardan::test::run_directory() + "/" + domain_), directory_(domain_) {}

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// The n-th publication of a process, with an owner.
  void link(unsigned process, unsigned serial, uid_t owner = ::geteuid(), std::uint64_t hash = kHash) const {
    directory_.add_topic({hash, id(process), serial}, "/topic");
    const std::string name = path(fmt::format("t.{:016x}.{}.{}", hash, id(process), serial));
    own(name, owner);
  }
  /// A socket's name whose process is dead.
  void corpse(unsigned process, uid_t owner = ::geteuid()) const { own(dead(path("p." + id(process))), owner); }
  static std::string dead(const std::string& path) {
    const Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0) << std::strerror(errno);
    return path;
  }
  static void own(const std::string& path, uid_t owner) {
    EXPECT_TRUE(owner == ::geteuid() || ::lchown(path.c_str(), owner, owner) == 0);
  }
  [[nodiscard]] std::size_t names() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static bool somebody_knocked(const Fd& listener) { return static_cast<bool>(socket_::accept_from(listener.get())); }

  std::string folder_;
  RunDirectory directory_;
};

struct stat with(uid_t owner, mode_t mode) {
  struct stat st{};
  st.st_uid = owner;
  st.st_mode = S_IFDIR | mode;
  return st;
}

}  // namespace

TEST(RunFolders, TheirPermittedOwnersAndWriters) {
  const uid_t us = ::geteuid();
  for (const uid_t owner : {uid_t{0}, us})
    for (const mode_t mode : {0700U, 0755U, 01777U, 01770U, 03770U}) EXPECT_EQ(folder_refusal(with(owner, mode)), "");
  EXPECT_NE(folder_refusal(with(us + 1, 0755)), "");
  EXPECT_EQ(folder_refusal(with(us + 1, 01777), us + 1), "") << "a domain of the run directory's owner";
  EXPECT_NE(folder_refusal(with(us + 2, 01777), us + 1), "");
  for (const mode_t mode : {0777U, 0770U, 0722U, 02775U}) EXPECT_NE(folder_refusal(with(us, mode)), "");
  const std::string why = folder_refusal(with(us + 1, 0755));
  EXPECT_NE(why.find(fmt::format("user {}", us + 1)), std::string::npos) << why;
  EXPECT_NE(why.find("0755"), std::string::npos) << why;
}

TEST(RunFolders, ALinkInThePlaceOfTheRunDirectoryIsRefused) {
  const std::string root = cardan::test::run_directory();
  const std::string link = root + "-link";
  fs::create_directory_symlink(root, link);
  for (const char* end : {"", "/", "/."}) {
    ::setenv("CARDAN_RUN_DIR", (link + end).c_str(), 1);
    try {
      const RunDirectory followed("any");
      ADD_FAILURE() << "'" << end << "' was followed";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::Unavailable);
      EXPECT_NE(e.cause().find("is a link"), std::string::npos) << e.what();
    }
  }
  ::setenv("CARDAN_RUN_DIR", root.c_str(), 1);
  fs::remove(link);
}

TEST(RunFolders, ADomainsNameCanBeTypedAndPrinted) {
  for (const std::string name :
       {"", "a b", " ", "a\nb", "a\tb", "\x1b[31mred", "\x7f", "a/b", ".", "..", ".a", "a.b", "ü", "a*"})
    try {
      const RunDirectory made(name);
      ADD_FAILURE() << "'" << name << "' was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(e.remedy().find("letters, digits"), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find_first_of("\n\t\x1b\x7f"), std::string::npos) << e.what();
    }
  cardan::test::run_directory();
  EXPECT_NO_THROW(RunDirectory("Car_2-b"));
}

TEST(RunFolders, OneThatWeMakeCanBeWrittenByUsAlone) {
  const std::string root = cardan::test::run_directory();
  const std::string made = root + "/new/deep";
  const mode_t before = ::umask(0);
  ::setenv("CARDAN_RUN_DIR", made.c_str(), 1);
  const RunDirectory directory("any");
  ::setenv("CARDAN_RUN_DIR", root.c_str(), 1);
  ::umask(before);
  struct stat st{};
  ASSERT_EQ(::stat(made.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 022, 0U);
  ASSERT_EQ(::stat(directory.path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 022, 0U);
}

TEST_F(RunDirectories, OnlyNamesThatCardanMakesAreEntries) {
  const std::string good = "t.00000000000012ab.0123456789abcdef.42";
  const auto entry = RunDirectory::parse(good);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->topic_hash, 0x12abU);
  EXPECT_EQ(entry->process, "0123456789abcdef");
  EXPECT_EQ(entry->serial, 42U);
  for (const std::string name :
       {"", "t.", "t.12ab.0123456789abcdef.1", "t.00000000000012ab.0123456789abcdef.",
        "t.00000000000012ab.0123456789abcdef", "t.00000000000012ab.0123456789abcdef.042",
        "t.00000000000012ab.0123456789abcdef.+2", "t.00000000000012ab.0123456789abcdef. 2",
        "t.00000000000012ab.0123456789abcdef.4294967296", "t.00000000000012ab.0123456789abcdef.1~",
        "t.00000000000012AB.0123456789abcdef.1", "t.+0000000000012ab.0123456789abcdef.1",
        "t.00000000000012ab.0123456789abcde.1", "p.0123456789abcdef"})
    EXPECT_FALSE(RunDirectory::parse(name)) << name;
  std::ofstream(path(good)) << "no link";
  EXPECT_TRUE(directory_.entries().empty());
  EXPECT_FALSE(directory_.entry(good));
  link(7, 3);
  ASSERT_EQ(directory_.entries().size(), 1U);
  EXPECT_EQ(directory_.entries().at(0).owner, ::geteuid());
  EXPECT_EQ(directory_.topic_of(directory_.entries().at(0)), "/topic");
  EXPECT_TRUE(directory_.entry(fmt::format("t.{:016x}.{}.3", kHash, id(7))));
}

TEST_F(RunDirectories, OursComeFirstAndEachOtherUserHasAShare) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  constexpr unsigned kMany = 100;
  corpse(1, kStranger);
  corpse(2, kAnother);
  for (unsigned i = 0; i < kMany; ++i) link(1, i, kStranger);
  for (unsigned i = 0; i < 3; ++i) link(2, i, kAnother);
  for (unsigned i = 0; i < kMany; ++i) link(3, i);
  for (unsigned i = 0; i < kMany; ++i) link(1, i, kStranger, kHash + 1);
  const auto listed = directory_.entries(kHash);
  ASSERT_EQ(listed.size(), kMany + RunDirectory::kTopicOfOne + 3);
  for (unsigned i = 0; i < kMany; ++i) EXPECT_EQ(listed[i].owner, 0U);
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(listed[kMany + i].owner, i % 2 == 0 ? kStranger : kAnother) << "in turns";
  for (std::size_t i = kMany + 6; i < listed.size(); ++i) EXPECT_EQ(listed[i].owner, kStranger);
  EXPECT_EQ(directory_.entries().size(), 3 * kMany + 3);
}

TEST_F(RunDirectories, ManyUsersTogetherHaveAShareToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  for (unsigned i = 0; i < 1500; ++i) {
    corpse(i, kStranger + i);
    link(i, 1, kStranger + i);
  }
  link(2000, 1);
  const auto listed = directory_.entries(kHash);
  EXPECT_EQ(listed.size(), RunDirectory::kTopicOfAll + 1);
  EXPECT_EQ(listed.at(0).process, id(2000));
}

TEST_F(RunDirectories, AnotherUsersLinkWithoutThatUsersSocketIsNotListed) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  const Fd ours = directory_.listen(id(1));
  link(1, 1);
  link(1, 2, kStranger);  // to our socket
  link(2, 1, kStranger);  // to none
  corpse(3, kAnother);
  link(3, 1, kStranger);
  const auto listed = directory_.entries(kHash);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.at(0).serial, 1U);
}

TEST_F(RunDirectories, TheOwnerIsKnownBeforeAnybodyConnects) {
  const Fd listener = directory_.listen(id(1));
  int error = 0;
  EXPECT_EQ(directory_.owner_of(id(1), error), ::geteuid());
  uid_t asked = socket_::kUnmapped;
  EXPECT_FALSE(directory_.connect(id(1), error, [&](uid_t owner) {
    asked = owner;
    return false;
  }));
  EXPECT_EQ(error, EPERM);
  EXPECT_EQ(asked, ::geteuid());
  EXPECT_FALSE(somebody_knocked(listener));
  EXPECT_TRUE(directory_.connect(id(1), error, [](uid_t) { return true; }));
  EXPECT_TRUE(somebody_knocked(listener));
}

TEST_F(RunDirectories, AFileThatIsNotASocketOfOneProcessIsNotConnectedTo) {
  int error = 0;
  const auto why_not = [&](unsigned process) {
    EXPECT_FALSE(directory_.connect(id(process), error));
    return error;
  };
  EXPECT_EQ(why_not(1), ENOENT);
  std::ofstream(path("p." + id(2))) << "no socket";
  EXPECT_EQ(why_not(2), ENOTSOCK);
  const Fd listener = directory_.listen(id(3));
  fs::create_symlink(path("p." + id(3)), path("p." + id(4)));
  EXPECT_EQ(why_not(4), ENOTSOCK);
  corpse(5);
  EXPECT_EQ(why_not(5), ECONNREFUSED);
  fs::create_hard_link(path("p." + id(3)), path("p." + id(6)));
  EXPECT_EQ(why_not(6), EMLINK);
  EXPECT_EQ(why_not(3), EMLINK);
  EXPECT_FALSE(somebody_knocked(listener));
  fs::remove(path("p." + id(6)));
  EXPECT_TRUE(directory_.connect(id(3), error));
}

TEST_F(RunDirectories, ASocketOfOneUserUnderTheNameOfAnotherIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  const Fd listener = directory_.listen(id(1));
  own(path("p." + id(1)), kStranger);
  int error = 0;
  EXPECT_EQ(directory_.owner_of(id(1), error), kStranger);
  EXPECT_FALSE(directory_.connect(id(1), error));
  EXPECT_EQ(error, EOWNERDEAD);
}

// Found by the fuzzer `listing`: the sweep took a socket with a lock's name for one of a process without a name.
TEST_F(RunDirectories, ASocketWithTheNameOfALockTakesNothingAlong) {
  for (const char* name : {"r.0123456789abcdef.2", "p."}) dead(path(name));
  directory_.sweep();
  EXPECT_TRUE(fs::exists(path("r.0123456789abcdef.2")));
  EXPECT_TRUE(fs::exists(path("p.")));
}

TEST_F(RunDirectories, ManyDeadProcessesAreRemovedAtOnce) {
  for (unsigned i = 0; i < 200; ++i) {
    corpse(i);
    link(i, 1);
    link(i, 2, ::geteuid(), kHash + 1);
  }
  const Fd alive = directory_.listen(id(999));
  link(999, 1);
  std::set<std::string> half;
  for (unsigned i = 0; i < 100; ++i) half.insert(id(i));
  directory_.remove_processes(half);
  EXPECT_EQ(names(), 100U * 3 + 2);
  directory_.sweep();
  EXPECT_EQ(names(), 2U);
  link(5, 1);  // without a socket
  directory_.sweep();
  EXPECT_EQ(names(), 2U);
  int error = 0;
  EXPECT_TRUE(directory_.connect(id(999), error));
}

TEST_F(RunDirectories, RootRemovesWhatOthersLeftAFewAtATime) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: needs root";
  constexpr unsigned kLinks = 3000;
  for (unsigned i = 0; i < kLinks; ++i) link(i, 1, kStranger);
  link(5000, 1);
  directory_.sweep();
  EXPECT_EQ(names(), kLinks - RunDirectory::kSweepOfOthers) << "and our own";
  directory_.sweep();
  directory_.sweep();
  EXPECT_EQ(names(), 0U);
}

TEST_F(RunDirectories, FilesOfOtherKindsAreNotRemoved) {
  const std::string process = id(1);
  std::ofstream(path("p." + process)) << "a file";
  std::ofstream(path(fmt::format("t.{:016x}.{}.1", kHash, process))) << "a file";
  directory_.remove_process(process);
  directory_.sweep();
  EXPECT_EQ(names(), 2U);
}

TEST_F(RunDirectories, AFolderThatWasRemovedAndMadeAgainIsFound) {
  link(1, 1);
  EXPECT_EQ(directory_.entries().size(), 1U);
  fs::remove_all(folder_);
  EXPECT_TRUE(directory_.entries().empty());
  const RunDirectory another(domain_);
  another.add_topic({kHash, id(2), 1}, "/topic");
  ASSERT_EQ(directory_.entries().size(), 1U);
  EXPECT_EQ(directory_.entries().at(0).process, id(2));
  directory_.add_topic({kHash, id(3), 1}, "/topic");
  EXPECT_EQ(another.entries().size(), 2U);
}

TEST_F(RunDirectories, AnotherFolderPutInItsPlaceIsNotUsedUnlessItIsSafe) {
  link(1, 1);
  fs::rename(folder_, folder_ + "-moved");
  const std::string home = folder_ + "-home";
  fs::create_directory(home);
  fs::create_directory_symlink(home, folder_);
  link(2, 1);
  EXPECT_EQ(directory_.entries().size(), 2U) << "the one that we know";
  directory_.remove_process(id(2));
  EXPECT_TRUE(fs::is_empty(home));
  EXPECT_EQ(directory_.entries().size(), 1U);
}

TEST_F(RunDirectories, NamesAreListedWithoutADescriptorLeft) {
  link(1, 1);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{std::min<rlim_t>(before.rlim_cur, 64), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::vector<Fd> all;
  for (Fd fd(::open("/", O_PATH | O_CLOEXEC)); fd; fd = Fd(::open("/", O_PATH | O_CLOEXEC)))
    all.push_back(std::move(fd));
  EXPECT_EQ(directory_.entries().size(), 1U);
  int error = 0;
  EXPECT_FALSE(directory_.connect(id(1), error));
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error, EMFILE) << "which does not mean that the process is dead";
}

TEST_F(RunDirectories, AListenersNameIsReachableByAnyone) {
  const mode_t before = ::umask(077);
  const Fd listener = directory_.listen(id(1));
  ::umask(before);
  struct stat st{};
  ASSERT_EQ(::lstat(directory_.socket_path(id(1)).c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0666U);
  EXPECT_EQ(names(), 1U) << "the name that it began with is gone";
}
