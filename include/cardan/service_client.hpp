// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cardan/detail/declaring.hpp"
#include "cardan/detail/unset.hpp"
#include "cardan/publisher.hpp"
#include "cardan/service.hpp"

namespace cardan {

class Context;

/// A component's client of a service, made by Context::client(). For each question it calls a function once, as a
/// callback of the component, with the answer or with the reason for a missing one. The server may be in any process,
/// start later or again, or be the component itself. It is attached only after all components of the process have
/// started. Functions of questions that are pending when the component ends are not called. It is a handle: copies ask
/// for the same client, and none may be used after the component. A handle that was never set throws Error
/// (InvalidArgument) when it is used. Any thread; never blocks; allocates for the function.
template <class S>
class ServiceClient {
 public:
  using Q = typename S::Question;
  using A = typename S::Answer;

  ServiceClient() = default;

  /// As Client::loan().
  [[nodiscard]] Loan<Q> loan() const { return detail::typed<Q>(detail::loan_of_client(client())); }
  /// Asks. `callback(const Answer<A>&)` is called also if the question could not be asked, and when `timeout` (of the
  /// component's clock) is over. Returns a number for cancel(); 0: it could not be asked.
  template <std::invocable<const Answer<A>&> F>
  std::uint64_t ask(Loan<Q>&& question, std::chrono::nanoseconds timeout, F callback) const {
    detail::AnswerCall call = [callback = std::move(callback)](detail::Outcome&& outcome) mutable {
      callback(Answer<A>(detail::sample_of<A>(outcome.block), outcome.reason, std::move(outcome.text)));
    };
    if (!question) return detail::fail_to_ask(client(), std::move(call));
    return detail::ask(client(), detail::take_out(question), timeout, std::move(call));
  }
  /// The same with a copy of a plain struct.
  template <std::invocable<const Answer<A>&> F>
  std::uint64_t ask(const Q& question, std::chrono::nanoseconds timeout, F callback) const
    requires std::is_trivially_copyable_v<Q>
  {
    Loan<Q> copy = loan();
    if (copy) *copy = question;
    return ask(std::move(copy), timeout, std::move(callback));
  }
  /// The question's function is not called any more, unless it runs already or has.
  void cancel(std::uint64_t number) const { detail::cancel_question(client(), number); }
  [[nodiscard]] bool has_server() const { return detail::has_server(client()); }
  /// Whether it was set.
  explicit operator bool() const noexcept { return client_ != nullptr; }

 private:
  friend class Context;
  explicit ServiceClient(detail::ClientCallback& client) : client_(&client) {}
  [[nodiscard]] detail::ClientCallback& client() const {
    if (client_ == nullptr) detail::refuse_unset("ServiceClient", "client(service)", detail::type_text<Q>());
    return *client_;
  }
  detail::ClientCallback* client_ = nullptr;
};

}  // namespace cardan
