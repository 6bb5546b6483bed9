// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

/// tf2's own tree, without a type of tf2 or of Cardan: tf2's headers and those of C++20 are compiled apart.
class Tf2Tree {
 public:
  explicit Tf2Tree(double history_seconds);
  ~Tf2Tree();
  /// Translation x, y, z and rotation x, y, z, w.
  using Numbers = std::array<double, 7>;
  /// False: refused.
  bool put(const std::string& parent, const std::string& child, std::int64_t stamp, const Numbers& numbers,
           bool is_static);
  /// False: it throws.
  bool lookup(const std::string& target, const std::string& source, std::int64_t stamp, Numbers& into) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};
