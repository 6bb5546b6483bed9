// SPDX-License-Identifier: Apache-2.0
// The scenario `ask` of `cardan`: a service whose question is the frame, and whose answer is a number.
#pragma once

#include <utility>

#include "bench/transport/peers/cardan_frames.hpp"
#include "cardan/service.hpp"

namespace cardan::bench {

struct Answered {
  std::uint64_t number = 0;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::Answered, "cardan_bench/msg/Answered", number);

namespace cardan::bench {

template <class T>
Service<T, Answered> service_of(const Area& area) {
  Service<T, Answered> service{area.header().topic, {.pending = 1}};
  if constexpr (shm::has_vectors<T>) service.options.max_bytes = area.header().cell.bytes;
  service.options.waiting = waiting_of(area.header().contender, area.header().cell);
  return service;
}

template <class T>
class CardanAsker {
 public:
  CardanAsker(const Area& area, std::uint32_t /*index*/)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), client_(service_of<T>(area)) {
    wait_until("no server was found", [&] { return client_.has_server(); });
  }

  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    question_ = client_.loan();
    if (!question_) return {};
    if constexpr (shm::has_vectors<T>) {
      if (!question_->words.try_resize_for_overwrite(words_)) return {};
      return question_->words.span();
    } else {
      return question_->words;
    }
  }
  void publish(std::uint64_t) { (void)client_.ask(std::move(question_), std::chrono::seconds{5}).wait(); }

 private:
  std::size_t words_;
  Client<Service<T, Answered>> client_;
  Loan<T> question_;
};

template <class T>
class CardanAnswerer {
 public:
  CardanAnswerer(const Area& area, std::uint32_t /*index*/) : server_(service_of<T>(area)) {
    wait_until("the client was not found", [&] { return server_.clients() == 1; });
  }

  std::span<const std::uint64_t> next() {
    auto question = server_.wait();
    if (!question) return {};
    asked_ = question.sample();
    (void)question.reply({asked_.sequence()});
    if constexpr (shm::has_vectors<T>)
      return asked_->words.span();
    else
      return asked_->words;
  }
  void release() noexcept { asked_.reset(); }

 private:
  Server<Service<T, Answered>> server_;
  Sample<T> asked_;
};

}  // namespace cardan::bench
