// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/access.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>

#include "src/transport/discovery/policy.hpp"

namespace cardan::detail {
namespace {

using socket::kUnmapped;

bool is_us(const socket::Peer& peer) { return peer.uid == ::geteuid() && peer.uid != kUnmapped; }

}  // namespace

std::string refusal(Access access, const std::string& topic, const socket::Peer& peer, const std::string& run_dir) {
  switch (access) {
    case Access::Everyone:
      return {};
    case Access::Owner:
      if (is_us(peer)) return {};
      return fmt::format("it belongs to user {} alone, the peer is {}", ::geteuid(), socket::name_of_user(peer.uid));
    case Access::Group:
      if (is_us(peer) || socket::is_in_group(peer, ::getegid())) return {};
      return fmt::format("it belongs to group {} alone, and {} is not in it", ::getegid(),
                         socket::name_of_user(peer.uid));
    case Access::Policy:
      return Policy::refusal_by(Policy::file_in(run_dir), topic, peer);
  }
  return "unknown access rule";
}

bool may_be_accepted(Access access, uid_t owner) noexcept {
  return access != Access::Owner || (owner == ::geteuid() && owner != kUnmapped);
}

socket::Peer peer_by_database(uid_t user) {
  socket::Peer peer;
  peer.uid = user;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> room;
  if (user == kUnmapped || ::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return peer;
  peer.gid = entry.pw_gid;
  peer.groups.resize(64);
  int count = static_cast<int>(peer.groups.size());
  if (::getgrouplist(entry.pw_name, entry.pw_gid, peer.groups.data(), &count) < 0) count = 0;
  peer.groups.resize(static_cast<std::size_t>(count));
  return peer;
}

}  // namespace cardan::detail
