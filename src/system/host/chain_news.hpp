// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace cardan {
class Runtime;
}

namespace cardan::host {

/// Tells the launcher what was published at the ends of chains that have a budget, each 100 ms at most. One thread,
/// which alone changes the runtime's components.
class ChainNews {
 public:
  /// `say` gets "PUBLICATIONS UNKNOWN LATE AGE_NS HOP_NS CHAIN COMPONENT": the new ones of each, and age and longest
  /// component of the last late one; "-": no component is known.
  ChainNews(const Runtime& runtime, std::function<void(const std::string& line)> say)
      : runtime_(runtime), say_(std::move(say)) {}

  /// When to do it again; 0: no such chain ends here. Steady clock, ns. `at_once`: even if it is too early.
  std::int64_t tell(std::int64_t now, bool at_once = false);

 private:
  struct Told {
    std::uint64_t in_time = 0, unknown = 0, late = 0;
  };
  const Runtime& runtime_;
  std::function<void(const std::string&)> say_;
  /// By component, number of its declaration (two outputs may be of one topic), and chain.
  std::map<std::tuple<std::string, std::size_t, std::string>, Told> told_;
  std::int64_t next_ns_ = 0;
};

}  // namespace cardan::host
