// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/network.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr int kNone = 77, kNoOther = 78;
constexpr std::uint16_t kPort = 7447;

sockaddr_in address_of(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

bool connects(const char* text) {
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in address = address_of(text);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

bool has_device(const char* name) { return ::if_nametoindex(name) != 0; }

/// The step that failed; 0: none.
int try_two_networks() {
  try {
    enter_own_network();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kNone;
  }
  try {
    const OtherNetwork other;
    if (connects(OtherNetwork::kThere)) return 8;
    const OtherNetwork::Joined joined(&other);
    const Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const sockaddr_in all = address_of("0.0.0.0");
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&all), sizeof(all)) != 0) return 1;
    if (::listen(listener.get(), 8) != 0) return 2;
    if (!connects("127.0.0.1") || !connects(OtherNetwork::kHere)) return 3;
    {
      const OtherNetwork::Inside inside(&other);
      if (!has_device("cardan1") || has_device("cardan0")) return 4;
      if (connects("127.0.0.1")) return 5;  // that is another loopback
      if (!connects(OtherNetwork::kHere)) return 6;
    }
    if (!has_device("cardan0") || has_device("cardan1")) return 7;
    const OtherNetwork::Inside nowhere(nullptr);
    return has_device("cardan0") ? 0 : 8;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kNoOther;
  }
}

TEST(BenchNetwork, ASecondOneIsReachedOverAVethPairAlone) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(try_two_networks());
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) >= kNone) GTEST_SKIP() << "no rights, or no veth, here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(has_device("cardan0")) << "nothing is left of it";
}

}  // namespace
}  // namespace cardan::bench
