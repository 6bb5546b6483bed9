// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/launcher_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/text_of_json.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/plan/difference.hpp"

namespace cardan::launcher {

using nlohmann::json;

namespace {

std::string text_of(const json& answer) { return text_of_json(answer); }

json json_of(const ProcessStatus& p) {
  return {{"name", p.name}, {"state", std::string(name_of(p.phase))}, {"pid", p.pid}, {"restarts", p.restarts}};
}

}  // namespace

LauncherControl::LauncherControl(Supervisor& supervisor, const std::string& domain)
    : supervisor_(supervisor),
      system_(supervisor.plan()->configuration.name),
      domain_(domain),
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
std::string LauncherControl::components_that_are_down(bool files) {
  json answer{{"launcher", system_}, {"components", json::array()}, {"down", json::array()}};
  const std::shared_ptr<const plan::Plan> plan = supervisor_.plan();
  if (files) {
    answer["file"] = plan->files.empty() ? plan->configuration.source.file_name : plan->files.front().path;
    answer["changed"] = json::array();
    for (const plan::ChangedFile& file : plan::changed_files(*plan))
      answer["changed"].push_back({{"path", file.path}, {"what", file.what}});
  }
  const OrderAnswer seen = look();
  if (seen.error) return text_of(answer);
  for (const ProcessStatus& status : seen.processes) {
    if (status.pid != 0 || status.phase == Phase::Starting) continue;
    const config::Process* const process = plan->configuration.process(status.name);
    if (process == nullptr) continue;
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
  if (what == "components") return components_that_are_down(request.value("files", false));
  if (what == "processes") return processes();
  if (what == "outcome") return outcome(request.at("order"));
  if (what == "offer plan") {
    const std::uint64_t offer = request.at("offer");
    const std::string digits = request.at("digits");
    return parts_.add(offer, request.at("part"), request.at("parts"), digits) ? offered(offer) : "{}";
  }
  if (what == "apply plan") {
    if (change_ == nullptr || request.at("offer") != offer_)
      throw Error(ErrorCode::Unavailable, "another plan was offered meanwhile", "give the order again");
    if (host::time_left(text, age).count() == 0)
      throw Error(ErrorCode::Unavailable, "the order came too late, and was not carried out", "give it again");
    return taken("", std::async(std::launch::async,
                                [this, change = std::exchange(change_, nullptr)] { return carry_out(change); }));
  }
  if (what != "stop process" && what != "restart process")
    throw Error(ErrorCode::Incompatible, "cardan run: unknown request '" + what + "'",
                "use the same version of Cardan on both sides");
  const std::string process = request.at("process");
  std::future<OrderAnswer> done =
      supervisor_.order({.what = what == "stop process" ? Order::What::Stop : Order::What::Restart,
                         .process = process,
                         .until_ns = steady_now() + host::time_left(text, age).count()});
  return taken(process, std::move(done));
}

std::string LauncherControl::taken(const std::string& process, std::future<OrderAnswer> answer) {
  orders_.push_back({++last_order_, process, std::move(answer)});
  if (orders_.size() > kOutcomes) orders_.pop_front();
  return text_of({{"launcher", system_}, {"order", last_order_}});
}

std::string LauncherControl::offered(std::uint64_t offer) {
  plan::Plan plan = plan::decode(parts_.take());
  plan::refuse_unsound(plan);
  PlanChange change{.from = supervisor_.plan()};
  plan.log_levels = change.from->log_levels;  // the command line's that started the system
  change.to = std::make_shared<const plan::Plan>(std::move(plan));
  change.difference = plan::difference(*change.from, *change.to);
  std::string answer = R"({"difference":)" + plan::to_json(change.difference) + "}";
  offer_ = offer;
  change_ = std::make_shared<const PlanChange>(std::move(change));
  return answer;
}

namespace {

/// Changes of parameters in the processes that run; those of the others come with the plan.
class Setter {
 public:
  Setter(const std::string& domain, const std::vector<plan::Difference::Set>& wanted) : wanted_(wanted) {
    if (!wanted.empty())
      client_ = std::make_unique<host::ControlClient>(host::ControlOptions{
          .domain = domain, .timeout = std::chrono::seconds{5}, .change = std::chrono::seconds{10}});
  }
  /// Sets what is not as it is wanted. Throws Error after the first that is refused; those before are set back then.
  /// `keep`: all of it, also for restarts of the components.
  void set(bool keep) {
    if (!client_) return;
    const std::vector<host::ComponentReport> all = client_->components().components;
    for (const plan::Difference::Set& one : wanted_)
      for (const host::ComponentReport& c : all) {
        if (c.name != one.component || c.process != one.process) continue;
        const auto is = std::find_if(c.parameters.begin(), c.parameters.end(),
                                     [&](const auto& p) { return p.name == one.parameter; });
        if (!keep && is != c.parameters.end() && is->value == one.after) continue;
        try {
          client_->set_parameter(c, one.parameter, one.after, keep);
        } catch (const Error& e) {
          if (keep && !is_there(c)) continue;  // its process has ended, and starts with the plan
          if (!keep) undo();
          throw Error(e.code(), fmt::format("{}/{} is not set: {}", one.component, one.parameter, e.cause()),
                      keep ? "cardan run --restart " + one.process : e.remedy());
        }
        if (is != c.parameters.end()) done_.push_back({c, one.parameter, is->value});
      }
  }
  void undo() noexcept {
    for (auto done = done_.rbegin(); done != done_.rend(); ++done) try {
        client_->set_parameter(done->component, done->parameter, done->before);
      } catch (const std::exception& e) {
        detail::log(LogLevel::Error,
                    fmt::format("{}/{} is not set back: {}", done->component.name, done->parameter, e.what()));
      }
    done_.clear();
  }

 private:
  [[nodiscard]] bool is_there(const host::ComponentReport& component) {
    const std::vector<host::ComponentReport> all = client_->components().components;
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& c) { return c.name == component.name && c.pid == component.pid; });
  }
  struct Done {
    host::ComponentReport component;
    std::string parameter;
    config::Value before;
  };
  const std::vector<plan::Difference::Set>& wanted_;
  std::unique_ptr<host::ControlClient> client_;
  std::vector<Done> done_;
};

}  // namespace

OrderAnswer LauncherControl::carry_out(const std::shared_ptr<const PlanChange>& change) {
  try {
    Setter setter(domain_, change->difference.set);
    setter.set(false);
    OrderAnswer answer = supervisor_.order({.what = Order::What::Apply, .change = change}).get();
    if (supervisor_.plan() != change->to) {
      setter.undo();
      return answer;
    }
    try {
      setter.set(true);  // what was restarted meanwhile has had the old plan
    } catch (const Error& e) {
      if (!answer.error) answer.error = e;
    }
    if (answer.error)
      answer.error =
          Error(answer.error->code(), "the plan holds now, but " + answer.error->cause(), answer.error->remedy());
    return answer;
  } catch (const Error& e) {
    return {.error = e};
  } catch (const std::exception& e) {
    return {.error = Error(ErrorCode::System, e.what(), "")};
  }
}

}  // namespace cardan::launcher
