// SPDX-License-Identifier: Apache-2.0
// The parameters of components in the form of a ROS 2 node's parameter services (rcl_interfaces). Any thread; what the
// table does may block.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::bridge::dds {

enum class ParameterService : std::uint8_t { Describe, Get, Types, List, Set, SetAtomically };
struct ParameterServiceName {
  ParameterService service;
  const char* name;  ///< below the node's
  const char* type;  ///< in rcl_interfaces/srv
  /// RIHS01 of TYPE_Request and TYPE_Response, which ROS 2 from Iron on expects of the endpoints; not that of the
  /// service.
  const char* request_hash;
  const char* response_hash;
};
inline constexpr std::array<ParameterServiceName, 6> kParameterServices{{
    {ParameterService::Describe, "describe_parameters", "DescribeParameters",
     "RIHS01_05dd1c2bc87dec2627105c8070d6f9725c781a4f2ab852975bf105462b82b644",
     "RIHS01_ad6747319613c6131589e062e095b469a46cc764f7d0f12a001a49e6cd893995"},
    {ParameterService::Get, "get_parameters", "GetParameters",
     "RIHS01_135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6",
     "RIHS01_9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a"},
    {ParameterService::Types, "get_parameter_types", "GetParameterTypes",
     "RIHS01_87d7ec5ef545d4daa289d500025d31fb2437bc8b8365ca367161c4dac4be33fd",
     "RIHS01_ac1335dce67c478e669434f6ac2fbff34fcd529580f272d3006785ba8b54e47f"},
    {ParameterService::List, "list_parameters", "ListParameters",
     "RIHS01_a1b0b5d6b967a5b8ac5bc8563c3ea678f349e312a6a4967227c5a96bc5ce38df",
     "RIHS01_31b937b82de3612426be79f231e386259f97e8dc843e3f2845288b4bfa296bdd"},
    {ParameterService::Set, "set_parameters", "SetParameters",
     "RIHS01_130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932",
     "RIHS01_7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266"},
    {ParameterService::SetAtomically, "set_parameters_atomically", "SetParametersAtomically",
     "RIHS01_db0bd950ed5ed867a0e90b225e44dea382d762c0762ff3e0ee842190042a59e5",
     "RIHS01_31b1a38c5b0b9d893ee24da45f69638f4561c78461d82d52750f429b534502b8"},
}};

struct RosParameter {
  std::string name{};  ///< "detector.threshold"
  config::Value value{};
  std::string description{};
  std::optional<config::Value> min{}, max{};
  bool read_only = false;
};

/// Where the answers come from.
class ParameterTable {
 public:
  ParameterTable() = default;
  ParameterTable(const ParameterTable&) = delete;
  ParameterTable& operator=(const ParameterTable&) = delete;
  virtual ~ParameterTable() = default;
  virtual std::vector<RosParameter> all() = 0;
  /// Why it was not set; empty: it was.
  virtual std::string set(const std::string& name, const config::Value& value) = 0;
};

/// Requests and replies of rmw_cyclonedds begin with the client's number and that of the request, which go back as they
/// came.
struct RequestId {
  std::uint64_t client = 0;
  std::int64_t sequence = 0;
};

inline constexpr std::size_t kMostRequestBytes = 256U << 10U;
/// A request may name a parameter with a long text thousands of times.
inline constexpr std::size_t kMostReplyBytes = 4U << 20U;

/// A request may name thousands of parameters of a component that hangs, each of which costs a time-out.
inline constexpr std::chrono::nanoseconds kMostSetTime = std::chrono::seconds(2);

/// The reply in CDR to a request in CDR, which may be hostile. Empty: the request is not of this form, or its reply
/// would be too large, and gets none. A parameter that is not set within `most_set_time` is refused.
[[nodiscard]] std::optional<std::vector<std::byte>> parameter_answer(
    ParameterService service, std::span<const std::byte> request, ParameterTable& table,
    std::chrono::nanoseconds most_set_time = kMostSetTime);

}  // namespace cardan::bridge::dds
