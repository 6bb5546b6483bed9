// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/sockets_here.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"

namespace cardan::bridge::dds {
namespace {

/// Filters of a socket to which a library gave an address.
socklen_t filters_of_a_socket() {
  using Bind = int (*)(int, const sockaddr*, socklen_t);
  const auto bind_of_libraries = reinterpret_cast<Bind>(::dlsym(RTLD_DEFAULT, "bind"));
  const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind_of_libraries(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  socklen_t length = sizeof address;
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  EXPECT_NE(address.sin_port, 0);
  EXPECT_NO_THROW(require_sockets_here());
  socklen_t instructions = 0;
  EXPECT_EQ(::getsockopt(fd.get(), SOL_SOCKET, SO_GET_FILTER, nullptr, &instructions), 0);
  return instructions;
}

TEST(SocketsHere, ASocketHasItsFilterAsSoonAsItHasAnAddress) {
  receive_from_here_alone(true);
  EXPECT_GT(filters_of_a_socket(), 0U);
  receive_from_here_alone(false);
  EXPECT_EQ(filters_of_a_socket(), 0U);
}

TEST(SocketsHere, ASocketWithoutAFilterIsNotAccepted) {
  receive_from_here_alone(false);
  const Fd open(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  receive_from_here_alone(true);
  EXPECT_THROW(require_sockets_here(), Error);
  receive_from_here_alone(false);
  EXPECT_NO_THROW(require_sockets_here());
}

}  // namespace
}  // namespace cardan::bridge::dds
