// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace cardan::checker {

/// A separate stack that runs `entry(argument)` and hands the core back and forth with the scheduler. A fiber may be
/// left in the middle for ever (that is how a process dies here), so what runs on it owns no heap memory. One thread
/// only; never blocks.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Forgets whatever ran before; the next resume() calls entry(argument), which must end by suspending for ever.
  void start(Entry entry, void* argument);
  /// From the scheduler: runs the fiber until it suspends.
  void resume();
  /// From the fiber: back to the scheduler until the next resume().
  void suspend();

 private:
  static void trampoline();

  static constexpr std::size_t kStackBytes = 128 * 1024;
  std::unique_ptr<std::byte[]> stack_;
  void* stack_pointer_ = nullptr;
  void* scheduler_pointer_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // Only the address sanitizer uses these: it must be told of every change of stacks.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* scheduler_fake_stack_ = nullptr;
  [[maybe_unused]] const void* scheduler_stack_ = nullptr;
  [[maybe_unused]] std::size_t scheduler_stack_bytes_ = 0;
};

}  // namespace cardan::checker
