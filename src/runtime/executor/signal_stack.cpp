// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/signal_stack.hpp"

#include <sys/mman.h>

#include <csignal>

namespace cardan::detail {

SignalStack::SignalStack() noexcept
    : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (memory_ == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kBytes;
  ::sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  if (memory_ == MAP_FAILED) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, kBytes);
}

}  // namespace cardan::detail
