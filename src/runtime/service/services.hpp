// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cardan/detail/declaring.hpp"
#include "src/runtime/service/client_callback.hpp"
#include "src/runtime/service/service_callback.hpp"

namespace cardan::detail {

/// A service's end as a component has declared it.
struct DeclaredService {
  std::string name_in_code, name;
  ServiceType type;
  std::uint32_t holds = 0;            ///< of a server
  ServiceCallback* server = nullptr;  ///< one of both
  ClientCallback* client = nullptr;
};

/// The services of the components of one runtime. Set-up, except where it says otherwise.
class Services {
 public:
  explicit Services(const RuntimeClock& clock) : clock_(clock) {}

  /// Throws Error (NameTaken): another component of this runtime serves it.
  void add(const DeclaredService& service);
  void remove(const DeclaredService& service) noexcept;
  /// Clients of all processes find it from now on. Throws Error as Server.
  void serve(const DeclaredService& service, const std::string& domain);
  /// Returns its end, which has yet to be opened: to a server of any process. Throws Error as Client.
  std::shared_ptr<ClientCore> ask(const DeclaredService& service, const std::string& domain);
  /// In a simulation: to a server of this runtime. Throws Error (Incompatible).
  void ask_here(const DeclaredService& service);

  // In a simulation:
  /// When the time of a question is over; 0: never.
  [[nodiscard]] std::int64_t next_deadline() const noexcept;
  /// Ends the questions whose time is over.
  void end_overdue();

 private:
  void refuse_other_type(const DeclaredService& client) const;

  const RuntimeClock& clock_;
  std::map<std::string, const DeclaredService> servers_;
  std::vector<ClientCallback*> clients_;  ///< in a simulation
};

}  // namespace cardan::detail
