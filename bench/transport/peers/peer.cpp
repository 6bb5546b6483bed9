// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peers/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

std::vector<PeerKind>& registered() {
  static std::vector<PeerKind> kinds;
  return kinds;
}

}  // namespace

RegisteredPeer::RegisteredPeer(const PeerKind& kind) {
  auto& kinds = registered();
  if (find_peer(name_of(kind.peer)) != nullptr) {
    fmt::print(stderr, "cardan bench: two peers are named `{}`\n", name_of(kind.peer));
    std::abort();
  }
  const auto at = std::upper_bound(kinds.begin(), kinds.end(), kind.place,
                                   [](int place, const PeerKind& other) { return place < other.place; });
  kinds.insert(at, kind);
}

const std::vector<PeerKind>& all_peers() { return registered(); }

std::string names_of_peers() {
  std::vector<std::string_view> names;
  for (const PeerKind& kind : all_peers())
    if (!kind.on_request) names.push_back(name_of(kind.peer));
  return fmt::format("{}", fmt::join(names, ","));
}

const PeerKind* find_peer(std::string_view name) {
  const auto& kinds = all_peers();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const PeerKind& k) { return name_of(k.peer) == name; });
  return found == kinds.end() ? nullptr : &*found;
}

const PeerKind& kind_of(const Peer& peer) {
  const PeerKind* const kind = find_peer(name_of(peer));
  if (kind == nullptr) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("the bench has no peer `{}`", name_of(peer)),
                "start the roles with the program that measures");
  }
  return *kind;
}

std::vector<Wait> waits_of(std::vector<Wait> always, const std::vector<Wait>& optional,
                           const std::vector<Wait>& wanted) {
  for (const Wait wait : optional)
    if (std::find(wanted.begin(), wanted.end(), wait) != wanted.end()) always.push_back(wait);
  return always;
}

std::vector<std::shared_ptr<void>> start_companions(const std::vector<Contender>& contenders, const std::string& folder,
                                                    const std::function<void(const std::string&)>& fail) {
  std::vector<std::shared_ptr<void>> companions;
  for (const Peer& peer : peers_of(contenders)) {
    const PeerKind& kind = kind_of(peer);
    if (kind.start_companion == nullptr) continue;
    try {
      companions.push_back(kind.start_companion(folder));
    } catch (const Error& e) {
      fail(fmt::format("{}: {}", name_of(peer), e.what()));
    }
  }
  return companions;
}

std::vector<Wait> block_only(const std::vector<Wait>& /*wanted*/) { return {Wait::Block}; }

std::string file_of_publisher(const char* peer, const Area& area, std::uint32_t publisher) {
  const char* const folder = std::getenv("CARDAN_RUN_DIR");
  std::string topic = area.header().topic;
  std::replace(topic.begin(), topic.end(), '/', '_');
  return fmt::format("{}/{}{}_{}", folder != nullptr ? folder : "/tmp", peer, topic, publisher);
}

}  // namespace cardan::bench
