// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <future>

#include "cardan/error.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan {
namespace {

/// Servers that are asked at the same time when components start.
constexpr std::size_t kMostAskedAtOnce = 32;

template <class F>
void with_name_of(const detail::ComponentCore& core, F connect) {
  try {
    connect();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("component '{}' did not start: {}", core.name(), e.cause()), e.remedy());
  }
}

}  // namespace

void Runtime::connect_services(const detail::ComponentCore* only) {
  std::vector<const detail::ComponentCore*> cores;
  if (only != nullptr) cores = {only};
  if (only == nullptr)
    for (const auto& core : components_) cores.push_back(core.get());
  const bool outside = process() != nullptr;
  // Servers first: a client of this process then finds its server at once.
  for (const auto* core : cores)
    for (const detail::DeclaredService& service : core->services())
      if (outside && service.server != nullptr) with_name_of(*core, [&] { services_.serve(service, options_.domain); });
  // A server that does not answer (a stopped process) costs a second. Side by side, all of them cost one.
  std::vector<std::pair<const detail::ComponentCore*, std::future<void>>> opening;
  for (const auto* core : cores)
    for (const detail::DeclaredService& service : core->services()) {
      if (service.client == nullptr) continue;
      if (!outside) {
        with_name_of(*core, [&] { services_.ask_here(service); });
        continue;
      }
      if (opening.size() >= kMostAskedAtOnce) opening[opening.size() - kMostAskedAtOnce].second.wait();
      std::shared_ptr<detail::ClientCore> client;
      with_name_of(*core, [&] { client = services_.ask(service, options_.domain); });
      opening.emplace_back(core, std::async(std::launch::async, [client] { client->open(); }));
    }
  for (auto& [core, opened] : opening) with_name_of(*core, [&, &one = opened] { one.get(); });
}

}  // namespace cardan
