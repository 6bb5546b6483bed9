// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/access.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cardan/memory/error.hpp"

namespace cardan::detail {
namespace {

using socket::kUnmapped;

std::optional<unsigned> user_id(const nlohmann::json& j) {
  if (j.is_number_unsigned()) return j.get<unsigned>();
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  ::getpwnam_r(j.get<std::string>().c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? std::optional<unsigned>(found->pw_uid) : std::nullopt;
}

std::optional<unsigned> group_id(const nlohmann::json& j) {
  if (j.is_number_unsigned()) return j.get<unsigned>();
  group entry{};
  group* found = nullptr;
  std::array<char, 16384> buffer;
  ::getgrnam_r(j.get<std::string>().c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? std::optional<unsigned>(found->gr_gid) : std::nullopt;
}

bool in_group(const socket::Peer& peer, unsigned gid) {
  if (gid == kUnmapped) return false;
  return peer.gid == gid || std::find(peer.groups.begin(), peer.groups.end(), gid) != peer.groups.end();
}

std::string by_policy(const std::string& topic, const socket::Peer& peer, const std::string& run_dir) {
  const char* configured = std::getenv("CARDAN_POLICY");
  const std::string file = configured != nullptr && *configured != '\0' ? configured : run_dir + "/policy.json";
  std::ifstream in(file);
  if (!in) return "there is no policy file " + file + ", so nobody is allowed";
  try {
    const nlohmann::json policy = nlohmann::json::parse(in);
    for (const auto& rule : policy.at("topics")) {
      if (::fnmatch(rule.at("topic").get<std::string>().c_str(), topic.c_str(), 0) != 0) continue;
      for (const auto& user : rule.value("users", nlohmann::json::array()))
        if (const auto id = user_id(user); id && *id == peer.uid && *id != kUnmapped) return {};
      for (const auto& group : rule.value("groups", nlohmann::json::array()))
        if (const auto id = group_id(group); id && in_group(peer, *id)) return {};
      return fmt::format("user {} is on no list of the policy {} for this topic", peer.uid, file);
    }
    return "the policy " + file + " has no rule for this topic";
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::InvalidArgument, "the policy file " + file + " cannot be read: " + e.what(),
                R"(write it as {"topics": [{"topic": "/camera/*", "users": ["name"], "groups": ["name"]}]})");
  }
}

}  // namespace

std::string refusal(Access access, const std::string& topic, const socket::Peer& peer, const std::string& run_dir) {
  switch (access) {
    case Access::Everyone:
      return {};
    case Access::Owner:
      if (peer.uid == ::geteuid() && peer.uid != kUnmapped) return {};
      return fmt::format("it belongs to user {} alone, the peer is user {}", ::geteuid(), peer.uid);
    case Access::Group:
      if ((peer.uid == ::geteuid() && peer.uid != kUnmapped) || in_group(peer, ::getegid())) return {};
      return fmt::format("it belongs to group {} alone, and user {} is not in it", ::getegid(), peer.uid);
    case Access::Policy:
      return by_policy(topic, peer, run_dir);
  }
  return "unknown access rule";
}

}  // namespace cardan::detail
