// SPDX-License-Identifier: Apache-2.0
// expect: deleted
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/messages/messages.hpp"

cardan::FixedString<4> name() { return "longer than four"; }
