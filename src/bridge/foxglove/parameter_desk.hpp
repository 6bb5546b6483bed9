// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "src/bridge/foxglove/protocol.hpp"
#include "src/system/host/control_client.hpp"

namespace cardan::bridge::foxglove {

/// Answers clients' requests for parameters. The components are asked at most five times a second, for all clients.
/// Thread safety: one thread. Blocks as the components do.
class ParameterDesk {
 public:
  /// The components of the domain. The desk's functions throw what its functions throw.
  class Components {
   public:
    Components() = default;
    Components(const Components&) = delete;
    Components& operator=(const Components&) = delete;
    virtual ~Components() = default;
    [[nodiscard]] virtual host::DomainComponents look() = 0;
    virtual void set(const host::ComponentReport& component, const std::string& parameter,
                     const config::Value& value) = 0;
    /// Whether the asking client has used up its time.
    [[nodiscard]] virtual bool stops() const = 0;
  };
  /// `components` outlive it.
  explicit ParameterDesk(Components& components) : components_(components) {}

  /// By "component/parameter".
  [[nodiscard]] Parameters all();
  /// The text for the client.
  [[nodiscard]] std::string answer(const GetParameters& request);
  /// Throws Error (InvalidArgument, Timeout) at the first parameter that does not exist, or that is left after five
  /// seconds. Those before it are set.
  [[nodiscard]] std::string answer(const SetParameters& request);

 private:
  const host::DomainComponents& there();

  Components& components_;
  host::DomainComponents there_{};
  std::int64_t asked_ns_ = 0;  ///< steady clock; 0: ask again
};

}  // namespace cardan::bridge::foxglove
