// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/policy.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/trusted_file.hpp"

namespace cardan::detail {
namespace {

using nlohmann::json;
using socket::kUnmapped;

std::atomic<std::size_t> parses{0};

/// Reads one record of the user database. The buffer grows, because a group can have thousands of members.
template <typename Record, typename Find>
std::optional<Record> look_up(const std::string& name, const Find& find) {
  Record record{};
  Record* found = nullptr;
  std::vector<char> room(4096);
  while (find(name.c_str(), &record, room.data(), room.size(), &found) == ERANGE && room.size() < (1U << 20))
    room.resize(room.size() * 2);
  return found != nullptr ? std::optional<Record>(record) : std::nullopt;
}

std::optional<unsigned> user_id(const std::string& name) {
  const auto user = look_up<passwd>(name, ::getpwnam_r);
  return user ? std::optional<unsigned>(user->pw_uid) : std::nullopt;
}

std::optional<unsigned> group_id(const std::string& name) {
  const auto found = look_up<group>(name, ::getgrnam_r);
  return found ? std::optional<unsigned>(found->gr_gid) : std::nullopt;
}

Error unreadable(const std::string& file, const std::string& why) {
  return {ErrorCode::InvalidArgument, "the policy file " + file + " cannot be read: " + why,
          R"(write it as {"topics": [{"topic": "/camera/*", "users": ["name"], "groups": ["name"]}]})"};
}

}  // namespace

Policy::Policy(std::string_view text, std::string file) : file_(std::move(file)) {
  ++parses;
  const auto list = [&](const json& rule, const char* key) {
    std::vector<Who> all;
    const auto it = rule.find(key);
    if (it == rule.end()) return all;
    if (!it->is_array()) throw unreadable(file_, fmt::format("\"{}\" is not a list", key));
    for (const json& one : *it) {
      if (one.is_string())
        all.push_back({one.get<std::string>(), 0});
      else if (one.is_number_unsigned() && one.get<std::uint64_t>() < kUnmapped)
        all.push_back({{}, one.get<unsigned>()});
      else
        throw unreadable(file_, fmt::format("\"{}\" has an entry that is neither a name nor an id", key));
      if (one.is_string() && all.back().name.empty()) throw unreadable(file_, "a name is empty");
    }
    return all;
  };
  try {
    const json policy = json::parse(text);
    const json& rules = policy.at("topics");
    if (!rules.is_array()) throw unreadable(file_, "\"topics\" is not a list");
    for (const json& rule : rules)
      rules_.push_back({rule.at("topic").get<std::string>(), list(rule, "users"), list(rule, "groups")});
  } catch (const json::exception& e) {
    throw unreadable(file_, e.what());
  }
}

std::string Policy::refusal(const std::string& topic, const socket::Peer& peer) {
  const auto id_of = [](const Who& who, Known& known, const auto& find) {
    if (who.name.empty()) return std::optional<unsigned>(who.id);
    const auto it = known.find(who.name);
    return it != known.end() ? it->second : known.emplace(who.name, find(who.name)).first->second;
  };
  for (const Rule& rule : rules_) {
    if (::fnmatch(rule.pattern.c_str(), topic.c_str(), 0) != 0) continue;
    for (const Who& user : rule.users)
      if (const auto id = id_of(user, users_, user_id); id && *id == peer.uid && *id != kUnmapped) return {};
    for (const Who& group : rule.groups)
      if (const auto id = id_of(group, groups_, group_id); id && socket::is_in_group(peer, *id)) return {};
    return fmt::format("{} is on no list of the policy {} for this topic", socket::name_of_user(peer.uid), file_);
  }
  return "the policy " + file_ + " has no rule for this topic";
}

std::string Policy::file_in(const std::string& run_dir) {
  const char* configured = std::getenv("CARDAN_POLICY");
  return configured != nullptr && *configured != '\0' ? configured : run_dir + "/policy.json";
}

std::string Policy::refusal_by(const std::string& file, const std::string& topic, const socket::Peer& peer) {
  struct Cache {
    std::mutex mutex;
    std::string file;
    FileState state;
    std::int64_t until = 0;
    std::unique_ptr<Policy> policy;
  };
  static auto& cache = *new Cache;  // endpoints with static storage may end late
  constexpr std::int64_t kSeconds = 5'000'000'000;
  const auto found = TrustedFile::open(file, kMaxBytes);
  if (!found) return "there is no policy file " + file + ", so no user is allowed";
  const std::lock_guard lock(cache.mutex);
  if (!cache.policy || cache.file != file || cache.state != found->state() || steady_now() >= cache.until) {
    cache.policy.reset();
    auto policy = std::make_unique<Policy>(found->read(), file);
    const auto after = TrustedFile::open(file, kMaxBytes);
    cache.file = file;
    cache.state = found->state();
    // A file that changes while it is read, or that has just changed, is read again next time.
    cache.until =
        after && after->state() == found->state() && found->state().is_settled() ? steady_now() + kSeconds : 0;
    cache.policy = std::move(policy);
  }
  return cache.policy->refusal(topic, peer);
}

std::size_t Policy::parsed() noexcept { return parses.load(); }

}  // namespace cardan::detail
