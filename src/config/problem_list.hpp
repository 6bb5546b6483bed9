// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::config {

/// Where the checks put what they find; knows the places of the file.
class ProblemList {
 public:
  ProblemList(const Configuration& configuration, std::vector<Problem>& problems)
      : source_(configuration.source), problems_(problems) {
    for (const Problem& problem : problems) wrong_.insert(problem.pointer);
  }

  void error(const std::string& pointer, std::string cause, std::string remedy) {
    add(pointer, source_.value(pointer), Severity::Error, std::move(cause), std::move(remedy));
  }
  void warning(const std::string& pointer, std::string cause, std::string remedy) {
    add(pointer, source_.value(pointer), Severity::Warning, std::move(cause), std::move(remedy));
  }
  /// At its own place: of a file that is included by one that is included.
  void warning(const std::string& pointer, Place place, std::string cause, std::string remedy) {
    add(pointer, place, Severity::Warning, std::move(cause), std::move(remedy));
  }
  /// The key is wrong, not its value.
  void error_in_key(const std::string& pointer, std::string cause, std::string remedy) {
    add(pointer, source_.key(pointer), Severity::Error, std::move(cause), std::move(remedy));
  }

  /// Whether the file says anything there: a field of an aggregate cannot tell "absent" from its default.
  [[nodiscard]] bool stands(std::string_view pointer) const { return source_.keys.contains(pointer); }
  /// Whether it was wrong before these checks, and reads as a default: its consequences are not reported.
  [[nodiscard]] bool was_wrong(const std::string& pointer) const { return wrong_.contains(pointer); }

 private:
  void add(const std::string& pointer, Place place, Severity severity, std::string cause, std::string remedy) {
    problems_.push_back(source_.problem(pointer, place, severity, std::move(cause), std::move(remedy)));
  }

  const Source& source_;
  std::vector<Problem>& problems_;
  std::set<std::string, std::less<>> wrong_;
};

/// In the order of the text; the configuration before what it includes.
void sort(std::vector<Problem>& problems);

}  // namespace cardan::config
