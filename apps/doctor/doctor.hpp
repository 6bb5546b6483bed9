// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cardan::apps {

/// The result of a check, one line of the report.
struct Finding {
  enum class Status : std::uint8_t {
    Ok,
    Note,  ///< worth knowing, nothing to do
    Warn,  ///< Cardan works, something is slower or smaller than it could be
    Fail,  ///< Cardan cannot work
  };
  std::string check;
  Status status = Status::Ok;
  std::string found;     ///< what is, and what it means
  std::string remedy{};  ///< what to do; empty for Ok and Note
};
const char* to_string(Finding::Status status);

using Findings = std::vector<Finding>;

// Each adds its findings and throws nothing; a check that cannot be made says so as a Note.
void check_kernel(Findings& findings);  // system calls, seals, container filters
void check_limits(Findings& findings);  // descriptors, inotify, locked memory, real-time rights
void check_memory(Findings& findings);  // available, control groups, huge pages, NUMA
void check_run_directory(Findings& findings, const std::string& domain);
void check_cpus(Findings& findings);    // CPUs, governor, idle states, virtual machine, wake-up
void check_clocks(Findings& findings);  // clock source, its cost, time namespace

/// The first line of a file, without the line end; empty when it cannot be read.
std::string first_line(const std::string& path);

}  // namespace cardan::apps
