// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "cardan/cardan.hpp"

namespace cardan::street {

/// Cardan's endpoints with the two stamps around a take that the demo measures with. SocketBus has the same interface;
/// a process of the street is written once and runs over either.
class CardanBus {
 public:
  template <Message T>
  class Output {
   public:
    Output(CardanBus&, const Topic<T>& topic) : publisher_(topic) {}
    [[nodiscard]] Loan<T> loan() {
      Loan<T> loan = publisher_.loan();
      if (!loan)
        throw Error(ErrorCode::Limit, "no loan of " + publisher_.topic() + " is free",
                    "publish or drop the last one first");
      return loan;
    }
    void publish(Loan<T>&& loan) noexcept { publisher_.publish(std::move(loan)); }
    [[nodiscard]] std::uint64_t published() const noexcept { return publisher_.published(); }

   private:
    Publisher<T> publisher_;
  };

  template <Message T>
  class Input {
   public:
    struct Sample : cardan::Sample<T> {
      Sample() = default;
      Sample(cardan::Sample<T> sample, std::int64_t asked_at)
          : cardan::Sample<T>(std::move(sample)), asked(asked_at), received(*this ? steady_now() : 0) {}
      std::int64_t asked = 0, received = 0;
    };
    Input(CardanBus&, const Topic<T>& topic) : subscriber_(topic) {}

   private:
    friend class CardanBus;
    void check() const {
      if (const Reason reason = subscriber_.reason(); reason == Reason::Limit || reason == Reason::Forked) {
        throw Error(ErrorCode::Limit, "no sample of " + subscriber_.topic() + " can be taken",
                    "drop the last one first");
      }
    }
    Subscriber<T> subscriber_;
  };

  /// Blocks until `input` has a new sample, and takes it; an empty sample once a stop is requested.
  template <Message T>
  typename Input<T>::Sample next(Input<T>& input) {
    const std::int64_t asked = steady_now();
    while (!stopping()) {
      typename Input<T>::Sample sample(input.subscriber_.wait(), asked);
      if (sample) return sample;
      input.check();
    }
    return {};
  }

  /// Blocks until one of them has, and takes from both; both empty once a stop is requested.
  template <Message A, Message B>
  std::pair<typename Input<A>::Sample, typename Input<B>::Sample> next_of(Input<A>& a, Input<B>& b) {
    const std::int64_t asked = steady_now();
    while (!stopping()) {
      wait_any(a.subscriber_, b.subscriber_);
      std::pair<typename Input<A>::Sample, typename Input<B>::Sample> samples{{a.subscriber_.take(), asked},
                                                                              {b.subscriber_.take(), asked}};
      if (samples.first || samples.second) return samples;
      a.check();
      b.check();
    }
    return {};
  }
};

}  // namespace cardan::street
