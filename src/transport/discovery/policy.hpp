// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/socket.hpp"

namespace cardan::detail {

/// The text of a policy file:
/// `{"topics": [{"topic": "/camera/*", "users": ["perception", 1001], "groups": ["video"]}]}`.
/// The first rule whose pattern matches a topic applies.
/// Not thread safe. Names are looked up in the user database when first needed, which can block.
class Policy {
 public:
  /// Throws Error (InvalidArgument), which names `file`.
  Policy(std::string_view text, std::string file);
  /// Empty: `peer` may share the topic. Otherwise the reason for the refusal.
  [[nodiscard]] std::string refusal(const std::string& topic, const socket::Peer& peer);

  /// The policy file of this process: $CARDAN_POLICY, else `policy.json` in the run directory.
  static std::string file_in(const std::string& run_dir);
  /// Decides by the file as it is now. Parses it again only if it has changed, or if a few seconds have passed (users
  /// and groups change, too). Without a file it refuses every peer. Throws Error: InvalidArgument, or Refused if
  /// another user could have written the file (TrustedFile).
  /// Any thread; does not block on what others put in the file's place.
  static std::string refusal_by(const std::string& file, const std::string& topic, const socket::Peer& peer);
  /// How often this process has parsed a policy.
  static std::size_t parsed() noexcept;
  static constexpr std::size_t kMaxBytes = 1 << 20;

 private:
  struct Who {
    std::string name;  ///< empty: `id` is used
    unsigned id = 0;
  };
  struct Rule {
    std::string pattern;
    std::vector<Who> users;
    std::vector<Who> groups;
  };
  using Known = std::map<std::string, std::optional<unsigned>>;

  std::string file_;
  std::vector<Rule> rules_;
  Known users_;
  Known groups_;
};

}  // namespace cardan::detail
