// SPDX-License-Identifier: Apache-2.0
// The bridge's part of services.
#include <new>
#include <utility>
#include <variant>

#include "src/bridge/foxglove/foxglove_bridge.hpp"

namespace cardan::bridge::foxglove {

void FoxgloveBridge::begin_services() {
  if (!rules_.foxglove.call_services || playback_) return;
  caller_ = std::make_unique<ServiceCaller>(rules_.domain, rules_.out);
  services_watch_ = server_->watch(caller_->fd(), [this] { look_at_services(); });
  services_watch_->arm();
}

const LocalService* FoxgloveBridge::service(std::uint32_t id) const {
  const auto it = services_.find(id);
  return it == services_.end() ? nullptr : &it->second;
}

void FoxgloveBridge::look_at_services() {
  for (ServiceCaller::Result& result : caller_->results()) {
    try {
      if (auto* const answer = std::get_if<ServiceCaller::Answer>(&result)) {
        const auto viewer = viewers_.find(answer->peer);
        if (viewer != viewers_.end()) viewer->second->answer(std::move(*answer));
        continue;
      }
      auto& change = std::get<ServiceCaller::Change>(result);
      const std::uint32_t id = change.service.id;
      if (change.added) {
        const LocalService& service = services_.insert_or_assign(id, std::move(change.service)).first->second;
        for (auto& [number, viewer] : viewers_) viewer->advertise(service);
      } else {
        for (auto& [number, viewer] : viewers_) viewer->unadvertise_service(id);
        services_.erase(id);
      }
    } catch (const std::bad_alloc&) {  // this client gets no answer, or does not learn of the service
    }
  }
  for (auto& [number, viewer] : viewers_) viewer->flush();
  services_watch_->arm();
}

}  // namespace cardan::bridge::foxglove
