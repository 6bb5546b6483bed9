// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/attached.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <utility>

#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {

void Attached::connect_notify(Fd socket) {
  // Accepts only one end of a socket pair that the subscriber's own user made. On any other descriptor, such as a
  // socket that is connected to another process, a write with our rights could have a meaning. For a pair the kernel
  // records its creator; for a datagram socket that was connected by name it does not. Processes of our own user and of
  // root may have changed their user since they attached.
  int domain = 0;
  int type = 0;
  ucred maker{};
  sockaddr_un peer_name{};
  socklen_t length = sizeof(domain);
  socklen_t type_length = sizeof(type);
  socklen_t maker_length = sizeof(maker);
  socklen_t name_length = sizeof(peer_name);
  if (notify_socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX ||
      ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 || type != SOCK_DGRAM ||
      ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &maker, &maker_length) != 0 ||
      (is_foreign(uid) && socket::user_of(maker.uid) != uid) ||
      ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer_name), &name_length) != 0 ||
      name_length > sizeof(sa_family_t))
    return;
  notify_socket = BoundFd(std::move(socket));
  notify.store(notify_socket.get(), std::memory_order_seq_cst);
  ::send(notify_socket.get(), "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // for earlier publications
}

}  // namespace cardan::detail
