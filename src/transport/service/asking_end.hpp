// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/detail/service_end.hpp"

namespace cardan::detail {

/// The asking end of a service, as a component's client uses it. Its server is in any process, or in the same
/// simulation. Times are of the clock that the component sees.
class AskingEnd {
 public:
  AskingEnd() = default;
  AskingEnd(const AskingEnd&) = delete;
  AskingEnd& operator=(const AskingEnd&) = delete;
  virtual ~AskingEnd() = default;

  [[nodiscard]] virtual LoanedSlot loan() noexcept = 0;
  /// `deadline_ns` 0: none.
  [[nodiscard]] virtual AskedQuestion ask(Filled filled, std::int64_t deadline_ns) noexcept = 0;
  virtual void cancel(std::uint64_t number) noexcept = 0;
  [[nodiscard]] virtual bool has_server() const noexcept = 0;
  /// For people: why it could not be asked.
  [[nodiscard]] virtual std::string why_not_asked(NoAnswer reason) const = 0;
  struct Done {
    std::uint64_t number = 0;  ///< 0: none
    Outcome outcome{};
  };
  /// Removes a question whose outcome is known, or whose time is over.
  [[nodiscard]] virtual Done next_done(std::int64_t now) = 0;
  /// When the time of one is over; 0: never.
  [[nodiscard]] virtual std::int64_t next_deadline() const noexcept = 0;
};

}  // namespace cardan::detail
