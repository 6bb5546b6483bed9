// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/detail/fd.hpp"

namespace cardan::bench {

/// From here on this process and those that it starts are in their own network, where only loopback is: neither
/// the bridges nor their peers meet anything else of this computer. Needs root or user namespaces; throws Error. For a
/// process with one thread.
void enter_own_network();

/// A second network, which a cable can join to this one: what goes there leaves loopback. Both have one address. It
/// is gone with this process and those in it, also when they are killed. For a process with one thread.
class OtherNetwork {
 public:
  static constexpr const char* kHere = "10.77.0.1";
  static constexpr const char* kThere = "10.77.0.2";
  static constexpr const char* kDeviceHere = "cardan0";
  static constexpr const char* kDeviceThere = "cardan1";
  enum class Cable : std::uint8_t {
    Veth,
    Taps,  ///< the frames of each device are in its descriptor, and its maker carries them
  };

  /// After enter_own_network(), once. Throws Error (Unavailable): this kernel has no such devices, or the rights are
  /// missing.
  explicit OtherNetwork(Cable cable = Cable::Veth);

  /// Of Cable::Taps: one frame a read and a write, without blocking.
  [[nodiscard]] int tap_here() const noexcept { return tap_here_.get(); }
  [[nodiscard]] int tap_there() const noexcept { return tap_there_.get(); }

  /// The two are joined while it lives. Not longer, because DDS prefers such a device to loopback.
  class Joined {
   public:
    /// Throws Error (Unavailable). Null: nothing is joined.
    explicit Joined(const OtherNetwork* network);
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;
    ~Joined();

   private:
    bool up_ = false;
  };

  /// Processes that are started while one lives are in the other network.
  class Inside {
   public:
    /// Throws Error (Unavailable). Null: stays here.
    explicit Inside(const OtherNetwork* network);
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside();

   private:
    Fd back_{};
  };

 private:
  Fd there_, tap_here_, tap_there_;
};

}  // namespace cardan::bench
