// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "cardan/error.hpp"

namespace cardan::python {

/// One thread at a time uses an endpoint, also while the GIL is released. Throws Error where another one is inside.
class InUse {
 public:
  InUse(std::atomic<bool>& busy, const std::string& topic) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire))
      throw Error(ErrorCode::InvalidArgument, "two threads use the same endpoint of '" + topic + "' at a time",
                  "make an endpoint for each thread");
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& busy_;
};

}  // namespace cardan::python
