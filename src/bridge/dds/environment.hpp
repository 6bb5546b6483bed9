// SPDX-License-Identifier: Apache-2.0
// Which DDS domain, and with whom: the rules, ROS 2's variables, and Cyclone's configuration that follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/bridge/rules.hpp"

namespace cardan::bridge::dds {

/// The value of an environment variable; empty: not set.
using Variables = std::function<std::string(const std::string& name)>;
/// The process's own.
[[nodiscard]] std::string variable(const std::string& name);

/// Where others are looked for.
enum class Range {
  Localhost,  ///< this computer, through loopback alone
  Computer,   ///< this computer, by its usual address, too: so ROS 2 means LOCALHOST from Iron on, LOCALHOST_ONLY from
              ///< Jazzy on
  Subnet,     ///< by multicast, as ROS 2 does
  Off,        ///< only the named peers
  System      ///< as Cyclone's own configuration says
};

struct DomainChoice {
  int id = 0;
  Range range = Range::Localhost;
  bool is_usual = false;  ///< neither the rules nor ROS 2's variables say the range
  std::vector<std::string> peers{};
  std::string cyclone_uri{};              ///< $CYCLONEDDS_URI: it is read after ours, and wins
  bool cyclone_names_interfaces = false;  ///< it says which network interfaces are used
};

/// ROS 2's variables (ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS) decide what
/// the rules do not. Throws Error (InvalidArgument): a value makes no sense, or $CYCLONEDDS_URI enables shared memory.
/// Reads the files that it names.
[[nodiscard]] DomainChoice choose_domain(const DdsRules& rules, const Variables& variables);

/// Whether nobody beyond this computer can take part. Cyclone's sockets listen on every interface even then, so the
/// bridge lets them receive through `lo` alone, through which also the computer's other addresses are reached from
/// within.
[[nodiscard]] bool stays_here(const DomainChoice& choice);

/// Bytes of the largest message, in either direction. Cyclone's memory for messages that have come in part is bounded
/// by it: of each remote writer four of them.
[[nodiscard]] std::size_t most_sample_bytes(const Rules& rules);

/// Bytes of messages that have come in part, of all writers together: what four of the largest take that a rule lets
/// in.
[[nodiscard]] std::size_t most_parts_bytes(const Rules& rules);

/// The computer's networks.
struct Interfaces {
  bool loopback_has_multicast = false;  ///< `lo` is up with multicast
  bool beyond_loopback = false;         ///< there is another one, with an address
};
/// Reads the kernel's list.
[[nodiscard]] Interfaces interfaces_here();

/// Cyclone's configuration. `most_sample_bytes`: as above.
[[nodiscard]] std::string domain_configuration(const DomainChoice& choice, const Interfaces& interfaces,
                                               std::size_t most_sample_bytes);

/// The kernel's limits for a socket that receives, in bytes; 0: unknown.
struct ReceiveBuffers {
  std::uint64_t usual = 0;  ///< what Fast DDS takes
  std::uint64_t most = 0;   ///< what Cyclone may ask for
};
/// Those of this computer. Reads two files of the kernel.
[[nodiscard]] ReceiveBuffers receive_buffers();
/// Sentences on what these buffers lose. `reads`: the bridge reads best effort, or has lost messages. `is_read`: others
/// read large messages of the bridge.
[[nodiscard]] std::vector<std::string> notes_on(const ReceiveBuffers& buffers, bool reads, bool is_read);

/// Folders that hold <package>/msg/<Type>.msg: those of the rules, and `share` of each of $AMENT_PREFIX_PATH.
[[nodiscard]] std::vector<std::string> message_folders(const DdsRules& rules, const Variables& variables);

/// The size of a gid before anybody's was seen: as the ROS 2 does that is set up here ($ROS_DISTRO). 0: unknown.
[[nodiscard]] int likely_gid_bytes(const DdsRules& rules, const Variables& variables);

}  // namespace cardan::bridge::dds
