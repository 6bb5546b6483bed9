// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/host_answers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"
#include "cardan/log.hpp"
#include "src/base/text_of_json.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/host/component_report.hpp"
#include "src/system/host/crash_report.hpp"
#include "src/system/plan/value_json.hpp"
#include "src/transport/discovery/process.hpp"

namespace cardan::host {

using nlohmann::json;

namespace {

constexpr std::size_t kMostKept = 900;  ///< of a line to the launcher

detail::ComponentCore& core_of(const Runtime& runtime, const std::string& component) {
  for (const auto& core : runtime.components())
    if (core->name() == component) return *core;
  throw Error(ErrorCode::InvalidArgument, fmt::format("there is no component '{}' here", component),
              "cardan component list shows them");
}

}  // namespace

std::string HostAnswers::components() {
  std::vector<ComponentReport> all = report_of(runtime_);
  for (ComponentReport& c : all) {
    c.process = parts_.process;
    c.host = detail::Process::of(runtime_.options().domain).id();
    c.pid = ::getpid();
    c.restarts = parts_.restarts(c.name);
  }
  return R"({"components":)" + to_json(all) + "}";
}

void HostAnswers::crash(const std::string& component) {
  // As work of the component itself, so that the report is about it.
  core_of(runtime_, component).errand().post([component] {
    crash_report::crash_on_purpose(fmt::format("component '{}' was ordered to crash (cardan run --crash)", component));
  });
}

void HostAnswers::keep(const std::string& text) {
  if (text.size() <= kMostKept) return parts_.keep(text);
  detail::log(
      LogLevel::Warning,
      fmt::format(
          "a parameter's value of {} bytes is not kept over a restart of this process: at most {} bytes are kept",
          text.size(), kMostKept));
}

ControlService::Reply HostAnswers::answer(const std::string& text, std::chrono::nanoseconds age) {
  const json request = json::parse(text);
  const std::string what = request.at("do");
  if (what == "processes") return {R"({"processes":[]})"};  // that is the launcher's
  if (what == "restart") {
    const Restarted done = parts_.restart(request.at("component"), time_left(text, age));
    if (!done.failure.empty())
      return {text_of_json(json{{"error", static_cast<int>(ErrorCode::System)},
                                {"cause", done.failure},
                                {"remedy", "its process ends, and is restarted by its rule"}}),
              done.sent};
    return {json{{"took_ms", done.took_ms}, {"restarts", done.restarts}}.dump(), done.sent};
  }
  if (what == "components") {
    const std::lock_guard lock(changing_);
    return {components()};
  }
  if (what != "set" && what != "log" && what != "crash")
    throw Error(ErrorCode::Incompatible, "unknown request '" + what + "'",
                "use the same version of Cardan on both sides");
  // Looked at before the lock, which a restart holds for as long as its component takes, and compared after it.
  const std::int64_t until = steady_now() + time_left(text, age).count();
  const std::lock_guard lock(changing_);
  const std::chrono::nanoseconds left{until - steady_now()};
  if (left.count() <= 0)
    throw Error(ErrorCode::Unavailable,
                what == "set" ? "the request came too late, and the value is not changed"
                              : "the request came too late, and was not carried out",
                "give it again");
  if (what == "set") {
    runtime_.set_parameter(request.at("component"), request.at("parameter"), plan::needed_value_of(request.at("value")),
                           left);
    detail::ComponentCore& core = core_of(runtime_, request.at("component"));
    if (request.value("keep", false) || core.settings().keep)
      core.keep_parameter(request.at("parameter"), plan::needed_value_of(request.at("value")));
    if (core.settings().keep && parts_.keep)
      keep(
          json{{"component", core.name()}, {"parameter", request.at("parameter")}, {"value", request.at("value")}}.dump(
              -1, ' ', true, json::error_handler_t::replace));
    return {"{}"};
  }
  if (what == "log") {
    const auto level = request.at("level").get<int>();
    if (level < static_cast<int>(LogLevel::Debug) || level > static_cast<int>(LogLevel::Error))
      throw Error(ErrorCode::InvalidArgument, fmt::format("{} is not a level", level),
                  "use debug, info, warning or error");
    core_of(runtime_, request.at("component")).set_log_level(static_cast<LogLevel>(level));
    return {"{}"};
  }
  crash(request.at("component"));
  return {"{}"};
}

}  // namespace cardan::host
