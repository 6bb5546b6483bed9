// SPDX-License-Identifier: Apache-2.0
#include "apps/record_control.hpp"

#include <chrono>
#include <thread>

#include "cardan/memory/fixed_string.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/subscriber.hpp"

namespace cardan::apps {

/// An order to a recorder.
struct RecordOrder {
  FixedString<28> action;
};

}  // namespace cardan::apps

CARDAN_MESSAGE(cardan::apps::RecordOrder, "cardan_msgs/msg/RecordOrder", action);

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;

constexpr Topic<RecordOrder> kOrders{"/cardan/record/orders", {.depth = 8, .reliable = true}};

}  // namespace

const std::vector<std::string>& record_actions() {
  static const std::vector<std::string> all{"pause", "resume", "split", "trigger", "stop"};
  return all;
}

bool tell_recorders(const std::string& domain, const std::string& action) {
  Publisher<RecordOrder> out(kOrders, {.domain = domain});
  const auto until = std::chrono::steady_clock::now() + 1s;
  while (out.subscribers() == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  if (out.subscribers() == 0) return false;
  RecordOrder order;
  if (!order.action.assign(action)) return false;
  out.publish(order);
  std::this_thread::sleep_for(200ms);  // recorders look at their ear some times a second
  return true;
}

struct RecordControl::Ear {
  Subscriber<RecordOrder> subscriber;
};

RecordControl::RecordControl(const std::string& domain)
    : ear_(new Ear{Subscriber<RecordOrder>(kOrders, {.domain = domain})}) {}
RecordControl::~RecordControl() = default;

std::optional<std::string> RecordControl::next() {
  const auto order = ear_->subscriber.take();
  if (!order) return std::nullopt;
  return std::string(std::string_view(order->action));
}

}  // namespace cardan::apps
