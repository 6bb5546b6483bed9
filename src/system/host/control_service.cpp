// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/control_service.hpp"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/publisher.hpp"
#include "cardan/stop.hpp"
#include "cardan/subscriber.hpp"
#include "cardan/wait_any.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/text_of_json.hpp"
#include "src/system/host/control_message.hpp"
#include "src/transport/discovery/process.hpp"

namespace cardan::host {

using nlohmann::json;

struct ControlService::Endpoints {
  explicit Endpoints(const std::string& domain)
      : requests(kControl, {.domain = domain}),
        answers(kAnswers, {.domain = domain}),
        wake(detail::make_bound([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
    if (wake.get() < 0)
      throw Error(ErrorCode::Limit, "cannot make an event: " + std::generic_category().message(errno),
                  "raise the limit of open descriptors (ulimit -n)");
  }
  // Requests first: a client that finds a publisher of answers can rely on its requests arriving.
  Subscriber<ControlMessage> requests;
  Publisher<ControlMessage> answers;
  detail::BoundFd wake;  // not a message: at the end the run directory may be gone, or the disk full
  Atomic<bool> ending{false};
};

ControlService::ControlService(std::string domain, Answer answer)
    : domain_(std::move(domain)), answer_(std::move(answer)), endpoints_(std::make_unique<Endpoints>(domain_)) {
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
  ::eventfd_write(endpoints_->wake.get(), 1);
  thread_.join();
}

void ControlService::serve() noexcept {
  const std::string& own = detail::Process::of(domain_).id();
  while (!endpoints_->ending.load() && !stopping()) {
    const Sample<ControlMessage> request = endpoints_->requests.take();
    if (!request) {
      Readable wake{endpoints_->wake.get()};
      (void)wait_any(endpoints_->requests, wake);
      continue;
    }
    if (request->text.empty() || (!request->host.empty() && request->host.view() != own)) continue;
    try {
      const Reply said = reply(std::string(request->text.view()), request.age());
      send(*request, said.text);
      if (said.sent) said.sent();
    } catch (const std::exception& e) {
      detail::log(LogLevel::Warning, std::string("a request was not answered: ") + e.what());
    }
  }
}

void ControlService::send(const ControlMessage& request, const std::string& text) {
  const std::string& own = detail::Process::of(domain_).id();
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

ControlService::Reply ControlService::reply(const std::string& request, std::chrono::nanoseconds age) {
  const auto error = [](ErrorCode code, const std::string& cause, const std::string& remedy) {
    return Reply{text_of_json(json{{"error", static_cast<int>(code)}, {"cause", cause}, {"remedy", remedy}})};
  };
  try {
    return answer_(request, age);
  } catch (const Error& e) {
    return error(e.code(), e.cause(), e.remedy());
  } catch (const std::exception& e) {
    return error(ErrorCode::System, e.what(), "");
  }
}

std::chrono::nanoseconds time_left(const std::string& request, std::chrono::nanoseconds age) {
  constexpr std::int64_t kMostMs = 60'000;
  const std::int64_t within = std::clamp<std::int64_t>(json::parse(request).at("within_ms"), 0, kMostMs);
  return std::max(std::chrono::nanoseconds{0},
                  std::chrono::milliseconds{within} - std::max(std::chrono::nanoseconds{0}, age));
}

}  // namespace cardan::host
