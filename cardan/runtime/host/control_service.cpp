// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/host/control_service.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cardan/memory/error.hpp"
#include "cardan/runtime/host/control_message.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/process.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::host {

using nlohmann::json;

struct ControlService::Endpoints {
  explicit Endpoints(const std::string& domain)
      : requests(kControl, {.domain = domain}), answers(kAnswers, {.domain = domain}) {}
  // Requests first: who finds a publisher of answers can rely on it that requests arrive.
  Subscriber<ControlMessage> requests;
  Publisher<ControlMessage> answers;
  Atomic<bool> ending{false};
};

ControlService::ControlService(Runtime& runtime, std::mutex& changing, Identity identity)
    : runtime_(runtime),
      changing_(changing),
      identity_(std::move(identity)),
      endpoints_(std::make_unique<Endpoints>(runtime.options().domain)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "cardan-control");
}

ControlService::~ControlService() {
  endpoints_->ending.store(true);
  if (!stopping()) {
    // wait() ends with a message or a stop only: an own request that asks nothing.
    try {
      Publisher<ControlMessage> waker(kControl, {.domain = runtime_.options().domain});
      if (Loan<ControlMessage> loan = waker.loan()) waker.publish(std::move(loan));
      thread_.join();
      return;
    } catch (const Error& e) {
      detail::log(LogLevel::Warning, std::string("the control thread ends with the next request: ") + e.what());
    }
  }
  thread_.join();
}

void ControlService::serve() noexcept {
  const std::string& own = detail::Process::of(runtime_.options().domain).id();
  while (!endpoints_->ending.load() && !stopping()) {
    const Sample<ControlMessage> request = endpoints_->requests.wait();
    if (!request) continue;
    if (request->text.empty() || (!request->host.empty() && request->host.view() != own)) continue;
    try {
      send(*request, answer(std::string(request->text.view())));
    } catch (const std::exception& e) {
      detail::log(LogLevel::Warning, std::string("a request was not answered: ") + e.what());
    }
  }
}

void ControlService::send(const ControlMessage& request, const std::string& text) {
  const std::string& own = detail::Process::of(runtime_.options().domain).id();
  const std::size_t parts = std::max<std::size_t>(1, (text.size() + kControlText - 1) / kControlText);
  for (std::size_t i = 0; i < parts; ++i) {
    Loan<ControlMessage> loan = endpoints_->answers.loan();
    if (!loan) return;
    loan->asker = request.asker;
    loan->number = request.number;
    loan->part = static_cast<std::uint32_t>(i);
    loan->parts = static_cast<std::uint32_t>(parts);
    loan->host = own;
    loan->text = std::string_view(text).substr(i * kControlText, kControlText);
    endpoints_->answers.publish(std::move(loan));
  }
}

std::string ControlService::answer(const std::string& text) {
  try {
    const json request = json::parse(text);
    const std::string what = request.at("do");
    const std::lock_guard lock(changing_);
    if (what == "components") {
      std::vector<ComponentReport> all = report_of(runtime_);
      for (ComponentReport& c : all) {
        c.process = identity_.process;
        c.host = detail::Process::of(runtime_.options().domain).id();
        c.pid = ::getpid();
        if (identity_.restarts) c.restarts = identity_.restarts(c.name);
      }
      return R"({"components":)" + to_json(all) + "}";
    }
    if (what == "set") {
      const json& value = request.at("value");
      ParameterValue v;
      if (value.is_boolean())
        v = value.get<bool>();
      else if (value.is_number_integer())
        v = value.get<std::int64_t>();
      else if (value.is_number())
        v = value.get<double>();
      else
        v = value.get<std::string>();
      runtime_.set_parameter(request.at("component"), request.at("parameter"), std::move(v));
      return "{}";
    }
    throw Error(ErrorCode::Incompatible, "this process does not know the request '" + what + "'",
                "use the same version of Cardan on both sides");
  } catch (const Error& e) {
    return json{{"error", static_cast<int>(e.code())}, {"cause", e.cause()}, {"remedy", e.remedy()}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
  } catch (const std::exception& e) {
    return json{{"error", static_cast<int>(ErrorCode::System)}, {"cause", e.what()}, {"remedy", ""}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
  }
}

}  // namespace cardan::host
