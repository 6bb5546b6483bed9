// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/error.hpp"

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

constexpr const char* kOwnNetwork = "/proc/self/ns/net";
constexpr const char* kDevice = OtherNetwork::kDeviceHere;

[[noreturn]] void no_veth(const char* what, int error) {
  throw Error(ErrorCode::Unavailable, fmt::format("no second network: cannot {}: {}", what, std::strerror(error)),
              "run it as root, on a kernel with CONFIG_VETH");
}

[[noreturn]] void no_tap(int error) {
  throw Error(ErrorCode::Unavailable, fmt::format("no second network: cannot make a tap: {}", std::strerror(error)),
              "run it as root, on a kernel with CONFIG_TUN and with /dev/net/tun");
}

Fd own_network() {
  Fd fd{::open(kOwnNetwork, O_RDONLY | O_CLOEXEC)};
  if (!fd) no_veth("open its own network", errno);
  return fd;
}

/// One message to rtnetlink, built from the front.
class LinkMessage {
 public:
  LinkMessage() {
    append(nlmsghdr{.nlmsg_len = 0,
                    .nlmsg_type = RTM_NEWLINK,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
                    .nlmsg_seq = 1,
                    .nlmsg_pid = 0});
    append(ifinfomsg{});
  }
  template <class T>
  void append(const T& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
  }
  void add(unsigned short type, std::string_view value) {
    const std::size_t at = begin(type);
    const auto* const bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + value.size());
    end(at);
  }
  void add(unsigned short type, int value) {
    const std::size_t at = begin(type);
    append(value);
    end(at);
  }
  /// The bytes that are added until end() is inside.
  std::size_t begin(unsigned short type) {
    append(rtattr{.rta_len = 0, .rta_type = type});
    return bytes_.size() - sizeof(rtattr);
  }
  void end(std::size_t at) {
    const auto length = static_cast<unsigned short>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &length, sizeof(length));
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }
  /// Sends it and returns the kernel's error number; 0: done.
  int send() {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof(length));
    const Fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    if (!fd || ::send(fd.get(), bytes_.data(), bytes_.size(), 0) < 0) return errno;
    std::array<std::byte, 4096> answer{};
    const ssize_t got = ::recv(fd.get(), answer.data(), answer.size(), 0);
    if (got < 0) return errno;
    nlmsgerr said{};
    if (static_cast<std::size_t>(got) < NLMSG_HDRLEN + sizeof(said.error)) return EPROTO;
    std::memcpy(&said.error, answer.data() + NLMSG_HDRLEN, sizeof(said.error));
    return -said.error;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// A device here, and its other end in the network `there`.
void make_pair(const char* here, const char* other, const Fd& there) {
  LinkMessage message;
  message.add(IFLA_IFNAME, {here, std::strlen(here) + 1});
  const std::size_t info = message.begin(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "veth");
  const std::size_t data = message.begin(IFLA_INFO_DATA), peer = message.begin(VETH_INFO_PEER);
  message.append(ifinfomsg{});
  message.add(IFLA_IFNAME, {other, std::strlen(other) + 1});
  message.add(IFLA_NET_NS_FD, there.get());
  message.end(peer);
  message.end(data);
  message.end(info);
  if (const int error = message.send(); error != 0) no_veth("make a veth pair", error);
}

/// 0, or the error.
int switch_device(const char* device, bool up) {
  const Fd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request{};
  std::strcpy(request.ifr_name, device);
  if (!fd || ::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return errno;
  // The others stay: without IFF_MULTICAST, Cyclone DDS looks for nobody there.
  request.ifr_flags = static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  return ::ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
}

void bring_up(const char* device, const char* address) {
  const Fd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!fd) no_veth("open a socket", errno);
  ifreq request{};
  std::strcpy(request.ifr_name, device);
  if (address != nullptr) {
    request.ifr_addr = ipv4(address);
    if (::ioctl(fd.get(), SIOCSIFADDR, &request) != 0) no_veth("give it an address", errno);
    request.ifr_netmask = ipv4("255.255.255.0");
    if (::ioctl(fd.get(), SIOCSIFNETMASK, &request) != 0) no_veth("give it a netmask", errno);
  }
  if (const int error = switch_device(device, true); error != 0) no_veth("set it up", error);
}

/// An Ethernet device in the network of now, which is gone with its descriptor.
Fd make_tap(const char* name) {
  Fd fd{::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  ifreq request{};
  std::strcpy(request.ifr_name, name);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (!fd || ::ioctl(fd.get(), TUNSETIFF, &request) != 0) no_tap(errno);
  return fd;
}

}  // namespace

OtherNetwork::OtherNetwork(Cable cable) {
  const Fd here = own_network();
  if (::unshare(CLONE_NEWNET) != 0) no_veth("make a network namespace", errno);
  there_ = own_network();
  if (::setns(here.get(), CLONE_NEWNET) != 0) no_veth("go back", errno);
  if (cable == Cable::Veth)
    make_pair(kDevice, kDeviceThere, there_);
  else
    tap_here_ = make_tap(kDevice);
  bring_up(kDevice, kHere);
  if (const int error = switch_device(kDevice, false); error != 0) no_veth("set it down", error);
  const Inside inside(this);
  if (cable == Cable::Taps) tap_there_ = make_tap(kDeviceThere);
  bring_up("lo", nullptr);
  bring_up(kDeviceThere, kThere);
}

OtherNetwork::Joined::Joined(const OtherNetwork* network) {
  if (network == nullptr) return;
  if (const int error = switch_device(kDevice, true); error != 0) no_veth("set it up", error);
  up_ = true;
}

OtherNetwork::Joined::~Joined() {
  if (up_) (void)switch_device(kDevice, false);
}

OtherNetwork::Inside::Inside(const OtherNetwork* network) {
  if (network == nullptr) return;
  back_ = own_network();
  if (::setns(network->there_.get(), CLONE_NEWNET) != 0) no_veth("go to the other network", errno);
}

OtherNetwork::Inside::~Inside() {
  if (back_ && ::setns(back_.get(), CLONE_NEWNET) != 0) std::abort();  // all that follows would be in the wrong place
}

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
