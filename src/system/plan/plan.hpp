// SPDX-License-Identifier: Apache-2.0
// The plan: a configuration as it was read once, with the changes of the command line. `cardan run` makes the plan
// and hands it to its processes, so that an edit of the file changes nothing in a system that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/log.hpp"

namespace cardan::plan {

/// The command line's changes of a file.
struct PlanOptions {
  std::vector<std::string> variables{};   ///< "name=value", of the file
  std::string parameters{};               ///< file that `cardan param save` wrote; "": none
  std::vector<std::string> set{};         ///< "component/parameter=value", after those of `parameters`
  std::vector<std::string> remap{};       ///< "/name:=/other": topics on the bus (remap_topics())
  std::vector<std::string> log_levels{};  ///< "[COMPONENT=]LEVEL"
  std::string domain{};                   ///< instead of the file's or $CARDAN_DOMAIN
  bool one_process = false;               ///< all components in one process (one_process())
};

/// A file that the plan was made from, by its content.
struct PlanFile {
  std::string path{};  ///< absolute
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;  ///< CRC-32C
  bool operator==(const PlanFile&) const = default;
};

/// The declarations of a component that decide what a change of the plan needs.
struct DeclaredParts {
  std::vector<std::string> topics{};  ///< names on the bus
  std::vector<std::string> fixed{};   ///< parameters that only a start can set
  bool operator==(const DeclaredParts&) const = default;
};

struct Plan {
  /// With all changes applied. `domain` is the one that is used: of the options, of the file, of $CARDAN_DOMAIN, or
  /// "default"; "" leaves it to the environment of each process.
  config::Configuration configuration{};
  std::map<std::string, LogLevel> log_levels{};  ///< as RuntimeOptions::log_levels
  std::vector<PlanFile> files{};                 ///< regular files only
  std::string folder{};                          ///< from which relative paths are meant
  /// By component; of one that is not in it nothing is known.
  std::map<std::string, DeclaredParts> declared{};
  bool operator==(const Plan&) const = default;
};

/// The plan of a configuration file. Adds every error in its text to `problems`; with an error the configuration is as
/// read_configuration() gives it, without the changes. Throws Error (InvalidArgument): the file cannot be read, or an
/// option is wrong. Any thread; blocks for the file system.
[[nodiscard]] Plan make_plan(const std::string& file, const PlanOptions& options,
                             std::vector<config::Problem>& problems);

/// The same, and throws Error (InvalidArgument) for the first error in the text.
[[nodiscard]] Plan make_plan(const std::string& file, const PlanOptions& options = {});

/// The files of a plan that are no longer as they were, each with what happened: "changed", "cannot be read". Any
/// thread; blocks for the file system.
struct ChangedFile {
  std::string path{}, what{};
};
[[nodiscard]] std::vector<ChangedFile> changed_files(const Plan& plan);

/// A plan has at most this many bytes as text.
inline constexpr std::size_t kMaxPlanBytes = std::size_t{64} << 20U;

/// The plan as bytes, without loss: equal plans have equal bytes. Throws Error (Limit): there are too many. Any thread;
/// does not block.
[[nodiscard]] std::string encode(const Plan& plan);
/// The plan of these bytes. Throws Error (Incompatible): they are not a plan that encode() of this version made. The
/// rules of a configuration are not checked. Any thread; does not block.
[[nodiscard]] Plan decode(std::string_view bytes);

/// A file in memory with the plan, which nobody can change any more. Throws Error (System, Limit). Any thread; does not
/// block.
[[nodiscard]] Fd seal(const Plan& plan);
/// The plan in such a file. Throws Error (Incompatible): the file is not sealed, or does not contain a plan of this
/// version. Any thread; does not block.
[[nodiscard]] Plan plan_of(int fd);

}  // namespace cardan::plan
