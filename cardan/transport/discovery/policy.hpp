// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/base/socket.hpp"

namespace cardan::detail {

/// The text of a policy file: `{"topics": [{"topic": "/camera/*", "users": ["perception", 1001], "groups":
/// ["video"]}]}`. The first rule whose pattern fits a topic counts. Not thread safe; names are looked up in the user
/// database when first needed, which can block.
class Policy {
 public:
  /// Throws Error (InvalidArgument) that names `file`.
  Policy(std::string_view text, std::string file);
  /// Empty: `peer` may share the topic; else why not.
  [[nodiscard]] std::string refusal(const std::string& topic, const socket::Peer& peer);

  /// The file of this process: $CARDAN_POLICY, else `policy.json` in the run directory.
  static std::string file_in(const std::string& run_dir);
  /// Decides by the file as it is now; parses it again only when it has changed, or a few seconds have passed (users
  /// and groups change, too). No file: nobody may. Throws Error: InvalidArgument, or Refused when somebody else could
  /// have written the file (TrustedFile). Any thread; does not block on what others put in the file's place.
  static std::string refusal_by(const std::string& file, const std::string& topic, const socket::Peer& peer);
  /// How often this process has parsed a policy.
  static std::size_t parsed() noexcept;
  static constexpr std::size_t kMaxBytes = 1 << 20;

 private:
  struct Who {
    std::string name;  ///< empty: `id` it is
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
