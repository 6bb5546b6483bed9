// SPDX-License-Identifier: Apache-2.0
// expect: constraints not satisfied
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/messages/messages.hpp"

std::uint64_t hash() { return cardan::message_traits<std::string>::type_hash(); }
