// SPDX-License-Identifier: Apache-2.0
// Which DDS domain, and with whom: the rules, ROS 2's variables, and Cyclone's configuration that follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cardan/bridge/rules.hpp"

namespace cardan::bridge::dds {

/// The value of an environment variable; empty: not set.
using Variables = std::function<std::string(const std::string& name)>;
/// The process's own.
[[nodiscard]] std::string variable(const std::string& name);

/// Where others are looked for.
enum class Range {
  Localhost,  ///< this computer, through loopback alone
  Computer,   ///< this computer, as ROS 2 from Iron on means LOCALHOST: by its usual address, without multicast
  Subnet,     ///< by multicast, as ROS 2 does
  Off,        ///< only the peers that are named
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

/// Whether only loopback's address is used. Cyclone's sockets listen on every interface even then, so the bridge binds
/// them to `lo`.
[[nodiscard]] bool uses_loopback_alone(const DomainChoice& choice);

/// Bytes of the largest message, in either direction. What Cyclone keeps of messages that have come in part is bounded
/// by it: of each remote writer four of them.
[[nodiscard]] std::size_t most_sample_bytes(const Rules& rules);

/// Cyclone's configuration. `loopback_has_multicast`: `lo` is up with multicast. `most_sample_bytes`: as above.
[[nodiscard]] std::string domain_configuration(const DomainChoice& choice, bool loopback_has_multicast,
                                               std::size_t most_sample_bytes);

/// Whether multicast works on loopback. Reads the kernel's list of interfaces.
[[nodiscard]] bool loopback_has_multicast();

/// What the kernel grants to a socket that receives, in bytes; 0: unknown.
struct ReceiveBuffers {
  std::uint64_t usual = 0;  ///< what Fast DDS takes
  std::uint64_t most = 0;   ///< what Cyclone may ask for
};
/// Those of this computer. Reads two files of the kernel.
[[nodiscard]] ReceiveBuffers receive_buffers();
/// Sentences on what these buffers lose. `reads`: the bridge reads best effort. `is_read`: others read large messages
/// of the bridge best effort.
[[nodiscard]] std::vector<std::string> notes_on(const ReceiveBuffers& buffers, bool reads, bool is_read);

/// Folders that hold <package>/msg/<Type>.msg: those of the rules, and `share` of each of $AMENT_PREFIX_PATH.
[[nodiscard]] std::vector<std::string> message_folders(const DdsRules& rules, const Variables& variables);

/// The size of a gid before anybody's was seen: as the ROS 2 does that is set up here ($ROS_DISTRO). 0: unknown.
[[nodiscard]] int likely_gid_bytes(const DdsRules& rules, const Variables& variables);

}  // namespace cardan::bridge::dds
