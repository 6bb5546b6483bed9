// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::bench {

/// Tells on stderr how far the bench is: one line that rewrites itself on a terminal, a plain line per finished cell
/// elsewhere. Between two calls it does nothing at all.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The next step (terminal only).
  void now(const std::string& words);
  /// Something worth keeping on the screen.
  void line(const std::string& words);
  /// Only where there is no terminal: the finished cell.
  void plain(const std::string& words);

 private:
  void clear();

  bool terminal_;
  bool dirty_ = false;
};

}  // namespace cardan::bench
