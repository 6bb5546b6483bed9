// SPDX-License-Identifier: Apache-2.0
// Which topics a bridge carries, in which direction, and how. Docs: docs/bridges.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/topic.hpp"

namespace cardan::bridge {

/// A rule of the lists `out` and `in`. The first rule that fits a topic decides.
struct TopicRule {
  /// Patterns of names on the side that the topic comes from (`*` is any text, `?` one letter).
  std::vector<std::string> topics{"*"};
  /// Patterns of types, as "sensor_msgs/msg/*". Empty: every type.
  std::vector<std::string> types{};
  /// Patterns of names that the rule leaves out.
  std::vector<std::string> exclude{};
  /// The name on the other side. Only for a rule that names one topic.
  std::string rename{};
  /// Put before the name on the other side: "/vehicle1" makes "/vehicle1/camera/front" of "/camera/front".
  std::string name_space{};
  /// The most messages a second. Further ones are left out before anything is copied. 0: all.
  double max_hz = 0;
  /// Whether a message is sent again until it has arrived. Empty: what suits the bridge.
  std::optional<bool> reliable{};
  /// Messages that wait for a slow receiver at most, and that a late one gets if `latched`. Each is a slot of the
  /// publisher. 0: what suits the bridge and the topic.
  std::uint32_t depth = 0;
  /// A receiver that comes later gets the last `depth` messages (maps, /tf_static). Empty: what suits the topic.
  std::optional<bool> latched{};
  /// The largest message that is let in, in bytes. Only of `in`.
  std::uint64_t max_bytes = std::uint64_t{64} << 20;
  /// Other users may get topics of Access::Owner that the rule does not name letter by letter. Only of `out`.
  bool owner = false;
  /// Of `cardan bridge zenoh`: Zenoh's priority, one of kPriorities, and what happens when the network is too slow, one
  /// of kCongestions. Empty: "data", "drop".
  std::string priority{}, congestion{};
  bool operator==(const TopicRule&) const = default;
};

/// Settings of `cardan bridge dds`.
struct DdsRules {
  std::optional<int> domain_id{};  ///< empty: $ROS_DOMAIN_ID, or 0
  /// "localhost", "subnet", "off" or "system"; empty: what ROS 2's variables say, or "localhost".
  std::string discovery{};
  std::vector<std::string> peers{};    ///< addresses that are asked in addition to multicast
  std::string node = "cardan_bridge";  ///< name as a ROS node
  std::string node_namespace = "/";
  int gid_bytes = 0;  ///< 24: ROS 2 Humble and older, 16: newer, 0: as others do
  std::vector<std::string>
      message_paths{};          ///< folders with <package>/msg/<Type>.msg, in addition to $AMENT_PREFIX_PATH
  bool parameters = true;       ///< components' parameters are the node's, for `ros2 param`
  bool set_parameters = false;  ///< and may be set there
  bool call_services = false;   ///< nodes may call services, as far as `out` has their names
  bool offer_services = false;  ///< this computer may call nodes' services, as far as `in` has their names
  bool rosout = true;           ///< the log of `cardan run` goes to /rosout
  bool diagnostics = true;      ///< components' and processes' statistics go to /diagnostics
  bool operator==(const DdsRules&) const = default;
};

inline constexpr int kFoxglovePort = 8765;  ///< Foxglove's own default

/// Settings of `cardan bridge foxglove`.
struct FoxgloveRules {
  std::string address = "127.0.0.1";
  int port = kFoxglovePort;
  std::uint32_t max_clients = 16;
  std::vector<std::string> origins{};  ///< pages that may connect, in addition to the server's own; "*": all
  std::vector<std::string> hosts{};    ///< names under which browsers may ask for the page, in addition to localhost
  bool set_parameters = false;         ///< clients may set parameters of components
  bool call_services = false;          ///< clients may call services, as far as `out` has their names
  bool operator==(const FoxgloveRules&) const = default;
};

/// Settings of `cardan bridge zenoh`.
struct ZenohRules {
  std::string form{};                  ///< one of kForms; empty: "plain"
  std::string config{};                ///< Zenoh's own file: TLS, access control and all else
  std::string mode{};                  ///< one of kModes; empty: by itself "router" if it listens, else "client"
  std::vector<std::string> connect{};  ///< as "tcp/10.0.0.2:7447"
  std::vector<std::string> listen{};   ///< empty, and no `connect`: loopback
  std::optional<int> domain_id{};      ///< of form "rmw"; empty: $ROS_DOMAIN_ID, or 0
  std::string node = "cardan_bridge";  ///< of form "rmw": name as a ROS node
  bool operator==(const ZenohRules&) const = default;
};

/// The rules of a bridge: one file for bridges of all kinds, each reads its own section.
struct Rules {
  std::string domain{};  ///< Cardan's; empty: $CARDAN_DOMAIN, or "default"
  /// The name of the network on the other side, for the loop guard (PublisherOptions::via). Empty: the bridge's own,
  /// as "dds:0".
  std::string network{};
  Access access = Access::Owner;  ///< whose publications are sent, and which users may subscribe to incoming topics
  std::vector<TopicRule> out{};
  std::vector<TopicRule> in{};  ///< an allow-list: what no rule names does not come in
  bool out_is_given = false;    ///< false: `out` is what the bridge does by itself
  DdsRules dds{};
  FoxgloveRules foxglove{};
  ZenohRules zenoh{};
};

/// The first rule that fits, or null. `type` empty: only the name is compared. Any thread; does not block.
[[nodiscard]] const TopicRule* rule_for(const std::vector<TopicRule>& rules, const std::string& topic,
                                        const std::string& type) noexcept;
/// Whether a rule sends a topic that belongs to its owner alone: `owner`, or one of its names without a pattern.
[[nodiscard]] bool sends_owners(const TopicRule& rule, const std::string& topic) noexcept;
/// Whether there can be a topic that fits the pattern: names start with '/'. Any thread; does not block.
[[nodiscard]] bool can_fit(const std::string& pattern) noexcept;
/// The topic's name on the other side.
[[nodiscard]] std::string name_beyond(const TopicRule& rule, const std::string& topic);

/// Reads the rules of a file's text, and adds what is wrong with it to `problems`, with line and column. `rules` keeps
/// what the text does not say. Never throws for what the text says. Any thread; does not block.
void parse_rules(const std::string& text, const std::string& file_name, Rules& rules,
                 std::vector<config::Problem>& problems);
/// The same of a file. Throws Error (InvalidArgument): it cannot be read. Blocks for the file system.
void read_rules(const std::string& file, Rules& rules, std::vector<config::Problem>& problems);

/// Whether the text is a bridge's file rather than a system's: it has "out", "in" or a bridge's section, and no
/// "processes". For `cardan check`.
[[nodiscard]] bool is_bridge_text(const std::string& text);

}  // namespace cardan::bridge
