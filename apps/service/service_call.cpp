// SPDX-License-Identifier: Apache-2.0
// `cardan service call`: asks a question that is written as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "apps/cdr_json.hpp"
#include "apps/decode.hpp"
#include "apps/message/encode.hpp"
#include "apps/service/service.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/any_publisher.hpp"
#include "cardan/any_type.hpp"
#include "cardan/clock.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/messages/layout_cdr.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

class Call {
 public:
  Call(const CallOptions& o, const FoundService& service)
      : o_(o), service_(service), question_(service.question.any_type()), answer_(service.answer.any_type()) {}

  int run() {
    std::string why;
    const auto asked = parse_json(std::as_bytes(std::span(o_.question)), &why);
    if (!asked)
      throw Error(ErrorCode::InvalidArgument, "the question is not JSON: " + why,
                  "write it as {\"field\": value}, in quotation marks of the shell");
    const std::size_t payload = encoded_payload(question_.layout(), *asked);
    if (payload > service_.question.max_bytes)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("the question needs {} bytes, but '{}' allows {}", payload, service_.name,
                              service_.question.max_bytes),
                  "shorten its lists and texts");
    detail::ClientEnd client(service_.name, question_.message_type(), detail::as_published(answer_.message_type()),
                             nullptr,
                             {.max_bytes = payload,
                              .max_answer_bytes = service_.answer.max_bytes,
                              .pending = 1,
                              .access = o_.others ? Access::Everyone : Access::Owner},
                             {.domain = o_.domain});
    const auto timeout = std::chrono::nanoseconds(std::llround(o_.timeout * 1e9));
    (void)client.wait_for_server(timeout);
    const std::int64_t began = steady_now();
    const detail::Outcome outcome = ask(client, *asked, timeout);
    return report(outcome, steady_now() - began);
  }

 private:
  detail::Outcome ask(detail::ClientEnd& client, const ordered_json& asked, std::chrono::nanoseconds timeout) const {
    const auto no = [](NoAnswer reason) { return detail::Outcome{.reason = reason, .text = detail::text_of(reason)}; };
    AnyLoan loan = detail::untyped(client.loan(), question_.message_type());
    if (!loan) return no(stopping() ? NoAnswer::Stopped : NoAnswer::NoServer);
    if (loan.arena() != nullptr) bind(question_.layout(), loan.message(), *loan.arena());
    if (!encode(question_.layout(), asked, loan.message()))
      throw Error(ErrorCode::NoMemory, "no memory is left for the question", "`cardan doctor` may show why");
    const detail::AskedQuestion number = client.ask(detail::take_out(loan), timeout);
    return number.number == 0 ? no(number.reason) : client.wait(number.number);
  }

  int report(const detail::Outcome& outcome, std::int64_t took) {
    const Sample<detail::Anything> kept = detail::sample_of<detail::Anything>(outcome.block);
    if (outcome.reason != NoAnswer::None) {
      if (o_.json && !emit(one_line({{"service", service_.name},
                                     {"server", service_.server.program},
                                     {"pid", service_.server.pid},
                                     {"answer", nullptr},
                                     {"reason", to_string(outcome.reason)}}) +
                           "\n"))
        return kFailed;
      warn(outcome.text.empty() ? fmt::format("'{}': no answer: {}", service_.name, to_string(outcome.reason))
                                : outcome.text);
      return kFailed;
    }
    const std::optional<ordered_json> answer = decoded(*outcome.block);
    if (!answer) {
      warn(fmt::format("the answer of {} (pid {}) is malformed — its server is hostile or broken",
                       service_.server.program, service_.server.pid));
      return kFailed;
    }
    if (!o_.json) return emit(readable(*answer)) ? kOk : kFailed;
    return emit(one_line({{"service", service_.name},
                          {"server", service_.server.program},
                          {"pid", service_.server.pid},
                          {"took_ms", static_cast<double>(took) / 1e6},
                          {"answer", *answer}}) +
                "\n")
               ? kOk
               : kFailed;
  }

  [[nodiscard]] std::optional<ordered_json> decoded(const detail::SampleBlock& block) const {
    CdrFramer framer(answer_);
    if (!framer.frame({static_cast<const std::byte*>(block.message), answer_.layout().size},
                      {block.payload, static_cast<std::size_t>(block.payload_bytes)}))
      return std::nullopt;
    const std::vector<std::byte> cdr = framer.parts().joined();
    const RosSchema schema(answer_.message_type().name, answer_.message_type().schema);
    const std::size_t longest = o_.list >= 0 ? static_cast<std::size_t>(o_.list) : o_.json ? 64 : 8;
    return cdr_json(schema, cdr, longest);
  }

  const CallOptions& o_;
  const FoundService& service_;
  AnyType question_, answer_;
};

}  // namespace

int service_call(const CallOptions& o) {
  stop_on_signals();
  const std::optional<FoundService> service = find_service(o.domain, o.service, o.others);
  return service ? Call(o, *service).run() : kFailed;
}

}  // namespace cardan::apps
