// SPDX-License-Identifier: Apache-2.0
// The common part of functions that wait for others while the interpreter's lock is free.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "cardan/detail/deadline.hpp"
#include "cardan/endpoint_options.hpp"
#include "python/src/errors.hpp"

namespace cardan::python {

/// The interpreter gets to its signals so often, nanoseconds.
inline constexpr std::int64_t kSlice = 100'000'000;

/// When a wait ends, by the steady clock. `timeout`: nanoseconds, negative: never.
[[nodiscard]] inline std::int64_t deadline_of(std::int64_t timeout) noexcept {
  return timeout < 0 ? std::numeric_limits<std::int64_t>::max()
                     : detail::deadline_after(std::chrono::nanoseconds{timeout});
}

/// At the interpreter's end no thread may be left in a wait: it could never come back.
struct Waits {
  std::atomic<bool> ended{false};
  std::atomic<int> inside{0};
};
inline Waits waits;

class InWait {
 public:
  InWait() noexcept { waits.inside.fetch_add(1, std::memory_order_seq_cst); }
  InWait(const InWait&) = delete;
  InWait& operator=(const InWait&) = delete;
  ~InWait() { waits.inside.fetch_sub(1, std::memory_order_seq_cst); }
};

/// Other threads of the interpreter run as long as this object lives. At the interpreter's end it keeps the lock: a thread
/// that wants it back then is ended by the interpreter, in the middle of C++, which ends the process.
class OthersRun {
 public:
  OthersRun() : state_(waits.ended ? nullptr : PyEval_SaveThread()) {}
  OthersRun(const OthersRun&) = delete;
  OthersRun& operator=(const OthersRun&) = delete;
  ~OthersRun() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }

 private:
  InWait inside_;  ///< until the lock is back
  PyThreadState* state_;
};

/// As `Subscriber.reason` says it.
[[nodiscard]] inline const char* word_of(Reason reason) noexcept {
  constexpr const char* kWords[] = {"none", "stopped", "timed_out", "event", "limit", "forked"};
  return kWords[static_cast<std::size_t>(reason)];
}

inline void look_at_signals() {
  if (PyErr_CheckSignals() != 0) throw_python();
}

}  // namespace cardan::python
