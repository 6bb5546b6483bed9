// SPDX-License-Identifier: Apache-2.0
// The content of /diagnostics about this computer's components and processes. Any thread; does not block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/system/host/control_client.hpp"

namespace cardan::bridge::dds {

inline constexpr const char* kDiagnosticsType = "diagnostic_msgs/msg/DiagnosticArray";
inline constexpr const char* kDiagnosticsDefinition =
    "std_msgs/Header header\nDiagnosticStatus[] status\n"
    "================================================================================\nMSG: std_msgs/Header\n"
    "builtin_interfaces/Time stamp\nstring frame_id\n"
    "================================================================================\nMSG: builtin_interfaces/Time\n"
    "int32 sec\nuint32 nanosec\n"
    "================================================================================\nMSG: "
    "diagnostic_msgs/DiagnosticStatus\n"
    "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\n"
    "byte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values\n"
    "================================================================================\nMSG: diagnostic_msgs/KeyValue\n"
    "string key\nstring value\n";

enum class DiagnosticLevel : std::uint8_t { Ok, Warn, Error, Stale };
struct Diagnostic {
  DiagnosticLevel level = DiagnosticLevel::Ok;
  std::string name{}, message{}, hardware{};
  std::vector<std::pair<std::string, std::string>> values{};
};

/// One for each process and component, and one for each host that did not answer.
[[nodiscard]] std::vector<Diagnostic> diagnose(const host::DomainComponents& components,
                                               const host::DomainLaunchers& launchers);
/// As CDR. `stamp`: wall clock.
[[nodiscard]] std::vector<std::byte> diagnostic_array(const std::vector<Diagnostic>& all, std::int64_t stamp);
[[nodiscard]] inline std::vector<std::byte> diagnostics_of(const host::DomainComponents& components,
                                                           const host::DomainLaunchers& launchers, std::int64_t stamp) {
  return diagnostic_array(diagnose(components, launchers), stamp);
}

}  // namespace cardan::bridge::dds
