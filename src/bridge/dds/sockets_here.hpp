// SPDX-License-Identifier: Apache-2.0
// Network sockets that nobody on another computer reaches.
#pragma once

namespace cardan::bridge::dds {

/// Whether each network socket that this process makes from now on receives what comes through `lo` alone, from the
/// moment at which it has an address. Cyclone has no setting for it, so this library replaces bind(). Not
/// SO_BINDTODEVICE: what comes to another address of this computer goes through `lo` too, but the kernel counts it to
/// that address's interface. Throws Error (Unavailable): there is no `lo`. Any thread; does not block.
void receive_from_here_alone(bool alone);

/// Throws Error (Refused) if that was asked for, and a network socket of this process has no such filter. One thread;
/// blocks for /proc.
void require_sockets_here();

}  // namespace cardan::bridge::dds
