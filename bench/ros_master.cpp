// SPDX-License-Identifier: Apache-2.0
#include "bench/ros_master.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "bench/transport/clock.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kMasterWithin = 20'000'000'000;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// Free now: should another program get it first, its user sees that the master there is not ours.
int free_port() {
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw Error(ErrorCode::System, fmt::format("no port of 127.0.0.1 for a ROS master: {}", std::strerror(errno)),
                "a loopback interface must be up");
  return ntohs(address.sin_port);
}

bool can_connect(int port) {
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in address = loopback(port);
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

std::string find_ros_master() { return find_program("rosmaster"); }

RosMaster::RosMaster(bool (*stopped)()) {
  const int port = free_port();
  environment_ = {{"ROS_MASTER_URI", fmt::format("http://127.0.0.1:{}", port)},
                  {"ROS_IP", "127.0.0.1"},
                  {"ROS_HOSTNAME", "127.0.0.1"},  // would go before ROS_IP
                  {"ROS_HOME", folder_.path()},
                  {"ROS_LOG_DIR", folder_.path()}};
  master_ =
      std::make_unique<Helper>(launcher::ChildOptions{.program = find_ros_master(),
                                                      .arguments = {"rosmaster", "--core", "-p", std::to_string(port)},
                                                      .environment = environment_});
  const std::int64_t until = now_ns() + kMasterWithin;
  while (!can_connect(port)) {
    if (stopped()) return;
    const auto ending = master_->wait(now_ns() + 20'000'000);
    if (!ending && now_ns() < until) continue;
    throw Error(ErrorCode::Unavailable,
                fmt::format("the ROS master {}: {}", ending ? text(*ending) : "did not answer within 20 s",
                            master_->last_line()),
                "see whether `rosmaster --core` runs by itself");
  }
  answers_ = true;
}

}  // namespace cardan::bench
