// SPDX-License-Identifier: Apache-2.0
#include "cardan/system/launcher/launcher_control.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/system/launcher/supervisor.hpp"

namespace cardan::launcher {

using nlohmann::json;

namespace {

std::string text_of(const json& answer) { return answer.dump(-1, ' ', false, json::error_handler_t::replace); }

json json_of(const ProcessStatus& p) {
  return {{"name", p.name}, {"state", std::string(name_of(p.phase))}, {"pid", p.pid}, {"restarts", p.restarts}};
}

}  // namespace

LauncherControl::LauncherControl(Supervisor& supervisor, const std::string& domain)
    : supervisor_(supervisor),
      system_(supervisor.configuration().name),
      processes_(supervisor.configuration().processes),
      service_(domain, [this](const std::string& request, std::chrono::nanoseconds age) {
        return host::ControlService::Reply{answer(request, age)};
      }) {}

OrderAnswer LauncherControl::look() {
  std::future<OrderAnswer> look = supervisor_.order({.what = Order::What::Look});
  if (look.wait_for(std::chrono::milliseconds{500}) != std::future_status::ready)
    throw Error(ErrorCode::Unavailable, "cardan run is busy", "ask again");
  return look.get();
}

std::string LauncherControl::processes() {
  const OrderAnswer seen = look();
  if (seen.error) throw Error(*seen.error);
  json answer{{"launcher", system_}, {"processes", json::array()}};
  for (const ProcessStatus& p : seen.processes) answer["processes"].push_back(json_of(p));
  return text_of(answer);
}

/// Those of processes that run say themselves what they are; of a system that has ended nothing is down.
std::string LauncherControl::components_that_are_down() {
  json answer{{"launcher", system_}, {"components", json::array()}, {"down", json::array()}};
  const OrderAnswer seen = look();
  if (seen.error) return text_of(answer);
  for (const ProcessStatus& status : seen.processes) {
    if (status.pid != 0 || status.phase == Phase::Starting) continue;
    const auto process =
        std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p.name == status.name; });
    if (process == processes_.end()) continue;
    for (const config::Component& c : process->components)
      answer["down"].push_back(
          {{"component", c.name}, {"class", c.class_name}, {"library", c.library}, {"process", json_of(status)}});
  }
  return text_of(answer);
}

std::string LauncherControl::outcome(std::uint64_t number) {
  const auto found = std::find_if(orders_.begin(), orders_.end(), [&](const Pending& p) { return p.number == number; });
  if (found == orders_.end())
    throw Error(ErrorCode::InvalidArgument, "unknown order", "cardan component list shows what runs");
  if (found->answer.wait_for(std::chrono::seconds{0}) != std::future_status::ready)
    return text_of({{"launcher", system_}, {"done", false}});
  Pending pending = std::move(*found);
  orders_.erase(found);
  const OrderAnswer done = pending.answer.get();
  if (done.error) throw Error(*done.error);
  json answer{{"launcher", system_}, {"done", true}, {"killed", done.killed}};
  for (const ProcessStatus& p : done.processes)
    if (p.name == pending.process) answer["pid"] = p.pid;
  return text_of(answer);
}

std::string LauncherControl::answer(const std::string& text, std::chrono::nanoseconds age) {
  const json request = json::parse(text);
  const std::string what = request.at("do");
  if (what == "components") return components_that_are_down();
  if (what == "processes") return processes();
  if (what == "outcome") return outcome(request.at("order"));
  if (what != "stop process" && what != "restart process")
    throw Error(ErrorCode::Incompatible, "cardan run: unknown request '" + what + "'",
                "use the same version of Cardan on both sides");
  const std::string process = request.at("process");
  std::future<OrderAnswer> done =
      supervisor_.order({.what = what == "stop process" ? Order::What::Stop : Order::What::Restart,
                         .process = process,
                         .until_ns = steady_now() + host::time_left(text, age).count()});
  orders_.push_back({++last_order_, process, std::move(done)});
  if (orders_.size() > kOutcomes) orders_.pop_front();
  return text_of({{"launcher", system_}, {"order", last_order_}});
}

}  // namespace cardan::launcher
