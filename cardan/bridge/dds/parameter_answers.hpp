// SPDX-License-Identifier: Apache-2.0
// The parameters of components in the form of a ROS 2 node's parameter services (rcl_interfaces). Any thread; what the
// table does may block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cardan/config/configuration.hpp"

namespace cardan::bridge::dds {

enum class ParameterService : std::uint8_t { Describe, Get, Types, List, Set, SetAtomically };
struct ParameterServiceName {
  ParameterService service;
  const char* name;  ///< below the node's
  const char* type;  ///< in rcl_interfaces/srv
};
inline constexpr std::array<ParameterServiceName, 6> kParameterServices{{
    {ParameterService::Describe, "describe_parameters", "DescribeParameters"},
    {ParameterService::Get, "get_parameters", "GetParameters"},
    {ParameterService::Types, "get_parameter_types", "GetParameterTypes"},
    {ParameterService::List, "list_parameters", "ListParameters"},
    {ParameterService::Set, "set_parameters", "SetParameters"},
    {ParameterService::SetAtomically, "set_parameters_atomically", "SetParametersAtomically"},
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

/// The reply in CDR to a request in CDR, which may be hostile. Empty: the request is not of this form, or its reply
/// would be too large, and gets none.
[[nodiscard]] std::optional<std::vector<std::byte>> parameter_answer(ParameterService service,
                                                                     std::span<const std::byte> request,
                                                                     ParameterTable& table);

}  // namespace cardan::bridge::dds
