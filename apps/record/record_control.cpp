// SPDX-License-Identifier: Apache-2.0
#include "apps/record/record_control.hpp"

#include "apps/send_order.hpp"
#include "cardan/fixed_string.hpp"
#include "cardan/subscriber.hpp"

namespace cardan::apps {

/// An order to a recorder.
struct RecordOrder {
  FixedString<28> action;
};

}  // namespace cardan::apps

CARDAN_MESSAGE(cardan::apps::RecordOrder, "cardan_msgs/msg/RecordOrder", action);

namespace cardan::apps {
namespace {

constexpr Topic<RecordOrder> kRecordOrders{"/cardan/record/orders", {.depth = 8, .reliable = true}};

}  // namespace

const std::vector<std::string>& record_actions() {
  static const std::vector<std::string> all{"pause", "resume", "split", "trigger", "stop"};
  return all;
}

bool tell_recorders(const std::string& domain, const std::string& action) {
  RecordOrder order;
  return order.action.assign(action) && send_order(kRecordOrders, domain, order);
}

struct RecordControl::Ear {
  Subscriber<RecordOrder> subscriber;
};

RecordControl::RecordControl(const std::string& domain)
    : ear_(new Ear{Subscriber<RecordOrder>(kRecordOrders, {.domain = domain})}) {}
RecordControl::~RecordControl() = default;

std::optional<std::string> RecordControl::next() {
  const auto order = ear_->subscriber.take();
  if (!order) return std::nullopt;
  return std::string(std::string_view(order->action));
}

}  // namespace cardan::apps
