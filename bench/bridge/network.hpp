// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::bench {

/// From here on this process and those that it starts are in a network of their own, where only loopback is: neither
/// the bridges nor their peers meet anything else of this computer. Needs root or user namespaces; throws Error. For a
/// process with one thread.
void enter_own_network();

}  // namespace cardan::bench
