// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/network.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "cardan/base/error.hpp"
#include "cardan/base/fd.hpp"

namespace cardan::bench {
namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw Error(ErrorCode::Unavailable, fmt::format("no network of its own: cannot {}: {}", what, std::strerror(error)),
              "run it as root, or allow user namespaces (kernel.unprivileged_userns_clone, kernel.apparmor_restrict_"
              "unprivileged_userns)");
}

/// With the rights of this user alone.
void enter_as_user() {
  const uid_t uid = ::getuid();
  const gid_t gid = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) fail("make a network namespace", errno);
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << fmt::format("{} {} 1\n", uid, uid);
  std::ofstream("/proc/self/gid_map") << fmt::format("{} {} 1\n", gid, gid);
}

sockaddr ipv4(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text, &address.sin_addr);
  sockaddr out{};
  std::memcpy(&out, &address, sizeof(out));
  return out;
}

}  // namespace

void enter_own_network() {
  if (::unshare(CLONE_NEWNET) != 0) enter_as_user();
  const Fd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!fd) fail("open a socket", errno);
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK | IFF_MULTICAST;
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &loopback) != 0) fail("set up loopback", errno);
  // Participants of DDS find each other by multicast.
  char device[] = "lo";
  rtentry multicast{};
  multicast.rt_dst = ipv4("224.0.0.0");
  multicast.rt_genmask = ipv4("240.0.0.0");
  multicast.rt_flags = RTF_UP;
  multicast.rt_dev = device;
  if (::ioctl(fd.get(), SIOCADDRT, &multicast) != 0 && errno != EEXIST) fail("route multicast to loopback", errno);
}

}  // namespace cardan::bench
