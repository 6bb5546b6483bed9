// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/stop_flag.hpp"

namespace cardan {

Atomic<bool> detail::stop_requested{false};

}  // namespace cardan
