// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/fiber.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CARDAN_CHECKER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CARDAN_CHECKER_ASAN 1
#endif
#if defined(CARDAN_CHECKER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// swapcontext would ask the kernel for the signal mask twice a step, which is most of the time of a step.
extern "C" void cardan_checker_switch(void** save, void* to);

#if defined(__x86_64__)
asm(R"(
.text
.globl cardan_checker_switch
.type cardan_checker_switch, @function
cardan_checker_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cardan_checker_switch, .-cardan_checker_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl cardan_checker_switch
.type cardan_checker_switch, %function
cardan_checker_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size cardan_checker_switch, .-cardan_checker_switch
)");
#else
#error "the checker's fibers know x86-64 and arm64"
#endif

namespace cardan::checker {
namespace {
Fiber* starting = nullptr;
}

Fiber::Fiber() : stack_(new std::byte[kStackBytes]) {}

void Fiber::start(Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  fake_stack_ = nullptr;
  auto top = reinterpret_cast<std::uintptr_t>(stack_.get() + kStackBytes) & ~std::uintptr_t{63};
#if defined(CARDAN_CHECKER_ASAN)
  __asan_unpoison_memory_region(stack_.get(), kStackBytes);  // what the abandoned run left poisoned
#endif
  void (*first)() = &Fiber::trampoline;
#if defined(__x86_64__)
  auto* frame = reinterpret_cast<std::uintptr_t*>(top) - 8;  // six registers, the return address, one for the alignment
  std::memset(frame, 0, 8 * sizeof(std::uintptr_t));
  frame[6] = reinterpret_cast<std::uintptr_t>(first);
#else
  auto* frame = reinterpret_cast<std::uintptr_t*>(top - 160);
  std::memset(frame, 0, 160);
  frame[11] = reinterpret_cast<std::uintptr_t>(first);  // x30
#endif
  stack_pointer_ = frame;
}

void Fiber::trampoline() {
  Fiber& self = *starting;
#if defined(CARDAN_CHECKER_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &self.scheduler_stack_, &self.scheduler_stack_bytes_);
#endif
  self.entry_(self.argument_);
  std::abort();  // entry must suspend for ever instead
}

void Fiber::resume() {
  starting = this;
#if defined(CARDAN_CHECKER_ASAN)
  __sanitizer_start_switch_fiber(&scheduler_fake_stack_, stack_.get(), kStackBytes);
#endif
  cardan_checker_switch(&scheduler_pointer_, stack_pointer_);
#if defined(CARDAN_CHECKER_ASAN)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#if defined(CARDAN_CHECKER_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, scheduler_stack_, scheduler_stack_bytes_);
#endif
  cardan_checker_switch(&stack_pointer_, scheduler_pointer_);
#if defined(CARDAN_CHECKER_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

}  // namespace cardan::checker
