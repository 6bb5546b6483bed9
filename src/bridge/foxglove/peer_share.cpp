// SPDX-License-Identifier: Apache-2.0
// A TCP socket has no SO_PEERCRED. The kernel's socket monitoring (sock_diag(7)) knows the user of the other end.
#include "src/bridge/foxglove/peer_share.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "cardan/detail/fd.hpp"
#include "src/base/socket.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::bridge::foxglove {
namespace {

/// An address that is IPv4 within IPv6 is IPv4.
struct End {
  int family = AF_UNSPEC;
  std::uint16_t port = 0;  ///< as on the wire
  std::array<std::uint32_t, 4> address{};
};

End end_of(int socket, int (*name_of)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (name_of(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  End end{.family = storage.ss_family};
  if (end.family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &storage, sizeof(four));
    end.port = four.sin_port;
    end.address[0] = four.sin_addr.s_addr;
  } else if (end.family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof(six));
    end.port = six.sin6_port;
    std::memcpy(end.address.data(), &six.sin6_addr, sizeof(six.sin6_addr));
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
      end.family = AF_INET;
      end.address = {end.address[3]};
    }
  }
  return end;
}

/// Asks for the socket whose own end is `theirs` and whose other end is `ours`.
std::optional<uid_t> user_of(const End& ours, const End& theirs) {
  struct {
    nlmsghdr head{};
    inet_diag_req_v2 body{};
  } question;
  question.head = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST,
                   .nlmsg_seq = 1,
                   .nlmsg_pid = 0};
  question.body.sdiag_family = static_cast<std::uint8_t>(theirs.family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~std::uint32_t{0};
  inet_diag_sockid& id = question.body.id;
  id.idiag_sport = theirs.port;
  id.idiag_dport = ours.port;
  std::memcpy(id.idiag_src, theirs.address.data(), sizeof(id.idiag_src));
  std::memcpy(id.idiag_dst, ours.address.data(), sizeof(id.idiag_dst));
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const Fd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!kernel || ::send(kernel.get(), &question, sizeof(question), 0) != sizeof(question)) return std::nullopt;
  std::array<std::byte, 1024> bytes{};
  const ssize_t got = ::recv(kernel.get(), bytes.data(), bytes.size(), 0);
  nlmsghdr head{};
  inet_diag_msg answer{};
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(answer)))) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  std::memcpy(&answer, bytes.data() + NLMSG_HDRLEN, sizeof(answer));
  // Of a socket that listens, has no file any longer or waits for its end, the user is another one, or root.
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.idiag_state != TCP_ESTABLISHED || answer.idiag_inode == 0 ||
      answer.id.idiag_sport != id.idiag_sport || answer.id.idiag_dport != id.idiag_dport)
    return std::nullopt;
  return socket::user_of(answer.idiag_uid);
}

}  // namespace

std::string share_of_peer(int socket) {
  const End ours = end_of(socket, ::getsockname), theirs = end_of(socket, ::getpeername);
  const auto user = user_of(ours, theirs);
  if (user && *user != socket::kUnmapped) return detail::is_foreign(*user) ? "user " + std::to_string(*user) : "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(theirs.family, theirs.address.data(), text.data(), text.size()) == nullptr) return "nobody";
  return text.data();
}

}  // namespace cardan::bridge::foxglove
