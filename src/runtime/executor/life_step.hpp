// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::detail {

/// While it lives, this thread runs a step of a component's life outside of its callbacks: a crash report names it.
/// Both texts must outlive it. Thread safety: of its own thread; the handler of a signal may read it.
class LifeStep {
 public:
  LifeStep(const char* component, const char* step) noexcept;
  LifeStep(const LifeStep&) = delete;
  LifeStep& operator=(const LifeStep&) = delete;
  ~LifeStep();

  /// Of the calling thread; null: it runs none.
  [[nodiscard]] static const LifeStep* now() noexcept;
  [[nodiscard]] const char* component() const noexcept { return component_; }
  /// "constructor", "on_start", …
  [[nodiscard]] const char* step() const noexcept { return step_; }

 private:
  const char* component_;
  const char* step_;
  const LifeStep* before_;
};

}  // namespace cardan::detail
