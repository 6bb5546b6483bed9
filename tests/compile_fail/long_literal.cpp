// SPDX-License-Identifier: Apache-2.0
// expect: deleted
#include "cardan/types/message.hpp"

cardan::FixedString<4> name() { return "longer than four"; }
