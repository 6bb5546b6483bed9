// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/sockets_here.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cardan/error.hpp"

namespace cardan::bridge::dds {
namespace {

std::atomic<unsigned int> loopback{0};  ///< its number; 0: all may send
std::atomic<int> refusal{0};            ///< errno of the last filter that the kernel refused

bool is_network(sa_family_t family) noexcept { return family == AF_INET || family == AF_INET6; }

bool keep_others_out(int fd, unsigned int interface) noexcept {
  std::array<sock_filter, 4> filter{
      {{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX)},
       {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, interface},
       {BPF_RET | BPF_K, 0, 0, UINT32_MAX},
       {BPF_RET | BPF_K, 0, 0, 0}}};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0) return true;
  refusal.store(errno, std::memory_order_relaxed);
  return false;
}

bool has_filter(int fd) noexcept {
  socklen_t instructions = 0;  // how many there are, is asked
  return ::getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, nullptr, &instructions) == 0 && instructions > 0;
}

}  // namespace

void receive_from_here_alone(bool alone) {
  const unsigned int interface = alone ? ::if_nametoindex("lo") : 0;
  if (alone && interface == 0)
    throw Error(ErrorCode::Unavailable, "the interface 'lo' does not exist", "set it up: ip link set lo up");
  loopback.store(interface, std::memory_order_relaxed);
  refusal.store(0, std::memory_order_relaxed);
}

void require_sockets_here() {
  if (loopback.load(std::memory_order_relaxed) == 0) return;
  const auto refuse = [](int error) {
    throw Error(
        ErrorCode::Refused,
        fmt::format("the kernel does not keep others out of a socket (SO_ATTACH_FILTER): {}", std::strerror(error)),
        "let the container or the service permit this call; no privilege is needed for it");
  };
  if (const int error = refusal.load(std::memory_order_relaxed); error != 0) refuse(error);
  namespace fs = std::filesystem;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
    if (is_network(address.ss_family) && !has_filter(fd)) refuse(ENOSYS);
  }
}

}  // namespace cardan::bridge::dds

/// In place of the C library's: a filter that comes after the address lets in what arrives in between.
extern "C" [[gnu::visibility("default")]] int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  using namespace cardan::bridge::dds;
  const unsigned int interface = loopback.load(std::memory_order_relaxed);
  if (interface != 0 && address != nullptr && length >= sizeof address->sa_family && is_network(address->sa_family) &&
      !keep_others_out(fd, interface))
    return -1;
  return static_cast<int>(::syscall(SYS_bind, fd, address, length));
}
