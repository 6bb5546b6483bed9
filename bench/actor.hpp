// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "bench/helper.hpp"

namespace cardan::bench {

/// Whether the user has asked the bench to stop.
using Stopped = bool (*)();
/// Called some times a second while somebody is waited for.
using Look = std::function<void()>;

/// A process that plays a part of a run (Stage is its side). It is gone with this object. Not to be shared by threads.
class Actor {
 public:
  /// A part of `cardan bench <bench>`. `run_dir`: its CARDAN_RUN_DIR. Throws Error.
  Actor(const char* bench, const nlohmann::json& job, const std::string& run_dir);
  /// Another program that knows Stage's signals. Throws Error.
  Actor(std::string part, const launcher::ChildOptions& options) : part_(std::move(part)), helper_(options) {}

  /// Throws Error: it ended, or is not ready within 30 s. Returns early when `stopped()`.
  void await_ready(Stopped stopped);
  void go() const noexcept;
  /// Waits until all its messages are made. Throws Error: it ended, or is not done by `until` (steady time).
  void await_done(std::int64_t until, Stopped stopped, const Look& look = {});
  /// Tells it to end.
  void end() const noexcept;
  /// Its result. Throws Error: it did not end in order, or not by `until`.
  [[nodiscard]] nlohmann::json await_result(std::int64_t until, const Look& look = {});

  [[nodiscard]] int pid() const noexcept { return helper_.child().pid(); }
  [[nodiscard]] Helper& helper() noexcept { return helper_; }

 private:
  void await(std::size_t words, std::int64_t until, Stopped stopped, const Look& look, const char* what);
  [[noreturn]] void failed(const std::string& how) const;

  std::string part_;
  Helper helper_;
};

}  // namespace cardan::bench
