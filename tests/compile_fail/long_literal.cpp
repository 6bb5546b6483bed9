// SPDX-License-Identifier: Apache-2.0
// expect: deleted
#include "cardan/message.hpp"

cardan::FixedString<4> name() { return "longer than four"; }
