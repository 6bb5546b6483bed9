// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "cardan/publisher.hpp"

namespace cardan::apps {

/// Gives an order to all that listen on the topic in the domain. False: nobody listens. Blocks for up to a second.
template <class T>
[[nodiscard]] bool send_order(const Topic<T>& topic, const std::string& domain, const T& order) {
  using namespace std::chrono_literals;
  Publisher<T> out(topic, {.domain = domain});
  const auto until = std::chrono::steady_clock::now() + 1s;
  while (out.subscribers() == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  if (out.subscribers() == 0) return false;
  out.publish(order);
  std::this_thread::sleep_for(200ms);  // a listener polls some times a second
  return true;
}

}  // namespace cardan::apps
