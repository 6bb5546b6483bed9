// SPDX-License-Identifier: Apache-2.0
// expect: constraints not satisfied
#include <cstdint>
#include <string>

#include "cardan/message.hpp"

std::uint64_t hash() { return cardan::message_traits<std::string>::type_hash(); }
