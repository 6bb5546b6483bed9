// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/environment.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "cardan/configuration.hpp"
#include "cardan/error.hpp"
#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/names.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr int kMostDomain = 232;
/// Without multicast, Cyclone looks for 10 participants of a computer by default, and does not find an eleventh.
constexpr int kMostParticipants = 64;
/// Of a reliable writer (best effort: four, too); Cyclone's default is 16.
constexpr int kMostHalfReceived = 4;
/// Bytes that Cyclone asks the kernel for. With 4 MiB, frames of some megabytes were still lost.
constexpr std::uint64_t kReceiveBuffer = 16U << 20U;

Error wrong(std::string cause, std::string remedy) {
  return {ErrorCode::InvalidArgument, std::move(cause), std::move(remedy)};
}

std::vector<std::string> split(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

int domain_of(const std::string& text) {
  int id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id < 0 || id > kMostDomain)
    throw wrong(fmt::format("ROS_DOMAIN_ID is '{}', not a number from 0 to {}", text, kMostDomain),
                "correct it, or set dds.domain_id (--domain-id)");
  return id;
}

Range range_of(const std::string& word) {
  if (word == "localhost") return Range::Localhost;
  if (word == "subnet") return Range::Subnet;
  if (word == "off") return Range::Off;
  if (word == "system" || word == "system_default") return Range::System;
  throw wrong(fmt::format("'{}' is not a range of discovery", word),
              "use localhost, subnet, off or system (--discovery, ROS_AUTOMATIC_DISCOVERY_RANGE)");
}

Range range_from(const DdsRules& rules, const Variables& variables) {
  const std::string only = variables("ROS_LOCALHOST_ONLY");
  const std::string range = lower(variables("ROS_AUTOMATIC_DISCOVERY_RANGE"));
  Range chosen = only == "0" ? Range::Subnet : Range::Localhost;
  if (!rules.discovery.empty())
    chosen = range_of(rules.discovery);
  else if (only != "1" && !range.empty())
    chosen = range_of(range);
  // Nodes that these variables keep on the computer use loopback's address or, from Jazzy on, the computer's usual one.
  return chosen == Range::Localhost && (only == "1" || range == "localhost") ? Range::Computer : chosen;
}

void check_peer(const std::string& peer) {
  const bool good = !peer.empty() && peer.size() <= 255 && std::all_of(peer.begin(), peer.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == ':' || c == '-' || c == '_' || c == '[' || c == ']';
  });
  if (!good)
    throw wrong(fmt::format("'{}' is not an address of a peer", peer), "write it as 10.0.0.2, or as a host's name");
}

bool is_loopback(const std::string& peer) {
  return peer == "localhost" || peer.starts_with("127.") || peer == "::1" || peer == "[::1]";
}

/// The text of all parts of a $CYCLONEDDS_URI: XML, or files, separated by commas.
std::string text_of_uri(const std::string& uri) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string all;
  for (std::size_t at = 0; at < uri.size();) {
    if (uri[at] == '<') {  // XML, which may have commas
      std::size_t end = uri.find(">,", at);
      while (end != std::string::npos &&
             std::string_view("</f").find(uri[std::min(end + 2, uri.size() - 1)]) == std::string_view::npos)
        end = uri.find(">,", end + 1);
      end = end == std::string::npos ? uri.size() : end + 1;
      all += uri.substr(at, end - at);
      at = end + 1;
      continue;
    }
    const std::size_t end = std::min(uri.find(',', at), uri.size());
    std::string path = uri.substr(at, end - at);
    if (path.starts_with("file://")) path.erase(0, 7);
    if (!path.empty()) all += config::read_text(path, kMost);
    at = end + 1;
  }
  return all;
}

/// Debian's Cyclone links iceoryx, which ends the process after a minute if its daemon is not there.
void refuse_shared_memory(const std::string& text) {
  for (std::size_t at = text.find("<sharedmemory"); at != std::string::npos; at = text.find("<sharedmemory", at + 1)) {
    const std::size_t end = std::min(text.find("</sharedmemory", at), text.size());
    const std::string section = text.substr(at, end - at);
    std::size_t enable = section.find("enable");
    if (enable == std::string::npos) continue;
    enable = section.find_first_of(">=", enable);
    if (enable == std::string::npos) continue;
    std::string value;
    for (const char c : section.substr(enable + 1))
      if (c == '<' || c == '/')
        break;
      else if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != '\'')
        value += c;
    if (value != "false")
      throw wrong(
          "CYCLONEDDS_URI enables shared memory (SharedMemory/Enable), with which Cyclone ends the bridge if "
          "RouDi does not answer",
          "start the bridge with a CYCLONEDDS_URI without it");
  }
}

void check_node(const DdsRules& rules) {
  if (!is_ros_topic("/" + rules.node) || rules.node.find('/') != std::string::npos)
    throw wrong(fmt::format("'{}' is not a name for a node of ROS 2", rules.node),
                "use letters, digits and '_' (--node)");
  if (rules.node_namespace != "/" && !is_ros_topic(rules.node_namespace))
    throw wrong(fmt::format("'{}' is not a namespace of ROS 2", rules.node_namespace), "write it as /vehicle1");
  if (rules.gid_bytes != 0 && rules.gid_bytes != kOldGidBytes && rules.gid_bytes != kNewGidBytes)
    throw wrong(fmt::format("dds.gid_bytes is {}", rules.gid_bytes), "use 24 for ROS 2 Humble and older, 16 for newer");
}

/// Whether no address is beyond this computer.
bool all_here(const DomainChoice& choice) {
  return !choice.cyclone_names_interfaces && std::all_of(choice.peers.begin(), choice.peers.end(), is_loopback);
}

std::string peers_xml(const DomainChoice& choice) {
  std::string peers;
  const bool here = choice.range == Range::Localhost || choice.range == Range::Computer;
  if (here) peers += R"(<Peer address="127.0.0.1"/>)";
  for (const std::string& peer : choice.peers)
    if (!here || !is_loopback(peer)) peers += fmt::format(R"(<Peer address="{}"/>)", peer);
  return peers.empty() ? peers : "<Peers>" + peers + "</Peers>";
}

}  // namespace

std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

DomainChoice choose_domain(const DdsRules& rules, const Variables& variables) {
  check_node(rules);
  DomainChoice choice;
  const std::string id = variables("ROS_DOMAIN_ID");
  if (rules.domain_id)
    choice.id = *rules.domain_id;
  else if (!id.empty())
    choice.id = domain_of(id);
  choice.range = range_from(rules, variables);
  choice.is_usual = rules.discovery.empty() && variables("ROS_LOCALHOST_ONLY").empty() &&
                    variables("ROS_AUTOMATIC_DISCOVERY_RANGE").empty();
  choice.peers = rules.peers;
  if (choice.range != Range::Off && choice.range != Range::System)  // ROS 2 ignores the variable then, too
    for (std::string& peer : split(variables("ROS_STATIC_PEERS"), ";")) choice.peers.push_back(std::move(peer));
  for (const std::string& peer : choice.peers) check_peer(peer);
  choice.cyclone_uri = variables("CYCLONEDDS_URI");
  const std::string xml = lower(text_of_uri(choice.cyclone_uri));
  refuse_shared_memory(xml);
  choice.cyclone_names_interfaces = xml.find("<networkinterface") != std::string::npos;
  return choice;
}

bool stays_here(const DomainChoice& choice) {
  return (choice.range == Range::Localhost || choice.range == Range::Computer) && all_here(choice);
}

std::size_t most_sample_bytes(const Rules& rules) {
  constexpr std::uint64_t kMostOut = std::uint64_t{256} << 20;  // the rules do not limit outgoing messages
  constexpr std::uint64_t kHead = 64U << 10U;                   // so that a rule, not Cyclone, refuses and counts
  std::uint64_t most = kMostOut;
  for (const TopicRule& rule : rules.in) most = std::max(most, rule.max_bytes);
  return most + kHead;
}

std::size_t most_parts_bytes(const Rules& rules) {
  std::uint64_t most = std::uint64_t{16} << 20U;
  for (const TopicRule& rule : rules.in) most = std::max(most, rule.max_bytes);
  return kMostHalfReceived * most;
}

std::string domain_configuration(const DomainChoice& choice, const Interfaces& interfaces,
                                 std::size_t most_sample_bytes) {
  std::string general;
  if (stays_here(choice)) {
    // Other users of loopback may know multicast alone, or may not know it. Data go by unicast.
    const bool both = choice.range == Range::Computer && interfaces.beyond_loopback;
    general += fmt::format(R"(<Interfaces><NetworkInterface name="lo" multicast="default"/>{}</Interfaces>)",
                           both ? R"(<NetworkInterface autodetermine="true"/>)" : "");
    general += "<MulticastTimeToLive>0</MulticastTimeToLive>";  // such packets do not leave the computer
    general += fmt::format("<AllowMulticast>{}</AllowMulticast>", interfaces.loopback_has_multicast ? "spdp" : "false");
  } else if (choice.range != Range::Subnet && choice.range != Range::System) {
    general += "<AllowMulticast>false</AllowMulticast>";
  }
  // Within the computer such packets go whole. On Ethernet they would be fragments of IP.
  if (stays_here(choice)) general += "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize>";
  std::string discovery = peers_xml(choice);
  if (choice.range != Range::System)
    discovery +=
        fmt::format("<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{}</MaxAutoParticipantIndex>",
                    kMostParticipants);
  // A write must not wait for a slow reader (QoS: keep last). Cyclone would hold it back from half a megabyte on.
  // Of a message in fragments Cyclone keeps those that have come, however large the writer says that it is.
  const std::string internal = fmt::format(
      "<SocketReceiveBufferSize max=\"{}B\"/><Watermarks><WhcHigh>1GiB</WhcHigh><WhcAdaptive>false</WhcAdaptive>"
      "</Watermarks><MaxSampleSize>{}B</MaxSampleSize><DefragReliableMaxSamples>{}</DefragReliableMaxSamples>",
      kReceiveBuffer, most_sample_bytes, kMostHalfReceived);
  std::string all = fmt::format(
      "<CycloneDDS><Domain Id=\"any\"><General>{}</General><Discovery>{}</Discovery><Internal>{}</Internal>"
      "</Domain></CycloneDDS>",
      general, discovery, internal);
  if (!choice.cyclone_uri.empty()) all += "," + choice.cyclone_uri;
  return all;
}

ReceiveBuffers receive_buffers() {
  ReceiveBuffers buffers;
  std::ifstream("/proc/sys/net/core/rmem_default") >> buffers.usual;
  std::ifstream("/proc/sys/net/core/rmem_max") >> buffers.most;
  return buffers;
}

std::vector<std::string> notes_on(const ReceiveBuffers& buffers, bool reads, bool is_read) {
  // With less, frames of some megabytes do not arrive whole.
  constexpr std::uint64_t kEnoughUsual = 1U << 20U, kEnoughMost = kReceiveBuffer;
  std::vector<std::string> notes;
  if (buffers.usual == 0 || buffers.most == 0) return notes;
  if (reads && buffers.most < kEnoughMost)
    notes.push_back(
        fmt::format("the receive buffer is limited to {} KiB: large messages are lost, above all those that are read "
                    "best effort — raise net.core.rmem_max (cardan doctor)",
                    buffers.most >> 10U));
  if (is_read && (buffers.usual < kEnoughUsual || buffers.most < kEnoughMost))
    notes.push_back(fmt::format(
        "receivers on this computer have a buffer of {} KiB (at most {} KiB): large messages may not arrive, "
        "however they are read — raise net.core.rmem_default and rmem_max (cardan doctor)",
        buffers.usual >> 10U, buffers.most >> 10U));
  return notes;
}

Interfaces interfaces_here() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  Interfaces here;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_LOOPBACK) != 0)
      here.loopback_has_multicast = here.loopback_has_multicast || (one->ifa_flags & IFF_MULTICAST) != 0;
    else if ((one->ifa_flags & IFF_UP) != 0 && one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
      here.beyond_loopback = true;
  }
  return here;
}

std::vector<std::string> message_folders(const DdsRules& rules, const Variables& variables) {
  std::vector<std::string> folders = rules.message_paths;
  for (const std::string& prefix : split(variables("AMENT_PREFIX_PATH"), ":")) folders.push_back(prefix + "/share");
  return folders;
}

int likely_gid_bytes(const DdsRules& rules, const Variables& variables) {
  constexpr std::array<std::string_view, 5> kOld{"humble", "galactic", "foxy", "eloquent", "dashing"};
  if (rules.gid_bytes != 0) return rules.gid_bytes;
  const std::string distribution = variables("ROS_DISTRO");
  if (distribution.empty()) return 0;
  return std::find(kOld.begin(), kOld.end(), distribution) != kOld.end() ? kOldGidBytes : kNewGidBytes;
}

}  // namespace cardan::bridge::dds
