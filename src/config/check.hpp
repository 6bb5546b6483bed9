// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::config {

/// The resources of the computer.
struct Machine {
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
  bool realtime = false;  ///< SCHED_FIFO is granted to this user
};

/// This computer: CPUs that the kernel knows, physical memory. Reads /proc and asks the kernel; any thread; does not
/// block.
[[nodiscard]] Machine this_machine();

/// An input or output that a component declared in on_start.
struct DeclaredEndpoint {
  std::string component{};      ///< its name in the file
  std::string topic_in_code{};  ///< before renaming
  std::string type_name{};
  std::uint64_t type_hash = 0;
  bool output = false;
  TopicOptions options{};  ///< as the code has them
  bool confined = false;   ///< its type is neither a message nor has a codec: it stays within its process
  bool rests_on = true;    ///< of an input: InputOptions::rests_on
};

/// A server or client of a service that a component declared in on_start.
struct DeclaredEnd {
  std::string component{};     ///< its name in the file
  std::string name_in_code{};  ///< before renaming
  bool server = false;
  std::string question{}, answer{};  ///< types
  std::uint64_t question_hash = 0, answer_hash = 0;
};

struct DeclaredParameter {
  std::string component{};
  std::string name{};
  Value default_value{};  ///< its alternative is the parameter's type
  std::optional<Value> min{};
  std::optional<Value> max{};
  std::string description{};
  bool fixed = false;  ///< only a start sets it
};

/// Other names for a component's `callbacks`: a timer, an input with its own name.
struct DeclaredCallback {
  std::string component{};
  std::string name{};
};

/// The declarations of a file's components.
struct Declarations {
  std::vector<DeclaredEndpoint> endpoints{};
  std::vector<DeclaredEnd> ends{};
  std::vector<DeclaredParameter> parameters{};
  std::vector<DeclaredCallback> callbacks{};
  std::map<std::string, std::uint64_t>
      private_bytes{};  ///< by process: what it used without its threads when it answered
  /// Components that could not be asked (the library is not on this computer): their names are not checked.
  std::vector<std::string> unknown{};
};

/// Requirements of the file that the computer does not meet. In the order of the text. Any thread; does not block.
[[nodiscard]] std::vector<Problem> check_machine(const Configuration& configuration, const Machine& machine);

/// Everything that the text alone cannot tell: check_machine(), and the file against what the components declare (types
/// along each topic, writers, names, parameters). For a configuration without errors. In the order of the text. Any
/// thread; does not block.
[[nodiscard]] std::vector<Problem> check(const Configuration& configuration, const Declarations& declared,
                                         const Machine& machine);

}  // namespace cardan::config
