// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/found_service.hpp"

#include <unistd.h>

#include "cardan/observer.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan::detail {

bool FoundService::is_ours() const noexcept { return server.uid == ::geteuid() || server.uid == 0; }

std::string service_of(const std::string& card) { return card.substr(0, card.find('?')); }

FoundService read_card(const std::string& domain, const PublisherReport& server, std::chrono::nanoseconds timeout) {
  FoundService found{.name = service_of(server.topic), .server = server};
  Observer observer(server.topic, {.domain = domain, .timeout = timeout});
  ObservedSample sample;
  for (const auto& stream : observer.streams()) {
    if (stream->process() != server.process || stream->serial() != server.serial) continue;
    if (!stream->copy_latest(sample)) continue;
    const auto* const card = sample.as<ServiceCard>();
    if (card == nullptr) continue;
    found.question = {.type = std::string(card->question_type.view()),
                      .layout = card->question_layout,
                      .schema = std::string(card->question_schema.view()),
                      .max_bytes = card->max_bytes};
    found.answer = {.type = std::string(card->answer_type.view()),
                    .layout = card->answer_layout,
                    .schema = std::string(card->answer_schema.view()),
                    .max_bytes = card->max_answer_bytes};
    found.pending = card->pending;
  }
  return found;
}

}  // namespace cardan::detail
